"""Notebooks: the Python of their cells, findings by cell, what is no notebook, and edits of the file's bytes."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.recall.fixtures import CASES
from tests.samples import HAZARD
from xlalint.cli import run
from xlalint.findings.findings import Edit, Report, Span
from xlalint.linter.run import Stdin, check
from xlalint.settings.config import Settings
from xlalint.sources.ipython import python_of
from xlalint.sources.notebook_edits import UneditableCellError, edited
from xlalint.sources.notebooks import cells_of
from xlalint.sources.text import UnreadableSource, split_lines

MARKDOWN = {"cell_type": "markdown", "metadata": {}, "source": ["# A title, `if x > 0:`"]}


def code(source: str | list[str], **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 1, "metadata": metadata, "outputs": [], "source": source}


def notebook(*sources: str, **metadata: Any) -> dict[str, Any]:
    """A notebook whose first cell is text."""
    cells = [MARKDOWN, *(code(source.splitlines(keepends=True)) for source in sources)]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def saved(content: Any, **options: Any) -> bytes:
    return json.dumps(content, **{"indent": 1, "ensure_ascii": False, **options}).encode()


def notebook_at(folder: Path, cells: Sequence[str]) -> Path:
    (folder / "a.ipynb").write_bytes(saved(notebook(*cells)))
    return folder / "a.ipynb"


def checked(tmp_path: Path, *sources: str, **metadata: Any) -> Report:
    (tmp_path / "a.ipynb").write_bytes(saved(notebook(*sources, **metadata)))
    return check([tmp_path], Settings())


def locations(report: Report) -> list[tuple[str, int | None, int, int]]:
    return [(one.code, one.cell, one.span.line, one.span.column) for one in report.findings]


# -- IPython's own syntax ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "python"),
    [
        ("%matplotlib inline\nx = 1\n", "pass\nx = 1\n"),
        ("!pip install a \\\n  b\nx = 1", "pass\n\nx = 1"),
        ("if x:\n    !ls\n    y = 1\n", "if x:\n    pass\n    y = 1\n"),
        ("for x in y:\n    %cd {x}\r\n", "for x in y:\n    pass\r\n"),
        ("files = !ls -l 'a' \\\n | sort\nx", "files = get_ipython()\n\nx"),
        ("a, b = %sx ls\n", "a, b = get_ipython()\n"),
        ("%time fit(x)\n", "0;    fit(x)\n"),
        ("%timeit -n 10 -r3 fit(x)\n", "0;                fit(x)\n"),
        ("%time h = fit(x)\n", "0;    h = fit(x)\n"),
        ("%time\nx", "pass\nx"),
        ("%time for x in y: pass\n", "pass\n"),
        ("h = %time fit(x)\n", "h =       fit(x)\n"),
        ("?tf.cond\ntf.cond?\ntf.cond??  # what\n", "pass\npass\npass\n"),
        ("f(\n  x)?\ny\n", "pass\n\ny\n"),
        ("%%time\nx = 1\n", "\nx = 1\n"),
        ("\n%%capture out --no-stderr\n%%time\nx = !ls\n", "\n\n\nx = get_ipython()\n"),
        ("#@title Train\n%%time\nx = 1\n", "#@title Train\n\nx = 1\n"),
        ("%%timeit -n 1\nx = 1", "\nx = 1"),
        ("pip install tensorflow\nx = 1\n", "pass\nx = 1\n"),
        ("time = 3\nls\ncat(x)\n!ls\n", "time = 3\nls\ncat(x)\npass\n"),
        ("x = (a\n  % b)\n%time\n", "x = (a\n  % b)\npass\n"),
        ('x = """\n!not this\n%nor this?\n"""\n!this\n', 'x = """\n!not this\n%nor this?\n"""\npass\n'),
        ("x = 'a?'\nassert x != y, 'why?'\n!ls\n", "x = 'a?'\nassert x != y, 'why?'\npass\n"),
        ("f(a=!ls)\n%x\n", "f(a=!ls)\npass\n"),  # no Python, and not IPython's syntax either
        ("x = 1;\nplot(x);\n", "x = 1;\nplot(x);\n"),
        ("x = await f()\nasync with y: pass\n", "x = await f()\nasync with y: pass\n"),
        ("x = f'{a[\"!\"]}' # ?\n!ls\n", "x = f'{a[\"!\"]}' # ?\npass\n"),
        ("x \\\n  % y\n!z\n", "x \\\n  % y\npass\n"),
        (">>> for x in y:\n...     !ls\n...\n>>> z", "    for x in y:\n        pass\n   \n    z"),
        ("/f 1\n;g a b\n,h a\n", "pass\npass\npass\n"),
    ],
)
def test_what_of_a_cell_is_python(written: str, python: str) -> None:
    assert python_of(written) == python


@pytest.mark.parametrize(
    "cell", ["%%bash\nls", "%%html\n<b>", "%%writefile a.py\nimport tf", "\n\n%%R\nx <- 1", "%%javascript\nx = 1"]
)
def test_cells_in_another_language(cell: str) -> None:
    assert python_of(cell) is None


@given(st.text(alphabet="%!?;,/=\n\r\\ \t'\"#()[]atime.fx1", max_size=60))
@example(";\\\r1\n")
def test_lines_stay_where_they_are(cell: str) -> None:
    python = python_of(cell)
    assert python is None or len(split_lines(python)) == len(split_lines(cell))


# -- findings ---------------------------------------------------------------------------------------------------------

IMPORT, STEP = HAZARD.split("\n\n\n")


def test_cells_are_one_program(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        IMPORT,
        "%%time\n" + STEP.replace("x / 2.0", "halve(x)"),
        "def halve(x):\n    assert x > 0\n    return x / 2.0\n",
    )
    assert locations(report) == [("XLA101", 3, 4, 8), ("XLA105", 4, 2, 12)]
    assert report.problems == ()
    _, helper = report.findings
    assert helper.context is not None
    assert [(step.name, step.cell, step.line) for step in helper.context.trail] == [("step", 3, 3), ("halve", 3, 5)]
    assert [(note.cell, note.span.line) for note in helper.notes] == [(3, 3)]


def test_of_definitions_in_several_cells_the_last_one_counts(tmp_path: Path) -> None:
    first, second = (
        "def loss(x):\n    return x\n",
        "def loss(x):\n    if tf.reduce_sum(x) > 0:\n        return -x\n    return x\n",
    )
    step = STEP.replace("x / 2.0", "loss(x)")
    assert locations(checked(tmp_path, IMPORT, first, second, step)) == [("XLA101", 4, 2, 8), ("XLA101", 5, 3, 8)]
    reached = [one.context.kind for one in check([tmp_path], Settings()).findings if one.context]
    assert reached == ["xla", "xla"]


def in_cells(text: str) -> tuple[list[str], dict[int, tuple[int, int]]]:
    """A file as cells, a statement each below a magic or command, and where its lines are then."""
    lines = text.splitlines(keepends=True)
    starts = [
        min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
        for statement in ast.parse(text).body
    ]
    cells: list[str] = []
    where: dict[int, tuple[int, int]] = {}
    for number, (first, behind) in enumerate(pairwise([*starts, len(lines) + 1])):
        above = ("%%time\n", "!pip install \\\n  -q x\n", "%time\nfiles = !ls\n")[number % 3]
        cells.append(above + "".join(lines[first - 1 : behind - 1]))
        where |= {line: (number + 2, line - first + 1 + above.count("\n")) for line in range(first, behind)}
    return cells, where


@pytest.mark.parametrize("path", sorted(CASES.glob("*.py")), ids=lambda path: path.stem)
def test_a_file_cut_into_cells_has_the_same_findings(path: Path, tmp_path: Path) -> None:
    text = path.read_text("utf-8")
    cells, where = in_cells(text)
    (tmp_path / "a.py").write_text(text)
    expected = check([tmp_path / "a.py"], Settings()).findings
    assert expected
    found = check([notebook_at(tmp_path, cells)], Settings()).findings
    assert [(one.code, one.effect, one.cell, one.span.line) for one in found] == [
        (one.code, one.effect, *where[one.span.line]) for one in expected
    ]
    assert [one.message for one in found] == [one.message for one in expected]
    trails = [[(step.cell, step.line) for step in one.context.trail] for one in found if one.context]
    assert trails == [[where[step.line] for step in one.context.trail] for one in expected if one.context]


def test_a_cell_that_is_no_python_does_not_hide_the_others(tmp_path: Path) -> None:
    report = checked(tmp_path, "x = (1,\ny = 2", IMPORT, "for\n", STEP, "\0")
    assert locations(report) == [("XLA900", 2, 1, 5), ("XLA900", 4, 1, 4), ("XLA101", 5, 3, 8), ("XLA900", 6, 1, 1)]


def test_a_cell_may_be_indented_as_a_whole(tmp_path: Path) -> None:
    indented = "".join(f"    {line}" for line in HAZARD.splitlines(keepends=True))
    assert locations(checked(tmp_path, "x = 1", indented, STEP)) == [("XLA101", 3, 6, 12), ("XLA101", 4, 3, 8)]
    assert locations(checked(tmp_path, " \n\n" + HAZARD)) == [("XLA101", 2, 8, 8)]
    assert locations(checked(tmp_path, f"{IMPORT}\n  x", "  y = (")) == [("XLA900", 2, 2, 2), ("XLA900", 3, 1, 7)]


def test_a_notebook_is_no_fragment_of_documentation(tmp_path: Path) -> None:
    hazard = "show(y)\nx = tf.constant([1.0])\nx.numpy()\n"
    (tmp_path / "a.py").write_text(hazard)
    (tmp_path / "b.ipynb").write_bytes(saved(notebook(f"import tensorflow as tf\n{hazard}")))
    assert locations(checked(tmp_path, hazard)) == [("XLA106", None, 3, 1)]


def test_a_snippet_may_import_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text("import tensorflow as tf\n\nif tf.reduce_sum(x) > 10:\n    x = x / 2.0\n")
    assert locations(check([tmp_path], Settings())) == [("XLA101", None, 3, 4)]


@pytest.mark.parametrize(
    "script",
    [
        "import tensorflow as tf\nx = tf.constant(values)\nx.numpy()\n",
        "import keras\nx = keras.ops.ones(shape)\nif x > 1:\n    x.numpy()\n",
        "get_ipython().system('pip install efficientnet')\ny = tf.constant(values)\ny.numpy()\n",
        "x = tf.constant(values)\ndisplay(x.numpy())\n",
        "model = build()\nmodel.fit(x_train)\nprint(tf.reduce_sum(model.weights[0]).numpy())\n",
        "for x in tf.data.Dataset.from_tensor_slices(values).batch(8):\n    print(tf.reduce_sum(x).numpy())\n",
        "plt.plot(tf.reduce_sum(losses).numpy())\n",
        "with tf.compat.v1.Session() as session:\n    print(tf.reduce_sum(x).eval())\n",
        "from tensorflow.keras.layers import Dense\nmodel = Model(base.input, Dense(3)(base.output))\n",
    ],
    ids=[
        *("imports", "imports Keras", "IPython's name", "IPython's display", "trains", "builds a data set"),
        *("plots", "opens a session", "puts a model together"),
    ],
)
def test_a_script_is_host_code_whatever_it_leaves_undefined(script: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(script)
    assert locations(check([tmp_path], Settings())) == []


def test_suppressions_end_with_their_cell(tmp_path: Path) -> None:
    disabled = locations(checked(tmp_path, HAZARD + "\n# xlalint: disable[XLA1]", STEP))
    assert disabled == [("XLA101", 2, 6, 8), ("XLA901", 2, 10, 20), ("XLA101", 3, 3, 8)]
    above = locations(checked(tmp_path, IMPORT + "\n# xlalint: ignore[XLA101]", STEP, "x  # xlalint: nothing"))
    assert above == [("XLA901", 2, 2, 19), ("XLA101", 3, 3, 8), ("XLA902", 4, 1, 4)]
    assert locations(checked(tmp_path, HAZARD, STEP, "# xlalint: file-ignore[XLA101]")) == []
    assert locations(checked(tmp_path, IMPORT, STEP.replace("10.0:", "10.0:  # noqa: XLA101"))) == []


def test_a_notebook_in_another_language_is_not_ours(tmp_path: Path) -> None:
    other = {"kernelspec": {"language": "R"}}
    assert locations(checked(tmp_path, HAZARD, **other)) == []
    assert locations(checked(tmp_path, HAZARD, **other, language_info={"name": "python"})) == [("XLA101", 2, 6, 8)]
    (tmp_path / "a.ipynb").write_bytes(saved({"cells": [code(HAZARD, vscode={"languageId": "csharp"})]}))
    assert locations(check([tmp_path], Settings())) == []


def test_the_settings_that_name_paths_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.ipynb", ".ipynb_checkpoints/a-checkpoint.ipynb", "old/b.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(saved(notebook(HAZARD)))
    (tmp_path / "pyproject.toml").write_text("[tool.xlalint]\nper-file-ignores = {'*.ipynb' = ['XLA101']}\n")
    assert run(["."]) == 0
    assert run(["--isolated", "--exclude", "old", "--exclude", ".ipynb_checkpoints", "a.ipynb"]) == 1
    report = check([tmp_path], Settings())
    assert [(one.path, one.cell) for one in report.findings] == [("a.ipynb", 2), ("old/b.ipynb", 2)]


def test_results_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(saved(notebook(IMPORT, STEP)))
    settings = Settings(cache_dir=tmp_path / "cache")
    assert check([tmp_path], settings) == check([tmp_path], settings)
    assert locations(check([tmp_path], settings)) == [("XLA101", 3, 3, 8)]


def test_a_notebook_uses_the_modules_beside_it(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(f"{IMPORT}\n\ndef halve(x):\n    assert x > 0\n    return x / 2.0\n")
    data = saved(notebook("from ops import halve\nimport tensorflow as tf", STEP.replace("x / 2.0", "halve(x)")))
    (tmp_path / "a.ipynb").write_bytes(data)
    [_, helper] = check([tmp_path], Settings()).findings
    assert (helper.path.endswith("ops.py"), helper.cell, helper.span.line) == (True, None, 4)
    assert helper.context is not None
    assert [(step.cell, step.line) for step in helper.context.trail] == [(3, 2), (3, 4)]
    stdin = check(["x"], Settings(), Stdin(tmp_path / "b.ipynb", data))
    assert [(one.code, one.cell) for one in stdin.findings] == [("XLA101", 3)]


def test_reports_show_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.ipynb").write_bytes(saved(notebook(IMPORT, "!ls\n" + STEP)))
    assert run(["a.ipynb"]) == 1
    full = capsys.readouterr().out
    assert " --> a.ipynb:cell 3:4:8\n  |\n4 |     if tf.reduce_sum(x) > 10.0:\n" in full
    assert "reached: `step` (a.ipynb:cell 3:3)" in full
    run(["--output-format", "concise", "--quiet"])
    assert capsys.readouterr().out.startswith("a.ipynb:cell 3:4:8: XLA101 ")
    run(["--output-format", "json"])
    [found] = json.loads(capsys.readouterr().out)["findings"]
    assert (found["cell"], found["line"], found["context"]["trail"][0]["cell"]) == (3, 4, 3)


# -- files that are no notebooks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b'{"cells": [', "not JSON"),
        (b"\xff\xfe{", "not UTF-8 text"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "the JSON is not an object"),
        (b"{}", "it has no cells"),
        (b'{"worksheets": [{"cells": []}], "nbformat": 3}', "format 3 or older"),
        (b'{"cells": {}}', "`cells` is not a list"),
        (b'{"cells": [1]}', "cell 1 is not an object"),
        (saved({"cells": [MARKDOWN, {"source": "x"}]}), "cell 2 has no `cell_type`"),
        (saved({"cells": [MARKDOWN, {"cell_type": "code"}]}), "the `source` of cell 2 is neither text nor a list"),
        (saved({"cells": [code(["x", 1])]}), "the `source` of cell 1 is neither"),  # type: ignore[list-item]
    ],
)
def test_what_is_no_notebook_is_one_line_and_exit_2(
    data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.ipynb").write_bytes(data)
    (tmp_path / "step.py").write_text(HAZARD)
    assert run(["--no-cache", "--output-format", "concise"]) == 2
    out, err = capsys.readouterr()
    assert "bad.ipynb:1:1: XLA903 not a notebook: " in out
    assert "step.py:6:8: XLA101" in out
    assert err.startswith("xlalint: error: bad.ipynb: not a notebook: ")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "content",
    [
        {**notebook(HAZARD), "metadata": {"x": float("nan")}},  # which Python's JSON writer writes
        {"cells": [MARKDOWN, code(HAZARD)]},
        {"cells": [MARKDOWN, code(HAZARD)], "metadata": []},
        {"cells": [MARKDOWN, {**code(HAZARD), "metadata": 1, "outputs": [{"text": "\ud800"}]}]},
        {"cells": [{"cell_type": "raw", "source": ""}, code(HAZARD.replace("\n", "\r\n"))]},
    ],
)
def test_forms_that_are_notebooks(content: dict[str, Any], tmp_path: Path) -> None:
    for options in ({"ensure_ascii": True}, {"ensure_ascii": True, "indent": None, "separators": (",", ":")}):
        (tmp_path / "a.ipynb").write_bytes(saved(content, **options))
        assert locations(check([tmp_path], Settings())) == [("XLA101", 2, 6, 8)]


@given(st.binary(max_size=80) | st.text(alphabet='{}[]":,cells \\u0', max_size=60).map(str.encode))
def test_any_bytes_are_a_notebook_or_a_reason(data: bytes) -> None:
    reason = ""
    try:
        cells_of(data)
    except UnreadableSource as error:
        reason = str(error)
    assert len(reason.splitlines()) <= 1


# -- edits ------------------------------------------------------------------------------------------------------------


def sources(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data.decode("utf-8-sig"))["cells"]]


def place_of(text: str, index: int) -> tuple[int, int]:
    above = split_lines(text[:index])
    return len(above), len(above[-1]) + 1


# Statements that hold what JSON writes in more ways than one.
STATEMENT = st.sampled_from(["x = 1", "y = 'é\"\\n'", "z = '😀\u2028'  # ß\t", "def f():\n    return 0", ""])
CELL = st.lists(STATEMENT, min_size=1, max_size=4).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines).replace("\r\r", "\r"))
)
FORMS = st.fixed_dictionaries(
    {"indent": st.sampled_from([None, 1, 4, "\t"]), "ensure_ascii": st.booleans()},
)


@given(st.lists(CELL | st.just("!ls\nx"), min_size=1, max_size=3), FORMS, st.booleans(), st.data())
def test_an_edit_changes_its_cell_and_no_other_byte(
    texts: list[str], form: dict[str, Any], listed: bool, data: st.DataObject
) -> None:
    cells = [code(text.splitlines(keepends=True) if listed else text) for text in texts]
    before = saved({"cells": [MARKDOWN, *cells], "é": [1.50, {"cells": "é"}]}, **form)
    number = data.draw(st.integers(0, len(texts) - 1))
    text = texts[number]
    assume(text.strip() and not text.startswith("!"))
    first, last = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    assume("\r\n" not in (text[first - 1 : first + 1], text[last - 1 : last + 1]))
    new = data.draw(st.sampled_from(["", "a", "a\n", "\n", "a\nb", "é'\"\\"]))
    after = edited(before, [Edit(Span(*place_of(text, first), *place_of(text, last)), new, number + 2)])
    assert sources(after) == [
        "".join(MARKDOWN["source"]),
        *texts[:number],
        text[:first] + new + text[last:],
        *texts[number + 1 :],
    ]
    cells[number] = code("@@")
    head, tail = saved({"cells": [MARKDOWN, *cells], "é": [1.50, {"cells": "é"}]}, **form).split(b'"@@"')
    assert after.startswith(head)
    assert after.endswith(tail)
    if listed:  # lines stay lines
        [made] = [cell["source"] for at, cell in enumerate(json.loads(after)["cells"]) if at == number + 1]
        assert all(len(line.splitlines()) <= 1 for line in made)


def test_the_file_is_what_jupyter_would_write() -> None:
    before = saved(notebook("import a\nx = 1\ny = 2", "z"))
    edits = [
        Edit(Span(1, 1, 1, 1), "import b\n", 2),
        Edit(Span(2, 5, 2, 6), "(\n    3)", 2),
        Edit(Span(3, 1, 4, 1), "w = 2\nv = 3\n", 2),
        Edit(Span(2, 1, 2, 1), "u = 4\n", 3),
    ]
    assert edited(before, edits) == saved(notebook("import b\nimport a\nx = (\n    3)\nw = 2\nv = 3", "z\nu = 4"))
    assert edited(before, [Edit(Span(2, 1, 3, 6), "", 2)]) == saved(notebook("import a\n", "z"))
    assert edited(b"\xef\xbb\xbf" + before, [Edit(Span(1, 1, 1, 2), "q", 3)]) == b"\xef\xbb\xbf" + saved(
        notebook("import a\nx = 1\ny = 2", "q")
    )
    assert edited(before, []) == before


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([Edit(Span(1, 1, 1, 2), "", 1)], "cell 1 is not a cell of Python"),
        ([Edit(Span(1, 1, 1, 2), "", None)], "not a cell of Python"),
        ([Edit(Span(1, 1, 1, 2), "", 3)], "line 1 of cell 3 holds more than Python"),
        ([Edit(Span(2, 1, 4, 1), "", 3)], "line 2 of cell 3 holds more than Python"),
        ([Edit(Span(1, 1, 2, 2), "", 2), Edit(Span(2, 1, 2, 3), "", 2)], "two edits of cell 2 overlap in line 2"),
    ],
)
def test_edits_that_a_notebook_cannot_take(edits: Sequence[Edit], message: str) -> None:
    with pytest.raises(UneditableCellError, match=message):
        edited(saved(notebook("x = 1\ny = 2", "!ls\nx = 1\n!ls\ny")), edits)
