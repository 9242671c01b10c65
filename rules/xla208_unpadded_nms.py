"""Non-maximum suppression without padding returns a number of boxes that depends on data.

## What it does
Reports `tf.image.non_max_suppression`, `tf.image.non_max_suppression_padded` without `pad_to_max_output_size=True`, and
the variants that XLA cannot compile.

## What XLA does
Measured with TensorFlow 2.21 on a CPU.

- `tf.image.non_max_suppression` compiles with a bounded dynamic shape. `tf.gather(boxes, selected)` and reductions are
  right; `tf.cumsum(selected)` is wrong.
- `non_max_suppression_padded` without padding recompiles for every new number of boxes. Under a TPU strategy, which
  compiles by shapes alone, the TPU compiler (2.20) compiles it once, with a bounded dynamic shape.
- With `pad_to_max_output_size=True` it compiles once.
- `non_max_suppression_with_scores`, `non_max_suppression_overlaps` and `combined_non_max_suppression` have no XLA
  kernel.

## Example
    selected = tf.image.non_max_suppression(boxes, scores, 100, iou_threshold=0.5)
    boxes = tf.gather(boxes, selected)

## Use instead
    selected, number = tf.image.non_max_suppression_padded(
        boxes, scores, 100, iou_threshold=0.5, pad_to_max_output_size=True
    )
    boxes = tf.gather(boxes, selected)
    valid = tf.range(100) < number

## Not flagged
The padded form with padding, and functions that `tf.data` maps.

## Fix safety
Shown only, with a mask of the valid boxes if the indices have a name: later code must apply the mask. The padding
repeats index 0.

## References
- https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression_padded
- https://github.com/tensorflow/tensorflow/issues/42879
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.values import Static
from xlalint.analysis.interpreter.events import ApiCall, Consume, Event
from xlalint.fixes.quoted import brief
from xlalint.fixes.suppression import marks, padded, padded_call
from xlalint.linter.rule import (
    Bad,
    Compiles,
    Diverges,
    Draft,
    Effect,
    Fails,
    Good,
    Recompiles,
    Rule,
    Safety,
    TpuOutcome,
)

from ._bounded import NAMED, BoundedShapes, made_by

PADDED = "tf.image.non_max_suppression_padded"
NO_KERNEL = frozenset(
    (
        "tf.image.combined_non_max_suppression",
        "tf.image.non_max_suppression_overlaps",
        "tf.image.non_max_suppression_with_scores",
    )
)
BOXES = ("f32[6, 4]", "f32[6]")


class UnpaddedNms(Rule):
    code = "XLA208"
    name = "unpadded-nms"
    lacks_kernel = True
    handles = (ApiCall, Consume)
    apis = NO_KERNEL | {"tf.image.non_max_suppression", PADDED}
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(boxes, scores):
    selected = tf.image.non_max_suppression(boxes, scores, 3, iou_threshold=0.5)
    return tf.gather(boxes, selected)
""",
            ["tf.image.non_max_suppression(boxes, scores, 3, iou_threshold=0.5)"],
            Compiles(bounded=True),
            inputs=BOXES,
            effect=Effect.NAMED,
            help="non_max_suppression_padded(boxes, scores, 3, iou_threshold=0.5, pad_to_max_output_size=True)",
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
from tensorflow.image import non_max_suppression as nms

def ranks(boxes, scores):
    return tf.cumsum(nms(boxes, scores, 3))

class L(tf.keras.layers.Layer):
    def call(self, boxes, scores):
        return ranks(boxes, scores)
""",
            ["nms(boxes, scores, 3)"],
            Diverges(),
            inputs=BOXES,
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(boxes, scores):
    corners = tf.concat([boxes[:, :2], boxes[:, :2] + tf.abs(boxes[:, 2:]) + 0.5], 1)
    selected, number = tf.image.non_max_suppression_padded(corners, scores, 3)
    return selected
""",
            ["tf.image.non_max_suppression_padded(corners, scores, 3)"],
            Recompiles(),
            inputs=BOXES,
            effect=Effect.RECOMPILES,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.limit = 3

    def call(self, boxes, scores):
        return tf.image.non_max_suppression_with_scores(boxes, scores, self.limit, soft_nms_sigma=0.5)[0]
""",
            ["tf.image.non_max_suppression_with_scores(boxes, scores, self.limit, soft_nms_sigma=0.5)"],
            Fails("NonMaxSuppressionV5"),
            inputs=BOXES,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(boxes, scores):
    def detect():
        return tf.image.combined_non_max_suppression(boxes[None, :, None], scores[None, :, None], 3, 3)

    return detect()[0]
""",
            ["tf.image.combined_non_max_suppression(boxes[None, :, None], scores[None, :, None], 3, 3)"],
            Fails("CombinedNonMaxSuppression"),
            inputs=BOXES,
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(boxes, scores):
    selected, number = tf.image.non_max_suppression_padded(boxes, scores, 3, pad_to_max_output_size=True)
    return tf.where(tf.range(3) < number, selected, -1)
""",
            inputs=BOXES,
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(boxes, scores):
    return tf.gather(boxes, tf.math.top_k(scores, 3).indices)
""",
            inputs=BOXES,
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.math.top_k(x, 2).values\n"),
        Good(
            """
def detect(boxes, scores):
    return tf.image.non_max_suppression(boxes, scores, 3)

dataset = tf.data.Dataset.from_tensors((tf.ones([6, 4]), tf.ones([6]))).map(detect)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
def non_max_suppression(scores, limit):
    return tf.where(scores < limit, 0.0, scores)

@tf.function(jit_compile=True)
def f(x):
    return non_max_suppression(x, 0.5)
""",
        ),
    )

    def __init__(self) -> None:
        self._shapes = BoundedShapes()

    def check(self, event: Event) -> Iterator[Draft]:
        code = brief(event.location.node)
        match event:
            case Consume():
                yield from self._shapes.consumed(event)
            case ApiCall(api=api) if api in NO_KERNEL:
                yield Draft(f"`{code}` has no XLA kernel", Effect.FAILS, _padded(event))
            case ApiCall(api=api, arguments=arguments) if api == PADDED:
                if arguments.get("pad_to_max_output_size", Static(False)) == Static(False):
                    message = f"XLA recompiles `{code}` for every new number of boxes"
                    yield Draft(message, Effect.RECOMPILES, _padded(event), on_tpu=TpuOutcome.BOUNDED)
            case ApiCall() if made_by(event):
                message = f"the number of boxes that `{code}` returns depends on data; {NAMED}"
                rewrite = partial(padded, event)
                yield from self._shapes.begin(event.location, message, _padded(event), rewrite=rewrite)


def _padded(event: ApiCall) -> str | None:
    """The padded form as a person reads it."""
    call = padded_call(event, "tf")
    return call and f"selected, number = {call}\nvalid = {marks(event, 'number', 'tf')}  # which of them are boxes"
