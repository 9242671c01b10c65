"""A TPU node writes or reads a checkpoint, and has no such file: it is another machine.

## What it does
Reports, in a program whose strategy is (or may be) for a TPU node, checkpoints and saved models at a path of the local
machine: `tf.train.Checkpoint`, `CheckpointManager`, `tf.saved_model.save`, and for a model of the strategy `export`,
`save`, `save_model`, `save_weights`, `load_weights` and `ModelCheckpoint`, if the name is not that of an HDF5 or
`.keras` file. A resolver with a name or an address is for a TPU node. If the program gets the address at run time, it
may be.

## What XLA does
XLA is not reached. TensorFlow saves and restores a variable on the machine that holds it, which is that of the TPU.

- Measured on a CPU, with variables in a second process as the remote worker (TensorFlow 2.21, Keras 3.15, tf_keras
  2.21): each of these calls raises `NotFoundError` or `InvalidArgumentError`, for the folder is not there.
- With `experimental_io_device="/job:localhost"` in the options, all of them work. HDF5 and `.keras` files work, too:
  Keras itself writes and reads them, where Python runs.
- Not measured, for lack of a TPU: users report "File system scheme '[local]' not implemented".

## Example
    tf.train.Checkpoint(model=model).save("checkpoints/model")

## Use instead
    options = tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
    tf.train.Checkpoint(model=model).save("checkpoints/model", options=options)

Or use a path in a bucket (`gs://..`), a file of Keras (`model.save_weights("model.weights.h5")`), or a TPU VM
(`tpu="local"`), where the program and the TPU share one machine.

## Not flagged
A TPU VM, paths that the program gets from elsewhere, names of models' files that nobody knows the end of, paths of a
bucket, and calls with `options`. A resolver without arguments, or with `tpu=""`, takes the TPU that the environment
names, which may be either: the first such path is information. A path that is local only by default (`--output_dir`,
`"checkpoints"`) is a warning on a TPU node, and information where the address is not known.

## Fix safety
Shown only: whoever reads the checkpoint later needs the same options.

## References
- https://www.tensorflow.org/api_docs/python/tf/train/CheckpointOptions
- https://www.tensorflow.org/api_docs/python/tf/saved_model/SaveOptions
- https://github.com/tensorflow/tensorflow/issues/36447
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from xlalint.analysis.domain.values import Value
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.local_paths import usual_path
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Severity
from xlalint.syntax import nodes as cst

from ._counted import is_formatted_number
from ._strategies import (
    UNNAMED,
    by_default,
    is_local,
    made_note,
    made_under,
    method_of,
    node_strategy,
    path_setting,
    told_node,
    unnamed_strategy,
)

NODE: Final = """
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build([None, 4])
"""
NEEDED: Final = "it needs a TPU node"
CHECKPOINT: Final = 'tf.train.CheckpointOptions(experimental_io_device="/job:localhost")'
WHOLE: Final = 'tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")'
MANAGER: Final = "tf.train.CheckpointManager"  # whose `save` is passed the options
# The argument that says where, and what the options are that have this machine write it: "" where there are none.
PATHS: Final[Mapping[str, tuple[str, str]]] = {
    "tf.saved_model.save": ("export_dir", WHOLE),
    "tf.train.Checkpoint.read": ("save_path", CHECKPOINT),
    "tf.train.Checkpoint.restore": ("save_path", CHECKPOINT),
    "tf.train.Checkpoint.save": ("file_prefix", CHECKPOINT),
    "tf.train.Checkpoint.write": ("file_prefix", CHECKPOINT),
    MANAGER: ("directory", CHECKPOINT),
    "keras.callbacks.ModelCheckpoint": ("filepath", CHECKPOINT),
}
OF_MODELS: Final[Mapping[str, tuple[str, str]]] = {
    "export": ("filepath", ""),
    "load_weights": ("filepath", CHECKPOINT),
    "save": ("filepath", WHOLE),
    "save_model": ("filepath", WHOLE),
    "save_weights": ("filepath", CHECKPOINT),
}
SAVES: Final = "keras.models.save_model"
OF_TENSORFLOW: Final = PATHS.keys() - {"keras.callbacks.ModelCheckpoint"}  # whose files TensorFlow writes in any case
BY_KERAS: Final = (".h5", ".hdf5", ".keras")  # the names of files that Keras writes and reads where Python runs
READS: Final = frozenset(("load_weights", "read", "restore"))


class CheckpointOnTpuNode(Rule):
    code = "XLA511"
    name = "checkpoint-on-tpu-node"
    handles = (Program,)
    bad = (
        Bad(
            f"""{NODE}
import os

folder = os.path.abspath("kept")
model.save_weights(os.path.join(folder, "best"))
tf.train.Checkpoint(model=model).save(folder)
""",
            ['model.save_weights(os.path.join(folder, "best"))', "tf.train.Checkpoint(model=model).save(folder)"],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
checkpoint = tf.train.Checkpoint(model=model)
checkpoint.restore("checkpoints/first-1")
checkpoint.save("checkpoints/model")
""",
            ['checkpoint.restore("checkpoints/first-1")', 'checkpoint.save("checkpoints/model")'],
            None,
            effect=Effect.TPU,
            help="experimental_io_device",
            why=NEEDED,
        ),
        Bad(
            f"""{NODE}
import os

FOLDER = "/tmp/run"
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), FOLDER, max_to_keep=3)
tf.saved_model.save(model, os.path.join(FOLDER, "saved"))
manager.save()
""",
            [
                "tf.train.CheckpointManager(tf.train.Checkpoint(model=model), FOLDER, max_to_keep=3)",
                'tf.saved_model.save(model, os.path.join(FOLDER, "saved"))',
            ],
            None,
            effect=Effect.TPU,
            help="experimental_io_device",
            why=NEEDED,
        ),
        Bad(
            f"""{NODE}
model.load_weights("weights/first")
model.save_weights("weights/last")
model.save("saved/last")
tf.keras.models.save_model(model, "saved/model")
""",
            [
                'model.load_weights("weights/first")',
                'model.save_weights("weights/last")',
                'model.save("saved/last")',
                'tf.keras.models.save_model(model, "saved/model")',
            ],
            None,
            effect=Effect.TPU,
            help="experimental_io_device",
            why=NEEDED,
        ),
        Bad(
            f"""{NODE}
def checkpoint(fold):
    return tf.keras.callbacks.ModelCheckpoint(f"checkpoints/fold_{{fold}}", save_weights_only=True)

for fold in range(5):
    checkpoint(fold)
model.save_weights(f"checkpoints/last_{{len(model.layers) // 2:02d}}")
""",
            [
                'tf.keras.callbacks.ModelCheckpoint(f"checkpoints/fold_{fold}", save_weights_only=True)',
                'model.save_weights(f"checkpoints/last_{len(model.layers) // 2:02d}")',
            ],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            f"""{NODE}
model.export("served")
""",
            ['model.export("served")'],
            None,
            effect=Effect.TPU,
            help="gs://",
            why=NEEDED,
        ),
        Bad(
            f"""{NODE}
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--kept", default="checkpoints")
model.save_weights(parser.parse_args().kept + "/last")
""",
            ['model.save_weights(parser.parse_args().kept + "/last")'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why=NEEDED,
        ),
        Bad(
            """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--kept", default="checkpoints")
parser.add_argument("--tpu")
args = parser.parse_args()
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(args.tpu)
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
tf.train.Checkpoint(model=model).save(f"{args.kept}/last")
""",
            ['tf.train.Checkpoint(model=model).save(f"{args.kept}/last")'],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why="it needs a TPU node, if the address is one's, and nobody to say --kept",
        ),
        Bad(
            """
import sys

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(sys.argv[1])
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
kept = tf.keras.callbacks.ModelCheckpoint("checkpoints/{epoch}", save_weights_only=True)
model.fit(tf.ones([64, 4]), tf.ones([64, 2]), callbacks=[kept])
""",
            ['tf.keras.callbacks.ModelCheckpoint("checkpoints/{epoch}", save_weights_only=True)'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="experimental_io_device",
            why="it needs a TPU node, if the address is one's",
        ),
    )
    good = (
        Good(
            f"""{NODE}
options = tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
checkpoint = tf.train.Checkpoint(model=model)
checkpoint.save("checkpoints/model", options=options)
manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=3)
manager.save(options=options)
""",
            None,
            why="this machine writes it",
        ),
        Good(
            f"""{NODE}
model.save_weights("model.weights.h5")
model.load_weights("model.weights.h5")
model.save("model.keras")
kept = tf.keras.callbacks.ModelCheckpoint("best.h5", save_best_only=True)
""",
            None,
            why="Keras writes these files, where Python runs",
        ),
        Good(
            f"""{NODE}
import glob
import os

folder = os.path.abspath("kept")
model.save_weights(os.path.join(folder, "best.h5"))
model.save_weights(f"kept/{{folder}}/best.weights.h5")
for name in glob.glob("kept/*.h5"):
    model.load_weights(name)
for name in ("first.h5", "second.h5"):
    model.load_weights(f"kept/{{name}}")
kept = tf.keras.callbacks.ModelCheckpoint(os.path.join("kept", f"{{folder}}.keras"))
""",
            None,
            why="these are such files, or may be",
        ),
        Good(
            f"""{NODE}
tf.train.Checkpoint(model=model).save("gs://bucket/checkpoints/model")
model.export("gs://bucket/served")
""",
            None,
            why="the TPU node reaches a bucket",
        ),
        Good(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
tf.train.Checkpoint(model=model).save("checkpoints/model")
""",
            None,
            why="a TPU VM has the program's files",
        ),
        Good(
            f"""{NODE}
import sys

tf.train.Checkpoint(model=model).save(sys.argv[1])
other = tf.keras.Sequential([tf.keras.layers.Dense(2)])
other.save("plain/model")
""",
            None,
            why="a path that is not written here, and a model of this machine",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps) if (node := node_strategy(steps)) is not None:
                yield from _on_node(steps, node)
            case Program(steps=steps) if (node := unnamed_strategy(steps)) is not None:
                yield from islice(_on_node(steps, node, Severity.INFO), 1)


def _on_node(steps: Sequence[SetupCall], node: Value, at_most: Severity = Severity.ERROR) -> Iterator[Draft]:
    with_options = any(_has_options(step) for step in steps if step.api == f"{MANAGER}.save")
    for step in steps:
        kept = _kept(step)
        if kept is None or _has_options(step) or (step.api == MANAGER and with_options):
            continue
        options, setting = kept
        verb = "reads" if method_of(step) in READS else "writes"
        usual, most = by_default(setting, node, at_most)
        yield Draft(
            f"`{brief(step.node)}` {verb} local files{usual}, but {told_node(node)} does that on its own machine",
            Effect.TPU,
            f"use a path in a bucket (gs://..), or pass options={options}" if options else "use gs://.., a bucket",
            location=step.location,
            notes=made_note(node, "the strategy of a TPU node" if at_most is Severity.ERROR else UNNAMED),
            at_most=most,
        )


def _has_options(step: SetupCall) -> bool:
    return "options" in step.arguments or (method_of(step) == "save" and "*1" in step.arguments)


def _kept(step: SetupCall) -> tuple[str, str | None] | None:
    """The options that have this machine write what a call would have the TPU node write, and the setting whose default
    alone says that it would; None where it does not."""
    method = method_of(step)
    found = PATHS.get(step.api)
    if found is None and (step.api == SAVES or kind_of(step.api.rpartition(".")[0]) == "model"):
        saved = made_under(step.arguments.get("model") if step.api == SAVES else step.owner)
        found = OF_MODELS.get(method) if saved is not None else None
    if found is None:
        return None
    parameter, options = found
    name = parameter if parameter in step.arguments else "*0"
    path, node = step.arguments.get(name), step.argument_nodes.get(name)
    if path is None or node is None or _may_be_of_keras(step, path, node):
        return None
    return (options, path_setting(path)) if is_local(path, node) else None


def _may_be_of_keras(step: SetupCall, path: Value, node: cst.BaseExpression) -> bool:
    """Whether a file has a name that Keras writes itself, or one of which nobody knows how it ends."""
    end = usual_path(path) or _end_of(node, step)
    if end is not None:
        return end.endswith(BY_KERAS)
    return step.api not in OF_TENSORFLOW and method_of(step) != "export"


def _end_of(node: cst.BaseExpression, step: SetupCall) -> str | None:
    """The text at the end of a path that is put together, `os.path.join(folder, "model.h5")`, or of a number there."""
    match node:
        case cst.BinaryOperation(right=last) | cst.Call(args=[*_, cst.Arg(value=last)]):
            return _end_of(last, step)
        case cst.SimpleString() if isinstance(text := node.evaluated_value, str):
            return text
        case cst.FormattedString(parts=[*_, cst.FormattedStringText(value=text)]):
            return text
        case cst.FormattedString(parts=[*_, cst.FormattedStringExpression() as part]):
            return "0" if is_formatted_number(part, step.location, step.trail) else None
        case _:
            return None
