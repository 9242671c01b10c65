"""Paths that somebody gives a program for a TPU node: how grave it is that they are local, and that by default."""

from __future__ import annotations

from typing import Final

import pytest

from tests.programs.given_paths import MODEL
from xlalint import lint_source
from xlalint.linter.rule import Severity
from xlalint.settings.config import Settings

GIVEN: Final = f"""{MODEL}
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="rows")
parser.add_argument("--more", default="more/rows")
parser.add_argument("--name", default="last")
args = parser.parse_args()
"""


READ: Final = "[{}, {}]).map(lambda path: tf.io.decode_png(tf.io.read_file(path)))"


@pytest.mark.parametrize(
    ("call", "by_default"),
    [
        ("tf.data.TFRecordDataset(args.data)", True),
        ("tf.data.TFRecordDataset(f'{args.data}')", True),
        ("tf.data.TFRecordDataset([args.data, args.more])", True),
        ("tf.data.TFRecordDataset([args.data, 'a/rows'])", False),
        ("tf.data.TFRecordDataset('a/' + args.data)", False),
        ("tf.data.Dataset.from_tensor_slices(" + READ.format("args.more", "args.more"), True),
        ("tf.data.Dataset.from_tensor_slices(" + READ.format("args.more", "'a/rows'"), False),
        ("model.save_weights('kept/' + args.name)", None),  # nobody knows how it ends
        ("model.save_weights(args.name)", True),
        ("model.save_weights('kept/last')", False),
    ],
)
def test_a_local_path_on_a_node(call: str, by_default: bool | None) -> None:
    """As information where a default alone says so of a TPU that the program is told as well."""
    for tpu, severity in (('"my-tpu"', Severity.WARNING), ("open('name').read()", Severity.INFO)):
        program = GIVEN.replace('"my-tpu"', tpu) + call
        found = lint_source(program, settings=Settings()).findings
        expected = [] if by_default is None else [severity if by_default else Severity.WARNING]
        assert [finding.severity for finding in found] == expected
        assert ["by default" in finding.message for finding in found] == ([] if by_default is None else [by_default])
