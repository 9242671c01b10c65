"""What the compiler left behind: how often it compiled, where shapes are bounded, and what two programs differ in.

The process runs with `XLA_FLAGS=--xla_dump_to=FOLDER --xla_dump_hlo_as_text`; each compilation leaves one file there
whose name ends in `before_optimizations.txt`, and `<=` in one is a bounded dynamic shape. Each instruction tells the
operation of TensorFlow that it was made for. (TensorFlow's own counters of compilations cannot be read from Python, and
writing the files costs a tenth of the compilation.)
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROGRAM: Final = "before_optimizations.txt"
BOUNDED: Final = "<="
_INSTRUCTION: Final = re.compile(r"\s+(?:ROOT )?%?(?P<id>[^\s=%]+) = (?P<what>.*)")
_METADATA: Final = re.compile(r", metadata=\{(?P<fields>[^}]*)\}")
_OP_NAME: Final = re.compile(r'op_name="([^"]*)"')
# Names of instructions; older versions write them without `%`.
_REFERENCE: Final = re.compile(r"%([^\s,(){}]+)|(?<![\w.\[])([A-Za-z_][\w.-]*\.\d+)")
_CONSTANT: Final = re.compile(r"\S+ constant\(")
_LAYOUT: Final = re.compile(r"entry_computation_layout=\{(?P<layout>.*?)\}(?:, \w+=|$)")
_SHAPE: Final = re.compile(r"\w+\[[^\]]*\]")


class Dump:
    """The folder in which the compiler leaves its programs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def taken(self) -> list[str]:
        """The programs that were compiled since the last time, oldest first."""
        if not self._folder.is_dir():
            return []
        names = sorted(os.listdir(self._folder))
        texts = [(self._folder / name).read_text(errors="replace") for name in names if name.endswith(PROGRAM)]
        for name in names:
            (self._folder / name).unlink()
        return texts


@dataclass(frozen=True)
class Instruction:
    """One line of a program. `op`: the operation of TensorFlow that it was made for, if it says so."""

    op: str
    what: str  # shape, opcode and attributes, without the names of instructions
    operands: tuple[str, ...]

    @property
    def constant(self) -> bool:
        return _CONSTANT.match(self.what) is not None


def instructions(program: str) -> dict[str, Instruction]:
    """The instructions of a program by their names, in order."""
    return dict(_instructions(program))


def _instructions(program: str) -> Iterator[tuple[str, Instruction]]:
    for line in program.splitlines():
        match = _INSTRUCTION.match(line)
        if match is None:
            continue
        what = match["what"]
        metadata = _METADATA.search(what)
        name = _OP_NAME.search(metadata["fields"]) if metadata else None
        if metadata:
            what = what[: metadata.start()] + what[metadata.end() :]
        operands = tuple(match[1] or match[2] for match in _REFERENCE.finditer(what))
        yield match["id"], Instruction(name[1] if name else "", _REFERENCE.sub("%", what), operands)


def bounded_outputs(program: str) -> tuple[int, ...]:
    """The positions of the results that have a bounded dynamic shape."""
    match = _LAYOUT.search(program.partition("\n")[0])
    if match is None:
        return ()
    shapes = _SHAPE.findall(match["layout"].partition("->")[2])
    return tuple(place for place, shape in enumerate(shapes) if BOUNDED in shape)


def bounded_ops(program: str) -> tuple[str, ...]:
    """The operations that made a bounded shape out of static ones."""
    found = instructions(program)
    bounded = {name for name, one in found.items() if BOUNDED in one.what.partition(" ")[0]}
    made = [one.op for name, one in found.items() if name in bounded and not bounded.intersection(one.operands)]
    return tuple(dict.fromkeys(op for op in made if op))


def changed_ops(one: str, other: str) -> tuple[str, ...]:
    """The operations in which two programs for different values begin to differ.

    An operation that uses another one that differs is left out: it only follows. So are operations that differ in
    constants alone, where there are others.
    """
    left, right = instructions(one), instructions(other)
    known = Counter((item.op, item.what) for item in right.values())
    changed: dict[str, list[Instruction]] = {}
    for instruction in left.values():
        key = (instruction.op, instruction.what)
        known[key] -= 1
        if known[key] < 0 and instruction.op:
            changed.setdefault(instruction.op, []).append(instruction)
    proper = {op: items for op, items in changed.items() if not all(item.constant for item in items)} or changed
    return tuple(op for op, items in proper.items() if not _uses(items, left, proper.keys() - {op}))


def _uses(items: Iterable[Instruction], program: Mapping[str, Instruction], ops: Set[str]) -> bool:
    """Whether one of the instructions takes what one of the operations gives."""
    return any(program[name].op in ops for item in items for name in item.operands if name in program)


def compiled_for(programs: Sequence[str]) -> tuple[int, bool, tuple[int, ...]]:
    """How many programs, whether a bounded shape is inside of one, and which outputs of the last are bounded."""
    inside = any(BOUNDED in program for program in programs)
    return len(programs), inside, bounded_outputs(programs[-1]) if programs else ()


def aliased(program: str, pairs: Mapping[int, int]) -> str:
    """The program with results (the keys) that are written where arguments were (the values)."""
    if not pairs:
        return program
    written = ", ".join(f"{{{result}}}: ({argument}, {{}}, may-alias)" for result, argument in pairs.items())
    return program.replace(
        ", entry_computation_layout=", f", input_output_alias={{ {written} }}, entry_computation_layout=", 1
    )
