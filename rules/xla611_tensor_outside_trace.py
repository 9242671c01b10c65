"""Host code uses a tensor that compiled code has left in an attribute: it belongs to the trace and has no value.

## What it does
Reports where host code uses an attribute to which compiled code alone assigns tensors: `.numpy()`, `float(..)`,
arithmetic, an index, a function of TensorFlow, Keras or NumPy. For a target, also of a step that runs line by line, as
it will be once the step is compiled. One finding is for all that a function uses of one file's objects.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. Python runs the function once for each trace, so `self.last` holds the tensor of
the graph that was traced last, however often the program runs. A plain `tf.function` does the same.

| code outside, after `self.last = x * 2.0` inside | what happens |
| --- | --- |
| `object.last + 1.0`, `object.last[0]`, `tf.reduce_sum(object.last)` | "is out of scope and cannot be used here" |
| `object.last.numpy()` | `AttributeError`: "'SymbolicTensor' object has no attribute 'numpy'" |
| `float(object.last[0])`, `bool(..)` | `TypeError` |
| `np.mean(object.last)` | `NotImplementedError` |
| `print(object.last)`, `f"{object.last}"` | shows a name and a shape, and no value |
| `object.last.shape`, `object.last is None` | works |

## Example
    @tf.function(jit_compile=True)
    def learn(self, x, y):
        self.loss = self.step(x, y)

    agent.learn(x, y)
    print(float(agent.loss))

## Use instead
    @tf.function(jit_compile=True)
    def learn(self, x, y):
        return self.step(x, y)

    print(float(agent.learn(x, y)))

Or `self.loss = tf.Variable(0.0)` in `__init__`, and `self.loss.assign(..)` in the compiled function.

## Not flagged
- Attributes that host code, or a constructor, assigns a tensor as well, and variables.
- What any tensor of a trace knows (`.shape`, `.dtype`), a comparison with None, and text.
- What the same trace reads: a layer that keeps its attention scores for the model that calls it. What the next trace
  reads is XLA607. Functions that nobody is seen to call may run in the trace, too.

## Fix safety
Shown only: whether a variable or a returned value is right depends on who reads the state.

## References
- https://www.tensorflow.org/guide/function#executing_python_side_effects
"""

from collections.abc import Iterator

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, UseKept
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs, Severity

from ._jax import LEAKED, fails

OUT_OF_SCOPE = Breaks("is out of scope and cannot be used here")


class TensorOutsideTrace(Rule):
    code = "XLA611"
    name = "tensor-outside-trace"
    handles = (UseKept,)
    traced = True
    bad = (
        Bad(
            """
class Doubler:
    @tf.function(jit_compile=True)
    def __call__(self, x):
        self.last = x * 2.0
        return x

double = Doubler()
double(tf.ones([3]))
print(tf.reduce_sum(double.last))
""",
            ["double.last"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Doubler:
    @tf.function(jit_compile=True)
    def __call__(self, x):
        self.last, self.sum = x * 2.0, tf.reduce_sum(x)
        return x

double = Doubler()
double(tf.ones([3]))
total = double.sum + double.last[0]
""",
            ["double.sum"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Halver:
    @tf.function(jit_compile=True)
    def __call__(self, x):
        self.half = x / 2.0
        return tf.reduce_sum(self.half)

def report(halver):
    return halver.half + 1.0

halver = Halver()
halver(tf.ones([3]))
report(halver)
""",
            ["halver.half"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Trainer:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.SGD(0.1)
        self.loss = None

    def learn(self, x, y):
        with tf.GradientTape() as tape:
            self.loss = tf.reduce_mean((self.model(x) - y) ** 2)
        grads = tape.gradient(self.loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))

trainer = Trainer()
for epoch in range(100):
    trainer.learn(tf.ones([8, 3]), tf.ones([8, 1]))
print(float(trainer.loss))
""",
            ["trainer.loss"],
            None,
            effect=Effect.FAILS,
            target="tpu",
            why="the step is still to be compiled",
        ),
    )
    good = (
        Good(
            """
class Scores(tf.keras.layers.Layer):
    def call(self, x):
        self.scores = tf.nn.softmax(x)
        return self.scores

scores = Scores()

@tf.function(jit_compile=True)
def step(x):
    scores(x)
    return scores.scores * 2.0

print(step(tf.ones([3])).numpy())
""",
            Runs(),
            why="the same trace reads it",
        ),
        Good(
            """
class Doubler:
    @tf.function(jit_compile=True)
    def __call__(self, x):
        self.last = x * 2.0
        return self.last

double = Doubler()
print(double(tf.ones([3])).numpy(), f"{double.last}")
""",
            Runs(),
            why="text of it shows a name, and raises nothing",
        ),
        Good(
            """
class Doubler(tf.keras.layers.Layer):
    def call(self, x):
        self.last = x * 2.0
        return x

    def halved(self):
        return self.last / 2.0
""",
            None,
            why="the layer is only defined: whoever calls the method may do so in the same trace",
        ),
        Good(
            """
class Doubler:
    def __init__(self):
        self.last = tf.Variable(tf.zeros([3]))

    @tf.function(jit_compile=True)
    def __call__(self, x):
        self.last.assign(x * 2.0)
        return x

double = Doubler()
double(tf.ones([3]))
print(double.last.numpy())
""",
            Runs(),
            why="a variable outlives the trace",
        ),
        Good(
            """
class Doubler:
    @tf.function(jit_compile=True)
    def __call__(self, x):
        self.shape = x.shape
        self.last = x * 2.0
        return self.last

double = Doubler()
double(tf.ones([3]))
print(double.last.shape, double.shape, double.last is None)
""",
            Runs(),
            why="what any tensor of a trace knows",
        ),
        Good(
            """
class Doubler:
    def __init__(self):
        self.last = tf.zeros([3])

    def __call__(self, x):
        self.last = self.run(x)
        return self.last

    @tf.function(jit_compile=True)
    def run(self, x):
        return x * 2.0

double = Doubler()
double(tf.ones([3]))
print(double.last.numpy())
""",
            Runs(),
            why="eager code assigns it",
        ),
    )

    def __init__(self) -> None:
        self._first: dict[tuple[object, object], tuple[Location, str]] = {}  # what a function uses of a file's first

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, UseKept)
        once = "once the step is compiled, " if event.context.eager else ""
        what = f"{once}`{event.target}` is a tensor of the trace here, which has no value outside of it"
        key = event.location.unit, event.kept.unit.file
        first, what = self._first.setdefault(key, (event.location, what))
        if first == event.location:
            note = DraftNote(event.kept, "compiled code assigns it during tracing")
        else:
            note = DraftNote(event.location, f"so is `{event.target}`")
        help = "return the tensor from the compiled function, or keep it in a variable (`.assign(..)`)"
        yield Draft(what, Effect.FAILS, help, first, (note,), at_most=Severity.WARNING, jax=fails(what, LEAKED))
