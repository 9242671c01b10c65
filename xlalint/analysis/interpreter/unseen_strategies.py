"""Strategies that a library nobody reads makes, known by what the program does with them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import UNKNOWN, ApiObject, Creation, Sequence, Unknown, Value
from ..files.unit import Location
from ..program.decorator_texts import without_speech
from .frames import Frame

OF_THE_TARGET: Final = "tf.distribute.TPUStrategy"
# `with name.scope():`, and what nothing else has than a strategy.
_USED: Final = re.compile(
    r"\bwith\s+(\w+(?:\.\w+)?)\.scope\(\)"
    r"|\b(\w+(?:\.\w+)?)\.(?:num_replicas_in_sync\b|(?:experimental_)?distribute_datasets?(?:_from_function)?\()"
)


def with_strategies(frame: Frame, node: cst.Assign, value: Value) -> Value:
    """What a call returns that is not seen, where the target is a TPU: what the file uses as a strategy is the TPU's,
    be it all of the result or a part that is unpacked."""
    if not (isinstance(value, Unknown) and isinstance(node.value, cst.Call)):
        return value
    used = _strategies(frame.unit.file.text)
    if not used:
        return value
    strategy = ApiObject(OF_THE_TARGET, payload=UNKNOWN, made=Creation(Location(frame.unit, node.value)))
    for target in node.targets:
        match target.target:
            case cst.Tuple(elements=elements) if any(_name(element.value) in used for element in elements):
                parts = (strategy if _name(element.value) in used else UNKNOWN for element in elements)
                return Sequence("tuple", tuple(parts))
            case whole if _name(whole) in used:
                return strategy
    return value


def _name(node: cst.BaseExpression) -> str | None:
    """A name, or an attribute of one, as it is written."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)):
            return f"{owner}.{name}"
        case _:
            return None


@lru_cache(1 << 6)
def _strategies(text: str) -> frozenset[str]:
    """The names that a file uses as strategies."""
    return frozenset(entered or used for entered, used in _USED.findall(without_speech(text)))
