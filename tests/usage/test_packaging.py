"""What is installed: a wheel and an editable installation serve the rules, and put no module `rules` beside them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests import ROOT

EXAMPLES = ROOT / "examples"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
WHERE = (
    "import importlib.util, xlalint, xlalint.rules\n"
    "print(importlib.util.find_spec('rules'), xlalint.__file__, *xlalint.rules.__path__, sep='\\n')"
)


def succeed(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is packaged: building writes beside the sources."""
    folder = tmp_path_factory.mktemp("sources")
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("xlalint", "rules"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(sources: Path) -> Path:
    succeed(*PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", sources / "dist", sources)
    [built] = (sources / "dist").iterdir()
    return built


def environment(folder: Path) -> Path:
    """A fresh environment that sees the libraries of this one, and not what is installed here as editable."""
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def install(commands: Path, *what: str | Path) -> None:
    options = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--ignore-installed")
    succeed(*PIP, "--python", commands / "python", *options, *what)


def test_a_wheel_holds_all_of_the_package_and_nothing_else(wheel: Path, sources: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    packaged = [path for path in (sources / "xlalint").rglob("*") if path.is_file()]
    rules = {f"xlalint/rules/{path.name}" for path in (sources / "rules").glob("*.py")}
    assert names == {path.relative_to(sources).as_posix() for path in packaged} | rules


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_an_installation_lints(kind: str, wheel: Path, sources: Path, tmp_path: Path) -> None:
    commands = environment(tmp_path / "venv")
    install(commands, *([wheel] if kind == "wheel" else ["--editable", sources]))
    home = tmp_path if kind == "wheel" else sources
    top_level, package, rules = succeed(commands / "python", "-c", WHERE, cwd=tmp_path).splitlines()
    assert top_level == "None"
    assert Path(package).is_relative_to(home)
    assert Path(rules).is_relative_to(home)
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    found = succeed(commands / "xlalint", "examples", "--exit-zero", "--output-format", "concise", cwd=tmp_path)
    assert "examples/train/ops.py:21:8: XLA101" in found
    program = "import xlalint; print({one.code for one in xlalint.lint_paths(['examples/train']).findings})"
    assert "XLA101" in succeed(commands / "python", "-c", program, cwd=tmp_path)
    listed = succeed(commands / "xlalint", "rules", cwd=tmp_path)
    assert "<!doctype html>" in succeed(commands / "xlalint", "report", "--html", "-", "examples", cwd=tmp_path)
    assert len(listed.splitlines()) == len([*(ROOT / "rules").glob("xla*.py")])
