"""What is called, and what with, as `tf.function` takes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from xlalint.probe.protocol import WITHOUT_ARRAYS

from ..backends import backend
from ..inputs.search import Solution
from ..inputs.tensors import Arguments


def as_taken(
    called: Callable[..., Any], solution: Solution
) -> tuple[Callable[..., Any], Callable[[Arguments], Arguments], tuple[str, ...]]:
    """What is called, which of the arguments with, and what is to be said of it."""
    whole = _without_arrays(called, solution.attempt.result)
    return (*_without_objects(whole, solution), (WITHOUT_ARRAYS,) if whole is not called else ())


def _without_objects(
    called: Callable[..., Any], solution: Solution
) -> tuple[Callable[..., Any], Callable[[Arguments], Arguments]]:
    """What is called, and which of the arguments with: what `tf.function` does not take as an argument is bound, as
    code that traces a function of it would do."""
    chosen = zip(solution.slots, solution.shapes[0], strict=True)
    slots = [slot for slot, choice in chosen if slot.group == "call" and choice is not None]
    positional, keywords = solution.make_call(0, 0)
    named = [slot.name for slot in slots if slot.name not in keywords]
    values = dict(zip(named, positional, strict=False)) | keywords
    objects = {name: value for name, value in values.items() if not _is_argument(value)}
    if not objects or any(slot.star for slot in slots) or not inspect.isroutine(called):
        return called, lambda made: made

    def kept(made: Arguments) -> Arguments:
        given = dict(zip(named, made[0], strict=True)) | made[1]
        return (), {name: value for name, value in given.items() if name not in objects}

    return partial(called, **objects), kept


def arguments_of(kept: Callable[[Arguments], Arguments], make: Callable[[int], Arguments], variant: int) -> Arguments:
    """Those of the arguments that something is called with."""
    return kept(make(variant))


def created_again(make: Callable[[Solution], tuple[Any, Callable[..., Any]]], solution: Solution) -> tuple[Any, Any]:
    """Another object, and the call of it with the first values."""
    thing, called = make(solution)
    positional, keywords = solution.make_call(0, 0)
    return thing, partial(called, *positional, **keywords)


def _without_arrays(called: Callable[..., Any], result: Any) -> Callable[..., Any]:
    """What is called, without the arrays of tensors among what it gives: they do not leave what is compiled."""
    try:
        leaves = backend.leaves(result)
    except (TypeError, ValueError):  # of what can be returned by nothing that is compiled
        return called
    if not any(isinstance(one, backend.ARRAYS) for one in leaves):
        return called

    def kept(*positional: Any, **keywords: Any) -> Any:
        given = called(*positional, **keywords)
        return backend.map_structure(lambda one: None if isinstance(one, backend.ARRAYS) else one, given)

    return kept


def _is_argument(value: Any) -> bool:
    """Whether `tf.function` takes something as an argument: tensors in structures, and what can be told from others."""
    try:
        hash(value)
    except TypeError:
        leaves = backend.leaves(value)
        return not any(leaf is value for leaf in leaves) or backend.is_tensor(value) or hasattr(value, "shape")
    return True
