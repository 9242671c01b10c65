"""The policy mixed_float16 is for GPUs: a TPU computes in bfloat16.

## What it does
Reports calls that set the policy of all layers to `mixed_float16` or `float16`, and optimizers that scale the loss
(`LossScaleOptimizer`), in a program with a strategy for a TPU, or where the target is a TPU. As information, policies
that a setting names by default, and layers of products that are made with such a `dtype`.

## What XLA does
- Documented: NVIDIA GPUs are faster in float16 than in float32, TPUs in bfloat16. Numbers of bfloat16 have the range of
  float32, so that the loss need not be scaled.
- Keras 2 raises under a TPU strategy, says its source: `compile` scales the loss for `mixed_float16`, and "Loss scaling
  is not supported with TPUStrategy".
- Measured on a CPU (Keras 3.15, `jit_compile=True`): `compile` scales the loss for `mixed_float16` (a
  `LossScaleOptimizer`), and not for `mixed_bfloat16`. Both compile and train.
- Not measured, for lack of a TPU: how fast it computes in float16.

## Example
    keras.mixed_precision.set_global_policy("mixed_float16")

## Use instead
    keras.mixed_precision.set_global_policy("mixed_bfloat16")

## Not flagged
- Programs that set another policy, too: they choose by the device that they find.
- Layers that compute no products, and tensors that are cast to float16.

## Fix safety
Shown only: numbers of bfloat16 have fewer digits.

## References
- https://www.tensorflow.org/guide/mixed_precision
- https://keras.io/api/mixed_precision/
"""

from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.kinds import options
from xlalint.analysis.domain.values import ApiObject, Creation, OneOf, Setting, Static, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.strategies import FLOAT16, computes_in
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Severity, Told

from ._strategies import dtype_for_all, told_on_tpu

_HELP: Final = 'use the policy "mixed_bfloat16", which needs no scaled loss'
_REFUSES: Final = ", and Keras 2 refuses to scale the loss under a TPU strategy"
WHY: Final = "it is about a TPU"


class Float16OnTpu(Rule):
    code = "XLA514"
    name = "float16-on-tpu"
    handles = (Program,)
    bad = (
        Bad(
            """
tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
""",
            ['tf.keras.mixed_precision.set_global_policy("mixed_float16")'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="mixed_bfloat16",
            why=WHY,
            target="tpu",
        ),
        Bad(
            """
from tensorflow.keras import mixed_precision

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
policy = mixed_precision.Policy("mixed_float16")
mixed_precision.set_global_policy(policy)
""",
            ["mixed_precision.set_global_policy(policy)"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why=WHY,
        ),
        Bad(
            """
from tensorflow.keras.mixed_precision import experimental as mixed_precision

mixed_precision.set_policy(mixed_precision.Policy(name="mixed_float16"))
""",
            ['mixed_precision.set_policy(mixed_precision.Policy(name="mixed_float16"))'],
            None,
            effect=Effect.TPU,
            why=WHY,
            target="tpu",
        ),
        Bad(
            """
from keras import config

def train(model, x, y):
    config.set_dtype_policy("mixed_float16")
    model.fit(x, y)

train(tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.ones([8, 4]), tf.ones([8, 1]))
""",
            ['config.set_dtype_policy("mixed_float16")'],
            None,
            effect=Effect.TPU,
            why=WHY,
            target="tpu",
        ),
        Bad(
            """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--policy", default="mixed_float16")
tf.keras.mixed_precision.set_global_policy(parser.parse_args().policy)
""",
            ["tf.keras.mixed_precision.set_global_policy(parser.parse_args().policy)"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why="a default",
            target="tpu",
        ),
        Bad(
            """
tf.keras.backend.set_floatx("float16")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
""",
            ['tf.keras.backend.set_floatx("float16")'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why=WHY,
            target="tpu",
        ),
        Bad(
            """
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, dtype=tf.keras.mixed_precision.Policy("mixed_float16")),
    tf.keras.layers.Dense(1, dtype="float16"),
])
""",
            ['tf.keras.layers.Dense(8, dtype=tf.keras.mixed_precision.Policy("mixed_float16"))'],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why=WHY,
            target="tpu",
        ),
        Bad(
            """
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.Adam())
model.compile(optimizer, "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            ["tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.Adam())"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why=WHY,
            target="tpu",
        ),
        Bad(
            """
import sys

optimizer = tf.keras.optimizers.Adam()
if len(sys.argv) > 1:
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer, "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            ["tf.keras.mixed_precision.LossScaleOptimizer(optimizer)"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why=WHY,
            target="tpu",
        ),
    )
    good = (
        Good(
            """
tf.keras.mixed_precision.set_global_policy("mixed_float16")
""",
            None,
            why="nobody says that a TPU is to run it",
        ),
        Good(
            """
import sys

if "--tpu" in sys.argv:
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
else:
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
""",
            None,
            why="it chooses",
            target="tpu",
        ),
        Good(
            """
import sys

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16" if "--tpu" in sys.argv else "mixed_float16")
""",
            None,
            why="it chooses",
            target="tpu",
        ),
        Good(
            """
tf.keras.mixed_precision.set_global_policy(tf.keras.mixed_precision.Policy("mixed_bfloat16"))
""",
            None,
            target="tpu",
        ),
        Good(
            """
model = tf.keras.Sequential([tf.keras.layers.Dense(1), tf.keras.layers.Activation("softmax", dtype="float32")])
model.compile(tf.keras.optimizers.Adam())
""",
            None,
            why="no float16",
            target="tpu",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                chosen = [(step, *_chosen(named)) for step in steps if (named := dtype_for_all(step)) is not None]
                if all(name in FLOAT16 for _, name, _ in chosen):
                    told = told_on_tpu(steps)
                    yield from (_of_all(*each, told) for each in chosen)
                    layers = [step for step in steps if computes_in(FLOAT16, step.arguments, step.result)]
                    yield from _of_layers(layers, told)
                    scaling = dict(made for step in steps for made in _scaling(step))
                    yield from (_scaled(place, told, by_choice=several) for place, several in scaling.items())


def _chosen(named: Value) -> tuple[str, bool]:
    """The dtype or policy that a call is told, empty where nobody knows, and whether it is told so by default."""
    match named:
        case Static(str() as name):
            return name, False
        case Static(setting=Setting(default=str() as name)):
            return name, True
        case _:
            return "", False


def _of_all(step: SetupCall, name: str, by_default: bool, told: Told) -> Draft:
    what = " by default" if by_default else ""
    refuses = _REFUSES if name.startswith("mixed") else ""
    return Draft(
        f"`{brief(step.node)}` is for GPUs{what}: a TPU computes in bfloat16{refuses}",
        Effect.TPU,
        _HELP,
        location=step.location,
        at_most=Severity.INFO if by_default else Severity.WARNING,
        told=told,
    )


def _of_layers(steps: Sequence[SetupCall], told: Told) -> Iterator[Draft]:
    """The layers that are told to compute in float16: one finding, with notes at the others."""
    for step in steps[:1]:
        others = dict.fromkeys(other.location for other in steps if other.location != step.location)
        yield Draft(
            f"`{brief(step.node)}` is for GPUs: a TPU computes in bfloat16",
            Effect.TPU,
            _HELP,
            location=step.location,
            notes=tuple(DraftNote(other, "this layer, too") for other in others),
            at_most=Severity.INFO,
            told=told,
        )


def _scaling(step: SetupCall) -> Iterator[tuple[Location, bool]]:
    """Where optimizers are made that a call trains with, and that scale the loss; whether it may train with another."""
    for optimizer in (step.owner, step.arguments.get("optimizer"), step.arguments.get("*0")):
        for option in () if optimizer is None else options(optimizer):
            match option:
                case ApiObject(api=api, made=Creation(location=place)) if api.endswith(".LossScaleOptimizer"):
                    yield place, isinstance(optimizer, OneOf)


def _scaled(place: Location, told: Told, *, by_choice: bool) -> Draft:
    return Draft(
        f"`{brief(place.node)}` scales the loss, as float16 needs it: a TPU computes in bfloat16{_REFUSES}",
        Effect.TPU,
        'use the optimizer itself, with the policy "mixed_bfloat16"',
        location=place,
        at_most=Severity.INFO if by_choice else Severity.WARNING,
        told=told,
    )
