"""Steps of training that nobody compiles: code with a `GradientTape` that runs line by line, or in a plain
`tf.function`. Who moves to a target has to compile them, so with a target they are judged as what it would compile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.kinds import leaves
from ..domain.values import (
    Api,
    ApiObject,
    Array,
    ClassValue,
    Dependence,
    FunctionValue,
    Origin,
    Sequence,
    Static,
    Tensor,
    Unknown,
    Value,
)
from ..files.unit import Location
from ..library.api import size_parameters
from ..library.optimizers import OPTIMIZES
from ..record import replace
from .contexts import HOST, NOT_TRACED, Context, ContextKind
from .events import ApiCall
from .feeding import report_feed
from .frames import LINE_BY_LINE, Act, Arguments, Compilation, Frame
from .interface import Interpreter
from .piped_models import report_piped_tape
from .played_steps import is_played
from .setup_events import TakeGradients

_TAPE: Final = "tf.GradientTape"
_TAPE_MAKER: Final = Api(_TAPE)
_CALL_NOTHING: Final = tuple(map(Api, ("abc.ABC", "builtins.object", "tf.Module")))
_GRAPHS: Final = (ContextKind.GRAPH, ContextKind.XLA)
_TAPED: Final = (ContextKind.HOST, *_GRAPHS)


def is_tape(value: Value) -> bool:
    """Whether `with value` records what the code in it computes."""
    return isinstance(value, ApiObject) and value.api == _TAPE and value.method is None


def has_run_compiled(frame: Frame) -> bool:
    """Whether the code so far has called something that is traced, or fitted a model: what it turns off now comes too
    late for that."""
    pending, seen = [frame.summary], {frame.summary}
    while pending:
        summary = pending.pop()
        if summary.context.kind in _GRAPHS or summary.evaluates:
            return True
        for _, callee in summary.calls:
            if callee not in seen:
                seen.add(callee)
                pending.append(callee)
    return False


def step_context(interpreter: Interpreter, frame: Frame, node: cst.With) -> Context:
    """The context of the code that a tape records; says that no program is made of it, and what it is passed."""
    context = frame.context
    report_piped_tape(interpreter, frame, node.items[0].item)
    if context.pipeline or frame.module.is_test:
        return context
    uncalled = context.kind is ContextKind.OPEN and _is_own_step(frame)
    if uncalled or context.kind in _TAPED:  # also behind another tape, which says what the rest is
        _report_step(interpreter, frame, node.items[0])
    if interpreter.options.target is None:
        return context
    if context.kind is ContextKind.GRAPH:
        return _of_graph(context)
    if context.kind not in NOT_TRACED or is_played(interpreter, frame, node.body):
        return context
    _enter_step(interpreter, frame)
    step = _of_line_by_line(frame)
    report_feed(interpreter, frame, step, _read(interpreter, frame, node.body), node.items[0], node)
    report_feed(interpreter, frame, step, _decisive_numbers(frame, node), node.items[0], (node, "numbers"), traced=True)
    return step if context.kind is ContextKind.HOST else context


def run_step(interpreter: Interpreter, frame: Frame, node: cst.With) -> None:
    """Run the block of a step that is judged as compiled. The arrays that a loop passes it are tensors there."""
    given = {name: value for name, value in (frame.env or {}).items() if isinstance(value, Array)}
    bound = _bound_by_loop(frame, node) if given else set()
    inputs = {
        name: Tensor(Dependence.VALUE, array.dtype, varies=array.varies)
        for name, array in given.items()
        if name in bound
    }
    if frame.env is not None:
        frame.env |= inputs
    interpreter.execute_body(frame, node.body)
    for name, made in inputs.items():
        if frame.env is not None and frame.env.get(name) is made:
            frame.env[name] = given[name]


def _bound_by_loop(frame: Frame, node: cst.CSTNode) -> set[str]:
    """The names that the innermost loop around a place binds anew in each iteration."""
    for around in frame.unit.around(node):
        match around:
            case cst.For(target=target, body=body):
                return {*cst.names_in(target), *_bound_in(body)}
            case cst.While(body=body):
                return _bound_in(body)
            case cst.FunctionDef() | cst.Lambda():
                break
    return set()


def _enter_step(interpreter: Interpreter, frame: Frame) -> None:
    """A step that is passed what is not known: as of a compiled function, these are tensors, unless the step uses them
    in another way."""
    function, given = frame.function, frame.summary.given
    passed = {name: value for name, value in given.items() if value is not frame.bound}
    known = {name: value for name, value in passed.items() if not any(type(leaf) is Unknown for leaf in leaves(value))}
    tested = frame.context.aside  # whoever else runs the step is not seen
    if function is not None and frame.context.kind is ContextKind.HOST and not tested and len(known) < len(passed):
        arguments = Arguments(keywords=known, unknown=True, inputs=True)
        value = FunctionValue(function, frame.parent, frame.bound)
        interpreter.enter(value, frame.context, arguments, "step")


def _of_line_by_line(frame: Frame) -> Context:
    """What runs line by line, as a target would compile it. Whoever calls a function that nothing is seen to call may
    compile it, or not: its shapes are the same."""
    name = "top-level code" if frame.function is None else f"`{frame.function.qualname}`"
    how = "which nothing is seen to call" if frame.context.kind is ContextKind.OPEN else "which runs eagerly"
    entry = f"a step of {name}, {how}"
    return replace(frame.context, kind=ContextKind.XLA, autograph=True, entry=entry, eager=True)


def report_in_step(interpreter: Interpreter, frame: Frame, node: cst.Call, /, *, api: str, **content: Any) -> None:
    """Say that a library function is called: what takes the gradient of a step that runs line by line, as a target
    would compile it with the step."""
    around = frame.context
    on_host = around.kind is ContextKind.HOST and not around.pipeline
    judged = on_host and interpreter.options.target is not None and not frame.module.is_test
    if judged and (api.startswith(f"{_TAPE}.") or _is_sized_by_input(frame, api, content["arguments"])):
        frame.context = _of_line_by_line(frame)
    interpreter.emit(frame, ApiCall, node, api=api, **content)
    frame.context = around


def _is_sized_by_input(frame: Frame, name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call in the function of a step makes something as large as a tensor says that the step is passed."""
    if not frame.step_inputs:
        return False
    sizes = (arguments[parameter] for parameter in size_parameters(name) if parameter in arguments)
    return any(isinstance(leaf, Tensor) and leaf.origin in frame.step_inputs for size in sizes for leaf in leaves(size))


def report_minimizing(interpreter: Interpreter, frame: Frame, loss: Value | None, node: cst.Call) -> None:
    """An optimizer takes the gradients of what a function returns, and a step: `optimizer.minimize(loss, ..)`."""
    eager = frame.context.kind in _TAPED and not frame.context.pipeline and not frame.module.is_test
    if eager and isinstance(loss, FunctionValue):
        _report_step(interpreter, frame, node)


def _report_step(interpreter: Interpreter, frame: Frame, node: cst.CSTNode) -> None:
    """Say that code which runs line by line takes a step of training."""
    interpreter.note_done(frame, Act.STEP, node, LINE_BY_LINE)
    again = frame.python_loop > 0 or frame.function is not None
    order, told = interpreter.order_of(node), interpreter.options.target is not None
    interpreter.emit(frame, TakeGradients, node, order=order, again=again, matters=told)


def _is_own_step(frame: Frame) -> bool:
    """Whether a function has an optimizer take a step, and no decorator or library's class has the function called."""
    function = frame.function
    if function is None or function.decorator_texts:
        return False
    classes = () if function.owner is None else function.owner.mro
    bases = chain.from_iterable(cls.bases for cls in classes if not isinstance(cls, str))
    return all(isinstance(base, ClassValue) or base in _CALL_NOTHING for base in bases) and any(
        isinstance(node, cst.Attribute) and node.attr.value in OPTIMIZES for node in cst.within(function.node.body)
    )


def begin_step(interpreter: Interpreter, frame: Frame, body: cst.BaseSuite) -> None:
    """What stands before the tape of a plain `tf.function` is compiled with what the tape records; of what runs line by
    line, that holds for what the step is made of."""
    context = frame.context
    if interpreter.options.target is None or context.pipeline or frame.module.is_test:
        return
    if context.kind not in (ContextKind.GRAPH, ContextKind.HOST) or "GradientTape" not in frame.unit.text:
        return
    calls = (item.item for line in body.body if isinstance(line, cst.With) for item in line.items)
    if not any(isinstance(call, cst.Call) and interpreter.evaluate(frame, call.func) == _TAPE_MAKER for call in calls):
        return
    if context.kind is ContextKind.GRAPH:
        frame.context = _of_graph(context)
    else:
        _take_in(frame)


def _take_in(frame: Frame) -> None:
    """Have the tensors of shapes that a step is passed be inputs: no compiler knows from where they come."""
    frame.step_inputs = set()
    for name, value in (frame.env or {}).items():
        if isinstance(value, Tensor) and value.dependence is Dependence.SHAPE and frame.function is not None:
            origin = Origin(frame.function.label, f"the step is passed `{name}`")
            frame.step_inputs.add(origin)
            assert frame.env is not None
            frame.env[name] = value.with_(dependence=Dependence.VALUE, origin=origin)


def _of_graph(context: Context) -> Context:
    return replace(context, kind=ContextKind.XLA, entry=f"{context.entry}, a step of training", eager=True)


def as_differentiated(frame: Frame, bound: Mapping[str, Value], nodes: Mapping[str, cst.BaseExpression]) -> None:
    """What a gradient is taken of is a tensor from there on, whatever computed it."""
    match bound.get("target"), nodes.get("target"):
        case Unknown(), cst.Name(value=name) if frame.env is not None and name in frame.env:
            frame.env[name] = Tensor(
                Dependence.VALUE,
                "float",
                origin=Origin(Location(frame.unit, nodes["target"]), "a gradient is taken of it"),
            )


def asks_for_graph(value: FunctionValue) -> bool:
    """Whether a function is compiled by itself where eager code calls it."""
    return isinstance(value.compiled, Compilation) and value.compiled.kind in _GRAPHS and not value.compiled.by_keras


def left(context: Context) -> Context:
    """The context of what stands around an eager step."""
    return replace(context, kind=ContextKind.HOST, entry=HOST.entry, eager=False)


def _read(interpreter: Interpreter, frame: Frame, body: cst.BaseSuite) -> Iterator[tuple[Value, cst.CSTNode]]:
    """The values from outside that a block reads, each with the first place that does; not what it only writes to. Of
    data that it cuts, the pieces: `model(x[start:stop])`."""
    known, seen = frame.env or {}, set[str]()
    written, bound = set(map(id, _written_to(body))), _bound_in(body)
    for node in cst.within(body):
        match node:
            case cst.Subscript(value=cst.Name() | cst.Attribute() as data) if _takes_piece(node, bound):
                text = frame.unit.code(data)
                if text not in seen and isinstance(_on_host(interpreter, frame, data), Array | Sequence | Unknown):
                    seen.add(text)
                    yield _on_host(interpreter, frame, node), node
            case cst.Name(value=name) if name in known and name not in seen and id(node) not in written:
                seen.add(name)
                yield known[name], node


def _decisive_numbers(frame: Frame, node: cst.With) -> Iterator[tuple[Value, cst.CSTNode]]:
    """The Python numbers that a function is passed and takes its step by: what the tape records reads them, or a
    condition on an optimizer's step. The others are for what stands around it, as a log."""
    function = frame.function
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return
    read = cst.names_within(node.body)
    for part in cst.within(function.node.body):
        if isinstance(part, cst.If) and any(
            isinstance(inner, cst.Attribute) and inner.attr.value in OPTIMIZES for inner in cst.within(part)
        ):
            read |= cst.names_within(part.test)
    parameters = function.node.params
    for parameter in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params):
        value = frame.summary.given.get(parameter.name.value)
        if isinstance(value, Static) and parameter.name.value in read:
            yield value, parameter.name


def _takes_piece(node: cst.Subscript, bound: set[str]) -> bool:
    """Whether a piece is taken, by bounds that the block does not make."""
    names = cst.names_within(node)
    return any(isinstance(element.slice, cst.Slice) for element in node.slice) and not names & bound


def _on_host(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> Value:
    """What an expression is before the block runs."""
    around = frame.context
    frame.context = HOST
    value = interpreter.evaluate(frame, node)
    frame.context = around
    return value


def _bound_in(body: cst.BaseSuite) -> set[str]:
    """The names that a block binds."""
    found = set[str]()
    for node in cst.within(body):
        match node:
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.For(target=target):
                found.update(part.value for part in cst.within(target) if isinstance(part, cst.Name))
    return found


def _written_to(body: cst.BaseSuite) -> Iterator[cst.BaseExpression]:
    """What a block assigns items of: a table or a plot on the host, which is no input of the step."""
    for node in cst.within(body):
        match node:
            case cst.AssignTarget(target=cst.Subscript(value=table)) | cst.AugAssign(target=cst.Subscript(value=table)):
                yield table
