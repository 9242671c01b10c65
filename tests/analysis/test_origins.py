"""Which of several origins says where the content of a result comes from."""

from __future__ import annotations

from typing import Any, Final, cast

import pytest

from xlalint.analysis.domain.choosing import chosen_by
from xlalint.analysis.domain.joins import join
from xlalint.analysis.domain.origins import PARAMETER, PERHAPS, strongest, taken
from xlalint.analysis.domain.values import Dependence, Origin, Structure, Tensor, Unknown


def _tensor(origin: Origin | None, dependence: Dependence = Dependence.VALUE) -> Tensor:
    return Tensor(dependence, "float", 0, origin)


BATCH: Final = _tensor(Origin(cast(Any, None), "Keras calls `call` with tensors"))
VARIABLE: Final = _tensor(Origin(cast(Any, None), "`tf.Variable` creates a variable", shared="tf.Variable"))
NOBODY: Final = _tensor(None)
SHAPE: Final = _tensor(Origin(cast(Any, None), "`tf.shape` returns a shape"), Dependence.SHAPE)


@pytest.mark.parametrize(
    ("tensors", "decisive"),
    [
        ((VARIABLE, BATCH), BATCH),
        ((BATCH, VARIABLE), BATCH),
        ((NOBODY, VARIABLE), VARIABLE),
        ((SHAPE, VARIABLE), VARIABLE),
        ((SHAPE, NOBODY), NOBODY),
    ],
)
def test_data_of_a_replica_say_more_than_what_all_have(tensors: tuple[Tensor, ...], decisive: Tensor) -> None:
    assert strongest(tensors) is decisive


def test_the_first_of_two_alike_decides() -> None:
    assert strongest((BATCH, other := _tensor(BATCH.origin))) is BATCH
    assert strongest((other, BATCH)) is other


def test_what_is_a_variable_on_one_way_only_may_be_data() -> None:
    joined = join(VARIABLE, BATCH)
    assert isinstance(joined, Tensor)
    assert joined.origin == BATCH.origin


def test_a_variable_that_data_choose_depends_on_them() -> None:
    chosen = chosen_by(BATCH, VARIABLE)
    assert isinstance(chosen, Tensor)
    assert chosen.origin == BATCH.origin


def test_a_parameter_is_told_from_what_nobody_knows() -> None:
    assert taken(Unknown(frozenset("x"))) == PARAMETER
    assert taken(Unknown()) == PERHAPS


def test_a_structure_is_what_it_was_before_it_is_taken_for_a_tensor() -> None:
    assert taken(Structure(origin=VARIABLE.origin)) == "tf.Variable"
    assert taken(Structure(origin=BATCH.origin)) == taken(Structure()) == ""
