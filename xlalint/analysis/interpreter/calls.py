"""What calls do: of the project's functions and classes, of library functions, of objects and methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import FEW, as_list, is_table, join_all
from ..domain.kinds import as_tensor
from ..domain.operators import COMPARED, arithmetic_tensor
from ..domain.values import (
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    ClassValue,
    Creation,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Member,
    Module,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    TensorMethod,
    Unknown,
    Value,
)
from ..files.unit import Location
from ..library import api, raw_ops
from ..library.call_kinds import (
    EAGER_CALLS,
    HOST_LIBRARIES,
    OF_STRUCTURES,
    READERS,
    SHAPE_ONLY,
    TAKE_TENSORS,
    TAKES_BATCHES,
    WEIGHT_MAKERS,
    measures,
)
from ..library.datasets import ROWS_OF_STEPS, is_dataset
from ..library.host_shapes import shaped
from ..library.host_sizes import row_parameters, sized
from ..library.keras_classes import backends_of, runs_on_host, takes_others
from ..library.refusing_layers import after_own_layer, behind_weights
from ..library.strategies import (
    OF_OTHERS,
    RUN_V2,
    asks_for_complex128,
    is_of_devices,
    is_traced_back,
    passes_strategy,
    sets_up,
    strictest,
    with_creation,
)
from ..library.text import OF_UNKNOWN, call_text
from ..library.tokenizers import MODEL
from ..program.parameter_uses import takes_text
from ..program.python_library import may_be_written
from ..program.signs import Shows
from ..record import Record, replace
from .asked_backends import as_keras, as_taken, as_traced, made_by_tensorflow, report_tensorflow
from .contexts import HOST, NOT_TRACED, PIPELINE, Context, ContextKind, Tracing
from .counting import counted_arguments
from .dimensions import report_bounded
from .eager_models import report_eager_object, report_unknown_model
from .eager_steps import as_differentiated, report_in_step
from .events import HostRead
from .feeding import passed_values, report_foreign_tensors
from .found_gpus import report_number
from .frames import Arguments, Compilation, Entry, Frame, note_size
from .host_reads import MAKE_CONSTANTS, note_read, report_constant, report_elsewhere, report_filled_in, report_host_read
from .interface import FunctionModel, Interpreter, Models, method_value
from .losses import report_own_loss
from .numeric_arguments import refute_numbers
from .program_signs import show_flags, show_signs
from .receivers import compiled_method
from .replicas import report_parted_arguments
from .several_callees import fits, fitting, perhaps
from .traced_builds import report_kept_by_build

_KERAS_CALLED: Final = ("model", "layer", "metric", "loss", "optimizer", "schedule", "regularizer", "constraint")


class Calls(Interpreter):
    """What calls do."""

    def call(self, frame: Frame, callee: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
        """The value of calling `callee`."""
        match callee:
            case Api(name):
                return self._call_api(frame, name, arguments, node)
            case FunctionValue():
                return self.invoke(frame, callee, arguments, node)
            case ClassValue(cls):
                return self.instantiate(frame, cls, arguments, node)
            case Instance() if not fits(callee, arguments):  # it raises
                return self._call_unknown(frame, UNKNOWN, arguments, node)
            case Instance():
                return self._call_instance(frame, callee, arguments, node)
            case Static(Member(cls)) if (own := cls.find("__call__")) is not None:
                return self.invoke(frame, method_value(own, callee), arguments, node)
            case TensorMethod(_, name, (home, method)) if getattr(node, "func", None) is not method:
                return self._call_method(home, self.evaluate(home, method.value), name, arguments, method)
            case TensorMethod(owner, name):
                return self._call_method(frame, owner, name, arguments, node)
            case ApiObject(method=None):
                return self._call_object(frame, callee, arguments, node)
            case ApiObject(method=str() as method):
                return self._call_method(frame, callee.owner, method, arguments, node)
            case OneOf(alternatives) if (strict := strictest(alternatives)) is not None:
                return self.call(frame, strict, arguments, node)
            case OneOf(alternatives) if len(alternatives) > FEW and not is_table(alternatives):
                for option in alternatives:
                    self._enter_on_host(frame.context, option)
                return self._call_unknown(frame, UNKNOWN, arguments, node)
            case OneOf(alternatives) if not all(fit := fitting(alternatives, arguments)):
                kept = [option for option, fitted in zip(alternatives, fit, strict=True) if fitted]
                return self.call(frame, join_all(*kept) if kept else UNKNOWN, arguments, node)
            case OneOf(alternatives):
                if sum(isinstance(option, FunctionValue | Instance) for option in alternatives) < 2:
                    return join_all(*(self.call(frame, option, arguments, node) for option in alternatives))
                compiled = frame.context.kind is ContextKind.XLA
                given = ((option, perhaps(option, arguments, compiled)) for option in alternatives)
                return join_all(*(self.call(frame, option, own, node) for option, own in given))
            case _:
                return self._call_unknown(frame, callee, arguments, node)

    def _call_api(self, frame: Frame, name: str, arguments: Arguments, node: cst.BaseExpression) -> Value:
        if (function := raw_ops.function_of(name)) is not None:
            name, arguments = function[0], arguments.renamed(function[1])
        if name.startswith("jax."):
            name, arguments = as_keras(frame, name, arguments)
        traits = _traits(self.models, name)
        if traits.eager:
            frame.summary.host_only = True
        if traits.of_structures:
            for value in arguments.positional:
                self.confirm_structure(frame, value)
        result = traits.special(self, frame, as_taken(self, name, arguments), node) if traits.special else None
        if result is None and traits.written and (written := self.project.written(name)) is not None:
            if name in self.wanted_apis:
                self.report_call(frame, name, *arguments.by_name(traits.parameters), UNKNOWN, node)
            return self.call_written(frame, written, name, arguments, node)
        bound, nodes = arguments.by_name(traits.parameters)
        refute_numbers(self, frame, bound)
        for parameter in traits.size_parameters & bound.keys():
            note_size(frame, bound[parameter])
        match bound.get("shape", bound.get("dims")):
            case Unknown(names):
                frame.shapes |= names
            case Sequence(kind, tuple(items)) if not frame.context.by_keras and any(map(_is_input, items)):
                sizes = (item.tensor if isinstance(item, Structure) and _is_input(item) else item for item in items)
                bound["shape" if "shape" in bound else "dims"] = Sequence(kind, tuple(sizes))
        as_traced(frame, bound)
        if frame.context.kind in NOT_TRACED and (counting := row_parameters(name)):
            bound = counted_arguments(frame, bound, nodes, counting)
        location = Location(frame.unit, node)
        if result is None:
            if traits.pipeline:
                self.run_in_pipeline(frame, arguments)
            elif traits.calls_back:
                self._pass_to_host(HOST if traits.eager else frame.context, arguments)
            if traits.reads:
                report_host_read(self, frame, name, bound, node)
            elif traits.takes_tensors:
                note_read(self, frame, bound.values(), node, "array")
            elif name in MAKE_CONSTANTS and "value" in bound:
                report_constant(self, frame, name, bound["value"], node)
            for parameter in traits.tensor_parameters & bound.keys():
                self.confirm_tensor(frame, bound[parameter])
                if isinstance(bound[parameter], Structure):  # what an operation takes as one tensor, is one
                    bound[parameter] = arithmetic_tensor(bound[parameter]) or bound[parameter]
            called = api.call(name, bound, location)
            if isinstance(called, Tensor) and called.traced and frame.context.kind is ContextKind.HOST:
                called = called.with_(traced=False)  # a number that JAX has, as in `build`
            if type(called) is Tensor and called.dependence is Dependence.SHAPE:  # a size, where they are no tensors
                for value in bound.values():
                    self.doubt_tensor(frame, value)
            traced, looped = frame.context.kind not in NOT_TRACED, frame.looped or frame.python_loop > 0
            result = shaped(name, bound, called, location, frame.context.pipeline, traced=traced, looped=looped)
            result = result if traced else sized(name, bound, result, location, looped=looped)
        if self.strategies or is_traced_back(result):
            result = with_creation(name, bound, nodes, result, Creation(location, frame.context.scope))
        self.report_call(frame, name, bound, nodes, result, node)
        if isinstance(result, Unknown):
            self.report_unseen(frame, name, arguments, node)
            result = after_own_layer(bound.values(), result)
        return made_by_tensorflow(name, result) if self.project.files.jax else result

    def call_written(
        self, frame: Frame, written: Value, name: str, arguments: Arguments, node: cst.BaseExpression
    ) -> Value:
        """The value of calling what Python's library has, whose code AutoGraph does not convert."""
        if isinstance(written, FunctionValue):
            written = written.compiled_by(Compilation(ContextKind.OPEN, False, f"`{name}`"))
        return self.call(frame, written, arguments, node)

    def report_call(
        self,
        frame: Frame,
        name: str,
        bound: Mapping[str, Value],
        nodes: Mapping[str, cst.BaseExpression],
        result: Value,
        node: cst.BaseExpression,
        owner: Value | None = None,
    ) -> None:
        """Say that a library function is called, and that it is passed a bounded dynamic shape."""
        compiled = frame.context.kind is ContextKind.XLA
        show_signs(self, frame, name, bound, node)
        if name == "tf.GradientTape.gradient":
            frame.summary.trains = True
            as_differentiated(frame, bound, nodes)
            if self.project.files.jax:
                self.show(frame, Shows.TAPE, node, f"`{name}`")
        frame.summary.evaluates |= measures(name)
        told = self.strategies and (passes_strategy(bound) or (compiled and asks_for_complex128(bound, result)))
        if told or sets_up(name) or is_of_devices(name, bound, result, compiled=compiled or frame.context.in_replica):
            self.report_setup(frame, name, owner, bound, nodes, result, node)
        report_bounded(self, frame, bound, node, name)
        report_number(self, frame, name, bound, nodes, node)
        if self.project.files.jax and compiled and name.startswith("tf."):
            report_tensorflow(self, frame, name, bound, nodes, node)
        if isinstance(node, cst.Call) and (name in self.wanted_apis or name.startswith(raw_ops.PREFIX)):
            # What a partial or an unpacked dict passes has no syntax of its own: the call stands for it.
            nodes = {parameter: nodes.get(parameter, node) for parameter in bound}
            passed = {"arguments": bound, "argument_nodes": nodes}
            report_in_step(self, frame, node, api=name, result=result, node=node, owner=owner, **passed)

    def _call_object(self, frame: Frame, owner: ApiObject, arguments: Arguments, node: cst.BaseExpression) -> Value:
        special = self.models.methods.get(f"{owner.api}.__call__")
        if special is not None and (found := special(self, frame, owner, arguments, node)) is not None:
            return found
        if "training" in arguments.keywords:
            self.refute_tensor(frame, arguments.keywords["training"])
        show_flags(self, frame, owner, arguments, node)
        for value in arguments.positional[:1]:
            if api.kind_of(owner.api) in ("layer", "model", "loss") and not isinstance(value, Structure):
                self.confirm_tensor(frame, value)
        self._said_foreign(frame, owner, arguments, node)
        report_eager_object(self, frame, owner, arguments, node)
        bound, nodes = arguments.by_name()
        result = api.call_object(owner, bound, Location(frame.unit, node))
        if frame.context.kind in NOT_TRACED and self.keras_version(frame.module) == 2:
            result = behind_weights(owner.api, bound.values(), result)
        self.report_call(frame, f"{owner.api}.__call__", dict(owner.options) | bound, nodes, result, node, owner)
        return result

    def _call_method(
        self, frame: Frame, owner: Value, name: str, arguments: Arguments, node: cst.BaseExpression
    ) -> Value:
        if isinstance(owner, OneOf):
            return join_all(*(self._call_method(frame, option, name, arguments, node) for option in owner.options))
        if isinstance(owner, Static) and (isinstance(owner.constant, str) or name in OF_UNKNOWN):
            given = (*arguments.positional, *arguments.keywords.values())
            report_filled_in(self, frame, owner, name, arguments, node)
            known = name == "format" or all(isinstance(it, Static) for it in given)
            return call_text(owner.constant, name, given) if known else UNKNOWN
        if name in OF_OTHERS:
            self.report_setup(frame, f".{name}", owner, *arguments.by_name(), UNKNOWN, node)
        tensor = as_tensor(owner, Dependence.STATIC)
        if name in READERS and (tensor is not None or isinstance(owner, Structure)):
            if frame.context.kind is ContextKind.OPEN:
                frame.summary.host_only = True  # only eager tensors have it: nobody compiles this function
            if tensor is not None:
                self.emit(frame, HostRead, node, value=owner, reader=f".{name}")
            elif isinstance(owner, Structure) and name == "numpy":  # of all that may be, tensors alone have it
                self.emit(frame, HostRead, node, value=owner.tensor, reader=f".{name}")
        owner = as_list(owner)
        if isinstance(owner, Sequence | Dict) and (handler := self.models.containers.get(name)) is not None:
            return handler(self, frame, owner, arguments, node)
        for key in (f"{owner.api}.{name}" if isinstance(owner, ApiObject) else "", f".{name}"):
            if (special := self.models.methods.get(key)) is not None:
                found = special(self, frame, owner, arguments, node)
                if found is not None:
                    return found
        if tensor is not None and name in COMPARED and len(arguments.positional) == 1:
            return self.compare_values(frame, COMPARED[name], owner, arguments.positional[0])
        bound, nodes = arguments.by_name(api.method_parameters(owner, name))
        if isinstance(owner, ApiObject) and name in ROWS_OF_STEPS and is_dataset(owner):
            bound = counted_arguments(frame, bound, nodes, ROWS_OF_STEPS[name])
        result = api.call_method(owner, name, bound, Location(frame.unit, node))
        if name == "numpy" and isinstance(owner, Tensor | Structure) and frame.context.kind in NOT_TRACED:
            return Array(api.dtype_of(owner), varies=owner.varies)  # a scalar, too: `tf.function` takes it for a tensor
        if isinstance(owner, ApiObject):
            if name in TAKES_BATCHES:
                self._said_foreign(frame, owner, arguments, node)
            if owner.api.startswith(EAGER_CALLS) or name in WEIGHT_MAKERS:
                frame.summary.host_only = True
            self.report_call(frame, f"{owner.api}.{name}", bound, nodes, result, node, owner)
        return result

    def _said_foreign(self, frame: Frame, owner: ApiObject, arguments: Arguments, node: cst.BaseExpression) -> None:
        """Hugging Face's models for TensorFlow refuse the tensors of PyTorch, which Keras's own convert (measured)."""
        if owner.api == MODEL:
            report_foreign_tensors(
                self, frame, (value for value, _ in passed_values(arguments, node)), node, model=True
            )

    def _call_instance(self, frame: Frame, owner: Instance, arguments: Arguments, node: cst.BaseExpression) -> Value:
        """Calling an object: Keras calls `call` of its own, Python calls `__call__`."""
        if frame.context.in_replica and owner.cls.is_keras("model"):
            self.report_setup(frame, "keras.Model.__call__", owner, *arguments.by_name(), UNKNOWN, node)
        report_eager_object(self, frame, owner, arguments, node)
        if (own := owner.cls.find("__call__")) is not None:
            return self.invoke(frame, method_value(own, owner), arguments, node)
        show_flags(self, frame, owner, arguments, node)
        for kind in _KERAS_CALLED:
            if owner.cls.is_keras(kind):
                if (method := owner.cls.find("call")) is not None:
                    if kind == "loss":
                        report_own_loss(self, frame, owner, arguments, node)
                    report_kept_by_build(self, frame, owner, node)
                    passed = (*arguments.positional, *arguments.keywords.values())
                    report_parted_arguments(self, frame, f"keras.{kind}", passed, node)
                    value = self.decorated(method_value(method, owner))
                    own = value.compiled
                    if not (isinstance(own, Compilation) and own.kind is not ContextKind.OPEN):
                        run = self.by_keras(owner, frame, passed)
                        kept = isinstance(own, Compilation) and not own.autograph  # Keras runs it as it is marked
                        if isinstance(own, Compilation) and kept:
                            run = replace(run, autograph=False, entry=own.entry, keras=own.keras)
                        value = value.compiled_by(run)
                        if self.keras_version(owner.cls.module) == 2:
                            arguments = _first_converted(arguments)
                        elif frame.context.kind not in NOT_TRACED:
                            arguments = arguments.with_tensors()
                    result = after_own_layer(passed, self.invoke(frame, value, arguments, node))
                    is_symbolic = frame.context.kind in NOT_TRACED and self.keras_version(frame.module) == 2
                    return behind_weights(owner.cls.name, passed, result) if is_symbolic else result
                if arguments.positional and isinstance(given := arguments.positional[0], Unknown):
                    self.confirm_tensor(frame, given)
                base = next(base for base in owner.cls.external_bases if api.is_keras(base, kind))
                if base in ("keras.Model", "keras.layers.Layer"):
                    return Structure()  # whatever a class that is not seen makes of its inputs
                return self._call_object(frame, ApiObject(base), arguments, node)
        return self._call_unknown(frame, owner, arguments, node)

    def by_keras(self, owner: Instance, frame: Frame, given: Iterable[Value]) -> Compilation:
        """How Keras runs `call`: in the caller's context, converted by AutoGraph only in Keras 2."""
        autograph, keras = self.keras_runs(owner.cls.module)
        kind, by_keras = frame.context.kind, frame.context.by_keras
        around = frame.bound.attributes if isinstance(frame.bound, Instance) else {}
        piped = frame.context.pipeline and self.keras_version(owner.cls.module) == 2  # Keras 3 converts nothing there
        on_host = kind is ContextKind.HOST and (piped or runs_on_host(owner.attributes, given, around))
        if kind is ContextKind.OPEN or (kind is ContextKind.HOST and not on_host):
            kind, by_keras = ContextKind.XLA, True
        entry, backends = f"`{owner.cls.name}.call`", backends_of(owner.attributes)
        call = owner.cls.find("call")
        mostly_not = frame.module.is_test or takes_others(owner.attributes) or (call and takes_text(call.node))
        aside = frame.context.kind is ContextKind.HOST and bool(mostly_not)
        direct = by_keras and (frame.context.kind in NOT_TRACED or frame.context.direct)
        run = Compilation(kind, autograph, entry, by_keras=by_keras, keras=keras, backends=backends, aside=aside)
        return replace(run, direct=True) if direct else run

    def _pass_to_host(self, context: Context, arguments: Arguments) -> None:
        """Functions that host code hands to another library (`app.run(main)`) are called back on the host."""
        if context.kind is ContextKind.HOST:
            for value in (*arguments.positional, *arguments.keywords.values()):
                self._enter_on_host(context, value)

    def _enter_on_host(self, context: Context, value: Value) -> None:
        """Functions that host code has called with what is not known."""
        if context.kind is ContextKind.HOST:
            for function in self.functions_in(value):
                if function.compiled is None:
                    self.enter(function, context, Arguments(unknown=True), "callback")

    def _call_unknown(self, frame: Frame, callee: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
        """Something outside the project: what it does with functions that it is passed is not known."""
        self.refute_tensor(frame, callee)
        report_elsewhere(self, frame, node)
        report_unknown_model(self, frame, callee, arguments, node)
        if self.strategies and passes_strategy((bound := arguments.by_name())[0]):
            self.report_setup(frame, "", None, *bound, UNKNOWN, node)
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            name = node.func.attr.value
            if name in OF_OTHERS or name == RUN_V2:
                self.report_setup(frame, f".{name}", UNKNOWN, *arguments.by_name(), UNKNOWN, node)
            special = self.models.methods.get(f".{name}")
            if special is not None:
                found = special(self, frame, UNKNOWN, arguments, node)
                if found is not None:
                    return found
            if frame.context.kind in NOT_TRACED and (method := compiled_method(self, frame, node.func)) is not None:
                return self.invoke(frame, method, arguments, node)
        self.report_unseen(frame, None, arguments, node)
        self._pass_to_host(frame.context, arguments)
        given = (*arguments.positional, *arguments.keywords.values())
        if isinstance(callee, Static) and all(isinstance(value, Static) for value in given):
            return STATIC
        return after_own_layer(given, UNKNOWN)

    def run_in_pipeline(self, frame: Frame, arguments: Arguments, context: Context = PIPELINE) -> None:
        """The functions of an input pipeline run on the host, each traced by itself; XLA never sees them."""
        for value in (*arguments.positional, *arguments.keywords.values()):
            for function in self.functions_in(value):
                self.enter(function, context, Arguments(rest=Structure(), unknown=True), "pipeline")
                self.piped[function.function.identity] = function.function
                frame.summary.mapped.add(function.function.identity)

    def enter(self, value: FunctionValue, compilation: Compilation | Context, arguments: Arguments, tag: str) -> None:
        """Register a function that is called from outside (a compiled function, a loss, a callback), once."""
        context = compilation if isinstance(compilation, Context) else compilation.context
        key = (value.function, id(value.scope), id(value.bound), context.kind, context.autograph, tag)
        if key not in self._entered:
            self._entered.add(key)
            self.entries.append(Entry(value, context, arguments))

    def keras_version(self, module: Module) -> int:
        """2 where the settings, the project's requirements or an import of `tf_keras` say so, else 3."""
        return self.said_keras(module) or (2 if module.imports_keras_2 else 3)

    def said_keras(self, module: Module) -> int | None:
        return self.options.keras_near.get(module.path.parent, self.options.keras)

    def keras_runs(self, module: Module) -> tuple[bool, Tracing]:
        """Whether AutoGraph converts what Keras runs, and which Keras that is."""
        if self.keras_version(module) == 2:
            return True, Tracing.KERAS_2
        return False, Tracing.EITHER if self.said_keras(module) is None else Tracing.KERAS_3

    @classmethod
    def functions_in(cls, value: Value) -> tuple[FunctionValue, ...]:
        """The functions of the project that calling `value` may run."""
        match value:
            case FunctionValue():
                return (value,)
            case ApiObject(api="toolz.curry", payload=FunctionValue() as function):
                return (function,)
            case Instance(made) if (method := made.find("__call__")) is not None:
                return (method_value(method, value),)
            case OneOf(alternatives):
                return tuple(found for option in alternatives for found in cls.functions_in(option))
            case _:
                return ()


def _first_converted(arguments: Arguments) -> Arguments:
    """Keras 2 makes tensors of the arrays in the first argument only; the others stay what Python knows."""

    def kept(value: Value) -> Value:
        return STATIC if isinstance(value, Array) else value

    later = (*arguments.positional[1:], *arguments.keywords.values())
    if not any(isinstance(value, Array) for value in later):
        return arguments  # most calls
    positional = [*arguments.positional[:1], *map(kept, arguments.positional[1:])]
    return replace(arguments, positional=positional, keywords={k: kept(v) for k, v in arguments.keywords.items()})


def _is_input(value: Value) -> bool:
    """Whether a value is a part of what a compiled function is passed; what a layer is passed may be a number."""
    return isinstance(value, Structure) and not value.passed


class _Traits(Record):
    """What the name alone says of a call of a library function. `eager`: only eager code makes it; `of_structures`: it
    is made for a list or a nest of tensors; `pipeline`: for `tf.data`; `calls_back`: it may call what it is passed;
    `reads`: what it is passed is read on the host; `takes_tensors`: also by this one, which is seldom compiled."""

    eager: bool
    of_structures: bool
    pipeline: bool
    calls_back: bool
    reads: bool
    takes_tensors: bool
    special: FunctionModel | None
    written: bool
    parameters: tuple[str, ...] | None
    tensor_parameters: frozenset[str]
    size_parameters: frozenset[str]


@cache
def _traits(models: Models, name: str) -> _Traits:
    eager = name.startswith(EAGER_CALLS)
    return _Traits(
        eager,
        name.startswith(OF_STRUCTURES),
        name.startswith("tf.data."),
        eager or not api.known(name),
        name.startswith(HOST_LIBRARIES) and name not in SHAPE_ONLY,
        name.startswith(TAKE_TENSORS),
        models.functions.get(name),
        may_be_written(name),
        api.parameters(name),
        api.tensor_parameters(name),
        api.size_parameters(name),
    )
