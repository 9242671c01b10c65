"""The nodes of statements and of patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .base import BaseCompoundStatement, BaseExpression, BaseSmallStatement, BaseStatement, BaseSuite, CSTNode
from .expressions import Annotation, Arg, From, Name, Parameters
from .operators import BaseAugOp


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
