"""This call compiles, but its gradient does not.

## What it does
Reports calls whose gradient XLA cannot compile, if the code takes a gradient through them.

## What XLA does
Each call was measured; see `xlalint facts NAME`. With TensorFlow 2.21:

- The gradients of `tf.linalg.expm`, `tf.linalg.eigh_tridiagonal` and `tf.linalg.experimental.conjugate_gradient` fail
  ("XLA compilation requires a fixed tensor list size"), because they contain a loop without a bound.
- The gradient of `tf.quantization.quantize_and_dequantize_v2` has no kernel.
- The gradient of `tf.dynamic_partition` compiles for a CPU, for every value, but not for a TPU ("Reading input as
  constant from a dynamic tensor is not yet supported"). It is reported in code for TPUs.

Without a gradient, all these calls compile.

## Example
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.linalg.expm(a))
    gradient = tape.gradient(loss, weights)

## Use instead
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.linalg.expm(a))

in a plain `tf.function` around the compiled rest. Or use `tf.stop_gradient` if you do not need the gradient.

## Not flagged
Calls without a gradient through them, and calls whose gradient compiles.

## Fix safety
Shown only: you decide what to compile, and where no gradient is needed.

## References
- https://www.tensorflow.org/xla/known_issues
"""

from collections.abc import Iterator
from dataclasses import replace

from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.facts import tables, tpu
from xlalint.facts.kernels import lacking
from xlalint.facts.tables import Case
from xlalint.facts.tpu import OnTpu
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Fails, Good, Recompiles, Rule, Told, TpuOutcome

from ._gradients import GRADIENTS, LoopsUnderGradients, note_of
from ._kernels import case_of, fact_of, names_without_gradient


class GradientWithoutKernel(Rule):
    code = "XLA407"
    name = "gradient-without-kernel"
    handles = (ApiCall,)
    apis = names_without_gradient() | frozenset(tpu.refused_gradients()) | GRADIENTS
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.linalg.expm(x))
    return tape.gradient(y, x)
""",
            ["tf.linalg.expm(x)"],
            Fails("fixed tensor list size"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def rotation(x):
    return tf.linalg.expm(x - tf.transpose(x))

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(rotation(x))
    return tape.gradient(loss, x)
""",
            ["tf.linalg.expm(x - tf.transpose(x))"],
            Fails("fixed tensor list size"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0))
    return tape.gradient(y, x)
""",
            ["tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0)"],
            Fails("QuantizeAndDequantizeV4Grad"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
from tensorflow import linalg

class Flow:
    def step(self, x):
        return linalg.expm(x)

FLOW = Flow()

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = FLOW.step(x)
    return t.gradient(y, x)
""",
            ["linalg.expm(x)"],
            Fails("fixed tensor list size"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        parts = tf.dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2)
        y = tf.reduce_sum(parts[0] * parts[0])
    return tape.gradient(y, x)
""",
            ["tf.dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2)"],
            Recompiles(),
            effect=Effect.TPU,
            target="tpu",
        ),
    )
    good = (
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.linalg.expm(x)\n",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.linalg.inv(x + 9.0 * tf.eye(3)))
    return tape.gradient(y, x)
""",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    rotated = tf.linalg.expm(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    return tape.gradient(y, x) + rotated
""",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sort(x))
    return tape.gradient(y, x)
""",
        ),
        Good("gradient = tf.linalg.expm(tf.eye(3))\n", None, why="eager code of a script"),
    )

    def __init__(self) -> None:
        self._calls = LoopsUnderGradients[ApiCall]()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if api in GRADIENTS:
                pairs = self._calls.gradient(event)
            case ApiCall() if self._fails(event):
                pairs = self._calls.loop(event)
            case _:
                return
        for call, gradient in pairs:
            yield self._draft(call, note_of(gradient))

    def _fails(self, event: ApiCall) -> bool:
        case = self._case(event)
        return case is not None and (case.gradient is tables.Gradient.FAILS or _on_tpu(case) is not None)

    def _case(self, call: ApiCall) -> Case | None:
        fact = fact_of(call, self.tensorflow)
        return case_of(fact, call.arguments) if fact is not None else None

    def _draft(self, call: ApiCall, note: DraftNote) -> Draft:
        case = self._case(call)
        on_tpu = _on_tpu(case) if case is not None else None
        if on_tpu is not None:
            message = f"the TPU compiler refuses the gradient of `{brief(call.node)}`"
            draft = Draft(message, Effect.TPU, HELP, call.location, (note,), on_tpu=on_tpu.outcome)
            return replace(draft, told=Told.FOR_TPU)
        fact = fact_of(call, self.tensorflow)
        missing = fact.plain.gradient_missing if fact is not None and fact.plain is not None else ()
        version = tables.nearest(self.tensorflow)
        reason = f": {lacking(missing, self.tensorflow)}" if missing else f" with TensorFlow {version}"
        message = f"the gradient of `{brief(call.node)}` does not compile{reason}"
        return Draft(message, Effect.FAILS, HELP, call.location, (note,))


def _on_tpu(case: Case) -> OnTpu | None:
    """What a TPU's compiler makes of the gradient of a call, where it refuses one that a CPU's takes."""
    found = tpu.of_call(case.call)
    gradient = found.gradient if found is not None and case.gradient is tables.Gradient.OK else None
    return gradient if gradient is not None and gradient.outcome is TpuOutcome.FAILS else None


HELP = "compute this gradient in a plain tf.function around the compiled rest, or drop it with tf.stop_gradient"
