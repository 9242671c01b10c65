"""What is known of decorators by their names; what they make of a function is evaluated by `interpreter`."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, Function, FunctionValue

# Decorators that leave the function what it is, as far as the analyser is concerned; properties are seen elsewhere.
TRANSPARENT: Final = frozenset(
    (
        "property",
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "abc.abstractmethod",
        "overload",
        "typing.overload",
        "functools.wraps",
        "functools.cached_property",
        "functools.lru_cache",
        "functools.cache",
        "contextlib.contextmanager",
        "contextmanager",
        "pytest.fixture",
        "wraps",
    )
)
_ONCE: Final = Api("sonnet.once")
RECORDS: Final = ("dataclass", "dataclasses.dataclass", "attr.s", "attr.attrs", "attrs.define", "struct.dataclass")


def is_wrapped(value: FunctionValue) -> bool:
    """Whether a decorator stands around a function that may not run it each time: one of the project, or Sonnet's."""
    return value.compiled is None and any(
        not isinstance(found := value.function.module.resolve_text(name), Api) or found == _ONCE
        for text in value.function.decorator_texts
        if (name := text.partition("(")[0]) not in TRANSPARENT and not name.endswith((".setter", ".getter"))
    )


def gives_another_result(decorator: Function) -> bool:
    """Whether what a decorator of the project puts in a function's place returns a structure around the function's
    result, or what another function of the project makes of the function, rather than that result."""
    made = _in_its_place(decorator.node)
    if made is None:
        return False
    wrapper, given = made
    returned = [value for value in _Own(wrapper).returned if not _is_none(value)]
    return bool(returned) and all(_is_another(decorator, value, given) for value in returned)


def _is_another(decorator: Function, value: cst.BaseExpression, given: str) -> bool:
    match value:
        case cst.Tuple() | cst.List() | cst.Dict():
            return True
        case cst.Call(func=cst.Name() | cst.Attribute() as function, args=arguments):
            names = [argument.value.value for argument in arguments if isinstance(argument.value, cst.Name)]
            called = decorator.module.resolve_text(cst.text_of(function).code(function))
            return given in names and isinstance(called, FunctionValue)
        case _:
            return False


def _is_none(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name) and value.value == "None"


def _in_its_place(node: cst.FunctionDef | cst.Lambda) -> tuple[cst.FunctionDef, str] | None:
    """The function that a decorator, or one that it makes, returns for the one that it is given, and its name there."""
    own = _Own(node)
    for value in own.returned:
        # What is returned as it is, or around which something like `functools.wraps(..)` stands.
        names = [value, *(argument.value for argument in value.args)] if isinstance(value, cst.Call) else [value]
        for name in names:
            inner = own.functions.get(name.value) if isinstance(name, cst.Name) else None
            if inner is not None and node.params.params:
                return _in_its_place(inner) or (inner, node.params.params[0].name.value)
    return None


class _Own(cst.CSTVisitor):
    """What a function defines and returns itself, not in the functions that it defines."""

    def __init__(self, node: cst.FunctionDef | cst.Lambda) -> None:
        self.functions: dict[str, cst.FunctionDef] = {}
        self.returned: list[cst.BaseExpression] = []
        node.body.visit(self)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:  # noqa: N802
        self.functions[node.name.value] = node
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:  # noqa: N802
        return False

    def visit_Return(self, node: cst.Return) -> None:  # noqa: N802
        if node.value is not None:
            self.returned.append(node.value)
