"""One operation, all the ways to name it."""

import keras
import keras.ops as kops
import numpy
import tensorflow
import tensorflow as tf
import tensorflow.compat.v1 as tf1
import tensorflow.experimental.numpy as tnp
from keras import backend as kb
from tensorflow import boolean_mask as bm
from tensorflow import function as graph
from tensorflow import math as tfm
from tensorflow import reduce_sum as total
from tensorflow import where
from tensorflow.compat import v2 as tf2
from tensorflow.keras import layers as keras_layers
from tensorflow.math import top_k as best

K = tf.keras.backend
mask_out = tf.boolean_mask
compiled = tf.function(jit_compile=True)


# case: renamed(f32[4])
@compiled
def renamed(losses):
    return tf.reduce_mean(mask_out(losses, losses > 0))  # hazard: XLA201 named


# case: imported(f32[4])
@compiled
def imported(losses):
    return total(bm(losses, losses > 0))  # hazard: XLA201 named


# case: version_two(f32[4])
@compiled
def version_two(losses):
    return tf2.reduce_sum(tf2.boolean_mask(losses, losses > 0))  # hazard: XLA201 named


# case: version_one(f32[4])
@compiled
def version_one(losses):
    return tf1.reduce_sum(tf1.boolean_mask(losses, losses > 0))  # hazard: XLA201 named


# case: full_name(f32[4])
@compiled
def full_name(losses):
    return tensorflow.reduce_sum(tensorflow.compat.v2.boolean_mask(losses, losses > 0))  # hazard: XLA201 named


# case: local_import(f32[4])
@compiled
def local_import(losses):
    from tensorflow import boolean_mask

    return total(boolean_mask(losses, tfm.greater(losses, 0.0)))  # hazard: XLA201 named


# case: where_imported(f32[4])
@compiled
def where_imported(losses):
    places = where(losses > 0)  # hazard: XLA203 named
    return total(places)


# case: where_three(f32[4])
@compiled
def where_three(losses):
    return where(losses > 0, losses, 0.0) + tf1.where(losses > 0, losses, tf.zeros_like(losses))


# case: where_version_one(f32[4])
@compiled
def where_version_one(losses):
    return total(tf1.where(losses > 0))  # hazard: XLA203 named


# case: keyword_where(f32[4])
@compiled
def keyword_where(losses):
    return total(tf.where(condition=losses > 0))  # hazard: XLA203 named


# case: keyword_where_three(f32[4])
@compiled
def keyword_where_three(losses):
    return tf.where(condition=losses > 0, x=losses, y=tf.zeros_like(losses))


# case: numpy_nonzero(f32[4])
@compiled
def numpy_nonzero(losses):
    return total(tnp.nonzero(losses > 0)[0])  # hazard: XLA203 named


# case: numpy_compress(f32[4])
@compiled
def numpy_compress(losses):
    return total(tnp.compress(losses > 0, losses))  # hazard: XLA201 named


# case: numpy_where(f32[4])
@compiled
def numpy_where(losses):
    return tnp.where(losses > 0, losses, 0.0) + numpy.where([True, False, True, True], 1.0, 2.0).astype("float32")


# case: unique_method(i32[6])
@compiled
def unique_method(tokens):
    return total(tfm.reduce_max(tf.unique(tokens).y))  # hazard: XLA202 named


# case: unique_counts(i32[6])
@compiled
def unique_counts(tokens):
    tokens, _, counts = tf.unique_with_counts(tokens)  # hazard: XLA202 fails
    return total(counts)


# case: set_difference(i32[1, 6], i32[1, 6])
@compiled
def set_difference(left, right):
    return total(tf.sets.intersection(left, right).values)  # hazard: XLA202 fails


# case: set_membership(i32[6], i32[6])
@compiled
def set_membership(left, right):
    shared = tf.reduce_any(left[:, None] == right[None, :], axis=1)
    names = set(["left", "right"])
    return tf.cast(shared, tf.int32) * len(names)


# case: top_imported(f32[6], i32[])
@compiled
def top_imported(scores, amount):
    return total(best(scores, amount).values)  # hazard: XLA205 recompiles


# case: top_module(f32[6])
@compiled
def top_module(scores):
    return total(best(scores, 3).values) + total(tf.nn.top_k(scores, k=scores.shape[0] - 1)[0])


# case: backend_if(f32[4])
def backend_scale(values):
    if tf.keras.ops.sum(values) > 1.0:  # hazard: XLA101 named
        values = values / 2.0
    return values


@compiled
def backend_if(values):
    return backend_scale(values)


# case: ops_nonzero(f32[4])
@compiled
def ops_nonzero(values):
    return total(kops.nonzero(values > 0)[0])  # hazard: XLA203 named


# case: ops_where(f32[4])
@compiled
def ops_where(values):
    return kops.where(values > 0, values, 0.0) + kops.sum(values) + K.epsilon() + kb.epsilon()


# case: OpsBranch(f32[4, 3])
class OpsBranch(keras.Layer):
    def call(self, values):
        if kops.any(values > 1.0):  # hazard: XLA101 fails
            return values
        return kops.relu(values)


# case: OpsCond(f32[4, 3])
class OpsCond(keras.Layer):
    def call(self, values):
        return kops.cond(kops.any(values > 1.0), lambda: values, lambda: kops.relu(values))


# case: TensorflowKeras(f32[4, 3])
class TensorflowKeras(keras_layers.Layer):
    def call(self, values):
        return values if tf.norm(values) > 1.0 else values * 2.0  # hazard: XLA101 fails


# case: TensorflowKerasStatic(f32[4, 3])
class TensorflowKerasStatic(keras_layers.Layer):
    def call(self, values):
        return values if values.get_shape().as_list()[1] > 1 else values * 2.0


# case: tensor_method(f32[4])
@graph(jit_compile=True)
def tensor_method(values):
    return values * values.numpy()  # hazard: XLA106 fails


# case: operators(f32[4], f32[4])
@graph(jit_compile=True)
def operators(left, right):
    return total(left[left.__gt__(right)])  # hazard: XLA201 named


# case: invert_operator(f32[4], f32[4])
@graph(jit_compile=True)
def invert_operator(left, right):
    worse = ~(left >= right)
    return total(left[worse & (right > 0)])  # hazard: XLA201 named


# case: cast_mask(f32[4])
@graph(jit_compile=True)
def cast_mask(values):
    flags = tf.cast(tf.nn.relu(values), "bool")
    return total(values[flags])  # hazard: XLA201 named


# case: integer_gather(f32[4], i32[3])
@graph(jit_compile=True)
def integer_gather(values, places):
    return total(tf.gather(values, places)) + values[0] + values[-1] + values[1:3][0]


# case: static_mask(f32[4])
@graph(jit_compile=True)
def static_mask(values):
    return total(values[tf.newaxis, ..., tf.newaxis][0, :, 0]) + total(values[None, :2])
