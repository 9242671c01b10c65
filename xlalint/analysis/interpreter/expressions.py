"""What each expression evaluates to: names, literals, lambdas, attributes, and the arguments of calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from ...syntax import nodes as cst
from ..domain.joins import join_all
from ..domain.kinds import as_tensor, options
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    ApiObject,
    Deferred,
    Dependence,
    Dict,
    FunctionValue,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Value,
)
from ..library.call_kinds import COROUTINE
from ..library.local_paths import continued, unknown_text
from ..library.tokenizers import torch_in
from ..program.definitions import DefinedFunction
from .annotations import PROMISED
from .changed_outside import report_changed
from .contexts import ContextKind
from .events import ReadInt32
from .frames import Arguments, Frame
from .host_reads import report_formatted, report_text
from .interface import Handlers, Interpreter
from .shared_variables import report_shared

_ESCAPES: Final = frozenset("{}\\")
_CONSTANTS: Final = {"None": NONE, "True": Static(True), "False": Static(False)}


class Expressions(Interpreter):
    """What each expression evaluates to."""

    def evaluate(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """The value of an expression; says on the way what it does."""
        handler = self.EXPRESSIONS.get(type(node))
        return handler(self, frame, node) if handler is not None else UNKNOWN

    def _name(self, frame: Frame, node: cst.Name) -> Value:
        name = node.value
        if frame.env is not None and not frame.unjoined and name not in frame.globals:
            found = frame.env.get(name)
            if found is not None and type(found) is not Deferred:
                return found  # most names are the function's own
        if (constant := _CONSTANTS.get(name)) is not None:
            return constant
        self.report_unjoined(frame, name)
        value = self.lookup(frame, name)
        return self.undefined(frame, name) if value is None else self._used(frame, node, value)

    def _used(self, frame: Frame, node: cst.Name | cst.Attribute, value: Value) -> Value:
        """What comes from outside of the function."""
        if type(value) is Tensor and value.int32 is not None and frame.context.kind is ContextKind.XLA:
            self.emit(frame, ReadInt32, node, created=value.int32)
        may_change = type(value) is OneOf or (type(value) is Static and bool(value.varies))
        if may_change and frame.context.becomes_graph:
            report_changed(self, frame, node, value)
        return value

    def _literal(self, frame: Frame, node: cst.Integer | cst.Float | cst.SimpleString) -> Value:
        return Static(node.evaluated_value)

    def _static_text(self, frame: Frame, node: cst.FormattedString | cst.ConcatenatedString | cst.Ellipsis) -> Value:
        path: Value | None = None
        if isinstance(node, cst.FormattedString):
            for part in node.parts:
                if isinstance(part, cst.FormattedStringText):
                    path = continued(path, Static(part.value))
                elif isinstance(part, cst.FormattedStringExpression):
                    value = self.evaluate(frame, part.expression)
                    path = continued(path, value)
                    # `f"{t}"` prints the symbolic tensor; a format specification asks for its number.
                    if part.format_spec and as_tensor(value, Dependence.STATIC):
                        self.note_eager_read(frame, value)
                        report_formatted(self, frame, value, part.expression)
                    else:
                        report_text(self, frame, [value], part.expression)
        return STATIC if path is None else unknown_text(path)

    def evaluate_name(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """The value of an expression that names something, an attribute or a key: text is put together for it."""
        value = self.evaluate(frame, node)
        return Static(text) if (text := self._text(frame, node)) is not None else value

    def _text(self, frame: Frame, node: cst.BaseExpression) -> str | None:
        """The text that an f-string comes to, where all of its parts are known. Elsewhere it is no value: names of
        layers are made so, and each would have the functions that it is passed to analysed once more."""
        if not isinstance(node, cst.FormattedString):
            return None
        made: list[str] = []
        for part in node.parts:
            match part:
                case cst.FormattedStringText(value=text) if not _ESCAPES & set(text):
                    made.append(text)
                case cst.FormattedStringExpression(
                    expression=cst.Name() | cst.Attribute() as inner, conversion=None, format_spec=None
                ):
                    match self.evaluate(frame, inner):
                        case Static(str() | int() as constant):
                            made.append(str(constant))
                        case _:
                            return None
                case _:
                    return None
        return "".join(made)

    def _walrus(self, frame: Frame, node: cst.NamedExpr) -> Value:
        value = self.evaluate(frame, node.value)
        self.assign(frame, node.target, value)
        return value

    def _await(self, frame: Frame, node: cst.Await) -> Value:
        """What a coroutine returns; a list of what several do is one already."""
        awaited = self.evaluate(frame, node.expression)
        found = [it.payload if isinstance(it, ApiObject) and it.api == COROUTINE else it for it in options(awaited)]
        return join_all(*(UNKNOWN if it is None else it for it in found))

    def _yield(self, frame: Frame, node: cst.Yield) -> Value:
        frame.unsure_yields |= bool(frame.conditional or frame.branch or frame.loop or frame.python_loop)
        frame.summary.yields_in.append(frame.context.scope)
        match node.value:
            case cst.From(item=item):
                given = self.evaluate(frame, item)
                match self.iterate(frame, given, item, "list"):
                    case Sequence(items=tuple(items)):
                        frame.yields += items
                    case several:
                        frame.unsure_yields = True
                        frame.yields.append(self.element(frame, several, item))
                if isinstance(given, Sequence) and given.left is not None:
                    return given.left
            case cst.BaseExpression() as value:
                frame.yields.append(self.evaluate(frame, value))
            case None:
                frame.yields.append(NONE)
        return UNKNOWN

    def _lambda(self, frame: Frame, node: cst.Lambda) -> Value:
        name = "<lambda>"
        qualname = f"{frame.summary.name}.{name}" if frame.function else name
        function = DefinedFunction(frame.module, name, qualname, _unit=frame.unit, _node=node)
        return self.remember_local(frame, FunctionValue(function, frame))

    def remember_local(self, frame: Frame, value: FunctionValue) -> FunctionValue:
        """A function made inside another: analysed on its own later, should nobody be seen to call it."""
        if not frame.module.written:
            self.orphans.append((value, frame.context))
        return value

    def _attribute(self, frame: Frame, node: cst.Attribute) -> Value:
        owner = self.evaluate(frame, node.value)
        value = self.attribute(frame, owner, node.attr.value, node)
        if self.strategies:
            report_shared(self, frame, owner, value, node)
        return self._used(frame, node, value)

    def _call(self, frame: Frame, node: cst.Call) -> Value:
        self.clock.check()
        callee = self.evaluate(frame, node.func)
        return self.call(frame, callee, self.evaluate_arguments(frame, node.args), node)

    def evaluate_arguments(self, frame: Frame, args: Iterable[cst.Arg]) -> Arguments:
        """The arguments of a call, unpacked as far as their lengths are known."""
        positional: list[Value] = []
        nodes: list[cst.BaseExpression] = []
        keywords: dict[str, Value] = {}
        keyword_nodes: dict[str, cst.BaseExpression] = {}
        rest: Value | None = None
        rest_keywords: Value | None = None
        trailing: list[Value] = []
        trailing_nodes: list[cst.BaseExpression] = []
        for arg in args:
            value = self.evaluate(frame, arg.value)
            if not arg.star:
                if arg.keyword is not None:
                    keywords[arg.keyword.value] = value
                    keyword_nodes[arg.keyword.value] = arg.value
                elif rest is None:
                    positional.append(value)
                    nodes.append(arg.value)
                else:
                    trailing.append(value)
                    trailing_nodes.append(arg.value)
                continue
            self.refute_tensor(frame, value)
            if value == PROMISED:
                value = UNKNOWN  # the code contradicts the annotation: people pass no rows of a tensor as arguments
            if arg.star == "*":
                match self.iterate(frame, value, arg.value, "star"):
                    case Sequence(items=tuple(items)) if rest is None:
                        positional += items
                        nodes += [arg.value] * len(items)
                    case inner:
                        rest = self.element(frame, inner, arg.value)
                        trailing, trailing_nodes = [], []
            elif isinstance(value, Dict):
                keywords |= {key: item for key, item in value.entries.items() if isinstance(key, str)}
                rest_keywords = value.element or rest_keywords
            else:
                rest_keywords = value if isinstance(value, Structure) else torch_in(value) or UNKNOWN
        return Arguments(
            positional,
            keywords,
            rest,
            rest_keywords,
            nodes=nodes,
            keyword_nodes=keyword_nodes,
            trailing=trailing,
            trailing_nodes=trailing_nodes,
        )

    EXPRESSIONS: ClassVar[Handlers[Value]] = {
        cst.Name: _name,
        cst.Integer: _literal,
        cst.Float: _literal,
        cst.Imaginary: _literal,
        cst.SimpleString: _literal,
        cst.FormattedString: _static_text,
        cst.ConcatenatedString: _static_text,
        cst.NamedExpr: _walrus,
        cst.Await: _await,
        cst.Yield: _yield,
        cst.Lambda: _lambda,
        cst.Attribute: _attribute,
        cst.Call: _call,
        cst.Ellipsis: lambda self, frame, node: Static(...),
    }
