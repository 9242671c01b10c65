"""Where the value of an argument was made: through local names and calls that keep values, back to an expression."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from xlalint.fixes.masked import path_to
from xlalint.semantics.events import ApiCall
from xlalint.semantics.files import Place, Unit

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
        self._calls: dict[Place, ApiCall] = {}

    def remember(self, call: ApiCall) -> None:
        """A call that may be met on the way back."""
        self._calls[call.place] = call

    def call_at(self, unit: Unit, node: cst.CSTNode) -> ApiCall | None:
        """The remembered call that an expression is."""
        return self._calls.get(Place(unit, node))

    def made(self, unit: Unit, node: cst.BaseExpression) -> cst.BaseExpression:
        """The expression that made the value: behind names with one assignment, parts and calls that hand on."""
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
                return _assigned(unit, node)
            case cst.Subscript(value=value) | cst.Attribute(value=value):
                return value
            case cst.Call(args=[first, *_]) if (call := self.call_at(unit, node)) and call.api in HANDING_ON:
                return first.value
            case _:
                return None


def _assigned(unit: Unit, name: cst.Name) -> cst.BaseExpression | None:
    """What the function around `name` assigns to it, if it does so in one place only."""
    around = [node for node in path_to(unit.tree, name) if isinstance(node, cst.FunctionDef)]
    if not around:
        return None
    found = list(_assignments(around[-1].body, name.value))
    return found[0] if len(found) == 1 else None


def _assignments(node: cst.CSTNode, name: str) -> Iterator[cst.BaseExpression | None]:
    """The values that are bound to a name below `node`; None for a binding that is no plain assignment."""
    match node:
        case cst.Assign(targets=targets, value=value):
            for target in targets:
                if _binds(target.target, name):
                    yield value  # of an unpacked call, the call
        case cst.AnnAssign(target=cst.Name(value=bound), value=value) if bound == name:
            yield value
        case cst.AugAssign(target=target) | cst.For(target=target) | cst.CompFor(target=target) if _binds(target, name):
            yield None
        case _:
            pass
    for child in node.children:
        yield from _assignments(child, name)


def _binds(target: cst.CSTNode, name: str) -> bool:
    match target:
        case cst.Name(value):
            return value == name
        case cst.Tuple(elements) | cst.List(elements):
            return any(_binds(element.value, name) for element in elements)
        case _:
            return False
