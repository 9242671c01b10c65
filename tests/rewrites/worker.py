"""The process that imports TensorFlow: reads pairs of programs as JSON lines, and says how the two compare.

Started with `XLA_FLAGS=--xla_dump_to=FOLDER/dump`: every compilation leaves one file there.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

# Rounding differs between eager execution and XLA: relative and absolute tolerance by the size of a number in bytes.
TOLERANCE = {2: 3e-2, 4: 2e-4, 8: 1e-6}


def load(code: str, path: Path) -> Callable[..., Any]:
    """The plain function of the `tf.function` named `f` of a program; from a real file, because AutoGraph reads it."""
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f.python_function  # type: ignore[no-any-return]


def tensors(sample: Sequence[dict[str, Any]]) -> list[tf.Tensor]:
    return [tf.cast(np.array(one["values"], "float64").reshape(one["shape"]), one["dtype"]) for one in sample]


def with_gradients(function: Callable[..., Any], arguments: Sequence[tf.Tensor], wanted: bool) -> list[tf.Tensor]:
    """What the function returns, and if `wanted` the gradients of a weighted sum of it by what is floating in its
    arguments."""
    sources = [one for one in arguments if one.dtype.is_floating and wanted]
    with tf.GradientTape() as tape:
        for source in sources:
            tape.watch(source)
        results = tf.nest.flatten(function(*arguments))
        floating = [one for one in results if tf.is_tensor(one) and one.dtype.is_floating]
        sums = [tf.cast(tf.reduce_sum(one * _weights(one)), tf.float64) for one in floating]
    gradients = tape.gradient(sums, sources, unconnected_gradients="zero") if sums and sources else []
    return [tf.convert_to_tensor(one) for one in (*results, *gradients)]


def _weights(result: tf.Tensor) -> tf.Tensor:
    """Another weight for each element, so that gradients cannot change places unseen."""
    return tf.reshape(tf.cast(1 + tf.range(tf.size(result)) % 5, result.dtype), tf.shape(result))


def eager(function: Callable[..., Any], arguments: Sequence[tf.Tensor], wanted: bool) -> list[tf.Tensor]:
    tf.config.run_functions_eagerly(True)
    try:
        return with_gradients(function, arguments, wanted)
    finally:
        tf.config.run_functions_eagerly(False)


def difference(expected: Sequence[tf.Tensor], actual: Sequence[tf.Tensor]) -> str | None:
    """The first difference in number, dtype, shape or value; None where there is none."""
    if len(expected) != len(actual):
        return f"{len(expected)} results, then {len(actual)}"
    for at, (one, other) in enumerate(zip(expected, actual, strict=True)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"result {at}: {one.dtype.name}{one.shape}, then {other.dtype.name}{other.shape}"
        left, right = one.numpy(), other.numpy()
        if one.dtype.is_floating:
            tolerance = TOLERANCE[one.dtype.size]
            equal = np.allclose(left.astype("f8"), right.astype("f8"), tolerance, tolerance, equal_nan=True)
        else:
            equal = np.array_equal(left, right)
        if not equal:
            return f"result {at}: {left.tolist()}, then {right.tolist()}"
    return None


def run(job: dict[str, Any], folder: Path, number: int) -> dict[str, Any]:
    """Each sample: the difference between both programs, and whether XLA alone makes it: the original, compiled, has
    it too."""
    original = load(job["original"], folder / f"original_{number}.py")
    rewritten = load(job["rewritten"], folder / f"rewritten_{number}.py")
    for old in (folder / "dump").glob("*"):
        old.unlink()
    if job["autograph"]:  # not by the `tf.function` itself: one inside of another has a gradient of its own
        rewritten = tf.autograph.to_graph(rewritten)
    wanted = job["gradients"]
    compiled = tf.function(lambda *given: with_gradients(rewritten, given, wanted), jit_compile=True, autograph=False)
    converted = tf.function(original)
    by_itself = tf.function(lambda *given: with_gradients(converted, given, wanted), jit_compile=True, autograph=False)
    answers = [_compared(original, compiled, tensors(sample), wanted) for sample in job["samples"]]
    compilations = len([*(folder / "dump").glob("*before_optimizations.txt")])
    for answer, sample in zip(answers, job["samples"], strict=True):
        actual = answer.pop("actual")
        if actual is not None and answer["difference"] is not None:
            answer["excused"] = _agrees(by_itself, tensors(sample), actual)
    return {"answers": answers, "compilations": compilations}


def _compared(
    original: Callable[..., Any], compiled: Callable[..., Any], arguments: Sequence[tf.Tensor], wanted: bool
) -> dict[str, Any]:
    answer: dict[str, Any] = {"difference": None, "excused": False, "unmeasured": None, "actual": None}
    try:
        expected = eager(original, arguments, wanted)
    except Exception as error:
        return answer | {"unmeasured": f"{type(error).__name__}: {error}"}
    try:
        actual = compiled(*arguments)
    except Exception as error:
        return answer | {"difference": f"{type(error).__name__}: {error}"}
    return answer | {"difference": difference(expected, actual), "actual": actual}


def _agrees(function: Callable[..., Any], arguments: Sequence[tf.Tensor], actual: Sequence[tf.Tensor]) -> bool:
    """Whether the original, compiled by XLA, gives the same; it need not compile."""
    try:
        return difference(function(*arguments), actual) is None
    except (tf.errors.OpError, TypeError, ValueError):
        return False


def main() -> None:
    folder = Path(sys.argv[1])
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        print(json.dumps({"ready": True}), file=answers, flush=True)
        for number, line in enumerate(sys.stdin):
            try:
                answer = run(json.loads(line), folder, number)
            except Exception as error:
                answer = {"failure": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
