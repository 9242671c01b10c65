"""Large projects: parts that run in groups say what they say side by side, and nothing that a run does grows faster
than the project."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.bench.callers import program
from tests.samples import HAZARD
from xlalint.analysis.files.files import Files
from xlalint.analysis.fixpoint import partitions as parts_module
from xlalint.analysis.fixpoint.exchange import Transcript, TranscriptMessages, Transcripts
from xlalint.analysis.fixpoint.partitions import (
    GatheredMessages,
    Key,
    Member,
    Message,
    Messages,
    Partition,
    Round,
    UncalledFunction,
    run_group,
)
from xlalint.analysis.fixpoint.processes import CAN_FORK, run_parts
from xlalint.analysis.interpreter.frames import Frame
from xlalint.analysis.interpreter.functions import Functions
from xlalint.findings.findings import Severity
from xlalint.linter import analyse as analysing
from xlalint.linter import inputs
from xlalint.linter.run import check
from xlalint.settings.config import Settings

KEYS: list[Key] = [("a.py", 1, "f"), ("a.py", 1, "g"), ("b.py", 1, "f")]
FUNCTIONS = st.frozensets(st.sampled_from(KEYS))
# Which functions a part names at first, which it names (or does no more) once it has heard of one, and where the open
# roots lead that it has in either of two rounds.
SCRIPTS = st.tuples(
    FUNCTIONS,
    st.dictionaries(st.sampled_from(KEYS), FUNCTIONS),
    st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.sampled_from(KEYS), FUNCTIONS), max_size=4),
)
Script = tuple[frozenset[Key], dict[Key, frozenset[Key]], list[tuple[bool, int, Key, frozenset[Key]]]]
Ran = tuple[list[Round], object]
LAST: Final = 6
F, G = frozenset(KEYS[:1]), frozenset(KEYS[1:2])
# Three parts that agree late, and only where one hears what was said before by those that are given up beside it.
LATE: list[Script] = [
    (frozenset(), {KEYS[0]: F | G}, []),
    (frozenset(), {KEYS[0]: F, KEYS[1]: F}, []),
    (F, {KEYS[0]: F}, []),
]


def scripted(script: Script) -> Partition[Ran]:
    """Names functions, and others for what it hears; some rounds are about open roots that it still has."""
    named, answers, leading = script
    rounds: list[Round] = []
    told: list[object] = []
    for number in range(LAST):
        roots = [
            UncalledFunction((rank, key[0], at), key, below | {key})
            for at, (late, rank, key, below) in enumerate(leading)
            if number == (LAST - 1 if late else LAST - 3) and key not in named
        ]
        made = Round(Message(named, tuple(roots)))
        rounds.append(made)
        received: Messages = yield made.sent
        for key, others in answers.items():
            named = named ^ others if made.is_named(key, received) else named
        made.followed = list(map(received.follows, roots))
        told += [named, *made.followed]
        if any(made.followed):
            named = named ^ set(KEYS[:1])
    return rounds, told


def taken(due: list[int], group: list[int], scripts: list[Script]) -> Iterator[tuple[int, Partition[Ran]]]:
    """The parts that are due, from the last on, which join a group."""
    while due:
        group.append(due.pop())
        yield group[-1], scripted(scripts[group[-1]])


def filled(group: list[int], room: float) -> float:
    return len(group) / room


def in_groups(scripts: list[Script], room: float) -> list[object]:
    """What the parts come to in groups for which there is so much room, run again until all have heard what there is to
    hear."""
    transcripts, found = Transcripts(), dict[int, object]()
    due = list(range(len(scripts)))
    for _ in range(LAST + 1):
        while due:
            group: list[int] = []
            parts = taken(due, group, scripts)
            ended = run_group(parts, partial(filled, group, room), TranscriptMessages(transcripts).after)
            due += (number for number in group if number not in ended)
            for number, (rounds, result) in ended.items():
                found[number] = result
                transcripts.put(number, Transcript.of(rounds))
        due = transcripts.outdated()
        if not due:
            return [found[number] for number in range(len(scripts))]
    raise AssertionError("the parts never agree")


# Groups of one, of two and of three; of the latter some are given up for want of room.
@settings(max_examples=200)
@example(LATE, 1.7)
@given(st.lists(SCRIPTS, min_size=2, max_size=4), st.sampled_from((0.8, 1.7, 2.7)))
def test_parts_hear_in_groups_what_they_hear_side_by_side(scripts: list[Script], room: float) -> None:
    members = [Member(partial(scripted, script)) for script in scripts]
    together = [result for _, result in run_parts(members, 1, GatheredMessages)]
    assert in_groups(scripts, room) == together


def test_a_part_that_ran_while_another_spoke_is_outdated() -> None:
    transcripts = Transcripts()
    transcripts.put(1, Transcript.of([Round(Message(frozenset(KEYS[:1])))]))
    transcripts.put(0, Transcript.of([Round(Message(), unnamed=set(KEYS[:1]))]))
    assert transcripts.outdated() == [0]


def test_an_open_root_that_moves_concerns_those_that_it_leads_to() -> None:
    def led_by(rank: int) -> Transcript:
        root = UncalledFunction((rank, "b.py", 0), KEYS[2], frozenset(KEYS))
        return Transcript.of([Round(Message(roots=(root,)), followed=[False])])

    own = UncalledFunction((1, "a.py", 0), KEYS[0], frozenset(KEYS))
    transcripts = Transcripts()
    transcripts.put(0, Transcript.of([Round(Message(roots=(own,)), followed=[False])]))
    transcripts.put(1, led_by(2))
    assert transcripts.outdated() == [1]  # it follows the other one
    transcripts.put(1, led_by(0))
    assert transcripts.outdated() == [0]


def test_a_part_has_room_even_where_there_is_none() -> None:
    scripts: list[Script] = [(frozenset(KEYS[:1]), {}, []), (frozenset(), {KEYS[0]: frozenset(KEYS[1:2])}, [])]
    taken = iter([0.1, 0.2, 5.0, *[9.0] * 20])  # the parts turn out to be large when they have spoken
    transcripts = Transcripts()
    ended = run_group(enumerate(map(scripted, scripts)), lambda: next(taken), TranscriptMessages(transcripts).after)
    assert list(ended) == [0]


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every project is large: each file is a part, in a group of its own, and no text is kept."""
    monkeypatch.setattr(parts_module, "_TEXT_OF_A_PART", 1)
    monkeypatch.setattr(parts_module, "_MOST_TEXT", 1)
    monkeypatch.setattr(parts_module, "_TOGETHER", 0)
    monkeypatch.setattr(parts_module, "_TOGETHER_EACH", 0)
    monkeypatch.setattr(analysing, "_MOST_OBJECTS", 0)
    monkeypatch.setattr(inputs, "_KEPT_TEXT", 0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_that_goes_while_others_are_analysed_costs_only_itself(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (large / "kept.py").write_text(HAZARD, encoding="utf-8")
    (large / "lost.py").write_text(HAZARD, encoding="utf-8")
    read = inputs.Inputs.read

    def then_lose(self: inputs.Inputs) -> None:
        read(self)
        (large / "lost.py").unlink()

    monkeypatch.setattr(inputs.Inputs, "read", then_lose)
    report = check(["."], Settings(jobs=1))
    assert {finding.path for finding in report.findings} == {"kept.py"}
    assert {(problem.path, problem.message) for problem in report.problems} == {("lost.py", "no such file")}


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_lost_process_had_to_do_is_done_again(jobs: int, large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group runs in a process of its own, in one job as well, where the system can fork."""
    for name in ("first", "second"):
        (large / f"{name}.py").write_text(HAZARD, encoding="utf-8")
    here, group = os.getpid(), analysing.Analysis._group

    def lost(self: analysing.Analysis, transcripts: Transcripts, waiting: list[int]) -> Any:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return group(self, transcripts, waiting)

    monkeypatch.setattr(analysing.Analysis, "_group", lost)
    report = check(["."], Settings(jobs=jobs))
    assert [finding.path for finding in report.findings] == ["first.py", "second.py"]
    assert len(report.problems) == (1 if CAN_FORK else 0)


def test_no_folder_is_asked_for_a_module_that_it_does_not_have(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every script is in a folder of its own: to ask each folder for each import would take for ever."""
    for number in range(20):
        (large / f"{number}").mkdir()
        text = f"import os, argparse, script7\n{HAZARD}kept = script7.step\n"
        (large / f"{number}/script{number}.py").write_text(text, "utf-8")
    monkeypatch.setattr(analysing, "CAN_FORK", False)  # so that what is asked is seen here
    asked: list[Path] = []
    look_up = Files._look_up

    def counted(self: Files, folder: Path, name: str) -> Path | None:
        asked.append(folder)
        return look_up(self, folder, name)

    monkeypatch.setattr(Files, "_look_up", counted)
    report = check(["."], Settings(jobs=1))
    assert {finding.path for finding in report.findings} == {f"{number}/script{number}.py" for number in range(20)}
    assert {folder.name for folder in asked} == {"7"}


def test_a_folder_that_begins_to_offer_a_module_is_noticed(large: Path) -> None:
    for name in ("a", "b"):
        (large / name).mkdir()
    (large / "a/one.py").write_text(f"import two\n{HAZARD}", "utf-8")
    (large / "b/other.py").write_text(HAZARD, "utf-8")
    warm = Settings(jobs=1, cache_dir=large / ".cache")
    check(["."], warm)
    (large / "b/two.py").write_text("import tensorflow as tf\n\n\ndef f(x):\n    return x.numpy()\n", "utf-8")
    assert check(["."], warm) == check(["."], Settings(jobs=1))


@pytest.mark.parametrize(("kind", "most"), [("host", 12), ("open", 16), ("graph", 48)])
def test_a_function_is_not_executed_for_each_of_very_many_callers(
    kind: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed: list[str] = []
    real = Functions._run

    def counting(self: Functions, frame: Frame, node: Any, env: Any) -> None:
        executed.append(frame.summary.name)
        real(self, frame, node, env)

    monkeypatch.setattr(Functions, "_run", counting)
    (tmp_path / "program.py").write_text(program(most + 8, kind, statements=1))
    check([tmp_path], Settings())
    assert most <= executed.count("common") <= most + 2


@pytest.mark.parametrize("way", ["a function that is passed", "a method of a subclass"])
def test_what_a_common_function_leads_to_is_found_however_many_use_it(way: str, tmp_path: Path) -> None:
    most = 120
    if way == "a function that is passed":
        common = ["def apply(function, batch, name):", "    return function(batch * 2)"]
        each = [
            "def model{0}(batch):",
            "    if tf.reduce_sum(batch) > {0}:",
            "        batch = -batch",
            "    return batch",
        ]
        call = "apply(model{0}, batch, [{0}])"
    else:
        common = ["class Base:", "    def run(self, batch, name):", "        return self.body(batch * 2)"]
        each = ["class Model{0}(Base):", "    def body(self, batch):", "        return float(tf.reduce_sum(batch))"]
        call = "Model{0}().run(batch, [{0}])"
    steps = ["@tf.function(jit_compile=True, autograph=False)", "def step(batch):"]
    lines = ["import tensorflow as tf", *common]
    for number in range(most):
        lines += [line.format(number) for line in each]
        steps.append(f"    {call.format(number)}")
    (tmp_path / "program.py").write_text("\n".join([*lines, *steps]) + "\n", "utf-8")
    found = check([tmp_path], Settings()).findings
    assert len({finding.span.line for finding in found if finding.severity is Severity.ERROR}) == most


def test_what_a_common_function_returns_is_known_however_many_use_it_whom_nobody_calls(tmp_path: Path) -> None:
    """The calls beyond the most have what the last one had of those like them."""
    lines = ["import tensorflow as tf", "def common(part, x):", "    return tf.reduce_sum(x * part.size) > 0"]
    for number in range(40):
        lines += [f"class Part{number}:", f"    size = {number}"]
        lines += [f"def caller{number}(x):", f"    if common(Part{number}(), x):", "        x = -x", "    return x"]
    (tmp_path / "program.py").write_text("\n".join([*lines, ""]), "utf-8")
    found = [finding for finding in check([tmp_path], Settings()).findings if finding.code == "XLA101"]
    assert len({finding.span.line for finding in found}) == 40
