"""Calls of tokenizers, collators and data sets of Hugging Face's libraries: see `texts`."""

from __future__ import annotations

from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.kinds import options, united
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    ApiObject,
    Array,
    FunctionValue,
    Origin,
    Padding,
    Pipeline,
    Sequence,
    Static,
    Structure,
    Value,
    Variation,
)
from ..domain.varying_shapes import variations_of
from ..files.unit import Location
from ..interpreter.contexts import HOST, NOT_TRACED
from ..interpreter.feeding import report_foreign_tensors
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..library.changing_numbers import changing, of_size
from ..library.datasets import DATASET
from ..library.tokenizers import COLLATOR, ENCODING, EXAMPLES, OBJECT_METHODS, TOKENIZER, of_torch, padding
from ..record import replace


def _is_written(value: Value | None) -> bool:
    """Whether the text is a literal: its length is the same each time."""
    match value:
        case Static(str()):
            return True
        case Static(list() | tuple()):
            return True
        case Sequence(items=tuple(items)):
            return all(map(_is_written, items))
        case _:
            return False


# -- calls ------------------------------------------------------------------------------------------------------------


def _tokenized(usual: Value, encoding: bool = True) -> Any:
    """A tokenizer called: `encoding` says whether it returns its batch by names."""

    def handle(
        interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
    ) -> Value | None:
        frame.summary.host_only = True
        if not isinstance(owner, ApiObject) or owner.api != TOKENIZER:
            return None
        if arguments.rest_keywords is not None:
            return UNKNOWN
        location = Location(frame.unit, node)
        text = arguments.positional[0] if arguments.positional else arguments.keywords.get("text")
        varies = () if _is_written(text) else padding(usual, arguments.keywords, location)
        if arguments.keywords.get("return_tensors") == Static("tf"):
            origin = Origin(location, "a tokenizer turns text into tensors")
            return Structure(origin=origin, varies=varies)
        made = of_torch(arguments.keywords, varies, location) or Array(varies=varies)
        return ApiObject(ENCODING, payload=made) if encoding else made

    return handle


def _collated(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    frame.summary.host_only = True
    if isinstance(owner, ApiObject) and owner.payload is not None:
        return ApiObject(ENCODING, payload=owner.payload)
    facts = owner.facts if isinstance(owner, ApiObject) else None
    return Structure(varies=facts.varies if isinstance(facts, Padding) else ())


def _mapped(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`data.map(tokenize, batched=True)`: each example as long as it is, or all of one length."""
    frame.summary.host_only = True
    function = arguments.get(0, "function")
    found: list[Value] = []
    for callee in interpreter.functions_in(function) if function is not None else ():
        summary = interpreter.analyse(None, callee, Arguments(unknown=True), HOST)
        if summary is not None:
            frame.summary.calls.append((Location(frame.unit, node), summary))
            found += options(summary.value)
    encoded = [value for value in found if isinstance(value, Structure) or _is_encoding(value)]
    if not isinstance(owner, ApiObject) or not encoded:
        return owner
    varies: tuple[Variation, ...] = ()
    for value in encoded:
        varies = united(varies, variations_of(value))
    return replace(owner, facts=Padding(varies))


def _is_encoding(value: Value) -> bool:
    return isinstance(value, ApiObject) and value.api == ENCODING


def _kept(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    return owner


# -- from examples to a `tf.data.Dataset` -----------------------------------------------------------------------------


def _batches(
    interpreter: Interpreter,
    frame: Frame,
    arguments: Arguments,
    node: cst.BaseExpression,
    examples: Value,
    drops: bool | None,
) -> Value:
    """The dataset of what a collator makes of examples; `drops`: whether the last batch is left out, if it is known."""
    frame.summary.host_only = True
    location = Location(frame.unit, node)
    settings = arguments.keywords
    report_foreign_tensors(interpreter, frame, [settings.get("collate_fn")], node, model=False)
    facts = examples.facts if isinstance(examples, ApiObject) else None
    one_length = isinstance(facts, Padding) and not facts.varies
    varies: tuple[Variation, ...] = ()
    match settings.get("collate_fn"):
        case _ if one_length:
            pass
        case ApiObject(facts=Padding(varies)):
            pass
        case FunctionValue() as function:
            summary = interpreter.analyse(None, function, Arguments(unknown=True), HOST)
            varies = () if summary is None else variations_of(summary.value)
        case None if settings.get("tokenizer", NONE) != NONE:
            varies = (Variation("longest", location, axis=1, detail="collate_fn"),)
    if drops is False:
        varies = (*varies, Variation("last batch", location, axis=0, shapes=2))
    size = settings.get("batch_size")
    number = size.constant if isinstance(size, Static) and type(size.constant) is int else 0
    element = Structure(origin=Origin(location, "returns data"), varies=varies)
    return ApiObject(DATASET, payload=element, facts=Pipeline(batch=number))


def _flag(value: Value | None, usual: bool) -> bool | None:
    match value:
        case None | Static(None):
            return usual
        case Static(bool() as said):
            return said
        case _:
            return None


def _to_tf_dataset(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`data.to_tf_dataset(..)`: without a size there are no batches, of which the last could be smaller."""
    sized = arguments.get(1, "batch_size") not in (None, NONE)
    drops = _flag(arguments.keywords.get("drop_remainder"), False) if sized else None
    return _batches(interpreter, frame, arguments, node, owner, drops)


def _prepare_tf_dataset(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`model.prepare_tf_dataset(data, ..)`: shuffled, and without a smaller batch, unless it is told otherwise."""
    shuffled = _flag(arguments.keywords.get("shuffle"), True)
    drop = arguments.keywords.get("drop_remainder")
    drops = shuffled if drop in (None, NONE) else _flag(drop, True)
    return _batches(interpreter, frame, arguments, node, arguments.get(0, "dataset") or UNKNOWN, drops)


def _pad_sequences(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """Keras's own: as long as the longest that it is passed, unless `maxlen` says how long: perhaps of each batch."""
    given, where = arguments.get(0, "sequences"), Location(frame.unit, node)
    rows = given.length if isinstance(given, Array) else None
    if (longest := arguments.get(1, "maxlen")) not in (None, NONE):
        number = changing(longest, where, looped=frame.looped or frame.python_loop > 0)
        if number is None or number.kind != "number":  # .. or of all, before the loop
            return Array("int", rows)
        return Array("int", rows, varies=(of_size(number, 1, where),))
    return Array("int", rows, varies=(Variation("longest", where, axis=1, detail="maxlen"),))


def _as_positions(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`tokenizer.texts_to_sequences(texts)`: lists of positions, each as long as its text."""
    if frame.context.kind not in NOT_TRACED or not (frame.looped or frame.python_loop):
        return None
    varies = (Variation("sized", Location(frame.unit, node), axis=0),)
    return Sequence("list", None, Sequence("list", None, STATIC, varies=varies))


_OF_CLASSES: Final[dict[str, MethodModel]] = {
    **{f"{TOKENIZER}.{name}": _tokenized(Static(False)) for name in OBJECT_METHODS[TOKENIZER]},
    f"{TOKENIZER}.encode": _tokenized(Static(False), encoding=False),
    f"{TOKENIZER}.pad": _tokenized(Static(True)),
    **{f"{EXAMPLES}.{name}": _kept for name in OBJECT_METHODS[EXAMPLES]},
    f"{EXAMPLES}.map": _mapped,
    f"{COLLATOR}.__call__": _collated,
}
# Tried by the name of the method alone, too, where the object is not known.
METHODS: Final[dict[str, MethodModel]] = {
    **{name: handle for name, handle in _OF_CLASSES.items() if not name.endswith(".to_tf_dataset")},
    ".to_tf_dataset": _to_tf_dataset,
    ".prepare_tf_dataset": _prepare_tf_dataset,
    ".texts_to_sequences": _as_positions,
}
FUNCTIONS: Final[dict[str, FunctionModel]] = {"keras.utils.pad_sequences": _pad_sequences}
