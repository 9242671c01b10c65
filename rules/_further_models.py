"""Loops that call models that no class of Keras shows: functions of weights, what is not known, and what was saved."""

from typing import Final

from xlalint.linter.rule import Bad, Good, Runs, Severity

from ._models_of_models import MODEL

MACHINE: Final = """
import tensorflow as tf

class Machine(tf.Module):
    def __init__(self):
        self.weights = tf.Variable(tf.ones([3, 5]))
        self.kept = tf.Variable(tf.zeros([3, 5]))

    def up(self, seen):
        return tf.sigmoid(tf.matmul(seen, self.weights))

    def down(self, hidden):
        return tf.sigmoid(hidden @ tf.transpose(self.weights))

    def learn(self, seen):
        hidden = self.up(seen)
        again = self.down(hidden)
        first = tf.matmul(seen, hidden, transpose_a=True)
        self.weights.assign_add(0.1 * (first - tf.matmul(again, self.up(again), transpose_a=True)))

machine = Machine()
data = tf.data.Dataset.from_tensor_slices(tf.ones([40, 2, 3]))
"""

WRITER: Final = f"""{MODEL}
class Writer(tf.keras.Model):
    def call(self, x):
        return tf.tanh(x)

    def write(self, x):
        for _ in range(30):
            x = self.call(x)
        return x

"""

CALLED: Final = (
    Bad(
        f"""{WRITER}
print(Writer().write(tf.ones([1, 3])))
""",
        ["range(30)"],
        Runs(0),
        severity=Severity.WARNING,
        target="tpu",
        why="its `call` runs past Keras",
    ),
    Bad(
        f"""{MODEL}
words = [1.0, 2.0, 3.0]
for _ in range(30):
    words.append(float(model(tf.constant([words[-3:]]))[0, 0]))
""",
        ["range(30)"],
        Runs(0),
        severity=Severity.WARNING,
        target="tpu",
        why="word by word: the list that it is called with grows",
    ),
    Bad(
        f"""{MACHINE}
for batch in data:
    machine.learn(batch)
codes = [machine.up(batch) for batch in data]
""",
        ["data"],
        Runs(0),
        severity=Severity.WARNING,
        target="tpu",
        why="what multiplies with weights is a model, and one that learns without a tape",
    ),
    Bad(
        """import tensorflow as tf

def classify(model, data):
    return [model(x, training=False).numpy() for x in data]
""",
        ["[model(x, training=False).numpy() for x in data]"],
        None,
        severity=Severity.INFO,
        target="tpu",
        why="the model is a parameter",
    ),
    Bad(
        """import numpy as np
import tensorflow as tf

def classify(bert, tokens):
    while tokens[-1] != 2:
        tokens.append(int(np.argmax(bert.model.predict(np.array([tokens]), verbose=0)[0])))
    return tokens
""",
        ["tokens[-1] != 2"],
        None,
        severity=Severity.INFO,
        target="tpu",
        why="`verbose` is what Keras takes",
    ),
    Bad(
        """import numpy as np
import tensorflow as tf

def caption(model, image):
    features, words = model.encoder(image, training=False), [1]
    for step in range(40):
        scores = model.decoder(tf.constant([words]), features, training=False)
        words.append(int(np.argmax(scores[0, step])))
    return words
""",
        ["range(40)"],
        None,
        severity=Severity.INFO,
        target="tpu",
        why="the layers are attributes of a parameter",
    ),
    Bad(
        f"""from elsewhere import load
{MODEL}
def show(model):
    for x in data:
        print(model(x, training=False).shape)

show(load("weights"))
show(model)
""",
        ["data"],
        None,
        severity=Severity.WARNING,
        target="tpu",
        why="one of the callers passes a model that is known",
    ),
)
LEFT: Final = (
    Good(
        """import keras

def classify(forest, models, rows):
    found = [forest.predict(row) for row in rows]
    return found, [model.predict(rows, verbose=0) for model in models], keras.ops.mean(rows)
""",
        None,
        target="tpu",
        why="nothing says that Keras does, and another one each time",
    ),
    Good(
        f"""{WRITER}
class Compiled(Writer):
    @tf.function
    def call(self, x):
        for _ in range(3):
            x = super().call(x)
        return x

print(Compiled().write(tf.ones([1, 3])))
""",
        Runs(),
        target="tpu",
        why="its `call` is a graph",
    ),
    Good(
        f"""{MODEL}
class Net(tf.keras.Model):
    @tf.function
    def call(self, x):
        return x * 2.0

net = Net()
for x in data:
    print(net(x)[0].numpy())
""",
        Runs(),
        target="tpu",
    ),
    Good(
        f"""import tempfile

{MODEL}
class Net(tf.Module):
    def __init__(self):
        self.model = model

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def __call__(self, x, training=False):
        return self.model(x, training=training)

folder = tempfile.mkdtemp()
tf.saved_model.save(Net(), folder)
net = tf.saved_model.load(folder)
for x in data:
    print(net(x, training=False)[0].numpy())
""",
        Runs(),
        target="tpu",
        why="its functions were saved as graphs",
    ),
    Good(
        """import tensorflow as tf

def classify(model, data):
    run = tf.function(model)
    return [run(x, training=False).numpy() for x in data]
""",
        Runs(),
        target="tpu",
        why="whatever it is, it is compiled",
    ),
    Good(
        """import tensorflow as tf

class Player:
    def act(self, state, training=False):
        return tf.constant(1)

def play(player, states):
    return [player.act(state, training=False) for state in states]
""",
        Runs(),
        target="tpu",
        why="no model is called so",
    ),
    Good(
        """import tensorflow as tf

try:
    from patches import extract
except ImportError:
    extract = None

def prepare(images):
    return [extract(image, training=False) for image in images]
""",
        Runs(),
        target="tpu",
        why="what is imported is a function, mostly",
    ),
    Good(
        f"""{MACHINE}
@tf.function
def up(batch):
    return machine.up(batch)

codes = [up(batch) for batch in data]
""",
        Runs(),
        target="tpu",
        why="a function of weights that is compiled",
    ),
    Good(
        f"""{MACHINE}
state = tf.ones([1, 3])
for _ in range(30):
    state = tf.matmul(state, machine.weights[:, :3])
kept = [machine.kept.assign(0.9 * machine.kept + 0.1 * machine.weights) for _ in range(30)]
pipeline = data.map(lambda batch: machine.up(batch))
codes = [batch.numpy() for batch in pipeline]
""",
        Runs(),
        target="tpu",
        why="a loop of a computation, averages of weights, and an input pipeline",
    ),
)
