"""What the analyser knows of parameters, for whoever has to find inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from ..analysis.domain.kinds import options
from ..analysis.domain.values import (
    NONE,
    ApiObject,
    Array,
    Dependence,
    Dict,
    Function,
    FunctionValue,
    Instance,
    Static,
    Structure,
    Tensor,
    Value,
)
from ..analysis.domain.values import Sequence as SequenceValue
from ..analysis.files.files import Files
from ..analysis.fixpoint.entry_points import Options, analyse
from ..analysis.fixpoint.partitions import Member
from ..analysis.fixpoint.processes import run_parts
from ..analysis.fixpoint.recursion import run_deep
from ..analysis.interpreter.contexts import ContextKind
from ..analysis.interpreter.frames import Summary
from ..analysis.library.keras_classes import is_keras
from ..sources.reading import read_source
from ..sources.text import display_path
from .target import Parameter

Key: TypeAlias = tuple[Path, str]  # file and qualified name

_COMPILED: Final = (ContextKind.XLA, ContextKind.GRAPH, ContextKind.OPEN)


@dataclass(slots=True)
class Knowledge:
    """What was learned of each function: its parameters, which functions of tensors may be compiled, and which give a
    Keras model."""

    values: dict[Key, dict[str, list[Value]]] = field(default_factory=dict)
    compiled: dict[Key, Function] = field(default_factory=dict)
    models: dict[Key, Function] = field(default_factory=dict)

    def learn(self, summary: Summary) -> None:
        """Take in one analysis of a function."""
        function = summary.function
        if function is None:
            return
        key = (function.module.path, function.qualname)
        seen = (*summary.given.values(), summary.value)
        tensors = any(isinstance(option, Tensor | Structure) for value in seen for option in options(value))
        eager = summary.host_only and summary.context.kind is ContextKind.OPEN  # else the code says that it is compiled
        if summary.context.kind in _COMPILED and not eager and tensors:
            self.compiled[key] = function
        if any(isinstance(one, ApiObject) and is_keras(one.api, "model") for one in options(summary.value)):
            self.models[key] = function
        known = self.values.setdefault(key, {})
        for name, value in summary.given.items():
            known.setdefault(name, []).extend(() if name in summary.structures else options(value))

    def parameters(self, key: Key) -> tuple[Parameter, ...]:
        """The parameters of a function, those of which something is known."""
        found = (_parameter(name, values) for name, values in self.values.get(key, {}).items())
        return tuple(one for one in found if one.kind)


def knowledge_of(paths: Iterable[Path], keras: int | None) -> Knowledge:
    """Analyse files, with what they import, and keep what that says of parameters."""
    found = Knowledge()
    files = Files.of([read_source(path, display_path(path)) for path in paths])
    work = partial(analyse, files, None, Options(keras), lambda event, run: None, frozenset(), found.learn)
    run_deep(partial(run_parts, [Member(work)], 1))
    return found


def _parameter(name: str, values: Sequence[Value]) -> Parameter:
    tensors = [value for value in values if isinstance(value, Tensor)]
    dtypes = {tensor.dtype for tensor in tensors if tensor.dtype is not None}
    ranks = {tensor.rank for tensor in tensors if tensor.rank is not None}
    kinds = dict.fromkeys(kind for value in values for kind in _kinds(value))
    return Parameter(
        name,
        "|".join(kinds),
        dtypes.pop() if len(dtypes) == 1 else None,
        ranks.pop() if len(ranks) == 1 else None,
        any(map(_is_of_data, values)),
    )


def _is_of_data(value: Value) -> bool:
    """Whether a value is, or may hold, a number that is data."""
    match value:
        case Tensor(dependence=Dependence.VALUE, rank=rank):
            return rank in (0, None)
        case Structure(dependence=Dependence.VALUE):
            return True
    return False


def _kinds(value: Value) -> Iterator[str]:
    match value:
        case Tensor():
            yield "tensor"
        case Structure():
            yield "nest"
        case Array():
            yield "array"
        case Static() if value != NONE:
            yield "static"
        case SequenceValue(kind="list" | "tuple" as kind):
            yield kind
        case Dict():
            yield "dict"
        case FunctionValue():
            yield "function"
        case Instance():
            yield "object"
