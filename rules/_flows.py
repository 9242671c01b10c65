"""Whether a gradient may reach what a place computes: none goes through comparisons, positions, integers and shapes."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import CallPath
from xlalint.syntax import nodes as cst

# Functions whose result has no gradient, which the compiler confirms for each (of `tf.sign` it fails).
_ENDS: Final = frozenset(
    (
        "argmax",
        "argmin",
        "argsort",
        "ceil",
        "equal",
        "floor",
        "greater",
        "greater_equal",
        "is_finite",
        "is_inf",
        "is_nan",
        "isfinite",
        "isinf",
        "isnan",
        "less",
        "less_equal",
        "not_equal",
        "ones_like",
        "rank",
        "round",
        "searchsorted",
        "shape",
        "size",
        "stop_gradient",
        "zeros_like",
    )
)
_CASTS: Final = frozenset(("cast", "saturate_cast"))
_WHOLE: Final = ("bool", "int", "uint")  # how the types begin that have no gradient
_OF_FORM: Final = frozenset(("dtype", "indices", "ndim", "rank", "shape"))  # attributes without a gradient
_TAKES: Final = frozenset(("batch_jacobian", "compute_gradients", "gradient", "gradients", "jacobian", "minimize"))
_SHOWS: Final = frozenset(("print", "scalar"))


def reaches_gradient(
    result: Location, trail: CallPath | None, apart: Container[int] = (), whole: Container[str] = ()
) -> bool:
    """Whether the gradient of what a function returns, or takes, may go through what a node computes. `apart`: where
    in the node's result, a tuple, stands what has no gradient; of a statement, `whole` are the names for that."""
    return _Flow(result, trail, apart, whole).starts_at()


class _Flow:
    """The flow of what one function makes of a value, and of what its callers on the way to it do."""

    def __init__(
        self, start: Location, trail: CallPath | None, apart: Container[int] = (), whole: Container[str] = ()
    ) -> None:
        self._unit, self._start, self._trail = start.unit, start.node, trail
        self._apart, self._whole = apart, whole
        self._seen = set[tuple[int, str]]()

    def starts_at(self) -> bool:
        node = self._start
        if isinstance(node, cst.While):
            targets = (name for target in cst.targets_in(node.body) for name in cst.names_in(target))
            return any(self._named(node, name) for name in dict.fromkeys(targets) if name not in self._whole)
        return self._reaches(node, whole=True)

    @property
    def _function(self) -> cst.FunctionDef | None:
        return self._unit.function_around(self._start)

    def _reaches(self, node: cst.CSTNode, *, whole: bool = False) -> bool:
        """Whether a gradient goes from the result of a function, or from where one is taken, to a node. `whole`: the
        node is the tuple that this is about."""
        here = node
        for around in self._unit.around(node):
            match around:
                case cst.Comparison() | cst.BooleanOperation() | cst.Assert():
                    return False
                case cst.UnaryOperation(operator=cst.Not()):
                    return False
                case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test) if test is here:
                    return False
                case cst.Attribute(value=value, attr=cst.Name(attribute)) if value is not here or attribute in _OF_FORM:
                    return False
                case cst.Subscript(slice=slices) if any(one is here for one in slices):
                    return False
                case cst.Arg(keyword=keyword) if keyword is here:
                    return False
                case cst.Call():
                    if around.func is not here and _ends(around, here):
                        return False
                    if cst.called_name(around) in _TAKES:
                        return True
                case cst.Assign(targets=targets):
                    if any(target is here for target in targets):
                        return False
                    return any(
                        self._assigned(around, target.target, whole=whole and here is node) for target in targets
                    )
                case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
                    return target is not here and self._assigned(around, target, whole=False)
                case cst.Expr(value=value):
                    return not (isinstance(value, cst.Call) and cst.called_name(value) in _SHOWS)
                case cst.Return():
                    return self._unit.function_around(around) is not self._function or self._returned()
                case cst.Lambda() | cst.FunctionDef() | cst.BaseCompoundStatement() | cst.BaseSmallStatement():
                    return True
            here = around
        return True

    def _assigned(self, statement: cst.CSTNode, target: cst.CSTNode, *, whole: bool) -> bool:
        match target:
            case cst.Name(value=name):
                return self._named(statement, name)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                parts = (one.value for at, one in enumerate(elements) if not (whole and at in self._apart))
                return any(self._assigned(statement, part, whole=False) for part in parts)
            case _:
                return True

    def _named(self, statement: cst.CSTNode, name: str) -> bool:
        """Whether it reaches what a statement binds a name to."""
        if (key := (id(statement), name)) in self._seen:
            return False
        self._seen.add(key)
        return any(self._reaches(use) for use in self._uses(statement, name))

    def _uses(self, statement: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
        """Where a name may be read behind a statement, up to where it is bound again."""
        here = statement
        for around in self._unit.around(statement):
            match around:
                case cst.IndentedBlock(body=body) | cst.Module(body=body):
                    later = iter(body)
                    for line in later:
                        if line is here:
                            break
                    for line in later:
                        yield from _named_in(line, name)
                        if _binds(line, name):
                            return
                case cst.For() | cst.While():
                    yield from _named_in(around, name)
                case cst.FunctionDef():
                    return
            here = around

    def _returned(self) -> bool:
        """Whether it reaches what the function that is called returns."""
        if self._trail is None or not isinstance(call := self._trail.location.node, cst.Call):
            return True
        return cst.called_name(call) in _TAKES or _Flow(self._trail.location, self._trail.parent).starts_at()


def _named_in(node: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    return (part for part in cst.within(node) if isinstance(part, cst.Name) and part.value == name)


def _binds(line: cst.CSTNode, name: str) -> bool:
    """Whether a line gives a name another value, whatever happens."""
    return isinstance(line, cst.SimpleStatementLine) and any(
        name in cst.names_in(target.target)
        for part in line.body
        if isinstance(part, cst.Assign)
        for target in part.targets
    )


def _ends(call: cst.Call, arg: cst.CSTNode) -> bool:
    """Whether no gradient goes through a call to one of its arguments."""
    called = cst.called_name(call)
    first = bool(call.args) and call.args[0] is arg
    if called in ("cond", "where"):
        return first
    return called in _ENDS or (called in _CASTS and any(_is_whole(each) for each in call.args[1:]))


def _is_whole(dtype: cst.Arg) -> bool:
    match dtype.value:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name.startswith(_WHOLE)
        case cst.SimpleString():
            return dtype.value.raw_value.startswith(_WHOLE)
        case _:
            return False
