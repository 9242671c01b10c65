"""Where selected rows go: through helpers and methods, to where they are reduced or put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.fix_runs import fix
from xlalint.settings.config import Settings

HEAD = "import tensorflow as tf\n\nK = tf.keras.backend\n\n"


def fixed(tmp_path: Path, code: str) -> str:
    path = tmp_path / "m.py"
    path.write_text(HEAD + code, encoding="utf-8")
    outcome = fix([path], Settings(unsafe_fixes=True))
    assert outcome.report.problems == ()
    return next((change.after.decode().removeprefix(HEAD) for change in outcome.changes), code)


HELPER = """\
def overlap(one, other):
    top = tf.maximum(one[:, :2], other[:, :2])
    return tf.reduce_sum(top, axis=1)

@tf.function(jit_compile=True)
def f(y_true, y_pred):
    places = tf.where(y_true[:, :, 4] > 0.0)
    true, found = tf.gather_nd(y_true, places), tf.gather_nd(y_pred, places)
    number = tf.cast(tf.maximum(tf.shape(places)[0], 1), tf.float32)
    return tf.reduce_sum(overlap(true, found)) / number
"""


def test_rows_keep_their_places_through_a_helper_that_treats_each_by_itself(tmp_path: Path) -> None:
    code = fixed(tmp_path, HELPER)
    assert "    top = tf.maximum(one[:, :, :2], other[:, :, :2])\n    return tf.reduce_sum(top, axis=2)\n" in code
    assert "    places = y_true[:, :, 4] > 0.0\n    true, found = y_true, y_pred\n" in code
    assert "tf.maximum(tf.math.count_nonzero(places, dtype=tf.int32), 1)" in code
    assert "tf.where(places" in code


METHOD = """\
class Loss(tf.keras.losses.Loss):
    def distances(self, one, other):
        return tf.reduce_mean(tf.abs(one - other))

    def call(self, y_true, y_pred):
        mask = y_true[:, 0] > 0.0
        true, found = tf.boolean_mask(y_true, mask), tf.boolean_mask(y_pred, mask)
        return self.distances(true, found)
"""


def test_a_method_that_reduces_gets_the_mask(tmp_path: Path) -> None:
    code = fixed(tmp_path, METHOD)
    assert "def distances(self, one, other, mask=None):" in code
    assert "return self.distances(true, found, mask=mask)" in code


def test_a_function_that_others_call_with_something_else_stays(tmp_path: Path) -> None:
    code = METHOD + "\n    def plain(self, x):\n        return self.distances(x, x)\n"
    assert fixed(tmp_path, code) == code


SCATTERED = """\
@tf.function(jit_compile=True)
def f(x, y):
    places = tf.where(y > 0)
    rows = tf.gather_nd(x, places)
    rows = tf.sqrt(tf.abs(rows)) + 1.0
    return tf.tensor_scatter_nd_update(x, places, rows)
"""


def test_rows_that_are_put_back_are_chosen_by_the_mask(tmp_path: Path) -> None:
    code = fixed(tmp_path, SCATTERED)
    assert "places = y > 0" in code
    assert "return tf.where(places" in code
    assert "tf.argmax(" in code  # the root of what is left out gets the gradient of a row that is not


@pytest.mark.parametrize(
    "line",
    [
        "rows",
        "tf.cumsum(rows)",
        "tf.sort(rows)",
        "tf.matmul(rows, rows, transpose_a=True)",
        "tf.reduce_sum(rows) + tf.reduce_sum(unknown(rows))",
        "tf.reduce_sum(rows[::2])",
        "tf.zeros([tf.shape(rows)[0]])",
    ],
)
def test_what_needs_to_know_how_many_rows_there_are_stays(tmp_path: Path, line: str) -> None:
    code = f"""\
@tf.function(jit_compile=True)
def f(x, y, unknown):
    places = tf.where(y > 0)
    rows = tf.gather_nd(x, places)
    return {line}
"""
    assert fixed(tmp_path, code) == code


def test_a_mask_that_is_another_by_then_selects_nothing_anew(tmp_path: Path) -> None:
    code = """\
@tf.function(jit_compile=True)
def f(x, y):
    mask = y > 0
    rows = tf.boolean_mask(tf.abs(x), mask)
    mask = y > 1
    return tf.reduce_sum(tf.sqrt(rows) * 2.0), mask
"""
    assert fixed(tmp_path, code) == code


GUARDED = """\
@tf.function(jit_compile=True)
def f(target, logits):
    places = tf.where(K.not_equal(target, 0))
    loss = K.sparse_categorical_crossentropy(tf.gather_nd(target, places), tf.gather_nd(logits, places), True)
    return K.switch(tf.size(loss) > 0, K.mean(loss), tf.constant(0.0))
"""


def test_what_is_asked_of_the_number_of_rows_is_asked_of_the_mask(tmp_path: Path) -> None:
    code = fixed(tmp_path, GUARDED)
    assert "K.switch(tf.math.count_nonzero(places, dtype=tf.int32) > 0, tf.reduce_sum(tf.where(places" in code


def test_a_mask_within_a_mask_is_both(tmp_path: Path) -> None:
    code = """\
@tf.function(jit_compile=True)
def f(x, y):
    rows, more = tf.boolean_mask(x, y > 0), tf.boolean_mask(y, y > 0)
    inner = tf.boolean_mask(rows, more > 2)
    return tf.reduce_sum(tf.exp(inner))
"""
    assert "tf.logical_and(mask, more > 2)" in fixed(tmp_path, code)


PARTITIONED = """\
class Experts:
    def parts(self, x):
        return tf.dynamic_partition(x, self.owners, 2)

    def whole(self, parts):
        places = tf.dynamic_partition(tf.range(6), self.owners, 2)
        return tf.dynamic_stitch(places, parts)

experts = Experts()

@tf.function(jit_compile=True)
def f(x, owners):
    experts.owners = owners
    first, second = experts.parts(x)
    return experts.whole([tf.sin(first), tf.square(second)])
"""


def test_parts_that_another_method_stitches_are_chosen_by_their_owners(tmp_path: Path) -> None:
    code = fixed(tmp_path, PARTITIONED)
    assert "return [x] * 2" in code
    assert "return tf.gather(tf.stack(parts, 1), self.owners, batch_dims=1)" in code


def test_a_loop_that_a_tensor_ends_is_one_of_tensors(tmp_path: Path) -> None:
    code = """\
@tf.function(jit_compile=True)
def f(x):
    for {counter} in range(4):
        x = x * {factor}
        if tf.reduce_sum(x) > 9.0:
            break
    return x
"""
    plain = code.format(counter="_", factor="2.0")
    assert fixed(tmp_path, plain) == plain.replace("in range", "in tf.range")
    used = code.format(counter="i", factor="float(i)")
    assert fixed(tmp_path, used) == used


def test_loss_objects_leave_out_by_weights_what_is_not_selected(tmp_path: Path) -> None:
    code = """\
class Losses:
    def __init__(self):
        self.boxes = tf.keras.losses.Huber(reduction="sum")

    def total(self, true, found, classes):
        kept = classes > 0
        return self.boxes(tf.boolean_mask(true, kept), tf.boolean_mask(found, kept))
"""
    after = fixed(tmp_path, code)
    assert "return self.boxes(true, found, sample_weight=tf.cast(kept, tf.float32))" in after


CUT = """\
@tf.function(jit_compile=True)
def f(x: tf.Tensor, y: tf.Tensor, n):
    one, other = x[:n], y[:n]
    return tf.reduce_max(one / other, axis=0)
"""


def test_what_is_cut_alike_keeps_all_rows_up_to_the_reduction(tmp_path: Path) -> None:
    code = fixed(tmp_path, CUT)
    assert "    valid = tf.range(tf.shape(x)[0]) < tf.cast(n, tf.int32)\n" in code
    assert "tf.where(valid_2[(..., *[None] * (len(y.shape) - 1))], y, tf.stop_gradient(" in code  # divided by
    assert "tf.reduce_max(tf.where(valid[" in code


PADDED = """\
@tf.function(jit_compile=True)
def f(x: tf.Tensor, keep):
    rows = tf.boolean_mask(x, keep > 0)
    missing = tf.maximum(8 - tf.shape(rows)[0], 0)
    return tf.pad(rows * 2.0, [[0, missing], [0, 0]])
"""


def test_rows_that_are_padded_to_a_number_come_first(tmp_path: Path) -> None:
    code = fixed(tmp_path, PADDED)
    assert 'tf.argsort(tf.cast(mask, tf.int32), direction="DESCENDING", stable=True))[:8], ' in code
    assert "[[0, tf.maximum(8 - tf.shape(values)[0], 0)], [0, 0]])" in code
    assert fixed(tmp_path, PADDED.replace("missing], [0", "missing + 1], [0")).count("boolean_mask") == 1


NESTED = """\
class Loss(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        def error(pair):
            true, found = pair
            mask = true != 0.0
            true = tf.boolean_mask(true, mask)
            found = tf.boolean_mask(found, mask)
            return tf.reduce_mean(tf.math.log(true) - tf.math.log(found))

        return tf.map_fn(error, (y_true, y_pred), fn_output_signature=tf.float32)
"""


def test_no_weight_of_zero_leaves_out_what_may_be_infinite(tmp_path: Path) -> None:
    code = fixed(tmp_path, NESTED)
    assert "weights" not in code
    assert "true = tf.where(mask" in code
    assert "found = tf.where(mask" in code


PACKED = """\
def packed(x, counts, rows):
    parts = []
    for row in range(rows):
        parts.append(x[row, : counts[row]])
    return tf.concat(parts, axis=0)

@tf.function(jit_compile=True)
def f(targets, match, boxes):
    places = tf.where(match == 1)
    found = tf.gather_nd(boxes, places)
    counts = tf.reduce_sum(tf.cast(match == 1, tf.int32), axis=1)
    return tf.reduce_sum(tf.abs(packed(targets, counts, 2) - found))
"""


def test_rows_that_meet_what_is_packed_to_their_number_stay(tmp_path: Path) -> None:
    assert fixed(tmp_path, PACKED) == PACKED
