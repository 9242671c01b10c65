"""What functions of TensorFlow and Keras make of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ...syntax import nodes as cst
from ..reductions import REDUCTIONS
from ..rewrite import GivenUp
from ..syntax import plain
from .axes import arg, is_last_selected, known_enough, last, loss, norm, of_classes, reduce
from .calls import Call, Interpreting, Operation, number
from .cutting import pad, top
from .frames import Frame
from .indexing import count_text
from .program import short
from .selecting import boolean_mask, gathered, histogram, scattered, segments, taken, where
from .states import OTHER, Callable, Count, Items, Other, Places, Rows, Sizes, State, holds_rows, joined, together

# -- for each position ------------------------------------------------------------------------------------------------


def _each(singular: bool = False) -> Operation:
    def operate(it: Interpreting, call: Call) -> State | None:
        states = [it.operand(node, state, call.frame) for node, state in call.arguments.values()]
        it.note_singular(states, singular)
        if (asks := _asked(call)) is not None:
            return Other(asks=asks)
        found = together(states)
        logical = short(call.api) in _LOGICAL
        if isinstance(found, Rows) and (singular or logical or short(call.api).startswith(("nn.", "sigmoid", "tanh"))):
            return replace(found, kind="bool" if logical else "float")
        return found

    return operate


def _asked(call: Call) -> str | None:
    """What `tf.equal(number of rows, 0)` and its like ask."""
    match [*call.arguments.values()]:
        case [(_, Count()), (cst.Integer(value), _)]:
            return ASKED.get((short(call.api), value))
        case _:
            return None


def _quotient(it: Interpreting, call: Call) -> State | None:
    states = [it.operand(node, state, call.frame) for node, state in call.arguments.values()]
    it.note_singular(states[1:], True)
    return together(states)


def _power(it: Interpreting, call: Call) -> State | None:
    states = [it.operand(node, state, call.frame) for node, state in call.arguments.values()]
    exponent, _ = call.get("a", "y", "#1")
    it.note_singular(states, not isinstance(exponent, cst.Integer))
    return together(states)


def _cast(it: Interpreting, call: Call) -> State | None:
    node, state = call.first
    if isinstance(state, Places):
        it.writing.put(call.node, it.writing.text(node))
        return state
    found, (dtype, _) = together([state]), call.get("dtype")
    if isinstance(found, Rows):
        return replace(found, kind="float" if dtype is not None and "float" in plain(dtype) else None)
    return found


def _where(it: Interpreting, call: Call) -> State | None:
    if len(call.arguments) - ("name" in call.arguments) == 1:
        return where(it, call)
    return _each()(it, call)


def _one_hot(it: Interpreting, call: Call) -> State | None:
    node, state = call.first
    axis, _ = call.get("axis")
    match it.operand(node, state, call.frame):
        case Rows() as rows if axis is None or number(axis) == -1:
            return rows.deeper(1)
        case Rows():
            raise GivenUp
        case _:
            return None


# -- shapes -----------------------------------------------------------------------------------------------------------


def _shape(it: Interpreting, call: Call) -> State | None:
    node, state = call.first
    match state:
        case Rows():
            return Sizes(state)
        case Places(mask):
            rows = Rows(mask, 0, 0)
            it.writing.put(node, it.writing.text(node))
            return Sizes(rows)
        case _:
            return None


def _size(it: Interpreting, call: Call) -> State | None:
    _, state = call.first
    match state:
        case Rows(behind=0):
            it.writing.put(call.node, count_text(it, state, call.frame))
            return Count(state.mask)
        case Rows():  # whether there is any
            it.writing.put(call.node, count_text(it, state, call.frame))
            return Count(state.mask, exact=False)
        case _:
            return None


def _expand(it: Interpreting, call: Call) -> State | None:
    _, state = call.first
    axis = number(call.needed("axis", "dim", "#1")[0])
    match state:
        case Rows(front=front, behind=behind) as rows if axis is not None:
            if axis == -1:
                return rows.deeper(1)
            if axis < 0 and (behind is None or -axis <= behind + 1):
                return rows.deeper(1)
            if axis >= 0 and front is not None and axis <= front:
                return rows.shaped(front + 1, behind)
            if axis > 0 and front is not None and rows.mask.rank == 1:
                return rows.deeper(1)
            raise GivenUp
        case Rows() | Places():
            raise GivenUp
        case Other(least=least):
            return Other(least + 1)
        case _:
            return None


def _squeeze(it: Interpreting, call: Call) -> State | None:
    node, state = call.first
    given, _ = call.get("axis", "squeeze_dims", "#1")
    axis = number(given)
    match state:
        case Places(mask, flat=False) if (given is None or axis in (-1, 1)) and mask.rank in (1, None):
            it.writing.put(call.node, it.writing.text(node))
            return Places(mask, flat=True)
        case Rows(behind=behind) as rows if axis == -1 and behind != 0:
            return rows.deeper(-1)
        case Rows():
            raise GivenUp
        case _:
            return None


def _concat(it: Interpreting, call: Call) -> State | None:
    _, state = call.first
    axis = number(call.get("axis", "#1")[0])
    if not isinstance(state, Items) or not holds_rows(state):
        return None
    if any(isinstance(one, Sizes) for one in state.states):
        return Sizes(None)
    rows = together(state.states)
    if axis is None or not isinstance(rows, Rows) or not all(isinstance(one, Rows) for one in state.states):
        raise GivenUp
    if not known_enough(rows, axis) or is_last_selected(rows, axis) or (axis >= 0 and rows.mask.rank != 1):
        raise GivenUp
    return rows


def _stack(it: Interpreting, call: Call) -> State | None:
    node, state = call.first
    axis = number(call.get("axis", "#1")[0])
    if not isinstance(state, Items) or not holds_rows(state):
        return None
    if not isinstance(node, cst.List | cst.Tuple):
        raise GivenUp
    states = [it.as_rows(one.value, held, call.frame) for one, held in zip(node.elements, state.states, strict=True)]
    rows = together(states)
    if not isinstance(rows, Rows) or not all(isinstance(one, Rows) for one in states):
        raise GivenUp
    if axis == -1 or (axis is not None and axis == (rows.front or 0) + 1 and rows.behind == 0 and rows.mask.rank == 1):
        return rows.deeper(1)
    raise GivenUp


def _split(it: Interpreting, call: Call) -> State | None:
    _, state = call.first
    if not isinstance(state, Rows):
        return None
    axis = number(call.get("axis", "#2")[0])
    if axis is None or not known_enough(state, axis) or is_last_selected(state, axis):
        raise GivenUp
    if axis >= 0 and (axis == 0 or state.mask.rank != 1):
        raise GivenUp
    sizes, _ = call.get("num_or_size_splits", "#1")
    found = len(sizes.elements) if isinstance(sizes, cst.List | cst.Tuple) else number(sizes)
    if found is None and call.expected is None:
        raise GivenUp
    return Items((state,) * (found or call.expected or 0))


def _unstack(it: Interpreting, call: Call) -> State | None:
    _, state = call.first
    if not isinstance(state, Rows):
        return None
    axis, found = number(call.get("axis", "#2")[0]), number(call.get("num")[0]) or call.expected
    if axis != -1 or state.behind == 0 or not found:
        raise GivenUp
    one = state.deeper(-1)
    return Items((one,) * found)


def _reshape(it: Interpreting, call: Call) -> State | None:
    node, state = call.first
    shape, _ = call.needed("shape", "#1")
    match state:
        case Places(mask, flat=False) if plain(shape) in ("[-1]", "(-1,)", "-1", "(-1)") and mask.rank in (1, None):
            it.writing.put(call.node, it.writing.text(node))
            return Places(mask, flat=True)
        case Rows(front=0, behind=0) if plain(shape) in ("[-1]", "(-1,)", "-1", "(-1)"):
            it.writing.put(call.node, it.writing.text(node))
            return state
        case Rows():
            raise GivenUp
        case _:
            return None


def _matmul(it: Interpreting, call: Call) -> State | None:
    (_, one), (_, other) = [*call.arguments.values()][:2]
    match one, other:
        case Rows(front=0, behind=behind) as rows, Other() if behind != 0 and len(call.arguments) == 2:
            return rows
        case Other(), Other():
            return None
        case _:
            raise GivenUp


def _broadcast(it: Interpreting, call: Call) -> State | None:
    """`tf.broadcast_to(x, shape)`: where a dimension stands as seen from the end does not change."""
    _, state = call.first
    _, shape = call.needed("shape", "#1")
    match state, shape:
        case Rows(behind=behind) as rows, _ if behind is not None:
            return rows.shaped(None, behind)
        case Other(), Sizes(rows=Rows(behind=behind) as rows) if behind is not None:
            return rows.shaped(None, behind)
        case _ if holds_rows(state) or holds_rows(shape):
            raise GivenUp
        case _:
            return None


def _broadcast_shape(it: Interpreting, call: Call) -> State | None:
    shapes = [one for one in call.states if isinstance(one, Sizes) and one.rows is not None and one.first == 0]
    return shapes[0] if len(shapes) == 1 else None


def _filled(it: Interpreting, call: Call) -> State | None:
    """`tf.zeros(number of rows)`: as many as the mask is long, as what it is used for takes those in."""
    node, state = call.first
    match node, state:
        case cst.List(elements=[_]) | cst.Tuple(elements=[_]), Items((Count(mask, exact=True),)):
            pass
        case _, Count(mask, exact=True):
            pass
        case _:
            return None
    it.writing.put(node, f"{it.writing.tf}.shape({it.mask_text(mask, call.frame)})")
    return Rows(mask, 0, 0)


def _identity(it: Interpreting, call: Call) -> State | None:
    return call.first[1]


# -- choices, functions -----------------------------------------------------------------------------------------------


def _cond(it: Interpreting, call: Call) -> State | None:
    """`tf.cond` and `K.switch`: of which rows may be one side where the other is for nothing selected."""
    (_, asked), (left, one), (right, other) = [*call.arguments.values()][:3]
    states = [_result(it, call, node, state) for node, state in ((left, one), (right, other))]
    if isinstance(asked, Rows):
        raise GivenUp
    asks = asked.asks if isinstance(asked, Other) else ""
    if not any(map(holds_rows, states)):
        return OTHER
    match asks, states:
        case "none", [Other(is_zero=True), Rows() as rows]:
            kept = right
        case "some", [Rows() as rows, Other(is_zero=True)]:
            kept = left
        case _:
            return joined(*states)
    body = kept.body if isinstance(kept, cst.Lambda) else kept
    it.writing.put(call.node, it.writing.text(body))
    return replace(rows, or_zero=True)


def _result(it: Interpreting, call: Call, node: cst.BaseExpression, state: State) -> State:
    if isinstance(state, Callable) and state.function is not None:
        return it.run(state, [], call.node, call.frame)
    return state


def _partial(it: Interpreting, call: Call) -> State | None:
    """`functools.partial(f, ..)` of a function of a library's, with arguments by name."""
    match call.node.args:
        case [cst.Arg(value=function), *rest] if all(one.keyword is not None for one in rest):
            path = it.api_of(function, call.frame)
            return None if path is None else Callable(api=path, given=tuple(rest))
        case _:
            return None


def _loss_object(it: Interpreting, call: Call) -> State | None:
    """`tf.keras.losses.Huber(..)`, which is called later."""
    return Callable(api=f"call {call.api}", given=tuple(call.node.args))


def _loss_called(it: Interpreting, call: Call) -> State | None:
    """A loss that is called with rows: weights leave out what is not selected."""
    (_, targets), (_, found) = [*call.arguments.values()][:2]
    if not isinstance(targets, Rows) and not isinstance(found, Rows):
        return None
    state = together([targets, found]) if "Sparse" not in call.api else found
    reduction, _ = call.get("reduction")
    how = "mean" if reduction is None else plain(reduction).strip("'\"").rpartition(".")[2].lower()
    if not isinstance(state, Rows) or state.front != 0 or state.behind == 0 or "sample_weight" in call.arguments:
        raise GivenUp
    if isinstance(targets, Rows) and targets.mask != state.mask:
        raise GivenUp
    tf, mask = it.writing.tf, it.mask_text(state.mask, call.frame)
    if how == "none":
        return state.deeper(-1)
    if how not in ("sum", "mean", "sum_over_batch_size", "auto"):
        raise GivenUp
    if "Sparse" in call.api:
        it.note_singular([one for one in (targets,) if isinstance(one, Rows)], True, "zero")
    weights = f"sample_weight={tf}.cast({mask}, {tf}.float32)"
    inside = ", ".join(it.writing.text(one) for one, _ in [*call.arguments.values()][:2])
    text = f"{it.writing.text(call.node.func)}({inside}, {weights})"
    if how != "sum":
        counted = f"{tf}.math.count_nonzero({mask}, dtype={tf}.float32)"
        text = f"{text} * {tf}.cast({tf}.size({mask}), {tf}.float32) / {counted}"
    it.writing.has_reduced = True
    it.writing.put(call.node, text)
    return OTHER


def _constant(it: Interpreting, call: Call) -> State | None:
    """`tf.constant(0.0)`."""
    return call.first[1] if isinstance(call.first[1], Other) else None


def called_method(it: Interpreting, node: cst.Call, owner: State, function: cst.Attribute, frame: Frame) -> State:
    """A method of a tensor that holds rows."""
    for one in node.args:
        if holds_rows(it.evaluate(one.value, frame)):
            raise GivenUp
    match owner, function.attr.value:
        case Rows(), "set_shape":
            return OTHER
        case Rows() as rows, "get_shape" if not node.args:
            return Sizes(rows)
        case _:
            raise GivenUp


ASKED: Final = {
    ("equal", "0"): "none",
    ("less", "1"): "none",
    ("less_equal", "0"): "none",
    ("not_equal", "0"): "some",
    ("greater", "0"): "some",
    ("greater_equal", "1"): "some",
}
"""What a comparison of the number of rows with a number asks."""
_LOGICAL: Final = frozenset(
    (
        *("equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "is_nan", "is_finite", "is_inf"),
        *("logical_and", "logical_or", "logical_not", "logical_xor"),
    )
)
_EACH: Final = (
    *("abs", "add", "ceil", "floor", "round", "clip", "clip_by_value", "cos", "sin", "tan", "atan", "sinh", "cosh"),
    *("equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "erf", "exp", "expm1", "sigmoid"),
    *("logical_and", "logical_or", "logical_not", "logical_xor", "maximum", "minimum", "multiply", "negative"),
    *("ones_like", "zeros_like", "sign", "softplus", "square", "squared_difference", "subtract", "tanh", "relu"),
    *("divide_no_nan", "multiply_no_nan", "nn.relu", "nn.elu", "nn.leaky_relu", "nn.sigmoid", "nn.tanh", "nn.softplus"),
    *("nn.relu6", "nn.gelu", "nn.silu", "nn.swish", "nn.selu", "add_n", "is_nan", "is_finite", "is_inf", "elu"),
    *("stop_gradient", "identity", "nn.sigmoid_cross_entropy_with_logits", "binary_crossentropy", "floormod", "mod"),
    *("convert_to_tensor", "debugging.check_numerics", "bitwise.bitwise_and", "real", "softsign", "hard_sigmoid"),
)
_EACH_SINGULAR: Final = (
    *("log", "log1p", "sqrt", "rsqrt", "reciprocal", "acos", "asin", "atan2", "xlogy"),
    *("lgamma", "digamma", "acosh", "atanh", "xdivy"),
)
_LOSSES: Final = (
    *("mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error"),
    *("huber", "log_cosh", "logcosh", "binary_crossentropy", "binary_focal_crossentropy", "poisson", "kl_divergence"),
    *("hinge", "squared_hinge", "categorical_crossentropy", "categorical_focal_crossentropy", "mse", "mae", "KLD"),
)
_LOSS_CLASSES: Final = (
    *("MeanSquaredError", "MeanAbsoluteError", "Huber", "LogCosh", "BinaryCrossentropy", "CategoricalCrossentropy"),
    *("SparseCategoricalCrossentropy", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Hinge"),
    *("BinaryFocalCrossentropy", "CategoricalFocalCrossentropy", "KLDivergence", "Poisson", "SquaredHinge"),
)
_REDUCTIONS: Final = {
    **{name: name for name in REDUCTIONS if name.startswith("reduce_")},
    **{name: f"reduce_{name}" for name in ("sum", "mean", "max", "min", "prod", "any", "all", "logsumexp")},
    "count_nonzero": "count_nonzero",
}

OPERATIONS: Final[Mapping[str, Operation]] = {
    **dict.fromkeys(_EACH, _each()),
    **dict.fromkeys(_EACH_SINGULAR, _each(singular=True)),
    **dict.fromkeys(("divide", "truediv", "floordiv"), _quotient),
    "pow": _power,
    **{name: reduce(kind) for name, kind in _REDUCTIONS.items()},
    **{f"keras.{home}.{name}": loss for home in ("losses", "metrics") for name in _LOSSES},
    **dict.fromkeys(("nn.softmax", "softmax", "nn.log_softmax", "log_softmax", "nn.l2_normalize"), last(removes=False)),
    **dict.fromkeys(("linalg.l2_normalize", "l2_normalize"), last(removes=False, singular=True)),
    **dict.fromkeys(("nn.softmax_cross_entropy_with_logits", "categorical_crossentropy"), last(removes=True)),
    **dict.fromkeys(
        (
            *("nn.sparse_softmax_cross_entropy_with_logits", "sparse_categorical_crossentropy"),
            *("keras.losses.sparse_categorical_crossentropy", "keras.metrics.sparse_categorical_crossentropy"),
        ),
        of_classes,
    ),
    **dict.fromkeys(("norm", "linalg.norm"), norm),
    **dict.fromkeys(("argmax", "argmin"), arg),
    **dict.fromkeys(("cond", "switch"), _cond),
    **dict.fromkeys(("gather", "gather_nd"), gathered),
    **dict.fromkeys(("scatter_nd", "tensor_scatter_nd_update", "tensor_scatter_nd_add"), scattered),
    **dict.fromkeys((f"unsorted_segment_{name}" for name in ("sum", "mean", "max", "min", "prod", "sqrt_n")), segments),
    **{f"keras.losses.{name}": _loss_object for name in _LOSS_CLASSES},
    **{f"call keras.losses.{name}": _loss_called for name in _LOSS_CLASSES},
    **dict.fromkeys(("zeros", "ones"), _filled),
    "functools.partial": _partial,
    "boolean_mask": boolean_mask,
    "take": taken,
    "where": _where,
    "cast": _cast,
    "to_int32": _cast,
    "one_hot": _one_hot,
    "shape": _shape,
    "size": _size,
    "expand_dims": _expand,
    "squeeze": _squeeze,
    "concat": _concat,
    "concatenate": _concat,
    "stack": _stack,
    "split": _split,
    "unstack": _unstack,
    "reshape": _reshape,
    "matmul": _matmul,
    "broadcast_to": _broadcast,
    "broadcast_dynamic_shape": _broadcast_shape,
    "histogram_fixed_width": histogram,
    **dict.fromkeys(("top_k", "nn.top_k"), top),
    "pad": pad,
    "constant": _constant,
    "ensure_shape": _identity,
}
"""By the short name, or the whole."""
