"""Where two ways of running a graph part: the first operation that gives another result for equal inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import Spot

from ...code.user_lines import UserLines
from ...inputs.tensors import Arguments
from ..compare import difference
from ..leaves import leaves
from .randomness import is_random

_MOST: Final = 400  # operations that are looked at
_READING: Final = frozenset(("TensorListStack", "TensorListConcatV2", "TensorListGather", "TensorListGetItem"))
_RESERVING: Final = frozenset(("TensorListReserve", "EmptyTensorList"))
_LOOPS: Final = frozenset(("While", "StatelessWhile"))
_SILENT: Final = frozenset(("Placeholder", "Const", "Identity", "IdentityN", "NoOp", "ReadVariableOp"))


def departing(
    call: Callable[..., Any], given: Arguments, restore: Callable[[], None], *, autograph: bool, skip_random: bool
) -> list[Any]:
    """The operation whose compiled result is the first to differ from the plain one; where that reads an array, also
    what else reads one and differs for no other reason. Nothing when none was found.

    `given`: what is called with; `restore` puts variables back; `skip_random`: random numbers may differ. Raises
    whatever the compiler does.
    """
    ops: list[Any] = []

    def visible(*arguments: Any, **keywords: Any) -> list[Any]:
        call(*arguments, **keywords)
        found: list[Any] = _results(ops)
        return found

    arguments, keywords = given
    restore()
    plain = tf.function(visible, autograph=autograph)(*arguments, **keywords)
    restore()
    compiled = tf.function(visible, autograph=autograph, jit_compile=True)(*arguments, **keywords)
    parted: set[str] = set()
    found: list[Any] = []
    for op, expected, actual in _by_op(ops, plain, compiled):
        if difference(leaves(expected), leaves(actual)):
            by_itself = not (skip_random and is_random(op)) and not parted.intersection(one.name for one in op.inputs)
            if by_itself and (not found or {found[0].type, op.type} <= _READING):
                found.append(op)
            if found and found[0].type not in _READING:
                break
            parted.update(one.name for one in op.outputs)
    return found


def reserved_for(ops: Iterable[Any]) -> Iterator[Any]:
    """The operations that reserve the arrays which others read, as far as loops hand these on."""
    pending = [op.inputs[0] for op in ops if op.type in _READING]
    seen: set[str] = set()
    while pending:
        array = pending.pop()
        if array.name in seen:
            continue
        seen.add(array.name)
        if array.op.type in _RESERVING:
            yield array.op
        elif array.op.type in _LOOPS:
            pending.append(array.op.inputs[array.value_index])
        else:
            pending += [one for one in array.op.inputs if one.dtype == tf.variant]


def selections_before(ops: Iterable[Any], bounded: Set[str]) -> Iterator[Any]:
    """The operations, among those that are called `bounded`, from which others of a graph are computed."""
    pending = [one.op for op in ops for one in op.inputs]
    seen: set[str] = set()
    while pending:
        op = pending.pop()
        if op.name not in seen:
            seen.add(op.name)
            if op.name in bounded:
                yield op
            pending += [one.op for one in op.inputs]


def made_at(graph: Any, user_lines: UserLines) -> tuple[Spot, ...]:
    """The user's lines that made the operations of a graph, in the order of these."""
    return tuple(dict.fromkeys(spot for op in graph.get_operations() for spot in user_lines.of_op(op)[:1]))


def results_at(
    call: Callable[..., Any], spot: Spot, user_lines: UserLines, *, autograph: bool, compiled: bool = True
) -> Callable[..., Any]:
    """A function of the graph, compiled or not, that gives only what one line of the user's makes."""

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def made() -> list[Any]:
        traced = tf.compat.v1.get_default_graph().get_operations()
        here = [op for op in traced if spot in user_lines.of_op(op)[:1]]
        used = {given.name for op in here for given in op.inputs}
        last = (op for op in here if op.type not in _SILENT and _comparable(op))
        return [output for op in last for output in op.outputs if output.name not in used]

    def visible(*arguments: Any, **keywords: Any) -> list[Any]:
        call(*arguments, **keywords)
        found: list[Any] = made()
        return found

    return tf.function(visible, autograph=autograph, jit_compile=compiled)  # type: ignore[no-any-return]


@tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
def _results(ops: list[Any]) -> list[Any]:
    """What the operations give that are traced so far; `ops` becomes the list of them."""
    traced = tf.compat.v1.get_default_graph().get_operations()
    ops[:] = [op for op in traced if op.type not in _SILENT and _comparable(op)][:_MOST]
    return [output for op in ops for output in op.outputs]


def _comparable(op: Any) -> bool:
    kinds = {output.dtype for output in op.outputs}
    return bool(op.outputs) and not kinds & {tf.resource, tf.variant, tf.string}


def _by_op(ops: Sequence[Any], plain: Sequence[Any], compiled: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    start = 0
    for op in ops:
        end = start + len(op.outputs)
        yield op, plain[start:end], compiled[start:end]
        start = end
