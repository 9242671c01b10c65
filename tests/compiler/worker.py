"""The process that imports TensorFlow: reads jobs as JSON lines, runs each on the compiler, answers with JSON lines.

Started by the harness with `XLA_FLAGS=--xla_dump_to=FOLDER/dump`: every compilation leaves one file there whose name
ends in `before_optimizations.txt`, and `<=` in its text is a bounded dynamic shape.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import keras  # type: ignore[import-untyped]
import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

VALUE_SETS = 4
DTYPES = {
    "f16": tf.float16,
    "bf16": tf.bfloat16,
    "f32": tf.float32,
    "f64": tf.float64,
    "c64": tf.complex64,
    "i8": tf.int8,
    "i16": tf.int16,
    "i32": tf.int32,
    "i64": tf.int64,
    "u8": tf.uint8,
    "bool": tf.bool,
    "str": tf.string,
}
SPEC = re.compile(r"(?P<dtype>\w+)\[(?P<dims>[\d., ]*)\]")
TensorFunction = type(tf.function(lambda: None))


# -- inputs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spec:
    """One input: its dtype and, per shape variant, its shape."""

    dtype: tf.DType
    shapes: tuple[tuple[int, ...], ...]


def parse_spec(text: str) -> Spec:
    found = SPEC.fullmatch(text)
    if found is None or found["dtype"] not in DTYPES:
        raise ValueError(f"not an input spec: {text!r}")
    ranges = [_sizes(part.strip()) for part in found["dims"].split(",") if part.strip()]
    variants = max((len(sizes) for sizes in ranges), default=1)
    shapes = tuple(tuple(sizes[min(variant, len(sizes) - 1)] for sizes in ranges) for variant in range(variants))
    return Spec(DTYPES[found["dtype"]], shapes)


def _sizes(part: str) -> range:
    first, _, last = part.partition("..")
    return range(int(first), int(last or first) + 1)


def signs(count: int, value_set: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Which elements are positive or true: both kinds in every set, and another number of each."""
    positive = (count // 2, count - 1, min(1, count // 2), max(1, count // 2))[value_set]
    chosen = np.zeros(count, bool)
    chosen[:positive] = True
    if count == 1:
        chosen[:] = value_set % 2 == 0
    return chosen if value_set == 0 else random.permutation(chosen)


def content(spec: Spec, variant: int, value_set: int, position: int) -> tf.Tensor:
    """The values of one input. Integers are 1, 2 or 3: valid as sizes and as indices of most axes."""
    shape = spec.shapes[min(variant, len(spec.shapes) - 1)]
    count = int(np.prod(shape))
    random = np.random.default_rng([position, value_set, variant])
    if spec.dtype == tf.bool:
        values: Any = signs(count, value_set, random)
    elif spec.dtype.is_integer or spec.dtype == tf.string:
        values = 1 + (np.arange(count) + value_set + position) % 3 if count == 1 else random.integers(1, 4, count)
    else:
        magnitude = random.uniform(0.25, 2.0, count) * (8.0 if value_set == 1 else 1.0)
        values = np.where(signs(count, value_set, random), magnitude, -magnitude)
    if spec.dtype == tf.string:
        values = np.array(["one", "two", "three"], object)[values - 1]
    return tf.cast(values.reshape(shape), spec.dtype) if spec.dtype != tf.string else tf.constant(values.reshape(shape))


# -- the example ------------------------------------------------------------------------------------------------------


@contextmanager
def loaded(code: str, search: Sequence[str], path: Path) -> Iterator[ModuleType]:
    """The code as a module from a real file (AutoGraph reads sources), forgotten afterwards with all it imported."""
    path.write_text(code, encoding="utf-8")
    before = set(sys.modules)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    vars(module).update(tf=tf, keras=keras)
    sys.modules[path.stem] = module
    sys.path[:0] = search
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.path[: len(search)]
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", None)).startswith((str(path.parent), *search)):
                del sys.modules[name]


def entry_point(module: ModuleType, name: str | None) -> Any:
    found = [getattr(module, candidate) for candidate in ([name] if name else ["f", "L"]) if hasattr(module, candidate)]
    if not found:
        raise LookupError("the example defines neither the function `f` nor the class `L`")
    return found[0]() if inspect.isclass(found[0]) else found[0]


def compiled(target: Any) -> Callable[..., Any]:
    if isinstance(target, TensorFunction):
        return target  # type: ignore[no-any-return]
    if inspect.isroutine(target):
        return tf.function(target, jit_compile=True)  # type: ignore[no-any-return]
    # Keras calls layers, losses and metrics from a step function that AutoGraph does not convert.
    return tf.function(lambda *arguments: target(*arguments), jit_compile=True, autograph=False)  # type: ignore[no-any-return]


def variables(module: ModuleType, target: Any) -> list[Any]:
    """The state that a call may change: the object's variables and those at module level."""
    own = list(getattr(target, "variables", ()))
    return own + [value for value in vars(module).values() if isinstance(value, tf.Variable)]


# -- running ----------------------------------------------------------------------------------------------------------


def same(expected: Any, actual: Any) -> bool:
    """Equal structure, shapes and dtypes, and values up to rounding."""
    flat_expected, flat_actual = tf.nest.flatten(expected), tf.nest.flatten(actual)
    if len(flat_expected) != len(flat_actual):
        return False
    return all(map(same_leaf, flat_expected, flat_actual))


def same_leaf(expected: Any, actual: Any) -> bool:
    if expected is None or actual is None:
        return expected is actual
    left, right = np.asarray(expected), np.asarray(actual)
    if left.shape != right.shape or (tf.is_tensor(expected) and tf.is_tensor(actual) and left.dtype != right.dtype):
        return False
    if left.dtype.kind in "OSUb" or right.dtype.kind in "OSUb":
        return bool(np.array_equal(left, right))
    tolerance = 1e-2 if left.dtype.itemsize <= 2 else 1e-4
    return bool(np.allclose(left.astype(complex), right.astype(complex), tolerance, tolerance, equal_nan=True))


def eager(target: Any, arguments: Sequence[tf.Tensor], state: Sequence[Any]) -> Any:
    """The result without any graph; the state is put back, so that the compiled call starts from the same."""
    saved = [variable.numpy() for variable in state]
    tf.config.run_functions_eagerly(True)
    try:
        return target(*arguments)
    finally:
        tf.config.run_functions_eagerly(False)
        for variable, value in zip(state, saved, strict=True):
            variable.assign(value)


def call(function: Callable[..., Any], arguments: Sequence[tf.Tensor], expected: Any, dump: Path) -> dict[str, Any]:
    """One compiled call, and the files that the compiler left for it."""
    for old in dump.glob("*"):
        old.unlink()
    record: dict[str, Any] = {"equal": False, "error": None, "trace": None}
    try:
        record["equal"] = same(expected, function(*arguments))
    except Exception as error:
        record |= {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    texts = [path.read_text(errors="replace") for path in dump.glob("*before_optimizations.txt")]
    return record | {"compilations": len(texts), "bounded": any("<=" in text for text in texts)}


def run(job: dict[str, Any], folder: Path, number: int) -> dict[str, Any]:
    """All calls of one example: every shape variant with every value set. Stops at the first error."""
    calls: list[dict[str, Any]] = []
    try:
        specs = [parse_spec(text) for text in job["inputs"]]
        with ExitStack() as stack:
            module = stack.enter_context(loaded(job["code"], job["search"], folder / f"example_{number}.py"))
            target = entry_point(module, job["entry"])
            function = compiled(target)
            reference, around = target, module
            if job["original"] is not None:
                path = folder / f"original_{number}.py"
                around = stack.enter_context(loaded(job["original"], job["search"], path))
                reference = entry_point(around, job["entry"])
            for variant in range(max((len(spec.shapes) for spec in specs), default=1)):
                for value_set in range(VALUE_SETS):
                    arguments = [content(spec, variant, value_set, place) for place, spec in enumerate(specs)]
                    if not calls:
                        for made in {id(target): target, id(reference): reference}.values():
                            eager(made, arguments, [])  # a Keras object makes its variables at its first call
                    expected = eager(reference, arguments, variables(around, reference))
                    calls.append({"variant": variant} | call(function, arguments, expected, folder / "dump"))
                    if calls[-1]["error"] is not None:
                        return {"calls": calls, "failure": None}
    except Exception as error:
        return {"calls": calls, "failure": f"{type(error).__name__}: {error}"}
    return {"calls": calls, "failure": None}


def run_program(job: dict[str, Any], folder: Path, number: int) -> dict[str, Any]:
    """A whole program as one call."""
    for old in (folder / "dump").glob("*"):
        old.unlink()
    record: dict[str, Any] = {"variant": 0, "equal": True, "bounded": False, "error": None, "trace": None}
    try:
        with loaded(job["program"], job["search"], folder / f"program_{number}.py"):
            pass
    except Exception as error:
        record |= {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    compilations = len(list((folder / "dump").glob("*before_optimizations.txt")))
    return {"calls": [record | {"compilations": compilations}], "failure": None}


def main() -> None:
    folder = Path(sys.argv[1])
    devices = [tf.config.LogicalDeviceConfiguration() for _ in range(2)]  # what a strategy needs
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
    # The answers keep the real standard output; what examples print goes to the log.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        print(json.dumps({"ready": True}), file=answers, flush=True)
        for number, line in enumerate(sys.stdin):
            job = json.loads(line)
            answer = run_program if "program" in job else run
            print(json.dumps(answer(job, folder, number)), file=answers, flush=True)


if __name__ == "__main__":
    main()
