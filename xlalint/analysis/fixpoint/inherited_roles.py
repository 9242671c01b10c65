"""Methods that many classes inherit, of which a few classes tell what there is to tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Final, cast

from ..domain.joins import pattern
from ..domain.values import Class, Function, Value
from ..interpreter.interpreter import ProjectInterpreter
from ..program.code_names import names_in_code
from ..program.definitions import DefinedFunction

_FORWARD: Final = frozenset(("call", "__call__"))
# So many of the classes are entered that share an inherited method and everything it uses.
_ENOUGH: Final = 2


class InheritedRoles:
    """The methods that Keras runs of classes that inherit them."""

    def __init__(self, interpreter: ProjectInterpreter) -> None:
        self._interpreter = interpreter
        self._runs = Counter[tuple[str, Function, frozenset[tuple[str, Hashable]]]]()
        self._names: dict[Function, frozenset[str]] = {}

    def is_told(self, cls: Class, role: str, method: Function) -> bool:
        """Whether enough other classes inherit the method as well and give all that it comes to name the same meaning,
        but for the forward pass, which is entered by itself: of a hundred models that share a training step, some
        tell what there is to tell of it."""
        if method.owner is cls:
            return False
        given = self._attributes_of(cls)
        meanings: dict[str, Hashable] = {}
        pending = [method]
        while pending:
            for name in self._names_in(pending.pop()) & given.keys() - meanings.keys() - _FORWARD:
                match given[name]:
                    case DefinedFunction() as called:
                        pending.append(called)
                        meanings[name] = called
                    case value:
                        meanings[name] = pattern(cast(Value, value))
        run = (role, method, frozenset(meanings.items()))
        self._runs[run] += 1
        return self._runs[run] > _ENOUGH

    def _attributes_of(self, cls: Class) -> dict[str, Function | Value]:
        """What `self.name` may be in a method, by the name."""
        found: dict[str, Function | Value] = {}
        for ancestor in reversed(cls.mro):
            if not isinstance(ancestor, str):
                found |= self._interpreter.class_attributes(ancestor)
                found |= ancestor.functions
        return found | self._interpreter.canonical_instance(cls).attributes

    def _names_in(self, function: Function) -> frozenset[str]:
        if function not in self._names:
            self._names[function] = function.unit.told(names_in_code, function.node)
        return self._names[function]
