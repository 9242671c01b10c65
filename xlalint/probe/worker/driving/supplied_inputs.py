"""Inputs that a function of the user's makes."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..code.messages import described
from ..inputs.numbers import VALUE_SETS
from ..inputs.recorded_calls import same_object
from ..inputs.slots import Choice
from ..inputs.tensors import Arguments
from .driven import NotDrivenError

_WIDEST: Final = 3  # shapes that a user's function is asked for


@dataclass
class Supply:
    """The user's function that makes inputs. It may take the number of the set of values, and that of the shape."""

    name: str
    function: Callable[..., Any]
    takes: int

    @classmethod
    def of(cls, name: str) -> Supply:
        """Look it up: "pkg.mod:make"."""
        module, _, attribute = name.partition(":")
        try:
            function = getattr(importlib.import_module(module), attribute)
            return cls(name, function, len(inspect.signature(function).parameters))
        except Exception as error:
            raise NotDrivenError(f"`{name}` cannot create its inputs: {described(error)}") from error

    @property
    def value_sets(self) -> int:
        return VALUE_SETS if self.takes >= 1 else 1

    @property
    def variants(self) -> int:
        return _WIDEST if self.takes >= 2 else 1

    def make(self, value_set: int, variant: int) -> Arguments:
        """The arguments of one call."""
        made = self.function(*(value_set, variant)[: self.takes])
        if isinstance(made, dict):
            return (), made
        return (made if isinstance(made, tuple) else (made,)), {}

    def given(self) -> dict[str | int, Choice]:
        """The first arguments, as they are."""
        try:
            positional, keywords = self.make(0, 0)
        except Exception as error:
            raise NotDrivenError(f"`{self.name}` cannot create its inputs: {described(error)}") from error
        found: dict[str | int, Choice] = {name: same_object(value) for name, value in keywords.items()}
        return found | {position: same_object(value) for position, value in enumerate(positional)}
