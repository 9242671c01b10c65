"""Settings that whoever runs a program gives it: `argparse` and `absl.flags`, with what they are by default."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import join
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    ClassValue,
    Dict,
    Instance,
    Sequence,
    Setting,
    Static,
    Value,
)
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..library.flags import HOMES
from ..library.local_paths import PATH, PATH_CLASSES
from ..record import replace

_PARSER: Final = "argparse.ArgumentParser"
_RECORD_PARSER: Final = "transformers.HfArgumentParser"
_RECORDS: Final = ("parse_args_into_dataclasses", "parse_dict", "parse_json_file", "parse_yaml_file")
_SUBPARSERS: Final = "argparse._SubParsersAction"
_PART: Final = "argparse._ArgumentGroup"  # a group of options, or the parser of one command: another one reads them
_NAMESPACE: Final = "argparse.Namespace"
_FLAGS: Final = tuple(
    f"{home}.DEFINE_{kind}" for home in HOMES for kind in ("bool", "boolean", "enum", "integer", "string")
)
_PLAIN: Final = tuple(Api(f"builtins.{name}") for name in ("bool", "float", "int", "str"))
_SWITCHES: Final = {"store_true": False, "store_false": True}


def _parser(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return ApiObject(_PARSER, payload=Dict(_of_parents(arguments)))


def _of_parents(arguments: Arguments) -> dict[str, Value]:
    """The options that a parser takes over: `ArgumentParser(parents=[common])`."""
    found: dict[str, Value] = {}
    match arguments.keywords.get("parents"):
        case Sequence(items=tuple(parents)):
            for parent in parents:
                if isinstance(parent, ApiObject) and isinstance(parent.payload, Dict):
                    found |= {name: value for name, value in parent.payload.entries.items() if isinstance(name, str)}
    return found


def _part(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`parser.add_argument_group("data")`, `commands.add_parser("train", parents=[common])`."""
    for name, value in _of_parents(arguments).items():
        _hold(interpreter, frame, name, value)
    return ApiObject(_PART)


def _add_to_part(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`group.add_argument("--rate", default=1)`: which command it is of, the command line decides."""
    if option := _option(arguments):
        _hold(interpreter, frame, *option)
    return NONE


def _hold(interpreter: Interpreter, frame: Frame, name: str, value: Value) -> None:
    """Remember an option that the parsers of a file may read."""
    defaults = interpreter.parser_defaults.setdefault(frame.module, {})
    defaults[name] = join(defaults[name], value) if name in defaults else value


def _option(arguments: Arguments) -> tuple[str, Value] | None:
    """The name of what `add_argument` has a parser hold, and its value."""
    names = [it.constant for it in arguments.positional if isinstance(it, Static) and isinstance(it.constant, str)]
    option = next((name for name in names if name.startswith("--")), names[0] if names else None)
    if option is None:
        return None
    target = arguments.keywords.get("dest", Static(option.lstrip("-").replace("-", "_")))
    if not (isinstance(target, Static) and isinstance(target.constant, str)):
        return None
    return target.constant, _by_default(option, arguments)


def _add_argument(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`parser.add_argument("--xla", action="store_true")`."""
    match owner, node:
        case ApiObject(payload=Dict(entries, other)), cst.Call(func=cst.Attribute(value=place)):
            if option := _option(arguments):
                name, value = option
                held = Dict({**entries, name: value}, other)
                interpreter.assign_quietly(frame, place, replace(owner, payload=held))
            elif arguments.positional and other is None:  # `for name in defaults: parser.add_argument("--" + name)`
                interpreter.assign_quietly(frame, place, replace(owner, payload=Dict(entries, STATIC)))
    return NONE


def _by_default(option: str, arguments: Arguments) -> Value:
    """What an option is if nobody passes it, or whatever anybody passes where there is one choice: `choices=[4]`."""
    match arguments.keywords.get("choices"):
        case Sequence(items=(Static() as only,)) if "nargs" not in arguments.keywords and (
            arguments.keywords.get("default") == only
            or arguments.keywords.get("required") == Static(True)
            or not option.startswith("-")
        ):
            return only
    match arguments.keywords.get("action"), arguments.keywords.get("default"):
        case Static("store_true" | "store_false" as action), None:
            return Static(setting=Setting(_SWITCHES[action], f"`{option}`"))
        case _, Static(bool() | int() as default):
            return Static(setting=Setting(default, f"`{option}`"))
        case _, Static(str() as text):
            return _text_by_default(option, text, arguments.keywords.get("type"))
        case _, Static():
            return STATIC
        case _, None if arguments.keywords.get("type") in _PLAIN:
            return STATIC  # nothing, where nobody passes it
        case _:
            return UNKNOWN


def _text_by_default(option: str, text: str, kind: Value | None) -> Value:
    """A default that is a text, which the parser reads as it reads what somebody passes."""
    match kind:
        case None | Api("builtins.str"):
            return Static(setting=Setting(text, f"`{option}`"))
        case Api("builtins.int") if text.isdecimal():
            return Static(setting=Setting(int(text), f"`{option}`"))
        case Api(name) if name in PATH_CLASSES:
            return ApiObject(PATH)
        case _:
            return STATIC


def _parse_args(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    if not isinstance(owner, ApiObject):
        return None
    parts = interpreter.parser_defaults.get(frame.module, {})
    own = owner.payload if isinstance(owner.payload, Dict) else Dict({})
    return ApiObject(_NAMESPACE, payload=Dict({**parts, **own.entries}, own.element))


def _parse_known_args(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    given = _parse_args(interpreter, frame, owner, arguments, node)
    return None if given is None else Sequence("tuple", (given, Sequence("list", None, STATIC)))


def _flag(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`flags.DEFINE_bool("xla", False, "..")`: read as `FLAGS.xla`, or as the `value` of what is returned."""
    match arguments.get(0, "name"), arguments.get(1, "default"):
        case Static(str() as name), Static(bool() | int() | str() as default):
            value = Static(setting=Setting(default, f"`--{name}`"))
            interpreter.flags.setdefault(name, {})[frame.module] = value
            return ApiObject("absl.flags.FlagHolder", payload=value)
        case _:
            return None


def of_environment(arguments: Arguments) -> Value | None:
    """`os.environ.get("DATA", "data")`: a variable that has a default."""
    match arguments.get(0, "key"), arguments.get(1, "default"):
        case Static(str() as name), Static(str() | int() as default):
            return Static(setting=Setting(default, f"`{name}`"))
        case _:
            return None


def _record_parser(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`HfArgumentParser((ModelArguments, DataArguments))`."""
    return ApiObject(_RECORD_PARSER, payload=arguments.get(0, "dataclass_types"))


def _parse_records(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`parser.parse_args_into_dataclasses()`: an object of each class, made of what somebody passes."""
    match owner:
        case ApiObject(payload=ClassValue() as single):
            classes: tuple[Value, ...] = (single,)
        case ApiObject(payload=Sequence(items=tuple(several))):
            classes = several
        case _:
            return None
    made = (
        Instance(it.cls, interpreter.any_record(it.cls))
        if isinstance(it, ClassValue) and interpreter.is_record(it.cls)
        else UNKNOWN
        for it in classes
    )
    return Sequence("tuple", tuple(made))


def _set_defaults(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`parser.set_defaults(run=train)`: which parser of a file is asked, the command line decides. For one that is read
    right away, `parser.set_defaults(size=8)` is the default of an option."""
    match owner, node:
        case ApiObject(payload=Dict(entries, element)), cst.Call(func=cst.Attribute(value=place)):
            settings = {
                name: Static(setting=Setting(value.constant, f"`--{name.replace('_', '-')}`"))
                for name, value in arguments.keywords.items()
                if isinstance(value, Static) and type(value.constant) is int
            }
            interpreter.assign_quietly(frame, place, replace(owner, payload=Dict({**entries, **settings}, element)))
    for name, value in arguments.keywords.items():
        _hold(interpreter, frame, name, value)
    return NONE


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    _PARSER: _parser,
    _RECORD_PARSER: _record_parser,
    **dict.fromkeys(_FLAGS, _flag),
}
METHODS: Final[dict[str, MethodModel]] = {
    f"{_PARSER}.add_argument": _add_argument,
    f"{_PART}.add_argument": _add_to_part,
    **{f"{parser}.add_subparsers": lambda *_: ApiObject(_SUBPARSERS) for parser in (_PARSER, _PART)},
    **{f"{parser}.add_argument_group": _part for parser in (_PARSER, _PART)},
    **{f"{parser}.add_mutually_exclusive_group": _part for parser in (_PARSER, _PART)},
    **{f"{parser}.set_defaults": _set_defaults for parser in (_PARSER, _PART)},
    f"{_SUBPARSERS}.add_parser": _part,
    f"{_PARSER}.parse_args": _parse_args,
    f"{_PARSER}.parse_known_args": _parse_known_args,
    **{f"{_RECORD_PARSER}.{name}": _parse_records for name in _RECORDS},
}
