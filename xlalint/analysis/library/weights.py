"""Which objects hold weights: layers that make some, models that hold such layers, and models that were trained."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Compiled, Dict, Instance, Sequence, Static, Value
from ..record import replace
from .keras_classes import WEIGHTED

_DEEPEST: Final = 4  # how many objects inside each other are looked into
_TRAINED: Final = ("trained", Static(True))
"""The option of a model that a function returns: one of `keras.applications`, or what a file holds."""
_ADDING: Final = frozenset(("__init__", "build"))
_ADDS: Final = frozenset(("Variable", "add_variable", "add_weight"))


def marked(maker: str, made: ApiObject) -> ApiObject:
    """A new object, marked where a function of the library that is no class, `maker`, returns a model."""
    is_returned = made.api == "keras.Model" and maker != made.api and made.method is None
    return replace(made, options=(*made.options, _TRAINED)) if is_returned else made


def holds_weights(value: Value | None, depth: int = _DEEPEST) -> bool:
    """Whether this is known to hold weights; of a model that was put together elsewhere, only that it is trained."""
    match value:
        case ApiObject(facts=Compiled()) | Instance(facts=Compiled()):
            return True
        case ApiObject("keras.Model" | "keras.Sequential", method=None, payload=payload, options=options):
            return _TRAINED in options or (depth > 0 and holds_weights(payload, depth - 1))
        case ApiObject(name, method=None):
            return name.startswith("keras.layers.") and name.rpartition(".")[2] in WEIGHTED
        case Sequence(items=tuple(items)) if depth > 0:
            return any(holds_weights(item, depth - 1) for item in items)
        case Dict(entries) if depth > 0:
            return any(holds_weights(item, depth - 1) for item in entries.values())
        case Instance(cls, attributes) if depth > 0 and (cls.is_keras("layer") or cls.is_keras("model")):
            makers = (cls.find(name) for name in _ADDING)
            adds = any(maker is not None and _adds(maker.node.body) for maker in makers)
            return adds or any(holds_weights(held, depth - 1) for held in attributes.values())
        case _:
            return False


def _adds(body: cst.CSTNode) -> bool:
    """Whether code makes a variable: `self.add_weight(..)`, `tf.Variable(..)`."""
    calls = (part.func for part in cst.within(body) if isinstance(part, cst.Call))
    return any(isinstance(called, cst.Attribute) and called.attr.value in _ADDS for called in calls)
