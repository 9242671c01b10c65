"""What becomes of the examples of rules, as it was measured: on a CPU by the tests, for a TPU by its compiler."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ..facts import jax, tpu
from ..facts.constructs import listing
from ..facts.tpu import SHORT, TpuOutcome
from ..linter.rule import Bad, Behaviour, Breaks, Compiles, Diverges, Fails, Good, Recompiles, Rule, Runs

_WIDTH: Final = 72  # of a cell of a table
_YES: Final = {True: "yes", False: "no"}
_MARKUP: Final = re.compile(r"[|<]")  # what ends a cell, or begins an element


@dataclass(frozen=True, slots=True)
class Row:
    """One example: whether it is flagged, what it is about, and what becomes of it: in short, and in words. `jax`:
    empty of what is TensorFlow's own."""

    flagged: bool
    example: str
    cpu: str
    tpu: str
    cpu_short: str
    tpu_short: str
    jax: str = ""


def examples(rule: type[Rule]) -> list[Bad | Good]:
    """All examples of a rule."""
    return [*rule.bad, *rule.good]


def asked(rule: type[Rule]) -> list[Bad | Good]:
    """The examples that a TPU's compiler is asked of: those that claim something and are no programs as a whole."""
    return [one for one in examples(rule) if one.behaviour is not None and not is_program(one.behaviour)]


def is_program(behaviour: Behaviour | None) -> bool:
    """Whether what is claimed is about a file that is run as a whole."""
    return isinstance(behaviour, Breaks | Runs)


def digest(example: Bad | Good) -> str:
    """What an example is known by in the table."""
    return tpu.digest(example.code, tuple(example.inputs))


def rows(rule: type[Rule]) -> Iterator[Row]:
    """The examples of a rule that claim something."""
    for one in examples(rule):
        if one.behaviour is None:
            continue
        found = None if is_program(one.behaviour) else tpu.of_example(digest(one))
        name = ", ".join(map(_code, one.at)) if isinstance(one, Bad) else one.why or _code(_last_line(one.code))
        short, said = _on_cpu(one.behaviour)
        outcome = TpuOutcome.UNTESTED if found is None else found.outcome
        there = _cell(found.said()) if found is not None else SHORT[outcome]
        on_jax = jax.of_program(one.code, tuple(one.inputs))
        with_jax = "" if on_jax is None else _cell(on_jax.said())
        yield Row(isinstance(one, Bad), name, said, there, short, SHORT[outcome], with_jax)


def listed(rule: type[Rule]) -> list[dict[str, Any]]:
    """The same for programs."""
    kept = ("flagged", "example", "cpu", "tpu", "jax")
    return [{name: value for name, value in asdict(row).items() if name in kept} for row in rows(rule)]


def section(rule: type[Rule]) -> str:
    """The table of a rule's page (Markdown); empty where nothing was measured."""
    found = list(rows(rule))
    if not found:
        return ""
    with_jax = any(row.jax for row in found)  # else a column of nothing
    heads = ["flagged", "example", "CPU", "TPU", *(["JAX"] if with_jax else [])]
    lines = ["## Measured", _asked_how(with_jax), "", _line(heads), _line(["---"] * len(heads))]
    lines += [
        _line([_YES[row.flagged], row.example, row.cpu, row.tpu, *([row.jax] if with_jax else [])]) for row in found
    ]
    if number := len(listing.flagged_by(rule.code)):
        lines += [
            "",
            f"It reports {number} of the measured constructs: `xlalint facts --constructs {rule.code}`.",
        ]
    return "\n".join(lines)


def page(rule: type[Rule]) -> str:
    """A rule's page with what was measured of its examples (Markdown)."""
    return "\n\n".join(filter(None, (rule.documentation(), section(rule))))


def overview(rules: Sequence[type[Rule]]) -> str:
    """A line for each rule with measured examples (Markdown)."""
    lines = [
        "| rule | flagged, CPU | flagged, TPU | not flagged, CPU | not flagged, TPU |",
        "| --- | --- | --- | --- | --- |",
    ]
    for rule in rules:
        if found := list(rows(rule)):
            parts = ([row for row in found if row.flagged is flagged] for flagged in (True, False))
            cells = [_tally(texts) for part in parts for texts in _columns(part)]
            lines.append(f"| {rule.code} {rule.name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", _asked_how()])


def _columns(found: Sequence[Row]) -> tuple[list[str], list[str]]:
    return [row.cpu_short for row in found], [row.tpu_short for row in found]


def _tally(texts: Iterable[str]) -> str:
    return ", ".join(f"{number} {text}" for text, number in Counter(texts).most_common())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _asked_how(with_jax: bool = False) -> str:
    versions, topology = tpu.stack()
    told = (
        "CPU: as the tests run it. TPU: as its compiler takes it, lowered by shapes alone, as a strategy has it\n"
        f"compiled, for {topology} ({versions}); nothing was run on a TPU."
    )
    return f"{told}\nJAX: on a CPU, of what is for both backends ({jax.versions()})." if with_jax else told


def _on_cpu(behaviour: Behaviour) -> tuple[str, str]:
    """What is claimed, in short and in words."""
    match behaviour:
        case Fails(text) | Breaks(text):
            return "fails", _cell(f"fails: {text}")
        case Recompiles(per):
            return f"per {per}", f"compiles for every {per}"
        case Diverges():
            return "diverges", "another result"
        case Compiles(bounded=True):
            return "bounded", "compiles with a bounded dynamic shape"
        case Compiles():
            return "compiles", "compiles"
        case Runs():
            return "runs", "runs"


def _last_line(code: str) -> str:
    return code.strip().splitlines()[-1].strip()


def _code(text: str) -> str:
    return f"`{_cell(text, _WIDTH - 2)}`".replace("\\<", "<")  # in code it is what it is


def _cell(text: str, width: int = _WIDTH) -> str:
    one_line = re.sub(r"\s+", " ", text)
    shown = one_line if len(one_line) <= width else one_line[: width - 3].rstrip() + "..."
    return _MARKUP.sub(r"\\\g<0>", shown)
