"""Keras models: the functions that `compile` is passed, and the steps that `fit` and its relatives run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ...findings.findings import BY_KERAS
from ...syntax import nodes as cst
from ..domain.counts import rounds_up
from ..domain.kinds import leaves, options, rows_of
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiObject,
    Compiled,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Origin,
    Setting,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..domain.varying_shapes import LAST, MASKED, READ, RESIZED, filtered, variations_of
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED, Context, ContextKind, Trained
from ..interpreter.counting import counted, length
from ..interpreter.feeding import passed_values, report_feed, report_text
from ..interpreter.frames import LINE_BY_LINE, Act, Arguments, Compilation, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..interpreter.remade_models import report_remade, report_retrained
from ..library import api
from ..library.array_batches import batches_of
from ..library.call_kinds import RETURNS_TO_HOST
from ..library.datasets import IMAGES, is_dataset
from ..library.declared_inputs import as_declared, declared_text, is_of_one_size
from ..library.generators import yielded
from ..library.keras_classes import EAGERLY, asks_for_eager, runs_eagerly
from ..library.strategies import is_loader, is_tpu, making_of
from ..program.parameter_uses import structures_among
from ..program.signs import Shows
from ..record import replace
from .callbacks import run_callbacks
from .compilation import ON_TPU, asked_by, is_for_tpu, show_setting
from .data_sets import is_data_set, is_data_set_elsewhere
from .held_layers import keeps_off, report_held
from .held_models import note_run, report_parts
from .keras_inputs import as_arrays, batch_of_object, beside_inputs, elements_of, taken_for_model, whole_batches
from .losses import compiled_with

# The methods of a model that run its compiled steps, with the step that each argument goes through. Of a dataset the
# elements go there one by one, of arrays pieces of one size.
_LOOPS: Final = {
    "fit": {"x": "train", "validation_data": "test"},
    "evaluate": {"x": "test"},
    "predict": {"x": "predict"},
    "fit_generator": {"generator": "train", "validation_data": "test"},
}
_ONCE: Final = ("evaluate", "predict")  # what is asked for all results
_FIRST: Final = ("x", "generator")  # where the data stand, before anything else
_WHOLE: Final = frozenset(
    ("bucket", "cut", "filled", "grown", "grows", LAST, MASKED, "padded batch", READ, RESIZED, "sized")
)  # what makes arrays of another size each time
_SIZES: Final = {"fit": 2, "evaluate": 2, "predict": 1}  # where the size of batches stands
# The argument that says how many batches a step takes, where each run of it starts at the first. An epoch of
# training, but the first, goes on where the one before has ended, and meets the last batch (measured).
_LIMITS: Final = {
    ("fit", "test"): (13, "validation_steps"),
    ("fit_generator", "test"): (6, "validation_steps"),
    ("evaluate", "test"): (5, "steps"),
    ("predict", "predict"): (3, "steps"),
}
_EPOCHS: Final = {"fit": 12, "fit_generator": 1}  # where the number of batches in an epoch stands
_STEPS: Final = {
    "train_on_batch": "train",
    "test_on_batch": "test",
    "predict_on_batch": "predict",
}
_KERAS_3_DECIDES: Final = "Keras 3's default where it finds an accelerator"
_TRAINS: Final = frozenset(("fit", "train_on_batch"))
_PREDICTS: Final = frozenset(("predict", "predict_on_batch"))
# What `compile` is passed for training, and all that Keras 2 and 3 take there.
_TRAINED: Final[Mapping[str, Trained]] = {
    "loss function": Trained.LOSS,
    "function in a Lambda layer": Trained.FUNCTION,
    "activation": Trained.FUNCTION,
    "layer's activation": Trained.FUNCTION,
}
_TRAINS_WITH: Final = frozenset(("loss", "metrics", "optimizer", "weighted_metrics"))
_SETTINGS: Final = _TRAINS_WITH.union(
    ("auto_scale_loss", "distribute", "experimental_run_tf_function", "jit_compile", "loss_weights", "run_eagerly"),
    ("sample_weight_mode", "steps_per_execution", "target_tensors"),
)
# What layers are made with and call themselves, by the last word of its parameter; and the layers.
_CALLED_BY_LAYERS: Final = frozenset(("activation", "regularizer", "constraint"))
_LAYERS: Final = (
    *("Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "DepthwiseConv1D"),
    *("DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D", "Dense", "EinsumDense", "Embedding", "PReLU"),
    *("GRU", "GRUCell", "LSTM", "LSTMCell", "SimpleRNN", "SimpleRNNCell", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
    *("BatchNormalization", "LayerNormalization", "GroupNormalization", "MultiHeadAttention", "GroupQueryAttention"),
)
_OUTSIDE: Final = "transformers."
_TUNER: Final = "keras_tuner.Tuner"
_TUNERS: Final = (
    *("BayesianOptimization", "GridSearch", "Hyperband", "RandomSearch", "Tuner"),
    *("tuners.BayesianOptimization", "tuners.Hyperband", "tuners.RandomSearch"),
)


def _keras_entry(
    interpreter: Interpreter,
    frame: Frame,
    function: Value,
    role: str,
    count: int,
    keywords: Mapping[str, Value] | None = None,
    tag: str = "",
) -> None:
    """Keras calls a function with so many tensors, and with these arguments by name, which `tag` tells from others.
    A layer that is made in an input pipeline is called there, on the host."""
    if frame.context.pipeline:
        return
    autograph, keras = interpreter.keras_runs(frame.module)
    for found in interpreter.functions_in(function):
        found = interpreter.decorated(found) if found.compiled is None else found
        if found.compiled is not None:
            continue
        entry = f"the {role} `{found.function.qualname}`"
        origin = _argument(found, role)
        apart = structures_among(found.function.node)
        parameters = found.function.node.params.params[found.bound is not None :]
        names = [parameter.name.value for parameter in parameters[:count]]
        given: list[Value] = [
            Structure(origin=origin) if name in apart else Tensor(Dependence.VALUE, "float", origin=origin)
            for name in (*names, *[""] * (count - len(names)))
        ]
        if role == "function in a Lambda layer":
            frame.summary.layers.add(found.function)
            given = [Structure(passed=True)]
        elif role == "layer's activation":  # of what the layer computes with its weights, which XLA does not fold
            given = [
                replace(value, carried=True, mixed=True) if isinstance(value, Tensor) else value for value in given
            ]
        compiled = Compilation(
            ContextKind.XLA, autograph, entry, by_keras=True, keras=keras, trained=_TRAINED.get(role)
        )
        interpreter.enter(found, compiled, Arguments(given, dict(keywords or {}), unknown=True), role + tag)


def _argument(function: FunctionValue, role: str) -> Origin:
    return Origin(function.function.label, f"{BY_KERAS} this {role} with tensors")


def _lambda_layer(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    function = arguments.get(0, "function")
    if function is not None:
        named, written = arguments.get(3, "arguments"), arguments.keyword_nodes.get("arguments")
        keywords = named.entries if isinstance(named, Dict) and named.element is None and written is not None else {}
        if not all(isinstance(name, str) for name in keywords):
            keywords = {}
        tag = "" if written is None else f" with {frame.unit.code(written)}"
        _keras_entry(interpreter, frame, function, "function in a Lambda layer", 1, keywords, tag)
    return None


def _layer(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`Dense(3, activation=f, kernel_regularizer=g)`: the layer calls these as a part of the model."""
    for keyword, function in arguments.keywords.items():
        role = keyword.rpartition("_")[2]
        if role in _CALLED_BY_LAYERS:
            _keras_entry(interpreter, frame, function, f"layer's {role}", 1)
    return None


def _activation_layer(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    function = arguments.get(0, "activation")
    if function is not None:
        _keras_entry(interpreter, frame, function, "activation", 1)
    return None


def _compile(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`model.compile(loss=f, metrics=[g])`."""
    is_model = isinstance(owner, ApiObject) and api.kind_of(owner.api) == "model"
    is_model = is_model or (isinstance(owner, Instance) and owner.cls.is_keras("model"))
    if not is_model and arguments.keywords and _SETTINGS.isdisjoint(arguments.keywords):
        return None  # other libraries compile, too
    if not is_model and "run_eagerly" in arguments.keywords:  # which Keras alone has
        settings, nodes = arguments.keywords, arguments.keyword_nodes
        interpreter.report_setup(frame, ".compile", owner, settings, nodes, UNKNOWN, node)
    _remember_compiled(interpreter, frame, owner, arguments, node)
    if not is_model and _TRAINS_WITH.isdisjoint(arguments.keywords):
        return None
    for position, keyword, role in (
        (1, "loss", "loss function"),
        (3, "metrics", "metric function"),
        (4, "weighted_metrics", "metric function"),
    ):
        for item in leaves(arguments.get(position, keyword)):
            if isinstance(item, Instance):
                interpreter.handed.add(item.cls)
            _keras_entry(interpreter, frame, item, role, 2)
    return None if isinstance(owner, ApiObject) else NONE


def _activation(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """What a name or a configuration stands for gives a tensor of its argument's shape, as `linear` does."""
    given = arguments.get(0, "identifier")
    return given if isinstance(given, FunctionValue | Instance | Api | ApiObject) else Api("keras.activations.linear")


def _remember_compiled(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """`model.compile(..)`: from here on the model knows whether XLA compiles its steps."""
    if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
        return
    model = _owner(interpreter, frame, node.func.value, owner)
    report_parts(interpreter, frame, model, node, "model")
    show_setting(interpreter, frame, "jit_compile", arguments.keywords.get("jit_compile"), node)
    how = Compiled(*_jit(interpreter, frame, model, arguments.keywords), Location(frame.unit, node))
    decides = how.jit is None and how.why == _KERAS_3_DECIDES
    if decides and (interpreter.project.files.jax or not keeps_off(model)):
        interpreter.show(frame, Shows.KERAS_3, node, f"`{frame.unit.code(node.func)}`: {how.why}")
    if how.jit or arguments.rest_keywords is not None:
        interpreter.show(frame, Shows.STEPS, node, f"`{frame.unit.code(node.func)}`")
    if how.jit is not False and how.why != EAGERLY:
        report_held(interpreter, frame, model, how, node)
    if how.jit and isinstance(model, ApiObject) and model.payload is not None:
        context = Context(ContextKind.XLA, False, f"`{frame.unit.code(node.func)}`, which makes XLA compile the steps")
        report_feed(interpreter, frame, context, [(model.payload, node)], node, (how.location, "build"), often=True)
    match model:
        case Instance():
            model.facts = how
            interpreter.handed.add(model.cls)
            compiled_with(interpreter, model, arguments.get(1, "loss"))
        case ApiObject() if api.kind_of(model.api) == "model":
            interpreter.assign_quietly(frame, node.func.value, replace(model, facts=how))
        case ApiObject(api="keras.layers.Layer"):  # only a layer that is a model can be compiled
            interpreter.assign_quietly(frame, node.func.value, ApiObject("keras.Model", facts=how))
        case Unknown() if how.jit:  # only a Keras model has this argument
            interpreter.assign_quietly(frame, node.func.value, ApiObject("keras.Model", facts=how))


def _jit(interpreter: Interpreter, frame: Frame, model: Value, settings: dict[str, Value]) -> tuple[bool | None, str]:
    """Whether XLA compiles the steps, and why; None where Keras 3 decides, which takes an accelerator to say yes, or a
    target, for which they have to be."""
    if asks_for_eager(settings.get("run_eagerly")):
        return None if interpreter.options.target is not None else False, EAGERLY
    jit, why = _asked(interpreter, frame, model, settings)
    return (None, "autoclustering") if jit is False and interpreter.project.files.clusters else (jit, why)


def _asked(interpreter: Interpreter, frame: Frame, model: Value, settings: dict[str, Value]) -> tuple[bool | None, str]:
    """The same, by the settings of the model alone."""
    made = making_of(model)
    scope = frame.context.scope or (None if made is None else made.scope)  # a model remembers where it was created
    if scope is not None and is_tpu(scope.strategy):
        return True, ON_TPU
    if interpreter.options.target is not None and settings.get("jit_compile") != Static(False):
        return True, f"--target {interpreter.options.target}"
    match settings.get("jit_compile"):
        case Static(bool() as said):
            return said, "jit_compile=True"
        case Static(setting=Setting(default=bool())) as decided if scope is None:
            return True, f"jit_compile={asked_by(decided)}"
        case None | Static("auto") if scope is None:
            outside = isinstance(model, ApiObject) and model.api.startswith(_OUTSIDE)
            decides = not outside and interpreter.keras_version(frame.module) == 3
            return None if decides else False, _KERAS_3_DECIDES
        case _:  # any other strategy turns the default off
            return False, ""


def _owner(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression, known: Value) -> Value:
    """The object before the dot. A method of Keras's own classes does not remember the object of the project."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super":
        return known if frame.bound is None else frame.bound
    names = node
    while isinstance(names, cst.Attribute):
        names = names.value
    return interpreter.evaluate(frame, node) if isinstance(names, cst.Name) else known


def _run_model(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`model.fit(dataset)` and the like; what the call returns is for others to say."""
    if frame.context.kind not in NOT_TRACED or not isinstance(node, cst.Call):
        return None
    if not isinstance(node.func, cst.Attribute):
        return None
    frame.summary.evaluates, method = True, node.func.attr.value
    interpreter.show(frame, Shows.GRAPHS, node, f"`{method}`")
    model = _owner(interpreter, frame, node.func.value, owner)
    if method in _TRAINS:
        interpreter.show(frame, Shows.TRAINING, node, f"`{method}`")
        reader = LINE_BY_LINE if any(map(runs_eagerly, options(model))) else ""
        interpreter.note_done(frame, Act.STEP if method in _STEPS else Act.FIT, node, reader)
    if method in RETURNS_TO_HOST and any(_runs_keras_s(option, method) for option in options(model)):
        interpreter.note_done(frame, Act.READ, node, f".{method}")
        if method not in _TRAINS:
            interpreter.note_done(frame, Act.PREDICT if method == "predict" else Act.RUN, node)
    for option in _as_compiled(taken_for_model(interpreter, model, method, arguments), method):
        note_run(interpreter, frame, option, node)
        run_callbacks(interpreter, frame, option, method, arguments, node)
        if (how := _compiled(interpreter, frame, option, node)) is not None:
            text = declared_text(option) if is_for_tpu(interpreter, how) or not keeps_off(option) else None
            _run(interpreter, frame, how, method, arguments, node, one_size=is_of_one_size(option), text=text)
    return None


def _runs_keras_s(model: Value, method: str) -> bool:
    """Whether it is Keras's method that a model runs, not one of its own."""
    match model:
        case Instance(cls):
            return cls.is_keras("model") and cls.find(method) is None
        case ApiObject(api=name):
            return api.kind_of(name) == "model"
        case _:
            return False


def _as_compiled(models: Iterable[Value], method: str) -> list[ApiObject | Instance]:
    """The models that a call may run, without what one of them was before it was compiled: all methods but those that
    predict raise there."""
    held = [model for model in models if isinstance(model, ApiObject | Instance)]
    compiled = [model for model in held if isinstance(model.facts, Compiled)]
    if method in _PREDICTS:
        before = [replace(model, facts=None) for model in compiled if isinstance(model, ApiObject)]
        return [model for model in held if model not in before]
    return compiled or held


def _tuner(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras_tuner.Hyperband(build, ..)`, which remembers what builds its models."""
    return ApiObject(_TUNER, payload=arguments.get(0, "hypermodel"))


def _search(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`tuner.search(dataset)`: what it builds is fitted to the dataset."""
    if not (isinstance(owner, ApiObject) and isinstance(node, cst.Call)) or frame.context.kind not in NOT_TRACED:
        return None
    build = owner.payload
    if isinstance(build, Instance):
        build = interpreter.attribute(frame, build, "build", node)
    frame.summary.evaluates = True
    interpreter.show(frame, Shows.TRAINING, node, "`search`")
    for model in options(interpreter.call(frame, build, Arguments([UNKNOWN]), node) if build is not None else UNKNOWN):
        if isinstance(model, ApiObject | Instance) and (how := _compiled(interpreter, frame, model, node)) is not None:
            _run(interpreter, frame, how, "fit", arguments, node)
    return None


def _compiled(interpreter: Interpreter, frame: Frame, model: ApiObject | Instance, node: cst.Call) -> Compiled | None:
    """How a model was compiled; one that was loaded, or only predicts, is by the TPU in whose scope it was made, by the
    target that was asked for, or as Keras 3 decides."""
    if isinstance(model.facts, Compiled):
        return model.facts
    target = interpreter.options.target
    keras = model.cls.is_keras("model") if isinstance(model, Instance) else api.kind_of(model.api) == "model"
    made = making_of(model)
    if keras and made is not None and made.scope is not None and is_tpu(made.scope.strategy):
        return Compiled(True, ON_TPU, Location(frame.unit, node))
    if not keras or target is not None:
        return Compiled(True, f"--target {target}", Location(frame.unit, node)) if keras else None
    jit, why = _jit(interpreter, frame, model, {})
    return Compiled(jit, why, Location(frame.unit, node)) if jit is None else None


def _run(
    interpreter: Interpreter,
    frame: Frame,
    how: Compiled,
    method: str,
    arguments: Arguments,
    node: cst.Call,
    *,
    one_size: bool = False,
    text: Value | None = None,
) -> None:
    """The steps of a model run over what it is passed. `one_size`: it was made for inputs of one size; `text`: the
    inputs that it was made with, if there is text among them."""
    if how.jit is False:
        return
    eager = how.why == EAGERLY
    entry = (
        f"the steps of `{frame.unit.code(node.func)}`, which {'run eagerly' if eager else 'XLA compiles'} ({how.why})"
    )
    context = Context(ContextKind.XLA, False, entry, by_keras=True, eager=eager)
    certain = how.jit is True
    if certain and method in _PREDICTS:
        report_remade(interpreter, frame, context, node)
    if certain and method == "fit":
        report_retrained(interpreter, frame, context, node)
    if certain and text is not None:
        report_text(interpreter, frame, context, [(text, (*arguments.nodes, node)[0])])
    if method in _STEPS:
        passed = passed_values(arguments, node)
        if one_size:
            passed = [(as_declared(each), where) for each, where in passed]
        target, trains = (how.location, _STEPS[method]), method in _TRAINS
        report_feed(interpreter, frame, context, passed, node, target, certain=certain, trains=trains)
        return
    location = Location(frame.unit, node)
    size = arguments.get(_SIZES[method], "batch_size") if method in _SIZES else None
    if size is not None:
        size = counted(frame, size, arguments.keyword_nodes.get("batch_size"))
    for name, step in _LOOPS[method].items():
        trains = step == "train"
        value = arguments.get(0 if name in _FIRST else len(arguments.positional), name)
        datasets = [option for option in options(value or NONE) if is_dataset(option) or is_loader(option)]
        limited = (method, step) in _LIMITS and _ends_early(frame, arguments, *_LIMITS[method, step])
        if limited or (method == "fit" and trains and _is_one_short_epoch(frame, arguments)):
            datasets = [whole_batches(dataset) for dataset in datasets]
        given: list[tuple[Value, cst.CSTNode]] = [(dataset, node) for dataset in datasets]
        where = arguments.keyword_nodes.get(name, (*arguments.nodes, node)[0])
        texts: Iterable[Value] = beside_inputs(datasets) if certain else ()
        if text is None and is_for_tpu(interpreter, how):  # which has no strings, whatever takes them
            texts = elements_of(datasets) or [value or NONE]
        report_text(interpreter, frame, context, [(part, where) for part in texts])
        if isinstance(value, Instance) and (batch := batch_of_object(interpreter, frame, value, node)) is not None:
            given.append((batch, node))
        targets = arguments.get(1, "y") if name == "x" and method != "predict" else None
        if not datasets and targets in (None, NONE) and not limited and (batch := yielded(value)) is not None:
            given.append((batch, node))
        split = arguments.get(6, "validation_split") if trains else None
        elsewhere = method in _ONCE and is_data_set_elsewhere(frame.unit, node, where)
        # Of others it is a single example as often as not, where nobody says how to cut them.
        likely = certain and (trains or is_data_set(value, targets, size, method, elsewhere=elsewhere))
        many = size is not None or elsewhere or split not in (None, NONE)
        arrays = value if datasets else as_arrays(value, targets, many)
        called = length(frame, where)
        given += [(each, node) for each in batches_of(arrays, size, split, location, called=called, likely=likely)]
        # An epoch has many batches of one size, whatever is left.
        if value is not None and not datasets and not trains:
            whole = filtered(value, lambda variation: variation.kind in _WHOLE)
            given.append((whole, where))
        if one_size:
            given = [(as_declared(each), place) for each, place in given]
        single = method in _ONCE and not frame.looped and frame.python_loop == 0
        often, target = method != "predict" or not single, (how.location, step)
        sure = certain and not (trains and _are_counted(arguments, method, value))
        how_often = {"often": often, "single": single}
        report_feed(interpreter, frame, context, given, node, target, certain=sure, trains=trains, **how_often)


def _are_counted(arguments: Arguments, method: str, images: Value | None) -> bool:
    """Whether somebody has written how many batches of the pictures in a folder an epoch takes: perhaps all of them,
    and as many as are full."""
    place = _EPOCHS.get(method)
    steps = None if place is None else arguments.get(place, "steps_per_epoch")
    written = isinstance(steps, Static) and type(steps.constant) is int
    return written and any(each.detail == IMAGES for each in variations_of(images))


def _is_one_short_epoch(frame: Frame, arguments: Arguments) -> bool:
    """Whether training ends before it goes on with what an epoch has left."""
    once = arguments.get(3, "epochs") in (None, Static(1))
    return once and _ends_early(frame, arguments, _EPOCHS["fit"], "steps_per_epoch")


def _ends_early(frame: Frame, arguments: Arguments, position: int, name: str) -> bool:
    """Whether somebody says how many batches are taken: these are the whole ones, unless the number is rounded up."""
    steps = arguments.get(position, name)
    if steps is None or steps == NONE:
        return False
    return not rounds_up(rows_of(counted(frame, steps, arguments.keyword_nodes.get(name))))


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **{f"keras.layers.{name}": _layer for name in _LAYERS},
    "keras.layers.Activation": _activation_layer,
    "keras.activations.get": _activation,
    "keras.layers.Lambda": _lambda_layer,
    **{f"{library}.{name}": _tuner for library in ("keras_tuner", "kerastuner") for name in _TUNERS},
    # Where no caller is seen, the question is what happens once the code is compiled.
}
METHODS: Final[dict[str, MethodModel]] = {
    ".compile": _compile,
    f"{_TUNER}.search": _search,
    **{f".{name}": _run_model for name in (*_LOOPS, *_STEPS)},
}
