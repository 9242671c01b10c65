"""Lists that loops fill: whether they get longer with each iteration only, or are of another length each time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Array, Instance, Sequence, Unknown, Value, Variation
from ..domain.varying_shapes import COUNTED, FILLED, GROWN, JOINED, LAST, part_of_queue, variations_of, without
from ..files.unit import Location
from ..library.host_sizes import PIECES
from ..program.queues import left_in_queues
from ..record import replace
from .contexts import NOT_TRACED
from .fixed_lengths import MAKERS, empties, is_begun_at_times, is_counted_off
from .frames import Frame

# The detail of what a loop within a loop fills, in a function that no loop calls: it stays as it is left.
_HERE: Final = "here"


def longer(frame: Frame, node: cst.CSTNode) -> tuple[Variation, ...]:
    """What makes a list longer that `node` puts something into on the host: GROWN within the loop around it, "filled"
    where also the whole of it has another length each time, since nobody knows how often the loop runs."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or frame.module.written:
        return ()
    location = Location(frame.unit, node)
    loop = _loop_around(frame, node)
    if loop is None:
        if not _is_of_object(node) or frame.function is None or frame.function.name in MAKERS:
            return ()
        return (Variation(GROWN, frame.counted, axis=0) if frame.counted else Variation(FILLED, location, axis=0),)
    at_times = frame.conditional > 0 and _is_at_times(frame, node, loop)
    if (frame.looped or frame.python_loop > 1) and (
        at_times or _is_open(loop) or _is_over_words(loop, node) or _is_by_lengths(loop, node)
    ):
        return (Variation(FILLED, location, axis=0, detail="" if frame.looped else _HERE),)
    if is_begun_at_times(frame.unit, node, loop):
        return (Variation(FILLED, location, axis=0),)
    cls = frame.bound.cls if isinstance(frame.bound, Instance) else None
    detail = COUNTED if is_counted_off(frame.unit, node, loop, cls) else ""
    return (Variation(GROWN, location, axis=0, detail=detail),)


def put_behind(frame: Frame, node: cst.AugAssign | cst.Assign, before: Value, after: Value) -> Value:
    """What `rows += [row]` or `rows = rows + [row]` makes of a list, as `append` does."""
    if not (isinstance(before, Sequence) and isinstance(after, Sequence)) or before.kind != "list" or after.varies:
        return after
    match node:
        case cst.AugAssign(target=target, operator=cst.AddAssign(), value=put):
            left = target
        case cst.Assign(
            targets=[cst.AssignTarget(target=target)],
            value=cst.BinaryOperation(left=left, operator=cst.Add(), right=put),
        ):
            pass
        case _:
            return after
    fills_up = any(_measured(part) is not None for part in cst.within(put))  # `row + [0] * (n - len(row))`
    if fills_up or frame.unit.code(target) != frame.unit.code(left):
        return after
    return replace(after, varies=before.varies or longer(frame, node))


def returned(frame: Frame, value: Value) -> Value:
    """What a function returns of the lists that its loops fill, and of the arrays that they put together: they are as
    long as they get, the lists if it is called once."""

    def is_own(variation: Variation) -> bool:
        location = variation.location
        joined = variation.kind in JOINED and location.unit is frame.unit
        if not joined and (variation.kind, variation.detail, location.unit) != (FILLED, _HERE, frame.unit):
            return False
        if frame.function is None or frame.unit.function_around(location.node) is not frame.function.node:
            return False
        return not joined or _loop_around(frame, location.node) is not None

    return without(value, is_own) if any(map(is_own, variations_of(value))) else value


def left_by_loop(frame: Frame, loop: cst.For | cst.While) -> None:
    """Lists that a loop empties when they are full hold what remains behind it: fewer than they held before."""
    if frame.env is None or frame.context.kind not in NOT_TRACED or frame.context.pipeline or frame.module.written:
        return
    for name, test in _emptied_when_full(loop):
        held = frame.env.get(name)
        if isinstance(held, Sequence):
            rest = Variation(LAST, Location(frame.unit, test), axis=0, shapes=2, detail=PIECES)
            frame.env[name] = replace(held, varies=(rest,))
    for name, left in left_in_queues(frame.unit, loop):
        held = frame.env.get(name)
        if isinstance(held, Sequence | Array | Unknown):
            frame.env[name] = part_of_queue(held, Location(frame.unit, left))
    for name in _filled_up(frame, loop):
        held = frame.env.get(name)
        if isinstance(held, Sequence) and held.varies:
            frame.env[name] = replace(held, varies=())
    if not frame.looped and frame.python_loop == 0:
        _stop_growing(frame, loop)


def _stop_growing(frame: Frame, loop: cst.For | cst.While) -> None:
    """What a loop fills, that runs once in a program, has one length behind it, as has what is made of it."""

    def is_over(variation: Variation) -> bool:
        location = variation.location
        return variation.kind == GROWN and location.unit is frame.unit and loop in frame.unit.around(location.node)

    env = frame.env or {}
    for name, held in env.items():
        if any(map(is_over, variations_of(held))):
            env[name] = without(held, is_over)


def _filled_up(frame: Frame, loop: cst.For | cst.While) -> Iterator[str]:
    """The lists that a loop puts as many into as are missing: `for _ in range(n - len(row)): row.append(0)`, and
    `while len(row) < n: ..` where what is left too early is given up."""
    match loop:
        case cst.For(iter=cst.Call(func=cst.Name(value="range"), args=[cst.Arg(value=count)])):
            measured = set(filter(None, map(_measured, cst.within(count))))
            yield from measured.intersection(filter(None, map(_appended_to, cst.within(loop.body))))
        case cst.While(test=cst.Comparison(left=left)) if _measured(left) is not None:
            flags = frozenset(_flags_of_breaks(loop.body.body))
            if flags and None not in flags and flags <= _given_up_behind(frame, loop):
                yield from filter(None, map(_appended_to, cst.within(loop.body)))


def _flags_of_breaks(statements: Iterable[cst.CSTNode]) -> Iterator[str | None]:
    """Of each `break` among the statements of a loop, the name that is set to True just before it, or None."""
    flag: str | None = None
    for statement in statements:
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(cst.Name(name))], value=cst.Name("True"))]
            ):
                flag = name
                continue
            case cst.SimpleStatementLine(body=[cst.Break() | cst.Return()]):
                yield flag
            case cst.If(body=inner, orelse=other):
                yield from _flags_of_breaks(inner.body)
                yield from _flags_of_breaks([other] if isinstance(other, cst.If) else other.body.body if other else ())
            case _ if _leaves(statement):
                yield None
        flag = None


def _given_up_behind(frame: Frame, loop: cst.While) -> frozenset[str]:
    """The name with which the statement behind a loop leaves what is around: `if ended: continue`."""
    block = next(iter(frame.unit.around(loop)), None)
    statements = list(block.body) if isinstance(block, cst.IndentedBlock) else []
    for before, behind in pairwise(statements):
        match behind:
            case cst.If(test=cst.Name(name), body=body) if before is loop and _gives_up(body.body[-1:]):
                return frozenset((name,))
    return frozenset()


def _gives_up(statements: Iterable[cst.CSTNode]) -> bool:
    ends = (cst.Break, cst.Continue, cst.Return, cst.Raise)
    return any(isinstance(part, ends) for line in statements for part in line.children)


@lru_cache(maxsize=32)
def _emptied_when_full(loop: cst.For | cst.While) -> tuple[tuple[str, cst.Comparison], ...]:
    """`if len(batch) == size: ..; batch = []`: the names, each with the condition. Loops are run again and again."""
    found = []
    for statement in cst.within(loop.body):
        match statement:
            case cst.If(test=cst.Comparison(left=left, comparisons=[_]) as test) if name := _measured(left):
                if any(empties(part, partial(_is_name, name)) for part in cst.within(statement.body)):
                    found.append((name, test))
    return tuple(found)


def _is_name(name: str, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def appended_once(loop: cst.For) -> frozenset[str]:
    """The lists that each iteration of a loop puts one thing into: `states.append(state)`, on each way through it."""
    parts = [*cst.within(loop.body)]
    if any(isinstance(part, cst.Break | cst.Continue | cst.Return | cst.Try) for part in parts):
        return frozenset()
    named = [_appended_to(part) for part in parts]
    found = set()
    for statement in loop.body.body:
        match statement:
            case cst.SimpleStatementLine(body=[cst.Expr(value=call)]) if name := _appended_to(call):
                found.add(name)
    return frozenset(name for name in found if named.count(name) == 1)


def _appended_to(node: cst.CSTNode) -> str | None:
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append"))):
            return name
        case _:
            return None


def counted(frame: Frame | None, call: cst.CSTNode | None) -> Location | None:
    """The call in a loop by which a function is called, if the loop goes through a number of iterations: what the
    function fills is as long each time. Not where the loop asks the same object for something else at times."""
    if frame is None or call is None or frame.context.kind not in NOT_TRACED:
        return None
    loop = _loop_around(frame, call)
    if loop is None:
        return frame.counted
    if not isinstance(loop, cst.For) or _is_open(loop) or frame.conditional:
        return None
    match call:
        case cst.Call(func=cst.Attribute(value=owner)):
            text = frame.unit.code(owner)
            if any(_calls(part, text, frame) for part in cst.within(loop.body) if isinstance(part, cst.If)):
                return None
    return Location(frame.unit, call)


def _calls(condition: cst.If, owner: str, frame: Frame) -> bool:
    """Whether a method of what is written as `owner` is called under a condition."""
    return any(
        isinstance(part, cst.Call)
        and isinstance(part.func, cst.Attribute)
        and frame.unit.code(part.func.value) == owner
        for part in cst.within(condition)
    )


def _loop_around(frame: Frame, node: cst.CSTNode) -> cst.For | cst.While | None:
    for around in frame.unit.around(node):
        match around:
            case cst.For(target=target) if _is_of_each(node, target):
                continue  # each of its iterations fills another list
            case cst.For() | cst.While():
                return around
            case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
                return None
    return None


def _is_of_each(node: cst.CSTNode, target: cst.BaseExpression) -> bool:
    """Whether what a loop goes through says which list is filled: `for k, v in step.items(): columns[k].append(v)`."""
    match node:
        case (
            cst.Call(func=cst.Attribute(value=cst.Subscript(slice=index)))
            | cst.AugAssign(target=cst.Subscript(slice=index))
        ):
            names = cst.names_within(target)
            parts = (part for element in index for part in cst.within(element))
            return any(isinstance(part, cst.Name) and part.value in names for part in parts)
        case _:
            return False


def _is_at_times(frame: Frame, node: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    """Whether only some iterations of a loop put something in: a condition inside of it decides, and one of its sides
    puts nothing in."""
    conditions = []
    for around in frame.unit.around(node):
        if around is loop:
            break
        if isinstance(around, cst.If):
            conditions.append(around)
    return bool(conditions) and not _fills(conditions[-1], _called(node, frame), frame)


def _called(node: cst.CSTNode, frame: Frame) -> str:
    """What is called, as it is written: the list and its method; or the list that something is put behind."""
    match node:
        case cst.Call(func=called):
            return frame.unit.code(called)
        case cst.AugAssign(target=target) | cst.Assign(targets=[cst.AssignTarget(target=target)]):
            return frame.unit.code(target)
        case _:
            return ""


def _fills(statement: cst.CSTNode | None, wanted: str, frame: Frame) -> bool:
    """Whether a statement makes a call on each way through it."""
    match statement:
        case None:
            return False
        case cst.If(body=body, orelse=other):
            return _fills(body, wanted, frame) and _fills(other, wanted, frame)
        case cst.Else(body=body):
            return _fills(body, wanted, frame)
        case cst.IndentedBlock(body=statements) | cst.SimpleStatementSuite(body=statements):
            return any(_fills(each, wanted, frame) for each in statements)
        case cst.SimpleStatementLine(body=statements):
            return any(_fills(each, wanted, frame) for each in statements)
        case cst.Expr(value=call):
            return bool(wanted) and _called(call, frame) == wanted
        case cst.AugAssign() | cst.Assign():
            return bool(wanted) and _called(statement, frame) == wanted
        case _:
            return False


def _is_of_object(node: cst.CSTNode) -> bool:
    """Whether what is changed is held by an object: `self.states.append(state)`, `self.columns[key].append(state)`."""
    match node:
        case (
            cst.Call(func=cst.Attribute(value=held))
            | cst.AugAssign(target=held)
            | cst.Assign(targets=[cst.AssignTarget(target=held)])
        ):
            return isinstance(held, cst.Attribute) or (
                isinstance(held, cst.Subscript) and isinstance(held.value, cst.Attribute)
            )
        case _:
            return False


@lru_cache(maxsize=128)
def _is_open(loop: cst.For | cst.While) -> bool:
    """Whether a loop ends when something happens, not after a number of iterations."""
    if isinstance(loop, cst.While) and not isinstance(loop.test, cst.Comparison):
        return True
    return any(map(_leaves, loop.body.body))


def _is_over_words(loop: cst.For | cst.While, node: cst.CSTNode) -> bool:
    """Whether a loop goes through words, and puts in what is no number of a row that has as many as the others."""
    match node:
        case cst.Call(args=[cst.Arg(value=put)]) if is_read_number(put):
            return False
        case _:
            return isinstance(loop, cst.For) and are_words(loop.iter)


def _is_by_lengths(loop: cst.For | cst.While, node: cst.CSTNode) -> bool:
    """Whether a loop puts in all that its elements hold, of which it asks the lengths: labels of a sparse tensor."""
    match loop, node:
        case (
            cst.For(target=target, body=body),
            cst.Call(func=cst.Attribute(attr=cst.Name("extend")), args=[cst.Arg(value=put)]),
        ):
            measured = set(filter(None, map(_measured, cst.within(body)))).intersection(cst.names_in(target))
            return any(isinstance(part, cst.Name) and part.value in measured for part in cst.within(put))
        case _:
            return False


def is_read_number(node: cst.BaseExpression) -> bool:
    """`float(word)`, a number that is written in a text."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in ("float", "int")


def are_words(node: cst.BaseExpression) -> bool:
    """`line.split()`, `input()`: another number of words or letters each time."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="split")), args=[]):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="split")), args=[cst.Arg(cst.SimpleString() as text)]):
            return text.evaluated_value == " "
        case cst.Call(func=cst.Name(value="input")):
            return True
        case _:
            return False


def lengths_ending(loop: cst.While) -> frozenset[str]:
    """The names whose lengths alone end a loop: `while len(x) < n`, with no `break`."""
    match loop.test:
        case cst.Comparison(left=left, comparisons=[one]) if not any(map(_leaves, loop.body.body)):
            return frozenset(filter(None, map(_measured, (left, one.comparator))))
        case _:
            return frozenset()


def counted_in(loop: cst.For) -> frozenset[str]:
    """The names that each iteration of a loop adds to: `count += 1`."""
    found = set()
    for statement in loop.body.body:
        match statement:
            case cst.SimpleStatementLine(body=[cst.AugAssign(cst.Name(name), cst.AddAssign())]):
                found.add(name)
    return frozenset(found)


def is_left_by_count(loop: cst.For, counters: Collection[str | None]) -> bool:
    """Whether a loop is left after a number of iterations, or in the first one, on each way through its body: `if
    counter >= n: break`, `break`."""
    return any(_is_left_where(statement, counters) for statement in loop.body.body)


def _is_left_where(statement: cst.CSTNode, counters: Collection[str | None]) -> bool:
    """Whether a statement leaves the loop around it when one of the counters gets somewhere."""
    match statement:
        case cst.If(test=cst.Comparison(left=left, comparisons=[one]), body=body):
            return any(map(_leaves, body.body[-1:])) and any(_counts(side, counters) for side in (left, one.comparator))
        case cst.SimpleStatementLine(body=[*_, last]):
            return isinstance(last, cst.Break | cst.Return)
        case _:
            return False


def _counts(side: cst.BaseExpression, counters: Collection[str | None]) -> bool:
    """Whether an expression is a counter, or one more."""
    match side:
        case cst.Name(name):
            return name in counters
        case cst.BinaryOperation(cst.Name(name), cst.Add() | cst.Subtract(), cst.Integer()):
            return name in counters
        case _:
            return False


def _measured(side: cst.CSTNode) -> str | None:
    """The name whose length an expression is: `len(x)`, `x.shape[0]`."""
    match side:
        case cst.Call(func=cst.Name("len"), args=[cst.Arg(cst.Name(name))]):
            return name
        case cst.Subscript(cst.Attribute(cst.Name(name), cst.Name("shape"))) | cst.Attribute(
            cst.Name(name), cst.Name("size")
        ):
            return name
        case _:
            return None


def _leaves(node: cst.CSTNode) -> bool:
    """Whether a statement leaves the loop that it stands in."""
    match node:
        case cst.Break() | cst.Return():
            return True
        case cst.For() | cst.While() | cst.FunctionDef() | cst.ClassDef():
            return False
        case _:
            return any(map(_leaves, node.children))
