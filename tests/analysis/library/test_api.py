"""The API tables against each other, and against what TensorFlow and Keras really return."""

from __future__ import annotations

import importlib
import inspect
from collections import Counter
from typing import Any

import pytest

from xlalint.analysis.domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    Dependence,
    Sequence,
    Static,
    Structure,
    Tensor,
    TensorMethod,
    Value,
)
from xlalint.analysis.library import api
from xlalint.analysis.library import results as api_results
from xlalint.analysis.library.object_tables import ATTRIBUTES, LAYER_CALLS, METHODS
from xlalint.analysis.library.result_tables import NUMERIC, POSITIONS, REST, RESULTS, TENSOR_FIRST, TENSOR_PARAMETERS
from xlalint.facts import tables
from xlalint.facts.names import known

PLACE: Any = object()  # results only carry it along
DATA = Tensor(Dependence.VALUE, "float", 2)
VECTOR = Tensor(Dependence.VALUE, "float", 1)
SIZES = Tensor(Dependence.SHAPE, "int", 1)
MASK = Tensor(Dependence.VALUE, "bool", 2)


def call(name: str, **arguments: Value) -> Value:
    return api.call(name, arguments, PLACE)


def tensor(name: str, **arguments: Value) -> Tensor:
    result = call(name, **arguments)
    assert isinstance(result, Tensor)
    return result


# -- the tables -------------------------------------------------------------------------------------------------------


def spelled(word: str) -> list[str]:
    """The canonical names that a word of a table may stand for."""
    return [word] if "." in word else [f"{namespace}.{word}" for namespace in NUMERIC]


def test_every_name_in_a_table_exists() -> None:
    numpy = vars(importlib.import_module("numpy"))
    words = {word for names in RESULTS.values() for word in names.split()}
    words |= TENSOR_FIRST.union(TENSOR_PARAMETERS, POSITIONS)
    missing = [
        word
        for word in sorted(words)
        if not any(known(name) and api.canonical(name) == name for name in spelled(word))
        and word not in ("np.random.seed", *numpy, *(f"np.{name}" for name in numpy))
    ]
    assert missing == []


@pytest.mark.parametrize("table", [RESULTS, REST, LAYER_CALLS, *ATTRIBUTES.values(), *METHODS.values()])
def test_no_name_stands_twice(table: dict[str, str]) -> None:
    counts = Counter(name for names in table.values() for name in names.split())
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_layer_in_the_table_exists() -> None:
    names = [f"keras.layers.{name}" for names in LAYER_CALLS.values() for name in names.split()]
    # The table goes by the last word of a name: `tf.nn.rnn_cell` of TensorFlow 1 is in it.
    old = {"AbstractRNNCell", "FeatureSpace", "SyncBatchNormalization"}
    old |= {"BasicLSTMCell", "BasicRNNCell", "MultiRNNCell"}
    assert [name for name in names if not known(api.canonical(name)) and name.rpartition(".")[2] not in old] == []


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("tensorflow.math.reduce_sum", "tf.reduce_sum"),
        ("tensorflow.compat.v1.keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.compat.v1.where", "tf.where"),
        ("tensorflow.compat.v2.random.uniform", "tf.random.uniform"),
        ("tensorflow.compat.v1.random_uniform", "tf.random.uniform"),
        ("tensorflow.log", "tf.math.log"),
        ("tensorflow.python.ops.math_ops.reduce_sum", "tf.reduce_sum"),
        ("tensorflow.python.ops.array_ops.boolean_mask", "tf.boolean_mask"),
        ("tensorflow.python.ops.random_ops.random_uniform", "tf.random.uniform"),
        ("tensorflow.python.framework.ops.convert_to_tensor_v2", "tf.convert_to_tensor"),
        ("tensorflow.python.keras.engine.base_layer.Layer", "keras.layers.Layer"),
        ("tensorflow.experimental.numpy.sum", "tnp.sum"),
        ("tensorflow.dtypes.float32", "tf.float32"),
        ("tensorflow.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensor_slices"),
        ("tensorflow.data.TextLineDataset.from_generator", "tf.data.Dataset.from_generator"),
        ("tensorflow.data.TFRecordDataset", "tf.data.TFRecordDataset"),
        ("tensorflow.losses.MeanSquaredError", "keras.losses.MeanSquaredError"),
        ("tensorflow.compat.v1.placeholder", "tf.placeholder"),
        ("tensorflow.nowhere.nothing", "tf.nowhere.nothing"),
        ("keras.src.layers.core.dense.Dense", "keras.layers.Dense"),
        ("keras.api._v2.keras.layers.Dense", "keras.layers.Dense"),
        ("keras.layers.experimental.preprocessing.RandomFlip", "keras.layers.RandomFlip"),
        ("keras.optimizers.legacy.Adam", "keras.optimizers.Adam"),
        ("keras.engine.training.Model", "keras.Model"),
        ("keras.models.Sequential", "keras.Sequential"),
        ("keras.metrics.mse", "keras.losses.mean_squared_error"),
        ("keras.ops.numpy.sum", "keras.ops.sum"),
        ("tf_keras.backend.mean", "keras.backend.mean"),
        ("numpy.sum", "np.sum"),
        ("tensorflow_probability.distributions.Normal", "tfp.distributions.Normal"),
        ("torch.nn.Linear", "torch.nn.Linear"),
        ("numpyro.sample", "numpyro.sample"),
    ],
)
def test_canonical(name: str, canonical: str) -> None:
    assert api.canonical(name) == canonical
    assert api.canonical(canonical) == canonical


def test_parameters() -> None:
    assert api.parameters("tf.reduce_sum") == ("input_tensor", "axis", "keepdims", "name")
    assert api.parameters("keras.ops.sum") == ("x", "axis", "keepdims")
    assert api.parameters("keras.backend.learning_phase") == ()
    assert api.parameters("tf.nothing") is None
    assert api.method_parameters(ApiObject("tf.TensorArray"), "write") == ("index", "value", "name")
    assert api.method_parameters(ApiObject("tf.GradientTape"), "gradient") is not None
    assert api.method_parameters(DATA, "sum") == ("axis", "dtype", "keepdims")


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("tf.reduce_sum", {"input_tensor"}),
        ("tf.gather", {"params", "indices"}),
        ("tf.boolean_mask", {"tensor", "mask"}),
        ("tf.matmul", {"a", "b"}),
        ("tf.nn.sparse_softmax_cross_entropy_with_logits", {"labels", "logits"}),
        ("keras.ops.argmax", {"x"}),
        ("tf.cast", set()),
        ("tf.sqrt", set()),
        ("tf.zeros", set()),
        ("tf.random.uniform", set()),
        ("np.sum", set()),
    ],
)
def test_tensor_parameters(name: str, evidence: set[str]) -> None:
    assert api.tensor_parameters(name) == evidence


# -- dependence -------------------------------------------------------------------------------------------------------


def test_dependence_is_that_of_the_strongest_argument() -> None:
    assert tensor("tf.add", x=DATA, y=SIZES).dependence is Dependence.VALUE
    assert tensor("tf.add", x=SIZES, y=Static(1)).dependence is Dependence.SHAPE
    assert tensor("tf.sqrt", x=Static(2.0)).dependence is Dependence.STATIC
    assert tensor("tf.sqrt", x=UNKNOWN).dependence is Dependence.SHAPE
    assert tensor("tf.reduce_sum", input_tensor=UNKNOWN).dependence is Dependence.VALUE
    assert tensor("tf.stack", values=Sequence("list", (SIZES, DATA))).dependence is Dependence.VALUE
    assert tensor("tf.shape", input=DATA).dependence is Dependence.SHAPE
    assert tensor("tf.ones_like", input=DATA).dependence is Dependence.SHAPE


def test_random_numbers_are_values_and_never_constants() -> None:
    for name in ("tf.random.uniform", "keras.random.normal", "tf.random.stateless_uniform", "tnp.random.rand"):
        drawn = tensor(name, shape=Sequence("list", ()))
        assert drawn.dependence is Dependence.VALUE
        assert drawn.carried
        assert drawn.origin is not None
    assert tensor("tf.add", x=tensor("tf.random.uniform"), y=Static(1)).carried


def test_a_mask_of_values_bounds_the_shape_and_a_constant_one_does_not() -> None:
    kept = tensor("tf.boolean_mask", tensor=DATA, mask=MASK)
    assert kept.bounded is not None
    assert kept.rank == 1
    assert tensor("tf.boolean_mask", tensor=DATA, mask=Static([True, False])).bounded is None
    assert tensor("tf.boolean_mask", tensor=DATA, mask=SIZES).bounded is None
    assert tensor("tf.sqrt", x=kept).bounded is kept.bounded
    total = tensor("tf.reduce_sum", input_tensor=tensor("tf.ones_like", input=kept))
    assert (total.bounded, total.dependence) == (None, Dependence.VALUE)
    assert tensor("tf.size", input=kept).dependence is Dependence.VALUE
    assert tensor("tf.where", condition=MASK).bounded is not None
    assert tensor("tf.where", condition=MASK, x=DATA, y=DATA).bounded is None


# -- kinds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tf.print", NONE),
        ("tf.debugging.assert_equal", NONE),
        ("tf.is_tensor", STATIC),
        ("tf.config.list_physical_devices", STATIC),
        ("keras.activations.serialize", STATIC),
        ("tf.contrib.layers.fully_connected", UNKNOWN),
        ("tf.moments", UNKNOWN),
        ("tfp.distributions.Normal", UNKNOWN),
        ("torch.nn.Linear", UNKNOWN),
        ("tensorflow_addons.layers.WeightNormalization", ApiObject("tensorflow_addons.layers.WeightNormalization")),
        ("keras.layers.Dense", ApiObject("keras.layers.Dense")),
        ("keras.applications.ResNet50", ApiObject("keras.Model", options=(("trained", Static(True)),))),
        ("tf.GradientTape", ApiObject("tf.GradientTape")),
        ("tf.ragged.constant", ApiObject("tf.RaggedTensor")),
        ("np.load", Array()),
    ],
)
def test_kinds_of_results(name: str, expected: Value) -> None:
    assert call(name) == expected


def test_results_in_structures() -> None:
    assert isinstance(call("tf.cond", pred=MASK), Structure)
    assert isinstance(call("tf.raw_ops.Skipgram", filename=MASK), Structure)
    assert isinstance(call("tf.raw_ops.StopGradient", input=MASK), Tensor)
    assert call("tf.nest.flatten", structure=UNKNOWN) == Sequence("list", None, UNKNOWN)
    assert call("tf.nest.flatten", structure=STATIC) == Sequence("list", None, STATIC)
    unique = call("tf.unique", x=VECTOR)
    assert isinstance(unique, Sequence)
    assert [isinstance(item, Tensor) and item.bounded is not None for item in unique.items or ()] == [True, False]


def test_decoded_messages_are_sizes_and_a_list_of_fields() -> None:
    decoded = call("tf.io.decode_proto", bytes=VECTOR)
    assert isinstance(decoded, Sequence)
    assert [type(item) for item in decoded.items or ()] == [Tensor, Sequence]


def test_numpy_of_numbers_is_a_number() -> None:
    shape = Sequence("tuple", (STATIC, STATIC))
    assert api.call("np.prod", {"*0": shape}, PLACE) == STATIC
    assert api.call("np.sqrt", {"*0": Static(2)}, PLACE) == STATIC
    assert api.call("np.float32", {"*0": Static(2)}, PLACE) == Array("float")  # a scalar of NumPy
    assert api.call("np.zeros", {"*0": shape}, PLACE) == Array("float")
    assert api.call("np.zeros", {"*0": shape, "*1": Api("builtins.bool")}, PLACE) == Array("bool")
    assert api.call("np.greater", {"*0": Array(), "*1": Static(0)}, PLACE) == Array("bool")


def test_attributes() -> None:
    assert api.attribute(DATA, "shape") == Sequence("tuple", (STATIC, STATIC), STATIC)
    assert api.attribute(DATA, "name") == STATIC
    assert api.attribute(DATA, "T") == DATA
    assert api.attribute(DATA, "numpy") == TensorMethod(DATA, "numpy")
    assert api.attribute(DATA, "no_such_thing") is None
    assert api.attribute(Structure(), "member") == Structure()
    shape = api.attribute(DATA, "shape")
    assert shape is not None
    assert api.attribute(shape, "rank") == Static(2)
    assert api.call_method(shape, "as_list", {}, PLACE) == Sequence("list", (STATIC, STATIC), STATIC)
    cast = tensor("tf.cast", x=MASK, dtype=api.attribute(DATA, "dtype") or UNKNOWN)
    assert (cast.dtype, cast.rank) == ("float", 2)
    assert tensor("tf.cast", x=DATA, dtype=Api("tf.int32")).dtype == "int"


def test_methods() -> None:
    variable = tensor("tf.Variable", initial_value=Static(1.0))
    assert (variable.variable, variable.dtype, variable.dependence) == (True, "float", Dependence.VALUE)
    assert api.call_method(variable, "assign_add", {"delta": DATA}, PLACE) == variable
    read = api.call_method(variable, "read_value", {}, PLACE)
    assert isinstance(read, Tensor)
    assert not read.variable
    assert api.call_method(DATA, "set_shape", {"shape": STATIC}, PLACE) == NONE
    assert api.call_method(DATA, "sum", {}, PLACE) == DATA.with_(rank=0)
    array = call("tf.TensorArray", dtype=Api("tf.float32"), size=Static(3))
    array = api.call_method(array, "write", {"index": Static(0), "value": VECTOR}, PLACE)
    assert api.call_method(array, "stack", {}, PLACE) == DATA
    tape = call("tf.GradientTape")
    assert api.call_method(tape, "__enter__", {}, PLACE) == tape
    table = call("tf.lookup.StaticHashTable")
    found = api.call_method(table, "lookup", {"keys": DATA}, PLACE)
    assert isinstance(found, Tensor)
    assert found.dependence is Dependence.VALUE
    gradients = api.call_method(tape, "gradient", {"target": DATA, "sources": Sequence("list", (DATA, VECTOR))}, PLACE)
    assert isinstance(gradients, Sequence)
    assert [item.rank for item in gradients.items or () if isinstance(item, Tensor)] == [2, 1]
    dataset = call("tf.data.Dataset.from_tensor_slices", tensors=DATA)
    assert api.call_method(dataset, "map", {}, PLACE) == dataset
    assert isinstance(dataset, ApiObject)
    assert isinstance(dataset.payload, Tensor)


def test_objects_that_are_called() -> None:
    dense = api.call_object(ApiObject("keras.layers.Dense"), {"inputs": DATA}, PLACE)
    assert isinstance(dense, Tensor)
    assert (dense.dtype, dense.rank, dense.dependence) == ("float", 2, Dependence.VALUE)
    states = call("keras.layers.LSTM", units=Static(3), return_state=Static(True))
    assert isinstance(states, ApiObject)
    assert isinstance(api.call_object(states, {"inputs": DATA}, PLACE), Structure)
    loss = api.call_object(ApiObject("keras.losses.MeanSquaredError"), {"y_true": DATA, "y_pred": DATA}, PLACE)
    assert isinstance(loss, Tensor)
    assert (loss.dtype, loss.rank) == ("float", 0)
    assert api.call_object(ApiObject("keras.optimizers.Adam"), {}, PLACE) == NONE


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("keras.layers.Layer", "layer"),
        ("keras.layers.Dense", "layer"),
        ("keras.Model", "model"),
        ("keras.Sequential", "model"),
        ("keras.losses.Loss", "loss"),
        ("keras.metrics.Mean", "metric"),
        ("keras.callbacks.Callback", "callback"),
        ("keras.optimizers.Adam", "optimizer"),
        ("keras.optimizers.schedules.LearningRateSchedule", "schedule"),
        ("keras.regularizers.L2", "regularizer"),
        ("tensorflow_addons.layers.WeightNormalization", "layer"),
        ("keras.layers.InputSpec", None),
        ("keras.losses.mean_squared_error", None),
        ("tf.Module", None),
        ("torch.nn.layers.Layer", None),
    ],
)
def test_kinds_of_classes(name: str, kind: str | None) -> None:
    assert api.kind_of(name) == kind
    assert not api.is_keras(name, "constraint")


def test_roles() -> None:
    assert set(api.keras_roles("layer")) < set(api.keras_roles("model"))
    assert api.keras_roles("loss") == {"call": "`call` of a Keras loss", "__call__": "`__call__` of a Keras loss"}
    assert api.keras_roles("callback") == {}


# -- reality ----------------------------------------------------------------------------------------------------------


class Reality:
    """Calls the real functions and compares what comes back with what the tables say."""

    def __init__(self) -> None:
        self.tf: Any = importlib.import_module("tensorflow")
        self.roots: dict[str, Any] = {
            "tf": self.tf,
            "keras": self.tf.keras,
            "tnp": self.tf.experimental.numpy,
        }
        self.seen: set[str] = set()
        self.exact: set[str] = set()
        self.wrong: list[str] = []

    def find(self, name: str) -> Any:
        """The real function; None for one that only older releases have."""
        root, *rest = name.split(".")
        for start in (self.roots[root], self.tf.compat.v1):
            value = start
            for part in rest:
                value = getattr(value, part, None)
            if value is not None:
                return value
        return None

    def abstract(self, value: Any) -> Value:
        match value:
            case list() | tuple():
                return Sequence("list", tuple(map(self.abstract, value)))
            case self.tf.DType():
                return Api(f"tf.{value.name}")
            case _ if self.tf.is_tensor(value):
                return Tensor(Dependence.VALUE, api.named_dtype(Static(value.dtype.name)), len(value.shape))
            case _:
                return Static(value)

    def check(self, name: str, arguments: dict[str, Any]) -> None:
        positional = [value for key, value in arguments.items() if key.startswith("*")]
        named = {key: value for key, value in arguments.items() if not key.startswith("*")}
        leading = [named.pop("equation")] if "equation" in named and positional else []
        result = self.find(name)(*leading, *positional, **named)
        said = call(name, **{key: self.abstract(value) for key, value in arguments.items()})
        self.seen.add(name)
        if complaint := self.compare(said, result, name):
            shown = {key: getattr(value, "shape", value) for key, value in arguments.items()}
            self.wrong.append(f"{name}({shown}): {complaint}")

    def compare(self, said: Value, result: Any, name: str) -> str | None:
        match said:
            case Tensor(dtype=dtype, rank=rank):
                if not self.tf.is_tensor(result):
                    return f"is no tensor but {type(result)}"
                value = self.tf.convert_to_tensor(result)
                real = api.named_dtype(Static(value.dtype.name)), len(value.shape)
                if dtype not in (None, real[0]) or rank not in (None, real[1]):
                    return f"is {real}, not {(dtype, rank)}"
                if None not in (dtype, rank):
                    self.exact.add(name)
            case Sequence(_, items, element):
                if not isinstance(result, tuple | list):
                    return f"is no sequence but {type(result)}"
                if items is not None and len(items) != len(result):
                    return f"has {len(result)} items, not {len(items)}"
                pairs = zip(items or (element or UNKNOWN,) * len(result), result, strict=True)
                return next((found for pair in pairs if (found := self.compare(*pair, name))), None)
            case Static(constant):
                if self.tf.is_tensor(result) or (constant is None and result is not None):
                    return f"is {type(result)}, not {said}"
            case _:
                pass
        return None


def numeric_names() -> list[str]:
    """Every numeric function that is said to give tensors."""
    names = [name for name in tables.api_names() if name.rpartition(".")[0] in NUMERIC or name.startswith("tf.image.")]
    return sorted(name for name in names if "/" in (spec := api_results.result_of(name)) and spec != "?/?")


# What these make of a tensor alone is not what they make of their proper arguments.
ODD = {
    "tf.Print": "prints",
    "tnp.concatenate": "takes a list",
    "tnp.tile": "takes a vector of repetitions",
    "keras.ops.hstack": "takes a list",
    "keras.ops.vstack": "takes a list",
    "tnp.isinf": "a Python bool where no int can be infinite",
    "tnp.isneginf": "the same",
    "tnp.isposinf": "the same",
}


@pytest.fixture(scope="module")
def reality() -> Reality:
    return Reality()


@pytest.mark.compiler
def test_functions_of_tensors_alone(reality: Reality) -> None:
    """Every numeric function, given tensors for what it requires: those that accept some dtype are compared."""
    tf = reality.tf
    floats = tf.constant([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.95]])
    choices = (floats, tf.cast(floats * 10, tf.int32), floats > 0.4)
    for name in numeric_names():
        if name in ODD or (function := reality.find(name)) is None:
            continue
        needed = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        for choice in choices:
            arguments = dict.fromkeys(needed, choice)
            try:
                function(**arguments)
            except Exception:  # not for this dtype, or it wants something else than tensors
                continue
            reality.check(name, arguments)
    assert reality.wrong == []
    assert len(reality.seen) >= 650
    assert len(reality.exact) >= 600


@pytest.mark.compiler
def test_functions_with_their_proper_arguments(reality: Reality) -> None:
    tf = reality.tf
    f2, v, i2 = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([3.0, 1.0]), tf.constant([[0, 1], [1, 0]])
    iv, mask, vmask, scalar = tf.constant([0, 1]), f2 > 2, v > 2, tf.constant(2.0)
    image, boxes = tf.ones([1, 4, 4, 3]), tf.constant([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.5, 0.5]])
    cases: list[tuple[str, dict[str, Any]]] = [
        ("tf.reduce_sum", {"input_tensor": f2, "axis": 0}),
        ("tf.reduce_sum", {"input_tensor": f2, "axis": [0, 1]}),
        ("tf.reduce_sum", {"input_tensor": f2, "axis": -1, "keepdims": True}),
        ("tf.reduce_mean", {"input_tensor": i2}),
        ("tf.reduce_any", {"input_tensor": mask, "axis": 1}),
        ("tf.math.count_nonzero", {"input": f2, "axis": 1}),
        ("tf.argmax", {"input": f2}),
        ("tf.argmax", {"input": f2, "axis": 1, "output_type": tf.int32}),
        ("keras.ops.argmax", {"x": f2}),
        ("keras.ops.argmax", {"x": f2, "axis": -1}),
        ("keras.backend.argmax", {"x": f2}),
        ("keras.ops.mean", {"x": i2, "axis": 0}),
        ("keras.backend.mean", {"x": mask}),
        ("tf.cast", {"x": mask, "dtype": tf.float32}),
        ("tf.cast", {"x": f2, "dtype": "int64"}),
        ("tf.cast", {"x": f2, "dtype": tf.complex64}),
        ("keras.ops.cast", {"x": f2, "dtype": "bool"}),
        ("keras.backend.cast", {"x": f2, "dtype": "int32"}),
        ("tf.bitcast", {"input": f2, "type": tf.int32}),
        ("tf.constant", {"value": [[1, 2], [3, 4]]}),
        ("tf.constant", {"value": 1.0}),
        ("tf.constant", {"value": 0.0, "shape": [1, 6]}),
        ("tf.constant", {"value": [1, 2], "dtype": tf.float32}),
        ("tf.convert_to_tensor", {"value": [1.0, 2.0]}),
        ("keras.ops.convert_to_tensor", {"x": [1, 2], "dtype": "float32"}),
        ("tf.zeros", {"shape": [2, 3]}),
        ("tf.zeros", {"shape": [2], "dtype": tf.bool}),
        ("tf.ones", {"shape": []}),
        ("tf.fill", {"dims": [2, 2], "value": 3}),
        ("tf.zeros_like", {"input": i2}),
        ("tf.ones_like", {"input": f2, "dtype": tf.int32}),
        ("tf.eye", {"num_rows": 3}),
        ("tf.range", {"start": 3}),
        ("tf.range", {"start": 0.0, "limit": 3.0}),
        ("keras.ops.arange", {"start": 4}),
        ("tf.linspace", {"start": 0.0, "stop": 1.0, "num": 3}),
        ("tf.expand_dims", {"input": f2, "axis": 0}),
        ("keras.ops.expand_dims", {"x": v, "axis": -1}),
        ("tf.squeeze", {"input": tf.ones([1, 2, 1]), "axis": [0, 2]}),
        ("tf.reshape", {"tensor": f2, "shape": [-1]}),
        ("tf.reshape", {"tensor": f2, "shape": [2, 1, 2]}),
        ("keras.ops.reshape", {"x": f2, "newshape": (4,)}),
        ("tf.broadcast_to", {"input": v, "shape": [3, 2]}),
        ("tf.transpose", {"a": f2, "perm": [1, 0]}),
        ("keras.backend.permute_dimensions", {"x": f2, "pattern": (1, 0)}),
        ("tf.tile", {"input": f2, "multiples": [2, 1]}),
        ("tf.repeat", {"input": v, "repeats": 2}),
        ("tf.pad", {"tensor": f2, "paddings": [[0, 1], [0, 1]]}),
        ("tf.slice", {"input_": f2, "begin": [0, 0], "size": [1, 2]}),
        ("tf.concat", {"values": [f2, f2], "axis": 0}),
        ("keras.ops.concatenate", {"xs": [v, v]}),
        ("tf.stack", {"values": [v, v]}),
        ("tf.stack", {"values": [scalar, scalar]}),
        ("tf.split", {"value": f2, "num_or_size_splits": 2}),
        ("tf.unstack", {"value": f2}),
        ("keras.ops.split", {"x": f2, "indices_or_sections": 2}),
        ("keras.ops.unstack", {"x": f2}),
        ("tf.gather", {"params": f2, "indices": iv}),
        ("tf.gather", {"params": f2, "indices": i2, "axis": 1}),
        ("tf.gather", {"params": f2, "indices": i2, "batch_dims": 1}),
        ("tf.gather_nd", {"params": f2, "indices": i2}),
        ("keras.ops.take", {"x": f2, "indices": iv}),
        ("keras.ops.take", {"x": f2, "indices": iv, "axis": 0}),
        ("keras.ops.take_along_axis", {"x": f2, "indices": i2, "axis": 1}),
        ("tf.nn.embedding_lookup", {"params": f2, "ids": i2}),
        ("tf.one_hot", {"indices": iv, "depth": 3}),
        ("keras.ops.one_hot", {"x": iv, "num_classes": 3}),
        ("tf.sequence_mask", {"lengths": iv, "maxlen": 3}),
        ("tf.where", {"condition": mask}),
        ("tf.where", {"condition": mask, "x": f2, "y": 0.0}),
        ("tf.where", {"condition": vmask, "x": f2, "y": f2}),
        ("keras.ops.where", {"condition": mask, "x1": f2, "x2": f2}),
        ("keras.ops.where", {"condition": mask}),
        ("tnp.where", {"condition": mask}),
        ("keras.ops.nonzero", {"x": mask}),
        ("tnp.nonzero", {"a": mask}),
        ("tf.boolean_mask", {"tensor": f2, "mask": vmask}),
        ("tf.boolean_mask", {"tensor": f2, "mask": mask}),
        ("tnp.compress", {"condition": vmask, "a": v}),
        ("tf.unique", {"x": v}),
        ("tf.unique_with_counts", {"x": v}),
        ("tf.dynamic_partition", {"data": v, "partitions": iv, "num_partitions": 2}),
        ("tf.math.top_k", {"input": f2, "k": 1}),
        ("keras.ops.top_k", {"x": f2, "k": 1}),
        ("tf.nn.moments", {"x": f2, "axes": [0]}),
        ("keras.ops.moments", {"x": f2, "axes": [0]}),
        ("tf.linalg.svd", {"tensor": f2, "compute_uv": False}),
        ("tf.linalg.svd", {"tensor": f2}),
        ("tf.linalg.qr", {"input": f2}),
        ("tf.linalg.eigh", {"tensor": f2}),
        ("tf.linalg.lu", {"input": f2}),
        ("tf.linalg.slogdet", {"input": f2}),
        ("tf.linalg.normalize", {"tensor": f2}),
        ("keras.ops.svd", {"x": f2}),
        ("keras.ops.slogdet", {"x": f2}),
        ("tf.linalg.norm", {"tensor": f2, "axis": 1}),
        ("tf.matmul", {"a": f2, "b": f2}),
        ("tf.einsum", {"equation": "ij,jk->ik", "*0": f2, "*1": f2}),
        ("tf.meshgrid", {"*0": v, "*1": v}),
        ("tf.clip_by_value", {"t": f2, "clip_value_min": 0.0, "clip_value_max": 1.0}),
        ("tf.clip_by_global_norm", {"t_list": [f2, v], "clip_norm": 1.0}),
        ("tf.cumsum", {"x": f2, "axis": 1}),
        ("tf.sort", {"values": f2, "axis": 0}),
        ("tf.argsort", {"values": f2}),
        ("tf.reverse", {"tensor": f2, "axis": [0]}),
        ("tf.roll", {"input": f2, "shift": 1, "axis": 0}),
        ("tf.searchsorted", {"sorted_sequence": v, "values": v}),
        ("tf.shape", {"input": f2}),
        ("tf.shape", {"input": f2, "out_type": tf.int64}),
        ("tf.shape_n", {"input": [f2, v]}),
        ("tf.size", {"input": f2}),
        ("tf.rank", {"input": f2}),
        ("keras.ops.shape", {"x": f2}),
        ("keras.backend.shape", {"x": f2}),
        ("keras.backend.int_shape", {"x": f2}),
        ("keras.backend.ndim", {"x": f2}),
        ("tf.is_tensor", {"x": f2}),
        ("tf.math.bincount", {"arr": iv}),
        ("tf.math.confusion_matrix", {"labels": iv, "predictions": iv}),
        ("tf.math.in_top_k", {"targets": iv, "predictions": f2, "k": 1}),
        ("tf.math.segment_sum", {"data": f2, "segment_ids": iv}),
        ("tf.math.unsorted_segment_sum", {"data": f2, "segment_ids": iv, "num_segments": 2}),
        ("tf.scatter_nd", {"indices": [[0], [1]], "updates": v, "shape": [3]}),
        ("tf.tensor_scatter_nd_update", {"tensor": v, "indices": [[0]], "updates": [2.0]}),
        ("tf.histogram_fixed_width", {"values": v, "value_range": [0.0, 5.0]}),
        ("tf.random.uniform", {"shape": [2, 3]}),
        ("tf.random.uniform", {"shape": [], "maxval": 5, "dtype": tf.int32}),
        ("tf.random.normal", {"shape": (2,)}),
        ("tf.random.categorical", {"logits": f2, "num_samples": 3}),
        ("tf.random.shuffle", {"value": i2}),
        ("tf.random.stateless_uniform", {"shape": [2], "seed": [1, 2]}),
        ("keras.random.uniform", {"shape": (2, 2)}),
        ("keras.random.randint", {"shape": (2,), "minval": 0, "maxval": 3}),
        ("keras.random.categorical", {"logits": f2, "num_samples": 2}),
        ("tnp.random.rand", {}),
        ("tf.nn.softmax", {"logits": f2}),
        ("tf.nn.dropout", {"x": f2, "rate": 0.5}),
        ("tf.nn.bias_add", {"value": f2, "bias": v}),
        ("tf.nn.sparse_softmax_cross_entropy_with_logits", {"labels": iv, "logits": f2}),
        ("tf.nn.softmax_cross_entropy_with_logits", {"labels": f2, "logits": f2}),
        ("tf.nn.sigmoid_cross_entropy_with_logits", {"labels": f2, "logits": f2}),
        ("tf.nn.max_pool2d", {"input": image, "ksize": 2, "strides": 2, "padding": "SAME"}),
        ("tf.nn.l2_normalize", {"x": f2}),
        ("tf.nn.l2_loss", {"t": f2}),
        ("keras.losses.mean_squared_error", {"*0": f2, "*1": f2}),
        ("keras.activations.softmax", {"x": f2}),
        ("tf.image.resize", {"images": image, "size": [2, 2]}),
        ("tf.image.flip_left_right", {"image": image}),
        ("tf.image.random_brightness", {"image": image, "max_delta": 0.1}),
        ("tf.image.non_max_suppression", {"boxes": boxes, "scores": v, "max_output_size": 2}),
        ("tf.image.non_max_suppression_padded", {"boxes": boxes, "scores": v, "max_output_size": 2}),
        ("tf.image.non_max_suppression_with_scores", {"boxes": boxes, "scores": v, "max_output_size": 2}),
        ("tf.strings.length", {"input": ["a", "bc"]}),
        ("tf.strings.lower", {"input": ["A", "B"]}),
        ("tf.strings.to_number", {"input": ["1", "2"]}),
        ("tf.as_string", {"input": v}),
        ("tf.signal.rfft", {"input_tensor": f2}),
        ("tf.signal.fft", {"input": tf.cast(f2, tf.complex64)}),
        ("tf.abs", {"x": tf.cast(f2, tf.complex64)}),
        ("tf.complex", {"real": f2, "imag": f2}),
        ("tf.Variable", {"initial_value": 1.0}),
        ("tf.Variable", {"initial_value": f2}),
        ("keras.Variable", {"initializer": "zeros", "shape": (2, 2)}),
        ("tf.timestamp", {}),
        ("tf.debugging.check_numerics", {"tensor": f2, "message": "m"}),
        ("tf.print", {"*0": "text"}),
        ("tf.identity", {"input": f2}),
        ("tf.stop_gradient", {"input": f2}),
    ]
    before = len(reality.wrong)
    for name, arguments in cases:
        reality.check(name, arguments)
    assert reality.wrong[before:] == []


def test_functions_that_keras_keeps_to_itself_are_not_guessed() -> None:
    assert api_results.result_of("keras.losses.loss.squeeze_or_expand_to_same_rank") == "unknown"
    assert api_results.result_of("keras.ops.mean") != "unknown"
