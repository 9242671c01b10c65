"""The action and the workflow files do what they say, as far as that can be seen without GitHub and GitLab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml  # type: ignore[import-untyped]

from tests import ROOT
from tests.repository import Repository
from tests.samples import HAZARD

ACTION: Final = ROOT / ".github/actions/xlalint/action.yml"
EXAMPLES: Final = ROOT / "examples/ci"


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a finding, and another with `xlalint` for the search path."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "xlalint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m xlalint "$@"\n')
    command.chmod(0o755)
    (tmp_path / "here" / "a b").mkdir(parents=True)
    (tmp_path / "here" / "a b" / "step.py").write_text(HAZARD)
    (tmp_path / "here" / "clean.py").write_text("x = 1\n")
    return tmp_path / "here"


def shell(project: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{project.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        cwd=project,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


REPORTS = {"paths": "a b\nclean.py", "arguments": "--exit-zero", "reports": "sarif=x.sarif\nrdjson=r.json\n"}


@pytest.mark.parametrize(
    ("inputs", "code", "found", "reports"),
    [
        ({}, 1, True, []),
        ({"paths": "clean.py\n"}, 0, False, []),
        (REPORTS, 0, True, ["x.sarif", "r.json"]),
        ({"arguments": "--select=XLA2\n\n--no-cache"}, 0, False, []),
        ({"paths": "gone"}, 2, False, []),
    ],
)
def test_the_action_checks_what_its_inputs_say(
    project: Path, inputs: dict[str, str], code: int, found: bool, reports: list[str]
) -> None:
    action = loaded(ACTION)
    step = action["runs"]["steps"][-1]
    values = {name: inputs.get(name, declared["default"]) for name, declared in action["inputs"].items()}
    names = {name: text.removeprefix("${{ inputs.").removesuffix(" }}") for name, text in step["env"].items()}
    done = shell(project, step["run"], **{name: values[asked] for name, asked in names.items()})
    assert done.returncode == code, done.stderr
    assert ("::error file=a b/step.py,line=6," in done.stdout) is found
    for name in reports:
        assert json.loads((project / name).read_text("utf-8"))


def test_the_workflows_use_the_action_with_inputs_that_it_has(project: Path) -> None:
    known = loaded(ACTION)["inputs"]
    workflows = sorted(EXAMPLES.glob("github-*.yml"))
    assert len(workflows) == 3
    for path in workflows:
        [job] = loaded(path)["jobs"].values()
        [step] = [step for step in job["steps"] if "xlalint/.github/actions/xlalint@" in step.get("uses", "")]
        assert step["with"].keys() <= known.keys()
        _, _, report = step["with"].get("reports", "=").partition("=")
        assert any(report in str(other) for other in job["steps"] if other is not step)


def test_a_pull_request_is_compared_with_its_branch(project: Path) -> None:
    """In what GitHub checks out: the merge of both, and no more history than the workflow asks for."""
    [job] = loaded(EXAMPLES / "github-pull-request.yml")["jobs"].values()
    checkout, step = job["steps"]
    origin = Repository(project)
    origin.commit()
    origin.git("switch", "--quiet", "--create", "topic")
    origin.write("clean.py", HAZARD)
    origin.commit()
    origin.git("switch", "--quiet", "main")
    origin.write("other.py", HAZARD)
    origin.commit()
    origin.git("merge", "--quiet", "--no-edit", "topic")
    depth = str(checkout["with"]["fetch-depth"])
    origin.git("clone", "--quiet", "--depth", depth, f"file://{project}", "../clone")
    done = shell(project.parent / "clone", f"xlalint check --output-format=concise {step['with']['arguments']}")
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()[:-3]] == ["clean.py:6:8"]


def test_the_gitlab_job_writes_the_reports_that_it_collects(project: Path) -> None:
    job = loaded(EXAMPLES / "gitlab-ci.yml")["xlalint"]
    [command] = [line for line in job["script"] if line.startswith("xlalint")]
    assert shell(project, command).returncode == 1
    for name in job["artifacts"]["reports"].values():
        assert (project / name).stat().st_size
