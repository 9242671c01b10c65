"""Functions of variables as functions of tensors: a program for another device has no variables to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.eager import record, tape  # type: ignore[import-untyped]


@contextmanager
def standing_in(variables: Sequence[Any], values: Sequence[Any]) -> Iterator[Callable[[], list[Any]]]:
    """In the body tensors stand in for variables: they are read, and assigning puts others in their place. A gradient
    asked for by a variable is that by what stands there. Yields what tells the tensors that stand there now."""
    now = {id(variable): value for variable, value in zip(variables, values, strict=True)}

    def read(variable: Any, *_: Any, **__: Any) -> Any:
        return _watched(variable, now[id(variable)])

    def sparse_read(variable: Any, indices: Any, name: str | None = None) -> Any:
        return tf.gather(read(variable), indices, name=name)

    def gather_nd(variable: Any, indices: Any, name: str | None = None) -> Any:
        return tf.gather_nd(read(variable), indices, name=name)

    def assign(variable: Any, value: Any, *_: Any, **__: Any) -> Any:
        now[id(variable)] = tf.convert_to_tensor(value, variable.dtype)
        return variable

    def assign_add(variable: Any, delta: Any, *_: Any, **__: Any) -> Any:
        return assign(variable, now[id(variable)] + tf.convert_to_tensor(delta, variable.dtype))

    def assign_sub(variable: Any, delta: Any, *_: Any, **__: Any) -> Any:
        return assign(variable, now[id(variable)] - tf.convert_to_tensor(delta, variable.dtype))

    instead: dict[str, Callable[..., Any]] = {
        "value": read,
        "read_value": read,
        "_read_variable_op": read,
        "sparse_read": sparse_read,
        "gather_nd": gather_nd,
        "assign": assign,
        "assign_add": assign_add,
        "assign_sub": assign_sub,
    }
    with ExitStack() as undo:
        for owner in {type(variable) for variable in variables}:
            for name, function in instead.items():
                own = vars(owner).get(name)
                undo.callback(delattr, owner, name) if own is None else undo.callback(setattr, owner, name, own)
                setattr(owner, name, _choosing(now.keys(), function, getattr(owner, name)))
        yield lambda: [now[id(variable)] for variable in variables]


def _watched(variable: Any, value: Any) -> Any:
    """What stands in for a variable, which tapes take for a variable that is read, and for what it is."""
    if not value.dtype.is_floating:
        return value
    with record.stop_recording():
        seen = tf.identity(value)
    if variable.trainable:
        tape.variable_accessed(variable)
    record.record_operation("ReadVariableOp", [seen], [value, variable.handle], lambda upstream: (upstream, upstream))
    return seen


def _choosing(known: Any, instead: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A method that does one thing for known objects, and what it did before for all others."""

    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return (instead if id(self) in known else otherwise)(self, *arguments, **keywords)

    return method
