"""What XLA504 and XLA511 say of a TPU node, with a second process as the remote machine: which one holds the files."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim

SERVER: Final = """
import sys
import tensorflow as tf

server = tf.distribute.Server({"worker": [sys.argv[1]]}, job_name="worker", task_index=0)
print("ready", flush=True)
server.join()
"""
CLIENT: Final = """
import json, sys
import keras
import tensorflow as tf

tf.io.write_file("rows.tfrecord", b"")
tf.config.experimental_connect_to_host(sys.argv[1])
there = "/job:worker/replica:0/task:0/device:CPU:0"
here = tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
whole = tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")
with tf.device(there):
    variable = tf.Variable([1.0, 2.0])
    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])

class Module(tf.Module):
    def __init__(self):
        self.variable = variable

    @tf.function(input_signature=[tf.TensorSpec([2])], autograph=False)
    def __call__(self, x):
        return x * self.variable

def rows(make):
    with tf.device(there):
        return [int(tf.shape(row)[0]) for row in make()]

checkpoint = tf.train.Checkpoint(variable=variable)
tried = {
    "save": lambda: checkpoint.save("saved/model"),
    "write": lambda: checkpoint.write("written/model"),
    "manager": lambda: tf.train.CheckpointManager(checkpoint, "managed", max_to_keep=1).save(),
    "saved model": lambda: tf.saved_model.save(Module(), "whole"),
    "export": lambda: model.export("exported"),
    "save here": lambda: checkpoint.save("here/model", options=here),
    "restore": lambda: checkpoint.restore(tf.train.latest_checkpoint("here")).assert_consumed(),
    "restore here": lambda: checkpoint.restore(tf.train.latest_checkpoint("here"), options=here).assert_consumed(),
    "saved model here": lambda: tf.saved_model.save(Module(), "whole here", options=whole),
    "HDF5": lambda: model.save_weights("model.weights.h5"),
    "keras": lambda: model.save("model.keras"),
    "files": lambda: rows(lambda: tf.data.TFRecordDataset("rows.tfrecord")),
    "memory": lambda: rows(lambda: tf.data.Dataset.from_tensor_slices(tf.ones([2, 3]))),
}
told = {}
for name, run in tried.items():
    try:
        run()
        told[name] = ""
    except Exception as error:
        told[name] = type(error).__name__
print(json.dumps(told))
"""
ABSENT: Final = {"InvalidArgumentError", "NotFoundError"}
FAIL: Final = ("save", "write", "manager", "saved model", "export", "restore", "files")
WORK: Final = ("save here", "restore here", "saved model here", "HDF5", "keras", "memory")


@pytest.mark.compiler
@pytest.mark.parametrize(
    "programs", [pytest.param((SERVER, CLIENT), marks=claim(SERVER, CLIENT, FAIL, WORK, sampled=False))]
)
def test_the_machine_that_holds_a_variable_writes_it(programs: tuple[str, str], tmp_path: Path) -> None:
    remote, local = programs
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        address = f"localhost:{probe.getsockname()[1]}"
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
    folders = [tmp_path / "there", tmp_path / "here"]
    for folder in folders:
        folder.mkdir()
    command = [sys.executable, "-c", remote, address]
    with subprocess.Popen(command, cwd=folders[0], env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            ran = subprocess.run(
                [sys.executable, "-c", local, address],
                cwd=folders[1],
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        finally:
            server.kill()
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert {name: error for name, error in told.items() if name in FAIL and error not in ABSENT} == {}
    assert {name: error for name, error in told.items() if name in WORK and error} == {}
    assert told.keys() == {*FAIL, *WORK}
