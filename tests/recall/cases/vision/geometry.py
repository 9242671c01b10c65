"""Box geometry."""

import tensorflow as tf

__all__ = ["areas", "largest_box", "crop_box", "centre_crop", "box_count", "grid_points"]


def areas(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


# case: vision.heads:BoxHead(f32[4, 4])
def largest_box(boxes):
    index = tf.argmax(areas(boxes))
    return boxes[index]  # hazard: XLA206 recompiles


# case: vision.compiled:crop_largest(f32[6, 4])
def crop_box(image, top):
    return tf.slice(image, [top, 0], [2, 4])  # hazard: XLA206 recompiles


# case: vision.compiled:crop_middle(f32[6, 4])
def centre_crop(image, top):
    return tf.slice(image, [top, 0], [2, 4])


# case: vision.compiled:box_grid(f32[6, 4])
def box_count(boxes):
    return tf.math.count_nonzero(areas(boxes) > 0, dtype=tf.int32)


def grid_points(count):
    return tf.range(count)  # hazard: XLA205 recompiles
