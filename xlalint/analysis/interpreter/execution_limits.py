"""How often a function is executed for other arguments, in other contexts, before the latest summary of a call
much like it serves for the others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Final

from ..domain.values import Class, Function, FunctionValue, Instance, Sequence, Value
from .contexts import Context, ContextKind

GENERALISE_AFTER: Final = 8  # executions, after which arguments lose their constants
_MOST: Final = 48
_MOST_OF_OPEN: Final = 16  # .. where no caller is known, and nothing is compiled for certain
_MOST_OF_HOST: Final = 12  # of host code, which is executed for what it passes to compiled code
# Beyond these, for each context, class of receivers and function that is passed: they lead elsewhere.
_MOST_OF_EACH: Final = 2


def note_execution(
    executions: dict[tuple[Hashable, ...], int], counted: tuple[Function, bool, Class | None], kind: ContextKind
) -> None:
    """Count one more execution of a function, in a context of this kind."""
    for key in (counted, (*counted, kind)) if kind is ContextKind.OPEN else (counted,):
        executions[key] = executions.get(key, 0) + 1


def is_given_up(
    executions: dict[tuple[Hashable, ...], int],
    counted: tuple[Function, bool, Class | None],
    kind: ContextKind,
    alike: tuple[Hashable, ...],
) -> bool:
    """Whether a function has been executed so often that it is not once more. `executions`: of each function, to which
    those beyond the most are added; `counted`: the function, whether the host runs it, and the class that it sets up;
    `kind`: of its context; `alike`: what its call has in common with others, as `alike_calls` says."""
    _, host, _ = counted
    many = kind is ContextKind.OPEN and executions.get((*counted, kind), 0) >= _MOST_OF_OPEN
    if not many and executions.get(counted, 0) < (_MOST_OF_HOST if host else _MOST):
        return False
    if executions.get(alike, 0) >= _MOST_OF_EACH:
        return True
    executions[alike] = executions.get(alike, 0) + 1
    return False


def alike_calls(
    counted: tuple[Function, bool, Class | None],
    context: Context,
    value: FunctionValue,
    env: Mapping[str, Value],
) -> tuple[Hashable, ...]:
    """What the calls of a function have in common that lead to the same functions, compiled the same way: the summary
    of one says nearly what that of another would."""
    how = context.kind, context.converted, context.pipeline, context.eager, context.scope
    return *counted, *how, *_dispatched(value, env)


def _dispatched(value: FunctionValue, env: Mapping[str, Value]) -> Iterator[Hashable]:
    """What decides where a function's own calls lead: the class of its receiver, and the functions that it is passed.
    A base class's method, or one that calls what it is given, is as many functions as there are of those."""
    if isinstance(value.bound, Instance):
        yield value.bound.cls
    for item in env.values():
        for part in item.items or () if isinstance(item, Sequence) else (item,):
            if isinstance(part, FunctionValue):
                yield part.function, part.bound.cls if isinstance(part.bound, Instance) else None
