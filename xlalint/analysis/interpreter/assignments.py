"""Assignments to names, attributes and items, and Python state that is changed where a tensor decides how often."""

from __future__ import annotations

from typing import ClassVar, Final

from ...syntax import nodes as cst
from ..budget import Clock
from ..domain.joins import as_list, as_tuple, element_of, join_all, join_parts
from ..domain.kinds import as_tensor, is_key, leaves, options, surely_tensor, tensor_beside_arrays
from ..domain.row_counts import number_along
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    ClassValue,
    Compiled,
    Dependence,
    Dict,
    Dimension,
    Instance,
    ModuleValue,
    OneOf,
    Origin,
    Sequence,
    Slice,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..library.class_checks import is_called_tensor
from ..library.keras_classes import EAGERLY
from ..library.strategies import BACKEND_VARIABLE, sets_clustering
from ..program.parameter_uses import asked_for
from ..program.project import Project
from ..program.signs import Shows
from ..record import replace
from .changed_outside import with_change, with_global_change
from .contexts import NOT_TRACED, ContextKind
from .dimensions import dimension_at
from .eager_steps import has_run_compiled
from .events import IterateOver, MutateInLoop
from .filling import put_behind
from .fixed_lengths import MAKERS
from .frames import Frame
from .host_reads import report_position, report_stored
from .in_range import is_put_in_range
from .interface import Handlers, Models, Options
from .kept import Keeping
from .kept_settings import note_renewed, note_setting
from .replicas import perhaps_parted
from .same_conditions import forget_sides
from .setup_events import RunEagerly
from .unseen_strategies import with_strategies

_FIXED: Final = (Api, Array, ClassValue, ModuleValue, Static, Unknown)


class Assignments(Keeping):
    """Assignments to names, attributes and items, and Python state that is changed where a tensor decides how often."""

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        super().__init__(project, options, wanted_apis, clock, models)
        self._asked_for: dict[cst.CSTNode, frozenset[str]] = {}  # what a function compares with None

    def _assign(self, frame: Frame, node: cst.Assign) -> None:
        value = self.evaluate(frame, node.value)
        if isinstance(node.value, cst.Subscript) and is_called_tensor(value) and self._is_asked_for(frame, node):
            value = UNKNOWN  # of a tensor no part is None: the annotation means something else
        if isinstance(value, Sequence) and isinstance(node.value, cst.BinaryOperation) and value.kind == "list":
            value = put_behind(frame, node, self.evaluate(frame, node.value.left), value)
        if self.strategies and self.options.target == "tpu":
            value = with_strategies(frame, node, value)
        for target in node.targets:
            if isinstance(value, Static) and _is_counted(frame, node, target.target):
                self.note_counted(frame, node, target.target, value)
                value = self._counted(frame, node, target.target, value)
            if not _is_same_each_time(frame, value):
                self._note_outside(frame, target.target, node)
            self.note_outer(frame, target.target, node, value)
            self.assign(frame, target.target, value, node)

    def _is_asked_for(self, frame: Frame, node: cst.Assign) -> bool:
        """Whether the function asks of a name that this binds whether it is None."""
        if frame.function is None:
            return False
        function = frame.function.node
        if function not in self._asked_for:
            self._asked_for[function] = frame.function.unit.told(asked_for, function)
        names = {target.target.value for target in node.targets if isinstance(target.target, cst.Name)}
        return not names.isdisjoint(self._asked_for[function])

    def _annotated(self, frame: Frame, node: cst.AnnAssign) -> None:
        if node.value is not None:
            value = self.evaluate(frame, node.value)
            if isinstance(value, Unknown):
                value = self.annotated_value(frame, node.annotation.annotation) or value
            self.assign(frame, node.target, value, node)
        elif isinstance(node.target, cst.Name) and frame.owner is not None and frame.function is None:
            value = self.annotated_value(frame, node.annotation.annotation) or UNKNOWN
            self.bind(frame, node.target.value, value)

    def _augmented(self, frame: Frame, node: cst.AugAssign) -> None:
        left = self.evaluate(frame, node.target)
        right = self.evaluate(frame, node.value)
        self._note_outside(frame, node.target, node)
        value = self.operate(frame, node, node.operator, left, right)
        if isinstance(left, Static) and _is_counted(frame, node, node.target):
            self.note_counted(frame, node, node.target, value)
        value = put_behind(frame, node, left, value)
        self.assign(frame, node.target, self._counted(frame, node, node.target, value), node)

    def _counted(self, frame: Frame, node: cst.CSTNode, target: cst.BaseExpression, value: Value) -> Value:
        """A Python number that a loop on the host, or a function that runs again, makes of what it was counts them."""
        if not isinstance(value, Static) or isinstance(value.constant, str):
            return value
        match target:
            case cst.Attribute() if frame.function is not None:
                again = frame.function.name not in MAKERS
            case cst.Attribute() | cst.Subscript():
                again = frame.python_loop > 0
            case cst.Name(value=name) if name in frame.globals or name in frame.nonlocals:
                again = frame.function is not None
            case _:
                again = frame.python_loop > 0 and not value.known and not value.varies
        return self.counter(frame, node) if again else value

    def assign(
        self, frame: Frame, target: cst.BaseExpression, value: Value, statement: cst.CSTNode | None = None
    ) -> None:
        """Bind a target of any form to a value; `statement` is the assignment, if it is one."""
        match target:
            case cst.Name(value=name):
                if name in frame.globals and statement is not None:
                    given, own = value, _is_counted(frame, statement, target)
                    value = with_global_change(frame, statement, given, of_itself=own)
                    if value is not given:
                        self.writes.restated.add(frame.module)
                self.bind(frame, name, value)
                note_renewed(self, frame, statement, target, value)
                if isinstance(statement, cst.Assign | cst.AnnAssign) and _is_created(statement.value):
                    frame.passed -= {name}
                    if frame.outer_names:
                        frame.outer_names[-1].discard(name)
            case cst.Tuple() | cst.List():
                self._unpack(frame, target, value, statement)
            case cst.StarredElement(value=inner):
                self.assign(frame, inner, value)
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                self.note_kept(frame, statement or target, target, "attribute", value)
                if not (_is_same_each_time(frame, value) or _is_new_object(frame, statement, value)):
                    self._mutated(frame, statement or target, owner, "attribute")
                held = self.evaluate(frame, owner)
                if statement is not None:
                    given, own, parts = value, _is_counted(frame, statement, target), self._deciding(frame, statement)
                    value = with_change(frame, statement, target, given, of_itself=own, decided_by=parts)
                    if value is not given:
                        self.writes.restated.update(one.cls for one in options(held) if isinstance(one, Instance))
                    note_setting(self, frame, statement, target, held, given)
                    note_renewed(self, frame, statement, target, given)
                self.set_attribute(frame, held, name, value, statement or target)
                forget_sides(frame, name)
                if name == "run_eagerly" and value == Static(True):
                    self._run_eagerly(frame, owner, held, statement or target)
            case cst.Subscript():
                self._store(frame, target, value, statement or target)

    def _deciding(self, frame: Frame, statement: cst.CSTNode) -> tuple[Value, ...]:
        """What a comparison compares by which an assignment on the host decides: `self.warm = epoch < 5`."""
        match statement:
            case (
                cst.Assign(value=cst.Comparison() as test) | cst.Assign(value=cst.IfExp(test=cst.Comparison() as test))
            ) if frame.context.kind in NOT_TRACED:
                sides = (test.left, *(one.comparator for one in test.comparisons))
                return tuple(self.evaluate(frame, side) for side in sides)
            case _:
                return ()

    def _run_eagerly(self, frame: Frame, place: cst.BaseExpression, model: Value, statement: cst.CSTNode) -> None:
        """`model.run_eagerly = True`: nothing of its steps is compiled any more."""
        compiled = (one.facts for one in options(model) if isinstance(one, Instance | ApiObject))
        how = next((facts for facts in compiled if isinstance(facts, Compiled)), None)
        late = frame.conditional or frame.module.is_test or has_run_compiled(frame)
        if how is not None and not late:
            self.emit(frame, RunEagerly, statement, order=self.order_of(statement), how=how)
        jit = None if self.options.target is not None else False  # for a target the steps have to be compiled
        match model:
            case Instance(facts=Compiled() as how):
                model.facts = replace(how, jit=jit, why=EAGERLY)
            case ApiObject(facts=Compiled() as how):
                self.assign_quietly(frame, place, replace(model, facts=replace(how, jit=jit, why=EAGERLY)))

    def _unpack(self, frame: Frame, target: cst.Tuple | cst.List, value: Value, statement: cst.CSTNode | None) -> None:
        value = self.as_iterable(frame, as_tuple(value), target)
        options = value.options if isinstance(value, OneOf) else (value,)
        compiled = frame.context.kind is ContextKind.XLA
        source = statement.value if isinstance(statement, cst.Assign) else target
        is_tensor = surely_tensor(value) or (compiled and tensor_beside_arrays(value))
        if is_tensor and not _is_chosen(frame, source, value):
            self.emit(frame, IterateOver, source, iterable=value, form="unpacking")
        for option in options:
            match option:
                case Unknown(part=True, sliced=False):
                    continue
                case Unknown(names):
                    self.refute_tensor(frame, option)  # code that works unpacks a tuple, or a slice of one
                    frame.unpacked |= names
                case Structure():
                    self.doubt_tensor(frame, option)
        parts = [self._parts(frame, target, option) for option in options if option != NONE]
        for element, *found in zip(target.elements, *parts, strict=True):
            self.assign(frame, element.value, join_all(*found) if found else UNKNOWN)

    def _parts(self, frame: Frame, target: cst.Tuple | cst.List, value: Value) -> list[Value]:
        """What each element of an unpacking gets."""
        count = len(target.elements)
        starred = next(
            (i for i, element in enumerate(target.elements) if isinstance(element, cst.StarredElement)), None
        )
        value = as_tuple(value)
        match value:
            case Sequence(items=tuple(items)) if starred is None and len(items) == count:
                return list(items)
            case Sequence(items=tuple(items)) if starred is not None and len(items) >= count - 1:
                behind = len(items) - (count - starred - 1)
                return [*items[:starred], Sequence("list", items[starred:behind]), *items[behind:]]
            case Sequence(items=None, element=Static(dimension=Dimension())) if starred is None:
                return [dimension_at(value, Static(place)) for place in range(count)]
            case Sequence("tuple", None, Static(varies=(_, *_)) as size) if starred is None:
                return [number_along(size, place) for place in range(count)]
            case Structure(open=Origin()) if starred is None:
                return [value.part] * count  # no graph unpacks a tensor of unknown length
        parts = [self.element(frame, value, target)] * count
        if starred is not None:
            parts[starred] = Sequence("list", None, parts[starred])
        return parts

    def _store(self, frame: Frame, target: cst.Subscript, value: Value, statement: cst.CSTNode) -> None:
        """`base[index] = value`."""
        base = as_list(self.evaluate(frame, target.value))
        index = tuple(self.index_element(frame, element.slice) for element in target.slice)
        match base:
            case Tensor():
                self.subscript(frame, target, base, index, store=True)
            case Dict(entries, element):
                key = index[0]
                # Of a dict that came from elsewhere nobody knows the keys.
                new = element is None and not (is_key(key) and key.constant in entries)
                if isinstance(key, Static):  # not by the graph itself: `cache[tf.get_default_graph()]`
                    self.note_kept(frame, statement, target, "item", value)
                if as_tensor(key, Dependence.STATIC) is not None or not _is_same_each_time(frame, value):
                    self._mutated(frame, statement, target.value, "new key" if new else "item")
                self.assign_quietly(frame, target.value, _with_part(base, key, value))
            case Instance():
                self.special(frame, base, "__setitem__", (*index, value), target)
            case Array():
                report_position(self, frame, index, target)
                report_stored(self, frame, base, value, statement)
            case Api("os.environ") if sets_clustering(index[0], value):
                self.show(frame, Shows.CLUSTERS, target, f"`{frame.unit.code(target)}`")
            case Api("os.environ") if index[0] == BACKEND_VARIABLE:
                self.show_backend(frame, value, statement, read_at_import=True)
            case Sequence(kind, tuple(items)) if isinstance(index[0], Slice):
                self._mutated(frame, statement, target.value, "item")
                put = value.items if isinstance(value, Sequence) else None
                certain = not (frame.loop or frame.python_loop or frame.conditional)
                made = None if put is None or not certain else _with(items, index[0], put)
                added = self.element(frame, value, target)
                either = join_parts(element_of(base) or added, added)
                stored_parts = Sequence(kind, None, either) if made is None else Sequence(kind, made)
                self.assign_quietly(frame, target.value, stored_parts)
            case Sequence(kind, tuple(items)) if not (frame.loop or frame.python_loop or frame.conditional) and (
                isinstance(index[0], Static)
                and isinstance(index[0].constant, int)
                and -len(items) <= index[0].constant < len(items)
            ):
                self._mutated(frame, statement, target.value, "item")
                stored = [*items]
                stored[index[0].constant] = value
                self.assign_quietly(frame, target.value, Sequence(kind, tuple(stored)))
            case Sequence(kind):
                self._mutated(frame, statement, target.value, "item")
                found = element_of(base)
                held = value if found is None else join_parts(found, value)
                self.assign_quietly(frame, target.value, Sequence(kind, None, held))

    def _mutated(self, frame: Frame, node: cst.CSTNode, owner: cst.BaseExpression, form: str) -> None:
        """Python state is changed: worth saying where a tensor decides how often."""
        if not (frame.loop or (frame.branch and frame.context.converted)):
            return
        root = owner
        while isinstance(root, cst.Attribute | cst.Subscript):
            root = root.value
        if isinstance(root, cst.Name) and self._is_outside(frame, root.value):
            inside = "loop" if frame.loop else "branch"
            self.emit(frame, MutateInLoop, node, form=form, inside=inside, target=frame.unit.code(owner))

    def mutated_call(self, frame: Frame, node: cst.BaseExpression, form: str, added: Value | None = None) -> None:
        """A method that changes its owner."""
        if (owner := self.owner_of_method(node)) is not None:
            self._mutated(frame, node, owner, form)
            self.note_kept(frame, node, owner, form, added)

    def owner_of_method(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What stands before the dot where a container's method is called; None where another function is passed it."""
        match node:
            case cst.Call(func=cst.Attribute() as method) | (cst.Attribute() as method) if (
                method.attr.value in self.models.containers
            ):
                return method.value
            case _:
                return None

    def assign_quietly(self, frame: Frame, target: cst.BaseExpression, value: Value) -> None:
        """Bind an attribute or item that a method changed in place: the change itself has been said."""
        match target:
            case cst.Name(value=name):
                self.rebind(frame, name, value)
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                self.set_attribute(frame, self.evaluate(frame, owner), name, value)
            case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                base, key = self.evaluate(frame, owner), self.evaluate_name(frame, index)
                if isinstance(base, Sequence | Dict):
                    self.assign_quietly(frame, owner, _with_part(base, key, value))

    def _note_outside(self, frame: Frame, target: cst.BaseExpression, node: cst.CSTNode) -> None:
        """A name of another scope is assigned to, which AutoGraph does not carry."""
        if not isinstance(target, cst.Name) or not (frame.loop or (frame.branch and frame.context.converted)):
            return
        inside = "loop" if frame.loop else "branch"
        for form, names in (("nonlocal", frame.nonlocals), ("global", frame.globals)):
            if target.value in names and not (form == "nonlocal" and self._is_of_the_iteration(frame, target.value)):
                self.emit(frame, MutateInLoop, node, form=form, inside=inside, target=target.value)

    def _is_of_the_iteration(self, frame: Frame, name: str) -> bool:
        """Whether a closure's name is of a function that each iteration of the tensor loop calls again."""
        scope = frame.parent
        while scope is not None and (scope.env is None or name not in scope.env):
            scope = scope.parent
        called_in_loop = scope is not None and scope.loop == scope.loop_around > 0
        return called_in_loop and frame.loop == frame.loop_around and not frame.branch

    def _is_outside(self, frame: Frame, name: str) -> bool:
        """Whether the name's object was there before the tensor loop or branch around it began."""
        if frame.outer_names:
            return name in frame.outer_names[-1]
        # A body that is a function of its own: what it closes over, and what it was passed from before the loop.
        scope: Frame | None = frame
        while scope is not None and (scope.env is None or name not in scope.env):
            scope = scope.parent
        return scope is None or not scope.loop_around or name in scope.passed

    def is_from_before(self, frame: Frame, value: Value) -> bool:
        """Whether an object that a call passes was there before the tensor loop around the call began."""
        if not isinstance(value, Instance | Sequence | Dict):
            return False
        scope = frame.env or {}
        names = frame.outer_names[-1] if frame.outer_names else frame.passed
        return any(scope.get(name) is value for name in names)

    def _delete(self, frame: Frame, node: cst.Del) -> None:
        targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            match target:
                case cst.Name(value=name) if frame.env is not None:
                    frame.env.pop(name, None)
                case cst.Subscript(value=owner):
                    self._mutated(frame, target, owner, "del")
                    self._remove(frame, target)

    def _remove(self, frame: Frame, target: cst.Subscript) -> None:
        """`del base[index]`."""
        base = self.evaluate(frame, target.value)
        index = self.index_element(frame, target.slice[0].slice)
        certain = not (frame.loop or frame.python_loop or frame.conditional)
        match base, index:
            case Dict(entries, element), Static(key) if certain and is_key(index):
                left = {name: value for name, value in entries.items() if name != key}
                self.assign_quietly(frame, target.value, Dict(left, element))
            case Sequence(kind, tuple(items)), _ if certain and (kept := _with(items, index, ())) is not None:
                self.assign_quietly(frame, target.value, Sequence(kind, kept))
            case Sequence(kind), _:
                self.assign_quietly(frame, target.value, Sequence(kind, None, element_of(base)))

    STATEMENTS: ClassVar[Handlers[None]] = {
        cst.Assign: _assign,
        cst.AnnAssign: _annotated,
        cst.AugAssign: _augmented,
        cst.Del: _delete,
    }


def _with_part(base: Sequence | Dict, key: Value, value: Value) -> Sequence | Dict:
    """A container of which a part was changed in place: which one, need not be known."""
    match base:
        case Dict(entries, element) if is_key(key):
            return Dict({**entries, key.constant: value}, element)
        case Dict(entries, element):
            # Columns that are filled, or made to arrays, one after the other: `columns[name].append(x)`.
            column = isinstance(value, Sequence | Array)
            changed = {
                name: join_parts(held, value) if column and isinstance(held, Sequence) else perhaps_parted(held)
                for name, held in entries.items()
            }
            return Dict(changed, value if element is None else join_parts(element, value))
        case Sequence(kind, tuple(items)) if (kept := _with(items, key, (value,))) is not None:
            return Sequence(kind, kept, varies=base.varies)
        case Sequence(kind):
            return Sequence(kind, None, join_parts(element_of(base) or value, value), varies=base.varies)


def _with(items: tuple[Value, ...], index: Value, put: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """The items with others in the place of those that an index or a slice names; None where that is not known."""
    match index:
        case Static(int(position)) if -len(items) <= position < len(items):
            place = position % len(items)
            return (*items[:place], *put, *items[place + 1 :])
        case Slice(start, stop, None):
            sides = [None if side is None else getattr(side, "constant", ...) for side in (start, stop)]
            if all(side is None or isinstance(side, int) for side in sides):
                first, last, _ = slice(*sides).indices(len(items))
                return (*items[:first], *put, *items[max(first, last) :])
    return None


def _is_chosen(frame: Frame, source: cst.BaseExpression, value: Value) -> bool:
    """Whether an undecided condition says which of two forms an argument of a layer has: `if self.masked: x, mask = x`.
    Nobody unpacks the examples of a batch."""
    return (
        frame.conditional > 0
        and frame.context.by_keras
        and isinstance(source, cst.Name)
        and frame.summary.given.get(source.value) is value
    )


def _is_same_each_time(frame: Frame, value: Value) -> bool:
    """Whether an assignment in the body of a loop, a function of its own, does once what it does in every iteration, or
    may do so, as nothing is known of the value; a Python value that it keeps is there after the loop."""
    if not (frame.loop or frame.branch):
        return True  # most assignments
    if frame.outer_names or frame.branch:
        return False
    return all(isinstance(option, _FIXED) or _holds_no_tensors(option) for option in options(value))


def _is_new_object(frame: Frame, statement: cst.CSTNode | None, value: Value) -> bool:
    """Whether a function of a loop keeps an object of the project that it makes of nothing: what such an object comes
    to hold is said where it is assigned."""
    match statement:
        case cst.Assign(value=cst.Call(args=args)) if not (args or frame.outer_names or frame.branch):
            return all(isinstance(option, Instance) for option in options(value))
        case _:
            return False


def _holds_no_tensors(value: Value) -> bool:
    """Whether a value is an object of the project without a tensor, as far as is seen."""
    return isinstance(value, Instance) and not any(
        isinstance(leaf, Tensor | Structure) for held in value.attributes.values() for leaf in leaves(held)
    )


def _is_made_of(node: cst.BaseExpression, target: cst.BaseExpression) -> bool:
    """Whether a number is computed from what a name was before: `self.rate = max(self.rate * 0.9, 0.1)`."""
    match node:
        case cst.BinaryOperation(left=left, right=right):
            return any(side.deep_equals(target) or _is_made_of(side, target) for side in (left, right))
        case cst.Call(func=cst.Name(value="max" | "min" | "round"), args=args):
            return any(_is_made_of(argument.value, target) for argument in args)
        case _:
            return False


def _is_counted(frame: Frame, statement: cst.CSTNode, target: cst.BaseExpression) -> bool:
    """Whether a statement computes a number from what its target was before, each time another one."""
    match statement:
        case cst.AugAssign():
            return not is_put_in_range(frame.unit, statement, target)
        case cst.Assign(value=value):
            return _is_made_of(value, target) and not is_put_in_range(frame.unit, statement, target)
        case _:
            return False


def _is_created(node: cst.BaseExpression | None) -> bool:
    """Whether an expression creates a container, so that nothing else has it."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="copy")), args=[]):
            return True
        case cst.Call(func=cst.Name(value="dict" | "list" | "set")):
            return True
        case _:
            return isinstance(node, cst.Dict | cst.DictComp | cst.List | cst.ListComp | cst.Set | cst.SetComp)
