"""What a rule is: a class with a code, a name and examples, and a `check` that turns events into drafts.

A rule file reads top to bottom as its documentation page: the module docstring (fixed sections), then the class, then
the examples that claim and prove the behaviour, then the handler. Rules know events, not files; the engine finds them
by looking into the package `xlalint.rules`, so no list of rules is kept anywhere.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, TypeAlias

from .codes import UNROLLED_ROUNDS
from .findings import Effect, Safety, Severity
from .fixes.rewrite import Rewriter
from .semantics.events import ApiCall, Context, Event
from .semantics.files import Place
from .semantics.values import Origin

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
    alone (a fragment), then `why` says so.
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


@dataclass(frozen=True, slots=True)
class Good:
    """A look-alike that stays silent under this rule; runs on the compiler like a `Bad` when a behaviour is claimed."""

    code: str
    behaviour: Behaviour | None = Compiles()
    inputs: Sequence[str] = ("f32[4]",)
    why: str = ""


# -- what a rule yields -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DraftNote:
    """A note at another place of the source."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before the engine gives it a severity (from effect and context), a position and a trail.

    `place` defaults to the event's place. Drafts of one rule for one place are merged: the gravest effect wins and the
    notes add up, so a consumer that goes wrong can be reported as a draft at the origin's place. `at_most` is for what
    differs only on inputs that a correct program never sees: it says so, and is no error. `rewrite` is asked only for
    what is reported, once for each time that the place was heard of: all must answer the same, else there is no fix.
    Without a `help`, the rewrite's text is the help.
    """

    message: str
    effect: Effect
    help: str | None = None
    place: Place | None = None
    notes: tuple[DraftNote, ...] = ()
    at_most: Severity = Severity.ERROR
    rewrite: Rewriter | None = None


class Rule:
    """The base of all rules. Subclasses set the class variables and implement `check`."""

    code: ClassVar[str]
    name: ClassVar[str]
    listens: ClassVar[tuple[type[Event], ...]]
    apis: ClassVar[frozenset[str]] = frozenset()  # for listeners of `ApiCall`: the canonical names wanted
    bad: ClassVar[Sequence[Bad]] = ()
    good: ClassVar[Sequence[Good]] = ()
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
    if origin is None or origin.place == event.place:
        return ()
    return (DraftNote(origin.place, origin.text),)


def reached(context: Context) -> str:
    """How a message names the code around it: "code that Keras 3 runs without AutoGraph", ..."""
    return context.entry or "code that XLA may compile"


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule of the package `xlalint.rules`, by code."""
    package = importlib.import_module("xlalint.rules")
    found: set[type[Rule]] = set()
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"xlalint.rules.{info.name}")
        found |= {
            member
            for _, member in inspect.getmembers(module, inspect.isclass)
            if issubclass(member, Rule) and member is not Rule and member.__module__ == module.__name__
        }
    return tuple(sorted(found, key=lambda rule: rule.code))


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
    "Fails",
    "Good",
    "Recompiles",
    "Rule",
    "Runs",
    "Safety",
    "Severity",
    "all_rules",
    "origin_note",
    "reached",
]
