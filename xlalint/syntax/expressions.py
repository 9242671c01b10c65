"""The nodes of expressions, of what they are made of, and of the parameters of functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .base import BaseElement, BaseExpression, BaseNumber, BaseSlice, BaseString, CSTNode
from .operators import BaseBinaryOp, BaseBooleanOp, BaseCompOp, BaseUnaryOp


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
