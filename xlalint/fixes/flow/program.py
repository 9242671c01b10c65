"""A file as one tree, and what its names stand for as far as the file itself tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from ...analysis.files.unit import Location, Unit, UnitFile
from ...facts.names import canonical
from ...sources.outline import Stretch
from ...syntax import nodes as cst
from ..known import dotted
from ..syntax import plain
from .states import Function

_LATEST: Final[list[Program]] = []  # findings come by file
_HOMES: Final = ("tf.compat.v1.", "tf.math.", "tf.", "keras.backend.", "keras.ops.")


class Program:
    """The definitions of a file, and the other names of what they import."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, cst.ClassDef] = {}
        self._aliases: dict[str, str] = {}
        for line in unit.body:
            for statement in line.body if isinstance(line, cst.SimpleStatementLine) else [line]:
                self._note(statement)

    def _note(self, statement: cst.CSTNode) -> None:
        match statement:
            case cst.FunctionDef(name=cst.Name(name)):
                self.functions[name] = statement
            case cst.ClassDef(name=cst.Name(name)):
                self.classes[name] = statement
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=cst.Lambda() as value):
                self.functions[name] = value
            case _:
                self._aliases |= aliases_of(statement)

    def located(self, location: Location) -> cst.CSTNode | None:
        """The node that stands where a location is."""
        wanted, kind = location.span, type(location.node)
        pending: list[cst.CSTNode] = [self.unit.tree]
        while pending:
            node = pending.pop()
            if isinstance(node, cst.BaseExpression | cst.BaseStatement | cst.BaseSmallStatement):
                span = self.unit.span(node)
                if span == wanted and type(node) is kind:
                    return node
                if span[2:] < wanted[:2] or span[:2] > wanted[2:]:
                    continue
            pending.extend(node.children)
        return None

    def function_around(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        return next((one for one in self.unit.around(node) if isinstance(one, cst.FunctionDef)), None)

    def class_around(self, function: cst.CSTNode) -> str | None:
        """The class whose method a function is."""
        for node in self.unit.around(function):
            match node:
                case cst.ClassDef(name=cst.Name(name)):
                    return name
                case cst.FunctionDef() | cst.Lambda():
                    return None
        return None

    def member(self, cls: str, name: str) -> cst.CSTNode | None:
        """What a class of the file, or an ancestor in the file, has under a name."""
        found = self.classes.get(cls)
        if found is None:
            return None
        for statement in _statements(found.body):
            match statement:
                case cst.FunctionDef(name=cst.Name(own)) if own == name:
                    return statement
                case cst.FunctionDef(name=cst.Name("__init__")) as created if (
                    made := _attribute_of(created, name)
                ) is not None:
                    return made
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(own))], value=value) if own == name:
                    match value:
                        case cst.Call(func=cst.Name("staticmethod"), args=[cst.Arg(value=inner)]):
                            return inner
                    return value
        for base in found.bases:
            if (parent := dotted(base.value)) is not None and (inherited := self.member(parent, name)) is not None:
                return inherited
        return None

    def api(self, path: str, local: dict[str, str]) -> str | None:
        """The canonical name of what a dotted name stands for, if it is a library's."""
        for _ in range(5):
            head = next((one for one in _heads(path) if one in local or one in self._aliases), None)
            if head is None:
                break
            path = (local.get(head) or self._aliases[head]) + path[len(head) :]
            if path.partition(".")[0] in ("tensorflow", "keras", "numpy", "tf_keras", "functools"):
                break
        else:
            return None
        found = canonical(path)
        return found if found.startswith(("tf.", "keras.", "np.", "tnp.", "functools.")) else None

    @cached_property
    def calls(self) -> dict[str, list[cst.Call]]:
        """The calls of the file by the last part of what is called."""
        found: dict[str, list[cst.Call]] = {}
        for node in cst.within(self.unit.tree):
            match node:
                case cst.Call(func=cst.Name(name) | cst.Attribute(attr=cst.Name(name))):
                    found.setdefault(name, []).append(node)
        return found

    @cached_property
    def mentions(self) -> dict[str, int]:
        """How often each name is read, on its own or as an attribute."""
        found: dict[str, int] = {}
        for node in cst.within(self.unit.tree):
            if isinstance(node, cst.Name):
                found[node.value] = found.get(node.value, 0) + 1
        return found


def _attribute_of(function: cst.FunctionDef, name: str) -> cst.BaseExpression | None:
    """What a method makes an attribute of its object, once and in a statement of its own."""
    found = [
        statement.value
        for statement in _statements(function.body)
        if isinstance(statement, cst.Assign)
        and any(dotted(target.target) == f"self.{name}" for target in statement.targets)
    ]
    return found[0] if len(found) == 1 else None


def aliases_of(statement: cst.CSTNode) -> dict[str, str]:
    """The names that a statement gives to what other modules have."""
    match statement:
        case cst.Import(names=names):
            found = {}
            for one in names:
                path = dotted(one.name) or ""
                if one.asname is not None:
                    found[dotted(one.asname.name) or ""] = path
                else:
                    found[path.partition(".")[0]] = path.partition(".")[0]
            return found
        case cst.ImportFrom(module=module, names=[*names], relative=[]) if module is not None:
            front = dotted(module) or ""
            return {
                (dotted(one.asname.name) if one.asname is not None else dotted(one.name))
                or "": f"{front}.{dotted(one.name)}"
                for one in names
            }
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            match target, value:
                case cst.Tuple(elements=targets), cst.Tuple(elements=values) if len(targets) == len(values):
                    pairs = [(one.value, other.value) for one, other in zip(targets, values, strict=True)]
                case _:
                    pairs = [(target, value)]
            named = ((dotted(one), dotted(other)) for one, other in pairs)
            return {
                one: other for one, other in named if one is not None and other is not None and "." in f"{one}.{other}"
            }
        case _:
            return {}


def short(api: str) -> str:
    """A function's name without the module that it is in: `reduce_sum`, `sum` of Keras's own."""
    return next((api.removeprefix(home) for home in _HOMES if api.startswith(home)), api)


def program_of(file: UnitFile) -> Program:
    if not _LATEST or _LATEST[0].unit.file is not file:
        _LATEST[:] = [Program(Unit(file, Stretch(1, file.text.count("\n") + 1)))]
    return _LATEST[0]


def _statements(body: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    for line in body.body:
        yield from line.body if isinstance(line, cst.SimpleStatementLine) else [line]


def _heads(path: str) -> Iterator[str]:
    """The beginnings of a dotted name, the longest first."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def parameters(function: Function) -> Sequence[cst.Param]:
    """The parameters of a function that have names, in order."""
    given = function.params
    return [*given.posonly_params, *given.params, *given.kwonly_params]


def is_static(function: cst.FunctionDef) -> bool:
    """Whether a method is not passed its object."""
    return any(plain(one.decorator) == "staticmethod" for one in function.decorators)


def expressions(node: cst.CSTNode) -> Sequence[cst.BaseExpression]:
    """The outermost expressions in a node."""
    if isinstance(node, cst.BaseExpression):
        return [node]
    return [part for child in node.children for part in expressions(child)]
