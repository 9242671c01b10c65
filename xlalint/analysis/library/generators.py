"""Python code that makes data: generators, what they yield and whether they end, and batches that Keras asks it for."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import ApiObject, FunctionValue, Instance, Pipeline, Sequence, Value

_WITH_WEIGHTS: Final = 3  # inputs, targets and the weights of examples
# Classes whose methods make a batch when Keras asks for it; those of images are `PyDataset`s (measured).
_BATCHES: Final = frozenset(
    (
        *("keras.utils.PyDataset", "keras.utils.Sequence"),
        *(f"keras.preprocessing.image.{of}Iterator" for of in ("", "Directory", "NumpyArray")),
    )
)


def yielded(value: Value | None) -> Value | None:
    """What a generator yields: inputs with their targets, which stand in a tuple; None for what is no generator."""
    match value:
        case Sequence("list", element=Sequence("tuple", tuple(parts)) as batch) if 2 <= len(parts) <= _WITH_WEIGHTS:
            return batch
        case Sequence("list", (Sequence("tuple", tuple(parts)), *_), element=None) if 2 <= len(parts) <= _WITH_WEIGHTS:
            return value
        case _:
            return None


def runs_python(data: Value) -> bool:
    """Whether Python makes each batch of what a loop of Keras is passed, which wraps it in `Dataset.from_generator`
    (measured): a generator, a `Sequence` or `PyDataset`, an image generator of Keras."""
    return all(_runs_python(option) for option in options(data))


def _runs_python(data: Value) -> bool:
    match data:
        case ApiObject(facts=Pipeline(python=python)):
            return python
        case Instance(cls=cls):
            return any(base in _BATCHES for base in cls.mro)
        case _:
            return yielded(data) is not None


def never_ends(generator: Value | None) -> bool:
    """Whether a function yields for ever: `while True: ..`."""
    match generator:
        case FunctionValue(function) if isinstance(function.node, cst.FunctionDef):
            return any(map(is_endless, function.node.body.body))
        case _:
            return False


def is_endless(statement: cst.CSTNode) -> bool:
    """`while True: ..`, which nothing in it leaves."""
    match statement:
        case cst.While(test=cst.Name(value="True") | cst.Integer(value="1"), body=body):
            return not _leaves(body)
        case _:
            return False


def _leaves(node: cst.CSTNode, *, nested: bool = False) -> bool:
    """Whether code leaves the loop around it; `nested`: it stands in another one, which `break` leaves instead."""
    match node:
        case cst.Return():
            return True
        case cst.Break():
            return not nested
        case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
            return False
        case _:
            inside = nested or isinstance(node, cst.For | cst.While)
            return any(_leaves(child, nested=inside) for child in node.children)


_COPIES: Final = frozenset(("array", "asarray", "astype", "constant", "convert_to_tensor", "copy", "list", "tuple"))


def yields_windows(generator: Value | None) -> bool:
    """Whether all that a function yields is of one length, as it is written: windows `x[i : i + n]` of one `n`, parts
    of them, and elements of what these are of."""
    match generator:
        case FunctionValue(function) if isinstance(function.node, cst.FunctionDef):
            given = [node.value for node in cst.within(function.node) if isinstance(node, cst.Yield)]
            windows = _Windows(function.node)
            return all(isinstance(each, cst.BaseExpression) and windows.holds(each) for each in given) and windows.seen
        case _:
            return False


class _Windows:
    """What a function cuts out of data. `seen`: whether that was a window."""

    def __init__(self, function: cst.FunctionDef) -> None:
        self.seen = False
        self._assigned: dict[str, list[cst.BaseExpression | None]] = {}  # None: by a loop and the like
        for node in cst.within(function.body):
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    self._assigned.setdefault(name, []).append(value)
                case cst.Assign(targets=targets):
                    self._note(*(target.target for target in targets))
                case cst.For(target=target) | cst.AugAssign(target=target) | cst.NamedExpr(target=target):
                    self._note(target)
        slices = (node for node in cst.within(function.body) if isinstance(node, cst.Subscript))
        self._cut = [node.value for node in slices if self._is_window(node)]

    def _note(self, *targets: cst.BaseExpression) -> None:
        for name in (name for target in targets for name in cst.names_in(target)):
            self._assigned.setdefault(name, []).append(None)

    def holds(self, value: cst.BaseExpression) -> bool:
        """Whether a value has the same length each time."""
        match value:
            case cst.Tuple(elements=parts) | cst.List(elements=parts):
                return all(self.holds(part.value) for part in parts)
            case cst.Name(value=name):
                match self._assigned.get(name):
                    case [cst.BaseExpression() as assigned]:
                        return self.holds(assigned)
                    case _:
                        return False
            case cst.Call(func=cst.Name(value=name), args=[first, *_]) if name in _COPIES:
                return self.holds(first.value)
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name)), args=args) if name in _COPIES:
                return self.holds(owner) or (bool(args) and self.holds(args[0].value))
            case cst.Subscript(value=data, slice=[cst.SubscriptElement(slice=cst.Index())]):
                return any(data.deep_equals(cut) for cut in self._cut) or self.holds(data)
            case cst.Subscript(value=data):
                window = self._is_window(value)
                self.seen = self.seen or window
                return window or (_cuts_off(value) and self.holds(data))
            case _:
                return False

    def _is_window(self, cut: cst.Subscript) -> bool:
        match cut.slice:
            case [
                cst.SubscriptElement(
                    slice=cst.Slice(
                        lower=cst.BaseExpression() as lower,
                        upper=cst.BinaryOperation(left=left, operator=cst.Add(), right=length),
                        step=None,
                    )
                )
            ]:
                return left.deep_equals(lower) and self._is_constant(length)
            case _:
                return False

    def _is_constant(self, length: cst.BaseExpression) -> bool:
        match length:
            case cst.Integer():
                return True
            case cst.Name(value=name):
                return name not in self._assigned
            case cst.BinaryOperation(left=left, right=right):
                return self._is_constant(left) and self._is_constant(right)
            case cst.Attribute(value=cst.Name(value="self")):
                return True
            case _:
                return False


def _cuts_off(cut: cst.Subscript) -> bool:
    """`window[:-1]`, `window[1:]`."""
    match cut.slice:
        case [cst.SubscriptElement(slice=cst.Slice(lower=None, upper=cst.UnaryOperation(expression=cst.Integer())))]:
            return True
        case [cst.SubscriptElement(slice=cst.Slice(lower=cst.Integer(), upper=None))]:
            return True
        case _:
            return False
