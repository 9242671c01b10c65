"""What tells the errors of calls apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..code.messages import message_of

_NUMBERS: Final = re.compile(r"0x[0-9a-f]+|[\d\[\],. ]+")


@dataclass(frozen=True)
class Complaint:
    """An error: its kind (the class, the user's line and the words, whatever the numbers), and all that it says."""

    kind: object
    text: str


def complaint_of(error: BaseException, own: Callable[[str], bool]) -> Complaint:
    """What an error complains of. `own`: whether a file is the user's."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if own(trace.tb_frame.f_code.co_filename):
            line = trace.tb_lineno
        trace = trace.tb_next
    text = message_of(error)
    return Complaint((type(error), line, _NUMBERS.sub(" ", text)[:200]), text)
