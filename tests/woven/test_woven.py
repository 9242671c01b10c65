"""The linter finds what the compiler refuses, recompiles or changes in woven programs, and is silent on the others.

`judged.json` holds what the compiler did with some of them; `python -m tests.woven 200 --keep` asks it again, as is
needed once a table has changed. How many are missed or flagged wrongly may only fall.
"""

from __future__ import annotations

import pytest

from .judge import by_compiler, by_linter
from .outcome import Outcome, kept
from .weave import CALLS, ENTRIES, STATEMENTS, VALUES, Program, pairs

# What the compiler refuses where data decides the value, and takes where it is known while tracing.
REFUSED = [
    Program(entry, values, calls, statement, True, False)
    for entry, values, calls, statement in (
        # assigned to an object that is shared, first by analyses that know nothing of their arguments
        ("a bound method", ("an object's setter",), (), "list"),
        ("a model", ("a class method",), (), "if"),
        ("a compiled function", ("a class attribute",), (), "list"),
        ("tf.Module", ("__iadd__",), (), "bool"),
        # put in place of a method, or of a name of the module, by code that runs before
        ("a nested layer", (), ("unittest.mock.patch",), "if"),
        ("train_step", (), ("a global",), "in"),
        # one of several functions, each of which is passed what it would be passed alone
        ("a constraint", (), ("getattr with a name that is not known",), "and"),
        ("an activation layer", (), ("a table by type",), "int"),
        # chosen by conditions and keys that are known
        ("a model", ("a search with next",), (), "and"),
        ("a layer", ("a dotted path",), (), "int"),
        ("a loss", ("__getattribute__",), (), "assert"),
        ("a layer", (), ("accumulate",), "in"),
        ("a metric class", ("max with a default",), (), "if"),
        ("a constraint", ("iter with a sentinel",), (), "in"),
        ("train_step", ("the fields of a dataclass by name",), (), "and"),
        ("an activation", (), ("types.ModuleType",), "bool"),
    )
]
LIVE = 4  # pairs that the compiler is asked each time
JUDGED = 300  # programs that are kept at least


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    programs = kept().programs
    found = by_linter([program for program, _ in programs])
    return [Outcome(program, verdict, codes) for (program, verdict), codes in zip(programs, found, strict=True)]


def test_no_more_is_missed_than_was(outcomes: list[Outcome]) -> None:
    missed = [(outcome.verdict, outcome.program.parts) for outcome in outcomes if outcome.missed]
    assert len(missed) <= kept().missed, missed


def test_no_more_is_flagged_wrongly_than_was(outcomes: list[Outcome]) -> None:
    wrong = [(outcome.found, outcome.program.parts) for outcome in outcomes if outcome.wrong]
    assert len(wrong) <= kept().wrong, wrong


def test_what_is_found_has_the_effect_that_the_compiler_shows(outcomes: list[Outcome]) -> None:
    others = [(outcome.verdict, outcome.found, outcome.program.parts) for outcome in outcomes if outcome.misjudged]
    assert len(others) <= kept().misjudged, others


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: ", ".join(program.parts))
def test_what_is_carried_is_found_and_its_look_alike_is_not(program: Program) -> None:
    found, of_twin = by_linter([program, program.twin])
    assert {one.effect for one in found} == {"fails"}
    assert not of_twin


def test_the_verdicts_are_of_these_tables() -> None:
    assert len(kept().programs) >= JUDGED, "python -m tests.woven 200 --keep"


def test_what_is_kept_is_of_every_kind(outcomes: list[Outcome]) -> None:
    assert {outcome.verdict for outcome in outcomes} >= {"fails", "recompiles", "diverges", "clean"}
    for kind, table in (("entry", ENTRIES), ("value", VALUES), ("call", CALLS), ("statement", STATEMENTS)):
        used = {name for outcome in outcomes for name in outcome.program.names(kind)}
        assert len(used) > 0.9 * len(table), table.keys() - used


def test_a_seed_weaves_the_same_programs_again() -> None:
    first, second = ([program.files for pair in pairs(7, 9) for program in pair] for _ in range(2))
    assert first == second
    assert len({str(files) for files in first}) > 12


def test_what_is_woven_is_what_people_could_write() -> None:
    program = Program("a method", ("a dict",), ("a static method",), "tf.zeros", data=True, apart=True)
    assert program.files["helpers"] == (
        "import tensorflow as tf\n\n\n"
        "def use_0(x, n):\n    return x + tf.reduce_sum(tf.zeros([n, 2]))\n\n\n"
        "class Ops_c0:\n    @staticmethod\n    def run(x, n):\n        return use_0(x, n)\n\n\n"
        "def use_1(x, n):\n    return Ops_c0.run(x, n)\n"
    )
    assert program.files["main"] == (
        "from helpers import use_1\nimport tensorflow as tf\n\n\n"
        "class Trainer:\n    @tf.function(jit_compile=True)\n    def step(self, x):\n"
        "        v0 = tf.cast(tf.reduce_max(x), tf.int32)\n"
        '        table = {"size": v0, "rate": 3}\n        v1 = table["size"]\n        return use_1(x, v1)\n'
    )
    assert program.twin.files["main"] == program.files["main"].replace("tf.cast(tf.reduce_max(x), tf.int32)", "2")


@pytest.mark.compiler
def test_the_compiler_refuses_what_is_carried_and_takes_its_look_alike() -> None:
    both = [either for program in REFUSED for either in (program, program.twin)]
    assert dict(by_compiler(both)) == {program: "fails" if program.data else "clean" for program in both}


@pytest.mark.compiler
def test_the_compiler_does_what_is_kept() -> None:
    programs = kept().programs
    some = programs[:: len(programs) // (2 * LIVE)]
    assert dict(by_compiler(program for program, _ in some)) == dict(some)
