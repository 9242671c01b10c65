"""A program: what Keras's JAX trainer compiles, by what is done, as JSON. Run with KERAS_BACKEND=jax."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax
import keras  # type: ignore[import-untyped]
import numpy as np

_STEPS: Final = ("train_step", "test_step", "predict_step")
_compiled: Counter[str] = Counter()


def _heard(event: str, duration_secs: float, **more: Any) -> None:
    name = str(more.get("fun_name")).removeprefix("jit(").removesuffix(")")
    if event == "/jax/core/compile/backend_compile_duration" and name in _STEPS:
        _compiled[name] += 1


class NoJit(keras.layers.Layer):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.supports_jit = False

    def call(self, x: Any) -> Any:
        return x * 1.0


class Branch(keras.Model):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        y = self.dense(x)
        return y if keras.ops.any(x > 0.5) else -y


class Plain(keras.Model):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.dense(x)


def data(rows: int) -> tuple[Any, Any]:
    return np.ones((rows, 3), "float32"), np.ones((rows, 1), "float32")


def model(*layers: Any, **options: Any) -> Any:
    made = keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(1)])
    made.compile("sgd", "mse", **options)
    return made


def fit(made: Any, rows: int, **options: Any) -> None:
    made.fit(*data(rows), **{"batch_size": 4, "verbose": 0, **options})


def generated() -> Iterator[tuple[Any, Any]]:
    yield from map(data, (4, 4, 3, 4, 2))


def scenarios() -> dict[str, Callable[[], Any]]:
    one, checked, other = model(), model(), Plain()
    other.compile("sgd", "mse")

    def again() -> None:
        one.compile("sgd", "mse")
        fit(one, 8)

    def rate() -> None:
        one.optimizer.learning_rate = 0.5
        fit(one, 8)

    return {
        "`fit`: 8 rows, batches of 4, three epochs": lambda: fit(one, 8, epochs=3),
        "the same `fit` again": lambda: fit(one, 8, epochs=3),
        "`fit`: 10 rows, batches of 4: the last one has 2": lambda: fit(one, 10),
        "`evaluate`: 10 rows, batches of 4": lambda: one.evaluate(*data(10), batch_size=4, verbose=0),
        "`predict`: 10 rows, batches of 4": lambda: one.predict(data(10)[0], batch_size=4, verbose=0),
        "`predict`: 7 rows, batches of 4: the last one has 3": lambda: one.predict(data(7)[0], batch_size=4, verbose=0),
        "`train_on_batch`: 8 rows, three times": lambda: [one.train_on_batch(*data(8)) for _ in range(3)],
        "`train_on_batch`: 5 rows, then 6": lambda: [one.train_on_batch(*data(rows)) for rows in (5, 6)],
        "`fit` with another learning rate": rate,
        "`compile` again, and `fit`": again,
        "`fit` with `sample_weight`": lambda: fit(one, 8, sample_weight=np.ones(8, "float32")),
        "`model(x)`": lambda: one(data(8)[0]),
        "a new model, `fit` with `validation_data`": lambda: fit(checked, 8, validation_data=data(8)),
        "`run_eagerly=True`: `fit`": lambda: fit(model(run_eagerly=True), 8),
        "`jit_compile=False`: `fit`": lambda: fit(model(jit_compile=False), 8),
        "`steps_per_execution=2`: `fit` of 5 batches": lambda: fit(model(steps_per_execution=2), 20),
        "a layer with `supports_jit = False`: `fit`": lambda: fit(model(NoJit()), 8),
        "a generator of batches of 4, 4, 3, 4 and 2 rows: `fit`": lambda: other.fit(generated(), verbose=0),
    }


def failure(**options: Any) -> str:
    """What `fit` of a built model raises that branches on a value."""
    keras.config.disable_traceback_filtering()
    made = Branch()
    made.compile("sgd", "mse", **options)
    made(data(8)[0])
    try:
        fit(made, 8)
    except RuntimeError as error:
        return str(error)
    return ""


def hidden() -> str:
    """What a layer's error is by default."""
    keras.config.enable_traceback_filtering()
    made = Branch()
    made(data(8)[0])
    try:
        jax.jit(made)(data(8)[0])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def deleted() -> str:
    made = model()
    before = made.layers[-1].kernel.value
    fit(made, 8)
    try:
        np.asarray(before)
    except RuntimeError as error:
        return str(error)
    return ""


def main() -> None:
    jax.monitoring.register_event_duration_secs_listener(_heard)
    found = {}
    for name, run in scenarios().items():
        _compiled.clear()
        run()
        found[name] = dict(_compiled)
    print(
        json.dumps(
            {
                "compiled": found,
                "auto": model().jit_compile,
                "refused": model(NoJit()).jit_compile,
                "failures": [failure(), failure(run_eagerly=True), failure(jit_compile=False)],
                "hidden": hidden(),
                "deleted": deleted(),
            }
        )
    )


if __name__ == "__main__":
    main()
