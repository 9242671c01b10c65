"""Functions of variables as functions of tensors: a program for another device has no variables to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.eager import record, tape  # type: ignore[import-untyped]
from tensorflow.python.framework.func_graph import FuncGraph  # type: ignore[import-untyped]
from tensorflow.python.ops import cond_v2, while_v2  # type: ignore[import-untyped]

_SCATTERING: Final[dict[str, Callable[..., Any]]] = {
    "add": tf.tensor_scatter_nd_add,
    "sub": tf.tensor_scatter_nd_sub,
    "max": tf.tensor_scatter_nd_max,
    "min": tf.tensor_scatter_nd_min,
    "update": tf.tensor_scatter_nd_update,
}


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

    def scattered(into: Callable[..., Any]) -> Callable[..., Any]:
        def scatter(variable: Any, slices: Any, *_: Any, **__: Any) -> Any:
            return assign(variable, into(now[id(variable)], slices.indices[..., tf.newaxis], slices.values))

        return scatter

    def scattered_nd(into: Callable[..., Any]) -> Callable[..., Any]:
        def scatter(variable: Any, indices: Any, updates: Any, *_: Any, **__: Any) -> Any:
            return assign(variable, into(now[id(variable)], indices, updates))

        return scatter

    instead: dict[str, Callable[..., Any]] = {
        "value": read,
        "read_value": read,
        "_read_variable_op": read,
        "sparse_read": sparse_read,
        "gather_nd": gather_nd,
        "assign": assign,
        "assign_add": assign_add,
        "assign_sub": assign_sub,
        **{f"scatter_{name}": scattered(into) for name, into in _SCATTERING.items()},
        **{f"scatter_nd_{name}": scattered_nd(into) for name, into in _SCATTERING.items()},
    }
    with ExitStack() as undo:
        for owner in {type(variable) for variable in variables}:
            for name, function in instead.items():
                own = vars(owner).get(name)
                undo.callback(delattr, owner, name) if own is None else undo.callback(setattr, owner, name, own)
                setattr(owner, name, _choosing(now.keys(), function, getattr(owner, name)))
        for owner, name, made in (
            (cond_v2, "cond_v2", _branches),
            (while_v2, "while_loop", _loop),
            (FuncGraph, "capture", partial(_capturing, {id(one.handle): id(one) for one in variables})),
        ):
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, made(now, getattr(owner, name)))
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


def _assigned(now: dict[int, Any], *bodies: Callable[[], Any]) -> list[int]:
    """Which variables are assigned to in one of the bodies, which are traced for nothing else."""
    before = dict(now)
    with record.stop_recording(), FuncGraph("tried").as_default():
        for body in bodies:
            body()
    found = [key for key, value in before.items() if now[key] is not value]
    now.update(before)
    return found


def _capturing(handles: Mapping[int, int], now: dict[int, Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Where a function of the graph asks for a variable itself, to have something beside it: what stands there."""

    def capture(graph: Any, thing: Any, *arguments: Any, **keywords: Any) -> Any:
        known = handles.get(id(thing))
        return otherwise(graph, thing if known is None else now[known], *arguments, **keywords)

    return capture


def _branches(now: dict[int, Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A condition whose branches return what they assign: what stands for a variable inside is not seen outside."""

    def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str = "cond") -> Any:
        places = _assigned(now, true_fn, false_fn)
        if not places:
            return otherwise(pred, true_fn, false_fn, name)
        result, after = otherwise(
            pred, _returning_assigned(now, places, true_fn), _returning_assigned(now, places, false_fn), name
        )
        now.update(zip(places, after, strict=True))
        return result

    return cond


def _loop(now: dict[int, Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A loop that carries what its body assigns from round to round."""

    def while_loop(
        cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None, **rest: Any
    ) -> Any:
        places = _assigned(now, lambda: body(*_tensors(loop_vars))) if type(loop_vars) in (list, tuple) else []
        if not places:
            return otherwise(cond, body, loop_vars, shape_invariants=shape_invariants, **rest)
        number, carried = len(loop_vars), [now[place] for place in places]

        def condition(*values: Any) -> Any:
            now.update(zip(places, values[number:], strict=True))
            return cond(*values[:number])

        def turn(*values: Any) -> Any:
            now.update(zip(places, values[number:], strict=True))
            result, after = _returning_assigned(now, places, lambda: body(*values[:number]))()
            return (*(result if isinstance(result, list | tuple) else (result,)), *after)

        if shape_invariants is not None:
            shape_invariants = (*shape_invariants, *(one.shape for one in carried))
        before, same = dict(now), rest.pop("return_same_structure", True)
        found = otherwise(
            condition,
            turn,
            (*loop_vars, *carried),
            shape_invariants=shape_invariants,
            return_same_structure=True,
            **rest,
        )
        now.update(before)
        now.update(zip(places, found[number:], strict=True))
        return found[0] if number == 1 and not same else type(loop_vars)(found[:number])

    return while_loop


def _tensors(loop_vars: Any) -> Any:
    """What a loop passes to its body: numbers go as tensors."""
    return tf.nest.map_structure(lambda one: tf.constant(one) if isinstance(one, int | float) else one, loop_vars)


def _returning_assigned(now: dict[int, Any], places: Sequence[int], body: Callable[[], Any]) -> Callable[[], Any]:
    """A body that also gives what stands for variables behind it, and leaves in their place what stood there before."""

    def run() -> Any:
        before = dict(now)
        result = body()
        after = [now[place] for place in places]
        now.update(before)
        return result, after

    return run


def _choosing(known: Any, instead: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A method that does one thing for known objects, and what it did before for all others."""

    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return (instead if id(self) in known else otherwise)(self, *arguments, **keywords)

    return method
