"""Which of Keras's methods nobody but host code is seen to call, which trains with them: it runs them line by line, and
nothing traces them. What host code only tries out says nothing of who else uses it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from ..domain.values import Class, Function
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Summary
from .call_paths import reached_from
from .partitions import Key

_TRACED: Final = "called while something is traced"
_DIRECT: Final = "trained by host code"


def called_directly(roots: Iterable[Summary]) -> frozenset[Key]:
    """What stands for the methods of Keras's that host code takes gradients of, and for those that these call, in a
    partition."""
    trainers = (summary for summary in reached_from(roots) if summary.trains and summary.context.kind in NOT_TRACED)
    direct = filter(_is_direct, reached_from(trainers))
    return frozenset(_key(summary.function, _DIRECT) for summary in direct if summary.function is not None)


class DirectCalls:
    """The analyses that nothing but such calls leads to, from all entry points of a partition. `handed`: the classes of
    which Keras is passed objects, which it traces; `is_direct`: whether `called_directly` has a key in any partition;
    `keys`: what the other partitions are told."""

    def __init__(self, roots: Sequence[Summary], handed: Collection[Class], is_direct: Callable[[Key], bool]) -> None:
        self._roots = roots
        classes = {ancestor for cls in handed for ancestor in cls.mro if not isinstance(ancestor, str)}
        self._handed = {method for cls in classes for method in cls.functions.values()}
        self._is_direct = is_direct
        traced = self._reached_while_traced(lambda key: False)
        self.keys = frozenset(_key(function, _TRACED) for function in _methods(traced) | self._handed)

    def alone(self, is_named: Callable[[Key], bool]) -> set[Summary]:
        """These analyses. `is_named`: whether other partitions have one of their `keys` in common with this."""
        return reached_from(self._roots).keys() - self._reached_while_traced(is_named)

    def _reached_while_traced(self, is_named: Callable[[Key], bool]) -> set[Summary]:
        """What the other entry points lead to. A method that is called by host code is one of these all the same where
        one of them calls it."""

        def is_left(root: Summary) -> bool:
            method = root.function
            if method is None or method in self._handed or not root.context.by_keras or root.context.direct:
                return False
            return self._is_direct(_key(method, _DIRECT)) and not is_named(_key(method, _TRACED))

        def ends(summary: Summary) -> bool:
            method = summary.function
            return _is_direct(summary) and method is not None and self._is_direct(_key(method, _DIRECT))

        left = set(filter(is_left, self._roots))
        while True:
            others = (root for root in self._roots if root not in left)
            found = {summary for summary in reached_from(others, ends) if not ends(summary)}
            traced = _methods(found)
            called = {root for root in left if root.function in traced}
            if not called:
                return found
            left -= called


def _is_direct(summary: Summary) -> bool:
    return summary.context.direct


def _methods(summaries: Iterable[Summary]) -> set[Function]:
    by_keras = (summary for summary in summaries if summary.context.by_keras)
    return {summary.function for summary in by_keras if summary.function is not None}


def _key(function: Function, how: str) -> Key:
    path, line, name = function.key
    return (path, line, f"{name}: {how}")
