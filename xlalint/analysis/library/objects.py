"""Attributes, methods and calls of tensors and of objects of the API's classes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from ...facts.names import known, parameters
from ...syntax import nodes as cst
from ..domain.bounds import product_of
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    ApiObject,
    Array,
    Dependence,
    Dict,
    OneOf,
    Origin,
    Padding,
    Sequence,
    Static,
    Structure,
    Tensor,
    TensorMethod,
    Unknown,
    Value,
    Variation,
)
from ..domain.varying_shapes import LAST, READ, RESIZED, is_counted, mapped, of_sizes, sized_by, variations_of, varied
from ..record import replace
from . import datasets as pipelines
from . import tokenizers as texts
from .call import Call
from .dtypes import dtype_of, named_dtype
from .first_axes import of_rows
from .keras_classes import kind_of
from .measured_results import measured
from .object_tables import ATTRIBUTES, CALLS, LAYER_CALLS, METHODS
from .ranks import rank_of
from .refusing_layers import after_layer
from .results import build, call, content

if TYPE_CHECKING:
    from ..files.unit import Location

_SHAPE: Final = Sequence("tuple", None, STATIC)
_MASK: Final = OneOf((NONE, Tensor(Dependence.VALUE, "bool")))
UPDATED: Final = "jax.Array.at"
_KEEPING: Final = ("astype", "copy", "convert")  # methods of arrays and pictures that keep the size
"""What updates a copy of an array on JAX: `x.at`."""
_DICT_METHODS: Final = frozenset(("keys", "values", "items", "get", "pop", "copy", "setdefault", "update", "_asdict"))


@cache
def _inverted(table: str, key: str) -> Mapping[str, str]:
    rows = {"attributes": ATTRIBUTES, "methods": METHODS}[table].get(key, {})
    return {name: spec for spec, names in rows.items() for name in names.split()}


def _class_key(api: str) -> str:
    """The row of the tables for an object's class: models are layers here, and all lookup tables are alike."""
    if api.startswith("tf.lookup."):
        return "tf.lookup"
    if api.startswith("tf.distribute.") and api.endswith("Strategy"):
        return "tf.distribute.Strategy"
    kind = kind_of(api)
    return "layer" if kind == "model" else kind or api


# The fields of the named tuples that functions return: `tf.unique`, `tf.unique_with_counts`, `tf.math.top_k`,
# `tf.sets.difference` and their relatives, by their place.
_FIELDS: Final = {"y": 0, "idx": 1, "count": 2, "values": 0, "indices": 1, "out": 0}


# -- attributes -------------------------------------------------------------------------------------------------------


def attribute(owner: Value, name: str) -> Value | None:
    """`owner.name` of a tensor, an array, a shape or an object of the API; None when nothing is known of it."""
    match owner:
        case Tensor() | Structure():
            return _tensor_attribute(owner, name)
        case Array():
            return _array_attribute(owner, name)
        case Sequence("tuple", items):
            if name in ("rank", "ndims"):
                return STATIC if items is None else Static(len(items))
            if name == "dims":
                return owner
            if (place := _FIELDS.get(name, len(items or ()))) < len(items or ()):
                return items[place] if items and all(isinstance(item, Tensor) for item in items) else None
            return TensorMethod(owner, name) if known(f"tf.TensorShape.{name}") else None
        case ApiObject(api, None):
            return _object_attribute(owner, api, name)
        case _:
            return None


def _array_attribute(owner: Array, name: str) -> Value:
    match name:
        case "shape":
            return _shape_of(owner)
        case "T" | "real" | "imag" | "flat":
            return owner
        case "size" if any(each.kind == READ for each in owner.varies):  # of a picture: width and height
            return _shape_of(owner)
        case "width" | "height" if owner.varies:
            return _shape_of(owner).element or STATIC
        case "ndim" | "size" | "dtype" | "itemsize" | "nbytes":
            return STATIC
        case _:
            return TensorMethod(owner, name)


def _tensor_attribute(owner: Tensor | Structure, name: str) -> Value | None:
    match name:
        case "shape":
            return _shape_of(owner)
        case "dtype":
            return _dtype_object(dtype_of(owner))
        case "_keras_mask":
            return _MASK
        case "at":
            return ApiObject(UPDATED, payload=owner)
    if spec := _inverted("attributes", "tensor").get(name):
        if isinstance(owner, Structure) and "/" in spec:
            return owner.part  # a structure may have members of these names as well
        return build(spec, Call(f"tf.Tensor.{name}", {}, None, owner))
    if _is_tensor_method(name) or (isinstance(owner, Structure) and name in _DICT_METHODS):
        return TensorMethod(owner, name)
    # What a model gives holds tensors by name; an object that a layer is passed may hold settings as well.
    return owner.part if isinstance(owner, Structure) and not owner.passed else None


@cache
def _is_tensor_method(name: str) -> bool:
    return (
        name in _inverted("methods", "tensor")
        or name.startswith("__")
        or name == "astype"
        or any(known(f"{namespace}.{name}") for namespace in ("tf.Tensor", "tf.Variable", "tnp"))
    )


def _object_attribute(owner: ApiObject, api: str, name: str) -> Value | None:
    if api.startswith(texts.LIBRARIES) and (found := texts.attribute(owner, name)) is not None:
        return found
    key = _class_key(api)
    if spec := _inverted("attributes", key).get(name):
        return build(spec, Call(f"{api}.{name}", {}, None, owner))
    match key, name:
        case "tf.DType", _ if name not in _inverted("methods", key):
            return STATIC
        case "tf.TensorArray" | "tf.RaggedTensor" | "tf.SparseTensor" | "tf.IndexedSlices", "dtype":
            return _dtype_object(dtype_of(owner.payload))
        case "tf.RaggedTensor", "__getitem__":
            return Tensor(Dependence.VALUE)
        case "tf.data.Dataset" | "tf.data.Iterator", "__getitem__":
            return owner.payload
        case "tf.saved_model.Loaded", "__getitem__":  # of its signatures, one
            return owner
    if name in _inverted("methods", key) or name.startswith("__") or _method_path(owner, name) is not None:
        return replace(owner, method=name)
    return None


def _shape_of(owner: Value) -> Sequence:
    """A shape: dimensions are Python values while tracing, `None` where unknown."""
    rank = rank_of(owner)
    varies = of_sizes(owner.varies) if isinstance(owner, Tensor | Structure | Array) else ()
    if not varies:
        return Sequence("tuple", None if rank is None else (STATIC,) * rank, STATIC)
    sizes = tuple(
        each
        if is_counted(each)
        else Variation("number", each.location, each.axis, detail=each.kind if each.kind in (LAST, RESIZED) else "")
        for each in varies
    )
    return Sequence("tuple", None, Static(varies=sizes))


def _dtype_object(dtype: str | None) -> ApiObject:
    return ApiObject("tf.DType", payload=None if dtype is None else Static(dtype))


# -- methods ----------------------------------------------------------------------------------------------------------

_BASES: Final = {
    "layer": ("keras.layers.Layer", "keras.Model"),
    "metric": ("keras.metrics.Metric",),
    "loss": ("keras.losses.Loss",),
    "optimizer": ("keras.optimizers.Optimizer",),
}


def _method_path(owner: Value, method: str) -> str | None:
    """Where the signature of a method is known under."""
    match owner:
        case Tensor() | Structure():
            classes: tuple[str, ...] = ("tf.Variable", "tf.Tensor", "tnp")
        case Sequence("tuple"):
            classes = ("tf.TensorShape",)
        case ApiObject(api):
            classes = (api, *_BASES.get(_class_key(api), ()))
        case _:
            return None
    return next((path for name in classes if known(path := f"{name}.{method}")), None)


def method_parameters(owner: Value, method: str) -> tuple[str, ...] | None:
    """The parameters that positional arguments of a method reach, without `self`; None for an unknown method."""
    path = _method_path(owner, method)
    if path is None:
        return None
    names = parameters(path)
    return names[1:] if names and path.startswith("tnp.") else names


def _reshaped(owner: Array, arguments: Mapping[str, Value], location: Location) -> Array:
    """An array in another shape: as long as `(n, ..)` says, or as `(-1, ..)` leaves, which may cut and join rows."""
    first, *_ = *arguments.values(), None
    shape = first.items if isinstance(first, Sequence) else tuple(arguments.values())
    match shape:
        case (Static(-1), *others):
            row = product_of(others)
            if isinstance(owner.length, int) and owner.row is not None and row:
                return Array(owner.dtype, owner.length * owner.row // row, row=row)
            return Array(owner.dtype, owner.length if row is not None and row == owner.row else None, row=row)
        case (Static(int() as length), *others) if length >= 0:
            return Array(owner.dtype, length, row=product_of(others))
        case (_, *others) if _keeps_rows(location):
            return Array(owner.dtype, owner.length, row=product_of(others))
        case _:
            return Array(owner.dtype)


def _left_open(owner: Array, arguments: Mapping[str, Value], location: Location) -> tuple[Variation, ...]:
    """How many rows there are once in another shape, which leaves that open: `(-1, ..)`, or says it: `(n, ..)`."""
    first, *_ = *arguments.values(), None
    shape = first.items or () if isinstance(first, Sequence) else (first,)
    return of_rows(owner) if Static(-1) in shape[:1] or _keeps_rows(location) else ()


def _keeps_rows(location: Location) -> bool:
    """Whether a shape begins with the length of what is reshaped: `x.reshape(x.shape[0], ..)`."""
    match location.node:
        case cst.Call(func=cst.Attribute(value=array), args=[cst.Arg(value=first), *_]):
            if isinstance(first, cst.Tuple | cst.List) and first.elements:
                first = first.elements[0].value
            name = location.unit.code(array)
            return location.unit.code(first) in (f"{name}.shape[0]", f"len({name})")
        case _:
            return False


def _extent(box: Value | None) -> Value | None:
    """The numbers of `(left, upper, right, lower)` that say how large a box is: where it ends, if it does not begin
    somewhere else each time as well, as one in the middle does."""
    match box:
        case Sequence(kind, (left, upper, right, lower)):
            ends = ((left, right), (upper, lower))
            return Sequence(kind, tuple(end for begin, end in ends if not variations_of(begin)))
        case _:
            return box


def call_method(owner: Value, method: str, arguments: Mapping[str, Value], location: Location) -> Value:
    """The abstract result of `owner.method(..)`; arguments are named as `method_parameters` says."""
    match owner:
        case Structure() if method in _DICT_METHODS:
            return _dict_method(owner, method)
        case Structure():
            return _tensor_method(owner.tensor, method, arguments, location)
        case Tensor():
            return _tensor_method(owner, method, arguments, location)
        case Array():
            if method in ("item", "tolist", "tobytes", "__len__"):
                return STATIC
            if method == "reshape":
                return replace(_reshaped(owner, arguments, location), varies=_left_open(owner, arguments, location))
            if method in ("crop", "resize"):
                size = next(iter(arguments.values()), None)
                return Array(owner.dtype, varies=sized_by(_extent(size) if method == "crop" else size, location))
            return owner if method in _KEEPING else Array(owner.dtype)
        case Sequence("tuple", items):
            return _shape_method(owner, items, method)
        case ApiObject():
            return _object_method(owner.owner, method, arguments, location)
        case _:
            return UNKNOWN


def _dict_method(owner: Structure, method: str) -> Value:
    match method:
        case "keys":
            return Sequence("list", None, STATIC)
        case "values":
            return Sequence("list", None, owner.part)
        case "items":
            return Sequence("list", None, Sequence("tuple", (STATIC, owner.part)))
        case "update":
            return NONE
        case _:
            return owner.part


def _tensor_method(owner: Tensor, method: str, arguments: Mapping[str, Value], location: Location) -> Value:
    match method:
        case "get_shape":
            return _shape_of(owner)
        case "__len__":
            return STATIC
        case "to_tensor" if location is not None and arguments.get("shape", NONE) == NONE:
            made = build("like/?", Call(f"tf.Tensor.{method}", arguments, location, owner))
            return as_wide_as_longest(made, location)  # only a ragged tensor has this method
        case "astype":
            return call(
                "tf.cast", {"x": owner, "dtype": arguments.get("dtype", arguments.get("*0", UNKNOWN))}, location
            )
    if spec := _inverted("methods", "tensor").get(method):
        return build(spec, Call(f"tf.Tensor.{method}", arguments, location, owner))
    if names := parameters(f"tnp.{method}"):
        return call(f"tnp.{method}", {names[0]: owner, **arguments}, location)
    return build("?/?", Call(f"tf.Tensor.{method}", arguments, location, owner))


def as_wide_as_longest(made: Value, location: Location) -> Value:
    """A dense tensor that a ragged one becomes at `location`, without a shape to fill."""
    return varied(made, (Variation("ragged", location, axis=1),))


def _shape_method(owner: Sequence, items: tuple[Value, ...] | None, method: str) -> Value:
    match method:
        case "as_list":
            return Sequence("list", items, owner.element)
        case "with_rank" | "with_rank_at_least" | "with_rank_at_most" | "merge_with":
            return owner
        case "concatenate" | "most_specific_compatible_shape":
            return _SHAPE
        case _:
            return NONE if method.startswith("assert_") else STATIC


def _object_method(owner: ApiObject, method: str, arguments: Mapping[str, Value], location: Location) -> Value:
    key = _class_key(owner.api)
    made = Call(f"{owner.api}.{method}", arguments, location, owner)
    match key, method:
        case _, "__enter__":
            return owner
        case _, "__call__" | "call":
            return call_object(owner, arguments, location)
        case "tf.TensorArray", "write" | "unstack" | "split" | "scatter":
            return _stored(made, owner, lower=method != "write")
        case "tf.GradientTape", "gradient" | "jacobian" | "batch_jacobian":
            return _gradient(made, same_rank=method == "gradient")
        case "layer", "compute_mask":
            return _MASK
        case "tf.data.Iterator", "__next__" | "get_next" | "next" if owner.payload is not None:
            return owner.payload
        case "tf.data.Iterator", "get_next_as_optional":
            return ApiObject("tf.experimental.Optional", payload=owner.payload)
        case "tf.experimental.Optional", "get_value":
            return owner.payload or UNKNOWN
        case "tf.data.Dataset", _ if (dataset := pipelines.after(owner, method, arguments, location)) is not None:
            return dataset
        case "keras.preprocessing.image.ImageDataGenerator", _:
            return pipelines.images(method, arguments, location) or UNKNOWN
        case "tf.data.Dataset", "as_numpy_iterator":
            return Sequence("list", None, _as_arrays(owner.payload or UNKNOWN))
        case "tf.distribute.Strategy", "experimental_distribute_dataset":
            return pipelines.distributed(made.get("dataset", "*0") or UNKNOWN)
    if spec := _inverted("methods", key).get(method):
        built = build(spec, made)
        return pipelines.distributed(built) if key == "tf.distribute.Strategy" else built
    return Array() if owner.api.startswith("np.") else STATIC if key == "tf.DType" else UNKNOWN


def _as_arrays(element: Value) -> Value:
    """What a dataset yields as arrays: several, where they are not known to be one."""
    match element:
        case Tensor(dtype=dtype, varies=varies):
            return Array(dtype, varies=varies)
        case Structure(varies=varies) | Unknown(varies=varies):
            array = Array(varies=varies)
            return OneOf((array, Sequence("tuple", None, array)))
        case Sequence() | Dict():
            return mapped(element, _as_arrays)
        case _:
            return Array(varies=variations_of(element))


def _stored(made: Call, owner: ApiObject, lower: bool) -> ApiObject:
    """A TensorArray after something was put into it."""
    value = made.get("value", "*1" if made.name.endswith(("write", "scatter")) else "*0")
    inside = content(made, ("value", "*0", "*1"))
    rank = rank_of(value)
    if lower:
        rank = rank - 1 if rank else None
    dtype = dtype_of(owner.payload) or dtype_of(value)
    return ApiObject(owner.api, payload=Tensor(max(inside.dependence, Dependence.SHAPE), dtype, rank, inside.origin))


def _gradient(made: Call, same_rank: bool) -> Value:
    """Gradients come in the structure of the sources."""
    inside = content(made, ("target", "*0"))
    origin = inside.origin or (Origin(made.location, "a gradient is taken") if made.location else None)
    bounded = inside.bounded

    def of(source: Value | None) -> Value:
        match source:
            case Tensor():
                rank = source.rank if same_rank else None
                return Tensor(Dependence.VALUE, source.dtype or "float", rank, origin, source.bounded and bounded)
            case Structure():
                return Structure(origin=origin)
            case Sequence(kind, items, element):
                inner = tuple(map(of, items)) if items is not None else None
                return Sequence(kind, inner, of(element) if element is not None or items is None else None)
            case Dict(entries, element):
                return Dict({key: of(value) for key, value in entries.items()}, of(element) if element else None)
            case _:
                return Sequence("list", None, Tensor(Dependence.VALUE, "float", origin=origin))

    return of(made.get("sources", "source", "*1"))


# -- calls ------------------------------------------------------------------------------------------------------------


@cache
def _layer_calls() -> Mapping[str, str]:
    return {name: spec for spec, names in LAYER_CALLS.items() for name in names.split()}


def call_object(owner: ApiObject, arguments: Mapping[str, Value], location: Location) -> Value:
    """The abstract result of calling an object of the API: a layer, a loss, an initializer, ..."""
    kind = kind_of(owner.api)
    made = Call(f"{owner.api}.__call__", arguments, location)
    match kind:
        case "layer":
            return after_layer(owner, arguments, _layer_call(owner, made), location)
        case "model" if owner.api == "keras.Sequential":
            return after_layer(owner, arguments, build("?/?/layer", made), location)
        case "model":
            return after_layer(owner, arguments, build(CALLS[kind], made), location)
        case "loss" if owner.payload is not None:
            return build("float/?/layer", made)
        case "initializer":
            dtype = named_dtype(made.get("dtype", "*1"))
            shape = {"shape": made.get("shape", "*0") or UNKNOWN}
            result = build(CALLS[kind], Call(made.name, shape, location))
            return result.with_(dtype=dtype) if dtype and isinstance(result, Tensor) else result
        case str() if kind in CALLS:
            return build(CALLS[kind], made)
        case _:
            return UNKNOWN


def _layer_call(owner: ApiObject, made: Call) -> Value:
    if isinstance(owner.facts, Padding):
        return texts.vectorized(owner.facts)
    if owner.api.endswith(".Identity"):
        return made.get("inputs", "*0") or UNKNOWN
    package, _, rest = owner.api.partition(".")
    default = "float/?/layer" if package == "keras" else "nest"  # what a layer of another package returns, who knows
    word = rest.rpartition(".")[2]
    decided = _layer_calls().get(word) or measured(f"keras.layers.{word}.__call__") or default
    spec = "nest" if owner.payload is not None else decided
    match made.get("return_attention_scores"):
        case None | Static(False):
            return build(spec, made)
        case _:
            return build(f"{spec}, float/?/layer", made)


__all__ = ["attribute", "call_method", "call_object", "method_parameters"]
