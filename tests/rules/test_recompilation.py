"""Scripts whose texts, padding, numbers and loops compile again, or do not."""

from __future__ import annotations

import pytest

from tests.rules.scripts import HEAD, JIT, Script, deserved, one

TEXT = """\
import tensorflow as tf
import transformers
from datasets import load_dataset

tokenizer = transformers.AutoTokenizer.from_pretrained("bert-base-cased")
model = transformers.TFAutoModelForSequenceClassification.from_pretrained("bert-base-cased")
model.compile(optimizer="adam", jit_compile=True)
raw = load_dataset("glue", "mrpc")
"""
BUILDS = f"""{HEAD}
def build(batch):
    @tf.function(jit_compile=True)
    def step(x):
        return x * 2.0

    return step(batch)

def train(batches, start, model=None, first=True):
    {{}}

train([tf.ones([3]), tf.zeros([3])], 0)
"""
MODELS = f"""{HEAD}
from functools import partial

class Agent:
    def __init__(self, models):
        for name, model in models.items():
            rate = tf.function(partial(self.rate, name), jit_compile=True)
            {{}}

    def rate(self, name):
        return 0.1

Agent({{{{"actor": keras.Sequential(), "critic": keras.Sequential()}}}})
"""
REGISTRY = """\
import tensorflow as tf

LOSSES = {}

def register(cls):
    LOSSES[cls.__name__] = cls
    return cls

@register
class Mean:
    pass

"""
SCRIPTS = {
    # -- functions that are made once --
    **{
        f"a function that is made {when}": one(BUILDS.format(loop), *((("XLA307", "def step"),) if found else ()))
        for when, loop, found in (
            ("in each iteration", "for batch in batches:\n        build(batch)", True),
            (
                "in the first epoch",
                "for epoch in range(9):\n        if epoch == 0:\n            build(batches[0])",
                False,
            ),
            (
                "in the epoch that it starts with",
                "for epoch in bar(range(start, 9)):\n        if epoch == start and batches:\n"
                "            build(batches[0])",
                False,
            ),
            (
                "for the first batch of each epoch",
                "for epoch in range(9):\n        for i, batch in enumerate(batches):\n"
                "            if not i:\n                build(batch)",
                True,
            ),
            (
                "for the first batch of the first epoch",
                "for epoch in range(9):\n        for i, batch in enumerate(batches):\n"
                "            if i == 0 and epoch == 0:\n                build(batch)",
                False,
            ),
            ("in all others", "for epoch in range(9):\n        if epoch > 0:\n            build(batches[0])", True),
            (
                "for batches of one kind",
                "for batch in batches:\n        if batch == start:\n            build(batch)",
                True,
            ),
            (
                "behind a flag",
                "for batch in batches:\n        if first:\n            build(batch)\n            first = False",
                False,
            ),
            (
                "behind a flag that comes back",
                "for batch in batches:\n        if first:\n            build(batch)\n            first = False\n"
                "        first = len(batch) > 3",
                True,
            ),
            (
                "where nothing is there yet",
                "for batch in batches:\n        if model is None:\n            model = build(batch)",
                False,
            ),
        )
    },
    **{
        f"a rate for {what}": one(MODELS.format(made), *((("XLA307", "rate = "),) if found else ()))
        for what, made, found in (
            ("each optimizer", "model.compile(keras.optimizers.Adam(rate))", False),
            (
                "each optimizer, by a name",
                "optimizer = keras.optimizers.Adam(rate)\n            model.use(optimizer)",
                False,
            ),
            ("nothing but a number", "print(name, rate())", True),
        )
    },
    # -- text --
    "a tokenizer in a helper": one(
        TEXT + "\ndef encode(texts):\n    return tokenizer(texts, padding='longest', return_tensors='tf')\n\n"
        "forward = tf.function(model, jit_compile=True)\nfor line in open('a.txt'):\n    forward(encode([line]))\n",
        ("XLA301", "return tokenizer("),
    ),
    "a tokenizer with settings from elsewhere": one(
        TEXT + "\nfrom settings import options\n\nforward = tf.function(model, jit_compile=True)\n"
        "for line in open('a.txt'):\n    forward(tokenizer([line], return_tensors='tf', **options))\n",
    ),
    "a collator": one(
        TEXT + "\ncollate = transformers.DataCollatorForSeq2Seq(tokenizer, model=model, return_tensors='tf')\n"
        "data = raw.map(lambda row: tokenizer(row['a'], truncation=True), batched=True)\n"
        "model.fit(model.prepare_tf_dataset(data['train'], batch_size=8, collate_fn=collate))\n",
        ("XLA301", "collate = "),
    ),
    "a collator for examples of one length": one(
        TEXT + "\ncollate = transformers.DataCollatorWithPadding(tokenizer, return_tensors='tf')\n"
        "def encode(row):\n    return tokenizer(row['a'], truncation=True, padding='max_length', max_length=64)\n\n"
        "data = raw.map(encode, batched=True)\n"
        "model.fit(model.prepare_tf_dataset(data['train'], batch_size=8, collate_fn=collate))\n",
    ),
    "a collator that pads to multiples": one(
        TEXT + "\ncollate = transformers.DataCollatorWithPadding(tokenizer, pad_to_multiple_of=64)\n"
        "data = raw.map(lambda row: tokenizer(row['a']), batched=True)\n"
        "model.fit(model.prepare_tf_dataset(data['train'], batch_size=8, collate_fn=collate))\n",
    ),
    "a dataset without order, with a smaller batch": one(
        TEXT + "\nmodel.fit(model.prepare_tf_dataset(raw['train'], batch_size=8, shuffle=False))\n",
        ("XLA302", "model.fit("),
    ),
    "generation": one(
        TEXT + "\ngenerate = tf.function(model.generate, jit_compile=True)\n\ndef answer(prompt):\n"
        "    inputs = tokenizer([prompt], return_tensors='tf')\n    return generate(**inputs, max_new_tokens=9)\n",
        ("XLA301", "inputs = "),
    ),
    "text that is not compiled": one(
        TEXT.replace(", jit_compile=True", "")
        + "\nfor line in open('a.txt'):\n    model(tokenizer([line], return_tensors='tf'))\n"
    ),
    # -- padding --
    "padded batches of parsed records": one(
        f"{HEAD}{JIT}\n\ndef parse(row):\n    return tf.io.decode_raw(row, tf.int32)\n\n"
        "data = tf.data.TFRecordDataset('a').map(parse).repeat().padded_batch(8, padded_shapes=[-1])\n"
        "for x in data:\n    step(x)\n",
        ("XLA303", "data = "),
    ),
    "padded batches, the last one smaller besides": one(
        f"{HEAD}{JIT}\n\ndef parse(row):\n    return tf.io.decode_raw(row, tf.int32)\n\n"
        "data = tf.data.TFRecordDataset('a').map(parse).padded_batch(8)\nfor x in data:\n    step(x)\n",
        ("XLA303", "data = "),
    ),
    "padded batches of one length": one(
        f"{HEAD}{JIT}\n\nLENGTH = 64\n\ndef parse(row):\n    return tf.io.decode_raw(row, tf.int32)\n\n"
        "data = tf.data.TFRecordDataset('a').map(parse).repeat().padded_batch(8, padded_shapes=[LENGTH])\n"
        "for x in data:\n    step(x)\n",
    ),
    "buckets": one(
        f"{HEAD}{JIT}\n\ndata = tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).repeat()\n"
        "buckets = data.bucket_by_sequence_length(tf.size, [8, 16], [4, 4, 4])\nfor x in buckets:\n    step(x)\n",
        ("XLA303", "buckets = "),
    ),
    # -- numbers, functions, loops --
    "an epoch as an argument": one(
        f"{HEAD}{JIT}\n\ndef run(epochs):\n    for epoch in range(epochs):\n        step(tf.ones([3]), epoch)\n",
        ("XLA306", "step(tf.ones([3]), epoch)"),
    ),
    "a method that is compiled": one(
        HEAD
        + """
class Agent:
    @tf.function(jit_compile=True)
    def act(self, x, eps):
        return x * eps

    def run(self, count):
        for i in range(count):
            self.act(tf.ones([3]), 1.0 - i / 100)
            self.act(tf.ones([3]), tf.constant(1.0 - i / 100))
""",
        ("XLA306", "self.act(tf.ones([3]), 1.0 - i / 100)"),
    ),
    "a few epochs and the same constant": one(
        f"{HEAD}{JIT}\n\ndata = tf.data.Dataset.range(8).batch(4)\n"
        "for epoch in range(3):\n    for x in data:\n        step(x, 0.5)\n"
    ),
    "a step for each model": one(
        f"{HEAD}def make(model):\n    @tf.function(jit_compile=True)\n    def run(x):\n        return model(x)\n\n"
        "    return run\n\nfor units in (8, 16):\n    run = make(keras.Sequential([keras.layers.Dense(units)]))\n"
        "    run(tf.ones([2, 4]))\n"
    ),
    **{
        f"a function made {name}": one(REGISTRY + made, *((("XLA307", "@tf.function"),) if found else ()))
        for name, (made, found) in {
            "before the loop that calls it": (f"{JIT}\nfor _ in range(3):\n    step(tf.ones([3]))\n", False),
            "in the loop that calls it": (
                "for _ in range(3):\n    @tf.function(jit_compile=True)\n    def step(x):\n        return x + 1\n\n"
                "    step(tf.ones([3]))\n",
                True,
            ),
        }.items()
    },
    "a step in each round": one(
        f"{HEAD}def loss(x):\n    return tf.reduce_sum(x)\n\nfor x in tf.data.TFRecordDataset('a').repeat().batch(8):\n"
        "    run = tf.function(loss, jit_compile=True)\n    run(x)\n",
        ("XLA307", "run = tf.function"),
    ),
    "layers in a list": one(
        f"{HEAD}class Stack(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.parts = [keras.layers.Dense(8) for _ in range(48)]\n\n    def call(self, x):\n"
        "        for i in range(48):\n            x = self.parts[i](x)\n        for part in self.parts:\n"
        "            x = part(x)\n        return x\n"
    ),
    "steps of a solver": one(
        HEAD
        + """
STEPS = 200

class Solver(keras.layers.Layer):
    def call(self, x):
        for _ in range(STEPS):
            x = x - 0.1 * tf.sin(x)
        return x
""",
        ("XLA311", "for _ in range(STEPS):"),
    ),
    "a sequence that grows": one(
        f"""{HEAD}{JIT}
def extend(tokens, new):
    return tf.concat([tokens, new[None]], axis=0)

def generate(tokens):
    for _ in range(64):
        tokens = extend(tokens, step(tokens))
    return tokens
""",
        ("XLA309", "return tf.concat("),
    ),
    "a sequence that is joined twice": one(
        f"""{HEAD}{JIT}
def extend(tokens, new):
    return tf.concat([tokens, new], axis=0)

def run(tokens):
    step(extend(extend(tokens, tokens), tokens))
"""
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
