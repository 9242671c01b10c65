"""What speaks for it that a call would have shown what a finding says: the values that the operations and the reads of
a line got while it ran eagerly, and the operations that the line makes when it is traced.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from types import FrameType
from typing import Any, Final, NamedTuple, TypeAlias

from xlalint.probe.protocol import READ, Spot, Varied
from xlalint.probe.statements import statements

from ..backends.interface import Array
from ..code.user_lines import UserLines

Line: TypeAlias = tuple[str, int]
# For each input of an operation, the name of the argument that it is, or is one of; by kind, inputs and attributes.
Names: TypeAlias = Callable[[str, Sequence[Any], Any], Iterable[str]]
# The values of a tensor, read by no method that is watched; None where there are none.
Content: TypeAlias = Callable[[Any], "Array | None"]

_CONTENT: Final = "content"  # the input of a read
STATIC: Final = "static"  # how a library reads a tensor where it takes none that is traced


def whole_statements(lines: Set[Line]) -> frozenset[Line]:
    """Lines, with the others of the statements that they are part of."""
    found = set(lines)
    for path in {path for path, _ in lines}:
        known = statements(path)
        for line in {line for here, line in lines if here == path}:
            first, last = known.get(line, (line, line))
            found.update((path, number) for number in range(first, last + 1))
    return frozenset(found)


class _Occurrence(NamedTuple):
    """An operation or read of an expression, the how many-eth of its kind there in one call."""

    spot: Spot
    span: object
    kind: str
    number: int


class LineValues:
    """A watcher that collects which values the inputs of operations and reads on certain lines get, call by call."""

    def __init__(self, user_lines: UserLines, lines: Set[Line], names: Names, content: Content) -> None:
        self._user_lines, self._lines = user_lines, lines
        self._names, self._content = names, content
        # Of each input the digests of its values, and the shapes of the first result.
        self._values: dict[_Occurrence, dict[tuple[int, str], set[bytes]]] = {}
        self._shapes: dict[_Occurrence, set[tuple[int, ...]]] = {}
        self._counts: Counter[tuple[Spot, object, str]] = Counter()

    def next_call(self) -> None:
        """Another call begins: what happens again now is the same as in the last one."""
        self._counts.clear()

    def ran(self, kind: str, inputs: Any, attributes: Any, outputs: Any, frame: FrameType) -> None:
        """See `Watcher`."""
        if (spot := self._spot(frame)) is not None:
            here = self._occurrence(spot, kind)
            self._take(here, list(zip(self._names(kind, inputs, attributes), inputs, strict=True)))
            for one in list(outputs)[:1]:
                self._shapes.setdefault(here, set()).add(tuple(getattr(one, "shape", ())))

    def read(self, how: str, tensor: Any, frame: FrameType) -> None:
        """See `Watcher`."""
        if (how == STATIC or self._user_lines.owns(frame.f_code.co_filename)) and (
            spot := self._spot(frame)
        ) is not None:
            self._take(self._occurrence(spot, READ), [(_CONTENT, tensor)])

    def varied(self) -> tuple[Varied, ...]:
        """The operations and reads that got at least two different values."""
        found: dict[Varied, None] = {}
        for here, inputs in self._values.items():
            names = tuple(dict.fromkeys(name for (_, name), values in inputs.items() if len(values) > 1))
            if names:
                found.setdefault(Varied(here.spot, here.kind, names, len(self._shapes.get(here, ()))))
        return tuple(found)

    def _occurrence(self, spot: Spot, kind: str) -> _Occurrence:
        self._counts[spot, spot.span, kind] += 1
        return _Occurrence(spot, spot.span, kind, self._counts[spot, spot.span, kind])

    def _spot(self, frame: FrameType) -> Spot | None:
        """The user's innermost line that is being executed, where it is one of those."""
        spot = self._user_lines.innermost(frame)
        return spot if spot is not None and (spot.path, spot.line) in self._lines else None

    def _take(self, here: _Occurrence, inputs: Sequence[tuple[str, Any]]) -> None:
        values = self._values.setdefault(here, {})
        for index, (name, value) in enumerate(inputs):
            values.setdefault((index, name), set()).add(_digest(self._content(value)))


def _digest(array: Array | None) -> bytes:
    if array is None:
        return b""
    data = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return hashlib.blake2b(data, digest_size=16, person=str(array.shape).encode()[:16]).digest()
