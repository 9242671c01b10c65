"""What a `reshape` says of the number of its elements leads to shapes."""

from __future__ import annotations

import pytest

from xlalint.probe.worker.inputs.element_counts import reshaped

TEXT = "Input to reshape is a tensor with {} values, but the requested shape has {}"


@pytest.mark.parametrize(
    ("shape", "there", "asked", "found"),
    [
        ((4, 4), 16, 60, [(4, 15), (15, 4), (60,)]),
        ((4, 4), 16, 29, [(29,)]),  # no axis alone
        ((4, 4), 16, 4, [(1, 4), (4, 1)]),
        ((4, 4), 32, 8, [(1, 4), (4, 1)]),  # of something twice as large
        ((4, 4), 32, 64, [(4, 8), (8, 4)]),
        ((), 1, 6, [(6,)]),
        ((4, 4), 16, 1 << 20, []),
        ((0, 4), 0, 6, []),
    ],
)
def test_shapes_with_as_many_elements(
    shape: tuple[int, ...], there: int, asked: int, found: list[tuple[int, ...]]
) -> None:
    assert list(reshaped(shape, TEXT.format(there, asked))) == found


@pytest.mark.parametrize(
    ("shape", "multiple", "found"),
    [
        ((4, 4), 15, [(4, 15), (15, 4)]),
        ((4, 4, 4), 4080, [(4, 4, 255), (4, 255, 4), (255, 4, 4)]),
        ((4, 6), 6, []),  # it has so many
        ((4, 4), 1 << 20, []),
    ],
)
def test_shapes_with_a_multiple_of_elements(
    shape: tuple[int, ...], multiple: int, found: list[tuple[int, ...]]
) -> None:
    said = f"Input to reshape is a tensor with 7 values, but the requested shape requires a multiple of {multiple}"
    assert list(reshaped(shape, said)) == found


def test_other_errors_say_nothing_of_it() -> None:
    assert not list(reshaped((4, 4), "cannot reshape array of size 16 into shape (3, 5)"))
