"""What becomes of elements that are padded, in batches, to shapes that a program gives for each of their parts."""

from __future__ import annotations

from collections.abc import Iterable

from ..domain.lost_ranks import with_rank
from ..domain.values import NONE, ApiObject, Dict, Sequence, Static, Structure, Value, Variation
from ..domain.varying_shapes import filtered, varied
from ..record import replace


def padded(element: Value, shapes: Value | None, longest: tuple[Variation, ...]) -> Value:
    """Batches of elements, or of a part of them. `longest`: what varies where no shape is given."""
    match element, shapes:
        case Sequence(items=tuple(parts)), Sequence(items=tuple(each)) if len(parts) == len(each) and _of_shapes(each):
            items = tuple(padded(part, shape, longest) for part, shape in zip(parts, each, strict=True))
            return replace(element, items=items)
        case Structure(), Sequence("tuple", tuple(each)) if each and _of_shapes(each):
            return Sequence("tuple", tuple(padded(element, shape, longest) for shape in each))
        case Structure(), Dict(each, None) if each and _of_shapes(each.values()):
            return Dict({name: padded(element, shape, longest) for name, shape in each.items()})
        case Dict(parts, None), Dict(each, None) if parts.keys() == each.keys():
            return replace(element, entries={name: padded(part, each[name], longest) for name, part in parts.items()})
    match False if shapes in (None, NONE) else fixed_shapes(shapes):
        case False:
            return varied(element, longest) if longest else element
        case None:  # these are the shapes then, of elements that declare none as well
            return with_rank(element)
        case True:
            return filtered(element, lambda variation: variation.axis == 0)  # how many rows a batch has


def _of_shapes(items: Iterable[Value]) -> bool:
    """Whether some values are shapes, and not the sizes of one."""
    return all(isinstance(item, Sequence | Dict) for item in items)


def fixed_shapes(value: Value) -> bool | None:
    """Whether every dimension in a structure of shapes or specs is a number; None where that is not known."""
    match value:
        case Static(constant=None | -1):
            return False
        case Static():
            return True
        case ApiObject(api="tf.TensorSpec", payload=payload):
            return None if payload is None else fixed_shapes(payload)
        case ApiObject(api="tf.RaggedTensorSpec"):
            return False
        case Dict(entries, None):
            return fixed_shapes(Sequence("tuple", tuple(entries.values())))
        case Sequence(items=tuple(items)):
            found = {fixed_shapes(item) for item in items}
            return False if False in found else None if None in found else True
        case _:
            return None
