"""Which ops the installed TensorFlow registers, and for which devices and dtypes it has XLA kernels."""

from __future__ import annotations

import importlib.metadata
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

# The XLA compilers and the devices that they serve.
COMPILERS: Final = {"XLA_CPU_JIT": "cpu", "XLA_GPU_JIT": "gpu", "XLA_TPU_JIT": "tpu"}
PACKAGES: Final = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu", "keras", "numpy")


def measure() -> dict[str, Any]:
    """By device: every op of the registry, and where it has a kernel, the dtypes by type attribute."""
    import tensorflow as tf  # type: ignore[import-untyped]
    from tensorflow.core.framework import op_def_pb2, types_pb2  # type: ignore[import-untyped]
    from tensorflow.python.client import pywrap_tf_session  # type: ignore[import-untyped]
    from tensorflow.python.framework import kernels  # type: ignore[import-untyped]

    # The kernels of the compilers are registered by the first compilation.
    function = tf.function(lambda x: x + 1, jit_compile=True)
    platform = {"platform_name": "TPU"} if "libtpu" in installed() else {}
    function.experimental_get_compiler_ir(tf.ones(3))(stage="hlo", **platform)
    registry = op_def_pb2.OpList()
    registry.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    names = sorted(definition.name for definition in registry.op)
    registered: dict[str, dict[str, Any]] = defaultdict(dict)
    for kernel in kernels.get_all_registered_kernels().kernel:
        if device := COMPILERS.get(kernel.device_type):
            dtypes = registered[device].setdefault(kernel.op, defaultdict(set))
            for constraint in kernel.constraint:
                kinds = constraint.allowed_values.list.type
                dtypes[constraint.name] |= {types_pb2.DataType.Name(kind).removeprefix("DT_").lower() for kind in kinds}
    if "tpu" in registered:  # the TPU's wheel is another build: what it has for other devices, theirs has not
        registered = {"tpu": registered["tpu"]}
    return {
        "version": ".".join(tf.__version__.split(".")[:2]),
        "packages": installed(),
        "devices": {device: {name: _texts(found.get(name)) for name in names} for device, found in registered.items()},
    }


def _texts(dtypes: dict[str, Iterable[str]] | None) -> dict[str, str] | None:
    return None if dtypes is None else {attribute: " ".join(sorted(kinds)) for attribute, kinds in dtypes.items()}


def installed(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The packages that decide what is measured, of those that are here, and their versions."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def release(packages: dict[str, str]) -> str:
    """The version of TensorFlow among the packages."""
    return next(version for name, version in packages.items() if name.startswith("tensorflow"))
