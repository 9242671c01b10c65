"""A compiled step is passed a second optimizer, which creates its variables while the step is traced again.

## What it does
Reports calls of a `tf.function` that takes an optimizer as an argument, if an earlier call passed another one: two
networks with an optimizer each, a loop over folds, learning rates or pairs of models and optimizers, a function that
trains once for each call. The function may be a method, or what `tf.function(f)` or a function of the program makes,
where one name stands for one of them. The calls may be in another `tf.function`.

## What XLA does
Measured with TensorFlow 2.21 on a CPU, with Keras 3.15 and with Keras 2 (tf_keras 2.21), also its legacy optimizers. An
optimizer creates its variables with its first step, and a `tf.function` may create variables only in its first call.
The second optimizer raises "tf.function only supports singleton tf.Variables created on the first call", with and
without XLA.

| what is passed | what happens |
| --- | --- |
| a second optimizer, or a second one with a second model | raises |
| the first optimizer again, for another shape | works |
| a second one that has its variables: `build`, or a step that runs eagerly | works |
| a second `SGD` without momentum, which keeps no variables | works |
| a second one, to a `tf.function` of its own, or to the method of another object | works |
| a second one in a call of the same `tf.function` inside another one | raises |
| the first one again, for a model whose variables it does not know | raises another error: "Unknown variable" |

## Example
    for rate in (0.1, 0.01):
        model, optimizer = network(), keras.optimizers.Adam(rate)
        step(model, optimizer, x, y)

## Use instead
    for rate in (0.1, 0.01):
        model, optimizer = network(), keras.optimizers.Adam(rate)
        optimizer.build(model.trainable_variables)
        step(model, optimizer, x, y)

## Not flagged
- Optimizers that host code builds, has take a step, or compiles a model with.
- Calls of which a condition decides which one runs.
- Functions and objects that no name stands for alone: each object, and each call of what makes a function, has its own.
- An optimizer that an object's attribute is set to: its method is not traced again for that alone.

## Fix safety
None is offered: the code does not show for which variables the optimizer is.

## References
- https://www.tensorflow.org/guide/function#creating_tfvariables
- https://keras.io/api/optimizers/
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import CreateAgain, Event
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs

STEP = """
import keras

@tf.function(jit_compile=True)
def step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

def network():
    return keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])

x, y = tf.ones([4, 3]), tf.ones([4, 1])
"""
UPDATE = STEP.replace("@tf.function(jit_compile=True)\ndef step", "def update")
METHOD = f"""{UPDATE}
class Gan:
    def __init__(self):
        self.generator, self.critic = network(), network()
        self.first, self.second = keras.optimizers.Adam(), keras.optimizers.Adam()

    @tf.function(jit_compile=True)
    def step(self, model, optimizer):
        return update(model, optimizer, x, y)
"""
SINGLETON = Breaks("tf.function only supports singleton tf.Variables")
HELP = "optimizer.build(model.trainable_variables)  # before the call"


class SecondOptimizer(Rule):
    code = "XLA414"
    name = "second-optimizer"
    handles = (CreateAgain,)
    bad = (
        Bad(
            f"""{STEP}
generator, critic = network(), network()
first, second = keras.optimizers.Adam(), keras.optimizers.RMSprop()
for _ in range(2):
    step(generator, first, x, y)
    step(critic, second, x, y)
""",
            ["step(critic, second, x, y)"],
            SINGLETON,
            effect=Effect.FAILS,
            help="optimizer.build(",
            why="one step for two optimizers",
        ),
        Bad(
            f"""{STEP}
def train(rate):
    model = network()
    optimizer = keras.optimizers.Adam(rate)
    for _ in range(2):
        loss = step(model, optimizer, x, y)
    return loss

results = [train(0.1), train(0.01)]
""",
            ["step(model, optimizer, x, y)"],
            SINGLETON,
            why="each call of the function around it makes an optimizer",
        ),
        Bad(
            f"""{STEP}
for fold in range(3):
    model, optimizer = network(), keras.optimizers.SGD(0.1, momentum=0.9)
    step(model, optimizer, x, y)
""",
            ["step(model, optimizer, x, y)"],
            SINGLETON,
            why="each iteration makes an optimizer",
        ),
        Bad(
            f"""{STEP}
def optimizer():
    return keras.optimizers.Adam()

def fold(model):
    step(model, optimizer(), x, y)

for _ in range(3):
    fold(network())
""",
            ["step(model, optimizer(), x, y)"],
            SINGLETON,
            why="a function that a loop calls",
        ),
        Bad(
            f"""{METHOD}
    def train(self):
        for _ in range(2):
            self.step(self.generator, self.first)
            self.step(self.critic, self.second)

Gan().train()
""",
            ["self.step(self.critic, self.second)"],
            SINGLETON,
            why="a method of one object",
        ),
        Bad(
            f"""{UPDATE}
def compiled():
    return tf.function(update, jit_compile=True)

step = compiled()
models, optimizers = [network() for _ in range(3)], [keras.optimizers.Adam() for _ in range(3)]
for model, optimizer in zip(models, optimizers):
    step(model, optimizer, x, y)
""",
            ["step(model, optimizer, x, y)"],
            SINGLETON,
            why="one of a list in each iteration, for a function that another one makes",
        ),
        Bad(
            f"""{UPDATE}
step = tf.function(update, jit_compile=True)
pairs = {{"first": (network(), keras.optimizers.Adam()), "second": (network(), keras.optimizers.RMSprop())}}
for epoch in range(2):
    for name, (model, optimizer) in pairs.items():
        print(name, step(model, optimizer, x, y))
""",
            ["step(model, optimizer, x, y)"],
            SINGLETON,
            why="one of a dict in each iteration",
        ),
        Bad(
            f"""{STEP}
generator, critic = network(), network()
first, second = keras.optimizers.Adam(), keras.optimizers.Adam()

@tf.function(jit_compile=True)
def both():
    return step(generator, first, x, y) + step(critic, second, x, y)

both()
""",
            ["step(critic, second, x, y)"],
            SINGLETON,
            why="in the trace of another function",
        ),
    )
    good = (
        Good(
            f"""{STEP}
generator, critic = network(), network()
first, second = keras.optimizers.Adam(), keras.optimizers.Adam()
first.build(generator.trainable_variables)
second.build(critic.trainable_variables)
step(generator, first, x, y)
step(critic, second, x, y)
""",
            Runs(),
            why="the optimizers have their variables",
        ),
        Good(
            f"""{STEP}
for fold in range(3):
    step(network(), keras.optimizers.SGD(0.1), x, y)
""",
            Runs(),
            why="an optimizer without variables of its own",
        ),
        Good(
            """
import keras

def training(model, optimizer):
    @tf.function(jit_compile=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss
    return step

for fold in range(2):
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])
    training(model, keras.optimizers.Adam())(tf.ones([4, 3]), tf.ones([4, 1]))
""",
            Runs(),
            why="each optimizer has a function of its own",
        ),
        Good(
            f"""
import sys
{STEP}
model = network()
if len(sys.argv) > 5:
    step(model, keras.optimizers.Adam(), x, y)
else:
    step(model, keras.optimizers.RMSprop(), x, y)
""",
            Runs(),
            why="one of the two calls runs",
        ),
        Good(
            f"""{STEP}
model, optimizer = network(), keras.optimizers.Adam()
step(model, optimizer, x, y)
step(model, optimizer, x[:2], y[:2])
""",
            Runs(),
            why="another trace with the same optimizer",
        ),
        Good(
            f"""{METHOD}
    def train(self):
        self.second.build(self.critic.trainable_variables)
        self.step(self.generator, self.first)
        self.step(self.critic, self.second)

Gan().train()
""",
            Runs(),
            why="the second one has its variables",
        ),
        Good(
            f"""{METHOD}
    def train(self):
        self.step(self.generator, self.first)

one, two = Gan(), Gan()
one.train()
two.train()
one.step(one.generator, one.first)
two.step(two.generator, two.first)
""",
            Runs(),
            why="each object has a function of its own",
        ),
        Good(
            f"""{UPDATE}
for _ in range(2):
    step = tf.function(update, jit_compile=True)
    step(network(), keras.optimizers.Adam(), x, y)
""",
            Runs(),
            why="each iteration makes the function, too",
        ),
        Good(
            f"""
import sys
{STEP}
model = network()
optimizer = {{1: keras.optimizers.Adam(), 2: keras.optimizers.RMSprop()}}[min(len(sys.argv), 2)]
for rows in (x, x[:2]):
    step(model, optimizer, rows, y[:1])
""",
            Runs(),
            why="one of a table for all iterations",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, CreateAgain)
        notes = [DraftNote(event.made, "the optimizer is created here")]
        notes += [DraftNote(event.first, "an earlier call is here")] if event.first is not None else []
        what = f"`{brief(event.location.node)}` passes `{event.name}` another optimizer, which has no variables yet"
        message = f"{what}: only the first call of a `tf.function` may create variables"
        yield Draft(message, Effect.FAILS, HELP, notes=tuple(notes))
