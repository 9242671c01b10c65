"""Each project under a root is judged by the TensorFlow and the Keras that its own requirements ask for."""

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import load

OF_A_VERSION: Final = """\
import tensorflow as tf

class Net(tf.keras.Model):
    def call(self, x):
        x = tf.keras.layers.Dropout(0.5)(x)
        if tf.reduce_sum(x) > 0:
            return x
        return -x

@tf.function(jit_compile=True)
def loss(labels, logits, lengths):
    return tf.nn.ctc_loss(labels, logits, lengths, lengths)

net = Net()
net.compile("adam", "mse", jit_compile=True)
net.fit(tf.ones([8, 4]), tf.ones([8, 4]))
print(loss(tf.ones([2, 3], tf.int32), tf.ones([5, 2, 4]), tf.constant([3, 3])))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes_by_folder(project: Path) -> dict[str, set[str]]:
    """The errors in each folder of a project; what was found is kept from one time to the next."""
    found: dict[str, set[str]] = {}
    for finding in check([project], load([project], isolated=True, options={"cache-dir": "kept"})).findings:
        if finding.severity is Severity.ERROR:
            found.setdefault(Path(finding.path).parent.name, set()).add(finding.code)
    return found


def test_every_rule_takes_the_tensorflow_of_the_nearest_requirements(project: Path) -> None:
    (project / ".git").mkdir()
    (project / "requirements.txt").write_text("tensorflow==2.18.*\n")
    for folder, requirement in {"new": "", "old": "tensorflow==2.15", "with_gpu": "tensorflow-gpu>=2.4"}.items():
        (project / folder).mkdir()
        (project / folder / "net.py").write_text(OF_A_VERSION)
        if requirement:
            (project / folder / "requirements.txt").write_text(requirement)
    new, old = {"XLA101", "XLA409"}, {"XLA401"}  # Keras 2 converts the branch, and its layer makes no variable
    assert codes_by_folder(project) == {"new": new, "old": old, "with_gpu": old}
    (project / "old" / "requirements.txt").write_text("tensorflow>=2.16")
    (project / "new" / "environment.yml").write_text("dependencies:\n  - tensorflow=2.13\n")
    assert codes_by_folder(project) == {"new": old, "old": new, "with_gpu": old}
    (project / "old" / "requirements.txt").unlink()
    (project / "requirements.txt").write_text("keras<3\n")
    assert codes_by_folder(project) == {"new": old, "old": old, "with_gpu": old}
    everywhere = check([project], load([project], isolated=True, options={"tensorflow": "2.21"}))
    assert {one.code for one in everywhere.findings} == new


NAMES_OF_A_VERSION: Final = """\
import sys

import tensorflow as tf

if sys.argv[1:]:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=sys.argv[1])
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    tf.keras.mixed_precision.experimental.set_policy("mixed_bfloat16")
"""


def test_a_name_is_missing_where_the_nearest_requirements_ask_for_a_version_without_it(project: Path) -> None:
    (project / ".git").mkdir()
    for folder, requirement in {"old": "tensorflow==2.8", "newer": "tensorflow==2.11.1", "open": "tensorflow"}.items():
        (project / folder).mkdir()
        (project / folder / "main.py").write_text(NAMES_OF_A_VERSION)
        (project / folder / "requirements.txt").write_text(requirement)
    found = check([project], load([project], isolated=True)).findings
    said = {one.path.split("/")[-2]: one.severity for one in found if one.code == "XLA534"}
    assert said == {"newer": Severity.ERROR, "open": Severity.WARNING}
