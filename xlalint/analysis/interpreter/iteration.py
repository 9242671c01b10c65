"""What iterating a value yields, and what is said where the value is a tensor."""

from __future__ import annotations

from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.joins import as_tuple, element_of, join_all
from ..domain.kinds import as_tensor, surely_tensor, tensor_beside_arrays
from ..domain.origins import PERHAPS
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    ApiObject,
    Array,
    Dependence,
    Dict,
    Instance,
    OneOf,
    Origin,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)
from ..domain.varying_shapes import STEPS, one_by_one, told_apart, variations_of
from ..files.unit import Location
from ..library import api
from ..record import replace
from .contexts import NOT_TRACED, ContextKind
from .events import IterateOver
from .frames import Frame
from .interface import Interpreter
from .pipelines import as_taken, report_elements

# Ways to iterate that say nothing of what is iterated: of a list and of a tensor people write them alike.
_OF_TENSORS_TOO: Final = frozenset(("for", "enumerate", "list"))
_MOST_ITEMS: Final = 32  # of a literal, each of which is looked at


class Iteration(Interpreter):
    """What iterating a value yields, and what is said where the value is a tensor."""

    def iterate(self, frame: Frame, value: Value, node: cst.BaseExpression, form: str) -> Value:
        """`value` as something iterated at `node`, said as an event where it is a tensor."""
        value = as_tuple(self.as_iterable(frame, value, node))
        report_elements(self, frame, value, node)
        match value:
            case ApiObject("builtins.range", payload=payload) if payload is not None:
                tensor = as_tensor(payload, Dependence.STATIC)
                if tensor is not None:
                    said = "for range" if form == "for" else "range"
                    self.emit(frame, IterateOver, node, iterable=payload, form=said)
                return value
            case OneOf(alternatives) if not as_tensor(value, Dependence.VALUE):
                rest = tuple(option for option in alternatives if option != NONE)
                return rest[0] if len(rest) == 1 else OneOf(rest) if rest else value
        compiled = frame.context.kind is ContextKind.XLA  # the way on which it is a tensor is refused there
        if surely_tensor(value) or (compiled and tensor_beside_arrays(value)):
            self.emit(frame, IterateOver, node, iterable=value, form=form)
        else:
            self.doubt_tensor(frame, value)
            if form not in _OF_TENSORS_TOO and not (isinstance(value, Unknown) and (value.compared or value.part)):
                self.refute_tensor(frame, value)  # no tensor can be iterated so: code that works has a list
                if isinstance(value, Unknown):
                    frame.iterated |= value.names  # an operation that it is passed to as a whole stacks the list
        return value

    def element(self, frame: Frame, iterable: Value, node: cst.CSTNode, in_graph: bool = False) -> Value:
        """What iterating `iterable` yields; `in_graph`: by a loop that runs in the graph."""
        location = Location(frame.unit, node)
        iterable = as_tuple(iterable)
        match iterable:
            case Tensor(rank=rank, origin=origin):
                lower = rank - 1 if rank else None
                if not in_graph:
                    varies = tuple(filter(_below_the_first, iterable.varies))
                    return iterable.with_(
                        rank=lower, bounded=None, variable=False, varies=varies, whole=False, open=None
                    )
                here = Origin(location, "a loop over a tensor yields a tensor", shared=PERHAPS)
                return iterable.element(lower, origin or here)
            case ApiObject("builtins.range", payload=payload, options=steps):
                tensor = as_tensor(payload, Dependence.STATIC) if payload is not None else None
                if tensor is None:
                    return self.counter(frame, node, payload, STEPS if steps else "")
                return Tensor(Dependence.VALUE, "int", 0, Origin(location, "the loop runs over a tensor"), carried=True)
            case ApiObject() if (payload := as_taken(self, frame, iterable, node)) is not None:
                return payload  # a batch, also in a graph: the loop calls what is compiled for each (measured)
            case ApiObject():
                return api.call_method(iterable, "__iter__", {}, location)
            case Sequence(kind, tuple(items)) if frame.context.kind in NOT_TRACED and not frame.module.written:
                return one_by_one(element_of(Sequence(kind, told_apart(items, location))) or UNKNOWN)
            case Sequence(element=Instance() as record) if frame.context.kind in NOT_TRACED:
                return self._record_in_loop(frame, record, node)
            case Sequence():
                return one_by_one(element_of(iterable) or UNKNOWN)
            case Static(list() | tuple() as constant) if frame.context.kind in NOT_TRACED and not frame.module.written:
                return element_of(Sequence("list", told_apart(_items_of(constant), location))) or STATIC
            case Dict() | Static():
                return STATIC
            case Structure():
                # A structure of tensors, most often: its parts vary as they do.
                return iterable.part if iterable.open is None else replace(iterable.part, open=None)
            case Array(steps=True) if counted := variations_of(self.counter(frame, node, detail=STEPS)):
                return Unknown(varies=counted)  # a number of NumPy's, which a piece begins with
            case Array(dtype):
                return Array(dtype)
            case OneOf(alternatives):
                found = [self.element(frame, option, node, in_graph) for option in alternatives if option != NONE]
                return join_all(*found)
            case Unknown(names):
                return Unknown(names, part=True)
            case _:
                return UNKNOWN

    @staticmethod
    def counter(frame: Frame, node: cst.CSTNode, count: Value | None = None, detail: str = "") -> Value:
        """The number of a loop's iteration: on the host another Python number each time, while a function is traced a
        constant of its trace."""
        if frame.context.kind not in NOT_TRACED or frame.context.pipeline:
            return STATIC
        rounds = count.constant if isinstance(count, Static) and isinstance(count.constant, int) else None
        return Static(varies=(Variation("counter", Location(frame.unit, node), shapes=rounds, detail=detail),))

    def _record_in_loop(self, frame: Frame, record: Instance, node: cst.CSTNode) -> Instance:
        """A record among several: the numbers in its fields are others in each of them."""
        numbers = self.number_fields(record.cls)
        varying = {
            name: self.counter(frame, node)
            for name, value in record.attributes.items()
            if name in numbers and isinstance(value, Static) and not value.known
        }
        return Instance(record.cls, {**record.attributes, **varying}) if varying else record

    @staticmethod
    def number(frame: Frame, node: cst.CSTNode) -> Value:
        """A Python number that is read from data."""
        return Static(varies=(Variation("number", Location(frame.unit, node)),))


def _items_of(constant: list[Any] | tuple[Any, ...]) -> tuple[Value, ...]:
    """What a literal at the top of a module holds, with its tuples taken apart."""
    return tuple(
        Sequence("tuple", tuple(map(Static, item))) if isinstance(item, tuple) else Static(item)
        for item in constant[:_MOST_ITEMS]
    )


def _below_the_first(variation: Variation) -> bool:
    """Whether an element of a tensor varies as the tensor does: not where that is in how many there are."""
    return variation.axis != 0
