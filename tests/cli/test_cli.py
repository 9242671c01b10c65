"""The command line from end to end: arguments, output, exit codes, and no traceback for whatever is given."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from array import array
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.commands import ran
from tests.samples import HAZARD
from xlalint import __version__
from xlalint.cli import run
from xlalint.cli.probe import probe
from xlalint.findings.codes import rule_names

COMMAND = [sys.executable, "-m", "xlalint"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "step.py").write_text(HAZARD)
    (tmp_path / "clean.py").write_text("import tensorflow as tf\n\nx = tf.zeros([3])\n")
    return tmp_path


def shell(
    *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )


# -- what is printed, and the exit code -------------------------------------------------------------------------------


def test_a_run_over_the_current_folder(project: Path) -> None:
    done = shell()
    assert done.returncode == 1
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("error[XLA101] branch-on-tensor: ")
    assert lines[1] == " --> step.py:6:8"
    assert lines[3:5] == ["6 |     if tf.reduce_sum(x) > 10.0:", "  |        ^^^^^^^^^^^^^^^^^^^^^^^"]
    assert any("= fix, safe: " in line for line in lines)
    assert "  = more: xlalint explain XLA101" in lines
    assert lines[-2:] == ["Found 1 error in 1 file (2 files checked).", "1 fixable with --fix."]


def test_a_clean_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "clean.py") == (0, "No findings (1 file checked).\n", "")
    assert ran(capsys, "--quiet", "clean.py") == (0, "", "")


@pytest.mark.parametrize("before", [(), ("check",)])
def test_check_is_the_default_command(
    project: Path, capsys: pytest.CaptureFixture[str], before: tuple[str, ...]
) -> None:
    code, out, _ = ran(capsys, *before, "--output-format", "concise", "step.py", "--quiet")
    assert code == 1
    assert out.startswith("step.py:6:8: XLA101 ")
    assert len(out.splitlines()) == 1


def test_json_holds_the_finding(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "--output-format=json", ".")
    assert code == 1
    report = json.loads(out)
    assert sorted(report) == ["errors", "findings", "summary", "version"]
    [finding] = report["findings"]
    assert (finding["path"], finding["line"], finding["column"]) == ("step.py", 6, 8)
    assert (finding["end_line"], finding["end_column"]) == (6, 31)
    assert (finding["severity"], finding["effect"]) == ("error", "fails")
    assert finding["context"]["kind"] == "xla"
    assert finding["context"]["autograph"] is False
    assert finding["context"]["trail"][0]["name"] == "step"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--select", "XLA1"], 1),
        (["--select", "branch-on-tensor"], 1),
        (["--select", "XLA2,XLA9"], 0),
        (["--select", "XLA2", "--extend-select", "XLA101"], 1),
        (["--ignore", "XLA1"], 0),
        (["--ignore", "XLA2", "--ignore", "branch-on-tensor"], 0),
        (["--exit-zero"], 0),
        (["--fail-on", "error"], 1),
        (["--config", "severity = {XLA101 = 'warning'}", "--fail-on", "error"], 0),
        (["--config", "severity = {XLA101 = 'info'}"], 0),
        (["--config", "severity = {XLA101 = 'info'}", "--fail-on", "info"], 1),
        (["--config", "per-file-ignores = {'step.py' = ['XLA1']}"], 0),
        (["--extend-exclude", "step.py"], 0),
        (["--isolated", "--no-cache", "--jobs", "1", "--keras", "3", "--tensorflow", "2.21"], 1),
        (["--statistics"], 1),
        (["nowhere"], 2),
        (["--exit-zero", "nowhere"], 2),
    ],
)
def test_exit_codes(project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int) -> None:
    assert ran(capsys, ".", *arguments)[0] == code


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["--exit-zero"], 0)])
def test_a_file_that_nobody_can_read_is_a_problem_of_that_file(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    (project / "notes.ipynb").write_text("{")
    found, output, errors = ran(capsys, ".", "--output-format", "concise", *arguments)
    assert found == code
    assert "XLA101" in output
    assert "notes.ipynb" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--selct", "XLA1"], "No such option"),
        (["--select", "XLA777"], "command line: select: no rule is called 'XLA777'"),
        (["--fail-on", "never"], "Invalid value for '--fail-on'"),
        (["--config", "jobs=many"], "--config jobs=many: many is not a TOML value"),
        (["--config", "job=1"], "unknown setting 'job'; did you mean 'jobs'?"),
        (["--config", "gone.toml"], "gone.toml: no such file"),
        (["--keras", "1"], "Invalid value for '--keras'"),
        (["--tensorflow", "new"], "command line: tensorflow: "),
        (["-", "step.py"], "`-` must be the only path"),
        (["--stdin-filename", "a.py"], "--stdin-filename needs `-`"),
        (["nowhere.py"], "nowhere.py: no such file or directory"),
        (["x" * 5000], "File name too long"),
        (["chek", "."], "chek: no such command, file or directory; did you mean 'check'?"),
        (["explian", "XLA101"], "did you mean 'explain'?"),
        (["explain", "XLA777"], "no rule is called 'XLA777'"),
        (["explain"], "name rules"),
        (["completion", "tcsh"], "Invalid value"),
        (["rules", "--bogus"], "No such option"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, _, err = ran(capsys, *arguments)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1
    assert err.startswith("xlalint: error: ")


# What a system can hand over: text, or bytes that are none.
ARGUMENT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.binary(max_size=12).map(
    lambda raw: os.fsdecode(raw.replace(b"\0", b""))
)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(ARGUMENT, min_size=1, max_size=3))
def test_no_arguments_are_a_crash(project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert run(["--show-files", *arguments]) in (0, 2)
    assert "internal error" not in capsys.readouterr().err


def test_a_broken_settings_file_is_one_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text("[tool.xlalint]\nselct = ['XLA1']\n")
    code, out, err = ran(capsys, ".")
    assert (code, out) == (2, "")
    assert err == "xlalint: error: pyproject.toml: unknown setting 'selct'; did you mean 'select'?\n"
    assert ran(capsys, "--isolated", ".")[0] == 1


def test_unreadable_files_make_exit_2_and_the_rest_is_checked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.py").write_bytes(b"import tensorflow\n'\xff'")
    code, out, err = ran(capsys, "--output-format", "concise", ".")
    assert code == 2
    assert "bad.py:1:1: XLA903 line 2 is not utf-8 text" in out
    assert "step.py:6:8: XLA101" in out
    assert "xlalint: error: bad.py: line 2 is not utf-8 text" in err


def test_a_syntax_error_is_a_finding(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "step.py").write_text("import tensorflow as tf\nx = (1,\n")
    code, out, err = ran(capsys, "--output-format", "concise", ".")
    assert code == 1
    assert out.startswith("step.py:2:")
    assert "XLA900" in out
    assert err == ""


def test_a_syntax_error_where_nothing_names_tensorflow_is_information(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "step.py").unlink()
    (project / "notes.py").write_text("first = = load the data\nthen train\n")
    code, out, _ = ran(capsys, "--output-format", "concise", ".")
    assert code == 0
    assert out.startswith("notes.py:1:")
    assert "XLA900" in out
    assert "Found 1 info finding" in out


def test_an_internal_error_is_one_line_and_exit_2(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xlalint.linter.run._analyse", lambda *arguments, **options: 1 / 0)
    code, out, err = ran(capsys, "--no-cache", ".")
    assert (code, out) == (2, "")
    assert err.startswith("xlalint: error: internal error: ZeroDivisionError: division by zero")
    assert "report" in err
    assert len(err.splitlines()) == 1
    assert run(["--no-cache", "--verbose", "."]) == 2
    assert "Traceback" in capsys.readouterr().err


# -- standard input, output and terminals -----------------------------------------------------------------------------


def piped(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    """Have the command read this, in the process of the test."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


def test_standard_input_stands_for_a_file(project: Path) -> None:
    (project / "helper.py").write_text("def halve(x):\n    return x / 2\n")
    text = HAZARD.replace("import", "from helper import halve\nimport").replace("x / 2.0", "halve(x)")
    done = shell("-", "--stdin-filename", "sub/new.py", stdin=text.encode())
    assert done.returncode == 1
    assert b" --> sub/new.py:7:8" in done.stdout
    assert b"7 |     if tf.reduce_sum(x) > 10.0:" in done.stdout
    assert shell("-", stdin=b"x = 1\n").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code"), [(["gen/a.py"], 0), (["old/a.py"], 1), (["old/a.py", "--force-exclude"], 0)]
)
def test_standard_input_obeys_the_settings_of_its_file(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
) -> None:
    (project / "pyproject.toml").write_text(
        "[tool.xlalint]\nper-file-ignores = {'gen/' = ['ALL']}\nexclude = ['old']\n"
    )
    piped(monkeypatch, HAZARD.encode())
    assert ran(capsys, "-", "--stdin-filename", *arguments)[0] == code


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--output-format", "json", "--color", "always"], {}, False),
    ],
)
def test_colour(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    coloured: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in ran(capsys, *arguments)[1]) is coloured


def on_a_terminal(*arguments: str) -> str:
    """What the command shows on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how a terminal says that the other end is closed
        pass
    finally:
        os.close(ours)
    process.wait()
    return shown.decode()


def test_a_terminal_gets_colour_and_rendered_pages(project: Path) -> None:
    assert "\x1b[1;31merror[XLA101]\x1b[0m" in on_a_terminal()
    page = on_a_terminal("explain", "XLA901")
    assert "\x1b[" in page
    assert "## What it does" not in page


def test_a_closed_pipe_is_quiet(project: Path) -> None:
    process = subprocess.Popen([*COMMAND, "explain", "ALL"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_an_interrupt_is_quiet(project: Path) -> None:
    process = subprocess.Popen([*COMMAND, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"x = 1\n")
    process.stdin.flush()
    unread = array("i", [1])
    while unread[0]:  # until it has begun to read its input, and waits for the rest
        time.sleep(0.05)
        fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, unread)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert err.strip() == b""


def test_output_survives_a_narrow_encoding(project: Path) -> None:
    (project / "step.py").write_text(HAZARD.replace("10.0:", "10.0:  # größer"), encoding="utf-8")
    done = shell("step.py", environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert b"gr\\xf6\\xdfer" in done.stdout


def test_file_names_cannot_command_the_terminal(project: Path) -> None:
    (project / "a\x1b[31m.py").write_text(HAZARD)
    (project / os.fsdecode(b"b\xff.py")).write_text(HAZARD)
    done = shell("--output-format", "concise")
    assert b"a\\x1b[31m.py:6:8" in done.stdout
    assert b"b\\xff.py:6:8" in done.stdout
    assert b"\x1b" not in done.stdout


# -- the other commands and outputs -----------------------------------------------------------------------------------


def test_show_files_and_settings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "--show-files") == (0, "clean.py\nstep.py\n", "")
    code, out, _ = ran(capsys, "--show-settings", "--fail-on", "error", "--config", "jobs=2")
    assert code == 0
    lines = {line.split(" ", 1)[0]: line for line in out.splitlines()}
    assert lines["fail-on"].endswith('= "error"  # command line')
    assert lines["jobs"].endswith("= 2  # --config")
    assert lines["include-host"].endswith("= false  # default")


def test_statistics(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "again.py").write_text(HAZARD)
    _, out, _ = ran(capsys, "--statistics")
    assert out == "2  XLA101  branch-on-tensor\nFound 2 errors in 2 files (3 files checked).\n2 fixable with --fix.\n"


def test_verbose_says_how_long_it_took(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "--verbose")[2].startswith("xlalint: 2 files in ")


def test_cache_options(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, "--no-cache")
    assert not (project / ".xlalint_cache").exists()
    ran(capsys, "--cache-dir", "elsewhere")
    assert list((project / "elsewhere").glob("*.json"))
    assert not (project / ".xlalint_cache").exists()


def test_explain_prints_pages_by_any_name(capsys: pytest.CaptureFixture[str]) -> None:
    code, by_code, _ = ran(capsys, "explain", "XLA901")
    assert code == 0
    assert by_code.startswith("# XLA901 unused-suppression\n\nA suppression comment suppresses nothing.\n")
    assert ran(capsys, "explain", "unused-suppression")[1] == by_code
    _, several, _ = ran(capsys, "explain", "XLA902", "XLA901")
    assert several.startswith(by_code)
    assert "\n# XLA902 invalid-suppression\n" in several


def test_every_rule_has_its_page_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ran(capsys, "rules")
    assert [tuple(line.split()[:2]) for line in out.splitlines()] == list(rule_names().items())
    _, out, _ = ran(capsys, "rules", "--output-format", "json")
    table = json.loads(out)
    assert {row["code"]: row["name"] for row in table} == rule_names()
    assert all(row["summary"].endswith(".") for row in table)
    _, pages, _ = ran(capsys, "explain", "ALL")
    assert all(f"# {code} {name}\n" in pages for code, name in rule_names().items())


def test_schema_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(ran(capsys, "schema")[1])["title"] == "[tool.xlalint]"
    assert ran(capsys, "--version") == ran(capsys, "-V") == (0, f"xlalint {__version__}\n", "")
    for arguments in (("--help",), ("check", "--help"), ("explain", "-h")):
        code, out, _ = ran(capsys, *arguments)
        assert code == 0
        assert out.startswith("Usage: xlalint ")


def test_help_shows_whole_summaries_and_each_option_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ran(capsys, "--help")
    assert "..." not in out.partition("Commands:")[2]
    _, out, _ = ran(capsys, "check", "--help")
    groups = {part.partition(":\n")[0]: part for part in re.split(r"\n\n(?=[A-Z][\w ,]+:\n)", out)[1:]}
    assert "  --select RULES" in groups["Rules and files"]
    assert "  -o, --output-file" in groups["Output"]
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", groups["The probe, which runs the code"], re.MULTILINE)
    known = {option for parameter in probe.params for option in parameter.opts}
    assert {"--probe", "--sandbox"} <= set(options) <= known | {"--probe"}
    assert all(re.search(rf"^  (-\w, )?{option}\b", out, re.MULTILINE) for option in ("--help", "--rules", "--keras"))


def test_short_options_and_variables_of_the_environment(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLALINT_OUTPUT_FORMAT", "concise")
    monkeypatch.setenv("XLALINT_NO_CACHE", "1")
    code, out, _ = ran(capsys, "-e", "-q", "step.py")
    assert (code, len(out.splitlines())) == (0, 1)
    assert ran(capsys, "-n", "-o", "report.txt", "step.py")[:2] == (1, "")
    assert (project / "report.txt").read_text().startswith("step.py:6:8: XLA101 ")
    assert not (project / ".xlalint_cache").exists()
    assert ran(capsys, "--output-format", "json", "step.py")[1].startswith("{")
    monkeypatch.setenv("XLALINT_OUTPUT_FORMAT", "xml")
    assert "'xml' is not one of 'full'" in ran(capsys, "step.py")[2]


def test_another_name_of_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "rule", "XLA101") == ran(capsys, "explain", "XLA101")


def test_nothing_to_check_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "empty").mkdir()
    assert ran(capsys, "empty") == (
        0,
        "No findings (0 files checked).\n",
        "xlalint: warning: no Python file or notebook in empty\n",
    )


def test_caches_are_removed_and_nothing_else_of_their_name(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, ".")
    other = project / "other" / ".xlalint_cache"
    other.mkdir(parents=True)
    (other / "notes.txt").write_text("mine")
    assert ran(capsys, "clean") == (0, "Removed .xlalint_cache\n", "")
    assert [path.name for path in project.rglob("notes.txt")] == ["notes.txt"]
    assert ran(capsys, "clean") == (0, "", "")


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "completion", name)
    assert code == 0
    assert "_XLALINT_COMPLETE" in out


@pytest.mark.parametrize(
    ("words", "current", "offered"),
    [
        ("xlalint ", 1, "explain"),
        ("xlalint --sel", 1, "--select"),
        ("xlalint --select XLA9", 2, "XLA901"),
        ("xlalint check --select XLA901,unre", 3, "XLA901,unreadable-file"),
        ("xlalint explain unu", 2, "unused-suppression"),
    ],
)
def test_completion_offers(words: str, current: int, offered: str) -> None:
    done = shell(environment={"_XLALINT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(current)})
    assert offered in [line.partition(",")[2] for line in done.stdout.decode().splitlines()]


def test_starting_up_imports_little() -> None:
    program = (
        "import sys\nimport xlalint.cli\nprint(*sorted({'libcst', 'rich', 'msgspec', 'pathspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
