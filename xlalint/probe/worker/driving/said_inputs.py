"""What the user says of inputs, as forms of these."""

from __future__ import annotations

from collections.abc import Sequence

from xlalint.probe.target import Given
from xlalint.sources.specs import SpecError, parse_form

from ..inputs.slots import Choice
from .driven import NotDrivenError


def forms(given: Sequence[Given]) -> dict[str | int, Choice]:
    """By name or position. Raises NotDrivenError."""
    try:
        return {position if one.name is None else one.name: parse_form(one.spec) for position, one in enumerate(given)}
    except SpecError as error:
        raise NotDrivenError(str(error)) from error
