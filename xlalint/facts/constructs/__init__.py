"""What becomes of each construct of the language and of TensorFlow, on a CPU and for a TPU.

The constructs are the files `*.toml` beside this one: groups of them by name, each the body of a function of `x`, or an
`Entry`. What was measured is in `constructs.json`, which `python -m xlalint.measuring constructs` and `tables` write.
Each is measured with AutoGraph, and without: so Keras 3 runs its layers, losses and training steps.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import indent
from typing import Any, Final

import msgspec

from ..gpu import OnGpu
from ..gpu import of_program as of_digest
from ..jax import OnJax, is_for_both, of_program
from ..tables import Outcome
from ..tpu import OnTpu, digest

_FOLDER: Final = Path(__file__).parent
_IMPORT: Final = "import tensorflow as tf\n"
_LAYER: Final = re.compile(r"^class L\b", re.MULTILINE)
PLAIN: Final = ", without AutoGraph"
FILES: Final = ("branches", "loops", "python", "shapes", "functions", "keras", "ops")


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a construct may say. `body` is that of a function `f` of `parameters`, `before` stands above it; `call`,
    instead, is the body of the method of a Keras layer `L`; `code`, instead of all these, is a file with such a layer.
    `inputs` as in the examples of rules (`rule.Bad`)."""

    body: str = ""
    call: str = ""
    before: str = ""
    code: str = ""
    parameters: str = "x"
    inputs: tuple[str, ...] = ("f32[4, 3]",)


@dataclass(frozen=True, slots=True)
class Program:
    """A file that is measured: its function `f` or its Keras layer `L`, called with `inputs`."""

    name: str
    code: str
    inputs: tuple[str, ...]

    @property
    def digest(self) -> str:
        """What it is known by in the table."""
        return digest(self.code, self.inputs)


@dataclass(frozen=True, slots=True)
class Construct:
    """One construct. `converted`: with AutoGraph, which a Keras layer is not run with; `plain`: without. `shared`: it
    is spelled in Keras's words, and measured with JAX as well (`facts.jax`)."""

    group: str
    name: str
    converted: Program | None
    plain: Program
    shared: bool = False

    @property
    def programs(self) -> tuple[Program, ...]:
        """All that is measured of it."""
        return (self.plain,) if self.converted is None else (self.converted, self.plain)


class OnCpu(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a program on a CPU. `detail`: the error; `eager`: it raises whether or not it is compiled, as some
    of what is measured with JAX as well."""

    outcome: Outcome = Outcome.OK
    detail: str = ""
    eager: bool = False


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a program. `older`: by version of TensorFlow, where another thing became of it on a CPU than with
    the newest. `rules`: the codes of those that flag it."""

    digest: str
    cpu: OnCpu
    tpu: OnTpu
    older: dict[str, OnCpu] = {}
    rules: tuple[str, ...] = ()


class _Table(msgspec.Struct):
    """`constructs.json`: `packages` of the CPU (a TPU's are those of `facts.tpu.stack`), `older` by version those of
    older ones, the newest first, `programs` by name."""

    packages: dict[str, str]
    older: dict[str, dict[str, str]]
    programs: dict[str, Verdict]


@cache
def constructs() -> tuple[Construct, ...]:
    """Every construct, in the order of the files."""
    return tuple(made for name in FILES for made in _read(_FOLDER / f"{name}.toml"))


def _read(path: Path) -> Iterator[Construct]:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    for group, entries in table.items():
        for name, written in entries.items():
            entry = msgspec.convert({"body": written} if isinstance(written, str) else written, Entry)
            yield _construct(group, name, entry)


def _construct(group: str, name: str, entry: Entry) -> Construct:
    before = f"{entry.before.strip()}\n\n\n" if entry.before else "\n"
    if entry.call:
        method = f"    def call(self, {entry.parameters}):\n{indent(entry.call.strip(), ' ' * 8)}\n"
        code = f"import keras\nfrom keras import ops\n{before}class L(keras.layers.Layer):\n{method}"
        return Construct(group, name, None, Program(name + PLAIN, code, entry.inputs), shared=True)
    if _LAYER.search(entry.code):
        shared = is_for_both(entry.code)
        code = entry.code.lstrip() if shared else _IMPORT + entry.code
        return Construct(group, name, None, Program(name + PLAIN, code, entry.inputs), shared)
    parameters = ", ".join(f"{name.strip()}: tf.Tensor" for name in entry.parameters.split(","))
    function = f"def f({parameters}):\n{indent(entry.body.strip(), '    ')}\n"
    converted, plain = (
        f"{_IMPORT}{before}@tf.function(jit_compile=True{more})\n{function}" for more in ("", ", autograph=False")
    )
    programs = (Program(name, converted, entry.inputs), Program(name + PLAIN, plain, entry.inputs))
    return Construct(group, name, *programs)


@cache
def table() -> _Table:
    """What was measured."""
    return msgspec.json.decode(Path(_FOLDER.parent, "constructs.json").read_bytes(), type=_Table)


def of(program: Program) -> Verdict | None:
    """What became of a program; None where it was not measured as it is now."""
    found = table().programs.get(program.name)
    return found if found is not None and found.digest == program.digest else None


def on_jax(construct: Construct) -> OnJax | None:
    """What becomes of a construct with JAX; None where it is TensorFlow's own, or was not measured as it is now."""
    return of_program(construct.plain.code, construct.plain.inputs) if construct.shared else None


def on_gpu(verdict: Verdict) -> OnGpu | None:
    """What became of a program on a GPU, where that is something else than on a CPU."""
    found = of_digest(verdict.digest)
    told = found is not None and found.outcome not in (verdict.cpu.outcome, Outcome.UNTESTED)
    return found if told else None


def versions() -> tuple[str, ...]:
    """The versions of TensorFlow that were asked on a CPU, the newest first."""
    newest = next(version for name, version in table().packages.items() if name.startswith("tensorflow"))
    return ".".join(newest.split(".")[:2]), *table().older


def by_version(verdict: Verdict) -> dict[str, OnCpu]:
    """What became of a program on a CPU, by version, the newest first."""
    return {version: verdict.older.get(version, verdict.cpu) for version in versions()}


def spans(verdict: Verdict) -> Iterator[tuple[str, OnCpu]]:
    """Where another thing became of a program with older versions: these, as "2.13 to 2.15", and what."""
    found = by_version(verdict)
    for outcome, members in groupby(found, key=lambda version: found[version].outcome):
        if outcome is not verdict.cpu.outcome:
            newest, *_, oldest = (*members,) * 2
            yield newest if newest == oldest else f"{oldest} to {newest}", found[newest]


def known() -> dict[str, Any]:
    """By the name of each program that was measured as it is now, its entry of the table."""
    programs = [program for one in constructs() for program in one.programs]
    found = {program.name: of(program) for program in programs}
    return {name: msgspec.to_builtins(verdict) for name, verdict in found.items() if verdict is not None}
