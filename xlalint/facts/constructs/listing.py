"""What was measured of constructs, as a person reads it and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import fill, indent
from typing import Any, Final

from ...findings.codes import rule_names
from .. import gpu, jax, tpu
from ..tables import WORDS, Outcome
from ..tpu import SHORT
from . import Construct, Program, Verdict, by_version, constructs, of, on_gpu, on_jax, spans, table
from . import versions as versions_of_cpu

_SHORT: Final = {
    Outcome.OK: "compiles",
    Outcome.FAILS: "fails",
    Outcome.DIVERGES: "diverges",
    Outcome.RECOMPILES: "per value",
    Outcome.BOUNDED: "bounded",
    Outcome.UNTESTED: "not asked",
}
_NONE: Final = "-"
_RAISES: Final = "raises"  # with JAX, compiled or not
_WIDTH: Final = 120  # of a line of text
_HEADS: Final = ("construct", "CPU", "TPU", "CPU", "TPU", "JAX", "flagged by")


def chosen(word: str) -> list[Construct]:
    """Those that a word is about: the code or name of a rule that flags them, their name, a group, a part of names."""
    codes = {code for code, name in rule_names().items() if word.upper() == code or word.lower() == name}
    wanted = word.lower()
    if codes:
        return [one for code in codes for one in flagged_by(code)]
    exactly = [one for one in constructs() if one.name.lower() == wanted]
    found = exactly or [one for one in constructs() if one.group == wanted]
    return found or [one for one in constructs() if wanted in one.name.lower()]


def flagged_by(code: str) -> list[Construct]:
    """Those that a rule flags."""
    return [one for one in constructs() if code in _codes(one)]


def _codes(construct: Construct) -> set[str]:
    return {code for program in construct.programs if (found := of(program)) is not None for code in found.rules}


def overview() -> str:
    """A line for each construct."""
    rows = [(one.group, _cells(one)) for one in constructs()]
    widths = [max(len(cells[at]) for cells in (_HEADS, *(cells for _, cells in rows))) for at in range(len(_HEADS))]
    gap = " " * (widths[0] + 2)
    lines = [f"{gap}{'with AutoGraph':<{widths[1] + widths[2] + 4}}without (Keras 3)", _line(_HEADS, widths)]
    for group, members in groupby(rows, key=lambda row: row[0]):
        lines += ["", group, *(_line(cells, widths) for _, cells in members)]
    return "\n".join((*lines, "", _asked())) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cells(construct: Construct) -> tuple[str, ...]:
    cells = (cell for program in (construct.converted, construct.plain) for cell in _outcomes(program))
    found = on_jax(construct)
    with_jax = _NONE if found is None else _RAISES if found.eager else _SHORT[found.outcome]
    return construct.name, *cells, with_jax, " ".join(sorted(_codes(construct)))


def _outcomes(program: Program | None) -> tuple[str, str]:
    found = of(program) if program is not None else None
    return (_NONE, _NONE) if found is None else (_SHORT[found.cpu.outcome], SHORT[found.tpu.outcome])


def details(found: Sequence[Construct]) -> str:
    """All that is known of some."""
    return "\n".join("".join(f"{line}\n" for line in _details(one)) for one in found) + f"\n{_asked()}\n"


def _details(construct: Construct) -> Iterator[str]:
    yield f"{construct.name} ({construct.group})"
    yield indent(construct.programs[0].code.rstrip(), "    ")
    yield f"  called with {', '.join(construct.programs[0].inputs)}"
    for program in construct.programs:
        verdict = of(program)
        yield f"  {'without AutoGraph' if program is construct.plain else 'with AutoGraph'}"
        yield from _told(verdict) if verdict is not None else ("    not measured",)
    if (found := on_jax(construct)) is not None:
        yield f"  with {jax.versions()}, on a CPU: {found.said()}"


def _told(verdict: Verdict) -> Iterator[str]:
    cpu = verdict.cpu
    yield f"    on a CPU: {WORDS[cpu.outcome]}{f': {cpu.detail}' if cpu.detail else ''}"
    for versions, older in spans(verdict):
        yield f"    with TensorFlow {versions}: {WORDS[older.outcome]}{f': {older.detail}' if older.detail else ''}"
    if (found := on_gpu(verdict)) is not None:
        yield f"    on a GPU ({gpu.stack()[1]}): {found.said()}"
    yield f"    on a TPU, compiled by shapes alone: {verdict.tpu.said()}"
    if verdict.rules:
        yield f"    flagged by {', '.join(f'{code} ({rule_names()[code]})' for code in verdict.rules)}"


def _asked() -> str:
    versions, topology = tpu.stack()
    packages = table().packages
    tensorflow = next(version for name, version in packages.items() if name.startswith("tensorflow"))
    told = (
        f"CPU: TensorFlow {tensorflow}, Keras {packages['keras']}, in `tf.function(jit_compile=True)`, and those",
        f"from {versions_of_cpu()[-1]} on that differ.",
        f"GPU: {gpu.stack()[0]} on an {gpu.stack()[1]}, where that differs.",
        f"JAX: {jax.versions()}, in `jax.jit` on a CPU; `raises`: compiled or not.",
        f"TPU: as its compiler takes it, lowered by shapes alone, for {topology} ({versions}); nothing was run on one.",
    )
    return fill(" ".join(told), _WIDTH)


def records(found: Sequence[Construct]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [_record(one) for one in found]


def _record(construct: Construct) -> dict[str, Any]:
    ways = {"with_autograph": construct.converted, "without_autograph": construct.plain}
    told = {way: _way(program) for way, program in ways.items() if program is not None}
    found = on_jax(construct)
    with_jax = {} if found is None else {"jax": found.record()}
    return {"name": construct.name, "group": construct.group, "inputs": construct.plain.inputs, **told, **with_jax}


def _way(program: Program) -> dict[str, Any]:
    verdict = of(program)
    if verdict is None:
        return {"code": program.code, "cpu": None, "versions": {}, "gpu": None, "tpu": None, "rules": []}
    cpu = {"outcome": verdict.cpu.outcome, "detail": verdict.cpu.detail}
    versions = {version: one.outcome for version, one in by_version(verdict).items()}
    there = gpu.of_program(program.digest)
    devices = {"gpu": None if there is None else there.record(), "tpu": verdict.tpu.record()}
    return {"code": program.code, "cpu": cpu, "versions": versions, **devices, "rules": verdict.rules}
