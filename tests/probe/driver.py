"""A process that drives functions as the probe does, and says how."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from xlalint.probe.target import Target

CODE = Path(__file__).with_name("driven.py")
# Reads targets as JSON lines and says how each was driven, what it returned, and what was reached.
WORKER = """
import json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
from xlalint.probe.target import Target
from xlalint.probe.worker.backends import backend
from xlalint.probe.worker.backends.pretrained import keep_what_models_are_made_with
from xlalint.probe.worker.driving.driven import NotDrivenError
from xlalint.probe.worker.driving.driver import drive
import tensorflow as tf
tf.debugging.disable_traceback_filtering()
keep_what_models_are_made_with()
for line in sys.stdin:
    asked = json.loads(line)
    target = Target.of_json(asked["target"])
    try:
        driven = drive(target, lambda stage: None, seconds=asked["seconds"])
        shapes = []
        with backend.eager_execution():
            for variant in range(driven.variants):
                positional, keywords = driven.make(0, variant)
                result = driven.call(*positional, **keywords)
                shapes.append(list(getattr(result, "shape", ())))
        found = {
            "how": driven.how,
            "inputs": list(driven.inputs),
            "sets": driven.value_sets,
            "shapes": shapes,
            "state": len(driven.state()),
            "autograph": driven.autograph,
            "notes": list(driven.notes),
            "moved": list(driven.moved.values()),
            "reached": sorted(line for path, line in driven.reached if path == target.file),
        }
        driven.close()
    except NotDrivenError as error:
        found = {"not": str(error)}
    print(json.dumps(found), file=answers, flush=True)
"""


class Driver:
    """The process, asked one target at a time."""

    def __init__(self) -> None:
        environment = {
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "KERAS_BACKEND": "tensorflow",
            "TMPDIR": tempfile.gettempdir(),  # of the session: what AutoGraph writes stays where the process is killed
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            cwd=CODE.parent.parent.parent,
        )

    def __call__(self, qualname: str, file: str = str(CODE), seconds: float = 30.0, **more: Any) -> dict[str, Any]:
        """What becomes of a function; `seconds`: how long inputs are looked for, few where none are to be found."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        target = Target(file, qualname, roots=(file,), **more)
        self.process.stdin.write(json.dumps({"target": target.to_json(), "seconds": seconds}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer
