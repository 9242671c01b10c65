"""What the patterns of `match` bind, and whether they match what is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.joins import as_tuple
from ..domain.values import (
    NONE,
    UNKNOWN,
    ClassValue,
    Dict,
    Instance,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..library.class_checks import is_instance
from .frames import Frame
from .interface import Interpreter
from .narrowing import class_names

_SINGLETONS: Final = {"None": None, "True": True, "False": False}


class Patterns(Interpreter):
    """What the patterns of `match` bind, and whether they match what is known."""

    def matches(self, frame: Frame, pattern: cst.MatchPattern, value: Value, node: cst.BaseExpression) -> bool | None:
        """Bind the names of a pattern to the parts of what it is compared with; whether it matches, where that is
        known."""
        match pattern:
            case cst.MatchAs(pattern=inner, name=name):
                matched = True if inner is None else self.matches(frame, inner, value, node)
                if name is not None:
                    self.bind(frame, name.value, value)
                return matched
            case cst.MatchValue(value=expression):
                return _equal(self.evaluate(frame, expression), value)
            case cst.MatchSingleton(value=cst.Name(value=name)):
                return False if isinstance(value, Tensor) else _equal(Static(_SINGLETONS[name]), value)
            case cst.MatchOr(patterns=patterns):
                found = [self.matches(frame, each.pattern, value, node) for each in patterns]
                return True if True in found else None if None in found else False
            case cst.MatchTuple(patterns=patterns) | cst.MatchList(patterns=patterns):
                return self._matches_sequence(frame, patterns, value, node)
            case cst.MatchMapping():
                return self._matches_mapping(frame, pattern, value, node)
            case cst.MatchClass():
                return self._matches_class(frame, pattern, value, node)
            case _:
                return None

    def _matches_sequence(
        self,
        frame: Frame,
        patterns: Iterable[cst.MatchSequenceElement | cst.MatchStar],
        value: Value,
        node: cst.BaseExpression,
    ) -> bool | None:
        value, parts = as_tuple(value), list(patterns)
        star = next((at for at, part in enumerate(parts) if isinstance(part, cst.MatchStar)), None)
        items = value.items if isinstance(value, Sequence) and value.kind != "set" else None
        if items is not None and (len(items) != len(parts) if star is None else len(items) < len(parts) - 1):
            return False
        fits: bool | None = True
        if items is None:
            fits = None if isinstance(value, Sequence | Structure | Unknown) else _never(value)
            part_of = self.element(frame, value, node) if isinstance(value, Sequence | Structure) else UNKNOWN
            items = tuple(Sequence("list", None, part_of) if at == star else part_of for at in range(len(parts)))
        elif star is not None:
            behind = len(items) - (len(parts) - star - 1)
            items = (*items[:star], Sequence("list", items[star:behind]), *items[behind:])
        found = [fits]
        for part, item in zip(parts, items, strict=True):
            if isinstance(part, cst.MatchSequenceElement):
                found.append(self.matches(frame, part.value, item, node))
            elif part.name is not None:
                self.bind(frame, part.name.value, item)
        return _all(found)

    def _matches_mapping(
        self, frame: Frame, pattern: cst.MatchMapping, value: Value, node: cst.BaseExpression
    ) -> bool | None:
        held = value if isinstance(value, Dict) else None
        found: list[bool | None] = [_never(value) if held is None else True]
        left: dict[Any, Value] = {} if held is None else dict(held.entries)
        for element in pattern.elements:
            item = None
            match self.evaluate(frame, element.key):
                case Static(key) as named if named.known:
                    item = left.pop(key, None)
            if item is None:  # who else has put something into it is not always seen
                found.append(None)
                item = held.element if held is not None else value.part if isinstance(value, Structure) else None
            found.append(self.matches(frame, element.pattern, item or UNKNOWN, node))
        if pattern.rest is not None:
            self.bind(frame, pattern.rest.value, UNKNOWN if held is None else Dict(left, held.element))
        return _all(found)

    def _matches_class(
        self, frame: Frame, pattern: cst.MatchClass, value: Value, node: cst.BaseExpression
    ) -> bool | None:
        cls = self.evaluate(frame, pattern.cls)
        if isinstance(value, Instance) and isinstance(cls, ClassValue):
            found: list[bool | None] = [cls.cls in value.cls.mro]
        else:
            found = [is_instance(value, class_names(self, frame, pattern.cls))]
        names = self._positions(frame, cls, node)
        whole = not isinstance(cls, ClassValue)  # `int(size)`: of Python's own classes it is the object
        for part in pattern.patterns:
            name = next(names, None)
            read = self.attribute(frame, value, name, node) if name is not None else value if whole else UNKNOWN
            found.append(self.matches(frame, part.value, read, node))
        for keyword in pattern.kwds:
            read = self.attribute(frame, value, keyword.key.value, node)
            found.append(self.matches(frame, keyword.pattern, read, node))
        return _all(found)

    def _positions(self, frame: Frame, cls: Value, node: cst.BaseExpression) -> Iterator[str]:
        """The names of the attributes that a class's patterns have by position."""
        if not isinstance(cls, ClassValue):
            return
        match self.attribute(frame, cls, "__match_args__", node):
            case Sequence(items=tuple(items)):
                yield from (item.constant for item in items if isinstance(item, Static))
            case _ if self.is_record(cls.cls):
                yield from self.any_record(cls.cls)


def compares(pattern: cst.MatchPattern) -> bool:
    """Whether a pattern asks whether the subject is equal to something: `case None` and `case [a, b]` do not."""
    match pattern:
        case cst.MatchValue():
            return True
        case cst.MatchAs(pattern=cst.MatchPattern() as inner):
            return compares(inner)
        case cst.MatchOr(patterns=patterns):
            return any(compares(each.pattern) for each in patterns)
        case _:
            return False


def _all(found: Iterable[bool | None]) -> bool | None:
    results = list(found)
    return False if False in results else None if None in results else True


def _equal(wanted: Value, value: Value) -> bool | None:
    match wanted, value:
        case Static(left), Static(right) if wanted.known and value.known:
            return bool(left == right)
        case _ if wanted == NONE:
            return _never(value)
        case _:
            return None


def _never(value: Value) -> bool | None:
    """False for what is not None, nor what patterns of sequences and mappings match."""
    match value:
        case Tensor() | Instance():
            return False
        case Static(constant) if value.known and not isinstance(constant, tuple | list | dict):
            return False
        case _:
            return None
