"""What errors say, without the lines of the user's code that AutoGraph and Keras write before it."""

from __future__ import annotations

import pytest

from xlalint.probe.worker.code.messages import message_of
from xlalint.probe.worker.inputs.error_clues import ErrorClues

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
