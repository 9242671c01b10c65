"""What compiles functions, or keeps them from it: `tf.function` and its relatives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiObject,
    Compiled,
    Creation,
    Dict,
    FunctionValue,
    Instance,
    OneOf,
    Origin,
    Sequence,
    Setting,
    Static,
    Unknown,
    Value,
    Wrapped,
)
from ..files.unit import Location
from ..interpreter.asked_backends import RUNS_EAGERLY, TRACES
from ..interpreter.contexts import Context, ContextKind
from ..interpreter.feeding import (
    passed_values,
    report_compilation,
    report_compiled_call,
    report_feed,
)
from ..interpreter.frames import UNKNOWN_MODEL, Act, Arguments, Compilation, Done, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..library.api import kind_of
from ..library.padded_shapes import fixed_shapes
from ..library.strategies import BACKEND_VARIABLE, sets_clustering
from ..program.signs import Shows
from ..record import replace
from .called_plainly import is_made_by_converted

WRAPPED: Final = "tf.function"
_LOADED: Final = "tf.saved_model.Loaded"
ON_TPU: Final = "a TPU strategy"  # why Keras has XLA compile a model's steps


def is_for_tpu(interpreter: Interpreter, how: Compiled) -> bool:
    """Whether a TPU runs a model's steps, or the target is one."""
    return how.why == ON_TPU or interpreter.options.target == "tpu"


def _flag(arguments: Arguments, *names: str) -> Any:
    for name in names:
        value = arguments.keywords.get(name)
        if isinstance(value, Static):
            return value.constant
    return None


def asked_by(value: Value | None) -> str | None:
    """What asks for XLA where a setting decides `jit_compile`, which its default may do or leave to whoever runs the
    program; None where it is not known what the setting is."""
    match value:
        case Static(setting=Setting(default=True, name=name)):
            return f"set by {name}, on by default"
        case Static(setting=Setting(default=False, name=name)):
            return f"set by {name}"
        case _:
            return None


def show_setting(
    interpreter: Interpreter, frame: Frame, name: str, value: Value | None, node: cst.BaseExpression
) -> None:
    """Note what a setting says of whether XLA compiles the program; one that is computed may say so."""
    match value:
        case Static(True):
            interpreter.show(frame, Shows.XLA, node, f"`{name}=True`")
        case None | Static(False | None | "auto"):
            pass
        case Static(setting=Setting(default=True)):
            interpreter.show(frame, Shows.XLA, node, f"`{name}`, {asked_by(value)}")
        case Static(setting=Setting(default=False)):
            interpreter.show(frame, Shows.PERHAPS, node, f"`{name}`, {asked_by(value)}")
        case _:
            interpreter.show(frame, Shows.PERHAPS, node, f"`{name}`, set at run time")


def compilation(frame: Frame, arguments: Arguments, node: cst.BaseExpression, shown: str) -> Compilation:
    """What these arguments make of `tf.function`. In a test it says nothing of how the code is meant to run, and what
    takes text is not meant for XLA, which has no text: it serves a model."""
    asked = asked_by(arguments.keywords.get("jit_compile"))
    jit = asked is not None or _flag(arguments, "jit_compile", "experimental_compile") is True
    autograph = _flag(arguments, "autograph") is not False
    settings = "jit_compile=True" if jit else ""
    if not autograph:
        settings += ", autograph=False" if settings else "autograph=False"
    how = f"`tf.function({settings})`" if settings else "`tf.function`"
    given = arguments.get(1, "input_signature")
    signature = given not in (None, NONE)
    plain = ContextKind.HOST if frame.module.is_test or _takes_text(given) else ContextKind.GRAPH
    kind = ContextKind.XLA if jit else plain
    how = f"{how} ({asked})" if asked is not None else how
    one_shape = signature and given is not None and fixed_shapes(given) is True
    open = tuple(_left_open(given, Location(frame.unit, arguments.keyword_nodes.get("input_signature", node))))
    return Compilation(kind, autograph, f"{shown}, compiled by {how}", jit, signature, one_shape, open)


def _left_open(signature: Value | None, location: Location) -> Iterator[Origin | None]:
    """What leaves dimensions of the parameters open, of each that a signature declares."""
    match signature:
        case Sequence(items=tuple(specs)):
            for spec in specs:
                match spec:
                    case ApiObject("tf.TensorSpec", payload=Sequence(items=tuple(sizes))):
                        places = [at for at, size in enumerate(sizes) if size == NONE]
                    case ApiObject("tf.TensorSpec", payload=Static(constant=list() | tuple() as numbers)):
                        places, sizes = [at for at, size in enumerate(numbers) if size is None], tuple(numbers)
                    case _:
                        places, sizes = [], ()
                axes = frozenset(axis for at in places for axis in (at, at - len(sizes)))
                yield Origin(location, "this signature leaves it open", axes=axes) if axes else None


def _takes_text(signature: Value | None) -> bool:
    """Whether one of the parameters is declared as text."""
    match signature:
        case ApiObject("tf.TensorSpec" | "tf.RaggedTensorSpec", options=options):
            return ("dtype", Static("string")) in options
        case Sequence(items=tuple(items)) | OneOf(items):
            return any(map(_takes_text, items))
        case Sequence(element=element):
            return _takes_text(element)
        case Dict(entries):
            return any(map(_takes_text, entries.values()))
        case _:
            return False


# Settings that say how shapes are generalised, and nothing of what is compiled.
_RETRACING: Final = frozenset(("experimental_relax_shapes", "reduce_retracing"))


def _function(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    function = arguments.get(0, "func")
    interpreter.show(frame, Shows.FUNCTIONS, node, "`tf.function`")
    if function is None:
        report_compilation(interpreter, frame, arguments, node, later=True)
        # What was said of these settings here holds wherever it is called.
        settings = {name: value for name, value in arguments.keywords.items() if name not in _RETRACING}
        return ApiObject("functools.partial", payload=Sequence("tuple", (Api("tf.function"), Dict(settings))))
    report_compilation(interpreter, frame, arguments, node)
    interpreter.show(frame, Shows.GRAPHS, node, "`tf.function`")
    for name in ("jit_compile", "experimental_compile"):
        show_setting(interpreter, frame, name, arguments.keywords.get(name), node)
    return compiled(interpreter, frame, function, arguments, node)


def compiled(
    interpreter: Interpreter, frame: Frame, function: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value:
    """A function wrapped by `tf.function`, registered as entered from outside."""
    match function:
        case FunctionValue():
            made = replace(function, compiled=compilation(frame, arguments, node, f"`{function.function.qualname}`"))
            interpreter.enter(made, made.compiled, Arguments(unknown=True), "compiled")
            return made
        case Instance(cls) if (method := cls.find("call") or cls.find("__call__")) is not None:
            made = FunctionValue(method, method.owner.scope if method.owner else None, function)
            made = replace(made, compiled=compilation(frame, arguments, node, f"`{method.qualname}`"))
            interpreter.enter(made, made.compiled, Arguments(unknown=True), "compiled")
    how = compilation(frame, arguments, node, f"`{frame.unit.code(node)}`")
    if not how.jit:
        return ApiObject(WRAPPED, payload=function) if _may_be_model(function) else function
    # What it is stays as it is; called through this, it is compiled.
    facts = Wrapped(how.entry, how.signature, Location(frame.unit, node), how.one_shape)
    return ApiObject(WRAPPED, payload=function, facts=facts)


def _may_be_model(value: Value) -> bool:
    """Whether what `tf.function` is passed is a model of Keras's, or not known."""
    is_model = isinstance(value, ApiObject) and value.method is None and kind_of(value.api) == "model"
    return is_model or type(value) is Unknown


def _loaded(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """What was saved, of which the functions are graphs."""
    return ApiObject(_LOADED, payload=UNKNOWN, made=Creation(Location(frame.unit, node)))


def _call_loaded(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """The call of what was saved, or of one of its signatures, of which nobody sees which shapes these leave open."""
    if isinstance(owner, ApiObject) and owner.made is not None:
        context = Context(ContextKind.GRAPH, True, f"`{frame.unit.code(node)}`, a graph that was saved")
        report_feed(
            interpreter, frame, context, passed_values(arguments, node), node, owner.made.location, certain=False
        )
    return _call_wrapped(interpreter, frame, owner, arguments, node)


def _xla_compile(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    function, inputs = arguments.get(0, "computation"), arguments.get(1, "inputs")
    if not isinstance(function, FunctionValue):
        return None
    given = list(inputs.items) if isinstance(inputs, Sequence) and inputs.items is not None else []
    how = Compilation(
        ContextKind.XLA, False, f"`{function.function.qualname}`, compiled by `tf.xla.experimental.compile`"
    )
    return interpreter.invoke(frame, replace(function, compiled=how), Arguments(given, unknown=True), node)


def _unconverted(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    function = arguments.get(0, "func")
    if not isinstance(function, FunctionValue):
        return function or Api("tf.autograph.experimental.do_not_convert")
    entry = f"`{function.function.qualname}`, marked `do_not_convert`"
    return replace(function, compiled=Compilation(ContextKind.OPEN, False, entry))


def _converted(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.autograph.to_graph(f)`: it is converted, whoever calls it."""
    function = arguments.get(0, "entity") or UNKNOWN
    if not isinstance(function, FunctionValue) or function.compiled is not None:
        return function
    return function.compiled_by(Compilation(ContextKind.OPEN, True, f"`{function.function.qualname}`"))


def _custom_gradient(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    function = arguments.get(0, "f")
    if not isinstance(function, FunctionValue) or function.compiled is not None:
        return function or Api("tf.custom_gradient")
    entry = f"`{function.function.qualname}`, the forward function of a custom gradient"
    converted = is_made_by_converted(function)  # TensorFlow calls it
    return replace(function, compiled=Compilation(ContextKind.OPEN, converted, entry, gradient=True))


def _call_wrapped(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """The call of what `tf.function(jit_compile=True)` made of a model or of something that nobody knows."""
    if not isinstance(owner, ApiObject):
        return None
    if isinstance(owner.facts, Wrapped):
        report_compiled_call(interpreter, frame, owner.facts, arguments, node, owner.facts.location)
    result = interpreter.call(frame, owner.payload or UNKNOWN, arguments, node)
    for reader in ("", UNKNOWN_MODEL):
        frame.summary.done.pop(Done(Act.MODEL, Location(frame.unit, node), reader), None)
    return result


def _environment(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`os.environ.setdefault(..)`."""
    variable, value = arguments.get(0, "key"), arguments.get(1, "default")
    if sets_clustering(variable, value):
        interpreter.show(frame, Shows.CLUSTERS, node, "`TF_XLA_FLAGS`")
    elif variable == BACKEND_VARIABLE:
        interpreter.show_backend(frame, value or UNKNOWN, node, read_at_import=True)
    return UNKNOWN


def _asks_for_trace(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression, *, wants_trace: bool
) -> Value:
    """`tf.executing_eagerly()`, `tf.inside_function()`."""
    if interpreter.project.files.jax and frame.context.keras is not None:
        return TRACES if wants_trace else RUNS_EAGERLY
    return Static((frame.context.kind is not ContextKind.HOST) is wants_trace)


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "os.environ.setdefault": _environment,
    "os.putenv": _environment,
    "tf.function": _function,
    "tf.saved_model.load": _loaded,
    "tensorflow_hub.load": _loaded,
    "tf.xla.experimental.compile": _xla_compile,
    "tf.autograph.experimental.do_not_convert": _unconverted,
    "tf.autograph.to_graph": _converted,
    "tf.custom_gradient": _custom_gradient,
    "tf.executing_eagerly": partial(_asks_for_trace, wants_trace=False),
    "tf.inside_function": partial(_asks_for_trace, wants_trace=True),
}
METHODS: Final[dict[str, MethodModel]] = {
    f"{WRAPPED}.__call__": _call_wrapped,
    f"{_LOADED}.__call__": _call_loaded,
}
