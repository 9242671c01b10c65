"""The process: reads programs as JSON lines, answers with what became of each. Started by `client`, which sets
KERAS_BACKEND."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import keras  # type: ignore[import-untyped]

from xlalint.authoring.jax.running import Counter, Subject, brief, owners_in
from xlalint.probe.worker.compiling.compare import difference
from xlalint.probe.worker.inputs.numbers import numbers
from xlalint.sources.specs import Form, Keyed, Literal, Many, Spec, leaves, parse_form


class NotRunError(Exception):
    """Nothing can be compared; the text says why."""


def main() -> None:
    counter = Counter()
    # Else Keras makes JAX's errors anew from their texts, and what is seen is an AttributeError about `_error_repr`.
    keras.config.disable_traceback_filtering()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # what the code prints goes to the log
        print(json.dumps({"ready": {"jax": jax.__version__, "keras": keras.__version__}}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line), counter)), file=answers, flush=True)


def answer(job: Mapping[str, Any], counter: Counter) -> dict[str, Any]:
    """What became of one program: its calls, or why there are none."""
    try:
        return {"calls": list(_calls(job, counter))}
    except NotRunError as error:
        return {"failure": str(error)}


def _calls(job: Mapping[str, Any], counter: Counter) -> Iterator[dict[str, Any]]:
    forms = [parse_form(text) for text in job["inputs"]]
    variants = max((spec.variants for form in forms for spec in leaves(form)), default=1)
    try:
        subject = _subject(job, forms)
        subject.eager(*_arguments(forms, 0, 0))  # objects make their variables at their first call
        subject.save()
    except Exception as error:
        raise NotRunError(brief(error)) from error
    for variant in range(variants):
        for value_set in range(job["value_sets"]):
            arguments = _arguments(forms, variant, value_set)
            subject.restore()
            try:
                expected = subject.eager(*arguments)
            except jax.errors.UnexpectedTracerError as error:  # the compiled call before has left a tracer
                yield _failed(variant, counter, error)
                return
            except Exception as error:
                raise NotRunError(brief(error)) from error
            subject.restore()
            with counter.watching():
                try:
                    told = difference(expected, subject.compiled(*arguments))
                except Exception as error:
                    yield _failed(variant, counter, error)
                    return
            yield {"variant": variant, "compilations": counter.count, "difference": told}


def _failed(variant: int, counter: Counter, error: Exception) -> dict[str, Any]:
    trace = "".join(traceback.format_exception(error))
    return {"variant": variant, "compilations": counter.count, "error": brief(error), "trace": trace}


def _subject(job: Mapping[str, Any], forms: list[Form]) -> Subject:
    """What runs of a file: its function `f`, or an object of its class `L`. Python values among the inputs stay what
    they are; arrays are traced."""
    module = ModuleType("example")
    module.__dict__["keras"] = keras
    path = Path(job["path"])
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    target = getattr(module, job["entry"])
    made = target() if isinstance(target, type) else target
    call = made
    if isinstance(made, keras.metrics.Metric):

        def call(*arguments: Any) -> Any:
            made.update_state(*arguments)
            return made.result()

    jitted = hasattr(made, "lower") and hasattr(made, "clear_cache")
    traced = [place for place, form in enumerate(forms) if not isinstance(form, Literal)]

    def given(*arrays: Any) -> Any:
        arguments = [form.value if isinstance(form, Literal) else None for form in forms]
        for place, array in zip(traced, arrays, strict=True):
            arguments[place] = array
        return call(*arguments)

    return Subject(given, owners_in([made, *vars(module).values()]), jitted)


def _arguments(forms: list[Form], variant: int, value_set: int) -> list[Any]:
    positions = count()
    return [_array(form, variant, value_set, positions) for form in forms if not isinstance(form, Literal)]


def _array(form: Form, variant: int, value_set: int, positions: Iterator[int]) -> Any:
    match form:
        case Spec("string"):
            raise NotRunError("JAX has no strings")
        case Spec():
            return jnp.asarray(numbers(form, variant, value_set, next(positions)), jnp.dtype(form.dtype))
        case Many(kind, items):
            made = [_array(item, variant, value_set, positions) for item in items]
            return made if kind == "list" else tuple(made)
        case Keyed(entries):
            return {key: _array(item, variant, value_set, positions) for key, item in entries}
        case Literal(value):
            return value


if __name__ == "__main__":
    main()
