"""Models of layers that another one has, `keras.Model(model.inputs, layer.output)`, each of which Keras compiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api
from ..interpreter.contexts import Context
from ..interpreter.events import CallOwnCompiled
from ..interpreter.frames import Frame
from ..interpreter.interface import Interpreter

_INPUTS: Final = ("input", "inputs")  # what a model that is there already has


def report_remade(interpreter: Interpreter, frame: Frame, context: Context, node: cst.Call) -> None:
    """Say that a model predicts that has been created for it: by each iteration of the loop around it, or by each call
    of the function."""
    block, looped = _block_around(frame, node)
    made = _creation(interpreter, frame, node.func, block)
    if made is not None and not frame.guards:
        interpreter.emit_on_host(frame, CallOwnCompiled, made, context, again=looped, model=True)


def _block_around(frame: Frame, node: cst.CSTNode) -> tuple[cst.CSTNode | None, bool]:
    """What is executed from its beginning each time: the body of the innermost loop, or of the function."""
    for around in frame.unit.around(node):
        match around:
            case cst.For(body=body) | cst.While(body=body):
                return body, True
            case cst.FunctionDef(body=body):
                return body, False
    return None, False


def _creation(
    interpreter: Interpreter, frame: Frame, called: cst.BaseExpression, block: cst.CSTNode | None
) -> cst.Call | None:
    """The call that creates the model before the dot, of the inputs of another one."""
    assigned = dict(_assigned(block))
    match called:
        case cst.Attribute(value=cst.Call() as made):
            found: cst.BaseExpression | None = made
        case cst.Attribute(value=cst.Name(value=name)):
            found = assigned.get(name)
        case _:
            return None
    match found:
        case cst.Call(func=maker, args=[cst.Arg(value=inputs), *_]):
            named = assigned.get(inputs.value) if isinstance(inputs, cst.Name) else None
            is_part = _are_of_model(named or inputs) and interpreter.evaluate(frame, maker) == Api("keras.Model")
            return found if is_part else None
        case _:
            return None


def _assigned(block: cst.CSTNode | None) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The names that a block assigns in any case, each with its last value."""
    for statement in block.body if isinstance(block, cst.IndentedBlock) else ():
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
            ):
                yield name, value


def _are_of_model(inputs: cst.BaseExpression) -> bool:
    """`model.input`, `[model.inputs]`."""
    match inputs:
        case cst.List(elements=[cst.Element(value=one)]):
            return _are_of_model(one)
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in _INPUTS
        case _:
            return False
