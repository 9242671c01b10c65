"""Who raised an error."""

from __future__ import annotations

import re
import traceback
from typing import Final

from .messages import message_of

_KERAS: Final = re.compile(r"\b(?:tf_)?keras\b")


def by_keras(error: BaseException) -> bool:
    """Whether Keras raised an error, or what the error misses is Keras's."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    names = (str(frame.f_globals.get("__name__")) for frame in frames)
    missed = isinstance(error, ImportError | AttributeError) and _KERAS.search(message_of(error)) is not None
    return missed or any(_KERAS.match(name) is not None for name in names)
