"""What speaks for a program: watchers that hear what rules hear, and say what is as it should be on a TPU.

A watcher is no rule: it has no page, and what it says is no finding. It speaks of what is seen to be right; that
nothing wrong was found is not enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..analysis.domain.values import ApiObject, Array, Creation, FunctionValue, Pipeline, Static, Tensor, Value
from ..analysis.domain.varying_shapes import variations_of
from ..analysis.interpreter.contexts import ContextKind
from ..analysis.interpreter.events import UNSEEN, ApiCall, CompiledEntry, Event
from ..analysis.interpreter.setup_events import Program, SetupCall
from ..analysis.library.strategies import address_of, beginning, is_strategy, is_tpu, making_of
from ..fixes.quoted import brief
from ..linter.rule import Draft, Effect, Rule

UNSEEN_CALL: Final = "unseen-call"
OWN_LAYERS: Final = "a model of built-in Keras layers"
_RUNNING: Final = frozenset(("evaluate", "fit", "predict", "test_on_batch", "train_on_batch"))
_DISTRIBUTING: Final = frozenset(("experimental_distribute_dataset", "distribute_datasets_from_function"))
_IN_MEMORY: Final = frozenset(("tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensors"))
_INITIALISE: Final = "tf.tpu.experimental.initialize_tpu_system"
_FILES: Final = frozenset(("tf.data.FixedLengthRecordDataset", "tf.data.TFRecordDataset", "tf.data.TextLineDataset"))


class Watcher(Rule):
    """Says what speaks for one line of the checklist; `code` and `name` are that line's."""

    def said(self, message: str, step: SetupCall) -> Draft:
        """A piece of evidence at a call."""
        return Draft(message, Effect.NAMED, location=step.location)


class CompiledCode(Watcher):
    """Compiled code was found, so that the rules had something to judge."""

    code = name = "compiled-code"
    handles = (CompiledEntry, SetupCall)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case CompiledEntry(name=name):
                yield Draft(f"`{name}` and what it calls", Effect.NAMED)
            case SetupCall(owner=ApiObject(api="keras.Sequential" | "keras.Functional")) if _method(event) == "compile":
                yield self.said(OWN_LAYERS, event)


class Unseen(Watcher):
    """Compiled code calls what is not seen: then nothing speaks for the whole of it."""

    code = name = UNSEEN_CALL
    handles = (ApiCall,)
    apis = frozenset((UNSEEN,))

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(node=node):
                yield Draft(f"`{brief(node.func)}`", Effect.NAMED)


class CompiledOnce(Watcher):
    """XLA is asked to compile the code where there is no TPU."""

    code = name = "compiled-once"
    handles = (CompiledEntry, SetupCall)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case CompiledEntry(asked=True, name=name):
                yield Draft(f"`{name}` has `jit_compile=True`", Effect.NAMED)
            case SetupCall(arguments={"jit_compile": Static(True)}) if _method(event) == "compile":
                if not is_tpu(_strategy_of(event) or Static()):
                    yield self.said("`jit_compile=True` outside a TPU strategy", event)


class FewShapes(Watcher):
    """What XLA is fed is known to have one shape."""

    code = name = "recompilation"
    handles = (SetupCall,)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case SetupCall() if _method(event) in _RUNNING | _DISTRIBUTING:
                fed = next((event.arguments[name] for name in ("x", "dataset", "*0") if name in event.arguments), None)
                if fed is not None and _has_one_shape(fed):
                    yield self.said(f"`{_method(event)}` is fed batches of one shape", event)


class Readable(Watcher):
    """The data are in memory, or where a TPU can read them."""

    code = name = "data"
    handles = (Program,)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                local = any(address_of(step.result) == "local" for step in steps if is_strategy(step.result))
                for step in steps:
                    if message := _readable(step, local):
                        yield self.said(message, step)


class Initialised(Watcher):
    """The TPU is initialised before its strategy is made."""

    code = name = "initialisation"
    handles = (Program,)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                made = [step.order for step in steps if is_strategy(step.result) and is_tpu(step.result)]
                for step in steps:
                    if step.api == _INITIALISE and any(step.order < order for order in made):
                        yield self.said("the TPU is initialised before the strategy is created", step)


class InScope(Watcher):
    """A model is created in the scope of the TPU strategy."""

    code = name = "scope"
    handles = (Program,)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                for step in steps:
                    made = making_of(step.owner) if step.owner is not None else None
                    if _is_of_tpu(made) and made is not None and not is_strategy(step.owner or Static()):
                        yield Draft("created in the scope of the TPU strategy", Effect.NAMED, location=made.location)


class PlainCompile(Watcher):
    """A model of the TPU strategy is compiled without `jit_compile=True`."""

    code = name = "jit-compile"
    handles = (SetupCall,)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case SetupCall() if _method(event) == "compile" and is_tpu(_strategy_of(event) or Static()):
                if event.arguments.get("jit_compile", Static(False)) in (Static(False), Static(None), Static("auto")):
                    yield self.said("compiled without `jit_compile=True`", event)


class NotEager(Watcher):
    """What the TPU strategy runs is compiled."""

    code = name = "eager"
    handles = (SetupCall,)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case SetupCall(owner=ApiObject() as owner, arguments={"fn": FunctionValue() as step}) if is_tpu(owner):
                if step.compiled is not None or event.context.kind in (ContextKind.GRAPH, ContextKind.XLA):
                    yield self.said("the step is part of a `tf.function`", event)
            case SetupCall() if _method(event) == "compile" and is_tpu(_strategy_of(event) or Static()):
                if event.arguments.get("run_eagerly", Static(False)) in (Static(False), Static(None)):
                    yield self.said("compiled without `run_eagerly=True`", event)


def watchers() -> list[Rule]:
    """One of each."""
    return [made() for made in Watcher.__subclasses__()]


def _method(step: SetupCall) -> str:
    return step.api.rpartition(".")[2]


def _is_of_tpu(made: Creation | None) -> bool:
    return made is not None and made.scope is not None and is_tpu(made.scope.strategy)


def _strategy_of(step: SetupCall) -> Value | None:
    """The strategy in whose scope the owner was made, or the call stands."""
    made = making_of(step.owner) if step.owner is not None else None
    scope = made.scope if made is not None and made.scope is not None else step.context.scope
    return scope.strategy if scope is not None else None


def _has_one_shape(fed: Value) -> bool:
    """Whether data are known, and nothing about them varies but for a batch size, which other data may share."""
    match fed:
        case ApiObject(api="tf.data.Dataset", facts=Pipeline(batch=int())) | Array() | Tensor():
            return all(found.kind == "batch" for found in variations_of(fed))
        case _:
            return False


def _readable(step: SetupCall, local: bool) -> str | None:
    """What of a call speaks for data that a TPU can read. `local`: the TPU is on this machine."""
    if step.api in _IN_MEMORY:
        return "a dataset in memory"
    if step.api in _FILES:
        parameter = "filenames" if "filenames" in step.arguments else "*0"
        match beginning(step.arguments.get(parameter), step.argument_nodes.get(parameter)):
            case Static(str() as path) if path.startswith("gs://"):
                return "files in a bucket"
        return "files on the machine of the TPU" if local else None
    fed = step.arguments.get("x")
    return "arrays in memory" if _method(step) in _RUNNING and isinstance(fed, Array | Tensor) else None
