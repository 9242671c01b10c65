"""What a trace keeps that eager execution computes at each call: attributes of an object, and the first values of
weights that a `tf.function` creates.

class Trainer:
    @tf.function
    def step(self, x):
        self.steps += 1                 2 after two eager calls, 1 after two of the traced function
        self.first = x * 2.0            a tensor of the trace, which nothing else can use
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sized
from typing import Any, Final, TypeAlias

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import DIVERGES, FAILS, OF_STATE, OF_WEIGHTS, STATE, WEIGHTS, Observation, Spot

from ...backends import backend
from ...driving.driven import Driven
from ...inputs.culprits import tree_of_file
from ..compare import difference
from ..evidence import Line
from ..leaves import leaves

_CALLS: Final = 2
_TRACED: Final = "a tensor of the trace"
# What a tensor of an earlier trace raises.
OUT_OF_SCOPE: Final = ("out of scope", "cannot be accessed from here", "inaccessible")
_Anew: TypeAlias = Callable[[], tuple[Any, Callable[[], Any]]]


def kept(
    driven: Driven, rules: Collection[str], wanted: Iterable[Line], decorators: Iterable[Line]
) -> Iterator[Observation]:
    """What is seen of a driven method, or of the call of an object, at lines in question, and at those of its
    decorators."""
    for name, seen, lines in ((OF_STATE, _state, wanted), (OF_WEIGHTS, _weights, decorators)):
        if name in rules and driven.anew is not None:
            try:
                yield from seen(driven.anew, driven.autograph, lines)
            except Exception:  # of any kind: nothing is known of it
                continue


def _state(anew: _Anew, autograph: bool, lines: Iterable[Line]) -> Iterator[Observation]:
    """How the attributes that lines name differ after eager calls and after those of a traced function."""
    plain, call = anew()
    with backend.eager_execution():
        for _ in range(_CALLS):
            call()
    other, call = anew()
    traced = tf.function(call, autograph=autograph)
    try:
        for _ in range(_CALLS):
            traced()
    except Exception as error:  # another trace meets what the first one has kept
        if not any(said in str(error) for said in OUT_OF_SCOPE):
            raise
    for path, line in lines:
        for name in _attributes_at(path, line):
            one, another = _held(plain, name), _held(other, name)
            if another == _TRACED and one != _TRACED:
                said = f"`self.{name}` is a tensor of the trace after {_CALLS} traced calls, which nothing else can use"
                yield Observation(FAILS, said, (Spot(path, line),), per=STATE)
            elif one != another:
                said = (
                    f"`self.{name}`: {one} after {_CALLS} eager calls, {another} after {_CALLS} of the traced function"
                )
                yield Observation(DIVERGES, said, (Spot(path, line),), per=STATE)


def _held(thing: Any, name: str) -> str:
    """What an attribute holds, in words."""
    value = getattr(thing, name, None)
    if isinstance(value, bool | int | float | str | None):
        return repr(value)
    parts = tf.nest.flatten(value) if isinstance(value, list | tuple | dict) else [value]
    if any(tf.is_tensor(one) and not isinstance(one, tf.Variable) and not hasattr(one, "numpy") for one in parts):
        return _TRACED
    return (
        f"{len(value)} items" if isinstance(value, Sized) and isinstance(value, list | dict | set) else "another object"
    )


def _attributes_at(path: str, line: int) -> list[str]:
    """The attributes of the object that the innermost statement at a line names."""
    statements = [one for one in ast.walk(tree_of_file(path)) if isinstance(one, ast.stmt)]
    here = [one for one in statements if one.lineno <= line <= (one.end_lineno or one.lineno)]
    innermost = min(here, key=lambda one: (one.end_lineno or one.lineno) - one.lineno, default=None)
    found = (one for one in ast.walk(innermost) if isinstance(one, ast.Attribute)) if innermost is not None else ()
    return list(dict.fromkeys(one.attr for one in found if isinstance(one.value, ast.Name) and one.value.id == "self"))


def _weights(anew: _Anew, autograph: bool, lines: Iterable[Line]) -> Iterator[Observation]:
    """Whether a call gives the same whatever its weights are assigned, and eager execution does not."""
    thing, call = anew()
    first = leaves(call())
    for one in thing.trainable_variables:  # what is alike everywhere may make no difference, as behind `softmax`
        one.assign(one * 0.5 + tf.reshape(tf.linspace(0.5, 1.5, tf.size(one)), one.shape))
    again = leaves(call())
    with backend.eager_execution():
        plain = leaves(call())
    if not difference(first, again) and difference(plain, again):
        said = "a call gives the same after other values are assigned to its weights, and eager execution does not"
        yield from (Observation(DIVERGES, said, (Spot(*one),), per=WEIGHTS) for one in lines)
