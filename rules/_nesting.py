"""The `tf.function`s inside compiled code, on the way to a call."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.analysis.interpreter.contexts import CallPath


def steps(trail: CallPath | None, until: CallPath | None = None) -> Iterator[CallPath]:
    """The way to a call, innermost first, behind the frame that `until` enters."""
    while trail is not None and trail != until:
        yield trail
        trail = trail.parent


def apart(trail: CallPath | None, until: CallPath | None = None) -> Iterator[CallPath]:
    """What is a `tf.function` of its own on the way to a call, and entered there or called by compiled code."""
    found = (path for path in steps(trail, until) if path.apart is not None)
    return (path for path in found if path.parent is None or path.parent.compiled)


def is_converted_around(path: CallPath) -> bool:
    """Whether AutoGraph converts all that leads to a function."""
    around = [*steps(path.parent)]
    return bool(around) and all(one.converted for one in around)
