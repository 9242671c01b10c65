"""What was measured to go wrong, some rule hears of: the table of calls and the rules do not drift apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from xlalint.facts import tables
from xlalint.facts.kernels import missing_of
from xlalint.facts.tables import ApiFact, Outcome
from xlalint.rule import ApiCall, all_rules

# Calls that were measured to be compiled again for each value, or to make a bounded dynamic shape, and that no rule
# hears of, with the reason.
UNHEARD = {
    "keras.backend.ctc_label_dense_to_sparse": "labels of a CTC loss, which an input pipeline makes",
    "keras.layers.CategoryEncoding": "the shape is fixed; that it counts with `bincount` is inside the layer",
    "keras.layers.Equalization": "as CategoryEncoding",
    "keras.ops.histogram": "the bounded shape stays inside: the result has as many elements as bins",
    "tf.broadcast_dynamic_shape": "the shapes that it is given are data already, and reported where they are used",
    "tf.math.is_non_decreasing": "the bounded shape stays inside: the result is one truth value",
    "tf.math.is_strictly_increasing": "as is_non_decreasing",
    "tf.nn.collapse_repeated": "as ctc_label_dense_to_sparse",
    "tf.nn.ctc_unique_labels": "as ctc_label_dense_to_sparse",
}


def heard() -> frozenset[str]:
    """The calls that some rule listens to."""
    names = {name for rule in all_rules() if ApiCall in rule.listens for name in rule.apis}
    return frozenset(name.removesuffix(".__call__") for name in names)


def measured(*outcomes: Outcome) -> Iterator[ApiFact]:
    for fact in tables.apis():
        if fact.plain is not None and fact.plain.outcome in outcomes:
            yield fact


def test_calls_without_a_kernel_are_heard() -> None:
    lacking = {fact.name for fact in measured(Outcome.FAILS) if fact.plain is not None and missing_of(fact.plain)}
    assert len(lacking) > 100
    assert sorted(lacking - heard()) == []


@pytest.mark.parametrize("outcome", [Outcome.RECOMPILES, Outcome.BOUNDED])
def test_dynamic_shapes_and_sizes_are_heard(outcome: Outcome) -> None:
    silent = {fact.name for fact in measured(outcome)} - heard()
    assert sorted(silent - UNHEARD.keys()) == []


def test_exceptions_are_still_needed() -> None:
    names = {fact.name for fact in measured(Outcome.RECOMPILES, Outcome.BOUNDED)} - heard()
    assert sorted(UNHEARD.keys() - names) == []
