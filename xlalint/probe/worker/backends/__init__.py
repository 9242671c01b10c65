"""What Keras computes with in this process, TensorFlow or JAX: tensors, structures, variables, eager execution, behind
one interface, which all other rooms go by. Imports no other room of the worker.
"""

from __future__ import annotations

import os

from xlalint.probe.protocol import LEGACY

from .interface import Backend
from .keras_2 import take_the_name
from .unneeded import OF_TENSORFLOW, left_out

if os.environ.get(LEGACY) == "1":
    take_the_name()
if os.environ.get("KERAS_BACKEND") == "jax":
    from . import with_jax as chosen
else:
    with left_out(OF_TENSORFLOW):
        from . import with_tensorflow as chosen  # type: ignore[no-redef]

backend: Backend = chosen
"""That of this process: Keras takes the one that `KERAS_BACKEND` names when it is imported, and no other afterwards."""
