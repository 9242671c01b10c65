"""Functions that a library calls, which AutoGraph converts only where converted code made them.

Measured with TensorFlow 2.21 and Keras 3.15: of what `tf.function` converts, a function that it defines, a lambda that
stands in it, and what it is returned by a call are converted; functions of modules and methods that it passes to
`tf.cond`, `tf.while_loop`, `tf.scan`, `tf.nest.map_structure` or Python's `map` are not, but by `tf.map_fn`.
"""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import FunctionValue, OneOf, Sequence, Value
from ..interpreter.contexts import ContextKind
from ..interpreter.frames import Arguments, Compilation, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..record import replace

# Those that were measured; `tf.map_fn`, `strategy.run` and `tf.function` have AutoGraph convert what they are passed.
_CALLING: Final = (
    *("tf.cond", "tf.case", "tf.switch_case", "tf.while_loop", "tf.scan", "tf.foldl", "tf.foldr"),
    *("tf.vectorized_map", "tf.nest.map_structure", "tf.recompute_grad", "tf.grad_pass_through"),
    *("keras.ops.cond", "keras.ops.switch", "keras.ops.while_loop", "keras.ops.fori_loop", "keras.ops.scan"),
    *("keras.ops.map", "keras.ops.vectorized_map", "keras.tree.map_structure"),
)


def with_functions_as_they_are(models: dict[str, FunctionModel]) -> dict[str, FunctionModel]:
    """The models of those that call what they are passed as it is."""
    return {name: _calling(name, models[name]) for name in _CALLING}


def _calling(name: str, model: FunctionModel) -> FunctionModel:
    def run(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        if not frame.context.converted:
            return model(interpreter, frame, arguments, node)
        given = [_with_called(interpreter, name, value) for value in arguments.positional]
        named = {keyword: _with_called(interpreter, name, value) for keyword, value in arguments.keywords.items()}
        return model(interpreter, frame, replace(arguments, positional=given, keywords=named), node)

    return run


def _with_called(interpreter: Interpreter, name: str, value: Value) -> Value:
    match value:
        case FunctionValue():
            return called_by(interpreter, name, value)
        case OneOf(alternatives):
            return replace(value, options=tuple(_with_called(interpreter, name, option) for option in alternatives))
        case Sequence(items=tuple(items)):
            return replace(value, items=tuple(_with_called(interpreter, name, item) for item in items))
        case _:
            return value


def called_by(interpreter: Interpreter, name: str, function: Value) -> Value:
    """A function as `name` calls it, which a library has; a decorator may say how it is compiled."""
    if not isinstance(function, FunctionValue):
        return function
    if function.compiled is None and function.function.decorator_texts:
        function = interpreter.decorated(function)
    if function.compiled is not None or is_made_by_converted(function):
        return function
    return function.compiled_by(Compilation(ContextKind.OPEN, False, f"what `{name}` calls"))


def is_made_by_converted(function: FunctionValue) -> bool:
    """Whether code that AutoGraph converts made the function."""
    return function.scope is not None and function.scope.context.converted
