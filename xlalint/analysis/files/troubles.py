"""What goes wrong while files are read or executed, as data."""

from __future__ import annotations

import traceback

from ...findings.codes import SYNTAX_ERROR
from ...sources.outline import OutlineError
from ...sources.reading import mentions_tensorflow
from ...sources.text import Source, SourceTrouble
from ..record import Record


class SyntaxTrouble(Record):
    """A file or definition that cannot be read as Python, or is not worth it; 1-based line and column. `aside`: nothing
    in the file names TensorFlow or Keras."""

    path: str
    line: int
    column: int
    message: str
    code: str = SYNTAX_ERROR
    aside: bool = False

    @classmethod
    def of(cls, source: Source, part: OutlineError | SourceTrouble, code: str = SYNTAX_ERROR) -> SyntaxTrouble:
        """What is wrong with a part of a source, or with all of it."""
        aside = not mentions_tensorflow(source.text.encode("utf-8", "replace"))
        return cls(source.display, part.line, part.column, part.message, code, aside)


class InternalTrouble(Record):
    """An exception of the analyser or of a rule about one place; `detail` is its traceback. `rule`: the code of the
    rule whose own code raised it."""

    path: str
    message: str
    detail: str
    rule: str = ""

    @classmethod
    def of(cls, error: Exception, path: str, line: int, doing: str, rule: str = "") -> InternalTrouble:
        """The exception that is being handled, which came up while `doing` something with a line of `path`."""
        message = f"line {line}: internal error while {doing}: {type(error).__name__}: {error}"
        return cls(path, message, traceback.format_exc(), rule)
