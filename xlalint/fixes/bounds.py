"""Sizes that data decides, under a bound that the user gives: computed for the bound.

An assertion fails in eager execution where the bound does not hold; XLA drops it. What has no gradient (positions,
masks, counts) is cut by a mask to the size that it had: an equal program, which XLA compiles once, with a bounded
dynamic shape. Segments stay padded, where each row is computed by itself up to the end of the function. Measured with
TensorFlow 2.21 on a CPU: the gradient of a sum of what a mask selects has the size of the buffer, and spoils the
result, as `tf.sort` does whose result decides the mask. A factor of ones, selected alike, keeps the gradient right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ..analysis.domain.values import Tensor, Value
from ..analysis.files.unit import Location
from ..analysis.interpreter.events import ApiCall, IndexWith
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .counts import binned
from .flow.rewriting import follow
from .known import dotted
from .names import Names
from .reductions import EACH_POSITION, REDUCTIONS, Selected
from .rewrite import Rewrite, before, replace
from .selections import nodes
from .syntax import plain
from .widths import as_wide
from .written import dtype_written, written

COMMENT: Final = re.compile(r"#\s*xlalint:\s*bound\s*\(\s*(?P<number>[1-9]\d*)\s*\)\s*$")
_LATER: Final = (
    *(cst.Lambda, cst.FunctionDef, cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp),
    *(cst.IfExp, cst.BooleanOperation),
)
_CUT: Final = "Reduce over all elements, with a mask of those before the end"
_NEGATIVE: Final = "where the end is negative"
_ROWS_CUT: Final = "where there is more than one dimension"
_NAMED: Final = (cst.Name, cst.Attribute)
_WITHOUT_GRADIENT: Final = ("int", "bool")
_UNSORTED: Final = "tf.math.unsorted_segment_"
_SHAPES: Final = {"tf.zeros": "shape", "tf.ones": "shape", "tf.fill": "dims"}
_BY_ROWS: Final = EACH_POSITION | {"matmul", "linalg.matmul", "reshape", "transpose", "expand_dims", "nn.bias_add"}
_ROWS: Final = (
    "the result has {number} rows, of which those behind the first `{size}` are padding; where that is greater than "
    "{number}, eager execution raises, and XLA leaves the rest out"
)
_REPEATED: Final = "or where what is repeated is empty, or all elements are repeated equally often"


def statement_of(location: Location) -> cst.CSTNode | None:
    """The line around a place, where nothing in between computes it later or more than once."""
    for node in location.unit.around(location.node):
        if isinstance(node, cst.SimpleStatementLine):
            return node
        if isinstance(node, _LATER):
            return None
    return None


class Bound:
    """The bound of a size at a place, and the edits that a rewrite with it needs."""

    def __init__(self, names: Names, number: int, statement: cst.CSTNode) -> None:
        self.number, self._names = number, names
        self._statement = names.location.at(statement)
        self._lines: list[str] = []

    @classmethod
    def of(cls, names: Names, size: cst.BaseExpression) -> Bound | None:
        """As a comment at the statement gives it, or the command line or the settings by a name that the size is
        computed of: `n`, `graph.n`, or one of these in a function, `f.n`. Of several the largest."""
        location = names.location
        statement = statement_of(location)
        if statement is None:
            return None
        first, _, last, _ = location.unit.span(statement)
        above = location.unit.line(first - 1) if first > location.unit.first_line else ""
        lines = [above] if above.lstrip().startswith("#") else []
        lines += location.unit.lines(first, last)
        found = [int(comment["number"]) for line in lines if (comment := COMMENT.search(line.rstrip()))]
        if not found and names.bounds:
            found = [*_named(location, size, names.bounds)]
        return cls(names, max(found), statement) if found else None

    def assign(self, wanted: str, text: str) -> str:
        """A name that the statement before gives a value."""
        name = self._names.fresh(wanted)
        self._lines.append(f"{name} = {text}")
        return name

    def padded(self, whole: str, size: str, differs: str = "") -> Rewrite | None:
        """`whole` is computed for the bound and stays so; the first `size` rows of it are what was. None where
        something follows that needs to know which."""
        names = self._names
        if not _is_by_rows(names.location, names.tf):
            return None
        self._lines.append(f"{names.tf}.debugging.assert_less_equal({size}, {self.number})")
        edits = (before(self._statement, "\n".join(self._lines)), replace(names.location, whole))
        rows = _ROWS.format(number=self.number, size=size)
        title = f"Pad to the bound of {self.number} segments"
        return Rewrite(title, edits, Safety.UNSAFE, f"{rows}; {differs}" if differs else rows)

    def rewrite(
        self,
        whole: str,
        size: str,
        axis: int = 0,
        *,
        made_of: Value | None = None,
        is_integer: bool = False,
        differs: str = "",
    ) -> Rewrite | None:
        """`whole` is computed for the bound; the first `size` of it are what was. `size` may be written twice;
        `made_of`: what a gradient goes back to; `is_integer`: the size is known to be an int32. None where XLA would
        return wrong indices."""
        tf, number = self._names.tf, self.number
        if _is_located(self._names.location, tf):
            return None
        counted = size if is_integer else f"{tf}.cast({size}, {tf}.int32)"
        valid = self._names.fresh("valid")
        self._lines.append(f"{tf}.debugging.assert_less_equal({size}, {number})")
        self._lines.append(f"{valid} = {tf}.range({number}) < {counted}")
        along = f", axis={axis}" if axis else ""
        if made_of is None or (isinstance(made_of, Tensor) and made_of.dtype in _WITHOUT_GRADIENT):
            text = f"{tf}.boolean_mask({whole}, {valid}{along})"
        else:
            padded = self.assign("padded", whole)
            ones = f"{tf}.boolean_mask({tf}.ones_like({padded}), {valid}{along})"
            text = f"{tf}.boolean_mask({padded}, {valid}{along}) * {ones}"
        edits = (before(self._statement, "\n".join(self._lines)), replace(self._names.location, text))
        exceeded = f"where `{size}` is greater than {number}: eager execution raises, and XLA leaves the rest out"
        title = f"Compute it for the bound of {number}, and select what is there"
        return Rewrite(title, edits, Safety.UNSAFE, f"{exceeded}; {differs}" if differs else exceeded)


def _is_by_rows(location: Location, tf: str) -> bool:
    """Whether what is computed at a place goes on row by row to what the function returns, as far as its form tells:
    into no function of TensorFlow's that is known to compute something else."""
    node = location.node
    for around in location.unit.around(node):
        match around:
            case cst.Return() | cst.Expr():
                return True
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))]):
                return all(_is_by_rows(location.at(use), tf) for use in _reads_below(location, around, name))
            case cst.Arg() | cst.BinaryOperation() | cst.UnaryOperation():
                pass
            case cst.Call(func=function, args=[first, *_]) if function is not node and (
                (called := dotted(function)) is None
                or not called.startswith(f"{tf}.")
                or (called.removeprefix(f"{tf}.") in _BY_ROWS and first is node)
            ):
                pass
            case _:
                return False
        node = around
    return False


def _is_located(location: Location, tf: str) -> bool:
    """Whether what is computed at a place goes into `tf.where(condition)`, as far as its form tells: of a bounded
    dimension that is not the first, XLA returns wrong indices (measured with TensorFlow 2.21 on a CPU)."""
    for around in location.unit.around(location.node):
        match around:
            case cst.Call(func=function, args=[_]) if dotted(function) == f"{tf}.where":
                return True
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))]):
                return any(_is_located(location.at(use), tf) for use in _reads_below(location, around, name))
            case cst.BaseSmallStatement():
                return False
            case _:
                pass
    return False


def _reads_below(location: Location, statement: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    """Where the function around a place reads a name behind a statement."""
    function = next((one for one in location.unit.around(statement) if isinstance(one, cst.FunctionDef)), None)
    end = location.unit.span(statement)[2:]
    for node in () if function is None else nodes(function):
        match node:
            case cst.Name(value=read) if read == name and location.unit.span(node)[:2] >= end:
                if not isinstance(next(location.unit.around(node)), cst.AssignTarget):
                    yield node


def _named(location: Location, size: cst.BaseExpression, bounds: Mapping[str, int]) -> Iterator[int]:
    """The bounds whose names a size is computed of, as it is written there or above."""
    around = [node for node in location.unit.around(location.node) if isinstance(node, cst.FunctionDef | cst.ClassDef)]
    scope = ".".join(node.name.value for node in reversed(around))
    read = {name for one in (size, written(location, size)) for node in nodes(one) if (name := dotted(node))}
    for wanted, number in bounds.items():
        if any(f".{scope}.{name}".endswith(f".{wanted}") or f".{name}".endswith(f".{wanted}") for name in read):
            yield number


def padded(event: ApiCall, parameter: str, size: cst.BaseExpression, names: Names) -> Rewrite | None:
    """A call whose result is as long as the value of `size` says, or as what is in `parameter`."""
    if not _is_written_out(event) or (bound := Bound.of(names, size)) is None:
        return None
    if parameter == "repeats":
        return _repeated(event, bound, names)
    if event.api == "tf.math.bincount" and event.argument_nodes.keys() == {"arr"}:
        return _binned(event, bound, names)
    if event.api == "tf.sequence_mask" and event.argument_nodes.keys() == {"lengths"}:
        return _sequences(event, bound, names)
    axis = _axis(event, parameter, size)
    if axis is None:
        return None
    integer = dtype_written(event.location, size, names.tf) == "int32"
    number = plain(size) if isinstance(size, _NAMED) else bound.assign("number", plain(size))
    whole = _with(event, size, str(bound.number))
    if event.api.startswith(_UNSORTED):
        return bound.padded(whole, number)
    made_of = event.arguments.get("value") if event.api == "tf.fill" else None
    return bound.rewrite(whole, number, axis, made_of=made_of, is_integer=integer)


def _is_written_out(event: ApiCall) -> bool:
    return not any(argument.star for argument in event.node.args)


def _with(event: ApiCall, size: cst.BaseExpression, number: str) -> str:
    """The call with another size."""
    return cst.text_of(event.node).replaced(event.node, {size: number})


def _axis(event: ApiCall, parameter: str, size: cst.BaseExpression) -> int | None:
    """The dimension that has the size, where a smaller size gives the beginning of what a larger one gives."""
    arguments, given = event.arguments, event.argument_nodes
    match event.api:
        case "tf.range" if len(event.node.args) == 1 and event.node.args[0].value is size:
            return 0
        case "tf.zeros" | "tf.ones" | "tf.fill" as api if parameter == _SHAPES[api]:
            match given.get(parameter):
                case cst.List(elements=elements) | cst.Tuple(elements=elements):
                    return next((at for at, one in enumerate(elements) if one.value is size), None)
                case _:
                    return None
        case "tf.one_hot" if parameter == "depth" and "axis" not in given:
            return _rank(arguments.get("indices"))
        case "tf.sequence_mask" if parameter == "maxlen":
            return _rank(arguments.get("lengths"))
        case api if api.startswith(_UNSORTED) and parameter == "num_segments":
            return 0
        case _:
            return None


def _rank(value: object) -> int | None:
    return value.rank if isinstance(value, Tensor) else None


def _repeated(event: ApiCall, bound: Bound, names: Names) -> Rewrite | None:
    """`tf.repeat(x, counts, axis)` as a gather of the element whose turn it is at each place of the result."""
    given, tf, counts = event.argument_nodes, names.tf, event.arguments["repeats"]
    values = given.get("input")
    axis = 0 if "axis" not in given else _number(given["axis"])
    if values is None or axis is None or not given.keys() <= {"input", "repeats", "axis"}:
        return None
    if isinstance(counts, Tensor) and (counts.bounded is not None or counts.rank == 0):
        return None
    ends = bound.assign("ends", f"{tf}.cumsum({tf}.cast({plain(given['repeats'])}, {tf}.int32))")
    turns = f'{tf}.searchsorted({ends}, {tf}.range({bound.number}), side="right")'
    turn = bound.assign("turn", f"{tf}.minimum({turns}, {tf}.size({ends}) - 1)")
    along = f", axis={axis}" if axis else ""
    whole = f"{tf}.gather({plain(values)}, {turn}{along})"
    made_of = event.arguments["input"]
    return bound.rewrite(whole, f"{ends}[-1]", axis, made_of=made_of, is_integer=True, differs=_REPEATED)


def _number(node: cst.BaseExpression) -> int | None:
    return node.evaluated_value if isinstance(node, cst.Integer) else None


def _largest(values: str, bound: Bound, tf: str) -> str:
    return bound.assign("number", f"{tf}.reduce_max({values}) + 1")


def _binned(event: ApiCall, bound: Bound, names: Names) -> Rewrite | None:
    """`tf.math.bincount(x)` as the sum of ones for each value."""
    tf, node = names.tf, event.argument_nodes["arr"]
    values = plain(node) if isinstance(node, _NAMED) else bound.assign("values", plain(node))
    whole = f"{tf}.math.unsorted_segment_sum({tf}.ones_like({values}, {tf}.int32), {values}, {bound.number})"
    return bound.rewrite(whole, _largest(values, bound, tf), differs="or where there is nothing to count")


def _sequences(event: ApiCall, bound: Bound, names: Names) -> Rewrite | None:
    """`tf.sequence_mask(lengths)`, as wide as the longest."""
    rank = _rank(event.arguments["lengths"])
    if rank is None:
        return None
    tf, lengths = names.tf, plain(event.argument_nodes["lengths"])
    number = bound.assign("number", f"{tf}.reduce_max({lengths})")
    return bound.rewrite(f"{tf}.sequence_mask({lengths}, {bound.number})", number, rank)


def before_end(event: IndexWith, names: Names) -> Rewrite | None:
    """`x[:n]` that is only reduced, as a reduction with a mask. It needs no bound."""
    match event.node.slice, [*event.location.unit.around(event.node)][:2]:
        case (
            [cst.SubscriptElement(cst.Slice(lower=None, upper=cst.BaseExpression() as end, step=None))],
            [cst.Arg(keyword=None), cst.Call(func=function, args=[_]) as reduction],
        ) if isinstance(event.node.value, _NAMED):
            tf, values, statement = names.tf, event.base, statement_of(event.location)
            reduce = REDUCTIONS.get((dotted(function) or "").removeprefix(f"{tf}."))
            if reduce is None or statement is None:
                return None
            rank, kind = (values.rank, values.dtype) if isinstance(values, Tensor) else (None, None)
            x, counted, valid = plain(event.node.value), plain(end), names.fresh("valid")
            if dtype_written(event.location, end, tf) != "int32":
                counted = f"{tf}.cast({counted}, {tf}.int32)"
            further = f", {tf}.newaxis" * ((rank or 1) - 1)
            spread = f"{valid}[:{further}]" if further else valid
            made = reduce(Selected(tf, x, x, valid, spread, "", kind, whole=True))
            if made.before:
                return None
            edits = (
                before(event.location.at(statement), f"{valid} = {tf}.range({tf}.shape({x})[0]) < {counted}"),
                replace(event.location.at(reduction), made.text),
            )
            differs = [
                _NEGATIVE,
                *([_ROWS_CUT] if rank is None else []),
                *([made.differs] if made.differs else []),
            ]
            return Rewrite(_CUT, edits, Safety.UNSAFE, "; ".join(differs))
        case _:
            return None


def cut_to(event: IndexWith, names: Names) -> Rewrite | None:
    """`x[:n]`, left out from `n` on where that is reduced or padded. It needs no bound."""
    return before_end(event, names) or follow(event.location, names, event.base)


def largest(event: ApiCall, parameter: str, node: cst.BaseExpression, names: Names) -> Rewrite | None:
    """`tf.math.top_k(x, k)` that is followed to where it is reduced; any size that data decides, under a bound."""
    values = next(iter(event.arguments.values()), None)
    found = follow(event.location, names, values) if event.api.endswith(".top_k") else None
    if event.api == "tf.sequence_mask":
        found = as_wide(event, names)
    return found or padded(event, parameter, node, names)


def counted(event: ApiCall, parameter: str, node: cst.BaseExpression, names: Names) -> Rewrite | None:
    """What the content of an argument decides the size of, with a length that is written down, or under a bound."""
    found = binned(event, names) if event.api == "tf.math.bincount" else None
    if event.api == "tf.sequence_mask":
        found = as_wide(event, names)
    return found or padded(event, parameter, node, names)
