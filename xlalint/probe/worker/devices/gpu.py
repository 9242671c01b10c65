"""What TensorFlow's kernels for GPUs make of a driven function: lowered without a GPU, and run where there is one.

The wheel `tensorflow` for Linux lowers for GPUs on any machine; it was not built to go on from there without one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import GPU, GPU_FAILS, Lowering, Observation

from ..backends.with_tensorflow import eager_execution
from ..code.user_lines import UserLines
from ..compiling.compare import Leaf, difference
from ..compiling.leaves import leaves
from ..compiling.with_tensorflow.program import compiled
from ..driving.driven import Driven
from ..driving.state import State
from .lowering import Lowerer


class GpuLowerer(Lowerer):
    """Lowers with the kernels for GPUs."""

    platform = "GPU"
    stage = GPU
    fails = GPU_FAILS
    who = "XLA for GPUs"

    def arguments_of(self, state: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """The values themselves: what has to be constant is compiled again for each, as on a CPU."""
        return [tf.convert_to_tensor(one) for one in (*state, *inputs)]

    def lowered(self, of: str, program: str, concrete: Any, gradient: bool, started: float) -> None:
        """See there."""
        self.programs.append(Lowering(of, "", None, round(time.monotonic() - started, 2)))


def run_where_there_is_one(driven: Driven, user_lines: UserLines, random: bool) -> tuple[list[Observation], str]:
    """Run a function on a GPU. What differs or fails there, if anything does; and what was done, in words."""
    found = tf.config.list_logical_devices("GPU")
    if not found:
        return [], "not run on a GPU: there is none"
    tf.config.experimental.enable_tensor_float_32_execution(False)  # it is not precise enough to compare by
    what = driven.of if driven.is_step else "the function"
    done = f"{what} ran on {_model()} ({found[0].name}), compiled and eagerly"
    return run_on(found[0].name, driven, user_lines, random), done


def _model() -> str:
    """What the maker calls the first GPU."""
    details = tf.config.experimental.get_device_details(tf.config.list_physical_devices("GPU")[0])
    return str(details.get("device_name", "a GPU without a name"))


def run_on(device: str, driven: Driven, user_lines: UserLines, random: bool) -> list[Observation]:
    """What differs or fails where a function runs on a device, compiled and eagerly, if anything does.

    `random`: it draws numbers, which are others each time.
    """
    state = State(driven.state())

    def result(call: Callable[..., Any]) -> list[Leaf]:
        state.restore()
        arguments, keywords = driven.make(0, 0)
        with tf.device(device):
            return leaves(call(*arguments, **keywords))

    with eager_execution():
        expected = result(driven.call)
    try:
        actual = result(compiled(driven))
    except Exception as error:
        trouble = user_lines.trouble(error, GPU)
        return [Observation(GPU_FAILS, f"{device} does not run it: {trouble.message}", trouble.spots)]
    told = difference(expected, actual, random=range(len(expected)) if random else ())
    return [Observation(GPU_FAILS, f"on {device} it differs from eager execution: {told}")] if told else []
