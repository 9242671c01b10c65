"""What a test of two sides says of each, in a project that has code for JAX, too."""

from __future__ import annotations

from pathlib import Path

from xlalint.linter.run import check
from xlalint.settings.config import Settings


def test_one_side_says_nothing_where_the_other_one_may_decide(tmp_path: Path) -> None:
    """After an `a and b` that does not hold, `b` may."""
    (tmp_path / "on_jax.py").write_text("import jax\nimport keras\n")
    (tmp_path / "layer.py").write_text(
        "import keras\nimport numpy as np\nimport tensorflow as tf\n\n"
        "class Where(keras.layers.Layer):\n"
        "    def call(self, x=None, mask: np.ndarray | tf.Tensor | None = None):\n"
        "        if x is not None and not isinstance(x, tf.Tensor):\n            x = tf.convert_to_tensor(x)\n"
        "        elif x is not None:\n            x = tf.cast(x, tf.int64)\n"
        "        if mask is not None and not isinstance(mask, tf.Tensor):\n"
        "            mask = tf.convert_to_tensor(mask)\n"
        "        elif mask is not None:\n            mask = tf.cast(mask, tf.int64)\n"
        "        if mask is None and x is not None:\n            return tf.where(x == 3)\n        return x\n"
    )
    report = check([tmp_path], Settings(cache_dir=None))
    assert "XLA203" in {finding.code for finding in report.findings}
