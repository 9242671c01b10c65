"""Every replacement is proven: what it replaces does not compile, it does, and the results are equal or said not to."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.compiler import measure
from tests.compiler.claims import claim
from xlalint.analysis.library.api import canonical, known
from xlalint.facts import tables
from xlalint.facts.replacements import Replacement, instead_of, instead_of_op, replacements
from xlalint.findings.findings import Safety
from xlalint.fixes.apply import apply_fixes
from xlalint.linter.run import check
from xlalint.settings.config import Settings

ENTRIES = [pytest.param(name, entry, id=name) for name, entry in replacements().items()]
ASKED = [
    pytest.param(entry, id=name, marks=claim(entry.before, entry.after, entry.inputs, entry.ops, entry.equal))
    for name, entry in replacements().items()
]


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_the_names_are_known(name: str, entry: Replacement) -> None:
    assert known(name)
    assert canonical(name) == name
    assert entry.equal or entry.note
    for op in entry.ops:
        assert tables.op(op) is not None


def test_the_text_holds_the_restriction() -> None:
    assert instead_of("tf.eigvals") == "tf.linalg.eigvalsh(a)  # for symmetric matrices; ascending, and real"
    assert instead_of("tf.linalg.svd") is None
    assert (instead_of_op("Lu") or "").startswith("tf.linalg.solve(a, b)")
    assert instead_of_op("MatMul") is None


@pytest.mark.compiler
@pytest.mark.parametrize("entry", ASKED)
def test_the_call_fails_and_its_replacement_compiles(entry: Replacement) -> None:
    names = ", ".join("xyz"[: len(entry.inputs)])
    before = measure(f"def f({names}):\n    return {entry.before}\n", entry.inputs)
    assert before.error is not None, before
    assert all(f"'{op}'" in before.error for op in entry.ops), before
    after = measure(f"def f({names}):\n    return {entry.after}\n", entry.inputs)
    assert after.error is None, after
    assert after.compilations == 1
    both = f"def f({names}):\n    if tf.executing_eagerly():\n        return {entry.before}\n    return {entry.after}\n"
    assert measure(both, entry.inputs).equal is entry.equal


APPLIED = [pytest.param(name, entry, id=name) for name, entry in replacements().items() if entry.forms]


@pytest.mark.parametrize(("name", "entry"), APPLIED)
def test_a_form_filled_for_the_call_is_the_replacement(name: str, entry: Replacement, tmp_path: Path) -> None:
    """What `--unsafe-fixes` writes is what the compiler was asked about; shapes are said where a rule needs to know."""
    shapes = [f"    {one} = tf.reshape({one}, {said[3:]})" for one, said in zip("xyz", entry.inputs, strict=False)]
    names = ", ".join(f"{one}: tf.Tensor" for one in "xyz"[: len(entry.inputs)])
    shapes = [line.replace("tf.reshape(", "tf.reshape(tf.cast(").replace(", [", ", tf.float32), [") for line in shapes]
    head = "\n".join(
        ["import keras", "import tensorflow as tf", "@tf.function(jit_compile=True)", f"def f({names}):", *shapes]
    )
    path = tmp_path / "program.py"
    path.write_text(f"{head}\n    return {entry.before}\n", encoding="utf-8")
    fixes = [finding.fix for finding in check([path], Settings()).findings if finding.fix is not None]
    assert len(fixes) == 1, name
    if fixes[0].safety is Safety.DISPLAY:
        assert entry.forms[-1].shown
        return
    data, _, broken = apply_fixes(path.read_bytes(), fixes, path)
    assert broken == []
    assert ast.dump(ast.parse(data)) == ast.dump(ast.parse(f"{head}\n    return {entry.after}\n"))
