"""A sample of the shipped table, measured again with the installed TensorFlow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import msgspec
import pytest

from tests import sampling
from xlalint.facts import tables
from xlalint.facts.tables import ApiFact
from xlalint.measuring.driver import Driver

Essence: TypeAlias = tuple[str, str, tuple[str, ...], bool, str, str]
SAMPLE: Final = 6  # callables
# Some calls leave the process in a state that changes others, and some programs with bounded dynamic shapes crash XLA
# now and then: what differs is measured in a fresh process.
ATTEMPTS: Final = 3


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    running = Driver()
    yield running
    running.close()


def essence(case: Any) -> Essence:
    """What of a case does not depend on the machine."""
    return (
        case["call"],
        case.get("outcome", "ok"),
        tuple(case.get("missing", ())),
        case.get("bounded", False),
        case.get("gradient", "none"),
        json.dumps(case.get("follows", {}), sort_keys=True),
    )


def stored(fact: ApiFact) -> list[Essence]:
    return sorted(essence(msgspec.to_builtins(case)) for case in fact.cases)


def measured_again(driver: Driver, fact: ApiFact) -> list[Essence]:
    varied = [list(pair) for case in fact.cases[1:] for pair in case.varied.items()]
    row = driver.row(fact.name, {"call": fact.cases[0].call, "varied": varied})
    return sorted(essence(case) for case in (row or {}).get("cases", ()))


@pytest.mark.slow
@pytest.mark.compiler
def test_a_sample_of_the_table_is_what_the_compiler_does(driver: Driver) -> None:
    facts = [fact for fact in tables.apis() if fact.cases]
    sampling.chance().shuffle(facts)
    wrong = {}
    for fact in facts[: sampling.size(SAMPLE)]:
        for _ in range(ATTEMPTS):
            if (found := measured_again(driver, fact)) == stored(fact):
                break
            driver.close()
        else:
            wrong[fact.name] = {"stored": stored(fact), "found": found}
    assert not wrong


@pytest.mark.compiler
def test_what_the_values_of_arguments_do_is_what_the_table_says(driver: Driver) -> None:
    expected = {
        "tf.slice": {"begin": {}, "size": {"resizes": True, "carried": "bounded"}},
        "tf.split": {"axis": {"carried": "fails"}, "num_or_size_splits": {"resizes": True, "carried": "fails"}},
    }
    for name, follows in expected.items():
        fact = tables.api(name)
        assert fact is not None
        assert measured_again(driver, fact) == stored(fact)
        assert {
            key: msgspec.to_builtins(value) for case in fact.cases for key, value in case.follows.items()
        } == follows


@pytest.mark.compiler
def test_inputs_that_must_be_constants_are_those_of_the_table() -> None:
    calls = {
        "Reshape": ["tf.reshape(f32[6], [2, 3])"],
        "Sum": ["tf.reduce_sum(f32[3, 3], axis=1)"],
        "SelectV2": ["tf.where(bool[3], f32[3], f32[3])"],
    }
    program = f"import json; from xlalint.measuring import constants; print(json.dumps(constants.measure({calls})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    assert measured == {"Reshape": "shape", "Sum": "reduction_indices", "SelectV2": ""}
    for name, inputs in measured.items():
        fact = tables.op(name)
        assert fact is not None
        assert fact.constants == tuple(inputs.split())
