"""Prices measured: a process of its own runs the user's step at several lengths, on the CPU."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from ..sources.scratch import Scratch
from .lengths import Histogram, Lengths

_LENGTHS: Final = 5  # at how many lengths, besides repeats


class MeasureError(Exception):
    """Why there are no prices; one line."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was seen: seconds to compile, seconds a token of a batch of one, and at which lengths."""

    compile_seconds: float
    token_seconds: float
    lengths: tuple[Lengths, ...]


def measure(target: str, histogram: Histogram, batch_size: int, timeout: float) -> Measured:
    """Call `module:function` with lengths that occur; each new one compiles, and is run again. Raises MeasureError."""
    module, colon, function = target.partition(":")
    if not (module and colon and function):
        raise MeasureError(f"--measure takes MODULE:FUNCTION, not {target!r}")
    lengths = _spread(histogram)
    request = json.dumps({"module": module, "function": function, "lengths": lengths})
    with Scratch() as scratch:
        told, code = _told(target, request, scratch, timeout)
    if not told:
        raise MeasureError(f"{target} ended its process with exit code {code}")
    answer = json.loads(told)
    if "error" in answer:
        raise MeasureError(f"{target}: {answer['error']}")
    return prices_of(lengths, answer["seconds"], batch_size)


def _told(target: str, request: str, scratch: str, timeout: float) -> tuple[bytes, int]:
    """What the process says, and its exit code; `scratch`: where it leaves what it does not remove."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TMPDIR": scratch}
    process = subprocess.Popen(
        [sys.executable, "-m", "xlalint.padding.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        told, _ = process.communicate(request.encode(), timeout)
    except subprocess.TimeoutExpired:
        raise MeasureError(f"{target} did not finish within {timeout:g} seconds (--timeout)") from None
    finally:
        with contextlib.suppress(ProcessLookupError):  # what it started ends with it
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return told, process.returncode


def _spread(histogram: Histogram) -> list[Lengths]:
    """Lengths that occur, from short to long."""
    found = sorted(histogram.counts, key=lambda lengths: (sum(lengths), lengths))
    last = min(_LENGTHS, len(found)) - 1
    return list(dict.fromkeys(found[place * (len(found) - 1) // max(last, 1)] for place in range(last + 1)))


def prices_of(lengths: Sequence[Lengths], seconds: Sequence[tuple[float, float]], batch_size: int) -> Measured:
    """The prices behind what was measured: for each of `lengths` the seconds of the first call and of a later one.

    What a call takes whatever the length is no price of a token: the slope counts, or the mean where there is none.
    """
    tokens = [sum(length) * batch_size for length in lengths]
    later = [again for _, again in seconds]
    middle, level = sum(tokens) / len(tokens), sum(later) / len(later)
    spread = sum((x - middle) ** 2 for x in tokens)
    slope = sum((x - middle) * (y - level) for x, y in zip(tokens, later, strict=True)) / spread if spread else 0.0
    token_seconds = slope if slope > 0 else level / max(middle, 1)
    return Measured(median(max(first - again, 0.0) for first, again in seconds), token_seconds, tuple(lengths))
