"""The trial of rules by their own examples, without pytest: by the linter, and by the compiler where it is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..linter.rule import Bad, Good, Rule
from . import examples


@dataclass(frozen=True, slots=True)
class Tried:
    """One rule, how many examples and how many claims about the compiler were tried, and what is wrong."""

    rule: type[Rule]
    examples: int
    claims: int
    complaints: tuple[str, ...]


def tried(rule: type[Rule], *, compiler: bool) -> Tried:
    """Try a rule; `compiler`: RUN its examples, too, which needs TensorFlow."""
    numbered = [*_numbered("BAD", rule.bad), *_numbered("GOOD", rule.good)]
    complaints = list(examples.page(rule))
    claims = 0
    for label, example in numbered:
        found = list(_said_by_linter(rule, example))
        if compiler:
            for answer in _said_by_compiler(example):
                claims += 1
                found += answer
        complaints += (f"{label}: {complaint}" for complaint in found)
    return Tried(rule, len(numbered), claims, tuple(complaints))


def _numbered(kind: str, given: Sequence[Bad | Good]) -> Iterator[tuple[str, Bad | Good]]:
    return ((f"{kind} example {number}", example) for number, example in enumerate(given, 1))


def _said_by_linter(rule: type[Rule], example: Bad | Good) -> Iterator[str]:
    match example:
        case Bad():
            yield from examples.flagged(rule, example)
            yield from examples.rewritten(rule, example)
        case Good():
            yield from examples.silent(rule, example)


def _said_by_compiler(example: Bad | Good) -> Iterator[list[str]]:
    """For each claim what is wrong with it."""
    if example.behaviour is not None:
        yield list(examples.claimed(example, examples.measured_claim(example)))
    if isinstance(example, Bad) and (measured := examples.measured_rewrite(example)) is not None:
        yield list(examples.same(example, measured))
