"""What the form of a function's body says of its parameters, whoever calls it."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Ordered
from functools import lru_cache

from ...syntax import nodes as cst

# Annotations of what may be, or holds, what stands in brackets.
_HOLDING = frozenset(("Union", "Optional", "List", "list", "Sequence", "Iterable", "Tuple", "tuple"))
_OF_DICTS = frozenset(("items", "keys", "values", "get"))


@lru_cache(1 << 12)  # whoever may call one of several asks at each call
def structures_among(node: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The names that the function takes apart: read as dicts (by text as a key, by a dict's methods, or key by key), or
    unpacked into names, which nobody does with the examples of a batch."""
    finder = _Structures()
    node.body.visit(finder)
    return frozenset(finder.found)


class _Structures(cst.CSTVisitor):
    """Collects the names that no single tensor stands for."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._bound: set[str] = set()  # by the code itself, so far
        self._keys: dict[str, set[str]] = {}  # what loops run over, by the name that they bind

    def visit_For(self, node: cst.For) -> None:  # noqa: N802
        self._iterated(node)

    def visit_CompFor(self, node: cst.CompFor) -> None:  # noqa: N802
        self._iterated(node)

    def _iterated(self, node: cst.For | cst.CompFor) -> None:
        match node.iter, node.target:
            case cst.Name(value=name), cst.Name(value=key):
                self._keys.setdefault(key, set()).add(name)

    def visit_Assign(self, node: cst.Assign) -> None:  # noqa: N802
        match node:
            case cst.Assign(
                value=cst.Name(value=name), targets=[cst.AssignTarget(target=cst.Tuple() | cst.List())]
            ) if name not in self._bound:
                self.found.add(name)
        self._bound |= {name for target in node.targets for name in cst.names_in(target.target)}

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


def asked_for(node: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The names of which the function asks whether they are None."""
    asking = _Asking()
    node.body.visit(asking)
    return frozenset(asking.names)


class _Asking(cst.CSTVisitor):
    """Collects the names that are compared with None."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Comparison(self, node: cst.Comparison) -> None:  # noqa: N802
        match node:
            case cst.Comparison(
                left=cst.Name(value=name),
                comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name(value="None"))],
            ):
                self.names.add(name)


class Parts(cst.CSTVisitor):
    """What the body of a loop does: of what it takes the part at the position of its counter (`bases`; `steps`: along
    an axis, or by a function that is passed on with it), whether it makes names of the counter, as those who number
    their layers do, which names it binds or appends to, and the calls, each with the names in its arguments."""

    def __init__(self, counter: str | None) -> None:
        self.bases: list[cst.BaseExpression] = []
        self.steps: list[cst.BaseExpression] = []
        self.named = False
        self.changed: set[str] = set()
        self.calls: list[tuple[cst.BaseExpression, frozenset[str]]] = []
        self._counter = counter
        self._own: list[str] = []  # the parameters of the functions around

    def visit_Subscript(self, node: cst.Subscript) -> None:  # noqa: N802
        if not any(_is_at(part.slice, self._counter) for part in node.slice):
            return
        inside = isinstance(node.value, cst.Name) and node.value.value in self._own
        if not inside:
            (self.bases if len(node.slice) == 1 else self.steps).append(node.value)

    def visit_Lambda(self, node: cst.Lambda) -> None:  # noqa: N802
        self._own.extend(parameter.name.value for parameter in node.params.params)

    def leave_Lambda(self, node: cst.Lambda) -> None:  # noqa: N802
        del self._own[len(self._own) - len(node.params.params) :]

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:  # noqa: N802
        self.changed |= {*cst.names_in(node.target)}

    def visit_AugAssign(self, node: cst.AugAssign) -> None:  # noqa: N802
        self.changed |= {*cst.names_in(node.target)}

    def visit_Call(self, node: cst.Call) -> None:  # noqa: N802
        match node.func:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append")):
                self.changed.add(name)
            case cst.Name() | cst.Attribute():
                names = _Names()
                for argument in node.args:
                    argument.value.visit(names)
                self.calls.append((node.func, frozenset(names.found)))
        if any(isinstance(argument.value, cst.Lambda) and self._takes_step(argument.value) for argument in node.args):
            self.steps += [argument.value for argument in node.args if not isinstance(argument.value, cst.Lambda)]

    def _takes_step(self, function: cst.Lambda) -> bool:
        """Whether it returns the part of its argument at the position of the counter: `lambda x: x[t]`."""
        own = {parameter.name.value for parameter in function.params.params}
        match function.body:
            case cst.Subscript(value=cst.Name(value=name), slice=parts):
                return name in own and any(_is_at(part.slice, self._counter) for part in parts)
            case _:
                return False

    def visit_FormattedStringExpression(self, node: cst.FormattedStringExpression) -> None:  # noqa: N802
        match node.expression:
            case cst.Name(value=name) if name == self._counter:
                self.named = True


class _Names(cst.CSTVisitor):
    """Collects names."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:  # noqa: N802
        self.found.add(node.value)


def _is_at(index: cst.BaseSlice, name: str | None) -> bool:
    return isinstance(index, cst.Index) and isinstance(index.value, cst.Name) and index.value.value == name


def takes_text(node: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether the annotation of a method's argument says that it may be text: `image: str | np.ndarray`, a path say."""
    first = next(iter((*node.params.posonly_params, *node.params.params)[1:]), None)
    return first is not None and first.annotation is not None and _names_text(first.annotation.annotation)


def _names_text(annotation: cst.BaseExpression) -> bool:
    match annotation:
        case cst.Name(value="str" | "bytes"):
            return True
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return _names_text(left) or _names_text(right)
        case cst.Subscript(value=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)), slice=parts) if (
            name in _HOLDING
        ):
            return any(isinstance(part.slice, cst.Index) and _names_text(part.slice.value) for part in parts)
        case _:
            return False


def closed_over(node: cst.FunctionDef | cst.Lambda) -> frozenset[str] | None:
    """The names that a function may read from the functions around it; None where it makes functions or classes of its
    own, which may read them later, or changes what is around it."""
    named = _Named()
    node.body.visit(named)
    if named.keeps:
        return None
    bound = Bound()
    node.body.visit(bound)
    params = node.params
    own = {param.name.value for param in (*params.posonly_params, *params.params, *params.kwonly_params)}
    return frozenset(named.names - bound.names - own)


class _Named(cst.CSTVisitor):
    """The names in a piece of code, and whether it keeps what is around it, or changes it."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.keeps = False

    def visit_Name(self, node: cst.Name) -> None:  # noqa: N802
        self.names.add(node.value)

    def visit_Attribute(self, node: cst.Attribute) -> bool:  # noqa: N802
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:  # noqa: N802
        node.value.visit(self)
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:  # noqa: N802
        self.keeps = True

    def visit_Lambda(self, node: cst.Lambda) -> None:  # noqa: N802
        self.keeps = True

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802
        self.keeps = True

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:  # noqa: N802
        self.keeps = True


def passed_on(node: cst.FunctionDef | cst.Lambda) -> frozenset[int]:
    """The positions of the parameters that a function returns as they are, each at its own position: of the body of a
    loop, the variables that no iteration changes."""
    params = (*node.params.posonly_params, *node.params.params)
    returned = [node.body] if isinstance(node, cst.Lambda) else [one.value for one in _returns(node.body)]
    rows = [one.elements if isinstance(one, cst.Tuple | cst.List) else () for one in returned]
    bound = Bound()
    node.body.visit(bound)
    return frozenset(
        position
        for position, param in enumerate(params)
        if rows
        and param.name.value not in bound.names
        and all(position < len(row) and _is_name(row[: position + 1], param.name.value) for row in rows)
    )


def _is_name(elements: Ordered[cst.BaseElement], name: str) -> bool:
    """Whether the last of some elements is a name, with none before it that is unpacked."""
    last = elements[-1].value
    plain = not any(isinstance(one, cst.StarredElement) for one in elements)
    return plain and isinstance(last, cst.Name) and last.value == name


def _returns(node: cst.CSTNode) -> Iterator[cst.Return]:
    """The `return` statements of a function, without those of functions inside of it."""
    if isinstance(node, cst.Return):
        yield node
    elif not isinstance(node, cst.FunctionDef | cst.ClassDef | cst.BaseExpression):
        for child in node.children:
            yield from _returns(child)


class Bound(cst.CSTVisitor):
    """The names that a piece of code binds, those of functions inside of it included."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def _bind(self, target: cst.BaseExpression) -> None:
        self.names |= {*cst.names_in(target)}

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_For(self, node: cst.For) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:  # noqa: N802
        self._bind(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:  # noqa: N802
        self._bind(node.name)


class Unconvertible(cst.CSTVisitor):
    """Finds what stops AutoGraph from converting the function around it."""

    found: str | None = None

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:  # noqa: N802
        self.found = "an assignment expression (`:=`)"

    def visit_Yield(self, node: cst.Yield) -> None:  # noqa: N802
        self.found = "a `yield`"

    def visit_Match(self, node: cst.Match) -> None:  # noqa: N802
        self.found = "a `match` statement"
