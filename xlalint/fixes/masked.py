"""Rewrites of data-dependent selections at a static shape, as text for a person.

The selected elements keep their places; a mask of zeros and ones takes the others out of the sums.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from ..semantics.files import Place
from .sketch import code_of

_LONGEST: Final = 60
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)

# A reduction over everything, by the last part of its name: the same over the elements that `{mask}` holds.
_WHOLE_REDUCTIONS: Final = {
    "reduce_mean": "tf.reduce_sum({x} * {weights}) / tf.reduce_sum({weights})",
    "reduce_sum": "tf.reduce_sum({x} * {weights})",
    "reduce_max": "tf.reduce_max(tf.where({mask}, {x}, {x}.dtype.min))",
    "reduce_min": "tf.reduce_min(tf.where({mask}, {x}, {x}.dtype.max))",
    "reduce_any": "tf.reduce_any(tf.logical_and({mask}, {x}))",
    "reduce_all": "tf.reduce_all(tf.logical_or(tf.logical_not({mask}), {x}))",
}
_REDUCTIONS: Final = _WHOLE_REDUCTIONS | {
    name.removeprefix("reduce_"): text for name, text in _WHOLE_REDUCTIONS.items()
}


def brief(node: cst.CSTNode) -> str:
    """The source of a node on one line, shortened to what a message can carry."""
    text = one_line(node)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def one_line(node: cst.CSTNode) -> str:
    """The source of a node; line breaks inside become spaces."""
    return re.sub(r"\s*\n\s*", " ", code_of(node))


def _operand(node: cst.BaseExpression) -> str:
    """The source of an expression where an operator or a dot follows."""
    text = one_line(node)
    return text if isinstance(node, _ATOMS) or node.lpar else f"({text})"


# -- selections by a mask ---------------------------------------------------------------------------------------------


def selection(place: Place, values: cst.BaseExpression, mask: cst.BaseExpression, missing: int = 0) -> str:
    """The rewrite of `values[mask]` at `place`; the mask has `missing` dimensions less than the values."""
    path = path_to(place.unit.tree, place.node)
    reduction = _reduction_around(path)
    if reduction is not None:
        return _reduced(reduction, values, mask, missing)
    return _over_statements(path, values, mask, missing)


def _reduced(name: str, values: cst.BaseExpression, mask: cst.BaseExpression, missing: int) -> str:
    x, condition = _operand(values), one_line(mask)
    if not missing:
        return _REDUCTIONS[name].format(x=x, mask=condition, weights=f"tf.cast({condition}, {x}.dtype)")
    spread = f"{_operand(mask)}[{_new_axes(missing)}]"
    text = _REDUCTIONS[name].format(x=x, mask=spread, weights="weights")
    definition = f"weights = tf.ones_like({one_line(values)}) * tf.cast({spread}, {x}.dtype)\n"
    return (definition if "weights" in text else "") + text


def _new_axes(missing: int) -> str:
    return ", ".join(["...", *["tf.newaxis"] * missing])


def _over_statements(
    path: Sequence[cst.CSTNode], values: cst.BaseExpression, mask: cst.BaseExpression, missing: int
) -> str:
    """The mask as weights, and the statements from the selection to its reduction over the whole tensors."""
    statements = _statements_around(path)
    weights = mask.value if isinstance(mask, cst.Name) else "mask"
    whole = {
        name: selected
        for name, value in map(_assignment, statements)
        if name is not None and (selected := _selected(value, mask)) is not None
    }
    definition = next((value for name, value in map(_assignment, statements) if name == weights), None)
    if definition is None or not isinstance(mask, cst.Name):
        definition = mask
    lines = [f"{weights} = tf.cast({one_line(definition)}, tf.float32)"]
    lines += _until_reduced(statements, whole, weights) or [
        f"tf.reduce_sum({_operand(values)} * {_spread(weights, missing)}) / tf.reduce_sum({weights})"
    ]
    return "\n".join(lines)


def _spread(weights: str, missing: int) -> str:
    return f"{weights}[{_new_axes(missing)}]" if missing else weights


def _until_reduced(
    statements: Sequence[cst.CSTNode], whole: dict[str, cst.BaseExpression], weights: str
) -> list[str] | None:
    """The statements from the selected names to the first reduction that follows from them, over the whole tensors."""
    steps: dict[str, cst.BaseExpression] = {}
    for statement in statements:
        name, value = _assignment(statement)
        if value is None or name in whole or not (whole.keys() | steps.keys()) & set(_names(value)):
            continue
        match value:
            case cst.Call(args=[cst.Arg(value=reduced)]) if reduction := _reduction(value):
                x = _operand(_over(whole, reduced))
                text = _REDUCTIONS[reduction].format(x=x, mask=f"{weights} > 0.0", weights=weights)
                needed = _needed(reduced, steps)
                lines = [f"{step} = {one_line(_over(whole, steps[step]))}" for step in steps if step in needed]
                return [*lines, f"{name} = {text}" if name is not None else f"return {text}"]
        if name is not None:
            steps[name] = value
    return None


def _needed(node: cst.BaseExpression, steps: dict[str, cst.BaseExpression]) -> set[str]:
    """The steps that an expression is computed from."""
    needed: set[str] = set()
    waiting = [node]
    while waiting:
        fresh = steps.keys() & set(_names(waiting.pop())) - needed
        needed |= fresh
        waiting += [steps[name] for name in fresh]
    return needed


def _over(whole: dict[str, cst.BaseExpression], node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression with the whole tensors where the names of their selections stand."""
    complete = node.visit(_Replace(whole))
    assert isinstance(complete, cst.BaseExpression)
    return complete


def _selected(value: cst.BaseExpression | None, mask: cst.BaseExpression) -> cst.BaseExpression | None:
    """`x` where a statement's value is `x[mask]` or a call such as `boolean_mask(x, mask)`."""
    match value:
        case cst.Subscript(value=whole, slice=[cst.SubscriptElement(cst.Index(index))]) if index.deep_equals(mask):
            return whole
        case cst.Call(args=[cst.Arg(value=whole), cst.Arg(value=index)]) if index.deep_equals(mask):
            return whole
        case _:
            return None


# -- other sketches ---------------------------------------------------------------------------------------------------


def replaced(node: cst.CSTNode, old: cst.CSTNode, new: str) -> str:
    """The source of `node` with `new` in the place of its part `old`."""
    changed = node.deep_replace(old, cst.parse_expression(new))
    assert isinstance(changed, cst.CSTNode)
    return one_line(changed)


def parent(place: Place) -> cst.CSTNode | None:
    """The node directly around the one of `place`."""
    path = path_to(place.unit.tree, place.node)
    return path[-2] if len(path) > 1 else None


# -- reading the tree around a place ----------------------------------------------------------------------------------


def path_to(root: cst.CSTNode, node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes from the root down to `node`."""
    if root is node:
        return [root]
    for child in root.children:
        if path := path_to(child, node):
            return [root, *path]
    return []


def _reduction_around(path: Sequence[cst.CSTNode]) -> str | None:
    """The name of the reduction of which the last node of the path is the only argument."""
    match path[-3:]:
        case [cst.Call() as call, cst.Arg(), _]:
            return _reduction(call)
        case _:
            return None


def _reduction(node: cst.CSTNode) -> str | None:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(name)) | cst.Name(name), args=[_]) if name in _REDUCTIONS:
            return name
        case _:
            return None


def _statements_around(path: Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
    """The simple statements of the block around the last node of the path."""
    for node in reversed(path):
        if isinstance(node, cst.IndentedBlock | cst.Module):
            return [small for line in node.body if isinstance(line, cst.SimpleStatementLine) for small in line.body]
    return ()


def _assignment(statement: cst.CSTNode) -> tuple[str | None, cst.BaseExpression | None]:
    """The name and the value of an assignment; a `return` has a value only."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=value):
            return name, value
        case cst.Return(value=value):
            return None, value
        case _:
            return None, None


def _names(node: cst.CSTNode) -> Iterator[str]:
    if isinstance(node, cst.Name):
        yield node.value
    for child in node.children:
        yield from _names(child)


class _Replace(cst.CSTTransformer):
    """Puts the whole tensors where the names of their selections stand."""

    def __init__(self, whole: dict[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._whole = whole

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
        return self._whole.get(original_node.value, updated_node)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:  # noqa: N802
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        return updated_node.with_changes(keyword=original_node.keyword)
