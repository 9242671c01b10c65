"""Which code the steps of a program lead to: what trains or evaluates a model, and what Keras runs in that. The rest of
a program that has such steps runs a model that is trained: nothing compiles it, unless it asks for XLA itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Function
from ..interpreter.contexts import ContextKind
from ..interpreter.frames import Summary
from ..program.code_names import names_in_code
from .call_paths import functions_of, reached_from, with_callers
from .partitions import Key
from .roles import KINDS
from .trainers import is_of_trainer

_STEPS: Final[Key] = ("", 0, "steps")  # names that there are steps at all
_BY_STEPS: Final = "called by steps"
_BESIDE: Final = "called beside steps"
_BY_NAME: Final = ("Fire", "eval", "exec", "globals", "locals", "vars")  # what may call any function of a file


class Stages:
    """The steps that a partition knows, from all of its entry points; `keys`: what the others are told of them."""

    def __init__(self, roots: Sequence[Summary]) -> None:
        reached = reached_from(roots)
        self._steps = with_callers(set(filter(_is_step, reached)), reached, lambda caller: True)
        # The files whose top-level code trains or evaluates, by their names in reports.
        self.scripts = {
            root.location.path
            for root in roots
            if root in self._steps and root.function is None and root.location is not None
        }
        self._steps -= {root for root in roots if root in self._steps and self._is_left_over(root)}
        by_steps = reached_from(root for root in roots if root in self._steps or not _may_be_beside(root))
        eager = [root for root in roots if root not in self._steps and _is_host_code(root)]
        called = _layers(by_steps)
        beside = {
            function for root in eager for function in _layers(reached_from((root,))) if _is_elsewhere(root, function)
        }
        beside -= called
        self.keys = frozenset(
            (
                *((_STEPS,) if self._steps else ()),
                *(_key(function, _BY_STEPS) for function in called),
                *(_key(function, _BESIDE) for function in beside),
            )
        )

    def _is_left_over(self, root: Summary) -> bool:
        """Whether nothing in a script that trains names a function of it, which nothing calls."""
        function = root.function
        if function is None or root.context.kind is not ContextKind.OPEN:
            return False
        if function.module.source.display not in self.scripts or function.stretch is None:
            return False
        return function.owner is None and not function.decorator_texts and not _is_named(function)

    def reached(self, roots: Iterable[Summary], is_named: Callable[[Key], bool]) -> dict[Summary, None] | None:
        """What the steps lead to; None where there are none. `is_named`: whether other partitions have one of their
        `keys` in common with this."""

        def known(key: Key) -> bool:
            return key in self.keys or is_named(key)

        def is_beside(function: Function) -> bool:
            return known(_key(function, _BESIDE)) and not known(_key(function, _BY_STEPS))

        def counts(root: Summary) -> bool:
            compiled = root.context.kind is ContextKind.XLA or _is_of_library(root)
            return root in self._steps or (compiled and not any(map(is_beside, _layers((root,)))))

        return reached_from(filter(counts, roots)) if known(_STEPS) else None


def _is_named(function: Function) -> bool:
    """Whether its file names a function outside of itself, or has what takes any function by its name."""
    file = function.module.file
    others = (each for each in file.holding(function.name) if each != function.stretch)
    return any(function.name in (unit := file.unit(each)).told(names_in_code, unit.tree) for each in others) or any(
        any(map(_takes_any, cst.within(file.unit(each).tree))) for word in _BY_NAME for each in file.holding(word)
    )


def _takes_any(node: cst.CSTNode) -> bool:
    """Whether code may call each function of its file by name."""
    match node:
        case (
            cst.Call(func=cst.Name(value="eval" | "exec" | "globals"))
            | cst.Call(func=cst.Attribute(attr=cst.Name("Fire")))
        ):
            return True
        case cst.Call(func=cst.Name(value="locals" | "vars"), args=[]):
            return True
        case _:
            return False


def _is_step(summary: Summary) -> bool:
    """Whether a function trains or evaluates, with what a library has for that or what the project has."""
    if summary.trains or summary.evaluates or summary.steps:
        return True
    return any(_is_replicas(callee) or _measures(callee.function) for _, callee in summary.calls)


def _is_replicas(summary: Summary) -> bool:
    """Whether a strategy runs it on each device."""
    return summary.context.in_replica


def _measures(function: Function | None) -> bool:
    owner = None if function is None or function.name == "__init__" else function.owner
    return owner is not None and (owner.is_keras("loss") or owner.is_keras("metric"))


def _may_be_beside(root: Summary) -> bool:
    """Whether an entry point says nothing of who runs it: all but what asks for XLA itself, and the methods of models,
    losses and the like, which are made to be trained."""
    return root.context.kind is not ContextKind.XLA or bool(_layers((root,)))


def _is_of_library(root: Summary) -> bool:
    """Whether a library runs a method that is made a graph by itself: Keras, or a training loop."""
    owner = None if root.function is None else root.function.owner
    if root.context.kind is not ContextKind.GRAPH or owner is None:
        return False
    return any(map(owner.is_keras, KINDS)) or is_of_trainer(owner)


def _is_host_code(root: Summary) -> bool:
    return root.context.kind is ContextKind.HOST and not (root.function is not None and root.function.module.is_test)


def _is_elsewhere(root: Summary, function: Function) -> bool:
    """Whether a function is of another file than what leads to it: what a file tries out at its end says nothing of who
    uses it."""
    if root.function is not None:
        return root.function.module is not function.module
    return root.location is None or root.location.path != function.module.source.display


def _layers(summaries: Iterable[Summary]) -> set[Function]:
    """The layers' methods among some analyses, other functions that Keras calls as layers, and those of which layers
    are made there."""
    reached = list(summaries)
    by_keras = functions_of(summary for summary in reached if summary.context.by_keras).values()
    made = chain.from_iterable(summary.layers for summary in reached)
    return {function for function in (*by_keras, *made) if _is_of_layer(function)}


def _is_of_layer(function: Function) -> bool:
    owner = function.owner
    return owner is None or (owner.is_keras("layer") and not owner.is_keras("model"))


def _key(function: Function, how: str) -> Key:
    path, line, name = function.key
    return (path, line, f"{name}: {how}")
