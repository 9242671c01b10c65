"""What the names of a file stand for, as far as the file itself tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ...analysis.files.file import File
from ...analysis.files.unit import Location, Unit
from ...facts.names import canonical
from ...sources.outline import ClassOutline, FunctionOutline, ImportOutline, Stretch
from ...syntax import nodes as cst
from ..known import dotted
from ..rewrite import GivenUp
from ..syntax import plain
from .states import Function

_HOMES: Final = ("tf.compat.v1.", "tf.math.", "tf.", "keras.backend.", "keras.ops.")


class Program:
    """The definitions of a file, each parsed when it is asked for, and the other names of what they import."""

    def __init__(self, location: Location) -> None:
        self._file = location.unit.file
        self._units: dict[int, Unit] = {}
        self._know(location.unit)
        outline = self._file.outline
        self._outlines = {name: found[-1] for name, found in outline.bindings.items() if found}
        self._lambdas: dict[str, Function] = {}
        self._aliases: dict[str, str] = {}
        self._owners = {
            function.stretch.first: name
            for name, cls in self._outlines.items()
            if isinstance(cls, ClassOutline)
            for function in cls.functions.values()
        }
        for name, found in self._outlines.items():
            if isinstance(found, ImportOutline) and not found.level:
                path = found.module if found.attribute is None else f"{found.module}.{found.attribute}"
                self._aliases[name] = path.partition(".")[0] if found.whole else path
        for stretch in outline.code:
            for statement in _statements(self._unit(stretch).body):
                match statement:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=cst.Lambda() as value):
                        self._lambdas[name] = value
                    case _:
                        self._aliases |= aliases_of(statement)

    def _know(self, unit: Unit) -> Unit:
        self._units[id(cst.text_of(unit.tree))] = unit
        return unit

    def _unit(self, stretch: Stretch) -> Unit:
        """The tree of a stretch. Raises `GivenUp` where it has none."""
        if not isinstance(self._file, File):
            raise GivenUp
        try:
            return self._know(self._file.unit(stretch))
        except (SyntaxError, RecursionError, ValueError) as error:
            raise GivenUp from error

    def location(self, node: cst.CSTNode) -> Location:
        return Location(self._units[id(cst.text_of(node))], node)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node stands in, from the inside out, up to its definition."""
        return self._units[id(cst.text_of(node))].around(node)

    def function(self, name: str) -> Function | None:
        """A function of the module."""
        match self._outlines.get(name):
            case FunctionOutline(stretch=stretch):
                return self._defined(stretch)
            case _:
                return self._lambdas.get(name)

    def _defined(self, stretch: Stretch) -> cst.FunctionDef | None:
        found = [one for one in self._unit(stretch).body if isinstance(one, cst.FunctionDef)]
        return found[-1] if found else None

    def defines(self, name: str) -> bool:
        """Whether a name is a function or a class of the module."""
        return self.is_class(name) or self.function(name) is not None

    def is_class(self, name: str) -> bool:
        return isinstance(self._outlines.get(name), ClassOutline)

    def function_around(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        return next((one for one in self.around(node) if isinstance(one, cst.FunctionDef)), None)

    def class_around(self, function: cst.CSTNode) -> str | None:
        """The class whose method a function is."""
        if any(isinstance(one, cst.FunctionDef | cst.Lambda) for one in self.around(function)):
            return None
        return self._owners.get(self.location(function).unit.first_line)

    def member(self, cls: str, name: str) -> cst.CSTNode | None:
        """What a class of the file, or an ancestor in the file, has under a name."""
        found = self._outlines.get(cls)
        if not isinstance(found, ClassOutline):
            return None
        if name in found.functions:
            return self._defined(found.functions[name].stretch)
        created = self._defined(found.functions["__init__"].stretch) if "__init__" in found.functions else None
        if created is not None and (made := _attribute_of(created, name)) is not None:
            return made
        for stretch in found.code:
            for statement in _statements(self._unit(stretch).body):
                match statement:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(own))], value=value) if own == name:
                        match value:
                            case cst.Call(func=cst.Name("staticmethod"), args=[cst.Arg(value=inner)]):
                                return inner
                        return value
        inherited = (self.member(base, name) for base in found.bases if base != cls)
        return next((one for one in inherited if one is not None), None)

    def methods(self, cls: str) -> Iterator[cst.FunctionDef]:
        """The methods of a class."""
        match self._outlines.get(cls):
            case ClassOutline(functions=functions):
                for function in functions.values():
                    if (found := self._defined(function.stretch)) is not None:
                        yield found

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

    def calls(self, name: str) -> list[cst.Call]:
        """The calls of what has this name, on its own or as an attribute."""
        return [call for unit in self._holding(name) for call in unit.calls.get(name, ())]

    def mentions(self, name: str) -> int:
        """How often a name stands anywhere."""
        nodes = chain.from_iterable(cst.within(unit.tree) for unit in self._holding(name))
        return sum(isinstance(node, cst.Name) and node.value == name for node in nodes)

    def _holding(self, name: str) -> Iterator[Unit]:
        """The definitions that hold a word."""
        if isinstance(self._file, File):
            yield from map(self._unit, self._file.holding(name))


def _attribute_of(function: cst.FunctionDef, name: str) -> cst.BaseExpression | None:
    """What a method makes an attribute of its object, once and in a statement of its own."""
    found = [
        statement.value
        for statement in _statements(function.body.body)
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


def _statements(body: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    for line in body:
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
