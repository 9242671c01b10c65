"""The loop of the worker process: jobs come in as JSON lines, what is seen of each goes out the same way.

Started by `xlalint.probe.process` with `XLA_FLAGS=--xla_dump_to=FOLDER/dump --xla_dump_hlo_as_text`, FOLDER its
argument.
"""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import json
import os
import signal
import site
import sys
from pathlib import Path
from typing import Final

from xlalint.probe.worker.pipe import Pipe

_PR_SET_PDEATHSIG: Final = 1


def main() -> None:
    folder = Path(sys.argv[1])
    _die_with_parent()
    # The pipes move out of the way of the user's code: it reads nothing, and what it prints goes to the log.
    with os.fdopen(os.dup(0), encoding="utf-8") as jobs, os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        with open(os.devnull, encoding="utf-8") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        pipe = Pipe(answers)
        try:
            versions = _start()
        except Exception as error:
            pipe.send({"broken": f"{type(error).__name__}: {error}"})
            return
        pipe.send({"ready": versions})
        from xlalint.probe.worker.code.read_files import INSIDE
        from xlalint.probe.worker.session import Session

        session = Session(folder, pipe)
        home = folder.joinpath(*INSIDE)
        home.mkdir(parents=True, exist_ok=True)
        for line in jobs:
            os.chdir(home)
            pipe.send({"outcome": dataclasses.asdict(session.outcome(json.loads(line)))})


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _start() -> dict[str, str]:
    """Import the backend; the versions of what runs. What it makes of itself stays: nobody searches that for
    garbage, now (a fifth of the time that this takes) or later."""
    from xlalint.probe.protocol import PACKAGES

    gc.disable()
    from xlalint.probe.worker.backends import backend

    found = backend.start()
    gc.freeze()
    gc.enable()
    if packages := os.environ.get(PACKAGES):
        site.addsitedir(packages)  # what is installed there as editable counts, too
    return found


if __name__ == "__main__":
    main()
