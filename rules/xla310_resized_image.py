"""An image is resized to a size that depends on data, and reaches a compiled function.

## What it does
Reports `tf.image.resize` with a `size` computed from a tensor, or with `preserve_aspect_ratio=True`, if the image
reaches code that XLA compiles with that size. XLA205 reports a size from data inside a compiled function.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: a function called with images of three sizes compiles three times.

## Example
    size = tf.cast(tf.cast(tf.shape(image)[:2], tf.float32) * scale, tf.int32)
    step(tf.image.resize(image, size)[None])

## Use instead
    step(tf.image.resize_with_pad(image, 512, 512)[None])

## Not flagged
Sizes that are Python numbers, images cropped or padded to one size afterwards, and batches of several images, which
have one size anyway.

## Fix safety
Shown only: `resize_with_pad` keeps the aspect ratio and adds a border.

## References
- https://www.tensorflow.org/api_docs/python/tf/image/resize_with_pad
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity

from ._feeds import PER_SHAPE, fed, varying

STEP = """
@tf.function(jit_compile=True)
def step(image):
    return tf.reduce_mean(image)

sizes = tf.data.Dataset.range(2, 5)
"""


class ResizedImage(Rule):
    code = "XLA310"
    name = "resized-image"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"""{STEP}
def scaled(number):
    size = tf.cast(tf.stack([number, number]), tf.int32)
    return tf.image.resize(tf.ones([8, 8, 3]), size)

for image in sizes.map(scaled).batch(1):
    step(image)
""",
            ["tf.image.resize(tf.ones([8, 8, 3]), size)"],
            Runs(3),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{STEP}
for number in range(2, 5):
    step(tf.image.resize(tf.ones([8, 4 * number, 3]), [8, 8], preserve_aspect_ratio=True))
""",
            ["tf.image.resize(tf.ones([8, 4 * number, 3]), [8, 8], preserve_aspect_ratio=True)"],
            Runs(3),
        ),
        Bad(
            f"""{STEP}
images = [tf.ones([4 * number, 8, 3]) for number in range(2, 5)]

def halved(image):
    return tf.image.resize(image, tf.shape(image)[:2] // 2)

for image in images:
    step(halved(image))
""",
            ["tf.image.resize(image, tf.shape(image)[:2] // 2)"],
            Runs(3),
        ),
        Bad(
            f"""{STEP}
def example(number):
    size = tf.cast(number, tf.int32)
    return {{"image": tf.image.resize(tf.ones([8, 8, 3]), (size, size))}}

for batch in sizes.map(example).map(lambda row: row["image"] / 255.0).batch(1).prefetch(1):
    step(batch)
""",
            ["tf.image.resize(tf.ones([8, 8, 3]), (size, size))"],
            Runs(3),
        ),
        Bad(
            f"""{STEP}
def padded(number):
    size = tf.cast(number, tf.int32)
    return tf.image.pad_to_bounding_box(tf.ones([2, 2, 3]), 0, 0, size, size)

for image in sizes.map(padded).batch(1):
    step(image)
""",
            ["tf.image.pad_to_bounding_box(tf.ones([2, 2, 3]), 0, 0, size, size)"],
            Runs(3),
            why="padded to a size of its own",
        ),
    )
    good = (
        Good(
            f"""{STEP}
def padded(number):
    top = tf.cast(number, tf.int32) // 4
    return tf.image.pad_to_bounding_box(tf.ones([2, 2, 3]), top, 0, 8, 8)

for image in sizes.map(padded).batch(1):
    step(image)
""",
            Runs(1),
            why="where the picture stands differs, its size does not",
        ),
        Good(
            f"""{STEP}
def scaled(number):
    image = tf.image.resize(tf.ones([8, 8, 3]), tf.cast(tf.stack([number, number]), tf.int32))
    return tf.image.resize_with_crop_or_pad(image, 4, 4)

for image in sizes.map(scaled).batch(1):
    step(image)
""",
            Runs(1),
        ),
        Good(
            f"""{STEP}
def scaled(number):
    return tf.image.resize_with_pad(tf.ones([8, 4 * tf.cast(number, tf.int32), 3]), 6, 6)

for image in sizes.map(scaled).batch(1):
    step(image)
""",
            Runs(1),
        ),
        Good(
            f"""{STEP}
def scaled(number):
    return tf.image.resize(tf.ones([8, 8, 3]), [2 * 4, 8])

for image in sizes.map(scaled).batch(1):
    step(image)
""",
            Runs(1),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(image):
    return tf.image.resize(image, [image.shape[0] // 2, image.shape[1] // 2])
""",
            inputs=("f32[8, 8, 3]",),
            why="inside, the size of a static shape",
        ),
        Good(
            f"""{STEP}
class Drawing:
    def __init__(self, image):
        side = tf.random.uniform([], 8, 32, tf.int32)
        self.image = tf.Variable(tf.image.resize(image, (side, side)))

    def train(self):
        for _ in range(3):
            step(self.image)

Drawing(tf.ones([4, 4, 3])).train()
""",
            Runs(1),
            why="a variable keeps its shape",
        ),
        Good(f"{STEP}\nfor number in range(3):\n    step(tf.image.resize(tf.ones([8, 8, 3]), [4, 4]))\n", Runs(1)),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        for variation in varying(event, "resized"):
            what = f"the size of `{brief(variation.location.node)}` depends on the image"
            help = "tf.image.resize_with_pad(image, HEIGHT, WIDTH)"
            yield fed(event, variation, f"{what}: {PER_SHAPE}", help)
