"""absl's flags, which programs define while they are imported, or in a function that their `main` calls, and parse in a
`main` that the probe does not run.

    flags.DEFINE_integer("units", 64, "..")        in train.py, or in a function
    tf.reshape(x, [-1, FLAGS.units])               in model.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from xlalint.sources.packages import python_files

_DEFINE: Final = "DEFINE_"
_OF_FLAGS: Final = ("absl.flags", "tensorflow.python.platform.flags")  # where the type of `FLAGS` is defined
_MOST_FILES: Final = 1000
_others: list[str] = []  # flags of files that are not imported; they make room for those that modules define


def use_defaults(project: Path) -> None:
    """Let the flags that are defined have their defaults, as if the command named none; where a module of the project
    reads flags, those, too, that other files of the project define."""
    flags = _flags()
    if flags is None:
        return
    if not flags.is_parsed():
        flags.mark_as_parsed()
    flags.remove_flag_values([name for name in _others if name in flags and flags[name].allow_override])
    _others.clear()
    for kind, name, *values in _defined(project) if _is_read(project) else ():
        if name not in flags:
            with suppress(Exception):  # of any kind: a default that is none
                getattr(sys.modules["absl.flags"], kind)(name, *values, None, allow_override=True)
                _others.append(name)


def forget(modules: Iterable[str]) -> None:
    """Remove the flags of modules that are forgotten, which will define them again."""
    flags = _flags()
    if flags is not None:
        by_module = flags.flags_by_module_dict()
        names = {flag.name for module in modules for flag in by_module.get(module, ())}
        flags.remove_flag_values(names & set(flags))


def _flags() -> Any:
    """All flags; None where nothing has imported absl's."""
    module = sys.modules.get("absl.flags")
    return None if module is None else module.FLAGS


def _is_read(project: Path) -> bool:
    """Whether a module of a project has the flags under some name."""
    folder = f"{project}/"
    own = (one for one in list(sys.modules.values()) if str(getattr(one, "__file__", None)).startswith(folder))
    return any(type(value).__module__.startswith(_OF_FLAGS) for one in own for value in list(vars(one).values()))


def _defined(project: Path) -> Iterator[tuple[Any, ...]]:
    """What the files of a project define flags with: the function, the name, the default and, of some, the choices."""
    for file in islice(python_files(project), _MOST_FILES):
        with suppress(OSError, SyntaxError, ValueError):
            text = file.read_bytes()
            if _DEFINE.encode() in text:
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.Call) and (found := _definition(node)):
                        yield found


def _definition(node: ast.Call) -> tuple[Any, ...]:
    """What a call defines a flag with; nothing where it defines none, or by values that only its run knows."""
    match node.func:
        case ast.Name(id=kind) | ast.Attribute(attr=kind) if kind.startswith(_DEFINE):
            several = kind in (f"{_DEFINE}enum", f"{_DEFINE}multi_enum")
            named = {one.arg: one.value for one in node.keywords}
            names = ("name", "default", "enum_values")[: 3 if several else 2]
            given = [*node.args[: len(names)], *(named[one] for one in names[len(node.args) :] if one in named)]
            with suppress(ValueError):
                if len(given) == len(names):
                    return (kind, *map(ast.literal_eval, given))
    return ()
