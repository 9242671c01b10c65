"""What the linter reports: the vocabulary that rules fill in and reports print. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Final, TypeAlias

# A `cell` beside a line or span counts a notebook's cells from 1, those without code included, and the lines count
# within the cell; it is None in a plain file.


class Severity(IntEnum):
    """How much a finding matters; the order is the order of `--fail-on`."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        return self.name.lower()


class Effect(StrEnum):
    """What XLA does with the flagged code: a finding has an effect, not only a code."""

    FAILS = "fails"  # an error while tracing or compiling
    DIVERGES = "diverges"  # compiles, and the result differs from eager
    RECOMPILES = "recompiles"  # one compilation for every value or every shape
    TPU = "tpu"  # fine here, breaks or misbehaves on a TPU
    NAMED = "named"  # the rules of XLA forbid it, this TensorFlow compiles it


class Exposure(StrEnum):
    """How sure it is that XLA compiles anything of the program that a finding is in."""

    CERTAIN = "certain"  # it says so: `jit_compile=True`, a TPU strategy, `--target`
    LIKELY = "likely"  # Keras 3 decides, or whoever uses the package
    NONE = "none"  # nothing shows it


class Backend(StrEnum):
    """What Keras 3 runs on; XLA compiles for both."""

    TENSORFLOW = "tensorflow"
    JAX = "jax"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source: 1-based lines, 1-based columns in code points, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def lines(self) -> range:
        """The lines that the span touches; one whose beginning is its end is not among them."""
        whole = self.end_column == 1 and self.end_line > self.line
        return range(self.line, self.end_line + (not whole))


BY_KERAS: Final = "Keras calls"  # how a note begins that names all inputs of what Keras calls, and no single value


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that explains a finding: a consumer, the other end, an `elif` on the same value.

    `consumer`: what goes wrong there with what is flagged (the name of a call, `index`, `elif`), if that is so.
    """

    path: str
    span: Span
    text: str
    cell: int | None = None
    consumer: str = ""


@dataclass(frozen=True, slots=True, order=True)
class TrailStep:
    """One frame between the compiled entry point and the flagged line: where `name` is entered or called."""

    path: str
    line: int
    name: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class FindingContext:
    """How the flagged code is reached. `kind`: `xla`, `graph`, `open`, `host`; `exposure`: of its program, and `shown`,
    what shows that; `lowered`: it is less grave because nothing does. `backend`: why JAX is believed to run the code,
    where it is."""

    kind: str
    autograph: bool
    trail: tuple[TrailStep, ...] = ()
    exposure: Exposure = Exposure.CERTAIN
    shown: str = ""
    lowered: bool = False
    backend: str = ""


class Safety(StrEnum):
    """How far a rewrite computes what the original computes, from the least to the most."""

    DISPLAY = "display"  # a sketch for a person; never applied
    UNSAFE = "unsafe"  # the same on the inputs that it is meant for
    SAFE = "safe"  # the same values, dtypes, shapes and gradients for all inputs


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`; an empty span inserts."""

    span: Span
    text: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite: edits of the finding's file, in order and apart from each other. `differs` says where the result of
    an unsafe one is another; `imports` are the edits for names that the file lacks, which fixes may share."""

    safety: Safety
    title: str
    edits: tuple[Edit, ...]
    differs: str = ""
    imports: tuple[Edit, ...] = ()

    @property
    def all_edits(self) -> tuple[Edit, ...]:
        """Everything that the fix changes, in order."""
        return tuple(sorted((*self.imports, *self.edits), key=lambda edit: (edit.cell or 0, edit.span)))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the probe measured of a finding.

    `status`: `confirmed`, `refuted` (on this TensorFlow), `open` (it cannot tell, or nothing was run) or `probe-only`
    (no rule spoke). `outcome`: `fails`, `diverges`, `recompiles`, `bounded`, `compiles` or `not run`; `per` of a
    recompilation: `value` or `shape`; `line`: where it was seen; `gradient`: in the gradient only. `function`, `how`,
    `inputs`: what was run, and with what; `versions`: of what ran it; `backend`: what Keras computed with; `others`: of
    a program for several backends, what was measured with the others.
    """

    status: str
    outcome: str
    text: str
    function: str
    how: str = ""
    inputs: tuple[str, ...] = ()
    line: int | None = None
    per: str | None = None
    gradient: bool = False
    compilations: int = 0
    calls: int = 0
    device: str = "CPU"
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    backend: str = "tensorflow"
    others: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that must change. `api`: the canonical name of what is called there, if that is what is flagged.
    `backends`: what each backend makes of code that is for JAX, None: nothing; empty for code that is not."""

    path: str
    span: Span
    code: str
    name: str
    severity: Severity
    effect: Effect | None
    message: str
    context: FindingContext | None = None
    help: str | None = None
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None
    cell: int | None = None
    verdict: Verdict | None = None
    api: str = ""
    backends: tuple[tuple[Backend, Effect | None], ...] = ()

    def on(self, backend: str) -> Finding:
        """What it says of code that a backend runs."""
        if not self.backends:
            return self
        return replace(self, effect=dict(self.backends).get(Backend(backend)))

    @property
    def sort_key(self) -> tuple[str, int, Span, str]:
        return (self.path, self.cell or 0, self.span, self.code)

    @property
    def trail_key(self) -> tuple[int, tuple[TrailStep, ...]]:
        """Orders ways to one place: the shortest first, then by where they begin."""
        trail = self.context.trail if self.context else ()
        return (len(trail), trail)


def is_applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether a finding has a fix that may be applied."""
    safety = finding.fix.safety if finding.fix is not None else Safety.DISPLAY
    return safety is Safety.SAFE or (unsafe and safety is Safety.UNSAFE)


@dataclass(frozen=True, slots=True)
class Problem:
    """What the tool itself could not do; any problem makes the exit code 2. `detail`: the traceback, if it has one;
    `rule`: the code of the rule that raised it."""

    path: str | None
    message: str
    detail: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Probed:
    """A function that the probe was to run, and what it saw of it as a whole; `details`: one line for each thing."""

    path: str
    line: int
    verdict: Verdict
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run, ready to print: findings in a stable order, what went wrong, what was fixed, and what else
    people should know, a line each.

    `interrupted`: the user ended it before everything was run that the probe was to run; `backends`: by its path, what
    runs a file that not TensorFlow alone runs.
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    files_checked: int = 0
    fixed: tuple[Finding, ...] = ()
    functions: tuple[Probed, ...] = ()
    remarks: tuple[str, ...] = ()
    interrupted: bool = False
    backends: Mapping[str, frozenset[Backend]] = field(default_factory=dict)


Narrow: TypeAlias = Callable[[Report, Mapping[str, bytes]], Report]
"""What leaves findings out of a report; it is told what is to be in files, by their paths as reports show them."""


def unchanged(report: Report, overlay: Mapping[str, bytes]) -> Report:
    """Leaves out nothing."""
    return report
