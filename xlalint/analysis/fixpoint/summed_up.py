"""What becomes of the values that a loop on the host reads: whether no more is made of them than a device would sum up
itself, or nothing at all but for the last one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from ...syntax import nodes as cst
from ..files.unit import Unit

_LONGER: Final = frozenset(("append", "extend"))
# The last parts of the names of what makes one number of many, in Python, NumPy and TensorFlow.
_REDUCING: Final = frozenset(
    (
        *("amax", "amin", "average", "fmean", "fsum", "len", "max", "mean", "median", "min", "nanmean", "nanstd"),
        *("nansum", "std", "stdev", "sum", "var", "variance"),
        *("reduce_max", "reduce_mean", "reduce_min", "reduce_std", "reduce_sum", "reduce_variance"),
    )
)
# .. of what sums up itself, and of what shows something.
_TAKING: Final = frozenset(
    (
        *("update_state", "debug", "error", "info", "print", "set_description", "set_description_str"),
        *("set_postfix", "set_postfix_str", "warning"),
    )
)


def is_summed_up(unit: Unit, loop: cst.CSTNode, reads: Collection[cst.CSTNode]) -> bool:
    """Whether what is read in a loop ends in sums, or in lists of which the function makes no more than one number
    each; what is shown as well matters not."""
    if not isinstance(loop, cst.For | cst.While):
        return False
    made, lists = set[str](), set[str]()
    grown = True
    while grown:
        before = len(made) + len(lists)
        taking = (part for part in _parts(loop.body) if _takes(part, made, reads))
        if not all(_goes_on(part, made, lists) for part in taking):
            return False
        grown = len(made) + len(lists) > before
    outer = unit.function_around(loop) or [*unit.around(loop)][-1]
    used = (node for node in _names(outer) if node.value in lists)
    return all(_is_reduced(unit, name) for name in used)


def is_wasted(loop: cst.CSTNode, reads: Collection[cst.CSTNode]) -> bool:
    """Whether a value is read in each iteration that the next one throws away: `result = metric.result().numpy()`,
    where nothing in the loop asks for it."""
    if not isinstance(loop, cst.For | cst.While):
        return False
    for line in _always(loop.body):
        match line:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                named = [node for node in _names(loop) if node.value == name]
                if any(node in reads for node in cst.within(value)) and len(named) == 1:
                    return True
    return False


def _parts(block: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The statements of a block, and of those with blocks of their own what they ask."""
    for node in cst.within(block):
        match node:
            case cst.BaseSmallStatement():
                yield node
            case cst.If(test=asked) | cst.While(test=asked) | cst.For(iter=asked) | cst.WithItem(item=asked):
                yield asked


def _always(block: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The statements of a block that each iteration runs."""
    for line in block.children:
        match line:
            case cst.SimpleStatementLine(body=statements):
                yield from statements
            case cst.For(body=inner) | cst.With(body=inner):
                yield from _always(inner)


def _takes(part: cst.CSTNode, made: set[str], reads: Collection[cst.CSTNode]) -> bool:
    """Whether a statement has to do with what is read, or is made of that."""
    return any(node in reads for node in cst.within(part)) or any(node.value in made for node in _names(part))


def _names(node: cst.CSTNode) -> Iterator[cst.Name]:
    """The names in a node, those of attributes and keywords left out."""
    match node:
        case cst.Name():
            yield node
        case cst.Attribute(value=inner) | cst.Arg(value=inner):
            yield from _names(inner)
        case _:
            for child in node.children:
                yield from _names(child)


def _goes_on(part: cst.CSTNode, made: set[str], lists: set[str]) -> bool:
    """Whether a statement sums up what it takes, collects or shows it, or computes something of it: that is `made`."""
    match part:
        case cst.Assign(targets=targets):
            for each in targets:
                match each.target:
                    case cst.Subscript(value=cst.Name(value=name)):
                        lists.add(name)
                    case cst.Name() | cst.Tuple():
                        made.update(cst.names_in(each.target))
                    case _:
                        return False
        case cst.AugAssign(target=cst.Name(value=name), value=cst.List() | cst.ListComp()):
            lists.add(name)
        case cst.AugAssign(operator=cst.AddAssign()):
            return True
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=method)))) if (
            method in _LONGER
        ):
            lists.add(name)
        case cst.Expr(value=cst.Call() as call):
            return cst.called_name(call) in _TAKING
        case _:
            return False
    return True


def _is_reduced(unit: Unit, name: cst.Name) -> bool:
    """Whether one number is made of a list where it is named, or the list is made there, or gets longer."""
    for outer in unit.around(name):
        match outer:
            case cst.Call() if cst.called_name(outer) in _REDUCING:
                return True
            case cst.Attribute(value=owner, attr=cst.Name(value=method)) if owner is name and method in _LONGER:
                return True
            case cst.AugAssign(target=target) if target is name:
                return True
            case cst.AssignTarget():
                return True
            case cst.BaseSmallStatement() | cst.BaseSuite():
                return False
    return False
