"""What the name of a library call says of it: who makes it, and what it does with what it is passed."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

READERS: Final = frozenset(("numpy", "item", "tolist", "eval", "__array__", "__bool__", "__int__", "__float__"))
# What Keras makes models of.
KERAS_INPUTS: Final = frozenset(("keras.Input", "keras.layers.Input"))
# What NumPy answers without reading a symbolic tensor (measured).
SHAPE_ONLY: Final = frozenset(("np.shape", "np.ndim", "np.isscalar", "np.result_type", "np.dtype"))
HOST_LIBRARIES: Final = (
    *("np.", "math.", "scipy.", "keras.ops.convert_to_numpy"),
    *("keras.backend.batch_get_value", "keras.backend.eval", "keras.backend.get_value"),
)
# The libraries that make arrays of the tensors that they are passed, in eager code (measured).
TAKE_TENSORS: Final = ("matplotlib.", "pandas.", "seaborn.", "sklearn.metrics.")
# Calls that only eager code makes: a function that makes one is not on its way to the compiler.
EAGER_CALLS: Final = (
    "tf.io.",
    "tf.image.decode_",
    "tf.image.encode_",
    "tf.image.extract_jpeg_shape",
    "tf.data.",
    "tf.summary.",
    "tf.train.Checkpoint",
    "tf.train.latest_checkpoint",
    "tf.saved_model.",
    "tf.python_io.",
    "tf.gfile.",
    "tf.train.Example",
    "tf.train.SequenceExample",
    "tf.config.",
    "tf.estimator.",
    "keras.utils.",
    "keras.models.load_model",
    "keras.Sequential",
    "keras.Input",
    "keras.layers.Input",
    "tf.compat.v1.Session",
    "tf.compat.v1.train.",
    "tf.lite.",
    "builtins.open",
    "builtins.input",
    "cv2.",
    "matplotlib.",
    "plotly.",
    "seaborn.",
    "tf.Variable",
    "keras.Variable",
)
# What layers do with their weights.
MULTIPLIES: Final = frozenset(
    (
        *("tf.matmul", "tf.linalg.matmul", "tf.linalg.matvec", "tf.tensordot", "tf.einsum", "keras.ops.matmul"),
        *("tf.nn.conv1d", "tf.nn.conv2d", "tf.nn.conv3d", "tf.nn.convolution", "tf.nn.conv2d_transpose"),
        *("tf.nn.depthwise_conv2d", "tf.nn.separable_conv2d", "keras.ops.conv", "keras.ops.einsum"),
    )
)
COROUTINE: Final = "types.CoroutineType"
# The methods of a Keras model that return arrays or numbers on the host, which each of their calls waits for.
RETURNS_TO_HOST: Final = frozenset(("predict", "predict_on_batch", "test_on_batch", "train_on_batch"))
# The methods of a model that take batches.
TAKES_BATCHES: Final = frozenset(("evaluate", "fit", "predict", "predict_on_batch", "test_on_batch", "train_on_batch"))
WEIGHT_MAKERS: Final = frozenset(("add_weight", "add_variable"))
# Calls that are made for a list or a nest of tensors.
OF_STRUCTURES: Final = ("tf.nest.", "keras.tree.", "tf.concat", "tf.stack", "tf.add_n", "keras.ops.concatenate")
_MEASURES: Final = re.compile(
    r"keras\.(?:losses|metrics)\.(?:\w+\.)?[a-z_]\w*|tf\.(?:nn|losses)\.(?:\w*_cross_entropy\w*|ctc_loss\w*|l2_loss)"
)


@cache
def measures(name: str) -> bool:
    """Whether a call of this canonical name computes a loss or updates a metric."""
    return _MEASURES.fullmatch(name) is not None
