"""Downloads the packages of the corpus and unpacks their Python files into `.corpus/` (nothing of them is run).

python -m tests.corpus.fetch
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from .packages import Package, packages

# The newest Python and platform for which all of the releases have a wheel; the code is only read.
TARGET = ("--python-version", "3.11", "--platform", "manylinux2014_x86_64", "--only-binary", ":all:")
WANTED = (".py", ".dist-info/METADATA")


def download(package: Package, folder: Path) -> Path:
    """The wheel of one package, through pip."""
    requirement = f"{package.name}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), *TARGET]
    subprocess.run([*command, requirement], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, folder: Path) -> int:
    """Take the Python files and the metadata (the requirements) out of a wheel; how many there were."""
    with zipfile.ZipFile(wheel) as archive:
        members = [name for name in archive.namelist() if name.endswith(WANTED)]
        archive.extractall(folder, members)
    return len(members)


def main() -> None:
    for package in packages():
        if package.folder.exists():
            print(f"{package.name}: there already")
            continue
        with tempfile.TemporaryDirectory() as folder:
            print(f"{package.name}: {unpack(download(package, Path(folder)), package.folder)} files")


if __name__ == "__main__":
    main()
