"""The program as names: modules, classes and functions of all files, resolved across them, parsed only when needed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Final

from ...sources.outline import Binding, ClassOutline, FunctionOutline, ImportOutline, Stretch
from ...syntax import nodes as cst
from ..domain.values import (
    STATIC,
    UNKNOWN,
    Api,
    ClassValue,
    Deferred,
    FunctionValue,
    ModuleValue,
    Static,
    Value,
    settled,
)
from ..files.dependencies import note_stretch
from ..files.files import File, Files, InternalTrouble, Place, SyntaxTrouble, Unit, parsed_alone
from ..library import api
from ..library.tokenizers import LIBRARIES

# Known by name and never read, even where their source lies beside the project.
_KNOWN_LIBRARIES = frozenset(("tensorflow", "keras", "tf_keras", "numpy"))

_MOST_ANCESTORS: Final = 500  # those farther away are unknown
_TESTS: Final = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|(^|/)tests?/")


@dataclass(slots=True, eq=False)
class Function:
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
    _fills: bool | None = None

    @property
    def identity(self) -> object:
        """What two analyses of one definition share: a function made inside another is made anew by each of them."""
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
    def place(self) -> Place:
        return Place(self.unit, self.node)

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
        if self._fills is None:
            if self.stretch is None:
                made = parsed_alone(self.text)
            else:
                note_stretch(self.module.path, self.stretch)
                made = self.module.file.parsed(self.stretch)
            self._fills = _may_fill(made)
        return self._fills

    @property
    def uses_tensorflow(self) -> bool:
        """Whether TensorFlow can be named in the function."""
        return self.module.file.concerns_tensorflow(self.stretch)

    @property
    def label(self) -> Place:
        """The place to show for the definition: its name, or the lambda itself."""
        node = self.node
        return Place(self.unit, node.name if isinstance(node, cst.FunctionDef) else node)


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
class Class:
    """A class of the project: its own methods and classes, and its bases."""

    module: Module
    name: str
    qualname: str
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    code: list[Stretch] = field(default_factory=list)
    base_texts: tuple[str, ...] = ()
    decorator_texts: tuple[str, ...] = ()
    base_values: tuple[Value, ...] | None = None
    attributes: dict[str, Value] | None = None  # of the class body; None until it is executed
    scope: Any = None  # the frame around a class that a function defines
    view_of: Any = None  # the instance behind `super()`
    _mro: tuple[Class | str, ...] | None = None
    _kinds: tuple[tuple[Class | str, ...], frozenset[str | None]] | None = None  # of Keras's classes in an order

    @property
    def bases(self) -> tuple[Value, ...]:
        if self.base_values is None:
            self.base_values = tuple(self.module.resolve_text(text) for text in self.base_texts)
        return self.base_values

    @property
    def mro(self) -> tuple[Class | str, ...]:
        """This class and its ancestors, nearest first; an ancestor of another library by its canonical name."""
        if self._mro is None:
            self._mro = (self,)  # ends a cycle of bases
            order: dict[Class | str, None] = {self: None}
            for base in self.bases:
                for ancestor in _ancestors(base):
                    order.pop(ancestor, None)  # the last place wins, as in Python's own order for diamonds
                    order[ancestor] = None
            self._mro = tuple(order)[:_MOST_ANCESTORS]
        return self._mro

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
            if passed and isinstance(ancestor, Class) and name in ancestor.functions:
                return ancestor.functions[name]
            passed = passed or ancestor is after
        return None


def _ancestors(base: Value) -> tuple[Class | str, ...]:
    match base:
        case ClassValue(cls):
            return cls.mro
        case Api(name):
            return (name,)
        case _:
            return ()


class Module:
    """A file of the project: its outline, and what its top-level code binds once it has been executed."""

    def __init__(self, project: Project, file: File, name: str) -> None:
        self.project = project
        self.file = file
        self.source = file.source
        self.path = file.source.path
        self.outline = file.outline
        self.name = name
        self.values: dict[str, Value] = {}  # bound by executing top-level code
        self.executed = False
        self._resolved: dict[str, Value | None] = {}
        self._deferred: dict[ImportOutline, Deferred] = {}
        self._imported: dict[ImportOutline, Value] = {}
        self.classes: list[Class] = []
        self.functions: list[Function] = []
        self._definitions: dict[int, Function | Class] = {}
        for bindings in self.outline.bindings.values():
            for binding in bindings:
                match binding:
                    case FunctionOutline():
                        made = self._function(binding, None)
                        self._definitions[id(binding)] = made
                        self.functions.append(made)
                    case ClassOutline():
                        self._definitions[id(binding)] = self._class(binding, "")

    @cached_property
    def is_test(self) -> bool:
        """Whether the file holds tests, by its name or its folder's."""
        return _TESTS.search(PurePath(self.source.display).as_posix()) is not None

    @cached_property
    def serves_tensorflow(self) -> bool:
        """Whether the file brings TensorFlow, or what a file of the project defines that does: a factory, say."""
        return self.file.uses_tensorflow or any(
            _is_for_tensorflow(self.lookup(name))
            for name, bindings in self.outline.bindings.items()
            if any(isinstance(binding, ImportOutline) for binding in bindings)
        )

    @cached_property
    def imports_keras_2(self) -> bool:
        """Whether the module imports `tf_keras`, the package of Keras 2."""
        return any(
            isinstance(binding, ImportOutline) and binding.module.partition(".")[0] == "tf_keras"
            for bindings in self.outline.bindings.values()
            for binding in bindings
        )

    def _function(self, shape: FunctionOutline, owner: Class | None) -> Function:
        qualname = f"{owner.qualname}.{shape.name}" if owner else shape.name
        return Function(self, shape.name, qualname, owner, shape.decorators, shape.stretch)

    def _class(self, shape: ClassOutline, prefix: str) -> Class:
        made = Class(
            self,
            shape.name,
            prefix + shape.name,
            base_texts=shape.bases,
            decorator_texts=shape.decorators,
            code=shape.code,
        )
        made.functions = {name: self._function(inner, made) for name, inner in shape.functions.items()}
        made.classes = {name: self._class(inner, made.qualname + ".") for name, inner in shape.classes.items()}
        self.classes.append(made)
        return made

    def all_functions(self) -> Iterator[Function]:
        """Every function and method that the module defines at its top or in its classes."""
        yield from self.functions
        for cls in self.classes:
            yield from cls.functions.values()

    def lookup(self, name: str) -> Value | None:
        """What the module binds to `name`, executing its top-level code if that is what binds it; None if nothing."""
        if (value := self.values.get(name)) is not None:
            return settled(value)
        if not self.executed and name in self.outline.assigned:
            self.project.execute(self)
            if name in self.values:
                return settled(self.values[name])
        if name not in self._resolved:
            self._resolved[name] = None  # ends a cycle of imports
            self._resolved[name] = self._resolve(name)
        return self._resolved[name]

    def deferred(self, binding: ImportOutline) -> Deferred:
        """The value of an import statement that is executed: one object each, so that branches agree on it."""
        return self._deferred.setdefault(binding, Deferred(self, binding))

    def imported(self, binding: ImportOutline) -> Value:
        """The value that an import binds, now that it is read."""
        if binding not in self._imported:
            self._imported[binding] = UNKNOWN  # ends a cycle of imports
            self._imported[binding] = self.project.resolve_import(self, binding)
        return self._imported[binding]

    def _resolve(self, name: str) -> Value | None:
        guess: Value | None = None
        for binding in self._candidates(name):
            match binding:
                case ImportOutline():
                    value = self.imported(binding)
                case _:
                    definition = self._definitions[id(binding)]
                    value = FunctionValue(definition) if isinstance(definition, Function) else ClassValue(definition)
            if not isinstance(value, Api):
                return value
            guess = guess or value
        if guess is not None:
            return guess
        if name in self.outline.literals:
            return _literal(self.outline.literals[name])
        for star in self.outline.stars:
            found = self.project.resolve_star(self, star, name)
            if found is not None:
                return found
        return None

    def _candidates(self, name: str) -> Sequence[Binding]:
        """What may bind a name: of definitions one below the other the last, of those in branches any."""
        bindings = self.outline.bindings.get(name, ())
        match bindings:
            case [_, *_, (FunctionOutline() | ClassOutline()) as last]:
                if not any(block.first <= last.stretch.first <= block.last for block in self.outline.blocks):
                    return (last,)
        return bindings

    def resolve_text(self, text: str) -> Value:
        """The value of a dotted name in source text (a base class); UNKNOWN for anything more complicated."""
        head, *rest = text.split("[")[0].split(".")
        value = self.lookup(head) or UNKNOWN
        for attribute in rest:
            match value:
                case Api(name):
                    value = Api(api.canonical(f"{name}.{attribute}"))
                case ModuleValue(module):
                    value = module.project.member(module, attribute) or UNKNOWN
                case ClassValue(cls) if attribute in cls.classes:
                    value = ClassValue(cls.classes[attribute])
                case _:
                    return UNKNOWN
        return value


def _is_for_tensorflow(value: Value | None) -> bool:
    """Whether what an import brings is written in a file of the project that imports TensorFlow at its top, or of a
    library that makes batches for it."""
    match value:
        case Api(name):
            return name.startswith(LIBRARIES)
        case ModuleValue(module):
            return module.file.concerns_tensorflow(None)
        case ClassValue(cls):
            return cls.module.file.concerns_tensorflow(None)
        case FunctionValue(function):
            return function.module.file.concerns_tensorflow(None)
        case _:
            return False


def _definition_in(unit: Unit) -> cst.FunctionDef:
    """The function that a stretch holds; not looked up by name, which Python normalises (`ﬁt` is `fit`)."""
    for statement in unit.body:
        if isinstance(statement, cst.FunctionDef):
            return statement
    raise LookupError(unit.text)


class Project:
    """The modules of the files to check, and those that they turn out to import. A module is made when a name of it is
    first needed.

    `share`: the files whose functions are analysed for their own sake; None for all."""

    def __init__(self, files: Files, share: Sequence[Path] | None = None) -> None:
        self.files = files
        self.trouble: list[SyntaxTrouble] = []
        self.failures: list[InternalTrouble] = []
        self.execute: Callable[[Module], None] = lambda module: None  # set by the interpreter
        self._by_path: dict[Path, Module | None] = {}
        self._further: list[Path] = []  # roots of files that are not checked
        self._share = tuple(files.checked if share is None else share)

    def read(self) -> Iterator[Module]:
        """The modules to analyse for their own sake, each of which is read when it is asked for."""
        for path in self._share:
            module = self._module_at(path)
            if module is not None:
                yield module

    @cached_property
    def modules(self) -> list[Module]:
        """All of them."""
        return list(self.read())

    def find(self, name: str, near: Module) -> Module | None:
        """The project's module with the dotted `name`: beside the importing file, or under a known root."""
        beside = near.path.parent
        path = self.files.find(beside, name) or self.files.find_below_roots(name, beside)
        further = iter(self._further)
        while path is None and (root := next(further, None)) is not None:
            path = self.files.find(root, name) if root != beside else None
        return None if path is None else self._module_at(path)

    def _module_at(self, path: Path) -> Module | None:
        if path not in self._by_path:
            loaded = self.files.load(path)
            self.trouble += loaded.trouble
            self.failures += loaded.failures
            self._by_path[path] = None if loaded.file is None else self._made(loaded.file)
        return self._by_path[path]

    def _made(self, file: File) -> Module:
        name, root = self.files.dotted_name(file.source.path)
        if root not in self.files.roots and root not in self._further:
            self._further.append(root)
        return Module(self, file, name)

    def resolve_import(self, module: Module, binding: ImportOutline) -> Value:
        """The value that an import binds: of the project if it has the file, else a library's canonical name."""
        name = self._absolute(module, binding)
        if binding.whole:
            name = name.partition(".")[0]
        if binding.attribute is None or not name:
            return self._module_or_api(name or binding.attribute or "", module)
        source = self._module(name, module)
        if source is not None:
            return self.member(source, binding.attribute) or UNKNOWN
        return Api(api.canonical(f"{name}.{binding.attribute}"))

    def resolve_star(self, module: Module, binding: ImportOutline, name: str) -> Value | None:
        absolute = self._absolute(module, binding)
        source = self._module(absolute, module)
        if source is None:
            canonical = api.canonical(f"{absolute}.{name}")
            return Api(canonical) if api.known(canonical) or api.known_module(canonical) else None
        return None if source is module else source.lookup(name)

    def member(self, module: Module, name: str) -> Value | None:
        """An attribute of a module: what it binds, else its submodule."""
        found = module.lookup(name)
        if found is not None:
            return found
        inner = self._module(f"{module.name}.{name}", module) if module.path.name == "__init__.py" else None
        return ModuleValue(inner) if inner else None

    def _module(self, name: str, near: Module) -> Module | None:
        return None if not name or name.partition(".")[0] in _KNOWN_LIBRARIES else self.find(name, near)

    def _module_or_api(self, name: str, near: Module) -> Value:
        found = self._module(name, near)
        return ModuleValue(found) if found else Api(api.canonical(name))

    @staticmethod
    def _absolute(module: Module, binding: ImportOutline) -> str:
        if binding.level == 0:
            return binding.module
        package = module.name.split(".")
        drop = binding.level - (module.path.name == "__init__.py")
        base = package[: len(package) - drop] if drop else package
        return ".".join([*base, *([binding.module] if binding.module else [])])


def _literal(node: ast.expr) -> Static:
    """The value of a literal. What Python itself could not make, a dict with a list for a key, is none."""
    try:
        return Static(ast.literal_eval(node))
    except TypeError:
        return STATIC
