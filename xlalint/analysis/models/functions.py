"""Functions that are passed on, bound to arguments or wrapped: `functools` and what returns its argument."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..domain.values import (
    UNKNOWN,
    Api,
    ApiObject,
    ClassValue,
    Dict,
    FunctionValue,
    Sequence,
    Static,
    Value,
)
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..library.raw_ops import LOADED
from ..record import replace


def _partial(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
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
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
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
            return interpreter.call(frame, callee, given, node)
        case _:
            return UNKNOWN


def _curried(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`toolz.curry(f, ..)`: calls give it arguments until it has all that it needs."""
    made = _partial(interpreter, frame, arguments, node)
    return ApiObject("toolz.curry", payload=made) if isinstance(made, FunctionValue) else UNKNOWN


def _call_curried(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    match owner.payload if isinstance(owner, ApiObject) else None:
        case FunctionValue() as function if _is_complete(function, arguments):
            return interpreter.call(frame, function, arguments, node)
        case FunctionValue() as function:
            given = replace(arguments, positional=[function, *arguments.positional])
            return _curried(interpreter, frame, given, node)
        case _:
            return None


def _is_complete(function: FunctionValue, arguments: Arguments) -> bool:
    """Whether a call leaves out no argument that the function has no default for."""
    if arguments.unknown or arguments.rest is not None:
        return True
    params = function.function.node.params
    places = [*params.posonly_params, *params.params][function.bound is not None :]
    names = [*places[len(function.partial_args) + len(arguments.positional) :], *params.kwonly_params]
    given = function.partial_keywords.keys() | arguments.keywords.keys()
    return all(param.default is not None or param.name.value in given for param in names)


def _same_function(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return arguments.positional[0] if arguments.positional else UNKNOWN


def _loaded(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.load_op_library(path)`: a module of operations."""
    return Api(LOADED)


def _method(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`types.MethodType(function, object)`."""
    match arguments.positional:
        case [FunctionValue() as function, owner, *_]:
            return replace(function, bound=owner)
        case _:
            return UNKNOWN


def _signature(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`inspect.signature(f)`, which binds arguments to the names of parameters."""
    match arguments.positional, interpreter.project.written("inspect.Signature"):
        case [FunctionValue(function, bound=bound)], ClassValue() as signature:
            try:
                parameters = function.node.params.params[bound is not None :]
            except (SyntaxError, NestedTooDeepError, LookupError) as error:
                interpreter.note_trouble(function, error)
                return UNKNOWN
            names = Sequence("tuple", tuple(Static(parameter.name.value) for parameter in parameters))
            return interpreter.call(frame, signature, Arguments([names]), node)
        case _:
            return None


def _named_arguments(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`inspect.getcallargs(f, ..)`: the arguments of a call by the names of parameters."""
    signature = _signature(interpreter, frame, Arguments(arguments.positional[:1]), node)
    if signature is None:
        return None
    given = replace(arguments, positional=arguments.positional[1:], nodes=arguments.nodes[1:])
    bound = interpreter.call(frame, interpreter.attribute(frame, signature, "bind", node), given, node)
    return interpreter.attribute(frame, bound, "arguments", node)


# What shows how far a loop has come, beside tqdm.
_PROGRESS: Final = (
    "fastprogress.progress_bar",
    "fastprogress.fastprogress.progress_bar",
    "rich.progress.track",
    "tqdm.rich.tqdm",
)

FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "tf.load_op_library": _loaded,
    "inspect.signature": _signature,
    "inspect.getcallargs": _named_arguments,
    "functools.partial": _partial,
    **dict.fromkeys(("toolz.curry", "toolz.functoolz.curry", "cytoolz.curry"), _curried),
    "functools.wraps": lambda interpreter, frame, arguments, node: Api("functools.identity"),
    "functools.identity": _same_function,
    "types.MethodType": _method,
    "tf.recompute_grad": _same_function,
    "tf.grad_pass_through": _same_function,
    **{
        f"keras.{room}.register_keras_serializable": lambda interpreter, frame, arguments, node: Api(
            "functools.identity"
        )
        for room in ("saving", "utils")
    },
    **dict.fromkeys(_PROGRESS, _same_function),
    **{f"tqdm.{name}": _same_function for name in ("tqdm", "auto.tqdm", "notebook.tqdm", "tqdm_notebook", "std.tqdm")},
}
METHODS: Final[dict[str, MethodModel]] = {
    "functools.partial.__call__": _call_partial,
    "toolz.curry.__call__": _call_curried,
}
