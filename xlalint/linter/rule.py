"""What a rule is: a class with a code, a name and examples, and a `check` that turns events into drafts.

A rule file reads top to bottom as its documentation page: the module docstring (fixed sections), then the class, then
the examples that claim and prove the behaviour, then the handler. Rules know events, not files; the engine finds them
by the names of their files, so no list of rules is kept anywhere.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import ClassVar, Final, TypeAlias

from ..analysis.domain.values import Origin
from ..analysis.files.unit import Location
from ..analysis.interpreter.contexts import Context
from ..analysis.interpreter.events import ApiCall, Event
from ..facts.tpu import TpuOutcome
from ..findings import rule_files
from ..findings.codes import UNROLLED_ROUNDS
from ..findings.findings import Effect, Safety, Severity
from ..findings.rule_files import RuleFile, RulesError
from ..fixes.rewrite import Rewriter
from .on_backends import OnJax

# -- what XLA is claimed to do with an example; each claim is run on the compiler by the tests ------------------------


@dataclass(frozen=True, slots=True)
class Fails:
    """Tracing or compiling raises, and the error's text holds `text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Recompiles:
    """More than one compilation for several inputs of equal shape (`per="value"`) or for new shapes (`per="shape"`)."""

    per: str = "value"


@dataclass(frozen=True, slots=True)
class Diverges:
    """Compiles, and the result differs from eager."""


@dataclass(frozen=True, slots=True)
class Compiles:
    """Compiles once for all values of a shape and equals eager. `bounded`: with a bounded dynamic shape inside."""

    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Breaks:
    """The file is a program: run where TensorFlow has two CPU devices it raises, and the error's text holds `text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Runs:
    """The file is a program, and runs to its end where TensorFlow has two CPU devices. `compilations`: how many
    programs XLA compiles meanwhile, where that is claimed."""

    compilations: int | None = None


Behaviour: TypeAlias = Fails | Recompiles | Diverges | Compiles | Breaks | Runs


@dataclass(frozen=True, slots=True)
class Bad:
    """Code that the rule flags at `at`, the exact source text of each flagged place in order of appearance.

    `code` is a whole file (`import tensorflow as tf` may be left out). What runs on the compiler is its function `f`,
    or an instance of its class `L` (a Keras layer or model), on `inputs`: specs such as "f32[4, 3]", "i32[]",
    "bool[4]", or "f32[2..5, 3]" for several shapes. A function that is not itself a `tf.function` is wrapped in
    `tf.function(jit_compile=True)`. Where `Runs` is claimed, the file itself runs. `behaviour` None: not runnable
    alone (a fragment), then `why` says so. `target`: what the code is said to be for; `backend`: what it is said to run
    on, as the option; `jax`: what becomes of it in `jax.jit` under Keras's JAX backend, where that is claimed.
    """

    code: str
    at: Sequence[str]
    behaviour: Behaviour | None
    inputs: Sequence[str] = ("f32[4]",)
    effect: Effect | None = None  # the effect that the finding must carry
    severity: Severity | None = None  # the severity that it must have
    help: str | None = None  # text that the help must hold
    fixed: str | None = None  # the file once the rewrites of all its places are applied, to the byte
    safety: Safety | None = None  # the safety that each rewrite must have
    why: str = ""
    target: str | None = None
    backend: str | None = None
    jax: Behaviour | None = None


@dataclass(frozen=True, slots=True)
class Good:
    """A look-alike that stays silent under this rule; runs on the compiler like a `Bad` when a behaviour is claimed."""

    code: str
    behaviour: Behaviour | None = Compiles()
    inputs: Sequence[str] = ("f32[4]",)
    why: str = ""
    target: str | None = None
    backend: str | None = None
    jax: Behaviour | None = None


# -- what a rule yields -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DraftNote:
    """A note at another place of the source. `consumer`: as in `findings.Note`."""

    location: Location
    text: str
    consumer: str = ""


class Told(Enum):
    """For what code a draft is told, by what the code is for."""

    ALWAYS = auto()
    FOR_TPU = auto()  # a TPU is among it: the setting says so, or a strategy for TPUs is made
    FOR_TPU_ALONE = auto()  # the setting says so
    NOT_FOR_TPU_ALONE = auto()  # something else than a TPU may run it
    FOR_GPU = auto()  # it may be run on a GPU: no setting says otherwise, and no strategy for TPUs is made

    def of(self, targets: frozenset[str]) -> bool:
        """Whether it is told of code that is for these ("cpu", "gpu", "tpu")."""
        match self:
            case Told.ALWAYS:
                return True
            case Told.FOR_TPU:
                return "tpu" in targets
            case Told.FOR_TPU_ALONE:
                return targets == {"tpu"}
            case Told.NOT_FOR_TPU_ALONE:
                return targets != {"tpu"}
            case Told.FOR_GPU:
                return "gpu" in targets and "tpu" not in targets


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before the engine gives it a severity (from effect and context), a position and a trail.

    `place` defaults to the event's place. Drafts of one rule for one place are merged: the gravest effect wins and the
    notes add up, so a consumer that goes wrong can be reported as a draft at the origin's place. `at_most` is for what
    differs only on inputs that a correct program never sees: it says so, and is no error. `on_tpu`: what comes of it
    where a TPU's strategy has it compiled, by shapes and without values, if that is something else; of what recompiles
    for every value `OK`, `BOUNDED` or `FAILS`, of what is about TPUs alone `FAILS`. `told`: for which code it is told;
    with an `on_tpu`, unless that is all code. `rewrite` is asked only for what is reported, once for each time that the
    location was handled: all must answer the same, else there is no fix. Without a `help`, the rewrite's text is the
    help. `unconverted`: it holds only because AutoGraph converts no control flow here. `loses_xla`: the code runs, and
    XLA does not compile it, which matters to those alone who ask for XLA. `keras_3`: it is so where Keras 3 runs the
    program, which nobody says. `jax`: what becomes of it where Keras runs on JAX; None: it is about TensorFlow.
    `on_jax_alone`: it is not about TensorFlow. `uncompiled`: it is told only of a program that makes no `tf.function`.
    `loses_all`: it is told only of a program that asks for XLA, of which XLA compiles nothing here.
    `of_keras_step`: it is told only where XLA may compile the steps in which Keras trains, and their gradients.
    """

    message: str
    effect: Effect
    help: str | None = None
    location: Location | None = None
    notes: tuple[DraftNote, ...] = ()
    at_most: Severity = Severity.ERROR
    rewrite: Rewriter | None = None
    on_tpu: TpuOutcome | None = None
    told: Told = Told.ALWAYS
    unconverted: bool = False
    loses_xla: bool = False
    keras_3: bool = False
    jax: OnJax | None = None
    on_jax_alone: bool = False
    uncompiled: bool = False
    loses_all: bool = False
    of_keras_step: bool = False


# For all operations of `tf.raw_ops` that no function stands for.
RAW_OPS: Final = "tf.raw_ops"


class Rule:
    """The base of all rules. Subclasses set the class variables and implement `check`."""

    code: ClassVar[str]
    name: ClassVar[str]
    handles: ClassVar[tuple[type[Event], ...]]
    apis: ClassVar[frozenset[str]] = frozenset()  # for listeners of `ApiCall`: the canonical names wanted
    bad: ClassVar[Sequence[Bad]] = ()
    good: ClassVar[Sequence[Good]] = ()
    since: ClassVar[str] = "0.1"  # the first version of xlalint that has it
    lacks_kernel: ClassVar[bool] = False  # what it flags has no kernel, and runs where XLA need not compile it
    traced: ClassVar[bool] = False  # what it flags fails while it is traced, whether or not XLA compiles it
    tensorflow: str | None = None  # the version that runs the code; None: the newest that was measured
    unrolled_rounds: int = UNROLLED_ROUNDS  # from how many on a loop that is unrolled is long

    def check(self, event: Event) -> Iterator[Draft]:
        """Yield a draft for each thing at `event` that must change."""
        raise NotImplementedError

    @classmethod
    def documentation(cls) -> str:
        """The rule's page: the docstring of its module (Markdown)."""
        module = inspect.getmodule(cls)
        return inspect.cleandoc((module.__doc__ or "") if module else "")

    @classmethod
    def summary(cls) -> str:
        """The first line of the rule's page."""
        return cls.documentation().partition("\n")[0]


def origin_note(origin: Origin | None, event: Event) -> tuple[DraftNote, ...]:
    """The other end of a value: where it became data, unless that is inside the flagged place itself."""
    if origin is None or origin.location == event.location:
        return ()
    return (DraftNote(origin.location, origin.text),)


def reached(context: Context) -> str:
    """How a message names the code around it: "`M.call`, which Keras 3 traces without AutoGraph", ..."""
    return context.reached or "code that XLA may compile"


def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code. Raises RulesError for a file that cannot be imported or holds no such rule as it is called
    after."""
    return tuple(_loaded(file) for file in rule_files.every().values())


@cache
def _loaded(file: RuleFile) -> type[Rule]:
    try:
        module = importlib.import_module(file.module)
    except (Exception, SystemExit) as error:  # whatever the code of others does when it is imported
        raise RulesError(f"{file.path}: {type(error).__name__}: {' '.join(str(error).split())}") from error
    found = [
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Rule) and member is not Rule and member.__module__ == module.__name__
    ]
    complaint = next(_complaints(file, found), None)
    if complaint is not None:
        raise RulesError(f"{file.path}: {complaint}")
    return found[0]


def _complaints(file: RuleFile, found: Sequence[type[Rule]]) -> Iterator[str]:
    """What keeps the classes of a file from being the one rule that it is called after."""
    if len(found) != 1:
        yield f"{len(found)} classes in it are rules, but there must be exactly one"
    rule = found[0]
    for attribute, expected in (("code", file.code), ("name", file.name)):
        if (given := getattr(rule, attribute, None)) != expected:
            yield f"{attribute} = {given!r} does not fit the file's name, which says {expected!r}"
    handles = getattr(rule, "handles", None)
    if not isinstance(handles, tuple) or not all(isinstance(one, type) and issubclass(one, Event) for one in handles):
        yield "`handles` has to be a tuple of classes of events (xlalint.analysis.interpreter.events)"
    elif handles and rule.check is Rule.check:
        yield "it handles events, but has no method `check`"
    elif (ApiCall in handles) != bool(rule.apis):
        yield "a rule that handles ApiCall must name the calls in `apis`, and no other rule may"
    if not rule.summary():
        yield "the module has no docstring"


__all__ = [
    "ApiCall",
    "Bad",
    "Behaviour",
    "Breaks",
    "Compiles",
    "Diverges",
    "Draft",
    "DraftNote",
    "Effect",
    "Event",
    "Fails",
    "Good",
    "OnJax",
    "Recompiles",
    "Rule",
    "Runs",
    "Safety",
    "Severity",
    "Told",
    "TpuOutcome",
    "all_rules",
    "origin_note",
    "reached",
]
