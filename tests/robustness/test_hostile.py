"""Code, settings, names and comments that were written to do harm: nothing runs, nothing hangs, nothing is obeyed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import xlalint
from tests.robustness.trial import complaints, controls
from tests.samples import FIXABLE, HAZARD
from tests.sources.test_notebooks import notebook, saved
from xlalint.analysis.budget import Clock
from xlalint.analysis.interpreter.debugging import may_wrap
from xlalint.cli import run
from xlalint.findings.findings import Report
from xlalint.linter.fix_runs import fix
from xlalint.linter.run import check
from xlalint.settings.config import Settings
from xlalint.sources.ipython import python_of
from xlalint.sources.reading import may_matter
from xlalint.sources.suppressions import names_rules, suppressions_of
from xlalint.sources.text import limit_f_strings

HEAD = "import tensorflow as tf\n\n\n@tf.function(jit_compile=True)\ndef f(x, flag):\n"


def body(*lines: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in lines)


def nested(depth: int, opening: str, inner: str) -> str:
    return (
        HEAD
        + "".join(f"{' ' * (4 + level)}{opening.format(level)}\n" for level in range(depth))
        + (f"{' ' * (4 + depth)}{inner}\n    return x\n")
    )


def lint(folder: Path, text: str | bytes, name: str = "a.py", **settings: float) -> Report:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return check([file], Settings(jobs=1, **settings))  # type: ignore[arg-type]


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


# -- programs that are small to write and endless to follow -----------------------------------------------------------

HEAVY: dict[str, str] = {
    "doubled tuples": body("y = (x, x)", *["y = (y, y)"] * 200, "return f(y, y) if flag else y"),
    "doubled lists": body("y = [x, 1]", *["y = [y, y]"] * 200, "if flag:", "    y = [y, x]", "return f(y, y)"),
    "doubled dicts": body("y = {'a': x}", *["y = {'a': y, 'b': y}"] * 200, "if flag:", "    y = {'a': y}", "return y"),
    "sums of lists": body("y = [x]", *["y = y + y"] * 200, "return f(y, y)"),
    "sums of text": body("y = 'ab'", *["y = y + y"] * 200, "return x[: len(y)]"),
    "powers": body("y = 3", *["y = y ** y"] * 50, "z = 1 << 9999999999", "w = [0] * 10**10", "return x[:y]"),
    "endless data": "import tensorflow as tf\nd = tf.data.Dataset.range(10**30, -10**30, -1).batch(10**30)\n"
    + body("for i in range(10**30): x = x + i", "y = [0] * 10**30", "return x[: 10**30, y[10**30]]"),
    "a list in itself": body("y = [x]", "y.append(y)", "z = {'a': y}", "z['b'] = z", "return f(y, z)"),
    "doubled results": "import tensorflow as tf\n"
    + "".join(f"def g{n}(x, y):\n    a = g{n + 1}(x, y)\n    return a, g{n + 1}((x,), a), a\n" for n in range(60))
    + "def g60(x, y):\n    return x if tf.reduce_sum(x) > 0 else y\n",
    "a thousand alternatives": body(
        *(line for n in range(1000) for line in (f"if flag == {n}:", f"    y = (x, [{n}] * {n})")),
        "return f((y, y), y)",
    ),
    "a thousand functions": "import tensorflow as tf\n"
    + "".join(f"def g{n}(x):\n    return x + {n}\n" for n in range(1000))
    + f"ALL = {{{', '.join(f'{n}: g{n}' for n in range(1000))}}}\n"
    + "@tf.function(jit_compile=True)\ndef f(x, k):\n    return ALL[k](ALL[k](ALL[k](x)))\n",
    "classes in a ring": "import tensorflow as tf\nfrom typing import Generic, TypeVar\nT = TypeVar('T')\n"
    + "".join(
        f"class G{n}(Generic[T]):\n    a: 'G{(n + 1) % 50}[G{(n + 2) % 50}[T]]'\n"
        f"    def call(self, x: 'G{(n + 1) % 50}[T]'):\n        return x.a.a.a.call(x.a)\n"
        for n in range(50)
    )
    + "@tf.function(jit_compile=True)\ndef f(g: G0[tf.Tensor]):\n    return g.a.a.a.call(g.a)\n",
    "aliases of types": "import tensorflow as tf\nfrom typing import Tuple, Union\nT0 = tf.Tensor\n"
    + "".join(f"T{n + 1} = Union[Tuple[T{n}, T{n}], T{n}]\n" for n in range(60))
    + "@tf.function(jit_compile=True)\ndef f(x: T60):\n    return x if x else x\n",
    "a long line of classes": "import tensorflow as tf\nclass A0(tf.keras.layers.Layer): pass\n"
    + "".join(f"class A{n + 1}(A{n}): pass\n" for n in range(2500)),
    "inheritance from itself": "import tensorflow as tf\nclass A(B): pass\n"
    "class B(A):\n    def call(self, x): return x\n",
    "defaults of themselves": "import tensorflow as tf\nclass A:\n    def __init__(self, x=A()): self.x = x\n"
    "def g(x=g(), y=A()): return x\n@tf.function(jit_compile=True)\ndef f(x): return A(g())\n",
    "annotations of themselves": "import tensorflow as tf\n"
    "def g(x: h(1)[0]): return x\ndef h(y: g(1)[0]) -> h(2)[1]: return y\n"
    + body("def g(x: h(1)[0]): return x", "def h(y: g(1)[0]): return y", "return h(x)"),
    "annotations that are no text": "import tensorflow as tf\n"
    + "".join(f"def g{n}(x: b'x', y: list[b'y'] = b'z') -> b'x': return tf.abs(x)\n" for n in range(40)),
    "an import of itself": "from a import *\nfrom .a import f\nimport tensorflow as tf\ndef f(x): return f(f)\n",
    "loops in loops": nested(18, "for i{} in range(9):", "x = x + 1"),
    "tensor loops in loops": nested(18, "while tf.reduce_sum(x) > {}:", "x = x + 1"),
    "comments": body("return x") + "# xlalint: ignore[XLA101]\n" * 10_000,
    "rules of a comment": body(f"return x  # xlalint: ignore[{'XLA101, nonsense, ' * 5_000}]"),
    "an imported name": f"import tensorflow as tf\ndef f(x):\n    import a{'.a' * 20_000}\n    return tf.abs(x)\n",
    "a name that is the call itself": "import importlib\nfrom functools import partial\nimport tensorflow as tf\n"
    + body("m = partial(importlib.import_module, flag)()", "return m.g(x)"),
    "records in themselves": "from dataclasses import dataclass\nimport tensorflow as tf\n"
    + "@dataclass\nclass A:\n    kept: object\n"
    + body("a, b = A(x), A(x)", "a.kept, b.kept = {'x': a}, {'x': b}", "c = a if flag else b", "return c.kept['x']"),
    "unhashable keys": "import tensorflow as tf\nD = {[1]: 2}\ndef f(x): return tf.zeros(D[0])\n",
}


@pytest.mark.parametrize("case", HEAVY)
def test_what_is_endless_to_follow_is_not_followed_to_the_end(case: str, tmp_path: Path) -> None:
    report = lint(tmp_path, HEAVY[case], file_timeout=20.0)
    assert [problem.detail or problem.message for problem in report.problems] == []
    assert "XLA905" not in codes(report)


DEEP: dict[str, str] = {
    "and": body("return x" + " and x" * 20_000),
    "comparisons": body("return x" + " < x" * 20_000),
    "plus": body("return x" + " + x" * 20_000),
    "attributes": body("return x" + ".a" * 20_000),
    "not": body("return " + "not " * 20_000 + "x"),
    "minus": body("return " + "-" * 20_000 + "x"),
    "elif": body("if x:", "    y = 1", *["elif flag:", "    y = 2"] * 9_000, "return y"),
    "lambda": body("return " + "lambda: " * 20_000 + "x"),
}


@pytest.mark.parametrize("case", DEEP)
def test_what_is_nested_too_deeply_is_reported(case: str, tmp_path: Path) -> None:
    report = lint(tmp_path, DEEP[case])
    assert report.problems == ()
    assert codes(report) == {"XLA905"}
    assert "nested too deeply" in report.findings[0].message


SHALLOW: dict[str, str] = {
    "brackets": body("return " + "(" * 180 + "x" + ")" * 180),
    "text": body("return '" + "a' 'b" * 20_000 + "'"),
    "comparisons": body("return x" + " < x" * 900),
    "an annotation": f"import tensorflow as tf\n@tf.function\ndef f(x: '{'not ' * 20_000}y'): return x\n",
    "an imported name": body(f"import a{'.a' * 20_000}", "return tf.abs(x)"),
    "blocks": nested(30, "if flag > {}:", "x = x + 1"),
    "branches of a module": "import tensorflow as tf\nif a:\n    import b\n" + "elif a:\n    import c\n" * 900,
    "a decorator": f"import tensorflow as tf\n@tf.function{'.a' * 900}\ndef f(x): return x\n",
    "a base": f"import tensorflow as tf\nclass A(tf{' + x' * 900}):\n    pass\n",
}


@pytest.mark.parametrize("case", SHALLOW)
def test_what_is_nested_in_another_way_is_no_trouble(case: str, tmp_path: Path) -> None:
    report = lint(tmp_path, SHALLOW[case])
    assert [problem.detail or problem.message for problem in report.problems] == []
    assert codes(report) <= {"XLA101", "XLA104", "XLA900"}


def test_a_file_that_takes_too_long_is_reported_with_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "slow.py").write_text(HAZARD)
    arguments = ["--output-format", "concise", "-q", "."]
    assert run(["--file-timeout", "1e-9", *arguments]) == 1
    assert not list(tmp_path.glob(".xlalint_cache/*.json")), "another time it may get farther"
    report = check(["."], Settings(file_timeout=1e-9))
    assert [(finding.path, finding.code) for finding in report.findings] == [("slow.py", "XLA905")]
    assert "1e-09 s" in report.findings[0].message
    assert codes(check(["."], Settings())) == {"XLA101"}
    (tmp_path / "slow.py").write_text(f"# xlalint: file-ignore[XLA905]\n{HAZARD}")
    assert check(["."], Settings(file_timeout=1e-9)).findings == ()


def test_what_is_not_analysed_to_its_end_is_not_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who else calls a function is not known then."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(FIXABLE)
    (tmp_path / "b.py").write_text(FIXABLE)

    def late(limit: float, before: dict[str, float]) -> Clock:
        clock = Clock(limit, before)
        clock.given_up["a.py"] = None
        return clock

    monkeypatch.setattr("xlalint.linter.analyse.Clock", late)
    report = check(["."], Settings(jobs=1))
    assert [(one.path, one.code, one.fix is None) for one in report.findings] == [
        ("a.py", "XLA905", True),
        ("a.py", "XLA104", True),
        ("b.py", "XLA104", False),
    ]


def levels(depth: int) -> str:
    """Branches inside of each other, each of which has a rewrite that meets those of all others."""
    tests = "".join(f"    {' ' * level}if x > {level}.0:\n" for level in range(depth))
    return FIXABLE.partition("    m =")[0] + tests + f"    {' ' * depth}x = x / 2.0\n    return x\n"


@pytest.mark.slow
@pytest.mark.parametrize("depth", [60, 90])
def test_all_rounds_of_fixes_together_take_no_longer_than_a_file_may(depth: int, tmp_path: Path) -> None:
    """A file whose fixes do is left as it was, and the others are fixed."""
    text = levels(depth)
    (tmp_path / "deep.py").write_text(text)
    (tmp_path / "other.py").write_text(FIXABLE)
    outcome = fix([tmp_path], Settings(jobs=1, file_timeout=3.0, unsafe_fixes=True))
    assert [change.path.name for change in outcome.changes] == ["other.py"]
    assert [problem.message for problem in outcome.report.problems] == [
        "not fixed: its fixes take more than 3 s (file-timeout) (XLA101)"
    ]
    assert {one.code for one in outcome.report.findings} == {"XLA101"}
    assert len(outcome.report.findings) == depth, "all that is there without fixes"


@pytest.mark.slow
def test_the_work_for_nested_branches_is_not_cubic(tmp_path: Path) -> None:
    """The calls that it takes to find their rewrites."""
    counted = []
    for depth in (20, 40, 80):
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event == "call"

        lint(tmp_path, levels(depth))
        sys.setprofile(count)
        try:
            assert len(lint(tmp_path, levels(depth), file_timeout=1e6).findings) == depth
        finally:
            sys.setprofile(None)
        counted.append(calls)
    assert counted[2] - counted[1] < 5 * (counted[1] - counted[0])


def test_a_file_of_a_million_lines_is_reported_unless_it_does_not_matter(tmp_path: Path) -> None:
    lines = "x = 1\n" * 1_000_000
    report = lint(tmp_path, f"import tensorflow as tf\n{lines}")
    assert [(one.code, one.span.line) for one in report.findings] == [("XLA905", 1)]
    assert (report.problems, report.files_checked) == ((), 1)
    assert lint(tmp_path, f"import os\n{lines}").findings == ()
    cells = saved(notebook("import tensorflow as tf", lines))
    assert codes(lint(tmp_path, cells, "n.ipynb")) == {"XLA905"}
    (tmp_path / "big.py").write_text(f"import tensorflow as tf\n{lines}")
    assert codes(lint(tmp_path, f"from big import x\n{HAZARD}")) == {"XLA101"}


def test_an_f_string_that_python_takes_a_minute_to_parse(tmp_path: Path) -> None:
    parts = "text = f'" + "{x}" * 200_000 + "'\n"
    for name, data in (("a.py", (HAZARD + parts).encode()), ("a.ipynb", saved(notebook(HAZARD, parts)))):
        assert [one.message for one in lint(tmp_path, data, name).findings] == [
            "an f-string with too many parts: the file is not checked"
        ]
    limit_f_strings("many = [" + "f'{x}', {'a': x}," * 40_000 + "]\n")  # which is no trouble


PATTERNS: dict[str, Callable[[], object]] = {
    "comments that begin again and again": lambda: names_rules("# noqa:" * 100_000),
    "a comment of letters": lambda: suppressions_of("x  # noqa: " + "A" * 200_000 + "\n").entries,
    "a comment of codes": lambda: suppressions_of("x  # noqa: " + "A1," * 100_000 + "!\n").entries,
    "an open bracket": lambda: suppressions_of("x  # xlalint: ignore[" + " " * 200_000 + "\n").entries,
    "an f-string that does not end": lambda: limit_f_strings("f'''{" * 100_000),
    "an f-string of escapes": lambda: limit_f_strings("f'" + "\\'{" * 200_000),
    "a line of number signs": lambda: may_wrap("self.x = y  " + "#" * 100_000 + "\n"),
    "words of imports": lambda: may_matter(b"from " * 200_000, Path("a.py")),
    "names of packages": lambda: may_matter(b"import a" + b"tensorflow" * 100_000 + b"\n", Path("a.py")),
    "white space": lambda: may_matter((b" " * 10_000 + b"\n") * 100 + b"import os", Path("a.py")),
    "quotes of a notebook": lambda: may_matter(saved(notebook("%time " + "'\\" * 100_000)), Path("a.ipynb")),
    "line ends of a notebook": lambda: python_of("# a comment\r\n" * 20_000 + "x = !"),
    "commands of a notebook": lambda: may_matter(saved(notebook("!" + "\\" * 100_000 + "\nx = !")), Path("a.ipynb")),
}


@pytest.mark.parametrize("case", PATTERNS)
def test_no_pattern_looks_at_the_same_text_again_and_again(case: str) -> None:
    started = time.process_time()
    PATTERNS[case]()
    assert time.process_time() - started < 10  # what is quadratic takes minutes


# -- nothing is run ---------------------------------------------------------------------------------------------------

SPY = """\
import os, sys
folder = os.getcwd()
seen = []
def hook(event, arguments):
    if event in ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "pty.spawn"):
        seen.append((event, arguments))
    elif event.startswith(("socket.", "urllib.", "ctypes.dlopen", "ftplib.", "http.")):
        seen.append((event, arguments))
    elif event == "exec" and arguments[0].co_filename.startswith(folder):
        seen.append((event, arguments))
    elif event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append((event, arguments))
    elif event in ("os.remove", "os.rename", "os.rmdir", "os.chmod", "os.mkdir", "os.symlink"):
        seen.append((event, arguments))
sys.addaudithook(hook)
from xlalint.cli import run
code = run(sys.argv[1:])
print(code, seen, sorted({"tensorflow", "keras", "evil", "numpy", "conftest"} & set(sys.modules)), file=sys.stderr)
"""
EVIL = "import os\nos.system('touch ran')\nopen('ran', 'w').close()\nraise SystemExit\n"


def test_linting_executes_nothing_of_what_it_reads(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("evil", "conftest", "setup", "sitecustomize", "click", "msgspec", "tensorflow", "__init__"):
        (tmp_path / f"{name}.py").write_text(EVIL + HAZARD)
    (tmp_path / "a.py").write_text(f"import evil\nfrom evil import *\n{HAZARD}exec('import evil')\n")
    (tmp_path / "n.ipynb").write_bytes(saved(notebook("!touch ran", "%run evil.py", "%%bash\ntouch ran", HAZARD)))
    (tmp_path / "evil.pth").write_text("import os; os.system('touch ran')\n")
    (tmp_path / "pyproject.toml").write_text("[tool.xlalint]\nselect = ['ALL']\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", SPY, "--no-cache", "--jobs", "1", "-q", "."],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == "1 [] []\n"
    assert "XLA101" in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "xlalint", "--no-cache", "a.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )  # fmt: skip
    assert not (tmp_path / "ran").exists(), done.stderr


@pytest.mark.parametrize("named", [".", "", "HERE", "HERE/deps", "LINK", "HOME:HERE", "HERE:HOME"])
def test_the_search_path_for_modules_may_name_the_checkout(named: str, tmp_path: Path) -> None:
    """As people set it for their own programs, and CI for all of a job."""
    project = tmp_path / "project"
    for folder in (project, project / "deps", project / "evil.egg-info"):
        folder.mkdir()
    (tmp_path / "link").symlink_to(project)
    for folder in (project, project / "deps"):
        for name in ("click", "msgspec", "rich", "pathspec", "libcst", "json", "difflib", "xlalint_rules"):
            (folder / f"{name}.py").write_text(EVIL)
    (project / "evil.egg-info" / "entry_points.txt").write_text("[xlalint.rules]\nevil = xlalint_rules\n")
    (project / "a.py").write_text(HAZARD)
    (project / ".gitignore").write_text("*.txt\n")
    (project / ".git").mkdir()
    words = {"HERE": str(project), "LINK": str(tmp_path / "link"), "HOME": str(Path(xlalint.__file__).parent.parent)}
    for word, place in words.items():
        named = named.replace(word, place)
    for start in (["-m", "xlalint"], ["-c", "from xlalint.__main__ import main; main()"]):
        done = subprocess.run(
            [sys.executable, *start, "-q", "--no-cache", "--color", "always", "."],
            cwd=project, env={**os.environ, "PYTHONPATH": named}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert not (project / "ran").exists(), done.stderr
        assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("cache-dir = '../outside'", "cache-dir: '../outside' is outside the project"),
        ("cache-dir = '/tmp/outside'", "cache-dir: '/tmp/outside' is outside the project"),
        ("cache-dir = 'link'", "cache-dir: 'link' is outside the project"),
        ("baseline = '../../etc/passwd'", "is outside the project"),
        ("project = '..'", "is outside the project"),
        ("fix = true", "only the command line and --config can ask for fixes"),
        ("exclude = ['" + "*a" * 30 + "b']", ""),
        ("per-file-ignores = { '" + "*a" * 30 + "b' = ['ALL'] }", ""),
        ("exclude = [" + "'a'," * 10_001 + "]", "more than 10000 patterns"),
        ("output-format = '\\u001b[2J'", "expected one of"),
        ('"\\u001b[31mred\\n::error::" = 1', r"unknown setting '\x1b[31mred\n::error::'"),
        ("probe = { python = './evil' }", ""),
        ("select = " + "[" * 5_000 + "]" * 5_000, "nested too deeply"),
        ("probe." + "a." * 50_000 + "a = 1", "a key of more than 200 parts"),
        ("jobs = " + "9" * 5_000, "pyproject.toml: "),
    ],
)
def test_settings_of_the_checked_code_lead_nowhere(
    setting: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    (project / "link").symlink_to(tmp_path)
    (project / "a.py").write_text("x = 1\n")
    (project / "pyproject.toml").write_text(f"[tool.xlalint]\n{setting}\n")
    assert run(["-q", "a.py"]) == (2 if said else 0)
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == bool(said)
    assert controls(err) == []
    assert {path.name for path in tmp_path.iterdir()} == {"project"}


def test_patterns_of_the_checked_code_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*a" * 30 + "b\n" + "**/a/" * 30 + "b\n")
    (tmp_path / f"{'a' * 200}.py").write_text(HAZARD)
    assert codes(check(["."], Settings())) == {"XLA101"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", f"x = {'not ' * 100_000}x\n"),
        ("pyproject.toml", f"[project]\ndependencies = {'[' * 50_000}{']' * 50_000}\n"),
        ("requirements.txt", f"tensorflow>={'9' * 100_000}\nkeras{'[' * 100_000}\ntensorflow{'>=1,' * 100_000}\n"),
        ("requirements.txt", f"tensorflow; {'(' * 1_900}\ntensorflow>={'9' * 1_900}\ntensorflow{'<1,' * 600}\n"),
        ("setup.cfg", f"[options]\ninstall_requires =\n{'  tensorflow ==' * 50_000}\n"),
    ],
)
def test_requirements_of_the_checked_code_are_read_or_not(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    (tmp_path / "a.py").write_text(HAZARD)
    assert run(["-q", "--no-cache", "a.py"]) == 1
    assert capsys.readouterr().err == ""


def test_a_baseline_that_excuses_everything_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(HAZARD)
    entry = {**dict.fromkeys(("path", "code", "scope", "key", "source"), ""), "count": 10**15}
    (tmp_path / "known.json").write_text(json.dumps({"version": 1, "findings": [entry]}))
    assert run(["-q", "--no-cache", "--baseline", "known.json", "a.py"]) == 2
    assert "known.json: not a baseline: it has more than 1,000,000 findings\n" in capsys.readouterr().err


LOG = """\
Traceback (most recent call last):
  File "{file}", line {line}, in f
    if tf.reduce_sum(x) > 10.0:
tensorflow.errors.OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed
"""


@pytest.mark.parametrize(
    ("file", "line"),
    [("endless.py", "6"), ("a" * 5_000 + ".py", "6"), ("~nobody/a.py", "6"), ("\0.py", "6"), ("a.py", "9" * 5_000)],
)
def test_logs_that_name_what_cannot_be_read(
    file: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for endless in ("endless.py", "endless.log"):
        (tmp_path / endless).touch()
        os.truncate(endless, 2**40)
    (tmp_path / "error.log").write_text(LOG.format(file=file, line=line))
    assert run(["explain", "--error", "error.log"]) == 0
    out, err = capsys.readouterr()
    assert (err, "XLA101" in out) == ("", True)
    assert run(["explain", "--error", "endless.log"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_cache_folder_that_leads_out_of_the_project_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    monkeypatch.chdir(project)
    (project / ".git").mkdir()
    (project / "a.py").write_text(HAZARD)
    (project / ".xlalint_cache").symlink_to(outside)
    assert run(["-q", "a.py"]) == 2
    assert ".xlalint_cache is outside the project" in capsys.readouterr().err
    assert list(outside.iterdir()) == []
    mine = [outside / f"mine-{number}.json" for number in range(50)]
    for file in mine:
        file.write_text("{}")
    assert run(["-q", "--cache-dir", str(outside), "a.py"]) == 2
    assert "holds something else than a cache" in capsys.readouterr().err
    assert sorted(outside.iterdir()) == sorted(mine)
    assert all(file.exists() for file in mine)


# -- nothing is obeyed ------------------------------------------------------------------------------------------------

NAMES = (
    *("plain.py", "with space.py", "new\nline.py", "::error::.py", "\x1b[2J.py", "\u202egnp.py", "%0A::debug::.py"),
    *("](x).py", "<script>.py", "`|`.py", "-q.py", "--fix.py", "$(touch ran).py", "a;b&c.py", "\r.py", "'\".py"),
    os.fsdecode(b"\xff\xfe.py"),
)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_files_are_only_shown(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / name
    file.write_text(FIXABLE)
    assert complaints(file) == []
    assert run(["-q", "--no-cache", "--", name]) == 1
    assert run(["-q", "--no-cache", "--fix", "."]) == 0
    assert os.listdir(tmp_path) == [name]
    assert "tf.logical_not" in file.read_text()


TEXTS = ("\x1b[2J\x1b]0;pwned\x07", "\u202e\u2066", "\u2028::error file=x::", "\x85\x9b31m", "</script>]]>``` |")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("where", ["in a string", "in a comment", "in a notebook"])
def test_what_stands_in_the_code_is_only_shown(
    text: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = FIXABLE.replace("10.0", f"len('{text}')") if where == "in a string" else FIXABLE
    source = source.replace("x.dtype)", f"x.dtype)  # {text}")
    file = tmp_path / ("a.ipynb" if where == "in a notebook" else "a.py")
    file.write_bytes(saved(notebook(source)) if where == "in a notebook" else source.encode())
    assert complaints(file) == []
    assert run(["--no-cache", "--diff", "--color", "always", file.name]) == 1
    assert controls(capsys.readouterr().out) == ["\x1b"]  # its own colours
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["--no-cache", "--diff", "--color", "never", file.name]) == 1
    assert controls(capsys.readouterr().out) == []


def test_a_suppression_cannot_be_smuggled_into_a_string(tmp_path: Path) -> None:
    text = HAZARD.replace("10.0", "len('''\n# xlalint: file-ignore\n# xlalint: disable\n''')")
    assert "XLA101" in codes(lint(tmp_path, text))


def test_a_notebook_says_nothing_but_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads(saved(notebook(HAZARD)))
    cells["metadata"] = {"kernelspec": {"language": ["python"], "argv": ["touch", "ran"]}, "widgets": {"x": "<script>"}}
    cells["cells"][0]["outputs"] = [{"output_type": "display_data", "data": {"text/html": "<script>"}}] * 3
    cells["cells"][0]["metadata"] = {"vscode": {"languageId": 3}}
    report = lint(tmp_path, json.dumps(cells).encode(), "n.ipynb")
    assert codes(report) == {"XLA101"}
    for broken in (b"[" * 100_000, b'{"cells": ' + b"[" * 100_000, b'{"cells": [1e999999]}', b"\xff", b"null"):
        assert codes(lint(tmp_path, broken, "n.ipynb")) == {"XLA903"}
