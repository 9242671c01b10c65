"""A loop calls a model line by line, or has Keras predict input by input.

## What it does
Reports a loop on the host that trains nothing, and in each iteration calls a model in eager code, or a layer that it
holds, or a method of it that calls its layers, or a function that multiplies with weights, or does so itself and reads
results, or calls `model.predict` for what the loop goes through; or one that predicts for each element and trains on
that, as agents do that replay what they remember. There is one finding for a loop with the loops in it, and one for all
loops that run the same calls; notes name the calls, the other loops, and what is read of the results there.
Of a loop around compiled steps, reports the model that it calls beside them each time, as a generator for its fakes.
Only programs for TPUs are meant.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU: no program is compiled by `model(x)` in eager code, whose
operations run one by one; `@tf.function(jit_compile=True)` around it makes it one program. `model.predict` compiles its
step once for each shape, but builds a pipeline for each call.

## Example
    for image in images:
        save(model(image, training=False).numpy())

## Use instead
    for batch in model.predict(images.batch(64)):
        save(batch)

## Not flagged
- Calls under a condition that may come out differently for each element, unless both of its sides call, it passes over
  some elements with `continue`, or chance decides: `if random.random() < epsilon`, where no number says that it is
  seldom. Where the loop trains line by line as well, that is XLA506.
- Loops that are written to run a few times, and `predict` in a loop over models.
- `predict_on_batch`, and models that become part of another one, `keras.Model(inputs, outputs)`.
- What `tf.saved_model.load` returns: its functions were saved as graphs.
- Information only: calls with `training=False` of what is not known, which may be compiled, and its `predict` with
  `verbose`, `steps`, `batch_size` or `callbacks`; `while` loops, such as over the frames of a camera, loops that need
  each result to go on, and calls under a condition that the loop does not change: `if kind == "keras"`, where `kind`
  is a parameter or a setting.

## Fix safety
There is no fix: the inputs have to be put into batches, or the call into a `tf.function`.

## References
- https://www.tensorflow.org/guide/function
- https://keras.io/api/models/model_training_apis/#predict-method
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import LoopOfCalls
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told

from ._further_models import CALLED, LEFT
from ._host_loops import MOST_NOTES, OTHER_LOOP, read_notes
from ._models_of_models import BESIDE, BUILDS, LEVELS, MODEL, PYRAMID, PYRAMID_CLASS, STACK, TOWERS


class EagerInference(Rule):
    code = "XLA517"
    name = "eager-inference"
    handles = (LoopOfCalls,)
    bad = (
        Bad(
            f"""{MODEL}
for x in data:
    print(model(x, training=False)[0].numpy())
""",
            ["data"],
            Runs(0),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
def classify(data):
    found = []
    for x in data:
        found.append(tf.keras.layers.Softmax()(model(x)).numpy())
    return found

classify(data)
""",
            ["data"],
            Runs(0),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
def run(x):
    return model(x, training=False)

found = [run(x) for x in data]
""",
            ["[run(x) for x in data]"],
            Runs(0),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
for x in data:
    state = model(x)
    for _ in range(20):
        state = model(tf.repeat(state, 3, axis=1))
    print(state.numpy())
""",
            ["data"],
            Runs(0),
            severity=Severity.WARNING,
            target="tpu",
            why="one finding for both loops",
        ),
        Bad(
            f"""{MODEL}
def run(x):
    return model(x, training=False)

for x in data:
    print(run(x).numpy())
found = [run(x) for x in data]
""",
            ["data"],
            Runs(0),
            severity=Severity.WARNING,
            target="tpu",
            why="both loops run the same call",
        ),
        Bad(
            f"""{MODEL}
for x in data:
    print(model.predict(x, verbose=0))
""",
            ["data"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
class Camera:
    def __init__(self):
        self.frames = 0

    def read(self):
        self.frames += 1
        return self.frames < 30, [[1.0, 2.0, 3.0]]

camera = Camera()
while True:
    more, frame = camera.read()
    if not more:
        break
    print(model(tf.constant(frame)).numpy())
""",
            ["True"],
            Runs(0),
            severity=Severity.INFO,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
def play(environment):
    state = environment.reset()
    for _ in range(200):
        action = model(tf.constant([state]))
        state, done = environment.step(action)
        if done:
            break
""",
            ["range(200)"],
            None,
            severity=Severity.INFO,
            target="tpu",
            why="nothing calls it",
        ),
        Bad(
            f"""{MODEL}
rows = [[1.0, 2.0, 3.0]] * 30
for row in rows:
    if not row:
        continue
    print(model(tf.constant([row])).numpy())
""",
            ["rows"],
            Runs(0),
            severity=Severity.WARNING,
            target="tpu",
            why="it passes over some",
        ),
        Bad(
            f"""{MODEL}
for number, x in enumerate(data):
    print(model(x).numpy())
    if number == 28:
        break
""",
            ["enumerate(data)"],
            Runs(0),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""import sys
{MODEL}
class Runner:
    def __init__(self, kind):
        self.kind = kind

    def run(self, x):
        if self.kind == "mean":
            return tf.reduce_mean(x)
        return model.predict(x, verbose=0)

def run(runner):
    for x in data:
        print(runner.run(x))

run(Runner(sys.argv[-1]))
""",
            ["data"],
            Runs(),
            severity=Severity.INFO,
            target="tpu",
            why="one kind of model, for all elements",
        ),
        Bad(
            f"""{MODEL}
for x in data:
    if tf.reduce_sum(x) > 9.0:
        print(model.predict(x, verbose=0))
    else:
        print(model.predict(-x, verbose=0))
""",
            ["data"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
            why="each side predicts",
        ),
        Bad(
            f"""{MODEL}
import numpy as np

model.compile("sgd", "mse")
memory = [(np.ones((1, 3)), 1.0, np.ones((1, 3)), number % 3 == 0) for number in range(30)]
for state, reward, following, done in memory:
    wanted = model.predict(state, verbose=0)
    if not done:
        reward += 0.9 * np.amax(model.predict(following, verbose=0))
    wanted[0] = reward
    model.fit(state, wanted, verbose=0)
""",
            ["memory"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
            help="fit once",
        ),
        Bad(
            """
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.score = tf.keras.layers.Dense(1)

    def predict(self, x):
        return self.score(x)

net = Net()
for number in range(30):
    print(net.predict(tf.fill([1, 3], float(number))))
""",
            ["range(30)"],
            Runs(0),
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
for number, x in enumerate(data):
    votes = tf.zeros([1, 1])
    for turn in range(3):
        votes += model(x + float(turn))
    print(number, votes.numpy())
""",
            ["enumerate(data)"],
            Runs(0),
            target="tpu",
        ),
        *CALLED,
    )
    good = (
        Good(
            f"""{MODEL}
for x in data:
    if tf.reduce_sum(x) > 9.0:
        print(model.predict(x, verbose=0))
""",
            Runs(),
            target="tpu",
            why="the element decides",
        ),
        Good(
            f"""{MODEL}
models = [tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)]) for _ in range(20)]

def score(number, x):
    one = models[number]
    return one(x) if number % 2 else -one(x)

for number in range(20):
    print(score(number, tf.ones([1, 3])).numpy())
""",
            Runs(0),
            target="tpu",
            why="a loop over models",
        ),
        Good(
            f"""{MODEL}
class Watch:
    def __init__(self):
        self.left = 25

    def look(self, x):
        self.left -= 1
        if self.left < 0:
            print(model.predict(x, verbose=0))

watch = Watch()
for x in data:
    watch.look(x)
""",
            Runs(),
            target="tpu",
            why="the condition changes",
        ),
        Good(
            f"""{MODEL}
for x in data:
    shown = model(x).numpy()
    break
for x in data.take(3):
    print(model(x).numpy())
""",
            Runs(0),
            target="tpu",
            why="a few inputs",
        ),
        Good(
            f"""{MODEL}
for number, x in enumerate(data):
    print(model(x).numpy())
    if number == 8:
        break
""",
            Runs(0),
            target="tpu",
            why="left after a few inputs",
        ),
        Good(
            f"""{MODEL}
@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.string)])
def run(x, name):
    return model(x)

for x in data:
    print(run(x, "a")[0].numpy())
""",
            Runs(),
            target="tpu",
            why="a graph, which takes text",
        ),
        Good(
            f"""{MODEL}
run = tf.function(model)
for x in data:
    print(run(x)[0].numpy())
""",
            Runs(),
            target="tpu",
        ),
        Good(
            f"""{MODEL}
for x in data:
    print(model(x, training=False)[0].numpy())
""",
            Runs(0),
            why="nobody asks for a TPU",
        ),
        Good(
            f"""{MODEL}
model.compile("sgd", "mse")
for epoch in range(12):
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)
    print(model(tf.ones([1, 3])))
""",
            Runs(),
            target="tpu",
            why="once an epoch",
        ),
        Good(BUILDS, Runs(), target="tpu", why="another model each time"),
        Good(PYRAMID, Runs(), target="tpu", why="the model becomes part of another one"),
        Good(
            PYRAMID_CLASS, Runs(), target="tpu", why="the model becomes part of another one, of a class of the program"
        ),
        Good(BESIDE, Runs(), target="tpu", why="a function makes another model of each"),
        Good(
            f"""{MODEL}
import numpy as np

model.compile("sgd", "mse")
x, y = np.ones((64, 3)), np.ones((64, 1))
folds = [(np.arange(0, 64, 2), np.arange(1, 64, 2))] * 20
for train, test in folds:
    model.fit(x[train], y[train], verbose=0)
    print(model.predict(x[test], verbose=0).mean())
""",
            Runs(),
            target="tpu",
            why="folds",
        ),
        Good(
            f"""{MODEL}
import numpy as np

model.compile("sgd", "mse")
x, y, unlabeled = np.ones((64, 3)), np.ones((64, 1)), np.ones((640, 3))
for number in range(20):
    guessed = model.predict(unlabeled[:32], verbose=0)
    x, y, unlabeled = np.concatenate([x, unlabeled[:32]]), np.concatenate([y, guessed]), unlabeled[32:]
    model.fit(x, y, verbose=0)
""",
            Runs(),
            target="tpu",
            why="rounds of training on what was predicted",
        ),
        Good(
            f"""{MODEL}
for number, x in enumerate(data):
    if number % 10:
        continue
    print(model(x).numpy())
""",
            Runs(0),
            target="tpu",
            why="every tenth",
        ),
        Good(STACK, Runs(0), target="tpu", why="layers that a model is put together of"),
        Good(TOWERS, Runs(0), target="tpu", why="layers are made for what the model is called with"),
        Good(LEVELS, Runs(0), target="tpu", why="Keras calls it with the inputs of a model"),
        Good(
            f"""{MODEL}
for x in data:
    print(model.predict_on_batch(x))
""",
            Runs(),
            target="tpu",
            why="batch by batch, without a pipeline",
        ),
        *LEFT,
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case LoopOfCalls(calls=calls, reads=reads, predicts=predicts):
                done = "multiplies with weights" if event.by_hand else "calls a model"
                if event.trains:
                    what = (
                        "each iteration has Keras predict and fit: a call builds a pipeline, and waits for its results"
                    )
                    help = "predict once, for all inputs in one array, and fit once"
                elif event.beside:
                    what = "each iteration calls a model line by line, beside its compiled step: XLA compiles no call"
                    help = "put the call into the step, or into a function with `@tf.function`"
                elif predicts:
                    what = "each iteration has Keras predict again: a call builds a pipeline, and waits for its results"
                    help = "predict once, for a dataset of all inputs in batches"
                else:
                    what = f"each iteration {done} line by line: XLA compiles nothing of it"
                    help = "put the call into a function with `@tf.function`, or use `model.predict` for all in batches"
                if event.unknown and predicts:
                    what = "each iteration has a model predict again, it seems: Keras builds a pipeline for each call"
                elif event.unknown:
                    what = "each iteration calls a model, it seems: line by line, unless what is called is compiled"
                if event.by_chance:
                    what = f"where chance has it so, {what}"
                if event.unsure:
                    what = f"if the condition around the call holds, {what}"
                called = tuple(DraftNote(each, "called here") for each in calls[event.beside :][:MOST_NOTES])
                others = tuple(DraftNote(each, OTHER_LOOP) for each in event.others[:MOST_NOTES])
                yield Draft(
                    what,
                    Effect.TPU,
                    help,
                    notes=(*called, *others, *read_notes(reads)),
                    at_most=Severity.INFO if event.is_quiet else Severity.WARNING,
                    told=Told.FOR_TPU,
                )
