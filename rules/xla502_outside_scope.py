"""A model, its optimizer or its metrics are created outside the scope of the strategy that trains the model.

## What it does
Reports objects with variables that are created outside `strategy.scope()` but used by a `MirroredStrategy` or
`TPUStrategy`:

- a model that is compiled, fitted or called in the strategy's scope or step
- the optimizer of a model that was created in the scope, including the one that `compile` creates from a name
- for Keras 2, the metrics passed to `compile`

## What XLA does
A strategy keeps a copy of each variable on each of its devices, and only variables created in its scope get copies.
Measured with TensorFlow 2.21 on two CPU devices:

- A model from outside: Keras 3.15 raises an `AssertionError` without a message, Keras 2 "was not created in the
  distribution strategy scope".
- An optimizer with state (all but SGD without momentum) from outside, also by `model.compile("adam")` outside: Keras 3
  raises "Mixing different tf.distribute.Strategy objects". Keras 2 does so only if the optimizer belongs to another
  strategy.
- Model, optimizer and `fit` all outside: Keras 3 trains on one device, and the strategy has no effect.
- A metric object from outside: Keras 2 raises "created inside a different distribution strategy scope". Keras 3 accepts
  it.

Not measured with a `TPUStrategy`, for lack of a TPU; its documentation asks for the same. Where nothing says which
Keras runs the program, an optimizer outside the scope of a `TPUStrategy` is information.

## Example
    model = build()
    with strategy.scope():
        model.compile("adam", "mse")

## Use instead
    with strategy.scope():
        model = build()
        model.compile("adam", "mse")

## Not flagged
- Models whose variables may be created later (no `Input`, a class of your own) if all of the training is in the scope.
- Optimizers and metrics that Keras accepts.
- Objects created in functions whose callers do not show whether there is a scope.
- `OneDeviceStrategy`, and unknown strategies.

## Fix safety
`unsafe`: the statement moves into the existing scope of its block, or gets a scope of its own if the lines in between
use the object. Code that uses the object without the strategy may change, and so may random numbers. The fix moves
nothing that a function creates, and nothing that is created in the scope of another strategy.

## References
- https://www.tensorflow.org/guide/distributed_training
- https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#scope
- https://www.tensorflow.org/guide/tpu
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from xlalint.analysis.domain.values import ApiObject, Creation, Static
from xlalint.analysis.domain.values import Sequence as Items
from xlalint.analysis.interpreter.events import Event, Program, SetupCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.optimizers import has_state
from xlalint.analysis.library.strategies import is_tpu, making_of
from xlalint.fixes.quoted import brief
from xlalint.fixes.scopes import in_scope
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs, Safety, Severity

from ._strategies import RUNNING, is_the_same, made_near, method_of, model_strategy, name_of, strategy_in

DATA = """
import numpy as np

x, y = np.ones([8, 3], "float32"), np.ones([8, 1], "float32")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
"""
MODEL = "tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])"
FIT = "model.fit(x, y, batch_size=4, verbose=0)"
STEP = """
@tf.function
def train(x, y):
    return strategy.run(step, args=(x, y))

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

train(tf.constant(x), tf.constant(y))
"""


def _made_outside(optimizer: str) -> Bad:
    """An optimizer with state that is made outside of the scope of its model, and built in one."""
    model = f"{DATA}\nwith strategy.scope():\n    model = {MODEL}\n"
    return Bad(
        f"""
{model}optimizer = {optimizer}
with strategy.scope():
    optimizer.build(model.trainable_variables)
{STEP}
""",
        [optimizer],
        Breaks("Mixing different tf.distribute.Strategy objects"),
        effect=Effect.FAILS,
        safety=Safety.UNSAFE,
        fixed=f"""
{model}with strategy.scope():
    optimizer = {optimizer}
    optimizer.build(model.trainable_variables)
{STEP}
""",
    )


class OutsideScope(Rule):
    code = "XLA502"
    name = "outside-scope"
    handles = (Program,)
    bad = (
        Bad(
            f"""
{DATA}
model = {MODEL}
with strategy.scope():
    model.compile("sgd", "mse")
{FIT}
""",
            [MODEL],
            Breaks("AssertionError"),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="with strategy.scope():",
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
with strategy.scope():
    model = {MODEL}
    model.compile("sgd", "mse")
{FIT}
""",
        ),
        Bad(
            f"""
{DATA}
def build():
    return {MODEL}

with strategy.scope():
    model = build()
model.compile("adam", "mse")
{FIT}
""",
            ['model.compile("adam", "mse")'],
            Breaks("Mixing different tf.distribute.Strategy objects"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
def build():
    return {MODEL}

with strategy.scope():
    model = build()
    model.compile("adam", "mse")
{FIT}
""",
        ),
        Bad(
            f"""
{DATA}
optimizer = tf.keras.optimizers.Adam(1e-3)
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer, "mse")
{FIT}
""",
            ["tf.keras.optimizers.Adam(1e-3)"],
            Breaks("Mixing different tf.distribute.Strategy objects"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
with strategy.scope():
    optimizer = tf.keras.optimizers.Adam(1e-3)
    model = {MODEL}
    model.compile(optimizer, "mse")
{FIT}
""",
        ),
        Bad(
            f"""
{DATA}
other = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with other.scope():
    optimizer = tf.keras.optimizers.Adam(1e-3)
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer=optimizer, loss="mse")
{FIT}
""",
            ["tf.keras.optimizers.Adam(1e-3)"],
            Breaks("Mixing different tf.distribute.Strategy objects"),
            effect=Effect.FAILS,
        ),
        Bad(
            f"""
{DATA}
model = {MODEL}
print(model.count_params())
with strategy.scope():
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
{STEP}
""",
            [MODEL],
            Breaks("must only be passed a variable created in this tf.distribute.Strategy.scope()"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
with strategy.scope():
    model = {MODEL}
print(model.count_params())
with strategy.scope():
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
{STEP}
""",
        ),
        *map(_made_outside, ("tf.keras.optimizers.Adam()", "tf.keras.optimizers.SGD(0.1, momentum=0.9)")),
        Bad(
            """
import tensorflow as tf

def connect():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)

def main(data):
    model = tf.keras.applications.ResNet50(weights=None)
    strategy = connect()
    with strategy.scope():
        model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data)
""",
            ["tf.keras.applications.ResNet50(weights=None)"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            safety=Safety.UNSAFE,
            fixed="""
import tensorflow as tf

def connect():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)

def main(data):
    strategy = connect()
    with strategy.scope():
        model = tf.keras.applications.ResNet50(weights=None)
        model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data)
""",
            why="it needs a TPU",
        ),
        Bad(
            f"""
{DATA}
model = {MODEL}
optimizer = tf.keras.optimizers.Adam()
with strategy.scope():
    model.compile(optimizer, "mse")
{FIT}
""",
            [MODEL, "tf.keras.optimizers.Adam()"],
            Runs(),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
            why="it trains on one device",
        ),
    )
    good = (
        Good(
            f"""
{DATA}
def build():
    made = {MODEL}
    made.compile(tf.keras.optimizers.Adam(), "mse", metrics=[tf.keras.metrics.MeanAbsoluteError()])
    return made

with strategy.scope():
    model = build()
{FIT}
""",
            Runs(),
        ),
        Good(
            f"""
{DATA}
optimizer = tf.keras.optimizers.SGD(0.1)
loss = tf.keras.losses.MeanSquaredError()
with strategy.scope():
    model = {MODEL}
model.compile(optimizer, loss, metrics=[tf.keras.metrics.MeanAbsoluteError()])
{FIT}
""",
            Runs(),
            why="plain SGD has no state, a loss has no variables, and Keras 3 takes the metric",
        ),
        Good(
            f"""
{DATA}
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

model = Net()
with strategy.scope():
    model.compile("sgd", "mse")
    {FIT}
""",
            None,
            why="its variables are made by the first step, which stands in the scope",
        ),
        Good(
            f"""
{DATA}
with strategy.scope():
    model = {MODEL}
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
{STEP}
""",
            Runs(),
        ),
        Good(
            f"""
{DATA}
model = {MODEL}
model.compile("adam", "mse")
{FIT}
with strategy.scope():
    model = {MODEL}
    model.compile("adam", "mse")
{FIT}
""",
            Runs(),
            why="the first model is trained without the strategy",
        ),
        Good(
            f"""
import contextlib
{DATA}
@contextlib.contextmanager
def distributed(strategy):
    with strategy.scope():
        yield

with distributed(strategy), contextlib.ExitStack() as stack:
    model = {MODEL}
    model.compile("adam", "mse")
{FIT}
with contextlib.ExitStack() as stack:
    stack.enter_context(strategy.scope())
    model = {MODEL}
    model.compile("adam", "mse")
{FIT}
""",
            Runs(),
            why="a scope that is entered in another way",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                for step in steps:
                    yield from _about_model(step, steps)
                    yield from _about_optimizer(step, steps)
                    yield from _about_metrics(step)


def _about_model(step: SetupCall, steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """A model from outside of the scope in which it is compiled or run."""
    method = method_of(step)
    if step.owner is None or kind_of(step.api.rpartition(".")[0]) != "model":
        return
    made = made_near(step)
    strategy = strategy_in(step.context.scope)
    if made is None or made.scope is not None or strategy is None:
        return
    runs = _runs(made, steps)
    if made.complete:
        late = False
    elif method == "compile":  # its variables come with the first step, which has to stand in the scope as well
        late = bool(runs) and not any(other.context.scope is None for other in runs)
    else:
        late = True
    if not late:
        used = {"compile": "compiled in", "__call__": "called in a step of"}.get(method, "run in")
        where = "" if method == "__call__" else "the scope of "
        draft = _draft(made, strategy, f"this model is {used} {where}`{name_of(strategy)}`", step)
        seen = made.complete or bool(runs)  # else somebody may run it in the scope first
        yield _without_effect(draft if seen else replace(draft, at_most=Severity.WARNING), step, steps)


def _without_effect(draft: Draft, step: SetupCall, steps: Sequence[SetupCall]) -> Draft:
    """The draft, as a warning where the strategy in whose scope a model is compiled has nothing of it: model, optimizer
    and training are all outside, and Keras 3 trains on one device."""
    model, optimizer = made_near(step), making_of(step.arguments.get("optimizer", Static("rmsprop")))
    outside = all(made is not None and made.scope is None for made in (model, optimizer))
    runs = _runs(model, steps) if outside and step.keras == 3 and method_of(step) == "compile" else []
    if not runs or any(run.context.scope is not None for run in runs):
        return draft
    return replace(draft, effect=Effect.NAMED, at_most=Severity.WARNING, rewrite=None)


def _runs(model: Creation | None, steps: Sequence[SetupCall]) -> list[SetupCall]:
    """The calls that train or evaluate a model."""
    return [step for step in steps if method_of(step) in RUNNING and made_near(step) == model]


def _about_optimizer(step: SetupCall, steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """An optimizer from outside of the scope in which its model was made; Keras 2 takes one from no scope at all."""
    match method_of(step):
        case "compile":
            strategy = model_strategy(step) or strategy_in(step.context.scope)
            optimizer = step.arguments.get("optimizer", Static("rmsprop"))
        case "apply" | "apply_gradients" | "minimize" if step.context.scope is not None and step.context.scope.replica:
            strategy = strategy_in(step.context.scope)
            optimizer = step.owner or step.result
        case _:
            return
    if strategy is None or not has_state(optimizer):
        return
    made = making_of(optimizer)
    inside = strategy_in(made.scope) if made is not None else strategy_in(step.context.scope)
    named = isinstance(optimizer, Static) and step.context.scope is None
    other = inside is not None and made is not None and not is_the_same(inside, strategy)
    outside = step.keras == 3 and ((made is not None and made.scope is None) or named)
    if not (other or outside):
        return
    message = (
        f"the optimizer that `compile` creates trains a model of `{name_of(strategy)}`"
        if made is None
        else f"this optimizer trains a model of `{name_of(strategy)}`"
    )
    draft = _draft(made or Creation(step.location), strategy, message, step)
    if not other and not step.keras_is_known:
        draft = replace(draft, keras_3=True, at_most=Severity.INFO if is_tpu(strategy) else draft.at_most)
    yield _without_effect(draft, step, steps)


def _about_metrics(step: SetupCall) -> Iterator[Draft]:
    """Metric objects from outside of the scope, which Keras 2 refuses."""
    strategy = model_strategy(step) if method_of(step) == "compile" and step.keras == 2 else None
    if strategy is None:
        return
    for name in ("metrics", "weighted_metrics"):
        given = step.arguments.get(name)
        for metric in given.items or () if isinstance(given, Items) else ():
            made = making_of(metric)
            if made is not None and made.scope is None:
                yield _draft(made, strategy, f"this metric belongs to a model of `{name_of(strategy)}`", step)


def _draft(made: Creation, strategy: ApiObject, message: str, step: SetupCall) -> Draft:
    scope = making_of(strategy)
    inside = made.scope is not None
    where = "in the scope of another strategy" if inside else "outside its scope"
    notes = [DraftNote(step.location, "it is used here")] if step.location != made.location else []
    notes += [DraftNote(scope.location, "the strategy is created here")] if scope is not None else []
    return Draft(
        f"{message}, but is created {where}",
        Effect.TPU if is_tpu(strategy) else Effect.FAILS,
        f"with strategy.scope(): .. {brief(made.location.node)}",
        location=made.location,
        notes=tuple(notes),
        rewrite=partial(in_scope, made.location) if not inside else None,
    )
