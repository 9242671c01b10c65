"""Where the value of an argument was made: through local names and calls that keep values, back to an expression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.events import ApiCall
from xlalint.syntax import nodes as cst

from ._names import names

# Calls that hand on the values of their first argument.
HANDING_ON = names(
    """
    keras.ops.cast keras.ops.convert_to_tensor keras.ops.expand_dims keras.ops.flip keras.ops.reshape keras.ops.squeeze
    keras.ops.stop_gradient keras.ops.transpose tf.broadcast_to tf.cast tf.convert_to_tensor tf.ensure_shape
    tf.expand_dims tf.identity tf.repeat tf.reshape tf.reverse tf.slice tf.squeeze tf.stop_gradient tf.tile
    tf.transpose
    """
)
_FARTHEST = 8  # steps back


class Provenance:
    """Follows arguments back inside a function; the calls on the way are told apart by what they call, not by name."""

    def __init__(self) -> None:
        self._calls: dict[Location, ApiCall] = {}

    def remember(self, call: ApiCall) -> None:
        """A call that may be met on the way back."""
        self._calls[call.location] = call

    def call_at(self, unit: Unit, node: cst.CSTNode) -> ApiCall | None:
        """The remembered call that an expression is."""
        return self._calls.get(Location(unit, node))

    def made(self, unit: Unit, node: cst.BaseExpression) -> cst.BaseExpression:
        """The expression that made the value: behind parts, calls that hand on, and names whose assignment is sure."""
        for step in self.steps(unit, node):
            node = step
        return node

    def steps(self, unit: Unit, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The expressions on the way back, `node` first."""
        for _ in range(_FARTHEST):
            yield node
            before = self._before(unit, node)
            if before is None:
                break
            node = before

    def _before(self, unit: Unit, node: cst.BaseExpression) -> cst.BaseExpression | None:
        match node:
            case cst.Name():
                return unit.told(_Assignments, unit.tree).value_of(node)
            case cst.Subscript(value=value) | cst.Attribute(value=value):
                return value
            case cst.Call(args=[first, *_]) if (call := self.call_at(unit, node)) and call.api in HANDING_ON:
                return first.value
            case _:
                return None


# What one name of a function is bound to, in order: the value, if it is a plain assignment, and whether that stands
# straight in the function, outside of branches and loops.
_Bound: TypeAlias = list[tuple[cst.BaseExpression | None, bool]]
_APART = (cst.If, cst.For, cst.While, cst.Try, cst.Match)  # what is in them may run or not, or again


class _Assignments:
    """What the functions of a tree bind their names to; functions inside one count as part of it."""

    def __init__(self, tree: cst.Module) -> None:
        # Of each name: what the function around it binds it to, how often before, and what those around that bind.
        self._around: dict[cst.CSTNode, tuple[_Bound, int, tuple[_Bound, ...]]] = {}
        self._parameters: dict[int, frozenset[str]] = {}  # by how deep the function stands that is read
        self._read(tree, (), straight=True)

    def value_of(self, name: cst.Name) -> cst.BaseExpression | None:
        """What the function around `name` assigns to it: in one place only, or last before it, one after the other.
        None where it stands in front of that, as in `x = f(x)`: what it holds there is from outside. What an inner
        function does not assign is what the function around it assigns last, one after the other."""
        bound, before, outer = self._around.get(name, ([], 0, ()))
        if not bound:
            bound = next(filter(None, outer), [])
            return bound[-1][0] if bound and all(straight for _, straight in bound) else None
        if len(bound) == 1 and (before or not bound[0][1]):
            return bound[0][0]
        return bound[before - 1][0] if before and all(straight for _, straight in bound) else None

    def _read(self, node: cst.CSTNode, scopes: tuple[dict[str, _Bound], ...], *, straight: bool) -> None:
        if isinstance(node, cst.Name):
            if scopes:
                depth = next((at for at in reversed(range(len(scopes))) if node.value in self._parameters[at]), 0)
                bound, *outer = (scope.setdefault(node.value, []) for scope in reversed(scopes[depth:]))
                self._around[node] = bound, len(bound), tuple(outer)
            return
        is_function = isinstance(node, cst.FunctionDef)
        inner = (*scopes, {}) if is_function else scopes
        if isinstance(node, cst.FunctionDef):
            own = (part.name.value for part in cst.within(node.params) if isinstance(part, cst.Param))
            self._parameters[len(scopes)] = frozenset(own)
        for child in node.children:
            self._read(child, inner, straight=is_function or (straight and not isinstance(node, _APART)))
        for target, value in _bindings(node):
            for name in cst.names_in(target):
                for number, scope in enumerate(reversed(scopes)):
                    scope.setdefault(name, []).append((value, straight and number == 0))


def _bindings(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression | None]]:
    """The targets that a node binds, each with its value (of an unpacked call, the call); None: no plain assignment."""
    match node:
        case cst.Assign(targets=targets, value=value):
            yield from ((target.target, value) for target in targets)
        case cst.AnnAssign(target=target, value=value):
            yield target, value
        case cst.AugAssign(target=target) | cst.For(target=target) | cst.CompFor(target=target):
            yield target, None
