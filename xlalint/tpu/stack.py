"""The environment in which a TPU's compiler can be asked: made once, in a folder of its own, of pinned versions.

TensorFlow's TPU wheel lowers functions for a TPU, and JAX hands the result to libtpu. TensorFlow 2.20 aborts with a
newer libtpu than 0.0.19, and JAX 0.7.0 is the version made for that one: so all three run in one process.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Final

PINNED: Final = (
    "tensorflow-tpu==2.20.0",
    "libtpu==0.0.19",
    "jax==0.7.0",
    "jaxlib==0.7.0",
    "keras==3.15.1",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "ml_dtypes==0.6.0",
    "protobuf==7.36.2",
    "h5py==3.16.0",
)
GIGABYTES: Final = 2.9  # of downloads and of what is unpacked
HOME: Final = "XLALINT_TPU_HOME"
ENVIRONMENT: Final = {"TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}
"""What libtpu needs where there is no TPU: otherwise it looks for one in the metadata of the machine, and lets in one
process at a time."""

_PYTHONS: Final = ((3, 11), (3, 13))
_PATHS: Final = "import sysconfig, sys; print(*sys.version_info[:2], sysconfig.get_path('purelib'))"


class StackError(Exception):
    """The environment cannot be made or used; the text is one line that says what to do."""


def folder() -> Path:
    """Where the environment is: `$XLALINT_TPU_HOME`, else beside the user's other data."""
    if given := os.environ.get(HOME):
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data, "xlalint", "tpu")


def program() -> Path:
    """The environment's interpreter. Raises StackError where none is made."""
    _supported()
    found = folder() / "bin" / "python"
    if not found.is_file():
        raise StackError(f"there is no TPU compiler in {folder()}: `xlalint tpu setup` installs it")
    return found


def setup(say: Callable[[str], None]) -> None:
    """Make the environment, or bring it to the pinned versions. Raises StackError."""
    _supported()
    target = folder()
    say(f"creating an environment in {target}")
    try:
        venv.create(target, with_pip=True, upgrade_deps=False)
    except (OSError, subprocess.CalledProcessError) as error:
        raise StackError(f"{target}: {error}") from error
    say(f"installing {', '.join(PINNED)}")
    command = [
        str(target / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *PINNED,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise StackError(f"pip could not install it: {said[-1] if said else f'exit code {done.returncode}'}")


def packages_of(python: str | None) -> str:
    """Where the packages of the code that is run are installed: those of an interpreter, by default of this one.

    Raises StackError where they are of another version of Python than the environment.
    """
    own = f"{sys.version_info[0]} {sys.version_info[1]}"
    found = f"{own} {sysconfig.get_path('purelib')}" if python is None else _asked(python, _PATHS)
    version, _, path = found.strip().rpartition(" ")
    wanted = _asked(str(program()), _PATHS).strip().rpartition(" ")[0]
    if version != wanted:
        used, has = wanted.replace(" ", "."), version.replace(" ", ".")
        raise StackError(
            f"the TPU's environment runs Python {used}, and {python or 'this interpreter'} is Python {has}"
        )
    return path


def _asked(python: str, question: str) -> str:
    try:
        return subprocess.run([python, "-c", question], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise StackError(f"{python}: {error}") from error


def _supported() -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise StackError(f"the TPU compiler runs on Linux on x86-64 only (this is {platform.platform()})")
    if not _PYTHONS[0] <= sys.version_info[:2] <= _PYTHONS[1]:
        raise StackError(f"the TPU compiler needs Python 3.11 to 3.13 (this is {platform.python_version()})")
