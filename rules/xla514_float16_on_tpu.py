"""The policy mixed_float16 is for GPUs: a TPU computes in bfloat16.

## What it does
Reports calls that set the policy of all layers to `mixed_float16`, in a program with a strategy for a TPU, or where the
target is a TPU.

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
Programs that set another policy, too: they choose by the device that they find. Policies of single layers.

## Fix safety
Shown only: numbers of bfloat16 have fewer digits.

## References
- https://www.tensorflow.org/guide/mixed_precision
- https://keras.io/api/mixed_precision/
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import Static
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program
from xlalint.analysis.library.strategies import POLICIES
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Severity

from ._strategies import policy_of, told_on_tpu

FLOAT16: Final = Static("mixed_float16")
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
model = tf.keras.Sequential([tf.keras.layers.Dense(1, dtype=tf.keras.mixed_precision.Policy("mixed_float16"))])
""",
            None,
            why="one layer",
            target="tpu",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                chosen = [(step, policy_of(step)) for step in steps if step.api in POLICIES]
                if all(policy == FLOAT16 for _, policy in chosen):
                    for step, _ in chosen:
                        yield Draft(
                            f"`{brief(step.node)}` is for GPUs: a TPU computes in bfloat16, and Keras 2 refuses to"
                            " scale the loss under a TPU strategy",
                            Effect.TPU,
                            'use the policy "mixed_bfloat16", which needs no scaled loss',
                            location=step.location,
                            told=told_on_tpu(steps),
                        )
