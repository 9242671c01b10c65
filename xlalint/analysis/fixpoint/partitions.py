"""How a project is analysed in partitions: each partition enters the functions of its share of the files with an
interpreter of its own, and now and then all partitions tell each other what they have learned, since who calls a
function is a matter of the whole project.

A partition is a generator: it yields what it has to send, and is sent the messages of all: side by side (in one job,
too, in processes that take turns), or in groups, one after another (`exchange`). What the partitions are depends on the
project alone, so that findings do not depend on how many processes run them. What a partition finds depends on what it
reads and on the answers to what it asks of the others, so that it need not be run again where these stay what they
were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, count, takewhile
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from ...sources.testing import is_of_tests

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Partition: TypeAlias = Generator[Any, Any, T]
# A function to all partitions: the path of its file as reports show it, its line, its name; one that is made inside of
# another has its text for a name, and all those of a file stand in no line.
Key: TypeAlias = tuple[str, int, str]

# Characters of source that are not cut, and about how many partitions a project has that is larger. More partitions
# cost more, since what several of them need is analysed by each; fewer leave more to analyse again where a file has
# changed.
_TEXT_OF_A_PART: Final = 50_000
_PARTS: Final = 8
# What no partition exceeds, however large the project is: about five seconds of work. Tests use much of what other
# partitions have, too; where there are few of them, more partitions cost little, and one takes less than a second: they
# grow when a project would have more of them than can be looked through at each edit.
_MOST_TEXT: Final = 2_000_000
_TEXT_WITHOUT_TESTS: Final = 128_000
_PARTS_WITHOUT_TESTS: Final = 128
_MOST_WITHOUT_TESTS: Final = 512_000
_FEW_TESTS: Final = 0.1  # of the text
# Up to so much text, what all partitions know is held in memory together, whatever that is; of several processes each
# may hold more, since partitions that run one after another in them are more often run again.
_TOGETHER: Final = 4_000_000
_TOGETHER_EACH: Final = 6_000_000
# The shares of the room for partitions that run side by side which are filled when no more are started, since all of
# them grow, and when some are given up, which are run again later.
_STARTED: Final = 0.75
_TOO_MUCH: Final = 1.1
# The round from which they hardly grow any more.
_SETTLED: Final = 3
# How often all partitions send that run in groups; the only partition of a project has nobody to send to.
ROUNDS: Final = 11


@dataclass(frozen=True, slots=True)
class UncalledFunction:
    """A function that nobody was seen to call, and the functions that it leads to, itself among them. `position`: in
    the order of all such functions."""

    position: tuple[int, str, int]
    key: Key
    below: frozenset[Key]

    def follows(self, other: UncalledFunction) -> bool:
        """Whether `other` calls this one; of two that call each other, the first keeps being the root."""
        return other.key != self.key and (self.position > other.position or other.key not in self.below)


@dataclass(frozen=True, slots=True)
class Message:
    """What a partition has to send in one round."""

    functions: frozenset[Key] = frozenset()
    roots: tuple[UncalledFunction, ...] = ()


class Messages(Protocol):
    """The messages of all partitions in one round."""

    def names(self, key: Key) -> bool:
        """Whether anybody named a function."""

    def follows(self, root: UncalledFunction) -> bool:
        """Whether another uncalled function leads to this one."""


class GatheredMessages:
    """What partitions have sent that send at the same time."""

    def __init__(self, sent: Sequence[Message]) -> None:
        self.sent = sent

    @cached_property
    def _functions(self) -> frozenset[Key]:
        return frozenset().union(*(one.functions for one in self.sent))

    @cached_property
    def _callers(self) -> dict[Key, list[UncalledFunction]]:
        found: dict[Key, list[UncalledFunction]] = {}
        for root in chain.from_iterable(one.roots for one in self.sent):
            for key in root.below:
                found.setdefault(key, []).append(root)
        return found

    def names(self, key: Key) -> bool:
        """Whether anybody named a function."""
        return key in self._functions

    def follows(self, root: UncalledFunction) -> bool:
        """Whether another uncalled function leads to this one."""
        return any(map(root.follows, self._callers.get(root.key, ())))


@dataclass(slots=True)
class Round:
    """A round as one partition knows it: what it sent, the functions that it then asked for and that somebody named or
    did not, and of each of its uncalled functions whether it follows another one; None where it did not ask."""

    sent: Message
    named: set[Key] = field(default_factory=set)
    unnamed: set[Key] = field(default_factory=set)
    followed: list[bool | None] = field(default_factory=list)

    def is_named(self, key: Key, received: Messages) -> bool:
        """Whether anybody named a function."""
        answer = received.names(key)
        (self.named if answer else self.unnamed).add(key)
        return answer

    def holds(self, received: Messages) -> bool:
        """Whether the answers are the same as they were."""
        return (
            all(map(received.names, self.named))
            and not any(map(received.names, self.unnamed))
            and all(
                followed is None or followed == received.follows(root)
                for followed, root in zip(self.followed, self.sent.roots, strict=True)
            )
        )


class Recorded(Protocol[T_co]):
    """A partition as an earlier run left it."""

    @property
    def result(self) -> T_co: ...

    def sent(self, round_number: int) -> Any:
        """What it sent in a round; None when it had come to its end."""

    def holds(self, round_number: int, received: Any) -> bool:
        """Whether what it asked in a round is answered now as it was then."""


@dataclass(frozen=True, slots=True)
class Member(Generic[T]):
    """A partition of an analysis: how it is started, and what is known of it."""

    start: Callable[[], Partition[T]]
    recorded: Recorded[T] | None = None


def fit_in_memory(text: int, processes: int) -> bool:
    """Whether the partitions of a project with so many characters run side by side: none is run twice then, and what
    all of them know is in memory. Else they run in groups, one after another."""
    return text <= (_TOGETHER if processes == 1 else _TOGETHER_EACH * processes)


def ask_first(text: int) -> bool:
    """Whether the partitions of a project with so many characters ask each other something before they begin, which is
    one more round: not where so many of them run one after another that all would have begun before there is no room
    left. Whatever the number of processes."""
    return text <= _TOGETHER


def rounds_of(text: int) -> int:
    """How often all partitions of a project with so many characters send."""
    return ROUNDS + ask_first(text)


def shares(files: Sequence[tuple[str, int]]) -> list[range]:
    """The positions of the files of each partition, given the path and size of each: neighbours, which call each other
    most.

    Between which files a cut is made depends on their paths below the folder that holds them all, wherever a run
    starts, and on sizes only by and by: an edit hardly ever moves one, and then no other."""
    if not files:
        return []
    files = list(zip(_below_one_folder([path for path, _ in files]), [size for _, size in files], strict=True))
    before = list(accumulate((size for _, size in files), initial=0))
    tests = list(accumulate((size if is_of_tests(path) else 0 for path, size in files), initial=0))
    with_tests = max(_TEXT_OF_A_PART, min(_above(before[-1] // _PARTS), _MOST_TEXT))
    without = max(_TEXT_WITHOUT_TESTS, min(_above(before[-1] // _PARTS_WITHOUT_TESTS), _MOST_WITHOUT_TESTS))
    ranks = [
        (_shared_folders(files[at - 1][0], path), _hash(path)) if at else (0, b"") for at, (path, _) in enumerate(files)
    ]
    pending, found = [range(len(files))], []
    while pending:
        here = pending.pop()
        size = before[here.stop] - before[here.start]
        has_tests = tests[here.stop] - tests[here.start] > _FEW_TESTS * size
        if size <= (with_tests if has_tests else min(with_tests, without)) or len(here) == 1:
            found.append(here)
            continue
        cuts = here[1:]
        inside = [at for at in cuts if size <= 4 * (before[at] - before[here.start]) <= 3 * size]
        cut = min(inside or cuts, key=lambda at: ranks[at])
        pending += [range(cut, here.stop), range(here.start, cut)]
    return found


def _below_one_folder(paths: Sequence[str]) -> list[str]:
    """Paths without the folders that all of them share."""
    split = [path.split("/") for path in paths]
    least, most = min(split), max(split)
    shared = _shared_parts(least[:-1], most[:-1])
    return ["/".join(parts[shared:]) for parts in split]


def _above(number: int) -> int:
    """The next power of two, which an edit hardly ever changes."""
    return 1 << number.bit_length()


def _shared_folders(one: str, other: str) -> int:
    """How many folders two files have in common: packages are cut between before they are cut apart."""
    return _shared_parts(one.split("/")[:-1], other.split("/")[:-1])


def _shared_parts(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _hash(path: str) -> bytes:
    return hashlib.blake2b(path.encode("utf-8", "backslashreplace"), digest_size=8).digest()


class Running(Generic[T]):
    """Those of an analysis's partitions that run in this process, advanced in turn."""

    def __init__(self, members: Sequence[Member[T]]) -> None:
        self._members = members
        self._received: list[Any] = []
        self._parts: dict[int, Partition[T]] = {}
        self.results: dict[int, T] = {}

    def go_on(self, received: Any) -> dict[int, Any]:
        """What the partitions send in the next round, by their indices, once they received the messages of the
        last."""
        self._received.append(received)
        return self._sent_by(self._parts)

    def start(self, starts: Sequence[int]) -> dict[int, Any]:
        """What other partitions send in this round, which run from now on; they receive what was sent before."""
        for position in starts:
            part = self._parts[position] = self._members[position].start()
            for earlier in (None, *self._received)[:-1]:
                part.send(earlier)
        return self._sent_by(starts)

    def _sent_by(self, positions: Iterable[int]) -> dict[int, Any]:
        sent = {}
        last = self._received[-1] if self._received else None
        for position in positions:
            try:
                sent[position] = self._parts[position].send(last)
            except StopIteration as end:
                self.results[position] = end.value
        return sent


def run_group(
    parts: Iterable[tuple[int, Partition[T]]],
    filled: Callable[[], float],
    after: Callable[[int, Mapping[int, Message]], Messages],
) -> dict[int, T]:
    """Run some partitions, each with its number, side by side to their end: of those that are given the first, as many
    as there is room for. `filled`: how much of the room they take, 1 or more being all; `after`: what they receive in a
    round, by its number, in which they sent that."""
    running: dict[int, Partition[T]] = {}
    sent: dict[int, Message] = {}
    results: dict[int, T] = {}

    def step(number: int, received: Messages | None) -> None:
        try:
            sent[number] = running[number].send(received)
        except StopIteration as end:
            results[number] = end.value

    for number, part in parts:
        running[number] = part
        step(number, None)
        if filled() > _STARTED:
            break
    dropped = False
    for round_number in count():
        if len(results) == len(running):
            return results
        received, full = after(round_number, dict(sent)), False
        for number in list(running):
            if full:
                del running[number], sent[number]
            else:
                step(number, received)
                # Those that went on stay: all that was done for them would be in vain.
                full = not dropped and round_number < _SETTLED and filled() >= _TOO_MUCH
        dropped = dropped or full
    raise AssertionError
