"""The way to the parent: one JSON line for each message."""

from __future__ import annotations

import json
import os
from typing import IO, Any


class Pipe:
    """Sends messages to the parent. A copy of this process that the user's code forks sends none, and ends."""

    def __init__(self, answers: IO[str]) -> None:
        self._answers, self._pid = answers, os.getpid()

    def send(self, message: dict[str, Any]) -> None:
        if os.getpid() != self._pid:
            os._exit(0)
        print(json.dumps(message), file=self._answers, flush=True)
