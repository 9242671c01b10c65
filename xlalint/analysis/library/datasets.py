"""What `tf.data` makes of a dataset: which of its batches have another shape than the others, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ..domain.counts import divided, is_multiple, plus, rounded, times
from ..domain.joins import join_all
from ..domain.kinds import rows_of, united
from ..domain.values import (
    NONE,
    ApiObject,
    Dependence,
    OneOf,
    Origin,
    Pipeline,
    Sequence,
    Setting,
    Static,
    Structure,
    Tensor,
    Value,
    Variation,
)
from ..domain.varying_shapes import LAST, UNEVEN, UNLESS, filtered, variations_of, varied
from ..files.unit import Location
from ..record import Record, replace
from .changing_numbers import decided_by
from .generators import never_ends, yields_windows
from .kept_batches import axis_of_one_size
from .padded_shapes import fixed_shapes, padded
from .slicing import length_of_sliced, row_of
from .taken_batches import MANY, among_first

DATASET: Final = "tf.data.Dataset"
FOLDER: Final = "folder"  # the detail of a last batch that a function of Keras makes of what it reads
IMAGES: Final = "images"  # and of one that an image generator of Keras makes, which cannot drop it
LOADED: Final = "loader"  # the detail of that of a loader of PyTorch's
TABLE: Final = "table"  # and of one that is read from tables of text, which is dropped where they are read forever
# The methods of an image generator that make batches, with the position of their size.
_FLOWS: Final = {"flow": 2, "flow_from_dataframe": 9, "flow_from_directory": 5}
# Functions that batch what they make, in batches of 32 unless they are told otherwise, the last one of what remains.
OF_FOLDERS: Final = frozenset(f"keras.utils.{kind}_dataset_from_directory" for kind in ("audio", "image", "text"))
_BATCHING: Final = OF_FOLDERS | {"keras.utils.timeseries_dataset_from_array"}
# The arguments of steps that say how many rows there are.
ROWS_OF_STEPS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("batch", "padded_batch", "ragged_batch", "rebatch"), ("batch_size",)),
    "take": ("count",),
}
_USUAL_BATCH: Final = 32


class Step(Record):
    """A step of a pipeline: the elements before it, what is known of them, and the call with its arguments."""

    element: Value
    facts: Pipeline
    arguments: Mapping[str, Value]
    location: Location

    def get(self, name: str) -> Value | None:
        return self.arguments.get(name)

    def dataset(self, element: Value | None = None, **changes: object) -> ApiObject:
        """The dataset after the step, with what changes."""
        facts = replace(self.facts, **changes) if changes else self.facts
        return ApiObject(DATASET, payload=self.element if element is None else element, facts=facts)


def is_dataset(value: Value) -> bool:
    return isinstance(value, ApiObject) and value.api == DATASET and value.method is None


# -- where datasets come from -----------------------------------------------------------------------------------------


def made(name: str, arguments: Mapping[str, Value], location: Location | None) -> ApiObject:
    """The dataset that a function of the API returns."""
    element = Structure(origin=None if location is None else Origin(location, f"`{name}` returns data"))
    plain = ApiObject(DATASET, payload=element, facts=Pipeline())
    if location is None:
        return plain
    step = Step(element, Pipeline(), arguments, location)
    if name in _BATCHING:
        size = arguments.get("batch_size", Static(_USUAL_BATCH))
        if size == NONE:
            return plain
        return _in_batches(replace(step, arguments={"batch_size": size}), FOLDER)
    source = _SOURCES.get(name.rpartition(".")[2])
    return plain if source is None else source(step)


def images(method: str, arguments: Mapping[str, Value], location: Location) -> ApiObject | None:
    """The batches that an `ImageDataGenerator` makes of arrays, a folder or a table, pass after pass; None for a method
    that makes none."""
    position = _FLOWS.get(method)
    if position is None:
        return None
    size = arguments.get("batch_size", arguments.get(f"*{position}", Static(_USUAL_BATCH)))
    rows = arguments.get("x", arguments.get("*0")) if method == "flow" else None
    element = Structure(origin=Origin(location, f"`{method}` returns data"))
    step = Step(element, Pipeline(count=length_of_sliced(rows), python=True), {"batch_size": size}, location)
    return _as_made(_in_batches(step), location, IMAGES)


def loaded_in_batches(examples: ApiObject, size: Value, location: Location) -> ApiObject:
    """The batches of examples that what loads a data set makes of them itself."""
    made = after(examples, "batch", {"batch_size": size}, location)
    return examples if made is None else _as_made(made, location, FOLDER)


def _as_made(batches: ApiObject, location: Location, by: str) -> ApiObject:
    """Batches of which the last one can be dropped by nothing where it is made, which `by` names."""
    if batches.payload is None or not any(variation.kind == LAST for variation in variations_of(batches)):
        return batches
    rest = Variation(LAST, location, axis=0, shapes=2, detail=by)
    whole = filtered(batches.payload, lambda variation: variation.kind != LAST)
    return replace(batches, payload=varied(whole, (rest,)))


def _slices(step: Step) -> ApiObject:
    """`from_tensor_slices`: elements of one shape; how many, the first dimension says."""
    tensors = step.get("tensors")
    ragged = isinstance(tensors, ApiObject) and tensors.api == "tf.RaggedTensor"
    element = row_of(tensors, step.element)
    return step.dataset(element, count=length_of_sliced(tensors), uniform=not ragged)


def _whole(step: Step) -> ApiObject:
    return step.dataset(count=1, uniform=True)


def _generated(step: Step) -> ApiObject:
    """`from_generator`: a promise of fixed shapes is one of a single shape."""
    signature, shapes = step.get("output_signature"), step.get("output_shapes")
    promised = signature if signature is not None else shapes
    known = None if promised is None else fixed_shapes(promised)
    endless = never_ends(step.get("generator"))
    if known is True or yields_windows(step.get("generator")):
        return step.dataset(uniform=True, endless=endless)
    if known is None and promised is not None:
        return step.dataset(endless=endless)
    kind = "generator" if promised is None else "generator shape"
    return step.dataset(
        varied(step.element, (Variation(kind, step.location, axis=0 if promised is not None else None),)),
        endless=endless,
    )


def _numbers(step: Step) -> ApiObject:
    bounds = [value.constant for name, value in step.arguments.items() if isinstance(value, Static) and name[:1] == "*"]
    whole = all(type(bound) is int and abs(bound) < 1 << 40 for bound in bounds)
    whole = whole and 1 <= len(bounds) <= 3 and 0 not in bounds[2:]
    return step.dataset(count=len(range(*bounds)) if whole else None, uniform=True)


def _zipped(step: Step) -> ApiObject:
    """`zip`: as long as the shortest."""
    datasets = [part for value in step.arguments.values() for part in _datasets_in(value)]
    facts = [part.facts for part in datasets if isinstance(part.facts, Pipeline)]
    limited = [one for one in facts if not one.endless]
    counts = [one.count for one in limited]
    varies: tuple[Variation, ...] = ()
    for number, part in enumerate(datasets):
        # Each has a size of its batches, and together they have one shape: the first one's size stands for all.
        varies = united(varies, tuple(each for each in variations_of(part) if not (number and each.kind == "batch")))
    numbers = [count for count in counts if isinstance(count, int)]
    return step.dataset(
        varied(step.element, varies),
        count=min(numbers, default=None) if len(numbers) == len(counts) else counts[0] if len({*counts}) == 1 else None,
        endless=bool(facts) and not limited,
        batch=facts[0].batch if facts else None,
        uniform=bool(facts) and all(one.uniform for one in facts),
    )


def _sampled(step: Step) -> ApiObject:
    """Elements now of one and now of another dataset, until all have come to their end."""
    datasets = [part for value in step.arguments.values() for part in _datasets_in(value)]
    varies: tuple[Variation, ...] = ()
    for part in datasets:
        varies = united(varies, variations_of(part))
    endless = any(isinstance(part.facts, Pipeline) and part.facts.endless for part in datasets)
    return step.dataset(varied(step.element, varies), endless=endless)


def _datasets_in(value: Value) -> list[ApiObject]:
    match value:
        case ApiObject() if is_dataset(value):
            return [value]
        case Sequence(items=tuple(items)):
            return [part for item in items for part in _datasets_in(item)]
        case OneOf(options):  # an attribute that was assigned again: the last dataset that it was
            return [part for option in options for part in _datasets_in(option)][-1:]
        case _:
            return []


def _texts(step: Step) -> ApiObject:
    """Paths, lines and records, each a string."""
    return step.dataset(Tensor(Dependence.VALUE, "string", origin=Origin(step.location, "a dataset of strings")))


def _table(step: Step) -> ApiObject:
    """`make_csv_dataset`: rows that are read forever fill all batches (measured)."""
    if step.arguments.get("num_epochs", step.arguments.get("*10", NONE)) == NONE:
        return step.dataset(endless=True)
    size = step.arguments.get("batch_size", step.arguments.get("*1", NONE))
    return _in_batches(replace(step, arguments={"batch_size": size}), TABLE)


_SOURCES: Final[dict[str, Callable[[Step], ApiObject]]] = {
    "from_tensor_slices": _slices,
    "from_tensors": _whole,
    "from_generator": _generated,
    "range": _numbers,
    "sample_from_datasets": _sampled,
    "choose_from_datasets": _sampled,
    "zip": _zipped,
    "make_csv_dataset": _table,
    **dict.fromkeys(("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset", "list_files"), _texts),
}

# -- what becomes of them ---------------------------------------------------------------------------------------------


def after(owner: ApiObject, method: str, arguments: Mapping[str, Value], location: Location) -> ApiObject | None:
    """The dataset that a method of a dataset returns; None for a method that is none of these."""
    facts = owner.facts if isinstance(owner.facts, Pipeline) else Pipeline()
    step = Step(owner.payload or Structure(), facts, arguments, location)
    change = _STEPS.get(method)
    return None if change is None else change(step)


def _same(step: Step) -> ApiObject:
    return step.dataset()


def _numbered(step: Step) -> ApiObject:
    """`enumerate`: each element behind its number."""
    number = Origin(step.location, "a number for each element")
    return step.dataset(Sequence("tuple", (Tensor(Dependence.VALUE, "int", 0, origin=number), step.element)))


def _some(step: Step) -> ApiObject:
    """Fewer of them, nobody knows how many."""
    axis = axis_of_one_size(step.get("predicate"))
    kept = None if axis is None else filtered(step.element, lambda variation: variation.axis != axis)
    return step.dataset(kept, count=None, uniform=step.facts.uniform or (axis == 0 and step.facts.batch is None))


def _others(step: Step) -> ApiObject:
    """Elements of which nothing is known."""
    return step.dataset(Structure(), count=None, batch=None, uniform=False)


def _in_windows(step: Step) -> ApiObject:
    """`window`: a dataset for each, of as many elements as it has, unless the last ones may have fewer."""
    size = step.get("size")
    whole = isinstance(size, Static) and type(size.constant) is int and size.setting is None and _drops_remainder(step)
    count = size.constant if isinstance(size, Static) and whole else None
    window = ApiObject(DATASET, payload=step.element, facts=replace(step.facts, count=count, endless=False))
    return step.dataset(window, count=None, batch=None, uniform=False)


def one_after_the_other(owner: ApiObject, made: ApiObject) -> ApiObject:
    """The elements of the datasets that a function makes of those of `owner`: each of these may have a last one."""
    facts = made.facts if isinstance(made.facts, Pipeline) else Pipeline()
    outer = owner.facts if isinstance(owner.facts, Pipeline) else Pipeline()
    return replace(made, facts=Pipeline(endless=outer.endless, batch=facts.batch, uniform=facts.uniform))


def _in_batches(step: Step, detail: str = "") -> ApiObject:
    """`batch`: the last one is smaller, unless it is dropped, or the elements are as many as fill all batches. They do
    in batches of one, but where a setting says so by default, nobody means it for good."""
    usual, setting = usual_size(step.get("batch_size"))
    number = 0 if setting else usual
    count, size = step.facts.count, rows_of(step.get("batch_size") or NONE)
    one_by_one = usual == 1 and bool(setting)
    filled = (is_multiple(count, usual) and not one_by_one) or is_multiple(count, size)
    # Elements of several shapes do not fit into one batch.
    held = step.element if usual == 1 else filtered(step.element, lambda variation: variation.kind not in UNEVEN)
    element = _shifted(held, 1)
    if not (number == 1 or filled or step.facts.endless or _drops_remainder(step)):
        if one_by_one:
            detail = detail or unless_one(setting)
        elif isinstance(count, int) and usual:
            detail = f"{count} elements in batches of {usual}{setting and f', the default of {setting}'}"
        elif step.facts.foreign:
            detail = detail or f"{UNLESS}the data repeat for ever"
        single = isinstance(count, int) and number > count
        if not single:
            element = varied(element, (Variation("last batch", step.location, axis=0, shapes=2, detail=detail),))
    if number:
        element = varied(element, (Variation("batch", step.location, axis=0, detail=str(number)),))
    element = varied(element, decided_by(step.get("batch_size"), 0, step.location))
    quotient = None if not size or count is None or setting else divided(count, size)
    batches = None if quotient is None else rounded(quotient, up=True)
    return step.dataset(element, count=batches, batch=number)


def unless_one(setting: str) -> str:
    """The detail of a last batch that is smaller unless the batches are of one, as a setting has them by default."""
    return f"{UNLESS}{setting} stays at its default, 1"


def usual_size(size: Value | None) -> tuple[int, str]:
    """How many elements a batch has, 0 where that is not known; and which setting says so by default, if one does."""
    match size:
        case Static(int() as number) if number > 0:
            return number, ""
        case Static(setting=Setting(int() as number, name)) if number > 0:
            return number, name
        case _:
            return 0, ""


def _drops_remainder(step: Step) -> bool:
    """Whether the last batch is dropped, or may be: a setting of which no default is known is trusted."""
    drop = step.get("drop_remainder")
    match drop:
        case Static(setting=Setting(default=bool() as default)):
            return default
        case _:
            return not (drop is None or drop in (Static(False), NONE))


def _in_padded_batches(step: Step) -> ApiObject:
    """`padded_batch`: what has no fixed shape is padded to the longest of its batch."""
    batched = _in_batches(step)
    longest = () if step.facts.uniform else (Variation("padded batch", step.location, axis=1),)
    return replace(batched, payload=padded(batched.payload or Structure(), step.get("padded_shapes"), longest))


def _in_buckets(step: Step) -> ApiObject:
    """`bucket_by_sequence_length`: padded to the longest of the batch, or to the boundary of the bucket."""
    boundaries = step.get("bucket_boundaries")
    buckets = length_of_sliced(boundaries)
    shapes = buckets if isinstance(buckets, int) else None
    kept = filtered(step.element, lambda variation: variation.kind not in UNEVEN)
    payload = _shifted(kept, 1)
    if not (step.facts.endless or _drops_remainder(step)):
        payload = varied(payload, (Variation("last batch", step.location, 0, None, "each bucket"),))
    if step.get("pad_to_bucket_boundary") in (None, Static(False)):
        payload = varied(payload, (Variation("bucket", step.location, 1, shapes),))
    return step.dataset(payload, count=None, batch=0, uniform=False)


def _out_of_batches(step: Step) -> ApiObject:
    kept = filtered(step.element, lambda variation: variation.axis != 0)
    return step.dataset(_shifted(kept, -1), count=None, batch=None)


def _repeated(step: Step) -> ApiObject:
    """`repeat`: for ever, unless a number is given."""
    match step.get("count"):
        case Static(int() as passes) if passes >= 0:
            count = step.facts.count
            return step.dataset(count=None if count is None else times(count, passes))
        case _:
            return step.dataset(endless=True)


def _first(step: Step) -> ApiObject:
    """`take`: of a dataset in batches, the last one is not among the first, unless they are all, or so many that a
    dataset that is repeated has given all before."""
    rows, known = rows_of(step.get("count") or NONE), step.facts.count
    count = rows if isinstance(rows, int) else None
    match step.get("count"):
        case Static(setting=Setting(int() as usual)) if usual < 0:  # all of them, if nobody asks for fewer
            rows = count = usual
    again = step.facts.endless and (count is None or count >= MANY)
    all_of_them = step.facts.batch is None or again
    kept = step.element if all_of_them else among_first(step.element, count, known)
    if count is not None and count < 0:
        rows = known
    elif count is not None and isinstance(known, int):
        rows = min(count, known)
    return step.dataset(kept, count=rows, endless=False)


def _rest(step: Step) -> ApiObject:
    number, count = step.get("count"), step.facts.count
    skipped = number.constant if isinstance(number, Static) and type(number.constant) is int else None
    return step.dataset(count=max(count - skipped, 0) if isinstance(count, int) and skipped is not None else None)


def _joined(step: Step) -> ApiObject:
    other = step.get("dataset")
    facts = other.facts if isinstance(other, ApiObject) and isinstance(other.facts, Pipeline) else Pipeline()
    counts = (step.facts.count, facts.count)
    return step.dataset(
        varied(step.element, variations_of(other)),
        count=plus(counts[0], counts[1]) if counts[0] is not None and counts[1] is not None else None,
        endless=step.facts.endless or facts.endless,
        uniform=step.facts.uniform and facts.uniform,
    )


def _shifted(element: Value, by: int) -> Value:
    """The elements with their dimensions counted again, for one that came before them or went."""
    varies = tuple(
        replace(variation, axis=None if variation.axis is None or variation.axis + by < 0 else variation.axis + by)
        for variation in variations_of(element)
    )
    return varied(filtered(element, lambda variation: False), varies) if varies else element


_STEPS: Final[dict[str, Callable[[Step], ApiObject]]] = {
    **dict.fromkeys(("cache", "prefetch", "prefetch_to_device", "shuffle", "snapshot", "with_options"), _same),
    **dict.fromkeys(("filter", "ignore_errors", "rejection_resample", "shard", "take_while", "unique"), _some),
    **dict.fromkeys(("apply", "flat_map", "group_by_window", "interleave", "scan"), _others),
    "enumerate": _numbered,
    "window": _in_windows,
    "batch": _in_batches,
    "rebatch": _in_batches,
    "ragged_batch": _in_batches,
    "sparse_batch": _in_batches,
    "padded_batch": _in_padded_batches,
    "bucket_by_sequence_length": _in_buckets,
    "unbatch": _out_of_batches,
    "repeat": _repeated,
    "take": _first,
    "skip": _rest,
    "concatenate": _joined,
    "zip": _zipped,
}


def distributed(dataset: Value) -> Value:
    """A dataset of which a strategy gives each replica its part."""
    match dataset:
        case ApiObject(api=name, facts=facts) if name == DATASET:
            known = facts if isinstance(facts, Pipeline) else Pipeline()
            return replace(dataset, facts=replace(known, distributed=True))
        case OneOf(alternatives):
            return join_all(*map(distributed, alternatives))
        case _:
            return dataset
