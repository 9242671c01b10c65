"""The table of what a TPU's compiler says: it holds every measured call and every example, and says so again."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest

from tests import sampling
from tests.commands import ran
from xlalint.authoring import lowered, verdicts
from xlalint.facts import tables, tpu
from xlalint.facts.tpu import OnTpu, TpuOutcome, told
from xlalint.linter.rule import Compiles, Good, all_rules
from xlalint.measuring import compose
from xlalint.measuring import driver as driver_of_facts
from xlalint.measuring.__main__ import main
from xlalint.measuring.driver import Driver
from xlalint.tpu import stack

EXAMPLES: Final = {verdicts.digest(one): one for rule in all_rules() for one in verdicts.asked(rule)}
CALLS: Final = [(fact.name, case) for fact in tables.apis() for case in fact.cases]
COMPILES: Final = (TpuOutcome.OK, TpuOutcome.BOUNDED, TpuOutcome.LOWERS, TpuOutcome.UNTESTED)
NEW: Final = 20  # examples that the table may lack
NESTED: Final = "    @tf.function\n    def call("
SAMPLE: Final = 6
ATTEMPTS: Final = 3  # each in a fresh process: some calls change what others do


def test_every_example_was_asked() -> None:
    """But for a few that were written where there is no TPU's compiler: their pages say that they were not asked."""
    left = EXAMPLES.keys() - tpu.examples().keys()
    assert len(left) <= NEW, f"{len(left)} are not in the table: python -m xlalint.measuring examples, and then tables"


def test_every_call_was_asked() -> None:
    left = {case.call for name, case in CALLS if tpu.of_call(case.call) is None and "enable" not in name}
    assert left == {"tf.NoneTensorSpec()"}  # which TensorFlow 2.20 does not have


def test_what_is_not_flagged_compiles_for_a_tpu_too() -> None:
    refused = {
        example.why or example.code: found.said()
        for digest, found in tpu.examples().items()
        if isinstance(example := EXAMPLES.get(digest), Good)
        and example.behaviour == Compiles()
        and found.outcome not in COMPILES
    }
    assert refused.pop("the compiler of the CPU has these kernels") == "does not compile: no kernel for `Cast`"
    # To lower a function inside of another that has variables ends the process that lowers; that says nothing of a TPU.
    lowered = {why: said for why, said in refused.items() if not (NESTED in why and "SIGABRT" in said)}
    [(why, said)] = lowered.items()
    assert (why, "X64 element types" in said) == ("nothing says that it is for TPUs", True)


def test_a_tpu_has_no_kernels_that_a_cpu_lacks() -> None:
    asked = [case.call for _, case in CALLS if case.missing]
    found = {call for call in asked if getattr(tpu.of_call(call), "outcome", None) in COMPILES[:2]}
    assert found == {"tf.Variable(tf.ones([4])).gather_nd(index[2, 1])"}  # of a tensor, which stands for the variable


def test_words() -> None:
    assert OnTpu().said() == "compiles"
    assert OnTpu(TpuOutcome.FAILS, missing=("Lu",)).said() == "does not compile: no kernel for `Lu`"
    assert OnTpu(TpuOutcome.UNTRACED, "ValueError").said() == "cannot be traced: ValueError"
    constant = "Input 1 to node `while/range` with op Range must be a compile-time constant."
    assert told(f"{constant} XLA compilation requires") == "input 1 of Range must be a compile-time constant"
    assert told(160 * "a") == 160 * "a"
    assert told(161 * "a") == f"{157 * 'a'}..."


def test_facts_say_what_becomes_of_a_call(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = ran(capsys, "facts", "tf.range")
    sized = shown.partition("measured: tf.range(i32[()])\n")[2].splitlines()[0]
    assert (
        sized
        == "    on a TPU, compiled by shapes alone: does not compile: input 1 of Range must be a compile-time constant"
    )
    _, shown, _ = ran(capsys, "facts", "tf.linalg.lu")
    assert "for a TPU" not in shown, "that there is no kernel is said of all devices at once"
    _, shown, _ = ran(capsys, "facts", "tf.boolean_mask", "--output-format", "json")
    assert json.loads(shown)[0]["api"]["cases"][0]["tpu"]["outcome"] == "bounded"


def test_what_becomes_something_else_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = ran(capsys, "facts", "--on-tpu")
    *rows, last = shown.splitlines()
    calls = {one.partition("  ")[2].strip(): other.strip() for one, other in zip(rows[::2], rows[1::2], strict=True)}
    assert last.startswith(f"{len(calls)} calls compile differently for a TPU (TensorFlow 2.20.0, libtpu 0.0.19; v5e")
    sized = "on a TPU: does not compile: input 1 of Range must be a compile-time constant"
    assert calls["tf.range(i32[()])"] == sized
    assert calls["tf.math.top_k(f32[6], i32[()])"].startswith("on a TPU: compiles with a bounded dynamic shape")
    alike = {"tf.range(5)", "tf.boolean_mask(f32[4], bool[4])", "tf.linalg.lu(spd[3, 3])"}
    assert not alike & calls.keys()
    _, shown, _ = ran(capsys, "facts", "--on-tpu", "--output-format", "json")
    listed = {row["call"]: (row["name"], row["cpu"], row["tpu"]["outcome"]) for row in json.loads(shown)}
    assert listed.keys() == calls.keys()
    assert listed["tf.range(i32[()])"] == ("tf.range", "recompiles", "fails")
    code, _, complaint = ran(capsys, "facts", "--on-tpu", "--tensorflow", "2.15")
    assert (code, complaint.count("\n")) == (2, 1)


def test_pages_say_what_becomes_of_their_examples(capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = ran(capsys, "explain", "XLA205")
    row = "| yes | `tf.range(n)` | compiles for every value | does not compile: input 1 of Range must be"
    assert row in page.partition("## Measured\n")[2]
    _, page, _ = ran(capsys, "explain", "XLA901")
    assert "## Measured" not in page
    _, pages, _ = ran(capsys, "explain", "XLA205", "--output-format", "json")
    first = json.loads(pages)[0]["examples"][0]
    assert first["flagged"]
    assert first["tpu"].startswith("compiles with a bounded dynamic shape")
    _, table, _ = ran(capsys, "rules", "--measured", "XLA5", "boolean-mask")
    assert [line.split()[1] for line in table.splitlines()[2:3]] == ["XLA201"]
    _, table, _ = ran(capsys, "rules", "--measured", "XLA205", "--output-format", "json")
    assert json.loads(table)[0]["examples"][0] == first


def test_what_was_measured_becomes_the_table(tmp_path: Path) -> None:
    one, other = sorted(EXAMPLES)[:2]
    constant = "Input 1 to node `range` with op Range must be a compile-time constant. XLA compilation requires"
    journal = {
        "tf.range": {"tf.range(5)": {"outcome": "ok"}, "tf.range(i32[()])": {"outcome": "fails", "detail": constant}},
        "tf.linalg.lu": {"tf.linalg.lu(spd[3, 3])": {"outcome": "fails", "detail": "No", "missing": ["Lu", "_Arg"]}},
        "tf.abs": {"tf.abs(f32[4])": {"outcome": "ok", "gradient": {"outcome": "fails", "missing": ["_Arg"]}}},
        "tf.gone": {"tf.gone()": {"outcome": "ok"}},
        "tf.new": None,
    }
    lines = [json.dumps({"name": name, "row": row}) for name, row in journal.items()]
    (tmp_path / "tpu.jsonl").write_text("\n".join(lines))
    (tmp_path / "tpu.json").write_text(json.dumps({"packages": {"libtpu": "1.2"}}))
    (tmp_path / "tpu-examples.jsonl").write_text(json.dumps({"name": one, "row": {"outcome": "bounded"}}))
    shipped = {"packages": {}, "topology": "v9:2x2", "calls": {"tf.abs(f32[4])": {}}, "examples": {other: {}, "0": {}}}
    assert compose.tpu(tmp_path, shipped) == {
        "packages": {"libtpu": "1.2"},
        "topology": "v9:2x2",
        "refused": [],
        "refused_gradients": ["tf.abs"],
        "calls": {
            "tf.abs(f32[4])": {"gradient": {"outcome": "fails", "detail": compose.TYPELESS}},
            "tf.linalg.lu(spd[3, 3])": {"outcome": "fails", "missing": ["Lu"]},
            "tf.range(5)": {},
            "tf.range(i32[()])": {"outcome": "fails", "detail": "input 1 of Range must be a compile-time constant"},
        },
        "examples": {one: {"outcome": "bounded"}, other: {}},
    }


def test_what_depends_on_shapes_is_asked_first() -> None:
    table = {
        "apis": {
            "tf.a": {"cases": [{"call": "tf.a(f32[2])", "gradient": "ok"}]},
            "tf.b": {"cases": [{"call": "tf.b()"}, {"call": "tf.b(i32[2])", "outcome": "recompiles"}]},
            "tf.c": {"untested": "no"},
            "tf.d": {"cases": [{"call": "tf.d(bool[2])", "bounded": True}]},
        }
    }
    asked = driver_of_facts.lowered(table)
    assert list(asked) == ["tf.b", "tf.d", "tf.a"]
    assert asked["tf.b"] == {"calls": [["tf.b()", False], ["tf.b(i32[2])", False]]}
    assert asked["tf.a"] == {"calls": [["tf.a(f32[2])", True]]}


def test_without_the_compiler_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(stack.HOME, str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit) as ended:
        main(["examples", "--again", "--folder", str(tmp_path)])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith("python -m xlalint.measuring: error: ")
    assert said.count("\n") == 1


# -- again ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def program() -> str:
    try:
        return str(stack.program())
    except stack.StackError as error:
        pytest.skip(f"the TPU's compiler was not asked: {error}")


@pytest.fixture(scope="module")
def chance() -> random.Random:
    return sampling.chance()


@pytest.fixture
def driver(program: str) -> Iterator[Driver]:
    running = Driver(program=program)
    yield running
    running.close()


@pytest.mark.compiler
def test_a_sample_of_the_calls_is_what_the_compiler_does(driver: Driver, chance: random.Random) -> None:
    known = [(name, case.call, found) for name, case in CALLS if (found := tpu.of_call(case.call)) is not None]
    ended = [one for one in known if "not finished" not in one[2].detail]
    for name, call, expected in chance.sample(ended, min(sampling.size(SAMPLE), len(ended))):
        for _ in range(ATTEMPTS):
            row = (driver.row(name, {"calls": [[call, False]]}, "tpu") or {})[call]
            if essence(found := msgspec.convert(compose.entry(row), OnTpu)) == essence(expected):
                break
            driver.close()
        else:
            pytest.fail(f"{call}: {found}, and the table says {expected}")


@pytest.mark.compiler
def test_a_sample_of_the_examples_is_what_the_compiler_does(program: str, chance: random.Random) -> None:
    known = sorted(EXAMPLES.keys() & tpu.examples().keys())
    left = chance.sample(known, min(sampling.size(SAMPLE), len(known)))
    for _ in range(ATTEMPTS):
        found = {verdicts.digest(one): made for one, made in lowered.measure([EXAMPLES[key] for key in left])}
        left = [key for key in left if essence(found[key]) != essence(tpu.examples()[key])]
        if not left:
            return
    pytest.fail(f"{[(EXAMPLES[key].code, found[key], tpu.examples()[key]) for key in left]}")


def essence(found: OnTpu) -> tuple[TpuOutcome, tuple[str, ...]]:
    """What does not depend on the order in which things are asked."""
    return found.outcome, found.missing
