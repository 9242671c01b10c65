if tf.reduce_sum(tensor) > 10:
    tensor = tensor / 2.0
