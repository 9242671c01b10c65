"""A tokenizer or collator returns PyTorch tensors to a TensorFlow model or dataset.

## What it does
Reports `return_tensors="pt"` if the batch is passed to a Hugging Face TensorFlow model (a call, `fit`, `evaluate`,
`predict`), and a collator with it that is passed to `to_tf_dataset` or `prepare_tf_dataset`.

## What XLA does
XLA never gets the batch. Measured with transformers 4.37.2 and TensorFlow 2.15.1:

- Without PyTorch, as on a machine that only runs TensorFlow on its TPU, the tokenizer and the collator raise "Unable to
  convert output to PyTorch tensors format, PyTorch is not installed".
- With PyTorch (2.5.1), calling the model raises "Data of type <class 'torch.Tensor'> is not allowed", and `fit` and
  `predict` raise "Cannot convert the argument `type_value`: torch.int64 to a TensorFlow DType".

## Example
    encoded = tokenizer(texts, padding="max_length", max_length=128, return_tensors="pt")
    model(**encoded)

## Use instead
    encoded = tokenizer(texts, padding="max_length", max_length=128, return_tensors="tf")
    model(**encoded)

## Not flagged
- `return_tensors="np"`: calls, `fit` and `predict` accept NumPy arrays (measured), and Hugging Face's own examples pass
  them to `to_tf_dataset`.
- PyTorch models, and batches that are converted first.
- Keras's own models and functions that XLA compiles: with PyTorch installed, they convert its tensors (measured with
  Keras 3.15).

## Fix safety
`unsafe`: other code that uses the batch as PyTorch tensors has to change, too.

## References
- https://huggingface.co/docs/transformers/main_classes/data_collator
- https://huggingface.co/docs/datasets/use_with_tensorflow
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import Event, FeedForeign
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Safety, Severity

from ._feeds import argument_set, with_arguments

NO_TRANSFORMERS = "needs the package transformers"
TOKENIZER = """
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = TFAutoModelForSequenceClassification.from_pretrained("bert-base-cased")
"""
PADDED = 'padding="max_length", max_length=64'


class ForeignBatch(Rule):
    code = "XLA505"
    name = "foreign-batch"
    handles = (FeedForeign,)
    bad = (
        Bad(
            f"""{TOKENIZER}
def classify(texts):
    encoded = tokenizer(texts, {PADDED}, return_tensors="pt")
    return model(**encoded)
""",
            [f'tokenizer(texts, {PADDED}, return_tensors="pt")'],
            None,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help='return_tensors="tf"',
            safety=Safety.UNSAFE,
            fixed=f"""{TOKENIZER}
def classify(texts):
    encoded = tokenizer(texts, {PADDED}, return_tensors="tf")
    return model(**encoded)
""",
            why=NO_TRANSFORMERS,
        ),
        Bad(
            f"""{TOKENIZER}
collator = DataCollatorWithPadding(tokenizer, {PADDED}, return_tensors="pt")

def train(data):
    rows = data.to_tf_dataset(columns=["input_ids"], batch_size=8, collate_fn=collator, drop_remainder=True)
    model.fit(rows)
""",
            [f'DataCollatorWithPadding(tokenizer, {PADDED}, return_tensors="pt")'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            safety=Safety.UNSAFE,
            fixed=f"""{TOKENIZER}
collator = DataCollatorWithPadding(tokenizer, {PADDED}, return_tensors="tf")

def train(data):
    rows = data.to_tf_dataset(columns=["input_ids"], batch_size=8, collate_fn=collator, drop_remainder=True)
    model.fit(rows)
""",
            why=NO_TRANSFORMERS,
        ),
        Bad(
            f"""{TOKENIZER}
def classify(texts):
    ids = tokenizer(texts, {PADDED}, return_tensors="pt")["input_ids"]
    return model.predict(ids)
""",
            [f'tokenizer(texts, {PADDED}, return_tensors="pt")'],
            None,
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""{TOKENIZER}
def classify(texts):
    ids = tokenizer(texts, {PADDED}, return_tensors="tf")["input_ids"]
    return model.predict(ids)
""",
            why=NO_TRANSFORMERS,
        ),
        Bad(
            f"""{TOKENIZER}
KIND = "pt"

def encode(texts):
    return tokenizer(texts, return_tensors=KIND, {PADDED})

def train(texts, labels):
    encoded = encode(texts)
    model.compile("adam")
    model.fit({{"input_ids": encoded.input_ids, "attention_mask": encoded["attention_mask"]}}, labels)
""",
            [f"tokenizer(texts, return_tensors=KIND, {PADDED})"],
            None,
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""{TOKENIZER}
KIND = "pt"

def encode(texts):
    return tokenizer(texts, return_tensors="tf", {PADDED})

def train(texts, labels):
    encoded = encode(texts)
    model.compile("adam")
    model.fit({{"input_ids": encoded.input_ids, "attention_mask": encoded["attention_mask"]}}, labels)
""",
            why=NO_TRANSFORMERS,
        ),
    )
    good = (
        Good(
            f"""{TOKENIZER}
def classify(texts):
    return model(**tokenizer(texts, {PADDED}, return_tensors="tf"))
""",
            None,
        ),
        Good(
            f"""{TOKENIZER}
def train(data, texts):
    collator = DataCollatorWithPadding(tokenizer, {PADDED}, return_tensors="np")
    model.fit(data.to_tf_dataset(columns=["input_ids"], batch_size=8, collate_fn=collator))
    return model.predict(tokenizer(texts, {PADDED}, return_tensors="np")["input_ids"])
""",
            None,
            why="NumPy's arrays are taken",
        ),
        Good(
            """
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")

def classify(texts):
    return model(**tokenizer(texts, return_tensors="pt"))
""",
            None,
            why="a model of PyTorch",
        ),
        Good(
            f"""{TOKENIZER}
def classify(texts):
    encoded = tokenizer(texts, {PADDED}, return_tensors="pt")
    return model(encoded["input_ids"].numpy())
""",
            None,
            why="it is converted before",
        ),
        Good(
            f"""{TOKENIZER}
small = tf.keras.Sequential([tf.keras.Input([64]), tf.keras.layers.Dense(2)])

def classify(texts):
    return small(tokenizer(texts, {PADDED}, return_tensors="pt")["input_ids"])
""",
            None,
            why="Keras 3 converts it, where PyTorch is installed",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case FeedForeign(made=made, model=model, location=location):
                refused = ", which a Hugging Face TensorFlow model refuses"
                fails = " for a TensorFlow dataset: this fails where PyTorch is not installed"
                yield Draft(
                    f"`{brief(made.node)}` returns PyTorch tensors{refused if model else fails}",
                    Effect.FAILS if model else Effect.TPU,
                    with_arguments(made.node, return_tensors='"tf"'),
                    location=made,
                    notes=(DraftNote(location, "they are passed here"),),
                    rewrite=argument_set(
                        made,
                        "return_tensors",
                        '"tf"',
                        "Return TensorFlow tensors",
                        "where other code uses the batch as PyTorch tensors",
                    ),
                )
