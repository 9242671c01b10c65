"""The extension for Visual Studio Code: what its manifest promises is in its code, and a client in Node gets findings.

By hand, since that takes what is not installed here: packed with vsce 3.9, and looked at in code-server 4.100 with
Chromium (findings, status, restart, output; with the interpreter's xlalint and with the bundled one).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests import ROOT
from tests.samples import HAZARD
from xlalint import __version__

EXTENSION: Final = ROOT / "examples" / "vscode"
CLIENT: Final = Path(__file__).with_name("vscode_client.js")
DEFAULTS: Final[dict[str, Any]] = {"importStrategy": "fromEnvironment", "interpreter": "", "path": "", "args": []}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")


def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text())
    return loaded


def asked(folder: Path, extension: Path = EXTENSION, **settings: object) -> subprocess.CompletedProcess[str]:
    """What a client in Node is told of `step.py` in a folder."""
    given = json.dumps(DEFAULTS | settings)
    command = ["node", str(CLIENT), str(extension), given, str(folder), "step.py"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_what_the_manifest_promises_is_in_the_code() -> None:
    code = "".join((EXTENSION / name).read_text() for name in ("extension.js", "command.js"))
    promised = manifest()["contributes"]
    settings = {name.removeprefix("xlalint.") for name in promised["configuration"]["properties"]}
    assert settings == {*DEFAULTS, "enable", "trace.server"}
    assert all(re.search(rf'"{re.escape(name)}"', code) for name in settings)
    commands = {command["command"] for command in promised["commands"]}
    assert commands == set(re.findall(r'registerCommand\("([^"]+)"', code))
    described = (EXTENSION / "README.md").read_text()
    assert all(f"`xlalint.{name}`" in described for name in settings)
    assert (EXTENSION / manifest()["main"]).is_file()
    assert manifest()["version"] == __version__


@needs_node
@pytest.mark.parametrize("setting", ["interpreter", "path"])
def test_a_client_gets_findings(tmp_path: Path, setting: str) -> None:
    (tmp_path / "step.py").write_text(HAZARD)
    program = Path(sys.executable) if setting == "interpreter" else Path(sys.executable).with_name("xlalint")
    done = asked(tmp_path, EXTENSION, **{setting: str(program)})
    told = json.loads(done.stdout or "{}")
    assert told.get("diagnostics") == [["XLA101", 6]], done.stderr
    assert told["server"] == {"name": "xlalint", "version": __version__}
    assert told["code"] == 0


@needs_node
def test_where_the_interpreter_has_no_xlalint_the_bundled_one_runs(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exit 1\n[ -n "$PYTHONPATH" ] && exec env -u PYTHONPATH "{sys.executable}" "$@"\n'
    )
    bare.chmod(0o755)
    (tmp_path / "step.py").write_text(HAZARD)
    done = asked(tmp_path, interpreter=str(bare))
    assert done.returncode == 1
    assert done.stderr == f'{bare} has no xlalint: run `{bare} -m pip install "xlalint[server]"`\n'
    extension = tmp_path / "extension"
    extension.mkdir()
    shutil.copy(EXTENSION / "command.js", extension)
    (extension / "bundled" / "xlalint").mkdir(parents=True)
    told = json.loads(asked(tmp_path, extension, interpreter=str(bare)).stdout)
    assert told["what"] == f"xlalint of the extension, run by {bare}"
    assert told["diagnostics"] == [["XLA101", 6]]
