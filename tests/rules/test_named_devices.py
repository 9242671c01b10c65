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


HEAD: Final = """\
import argparse
import os
import sys
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="/gpu:0")
parser.add_argument("--host", default="/cpu:0")
parser.add_argument("--gpu", type=int, default=0)
parser.add_argument("--where")
args = parser.parse_args()
NAME = "/GPU:0"

class Config:
    name = "/device:GPU:1"

    def __init__(self):
        self.gpu = f"/gpu:{args.gpu}"

config = Config()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")

def main(device):
    with tf.device(device):
        model.fit(tf.ones([8, 3]), tf.ones([8, 1]))

"""
DEVICES: Final = {
    "NAME": NO_TPU,
    "config.name": NO_TPU,
    "config.gpu": NO_TPU,
    "{'a': '/gpu:0'}['a']": NO_TPU,
    "'/gpu:' + str(args.gpu)": NO_TPU,
    "f'/gpu:{args.gpu}'": NO_TPU,
    "f'/device:GPU:{len(sys.argv)}'": NO_TPU,
    "'/GPU:%d' % args.gpu": NO_TPU,
    "'/gpu:{}'.format(args.gpu)": NO_TPU,
    "'/device:GPU:' + sys.argv[1]": NO_TPU,
    "'/job:localhost/replica:0/task:0/device:GPU:0'": NO_TPU,
    "args.device": "by default, which `--device` decides",
    "os.environ.get('DEVICE', '/gpu:0')": "by default, which `DEVICE` decides",
    "'/gpu:0' if tf.config.list_physical_devices('GPU') else '/cpu:0'": NO_STRATEGY,
    "'/cpu:0' if not tf.test.is_gpu_available() else '/gpu:0'": NO_STRATEGY,
    "tf.test.gpu_device_name()": NO_STRATEGY,
    "args.where": "",
    "f'/{args.where}:0'": "",
    "'/' + sys.argv[1]": "",
    "'/device:TPU:%d' % args.gpu": "",
    "f'/tpu:{args.gpu}'": "",
    "'/gpu:0' if len(sys.argv) > 1 else '/tpu:0'": "",
    "sys.argv[1]": "",
}
STRATEGIES: Final = {
    "tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])": True,
    "tf.distribute.MirroredStrategy(devices=['GPU:0'])": True,
    "tf.distribute.MirroredStrategy([f'/gpu:{i}' for i in range(args.gpu)])": True,
    "tf.distribute.MirroredStrategy([gpu.name for gpu in tf.config.list_logical_devices('GPU')])": True,
    "tf.distribute.MirroredStrategy(['/gpu:0', args.where])": False,
    "tf.distribute.MirroredStrategy(['CPU:0', 'CPU:1'])": False,
}


@pytest.mark.parametrize(("device", "told"), DEVICES.items())
def test_device_whose_name_is_put_together(device: str, told: str) -> None:
    text = f"{HEAD}main({device})\n"
    found = [one.message for one in lint_source(text, settings=Settings(target="tpu")).findings]
    assert [told in message for message in found] == [True] * bool(told)
    assert not lint_source(text).findings


@pytest.mark.parametrize(("strategy", "told"), STRATEGIES.items())
def test_strategy_of_devices_that_are_named(strategy: str, told: bool) -> None:
    text = f"{HEAD.partition('def main')[0]}with {strategy}.scope():\n"
    text += "    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    net.compile('sgd', 'mse')\n"
    text += "net.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n"
    found = [one.code for one in lint_source(text, settings=Settings(target="tpu")).findings]
    assert ("XLA512" in found) == told


@pytest.mark.compiler
def test_the_host_trains_where_no_gpu_is() -> None:
    namespace: dict[str, object] = {}
    exec(
        PROGRAM.format(device='tf.device("/GPU:0")', call="fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)"), namespace
    )
    exec("gpus = tf.config.list_physical_devices('GPU')\nmade = model.layers[0].kernel.value.device", namespace)
    assert ("GPU" in str(namespace["made"])) == bool(namespace["gpus"])
