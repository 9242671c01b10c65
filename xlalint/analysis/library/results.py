"""What a call of the API returns, built from the result language of `api_tables`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from ...facts.names import known, parameters
from ..domain.bounds import FIRST, along, met_by, product_of, resized
from ..domain.kinds import holds_text, leaves, options, rows_of, united
from ..domain.origins import strength, taken
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    Dependence,
    Dict,
    OneOf,
    Origin,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)
from ..domain.varying_shapes import READ, filtered, variations_of
from ..record import replace
from . import datasets as pipelines
from . import raw_ops
from . import tokenizers as texts
from .axes import extended, gathered_axes, is_laid_behind, masked_axes, result_axes
from .call import Call, Content
from .declared_inputs import declares
from .dtypes import named_dtype
from .first_axes import first_of_bounded, remaining
from .folding import is_folded
from .keras_classes import kind_of
from .local_paths import LOCAL
from .measured_results import built_with, measured, measured_with, shape_only
from .ranges import RANGES, count_of
from .ranks import drops_first_axis, names_every_size, rank_of, result_rank
from .reductions import averages, reduction_of
from .refusing_layers import further_options, layers_of
from .result_dtypes import result_dtype
from .result_tables import (
    CAPITAL_FUNCTIONS,
    CONFIGURATION,
    DATA_NAMESPACES,
    DATA_PARAMETERS,
    DATASET_SIZES,
    NUMERIC,
    NUMPY_MAKERS,
    NUMPY_NUMBERS,
    NUMPY_SCALARS,
    POSITIONS,
    REST,
    RESULTS,
    TENSOR_FIRST,
    TENSOR_PARAMETERS,
)
from .weights import marked

if TYPE_CHECKING:
    from ..files.unit import Location

# Objects that hold tensors and are given where a tensor is expected.
TENSOR_LIKE: Final = frozenset(("tf.RaggedTensor", "tf.SparseTensor", "tf.TensorArray", "tf.IndexedSlices"))

# What Keras has as a Python number on JAX.
_NUMBERS: Final = frozenset(("keras.ops.ndim", "keras.ops.size"))

# Libraries whose capitalised names are classes worth to be known as such.
_LIBRARIES: Final = frozenset(("tf", "keras", "tnp", "np"))

_PLAIN: Final[dict[str, Value]] = {
    "none": NONE,
    "static": STATIC,
    "unknown": UNKNOWN,
    "array": Array(),
    "shape": Sequence("tuple", None, STATIC),
    "dtype": ApiObject("tf.DType"),
    "path": LOCAL,
}
# Flags of what is made of data from outside, whatever is known of the arguments.
_OF_DATA: Final = frozenset(("layer", "bounded"))
_CASTS: Final = frozenset(("keras.ops.cast", "tf.cast"))
_OF_MASKS: Final = (Api("tf.bool"), Api("np.bool_"), Static("bool"))
_MADE: Final = {
    "chance": "draws random numbers",
    "data": "returns data",
    "variable": "creates a variable",
    "bounded": "gives a bounded dynamic shape",
    "layer": "computes a tensor",
}


# The rules of ranks where the shapes of several arguments become one.
_MEETING: Final = ("all", "-1")

# Values that bring nothing into the result of a call.
_WITHOUT_CONTENT: Final = frozenset((Static, Api))
_STRUCTURES: Final = frozenset((OneOf, Sequence, Dict))


# -- looking up -------------------------------------------------------------------------------------------------------


@cache
def _by_name() -> dict[str, str]:
    return {name: spec for spec, names in RESULTS.items() for name in names.split()}


@cache
def _by_namespace() -> dict[str, str]:
    return {name: spec for spec, names in REST.items() for name in names.split()}


def words_of(name: str) -> tuple[str, ...]:
    """The keys under which a table may hold a name, the most exact first."""
    namespace, _, word = name.rpartition(".")
    return (name, word) if namespace in NUMERIC else (name,)


@cache
def result_of(name: str) -> str:
    """The result of a canonical name in the language of the tables."""
    table = _by_name()
    for key in words_of(name):
        if key in table:
            return table[key]
    if (found := measured(name)) is not None:
        return found
    if name.startswith(raw_ops.PREFIX):
        alike = filter(None, map(measured, raw_ops.functions_named_alike(name)))
        return next(alike, "nest")
    parts = name.split(".")
    namespace = ".".join(parts[:2])
    rest = _by_namespace().get(namespace, "")
    if kind_of(name) or (parts[-1][:1].isupper() and parts[0] in _LIBRARIES and namespace not in CAPITAL_FUNCTIONS):
        return f"@{name}"
    if parts[0] == "keras" and not known(name):
        return "unknown"  # a function of Keras's own, which may return anything
    if not rest and parts[0] == "tf" and not known(name):
        return "unknown"  # no version has it: `tf.moments`
    return rest or {"tf": "?/?", "keras": "?/?", "tnp": "?/?", "math": "static"}.get(parts[0], "unknown")


@cache
def tensor_parameters(name: str) -> frozenset[str]:
    """The parameters that in practice only receive tensors: evidence about an unknown argument."""
    if name.startswith("np."):
        return frozenset()
    given = parameters(name) or ()
    namespace, _, word = name.rpartition(".")
    found = set(TENSOR_PARAMETERS.get(word, "").split() if namespace in NUMERIC else ()).intersection(given)
    # The product of a shape is taken as often as that of a tensor.
    first_is = word in TENSOR_FIRST or ("/reduce" in result_of(name) and word not in ("reduce_prod", "prod"))
    if first_is and namespace in NUMERIC and given:
        found.add(given[0])
    if namespace in DATA_NAMESPACES:
        found |= DATA_PARAMETERS.intersection(given)
    return frozenset(found)


# -- what goes in -----------------------------------------------------------------------------------------------------


def content(call: Call, names: Iterable[str] | None = None) -> Content:
    """The strongest dependence among the arguments (those of `names`), and what else they pass on."""
    best, origin, bounded, carried, outside = Dependence.STATIC, None, None, False, False
    varies: tuple[Variation, ...] = ()
    evidence, shapes = tensor_parameters(call.name), shape_only(call.name)
    if call.name in _CASTS and call.get("dtype") in _OF_MASKS:  # sizes are cast to numbers, and flags need no cast
        evidence |= {"x"}
    reduces = "/reduce" in result_of(call.name)
    given = [(name, value) for name, value in call.arguments.items() if names is None or name in names]
    if call.owner is not None:
        given.insert(0, ("", call.owner))
    for name, value in given:
        kind = type(value)
        if kind in _WITHOUT_CONTENT:
            continue
        for leaf in leaves(value) if kind in _STRUCTURES else (value,):
            dependence, source = Dependence.STATIC, None
            match leaf:
                case Tensor():
                    dependence, source = leaf.dependence, leaf.origin
                    bounded = bounded or leaf.bounded
                    carried = carried or (leaf.carried and name not in shapes)
                    varies = united(varies, leaf.varies)
                case Structure():
                    dependence, source = leaf.dependence, leaf.origin
                    carried = carried or (leaf.carried and name not in shapes)
                    varies = united(varies, leaf.varies)
                case Array():
                    varies = united(varies, leaf.varies)
                    continue
                case Unknown() if name in evidence and (leaf is value or not reduces):  # numbers are put in a list, too
                    varies = united(varies, leaf.varies)
                    dependence, source = Dependence.VALUE, call.here("takes a tensor", taken(leaf))
                case Unknown():
                    varies = united(varies, leaf.varies)
                    dependence = Dependence.SHAPE
                case ApiObject("keras.random.SeedGenerator"):
                    outside = True  # its state is a variable
                case ApiObject(api, payload=payload) if api in TENSOR_LIKE:
                    dependence = Dependence.VALUE
                    source = payload.origin if isinstance(payload, Tensor) else None
                case _:
                    continue
            if name in shapes and dependence > Dependence.SHAPE:
                dependence, source = Dependence.SHAPE, None
            if strength(dependence, source) > strength(best, origin):
                best, origin = dependence, source
            if dependence is Dependence.VALUE and not isinstance(leaf, Unknown):
                known = leaf.tensor if isinstance(leaf, Structure) else leaf
                outside = outside or not (isinstance(known, Tensor) and known.carried and not known.mixed)
    return Content(best, origin, bounded, carried and best is Dependence.VALUE, outside, varies)


def _deciding(call: Call) -> list[Value]:
    """The arguments that decide dtype and rank, in the order of the signature."""
    values = [call.arguments[name] for name in _in_order(call.name, tuple(call.arguments))]
    return values if call.owner is None else [call.owner, *values]


@cache
def _in_order(name: str, given: tuple[str, ...]) -> tuple[str, ...]:
    order = parameters(name) or ()
    names = [*(each for each in order if each in given), *(each for each in given if each not in order)]
    return tuple(each for each in names if each not in CONFIGURATION)


# -- what comes out ---------------------------------------------------------------------------------------------------


def build(spec: str, call: Call) -> Value:
    """The value that a result of the tables stands for in this call."""
    return _builder(spec)(call)


@cache
def _builder(spec: str) -> Callable[[Call], Value]:
    """What makes the value that a result of the tables stands for."""
    if spec in _PLAIN:
        return partial(_plain, _PLAIN[spec])
    if spec in _MAKERS:
        return _MAKERS[spec]
    if spec.startswith("@"):
        return partial(instance, spec[1:])
    if ", " in spec:
        parts = [_builder(part) for part in spec.split(", ")]
        return lambda call: Sequence("tuple", tuple(make(call) for make in parts))
    if spec.startswith("["):
        element = _builder(spec[1:-1])
        return lambda call: Sequence("list", None, element(call))
    dtype, rank, *flags = spec.split("/")
    return partial(tensor, dtype, rank, flags[0] if flags else "")


def _plain(value: Value, call: Call) -> Value:
    return value


def _owner(call: Call) -> Value:
    return call.owner or UNKNOWN


def _steps(call: Call) -> Sequence:
    count = call.get("num", "*1")
    known = count.constant if isinstance(count, Static) and isinstance(count.constant, int) else 0
    return Sequence("list", None, tensor("like", "-1", "", call), steps=known)


def _nest(call: Call) -> Structure:
    return Structure(Dependence.VALUE, content(call).origin or call.here("returns tensors"))


def instance(api: str, call: Call) -> ApiObject:
    """A new object of a class, with what its methods and calls need to know of its making."""
    payload: Value | None = None
    match api.split("."):
        case ["tf", "TensorArray"]:
            payload = Tensor(Dependence.SHAPE, named_dtype(call.get("dtype")))
        case ["tf", "data", *_, last] if last.endswith("Dataset"):
            return pipelines.made(call.name, call.arguments, call.location)
        case ["tf", "data", *_, "Iterator"]:
            dataset = call.owner if isinstance(call.owner, ApiObject) else None
            if dataset is not None and dataset.payload is not None:
                return ApiObject(api, payload=dataset.payload, facts=dataset.facts)
            payload = Structure(origin=call.here("returns data"))
        case ["tf", "TensorSpec" | "RaggedTensorSpec"]:
            text = named_dtype(call.get("dtype", "*1")) == "string"
            return ApiObject(
                api, payload=call.get("shape", "*0"), options=(("dtype", Static("string")),) if text else ()
            )
        case ["keras", "layers", *_] if any(
            call.get(name) not in (None, Static(False)) for name in ("return_state", "return_attention_scores")
        ):
            payload = Structure()
        case ["keras", "Model" | "Sequential"]:
            inputs = call.get("inputs", "layers", "args", "*0")
            payload = inputs if variations_of(inputs) or holds_text(inputs) else None
            if refusing := layers_of(call.get("outputs", "*1"), inputs):
                payload = Sequence("tuple", (*refusing, *(() if payload is None else (payload,))))
        case ["keras", "DTypePolicy"]:
            payload = call.get("name", "*0")
        case ["keras", "layers", *_, "TextVectorization"]:
            return ApiObject(api, facts=texts.vectorization(call.arguments, call.location))
        case ["keras", "losses", *_] if not averages(call.get("reduction")):
            payload = STATIC
    told = further_options(api, call.arguments) + declares(call.name, call.arguments)
    return marked(call.name, ApiObject(api, payload=payload, options=built_with(api, call.arguments) + told))


def _leaf(call: Call) -> Value:
    found = [leaf for value in call.arguments.values() for leaf in leaves(value)]
    inside = content(call)
    if any(isinstance(leaf, Tensor | Structure) for leaf in found):
        return Structure(inside.dependence, inside.origin)
    return UNKNOWN if inside.dependence else STATIC


_MAKERS: Final[dict[str, Callable[[Call], Value]]] = {"self": _owner, "nest": _nest, "leaf": _leaf, "steps": _steps}


def tensor(dtype_rule: str, rank_rule: str, flag: str, call: Call) -> Tensor:
    """The tensor that `dtype/rank/flag` stands for, the flag perhaps empty."""
    values = _deciding(call)
    inside = content(call)
    rank = result_rank(rank_rule, call, values)
    dtype = result_dtype(dtype_rule, call, values)
    dependence, origin, bounded, carried = inside.dependence, inside.origin, inside.bounded, inside.carried
    here = call.here(_MADE[flag], call.name if flag == "variable" else "") if flag in _MADE else None
    match flag:
        case "chance" | "data" | "variable":
            dependence, origin, carried = Dependence.VALUE, here, flag == "chance"
            bounded = bounded if carried and rank_rule == "same" else None  # of what is shuffled
        case "bounded":
            decisive = content(call, ("mask", "condition")) if call.get("mask", "condition") is not None else inside
            if decisive.dependence >= Dependence.CAPTURED:  # a constant mask gives a static shape
                bounded = here and replace(here, axes=masked_axes(call, rank))
                dependence, origin, carried = Dependence.VALUE, origin or here, True
        case "shape" | "filled":
            # XLA follows the real size of a filled tensor only where a dtype is given (measured).
            if not (flag == "filled" and bounded is not None and call.get("dtype") is not None):
                dependence = min(dependence, Dependence.SHAPE)
            carried = False
            if flag == "shape" and bounded is not None:
                if not bounded.perhaps:
                    dependence, origin = Dependence.VALUE, bounded
                bounded = None
            elif dependence is not inside.dependence:
                origin = None
        case "layer":
            dependence, origin = Dependence.VALUE, origin or here
        case "fixed":
            bounded = None
        case _ if not is_folded(call.name):
            carried = dependence is Dependence.VALUE
    if bounded is not None and bounded is inside.bounded:
        bounded = _still_bounded(rank_rule, call, values, rank, bounded)
        if bounded is None and rank_rule == "reduce":
            dependence, origin = Dependence.VALUE, origin or inside.bounded
    mixed = carried and (inside.outside or flag in _OF_DATA or not is_folded(call.name))
    varies = () if flag in ("fixed", "variable") else remaining(call, rank_rule, inside.varies)
    made = Tensor(dependence, dtype, rank, origin, bounded, carried, flag == "variable", mixed, varies)
    if (reduction := reduction_of(call, rank, dependence)) is not None:
        return made.with_(reduction=reduction)
    return made.with_(int32=call.location) if made.variable and _is_int32(call) else made


def _is_int32(call: Call) -> bool:
    """Whether a variable that is created is certainly of 32-bit integers."""
    dtype = call.get("dtype")
    if call.name != "tf.Variable" or dtype not in (None, NONE):
        return dtype in (Api("tf.int32"), Static("int32"))
    first = call.get("initial_value", "*0")
    numbers = first.items or () if isinstance(first, Sequence) else (first,)
    return bool(numbers) and all(isinstance(one, Static) and type(one.constant) is int for one in numbers)


def _still_bounded(rank_rule: str, call: Call, values: list[Value], rank: int | None, bounded: Origin) -> Origin | None:
    """What is left in the result of the bounded dynamic shape of an argument."""
    if rank == 0 or (rank_rule == "reshape" and names_every_size(call)):
        return None  # a shape that is whole: how many elements there really are matters no more (measured)
    if "scatter" in call.name:
        return content(call, ("tensor", "ref", "inputs")).bounded  # the indices say where, never how much
    if rank_rule == "gather" or call.name == "tf.gather_nd":
        found = content(call, ("indices", "ids")).bounded
        return found and along(found, gathered_axes(call))
    axes = result_axes(rank_rule, call, rank)
    if axes is None and rank_rule != "+1":  # which has further dimensions of it
        axes = first_of_bounded(call, rank_rule)
    meets = rank_rule.startswith(_MEETING) and not is_laid_behind(call, axes)
    bounded = met_by(bounded, values) if meets else bounded
    if axes is None and rank_rule == "reduce" and drops_first_axis(call, values):
        return None
    return along(resized(bounded, extended(call, bounded.axes or FIRST)), axes)


def call(name: str, arguments: Mapping[str, Value], location: Location) -> Value:
    """The abstract result of calling the function or class of canonical name `name`."""
    result = _result(name, arguments, location)
    if name.startswith("keras.ops.") and isinstance(result, Tensor):
        return result.with_(python=True) if name in _NUMBERS else result.with_(traced=True)
    return result


def _result(name: str, arguments: Mapping[str, Value], location: Location) -> Value:
    made = Call(name, arguments, location)
    if name.startswith("np."):
        return _numpy(made)
    if name in POSITIONS and not {"x", "y", "x1", "x2"}.intersection(arguments):
        return build(POSITIONS[name], made)
    if (special := measured_with(name, arguments)) is not None:
        return build(special, made)
    if name == "keras.ops.shape":
        return _keras_shape(made)
    if name.startswith(texts.LIBRARIES):
        return texts.made(name, arguments, location)
    if name in DATASET_SIZES:
        return _loaded(DATASET_SIZES[name])
    return build(result_of(name), made)


def _loaded(sizes: tuple[int, int, int | None]) -> Value:
    """What `load_data` returns: arrays of examples and of labels, to train with and to test with."""
    *counts, row = sizes
    return Sequence(
        "tuple", tuple(Sequence("tuple", (Array(length=n, row=row), Array(length=n, row=1))) for n in counts)
    )


def _keras_shape(call: Call) -> Value:
    """A tuple of Python ints, and of scalars where a dimension is unknown at trace time."""
    element, rank = OneOf((STATIC, Tensor(Dependence.SHAPE, "int", 0))), rank_of(call.get("x", "*0"))
    return Sequence("tuple", (element,) * rank if rank is not None else None, element)


def _numpy(call: Call) -> Value:
    """NumPy computes on the host: numbers stay numbers, all else is an array."""
    spec = result_of(call.name)
    if spec in ("static", "shape", "dtype", "none") or spec.startswith("@"):
        return build(spec, call)
    word = call.name.rpartition(".")[2]
    if word in NUMPY_NUMBERS and call.arguments:
        dtype = word.rstrip("0123456789").removeprefix("u")
        return filtered(Array(dtype, varies=content(call).varies), lambda each: each.kind == READ)
    drawn = call.name.startswith("np.random.") and word not in ("permutation", "permuted", "shuffle")
    found = [leaf for value in call.arguments.values() for leaf in leaves(value)]
    if found and all(isinstance(leaf, Static | Api) for leaf in found) and not (drawn and _makes_array(call)):
        plain = all(isinstance(option, Static | Api) for value in call.arguments.values() for option in options(value))
        if word in NUMPY_SCALARS or (plain and word not in NUMPY_MAKERS and not _holds_list(call.arguments)):
            return STATIC
    if ", " in spec or spec.startswith("[") or spec == "steps":
        return Sequence("list", None, Array())
    explicit = next(filter(None, map(named_dtype, call.arguments.values())), None)
    if explicit or "/" not in spec or (word in NUMPY_MAKERS and len(call.arguments) > 1):
        return _written(call, Array(explicit))  # a maker's second argument may be a dtype
    varies = () if drawn else remaining(call, spec.split("/")[1], content(call).varies)  # see `host_sizes`
    return _written(call, Array(result_dtype(spec.partition("/")[0], call, _deciding(call)), varies=varies))


def _makes_array(call: Call) -> bool:
    """Whether a call that draws by chance is asked for as many as a size says."""
    size = call.get("size", "*1") if call.name == "np.random.choice" else call.get("size", "*2")
    return size is not None and size != NONE


# Functions that draw between two numbers, or around one, or from something: where they are told how many.
_SAID_BY: Final = {
    **dict.fromkeys(("np.random.normal", "np.random.randint", "np.random.uniform"), ("size", "*2")),
    "np.random.choice": ("size", "*1"),
}


def _written(call: Call, made: Array) -> Array:
    """An array with the shape that it is made with, where that is written."""
    if not (call.name.startswith("np.random.") or call.name.rpartition(".")[2] in NUMPY_MAKERS):
        return made
    if call.name in RANGES:
        return replace(made, length=count_of(call.name, call.arguments), row=1)
    match call.get(*_SAID_BY.get(call.name, ("shape", "size", "d0", "*0"))):
        case Sequence(items=(first, *others)) if (length := rows_of(first)) is not None:
            return replace(made, length=length, row=product_of(others))
        case Static() | Unknown() as first if (length := rows_of(first)) is not None:
            return replace(made, length=length, row=1 if len(call.arguments) == 1 else None)
        case _:
            return made


def _holds_list(arguments: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Static) and isinstance(value.constant, list | tuple) for value in arguments.values())
