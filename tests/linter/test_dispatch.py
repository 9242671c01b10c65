"""What becomes of events: drafts of one place are one finding, with the severity that effect and context give it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest

from tests.samples import HAZARD
from xlalint.analysis.domain.values import UNKNOWN
from xlalint.analysis.files.file import File
from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.contexts import CallPath, Context, ContextKind, Run
from xlalint.analysis.interpreter.events import ApiCall, AssertOn, BranchOn, Event
from xlalint.analysis.interpreter.interpreter import ProjectInterpreter
from xlalint.findings.findings import Effect, Finding, FindingContext, Note, Safety, Severity, Span, TrailStep
from xlalint.fixes.names import Names
from xlalint.fixes.rewrite import NodeEdit, Rewrite
from xlalint.linter.dispatch import Dispatcher
from xlalint.linter.gravest import Candidate, gravest_of
from xlalint.linter.policies import Policy
from xlalint.linter.rule import Draft, DraftNote, Rule
from xlalint.linter.run import Stdin, check
from xlalint.linter.severities import severity_of
from xlalint.settings.config import Settings
from xlalint.sources.discovery import PathPatterns
from xlalint.sources.outline import Stretch
from xlalint.sources.text import Source
from xlalint.syntax import nodes as cst

XLA, GRAPH, OPEN, HOST = (
    Context(kind, autograph=False) for kind in (ContextKind.XLA, ContextKind.GRAPH, ContextKind.OPEN, ContextKind.HOST)
)

RUN = Run([], ())


@pytest.fixture
def location(tmp_path: Path) -> Location:
    """The whole first statement of a file of two."""
    source = Source(tmp_path / "a.py", "a.py", "first(1)\nsecond(2)\n", "")
    unit = Unit(File(source), Stretch(1, 2))
    return Location(unit, unit.body[0].children[0])


def other(location: Location) -> Location:
    return location.at(location.unit.body[1].children[0])


def asserted(location: Location, context: Context = XLA, trail: CallPath | None = None) -> AssertOn:
    return AssertOn(location, context, trail, in_tensor_loop=False, test=UNKNOWN)


class Scripted(Rule):
    """Answers each event with the next draft of a script."""

    code, name, handles = "XLA105", "scripted", (AssertOn,)

    def __init__(self, *drafts: Draft) -> None:
        self.drafts = list(drafts)

    def check(self, event: Event) -> Iterator[Draft]:
        yield self.drafts.pop(0)


def findings(rule: Rule, *events: Event) -> list[Finding]:
    dispatcher = Dispatcher([rule])
    for event in events:
        dispatcher.handle(event, RUN)
    return said(dispatcher)


def said(
    dispatcher: Dispatcher,
    linted: Callable[[str], bool] = lambda path: True,
    severities: Mapping[str, Severity] = MappingProxyType({}),
) -> list[Finding]:
    return list(gravest_of(dispatcher.candidates(linted, lambda path: Policy(severities=severities))))


@pytest.mark.parametrize(
    ("effect", "kind", "severity"),
    [
        (Effect.FAILS, ContextKind.XLA, Severity.ERROR),
        (Effect.DIVERGES, ContextKind.XLA, Severity.ERROR),
        (Effect.RECOMPILES, ContextKind.XLA, Severity.WARNING),
        (Effect.NAMED, ContextKind.XLA, Severity.WARNING),
        (Effect.TPU, ContextKind.XLA, Severity.WARNING),
        (Effect.FAILS, ContextKind.GRAPH, Severity.WARNING),
        (Effect.FAILS, ContextKind.OPEN, Severity.WARNING),
        (Effect.FAILS, ContextKind.HOST, Severity.INFO),
    ],
)
def test_severity(effect: Effect, kind: ContextKind, severity: Severity) -> None:
    assert severity_of(effect, kind) is severity


def test_what_sets_a_program_up_is_not_only_information() -> None:
    assert severity_of(Effect.FAILS, ContextKind.HOST, about_setup=True) is Severity.ERROR
    assert severity_of(Effect.TPU, ContextKind.HOST, about_setup=True) is Severity.WARNING


def test_a_draft_becomes_a_finding_at_its_place(location: Location) -> None:
    trail = CallPath("inner", other(location), CallPath("outer", location))
    draft = Draft("message", Effect.FAILS, "help", notes=(DraftNote(other(location), "there"),))
    assert findings(Scripted(draft), asserted(location, trail=trail)) == [
        Finding(
            path="a.py",
            span=Span(1, 1, 1, 9),
            code="XLA105",
            name="scripted",
            severity=Severity.ERROR,
            effect=Effect.FAILS,
            message="message",
            context=FindingContext("xla", False, (TrailStep("a.py", 1, "outer"), TrailStep("a.py", 2, "inner"))),
            help="help",
            notes=(Note("a.py", Span(2, 1, 2, 10), "there"),),
        )
    ]


def test_drafts_of_one_place_are_merged(location: Location) -> None:
    note = DraftNote(other(location), "there")
    rule = Scripted(
        Draft("named", Effect.NAMED, "help", notes=(note,)),
        Draft("diverges", Effect.DIVERGES, location=location, notes=(note, DraftNote(location, "itself"))),
        Draft("recompiles", Effect.RECOMPILES, "other help"),
    )
    [merged] = findings(rule, asserted(location), asserted(other(location)), asserted(location, OPEN))
    assert (merged.message, merged.effect, merged.severity) == ("diverges", Effect.DIVERGES, Severity.ERROR)
    assert merged.help == "help"
    assert [note.text for note in merged.notes] == ["there"]


def test_the_gravest_context_speaks(location: Location) -> None:
    rule = Scripted(Draft("here", Effect.FAILS), Draft("there", Effect.FAILS), Draft("host", Effect.FAILS))
    [merged] = findings(rule, asserted(location, OPEN), asserted(location, XLA), asserted(location, HOST))
    assert merged.message == "there"
    assert merged.context == FindingContext("xla", False)


def test_rules_hear_only_what_they_listen_to(location: Location) -> None:
    class Calls(Rule):
        code, name, handles, apis = "XLA201", "calls", (ApiCall, BranchOn), frozenset(("tf.unique",))

        def check(self, event: Event) -> Iterator[Draft]:
            yield Draft(type(event).__name__ + getattr(event, "api", ""), Effect.NAMED)

    def call(api: str, where: Location) -> ApiCall:
        node = cst.Call(cst.Name("f"))
        return ApiCall(where, GRAPH, None, False, api, {}, {}, UNKNOWN, node)

    dispatcher = Dispatcher([Calls()])
    assert dispatcher.wanted_apis == {"tf.unique"}
    for event in (call("tf.unique", location), call("tf.where", other(location)), asserted(other(location))):
        dispatcher.handle(event, RUN)
    assert [finding.message for finding in said(dispatcher)] == ["ApiCalltf.unique"]


def test_only_linted_files_are_reported_and_severities_can_be_set(location: Location) -> None:
    dispatcher = Dispatcher([Scripted(Draft("message", Effect.FAILS))])
    dispatcher.handle(asserted(location), RUN)
    assert said(dispatcher, linted=lambda path: path != "a.py") == []
    [finding] = said(dispatcher, severities={"XLA105": Severity.INFO})
    assert finding.severity is Severity.INFO


# -- whole runs -------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_a_hazard_is_found_where_it_stands(project: Path) -> None:
    (project / "step.py").write_text(HAZARD)
    report = check(["."], Settings())
    [finding] = report.findings
    assert (finding.path, finding.span, finding.code) == ("step.py", Span(6, 8, 6, 31), "XLA101")
    assert (finding.severity, finding.effect) == (Severity.ERROR, Effect.FAILS)
    assert report.files_checked == 1


def test_a_hazard_in_a_helper_that_names_no_tensorflow(project: Path) -> None:
    (project / "helper.py").write_text("def halve(x):\n    if x > 10.0:\n        x = x / 2.0\n    return x\n")
    (project / "main.py").write_text(
        "import tensorflow as tf\nfrom helper import halve\n\n\n"
        "@tf.function(jit_compile=True, autograph=False)\ndef step(x: tf.Tensor):\n    return halve(x)\n"
    )
    for paths in (["."], ["helper.py", "main.py"]):
        [finding] = check(paths, Settings()).findings
        assert (finding.path, finding.span.line) == ("helper.py", 2)
        assert finding.context is not None
        assert next(step.path for step in finding.context.trail) == "main.py"
    # a file that is only imported is not reported on
    assert check(["main.py"], Settings()).findings == ()


def test_a_hazard_in_a_module_that_is_imported_by_its_name(project: Path) -> None:
    (project / "helper.py").write_text("def halve(x):\n    if x > 10.0:\n        x = x / 2.0\n    return x\n")
    for given in ('"helper"', 'name="helper"', 'name="helper", package=None'):
        (project / "main.py").write_text(
            f"import importlib\nimport tensorflow as tf\n\nhelper = importlib.import_module({given})\n\n\n"
            "@tf.function(jit_compile=True, autograph=False)\ndef step(x: tf.Tensor):\n    return helper.halve(x)\n"
        )
        report = check(["."], Settings())
        assert not report.problems
        assert [(finding.path, finding.span.line) for finding in report.findings] == [("helper.py", 2)]


STEP: Final = "@tf.function(jit_compile=True, autograph=False)\ndef step(x: tf.Tensor):\n    return loss(x)\n"
PUNISH: Final = (
    "import tensorflow as tf\n\ndef punish(x):\n    if tf.reduce_sum(x) > 0:\n        return x\n    return -x\n\n"
)
REGISTRY: Final = """\
TABLE = {}

def register(name, build):
    TABLE[name] = build
    return lambda cls: cls

class Loss:
    def __init_subclass__(cls, name, build):
        TABLE[name] = build

def loss(x):
    return TABLE["l2"](x)

"""


@pytest.mark.parametrize(
    ("between", "lines"),
    {
        "a default": ("def loss(\n    x,\n    penalty=lambda x: punish(x),\n):\n    return penalty(x)\n\n", [12, 10]),
        "an argument of a decorator": (
            f"{REGISTRY}@register(\n    'l2',\n    build=lambda x: (\n        punish(x)),\n)\nclass L2:\n    pass\n\n",
            [19, 24],
        ),
        "a keyword of a class": (
            f"{REGISTRY}class L2(Loss, name='l2',\n         build=lambda x: (\n        punish(x))):\n    pass\n\n",
            [19, 23],
        ),
    }.values(),
)
def test_a_function_around_a_definition_is_shown_in_its_lines(project: Path, between: str, lines: list[int]) -> None:
    text = PUNISH + between + STEP
    (project / "step.py").write_text(text)
    [finding] = check(["."], Settings()).findings
    assert (finding.code, finding.span.line) == ("XLA101", 4)
    assert finding.context is not None
    # The first is where the entry point stands, the others are the calls that lead on.
    entry = text.splitlines().index("def step(x: tf.Tensor):") + 1
    assert [step.line for step in finding.context.trail] == [entry, entry + 1, *lines]


def test_files_are_judged_with_their_callers_where_the_project_is_named(project: Path) -> None:
    (project / "helper.py").write_text("def halve(x):\n    if x > 10.0:\n        x = x / 2.0\n    return x\n")
    (project / "pkg").mkdir()
    caller = HAZARD.replace("    return x", "    import helper\n    return helper.halve(x)")
    (project / "pkg" / "main.py").write_text(caller)
    (project / "broken.ipynb").write_text("")
    alone, around = Settings(), Settings(project=project)
    whole = check(["."], alone)
    assert [finding.path for finding in whole.findings if finding.code == "XLA101"] == ["helper.py", "pkg/main.py"]
    for name in ("helper.py", "pkg/main.py", "broken.ipynb"):
        report = check([name], around)
        assert report.findings == tuple(finding for finding in whole.findings if finding.path == name)
        assert [problem.path for problem in report.problems] == [name] * (name == "broken.ipynb")
        assert report.files_checked == (name != "broken.ipynb")
    assert check(["helper.py"], alone).findings == ()
    [finding] = check(["helper.py"], around, Stdin(Path("helper.py"), b"def halve(x):\n    return not x\n")).findings
    assert finding.code == "XLA104"


def test_comments_and_settings_switch_findings_off(project: Path) -> None:
    (project / "step.py").write_text(HAZARD.replace("10.0:", "10.0:  # xlalint: ignore[XLA101] measured"))
    assert check(["."], Settings()).findings == ()
    (project / "step.py").write_text(HAZARD)
    assert check(["."], Settings(codes=frozenset(("XLA201",)))).findings == ()
    ignores = ((PathPatterns(("step.py",), project), frozenset(("XLA101",))),)
    assert check(["."], Settings(per_file_ignores=ignores)).findings == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    if tf.reduce_sum(x) > 10.0:", "    if tf.reduce_sum(x) > 10.0:  # noqa: XLA101"),
        ("if tf.reduce_sum(x) > 10.0:", "if (  # xlalint: ignore[XLA1]\n        tf.reduce_sum(x) > 10.0\n    ):"),
        ("    if tf", "    # xlalint: ignore[XLA101] tested elsewhere\n    if tf"),
        ("    if tf", "    # xlalint: disable[XLA1]\n    if tf"),
        ("import", "# xlalint: file-ignore[XLA101]\nimport"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_form_of_suppression_covers_the_finding(project: Path, before: str, after: str, end: str) -> None:
    assert before in HAZARD
    (project / "step.py").write_bytes(HAZARD.replace(before, after).replace("\n", end).encode())
    assert check(["."], Settings()).findings == ()
    (project / "step.py").write_bytes(HAZARD.replace("\n", end).encode())
    assert [finding.code for finding in check(["."], Settings()).findings] == ["XLA101"]


@pytest.mark.parametrize("line", [1, 4, 5, 7, 8])
def test_a_suppression_elsewhere_covers_nothing_and_is_unused(project: Path, line: int) -> None:
    lines = HAZARD.splitlines()
    lines[line - 1] += "  # xlalint: ignore[XLA101]"
    (project / "step.py").write_text("\n".join(lines) + "\n")
    found = check(["."], Settings()).findings
    assert [(finding.code, finding.span.line) for finding in found] == sorted(
        [("XLA101", 6), ("XLA901", line)], key=lambda pair: pair[1]
    )


def test_unused_and_invalid_suppressions_are_findings(project: Path) -> None:
    (project / "a.py").write_text("x = 1  # xlalint: ignore[XLA101]\ny = 2  # xlalint: ignore[XLA000]\n")
    found = check(["."], Settings()).findings
    assert [(finding.code, finding.span.line, finding.severity) for finding in found] == [
        ("XLA901", 1, Severity.WARNING),
        ("XLA902", 2, Severity.WARNING),
    ]


def test_broken_files_are_reported_and_the_rest_goes_on(project: Path) -> None:
    (project / "a_syntax.py").write_text("import tensorflow\ndef (:\n")
    (project / "b_bytes.py").write_bytes(b"import tensorflow\n'\xff'\n")
    (project / "c_gone.py").symlink_to(project / "nowhere")
    (project / "step.py").write_text(HAZARD)
    report = check(["."], Settings())
    assert [(finding.path, finding.code) for finding in report.findings] == [
        ("a_syntax.py", "XLA900"),
        ("b_bytes.py", "XLA903"),
        ("c_gone.py", "XLA903"),
        ("step.py", "XLA101"),
    ]
    assert report.findings[0].span.line == 2
    assert [problem.path for problem in report.problems] == ["b_bytes.py", "c_gone.py"]
    assert report.files_checked == 2


def test_an_exception_of_the_analyser_costs_one_statement(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("broken")

    handlers: dict[type[cst.CSTNode], Any] = {**ProjectInterpreter.EXPRESSIONS, cst.Lambda: broken}
    monkeypatch.setattr(ProjectInterpreter, "EXPRESSIONS", handlers)
    (project / "a.py").write_text("g = lambda x: x\n" + HAZARD)
    (project / "b.py").write_text(HAZARD)
    report = check([project], Settings(cache_dir=None))
    assert {finding.path for finding in report.findings} == {"a.py", "b.py"}
    (problem,) = report.problems
    assert (problem.path, problem.detail.splitlines()[-1]) == ("a.py", "KeyError: 'broken'")
    assert "line 1: internal error" in problem.message


def test_a_function_that_calls_itself_with_its_arguments_in_another_order(project: Path) -> None:
    """What is learned of its parameters passes on to itself, while it is learned."""
    body = "    for key in first:\n        third[key] = tf.ones([])\n    first.keys()\n"
    code = f"import tensorflow as tf\n\ndef walk(first, second, third):\n{body}    return walk(second, third, first)\n"
    (project / "a.py").write_text(code)
    assert not check([project], Settings(cache_dir=None)).problems


def test_an_exception_of_a_rule_costs_one_event(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(Dispatcher, "handle", broken)
    (project / "a.py").write_text(HAZARD)
    problems = check([project], Settings(cache_dir=None)).problems
    assert problems
    assert all("applying the rules" in problem.message for problem in problems)


# -- fixes ------------------------------------------------------------------------------------------------------------


def rewriting(text: str | None, safety: Safety = Safety.SAFE) -> Draft:
    """A draft whose rewrite puts `text` into the place; None: it has no rewrite for what it heard."""

    def build(names: Names) -> Rewrite | None:
        differs = "at times" if safety is Safety.UNSAFE else ""
        return None if text is None else Rewrite("title", (NodeEdit(names.location, text),), safety, differs)

    return Draft("message", Effect.FAILS, rewrite=build)


@pytest.mark.parametrize(
    ("drafts", "text", "safety"),
    [
        ([rewriting("a")], "a", Safety.SAFE),
        ([rewriting("a"), rewriting("a", Safety.UNSAFE)], "a", Safety.UNSAFE),
        ([rewriting("a"), Draft("elsewhere", Effect.FAILS)], "a", Safety.SAFE),
        ([rewriting("a"), rewriting("b")], None, None),
        ([rewriting("a"), rewriting(None)], None, None),
        ([Draft("message", Effect.FAILS)], None, None),
    ],
)
def test_all_who_rewrite_a_place_must_agree(
    location: Location, drafts: list[Draft], text: str | None, safety: Safety | None
) -> None:
    [finding] = findings(Scripted(*drafts), *(asserted(location) for _ in drafts))
    assert (finding.fix and finding.fix.edits[0].text) == text
    assert (finding.fix and finding.fix.safety) == safety
    assert finding.help == text


def test_parts_that_disagree_have_no_fix(location: Location) -> None:
    parts: list[Candidate] = []
    for draft in (rewriting("a"), rewriting(None)):
        dispatcher = Dispatcher([Scripted(draft)])
        dispatcher.handle(asserted(location), RUN)
        parts += dispatcher.candidates(lambda path: True)
    assert parts[0].finding.fix is not None
    assert [finding.fix for finding in gravest_of(parts)] == [None]


def test_no_fix_is_built_for_what_is_about_jax_alone_where_nothing_runs_on_it(location: Location) -> None:
    built: list[Names] = []
    drafts = [Draft("message", Effect.FAILS, rewrite=built.append, on_jax_alone=alone) for alone in (True, False)]
    for draft, candidates in zip(drafts, (0, 1), strict=True):
        dispatcher = Dispatcher([Scripted(draft)])
        dispatcher.handle(asserted(location), RUN)
        found = list(dispatcher.candidates(lambda path: True, may_run_on_jax=lambda path: False))
        assert len(found) == candidates == len(built)


def test_a_rewrite_is_unsafe_that_an_analysis_of_the_function_has_no_use_for(location: Location) -> None:
    runs: list[Run] = []
    heard, silent, elsewhere = Run(runs, ()), Run(runs, ()), Run(runs, (location.node,))

    def safety() -> Safety | None:
        dispatcher = Dispatcher([Scripted(rewriting("a"))])
        dispatcher.handle(asserted(location), heard)
        [finding] = said(dispatcher)
        return finding.fix.safety if finding.fix is not None else None

    runs += [heard, elsewhere]  # the other analysis does not get to the place
    assert safety() is Safety.SAFE
    runs.append(silent)
    assert safety() is Safety.UNSAFE


@pytest.mark.parametrize(
    ("caller", "safety"),
    [
        ("helper(m, True)", Safety.SAFE),
        ("helper(m, True); helper(m, False)", Safety.SAFE),
        ("helper(m, True); helper(3, False)", Safety.SAFE),
        ("helper(m, True); helper(3, True)", Safety.UNSAFE),
        ("helper(m, True); helper(unknown, True)", Safety.UNSAFE),
    ],
)
def test_a_rewrite_holds_for_every_caller(tmp_path: Path, caller: str, safety: Safety) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import tensorflow as tf\nfrom elsewhere import unknown\n\n"
        "def helper(m, flag):\n    if flag:\n        return tf.cast(not m, tf.int32)\n    return m\n\n"
        "@tf.function(jit_compile=True, autograph=False)\ndef f(x):\n    m = tf.reduce_sum(x) > 1.0\n"
        f"    {caller}\n    return x\n"
    )
    [finding] = check([path], Settings()).findings
    assert finding.fix is not None
    assert finding.fix.safety is safety


def test_a_rewrite_that_breaks_is_a_problem_of_the_run(location: Location) -> None:
    dispatcher = Dispatcher([Scripted(rewriting("if"))])
    dispatcher.handle(asserted(location), RUN)
    [finding] = said(dispatcher)
    assert finding.fix is None
    [failure] = dispatcher.failures
    assert "internal error while building a fix" in failure.message
