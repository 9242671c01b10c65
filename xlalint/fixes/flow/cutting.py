"""The first so many of something: a mask of positions before a number that data decides."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..rewrite import GivenUp
from ..syntax import plain, read
from .calls import Call, Interpreting, number
from .frames import Frame
from .selecting import rank_of, select
from .states import Count, Items, Mask, Other, Rows, State
from .writing import atom

_NEGATIVE = "where the bound is negative"
_ALIKE = "where what is cut to the same number has another length"
_ORDER = "in the order of what is equally large"
_SEVERAL = "where the mask has several dimensions"
_LONGER = "where more is cut than there is, or padded less than nothing"


def cut(it: Interpreting, node: cst.Subscript, state: State, frame: Frame) -> State | None:
    """`x[:n]`, or `x[:, :n]`, where it is wanted, or is cut to the number that what is wanted is cut to."""
    found = _bound(node)
    if found is None or not isinstance(state, Other):
        return None
    front, bound = found
    match it.wanted:
        case cst.Subscript() as wanted if wanted is node or _is_bound_of(wanted, bound):
            pass
        case _:
            return None
    x = it.writing.text(node.value)
    mask = _before(it, node, f"{atom(x)}", front, bound, frame)
    it.writing.differs.setdefault(_NEGATIVE)
    if node is not it.wanted:
        it.writing.differs.setdefault(_ALIKE)
    rows = select(it, node, (node.value, state), mask, frame, front)
    if node is it.wanted and it.mask_rank is not None and isinstance(rows, Rows):
        return rows.shaped(front, it.mask_rank - front - 1)
    return rows


def _bound(node: cst.Subscript) -> tuple[int, cst.BaseExpression] | None:
    """Which dimension is cut, all before it being taken whole, and before what."""
    for at, part in enumerate(node.slice):
        match part.slice:
            case cst.Slice(lower=None, upper=None, step=None):
                continue
            case cst.Slice(lower=None | cst.Integer("0"), upper=cst.BaseExpression() as bound, step=None):
                behind = [one.slice for one in node.slice[at + 1 :]]
                whole = all(isinstance(one, cst.Slice) and one.lower is one.upper is one.step is None for one in behind)
                return (at, bound) if whole else None
            case _:
                return None
    return None


def _is_bound_of(wanted: cst.Subscript, bound: cst.BaseExpression) -> bool:
    found = _bound(wanted)
    return found is not None and plain(found[1]) == plain(bound)


def _before(
    it: Interpreting, node: cst.BaseExpression, x: str, axis: int, bound: cst.BaseExpression, frame: Frame
) -> Mask:
    """The mask of the positions of a dimension before a number, under a name of its own."""
    tf = it.writing.tf
    names = tuple((name, frame.version(name)) for name in sorted({*read(bound)}))
    text = f"{tf}.range({tf}.shape({x})[{axis}]) < {tf}.cast({it.writing.text(bound)}, {tf}.int32)"
    name = it.writing.named(node, "valid", text)
    return Mask(f"before {plain(bound)} {names}", name, 1, frame.number, (), True, bound=plain(bound))


def top(it: Interpreting, call: Call) -> State | None:
    """`tf.math.top_k(x, k)`: all of them, in order, of which the first `k` are meant."""
    (node, state), (bound, _) = call.first, call.needed("k", "#1")
    if call.node is not it.wanted:
        return None
    if not isinstance(state, Other):
        raise GivenUp
    it.has_met = True
    x = it.writing.text(node)
    if not isinstance(node, cst.Name):
        x = it.writing.named(call.node, "values", x)
        it.writing.put(node, x)
    mask = _before(it, call.node, x, -1, bound, call.frame)
    it.writing.put(bound, f"{it.writing.tf}.shape({x})[-1]")
    ordered, _ = call.get("sorted")
    if ordered is not None:
        it.writing.put(ordered, "True")
    it.writing.differs.setdefault(_ORDER)
    rank = rank_of(node, call.frame) if it.mask_rank is None else it.mask_rank
    rows = Rows(mask, None if rank is None else rank - 1, 0, frozenset((id(call.node),)))
    return Items((rows, rows))


def pad(it: Interpreting, call: Call) -> State | None:
    """`tf.pad(rows, [[0, size - number of rows], ..])`: rows of a fixed number, zeros behind those that there are."""
    node, state = call.first
    if not isinstance(state, Rows):
        return None
    paddings, _ = call.needed("paddings", "#1")
    filling, _ = call.get("constant_values")
    mode, _ = call.get("mode", "#2")
    if state.front != 0 or state.mask.rank not in (1, None) or state.kind == "bool" or state.or_zero:
        raise GivenUp
    if (filling is not None and number(filling) != 0 and plain(filling) not in ("0.0", "0.")) or (
        mode is not None and plain(mode).strip("'\"").upper() != "CONSTANT"
    ):
        raise GivenUp
    size, rest = _padded_to(it, paddings, state.mask, call.frame)
    tf = it.writing.tf
    spread, text = it.spread(state, node, call.frame, 2)
    kept = f"{tf}.where({spread}, {text}, 0)"
    if not state.mask.bound:  # those that are selected come first
        mask = it.mask_text(state.mask, call.frame)
        kept = f'{tf}.gather({kept}, {tf}.argsort({tf}.cast({mask}, {tf}.int32), direction="DESCENDING", stable=True))'
    amount = f"{tf}.maximum({size} - {tf}.shape({atom(text)})[0], 0)"
    it.writing.differs.setdefault(_LONGER)
    if state.mask.rank is None:
        it.writing.differs.setdefault(_SEVERAL)
    it.writing.has_reduced = True
    it.writing.put(call.node, f"{tf}.pad({kept}[:{size}], [{', '.join([f'[0, {amount}]', *rest])}])")
    return Other()


def _padded_to(it: Interpreting, paddings: cst.BaseExpression, mask: Mask, frame: Frame) -> tuple[str, list[str]]:
    """The number that rows are padded to at their end, and the paddings of other dimensions. Raises `GivenUp`."""
    match paddings:
        case cst.Name(name) if (written := frame.definition(name)) is not None:
            return _padded_to(it, written, mask, frame)
        case cst.List(elements=[first, *others]) | cst.Tuple(elements=[first, *others]):
            pass
        case _:
            raise GivenUp
    match first.value:
        case cst.List(elements=[zero, amount]) | cst.Tuple(elements=[zero, amount]) if number(zero.value) == 0:
            size = _missing(it, amount.value, mask, frame)
        case _:
            raise GivenUp
    if size is None or any(it.writing.is_changed(one) for one in others):
        raise GivenUp
    return atom(size), [plain(one.value) for one in others]


def _missing(it: Interpreting, node: cst.BaseExpression, mask: Mask, frame: Frame) -> str | None:
    """What the number of rows is taken from: `size - number`, perhaps not less than nothing."""
    match node:
        case cst.Name(name) if (written := frame.definition(name)) is not None:
            return _missing(it, written, mask, frame)
        case cst.Call(func=function, args=[cst.Arg(value=first), cst.Arg(value=second)]) if plain(function).rpartition(
            "."
        )[2] in ("max", "maximum"):
            first, second = (second, first) if number(first) == 0 else (first, second)
            return _missing(it, first, mask, frame) if number(second) == 0 else None
        case cst.BinaryOperation(left=size, operator=cst.Subtract(), right=counted):
            match it.evaluate(counted, frame):
                case Count(mask=found, exact=True) if found == mask:
                    return plain(size)
            return plain(size) if mask.bound and plain(counted) == mask.bound else None
        case _:
            return None
