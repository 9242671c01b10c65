"""A release: what is built, what an index would say of it, and the workflow that publishes it, up to the upload."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest
import yaml  # type: ignore[import-untyped]

from tests import ROOT
from xlalint import __version__

WORKFLOW: Final = ROOT / ".github/workflows/release.yml"
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_PACKAGED: Final = ("xlalint", "rules", "pyproject.toml", "README.md", "LICENSE")


def done(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and the wheel that is built of it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("release")
    for name in (*_PACKAGED, "tests"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, folder)
    done(sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", ".", cwd=folder)
    return folder / "dist"


@pytest.mark.slow
def test_the_sdist_and_its_wheel_hold_the_package_and_no_tests(dist: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    [wheel] = dist.glob("*.whl")
    with tarfile.open(sdist) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "xlalint/docs/changelog.md"} <= files
    assert not [name for name in files if name.startswith(("tests", "examples", "."))]
    kept = {path.relative_to(ROOT / "xlalint").as_posix() for path in (ROOT / "xlalint").rglob("*") if path.is_file()}
    kept = {f"xlalint/{name}" for name in kept if "__pycache__" not in name}
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert kept <= packed
    assert kept <= files


@pytest.mark.slow
def test_an_index_takes_the_metadata(dist: Path) -> None:
    pytest.importorskip("twine")
    said = done(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir(), cwd=dist)
    assert said.count("PASSED") == 2


def test_an_index_shows_the_readme_without_the_repository() -> None:
    images = re.findall(r"!\[[^]]*\]\(([^)]*)\)", (ROOT / "README.md").read_text("utf-8"))
    assert [image for image in images if not image.startswith("https://")] == []


def test_the_version_stands_in_the_changelog() -> None:
    assert PROJECT["version"] == __version__
    assert f"\n## {__version__}\n" in (ROOT / "xlalint/docs/changelog.md").read_text("utf-8")


@pytest.mark.parametrize(("tag", "code"), [(f"v{__version__}", 0), ("v99.0", 1), (__version__, 1)])
def test_only_the_tag_of_the_version_is_published(tag: str, code: int) -> None:
    steps = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["build"]["steps"]
    [script] = [step["run"] for step in steps if "TAG" in step.get("env", {})]
    ran = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script], cwd=ROOT, env={"TAG": tag, "PATH": "/usr/bin:/bin"}, check=False
    )
    assert ran.returncode == code


def test_only_the_job_that_publishes_may_ask_for_a_token() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert "permissions" not in jobs["build"]
    assert not any("run" in step for step in jobs["publish"]["steps"])
