"""The checklist: what has to be so before a program moves to a TPU, and how findings and evidence decide each line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from ..findings.codes import rule_names
from ..findings.findings import Effect, Finding, Problem, Severity
from ..linter.run import observe
from ..probe.protocol import Lowering
from ..reports.terminal import place
from ..settings.config import Settings
from .evidence import UNSEEN_CALL, watchers

_COMPILED_CODE: Final = "compiled-code"
_EVERYWHERE: Final = ("XLA1", "XLA2", "XLA4")  # rules about every compiler, not only that of a TPU


class State(StrEnum):
    """`ok` needs something that was seen to be right: that nothing wrong was found is `not seen`."""

    OK = "ok"
    ATTENTION = "attention"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the list as it is asked. `codes`: the rules, by prefix, whose findings want attention; `evidence`: the
    watcher that speaks for it; `look`: the next step where nothing was seen."""

    name: str
    title: str
    codes: tuple[str, ...]
    evidence: str
    look: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What a TPU's compiler says of one function or model: `tpu-compiles`, `tpu-bounded`, `tpu-fails` or `not run`.

    `told`: a line for each thing that it says, or why it says nothing; `how`, `inputs`: what was compiled, and with
    what; `seconds`: for all of it.
    """

    path: str
    line: int
    function: str
    outcome: str
    told: tuple[str, ...]
    programs: tuple[Lowering, ...] = ()
    how: str = ""
    inputs: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A line with its answer. `proofs`: what a compiler said, where it was asked; `unseen`: the calls of compiled code
    that keep the evidence from being enough; `suppressed`: the findings that a comment hides, which do so, too."""

    line: Line
    state: State
    findings: tuple[Finding, ...]
    evidence: tuple[Finding, ...]
    proofs: tuple[Proof, ...] = ()
    unseen: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()

    @property
    def next_step(self) -> str | None:
        """What to do now; None where the line is fine."""
        match self.state:
            case State.OK:
                return None
            case State.NOT_SEEN if self.unseen:
                first = self.unseen[0]
                others = f" and {len(self.unseen) - 1} more" if len(self.unseen) > 1 else ""
                where = place(first.path, first.cell, first.span.line)
                return f"what {first.message} does was not seen ({where}{others}): {_NOT_ALL}"
            case State.NOT_SEEN if self.suppressed:
                codes = " ".join(dict.fromkeys(finding.code for finding in self.suppressed))
                first = self.suppressed[0]
                return f"a comment suppresses {codes} ({place(first.path, first.cell, first.span.line)})"
            case State.NOT_SEEN:
                return self.line.look
            case State.ATTENTION if self.proofs:
                return self.line.look
            case State.ATTENTION:
                codes = " ".join(dict.fromkeys(finding.code for finding in self.findings))
                return f"`xlalint explain {codes}` says what to write instead"


@dataclass(frozen=True, slots=True)
class Readiness:
    """The whole list, and what the tool could not do."""

    answers: tuple[Answer, ...]
    problems: tuple[Problem, ...]
    files_checked: int

    @property
    def wants_attention(self) -> bool:
        return any(answer.state is State.ATTENTION for answer in self.answers)


_NO_CODE: Final = "no compiled code was seen: pass the files of the model, its layers and its losses, too"
_NOT_ALL: Final = "pass its files, too, or compile it for a TPU (`--prove`)"
_NO_STRATEGY: Final = "no TPU strategy was seen to train a model: pass the training script, too"
LINES: Final = (
    Line("control-flow", "control flow does not depend on data", ("XLA1",), _COMPILED_CODE, _NO_CODE),
    Line("shapes", "shapes do not depend on data", ("XLA2",), _COMPILED_CODE, _NO_CODE),
    Line(
        "recompilation",
        "all batches have one shape, or few",
        ("XLA3", "XLA515"),
        "recompilation",
        "the batch shapes are unknown: pad to a fixed length (`xlalint padding`) and use `drop_remainder=True`",
    ),
    Line("kernels", "every operation has a kernel", ("XLA4", "XLA507"), _COMPILED_CODE, _NO_CODE),
    Line(
        "compiled-once",
        "`jit_compile=True` was asked for on a CPU or GPU",
        (),
        "compiled-once",
        "train a few steps with `model.compile(.., jit_compile=True)` outside a strategy, on a CPU or one GPU",
    ),
    Line(
        "data",
        "the data is in memory, or where the TPU can read it",
        ("XLA504", "XLA511"),
        "data",
        "no data source was seen: keep the data in memory (`from_tensor_slices`) or as TFRecord files in gs://",
    ),
    Line(
        "initialisation",
        "the TPU is initialised before its strategy is created",
        ("XLA503",),
        "initialisation",
        "connect, `initialize_tpu_system(resolver)`, and only then `TPUStrategy(resolver)`",
    ),
    Line(
        "scope",
        "model, optimizer and metrics are created in `strategy.scope()`",
        ("XLA502", "XLA512"),
        "scope",
        f"{_NO_STRATEGY}, with `with strategy.scope():` around the code that creates the model",
    ),
    Line("jit-compile", "`jit_compile=True` is removed again", ("XLA501",), "jit-compile", _NO_STRATEGY),
    Line("eager", "nothing runs eagerly", ("XLA506",), "eager", _NO_STRATEGY),
)


def examine(paths: Sequence[str | Path], settings: Settings) -> Readiness:
    """The checklist of the program in these files and folders."""
    # A rule that is not run finds nothing wrong, and a program on its way to a TPU need not show one.
    every_rule = settings.everywhere(codes=frozenset(rule_names()), exposure="certain")
    report, observed, suppressed = observe(paths, every_rule, watchers())
    answers = tuple(_answer(line, report.findings, observed, suppressed) for line in LINES)
    return Readiness(answers, report.problems, report.files_checked)


def _is_against(finding: Finding, line: Line) -> bool:
    """Whether a finding keeps a line from being right. What fails for every compiler was never compiled once."""
    if line.evidence == "compiled-once" and finding.code.startswith(_EVERYWHERE):
        return finding.effect is Effect.FAILS and finding.severity is Severity.ERROR
    return finding.code.startswith(line.codes or ("-",)) and finding.severity >= Severity.WARNING


def _answer(
    line: Line, findings: Iterable[Finding], observed: Iterable[Finding], suppressed: Iterable[Finding]
) -> Answer:
    """Findings decide before evidence does; what only informs decides nothing, and what a comment suppresses was not
    seen to be right."""
    against = tuple(finding for finding in findings if _is_against(finding, line))
    speaking = tuple(seen for seen in observed if seen.code == line.evidence)
    unseen = tuple(seen for seen in observed if seen.code == UNSEEN_CALL) if line.evidence == _COMPILED_CODE else ()
    hidden = tuple(finding for finding in suppressed if _is_against(finding, line))
    state = State.ATTENTION if against else State.OK if speaking and not (unseen or hidden) else State.NOT_SEEN
    return Answer(line, state, against, speaking, unseen=unseen if speaking else (), suppressed=hidden)
