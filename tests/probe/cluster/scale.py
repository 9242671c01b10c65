"""What a cluster costs and brings: the same functions run by one process, by processes of this machine, and by the
workers of a scheduler, one of which is killed and one stopped.

    python -m tests.probe.cluster.scale --functions 200 --workers 3
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Final

import dask
from distributed import Client, LocalCluster

from xlalint.probe.cluster.snapshot import Snapshot
from xlalint.probe.running import run_targets
from xlalint.probe.target import Target
from xlalint.probe.targets import Targets
from xlalint.settings.config import ProbeSettings

# One function of each kind for each number: some compile, some fail, recompile, or differ.
KINDS: Final = (
    "return tf.nn.relu(x) * {n}.0",
    "return tf.reduce_sum(x[: tf.argmax(x)]) + {n}.0",
    "return tf.boolean_mask(x, x > {n}.0)",
    "return tf.strings.as_string(x + {n}.0)",
    "return tf.unique(tf.cast(x * {n}.0, tf.int32))[0]",
)
_TIMES: Final = re.compile(r"seconds=[\d.]+|(?<=__inference_)\w+?_\d+(?=\[|\b)")


def project(folder: Path, functions: int) -> list[Target]:
    """A module with so many functions, as targets."""
    parts = ["import tensorflow as tf\n"]
    for number in range(functions):
        body = KINDS[number % len(KINDS)].format(n=number)
        parts.append(f"# xlalint: probe(x: f32[8])\n@tf.function(jit_compile=True)\ndef f{number}(x):\n    {body}\n")
    file = folder / "ops.py"
    file.write_text("\n\n".join(parts))
    return Targets().all([file])


def timed(targets: list[Target], settings: ProbeSettings) -> tuple[float, list[str]]:
    """Seconds of the clock, and the outcomes without their times and TensorFlow's running numbers."""
    began = time.perf_counter()
    ran = run_targets(targets, settings, None)
    seconds = time.perf_counter() - began
    return seconds, [_TIMES.sub("", repr(run.outcome)) for run in ran.runs]


def compared(expected: list[str], found: list[str]) -> str:
    """How many outcomes are equal, and what the first that is not says."""
    differ = [(one, other) for one, other in zip(expected, found, strict=True) if one != other]
    return f"{len(found) - len(differ)} of {len(found)} equal" + "".join(
        f"\n- {one}\n+ {two}" for one, two in differ[:1]
    )


def disturb(address: str) -> None:
    """Kill one worker and stop another."""
    with Client(address, set_as_default=False) as asked:
        killed, stopped, *_ = asked.run(os.getpid).values()
    os.kill(killed, signal.SIGKILL)
    os.kill(stopped, signal.SIGSTOP)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--workers", type=int, default=3)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set({"distributed.scheduler.worker-ttl": "20 s"}),
        LocalCluster(
            n_workers=given.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
    ):
        targets = project(Path(folder), given.functions)
        began = time.perf_counter()
        size = len(Snapshot.of(targets).archive)
        print(f"snapshot: {size} bytes in {time.perf_counter() - began:.2f} s")
        settings = ProbeSettings(total_timeout=1e6)
        address = cluster.scheduler_address
        one, expected = timed(targets, settings)
        print(f"one process: {one:.1f} s, {one / len(targets):.2f} s a function")
        for name, chosen in (
            (f"{given.workers} processes", replace(settings, processes=given.workers)),
            (f"{given.workers} workers", replace(settings, cluster=address)),
        ):
            seconds, found = timed(targets, chosen)
            print(f"{name}: {seconds:.1f} s, {one / seconds:.2f} x one process; {compared(expected, found)}")
        timer = Timer(one / given.workers / 4, disturb, [address])
        timer.start()
        seconds, found = timed(targets, replace(settings, cluster=address))
        timer.join()
        print(f"one worker killed, one stopped: {seconds:.1f} s; {compared(expected, found)}")


if __name__ == "__main__":
    main()
