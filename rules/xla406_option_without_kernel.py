"""XLA has no kernel for this value of an argument.

## What it does
Reports calls that compile in general but not with the given argument: `tf.image.resize(.., method="bicubic")`,
`antialias=True`, `tf.linalg.lstsq(.., fast=False)` and others. Also reports calls of layers that were built with such a
value.

## What XLA does
Compiling fails ("No registered 'ResizeBicubic' OpKernel"). The option values were measured one by one, in the versions
that `xlalint facts NAME` shows. `method="bilinear"` and `"nearest"` compile; of the latter, no gradient does (XLA407).

## Example
    image = tf.image.resize(image, [224, 224], method="bicubic")

## Use instead
    image = tf.image.resize(image, [224, 224], method="bilinear")

Or resize in the input pipeline, which runs on the host.

## Not flagged
Unknown values, values that were measured to compile, and code that XLA does not compile.

## Fix safety
`unsafe` for removing `antialias=True`, which only changes images that get smaller (measured), and for removing
`fast=False`, whose solution differs for a rank-deficient matrix. Other options are removed in a rewrite that is shown
only: another method gives other numbers.

## References
- https://github.com/tensorflow/tensorflow/issues/108660
- https://www.tensorflow.org/api_docs/python/tf/image/resize
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.facts.families import NO_KERNEL
from xlalint.facts.kernels import about, lacking, missing_of
from xlalint.facts.tables import Case
from xlalint.fixes.names import Names
from xlalint.fixes.quoted import brief
from xlalint.fixes.rewrite import Rewrite
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Rule, Safety

from ._arguments import left_out
from ._kernels import case_of, fact_of, help_for, names_with_options, worst

# Where a call differs without an option, if not everywhere.
LEFT_OUT: Final[Mapping[tuple[str, str], str]] = {
    ("tf.image.resize", "antialias"): "where the image gets smaller",
    ("keras.ops.image.resize", "antialias"): "where the image gets smaller",
    ("tf.linalg.lstsq", "fast"): "for a matrix of less than full rank, or close to it, and with `l2_regularizer`",
}


class OptionWithoutKernel(Rule):
    code = "XLA406"
    name = "option-without-kernel"
    lacks_kernel = True
    handles = (ApiCall,)
    apis = names_with_options()
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.image.resize(x, [8, 8], method="bicubic")
""",
            ['tf.image.resize(x, [8, 8], method="bicubic")'],
            Fails("No registered 'ResizeBicubic' OpKernel"),
            inputs=("f32[1, 4, 4, 2]",),
            effect=Effect.FAILS,
            help="tf.image.resize(x, [8, 8])",
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.method = "area"

    def call(self, x):
        return tf.image.resize(x, (2, 2), self.method)
""",
            ["tf.image.resize(x, (2, 2), self.method)"],
            Fails("ResizeArea"),
            inputs=("f32[1, 4, 4, 2]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def larger(x, **options):
    return tf.image.resize(x, [8, 8], antialias=True, **options)

@tf.function(jit_compile=True)
def f(x):
    return larger(x)
""",
            ["tf.image.resize(x, [8, 8], antialias=True, **options)"],
            Fails("ScaleAndTranslate"),
            inputs=("f32[1, 4, 4, 2]",),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
def larger(x, **options):
    return tf.image.resize(x, [8, 8], **options)

@tf.function(jit_compile=True)
def f(x):
    return larger(x)
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.larger = tf.keras.layers.UpSampling2D(2, interpolation="bicubic")

    def call(self, x):
        return self.larger(x)
""",
            ["self.larger(x)"],
            Fails("ResizeBicubic"),
            inputs=("f32[1, 4, 4, 2]",),
            effect=Effect.FAILS,
            help="interpolation='bilinear' compiles",
        ),
        Bad(
            """
from tensorflow.image import resize, ResizeMethod

@tf.function(jit_compile=True)
def f(x):
    return resize(x, [2, 2], method=ResizeMethod.LANCZOS3)
""",
            ["resize(x, [2, 2], method=ResizeMethod.LANCZOS3)"],
            Fails("ScaleAndTranslate"),
            inputs=("f32[1, 4, 4, 2]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.image.resize(x, antialias=True, size=[9, 7])
""",
            ["tf.image.resize(x, antialias=True, size=[9, 7])"],
            Fails("ScaleAndTranslate"),
            inputs=("f32[1, 4, 5, 2]",),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    return tf.image.resize(x, size=[9, 7])
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.linalg.lstsq(
        tf.eye(3) + 1.0,  # symmetric
        rhs=(x),
        fast=False,
    )
""",
            ["tf.linalg.lstsq(\n        tf.eye(3) + 1.0,  # symmetric\n        rhs=(x),\n        fast=False,\n    )"],
            Fails("MatrixSolveLs"),
            inputs=("f32[3, 2]",),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    return tf.linalg.lstsq(
        tf.eye(3) + 1.0,  # symmetric
        rhs=(x),
    )
""",
        ),
    )
    good = (
        Good(
            """
import keras

def resized(x, size, mode):
    if mode == "bilinear":
        return tf.image.resize(x, size=size, method="bilinear")
    return tf.image.resize(x, size=size, method="area")

inputs = keras.Input((8, 8, 3))
x = keras.layers.Lambda(resized, arguments={"size": (4, 4), "mode": "bilinear"})(inputs)
model = keras.Model(inputs, x)
model.compile("adam", "mse", jit_compile=True)
""",
            None,
            why="the layer's arguments choose the method",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.image.resize(x, [8, 8], method="nearest") + tf.image.resize(x, [8, 8])
""",
            inputs=("f32[1, 4, 4, 2]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.image.resize(x, [8, 8], antialias=False)
""",
            inputs=("f32[1, 4, 4, 2]",),
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, method):
        super().__init__()
        self.method = method

    def call(self, x):
        return tf.image.resize(x, (2, 2), self.method)
""",
            None,
            why="the method is not known",
        ),
        Good(
            """
def resized(x):
    return tf.image.resize(x, [8, 8], method="bicubic")

dataset = tf.data.Dataset.from_tensors(tf.ones([4, 4, 3])).map(resized)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.sort(x, direction='DESCENDING')\n"),
        Good(
            """
SMALLER = tf.keras.layers.Resizing(2, 2, interpolation="nearest")
UNUSED = tf.keras.layers.Resizing(2, 2, interpolation="bicubic")

@tf.function(jit_compile=True)
def f(x):
    return SMALLER(x)
""",
            inputs=("f32[1, 4, 4, 2]",),
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(arguments=arguments) if fact := fact_of(event, self.tensorflow):
                case = case_of(fact, arguments)
                if case is None or case is fact.plain or fact.plain is None or missing_of(fact.plain):
                    return
                if about(missing := missing_of(case), NO_KERNEL):
                    options = " and ".join(f"`{name}={written}`" for name, written in case.varied.items())
                    message = f"`{brief(event.node)}`: with {options}, {lacking(missing, self.tensorflow)}"
                    rewrite = partial(_by_default, event, case)
                    yield Draft(message, Effect.FAILS, help_for(fact, case), at_most=worst(event), rewrite=rewrite)


def _by_default(event: ApiCall, case: Case, names: Names) -> Rewrite | None:
    """The call without the option: what it does by default compiles."""
    match [*case.varied.items()]:
        case [(name, written)]:
            spellings = (written, written.replace("'", '"'))
            return left_out(event, name, spellings, LEFT_OUT.get((event.api, name)))
        case _:
            return None
