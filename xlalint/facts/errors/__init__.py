"""The errors that are known: how TensorFlow, AutoGraph, Keras, JAX and XLA word them, and the rules that they lead to.

In a wording a blank stands for any white space and a backtick for any quotation mark or none, as people paste them.
Wordings of older versions stand beside those of today. A test runs every example that a rule claims to fail, and asks
that what TensorFlow prints leads back to that rule; another one asks of errors that people published. Where two
patterns find the same words, the first counts.
"""

from __future__ import annotations

from typing import Final

from . import devices, jax, shapes, surroundings, tracing
from .pattern import Pattern

PATTERNS: Final[tuple[Pattern, ...]] = (
    *surroundings.PATTERNS,
    *jax.PATTERNS,
    *tracing.PATTERNS,
    *shapes.PATTERNS,
    *devices.PATTERNS,
)

__all__ = ["PATTERNS"]
