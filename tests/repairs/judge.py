"""The process that runs one function before and after its fixes: eagerly, and compiled by XLA on three samples.

    python judge.py FOLDER < JOB

Started with `XLA_FLAGS=--xla_dump_to=FOLDER/dump`: every compilation leaves one file there. Nothing of xlalint is here.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

SAMPLES = 3
_INPUT = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d, ]*)\](?:<(?P<limit>\d+))?")
_DTYPES = {"f32": tf.float32, "i32": tf.int32, "u8": tf.uint8, "bool": tf.bool}


def load(code: str, path: Path) -> Any:
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def sample(inputs: Sequence[str], seed: int) -> list[tf.Tensor]:
    """Values for the inputs."""
    chance, made = np.random.default_rng(seed), []
    for text in inputs:
        found = _INPUT.fullmatch(text)
        assert found is not None, text
        shape = [int(size) for size in found["shape"].split(",") if size.strip()]
        values: Any
        match found["dtype"]:
            case "f32":
                values = chance.normal(size=shape)
            case "u8":
                values = chance.integers(0, 256, shape)
            case "bool":
                values = chance.integers(0, 2, shape)
            case _:
                values = chance.integers(0, int(found["limit"]), shape)
        made.append(tf.cast(np.asarray(values, "float64"), _DTYPES[found["dtype"]]))
    return made


def with_gradients(function: Callable[..., Any], arguments: Sequence[tf.Tensor]) -> list[Any]:
    """What the function gives, and the gradients of it by its floats."""
    sources = [one for one in arguments if one.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        results = [tf.convert_to_tensor(one) for one in tf.nest.flatten(function(*arguments)) if one is not None]
        floating = [tf.reduce_sum(one) for one in results if one.dtype.is_floating]
    if not floating or not sources:
        return results
    gradients = tape.gradient(floating, sources, unconnected_gradients="zero")
    return [*results, *map(tf.convert_to_tensor, gradients)]


def eagerly(function: Callable[..., Any], arguments: Sequence[tf.Tensor]) -> Any:
    tf.config.run_functions_eagerly(True)
    try:
        return with_gradients(function, arguments)
    except Exception as error:
        return error
    finally:
        tf.config.run_functions_eagerly(False)


def difference(expected: Any, actual: Any, padded: bool = False) -> str | None:
    """The first difference between two outcomes; None where there is none. `padded`: what is behind that which was
    expected does not count."""
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        return None if type(expected) is type(actual) else f"{_brief(expected)}, then {_brief(actual)}"
    if len(expected) != len(actual):
        return f"{len(expected)} results, then {len(actual)}"
    for one, other in zip(expected, actual, strict=True):
        one, other = tf.convert_to_tensor(one), tf.convert_to_tensor(other)
        if padded and one.shape.rank == other.shape.rank:
            other = other[tuple(slice(size) for size in one.shape)]
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{one.dtype.name}{one.shape}, then {other.dtype.name}{other.shape}"
        left, right = one.numpy(), other.numpy()
        same = np.allclose(left, right, 1e-4, 1e-5, equal_nan=True) if one.dtype.is_floating else (left == right).all()
        if not same:
            return f"{left.tolist()}, then {right.tolist()}"[:200]
    return None


def _brief(outcome: Any) -> str:
    return (
        " ".join(f"{type(outcome).__name__}: {outcome}".split())[:200] if isinstance(outcome, Exception) else "values"
    )


def judged(
    code: str, path: Path, inputs: Sequence[str], expected: Sequence[Any] | None, dump: Path, padded: bool = False
) -> dict[str, Any]:
    """How a file does: its eager results, and what becomes of it under XLA, against `expected` or its own results."""
    samples = [sample(inputs, seed) for seed in range(SAMPLES)]
    function = load(code, path)
    eager = [eagerly(function, arguments) for arguments in samples]
    found = [] if expected is None else [difference(*both, padded) for both in zip(expected, eager, strict=True)]
    changed = next(filter(None, found), None)
    # Its variables made anew, and not as a `tf.function` in another one, whose gradients have a program of their own.
    plain = load(code, path).python_function
    traced = plain if "autograph=False" in code else tf.autograph.to_graph(plain)
    compiled = tf.function(lambda *given: with_gradients(traced, given), jit_compile=True, autograph=False)
    for old in dump.glob("*"):
        old.unlink()
    trouble, fails = None, False
    for right, arguments in zip(eager if expected is None else expected, samples, strict=True):
        try:
            actual = compiled(*arguments)
        except Exception as error:
            actual, fails = error, True
        trouble = trouble or difference(right, actual, padded)
    count = len([*dump.glob("*before_optimizations.txt")])
    return {"eager": eager, "changed": changed, "trouble": trouble, "fails": fails, "compilations": count}


def main() -> None:
    folder, job = Path(sys.argv[1]), json.load(sys.stdin)
    dump = folder / "dump"
    before = judged(job["before"], folder / "before.py", job["inputs"], None, dump)
    expected = before.pop("eager")
    answer = {"fails": next((_brief(one) for one in expected if isinstance(one, Exception)), None), "before": before}
    if job["after"] != job["before"]:
        after = judged(job["after"], folder / "after.py", job["inputs"], expected, dump, job["padded"])
        after.pop("eager")
        answer["after"] = after
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
