"""libcst's nodes. Those of the trees that `build` makes are of subclasses of libcst's (`kinds`), which have the names
here: to ask whether a node is a `Call`, this module and libcst are the same. Parentheses, commas, comments and white
space are not filled as they are built: `text_of` has the text, and where in it a node stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from typing import TypeAlias as Alias

from .kinds import SourceText as SourceText
from .kinds import fields_of as fields_of
from .kinds import is_located as is_located
from .kinds import text_of as text_of
from .written import imported_from as imported_from

if TYPE_CHECKING:
    from libcst import *  # noqa: F403
    from libcst import BaseAugOp, BaseBinaryOp, BaseBooleanOp, BaseCompOp, BaseUnaryOp
else:
    import libcst

    from .kinds import KINDS

    globals().update({name: KINDS.get(name, getattr(libcst, name)) for name in libcst.__all__})

BaseOperator: Alias = BaseAugOp | BaseBinaryOp | BaseBooleanOp | BaseCompOp | BaseUnaryOp


def within(node: CSTNode) -> Iterator[CSTNode]:  # noqa: F405
    """The node, and all nodes below it."""
    pending = [node]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(here.children))


def names_within(node: CSTNode) -> set[str]:  # noqa: F405
    """The names in a node, those of attributes and keywords too."""
    return {part.value for part in within(node) if isinstance(part, Name)}  # noqa: F405


def targets_in(block: CSTNode) -> Iterator[CSTNode]:  # noqa: F405
    """What something is assigned to in a block: by a statement, a loop, a walrus, `with .. as` or `except .. as`."""
    for part in within(block):
        match part:
            case AssignTarget(target=target) | AugAssign(target=target) | AnnAssign(target=target):  # noqa: F405
                yield target
            case For(target=target) | NamedExpr(target=target) | AsName(name=target):  # noqa: F405
                yield target


def names_in(target: CSTNode) -> Iterator[str]:  # noqa: F405
    """The names that an assignment to a target binds, those of an unpacking too."""
    match target:
        case Name(value=name):  # noqa: F405
            yield name
        case Tuple() | List():  # noqa: F405
            for element in target.elements:
                yield from names_in(element.value)


def added_to(name: str, statement: CSTNode, *same: str) -> BaseExpression | None:  # noqa: F405
    """What a statement adds to a number: `i += 1`, `i = i + 1`; None of others. `same`: what else has been that number
    before."""
    match statement:
        case AugAssign(target=Name(value=target), operator=AddAssign(), value=value) if target == name:  # noqa: F405
            return value
        case Assign(  # noqa: F405
            targets=[AssignTarget(target=Name(value=target))],  # noqa: F405
            value=BinaryOperation(left=Name(value=before), operator=Add(), right=value),  # noqa: F405
        ) if target == name and before in (name, *same):
            return value
        case _:
            return None


def width_of(window: Slice) -> BaseExpression | None:  # noqa: F405
    """`n` of `[i : i + n]`, a window that moves; None of other slices."""
    match window:
        case Slice(lower=BaseExpression() as lower, upper=BaseExpression() as upper, step=None):  # noqa: F405
            return difference(lower, upper)
        case _:
            return None


def difference(lower: BaseExpression, upper: BaseExpression) -> BaseExpression | None:  # noqa: F405
    """`n` between `i` and `i + n`, and between `i * n` and `(i + 1) * n`; None of other numbers."""
    match lower, upper:
        case _, BinaryOperation(left=left, operator=Add(), right=width) if left.deep_equals(lower):  # noqa: F405
            return width
        case (
            BinaryOperation(left=first, operator=Multiply(), right=second),  # noqa: F405
            BinaryOperation(left=one, operator=Multiply(), right=other),  # noqa: F405
        ):
            for at, number in ((first, second), (second, first)):
                for after, width in ((one, other), (other, one)):
                    if width.deep_equals(number) and _is_next(after, at):
                        return width
            return None
        case _:
            return None


def _is_next(number: BaseExpression, before: BaseExpression) -> bool:  # noqa: F405
    """Whether a number is written as the next one, `i + 1`."""
    match number:
        case BinaryOperation(left=left, operator=Add(), right=Integer("1")):  # noqa: F405
            return left.deep_equals(before)
        case _:
            return False


def sign_of(operator: BaseOperator) -> str:
    """An operator as it is written."""
    return Module([]).code_for_node(operator).strip()  # noqa: F405


def called_name(call: Call) -> str:  # noqa: F405
    """The last part of the name that a call calls: `relu` of `tf.nn.relu(x)`; the empty text where it has none."""
    match call.func:
        case Name(value=name) | Attribute(attr=Name(value=name)):  # noqa: F405
            return name
        case _:
            return ""
