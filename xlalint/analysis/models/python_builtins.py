"""Python's own functions and the methods of its containers, as far as tensors meet them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...syntax import nodes as cst
from ..domain.joins import element_of, join, join_all, join_parts
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    ClassValue,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Nest,
    OneOf,
    Sequence,
    Static,
    Tensor,
    Unknown,
    Value,
    as_tensor,
    options,
    perhaps_array,
)
from ..interpreter.events import ContextKind, HostRead, TruthOf
from ..interpreter.narrowing import class_names, has_attribute, is_instance
from ..library.results import leaves
from ..library.tokenizers import torch_in
from ..program.project import Class

if TYPE_CHECKING:
    from ..interpreter.calls import Calls
    from ..interpreter.frames import Arguments, Frame

Handler = Callable[["Calls", "Frame", "Arguments", cst.BaseExpression], Value | None]
ContainerHandler = Callable[["Calls", "Frame", Value, "Arguments", cst.BaseExpression], Value]


def _first(arguments: Arguments) -> Value:
    return arguments.positional[0] if arguments.positional else arguments.rest or STATIC


def _node(arguments: Arguments, node: cst.BaseExpression, position: int = 0) -> cst.BaseExpression:
    return arguments.nodes[position] if position < len(arguments.nodes) else node


def _reader(name: str) -> Handler:
    """`int(t)` and its kind: Python wants the number."""

    def handle(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        value = _first(arguments)
        if as_tensor(value, Dependence.STATIC) and not perhaps_array(value):
            machine.emit(frame, HostRead, node, value=value, reader=name, names=dict(frame.env or {}))
            dtype = {"int": "int", "float": "float"}.get(name)
            tensor = as_tensor(value, Dependence.STATIC)
            if frame.context.kind is ContextKind.HOST and not frame.context.pipeline:
                return machine.number(frame, node) if frame.python_loop and dtype else STATIC
            # Where AutoGraph converts the call, the result is a tensor still.
            return tensor.with_(dtype=dtype) if frame.context.converted and dtype and tensor else STATIC
        machine.doubt(frame, value)
        if isinstance(value, Static) and value.known and isinstance(value.constant, int | float) and name == "int":
            return Static(int(value.constant)) if abs(value.constant) < 1 << 62 else STATIC
        return STATIC

    return handle


def _len(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    value = _first(arguments)
    machine.no_tensor(frame, value)
    vague = any(isinstance(option, Nest) for option in options(value))  # a list as likely as not
    tensor = None if vague else as_tensor(value, Dependence.STATIC)
    if tensor is not None:
        machine.emit(frame, HostRead, node, value=value, reader="len", names=dict(frame.env or {}))
        if frame.context.converted and tensor.bounded is None:
            # A Python number where the dimension is known, which nobody knows here.
            return OneOf((Tensor(Dependence.SHAPE, "int", 0), STATIC))
    match value:
        case Sequence(kind, tuple(items)) if kind == "tuple":
            return Static(len(items))
        case Static(str(text)):
            return Static(len(text))
        case Instance(cls) if method := cls.find("__len__"):
            from ..interpreter.frames import Arguments as Given

            return machine.invoke(frame, FunctionValue(method, bound=value), Given(), node)
        case _:
            counted = isinstance(value, Tensor | Nest | Array) and value.varies
            return machine.number(frame, node) if counted else STATIC


def _range(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    payload: Value | None = _rounds(arguments.positional)
    for value in arguments.positional:
        machine.doubt(frame, value)
        tensor = as_tensor(value, Dependence.STATIC)
        if tensor is not None and (payload is None or tensor.dependence is Dependence.VALUE):
            payload = value
    return ApiObject("builtins.range", payload=payload)


def _rounds(bounds: list[Value]) -> Static | None:
    """How many numbers `range` of these yields, where all are known."""
    numbers = [bound.constant for bound in bounds if isinstance(bound, Static) and type(bound.constant) is int]
    if len(numbers) != len(bounds) or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        return None
    return Static(min(len(range(*numbers)), 1 << 40)) if max(map(abs, numbers)) < 1 << 40 else None


def _iterator(form: str) -> Handler:
    """`zip(..)`, `enumerate(..)` and the like: each argument is iterated."""

    def handle(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        elements = []
        for position, value in enumerate(arguments.positional):
            if form == "enumerate" and position:
                break
            if form == "zip":
                machine.no_tensor(frame, value)
            where = _node(arguments, node, position)
            iterable = machine.iterate(frame, value, where, form)
            elements.append(machine.element(frame, iterable, where))
        if arguments.rest is not None:
            return Sequence("list", None, UNKNOWN)
        if form == "enumerate":
            elements.insert(0, machine.counter(frame, node))
        if form in ("zip", "enumerate"):
            known = [v.items for v in arguments.positional if isinstance(v, Sequence) and v.items]
            if form == "zip" and len(known) == len(arguments.positional) and len(set(map(len, known))) == 1:
                return Sequence("list", tuple(Sequence("tuple", row) for row in zip(*known, strict=True)))
            return Sequence("list", None, Sequence("tuple", tuple(elements)))
        kind = "tuple" if form == "tuple" else "set" if form == "set" else "list"
        match arguments.positional[:1]:
            case [Sequence(items=tuple(items))] if form in ("list", "tuple"):
                return Sequence(kind, items)
        return Sequence(kind, None, elements[0]) if elements else Sequence(kind, ())

    return handle


def _map(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    from ..interpreter.frames import Arguments as Given

    items = []
    for position, value in enumerate(arguments.positional[1:], 1):
        where = _node(arguments, node, position)
        items.append(machine.element(frame, machine.iterate(frame, value, where, "map"), where))
    result = machine.call(frame, _first(arguments), Given(items), node)
    return Sequence("list", None, result)


def _filter(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    from ..interpreter.frames import Arguments as Given

    if len(arguments.positional) < 2:
        return UNKNOWN
    where = _node(arguments, node, 1)
    item = machine.element(frame, machine.iterate(frame, arguments.positional[1], where, "filter"), where)
    machine.call(frame, arguments.positional[0], Given([item]), node)
    return Sequence("list", None, item)


def _chosen(form: str) -> Handler:
    """`max`, `min`, `any`, `all`, `sum`: over one iterable, or comparing several arguments."""

    def handle(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        values = arguments.positional
        if len(values) == 1 or form == "sum":
            only = _first(arguments)
            iterable = machine.iterate(frame, only, _node(arguments, node), form)
            if as_tensor(only, Dependence.STATIC):
                return UNKNOWN
            item = machine.element(frame, iterable, node)
            tensor = as_tensor(item, Dependence.STATIC)
            if tensor is not None and form != "sum":
                machine.emit(frame, TruthOf, node, operands=(item,), form=form, tested=False)
            if form in ("any", "all"):
                return STATIC  # Python's own, also where AutoGraph converts the function
            return tensor if tensor is not None else STATIC if isinstance(item, Static) else UNKNOWN
        tensors = [value for value in values if as_tensor(value, Dependence.STATIC)]
        if tensors:
            machine.emit(frame, TruthOf, node, operands=tuple(values), form=form, tested=False)
            return join_all(*tensors)
        for value in values:
            machine.doubt(frame, value)
        return join_all(*values) if values else STATIC

    return handle


def _isinstance(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    if len(arguments.positional) < 2 or len(arguments.nodes) < 2:
        return STATIC
    machine.no_tensor(frame, arguments.positional[0])
    names = class_names(machine, frame, arguments.nodes[1])
    value = arguments.positional[0]
    known = is_instance(value, names)
    traced = frame.context.kind in (ContextKind.XLA, ContextKind.GRAPH)
    if known is None and traced and not any(isinstance(option, Array) for option in options(value)):
        # While a function is traced, what may be an array is a tensor.
        known = False if names and names <= {"np.ndarray"} else None
    return STATIC if known is None else Static(known)


def _getattr(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [owner, Static(str(name)), *default]:
            value = machine.attribute(frame, owner, name, node)
            return default[0] if isinstance(value, Unknown) and default and isinstance(owner, Instance) else value
        case _:
            return UNKNOWN


def _setattr(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [owner, Static(str(name)), value]:
            machine.set_attribute(frame, owner, name, value)
    return NONE


def _hasattr(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [value, Static(str(name))] if (known := has_attribute(value, name)) is not None:
            return Static(known)
        case _:
            return STATIC


def _super(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    scope: Frame | None = frame
    while scope is not None and scope.owner is None:
        scope = scope.parent
    if scope is None or scope.owner is None or not isinstance(scope.bound, Instance):
        return UNKNOWN
    bound, owner = scope.bound, scope.owner
    behind = bound.cls.mro[bound.cls.mro.index(owner) + 1 :] if owner in bound.cls.mro else ()
    # An instance of a class that has only what comes after the class that `super()` is written in.
    view = Class(owner.module, owner.name, owner.qualname, attributes={}, view_of=bound)
    view._mro = (view, *behind)
    return Instance(view, {})


def _copy(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return _first(arguments)


def _iter(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`iter(x)`: of a dataset an iterator, of anything else what can be iterated as well."""
    match _first(arguments):
        case ApiObject("tf.data.Dataset", None, payload, facts):
            return ApiObject("tf.data.Iterator", payload=payload, facts=facts)
        case value:
            return machine.iterate(frame, value, _node(arguments, node, 0), "iter")


def _abs(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    value = _first(arguments)
    return value if isinstance(value, Tensor | Array) else STATIC if isinstance(value, Static) else UNKNOWN


def _dict(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case []:
            return Dict(dict(arguments.keywords), arguments.rest_keywords)
        case [Dict(entries, element)]:
            return Dict({**entries, **arguments.keywords}, element)
        case [Nest() as nest]:
            return Dict(dict(arguments.keywords), nest)
        case [other]:
            return Dict(dict(arguments.keywords), torch_in(other) or UNKNOWN)
        case _:
            return Dict(dict(arguments.keywords), UNKNOWN)


def _defaultdict(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    from ..interpreter.frames import Arguments as Given

    if not arguments.positional or arguments.positional[0] == NONE:
        return Dict({}, None)
    return Dict({}, machine.call(frame, arguments.positional[0], Given(), node))


def _namedtuple(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.get(0, "typename"), arguments.get(1, "field_names"):
        case Static(str(name)), Static(str(text)):
            names = text.replace(",", " ").split()
        case Static(str(name)), Sequence(items=tuple(items)):
            names = [item.constant for item in items if isinstance(item, Static) and isinstance(item.constant, str)]
        case _:
            return UNKNOWN
    made = Class(frame.module, name, name, attributes=dict.fromkeys(names, UNKNOWN))
    made.base_values = (Api("collections.namedtuple"),)
    return ClassValue(made)


def _replaced(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`dataclasses.replace(record, field=..)`."""
    match arguments.positional:
        case [Instance(cls, attributes)]:
            return Instance(cls, {**attributes, **arguments.keywords})
        case _:
            return UNKNOWN


def _folded(function: Callable[..., float]) -> Handler:
    """A function of Python numbers: of known ones, its result is known."""

    def handle(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        numbers = [value.constant for value in arguments.positional if isinstance(value, Static) and value.known]
        if arguments.keywords or len(numbers) < len(arguments.positional) or not numbers:
            return None
        try:
            return Static(function(*numbers))
        except (ArithmeticError, TypeError, ValueError):
            return None

    return handle


def _static(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return STATIC


def _next(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    machine.no_tensor(frame, _first(arguments))
    return machine.element(frame, _first(arguments), node)


def _type(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [Instance(cls)]:
            return ClassValue(cls)
        case _:
            return STATIC


BUILTIN_CALLS: Final[dict[str, Handler]] = {
    **{f"builtins.{name}": _reader(name) for name in ("int", "float", "bool", "complex", "round", "memoryview")},
    **{
        f"builtins.{name}": _iterator(name)
        for name in ("enumerate", "zip", "list", "tuple", "set", "sorted", "reversed")
    },
    "builtins.frozenset": _iterator("set"),
    "builtins.iter": _iter,
    **{f"builtins.{name}": _chosen(name) for name in ("max", "min", "any", "all", "sum")},
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.isinstance": _isinstance,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.hasattr": _hasattr,
    "builtins.super": _super,
    "builtins.abs": _abs,
    "builtins.dict": _dict,
    "builtins.next": _next,
    "builtins.type": _type,
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    **{f"math.{function.__name__}": _folded(function) for function in (math.isclose, math.ceil, math.floor, math.sqrt)},
    "typing.cast": lambda machine, frame, arguments, node: (arguments.positional or [UNKNOWN])[-1],
    "collections.OrderedDict": _dict,
    "collections.defaultdict": _defaultdict,
    "collections.namedtuple": _namedtuple,
    "dataclasses.replace": _replaced,
    "collections.deque": _iterator("list"),
    **{
        f"builtins.{name}": _static
        for name in [
            "str",
            "repr",
            "format",
            "print",
            "id",
            "hash",
            "callable",
            "ord",
            "chr",
            "hex",
            "bin",
            "issubclass",
            "vars",
            "dir",
            "open",
            "input",
            "bytes",
            "bytearray",
            "object",
            "slice",
            "property",
            "staticmethod",
            "classmethod",
            "divmod",
            "pow",
            "eval",
            "exec",
            "globals",
            "locals",
        ]
    },
}


# -- containers -------------------------------------------------------------------------------------------------------


def owner_of_method(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What stands before the dot where a container's method is called; None where another function is handed it."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if name in CONTAINER_METHODS:
            return owner
        case _:
            return None


def _rebind(machine: Calls, frame: Frame, node: cst.BaseExpression, value: Value) -> None:
    """The container that a method changed, under the name it was reached by."""
    match owner := owner_of_method(node):
        case cst.Name(value=name):
            # A closure's list changes in the scope that owns it.
            scope: Frame | None = frame
            while scope is not None and (scope.env is None or name not in scope.env):
                scope = scope.parent
            if scope is not None and scope.env is not None:
                scope.env[name] = value
        case cst.Attribute() | cst.Subscript():
            machine.assign_quietly(frame, owner, value)


def _mutates(form: str, position: int) -> ContainerHandler:
    def handle(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
        added = arguments.positional[position] if position < len(arguments.positional) else UNKNOWN
        if form != "add" or any(isinstance(leaf, Tensor | Nest) for leaf in leaves(added)):
            machine.mutated_call(frame, node, form)  # a set that has the number already stays as it is
        if form == "extend":
            added = machine.element(frame, machine.iterate(frame, added, node, "list"), node)
        if isinstance(owner, Sequence):
            if (
                form == "append"
                and owner.items is not None
                and not (frame.loop or frame.python_loop)
                and len(owner.items) < 8
            ):
                _rebind(machine, frame, node, Sequence(owner.kind, (*owner.items, added)))
            else:
                present = element_of(owner)
                joined = added if present is None else join_parts(present, added)
                if owner.items is not None or joined is not present:
                    _rebind(machine, frame, node, Sequence(owner.kind, None, joined))
        return NONE

    return handle


def _pop(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    machine.mutated_call(frame, node, "pop")
    match owner, arguments.positional:
        case Dict(entries, element), [Static(key), *rest]:
            found = entries.get(key) if isinstance(key, str | int) else None
            return found or (rest[0] if rest else element or UNKNOWN)
        case Sequence(), _:
            return element_of(owner) or UNKNOWN
        case _:
            return UNKNOWN


def _get(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match owner, arguments.positional:
        case Dict(entries, element), [Static(str() | int() as key), *rest]:
            if key in entries:
                return entries[key]
            default = rest[0] if rest else NONE
            return default if element is None else join(element, default)
        case Dict(entries), [_, *rest] if entries and frame.context.kind is ContextKind.HOST:
            return join(_any_of(owner), rest[0] if rest else NONE)
        case Dict(element=element), [Static(), *rest]:
            default = rest[0] if rest else NONE
            return default if element is None else join(element, default)
        case _:
            return UNKNOWN


def _values(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    if not isinstance(owner, Dict):
        return UNKNOWN
    return Sequence("list", None, _any_of(owner))


def _items(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    if not isinstance(owner, Dict):
        return UNKNOWN
    return Sequence("list", None, Sequence("tuple", (STATIC, _any_of(owner))))


def _any_of(owner: Dict) -> Value:
    found = [*owner.entries.values(), *(() if owner.element is None else (owner.element,))]
    return join_all(*found) if found else UNKNOWN


def _keys(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return Sequence("list", None, STATIC)


def _update(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    machine.mutated_call(frame, node, "update")
    if isinstance(owner, Dict):
        given = arguments.positional[0] if arguments.positional else Dict({})
        entries: dict[Any, Value] = {**owner.entries, **arguments.keywords}
        element = owner.element
        if isinstance(given, Dict):
            entries |= given.entries
            element = given.element or element
        else:
            element = given if isinstance(given, Nest) else UNKNOWN
        _rebind(machine, frame, node, Dict(entries, element))
    return NONE


def _same(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return owner


def _setdefault(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    machine.mutated_call(frame, node, "setdefault")
    match owner, arguments.positional:
        case Dict(entries), [Static(key), default] if isinstance(key, str | int):
            value = entries.get(key, default)
            _rebind(machine, frame, node, Dict({**entries, key: value}, owner.element))
            return value
        case _:
            return UNKNOWN


CONTAINER_METHODS: Final[dict[str, ContainerHandler]] = {
    "append": _mutates("append", 0),
    "add": _mutates("add", 0),
    "extend": _mutates("extend", 0),
    "insert": _mutates("insert", 1),
    "appendleft": _mutates("append", 0),
    "remove": _mutates("remove", 9),
    "clear": _mutates("clear", 9),
    "pop": _pop,
    "popitem": _pop,
    "get": _get,
    "values": _values,
    "items": _items,
    "keys": _keys,
    "update": _update,
    "copy": _same,
    "setdefault": _setdefault,
}
