"""Measures `names.json`: which paths of the public API lead to one object, and how its parameters are called.

`aliases` maps a path to the canonical one, `signatures` a canonical path to its positional parameters (names parted by
blanks). Prefixes: `tf.` (also for what only `tf.compat.v1` has), `keras.`, `tnp.`.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, Final

# Not part of what a model calls, or too large for what it is good for.
SKIPPED: Final = """tf.compat tf.keras tf.raw_ops tf.lite tf.tools tf.mlir tf.errors tf.experimental.numpy tf.version
    tf.test tf.app tf.flags tf.logging tf.resource_loader tf.estimator tf.user_ops tf.python_io tf.sysconfig
    keras.src keras.version tf.initializers tf.losses tf.metrics tf.optimizers keras.optimizers.legacy"""

# What does another thing in version 1 than under the same path in version 2: it keeps version 1's path.
OF_VERSION_1: Final = "tf.summary.audio tf.summary.histogram tf.summary.image tf.summary.scalar tf.summary.text"

# Among paths of equal length: the home of most names first.
HOMES: Final = """tf.math tf.linalg tf.nn tf.image tf.strings tf.io tf.random tf.signal keras.layers keras.losses
    keras.metrics keras.models keras.utils keras.initializers keras.regularizers keras.constraints keras.optimizers"""

# Names that people know under another path than the shortest one.
PREFERRED: Final = """tf.nn.log_softmax tf.nn.softmax tf.nn.softplus tf.nn.softsign tf.nn.l2_normalize
    tf.nn.zero_fraction tf.linalg.norm tf.nn.local_response_normalization tf.float32 tf.float64 tf.float16
    keras.layers.Layer keras.losses.Loss keras.metrics.Metric keras.optimizers.Optimizer
    keras.initializers.Initializer keras.regularizers.Regularizer"""

# Classes whose methods are called with positional arguments.
WITH_METHODS: Final = """tf.Tensor tf.Variable tf.TensorArray tf.GradientTape tf.RaggedTensor tf.TensorShape
    tf.random.Generator tf.data.Dataset tf.distribute.Strategy tf.SparseTensor
    keras.Model keras.layers.Layer keras.losses.Loss keras.metrics.Metric keras.optimizers.Optimizer"""


def measure() -> str:
    """The text of `names.json` for the installed TensorFlow and Keras."""
    tf = importlib.import_module("tensorflow")
    objects = dict(public(tf, "tf"))
    first = set(objects)
    keras = importlib.import_module("keras")
    for root, prefix in ((tf.experimental.numpy, "tnp"), (keras, "keras"), (tf.keras, "keras")):
        objects |= {path: value for path, value in public(root, prefix) if path not in objects}
    canonical = canonical_paths(objects)
    # Where version 1 has its own object under a path of version 2, the names of both mean the same thing.
    old = dict(public(tf.compat.v1, "tf"))
    for paths in by_object(old).values():
        shared = [path for path in paths if path in first]
        same = [path for path in objects if objects[path] is old[paths[0]]]
        targets = [canonical[path] for path in shared or same]
        target = best(targets, objects) if targets else best(paths, old)
        canonical |= {path: target for path in paths if path not in canonical}
        objects |= {path: old[path] for path in paths if path not in objects}
    for path in OF_VERSION_1.split():
        own = path.replace("tf.", "tf.compat.v1.", 1)
        canonical[own], objects[own] = own, old[path]
    signatures = {path: parameters(objects[path]) for path in sorted(set(canonical.values()))}
    for owner in WITH_METHODS.split():
        for name, value in inspect.getmembers(objects[owner], callable):
            if not name.startswith("_"):
                signatures[f"{owner}.{name}"] = parameters(value).removeprefix("self").lstrip()
    aliases = {path: target for path, target in sorted(canonical.items()) if path != target}
    return json.dumps({"aliases": aliases, "signatures": signatures}, separators=(",", ":"), indent=0) + "\n"


def public(module: ModuleType, prefix: str, above: tuple[ModuleType, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every function, class and dtype below a module, by path."""
    for name in dir(module):
        path = f"{prefix}.{name}"
        if name.startswith("_") or path in SKIPPED.split():
            continue
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            origin = getattr(value, "__name__", ".python.")  # a lazy module without a name cannot be loaded
            if value not in above and not re.search(r"\.(python|core|src)(\.|$)", origin):
                yield from public(value, path, (*above, module))
        elif callable(value) or type(value).__name__ == "DType":
            yield path, value


def by_object(objects: dict[str, Any]) -> dict[int, list[str]]:
    """The paths of each object."""
    groups: dict[int, list[str]] = defaultdict(list)
    for path, value in objects.items():
        groups[id(value)].append(path)
    return groups


def canonical_paths(objects: dict[str, Any]) -> dict[str, str]:
    """The canonical path of each path."""
    return {path: best(paths, objects) for paths in by_object(objects).values() for path in paths}


def best(paths: Iterable[str], objects: dict[str, Any]) -> str:
    """The canonical one: preferred, few dots, at home, called as it was defined, the word and not its abbreviation."""

    homes, preferred = HOMES.split(), PREFERRED.split()

    def weight(path: str) -> tuple[bool, int, bool, int, bool, int, str]:
        home, _, last = path.rpartition(".")
        rank = homes.index(home) if home in homes else len(homes)
        defined = getattr(objects[path], "__name__", last)
        return (
            path not in preferred, path.count("."), "experimental" in path, rank, last != defined, -len(path), path,
        )  # fmt: skip

    return min(paths, key=weight)


def parameters(value: Any) -> str:
    """The parameters that a positional argument can reach."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # built into the extension module, or not callable
        return ""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return " ".join(p.name for p in signature.parameters.values() if p.kind in positional)
