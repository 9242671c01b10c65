"""What is as long as a file or a folder: the lines of a file, its rows, and the names of what a folder holds."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import STATIC, UNKNOWN, Sequence, Static, Unknown, Value, Variation
from ..domain.varying_shapes import lengths_of
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..library.local_paths import LOCAL
from .python_numbers import first

_FINDS: Final = ("glob.glob", "glob.iglob", "os.listdir")
_ROWS: Final = ("csv.DictReader", "csv.reader")


def _opened(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`open(path)`, to be read: its lines."""
    mode = arguments.get(1, "mode")
    is_read = mode is None or (isinstance(mode, Static) and isinstance(mode.constant, str) and mode.constant[:1] == "r")
    varies = _of_another(frame, node) if is_read else ()
    return Unknown(varies=varies) if varies else None


def _rows(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`csv.reader(file)`: a row for each line."""
    varies = lengths_of(first(arguments))
    return Sequence("list", None, UNKNOWN, varies=varies) if varies else None


def _lines(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`file.readlines()`; a file is nothing that is known but for this."""
    match node:
        case cst.Call(func=cst.Attribute(value=file)) if isinstance(owner, Unknown):
            varies = lengths_of(interpreter.evaluate(frame, file))
            return Sequence("list", None, STATIC, varies=varies) if varies else None
        case _:
            return None


def _found(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return Sequence("list", None, LOCAL, varies=_of_another(frame, node))


def _of_another(frame: Frame, call: cst.BaseExpression) -> tuple[Variation, ...]:
    """Of what a call reads in each iteration of a loop on the host: it is of another length each time, where the
    iteration decides what is read."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or not isinstance(call, cst.Call):
        return ()
    decided = set[str]()
    for around in frame.unit.around(call):
        match around:
            case cst.For(target=target, body=body):
                decided.update(cst.names_in(target))
                decided.update(name for each in cst.targets_in(body) for name in cst.names_in(each))
            case cst.FunctionDef(params=parameters, body=body):
                if frame.looped:
                    decided.update(each.name.value for each in parameters.params)
                    decided.update(name for each in cst.targets_in(body) for name in cst.names_in(each))
                break
            case cst.Lambda() | cst.ClassDef():
                break
    named = {name for argument in call.args for name in cst.names_within(argument.value)}
    return () if named.isdisjoint(decided) else (Variation("sized", Location(frame.unit, call), axis=0),)


METHODS: Final[dict[str, MethodModel]] = {".readlines": _lines}
FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **dict.fromkeys(("builtins.open", "io.open", "tf.io.gfile.GFile"), _opened),
    **dict.fromkeys(_FINDS, _found),
    **dict.fromkeys(_ROWS, _rows),
}
