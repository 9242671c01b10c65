"""Where the detector meets the compiler."""

import keras
import tensorflow as tf

import vision
from vision import build_loss, crop_box
from vision.losses import build_smooth_loss

detector_loss = build_loss(weight=2.0)
smooth_loss = build_smooth_loss(weight=2.0, power=2)

detector = keras.Sequential([vision.BoxHead()])
detector.compile(optimizer="sgd", loss=detector_loss, metrics=[smooth_loss], jit_compile=True)


@tf.function(jit_compile=True)
def crop_largest(image):
    top = tf.argmax(image[:4, 0], output_type=tf.int32)
    return tf.reduce_sum(crop_box(image, top))


@tf.function(jit_compile=True)
def crop_middle(image):
    return tf.reduce_sum(vision.centre_crop(image, image.shape[0] // 3))


@tf.function(jit_compile=True)
def box_grid(boxes):
    return tf.reduce_sum(vision.grid_points(vision.box_count(boxes)))
