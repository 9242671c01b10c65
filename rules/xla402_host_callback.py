"""A compiled function calls back into Python.

## What it does
Reports `tf.py_function`, `tf.numpy_function` and `tf.compat.v1.py_func` in code that XLA compiles.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: compiling fails ("No registered 'EagerPyFunc' OpKernel", "PyFunc"). On every
device, a compiled program runs to its end and cannot call Python in between.

## Example
    y = tf.numpy_function(np.sort, [x], tf.float32)

## Use instead
    y = tf.sort(x)

Write the function with TensorFlow operations. Or call it in the input pipeline (`dataset.map`), which runs on the host.
Or split the compiled function in two, with the call between them.

## Not flagged
Functions that `tf.data` maps, a plain `tf.function`, and eager code. The call works there.

## Fix safety
Shown only: the call does not show what the Python function does.

## References
- https://www.tensorflow.org/api_docs/python/tf/py_function
- https://github.com/tensorflow/tensorflow/issues/51493
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.facts.kernels import lacking
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Rule

OPS = {
    "tf.numpy_function": "PyFunc",
    "tf.py_func": "PyFunc",
    "tf.py_function": "EagerPyFunc",
}


class HostCallback(Rule):
    code = "XLA402"
    name = "host-callback"
    lacks_kernel = True
    handles = (ApiCall,)
    apis = frozenset(OPS)
    bad = (
        Bad(
            """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    return tf.numpy_function(np.sort, [x], tf.float32)
""",
            ["tf.numpy_function(np.sort, [x], tf.float32)"],
            Fails("PyFunc"),
            effect=Effect.FAILS,
            help="dataset.map",
        ),
        Bad(
            """
def scaled(x):
    return x * 2.0

class L(tf.keras.layers.Layer):
    def call(self, x):
        return tf.py_function(func=scaled, inp=[x], Tout=tf.float32)
""",
            ["tf.py_function(func=scaled, inp=[x], Tout=tf.float32)"],
            Fails("EagerPyFunc"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
from tensorflow import py_function

def apply(function, x):
    return py_function(function, [x], x.dtype)

@tf.function(jit_compile=True)
def f(x):
    return apply(lambda a: a + 1.0, x)
""",
            ["py_function(function, [x], x.dtype)"],
            Fails("EagerPyFunc"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Metric:
    def value(self, x):
        return tf.compat.v1.py_func(lambda a: a, [x], tf.float32)

METRIC = Metric()

@tf.function(jit_compile=True)
def f(x):
    return METRIC.value(x)
""",
            ["tf.compat.v1.py_func(lambda a: a, [x], tf.float32)"],
            Fails("PyFunc"),
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
import numpy as np

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).map(lambda x: tf.numpy_function(np.sort, [x], tf.float32))
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
@tf.function
def f(x):
    return tf.py_function(lambda a: a, [x], tf.float32)
""",
            None,
            why="a plain `tf.function` calls Python",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.sort(x)\n"),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    return x * np.sqrt(2.0)
""",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        if tf.executing_eagerly():
            return tf.py_function(lambda a: a, [x], tf.float32)
        return x
""",
            why="a compiled function is not executed eagerly",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, node=node) if event.context.kind is ContextKind.XLA:
                message = f"`{brief(node)}` calls back into Python: {lacking([OPS[api]], self.tensorflow)}"
                yield Draft(message, Effect.FAILS, HELP)


HELP = "use TensorFlow operations, or call it in dataset.map, which runs on the host"
