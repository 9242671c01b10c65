"""Where host code hands data to what XLA compiles: calls of compiled functions, and the loops that Keras runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import holds_text
from ..domain.values import (
    Api,
    ApiObject,
    ClassValue,
    Dict,
    FunctionValue,
    Instance,
    OneOf,
    Sequence,
    Static,
    Value,
    Variation,
    Wrapped,
)
from ..domain.varying_shapes import (
    FILLED,
    GROWN,
    JOINED,
    LAST,
    MASKED,
    OF_ARRAYS,
    OF_ITEMS,
    READ,
    filtered,
    variations_of,
)
from ..files.unit import Location, Unit
from ..library import api
from ..library.tokenizers import torch_in
from ..program.begun_anew import is_begun_anew
from ..program.whole_batches import comes_out_even
from ..record import replace
from .contexts import HOST, NOT_TRACED, Context, ContextKind
from .events import CallOwnCompiled, FeedCompiled, FeedForeign, FeedText, MakeCompiled
from .fixed_lengths import is_as_long, is_emptied_when_due
from .frames import Arguments, Compilation, Frame
from .interface import Interpreter
from .kept import keeps_results
from .other_models import is_trained, makes_model, names_bound

# What varies because a loop goes on.
_OF_LOOPS: Final = frozenset(("counter", "cut", "drawn", GROWN, MASKED, "number", READ, "sized"))
_COMPREHENSIONS: Final = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
# Methods of containers that keep what they are passed.
_KEEPS: Final = frozenset(("add", "append", "insert", "setdefault"))


def report_compilation(
    interpreter: Interpreter,
    frame: Frame,
    arguments: Arguments,
    node: cst.BaseExpression,
    *,
    later: bool = False,
) -> None:
    """A function is wrapped to be compiled; `later`: it is not known yet which."""
    settings = arguments.keywords
    jit = Static(True) in (settings.get("jit_compile"), settings.get("experimental_compile"))
    graphs = interpreter.options.target is not None or interpreter.project.files.clusters
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or not (jit or graphs):
        return
    loop = _loop_around(frame.unit, node)
    looped = frame.python_loop > 0 or loop is not None
    in_loop = looped and not later and not frame.guards and not is_kept(frame.unit, node)
    in_loop = in_loop and not (loop is not None and _makes_model_in(interpreter, frame, loop))
    if jit:
        context = Context(ContextKind.XLA, True, "a function that XLA compiles")
        interpreter.emit_on_host(frame, MakeCompiled, node, context, arguments=dict(settings), in_loop=in_loop)
    elif in_loop and loop is not None:
        context = Context(ContextKind.GRAPH, True, "a function of which a graph is made")
        interpreter.emit_on_host(frame, MakeCompiled, node, context, arguments={}, in_loop=True)
    if not (later or looped or frame.guards or makes_model(frame)) and _is_only_called(frame, node):
        context = Context(ContextKind.XLA if jit else ContextKind.GRAPH, True, "a function that XLA compiles")
        interpreter.emit_on_host(frame, CallOwnCompiled, node, context, again=False)


def _is_only_called(frame: Frame, making: cst.CSTNode) -> bool:
    """Whether a function gives what a call makes a name, and does nothing with that but call it."""
    if frame.function is None or not isinstance(frame.function.node, cst.FunctionDef):
        return False
    statement = next(frame.unit.around(making), None)
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)], value=value):
            if value is not making or name in frame.globals | frame.nonlocals:
                return False
        case _:
            return False
    parts = list(cst.within(frame.function.node.body))
    called = {part.func for part in parts if isinstance(part, cst.Call)}
    uses = [part for part in parts if isinstance(part, cst.Name) and part.value == name and part is not target]
    return bool(uses) and called.issuperset(uses)


def _loop_around(unit: Unit, node: cst.CSTNode) -> cst.For | cst.While | None:
    """The innermost loop that makes what `node` wraps, a decorator or a call, in each of its rounds."""
    decorated = False
    for around in unit.around(node):
        match around:
            case cst.Decorator():
                decorated = True
            case cst.FunctionDef() if decorated:
                decorated = False
            case cst.For() | cst.While():
                return around
            case cst.FunctionDef() | cst.Lambda() | cst.ClassDef() | cst.If() | cst.Try():
                return None
    return None


def _makes_model_in(interpreter: Interpreter, frame: Frame, loop: cst.For | cst.While) -> bool:
    """Whether each round of a loop makes a model or an optimizer, which needs a function of its own."""
    inside = frame if frame.env or frame.parent is not None else interpreter.module_frame(frame.module)
    for part in cst.within(loop.body):
        match part:
            case cst.AssignTarget(target=cst.Name() as name) if is_trained(interpreter.evaluate(inside, name)):
                return True
            # What stands behind it in the loop, where that has not been executed yet.
            case cst.Call(func=cst.Name() | cst.Attribute() as called):
                if _makes_trained(interpreter.evaluate(inside, called)):
                    return True
    return False


def _makes_trained(called: Value) -> bool:
    """Whether it is a class of models or optimizers."""
    match called:
        case Api(name):
            return api.kind_of(name) in ("model", "optimizer")
        case ClassValue(cls):
            return cls.is_keras("model")
        case _:
            return False


def is_kept(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a loop puts what a call makes into a table or list: one for each element, once."""
    for around in unit.around(node):
        match around:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(slice=index))]):
                return any(isinstance(part, cst.Name) for element in index for part in cst.within(element))
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in _KEEPS:
                return True
            case cst.BaseSmallStatement() | cst.BaseCompoundStatement():
                return False
    return False


def report_compiled_call(
    interpreter: Interpreter,
    frame: Frame,
    how: Compilation | Wrapped,
    arguments: Arguments,
    node: cst.CSTNode,
    target: object,
    *,
    runs_steps: bool = False,
) -> None:
    """A compiled function is called from host code, or one of which the graph may be compiled: for a target, or by
    autoclustering, which leaves strings out. That one is a part of the graph that calls it. `runs_steps`: it has a
    strategy run what XLA compiles, and is itself left to TensorFlow."""
    itself = isinstance(how, Wrapped) or how.jit
    if not itself and frame.context.kind not in NOT_TRACED:
        return
    context = Context(ContextKind.XLA if itself or runs_steps else ContextKind.GRAPH, True, how.entry)
    if itself:
        report_text(interpreter, frame, context, passed_values(arguments, node))
    if how.one_shape:
        return
    report_feed(interpreter, frame, context, passed_values(arguments, node), node, target, traced=not how.signature)


def report_text(
    interpreter: Interpreter, frame: Frame, context: Context, given: Iterable[tuple[Value, cst.CSTNode]]
) -> None:
    """Say where a compiled function is passed strings."""
    if frame.context.kind is ContextKind.XLA or frame.context.pipeline:
        return
    for value, where in given:
        if holds_text(value):
            interpreter.emit_on_host(frame, FeedText, where, context)


def report_own_call(interpreter: Interpreter, frame: Frame, value: FunctionValue, node: cst.CSTNode) -> None:
    """A compiled function is called where it was made, there or by a function that is called there: by each call of the
    code around it. Not where that makes a model as well, which needs a function of its own."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline:
        return
    if frame.python_loop and isinstance(node, cst.Call) and not frame.guards:
        _report_made_in_loop(interpreter, frame, value, node)
    if frame.function is None:
        return
    function = value.function
    location: Location | None = None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Call):
        location = (
            None if frame.python_loop else Location(frame.unit, node.func)
        )  # `tf.function(f, jit_compile=True)(x)`
    elif value.scope is frame and function.stretch is None:
        location = None if _is_conditional(frame, function.node) else function.label
    elif isinstance(node, cst.Call) and not makes_model(frame):
        location = _making(frame, value, node.func)
    if location is None or frame.guards:
        return
    model = "trained" if frame.python_loop and makes_model(frame) else ""
    if model and not any(summary.trains for _, summary in frame.summary.calls):
        return
    itself = isinstance(value.compiled, Compilation) and value.compiled.jit
    kind, entry = ContextKind.XLA if itself else ContextKind.GRAPH, "a function that XLA compiles"
    interpreter.emit_on_host(
        frame, CallOwnCompiled, location.node, Context(kind, True, entry), again=False, model=model
    )


def _is_conditional(frame: Frame, made: cst.CSTNode) -> bool:
    """Whether a condition decides whether a function is created, as of one that is kept."""
    for outside in frame.unit.around(made):
        if isinstance(outside, cst.FunctionDef):
            return False
        if isinstance(outside, cst.If | cst.Try):
            return True
    return False


def _report_made_in_loop(interpreter: Interpreter, frame: Frame, value: FunctionValue, node: cst.Call) -> None:
    """A loop has a function of the project make a compiled one, `step = make_step(model)`, in each iteration."""
    scope = value.scope
    if not isinstance(scope, Frame) or not any(summary is scope.summary for _, summary in frame.summary.calls):
        return
    if makes_model(scope) or (scope.function is not None and keeps_results(scope.function)):
        return
    for making in _makings(frame.unit, node):
        loop = _loop_around(frame.unit, making)
        if loop is not None and not is_kept(frame.unit, making) and not _makes_model_in(interpreter, frame, loop):
            context = Context(ContextKind.XLA, True, "a function that XLA compiles")
            interpreter.emit_on_host(frame, MakeCompiled, making, context, arguments={}, in_loop=True)


def _makings(unit: Unit, node: cst.Call) -> Iterator[cst.Call]:
    """What makes the function that a place in a loop calls: by the only assignment to its name in that loop."""
    match node.func:
        case cst.Call() as making:
            yield making
        case cst.Name(value=called):
            loops = [around for around in unit.around(node) if isinstance(around, cst.For | cst.While)]
            found = [
                part.value
                for part in (cst.within(loops[-1].body) if loops else ())
                if isinstance(part, cst.Assign)
                and any(each.target.value == called for each in part.targets if isinstance(each.target, cst.Name))
            ]
            if len(found) == 1 and isinstance(found[0], cst.Call):
                yield found[0]


def _making(frame: Frame, value: FunctionValue, called: cst.BaseExpression) -> Location | None:
    """Where a function of the project is called that makes a compiled one, `step = make_step(model)`, which is called
    by that name."""
    scope = value.scope
    if scope is None or frame.function is None or not isinstance(called, cst.Name):
        return None
    if not any(summary is scope.summary for _, summary in frame.summary.calls):
        return None
    body = frame.function.node.body
    for statement in body.body if isinstance(body, cst.IndentedBlock) else ():
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as making)]
            ) if name == called.value:
                return Location(frame.unit, making)
    return None


def report_foreign_tensors(
    interpreter: Interpreter, frame: Frame, given: Iterable[Value | None], node: cst.CSTNode, *, model: bool
) -> None:
    """Host code hands tensors of PyTorch to a model or a data set of TensorFlow, if they are among these values."""
    if frame.context.kind is ContextKind.XLA:
        return
    for value in given:
        found = torch_in(value)
        if found is not None and found.made is not None:
            interpreter.emit_on_host(frame, FeedForeign, node, HOST, made=found.made.location, model=model)


def passed_values(arguments: Arguments, node: cst.CSTNode) -> list[tuple[Value, cst.CSTNode]]:
    """All that a call passes, each with its syntax; what is unpacked, with the call's."""
    found: list[tuple[Value, cst.CSTNode]] = []
    for position, value in enumerate(arguments.positional):
        found.append((value, arguments.node_at(position, node)))
    found += [(value, arguments.keyword_nodes.get(name, node)) for name, value in arguments.keywords.items()]
    found += [(value, node) for value in (arguments.rest, arguments.rest_keywords) if value is not None]
    found += zip(arguments.trailing, arguments.trailing_nodes, strict=True)
    return found


def _varies_at(variation: Variation, frame: Frame, node: cst.CSTNode) -> bool:
    """Whether what a loop of the same function makes vary is read within that loop: after it, it stays what it is. The
    last batch is as large as the others where the program makes sure of that."""
    location, leaves = variation.location, variation.kind != GROWN and variation.detail != OF_ARRAYS
    if variation.kind == LAST and comes_out_even(location.unit, location.node):
        return False
    cls = frame.bound.cls if isinstance(frame.bound, Instance) else None
    if variation.kind in JOINED and is_begun_anew(location.unit, location.node, cls):
        return False
    filled = variation.kind in (FILLED, GROWN) and bool(frame.bounded)
    if filled and is_emptied_when_due(frame.unit, location, node, frame.bounded):
        return False
    if variation.kind in JOINED and location.unit is frame.unit:
        return not _is_behind_loops(location, node)
    if variation.kind == FILLED and location.unit is frame.unit:
        return not _is_full_in_loop(location, node)
    if variation.kind == GROWN and location == frame.counted:
        return True  # the call in a loop that makes it longer is the one that reads it
    if variation.kind not in _OF_LOOPS or location.unit is not frame.unit:
        return leaves
    around = dict.fromkeys((node, *frame.unit.around(node)))
    counted = dict.fromkeys(frame.unit.around(location.node))
    if any(isinstance(outside, cst.Lambda) and outside not in counted for outside in around):
        return leaves  # as in any other function that is called with it
    inside = location.node
    for outside in (location.node, *frame.unit.around(location.node)):
        inside, within = outside, inside
        match outside:
            case cst.For(iter=header) if header is within and (variation.kind, variation.detail) == ("sized", ""):
                continue  # the loop has filled a list with as many things, which is as long behind it
            case cst.FunctionDef():
                return leaves and not (outside in around and _is_of_call(outside, node))
            case cst.Lambda() | cst.ListComp() | cst.GeneratorExp() | cst.SetComp() | cst.DictComp():
                return leaves
            case cst.Call(func=cst.Name("map")) if outside in around:
                return leaves
            case cst.For() | cst.While():
                if outside in around and _is_of_iteration(node, outside):
                    return False
                if outside in around and variation.kind == GROWN:
                    return not is_as_long(frame.unit, location.node, node, outside)
                function = frame.unit.function_around(outside)
                return outside in around or (leaves and function is not None and function not in around)
    return False  # a program makes it once


def _is_of_iteration(node: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    """Whether each iteration of a loop makes what a call is of: a model to fit, which is compiled for itself."""
    name = _root(node)
    return name is not None and name in names_bound(loop)


def _is_of_call(function: cst.FunctionDef, node: cst.CSTNode) -> bool:
    """Whether a function makes what a call in it is of, each time that it runs itself: `model = build()`."""
    name = _root(node)
    return name is not None and any(
        isinstance(part, cst.Assign)
        and isinstance(part.value, cst.Call)
        and any(name in cst.names_in(target.target) for target in part.targets)
        for part in cst.within(function.body)
    )


def _root(node: cst.CSTNode) -> str | None:
    """The name that a call begins with: `model` of `model.fit(x)`."""
    called = node.func if isinstance(node, cst.Call) else None
    while isinstance(called, cst.Attribute):
        called = called.value
    return called.value if isinstance(called, cst.Name) else None


def _varies_in(frame: Frame, node: cst.CSTNode, passed: Value, variation: Variation) -> bool:
    """Whether what is passed at a place varies. A list that is passed whole is not another one because its items, which
    a comprehension makes, differ from each other."""
    if variation.detail == OF_ITEMS and _is_structure(passed):
        location = variation.location
        around = dict.fromkeys(frame.unit.around(node)) if location.unit is frame.unit else {}
        if not any(
            isinstance(each, _COMPREHENSIONS) and each in around for each in location.unit.around(location.node)
        ):
            return False
    return _varies_at(variation, frame, node)


def _is_structure(value: Value) -> bool:
    match value:
        case OneOf(alternatives):
            return any(map(_is_structure, alternatives))
        case _:
            return isinstance(value, Sequence | Dict)


def _is_full_in_loop(filled: Location, node: cst.CSTNode) -> bool:
    """Whether a list is read by the loop that fills it, where it is as long each time."""
    for outside in filled.unit.around(filled.node):
        match outside:
            case cst.For() | cst.While():
                around = (node, *filled.unit.around(node))
                return outside in around and is_as_long(filled.unit, filled.node, node, outside)
            case cst.FunctionDef() | cst.Lambda():
                return False
    return False


def _is_behind_loops(location: Location, node: cst.CSTNode) -> bool:
    """Whether the loops that make a tensor longer are over where the same function reads it."""
    around = dict.fromkeys((node, *location.unit.around(node)))
    loops = False
    for outside in location.unit.around(location.node):
        match outside:
            case cst.For() | cst.While():
                loops = True
                if outside in around:
                    return False
            case cst.FunctionDef() | cst.Lambda():
                return loops and outside in around
    return loops


def report_feed(
    interpreter: Interpreter,
    frame: Frame,
    context: Context,
    given: Iterable[tuple[Value, cst.CSTNode]],
    node: cst.CSTNode,
    target: object,
    traced: bool = False,
    certain: bool = True,
    often: bool = False,
    single: bool = False,
    trains: bool = True,
) -> None:
    varying = [(value, where) for value, where in given if variations_of(value)]
    if not varying or frame.context.kind is ContextKind.XLA or frame.context.pipeline:
        return
    told = ((_told(value, partial(_varies_in, frame, node, value), traced), where) for value, where in varying)
    varying = [(value, where) for value, where in told if variations_of(value)]
    if not varying:
        return
    interpreter.emit_on_host(
        frame,
        FeedCompiled,
        node,
        context,
        values=tuple(value for value, _ in varying),
        nodes=tuple(where for _, where in varying),
        target=target,
        certain=certain,
        often=often or frame.python_loop > 0 or frame.function is not None,
        traced=traced,
        single=single,
        trains=trains,
    )


def _told(value: Value, varies: Callable[[Variation], bool], traced: bool) -> Value:
    """The value with what varies of it; a function that is `traced` has an input for each item of a list or tuple."""
    if isinstance(value, ApiObject) and value.payload is not None:  # a dataset
        return replace(value, payload=filtered(value.payload, varies))
    kept = filtered(value, varies)
    if traced and isinstance(value, Sequence) and isinstance(kept, Sequence):
        return replace(kept, varies=tuple(each for each in value.varies if each.kind == LAST and varies(each)))
    return kept
