"""Library functions that call what they are handed: `tf.function`, `tf.cond`, `tf.map_fn`, `Dataset.map`, `compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...syntax import nodes as cst
from ..domain.joins import element_of, join_all, mismatch
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiObject,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Nest,
    Origin,
    Scope,
    Sequence,
    Static,
    Tensor,
    Unknown,
    Value,
    Wrapped,
    as_tensor,
    options,
)
from ..files.files import Place
from ..interpreter.events import HOST, PIPELINE, ContextKind, JoinBranches
from ..interpreter.frames import Arguments, Compilation
from ..interpreter.narrowing import STRUCTURES, is_instance
from ..library import api
from ..library import datasets as pipelines
from ..program.parameter_uses import dicts_among, handed_on
from ..record import replace
from . import tokenizer_calls as tokenizing
from ..interpreter.feeding import RUNNERS, WRAPPED, call_wrapped, remember_compiled, say_made
from ..library.strategies import SCOPE, is_strategy, is_tpu, scope_entered

if TYPE_CHECKING:
    from ..interpreter.calls import Calls
    from ..interpreter.frames import Frame

Handler = Callable[["Calls", "Frame", Arguments, cst.BaseExpression], Value | None]
_NUMBERS: Final = {bool: "bool", int: "int", float: "float"}
MethodHandler = Callable[["Calls", "Frame", Value, Arguments, cst.BaseExpression], Value | None]

# -- compiling --------------------------------------------------------------------------------------------------------


def _flag(arguments: Arguments, *names: str) -> Any:
    for name in names:
        value = arguments.keywords.get(name)
        if isinstance(value, Static):
            return value.constant
    return None


def compilation(frame: Frame, arguments: Arguments, shown: str) -> Compilation:
    """What these arguments make of `tf.function`. In a test it says nothing of how the code is meant to run."""
    jit = _flag(arguments, "jit_compile", "experimental_compile") is True
    autograph = _flag(arguments, "autograph") is not False
    settings = "jit_compile=True" if jit else ""
    if not autograph:
        settings += ", autograph=False" if settings else "autograph=False"
    how = f"`tf.function({settings})`" if settings else "`tf.function`"
    plain = ContextKind.HOST if frame.module.is_test else ContextKind.GRAPH
    signature = arguments.get(1, "input_signature") not in (None, NONE)
    kind = ContextKind.XLA if jit else plain
    return Compilation(kind, autograph, f"{shown}, compiled by {how}", jit, signature)


def _function(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    function = arguments.get(0, "func")
    if function is None:
        return ApiObject(
            "functools.partial", payload=Sequence("tuple", (Api("tf.function"), Dict(dict(arguments.keywords))))
        )
    say_made(machine, frame, arguments, node)
    return compiled(machine, frame, function, arguments, node)


def compiled(machine: Calls, frame: Frame, function: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """A function wrapped by `tf.function`, registered as entered from outside."""
    match function:
        case FunctionValue():
            made = replace(function, compiled=compilation(frame, arguments, f"`{function.function.qualname}`"))
            machine.enter(made, made.compiled, Arguments(unknown=True), "compiled")
            return made
        case Instance(cls) if (method := cls.find("call") or cls.find("__call__")) is not None:
            made = FunctionValue(method, method.owner.scope if method.owner else None, function)
            made = replace(made, compiled=compilation(frame, arguments, f"`{method.qualname}`"))
            machine.enter(made, made.compiled, Arguments(unknown=True), "compiled")
    how = compilation(frame, arguments, f"`{frame.unit.code(node)}`")
    if not how.jit:
        return function
    # What it is stays as it is; called through this, it is compiled.
    return ApiObject(WRAPPED, payload=function, facts=Wrapped(how.entry, how.signature, Place(frame.unit, node)))


def _xla_compile(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    function, inputs = arguments.get(0, "computation"), arguments.get(1, "inputs")
    if not isinstance(function, FunctionValue):
        return None
    given = list(inputs.items) if isinstance(inputs, Sequence) and inputs.items is not None else []
    how = Compilation(
        ContextKind.XLA, False, f"`{function.function.qualname}`, compiled by `tf.xla.experimental.compile`"
    )
    return machine.invoke(frame, replace(function, compiled=how), Arguments(given, unknown=True), node)


def _partial(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [FunctionValue() as function, *rest]:
            return replace(
                function,
                partial_args=(*function.partial_args, *rest),
                partial_keywords={**function.partial_keywords, **arguments.keywords},
            )
        case [callee, *rest]:
            payload = Sequence("tuple", (callee, Dict(dict(arguments.keywords)), *rest))
            return ApiObject("functools.partial", payload=payload)
        case _:
            return UNKNOWN


def _call_partial(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """Call what `functools.partial` made of something that is no function of the project."""
    match owner.payload if isinstance(owner, ApiObject) else None:
        case None:
            return None
        case Sequence(items=(callee, Dict(entries), *rest)):
            given = replace(
                arguments,
                positional=[*rest, *arguments.positional],
                keywords={**entries, **arguments.keywords},
                nodes=[*(node for _ in rest), *arguments.nodes],
            )
            return machine.call(frame, callee, given, node)
        case _:
            return UNKNOWN


def _unconverted(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    function = arguments.get(0, "func")
    if not isinstance(function, FunctionValue):
        return function or Api("tf.autograph.experimental.do_not_convert")
    entry = f"`{function.function.qualname}`, marked `do_not_convert`"
    return replace(function, compiled=Compilation(ContextKind.OPEN, False, entry))


def _custom_gradient(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    function = arguments.get(0, "f")
    if not isinstance(function, FunctionValue) or function.compiled is not None:
        return function or Api("tf.custom_gradient")
    entry = f"`{function.function.qualname}`, the forward function of a custom gradient"
    return replace(function, compiled=Compilation(ContextKind.OPEN, True, entry, gradient=True))


def split_gradient(machine: Calls, frame: Frame | None, value: Value, node: cst.CSTNode | None) -> Value:
    """The result of a function with a custom gradient; the gradient's function runs without AutoGraph."""
    match value:
        case Sequence(items=(result, gradient)):
            for function in machine.functions_in(gradient):
                entry = f"`{function.function.qualname}`, the gradient's function of `tf.custom_gradient`"
                plain = replace(function, compiled=Compilation(ContextKind.OPEN, False, entry))
                variables = Sequence("list", None, Tensor(Dependence.VALUE, variable=True))
                given = Arguments(rest=Tensor(Dependence.VALUE), keywords={"variables": variables})
                machine.invoke(frame, plain, given, node)
            return result
        case _:
            return value


def _same_function(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return arguments.positional[0] if arguments.positional else UNKNOWN


def _tensor_shape(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """A shape of what is written; of anything else, some shape."""
    match arguments.get(0, "dims"):
        case Sequence(items=tuple(items)):
            return Sequence("tuple", items)
        case _:
            return None


# -- control flow in the graph ----------------------------------------------------------------------------------------


def _called(
    machine: Calls, frame: Frame, function: Value | None, given: list[Value], node: cst.BaseExpression, loop: bool
) -> Value:
    if function is None:
        return UNKNOWN
    outer = frame.outer_names
    if loop:
        frame.loop += 1
        frame.outer_names = [*outer, set(frame.env or ())]
    try:
        return machine.call(frame, function, Arguments(given), node)
    finally:
        if loop:
            frame.loop -= 1
            frame.outer_names = outer


def _chosen_by(condition: Value | None, value: Value) -> Value:
    """A branch's result: it depends on the condition, whatever it is made of. XLA folds what shapes decide."""
    tensor = as_tensor(condition, Dependence.STATIC) if condition is not None else None
    least = Dependence.VALUE if tensor is None else max(tensor.dependence, Dependence.SHAPE)

    def chosen(part: Value) -> Value:
        match part:
            case Tensor():
                return part.with_(dependence=max(part.dependence, least))
            case Static(constant) if constant is not None:
                return Tensor(least, rank=0)
            case Sequence(kind, tuple(items)):
                return Sequence(kind, tuple(map(chosen, items)))
            case _:
                return part

    return chosen(value)


def _cond(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    branches = [arguments.get(1, "true_fn"), arguments.get(2, "false_fn")]
    branches = [found for found in branches if found is not None]
    if not branches:
        return UNKNOWN
    results = [_called(machine, frame, found, [], node, False) for found in branches]
    condition = arguments.get(0, "pred")
    tensor = as_tensor(condition) if condition is not None else None
    if len(results) == 2 and tensor is not None and tensor.dependence is Dependence.VALUE:  # XLA drops one of others
        reason = mismatch(*results)
        if reason in ("dtype", "rank"):
            machine.emit(frame, JoinBranches, node, name="", reason=reason, functions=True)
    return _chosen_by(condition, join_all(*results))


def _cases(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    found: list[Value] = []
    for value in (*arguments.positional, *arguments.keywords.values()):
        if isinstance(value, Sequence) and value.element is not None:
            # How many branches a list has is not known, nor what all of them leave: they run, no more is said.
            for branch in machine.functions_in(_last(value.element)):
                machine.call(frame, branch, Arguments(), node)
        for item in value.items or () if isinstance(value, Sequence) else (value,):
            found += [machine.call(frame, branch, Arguments(), node) for branch in machine.functions_in(_last(item))]
    return _chosen_by(None, join_all(*found)) if found else Nest()


def _last(value: Value) -> Value:
    """The function of a pair of a condition or number and a function."""
    return value.items[-1] if isinstance(value, Sequence) and value.items else value


def _loop_variable(value: Value) -> Value:
    match value:
        case Tensor():
            return value.with_(dependence=Dependence.VALUE, carried=True, mixed=False)
        case Nest():
            return replace(value, carried=True)
        case Static(constant):
            return Tensor(Dependence.VALUE, _NUMBERS.get(type(constant)), 0, carried=True)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_loop_variable, items)))
        case Dict(entries, None) if not entries:
            return Static({})  # no step can add to it
        case Dict(entries, element):
            # The loop hands its body a dict of its own.
            return Dict({key: _loop_variable(item) for key, item in entries.items()}, element)
        case _:
            return value


def _invariant(value: Value) -> Value:
    """A variable that no round of a loop changes, as a round sees it."""
    match value:
        case Static(constant):
            return Tensor(Dependence.STATIC, _NUMBERS.get(type(constant)), 0)
        case _:
            return value


def _left(value: Value) -> Value:
    """The same behind the loop: data are no compile-time constant any more (measured)."""
    match value:
        case Tensor(dependence=Dependence.VALUE, carried=False):
            return value.with_(carried=True, mixed=True)
        case _:
            return value


def _handed_on(body: Value | None) -> frozenset[int]:
    """The positions of the variables that no round changes: data are then as they are to the code around the loop."""
    match body:
        case FunctionValue(function, bound=None, partial_args=()):
            return handed_on(function.node)
        case _:
            return frozenset()


def _while_loop(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    variables = arguments.get(2, "loop_vars")
    items = list(variables.items) if isinstance(variables, Sequence) and variables.items is not None else []
    same = _handed_on(arguments.get(1, "body"))
    given = [_invariant(item) if at in same else _loop_variable(item) for at, item in enumerate(items)]
    for position, name in ((0, "cond"), (1, "body")):
        if given or variables is None:
            _called(machine, frame, arguments.get(position, name), given, node, True)
        elif arguments.get(position, name) is not None:
            some: list[Value] = [Nest(carried=at not in same) for at in range(max(same, default=-1) + 1)]
            unknown = Arguments(some, rest=Nest(carried=True))
            frame.loop += 1
            machine.call(frame, arguments.get(position, name) or UNKNOWN, unknown, node)
            frame.loop -= 1
    if not (isinstance(variables, Sequence) and given):
        return Nest(carried=True)
    return Sequence(variables.kind, tuple(_left(item) if at in same else item for at, item in enumerate(given)))


def _element(machine: Calls, frame: Frame, value: Value | None, node: cst.BaseExpression) -> Value:
    match value:
        case None:
            return Nest()
        case Tensor(rank=rank, origin=origin):
            return value.element(rank - 1 if rank else None, origin)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(_element(machine, frame, item, node) for item in items))
        case _:
            return Nest()


def _mapped(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.map_fn`, `tf.vectorized_map`: each element through the function."""
    result = _called(
        machine, frame, arguments.get(0, "fn"), [_element(machine, frame, arguments.get(1, "elems"), node)], node, True
    )
    return _stacked(result)


def _stacked(result: Value) -> Value:
    match result:
        case Tensor():
            rank = None if result.rank is None else result.rank + 1
            return result.with_(dependence=Dependence.VALUE, rank=rank, carried=False, mixed=False)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_stacked, items)))
        case _:
            return Nest()


def _scanned(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.scan`, `tf.foldl`, `tf.foldr`: an accumulator and each element."""
    item = _element(machine, frame, arguments.get(1, "elems"), node)
    start = arguments.get(2, "initializer")
    first = _loop_variable(item if start is None or start == NONE else start)
    return _stacked(_called(machine, frame, arguments.get(0, "fn"), [first, item], node, True))


def _map_structure(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    def apply(values: list[Value]) -> Value:
        head = values[0]
        if isinstance(head, Sequence) and head.items is not None:
            rows = [list(v.items) if isinstance(v, Sequence) and v.items is not None else [] for v in values]
            if len(set(map(len, rows))) == 1:
                return Sequence(head.kind, tuple(apply(list(row)) for row in zip(*rows, strict=True)))
        if isinstance(head, Dict):
            return Dict({key: apply([value]) for key, value in head.entries.items()}, head.element)
        if isinstance(head, Sequence) and head.element is not None:
            inner = [element_of(value) or value if isinstance(value, Sequence) else value for value in values]
            return Sequence(head.kind, None, apply(inner))
        result = machine.call(frame, arguments.positional[0], Arguments(values), node)
        vague = any(isinstance(option, Nest | Unknown) for option in options(head))
        tensor = as_tensor(result, Dependence.STATIC) if vague else None
        # A structure like the one that is not known.
        return result if tensor is None else Nest(tensor.dependence, tensor.origin)

    return apply(arguments.positional[1:]) if len(arguments.positional) > 1 else UNKNOWN


def _is_tensor(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    match arguments.positional:
        case [value] if as_tensor(value, Dependence.STATIC) == value:
            return Static(True)
        case _:
            return None


def _is_nested(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    known = is_instance(arguments.positional[0], STRUCTURES) if arguments.positional else None
    return None if known is None else Static(known)


# -- the host ---------------------------------------------------------------------------------------------------------


def _on_host(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    function = arguments.get(0, "func")
    for found in machine.functions_in(function) if function is not None else ():
        machine.enter(found, HOST, Arguments(unknown=True), "host")
    tensor = Tensor(Dependence.VALUE, origin=Origin(Place(frame.unit, node), "a Python function's result"))
    outputs = arguments.get(2, "Tout")
    return Nest() if outputs is None or isinstance(outputs, Sequence) else tensor


def run_in_pipeline(machine: Calls, arguments: Arguments) -> None:
    """The functions of a pipeline run on the host, each traced by itself; XLA never sees them."""
    for value in (*arguments.positional, *arguments.keywords.values()):
        for function in machine.functions_in(value):
            machine.enter(function, PIPELINE, Arguments(rest=Nest(), unknown=True), "pipeline")
            machine.piped[function.function.identity] = function.function


def _dataset_function(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """A method of a pipeline, with functions for its elements."""
    run_in_pipeline(machine, arguments)
    if isinstance(owner, ApiObject):
        return None
    return (
        ApiObject("tf.data.Dataset", payload=Nest()) if any(map(machine.functions_in, arguments.positional)) else None
    )


def _from_function(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.distribute_datasets_from_function(f)`: the dataset that `f` makes for each worker."""
    function = arguments.get(0, "dataset_fn")
    if not isinstance(function, FunctionValue):
        return None
    made = machine.call(frame, function, Arguments([ApiObject("tf.distribute.InputContext")]), node)
    return made if pipelines.is_dataset(made) else None


def _dataset_map(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`dataset.map(f)`: the elements are what the function makes of them."""
    made = _dataset_function(machine, frame, owner, arguments, node)
    if not (isinstance(owner, ApiObject) and owner.api == pipelines.DATASET):
        return made
    results = []
    function = arguments.get(0, "map_func")
    for found in machine.functions_in(function) if function is not None else ():
        summary = machine.analyse(None, found, Arguments(rest=owner.payload or Nest(), unknown=True), PIPELINE)
        results.append(UNKNOWN if summary is None else summary.value)
    match function:
        case ApiObject(method=None) if api.kind_of(function.api) == "layer":
            results.append(machine.call(frame, function, Arguments([owner.payload or Nest()]), node))
    return pipelines.after_map(owner, join_all(*results) if results else None)


# -- Keras and strategies ---------------------------------------------------------------------------------------------


def _keras_entry(machine: Calls, frame: Frame, function: Value, role: str, count: int) -> None:
    autograph = machine.keras_version(frame.module) == 2
    how = "which Keras 2 converts with AutoGraph" if autograph else "which Keras 3 runs without AutoGraph"
    for found in machine.functions_in(function):
        if found.compiled is not None:
            continue
        entry = f"`{found.function.qualname}`, a {role} {how}"
        origin = _argument(found, role)
        dicts = dicts_among(found.function.node)
        parameters = found.function.node.params.params[found.bound is not None :]
        names = [parameter.name.value for parameter in parameters[:count]]
        given: list[Value] = [
            Nest(origin=origin) if name in dicts else Tensor(Dependence.VALUE, "float", origin=origin)
            for name in (*names, *[""] * (count - len(names)))
        ]
        if role == "function in a Lambda layer":
            given = [Nest()]
        compiled = Compilation(ContextKind.XLA, autograph, entry, by_keras=True)
        machine.enter(found, compiled, Arguments(given, unknown=True), role)


def _argument(function: FunctionValue, role: str) -> Origin:
    return Origin(function.function.label, f"Keras calls this {role} with tensors")


def _lambda_layer(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    function = arguments.get(0, "function")
    if function is not None:
        _keras_entry(machine, frame, function, "function in a Lambda layer", 1)
    return None


def _compile(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`model.compile(loss=f, metrics=[g])`."""
    remember_compiled(machine, frame, owner, arguments, node)
    is_model = isinstance(owner, ApiObject) and api.kind_of(owner.api) == "model"
    is_model = is_model or (isinstance(owner, Instance) and owner.cls.is_keras("model"))
    if not is_model and not arguments.keywords.keys() & {"loss", "metrics", "optimizer", "weighted_metrics"}:
        return None
    for position, keyword, role in (
        (1, "loss", "loss function"),
        (3, "metrics", "metric function"),
        (4, "weighted_metrics", "metric function"),
    ):
        for item in _parts(arguments.get(position, keyword)):
            _keras_entry(machine, frame, item, role, 2)
    return None if isinstance(owner, ApiObject) else NONE


def _parts(value: Value | None) -> list[Value]:
    match value:
        case None:
            return []
        case Sequence(items=tuple(items)):
            return [part for item in items for part in _parts(item)]
        case Dict(entries, element):
            return [part for item in (*entries.values(), *([element] if element else [])) for part in _parts(item)]
        case _:
            return [value]


def _strategy_run(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.run(step, args=(batch,))`: a TPU strategy compiles the step."""
    function = arguments.get(0, "fn")
    if not isinstance(function, FunctionValue):
        return None
    given, named = arguments.get(1, "args"), arguments.get(2, "kwargs")
    call = Arguments(unknown=True)
    match given:
        case Sequence(items=tuple(items)):
            call.positional = list(items)
        case None:
            pass
        case _:
            call.rest = Nest()
    if isinstance(named, Dict):
        call.keywords = {key: value for key, value in named.entries.items() if isinstance(key, str)}
    function = machine.decorated(function) if function.compiled is None else function
    if isinstance(owner, ApiObject):
        machine.said_call(frame, f"{owner.api}.run", {"fn": function}, {}, UNKNOWN, node, owner)
    if is_tpu(owner) and function.compiled is None:
        entry = f"`{function.function.qualname}`, compiled by `TPUStrategy.run`"
        how = Compilation(ContextKind.XLA, True, entry, jit=True)
        function = replace(function, compiled=how)
    before = len(frame.summary.calls)
    outside = frame.context
    if machine.strategies:
        frame.context = replace(outside, scope=Scope(owner, replica=True))
    result = machine.invoke(frame, function, call, node)
    frame.context = outside
    frame.summary.steps |= {callee for _, callee in frame.summary.calls[before:]}
    return result


def _scope(machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`strategy.scope()`."""
    if not machine.strategies or not (is_strategy(owner) or isinstance(owner, Unknown)):
        return None
    if isinstance(owner, ApiObject):
        machine.said_call(frame, f"{owner.api}.scope", {}, {}, UNKNOWN, node, owner)
    return ApiObject(SCOPE, payload=owner)


def _enter_scope(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`strategy.scope().__enter__()`, `stack.enter_context(strategy.scope())`: it holds for all that follows."""
    for value in (owner, *arguments.positional):
        if isinstance(value, ApiObject) and value.api == SCOPE:
            frame.context = replace(frame.context, scope=scope_entered(frame, value, node))
            machine.scope_stays |= not frame.is_module
    return None


def _activation(machine: Calls, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """What a name or a configuration stands for gives a tensor of its argument's shape, as `linear` does."""
    given = arguments.get(0, "identifier")
    return given if isinstance(given, FunctionValue | Instance | Api | ApiObject) else Api("keras.activations.linear")


HIGHER_ORDER: Final[dict[str, Handler]] = {
    "keras.activations.get": _activation,
    "tf.function": _function,
    "tf.xla.experimental.compile": _xla_compile,
    "functools.partial": _partial,
    "functools.wraps": lambda machine, frame, arguments, node: Api("functools.identity"),
    "functools.identity": _same_function,
    "tf.autograph.experimental.do_not_convert": _unconverted,
    "tf.autograph.to_graph": _same_function,
    "tf.custom_gradient": _custom_gradient,
    "tf.recompute_grad": _same_function,
    "tf.TensorShape": _tensor_shape,
    "tf.grad_pass_through": _same_function,
    "keras.utils.register_keras_serializable": lambda machine, frame, arguments, node: Api("functools.identity"),
    "tf.cond": _cond,
    "tf.case": _cases,
    "tf.switch_case": _cases,
    "tf.while_loop": _while_loop,
    "tf.map_fn": _mapped,
    "tf.vectorized_map": _mapped,
    "keras.ops.map": _mapped,
    "keras.ops.vectorized_map": _mapped,
    "tf.scan": _scanned,
    "tf.foldl": _scanned,
    "tf.foldr": _scanned,
    "keras.ops.cond": _cond,
    "keras.ops.while_loop": _while_loop,
    "tf.nest.map_structure": _map_structure,
    "keras.tree.map_structure": _map_structure,
    "keras.utils.pad_sequences": tokenizing.pad_sequences,
    **{f"tqdm.{name}": _same_function for name in ("tqdm", "auto.tqdm", "notebook.tqdm", "tqdm_notebook", "std.tqdm")},
    "tf.py_function": _on_host,
    "tf.numpy_function": _on_host,
    "tf.py_func": _on_host,
    "keras.layers.Lambda": _lambda_layer,
    "tf.is_tensor": _is_tensor,
    "keras.ops.is_tensor": _is_tensor,
    "keras.backend.is_tensor": _is_tensor,
    "tf.nest.is_nested": _is_nested,
    "keras.tree.is_nested": _is_nested,
    # Where no caller is seen, the question is what happens once the code is compiled.
    "keras.backend.backend": lambda machine, frame, arguments, node: Static("tensorflow"),  # all that XLA sees here
    "tf.executing_eagerly": lambda machine, frame, arguments, node: Static(frame.context.kind is ContextKind.HOST),
    "tf.inside_function": lambda machine, frame, arguments, node: Static(frame.context.kind is not ContextKind.HOST),
}

HIGHER_ORDER_METHODS: Final[dict[str, MethodHandler]] = {
    **{
        f"tf.data.Dataset.{name}": _dataset_function
        for name in (
            "filter",
            "flat_map",
            "interleave",
            "apply",
            "reduce",
            "scan",
            "take_while",
            "from_generator",
        )
    },
    ".map": _dataset_map,
    ".distribute_datasets_from_function": _from_function,
    ".experimental_distribute_datasets_from_function": _from_function,
    ".filter": _dataset_function,
    ".flat_map": _dataset_function,
    ".interleave": _dataset_function,
    ".compile": _compile,
    "functools.partial.__call__": _call_partial,
    f"{WRAPPED}.__call__": call_wrapped,
    **RUNNERS,
    **tokenizing.CALLS,
    ".run": _strategy_run,
    ".scope": _scope,
    ".__enter__": _enter_scope,
    ".enter_context": _enter_scope,
    ".experimental_run_v2": _strategy_run,
}
