"""Python state that outlives the trace in which compiled code changes it: Python makes the change while tracing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import is_of_trace
from ..domain.values import (
    Api,
    Class,
    ClassValue,
    Dict,
    Function,
    FunctionValue,
    Instance,
    ModuleValue,
    Sequence,
    Static,
    Value,
)
from ..files.unit import Location, Unit
from ..program.definitions import all_methods
from .events import KeepState
from .fixed_lengths import MAKERS
from .frames import Frame
from .interface import Interpreter

_GROWS: Final = frozenset(("append", "appendleft", "add", "extend", "extendleft", "insert", "setdefault"))
_SHRINKS: Final = frozenset(("pop", "popitem", "popleft", "remove", "del"))
_LIFTS: Final = Api("tf.init_scope")
_CONVERTS: Final = tuple(map(Api, ("tf.cast", "tf.convert_to_tensor", "keras.ops.cast")))
_KNOWN_OF_TENSORS: Final = frozenset(("dtype", "get_shape", "name", "ndim", "shape"))
_CACHES: Final = (Api("functools.lru_cache"), Api("functools.cache"))
_ADDS_UP: Final = _GROWS | _SHRINKS | {"number"}


class Keeping(Interpreter):
    """Says what compiled code changes that is there after the trace."""

    def note_counted(self, frame: Frame, node: cst.CSTNode, target: cst.BaseExpression, value: Value) -> None:
        """A number is made of what `target` was: `owner.number += 1`."""
        if isinstance(value, Static) and not isinstance(value.constant, str):
            self._note(frame, node, target, "number")

    def note_outer(self, frame: Frame, target: cst.BaseExpression, node: cst.Assign, value: Value) -> None:
        """A name is assigned a value, perhaps of another scope."""
        if isinstance(target, cst.Name):
            for form, names in (("nonlocal", frame.nonlocals), ("global", frame.globals)):
                if target.value in names:
                    self.note_kept(frame, node, target, form, value)

    def note_kept(
        self, frame: Frame, node: cst.CSTNode, target: cst.BaseExpression, form: str, value: Value | None
    ) -> None:
        """`target` is assigned a value, or the container that it names is changed by a method."""
        if frame.function is None or not (frame.context.becomes_graph or frame.function.name == "build"):
            return  # most changes
        if frame.function.name == "build":
            self._note_built(frame, node, target, value)
            return
        tensor = value is not None and is_of_trace(value)
        if form in _SHRINKS and _takes_back(frame.unit, node, target):
            return
        if form in _SHRINKS or (form in _GROWS and tensor):
            self._note(frame, node, target, form, tensor=tensor)
        elif tensor and form not in _GROWS and not (isinstance(value, Sequence) and value.kind == "list"):
            read = _read_before(frame.unit, frame.function.node, target, node)
            if read is not None and not _is_lifted(frame, node) and not _is_converted(frame, node, target):
                if _is_set_by_callers(frame, target) or _is_for_a_while(frame.function.node, target, node):
                    return
                asked = _is_asked(frame.unit, read, node)
                self._note(frame, node, target, form, tensor=True, asked=asked)

    def _note_built(self, frame: Frame, node: cst.CSTNode, target: cst.BaseExpression, value: Value | None) -> None:
        """A layer's `build` keeps a tensor, which the layer reads later."""
        match target, frame.bound:
            case cst.Attribute(value=cst.Name(), attr=cst.Name(value=name)), Instance(cls) if (
                value is not None
                and is_of_trace(value)
                and any(map(cls.is_keras, ("layer", "model")))
                and not _is_lifted(frame, node)
                and any(
                    _is_attribute(inner, name) for method in methods_in_use(cls) for inner in cst.within(method.node)
                )
            ):
                self.kept_by_build.setdefault(cls, {})[Location(frame.unit, node)] = frame.unit.code(target)

    def _note(
        self,
        frame: Frame,
        node: cst.CSTNode,
        target: cst.BaseExpression,
        form: str,
        *,
        tensor: bool = False,
        asked: bool = False,
    ) -> None:
        if frame.module.is_test:
            return  # tests count calls, or traces, and look at what was passed
        in_tensor_loop = frame.loop or (frame.branch and frame.context.converted)
        if not in_tensor_loop and self._outlives(
            frame, target, anew=form in _ADDS_UP or isinstance(target, cst.Subscript)
        ):
            text = frame.unit.code(target)
            self.emit(frame, KeepState, node, form=form, target=text, tensor=tensor, asked=asked)

    def _outlives(self, frame: Frame, target: cst.BaseExpression, *, anew: bool) -> bool:
        """Whether what is changed was there before the trace; `anew`: and is not made anew by what leads to here."""
        if not frame.context.becomes_graph or frame.function is None or frame.function.name in MAKERS:
            return False
        root, attribute = target, None
        while isinstance(root, cst.Attribute | cst.Subscript):
            attribute = root.attr.value if isinstance(root, cst.Attribute) else attribute
            root = root.value
        if not isinstance(root, cst.Name):
            return False
        match self.lookup(frame, root.value):
            case Instance(cls=cls, traced=traced):
                if attribute is None or traced or (anew and _is_made_anew(cls, attribute, frame.function)):
                    return False
                return not _is_a_name(cls, attribute, frame.function)
            case ClassValue() | ModuleValue():
                return attribute is not None
            case Sequence() | Dict():
                return is_of_host(frame, root.value)
            case _:
                return root is target and is_of_host(frame, root.value)


def report_cached(
    interpreter: Interpreter, frame: Frame, called: FunctionValue, result: Value, node: cst.CSTNode
) -> None:
    """Say that code which is traced calls a function whose results Python keeps, and which makes a tensor; one that a
    trace defines keeps them for that trace."""
    function, around = called.function, called.scope
    if isinstance(around, Frame) and around.context.becomes_graph:
        return
    if not frame.context.becomes_graph or _is_lifted(frame, node) or not is_of_trace(result):
        return  # most calls
    if keeps_results(function):
        interpreter.emit(frame, KeepState, node, form="cache", target=function.name, tensor=True, asked=True)


def keeps_results(function: Function) -> bool:
    """Whether Python keeps what a function returns: `@functools.cache`."""
    texts = (text.partition("(")[0] for text in function.decorator_texts)
    return any(function.module.resolve_text(text) in _CACHES for text in texts)


def is_of_host(frame: Frame, name: str) -> bool:
    """Whether a name is of a module, or of a function that is not traced."""
    scope = scope_of(frame, name)
    return scope is None or not scope.context.becomes_graph


def scope_of(frame: Frame, name: str) -> Frame | None:
    """The function, at work or around that, whose name it is; None where it is the module's."""
    scope: Frame | None = frame if name not in frame.globals else None
    while scope is not None and (scope.env is None or name not in scope.env):
        scope = scope.parent
    return scope


def _is_made_anew(cls: Class, attribute: str, changing: Function) -> bool:
    """Whether a method that may lead to the changing one assigns the attribute anew, or empties it, or calls one that
    does."""
    methods = methods_in_use(cls)
    renewing = {method.name for method in methods if any(_renews(node, attribute) for node in cst.within(method.node))}
    reaching = {changing.name, "__call__"} if changing.name == "call" else {changing.name}
    found = [method for method in methods if method.name in reaching]
    for method in found:  # grows
        if method.name in renewing or any(_calls(node, name) for node in cst.within(method.node) for name in renewing):
            return True
        for other in methods:
            if other not in found and any(_calls(node, method.name) for node in cst.within(other.node)):
                found.append(other)
    return False


def _is_a_name(cls: Class, attribute: str, counting: Function) -> bool:
    """Whether the class makes nothing but text of what a method counts, and in that method alone: a name of its own for
    each trace."""
    uses = [
        (method, node)
        for method in methods_in_use(cls)
        for node in cst.within(method.node)
        if _is_attribute(node, attribute)
    ]
    told = [part for node in cst.within(counting.node) for part in _told(node)]
    kept = [node for method, node in uses if not (method is counting and any(part is node for part in told))]
    counted = [node for node in cst.within(counting.node) if isinstance(node, cst.AugAssign)]
    return len(kept) < len(uses) and all(any(count.target is node for count in counted) for node in kept)


def _told(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Of what an expression makes text."""
    match node:
        case cst.FormattedStringExpression(expression=expression):
            return [expression]
        case cst.Call(func=cst.Name("str"), args=arguments):
            return [argument.value for argument in arguments]
        case cst.Call(func=cst.Attribute(value=cst.SimpleString(), attr=cst.Name("format")), args=arguments):
            return [argument.value for argument in arguments]
        case _:
            return []


def _is_set_by_callers(frame: Frame, target: cst.BaseExpression) -> bool:
    """Whether each method of the class that calls this one assigns the attribute first, without a look at what it was:
    what is kept is of the same trace then."""
    changing = frame.function
    match target, frame.bound:
        case cst.Attribute(value=cst.Name(), attr=cst.Name(value=name)), Instance(cls) if changing is not None:
            calls = [
                (method, node)
                for method in methods_in_use(cls)
                if method.name != changing.name
                for node in cst.within(method.node)
                if _calls(node, changing.name)
            ]
            return bool(calls) and all(
                any(_renews(node, name) for node in _in_order(method.node.body, call))
                and _sought_before(method.unit, method.node, target, call) is None
                for method, call in calls
            )
        case _:
            return False


def _is_for_a_while(function: cst.FunctionDef | cst.Lambda, target: cst.BaseExpression, statement: cst.CSTNode) -> bool:
    """Whether a function puts back what it assigns to: `before = self.x`, `self.x = ..`, and `self.x = before`. So what
    is kept between is of the same trace, and what is put back was there before."""
    found = (_name_of(node, target) for node in _in_order(function.body, statement))
    names = {one.value for one in found if one is not None}
    if not names:
        return False
    names -= set(_otherwise_bound(function.body, target))
    if isinstance(statement, cst.Assign) and isinstance(statement.value, cst.Name) and statement.value.value in names:
        return True
    behind = False
    for node in cst.within(function.body):
        behind = behind or node is statement
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=back)], value=cst.Name(value=name)) if behind:
                if name in names and back.deep_equals(target):
                    return True
    return False


def _otherwise_bound(body: cst.CSTNode, value: cst.BaseExpression) -> Iterator[str]:
    """The names that code assigns anything but what an expression is."""
    for node in cst.within(body):
        match node:
            case cst.Assign() if _name_of(node, value) is None:
                targets: list[cst.BaseExpression] = [target.target for target in node.targets]
            case cst.AugAssign(target=target) | cst.For(target=target) | cst.NamedExpr(target=target):
                targets = [target]
            case _:
                continue
        yield from (part.value for target in targets for part in cst.within(target) if isinstance(part, cst.Name))


def _name_of(node: cst.CSTNode, value: cst.BaseExpression) -> cst.Name | None:
    """The name that an assignment gives to what an expression is."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)], value=given):
            return name if given.deep_equals(value) else None
        case _:
            return None


def methods_in_use(cls: Class) -> list[Function]:
    """The methods of a class that are no part of setting it up."""
    return [method for method in all_methods(cls) if method.name not in MAKERS]


def _is_lifted(frame: Frame, node: cst.CSTNode) -> bool:
    """Whether a node is outside of the graph that is traced: `with tf.init_scope():`."""
    return any(
        isinstance(item.item, cst.Call) and frame.module.resolve_text(frame.unit.code(item.item.func)) == _LIFTS
        for around in frame.unit.around(node)
        if isinstance(around, cst.With)
        for item in around.items
    )


def _is_converted(frame: Frame, node: cst.CSTNode, target: cst.BaseExpression) -> bool:
    """Whether a tensor is cast to what it mostly is, which returns itself: `self.x = tf.cast(self.x, dtype)`."""
    match node:
        case cst.Assign(value=cst.Call(func=function, args=[cst.Arg(value=given), *_])):
            return given.deep_equals(target) and frame.module.resolve_text(frame.unit.code(function)) in _CONVERTS
        case _:
            return False


def _takes_back(unit: Unit, node: cst.CSTNode, target: cst.BaseExpression) -> bool:
    """Whether something is taken out of a container in the `finally` of what has put it there, as context managers do:
    each trace leaves the container as it was."""
    for inner, outer in pairwise([node, *unit.around(node)]):
        match outer:
            case cst.Try(body=body, finalbody=last) if inner is last:
                return any(_puts(part, target) for part in cst.within(body))
            case cst.FunctionDef():
                return False
    return False


def _puts(node: cst.CSTNode, target: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))):
            return name in _GROWS and owner.deep_equals(target)
        case _:
            return False


def _renews(node: cst.CSTNode, attribute: str) -> bool:
    match node:
        case cst.Assign(targets=targets, value=value):
            return any(_is_attribute(target.target, attribute) for target in targets) and not any(
                _is_attribute(inner, attribute) for inner in cst.within(value)
            )
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="clear"))):
            return _is_attribute(owner, attribute)
        case _:
            return False


def _calls(node: cst.CSTNode, name: str) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=called))):
            return called == name
        case cst.Call(func=cst.Name(value="self")):
            return name in ("call", "__call__")
        case _:
            return False


def _is_attribute(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == name


def _read_before(
    unit: Unit, function: cst.FunctionDef | cst.Lambda, target: cst.BaseExpression, statement: cst.CSTNode
) -> cst.CSTNode | None:
    """As `_sought_before` has it, looked for once."""
    found = unit.first_reads
    if target not in found:
        found[target] = _sought_before(unit, function, target, statement)
    return found[target]


def _sought_before(
    unit: Unit, function: cst.FunctionDef | cst.Lambda, target: cst.BaseExpression, statement: cst.CSTNode
) -> cst.CSTNode | None:
    """Where a function reads what it assigns, before anything of it is assigned, and where it may do both. What is
    assigned only where an object has it, as a subclass says, may be a property."""
    held = _conditions(unit, statement)
    for node in _in_order(function.body, statement):
        if _reads(node, target) and not _leaves_alone(unit, node):
            if _is_assigned(unit, node):
                return None
            if not _excludes(_conditions(unit, node), held) and (node, True) not in held:
                return node
    return None


def _conditions(unit: Unit, node: cst.CSTNode) -> list[tuple[cst.BaseExpression, bool]]:
    """The tests that decide whether a statement runs, each with what it says where the statement does."""
    found = []
    around = [node, *unit.around(node)]
    for inner, outer in pairwise(around):
        match outer:
            case cst.If(test=test) if inner is not test:
                holds = inner is outer.body
                while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
                    test, holds = test.expression, not holds
                found.append((test, holds))
    return found


def _excludes(conditions: list[tuple[cst.BaseExpression, bool]], others: list[tuple[cst.BaseExpression, bool]]) -> bool:
    """Whether of two statements one alone runs: on two sides of a conditional, or one where a name or an attribute
    holds and the other where it does not."""
    return any(
        holds is not other
        and (test is asked or (isinstance(test, cst.Name | cst.Attribute) and test.deep_equals(asked)))
        for test, holds in conditions
        for asked, other in others
    )


def _leaves_alone(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a value is read without use in the graph: to take all out of a container (`held.clear()`), for what a
    tensor of any trace knows (`x.dtype`), or to assert that it is there (`assert x is not None`)."""
    match [*islice(unit.around(node), 2)]:
        case [cst.Attribute(value=owner, attr=cst.Name(value=name)), *_]:
            return owner is node and (name == "clear" or name in _KNOWN_OF_TENSORS)
        case [cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.IsNot())]), cst.Assert()]:
            return True
        case _:
            return False


def _in_order(body: cst.CSTNode, statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What stands before a statement, and to the right of what it assigns to."""
    for node in cst.within(body):
        if node is statement:
            if isinstance(node, cst.Assign | cst.AnnAssign | cst.AugAssign) and node.value is not None:
                yield from cst.within(node.value)
            return
        yield node


def _reads(node: cst.CSTNode, target: cst.BaseExpression) -> bool:
    match target, node:
        case cst.Attribute(attr=cst.Name(value=name)), cst.Attribute(attr=cst.Name(value=read)):
            return name == read and node.deep_equals(target)
        case (
            cst.Attribute(value=owner, attr=cst.Name(value=name)),
            cst.Call(func=cst.Name(value="hasattr"), args=[cst.Arg(held), cst.Arg(cst.SimpleString() as asked)]),
        ):
            return asked.evaluated_value == name and held.deep_equals(owner)
        case cst.Name(value=name), cst.Name(value=read):
            return name == read
        case cst.Subscript(value=owner), cst.ComparisonTarget(operator=cst.In() | cst.NotIn(), comparator=held):
            return held.deep_equals(owner)
        case cst.Subscript(value=owner), cst.Call(func=cst.Attribute(value=held, attr=cst.Name(value="get"))):
            return held.deep_equals(owner)
        case cst.Subscript(), cst.Subscript():
            return node.deep_equals(target)
        case _:
            return False


def _is_assigned(unit: Unit, node: cst.CSTNode) -> bool:
    for around in unit.around(node):
        match around:
            case cst.AssignTarget():
                return True
            case cst.Tuple() | cst.List() | cst.Element():
                continue
            case cst.AnnAssign(target=target):
                return target is node
            case _:
                return False
    return False


def _is_asked(unit: Unit, read: cst.CSTNode, statement: cst.CSTNode) -> bool:
    """Whether code asks whether the value is there, and assigns it where it is not."""
    around = [read, *unit.around(read)]
    for inner, outer in pairwise(around):
        if isinstance(outer, cst.If) and outer.test is inner:
            return outer in unit.around(statement) or _returns(outer.body)
    return False


def _returns(body: cst.BaseSuite) -> bool:
    match body.body:
        case [*_, cst.SimpleStatementLine(body=[cst.Return()])] | [cst.Return()]:
            return True
        case _:
            return False
