"""The messages of errors: their gist, without what libraries write around them."""

from __future__ import annotations

import re
import textwrap
from typing import Final

_MESSAGE: Final = 300  # characters of a message that are kept
_PREFACES: Final = ("in user code:", 'File "', "Exception encountered when calling", "Arguments received by")
_DEVICE: Final = re.compile(r"\{\{function_node .*?\}\} ?| \[Op:\w+\].*")
_NAMELESS: Final = re.compile(r" for '$")  # the name of the operation is left out
_ADVICE: Final = re.compile(
    r"You can attempt|The error occurred while tracing the function|The op is created at:|Stack trace for op|\{\{node|"
    r"\n\tf2xla"
)
# What Keras writes around the message of an error in a layer.
_KERAS_FRAME: Final = re.compile(
    r"\AException encountered when calling [^\n]*\n\n(.*?)\n\n(?:Call arguments|Arguments) received", re.S
)
# What AutoGraph writes before it: the lines of the user's code on the way, each with its file and number.
_AUTOGRAPH_FRAMES: Final = re.compile(r"\Ain user code:\n\n(?:    File [^\n]*\n(?: {8}[^\n]*\n)?)+\s*")


def brief(text: str) -> str:
    """The gist of a message in one line, without advice and the traceback that AutoGraph or Keras put before it."""
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    if len(paragraphs) > 1 and paragraphs[0].startswith(_PREFACES):
        paragraphs = [part for part in paragraphs if not part.startswith(_PREFACES)] or paragraphs
    said = _ADVICE.split(_DEVICE.sub("", paragraphs[0]))[0] if paragraphs else ""
    said = _NAMELESS.sub("", " ".join(said.split()))
    return said if len(said) <= _MESSAGE else said[: _MESSAGE - 3] + "..."


def message_of(error: BaseException) -> str:
    """What an error says, without what AutoGraph and Keras write around it."""
    missing = isinstance(error, KeyError) and error.args  # whose text is written as Python would
    text = str(error.args[0] if missing else error)
    while True:
        found = _KERAS_FRAME.search(text)
        said = _AUTOGRAPH_FRAMES.sub("", textwrap.dedent(found[1]) if found else text)
        if said == text:
            return text
        text = said


def first_line(error: object) -> str:
    """What an error says, on one line."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


def described(error: BaseException) -> str:
    """An error in a line."""
    said = first_line(message_of(error))
    return f"{type(error).__name__}: {brief(message_of(error)) if said.startswith(_PREFACES) else said}"[:300]
