"""Which losses, metrics and steps of models are left to the project: of which Keras is passed no object, and that the
project calls itself, a metric or a step from eager code alone, a loss with containers, a layer in input pipelines, or a
model's `call` with Keras's inputs, of which another model is made. They are run as these calls run them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from ...syntax import nodes as cst
from ..domain.kinds import leaves
from ..domain.values import Api, Class, Dict, Function, Tensor, Value
from ..domain.values import Sequence as ListValue
from ..interpreter.contexts import NOT_TRACED, ContextKind
from ..interpreter.frames import Summary
from ..library.call_kinds import KERAS_INPUTS
from ..program.definitions import all_methods
from .partitions import Key

_STEPS: Final = frozenset(("call", "train_step", "test_step", "predict_step"))
_Calls: TypeAlias = Mapping[object, Sequence[tuple[Summary, Summary]]]


class _How(StrEnum):
    """What is known of how such a method is run."""

    HANDED = "of an object that Keras is passed, or a model that is compiled"
    ASIDE = "called by the project where Keras would not call it"
    INSIDE = "called by the project as Keras calls it"


_USED: Final = (_How.HANDED, _How.INSIDE)


class RoleCalls:
    """How a partition calls the methods of losses, metrics and models that Keras runs. `calls`: each call of a
    function, with its caller; `handed`: the classes of which Keras is passed objects."""

    def __init__(self, calls: _Calls, handed: Collection[Class]) -> None:
        self._calls = calls
        self.keys = frozenset((*_of_classes(handed), *_of_calls(calls)))

    def without_left(self, roots: Iterable[Summary], is_named: Callable[[Key], bool]) -> list[Summary]:
        """The entry points, without the methods that are left to the project. `is_named`: whether other partitions
        have one of their `keys` in common with this."""
        return [root for root in roots if not self._is_left(root, is_named)]

    def unseen(self, roots: Iterable[Summary], is_named: Callable[[Key], bool]) -> set[Summary]:
        """The methods of losses and metrics that nothing is seen to have Keras run, nor to call as Keras does."""
        return {
            root
            for root in roots
            if root.context.by_keras
            and (method := root.function) is not None
            and method.owner is not None
            and any(map(method.owner.is_keras, ("loss", "metric")))
            and not any((key := _key(method, how)) in self.keys or is_named(key) for how in _USED)
        }

    def _is_left(self, root: Summary, is_named: Callable[[Key], bool]) -> bool:
        function = root.function
        if function is None or not root.context.by_keras or not _has_role(function):
            return False

        def known(method: Function, how: _How) -> bool:
            key = _key(method, how)
            return key in self.keys or is_named(key)

        if known(function, _How.HANDED) or known(function, _How.INSIDE):
            return False
        if known(function, _How.ASIDE) or any(known(update, how) for update in _updates(function) for how in _How):
            return True
        # What only the same methods of its heirs call is run as these are.
        heirs = [caller for caller, _ in self._calls.get(function.identity, ()) if caller is not root]
        return bool(heirs) and all(self._is_left(heir, is_named) for heir in heirs)


def _of_classes(handed: Iterable[Class]) -> Iterator[Key]:
    for cls in handed:
        yield from (_key(method, _How.HANDED) for method in all_methods(cls))


def _of_calls(calls: _Calls) -> Iterator[Key]:
    for found in calls.values():
        for caller, called in found:
            function = called.function
            if function is not None and _has_role(function) and not _is_inherited(caller, function):
                yield _key(function, _How.ASIDE if _is_aside(function, caller, called) else _How.INSIDE)


def _has_role(function: Function) -> bool:
    owner = function.owner
    if owner is not None and owner.is_keras("model"):
        return function.name in _STEPS
    if owner is not None and owner.is_keras("layer"):
        return function.name == "call"
    return owner is not None and (owner.is_keras("metric") or owner.is_keras("loss"))


def _is_inherited(caller: Summary, function: Function) -> bool:
    """Whether a method that Keras runs calls the one that it overrides."""
    heir = caller.function
    return caller.context.by_keras and heir is not None and heir.name == function.name and _has_role(heir)


def _updates(function: Function) -> Iterator[Function]:
    """The method that a metric is updated by, of its result: who calls the one reads the other, by a name that need
    not tell of which metric."""
    if function.owner is not None and function.owner.is_keras("metric") and function.name == "result":
        update = function.owner.find("update_state")
        if update is not None:
            yield update


def _is_aside(function: Function, caller: Summary, called: Summary) -> bool:
    assert function.owner is not None
    if function.owner.is_keras("model") and function.name == "call":
        return called.context.kind is ContextKind.HOST and any(map(_is_input(caller), called.given.values()))
    if function.owner.is_keras("metric") or function.owner.is_keras("model"):
        return called.context.kind in NOT_TRACED
    if function.owner.is_keras("layer"):
        return called.context.pipeline
    return any(isinstance(value, Dict | ListValue) for value in called.given.values())


def _is_input(caller: Summary) -> Callable[[Value], bool]:
    """Whether a value has a `keras.Input` in it, that the caller made: what is computed of it becomes a part of another
    model, with the layers that are made on the way."""
    module = None if caller.function is None else caller.function.module

    def asked(value: Value) -> bool:
        for leaf in leaves(value):
            if not isinstance(leaf, Tensor) or leaf.origin is None or module is None:
                continue
            location = leaf.origin.location
            if isinstance(location.node, cst.Call) and location.path == module.source.display:
                made = module.resolve_text(location.unit.code(location.node.func))
                if isinstance(made, Api) and made.name in KERAS_INPUTS:
                    return True
        return False

    return asked


def _key(function: Function, how: _How) -> Key:
    path, line, name = function.key
    return (path, line, f"{name}: {how}")
