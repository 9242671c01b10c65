"""How values meet: the join of two branches, and the pattern under which a function's analysis is remembered."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import reduce
from itertools import compress
from operator import is_not
from typing import Any, Final

from ..record import replace
from .kinds import of_either, options, settled
from .origins import strength, strongest
from .values import (
    NONE,
    STATIC,
    UNKNOWN,
    UNSET,
    ApiObject,
    Array,
    Class,
    ClassValue,
    Deferred,
    Dict,
    FunctionValue,
    Instance,
    Member,
    ModuleValue,
    OneOf,
    Origin,
    Pipeline,
    Sequence,
    Static,
    Structure,
    Tensor,
    TensorMethod,
    Unknown,
    Value,
)

# More alternatives than this say nothing any more, except that a tensor is among them.
FEW: Final = 4
MOST_ITEMS: Final = 16  # of a list that is changed
_ASKED: Final = ("argparse.ArgumentParser", "argparse.Namespace")  # which options are added to, one by one
_DATASET: Final = "tf.data.Dataset"
_MOST_FUNCTIONS: Final = 64  # a table of functions or classes: which is called is not known, that they are called is
_PATTERN_DEPTH: Final = 3
_PATTERN_ITEMS: Final = 8
_TOLD_APART: Final = (bool, int, float, str, Member)  # the constants that each have an analysis of their own
_NAMED_TUPLES: Final = frozenset(("typing.NamedTuple", "collections.namedtuple"))

_meeting: Final[set[tuple[int, int]]] = set()  # records whose fields are being joined, by their identities


def join(a: Value, b: Value) -> Value:
    """The value that may be either. Returns `a` itself where `b` adds nothing, so that loops see their fixed point."""
    if a is b:
        return a
    kinds = type(a), type(b)
    if Deferred in kinds:
        return join(settled(a), settled(b))
    if OneOf not in kinds:  # most values
        met = _meet(a, b)
        return OneOf((_apart(a), _apart(b))) if met is None else met
    merged = list(options(a))
    changed = False
    for option in options(b):
        for position, present in enumerate(merged):
            met = _meet(present, option)
            if met is not None:
                changed = changed or met is not present
                merged[position] = met
                break
        else:
            merged.append(_apart(option))
            changed = True
    if not changed:
        return a
    most = _MOST_FUNCTIONS if is_table(merged) else FEW
    if len(merged) > most:
        merged = _one_dataset(_wherever_made(merged))
    if len(merged) > most:
        tensors = [option for option in merged if isinstance(option, Tensor | Structure)]
        if not tensors:
            return UNKNOWN
        merged = [*tensors, UNKNOWN]
    return OneOf(tuple(merged))


def is_table(values: Iterable[Value]) -> bool:
    """Whether all of them are functions, or all are classes or their objects: what a table or a registry holds."""
    kinds = set(map(type, values))
    return kinds <= {FunctionValue} or kinds <= {ClassValue} or kinds <= {Instance}


def _wherever_made(values: list[Value]) -> list[Value]:
    """The values with a library's objects told apart by their kinds alone, and not by where they are made."""
    kept: list[Value] = []
    for value in values:
        bare = replace(value, made=None) if isinstance(value, ApiObject) and value.made is not None else value
        if bare not in kept:
            kept.append(bare)
    return kept


def _one_dataset(values: list[Value]) -> list[Value]:
    """The values with all datasets as one, which yields what each of them does."""
    datasets = [it for it in values if isinstance(it, ApiObject) and it.api == _DATASET and it.method is None]
    several = [it.facts for it in datasets if isinstance(it.facts, Pipeline)]
    if len(several) < max(2, len(datasets)):
        return values
    one = replace(datasets[0], payload=join_all(*(it.payload or UNKNOWN for it in datasets)))
    return [replace(one, facts=_one_pipeline(several)), *(it for it in values if it not in datasets)]


def _one_pipeline(several: list[Pipeline]) -> Pipeline:
    """What is true of one of these pipelines, where it is not known which."""
    counts, batches = ({getattr(it, name) for it in several} for name in ("count", "batch"))
    return Pipeline(
        count=counts.pop() if len(counts) == 1 else None,
        endless=any(it.endless for it in several),
        batch=batches.pop() if len(batches) == 1 else 0,
        uniform=all(it.uniform for it in several),
        python=any(it.python for it in several),
        distributed=any(it.distributed for it in several),
        foreign=any(it.foreign for it in several),
    )


def _apart(value: Value) -> Value:
    """A value as one of several alternatives: of what is done to them nothing can be said of a parameter."""
    return replace(value, parameter=None) if isinstance(value, Structure) and value.parameter is not None else value


def join_all(*values: Value) -> Value:
    """The join of at least one value."""
    return reduce(join, values)


def join_parts(*values: Value) -> Value:
    """The join of what one container holds, which is not what one name is on two ways: what only some of the parts
    are, made by a loop or by chance, is not said of all."""
    joined = join_all(*values)
    if not any(isinstance(option, Tensor) and option.carried for option in options(joined)) or all(
        isinstance(option, Tensor) and option.carried for value in values for option in options(value)
    ):
        return joined
    kept = [option.with_(carried=False) if isinstance(option, Tensor) else option for option in options(joined)]
    weakened = kept[0] if len(kept) == 1 else OneOf(tuple(kept))
    return values[0] if weakened == values[0] else weakened


def _meet(a: Value, b: Value) -> Value | None:
    """The join of two values of one kind as one value of that kind; None where the kinds differ."""
    if a is b:
        return a
    kind = type(a)
    if type(b) is not kind:
        match as_list(a), as_list(b):
            case Sequence() as one, Sequence() as other:
                return _meet_sequences(one, other)
            case _:
                return None
    meet = _MEETINGS.get(kind)
    return meet(a, b) if meet is not None else a if a == b else None


def _meet_static(a: Static, b: Static) -> Static | None:
    varies = of_either(a.varies, b.varies)
    if a.dimension != b.dimension:
        a, b = replace(a, dimension=None), replace(b, dimension=None)
    if a.count != b.count:
        a = a if a.count is None else replace(a, count=None)
    if a.local and not b.local:
        a = replace(a, local=False)
    if a.begins != b.begins:
        a = replace(a, begins="")
    if a.without_gpus is not b.without_gpus:
        a = replace(a, without_gpus=UNSET)
    if a.setting != b.setting and a.setting is not None and isinstance(a.setting.default, str):
        a = replace(a, setting=None)
    if not a.known or (type(a.constant) is type(b.constant) and a.constant == b.constant):
        return a if varies == a.varies else replace(a, varies=varies)
    # None stays apart: `x is None` is the commonest question of all.
    if (a.constant is None) != (b.known and b.constant is None):
        return None
    return Static(varies=varies) if varies else STATIC


def _meet_nests(a: Structure, b: Structure) -> Structure:
    stronger = a if strength(a.dependence, a.origin) >= strength(b.dependence, b.origin) else b
    merged = replace(
        stronger,
        varies=of_either(a.varies, b.varies),
        passed=a.passed or b.passed,
        carried=a.carried or b.carried,
        several=a.several and b.several,
        parameter=a.parameter if a.parameter is b.parameter else None,
        open=a.open if a.open == b.open else None,
    )
    return stronger if merged == stronger else merged


def _meet_arrays(a: Array, b: Array) -> Array:
    if a == b:
        return a
    length = a.length if a.length == b.length else None
    row = a.row if a.row == b.row else None
    dtype = a.dtype if a.dtype == b.dtype else None
    return Array(dtype, length, of_either(a.varies, b.varies), row, a.steps and b.steps)


def _meet_unknown(a: Unknown, b: Unknown) -> Unknown:
    count = a.count if a.count == b.count else None
    merged = Unknown(
        a.names | b.names, a.compared and b.compared, a.part or b.part, of_either(a.varies, b.varies), count
    )
    return a if merged == a else merged


def _meet_instances(a: Instance, b: Instance) -> Instance | None:
    if a.cls is not b.cls or not _is_value(a.cls) or a.attributes.keys() != b.attributes.keys():
        return a if a.cls is b.cls else None
    pair = id(a), id(b)
    if pair in _meeting:  # they hold themselves, or one another
        return a
    _meeting.add(pair)
    try:
        joined = {name: join(value, b.attributes[name]) for name, value in a.attributes.items()}
    finally:
        _meeting.discard(pair)
    same = all(joined[name] is value for name, value in a.attributes.items())
    return a if same else Instance(a.cls, joined, traced=a.traced or b.traced)


def _is_value(cls: Class) -> bool:
    """Whether objects of a class are records, which are made anew where a field is another one."""
    return any("dataclass" in text for text in cls.decorator_texts) or any(
        base in _NAMED_TUPLES for base in cls.external_bases
    )


def _meet_objects(a: ApiObject, b: ApiObject) -> ApiObject | None:
    """One object in two states, a model that some ways add a layer to; others are what they are."""
    if a == b:
        return a
    match a.payload, b.payload:
        case Dict(fewer, some), Dict(more, others) if a.api == b.api and a.api in _ASKED:
            if len(fewer) > len(more):
                fewer, more, b = more, fewer, a
            if not fewer.items() <= more.items():
                return None
            return b if some == others else replace(b, payload=Dict(more, _join_optional(some, others)))
    if a.made is None or replace(a, payload=None) != replace(b, payload=None):
        return None
    payload = _join_optional(a.payload, b.payload)
    return a if payload is a.payload else replace(a, payload=payload)


def _meet_functions(a: FunctionValue, b: FunctionValue) -> FunctionValue | None:
    same = a.function is b.function and a.scope is b.scope and a.bound is b.bound and a.compiled == b.compiled
    return a if same and a.partial_args == b.partial_args else None


def _meet_tensors(a: Tensor, b: Tensor) -> Tensor:
    decisive = strongest((a, b))
    merged = Tensor(
        decisive.dependence,
        a.dtype if a.dtype == b.dtype else None,
        a.rank if a.rank == b.rank else None,
        decisive.origin,
        _bounded_on_some_way(a.bounded, b.bounded),
        a.carried or b.carried,
        a.variable and b.variable,
        a.mixed or b.mixed,
        of_either(a.varies, b.varies),
        returned=a.returned and b.returned,
        of_tensorflow=a.of_tensorflow and b.of_tensorflow,
        traced=a.traced and b.traced,
        python=a.python and b.python,
        int32=a.int32 if a.int32 == b.int32 else None,
        eager=a.eager and b.eager,
        reduction=a.reduction if a.reduction == b.reduction else None,
        made=a.made if a.made == b.made else None,
        whole=a.whole and b.whole,
        open=a.open if a.open == b.open else None,
        parted=a.parted if a.parted == b.parted else None,
    )
    return a if merged == a else merged


def _bounded_on_some_way(a: Origin | None, b: Origin | None) -> Origin | None:
    """Where a shape became dynamic on one of two ways: a condition met before and again later may choose the way."""
    found = a or b
    if a is not None and b is not None:
        a = a if a.axes == b.axes else replace(a, axes=None)
        return a if a.extent == b.extent else replace(a, extent=None)
    return found if found is None or found.perhaps else replace(found, perhaps=True)


def _meet_sequences(a: Sequence, b: Sequence) -> Sequence | None:
    if a.kind != b.kind:
        return None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items, varies = tuple(map(join, a.items, b.items)), of_either(a.varies, b.varies)
        same = varies == a.varies and all(map(lambda x, y: x is y, items, a.items))
        return a if same else Sequence(a.kind, items, varies=varies)
    element, varies = _join_optional(element_of(a), element_of(b)), of_either(a.varies, b.varies)
    steps = a.steps if a.steps == b.steps else None if a.steps is None or b.steps is None else 0
    same = a.items is None and element is a.element and varies == a.varies and steps == a.steps
    of_gpus = a.of_gpus and b.of_gpus
    return a if same and of_gpus is a.of_gpus else Sequence(a.kind, None, element, varies=varies, steps=steps)


def _meet_dicts(a: Dict, b: Dict) -> Dict:
    entries = {
        key: join(a.entries[key], b.entries[key]) if key in a.entries and key in b.entries else value
        for key, value in {**b.entries, **a.entries}.items()
    }
    element = _join_optional(a.element, b.element)
    same = len(entries) == len(a.entries) and all(entries[key] is a.entries[key] for key in entries)
    return a if same and element is a.element else Dict(entries, element)


# The kinds whose values may meet although they differ.
_MEETINGS: Final[dict[type[object], Callable[[Any, Any], Value | None]]] = {
    ApiObject: _meet_objects,
    Array: _meet_arrays,
    Dict: _meet_dicts,
    FunctionValue: _meet_functions,
    Instance: _meet_instances,
    Structure: _meet_nests,
    Sequence: _meet_sequences,
    Static: _meet_static,
    Tensor: _meet_tensors,
    Unknown: _meet_unknown,
}


def _join_optional(a: Value | None, b: Value | None) -> Value | None:
    if a is None or b is None:
        return a or b
    return join(a, b)


def element_of(value: Sequence) -> Value | None:
    """What iterating the sequence yields; None when it is known to be empty.

    Tensors beside structures are a nest: which of them an element is, is not known.
    """
    element = (join_parts(*value.items) if value.items else None) if value.items is not None else value.element
    if isinstance(element, OneOf):
        kinds = [option for option in element.options if option != NONE]
        tensors = [option for option in kinds if isinstance(option, Tensor)]
        if tensors and any(isinstance(option, Sequence | Dict | Structure) for option in kinds):
            return Structure(tensors[0].dependence, tensors[0].origin)
    return element


def as_tuple(value: Value) -> Value:
    """A named tuple as the tuple that it is; any other value as itself."""
    if isinstance(value, Instance) and any(base in _NAMED_TUPLES for base in value.cls.external_bases):
        return Sequence("tuple", tuple(value.attributes.values()))
    return value


def as_list(value: Value) -> Value:
    """A short list that is written down as a constant, as the list that code may change; any other value as itself."""
    if isinstance(value, Static) and isinstance(value.constant, list) and len(value.constant) <= MOST_ITEMS:
        return Sequence("list", tuple(map(Static, value.constant)))
    return value


def join_environments(a: dict[str, Value] | None, b: dict[str, Value] | None) -> dict[str, Value] | None:
    """The names after two branches; None is unreachable. A name bound in one branch only keeps that value."""
    if a is None or b is None or a is b:
        return a if b is None else b
    joined = dict(a)
    for name in compress(b, map(is_not, map(a.get, b), b.values())):  # most names are what they were on either way
        present = a.get(name)
        joined[name] = b[name] if present is None else join(present, b[name])
    return joined


def without_none(value: Value) -> Value:
    """The value where it is known not to be None."""
    if isinstance(value, Static) and value.dimension is not None:
        return replace(value, dimension=None)
    if isinstance(value, OneOf):
        rest = tuple(option for option in value.options if option != NONE)
        return rest[0] if len(rest) == 1 else OneOf(rest) if rest else value
    return value


_TOLD_BY_PAYLOAD: Final = frozenset(("functools.partial", "types.CoroutineType"))


def pattern(value: Value, depth: int = 0) -> Hashable:
    """What two argument values must share for one analysis of a function to serve both."""
    described = _PATTERNS.get(type(value))
    return value if described is None else described(value, depth)


def _static_pattern(value: Static, depth: int) -> Hashable:
    constant = value.constant
    plain = constant is None or isinstance(constant, _TOLD_APART)
    told = (type(constant), constant) if plain else (constant is not UNSET,)
    known = (value.setting, value.dimension is not None, value.count, value.local, value.begins, value.without_gpus)
    return ("static", *told, value.varies, *known)


def _tensor_pattern(value: Tensor, depth: int) -> Hashable:
    bounded = value.bounded and (value.bounded.perhaps, value.bounded.extent)
    said = (value.dependence, value.dtype, value.rank, bounded, value.carried, value.variable, value.mixed)
    reduced = value.reduction and value.reduction.mean
    return ("tensor", *said, value.varies, reduced, value.whole, value.open, value.parted)


def _sequence_pattern(value: Sequence, depth: int) -> Hashable:
    items = value.items
    if depth >= _PATTERN_DEPTH or (items is not None and len(items) > _PATTERN_ITEMS):
        return (value.kind,)
    inner = items if items is not None else () if value.element is None else (value.element,)
    inner = inner if value.left is None else (*inner, value.left)
    return (value.kind, items is None, value.varies, value.of_gpus, *(pattern(item, depth + 1) for item in inner))


def _dict_pattern(value: Dict, depth: int) -> Hashable:
    if depth >= _PATTERN_DEPTH or len(value.entries) > _PATTERN_ITEMS:
        return ("dict",)
    entries = ((repr(key), pattern(item, depth + 1)) for key, item in value.entries.items())
    return ("dict", *entries, value.element and pattern(value.element, depth + 1))


def _function_pattern(value: FunctionValue, depth: int) -> Hashable:
    own = None if value.bound is None else pattern(value.bound, depth + 1)
    return ("function", value.function, value.scope, own, tuple(map(pattern, value.partial_args)), value.compiled)


def _object_pattern(value: ApiObject, depth: int) -> Hashable:
    # What a dataset holds decides what becomes of it; the payloads of most other objects do not.
    told = value.payload is not None and (value.facts is not None or value.api in _TOLD_BY_PAYLOAD)
    held = pattern(value.payload, depth + 1) if told and value.payload is not None else None
    return ("object", value.api, value.method, held, value.facts, value.made)


# The kinds of values that are told by something else than all that is known of them.
_PATTERNS: Final[dict[type[object], Callable[[Any, int], Hashable]]] = {
    ApiObject: _object_pattern,
    ClassValue: lambda value, depth: ("class", value.cls),
    Dict: _dict_pattern,
    FunctionValue: _function_pattern,
    Instance: lambda value, depth: ("instance", value, value.version),
    ModuleValue: lambda value, depth: ("module", value.module),
    Structure: lambda value, depth: (
        "nest",
        value.dependence,
        value.varies,
        value.passed,
        value.carried,
        value.several,
        value.whole,
        value.open,
        value.parted,
    ),
    OneOf: lambda value, depth: ("one of", *(pattern(option, depth + 1) for option in value.options)),
    Sequence: _sequence_pattern,
    Static: _static_pattern,
    Tensor: _tensor_pattern,
    TensorMethod: lambda value, depth: ("method", pattern(value.owner, depth + 1), value.name),
}


def generalise(value: Value) -> Value:
    """The value without its constants, but for flags: what a function that was analysed too often is analysed with."""
    match value:
        case Static(constant) if constant is not None and not isinstance(constant, Member | bool):
            return STATIC
        case Sequence(kind, items, _) if items is not None:
            return Sequence(kind, None, element_of(value))
        case Tensor():
            return replace(value, rank=None)
        case _:
            return value
