"""What runs the code that is checked: which interpreter it is for a target, and what is installed there."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Final

import msgspec

from ..settings.config import ProbeSettings
from ..tpu import stack
from ..tpu.chips import chip_of
from .process import START_LIMIT, Interpreter, ProbeUnavailableError
from .protocol import PACKAGES

_LIBRARIES: Final = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-tpu",
    "libtpu",
    "jax",
    "jaxlib",
    "keras",
    "tf-keras",
    "numpy",
)
_ASK: Final = """\
import importlib.metadata, json, sys
found = {"python": sys.version}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def interpreter_of(settings: ProbeSettings) -> Interpreter:
    """What runs the code. For a TPU it is the environment of the TPU's compiler, with the packages of what would run it
    otherwise behind its own; for a GPU, it sees one. Raises ProbeUnavailableError."""
    program = settings.python or sys.executable
    if settings.target == "gpu" and not _has_gpu_kernels(program):
        raise ProbeUnavailableError(
            f"TensorFlow of {program} was built without kernels for GPUs: --python names an interpreter that has the "
            "wheel `tensorflow` for Linux on x86-64"
        )
    if settings.target != "tpu":
        gpu = settings.target == "gpu"
        return Interpreter(program, settings.environment, one_gpu() if gpu else {}, settings.sandbox, devices=gpu)
    try:
        chip_of(settings.topology)
        fixed = {**stack.ENVIRONMENT, PACKAGES: stack.packages_of(settings.python)}
        return Interpreter(str(stack.program()), settings.environment, fixed, settings.sandbox)
    except (stack.StackError, ValueError) as error:
        raise ProbeUnavailableError(str(error)) from error


def versions_of(interpreter: Interpreter) -> dict[str, str]:
    """The versions of an interpreter and of the libraries that matter; empty where it is none, as a worker will say."""
    try:
        return msgspec.json.decode(installed(interpreter), type=dict[str, str])
    except msgspec.DecodeError:
        return {}


def installed(interpreter: Interpreter) -> str:
    """What an interpreter and its libraries are, as JSON; asked of it, without importing any of them. Empty where it
    cannot be run: a worker will say why."""
    return (interpreter.told(_ASK, *_LIBRARIES, timeout=60) or "").strip()


def identity(interpreter: Interpreter) -> str:
    """What an outcome depends on besides the code: the interpreter with its libraries, and whether in a sandbox."""
    where = " in a sandbox" if interpreter.sandbox else ""
    return f"{interpreter.program}{where} {installed(interpreter)}"


def one_gpu() -> dict[str, str]:
    """One GPU, of which TensorFlow takes what it needs: other processes may use it, too."""
    return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0"), "TF_FORCE_GPU_ALLOW_GROWTH": "true"}


def on_gpu() -> dict[str, str]:
    """One GPU that computes as precisely as a CPU does, to compare by; for TensorFlow and for JAX."""
    return one_gpu() | {
        "NVIDIA_TF32_OVERRIDE": "0",
        "JAX_PLATFORMS": "cuda",
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }


def gpu_of(interpreter: Interpreter) -> str:
    """What the maker calls the first GPU that an interpreter's TensorFlow sees; empty where there is none."""
    code = (
        "import tensorflow as tf\n"
        "found = tf.config.list_physical_devices('GPU')\n"
        "if found: print(tf.config.experimental.get_device_details(found[0]).get('device_name', 'unnamed'))"
    )
    return (interpreter.told(code, timeout=START_LIMIT) or "").strip()


@cache
def _has_gpu_kernels(program: str) -> bool:
    """Whether an interpreter's TensorFlow was built for GPUs: another one says of each operation that it has no kernel.
    True where it has none: what is missing is said when it is started."""
    code = "import tensorflow as tf; print(tf.test.is_built_with_gpu_support())"
    return (Interpreter(program).told(code, timeout=START_LIMIT) or "").strip() != "False"
