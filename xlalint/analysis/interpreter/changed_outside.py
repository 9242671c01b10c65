"""Python values that a trace reads and host code changes between calls: the compiled program keeps what tracing saw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import join
from ..domain.kinds import options
from ..domain.values import Array, ClassValue, Function, Instance, ModuleValue, Static, Value, Variation
from ..files.unit import Location, Unit
from ..record import replace
from .contexts import NOT_TRACED
from .events import ReadChanged
from .fixed_lengths import MAKERS
from .frames import Frame
from .interface import Interpreter
from .kept import is_of_host, scope_of

_CHANGED: Final = "changed"  # an attribute that host code sets again and again
_NUMBERS: Final = frozenset(("counter", "drawn", "number"))


# -- what host code changes -------------------------------------------------------------------------------------------


def with_change(
    frame: Frame,
    statement: cst.CSTNode,
    target: cst.Attribute,
    value: Value,
    *,
    of_itself: bool,
    decided_by: tuple[Value, ...] = (),
) -> Value:
    """What a statement assigns to an attribute, marked where host code changes the attribute again and again.
    `of_itself`: it computes the value from what the attribute was; `decided_by`: what it compares for that."""
    if not isinstance(value, Static | Array) or not _is_of_program(frame):
        return value
    number = isinstance(value, Static) and not isinstance(value.constant, str)
    varies = number and any(_varies(frame, part) for part in (value, *decided_by))
    if not (of_itself or varies or (number and _is_switched(frame.unit, statement, target, value))):
        return value
    if is_newer(frame.unit, statement, target.value) or (of_itself and _is_set_before(frame.unit, statement, target)):
        return value
    variation = Variation(_CHANGED, Location(frame.unit, statement))
    if isinstance(value, Static):
        return replace(value, varies=(*value.varies, variation))
    return join(value, Static(varies=(variation,)))


def with_change_by_call(frame: Frame, call: cst.BaseExpression, value: Value) -> Value:
    """What `setattr(model, "beta", value)` assigns, marked the same way."""
    match call:
        case cst.Call(args=[cst.Arg(value=owner), *_]) if isinstance(value, Static) and _is_of_program(frame):
            if not isinstance(value.constant, str) and _varies(frame, value) and not is_newer(frame.unit, call, owner):
                return replace(value, varies=(*value.varies, Variation(_CHANGED, Location(frame.unit, call))))
    return value


def with_global_change(frame: Frame, statement: cst.CSTNode, value: Value, *, of_itself: bool) -> Value:
    """What a function assigns to a name of its module, marked where host code changes the name again and again."""
    if not isinstance(value, Static) or isinstance(value.constant, str) or not _is_of_program(frame):
        return value
    if not (of_itself or _varies(frame, value, plain=True)):
        return value
    return replace(value, varies=(*value.varies, Variation(_CHANGED, Location(frame.unit, statement))))


def is_set_anew(frame: Frame, statement: cst.CSTNode, target: cst.Attribute, value: Value) -> bool:
    """Whether a statement sets an attribute of an older object to another value each time, or at some time: in a loop
    of this function, or where Keras calls it."""
    if not _is_of_program(frame):
        return False
    loops = list(_loops(frame.unit, statement))
    of_keras = frame.owner is not None and frame.owner.is_keras("callback") and frame.function is not None
    if not (loops or of_keras) or is_newer(frame.unit, statement, target.value):
        return False
    changed = {name for loop in loops for name in _bound_in(loop)}
    if of_keras and frame.function is not None:
        changed |= {name for name in frame.summary.given if name != "self"} | {"self"}
    match statement:
        case cst.AugAssign():
            return True
        case cst.Assign(value=made) | cst.AnnAssign(value=made) if made is not None:
            if isinstance(value, Static) and value.known:
                return any(not changed.isdisjoint(cst.names_within(test)) for test in _tests(frame.unit, statement))
            calls = any(isinstance(part, cst.Call) for part in cst.within(made))
            return not changed.isdisjoint(cst.names_within(made)) or (calls and not isinstance(value, Static))
        case _:
            return False


def _tests(unit: Unit, statement: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The conditions around a statement, up to its function, that are not about the first time: `step == 0`."""
    for around in unit.around(statement):
        match around:
            case cst.FunctionDef() | cst.ClassDef():
                return
            case cst.If(test=cst.Comparison(comparisons=[cst.ComparisonTarget(cst.Equal(), cst.Integer("0"))])):
                continue
            case cst.If(test=test):
                yield test


def _is_of_program(frame: Frame) -> bool:
    """Whether the host runs the code, not to set an object up, nor to test it."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or frame.module.is_test:
        return False
    return frame.function is None or not _sets_up(frame.function)


def _sets_up(function: Function) -> bool:
    """Whether a function sets an object up: a constructor, `build`, or a method that only these call."""
    owner = function.owner
    if function.name in MAKERS or owner is None:
        return function.name in MAKERS
    callers = owner.callers_of(function.name)
    return bool(callers) and callers <= MAKERS


def _varies(frame: Frame, value: Value, *, plain: bool = False) -> bool:
    """Whether a number is another one each time in one and the same object: by a loop of this function, by Keras's
    training, or by a loop that calls this method of one object; or, if `plain`, this function."""
    of_training = frame.owner is not None and frame.owner.is_keras("callback")
    for variation in value.varies if isinstance(value, Static) else ():
        unit, node = variation.location.unit, variation.location.node
        if variation.kind not in _NUMBERS:
            continue
        loop = next(_loops(unit, node), None)
        if frame.function is None or loop is None or of_training:
            return True
        if unit is frame.unit and unit.function_around(node) is frame.function.node:
            return True
        name = frame.function.name
        if any(_is_told(unit, call, name, loop) or (plain and _calls(call, name)) for call in cst.within(loop)):
            return True
    return False


def _is_told(unit: Unit, call: cst.CSTNode, method: str, loop: cst.For | cst.While) -> bool:
    """Whether a call has an object that is older than the loop around it run a method: also one of those that a loop
    inside of it goes through, each time again."""
    match call:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if name == method:
            for inner in _loops(unit, call):
                match inner, owner:
                    case cst.For(target=cst.Name(value=one), iter=held), cst.Name(value=named) if one == named:
                        owner = owner if inner is loop else held
                if inner is loop:
                    break
            return not is_newer(unit, loop, owner)
        case _:
            return False


def _calls(call: cst.CSTNode, function: str) -> bool:
    return isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value == function


def _is_switched(unit: Unit, statement: cst.CSTNode, target: cst.Attribute, value: Value) -> bool:
    """Whether a loop sets an attribute to a constant in some of its iterations alone, or to another one as well."""
    if not isinstance(value, Static) or not isinstance(value.constant, bool | int | float):
        return False
    inside = statement
    for around in unit.around(statement):
        match around:
            case cst.FunctionDef() | cst.ClassDef():
                return False
            case cst.For(body=body) | cst.While(body=body):
                return isinstance(inside, cst.If) or any(
                    isinstance(other, cst.Assign)
                    and not other.value.deep_equals(statement.value)
                    and any(aim.target.deep_equals(target) for aim in other.targets)
                    for other in cst.within(body)
                    if isinstance(statement, cst.Assign)
                )
            case cst.If():
                inside = around
            case _ if not isinstance(inside, cst.If):
                inside = around
    return False


def is_newer(unit: Unit, node: cst.CSTNode, owner: cst.BaseExpression) -> bool:
    """Whether a loop around a node makes, or goes through, the objects that an expression names."""
    while isinstance(owner, cst.Attribute | cst.Subscript):
        owner = owner.value
    if not isinstance(owner, cst.Name):
        return True
    return any(owner.value in set(_bound_in(loop)) for loop in _loops(unit, node))


def _loops(unit: Unit, node: cst.CSTNode) -> Iterator[cst.For | cst.While]:
    """The loops around a node, up to its function; a loop is around itself."""
    for around in (node, *unit.around(node)):
        if isinstance(around, cst.FunctionDef | cst.ClassDef):
            return
        if isinstance(around, cst.For | cst.While):
            yield around


def _bound_in(loop: cst.For | cst.While) -> Iterator[str]:
    """The names that a loop binds."""
    for node in cst.within(loop):
        match node:
            case cst.For(target=target) | cst.AssignTarget(target=target) | cst.NamedExpr(target=target):
                yield from cst.names_in(target)
            case _:
                continue


def _is_set_before(unit: Unit, statement: cst.CSTNode, target: cst.Attribute) -> bool:
    """Whether the code that leads to a statement has just set its target, so that it counts nothing."""
    inside = statement
    for around in unit.around(statement):
        match around:
            case cst.FunctionDef() | cst.For() | cst.While():
                return False
            case cst.IndentedBlock(body=body):
                before = body[: next(place for place, line in enumerate(body) if line is inside)]
                if any(_sets(line, target) for line in before):
                    return True
        inside = around
    return False


def _sets(line: cst.CSTNode, target: cst.Attribute) -> bool:
    match line:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=targets, value=value)]):
            reads = any(isinstance(part, cst.Attribute) and part.deep_equals(target) for part in cst.within(value))
            return not reads and any(aim.target.deep_equals(target) for aim in targets)
        case _:
            return False


# -- what a trace reads -----------------------------------------------------------------------------------------------


def report_changed(interpreter: Interpreter, frame: Frame, node: cst.Name | cst.Attribute, value: Value) -> None:
    """Say that traced code reads what the host changes: an attribute, or a name of a scope around it."""
    if frame.function is None or frame.function.name in MAKERS:
        return
    for option in options(value):
        if not isinstance(option, Static) or not option.varies or isinstance(option.constant, str):
            continue
        for variation in option.varies:
            if isinstance(node, cst.Attribute):
                found = variation.kind == _CHANGED and _is_older(interpreter, frame, node)
            elif variation.kind == _CHANGED:
                found = is_of_host(frame, node.value) and _assigns(variation.location.node, node.value)
            else:
                found = variation.kind in _NUMBERS and _is_rebound(frame, node, variation.location)
            if found:
                interpreter.emit(frame, ReadChanged, node, changed=variation.location)
                return


def _is_older(interpreter: Interpreter, frame: Frame, node: cst.Attribute) -> bool:
    """Whether the object that has an attribute was there before the trace."""
    match interpreter.evaluate(frame, node.value):
        case Instance(traced=traced):
            return not traced
        case ClassValue() | ModuleValue():
            return True
        case _:
            return False


def _assigns(statement: cst.CSTNode, name: str) -> bool:
    match statement:
        case cst.Assign(targets=targets):
            return any(name in cst.names_in(target.target) for target in targets)
        case cst.AugAssign(target=cst.Name(value=target)):
            return target == name
        case _:
            return False


def _is_rebound(frame: Frame, node: cst.Name, changed: Location) -> bool:
    """Whether a name of host code is bound anew below the function that reads it: the function is not made anew with
    it, and may be called in between."""
    scope, read = scope_of(frame, node.value), Location(frame.unit, node)
    if scope is not None and scope.context.becomes_graph:
        return False
    holder = None if scope is None or scope.function is None else scope.function.node
    if changed.unit.function_around(changed.node) is not holder:
        return False  # a factory's parameter: each call of it makes the function anew
    if read.path != changed.path or read.line >= changed.line:
        return False
    around = set(_loops(changed.unit, changed.node))
    return around.isdisjoint(frame.unit.around(node)) and bool(around)
