"""Models that are loaded or built where they predict, again each time."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Severity
from xlalint.settings.config import Settings

HEAD: Final = """\
import functools
import glob
import sys
import tensorflow as tf
from fastapi import APIRouter, FastAPI
from flask import Blueprint, Flask, request
from keras.models import load_model

app, api, pages, router = Flask(__name__), FastAPI(), Blueprint("pages", __name__), APIRouter()
PATH = "model.keras"
MODEL = load_model(PATH)
KEPT = {}
CACHE = None

def build():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.load_weights(PATH)
    return model

def load():
    return load_model(PATH)

def again():
    return load()

@functools.lru_cache(maxsize=1)
def kept():
    return load_model(PATH)

def shared():
    global CACHE
    if CACHE is None:
        CACHE = load_model(PATH)
    return CACHE

def read(path):
    return tf.io.decode_jpeg(tf.io.read_file(path))

def ask(net, x):
    return net.predict(x)

def score(model, x):
    return ask(model, x)[0]

def tune(net, x):
    net.fit(x)

def noted(f):
    return functools.wraps(f)(functools.cache(f))

@noted
def found():
    return load_model(PATH)

class Detector:
    def __init__(self, path=PATH, size=3):
        self.size = size
        self.model = load_model(PATH)

    def detect(self, x):
        return self.model.predict(x)

class Reader:
    def __init__(self, path):
        self.model = load_model(path)

    def detect(self, x):
        return self.model.predict(x)

class Learner:
    def __init__(self):
        self.model = load_model(PATH)

    def learn(self, x):
        self.model.fit(x)

    def detect(self, x):
        return self.model.predict(x)

"""
EACH: Final = "\nfor x in glob.glob('*'):\n    a(x)"
ONCE_MORE: Final = {
    "passed on": "def a(x):\n    model = load_model(PATH)\n    return ask(model, x)" + EACH,
    "passed on twice": "def a(x):\n    net = load()\n    return score(x=x, model=net)" + EACH,
    "passed at once": "def a(x):\n    return ask(load_model(PATH), x)" + EACH,
    "passed by a handler": "@app.route('/a')\ndef a():\n    model = load()\n    return score(model, request.json)",
    "of an object": "def a(x):\n    return Detector().detect(x)" + EACH,
    "of an object in a loop": "for x in glob.glob('*'):\n    mine = Detector(size=4)\n    print(mine.detect(x))",
    "of the object of a handler": "@api.post('/a')\ndef a(x: list):\n    mine = Detector()\n    return mine.detect(x)",
    "for each item": "def a(x):\n    model = load_model(PATH)\n    return model.predict(x)\n[a(x) for x in sys.argv]",
    "a server of Python": "from http.server import BaseHTTPRequestHandler\nclass Server(BaseHTTPRequestHandler):\n"
    "    def do_POST(self):\n        model = load_model(PATH)\n        self.wfile.write(model.predict(self.rfile))",
    "a resource": "from flask_restful import Resource\nclass Answers(Resource):\n    def post(self):\n"
    "        return ask(load_model(PATH), request.json)",
    "a handler": "@app.route('/a', methods=['POST'])\ndef a():\n    model = load_model(PATH)\n    model.predict([1])",
    "a post": "@api.post('/a')\nasync def a(x: list):\n    model = load_model('m.keras')\n    return model.predict(x)",
    "a router": "@router.get('/a')\ndef a(x):\n    return load_model(PATH).predict(x)",
    "a blueprint": "@pages.route('/a')\ndef a():\n    model = build()\n    return model.predict(request.json)",
    "a helper": "@app.route('/a')\ndef a():\n    model = again()\n    return model.predict(request.json)",
    "batches": "@app.route('/a')\ndef a():\n    model = load()\n    for x in request.json:\n        model.predict(x)",
    "a scope": "@app.route('/a')\ndef a():\n    with tf.device('CPU'):\n        model = load()\n    model.predict([1])",
    "a loop": "for path in glob.glob('*'):\n    model = load_model(PATH)\n    model.predict(read(path))",
    "a while": "while True:\n    model = load_model(PATH)\n    model.predict(read('a'))",
    "no name": "for path in glob.glob('*'):\n    print(load_model(PATH).predict(read(path)))",
    "a nested loop": "for _ in range(9):\n    model = load()\n    for path in sys.argv:\n        model.predict(path)",
    "a function": "def one(path):\n    model = load()\n    return model.predict(read(path))\n\n"
    "for path in glob.glob('*'):\n    one(path)",
    "further functions": "def one(path):\n    model = load()\n    return model.predict(read(path))\n\n"
    "def main():\n    for path in glob.glob('*'):\n        two(path)\n\ndef two(path):\n    print(one(path))\n\nmain()",
    "an application": "for path in glob.glob('*'):\n    model = tf.keras.applications.ResNet50()\n"
    "    model.predict(read(path))",
    "weights": "for path in glob.glob('*'):\n    model = tf.keras.applications.ResNet50(weights=None)\n"
    "    model.load_weights('a.weights.h5')\n    model.predict(read(path))",
    "a method": "class Answers:\n    def __init__(self):\n        self.path = PATH\n\n    def answer(self, x):\n"
    "        model = load_model(self.path)\n        return model.predict(x)\n\nanswers = Answers()\n"
    "for path in glob.glob('*'):\n    answers.answer(read(path))",
}
ONCE: Final = {
    "passed to what trains": "def a(x):\n    model = load_model(PATH)\n    tune(model, x)\n    return ask(model, x)"
    + EACH,
    "passed in a loop": "def a(y):\n    model = load_model(PATH)\n    for x in y:\n        ask(model, x)\na(sys.argv)",
    "by a path made here": "def a(name):\n    path = f'{name}.keras'\n    net = load_model(path)\n    net.predict([1])"
    + EACH,
    "of another object": "for x in glob.glob('*'):\n    Reader(x).detect([1])",
    "of an object that is kept": "mine = Detector()\nfor x in glob.glob('*'):\n    mine.detect(x)",
    "of an object that learns": "for x in glob.glob('*'):\n    mine = Learner()\n    mine.learn(x)\n    mine.detect(x)",
    "kept by a decorator": "def a(x):\n    model = found()\n    return model.predict(x)" + EACH,
    "not of a request": "class Page:\n    def get(self):\n        model = load_model(PATH)\n        model.predict([1])",
    "a constant of the module": "@app.route('/a')\ndef a():\n    return MODEL.predict(request.json)",
    "what Python keeps": "@app.route('/a')\ndef a():\n    model = kept()\n    return model.predict(request.json)",
    "what a condition keeps": "@app.route('/a')\ndef a():\n    model = shared()\n    model.predict(request.json)",
    "a table": "@app.route('/a')\ndef a():\n    if 'a' not in KEPT:\n        KEPT['a'] = load_model(PATH)\n"
    "    return KEPT['a'].predict(request.json)",
    "another path each time": "for path in glob.glob('*'):\n    model = load_model(path)\n    model.predict(read('a'))",
    "another name each time": "for path in glob.glob('*'):\n    name = path + '.keras'\n    model = load_model(name)\n"
    "    model.predict(read('a'))",
    "a path that is passed": "def one(path):\n    model = load_model(path)\n    return model.predict(read('a'))\n\n"
    "for path in glob.glob('*'):\n    one(path)",
    "other weights": "for path in glob.glob('*'):\n    model = build()\n    model.load_weights(path)\n"
    "    model.predict(read('a'))",
    "folds of a helper": "def train(model):\n    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n\n"
    "for fold in range(5):\n    model = build()\n    train(model)\n    model.predict(tf.ones([8, 3]))",
    "a function that is called once": "def one(path):\n    model = load()\n    model.predict(read(path))\n\none('a')",
    "a loop behind": "def all(paths):\n    model = load()\n    for path in paths:\n        model.predict(path)\n\n"
    "all(glob.glob('*'))",
    "no server's decorator": "def route(path):\n    return lambda function: function\n\n@route('/a')\ndef a():\n"
    "    model = load()\n    return model.predict(tf.ones([8, 3]))",
    "another method of a server": "@app.before_first_request\ndef a():\n    model = load()\n"
    "    model.predict(tf.ones([8, 3]))",
    "what need not run": "for path in glob.glob('*'):\n    if len(sys.argv) > 9:\n        model = load()\n"
    "        model.predict(read(path))",
}
TRIAL: Final = """\
def trial(rate):
    model, rates = build(), tf.keras.optimizers.SGD(rate)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        found = tape.gradient(loss, model.trainable_variables)
        rates.apply_gradients(zip(found, model.trainable_variables))

    for _ in range(99):
        step(tf.ones([8, 3]))

"""
# Models that are trained as well, which is information.
TRAINED: Final = {
    "folds": "for fold in range(5):\n    model = build()\n    model.compile('sgd', 'mse')\n"
    "    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n    model.predict(tf.ones([8, 3]))",
    "trials of a function": "def score(units):\n    model = tf.keras.Sequential([tf.keras.layers.Dense(units)])\n"
    "    model.compile('sgd', 'mse')\n    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n    return model\n\n"
    "for units in sys.argv:\n    score(units)",
    "trials of a method": "class Search:\n    def reward(self, units):\n        model = build()\n"
    "        model.compile('sgd', 'mse')\n        model.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n\n"
    "search = Search()\nwhile True:\n    search.reward(3)",
    "a study": "import optuna\ndef objective(trial):\n    model = build()\n    model.compile('sgd', 'mse')\n"
    "    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n    return 1\n\n"
    "optuna.create_study().optimize(objective, n_trials=9)",
    "a search": "import hyperopt\ndef objective(space):\n    model = build()\n    model.compile('sgd', 'mse')\n"
    "    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n    return 1\n\nhyperopt.fmin(fn=objective, space={})",
    "a step of its own": f"{TRIAL}for rate in sys.argv:\n    trial(float(rate))",
    "layers one by one": "for units in sys.argv:\n    model = tf.keras.Sequential()\n"
    "    model.add(tf.keras.layers.Dense(units))\n    model.compile('sgd', 'mse')\n"
    "    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))",
}
NOT_AGAIN: Final = {
    "one of all": "model = build()\nmodel.compile('sgd', 'mse')\nfor fold in range(5):\n"
    "    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))",
    "a step of its own, once": f"{TRIAL}trial(0.1)",
    "called once": "def train():\n    model = build()\n    model.compile('sgd', 'mse')\n"
    "    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n\ntrain()",
    "kept": "for fold in range(5):\n    model = kept()\n    model.compile('sgd', 'mse')\n"
    "    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))",
    "once, in a loop": "for epoch in range(5):\n    if epoch == 0:\n        model = build()\n"
    "        model.compile('sgd', 'mse')\n    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))",
}


def _told(code: str, target: str | None) -> list[Severity]:
    found = lint_source(f"{HEAD}{code}\n", settings=Settings(target=target)).findings
    return [one.severity for one in found if one.code == "XLA314"]


@pytest.mark.parametrize("code", ONCE_MORE.values(), ids=ONCE_MORE.keys())
def test_model_that_is_made_again(code: str) -> None:
    assert _told(code, "tpu") == [Severity.WARNING]
    assert _told(code, None) == []


@pytest.mark.parametrize("code", ONCE.values(), ids=ONCE.keys())
def test_model_that_is_made_once(code: str) -> None:
    assert _told(code, "tpu") == []


@pytest.mark.parametrize("code", TRAINED.values(), ids=TRAINED.keys())
def test_model_that_is_trained_again(code: str) -> None:
    assert _told(code, "tpu") == [Severity.INFO]
    assert _told(code, None) == []


@pytest.mark.parametrize("code", NOT_AGAIN.values(), ids=NOT_AGAIN.keys())
def test_model_that_is_trained_once(code: str) -> None:
    assert _told(code, "tpu") == []
