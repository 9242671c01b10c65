"""Functions and classes of the project, parsed only when they are needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ...sources.outline import Stretch
from ...syntax import nodes as cst
from ..domain.values import Api, Class, ClassValue, Function, Module, Value
from ..files.alone import parsed_alone
from ..files.dependencies import note_stretch
from ..files.unit import Location, Unit
from ..library import api

_MOST_ANCESTORS: Final = 500  # those farther away are unknown


@dataclass(slots=True, eq=False)
class DefinedFunction:
    """A function, method or lambda of the project. `owner` is the class around a method."""

    module: Module
    name: str
    qualname: str
    owner: Class | None = None
    decorator_texts: tuple[str, ...] = ()
    stretch: Stretch | None = None
    _unit: Unit | None = None
    _node: cst.FunctionDef | cst.Lambda | None = None
    _key: tuple[str, int, str] | None = None

    @property
    def identity(self) -> object:
        """What two analyses of one definition share: a function made inside another is created again by each of
        them."""
        return self if self.stretch is not None else self._node

    @property
    def key(self) -> tuple[str, int, str]:
        """The identity as plain data. Functions made inside one definition are told apart by their text."""
        if self._key is None:
            if self.stretch is not None:
                note_stretch(self.module.path, self.stretch)
            first, text = (self.stretch.first, self.qualname) if self.stretch else (self.unit.first_line, self.text)
            self._key = (self.module.source.display, first, text)
        return self._key

    def load(self) -> None:
        """Parse the definition's stretch into a tree."""
        assert self.stretch is not None
        self._unit = self.module.file.unit(self.stretch)
        self._node = _definition_in(self._unit)

    @property
    def unit(self) -> Unit:
        if self._unit is None:
            self.load()
        assert self._unit is not None
        return self._unit

    @property
    def node(self) -> cst.FunctionDef | cst.Lambda:
        if self._node is None:
            self.load()
        assert self._node is not None
        return self._node

    @property
    def location(self) -> Location:
        return Location(self.unit, self.node)

    @property
    def text(self) -> str:
        """The source of the definition."""
        if self.stretch is None:
            return self.unit.code(self.node)
        return self.module.file.text_of(self.stretch)

    @property
    def fills_its_object(self) -> bool:
        """Whether a method may give its object an attribute besides `built`: by itself, or through what it hands the
        object to. Most `build` methods only build the layers inside."""
        if self.stretch is None:
            return _may_fill(parsed_alone(self.text))
        note_stretch(self.module.path, self.stretch)
        known, text = self.module.file.fills, self.text  # which the next run has, too, where nobody edits the method
        if text not in known:
            known[text] = _may_fill(self.module.file.parsed(self.stretch))
        return known[text]

    @property
    def uses_tensorflow(self) -> bool:
        """Whether TensorFlow can be named in the function."""
        return self.module.file.concerns_tensorflow(self.stretch) or self.module.names_tensorflow

    @property
    def label(self) -> Location:
        """The place to show for the definition: its name, or the lambda itself."""
        node = self.node
        return Location(self.unit, node.name if isinstance(node, cst.FunctionDef) else node)


def _may_fill(made: ast.stmt | None) -> bool:
    """Whether a method, None for one that cannot be read by itself, may give its object an attribute."""
    if not isinstance(made, ast.FunctionDef) or not made.args.args:
        return True
    itself = (made.args.args[0].arg, "super")
    called, harmless = set[int](), set[int]()
    for node in ast.walk(made):  # from the outside in
        match node:
            # `self.built = ..`, and `self.name` where it is read and not called: a method may fill the object.
            case ast.Attribute(value=ast.Name() as owner, attr=name, ctx=context) if id(node) not in called:
                if name == "built" or isinstance(context, ast.Load):
                    harmless.add(id(owner))
            case ast.Call(func=ast.Name("getattr" | "hasattr"), args=[ast.Name() as owner, *_]) if (
                id(node) not in called
            ):
                harmless.add(id(owner))
            case ast.Call(func=function):
                called.add(id(function))
            case ast.Name(id=name) if name in itself and id(node) not in harmless:
                return True
    return False


@dataclass(slots=True, eq=False)
class DefinedClass:
    """A class of the project: its own methods and classes, and its bases. `setters`: as in `ClassOutline`."""

    module: Module
    name: str
    qualname: str
    functions: dict[str, DefinedFunction] = field(default_factory=dict)
    setters: dict[str, DefinedFunction] = field(default_factory=dict)
    classes: dict[str, DefinedClass] = field(default_factory=dict)
    code: list[Stretch] = field(default_factory=list)
    stretch: Stretch | None = None  # of the whole class; None inside a function
    base_texts: tuple[str, ...] = ()
    decorator_texts: tuple[str, ...] = ()
    keyword_texts: tuple[tuple[str, str], ...] = ()  # beside the bases: a metaclass, or what `__init_subclass__` takes
    base_values: tuple[Value, ...] | None = None
    attributes: dict[str, Value] | None = None  # of the class body; None until it is executed
    scope: Any = None  # the frame around a class that a function defines
    view_of: Any = None  # the instance behind `super()`
    _callers: dict[str, frozenset[str]] = field(default_factory=dict)  # of its own methods, once asked for
    _mro: tuple[Class | str, ...] | None = None
    _kinds: tuple[tuple[Class | str, ...], frozenset[str | None]] | None = None  # of Keras's classes in an order

    @property
    def bases(self) -> tuple[Value, ...]:
        if self.base_values is None:
            self.base_values = tuple(self.module.resolve_text(text) for text in self.base_texts)
        return self.base_values

    def keyword(self, name: str) -> Value | None:
        """What the definition passes as a keyword, or that of its nearest ancestor."""
        for ancestor in self.mro:
            if isinstance(ancestor, DefinedClass):
                for word, text in ancestor.keyword_texts:
                    if word == name:
                        return ancestor.module.resolve_text(text)
        return None

    @property
    def mro(self) -> tuple[Class | str, ...]:
        """This class and its ancestors, nearest first; an ancestor of another library by its canonical name."""
        if self._mro is None:
            self._mro = (self,)  # ends a cycle of bases
            order: dict[Class | str, None] = {self: None}
            for base in self.bases:
                for ancestor in (*_ancestors(self.module.ancestor(base)), *_ancestors(base)):
                    order.pop(ancestor, None)  # the last place wins, as in Python's own order for diamonds
                    order[ancestor] = None
            self._mro = tuple(order)[:_MOST_ANCESTORS]
        return self._mro

    @property
    def derived(self) -> tuple[Class, ...]:
        """The classes of the same file that have this one among their ancestors."""
        return tuple(cls for cls in self.module.classes if cls is not self and self in cls.mro)

    @property
    def external_bases(self) -> Iterator[str]:
        return (base for base in self.mro if isinstance(base, str))

    def is_keras(self, kind: str) -> bool:
        """Whether an ancestor is Keras's own class of that kind ("layer", "model", "loss", "metric", ...)."""
        mro = self.mro
        if self._kinds is None or self._kinds[0] is not mro:
            self._kinds = (mro, frozenset(map(api.kind_of, self.external_bases)))
        return kind in self._kinds[1]

    def find(self, name: str, after: Class | None = None) -> Function | None:
        """The method `name`, looked up along the order of ancestors (those after `after`, for `super()`)."""
        passed = after is None
        for ancestor in self.mro:
            if passed and not isinstance(ancestor, str) and name in ancestor.functions:
                return ancestor.functions[name]
            passed = passed or ancestor is after
        return None

    def callers_of(self, name: str) -> frozenset[str]:
        """Those of its own methods that name the method `name` of their object."""
        if name not in self._callers:
            self._callers[name] = frozenset(
                caller.name for caller in self.functions.values() if _names_own(caller.node, name)
            )
        return self._callers[name]


def _names_own(method: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    """Whether a method names another one of its object."""
    first = method.params.params[:1]
    return any(
        isinstance(part, cst.Attribute)
        and part.attr.value == name
        and isinstance(part.value, cst.Name)
        and part.value.value == first[0].name.value
        for part in (cst.within(method.body) if first else ())
    )


def _ancestors(base: Value) -> tuple[Class | str, ...]:
    match base:
        case ClassValue(cls):
            return cls.mro
        case Api(name):
            return (name,)
        case _:
            return ()


def _definition_in(unit: Unit) -> cst.FunctionDef:
    """The function that a stretch holds; not looked up by name, which Python normalises (`ﬁt` is `fit`)."""
    for statement in unit.body:
        if isinstance(statement, cst.FunctionDef):
            return statement
    raise LookupError(unit.text)


def all_methods(cls: Class) -> Iterator[Function]:
    """The methods of a class and of its ancestors, nearest first, also of those that others replace."""
    for ancestor in cls.mro:
        if not isinstance(ancestor, str):
            yield from ancestor.functions.values()
