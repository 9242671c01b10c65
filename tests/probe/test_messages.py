"""What errors say, without the lines of the user's code that AutoGraph and Keras write before it."""

from __future__ import annotations

import pytest

from xlalint.probe.worker.code.messages import message_of
from xlalint.probe.worker.inputs.error_clues import ErrorClues
from xlalint.sources.specs import Literal, spec

FRAMES = """in user code:

    File "/project/train.py", line 71, in training  *
        z = tf.random.normal(self.images[N].shape)
    File "/project/layers.py", line 88, in call

"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("list index out of range", "list index out of range"),
        (f"{FRAMES}    IndexError: list index out of range\n", "IndexError: list index out of range\n"),
        (f"{FRAMES}    ValueError: expected 3\n\n    more\n", "ValueError: expected 3\n\n    more\n"),
        (
            f"Exception encountered when calling L.call().\n\n{FRAMES}    IndexError: of 5\n\nArguments received by L:",
            "IndexError: of 5",
        ),
        ("a File in user code:\n", "a File in user code:\n"),
    ],
)
def test_what_is_written_around_errors(text: str, said: str) -> None:
    assert message_of(ValueError(text)) == said


def test_line_numbers_are_no_sizes() -> None:
    assert ErrorClues.of(ValueError(f"{FRAMES}    ValueError: expected 3\n")).numbers == (3,)


@pytest.mark.parametrize(
    ("text", "shape", "sizes"),
    [
        ("expected min_ndim=4, found ndim=3. Full shape received: (3, 3, 4)", (3, 3, 4), (4, 4, 4, 4)),
        ("expected ndim=2, found ndim=3", (3, 3), None),
        ("expected shape=(None, None, 3), found shape=(4, 3, 4)", (4, 5, 4), (4, 5, 3)),
        ("expected shape=(None, 3), found shape=(4, 3, 4)", (4, 5, 4), None),
        ("input image must be 4-D[4,3]", (4, 3), (4, 4, 4, 4)),
        ("input image must be 4-D[4,3]", (4, 4), None),
        ("slice index 11 of dimension 1 out of bounds", (4, 4, 2), (4, 12, 2)),
        ("slice index 11 of dimension 1 out of bounds", (4, 12), None),
        ("incompatible", (4,), None),
    ],
)
def test_what_layers_want(text: str, shape: tuple[int, ...], sizes: tuple[int, ...] | None) -> None:
    clues = ErrorClues.of(ValueError(f"Input 0 of layer is incompatible with the layer: {text}"))
    assert clues.sizes_for(shape) == sizes
    assert clues.is_certain_of(spec("float32", *shape)) is (sizes is not None)


def test_positions_in_lists() -> None:
    clues = ErrorClues.of(IndexError("list index out of range"))
    assert [clues.is_certain_of(Literal(value)) for value in (2, True, "same")] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("Incompatible shapes: [16,4,4,4] vs. [4,49,49]", ((4, 49),)),
        ("Incompatible shapes: [2,1,3] vs. [2,5,4]", ((3, 4),)),
        ("Incompatible shapes: [0,3] vs. [4,5]", ((3, 5),)),
        ("Matrix size-incompatible: In[0]: [3,4], In[1]: [5,6]", ((4, 5),)),
        ("Shapes of all inputs must match: values[0].shape = [4,3] != values[1].shape = [5,3]", ((4, 5),)),
        ("Dimensions must be equal, but are 4 and 8 for '{{node add}} = AddV2[T=DT_FLOAT](x, y)'", ((4, 8),)),
        ("operands could not be broadcast together with shapes (2,3) (4,3)", ((2, 4),)),
        ("cannot reshape an array of shape [4,3] to [5,2]", ()),
    ],
)
def test_sizes_that_are_to_be_equal(text: str, apart: tuple[tuple[int, int], ...]) -> None:
    assert ErrorClues.of(ValueError(text)).sizes_apart == apart
