"""Where the flags of a command line are defined and kept: `absl`, and TensorFlow 1 under two names."""

from __future__ import annotations

from typing import Final

HOMES: Final = ("absl.flags", "tf.flags", "tf.app.flags")
VALUES: Final = frozenset(f"{home}.FLAGS" for home in HOMES)
