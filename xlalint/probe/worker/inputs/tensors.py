"""The tensors that an input stands for: drawn so that both sides of a branch are reached, the same at every draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any, Final, TypeAlias

from xlalint.sources.specs import Form, Keyed, Many, Spec, leaves

from ..backends import backend
from .numbers import further, numbers

FORMS: Final = ("sparse", "ragged", "variable")  # styles that are forms of a tensor
Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]  # by position, and by name
Entry: TypeAlias = "Form | ObjectInput"


@dataclass(frozen=True)
class ObjectInput:
    """An object that the grammar cannot write: how it is made, and that in words. `changed` is the same made of other
    tensors, if it is made of any."""

    text: str
    make: Callable[[], Any] = field(compare=False)
    changed: Callable[[Callable[[Spec], Spec]], ObjectInput] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class RecordedInput(ObjectInput):
    """An object that was seen, of which other values can be made: by the number of a set of values, and what numbers
    its tensors; `tensors`: how many it has."""

    varied: Callable[[int, Iterator[int]], Any] = field(default=lambda value_set, positions: None, compare=False)
    tensors: int = 1


@dataclass(frozen=True)
class ComposedInput(ObjectInput):
    """An object that is made of inputs by name, each of which may be another: by `made`. `is_structure`: what it holds
    are inputs by themselves, with other values in each set."""

    entries: tuple[tuple[str, Entry], ...] = field(default=(), compare=False)
    made: Callable[..., Any] = field(default=dict, compare=False)
    is_structure: bool = field(default=False, compare=False)

    def with_entry(self, name: str, value: Entry) -> ComposedInput:
        """The same with another value for an entry, or with one more."""
        return composed(self.made, dict(self.entries) | {name: value}, is_structure=self.is_structure)


def composed(made: Callable[..., Any], entries: Mapping[str, Entry], *, is_structure: bool = False) -> ComposedInput:
    """What `made` makes of entries by name; its tensors are the same each time."""

    @cache
    def kept() -> dict[str, Any]:
        return {name: build(one, 0, 0) for name, one in entries.items() if not isinstance(one, ObjectInput)}

    def make() -> Any:
        objects = {name: one.make() for name, one in entries.items() if isinstance(one, ObjectInput)}
        return made(**kept(), **objects)

    def changed(change: Callable[[Spec], Spec]) -> ObjectInput:
        changes = {name: map_specs(one, change) for name, one in entries.items()}
        return composed(made, changes, is_structure=is_structure)

    inside = ", ".join(f"{name}={one}" for name, one in entries.items())
    return ComposedInput(f"{made.__qualname__}({inside})", make, changed, tuple(entries.items()), made, is_structure)


def draw(spec: Spec, variant: int, value_set: int, position: int) -> Any:
    """One tensor, in the form that its spec names. Raises TypeError where there is no such tensor."""
    made = backend.tensor_of(numbers(spec, variant, value_set, position), spec.dtype)
    if spec.style in FORMS and spec.style not in backend.FORMS:
        raise TypeError(f"there are no {spec.style} tensors")
    form = backend.FORMS.get(spec.style)
    return made if form is None else form(made, further(value_set, position))


def map_specs(form: Form | ObjectInput | None, change: Callable[[Spec], Spec]) -> Any:
    """An input with all its tensors changed."""
    match form:
        case Spec():
            return change(form)
        case Many():
            return Many(form.kind, tuple(map_specs(item, change) for item in form.items))
        case Keyed():
            return Keyed(tuple((key, map_specs(item, change)) for key, item in form.entries))
        case ObjectInput(changed=changed) if changed is not None:
            return changed(change)
    return form


def tensors_in(form: Form | ObjectInput | None) -> int:
    """How many tensors of an input are numbered where it is built."""
    if isinstance(form, Form):
        return sum(1 for _ in leaves(form))
    if isinstance(form, ComposedInput):
        return sum(tensors_in(one) for _, one in form.entries) if form.is_structure else 0
    return form.tensors if isinstance(form, RecordedInput) else 0


def build(form: Form | ObjectInput, variant: int, value_set: int, positions: Iterator[int] | None = None) -> Any:
    """The Python object that a form describes. `positions` numbers the tensors of a call, so that no two are equal."""
    positions = count() if positions is None else positions
    if isinstance(form, Spec):
        return draw(form, variant, value_set, next(positions))
    if isinstance(form, Many):
        items = [build(item, variant, value_set, positions) for item in form.items]
        return items if form.kind == "list" else tuple(items)
    if isinstance(form, Keyed):
        return {key: build(item, variant, value_set, positions) for key, item in form.entries}
    if isinstance(form, RecordedInput):
        return form.varied(value_set, positions)
    if isinstance(form, ComposedInput) and form.is_structure:
        return form.made(**{name: build(one, variant, value_set, positions) for name, one in form.entries})
    return form.make() if isinstance(form, ObjectInput) else form.value
