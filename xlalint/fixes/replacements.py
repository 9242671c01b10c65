"""Calls that XLA cannot compile as the calls of the table of replacements: its templates, filled with the arguments."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from ..analysis.domain.values import Sequence, Static, Tensor, Value
from ..analysis.interpreter.events import ApiCall
from ..facts.replacements import Form, replacements
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .known import dotted
from .names import Names
from .rewrite import Rewrite, replace
from .segments import segmented
from .syntax import operand, plain

# What may be written twice without being computed twice.
_WRITTEN: Final = ("", "operand")  # the readings that are the whole argument
_REPEATABLE: Final = (cst.Name, cst.Attribute, cst.BaseNumber, cst.SimpleString)


def replacement(event: ApiCall, names: Names) -> Rewrite | None:
    """The first form of the table that the call has arguments for, and no others; None where there is none."""
    found = replacements().get(event.api)
    if found is None or not _is_all_there(event):
        return None
    for form in found.forms:
        text = _filled(form, event, names)
        if text is not None and all(_are_of(form.only, event)) and not any(_are_of(form.refused, event)):
            edits = (replace(event.location, text),)
            if form.shown:
                return segmented(event, names) or Rewrite(form.title, edits, Safety.DISPLAY)
            if not form.differs or _is_same(form, event):
                return Rewrite(form.title, edits)
            return Rewrite(form.title, edits, Safety.UNSAFE, form.differs)
    return None


def _is_same(form: Form, event: ApiCall) -> bool:
    """Whether a form and the call are the same for what is known of the arguments."""
    return bool(form.same) and all(_are_of(form.same, event))


def _are_of(kinds: Mapping[str, Collection[str]], event: ApiCall) -> Iterator[bool]:
    """Whether each of some arguments is a tensor of these kinds of dtypes."""
    for name, wanted in kinds.items():
        value = event.arguments.get(name)
        yield isinstance(value, Tensor) and value.dtype in wanted


def _is_all_there(event: ApiCall) -> bool:
    """Whether the arguments are those that the call itself spells out."""
    arguments = event.node.args
    written, bound = [argument.value for argument in arguments], [*event.argument_nodes.values()]
    return not any(argument.star for argument in arguments) and {*map(id, written)} == {*map(id, bound)}


def _filled(form: Form, event: ApiCall, names: Names) -> str | None:
    """The text of a form. None where it lacks an argument, has no place for one, or repeats what must not be."""
    wanted = [*_fields(form.text)]
    times = Counter(name for name, how, _ in wanted if how in _WRITTEN)
    nodes = event.argument_nodes
    if not nodes.keys() <= {name for name, _, _ in wanted}:
        return None
    if any(times[name] > 1 and not isinstance(node, _REPEATABLE) for name, node in nodes.items()):
        return None
    parts: list[str] = []
    for name, how, before in wanted:
        text = _field(name, how, event, names)
        if text is None:
            return None
        parts += before, text
    return "".join(parts) + form.text[form.text.rindex("}") + 1 :]


def _fields(text: str) -> Iterator[tuple[str, str, str]]:
    """The fields of a template: the argument, what is wanted of it, and the text before."""
    for before, name, how, _ in string.Formatter().parse(text):
        if name is not None:
            yield name, how or "", before


def _field(name: str, how: str, event: ApiCall, names: Names) -> str | None:
    if name == "tf":
        return names.tf
    node = event.argument_nodes.get(name)
    return None if node is None else _READINGS[how](node, event.arguments[name], names)


def _segments(node: cst.BaseExpression, value: Value, names: Names) -> str | None:
    """How many segments there are, where their numbers are written down, in order and each of them."""
    ids = _numbers(node, value, names)
    steps = [after - before for before, after in pairwise((0, *ids))]
    return str(ids[-1] + 1) if steps and steps[0] == 0 and {*steps} <= {0, 1} else None


def _numbers(node: cst.BaseExpression, value: Value, names: Names) -> list[int]:
    """The integers of a list, or of the constant that is made of one; none where one is not known."""
    found: list[Any]
    match node, value:
        case cst.Call(func=function, args=[cst.Arg(value=cst.List(elements=elements)), *_]), _ if (
            dotted(function) == f"{names.tf}.constant"
        ):
            found = [element.value.evaluated_value for element in elements if isinstance(element.value, cst.Integer)]
            found = found if len(found) == len(elements) else []
        case _, Sequence(items=(*items,)):
            found = [item.constant if isinstance(item, Static) else None for item in items]
        case _, Static(constant=[*constants]):
            found = constants
        case _:
            found = []
    return found if all(type(one) is int for one in found) else []


def _columns(node: cst.BaseExpression, value: Value, names: Names) -> str | None:
    """The second of two sizes."""
    match node:
        case cst.List(elements=[_, cst.Element(value=columns)]) | cst.Tuple(elements=[_, cst.Element(value=columns)]):
            return operand(columns)
        case _:
            return None


_READINGS: Final[dict[str, Callable[[cst.BaseExpression, Value, Names], str | None]]] = {
    "": lambda node, value, names: plain(node),
    "operand": lambda node, value, names: operand(node),
    "columns": _columns,
    "segments": _segments,
}
