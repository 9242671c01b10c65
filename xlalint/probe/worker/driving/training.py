"""The step that a compiled Keras model trains with, as a function of a batch: Keras's own with the optimizer, the
losses and the metrics of `compile()`, or the model's; and labels that its losses take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import Any, Final, TypeAlias

import keras  # type: ignore[import-untyped]
import numpy as np

from xlalint.probe.keras_names import named_like
from xlalint.sources.specs import SHORT, Form, Spec, spec

from ..backends import backend
from ..code.messages import brief, message_of
from ..inputs.slots import Choice
from ..inputs.tensors import ObjectInput, build, draw
from .keras_objects import state_of
from .state import State

OWN: Final = "its own train_step"
_PLACE: Final = 100  # of the labels among the tensors of a call, whose places number them: far behind the inputs
_FEWEST: Final = 2  # classes, where an output has one number
_HINT: Final = "; `labels: ..` among its inputs says what they are"
_NUMBER: Final = re.compile(r"_\d+$")
_KERAS: Final = ("keras", "tf_keras")

# Makes the labels of one output: of a number of the set of values, and of what the model gives there.
_Labels: TypeAlias = Callable[[int, Any], Any]


@dataclass(frozen=True)
class _Said:
    """Labels that the user describes; `known`: what the losses take, where that is known."""

    form: Form | ObjectInput
    known: Any

    def drawn(self, outputs: Any, number: int) -> Any:
        """With indices of classes that there are."""
        given = build(self.form, 0, number, count(_PLACE))
        if self.known is None:
            return given

        def within(kind: _Labels, output: Any, labels: Any) -> Any:
            return (
                labels % _classes(output) if kind is _indices and "int" in backend.dtype_name(labels.dtype) else labels
            )

        try:
            return backend.map_structure(within, self.known, outputs, given)
        except (TypeError, ValueError):  # they are arranged in another way
            return given


class NoTrainingError(Exception):
    """A compiled model cannot be trained with what is known of its labels; the text is one line."""


@dataclass(frozen=True)
class Training:
    """A step of training. `how`: what it is, in words; `step`: a function of a batch; `batch`: of the number of the set
    of values and the inputs, a batch; `labels`: what is in it behind the inputs, in the grammar of `specs`; `notes`:
    what Keras itself would do otherwise."""

    how: str
    step: Callable[[Any], Any]
    batch: Callable[[int, Any], Any]
    labels: str
    notes: tuple[str, ...]


def is_compiled(model: Any) -> bool:
    """Whether `compile()` was called on a Keras model."""
    return bool(getattr(model, "compiled", getattr(model, "_is_compiled", False)))


def training_of(model: Any, inputs: Callable[[int], Any], said: Choice) -> Training:
    """How a compiled model is trained with batches of `inputs`, which the number of a set of values gives; with labels
    as the user has `said`, if at all. Its variables are there afterwards. Raises NoTrainingError."""
    own = _is_own(model, "train_step")
    errors: list[Exception] = []
    notes = tuple(_notes(model))
    before = State(state_of(model))
    with backend.eager_execution():
        outputs = model(inputs(0))
        for labels in _candidates(model, outputs, said, own):

            def batch(number: int, given: Any, labels: Any = labels) -> Any:
                if labels is not None:
                    return given, _made(labels, outputs, number)
                return (given,) if backend.is_nested(given) else given  # as Keras itself passes it

            try:
                backend.train_step(model, batch(0, inputs(0)))
            except Exception as raised:  # of any kind: it takes others
                errors.append(raised)
            else:
                shown = "" if labels is None else f"labels: {_shown(_made(labels, outputs, 0))}"
                return Training(_words(model, own), partial(backend.train_step, model), batch, shown, notes)
            finally:
                before.restore()
    hint = _HINT if own or model.loss is not None else ""
    raise NoTrainingError(f"{type(errors[0]).__name__}: {brief(message_of(errors[0]))}{hint}")


# -- what it is -------------------------------------------------------------------------------------------------------


def _is_own(model: Any, name: str) -> bool:
    """Whether a method is of another class than those of Keras."""
    owner = next(one for one in type(model).__mro__ if name in vars(one))
    return owner.__module__.partition(".")[0] not in _KERAS


def _words(model: Any, own: bool) -> str:
    if own:
        return OWN
    losses = list(dict.fromkeys(_name(one) for one in _flat(model.loss) if one is not None))
    parts = [_optimizer(model.optimizer), *(losses or ["its own loss"]), *_metrics(model)]
    return f"the train step of compile() ({', '.join(dict.fromkeys(parts))})"


def _optimizer(optimizer: Any) -> str:
    inner = getattr(optimizer, "inner_optimizer", None)
    return type(optimizer).__name__ if inner is None else f"{type(inner).__name__} with loss scaling"


def _metrics(model: Any) -> Iterator[str]:
    """The names of the metrics that `compile()` was given."""
    held = getattr(model, "_compile_metrics", None) or getattr(model, "compiled_metrics", None)
    known = getattr(held, "metrics", None) or ()
    for one in known:
        numbered = one.name.startswith(named_like(type(one).__name__))  # by Keras, where a program makes several
        yield _NUMBER.sub("", one.name) if numbered else one.name


def _notes(model: Any) -> Iterator[str]:
    if getattr(model, "run_eagerly", False):
        yield "compile() says run_eagerly=True, with which Keras compiles nothing: this is its step as XLA compiles it"


# -- labels -----------------------------------------------------------------------------------------------------------


def _candidates(model: Any, outputs: Any, said: Choice, own: bool) -> Iterator[Any]:
    """Labels to try, each a structure like that of the outputs; None for none, as an autoencoder has them."""
    loss = model.loss
    known = _paired(loss, outputs, getattr(model, "output_names", None)) if loss is not None else None
    if said is not None:
        yield _Said(said, known)
        return
    ours = known is not None and all(one is None or _of_keras(_resolved(one)) for one in _flat(loss))
    if known is not None and (ours or not own):
        yield from (known, None) if own else (known,)
        return
    yield None  # the inputs may hold them
    if known is not None:
        yield known
    elif own or _is_own(model, "compute_loss"):
        for kind in (_numbers, _indices):
            yield backend.map_structure(lambda output, kind=kind: kind, outputs)


def _made(labels: Any, outputs: Any, number: int) -> Any:
    """The labels of one set of values."""
    if isinstance(labels, _Said):
        return labels.drawn(outputs, number)
    return backend.map_structure(lambda kind, output: kind(number, output), labels, outputs)


def _paired(loss: Any, outputs: Any, names: Any) -> Any:
    """For each output, what makes its labels, by the loss that `compile()` has for it."""
    if isinstance(outputs, Mapping):
        alone = loss if not isinstance(loss, Mapping | list | tuple) else None
        given = loss if isinstance(loss, Mapping) else dict(zip(outputs, _flat(loss), strict=False))
        return {name: _paired(given.get(name, alone), one, None) for name, one in outputs.items()}
    if isinstance(outputs, list | tuple):
        if isinstance(loss, Mapping):
            each = [loss.get(name) for name in names or ()]
        else:
            each = list(loss) if isinstance(loss, list | tuple) else [loss] * len(outputs)
        each += [None] * (len(outputs) - len(each))
        return type(outputs)(_paired(one, output, None) for one, output in zip(each, outputs, strict=False))
    return _labels_for(next((one for one in _flat(loss) if one is not None), None), outputs)


def _flat(loss: Any) -> list[Any]:
    """The losses that `compile()` was given, in their order."""
    if isinstance(loss, Mapping):
        return list(chain.from_iterable(map(_flat, loss.values())))
    return list(chain.from_iterable(map(_flat, loss))) if isinstance(loss, list | tuple) else [loss]


def _labels_for(loss: Any, output: Any) -> _Labels:
    """What a loss takes: known of Keras's own, tried of others."""
    if loss is None:
        return _numbers
    function = _resolved(loss)
    if (known := _BY_LOSS.get(_name(function))) is not None and _of_keras(function):
        return known
    return next((kind for kind in (_numbers, _flags, _indices) if _takes(function, kind, output)), _numbers)


def _takes(loss: Callable[..., Any], kind: _Labels, output: Any) -> bool:
    """Whether a loss takes labels, of the type that Keras makes of them, and gives numbers."""
    try:
        losses = np.asarray(
            loss(backend.tensor_of(np.asarray(kind(0, output)), backend.dtype_name(output.dtype)), output), np.float32
        )
        return bool(np.isfinite(losses).all())
    except Exception:  # of any kind: it takes others
        return False


def _resolved(loss: Any) -> Any:
    """A loss that is named, as the function; one of Keras's classes, as the function that it computes."""
    function = keras.losses.get(loss) if isinstance(loss, str) else loss
    return getattr(function, "fn", function)


def _name(loss: Any) -> str:
    """What a loss is called, as Keras names its functions."""
    function = _resolved(loss)
    return str(getattr(function, "__name__", None) or named_like(type(function).__name__))


def _of_keras(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in _KERAS


def _shape(output: Any) -> tuple[int, ...]:
    return tuple(output.shape)


def _drawn(one: Spec, number: int) -> Any:
    return draw(one, 0, number, _PLACE)


def _numbers(number: int, output: Any) -> Any:
    return _drawn(spec("float32", *_shape(output)), number)


def _positive(number: int, output: Any) -> Any:
    return _drawn(spec("float32", *_shape(output), style="positive"), number)


def _flags(number: int, output: Any) -> Any:
    return _drawn(spec("float32", *_shape(output), style="flags"), number)


def _indices(number: int, output: Any) -> Any:
    """Of classes, for which the output's last dimension has a number each."""
    return _drawn(spec("int32", *_shape(output)[:-1]), number) % _classes(output)


def _classes(output: Any) -> int:
    return max((_shape(output) or (1,))[-1], _FEWEST)


def _one_hot(number: int, output: Any) -> Any:
    return backend.tensor_of(np.eye(_shape(output)[-1])[np.asarray(_indices(number, output))], "float32")


def _words_of_steps(number: int, output: Any) -> Any:
    """For half of the steps a class each, which is not the blank one."""
    batch, steps, classes = _shape(output)
    return 1 + _drawn(spec("int32", batch, max(steps // 2, 1)), number) % max(classes - 1, 1)


_BY_LOSS: Final[Mapping[str, _Labels]] = {
    **dict.fromkeys(("sparse_categorical_crossentropy", "categorical_generalized_cross_entropy", "circle"), _indices),
    **dict.fromkeys(
        ("categorical_crossentropy", "categorical_focal_crossentropy", "categorical_hinge", "kl_divergence"), _one_hot
    ),
    **dict.fromkeys(
        (
            "binary_crossentropy",
            "binary_focal_crossentropy",
            "dice",
            "hinge",
            "squared_hinge",
            "tversky",
        ),
        _flags,
    ),
    **dict.fromkeys(("mean_squared_logarithmic_error", "poisson"), _positive),
    "ctc": _words_of_steps,
}


def _shown(labels: Any) -> str:
    """Labels in the grammar of `specs`."""
    if isinstance(labels, Mapping):
        return "{" + ", ".join(f"{name!r}: {_shown(one)}" for name, one in labels.items()) + "}"
    if isinstance(labels, list | tuple):
        return f"[{', '.join(map(_shown, labels))}]"
    dtype = SHORT[backend.dtype_name(labels.dtype)]
    return f"{dtype}[{', '.join(map(str, labels.shape))}]"
