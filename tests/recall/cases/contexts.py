"""The ways to reach the compiler, and the ways not to."""

import functools

import keras
import tensorflow as tf

compile_it = functools.partial(tf.function, jit_compile=True)
strategy = tf.distribute.get_strategy()


# case: call_form(f32[4])
def call_form_step(values):
    return tf.reduce_sum(values[values > 0])  # hazard: XLA201 named


call_form = tf.function(call_form_step, jit_compile=True)


# case: unconverted_form(f32[4])
def unconverted_form_step(values):
    if tf.reduce_sum(values) > 0:  # hazard: XLA101 fails
        return values * 2.0
    return values


unconverted_form = tf.function(unconverted_form_step, autograph=False, jit_compile=True)


# case: with_signature(f32[4])
@tf.function(input_signature=[tf.TensorSpec([4], tf.float32)], jit_compile=True)
def with_signature(values):
    return tf.reduce_mean(tf.boolean_mask(values, values > 0))  # hazard: XLA201 named


# case: with_partial(f32[4])
@compile_it()
def with_partial(values):
    assert tf.reduce_sum(values) != 7.5  # hazard: XLA105 fails
    return values


# case: with_partial_clean(f32[4])
@compile_it()
def with_partial_clean(values):
    assert values.shape[0] != 7
    return values * 2.0


# case: not_converted(f32[4])
@tf.autograph.experimental.do_not_convert
def raw_branch(values):
    if tf.reduce_sum(values) > 0:  # hazard: XLA101 fails
        return values * 2.0
    return values


@tf.function(jit_compile=True)
def not_converted(values):
    return raw_branch(values)


# case: reconverted(f32[4])
@tf.function
def converted_branch(values):
    return tf.where(tf.reduce_sum(values) > 0, values * 2.0, values)


@tf.function(jit_compile=True, autograph=False)
def reconverted(values):
    return converted_branch(values)


# case: lambda_form(f32[4])
lambda_form = tf.function(lambda values: tf.reduce_sum(values[values > 0]), jit_compile=True)  # hazard: XLA201 named


# case: lambda_clean(f32[4])
lambda_clean = tf.function(lambda values: tf.reduce_sum(values[1:3]), jit_compile=True)


# case: method_form(f32[4])
class Trainer:
    """A method is compiled when the object is made."""

    def __init__(self):
        self.compiled_step = tf.function(self.step, jit_compile=True)

    def step(self, values):
        return tf.reduce_sum(tf.where(values > 0))  # hazard: XLA203 named


trainer = Trainer()
method_form = trainer.compiled_step


# case: decorated_method(f32[4])
class Engine:
    @tf.function(jit_compile=True)
    def step(self, values):
        return self.select(values)

    def select(self, values):
        return tf.reduce_sum(tf.boolean_mask(values, values > 0))  # hazard: XLA201 named


engine = Engine()
decorated_method = engine.step


# case: decorated_method_clean(f32[4])
class CleanEngine:
    scale = 2.0

    @tf.function(jit_compile=True)
    def step(self, values):
        if self.scale > 1.0:
            values = values * self.scale
        return self.select(values)

    def select(self, values):
        return tf.reduce_sum(tf.where(values > 0, values, 0.0))


clean_engine = CleanEngine()
decorated_method_clean = clean_engine.step


# case: outer(f32[4])
@tf.function
def inner(values):
    return tf.reduce_sum(tf.unique(tf.cast(values, tf.int32))[0])  # hazard: XLA202 named


@tf.function(jit_compile=True)
def outer(values):
    return inner(values)


# case: not run: a strategy's function has to be called from a replica context
def replica_step(values):
    return tf.reduce_sum(values[values > 0])  # hazard: XLA201 named


def distributed(values):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    tpus = tf.distribute.TPUStrategy(resolver)
    return tpus.run(replica_step, args=(values,))


# case: not run: the old spelling of jit_compile is gone from TensorFlow 2.21
@tf.function(experimental_compile=True)
def old_spelling(values):
    return tf.reduce_sum(values[values > 0])  # hazard: XLA201 named


# case: not run: host code, never compiled
def parse(example):
    length = tf.reduce_sum(tf.cast(example > 0, tf.int32))
    kept = example[example > 0]
    return kept[:length]


def long_enough(example):
    return tf.size(example) > 1


dataset = tf.data.Dataset.from_tensor_slices(tf.random.normal([4, 3])).map(parse).filter(long_enough)


class Reporter(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        losses = tf.constant([1.0, 2.0])
        if tf.reduce_sum(losses) > 1.0:
            print(losses.numpy()[losses.numpy() > 1.0])


def main():
    values = tf.random.normal([8])
    kept = values[values > 0]
    if tf.size(kept) > 2:
        print(float(tf.reduce_mean(kept)))
    for value in values:
        print(value.numpy())


if __name__ == "__main__":
    main()


# case: not run: a host function in the middle of the graph
def on_host(values):
    kept = values.numpy()
    return kept[kept > 0].sum()


def host_sum(values):
    return tf.py_function(on_host, [values], tf.float32)


# case: not run: a plain function that no one is seen to compile; only tensors can come in
def open_helper(values: tf.Tensor):
    kept = tf.boolean_mask(values, values > 0)  # hazard: XLA201 named
    return tf.reduce_mean(kept)


# case: not run: plain Python helpers
def open_static(count: int, names: list[str], flag=False):
    if count > 3 and names:
        return list(range(count))
    return [name for name in names if flag]


def configure(settings):
    if settings["depth"] > 3 or settings.get("wide"):
        return settings["depth"]
    return max(settings["depth"], 2)


# case: gradient_form(f32[4])
@tf.custom_gradient  # AutoGraph does not convert the gradient function
def straight_through(values):
    rounded = tf.round(values)

    def gradient(upstream):
        if tf.reduce_sum(upstream) > 100.0:  # hazard: XLA101 fails
            return upstream * 0.5
        return upstream

    return rounded, gradient


@tf.function(jit_compile=True)
def gradient_form(values):
    with tf.GradientTape() as tape:
        tape.watch(values)
        loss = tf.reduce_sum(straight_through(values))
    return tape.gradient(loss, values)


# case: gradient_clean(f32[4])
@tf.custom_gradient
def clean_through(values):
    def gradient(upstream):
        return tf.clip_by_value(upstream, -1.0, 1.0)

    return tf.round(values), gradient


@tf.function(jit_compile=True)
def gradient_clean(values):
    with tf.GradientTape() as tape:
        tape.watch(values)
        loss = tf.reduce_sum(clean_through(values))
    return tape.gradient(loss, values)


# case: not run: a layer with two inputs
class Kept(keras.layers.Layer):
    """All inputs of a layer have the dimension of the batch: one that is an index is a mask."""

    def call(self, tokens, keep):
        return tf.reduce_mean(tokens[keep], axis=0)  # hazard: XLA201 named


# case: not run: a layer with two inputs, of one of which a number is the index
class Cropped(keras.layers.Layer):
    def call(self, tokens, places):
        return tokens[places[0]]  # hazard: XLA206 recompiles


# case: not run: what a model is passed is a tensor
class Bagged(keras.Model):
    def compact(self, words):
        scores = self(words)
        bag = tf.sparse.from_dense(tf.cast(words, tf.int32))  # hazard: XLA207 named
        return scores, bag


# case: not run: what nobody passes to a model may be a size
class Sized(keras.Model):
    def widen(self, words, size):
        return self(words) + tf.zeros([tf.cast(size, tf.int32)])


# case: not run: what a model that nobody sees makes of images may be several tensors
def joined(levels):
    return keras.ops.concatenate([keras.ops.reshape(level, (1, -1)) for level in list(levels)], axis=1)


class Joined(keras.layers.Layer):
    def call(self, levels):
        shapes = []
        for level in levels:
            shapes.append(level.shape)
        return joined(levels), shapes


class Detector(keras.Model):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.joined = Joined()

    def detect(self, images):
        return self.joined(self.body(images, training=False))
