"""Callbacks of Keras: host code that Keras runs between the steps of a model, time and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import leaves
from ..domain.values import ApiObject, Dict, Instance, Unknown, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, method_value
from ..interpreter.receivers import visible_classes

# Where the methods of a model that train it take callbacks.
_PLACES: Final = {"fit": 5, "fit_generator": 4}
_ONCE: Final = frozenset(("on_train_begin", "on_train_end"))  # which are passed the logs alone
_AGAIN: Final = (
    *("on_epoch_begin", "on_epoch_end", "on_batch_begin", "on_batch_end"),
    *("on_train_batch_begin", "on_train_batch_end"),
)


def run_callbacks(
    interpreter: Interpreter, frame: Frame, model: Value, method: str, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """Run the callbacks of the program that a model is trained with, or may be; each has the model."""
    if method not in _PLACES or not isinstance(model, ApiObject | Instance):
        return
    given = leaves(arguments.get(_PLACES[method], "callbacks"))
    for callback in (one for each in given for one in _possible(interpreter, frame, each)):
        interpreter.set_attribute(frame, callback, "model", model)
        for name in (*_ONCE, *_AGAIN):
            own = callback.cls.find(name)
            if own is not None:
                value = interpreter.decorated(method_value(own, callback))
                again = int(name in _AGAIN)
                frame.python_loop += again
                interpreter.invoke(frame, value, _passed(interpreter, frame, name, node), node)
                frame.python_loop -= again


def _possible(interpreter: Interpreter, frame: Frame, given: Value) -> Iterator[Instance]:
    """The callbacks of the program that something may be: of what is not known, those whose classes the file names."""
    match given:
        case Instance(cls) if cls.is_keras("callback"):
            yield given
        case Unknown():
            named = (cls for cls in visible_classes(frame.module) if cls.is_keras("callback"))
            yield from map(interpreter.canonical_instance, named)


def _passed(interpreter: Interpreter, frame: Frame, name: str, node: cst.BaseExpression) -> Arguments:
    """What Keras passes: the number of the epoch or batch, and numbers by their names."""
    logs = Dict({}, interpreter.number(frame, node))
    return Arguments([logs] if name in _ONCE else [interpreter.counter(frame, node), logs])


def _of_functions(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`LambdaCallback(on_epoch_end=function)`."""
    for name, function in arguments.keywords.items():
        interpreter.call(frame, function, _passed(interpreter, frame, name, node), node)
    return None


FUNCTIONS: Final[dict[str, FunctionModel]] = {"keras.callbacks.LambdaCallback": _of_functions}
