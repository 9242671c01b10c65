"""What is said of errors that JAX raises for what is passed to it, and not for what asks a tracer for its value."""

from __future__ import annotations

import pytest

from xlalint.facts.errors import PATTERNS


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Non-hashable static arguments are not supported. An error occurred while trying to hash an object", None),
        ("'DynamicJaxprTracer' object has no attribute 'numpy'", "XLA106"),
        ("JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, use", None),
        ("Cannot interpret value of type <class 'keras.src.models.functional.Functional'> as an abstract array", None),
        ("cond branches must have equal output types but they differ.", "XLA108"),
        ("Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic", "XLA113"),
        ("unhashable type: 'DynamicJaxprTracer'", None),
        ("Tensor is unhashable. Instead, use tensor.ref() as the key.", None),
    ],
)
def test_it_is_known(text: str, code: str | None) -> None:
    [found] = [one for one in PATTERNS if one.wording.search(text)][:1]
    assert [one.code for one in found.candidates][:1] == ([] if code is None else [code])
