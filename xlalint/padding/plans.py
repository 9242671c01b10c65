"""Ways to pad, each with what it costs: how many shapes there are to compile, and how many tokens are padding."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import accumulate
from typing import Final

from .lengths import Histogram

MULTIPLES: Final = (8, 16, 32, 64, 128)


class Way(StrEnum):
    """How a length becomes a padded one."""

    NONE = "none"
    MULTIPLES = "multiples"  # up to the next multiple of a number
    MAXIMUM = "maximum"  # up to the longest of all
    BUCKETS = "buckets"  # up to the next of some lengths


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to pad. `sizes`: the padded lengths that occur, by column; `tokens` counts the padding, too."""

    way: Way
    count: int  # of MULTIPLES the multiple, of BUCKETS how many there are in each column
    sizes: tuple[tuple[int, ...], ...]
    compilations: int
    tokens: int
    padding: int

    @property
    def name(self) -> str:
        match self.way:
            case Way.NONE:
                return "none"
            case Way.MULTIPLES:
                return f"multiples of {self.count}"
            case Way.MAXIMUM:
                return f"the maximum ({' and '.join(str(column[-1]) for column in self.sizes)})"
            case Way.BUCKETS:
                return f"best {' x '.join([str(self.count)] * len(self.sizes))} buckets"

    @property
    def padding_percent(self) -> float:
        """The share of padding in all tokens that are computed."""
        return 100 * self.padding / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True)
class Prices:
    """What a compilation and a token cost, in seconds, and how often each token is computed."""

    compile_seconds: float
    token_seconds: float
    epochs: int = 1

    def compiling(self, plan: Plan) -> float:
        """Seconds spent on compilations."""
        return plan.compilations * self.compile_seconds

    def computing(self, plan: Plan) -> float:
        """Seconds spent on tokens."""
        return plan.tokens * self.epochs * self.token_seconds

    def total(self, plan: Plan) -> float:
        return self.compiling(plan) + self.computing(plan)


def plans_of(histogram: Histogram, most_buckets: int) -> list[Plan]:
    """Every way to pad, in a stable order. With pairs each column is padded by itself, and a shape is a pair."""
    columns = [histogram.column(index) for index in range(histogram.columns)]
    made = partial(_plan, histogram)
    plans = [made(Way.NONE, 0, [lambda length: length] * histogram.columns)]
    plans += [made(Way.MULTIPLES, number, [partial(_up_to, number)] * histogram.columns) for number in MULTIPLES]
    plans.append(made(Way.MAXIMUM, 0, [partial(_next_of, [max(column)]) for column in columns]))
    best = [best_buckets(column, most_buckets) for column in columns]
    # One bucket is the maximum, and a bucket for each length is no padding.
    for count in range(2, min(most_buckets, max(map(len, columns)) - 1) + 1):
        plans.append(made(Way.BUCKETS, count, [partial(_next_of, found[min(count, len(found)) - 1]) for found in best]))
    return plans


def _up_to(multiple: int, length: int) -> int:
    return max(-(-length // multiple), 1) * multiple


def _next_of(sizes: Sequence[int], length: int) -> int:
    return sizes[bisect_left(sizes, length)]


def _plan(histogram: Histogram, way: Way, count: int, paddings: Sequence[Callable[[int], int]]) -> Plan:
    padded = [{length: pad(length) for length in histogram.column(index)} for index, pad in enumerate(paddings)]
    shapes = set()
    tokens = needed = 0
    for lengths, times in histogram.counts.items():
        shape = tuple(column[length] for column, length in zip(padded, lengths, strict=True))
        shapes.add(shape)
        tokens += sum(shape) * times
        needed += sum(lengths) * times
    sizes = tuple(tuple(sorted(set(column.values()))) for column in padded)
    return Plan(way, count, sizes, len(shapes), tokens, tokens - needed)


def best_buckets(counts: Mapping[int, int], most: int) -> list[tuple[int, ...]]:
    """The padded lengths that need the fewest tokens: for one bucket, for two, ... up to `most`, as far as there are
    lengths to tell apart. `counts`: how often each length occurs, shortest first. Exact.

    With `size[j]` the j-th length and `above[j]` how many sequences are no longer, the least number of tokens for the
    first j lengths in k buckets, the last of which holds those from i on, is

        best[k][j] = size[j] * above[j] + min over i of (best[k - 1][i] - size[j] * above[i])

    which asks for the lowest of some straight lines at `size[j]`: the lines come in the order of their slopes and the
    questions in that of their places, so that each row takes time in proportion to the number of lengths.
    """
    sizes = [0, *counts]
    above = [0, *accumulate(counts.values())]
    count = len(counts)
    row: list[int] = [size * number for size, number in zip(sizes, above, strict=True)]
    cuts: list[array[int]] = []  # for each number of buckets, where the last one begins
    result: list[tuple[int, ...]] = [(sizes[count],)]
    for buckets in range(2, min(most, count) + 1):
        row, begins = _next_row(row, sizes, above, buckets)
        cuts.append(begins)
        result.append(tuple(sizes[end] for end in _ends(cuts, count))[::-1])
    return result


def _ends(cuts: Sequence[array[int]], end: int) -> Iterator[int]:
    """The last length of each bucket, from the longest bucket down."""
    yield end
    for begins in reversed(cuts):
        end = begins[end]
        yield end


def _next_row(
    row: Sequence[int], sizes: Sequence[int], above: Sequence[int], buckets: int
) -> tuple[list[int], array[int]]:
    """`best[buckets]` from `best[buckets - 1]`, and the position at which the last bucket begins."""
    lines: deque[int] = deque()  # positions whose lines can be the lowest, by slope
    result = [0] * len(row)
    begins = array("l", [0]) * len(row)
    for end in range(buckets, len(row)):
        new = end - 1
        while len(lines) > 1 and _is_hidden(row, above, lines[-2], lines[-1], new):
            lines.pop()
        lines.append(new)
        size = sizes[end]
        while len(lines) > 1 and row[lines[1]] - size * above[lines[1]] <= row[lines[0]] - size * above[lines[0]]:
            lines.popleft()
        begins[end] = lines[0]
        result[end] = size * above[end] + row[lines[0]] - size * above[lines[0]]
    return result, begins


def _is_hidden(row: Sequence[int], above: Sequence[int], first: int, middle: int, last: int) -> bool:
    """Whether the middle line is nowhere below both others."""
    return (row[last] - row[first]) * (above[middle] - above[first]) <= (row[middle] - row[first]) * (
        above[last] - above[first]
    )
