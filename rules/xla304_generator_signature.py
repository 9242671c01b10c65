"""`from_generator` declares no fixed shapes, so its elements may vary in shape.

## What it does
Reports `tf.data.Dataset.from_generator` if its `output_signature` has an unknown dimension and its elements reach code
that XLA compiles without padding. Reports one without a signature or shapes where Keras takes the dataset, and with the
severity `info` where a loop does.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- A compiled function that gets elements of three lengths compiles three times, with or without a signature. Elements of
  one shape compile once, whatever the signature declares.
- Without a signature even the rank is unknown. `fit` of a `keras.Sequential` model then fails with "Cannot take the
  length of shape with unknown rank". `TPUStrategy.run` refuses it with Keras 2, too (`unknown-rank` has the details).

## Example
    dataset = tf.data.Dataset.from_generator(examples, output_types=tf.float32)
    for example in dataset:
        step(example)  # compiled

## Use instead
    dataset = tf.data.Dataset.from_generator(examples, output_signature=tf.TensorSpec([128], tf.float32))

Let the generator pad to that length.

## Not flagged
A signature whose dimensions are numbers, elements that are padded after the generator, and a signature that xlalint
cannot evaluate.

## Fix safety
Shown only, with `SHAPE` to fill in for each type: elements that do not match the signature fail at run time.

## References
- https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_generator
"""

from collections.abc import Iterator

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.fixes.names import Names
from xlalint.fixes.quoted import one_line
from xlalint.fixes.rewrite import Rewrite, Rewriter, replace
from xlalint.fixes.syntax import plain
from xlalint.linter.rule import Bad, Breaks, Draft, Effect, Good, Rule, Runs, Safety, Severity
from xlalint.syntax import nodes as cst

from ._feeds import PER_SHAPE, fed, shown_with, varying
from ._lost_ranks import lost, refused

STEP = """
import numpy as np

@tf.function(jit_compile=True)
def step(values):
    return tf.reduce_sum(values)

def examples():
    for length in (3, 4, 5, 3):
        yield np.ones(length, "float32")
"""
TITLE = "Declare the shapes of the elements"
SIGNATURE = "output_signature=tf.TensorSpec([None], tf.float32)"


class GeneratorSignature(Rule):
    code = "XLA304"
    name = "generator-signature"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"{STEP}\nfor values in tf.data.Dataset.from_generator(examples, {SIGNATURE}):\n    step(values)\n",
            [f"tf.data.Dataset.from_generator(examples, {SIGNATURE})"],
            Runs(3),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="padded_batch",
        ),
        Bad(
            f"""{STEP}
def pairs():
    for values in examples():
        yield {{"values": values, "label": (1, 2.0)}}

for pair in tf.data.Dataset.from_generator(pairs, {{"values": tf.float32, "label": (tf.int32, tf.float32)}}):
    step(pair["values"])
""",
            ['tf.data.Dataset.from_generator(pairs, {"values": tf.float32, "label": (tf.int32, tf.float32)})'],
            Runs(3),
            severity=Severity.INFO,
            help='output_signature={"values": tf.TensorSpec(SHAPE, tf.float32), '
            '"label": (tf.TensorSpec(SHAPE, tf.int32), tf.TensorSpec(SHAPE, tf.float32))}',
            safety=Safety.DISPLAY,
        ),
        Bad(
            f"""{STEP}
for values in tf.data.Dataset.from_generator(examples, output_types=tf.float32):
    step(values)
""",
            ["tf.data.Dataset.from_generator(examples, output_types=tf.float32)"],
            Runs(3),
            severity=Severity.INFO,
            help="from_generator(examples, output_signature=tf.TensorSpec(SHAPE, tf.float32))",
            safety=Safety.DISPLAY,
        ),
        Bad(
            f"""{STEP}
class Reader:
    def __init__(self, generator):
        self.generator = generator

    def dataset(self):
        signature = {{"values": tf.TensorSpec(shape=(None,), dtype=tf.float32)}}
        return tf.data.Dataset.from_generator(self.generator, output_signature=signature)

def numbered():
    for values in examples():
        yield {{"values": values}}

def run(reader):
    for example in reader.dataset().prefetch(1).batch(1):
        step(example["values"])

run(Reader(numbered))
""",
            ["tf.data.Dataset.from_generator(self.generator, output_signature=signature)"],
            Runs(3),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{STEP}
dataset = tf.data.Dataset.from_generator(examples, output_types=tf.float32, output_shapes=tf.TensorShape([None]))
for values in dataset.map(lambda x: x * 2.0):
    step(values)
""",
            ["tf.data.Dataset.from_generator(examples, output_types=tf.float32, output_shapes=tf.TensorShape([None]))"],
            Runs(3),
            severity=Severity.WARNING,
        ),
        Bad(
            """
import keras
import numpy as np

def examples():
    for number in range(8):
        yield np.ones((4, 3), "float32"), np.ones((4, 1), "float32")

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.data.Dataset.from_generator(examples, (tf.float32, tf.float32)))
""",
            ["tf.data.Dataset.from_generator(examples, (tf.float32, tf.float32))"],
            Breaks("unknown"),
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            help="output_signature=(tf.TensorSpec(SHAPE, tf.float32), tf.TensorSpec(SHAPE, tf.float32))",
            safety=Safety.DISPLAY,
        ),
    )
    good = (
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def step(values):
    return tf.reduce_sum(values)

def examples():
    for number in range(4):
        yield np.full(3, number, "float32")

for values in tf.data.Dataset.from_generator(examples, output_signature=tf.TensorSpec([3], tf.float32)):
    step(values)
""",
            Runs(1),
        ),
        Good(
            f"""{STEP}
for values in tf.data.Dataset.from_generator(examples, {SIGNATURE}).padded_batch(2, padded_shapes=[8]):
    step(values)
""",
            Runs(1),
            why="padded",
        ),
        Good(
            f"""{STEP}
for values in tf.data.Dataset.from_generator(examples, output_types=tf.float32).padded_batch(2, padded_shapes=[8]):
    step(values)
""",
            Runs(1),
            why="padded to shapes that nothing declared before",
        ),
        Good(
            f"""{STEP}
dataset = tf.data.Dataset.from_generator(examples, output_types=tf.float32, output_shapes=[None])
for values in dataset.map(lambda x: tf.pad(x, [[0, 8 - tf.shape(x)[0]]])):
    step(values)
""",
            Runs(1),
            why="padded one by one",
        ),
        Good(
            f"""{STEP}
def fixed():
    for values in examples():
        yield np.resize(values, 3)

for values in tf.data.Dataset.from_generator(fixed, output_types=tf.float32, output_shapes=[3]).batch(2):
    step(values)
""",
            Runs(1),
        ),
        Good(
            f"""{STEP}
for values in tf.data.Dataset.from_generator(examples, {SIGNATURE}):
    print(tf.reduce_sum(values))
""",
            Runs(0),
            why="eager",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        refusing = {*lost(event, "generator")}
        for variation in varying(event, "generator", "generator shape"):
            if variation.kind == "generator":
                what = "`from_generator` without a signature declares no shapes"
                rewrite = _signed(variation.location) or shown_with(
                    variation.location, TITLE, output_signature="SIGNATURE"
                )
                if variation in refusing:
                    yield refused(event, variation.location, what, None, rewrite)
                else:
                    yield fed(event, variation, f"{what}: {PER_SHAPE}", likely=True, rewrite=rewrite)
            else:
                message = f"the signature of `from_generator` has an unknown dimension: {PER_SHAPE}"
                yield fed(event, variation, message, "pad the elements: .padded_batch(SIZE, padded_shapes=SHAPES)")


def _signed(location: Location) -> Rewriter | None:
    """The call with a signature of the types that it names; None where it does not write them down."""
    call = location.node
    if not isinstance(call, cst.Call):
        return None
    kept, types = [], list[cst.BaseExpression]()
    for at, argument in enumerate(call.args):
        name = ("generator", "output_types", "output_shapes")[at : at + 1] if argument.keyword is None else ()
        named = argument.keyword.value if argument.keyword is not None else "".join(name)
        if named == "output_types":
            types.append(argument.value)
        elif named in ("generator", "args", "name") and not argument.star:
            kept.append(argument)
        else:
            return None
    if not types:
        return None

    def build(names: Names) -> Rewrite:
        signature = f"output_signature={_specs(types[0], names.tf)}"
        text = f"{plain(call.func)}({', '.join([*map(one_line, kept), signature])})"
        return Rewrite(TITLE, (replace(location, text),), Safety.DISPLAY)

    return build


def _specs(types: cst.BaseExpression, tf: str) -> str:
    """The specs of types, in the same structure."""
    match types:
        case cst.Tuple(elements=elements):
            return f"({', '.join(_specs(element.value, tf) for element in elements)}{',' * (len(elements) == 1)})"
        case cst.Dict(elements=elements) if all(isinstance(one, cst.DictElement) for one in elements):
            parts = (
                f"{plain(one.key)}: {_specs(one.value, tf)}" for one in elements if isinstance(one, cst.DictElement)
            )
            return f"{{{', '.join(parts)}}}"
        case _:
            return f"{tf}.TensorSpec(SHAPE, {plain(types)})"
