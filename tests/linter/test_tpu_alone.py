"""What is said of a program that a TPU alone compiles, and of one where another program asks for autoclustering."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SPREAD: Final = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

def spread(x, row):
    x = tf.raw_ops.AllToAll(
        input=x, group_assignment=[[0, 1]], concat_dimension=0, split_dimension=0, split_count=2
    )
    return x[row]

@tf.function
def step(x, row):
    return strategy.run(spread, args=(x, row))
"""
COMPILED: Final = """
@tf.function(jit_compile=True)
def other(x):
    return x * 2.0
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (SPREAD, {("XLA206", Severity.INFO)}),
        (SPREAD + COMPILED, {("XLA206", Severity.WARNING), ("XLA401", Severity.ERROR)}),
    ],
    ids=["a TPU alone", "another device, too"],
)
def test_what_is_so_on_other_devices(tmp_path: Path, code: str, expected: set[tuple[str, Severity]]) -> None:
    (tmp_path / "m.py").write_text(code, encoding="utf-8")
    assert {(one.code, one.severity) for one in check([tmp_path], Settings()).findings} == expected


COUNTED: Final = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

@tf.function
def rate(epoch):
    return 0.1 * 0.9**epoch

if __name__ == "__main__":
    print([rate(epoch) for epoch in range(20)])
"""
SET_JIT: Final = """\
import tensorflow as tf

tf.config.optimizer.set_jit(True)

@tf.function
def step(x, count):
    return tf.reduce_sum(x**count)

for count in range(20):
    step(tf.ones([4]), count)
"""


def test_autoclustering_is_of_the_programs_that_ask_for_it(tmp_path: Path) -> None:
    for name, text in {"counted.py": COUNTED, "set_jit.py": SET_JIT}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = {Path(one.path).name: one.severity for one in check([tmp_path], Settings()).findings}
    assert found == {"counted.py": Severity.INFO, "set_jit.py": Severity.WARNING}


CONDITION: Final = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

def halved(x):
    if tf.reduce_max(x) > 1.0:
        x = x / 2.0
    return x

@tf.function
def step(x):
    return strategy.run(halved, args=(x,))
"""
FRAGMENT: Final = """\
import tensorflow as tf

@tf.function
def launch(x):
    return model(x) + undefined
"""


def test_what_autograph_converts_of_a_step_for_a_tpu_alone(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    for name, text in {"__init__.py": "", "steps.py": CONDITION, "launcher.py": FRAGMENT}.items():
        (package / name).write_text(text, encoding="utf-8")
    found = [(one.code, one.severity) for one in check([tmp_path], Settings()).findings if "steps" in one.path]
    assert found == [("XLA101", Severity.INFO)]


FACTORED: Final = (
    SPREAD[: SPREAD.index("def spread")]
    + """\
def factors(x):
    return tf.linalg.lu(x)

@tf.function
def step(x):
    return strategy.run(factors, args=(x,))
"""
)
SOFTLY: Final = "\ntf.config.set_soft_device_placement({})\n"


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        (FACTORED, Severity.ERROR),
        (FACTORED + SOFTLY.format(True), Severity.INFO),
        (FACTORED + SOFTLY.format("placed"), Severity.INFO),
        (FACTORED + SOFTLY.format(False), Severity.ERROR),
        (FACTORED + SOFTLY.format(True) + COMPILED, Severity.ERROR),
    ],
    ids=["as it is", "on the host", "perhaps on the host", "not on the host", "another device, too"],
)
def test_the_host_runs_what_has_no_kernel_where_it_may(tmp_path: Path, code: str, severity: Severity) -> None:
    (tmp_path / "m.py").write_text(code, encoding="utf-8")
    assert [one.severity for one in check([tmp_path], Settings()).findings if one.code == "XLA401"] == [severity]
