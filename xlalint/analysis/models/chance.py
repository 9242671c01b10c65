"""Chance: rows that `random.sample` draws, and NumPy's generators, whose methods draw as those of `np.random` do."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, ApiObject, Sequence, Static, Value, Variation
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..interpreter.setup_events import DrawOnce
from ..library.chance import DRAWN_ON_HOST

_GENERATOR: Final = "np.random.Generator"
_OLD: Final = "np.random.RandomState"
# Methods that are called as the functions are, and those with another name.
_METHODS: Final = {
    **{
        name: name
        for name in (
            *("choice", "normal", "permutation", "poisson", "rand", "randint", "randn", "random", "random_sample"),
            *("standard_normal", "uniform"),
        )
    },
    "integers": "randint",
}


def _drawing(function: str) -> MethodModel:
    def handle(
        interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
    ) -> Value:
        return interpreter.call(frame, Api(f"np.random.{function}"), arguments, node)

    return handle


def _generator(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return ApiObject(_GENERATOR)


def _drawn(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`random.random()`: says so where the function is traced."""
    if frame.context.mapped and isinstance(node, cst.Call) and not frame.module.is_test:
        interpreter.emit(frame, DrawOnce, node, order=interpreter.order_of(node), node=node)
    return None


def _sample(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`random.sample(memory, k)`: a list of so many."""
    _drawn(interpreter, frame, arguments, node)
    drawn_from = arguments.get(0, "population")
    if drawn_from is None:
        return None
    rows = interpreter.iterate(frame, drawn_from, arguments.node_at(0, node), "list")
    element = interpreter.element(frame, rows, arguments.node_at(0, node))
    match arguments.keywords.get("k", arguments.get(1, "k")):
        case Static(varies=(first, *_)) if frame.context.kind in NOT_TRACED:
            sized = Variation("sized", Location(frame.unit, node), axis=0, shapes=first.shapes)
            return Sequence("list", None, element, varies=(sized,))
        case Static(int() as count) if count > 0:
            return Sequence("list", None, element, steps=count)
        case _:
            return Sequence("list", None, element)


def _chosen(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`random.choice([320, 416])`: one of several numbers, another one each time."""
    _drawn(interpreter, frame, arguments, node)
    given = arguments.get(0, "seq") or arguments.keywords.get("a")
    if len(arguments.positional) + len(arguments.keywords) != 1 or frame.context.kind not in NOT_TRACED:
        return None
    match given:
        case Sequence(items=tuple(items)):
            numbers = {item.constant for item in items if isinstance(item, Static) and _is_number(item.constant)}
        case Static((_, *_) as constants):
            numbers = {constant for constant in constants if _is_number(constant)}
        case _:
            return None
    if len(numbers) < 2 or not (frame.python_loop or frame.looped):
        return None
    return Static(varies=(Variation("drawn", Location(frame.unit, node), shapes=len(numbers)),))


def _is_number(constant: object) -> bool:
    return isinstance(constant, int | float) and not isinstance(constant, bool)


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "np.random.default_rng": _generator,
    **dict.fromkeys(DRAWN_ON_HOST, _drawn),
    **dict.fromkeys(("random.sample", "random.choices"), _sample),
    **dict.fromkeys(("random.choice", "np.random.choice"), _chosen),
}
METHODS: Final[dict[str, MethodModel]] = {
    f"{owner}.{method}": _drawing(function) for owner in (_GENERATOR, _OLD) for method, function in _METHODS.items()
}
