"""Reinforcement learning: returns, advantages, rollouts, replay."""

import functools

import tensorflow as tf


# case: discounted(f32[5])
@tf.function(jit_compile=True)
def discounted(rewards):
    returns = tf.TensorArray(tf.float32, size=1, dynamic_size=True)  # hazard: XLA204 diverges
    running = tf.constant(0.0)
    for step in tf.range(5):
        running = rewards[4 - step] + 0.9 * running
        returns = returns.write(step, running)
    return returns.stack()


# case: discounted_scan(f32[5])
@tf.function(jit_compile=True)
def discounted_scan(rewards):
    return tf.scan(lambda running, reward: reward + 0.9 * running, rewards, reverse=True)


# case: rollout(f32[4])
def step_until(state, limit):
    while tf.reduce_max(tf.abs(state)) < limit:  # hazard: XLA102 named
        state = state * 1.3
    return state


@tf.function(jit_compile=True)
def rollout(state):
    return step_until(state, 20.0)


# case: fixed_rollout(f32[4])
def fixed_steps(state, horizon):
    steps = 0
    while steps < horizon:
        state = tf.where(tf.reduce_max(tf.abs(state)) < 20.0, state * 1.3, state)
        steps += 1
    return state


@tf.function(jit_compile=True)
def fixed_rollout(state):
    return fixed_steps(state, 4)


# case: unconverted_rollout(f32[4])
@tf.function(jit_compile=True, autograph=False)
def unconverted_rollout(state):
    while tf.reduce_max(tf.abs(state)) < 20.0:  # hazard: XLA102 fails
        state = state * 1.3
    return state


# case: loop_rollout(f32[4])
@tf.function(jit_compile=True, autograph=False)
def loop_rollout(state):
    return tf.while_loop(
        lambda state: tf.reduce_max(tf.abs(state)) < 20.0,
        lambda state: (state * 1.3,),
        (state,),
        maximum_iterations=30,
    )[0]


# case: policy_gradient(f32[4])
@tf.function(jit_compile=True)
def policy_gradient(state):
    with tf.GradientTape() as tape:
        tape.watch(state)
        final = tf.while_loop(  # hazard: XLA109 fails
            lambda state: tf.reduce_max(tf.abs(state)) < 20.0, lambda state: (state * 1.3,), (state,)
        )[0]
        loss = tf.reduce_sum(final)
    return tape.gradient(loss, state)


# case: bounded_policy_gradient(f32[4])
@tf.function(jit_compile=True)
def bounded_policy_gradient(state):
    with tf.GradientTape() as tape:
        tape.watch(state)
        final = tf.while_loop(
            lambda state: tf.reduce_max(tf.abs(state)) < 20.0,
            lambda state: (state * 1.3,),
            (state,),
            maximum_iterations=10,
        )[0]
        loss = tf.reduce_sum(final)
    return tape.gradient(loss, state)


# case: model_gradient(f32[4])
def simulate(state):
    return tf.while_loop(still_moving, move, [state])[0]  # hazard: XLA109 fails


def still_moving(state):
    return tf.reduce_sum(tf.abs(state)) < 30.0


def move(state):
    return [state * 1.5]


def model_loss(state):
    return tf.reduce_mean(simulate(state))


@tf.function(jit_compile=True)
def model_gradient(state):
    with tf.GradientTape() as tape:
        tape.watch(state)
        loss = model_loss(state)
    return tape.gradient(loss, state)


# case: bounded_model_gradient(f32[4])
def bounded_simulate(state, horizon):
    return tf.while_loop(still_moving, move, [state], maximum_iterations=horizon)[0]


def forward_only(state):
    return tf.while_loop(still_moving, move, [state])[0]


@tf.function(jit_compile=True)
def bounded_model_gradient(state):
    start = tf.stop_gradient(forward_only(state))
    with tf.GradientTape() as tape:
        tape.watch(state)
        loss = tf.reduce_mean(bounded_simulate(state, 8)) + tf.reduce_sum(start * state)
    return tape.gradient(loss, state)


# case: episode_mean(f32[6], bool[6])
class Replay:
    """A plain buffer that keeps tensors in attributes."""

    def __init__(self, rewards, done):
        self.rewards = rewards
        self.done = done

    @property
    def finished(self):
        return self.rewards[self.done]  # hazard: XLA201|XLA206 named


@tf.function(jit_compile=True)
def episode_mean(rewards, done):
    return tf.reduce_mean(Replay(rewards, done).finished)


# case: episode_mean_weighted(f32[6], bool[6])
class WeightedReplay:
    def __init__(self, rewards, done):
        self.rewards = rewards
        self.done = done

    @property
    def weights(self):
        return tf.cast(self.done, tf.float32)

    @property
    def first(self):
        return self.rewards[0]


@tf.function(jit_compile=True)
def episode_mean_weighted(rewards, done):
    replay = WeightedReplay(rewards, done)
    return tf.reduce_sum(replay.rewards * replay.weights) / tf.reduce_sum(replay.weights) + replay.first


# case: epsilon_greedy(f32[4], f32[])
def explore(values, chance):
    if chance > 0.5:  # hazard: XLA101 named
        return tf.reduce_mean(values)
    return tf.reduce_max(values)


@tf.function(jit_compile=True)
def epsilon_greedy(values, chance):
    return explore(values, chance)


# case: fixed_epsilon_greedy(f32[4])
def explore_fixed(values, chance):
    if chance > 0.5:
        return tf.reduce_mean(values)
    return tf.reduce_max(values)


@tf.function(jit_compile=True)
def fixed_epsilon_greedy(values):
    return explore_fixed(values, 0.1)


# case: advantage(f32[6])
@tf.function(jit_compile=True)
def advantage(rewards):
    if tf.reduce_sum(tf.abs(rewards)) > 0:  # hazard: XLA108 fails
        baseline = tf.reduce_mean(rewards)
        rewards = rewards - baseline
    return rewards * baseline


# case: advantage_defined(f32[6])
@tf.function(jit_compile=True)
def advantage_defined(rewards):
    positive = tf.cast(tf.reduce_sum(rewards) > 0, tf.float32)
    baseline = tf.reduce_mean(rewards) * positive
    return (rewards - baseline) * baseline


# case: trace(f32[5])
@tf.function(jit_compile=True)
def trace(rewards):
    history = {}
    total = tf.constant(0.0)
    for step in tf.range(5):
        total += rewards[step]
        history["last"] = total
    return history["last"]


# case: trace_python(f32[5])
@tf.function(jit_compile=True)
def trace_python(rewards):
    history = {}
    total = tf.constant(0.0)
    for step in range(5):
        total += rewards[step]
        history[step] = total
    return history[4]


# case: td_targets(f32[5])
@tf.function(jit_compile=True)
def td_targets(rewards):
    targets = []
    for reward in rewards:  # hazard: XLA103 named
        targets.append(reward * 0.9)  # hazard: XLA107 fails
    return tf.stack(targets)


# case: td_targets_unstacked(f32[5])
@tf.function(jit_compile=True)
def td_targets_unstacked(rewards):
    targets = []
    for reward in tf.unstack(rewards):
        targets.append(reward * 0.9)
    return tf.stack(targets)


# case: prioritised(f32[6], i32[])
def draw(priorities, amount):
    return tf.random.uniform([amount], maxval=1.0) * 0.0 + tf.reduce_sum(priorities)  # hazard: XLA205 recompiles


sample = functools.partial(draw)


@tf.function(jit_compile=True)
def prioritised(priorities, amount):
    return tf.reduce_mean(sample(priorities, amount))


# case: prioritised_fixed(f32[6])
def draw_fixed(priorities, amount):
    return tf.random.uniform([amount], maxval=1.0) * 0.0 + tf.reduce_sum(priorities)


sample_three = functools.partial(draw_fixed, amount=3)


@tf.function(jit_compile=True)
def prioritised_fixed(priorities):
    return tf.reduce_mean(sample_three(priorities))


# case: settle(f32[4, 3])
def improve(values):
    for sweep in range(4):
        values = values * 0.5
        if tf.reduce_max(tf.abs(values)) < 0.1:  # hazard: XLA101 named
            return values  # hazard: XLA110 fails
    return values


@tf.function(jit_compile=True)
def settle(values):
    return improve(values)


# case: settle_all(f32[4, 3])
def improve_all(values, sweeps=4):
    for sweep in range(sweeps):
        values = values * 0.5
        if sweep > 8:
            return values
    return values


@tf.function(jit_compile=True)
def settle_all(values):
    return improve_all(values)


# case: clip_ratio(f32[4], f32[])
@tf.function(jit_compile=True)
def clip_ratio(ratio, limit):
    inside = 0.0 < limit < 1.0  # hazard: XLA104 named
    return ratio * tf.cast(inside, tf.float32)


# case: clip_ratio_logical(f32[4], f32[])
@tf.function(jit_compile=True)
def clip_ratio_logical(ratio, limit):
    inside = (limit > 0.0) & (limit < 1.0)
    assert 0 < ratio.shape[0] < 100
    return ratio * tf.cast(inside, tf.float32)
