"""What eager code makes of a batch before a compiled step: it has fewer rows where the last batch has (XLA302)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

KEPT = (
    "tf.image.resize(x, (8, 8))",
    "tf.image.resize_with_pad(x, 32, 32)",
    "tf.image.central_crop(x, 0.5)",
    "tf.image.sobel_edges(x)",
    "tf.image.ssim(x, x, 1.0)",
    "x[:, 1:]",
    "x[..., :2]",
    "x[:, :, ::-1]",
    "x[:, 0]",
    "x[..., tf.newaxis]",
    "tf.pad(x, [[0, 0], [1, 1], [0, 0], [0, 0]])",
    "tf.concat([x, x], -1)",
    "tf.concat([x, -x], 0)",
    "tf.tile(x, [1, 1, 1, 3])",
    "tf.repeat(x, 3, axis=1)",
    "tf.gather(x, [0, 1], axis=1)",
    "tf.gather(tf.ones([10, 4]), tf.cast(x[:, 0, 0, 0], tf.int32))",
    "tf.squeeze(x[..., :1], -1)",
    "tf.reduce_mean(x, axis=[1, 2])",
    "tf.reduce_max(x, axis=-1, keepdims=True)",
    "tf.argmax(x, axis=-1)",
    "tf.norm(x, axis=1)",
    "tf.stack([x, x], axis=1)",
    "tf.stack([x[i] * 2.0 for i in range(x.shape[0])])",
    "tf.map_fn(lambda row: row * 2.0, x)",
    "tf.vectorized_map(lambda row: row * 2.0, x)",
    "tf.einsum('bhwc,cd->bhwd', x, tf.ones([3, 5]))",
    "tf.tensordot(x, tf.ones([3, 3]), 1)",
    "tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), 1, 'SAME')",
    "tf.nn.max_pool2d(x, 2, 2, 'SAME')",
    "tf.keras.layers.Flatten()(x)",
    "tf.random.normal([tf.shape(x)[0], 3])",
    "tf.random.normal(tf.shape(x))",
    "tf.zeros((x.shape[0], 3))",
    "tf.slice(x, [0, 0, 0, 0], [-1, 8, 8, 3])",
    "tf.ensure_shape(x, [None, 16, 16, 3])",
    "x.numpy()",
    "x.numpy()[..., :2]",
    "x.numpy().reshape(-1, 768)",
    "np.concatenate([x, x], axis=-1)",
    "np.mean(x, axis=1)",
    "keras.ops.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))",
    "x > 0",
    "tf.where(x[:, 0] > 0, 1.0, 0.0)",
    "keras.Sequential([keras.layers.Flatten()])(x)",
    "keras.applications.resnet50.preprocess_input(x)",
    "keras.utils.to_categorical(tf.cast(x[:, 0, 0, 0], tf.int32), 4)",
    "tf.zeros([int(tf.shape(x)[0]), 3])",
    "tf.zeros([tf.shape(x)[0].numpy(), 3])",
)
LEFT = (
    "x[0]",
    "x[:4]",
    "x[0, ..., :2]",
    "tf.reduce_mean(x)",
    "tf.reduce_sum(x, axis=0)",
    "tf.reduce_max(x, axis=0, keepdims=True)",
    "tf.argmax(x)",
    "tf.gather(x, [0, 1])",
    "tf.image.resize(x[0], (8, 8))",
    "tf.einsum('bhwc->hwc', x)",
    "tf.tensordot(x, x, [[0, 1, 2], [0, 1, 2]])",
    "tf.matmul(x[:, 0, 0], x[:, 0, 0], transpose_a=True)",
    "tf.slice(x, [0, 0, 0, 0], [4, 8, 8, 3])",
    "tf.pad(x, [[0, 32 - tf.shape(x)[0]], [0, 0], [0, 0], [0, 0]])",
    "tf.concat([x, tf.zeros([32 - tf.shape(x)[0], 16, 16, 3])], 0)",
    "np.concatenate([x.numpy(), np.zeros((32 - len(x), 16, 16, 3), 'float32')])",
    "tf.zeros((x.shape[1], 3))",
    "tf.zeros(x.shape[1:3])",
    "tf.random.normal([tf.shape(x)[-1], 3])",
    "tf.zeros([tf.shape(x)[1], 3])",
    "tf.shape(x)",
    "tf.cast(tf.shape(x)[0], tf.float32)",
    "tf.stack([x[i] for i in range(4)])",
    "np.mean(x, axis=0)",
    "tf.reduce_any(x > 0)",
    "tf.zeros([int(tf.shape(x)[1]), 3])",
    "int(tf.shape(x)[1])",
)
IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n"
LOOP = """
@tf.function(jit_compile=True)
def step{number}(rows):
    return tf.reduce_sum(tf.cast(rows, tf.float32))

for x in tf.data.Dataset.from_tensor_slices(tf.ones([70, 16, 16, 3])).batch(32):
    step{number}({text})
"""


def told(folder: Path, texts: Sequence[str]) -> set[str]:
    """For which of the texts, each in a loop of its own, it is said that the last batch is smaller."""
    loops = [LOOP.format(number=number, text=text) for number, text in enumerate(texts)]
    (folder / "train.py").write_text(IMPORTS + "".join(loops), encoding="utf-8")
    lines = {one.span.line for one in check([folder], Settings()).findings if one.code == "XLA302"}
    first, length = IMPORTS.count("\n") + 6, LOOP.count("\n")
    return {text for number, text in enumerate(texts) if first + number * length in lines}


def test_a_result_with_the_rows_of_the_batch_is_told_of(tmp_path: Path) -> None:
    assert {*KEPT} - told(tmp_path, KEPT) == set()


def test_a_result_of_another_size_is_not(tmp_path: Path) -> None:
    assert told(tmp_path, LEFT) == set()


def test_unpacked_sizes_are_told_apart(tmp_path: Path) -> None:
    text = LOOP.format(number=0, text="tf.zeros([{size}, 3])").replace(
        "    step0", "    n, h, w, c = x.shape\n    step0"
    )
    for size, number in {"n": 1, "h": 0}.items():
        (tmp_path / "train.py").write_text(IMPORTS + text.replace("{size}", size), encoding="utf-8")
        assert sum(one.code == "XLA302" for one in check([tmp_path], Settings()).findings) == number


def test_batches_that_are_arrays_are_told_of(tmp_path: Path) -> None:
    rows = "tf.data.Dataset.from_tensor_slices((tf.ones([70, 3]), tf.ones([70, 1]))).batch(32)"
    for arrays in (f"{rows}.as_numpy_iterator()", f"tfds.as_numpy({rows})"):
        text = LOOP.partition("for ")[0].format(number=0) + f"for x, y in {arrays}:\n    step0(SELECTED)\n"
        for selected, number in {"x": 1, "np.pad(x, ((0, 0), (1, 1)))": 1, "y[:, 0]": 1, "x.mean(0)": 0}.items():
            text_of = "import tensorflow_datasets as tfds\n" + IMPORTS + text.replace("SELECTED", selected)
            (tmp_path / "train.py").write_text(text_of, encoding="utf-8")
            assert sum(one.code == "XLA302" for one in check([tmp_path], Settings()).findings) == number, selected


@pytest.mark.compiler
@pytest.mark.parametrize("text", [*KEPT, *LEFT])
def test_the_rows_are_those_of_the_batch(text: str) -> None:
    import keras  # type: ignore[import-untyped]
    import numpy as np
    import tensorflow as tf  # type: ignore[import-untyped]

    def of(rows: int) -> tuple[int, ...]:
        names = {"tf": tf, "np": np, "keras": keras, "x": tf.ones([rows, 16, 16, 3])}
        return tuple(np.shape(eval(text, names)))

    assert (of(32) != of(6)) is (text in KEPT)
