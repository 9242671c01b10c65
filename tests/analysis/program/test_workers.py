"""Functions that a program has threads, processes and pools of these run: what they are passed, and what they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

_PROGRAM = """\
{imports}
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
model.compile("adam", "mse")


def rollout(game):
    states = []
    done = False
    while not done:
        state, done = game.step()
        states.append(state)
    return np.vstack(states)


def padded(game):
    states = np.zeros([64, 4])
    states[: game.length] = game.states
    return states


def train(games):
    for _ in range(100):
        {results}
        model.train_on_batch(results[0], results[0])


if __name__ == "__main__":
    import games

    train(games.load())
"""
_WAYS = {
    "a pool": ("from multiprocessing import Pool", "results = Pool(4).map({function}, games)"),
    "threads": ("from multiprocessing.dummy import Pool", "results = Pool(4).map({function}, games)"),
    "a pool of threads": (
        "from multiprocessing.pool import ThreadPool",
        "results = list(ThreadPool().imap({function}, games))",
    ),
    "rows": ("import multiprocessing as mp", "results = mp.Pool().starmap({function}, [(one,) for one in games])"),
    "what is to come": (
        "import multiprocessing",
        "results = [multiprocessing.Pool().apply_async({function}, (one,)).get() for one in games]",
    ),
    "a context": (
        "import multiprocessing as mp",
        "results = mp.get_context('spawn').Pool(2).imap_unordered({function}, games)",
    ),
    "futures": (
        "from concurrent.futures import ThreadPoolExecutor",
        "results = [one.result() for one in [ThreadPoolExecutor().submit({function}, game) for game in games]]",
    ),
    "joblib": (
        "from joblib import Parallel, delayed",
        "results = Parallel(n_jobs=2)(delayed({function})(one) for one in games)",
    ),
}


def _codes(text: str, folder: Path) -> list[str]:
    (folder / "program.py").write_text(text)
    report = check([folder], Settings(jobs=1, target="tpu"))
    assert not report.problems
    return [finding.code for finding in report.findings if finding.severity.name == "WARNING"]


@pytest.mark.parametrize("way", _WAYS)
def test_what_they_give_has_the_size_that_their_function_gives_it(way: str, tmp_path: Path) -> None:
    imports, results = _WAYS[way]
    varying = _PROGRAM.format(imports=imports, results=results.format(function="rollout"))
    assert "XLA308" in _codes(varying, tmp_path)
    equal = _PROGRAM.format(imports=imports, results=results.format(function="padded"))
    assert "XLA308" not in _codes(equal, tmp_path)


def test_what_they_are_passed_may_be_anything(tmp_path: Path) -> None:
    text = """\
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pool

import tensorflow as tf

JOBS = [{"size": 8, "names": tf.constant(["a"])}, {"size": 8, "names": tf.constant(["b"])}]


@tf.function(jit_compile=True)
def step(x):
    return x[x > 0.0]


def work(job):
    return step(tf.ones([job["size"]]))


print(Pool().map(work, [dict(job) for job in JOBS]), Pool().map(work, JOBS), list(ThreadPoolExecutor().map(work, JOBS)))
"""
    assert _codes(text, tmp_path) == ["XLA201"]


@pytest.mark.parametrize("make", ["multiprocessing.Process", "multiprocessing.get_context('spawn').Process"])
def test_what_a_process_runs_is_called(make: str, tmp_path: Path) -> None:
    text = f"""\
import multiprocessing

import tensorflow as tf


def work(sizes, lock):
    with lock:
        for size in sizes:
            step(tf.zeros([size, 3]))


@tf.function(jit_compile=True)
def step(x):
    return x * 2.0


def main():
    lock = multiprocessing.Lock()
    workers = [{make}(target=work, args=([7, 8, 9], lock)) for _ in range(multiprocessing.cpu_count())]
    for worker in workers:
        worker.start()


if __name__ == "__main__":
    main()
"""
    assert _codes(text, tmp_path) == ["XLA308"]
    assert _codes(text.replace("worker.start()", "print(worker.pid)"), tmp_path) == []
