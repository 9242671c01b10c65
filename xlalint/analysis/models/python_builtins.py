"""Python's own functions and the methods of its containers, as far as tensors meet them."""

from __future__ import annotations

from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.joins import element_of, join
from ..domain.kinds import is_key, options
from ..domain.values import (
    KEYS,
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    Dict,
    Instance,
    Sequence,
    Slice,
    Static,
    Structure,
    Tensor,
    Value,
)
from ..interpreter.contexts import ContextKind
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..interpreter.narrowing import class_names, may_be_sparse
from ..library.class_checks import SPARSE_CLASSES, is_instance
from ..library.tokenizers import torch_in
from ..program.definitions import DefinedClass
from .python_numbers import first


def _isinstance(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    if len(arguments.positional) < 2 or len(arguments.nodes) < 2:
        return STATIC
    interpreter.confirm_structure(frame, arguments.positional[0])
    names = class_names(interpreter, frame, arguments.nodes[1])
    value = arguments.positional[0]
    known = is_instance(value, names)
    traced = frame.context.kind in (ContextKind.XLA, ContextKind.GRAPH)
    if known is None and traced and not any(isinstance(option, Array) for option in options(value)):
        # While a function is traced, what may be an array is a tensor.
        known = False if names and names <= {"np.ndarray"} else None
    return STATIC if known is None else Static(known)


def _is_sparse(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.backend.is_sparse(x)`."""
    known = None if may_be_sparse(interpreter, frame) else is_instance(first(arguments), SPARSE_CLASSES)
    return STATIC if known is None else Static(known)


def _super(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    scope: Frame | None = frame
    while scope is not None and scope.owner is None:
        scope = scope.parent
    if scope is not None and scope.function is not None and scope.function.name == "__new__":
        return Api("builtins.object")
    if scope is None or scope.owner is None or not isinstance(scope.bound, Instance):
        return UNKNOWN
    bound, owner = scope.bound, scope.owner
    behind = bound.cls.mro[bound.cls.mro.index(owner) + 1 :] if owner in bound.cls.mro else ()
    # An instance of a class that has only what comes after the class that `super()` is written in.
    view = DefinedClass(owner.module, owner.name, owner.qualname, attributes={}, view_of=bound)
    view._mro = (view, *behind)
    return Instance(view, {})


def _copy(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return first(arguments)


def _wrapped(name: str) -> FunctionModel:
    """`staticmethod(f)` and its kind, in the body of a class."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        return ApiObject(f"builtins.{name}", payload=first(arguments))

    return handle


def _abs(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    value = first(arguments)
    if isinstance(value, Instance):
        return interpreter.special(frame, value, "__abs__", (), node) or UNKNOWN
    return value if isinstance(value, Tensor | Array) else STATIC if isinstance(value, Static) else UNKNOWN


def _operator(*signs: cst.BaseBinaryOp, name: str = "") -> FunctionModel:
    """A function that does what operators do: `pow`, and `divmod`, which does what two do."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        match arguments.positional:
            case [left, right]:
                own = interpreter.special(frame, left, f"__{name}__", (right,), node)
                own = own or interpreter.special(frame, right, f"__r{name}__", (left,), node)
                if own is not None:
                    return own
                results = [interpreter.operate(frame, node, sign, left, right) for sign in signs]
                return results[0] if len(results) == 1 else Sequence("tuple", tuple(results))
            case _:
                return STATIC

    return handle


def _dict(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case []:
            return Dict(dict(arguments.keywords), arguments.rest_keywords)
        case [Dict(entries, element)]:
            return Dict({**entries, **arguments.keywords}, element)
        case [Structure() as nest]:
            return Dict(dict(arguments.keywords), nest)
        case [Sequence(items=tuple(pairs))] if (known := _entries(pairs)) is not None:
            return Dict({**known, **arguments.keywords}, None)
        case [Sequence() as pairs] if (held := _held(pairs)) is not None:
            return Dict(dict(arguments.keywords), held)
        case [other]:
            return Dict(dict(arguments.keywords), torch_in(other) or UNKNOWN)
        case _:
            return Dict(dict(arguments.keywords), UNKNOWN)


def _entries(pairs: tuple[Value, ...]) -> dict[Any, Value] | None:
    """What pairs of known keys and values make of a dict."""
    entries: dict[Any, Value] = {}
    for pair in pairs:
        match pair:
            case Sequence(items=(Static(key), value)) if isinstance(key, KEYS):
                entries[key] = value
            case _:
                return None
    return entries


def _held(pairs: Sequence) -> Value | None:
    """What a dict of pairs holds whose keys are not known."""
    match element_of(pairs):
        case Sequence(items=(_, value)):
            return value
        case _:
            return None


def _defaultdict(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`defaultdict(make, ..)`: what `dict(..)` holds, and what `make()` gives under every other key."""
    factory, positional = arguments.positional[:1], arguments.positional[1:]
    given = Arguments(positional, arguments.keywords, rest_keywords=arguments.rest_keywords)
    held = _dict(interpreter, frame, given, node)
    if not isinstance(held, Dict) or not factory or factory[0] == NONE:
        return held
    made = interpreter.call(frame, factory[0], Arguments(), node)
    return Dict(held.entries, made if held.element is None else join(held.element, made))


def _from_keys(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`dict.fromkeys(keys, value)`."""
    value = arguments.get(1, "value") or NONE
    match first(arguments):
        case Sequence(items=tuple(keys)) if all(map(is_key, keys)):
            return Dict({key.constant: value for key in keys if is_key(key)}, None)
        case _:
            return Dict({}, value)


def _slice(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [stop]:
            return Slice(None, stop, None)
        case [start, stop]:
            return Slice(start, stop, None)
        case [start, stop, step]:
            return Slice(start, stop, step)
        case _:
            return STATIC


def _static(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return STATIC


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "builtins.divmod": _operator(cst.FloorDivide(), cst.Modulo(), name="divmod"),
    "builtins.pow": _operator(cst.Power(), name="pow"),
    "builtins.isinstance": _isinstance,
    "keras.backend.is_sparse": _is_sparse,
    "builtins.super": _super,
    "builtins.abs": _abs,
    **{f"builtins.{name}": _wrapped(name) for name in ("property", "staticmethod", "classmethod")},
    "builtins.dict": _dict,
    "builtins.dict.fromkeys": _from_keys,
    "builtins.slice": _slice,
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    **dict.fromkeys(("typing.assert_type", "typing.reveal_type"), _copy),
    "typing.NewType": lambda interpreter, frame, arguments, node: Api("functools.identity"),
    "typing.cast": lambda interpreter, frame, arguments, node: (arguments.positional or [UNKNOWN])[-1],
    "collections.OrderedDict": _dict,
    "collections.Counter": _dict,
    "collections.defaultdict": _defaultdict,
    **{
        f"builtins.{name}": _static
        for name in [
            "id",
            "hash",
            "callable",
            "ord",
            "chr",
            "hex",
            "bin",
            "issubclass",
            "dir",
            "open",
            "input",
            "bytes",
            "bytearray",
            "object",
            "exec",
            "locals",
        ]
    },
}
