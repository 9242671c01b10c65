"""Code that the driver's tests drive, one definition for each way."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence

import keras  # type: ignore[import-untyped]
import tensorflow as tf  # type: ignore[import-untyped]


def masked(x, keep):
    return tf.where(keep, x, 0.0)


def one_row(x):
    _, height, width = x.shape
    return tf.reshape(x, [height, width]) * 2.0


def repeated(x, times):
    for _ in range(times):
        x = x * 2.0
    return x


def cropped(maps, boxes, ids):
    """Crops.

    Args:
        maps (list): feature maps.
        boxes (tensor): of shape [n, 4].
        ids (int32): of shape [n].
    """
    near, far = maps
    return tf.image.crop_and_resize(maps, boxes, ids, [2, 2]), near + far


class Frozen(keras.layers.Layer):
    def __init__(self, rate, trainable):
        super().__init__(trainable=trainable)
        self.rate = rate

    def call(self, x):
        return x * self.rate if self.trainable else x

    def loss(self, x):
        if not self.trainable:
            return tf.constant(0.0)
        return tf.reduce_sum(x)


class Named(keras.metrics.Metric):
    def __init__(self, name=None, **others):
        super().__init__(name=name, **others)
        self.total = self.add_variable(shape=(), initializer="zeros", name=name + "_total")

    def update_state(self, value):
        self.total.assign_add(tf.reduce_sum(value))

    def result(self):
        return self.total


def stepped(x):
    place = tf.Variable(0)

    def step(thresholds):
        chosen = tf.slice(thresholds, [place], [1])
        place.assign_add(1)
        return thresholds * chosen

    return step(x[0]) + step(x[1])


def four(x):
    batch, height, width, channels = x.shape
    return tf.reshape(x, [batch, height * width, channels])


def image(features):
    return tf.image.resize(features["image"], [4, 4]) * features["scale"]


def pair(inputs):
    left, right = inputs
    return tf.concat([left, right], 0)


def mode(x, reduction):
    if reduction == "rows":
        return tf.reduce_sum(x, 0)
    if reduction == "columns":
        return tf.reduce_sum(x, 1)
    raise ValueError(f"unknown reduction {reduction!r}")


def rows(x):
    return _in_rows(x[:2], tf.constant([1, 3]), tf.constant(12))


def _in_rows(x, counts, most):
    tf.debugging.assert_greater(most, 9)
    return tf.pad(tf.repeat(x, counts, axis=0), [[0, most - tf.reduce_sum(counts)], [0, 0]])


def dropped(x, rate, training=None):
    if not training or rate == 0.0:
        return x
    kept = 1.0 - rate
    return x * kept


def by_segment(x, numbers):
    return tf.math.segment_sum(x, numbers)


def by_method(x, method):
    return _stepped(x, method)


def _stepped(x, method):
    match method:
        case "euler":
            return x + 1.0
        case "heun":
            return x + 2.0
    raise TypeError(f"Invalid method: {method}")


class Plan:
    def __init__(self, width=6):
        self.width = width
        self.activation = "relu"
        self.rate = 0.1


class Planned(keras.layers.Layer):
    def __init__(self, plan):
        super().__init__()
        self.inner = keras.layers.Dense(plan.width, plan.activation)
        self.drop = keras.layers.Dropout(plan.rate)

    def call(self, x):
        return self.drop(self.inner(x))


class Passing(keras.layers.Embedding):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def call(self, inputs):
        return super().call(inputs)


class Pretrained(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
        self.backbone.load_weights(keras.utils.get_file("gone_weights.h5", "file:///gone/gone_weights.h5"))

    def call(self, x):
        return self.backbone(x)


class Unsaved(keras.layers.Layer):
    def __init__(self, file="of/nobody/best.weights.h5"):
        super().__init__()
        self.backbone = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
        self.backbone.load_weights(file)

    def call(self, x):
        return self.backbone(x)


class Spoilt(Unsaved):
    def __init__(self):
        super().__init__(__file__)


def mapped(x):
    def row(one):
        return one * tf.reduce_sum(one)

    return tf.map_fn(row, x)


class Rows:
    def all(self):
        return tf.map_fn(self.row, tf.ones([2, 7], tf.int64), fn_output_signature=tf.float32)

    def row(self, one):
        assert one.dtype == tf.int64
        assert one.shape[0] == 7
        return tf.cast(one[0], tf.float32)


def two_models(size):
    images, words = keras.Input((None, 4)), keras.Input((8,))
    return keras.Model(images, keras.layers.Dense(size)(images)), keras.Model(words, keras.layers.Dense(size)(words))


def named_model(size):
    words = keras.Input((8,))
    return {"model": keras.Model(words, keras.layers.Dense(size)(words)), "size": size}


class Padded(keras.layers.Layer):
    def __init__(self, input_size):
        super().__init__()
        self.width = input_size[1]

    def call(self, x):
        return tf.ensure_shape(x[:, : self.width, :], [4, 4, 4])


def annotated(x: tf.Tensor, sizes: Sequence[int], scale: float, act: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
    return act(tf.reshape(x, [sizes[0], -1])) * scale


def optional(x, labels=None):
    if labels is None:
        return x
    return x[labels > 0]


def embedded(ids, table):
    return tf.nn.embedding_lookup(table, ids)


def adjacency(a):
    return tf.sparse.sparse_dense_matmul(a, tf.ones([a.dense_shape[1], 2]))


def padded(features):
    if isinstance(features["words"], tf.RaggedTensor):
        return features["words"].to_tensor()
    return features["words"] + features["scale"]


def degrees(a):
    if isinstance(a, tf.SparseTensor):
        return tf.sparse.reduce_sum(a, -1)
    return tf.reduce_sum(a, -1)


@tf.function(input_signature=[tf.TensorSpec([None, 6]), tf.TensorSpec([], tf.int32)])
def signed(x, n):
    return x[:n]


def stateful(x):
    COUNTER.assign_add(1.0)
    return x * COUNTER


COUNTER = tf.Variable(0.0)


def make(scale):
    def inner(x, y):
        return x * scale + y

    return inner(tf.ones([3, 5]), tf.zeros([5]))


def maker(scale):
    def returned(x):
        return x * scale

    return returned


def several(scale):
    found = {1: lambda x: x}
    for power in (2, 3):

        def chosen(x, power=power):
            return (x * scale) ** power

        found[power] = chosen
    return found


def deep(scale):
    def middle(x):
        def deepest(y):
            return y * scale

        return deepest(x[0]) + 1.0

    return middle(tf.ones([2, 7]))


def deep_maker(scale):
    def given(x):
        def innermost(y):
            return y * scale

        return innermost(x[0]) + 1.0

    return given


def builder():
    return keras.Sequential([keras.layers.Dense(2)])


def optimizer():
    return keras.optimizers.Adam()


def batches(x):
    return tf.data.Dataset.from_tensor_slices(x).batch(2)


def impossible(x):
    raise OSError("there is no such network")


class Gated(keras.layers.Layer):
    def __init__(self, units, activation="relu"):
        super().__init__()
        self.dense = keras.layers.Dense(units, activation=activation)
        self.gate = keras.layers.Dense(units)

    def call(self, inputs, training=False):
        return self.mixed(self.dense(inputs), self.gate(inputs))

    def mixed(self, left, right):
        return left * tf.sigmoid(right)


class Joined(keras.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[0][-1],), initializer="ones")

    def call(self, inputs):
        x, mask = inputs
        return tf.where(mask, x * self.scale, 0.0)


class Config:
    def __init__(self, width: int = 6) -> None:
        self.width = width


class Configured(keras.layers.Layer):
    def __init__(self, config):
        super().__init__()
        self.dense = keras.layers.Dense(config.width)

    def call(self, x):
        return self.dense(x)


class Doubled(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return 2.0 * tf.reduce_mean(tf.square(y_true - y_pred), -1)


class Hits(keras.metrics.Metric):
    def __init__(self, name="hits", **options):
        super().__init__(name=name, **options)
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        if sample_weight is not None:
            y_pred *= sample_weight
        self.count.assign_add(tf.reduce_sum(tf.cast(y_true == y_pred, tf.float32)))

    def result(self):
        return self.count * 1.0


class Modes(keras.layers.Layer):
    input_signature = property(lambda self: [])

    def call(self, inputs):
        x, a = inputs
        return self.spread(x, a)

    def spread(self, x, a):
        if isinstance(a, tf.SparseTensor):
            return tf.sparse.sparse_dense_matmul(a, x)
        return tf.matmul(a, x)


class Pooled(keras.layers.Layer):
    def call(self, inputs):
        if isinstance(inputs, list):
            x, index = inputs
            return tf.math.unsorted_segment_sum(x, index, 4)
        return tf.reduce_sum(inputs, 0)


class Trained(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - self(x, training=True)))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return {"loss": loss}


class Plain:
    def __init__(self, factor):
        self.factor = factor

    def scaled(self, x):
        return self.__own(x)

    def __own(self, x):
        return x * self.factor


def make_inputs(value_set, variant):
    return {"x": tf.fill([2 + variant, 3], float(value_set))}


class Sealed:
    def __init__(self, content, *, word):
        if word != "sesame":
            raise PermissionError(word)
        self.content = content


def packed(x):
    return _unpacked(x * 2.0, Sealed(x, word="sesame"))


def _unpacked(x, sealed):
    return x + sealed.content if isinstance(sealed, Sealed) else tf.errors.raise_exception(sealed)


@tf.custom_gradient
def scaled_gradient(x, scale):
    return x, lambda upstream: (upstream * scale, None)


def image_model(channels=3):
    images = keras.Input([None, None, channels], name="images")
    narrowed = keras.layers.Conv2D(2, 32, name="narrowed")(images)  # 4 by 4 are too few for it
    return keras.Model(images, keras.layers.Dropout(0.5)(narrowed))


def text_model():
    tokens, mask = keras.Input([None], dtype="int32", name="tokens"), keras.Input([None], dtype="bool", name="mask")
    embedded = keras.layers.Embedding(9, 2)(tokens) * keras.ops.cast(mask, "float32")[..., None]
    return keras.Model([tokens, mask], embedded)


class Described(keras.Model):
    """It says by itself what it is called with, as models of `transformers` do."""

    @property
    def input_signature(self):
        ids = tf.TensorSpec([None, None], tf.int32, name="ids")
        return {"ids": ids, "image": tf.TensorSpec([None, 8, 8, 1], tf.float32, name="image")}

    def call(self, inputs):
        return tf.cast(inputs["ids"], tf.float32) + tf.reduce_sum(inputs["image"], [1, 2])


def described_model():
    return Described()


class Module(tf.Module):
    variables = property(lambda self: self.missing())

    def missing(self):
        raise ValueError("no variables yet")

    def __call__(self, x):
        return x * 2.0


class Swapped(keras.layers.Layer):  # type: ignore[misc]
    def call(self, x, training=None):
        if training in (None, False):
            return x
        return tf.reverse(x, [0])


def switched(x, inverse=False, scale=0.0):
    if inverse:
        x = 1.0 - x
    if scale != 0.0:
        return x * scale + 3.0
    return x


class Schedule(abc.ABC):
    def doubled(self, x):
        return self.rate(x) * 2.0

    @abc.abstractmethod
    def rate(self, x):
        raise NotImplementedError


class Constant(Schedule):
    def rate(self, x):
        return tf.ones_like(x)


class Prepared:
    def __init__(self, size):
        self.size = size

    def build_table(self):
        self.table = tf.ones([self.size])

    @property
    def total(self):
        return tf.reduce_sum(tf.ones([self.size]))

    def looked_up(self, x):
        return x * self.table


def words(text):
    return tf.constant([word.decode().lower() for word in text.numpy().flat])


class Space:
    __hash__ = None

    def __init__(self, low: float = 0.5):
        self.low = low


def lowest(x, space: Space):
    return tf.maximum(x, space.low)


class Stateful:
    def run(self, x):
        self.kept = x + 1.0
        return self.joined(x)

    def joined(self, y):
        return y + self.kept


class OfSettings(keras.layers.Layer):
    def __init__(self, config):
        super().__init__()
        self.dense = keras.layers.Dense(config.model.width, activation=config.activation)
        self.rate = config["rate"]

    def call(self, x):
        return self.dense(x) * self.rate


def of_columns(columns):
    return tf.add_n([column["weights"] * 2.0 for column in columns])


class Gathered(keras.layers.Layer):
    pooling = None

    def call(self, x):
        return self.pooling(x, axis=1)


class MeanGathered(Gathered):
    pooling = staticmethod(tf.reduce_mean)


class Messaging(keras.layers.Layer):
    def call(self, inputs):
        features, adjacency = inputs
        assert len(features.shape) == 3, "features must have rank 3"
        self.edges = adjacency
        result = self.message(features)
        del self.edges
        return result

    def message(self, x):
        return tf.reduce_sum(x, axis=-1) + self.edges


class Shuffled(keras.layers.Layer):
    def __init__(self, expected):
        super().__init__()
        self.outcome = expected

    def call(self, inputs):
        wide = self.outcome[1] + 0
        return tf.ensure_shape(tf.pad(inputs, [[0, 0], [0, 0], [0, 0], [0, 0]]), self.outcome)[:, :wide]


ACTIVATIONS = {"doubled": lambda x: x * 2.0, "same": lambda x: x}


class Activated:
    def __init__(self, activation):
        self.function = ACTIVATIONS[activation]

    def run(self, x):
        return self.function(x)


def whole(x):
    if not tf.reduce_all(tf.equal(x, tf.floor(x))):
        raise ValueError("x must be integral")
    return x + 1.0


class Branch:
    def __init__(self, size: int, parent: Branch | None = None):
        self.size, self.parent = size, parent


def grown(x, branch: Branch):
    return x * branch.size


class Sized:
    def __init__(self, name=None):
        self.name = name


class OfFiles(Sized):
    def __init__(self, folder, size, **options):
        super().__init__(**options)
        if size < 2:
            raise ValueError("too small")
        self.half = size // 2
        self.images = list(folder.glob("*.png"))
        self.heights = [2]
        for image in self.images:
            self.heights.append(image.height)
        self._count()

    def _count(self):
        self.count = 2 * self.half

    def scaled(self, x):
        return self._doubled(x) * float(self.half)

    def _doubled(self, x):
        return tf.reshape(x, [self.count, -1]) * 2.0

    def seen(self, x):
        return x * float(len(self.images))

    def highest(self, x):
        return x * max(self.heights)

    def turned(self, x):
        assert len(x.shape) == 3, "x must have rank 3"
        return x * float(self.half)
