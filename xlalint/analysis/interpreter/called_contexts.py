"""The context in which a function runs: what calls it, and what it is compiled by."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import FunctionValue
from ..record import replace
from .contexts import Context, ContextKind
from .frames import Compilation, Frame


def outside_of(frame: Frame, node: cst.CSTNode) -> tuple[Frame, cst.CSTNode]:
    """Where users' code stands that is at work here: what a function of Python's library does, its caller does."""
    while frame.caller is not None:
        node, frame = frame.call or node, frame.caller
    return frame, node


def calling_context(frame: Frame, value: FunctionValue) -> Context:
    """The context in which a frame calls a function: AutoGraph does not convert Python's library, nor what that calls,
    unless it is a function that converted code made."""
    outside, _ = outside_of(frame, frame.unit.tree)
    made_there = outside is not frame and value.scope is not None and not value.function.module.written
    return outside.context if made_there and value.scope.context.converted else frame.context


def context_of(value: FunctionValue, caller: Context) -> Context:
    """The context in which a function runs that is called from `caller`."""
    found = replace(caller, off=False) if caller.off else caller
    found = _compiled_context(value, found)
    made_for = None if value.scope is None else value.scope.made_for.get(value.function)
    for backends in (caller.backends, made_for):
        if backends is not None and found.backends != backends:
            found = replace(found, backends=backends if found.backends is None else backends & found.backends)
    if caller.aside and not found.aside and (caller.kind is not ContextKind.HOST or not _asks_for_xla(value)):
        found = replace(found, aside=True)
    return found if found.scope is caller.scope else replace(found, scope=caller.scope)


def _asks_for_xla(value: FunctionValue) -> bool:
    return isinstance(value.compiled, Compilation) and value.compiled.jit


def _compiled_context(value: FunctionValue, caller: Context) -> Context:
    compiled = value.compiled
    if not isinstance(compiled, Compilation):
        return caller
    match compiled.kind, caller.kind:
        case (ContextKind.OPEN, _) if not compiled.autograph:
            return replace(caller, autograph=False, entry=compiled.entry, keras=compiled.keras)
        case (ContextKind.OPEN | ContextKind.HOST, _):
            return caller
        case (ContextKind.GRAPH, _) if caller.pipeline:
            return caller  # each function of a pipeline becomes part of its graph, which XLA does not see
        case (ContextKind.GRAPH, ContextKind.XLA):
            # A function called inside a compiled one becomes part of it.
            by = caller if compiled.autograph else compiled
            inside = replace(caller, autograph=compiled.autograph, entry=by.entry, keras=by.keras)
            return replace(inside, plain_python=None, direct=False)
        case _:
            return compiled.context
