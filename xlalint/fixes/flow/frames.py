"""A function while it is analysed: what its names hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...syntax import nodes as cst
from ..rewrite import GivenUp
from .states import OTHER, Function, Mask, Rows, State, joined


@dataclass(eq=False)
class Frame:
    """`around`: the frame that its function is defined in; `caller`, `call`: who runs it."""

    number: int
    function: Function | None
    around: Frame | None = None
    caller: Frame | None = None
    call: cst.Call | None = None
    names: dict[str, State] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    defined: dict[str, cst.BaseExpression] = field(default_factory=dict)  # what a name stands for, as it is written
    bound: set[str] = field(default_factory=set)
    returned: list[State] = field(default_factory=list)

    def get(self, name: str) -> State | None:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.around
        return None

    def set(self, name: str, state: State, value: cst.BaseExpression | None = None) -> None:
        self.names[name] = state
        self.versions[name] = self.versions.get(name, 0) + 1
        self.aliases.pop(name, None)
        self.defined.pop(name, None)
        if value is not None:
            self.defined[name] = value

    def definition(self, name: str) -> cst.BaseExpression | None:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.defined.get(name)
            frame = frame.around
        return None

    def all_aliases(self) -> dict[str, str]:
        found = {} if self.around is None else self.around.all_aliases()
        return {name: path for name, path in found.items() if name not in self.names} | self.aliases

    def version(self, name: str) -> int:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names or name in frame.versions:
                return frame.versions.get(name, 0) + 1000 * frame.number
            frame = frame.around
        return 0

    def sees(self, mask: Mask) -> bool:
        """Whether the text of a mask means here what it meant where it was made."""
        frame: Frame | None = self
        while frame is not None and frame.number != mask.owner:
            frame = frame.around
        if frame is None:
            return False
        if any(self.version(name) != version for name, version in mask.names):
            raise GivenUp  # it is another one by now
        return True

    def copy_names(self) -> tuple[dict[str, State], dict[str, int], dict[str, cst.BaseExpression]]:
        return dict(self.names), dict(self.versions), dict(self.defined)

    def join(self, other: tuple[dict[str, State], dict[str, int], dict[str, cst.BaseExpression]]) -> None:
        """What holds whether the names are as they are, or as they were along another way."""
        names, versions, defined = other
        for name in {*self.names, *names}:
            if self.versions.get(name) == versions.get(name):
                continue
            own = self.names.get(name, OTHER)
            self.names[name] = joined(own, names[name]) if name in names else own
            self.versions[name] = max(self.versions.get(name, 0), versions.get(name, 0)) + 1
            if self.defined.get(name) is not defined.get(name):
                self.defined.pop(name, None)

    def rows(self) -> list[Rows]:
        return [state for state in self.names.values() if isinstance(state, Rows)]
