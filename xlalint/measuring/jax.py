"""Measures what becomes of calls, constructs and examples of rules under Keras's JAX backend: `facts/jax.json`.

A measurement leaves files in a folder: `jax.json` (what was installed) and `jax.jsonl` (by callable its calls),
`jax-programs.jsonl` (constructs and examples, by digest). One on a GPU leaves the same as `jax-gpu`, and as
`jax-beside` what the processor of that machine makes of what is otherwise there than the table says.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from xlalint.authoring import on_jax, verdicts
from xlalint.authoring.measured import Measured
from xlalint.facts import jax, tables
from xlalint.facts.constructs import constructs
from xlalint.facts.jax import OnJax, is_for_both
from xlalint.facts.tables import Outcome
from xlalint.facts.tpu import digest
from xlalint.linter.rule import all_rules
from xlalint.measuring.driver import START_LIMIT, journal
from xlalint.measuring.outcome import reason
from xlalint.measuring.recipes import recipes
from xlalint.probe.process import Interpreter

PACKAGES: Final = ("jax", "jaxlib", "keras", "numpy")
_LACKING: Final = re.compile(r"(ImportError|ModuleNotFoundError)\b")  # a package is
# What of an option's call makes it another than the plain one.
DECISIVE: Final = ("outcome", "static", "gradient")


@dataclass(frozen=True)
class Program:
    """A construct or an example of a rule that is for both backends."""

    name: str
    code: str
    inputs: tuple[str, ...]

    @property
    def digest(self) -> str:
        return digest(self.code, self.inputs)


def installed() -> dict[str, str]:
    """The packages that decide what is measured, and their versions."""
    return {name: importlib.metadata.version(name) for name in PACKAGES}


def device() -> str:
    """What the maker calls the GPU that this interpreter's JAX sees. Raises SystemExit where it sees none."""
    code = "import jax; print(jax.devices('gpu')[0].device_kind)"
    found = (Interpreter(sys.executable).told(code, timeout=START_LIMIT) or "").strip()
    if not found:
        raise SystemExit(f"{sys.executable}: its JAX sees no GPU")
    return found


def plans() -> dict[str, dict[str, Any]]:
    """By callable: the calls of `apis.json`, and the options that change nothing with TensorFlow, with the call where
    it is written by hand."""
    by_name = recipes()
    found = {}
    for name in jax.names():
        fact = tables.api(name)
        assert fact is not None
        by_hand = {json.dumps(dict(varied)): call for varied, call in by_name[name].cases} if name in by_name else {}
        calls = [jax.spelled(case.call) for case in fact.cases]
        same = [
            [parameter, text, jax.spelled(by_hand.get(json.dumps({parameter: text}), ""))]
            for parameter, texts in fact.same.items()
            for text in texts
        ]
        found[name] = {"calls": calls, "same": same}
    return found


def programs() -> list[Program]:
    """The constructs and the examples that claim something, of those that are for both backends."""
    found = [
        Program(one.name, one.code, one.inputs)
        for construct in constructs()
        if construct.shared
        for one in construct.programs
    ]
    found += [
        Program(f"{rule.code}, example {number}", one.code, tuple(one.inputs))
        for rule in all_rules()
        for number, one in enumerate(verdicts.asked(rule), start=1)
        if is_for_both(one.code)
    ]
    return found


def measured(programs: Iterable[Program], gpu: bool = False) -> Iterator[tuple[Program, OnJax]]:
    """What becomes of each. Raises `authoring.jax.client.LostError` where JAX is not installed."""
    for one in programs:
        yield one, as_fact(on_jax.measure(one.code, one.inputs, gpu=gpu))


def as_fact(found: Measured) -> OnJax:
    """What was seen of a program, as an entry of the table. What TensorFlow runs and JAX's eager execution does not is
    a failure, too."""
    if found.failure is not None:
        return OnJax(Outcome.FAILS, reason(found.failure), eager=True)
    return OnJax(on_jax.outcome(found), "" if found.error is None else reason(found.error))


def table(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`jax.json` from the folder's measurements, over what is shipped, of the calls and programs that there are."""
    found: dict[str, Any] = {"packages": {}, "calls": {}, "programs": {}, **(shipped or {})}
    if (told_of := folder / "jax.json").exists():
        found["packages"] = json.loads(told_of.read_text(encoding="utf-8"))["packages"]
    calls = found["calls"] | {name: row for name, row in journal(folder / "jax.jsonl").items() if row}
    known = found["programs"] | journal(folder / "jax-programs.jsonl")
    current = {one.digest for one in programs()}
    return {
        "packages": found["packages"],
        "gpu": on_a_gpu(folder, found) or found.get("gpu"),
        "calls": {name: calls[name] for name in sorted(jax.names()) if name in calls},
        "programs": {key: known[key] for key in sorted(known) if key in current},
    }


def on_a_gpu(folder: Path, found: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was asked on a GPU, and which calls and programs end otherwise there than on a processor; None where nothing
    was asked. `found`: what the table says of a processor."""
    if not (told_of := folder / "jax-gpu.json").exists():
        return None
    calls, others = rows(folder, "jax-gpu")
    what: dict[str, Any] = json.loads(told_of.read_text(encoding="utf-8"))
    return what | {
        "calls": len(calls),
        "programs": len(others),
        "otherwise": sorted(otherwise(folder, found)),
    }


def otherwise(folder: Path, found: Mapping[str, Any]) -> list[str]:
    """The calls and the digests of programs that end otherwise on a GPU than on the processor beside it, or else than
    the table says."""
    calls, others = rows(folder, "jax-gpu")
    again, others_again = rows(folder, "jax-beside")
    shipped = {call: row for told in found["calls"].values() for call, row in told.items()}
    here = shipped | found["programs"] | again | others_again
    return [key for key, row in (calls | others).items() if key in here and not is_like(row, here[key])]


def rows(folder: Path, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """By call and by digest what a measurement left, but for what needs a package that was not there and for options,
    which are told of only where they change something."""
    told_of = [row for row in journal(folder / f"{kind}.jsonl").values() if row]
    calls = {call: row for told in told_of for call, row in told.items() if "varied" not in row}
    others = journal(folder / f"{kind}-programs.jsonl")
    return _there(calls), _there(others)


def _there(rows: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row for key, row in rows.items() if not _LACKING.match(row.get("detail", ""))}


def known() -> dict[str, Any]:
    """By digest what the shipped table says of programs."""
    return {one.digest: found for one in programs() if (found := jax.of_program(one.code, one.inputs)) is not None}


def is_told(name: str, plan: Mapping[str, Any]) -> bool:
    """Whether the shipped table tells of all calls of a plan."""
    return set(plan["calls"]) <= set(jax.api(name))


def is_like(row: Mapping[str, Any], plain: Mapping[str, Any]) -> bool:
    """Whether an option's call ends as the plain one does."""
    kinds = [one.get("detail", "").partition(":")[0] if one.get("outcome") == "fails" else "" for one in (row, plain)]
    return kinds[0] == kinds[1] and all(row.get(key) == plain.get(key) for key in DECISIVE)


def entry(found: OnJax) -> dict[str, Any]:
    """An entry of the table, without what is default."""
    row: dict[str, Any] = msgspec.to_builtins(found)
    return row
