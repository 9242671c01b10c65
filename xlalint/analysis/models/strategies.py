"""Strategies: steps that `run` compiles, and scopes."""

from __future__ import annotations

from typing import Final

from ...sources.reading import Strategies
from ...syntax import nodes as cst
from ..domain.joins import join_all
from ..domain.kinds import options
from ..domain.values import (
    NONE,
    UNKNOWN,
    ApiObject,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Origin,
    Scope,
    Sequence,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..domain.varying_shapes import mapped
from ..files.unit import Location
from ..interpreter.contexts import ContextKind
from ..interpreter.frames import Arguments, Compilation, Frame
from ..interpreter.interface import Interpreter, MethodModel
from ..interpreter.replicas import own_part, parted_results
from ..interpreter.unseen_strategies import OF_THE_TARGET
from ..library.strategies import REPLICA, SCOPE, is_strategy, is_tpu, scope_entered
from ..record import replace


def _strategy_run(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.run(step, args=(batch,))`: a TPU strategy compiles the step."""
    step = arguments.get(0, "fn")
    results = []
    for option in () if step is None else options(step):
        match option:
            case FunctionValue():
                results.append(_run_step(interpreter, frame, owner, option, arguments, node))
            case ApiObject(method=None) | Instance():
                results.append(_run_object(interpreter, frame, owner, option, arguments, node))
    return parted_results(join_all(*results), Location(frame.unit, node)) if results else None


def _run_object(
    interpreter: Interpreter,
    frame: Frame,
    owner: Value,
    step: ApiObject | Instance,
    arguments: Arguments,
    node: cst.BaseExpression,
) -> Value:
    """`strategy.run(model, args=(batch,))`."""
    perhaps = _may_be_tpu(interpreter, owner, arguments.get(1, "args"))
    call = _passed(interpreter, frame, perhaps, arguments, node)
    if isinstance(owner, ApiObject):
        interpreter.report_call(frame, f"{owner.api}.run", _given(step, arguments), {}, UNKNOWN, node, owner)
    outside = frame.context
    inside = outside
    if is_tpu(owner) or perhaps:
        name = step.cls.qualname if isinstance(step, Instance) else step.api
        inside = Compilation(ContextKind.XLA, True, f"`{name}`, compiled by {_compiler(owner)}").context
    scope = Scope(owner, replica=True) if interpreter.strategies else outside.scope
    frame.context = replace(inside, scope=scope)
    result = interpreter.call(frame, step, call, node)
    frame.context = outside
    return result


def _given(step: Value, arguments: Arguments) -> dict[str, Value]:
    """What `run` is given, by name."""
    return {"fn": step, "args": arguments.get(1, "args") or UNKNOWN, "kwargs": arguments.get(2, "kwargs") or UNKNOWN}


def _compiler(strategy: Value) -> str:
    return "`TPUStrategy.run`" if is_tpu(strategy) else "`run` of a strategy, where it is the TPU's"


def _passed(
    interpreter: Interpreter, frame: Frame, perhaps: bool, arguments: Arguments, node: cst.BaseExpression
) -> Arguments:
    """The arguments of a step that a strategy runs."""
    given, named = arguments.get(1, "args"), arguments.get(2, "kwargs")
    call = Arguments(unknown=True)
    batch = Structure(origin=Origin(Location(frame.unit, node), "the strategy passes it on"))
    match given:
        case Sequence(items=tuple(items)):
            written = _args(node, items)
            parts = list(map(own_part, items))
            call.positional = [_batch(part, perhaps, text, batch) for part, text in zip(parts, written, strict=True)]
            for item, taken in zip(parts, call.positional, strict=True):
                if taken is not item:  # so the function around it is not passed a tensor alone either
                    interpreter.refute_tensor(frame, item)
        case None:
            pass
        case Structure():  # `args=next(iterator)`
            call.rest = own_part(given.part)
        case _:
            call.rest = batch
    if isinstance(named, Dict):
        call.keywords = {key: own_part(value) for key, value in named.entries.items() if isinstance(key, str)}
    return call


def _run_step(
    interpreter: Interpreter,
    frame: Frame,
    owner: Value,
    function: FunctionValue,
    arguments: Arguments,
    node: cst.BaseExpression,
) -> Value:
    perhaps = _may_be_tpu(interpreter, owner, arguments.get(1, "args"))
    call = _passed(interpreter, frame, perhaps, arguments, node)
    function = interpreter.decorated(function) if function.compiled is None else function
    if isinstance(owner, ApiObject):
        interpreter.report_call(frame, f"{owner.api}.run", _given(function, arguments), {}, UNKNOWN, node, owner)
    if is_tpu(owner) or perhaps:
        entry = f"`{function.function.qualname}`, compiled by {_compiler(owner)}"
        match function.compiled:
            case None:
                how = Compilation(ContextKind.XLA, True, entry, jit=True, perhaps=perhaps)
                function = replace(function, compiled=how)
            case Compilation(kind=ContextKind.GRAPH, by_keras=False) as own:  # the step's own `tf.function`
                how = replace(own, kind=ContextKind.XLA, entry=entry, jit=True, perhaps=perhaps)
                function = replace(function, compiled=how)
    before = len(frame.summary.calls)
    outside = frame.context
    if interpreter.strategies:
        frame.context = replace(outside, scope=Scope(owner, replica=True))
    result = interpreter.invoke(frame, function, call, node)
    frame.context = outside
    frame.summary.steps |= {callee for _, callee in frame.summary.calls[before:]}
    return result


def _may_be_tpu(interpreter: Interpreter, owner: Value, given: Value | None) -> bool:
    """Whether a program that makes a strategy for TPUs may run a step with it here: by the strategy that is in force,
    or by something nobody knows that is called as strategies are. For the target, any strategy gives way to it."""
    wanted = interpreter.options.target == "tpu"
    if not wanted and interpreter.project.files.strategies is not Strategies.OF_TPUS:
        return False
    match owner:
        case ApiObject(api="tf.distribute.Strategy"):
            return True
        case ApiObject() if wanted:
            return is_strategy(owner.owner)
        case Unknown():
            return isinstance(given, Sequence) and given.kind == "tuple"
        case _:
            return False


def _args(node: cst.BaseExpression, items: tuple[Value, ...]) -> list[cst.BaseExpression | None]:
    """What is written for each of the arguments of a step, where these are written in the call."""
    for arg in node.args if isinstance(node, cst.Call) else ():
        match arg:
            case cst.Arg(keyword=cst.Name(value="args"), value=cst.Tuple(elements=elements)) if len(elements) == len(
                items
            ):
                return [element.value for element in elements]
    return [None] * len(items)


def _batch(value: Value, perhaps: bool, written: cst.BaseExpression | None, batch: Structure) -> Value:
    """What a step is passed: the next one of what nobody knows is a batch of tensors, and so is what a strategy runs it
    with that is `perhaps` a TPU's."""
    match value, written:
        case Unknown(), cst.Call(func=cst.Name(value="next")):
            return batch
        case Unknown(), _ if perhaps:
            return batch
        case _:
            return value


def _scope(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.scope()`."""
    if not interpreter.strategies or not (is_strategy(owner) or isinstance(owner, Unknown)):
        return None
    if isinstance(owner, Unknown) and interpreter.options.target == "tpu":
        owner = ApiObject(OF_THE_TARGET, payload=UNKNOWN)  # nobody sees where it was made; nothing else has a scope
    if isinstance(owner, ApiObject):
        interpreter.report_call(frame, f"{owner.api}.scope", {}, {}, UNKNOWN, node, owner)
    return ApiObject(SCOPE, payload=owner)


def _enter_scope(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.scope().__enter__()`, `stack.enter_context(strategy.scope())`: it holds for all that follows."""
    for value in (owner, *arguments.positional):
        if isinstance(value, ApiObject) and value.api == SCOPE:
            frame.context = replace(frame.context, scope=scope_entered(value, frame.context.scope))
    return None


def _merge_call(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`context.merge_call(fn, args, kwargs)`: `fn` is called with the strategy, and with what it is passed here, around
    the replicas."""
    given, named = arguments.get(1, "args"), arguments.get(2, "kwargs")
    passed = given.items if isinstance(given, Sequence) and given.items is not None else ()
    keywords = (
        {key: value for key, value in named.entries.items() if isinstance(key, str)} if isinstance(named, Dict) else {}
    )
    merged = [mapped(value, _merged) for value in passed]
    call = Arguments([ApiObject("tf.distribute.Strategy"), *merged], keywords)
    function, inside = arguments.get(0, "merge_fn"), frame.context
    if function is None:
        return None
    if inside.scope is not None:
        frame.context = replace(inside, scope=replace(inside.scope, replica=False))
    try:
        return interpreter.call(frame, function, call, node)
    finally:
        frame.context = inside


def _all_reduce(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`context.all_reduce("SUM", value)`: all replicas have the same of it."""
    value = arguments.get(1, "value")
    name = f"{REPLICA}.all_reduce"
    origin = Origin(Location(frame.unit, node), f"`{name}` returns tensors", shared=name)

    def reduced(leaf: Value) -> Value:
        match leaf:
            case Tensor(dtype=dtype, rank=rank):
                return Tensor(Dependence.VALUE, dtype, rank, origin)
            case _:
                return Structure(origin=origin)

    return None if value is None else mapped(value, reduced)


def _merged(value: Value) -> Value:
    """What `merge_call` passes on: that of all replicas."""
    match value:
        case Tensor(origin=Origin() as origin) | Structure(origin=Origin() as origin):
            return replace(value, origin=replace(origin, shared=f"{REPLICA}.merge_call"))
        case _:
            return value


def _reduce(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.reduce("SUM", value, axis=None)`: one tensor for each that the replicas have; an axis goes as well."""
    value = arguments.get(1, "value")
    if value is None or not is_strategy(owner):
        return None
    if isinstance(owner, ApiObject):
        interpreter.report_call(frame, f"{owner.api}.reduce", {"value": value}, {}, UNKNOWN, node, owner)
    kept = arguments.get(2, "axis") == NONE
    return mapped(value, lambda leaf: _reduced(leaf, kept))


def _reduced(value: Value, kept: bool) -> Value:
    match value:
        case Tensor(dtype=dtype, rank=rank):
            return Tensor(Dependence.VALUE, dtype=dtype, rank=rank if kept else rank - 1 if rank else None)
        case _:
            return Structure()


METHODS: Final[dict[str, MethodModel]] = {
    ".run": _strategy_run,
    ".reduce": _reduce,
    ".merge_call": _merge_call,
    f"{REPLICA}.all_reduce": _all_reduce,
    ".scope": _scope,
    ".__enter__": _enter_scope,
    ".enter_context": _enter_scope,
    ".experimental_run_v2": _strategy_run,
}
