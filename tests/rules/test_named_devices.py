"""Programs that name the device which trains, before they move to a TPU."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
with {device}:
    model.{call}
"""
FIT: Final = "fit(tf.ones([8, 3]), tf.ones([8, 1]))"
NO_TPU: Final = "where there is none, it trains on the processor of the host"
NO_STRATEGY: Final = "no strategy puts this on a TPU"


@pytest.mark.parametrize(
    ("device", "call", "told"),
    [
        ('tf.device("/GPU:0")', FIT, NO_TPU),
        ('tf.device("/device:gpu:1")', FIT, NO_TPU),
        ('tf.device("GPU")', FIT, NO_TPU),
        ('tf.device("/CPU:0")', FIT, NO_STRATEGY),
        ('tf.device("/TPU:0")', FIT, ""),
        ("tf.device(device_of(model))", FIT, ""),
        ('tf.device("/GPU:0")', "summary()", ""),
    ],
)
def test_device_that_trains(device: str, call: str, told: str) -> None:
    text = PROGRAM.format(device=device, call=call)
    found = [one.message for one in lint_source(text, settings=Settings(target="tpu")).findings]
    assert [told in message for message in found] == [True] * bool(told)
    assert not lint_source(text).findings


@pytest.mark.compiler
def test_the_host_trains_where_no_gpu_is() -> None:
    namespace: dict[str, object] = {}
    exec(
        PROGRAM.format(device='tf.device("/GPU:0")', call="fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)"), namespace
    )
    exec("gpus = tf.config.list_physical_devices('GPU')\nmade = model.layers[0].kernel.value.device", namespace)
    assert ("GPU" in str(namespace["made"])) == bool(namespace["gpus"])
