"""Each iteration, call or request makes a model to predict with, or to train: Keras traces it, and XLA compiles it.

## What it does
Reports a Keras model that is loaded or built where it predicts, the same each time, if that happens again and again: in
a loop, in a function that a loop calls, or in one that answers the requests of a web server (`@app.route(..)`,
`@app.post(..)`, `do_POST` of `http.server`). This includes one that is passed on to functions that have it predict, and
one of an object that is created there, and loads it. Models that are built and trained again, in the trials of
a search, for folds, or by a function that says how good a model is, by Keras or by a compiled step that is created with
them, are information: what is compiled may be worth keeping.

## What XLA does
Measured with Keras 3.15 and TensorFlow 2.21 on a CPU: Keras compiles the steps of each model. Four models that
`keras.saving.load_model` reads from the same file, and that predict once each, cost four traces and four compilations,
although their layers and weights are the same. Loaded once, the model costs one. Three models that are built and
trained alike cost three; one that is given its first weights again (`model.set_weights`) costs one.

## Example
    @app.post("/answer")
    def answer(request):
        model = keras.saving.load_model("model.keras")
        return model.predict(request.inputs)

## Use instead
    @functools.cache
    def load():
        return keras.saving.load_model("model.keras")

    @app.post("/answer")
    def answer(request):
        return load().predict(request.inputs)

## Not flagged
- A model that a condition loads, or of a function with a decorator, which may keep it.
- A model that is another one each time: `load_model(path)` for each path, a name or weights that change.
- A model that is trained, or passed to other code, by another function than that which makes it.
- A function that is called once, or that nobody is seen to call.
- Models that XLA does not compile: where nothing asks for it, and no target is set.
- A model of layers that another model has (XLA307).

## Fix safety
There is no fix: where the model is kept is for the program to say.

## References
- https://keras.io/api/models/model_saving_apis/model_saving_and_loading/
- https://docs.python.org/3/library/functools.html#functools.cache
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import CallOwnCompiled, Event
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity

MODEL = """
import keras
import numpy as np
import tempfile

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
path = tempfile.mkdtemp() + "/model.keras"
model.save(path)
"""


class ModelMadeAgain(Rule):
    code = "XLA314"
    name = "model-made-again"
    handles = (CallOwnCompiled,)
    bad = (
        Bad(
            f"""{MODEL}
def answer(x):
    loaded = keras.saving.load_model(path)
    loaded.compile(jit_compile=True)
    return loaded.predict(x, verbose=0)

for _ in range(4):
    answer(np.ones((8, 4), "float32"))
""",
            ["keras.saving.load_model(path)"],
            Runs(4),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="functools.cache",
            why="each call loads it",
        ),
        Bad(
            f"""{MODEL}
def build():
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    net.compile(jit_compile=True)
    return net

for _ in range(4):
    net = build()
    for _ in range(2):
        net.predict(np.ones((8, 4), "float32"), verbose=0)
""",
            ["build()"],
            Runs(4),
            why="each iteration builds it",
        ),
        Bad(
            f"""{MODEL}
class Answers:
    def __init__(self, path):
        self.path = path

    def answer(self, x):
        loaded = keras.saving.load_model(self.path)
        loaded.compile(jit_compile=True)
        return loaded.predict_on_batch(x)

answers = Answers(path)
for _ in range(4):
    answers.answer(np.ones((8, 4), "float32"))
""",
            ["keras.saving.load_model(self.path)"],
            Runs(4),
            why="a method of an object that stays the same",
        ),
        Bad(
            f"""{MODEL}
class Answers:
    def __init__(self):
        self.model = keras.saving.load_model(path)
        self.model.compile(jit_compile=True)

    def answer(self, x):
        return self.model.predict(x, verbose=0)

def ask(net, x):
    return net.predict(x, verbose=0)

def load():
    loaded = keras.saving.load_model(path)
    loaded.compile(jit_compile=True)
    return loaded

def both(x):
    answers = Answers()
    net = load()
    return answers.answer(x), ask(net, x)

for _ in range(2):
    both(np.ones((8, 4), "float32"))
""",
            ["Answers()", "load()"],
            Runs(4),
            why="an object loads one, and another is passed on",
        ),
        Bad(
            """
import keras
from flask import Flask, request

app = Flask(__name__)

@app.route("/answer", methods=["POST"])
def answer():
    model = keras.saving.load_model("model.keras")
    return model.predict(request.json)
""",
            ['keras.saving.load_model("model.keras")'],
            None,
            severity=Severity.WARNING,
            why="each request loads it, by a server that is not installed",
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
x, y = np.ones((8, 4), "float32"), np.ones((8, 3), "float32")

def score(units):
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(units), keras.layers.Dense(3)])
    net.compile("sgd", "mse", jit_compile=True)
    net.fit(x, y, verbose=0)
    return net.evaluate(x, y, verbose=0)

for units in (2, 4, 5):
    score(units)
""",
            ["keras.Sequential([keras.Input((4,)), keras.layers.Dense(units), keras.layers.Dense(3)])"],
            Runs(6),
            severity=Severity.INFO,
            why="the trials of a search: two steps of each",
        ),
    )
    good = (
        Good(
            f"""{MODEL}
x, y = np.ones((8, 4), "float32"), np.ones((8, 3), "float32")
model.compile("sgd", "mse", jit_compile=True)
first = model.get_weights()
for fold in range(3):
    model.set_weights(first)
    model.fit(x, y, verbose=0)
""",
            Runs(1),
            why="one model for all folds",
        ),
        Good(
            f"""{MODEL}
import functools

@functools.cache
def load():
    loaded = keras.saving.load_model(path)
    loaded.compile(jit_compile=True)
    return loaded

kept = None

def keep():
    global kept
    if kept is None:
        kept = keras.saving.load_model(path)
        kept.compile(jit_compile=True)
    return kept

for _ in range(4):
    net, other = load(), keep()
    net.predict(np.ones((8, 4), "float32"), verbose=0)
    other.predict(np.ones((8, 4), "float32"), verbose=0)
""",
            Runs(2),
            why="each is loaded once",
        ),
        Good(
            f"""{MODEL}
folder = tempfile.mkdtemp()
for name in ("first", "second"):
    model.save(f"{{folder}}/{{name}}.keras")
for name in ("first", "second"):
    net = keras.saving.load_model(f"{{folder}}/{{name}}.keras")
    net.compile(jit_compile=True)
    net.predict(np.ones((8, 4), "float32"), verbose=0)
""",
            Runs(2),
            why="each is another model",
        ),
        Good(
            f"""{MODEL}
def answer(x):
    loaded = keras.saving.load_model(path)
    loaded.compile(jit_compile=True)
    return loaded.predict(x, verbose=0)

answer(np.ones((8, 4), "float32"))
""",
            Runs(1),
            why="called once",
        ),
        Good(
            f"""{MODEL}
model.save_weights(path.replace(".keras", ".weights.h5"))

def answer(x, weights):
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    net.load_weights(weights)
    net.compile(jit_compile=True)
    return net.predict(x, verbose=0)

for _ in range(2):
    answer(np.ones((8, 4), "float32"), path.replace(".keras", ".weights.h5"))
""",
            Runs(2),
            why="whoever calls it says which weights",
        ),
        Good(
            f"""{MODEL}
kept = {{}}

def answer(x):
    if "model" not in kept:
        kept["model"] = keras.saving.load_model(path)
        kept["model"].compile(jit_compile=True)
    return kept["model"].predict(x, verbose=0)

for _ in range(4):
    answer(np.ones((8, 4), "float32"))
""",
            Runs(1),
            why="a table keeps it",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case CallOwnCompiled(again=True, model="whole"):
                yield Draft(
                    "each iteration, call or request makes this model again: XLA compiles its prediction each time",
                    Effect.RECOMPILES,
                    "make it once: before the loop, at the top of the module, or in a function with `@functools.cache`",
                )
            case CallOwnCompiled(again=True, model="trained"):
                yield Draft(
                    "each iteration or call makes a model and trains it: XLA compiles its steps each time",
                    Effect.RECOMPILES,
                    "of the same layers, make it once, and give it its first weights again: model.set_weights(first)",
                    at_most=Severity.INFO,
                )
