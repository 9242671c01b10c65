"""Subscripts of rows, of places and of sizes."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..one_position import element
from ..rewrite import GivenUp
from ..syntax import plain
from .calls import Interpreting, number
from .cutting import cut
from .frames import Frame
from .selecting import mask_of, named_mask, nonzero, select, within
from .states import OTHER, Count, Items, Other, Places, Rows, Sizes, State, holds_rows

_NOTHING = "where nothing is selected, which raises in eager execution"


def indexed(it: Interpreting, node: cst.Subscript, state: State, frame: Frame) -> State:
    """What a subscript holds."""
    if (places := nonzero(it, node, frame)) is not None:
        return places
    parts = [part.slice for part in node.slice]
    inner = [(one, it.evaluate(one, frame)) for part in parts for one in _bounds(part)]
    match state, parts:
        case Rows() as rows, [cst.Index(value=which)] if isinstance(inner[0][1], Rows):
            return within(it, node, (node.value, rows), inner[0], frame)
        case Other(), [cst.Index(value=which)] if node is it.wanted and isinstance(inner[0][1], Other):
            return select(it, node, (node.value, state), named_mask(it, which, frame), frame, mask_node=which)
        case Other(), [cst.Index(value=which)] if isinstance(inner[0][1], Other) and _is_mask(it, which, frame):
            return select(it, node, (node.value, state), named_mask(it, which, frame), frame, mask_node=which)
    if (first := cut(it, node, state, frame)) is not None:
        return first
    if any(holds_rows(one) or isinstance(one, Count) for _, one in inner) or any(map(_is_counted, parts)):
        raise GivenUp
    match state:
        case Rows():
            return _of_rows(it, node, state, parts, frame)
        case Places(flat=False):
            return _of_places(it, node, state, parts)
        case Sizes():
            return _of_sizes(it, node, state, parts, frame)
        case Items(states):
            position = number(parts[0].value) if len(parts) == 1 and isinstance(parts[0], cst.Index) else None
            if position is not None and -len(states) <= position < len(states):
                return states[position]
            if holds_rows(state):
                raise GivenUp
            return OTHER
        case Other():
            return Other(_least(parts))
        case _ if holds_rows(state):
            raise GivenUp
        case _:
            return OTHER


def _bounds(part: cst.BaseSlice) -> list[cst.BaseExpression]:
    match part:
        case cst.Index(value=value):
            return [value]
        case cst.Slice(lower=lower, upper=upper, step=step):
            return [one for one in (lower, upper, step) if one is not None]
        case _:
            raise GivenUp


def _is_counted(part: cst.BaseSlice) -> bool:
    """Whether a slice ends at one of several numbers, `x[i, : counts[i]]`: what such slices make together has as many
    rows as a mask may select, and meets these one by one."""
    match part:
        case cst.Slice(upper=cst.Subscript(value=cst.Name())):
            return True
        case _:
            return False


def _is_mask(it: Interpreting, which: cst.BaseExpression, frame: Frame) -> bool:
    """Whether an index is a mask: the one of the selection that is wanted, or boolean by its form."""
    match it.wanted:
        case cst.Subscript(slice=[cst.SubscriptElement(cst.Index(wanted))]) if plain(wanted) == plain(which):
            return True
        case _:
            return mask_of(it, which, frame).is_boolean


def _least(parts: list[cst.BaseSlice]) -> int:
    """How many dimensions the result has at least."""
    found = 0
    for part in parts:
        match part:
            case cst.Slice():
                found += 1
            case cst.Index(value=cst.Name("None") | cst.Attribute(attr=cst.Name("newaxis"))):
                found += 1
    return found


def _of_rows(it: Interpreting, node: cst.Subscript, rows: Rows, parts: list[cst.BaseSlice], frame: Frame) -> State:
    whole = [_kind(part) for part in parts]
    if len(parts) == 1 and whole[0] == "item" and rows.front == 0:
        return _taken(it, node, rows, frame)
    if "other" in whole:
        raise GivenUp
    if "rest" in whole:
        at = whole.index("rest")
        head, tail = whole[:at], whole[at + 1 :]
        if any(one != "new" for one in head):
            raise GivenUp
        removed, added = tail.count("item"), tail.count("new")
        if rows.behind is None and len(tail) - added > 0 and removed == 0 and added == 0:
            return rows
        if rows.behind is None:
            return rows.shaped(rows.front, None)
        if len(tail) - added > rows.behind:
            raise GivenUp
        front = None if rows.front is None else rows.front + len(head)
        return rows.shaped(front, rows.behind - removed + added)
    if rows.front is None:
        raise GivenUp
    front, left, at = 0, rows.front, -1
    for one in whole:  # up to the selected dimension
        at += 1
        if one == "new":
            front += 1
        elif left == 0:
            break
        else:
            left -= 1
            front += one == "slice" or one == "all"
    else:
        if left:
            return rows.shaped(front + left, rows.behind)
        return rows.shaped(front, rows.behind)
    if whole[at] != "all":
        raise GivenUp
    tail = whole[at + 1 :]
    if tail and rows.mask.rank != 1:
        if rows.front != 0 or at != 0:
            raise GivenUp
        _shift(it, node, rows, tail)
    added, removed = tail.count("new"), tail.count("item")
    behind = None if rows.behind is None else rows.behind - removed + added
    if behind is not None and behind < 0:
        raise GivenUp
    return rows.shaped(front, behind)


def _shift(it: Interpreting, node: cst.Subscript, rows: Rows, tail: list[str]) -> None:
    """The indices behind the selected dimension, which may be several of the whole tensor."""
    front = [":"] * rows.mask.rank if rows.mask.rank is not None else ["..."]
    if rows.mask.rank is None and rows.behind != len(tail) - tail.count("new"):
        raise GivenUp
    text = ", ".join([*front, *(plain_slice(part) for part in node.slice[1:])])
    it.writing.put(node, f"{it.writing.operand(node.value)}[{text}]")


def plain_slice(part: cst.SubscriptElement) -> str:
    return cst.text_of(part).code(part).strip().rstrip(",")


def _kind(part: cst.BaseSlice) -> str:
    match part:
        case cst.Slice(lower=None, upper=None, step=None):
            return "all"
        case cst.Slice():
            return "slice"
        case cst.Index(value=cst.Ellipsis()):
            return "rest"
        case cst.Index(value=cst.Name("None") | cst.Attribute(attr=cst.Name("newaxis"))):
            return "new"
        case cst.Index():
            return "item"
        case _:
            return "other"


def _taken(it: Interpreting, node: cst.Subscript, rows: Rows, frame: Frame) -> State:
    """The first or the last row."""
    match node.slice[0].slice:
        case cst.Index(value=which):
            pass
        case _:
            raise GivenUp
    if rows.mask.rank not in (1, None):
        raise GivenUp
    text = element(it.writing.text(node.value), it.mask_text(rows.mask, frame), which, it.writing.tf)
    if text is None:
        raise GivenUp
    it.writing.differs.setdefault(_NOTHING)
    it.writing.has_reduced = True
    it.writing.put(node, text)
    return OTHER


def _of_places(it: Interpreting, node: cst.Subscript, places: Places, parts: list[cst.BaseSlice]) -> State:
    """`tf.where(condition)[:, 0]`: places of one number."""
    match [_kind(part) for part in parts], parts:
        case ["all", "item"], [_, cst.Index(value=cst.Integer("0"))]:
            it.writing.put(node, it.writing.text(node.value))
            return Places(places.mask, flat=True)
        case _:
            raise GivenUp


def _of_sizes(it: Interpreting, node: cst.Subscript, sizes: Sizes, parts: list[cst.BaseSlice], frame: Frame) -> State:
    """A part of the shape of rows."""
    rows = sizes.rows
    match parts:
        case [cst.Index(value=which)] if rows is not None:
            position = number(which)
        case [cst.Slice(lower=cst.Integer() as lower, upper=None, step=None)] if rows is not None:
            return Sizes(rows, sizes.first + int(lower.evaluated_value))
        case _:
            raise GivenUp
    if position is None:
        raise GivenUp
    if position >= 0 and position + sizes.first == rows.front:
        it.writing.put(node, count_text(it, rows, frame))
        return Count(rows.mask)
    if position < 0 and (rows.behind is None or -position <= rows.behind):
        return OTHER
    raise GivenUp


def count_text(it: Interpreting, rows: Rows, frame: Frame) -> str:
    tf = it.writing.tf
    return f"{tf}.math.count_nonzero({it.mask_text(rows.mask, frame)}, dtype={tf}.int32)"
