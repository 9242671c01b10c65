"""What is assigned to the attributes of objects, classes and modules, which everything that sees them shares.

An attribute is the join of all that is assigned to it. A body that runs again with arguments that are known better
takes back what it assigned before, and with it the analyses of the functions that it called and that assigned anything.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from msgspec import Struct, field

from ..domain.joins import join, join_all
from ..domain.kinds import is_of_trace
from ..domain.values import Class, Instance, Module, Value
from ..domain.varying_shapes import GROWS, variations_of
from ..files.unit import Location
from .contexts import Context

_Owner: TypeAlias = Instance | Class | Module


class Write(Struct, eq=False):
    """A value that is assigned to an attribute; None once it is taken back. `traced`: where compiled code does that,
    and in which context."""

    owner: _Owner
    name: str
    value: Value | None
    traced: tuple[Location, Context] | None = None


# An assignment, or what tells the analysis of a function that assigned something.
Noted: TypeAlias = Write | Hashable


class _Attribute(Struct, eq=False):
    """What an attribute was before the first assignment that is noted, what was assigned, and what both come to."""

    base: Value | None
    held: Value
    writes: list[Write] = field(default_factory=list)


class AttributeWrites:
    """The assignments of a run, in their order. `memo`: the analyses of functions, by what tells one from others."""

    def __init__(self, memo: MutableMapping[Any, Any]) -> None:
        self._memo = memo
        self._attributes: dict[tuple[_Owner, str], _Attribute] = {}
        self._journal: list[Noted] = []
        self.of_classes: set[str] = set()  # the names that are assigned to any class
        self.restated: set[Class | Module] = set()  # of what the host changes that Keras's steps read
        self.grown = 0  # how often an attribute was assigned what is joined to itself, and came to be that by it
        # What functions assign that are analysed because nobody was seen to call them, by identity: until somebody is.
        self.of_uncalled: dict[object, list[Noted]] = {}

    def assign(
        self,
        owner: _Owner,
        names: MutableMapping[str, Value],
        name: str,
        value: Value,
        traced: tuple[Location, Context] | None = None,
    ) -> None:
        """`owner.name = value`, in the names of the owner: joined with what is there."""
        if not isinstance(owner, Instance):
            self.of_classes.add(name)
        present = names.get(name)
        joined = value if present is None else join(present, value)
        attribute = self._attributes.get((owner, name))
        if attribute is None or attribute.held is not present:
            self._attributes[owner, name] = attribute = _Attribute(present, joined)
        write = Write(owner, name, value, traced)
        attribute.held = joined
        attribute.writes.append(write)
        self._journal.append(write)
        if joined is not present:
            names[name] = joined
            self.grown += any(variation.kind == GROWS for variation in variations_of(value))
            if isinstance(owner, Instance):
                owner.version += 1

    def left_by_trace(self, owner: Instance, name: str) -> tuple[Location, Context] | None:
        """Where compiled code assigns a tensor to an attribute, to which nothing else assigns one."""
        attribute = self._attributes.get((owner, name))
        if attribute is None or (attribute.base is not None and is_of_trace(attribute.base)):
            return None
        tensors = [write for write in attribute.writes if write.value is not None and is_of_trace(write.value)]
        return tensors[0].traced if tensors and all(write.traced is not None for write in tensors) else None

    @property
    def mark(self) -> int:
        """How much is noted so far."""
        return len(self._journal)

    def note_analysis(self, mark: int, key: Hashable) -> None:
        """Note that the analysis of a function under this key assigned something, if it did since the mark."""
        if len(self._journal) > mark:
            self._journal.append(key)

    def since(self, mark: int) -> list[Noted]:
        """What is noted since the mark, which is noted no more."""
        noted = self._journal[mark:]
        del self._journal[mark:]
        return noted

    def take_back_since(self, mark: int) -> None:
        """Forget what is noted since the mark."""
        if len(self._journal) > mark:
            self.take_back(self.since(mark))

    def take_back(self, noted: Iterable[Noted]) -> None:
        """Forget assignments, and the analyses that made them."""
        affected: dict[tuple[_Owner, str], None] = {}
        for entry in noted:
            if isinstance(entry, Write):
                entry.value = None
                affected[entry.owner, entry.name] = None
            else:
                self._memo.pop(entry, None)
        for owner, name in affected:
            self._restore(owner, name)

    def _restore(self, owner: _Owner, name: str) -> None:
        attribute = self._attributes[owner, name]
        names = _names_of(owner)
        if names.get(name) is not attribute.held:
            return  # set by something else since
        attribute.writes = [write for write in attribute.writes if write.value is not None]
        values = [write.value for write in attribute.writes if write.value is not None]
        kept = values if attribute.base is None else [attribute.base, *values]
        if kept:
            names[name] = attribute.held = join_all(*kept)
        else:
            del names[name], self._attributes[owner, name]
        if isinstance(owner, Instance):
            owner.version += 1

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What runs inside is no part of what runs around it: the code of a module that is asked for a name, say."""
        around, self._journal = self._journal, []
        try:
            yield
        finally:
            self._journal = around


def _names_of(owner: _Owner) -> MutableMapping[str, Value]:
    names = owner.values if hasattr(owner, "values") else owner.attributes
    assert names is not None  # of a class: its body is executed before anything is assigned
    return names
