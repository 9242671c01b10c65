"""Functions and models that code is given to call are made up, of what is known of what they give; and the arrays that
such code writes are told where they are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.findings.findings import Effect, Finding, Severity, Span
from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import DIVERGES, RECOMPILES, WITHOUT_ARRAYS, Outcome, Plan
from xlalint.probe.refutation import why_open
from xlalint.probe.statements import Statements
from xlalint.probe.targets import Targets

pytestmark = pytest.mark.compiler

_PROGRAM = """\
import enum
import typing
from collections.abc import Callable

import keras
import tensorflow as tf

def episode(step: Callable[[tf.Tensor], list[tf.Tensor]], state: tf.Tensor, model: keras.Model, most: int):
    rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    states = tf.TensorArray(tf.float32, size=most)
    state, shape = tf.stop_gradient(state), state.shape  # XLA aborts over the gradient of this loop
    for t in tf.range(most):
        logits, value = model(tf.expand_dims(state, 0))
        action = tf.argmax(tf.nn.log_softmax(tf.ensure_shape(logits, [1, None])), -1)[0]
        values = values.write(t, tf.squeeze(value))
        state, reward, done = step(action)
        state.set_shape(shape)
        states = states.write(t, state)
        rewards = rewards.write(t, tf.reshape(reward, []))
        if tf.cast(done, tf.bool):
            break
    return rewards.stack(), values.stack()

def sized(x, length: Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]):
    first, second = length(x)
    return tf.range(tf.cast(tf.reduce_sum(first) > 7.0, tf.int32) + 3), second

def through(x, layer: keras.layers.Layer):
    return layer(x) * 2.0 + tf.cast(len(layer.trainable_variables), x.dtype)

class Kind(enum.Enum):
    PLAIN = 1
    DEEP = 2

class Net:
    def __init__(self, kind):
        if kind == Kind.PLAIN:
            self.scale = 2.0
        elif kind == Kind.DEEP:
            self.scale = 3.0

    def scaled(self, x):
        return tf.reshape(x, [-1]) * self.scale

class Sample(typing.NamedTuple):
    features: tf.Tensor
    lengths: tf.Tensor
    words: tf.Tensor
    counts: tf.Tensor

def kept(x):
    steps = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    return {"x": x * 2.0, "steps": steps.write(0, x)}

def recognized(sample: Sample, encoder: keras.layers.Layer):
    features, lengths = encoder.recognize(sample.features + sample.words, sample.lengths + sample.counts)
    return tf.reduce_sum(features) + tf.reduce_sum(lengths)

def penalized(critic, optimizer, x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score, label = critic(x, training=True)
        slopes = tf.norm(inner.gradient(score, x), axis=1)
        loss = tf.reduce_mean(slopes**2) + tf.reduce_mean(label)
    kept = slopes[slopes > 0.0]
    gradients = outer.gradient(loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
    return kept

class Stored(tf.Module):
    def __init__(self, sizes=None, keeps=True):
        '''A model that is kept on disk at once.

        Args:
            sizes : list of int
                how wide it is
        '''
        super().__init__()
        self.scale = tf.Variable(tf.ones([len(sizes), sizes[0] // 2]))
        if keeps:
            raise OSError("this disk is full")

    def few(self, x):
        return tf.reduce_sum(self.scale) * x[x > 0.0]
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(_PROGRAM)
    return tmp_path / "program.py"


def _seen(worker: Worker, file: Path, name: str) -> Outcome:
    outcome = worker.ask(Targets().at(file, name), Plan(), Limits())
    assert outcome.not_run is None, outcome
    return outcome


def test_a_step_and_a_model_of_several_outputs(worker: Worker, program: Path) -> None:
    outcome = _seen(worker, program, "episode")
    [first] = [one for one in outcome.observations if one.kind == DIVERGES]
    assert first.ops == ("TensorListStack",)
    assert sorted(one.line for one in first.sources) == [9, 10]  # and not the array that is large enough


def test_what_a_function_gives_depends_on_what_it_gets(worker: Worker, program: Path) -> None:
    outcome = _seen(worker, program, "sized")
    assert "length: Giving(result=(f32[" in outcome.how
    assert [one.spots[0].line for one in outcome.observations if one.kind == RECOMPILES and one.per == "value"] == [27]


def test_any_layer_is_one_that_can_be_called(worker: Worker, program: Path) -> None:
    assert "layer: keras.layers.Dense(4)" in _seen(worker, program, "through").how


def test_a_member_of_an_enumeration_that_code_tells_apart(worker: Worker, program: Path) -> None:
    assert _seen(worker, program, "Net.scaled").how.startswith("Net(kind: Kind.PLAIN).scaled with x: f32[")


def test_a_tuple_with_names_and_an_object_of_the_project_that_has_more_than_a_layer(
    worker: Worker, program: Path
) -> None:
    found = _seen(worker, program, "recognized")
    assert found.inputs[0].startswith("sample: Sample(features=f32[4, 4], lengths=f32[4, 4], words=f32[4, 4], counts=")
    assert found.inputs[1].startswith("encoder: Settings(recognize=Giving(result=(f32[4, 4], f32[4, 4])))")


def test_a_critic_has_gradients_and_an_optimizer_of_its_weights(worker: Worker, program: Path) -> None:
    outcome = _seen(worker, program, "penalized")
    assert outcome.inputs[0].startswith("critic: a model that gives 2 of ")
    assert outcome.inputs[1] == "optimizer: keras.optimizers.SGD()"


def test_sizes_that_a_constructor_describes_and_a_switch_of_it(worker: Worker, program: Path) -> None:
    assert _seen(worker, program, "Stored.few").how.startswith("Stored(sizes: [4, 4], keeps: False).few with x: f32[")


def test_an_array_of_tensors_is_left_out_of_what_is_given(worker: Worker, program: Path) -> None:
    outcome = _seen(worker, program, "kept")
    assert {one.per for one in outcome.observations} == {"shape"}
    assert WITHOUT_ARRAYS in outcome.notes
    place = Span(53, 13, 53, 62)
    finding = Finding(str(program), place, "XLA204", "dynamic-tensor-array", Severity.ERROR, Effect.DIVERGES, "m")
    assert why_open(finding, outcome, Statements()) == WITHOUT_ARRAYS
