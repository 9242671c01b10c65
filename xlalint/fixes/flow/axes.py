"""Reductions, losses and other functions along axes of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...syntax import nodes as cst
from ..reductions import REDUCTIONS, Selected
from ..rewrite import GivenUp
from ..syntax import plain
from .calls import Call, Interpreting, Operation, number, numbers
from .states import OTHER, Other, Rows, State, together
from .writing import atom

_DIGITS: Final = "in the last digits"
_MEANS_OF_TRUTHS: Final = ("keras.backend.mean", "keras.ops.mean")  # Keras makes numbers of them first


# -- along axes -------------------------------------------------------------------------------------------------------


def _is_selected(rows: Rows, axis: int) -> bool:
    """Whether an axis is that of the selected rows. Raises `GivenUp` where nobody knows."""
    if axis >= 0 and rows.front is not None:
        return axis == rows.front
    if axis < 0 and rows.behind is not None:
        return -axis == rows.behind + 1
    raise GivenUp


def _is_behind(rows: Rows, axis: int) -> bool:
    if axis < 0:
        return rows.behind is None or -axis <= rows.behind
    return rows.front is not None and axis > rows.front


def _moved(it: Interpreting, rows: Rows, axis: int, node: cst.BaseExpression) -> None:
    """An axis behind the selected one, in a whole tensor where that one is several."""
    if axis >= 0 and _is_behind(rows, axis) and rows.mask.rank != 1:
        if rows.mask.rank is None:
            raise GivenUp
        if not isinstance(node, cst.Integer):
            raise GivenUp
        it.writing.put(node, str(axis + rows.mask.rank - 1))


def reduce(name: str) -> Operation:
    def operate(it: Interpreting, call: Call) -> State | None:
        node, state = call.first
        axis, _ = call.get("axis", "reduction_indices")
        if not isinstance(state, Rows):
            return None
        if axis is None or plain(axis) == "None":
            return _reduced(it, call, name, node, state, "", True)
        axes = numbers(axis)
        if axes is None or not all(_known(state, one) for one in axes):
            raise GivenUp
        selected = [_is_selected(state, one) for one in axes]
        if not any(selected):
            return _reduced_each(it, call, state, axes, axis)
        if len(axes) > 1:
            raise GivenUp
        if state.behind == 0 and state.front == 0:
            return _reduced(it, call, name, node, state, "", True)
        if state.behind == 0 and state.mask.rank == 1 and axes == [-1]:
            return _reduced(it, call, name, node, state, ", axis=-1", False)
        if state.mask.rank is None or state.front is None or _keeps(call):
            raise GivenUp
        along = list(range(state.front, state.front + state.mask.rank))
        text = str(along[0]) if len(along) == 1 else str(along)
        return _reduced(it, call, name, node, state, f", axis={text}", False)

    return operate


def _known(rows: Rows, axis: int) -> bool:
    return rows.front is not None if axis >= 0 else rows.behind is not None


def _keeps(call: Call) -> bool:
    keeps, _ = call.get("keepdims", "keep_dims")
    return keeps is not None and plain(keeps) != "False"


def _reduced(
    it: Interpreting, call: Call, name: str, node: cst.BaseExpression, rows: Rows, rest: str, whole: bool
) -> State:
    if _keeps(call) or (rest and rows.behind is None and rows.mask.rank != 1):
        raise GivenUp
    if rows.kind == "bool" and call.api in _MEANS_OF_TRUTHS:
        it.writing.put(node, f"{it.writing.tf}.cast({it.writing.text(node)}, {it.writing.tf}.float32)")
        rows = replace(rows, kind="float")
    if rows.kind == "bool" and name not in ("reduce_any", "reduce_all"):
        raise GivenUp  # TensorFlow refuses them
    uses = 2 if name in ("reduce_mean", "reduce_variance", "reduce_std", "reduce_max", "reduce_min") else 1
    spread, text = it.spread(rows, node, call.frame, uses)
    mask = "" if whole and rows.front != 0 else it.mask_text(rows.mask, call.frame)  # "": no number of its own
    made = REDUCTIONS[name](Selected(it.writing.tf, text, atom(text), mask, spread, rest, rows.kind, whole))
    if made.before or (rows.or_zero and name not in ("reduce_sum", "reduce_mean")):
        raise GivenUp
    written = made.text
    if rows.or_zero and name == "reduce_mean":
        total, _, counted = written.rpartition(" / ")
        written = f"{it.writing.tf}.math.divide_no_nan({total}, {counted})"
    it.writing.differs.setdefault(made.differs or _DIGITS)
    it.writing.has_reduced = True
    it.writing.put(call.node, written)
    return OTHER


def _reduced_each(it: Interpreting, call: Call, rows: Rows, axes: list[int], node: cst.BaseExpression) -> State:
    """Along other axes: for each row by itself."""
    if any(axis >= 0 and _is_behind(rows, axis) for axis in axes):
        if len(axes) > 1 and rows.mask.rank != 1:
            raise GivenUp
        _moved(it, rows, axes[0], node)
    if _keeps(call):
        return rows
    behind = sum(_is_behind(rows, axis) for axis in axes)
    front = None if rows.front is None else rows.front - (len(axes) - behind)
    return rows.shaped(front, None if rows.behind is None else rows.behind - behind)


def last(removes: bool, singular: bool = False) -> Operation:
    """A function of the last axis: it stays, or goes."""

    def operate(it: Interpreting, call: Call) -> State | None:
        state = together([it.operand(node, one, call.frame) for node, one in call.arguments.values()])
        if not isinstance(state, Rows):
            return None
        axis, _ = call.get("axis")
        if axis is not None and number(axis) != -1:
            raise GivenUp
        if state.behind in (0, None):
            raise GivenUp
        it.note_singular([state], singular)
        behind = state.behind - removes if state.behind is not None else None
        return state.shaped(state.front, behind)

    return operate


def loss(it: Interpreting, call: Call) -> State | None:
    """A loss of Keras's as a function: the mean along the last axis."""
    targets, found = [*call.arguments.values()][:2]
    states = [targets[1], found[1]]
    if not any(isinstance(one, Rows) for one in states):
        return None
    state = together(states)
    assert isinstance(state, Rows)
    if state.behind == 0 and state.front == 0:
        return _loss_of_all(it, call, state)
    if state.behind is None and not _has_columns(call):
        raise GivenUp
    behind = None if state.behind is None else state.behind - 1
    return state.shaped(state.front, behind)


def _has_columns(call: Call) -> bool:
    """Whether rows that are scored have scores, by the form of the code: more than a dimension is indexed."""
    return any(isinstance(state, Rows) and state.mask.rank is not None and state.mask.rank > 1 for state in call.states)


def _loss_of_all(it: Interpreting, call: Call, rows: Rows) -> State:
    """Of rows without columns it is the mean of all of them: computed for each, and then reduced."""
    tf = it.writing.tf
    spread = it.mask_text(rows.mask, call.frame)
    for node, state in [*call.arguments.values()][:2]:
        if isinstance(state, Rows):
            it.writing.put(node, f"{it.writing.operand(node)}[..., {tf}.newaxis]")
    each = it.writing.text(call.node)
    text = f"{tf}.reduce_sum({tf}.where({spread}, {each}, 0)) / {tf}.math.count_nonzero({spread}, dtype={tf}.float32)"
    it.writing.differs.setdefault(_DIGITS)
    it.writing.has_reduced = True
    it.writing.put(call.node, text)
    return OTHER


def of_classes(it: Interpreting, call: Call) -> State | None:
    """A loss of classes by their numbers: for each row one number."""
    pairs = [*call.arguments.items()]
    labels = next((one for name, one in pairs if name in ("labels", "y_true", "target")), None)
    scores = next((one for name, one in pairs if name in ("logits", "y_pred", "output")), None)
    if labels is None or scores is None:
        raise GivenUp
    match labels[1], scores[1]:
        case Rows() as classes, Rows(behind=behind) as rows if (
            classes.mask == rows.mask and rows.front == classes.front
        ):
            it.note_singular([classes], True, "zero")
            if classes.behind is not None:
                left: int | None = classes.behind
            else:
                left = None if behind is None else behind - 1
            return Rows(rows.mask, rows.front, left, rows.roots | classes.roots, kind="float")
        case Other(), Other():
            return None
        case _:
            raise GivenUp


def norm(it: Interpreting, call: Call) -> State | None:
    axis, _ = call.get("axis")
    _, state = call.first
    if not isinstance(state, Rows):
        return None
    axes = numbers(axis)
    if axes is None or len(axes) != 1 or not known_enough(state, axes[0]) or is_last_selected(state, axes[0]):
        raise GivenUp
    it.note_singular([state], True)
    assert axis is not None
    return _reduced_each(it, call, state, axes, axis)


def known_enough(rows: Rows, axis: int) -> bool:
    return axis < 0 or rows.front is not None


def is_last_selected(rows: Rows, axis: int) -> bool:
    return (axis >= 0 and axis == rows.front) or (axis < 0 and rows.behind is not None and -axis == rows.behind + 1)


def arg(it: Interpreting, call: Call) -> State | None:
    """`tf.argmax` along another axis."""
    axis, _ = call.get("axis", "dimension")
    _, state = call.first
    if not isinstance(state, Rows):
        return None
    axes = numbers(axis)
    if axes is None or len(axes) != 1 or not known_enough(state, axes[0]) or is_last_selected(state, axes[0]):
        raise GivenUp
    assert axis is not None
    return _reduced_each(it, call, state, axes, axis)
