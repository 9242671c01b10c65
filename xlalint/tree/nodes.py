"""The nodes, named and built as in libcst. Parentheses, commas, comments and white space are not among them: `source`
knows the text, and `start` and `end` where in it a node stands.

Fields come in the order in which they stand in a program, so that `children` does, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .source import Text


class CSTVisitor:
    """Sees nodes from the outside in: `visit_Name` is called for each `Name`, .. and may return False to see nothing of
    what is inside."""


@dataclass(slots=True, eq=False)
class CSTNode:
    """A node. `start` and `end` are of the text: the line, times 2 ** 32, plus the column in bytes; 0: see `Text`."""

    source: Text = field(init=False, repr=False)
    start: int = field(init=False, repr=False)
    end: int = field(init=False, repr=False)
    inside: ClassVar[tuple[str, ...]] = ()  # the fields that hold nodes

    @property
    def children(self) -> list[CSTNode]:
        """The nodes directly inside, in the order of the source."""
        found: list[CSTNode] = []
        for name in self.inside:
            part = getattr(self, name)
            if part is None:
                continue
            if isinstance(part, CSTNode):
                found.append(part)
            else:
                found.extend(part)
        return found

    def visit(self, visitor: CSTVisitor) -> None:
        """Let a visitor see this node and what is in it."""
        pending: list[CSTNode] = [self]
        while pending:
            node = pending.pop()
            seen = getattr(visitor, f"visit_{type(node).__name__}", None)
            if seen is None or seen(node) is not False:
                pending.extend(reversed(node.children))

    def deep_equals(self, other: CSTNode) -> bool:
        """Whether two nodes are written alike."""
        return type(self) is type(other) and self.source.code(self) == other.source.code(other)


class BaseStatement(CSTNode):
    __slots__ = ()


class BaseSmallStatement(CSTNode):
    __slots__ = ()


class BaseCompoundStatement(BaseStatement):
    __slots__ = ()


class BaseSuite(CSTNode):
    __slots__ = ()
    body: Sequence[CSTNode]


class BaseExpression(CSTNode):
    __slots__ = ()


class BaseNumber(BaseExpression):
    __slots__ = ()


class BaseString(BaseExpression):
    __slots__ = ()


class BaseSlice(CSTNode):
    __slots__ = ()


class BaseElement(CSTNode):
    __slots__ = ()
    value: BaseExpression


# -- operators: one object of each kind --------------------------------------------------------------------------------


class BaseOperator(CSTNode):
    __slots__ = ()
    sign: ClassVar[str]


class BaseBinaryOp(BaseOperator):
    __slots__ = ()


class BaseUnaryOp(BaseOperator):
    __slots__ = ()


class BaseBooleanOp(BaseOperator):
    __slots__ = ()


class BaseCompOp(BaseOperator):
    __slots__ = ()


class BaseAugOp(BaseOperator):
    __slots__ = ()


class Add(BaseBinaryOp):
    __slots__ = ()
    sign = "+"


class Subtract(BaseBinaryOp):
    __slots__ = ()
    sign = "-"


class Multiply(BaseBinaryOp):
    __slots__ = ()
    sign = "*"


class Divide(BaseBinaryOp):
    __slots__ = ()
    sign = "/"


class FloorDivide(BaseBinaryOp):
    __slots__ = ()
    sign = "//"


class Modulo(BaseBinaryOp):
    __slots__ = ()
    sign = "%"


class Power(BaseBinaryOp):
    __slots__ = ()
    sign = "**"


class MatrixMultiply(BaseBinaryOp):
    __slots__ = ()
    sign = "@"


class LeftShift(BaseBinaryOp):
    __slots__ = ()
    sign = "<<"


class RightShift(BaseBinaryOp):
    __slots__ = ()
    sign = ">>"


class BitOr(BaseBinaryOp):
    __slots__ = ()
    sign = "|"


class BitAnd(BaseBinaryOp):
    __slots__ = ()
    sign = "&"


class BitXor(BaseBinaryOp):
    __slots__ = ()
    sign = "^"


class Plus(BaseUnaryOp):
    __slots__ = ()
    sign = "+"


class Minus(BaseUnaryOp):
    __slots__ = ()
    sign = "-"


class BitInvert(BaseUnaryOp):
    __slots__ = ()
    sign = "~"


class Not(BaseUnaryOp):
    __slots__ = ()
    sign = "not"


class And(BaseBooleanOp):
    __slots__ = ()
    sign = "and"


class Or(BaseBooleanOp):
    __slots__ = ()
    sign = "or"


class Equal(BaseCompOp):
    __slots__ = ()
    sign = "=="


class NotEqual(BaseCompOp):
    __slots__ = ()
    sign = "!="


class LessThan(BaseCompOp):
    __slots__ = ()
    sign = "<"


class LessThanEqual(BaseCompOp):
    __slots__ = ()
    sign = "<="


class GreaterThan(BaseCompOp):
    __slots__ = ()
    sign = ">"


class GreaterThanEqual(BaseCompOp):
    __slots__ = ()
    sign = ">="


class Is(BaseCompOp):
    __slots__ = ()
    sign = "is"


class IsNot(BaseCompOp):
    __slots__ = ()
    sign = "is not"


class In(BaseCompOp):
    __slots__ = ()
    sign = "in"


class NotIn(BaseCompOp):
    __slots__ = ()
    sign = "not in"


class AddAssign(BaseAugOp):
    __slots__ = ()
    sign = "+="


class SubtractAssign(BaseAugOp):
    __slots__ = ()
    sign = "-="


class MultiplyAssign(BaseAugOp):
    __slots__ = ()
    sign = "*="


class DivideAssign(BaseAugOp):
    __slots__ = ()
    sign = "/="


class FloorDivideAssign(BaseAugOp):
    __slots__ = ()
    sign = "//="


class ModuloAssign(BaseAugOp):
    __slots__ = ()
    sign = "%="


class PowerAssign(BaseAugOp):
    __slots__ = ()
    sign = "**="


class MatrixMultiplyAssign(BaseAugOp):
    __slots__ = ()
    sign = "@="


class LeftShiftAssign(BaseAugOp):
    __slots__ = ()
    sign = "<<="


class RightShiftAssign(BaseAugOp):
    __slots__ = ()
    sign = ">>="


class BitOrAssign(BaseAugOp):
    __slots__ = ()
    sign = "|="


class BitAndAssign(BaseAugOp):
    __slots__ = ()
    sign = "&="


class BitXorAssign(BaseAugOp):
    __slots__ = ()
    sign = "^="


# -- expressions -------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Name(BaseExpression):
    value: str


@dataclass(slots=True, eq=False)
class Ellipsis(BaseExpression):
    pass


@dataclass(slots=True, eq=False)
class Integer(BaseNumber):
    value: str
    evaluated_value: int


@dataclass(slots=True, eq=False)
class Float(BaseNumber):
    value: str
    evaluated_value: float


@dataclass(slots=True, eq=False)
class Imaginary(BaseNumber):
    value: str
    evaluated_value: complex


@dataclass(slots=True, eq=False)
class SimpleString(BaseString):
    """`value`: the literal as it is written."""

    value: str
    evaluated_value: str | bytes


@dataclass(slots=True, eq=False)
class ConcatenatedString(BaseString):
    """Literals one behind the other, with the expressions inside of them."""

    parts: Sequence[FormattedStringExpression] = ()
    inside: ClassVar[tuple[str, ...]] = ("parts",)


@dataclass(slots=True, eq=False)
class FormattedStringText(CSTNode):
    value: str


@dataclass(slots=True, eq=False)
class FormattedStringExpression(CSTNode):
    expression: BaseExpression
    format_spec: Sequence[FormattedStringText | FormattedStringExpression] | None = None
    inside: ClassVar[tuple[str, ...]] = ("expression", "format_spec")


@dataclass(slots=True, eq=False)
class FormattedString(BaseString):
    parts: Sequence[FormattedStringText | FormattedStringExpression]
    inside: ClassVar[tuple[str, ...]] = ("parts",)


@dataclass(slots=True, eq=False)
class Attribute(BaseExpression):
    value: BaseExpression
    attr: Name
    inside: ClassVar[tuple[str, ...]] = ("value", "attr")


@dataclass(slots=True, eq=False)
class Arg(CSTNode):
    value: BaseExpression
    keyword: Name | None = None
    star: str = ""
    inside: ClassVar[tuple[str, ...]] = ("keyword", "value")


@dataclass(slots=True, eq=False)
class Call(BaseExpression):
    func: BaseExpression
    args: Sequence[Arg] = ()
    inside: ClassVar[tuple[str, ...]] = ("func", "args")


@dataclass(slots=True, eq=False)
class Index(BaseSlice):
    value: BaseExpression
    star: str = ""
    inside: ClassVar[tuple[str, ...]] = ("value",)


@dataclass(slots=True, eq=False)
class Slice(BaseSlice):
    lower: BaseExpression | None
    upper: BaseExpression | None
    step: BaseExpression | None = None
    inside: ClassVar[tuple[str, ...]] = ("lower", "upper", "step")


@dataclass(slots=True, eq=False)
class SubscriptElement(CSTNode):
    slice: BaseSlice
    inside: ClassVar[tuple[str, ...]] = ("slice",)


@dataclass(slots=True, eq=False)
class Subscript(BaseExpression):
    value: BaseExpression
    slice: Sequence[SubscriptElement]
    inside: ClassVar[tuple[str, ...]] = ("value", "slice")


@dataclass(slots=True, eq=False)
class Element(BaseElement):
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("value",)


@dataclass(slots=True, eq=False)
class StarredElement(BaseElement, BaseExpression):
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("value",)


@dataclass(slots=True, eq=False)
class Tuple(BaseExpression):
    elements: Sequence[BaseElement]
    inside: ClassVar[tuple[str, ...]] = ("elements",)


@dataclass(slots=True, eq=False)
class List(BaseExpression):
    elements: Sequence[BaseElement]
    inside: ClassVar[tuple[str, ...]] = ("elements",)


@dataclass(slots=True, eq=False)
class Set(BaseExpression):
    elements: Sequence[BaseElement]
    inside: ClassVar[tuple[str, ...]] = ("elements",)


@dataclass(slots=True, eq=False)
class DictElement(CSTNode):
    key: BaseExpression
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("key", "value")


@dataclass(slots=True, eq=False)
class StarredDictElement(CSTNode):
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("value",)


@dataclass(slots=True, eq=False)
class Dict(BaseExpression):
    elements: Sequence[DictElement | StarredDictElement]
    inside: ClassVar[tuple[str, ...]] = ("elements",)


@dataclass(slots=True, eq=False)
class UnaryOperation(BaseExpression):
    operator: BaseUnaryOp
    expression: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("operator", "expression")


@dataclass(slots=True, eq=False)
class BinaryOperation(BaseExpression):
    left: BaseExpression
    operator: BaseBinaryOp
    right: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("left", "operator", "right")


@dataclass(slots=True, eq=False)
class BooleanOperation(BaseExpression):
    left: BaseExpression
    operator: BaseBooleanOp
    right: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("left", "operator", "right")


@dataclass(slots=True, eq=False)
class ComparisonTarget(CSTNode):
    operator: BaseCompOp
    comparator: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("operator", "comparator")


@dataclass(slots=True, eq=False)
class Comparison(BaseExpression):
    left: BaseExpression
    comparisons: Sequence[ComparisonTarget]
    inside: ClassVar[tuple[str, ...]] = ("left", "comparisons")


@dataclass(slots=True, eq=False)
class IfExp(BaseExpression):
    test: BaseExpression
    body: BaseExpression
    orelse: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("body", "test", "orelse")


@dataclass(slots=True, eq=False)
class NamedExpr(BaseExpression):
    target: BaseExpression
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("target", "value")


@dataclass(slots=True, eq=False)
class Await(BaseExpression):
    expression: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("expression",)


@dataclass(slots=True, eq=False)
class From(CSTNode):
    item: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("item",)


@dataclass(slots=True, eq=False)
class Yield(BaseExpression):
    value: BaseExpression | From | None = None
    inside: ClassVar[tuple[str, ...]] = ("value",)


@dataclass(slots=True, eq=False)
class Annotation(CSTNode):
    annotation: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("annotation",)


@dataclass(slots=True, eq=False)
class ParamStar(CSTNode):
    pass


@dataclass(slots=True, eq=False)
class Param(CSTNode):
    name: Name
    annotation: Annotation | None = None
    default: BaseExpression | None = None
    star: str = ""
    inside: ClassVar[tuple[str, ...]] = ("name", "annotation", "default")


@dataclass(slots=True, eq=False)
class Parameters(CSTNode):
    params: Sequence[Param] = ()
    star_arg: Param | ParamStar | None = None
    kwonly_params: Sequence[Param] = ()
    star_kwarg: Param | None = None
    posonly_params: Sequence[Param] = ()
    inside: ClassVar[tuple[str, ...]] = ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg")


@dataclass(slots=True, eq=False)
class Lambda(BaseExpression):
    params: Parameters
    body: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("params", "body")


@dataclass(slots=True, eq=False)
class CompIf(CSTNode):
    test: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("test",)


@dataclass(slots=True, eq=False)
class CompFor(CSTNode):
    target: BaseExpression
    iter: BaseExpression
    ifs: Sequence[CompIf] = ()
    inner_for_in: CompFor | None = None
    inside: ClassVar[tuple[str, ...]] = ("target", "iter", "ifs", "inner_for_in")


@dataclass(slots=True, eq=False)
class ListComp(BaseExpression):
    elt: BaseExpression
    for_in: CompFor
    inside: ClassVar[tuple[str, ...]] = ("elt", "for_in")


@dataclass(slots=True, eq=False)
class SetComp(BaseExpression):
    elt: BaseExpression
    for_in: CompFor
    inside: ClassVar[tuple[str, ...]] = ("elt", "for_in")


@dataclass(slots=True, eq=False)
class GeneratorExp(BaseExpression):
    elt: BaseExpression
    for_in: CompFor
    inside: ClassVar[tuple[str, ...]] = ("elt", "for_in")


@dataclass(slots=True, eq=False)
class DictComp(BaseExpression):
    key: BaseExpression
    value: BaseExpression
    for_in: CompFor
    inside: ClassVar[tuple[str, ...]] = ("key", "value", "for_in")


# -- statements --------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Module(CSTNode):
    body: Sequence[BaseStatement]
    inside: ClassVar[tuple[str, ...]] = ("body",)


@dataclass(slots=True, eq=False)
class SimpleStatementLine(BaseStatement):
    body: Sequence[BaseSmallStatement]
    inside: ClassVar[tuple[str, ...]] = ("body",)


@dataclass(slots=True, eq=False)
class SimpleStatementSuite(BaseSuite):
    body: Sequence[BaseSmallStatement]
    inside: ClassVar[tuple[str, ...]] = ("body",)


@dataclass(slots=True, eq=False)
class IndentedBlock(BaseSuite):
    body: Sequence[BaseStatement]
    inside: ClassVar[tuple[str, ...]] = ("body",)


@dataclass(slots=True, eq=False)
class Expr(BaseSmallStatement):
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("value",)


@dataclass(slots=True, eq=False)
class AssignTarget(CSTNode):
    target: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("target",)


@dataclass(slots=True, eq=False)
class Assign(BaseSmallStatement):
    targets: Sequence[AssignTarget]
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("targets", "value")


@dataclass(slots=True, eq=False)
class AnnAssign(BaseSmallStatement):
    target: BaseExpression
    annotation: Annotation
    value: BaseExpression | None = None
    inside: ClassVar[tuple[str, ...]] = ("target", "annotation", "value")


@dataclass(slots=True, eq=False)
class AugAssign(BaseSmallStatement):
    target: BaseExpression
    operator: BaseAugOp
    value: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("target", "operator", "value")


@dataclass(slots=True, eq=False)
class Return(BaseSmallStatement):
    value: BaseExpression | None = None
    inside: ClassVar[tuple[str, ...]] = ("value",)


@dataclass(slots=True, eq=False)
class Raise(BaseSmallStatement):
    exc: BaseExpression | None = None
    cause: From | None = None
    inside: ClassVar[tuple[str, ...]] = ("exc", "cause")


@dataclass(slots=True, eq=False)
class Assert(BaseSmallStatement):
    test: BaseExpression
    msg: BaseExpression | None = None
    inside: ClassVar[tuple[str, ...]] = ("test", "msg")


@dataclass(slots=True, eq=False)
class Del(BaseSmallStatement):
    target: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("target",)


@dataclass(slots=True, eq=False)
class Pass(BaseSmallStatement):
    pass


@dataclass(slots=True, eq=False)
class Break(BaseSmallStatement):
    pass


@dataclass(slots=True, eq=False)
class Continue(BaseSmallStatement):
    pass


@dataclass(slots=True, eq=False)
class NameItem(CSTNode):
    name: Name
    inside: ClassVar[tuple[str, ...]] = ("name",)


@dataclass(slots=True, eq=False)
class Global(BaseSmallStatement):
    names: Sequence[NameItem]
    inside: ClassVar[tuple[str, ...]] = ("names",)


@dataclass(slots=True, eq=False)
class Nonlocal(BaseSmallStatement):
    names: Sequence[NameItem]
    inside: ClassVar[tuple[str, ...]] = ("names",)


@dataclass(slots=True, eq=False)
class AsName(CSTNode):
    name: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("name",)


@dataclass(slots=True, eq=False)
class ImportAlias(CSTNode):
    """`evaluated_name`: what is imported, dotted; `evaluated_alias`: the name that it is given."""

    evaluated_name: str
    evaluated_alias: str | None = None


@dataclass(slots=True, eq=False)
class ImportStar(CSTNode):
    pass


@dataclass(slots=True, eq=False)
class Import(BaseSmallStatement):
    names: Sequence[ImportAlias]
    inside: ClassVar[tuple[str, ...]] = ("names",)


@dataclass(slots=True, eq=False)
class ImportFrom(BaseSmallStatement):
    """`module`: dotted; `level`: how many dots are before it."""

    module: str | None
    names: Sequence[ImportAlias] | ImportStar
    level: int = 0
    inside: ClassVar[tuple[str, ...]] = ("names",)


@dataclass(slots=True, eq=False)
class Else(CSTNode):
    body: BaseSuite
    inside: ClassVar[tuple[str, ...]] = ("body",)


@dataclass(slots=True, eq=False)
class If(BaseCompoundStatement):
    test: BaseExpression
    body: BaseSuite
    orelse: If | Else | None = None
    inside: ClassVar[tuple[str, ...]] = ("test", "body", "orelse")


@dataclass(slots=True, eq=False)
class For(BaseCompoundStatement):
    target: BaseExpression
    iter: BaseExpression
    body: BaseSuite
    orelse: Else | None = None
    inside: ClassVar[tuple[str, ...]] = ("target", "iter", "body", "orelse")


@dataclass(slots=True, eq=False)
class While(BaseCompoundStatement):
    test: BaseExpression
    body: BaseSuite
    orelse: Else | None = None
    inside: ClassVar[tuple[str, ...]] = ("test", "body", "orelse")


@dataclass(slots=True, eq=False)
class ExceptHandler(CSTNode):
    body: BaseSuite
    type: BaseExpression | None = None
    name: AsName | None = None
    inside: ClassVar[tuple[str, ...]] = ("type", "name", "body")


@dataclass(slots=True, eq=False)
class Finally(CSTNode):
    body: BaseSuite
    inside: ClassVar[tuple[str, ...]] = ("body",)


@dataclass(slots=True, eq=False)
class Try(BaseCompoundStatement):
    body: BaseSuite
    handlers: Sequence[ExceptHandler] = ()
    orelse: Else | None = None
    finalbody: Finally | None = None
    inside: ClassVar[tuple[str, ...]] = ("body", "handlers", "orelse", "finalbody")


@dataclass(slots=True, eq=False)
class TryStar(Try):
    pass


@dataclass(slots=True, eq=False)
class WithItem(CSTNode):
    item: BaseExpression
    asname: AsName | None = None
    inside: ClassVar[tuple[str, ...]] = ("item", "asname")


@dataclass(slots=True, eq=False)
class With(BaseCompoundStatement):
    items: Sequence[WithItem]
    body: BaseSuite
    inside: ClassVar[tuple[str, ...]] = ("items", "body")


@dataclass(slots=True, eq=False)
class Decorator(CSTNode):
    decorator: BaseExpression
    inside: ClassVar[tuple[str, ...]] = ("decorator",)


@dataclass(slots=True, eq=False)
class FunctionDef(BaseCompoundStatement):
    name: Name
    params: Parameters
    body: BaseSuite
    decorators: Sequence[Decorator] = ()
    returns: Annotation | None = None
    inside: ClassVar[tuple[str, ...]] = ("decorators", "name", "params", "returns", "body")


@dataclass(slots=True, eq=False)
class ClassDef(BaseCompoundStatement):
    name: Name
    body: BaseSuite
    bases: Sequence[Arg] = ()
    keywords: Sequence[Arg] = ()
    decorators: Sequence[Decorator] = ()
    inside: ClassVar[tuple[str, ...]] = ("decorators", "name", "bases", "keywords", "body")


# -- patterns: the names that they bind, and the values that they compare with -----------------------------------------


@dataclass(slots=True, eq=False)
class MatchPattern(CSTNode):
    """Any pattern that binds no name itself: what it compares with, and the patterns inside of it."""

    values: Sequence[BaseExpression] = ()
    patterns: Sequence[MatchPattern] = ()
    inside: ClassVar[tuple[str, ...]] = ("values", "patterns")


@dataclass(slots=True, eq=False)
class MatchAs(MatchPattern):
    """A pattern that gives its subject a name; `_` has none."""

    name: Name | None = None
    inside: ClassVar[tuple[str, ...]] = ("values", "patterns", "name")


@dataclass(slots=True, eq=False)
class MatchStar(MatchPattern):
    """The rest of a sequence."""

    name: Name | None = None
    inside: ClassVar[tuple[str, ...]] = ("name",)


@dataclass(slots=True, eq=False)
class MatchCase(CSTNode):
    pattern: MatchPattern
    body: BaseSuite
    guard: BaseExpression | None = None
    inside: ClassVar[tuple[str, ...]] = ("pattern", "guard", "body")


@dataclass(slots=True, eq=False)
class Match(BaseCompoundStatement):
    subject: BaseExpression
    cases: Sequence[MatchCase]
    inside: ClassVar[tuple[str, ...]] = ("subject", "cases")
