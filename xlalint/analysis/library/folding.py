"""Which operations XLA does not compute while it compiles: a size that is made of them cannot be told beforehand.

To compile for a size that is data, XLA computes the size from the arguments with an interpreter of its own, which knows
few of the costly operations. What it does not know fails with "must be a compile-time constant" where a size must be
one, and gives a bounded dynamic shape or a compilation per value where it need not (measured: the test beside this
table asks the compiler of each).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from .result_tables import NUMERIC, words

# Words stand for that name in every numeric namespace, but for those that a dotted name stands beside.
WORDS: Final = words(
    "matmul matvec einsum tensordot dot vdot "
    "cumsum cumprod cumulative_logsumexp "
    "conv conv1d conv2d conv3d convolution conv2d_transpose depthwise_conv2d separable_conv2d atrous_conv2d "
    "max_pool max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d pool "
    "unsorted_segment_sum unsorted_segment_max unsorted_segment_mean scatter_nd "
    "tensor_scatter_nd_update tensor_scatter_nd_add tensor_scatter_nd_max scatter_update "
    "inv cholesky qr svd solve eigh triangular_solve pinv lstsq logdet expm "
    "sin cos tan lgamma digamma polygamma igamma igammac betainc lbeta nextafter "
    "bincount confusion_matrix correlate dropout"
)
NAMES: Final = words(
    "tf.scatter_nd tf.tensor_scatter_nd_update tf.tensor_scatter_nd_add tf.tensor_scatter_nd_max "
    "tf.signal.fft tf.signal.rfft tf.signal.stft tf.signal.dct "
    "tf.image.resize tf.image.rot90 tf.image.sobel_edges tf.image.hsv_to_rgb tf.image.rgb_to_grayscale "
    "tf.image.extract_patches tf.image.random_flip_left_right "
    "tf.searchsorted tf.bitcast tf.nn.local_response_normalization tf.raw_ops.MatMul"
)


@cache
def is_folded(name: str) -> bool:
    """Whether XLA computes a function of this canonical name while it compiles, as far as is known."""
    namespace, _, word = name.rpartition(".")
    return name not in NAMES and not (word in WORDS and namespace in NUMERIC)
