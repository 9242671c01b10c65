"""Keras on JAX: the table holds every call and construct, the pages say what it says, and JAX does it again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from tests import ROOT, sampling
from tests.commands import ran
from tests.compiler.claims import claim, sources
from xlalint.authoring.jax.client import ENVIRONMENT
from xlalint.authoring.on_jax import measure
from xlalint.decoder.answers import explain_log
from xlalint.docs import two_tracers
from xlalint.facts import jax, tables
from xlalint.facts.constructs import Construct, constructs, of, on_jax
from xlalint.facts.jax import OnJax
from xlalint.facts.tables import Gradient, Outcome
from xlalint.measuring import constructs as with_tensorflow
from xlalint.measuring import jax as measuring
from xlalint.measuring.driver import Driver

SHARED: Final = [one for one in constructs() if one.shared]
PAGE: Final = (ROOT / "xlalint/docs/xla/jax.md").read_text("utf-8")
NEW: Final = 10  # programs that the table may lack
UNASKED: Final = 3  # callables that it lacks
SAMPLE: Final = 6
ERRORS: Final = 8
ATTEMPTS: Final = 2


def test_every_call_construct_and_example_was_asked() -> None:
    programs = measuring.programs()
    assert len(SHARED) > 180
    assert len([one.name for one in programs if jax.of_program(one.code, one.inputs) is None]) <= NEW
    left = [name for name, plan in measuring.plans().items() if not measuring.is_told(name, plan)]
    assert len(left) <= UNASKED, f"python -m xlalint.measuring jax, and then tables: {left}"


def test_what_a_gpu_was_asked_becomes_part_of_the_table(tmp_path: Path) -> None:
    """What differs from the processor beside it is told, not what only another version differs in."""
    one, other = measuring.programs()[:2]
    was = {"keras.ops.abs": {"keras.ops.abs(f32[4])": {}, "keras.ops.abs(i32[4])": {"gradient": "ok"}}}
    shipped = {"packages": {}, "calls": was, "programs": {one.digest: {}, other.digest: {}}}
    there = {
        "keras.ops.abs(f32[4])": {"outcome": "fails"},
        "keras.ops.abs(i32[4])": {},
        "keras.ops.abs(-x)": {"varied": {}},
    }
    lacking = {"outcome": "fails", "detail": "ImportError: no TensorFlow"}
    for kind, name, row in (
        ("jax-gpu", "keras.ops.abs", there),
        ("jax-beside", "keras.ops.abs", {"keras.ops.abs(i32[4])": {}}),
        ("jax-gpu-programs", one.digest, {"outcome": "diverges"}),
        ("jax-gpu-programs", other.digest, lacking),
    ):
        with (tmp_path / f"{kind}.jsonl").open("a", encoding="utf-8") as out:
            print(json.dumps({"name": name, "row": row}), file=out)
    assert measuring.table(tmp_path, shipped)["gpu"] is None
    told_of = {"packages": {"jax": "9"}, "device": "a GPU"}
    (tmp_path / "jax-gpu.json").write_text(json.dumps(told_of), encoding="utf-8")
    otherwise = sorted(["keras.ops.abs(f32[4])", one.digest])
    assert measuring.table(tmp_path, shipped)["gpu"] == {**told_of, "calls": 2, "programs": 1, "otherwise": otherwise}


def test_it_is_of_the_versions_that_the_tests_install() -> None:
    pins = (ROOT / "tests/requirements.txt").read_text("utf-8").splitlines()
    assert {f"{name}=={jax.packages()[name]}" for name in ("jax", "jaxlib", "keras")} <= set(pins)


def test_entries_make_sense() -> None:
    found = [(name, call, one) for name in jax.names() for call, one in jax.api(name).items()]
    assert len(found) > 800
    assert {one.outcome for _, _, one in found} >= {Outcome.OK, Outcome.FAILS, Outcome.UNTESTED}
    for name, call, one in found:
        assert one.outcome is not Outcome.BOUNDED, call
        assert bool(one.detail) >= (one.outcome is Outcome.FAILS), call
        assert not one.static or one.outcome is Outcome.FAILS, call
        fact = tables.api(name)
        assert fact is not None
        assert one.varied or call in {jax.spelled(case.call) for case in fact.cases}


def test_what_the_issue_of_two_tracers_began_with() -> None:
    told = {name.removeprefix("layer: "): one for name, one in ((one.name, on_jax(one)) for one in SHARED) if one}
    assert told["if on any"].error == "TracerBoolConversionError"
    assert told["x[mask]"].error == "NonConcreteBooleanIndexError"
    assert told["ops.nonzero"].error == told["ops.unique"].error == "ConcretizationTypeError"
    assert told["ops.arange of a value"].error == told["float"].error == "ConcretizationTypeError"
    assert told["x[:n]"].error == "IndexError"
    assert told["x[ops.argmax(x)]"].outcome is told["for over a tensor"].outcome is Outcome.OK
    assert told[".numpy()"].eager


def test_static_arguments_are_told() -> None:
    found = jax.of_call("keras.ops.arange", "keras.ops.arange(5, stop=pick[5, 6, 7])")
    assert found is not None
    assert (found.static, found.error) == (("stop",), "ConcretizationTypeError")
    assert found.said().endswith("; as a static argument, `stop` compiles once for every value")


def test_calls_of_tensorflow_are_spelled_for_both() -> None:
    assert jax.spelled("keras.ops.cond(c, lambda: tf.ones([2]), y)") == (
        "keras.ops.cond(c, lambda: keras.ops.ones([2]), y)"
    )
    assert jax.is_for_both("import keras\nx = keras.ops.ones(2)")
    assert not jax.is_for_both("import tensorflow as tf\nimport keras")


def test_the_commands_show_both_backends(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = ran(capsys, "facts", "keras.ops.nonzero")
    assert f"    with {jax.versions()}: cannot be traced: ConcretizationTypeError" in shown
    _, shown, _ = ran(capsys, "facts", "keras.ops.nonzero", "--output-format", "json")
    assert json.loads(shown)[0]["api"]["cases"][0]["jax"]["outcome"] == "fails"
    _, shown, _ = ran(capsys, "facts", "--constructs")
    line = next(one for one in shown.splitlines() if one.startswith("layer: x[ops.argmax(x)]"))
    assert line.split()[2:] == ["-", "-", "per", "value", "compiles", "compiles", "XLA206"]
    _, shown, _ = ran(capsys, "facts", "--constructs", "layer: x[:n]")
    assert f"  with {jax.versions()}, on a CPU: cannot be traced: IndexError: Slice entries" in shown
    _, shown, _ = ran(capsys, "facts", "--constructs", "layer: x[:n]", "--output-format", "json")
    assert json.loads(shown)[0]["jax"]["outcome"] == "fails"
    _, shown, _ = ran(capsys, "explain", "XLA409")
    assert "| flagged | example | CPU | TPU | JAX |" in shown


def test_an_entry_is_written_without_what_is_default() -> None:
    assert measuring.entry(OnJax()) == {}
    assert measuring.entry(OnJax(Outcome.FAILS, "why", eager=True)) == {
        "outcome": "fails",
        "detail": "why",
        "eager": True,
    }
    assert measuring.is_like({"outcome": "fails", "detail": "A: x"}, {"outcome": "fails", "detail": "A: y"})
    assert not measuring.is_like({"outcome": "fails", "detail": "A: x"}, {"outcome": "fails", "detail": "B: x"})
    assert not measuring.is_like({"gradient": "ok"}, {})


def test_the_page_is_about_what_was_measured() -> None:
    assert f"Keras\n{jax.packages()['keras']} and JAX {jax.packages()['jax']}" in PAGE
    gpu = jax.gpu()
    told = f"{gpu.device} with JAX {gpu.packages['jax']}, {gpu.calls} calls and {gpu.programs} programs end"
    assert told in PAGE.replace("\n", " ")
    assert [call.partition("(")[0] for call in gpu.otherwise] == ["keras.ops.empty"]
    rows = two_tracers.differing()
    assert len(rows) > 40
    shown = two_tracers.table()
    assert shown.count("<summary>") == len(rows)
    assert "<summary>x[mask]</summary>" in shown


# -- again ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    running = Driver(backend="jax")
    yield running
    running.close()


def essence(found: Any) -> tuple[str, str, tuple[str, ...], bool, str]:
    """What does not depend on wordings."""
    one = msgspec.convert(found, OnJax)
    return one.outcome, one.error, one.static, one.eager, one.gradient


@pytest.mark.slow
@pytest.mark.compiler
def test_a_sample_of_calls_is_what_jax_does(driver: Driver) -> None:
    asked = [
        (name, call)
        for name in jax.names()
        for call, one in jax.api(name).items()
        if not one.varied and "not finished" not in one.detail
    ]
    sampling.chance().shuffle(asked)
    wrong = {}
    for name, call in asked[: sampling.size(SAMPLE)]:
        stored = essence(msgspec.to_builtins(jax.api(name)[call]))
        for _ in range(ATTEMPTS):
            if (found := essence((driver.row(name, {"calls": [call], "same": []}) or {})[call])) == stored:
                break
            driver.close()
        else:
            wrong[call] = {"stored": stored, "found": found}
    assert wrong == {}


@pytest.mark.compiler
def test_a_sample_of_programs_is_what_jax_does() -> None:
    asked = [
        (one, found) for one in measuring.programs() if (found := jax.of_program(one.code, one.inputs)) is not None
    ]
    chosen = sampling.chance().sample(asked, min(sampling.size(SAMPLE), len(asked)))
    for (one, stored), (_, found) in zip(chosen, measuring.measured(one for one, _ in chosen), strict=True):
        assert (found.outcome, found.error, found.eager) == (stored.outcome, stored.error, stored.eager), one.name


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize(
    "construct",
    [
        pytest.param(one, id=one.name, marks=claim(one.plain, of(one.plain), on_jax(one)))
        for one in two_tracers.differing()
    ],
)
def test_each_row_of_the_page_is_what_both_tracers_do(construct: Construct) -> None:
    program, stored, there = construct.plain, of(construct.plain), on_jax(construct)
    assert stored is not None
    assert there is not None
    assert measuring.as_fact(measure(program.code, program.inputs)).outcome is there.outcome
    for _ in range(ATTEMPTS):
        if with_tensorflow.here(program).outcome is stored.cpu.outcome:
            return
    pytest.fail(f"{program.name}: {with_tensorflow.here(program)}, and the table says {stored.cpu}")


@pytest.mark.compiler
@claim(sources("tests/facts/jax_trainer.py"), PAGE, sampled=False)
def test_what_the_trainer_compiles_is_what_the_page_says() -> None:
    command = [sys.executable, "-m", "tests.facts.jax_trainer"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, **ENVIRONMENT}
    )
    found = json.loads(done.stdout.splitlines()[-1])
    told = dict(re.findall(r"^\| (.*) \| (none|\d `.*) \|$", PAGE, re.MULTILINE))
    said = {
        name: ", ".join(f"{number} `{step}`" for step, number in steps.items()) or "none"
        for name, steps in found["compiled"].items()
    }
    assert said == told
    assert found["auto"] is True
    assert found["refused"] is False
    assert all(text.startswith("Unable to automatically build the model") for text in found["failures"])
    assert found["hidden"] == "AttributeError: 'str' object has no attribute '_error_repr'"
    assert "Array has been deleted" in found["deleted"]


@pytest.mark.compiler
def test_errors_that_jax_raises_are_explained() -> None:
    failing = [one for one in SHARED if (found := on_jax(one)) is not None and found.error and not found.eager]
    for one in sampling.chance().sample(failing, sampling.size(ERRORS)):
        trace = measure(one.plain.code, one.plain.inputs).trace
        assert trace is not None, one.name
        answers = explain_log(trace).answers
        assert answers, one.name
        assert all(answer.place is not None and answer.rewrite for answer in answers), one.name
    assert Gradient.FAILS in {found.gradient for name in jax.names() for found in jax.api(name).values()}
