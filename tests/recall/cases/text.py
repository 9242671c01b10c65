"""Text pipelines on the device: lengths, ragged and sparse results, histograms."""

import tensorflow as tf

VOCABULARY = 4
compiled = tf.function(jit_compile=True)


# case: expand_tokens(f32[3], i32[3])
@compiled
def expand_tokens(states, repeats):
    return tf.reduce_sum(tf.repeat(states, repeats))  # hazard: XLA205 recompiles


# case: expand_tokens_static(f32[3])
@compiled
def expand_tokens_static(states):
    return tf.reduce_sum(tf.repeat(states, [1, 2, 3])) + tf.reduce_sum(tf.repeat(states, 2))


# case: histogram(i32[6])
def count_tokens(tokens):
    return tf.math.bincount(tokens)  # hazard: XLA205 recompiles


@compiled
def histogram(tokens):
    return tf.reduce_sum(tf.cast(count_tokens(tokens), tf.float32))


# case: histogram_onehot(i32[6])
def count_onehot(tokens):
    return tf.reduce_sum(tf.one_hot(tokens, VOCABULARY), axis=0)


@compiled
def histogram_onehot(tokens):
    return count_onehot(tokens)


# case: vocabulary(i32[6])
@compiled
def vocabulary(tokens):
    size = tf.reduce_max(tokens) + 1
    return tf.reduce_sum(tf.one_hot(tokens, size))  # hazard: XLA205 recompiles


# case: vocabulary_static(i32[6])
@compiled
def vocabulary_static(tokens, size=VOCABULARY):
    return tf.reduce_sum(tf.one_hot(tokens, depth=size))


# case: ragged_rows(f32[6], i32[6])
@compiled
def ragged_rows(states, rows):
    grouped = tf.RaggedTensor.from_value_rowids(states, tf.sort(rows))  # hazard: XLA207 recompiles
    return tf.reduce_sum(grouped.row_lengths())


# case: ragged_rows_segments(f32[6], i32[6])
@compiled
def ragged_rows_segments(states, rows):
    return tf.math.unsorted_segment_sum(states, rows, num_segments=VOCABULARY)


# case: sparse_tokens(f32[3, 4])
@compiled
def sparse_tokens(states):
    sparse = tf.sparse.from_dense(states)  # hazard: XLA207 named
    return tf.reduce_sum(sparse.values)


# case: partition_tokens(f32[6], i32[6])
def by_language(states, languages):
    return tf.dynamic_partition(states, languages, VOCABULARY)[1]  # hazard: XLA207 named


@compiled
def partition_tokens(states, languages):
    return tf.reduce_sum(by_language(states, languages))


# case: split_tokens(f32[6])
def halves(states):
    return tf.split(states, [2, 4])


@compiled
def split_tokens(states):
    return tf.reduce_sum(halves(states)[0]) + tf.reduce_sum(tf.split(states, 3)[0])


# case: pad_batch(i32[3])
def pad_to(states, length):
    return tf.pad(states, [[0, length]])  # hazard: XLA205 recompiles


@compiled
def pad_batch(states):
    return tf.reduce_sum(pad_to(states, tf.reduce_max(states)))


# case: pad_batch_static(i32[3])
def pad_by(states, length):
    return tf.pad(states, [[0, length - states.shape[0]]])


@compiled
def pad_batch_static(states):
    return pad_by(states, 8)


# case: mask_tokens(f32[3, 4], i32[3])
def padding_mask(lengths):
    return tf.cast(tf.sequence_mask(lengths), tf.float32)  # hazard: XLA205 recompiles


@compiled
def mask_tokens(states, lengths):
    return tf.reduce_sum(padding_mask(lengths)) * states


# case: mask_tokens_static(f32[3, 4], i32[3])
def static_padding_mask(lengths, states):
    return tf.cast(tf.sequence_mask(lengths, tf.shape(states)[1]), tf.float32)


@compiled
def mask_tokens_static(states, lengths):
    return static_padding_mask(lengths, states) * states


# case: tile_prompt(f32[3], i32[])
@compiled
def tile_prompt(prompt, copies):
    return tf.reduce_sum(tf.tile(prompt, [copies]))  # hazard: XLA205 recompiles


# case: tile_prompt_static(f32[3])
@compiled
def tile_prompt_static(prompt):
    return tf.tile(prompt, [2]) + tf.tile(prompt[:, None], [1, prompt.shape[0]])[0][0]


# case: broadcast_prompt(f32[3], i32[])
@compiled
def broadcast_prompt(prompt, copies):
    return tf.reduce_sum(tf.broadcast_to(prompt, [copies, 3]))  # hazard: XLA205 recompiles


# case: broadcast_prompt_static(f32[3], f32[4, 3])
@compiled
def broadcast_prompt_static(prompt, states):
    return tf.broadcast_to(prompt, tf.shape(states)) + tf.ones(states.shape) + tf.zeros_like(states)


# case: positions(i32[3])
def position_ids(lengths):
    longest = tf.reduce_max(lengths)
    return tf.range(0, longest)  # hazard: XLA205 recompiles


@compiled
def positions(lengths):
    return tf.reduce_sum(position_ids(lengths))


# case: positions_static(f32[3, 4])
def static_position_ids(states):
    return tf.range(0, tf.shape(states)[1])


@compiled
def positions_static(states):
    return tf.reduce_sum(static_position_ids(states))


# case: eye_like(i32[])
@compiled
def eye_like(size):
    return tf.reduce_sum(tf.eye(size))  # hazard: XLA205 recompiles


# case: steps_between(f32[2], i32[])
@compiled
def steps_between(ends, count):
    return tf.reduce_sum(tf.linspace(ends[0], ends[1], count))  # hazard: XLA205 recompiles


# case: steps_between_static(f32[2])
@compiled
def steps_between_static(ends):
    return tf.linspace(ends[0], ends[1], 4) + tf.eye(4)[0]


# case: drop_prefix(f32[6], i32[])
@compiled
def drop_prefix(states, skip):
    return tf.reduce_sum(states[skip:])  # hazard: XLA205 recompiles


# case: axis_sum(f32[2, 3, 2, 2], i32[])
@compiled
def axis_sum(states, axis):
    return tf.reduce_sum(tf.reduce_mean(states, axis=axis))  # hazard: XLA206 recompiles


# case: axis_sum_static(f32[2, 3])
@compiled
def axis_sum_static(states, axis=1):
    return tf.reduce_mean(states, axis=axis) + tf.reduce_mean(states, axis=len(states.shape) - 1)


# case: roll_cache(f32[6], i32[])
@compiled
def roll_cache(states, start):
    stop = start + 3
    return states[start:stop] * 2.0  # hazard: XLA205|XLA206 recompiles


# case: updated_cache(f32[6], i32[])
@compiled
def updated_cache(states, place):
    hit = tf.one_hot(place, states.shape[0])
    moved = tf.roll(states, shift=1, axis=0)
    return states * (1.0 - hit) + hit * 2.0 + moved


# case: kept_last(f32[6])
@compiled
def kept_last(states):
    kept = tf.boolean_mask(states, states > 0)  # hazard: XLA201 diverges
    return kept[-1] * 2.0


# case: every_second(f32[6])
def kept_values(states):
    return states[states > 0]  # hazard: XLA201 fails


@compiled
def every_second(states):
    return tf.reduce_sum(kept_values(states)[::2])


# case: split_kept(f32[6])
@compiled
def split_kept(states):
    kept = tf.gather(states, tf.where(states > 0)[:, 0])  # hazard: XLA203 fails
    first, _ = tf.split(kept, [1, -1])
    return first


# case: every_second_static(f32[6])
@compiled
def every_second_static(states):
    left, right = tf.split(states, 2)
    return tf.reduce_sum(states[::2]) + states[-1] + left + right
