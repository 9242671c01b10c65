"""The loops and conditions around a place: which of them decide whether it runs, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...syntax import nodes as cst
from ..files.unit import Location
from ..interpreter.frames import Steady, Summary
from ..record import Record, replace

_FEW: Final = 16  # inputs, which nobody compiles anything for
LOOPS: Final = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_ENDS: Final = (cst.Continue, cst.Return)


class Around(Record, eq=False):
    """A loop, or a condition that decides whether what is in it runs. `side`: which side of the condition; `steady`:
    why that side is run each time, where it is; `by_chance`: that side is run time and again, as chance has it; `few`:
    a loop that is written to run a few times."""

    node: cst.CSTNode
    side: str = ""
    steady: Steady | None = None
    by_chance: bool = False
    few: bool = False

    @property
    def is_loop(self) -> bool:
        return isinstance(self.node, LOOPS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Around) and self.node is other.node and self.side == other.side

    def __hash__(self) -> int:
        return hash((id(self.node), self.side))


class Surroundings:
    """The loops and conditions around places, of which many analyses ask."""

    def __init__(self) -> None:
        self._found: dict[Location, tuple[Around, ...]] = {}

    def of(self, location: Location) -> tuple[Around, ...]:
        """Those in the place's own function, from the outside in."""
        found = self._found.get(location)
        if found is None:
            found = self._found[location] = _around(location)
        return found

    def takes_many(self, location: Location) -> bool:
        """Whether a loop is around a place that is not unrolled: over the elements of a pipeline, or of `tf.range`."""
        for around in self.of(location):
            match around.node:
                case cst.For(iter=cst.Call(func=cst.Name("range"))):
                    continue
                case node if isinstance(node, LOOPS):
                    return True
        return False


def _around(location: Location) -> tuple[Around, ...]:
    """The loops and conditions around a place in its function, from the outside in."""
    found: list[Around] = []
    inner = location.node
    for outer in location.unit.around(inner):
        match outer:
            case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
                break
            case cst.For(body=body) if inner is body:
                found.append(Around(outer, few=_is_short(outer)))
            case cst.While(orelse=orelse) if inner is not orelse:
                found.append(Around(outer))
            case cst.ListComp(elt=each) | cst.SetComp(elt=each) | cst.GeneratorExp(elt=each) if inner is each:
                found.append(Around(outer, few=_is_short(outer)))
            case cst.DictComp(for_in=clauses) if inner is not clauses:
                found.append(Around(outer))
            case cst.If(test=test, body=body) | cst.IfExp(test=test, body=body) if inner is not test:
                found.append(Around(outer, "then" if inner is body else "else"))
            case cst.BooleanOperation(right=right) if inner is right:
                found.append(Around(outer, "right"))
            case cst.MatchCase() | cst.ExceptHandler():
                found.append(Around(outer))
            case cst.BaseSuite(body=lines):
                found += [Around(line, "else") for line in _before(lines, inner) if _leaves(line)]
        inner = outer
    return tuple(reversed(found))


def with_steady(around: tuple[Around, ...], summary: Summary) -> tuple[Around, ...]:
    """What is around a place, with what an analysis tells of its conditions."""
    if not summary.steady and not summary.by_chance:
        return around
    return tuple(
        replace(one, steady=_as_always(one, summary), by_chance=one.side in summary.by_chance.get(one.node, ()))
        for one in around
    )


def _as_always(condition: Around, summary: Summary) -> Steady | None:
    steady = summary.steady.get(condition.node) if isinstance(condition.node, cst.If) else None
    return steady if steady is not None and condition.side == ("then" if steady.outcome else "else") else None


def _before(lines: Sequence[cst.CSTNode], line: cst.CSTNode) -> Iterator[cst.CSTNode]:
    return iter(lines[: next((at for at, each in enumerate(lines) if each is line), 0)])


def _leaves(line: cst.CSTNode) -> bool:
    """Whether a statement may go on with the next iteration, or leave the function: `if step % 100: continue`."""
    return isinstance(line, cst.If) and any(isinstance(node, _ENDS) for node in cst.within(line.body))


def _is_short(loop: cst.CSTNode) -> bool:
    """Whether a loop is written to run a few times."""
    match loop:
        case cst.For(iter=header):
            if any(_leaves_soon(line, loop.target) for line in loop.body.body):
                return True
        case cst.ListComp(for_in=clause) | cst.SetComp(for_in=clause) | cst.GeneratorExp(for_in=clause):
            header = clause.iter
        case _:
            return False
    return _is_few(header)


def _leaves_soon(line: cst.CSTNode, target: cst.BaseExpression) -> bool:
    """`if i == 15: break`, with a number that the loop counts."""
    match line:
        case cst.If(
            test=cst.Comparison(
                left=cst.Name(value=counter),
                comparisons=[
                    cst.ComparisonTarget(
                        operator=cst.Equal() | cst.GreaterThan() | cst.GreaterThanEqual(),
                        comparator=cst.Integer() as last,
                    )
                ],
            ),
            body=cst.BaseSuite(body=[*_, cst.SimpleStatementLine(body=[cst.Break()])]),
        ):
            return counter in cst.names_in(target) and last.evaluated_value <= _FEW
        case _:
            return False


def _is_few(iterable: cst.BaseExpression) -> bool:
    """Whether something is written to have a few elements: `range(3)`, `enumerate(data.take(3))`, a list."""
    match iterable:
        case cst.Call(
            func=cst.Name("range") | cst.Attribute(attr=cst.Name("take")), args=[cst.Arg(value=cst.Integer() as count)]
        ):
            return count.evaluated_value <= _FEW
        case cst.Call(
            func=cst.Name("range"), args=[cst.Arg(value=cst.Integer() as first), cst.Arg(value=cst.Integer() as end)]
        ):
            return end.evaluated_value - first.evaluated_value <= _FEW
        case cst.Call(func=cst.Name("range")):
            return False
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return len(elements) <= _FEW
        case cst.Call(func=cst.Attribute(value=owner), args=arguments):
            return any(_is_few(argument.value) for argument in arguments) or _is_few(owner)
        case cst.Call(args=arguments):
            return any(_is_few(argument.value) for argument in arguments)
        case _:
            return False
