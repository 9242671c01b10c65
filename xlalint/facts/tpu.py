"""What a TPU's compiler makes of measured calls and of the examples of rules; read from `tpu.json` on first use.

Each was lowered from the shapes and dtypes of its tensors alone, without any value: so a strategy has a step compiled.
What is lowered was compiled by libtpu for a topology. Nothing was run on a TPU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from .tables import with_reason

_FILE: Final = Path(__file__).with_name("tpu.json")
_CONSTANT: Final = re.compile(r"Input (\d+) to node `[^`]*` with op (\w+) must be a compile-time constant")
CONSTANT: Final = "must be a compile-time constant"
_DIGITS: Final = 12  # of a digest
_LONG: Final = 160  # characters of an error


class TpuOutcome(StrEnum):
    """What became of a program for a TPU."""

    OK = "ok"  # compiles
    BOUNDED = "bounded"  # compiles with bounded dynamic shapes, which a TPU pads to their bounds
    FAILS = "fails"  # the TPU's kernels or libtpu refuse it
    LOWERS = "lowers"  # the kernels take it; the way to libtpu does not know all of it
    UNTRACED = "untraced"  # tracing it raises, for whatever device
    UNTESTED = "untested"


WORDS: Final = {
    TpuOutcome.OK: "compiles",
    TpuOutcome.BOUNDED: "compiles with a bounded dynamic shape, which it pads to its bound",
    TpuOutcome.FAILS: "does not compile",
    TpuOutcome.LOWERS: "has kernels; not compiled further",
    TpuOutcome.UNTRACED: "cannot be traced",
    TpuOutcome.UNTESTED: "not asked",
}
SHORT: Final = {
    TpuOutcome.OK: "compiles",
    TpuOutcome.BOUNDED: "bounded",
    TpuOutcome.FAILS: "fails",
    TpuOutcome.LOWERS: "has kernels",
    TpuOutcome.UNTRACED: "not traced",
    TpuOutcome.UNTESTED: "not asked",
}


class OnTpu(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one program. `detail`: the error, or why there is no more; `missing`: the operations without a
    kernel; `gradient`: of the call's gradient, where it has one and itself compiles."""

    outcome: TpuOutcome = TpuOutcome.OK
    detail: str = ""
    missing: tuple[str, ...] = ()
    gradient: OnTpu | None = None

    def said(self) -> str:
        """In words."""
        return with_reason(WORDS[self.outcome], self.missing, self.detail)

    def record(self) -> dict[str, Any]:
        """For programs."""
        gradient = {} if self.gradient is None else {"gradient": self.gradient.record()}
        return {"outcome": self.outcome.value, **msgspec.to_builtins(self), **gradient}


class _Refused(msgspec.Struct):
    """The part of `tpu.json` that is quickly read: the callables of which a TPU's compiler refuses a call that a CPU's
    compiles once, and those of which so the gradient."""

    refused: tuple[str, ...] = ()
    refused_gradients: tuple[str, ...] = ()


class _Table(msgspec.Struct):
    """`tpu.json`: `packages` and `topology` are what was asked; `calls` goes by the text of the call, `examples` by
    `digest`."""

    packages: dict[str, str]
    topology: str
    calls: dict[str, OnTpu]
    examples: dict[str, OnTpu]


@cache
def _table() -> _Table:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Table)


@cache
def _refused() -> _Refused:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Refused)


def refused_names() -> tuple[str, ...]:
    """The callables of which a TPU's compiler refuses a call that a CPU's compiles, and not for each value anew."""
    return _refused().refused


def refused_gradients() -> tuple[str, ...]:
    """Those of which it refuses the gradient."""
    return _refused().refused_gradients


def stack() -> tuple[str, str]:
    """The versions of TensorFlow and libtpu that were asked, in words, and the topology."""
    table = _table()
    return f"TensorFlow {table.packages['tensorflow-tpu']}, libtpu {table.packages['libtpu']}", table.topology


def of_call(call: str) -> OnTpu | None:
    """What became of a call of the tables (`tables.Case.call`); None where it was not asked."""
    return _table().calls.get(call)


def of_example(digest: str) -> OnTpu | None:
    """What became of an example of a rule."""
    return _table().examples.get(digest)


def examples() -> Mapping[str, OnTpu]:
    """What became of every example that was asked, by `digest`."""
    return _table().examples


def digest(code: str, inputs: Sequence[str]) -> str:
    """What an example is known by: its code and its inputs."""
    return sha256("\0".join((code, *inputs)).encode()).hexdigest()[:_DIGITS]


def told(error: str) -> str:
    """An error, short, without what differs from run to run: the names of nodes."""
    if match := _CONSTANT.search(error):
        return f"input {match[1]} of {match[2]} {CONSTANT}"
    return error if len(error) <= _LONG else f"{error[: _LONG - 3].rstrip()}..."
