"""Distribution strategies: what they are made of, the code in their scope, and the calls that set a program up."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final

from ...facts import wheels
from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiObject,
    Class,
    Creation,
    Instance,
    OneOf,
    Scope,
    Sequence,
    Setting,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..files.unit import Location
from ..record import replace
from . import api
from .declared_inputs import INPUT_SHAPES
from .local_paths import is_local
from .made_rows import BATCHES, has_rows, keeps_state
from .optimizers import is_optimizer
from .refusing_layers import is_refused

RESOLVER: Final = "tf.distribute.cluster_resolver.TPUClusterResolver"
# Calls that say in which numbers all layers compute.
POLICIES: Final = ("keras.mixed_precision.experimental.set_policy", "keras.mixed_precision.set_dtype_policy")
FLOATX: Final = "keras.backend.set_floatx"
FLOAT64: Final = frozenset(("double", "float64"))
FLOAT16: Final = frozenset(("float16", "half", "mixed_float16"))
IMAGE_GENERATOR: Final = "keras.preprocessing.image.ImageDataGenerator"
SCOPE: Final = "tf.distribute.Strategy.scope"
REPLICA: Final = "tf.distribute.ReplicaContext"
_STRATEGY: Final = re.compile(r"tf\.(?:contrib\.)?(?:distribute|tpu)\.(?:experimental\.)?\w*Strategy(?:V[12])?$")
_MADE_OF: Final = ("tpu_cluster_resolver", "cluster_resolver", "devices", "device")
BACKEND_VARIABLE: Final = Static("KERAS_BACKEND")
_AUTO_JIT: Final = re.compile(r"tf_xla_auto_jit=(?!0|-1)")
LAUNCHERS: Final = frozenset(("accelerate.notebook_launcher", "accelerate.launchers.notebook_launcher"))
LOADER: Final = "torch.utils.data.DataLoader"
TORCH_MODULE: Final = "torch.nn.Module"
# Calls that build or load a PyTorch model.
MODEL_MAKERS: Final = re.compile(
    r"transformers\.(?!TF|Flax)\w*(?:Model|For[A-Z]\w*)\.from_(?:pretrained|config)$|timm\.create_model$"
    r"|torchvision\.models\.\w+$|torch\.hub\.load$|diffusers\.\w*(?:Model|ModelMixin)(?:\.from_pretrained)?$"
    r"|torch\.nn\.(?:Module|Sequential|ModuleList)$"
)
TRAINING: Final = frozenset(("fit", "fit_generator", "train_on_batch"))  # the methods by which Keras trains
RUN_V2: Final = "experimental_run_v2"  # which nothing but a strategy has ever had
RUNS: Final = frozenset((RUN_V2, "run"))  # the methods of strategies that run a step on each device
_OF_XLA: Final = (RESOLVER, "tf.contrib.tpu.", "tf.estimator.tpu.", "tf.tpu.", "tf.xla.")
_OF_TABLES: Final = "tf.tpu.experimental.embedding."  # which describes tables, also to code that uses no TPU
_KEEPERS: Final = frozenset(("model", "optimizer", "metric"))
# Calls that set a program up, by canonical name.
_FUNCTIONS: Final = frozenset(
    (
        "tf.InteractiveSession",
        "tf.Session",
        "tf.config.experimental_connect_to_cluster",
        "tf.config.experimental_connect_to_host",
        "tf.config.experimental_run_functions_eagerly",
        "tf.config.run_functions_eagerly",
        "tf.config.set_soft_device_placement",
        "tf.data.FixedLengthRecordDataset",
        "tf.data.TFRecordDataset",
        "tf.data.TextLineDataset",
        *BATCHES,
        "tf.data.Dataset.from_generator",
        "tf.data.Dataset.from_tensor_slices",
        "tf.data.Dataset.from_tensors",
        "tf.data.Dataset.list_files",
        "tf.data.Dataset.load",
        "tf.data.experimental.CsvDataset",
        "tf.data.experimental.load",
        "tf.data.experimental.make_csv_dataset",
        "tf.device",
        "tf.disable_eager_execution",
        "tf.disable_v2_behavior",
        "tf.distribute.experimental_set_strategy",
        "tf.function",
        "tf.data.Dataset.from_tensor_slices",
        "tf.io.gfile.glob",
        "tf.io.read_file",
        "tf.lookup.StaticHashTable",
        "tf.lookup.StaticVocabularyTable",
        "tf.lookup.experimental.DenseHashTable",
        "tf.lookup.experimental.MutableHashTable",
        "tf.numpy_function",
        "tf.py_func",
        "tf.py_function",
        "tf.saved_model.save",
        "tf.tpu.experimental.initialize_tpu_system",
        "tf.train.CheckpointManager",
        "tf.train.CheckpointManager.save",
        *(f"tf.train.Checkpoint.{method}" for method in ("read", "restore", "save", "write")),
        "keras.callbacks.ModelCheckpoint",
        FLOATX,
        *POLICIES,
        "keras.models.save_model",
        *(f"{IMAGE_GENERATOR}.{method}" for method in ("flow", "flow_from_dataframe", "flow_from_directory")),
        "keras.utils.audio_dataset_from_directory",
        "keras.utils.text_dataset_from_directory",
        "tensorflow_datasets.load",
        RESOLVER,
        f"{RESOLVER}.connect",
    )
)
# Methods that do, by the kind of what they are called on.
_METHODS: Final[Mapping[str, frozenset[str]]] = {
    "model": frozenset(
        (
            *("__call__", "compile", "evaluate", "fit", "fit_generator", "predict", "train_on_batch", "test_on_batch"),
            *("export", "load_weights", "save", "save_weights"),
        )
    ),
    "loss": frozenset(("__call__",)),
    "optimizer": frozenset(("apply", "apply_gradients", "build", "minimize")),
    "metric": frozenset(("__call__", "update_state")),
    "strategy": frozenset(
        (
            "distribute_datasets_from_function",
            "experimental_distribute_dataset",
            RUN_V2,
            "gather",
            "reduce",
            "run",
            "scope",
        )
    ),
}
# Layers whose time goes into products of matrices.
_LAYERS_OF_PRODUCTS: Final = re.compile(
    r"keras\.layers\.(\w*Dense|\w*Conv\w+|\w*Attention|LSTM|GRU|SimpleRNN|LSTMCell|GRUCell|SimpleRNNCell)"
)
# Methods of objects of other libraries, known by their names alone.
OF_OTHERS: Final = frozenset(("to_tf_dataset", "prepare_tf_dataset"))


@cache
def sets_up(name: str) -> bool:
    """Whether a call of this canonical name sets a program up."""
    if name in _FUNCTIONS or _STRATEGY.match(name):
        return True
    if name in LAUNCHERS or name == LOADER or MODEL_MAKERS.match(name) or wheels.may_lack(name):
        return True
    owner, _, method = name.rpartition(".")
    kind = "strategy" if _STRATEGY.match(owner) else api.kind_of(owner)
    if kind == "strategy" and wheels.may_lack(f"{wheels.STRATEGY}.{method}"):
        return True
    return kind is not None and method in _METHODS.get(kind, ())


@cache
def shows_xla(name: str) -> bool:
    """Whether nobody calls this, by its canonical name, but for what XLA compiles."""
    if name.startswith(_OF_TABLES):
        return False
    return name.startswith(_OF_XLA) or (_STRATEGY.match(name) is not None and "TPU" in name)


_EAGER_SWITCHES: Final = frozenset(("tf.config.run_functions_eagerly", "tf.config.experimental_run_functions_eagerly"))
_TRAINER: Final = "transformers.TFTrainingArguments"
_SET_JIT: Final = "tf.config.optimizer.set_jit"
_PLACES: Final = "tf.config.set_soft_device_placement"
SWITCHES: Final = frozenset((*_EAGER_SWITCHES, _TRAINER, _SET_JIT, _PLACES))
"""What a program calls to say how TensorFlow runs it."""


def turns_clustering_on(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call has TensorFlow compile the parts of its graphs that XLA takes."""
    if name == _TRAINER:  # whose trainer calls the function below
        return arguments.get("xla") == Static(True)
    return name == _SET_JIT and arguments.get("enabled") in (
        Static(True),
        Static("autoclustering"),
    )


def runs_eagerly(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call has TensorFlow run what `tf.function` makes line by line, compiled by XLA or not (measured)."""
    return told_eagerly(name, arguments) == Static(True)


def told_eagerly(name: str, arguments: Mapping[str, Value]) -> Value | None:
    """What a call says of whether TensorFlow does so; None of a call that says nothing of it."""
    return (arguments.get("run_eagerly") or arguments.get("*0")) if name in _EAGER_SWITCHES else None


def places_softly(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call puts the operations on the host that a TPU has no kernel for, or may do so."""
    return name == _PLACES and Static(False) not in arguments.values()


def sets_clustering(variable: Value | None, value: Value | None) -> bool:
    """Whether a variable of the environment, set to this, does the same."""
    given = isinstance(value, Static) and _AUTO_JIT.search(str(value.constant))
    return variable == Static("TF_XLA_FLAGS") and bool(given)


def asks_for_complex128(arguments: Mapping[str, Value], result: Value) -> bool:
    """Whether a call is told to make a tensor of complex128."""
    return isinstance(result, Tensor) and any(map(_is_complex128, arguments.values()))


def is_of_devices(name: str, arguments: Mapping[str, Value], result: Value, *, compiled: bool) -> bool:
    """Whether a call makes what another device computes in another way, or cannot compute."""
    made = (compiled and has_rows(name, arguments)) or keeps_state(name, arguments)
    return made or computes_in(FLOAT64, arguments, result) or computes_in(FLOAT16, arguments, result)


def computes_in(dtypes: Collection[str], arguments: Mapping[str, Value], result: Value) -> bool:
    """Whether a call makes a layer of Keras that is told to compute in one of these dtypes or policies."""
    dtype = arguments.get("dtype")
    if dtype is None or not isinstance(result, ApiObject) or _LAYERS_OF_PRODUCTS.fullmatch(result.api) is None:
        return False
    match dtype:
        case Api(name) | Static(str() as name) | ApiObject("keras.DTypePolicy", payload=Static(str() as name)):
            return name.removeprefix("tf.").removeprefix("np.") in dtypes
        case _:
            return False


def _is_complex128(value: Value) -> bool:
    """Whether a value names the one dtype that a TPU has no kernels for."""
    match value:
        case Api("tf.complex128" | "np.complex128") | Static("complex128"):
            return True
        case _:
            return False


def is_loader(value: Value) -> bool:
    """Whether a value is a loader of PyTorch's."""
    return isinstance(value, ApiObject) and value.api == LOADER and value.method is None


def is_strategy(value: Value) -> bool:
    """Whether a value is a distribution strategy of TensorFlow's."""
    return isinstance(value, ApiObject) and value.method is None and _STRATEGY.match(value.api) is not None


def passes_strategy(arguments: Mapping[str, Value]) -> bool:
    """Whether a call is passed a strategy, or what may be one."""
    return any(is_strategy(option) for value in arguments.values() for option in options(value))


def is_tpu(strategy: Value) -> bool:
    """Whether it is a strategy for TPUs."""
    return isinstance(strategy, ApiObject) and "TPUStrategy" in strategy.api


def copies_variables(strategy: Value) -> bool:
    """Whether it is a strategy of several devices of one kind, each with a copy of the variables."""
    return isinstance(strategy, ApiObject) and "MirroredStrategy" in strategy.api


def address_of(strategy: Value) -> str | None:
    """What the resolver of a TPU strategy was told: "local", a name or an address, "" for nothing; None: not known."""
    if not isinstance(strategy, ApiObject) or not is_tpu(strategy):
        return None
    match strategy.payload:
        case ApiObject(api=name, payload=Static(str() as told)) if name == RESOLVER:
            return told
        case ApiObject(api=name, payload=Static(None) | None) if name == RESOLVER:
            return ""
        case _:
            return None


def is_node(strategy: Value) -> bool:
    """Whether a TPU strategy is known to be for a TPU node, another machine than the one that runs Python."""
    return address_of(strategy) not in (None, "", "local")


def may_be_node(strategy: Value) -> bool:
    """Whether a TPU strategy may be for a TPU node: the program is told its address, and nobody knows which."""
    match strategy:
        case ApiObject(payload=ApiObject(api=name, payload=Unknown() | Static() as told)) if name == RESOLVER:
            return is_tpu(strategy) and _usual_address(told) not in (NONE, Static(""), Static("local"))
        case _:
            return False


def may_be_either(strategy: Value) -> bool:
    """Whether a TPU strategy is for the TPU that the environment names, on this machine or on another one."""
    match strategy:
        case ApiObject(payload=ApiObject(api=name, payload=Static() as told)) if name == RESOLVER:
            return is_tpu(strategy) and _usual_address(told) in (NONE, Static(""))  # which it takes for none, too
        case _:
            return False


def _usual_address(told: Value) -> Value:
    """What a resolver is told, by default where a setting says it."""
    match told:
        case Static(setting=Setting(str() as default), local=False):
            return Static(default)
        case _:
            return told


def beginning(value: Value | None, node: cst.BaseExpression | None) -> Value:
    """A text, or what is written at the beginning of one that is put together; None where there is none."""
    if value is None:
        return NONE
    if (isinstance(value, Static) and (value.known or value.setting is not None)) or is_local(value):
        return value
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        node = node.left
    match node:
        case cst.SimpleString() if isinstance(text := node.evaluated_value, str):
            return Static(text)
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return Static(text)
        case _:
            return UNKNOWN


def with_creation(
    name: str,
    bound: Mapping[str, Value],
    nodes: Mapping[str, cst.BaseExpression],
    result: Value,
    made: Creation,
) -> Value:
    """The result of a library function with where it was created, and a strategy with what it was created from."""
    if isinstance(result, Tensor):
        return result.with_(made=made) if name == "tf.Variable" else result
    if not isinstance(result, ApiObject) or result.method is not None:
        return result
    match result.api:
        case "tf.distribute.Strategy":  # `get_strategy()`
            scope = made.scope
            return scope.strategy if scope is not None and is_strategy(scope.strategy) else result
        case _ if result.api == RESOLVER:
            return replace(result, payload=beginning(bound.get("tpu"), nodes.get("tpu")), made=made)
        case strategy if _STRATEGY.match(strategy):
            payload = next((bound[name] for name in _MADE_OF if name in bound), UNKNOWN if bound else NONE)
            return replace(result, payload=payload, made=made)
        case keeper if api.kind_of(keeper) in _KEEPERS:
            return replace(result, made=replace(made, complete=_is_complete(name, bound, nodes)))
        case loss if is_refused(result) or api.kind_of(loss) == "loss":
            return replace(result, made=made)
        case _:
            return result


def is_traced_back(result: Value) -> bool:
    """Whether it matters where an object was created in programs that have no strategy, too."""
    loss = isinstance(result, ApiObject) and result.method is None and api.kind_of(result.api) == "loss"
    return loss or is_refused(result) or is_optimizer(result)


def _is_complete(name: str, bound: Mapping[str, Value], nodes: Mapping[str, cst.BaseExpression]) -> bool:
    """Whether a call makes a model whose layers know their inputs, and so make their variables at once."""
    if name == "keras.Model":
        return "inputs" in bound or "*0" in bound
    if name != "keras.Sequential":
        return api.kind_of(name) is None  # an application, or what is loaded
    parameter = "layers" if "layers" in bound else "*0"
    match bound.get(parameter):
        case Sequence(items=(Tensor() | Structure() | ApiObject(api="keras.layers.InputLayer"), *_)):
            return True
    match nodes.get(parameter):
        case cst.List(elements=[cst.Element(value=cst.Call(args=arguments)), *_]):
            return any(found.keyword is not None and found.keyword.value in INPUT_SHAPES for found in arguments)
        case _:
            return False


def note_creation(created: Instance, made: Creation) -> None:
    """Remember where an object of a project class is created that holds variables, or is a loss."""
    if keeps_variables(created) or created.cls.is_keras("loss"):
        created.creations.add(replace(made, cls=created.cls))
        scopes = [creation.scope for creation in created.creations]
        for name, value in created.attributes.items():
            match value:
                case (
                    ApiObject(made=Creation(scope=Scope(strategy=Unknown())) as held)
                    | Tensor(made=Creation(scope=Scope(strategy=Unknown())) as held)
                ) if len(set(scopes)) == 1:
                    created.attributes[name] = replace(value, made=replace(held, scope=scopes[0]))
                    created.version += 1


def keeps_variables(value: Value) -> bool:
    """Whether it is a model, an optimizer or a metric."""
    match value:
        case ApiObject(api=name, method=None):
            return api.kind_of(name) in _KEEPERS
        case Instance(cls=cls):
            return any(map(cls.is_keras, _KEEPERS)) or is_module(cls)
        case _:
            return False


def is_module(cls: Class) -> bool:
    """Whether a class of the project is a `tf.Module` that Keras knows nothing of."""
    return "tf.Module" in cls.external_bases and not any(map(cls.is_keras, ("layer", "model")))


def making_of(value: Value, near: Location | None = None) -> Creation | None:
    """Where a value was made, if there is one such place; of several the one in the same function as a place `near`."""
    match value:
        case ApiObject(made=made) | Tensor(made=made):
            return made
        case Instance(creations=creations) if len(creations) > 1 and near is not None:
            function = _function(near)
            made_there = [made for made in creations if _function(made.location) is function]
            return made_there[0] if len(made_there) == 1 else None
        case Instance(creations=creations) if len(creations) == 1:
            return next(iter(creations))
        case _:
            return None


def _function(location: Location) -> cst.CSTNode:
    """The function that a place is in, or the code of its module."""
    around = location.unit.around(location.node)
    return next((node for node in around if isinstance(node, cst.FunctionDef)), location.unit.tree)


def _leniency(strategy: Value) -> tuple[bool, bool]:
    """Of a TPU's strategy and the default one, with which the program runs elsewhere, the former is stricter."""
    return not is_tpu(strategy), not copies_variables(strategy)


def strictest(methods: tuple[Value, ...]) -> ApiObject | None:
    """Of a method of several strategies, one of which a program chooses once, that of the strictest; None where these
    are no such methods."""
    found = [method for method in methods if isinstance(method, ApiObject) and is_strategy(method.owner)]
    return min(found, key=_leniency) if len(found) == len(methods) and found else None


def scope_entered(value: Value, outer: Scope | None, yields_in: Collection[Scope | None] = ()) -> Scope | None:
    """The scope in which code runs below `with value:`; `outer`, that of the code around it, where it opens none.
    `yields_in`: those in which the generator that `value` is yields. Of several that a program chooses from, what opens
    no scope does not count."""
    if yields_in:
        opened = [scope.strategy for scope in yields_in if scope is not None and scope != outer]
        return _scope_of(opened, all(map(is_strategy, opened))) if opened else outer
    alternatives = [option for option in options(value) if not _opens_no_scope(option)]
    if not alternatives:
        return outer
    found = [option for option in alternatives if isinstance(option, ApiObject) and option.api == SCOPE]
    if found:
        strategies = [option.payload for option in found if option.payload is not None]
        return _scope_of(strategies, len(found) == len(alternatives) and all(map(is_strategy, strategies)))
    vague = any(isinstance(option, Unknown | Instance) for option in alternatives) or not isinstance(value, OneOf)
    return Scope(UNKNOWN) if vague and outer is None else outer


def _scope_of(strategies: Collection[Value], sure: bool) -> Scope:
    """The scope of the strictest of a few strategies, one of which a program chooses."""
    return Scope(min(strategies, key=_leniency) if sure and strategies else UNKNOWN)


def _opens_no_scope(value: Value) -> bool:
    """Whether `with` enters another thing than a scope: what `__enter__` of a class of the program, or of Python's
    library, says, a `tf.device`, an object of a library."""
    match value:
        case Instance(cls):
            return cls.find("__enter__") is not None
        case ApiObject(api=name):
            return name != SCOPE
        case _:
            return isinstance(value, Static)
