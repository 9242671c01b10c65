"""What is printed: frames and carets, one-liners, the JSON contract, the last lines."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.findings.findings import (
    Edit,
    Effect,
    Exposure,
    Finding,
    FindingContext,
    Fix,
    Note,
    Problem,
    Report,
    Safety,
    Severity,
    Span,
    TrailStep,
)
from xlalint.reports.concise import concise
from xlalint.reports.full import full
from xlalint.reports.json import json_report
from xlalint.reports.summary import statistics, summary
from xlalint.reports.terminal import Paint, laid_out, safe

PLAIN = Paint(on=False)
START = Span(1, 1, 1, 2)
START_KEYS = {"line": 1, "column": 1, "end_line": 1, "end_column": 2}


def finding(span: Span = START, severity: Severity = Severity.ERROR, **changes: object) -> Finding:
    values: dict[str, object] = {
        "path": "pkg/a.py",
        "span": span,
        "code": "XLA201",
        "name": "boolean-mask",
        "severity": severity,
        "effect": Effect.DIVERGES,
        "message": "the shape depends on data",
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def frame(source: str, one: Finding) -> list[str]:
    return full(Report((one,)), PLAIN, lambda path, cell: source.split("\n")).split("\n")


@pytest.mark.parametrize("count", [3, 4, 10])
def test_full_shows_a_few_notes_and_says_how_many_there_are(count: int) -> None:
    notes = tuple(Note("pkg/a.py", Span(number, 1, number, 2), f"way {number}") for number in range(1, count + 1))
    shown = frame("x\n" * count, finding(notes=notes))
    assert [line.strip() for line in shown if "note: " in line] == [f"note: way {number}" for number in (1, 2, 3)]
    more = [line.strip() for line in shown if "notes: " in line]
    assert more == ([f"= notes: {count - 3} more; list them with `--output-format json`"] if count > 3 else [])
    assert len(json.loads(json_report(Report((finding(notes=notes),))))["findings"][0]["notes"]) == count


@pytest.mark.parametrize(("severity", "shown"), [(Severity.INFO, 3), (Severity.WARNING, 5)])
def test_full_shows_a_few_of_what_a_rule_informs_of(severity: Severity, shown: int) -> None:
    found = tuple(finding(Span(number, 1, number, 2), severity=severity) for number in range(1, 6))
    text = full(Report(found), PLAIN, lambda path, cell: ["x"] * 5)
    assert text.count("--> pkg/a.py:") == shown
    more = "info[XLA201] boolean-mask: 2 more in 1 file; list them with `--output-format concise`\n"
    assert (more in text) == (shown < len(found))


def test_full_shows_source_notes_trail_help_and_page() -> None:
    one = finding(
        Span(10, 5, 10, 13),
        context=FindingContext(
            "xla",
            False,
            (TrailStep("train.py", 3, "train_step"), TrailStep("pkg/a.py", 8, "pick")),
            Exposure.LIKELY,
            "`fit` (train.py:9)",
        ),
        help="keep the shape:\nm = tf.where(x > 0,\n             x, 0.0)",
        notes=(Note("pkg/b.py", Span(2, 1, 2, 4), "feeds `tf.cumsum`"),),
    )
    sources = {"pkg/a.py": [""] * 9 + ["m = x[x > 0]"[:4] + "x[x > 0]"], "pkg/b.py": ["", "abc"]}
    assert full(Report((one,)), PLAIN, lambda path, cell: sources[path]) == (
        "error[XLA201] boolean-mask: the shape depends on data\n"
        "  --> pkg/a.py:10:5\n"
        "   |\n"
        "10 | m = x[x > 0]\n"
        "   |     ^^^^^^^^\n"
        "   |\n"
        "   note: feeds `tf.cumsum`\n"
        "  --> pkg/b.py:2:1\n"
        "   |\n"
        " 2 | abc\n"
        "   | ---\n"
        "   |\n"
        "   = reached: `train_step` (train.py:3)\n"
        "              -> `pick` (pkg/a.py:8)\n"
        "   = may be compiled: `fit` (train.py:9)\n"
        "   = help: keep the shape:\n"
        "           m = tf.where(x > 0,\n"
        "                        x, 0.0)\n"
        "   = more: xlalint explain XLA201\n"
        "\n"
    )


@pytest.mark.parametrize(
    ("source", "span", "shown", "marks"),
    [
        ("\tx[m]", Span(1, 2, 1, 6), "    x[m]", "    ^^^^"),
        ("a\tx[m]", Span(1, 3, 1, 7), "a   x[m]", "    ^^^^"),
        ("日本 = x[m]", Span(1, 6, 1, 10), "日本 = x[m]", "       ^^^^"),
        ("x['日本']", Span(1, 1, 1, 8), "x['日本']", "^^^^^^^^^"),
        ("e\u0301 = x[m]", Span(1, 6, 1, 10), "e\u0301 = x[m]", "    ^^^^"),
        ("'\x1b[31m' + x", Span(1, 11, 1, 12), "'\\x1b[31m' + x", "             ^"),
        ("'\u202e' + x", Span(1, 7, 1, 8), "'\\u202e' + x", "           ^"),
        ("x", Span(1, 2, 1, 2), "x", " ^"),  # an empty span at the line's end
    ],
)
def test_carets_stand_under_the_code(source: str, span: Span, shown: str, marks: str) -> None:
    lines = frame(source, finding(span))
    assert lines[3] == f"1 | {shown}"
    assert lines[4] == f"  | {marks}"


@pytest.mark.parametrize(("last", "between"), [(4, ["b", "c"]), (12, ["b", "...", "k"])])
def test_a_fix_shows_what_stays_between_its_changes(last: int, between: list[str]) -> None:
    source = "abcdefghijklm"
    edits = (Edit(Span(1, 1, 1, 2), "A"), Edit(Span(last, 1, last, 2), "L"))
    lines = frame("\n".join(source), finding(fix=Fix(Safety.SAFE, "Write large", edits)))
    title = next(at for at, line in enumerate(lines) if line.endswith("= fix, safe: Write large"))
    shown = [line.partition("|")[2].strip() for line in lines[title + 1 :] if "|" in line]
    assert shown == ["a", "A", *between, source[last - 1], "L"]


def test_a_long_span_is_cut_in_the_middle() -> None:
    source = "y = f(\n    1,\n    2,\n    3,\n    4,\n)"
    assert frame(source, finding(Span(1, 5, 6, 2)))[2:-3] == [
        "  |",
        "1 | y = f(",
        "  |     ^^",
        "2 |     1,",
        "  |     ^^",
        "  ...",
        "6 | )",
        "  | ^",
        "  |",
    ]


def test_a_file_that_has_changed_is_not_shown() -> None:
    assert frame("only one line", finding(Span(7, 1, 7, 2)))[1:3] == [
        " --> pkg/a.py:7:1",
        "  = more: xlalint explain XLA201",
    ]


@given(st.text(max_size=30), st.integers(1, 40), st.integers(1, 40))
def test_no_source_breaks_the_frame_or_reaches_the_terminal_raw(text: str, column: int, end: int) -> None:
    line = text.replace("\n", "")
    for shown in frame(line, finding(Span(1, column, 1, max(column, end)), message=text, path=text)):
        assert shown == safe(shown)


@given(st.text(max_size=30))
def test_columns_never_run_backwards(line: str) -> None:
    shown, columns = laid_out(line)
    assert columns == sorted(columns)
    assert len(columns) == len(line) + 1
    assert len(shown) <= columns[-1] + len(line)  # combining characters take no column


def test_colour_only_where_wanted() -> None:
    report = Report((finding(),))
    assert "\x1b[" in full(report, Paint(on=True), lambda path, cell: ["x"])
    assert "\x1b[" not in full(report, PLAIN, lambda path, cell: ["x"])


def test_concise_is_one_line_each() -> None:
    report = Report((finding(Span(3, 4, 3, 9)), finding(cell=2, path="n.ipynb")))
    assert concise(report, PLAIN) == (
        "pkg/a.py:3:4: XLA201 the shape depends on data\nn.ipynb:cell 2:1:1: XLA201 the shape depends on data\n"
    )


def test_json_is_the_contract() -> None:
    one = finding(
        Span(3, 4, 3, 9),
        context=FindingContext("xla", True, (TrailStep("t.py", 1, "step"),)),
        help="é",
        notes=(Note("b.py", Span(1, 1, 1, 2), "here"),),
        fix=Fix(Safety.UNSAFE, "pad", (Edit(Span(3, 4, 3, 9), "x"),), "for odd sizes"),
    )
    own = finding(code="XLA900", name="syntax-error", effect=None, severity=Severity.WARNING)
    text = json_report(Report((one, own), (Problem("c.py", "no"),), 4))
    assert text.isascii()
    assert json.loads(text) == {
        "version": 1,
        "findings": [
            {
                "path": "pkg/a.py",
                "cell": None,
                "line": 3,
                "column": 4,
                "end_line": 3,
                "end_column": 9,
                "code": "XLA201",
                "name": "boolean-mask",
                "severity": "error",
                "effect": "diverges",
                "backends": None,
                "message": "the shape depends on data",
                "help": "é",
                "notes": [{"path": "b.py", "cell": None, **START_KEYS, "text": "here"}],
                "context": {
                    "kind": "xla",
                    "autograph": True,
                    "exposure": "certain",
                    "shown": None,
                    "backend": None,
                    "trail": [{"path": "t.py", "cell": None, "line": 1, "name": "step"}],
                },
                "fix": {
                    "safety": "unsafe",
                    "title": "pad",
                    "differs": "for odd sizes",
                    "edits": [{"cell": None, "line": 3, "column": 4, "end_line": 3, "end_column": 9, "text": "x"}],
                },
                "verdict": None,
            },
            {
                "path": "pkg/a.py",
                "cell": None,
                "line": 1,
                "column": 1,
                "end_line": 1,
                "end_column": 2,
                "code": "XLA900",
                "name": "syntax-error",
                "severity": "warning",
                "effect": None,
                "backends": None,
                "message": "the shape depends on data",
                "help": None,
                "notes": [],
                "context": None,
                "fix": None,
                "verdict": None,
            },
        ],
        "errors": [{"path": "c.py", "message": "no"}],
        "summary": {
            "files_checked": 4,
            "files_with_findings": 1,
            "findings": 2,
            "fixed": 0,
            "severities": {"error": 1, "warning": 1, "info": 0},
            "codes": {"XLA201": 1, "XLA900": 1},
        },
    }


@pytest.mark.parametrize(
    ("severities", "files", "text"),
    [
        ((), 5, "No findings (5 files checked).\n"),
        ((Severity.ERROR,), 1, "Found 1 error in 1 file (1 file checked).\n"),
        (
            (Severity.WARNING, Severity.ERROR, Severity.ERROR),
            5,
            "Found 2 errors, 1 warning in 1 file (5 files checked).\n",
        ),
        ((Severity.INFO, Severity.INFO), 2, "Found 2 info findings in 1 file (2 files checked).\n"),
    ],
)
def test_summary(severities: Sequence[Severity], files: int, text: str) -> None:
    report = Report(tuple(finding(severity=severity) for severity in severities), (), files)
    assert summary(report, PLAIN) == text


def test_statistics_are_ranked() -> None:
    often = finding(code="XLA301", name="other")
    report = Report((finding(), *[often] * 10))
    assert statistics(report) == "10  XLA301  other\n 1  XLA201  boolean-mask\n"
