"""Tokenised text varies in length, so XLA recompiles for every length.

## What it does
Reports a tokenizer, a data collator, `pad_sequences` or a `TextVectorization` layer whose batches are not padded, or
are padded to the longest text of each batch, if the batches reach code that XLA compiles: a function or model compiled
with `jit_compile=True`, or a TPU step.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: each new length triggers a new compilation. Six lengths cost six compilations,
also with `reduce_retracing=True`.

| a transformer step over the lengths 1 to 40 | compilations | time |
| --- | --- | --- |
| not padded | 40 | 35 s |
| padded to multiples of 8 | 5 | 5.4 s |
| padded to multiples of 64 | 1 | 0.8 s |

Measured with transformers 4.37:

- `padding=True` and `"longest"` pad to the longest text of the batch, with `pad_to_multiple_of=8` to the next multiple.
  `"max_length"` always gives the same length.
- `DataCollatorWithPadding`, `DataCollatorForTokenClassification`, `DataCollatorForSeq2Seq` and
  `DataCollatorForLanguageModeling` pad to the longest text by default.
- `truncation=True` without `max_length` cuts at the model's limit and leaves shorter texts as they are.
- `prepare_tf_dataset(.., tokenizer=t)` creates a `DataCollatorWithPadding` that pads to the longest text. It has no
  `pad_to_multiple_of`, but accepts another collator.

## Example
    collator = DataCollatorWithPadding(tokenizer, return_tensors="tf")
    train = data.to_tf_dataset(batch_size=16, collate_fn=collator)
    model.compile(optimizer="adam", jit_compile=True)
    model.fit(train)

## Use instead
    collator = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=64, return_tensors="tf")

A few lengths cost a few compilations. With `padding="max_length", max_length=128` there is one.

## Not flagged
- Text padded to a fixed length, or to a multiple of one.
- A whole data set padded at once: all its batches have the same length.
- Text literals in the code, and text that only eager code uses.

## Fix safety
`unsafe`: `pad_to_multiple_of` adds padding. A model that reads the attention mask ignores it. If the call cannot pad to
a multiple, the fix is shown only, with a fixed length `MAXIMUM` to fill in.

## References
- https://huggingface.co/docs/transformers/pad_truncation
- https://huggingface.co/blog/tf-xla-generate
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.values import Variation
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.fixes.names import Names
from xlalint.fixes.quoted import brief
from xlalint.fixes.rewrite import Rewrite, Rewriter, replace
from xlalint.fixes.syntax import plain
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Safety, Severity
from xlalint.syntax import nodes as cst

from ._feeds import PER_SHAPE, argument_set, fed, shown_with, varying, with_arguments

NO_TRANSFORMERS = "needs the package transformers"
STEP = """
@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tf.one_hot(tokens, 8))
"""
TOKENIZER = """
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = TFAutoModelForSequenceClassification.from_pretrained("bert-base-cased")
"""
VARIANTS = {
    "unpadded": "is not padded",
    "longest": "is padded to the longest text of each batch",
}

COLLATOR = "DataCollatorWithPadding"
PADDED = '{collator}({tokenizer}, pad_to_multiple_of=64, return_tensors="np")'
COLLATED = PADDED.format(collator=COLLATOR, tokenizer="tokenizer")

# By the argument that decides.
REMEDIES = {
    "collate_fn": {"collate_fn": COLLATED},
    "maxlen": {"maxlen": "MAXIMUM"},
    "output_sequence_length": {"output_sequence_length": "MAXIMUM"},
    "pad_to_multiple_of": {"pad_to_multiple_of": "64"},
    "padding": {"padding": '"max_length"', "max_length": "MAXIMUM", "truncation": "True"},
}
TITLE = "Pad to a multiple of 64"
FIXED = "Pad to a fixed length"
DIFFERS = "by the padding, for a model that ignores the attention mask"


class UnpaddedBatch(Rule):
    code = "XLA301"
    name = "unpadded-batch"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"""{TOKENIZER}
forward = tf.function(model, jit_compile=True)

def classify(texts):
    return forward(tokenizer(texts, padding=True, return_tensors="tf"))
""",
            ['tokenizer(texts, padding=True, return_tensors="tf")'],
            None,
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help='tokenizer(texts, padding=True, return_tensors="tf", pad_to_multiple_of=64)',
            safety=Safety.UNSAFE,
            fixed=f"""{TOKENIZER}
forward = tf.function(model, jit_compile=True)

def classify(texts):
    return forward(tokenizer(texts, padding=True, return_tensors="tf", pad_to_multiple_of=64))
""",
            why=NO_TRANSFORMERS,
        ),
        Bad(
            f"""{TOKENIZER}
from datasets import load_dataset

def tokenize(examples):
    return tokenizer(examples["sentence"], truncation=True)

data = load_dataset("glue", "sst2").map(tokenize, batched=True)
collator = DataCollatorWithPadding(tokenizer=tokenizer, return_tensors="tf")
train = data["train"].to_tf_dataset(batch_size=16, shuffle=True, collate_fn=collator, drop_remainder=True)
model.compile(optimizer="adam", jit_compile=True)
model.fit(train, epochs=3)
""",
            ['DataCollatorWithPadding(tokenizer=tokenizer, return_tensors="tf")'],
            None,
            severity=Severity.WARNING,
            help="pad_to_multiple_of=64",
            safety=Safety.UNSAFE,
            fixed=f"""{TOKENIZER}
from datasets import load_dataset

def tokenize(examples):
    return tokenizer(examples["sentence"], truncation=True)

data = load_dataset("glue", "sst2").map(tokenize, batched=True)
collator = DataCollatorWithPadding(tokenizer=tokenizer, return_tensors="tf", pad_to_multiple_of=64)
train = data["train"].to_tf_dataset(batch_size=16, shuffle=True, collate_fn=collator, drop_remainder=True)
model.compile(optimizer="adam", jit_compile=True)
model.fit(train, epochs=3)
""",
            why=NO_TRANSFORMERS,
        ),
        Bad(
            f"""{TOKENIZER}
def train(data):
    model.compile(optimizer="adam", jit_compile=True)
    model.fit(model.prepare_tf_dataset(data, tokenizer=tokenizer, shuffle=True))
""",
            ["model.prepare_tf_dataset(data, tokenizer=tokenizer, shuffle=True)"],
            None,
            help="collate_fn=DataCollatorWithPadding(tokenizer, pad_to_multiple_of=64",
            safety=Safety.UNSAFE,
            fixed=f"""{TOKENIZER}
def train(data):
    model.compile(optimizer="adam", jit_compile=True)
    model.fit(model.prepare_tf_dataset(data, collate_fn={COLLATED}, shuffle=True))
""",
            why=NO_TRANSFORMERS,
        ),
        Bad(
            f"""{TOKENIZER}
generate = tf.function(model.generate, jit_compile=True)
for line in open("prompts.txt"):
    batch = tokenizer([line], return_tensors="tf")
    print(generate(**batch, max_new_tokens=20))
""",
            ['tokenizer([line], return_tensors="tf")'],
            None,
            severity=Severity.WARNING,
            help='padding="max_length"',
            safety=Safety.DISPLAY,
            why=NO_TRANSFORMERS,
        ),
        Bad(
            f"""
import keras
{STEP}
for texts in ([[1, 2]], [[1, 2, 3], [4]], [[5]]):
    step(keras.utils.pad_sequences(texts))
""",
            ["keras.utils.pad_sequences(texts)"],
            Runs(3),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="keras.utils.pad_sequences(texts, maxlen=MAXIMUM)",
            safety=Safety.DISPLAY,
        ),
        Bad(
            f"""
import keras
{STEP}
vectorize = keras.layers.TextVectorization(vocabulary=["a", "b", "c"])
for tokens in tf.data.Dataset.from_tensor_slices(["a", "a b", "a b c", "b c"]).batch(1).map(vectorize):
    step(tokens)
""",
            ['keras.layers.TextVectorization(vocabulary=["a", "b", "c"])'],
            Runs(3),
            help="output_sequence_length=MAXIMUM",
            safety=Safety.DISPLAY,
        ),
    )
    good = (
        Good(
            f"""{TOKENIZER}
forward = tf.function(model, jit_compile=True)

def classify(texts):
    return forward(tokenizer(texts, padding="max_length", max_length=128, truncation=True, return_tensors="tf"))

def score(texts):
    return forward(tokenizer(texts, padding=True, pad_to_multiple_of=64, return_tensors="tf"))

def warm_up():
    return forward(tokenizer(["always the same"], return_tensors="tf"))

def look(texts):
    return model(tokenizer(texts, padding=True, return_tensors="tf"))
""",
            None,
            why=NO_TRANSFORMERS,
        ),
        Good(
            f"""{TOKENIZER}
from datasets import load_dataset

def tokenize(examples):
    return tokenizer(examples["sentence"], truncation=True, padding="max_length", max_length=64)

data = load_dataset("glue", "sst2").map(tokenize, batched=True)
collator = DataCollatorWithPadding(tokenizer=tokenizer, return_tensors="tf")
train = data["train"].to_tf_dataset(batch_size=16, shuffle=True, collate_fn=collator, drop_remainder=True)
model.compile(optimizer="adam", jit_compile=True)
model.fit(train, epochs=3)
""",
            None,
            why=NO_TRANSFORMERS,
        ),
        Good(
            f"""{TOKENIZER}
def train(texts, labels):
    encoded = tokenizer(texts, padding=True, return_tensors="tf")
    dataset = tf.data.Dataset.from_tensor_slices((dict(encoded), labels)).batch(16, drop_remainder=True)
    model.compile(optimizer="adam", jit_compile=True)
    model.fit(dataset)
""",
            None,
            why="all texts are padded at once: every batch has the same length",
        ),
        Good(
            f"""
import keras
{STEP}
for texts in ([[1, 2]], [[1, 2, 3], [4]], [[5]]):
    step(keras.utils.pad_sequences(texts, maxlen=4)[:1])
""",
            Runs(1),
        ),
        Good(
            f"""
import keras
{STEP}
vectorize = keras.layers.TextVectorization(vocabulary=["a", "b", "c"], output_sequence_length=4)
for tokens in tf.data.Dataset.from_tensor_slices(["a", "a b", "a b c", "b c"]).batch(1).map(vectorize):
    step(tokens)
""",
            Runs(1),
        ),
        Good(
            f"""
import keras
{STEP}
padded = keras.utils.pad_sequences([[1, 2], [3], [4, 5, 6], [7]])
for tokens in tf.data.Dataset.from_tensor_slices(padded).batch(2):
    step(tokens)
""",
            Runs(1),
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        for variation in varying(event, *VARIANTS):
            message = f"the text from `{brief(variation.location.node)}` {VARIANTS[variation.kind]}: {PER_SHAPE}"
            help = with_arguments(variation.location.node, **REMEDIES[variation.detail])
            yield fed(event, variation, message, help, rewrite=_rewrite(variation))


def _rewrite(variation: Variation) -> Rewriter | None:
    match variation.location.node, variation.detail:
        case _, "pad_to_multiple_of":
            return argument_set(variation.location, "pad_to_multiple_of", "64", TITLE, DIFFERS)
        case cst.Call(args=arguments), "collate_fn":
            given = [one for one in arguments if one.keyword is not None and one.keyword.value == "tokenizer"]
            return partial(_collated, variation.location, given[0])
        case _, detail:
            return shown_with(variation.location, FIXED, **REMEDIES[detail])


def _collated(location: Location, tokenizer: cst.Arg, names: Names) -> Rewrite:
    """`tokenizer=t` as the collator that it stands for, which is told how to pad."""
    assert tokenizer.keyword is not None
    text = PADDED.format(collator=names.imported("transformers", COLLATOR), tokenizer=plain(tokenizer.value))
    edits = (replace(location.at(tokenizer.keyword), "collate_fn"), replace(location.at(tokenizer.value), text))
    return Rewrite(TITLE, edits, Safety.UNSAFE, DIFFERS)
