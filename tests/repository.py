"""Git repositories for tests: their own identity, nobody's configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

_NAMES: Final = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
GIT: Final = {
    **{f"GIT_{name}": "a@b.c" for name in _NAMES},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Repository:
    """A Git repository, made anew in a folder. `environment`: what commands in it see."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment = {**inherited, **GIT, **environment}
        folder.mkdir(exist_ok=True)
        self.git("init", "--quiet", "--initial-branch", "main")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )

    def git(self, *arguments: str) -> str:
        """What a command of Git prints, which must succeed."""
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, content: str | bytes) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def add(self, name: str, content: str | bytes) -> None:
        """Write a file and stage it."""
        self.write(name, content)
        self.git("add", name)

    def commit(self) -> str:
        """Commit everything; the commit's name."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.git("rev-parse", "HEAD")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")
