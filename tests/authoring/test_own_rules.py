"""Rules of one's own: written from the template, tried by their examples, named on the command line or installed, and
never brought by the code that is checked."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import xlalint
from tests.commands import ran
from xlalint.authoring.template import new_rule
from xlalint.findings import rule_files

CODE = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def f(x):
    return tf.linalg.inv(x)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a call of which a new rule speaks, and `house/own101_no_inverse.py`."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text(CODE)
    new_rule("no-inverse", None, tmp_path / "house")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    rule_files.give(())


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return ran(capsys, "code", "--output-format", "concise", "--quiet", *arguments)


def changed(project: Path, before: str, after: str) -> None:
    file = project / "house" / "own101_no_inverse.py"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


# -- new-rule ---------------------------------------------------------------------------------------------------------


def test_a_new_rule_has_the_next_code_and_is_well_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "new-rule", "no-cumsum", "--folder", "house") == (0, "house/own102_no_cumsum.py\n", "")
    assert ran(capsys, "new-rule", "no-sort", "--code", "acme7") == (
        2,
        "",
        "xlalint: error: 'ACME7' is not a code for a rule of your own: use letters but not XLA, then three digits\n",
    )
    assert ran(capsys, "new-rule", "no-sort", "--code", "acme201")[:2] == (0, "acme201_no_sort.py\n")
    assert {node.name for node in ast.parse(Path("acme201_no_sort.py").read_text()).body if hasattr(node, "name")} == {
        "NoSort"
    }
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,I,N,UP,B,RUF", "house"]
    assert subprocess.run(command, capture_output=True, check=False).stdout == b"All checks passed!\n"
    assert ran(capsys, "test-rules", "house", "acme201_no_sort.py", "--no-compiler") == (
        0,
        "ok     ACME201  no-sort  (4 examples)\n"
        "ok     OWN101  no-inverse  (4 examples)\n"
        "ok     OWN102  no-cumsum  (4 examples)\n"
        "The behaviour that the examples claim was not measured: --no-compiler.\n",
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["No_Inverse"], "'No_Inverse' is not a rule name"),
        (["no-inverse"], "there is a rule OWN101 no-inverse already"),
        (["boolean-mask"], "there is a rule XLA201 boolean-mask already"),
        (["another", "--code", "XLA999"], "'XLA999' is not a code for a rule of your own"),
        (["another", "--code", "OWN101"], "there is a rule OWN101 no-inverse already"),
        (["another", "--folder", "code/a.py"], "code/a.py/own101_another.py: File exists"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    code, out, err = ran(capsys, "new-rule", "--folder", "house", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"xlalint: error: {complaint}")
    assert err.count("\n") == 1
    assert [file.name for file in Path("house").iterdir()] == ["own101_no_inverse.py"]


# -- test-rules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        (
            '["tf.linalg.inv(a)"]',
            '["tf.linalg.inv"]',
            "BAD example 1: flags ['tf.linalg.inv(a)'], but the example says",
        ),
        ('help="tf.linalg.solve"', 'help="tf.no"', "BAD example 1: the help does not contain 'tf.no'"),
        ("return tf.linalg.solve(a, b)\n", "return tf.linalg.inv(a)\n", "GOOD example 1: flags ['tf.linalg.inv(a)']"),
        ("## Use instead\n", "", "the sections of its page are What it does, What XLA does, Example, Not flagged"),
        ("compiled code.\n", "compiled code\n", "the first line of its docstring is not a sentence"),
        ('"tf.linalg.inv",))', '"tf.matrix_inverse",))', "apis: tf.matrix_inverse is called tf.linalg.inv here"),
        (
            "effect=Effect.NAMED,\n            help",
            "effect=Effect.FAILS,\n            help",
            "the effect is named, but the",
        ),
        (
            '["tf.linalg.inv(a)"],\n            Compiles(),',
            '["tf.linalg.inv(a)"],\n            None,',
            "`why` does not",
        ),
        ("Draft(\n", "Draft(1 / 0,\n", "ZeroDivisionError"),
    ],
)
def test_what_a_rule_says_wrongly_of_itself_is_told(
    project: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, complaint: str
) -> None:
    changed(project, before, after)
    code, out, err = ran(capsys, "test-rules", "house", "--no-compiler")
    assert (code, err) == (1, "")
    assert out.startswith("wrong  OWN101  no-inverse  (4 examples)\n")
    assert complaint in out


def test_a_place_of_which_another_rule_speaks_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(project, '"tf.linalg.inv",))', '"tf.linalg.lu",))')
    changed(
        project,
        'tf.matmul(tf.linalg.inv(a), b)\n""",\n            ["tf.linalg.inv(a)"]',
        'tf.linalg.lu(a)\n""",\n            ["tf.linalg.lu(a)"]',
    )
    _, out, _ = ran(capsys, "test-rules", "house", "--no-compiler")
    assert "BAD example 1: flags [], but the example says ['tf.linalg.lu(a)']; XLA401 reports line 5" in out


@pytest.mark.compiler
def test_the_compiler_is_asked_for_what_is_claimed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(project, 'Compiles(),\n            inputs=("f32[3, 3]",)', 'Diverges(),\n            inputs=("f32[3, 3]",)')
    changed(project, "    Compiles,\n    Draft,", "    Compiles,\n    Diverges,\n    Draft,")
    code, out, _ = ran(capsys, "test-rules", "house")
    head, complaint, *others = out.splitlines()
    assert (code, others) == (1, [])
    assert head == "wrong  OWN101  no-inverse  (4 examples, 4 claims measured)"
    assert complaint.strip().startswith("BAD example 2: claimed Diverges(), measured: compiles")


def test_a_rule_may_ask_with_libcst(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(project, "import Iterator\n", "import Iterator\n\nimport libcst\nfrom libcst import matchers as m\n")
    changed(
        project,
        "            case ApiCall():\n",
        "            case ApiCall(node=libcst.Call(args=[libcst.Arg(value=libcst.Name())])) if (\n"
        "                m.matches(event.node, m.Call(func=m.Attribute(attr=m.Name('inv'))))\n"
        "            ):\n",
    )
    (project / "code" / "a.py").write_text(
        f"{CODE}\n\n@tf.function(jit_compile=True)\ndef g(x):\n    return tf.linalg.inv(x[0])\n"
    )
    assert [line.partition(" ")[0] for line in lint(capsys, "--rules", "house")[1].splitlines()] == ["code/a.py:6:12:"]


# -- --rules ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["house", "house/own101_no_inverse.py"])
def test_rules_that_are_named_run_and_have_pages(project: Path, capsys: pytest.CaptureFixture[str], path: str) -> None:
    assert lint(capsys) == (0, "", "")
    code, out, err = lint(capsys, "--rules", path)
    assert (code, err) == (1, "")
    assert out.startswith("code/a.py:6:12: OWN101 `tf.linalg.inv` in ")
    assert lint(capsys, "--rules", path, "--select", "OWN")[0] == 1
    assert lint(capsys, "--rules", path, "--select", "no-inverse")[0] == 1
    assert lint(capsys, "--rules", path, "--ignore", "OWN1")[0] == 0
    assert "OWN101  no-inverse" in ran(capsys, "rules", "--rules", path)[1]
    assert ran(capsys, "explain", "--rules", path, "OWN101")[1].startswith("# OWN101 no-inverse\n")
    assert lint(capsys, "--select", "OWN") == (2, "", "xlalint: error: command line: select: no rule is called 'OWN'\n")


def test_every_command_that_lints_takes_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "report", "code", "--rules", "house", "--html", "-")
    assert (code, "OWN101" in out) == (0, True)
    code, out, _ = ran(capsys, "baseline", "write", "--rules", "house", "code")
    assert (code, "OWN101" in Path("xlalint-baseline.json").read_text()) == (0, True)
    (project / "code" / "a.py").write_text(CODE.replace("inv(x)", "inv(x)  # noqa: OWN101"))
    assert ran(capsys, "readiness", "--rules", "house", "code")[0] == 0


@pytest.mark.parametrize("comment", ["# noqa: OWN101", "# noqa: E501, OWN101", "# xlalint: ignore[OWN101] yes"])
def test_their_findings_can_be_suppressed(project: Path, capsys: pytest.CaptureFixture[str], comment: str) -> None:
    (project / "code" / "a.py").write_text(CODE.replace("inv(x)", f"inv(x)  {comment}"))
    assert lint(capsys, "--rules", "house") == (0, "", "")
    (project / "code" / "a.py").write_text(f"x = 1  {comment}\n")
    code, out, _ = lint(capsys, "--rules", "house")
    assert code == 1
    assert "XLA901 `OWN101` in this" in out


def test_rules_share_files_of_their_folder_and_count_for_the_cache(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "house" / "_shared.py").write_text('SAID = "first"\n')
    changed(
        project,
        "    reached,\n)\n",
        "    reached,\n)\n\nfrom ._shared import SAID\n",
    )
    changed(project, 'f"`tf.linalg.inv` in', 'f"{SAID} in')
    command = [sys.executable, "-m", "xlalint", "code", "--rules", "house", "--output-format", "concise", "--quiet"]
    for said in ("first", "first", "second"):
        (project / "house" / "_shared.py").write_text(f'SAID = "{said}"\n')
        assert f"OWN101 {said} in" in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_what_a_rule_may_import_from_its_folder_belongs_to_it(project: Path) -> None:
    for name in ("_shared.py", "inner/__init__.py", "inner/deep.py", "no_package/other.py"):
        file = project / "house" / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
    rule_files.give(["house/own101_no_inverse.py"])
    own = {path.relative_to(project / "house").as_posix() for path in rule_files.sources() if project in path.parents}
    assert own == {"own101_no_inverse.py", "_shared.py", "inner/__init__.py", "inner/deep.py"}


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("from collections", "from collection", "ModuleNotFoundError: No module named 'collection'"),
        ("class NoInverse", "class NoInverse:", "SyntaxError: "),
        ("from collections", "raise SystemExit('no')\nfrom collections", "SystemExit: no"),
        ('code = "OWN101"', 'code = "OWN102"', "code = 'OWN102' does not fit the file's name, which says 'OWN101'"),
        ('name = "no-inverse"', 'name = "inverse"', "name = 'inverse' does not fit the file's name"),
        ("NoInverse(Rule)", "NoInverse", "0 classes in it are rules, but there must be exactly one"),
        ("handles = (ApiCall,)", "handles = (int,)", "`handles` has to be a tuple of classes of events"),
        ("handles = (ApiCall,)", "handles = (Event,)", "a rule that handles ApiCall must name the calls"),
        ("def check(", "def chek(", "it handles events, but has no method `check`"),
    ],
)
def test_a_file_that_holds_no_such_rule_is_one_line_and_exit_2(
    project: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, complaint: str
) -> None:
    changed(project, before, after)
    code, out, err = lint(capsys, "--rules", "house", "--no-cache")
    assert (code, out) == (2, "")
    assert err.startswith("xlalint: error: ")
    assert err.count("\n") == 1
    assert f"own101_no_inverse.py: {complaint}" in err


def test_codes_and_names_that_are_taken_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("house/own101_no_inverse.py").read_text()
    cases = {
        "xla999_mine.py": "codes that begin with XLA are those of xlalint's own rules",
        "own102_no_inverse.py": "no-inverse is the rule in ",
        "own101_other.py": "OWN101 is the rule in ",
        "own103_unique.py": "unique is the rule in ",
    }
    for name, complaint in cases.items():
        (Path("house") / name).write_text(text)
        code, out, err = lint(capsys, "--rules", "house")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert complaint in err
        (Path("house") / name).unlink()
    for path, complaint in (
        ("code", "there is no rule in it"),
        ("gone", "no such file"),
        ("code/a.py", "the file of a rule is named after"),
    ):
        code, out, err = lint(capsys, "--rules", path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert complaint in err


def test_programs_can_name_rules(project: Path) -> None:
    xlalint.use_rules(["house"])
    [finding] = xlalint.lint_paths(["code"]).findings
    assert finding.code == "OWN101"
    with pytest.raises(xlalint.RulesError, match="no such file or folder"):
        xlalint.use_rules(["gone"])
    assert [finding.code for finding in xlalint.lint_paths(["code"]).findings] == ["OWN101"]
    xlalint.use_rules([])
    assert xlalint.lint_paths(["code"]).findings == ()


# -- what the checked code cannot do ----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--config", "pyproject.toml"], ["--config", 'rules=["house"]']])
def test_settings_cannot_name_rules(project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    changed(project, "from collections", "open('ran', 'w')\nfrom collections")
    if not arguments[1:] or "toml" in arguments[1]:
        (project / "pyproject.toml").write_text('[tool.xlalint]\nrules = ["house"]\n')
    code, out, err = lint(capsys, *arguments)
    assert (code, out) == (2, "")
    assert "rules: rules of your own are named on the command line only (--rules)" in err
    assert not (project / "ran").exists()


def installed(folder: Path, module: str = "acme_rules") -> Path:
    """A folder as `site-packages` is, with a distribution that offers rules."""
    new_rule("no-inverse", "ACME101", folder / "acme_rules")
    (folder / "acme_rules" / "__init__.py").touch()
    (folder / "acme-1.0.dist-info").mkdir()
    points = f"[console_scripts]\nacme = acme:main\n\n[xlalint.rules]\nacme = {module}\n"
    (folder / "acme-1.0.dist-info" / "entry_points.txt").write_text(points)
    return folder


def in_process(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "xlalint", *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_installed_packages_offer_rules(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    site = installed(tmp_path_factory.mktemp("elsewhere") / "site")
    done = in_process(project, "code", "--quiet", "--output-format", "concise", PYTHONPATH=str(site))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("code/a.py:6:12: ACME101 ")
    done = in_process(project, "rules", PYTHONPATH=str(installed(site.parent / "wrong", "acme_gone")))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "xlalint: error: rules of the package acme_gone: there is no such package\n"


def test_a_rule_that_fails_is_named_and_costs_only_what_it_would_say(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(project, "        yield ", '        raise KeyError("no such table")\n        yield ')
    (project / "code" / "b.py").write_text(CODE.replace("tf.linalg.inv(x)", "x[x > 0.0]"))
    code, out, err = lint(capsys, "--rules", "house", "--no-cache")
    assert code == 2
    assert out.startswith("code/b.py:6:12: XLA201 ")
    assert err.splitlines() == [
        "xlalint: error: code/a.py: line 6: internal error while applying OWN101: KeyError: 'no such table'",
        "xlalint: error: OWN101 is not part of xlalint: report this to its author, with the output of --verbose",
    ]
    done = in_process(project, "code", "--rules", "house", "--no-cache", "--verbose")
    assert 'own101_no_inverse.py", line' in done.stderr


def test_comments_may_name_rules_that_a_run_has_not_got(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = CODE.replace("inv(x)", "inv(x)  # xlalint: ignore[OWN101, OTHER1] on purpose")
    (project / "code" / "a.py").write_text(code)
    assert lint(capsys, "--rules", "house")[1].splitlines() == [
        "code/a.py:6:56: XLA902 no rule is called 'OTHER1'",
    ]
    assert lint(capsys, "--config", 'external = ["OWN"]')[1].splitlines() == [
        "code/a.py:6:56: XLA902 no rule is called 'OTHER1'",
    ]
    assert lint(capsys, "--config", 'external = ["own101", "OTHER"]') == (0, "", "")


def test_what_looks_installed_in_the_checked_folder_is_not_taken(project: Path) -> None:
    """Python looks for modules in the working directory when it runs `-m xlalint`."""
    installed(project)
    done = in_process(project, "code", "--quiet", PYTHONPATH="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_rule_is_imported_where_results_are_cached(project: Path) -> None:
    program = "import sys; from xlalint.cli import run; run(['code', '--rules', 'house', '--quiet']); "
    program += "print('xlalint.linter.dispatch' in sys.modules)"
    said = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(2)
    ]
    assert [lines[-1] for lines in said] == ["True", "False"]
    assert said[0][:-1] == said[1][:-1]


def test_the_trial_says_that_the_compiler_is_not_there(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "tensorflow" else find_spec(name))
    code, out, _ = ran(capsys, "test-rules", "house")
    assert code == 0
    assert out.endswith("was not measured: TensorFlow is not installed.\n")
