"""Notebooks are run as the programs that they are, and told of in their cells."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands import ran
from xlalint.findings.findings import Effect, Finding, Probed, Report, Severity, Span, Verdict
from xlalint.probe.notebooks import programs

CELLS = (
    "# a title",
    "import tensorflow as tf\nsize = 4",
    "@tf.function(jit_compile=True)\ndef halves(x, keep):\n    return tf.linalg.lu(tf.boolean_mask(x, keep))\n",
    "@tf.function(jit_compile=True)\ndef top(x, n):\n    return tf.reduce_sum(x[:n])\n",
    "data = open('no_such.csv').read()",
)


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cells: list[dict[str, object]] = [
        {"cell_type": "code" if at else "markdown", "metadata": {}, "source": text} for at, text in enumerate(CELLS)
    ]
    document = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(document))
    return path


def verdict(text: str, line: int) -> Verdict:
    return Verdict("confirmed", "fails", text, "halves", line=line)


def test_places_in_cells_are_places_in_a_program_and_back(notebook: Path) -> None:
    span = Span(3, 12, 3, 20)
    finding = Finding("n.ipynb", span, "XLA401", "no-kernel", Severity.ERROR, Effect.FAILS, "no kernel", cell=3)
    plain = Finding("a.py", span, "XLA401", "no-kernel", Severity.ERROR, Effect.FAILS, "no kernel")
    with programs() as notebooks:
        flat = notebooks.flat(Report((finding, plain)))
        [path] = notebooks.paths
        there = flat.findings[0]
        assert (there.path, there.cell, there.span.line) == (str(path), None, 5)
        assert path.read_text().splitlines()[4].strip() == "return tf.linalg.lu(tf.boolean_mask(x, keep))"
        assert flat.findings[1] == plain
        text = f"it fails at {path}:8"
        function = Probed(str(path), 6, verdict(text, 8), (text,))
        back = notebooks.back(Report((replace(there, verdict=verdict(text, 5)),), functions=(function,)))
    assert not path.exists()
    [found], [told] = back.findings, back.functions
    assert (found.path, found.cell, found.span) == ("n.ipynb", 3, span)
    assert found.verdict is not None
    assert (found.verdict.line, found.verdict.text) == (3, "it fails at n.ipynb:cell 4:3")
    assert (told.path, told.line, told.details) == ("n.ipynb", 1, ("it fails at n.ipynb:cell 4:3",))


@pytest.mark.slow
@pytest.mark.compiler
def test_a_notebook_is_run_up_to_the_cell_that_fails(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "--probe", notebook.name, "--output-format", "json")
    assert code == 1
    report = json.loads(out)
    seen = {(one["cell"], one["line"], one["code"]): one["verdict"]["status"] for one in report["findings"]}
    assert seen[3, 3, "XLA401"] == "confirmed"
    assert seen[4, 3, "XLA205"] == "confirmed"
    assert {(one["path"], one["line"]) for one in report["functions"]} == {("n.ipynb", 1)}
    assert "no_such.csv" in out
