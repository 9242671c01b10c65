"""What XLA512 says of a strategy that a program makes and trains without, on two devices of the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Final

import pytest

from tests.compiler.claims import claim

PROGRAM: Final = """
import json
import numpy as np
import tensorflow as tf

[cpu] = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x, y = np.ones([8, 3], "float32"), np.ones([8, 1], "float32")
runs = []

class Counting(tf.keras.layers.Layer):
    def call(self, x):
        runs.append(tf.distribute.get_strategy().num_replicas_in_sync)
        return x

def make(built=True):
    model = tf.keras.Sequential([tf.keras.Input([3]), Counting(), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam()
    if built:
        optimizer.build(model.trainable_variables)
    return model, optimizer

def fit(model, optimizer):
    model.compile(optimizer, "mse")
    runs.clear()
    model.fit(x, y, batch_size=4, verbose=0)
    return max(runs)

def step(model, optimizer):
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return train

def plain(model, optimizer):
    runs.clear()
    tf.function(step(model, optimizer))(x, y)
    return max(runs)

def run(model, optimizer):
    runs.clear()
    train = step(model, optimizer)
    tf.function(lambda x, y: strategy.run(train, args=(x, y)))(x, y)
    return max(runs)

def predict(model, optimizer):
    runs.clear()
    model.predict(x, verbose=0)
    return max(runs)

told = {"fit outside": fit(*make()), "step outside": plain(*make()), "predict outside": predict(*make())}
outside = make()
with strategy.scope():
    names = ("fit", "step", "run", "not built", "predict", "step in the scope")
    made = {name: make(built=name != "not built") for name in names}
    told["predict in the scope"] = predict(*outside)
told["fit inside"] = fit(*made["fit"])
told["predict inside"] = predict(*made["predict"])
told["step without run"] = plain(*made["step"])
told["step by run"] = run(*made["run"])
try:
    plain(*made["not built"])
except RuntimeError as error:
    told["not built"] = 'Need to be inside "with strategy.scope()"' in str(error)
try:
    with strategy.scope():
        plain(*made["step in the scope"])
except ValueError as error:
    told["step in the scope"] = "handle is not available outside the replica context" in str(error)
print(json.dumps(told))
"""
REPLICAS: Final = {
    "fit outside": 1,
    "step outside": 1,
    "predict outside": 1,
    "predict in the scope": 2,
    "predict inside": 2,
    "step in the scope": True,
    "fit inside": 2,
    "step without run": 1,
    "step by run": 2,
    "not built": True,
}


@pytest.mark.compiler
@pytest.mark.parametrize("program", [pytest.param(PROGRAM, marks=claim(PROGRAM, REPLICAS, sampled=False))])
def test_only_what_a_strategy_made_and_runs_is_on_its_devices(program: str) -> None:
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1]) == REPLICAS
