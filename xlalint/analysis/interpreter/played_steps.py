"""Steps of training that go back and forth with what is not TensorFlow: an agent that plays an episode while a tape
records it. No `tf.function` can hold such a step, whatever a target compiles."""

from __future__ import annotations

from collections.abc import Iterator

from ...syntax import nodes as cst
from ..domain.values import Unknown
from .frames import Frame
from .interface import Interpreter


def is_played(interpreter: Interpreter, frame: Frame, body: cst.BaseSuite) -> bool:
    """Whether a loop in a block ends by what a method returns in it of an object that is not known."""
    loops = (node for node in cst.within(body) if isinstance(node, cst.For | cst.While))
    return any(
        isinstance(interpreter.evaluate(frame, owner), Unknown)
        for loop in loops
        if (ending := set(_asked(loop)))
        for owner, names in _answers(loop)
        if not ending.isdisjoint(names)
    )


def _asked(loop: cst.For | cst.While) -> Iterator[str]:
    """The names that decide whether a loop goes on: `while not done`, `if done: break`."""
    tests = [loop.test] if isinstance(loop, cst.While) else []
    for node in cst.within(loop.body):
        match node:
            case cst.If(test=test, body=cst.BaseSuite(body=[*_, cst.SimpleStatementLine(body=[*_, cst.Break()])])):
                tests.append(test)
    return (part.value for test in tests for part in cst.within(test) if isinstance(part, cst.Name))


def _answers(loop: cst.For | cst.While) -> Iterator[tuple[cst.BaseExpression, list[str]]]:
    """The objects of which a loop calls a method with something, and the names that get what it returns."""
    for node in cst.within(loop.body):
        match node:
            case cst.Assign(
                value=cst.Call(func=cst.Attribute(value=cst.Name() | cst.Attribute() as owner), args=[_, *_]),
                targets=targets,
            ):
                yield owner, [name for target in targets for name in cst.names_in(target.target)]
