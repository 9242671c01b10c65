"""Python code that makes data: generators, what they yield and whether they end, and batches that Keras asks it for."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import ApiObject, FunctionValue, Instance, Pipeline, Sequence, Value

_WITH_WEIGHTS: Final = 3  # inputs, targets and the weights of examples
_BATCHES: Final = frozenset(("keras.utils.PyDataset", "keras.utils.Sequence"))


def yielded(value: Value | None) -> Value | None:
    """What a generator yields: inputs with their targets, which stand in a tuple; None for what is no generator."""
    match value:
        case Sequence("list", element=Sequence("tuple", tuple(parts)) as batch) if 2 <= len(parts) <= _WITH_WEIGHTS:
            return batch
        case Sequence("list", (Sequence("tuple", tuple(parts)), *_), element=None) if 2 <= len(parts) <= _WITH_WEIGHTS:
            return value
        case _:
            return None


def runs_python(data: Value) -> bool:
    """Whether Python makes each batch of what a loop of Keras is passed, which wraps it in `Dataset.from_generator`
    (measured): a generator, a `Sequence` or `PyDataset`, an image generator of Keras."""
    return all(_runs_python(option) for option in options(data))


def _runs_python(data: Value) -> bool:
    match data:
        case ApiObject(facts=Pipeline(python=python)):
            return python
        case Instance(cls=cls):
            return any(base in _BATCHES for base in cls.mro)
        case _:
            return yielded(data) is not None


def never_ends(generator: Value | None) -> bool:
    """Whether a function yields for ever: `while True: ..`."""
    match generator:
        case FunctionValue(function) if isinstance(function.node, cst.FunctionDef):
            return any(map(_is_endless, function.node.body.body))
        case _:
            return False


def _is_endless(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.While(test=cst.Name(value="True") | cst.Integer(value="1"), body=body):
            return not _leaves(body)
        case _:
            return False


def _leaves(node: cst.CSTNode, *, nested: bool = False) -> bool:
    """Whether code leaves the loop around it; `nested`: it stands in another one, which `break` leaves instead."""
    match node:
        case cst.Return():
            return True
        case cst.Break():
            return not nested
        case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
            return False
        case _:
            inside = nested or isinstance(node, cst.For | cst.While)
            return any(_leaves(child, nested=inside) for child in node.children)
