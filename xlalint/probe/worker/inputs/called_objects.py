"""Functions and models that code is given to call, made up where nothing is known of them but what they give."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from xlalint.sources.specs import Form, Many

from ..backends import backend
from .numbers import SIZE
from .tensors import ComposedInput, ObjectInput, composed


def _first(first: Any = None, *others: Any, **options: Any) -> Any:
    return next(iter(options.values()), None) if first is None else first


IDENTITY: Final = ObjectInput("lambda first, *others, **options: first", lambda: _first)


# A function of a state and what comes before it: the step of a solver or a loop.
LAST: Final = ObjectInput("lambda *several, **options: several[-1]", lambda: lambda *several, **options: several[-1])


def _features(*several: Any, **options: Any) -> Any:
    """For each element of the last tensor, some numbers that depend on it."""
    last = [one for one in backend.leaves([several, options]) if backend.is_tensor(one)][-1]
    steps = np.arange(1, SIZE + 1, dtype=np.float32)
    return _operations().cos(_operations().cast(last, "float32")[..., None] * steps)


# A model that tells classes of what it is called with: a logit of each of some classes, for each step.
LOGITS: Final = ObjectInput(f"a model that gives {SIZE} numbers for each element", lambda: _features)


_SLOPE: Final = 0.01  # of what a function gives that is made up: enough for gradients, e.g. as penalties


class Giving:
    """A function that gives tensors of known shapes, which depend on what it is called with. `result`: what it gave
    last."""

    def __init__(self, result: Any) -> None:
        self._first = self.result = result

    def __call__(self, *several: Any, **options: Any) -> Any:
        numbers = [
            _operations().cast(one, "float32")
            for one in backend.leaves([several, options])
            if backend.is_tensor(one) and backend.dtype_name(one.dtype) != "string"
        ]
        if numbers:
            is_positive = _operations().sum(numbers[-1]) > 0.0
            slope = _SLOPE * sum(_operations().mean(_operations().tanh(one)) for one in numbers)
            self.result = backend.map_structure(partial(_depending, is_positive, slope), self._first)
        return self.result


def _depending(is_positive: Any, slope: Any, value: Any) -> Any:
    """A tensor that is another one where something is so, and, where it is real, has a gradient."""
    if not backend.is_tensor(value):
        return value
    dtype = backend.dtype_name(value.dtype)
    if dtype == "bool":
        return _operations().not_equal(value, is_positive)
    if dtype == "string":
        return value
    value = value + _operations().cast(is_positive, dtype)
    return value + _operations().cast(slope, dtype) if "float" in dtype else value


def giving(result: Form) -> ComposedInput:
    """A function that gives such a structure of tensors."""
    return composed(Giving, {"result": result})


def models_of(annotation: Any) -> tuple[ObjectInput, ...]:
    """Models and layers for an annotation that asks for any; nothing for another annotation."""
    for keras in backend.keras_modules():
        if annotation is keras.layers.Layer:
            return (ObjectInput(f"keras.layers.Dense({SIZE})", partial(keras.layers.Dense, SIZE)),)
        if annotation in (keras.Model, keras.Sequential):
            return (_model(keras, 1),)
    return ()


def is_of_any(part: ObjectInput, name: str) -> bool:
    """Whether an input is an object of a class of some name that an annotation which asks for any layer or model got:
    the project may mean one of its own."""
    asked = [one for keras in backend.keras_modules() for one in (keras.layers.Layer, keras.Model)]
    return any(part in models_of(one) for one in asked) and type(part.make()).__name__ == name


def with_outputs(model: Any, count: int) -> ObjectInput | None:
    """The same with so many tensors that it gives; None where it is no model that was made up."""
    return next((_model(keras, count) for keras in backend.keras_modules() if model == _model(keras, 1)), None)


def as_model(part: Any, attribute: str) -> ObjectInput | None:
    """A model in place of a function that was made up, for an attribute that models have: it gives as many tensors."""
    keras = own_keras()
    if not hasattr(keras.Model, attribute):
        return None
    if part in (IDENTITY, LAST, LOGITS):
        return _model(keras, 1)
    if not (isinstance(part, ComposedInput) and part.made is Giving):
        return None
    result = dict(part.entries)["result"]
    return _model(keras, len(result.items) if isinstance(result, Many) else 1)


def _model(keras: Any, outputs: int) -> ObjectInput:
    text = f"a model that gives {outputs} of {keras.__name__}.layers.Dense({SIZE})"
    return ObjectInput(text, partial(_made, keras, outputs))


def _made(keras: Any, outputs: int) -> Any:
    if outputs == 1:
        return keras.Sequential([keras.layers.Dense(SIZE)])

    class Several(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.outs = [keras.layers.Dense(SIZE) for _ in range(outputs)]

        def call(self, inputs: Any, training: Any = None) -> Any:
            return tuple(one(inputs) for one in self.outs)

    return Several()


def own_keras() -> Any:
    """The Keras that code gets that names none."""
    return backend.keras_modules()[-1]


def _operations() -> Any:
    return getattr(keras := own_keras(), "ops", keras.backend)
