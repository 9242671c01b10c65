"""What is known of decorators by their names; what they make of a function is evaluated by `interpreter`."""

from __future__ import annotations

import re
from typing import Final

from .values import Api, FunctionValue

# What a decorator of the project must name in order to compile what it is given, and where it only speaks of it.
_COMPILERS: Final = re.compile(r"\bfunction\b|\bjit|do_not_convert|compile")
_SPEAKING: Final = re.compile(r"""#[^\r\n]*|(\"{3}|'{3}|"|')(?:\\.|(?!\1).)*+\1""", re.DOTALL)
# Decorators that leave the function what it is, as far as the analyser is concerned; properties are seen elsewhere.
TRANSPARENT: Final = frozenset(
    (
        "property",
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "abc.abstractmethod",
        "overload",
        "typing.overload",
        "functools.wraps",
        "functools.cached_property",
        "functools.lru_cache",
        "functools.cache",
        "contextlib.contextmanager",
        "contextmanager",
        "pytest.fixture",
        "wraps",
    )
)
RECORDS: Final = ("dataclass", "dataclasses.dataclass", "attr.s", "attr.attrs", "attrs.define", "struct.dataclass")


def names_compilers(text: str) -> bool:
    """Whether the source of a decorator names what compiles, outside of comments and strings."""
    return _COMPILERS.search(text) is not None and _COMPILERS.search(_SPEAKING.sub("", text)) is not None


def is_wrapped(value: FunctionValue) -> bool:
    """Whether a decorator of unknown intent stands around a function: one of the project, or of an unknown library."""
    return value.compiled is None and any(
        not isinstance(value.function.module.resolve_text(name), Api)
        for text in value.function.decorator_texts
        if (name := text.partition("(")[0]) not in TRANSPARENT and not name.endswith((".setter", ".getter"))
    )
