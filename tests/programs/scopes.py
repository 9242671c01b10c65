"""Programs that enter the scope of a strategy in other ways than by `with strategy.scope():`."""

from __future__ import annotations

from typing import Final

from .tpu import MIRRORED, VM, Program

DISTRIBUTED: Final = """
class Distributed:
    def __init__(self, strategy):
        self.scope = strategy.scope()

    def __enter__(self):
        self.scope.__enter__()

    def __exit__(self, *error):
        self.scope.__exit__(*error)
"""

IN_SCOPE_OF: Final = """
def in_scope_of(one):
    def decorate(function):
        def inner(*args):
            with one.scope():
                return function(*args)
        return inner
    return decorate
"""
TIMED: Final = """
import time

def timed(function):
    def inner(*args):
        start = time.time()
        made = function(*args)
        print(time.time() - start)
        return made
    return inner
"""
TPU_OR_NOT: Final = f"""import sys
{VM.partition("resolver")[0]}
class Base:
    def __init__(self, use_tpu):
        self.use_tpu = use_tpu
        if self.use_tpu:
            resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
            tf.tpu.experimental.initialize_tpu_system(resolver)
            self.strategy = tf.distribute.TPUStrategy(resolver)
"""

STEP: Final = """
@tf.function
def train(iterator):
    strategy.run(step, args=(next(iterator),))
"""
MODULES: Final = """
class Dense(tf.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.w = tf.Variable(tf.random.normal([inputs, outputs]))

    def __call__(self, x):
        return tf.matmul(x, self.w)
"""

COUNTING: Final = """
    def step(x):
        if steps is not None:
            steps.assign_add(1)
        return tf.reduce_sum(x)

    @tf.function
    def train(iterator):
        return strategy.run(step, args=(next(iterator),))

    return train

main("--count" in sys.argv)(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(8))))
"""

WITH_MISTAKES: Final[dict[str, Program]] = {
    "a scope with a name that nothing enters": f"""{VM.partition("strategy =")[0]}
def main():
    strategy = tf.distribute.TPUStrategy(resolver)  # finds XLA512
    scope = strategy.scope()
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))

main()
""",
    "a scope that nothing enters": f"""{VM.partition("strategy =")[0]}
strategy = tf.distribute.TPUStrategy(resolver)  # finds XLA512

def main():
    strategy.scope()
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))

main()
""",
    "metrics and variables outside of the scope": f"""{VM}{MODULES}
mean = tf.keras.metrics.Mean()  # finds XLA502
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()  # finds XLA502
steps = tf.Variable(0, dtype=tf.int64)  # finds XLA502
dense = Dense(3, 4)  # finds XLA502

def count(value):
    mean(value)

def step(batch):
    x, y = batch
    logits = dense(x)
    count(tf.reduce_sum(logits))
    accuracy.update_state(y, logits)
    steps.assign_add(1)
{STEP}""",
    "a trainer whose metrics and counter are outside of the scope": f"""{VM}
class Trainer:
    def __init__(self, strategy):
        self.strategy = strategy
        self.mean = tf.keras.metrics.Mean()  # finds XLA502
        self.steps = tf.Variable(0)  # finds XLA502
        with strategy.scope():
            self.best = tf.keras.metrics.Mean()

    def step(self, x):
        self.mean.update_state(x)
        self.best.update_state(x)
        self.steps.assign(self.steps + 1)

    @tf.function
    def train(self, iterator):
        self.strategy.run(self.step, args=(next(iterator),))

def main(iterator):
    Trainer(strategy).train(iterator)
""",
    "a scope or nothing, around half of it": """\
import contextlib
import sys
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy() if "--many" in sys.argv else None
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
with strategy.scope() if strategy else contextlib.nullcontext():
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope that a context manager of the program enters": f"""{MIRRORED}
import contextlib

@contextlib.contextmanager
def distributed(strategy):
    if strategy is None:
        yield
    else:
        with strategy.scope():
            yield

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
with distributed(strategy):
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope that an object enters, around half of it": f"""{MIRRORED}{DISTRIBUTED}
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
with Distributed(strategy):
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope that a function enters for its caller": f"""{MIRRORED}
def begin():
    strategy.scope().__enter__()

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
begin()
model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a decorator that enters nothing": f"""{MIRRORED}{TIMED}
@timed
def make():
    return tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502

model = make()
with strategy.scope():
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a decorator with the scope of the strategy that it is passed": f"""{VM}{IN_SCOPE_OF}
@in_scope_of(strategy)
def make():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=True)  # finds XLA501
    return model

make().fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a variable that there may be": f"""import sys
{VM}
def main(counts):
    steps = tf.Variable(0, dtype=tf.int64) if counts else None  # finds XLA502
{COUNTING}""",
}

CLEAN: Final[dict[str, Program]] = {
    "a variable that there may be, in the scope": f"""import sys
{VM}
def main(counts):
    with strategy.scope():
        steps = tf.Variable(0, dtype=tf.int64) if counts else None
{COUNTING}""",
    "a scope with a name, entered by a method": f"""{VM}
scope = strategy.scope()

def build():
    return tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])

class Trainer:
    def run(self):
        with scope:
            self.model = build()
            self.model.compile("adam", "mse")
        self.model.fit(tf.ones([8, 3]), tf.ones([8, 1]))

Trainer().run()
""",
    "a scope with a name, entered later": f"""{VM}
scope = strategy.scope()
with scope:
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope with a name, passed on": f"""{VM}
import models

def main():
    scope = strategy.scope()
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    models.compile(model, scope)
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))

main()
""",
    "metrics and variables in the scope": f"""{VM}{MODULES}
with strategy.scope():
    mean = tf.keras.metrics.Mean()
    steps = tf.Variable(0, dtype=tf.int64)
    dense = Dense(3, 4)

def step(x):
    mean.update_state(tf.reduce_sum(dense(x)))
    steps.assign_add(1)
{STEP}""",
    "metrics and variables outside of the step": f"""{VM}{MODULES}
mean = tf.keras.metrics.Mean()
steps = tf.Variable(0, dtype=tf.int64)
rate = tf.Variable(0.1)
dense = Dense(3, 4)

def step(x):
    return tf.reduce_sum(x) * rate
{STEP}
def report(losses):
    for loss in losses:
        mean.update_state(loss)
        steps.assign_add(1)
    return dense(tf.ones([1, 3]))

report([1.0, 2.0])
""",
    "variables that the GPUs of one machine share": f"""{MIRRORED}
mean = tf.keras.metrics.Mean()
steps = tf.Variable(0, dtype=tf.int64)

def step(x):
    mean.update_state(x)
    steps.assign_add(1)
{STEP}""",
    "a strategy that nobody knows": """\
import machines
import tensorflow as tf

strategy, devices = machines.detect()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
model.fit(data)
""",
    "a scope that an object enters": f"""{MIRRORED}{DISTRIBUTED}
with Distributed(strategy):
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope or nothing": """\
import contextlib
import sys
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy() if "--many" in sys.argv else None
with strategy.scope() if strategy else contextlib.nullcontext():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=not strategy)
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a timer around what is created, a scope that a function enters for its caller": f"""{MIRRORED}
import contextlib
import time

@contextlib.contextmanager
def timed():
    start = time.time()
    yield
    print(time.time() - start)

def begin():
    strategy.scope().__enter__()

begin()
with timed():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a decorator of methods, with a scope if there is a TPU": f"""{TPU_OR_NOT}
def in_scope(method):
    def wrapper(self, *args, **kwargs):
        if self.use_tpu and not tf.distribute.in_cross_replica_context():
            with self.strategy.scope():
                output = method(self, *args, **kwargs)
        else:
            output = method(self, *args, **kwargs)
        return output
    return wrapper

class Trainer(Base):
    @in_scope
    def build(self):
        self.model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
        self.model.compile("adam", "mse")

    @in_scope
    def fit(self, x, y):
        self.build()
        self.model.fit(x, y)

Trainer("--tpu" in sys.argv).fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a decorator that a class defines": f"""{TPU_OR_NOT}
class Trainer(Base):
    def in_scope(method):
        def wrapper(self, *args):
            if not self.use_tpu:
                return method(self, *args)
            with self.strategy.scope():
                return method(self, *args)
        return wrapper

    @in_scope
    def build(self):
        model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        return model

Trainer("--tpu" in sys.argv).build().fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a decorator that is passed the strategy": f"""{VM}{IN_SCOPE_OF}
@in_scope_of(strategy)
def make():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model

make().fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a decorator with the strategy of its module": f"""{VM}
import functools

def scoped(function):
    @functools.wraps(function)
    def inner(*args):
        with strategy.scope():
            return function(*args)
    return inner

@scoped
def make():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model

make().fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "an object in place of a function": f"""{VM}
class Scoped:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        with strategy.scope():
            return self.function(*args)

@Scoped
def make():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model

make().fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
}
