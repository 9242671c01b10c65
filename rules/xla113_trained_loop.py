"""Training takes the gradient through a loop of `keras.ops`, and there is none.

## What it does
Reports `keras.ops.while_loop`, `fori_loop` and `scan` over floating-point tensors in a layer's or model's `call`, where
the backend has no gradient for them. It is an error if the loop runs a layer or reads a weight of the object itself,
which training needs the gradient of. Otherwise it is information: something before the layer has to be trained, and
what comes of the loop must not only be compared or used as a position, as in a suppression of boxes.

## What XLA does
Measured with Keras 3.15 on TensorFlow 2.21 and JAX 0.10, on a CPU, with `fit` and `jit_compile=True`.

| in `call` | TensorFlow | JAX |
| --- | --- | --- |
| `ops.while_loop` | InvalidArgumentError | ValueError |
| `ops.while_loop` with `maximum_iterations` | trains | ValueError |
| `ops.fori_loop` over Python numbers | InvalidArgumentError | trains |
| `ops.fori_loop` up to a tensor | InvalidArgumentError | ValueError |
| `ops.scan` | InvalidArgumentError | trains |

XLA keeps what the way back needs for each iteration, and wants to know how many there are. `evaluate` and `predict`
take no gradient and run.

## Example
    def call(self, x):
        return ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, self.dense(a)), (0, x))[1]

## Use instead
    def call(self, x):
        for _ in range(3):
            x = self.dense(x)
        return x

On TensorFlow alone, pass `maximum_iterations` to `while_loop`. On JAX alone, use `ops.scan`, or `ops.fori_loop` over
Python numbers. What needs no training goes into `ops.stop_gradient(..)`.

## Not flagged
- Loops over integers and booleans, and over constants alone.
- Loops whose result, or all that they start with, is passed to `ops.stop_gradient`.
- Loops outside of `call`: generation, metrics, code that calls the model itself.

## Fix safety
Shown only: a Python loop is unrolled, which takes long to compile if it is long.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html
- https://keras.io/api/ops/core/#while_loop-function
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import (
    NONE,
    Dependence,
    OneOf,
    Sequence,
    Structure,
    Value,
)
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, Effect, Good, OnJax, Rule, Runs, Severity

from ._gradients import has_floats, is_stopped, runs_weights
from ._jax import compiles, fails

WHILE: Final = "keras.ops.while_loop"
FORI: Final = "keras.ops.fori_loop"
SCAN: Final = "keras.ops.scan"
STARTS: Final = {WHILE: ("loop_vars",), FORI: ("init_val",), SCAN: ("init", "xs")}
NO_LIST_SIZE: Final = Breaks("XLA compilation requires a fixed tensor list size")
TRAINED: Final = """
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4), L()])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 4]), verbose=0)
"""


def _layer(body: str, *, more: str = "") -> str:
    begin = "import keras\nfrom keras import ops\n\nclass L(keras.layers.Layer):\n"
    return f"{begin}{more}    def call(self, x):\n{body}\n{TRAINED}"


DENSE: Final = "    def __init__(self):\n        super().__init__()\n        self.dense = keras.layers.Dense(4)\n\n"
SCALE: Final = "    def build(self, shape):\n        self.scale = self.add_weight(shape=())\n\n"


class TrainedLoop(Rule):
    code = "XLA113"
    name = "trained-loop"
    handles = (ApiCall,)
    apis = frozenset(STARTS)
    bad = (
        Bad(
            _layer("        return ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 1.1), (0, x))[1]"),
            ["ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 1.1), (0, x))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
            severity=Severity.INFO,
        ),
        Bad(
            _layer(
                "        return ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, self.dense(a)), (0, x))[1]",
                more=DENSE,
            ),
            ["ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, self.dense(a)), (0, x))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
        ),
        Bad(
            _layer(
                "        return ops.fori_loop(0, 3, self.step, x)",
                more=f"{SCALE}    def step(self, i, a):\n        return a * self.scale\n\n",
            ),
            ["ops.fori_loop(0, 3, self.step, x)"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
        ),
        Bad(
            _layer(
                """\
        def step(carry, row):
            carry = self.dense(carry) + row
            return carry, carry
        return ops.scan(step, x, ops.stack([x, x]))[0]""",
                more=DENSE,
            ),
            ["ops.scan(step, x, ops.stack([x, x]))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
        ),
        Bad(
            _layer(
                """\
        steps, grow = (x * self.scale,), lambda a: (a + self.scale,)
        return ops.while_loop(lambda a: ops.sum(a) < 1.0, grow, steps, maximum_iterations=3)[0]""",
                more=SCALE,
            ),
            ["ops.while_loop(lambda a: ops.sum(a) < 1.0, grow, steps, maximum_iterations=3)"],
            None,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            why="TensorFlow trains it; for JAX, the page of the two tracers has it",
            backend="jax",
        ),
    )
    good = (
        Good(
            _layer(
                "        return ops.while_loop("
                "lambda i, a: i < 3, lambda i, a: (i + 1, a * 1.1), (0, x), maximum_iterations=5)[1]"
            ),
            Runs(),
            why="TensorFlow knows how many iterations there are at most",
        ),
        Good(
            _layer(
                "        first = ops.cast(x[0, 0], 'int32')\n"
                "        count = ops.while_loop(lambda i: i < 3, lambda i: (i + 1,), (first,))[0]\n"
                "        return x * ops.cast(count, x.dtype)"
            ),
            Runs(),
            why="integers have no gradient",
        ),
        Good(
            _layer(
                "        steady = ops.while_loop(lambda a: ops.sum(a) < 50.0, lambda a: (a * a + 1.5,), (x,))[0]\n"
                "        return x * ops.stop_gradient(steady)"
            ),
            Runs(),
            why="nobody asks for the gradient",
        ),
        Good(
            _layer(
                "        begin = ops.stop_gradient(x)\n"
                "        return x * ops.while_loop(lambda a: ops.sum(a) < 50.0, lambda a: (a * a + 1.5,), (begin,))[0]"
            ),
            Runs(),
            why="the gradient ends before the loop",
        ),
        Good(
            _layer(
                "        ones = ops.ones((4,))\n"
                "        return x * ops.while_loop(lambda a: ops.sum(a) < 50.0, lambda a: (a * 1.5,), (ones,))[0]"
            ),
            Runs(),
            why="a loop over constants",
        ),
        Good(
            _layer(
                "        return ops.fori_loop(0, 3, lambda i, a: self.dense(a), x)",
                more=DENSE,
            ),
            None,
            why="JAX runs a known number of iterations as a scan; for JAX, the page of the two tracers has it",
            backend="jax",
        ),
        Good(
            """
import keras
from keras import ops

class Net(keras.Model):
    def call(self, x):
        return x

    def generate(self, x):
        return ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, self(a)), (0, x))[1]

net = Net()
f = tf.function(net.generate, jit_compile=True)
""",
            why="generation takes no gradient",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if _is_trained(event) and not is_stopped(event, STARTS[event.api]):
                jax = _on_jax(event)
                alone = api == WHILE and event.arguments.get("maximum_iterations", NONE) != NONE
                if alone and jax.effect is None:
                    return
                what = f"training takes the gradient through `{brief(event.node)}`"
                at_most = Severity.ERROR if runs_weights(event) else Severity.INFO
                message = f"{what}, which XLA does not compile: nothing says how often the loop runs at most"
                yield Draft(message, Effect.FAILS, HELP, at_most=at_most, jax=jax, on_jax_alone=alone)


HELP: Final = "write `for i in range(N):`, or ops.stop_gradient(..) around what is not trained"


def _is_trained(event: ApiCall) -> bool:
    """Whether Keras trains what the loop runs on: tensors that depend on what a layer's `call` is passed."""
    root = event.trail
    while root is not None and root.parent is not None:
        root = root.parent
    if root is None or event.context.keras is None or root.name.rpartition(".")[2] != "call":
        return False
    started = [event.arguments[name] for name in STARTS[event.api] if name in event.arguments]
    return any(has_floats(value) and _depends_on_data(value) for value in started)


def _depends_on_data(value: Value) -> bool:
    match value:
        case Sequence(items=tuple(items)) | OneOf(options=tuple(items)):
            return any(map(_depends_on_data, items))
        case Structure():
            return True
        case _:
            return (tensor := as_tensor(value)) is not None and tensor.dependence is Dependence.VALUE


def _on_jax(event: ApiCall) -> OnJax:
    what = f"training takes the gradient through `{brief(event.node)}`"
    counted = [event.arguments.get(name, NONE) for name in ("lower", "upper")]
    if event.api == SCAN or (event.api == FORI and not any(map(_is_data, counted))):
        return compiles(what, "this trains")
    return fails(what, "`fit` raises ValueError: reverse-mode differentiation does not work for such a loop")


def _is_data(value: Value) -> bool:
    return as_tensor(value) is not None
