"""NumPy's generators of random numbers, whose methods draw as the functions of `np.random` do."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, ApiObject, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel

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


FUNCTIONS: Final[dict[str, FunctionModel]] = {"np.random.default_rng": _generator}
METHODS: Final[dict[str, MethodModel]] = {
    f"{owner}.{method}": _drawing(function) for owner in (_GENERATOR, _OLD) for method, function in _METHODS.items()
}
