"""Names of the API: from any spelling to the canonical one, and the parameters behind it.

Canonical prefixes: `tf.`, `keras.` (also for `tf.keras`), `tnp.` (`tf.experimental.numpy`), `np.`, `tfp.`. What
version 1 calls otherwise has the name of version 2; what only version 1 has keeps its old name (`tf.placeholder`), and
what does another thing under the same name its whole path (`tf.compat.v1.summary.scalar`).
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Final

_MEASURED: Final = Path(__file__).with_name("names.json")

# Names that today's packages no longer have, or cannot show because they load lazily: parameters by name.
OLD_SIGNATURES: Final = {
    "keras.backend.erf": "x",
    "keras.backend.function": "inputs outputs updates name",
    "keras.backend.identity": "x name",
    "keras.backend.in_test_phase": "x alt training",
    "keras.backend.in_train_phase": "x alt training",
    "keras.backend.is_tensor": "x",
    "keras.backend.learning_phase": "",
    "keras.backend.logsumexp": "x axis keepdims",
    "keras.backend.placeholder": "shape ndim dtype sparse name ragged",
    "keras.backend.print_tensor": "x message summarize",
    "keras.backend.random_binomial": "shape p dtype seed",
    "keras.backend.reset_uids": "",
    "keras.backend.set_learning_phase": "value",
    "keras.backend.slice": "x start size",
    "keras.layers.CuDNNGRU": "units",
    "keras.layers.CuDNNLSTM": "units",
    "keras.layers.LocallyConnected1D": "filters kernel_size strides padding",
    "keras.layers.LocallyConnected2D": "filters kernel_size strides padding",
    "keras.layers.ThresholdedReLU": "theta",
    "tf.layers.average_pooling2d": "inputs pool_size strides padding data_format name",
    "tf.layers.batch_normalization": "inputs axis momentum epsilon center scale",
    "tf.layers.conv1d": "inputs filters kernel_size strides padding",
    "tf.layers.conv2d": "inputs filters kernel_size strides padding",
    "tf.layers.dense": "inputs units activation use_bias",
    "tf.layers.dropout": "inputs rate noise_shape seed training name",
    "tf.layers.flatten": "inputs name data_format",
    "tf.layers.max_pooling2d": "inputs pool_size strides padding data_format name",
}

# Where a package or one of its layers hides behind another name; the first match wins, then the rules below go on.
_TF: Final = r"(?:tensorflow|tf)(?:_core)?(?:\.compat\.v[12]|\._api\.v[12])*"
_KERAS: Final = r"(?:tf_keras|keras_core|keras\.src|keras\._tf_keras\.keras|keras\.api(?:\._v[12]\.keras)?)(?:\.src)?"
_ROOTS: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (_TF + r"\.experimental\.numpy(?=\.|$)", "tnp"),
        (_TF + r"(?:\.python)?\.keras(?:\.api(?:\._v[12])?)?(?=\.|$)", "keras"),
        (_KERAS + r"(?=\.|$)", "keras"),
        (r"keras_preprocessing(?=\.|$)", "keras.preprocessing"),
        (_TF + r"\.(?=(?:losses|metrics|optimizers|initializers)\.[A-Z])", "keras."),
        (_TF + r"(?=\.|$)", "tf"),
        (r"numpy(?=\.|$)", "np"),
        (r"tensorflow_probability(?:\.python)?(?=\.|$)", "tfp"),
    )
)

# Classes whose methods are those of their base: `tf.data.TextLineDataset.from_generator`.
_DATASETS: Final = frozenset(f"tf.data.{name}Dataset" for name in ("FixedLengthRecord", "TextLine", "TFRecord"))

# How code names version 1 of the API.
_VERSION_1: Final = re.compile(r"(?:tensorflow|tf)(?:_core)?(?:\.compat|\._api)\.v1\.")

# Where the public name of something defined in a module of `tensorflow.python` may be, beside `tf` itself.
_INTERNAL: Final = {
    "check_ops": "tf.debugging",
    "embedding_ops": "tf.nn",
    "image_ops": "tf.image",
    "image_ops_impl": "tf.image",
    "linalg": "tf.linalg",
    "linalg_impl": "tf.linalg",
    "linalg_ops": "tf.linalg",
    "nest": "tf.nest",
    "nn": "tf.nn",
    "nn_impl": "tf.nn",
    "nn_ops": "tf.nn",
    "random_ops": "tf.random",
    "sets": "tf.sets",
    "sets_impl": "tf.sets",
    "sparse_ops": "tf.sparse",
    "stateless_random_ops": "tf.random",
    "string_ops": "tf.strings",
}


@cache
def aliases() -> dict[str, str]:
    """Other spelling -> canonical name, as the packages of the measured versions have them."""
    return _measured()["aliases"]


@cache
def _signatures() -> dict[str, str]:
    return OLD_SIGNATURES | _measured()["signatures"]


@cache
def _measured() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = json.loads(_MEASURED.read_text(encoding="utf-8"))
    return tables


def known(name: str) -> bool:
    """Is this the canonical name of something that a TensorFlow or Keras of some version has?"""
    return name in _signatures()


@cache
def _modules() -> frozenset[str]:
    return frozenset(name[:position] for name in _signatures() for position, sign in enumerate(name) if sign == ".")


def known_module(name: str) -> bool:
    """Is this the canonical name of a module, or class, that such things are in?"""
    return name in _modules()


@cache
def canonical(name: str) -> str:
    """The canonical name of an absolute dotted name; names of other libraries come back unchanged."""
    own, version_1 = _VERSION_1.subn("tf.compat.v1.", name)
    if version_1 and known(own):
        return own  # it does another thing than what version 2 calls so
    for pattern, replacement in _ROOTS:
        if match := pattern.match(name):
            return _public(replacement + name[match.end() :])
    return _public(name) if name.startswith("keras.") else name


def _public(name: str) -> str:
    """The canonical name of a path that has its canonical prefix already."""
    if known(found := _resolved(name)):
        return found
    parts = name.split(".")
    last = parts[-1]
    if parts[:2] == ["tf", "python"] and len(parts) > 3:
        word = last.removesuffix("_v2")
        homes = [_INTERNAL.get(parts[-2], "tf"), "tf", "tf.math", "tf.nn", "tf.linalg"]
        candidates = [f"{home}.{word}" for home in homes]
    elif ".".join(parts[:-1]) in _DATASETS:
        candidates = [f"tf.data.Dataset.{last}"]
    elif parts[0] == "keras" and len(parts) > 2:
        # `keras.layers.core.dense.Dense`, `keras.engine.training.Model`, `keras.optimizers.legacy.Adam`
        candidates = [f"keras.{home}{last}" for home in (f"{parts[1]}.", "", "layers.", "models.", "optimizers.")]
    else:
        candidates = []
    return next((public for path in candidates if known(public := _resolved(path))), found)


def _resolved(name: str) -> str:
    """The alias of a path, or of the class whose member it is."""
    known_as = aliases()
    if name in known_as:
        return known_as[name]
    owner, _, last = name.rpartition(".")
    return f"{known_as[owner]}.{last}" if owner in known_as else name


@cache
def parameters(name: str) -> tuple[str, ...] | None:
    """The parameters that positional arguments of a canonical name reach, in order; None for an unknown name."""
    text = _signatures().get(name)
    return None if text is None else tuple(text.split())
