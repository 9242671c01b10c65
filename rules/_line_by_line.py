"""What keeps TensorFlow or Keras from compiling anything: a switch, the setting of a model, an eager call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from xlalint.analysis.domain.values import ApiObject, Compiled, FunctionValue, Instance, Static, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.setup_events import RunEagerly, SetupCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.strategies import is_tpu, runs_eagerly, told_eagerly
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Draft, DraftNote, Effect, Severity, Told
from xlalint.syntax import nodes as cst

from ._arguments import without_argument
from ._strategies import in_block_of, is_of_gpus, made_note, method_of, model_strategy, places_of, strategy_in


def _uncompiled(step: SetupCall) -> Draft:
    """Keras runs the steps of a model line by line, which no strategy is seen to keep from that."""
    asks = step.arguments.get("jit_compile") == Static(True)
    what = "`run_eagerly=True` has Keras run this model line by line, so that XLA compiles nothing"
    return Draft(
        f"{what}, `jit_compile=True` or not" if asks else what,
        Effect.NAMED if asks else Effect.TPU,
        f"remove `run_eagerly` from `{brief(step.node.func)}(..)`",
        location=step.location,
        at_most=Severity.WARNING,
        told=Told.ALWAYS if asks else Told.FOR_TPU_ALONE,
    )


def uncompiled_later(event: RunEagerly, how: Compiled) -> Draft:
    """The same, said of a model that is compiled already."""
    code = brief(event.location.node)
    return Draft(
        f"`{code}` has Keras run this model line by line, so that XLA compiles nothing",
        Effect.NAMED if how.jit else Effect.TPU,
        f"remove `{code}`",
        notes=(DraftNote(how.location, "it is compiled here"),),
        at_most=Severity.WARNING,
        told=Told.ALWAYS if how.jit else Told.FOR_TPU_ALONE,
    )


def switched(steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """What stays switched to eager execution: by the last call that says so."""
    run = (step for step in steps if step.context.kind is ContextKind.HOST)
    switches = [step for step in run if told_eagerly(step.api, step.arguments) is not None]
    if not switches or not runs_eagerly(switches[-1].api, switches[-1].arguments) or _may_not_run(switches[-1]):
        return
    last = switches[-1]
    asks = next((step for step in steps if step.arguments.get("jit_compile") == Static(True)), None)
    what = f"`{brief(last.node)}` has every `tf.function` run line by line, so that XLA compiles nothing"
    yield Draft(
        what if asks is None else f"{what}, `jit_compile=True` or not",
        Effect.TPU if asks is None else Effect.NAMED,
        "remove it, or call it only to debug",
        location=last.location,
        notes=() if asks is None else (DraftNote(asks.location, "this asks for XLA"),),
        at_most=Severity.WARNING,
        told=Told.FOR_TPU if asks is None else Told.ALWAYS,
    )


def _may_not_run(step: SetupCall) -> bool:
    """Whether a condition of its function decides if a call runs, other than that the file is run by itself."""
    for node in step.location.unit.around(step.node):
        match node:
            case cst.FunctionDef():
                return False
            case cst.If(test=cst.Comparison(left=cst.Name("__name__"))):
                continue
            case cst.If() | cst.IfExp() | cst.Match() | cst.Try():
                return True
    return False


def builds_graph(step: SetupCall, sessions: Sequence[SetupCall]) -> bool:
    """Whether a call builds a graph that one of these sessions runs: a session's own block does, and a program of
    TensorFlow 1 does in the function that makes the session, and in what that calls. Keras takes `run_eagerly=True`
    nowhere else than in eager mode."""
    if method_of(step) == "compile":
        return in_block_of(step, sessions)
    return any(_same_function(session.location, place) for session in sessions for place in places_of(step))


def _same_function(one: Location, other: Location) -> bool:
    same_file = one.unit is other.unit
    return same_file and one.unit.function_around(one.node) is other.unit.function_around(other.node)


def eager(step: SetupCall) -> Iterator[Draft]:
    """A call that has a model, or a function that a strategy runs, run line by line."""
    match step:
        case SetupCall(arguments={"run_eagerly": Static(True)}) if method_of(step) == "compile":
            strategy = model_strategy(step) or strategy_in(step.context.scope)
            if strategy is None:
                yield _uncompiled(step)
            elif is_tpu(strategy):
                yield Draft(
                    "`run_eagerly=True` on a model under a TPU strategy: a TPU runs only compiled programs",
                    Effect.TPU,
                    f"remove `run_eagerly` from `{brief(step.node.func)}(..)`",
                    location=step.location,
                    notes=made_note(strategy, "the strategy is created here"),
                    rewrite=partial(without_argument, step, "run_eagerly", ""),
                )
        case SetupCall(owner=ApiObject() as strategy, arguments={"fn": step_of_it}) if _is_plain(step_of_it):
            eager = step.context.kind is ContextKind.HOST and not step.context.pipeline
            if (is_tpu(strategy) or is_of_gpus(strategy)) and eager:
                runs = "a TPU" if is_tpu(strategy) else "the `TPUStrategy` that a TPU needs in its place"
                what = "function" if isinstance(step_of_it, FunctionValue) else "model"
                yield Draft(
                    f"`{brief(step.node)}` runs a plain {what} eagerly: {runs} runs only compiled programs",
                    Effect.TPU,
                    "call it in a function with `@tf.function`",
                    location=step.location,
                    notes=made_note(strategy, "the strategy is created here"),
                    told=Told.ALWAYS if is_tpu(strategy) else Told.FOR_TPU_ALONE,
                )


def _is_plain(step: Value) -> bool:
    """Whether what a strategy runs is certainly no `tf.function`: a function that none is made of, or Keras's model,
    whose `__call__` is none."""
    match step:
        case FunctionValue(compiled=compiled):
            return compiled is None
        case ApiObject(api=api, method=None):
            return kind_of(api) in ("layer", "model")
        case Instance(cls=cls):
            return any(map(cls.is_keras, ("layer", "model"))) and cls.find("__call__") is None
        case _:
            return False
