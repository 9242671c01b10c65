"""What the source of a decorator names."""

from __future__ import annotations

import re
from typing import Final

# What a decorator of the project must name in order to compile what it is given, and where it only speaks of it.
_COMPILERS: Final = re.compile(r"\bfunction\b|\bjit|do_not_convert|compile")
_JIT: Final = re.compile(r"\b(?:jit|experimental)_compile\s*=\s*(?!False|None)")
_SPEAKING: Final = re.compile(r"""#[^\r\n]*|(\"{3}|'{3}|"|')(?:\\.|(?!\1).)*+\1""", re.DOTALL)


def names_compilers(text: str) -> bool:
    """Whether the source of a decorator names what compiles, outside of comments and strings."""
    return _COMPILERS.search(text) is not None and _COMPILERS.search(without_speech(text)) is not None


def without_speech(text: str) -> str:
    """Source without its comments and strings."""
    return _SPEAKING.sub("", text)


def names_jit(text: str) -> bool:
    """Whether the source of a decorator asks for XLA."""
    return _JIT.search(text) is not None
