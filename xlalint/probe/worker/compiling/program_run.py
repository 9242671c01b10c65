"""A whole file, run as the program that it is."""

from __future__ import annotations

import time
from pathlib import Path

from xlalint.probe.protocol import FAILS, RUN, Call, Observation, Outcome
from xlalint.probe.target import Target

from ..code.importing import LoadError, load
from ..code.messages import hide_library_frames
from ..code.user_lines import UserLines
from .hlo import Dump, compiled_for


def run_program(target: Target, user_lines: UserLines, dump: Dump) -> Outcome:
    """Run a whole file, as one call: what it compiled by itself, and the error that ended it."""
    dump.taken()
    started = time.monotonic()
    error = None
    hide_library_frames(True)  # an error is told as whoever runs the program sees it
    try:
        load(Path(target.file), target.search).close()
    except LoadError as raised:
        error = user_lines.trouble(raised.__cause__ or raised, RUN)
    finally:
        hide_library_frames(False)
    count, inside, bounded = compiled_for(dump.taken())
    call = Call(0, 0, count, inside, bounded, error=error, seconds=round(time.monotonic() - started, 3))
    observations = () if error is None else (Observation(FAILS, f"{error.kind}: {error.message}", error.spots),)
    return Outcome(how="run as a program", calls=(call,), observations=observations)
