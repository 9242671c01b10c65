"""Settings that whoever runs a program gives it: `argparse` and `absl.flags`, with what they are by default."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import join
from ..domain.values import NONE, STATIC, UNKNOWN, Api, ApiObject, Dict, Sequence, Setting, Static, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..record import replace

_PARSER: Final = "argparse.ArgumentParser"
_SUBPARSERS: Final = "argparse._SubParsersAction"
_NAMESPACE: Final = "argparse.Namespace"
_FLAGS: Final = tuple(f"absl.flags.DEFINE_{kind}" for kind in ("bool", "boolean", "integer"))
_INTEGER: Final = Api("builtins.int")
_SWITCHES: Final = {"store_true": False, "store_false": True}


def _parser(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return ApiObject(_PARSER, payload=Dict({}))


def _add_argument(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`parser.add_argument("--xla", action="store_true")`."""
    match owner, node:
        case ApiObject(payload=Dict(entries)), cst.Call(func=cst.Attribute(value=place)):
            names = [
                it.constant for it in arguments.positional if isinstance(it, Static) and isinstance(it.constant, str)
            ]
            option = next((name for name in names if name.startswith("--")), names[0] if names else None)
            if option is not None:
                target = arguments.keywords.get("dest", Static(option.lstrip("-").replace("-", "_")))
                if isinstance(target, Static) and isinstance(target.constant, str):
                    held = Dict({**entries, target.constant: _by_default(option, arguments)})
                    interpreter.assign_quietly(frame, place, replace(owner, payload=held))
    return NONE


def _by_default(option: str, arguments: Arguments) -> Value:
    match arguments.keywords.get("action"), arguments.keywords.get("default"):
        case Static("store_true" | "store_false" as action), None:
            return Static(setting=Setting(_SWITCHES[action], f"`{option}`"))
        case _, Static(bool() | int() as default):
            return Static(setting=Setting(default, f"`{option}`"))
        case _, Static(str() as text) if arguments.keywords.get("type") == _INTEGER and text.isdecimal():
            return Static(setting=Setting(int(text), f"`{option}`"))  # the parser reads its defaults, too
        case _, Static():
            return STATIC
        case _:
            return UNKNOWN


def _parse_args(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    return ApiObject(_NAMESPACE, payload=owner.payload) if isinstance(owner, ApiObject) else None


def _parse_known_args(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    given = _parse_args(interpreter, frame, owner, arguments, node)
    return None if given is None else Sequence("tuple", (given, Sequence("list", None, STATIC)))


def _flag(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`flags.DEFINE_bool("xla", False, "..")`: read as `FLAGS.xla`, or as the `value` of what is returned."""
    match arguments.get(0, "name"), arguments.get(1, "default"):
        case Static(str() as name), Static(bool() | int() as default):
            value = Static(setting=Setting(default, f"`--{name}`"))
            interpreter.flags.setdefault(name, {})[frame.module] = value
            return ApiObject("absl.flags.FlagHolder", payload=value)
        case _:
            return None


def _set_defaults(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`parser.set_defaults(run=train)`: which parser of a file is asked, the command line decides."""
    defaults = interpreter.parser_defaults.setdefault(frame.module, {})
    for name, value in arguments.keywords.items():
        defaults[name] = join(defaults[name], value) if name in defaults else value
    return NONE


FUNCTIONS: Final[dict[str, FunctionModel]] = {_PARSER: _parser, **dict.fromkeys(_FLAGS, _flag)}
METHODS: Final[dict[str, MethodModel]] = {
    f"{_PARSER}.add_argument": _add_argument,
    f"{_PARSER}.add_subparsers": lambda *_: ApiObject(_SUBPARSERS),
    f"{_PARSER}.set_defaults": _set_defaults,
    f"{_SUBPARSERS}.add_parser": lambda *_: ApiObject(_PARSER, payload=Dict({})),
    f"{_PARSER}.parse_args": _parse_args,
    f"{_PARSER}.parse_known_args": _parse_known_args,
}
