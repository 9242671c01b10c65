"""What compiled steps keep of Keras's optimizers, asked of each one: all numbers but the learning rate."""

from __future__ import annotations

import inspect
from typing import Any, Final

import pytest

from xlalint.analysis.domain.values import ApiObject
from xlalint.analysis.library.kept_numbers import MAY_BE_VARIABLES, is_kept

NEW: Final[dict[str, float]] = {
    "beta_1": 0.2,
    "beta_2": 0.4,
    "clipnorm": 0.1,
    "clipvalue": 0.1,
    "epsilon": 0.5,
    "global_clipnorm": 0.1,
    "learning_rate": 0.3,
    "loss_scale_factor": 8.0,
    "momentum": 0.9,
    "rho": 0.3,
    "weight_decay": 0.2,
}
START: Final[dict[str, float]] = {
    "clipnorm": 1.0,
    "clipvalue": 1.0,
    "global_clipnorm": 1.0,
    "loss_scale_factor": 2.0,
    "weight_decay": 0.01,
}
OPTIMIZERS: Final = ("SGD", "Adam", "AdamW", "RMSprop", "Adadelta", "Adagrad", "Adamax", "Nadam", "Ftrl", "Lion")


def _weights(name: str, attribute: str, new: object, *, compiled: bool) -> list[float]:
    """What a variable comes to when the attribute is set between two steps and two others."""
    import keras  # type: ignore[import-untyped]
    import tensorflow as tf  # type: ignore[import-untyped]

    made = getattr(keras.optimizers, name)
    options = {"learning_rate": 0.1, **{key: START[key] for key in (attribute,) if key in START}}
    if "momentum" in inspect.signature(made.__init__).parameters:
        options["momentum"] = 0.5
    weight, optimizer = keras.Variable([1.0, -2.0, 3.0]), made(**options)
    optimizer.build([weight])

    def step(gradient: Any) -> None:
        optimizer.apply_gradients([(gradient, weight)])

    run = tf.function(step) if compiled else step
    gradients = [tf.constant([0.5, -1.5, 2.5]) * factor for factor in (1.0, 3.0, -2.0, 1.0)]
    for number, gradient in enumerate(gradients):
        if number == 2 and new is not None:
            setattr(optimizer, attribute, new)
        run(gradient)
    return [float(part) for part in weight.numpy()]


@pytest.mark.compiler
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_a_compiled_step_keeps_of_an_optimizer(name: str) -> None:
    import keras

    known = inspect.signature(getattr(keras.optimizers, name).__init__).parameters
    for attribute in NEW.keys() & known.keys():
        eager = [_weights(name, attribute, new, compiled=False) for new in (None, NEW[attribute])]
        if eager[0] == pytest.approx(eager[1]):
            continue  # it matters to nobody
        found = _weights(name, attribute, NEW[attribute], compiled=True)
        kept = is_kept(ApiObject(f"keras.optimizers.{name}"), attribute, 3)
        assert found == pytest.approx(eager[not kept], abs=1e-5), attribute


@pytest.mark.compiler
@pytest.mark.parametrize("attribute", sorted(MAY_BE_VARIABLES))
def test_a_variable_in_its_place_is_read_anew(attribute: str) -> None:
    import tensorflow as tf

    name = "RMSprop" if attribute == "rho" else "AdamW"
    variable = tf.Variable(NEW[attribute], trainable=False)
    assert _weights(name, attribute, variable, compiled=False) == pytest.approx(
        _weights(name, attribute, NEW[attribute], compiled=False), abs=1e-5
    )


@pytest.mark.parametrize(
    ("owner", "attribute", "keras", "kept"),
    [
        ("keras.optimizers.Adam", "beta_1", 3, True),
        ("keras.optimizers.Adam", "beta_1", 2, False),  # an older TensorFlow keeps it in a variable
        ("keras.optimizers.Adam", "clipnorm", 2, True),
        ("keras.optimizers.Adam", "learning_rate", 3, False),
        ("keras.layers.Dropout", "rate", 2, True),
        ("keras.layers.Dropout", "name", 3, False),
        ("keras.losses.Huber", "rate", 3, False),
    ],
)
def test_which_attributes_are_kept(owner: str, attribute: str, keras: int, kept: bool) -> None:
    assert is_kept(ApiObject(owner), attribute, keras) == kept
