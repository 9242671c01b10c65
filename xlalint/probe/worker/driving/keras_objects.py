"""Objects of the user's classes: how they are made and called, and what of Keras they are."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from xlalint.sources.specs import Form, Keyed, Literal, spec

from ..backends import backend
from ..inputs.numbers import SIZE
from ..inputs.signatures import asked_of
from ..inputs.slots import OBJECTS, Slot, tensor
from ..inputs.tensors import Arguments, build

_NONE: Final[Arguments] = ((), {})
_SIZES: Final = (SIZE, 32, 64, 224)  # for the dimensions that a model leaves open
_STEPS: Final = ("train_step", "test_step", "predict_step")
# Keras's own classes: where a class has several of them among its ancestors, the first here says what it is.
_KINDS: Final = {
    "optimizer": ("optimizers.Optimizer", "optimizers.legacy.Optimizer"),
    "metric": ("metrics.Metric",),  # a layer, too, in Keras 2
    "model": ("Model",),
    "layer": ("layers.Layer",),
    "loss": ("losses.Loss",),
}


def keras_kind(cls: type) -> str | None:
    """What of Keras a class is: "optimizer", "model", "layer", "loss", "metric" or nothing."""
    for kind, names in _KINDS.items():
        if any(issubclass(cls, base) for name in names for base in _named(name)):
            return kind
    return None


def _named(name: str) -> Iterator[type]:
    """The classes that the Keras packages call so."""
    for module in backend.keras_modules():
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, None)
        if inspect.isclass(found):
            yield found


def keras_converts(cls: type) -> bool:
    """Whether the Keras of a class lets AutoGraph convert what it calls: Keras 2 does, Keras 3 does not."""
    for base in cls.__mro__:
        top = base.__module__.partition(".")[0]
        if top in ("keras", "tf_keras"):
            return str(getattr(sys.modules[top], "__version__", "3")).startswith("2")
    return True


def is_left_to_keras_2(autograph: bool, keras: int | None) -> bool:
    """Whether Keras 2 decides what AutoGraph converts of code that Keras 3 would run as it stands: where it is all that
    there is, and nothing says which `keras` the code is for."""
    versions = (getattr(module, "__version__", None) for module in backend.keras_modules())  # TensorFlow's says none
    return not autograph and keras is None and all(str(one).startswith("2.") for one in versions if one is not None)


def called_method(cls: type) -> Callable[..., Any] | None:
    """The method that runs when an object of the class is called; None where none is the user's."""
    for name in ("update_state",) if keras_kind(cls) == "metric" else ("call", "__call__"):
        method = getattr(cls, name, None)
        if inspect.isfunction(method) or hasattr(method, "python_function"):
            return method
    return None


def is_callable(cls: type) -> bool:
    """Whether an object of a Keras class can be called: of some models only the methods are used, and Keras's own
    `call` refuses to run."""
    called = called_method(cls)
    bases = [base for module in backend.keras_modules() for base in (module.Model, module.layers.Layer)]
    return called is not None and all(called is not getattr(base, "call", None) for base in bases)


def make_object(cls: type, given: Mapping[str, Arguments]) -> Any:
    """An object of a class. The random numbers of its weights are the same every time."""
    backend.seed(0)
    try:
        positional, keywords = given.get("init", _NONE)
        return cls(*positional, **keywords)
    finally:
        backend.seed(None)  # else all that is traced later seems to be asked to repeat its numbers


def call_of(cls: type, made: Any) -> Callable[..., Any]:
    """How an object is called by what trains a model with it."""
    if keras_kind(cls) == "optimizer":
        return _applied(made)
    return made  # type: ignore[no-any-return]


def _applied(optimizer: Any) -> Callable[..., Any]:
    """An optimizer's step on one variable."""
    variable: list[Any] = []

    def step(gradient: Any) -> Any:
        if not variable:
            variable.append(backend.variable(gradient))
        optimizer.apply_gradients([(gradient, variable[0])])
        return variable[0] * 1.0

    return step


def is_model(value: Any) -> bool:
    """Whether something is a Keras model, ready to be called."""
    return not inspect.isclass(value) and keras_kind(type(value)) == "model"


def models_in(value: Any) -> list[Any]:
    """The Keras models that something is, or that a sequence or a dictionary holds."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    return [one for one in (value if isinstance(value, tuple | list) else (value,)) if is_model(one)]


def learning_of(called: Any) -> dict[str, bool]:
    """What Keras says to a model that it trains, where the model listens."""
    layer = keras_kind(type(called)) in ("layer", "model")
    return {"training": True} if layer and "training" in inspect.signature(called.call).parameters else {}


def model_slots(model: Any) -> list[Slot]:
    """What a model is called with: what it says of its inputs, where it has been built, with the first sizes for open
    ones that it takes."""
    inputs = getattr(model, "inputs", None) or _signed(model)
    if not inputs:
        return [INPUTS]
    choices: dict[Form, None] = {}
    for size in _SIZES:
        forms = {
            one.name: spec(backend.dtype_name(one.dtype), SIZE, *(dim or size for dim in one.shape[1:]))
            for one in inputs
        }
        choices.setdefault(Keyed(tuple(forms.items())) if len(forms) > 1 else next(iter(forms.values())))
    first, *others = choices
    found = next(filter(partial(_takes, model), (first, *others)), first) if others else first
    return [replace(INPUTS, choices=(found,))]


def _signed(model: Any) -> Sequence[Any]:
    """What a model that is a class of its own says of its inputs by name, as those of `transformers` do."""
    signature = getattr(model, "input_signature", None)
    specs = list(signature.values()) if isinstance(signature, Mapping) else []
    said = [backend.spec_of(one) for one in specs]
    return specs if all(one is not None and one[1] for one in said) and all(one.name for one in specs) else []


def _takes(model: Any, form: Form) -> bool:
    try:
        model(build(form, 0, 0))
    except Exception:  # of any kind: it is too small for what the model does
        return False
    return True


GRADIENT: Final = Slot("gradient", "call", (tensor(),))
INPUTS: Final = Slot("inputs", "call", (tensor(), tensor(4), tensor(3), tensor(2, "int32")), positional=True)


# -- steps of training ------------------------------------------------------------------------------------------------


def is_step(name: str) -> bool:
    """Whether a method is a step that Keras runs with a batch."""
    return name in _STEPS


def compile_slots(cls: type) -> list[Slot]:
    """What a model's own `compile` asks for: optimizers and losses, by what stands in the way."""
    optimizer, loss = OBJECTS["optimizer"], OBJECTS["loss"]
    names = list(inspect.signature(cls.compile).parameters.values())[1:]  # type: ignore[attr-defined]
    needed = asked_of(cls.compile, bound=True)  # type: ignore[attr-defined]
    known = {one.name for one in names} | {"optimizer", "loss"}
    slots = [Slot(one.name, "compile", (optimizer, loss, Literal(1.0), Literal(None))) for one in needed]
    taken = {slot.name for slot in slots}
    return slots + [
        Slot(name, "compile", (choice, None))
        for name, choice in (("optimizer", optimizer), ("loss", loss))
        if name not in taken and name in known
    ]


def step_of(model: Any, name: str, given: Mapping[str, Arguments]) -> Callable[..., Any]:
    """A step of a compiled model, as a function of a batch."""
    positional, keywords = given.get("compile", _NONE)
    model.compile(*positional, **keywords)
    step = getattr(model, name)

    def run(data: Any) -> Any:
        return step(data)

    return run


def state_of(made: Any) -> list[Any]:
    """The variables of an object, those of its optimizer and metrics included."""
    found: dict[int, Any] = {}
    for owner in (made, getattr(made, "optimizer", None), *getattr(made, "metrics", ())):
        try:
            variables = getattr(owner, "variables", ())
        except ValueError:  # a module of Sonnet that has none refuses to say so
            continue
        for one in variables() if callable(variables) else variables:
            if hasattr(one, "assign"):
                found.setdefault(id(one), one)
    return list(found.values())


def variables_in(value: Any) -> list[Any]:
    """A variable itself, those of a Keras object, or what random numbers are drawn from."""
    if inspect.isclass(value):
        return []
    if any(isinstance(value, kind) for kind in (*backend.VARIABLES, *_named("Variable"))):
        return [value]
    if any(isinstance(value, kind) for kind in (*backend.GENERATORS, *_named("random.SeedGenerator"))):
        return [value.state]
    return state_of(value) if keras_kind(type(value)) is not None else []
