"""What Keras 3 no longer has, by which a program shows that it runs on Keras 2 (all measured with Keras 3.15)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from ..domain.values import Static, Value

# Modules that are gone, and libraries that need them.
_MODULES: Final = re.compile(
    r"(?:tf_keras|tensorflow_addons|tensorflow\.contrib|tensorflow\.python\.keras"
    r"|(?:tensorflow\.)?keras\.(?:engine|estimator|experimental|legacy_tf_layers|mixed_precision\.experimental"
    r"|optimizer_v[12]|optimizers\.experimental|premade|wrappers\.scikit_learn|backend\.tensorflow_backend"
    r"|layers\.(?:advanced_activations|convolutional|core|embeddings|experimental|local|merge|noise|normalization"
    r"|pooling|recurrent|wrappers)"
    r"|utils\.(?:conv_utils|data_utils|generic_utils|layer_utils|np_utils|vis_utils)))(?:\.|$)"
)
# Functions and classes: calls fail for what they are.
_ENDED: Final = (
    *("keras.experimental.", "keras.mixed_precision.experimental.", "keras.optimizers.experimental."),
    *("keras.backend.set_learning_phase", "keras.backend.get_session", "keras.backend.set_session"),
    *("keras.layers.CuDNN", "keras.layers.DenseFeatures", "keras.layers.LocallyConnected", "keras.premade."),
    *("keras.mixed_precision.set_policy", "keras.utils.multi_gpu_model", "tf.contrib.", "tf.estimator."),
)
_LOOPS: Final = frozenset(("fit", "evaluate", "predict"))
_OF_LOOPS: Final = frozenset(("max_queue_size", "use_multiprocessing", "workers"))
_ARGUMENTS: Final[Mapping[str, frozenset[str]]] = {
    "keras.Model": frozenset(("input", "output")),
    "keras.callbacks.TensorBoard": frozenset(("batch_size", "write_grads")),
    "keras.layers.BatchNormalization": frozenset(("fused", "virtual_batch_size")),
    "keras.layers.GRU": frozenset(("time_major",)),
    "keras.layers.LSTM": frozenset(("time_major",)),
}
_MODELS: Final = frozenset(("keras.Model", "keras.Sequential"))
_WHOLE: Final = (".keras", ".h5", ".hdf5")  # the names of files that hold a model
_WEIGHTS: Final = (".weights.h5",)
# What writes and reads models, with the endings of the files.
_FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "keras.models.load_model": _WHOLE,
    "keras.models.save_model": _WHOLE,
    **dict.fromkeys((f"{model}.save" for model in _MODELS), _WHOLE),
    **dict.fromkeys((f"{model}.save_weights" for model in _MODELS), _WEIGHTS),
}
_CHECKPOINT: Final = "keras.callbacks.ModelCheckpoint"


@cache
def is_of_keras_2(module: str) -> bool:
    """Whether an import of this module works with Keras 2 only."""
    return _MODULES.match(module) is not None


def ended_with_keras_2(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call of the library fails in Keras 3 for what it is, for an argument, or for the name of a file."""
    ended = _ended(name)
    if not isinstance(ended, bool):
        return not ended.isdisjoint(arguments)
    return ended or _ends_otherwise(arguments.get("filepath", arguments.get("*0")), _endings(name, arguments))


@cache
def may_end_with_keras_2(name: str) -> bool:
    """Whether there are arguments with which a call of this name fails so."""
    return _ended(name) is not False or name == _CHECKPOINT or name in _FILES


def _endings(name: str, arguments: Mapping[str, Value]) -> tuple[str, ...]:
    """The endings that Keras 3 takes for the file that a call names; none where it names no file."""
    if name == _CHECKPOINT:
        return _WEIGHTS if arguments.get("save_weights_only") == Static(True) else (".keras", ".h5")
    return _FILES.get(name, ())


@cache
def _ended(name: str) -> bool | frozenset[str]:
    """Whether each call of this name fails; the arguments with which it does, where only some do."""
    owner, _, method = name.rpartition(".")
    if method == "reset_states":
        return owner.startswith("keras.metrics.")
    if owner.startswith("keras.optimizers"):
        return frozenset(("lr",))
    if method in _LOOPS and owner in _MODELS:
        return _OF_LOOPS
    return _ARGUMENTS[name] if name in _ARGUMENTS else name.startswith(_ENDED)


def _ends_otherwise(path: Value | None, endings: tuple[str, ...]) -> bool:
    """Whether a file is named, and not as any of these."""
    match path:
        case Static(str(name)) if endings:
            return not name.endswith(endings)
        case _:
            return False
