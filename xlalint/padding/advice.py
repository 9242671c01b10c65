"""A plan as code to paste, for Hugging Face tokenizers and for `tf.data`. The tests run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .plans import Plan, Way

_TOKENIZER: Final = {
    Way.NONE: "batch = tokenizer(text)  # one sequence, or several of one length\n",
    Way.MULTIPLES: "batch = tokenizer(texts, padding=True, pad_to_multiple_of={count})\n",
    Way.MAXIMUM: 'batch = tokenizer(texts, padding="max_length", max_length={longest}, truncation=True)\n',
    Way.BUCKETS: """\
SIZES = {sizes}
batch = tokenizer(texts)
longest = max(map(len, batch["input_ids"]))
size = next(size for size in SIZES if size >= longest)
batch = tokenizer.pad(batch, padding="max_length", max_length=size)
""",
}
_DATASET: Final = """\
SIZES = {sizes}
dataset = dataset.bucket_by_sequence_length(
    lambda tokens: tf.shape(tokens)[0],
    bucket_boundaries=[size + 1 for size in SIZES],
    bucket_batch_sizes=[BATCH_SIZE] * (len(SIZES) + 1),
    pad_to_bucket_boundary=True,
    drop_remainder=True,
)
"""
_PAIRS: Final = """\
SIZES = (
    {sizes},
    {others},
)

def bucket(source, target):
    first, second = (tf.searchsorted(sizes, tf.shape(x)[:1])[0] for sizes, x in zip(SIZES, (source, target)))
    return tf.cast(first * len(SIZES[1]) + second, tf.int64)

def padded(key, pairs):
    places = key // len(SIZES[1]), key % len(SIZES[1])
    shapes = tuple(tf.gather(tf.constant(sizes, tf.int64), [place]) for sizes, place in zip(SIZES, places))
    return pairs.padded_batch(BATCH_SIZE, shapes, drop_remainder=True)

dataset = dataset.group_by_window(bucket, padded, window_size=BATCH_SIZE)
"""


def code_of(plan: Plan) -> dict[str, str]:
    """What to write so that batches are padded as planned: for whom -> code."""
    written = [_written(plan, column) for column in plan.sizes]
    if len(written) > 1:
        return {"tf.data": _PAIRS.format(sizes=written[0], others=written[1])}
    tokenizer = _TOKENIZER[plan.way].format(sizes=written[0], count=plan.count, longest=plan.sizes[0][-1])
    return {"tokenizer": tokenizer, "tf.data": _DATASET.format(sizes=written[0])}


def _written(plan: Plan, sizes: Sequence[int]) -> str:
    if plan.way is Way.MULTIPLES and len(sizes) > 1:
        return f"list(range({plan.count}, {sizes[-1] + 1}, {plan.count}))"
    return str(list(sizes))
