"""How often a function is executed for other arguments, in other contexts, before it is given up."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Final

from ..domain.values import Class, Function, FunctionValue, Instance, Value

GENERALISE_AFTER: Final = 8  # executions, after which arguments lose their constants
_MOST: Final = 96
_MOST_OF_HOST: Final = 48  # of host code, which is executed for what it passes to compiled code
# Beyond these, for each class of receivers and each function that is passed: they lead elsewhere.
_MOST_OF_EACH: Final = 2


def is_given_up(
    executions: dict[tuple[Hashable, ...], int],
    counted: tuple[Function, bool, Class | None],
    value: FunctionValue,
    env: Mapping[str, Value],
) -> bool:
    """Whether a function has been executed so often that it is not once more. `executions`: of each function, to which
    those beyond the most are added; `counted`: the function, whether the host runs it, and the class that it sets up;
    `env`: what its parameters hold."""
    _, host, _ = counted
    if executions.get(counted, 0) < (_MOST_OF_HOST if host else _MOST):
        return False
    led = *counted, *_dispatched(value, env)
    if executions.get(led, 0) >= _MOST_OF_EACH:
        return True
    executions[led] = executions.get(led, 0) + 1
    return False


def _dispatched(value: FunctionValue, env: Mapping[str, Value]) -> Iterator[Hashable]:
    """What decides where a function's own calls lead: the class of its receiver, and the functions that it is passed.
    A base class's method, or one that calls what it is given, is as many functions as there are of those."""
    if isinstance(value.bound, Instance):
        yield value.bound.cls
    for item in env.values():
        if isinstance(item, FunctionValue):
            yield item.function, item.bound.cls if isinstance(item.bound, Instance) else None
