"""JAX needs a Python value, or a size, where the code has a tensor.

## What it does
Reports arguments that depend on data where JAX needs a Python value while it traces:

- axes, numbers of parts and of points, and shapes of random numbers, in `jax.numpy`, `jax.random`, `jax.lax` and in
  `keras.ops` on JAX, unless XLA205 or XLA206 report them
- functions whose result has as many elements as the data say (`jnp.union1d`, `jnp.extract`, `jnp.delete`,
  `jax.ops.segment_sum` without `num_segments`)

## What XLA does
Measured with JAX 0.10.2: `jax.jit` raises `ConcretizationTypeError`, `TracerIntegerConversionError`,
`TracerBoolConversionError`, or a `TypeError` or `ValueError` that names a tracer. With a static argument, or with
`size=`, the same calls compile.

## Example
    @jax.jit
    def parts(x, count):
        return jnp.split(x, count)

## Use instead
    @partial(jax.jit, static_argnums=1)
    def parts(x, count):
        return jnp.split(x, count)

## Not flagged
Python numbers, static arguments, `x.shape`, and calls with a fixed size.

## Fix safety
No fix: the size is not in the code.

## References
- https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Fails, Good, OnJax, Rule

from ._jax_values import SIZED, python_values
from ._shapes import arguments_from_data

STATIC = "take it from a shape or a constant, or make it a static argument of `jax.jit`"
FIXED = "give it a fixed size (`size=` or `num_segments=`), the largest that occurs, and mask the rest"
NEEDED = "tracing fails: it must be a Python value"
START = """
import jax
import jax.numpy as jnp
import keras
"""


class TracedArgument(Rule):
    code = "XLA210"
    name = "traced-argument"
    traced = True
    handles = (ApiCall,)
    apis = frozenset((*python_values(), *SIZED))
    bad = (
        Bad(
            f"""{START}
@jax.jit
def f(x):
    return jnp.linspace(0.0, 1.0, jnp.argmax(x))
""",
            ["jnp.argmax(x)"],
            None,
            effect=Effect.FAILS,
            backend="jax",
            jax=Fails("ConcretizationTypeError"),
            why="TensorFlow does not run it",
        ),
        Bad(
            f"""{START}
@jax.jit
def f(x, count):
    return jnp.split(x, count)
""",
            ["count"],
            None,
            ("f32[4]", "i32[]"),
            backend="jax",
            jax=Fails("ConcretizationTypeError"),
            why="TensorFlow does not run it",
        ),
        Bad(
            f"""{START}
class L(keras.layers.Layer):
    def call(self, x):
        return keras.ops.linspace(0.0, 1.0, keras.ops.cast(keras.ops.max(x), "int32") + 3)
""",
            ['keras.ops.cast(keras.ops.max(x), "int32") + 3'],
            None,
            backend="jax",
            jax=Fails("ConcretizationTypeError"),
            why="TensorFlow refuses it in any `tf.function`",
        ),
        Bad(
            f"""{START}
@jax.jit
def f(x):
    return jnp.union1d(x, x + 1.0)
""",
            ["jnp.union1d(x, x + 1.0)"],
            None,
            backend="jax",
            jax=Fails("ConcretizationTypeError"),
            why="TensorFlow does not run it",
        ),
        Bad(
            f"""{START}
@jax.jit
def f(x):
    return jax.ops.segment_sum(x, x.astype(int))
""",
            ["jax.ops.segment_sum(x, x.astype(int))"],
            None,
            backend="jax",
            jax=Fails("ConcretizationTypeError"),
            why="TensorFlow does not run it",
        ),
        Bad(
            f"""{START}
@jax.jit
def f(x, n):
    return x + jax.random.normal(jax.random.key(0), (n, 4))
""",
            ["n"],
            None,
            ("f32[4]", "i32[]"),
            backend="jax",
            jax=Fails("TypeError"),
            why="TensorFlow does not run it",
        ),
    )
    good = (
        Good(
            f"""{START}
@jax.jit
def f(x):
    return jnp.linspace(0.0, 1.0, x.shape[0]) + jnp.union1d(x, x, size=4)
""",
            None,
            backend="jax",
            jax=Compiles(),
        ),
        Good(
            f"""{START}
@jax.jit
def f(x):
    left, right = jnp.split(x, 2)
    return jax.ops.segment_sum(left, right.astype(int), num_segments=3)
""",
            None,
            backend="jax",
            jax=Compiles(),
        ),
        Good(
            f"""{START}
@jax.jit
def f(x, n):
    return x + jax.random.randint(jax.random.key(0), (4,), 0, n + 1)
""",
            None,
            ("f32[4]", "i32[]"),
            backend="jax",
            jax=Compiles(),
            why="a bound of the numbers, not their shape",
        ),
        Good(
            f"""{START}
from functools import partial

@partial(jax.jit, static_argnums=1)
def f(x, count):
    return jnp.split(x, count)
""",
            None,
            backend="jax",
            why="a static argument",
        ),
        Good(
            f"""{START}
import numpy as np

def f(x):
    return jnp.union1d(x, x)

f(np.ones(4))
""",
            None,
            backend="jax",
            why="host code",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, ApiCall)
        call = brief(event.location.node)
        if (fixed := SIZED.get(event.api)) is not None:
            if event.arguments.keys().isdisjoint(fixed) and any(map(as_tensor, event.arguments.values())):
                what = f"the size of `{call}` depends on data"
                jax = OnJax(Effect.FAILS, what, "tracing fails")
                yield Draft(what, Effect.FAILS, FIXED, jax=jax, on_jax_alone=True)
            return
        for parameter in python_values()[event.api]:
            for _, node in arguments_from_data(parameter, event.arguments, event.argument_nodes)[:1]:
                what = f"`{brief(node)}` in `{call}` depends on data"
                jax = OnJax(Effect.FAILS, what, NEEDED)
                location = event.location.at(node)
                yield Draft(what, Effect.FAILS, STATIC, location=location, jax=jax, on_jax_alone=True)
                return
