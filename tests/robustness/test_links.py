"""Links of the checkout, which a stranger may have committed: nothing is read, shown or written by way of them that is
no source of the project."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.robustness.command import said
from tests.samples import HAZARD
from tests.sources.test_notebooks import notebook, saved
from xlalint.cli import run
from xlalint.linter.run import check
from xlalint.settings.choices import OUTPUT_FORMATS
from xlalint.settings.config import Settings

SECRET: Final = "aws_secret_access_key"
CREDENTIALS: Final = f"[default]\n{SECRET} = hunter2==\n"
# What Python reads, and what shows where it comes from.
CODE: Final = f"""\
import keras


class Base(keras.Model):
    def call(self, x):  # {SECRET}
        if x > 3.0:
            x = x / 2.0
        return self.body(x)
"""
REPORTS: Final = tuple(form for form in OUTPUT_FORMATS if form != "html")


def outside(project: Path, text: str | bytes, name: str = "outside/credentials") -> Path:
    file = project.parent / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """All that the command says, in every format and with every fix."""
    run(["--show-settings", "-q"])
    for form in REPORTS:
        run(["--no-cache", "--output-format", form, *arguments])
    run(["--no-cache", "--diff", "--unsafe-fixes", "--verbose", *arguments])
    run(["report", "--html", "-", *arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return out + err


def link(project: Path, name: str, target: str | Path) -> Path:
    (project / name).symlink_to(target)
    return project / name


SECRETS: Final[dict[str, Callable[[Path], object]]] = {
    "a file": lambda it: link(it, "cred.py", outside(it, CREDENTIALS)),
    "a file that is Python": lambda it: link(it, "cred.py", outside(it, CODE, "outside/cred.py")),
    "a file with no text in it": lambda it: link(it, "cred.py", outside(it, b"\xff\0" + CREDENTIALS.encode())),
    "by a relative path": lambda it: link(it, "cred.py", f"../outside/{outside(it, CODE, 'outside/cred.py').name}"),
    "by way of another link": lambda it: (link(it, "first", outside(it, CREDENTIALS)), link(it, "cred.py", "first")),
    "a notebook": lambda it: link(it, "cred.ipynb", outside(it, saved(notebook(CODE)), "outside/cred.ipynb")),
    "what Git keeps": lambda it: (
        (it / ".git" / "config").write_text(f"[http]\n\textraheader = {SECRET}\n"),
        link(it, "cred.py", ".git/config"),
    ),
    "what others keep in the checkout": lambda it: (
        (it / ".env").write_text(CREDENTIALS),
        link(it, "cred.py", ".env"),
    ),
    "a module that is imported": lambda it: (
        link(it, "cred.py", outside(it, CODE, "outside/cred.py")),
        (it / "a.py").write_text(_caller("cred")),
    ),
    "a package that is imported": lambda it: (
        link(it, "pkg", outside(it, CODE, "outside/cred.py").parent),
        (it / "a.py").write_text(_caller("pkg.cred")),
    ),
    "a module beside the repository": lambda it: (
        outside(it, CODE, "outside/cred.py"),
        outside(it, "", "outside/__init__.py"),
        (it / "__init__.py").write_text(""),
        (it / "a.py").write_text(_caller("outside.cred")),
    ),
    "a module above the repository": lambda it: (
        outside(it, CODE, "outside/cred.py"),
        (it / "__init__.py").write_text(""),
        (it / "a.py").write_text(_caller("..outside.cred")),
    ),
    "settings": lambda it: link(
        it, "pyproject.toml", outside(it, f"[tool.xlalint]\n{SECRET} = 1\n", "outside/pyproject.toml")
    ),
    "settings that are nearly some": lambda it: link(
        it, "pyproject.toml", outside(it, f'[tool.xlalint]\nselect = ["{SECRET}"]\n', "outside/pyproject.toml")
    ),
    "requirements": lambda it: link(it, "requirements.txt", outside(it, "tensorflow==1.777\n", "reqs.txt")),
}


def _caller(module: str) -> str:
    """A module with a finding that is reached by way of another."""
    body = "    def body(self, x):\n        assert x > 3.0\n        return x\n"
    return f"import keras\nfrom {module} import Base\n\n\nclass Model(Base):\n{body}"


@pytest.mark.parametrize("secret", SECRETS)
def test_nothing_outside_of_the_checkout_is_shown(
    secret: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SECRETS[secret](project)
    text = shown(capsys, ".")
    for word in (SECRET, "hunter2", "1.777"):
        assert word not in text
    links = [path.name for path in project.iterdir() if path.is_symlink() and path.is_file()]
    for name in links:  # as a hook names what a commit has
        assert SECRET not in shown(capsys, name)
        assert SECRET not in shown(capsys, "--project", ".", name)


def test_links_that_are_not_followed_are_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside(project, HAZARD, "outside/b.py")
    (project / "b.py").symlink_to("../outside/b.py")
    (project / "c.py").symlink_to(".gitignore")
    (project / ".gitignore").write_text("*.json\n")
    code, out, err = said(capsys, "--no-cache", ".", "b.py")
    assert (code, [line.split()[1] for line in out]) == (2, ["XLA104", "XLA903", "XLA903"])
    assert err == [
        "xlalint: error: b.py: a link out of the project: it is not followed",
        "xlalint: error: c.py: a link to a file of another kind: it is not followed",
    ]


def test_links_within_the_checkout_are_followed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also between projects of one repository, and where the way to the checkout has links itself."""
    for name in ("one", "other"):
        (project / name).mkdir()
        (project / name / "pyproject.toml").write_text("")
    (project / "other" / "helper.py").write_text(HAZARD)
    (project / "one" / "link.py").symlink_to("../other/helper.py")
    (project / "one" / "shared").symlink_to("../other")
    (project / "one" / "main.py").write_text("from shared.helper import step\n")
    expected = [("other/helper.py", "XLA101"), ("one/link.py", "XLA101")]
    assert {(one.path, one.code) for one in check(["one", "other"], Settings()).findings} == set(expected)
    project.parent.joinpath("way").symlink_to(project)
    for place in (project.parent / "way", project.parent / "way" / "one" / "link.py"):
        assert "XLA101" in {one.code for one in check([place], Settings()).findings}
    os.chdir(project.parent / "way" / "one")
    assert [one.code for one in check(["link.py", "shared/helper.py"], Settings()).findings] == ["XLA101", "XLA101"]


@pytest.mark.parametrize("link", ["the file", "the folder"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--output-file", "out/report.txt"),
        ("check", "--output-file", "sarif=out/report.txt"),
        ("report", "--html", "out/report.txt"),
    ],
)
def test_nothing_is_written_by_way_of_a_link(
    arguments: tuple[str, ...], link: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = outside(project, "mine", "outside/report.txt")
    if link == "the folder":
        (project / "out").symlink_to("../outside")
    else:
        (project / "out").mkdir()
        (project / "out" / "report.txt").symlink_to(target)
    assert run([*arguments, "a.py"]) == 2
    assert capsys.readouterr().err == "xlalint: error: out/report.txt: a link of the project: it is not followed\n"
    assert target.read_text() == "mine"
    assert run(["check", "--output-file", "/dev/null", "--no-cache", "a.py"]) == 1
