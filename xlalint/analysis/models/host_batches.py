"""What other libraries cut data into batches with, on the host: the last batch may be smaller; and into halves."""

from __future__ import annotations

import math
from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import element_of
from ..domain.kinds import steps_of
from ..domain.values import UNKNOWN, Array, Dependence, Sequence, Slice, Static, Structure, Tensor, Value, Variation
from ..domain.varying_shapes import LAST, STEPS
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..library.first_axes import of_rows
from ..library.host_sizes import PIECES
from ..library.local_paths import holds_paths
from ..record import replace

# Modules of models that have a function to prepare images for them.
_PREPARING: Final = (
    *("convnext", "densenet", "efficientnet", "efficientnet_v2", "imagenet_utils", "inception_resnet_v2"),
    *("inception_v3", "mobilenet", "mobilenet_v2", "mobilenet_v3", "nasnet", "resnet50", "resnet_v2"),
    *("vgg16", "vgg19", "xception"),
)


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


def _halves(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`train_test_split(x, y, test_size=0.2)`: of each array or list the examples to train with, and those to test
    with."""
    counts = [_counted(value) for value in arguments.positional]
    if not any(counts) and not any(map(holds_paths, arguments.positional)):
        return None
    parts: list[Value] = []
    for value, count in zip(arguments.positional, counts, strict=True):
        tested = _tested(count, arguments) if count else None
        lengths = (None, None) if tested is None or count is None else (count - tested, tested)
        match value:
            case Array():
                parts += [replace(value, length=length) for length in lengths]
            case _ if holds_paths(value):
                parts += [value, value]
            case _ if count:
                element = element_of(value) if isinstance(value, Sequence) else UNKNOWN
                parts += [Sequence("list", None, element, steps=length) for length in lengths]
            case _:
                parts += [UNKNOWN, UNKNOWN]
    return Sequence("list", tuple(parts))


def _counted(value: Value) -> int | None:
    """How many examples an array or a list has, where that is written."""
    match value:
        case Array(length=int() as count):
            return count
        case Sequence(kind="list", items=tuple(items)):
            return len(items)
        case _:
            return steps_of(value) or None


def _tested(count: int, arguments: Arguments) -> int | None:
    """How many of so many examples are kept to test with: a quarter, if nobody says."""
    if "train_size" in arguments.keywords:
        return None
    match arguments.keywords.get("test_size", Static(0.25)):
        case Static(float() as share) if 0 < share < 1:
            return math.ceil(count * share)
        case Static(int() as number) if 0 < number < count:
            return number
        case _:
            return None


def _examples(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`make_moons(n)`: so many examples, and what they are."""
    match arguments.get(0, "n_samples") or Static(100):
        case Static(int() as count):
            return Sequence("tuple", (Array("float", count, row=2), Array(None, count, row=1)))
        case _:
            return None


def _one_hot(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`to_categorical(labels)`: a row for each label."""
    match arguments.get(0, "y"):
        case Array(length=length, varies=varies):
            return Array("float", length, tuple(each for each in varies if not each.axis))
        case Tensor() | Structure() as labels if rows := of_rows(labels):
            return Tensor(Dependence.VALUE, "float", origin=labels.origin, varies=rows)
        case _:
            return None


def _prepared(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`preprocess_input(x)`: of images as many of the same size."""
    match arguments.get(0, "x"):
        case Array() as images:
            return replace(images, dtype="float")
        case Structure(tensor=images) | (Tensor() as images):
            return images.with_(dtype="float")
        case _:
            return None


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **dict.fromkeys(("sklearn.utils.gen_batches", "sklearn.utils.gen_even_slices"), _slices),
    **dict.fromkeys(("more_itertools.chunked", "more_itertools.more.chunked", "itertools.batched"), _chunks(0)),
    "sklearn.model_selection.train_test_split": _halves,
    **dict.fromkeys(("keras.utils.to_categorical", "keras.utils.np_utils.to_categorical"), _one_hot),
    **{f"sklearn.datasets.make_{name}": _examples for name in ("classification", "circles", "moons", "regression")},
    **{f"keras.applications.{models}.preprocess_input": _prepared for models in _PREPARING},
    **dict.fromkeys(("toolz.partition_all", "cytoolz.partition_all"), _chunks(1)),
}
