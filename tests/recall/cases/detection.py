"""Detection post-processing: boxes, scores, suppression."""

from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import tensorflow as tf

Detections = namedtuple("Detections", ["boxes", "scores"])


@dataclass
class Batch:
    images: tf.Tensor
    valid: tf.Tensor
    names: list = field(default_factory=list)


class Anchors(NamedTuple):
    centres: tf.Tensor
    count: int


# case: postprocess(f32[4, 4], f32[4])
def confident(detections, threshold):
    keep = detections.scores > threshold
    return Detections(
        boxes=detections.boxes[keep],  # hazard: XLA201 named
        scores=detections.scores[keep],  # hazard: XLA201 named
    )


@tf.function(jit_compile=True)
def postprocess(boxes, scores):
    found = confident(Detections(boxes, scores), 0.0)
    return tf.reduce_sum(found.boxes) + tf.reduce_sum(found.scores)


# case: postprocess_weighted(f32[4, 4], f32[4])
def confident_weights(detections, threshold):
    keep = tf.cast(detections.scores > threshold, tf.float32)
    return Detections(boxes=detections.boxes * keep[:, None], scores=detections.scores * keep)


@tf.function(jit_compile=True)
def postprocess_weighted(boxes, scores):
    found = confident_weights(Detections(boxes, scores), 0.0)
    return tf.reduce_sum(found.boxes) + tf.reduce_sum(found[1])


# case: valid_mean(f32[4, 3])
def masked_images(batch):
    return tf.boolean_mask(batch.images, batch.valid)  # hazard: XLA201 named


@tf.function(jit_compile=True)
def valid_mean(images):
    batch = Batch(images=images, valid=images[:, 0] > 0)
    return tf.reduce_mean(masked_images(batch))


# case: named_mean(f32[4, 3])
@tf.function(jit_compile=True)
def named_mean(images):
    batch = Batch(images=images, valid=images[:, 0] > 0, names=["left", "right"])
    scale = 1.0
    for name in batch.names:
        if name == "left":
            scale *= 2.0
    if len(batch.names) > 1:
        scale += 1.0
    return tf.reduce_mean(batch.images) * scale


# case: suppress(f32[6, 4], f32[6])
@tf.function(jit_compile=True)
def suppress(boxes, scores):
    chosen = tf.image.non_max_suppression(tf.abs(boxes), scores, max_output_size=3)  # hazard: XLA208 named
    return tf.reduce_sum(tf.gather(scores, chosen))


# case: suppress_padded(f32[6, 4], f32[6])
@tf.function(jit_compile=True)
def suppress_padded(boxes, scores):
    chosen, count = tf.image.non_max_suppression_padded(
        tf.abs(boxes), scores, max_output_size=3, pad_to_max_output_size=True
    )
    used = tf.cast(tf.range(3) < count, tf.float32)
    return tf.reduce_sum(tf.gather(scores, chosen) * used)


# case: soft_suppress(f32[6, 4], f32[6])
def soft_nms(boxes, scores, limit=3):
    return tf.image.non_max_suppression_with_scores(boxes, scores, limit, soft_nms_sigma=0.5)  # hazard: XLA208 fails


@tf.function(jit_compile=True)
def soft_suppress(boxes, scores):
    _, kept = soft_nms(tf.abs(boxes), scores)
    return tf.reduce_sum(kept)


# case: assign_anchors(f32[4, 4])
@tf.function(jit_compile=True)
def assign_anchors(overlaps):
    best = tf.reduce_max(overlaps, axis=1)
    matched = tf.where(best > 0.5)[:, 0]  # hazard: XLA203 named
    return tf.reduce_sum(tf.gather(overlaps, matched))


# case: assign_anchors_masked(f32[4, 4])
@tf.function(jit_compile=True)
def assign_anchors_masked(overlaps):
    best = tf.reduce_max(overlaps, axis=1)
    matched = tf.where(best > 0.5, 1.0, 0.0)
    return tf.reduce_sum(overlaps * matched[:, None])


# case: split_classes(f32[6, 2], i32[6])
@tf.function(jit_compile=True)
def split_classes(boxes, classes):
    parts = tf.dynamic_partition(boxes, classes, 4)  # hazard: XLA207 named
    return tf.add_n([tf.reduce_sum(part) for part in parts])


# case: split_classes_onehot(f32[6, 2], i32[6])
@tf.function(jit_compile=True)
def split_classes_onehot(boxes, classes):
    members = tf.one_hot(classes, depth=4)
    return tf.reduce_sum(tf.matmul(members, boxes, transpose_a=True))


# case: count_objects(f32[6])
@tf.function(jit_compile=True)
def count_objects(scores):
    present = tf.boolean_mask(scores, scores > 0)  # hazard: XLA201 diverges
    return tf.reduce_sum(tf.ones_like(present))


# case: count_objects_static(f32[6])
@tf.function(jit_compile=True)
def count_objects_static(scores):
    return tf.reduce_sum(tf.cast(scores > 0, tf.float32)) + tf.math.count_nonzero(scores, dtype=tf.float32)


# case: crop(f32[6, 6], i32[2])
@tf.function(jit_compile=True)
def crop(image, corner):
    return tf.slice(image, [corner[0], corner[1]], [2, 2])  # hazard: XLA206 recompiles


# case: crop_centre(f32[6, 6])
@tf.function(jit_compile=True)
def crop_centre(image):
    size = tf.shape(image)
    return tf.slice(image, [size[0] // 4, size[1] // 4], [2, 2])


# case: grid(f32[4, 4], i32[])
def make_grid(anchors):
    steps = tf.range(anchors.count)  # hazard: XLA205 recompiles
    return tf.reduce_sum(tf.cast(steps, tf.float32)) + tf.reduce_sum(anchors.centres)


@tf.function(jit_compile=True)
def grid(centres, count):
    return make_grid(Anchors(centres, count))


# case: static_grid(f32[4, 4])
def make_static_grid(anchors):
    steps = tf.range(anchors.count)
    return tf.reduce_sum(tf.cast(steps, tf.float32)) + tf.reduce_sum(anchors.centres)


@tf.function(jit_compile=True)
def static_grid(centres):
    return make_static_grid(Anchors(centres, centres.shape[0]))


# case: any_hit(f32[6])
def is_empty(scores):
    return not tf.reduce_any(scores > 0)  # hazard: XLA104 named


@tf.function(jit_compile=True)
def any_hit(scores):
    return tf.cast(is_empty(scores), tf.float32) + scores


# case: any_hit_logical(f32[6])
def is_empty_logical(scores, names=()):
    if not names:
        names = ("boxes",)
    return tf.logical_not(tf.reduce_any(scores > 0)), names


@tf.function(jit_compile=True)
def any_hit_logical(scores):
    empty, names = is_empty_logical(scores)
    return tf.cast(empty, tf.float32) + scores * len(names)


# case: widest(f32[6, 4])
@tf.function(jit_compile=True)
def widest(boxes):
    widths = boxes[:, 2] - boxes[:, 0]
    return boxes[tf.argmax(widths)]  # hazard: XLA206 recompiles


# case: widest_gathered(f32[6, 4])
@tf.function(jit_compile=True)
def widest_gathered(boxes):
    widths = boxes[:, 2] - boxes[:, 0]
    return tf.gather(boxes, tf.argmax(widths))


# case: draw(f32[4, 4])
@tf.function(jit_compile=True)
def draw(boxes):
    left, top, right, bottom = boxes  # hazard: XLA103 fails
    return (right - left) * (bottom - top)


# case: draw_unstacked(f32[4, 4])
@tf.function(jit_compile=True)
def draw_unstacked(boxes):
    left, top, right, bottom = tf.unstack(boxes)
    height, width = boxes.shape
    return (right - left) * (bottom - top) / float(height * width)
