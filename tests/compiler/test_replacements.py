"""Every replacement is proven: what it replaces does not compile, it does, and the results are equal or said not to."""

from __future__ import annotations

import pytest

from tests.compiler import measure
from xlalint.facts import tables
from xlalint.facts.replacements import Replacement, instead_of, instead_of_op, replacements
from xlalint.semantics.api import canonical, known

ENTRIES = [pytest.param(name, entry, id=name) for name, entry in replacements().items()]


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
@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_the_call_fails_and_its_replacement_compiles(name: str, entry: Replacement) -> None:
    names = ", ".join("xyz"[: len(entry.inputs)])
    before = measure(f"def f({names}):\n    return {entry.before}\n", entry.inputs)
    assert before.error is not None, before
    assert all(f"'{op}'" in before.error for op in entry.ops), before
    after = measure(f"def f({names}):\n    return {entry.after}\n", entry.inputs)
    assert after.error is None, after
    assert after.compilations == 1
    both = f"def f({names}):\n    if tf.executing_eagerly():\n        return {entry.before}\n    return {entry.after}\n"
    assert measure(both, entry.inputs).equal is entry.equal
