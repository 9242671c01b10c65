"""Classes whose methods a library's training loop calls: what it calls them with, and how it compiles them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..domain.values import ApiObject, Class, FunctionValue, Sequence, Structure, Value
from ..interpreter.contexts import Context, ContextKind
from ..interpreter.frames import Arguments
from ..interpreter.interface import Interpreter, method_value

_BATCH: Final = Structure()
_BATCHES: Final = ApiObject("tf.data.Iterator", payload=_BATCH)
_MODEL: Final = ApiObject("keras.Model")
_OPTIMIZER: Final = ApiObject("keras.optimizers.Optimizer")
_METRICS: Final = Sequence("list", None, ApiObject("keras.metrics.Metric"))

# By base class, the methods that become functions of the graph, with their arguments. Orbit wraps its steps in
# `tf.function` unless its options say otherwise (orbit/standard_runner.py); the trainer of TensorFlow's Model Garden
# has a strategy run those of its task in such a step (official/core/base_trainer.py).
_TASK: Final[dict[str, tuple[Value, ...]]] = {
    "train_step": (_BATCH, _MODEL, _OPTIMIZER, _METRICS),
    "validation_step": (_BATCH, _MODEL, _METRICS),
    "inference_step": (_BATCH, _MODEL),
    "build_losses": (_BATCH, _BATCH),
}
_CALLED: Final[dict[str, dict[str, tuple[Value, ...]]]] = {
    "orbit.StandardTrainer": {"train_step": (_BATCHES,)},
    "orbit.StandardEvaluator": {"eval_step": (_BATCHES,)},
    "official.core.base_task.Task": _TASK,
    "tensorflow_models.task.Task": _TASK,
}


def trainer_entries(interpreter: Interpreter, cls: Class) -> Iterator[tuple[FunctionValue, Context, Arguments]]:
    """The methods of a class that a training loop of a library calls, with their context and arguments."""
    for base in cls.external_bases:
        for name, given in _CALLED.get(base, {}).items():
            method = cls.find(name)
            if method is not None:
                entry = f"`{cls.name}.{name}`, which `{base}` has `tf.function` trace"
                context = Context(ContextKind.GRAPH, True, entry)
                value = interpreter.decorated(method_value(method, interpreter.canonical_instance(cls)))
                yield value, context, Arguments(list(given), unknown=True)


def is_of_trainer(cls: Class) -> bool:
    """Whether a library's training loop runs methods of a class."""
    return not _CALLED.keys().isdisjoint(cls.external_bases)
