"""Logs as people paste them: cleaned of terminal codes and prefixes, cut into passages, with the frames in them.

A passage is what belongs to one error: a traceback, or one message of TensorFlow's own log. Frames come as Python,
AutoGraph ("in user code:"), XLA ("The op is created at:"), pytest and IPython print them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final


class Kind(StrEnum):
    """In which list of frames a frame stands."""

    CALL = "call"  # the way to the error
    DEFINITION = "definition"  # where an operation of the graph was made
    LOCATION = "location"  # pytest: written below the error


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback. `text` is the source line where the log shows it, `at` where the frame is in the log."""

    path: str
    line: int
    function: str | None
    text: str | None
    kind: Kind
    at: int

    @property
    def own(self) -> bool:
        """Neither TensorFlow's, Keras's, AutoGraph's nor Python's own code."""
        return not _LIBRARY.search(self.path)

    @property
    def installed(self) -> bool:
        """A package that was installed: the user's line only where nothing else is."""
        return any(part in ("site-packages", "dist-packages") for part in PurePosixPath(self.path).parts)


@dataclass(frozen=True, slots=True)
class Log:
    """The cleaned text, where its passages begin, and all frames in order."""

    text: str
    starts: tuple[int, ...]
    frames: tuple[Frame, ...]

    def passage(self, position: int) -> tuple[int, int]:
        """The passage around a position."""
        index = bisect_right(self.starts, position) - 1
        end = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
        return self.starts[index], end

    def frames_between(self, start: int, end: int) -> list[Frame]:
        """The frames in a stretch of the text."""
        first, last = (bisect_left(self.frames, position, key=lambda frame: frame.at) for position in (start, end))
        return list(self.frames[first:last])


# What people call code with, and what code computes with: test runners, notebooks, NumPy.
_TOOLS: Final = (
    r"absl|_pytest|pluggy|six\.py|numpy|wrapt|decorator\.py|IPython|ipykernel\w*|\w+_kernel_launcher|traitlets|tornado"
)
_LIBRARY: Final = re.compile(
    rf"""(?:^|/)(?:site-packages|dist-packages)/(?:tensorflow(?:_core)?/|keras(?:_core)?/|tf_keras/|jax/|jaxlib/|optree/|(?:{_TOOLS})(?:/|\.py|$))
    | (?:^|/)tensorflow(?:_core)?/(?:python|core|dtensor)/ | (?:^|/)keras/(?:src|engine|utils|layers)/
    | (?:^|/)tf_keras/src/ | (?:^|/)keras_core/
    | __autograph_generated_file | ^<(?!ipython|input>|stdin>|console>)
    | (?:^|/)(?:_pytest|pluggy|runpy\.py|contextlib\.py|threading\.py)
    | (?:^|/)lib/python3\.\d+/(?!(?:site|dist)-packages)""",
    re.VERBOSE,
)

# -- cleaning ---------------------------------------------------------------------------------------------------------

_TERMINAL: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|\[\d{1,2}(?:;\d{1,3})*m"
)
_QUOTES: Final = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "\ufeff": ""})
_TIME: Final = r"\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
# What a machine put before the line; the second is TensorFlow's own log, whose messages stand alone.
_PREFIX: Final = re.compile(
    rf"""{_TIME}[ \t] | \[[\w,.:/ -]+\]<std(?:err|out)>: | \(\w*\s?pid=\d+[^)]*\)[ ] | [\w.-]+\d[ ]+\|[ ]
    | >[ ](?=[ ]{{0,2}}[A-Z])""",
    re.VERBOSE,
)
_MESSAGE: Final = re.compile(
    rf"""(?:{_TIME}:[ ])?[IWEF][ ]\S+\.(?:cc|h|py):\d+\][ ] | [IWEF]\d{{4}}[ ][\d:.]+\s+\d+[ ]\S+:\d+\][ ]""",
    re.VERBOSE,
)
_PYTEST: Final = re.compile(r"E {3,}")


def read(data: bytes) -> str:
    """The text of a log file in whatever encoding its program wrote."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def parse(text: str) -> Log:
    """Clean a log, and find its passages and frames."""
    lines: list[str] = []
    starts: list[int] = [0]
    position = 0
    for raw in _split(text):
        line, alone = _bare(raw)
        if alone or _BEGINS.match(line):
            starts.append(position)
        lines.append(line)
        position += len(line) + 1
    return Log("\n".join(lines), tuple(dict.fromkeys(starts)), tuple(_frames(lines)))


def _split(text: str) -> list[str]:
    text = _TERMINAL.sub("", text.translate(_QUOTES))
    if re.search(r'\\n\s*File \\?"', text):  # a log entry that was printed as JSON
        text = text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t")
    return re.split(r"\r\n|\r|\n", text)


def _bare(line: str) -> tuple[str, bool]:
    """A line without what was put before it, and whether it is a message of TensorFlow's own log."""
    while match := _PREFIX.match(line):
        line = line[match.end() :]
    if match := _MESSAGE.match(line):
        return line[match.end() :], True
    return (line[match.end() :] if (match := _PYTEST.match(line)) else line), False


# -- passages and frames ----------------------------------------------------------------------------------------------

_BEGINS: Final = re.compile(r"\s*Traceback \(most recent call last\)|_{3,} \S.* _{3,}$|-{40,}$")
_CALLS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # Python, AutoGraph, XLA
        r'\s*File "(?P<path>[^"]+)", line (?P<line>\d{1,9})(?:, in ?(?P<function>.*?))?(?:  \*+)?$',
        r"File (?P<path>\S.*?\.py):(?P<line>\d{1,9}), in (?P<function>[\w.<>]+)",  # IPython 8
        r"(?P<path>(?:Cell In|Input In) ?\[\d+\]), (?:line (?P<line>\d{1,9})|in )(?:, in )?(?P<function>[\w.<>]+)?",
        # IPython 7
        r"\[?(?P<path><ipython-input-[\w-]+>|[~/]\S+?\.py)(?:\]\(\S*\))? in (?P<function>[\w.<>]+)(?P<line>)",
        r"(?P<path>\S+\.py):(?P<line>\d{1,9})[:,] in (?P<function>\S+)$",  # pytest --tb=short
        # AutoGraph, to 2.4
        r"\s*(?P<path>(?!The error )\S.*?\.py|<[\w-]+>):(?P<line>\d{1,9}) (?P<function>[\w<>.]+)(?:  \*+)?\s*$",
        r"(?P<path>\S+\.py):(?P<line>\d{1,9}): ?(?P<end>\w*)$",  # pytest, below its source
    )
)
_PERHAPS: Final = re.compile(r"\.py|, line |In ?\[|<ipython|>:\d")  # what every one of these has
_DEFINITIONS: Final = re.compile(
    r"(?:The op is created at|Stack trace for op definition|.*defined at \(most recent call last\)"
    r"|.*was defined (?:here|at)|Defined at|.*cannot be accessed from .* because it was defined)"
)
# TensorFlow 1 and 2.0
_MADE: Final = re.compile(r"\(defined (?:at|@) (?P<path>[^\s():]+|<[\w-]+>):(?P<line>\d{1,9})\)")
_ARROW: Final = re.compile(r"-+> ?(?P<line>\d{1,9})(?P<text>.*)")
_MARKS: Final = re.compile(r"\s*[~^]+\s*$")


def _frames(lines: list[str]) -> Iterator[Frame]:
    position, definitions, shown = 0, False, None
    for index, line in enumerate(lines):
        if _DEFINITIONS.match(line.strip()):
            definitions = True
        elif _BEGINS.match(line) or line.strip() == "in user code:":
            definitions = False
        elif line.startswith(">  "):
            shown = line[1:].strip()
        match = _call(line)
        if match is not None:
            number, text = _source(lines, index, match["line"])
            below = "end" in match.re.groupindex
            if below:
                text, shown = shown, None
            kind = Kind.LOCATION if below else Kind.DEFINITION if definitions else Kind.CALL
            if number is not None:
                path = match["path"].replace("\\", "/")
                function = match.groupdict().get("function") or None  # of a lambda XLA prints nothing
                yield Frame(path, number, function, text, kind, position)
        elif "(defined " in line:
            for made in _MADE.finditer(line):
                yield Frame(made["path"], int(made["line"]), None, None, Kind.DEFINITION, position + made.start())
        position += len(line) + 1


def _call(line: str) -> re.Match[str] | None:
    """The frame that a line names."""
    if not _PERHAPS.search(line):
        return None
    return next((found for pattern in _CALLS if (found := pattern.match(line))), None)


def _source(lines: list[str], index: int, number: str | None) -> tuple[int | None, str | None]:
    """The line number of a frame, and the source that is printed below it."""
    for line in lines[index + 1 : index + 9]:
        if arrow := _ARROW.match(line):
            return int(arrow["line"]), arrow["text"].strip()
        if _call(line):
            break
    following = lines[index + 1] if index + 1 < len(lines) else ""
    inside = following.startswith("  ") and not _MARKS.match(following)
    is_frame = _call(following) is not None
    text = following.strip() if inside and not is_frame else None
    return (int(number) if number else None), text or None
