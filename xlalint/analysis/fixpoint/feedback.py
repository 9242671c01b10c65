"""Loops whose iterations need on the host what the one before computed: an agent in its environment, say."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...syntax import nodes as cst
from ..domain.values import Function
from ..interpreter.filled_once import CHANGES
from ..library.call_kinds import READERS
from .unchanging import passed


def decides_next(
    loop: cst.CSTNode,
    reads: Collection[cst.CSTNode],
    elsewhere: Collection[cst.CSTNode],
    steps: Collection[cst.CSTNode],
) -> bool:
    """Whether what the `reads` give is passed to a call `elsewhere`, outside of TensorFlow, and what that returns
    decides whether a loop goes on, or what it passes to `steps`."""
    if not isinstance(loop, cst.For | cst.While):
        return False
    assigned = list(_assigned(loop))
    told = _spread(assigned, set(), reads)
    answers = {
        target
        for targets, value in assigned
        for node in cst.within(value)
        if node in elsewhere and isinstance(node, cst.Call) and _takes(node, told, reads)
        for target in targets
    }
    if not answers:
        return False
    answers = _spread(assigned, answers, ())
    return not answers.isdisjoint(_asked_by(loop, steps))


def is_of_iteration(call: cst.CSTNode, loop: cst.CSTNode) -> bool:
    """Whether a call in a loop has another argument in each iteration, and is of the same function or object, or an
    operator another side."""
    changed = _changed_in(loop)
    if isinstance(call, cst.BinaryOperation):
        return not changed.isdisjoint(_names(call))
    if not isinstance(call, cst.Call):
        return False
    made = any(isinstance(node, cst.Call) for node in cst.within(call.func))
    given = {name for argument in call.args for name in _names(argument.value)}
    other = _bound_in(loop) - _of_the_same(loop, changed)
    return not made and other.isdisjoint(_names(call.func)) and not changed.isdisjoint(given)


def goes_through_callees(call: cst.CSTNode, loop: cst.CSTNode) -> bool:
    """Whether a loop goes through what a call in it calls: `for layer in layers: x = layer(x)`."""
    target = _target_of(loop)
    return target is not None and isinstance(call, cst.Call) and not {*_names(target)}.isdisjoint(_names(call.func))


def _of_the_same(loop: cst.CSTNode, changed: set[str]) -> set[str]:
    """The names by which loops in a loop go through the same things each time: `for model in models`."""
    inner = (node for node in cst.within(loop) if isinstance(node, cst.For | cst.CompFor))
    own = (loop, getattr(loop, "for_in", None))
    same = (node for node in inner if node not in own and changed.isdisjoint(_names(node.iter)))
    return {name for node in same for name in _names(node.target)}


def _target_of(loop: cst.CSTNode) -> cst.BaseExpression | None:
    match loop:
        case cst.For(target=target):
            return target
        case cst.ListComp(for_in=clause) | cst.SetComp(for_in=clause) | cst.GeneratorExp(for_in=clause):
            return clause.target
        case cst.DictComp(for_in=clause):
            return clause.target
        case _:
            return None


def hands_on(call: cst.CSTNode, loop: cst.CSTNode, function: Function | None, inner: cst.CSTNode) -> bool:
    """Whether a call in a loop passes a function what is another one in each iteration, and that passes it, or what it
    makes of it, to an inner call."""
    if function is None or not isinstance(call, cst.Call) or not isinstance(inner, cst.Call):
        return False
    if not isinstance(function.node, cst.FunctionDef) or cst.called_name(call) != function.name:
        return False
    changed = _changed_in(loop)
    given = {name for name, value in passed(function, call) if not changed.isdisjoint(_names(value))}
    return bool(given) and _takes(inner, _spread([*_assigned(function.node)], given, ()), ())


def _changed_in(loop: cst.CSTNode) -> set[str]:
    """The names of what is another one in each iteration, or has changed."""
    match loop:
        case cst.For(target=target):
            return {*_names(target), *(name for names, _ in _assigned(loop) for name in names)}
        case cst.While():
            return {name for names, _ in _assigned(loop) for name in names}
        case _:
            clauses = (node for node in cst.within(loop) if isinstance(node, cst.CompFor))
            return {name for clause in clauses for name in _names(clause.target)}


def _bound_in(loop: cst.CSTNode) -> set[str]:
    """The names that stand for something else in each iteration of a loop: not what has but attributes set, or has
    itself changed, `agent.memory.append(state)`."""
    clauses = (node.target for node in cst.within(loop) if isinstance(node, cst.CompFor))
    return {name for target in (*cst.targets_in(loop), *clauses) for name in _bound(target)}


def _bound(target: cst.CSTNode) -> Iterator[str]:
    """The names and attributes that an assignment binds."""
    match target:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)):
            yield f"{owner}.{name}"
        case cst.Subscript(value=whole):
            yield from _names(whole)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _bound(element.value)
        case _:
            yield from cst.names_in(target)


def is_of_element(read: cst.CSTNode, loop: cst.CSTNode) -> bool:
    """Whether what a loop goes through is read, as it comes: `image_id.numpy()` of a data set, which is on the host, or
    `number == 0` of one that is enumerated."""
    if not isinstance(loop, cst.For):
        return False
    elements = set(_names(loop.target)) - {each for names, _ in _assigned(loop) for each in names}
    match read:
        case cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=reader))) if (
            name in elements and reader in READERS
        ):
            return True
        case cst.Call(args=arguments):
            read_names = {name for argument in arguments for name in _names(argument.value)}
        case cst.Assign(value=value) | cst.AugAssign(value=value):
            read_names = set(_names(value))
        case cst.Comparison() | cst.BooleanOperation() | cst.UnaryOperation() | cst.Name() | cst.Attribute():
            read_names = set(_names(read))
        case cst.Subscript(value=value):
            read_names = set(_names(value))
        case _:
            return False
    return bool(read_names) and read_names <= elements


def is_of_result(inner: cst.CSTNode, loop: cst.CSTNode, steps: Collection[cst.CSTNode]) -> bool:
    """Whether a loop inside of another goes through what steps of that return: `for name, loss in losses.items():`."""
    if not isinstance(inner, cst.For) or not isinstance(loop, cst.For | cst.While):
        return False
    loops = (node for node in cst.within(loop.body) if isinstance(node, cst.For))
    assigned = [*_assigned(loop), *((set(_names(each.target)), each.iter) for each in loops)]
    return not _spread(assigned, set(), steps).isdisjoint(_names(inner.target))


def is_passed_on(call: cst.CSTNode, loop: cst.CSTNode, block: cst.CSTNode) -> bool:
    """Whether a loop passes a call what a block in it computes, or makes something of: gradients, say."""
    if not isinstance(loop, cst.For | cst.While) or not isinstance(call, cst.Call):
        return False
    computed = {name for target in cst.targets_in(block) for name in cst.names_in(target)}
    return _takes(call, _spread([*_assigned(loop)], computed, ()), ())


def trains_on_answers(loop: cst.CSTNode, calls: Collection[cst.CSTNode], fits: Collection[cst.CSTNode]) -> bool:
    """Whether a loop trains a model on what models answer, element by element of what it goes through."""
    if not isinstance(loop, cst.For):
        return False
    assigned = list(_assigned(loop))
    answers, elements = _spread(assigned, set(), calls), _spread(assigned, set(_names(loop.target)), ())
    return all(isinstance(call, cst.Call) and _takes(call, elements, ()) for call in (*calls, *fits)) and any(
        isinstance(fit, cst.Call) and _takes(fit, answers, calls) for fit in fits
    )


def _spread(
    assigned: list[tuple[set[str], cst.CSTNode]], names: set[str], sources: Collection[cst.CSTNode]
) -> set[str]:
    """The names with those that are made of them, or of what stands at the sources."""
    names = set(names)
    grown = True
    while grown:
        size = len(names)
        for targets, value in assigned:
            if not names.isdisjoint(_names(value)) or any(node in sources for node in cst.within(value)):
                names |= targets
        grown = len(names) > size
    return names


def _assigned(loop: cst.For | cst.While | cst.FunctionDef) -> Iterator[tuple[set[str], cst.CSTNode]]:
    """What a loop or a function gives new values, each with what they are made of: a list, too, of what it appends."""
    for node in cst.within(loop.body):
        match node:
            case cst.Assign(targets=targets, value=value):
                yield {name for target in targets for name in _names(target.target)}, value
            case cst.AugAssign(target=target, value=value) | cst.AnnAssign(target=target, value=value) if value:
                yield set(_names(target)), value
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if name in CHANGES:
                yield set(_names(owner)), node


def _takes(call: cst.Call, names: set[str], sources: Collection[cst.CSTNode]) -> bool:
    return any(
        not names.isdisjoint(_names(argument.value)) or any(node in sources for node in cst.within(argument.value))
        for argument in call.args
    )


def _asked_by(loop: cst.For | cst.While, steps: Collection[cst.CSTNode]) -> Iterator[str]:
    """The names that the loop's test, a condition that leaves it, or a step reads."""
    if isinstance(loop, cst.While):
        yield from _names(loop.test)
    for node in cst.within(loop.body):
        match node:
            case cst.If(test=test, body=body) if any(isinstance(each, cst.Break) for each in cst.within(body)):
                yield from _names(test)
            case _ if node in steps:
                yield from _names(node)
            case cst.With(items=items, body=body) if any(item.item in steps or item in steps for item in items):
                yield from _names(body)


def _names(node: cst.CSTNode) -> Iterator[str]:
    """The names and attributes in an expression: `state`, `self.state`."""
    for each in cst.within(node):
        match each:
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)):
                yield f"{owner}.{name}"
            case cst.Name(value=name) if name != "self":
                yield name
