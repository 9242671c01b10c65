"""What a definition is called with while something else runs: the way to closures, methods and helpers."""

from __future__ import annotations

import gc
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

import numpy as np

from xlalint.sources.specs import SHORT, Form, Keyed, Literal, Many, Spec, spec

from ..backends import backend
from .numbers import SIZE, like_seen
from .slots import Choice
from .tensors import ObjectInput, RecordedInput, build, tensors_in


@dataclass
class RecordedCall:
    """A call that was seen: what was called, and with what; `replicas`: by how many copies of a strategy's step;
    `kept`: what was asked to be kept of the function as it began; `looped`: a loop of the backend's ran it."""

    function: FunctionType
    positional: tuple[Any, ...]
    keywords: dict[str, Any]
    replicas: int = 1
    kept: Any = None
    looped: bool = False


def first_call(run: Callable[[], Any], matches: Callable[[CodeType], bool]) -> RecordedCall | None:
    """The first call of the code that `matches` while `run` runs, if it comes to one. What `run` raises is raised."""
    found: list[RecordedCall] = []
    recorded(run, matches, found)
    return found[0] if found else None


def recorded(
    run: Callable[[], Any],
    matches: Callable[[CodeType], bool],
    found: list[RecordedCall],
    keep: Callable[[FunctionType], Any] = lambda function: None,
) -> Any:
    """What `run` gives; `found` gets the first call of the code that `matches` as soon as it comes to it, also in the
    threads in which a strategy runs its replicas; where that is traced, as layers are when they are put together, the
    first that is not."""
    traced = True

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal traced
        if event != "call" or not traced or (call := _begun(frame, matches)) is None:
            return
        if not found or backend.is_eager():
            kept, looped = keep(call.function), _is_looped(frame)
            found[:], traced = [replace(call, kept=kept, looped=looped)], not backend.is_eager()

    before, before_in_threads = sys.getprofile(), threading.getprofile()
    threading.setprofile(called)
    sys.setprofile(called)
    try:
        return run()
    finally:
        sys.setprofile(before)
        threading.setprofile(before_in_threads)


def _begun(frame: FrameType, matches: Callable[[CodeType], bool]) -> RecordedCall | None:
    """The call that begins with a frame, of code that `matches`; also where a converted copy of that runs."""
    if matches(frame.f_code):
        found = _function_of(frame)
        return None if found is None else _call(frame, found)
    if (converted := backend.converted(frame)) is None:
        return None
    function, positional, keywords = converted
    if isinstance(function, MethodType):
        positional = (function.__self__, *positional)
        function = function.__func__
    if not isinstance(function, FunctionType) or not matches(function.__code__):
        return None
    return RecordedCall(function, positional, keywords, backend.replicas())


def _is_looped(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code in backend.LOOPS:
            return True
        frame = frame.f_back
    return False


def _function_of(frame: FrameType) -> FunctionType | None:
    """The function that a frame executes: the one with its code and its closure."""
    code, named = frame.f_code, _of_its_name(frame)
    if named is not None:
        functions = [named]
    else:
        gc.unfreeze()  # what was there when the process started is looked through as well
        functions = [one for one in gc.get_referrers(code) if isinstance(one, FunctionType) and one.__code__ is code]
    for function in functions:
        cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
        if all(_content(cell) is frame.f_locals.get(name, _EMPTY) for name, cell in cells):
            return function
    return functions[0] if functions and not code.co_freevars else None


def _of_its_name(frame: FrameType) -> FunctionType | None:
    """The function that a module, or a class in it, has under the name of the code: to go through all that is in memory
    takes longer, and ended processes where libraries were at work on what they hold."""
    found: Any = frame.f_globals
    for name in frame.f_code.co_qualname.split("."):
        found = (found if isinstance(found, dict) else getattr(found, "__dict__", {})).get(name)
    return found if isinstance(found, FunctionType) and found.__code__ is frame.f_code else None


_EMPTY = object()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _call(frame: FrameType, function: FunctionType) -> RecordedCall:
    """The arguments at the start of a frame, as the call of a function without its `self`."""
    names, rest, options, values = inspect.getargvalues(frame)
    code = frame.f_code
    positional = names[: code.co_argcount]
    keywords = {name: values[name] for name in names[code.co_argcount :]}
    arguments = [values[name] for name in positional if name in values]
    if rest is not None:
        arguments += values[rest]
    if options is not None:
        keywords |= values[options]
    return RecordedCall(function, tuple(arguments), keywords, backend.replicas())


def forms_of(call: RecordedCall, generated: bool) -> Iterator[tuple[str, Choice, bool]]:
    """The arguments as inputs: parameter, input, and whether it goes by position. `generated`: their tensors are drawn
    again, of the same shape; else they are what was seen."""
    code = call.function.__code__
    for position, value in enumerate(call.positional):
        named = position < code.co_argcount
        yield code.co_varnames[position] if named else f"argument {position + 1}", form_of(value, generated), True
    for name, value in call.keywords.items():
        yield name, form_of(value, generated), False


def form_of(value: Any, generated: bool) -> Choice:
    """An object as an input."""
    if isinstance(value, (np.ndarray, backend.KINDS[0])):
        dtype = backend.dtype_name(value.dtype)
        if dtype not in SHORT:
            return same_object(value)
        sizes = _sizes_of(value)
        if sizes is None:
            return same_object(value)
        return spec(dtype, *sizes) if generated or None in (*value.shape,) else _recorded(value, dtype)
    if value is None or isinstance(value, bool | int | float | str):
        return Literal(value)
    if type(value) in (list, tuple):
        items = [form_of(one, generated) for one in value]
        if all(isinstance(one, Spec | Literal | Many | Keyed) for one in items):
            return Many(type(value).__name__, tuple(one for one in items if isinstance(one, Form)))
    if type(value) is dict and all(isinstance(key, str) for key in value):
        entries = {key: form_of(one, generated) for key, one in value.items()}
        if all(isinstance(one, Spec | Literal | Many | Keyed) for one in entries.values()):
            return Keyed(tuple((key, one) for key, one in entries.items() if isinstance(one, Form)))
    return _recorded_structure(value)


def _sizes_of(value: Any) -> list[int] | None:
    """The sizes of a tensor, small where its graph leaves one open; None where it leaves the rank open."""
    try:
        return [SIZE if size is None else size for size in getattr(value, "shape", ())]
    except ValueError:
        return None


def _recorded_structure(value: Any) -> ObjectInput:
    """A structure of tensors with the values that were seen, of which other ones are made as of these."""
    try:
        parts = backend.leaves(value) if backend.is_nested(value) else []
    except (TypeError, ValueError):  # it has keys that cannot be sorted
        parts = []
    tensors = sum(tensors_in(form_of(one, generated=False)) for one in parts)
    if not tensors:
        return same_object(value)

    def varied(value_set: int, positions: Iterator[int]) -> Any:
        def part(one: Any) -> Any:
            form = form_of(one, generated=False)
            return one if form is None else build(form, 0, value_set, positions)

        return backend.map_structure(part, value)

    return RecordedInput(_named(value), lambda: value, varied=varied, tensors=tensors)


def same_object(value: Any) -> ObjectInput:
    """The very object, as an input."""
    return ObjectInput(_named(value), lambda: value)


def _recorded(value: Any, dtype: str) -> ObjectInput:
    """A tensor with the values that were seen, and in further sets with some that are like them."""

    def varied(value_set: int, positions: Iterator[int]) -> Any:
        position = next(positions)
        return backend.tensor_of(like_seen(np.asarray(value), value_set, position), dtype) if value_set else value

    return RecordedInput(_named(value), lambda: value, varied=varied)


def _named(value: Any) -> str:
    sizes = _sizes_of(value) if getattr(value, "dtype", None) is not None else None
    return f"<{type(value).__name__}{'' if sizes is None else f' {sizes}'}>"
