"""Custom steps of Keras models: `train_step`, `test_step`, `compute_loss`, and models that are compiled."""

import keras
import tensorflow as tf


# case: keras distiller.test_step(f32[4, 3], f32[4, 3])
class Distiller(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(3)

    def call(self, inputs):
        return self.dense(inputs)

    def test_step(self, inputs, targets=None):
        outputs = self(inputs, training=False)
        loss = tf.reduce_mean(tf.square(outputs - targets))
        if loss > 10.0:  # hazard: XLA101 fails
            loss = tf.constant(10.0)
        return {"loss": loss}


distiller = Distiller()


# case: keras clipped_distiller.test_step(f32[4, 3], f32[4, 3])
class ClippedDistiller(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(3)

    def call(self, inputs):
        return self.dense(inputs)

    def test_step(self, inputs, targets=None):
        outputs = self(inputs, training=False)
        loss = tf.reduce_mean(tf.square(outputs - targets))
        if targets is not None and inputs.shape[-1] == 3:
            loss = loss + tf.reduce_mean(targets)
        return {"loss": tf.minimum(loss, 10.0)}


clipped_distiller = ClippedDistiller()


# case: keras token_model.train_step(f32[4, 3], f32[4, 3])
class TokenModel(keras.Model):
    """The usual shape of a custom training step, with helpers on the model."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(3)
        self.scale = tf.Variable([0.5])

    def call(self, inputs):
        return self.dense(inputs)

    def masked(self, values, keep):
        return tf.boolean_mask(values, keep)  # hazard: XLA201 named

    def token_loss(self, outputs, labels):
        errors = self.masked(tf.square(outputs - labels), labels > 0)
        return tf.reduce_mean(errors * self.scale)

    def train_step(self, inputs, labels=None):
        with tf.GradientTape() as tape:
            loss = self.token_loss(self(inputs, training=True), labels)
        return tape.gradient(loss, self.trainable_variables)


token_model = TokenModel()


# case: keras token_model_clean.train_step(f32[4, 3], f32[4, 3])
class TokenModelClean(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(3)

    def call(self, inputs):
        return self.dense(inputs)

    def token_loss(self, outputs, labels):
        weights = tf.cast(labels > 0, tf.float32) * tf.linspace(0.5, 1.0, 3)
        return tf.reduce_sum(tf.square(outputs - labels) * weights) / (tf.reduce_sum(weights) + 1e-6)

    def train_step(self, inputs, labels=None):
        with tf.GradientTape() as tape:
            loss = self.token_loss(self(inputs, training=True), labels)
        return tape.gradient(loss, self.trainable_variables)


token_model_clean = TokenModelClean()


# case: keras scheduled.train_step(f32[4, 3], f32[4, 3])
class Scheduled(keras.Model):
    """A counter in a variable decides."""

    def __init__(self, warmup=3, **kwargs):
        super().__init__(**kwargs)
        self.warmup = warmup
        self.dense = keras.layers.Dense(3)
        self.step = tf.Variable(0, trainable=False)

    def call(self, inputs):
        return self.dense(inputs)

    def in_warmup(self):
        return self.step < self.warmup

    def train_step(self, inputs, labels=None):
        scale = 0.1 if self.in_warmup() else 1.0  # hazard: XLA101 fails
        return scale * tf.reduce_mean(tf.square(self(inputs) - labels))


scheduled = Scheduled()


# case: keras scheduled_clean.train_step(f32[4, 3], f32[4, 3])
class ScheduledClean(keras.Model):
    def __init__(self, warmup=3, **kwargs):
        super().__init__(**kwargs)
        self.warmup = warmup
        self.dense = keras.layers.Dense(3)
        self.step = tf.Variable(0, trainable=False)

    def call(self, inputs):
        return self.dense(inputs)

    def train_step(self, inputs, labels=None):
        scale = tf.where(self.step < self.warmup, 0.1, 1.0)
        if self.warmup > 10:
            scale = scale * 0.5
        return scale * tf.reduce_mean(tf.square(self(inputs) - labels))


scheduled_clean = ScheduledClean()


# case: Generator(f32[4, 3])
class Generator(keras.Model):
    def call(self, noise, training=None, mask=None):
        steps = tf.cast(tf.reduce_max(tf.abs(noise)), tf.int32) + 1
        for _ in range(steps):  # hazard: XLA103 fails
            noise = tf.tanh(noise)
        return noise


# case: GeneratorClean(f32[4, 3])
class GeneratorClean(keras.Model):
    def __init__(self, steps=3, **kwargs):
        super().__init__(**kwargs)
        self.steps = steps

    def call(self, noise, training=None, mask=None):
        for _ in range(self.steps):
            noise = tf.tanh(noise)
        return noise


# case: Sampler(f32[4, 3])
class Sampler(keras.Model):
    """A loop that AutoGraph would convert, in code that it does not."""

    def call(self, logits):
        picked = []
        for step in tf.range(4):  # hazard: XLA103 fails
            picked.append(tf.argmax(logits[step]))
        return tf.stack(picked)


# case: SamplerClean(f32[4, 3])
class SamplerClean(keras.Model):
    @tf.function
    def steps(self, logits):
        total = tf.zeros([3])
        for step in tf.range(4):
            total += logits[step]
        return total

    def call(self, logits):
        return self.steps(logits) + tf.stack([tf.reduce_max(logits[step]) for step in range(3)])


# case: Converter(f32[4, 3])
class Converter(keras.Model):
    @tf.function
    def gate(self, states):
        if tf.reduce_sum(states) > 0:  # hazard: XLA101 named
            states = states * 2.0
        return states

    def call(self, states):
        return self.gate(states)


# case: GradientLayer(f32[4])
class GradientLayer(keras.layers.Layer):
    def call(self, states):
        with tf.GradientTape() as tape:
            tape.watch(states)
            energy = self.energy(states)
        return tape.gradient(energy, states)

    def energy(self, states):
        return tf.reduce_sum(
            tf.while_loop(  # hazard: XLA109 fails
                lambda values: tf.reduce_max(values) < 50.0, lambda values: [values * values + 1.0], [states]
            )[0]
        )


# case: GradientLayerClean(f32[4])
class GradientLayerClean(keras.layers.Layer):
    def call(self, states):
        with tf.GradientTape() as tape:
            tape.watch(states)
            energy = self.energy(states)
        return tape.gradient(energy, states)

    def energy(self, states):
        return tf.reduce_sum(
            tf.while_loop(
                lambda values: tf.reduce_max(values) < 50.0,
                lambda values: [values * 1.1],
                [states],
                maximum_iterations=4,
            )[0]
        )


# case: functional(f32[4, 3])
class PositiveRows(keras.layers.Layer):
    def call(self, rows):
        kept = rows[rows[:, 0] > 0]  # hazard: XLA201 named
        return rows + tf.reduce_sum(kept)


inputs = keras.Input((3,))
functional = keras.Model(inputs, PositiveRows()(inputs))
functional.compile(optimizer="sgd", loss="mse", jit_compile=True)


# case: functional_clean(f32[4, 3])
class WeightedRows(keras.layers.Layer):
    def call(self, rows):
        return rows + tf.reduce_sum(rows * tf.cast(rows[:, :1] > 0, rows.dtype))


clean_inputs = keras.Input((3,))
functional_clean = keras.Model(clean_inputs, WeightedRows()(clean_inputs))
functional_clean.compile(optimizer="sgd", loss="mse", jit_compile=True)
