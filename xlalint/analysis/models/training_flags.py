"""A tensor for `training`: layers of Keras 3 ask for its truth in code that AutoGraph does not convert.

Measured with Keras 3.15 and `tf_keras` 2.21 in a `tf.function`, layer by layer; eager calls accept a tensor.
"""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import as_tensor
from ..domain.values import ApiObject, Dependence, Value
from ..interpreter.events import TruthOf
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel

# Those that Keras 2 asks, too.
_IN_EITHER: Final = frozenset(
    (
        "RandomBrightness",
        "RandomContrast",
        "RandomFlip",
        "RandomHeight",
        "RandomRotation",
        "RandomTranslation",
        "RandomWidth",
        "RandomZoom",
        "SpectralNormalization",
    )
)
# .. whose second parameter is `training`.
_SECOND: Final = _IN_EITHER | frozenset(
    (
        "AlphaDropout",
        "BatchNormalization",
        "Dropout",
        "GaussianDropout",
        "GaussianNoise",
        "RandomCrop",
        "SpatialDropout1D",
        "SpatialDropout2D",
        "SpatialDropout3D",
    )
)
_ASKING: Final = _SECOND | frozenset(
    (
        "AdditiveAttention",
        "Attention",
        "Bidirectional",
        "ConvLSTM1D",
        "ConvLSTM2D",
        "GRU",
        "GRUCell",
        "LSTM",
        "LSTMCell",
        "SimpleRNN",
        "SimpleRNNCell",
        "StackedRNNCells",
        "TimeDistributed",
    )
)
FORM: Final = "training"


def _asked(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """Say where a layer is passed a tensor of the trace."""
    if not isinstance(owner, ApiObject):
        return
    layer = owner.api.removeprefix("keras.layers.")
    flag, where = arguments.keywords.get(FORM), arguments.keyword_nodes.get(FORM, node)
    if flag is None and layer in _SECOND and len(arguments.positional) > 1:
        flag, where = arguments.positional[1], arguments.node_at(1, node)
        interpreter.refute_tensor(frame, flag)  # what is passed on is one of Python's, for all that is known
    tensor = None if flag is None else as_tensor(flag, Dependence.STATIC)  # a constant is a tensor of the trace, too
    if flag is None or tensor is None or tensor.eager:
        return
    if layer in _IN_EITHER or interpreter.keras_version(frame.module) == 3:
        interpreter.emit(frame, TruthOf, where, operands=(flag,), form=FORM, tested=False, names={})


METHODS: Final[dict[str, MethodModel]] = {
    f"keras.layers.{layer}.{method}": _asked for layer in _ASKING for method in ("__call__", "call")
}
