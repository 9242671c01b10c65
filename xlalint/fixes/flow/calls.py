"""Calls of libraries as the analysis sees them, and what the operations ask the analysis for."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ...facts.names import parameters
from ...syntax import nodes as cst
from ..rewrite import GivenUp
from .frames import Frame
from .states import OTHER, Callable, Mask, Rows, State
from .writing import Writing


class Interpreting(Protocol):
    """What follows the rows, as operations see it."""

    writing: Writing
    wanted: cst.CSTNode
    wanted_mask: cst.BaseExpression | None
    mask_rank: int | None
    mask_is_boolean: bool
    filled: dict[int | str, str]
    has_met: bool

    def evaluate(self, node: cst.BaseExpression, frame: Frame) -> State: ...

    def run(
        self, function: Callable, arguments: Sequence[tuple[str | None, State]], node: cst.Call, frame: Frame
    ) -> State: ...

    def api_of(self, node: cst.BaseExpression, frame: Frame) -> str | None: ...

    def note_singular(self, states: Sequence[State], is_singular: bool, kind: str = "row") -> None: ...

    def mask_here(self, mask: Mask, text: str, frame: Frame) -> Mask: ...

    def mask_text(self, mask: Mask, frame: Frame) -> str: ...

    def as_rows(self, node: cst.BaseExpression, state: State, frame: Frame) -> State: ...

    def operand(self, node: cst.BaseExpression, state: State, frame: Frame) -> State: ...

    def spread(self, rows: Rows, node: cst.BaseExpression, frame: Frame, times: int = 1) -> tuple[str, str]: ...


@dataclass(frozen=True)
class Call:
    """A call of a library's function: its arguments by parameter, with what they hold."""

    node: cst.Call
    api: str
    arguments: Mapping[str, tuple[cst.BaseExpression, State]]
    frame: Frame
    expected: int | None  # how many values the statement unpacks

    @classmethod
    def of(
        cls, node: cst.Call, api: str, given: Sequence[tuple[cst.Arg, State]], frame: Frame, expected: int | None
    ) -> Call:
        names = [*(parameters(api) or ())] if not api.startswith("call ") else ["y_true", "y_pred", "sample_weight"]
        found: dict[str, tuple[cst.BaseExpression, State]] = {}
        position = 0
        for argument, state in given:
            if argument.star:
                name = f"*{position}"
            elif argument.keyword is not None:
                name = argument.keyword.value
            else:
                name = names[position] if position < len(names) else f"#{position}"
            position += argument.keyword is None
            found[name] = (argument.value, state)
        return cls(node, api, found, frame, expected)

    @property
    def states(self) -> list[State]:
        return [state for _, state in self.arguments.values()]

    @property
    def first(self) -> tuple[cst.BaseExpression, State]:
        if not self.arguments:
            raise GivenUp
        return next(iter(self.arguments.values()))

    def get(self, *names: str) -> tuple[cst.BaseExpression | None, State]:
        for name in names:
            if name in self.arguments:
                return self.arguments[name]
        return None, OTHER

    def needed(self, *names: str) -> tuple[cst.BaseExpression, State]:
        node, state = self.get(*names)
        if node is None:
            raise GivenUp
        return node, state


Operation: TypeAlias = Function[[Interpreting, Call], State | None]
"""What a function makes of rows; None where it is about none."""


def number(node: cst.CSTNode | None) -> int | None:
    """An integer that is written down."""
    match node:
        case cst.Integer():
            return int(node.evaluated_value)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as inner):
            return -int(inner.evaluated_value)
        case _:
            return None


def numbers(node: cst.CSTNode | None) -> list[int] | None:
    """Integers that are written down: one, or a list of them."""
    match node:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            found = [number(one.value) for one in elements]
            return None if None in found else [one for one in found if one is not None]
        case _:
            one = number(node)
            return None if one is None else [one]
