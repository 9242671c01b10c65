"""Subscripts: indices, slices and masks on tensors and containers."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from ...syntax import nodes as cst
from ..budget import Clock
from ..domain.bounds import FIRST, cut_by, indexed
from ..domain.counts import Rows, between, is_multiple, minus
from ..domain.joins import as_list, as_tuple, element_of, join_all, without_none
from ..domain.kinds import as_tensor, is_mixed
from ..domain.operators import (
    index_static,
    indexes_a_tensor,
)
from ..domain.origins import taken
from ..domain.row_counts import number_along, numbers_behind
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    ClassValue,
    Dependence,
    Dict,
    Dimension,
    FunctionValue,
    Instance,
    Module,
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
    Variation,
)
from ..domain.varying_shapes import (
    FILLED,
    GROWN,
    LAST,
    NEW_AXES,
    STEPS,
    WINDOW,
    after_index,
    cut,
    of_sizes,
    one_by_one,
    part_of_queue,
    told_apart,
    variations_of,
)
from ..files.unit import Location
from ..library import api
from ..library.class_checks import is_enum
from ..library.objects import UPDATED
from ..library.taken_batches import among_first
from ..program.project import Project
from ..program.queues import follows_on, is_filled_up, moves_along, takes_the_front
from ..program.stepped_slices import leaves_a_rest
from ..record import replace
from .asked_backends import of_variable
from .contexts import NOT_TRACED, ContextKind
from .counting import rows, written
from .dimensions import dimension_at, read_at, report_dimension
from .events import Consume, HostRead, IndexWith
from .filled_once import at_fixed_index
from .found_gpus import report_index
from .frames import Arguments, Frame, note_size
from .host_reads import parts_of_index, report_position
from .interface import Handlers, Interpreter, Models, Options
from .replicas import report_parted_owner
from .several_callees import one_of_module

_OF_LISTS: Final = frozenset(("cut", FILLED, GROWN))  # why a list is longer or shorter than it was


class Subscripts(Interpreter):
    """Subscripts of tensors and containers."""

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        super().__init__(project, options, wanted_apis, clock, models)
        self._rests: dict[cst.CSTNode, bool] = {}  # slices, and whether they leave a shorter one at the end
        self._fronts: dict[cst.CSTNode, bool] = {}  # .. and whether they are batches from what gets shorter by them

    def _subscript(self, frame: Frame, node: cst.Subscript) -> Value:
        if (rows := self._rows_asked(frame, node)) is not None:
            return Static(rows) if isinstance(rows, int) else Static(count=rows)
        base = self.evaluate(frame, node.value)
        index = tuple(self.index_element(frame, element.slice) for element in node.slice)
        if isinstance(base, Array) and base.length is not None and self._comes_out_even(frame, node, base.length):
            counter = self.counter(frame, node)
            index = (Slice(counter, counter, None), *index[1:])
        part = self.subscript(frame, node, base, index)
        part = read_at(part, Location(frame.unit, node)) if type(part) is Static and part.dimension else part
        if frame.context.kind not in NOT_TRACED:
            return part
        part = cut(part, index, Location(frame.unit, node), looped=_is_repeated(frame))
        if self._is_of_queue(frame, node, base, index):
            return part_of_queue(part, Location(frame.unit, node))
        if isinstance(part, Sequence | Array | Unknown) and part.varies:
            return self._settled(frame, node, part)
        return part

    def _rows_asked(self, frame: Frame, node: cst.Subscript) -> Rows | None:
        """How many rows an array is known to have that is asked for them: `x.shape[0]`."""
        match node:
            case cst.Subscript(
                value=cst.Attribute(value=cst.Name() as name, attr=cst.Name(value="shape")),
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
            ):
                match self.evaluate(frame, name):
                    case Array(length=length, varies=varies) if not of_sizes(varies):
                        return length
        return None

    @staticmethod
    def _settled(frame: Frame, node: cst.Subscript, part: Sequence | Array | Unknown) -> Value:
        """A part without what does not vary of it: a window that moves along, a batch that is filled up."""
        if any(each.kind in _OF_LISTS for each in part.varies) and moves_along(frame.unit, node):
            return replace(part, varies=tuple(each for each in part.varies if each.kind not in _OF_LISTS))
        of_itself = [each for each in part.varies if each.kind == "cut" and each.location.node is node]
        if of_itself and follows_on(frame.unit, node):
            kept = tuple(each for each in part.varies if each.location.node is not node)
            return replace(part, varies=(*kept, Variation(WINDOW, of_itself[0].location, axis=0)))
        if any(each.kind == LAST and each.location.node is node for each in part.varies):
            kept = tuple(each for each in part.varies if each.location.node is not node)
            return replace(part, varies=kept) if is_filled_up(frame.unit, node) else part
        return part

    def _is_of_queue(self, frame: Frame, node: cst.Subscript, base: Value, index: tuple[Value, ...]) -> bool:
        """Whether a slice takes a batch from what gets shorter by it, not of what is known to fill its batches."""
        if node not in self._fronts:
            self._fronts[node] = takes_the_front(frame.unit, node)
            match base, index:
                case Array(length=int(length)), (Slice(stop=Static(int(size))),) if size > 0 and length % size == 0:
                    self._fronts[node] = False
        return self._fronts[node]

    def _comes_out_even(self, frame: Frame, node: cst.Subscript, length: Rows) -> bool:
        """Whether slices that go through so many rows, step by step, leave none."""
        match node.slice[0].slice:
            case cst.Slice(lower=lower, upper=upper) as piece if lower and upper and self._rests.get(piece):
                first, end = (
                    written(frame, bound, lambda name: self.evaluate(frame, name)) for bound in (lower, upper)
                )
                return first is not None and end is not None and is_multiple(length, minus(end, first))
            case _:
                return False

    def index_element(self, frame: Frame, element: cst.BaseSlice) -> Value:
        if isinstance(element, cst.Index):
            return self.evaluate_name(frame, element.value)
        assert isinstance(element, cst.Slice)
        sides = (element.lower, element.upper, element.step)
        bounds = [None if side is None else self._bound(frame, self.evaluate(frame, side)) for side in sides]
        if frame.context.kind in NOT_TRACED:
            if element not in self._rests:
                self._rests[element] = leaves_a_rest(frame.unit, element)
            if self._rests[element]:
                step = Static(varies=(Variation("counter", Location(frame.unit, element), detail=STEPS),))
                return Slice(step, step, None)
        length = cst.width_of(element)
        lower, upper, stride = bounds
        return Slice(lower, upper, stride, None if length is None else self.evaluate(frame, length))

    def _bound(self, frame: Frame, value: Value) -> Value:
        """A bound of a slice: of what JAX is passed, which holds no Python numbers, it is a tensor."""
        note_size(frame, value)
        context = frame.context
        if isinstance(value, Structure) and not value.passed and not context.by_keras and context.is_for_jax:
            return value.tensor
        return value

    def subscript(
        self, frame: Frame, node: cst.Subscript, base: Value, index: tuple[Value, ...], store: bool = False
    ) -> Value:
        """`base[index]`; on a tensor also said as an event."""
        if isinstance(base, OneOf):
            # A position that a list would not take says which of them is meant.
            tensors = tuple(option for option in base.options if isinstance(option, Tensor | Structure))
            parts = [part for item in index for part in parts_of_index(item)]
            meant = tensors if any(as_tensor(part, Dependence.STATIC) for part in parts) else ()
            return join_all(*(self.subscript(frame, node, option, index, store) for option in meant or base.options))
        report_parted_owner(self, frame, base, node)
        if isinstance(base, Tensor):
            report_dimension(self, frame, {str(place): item for place, item in enumerate(index)}, node, "index")
        alone = len(index) == 1
        index = tuple(without_none(self._as_mask(frame, base, item, alone)) for item in index)
        base = as_tuple(base)
        match base:
            case Structure() | Unknown() if indexes_a_tensor(base, index):
                self.confirm_tensor(frame, base)
                origin = Origin(Location(frame.unit, node.value), "`{code}` is a tensor", shared=taken(base))
                carried = isinstance(base, Structure) and base.carried
                base = Tensor(Dependence.VALUE, origin=origin, carried=carried, varies=base.varies)
            case Structure():
                self.doubt_tensor(frame, base)
                if any(isinstance(item, Static) and isinstance(item.constant, str) for item in index):
                    self.confirm_structure(frame, base)
                    return base.part
                return base.part if base.open is None else replace(base.part, open=None)  # perhaps a row
            case Unknown(names):
                for item in index:
                    self.doubt_tensor(frame, item)
                    if isinstance(item, Static) and isinstance(item.constant, str):
                        self.refute_tensor(frame, base)
                self.doubt_tensor(frame, base)
                return Unknown(names, part=True, sliced=len(index) == 1 and isinstance(index[0], Slice))
        match base:
            case Tensor():
                return self._index_tensor(frame, node, base, index, store)
            case Sequence() | Dict():
                return self._index_container(frame, node, base, index)
            case Api("sys.modules") if (module := self._module_named(frame, node, index)) is not None:
                return ModuleValue(module)
            case Api("os.environ") if (asked := of_variable(self, index[0])) is not None:
                return asked
            case Array():
                report_position(self, frame, index, node)
                return Array(base.dtype, _length_of_part(frame, node, base, index), after_index(base.varies, index))
            case Static(list() | tuple() as constant) if variations_of(index[0]) and isinstance(
                held := as_list(Static([*constant])), Sequence
            ):
                return self._index_container(frame, node, held, index)
            case Static(constant) if isinstance(constant, tuple | list | str):
                self._index_read(frame, node, index[0])
                return index_static(constant, index)
            case Static() | Api():
                return STATIC
            case ApiObject(api=library, payload=updated) if library == UPDATED and updated is not None:
                self.subscript(frame, node, updated, index)
                return base
            case ApiObject():
                return api.attribute(base, "__getitem__") or UNKNOWN
            case Instance(cls) if method := cls.find("__getitem__"):
                item = index[0] if len(index) == 1 else Sequence("tuple", index)
                bound = FunctionValue(method, bound=base)
                return self.invoke(frame, bound, Arguments([item]), node)
            case ClassValue(cls) if is_enum(cls):
                match index[0]:
                    case Static(str(name)):
                        return self.attribute(frame, base, name, node)
                    case _:
                        return self.instantiate(frame, cls, Arguments([STATIC]), node)
            case ClassValue(cls):
                method = cls.find("__class_getitem__")
                if method is None:
                    return base  # a generic class with its parameter
                return self.invoke(frame, FunctionValue(method, bound=base), Arguments([index[0]]), node)
            case ModuleValue(module):  # of `globals()` or `vars(module)`
                match index[0]:
                    case Static(str(name)):
                        return self.project.member(module, name) or UNKNOWN
                    case _:
                        return one_of_module(self.project, module)
            case _:
                return UNKNOWN

    def _as_mask(self, frame: Frame, base: Value, item: Value, alone: bool) -> Value:
        """An unknown comparison used as an index is a mask, if this is code in which tensors are meant; and so is an
        input of a layer that is used `alone`: all inputs have the dimension of the batch, and nobody takes examples of
        one batch by numbers that another has."""
        unsaid = isinstance(item, Tensor) and item.dtype is None and item.rank is None
        if alone and isinstance(item, Tensor) and unsaid and _is_layer_input(frame, item):
            return item.with_(dtype="bool")
        if not (isinstance(item, Unknown) and item.compared):
            return item
        if not (frame.context.kind is ContextKind.XLA or isinstance(base, Tensor)):
            return item
        if not (isinstance(base, Tensor | Structure | Unknown) and item.names):
            return item
        if isinstance(base, Unknown) and not base.part and not base.names.isdisjoint(frame.summary.structures):
            return item  # a table, whose columns have names
        name = next(iter(sorted(item.names)))
        return Tensor(
            Dependence.VALUE,
            "bool",
            origin=Origin(
                frame.summary.location or Location(frame.unit, frame.unit.tree),
                f"`{name}` is compared and used as an index",
            )
            if frame.summary.location
            else None,
        )

    def _index_tensor(
        self, frame: Frame, node: cst.Subscript, base: Tensor, index: tuple[Value, ...], store: bool
    ) -> Value:
        self.emit(frame, IndexWith, node, base=base, index=index, node=node, store=store)
        if base.bounded is not None:
            arguments: dict[str, Value] = {f"*{position}": item for position, item in enumerate(index)}
            self.emit(frame, Consume, node, tensor=base, consumer="index", node=node, arguments=arguments)
        location = Location(frame.unit, node)
        rank = base.rank
        dependence, origin, bounded, parts = base.dependence, base.origin, indexed(base, index), [base]
        selected = False
        for item in index:
            mask = as_tensor(item, Dependence.STATIC)
            match item:
                case Slice():
                    continue
                case Tensor(is_mask=True) if mask is not None:
                    selected = True
                    rank = rank - (mask.rank or 1) + 1 if rank is not None else None
                case Static(None) | Api("tf.newaxis" | "np.newaxis"):
                    rank = rank + 1 if rank is not None else None
                case Static(constant) if constant is Ellipsis:
                    rank = None
                case _:
                    if mask is not None and mask.dependence > dependence:
                        dependence, origin = mask.dependence, mask.origin
                    parts += [mask] if mask is not None else []
                    rank = rank - 1 if rank is not None and rank > 0 else None
        if selected:
            axes = FIRST if len(index) == 1 else None
            bounded = Origin(location, "`{code}` has a bounded dynamic shape", axes=axes)
        bounded = bounded or cut_by(base, index, location)
        carried = selected or any(part.carried for part in parts)
        varies = after_index(base.varies, index)
        mixed = selected or is_mixed(parts)
        owned = base.of_tensorflow
        return Tensor(
            dependence, base.dtype, rank, origin, bounded, carried, mixed=mixed, varies=varies, of_tensorflow=owned
        )

    def _index_read(self, frame: Frame, node: cst.Subscript, item: Value) -> None:
        """Say that Python asks a tensor for a position in a list, a tuple or a text."""
        asked = item
        if isinstance(item, Slice):
            asked = next((part for part in parts_of_index(item) if as_tensor(part, Dependence.STATIC)), STATIC)
        if as_tensor(asked, Dependence.STATIC):
            self.emit(frame, HostRead, node, value=asked, reader="list index")

    def _module_named(self, frame: Frame, node: cst.Subscript, index: tuple[Value, ...]) -> Module | None:
        """What `sys.modules[__name__]` and `sys.modules["package.module"]` are, of the project."""
        match node.slice, index:
            case [cst.SubscriptElement(slice=cst.Index(value=cst.Name("__name__")))], _:
                return frame.module
            case _, (Static(str(name)),):
                return self.project.find(name, frame.module)
            case _:
                return None

    def _index_container(
        self, frame: Frame, node: cst.Subscript, base: Sequence | Dict, index: tuple[Value, ...]
    ) -> Value:
        item = index[0]
        if isinstance(base, Sequence):
            self._index_read(frame, node, item)
            report_index(self, frame, base, item, node)
        match base, item:
            case Sequence(items=tuple(items)), Static(int(position)) if -len(items) <= position < len(items):
                return items[position]
            case Sequence(kind, tuple(items)), Static(varies=(_, *_)) if frame.context.kind in NOT_TRACED:
                return one_by_one(element_of(Sequence(kind, told_apart(items, Location(frame.unit, node)))) or UNKNOWN)
            case Sequence(kind, tuple(items)), Slice(start, stop, step):
                constants: list[Any] = [
                    None if part is None else getattr(part, "constant", ...) for part in (start, stop, step)
                ]
                if all(constant is None or isinstance(constant, int) for constant in constants) and constants[2] != 0:
                    return Sequence(kind, items[slice(*constants)])
                return Sequence(kind, None, element_of(base))
            case Sequence(items=None, element=Static(dimension=Dimension())), _:
                return dimension_at(base, item)
            case Sequence("tuple", None, Static(varies=(_, *_)) as size), Static(int(axis)):
                return number_along(size, axis)
            case Sequence("tuple", None, Static(varies=(_, *_)) as size), Slice(start=start):
                return replace(base, element=numbers_behind(size, start))
            case Sequence(element=element, varies=varies, steps=steps), Slice(stop=stop):
                first = element is not None and stop not in (None, NONE)
                kept = among_first(element) if first and element is not None else element
                return replace(base, element=kept, varies=after_index(varies, index), steps=_taken(steps, item))
            case Sequence(), _:
                return at_fixed_index(frame, node, item, element_of(base) or UNKNOWN)
            case Dict(entries, element), Static(key) if item.known and key in entries:
                return entries[key]
            case Dict(entries, element), _:
                values = [*entries.values()] if not (isinstance(item, Static) and item.known) else []
                values += [] if element is None else [element]
                if variations_of(item) and frame.context.kind in NOT_TRACED:
                    values = [*told_apart(tuple(values), Location(frame.unit, node))]
                return one_by_one(element_of(Sequence("list", tuple(values))) or UNKNOWN)

    EXPRESSIONS: ClassVar[Handlers[Value]] = {
        cst.Subscript: _subscript,
    }


def _taken(steps: int | None, item: Slice) -> int | None:
    """How many of so many items a slice takes; 0 where that is not known."""
    parts = (item.start, item.stop, item.step)
    bounds: list[Any] = [None if part is None else getattr(part, "constant", ...) for part in parts]
    if not steps or bounds[2] == 0 or not all(bound is None or type(bound) is int for bound in bounds):
        return steps and 0
    return len(range(steps)[slice(*bounds)])


def _length_of_part(frame: Frame, node: cst.Subscript, base: Array, index: tuple[Value, ...]) -> Rows | None:
    """How long a part of an array is: as many rows as a slice takes, or as an array of positions has."""
    if frame.context.kind not in NOT_TRACED:
        return None
    match index, node.slice:
        case [Slice(start, stop, None), *_], [cst.SubscriptElement(slice=cst.Slice() as cut), *_]:
            lower = 0 if cut.lower is None else rows(frame, start, cut.lower)
            upper = base.length if cut.upper is None else rows(frame, stop, cut.upper)
            return between(base.length, lower, upper)
        case [Array(dtype=dtype, length=length)], _ if dtype != "bool":
            return length
        case [new, *_], _ if new in NEW_AXES:
            return 1
        case [Static(whole), *new], _ if whole is Ellipsis and all(axis in NEW_AXES for axis in new):
            return base.length
        case _:
            return None


def _is_layer_input(frame: Frame, value: Tensor) -> bool:
    """Whether a value is all of what Keras passes to a layer as one of its inputs."""
    by_keras = frame.context.by_keras and frame.function is not None and frame.function.name == "call"
    return by_keras and any(value is given for given in frame.summary.given.values())


def _is_repeated(frame: Frame) -> bool:
    """Whether eager code, or a dataset, comes by here with other values again and again."""
    return frame.looped or frame.python_loop > 0 or frame.context.pipeline
