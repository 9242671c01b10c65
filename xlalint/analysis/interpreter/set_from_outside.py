"""Attributes that a layer sets only where nobody has: code elsewhere sets them, before the layer is traced."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import Function, Instance
from .frames import Frame
from .interface import Interpreter
from .kept import methods_in_use


def is_left_to_others(interpreter: Interpreter, frame: Frame, test: cst.BaseExpression, outcome: bool) -> bool:
    """Whether a test comes out so only where an attribute is not there yet, which others than the object set: by
    assignment, or by a method that does. What runs there is mostly not compiled. Of a package that programs elsewhere
    use, they have its public methods for that, where these are passed what to set."""
    function = frame.function
    if function is None or not frame.context.becomes_graph:
        return False
    match frame.bound:
        case Instance(cls) if (attribute := _missing(test, outcome)) is not None:
            setters = [method for method in methods_in_use(cls) if method is not function and _sets(method, attribute)]
            if any(map(_is_offered, setters)) and interpreter.project.files.is_installed(cls.module.path):
                return True
            creators = interpreter.creators
            return creators is not None and creators.is_set_from_outside(attribute, setters)
        case _:
            return False


def is_done_once(node: cst.If) -> bool:
    """Whether a branch is taken once for an object, mostly where that is called line by line before anything is traced:
    `if not self.ready: ..; self.ready = True`."""
    match node.test:
        case cst.UnaryOperation(operator=cst.Not(), expression=cst.Attribute(value=cst.Name(value="self")) as flag):
            for statement in node.body.body:
                match statement:
                    case cst.SimpleStatementLine(
                        body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Name(value="True"))]
                    ) if target.deep_equals(flag):
                        return True
            return False
        case _:
            return False


def _missing(test: cst.BaseExpression, outcome: bool) -> str | None:
    """The attribute of `self` that is missing, or None, where a test comes out so."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _missing(inner, not outcome)
        case cst.Call(
            func=cst.Name(value="hasattr"),
            args=[cst.Arg(value=cst.Name(value="self")), cst.Arg(value=cst.SimpleString(evaluated_value=str(name)))],
        ):
            return None if outcome else name
        case cst.Comparison(
            left=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)),
            comparisons=[
                cst.ComparisonTarget(operator=cst.Is() | cst.IsNot() as sign, comparator=cst.Name(value="None"))
            ],
        ):
            return name if isinstance(sign, cst.Is) is outcome else None
        case _:
            return None


def _sets(method: Function, attribute: str) -> bool:
    """Whether a method assigns to an attribute of its object, whatever the object was."""
    return attribute in method.text and any(
        isinstance(target, cst.AssignTarget)
        and isinstance(target.target, cst.Attribute)
        and target.target.attr.value == attribute
        for target in cst.within(method.node.body)
    )


def _is_offered(method: Function) -> bool:
    """Whether a method is public, and is passed anything."""
    parameters = method.node.params
    return not method.name.startswith("_") and len(parameters.params) + len(parameters.kwonly_params) > 1
