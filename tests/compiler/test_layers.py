"""Which layers say that XLA cannot compile them is what Keras says."""

from __future__ import annotations

import re

import pytest

from tests.compiler import measure
from xlalint.facts import tables

NOT_READY = set(tables.refused_names())
CONSTRUCTED = re.compile(r"(keras\.layers\.\w+\(.*\))\(.*?\)$")


@pytest.mark.compiler
def test_supports_jit_is_false_of_these_layers_only() -> None:
    built = {
        fact.name: match[1]
        for fact in tables.apis()
        if fact.name.startswith("keras.layers.") and fact.plain and (match := CONSTRUCTED.match(fact.plain.call))
        if not re.search(r"\w\[", match[1])  # made of tensors
    }
    built["keras.layers.TextVectorization"] = "keras.layers.TextVectorization(4)"
    assert len(built) > 60
    assert set(built) >= NOT_READY
    lines = "".join(
        f"if hasattr(keras.layers, {name.rpartition('.')[2]!r}) and not {text}.supports_jit:\n"
        f"    refused.add({name!r})\n"
        for name, text in built.items()
    )
    code = f"""
refused = set()
{lines}

def f(x):
    assert refused == {NOT_READY!r}, refused
    return x
"""
    measured = measure(code)
    assert measured.failure is None
