"""What is said of what only a GPU refuses: by what the code is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.choices import Target
from xlalint.settings.config import Settings

STEP = """\
import tensorflow as tf

SEEN = tf.Variable(0)


@tf.function(jit_compile=True)
def step(x):
    return x * tf.cast(SEEN, tf.float32)
"""
ON_TPU = """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
strategy.run(step, (tf.ones([4]),))
"""


@pytest.mark.parametrize(
    ("code", "target", "said"),
    [
        (STEP, None, [Severity.WARNING]),
        (STEP, "gpu", [Severity.ERROR]),
        (STEP, "cpu", []),
        (STEP, "tpu", []),
        (STEP + ON_TPU, None, []),
    ],
)
def test_a_gpu_alone_refuses_an_int32_variable(
    code: str, target: Target | None, said: list[Severity], tmp_path: Path
) -> None:
    file = tmp_path / "m.py"
    file.write_text(code)
    findings = check([file], Settings(jobs=1, target=target, codes=frozenset(("XLA413",)))).findings
    assert [finding.severity for finding in findings] == said
