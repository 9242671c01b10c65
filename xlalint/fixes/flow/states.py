"""What the analysis knows of an expression: which rows of a whole tensor it holds.

In place of selected rows the rewrite computes with the whole tensor, whose other rows nothing takes in: each expression
keeps its place, and means the rows at their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ...syntax import nodes as cst
from ..rewrite import GivenUp

Function: TypeAlias = cst.FunctionDef | cst.Lambda


@dataclass(frozen=True)
class Mask:
    """What selects: a boolean tensor. `text`: how the frame that owns it writes it, valid while `names` have their
    versions; `rank`: how many dimensions of the whole tensor one dimension of the program stands for, if known."""

    key: str
    text: str = field(compare=False)
    rank: int | None = field(compare=False)
    owner: int = field(compare=False)  # the number of the frame that can write the text
    names: tuple[tuple[str, int], ...] = field(compare=False)
    is_boolean: bool = field(compare=False, default=True)
    kind: str = field(compare=False, default="")  # "finite" where it leaves out what is not finite
    bound: str = field(compare=False, default="")  # it is True before this position, and nowhere else


@dataclass(frozen=True)
class Rows:
    """A tensor with one dimension for what a mask selects: number `front`, if known, with `behind` dimensions behind
    it. `roots`: the selections that it is computed of."""

    mask: Mask
    front: int | None = 0
    behind: int | None = None
    roots: frozenset[int] = frozenset()
    or_zero: bool = False  # where nothing is selected, the program has a zero instead
    kind: str | None = None  # "float" or "bool", where that is known of the dtype

    def shaped(self, front: int | None, behind: int | None) -> Rows:
        """The same rows with other dimensions around the selected one."""
        return replace(self, front=front, behind=behind)

    def deeper(self, by: int) -> Rows:
        """The same rows with so many more dimensions behind the selected one."""
        return self.shaped(self.front, None if self.behind is None else self.behind + by)


@dataclass(frozen=True)
class Places:
    """Where a mask is True: a row of numbers for each; `flat`: one number, of a mask with one dimension. The text is
    that of the mask."""

    mask: Mask
    flat: bool = False


@dataclass(frozen=True)
class Count:
    """How many rows a mask selects. The text is a scalar already. `exact`: it is no multiple of that."""

    mask: Mask
    exact: bool = True


@dataclass(frozen=True)
class Sizes:
    """The shape of rows, from dimension `first` on, or something that is computed of it."""

    rows: Rows | None
    first: int = 0


@dataclass(frozen=True)
class Items:
    """A tuple or a list."""

    states: tuple[State, ...]


@dataclass(frozen=True)
class Object:
    """An instance of a class of the file. `attributes`: those that hold selected rows, or places."""

    cls: str
    attributes: tuple[tuple[str, State], ...] = ()

    def get(self, name: str) -> State:
        return dict(self.attributes).get(name, OTHER)

    def with_attribute(self, name: str, state: State) -> Object:
        found = dict(self.attributes)
        found[name] = state
        return replace(self, attributes=tuple(sorted(found.items(), key=lambda item: item[0])))


@dataclass(frozen=True)
class Other:
    """What has nothing to do with a selection. `least`: it has at least so many dimensions; `asks`: it is whether
    "some" rows are selected, or "none"; `is_zero`: it is written as a zero."""

    least: int = 0
    asks: str = ""
    is_zero: bool = False
    kind: str | None = None


@dataclass(frozen=True, eq=False)
class Callable:
    """A function of the file with the frame around it, or one of a library's, perhaps with arguments given before."""

    function: Function | None = None
    frame: object = None
    api: str = ""
    given: tuple[cst.Arg, ...] = ()


@dataclass(frozen=True)
class Mixed:
    """Rows one way, and something else another way: nothing may use it."""


State: TypeAlias = Rows | Places | Count | Sizes | Items | Object | Callable | Other | Mixed
OTHER: Final = Other()


def holds_rows(state: State) -> bool:
    """Whether something of a selection is in it."""
    match state:
        case Items(states):
            return any(map(holds_rows, states))
        case Object(attributes=attributes):
            return any(holds_rows(one) for _, one in attributes)
        case Other() | Count() | Callable():
            return False
        case _:
            return True


def joined(one: State, other: State) -> State:
    """What is known where two ways meet."""
    match one, other:
        case _ if one == other:
            return one
        case Rows(), Rows() if one.mask == other.mask:
            front = one.front if one.front == other.front else None
            behind = one.behind if one.behind == other.behind else None
            kind = one.kind if one.kind == other.kind else None
            return Rows(one.mask, front, behind, one.roots | other.roots, one.or_zero and other.or_zero, kind)
        case Items(states), Items(others) if len(states) == len(others):
            return Items(tuple(map(joined, states, others)))
        case Object(cls=cls), Object(cls=again) if cls == again:
            names = {name for name, _ in (*one.attributes, *other.attributes)}
            return Object(cls, tuple((name, joined(one.get(name), other.get(name))) for name in sorted(names)))
        case _ if holds_rows(one) or holds_rows(other):
            return Mixed()
        case _:
            return OTHER


def together(states: Sequence[State]) -> State:
    """What an operation for each position gives: of rows of one mask that stand at one place, or of none. Raises
    `GivenUp`."""
    rows = [one for one in states if isinstance(one, Rows)]
    if any(isinstance(one, Count) and not one.exact for one in states):
        raise GivenUp
    if any(holds_rows(one) and not isinstance(one, Rows) for one in states):
        raise GivenUp
    if not rows:
        return OTHER
    first = rows[0]
    if any(one.mask != first.mask for one in rows):
        raise GivenUp
    behind = {one.behind for one in rows if one.behind is not None}
    if len(behind) > 1:
        raise GivenUp  # the rows of one would meet the columns of the other
    front = max((one.front for one in rows if one.front is not None), default=None)
    if any(one.front is None for one in rows):
        front = None
    least = max((one.least for one in states if isinstance(one, Other)), default=0)
    number = next(iter(behind), None)
    if number is not None and front is not None and least > front + 1 + number:
        front = least - 1 - number
    roots = frozenset[int]().union(*(one.roots for one in rows))
    kind = "float" if any(isinstance(one, Rows | Other) and one.kind == "float" for one in states) else None
    return Rows(first.mask, front, number, roots, any(one.or_zero for one in rows), kind)
