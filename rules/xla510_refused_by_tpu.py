"""This call compiles for a CPU, but not for a TPU.

## What it does
Reports calls that were measured to compile for a CPU but not for a TPU, in compiled code for TPUs: the setting `target
= "tpu"` says so, or the program creates a TPU strategy.

## What XLA does
Each call of the public API was compiled for a CPU (TensorFlow 2.21), and lowered and compiled for a TPU (TensorFlow
2.20, libtpu 0.0.19, v5e; nothing was run on one).

- A TPU splits each 64-bit number into two 32-bit ones, and cannot do so for all operations ("While rewriting
  computation to not contain X64 element types .."). These fail: drawing float64 numbers (`tf.random.uniform`, `normal`
  and `truncated_normal` of that dtype, and all of `tnp.random`), reading their bits (`keras.ops.nextafter`, which works
  in float64), and int64 matrix products. Stateless random numbers, arithmetic, sorting and linear algebra in float64
  compile.
- A TPU has no kernels for complex128 (`tnp.complex128()`, see XLA507).
- A TPU does not resize by a size that it pads (`keras.layers.RandomCrop`).

`xlalint facts NAME` shows both compilers, and `xlalint facts --on-tpu` all calls that they compile differently.

## Example
    noise = tnp.random.rand(4)

## Use instead
    noise = tf.random.uniform([4])

## Not flagged
- Code that is not for TPUs, and code that XLA does not compile.
- Calls that recompile for each value on a CPU. XLA205 and XLA206 say what a TPU does with them.
- 64-bit tensors from elsewhere: their width is unknown.

## Fix safety
Shown only: you have to decide whether half the digits are enough.

## References
- https://docs.cloud.google.com/tpu/docs/tensorflow-ops
- https://www.tensorflow.org/xla/known_issues
"""

from collections.abc import Iterator, Mapping
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Api, Static, Value
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import Event
from xlalint.facts import tables, tpu
from xlalint.facts.tables import ApiFact, Outcome
from xlalint.facts.tpu import OnTpu
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import ApiCall, Bad, Compiles, Draft, Effect, Good, Rule, Told, TpuOutcome

from ._kernels import case_of, event_name, fact_of
from ._names import names

TARGET: Final = "tpu"
NUMPY: Final = "import tensorflow.experimental.numpy as tnp\n"
OF_64_BITS: Final = "X64 element types"
SPLIT: Final = "a TPU splits each 64-bit number into two 32-bit ones, and cannot do so for this operation"
# What draws numbers of a dtype, which may be float64.
DRAWN: Final = names("tf.random.normal tf.random.truncated_normal tf.random.uniform")
# What is compiled for each value anew, and what no compiler takes, others speak of.
OTHERS: Final = (Outcome.RECOMPILES, Outcome.FAILS)


def _facts() -> Iterator[ApiFact]:
    found = (tables.api(name) for name in tpu.refused_names())
    return (fact for fact in found if fact is not None)


class RefusedByTpu(Rule):
    code = "XLA510"
    name = "refused-by-tpu"
    handles = (ApiCall,)
    apis = frozenset(map(event_name, _facts())) | DRAWN
    bad = (
        Bad(
            f"""
{NUMPY}
@tf.function(jit_compile=True)
def f(x):
    return x + tf.cast(tnp.random.rand(4), tf.float32) * 0.0
""",
            ["tnp.random.rand(4)"],
            Compiles(),
            effect=Effect.TPU,
            target=TARGET,
        ),
        Bad(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    return keras.ops.nextafter(x, x + 1.0)
""",
            ["keras.ops.nextafter(x, x + 1.0)"],
            Compiles(),
            effect=Effect.TPU,
            target=TARGET,
        ),
        Bad(
            f"""
{NUMPY}
def noise(x):
    return tf.cast(tnp.random.randn(4), x.dtype)

class L(tf.keras.layers.Layer):
    def call(self, x):
        return x + noise(x) * 0.0
""",
            ["tnp.random.randn(4)"],
            Compiles(),
            effect=Effect.TPU,
            target=TARGET,
        ),
        Bad(
            f"""
{NUMPY}
@tf.function(jit_compile=True)
def f(x):
    turned = tnp.complex128() + tf.cast(tnp.random.uniform(size=[4]), tf.complex128)
    return x + tf.cast(tf.abs(turned), tf.float32) * 0.0
""",
            ["tnp.complex128()", "tnp.random.uniform(size=[4])"],
            Compiles(),
            effect=Effect.TPU,
            target=TARGET,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    drawn = tf.random.normal([4], dtype=tf.float64) + tf.random.uniform([4], dtype="float64")
    return x + tf.cast(drawn, tf.float32) * 0.0
""",
            ["tf.random.normal([4], dtype=tf.float64)", 'tf.random.uniform([4], dtype="float64")'],
            Compiles(),
            effect=Effect.TPU,
            target=TARGET,
        ),
    )
    good = (
        Good(
            f"""
{NUMPY}
@tf.function(jit_compile=True)
def f(x):
    return x + tf.cast(tnp.random.rand(4), tf.float32) * 0.0
""",
            why="nothing says that it is for TPUs",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    drawn = tf.random.stateless_normal([4], [1, 2], dtype=tf.float64)
    return x + (tf.random.uniform([4]) + tf.cast(drawn, tf.float32)) * 0.0 + tf.math.nextafter(x, x + 1.0)
""",
            target=TARGET,
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, y):
    return tf.broadcast_to(x, tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y)))
""",
            inputs=("f32[1, 3]", "f32[4, 3]"),
            why="shapes are known when it is compiled",
            target=TARGET,
        ),
        Good(
            f"""
{NUMPY}
@tf.function
def f(x):
    return x + tf.cast(tnp.random.rand(4), tf.float32) * 0.0
""",
            None,
            why="nothing compiles it",
            target=TARGET,
        ),
        Good(
            f"""
{NUMPY}
START = tnp.random.rand(4)

@tf.function(jit_compile=True)
def f(x):
    return x + tf.cast(START, tf.float32) * 0.0
""",
            why="made before anything is compiled",
            target=TARGET,
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, arguments=arguments) if event.context.kind is ContextKind.XLA and api in DRAWN:
                if _is_double(arguments.get("dtype", Static(None))):
                    yield _draft(event, SPLIT)
            case ApiCall(arguments=arguments) if event.context.kind is ContextKind.XLA:
                fact = fact_of(event, self.tensorflow)
                case = case_of(fact, arguments) if fact is not None else None
                found = tpu.of_call(case.call) if case is not None and case.outcome not in OTHERS else None
                if found is not None and found.outcome is TpuOutcome.FAILS and _is_so_here(found, arguments):
                    yield _draft(event, _why(found))


def _draft(event: ApiCall, why: str) -> Draft:
    message = f"`{brief(event.node)}` compiles for a CPU, but not for a TPU: {why}"
    return Draft(message, Effect.TPU, on_tpu=TpuOutcome.FAILS, told=Told.FOR_TPU)


def _is_double(dtype: Value) -> bool:
    match dtype:
        case Api("tf.float64" | "tf.double" | "np.float64") | Static("float64" | "double"):
            return True
        case _:
            return False


def _is_so_here(found: OnTpu, arguments: Mapping[str, Value]) -> bool:
    """Whether what has to be a compile-time constant is none: some argument is data."""
    return tpu.CONSTANT not in found.detail or any(map(as_tensor, arguments.values()))


def _why(found: OnTpu) -> str:
    if found.missing:
        return f"no kernel for {', '.join(f'`{op}`' for op in found.missing)}"
    return SPLIT if OF_64_BITS in found.detail else found.detail
