"""Samplers and decoders compiled with `tf.function(jit_compile=True)`: AutoGraph converts these."""

import tensorflow as tf

MAX_LENGTH = 6


# case: greedy(f32[3, 4])
@tf.function(jit_compile=True)
def greedy(logits):
    tokens = []
    for step in tf.range(3):
        tokens.append(tf.argmax(logits[step]))  # hazard: XLA107 fails
    return tf.stack(tokens)


# case: unrolled_greedy(f32[3, 4])
@tf.function(jit_compile=True)
def unrolled_greedy(logits):
    tokens = []
    for step in range(logits.shape[0]):
        tokens.append(tf.argmax(logits[step]))
    return tf.stack(tokens)


# case: sample_until_end(f32[4, 5])
@tf.function(jit_compile=True)
def sample_until_end(logits):
    score = tf.zeros([5])
    for step in range(4):
        score += logits[step]
        if tf.reduce_max(score) > 2.0:  # hazard: XLA101 named
            break  # hazard: XLA110 fails
    return score


# case: sample_masked(f32[4, 5])
@tf.function(jit_compile=True)
def sample_masked(logits):
    score = tf.zeros([5])
    for step in range(4):
        going = tf.cast(tf.reduce_max(score) <= 2.0, tf.float32)
        score += logits[step] * going
        if step >= MAX_LENGTH:
            break
    return score


# case: decode(f32[4])
def finished(state):
    return tf.reduce_sum(tf.abs(state)) > 40.0


def advance(state):
    return state * 1.5


def run_decoder(state):
    while not finished(state):  # hazard: XLA102 named
        state = advance(state)
    return state


@tf.function(jit_compile=True)
def decode(state):
    return run_decoder(state)


# case: decode_steps(f32[4])
def run_steps(state, steps):
    count = 0
    while count < steps:
        state = advance(state)
        count += 1
    return state


@tf.function(jit_compile=True)
def decode_steps(state):
    return run_steps(state, 3)


# case: top_p(f32[5])
def nucleus(probabilities, p):
    ordered = tf.sort(probabilities, direction="DESCENDING")
    inside = tf.cumsum(ordered) < p
    return ordered[inside]  # hazard: XLA201 diverges


@tf.function(jit_compile=True)
def top_p(logits):
    chosen = nucleus(tf.nn.softmax(logits), 0.9)
    return chosen[-1]


# case: masked_top_p(f32[5])
def masked_nucleus(probabilities, p):
    ordered = tf.sort(probabilities, direction="DESCENDING")
    inside = tf.cumsum(ordered) < p
    return tf.where(inside, ordered, 0.0)


@tf.function(jit_compile=True)
def masked_top_p(logits):
    chosen = masked_nucleus(tf.nn.softmax(logits), 0.9)
    return chosen[-1] + chosen[0]


# case: beam_step(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def beam_step(scores, beams):
    best, _ = tf.math.top_k(tf.reshape(scores, [-1]), beams)  # hazard: XLA205 recompiles
    return tf.reduce_sum(best)


# case: fixed_beam_step(f32[4, 3])
def flat_beams(scores, beams):
    best, where = tf.math.top_k(tf.reshape(scores, [-1]), beams)
    return best, where // scores.shape[1]


@tf.function(jit_compile=True)
def fixed_beam_step(scores):
    best, parents = flat_beams(scores, beams=2)
    return tf.gather(scores, parents) + best[:, None]


# case: last_token(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def last_token(states, length):
    return states[length - 1]  # hazard: XLA206 recompiles


# case: last_token_gathered(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def last_token_gathered(states, length):
    return tf.gather(states, length - 1)


# case: prefix(f32[4, 3], i32[])
def truncate(states, length):
    return states[:length]  # hazard: XLA205 recompiles


@tf.function(jit_compile=True)
def prefix(states, length):
    return tf.reduce_sum(truncate(states, length))


# case: static_prefix(f32[4, 3])
def static_truncate(states, length):
    return states[:length]


@tf.function(jit_compile=True)
def static_prefix(states):
    half = tf.shape(states)[0] // 2
    return tf.reduce_sum(static_truncate(states, half)) + tf.reduce_sum(static_truncate(states, 3))


# case: collect(f32[4, 3])
@tf.function(jit_compile=True)
def collect(logits):
    tokens = tf.TensorArray(tf.float32, size=0, dynamic_size=True)  # hazard: XLA204 diverges
    for step in tf.range(4):
        tokens = tokens.write(step, tf.reduce_max(logits[step]))
    return tokens.stack()


# case: collect_static(f32[4, 3])
@tf.function(jit_compile=True)
def collect_static(logits):
    tokens = tf.TensorArray(tf.float32, size=4)
    for step in tf.range(4):
        tokens = tokens.write(step, tf.reduce_max(logits[step]))
    return tokens.stack()


# case: first_end(i32[6])
@tf.function(jit_compile=True)
def first_end(tokens):
    ends = tf.where(tokens == 1)  # hazard: XLA203 named
    return tf.reduce_min(ends)


# case: first_end_static(i32[6])
@tf.function(jit_compile=True)
def first_end_static(tokens):
    places = tf.range(tokens.shape[0])
    return tf.reduce_min(tf.where(tokens == 1, places, tokens.shape[0]))


# case: repetition(i32[6])
@tf.function(jit_compile=True)
def repetition(tokens):
    seen, _ = tf.unique(tokens)  # hazard: XLA202 named
    return tf.reduce_max(seen)


# case: repetition_static(i32[6])
@tf.function(jit_compile=True)
def repetition_static(tokens):
    ordered = tf.sort(tokens)
    new = tf.concat([[True], ordered[1:] != ordered[:-1]], axis=0)
    return tf.reduce_sum(tf.cast(new, tf.int32))


# case: speculative(f32[4, 3])
def accepted(state):
    return bool(tf.reduce_any(state > 0))  # hazard: XLA106 fails


@tf.function(jit_compile=True)
def speculative(state):
    return state * 2.0 if accepted(state) else state


# case: speculative_cast(f32[4, 3])
def accepted_tensor(state):
    return tf.cast(tf.reduce_any(state > 0), tf.bool)


@tf.function(jit_compile=True)
def speculative_cast(state):
    return tf.where(accepted_tensor(state), state * 2.0, state)


# case: temperature(f32[4], f32[])
@tf.function(jit_compile=True)
def temperature(logits, heat):
    scale = max(heat, 0.1)  # hazard: XLA104 fails
    return logits / scale


# case: fixed_temperature(f32[4], f32[])
@tf.function(jit_compile=True)
def fixed_temperature(logits, heat):
    floor = max(0.1, 1.0 / logits.shape[0])
    return logits / tf.maximum(heat, floor)


# case: length_penalty(f32[4], i32[])
@tf.function(jit_compile=True)
def length_penalty(scores, length):
    result = scores
    for _ in range(length):  # hazard: XLA103 recompiles
        result = result * 0.9
    return result


# case: length_penalty_power(f32[4], i32[])
@tf.function(jit_compile=True)
def length_penalty_power(scores, length):
    return scores * tf.pow(0.9, tf.cast(length, tf.float32))


# case: choose_cache(f32[4], i32[])
@tf.function(jit_compile=True)
def choose_cache(states, layer):
    caches = [states, states * 2.0, states * 3.0, states * 4.0]
    return caches[layer]  # hazard: XLA106 fails


# case: stack_cache(f32[4], i32[])
@tf.function(jit_compile=True)
def stack_cache(states, layer):
    caches = [states, states * 2.0, states * 3.0, states * 4.0]
    return tf.gather(tf.stack(caches), layer) + caches[len(caches) - 1]
