"""Missing kernels in words: which operations a measured call lacks, and on which devices of which version."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from . import tables
from .families import family
from .names import canonical
from .tables import Case

_NESTED: Final = re.compile(r"[(, ]((?:tf|keras)\.[\w.]+)\(")  # a call among the arguments of a measured call
_DEVICES: Final = {"cpu": "CPU", "gpu": "GPU", "tpu": "TPU"}


def missing_of(case: Case) -> tuple[str, ...]:
    """The operations without a kernel that the call itself makes, not the calls that made its arguments."""
    nested = _NESTED.findall(case.call) if case.missing else []
    if not nested:
        return case.missing
    theirs = {op for name in nested if (fact := tables.api(canonical(name))) and fact.plain for op in fact.plain.ops}
    lacking = (op for op in case.ops if (known := tables.op(op)) is not None and "cpu" in known.lacking())
    return tuple(op for op in lacking if op not in theirs)


def about(missing: Iterable[str], code: str) -> bool:
    """Whether the first operation that lacks a kernel is the rule's business."""
    return next((family(op).code == code for op in missing), False)


def lacking(missing: Iterable[str], version: str | None) -> str:
    """ "no XLA kernel for `Lu` (TensorFlow 2.21, CPU and GPU)", as far as the tables know the devices."""
    ops = list(dict.fromkeys(missing))
    named = listed([f"`{op}`" for op in ops])
    devices: dict[str, list[str]] = defaultdict(list)
    if (fact := tables.op(ops[0], version)) is not None:
        for device in fact.lacking():
            devices[fact.kernels[device].version].append(_DEVICES[device])
    if not devices:
        devices[tables.nearest(version)].append("CPU")
    where = "; ".join(
        f"{'TensorFlow ' if at == 0 else ''}{measured}, {listed(found)}"
        for at, (measured, found) in enumerate(devices.items())
    )
    return f"no XLA kernel for {named} ({where})"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
