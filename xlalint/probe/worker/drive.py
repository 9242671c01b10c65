"""From a target to something that can be called, with what to call it with."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import keras  # type: ignore[import-untyped]
import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.specs import Form, SpecError, leaves, parse_form
from xlalint.probe.target import Given, Target

from .load import Loaded, LoadError, load
from .values import VALUE_SETS, made


class NotDrivenError(Exception):
    """The target cannot be called. The text is one line, and names what the user can write to help."""


@dataclass
class Driven:
    """Something to call and what to call it with; the same values at every `make` of a set and a variant.

    `value_sets`: how many sets of values of one shape, `variants`: how many shapes; `state`: the variables to put back
    before each call; `how`, `inputs`: what was done, in words, and the inputs in the grammar of `specs`;
    `compiled_inside`: the call compiles by itself; `close` forgets what was imported.
    """

    call: Callable[..., Any]
    make: Callable[[int, int], tuple[tuple[Any, ...], dict[str, Any]]]
    value_sets: int
    variants: int
    state: Callable[[], list[Any]]
    autograph: bool
    how: str
    inputs: tuple[str, ...]
    compiled_inside: bool = False
    close: Callable[[], None] = lambda: None


def drive(target: Target, note: Callable[[str], None]) -> Driven:
    """Get a target ready to be called; `note` hears what is done next. Raises NotDrivenError."""
    note("import")
    try:
        loaded = load(Path(target.file), target.search)
    except LoadError as error:
        raise NotDrivenError(f"its module cannot be imported: {error}") from error
    try:
        return _driven(target, loaded, note)
    except BaseException:
        loaded.close()
        raise


def _driven(target: Target, loaded: Loaded, note: Callable[[str], None]) -> Driven:
    found: Any = loaded.module
    for part in target.qualname.split("."):
        found = getattr(found, part)
    note("build")
    called: Any = found() if inspect.isclass(found) else found
    named, positional = _given(target.given)

    def make(value_set: int, variant: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positions = count()
        arguments = tuple(made(form, variant, value_set, positions) for form in positional)
        return arguments, {name: made(form, variant, value_set, positions) for name, form in named.items()}

    forms = [*positional, *named.values()]
    inputs = (*map(str, positional), *(f"{name}: {form}" for name, form in named.items()))
    return Driven(
        call=called,
        make=make,
        value_sets=VALUE_SETS,
        variants=max((spec.variants for form in forms for spec in leaves(form)), default=1),
        state=lambda: variables(loaded, called),
        autograph=_autograph(target, called),
        how=f"called with {', '.join(inputs) or 'nothing'}",
        inputs=inputs,
        close=loaded.close,
    )


def _given(given: tuple[Given, ...]) -> tuple[dict[str, Form], list[Form]]:
    """The user's inputs: by name, and by position."""
    try:
        named = {one.name: parse_form(one.spec) for one in given if one.name is not None}
        return named, [parse_form(one.spec) for one in given if one.name is None]
    except SpecError as error:
        raise NotDrivenError(str(error)) from error


def _autograph(target: Target, called: Any) -> bool:
    """Whether AutoGraph converts the code: Keras 3 calls its objects from steps that it does not convert."""
    if target.autograph is not None:
        return target.autograph
    return inspect.isroutine(called) or not keras.__version__.startswith("3")


def variables(loaded: Loaded, called: Any) -> list[Any]:
    """The state that a call may change: the object's variables and those at the top of the module."""
    own = list(getattr(called, "variables", ()))
    return own + [value for value in vars(loaded.module).values() if isinstance(value, tf.Variable)]
