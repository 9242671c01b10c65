"""What the measured tables say: which ops XLA has kernels for, and what becomes of the calls that people write.

`ops.json` and `apis.json` are written by `python -m xlalint.measuring` and read on first use. Each holds several
versions of TensorFlow: the newest in full, of the older ones what differs. A version that was not measured is answered
from the nearest older one that was, or from the oldest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final

import msgspec

from . import FOLDER

DEVICES: Final = ("cpu", "gpu", "tpu")


class Outcome(StrEnum):
    """What became of a call in `tf.function(jit_compile=True)`. Where several are true, the first of this order."""

    FAILS = "fails"
    DIVERGES = "diverges"
    RECOMPILES = "recompiles"
    BOUNDED = "bounded"
    OK = "ok"
    UNTESTED = "untested"


WORDS: Final = {
    Outcome.OK: "compiles once for all values of a shape, and equals eager execution",
    Outcome.FAILS: "does not compile",
    Outcome.DIVERGES: "compiles, but the result differs",
    Outcome.RECOMPILES: "recompiles for every new value",
    Outcome.BOUNDED: "compiles with a bounded dynamic shape",
    Outcome.UNTESTED: "not measured",
}


def with_reason(what: str, missing: Sequence[str], detail: str) -> str:
    """What became of a program, and why: the operations without a kernel, else the error."""
    why = f"no kernel for {', '.join(f'`{op}`' for op in missing)}" if missing else detail
    return f"{what}: {why}" if why else what


class Gradient(StrEnum):
    """What became of the gradient of a call that compiles."""

    OK = "ok"
    FAILS = "fails"
    DIVERGES = "diverges"
    NONE = "none"  # there is no gradient, or none was asked for


class Kernel(msgspec.Struct, frozen=True):
    """Whether one device's XLA compiler implements an op, in the version that was asked."""

    version: str
    supported: bool
    dtypes: Mapping[str, tuple[str, ...]] = {}  # by type attribute ("T"), the dtypes that the kernel is registered for


class OpFact(msgspec.Struct, frozen=True):
    """What is known of one op of TensorFlow's registry."""

    name: str
    version: str
    kernels: Mapping[str, Kernel]  # by device: cpu, gpu, tpu; no entry where nothing was measured
    constants: tuple[str, ...] | None = None  # inputs that must be compile-time constants; None: not measured

    def lacking(self) -> tuple[str, ...]:
        """The devices that were asked and have no kernel."""
        return tuple(device for device, kernel in self.kernels.items() if not kernel.supported)


class Follows(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of an argument whose every new value is a new compilation: what else comes of its values."""

    resizes: bool = False  # the shape of the result changes with them
    carried: Outcome = Outcome.OK  # of the call in a `tf.while_loop` that makes them: ok, bounded or fails


class Case(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call, as it was run, and what became of it.

    `call` is a Python expression in which `f32[2, 3]` is a tensor argument (see `xlalint.measuring.samples`); all
    else in it is a Python value at trace time. A class called without tensors is built once, outside.
    """

    call: str
    outcome: Outcome = Outcome.OK
    varied: Mapping[str, str] = {}  # beside the first case: parameter -> what was written for it
    detail: str = ""  # fails: the error; diverges: how; recompiles: which argument, where it has a name
    missing: tuple[str, ...] = ()  # fails: the ops without a kernel
    bounded: bool = False  # a bounded dynamic shape in what was compiled, whatever the outcome
    random: bool = False  # the results are random numbers, and were compared by shape and dtype only
    gradient: Gradient = Gradient.NONE
    gradient_detail: str = ""
    gradient_missing: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()  # the ops of the traced function, without constants and bookkeeping
    result: str = ""  # dtype and shape of what came back, as "f32[2, 3] i64[2]"
    follows: Mapping[str, Follows] = {}  # recompiles: by argument; measured in the newest version only


class ApiFact(msgspec.Struct, frozen=True):
    """What is known of one callable. `cases[0]` is the plain call; the others say which argument changes what.

    `same` lists what was written for a parameter without any change of the outcome. Of a version that is not the
    newest, `same`, the ops and the wordings are those of the next newer version where the cases end alike.
    """

    name: str
    version: str
    cases: tuple[Case, ...] = ()
    same: Mapping[str, tuple[str, ...]] = {}
    untested: str = ""  # why there is no measurement
    refused: bool = False  # Keras says `supports_jit = False` of the layer: `jit_compile="auto"` does not compile it

    @property
    def plain(self) -> Case | None:
        """The case of the plain call."""
        return self.cases[0] if self.cases else None

    @property
    def outcome(self) -> Outcome:
        """What becomes of the plain call."""
        return self.cases[0].outcome if self.cases else Outcome.UNTESTED

    def varying(self, parameter: str) -> dict[str, Case]:
        """By what is written for a parameter: the case, where it ends otherwise than the plain call."""
        return {case.varied[parameter]: case for case in self.cases if tuple(case.varied) == (parameter,)}


class _Row(msgspec.Struct, omit_defaults=True):
    """An entry of `apis.json`."""

    cases: list[Case] = []
    same: dict[str, list[str]] = {}
    untested: str = ""
    refused: bool = False


class _Apis(msgspec.Struct):
    """`apis.json`. `changed` holds by version what differs from the next newer version; null: it has no such name."""

    versions: list[str]  # newest first
    packages: dict[str, dict[str, str]]  # by version: what exactly was installed
    apis: dict[str, msgspec.Raw]
    changed: dict[str, dict[str, msgspec.Raw]]


class _Ops(msgspec.Struct):
    """`ops.json`. A row has one number for each of `columns`, or one for all: -1 no such op, else of `kernels`."""

    columns: list[tuple[str, str]]  # version and device
    packages: dict[str, str]  # by column ("2.21 cpu"): what was asked
    kernels: list[dict[str, str]]  # the first: there is none; then by type attribute: dtypes, parted by blanks
    constants: dict[str, str]  # by op: inputs that must be compile-time constants, parted by blanks
    ops: dict[str, int | list[int]]


_FAILS: Final = re.compile(rb'"(outcome|gradient)":"fails"')  # as a case spells it
_FOLLOWS: Final = re.compile(b'"follows"')
_REFUSED: Final = re.compile(b'"refused":true')  # as a row spells it


@cache
def _apis() -> _Apis:
    return msgspec.json.decode((FOLDER / "apis.json").read_bytes(), type=_Apis)


@cache
def _ops() -> _Ops:
    return msgspec.json.decode((FOLDER / "ops.json").read_bytes(), type=_Ops)


def numbers(version: str) -> tuple[int, ...]:
    """The part of a version that tells tables apart: (2, 15) of 2.15.1."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def versions() -> tuple[str, ...]:
    """The versions whose calls were measured, newest first."""
    return tuple(_apis().versions)


def packages(version: str) -> Mapping[str, str]:
    """What exactly was installed for the measurement of a version: package and its version."""
    return MappingProxyType(_apis().packages[version])


def nearest(version: str | None) -> str:
    """The measured version that answers for `version`: itself, the next older one, else the oldest. None: newest."""
    return _nearest(version, versions())


def _nearest(version: str | None, measured: tuple[str, ...]) -> str:
    if version is None:
        return measured[0]
    wanted = numbers(version)
    return next((one for one in measured if numbers(one) <= wanted), measured[-1])


@cache
def op(name: str, version: str | None = None) -> OpFact | None:
    """What is known of an op; None where the version's registry has none of that name."""
    table = _ops()
    row = table.ops.get(name)
    if row is None:
        return None
    cells = [row] * len(table.columns) if isinstance(row, int) else row
    kernels: dict[str, Kernel] = {}
    for device in DEVICES:
        column = {at: cell for (at, on), cell in zip(table.columns, cells, strict=True) if on == device}
        if not column:
            continue
        at = _nearest(version, tuple(sorted(column, key=numbers, reverse=True)))
        if column[at] >= 0:
            dtypes = {attribute: tuple(names.split()) for attribute, names in table.kernels[column[at]].items()}
            kernels[device] = Kernel(at, column[at] > 0, dtypes)
    if not kernels:
        return None
    constants = table.constants.get(name)
    return OpFact(name, nearest(version), kernels, None if constants is None else tuple(constants.split()))


def measured_kernels() -> tuple[tuple[str, str], ...]:
    """The versions and devices whose kernels are known, as `op` tells of them."""
    return tuple(_ops().columns)


def op_names() -> tuple[str, ...]:
    """Every op of any measured version."""
    return tuple(_ops().ops)


@cache
def api(name: str, version: str | None = None) -> ApiFact | None:
    """What is known of a callable by its canonical name; None where the version has none, or it was not asked."""
    table, at = _apis(), nearest(version)
    raw = table.apis.get(name)
    for one in reversed(table.versions[1 : table.versions.index(at) + 1]):
        if name in table.changed[one]:
            raw = table.changed[one][name]
            break
    row = None if raw is None else msgspec.json.decode(raw, type=_Row | None)
    if row is None:
        return None
    same = {parameter: tuple(written) for parameter, written in row.same.items()}
    return ApiFact(name, at, tuple(row.cases), same, row.untested, row.refused)


def api_names() -> tuple[str, ...]:
    """Every callable of any measured version, by canonical name."""
    table = _apis()
    return tuple(dict.fromkeys([*table.apis, *(name for rows in table.changed.values() for name in rows)]))


def variants(name: str) -> Iterator[ApiFact]:
    """What is known of a callable, in each of the versions that differ."""
    table = _apis()
    newest, *older = table.versions
    facts = (api(name, version) for version in (newest, *(one for one in older if name in table.changed[one])))
    return (fact for fact in facts if fact is not None)


@cache
def failing_names() -> tuple[str, ...]:
    """Every callable of which a case, or the gradient of one, fails in some version; the rest is not decoded for it."""
    return _names_with(_FAILS)


@cache
def refused_names() -> tuple[str, ...]:
    """The layers of which Keras says in some version that XLA cannot compile them."""
    return _names_with(_REFUSED)


@cache
def following_names() -> tuple[str, ...]:
    """Every callable of which a case is compiled again for every new value of an argument."""
    return _names_with(_FOLLOWS)


def _names_with(text: re.Pattern[bytes]) -> tuple[str, ...]:
    table = _apis()
    rows = (table.apis, *table.changed.values())
    return tuple(dict.fromkeys(name for named in rows for name, raw in named.items() if text.search(bytes(raw))))


def apis(version: str | None = None) -> Iterator[ApiFact]:
    """What is known of every callable of a version, the untested ones too."""
    facts = (api(name, version) for name in api_names())
    return (fact for fact in facts if fact is not None)
