"""What the form of some code says of the pipelines in it that come from elsewhere: which expressions are datasets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ...syntax import nodes as cst
from ..record import Record

# The methods of a dataset that make another one.
METHODS: Final = frozenset(
    (
        *("batch", "cache", "filter", "interleave", "map", "padded_batch", "prefetch", "ragged_batch", "repeat"),
        *("shard", "shuffle", "skip", "take", "unbatch", "with_options"),
    )
)
# What nothing but `tf.data` has: a method, and arguments of its methods.
_METHOD: Final = "padded_batch"
_ARGUMENTS: Final = frozenset(("cycle_length", "drop_remainder", "num_parallel_calls", "reshuffle_each_iteration"))


class Pipelines(Record):
    """The expressions of a piece of code that methods of datasets are called on, as they are written. `sure`: those of
    which a call shows that they are datasets; `likely`: those that are if an argument, which stands there, is
    `tf.data.AUTOTUNE`; `same`: for each, those that are datasets where it is one."""

    sure: frozenset[str]
    likely: tuple[tuple[str, cst.BaseExpression], ...]
    same: dict[str, frozenset[str]]


def source_of(node: cst.BaseExpression) -> str | None:
    """What a chain of methods of datasets begins with, `data` of `data.map(f).batch(8)`, as it is written; None for an
    expression that is no such chain."""
    begun = node
    while (before := _before(begun)) is not None:
        begun = before
    return None if begun is node else cst.text_of(begun).code(begun)


def _before(node: cst.BaseExpression) -> cst.BaseExpression | None:
    match node:
        case cst.Call(func=cst.Attribute(value=before, attr=cst.Name(value=method))) if method in METHODS:
            return before
        case _:
            return None


@lru_cache(1 << 12)
def pipelines_in(code: cst.CSTNode) -> Pipelines:
    """The datasets in a piece of code, the body of a function say."""
    sure: set[str] = set()
    likely: list[tuple[str, cst.BaseExpression]] = []
    pairs: list[tuple[str, str]] = []
    for node in cst.within(code):
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)), args=arguments) if method in METHODS:
                source = source_of(node)
                assert source is not None
                names = {each.keyword.value for each in arguments if each.keyword is not None}
                if method == _METHOD or names & _ARGUMENTS:
                    sure.add(source)
                elif method == "prefetch" and len(arguments) == 1:
                    likely.append((source, arguments[0].value))
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                source = source_of(value)
                if source is not None:
                    pairs.append((cst.text_of(target).code(target), source))
    return Pipelines(frozenset(sure), tuple(likely), {name: _joined(name, pairs) for pair in pairs for name in pair})


def _joined(name: str, pairs: list[tuple[str, str]]) -> frozenset[str]:
    """The names that the same pipeline has, step by step."""
    found, grown = {name}, True
    while grown:
        more = {each for pair in pairs if found.intersection(pair) for each in pair}
        grown = not more <= found
        found |= more
    return frozenset(found)


def shown_by(pipelines: Pipelines, source: str) -> Iterator[cst.BaseExpression | None]:
    """What shows that an expression is a dataset: None where nothing else has to be known, or an argument that has to
    be `tf.data.AUTOTUNE`."""
    names = pipelines.same.get(source, frozenset((source,)))
    if not names.isdisjoint(pipelines.sure):
        yield None
    yield from (argument for name, argument in pipelines.likely if name in names)
