"""Code for a TPU or a strategy calls what the project's TensorFlow does not have.

## What it does
Reports, in what sets up a TPU, a strategy or mixed precision, calls of functions, classes and methods that the
TensorFlow of the file's nearest requirements lacks; without such requirements, the newest TensorFlow:

- names that are gone: `tf.keras.mixed_precision.experimental.set_policy`, `strategy.experimental_run_v2`,
  `tf.compat.v1.estimator.tpu.TPUEstimator`, `tf.contrib.tpu`;
- names that came later: `tf.distribute.TPUStrategy` with TensorFlow 2.2;
- names that there never were: `tf.config.experimental_initialize_system`.

## What XLA does
XLA is not reached: Python raises an AttributeError, or a ModuleNotFoundError. As such code stands behind `if tpu:`,
only a machine with a TPU comes to it. Which names exist was read from the wheels of TensorFlow 2.2 to 2.21, and of the
Keras that each of them brings:

| name | is in TensorFlow |
| --- | --- |
| `tf.keras.mixed_precision.experimental` | up to 2.8 |
| `tf.keras.mixed_precision.set_global_policy` | 2.4 and newer |
| `Strategy.experimental_run_v2` | up to 2.3 |
| `Strategy.run` | all of these |
| `Strategy.gather`, `Strategy.distribute_datasets_from_function` | 2.4 and newer |
| `tf.distribute.TPUStrategy` | 2.3 and newer |
| `tf.distribute.experimental.TPUStrategy` | all of these |
| `tf.estimator` | up to 2.15 |
| `tf.tpu.experimental.AdamParameters` | up to 2.15 |
| `tf.contrib`, `tf.config.experimental_initialize_system`, `tf.keras.mixed_precision.set_policy` | none of these |

## Example
    strategy = tf.distribute.TPUStrategy(resolver)
    tf.keras.mixed_precision.experimental.set_policy("mixed_bfloat16")
    strategy.experimental_run_v2(step, args=(batch,))

## Use instead
    strategy = tf.distribute.TPUStrategy(resolver)
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    strategy.run(step, args=(batch,))

## Not flagged
- What the project's version has, though newer ones have it no more.
- What runs only if a question about the version or the name says so (`if tf.__version__ < ..`, `hasattr`), and a `try`
  that catches the AttributeError by name.
- Names that have nothing to do with TPUs, strategies or how these compute.

## Fix safety
There is no fix.

## References
- https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy
- https://www.tensorflow.org/guide/mixed_precision
- https://www.tensorflow.org/guide/migrate/tpu_estimator
"""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.analysis.library.strategies import RUN_V2, is_strategy
from xlalint.facts import wheels
from xlalint.facts.wheels import Lack
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

from ._guarded import asks_version, catches_all, is_caught

RAISED: Final = ("AttributeError", "ImportError", "ModuleNotFoundError")
# By how names begin: what there is instead.
INSTEAD: Final = {
    "keras.mixed_precision.experimental.": "call `tf.keras.mixed_precision.set_global_policy(name)`, new with "
    "TensorFlow 2.4",
    "keras.mixed_precision.set_policy": "call `tf.keras.mixed_precision.set_global_policy(name)`",
    "tf.config.experimental_initialize_system": "call `tf.tpu.experimental.initialize_tpu_system(resolver)`",
    "tf.contrib.cluster_resolver.": "use `tf.distribute.cluster_resolver`",
    "tf.contrib.": "use a `tf.distribute.TPUStrategy`, with Keras or with a training loop of your own",
    "tf.estimator.": "use a `tf.distribute.TPUStrategy`, with Keras or with a training loop of your own",
    f"{wheels.STRATEGY}.experimental_run_v2": "call `strategy.run`, which takes the same arguments",
}
# Modules of more than TPUs and strategies: what is missing there matters to what is for a TPU.
OF_ALL: Final = ("keras.mixed_precision.", "tf.config.")
TPU: Final = """
def connected(name):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(name)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)
"""
MIRRORED: Final = """
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

@tf.function
def step():
    return tf.constant(1.0)
"""


class MissingName(Rule):
    code = "XLA534"
    name = "missing-name"
    handles = (SetupCall,)
    bad = (
        Bad(
            f"""{TPU}
tf.keras.mixed_precision.experimental.set_policy("mixed_bfloat16")
""",
            ["tf.keras.mixed_precision.experimental.set_policy"],
            Breaks("has no attribute 'experimental'"),
            effect=Effect.FAILS,
            severity=Severity.WARNING,  # which TensorFlow runs it is not known
            help="set_global_policy",
            target="tpu",
        ),
        Bad(
            f"""{TPU}
tf.keras.mixed_precision.set_policy("mixed_bfloat16")
""",
            ["tf.keras.mixed_precision.set_policy"],
            Breaks("has no attribute 'set_policy'"),
            severity=Severity.ERROR,
            help="set_global_policy",
            target="tpu",
        ),
        Bad(
            f"""{MIRRORED}
strategy.experimental_run_v2(step)
""",
            ["strategy.experimental_run_v2"],
            Breaks("no attribute 'experimental_run_v2'"),
            severity=Severity.WARNING,
            help="strategy.run",
        ),
        Bad(
            """
class Trainer:
    def __init__(self, strategy, model):
        self.strategy = strategy
        self.model = model

    def step(self, batch):
        return self.model(batch)

    @tf.function
    def train(self, batch):
        return self.strategy.experimental_run_v2(self.step, args=(batch,))
""",
            ["self.strategy.experimental_run_v2"],
            None,
            severity=Severity.WARNING,
            why="its caller has the strategy",
        ),
        Bad(
            f"""{TPU}
tf.config.experimental_initialize_system()
""",
            ["tf.config.experimental_initialize_system"],
            Breaks("has no attribute 'experimental_initialize_system'"),
            severity=Severity.ERROR,
            help="initialize_tpu_system",
            target="tpu",
        ),
        Bad(
            """
tf.tpu.experimental.initialise_tpu_system(None)
""",
            ["tf.tpu.experimental.initialise_tpu_system"],
            Breaks("has no attribute 'initialise_tpu_system'"),
            severity=Severity.ERROR,
            help="did you mean `tf.tpu.experimental.initialize_tpu_system`?",
        ),
        Bad(
            """
config = tf.compat.v1.estimator.tpu.RunConfig(model_dir="gs://bucket/model")
""",
            ["tf.compat.v1.estimator.tpu.RunConfig"],
            Breaks("has no attribute 'estimator'"),
            severity=Severity.WARNING,
            help="TPUStrategy",
        ),
        Bad(
            """
from tensorflow.contrib import tpu

config = tpu.RunConfig()
""",
            ["tpu.RunConfig"],
            Breaks("No module named 'tensorflow.contrib'"),
            severity=Severity.WARNING,
        ),
        Bad(
            """
try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.tpu.experimental.initialise_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
except Exception:
    strategy = tf.distribute.get_strategy()
""",
            ["tf.tpu.experimental.initialise_tpu_system"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            f"""{MIRRORED}
strategy.run(step)
tf.keras.mixed_precision.set_global_policy("float32")
tf.config.list_physical_devices("TPU")
tf.config.experimental.list_physical_devices("TPU")
print(tf.distribute.get_replica_context(), strategy.num_replicas_in_sync)
strategy.experimental_local_results(tf.constant(1.0))
strategy.experimental_distribute_datasets_from_function(lambda context: tf.data.Dataset.range(4).batch(2))
""",
            Runs(),
            target="tpu",
        ),
        Good(
            """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.strategy = tf.distribute.TPUStrategy()

    @tf.function
    def evaluate(self, iterator):
        outputs = self.strategy.run(lambda inputs: self.model(inputs), args=(next(iterator),))
        return tf.nest.map_structure(self.strategy.experimental_local_results, outputs)
""",
            None,
            target="tpu",
            why="it needs a TPU",
        ),
        Good(
            f"""{MIRRORED}
if hasattr(strategy, "experimental_run_v2"):
    strategy.experimental_run_v2(step)
elif tf.__version__ < "2.2":
    strategy.experimental_run_v2(step)
try:
    tf.keras.mixed_precision.experimental.set_policy("float32")
except AttributeError:
    tf.keras.mixed_precision.set_global_policy("float32")
""",
            Runs(),
            target="tpu",
        ),
        Good(
            """
names = ["strategy"]
if names and hasattr(tf.config, "experimental_initialize_system"):
    tf.config.experimental_initialize_system()
print(getattr(tf.config, "experimental_initialize_system", None))
""",
            Runs(),
            target="tpu",
        ),
        Good(
            """
class Runner:
    def __init__(self, strategy):
        self.strategy = strategy

    def experimental_run_v2(self, step):
        return self.strategy.run(step)

Runner(tf.distribute.get_strategy()).experimental_run_v2(lambda: 1)
""",
            Runs(),
            why="a method of the program's own",
        ),
        Good(
            """
try:
    tf.config.set_memory_growth(None, True)
except AttributeError:
    pass
if tf.config.list_physical_devices("GPU"):
    tf.config.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)
""",
            Runs(),
            why="it is about GPUs, and nothing says that the program is for a TPU",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        if not isinstance(event, SetupCall) or asks_version(event):
            return
        name = _name_of(event)
        if name is None:
            return
        of_keras_3 = event.keras_is_known and event.keras == 3
        # Keras 3 runs on older TensorFlows, too.
        version = None if of_keras_3 and name.startswith("keras.") else self.tensorflow
        missing = wheels.lack(name, version)
        if missing is None:
            return
        caught = is_caught(event, RAISED)
        if caught and not catches_all(event):
            return
        known = self.tensorflow is not None or of_keras_3
        sure = known or (missing == Lack(None, None) and not name.startswith("tf.contrib."))
        hidden = "; the `except` hides that, and the program goes on without it" if caught else ""
        yield Draft(
            f"`{brief(event.node.func)}`: {self._said(name, missing)}{hidden}",
            Effect.TPU if caught else Effect.FAILS,
            self._instead(name),
            Location(event.location.unit, event.node.func),
            at_most=Severity.ERROR if sure and not caught else Severity.WARNING,
            told=Told.FOR_TPU if name.startswith(OF_ALL) else Told.ALWAYS,
        )

    def _said(self, name: str, missing: Lack) -> str:
        """Which versions have no such name."""
        newest, *_, oldest = wheels.versions()
        if missing.first is not None and missing.last is None:
            return f"TensorFlow {self.tensorflow} does not have it yet, {missing.first} does"
        if missing.last is not None:
            asked = f", and the project asks for {self.tensorflow}" if self.tensorflow else ""
            return f"TensorFlow has it up to {missing.last}, and no longer{asked}"
        if name.startswith("tf.contrib."):
            return "TensorFlow 2 does not have it"
        return f"no TensorFlow from {oldest} to {newest} has it"

    def _instead(self, name: str) -> str | None:
        told = next((text for begins, text in INSTEAD.items() if name.startswith(begins)), None)
        if told is not None:
            return told
        like = get_close_matches(name, wheels.names(self.tensorflow), 1, 0.8)
        return f"did you mean `{_written(like[0])}`?" if like else None


def _name_of(step: SetupCall) -> str | None:
    """The name of what is called, as the table has it; None where nobody knows whose method it is."""
    if step.owner is None:
        whole = step.api.startswith("tf.estimator.") and not step.api.startswith("tf.estimator.tpu.")
        return None if whole or not step.api else step.api
    if not (is_strategy(step.owner) or step.api == f".{RUN_V2}"):
        return None
    # The old name of `run` is read as the new one. What calls a method may be another function, which it is passed.
    called = step.node.func
    is_old = isinstance(called, cst.Attribute) and called.attr.value == RUN_V2
    return f"{wheels.STRATEGY}.{RUN_V2 if is_old else step.api.rpartition('.')[2]}"


def _written(name: str) -> str:
    return f"tf.{name}" if name.startswith("keras.") else name
