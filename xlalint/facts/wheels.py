"""Which names of TensorFlow and Keras on a program's way to a TPU exist in which version, as the wheels list them.

Canonical names, those of version 1 as well. Methods of strategies are `tf.distribute.Strategy.NAME` whatever strategy
has them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import msgspec

from . import FOLDER
from .tables import numbers

# The modules whose names are all known, but for what is about GPUs alone.
MODULES: Final = re.compile(r"(?:tf\.(?:config(?!\.gpu\.)|distribute|estimator|tpu|xla)|keras\.mixed_precision)\.")
STRATEGY: Final = "tf.distribute.Strategy"
_CONTRIB: Final = re.compile(r"tf\.contrib\.(?:cluster_resolver|compiler|distribute|tpu)\.")  # TensorFlow 1's alone
_WHOLE: Final = "tf.estimator"  # of which nobody lists what is in it


class _Wheels(msgspec.Struct):
    """`wheels.json`. `names`: by name, the versions that have it, as first and last of those that follow each other."""

    versions: list[str]  # newest first
    packages: dict[str, dict[str, str]]
    names: dict[str, list[tuple[str, str]]]


class Lack(msgspec.Struct, frozen=True):
    """A version has no such name. `last`: the last older one that has it; `first`: the first newer one; both None: none
    of those that were read has it."""

    last: str | None
    first: str | None


@cache
def _wheels() -> _Wheels:
    return msgspec.json.decode((FOLDER / "wheels.json").read_bytes(), type=_Wheels)


def versions() -> tuple[str, ...]:
    """The versions whose wheels were read, newest first."""
    return tuple(_wheels().versions)


@cache
def lack(name: str, version: str | None) -> Lack | None:
    """What a version of TensorFlow lacks (None: the newest); None where it has the name, or nobody knows."""
    table = _wheels()
    newest, oldest = numbers(table.versions[0]), numbers(table.versions[-1])
    wanted = newest if version is None else numbers(version)
    if wanted < oldest:
        return None
    if _CONTRIB.match(name):
        return Lack(None, None)
    if name.startswith(f"{_WHOLE}."):
        name = _WHOLE
    elif name != _WHOLE and not MODULES.match(name):
        return None
    spans = [(numbers(first), numbers(last)) for first, last in table.names.get(_owner(name), ())]
    if any(first <= wanted <= last or (last == newest and wanted > last) for first, last in spans):
        return None
    before = [last for _, last in spans if last < wanted]
    after = [first for first, _ in spans if first > wanted]
    return Lack(_text(max(before, default=None)), _text(min(after, default=None)))


@cache
def names(version: str | None) -> tuple[str, ...]:
    """The names that a version of TensorFlow has (None: the newest)."""
    return tuple(name for name in _wheels().names if lack(name, version) is None)


@cache
def may_lack(name: str) -> bool:
    """Whether some version lacks a name, of those that are known."""
    return any(lack(name, version) is not None for version in versions())


def _owner(name: str) -> str:
    """The name itself or, of a method of a class that is listed, the class."""
    owner = name.rpartition(".")[0]
    return owner if owner in _wheels().names and owner.rpartition(".")[2][:1].isupper() and owner != STRATEGY else name


def _text(version: tuple[int, ...] | None) -> str | None:
    return None if version is None else ".".join(map(str, version))
