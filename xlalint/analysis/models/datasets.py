"""Functions that run in input pipelines and in Python, and on the host of a TPU: `Dataset.map`, `tf.py_function`."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import join_all
from ..domain.kinds import UNRANKED, options
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiObject,
    Creation,
    Dependence,
    Dict,
    FunctionValue,
    Origin,
    Pipeline,
    Sequence,
    Static,
    Structure,
    Tensor,
    Value,
    Variation,
)
from ..domain.varying_shapes import OF_RECORD, READ, variations_of, varied
from ..files.unit import Location
from ..interpreter.contexts import HOST, MAPPED, PIPELINE, Context
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..interpreter.piped_models import report_mapped
from ..library import api
from ..library import datasets as pipelines
from ..library.dtypes import named_dtype
from ..library.mapped_elements import after_map
from ..library.public_datasets import examples_of, splits_of
from ..record import replace

_SPLIT: Final = "tensorflow_datasets.Split."
_BUILDER: Final = "tensorflow_datasets.builder"
_FEATURE: Final = "tf.io.FixedLenFeature"
_LIST_FEATURE: Final = "tf.io.FixedLenSequenceFeature"
_SPARSE_FEATURE: Final = "tf.io.VarLenFeature"
_TRANSFORMATIONS: Final = "tf.data.experimental."
# What `apply` is passed, and the methods of datasets that do the same to the shapes of the elements.
_METHODS_OF: Final = {
    **{name: name for name in ("bucket_by_sequence_length", "group_by_window", "ignore_errors", "prefetch_to_device")},
    **{name: name for name in ("rejection_resample", "scan", "take_while", "unbatch", "unique")},
    "assert_cardinality": "cache",
    "copy_to_device": "prefetch_to_device",
    "dense_to_ragged_batch": "ragged_batch",
    "dense_to_sparse_batch": "sparse_batch",
    "map_and_batch": "batch",
    "parallel_interleave": "interleave",
    "shuffle_and_repeat": "repeat",
}


def _on_host(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    function = arguments.get(0, "func")
    functions = interpreter.functions_in(function) if function is not None else ()
    for found in functions:
        interpreter.enter(found, HOST, Arguments(unknown=True), "host")
    made = _made_of_files(interpreter, functions, arguments.get(1, "inp")) if frame.context.pipeline else ()
    location = Location(frame.unit, node)
    tensor = Tensor(Dependence.VALUE, origin=Origin(location, "a Python function's result"))
    match arguments.get(2, "Tout"):
        case Sequence(items=tuple(items)) if any(made) and len(items) == len(made):
            result: Value = Sequence("list", tuple(Structure(varies=varies) for varies in made))
        case None | Sequence():
            result = Structure()
        case _:
            result = replace(tensor, varies=made[0]) if len(made) == 1 else tensor
    return varied(result, (Variation(UNRANKED, location),)) if frame.context.mapped else result


def _made_of_files(
    interpreter: Interpreter, functions: tuple[FunctionValue, ...], passed: Value | None
) -> tuple[tuple[Variation, ...], ...]:
    """Why each of the results of a Python function that a pipeline calls differs in size: it is what a file holds."""
    given = Arguments(list(passed.items)) if isinstance(passed, Sequence) and passed.items else Arguments(unknown=True)
    summaries = [interpreter.analyse(None, function, given, PIPELINE) for function in functions]
    match [summary.value for summary in summaries if summary is not None]:
        case [Sequence(items=tuple(results))]:
            pass
        case [result]:
            results = (result,)
        case _:
            return ()
    return tuple(tuple(each for each in variations_of(result) if each.kind == READ) for result in results)


def _outside(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`tf.compat.v1.tpu.outside_compilation(computation, *args)`: the host runs it beside compiled code."""
    function = arguments.get(0, "computation")
    found = interpreter.functions_in(function) if function is not None else ()
    for one in found:
        interpreter.enter(one, HOST, Arguments(unknown=True), "host")
    return Structure() if found else None


def _context_of(owner: Value, arguments: Arguments) -> Context:
    """How the functions run that a pipeline is passed: TensorFlow traces them, other libraries call them."""
    return MAPPED if pipelines.is_dataset(owner) or "num_parallel_calls" in arguments.keywords else PIPELINE


def _dataset_function(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """A method of a pipeline, with functions for its elements."""
    interpreter.run_in_pipeline(frame, arguments, _context_of(owner, arguments))
    if isinstance(owner, ApiObject):
        return None
    return (
        ApiObject("tf.data.Dataset", payload=Structure())
        if any(map(interpreter.functions_in, arguments.positional))
        else None
    )


def _dataset_of_datasets(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`dataset.flat_map(f)`: the elements of all datasets that the function makes."""
    made = _dataset_function(interpreter, frame, owner, arguments, node)
    if not (isinstance(owner, ApiObject) and owner.api == pipelines.DATASET):
        return made
    given = _elements(owner.payload or Structure())
    return _all_made(interpreter, owner, arguments.get(0, "map_func"), given) or made


def _dataset_windows(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`dataset.group_by_window(key, f, size)`: the elements of what the function makes of each window."""
    made = _dataset_function(interpreter, frame, owner, arguments, node)
    if not (isinstance(owner, ApiObject) and owner.api == pipelines.DATASET):
        return made
    return _of_windows(interpreter, owner, arguments.get(1, "reduce_func")) or made


def _of_windows(interpreter: Interpreter, owner: ApiObject, function: Value | None) -> Value | None:
    window = ApiObject(pipelines.DATASET, payload=owner.payload, facts=Pipeline())
    return _all_made(interpreter, owner, function, Arguments([UNKNOWN, window]))


def _all_made(interpreter: Interpreter, owner: ApiObject, function: Value | None, given: Arguments) -> ApiObject | None:
    """The elements of the datasets that a function makes; None where it is not seen to make any."""
    found = interpreter.functions_in(function) if function is not None else ()
    summaries = [interpreter.analyse(None, one, given, MAPPED) for one in found]
    if len(summaries) != 1 or summaries[0] is None:
        return None
    made = summaries[0].value
    return (
        pipelines.one_after_the_other(owner, made)
        if isinstance(made, ApiObject) and pipelines.is_dataset(made)
        else None
    )


def _dataset_apply(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`dataset.apply(f)`: the dataset that the function makes of this one."""
    function = arguments.get(0, "transformation_func")
    match owner, function:
        case ApiObject(), ApiObject(name, payload=Dict(entries), made=made) if name.startswith(_TRANSFORMATIONS):
            method = _METHODS_OF[name.removeprefix(_TRANSFORMATIONS)]
            given = {str(key): value for key, value in entries.items()}
            if method == "group_by_window" and pipelines.is_dataset(owner):
                windows = _of_windows(interpreter, owner, given.get("reduce_func"))
                if windows is not None:
                    return windows
            return pipelines.after(owner, method, given, Location(frame.unit, node) if made is None else made.location)
    results = [
        interpreter.call(frame, found, Arguments([owner]), node)
        for found in (interpreter.functions_in(function) if function is not None else ())
    ]
    return _datasets_in(*results)


def _transformation(name: str) -> FunctionModel:
    """`tf.data.experimental.unbatch()` and the like: what `dataset.apply` is passed, with its arguments."""
    path = f"{_TRANSFORMATIONS}{name}"

    def model(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        interpreter.run_in_pipeline(frame, arguments)
        bound = dict(zip(api.parameters(path) or (), arguments.positional, strict=False))
        making = Creation(Location(frame.unit, node))  # where its arguments stand
        return ApiObject(path, payload=Dict({**bound, **arguments.keywords}), made=making)

    return model


def _from_function(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.distribute_datasets_from_function(f)`: the dataset that `f` makes for each worker."""
    function = arguments.get(0, "dataset_fn")
    if not isinstance(function, FunctionValue):
        return None
    made = interpreter.call(frame, function, Arguments([ApiObject("tf.distribute.InputContext")]), node)
    found = _datasets_in(made)
    return None if found is None else pipelines.distributed(found)


def _datasets_in(*made: Value) -> Value | None:
    """The datasets among what functions return; None where there are none."""
    found = [option for value in made for option in options(value) if pipelines.is_dataset(option)]
    return join_all(*found) if found else None


def _dataset_map(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`dataset.map(f)`: the elements are what the function makes of them."""
    made = _dataset_function(interpreter, frame, owner, arguments, node)
    if not (isinstance(owner, ApiObject) and owner.api == pipelines.DATASET):
        return made
    results = []
    function = arguments.get(0, "map_func")
    if _context_of(owner, arguments).mapped:
        report_mapped(interpreter, frame, function, arguments.node_at(0, node))
    for found in interpreter.functions_in(function) if function is not None else ():
        summary = interpreter.analyse(None, found, _elements(owner.payload or Structure()), MAPPED)
        results.append(UNKNOWN if summary is None else summary.value)
    match function:
        case ApiObject(method=None) if api.kind_of(function.api) == "layer":
            results.append(interpreter.call(frame, function, Arguments([owner.payload or Structure()]), node))
    return after_map(owner, join_all(*results) if results else None)


def _elements(payload: Value) -> Arguments:
    """What `dataset.map` passes its function: the parts of a tuple one by one."""
    match payload:
        case Sequence("tuple", tuple(items)):
            return Arguments(list(items))
        case _:
            return Arguments(rest=payload, unknown=True)


def _load(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`tfds.load(name, split=..)`: a dataset for each split that is asked for, or a dict of all: of single examples, or
    of batches of these. All of them in one batch are no dataset."""
    size = arguments.get(3, "batch_size") or NONE
    loaded = _splits(arguments.get(0, "name"), arguments.get(1, "split"), size, Location(frame.unit, node))
    match arguments.keywords.get("with_info"):
        case None | Static(False):
            return loaded
        case Static(True) if loaded is not None:
            return Sequence("tuple", (loaded, UNKNOWN))
        case _:
            return None


def _builder(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`tfds.builder(name)`."""
    return ApiObject(_BUILDER, payload=arguments.get(0, "name"))


def _built(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`builder.as_dataset(split=..)`: what `tfds.load` makes of it."""
    match owner:
        case ApiObject(api=api_name, payload=name) if api_name == _BUILDER:
            size = arguments.get(1, "batch_size") or NONE
            return _splits(name, arguments.get(0, "split"), size, Location(frame.unit, node))
        case _:
            return None


def _splits(name: Value | None, wanted: Value | None, size: Value, location: Location) -> Value | None:
    """The splits of a data set that are asked for, or a dict of all. All examples in one batch are no dataset."""
    if size == Static(-1):
        return None
    match name:
        case Static(constant=str() as text):
            pass
        case _:
            text = ""

    def of_split(split: Value) -> ApiObject:
        examples = _examples(text, split)
        return examples if size == NONE else pipelines.loaded_in_batches(examples, size, location)

    match _split(wanted):
        case None | Static(None):
            return Dict({split: of_split(Static(split)) for split in splits_of(text)}, of_split(NONE))
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(of_split(_split(item) or NONE) for item in items))
        case Sequence():
            return Sequence("list", None, of_split(NONE))
        case Static() as split:  # where nobody knows what it says, it says one split all the same
            return of_split(split)
        case _:
            return None


def _both_halves(name: str) -> FunctionModel:
    """What reads a folder, of which it returns both halves where `subset="both"` asks for them."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        if arguments.keywords.get("subset") != Static("both"):
            return None
        half = pipelines.made(name, arguments.keywords, Location(frame.unit, node))
        return Sequence("tuple", (half, half))

    return handle


def _split(value: Value | None) -> Value | None:
    """A split by its name, which has a constant of its own: `tfds.Split.TRAIN`."""
    match value:
        case Api(constant) if constant.startswith(_SPLIT):
            return Static(constant.removeprefix(_SPLIT).lower())
        case _:
            return value


def _examples(name: str, split: Value) -> ApiObject:
    """The examples of a public data set that a split has, and how many they are."""
    match split:
        case Static(constant=str() as part):
            count = examples_of(name, part)
        case _:
            count = None
    return ApiObject(pipelines.DATASET, payload=Structure(), facts=Pipeline(count=count))


def _feature(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.io.FixedLenFeature(shape, dtype)`: a feature of examples, with its dtype."""
    return ApiObject(_FEATURE, payload=arguments.get(1, "dtype"))


def _list_feature(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.io.FixedLenSequenceFeature(shape, dtype)`: a tensor of as many rows as each example has."""
    return ApiObject(_LIST_FEATURE, payload=arguments.get(1, "dtype"))


def _sparse_feature(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.io.VarLenFeature(dtype)`: a sparse tensor of as many values as each example has."""
    return ApiObject(_SPARSE_FEATURE)


def _parsed(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`tf.io.parse_single_example(serialized, features)`: a tensor for each feature, by its name."""
    return _parsed_features(arguments.get(1, "features"), Location(frame.unit, node))


def _parsed_sequence(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`tf.io.parse_single_sequence_example(serialized, context_features, sequence_features)`: what the whole example
    has, and what each of its rows has."""
    location = Location(frame.unit, node)
    whole = _parsed_features(arguments.get(1, "context_features"), location)
    rows = _parsed_features(arguments.get(2, "sequence_features"), location)
    return Sequence("tuple", (whole or Structure(), varied(rows or Structure(), (Variation(READ, location, axis=0),))))


def _parsed_features(features: Value | None, location: Location) -> Value | None:
    match features:
        case Dict(entries, None) if entries:
            origin = Origin(location, "an example that is parsed")
            return Dict({key: _parsed_feature(feature, origin) for key, feature in entries.items()})
        case _:
            return None


def _parsed_feature(feature: Value, origin: Origin) -> Value:
    """What a record holds: numbers that may say how large something else in it is, or as many as there are."""
    match feature:
        case ApiObject(api=kind, payload=dtype) if kind == _FEATURE:
            name = named_dtype(dtype)
            numbers = (Variation(OF_RECORD, origin.location),) if name == "int" else ()
            return Tensor(Dependence.VALUE, name, origin=origin, varies=numbers)
        case ApiObject(api=kind, payload=dtype) if kind == _LIST_FEATURE:
            rows = Variation(READ, origin.location, axis=0)
            return Tensor(Dependence.VALUE, named_dtype(dtype), origin=origin, varies=(rows,))
        case ApiObject(api=kind) if kind == _SPARSE_FEATURE:
            return Structure(origin=origin, varies=(Variation(READ, origin.location, axis=0),))
        case _:
            return Structure()


def _arrays(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`tfds.as_numpy(dataset)`: `dataset.as_numpy_iterator()`."""
    match arguments.get(0, "dataset"):
        case ApiObject() as dataset if pipelines.is_dataset(dataset):
            return interpreter.call(frame, replace(dataset, method="as_numpy_iterator"), Arguments(), node)
        case _:
            return None


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    _FEATURE: _feature,
    _LIST_FEATURE: _list_feature,
    _SPARSE_FEATURE: _sparse_feature,
    "tf.io.parse_example": _parsed,
    "tf.io.parse_single_example": _parsed,
    "tf.io.parse_single_sequence_example": _parsed_sequence,
    "tensorflow_datasets.as_numpy": _arrays,
    "tensorflow_datasets.load": _load,
    _BUILDER: _builder,
    **{name: _both_halves(name) for name in pipelines.OF_FOLDERS},
    **{f"{_TRANSFORMATIONS}{name}": _transformation(name) for name in _METHODS_OF},
    "tf.py_function": _on_host,
    "tf.numpy_function": _on_host,
    "tf.py_func": _on_host,
    "tf.tpu.outside_compilation": _outside,
}
METHODS: Final[dict[str, MethodModel]] = {
    **{
        f"tf.data.Dataset.{name}": _dataset_function
        for name in (
            "filter",
            "reduce",
            "scan",
            "take_while",
        )
    },
    "tf.data.Dataset.apply": _dataset_apply,
    "tf.data.Dataset.flat_map": _dataset_of_datasets,
    "tf.data.Dataset.group_by_window": _dataset_windows,
    "tf.data.Dataset.interleave": _dataset_of_datasets,
    ".as_dataset": _built,
    ".map": _dataset_map,
    ".distribute_datasets_from_function": _from_function,
    ".experimental_distribute_datasets_from_function": _from_function,
    ".filter": _dataset_function,
    ".flat_map": _dataset_of_datasets,
    ".interleave": _dataset_of_datasets,
}
