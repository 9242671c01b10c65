"""How many examples public data sets have, by the names of TensorFlow Datasets and by their splits."""

from __future__ import annotations

import re
from typing import Final

# From the catalogue of TensorFlow Datasets. A name without a configuration stands for the default one.
_EXAMPLES: Final[dict[str, dict[str, int]]] = {
    "ag_news_subset": {"train": 120_000, "test": 7_600},
    "beans": {"train": 1_034, "validation": 133, "test": 128},
    "caltech101": {"train": 3_059, "test": 6_085},
    "cats_vs_dogs": {"train": 23_262},
    "celeb_a": {"train": 162_770, "validation": 19_867, "test": 19_962},
    "cifar10": {"train": 50_000, "test": 10_000},
    "cifar100": {"train": 50_000, "test": 10_000},
    "eurosat": {"train": 27_000},
    "fashion_mnist": {"train": 60_000, "test": 10_000},
    "food101": {"train": 75_750, "validation": 25_250},
    "glue/cola": {"train": 8_551, "validation": 1_043, "test": 1_063},
    "glue/mrpc": {"train": 3_668, "validation": 408, "test": 1_725},
    "glue/sst2": {"train": 67_349, "validation": 872, "test": 1_821},
    "horses_or_humans": {"train": 1_027, "test": 256},
    "imagenet2012": {"train": 1_281_167, "validation": 50_000},
    "imdb_reviews": {"train": 25_000, "test": 25_000, "unsupervised": 50_000},
    "imdb_reviews/plain_text": {"train": 25_000, "test": 25_000, "unsupervised": 50_000},
    "kmnist": {"train": 60_000, "test": 10_000},
    "malaria": {"train": 27_558},
    "mnist": {"train": 60_000, "test": 10_000},
    "movielens/100k-ratings": {"train": 100_000},
    "oxford_flowers102": {"train": 1_020, "validation": 1_020, "test": 6_149},
    "oxford_iiit_pet": {"train": 3_680, "test": 3_669},
    "rock_paper_scissors": {"train": 2_520, "test": 372},
    "stl10": {"train": 5_000, "test": 8_000, "unlabelled": 100_000},
    "svhn_cropped": {"train": 73_257, "test": 26_032, "extra": 531_131},
    "tf_flowers": {"train": 3_670},
}
_SPLIT: Final = re.compile(r"(?P<name>\w+)(?:\[(?P<start>-?\d+%?)?:(?P<stop>-?\d+%?)?\])?")


def splits_of(name: str) -> dict[str, int]:
    """How many examples each split of a data set has; nothing where that is not known."""
    return _EXAMPLES.get(name.partition(":")[0], {})


def examples_of(name: str, split: str) -> int | None:
    """How many examples `split` has: a split's name, a part of it as in `train[:80%]`, or several with `+`."""
    sizes = [_examples_of_one(splits_of(name), part.strip()) for part in split.split("+")]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _examples_of_one(sizes: dict[str, int], part: str) -> int | None:
    found = _SPLIT.fullmatch(part)
    size = sizes.get(found["name"]) if found else None
    if found is None or size is None:
        return None
    start, stop = (None if bound is None else _index(bound, size) for bound in found.group("start", "stop"))
    return len(range(size)[start:stop])


def _index(bound: str, size: int) -> int:
    """A bound of a part, in examples; percents are rounded to the closest."""
    return round(int(bound[:-1]) * size / 100) if bound.endswith("%") else int(bound)
