"""Reads the fixtures under `cases`: what each file claims about its lines, and what the compiler is to be asked.

A file is a row of cases. A case starts with a comment on its own line and reaches to the next one:

    # case: ENTRY(SPEC, ..)          a class, or a function (a plain one is wrapped in `tf.function(jit_compile=True)`)
    # case: keras ENTRY(SPEC, ..)    the same, called as Keras calls it: compiled, without AutoGraph
    # case: not run: WHY             nothing that the compiler could be asked alone

`ENTRY` is a name of the file, or of another module after a colon (`speech.model:Recogniser`) when the case stands in a
helper module. The specs are those of `xlalint.linter.rule.Bad`. Where the linter must speak, the line where the flagged
expression starts ends in `# hazard: XLA201 fails`, one code and effect per finding, separated by commas;
`XLA102|XLA109` where either rule may speak. All other lines must stay silent. What the compiler must do follows from
the gravest effect in the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.compiler import Measured
from xlalint.findings.findings import Effect

CASES = Path(__file__).with_name("cases")
HEADER = re.compile(r"# case: (?:not run: (?P<why>.+)|(?P<keras>keras )?(?P<entry>[\w.:]+)\((?P<inputs>.*)\))")
SPEC = re.compile(r"\w+\[[^\]]*\]")
MARKER = re.compile(r"# hazard: (?P<hazards>.+)$")
GRAVITY = (Effect.FAILS, Effect.DIVERGES, Effect.RECOMPILES, Effect.NAMED)


@dataclass(frozen=True, slots=True, order=True)
class Hazard:
    """One finding that must be there, with one of the codes."""

    path: str  # relative to the folder of cases
    line: int
    codes: tuple[str, ...]
    effect: Effect

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {'|'.join(self.codes)} {self.effect}"


@dataclass(frozen=True, slots=True)
class Case:
    """A stretch of a file with one entry for the compiler. `entry` is empty where `why` says it is not run."""

    path: str
    line: int
    entry: str
    inputs: tuple[str, ...]
    keras: bool
    why: str
    hazards: tuple[Hazard, ...]

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.entry or 'not run'}"

    @property
    def worst(self) -> Effect | None:
        """The gravest effect among the hazards; None for a look-alike."""
        return min((hazard.effect for hazard in self.hazards), key=GRAVITY.index, default=None)

    @property
    def code(self) -> str:
        """A file for the compiler harness, with the entry as `f`."""
        module, _, name = self.entry.rpartition(":")
        module = module or self.path.removesuffix(".py").replace("/", ".")
        target = f"from {module} import {name.partition('.')[0]}\n"
        if self.keras:
            return f"{target}f = tf.function(lambda *inputs: {name}(*inputs), jit_compile=True, autograph=False)\n"
        return f"{target}f = {name}\n"

    def sources(self) -> str:
        """What is imported for it: its file, or the package in which that lies."""
        top = CASES / self.path.partition("/")[0]
        return "".join(path.read_text(encoding="utf-8") for path in sorted(top.rglob("*.py")) or [top])

    def agrees(self, measured: Measured) -> bool:
        """Whether the compiler did what the case's markers say."""
        if measured.failure is not None:
            return False
        match self.worst:
            case Effect.FAILS:
                return measured.error is not None
            case Effect.DIVERGES:
                return measured.error is None and not measured.equal
            case Effect.RECOMPILES:
                return measured.equal and measured.recompiles_per_value
            case _:
                return measured.equal and measured.compilations > 0 and not measured.recompiles_per_value


def _hazards(path: str, line: int, text: str) -> Iterator[Hazard]:
    found = MARKER.search(text)
    for item in found["hazards"].split(",") if found else ():
        codes, effect = item.split()
        yield Hazard(path, line, tuple(codes.split("|")), Effect(effect))


def read_file(path: Path) -> list[Case]:
    """The cases of one file, in order."""
    display = path.relative_to(CASES).as_posix()
    headers: list[tuple[int, re.Match[str]]] = []
    hazards: list[list[Hazard]] = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if text.startswith("# case:"):
            header = HEADER.fullmatch(text)
            if header is None:
                raise ValueError(f"{display}:{number}: not a case header: {text}")
            headers.append((number, header))
            hazards.append([])
        if found := list(_hazards(display, number, text)):
            hazards[-1].extend(found)
    return [
        Case(
            path=display,
            line=line,
            entry=header["entry"] or "",
            inputs=tuple(SPEC.findall(header["inputs"] or "")),
            keras=header["keras"] is not None,
            why=header["why"] or "",
            hazards=tuple(marked),
        )
        for (line, header), marked in zip(headers, hazards, strict=True)
    ]


def all_cases() -> list[Case]:
    """Every case of every file under `cases`."""
    return [case for path in sorted(CASES.rglob("*.py")) for case in read_file(path)]
