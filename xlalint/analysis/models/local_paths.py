"""Paths of the machine that runs Python: what `os` and `pathlib` make, and what Keras downloads."""

from __future__ import annotations

import posixpath
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import STATIC, UNKNOWN, ApiObject, FunctionValue, Sequence, Setting, Static, Unknown, Value
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.host_reads import report_text
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..library.local_paths import LOCAL, PATH, PATH_CLASSES, begins_locally, begun_by, holds_paths, put_together

_NAMES: Final = Sequence("list", None, STATIC)
_WALKED: Final = Sequence("list", None, Sequence("tuple", (LOCAL, _NAMES, _NAMES)))  # folders, and what is in each
# Not those of `tempfile`: there the workers that do not keep a checkpoint write theirs, and throw it away.
_LOCAL: Final = ("keras.utils.get_file", "os.getcwd", "os.path.abspath", "os.path.realpath")
# What is on this machine if its argument is.
_KEEPS: Final = ("os.fspath", "os.path.dirname", "os.path.expanduser", "os.path.expandvars", "os.path.normpath")


def _always(value: Value) -> FunctionModel:
    """The model of a function that gives the same, whatever it is passed."""
    return lambda interpreter, frame, arguments, node: value


def _kept(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return begun_by(next(iter(arguments.positional), UNKNOWN))


def _text(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`str(path)`; a text stays as it is."""
    match arguments.positional:
        case [Static(str(), ()) as text] | [Static(setting=Setting(str())) as text]:
            return text
        case [ApiObject(api=name)] if name == PATH:
            return LOCAL
        case [Static(local=True)]:
            return LOCAL
        case _:
            report_text(interpreter, frame, arguments.positional, node)
            return STATIC


def _joined(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`os.path.join(..)`: the path, where all of it is known, or where it begins."""
    rest = () if arguments.rest is None else (arguments.rest,)
    return put_together((*arguments.positional, *rest), lambda texts: posixpath.join(*texts))


def _array(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`np.array(paths)`, which is read as the list."""
    match arguments.positional:
        case [value, *_] if holds_paths(value):
            return value
        case _:
            return None


def _itself(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`column.tolist()`: paths stay paths."""
    return owner if holds_paths(owner) else None


def _applied(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`column.apply(lambda name: f"pictures/{name}")`: a column of paths, if the function makes one of each."""
    match owner, arguments.positional:
        case Unknown() | Static(), [FunctionValue() as function] if frame.context.kind in NOT_TRACED:
            made = interpreter.invoke(frame, function, Arguments([UNKNOWN]), node)
            return LOCAL if isinstance(made, Static) and begins_locally(made) else None
        case _:
            return None


METHODS: Final[dict[str, MethodModel]] = {
    ".apply": _applied,
    **dict.fromkeys((".astype", ".to_list", ".to_numpy", ".tolist"), _itself),
}
FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "builtins.str": _text,
    "os.path.join": _joined,
    **dict.fromkeys(("np.array", "np.asarray"), _array),
    "os.walk": _always(_WALKED),
    **dict.fromkeys(_LOCAL, _always(LOCAL)),
    **dict.fromkeys(_KEEPS, _kept),
    # A path of `pathlib` is of this machine whatever its parts are: it knows no bucket.
    **{f"{name}{made}": _always(ApiObject(PATH)) for name in PATH_CLASSES for made in ("", ".cwd", ".home")},
}
