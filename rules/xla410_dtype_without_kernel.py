"""XLA's kernel for this operation takes real numbers only, and the tensor is complex.

## What it does
Reports complex tensors passed to `tf.linalg.svd`, `inv`, `solve` and `expm`, `tf.cumsum`, `tf.math.cumprod` and
`tf.image.extract_patches` in compiled code.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: compiling fails ("No registered 'Svd' OpKernel .. OpKernel was found, but
attributes didn't match"). Eager execution and a plain `tf.function` have the kernel. `xlalint facts Svd` shows the
dtypes for each device and version. `tf.linalg.qr`, `eigh`, `cholesky`, `triangular_solve` and arithmetic accept complex
numbers.

## Example
    total = tf.cumsum(signal)

## Use instead
    total = tf.complex(tf.cumsum(tf.math.real(signal)), tf.cumsum(tf.math.imag(signal)))

    q, r = tf.linalg.qr(a)
    inverse = tf.linalg.triangular_solve(r, tf.linalg.adjoint(q), lower=False)

## Not flagged
Real tensors, tensors of unknown dtype, and versions that have a kernel for complex numbers.

## Fix safety
Shown only: the rewrite computes the parts separately, or by another method, and rounds differently.

## References
- https://www.tensorflow.org/xla/known_issues
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.facts import tables
from xlalint.facts.tables import Kernel
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Rule, origin_note

from ._kernels import worst

# The operation that a call makes of its first argument, and what to write instead.
PARTS = "tf.complex(f(tf.math.real(x)), f(tf.math.imag(x)))"
FACTORS = "q, r = tf.linalg.qr(a); tf.linalg.triangular_solve(r, tf.linalg.adjoint(q) @ b, lower=False)"
OPS = {
    "keras.ops.cumprod": ("Cumprod", None),
    "keras.ops.cumsum": ("Cumsum", PARTS),
    "keras.ops.image.extract_patches": ("ExtractImagePatches", PARTS),
    "keras.ops.inv": ("MatrixInverse", FACTORS),
    "keras.ops.solve": ("MatrixSolve", FACTORS),
    "keras.ops.svd": ("Svd", None),
    "tf.cumsum": ("Cumsum", PARTS),
    "tf.image.extract_patches": ("ExtractImagePatches", PARTS),
    "tf.linalg.expm": ("MatrixSolve", None),
    "tf.linalg.inv": ("MatrixInverse", FACTORS),
    "tf.linalg.solve": ("MatrixSolve", FACTORS),
    "tf.linalg.svd": ("Svd", None),
    "tf.math.cumprod": ("Cumprod", None),
}
COMPLEX = frozenset(("complex64", "complex128"))


class DtypeWithoutKernel(Rule):
    code = "XLA410"
    name = "dtype-without-kernel"
    handles = (ApiCall,)
    apis = frozenset(OPS)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.linalg.svd(tf.complex(x, x), compute_uv=False)
""",
            ["tf.linalg.svd(tf.complex(x, x), compute_uv=False)"],
            Fails("No registered 'Svd' OpKernel"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def running(signal):
    return tf.cumsum(signal)

class L(tf.keras.layers.Layer):
    def call(self, x):
        return tf.abs(running(tf.signal.fft(tf.cast(x, tf.complex64))))
""",
            ["tf.cumsum(signal)"],
            Fails("Cumsum"),
            effect=Effect.FAILS,
            help="tf.complex(f(tf.math.real(x)), f(tf.math.imag(x)))",
        ),
        Bad(
            """
from tensorflow import linalg

@tf.function(jit_compile=True)
def f(x):
    turned = tf.cast(x, tf.complex64)
    return linalg.inv(turned)
""",
            ["linalg.inv(turned)"],
            Fails("MatrixInverse"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    solve = lambda a: tf.linalg.solve(a, a)
    return solve(tf.complex(x, 1.0 + x))
""",
            ["tf.linalg.solve(a, a)"],
            Fails("MatrixSolve"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
            help="tf.linalg.qr(a)",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    signal = tf.complex(x, x * 2.0)
    return tf.complex(tf.cumsum(tf.math.real(signal)), tf.cumsum(tf.math.imag(signal)))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    a = tf.complex(x, x * 2.0) + tf.cast(9.0 * tf.eye(3), tf.complex64)
    q, r = tf.linalg.qr(a)
    inverse = tf.linalg.triangular_solve(r, tf.linalg.adjoint(q), lower=False)
    return tf.matmul(inverse, a)
""",
            inputs=("f32[3, 3]",),
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.linalg.inv(x + 9.0 * tf.eye(3))\n",
            inputs=("f32[3, 3]",),
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.cumsum(x)\n"),
        Good(
            """
def spectrum(x):
    return tf.linalg.svd(tf.complex(x, x), compute_uv=False)

dataset = tf.data.Dataset.from_tensors(tf.ones([3, 3])).map(spectrum)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, arguments=arguments, node=node):
                op, help = OPS[api]
                fact = tables.op(op, self.tensorflow)
                kernel = fact.kernels.get("cpu") if fact is not None else None
                if kernel is None or not _real_only(kernel):
                    return
                for value in list(arguments.values())[:1]:
                    tensor = as_tensor(value)
                    if tensor is not None and tensor.dtype == "complex":
                        yield Draft(
                            f"`{brief(node)}`: XLA's kernel for `{op}` takes real numbers only "
                            f"(TensorFlow {kernel.version}, CPU), but this tensor is complex",
                            Effect.FAILS,
                            help,
                            notes=origin_note(tensor.origin, event),
                            at_most=worst(event),
                        )


def _real_only(kernel: Kernel) -> bool:
    return kernel.supported and not any(COMPLEX & set(dtypes) for dtypes in kernel.dtypes.values())
