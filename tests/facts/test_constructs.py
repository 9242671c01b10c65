"""The table of constructs: it holds every one, the linter says of each what the compilers do, and they do it again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
import pytest

from tests import sampling
from tests.commands import ran
from xlalint.authoring import lowered
from xlalint.facts.constructs import (
    PLAIN,
    OnCpu,
    Program,
    Verdict,
    constructs,
    known,
    listing,
    of,
    on_gpu,
    spans,
    versions,
)
from xlalint.facts.tables import Outcome
from xlalint.facts.tpu import OnTpu, TpuOutcome
from xlalint.findings.findings import Effect, Finding, Severity
from xlalint.measuring import compose
from xlalint.measuring import constructs as measuring
from xlalint.measuring.__main__ import main
from xlalint.tpu import stack

PROGRAMS: Final = [program for one in constructs() for program in one.programs]
NEW: Final = 10  # programs that the table may lack
SAMPLE: Final = 6
ATTEMPTS: Final = 3
GRAVITY: Final = (Effect.NAMED, Effect.TPU, Effect.RECOMPILES, Effect.DIVERGES, Effect.FAILS)
# What the gravest finding in a program may say, by what becomes of it on a CPU; None: nothing.
SAID: Final = {
    Outcome.OK: (None, Effect.NAMED),
    Outcome.BOUNDED: (Effect.NAMED,),
    Outcome.RECOMPILES: (Effect.RECOMPILES,),
    Outcome.DIVERGES: (Effect.DIVERGES,),
    Outcome.FAILS: (Effect.FAILS,),
}
# Constructs of which the linter says something else, or nothing, with the reason.
MISJUDGED: Final = {
    "CategoryEncoding, multi-hot": "with two of its modes only",
    "Dropout in training": "random numbers of a layer with a seed",
    "dict looked up by a tensor": "`int` of a tensor may compile",
    "RandomFlip in training": "random numbers of a layer with a seed",
    "except that swallows the error of tracing": "what fails is said, and not that it is caught",
    "if executing eagerly": "other code for eager execution is what it is meant for",
    "keras.random.SeedGenerator": "a seed that is no number",
    "loop of tensors that changes a dtype": "the dtypes of what a loop carries are not compared",
    "nonlocal assigned in a branch": "what a called function assigns is not followed out of the branch",
    "recursion on a tensor": "that it does not end is not seen",
    "text as an argument that is not used": "an argument of unknown dtype",
    "tf.boolean_mask, reshaped": "to a shape that has room for all that may be there",
    "tf.cond on a Python flag": "TypeError, whoever compiles it: eager execution takes it",
    "tf.cond with branches of different sizes": "what lambdas give is not compared",
    "tf.get_static_value of a value": "None in place of a number is what it is meant for",
    "tensor kept in a global": "one call compiles; what it leaves is of no use afterwards",
    "tensor of an earlier call read": "one call compiles; what it leaves is of no use afterwards",
    "tf.random.Generator": "a generator of TensorFlow's, with a seed",
    "tf.ragged.boolean_mask": "that a reduction of its rows fails is not followed",
    "tf.sparse.reduce_sum": "of constants alone, which are folded",
    "tf.vectorized_map with tf.cond": "what becomes of branches in it is not followed",
    "variable of texts": "the dtypes of variables are not known",
}


# The same of layers in words of every backend, by reason.
MISJUDGED_LAYERS: Final = {
    "what a layer that nothing calls is given may be a list or a number": (
        "for over a tensor|enumerate of a tensor|comprehension over a tensor|unpacked tensor|starred tensor"
        "|list of a tensor|reversed tensor|builtin sum|for over range of len|ops.arange of a value"
        "|ops.zeros of a value|ops.ones of a value|ops.full of a value|ops.eye of a value"
        "|ops.linspace of a value|ops.split at a value|axis from a value|ops.bincount"
        "|ops.bincount with a length|ops.histogram|x[::n]|ops.scatter of a size|np.array|np.exp"
        "|ops.convert_to_numpy|ops.image.resize to a value"
    ),
    "what a layer is given has the dimension of the batch, so that it is no position": ("x[i]"),
    "what branches and loops of functions give is not compared": (
        "ops.cond with branches of other shapes|ops.cond with branches of other dtypes|ops.vectorized_map with ops.cond"
    ),
    "what fails is said, and not that it is caught": ("try around a branch"),
    "one call compiles; what it leaves is of no use afterwards": (
        "tensor kept on self and used by the next call|list on self that grows"
    ),
    "variables and seeds that a layer creates in `call` are not followed": (
        "variable made in call|SeedGenerator made in call"
    ),
    "random numbers of Keras's, with a seed or without": ("random without a seed|random with a SeedGenerator"),
}
MISJUDGED_NAMES: Final = sorted(
    [*MISJUDGED, *(f"layer: {name}" for names in MISJUDGED_LAYERS.values() for name in names.split("|"))]
)


def name_of(program: Program) -> str:
    """The construct that it is of."""
    return program.name.removesuffix(PLAIN)


def is_right(said: Iterable[Finding], verdict: Verdict) -> bool:
    """Whether findings say what becomes of a program on a CPU, or on a GPU where that is another thing."""
    there = on_gpu(verdict)
    return says(said, verdict.cpu.outcome) or (there is not None and says(said, there.outcome))


def says(said: Iterable[Finding], outcome: Outcome) -> bool:
    """Whether findings say what becomes of a program; information is about what a correct one never sees."""
    told = [(one.effect, one.severity) for one in said if one.effect is not None]
    sure = [effect for effect, severity in told if severity is not Severity.INFO]
    gravest = max(sure, key=GRAVITY.index, default=None)
    return gravest in SAID[outcome] or (gravest is None and any(effect in SAID[outcome] for effect, _ in told))


@pytest.fixture(scope="module")
def linted() -> Mapping[str, tuple[Finding, ...]]:
    """By the name of each program what the linter says of it."""
    return {program.name: measuring.findings(program) for program in PROGRAMS}


def test_every_construct_was_measured() -> None:
    """But for a few that were written where there is no TPU's compiler."""
    left = [program.name for program in PROGRAMS if of(program) is None]
    assert len(left) <= NEW, f"{left} are not in the table: python -m xlalint.measuring constructs, and then tables"
    names = [one.name for one in constructs()]
    assert len(names) > 450
    assert len(names) == len(set(names))


def test_both_compilers_agree_where_a_tpu_needs_no_value() -> None:
    found = {program.name: verdict for program in PROGRAMS if (verdict := of(program)) is not None}
    assert {one.cpu.outcome for one in found.values()} == set(Outcome) - {Outcome.UNTESTED}
    assert {one.tpu.outcome for one in found.values()} >= set(TpuOutcome) - {TpuOutcome.LOWERS, TpuOutcome.UNTESTED}
    compiles = (TpuOutcome.OK, TpuOutcome.BOUNDED, TpuOutcome.LOWERS)
    fails = {name: one for name, one in found.items() if one.tpu.outcome in (TpuOutcome.FAILS, TpuOutcome.UNTRACED)}
    assert [
        name for name, one in found.items() if one.cpu.outcome is Outcome.FAILS and one.tpu.outcome in compiles
    ] == []
    taken = (Outcome.OK, Outcome.BOUNDED, Outcome.DIVERGES)
    assert {name.removesuffix(PLAIN) for name, one in fails.items() if one.cpu.outcome in taken} == {"complex128"}


def test_the_linter_says_of_each_what_a_compiler_does(linted: Mapping[str, tuple[Finding, ...]]) -> None:
    measured = [(program, one) for program in PROGRAMS if (one := of(program)) is not None and not one.cpu.eager]
    wrong = {name_of(program) for program, one in measured if not is_right(linted[program.name], one)}
    assert sorted(wrong) == MISJUDGED_NAMES


def test_the_table_names_the_rules_that_speak(linted: Mapping[str, tuple[Finding, ...]]) -> None:
    told = {program.name: list(verdict.rules) for program in PROGRAMS if (verdict := of(program)) is not None}
    now = {name: sorted({one.code for one in linted[name]}) for name in told}
    assert now == told, "other rules speak: python -m xlalint.measuring tables"


def test_what_was_measured_becomes_the_table(tmp_path: Path) -> None:
    first, second, third = PROGRAMS[:3]
    rows = {
        first.name: {"digest": first.digest, "cpu": {}, "tpu": {"outcome": "bounded"}},
        second.name: {"digest": "of other code", "cpu": {}, "tpu": {}},
    }
    journal = "".join(json.dumps({"name": name, "row": row}) + "\n" for name, row in rows.items())
    (tmp_path / "constructs.jsonl").write_text(journal, encoding="utf-8")
    (tmp_path / "constructs.json").write_text(json.dumps({"packages": {"keras": "9"}}), encoding="utf-8")
    plain = {"digest": third.digest, "cpu": {}, "tpu": {}}
    shipped = {"packages": {}, "programs": {"gone": {"digest": "", "cpu": {}}, third.name: plain}}
    assert compose.constructs(tmp_path, shipped) == {
        "packages": {"keras": "9"},
        "older": {},
        "programs": {
            first.name: {**rows[first.name], "rules": measuring.flagged_by(first)},
            third.name: {**plain, "rules": measuring.flagged_by(third)},
        },
    }


def test_of_older_versions_the_table_holds_what_differs(tmp_path: Path) -> None:
    same, other, new = PROGRAMS[:3]
    fails = {"outcome": "fails", "detail": "why"}
    plain = {one.name: {"digest": one.digest, "cpu": {}, "tpu": {}} for one in PROGRAMS[:3]}
    shipped = {
        "packages": {},
        "older": {"2.9": {"keras": "2"}},
        "programs": {
            **plain,
            other.name: {**plain[other.name], "older": {"2.9": fails}},
            new.name: {"digest": "", "cpu": {}},
        },
    }
    (tmp_path / "constructs.jsonl").write_text(json.dumps({"name": new.name, "row": plain[new.name]}), encoding="utf-8")
    (tmp_path / "constructs-2.10.json").write_text(json.dumps({"packages": {"keras": "2.1"}}), encoding="utf-8")
    measured = [{"name": one.name, "row": {"digest": one.digest, "cpu": fails}} for one in (same, new)]
    lines = "".join(json.dumps(row) + "\n" for row in measured)
    (tmp_path / "constructs-2.10.jsonl").write_text(lines, encoding="utf-8")
    table = compose.constructs(tmp_path, shipped)
    untested = {"outcome": "untested"}
    assert list(table["older"]) == ["2.10", "2.9"]
    assert {name: row["older"] for name, row in table["programs"].items()} == {
        same.name: {"2.10": fails},
        other.name: {"2.10": untested, "2.9": fails},
        new.name: {"2.10": fails, "2.9": untested},
    }


def test_older_versions_are_told_by_spans() -> None:
    assert versions()[0] == "2.21"
    first, *rest = versions()[1:]
    newest, fails, untested = OnCpu(), OnCpu(Outcome.FAILS, "why"), OnCpu(Outcome.UNTESTED)
    found = Verdict("", newest, OnTpu(), {first: fails, **dict.fromkeys(rest, untested)})
    assert list(spans(found)) == [(first, fails), (f"{rest[-1]} to {rest[0]}", untested)]
    assert list(spans(Verdict("", newest, OnTpu()))) == []


@pytest.mark.compiler
def test_another_interpreter_is_asked_for_its_version(tmp_path: Path) -> None:
    arguments = ["older", "--python", sys.executable, "--folder", str(tmp_path), "--only", "^if without else$"]
    assert main(arguments) == 0
    row = json.loads((tmp_path / "constructs-2.21.jsonl").read_text(encoding="utf-8"))
    assert row["name"] == "if without else"
    assert row["row"]["cpu"] == {}
    with pytest.raises(SystemExit, match="no interpreter with TensorFlow"):
        main([*arguments, "--python", str(tmp_path / "python")])


def test_the_command_lists_constructs(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = ran(capsys, "facts", "--constructs")
    line = next(one for one in shown.splitlines() if one.startswith("tf.range(n)"))
    assert line.split()[1:] == ["per", "value", "fails", "per", "value", "fails", "-", "XLA205"]
    _, shown, _ = ran(capsys, "facts", "--constructs", "tensor[i]", "iterate-over-tensor")
    assert shown.startswith("tensor[i] (positions from values)\n    import tensorflow as tf\n")
    assert "    on a CPU: recompiles for every new value\n    on a TPU, compiled by shapes alone: compiles\n" in shown
    assert "flagged by XLA103 (iterate-over-tensor)" in shown
    _, shown, _ = ran(capsys, "facts", "--constructs", "dtypes", "--output-format", "json")
    listed = {one["name"]: one for one in json.loads(shown)}
    assert listed["complex128"]["without_autograph"]["tpu"]["missing"] == ["Cast"]
    assert listed["float64"]["with_autograph"]["cpu"]["outcome"] == "ok"
    _, page, _ = ran(capsys, "explain", "XLA109")
    number = len(listing.flagged_by("XLA109"))
    assert f"It reports {number} of the measured constructs: `xlalint facts --constructs XLA109`." in page
    code, _, complaint = ran(capsys, "facts", "--constructs", "no such thing")
    assert (code, complaint.count("\n")) == (2, 1)
    assert ran(capsys, "facts", "--constructs", "--on-tpu")[0] == 2
    assert ran(capsys, "facts", "--constructs", "--tensorflow", "2.15")[0] == 2


# -- again ------------------------------------------------------------------------------------------------------------


def sample(*, asked: bool = False) -> list[tuple[Program, Verdict]]:
    """Some of what was measured; `asked`: of a TPU's compiler, and not kept from it on the way."""
    measured = [(program, verdict) for program in PROGRAMS if (verdict := of(program)) is not None]
    there = [one for one in measured if not asked or one[1].tpu.outcome is not TpuOutcome.UNTESTED]
    return sampling.chance().sample(there, min(sampling.size(SAMPLE), len(there)))


@pytest.mark.compiler
def test_a_sample_is_what_the_compiler_does() -> None:
    for program, verdict in sample():
        found = OnCpu()
        for _ in range(ATTEMPTS):
            found = measuring.ran(program)
            if found.outcome is verdict.cpu.outcome:
                break
        else:
            pytest.fail(f"{program.name}: {found}, and the table says {verdict.cpu}\n{program.code}")


@pytest.mark.compiler
def test_a_sample_is_what_the_compiler_of_a_tpu_does() -> None:
    try:
        stack.program()
    except stack.StackError as error:
        pytest.skip(f"the TPU's compiler was not asked: {error}")
    left, found = sample(asked=True), dict[str, OnTpu]()
    for _ in range(ATTEMPTS):
        found |= {program.name: there for program, there in lowered.measure([program for program, _ in left])}
        left = [
            (program, verdict) for program, verdict in left if found[program.name].outcome is not verdict.tpu.outcome
        ]
        if not left:
            return
    pytest.fail(f"{[(program.name, found[program.name], verdict.tpu) for program, verdict in left]}")


def test_entries_of_the_table_are_read_as_they_are_written() -> None:
    entries = known()
    assert len(entries) >= len(PROGRAMS) - NEW
    assert msgspec.convert(next(iter(entries.values())), Verdict) == of(PROGRAMS[0])
