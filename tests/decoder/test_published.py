"""What the decoder answers to errors that people published."""

from __future__ import annotations

import pytest

from tests.decoder.published import Published, Verdict, judged, part, published
from xlalint.decoder.answers import explain_log
from xlalint.decoder.log import parse
from xlalint.findings.codes import rule_names

TEXTS = published()


@pytest.mark.parametrize("text", TEXTS, ids=[f"{number}-{text.thread[19:]}" for number, text in enumerate(TEXTS, 1)])
def test_a_published_error_is_answered_as_its_thread_tells(text: Published) -> None:
    found = explain_log(text.text)
    assert judged(text, found) is Verdict.RIGHT, found


def test_the_table_says_what_is_right_and_why() -> None:
    assert len(TEXTS) >= 150
    assert len({text.text for text in TEXTS}) == len(TEXTS)
    for text in TEXTS:
        assert text.thread.startswith("https://")
        assert set(text.rules) <= set(rule_names())
        assert text.rules or text.because, text.thread
    assert len(part(TEXTS, aside=True)) == len(TEXTS) // 3


def test_a_line_of_a_library_is_never_the_users() -> None:
    for text in TEXTS:
        theirs = {(frame.path, frame.line) for frame in parse(text.text).frames if not frame.own}
        shown = {(place.path, place.line) for answer in explain_log(text.text).answers if (place := answer.place)}
        assert not shown & theirs, text.thread


def test_a_verdict_is_what_the_answer_is_worth() -> None:
    mask = Published("https://", "2.21", ("XLA201",), "")
    assert judged(mask, explain_log("f32[<=3] vs f32[2]")) is Verdict.RIGHT
    assert judged(mask, explain_log("Input 1 to `Range` Op must be a compile-time constant.")) is Verdict.WRONG
    assert judged(mask, explain_log("KeyError: 1")) is Verdict.SILENT
    none = Published("https://", "2.21", (), "", because="the installation")
    assert judged(none, explain_log("libdevice not found")) is Verdict.RIGHT
    assert judged(none, explain_log("KeyError: 1")) is Verdict.SILENT
    hidden = Published("https://", "2.21", ("XLA106",), "")
    shape = "Cannot convert a symbolic Tensor (a/strided_slice:0) to a numpy array"
    assert judged(hidden, explain_log(shape)) is Verdict.PARTLY
    assert (
        judged(Published("https://", "2.21", ("XLA201",), "", place="a.py:1"), explain_log("f32[<=3]")) is Verdict.WRONG
    )
