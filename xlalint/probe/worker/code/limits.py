"""Limits of time that do not depend on what else the machine does: seconds of the processor, and more on the clock for
what waits instead of working."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from xlalint.probe.protocol import WAITING


@dataclass(frozen=True)
class Limit:
    """Seconds of this process's processor time from now on; never fewer on the clock, where several threads work."""

    seconds: float
    _processor: float = field(default_factory=time.process_time)
    _clock: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        clock = time.monotonic() - self._clock
        if clock < self.seconds:
            used = min(clock, time.process_time() - self._processor)
        else:
            used = max(time.process_time() - self._processor, clock / WAITING)
        return max(self.seconds - used, 0.0)

    @property
    def over(self) -> bool:
        """Whether none is."""
        if time.monotonic() - self._clock < self.seconds:  # asked at every line
            return False
        return self.left <= 0.0
