"""An error, or an operation, brought back to the user's own line.

The way there is the stack that TensorFlow keeps for each operation, the traceback of the exception, and what AutoGraph
knows of the lines that it translated.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePath
from types import CodeType, FrameType
from typing import Any, Final

from xlalint.probe.protocol import TRACE, Spot, Trouble
from xlalint.sources.packages import INSTALLED

from .graphs import find_op
from .messages import brief

_NODE: Final = re.compile(r"\{\{node ([^}\s]+)\}\}|op \[?'?(?P<op>[\w./]+)")
_LACKING: Final = re.compile(r"No registered '(\w+)' OpKernel")
_FRAME: Final = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in')
# From here on TensorFlow tells of the operations around the one that failed.
_OUTER: Final = "tf2xla conversion failed while converting"
# TensorFlow's own functions, which AutoGraph converts and then takes for the user's.
_WRAPPERS: Final = ("bound_method_wrapper", "autograph_handler")
_GRADIENT: Final = "gradient_tape/"
_LIBRARY: Final = f"{Path(linecache.__file__).parent}/"
_OWN: Final = f"{Path(__file__).parents[1]}/"  # what calls the user's functions here
_PLACE: Final = ("lineno", "colno", "end_lineno", "end_colno")  # of a frame in a traceback


class UserLines:
    """Finds the user's lines: those in files under `roots` that are not packages installed there. `moved`: files that
    stand for one of the user's, each with that and by how many lines they are further down."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(str(Path(root)) for root in roots)
        self.moved: dict[str, tuple[str, int]] = {}

    def owns(self, path: str) -> bool:
        """Whether a file is the user's."""
        if path in self.moved:
            return True
        if path.startswith((_LIBRARY, _OWN)):
            return path in self._roots  # Python's own, or the probe's, wherever these lie
        for root in self._roots:
            if path == root:
                return True
            if path.startswith(root + "/"):
                inside = PurePath(path[len(root) + 1 :]).parts
                return not set(INSTALLED).intersection(inside)
        return False

    def spots(self, frames: Iterable[tuple[str, int]]) -> tuple[Spot, ...]:
        """The user's lines among frames, in their order."""
        return tuple(dict.fromkeys(self._spot(path, line) for path, line in frames if self.owns(path)))

    def innermost(self, frame: FrameType | None) -> Spot | None:
        """The user's line that is being executed."""
        while frame is not None:
            path = frame.f_code.co_filename
            if self.owns(path):
                return self._exactly(path, frame.f_lineno, _instruction(frame))
            frame = frame.f_back
        return None

    def of_code(self, frames: Iterable[tuple[CodeType, int]]) -> tuple[Spot, ...]:
        """The user's lines among frames, in their order, each given as its code and how far that was executed."""
        found: list[Spot] = []
        for code, offset in frames:
            if self.owns(code.co_filename):
                place = _place(code, offset)
                found.append(self._exactly(code.co_filename, place[0] or code.co_firstlineno, place))
        return tuple(dict.fromkeys(found))

    def called_from(self, frame: FrameType | None) -> tuple[Spot, ...]:
        """The user's lines that are being executed, innermost first."""
        found: list[Spot] = []
        while frame is not None:
            path = frame.f_code.co_filename
            if self.owns(path):
                found.append(self._exactly(path, frame.f_lineno, _instruction(frame)))
            frame = frame.f_back
        return tuple(dict.fromkeys(found))

    def lines(self, lines: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, ...]]:
        """Lines by file, as the user's own files have them."""
        placed = [self._spot(path, line) for path, here in lines.items() for line in here]
        paths = dict.fromkeys(spot.path for spot in placed)
        return {path: tuple(sorted({spot.line for spot in placed if spot.path == path})) for path in paths}

    def _spot(self, path: str, line: int) -> Spot:
        home, further = self.moved.get(path, (path, 0))
        return Spot(home, max(line - further, 1))

    # -- operations ---------------------------------------------------------------------------------------------------

    def of_named_op(self, graph: Any, name: str) -> tuple[tuple[Spot, ...], str]:
        """The user's lines that made an operation, innermost first, and what it is; nothing where it is unknown."""
        found = find_op(graph, name)
        if found is not None and (spots := self.of_op(found)):
            return spots, found.type
        # An operation of a gradient is named after the one that it belongs to.
        parts = name.removeprefix(_GRADIENT).split("/") if name.startswith(_GRADIENT) else []
        before = (find_op(graph, "/".join(parts[:end])) for end in range(len(parts), 0, -1))
        return next(((self.of_op(op), op.type) for op in before if op is not None), ((), ""))

    def of_op(self, op: Any) -> tuple[Spot, ...]:
        """The user's lines that made an operation of a graph, innermost first."""
        frames = [frame for frame in op.traceback or () if frame.name not in _WRAPPERS]
        return self.spots((frame.filename, frame.lineno) for frame in reversed(frames))

    def made_first(self, ops: Iterable[Any]) -> tuple[Spot, ...]:
        """The user's innermost lines that made operations."""
        return tuple(dict.fromkeys(spot for op in ops for spot in self.of_op(op)[:1]))

    # -- errors -------------------------------------------------------------------------------------------------------

    def trouble(self, error: BaseException, stage: str, graph: Any = None) -> Trouble:
        """What an exception of a traced or compiled call says, and where in the user's code it arose."""
        text = str(error)
        first = text.partition(_OUTER)[0]
        spots, made = self._raised(error), ""
        if stage != TRACE:
            told, made = self._told(first, graph)
            spots = told or spots
        elif not spots:  # Keras 2 raises another error, in which the frames are text
            spots, _ = self._told(first, graph)
        lacking = tuple(dict.fromkeys(_LACKING.findall(text)))
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        return Trouble(
            type(error).__name__,
            brief(text).removeprefix(f"{type(error).__name__}: "),
            stage,
            spots,
            lacking,
            (made,) if made else (),
            text,
            trace,
        )

    def _raised(self, error: BaseException) -> tuple[Spot, ...]:
        """The user's lines that a traceback goes through, innermost first."""
        spots: list[Spot] = []
        seen: BaseException | None = error
        while seen is not None:
            raised = reversed(traceback.extract_tb(seen.__traceback__))
            translated = getattr(getattr(seen, "ag_error_metadata", None), "translated_stack", ())
            # AutoGraph tells of what lies below the last frame that Python shows.
            below = self.spots((frame.filename, frame.lineno) for frame in translated)
            shown = [
                self._exactly(frame.filename, frame.lineno or 0, [getattr(frame, name, None) for name in _PLACE])
                for frame in raised
                if self.owns(frame.filename)
            ]
            spots = [*below, *shown, *spots]
            seen = seen.__cause__
        return tuple(dict.fromkeys(spots))

    def _exactly(self, path: str, line: int, place: Sequence[int | None]) -> Spot:
        """A line, with the expression where Python (3.11) tells of it; not where the line has moved."""
        spot = self._spot(path, line)
        match place:
            case [int(first), int(start), int(last), int(end)] if path not in self.moved:
                return replace(spot, span=(first, _column(path, first, start), last, _column(path, last, end)))
        return spot

    def _told(self, message: str, graph: Any) -> tuple[tuple[Spot, ...], str]:
        """The user's lines that an error of the compiler names, and the operation if it names one; else by the frames
        that it prints."""
        for match in _NODE.finditer(message):
            if graph is not None and match[1]:
                spots, kind = self.of_named_op(graph, match[1])
                if spots:
                    return spots, kind
        frames = [(match["path"], int(match["line"])) for match in _FRAME.finditer(message)]
        return self.spots((path, line) for short, line in reversed(frames) for path in self._whole(short)), ""

    def _whole(self, short: str) -> Iterator[str]:
        """The user's file of which the compiler prints the end of the path only."""
        parts = PurePath(short).parts
        yield from (path for path in self.moved if path.endswith(short))
        candidates = (Path(root, *parts[start:]) for root in self._roots for start in range(len(parts) + 1))
        found = (str(one) for one in candidates if str(one).endswith(short) and one.is_file())
        yield from (path for path in islice(found, 1) if self.owns(path))


def _instruction(frame: FrameType) -> Sequence[int | None]:
    """Where the expression stands that a frame evaluates: first line, offset, last line, offset behind it."""
    return _place(frame.f_code, frame.f_lasti)


def _place(code: CodeType, offset: int) -> tuple[int | None, ...]:
    """Where the expression of an instruction stands; of the line only before Python 3.11."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return (next((line for start, end, line in code.co_lines() if start <= offset < end), None),)
    first, last, start, end = next(islice(positions(), offset // 2, None))
    return first, start, last, end


def _column(path: str, line: int, offset: int) -> int:
    """A column in code points from 1, of an offset in bytes."""
    return len(linecache.getline(path, line).encode()[:offset].decode(errors="replace")) + 1
