"""What becomes of measured calls and constructs on a GPU, compiled and run there; read from `gpu.json` on first use."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from .tables import WORDS, Case, Gradient, Outcome, with_reason

_FILE: Final = Path(__file__).with_name("gpu.json")


class OnGpu(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one program. `detail`: the error; `missing`: the operations without a kernel; `gradient`: of the
    call's gradient, where a CPU has one."""

    outcome: Outcome = Outcome.OK
    detail: str = ""
    missing: tuple[str, ...] = ()
    gradient: Gradient = Gradient.NONE

    def said(self) -> str:
        """In words."""
        return with_reason(WORDS[self.outcome], self.missing, self.detail)

    def record(self) -> dict[str, Any]:
        """For programs."""
        return {"outcome": self.outcome.value, **msgspec.to_builtins(self)}


class _Table(msgspec.Struct):
    """`gpu.json`: `packages` and `device` are what was asked; `calls` goes by the text of the call, `programs` (of
    constructs) by `tpu.digest`."""

    packages: dict[str, str]
    device: str
    calls: dict[str, OnGpu]
    programs: dict[str, OnGpu]


@cache
def _table() -> _Table:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Table)


def stack() -> tuple[str, str]:
    """The version of TensorFlow that was asked, in words, and the GPU."""
    table = _table()
    return f"TensorFlow {table.packages['tensorflow']}", table.device


def of_call(call: str) -> OnGpu | None:
    """What became of a call of the tables (`tables.Case.call`); None where it was not asked."""
    return _table().calls.get(call)


def of_program(digest: str) -> OnGpu | None:
    """What became of a program of the constructs; None where it was not asked as it is now."""
    return _table().programs.get(digest)


def otherwise(case: Case) -> OnGpu | None:
    """What became of a measured call on the GPU, where that is something else than on a CPU."""
    found = of_call(case.call)
    if found is None or found.outcome is Outcome.UNTESTED:
        return None
    alike = found.outcome is case.outcome and found.gradient in (case.gradient, Gradient.NONE)
    return None if alike else found
