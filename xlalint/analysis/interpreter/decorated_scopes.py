"""The scope of a strategy that a decorator of the project enters around each call of a function."""

from __future__ import annotations

from ...syntax import nodes as cst
from ...syntax.build import parse_expression
from ...syntax.expression_builder import NestedTooDeepError
from ..domain.values import UNKNOWN, ClassValue, Function, FunctionValue, Instance, Scope, Value
from ..library.strategies import is_strategy
from ..program.decorators import TRANSPARENT
from .interface import Interpreter


def scope_around(interpreter: Interpreter, value: FunctionValue) -> Scope | None:
    """The scope in which a decorator calls the function, `@in_scope` or `@in_scope(strategy)`; None where none does."""
    function = value.function
    for text in function.decorator_texts:
        if text.partition("(")[0] in TRANSPARENT:
            continue
        decorator = _decorator(function, text.partition("(")[0])
        if decorator is None or ".scope()" not in decorator.text:
            continue
        try:
            entered = _entered(decorator.node)
        except (SyntaxError, NestedTooDeepError, LookupError) as error:
            interpreter.note_trouble(decorator, error)
            continue
        if entered is not None:
            strategy = _strategy(interpreter, value, decorator, text, entered)
            return Scope(strategy if is_strategy(strategy) else UNKNOWN)
    return None


def _decorator(function: Function, name: str) -> Function | None:
    """The function of the project that is a decorator, or that an object calls which takes the place of a function."""
    match function.module.resolve_text(name):
        case FunctionValue(found):
            return found
        case ClassValue(cls):
            return cls.find("__call__")
        case _:
            return function.owner.find(name) if function.owner is not None else None


def _entered(node: cst.FunctionDef | cst.Lambda) -> cst.BaseExpression | None:
    """Whose scope is entered: `self.strategy` of `with self.strategy.scope():`."""
    for part in cst.within(node):
        match part:
            case cst.Call(func=cst.Attribute(value=strategy, attr=cst.Name("scope")), args=[]):
                return strategy
    return None


def _strategy(
    interpreter: Interpreter, value: FunctionValue, decorator: Function, text: str, entered: cst.BaseExpression
) -> Value:
    """The strategy: of the object whose method it is, passed to the decorator, or of a module."""
    names: list[str] = []
    while isinstance(entered, cst.Attribute):
        names.insert(0, entered.attr.value)
        entered = entered.value
    if not isinstance(entered, cst.Name):
        return UNKNOWN
    own = [one.name.value for one in decorator.node.params.params]
    frame = interpreter.module_frame(decorator.module)
    strategy: Value
    if entered.value in own:
        strategy = _argument(interpreter, value.function, text, own.index(entered.value), entered.value)
    elif isinstance(value.bound, Instance) and entered.value in _first_parameters(decorator.node):
        strategy = value.bound
    else:
        strategy = interpreter.evaluate(frame, entered)
    for name in names:
        strategy = interpreter.attribute(frame, strategy, name, entered)
    return strategy


def _first_parameters(node: cst.FunctionDef | cst.Lambda) -> set[str]:
    """How the functions in a decorator call the object of a method."""
    inner = (part for part in cst.within(node) if isinstance(part, cst.FunctionDef | cst.Lambda) and part is not node)
    return {one.params.params[0].name.value for one in inner if one.params.params}


def _argument(interpreter: Interpreter, function: Function, text: str, position: int, name: str) -> Value:
    """What a decorator is called with, where the function stands."""
    match parse_expression(text):
        case cst.Call(args=arguments):
            for number, argument in enumerate(arguments):
                keyword = argument.keyword.value if argument.keyword is not None else None
                if keyword == name or (keyword is None and number == position):
                    return interpreter.evaluate(interpreter.module_frame(function.module), argument.value)
    return UNKNOWN
