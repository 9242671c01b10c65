"""The texts that a rewrite by the analysis puts in: edits by node, and statements before others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..names import Names
from ..rewrite import GivenUp, NodeEdit, after, before, remove, replace
from ..syntax import plain
from .program import Program

_WORD: Final = re.compile(r"[^\W\d]\w*")
_ATOMS: Final = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Tuple)
_BREAK: Final = re.compile(r"\s*[\r\n]\s*")
_INSIDE: Final = re.compile(r"(?<=[(\[{])\s*[\r\n]\s*|,?\s*[\r\n]\s*(?=[)\]}])")
_LATER: Final = (cst.Lambda, cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp, cst.IfExp, cst.BooleanOperation)


def atom(text: str) -> str:
    """An expression as it may stand beside an operator or a dot."""
    try:
        found = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise GivenUp from error
    if text[0] == "(":
        match ast.parse(f"{text}.x", mode="eval").body:
            case ast.Attribute(value=whole) if ast.dump(whole) == ast.dump(found):
                return text  # in parentheses
    return text if isinstance(found, _ATOMS) and not (isinstance(found, ast.Tuple) and text[0] != "(") else f"({text})"


class Writing:
    """What a pass over a function changes. `kept`: the names that passes share, so that each gives the same."""

    def __init__(self, program: Program, names: Names, kept: dict[tuple[int, str], str]) -> None:
        self.program, self.tf = program, names.tf
        self._names, self._kept = names, kept
        self._texts: dict[cst.CSTNode, str] = {}
        self._lines: dict[cst.CSTNode, list[str]] = {}
        self._parameters: dict[cst.CSTNode, list[str]] = {}
        self._arguments: dict[cst.CSTNode, dict[str, str]] = {}
        self.differs: dict[str, None] = {}
        self.has_reduced = False

    def fresh(self, node: cst.CSTNode, wanted: str) -> str:
        """A new name for something that stands at a node."""
        if (id(node), wanted) not in self._kept:
            around = [one for one in (node, *self.program.around(node)) if isinstance(one, cst.FunctionDef)]
            words = {one.value for one in cst.within(around[-1]) if isinstance(one, cst.Name)} if around else set()
            words |= {name for (at, _), name in self._kept.items() if at != id(node)}
            name, number = wanted, 1
            while name in words:
                number += 1
                name = f"{wanted}_{number}"
            self._kept[id(node), wanted] = name
        return self._kept[id(node), wanted]

    def put(self, node: cst.CSTNode, text: str) -> None:
        """Write something instead of an expression. What is written inside of it no longer counts."""
        self._texts[node] = text

    def is_changed(self, node: cst.CSTNode) -> bool:
        return any(one in self._texts for one in cst.within(node))

    def text(self, node: cst.BaseExpression) -> str:
        """An expression as it will be written."""
        if node in self._texts:
            return self._texts[node]
        changed = {one: atom(text) for one, text in self._outermost(node)}
        for call in cst.within(node):
            if call in self._arguments and not any(call is not one and call in {*cst.within(one)} for one in changed):
                raise GivenUp  # an argument more, inside of something that is written anew
        if not changed:
            return plain(node)
        text = cst.text_of(node).replaced(node, changed)
        return _BREAK.sub(" ", _INSIDE.sub("", text)) if "\n" in text and "#" not in text else text

    def operand(self, node: cst.BaseExpression) -> str:
        return atom(self.text(node))

    def _outermost(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, str]]:
        for child in node.children:
            if child in self._texts:
                yield child, self._texts[child]
            else:
                yield from self._outermost(child)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The line around a node, where it is computed once and for certain."""
        for around in self.program.around(node):
            if isinstance(around, cst.SimpleStatementLine):
                return around
            if isinstance(around, _LATER):
                return None
            if isinstance(around, cst.BaseCompoundStatement):
                return None
        return None

    def named(self, node: cst.CSTNode, wanted: str, text: str) -> str:
        """A name for a text before the statement around a node; the text itself where no name could stand. The same
        text has one name there."""
        line = self.statement(node)
        if line is None:
            return atom(text)
        lines = self._lines.setdefault(line, [])
        for known in lines:
            name, _, named = known.partition(" = ")
            if named == text:
                return name
        name = self.fresh(node, wanted)
        lines.append(f"{name} = {text}")
        return name

    def parameter(self, function: cst.FunctionDef, call: cst.Call, name: str, text: str) -> None:
        """Give a function one more argument at a call."""
        parameters = function.params
        if parameters.star_kwarg is not None or isinstance(parameters.star_arg, cst.Param) or parameters.kwonly_params:
            raise GivenUp
        if name not in self._parameters.setdefault(function, []):
            self._parameters[function].append(name)
        self._arguments.setdefault(call, {})[name] = text

    @property
    def widened(self) -> set[cst.CSTNode]:
        """The functions that have got parameters."""
        return set(self._parameters)

    def touched(self, node: cst.CSTNode) -> dict[cst.CSTNode, str]:
        """What is changed inside of a node."""
        return {one: self._texts[one] for one in cst.within(node) if one in self._texts}

    def edits(self) -> Iterator[NodeEdit]:
        """All edits."""
        where = self.program.location
        for line, texts in self._lines.items():
            yield before(where(line), "\n".join(texts))
        outermost = [node for node in self._texts if not any(one in self._texts for one in self.program.around(node))]
        for node in outermost:
            text, statement = self._texts[node], next(self.program.around(node))
            match statement:
                case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if (
                    value is node and plain(target) == text and self._is_alone(statement)
                ):
                    yield remove(where(statement))
                case _:
                    yield replace(where(node), text)
        inside = {one for node in outermost for one in cst.within(node)}
        for call, added in self._arguments.items():
            if call in inside:
                raise GivenUp
            assert isinstance(call, cst.Call)
            if not call.args:
                raise GivenUp
            yield after(where(call.args[-1]), "".join(f", {name}={text}" for name, text in added.items()))
        for function, parameters in self._parameters.items():
            assert isinstance(function, cst.FunctionDef)
            last = function.params.params[-1]
            yield after(where(last), "".join(f", {name}=None" for name in parameters))

    def _is_alone(self, statement: cst.CSTNode) -> bool:
        line = next(self.program.around(statement))
        block = next(self.program.around(line))
        return (
            isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and isinstance(block, cst.IndentedBlock | cst.Module)
            and len(block.body) > 1
        )
