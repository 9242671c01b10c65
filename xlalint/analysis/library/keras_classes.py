"""What Keras's classes are, and which of their methods Keras runs where XLA may compile them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from ...findings.findings import Backend
from ..domain.kinds import options
from ..domain.values import (
    ApiObject,
    Array,
    Compiled,
    Dict,
    Instance,
    OneOf,
    Sequence,
    Setting,
    Static,
    Tensor,
    Value,
)
from .result_tables import words

EAGERLY: Final = "run_eagerly=True"

# The part of a path that tells the kind of the classes in it.
_NAMESPACES: Final = {
    "layers": "layer",
    "rnn_cell": "layer",
    "models": "model",
    "losses": "loss",
    "metrics": "metric",
    "callbacks": "callback",
    "optimizers": "optimizer",
    "schedules": "schedule",
    "initializers": "initializer",
    "regularizers": "regularizer",
    "constraints": "constraint",
}

# Libraries whose classes derive from Keras's as their paths say.
_PACKAGES: Final = frozenset(
    (
        "keras",
        "keras_cv",
        "keras_hub",
        "keras_nlp",
        "spektral",
        "tensorflow_addons",
        "tensorflow_recommenders",
        "tf",
        "tfp",
    )
)

# Classes whose path says nothing, or something else.
_EXACT: Final[Mapping[str, str | None]] = {
    "keras.Functional": "model",
    "keras.Model": "model",
    "keras.Sequential": "model",
    "keras.experimental.LinearModel": "model",
    "keras.experimental.WideDeepModel": "model",
    "keras.layers.InputSpec": None,
    "keras.losses.Reduction": None,
    "transformers.TFPreTrainedModel": "model",
    "transformers.modeling_tf_utils.TFPreTrainedModel": "model",
}

# The layers that make variables of their own when they are first called, or made (measured with Keras 3.15).
WEIGHTED: Final = frozenset(
    (
        *("AdditiveAttention", "BatchNormalization", "Bidirectional", "Conv1D", "Conv1DTranspose", "Conv2D"),
        *("Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Dense"),
        *("DepthwiseConv1D", "DepthwiseConv2D", "EinsumDense", "Embedding", "GRU", "GRUCell", "GroupNormalization"),
        *("GroupQueryAttention", "LSTM", "LSTMCell", "LayerNormalization", "MultiHeadAttention", "PReLU"),
        *("RMSNormalization", "RNN", "ReversibleEmbedding", "SeparableConv1D", "SeparableConv2D", "SimpleRNN"),
        *("SimpleRNNCell", "SpectralNormalization", "StackedRNNCells", "TimeDistributed"),
    )
)

# Layers of TensorFlow Addons that add weights (by its source, 0.23), by the modules that they are in.
_OF_ADDONS: Final = {
    "crf": ("CRF",),
    "embedding_bag": ("EmbeddingBag",),
    "esn": ("ESN",),
    "multihead_attention": ("MultiHeadAttention",),
    "noisy_dense": ("NoisyDense",),
    "normalizations": ("FilterResponseNormalization", "GroupNormalization", "InstanceNormalization"),
    "polynomial": ("PolynomialCrossing",),
    "snake": ("Snake",),
    "spectral_normalization": ("SpectralNormalization",),
    "tlu": ("TLU",),
    "wrappers": ("WeightNormalization",),
}
WEIGHTED_ADDONS: Final = frozenset(
    f"tensorflow_addons.layers.{where}{name}"
    for module, names in _OF_ADDONS.items()
    for name in names
    for where in ("", f"{module}.")
)

# What draws random numbers: in Keras 3 from a variable, unless the rate is 0.
RANDOM: Final = words(
    """
    AlphaDropout AugMix CutMix Dropout GaussianDropout GaussianNoise MixUp RandAugment RandomBrightness
    RandomColorDegeneration RandomColorJitter RandomContrast RandomCrop RandomElasticTransform RandomErasing
    RandomFlip RandomGaussianBlur RandomGrayscale RandomHeight RandomHue RandomInvert RandomPerspective
    RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation RandomWidth
    RandomZoom Solarization SpatialDropout1D SpatialDropout2D SpatialDropout3D
    """
)
# The metrics and optimizers, which have variables, and the functions that build whole models.
METRICS: Final = words(
    """
    AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy
    CategoricalHinge ConcordanceCorrelation CosineSimilarity F1Score FBetaScore FalseNegatives FalsePositives Hinge
    IoU KLDivergence LogCoshError Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanMetricWrapper
    MeanSquaredError MeanSquaredLogarithmicError OneHotIoU OneHotMeanIoU PearsonCorrelation Poisson Precision
    PrecisionAtRecall R2Score Recall RecallAtPrecision RootMeanSquaredError SensitivityAtSpecificity
    SparseCategoricalAccuracy SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity
    SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives
    """
)
OPTIMIZERS: Final = words(
    """
    Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion LossScaleOptimizer Muon Nadam RMSprop SGD
    ScheduleFreeAdamW
    """
)
APPLICATIONS: Final = words(
    """
    ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge DenseNet121 DenseNet169 DenseNet201
    EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6
    EfficientNetB7 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L
    EfficientNetV2M EfficientNetV2S InceptionResNetV2 InceptionV3 MobileNet MobileNetV2 MobileNetV3Large
    MobileNetV3Small NASNetLarge NASNetMobile ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50 ResNet50V2 VGG16
    VGG19 Xception
    """
)

# Per kind, the methods that run inside a compiled step, and how a message names them.
_ROLES: Final = {
    "layer": ("call", "compute_mask"),
    "model": (
        "call",
        "compute_mask",
        "train_step",
        "test_step",
        "predict_step",
        "compute_loss",
        "compute_metrics",
        "compute_own_metrics",
    ),
    "loss": ("call", "__call__"),
    "metric": ("update_state", "result"),
    "optimizer": (
        "update_step",
        "apply_gradients",
        "apply",
        "_resource_apply_dense",
        "_resource_apply_sparse",
        "_resource_apply_sparse_duplicate_indices",
    ),
    "schedule": ("__call__",),
    "regularizer": ("__call__",),
    "constraint": ("__call__",),
}


@cache
def kind_of(name: str) -> str | None:
    """The kind of a Keras class by its canonical name: "layer", "model", ...; a model is not also a layer."""
    if name in _EXACT:
        return _EXACT[name]
    root, *inner, last = name.split(".") if "." in name else (name, name)
    if root not in _PACKAGES or not last[:1].isupper():
        return None
    return next((_NAMESPACES[part] for part in reversed(inner) if part in _NAMESPACES), None)


def is_keras(name: str, kind: str) -> bool:
    """Whether a canonical class name is Keras's own class of that kind."""
    return kind_of(name) == kind


@cache
def keras_roles(kind: str) -> Mapping[str, str]:
    """The methods of a kind of class that Keras runs where XLA may compile them, each with its description."""
    article = "an" if kind[:1] in "aeiou" else "a"
    return {method: f"`{method}` of {article} Keras {kind}" for method in _ROLES.get(kind, ())}


# How a layer says so: Keras's own layers for strings and integers have all of these.
_NEVER_COMPILED: Final = {"supports_jit": Static(False)}
_TAKES_OTHERS: Final = {"_convert_input_args": Static(False), "_allow_non_tensor_positional_args": Static(True)}


def asks_for_eager(setting: Value | None) -> bool:
    """Whether `run_eagerly` has Keras run a model line by line, or may; a switch does what it does by default."""
    match setting:
        case None | Static(None | False) | Static(setting=Setting(default=False)):
            return False
        case _:
            return True


def runs_eagerly(model: Value) -> bool:
    """Whether nobody compiles the steps of a model of Keras's, whatever asks for it."""
    return isinstance(model, Instance | ApiObject) and isinstance(model.facts, Compiled) and model.facts.why == EAGERLY


def stays_outside(attributes: Mapping[str, Value]) -> bool:
    """Whether a layer of these attributes says that Keras shall not compile it, or that it takes what is no tensor
    yet (lists, text), as those do that are mapped over datasets."""
    return _are(attributes, _NEVER_COMPILED) or _are(attributes, _TAKES_OTHERS)


def runs_on_host(attributes: Mapping[str, Value], given: Iterable[Value], around: Mapping[str, Value]) -> bool:
    """Whether the `call` of a layer of these attributes is host code where host code calls it with these arguments, in
    a method of an object of the attributes `around`. One that takes what is no tensor yet is part of others that do (a
    tokenizer of a preprocessor); where it gets numbers and no text, and looks nothing up in a table, it is for models
    as well (an augmentation)."""
    if not takes_others(attributes):
        return _are(attributes, _NEVER_COMPILED)
    given = tuple(given)
    if _are(attributes, _NEVER_COMPILED) or takes_others(around) or any(map(_is_table, attributes.values())):
        return True
    if any(map(_holds_text, given[:1])):
        return True
    return not any(map(_has_numbers, given))


def backends_of(attributes: Mapping[str, Value]) -> frozenset[Backend] | None:
    """What may run a layer of these attributes in a step, None: any. JAX's tensors are none of those that a layer takes
    which asks Keras to leave its inputs alone."""
    return frozenset((Backend.TENSORFLOW,)) if takes_others(attributes) else None


def takes_others(attributes: Mapping[str, Value]) -> bool:
    """Whether a layer of these attributes asks Keras to leave what it takes alone, which is no tensor yet."""
    return _are(attributes, _TAKES_OTHERS)


def _are(attributes: Mapping[str, Value], words: Mapping[str, Value]) -> bool:
    return all(attributes.get(name) == value for name, value in words.items())


def _is_table(value: Value) -> bool:
    """Whether a value may be a table of TensorFlow, which no XLA looks anything up in."""
    return any(isinstance(option, ApiObject) and option.api.startswith("tf.lookup.") for option in options(value))


def _holds_text(value: Value) -> bool:
    """Whether a value is, or holds, text."""
    match value:
        case Static(constant=str()) | Tensor(dtype="string") | Array(dtype="string"):
            return True
        case Sequence(items=tuple(parts)):
            return any(map(_holds_text, parts))
        case Sequence(element=element) if element is not None:
            return _holds_text(element)
        case Dict(entries=entries):
            return any(map(_holds_text, entries.values()))
        case _:
            return False


def _has_numbers(value: Value) -> bool:
    """Whether a value is, or holds, a tensor or an array of numbers."""
    match value:
        case Tensor(dtype=dtype) | Array(dtype=dtype):
            return dtype not in (None, "string")
        case OneOf(options=parts) | Sequence(items=tuple(parts)):
            return any(map(_has_numbers, parts))
        case Dict(entries=entries):
            return any(map(_has_numbers, entries.values()))
        case _:
            return False
