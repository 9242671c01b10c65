"""What the rules about gradients in replicas share: which steps of optimizers apply them, and how they come there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from xlalint.analysis.domain.values import ApiObject, Class
from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.contexts import Context, ContextKind
from xlalint.analysis.library.optimizers import OPTIMIZES
from xlalint.analysis.program.definitions import all_methods
from xlalint.syntax import nodes as cst

from ._provenance import Provenance

GRADIENT: Final = "tf.GradientTape.gradient"
CLIPS: Final = tuple(f"tf.clip_by_{bound}" for bound in ("global_norm", "norm", "value"))
_OWN_SUM: Final = ("experimental_aggregate_gradients", "skip_gradients_aggregation")


def optimizing(function: cst.CSTNode | None) -> Iterator[cst.Call]:
    """The steps of optimizers in a function."""
    for node in () if function is None else cst.within(function):
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in OPTIMIZES:
                yield node


def steps_of_models(
    models: Iterable[tuple[Class, ApiObject | None]], gradients: Iterable[tuple[Location, Context]]
) -> Iterator[tuple[cst.Call, Unit, ApiObject]]:
    """The steps of optimizers in models that Keras runs under a strategy, each with that strategy."""
    taken = list(gradients)
    for cls, strategy in models:
        own = {method.node for method in all_methods(cls)}
        for gradient, context in taken if strategy is not None else ():
            function = gradient.unit.function_around(gradient.node)
            if strategy is not None and function in own and context.by_keras:
                yield from ((step, gradient.unit, strategy) for step in optimizing(function))


def steps_to_come(taped: Location, gradients: Iterable[tuple[Location, Context]]) -> Iterator[tuple[cst.Call, Unit]]:
    """The steps of a program that has no strategy yet: the first one, and what else is seen to run."""
    run = (place for place, context in gradients if context.kind is not ContextKind.OPEN)
    functions = dict.fromkeys((place.unit, place.unit.function_around(place.node)) for place in (taped, *run))
    for unit, function in functions:
        yield from ((step, unit) for step in optimizing(function))


class AppliedGradients:
    """Follows what an optimizer's step applies back to where the gradients are taken: through what clips them, `list`
    and `zip`. `provenance` remembers what clips; `is_taken`: whether gradients of interest are taken at a place."""

    def __init__(self, provenance: Provenance, is_taken: Callable[[Location], bool]) -> None:
        self._provenance, self._is_taken = provenance, is_taken

    def taken(self, step: cst.Call, unit: Unit) -> tuple[Location, tuple[Location, ...]] | None:
        """Where the gradients are taken that a step applies, if nobody adds them up before, and where they are clipped,
        last first."""
        named = {arg.keyword.value for arg in step.args if arg.keyword is not None}
        clips: list[Location] = []
        gradient = self._back(unit, step.args[0].value, clips) if step.args and named.isdisjoint(_OWN_SUM) else None
        return None if gradient is None else (gradient, tuple(clips))

    def _back(self, unit: Unit, given: cst.BaseExpression, clips: list[Location]) -> Location | None:
        for node in self._provenance.steps(unit, given):
            match node:
                case cst.Call(func=cst.Name(value="list" | "tuple" | "zip"), args=[first, *_]):
                    return self._back(unit, first.value, clips)
                case cst.ListComp(for_in=clause, elt=each) | cst.GeneratorExp(for_in=clause, elt=each):
                    if clause.inner_for_in is None and self._is_element(unit, each, clause.target, clips):
                        return self._back(unit, clause.iter, clips)
                case cst.Call(args=[first, *_]) if self._provenance.call_at(unit, node) is not None:
                    clips.append(Location(unit, node))
                    return self._back(unit, first.value, clips)
                case cst.Call() if self._is_taken(found := Location(unit, node)):
                    return found
        return None

    def _is_element(
        self, unit: Unit, made: cst.BaseExpression, target: cst.BaseExpression, clips: list[Location]
    ) -> bool:
        """Whether a comprehension leaves a gradient as it is, or clips it: `[(g, v) for g, v in zip(..) if g is not
        None]`."""
        match made, target:
            case cst.Tuple(elements=[first, _]), _:
                return self._is_element(unit, first.value, target, clips)
            case cst.IfExp(body=body, orelse=other), _:  # where there is one
                return any(self._is_element(unit, one, target, clips) for one in (body, other))
            case cst.Call(args=[first, *_]), _ if self._provenance.call_at(unit, made) is not None:
                clips.append(Location(unit, made))
                return self._is_element(unit, first.value, target, clips)
            case cst.Name(value=name), cst.Name(value=element) | cst.Tuple(
                elements=[cst.Element(value=cst.Name(value=element)), _]
            ):
                return name == element
            case _:
                return False
