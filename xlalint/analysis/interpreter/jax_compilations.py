"""Where host code has JAX compile again: shapes and static values that vary, and functions that are created anew.

JAX finds compiled code by the function object. A function of a module is the same each time, whatever wraps it; what a
loop defines, a bound method and what `functools.partial`, `jax.grad` or `jax.vmap` return are new ones.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.values import ApiObject, FunctionValue, Static, Value
from ..record import replace
from .contexts import NOT_TRACED, Context, ContextKind
from .events import CallOwnCompiled, MakeCompiled
from .feeding import is_kept, passed_values, report_feed
from .frames import Arguments, Compilation, Frame
from .interface import Interpreter

ON_JAX: Final = frozenset((Backend.JAX,))
_NEW: Final = Context(ContextKind.XLA, False, "a function that JAX compiles", backends=ON_JAX)
_LOOPS: Final = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def traced_by_jax(function: FunctionValue, by: str, static: frozenset[str] | None = None) -> FunctionValue:
    """A function that JAX traces, as `by` says; `static`: the parameters that stay Python values in `jax.jit`."""
    entry = f"`{function.function.qualname}`, {by}"
    return replace(function, compiled=Compilation(ContextKind.XLA, False, entry, True, backends=ON_JAX, static=static))


def report_jax_call(
    interpreter: Interpreter, frame: Frame, function: FunctionValue, arguments: Arguments, node: cst.CSTNode
) -> None:
    """Host code calls what `jax.jit` made of a function: it is compiled for each shape, and for each value of a static
    parameter. Other Python numbers are traced."""
    how = function.compiled
    if not isinstance(how, Compilation) or how.static is None or frame.context.kind not in NOT_TRACED:
        return
    _, names = positional_names(function)
    positional = [names[at] if at < len(names) else "" for at in range(len(arguments.positional))]
    passed = zip_longest((*positional, *arguments.keywords), passed_values(arguments, node))
    given = [pair for name, pair in passed if name in how.static or not isinstance(pair[0], Static)]
    report_feed(interpreter, frame, how.context, given, node, function.function.identity, traced=True)


def positional_names(function: FunctionValue) -> tuple[list[str], list[str]]:
    """The positional parameters that a function has been given already, and those that arguments of a call are for."""
    parameters = function.function.node.params
    names = [parameter.name.value for parameter in (*parameters.posonly_params, *parameters.params)]
    count = len(function.partial_args) + (function.bound is not None)
    return names[:count], names[count:]


def report_jax_compilation(
    interpreter: Interpreter,
    frame: Frame,
    function: Value,
    given: cst.CSTNode | None,
    node: cst.BaseExpression,
    *,
    runs: bool = False,
) -> None:
    """JAX is to compile a function, which `given` stands for; without that, `node` is its decorator. Say so where a
    loop has it do that for a new one in each iteration, or each call of a function. `runs`: the call at `node` compiles
    and runs it."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or frame.guards:
        return
    if frame.python_loop:
        again = not is_kept(frame.unit, node) and (given is None or _is_new(frame, function, given, in_loop=True))
        if again:
            interpreter.emit_on_host(frame, MakeCompiled, node, _NEW, arguments={}, in_loop=True)
        return
    at_once = frame.function is not None and (runs or _is_called(frame, node))
    if at_once and given is not None and _is_new(frame, function, given, in_loop=False):
        interpreter.emit_on_host(frame, CallOwnCompiled, node, _NEW, again=False)


def report_jax_own_call(interpreter: Interpreter, frame: Frame, function: FunctionValue, node: cst.CSTNode) -> None:
    """Host code calls a function compiled by `jax.jit` that it has defined itself."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or frame.function is None:
        return
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Call):
        return  # `jax.jit(..)(x)`: it is said there
    if function.scope is frame and function.function.stretch is None and not (frame.guards or frame.python_loop):
        interpreter.emit_on_host(frame, CallOwnCompiled, function.function.label.node, _NEW, again=False)


def _is_called(frame: Frame, node: cst.CSTNode) -> bool:
    """Whether what a call returns is called at once."""
    around = next((around for around in frame.unit.around(node) if isinstance(around, cst.Call)), None)
    return around is not None and around.func is node


def _is_new(frame: Frame, function: Value, given: cst.CSTNode, *, in_loop: bool) -> bool:
    """Whether each iteration of the loop around it, or each call of the function, creates the function anew."""
    match given, function:
        case cst.Lambda(), _:
            return True
        case cst.Call(), FunctionValue():
            return function.scope is not None or bool(function.partial_args or function.partial_keywords)
        case cst.Call(), ApiObject():
            return True
        case cst.Attribute(), FunctionValue():
            return function.bound is not None
        case cst.Name(), FunctionValue(scope=scope) if scope is not None:
            return scope is frame and (not in_loop or _is_defined_in_loop(frame, function, given))
        case _:
            return False


def _is_defined_in_loop(frame: Frame, function: FunctionValue, given: cst.CSTNode) -> bool:
    """Whether the loop around `given` holds the definition of the function."""
    location = function.function.label
    if location.unit is not frame.unit:
        return False
    loops = [around for around in frame.unit.around(given) if isinstance(around, _LOOPS)]
    return any(around in loops for around in frame.unit.around(location.node))
