"""What was measured to go wrong, some rule hears of: the table of calls and the rules do not drift apart."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from importlib import import_module

import pytest

from xlalint.facts import tables
from xlalint.facts.kernels import missing_of
from xlalint.facts.tables import ApiFact, Outcome
from xlalint.linter.rule import ApiCall, all_rules
from xlalint.measuring.expressions import namespace, parse, resolve

KERNELS = import_module("xlalint.rules._kernels")
FOLLOWED = import_module("xlalint.rules._followed")
VARIABLE_INSIDE = import_module("xlalint.rules.xla409_variable_inside")
# Calls that were measured to be compiled again for each value, or to make a bounded dynamic shape, and that no rule
# hears of, with the reason.
UNHEARD = {
    "keras.backend.ctc_label_dense_to_sparse": "labels of a CTC loss, which an input pipeline makes",
    "tf.math.is_non_decreasing": "the bounded shape stays inside: the result is one truth value",
    "tf.math.is_strictly_increasing": "as is_non_decreasing",
    "tf.nn.ctc_unique_labels": "as ctc_label_dense_to_sparse",
}


def heard() -> frozenset[str]:
    """The calls that some rule listens to."""
    return frozenset(name for rule in all_rules() if ApiCall in rule.handles for name in rule.apis)


def silent(facts: Iterable[ApiFact]) -> set[str]:
    """Those of the calls that no rule hears of."""
    known = heard()
    return {fact.name for fact in facts if KERNELS.event_name(fact) not in known and fact.name not in KERNELS.NOT_READY}


def measured(*outcomes: Outcome) -> Iterator[ApiFact]:
    for fact in tables.apis():
        if fact.plain is not None and fact.plain.outcome in outcomes:
            yield fact


def test_calls_without_a_kernel_are_heard() -> None:
    lacking = [fact for fact in measured(Outcome.FAILS) if fact.plain is not None and missing_of(fact.plain)]
    assert len(lacking) > 100
    assert sorted(silent(lacking)) == []


def test_dynamic_shapes_and_sizes_are_heard() -> None:
    assert sorted(silent(measured(Outcome.RECOMPILES, Outcome.BOUNDED))) == sorted(UNHEARD)


def test_every_argument_that_is_compiled_again_is_heard() -> None:
    pairs, unheard = 0, set()
    for fact in tables.apis():
        names = (fact.name, KERNELS.event_name(fact))
        followed = [one for name in names for one in FOLLOWED.followed().get(name, ())]
        known = {parameter for one in followed for parameter in one.parameter.split()}
        for case in fact.cases:
            assert (case.outcome is Outcome.RECOMPILES) == bool(case.follows), case.call
            pairs += len(case.follows)
            if fact.name not in FOLLOWED.SELECTIONS:  # whose data is heard by the rules about them
                other = FOLLOWED.COMPILED_AGAIN.get(fact.name)
                unheard |= {(fact.name, one) for one in case.follows if one not in known and one != other}
    assert pairs > 250
    assert unheard == {("keras.layers.Discretization", "inputs")}  # with two of its modes only


@pytest.mark.compiler
def test_classes_of_keras_that_make_variables_are_known() -> None:
    """Each one is made and called as it was measured."""
    names = namespace()
    known, making = VARIABLE_INSIDE.OF_KERAS, set()
    for fact in tables.apis():
        made_here = fact.name.startswith(("keras.layers.", "keras.metrics.", "keras.optimizers."))
        if made_here and fact.plain is not None and inspect.isclass(cls := resolve(fact.name, names)):
            expression = parse(fact.plain.call, names)
            expression.function(*(names["tf"].constant(one.arrays[0], one.dtype) for one in expression.samples))
            # What is made inside of another has its variables there.
            made = [one for one in expression.made if isinstance(one, cls)] or expression.made
            if any(getattr(one, "variables", ()) for one in made):
                making.add(fact.name)
    assert len(making) > 100
    assert sorted(known ^ making) == []


@pytest.mark.compiler
def test_functions_of_keras_that_make_models_are_known() -> None:
    """All of them build a model, whose layers make variables while a function is traced."""
    keras, tensorflow = namespace()["keras"], namespace()["tf"]
    found = vars(keras.applications)
    assert {f"keras.applications.{name}" for name in found if name[0].isupper()} == VARIABLE_INSIDE.MODELS
    traced = tensorflow.function(lambda x: found["MobileNetV2"](weights=None, input_shape=(32, 32, 3))(x))
    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables"):
        traced(tensorflow.zeros([1, 32, 32, 3]))
