"""A sequence grows in each iteration of a loop around a compiled function, so each iteration compiles.

## What it does
Reports `tf.concat` and similar calls in a Python loop that append to the result of the previous iteration, if the
result is an argument of a compiled function, or that the function itself does to what it returned before, as the caches
of attention are: `x, past = step(x, past)`. Most often this is text generation. Also reports slices of varying length
that a loop cuts: `signal[:n]`. With a target, a Keras model that host code calls line by line counts as compiled.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: five steps over a sequence that grows by one compile five times. Five steps over
a tensor of fixed length, into which each step writes, compile once.

## Example
    for _ in range(100):
        tokens = tf.concat([tokens, next_token(tokens)], axis=1)

## Use instead
    tokens = tf.pad(tokens, [[0, 0], [0, 100]])
    for position in range(length, length + 100):
        new = next_token(tokens, tf.constant(position))
        tokens = tf.tensor_scatter_nd_update(tokens, [[0, position]], new)

The model must then read only up to `position`.

## Not flagged
A window of fixed length cut from a growing sequence, also one that begins where the one before it ends; what is left
behind a loop, which is the last batch (XLA302); loops inside a compiled function, which tracing unrolls into one
program (XLA311), sequences that only eager code uses, and what a script cuts once.

## Fix safety
Shown only: the model has to know how much of the fixed length is filled.

## References
- https://huggingface.co/blog/tf-xla-generate
"""

from collections.abc import Iterator

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity

from ._feeds import PER_SHAPE, fed, passed, varying

CUTS = {"cut": "cuts a piece of another length in each iteration"}
STEP = """
@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens, axis=1, keepdims=True)
"""
MODEL = """
import keras
import numpy as np

model = keras.Sequential([keras.Input((None, 4)), keras.layers.Conv1D(4, 3, padding="same")])
model.compile("adam", "mse", jit_compile=True)
"""


class GrowingSequence(Rule):
    code = "XLA309"
    name = "growing-sequence"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"""{STEP}
tokens = tf.ones([1, 1])
for _ in range(5):
    tokens = tf.concat([tokens, step(tokens)], axis=1)
""",
            ["tf.concat([tokens, step(tokens)], axis=1)"],
            Runs(5),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{STEP}
def generate(tokens, count):
    while count:
        new = step(tokens[:, 1:])
        tokens = tf.concat((tokens, new), 1)
        count -= 1
    return tokens

generate(tf.ones([1, 3]), 4)
""",
            ["tf.concat((tokens, new), 1)"],
            Runs(4),
        ),
        Bad(
            f"""
import numpy as np
{STEP}
history = np.ones((1, 1), "float32")
for _ in range(4):
    history = np.concatenate([history, step(history)], axis=1)
""",
            ["np.concatenate([history, step(history)], axis=1)"],
            Runs(4),
        ),
        Bad(
            f"""{STEP}
class Generator:
    def extend(self, tokens, new):
        return tf.concat([tokens, new], axis=-1)

    def run(self, tokens):
        for _ in range(4):
            new = step(tokens * 2.0)
            tokens = tf.concat([tokens, new], axis=-1)
        return self.extend(tokens, new)

Generator().run(tf.ones([2, 2]))
""",
            ["tf.concat([tokens, new], axis=-1)"],
            Runs(4),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def energy(x):
    return tf.reduce_sum(x * x)

def curve(signal):
    out = []
    for n in range(2, 6):
        out.append(energy(tf.constant(signal[:n])))
    return out

curve([1.0] * 9)
""",
            ["tf.constant(signal[:n])"],
            Runs(4),
            severity=Severity.WARNING,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def energy(x):
    return tf.reduce_sum(x * x)

def prefixes(signal):
    for n in range(2, 6):
        yield signal[:n]

def curve(signal):
    return [energy(part) for part in prefixes(signal)]

curve(tf.ones([9]))
""",
            ["part"],
            Runs(4),
        ),
        Bad(
            f"""{STEP}
def score(tokens):
    length = tokens.shape[1]
    while length > 4:
        step(tokens[:, :length])
        length -= 1

score(tf.ones([1, 8]))
""",
            ["tokens[:, :length]"],
            Runs(4),
        ),
        Bad(
            f"""{STEP}
import numpy as np

text = np.ones(99, "float32")

def windows(length):
    starts = np.random.randint(0, len(text) - length, 2)
    return np.stack([text[start : start + length] for start in starts])

length = 4
for epoch in range(3):
    step(windows(length))
    length = min(length + 4, 12)
""",
            ["windows(length)"],
            Runs(3),
            why="longer windows from epoch to epoch",
        ),
        Bad(
            f"""{STEP}
tokens = tf.ones([2, 6])
for _ in range(3):
    first, last = tf.split(tokens, [3, 3 * (tokens.shape[1] // 3 - 1)], axis=1)
    tokens = tf.concat([first, tokens], axis=1)
    step(tokens)
""",
            ["tf.concat([first, tokens], axis=1)"],
            Runs(3),
            why="a part is put before the whole",
        ),
        Bad(
            f"""{MODEL}
frames = np.ones((1, 3, 4), "float32")
for _ in range(4):
    frames = np.concatenate([frames, model.predict(frames, verbose=0)[:, -1:]], axis=1)
""",
            ["np.concatenate([frames, model.predict(frames, verbose=0)[:, -1:]], axis=1)"],
            Runs(4),
            why="what a model predicts is appended to what it is given next",
        ),
        Bad(
            """
import keras

model = keras.Sequential([keras.Input((None,)), keras.layers.Embedding(9, 4), keras.layers.Dense(9)])
tokens = tf.ones([1, 1], tf.int32)
for _ in range(4):
    new = tf.argmax(model(tokens)[:, -1:], -1, output_type=tf.int32)
    tokens = tf.concat([tokens, new], axis=1)
""",
            ["tf.concat([tokens, new], axis=1)"],
            None,
            severity=Severity.WARNING,
            target="tpu",
            why="it runs line by line",
        ),
        Bad(
            """
import keras

model = keras.Sequential([keras.Input((None,)), keras.layers.Embedding(9, 4), keras.layers.Dense(9)])

def translate(sentence):
    tokens = tf.ones([1, 1], tf.int32)
    for _ in range(4):
        new = tf.argmax(model(tokens)[:, -1:], -1, output_type=tf.int32)
        tokens = tf.concat([tokens, new], axis=1)
    return tokens
""",
            ["tf.concat([tokens, new], axis=1)"],
            None,
            severity=Severity.INFO,
            target="tpu",
            why="nothing is seen to call it: what does may compile the loop, which unrolls it",
        ),
    )
    good = (
        Good(
            f"""{MODEL}
frames = np.ones((1, 3, 4), "float32")
for _ in range(4):
    frames = np.concatenate([frames[:, 1:], model.predict(frames, verbose=0)[:, -1:]], axis=1)
""",
            Runs(1),
            why="the oldest frame goes as a new one comes",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def total(tokens):
    return tf.reduce_sum(tokens)

def padded(tokens):
    while len(tokens) < 8:
        tokens = np.append(tokens, np.float32(0))
    return tokens

for length in (2, 5):
    total(padded(np.ones(length, np.float32)))
""",
            Runs(1),
            why="joined until it has a fixed length",
        ),
        Good(
            f"""{STEP}
def slide(tokens):
    for start in range(4):
        step(tokens[:, start : start + 4])

slide(tf.ones([1, 8]))
""",
            Runs(1),
            why="a window of fixed length",
        ),
        Good(
            f"""{STEP}
import numpy as np

def replay(steps):
    memory = np.zeros((1, 8), np.float32)
    for _ in range(steps):
        memory = np.concatenate((memory, np.ones((1, 8), np.float32)))
        step(memory[np.zeros(4, np.int64)])

replay(4)
""",
            Runs(1),
            why="as many rows as there are positions",
        ),
        Good(
            f"""{STEP}
def rows(tokens, count):
    for row in range(4):
        step(tokens[row : row + 1, :count])

rows(tf.ones([4, 8]), 5)
""",
            Runs(1),
            why="cut at the same place each time",
        ),
        Good(
            f"""{STEP}
tokens = tf.ones([1, 8])
for _ in range(5):
    tokens = tf.concat([tokens, step(tokens[:, -8:])], axis=1)
""",
            Runs(1),
            why="a window of fixed length",
        ),
        Good(
            f"""{STEP}
window = tf.ones([1, 8])
for _ in range(5):
    window = tf.concat([window[:, 1:], step(window)], axis=1)
""",
            Runs(1),
            why="a window that moves along",
        ),
        Good(
            f"""{STEP}
image = tf.ones([2, 6])
for _ in range(3):
    parts = []
    for part in tf.split(image, 2, axis=1):
        parts.append(part * 2.0)
    image = tf.concat(parts, axis=1)
    step(image)
""",
            Runs(1),
            why="parts that are put together again",
        ),
        Good(
            f"""{STEP}
import numpy as np

memory = np.ones([4, 8], np.float32)
for _ in range(5):
    memory = np.concatenate([memory, memory[:1]])
    step(memory[np.random.choice(len(memory), size=2)])
""",
            Runs(1),
            why="as many rows each time, drawn from ever more",
        ),
        Good(
            f"""{STEP}
start = tf.ones([1, 1])
for _ in range(5):
    step(tf.concat([start, tf.ones([1, 2])], axis=1))
""",
            Runs(1),
            why="concatenated again in each iteration",
        ),
        Good(
            f"""{STEP}
tokens = tf.ones([1, 1])
for _ in range(3):
    tokens = tf.concat([tokens, tokens], axis=1)
print(tokens.shape)
step(tf.reshape(tokens, [2, -1])[:, :4])
""",
            Runs(1),
            why="compiled once, behind the loop",
        ),
        Good(
            f"""{STEP}
tokens = tf.ones([1, 1])
rows = []
for _ in range(3):
    rows.append(step(tokens))
print(tf.concat(rows, axis=1))
""",
            Runs(1),
        ),
        Good(
            f"""{MODEL}
rows = []
for i in range(40):
    rows.append(np.full((6, 4), i / 40.0))
x = np.array(rows, "float32")
n = int(len(x) * 0.8)
model.fit(x[:n], x[:n], verbose=0)
model.evaluate(x[n:], x[n:], verbose=0)
""",
            Runs(2),
            why="cut once, where the list is full",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    for _ in range(3):
        x = tf.concat([x, x[:1]], axis=0)
    return x
""",
            why="one program",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

class Pool:
    def __init__(self):
        self.kept = tf.zeros([0, 3])

    def exchange(self, new):
        if self.kept.shape[0] < 12:
            self.kept = tf.concat([self.kept, new], axis=0)
            return new
        old = self.kept[0 : new.shape[0]]
        self.kept = tf.concat([self.kept[new.shape[0] :], new], axis=0)
        return old

pool = Pool()
for _ in range(8):
    step(pool.exchange(tf.ones([4, 3])))
""",
            Runs(1),
            why="of a pool that grows a piece as long as a batch",
        ),
    )

    def __init__(self) -> None:
        self._said: set[tuple[Location, Severity]] = set()

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        yield from passed(event, self._said, CUTS, "pass all of it, with the valid length as a tensor for a mask")
        for variation in varying(event, "grows"):
            what = f"`{brief(variation.location.node)}` makes the sequence longer in each iteration"
            help = "keep a tensor of fixed length, and write each new element at its index"
            yield fed(event, variation, f"{what}: {PER_SHAPE}", help)
