"""Strategies that a program creates and trains or predicts without, and programs that have none yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.values import NONE, Static, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.strategies import RUNS, TRAINING, is_strategy, is_tpu, making_of, passes_strategy
from xlalint.linter.rule import Draft, DraftNote, Effect, Severity, Told
from xlalint.syntax import nodes as cst

from ._sides import are_opposite, sides_of_call
from ._strategies import (
    by_default,
    devices_of,
    is_of_gpus,
    is_the_same,
    made_near,
    made_note,
    method_of,
    name_of,
    names_gpu,
    path_setting,
    strategy_in,
    takes_no_tpu,
)

_PREDICTS: Final = frozenset(("evaluate", "predict"))
_OPTIMIZES: Final = frozenset(("apply", "apply_gradients", "minimize"))
_SHOWN_BY: Final = ("builtins.", "logging.", "absl.logging.")
_DEVICE: Final = "tf.device"
_CPU: Final = re.compile(r"(?:^|/)(?:device:)?cpu(?::(?:\d+|\*))?$|^$", re.IGNORECASE)  # or none
HOST: Final = "the processor of the host"
NO_STRATEGY: Final = f"no strategy puts this on a TPU: it trains on {HOST}"
NOWHERE: Final = "without the GPUs that it names, its steps wait for each other for ever"
FIRST: Final = (
    "first `tf.tpu.experimental.initialize_tpu_system(resolver)` and `tf.distribute.TPUStrategy(resolver)`, then "
    "create model and optimizer in `with strategy.scope():`"
)


def none_made(steps: Sequence[SetupCall], taped: Location | None, *, trains: bool, on_host: bool) -> Iterator[Draft]:
    """A program that trains on what TensorFlow takes by default, or trains or predicts by a strategy for other
    devices. `on_host`: host code is seen to run the step that is taped."""
    compiled = [step for step in steps if not step.context.eager]
    if not compiled and not on_host:  # a step alone is no program
        return
    steps = compiled or steps
    placed = next((step for step in steps if _names_gpu(step)), None)
    if not steps or any(_may_place(step) and not _names_gpu(step) for step in steps):
        return
    if placed is not None:
        if trains:
            usual, _ = by_default(path_setting(placed.arguments["device_name"]), NONE, Severity.INFO)
            yield _to_move(placed.location, f"`tf.device` names a GPU{usual}: where there is none, it trains on {HOST}")
        return
    trained = next(filter(_trains, steps), None)
    used = [step for step in steps if is_strategy(step.result) or (step.owner is not None and is_strategy(step.owner))]
    made = [step for step in used if is_strategy(step.result) and takes_no_tpu(step.result)]
    if made and all(step in made or takes_no_tpu(step.owner) for step in used):
        if trains or any(map(_predicts, steps)):
            verb = "trains" if trains else "predicts"
            where = NOWHERE if devices_of(made[0].result) > 1 else f"it {verb} on {HOST}"
            yield _to_move(made[0].location, f"a `{method_of(made[0])}` takes no TPU: {where}")
    elif not trains or used or any(step.context.scope for step in steps):
        return
    elif trained is not None:
        name = trained.node.func.attr if isinstance(trained.node.func, cst.Attribute) else trained.node
        yield _to_move(trained.location.at(name), NO_STRATEGY)
    elif taped is not None:
        yield _to_move(taped, NO_STRATEGY)


def _may_place(step: SetupCall) -> bool:
    """Whether a call names a device, or passes what may be a strategy to code that is not seen."""
    return _places(step) or (passes_strategy(step.arguments) and not _is_shown(step))


def _to_move(place: Location, message: str) -> Draft:
    """What a program needs first when it moves."""
    return Draft(
        message,
        Effect.TPU,
        FIRST,
        location=place,
        at_most=Severity.INFO,
        told=Told.FOR_TPU_ALONE,
    )


def runs(step: SetupCall) -> bool:
    """Whether a call has a strategy run something, or may: it passes the strategy to code that is not seen."""
    if step.owner is not None and is_strategy(step.owner):
        return method_of(step) != "scope"
    return passes_strategy(step.arguments) and not _is_shown(step)


def _is_shown(step: SetupCall) -> bool:
    """Whether a call shows what it is passed, and does nothing else with it."""
    return step.api.startswith(_SHOWN_BY)


def unused(made: Sequence[SetupCall], steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """A strategy in whose scope nothing is made, of a program that trains, or has a model predict."""
    if any(_uses_scope(step) or _places(step) for step in steps):
        return
    later = [step for step in steps if step.order > made[0].order]
    for outside, does, help, note in _WITHOUT:
        if (step := next(filter(outside, later), None)) is not None:
            yield Draft(
                f"the TPU of this strategy does nothing: the model is created, and {does}, outside its scope",
                Effect.TPU,
                help,
                location=made[0].location,
                notes=(DraftNote(step.location, note),),
            )
            return


def _uses_scope(step: SetupCall) -> bool:
    """Whether a call stands in a scope, is of what was made in one, or enters one that makes anything."""
    made = None if step.owner is None else making_of(step.owner, step.location)
    if step.context.scope is not None or (made is not None and made.scope is not None):
        return True
    return method_of(step) == "scope" and _makes_something(step)


def _makes_something(step: SetupCall) -> bool:
    """Whether the block that a scope is entered for calls anything; where no block shows that, it may, unless nothing
    enters it."""
    around = [*step.location.unit.around(step.node)]
    block = next((node for node in around if isinstance(node, cst.With)), None)
    if block is None or not any(item.item is step.node for item in block.items):
        return not _is_dropped(step, around)
    pending: list[cst.CSTNode] = [block.body]
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Call):
            return True
        if not isinstance(node, cst.FunctionDef | cst.Lambda):
            pending += node.children
    return False


def _is_dropped(step: SetupCall, around: Sequence[cst.CSTNode]) -> bool:
    """Whether nothing enters a scope that a statement makes: it stands alone, or has a name that nothing reads."""
    match around:
        case [cst.Expr(), *_]:
            return True
        case [cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]), *_]:
            function = step.location.unit.function_around(step.node)
            if function is None:  # a name of the module, which functions may read, in other files too
                return False
            nodes = [*cst.within(function)]
            other = [node.target for node in nodes if isinstance(node, cst.AssignTarget)]
            other += [node.attr for node in nodes if isinstance(node, cst.Attribute)]
            called_so = (node for node in nodes if isinstance(node, cst.Name) and node.value == name)
            return all(any(node is one for one in other) for node in called_so)
        case _:
            return False


def _trains_outside(step: SetupCall) -> bool:
    """Whether a call trains what is known to be made outside of any scope."""
    made = made_near(step)
    return made is not None and made.scope is None and _trains(step)


def predicts_aside(steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """What the same code makes in the scope of a strategy elsewhere, but that is made here, and predicts, outside."""
    inside: dict[Location, list[SetupCall]] = {}
    for step in steps:
        made = made_near(step)
        if made is not None and _moves(_strategy_near(step)):
            inside.setdefault(made.location, []).append(step)
    for step in filter(_predicts_outside, steps):
        made = made_near(step)
        others = [] if made is None else inside.get(made.location, [])
        if not others or any(other.location == step.location for other in others):
            continue
        here = sides_of_call(step)
        other = next((other for other in others if not are_opposite(here, sides_of_call(other))), None)
        strategy = None if other is None else _strategy_near(other)
        if made is not None and strategy is not None:
            yield Draft(
                f"this model is created outside the scope of `{name_of(strategy)}`: it runs on {HOST}",
                Effect.TPU,
                "create the model in `with strategy.scope():` here, too",
                location=step.location,
                notes=(DraftNote(made.location, "it is created here, for the strategy as well"),),
                at_most=Severity.WARNING if is_tpu(strategy) else Severity.INFO,
                told=Told.ALWAYS if is_tpu(strategy) else Told.FOR_TPU_ALONE,
            )


def _strategy_near(step: SetupCall) -> Value | None:
    """The strategy in whose scope that was made which a call is of."""
    made = made_near(step)
    return None if made is None else strategy_in(made.scope)


def _moves(strategy: Value | None) -> bool:
    """Whether it is a strategy of TPUs, or one that gives way to such a strategy."""
    return strategy is not None and (is_tpu(strategy) or is_of_gpus(strategy))


def _predicts_outside(step: SetupCall) -> bool:
    """Whether a call has Keras run a model that is known to be made outside of any scope, and does so outside, too."""
    made = made_near(step)
    return made is not None and made.scope is None and step.context.scope is None and _predicts(step)


def _predicts(step: SetupCall) -> bool:
    """Whether a call has Keras run a model over a data set, and changes no weights."""
    return method_of(step) in _PREDICTS and kind_of(step.api.rpartition(".")[0]) == "model"


def _trains(step: SetupCall) -> bool:
    """Whether a call changes weights."""
    method = method_of(step)
    return method in _OPTIMIZES or (method in TRAINING and kind_of(step.api.rpartition(".")[0]) == "model")


def _places(step: SetupCall) -> bool:
    """Whether a call names a device that may be a TPU, or a GPU."""
    return step.api == _DEVICE and step.arguments.get("device_name") != NONE and not _names(step, _CPU)


def _names_gpu(step: SetupCall) -> bool:
    """Whether a call names a GPU, whichever it is, or does so by default."""
    return step.api == _DEVICE and names_gpu(step.arguments.get("device_name"))


def _names(step: SetupCall, kind: re.Pattern[str]) -> bool:
    """Whether a call names a device of a kind."""
    match step.arguments.get("device_name") if step.api == _DEVICE else None:
        case Static(str() as name) | Static(without_gpus=str() as name):
            return kind.search(name) is not None
        case _:
            return False


def called_plainly(steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """A step that trains what was made in a TPU strategy's scope, but that no strategy runs."""
    if any(method_of(step) in TRAINING | RUNS for step in steps):
        return
    otherwise = {step.location for step in steps if _plain_under(step) is None}  # another caller has it run
    for step in steps:
        if step.location not in otherwise:
            yield Draft(
                "no strategy runs this step: it runs once, and not on each core of the TPU",
                Effect.TPU,
                "have a `tf.function` call `strategy.run(step, args=(..))`",
                location=step.location,
                notes=made_note(_plain_under(step), "the strategy is created here"),
            )


def _plain_under(step: SetupCall) -> Value | None:
    """The TPU strategy in whose scope that was made which a call trains, but which runs nothing here."""
    made = made_near(step) if method_of(step) in _OPTIMIZES else None
    strategy = strategy_in(made.scope) if made is not None else None
    if strategy is None or not is_tpu(strategy):
        return None
    scope = step.context.scope
    return strategy if scope is None or is_the_same(scope.strategy, strategy) else None


# What runs outside of a strategy: what is said of it, what to write, and the note at the call. The first that is found.
_WITHOUT: Final = (
    (
        _trains_outside,
        "trained",
        "create model and optimizer in `with strategy.scope():`, and have `fit` or `strategy.run(step, ..)` train",
        "this trains without the strategy",
    ),
    (
        _predicts_outside,
        "predicts",
        "create the model in `with strategy.scope():`",
        "this runs without the strategy",
    ),
)
