"""What all who create an object of a class pass alike, in a program whose creators are all here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..domain.values import Api, Class, Function, Static, Value
from .creation_facts import (
    ANY_MODULE,
    OTHERS,
    SCRIPT,
    Argument,
    Callee,
    Constant,
    Key,
    Passed,
    is_given,
    is_made,
    is_replaced_for_jax,
    is_set,
    is_taken,
    is_told,
    makes_its_kind,
)
from .creations import Creations
from .definitions import DefinedClass, DefinedFunction
from .project import Project

_HARMLESS: Final = ("keras.", "tf.")  # decorators of libraries that leave a class what it is


class Alike(NamedTuple):
    """What is known of the parameters of a constructor: those for which nobody passes anything, which have their
    defaults, and those for which everybody passes the same constant."""

    left: frozenset[str]
    constants: dict[str, Value]


NOTHING: Final = Alike(frozenset(), {})


class Creators:
    """Who creates the objects of a program. `is_named`: whether another partition knows a fact of `Creations`."""

    def __init__(self, project: Project, creations: Creations, is_named: Callable[[Key], bool]) -> None:
        self._project, self._creations, self._is_named = project, creations, is_named
        self._arguments: dict[Callee, dict[str, tuple[Argument, bool]]] = {}

    def alike(self, cls: Class) -> Alike:
        """What all pass alike that create objects of a class; nothing where there may be others who do."""
        known = self._known(cls)
        return Alike(
            frozenset(name for name, (_, left) in known.items() if left),
            {
                name: Static(argument.value)
                for name, (argument, left) in known.items()
                if not left and isinstance(argument, Constant)
            },
        )

    def is_set_from_outside(self, attribute: str, methods: Iterable[Function]) -> bool:
        """Whether others than an object itself assign to an attribute of that name, or have it run one of the methods
        that do."""
        return any(map(self._holds, (is_set(attribute), *(is_told(method.name) for method in methods))))

    def is_replaced_for_jax(self, cls: Class, step: str) -> bool:
        """Whether a class that derives from a model has a step of its own for JAX's trainer."""
        return self._holds(is_replaced_for_jax(cls, step))

    def _known(self, callee: Callee) -> dict[str, tuple[Argument, bool]]:
        """The same by parameter: its argument if that is known, and whether it is left at its default."""
        if callee not in self._arguments:
            self._arguments[callee] = {}  # who passes on what it was passed itself
            self._arguments[callee] = self._sought(callee) if self._is_whole(callee) else {}
        return self._arguments[callee]

    def _is_whole(self, callee: Callee) -> bool:
        """Whether all are known who create objects of a class, or call a function, and anybody does."""
        module = callee.module
        if module.is_test or module.written or self._project.files.is_installed(module.path):
            return False
        match callee:
            case DefinedClass() if not self._is_created_by_name(callee):
                return False
            case DefinedFunction(owner=owner, decorator_texts=decorators) if owner is not None or decorators:
                return False
        return all(map(self._holds, (is_made(callee), SCRIPT))) and not any(
            map(self._holds, (ANY_MODULE, is_taken(callee)))
        )

    def _is_created_by_name(self, cls: DefinedClass) -> bool:
        """Whether nothing but its name creates objects of a class, and its constructor is passed the arguments."""
        decorators = (cls.module.resolve_text(text.partition("(")[0]) for text in cls.decorator_texts)
        if cls.scope is not None or not all(map(_is_kept, decorators)) or cls.find("__new__") is not None:
            return False
        if not isinstance(cls.keyword("metaclass"), Api | None):
            return False
        return not any(self._holds(makes_its_kind(one)) for one in cls.mro if not isinstance(one, str))

    def _holds(self, fact: Key) -> bool:
        return fact in self._creations.facts or fact in self._creations.own or self._is_named(fact)

    def _sought(self, callee: Callee) -> dict[str, tuple[Argument, bool]]:
        method = callee.find("__init__") if isinstance(callee, DefinedClass) else callee
        if not isinstance(method, DefinedFunction) or method.decorator_texts:
            return {}
        try:
            parameters = method.node.params
        except (SyntaxError, NestedTooDeepError, LookupError):
            return {}
        unpacked = self._holds(is_given(callee, OTHERS))
        positional = parameters.params[1:] if isinstance(callee, DefinedClass) else parameters.params
        found: dict[str, tuple[Argument, bool]] = {}
        for at, parameter in enumerate((*positional, *parameters.kwonly_params)):
            name = parameter.name.value
            ways = (at, name) if at < len(positional) else (name,)
            if any(self._holds(is_set(attribute)) for attribute in (name, f"_{name}")):
                continue
            default = _constant(parameter)
            if not any(self._holds(is_given(callee, way)) for way in ways):
                if not unpacked:
                    found[name] = (default, True)
            elif (argument := self._passed(callee, ways, default)) is not None:
                found[name] = (argument, False)
        return found

    def _passed(self, callee: Callee, ways: tuple[int | str, ...], default: Argument) -> Constant | None:
        """The constant that everybody passes in one of some ways, or has by default; None where there is none."""
        if self._is_named(is_made(callee)):
            return None  # elsewhere, with arguments that nobody tells
        passed = [
            self._resolved(next((creation[way] for way in (*ways, OTHERS) if way in creation), default))
            for creation in self._creations.of.get(is_made(callee), ())
        ]
        first, *others = passed
        return first if first is not None and all(map(first.is_like, others)) else None

    def _resolved(self, argument: Argument) -> Constant | None:
        """The constant that an argument is, or that its function was passed."""
        if isinstance(argument, Passed):
            argument, _ = self._known(argument.callee).get(argument.name, (None, False))
        return argument if isinstance(argument, Constant) else None


def _is_kept(decorator: Value) -> bool:
    """Whether a decorator leaves a class what it is."""
    return isinstance(decorator, Api) and decorator.name.startswith(_HARMLESS)


def _constant(parameter: cst.Param) -> Argument:
    """The default of a parameter where it is a constant."""
    match parameter.default:
        case cst.Name(value="None" | "True" | "False" as text) | cst.Integer(value=text) | cst.Float(value=text):
            return Constant(ast.literal_eval(text))
        case cst.SimpleString(value=text) if text[:1] in "'\"":
            return Constant(ast.literal_eval(text))
        case _:
            return None
