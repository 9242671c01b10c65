"""Text as tensors: what tokenizers, collators and data sets of Hugging Face's libraries, and Keras's own, make of it.

How long a batch is, the longest text in it decides, unless all are padded to one length (measured with transformers
4.37: `padding=True` and `"longest"` give the longest, `"max_length"` one length, `pad_to_multiple_of` few). The calls
of these objects are in `tokenizing`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ..domain.values import (
    NONE,
    UNKNOWN,
    ApiObject,
    Array,
    Creation,
    Dependence,
    Dict,
    Padding,
    Static,
    Tensor,
    Value,
    Variation,
)
from ..files.unit import Location

TOKENIZER: Final = "transformers.Tokenizer"
COLLATOR: Final = "transformers.DataCollator"
ENCODING: Final = "transformers.BatchEncoding"
MODEL: Final = "transformers.TFPreTrainedModel"
EXAMPLES: Final = "datasets.Dataset"
TORCH: Final = "torch.Tensor"
OBJECT_METHODS: Final = {
    TOKENIZER: ("__call__", "batch_encode_plus", "encode", "encode_plus", "pad"),
    COLLATOR: ("__call__",),
    EXAMPLES: (
        "cast_column",
        "filter",
        "map",
        "remove_columns",
        "rename_column",
        "rename_columns",
        "select",
        "select_columns",
        "shard",
        "shuffle",
        "sort",
        "to_tf_dataset",
        "train_test_split",
        "with_format",
    ),
    MODEL: ("generate", "prepare_tf_dataset"),
}
LIBRARIES: Final = ("transformers.", "datasets.")

_MADE: Final = tuple(
    (re.compile(pattern), made)
    for pattern, made in (
        (r"transformers(\.\w+)*\.\w*Tokenizer(Fast)?(\.from_pretrained)?", TOKENIZER),
        (r"transformers(\.\w+)*\.DataCollator(For|With)\w+", COLLATOR),
        (r"transformers(\.\w+)*\.TF\w+\.(from_pretrained|from_config)", MODEL),
        (r"datasets\.(load_dataset|load_from_disk|concatenate_datasets|Dataset\.from_\w+)", EXAMPLES),
    )
)


def made(name: str, arguments: Mapping[str, Value], location: Location) -> Value:
    """The object that a function of these libraries returns."""
    found = next((api for pattern, api in _MADE if pattern.fullmatch(name)), None)
    if found is None:
        return UNKNOWN
    if found == COLLATOR:
        varies = padding(Static(True), arguments, location)
        return ApiObject(COLLATOR, payload=of_torch(arguments, varies, location), facts=Padding(varies))
    return ApiObject(found)


def of_torch(settings: Mapping[str, Value], varies: tuple[Variation, ...], location: Location) -> ApiObject | None:
    """PyTorch's tensors, where `return_tensors=` asks for them at this place."""
    if settings.get("return_tensors") != Static("pt"):
        return None
    return ApiObject(TORCH, payload=Array(varies=varies), made=Creation(location))


def torch_in(value: Value | None) -> ApiObject | None:
    """The PyTorch tensor that a value is or holds: a batch by names, a dict, or what a collator makes."""
    match value:
        case ApiObject(api="torch.Tensor", method=None):
            return value
        case ApiObject(api="transformers.BatchEncoding" | "transformers.DataCollator", method=None, payload=payload):
            return torch_in(payload)
        case Dict(entries=entries, element=element):
            return next(filter(None, map(torch_in, (*entries.values(), element))), None)
        case _:
            return None


def attribute(owner: ApiObject, name: str) -> Value | None:
    """`encoding.input_ids`, `encoding["input_ids"]`; the parts of a data set are like the whole."""
    match owner.api:
        case "transformers.BatchEncoding" if name not in ("keys", "items", "values", "get", "pop", "update"):
            return owner.payload
        case "datasets.Dataset" if name == "__getitem__":
            return owner
        case api if name in OBJECT_METHODS.get(api, ()):
            return ApiObject(api, name, owner.payload, owner.facts)
        case _:
            return None


def padding(usual: Value, settings: Mapping[str, Value], location: Location) -> tuple[Variation, ...]:
    """What `padding=` and its relatives leave of the differences in length; nothing where they are not known."""
    multiple = settings.get("pad_to_multiple_of", NONE)
    match settings.get("padding", usual):
        case Static(False | None | "do_not_pad"):
            return (Variation("unpadded", location, axis=1, detail="padding"),)
        case Static(True | "longest") if multiple == NONE:
            return (Variation("longest", location, axis=1, detail="pad_to_multiple_of"),)
        case _:
            return ()


def vectorization(settings: Mapping[str, Value], location: Location | None) -> Padding | None:
    """What a `TextVectorization` layer makes of texts: tokens as many as the longest has, if nothing says how many."""
    by_position = settings.get("output_mode", Static("int")) == Static("int")
    if location is None or not by_position or settings.get("output_sequence_length", NONE) != NONE:
        return None
    if settings.get("ragged", Static(False)) != Static(False):
        return None
    return Padding((Variation("longest", location, axis=1, detail="output_sequence_length"),))


def vectorized(made: Padding) -> Tensor:
    """The tokens that such a layer gives."""
    return Tensor(Dependence.VALUE, "int", 2, varies=made.varies)
