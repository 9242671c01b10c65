"""The GPUs of a machine, as TensorFlow lists and names them: a machine with a TPU has none."""

from __future__ import annotations

from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Sequence, Static, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..library.refusing_layers import GPU_LAYERS

_LISTING: Final = {
    "tf.config.list_physical_devices": "tf.config.PhysicalDevice",
    "tf.config.list_logical_devices": "tf.config.LogicalDevice",
    "tf.config.get_visible_devices": "tf.config.PhysicalDevice",
}
# What is known without a GPU.
_ASKING: Final = {
    "tf.test.gpu_device_name": "",
    "tf.test.is_gpu_available": False,
}


def _listing(device: str) -> FunctionModel:
    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        match arguments.get(0, "device_type"):
            case Static(str() as kind) if kind.upper() == "GPU":
                return Sequence("list", None, ApiObject(device), of_gpus=True)
            case _:
                return None

    return handle


def _telling(told: Any) -> FunctionModel:
    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        return Static(without_gpus=told)

    return handle


def _layer(name: str) -> FunctionModel:
    """A layer that only a GPU runs, where code has found one: it has another for where there is none."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        return ApiObject(name) if frame.context.gpus else None

    return handle


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **{name: _listing(device) for name, device in _LISTING.items()},
    **{name: _telling(told) for name, told in _ASKING.items()},
    **{name: _layer(name) for name in GPU_LAYERS},
}
