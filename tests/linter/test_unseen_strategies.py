"""A strategy that a library makes which nobody sees, wherever the program takes it before it enters its scope."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

BODY: Final = """\
    {before}
    with {strategy}.scope():
        {inside}
    {behind}
    model.fit(tf.zeros([64, 4]), tf.zeros([64, 1]))
"""
MODEL: Final = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])"
OPTIMIZER: Final = "optimizer = tf.keras.optimizers.Adam()"
COMPILE: Final = 'model.compile(optimizer, "mse")'
OUTSIDE: Final = {"before": OPTIMIZER, "inside": f"{MODEL}; {COMPILE}", "behind": "pass"}
INSIDE: Final = {"before": "pass", "inside": f"{MODEL}; {OPTIMIZER}; {COMPILE}", "behind": "pass"}
MAKES: Final = "import tensorflow as tf\nfrom machines import detect\n\n"
FOLDERS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "a parameter": (
        "strategy",
        {
            "main.py": "from machines import detect\nfrom train import train\nfound = detect()\ntrain(found)\n",
            "train.py": "import tensorflow as tf\n\ndef train(strategy):\n{body}",
        },
    ),
    "an attribute": (
        "self.strategy",
        {
            "base.py": "from machines import detect\n\nclass Base:\n    def __init__(self):\n"
            "        self.strategy = detect()\n",
            "train.py": "import tensorflow as tf\nfrom base import Base\n\nclass Run(Base):\n  def train(self):\n{body}"
            "\nRun().train()\n",
        },
    ),
    "a setting": ("settings.strategy", {"train.py": f"{MAKES}def train(settings):\n{{body}}\ntrain(detect())\n"}),
    "a result": (
        "strategy",
        {
            "machine.py": "from machines import detect\n\ndef strategy_of(name):\n    return detect(name)\n",
            "train.py": "import tensorflow as tf\nfrom machine import strategy_of\n\ndef train():\n"
            "    strategy = strategy_of('here')\n{body}\ntrain()\n",
        },
    ),
    "one of its own": (
        "strategy",
        {
            "train.py": "import tensorflow as tf\nfrom contextlib import contextmanager\n\nclass Machine:\n"
            "    @contextmanager\n    def scope(self):\n        yield\n\ndef train(strategy):\n{body}\n"
            "train(Machine())\n"
        },
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("target", ["tpu", None])
def test_its_scope_is_the_scope_of_the_target(tmp_path: Path, name: str, target: str | None) -> None:
    told = ["XLA502"] if target == "tpu" and name != "one of its own" else []
    assert _codes(tmp_path, name, OUTSIDE, target) == told
    assert _codes(tmp_path, name, INSIDE, target) == []


def test_it_is_one_strategy_wherever_its_scope_is_entered(tmp_path: Path) -> None:
    twice = {
        "before": "with strategy.scope():\n        " + MODEL,
        "inside": f"{OPTIMIZER}; {COMPILE}",
        "behind": "pass",
    }
    assert _codes(tmp_path, "a parameter", twice, "tpu") == []


def _codes(folder: Path, name: str, parts: dict[str, str], target: str | None) -> list[str]:
    strategy, files = FOLDERS[name]
    for path, text in files.items():
        body = BODY.format(strategy=strategy, **parts)
        (folder / path).write_text(text.replace("{body}", body), encoding="utf-8")
    found = check([folder], Settings(target=target)).findings
    return [one.code for one in found if one.severity >= Severity.WARNING]


SEEN: Final = """\
import numpy as np
import tensorflow as tf

def embed(model, images):
    strategy = model.distribute_strategy
    dataset = tf.data.Dataset.from_tensor_slices(images).batch(128)
    batches = iter(strategy.experimental_distribute_dataset(dataset))
    step = tf.function(lambda batch: model(batch))
    return [strategy.run(step, args=(next(batches),)) for _ in range(len(dataset))]

strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
embed(model, np.load("images.npy"))
"""


def test_a_model_knows_the_strategy_in_whose_scope_it_was_made(tmp_path: Path) -> None:
    (tmp_path / "embed.py").write_text(SEEN, encoding="utf-8")
    assert "XLA302" in {one.code for one in check([tmp_path], Settings()).findings}
