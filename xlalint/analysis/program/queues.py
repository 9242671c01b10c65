"""Data that batches are taken from the front of, as it is written: `x[:n]` beside `x = x[n:]`, until none are left."""

from __future__ import annotations

from functools import lru_cache

from ...syntax import nodes as cst
from ..files.unit import Unit

_ENOUGH = ("0", "1")  # what a number of elements is compared with that asks for no whole batch


@lru_cache(maxsize=128)
def takes_the_front(unit: Unit, part: cst.Subscript) -> bool:
    """Whether a slice is a batch from the front of what gets shorter by it, so that the last one may be smaller:
    nothing asks beforehand whether a whole one is left."""
    size = _size_of_front(part)
    if size is None:
        return False
    queue, taken = unit.compact(part.value), unit.compact(size)
    scope: cst.CSTNode = unit.function_around(part) or unit.tree
    nodes = [*cst.within(scope)]
    loop = next((around for around in unit.around(part) if isinstance(around, cst.For | cst.While)), None)
    if isinstance(loop, cst.For) and not _counts_the_last(loop.iter):
        return False
    if taken == "1" or not any(_is_left(unit, node, queue, taken, unit.compact(part)) for node in nodes):
        return False
    return not any(
        _is_filled(unit, node, queue, f"{queue}[{taken}:]")
        or (isinstance(node, cst.Comparison) and _asks_for_a_batch(unit, node, queue))
        for node in nodes
    )


@lru_cache(maxsize=32)
def left_in_queues(unit: Unit, loop: cst.For | cst.While) -> tuple[tuple[str, cst.Subscript], ...]:
    """The names of what a loop takes batches from the front of, each with the slice that is left: `x[n:]`. Behind the
    loop it is what did not fill a batch."""
    nodes = [*cst.within(loop.body)]
    parts = [node for node in nodes if isinstance(node, cst.Subscript)]
    fronts = {(unit.compact(part.value), unit.compact(size)) for part in parts if (size := _size_of_front(part))}
    found = []
    for node in nodes:
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.Subscript(
                    value=cst.Name(value=queue),
                    slice=[cst.SubscriptElement(slice=cst.Slice(lower=size, upper=None, step=None))],
                ) as rest,
            ) if name == queue and size is not None and (name, unit.compact(size)) in fronts:
                found.append((name, rest))
    return tuple(found)


def _size_of_front(part: cst.Subscript) -> cst.BaseExpression | None:
    """How many a slice takes from the front: `x[:n]`, `x[0:n]`."""
    match part:
        case cst.Subscript(
            slice=[cst.SubscriptElement(slice=cst.Slice(lower=None | cst.Integer(value="0"), upper=size, step=None))]
        ):
            return size
        case _:
            return None


def moves_along(unit: Unit, part: cst.Subscript) -> bool:
    """Whether what a name holds loses its front, or all but its end: `x = x[1:]`, `x = x[-n:]`. What is put behind it
    each time makes a window of it."""
    match part:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Slice(lower=lower, upper=upper, step=None))]) if lower:
            base = unit.compact(part.value)
            if upper is not None and unit.compact(upper) != f"len({base})":
                return False
        case _:
            return False
    match next(iter(unit.around(part)), None):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            return unit.compact(target) == base
        case _:
            return False


def follows_on(unit: Unit, part: cst.Subscript) -> bool:
    """Whether each slice of a loop begins where the one before it ends, and all but the last are of one length:
    `x[a:b]`, then `a = b` and `b += size`."""
    match part:
        case cst.Subscript(
            slice=[cst.SubscriptElement(slice=cst.Slice(lower=cst.Name(value=start), upper=cst.Name(value=end))), *_]
        ):
            loop = next((it for it in unit.around(part) if isinstance(it, cst.For | cst.While)), None)
        case _:
            return False
    if loop is None:
        return False
    lines = [*cst.within(loop.body)]
    bound = [name for target in cst.targets_in(loop.body) for name in cst.names_in(target)]
    moved = any(isinstance(line, cst.Assign) and unit.compact(line) == f"{start}={end}" for line in lines)
    steps = [step for line in lines if (step := cst.added_to(end, line, start)) is not None]
    once = (bound.count(start), bound.count(end), len(steps)) == (1, 1, 1)
    return moved and once and cst.names_within(steps[0]).isdisjoint(bound)


def is_filled_up(unit: Unit, part: cst.Subscript) -> bool:
    """Whether what a slice gives is filled up where it is short: a condition asks, and something is put behind it."""
    match next(iter(unit.around(part)), None):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            batch = unit.compact(target)
        case _:
            return False
    scope: cst.CSTNode = unit.function_around(part) or unit.tree
    asked = (node for node in cst.within(scope) if isinstance(node, cst.If | cst.While))
    return any(_is_filled(unit, node, batch, "") for condition in asked for node in cst.within(condition.body))


def _counts_the_last(iterations: cst.BaseExpression) -> bool:
    """Whether a loop goes on for what does not fill a batch: `range(ceil(n / size))`, `range(n // size + 1)`."""
    return any(_rounds_up(node) for node in cst.within(iterations))


def _rounds_up(node: cst.CSTNode) -> bool:
    match node:
        case cst.Call(func=cst.Name(value="ceil") | cst.Attribute(attr=cst.Name(value="ceil"))):
            return True
        case cst.BinaryOperation(operator=cst.Add(), right=cst.Integer(value="1")):
            return True
        case _:
            return False


def _is_left(unit: Unit, node: cst.CSTNode, queue: str, taken: str, front: str) -> bool:
    """Whether a statement keeps what is behind the front: `x = x[n:]`, `a, x = x[:n], x[n:]`, `del x[:n]`."""
    rest = f"{queue}[{taken}:]"
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=names))], value=cst.Tuple(elements=values)):
            pairs = zip(names, values, strict=False)
            return any((unit.compact(a.value), unit.compact(b.value)) == (queue, rest) for a, b in pairs)
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            return (unit.compact(target), unit.compact(value)) == (queue, rest)
        case cst.Del(target=target):
            return unit.compact(target) == front
        case _:
            return False


def _is_filled(unit: Unit, node: cst.CSTNode, queue: str, rest: str) -> bool:
    """Whether a statement puts something behind what is left: `x.append(row)`, `x = np.append(x, row)`."""
    match node:
        case cst.AugAssign(target=target):
            return unit.compact(target) == queue
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="append" | "extend" | "insert"))):
            return unit.compact(owner) == queue
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if unit.compact(target) == queue:
            parts = (part for part in cst.within(value) if isinstance(part, cst.BaseExpression))
            named = any(unit.compact(part) == queue for part in parts)
            return named and unit.compact(value) != rest
        case _:
            return False


def _asks_for_a_batch(unit: Unit, node: cst.Comparison, queue: str) -> bool:
    """Whether a comparison asks whether so many are left: not whether any are."""
    sides = [unit.compact(side) for side in (node.left, *(each.comparator for each in node.comparisons))]
    measured = (f"len({queue})", f"{queue}.size", f"{queue}.shape[0]")
    return any(side in measured for side in sides) and not any(side in _ENOUGH for side in sides)
