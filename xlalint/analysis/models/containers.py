"""Methods of Python's containers: lists, dicts, sets, and what changes them in place."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Ordered
from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.joins import MOST_ITEMS, element_of, join, join_all, join_parts
from ..domain.kinds import leaves, united
from ..domain.values import (
    KEYS,
    NONE,
    STATIC,
    UNKNOWN,
    UNSET,
    Dict,
    Sequence,
    Static,
    Structure,
    Tensor,
    Value,
    Variation,
)
from ..domain.varying_shapes import LAST, one_by_one, padded, told_apart
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.filling import longer
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import ContainerModel, Interpreter
from ..record import replace
from .ordering import put_in_order


def _rebind(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression, value: Value) -> None:
    """The container that a method changed, under the name it was reached by."""
    owner = interpreter.owner_of_method(node)
    if owner is not None:
        interpreter.assign_quietly(frame, owner, value)


def _is_certain(frame: Frame) -> bool:
    """Whether what happens here happens once: not in a loop, and under no condition."""
    return not (frame.loop or frame.python_loop or frame.conditional or frame.branch)


def _notes(interpreter: Interpreter, frame: Frame, form: str, added: Value, node: cst.BaseExpression) -> None:
    """Say that a container is changed; a set that has the number already stays as it is."""
    if form != "add" or any(isinstance(leaf, Tensor | Structure) for leaf in leaves(added)):
        interpreter.mutated_call(frame, node, form, added)


def _inserts(
    form: str, arranged: Callable[[tuple[Value, ...], Value, Arguments], Ordered[Value] | None], left: bool = False
) -> ContainerModel:
    """A method that puts one value into a sequence, which `arranged` says where that is known."""

    def handle(
        interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
    ) -> Value:
        added = arguments.positional[-1] if arguments.positional else UNKNOWN
        _notes(interpreter, frame, form, added, node)
        if isinstance(owner, Sequence):
            items = None
            if owner.items is not None and _is_certain(frame) and len(owner.items) < MOST_ITEMS:
                items = arranged(owner.items, added, arguments)
            _put(interpreter, frame, owner, node, items, added, left)
        return NONE

    return handle


def _extends(
    form: str, arranged: Callable[[tuple[Value, ...], tuple[Value, ...]], Ordered[Value]], left: bool = False
) -> ContainerModel:
    """A method that puts all of another container into a sequence."""

    def handle(
        interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
    ) -> Value:
        given = arguments.positional[0] if arguments.positional else UNKNOWN
        iterable = interpreter.iterate(frame, given, node, "list")
        added = interpreter.element(frame, iterable, node)
        interpreter.mutated_call(frame, node, form, added)
        match owner, iterable:
            case Sequence(items=tuple(items)), Sequence(items=tuple(more)) if (
                _is_certain(frame) and len(items) + len(more) <= MOST_ITEMS
            ):
                _put(interpreter, frame, owner, node, arranged(items, more), added, left)
            case Sequence(), _:
                padding = iterable.varies if isinstance(iterable, Sequence) else ()
                kept = padded(owner.varies, padding)
                if kept is None and (sized := tuple(each for each in padding if each.kind == "sized")):
                    kept = united(owner.varies, sized)
                _put(interpreter, frame, owner, node, None, added, left, kept)
        return NONE

    return handle


def _put(
    interpreter: Interpreter,
    frame: Frame,
    owner: Sequence,
    node: cst.BaseExpression,
    items: Ordered[Value] | None,
    added: Value,
    left: bool,
    varies: tuple[Variation, ...] | None = None,
) -> None:
    """The sequence after a change: these items, or what it held and what was added, on the left or not. `varies`: why
    it is of another length each time, where that is another reason than before."""
    if items is not None:
        kept = tuple(items)
        for variation in owner.varies:
            if variation.kind == "capped" and variation.shapes is not None:
                kept = kept[: variation.shapes] if left else kept[-variation.shapes :]
        _rebind(interpreter, frame, node, Sequence(owner.kind, kept, varies=owner.varies or longer(frame, node)))
        return
    present = element_of(owner)
    joined = added if present is None else join_parts(present, added)
    if varies is None:
        varies = tuple(each for each in owner.varies if each.kind != LAST)  # what is short is filled up
        varies = varies if owner.varies else longer(frame, node)
    if owner.items is not None or owner.steps is not None or joined is not present or varies != owner.varies:
        _rebind(interpreter, frame, node, Sequence(owner.kind, None, joined, varies=varies))


def _at(items: tuple[Value, ...], added: Value, arguments: Arguments) -> Ordered[Value] | None:
    match arguments.positional:
        case [Static(int(position)), _]:
            place = slice(position, position)
            return (*items[: place.start], added, *items[place.start :])
        case _:
            return None


def _shrinks(form: str, default: int | None) -> ContainerModel:
    """A method that takes an item out: that at a position, of which `default` is the usual one."""

    def handle(
        interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
    ) -> Value:
        interpreter.mutated_call(frame, node, form)
        match owner, arguments.positional:
            case Dict(entries, element), [Static(key), *rest] if key is not UNSET:
                found = entries.get(key) if isinstance(key, KEYS) else None
                if found is not None and _is_certain(frame):
                    left = {name: value for name, value in entries.items() if name != key}
                    _rebind(interpreter, frame, node, Dict(left, element))
                return found or (rest[0] if rest else element or UNKNOWN)
            case Dict(), _:
                return _any_of(owner)
            case Sequence(items=tuple(items)), positional:
                at = default if not positional else getattr(positional[0], "constant", UNSET)
                if isinstance(at, int) and -len(items) <= at < len(items) and _is_certain(frame):
                    left_items = [*items]
                    found = left_items.pop(at)
                    _rebind(interpreter, frame, node, Sequence(owner.kind, tuple(left_items)))
                    return found
                if frame.context.kind not in NOT_TRACED:
                    return element_of(owner) or UNKNOWN
                each = told_apart(items, Location(frame.unit, node))
                return one_by_one(element_of(Sequence(owner.kind, each)) or UNKNOWN)
            case Sequence(), _:
                return element_of(owner) or UNKNOWN
            case _:
                return UNKNOWN

    return handle


def _pops_item(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    """`popitem()`: the last key with its value."""
    interpreter.mutated_call(frame, node, "pop")
    match owner:
        case Dict(entries, None) if entries and _is_certain(frame) and not (arguments.positional or arguments.keywords):
            *left, (key, value) = entries.items()
            _rebind(interpreter, frame, node, Dict(dict(left)))
            return Sequence("tuple", (Static(key), value))
        case Dict():
            return Sequence("tuple", (STATIC, _any_of(owner)))
        case _:
            return UNKNOWN


def _moves(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    """`move_to_end(key, last)`: an entry, to one of the ends."""
    match owner, arguments.get(0, "key"), arguments.get(1, "last"):
        case Dict(entries, element), Static(key), last if isinstance(key, KEYS) and key in entries:
            rest = {name: value for name, value in entries.items() if name != key}
            moved = {key: entries[key]}
            first = isinstance(last, Static) and last.constant is False
            _rebind(interpreter, frame, node, Dict(moved | rest if first else rest | moved, element))
    return NONE


def _sorts(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    """`sort(key=..)`: in place, what `sorted` gives."""
    if isinstance(owner, Sequence) and owner.items:
        given = replace(arguments, positional=[owner], nodes=[node])
        made = put_in_order(interpreter, frame, given, node)
        if _is_certain(frame) or not (isinstance(made, Sequence) and made.items):
            _rebind(interpreter, frame, node, made)
    return NONE


def _merges(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    """`new_child(mapping)` of a `ChainMap`, which is the dict that it amounts to."""
    match owner, arguments.get(0, "m"):
        case Dict(entries, element), Dict(others, other):
            return Dict({**entries, **others, **arguments.keywords}, other or element)
        case Dict(entries, element), None:
            return Dict({**entries, **arguments.keywords}, element)
        case _:
            return UNKNOWN


def _position(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    """`index(value)`: where a constant stands among constants."""
    match owner, arguments.positional:
        case Sequence(items=tuple(items)), [Static() as wanted] if wanted.known:
            for position, item in enumerate(items):
                if not (isinstance(item, Static) and item.known):
                    break
                if item.constant == wanted.constant:
                    return Static(position)
    return STATIC


def _sends(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    """`generator.send(value)`: what it yields, which may be made of what it is sent."""
    return join_all(*arguments.positional, *([owner.element] if isinstance(owner, Sequence) and owner.element else []))


def _forgets(form: str) -> ContainerModel:
    """A method that takes some out or puts them in another order: which one is where, is not known after."""

    def handle(
        interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
    ) -> Value:
        if form == "remove":
            interpreter.mutated_call(frame, node, form)
        if form == "reverse" and isinstance(owner, Sequence) and owner.items and _is_certain(frame):
            _rebind(interpreter, frame, node, Sequence(owner.kind, owner.items[::-1]))
        elif isinstance(owner, Sequence) and owner.items and (form == "remove" or len(owner.items) > 1):
            _rebind(interpreter, frame, node, Sequence(owner.kind, None, element_of(owner)))
        return NONE

    return handle


def _clears(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    interpreter.mutated_call(frame, node, "clear")
    if _is_certain(frame):
        match owner:
            case Sequence(kind):
                _rebind(interpreter, frame, node, Sequence(kind, ()))
            case Dict():
                _rebind(interpreter, frame, node, Dict({}))
    return NONE


def _get(interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match owner, arguments.positional:
        case Dict(entries, element), [Static(key), *rest] if isinstance(key, KEYS):
            if key in entries:
                return entries[key]
            default = rest[0] if rest else NONE
            return default if element is None else join(element, default)
        case Dict(entries), [_, *rest] if entries:
            return join(_any_of(owner), rest[0] if rest else NONE)
        case Dict(element=element), [Static(), *rest]:
            default = rest[0] if rest else NONE
            return default if element is None else join(element, default)
        case _:
            return UNKNOWN


def _values(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    match owner:
        case Dict(entries, None):
            return Sequence("list", tuple(entries.values()))
        case Dict():
            return Sequence("list", None, _any_of(owner))
        case _:
            return UNKNOWN


def _items(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    match owner:
        case Dict(entries, None):
            return Sequence("list", tuple(Sequence("tuple", (Static(key), value)) for key, value in entries.items()))
        case Dict():
            return Sequence("list", None, Sequence("tuple", (STATIC, _any_of(owner))))
        case _:
            return UNKNOWN


def _any_of(owner: Dict) -> Value:
    found = [*owner.entries.values(), *(() if owner.element is None else (owner.element,))]
    return join_all(*found) if found else UNKNOWN


def _keys(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    match owner:
        case Dict(entries, None):
            return Sequence("list", tuple(map(Static, entries)))
        case _:
            return Sequence("list", None, STATIC)


def _update(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    interpreter.mutated_call(frame, node, "update")
    if isinstance(owner, Dict):
        given = arguments.positional[0] if arguments.positional else Dict({})
        entries: dict[Any, Value] = {**owner.entries, **arguments.keywords}
        element = owner.element
        if isinstance(given, Dict):
            entries |= given.entries
            element = given.element or element
        else:
            element = given if isinstance(given, Structure) else UNKNOWN
        _rebind(interpreter, frame, node, Dict(entries, element))
    return NONE


def _same(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    return owner


def _setdefault(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    interpreter.mutated_call(frame, node, "setdefault")
    match owner, arguments.positional:
        case Dict(entries), [Static(key), default] if isinstance(key, KEYS):
            value = entries.get(key, default)
            _rebind(interpreter, frame, node, Dict({**entries, key: value}, owner.element))
            return value
        case _:
            return UNKNOWN


METHODS: Final[dict[str, ContainerModel]] = {
    "append": _inserts("append", lambda items, added, arguments: (*items, added)),
    "appendleft": _inserts("append", lambda items, added, arguments: (added, *items), left=True),
    "add": _inserts("add", lambda items, added, arguments: None),
    "insert": _inserts("insert", _at),
    "extend": _extends("extend", lambda items, more: (*items, *more)),
    "extendleft": _extends("extend", lambda items, more: (*reversed(more), *items), left=True),
    "remove": _forgets("remove"),
    "reverse": _forgets("reverse"),
    "rotate": _forgets("rotate"),
    "sort": _sorts,
    "new_child": _merges,
    "clear": _clears,
    "pop": _shrinks("pop", -1),
    "popleft": _shrinks("pop", 0),
    "popitem": _pops_item,
    "move_to_end": _moves,
    "index": _position,
    "send": _sends,
    "get": _get,
    "values": _values,
    "items": _items,
    "keys": _keys,
    "update": _update,
    "copy": _same,
    "setdefault": _setdefault,
}
