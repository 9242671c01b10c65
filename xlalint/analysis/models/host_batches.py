"""What other libraries cut data into batches with, on the host: the last batch may be smaller."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Sequence, Slice, Static, Value, Variation
from ..domain.varying_shapes import LAST, STEPS
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..library.host_sizes import PIECES


def _slices(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`gen_batches(n, size)`, `gen_even_slices(n, packs)`: slices one by one."""
    if frame.context.kind not in NOT_TRACED:
        return None
    match arguments.get(0, "n"), arguments.get(1, "batch_size") or arguments.keywords.get("n_packs"):
        case Static(int() as count), Static(int() as size) if size > 0 and count % size == 0:
            bound = Static(varies=(Variation("counter", Location(frame.unit, node)),))
        case _:
            bound = Static(varies=(Variation("counter", Location(frame.unit, node), detail=STEPS),))
    return Sequence("list", None, Slice(bound, bound, None))


def _chunks(place: int) -> FunctionModel:
    """`chunked(rows, n)`: lists of so many rows; `place`: where the rows stand."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        if frame.context.kind not in NOT_TRACED or len(arguments.positional) < 2 or "strict" in arguments.keywords:
            return None
        where = arguments.node_at(place, node)
        rows = interpreter.iterate(frame, arguments.positional[place], where, "list")
        rest = Variation(LAST, Location(frame.unit, node), axis=0, shapes=2, detail=PIECES)
        return Sequence("list", None, Sequence("list", None, interpreter.element(frame, rows, where), varies=(rest,)))

    return handle


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **dict.fromkeys(("sklearn.utils.gen_batches", "sklearn.utils.gen_even_slices"), _slices),
    **dict.fromkeys(("more_itertools.chunked", "more_itertools.more.chunked", "itertools.batched"), _chunks(0)),
    **dict.fromkeys(("toolz.partition_all", "cytoolz.partition_all"), _chunks(1)),
}
