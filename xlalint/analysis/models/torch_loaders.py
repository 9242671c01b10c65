"""PyTorch's loaders of data, which Keras 3 takes as well: Python makes their batches."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import NONE, ApiObject, Origin, Pipeline, Static, Structure, Value, Variation
from ..domain.varying_shapes import LAST
from ..files.unit import Location
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..library.datasets import LOADED, usual_size
from ..library.strategies import LOADER

_UNTOLD: Final = (None, NONE)


def _loader(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`DataLoader(dataset, batch_size=32)`: the last batch is smaller, unless it is dropped, or the batches are of one,
    as they are by default."""
    location = Location(frame.unit, node)
    size, drops = arguments.get(1, "batch_size"), arguments.get(8, "drop_last")
    batched = size not in (*_UNTOLD, Static(1)) and arguments.get(4, "batch_sampler") in _UNTOLD
    varies = Variation(LAST, location, axis=0, shapes=2, detail=LOADED)
    partial = batched and drops in (None, Static(False)) and not arguments.rest_keywords
    element = Structure(origin=Origin(location, "returns data"), varies=(varies,) if partial else ())
    return ApiObject(LOADER, payload=element, facts=Pipeline(batch=usual_size(size)[0], python=True))


FUNCTIONS: Final[dict[str, FunctionModel]] = {LOADER: _loader, "torch.utils.data.dataloader.DataLoader": _loader}
