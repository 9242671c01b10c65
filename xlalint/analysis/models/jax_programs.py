"""JAX in programs of Keras 3: what compiles functions, maps them and takes their gradients."""

from __future__ import annotations

from functools import partial
from typing import Final

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.kinds import as_tensor
from ..domain.values import (
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    Dependence,
    Dict,
    FunctionValue,
    Sequence,
    Static,
    Structure,
    Tensor,
    Value,
)
from ..interpreter.asked_backends import keep
from ..interpreter.contexts import NOT_TRACED, ContextKind
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..interpreter.jax_compilations import positional_names, report_jax_compilation, traced_by_jax
from ..library.objects import UPDATED
from ..program.signs import Shows
from ..record import replace

_MAPPED, _GRADIENT = "jax.vmap", "jax.grad"
_RESHAPE: Final = "keras.ops.reshape"
_MADE: Final = frozenset((_MAPPED, _GRADIENT))


def _jit(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`jax.jit(f)`; without a function, as in the decorator `jax.jit(static_argnums=0)`."""
    function = arguments.get(0, "fun")
    if function is None:
        return ApiObject(
            "functools.partial", payload=Sequence("tuple", (Api("jax.jit"), Dict(dict(arguments.keywords))))
        )
    if not frame.module.file.imports_keras:
        return function
    report_jax_compilation(interpreter, frame, function, arguments.nodes[0] if arguments.nodes else None, node)
    match function:
        case FunctionValue():
            return _compiled(interpreter, function, arguments)
        case ApiObject(payload=Sequence(items=(FunctionValue() as inner, *rest))) if function.api in _MADE:
            made = _compiled(interpreter, inner, arguments)
            return replace(function, payload=Sequence("tuple", (made, *rest)))
        case _:
            return function


def _compiled(interpreter: Interpreter, function: FunctionValue, arguments: Arguments) -> FunctionValue:
    static = _static(function, arguments)
    if static is None:
        return function
    made = traced_by_jax(function, "compiled by `jax.jit`", static)
    interpreter.enter_compiled(made)
    return made


def _static(function: FunctionValue, arguments: Arguments) -> frozenset[str] | None:
    """The parameters of which JAX makes no tensors; None where that is not known."""
    numbers = _constants(arguments.keywords.get("static_argnums"))
    names = _constants(arguments.keywords.get("static_argnames"))
    if numbers is None or names is None:
        return None
    before, passed = positional_names(function)
    by_position = (passed[at] for at in numbers if isinstance(at, int) and -len(passed) <= at < len(passed))
    by_name = (name for name in names if isinstance(name, str))
    return frozenset((*by_position, *before, *function.partial_keywords, *by_name))


def _constants(value: Value | None) -> tuple[object, ...] | None:
    match value:
        case None | Static(None):
            return ()
        case Static(constant=int() | str() as constant):
            return (constant,)
        case Static(constant=(tuple() | list()) as constants):
            return tuple(constants)
        case Sequence(items=tuple(items)) if all(isinstance(item, Static) for item in items):
            return tuple(item.constant for item in items if isinstance(item, Static))
        case _:
            return None


def _vmap(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    function = arguments.get(0, "fun") or UNKNOWN
    return ApiObject(_MAPPED, payload=Sequence("tuple", (function, arguments.get(1, "in_axes") or Static(0))))


def _call_mapped(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """What `jax.vmap` made of a function gives it a row of each argument that it maps."""
    match owner:
        case ApiObject(payload=Sequence(items=(function, axes))):
            mapped = isinstance(axes, Static) and axes.constant is not None
            rows = replace(arguments, positional=[_row(one) if mapped else one for one in arguments.positional])
            if (
                isinstance(function, FunctionValue)
                and function.compiled is None
                and frame.context.kind in NOT_TRACED
                and frame.module.file.imports_keras
            ):
                function = traced_by_jax(function, "which `jax.vmap` traces")
            return _stacked(interpreter.call(frame, function, rows, node))
        case _:
            return UNKNOWN


def _row(value: Value) -> Value:
    match value:
        case Tensor(rank=rank):
            return value.with_(dependence=Dependence.VALUE, rank=rank - 1 if rank else None)
        case Array(dtype):
            return Tensor(Dependence.VALUE, dtype)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_row, items)))
        case _:
            return value


def _stacked(result: Value) -> Value:
    match result:
        case Tensor(rank=rank):
            return result.with_(dependence=Dependence.VALUE, rank=None if rank is None else rank + 1)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_stacked, items)))
        case _:
            return UNKNOWN


def _grad(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression, *, with_value: bool
) -> Value:
    function = arguments.get(0, "fun") or UNKNOWN
    return ApiObject(
        _GRADIENT,
        payload=Sequence("tuple", (function, Static(with_value), arguments.get(2, "has_aux") or Static(False))),
    )


def _call_gradient(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """What `jax.grad` or `jax.value_and_grad` made of a function runs it, and returns gradients."""
    match owner:
        case ApiObject(payload=Sequence(items=(function, with_value, aux))):
            value, gradients = interpreter.call(frame, function, arguments, node), Structure()
            if with_value == Static(True):
                return Sequence("tuple", (value, gradients))
            if aux != Static(True):
                return gradients
            other = value.items[1] if isinstance(value, Sequence) and value.items and len(value.items) > 1 else UNKNOWN
            return Sequence("tuple", (gradients, other))
        case _:
            return UNKNOWN


def _updated(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`x.at[index].set(values)`: a tensor like `x`, whatever is chosen of it."""
    match owner:
        case ApiObject(payload=Tensor() | Structure() as before):
            tensor = before.tensor if isinstance(before, Structure) else before
            return tensor.with_(dependence=Dependence.VALUE)
        case _:
            return UNKNOWN


def _method(
    function: str,
    interpreter: Interpreter,
    frame: Frame,
    owner: Value,
    arguments: Arguments,
    node: cst.BaseExpression,
) -> Value | None:
    """`x.reshape(-1, n)`, `x.repeat(n)`: what JAX's tensors have as methods, and TensorFlow's have not."""
    context = frame.context
    of_keras = interpreter.project.files.jax and frame.module.file.imports_keras
    if not (of_keras and context.kind is ContextKind.XLA and context.runs_on(Backend.JAX)):
        return None
    match owner, node:
        case Tensor() | Structure(), cst.Call(func=cst.Attribute(value=written)):
            given, nodes = arguments.positional, arguments.nodes
            if function == _RESHAPE and given and (len(given) > 1 or not isinstance(given[0], Sequence)):
                sizes = [one for one, value in zip(nodes, given, strict=False) if as_tensor(value, Dependence.SHAPE)]
                given, nodes = [Sequence("tuple", tuple(given))], sizes[:1] or [node]
            keep(frame, frozenset((Backend.JAX,)))
            passed = replace(arguments, positional=[owner, *given], nodes=[written, *nodes])
            result = interpreter.call(frame, Api(function), passed, node)
            frame.context = context
            return result
        case _:
            return None


def _stateless(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`model.stateless_call(..)`: code that JAX compiles has it run the model."""
    if frame.context.kind is ContextKind.XLA and frame.context.is_for_jax:
        interpreter.show(frame, Shows.XLA, node, "`stateless_call` in `jax.jit`")
    several = 3 if arguments.keywords.get("return_losses") == Static(True) else 2
    return Sequence("tuple", (Structure(),) * several)


def _itself(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return arguments.get(0, "fun") or UNKNOWN


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "jax.jit": _jit,
    "jax.vmap": _vmap,
    "jax.grad": partial(_grad, with_value=False),
    "jax.value_and_grad": partial(_grad, with_value=True),
    "jax.checkpoint": _itself,
    "jax.remat": _itself,
}
METHODS: Final[dict[str, MethodModel]] = {
    ".reshape": partial(_method, _RESHAPE),
    ".repeat": partial(_method, "keras.ops.repeat"),
    ".stateless_call": _stateless,
    **{f"{UPDATED}.{name}": _updated for name in ("add", "apply", "divide", "max", "min", "multiply", "power", "set")},
    f"{_MAPPED}.__call__": _call_mapped,
    f"{_GRADIENT}.__call__": _call_gradient,
}
