"""What the rules about gradients share: which loops run under one, and which a TPU refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, Generic, TypeVar

from xlalint.analysis.domain.kinds import options
from xlalint.analysis.domain.values import ApiObject, FunctionValue, Instance, Sequence, Static, Tensor, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import Trained
from xlalint.analysis.interpreter.events import Event
from xlalint.facts import tables, tpu
from xlalint.facts.tables import Case
from xlalint.facts.tpu import OnTpu
from xlalint.linter.rule import ApiCall, DraftNote, TpuOutcome
from xlalint.syntax import nodes as cst

GRADIENTS: Final = frozenset(
    (
        "tf.gradients",
        "tf.GradientTape.gradient",
        "tf.GradientTape.jacobian",
        "tf.GradientTape.batch_jacobian",
    )
)
_RUNS: Final = ("cond", "body", "body_fun", "f")  # the parameters for what a loop runs
_BRANCHING: Final = frozenset(("case", "cond", "smart_cond", "switch", "switch_case"))  # which run a branch
Loop = TypeVar("Loop", bound=Event)


class LoopsUnderGradients(Generic[Loop]):
    """Pairs loops with the gradients that are taken around them, in whatever order the two are heard of."""

    def __init__(self) -> None:
        self._loops: list[Loop] = []
        self._gradients: list[ApiCall] = []

    def gradient(self, gradient: ApiCall) -> Iterator[tuple[Loop, ApiCall]]:
        """A gradient is taken: the loops under it that are known by now, each with it."""
        self._gradients.append(gradient)
        return ((loop, gradient) for loop in self._loops if _runs_under(loop, gradient))

    def loop(self, loop: Loop) -> Iterator[tuple[Loop, ApiCall]]:
        """A loop runs: it with each of the gradients around it that are known by now."""
        self._loops.append(loop)
        return ((loop, gradient) for gradient in self._gradients if _runs_under(loop, gradient))


def has_floats(value: Value) -> bool:
    """Some of the loop's values may be floating point tensors."""
    for option in options(value):
        match option:
            case Sequence(items=tuple(items)):
                found = any(map(has_floats, items))
            case Sequence(element=element):
                found = element is None or has_floats(element)
            case Tensor(dtype=dtype):
                found = dtype not in ("int", "bool", "string")
            case Static(constant):
                found = isinstance(constant, float)
            case _:
                found = True
        if found:
            return True
    return False


def keeps_values(loop: cst.CSTNode, before: Mapping[str, Value]) -> bool:
    """Whether the gradient of a `while` needs values from each of its iterations (measured: a sum of what no iteration
    changes needs none; products, even with a constant, elements and functions of what the loop makes do). `before`:
    what the names are before the loop."""
    if not isinstance(loop, cst.While):
        return True
    made = [(name, line) for name, line in _assigned(loop.body) if name not in before or has_floats(before[name])]
    names = {name for name, _ in made}
    return not names.isdisjoint(before) and any(_needs_value(line, names) for _, line in made)


def _assigned(body: cst.BaseSuite) -> Iterator[tuple[str, cst.Assign | cst.AnnAssign | cst.AugAssign]]:
    """The names that a block binds, each with the statement."""
    for node in cst.within(body):
        match node:
            case cst.Assign(targets=targets):
                for target in targets:
                    yield from ((one.value, node) for one in cst.within(target) if isinstance(one, cst.Name))
            case cst.AnnAssign(target=cst.Name(value=name)) | cst.AugAssign(target=cst.Name(value=name)):
                yield name, node


def _needs_value(made: cst.CSTNode, changing: Collection[str]) -> bool:
    for node in cst.within(made):
        match node:
            case cst.Subscript() | cst.BinaryOperation(operator=cst.Multiply() | cst.Divide() | cst.Power()):
                return True
            case cst.BinaryOperation(operator=cst.MatrixMultiply()):
                return True
            case cst.AugAssign(operator=cst.MultiplyAssign() | cst.DivideAssign() | cst.PowerAssign()):
                return True
            case cst.Call(args=args) if any(
                isinstance(one, cst.Name) and one.value in changing for arg in args for one in cst.within(arg)
            ):
                return True
    return False


def note_of(gradient: ApiCall) -> DraftNote:
    """Where a gradient is taken."""
    return DraftNote(gradient.location, "the gradient is taken here")


def runs_weights(event: ApiCall) -> bool:
    """Whether the loop calls a layer, or reads a weight, of the object whose code it is, or one that its function was
    passed."""
    for name in _RUNS:
        for value in options(event.arguments[name]) if name in event.arguments else ():
            if isinstance(value, FunctionValue):
                owner = value.bound if value.bound is not None else getattr(value.scope, "bound", None)
                if isinstance(owner, Instance) and any(map(_is_weight, _attributes_read(value.function.node, owner))):
                    return True
                if any(map(_is_weight, _called_around(value))):
                    return True
    return False


def _called_around(value: FunctionValue) -> Iterator[Value]:
    """What a function calls that the function around it has a name for."""
    known = {} if value.scope is None or value.scope.is_module else value.scope.left or value.scope.env or {}
    for node in cst.within(value.function.node):
        match node:
            case cst.Call(func=cst.Name(value=name)) if name in known:
                yield from options(known[name])


def _attributes_read(function: cst.CSTNode, owner: Instance) -> Iterator[Value]:
    for node in cst.within(function):
        match node:
            case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)) if name in owner.attributes:
                yield from options(owner.attributes[name])


def _is_weight(value: Value) -> bool:
    match value:
        case Tensor(variable=True, dtype=dtype):
            return dtype not in ("int", "bool", "string")
        case ApiObject(api=api):
            return api.startswith("keras.layers.")
        case Instance(cls):
            return cls.is_keras("layer")
        case _:
            return False


def is_stopped(event: ApiCall, starts: Collection[str] = ()) -> bool:
    """Whether the result of a loop, or all that it starts with (`starts`: these parameters), is passed to
    `stop_gradient`."""
    unit, names = event.location.unit, set[str]()
    function: cst.CSTNode | None = None
    for around in unit.around(event.node):
        match around:
            case cst.Call() if _stops(around):
                return True
            case cst.Assign(targets=targets) if function is None:
                names |= {one.value for target in targets for one in cst.within(target) if isinstance(one, cst.Name)}
            case cst.FunctionDef():
                function = around
                break
    if function is None:
        return False
    stopped = {one.value for call in _stopping(function) for one in cst.within(call) if isinstance(one, cst.Name)}
    begun = set[str]()
    for node in cst.within(function):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as made) if (
                _stops(made)
            ):
                begun.add(name)
    return bool(names & stopped) or (
        bool(starts) and all(_is_begun(event.argument_nodes.get(name), begun) for name in starts)
    )


def _is_begun(node: cst.BaseExpression | None, names: set[str]) -> bool:
    """Whether a gradient ends at all that a loop starts with."""
    match node:
        case None | cst.Integer() | cst.Float():
            return True
        case cst.Name(value=name):
            return name in names or name in ("None", "True", "False")
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return all(_is_begun(element.value, names) for element in elements)
        case cst.Call():
            return _stops(node)
        case _:
            return False


def _stopping(function: cst.CSTNode) -> Iterator[cst.Call]:
    return (node for node in cst.within(function) if isinstance(node, cst.Call) and _stops(node))


def _stops(call: cst.Call) -> bool:
    match call.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name == "stop_gradient"
        case _:
            return False


def _runs_under(loop: Event, gradient: ApiCall) -> bool:
    """The frames around the loop lead through the one that takes the gradient, there from where its tape records."""
    if gradient.trail is None:
        return loop.location.unit is gradient.location.unit
    location, trail = loop.location, loop.trail
    while trail is not None and trail != gradient.trail:
        location, trail = trail.location, trail.parent
    return trail is not None and _is_recorded(location, gradient)


def branch_between(loop: Event, gradient: Event | None) -> Location | None:
    """The conditional between a loop and the gradient that is taken around both, of which one branch runs the loop;
    with no gradient, between it and where Keras begins."""
    end, trail = None if gradient is None else gradient.trail, loop.trail
    while trail is not None and trail != end:
        if isinstance(trail.location.node, cst.Call) and cst.called_name(trail.location.node) in _BRANCHING:
            return trail.location
        trail = trail.parent
    return None


def _is_recorded(location: Location, gradient: ApiCall) -> bool:
    """The place stands in a block of `with .. as tape`, where the gradient's tape is bound so in the same function."""
    match gradient.node.func:
        case cst.Attribute(value=cst.Name(value=tape)) if location.unit is gradient.location.unit:
            blocks = [one for one in cst.within(location.unit.tree) if isinstance(one, cst.With) and _binds(one, tape)]
            return not blocks or any(one is location.node for block in blocks for one in cst.within(block.body))
        case _:
            return True


def _binds(block: cst.With, name: str) -> bool:
    return any(
        item.asname is not None and isinstance(item.asname.name, cst.Name) and item.asname.name.value == name
        for item in block.items
    )


def is_of_call(event: ApiCall) -> bool:
    """Whether Keras trains what the `call` of a layer or model leads to."""
    trail = event.trail
    while trail is not None and trail.parent is not None:
        trail = trail.parent
    return event.context.trained is Trained.LAYER or (
        event.context.by_keras and trail is not None and trail.name.endswith("call")
    )


def refused_on_tpu(case: Case) -> OnTpu | None:
    """What a TPU's compiler makes of the gradient of a call, where it refuses one that a CPU's takes."""
    found = tpu.of_call(case.call)
    gradient = found.gradient if found is not None and case.gradient is tables.Gradient.OK else None
    return gradient if gradient is not None and gradient.outcome is TpuOutcome.FAILS else None
