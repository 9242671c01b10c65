"""Classes of which Keras calls methods: which ones, in which context, and what with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ..domain.values import Class, FunctionValue
from ..interpreter.contexts import HOST, Context, ContextKind, Trained
from ..interpreter.frames import Arguments, Compilation
from ..interpreter.interface import method_value
from ..interpreter.interpreter import ProjectInterpreter
from ..interpreter.trainer_steps import takes_data_alone, takes_more
from ..library import api, keras_classes
from ..program.signs import Shows, Sign
from ..record import replace
from .inherited_roles import InheritedRoles
from .roles import KINDS, is_mostly_outside, is_replaced, role_arguments

_TRAINED: Final[Mapping[str, Trained]] = {
    "loss": Trained.LOSS,
    "layer": Trained.LAYER,
    "model": Trained.LAYER,
}
_FORWARD: Final = ("call", "__call__")  # the latter of losses that leave Keras's own out


def keras_entries(
    interpreter: ProjectInterpreter, cls: Class, inherited: InheritedRoles
) -> Iterator[tuple[FunctionValue, Context, Arguments]]:
    """The methods of a class that Keras calls, mostly in a step that it may compile, with context and arguments."""
    if cls.is_keras("initializer") and (method := cls.find("__call__")) is not None and method.owner is not None:
        value = interpreter.decorated(method_value(method, interpreter.canonical_instance(cls)))
        yield value, HOST, role_arguments("initializer", "__call__", method)
    for kind in KINDS:
        if not cls.is_keras(kind) or (kind in ("layer", "model") and _stays_outside(interpreter, cls)):
            continue
        interpreter.project.show(cls.module, Shows.KERAS, Sign(0, f"`{cls.name}`"))
        autograph, keras = interpreter.keras_runs(cls.module)
        for name in api.keras_roles(kind):
            method = None if is_replaced(cls, name) else cls.find(name)
            if method is None or method.owner is None or inherited.is_told(cls, name, method):
                continue
            if kind == "model" and not interpreter.project.files.jax and takes_more(method):
                continue
            value = interpreter.decorated(method_value(method, interpreter.canonical_instance(cls)))
            entry = f"`{cls.name}.{name}`"
            own = value.compiled
            if isinstance(own, Compilation) and own.kind is not ContextKind.OPEN:
                entry, converted, by = f"{entry}, which Keras may compile", own.autograph, None
            else:
                converted, by = autograph and not (isinstance(own, Compilation) and not own.autograph), keras
            context = Context(
                ContextKind.XLA,
                converted,
                entry,
                by_keras=True,
                keras=by,
                aside=is_mostly_outside(cls, method),
                behind=kind == "model" and takes_data_alone(method),
                trained=_TRAINED.get(kind) if name in _FORWARD else None,
            )
            yield replace(value, compiled=None), context, role_arguments(kind, name, method)


def _stays_outside(interpreter: ProjectInterpreter, cls: Class) -> bool:
    """Whether a layer says that Keras shall not compile it, or that it takes what is no tensor yet (lists, text),
    as those do that are mapped over datasets. Code that calls it may be compiled all the same. What the class
    itself says counts for nothing: Keras sets each object up again."""
    return keras_classes.stays_outside(interpreter.canonical_instance(cls).attributes)
