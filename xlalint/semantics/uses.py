"""What the form of a function's body says of its parameters, whoever calls it."""

from __future__ import annotations

from collections.abc import Iterator

from ..tree import nodes as cst

_OF_DICTS = frozenset(("items", "keys", "values", "get"))


def dicts_among(node: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The names that the function reads as dicts: by text as a key, by a dict's methods, or key by key."""
    finder = _Dicts()
    node.body.visit(finder)
    return frozenset(finder.found)


class _Dicts(cst.CSTVisitor):
    """Collects the names that only a dict can stand for."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._keys: dict[str, set[str]] = {}  # what loops run over, by the name that they bind

    def visit_For(self, node: cst.For) -> None:  # noqa: N802
        self._iterated(node)

    def visit_CompFor(self, node: cst.CompFor) -> None:  # noqa: N802
        self._iterated(node)

    def _iterated(self, node: cst.For | cst.CompFor) -> None:
        match node.iter, node.target:
            case cst.Name(value=name), cst.Name(value=key):
                self._keys.setdefault(key, set()).add(name)

    def visit_Subscript(self, node: cst.Subscript) -> None:  # noqa: N802
        match node.value, node.slice:
            case cst.Name(value=name), [cst.SubscriptElement(slice=cst.Index(value=index))]:
                is_key = isinstance(index, cst.Name) and name in self._keys.get(index.value, ())
                if is_key or isinstance(index, cst.SimpleString):
                    self.found.add(name)

    def visit_Call(self, node: cst.Call) -> None:  # noqa: N802
        match node.func:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=method)) if method in _OF_DICTS:
                self.found.add(name)


class Parts(cst.CSTVisitor):
    """What the body of a loop does: of what it takes the part at the position of its counter (`bases`), whether it
    makes names of the counter, as those who number their layers do, and which names it binds or appends to."""

    def __init__(self, counter: str) -> None:
        self.bases: list[cst.BaseExpression] = []
        self.named = False
        self.changed: set[str] = set()
        self._counter = counter

    def visit_Subscript(self, node: cst.Subscript) -> None:  # noqa: N802
        match node.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=name)))] if name == self._counter:
                self.bases.append(node.value)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:  # noqa: N802
        self.changed |= {name.value for name in _names_in(node.target)}

    def visit_AugAssign(self, node: cst.AugAssign) -> None:  # noqa: N802
        self.changed |= {name.value for name in _names_in(node.target)}

    def visit_Call(self, node: cst.Call) -> None:  # noqa: N802
        match node.func:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append")):
                self.changed.add(name)

    def visit_FormattedStringExpression(self, node: cst.FormattedStringExpression) -> None:  # noqa: N802
        match node.expression:
            case cst.Name(value=name) if name == self._counter:
                self.named = True


def _names_in(target: cst.BaseExpression) -> Iterator[cst.Name]:
    match target:
        case cst.Name():
            yield target
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _names_in(element.value)


class Unconvertible(cst.CSTVisitor):
    """Finds what stops AutoGraph from converting the function around it."""

    found: str | None = None

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:  # noqa: N802
        self.found = "an assignment expression (`:=`)"

    def visit_Yield(self, node: cst.Yield) -> None:  # noqa: N802
        self.found = "a `yield`"

    def visit_Match(self, node: cst.Match) -> None:  # noqa: N802
        self.found = "a `match` statement"
