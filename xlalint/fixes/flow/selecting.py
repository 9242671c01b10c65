"""Where rows are selected, and how a mask meets them."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..rewrite import GivenUp
from ..syntax import plain, read
from .calls import Call, Interpreting, number
from .frames import Frame
from .program import short
from .states import OTHER, Mask, Other, Places, Rows, State
from .writing import Writing, atom

CONDITION = "where the condition is not boolean, or has another shape than the values"
_ELEMENTWISE = (
    *("is_finite", "is_nan", "is_inf", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal"),
    *("logical_not", "logical_and", "logical_or", "abs", "cast", "square"),
)
_REDUCING = ("max", "min", "sum", "any", "all", "reduce_max", "reduce_min", "reduce_sum", "reduce_any", "reduce_all")
_FINITE = ("is_finite", "is_nan", "is_inf")


def mask_of(it: Interpreting, node: cst.BaseExpression, frame: Frame) -> Mask:
    """The mask that an expression is, which has nothing to do with another selection."""
    names = tuple((name, frame.version(name)) for name in sorted({*read(node)}))
    known = node
    if isinstance(node, cst.Name) and (written := frame.definition(node.value)) is not None:
        known = written
    kind = "finite" if any(_is_finite(one) for one in cst.within(known)) else ""
    key = f"{plain(node)} {names}"
    is_boolean = isinstance(known, cst.Comparison) or _function(known) in {*_ELEMENTWISE} - {"abs", "cast", "square"}
    text = it.writing.text(node)
    rank = rank_of(known, frame)
    if node is it.wanted_mask or (plain(node) == plain(it.wanted_mask or node) and it.wanted_mask is not None):
        rank, is_boolean = rank if it.mask_rank is None else it.mask_rank, is_boolean or it.mask_is_boolean
    return Mask(key, text, rank, frame.number, names, is_boolean, kind)


def _is_finite(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and _function(node) in _FINITE


def _function(node: cst.CSTNode) -> str:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(name)) | cst.Name(name)):
            return short(name)
        case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner):
            return _function(inner)
        case _:
            return ""


def rank_of(node: cst.CSTNode, frame: Frame, depth: int = 0) -> int | None:
    """The rank of a tensor as far as its form tells, where all of its dimensions are indexed."""
    match node:
        case cst.Name(name) if depth < 6 and (written := frame.definition(name)) is not None:
            return rank_of(written, frame, depth + 1)
        case cst.Subscript(slice=parts):
            kept = 0
            for part in parts:
                match part.slice:
                    case cst.Index(value=cst.Ellipsis()):
                        return None
                    case cst.Index(value=cst.Name("None") | cst.Attribute(attr=cst.Name("newaxis"))) | cst.Slice():
                        kept += 1
            return kept if len(parts) > 1 else None
        case cst.Comparison(left=left):
            return rank_of(left, frame, depth + 1)
        case cst.UnaryOperation(expression=inner):
            return rank_of(inner, frame, depth + 1)
        case cst.BinaryOperation(left=left, right=right):
            found = [rank_of(one, frame, depth + 1) for one in (left, right)]
            return max((one for one in found if one is not None), default=None)
        case cst.Call(args=[cst.Arg(value=first), *rest]):
            name = _function(node)
            if name in _ELEMENTWISE or name == "to_int32":
                return rank_of(first, frame, depth + 1)
            match name, rest:
                case "reshape", [cst.Arg(value=cst.List(elements=elements) | cst.Tuple(elements=elements))]:
                    return len(elements)
                case name, [cst.Arg(keyword=cst.Name("axis"), value=cst.Integer(last))] if name in _REDUCING:
                    return int(last)  # the last dimension goes, as a rule
            return None
        case _:
            return None


def select(
    it: Interpreting,
    call: cst.BaseExpression,
    values: tuple[cst.BaseExpression, State],
    mask: Mask,
    frame: Frame,
    front: int = 0,
    mask_node: cst.BaseExpression | None = None,
) -> State:
    """What a mask selects of a whole tensor: the whole tensor."""
    node, state = values
    it.has_met = it.has_met or call is it.wanted
    if isinstance(state, Rows):
        raise GivenUp
    if not isinstance(state, Other):
        raise GivenUp
    behind = 0 if mask_node is not None and _fits(node, mask_node, frame) else None
    if behind is None and mask.rank is not None and front == 0 and (rank := rank_of(node, frame)) is not None:
        behind = max(rank - mask.rank, 0)
    rows = Rows(mask, front, behind, frozenset((id(call),)))
    text = it.writing.text(node)
    it.writing.put(call, text)
    kind = it.filled.get(mask.key) or it.filled.get(id(call))
    if mask.kind == "finite" and kind is None and _names(node) & _names_of_mask(mask_node, frame):
        kind = "zero"
    if kind is not None:
        it.writing.put(call, _filled(it, call, text, rows, kind, frame))
    return rows


def _names(node: cst.CSTNode) -> set[str]:
    return {*read(node)}


def _names_of_mask(node: cst.BaseExpression | None, frame: Frame) -> set[str]:
    if node is None:
        return set()
    known = frame.definition(node.value) if isinstance(node, cst.Name) else None
    return _names(known or node)


def _fits(values: cst.BaseExpression, mask: cst.BaseExpression, frame: Frame) -> bool:
    """Whether a mask is computed of the values, for each element by itself."""
    if isinstance(mask, cst.Name) and (written := frame.definition(mask.value)) is not None:
        mask = written
    found = _leaves(mask)
    return found is not None and found == {plain(values)}


def _leaves(node: cst.BaseExpression) -> set[str] | None:
    match node:
        case cst.Integer() | cst.Float():
            return set()
        case cst.UnaryOperation(expression=inner):
            return _leaves(inner)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            one, other = _leaves(left), _leaves(right)
            return None if one is None or other is None else one | other
        case cst.Call(args=[cst.Arg(value=first), *rest]) if _function(node) in _ELEMENTWISE and len(rest) < 2:
            return _leaves(first)
        case cst.Name(name):
            return {name}
        case _:
            return None


def _filled(it: Interpreting, call: cst.BaseExpression, text: str, rows: Rows, kind: str, frame: Frame) -> str:
    """The whole tensor with other values where nothing is selected: zeros, or those of a row that is."""
    tf, mask = it.writing.tf, it.mask_text(rows.mask, frame)
    whole = atom(text)
    spread, _ = _spread(it.writing, mask, rows, whole)
    if kind == "zero":
        return f"{tf}.where({spread}, {text}, 0)"
    if rows.front != 0:
        if rows.mask.rank != 1:
            raise GivenUp
        chosen = f"{tf}.gather({text}, [{tf}.argmax({tf}.cast({mask}, {tf}.int32))], axis={rows.front})"
    elif rows.mask.rank == 1:
        chosen = f"{tf}.gather({text}, {tf}.argmax({tf}.cast({mask}, {tf}.int32)))"
    else:
        rest = f"{rows.mask.rank}" if rows.mask.rank is not None else f"len({atom(mask)}.shape)"
        flat = f"[-1, *{whole}.shape[{rest}:]]" if rows.behind != 0 else "[-1]"
        first = f"{tf}.argmax({tf}.cast({tf}.reshape({mask}, [-1]), {tf}.int32))"
        chosen = f"{tf}.gather({tf}.reshape({text}, {flat}), {first})"
    return f"{tf}.where({spread}, {text}, {tf}.stop_gradient({chosen}))"


def spread_over(writing: Writing, mask: str, rows: Rows, node: cst.BaseExpression, times: int) -> tuple[str, str]:
    """The mask with as many dimensions as rows have, and the rows as text that may stand so many times more."""
    text = writing.text(node)
    uses = times + (rows.behind is None)
    if uses > 1 and not isinstance(node, cst.Name) and not text.isidentifier():
        text = writing.named(node, "values", text)
    return _spread(writing, mask, rows, atom(text))[0], text


def _spread(writing: Writing, mask: str, rows: Rows, whole: str) -> tuple[str, str]:
    mask = atom(mask)
    if rows.behind == 0:
        return mask, whole
    if rows.behind is not None:
        return f"{mask}[..., {', '.join([f'{writing.tf}.newaxis'] * rows.behind)}]", whole
    if rows.front is not None and rows.front > 0 and rows.mask.rank == 1:
        return f"{mask}[(..., *[None] * (len({whole}.shape) - {rows.front + 1}))]", whole
    if rows.front != 0:
        raise GivenUp
    own = "1" if rows.mask.bound else f"len({mask}.shape)"
    return f"{mask}[(..., *[None] * (len({whole}.shape) - {own}))]", whole


# -- operations -------------------------------------------------------------------------------------------------------


def boolean_mask(it: Interpreting, call: Call) -> State | None:
    """`tf.boolean_mask(values, mask)`."""
    values, mask_node = call.needed("tensor", "#0"), call.needed("mask", "#1")
    axis, _ = call.get("axis")
    if axis is not None and plain(axis) not in ("0", "None"):
        raise GivenUp
    if isinstance(values[1], Rows) and isinstance(mask_node[1], Rows):
        return within(it, call.node, values, mask_node, call.frame)
    if not isinstance(mask_node[1], Other):
        raise GivenUp
    return select(it, call.node, values, named_mask(it, mask_node[0], call.frame), call.frame, mask_node=mask_node[0])


def named_mask(it: Interpreting, node: cst.BaseExpression, frame: Frame) -> Mask:
    """The mask that an expression is, under a name where it needs one."""
    mask = mask_of(it, node, frame)
    if isinstance(node, cst.Name | cst.Attribute) or it.writing.statement(node) is None:
        return mask
    name = it.writing.named(
        node, "mask", mask.text if mask.is_boolean else f"{it.writing.tf}.cast({mask.text}, {it.writing.tf}.bool)"
    )
    return Mask(mask.key, name, mask.rank, frame.number, mask.names, True, mask.kind)


def within(
    it: Interpreting,
    call: cst.BaseExpression,
    values: tuple[cst.BaseExpression, State],
    inner: tuple[cst.BaseExpression, State],
    frame: Frame,
) -> State:
    """What a mask of rows selects of rows: both masks select."""
    rows, chosen = values[1], inner[1]
    it.has_met = it.has_met or call is it.wanted
    if not isinstance(rows, Rows) or not isinstance(chosen, Rows) or rows.mask != chosen.mask:
        raise GivenUp
    if rows.front != 0 or chosen.front != 0 or chosen.behind not in (0, None):
        raise GivenUp
    tf = it.writing.tf
    outer = it.mask_text(rows.mask, frame)
    text = f"{tf}.logical_and({outer}, {it.writing.text(inner[0])})"
    key = f"{rows.mask.key} and {plain(inner[0])} {[(n, frame.version(n)) for n in sorted({*read(inner[0])})]}"
    name = it.writing.named(call, "mask", text)
    mask = Mask(key, name, rows.mask.rank, frame.number, rows.mask.names, True, rows.mask.kind)
    it.writing.put(call, it.writing.text(values[0]))
    return Rows(mask, 0, rows.behind, rows.roots | {id(call)})


def where(it: Interpreting, call: Call) -> State | None:
    """`tf.where(condition)`: the condition stands for its places."""
    condition = call.needed("condition", "#0")
    if len([one for one in call.arguments if one != "name"]) != 1:
        return None
    if not isinstance(condition[1], Other):
        raise GivenUp
    it.has_met = it.has_met or call.node is it.wanted
    mask = mask_of(it, condition[0], call.frame)
    it.writing.differs.setdefault(CONDITION)
    text = it.writing.text(condition[0])
    if not mask.is_boolean:
        text = f"{it.writing.tf}.cast({text}, {it.writing.tf}.bool)"
    it.writing.put(call.node, text)
    return Places(Mask(mask.key, text, mask.rank, call.frame.number, mask.names, True, mask.kind))


def nonzero(it: Interpreting, node: cst.Subscript, frame: Frame) -> State | None:
    """`keras.ops.nonzero(condition)[0]`: the condition stands for its places."""
    match node:
        case cst.Subscript(
            value=cst.Call(args=[cst.Arg(value=condition, keyword=None, star="")]) as call,
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer("0")))],
        ) if it.api_of(call.func, frame) == "keras.ops.nonzero":
            pass
        case _:
            return None
    if not isinstance(it.evaluate(condition, frame), Other):
        raise GivenUp
    it.has_met = it.has_met or call is it.wanted
    mask = mask_of(it, condition, frame)
    if mask.rank not in (1, None):
        raise GivenUp
    it.writing.differs.setdefault(CONDITION)
    text = it.writing.text(condition)
    if not mask.is_boolean:
        text = f"{it.writing.tf}.cast({text}, {it.writing.tf}.bool)"
    it.writing.put(node, text)
    return Places(Mask(mask.key, text, 1, frame.number, mask.names, True, mask.kind), flat=True)


def taken(it: Interpreting, call: Call) -> State | None:
    """`keras.ops.take(values, places, axis=0)`."""
    axis, _ = call.get("axis")
    if axis is None and any(isinstance(one, Rows | Places) for one in call.states):
        raise GivenUp  # of all values in one row
    return gathered(it, call)


def gathered(it: Interpreting, call: Call) -> State | None:
    """`tf.gather` and `tf.gather_nd`: of places the whole tensor; at rows something for each row."""
    values, indices = call.needed("params", "reference", "x", "#0"), call.needed("indices", "#1")
    axis, batch = call.get("axis")[0], call.get("batch_dims")[0]
    is_nd = call.api.endswith("gather_nd")
    match values[1], indices[1]:
        case Other(), Places(mask, flat) if flat != is_nd and batch is None:
            front = 0 if axis is None else _literal(axis)
            return select(it, call.node, values, mask, call.frame, front)
        case Other(), Places(mask) if not is_nd and batch is axis is None:
            rows = select(it, call.node, values, mask, call.frame)
            it.writing.put(call.node, f"{it.writing.tf}.expand_dims({it.writing.text(call.node)}, {_unit(mask)})")
            assert isinstance(rows, Rows)
            return rows.deeper(1)
        case Other(), Rows(front=0) as rows if batch is None and axis is None:
            it.note_singular([rows], True, "zero")
            return Rows(rows.mask, 0, None, rows.roots, rows.or_zero)
        case (Rows() as rows, Other()) if (
            axis is not None and _literal(axis) == -1 and rows.behind != 0 and batch is None
        ):
            return rows
        case Other(), Other():
            return OTHER
        case _:
            raise GivenUp


def _unit(mask: Mask) -> int:
    """Where the dimension of one stands that `tf.gather` at places of one dimension makes. Raises `GivenUp`."""
    if mask.rank not in (1, None):
        raise GivenUp
    return 1


def _literal(node: cst.BaseExpression) -> int:
    found = number(node)
    if found is None:
        raise GivenUp
    return found


def scattered(it: Interpreting, call: Call) -> State | None:
    """Rows that go back to their places: chosen by the mask."""
    places, updates = call.needed("indices", "#1" if "tensor_" in call.api else "#0"), call.needed("updates")
    base, _ = call.get("tensor", "#0")
    tf = it.writing.tf
    match places[1], updates[1]:
        case Places(mask, flat=False), Rows(front=0) as rows if rows.mask == mask and rows.kind != "bool":
            spread, text = it.spread(rows, updates[0], call.frame)
        case Rows(front=0) as where_to, Rows(front=0) as rows if where_to.mask == rows.mask and base is not None:
            return _scattered_elsewhere(it, call, (places[0], where_to), base)
        case Rows(front=0) as where_to, Rows(front=0) as rows if where_to.mask == rows.mask and "add" not in call.api:
            return _added_elsewhere(it, call, where_to, (updates[0], rows))
        case Other(), Other():
            return None
        case _:
            raise GivenUp
    it.writing.has_reduced = True
    if "tensor_" not in call.api:
        it.writing.put(call.node, f"{tf}.where({spread}, {text}, 0)")
    elif base is not None and call.api.endswith("update"):
        it.writing.put(call.node, f"{tf}.where({spread}, {text}, {it.writing.text(base)})")
    elif base is not None and call.api.endswith("add"):
        it.writing.put(call.node, f"{it.writing.operand(base)} + {tf}.where({spread}, {text}, 0)")
    else:
        raise GivenUp
    return OTHER


def _added_elsewhere(it: Interpreting, call: Call, places: Rows, updates: tuple[cst.BaseExpression, Rows]) -> State:
    """Rows that `tf.scatter_nd` adds up at places of their own: what is not selected adds nothing."""
    if "tensor_" in call.api:
        raise GivenUp
    if not places.mask.bound:  # the places of what is not selected may be none
        it.note_singular([places], True, "zero")
    spread, text = it.spread(updates[1], updates[0], call.frame)
    it.writing.has_reduced = True
    it.writing.put(updates[0], f"{it.writing.tf}.where({spread}, {text}, 0)")
    return OTHER


def _scattered_elsewhere(
    it: Interpreting, call: Call, places: tuple[cst.BaseExpression, Rows], base: cst.BaseExpression
) -> State:
    """Rows that go to places of their own: those that are not selected go to one more row, which is cut off."""
    if it.writing.statement(call.node) is None:
        raise GivenUp
    tf, node, whole = it.writing.tf, places[0], it.writing.text(base)
    if not isinstance(base, cst.Name):
        whole = it.writing.named(base, "whole", whole)
    spread, text = it.spread(Rows(places[1].mask, 0, 1), node, call.frame, 2)
    behind = f"{tf}.one_hot(0, {text}.shape[-1], {whole}.shape[0], 0, dtype={text}.dtype)"
    it.writing.has_reduced = True
    it.writing.put(base, f"{tf}.concat([{whole}, {whole}[:1]], axis=0)")
    it.writing.put(node, f"{tf}.where({spread}, {text}, {behind})")
    it.writing.put(call.node, f"{it.writing.text(call.node)}[:-1]")
    return OTHER


def segments(it: Interpreting, call: Call) -> State | None:
    """`tf.math.unsorted_segment_sum(rows, rows, n)`: what is not selected belongs to no segment."""
    data, ids = call.needed("data", "#0"), call.needed("segment_ids", "#1")
    match data[1], ids[1]:
        case Rows(front=0) as rows, Rows(front=0) as owners if rows.mask == owners.mask:
            it.writing.has_reduced = True
            mask = it.mask_text(rows.mask, call.frame)
            it.writing.put(ids[0], f"{it.writing.tf}.where({mask}, {it.writing.text(ids[0])}, -1)")
            return OTHER
        case Other(), Other():
            return None
        case _:
            raise GivenUp


def histogram(it: Interpreting, call: Call) -> State | None:
    """`tf.histogram_fixed_width(rows, range, n)` counts what is selected."""
    values, limits = call.needed("values", "#0"), call.needed("value_range", "#1")
    bins, dtype = call.get("nbins")[0], call.get("dtype")[0]
    if not isinstance(values[1], Rows):
        return None
    tf = it.writing.tf
    mask, number = it.mask_text(values[1].mask, call.frame), "100" if bins is None else it.writing.text(bins)
    wanted = f"{tf}.int32" if dtype is None else it.writing.text(dtype)
    owners = f"{tf}.histogram_fixed_width_bins({it.writing.text(values[0])}, {it.writing.text(limits[0])}, {number})"
    it.writing.has_reduced = True
    it.writing.put(call.node, f"{tf}.math.unsorted_segment_sum({tf}.cast({mask}, {wanted}), {owners}, {number})")
    return OTHER
