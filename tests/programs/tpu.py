"""Programs for TPUs and strategies as people write them, some with mistakes and some without.

A comment `# finds XLA502` stands in the line of a finding. A program is one file, or several by name.
"""

from __future__ import annotations

from typing import Final

DATA: Final = """\
import numpy as np
import tensorflow as tf

def load(path):
    return tf.numpy_function(np.load, [path], tf.float32){}

def arrays(paths):
    return tf.data.Dataset.from_tensor_slices(paths).map(load).batch(8, drop_remainder=True)

def records(path):
    return tf.data.TFRecordDataset(path).map(lambda row: tf.io.decode_raw(row, tf.float32)).batch(8, True)
"""
NODE: Final = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu", zone="us-central1-b", project="p")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
VM: Final = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
KAGGLE: Final = """\
import tensorflow as tf
try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(tpu)
    tf.tpu.experimental.initialize_tpu_system(tpu)
    strategy = tf.distribute.TPUStrategy(tpu)
except ValueError:
    strategy = tf.distribute.get_strategy()
print("replicas:", strategy.num_replicas_in_sync)
"""
MIRRORED: Final = "import tensorflow as tf\n\nstrategy = tf.distribute.MirroredStrategy()\n"
NET: Final = """\
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units)

    def call(self, x):
        return self.dense(x)
"""

Program = str | dict[str, str]

WITH_MISTAKES: Final[dict[str, Program]] = {
    "batches of PyTorch from another file": {
        "texts.py": """\
from transformers import AutoTokenizer, DataCollatorWithPadding

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")

def encode(texts, kind):
    return tokenizer(texts, padding=True, return_tensors="pt")  # finds XLA505

def collator():
    return DataCollatorWithPadding(tokenizer, return_tensors="pt")  # finds XLA505
""",
        "main.py": """\
import tensorflow as tf
from transformers import TFBertForSequenceClassification
from texts import collator, encode

model = TFBertForSequenceClassification.from_pretrained("bert-base-cased")

def train(data, texts):
    model.compile("adam")
    model.fit(model.prepare_tf_dataset(data, batch_size=8, collate_fn=collator()))
    return model.predict(dict(encode(texts, "pt")))
""",
    },
    "complex128 in a helper of another file": {
        "signals.py": """\
import tensorflow as tf

WIDE = tf.complex128

def spectrum(x):
    return tf.abs(tf.signal.fft(tf.cast(x, WIDE)))  # finds XLA507
""",
        "main.py": f"""{VM}
from signals import spectrum

class Trainer:
    def step(self, batch):
        return spectrum(batch)

    @tf.function
    def train(self, batch):
        return strategy.run(self.step, args=(batch,))

trainer = Trainer()
data = tf.data.Dataset.from_tensor_slices(tf.ones([8, 4])).batch(8)
for batch in strategy.experimental_distribute_dataset(data):
    trainer.train(batch)
""",
    },
    "jit_compile on a TPU VM": f"""{VM}
with strategy.scope():
    model = tf.keras.applications.MobileNetV2(weights=None)
    model.compile("sgd", "mse", jit_compile=True)  # finds XLA501
model.fit(tf.ones([8, 224, 224, 3]), tf.ones([8, 1000]))
""",
    "jit_compile through settings of a function": f"""{MIRRORED}
def prepare(model, **settings):
    model.compile(optimizer="sgd", loss="mse", **settings)  # finds XLA501
    return model

with strategy.scope():
    model = prepare(tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)]), jit_compile=True)
""",
    "a trainer keeps the strategy": {
        "net.py": NET,
        "trainer.py": """\
from net import Net

class Trainer:
    def __init__(self, strategy, units=3):
        self.strategy = strategy
        with self.strategy.scope():
            self.model = Net(units)

    def compile(self):
        with self.strategy.scope():
            self.model.compile("adam", "mse", jit_compile=True)  # finds XLA501
""",
        "main.py": """\
import tensorflow as tf
from trainer import Trainer

def main():
    trainer = Trainer(tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"]))
    trainer.compile()

if __name__ == "__main__":
    main()
""",
    },
    "a functional model from outside": f"""{NODE}
inputs = tf.keras.Input([3])
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))  # finds XLA502
with strategy.scope():
    model.compile("adam", "mse")
""",
    "a loaded model": f"""{VM}
model = tf.keras.models.load_model("gs://bucket/model")  # finds XLA502
with strategy.scope():
    model.compile("sgd", "mse")
""",
    "a model with an input shape from another module": {
        "models.py": """\
import tensorflow as tf

def classifier(classes):
    return tf.keras.Sequential([  # finds XLA502
        tf.keras.layers.Dense(64, activation="relu", input_shape=(32,)),
        tf.keras.layers.Dense(classes),
    ])
""",
        "train.py": f"""{KAGGLE}
from models import classifier

model = classifier(10)
with strategy.scope():
    model.compile("adam", "mse")
""",
    },
    "an optimizer by name, compiled outside": f"""{MIRRORED}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

model.compile(optimizer="adamw", loss="mse")  # finds XLA502
""",
    "no optimizer named at all": f"""{MIRRORED}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")  # finds XLA502
""",
    "an optimizer made too early, in a step": f"""{NODE}
optimizer = tf.keras.optimizers.Adam(1e-3)  # finds XLA502
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

@tf.function
def train(iterator):
    strategy.run(step, args=(next(iterator),))
""",
    "a class of which two functions make a model": f"""{MIRRORED}
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

def kept():
    model = Net()  # finds XLA502
    with strategy.scope():
        model.compile("adam", "mse")
    return model

def trained(x, y):
    model = Net()  # finds XLA502
    optimizer = tf.keras.optimizers.Adam()  # finds XLA502
    with strategy.scope():
        model.compile(optimizer, "mse")
    model.fit(x, y)
""",
    "metrics for Keras 2": """\
import tensorflow as tf
import tf_keras as keras

strategy = tf.distribute.MirroredStrategy()
accuracy = keras.metrics.SparseCategoricalAccuracy()  # finds XLA502
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=[accuracy])
""",
    "a strategy without a TPU": """\
import tensorflow as tf

strategy = tf.distribute.TPUStrategy()  # finds XLA503
""",
    "never initialised, in a helper": """\
import tensorflow as tf

def get_strategy(name):
    if name:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
        return tf.distribute.TPUStrategy(resolver)  # finds XLA503
    return tf.distribute.MirroredStrategy()

strategy = get_strategy("local")
""",
    "initialised too late, in a class": """\
import tensorflow as tf

class Runtime:
    def __init__(self):
        self.resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
        self.strategy = tf.distribute.TPUStrategy(self.resolver)  # finds XLA503
        tf.tpu.experimental.initialize_tpu_system(self.resolver)

Runtime()
""",
    "not connected": """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="grpc://10.1.2.3:8470")
tf.tpu.experimental.initialize_tpu_system(resolver)  # finds XLA503
strategy = tf.distribute.TPUStrategy(resolver)
""",
    "a generator, two files away": {
        "data.py": """\
import tensorflow as tf

def rows():
    yield 1.0

def pipeline():
    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([]))  # finds XLA504
    return data.batch(8, drop_remainder=True)
""",
        "train.py": f"""{NODE}
from data import pipeline

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(pipeline())
""",
    },
    "Python in a map": f"""{NODE}
def decode(path):
    return tf.py_function(lambda p: p, [path], tf.string)  # finds XLA504

data = tf.data.Dataset.from_tensor_slices(["gs://a", "gs://b"]).map(decode, num_parallel_calls=4)
""",
    "Python in a map of another file": {
        "data.py": DATA.format("  # finds XLA504"),
        "train.py": f"""{NODE}
import data

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(data.arrays(["gs://a", "gs://b"]))
""",
    },
    "local folders": f"""{NODE}
train = tf.keras.utils.image_dataset_from_directory("images/train", batch_size=32)  # finds XLA504
files = tf.data.Dataset.list_files("/data/*.tfrecord")  # finds XLA504
FOLDER = "records"
names = tf.io.gfile.glob(str(FOLDER + "/*.tfrecord"))  # finds XLA504
others = tf.io.gfile.glob(str("gs://bucket/" + FOLDER))

def records():
    import os

    found = []
    for root, _, files in os.walk("records"):
        for file in files:
            found.append(os.path.join(root, file))
    return found

records_of_all = tf.data.TFRecordDataset(records())  # finds XLA504
""",
    "a Hugging Face dataset": f"""{NODE}
from datasets import load_dataset

data = load_dataset("glue", "cola")["train"].to_tf_dataset(columns=["a"], batch_size=8)  # finds XLA504
""",
    "run_eagerly, left from debugging": f"""{VM}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)  # finds XLA506
""",
    "models that a strategy runs eagerly": f"""{VM}
class Net(tf.keras.Model):
    @tf.function
    def call(self, x):
        return x + 1.0

with strategy.scope():
    net = Net()
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])

def show(x):
    strategy.run(net, args=(x,))  # finds XLA506
    return strategy.run(model, args=(x,))  # finds XLA506

show(tf.ones([8, 3]))
""",
    "a loop without tf.function": f"""{KAGGLE}
def step(batch):
    return tf.reduce_sum(batch)

def epoch(data):
    for batch in strategy.experimental_distribute_dataset(data):
        strategy.run(step, args=(batch,))  # finds XLA506

epoch(tf.data.Dataset.range(16).batch(8))
""",
    "a launched function that builds": {
        "nb.py": """\
import torch
from accelerate import Accelerator
from accelerate import notebook_launcher
from transformers import AutoModelForCausalLM

def loop(rate):
    model = AutoModelForCausalLM.from_pretrained("gpt2")  # finds XLA508
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    model, optimizer = Accelerator().prepare(model, optimizer)

notebook_launcher(loop, (1e-4,), num_processes=8)
""",
    },
}

CLEAN: Final[dict[str, Program]] = {
    "models that a strategy runs in a graph": f"""{VM}
class Net(tf.keras.Model):
    @tf.function
    def __call__(self, x):
        return super().__call__(x)

    def call(self, x):
        return x + 1.0

with strategy.scope():
    net = Net()
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])

@tf.function
def show(x):
    return strategy.run(model, args=(x,))

show(tf.ones([8, 3]))
strategy.run(net, args=(tf.ones([8, 3]),))
""",
    "Python in a map that another program has": {
        "data.py": DATA.format(""),
        "train.py": f"""{NODE}
import data

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(data.records("gs://rows"))
""",
        "convert.py": """\
import data

for array in data.arrays(["a", "b"]):
    print(array)
""",
    },
    "each framework gets its own batches": """\
import tensorflow as tf
from transformers import AutoModel, AutoTokenizer, TFAutoModel

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
ours, theirs = TFAutoModel.from_pretrained("bert-base-cased"), AutoModel.from_pretrained("bert-base-cased")

def compare(texts):
    with_tensorflow = ours(**tokenizer(texts, padding=True, return_tensors="tf"))
    with_torch = theirs(**tokenizer(texts, padding=True, return_tensors="pt"))
    with_numpy = ours(dict(tokenizer(texts, padding=True, return_tensors="np")))
    return with_tensorflow, with_torch, with_numpy
""",
    "complex128 where several GPUs train": f"""{MIRRORED}
def step(batch):
    return tf.abs(tf.cast(batch, tf.complex128))

@tf.function
def train(batch):
    return strategy.run(step, args=(batch,))
""",
    "complex128 beside the TPU": f"""{VM}
@tf.function(jit_compile=True)
def spectrum(x):
    return tf.abs(tf.signal.fft(tf.cast(x, tf.complex128)))

def step(batch):
    return batch * 2.0

@tf.function
def train(batch):
    return strategy.run(step, args=(batch,))

train(spectrum(tf.ones([4])))
""",
    "a TPU VM": f"""{VM}
with strategy.scope():
    model = tf.keras.applications.MobileNetV2(weights=None)
    model.compile("sgd", "mse")
model.fit(tf.ones([8, 224, 224, 3]), tf.ones([8, 1000]))
""",
    "Kaggle, with or without a TPU": f"""{KAGGLE}
def build():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile("adam", "mse")
    return model

with strategy.scope():
    model = build()
data = tf.data.TFRecordDataset("gs://bucket/train.tfrecord").batch(8, drop_remainder=True)
model.fit(data)
""",
    "a trainer keeps the strategy": {
        "net.py": NET,
        "trainer.py": """\
from net import Net

class Trainer:
    def __init__(self, strategy, units=3):
        self.strategy = strategy
        with self.strategy.scope():
            self.model = Net(units)
            self.model.compile("adam", "mse")
""",
        "main.py": """\
import tensorflow as tf
from trainer import Trainer

if __name__ == "__main__":
    Trainer(tf.distribute.MirroredStrategy()).model.fit(tf.data.Dataset.range(8))
""",
    },
    "strategies from a factory": {
        "strategies.py": """\
import tensorflow as tf

def make(kind, address):
    if kind == "tpu":
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=address)
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return tf.distribute.TPUStrategy(resolver)
    if kind == "mirrored":
        return tf.distribute.MirroredStrategy()
    return tf.distribute.OneDeviceStrategy("CPU:0")
""",
        "main.py": """\
import sys
import tensorflow as tf
import strategies

def main(argv):
    strategy = strategies.make(argv[1], argv[2])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
    model.fit(tf.data.Dataset.range(8))

main(sys.argv)
""",
    },
    "a loop in a tf.function": f"""{NODE}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam()
    total = tf.keras.metrics.Mean()

@tf.function
def train(iterator):
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        total.update_state(loss)

    strategy.run(step, args=(next(iterator),))
""",
    "one model here, one there": f"""{MIRRORED}
small = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
small.compile("adam", "mse", jit_compile=True)
small.fit(tf.ones([8, 3]), tf.ones([8, 1]))
with strategy.scope():
    large = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    large.compile("adam", "mse")
large.fit(tf.ones([8, 3]), tf.ones([8, 1]))
small.predict(tf.ones([8, 3]))
""",
    "a step of several GPUs, compiled": f"""{MIRRORED}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

@tf.function(jit_compile=True)
def step(x):
    return model(x)

@tf.function
def run(x):
    return strategy.run(step, args=(x,))
""",
    "several workers, one device each": """\
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=True)
""",
    "Keras 2 takes an optimizer from outside": """\
import tensorflow as tf
import tf_keras as keras

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
""",
    "evaluation elsewhere": {
        "net.py": NET,
        "train.py": f"""{MIRRORED}
from net import Net

with strategy.scope():
    model = Net(3)
    model.compile("adam", "mse")
model.fit(tf.data.Dataset.range(8))
""",
        "evaluate.py": """\
import tensorflow as tf
from net import Net

model = Net(3)
model.compile("adam", "mse", jit_compile=True)
model.evaluate(tf.data.Dataset.range(8))
""",
    },
    "a generator on a TPU VM": f"""{VM}
def rows():
    yield 1.0

data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([]))
""",
    "a generator, and a strategy for GPUs": f"""{MIRRORED}
def rows():
    yield 1.0

data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([]))
""",
    "a strategy that a caller hands over": """\
import tensorflow as tf

def train(strategy, data):
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    with strategy.scope():
        model.compile("adam", "mse", jit_compile=True)
    model.fit(data)
""",
    "version 1": """\
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
total = strategy.run(lambda: tf.ones([2]))
with tf.Session() as session:
    session.run(total)
""",
    "a launched function that is handed its model": {
        "nb.py": """\
from accelerate import notebook_launcher
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")

def loop(model):
    train = DataLoader([1, 2], batch_size=8)
    test = DataLoader([3, 4], batch_size=8)

notebook_launcher(loop, (model,), num_processes=8)
""",
    },
}
