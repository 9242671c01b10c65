"""What is made outside of the scope of the strategy that uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from xlalint.analysis.domain.kinds import options
from xlalint.analysis.domain.values import ApiObject, Creation, Static, Value
from xlalint.analysis.domain.values import Sequence as Items
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import ShareVariable
from xlalint.analysis.interpreter.setup_events import HoldModels, SetupCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.optimizers import has_state
from xlalint.analysis.library.strategies import is_tpu, making_of
from xlalint.fixes.quoted import brief
from xlalint.fixes.scopes import in_scope
from xlalint.linter.rule import Draft, DraftNote, Effect, Severity, Told

from ._sides import are_opposite, sides
from ._strategies import RUNNING, is_of_gpus, is_the_same, made_near, method_of, model_strategy, name_of, strategy_in


def about_model(step: SetupCall, steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """A model from outside of the scope in which it is compiled or run."""
    method = method_of(step)
    if step.owner is None or kind_of(step.api.rpartition(".")[0]) != "model":
        return
    made = made_near(step)
    strategy = strategy_in(step.context.scope)
    if made is None or made.scope is not None or strategy is None or _is_also_inside(step, strategy, steps):
        return
    runs = _runs(made, steps)
    if made.complete:
        late = False
    elif method == "compile":  # its variables come with the first step, which has to stand in the scope as well
        late = bool(runs) and not any(other.context.scope is None for other in runs)
    else:
        late = True
    if not late:
        used = {"compile": "compiled in", "__call__": "called in a step of"}.get(method, "run in")
        where = "" if method == "__call__" else "the scope of "
        draft = _draft(made, strategy, f"this model is {used} {where}`{name_of(strategy)}`", step.location)
        seen = made.complete or bool(runs)  # else somebody may run it in the scope first
        yield _without_effect(draft if seen else replace(draft, at_most=Severity.WARNING), step, steps)


def _is_also_inside(step: SetupCall, strategy: ApiObject, steps: Sequence[SetupCall]) -> bool:
    """Whether the same call may get a model that is made in the scope: a condition decides where it is made, which is
    the one that decides whether there is a strategy."""
    same = (other for other in steps if other.location == step.location and other is not step)
    scopes = (strategy_in(made.scope) for other in same if (made := made_near(other)) is not None)
    return any(scope is not None and is_the_same(scope, strategy) for scope in scopes)


def _without_effect(draft: Draft, step: SetupCall, steps: Sequence[SetupCall]) -> Draft:
    """The draft, as a warning where the strategy in whose scope a model is compiled has nothing of it: model, optimizer
    and training are all outside, and Keras 3 trains on one device."""
    model, optimizer = made_near(step), making_of(step.arguments.get("optimizer", Static("rmsprop")))
    outside = all(made is not None and made.scope is None for made in (model, optimizer))
    runs = _runs(model, steps) if outside and step.keras == 3 and method_of(step) == "compile" else []
    if not runs or any(run.context.scope is not None for run in runs):
        return draft
    return replace(draft, effect=Effect.NAMED, at_most=Severity.WARNING, rewrite=None)


def _runs(model: Creation | None, steps: Sequence[SetupCall]) -> list[SetupCall]:
    """The calls that train or evaluate a model."""
    return [step for step in steps if method_of(step) in RUNNING and made_near(step) == model]


def about_parts(event: HoldModels) -> Iterator[Draft]:
    """Models from outside of the scope in which the model was created that holds them, or is compiled, and optimizers
    with which its own step trains."""
    strategy = strategy_in(event.made.scope if event.made is not None else None) or strategy_in(event.context.scope)
    if strategy is None:
        return
    for name, part in event.parts:
        made = making_of(part)
        if made is None or made.scope is not None:
            continue
        if kind_of(part.api) == "optimizer":
            if event.keras == 3 and has_state(part):
                message = f"this optimizer trains a model of `{name_of(strategy)}`"
                yield _by_version(_draft(made, strategy, message, event.location), strategy, event.keras_is_known)
        elif made.complete:
            message = f"this model becomes `{name}` of a model that `{name_of(strategy)}` trains"
            draft = _draft(made, strategy, message, event.location)
            yield replace(draft, at_most=Severity.WARNING)


def about_optimizer(step: SetupCall, steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """An optimizer from outside of the scope in which its model was made; Keras 2 takes one from no scope at all."""
    match method_of(step):
        case "compile":
            strategy = model_strategy(step) or strategy_in(step.context.scope)
            optimizer = step.arguments.get("optimizer", Static("rmsprop"))
        case "apply" | "apply_gradients" | "minimize" if step.context.in_replica:
            strategy = strategy_in(step.context.scope)
            optimizer = step.owner or step.result
        case _:
            return
    if strategy is None:
        return
    told = [_is_outside(each, strategy, step, steps) for each in options(optimizer) if has_state(each)]
    if None in told:  # a condition decides whether it is
        return
    for made, other in filter(None, told):
        message = (
            f"the optimizer that `compile` creates trains a model of `{name_of(strategy)}`"
            if made is None
            else f"this optimizer trains a model of `{name_of(strategy)}`"
        )
        draft = _draft(made or Creation(step.location), strategy, message, step.location)
        yield _without_effect(_by_version(draft, strategy, other or step.keras_is_known), step, steps)


def _is_outside(
    optimizer: Value, strategy: ApiObject, step: SetupCall, steps: Sequence[SetupCall]
) -> tuple[Creation | None, bool] | None:
    """Where an optimizer with variables is made, if that is not in the scope, and whether it is in another one."""
    made = making_of(optimizer)
    inside = strategy_in(made.scope) if made is not None else strategy_in(step.context.scope)
    named = isinstance(optimizer, Static) and step.context.scope is None
    other = inside is not None and made is not None and not is_the_same(inside, strategy)
    outside = step.keras == 3 and ((made is not None and made.scope is None) or named)
    if not (other or outside) or (made is not None and _goes_by_scope(made, strategy, step, steps)):
        return None
    return made, other


def _by_version(draft: Draft, strategy: ApiObject, sure: bool) -> Draft:
    """The draft about an optimizer; of Keras 3 alone, where it is not sure that this is what runs the program."""
    if sure:
        return draft
    at_most = Severity.WARNING if is_tpu(strategy) else draft.at_most
    message = f"{draft.message}: Keras 3 raises an error, Keras 2 takes it"
    return replace(draft, message=message, keras_3=True, at_most=at_most)


def _goes_by_scope(made: Creation, strategy: ApiObject, step: SetupCall, steps: Sequence[SetupCall]) -> bool:
    """Whether a condition decides at once on the scope and on where an optimizer is made: on its other side stands the
    one that the same call has in the scope."""
    here = sides(made.location)
    for other in steps:
        optimizer = other.owner or other.result
        inside = making_of(optimizer) if other.location == step.location and optimizer is not None else None
        held = strategy_in(inside.scope) if inside is not None else None
        if inside is None or held is None or not is_the_same(held, strategy):
            continue
        if are_opposite(here, sides(inside.location)):
            return True
    return False


def about_metrics(step: SetupCall) -> Iterator[Draft]:
    """Metric objects from outside of the scope, which Keras 2 refuses."""
    strategy = model_strategy(step) if method_of(step) == "compile" and step.keras == 2 else None
    if strategy is None:
        return
    for name in ("metrics", "weighted_metrics"):
        given = step.arguments.get(name)
        for metric in given.items or () if isinstance(given, Items) else ():
            made = making_of(metric)
            if made is not None and made.scope is None:
                yield _draft(made, strategy, f"this metric belongs to a model of `{name_of(strategy)}`", step.location)


def about_counters(step: SetupCall) -> Iterator[Draft]:
    """Metric objects from outside of the scope that count in a step on a TPU."""
    strategy = strategy_in(step.context.scope) if method_of(step) in ("__call__", "update_state") else None
    made = (
        making_of(step.owner) if step.owner is not None and kind_of(step.api.rpartition(".")[0]) == "metric" else None
    )
    if strategy is None or made is None or made.scope is not None:
        return
    sure = step.keras_is_known
    raised = "" if sure else ": on a TPU, Keras 2 raises an error, and Keras 3 keeps one count for all replicas"
    draft = _draft(made, strategy, f"this metric counts in a step of `{name_of(strategy)}`", step.location)
    draft = replace(draft, message=draft.message + raised)
    yield from _on_tpu(draft, strategy, draft.at_most if sure and step.keras == 2 else Severity.WARNING)


def about_variable(event: ShareVariable) -> Iterator[Draft]:
    """A variable or a `tf.Module` from outside of the scope, which all replicas share."""
    strategy = strategy_in(event.context.scope)
    if strategy is None:
        return
    what = "this variable is assigned to" if event.assigned else "the weights of this module are used"
    draft = _draft(event.made, strategy, f"{what} in a step of `{name_of(strategy)}`", event.location)
    message = f"{draft.message}, so that the replicas have no copies of their own"
    yield from _on_tpu(replace(draft, message=message), strategy, Severity.WARNING)


def _on_tpu(draft: Draft, strategy: ApiObject, at_most: Severity) -> Iterator[Draft]:
    """What only a TPU minds: under a strategy of GPUs, what its target does."""
    if is_tpu(strategy):
        yield replace(draft, at_most=at_most)
    elif is_of_gpus(strategy):
        yield replace(draft, effect=Effect.TPU, at_most=at_most, told=Told.FOR_TPU_ALONE)


def _draft(made: Creation, strategy: ApiObject, message: str, used: Location) -> Draft:
    scope = making_of(strategy)
    inside = made.scope is not None
    where = "in the scope of another strategy" if inside else "outside its scope"
    notes = [DraftNote(used, "it is used here")] if used != made.location else []
    notes += [DraftNote(scope.location, "the strategy is created here")] if scope is not None else []
    return Draft(
        f"{message}, but is created {where}",
        Effect.TPU if is_tpu(strategy) else Effect.FAILS,
        f"with strategy.scope(): .. {brief(made.location.node)}",
        location=made.location,
        notes=tuple(notes),
        rewrite=partial(in_scope, made.location) if not inside else None,
    )
