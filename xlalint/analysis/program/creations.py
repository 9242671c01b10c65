"""What the files of a program do with its classes: which they create and with which arguments, and where a class is
taken for something else, so that whoever has it may create more; of functions likewise, which pass on what they are
passed. From names and syntax, before anything is executed.
"""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from ...sources.outline import ClassOutline, FunctionOutline, ImportOutline, Outline, Stretch, bind_import
from ..domain.values import ModuleValue
from .creation_facts import (
    ANY_MODULE,
    OTHERS,
    SCRIPT,
    Argument,
    Constant,
    Creation,
    Key,
    Passed,
    is_given,
    is_made,
    is_set,
    is_taken,
    is_told,
    makes_its_kind,
)
from .definitions import DefinedClass, DefinedFunction
from .modules import ProjectModule
from .project import Project

_Meaning: TypeAlias = DefinedClass | DefinedFunction | ProjectModule | None  # what a name is of the project
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
# What nodes hold that has nothing inside, most of all positions; and the nodes that say something here.
_LEAVES: Final = frozenset((int, str, type(None), bool, float, ast.Load, ast.Store, ast.Del))
_TOLD: Final = frozenset(
    (
        ast.AnnAssign,
        ast.Assign,
        ast.Attribute,
        ast.Call,
        ast.ClassDef,
        ast.ExceptHandler,
        ast.Expr,
        ast.FunctionDef,
        ast.Import,
        ast.ImportFrom,
        ast.Name,
        ast.arg,
    )
)
_MOST_IMPORTS: Final = 8  # from one module to the next, until a name is found
_OPEN_SCOPES: Final = frozenset(("eval", "exec", "globals", "locals", "vars"))
_IMPORTERS: Final = frozenset(("import_module", "__import__"))
_ASKING: Final = frozenset(("isinstance", "issubclass", "super"))
# Keras creates what it was told of with what it was created with before.
_RESTORING: Final = frozenset(("custom_object_scope", "CustomObjectScope"))
_CUSTOM: Final = "get_custom_objects"


class Creations:
    """What some modules do with the classes and functions of the project. `facts`: what others may ask; `own`: what
    matters to these modules alone; `of`: the arguments of each creation, by the fact that there is one."""

    def __init__(self, project: Project, modules: Iterable[ProjectModule]) -> None:
        self.facts: set[Key] = set()
        self.own: set[Key] = set()
        self.of: dict[Key, list[Creation]] = {}
        read: set[ProjectModule] = set()
        called: set[DefinedFunction] = set()
        for module in modules:
            read.add(module)
            if not module.is_test:  # what tests pass is no matter of the program
                _Reader(project, module, self, called).read()
        self.facts.update(is_taken(function) for function in called if function.module not in read)

    def add(self, callee: DefinedClass | DefinedFunction, creation: Creation) -> None:
        """Note a call."""
        self.of.setdefault(is_made(callee), []).append(creation)
        facts = self.facts if isinstance(callee, DefinedClass) else self.own
        facts.add(is_made(callee))
        facts.update(is_given(callee, which) for which in creation)


class _Scope:
    """A stretch of code: a function, or statements of a module or class, `owner`."""

    def __init__(self, statements: Sequence[ast.stmt], function: DefinedFunction | None, owner: DefinedClass | None):
        self.statements, self.owner = statements, owner
        first = statements[0] if function is not None and statements else None
        self.node = first if isinstance(first, _FUNCTIONS) else None
        self.callee = owner if function is not None and function.name == "__init__" else function
        self.itself = _self_of(self.node) if owner is not None and self.node is not None else None
        self.imports = Outline()  # that stand inside

    @cached_property
    def _bound(self) -> Counter[str]:
        """The names that it binds, its parameters apart, and how often."""
        found = Counter[str]()
        for node in _nodes(self.statements):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    found[name] += 1
                case ast.Lambda(args=arguments) | ast.FunctionDef(args=arguments) if node is not self.node:
                    found.update(argument.arg for argument in _all_arguments(arguments))
        return found

    @cached_property
    def constants(self) -> Mapping[str, Constant]:
        """The names that a function binds once, whatever it does, to a constant."""
        found = {}
        for statement in () if self.node is None else self.node.body:
            match statement:
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Constant(value=bool() | int() | float() | str() as value)
                ) if self._bound[name] == 1 and name not in self._parameters:
                    found[name] = Constant(value)
        return found

    @cached_property
    def _parameters(self) -> frozenset[str]:
        found = () if self.node is None else _all_arguments(self.node.args)
        return frozenset(argument.arg for argument in found)

    def keeps(self, name: str) -> bool:
        """Whether a name is a parameter that stays what it is."""
        return name in self._parameters and name not in self._bound

    def binds(self, name: str) -> bool:
        """Whether a name is of this code."""
        return self.node is not None and (name in self._bound or name in self._parameters)


class _Reader:
    """Reads one module."""

    def __init__(self, project: Project, module: ProjectModule, found: Creations, called: set[DefinedFunction]) -> None:
        self._project, self._module, self._found, self._called = project, module, found, called
        self._names: dict[str, _Meaning] = {}
        self._kept: dict[DefinedClass, Mapping[str, str]] = {}

    def read(self) -> None:
        """Note what it does."""
        module = self._module
        for function in module.all_functions():
            assert function.stretch is not None
            owner = function.owner if isinstance(function.owner, DefinedClass) else None
            self._read(_Scope(self._statements(function.stretch), function, owner))
        for stretch in module.outline.code:
            self._read(_Scope(self._statements(stretch), None, None))
        for cls in module.classes:
            for stretch in cls.code:
                self._read(_Scope(self._statements(stretch), None, cls))
        if module.file.is_script:
            self._found.facts.add(SCRIPT)

    def _statements(self, stretch: Stretch) -> Sequence[ast.stmt]:
        found = self._module.file.statements(stretch)
        if found is None:
            self._found.facts.add(ANY_MODULE)
        return found or ()

    def _read(self, scope: _Scope) -> None:
        selves = {scope.itself}
        harmless: set[ast.AST] = set()
        for node in _nodes(scope.statements):
            if type(node) not in _TOLD or node in harmless:
                continue
            match node:
                case ast.Name(ctx=ast.Load()):
                    self._take(self._meaning(node, scope))
                case ast.Attribute(value=base, attr=name, ctx=ast.Store() | ast.Del()):
                    if not (isinstance(base, ast.Name) and base.id in selves):
                        self._found.facts.add(is_set(name))
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=name))):
                    if not (isinstance(base, ast.Name) and base.id in selves):
                        self._found.facts.add(is_told(name))
                case ast.Attribute(value=base, attr=name):
                    match self._meaning(base, scope):
                        case ProjectModule() as module if name != "__dict__":
                            harmless.update(_chain(base))
                            self._take(self._member(module, name, _MOST_IMPORTS))
                        case DefinedClass():
                            harmless.update(_chain(base))
                case ast.Call():
                    self._read_call(node, scope, harmless)
                case ast.Import() | ast.ImportFrom():
                    if scope.node is not None:
                        bind_import(node, scope.imports)
                case ast.AnnAssign(annotation=said) | ast.arg(annotation=ast.expr() as said):
                    harmless.update(ast.walk(said))
                case ast.FunctionDef(returns=ast.expr() as said) | ast.ExceptHandler(type=ast.expr() as said):
                    harmless.update(ast.walk(said))
                case ast.ClassDef(bases=bases, body=body):
                    harmless.update(part for base in bases for part in ast.walk(base))
                    selves.update(map(_self_of, body))
                case ast.Assign(targets=[ast.Subscript(value=ast.Call(func=called))]) if _last_name(called) == _CUSTOM:
                    harmless.update(ast.walk(node.value))

    def _read_call(self, node: ast.Call, scope: _Scope, harmless: set[ast.AST]) -> None:
        callee = self._meaning(node.func, scope)
        if isinstance(callee, DefinedClass | DefinedFunction):
            harmless.update(_chain(node.func))
            self._note(node, callee, scope)
        for keyword in node.keywords:
            if keyword.arg == "custom_objects":
                harmless.update(ast.walk(keyword.value))
        name, arguments = _last_name(node.func), (part for argument in node.args for part in ast.walk(argument))
        is_plain = callee is None and isinstance(node.func, ast.Name)
        if (is_plain and name in _ASKING) or name in _RESTORING or (name == "update" and _is_custom(node.func)):
            harmless.update(arguments)
        elif is_plain and name in _OPEN_SCOPES:
            self._take(self._module)
        elif name in _IMPORTERS and not all(isinstance(argument, ast.Constant) for argument in node.args):
            self._found.facts.add(ANY_MODULE)
        if scope.owner is not None and scope.node is not None and _makes_its_kind(scope.node, node.func):
            self._found.facts.add(makes_its_kind(scope.owner))

    def _note(self, node: ast.Call, callee: DefinedClass | DefinedFunction, scope: _Scope) -> None:
        """Note a call of a class or function of the project."""
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self._take(callee)
        given: dict[int | str, Argument] = {at: self._argument(value, scope) for at, value in enumerate(node.args)}
        for word in node.keywords:
            given[word.arg or OTHERS] = self._argument(word.value, scope) if word.arg else None
        self._found.add(callee, given)
        if isinstance(callee, DefinedFunction):
            self._called.add(callee)
        elif scope.node is None and scope.owner is None:
            self._found.facts.add(SCRIPT)

    def _take(self, meaning: _Meaning) -> None:
        """Note that somebody has a class or function, or all those of a module."""
        match meaning:
            case ProjectModule(outline=outline):
                for name in outline.bindings:
                    found = self._member(meaning, name, _MOST_IMPORTS)
                    if not isinstance(found, ProjectModule):
                        self._take(found)
            case DefinedClass() | DefinedFunction():
                self._found.facts.add(is_taken(meaning))

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _argument(self, node: ast.expr, scope: _Scope) -> Argument:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return Constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return Constant(-value)
            case ast.Name(id=name) if scope.callee is not None and scope.keeps(name):
                return Passed(scope.callee, name)
            case ast.Name(id=name) if name in scope.constants:
                return scope.constants[name]
            case ast.Name(id=name) if not scope.binds(name):
                return self._constant(self._module, name, _MOST_IMPORTS)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if scope.owner is not None:
                kept = self._kept_by(scope.owner) if name == scope.itself else {}
                return Passed(scope.owner, kept[attribute]) if attribute in kept else None
            case _:
                return None

    def _constant(self, module: ProjectModule, name: str, most: int) -> Constant | None:
        """The constant that a name of a module is, here or behind imports."""
        outline = module.outline
        if name in outline.assigned:
            return None
        match outline.bindings.get(name, ()), outline.literals.get(name):
            case (), ast.Constant(value=bool() | int() | float() | str() | None as value):
                return Constant(value)
            case [ImportOutline(attribute=str(inner)) as binding], None if most:
                source = self._project.module_imported(module, binding)
                return None if source is None else self._constant(source, inner, most - 1)
            case _:
                return None

    def _kept_by(self, cls: DefinedClass) -> Mapping[str, str]:
        """The attributes of an object that are what its constructor was passed, with the names of the parameters."""
        if cls not in self._kept:
            given: dict[str, str] = {}
            counts: dict[str, int] = {}
            for method in cls.functions.values():
                assert method.stretch is not None
                scope = _Scope(self._statements(method.stretch), method, cls)
                for node in _nodes(scope.statements):
                    match node:
                        case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store() | ast.Del()):
                            counts[attribute] = counts.get(attribute, 0) + (name == scope.itself)
                        case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=ast.Name(id=name)):
                            if method.name == "__init__" and scope.keeps(name):
                                given[attribute] = name
            self._kept[cls] = {attribute: name for attribute, name in given.items() if counts.get(attribute) == 1}
        return self._kept[cls]

    # -- names --------------------------------------------------------------------------------------------------------

    def _meaning(self, node: ast.expr, scope: _Scope) -> _Meaning:
        """What an expression names of the project."""
        match node:
            case ast.Name(id=name):
                if name in scope.imports.bindings:
                    return self._imported(self._module, scope.imports.bindings[name], _MOST_IMPORTS)
                if name not in self._names:
                    self._names[name] = self._member(self._module, name, _MOST_IMPORTS)
                return self._names[name]
            case ast.Attribute(value=base, attr=name):
                module = self._meaning(base, scope)
                return self._member(module, name, _MOST_IMPORTS) if isinstance(module, ProjectModule) else None
            case _:
                return None

    def _member(self, module: ProjectModule, name: str, most: int) -> _Meaning:
        """The same of a module's name, as its outline has it: nothing is executed."""
        outline = module.outline
        bindings = outline.bindings.get(name, ())
        for binding in reversed(bindings):
            match binding:
                case ClassOutline():
                    return next((cls for cls in reversed(module.classes) if cls.qualname == name), None)
                case FunctionOutline():
                    return next((made for made in reversed(module.functions) if made.name == name), None)
        if (found := self._imported(module, bindings, most)) is not None or bindings:
            return found
        if name in outline.assigned or name in outline.literals:
            return None
        for star in outline.stars:
            source = self._project.module_imported(module, star) if most else None
            found = None if source is None or source is module else self._member(source, name, most - 1)
            if found is not None:
                return found
        return self._project.submodule(module, name) if module.path.name == "__init__.py" else None

    def _imported(
        self, module: ProjectModule, bindings: Iterable[ImportOutline | FunctionOutline | ClassOutline], most: int
    ) -> _Meaning:
        for binding in bindings if most else ():
            if not isinstance(binding, ImportOutline):
                continue
            if binding.attribute is None:
                match self._project.resolve_import(module, binding):
                    case ModuleValue(ProjectModule() as inner):
                        return inner
                continue
            source = self._project.module_imported(module, binding)
            if source is None:
                return self._project.module_imported(module, binding, inside=True)
            if source is not module:
                return self._member(source, binding.attribute, most - 1)
        return None


def _nodes(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of some code, from the outside in; contexts and operators apart."""
    pending = deque(statements)
    while pending:
        node = pending.popleft()
        yield node
        for value in vars(node).values():
            kind = type(value)
            if kind is list:
                pending.extend(item for item in value if isinstance(item, ast.AST))
            elif kind not in _LEAVES and isinstance(value, ast.AST):
                pending.append(value)


def _all_arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None)


def _chain(node: ast.expr) -> Iterator[ast.expr]:
    """A dotted name, and what stands before each dot."""
    yield node
    if isinstance(node, ast.Attribute):
        yield from _chain(node.value)


def _self_of(node: ast.AST) -> str | None:
    """The first parameter of a method."""
    return node.args.args[0].arg if isinstance(node, _FUNCTIONS) and node.args.args else None


def _last_name(node: ast.expr) -> str:
    """The name of what is called, without what stands before its last dot."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_custom(node: ast.expr) -> bool:
    """Whether what is called is a method of Keras's table of custom objects."""
    match node:
        case ast.Attribute(value=ast.Call(func=called)):
            return _last_name(called) == _CUSTOM
        case _:
            return False


def _makes_its_kind(method: _Function, called: ast.expr) -> bool:
    """Whether what a method calls is the class that it is called on: `cls`, `type(self)`, `self.__class__`. Keras gives
    `from_config` what an object was created with."""
    match called:
        case ast.Name(id=name):
            is_class = any(isinstance(part, ast.Name) and part.id == "classmethod" for part in method.decorator_list)
            found = is_class and method.name != "from_config"
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]):
            found = True
        case ast.Attribute(value=ast.Name(id=name), attr="__class__"):
            found = True
        case _:
            return False
    return found and name == _self_of(method)
