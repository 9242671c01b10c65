"""A fragment as a function: of which names, and that lines only move down by one."""

from __future__ import annotations

import ast

import pytest

from xlalint.probe.fragments import NAME, free_names, wrapped

LOSS = '''\
"""A loss,
as pasted."""
mask = labels > threshold
def picked(values):
    return tf.boolean_mask(values, mask)
loss = tf.reduce_sum(
    picked(outputs))
'''


def test_free_names_are_those_that_nothing_binds() -> None:
    assert free_names(LOSS) == ("labels", "threshold", "outputs")
    assert free_names("import os\nfor i in range(3):\n    print(i, os.sep, [j for j in x], __name__)\n") == ("x",)
    assert free_names("x = 1\ny = x\n") == ()


def test_every_line_stands_one_further_down() -> None:
    lines = wrapped(LOSS).splitlines()
    assert [line.strip() for line in lines[1:8]] == [line.strip() for line in LOSS.splitlines()]
    assert "as pasted" in ast.literal_eval(ast.parse(wrapped(LOSS)).body[0].body[0].value)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "returned"), [("y = x\n", "return y"), ("y = x\ny + 1", "return y + 1"), (LOSS, "return mask, loss")]
)
def test_it_returns_what_it_binds_or_its_last_line(text: str, returned: str) -> None:
    [made] = ast.parse(wrapped(text)).body
    assert isinstance(made, ast.FunctionDef)
    assert made.name == NAME
    assert ast.unparse(made.body[-1]).replace("(", "").replace(")", "") == returned


def test_code_that_does_not_parse_is_refused() -> None:
    with pytest.raises(SyntaxError):
        wrapped("if x:\n")
