"""Python's own functions and the methods of its containers, as far as tensors meet them."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.joins import as_tuple, element_of, join_parts, without_none
from ..domain.kinds import as_tensor, is_key, options, steps_of, united
from ..domain.operators import concatenate
from ..domain.values import (
    KEYS,
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Sequence,
    Slice,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED, ContextKind
from ..interpreter.events import TruthOf
from ..interpreter.frames import Arguments, Compilation, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..interpreter.narrowing import class_names, truth
from ..library.class_checks import is_instance
from ..library.tokenizers import torch_in
from ..program.definitions import DefinedClass
from ..record import replace
from .python_numbers import first

_TOLD_APART: Final = 16  # items of a sequence of which each is looked at by itself


def _node(arguments: Arguments, node: cst.BaseExpression, position: int = 0) -> cst.BaseExpression:
    return arguments.nodes[position] if position < len(arguments.nodes) else node


def _iterator(form: str) -> FunctionModel:
    """`zip(..)`, `enumerate(..)` and the like: each argument is iterated."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        elements, iterables = [], []
        for position, value in enumerate(arguments.positional):
            if form == "enumerate" and position:
                break
            if form == "zip" and not (isinstance(value, Unknown) and value.part):
                interpreter.refute_tensor(frame, value)
            where = _node(arguments, node, position)
            iterable = interpreter.iterate(frame, value, where, form)
            iterables.append(iterable)
            elements.append(interpreter.element(frame, iterable, where))
        if arguments.rest is not None:
            if form != "zip" or elements:
                return Sequence("list", None, UNKNOWN)
            return _transposed(arguments.rest, _of_rows(interpreter, frame, node))
        if form == "enumerate":
            match iterables, arguments.get(1, "start"):
                case [Sequence(items=tuple(items))], None | Static(int()) as start if len(items) <= _TOLD_APART:
                    first_number = 0 if start is None else start.constant
                    numbered = (
                        Sequence("tuple", (Static(number), item)) for number, item in enumerate(items, first_number)
                    )
                    return Sequence("list", tuple(numbered))
            elements.insert(0, interpreter.counter(frame, node))
        if form in ("zip", "enumerate"):
            if form == "zip" and (rows := _rows(iterables, elements)) is not None:
                return Sequence("list", tuple(Sequence("tuple", row) for row in rows))
            steps = max((count for count in map(steps_of, iterables) if count is not None), default=None)
            return Sequence("list", None, Sequence("tuple", tuple(elements)), steps=steps)
        kind = "tuple" if form == "tuple" else "set" if form == "set" else "list"
        match iterables[:1]:
            case [Sequence(items=tuple(items))] if form in ("list", "tuple"):
                return Sequence(kind, items)
            case [Sequence(items=tuple(items))] if form == "reversed":
                return Sequence(kind, items[::-1])
            case [ApiObject("builtins.range") as numbers] if form == "reversed":
                return numbers
        if not elements:
            return Sequence(kind, ())
        varies = iterables[0].varies if isinstance(iterables[0], Sequence) else ()
        kept = tuple(each for each in varies if each.kind != "capped")
        return Sequence(kind, None, elements[0], varies=kept, steps=steps_of(iterables[0]))

    return handle


def _rows(iterables: list[Value], elements: list[Value]) -> list[tuple[Value, ...]] | None:
    """What `zip` yields, where it is known how much that is: nothing of `range(n)` beside it is known but what it
    counts."""
    columns = [one.items if isinstance(one, Sequence) else None for one in iterables]
    lengths = [len(column) for column in columns if column is not None]
    others = [one for one, column in zip(iterables, columns, strict=True) if column is None]
    if not lengths or not all(lengths) or not all(_counts(one) for one in others):
        return None
    least = min(lengths)
    filled = [
        column if column is not None else (element,) * least for column, element in zip(columns, elements, strict=True)
    ]
    return list(zip(*filled, strict=False))


def _counts(value: Value) -> bool:
    """Whether this counts up, as far as anybody asks."""
    return isinstance(value, Sequence) and isinstance(value.element, Static) and value.kind == "list"


def _of_rows(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> tuple[Variation, ...]:
    """Why the rows that `zip(*rows)` is passed are more or fewer."""
    match node:
        case cst.Call(args=[cst.Arg(value=rows, star="*")]) if frame.context.kind in NOT_TRACED:
            held = options(interpreter.evaluate(frame, rows))
            return reduce(united, (option.varies for option in held if isinstance(option, Sequence)), ())
        case _:
            return ()


def _transposed(row: Value, varies: tuple[Variation, ...]) -> Value:
    """`zip(*rows)`, where each row is like this one: for each place in it, what all rows have there."""
    match row:
        case Instance():
            return _transposed(as_tuple(row), varies) if as_tuple(row) is not row else Sequence("list", None, UNKNOWN)
        case Sequence(items=tuple(items)):
            return Sequence("list", tuple(Sequence("tuple", None, item, varies=varies) for item in items))
        case Sequence(element=element) if element is not None:
            return Sequence("list", None, Sequence("tuple", None, element, varies=varies))
        case _:
            return Sequence("list", None, UNKNOWN)


def _called_by_python(name: str, function: Value) -> Value:
    """A function that Python itself calls: AutoGraph does not convert it, unless converted code made it."""
    if isinstance(function, FunctionValue) and function.scope is None and function.compiled is None:
        return function.compiled_by(Compilation(ContextKind.OPEN, False, f"`{name}`"))
    return function


def _deque(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`deque(items, maxlen=n)`: with a length that it does not exceed it is full before long."""
    items = replace(arguments, positional=arguments.positional[:1])
    made = _iterator("list")(interpreter, frame, items, node) or UNKNOWN
    if isinstance(made, Sequence) and arguments.get(1, "maxlen") not in (None, NONE):
        match arguments.get(1, "maxlen"), made.items:
            case Static(int() as most), tuple(held) if most > 0:
                capped = Variation("capped", Location(frame.unit, node), shapes=most)
                return replace(made, items=held[-most:], varies=(capped,))
        return replace(made, varies=(Variation("capped", Location(frame.unit, node)),))
    return made


def _map(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:

    function, columns, elements = _called_by_python("map", first(arguments)), [], []
    for position, value in enumerate(arguments.positional[1:], 1):
        where = _node(arguments, node, position)
        iterable = interpreter.iterate(frame, value, where, "map")
        columns.append(iterable.items if isinstance(iterable, Sequence) else None)
        elements.append(interpreter.element(frame, iterable, where))
    around, frame.looped = frame.looped, True
    made = _of_each_row(interpreter, frame, function, columns, elements, node)
    frame.looped = around
    return made


def _of_each_row(
    interpreter: Interpreter,
    frame: Frame,
    function: Value,
    columns: list[tuple[Value, ...] | None],
    elements: list[Value],
    node: cst.BaseExpression,
) -> Value:
    """What a function returns for each of a few rows, or for one of many."""
    rows = [column for column in columns if column is not None]
    if rows and len(rows) == len(columns) and len(set(map(len, rows))) == 1 and len(rows[0]) <= _TOLD_APART:
        made = [interpreter.call(frame, function, Arguments(list(row)), node) for row in zip(*rows, strict=True)]
        return Sequence("list", tuple(made))
    return Sequence("list", None, interpreter.call(frame, function, Arguments(elements), node))


def _filter(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:

    if len(arguments.positional) < 2:
        return UNKNOWN
    where = _node(arguments, node, 1)
    iterable = interpreter.iterate(frame, arguments.positional[1], where, "filter")
    function = _called_by_python("filter", arguments.positional[0])

    def kept(item: Value) -> bool | None:
        return truth(item if function == NONE else interpreter.call(frame, function, Arguments([item]), node))

    match iterable:
        case Sequence(items=tuple(items)) if len(items) <= _TOLD_APART:
            chosen = [kept(item) for item in items]
            left = tuple(item for item, is_kept in zip(items, chosen, strict=True) if is_kept is not False)
            if None not in chosen or not left:
                return Sequence("list", left)
            return Sequence("list", None, join_parts(*left))
        case _:
            item = interpreter.element(frame, iterable, where)
            kept(item)
            return Sequence("list", None, item)


def _chosen(form: str) -> FunctionModel:
    """`any`, `all`, `sum` over an iterable."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        only = first(arguments)
        iterable = interpreter.iterate(frame, only, _node(arguments, node), form)
        if as_tensor(only, Dependence.STATIC):
            return UNKNOWN
        start = arguments.get(1, "start")
        if isinstance(start, Sequence) and isinstance(iterable, Sequence) and iterable.items is not None:
            return reduce(concatenate, (row for row in iterable.items if isinstance(row, Sequence)), start)
        if form in ("any", "all"):
            held = iterable.items if isinstance(iterable, Sequence) else None
            for item in (interpreter.element(frame, iterable, node),) if held is None else held:
                if truth(item) is (form == "any"):
                    return Static(form == "any")  # Python asks no further
                if as_tensor(item, Dependence.STATIC) is not None:
                    names = dict(frame.env or {})
                    interpreter.emit(frame, TruthOf, node, operands=(item,), form=form, tested=False, names=names)
                    break
            return STATIC  # Python's own, also where AutoGraph converts the function
        item = interpreter.element(frame, iterable, node)
        tensor = as_tensor(item, Dependence.STATIC)
        if isinstance(item, Structure):
            return item
        return tensor if tensor is not None else STATIC if isinstance(item, Static) else UNKNOWN

    return handle


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


def _iter(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`iter(x)`: of a dataset an iterator, of anything else what can be iterated as well; of a function its results."""
    if len(arguments.positional) > 1:
        return Sequence("list", None, without_none(interpreter.call(frame, first(arguments), Arguments(), node)))
    match first(arguments):
        case ApiObject("tf.data.Dataset", None, payload, facts):
            return ApiObject("tf.data.Iterator", payload=payload, facts=facts)
        case value:
            return interpreter.iterate(frame, value, _node(arguments, node, 0), "iter")


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


def _reversed(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    own = interpreter.special(frame, first(arguments), "__reversed__", (), node)
    return _iterator("reversed")(interpreter, frame, arguments, node) or UNKNOWN if own is None else own


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

    if not arguments.positional or arguments.positional[0] == NONE:
        return Dict({}, None)
    return Dict({}, interpreter.call(frame, arguments.positional[0], Arguments(), node))


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


def _next(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    value = first(arguments)
    interpreter.refute_tensor(frame, value)
    match value, arguments.nodes:
        case Sequence(kind, (found, *rest)), [where, *_] if not (frame.loop or frame.python_loop):
            if isinstance(where, cst.Name | cst.Attribute) and not (frame.conditional or frame.branch):
                interpreter.assign_quietly(frame, where, Sequence(kind, tuple(rest)))
            return found
        case _:
            return interpreter.element(frame, value, node)


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **{f"builtins.{name}": _iterator(name) for name in ("enumerate", "zip", "list", "tuple", "set")},
    "builtins.frozenset": _iterator("set"),
    "builtins.reversed": _reversed,
    "builtins.divmod": _operator(cst.FloorDivide(), cst.Modulo(), name="divmod"),
    "builtins.pow": _operator(cst.Power(), name="pow"),
    "builtins.iter": _iter,
    **{f"builtins.{name}": _chosen(name) for name in ("any", "all", "sum")},
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.isinstance": _isinstance,
    "builtins.super": _super,
    "builtins.abs": _abs,
    **{f"builtins.{name}": _wrapped(name) for name in ("property", "staticmethod", "classmethod")},
    "builtins.dict": _dict,
    "builtins.dict.fromkeys": _from_keys,
    "builtins.slice": _slice,
    "builtins.next": _next,
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    **dict.fromkeys(("typing.assert_type", "typing.reveal_type"), _copy),
    "typing.NewType": lambda interpreter, frame, arguments, node: Api("functools.identity"),
    "typing.cast": lambda interpreter, frame, arguments, node: (arguments.positional or [UNKNOWN])[-1],
    "collections.OrderedDict": _dict,
    "collections.Counter": _dict,
    "collections.defaultdict": _defaultdict,
    "collections.deque": _deque,
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
            "dir",
            "open",
            "input",
            "bytes",
            "bytearray",
            "object",
            "eval",
            "exec",
            "locals",
        ]
    },
}
