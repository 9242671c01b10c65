"""What rounds of a loop hand on: the names that its body reads first, and that no round is run that changes nothing."""

from __future__ import annotations

import textwrap

import pytest

from xlalint.api import lint_source
from xlalint.semantics.carried import read_first
from xlalint.tree import nodes as cst
from xlalint.tree.build import parse_module

READ_FIRST = [
    ("for x in xs:\n    y = x + a", {"a"}),
    ("for x in xs:\n    y = x\n    z = y", set()),
    ("for x in xs:\n    total += x", {"total"}),
    ("for x in xs:\n    out.append(x)", {"out"}),
    ("for x in xs:\n    d[k] = x", {"d", "k"}),
    ("for x in xs:\n    s.x = x.n", {"s"}),
    ("for x, (y, z) in xs:\n    w = (x, y, z)", set()),
    ("for x in xs:\n    a, b[i] = x\n    c = a", {"b", "i"}),
    ("for x in xs:\n    if c:\n        y = x\n    z = y", {"c", "y"}),
    (
        "for x in xs:\n    if c:\n        y = 1\n    elif d:\n        y = 2\n    else:\n        y = 3\n    z = y",
        {"c", "d"},
    ),
    ("for x in xs:\n    for y in x:\n        v = y\n    z = (y, v)", {"y", "v"}),
    ("for x in xs:\n    while t:\n        t = n\n    else:\n        n = 1", {"t", "n"}),
    ("while n > 0:\n    n = m", {"n", "m"}),
    ("while True:\n    m = 1\n    n = m", {"True"}),
    ("for x in xs:\n    with f(x) as y:\n        z = y\n    w = z", {"f"}),
    ("for x in xs:\n    try:\n        y = x\n    except E as e:\n        z = e\n    w = y", {"E", "y"}),
    ("for x in xs:\n    y: int = x\n    w = y", {"int"}),
    ("for x in xs:\n    y: int\n    w = y", {"int", "y"}),
    ("for x in xs:\n    y = 1\n    def f():\n        return y", {"f", "y"}),
    ("for x in xs:\n    y = 1\n    z = [v for v in x if v > y]", {"v"}),
    ("for x in xs:\n    y = 1\n    f = lambda: y + w", {"w"}),
    ("for x in xs:\n    y = 1\n    match x:\n        case [y]:\n            z = y", {"x", "y", "z"}),
    ("for x in xs:\n    g = f(key=x)", {"f"}),
    ("for x in xs:\n    y = 1\n    del y", set()),
    ("for x in xs:\n    global y\n    y = x", {"y"}),
]


@pytest.mark.parametrize(("text", "names"), READ_FIRST, ids=[text for text, _ in READ_FIRST])
def test_names_read_before_they_are_bound(text: str, names: set[str]) -> None:
    (loop,) = parse_module(textwrap.dedent(text)).body
    assert isinstance(loop, cst.For | cst.While)
    assert read_first(loop) == names


def test_a_round_sees_what_the_one_before_did_to_an_object() -> None:
    """No name is handed on, an attribute is."""
    text = textwrap.dedent(
        """
        import tensorflow as tf

        class Box:
            def __init__(self, value):
                self.kept = value

        @tf.function(jit_compile=True)
        def f(x):
            box = Box(x)
            for _ in range(3):
                y = tf.cumsum(box.kept)
                box.kept = tf.boolean_mask(x, x > 0)
            return y
        """
    )
    (finding,) = lint_source(text).findings
    assert "`tf.cumsum(box.kept)` has a wrong size" in finding.message
