"""How long the longest row of a batch is: another number for each batch, in a loop over batches."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, Unknown
from ..domain.varying_shapes import variations_of
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Frame
from ..interpreter.interface import Interpreter

_LENGTH: Final = Api("builtins.len")
_AS_IT_IS: Final = frozenset(("builtins.list", "builtins.tuple", "np.array", "np.asarray"))
_STEPS: Final = 4  # from a name to what it was assigned, and to what that is made of


def is_longest(interpreter: Interpreter, frame: Frame, sizes: cst.BaseExpression) -> bool:
    """Whether the greatest of these is asked for, and they are the lengths of the rows of one batch after the other:
    `max(len(row) for row in batch)`."""
    return _is_in_loop(frame) and _are_lengths(interpreter, frame, sizes, _STEPS)


def is_length_of_longest(interpreter: Interpreter, frame: Frame, row: cst.BaseExpression) -> bool:
    """The same of `len(max(batch, key=len))`; `row`: that of which the length is asked."""
    match row:
        case cst.Call(
            func=func, args=[cst.Arg(value=batch, keyword=None), cst.Arg(value=key, keyword=cst.Name("key"))]
        ):
            asked = interpreter.evaluate(frame, func) == Api("builtins.max")
            return (
                asked
                and _is_in_loop(frame)
                and _is_len(interpreter, frame, key)
                and _is_batch(interpreter, frame, batch)
            )
        case _:
            return False


def _is_in_loop(frame: Frame) -> bool:
    return frame.context.kind in NOT_TRACED and (frame.looped or frame.python_loop > 0)


def _are_lengths(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression, steps: int) -> bool:
    match node:
        case (
            cst.GeneratorExp(elt=size, for_in=cst.CompFor(iter=batch))
            | cst.ListComp(elt=size, for_in=cst.CompFor(iter=batch))
            | cst.SetComp(elt=size, for_in=cst.CompFor(iter=batch))
        ):
            return _is_count(interpreter, frame, size) and _is_batch(interpreter, frame, batch)
        case cst.Call(func=cst.Name("map"), args=[cst.Arg(value=cst.Lambda(body=size)), cst.Arg(value=batch)]):
            return _is_count(interpreter, frame, size) and _is_batch(interpreter, frame, batch)
        case cst.Call(func=cst.Name("map"), args=[cst.Arg(value=function), cst.Arg(value=batch)]):
            return _is_len(interpreter, frame, function) and _is_batch(interpreter, frame, batch)
        case cst.Call(func=func, args=[cst.Arg(value=inner, star=""), *_]) if steps:
            made = interpreter.evaluate(frame, func)
            keeps = isinstance(made, Api) and made.name in _AS_IT_IS
            return keeps and _are_lengths(interpreter, frame, inner, steps - 1)
        case cst.Name() if steps and (assigned := _assigned(frame, node)) is not None:
            return _are_lengths(interpreter, frame, assigned, steps - 1)
        case _:
            return False


def _assigned(frame: Frame, name: cst.Name) -> cst.BaseExpression | None:
    """What a function assigns a name of its own, if it does so once."""
    function = frame.unit.function_around(name)
    if function is None:
        return None
    values: list[cst.BaseExpression] = []
    bound = 0
    for part in cst.within(function.body):
        match part:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))], value=value):
                if target == name.value:
                    values.append(value)
            case cst.AugAssign(target=cst.Name(value=target)) | cst.For(target=cst.Name(value=target)):
                bound += target == name.value
            case _:
                pass
    return values[0] if len(values) == 1 and not bound else None


def _is_count(interpreter: Interpreter, frame: Frame, size: cst.BaseExpression) -> bool:
    """`len(row)`."""
    return isinstance(size, cst.Call) and _is_len(interpreter, frame, size.func)


def _is_len(interpreter: Interpreter, frame: Frame, function: cst.BaseExpression) -> bool:
    return interpreter.evaluate(frame, function) == _LENGTH


def _is_batch(interpreter: Interpreter, frame: Frame, batch: cst.BaseExpression) -> bool:
    """Whether it is another part of the data each time."""
    match interpreter.evaluate(frame, batch):
        case Unknown(part=part, varies=varies):
            return part or bool(varies)
        case value:
            return bool(variations_of(value))
