"""`xlalint facts`: what is known of calls and operations, in any spelling; and the words about missing kernels."""

from __future__ import annotations

import json

import pytest

from xlalint.cli import run
from xlalint.facts import tables
from xlalint.facts.families import family, rules_about
from xlalint.facts.kernels import about, lacking, listed, missing_of
from xlalint.facts.tables import Case, Outcome
from xlalint.findings.codes import rule_names


def facts(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(("facts", *arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    "name", ["tf.linalg.lu", "tensorflow.linalg.lu", "tf.compat.v1.linalg.lu", "linalg.lu", "tf.linalg.lu(x)"]
)
def test_a_call_in_any_spelling(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, complaint = facts(capsys, name)
    assert (code, complaint) == (0, "")
    assert shown.startswith("tf.linalg.lu (TensorFlow 2.21)\n  no XLA kernel for `Lu` (TensorFlow 2.21, CPU and GPU")
    assert "    measured: tf.linalg.lu(" in shown
    assert "  instead: tf.linalg.solve(a, b)" in shown
    assert "  more: xlalint explain XLA401 (no-kernel)" in shown


def test_an_option_that_matters(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = facts(capsys, "tf.image.resize")
    assert "  with method='bicubic': no XLA kernel for `ResizeBicubic`" in shown
    assert "  no change with preserve_aspect_ratio=True" in shown
    assert "    gradient: compiles" in shown
    assert "    gradient: does not compile: no XLA kernel for `ResizeNearestNeighborGrad`" in shown


@pytest.mark.parametrize("name", ["Lu", "tf.raw_ops.Lu"])
def test_an_operation(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, _ = facts(capsys, name)
    assert code == 0
    assert "  CPU, TensorFlow 2.21: no XLA kernel\n" in shown
    assert "tf.linalg.lu" in shown


def test_an_operation_with_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = facts(capsys, "Svd")
    assert "  CPU, TensorFlow 2.21: a kernel (T: double float half)" in shown
    assert "instead" not in shown


def test_json_of_a_call_and_of_an_operation(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = facts(capsys, "tf.linalg.lu", "Lu", "--output-format", "json")
    call, operation = json.loads(shown)
    assert (call["op"], operation["api"]) == (None, None)
    assert (call["api"]["outcome"], call["api"]["missing"]) == ("fails", ["Lu"])
    assert call["api"]["cases"][0]["call"].startswith("tf.linalg.lu(")
    assert operation["op"]["lacking"] == ["cpu", "gpu", "tpu"]


def test_the_list_of_what_has_no_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = facts(capsys, "--unsupported")
    *rows, last = shown.splitlines()
    names = [row.split()[0] for row in rows]
    assert {"tf.linalg.lu", "tf.math.segment_sum"} <= set(names)
    assert names == sorted(names)
    assert "tf.matmul" not in names
    assert last == f"{len(rows)} calls of TensorFlow 2.21 have no XLA kernel."
    _, shown, _ = facts(capsys, "--unsupported", "--output-format", "json")
    assert len(json.loads(shown)) == len(rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tf.linalg.luu",), "did you mean 'tf.linalg.lu'?"),
        ((), "name calls or operations"),
        (("Lu", "--unsupported"), "name calls or operations"),
        (("Lu", "--tensorflow", "new"), "not a version"),
    ],
)
def test_what_is_not_known_is_exit_2(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, complaint = facts(capsys, *arguments)
    assert (code, shown) == (2, "")
    assert said in complaint


def test_the_failing_calls_are_found_without_decoding() -> None:
    failing = {
        fact.name
        for version in tables.versions()
        for fact in tables.apis(version)
        for case in fact.cases
        if case.outcome is Outcome.FAILS or case.gradient is tables.Gradient.FAILS
    }
    assert set(tables.failing_names()) == failing
    assert "tf.linalg.lu" in failing


# -- words ------------------------------------------------------------------------------------------------------------


def test_devices_are_named_as_far_as_they_are_known() -> None:
    assert lacking(["Lu"], None).startswith("no XLA kernel for `Lu` (TensorFlow 2.21, CPU and GPU")
    assert lacking(["Lu", "Eig", "Lu"], "2.15").startswith("no XLA kernel for `Lu` and `Eig` (TensorFlow 2.15, CPU")
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_operations_of_nested_calls_are_not_the_calls_own() -> None:
    own = Case("tf.io.parse_tensor(f32[4])", Outcome.FAILS, missing=("Lu",), ops=("Lu",))
    assert missing_of(own) == ("Lu",)
    call = "tf.matmul(tf.linalg.lu(f32[3, 3])[0], f32[3, 3])"
    nested = Case(call, Outcome.FAILS, missing=("Lu",), ops=("Lu", "MatMul"))
    assert missing_of(nested) == ()


@pytest.mark.parametrize(
    ("op", "code"),
    [
        ("Lu", "XLA401"),
        ("EagerPyFunc", "XLA402"),
        ("StringFormat", "XLA403"),
        ("LookupTableFindV2", "XLA404"),
        ("StringJoin", "XLA404"),
        ("ReadFile", "XLA405"),
        ("DecodeJpeg", "XLA405"),
        ("UnicodeDecode", "XLA404"),
        ("CTCGreedyDecoder", "XLA401"),
        ("UniqueWithCounts", "XLA202"),
        ("SparseReshape", "XLA207"),
        ("CollectiveGatherV2", None),
    ],
)
def test_families(op: str, code: str | None) -> None:
    assert family(op).code == code
    assert about([op, "Other"], code or "XLA401") is (code is not None)
    assert rules_about() <= set(rule_names())
