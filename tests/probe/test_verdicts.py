"""From what was seen to verdicts: which findings are confirmed, refuted or left open, and what only the probe saw."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.findings.codes import PROBE_ONLY
from xlalint.findings.findings import Effect, Finding, FindingContext, Note, Report, Severity, Span
from xlalint.probe.protocol import (
    BOUNDED,
    CHANCE,
    DIVERGES,
    FAILS,
    GPU_FAILS,
    KINDS,
    READ,
    RECOMPILES,
    SHAPES,
    STATE,
    Call,
    Observation,
    Outcome,
    Spot,
    Varied,
)
from xlalint.probe.refutation import UNREACHED
from xlalint.probe.statements import Statements
from xlalint.probe.target import Target
from xlalint.probe.verdicts import COMPILES, CONFIRMED, NOT_RUN, ONLY, OPEN, REFUTED, Run, judged
from xlalint.reports.concise import concise
from xlalint.reports.full import full
from xlalint.reports.json import json_report
from xlalint.reports.probed import probed
from xlalint.reports.summary import summary
from xlalint.reports.terminal import Paint

CODE = """\
import tensorflow as tf

def f(x):
    if tf.reduce_sum(x) > 1.0:
        x = x / 2.0
    y = tf.boolean_mask(
        x,
        x > 0.0,
    )
    return tf.cumsum(y)
"""
EQUAL = (Call(0, 0, compilations=1), Call(0, 1))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(CODE)
    return tmp_path / "a.py"


def finding(line: int, effect: Effect = Effect.FAILS, **more: object) -> Finding:
    span, context = Span(line, 5, line, 9), FindingContext("xla", False)
    made = Finding("a.py", span, "XLA101", "branch-on-tensor", Severity.ERROR, effect, "m", context)
    return replace(made, **more)  # type: ignore[arg-type]


def seen(file: Path, kind: str, *lines: int, gradient: bool = False) -> Observation:
    return Observation(kind, f"it {kind}", tuple(Spot(str(file), line) for line in lines), gradient=gradient)


def judge(file: Path, outcome: Outcome, *findings: Finding) -> Report:
    run = Run(Target(str(file), "f", (3, 10)), outcome)
    return judged(Report(findings, files_checked=1), [run], {place: [run] for place in range(len(findings))})


def statuses(report: Report) -> list[tuple[int, str]]:
    return [(one.span.line, one.verdict.status) for one in report.findings if one.verdict]


ALL_LINES = {"a.py": (4, 5, 6, 10)}


def outcome(file: Path, *observations: Observation, calls: tuple[Call, ...] = EQUAL, **more: object) -> Outcome:
    lines = {str(file): ALL_LINES["a.py"]}
    spots = [Spot(str(file), line) for line in ALL_LINES["a.py"]]
    evidence = {
        "varied": tuple(Varied(spot, op, ("input",), 2) for spot in spots for op in (READ, "Lu")),
        "made": tuple((spot, ("Lu",)) for spot in spots),
        "unconverted": lines,
    }
    versions = {"tensorflow": "2.21.0"}
    told = {"reached": lines, **evidence, **more}
    return Outcome(calls=calls, observations=observations, versions=versions, **told)  # type: ignore[arg-type]


def test_a_failure_confirms_the_finding_at_its_line_and_leaves_the_others_open(file: Path) -> None:
    report = judge(file, outcome(file, seen(file, FAILS, 4)), finding(4), finding(10))
    assert statuses(report) == [(4, CONFIRMED), (10, OPEN)]
    assert {one.severity for one in report.findings} == {Severity.ERROR}


def test_a_line_at_which_something_is_seen_is_reached(file: Path) -> None:
    here = finding(10, Effect.NAMED, api="tf.sparse.from_dense")
    reached = {str(file): (4,)}
    [one] = judge(file, outcome(file, reached=reached), here).findings
    assert one.verdict is not None
    assert one.verdict.text == UNREACHED
    lacking = replace(seen(file, FAILS, 10), ops=("EditDistance",), lacking=True)
    [one] = (it for it in judge(file, outcome(file, lacking, reached=reached), here).findings if it.code != PROBE_ONLY)
    assert one.verdict is not None
    assert one.verdict.text == "the line may fail for another reason: it fails"


def test_a_raise_confirms_the_condition_that_it_stands_under(file: Path) -> None:
    file.write_text(CODE.replace("x = x / 2.0", "raise ValueError(x)"))
    assert statuses(judge(file, outcome(file, seen(file, FAILS, 5)), finding(4))) == [(4, CONFIRMED)]
    other = finding(4, code="XLA205", name="size-from-value")
    assert statuses(judge(file, outcome(file, seen(file, FAILS, 5)), other))[0] == (4, OPEN)
    lacking = replace(seen(file, FAILS, 5), ops=("Lu",))
    assert statuses(judge(file, outcome(file, lacking), finding(4)))[0] == (4, OPEN)


def test_extreme_values_confirm_what_warns_of_them_only(file: Path) -> None:
    found = outcome(file, replace(seen(file, DIVERGES, 6), extreme=True))
    index = finding(6, Effect.DIVERGES, code="XLA602", name="unchecked-index")
    assert statuses(judge(file, found, index)) == [(6, CONFIRMED)]
    assert statuses(judge(file, found, finding(6))) == [(6, REFUTED)]


def test_an_index_that_no_number_leads_to_is_not_out_of_range(file: Path) -> None:
    index = finding(6, Effect.DIVERGES, code="XLA602", name="unchecked-index")
    for told, status in (("[0, -2147483648] does not", OPEN), ("-50000 is not in [0, 4)", CONFIRMED)):
        refused = replace(seen(file, DIVERGES, 6), extreme=True, text=f"indices[0] = {told}")
        assert statuses(judge(file, outcome(file, refused), index)) == [(6, status)]


def test_a_rank_that_eager_execution_takes_bears_out_no_more_than_a_branch(file: Path) -> None:
    refused = replace(seen(file, FAILS, 6), per=SHAPES)
    kernel = finding(6, code="XLA401", name="no-kernel")
    assert statuses(judge(file, outcome(file, refused), kernel)) == [(6, OPEN)]  # and nothing besides
    assert statuses(judge(file, outcome(file, refused), finding(6))) == [(6, CONFIRMED)]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("TypeError: ('pred must not be a Python bool', False)", "open"),
        ("AttributeError: 'float' object has no attribute 'dtype'", "open"),
        ("AttributeError: 'SymbolicTensor' object has no attribute 'numpy'", "confirmed"),
    ],
)
def test_an_error_about_a_value_of_python_says_nothing_of_tensors(file: Path, said: str, status: str) -> None:
    failed = replace(seen(file, FAILS, 5), text=f"tracing it fails with {said}")
    assert statuses(judge(file, outcome(file, failed), finding(5))) == [(5, status)]


def test_a_number_for_a_shape_bears_out_what_says_so(file: Path) -> None:
    said = "tracing it fails with ValueError: Shape must be rank 1 but is rank 0"
    failed = outcome(file, replace(seen(file, FAILS, 6), per=SHAPES, text=said))
    number = finding(6, code="XLA411", name="uncompilable-call")
    assert statuses(judge(file, failed, number)) == [(6, CONFIRMED)]
    other = outcome(file, replace(seen(file, FAILS, 6), per=SHAPES, text=f"{said} for something else"))
    [left] = [one for one in judge(file, other, number).findings if one.code == "XLA411"]
    assert left.verdict is not None
    assert (left.verdict.status, left.verdict.text) == (
        OPEN,
        f"the line may fail for another reason: {said} for something else",
    )


def test_a_loop_confirms_what_says_that_its_variable_grows(file: Path) -> None:
    note = Note("a.py", Span(10, 12, 10, 20), "its shape may change, as this says")
    grows = finding(6, code="XLA114", name="growing-loop-variable", notes=(note,))
    refused = replace(seen(file, FAILS, 10), text="Input and output shapes of loop body do not match: ..")
    assert statuses(judge(file, outcome(file, refused), grows)) == [(6, CONFIRMED)]
    assert statuses(judge(file, outcome(file, seen(file, FAILS, 10)), grows))[0] == (6, OPEN)  # for another reason
    other = finding(6, code="XLA107", name="mutate-in-tensor-loop", notes=(note,))
    assert statuses(judge(file, outcome(file, refused), other))[0] == (6, OPEN)


def test_the_body_of_a_loop_by_itself_does_not_refute_that_it_grows(file: Path) -> None:
    called = finding(5, name="no-kernel", api="tf.linalg.lu")
    assert statuses(judge(file, outcome(file), called)) == [(5, REFUTED)]
    grows = replace(called, code="XLA114", name="growing-loop-variable")
    assert statuses(judge(file, outcome(file), grows)) == [(5, OPEN)]


def test_what_an_object_keeps_confirms_what_says_so_only(file: Path) -> None:
    kept = replace(seen(file, DIVERGES, 5), per=STATE)
    assert statuses(judge(file, outcome(file, kept), finding(5, Effect.DIVERGES))) == [(5, REFUTED)]
    said = finding(5, Effect.DIVERGES, code="XLA607", name="state-while-tracing")
    assert statuses(judge(file, outcome(file, kept), said)) == [(5, CONFIRMED)]


def test_numbers_that_are_drawn_once_confirm_what_says_so_only(file: Path) -> None:
    found = outcome(file, replace(seen(file, DIVERGES, 6), per=CHANCE))
    numbers = finding(6, Effect.DIVERGES, code="XLA603", name="random-numbers")
    assert statuses(judge(file, found, numbers)) == [(6, CONFIRMED)]
    assert (6, CONFIRMED) not in statuses(judge(file, found, finding(6)))


def test_only_a_gpu_shows_what_no_gpu_holds(file: Path) -> None:
    variable = finding(6, code="XLA413", name="int32-variable")
    assert (6, CONFIRMED) in statuses(judge(file, outcome(file, seen(file, GPU_FAILS, 6)), variable))
    assert (6, OPEN) in statuses(judge(file, outcome(file, seen(file, FAILS, 6)), variable))
    assert (6, OPEN) in statuses(judge(file, outcome(file), variable))


def test_what_fails_to_be_unpacked_confirms_the_finding_on_the_value(file: Path) -> None:
    file.write_text(CODE.replace("x = x / 2.0", "a, *b = tf.shape(x)"))
    targets, value = Spot(str(file), 5, (5, 9, 5, 14)), Span(5, 17, 5, 28)
    failure = Observation(FAILS, "it fails", (targets,))
    loop = finding(5, code="XLA103", name="iterate-over-tensor", span=value)
    assert statuses(judge(file, outcome(file, failure), loop)) == [(5, CONFIRMED)]
    elsewhere = Observation(FAILS, "it fails", (replace(targets, span=(5, 9, 5, 10)),))
    assert (5, OPEN) in statuses(judge(file, outcome(file, elsewhere), loop))


def test_what_compiles_refutes_and_weighs_less(file: Path) -> None:
    [one] = judge(file, outcome(file), finding(4)).findings
    assert one.verdict is not None
    assert (one.verdict.status, one.verdict.outcome, one.severity) == (REFUTED, COMPILES, Severity.WARNING)
    assert "TensorFlow 2.21.0" in one.verdict.text


def test_a_line_within_a_statement_speaks_for_the_statement(file: Path) -> None:
    assert statuses(judge(file, outcome(file, seen(file, FAILS, 8)), finding(6))) == [(6, CONFIRMED)]
    assert not Statements().together(str(file), 5, 4, 4), "the body of a branch is not its condition"


def test_the_innermost_line_with_a_finding_is_meant(file: Path) -> None:
    assert statuses(judge(file, outcome(file, seen(file, FAILS, 5, 10)), finding(10))) == [(10, CONFIRMED)]


def test_a_consumer_that_a_note_names_confirms_its_origin(file: Path) -> None:
    note = Note("a.py", Span(10, 12, 10, 20), "goes wrong here", consumer="tf.cumsum")
    origin = finding(6, Effect.DIVERGES, notes=(note,))
    assert statuses(judge(file, outcome(file, seen(file, DIVERGES, 10)), origin)) == [(6, CONFIRMED)]


@pytest.mark.parametrize(
    ("effect", "kind", "status"),
    [
        (Effect.NAMED, BOUNDED, CONFIRMED),
        (Effect.DIVERGES, BOUNDED, REFUTED),
        (Effect.FAILS, RECOMPILES, CONFIRMED),
        (Effect.RECOMPILES, RECOMPILES, CONFIRMED),
        (Effect.RECOMPILES, DIVERGES, REFUTED),
        (Effect.TPU, BOUNDED, OPEN),
    ],
)
def test_which_observation_bears_out_which_effect(file: Path, effect: Effect, kind: str, status: str) -> None:
    report = judge(file, outcome(file, seen(file, kind, 6)), finding(6, effect))
    assert next(own for line, own in statuses(report) if line == 6) == status


def test_a_line_that_was_not_reached_is_not_acquitted(file: Path) -> None:
    known = Outcome(calls=EQUAL, reached={str(file): (4, 6, 10)})
    assert statuses(judge(file, known, finding(5))) == [(5, OPEN)]


def test_a_finding_about_a_gradient_needs_one(file: Path) -> None:
    about = finding(10, code="XLA407", name="gradient-without-kernel", api="tf.linalg.lu")
    assert statuses(judge(file, outcome(file), about)) == [(10, OPEN)]
    assert statuses(judge(file, outcome(file, gradient="equal"), about)) == [(10, REFUTED)]
    failing = outcome(file, seen(file, FAILS, 10, gradient=True), gradient=FAILS)
    assert statuses(judge(file, failing, about)) == [(10, CONFIRMED)]


def test_what_no_rule_speaks_of_is_reported_once(file: Path) -> None:
    run = Run(Target(str(file), "f", (3, 10)), outcome(file, seen(file, FAILS, 10)))
    [one] = judged(Report(()), [run, run], {}).findings
    assert one.verdict is not None
    assert (one.code, one.span, one.verdict.status) == (PROBE_ONLY, Span(10, 5, 10, 24), ONLY)
    assert judged(Report(()), [run], {}, lambda finding: False).findings == ()


@pytest.mark.parametrize(("kind", "told"), [(DIVERGES, []), (FAILS, [(10, ONLY)])])
def test_numbers_that_nobody_asked_to_repeat_are_nothing_to_report(
    file: Path, kind: str, told: list[tuple[int, str]]
) -> None:
    assert statuses(judge(file, outcome(file, seen(file, kind, 10), random=True))) == told
    assert statuses(judge(file, outcome(file, seen(file, kind, 10)))) == [(10, ONLY)]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Input 0 to node `cond/random_uniform` must be a compile-time constant.", OPEN),
        ("then_branch and else_branch have incompatible shapes", CONFIRMED),
    ],
)
def test_what_one_side_does_bears_out_nothing_about_both(file: Path, text: str, status: str) -> None:
    failing = replace(seen(file, FAILS, 4), text=text)
    joined = finding(4, code="XLA108", name="unjoinable-branches")
    assert (4, status) in statuses(judge(file, outcome(file, failing), joined))


def test_what_has_no_line_decides_nothing(file: Path) -> None:
    died = outcome(file, Observation(FAILS, "the process died"), calls=())
    report = judge(file, died, finding(4), finding(10))
    assert statuses(report) == [(4, OPEN), (10, OPEN)]
    assert "the process died; the line is not known" in json_report(report)


@pytest.mark.parametrize(("scope", "status"), [("model/boolean_mask_2/call", CONFIRMED), ("model/dense/call", OPEN)])
def test_an_operation_in_the_scope_of_a_layer_bears_out_what_is_said_of_the_layer(
    file: Path, scope: str, status: str
) -> None:
    lacking = Observation(FAILS, f"no kernel for `Where` (in `{scope}`)", ops=("Where",), lacking=True)
    layer = finding(6, span=Span(6, 9, 9, 6))  # what calls something of the name `boolean_mask`
    assert statuses(judge(file, outcome(file, lacking), layer)) == [(6, status)]


def test_a_note_that_names_no_consumer_confirms_nothing(file: Path) -> None:
    origin = Note("a.py", Span(6, 9, 9, 6), "this selects by a mask")
    report = judge(file, outcome(file, seen(file, FAILS, 6)), finding(4, notes=(origin,)))
    assert statuses(report) == [(4, OPEN), (6, ONLY)]


def test_a_missing_kernel_is_no_consequence_of_a_shape(file: Path) -> None:
    note = Note("a.py", Span(10, 12, 10, 24), "goes wrong here", consumer="tf.cumsum")
    lacking = replace(seen(file, FAILS, 10), ops=("Lu",), lacking=True)
    report = judge(file, outcome(file, lacking), finding(6, Effect.DIVERGES, notes=(note,)))
    assert statuses(report) == [(6, OPEN), (10, ONLY)]
    size = finding(10, code="XLA205", name="size-from-value")
    assert statuses(judge(file, outcome(file, lacking), size))[0] == (10, OPEN)
    changing = finding(10, Effect.RECOMPILES, code="XLA308", name="batch-sizes")
    assert statuses(judge(file, outcome(file, lacking), changing))[0] == (10, OPEN)
    assert statuses(judge(file, outcome(file, seen(file, RECOMPILES, 10)), changing))[0] == (10, CONFIRMED)


def test_of_two_hazards_in_a_statement_the_operation_decides(file: Path) -> None:
    lu, unique = finding(10, code="XLA401", api="tf.linalg.lu"), finding(10, code="XLA202", api="tf.unique")
    lacking = replace(seen(file, FAILS, 10), ops=("Lu",), lacking=True)
    report = judge(file, outcome(file, lacking), unique, lu)
    assert [(one.code, one.verdict.status) for one in report.findings if one.verdict] == [
        ("XLA202", OPEN),
        ("XLA401", CONFIRMED),
    ]


def test_of_two_hazards_in_a_statement_the_effect_decides(file: Path) -> None:
    sized, failing = finding(10, Effect.RECOMPILES, code="XLA205"), finding(10, code="XLA401")
    report = judge(file, outcome(file, seen(file, FAILS, 10)), sized, failing)
    assert [(one.code, one.verdict.status) for one in report.findings if one.verdict] == [
        ("XLA205", OPEN),
        ("XLA401", CONFIRMED),
    ]


def test_of_two_hazards_in_a_statement_the_expression_decides(file: Path) -> None:
    branch, read = finding(10, span=Span(10, 5, 10, 9)), finding(10, code="XLA106", span=Span(10, 12, 10, 20))
    raised = Observation(FAILS, "it fails", (Spot(str(file), 10, (10, 14, 10, 18)),))
    report = judge(file, outcome(file, raised), branch, read)
    assert statuses(report) == [(10, OPEN), (10, CONFIRMED)]


def test_two_hazards_that_nothing_tells_apart_stay_open(file: Path) -> None:
    report = judge(file, outcome(file, seen(file, FAILS, 10)), finding(10), finding(10, code="XLA106"))
    assert statuses(report) == [(10, OPEN), (10, OPEN)]
    assert "this may come from another problem in the statement" in json_report(report)


def test_a_gradient_that_fails_says_nothing_of_what_compiles(file: Path) -> None:
    report = judge(file, outcome(file, seen(file, FAILS, 10, gradient=True), gradient=FAILS), finding(10))
    assert statuses(report) == [(10, OPEN), (10, ONLY)]


@pytest.mark.parametrize(
    ("name", "gradient", "status"),
    [
        ("size-from-value", False, CONFIRMED),
        ("size-from-value", True, OPEN),
        ("unrolled-loop", False, OPEN),
        ("unrolled-loop", True, OPEN),
    ],
)
def test_a_failure_that_is_no_compilation_again(file: Path, name: str, gradient: bool, status: str) -> None:
    found = judge(
        file, outcome(file, seen(file, FAILS, 4, gradient=gradient)), finding(4, Effect.RECOMPILES, name=name)
    )
    assert statuses(found)[0] == (4, status)


def test_a_statement_that_is_compiled_for_several_values_refutes_nothing(file: Path) -> None:
    again = Observation(RECOMPILES, "3 compilations", (Spot(str(file), 10),), "value", ops=("Cumsum",))
    found = finding(10, name="no-kernel", api="tf.unique_with_counts")
    report = judge(file, outcome(file, again), found)
    assert statuses(report)[0] == (10, OPEN)


def test_only_what_was_confirmed_is_kept_on_request(file: Path) -> None:
    run = Run(Target(str(file), "f", (3, 10)), outcome(file, seen(file, RECOMPILES, 4)))
    report = judged(Report((finding(4), finding(10))), [run], {0: [run], 1: [run]}, confirmed_only=True)
    assert statuses(report) == [(4, CONFIRMED)]


OBSERVATIONS = st.builds(Observation, st.sampled_from(KINDS), st.text(max_size=5))
OUTCOMES = st.builds(
    Outcome,
    not_run=st.one_of(st.none(), st.text(min_size=1, max_size=20)),
    calls=st.lists(st.builds(Call, st.just(0), st.integers(0, 3)), max_size=2).map(tuple),
    observations=st.lists(OBSERVATIONS, max_size=2).map(tuple),
)


def no_lines(path: str, cell: int | None) -> list[str]:
    return []


@given(OUTCOMES, st.sampled_from(Effect))
def test_what_was_not_run_is_never_shown_as_a_pass(outcome: Outcome, effect: Effect) -> None:
    if outcome.not_run is None and (outcome.calls or outcome.observations):
        return
    run = Run(Target("/gone/a.py", "f", (3, 10)), outcome)
    report = judged(Report((finding(4, effect),)), [run], {0: [run]})
    [one], [function] = report.findings, report.functions
    assert one.verdict is not None
    assert (one.verdict.status, one.verdict.outcome, one.severity) == (OPEN, NOT_RUN, Severity.ERROR)
    assert function.verdict.outcome == NOT_RUN
    plain = Paint()
    assert "refuted" not in concise(report, plain) + full(report, plain, no_lines) + json_report(report)
    assert probed(report, plain).startswith(f"{NOT_RUN}: f")
    assert "(1 not run)" in summary(report, plain)


@pytest.mark.parametrize(
    ("found", "ops", "lacking", "said"),
    [
        ([], (), False, "no rule reports this line"),
        ([{"line": 4}], (), False, "no rule reports this line"),
        ([{"line": 9}], (), False, "XLA101 reports line 9"),
        ([{"line": 4, "api": "tf.cumsum"}], ("Cumsum",), False, "XLA101 reports line 4"),
        ([], ("Lu",), True, "XLA401 is about such operations, but did not find this one"),
        ([], ("StringSplit",), True, "XLA404 is about such operations, but did not find this one"),
    ],
)
def test_what_only_the_probe_saw_is_linked_to_the_rule_that_speaks_of_it(
    file: Path, found: list[dict[str, object]], ops: tuple[str, ...], lacking: bool, said: str
) -> None:
    observation = replace(seen(file, FAILS, 10), ops=ops, lacking=lacking)
    findings = [finding(effect=Effect.TPU, **more) for more in found]  # type: ignore[arg-type]
    report = judge(file, Outcome(calls=EQUAL, observations=(observation,)), *findings)
    [only] = [one for one in report.findings if one.code == PROBE_ONLY]
    assert only.message.startswith(f"{said}, and ")


_CREATES = "ValueError: tf.function only supports singleton tf.Variables created on the first call"
_VARIABLE: dict[str, object] = {"code": "XLA409", "name": "variable-inside"}


@pytest.mark.parametrize(
    ("found", "lines", "said"),
    [
        ([], (10,), "XLA409 is about such errors, but did not find this one"),
        ([{"line": 4, **_VARIABLE}], (10,), "XLA409 reports line 4"),
        ([{"line": 4, **_VARIABLE}, {"line": 9}], (10,), "XLA409 reports line 4"),
        ([{"line": 4}], (10,), "XLA409 is about such errors, but did not find this one"),
        ([{"line": 30, **_VARIABLE}], (10, 20), "XLA409 reports line 30"),  # on the way there
        ([{"line": 90, **_VARIABLE}], (10, 20), "XLA409 is about such errors, but did not find this one"),
        ([{"line": 7, "path": "b.py", **_VARIABLE}], (10,), "XLA409 is about such errors, but did not find this one"),
    ],
)
def test_an_error_is_linked_to_the_rule_that_it_is_known_to_be_about(
    file: Path, found: list[dict[str, object]], lines: tuple[int, ...], said: str
) -> None:
    observation = replace(seen(file, FAILS, *lines), text=_CREATES)
    findings = [finding(effect=Effect.TPU, **more) for more in found]  # type: ignore[arg-type]
    report = judge(file, Outcome(calls=EQUAL, observations=(observation,)), *findings)
    [only] = [one for one in report.findings if one.code == PROBE_ONLY]
    assert only.message.startswith(f"{said}, and ")


def test_a_link_to_another_file_names_it(file: Path) -> None:
    other = file.with_name("b.py")
    spots = (Spot(str(file), 10), Spot(str(other), 5))
    observation = replace(seen(file, FAILS), spots=spots, text=_CREATES)
    made = finding(7, Effect.TPU, path="b.py", code="XLA409", name="variable-inside")
    report = judge(file, Outcome(calls=EQUAL, observations=(observation,)), made)
    [only] = [one for one in report.findings if one.code == PROBE_ONLY]
    assert only.message.startswith("XLA409 reports b.py:7, and ")


@pytest.mark.parametrize(("api", "confirmed"), [("tf.sparse.reshape", False), ("tf.reshape", True)])
def test_a_missing_kernel_is_not_confirmed_by_compilations(file: Path, api: str, confirmed: bool) -> None:
    report = judge(file, Outcome(calls=EQUAL, observations=(seen(file, RECOMPILES, 10),)), finding(10, api=api))
    assert ((10, CONFIRMED) in statuses(report)) is confirmed


LEFT = """\
def f(x, n):
    for i in range(n):
        for j in range(2):
            x = x + j
        if x[i] > 0.5:
            break
        if x[i] < 0.0:
            return x
    return x
"""


@pytest.mark.parametrize(
    ("text", "head", "line", "status"),
    [
        ("break and return statements which depend on a TF condition are not supported", 2, 6, CONFIRMED),
        ("break and return statements which depend on a TF condition are not supported", 3, 6, OPEN),
        ("break and return statements which depend on a TF condition are not supported", 2, 8, OPEN),
        ("Iterating over a symbolic tensor", 2, 6, OPEN),
    ],
)
def test_what_leaves_a_loop(file: Path, text: str, head: int, line: int, status: str) -> None:
    file.write_text(LEFT)
    made = Observation(FAILS, text, (Spot(str(file), head),))
    left = replace(finding(line), name="leave-loop-on-tensor")
    report = judge(file, Outcome(calls=EQUAL, observations=(made,)), left)
    assert [one.verdict.status for one in report.findings if one.name == left.name and one.verdict] == [status]
    assert any(one.code == PROBE_ONLY for one in report.findings) is (status == OPEN)
