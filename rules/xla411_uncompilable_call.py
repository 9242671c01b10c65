"""XLA cannot compile this library function, for a reason other than a missing kernel.

## What it does
Reports calls that were measured to fail:

- library functions that work only eagerly (`keras.ops.isin`, `kron`, `corrcoef`, `bartlett`)
- tensors for arguments that the library reads as Python numbers (`tf.stack(.., axis=t)`)
- a tensor in the shape of a Keras initializer that computes with its sizes (`GlorotUniform()([tf.shape(x)[0], 8])`)
- data for arguments that must be compile-time constants (`tf.signal.frame(x, n, 4)`)
- numbers for the shape that `tf.reshape`, `tf.fill` and `tf.constant` take (`tf.reshape(x, -1)`)
- a few calls that can be traced but break the compiler

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- The first two groups fail in every `tf.function`, with and without AutoGraph. The library needs the truth value or the
  number of a symbolic tensor ("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed", "'SymbolicTensor'
  object cannot be interpreted as an integer").
- A number for a shape works eagerly with these three; in a trace a shape has rank 1 ("Shape must be rank 1 but is rank
  0", "'int' object is not iterable"). `tf.zeros` and `keras.ops.reshape` take a number there, too.
- The length or step of frames in `tf.signal.frame`, `tf.signal.stft` and `keras.ops.extract_sequences`, and the axes of
  `swapaxes`, "must be a compile-time constant". (Other sizes from data recompile for each value: XLA205.) The layers
  `RandomHeight`, `RandomWidth` and `RandomElasticTransform` draw such a size themselves in training.
- Four calls fail only when compiled: `keras.ops.inner` of vectors ("left_branch_shape.dimensions_size() != .."),
  `keras.ops.associative_scan` of four or more elements ("Cannot concatenate arrays that differ .."),
  `tf.random.shuffle` of a vector of floats ("Expected comparison type SIGNED"), and `tf.linalg.tridiagonal_solve` with
  its default `partial_pivoting` ("does not yet support pivoting").

## Example
    known = keras.ops.isin(ids, vocabulary)

## Use instead
    known = tf.reduce_any(ids[..., None] == vocabulary, axis=-1)

## Not flagged
Host code, arguments that are Python numbers or constants, and tensors that may not be vectors. Sizes from shapes are
not reported either, although frames of such a length fail, too.

## Fix safety
`safe` for the number of a shape, which becomes a list. Otherwise `unsafe`, and each fix says where it differs: `isin`,
`kron` and `inner` become TensorFlow operations, for tensors of one dtype. `tf.random.shuffle` becomes a shuffle in
another order, and `tf.linalg.tridiagonal_solve` one without pivoting. Other calls have no fix.

## References
- https://keras.io/api/ops/numpy/
- https://www.tensorflow.org/guide/function
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

from xlalint.analysis.domain.kinds import as_tensor, of_the_trace
from xlalint.analysis.domain.values import Sequence, Static, Value
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.facts import tables
from xlalint.facts.kernels import listed
from xlalint.facts.replacements import instead_of
from xlalint.facts.tables import ApiFact, Case, Outcome
from xlalint.facts.tpu import CONSTANT
from xlalint.fixes.quoted import brief
from xlalint.fixes.replacements import replacement
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Fails, Good, Rule, Safety, Severity, origin_note

from ._kernels import TENSOR, case_of, event_name, fact_of, help_for, names_where
from ._names import names
from ._number_shapes import AS_LIST, NUMBER_SHAPES, RANK_0, in_list, is_number

# What an error says that comes from tracing as such, and not from arguments that do not fit each other.
SYMBOLIC = re.compile(r"symbolic `?tf\.Tensor|SymbolicTensor|symbolic Tensor")
EAGER_ONLY = "fails in every `tf.function`, because the library needs a Python value"


def eager_only(case: Case) -> bool:
    """Whether a measured call cannot be traced."""
    return case.detail.startswith("in any tf.function") and SYMBOLIC.search(case.detail) is not None


def takes_lists(case: Case, arguments: Mapping[str, Value]) -> bool:
    """Whether it may be a list of tensors that the call iterates over, where one tensor was measured."""
    return "Iterating over" in case.detail and any(isinstance(value, Sequence) for value in arguments.values())


def passed(case: Case) -> str:
    """What a measured call is passed beside the plain one, in words."""
    tensors = " and ".join(f"`{name}`" for name, written in case.varied.items() if TENSOR.match(written))
    values = " and ".join(f"`{name}={written}`" for name, written in case.varied.items() if not TENSOR.match(written))
    return f": a tensor as {tensors}" if tensors else f": {values}" if values else ""


def constants(fact: ApiFact) -> Iterator[str]:
    """The parameters that a call does not compile with where they are data."""
    for case in fact.cases:
        for parameter, written in case.varied.items():
            if case.outcome is Outcome.FAILS and CONSTANT in case.detail and TENSOR.match(written):
                yield parameter


@cache
def constant_parameters() -> Mapping[str, tuple[str, ...]]:
    """By the name that an event has: those of every call that was measured."""
    facts = (fact for name in tables.failing_names() for fact in tables.variants(name))
    return {event_name(fact): found for fact in facts if (found := tuple(constants(fact)))}


def vector(arguments: Mapping[str, Value], name: str, dtype: str | None = None) -> bool:
    """Whether an argument is a tensor of one dimension."""
    tensor = as_tensor(arguments.get(name, Static(None)))
    return tensor is not None and tensor.rank == 1 and dtype in (None, tensor.dtype)


# Initializers that compute with the sizes of the shape that they are called with.
SCALED = frozenset(
    f"keras.initializers.{name}.__call__"
    for name in names(
        """
        GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform Orthogonal VarianceScaling
        """
    )
)


def sized_by_a_tensor(arguments: Mapping[str, Value]) -> bool:
    """Whether the shape, the first argument, has a size that is a tensor, also one that was read of a shape."""
    match arguments.get("shape", arguments.get("*0")):
        case Sequence(items=tuple(items)):
            return any(of_the_trace(item) is not None for item in items)
        case shape:
            return shape is not None and of_the_trace(shape) is not None


# What is traced and does not compile: when, and what to say.
BREAKING: dict[str, tuple[Callable[[Mapping[str, Value]], bool], str]] = {
    "keras.ops.associative_scan": (
        lambda arguments: "elems" in arguments,
        "does not compile for four or more elements (Cannot concatenate arrays that differ in dimensions)",
    ),
    "keras.ops.inner": (
        lambda arguments: vector(arguments, "x1") and vector(arguments, "x2"),
        "does not compile for vectors (left_branch_shape.dimensions_size() != right_branch_shape.dimensions_size())",
    ),
    "tf.linalg.tridiagonal_solve": (
        lambda arguments: arguments.get("partial_pivoting", Static(True)) == Static(True),
        "does not compile with pivoting (Current implementation does not yet support pivoting)",
    ),
    **dict.fromkeys(
        (
            "keras.layers.RandomElasticTransform.__call__",
            "keras.layers.RandomHeight.__call__",
            "keras.layers.RandomWidth.__call__",
        ),
        (
            lambda arguments: arguments.get("training") == Static(True),
            "does not compile in training (it draws a size, which must be a compile-time constant)",
        ),
    ),
    "tf.random.shuffle": (
        lambda arguments: vector(arguments, "value", "float"),
        "does not compile for a vector of floats (Expected comparison type SIGNED)",
    ),
}


class UncompilableCall(Rule):
    code = "XLA411"
    name = "uncompilable-call"
    handles = (ApiCall,)
    apis = (
        names_where(lambda fact: any(map(eager_only, fact.cases)))
        | NUMBER_SHAPES.keys()
        | BREAKING.keys()
        | constant_parameters().keys()
        | SCALED
    )
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.reshape(x, -1) + tf.fill(6, 1.0)
""",
            ["tf.reshape(x, -1)", "tf.fill(6, 1.0)"],
            Fails("Shape must be rank 1 but is rank 0"),
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    return tf.reshape(x, [-1]) + tf.fill([6], 1.0)
""",
            safety=Safety.SAFE,
            inputs=("f32[2,3]",),
        ),
        Bad(
            """
@tf.function
def f(x):
    return x + tf.constant(1.0, shape=4)
""",
            ["tf.constant(1.0, shape=4)"],
            None,
            safety=Safety.SAFE,
            why="a plain `tf.function` fails, too",
            fixed="""
@tf.function
def f(x):
    return x + tf.constant(1.0, shape=[4])
""",
            severity=Severity.WARNING,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.keras.initializers.GlorotUniform()(shape=[tf.shape(x)[0], 8])
""",
            ["tf.keras.initializers.GlorotUniform()(shape=[tf.shape(x)[0], 8])"],
            Fails("int() argument must be"),
            effect=Effect.FAILS,
            help="x.shape[0]",
        ),
        Bad(
            """
from keras import initializers

class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.start = initializers.HeNormal()

    def call(self, x):
        batch = tf.shape(x)[0]
        return self.start((batch, 4))
""",
            ["self.start((batch, 4))"],
            Fails("int() argument must be"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    return tf.cast(keras.ops.isin(x, [1.0, 2.0]), tf.float32)
""",
            ["keras.ops.isin(x, [1.0, 2.0])"],
            Fails("as a Python `bool` is not allowed"),
            effect=Effect.FAILS,
            help="tf.reduce_any",
            safety=Safety.UNSAFE,
            fixed="""
import keras

@tf.function(jit_compile=True)
def f(x):
    return tf.cast(tf.reduce_any(x[..., None] == [1.0, 2.0], axis=-1), tf.float32)
""",
        ),
        Bad(
            """
from keras import ops

def product(a, b):
    return ops.kron(a, b)

class L(tf.keras.layers.Layer):
    def call(self, x):
        return product(x, x)
""",
            ["ops.kron(a, b)"],
            Fails("SymbolicTensor"),
            effect=Effect.FAILS,
            inputs=("f32[2, 3]",),
            safety=Safety.UNSAFE,
            fixed="""
from keras import ops

def product(a, b):
    return tf.reshape(a[:, None, :, None] * b[None, :, None, :], [a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]])

class L(tf.keras.layers.Layer):
    def call(self, x):
        return product(x, x)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    place = tf.argmin(x)
    return tf.stack([x, x], axis=tf.cast(place * 0, tf.int32))
""",
            ["tf.stack([x, x], axis=tf.cast(place * 0, tf.int32))"],
            Fails("as a Python `bool` is not allowed"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    flat = tf.reshape(x, [-1])
    return keras.ops.inner(flat, flat)
""",
            ["keras.ops.inner(flat, flat)"],
            Fails("left_branch_shape"),
            effect=Effect.FAILS,
            help="tf.tensordot",
            safety=Safety.UNSAFE,
            fixed="""
import keras

@tf.function(jit_compile=True)
def f(x):
    flat = tf.reshape(x, [-1])
    return tf.tensordot(flat, flat, [[-1], [-1]])
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    flat = tf.reshape(tf.cast(x, tf.float32), [-1])
    return tf.random.shuffle(flat) * 0.0
""",
            ["tf.random.shuffle(flat)"],
            Fails("Expected comparison type SIGNED"),
            effect=Effect.FAILS,
            help="tf.gather",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    flat = tf.reshape(tf.cast(x, tf.float32), [-1])
    return tf.gather(flat, tf.random.shuffle(tf.range(flat.shape[0]))) * 0.0
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(diagonals, right):
    return tf.linalg.tridiagonal_solve(diagonals, right)
""",
            ["tf.linalg.tridiagonal_solve(diagonals, right)"],
            Fails("does not yet support pivoting"),
            inputs=("f32[3, 4]", "f32[4, 2]"),
            effect=Effect.FAILS,
            help="partial_pivoting=False",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(diagonals, right):
    return tf.linalg.tridiagonal_solve(diagonals, right, partial_pivoting=False)
""",
        ),
        Bad(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    return keras.ops.associative_scan(lambda a, b: a + b, x)
""",
            ["keras.ops.associative_scan(lambda a, b: a + b, x)"],
            Fails("Cannot concatenate arrays that differ"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n):
    length = tf.math.floormod(n, 4) + 4
    return tf.reduce_sum(tf.signal.frame(x, length, 4)) + tf.reduce_sum(tf.signal.frame(x, 8, frame_step=length))
""",
            ["tf.signal.frame(x, length, 4)", "tf.signal.frame(x, 8, frame_step=length)"],
            Fails("must be a compile-time constant"),
            inputs=("f32[16]", "i32[]"),
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.keras.initializers.GlorotUniform(1)([x.shape[0], 8]) + tf.keras.initializers.Ones()([tf.shape(x)[0], 8])
""",
            None,
            why="static sizes, and an initialiser that does not compute with them",
        ),
        Good(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    return keras.ops.inner(x, x) + tf.reduce_sum(tf.stack([x, x], axis=-1))
""",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
import keras

WINDOW = keras.ops.bartlett(4)

@tf.function(jit_compile=True)
def f(x):
    return x * WINDOW
""",
            why="made before anything is traced",
        ),
        Good(
            """
import keras

def known(ids):
    return keras.ops.isin(ids, [1.0, 2.0])

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).filter(lambda ids: tf.reduce_any(ids > 0.0))
print(known(tf.ones([4])))
""",
            None,
            why="called eagerly",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.cast(tf.reduce_any(x[..., None] == tf.constant([1.0, 2.0]), axis=-1), tf.float32)
"""
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(diagonals, right):
    shuffled = tf.random.shuffle(tf.range(4)) + tf.cast(tf.random.shuffle(right)[:, 0] * 0.0, tf.int32)
    solved = tf.linalg.tridiagonal_solve(diagonals, right, partial_pivoting=False)
    return solved + 0.0 * tf.cast(shuffled[0], tf.float32)
""",
            inputs=("f32[3, 4]", "f32[4, 2]"),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.linalg.tridiagonal_matmul((x, x, x), x[:, None], diagonals_format="sequence")
""",
            Compiles(),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.signal.frame(x, 8, tf.constant(4))
""",
            inputs=("f32[16]",),
            why="a constant is known when it is compiled",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, arguments=arguments, node=node) if api in BREAKING:
                fails, why = BREAKING[api]
                if event.context.kind is ContextKind.XLA and fails(arguments):
                    rewrite = partial(replacement, event)
                    yield Draft(f"`{brief(node)}` {why}", Effect.FAILS, instead_of(api), rewrite=rewrite)
            case ApiCall(api=api, arguments=arguments, node=node) if event.context.kind is ContextKind.XLA and (
                data := {
                    name: tensor
                    for name in constant_parameters().get(api, ())
                    if name in arguments and (tensor := as_tensor(arguments[name]))
                }
            ):
                told = listed([f"`{name}`" for name in data])
                notes = origin_note(next(iter(data.values())).origin, event)
                yield Draft(f"`{brief(node)}`: {told} {CONSTANT}, but depends on data", Effect.FAILS, notes=notes)
            case ApiCall(api=api, node=node) if api in NUMBER_SHAPES and is_number(event):
                rewrite = partial(in_list, event)
                yield Draft(f"`{brief(node)}`: {RANK_0}", Effect.FAILS, AS_LIST, at_most=_most(event), rewrite=rewrite)
            case ApiCall(api=api, arguments=arguments, node=node) if api in SCALED:
                if sized_by_a_tensor(arguments):
                    text = f"`{brief(node)}`: a tensor in the shape {EAGER_ONLY}"
                    yield Draft(text, Effect.FAILS, DRAWN, at_most=_most(event))
            case ApiCall(arguments=arguments, node=node) if fact := fact_of(event, self.tensorflow):
                case = case_of(fact, arguments)
                if case is not None and eager_only(case) and not takes_lists(case, arguments):
                    text = f"`{brief(node)}`{passed(case)} {EAGER_ONLY}"
                    rewrite = partial(replacement, event)
                    yield Draft(text, Effect.FAILS, help_for(fact, case), at_most=_most(event), rewrite=rewrite)


DRAWN = "use static sizes, such as x.shape[0], or tf.random.normal(shape), which accepts tensors"


def _most(event: ApiCall) -> Severity:
    """An error where the call is traced; eager code may be fine."""
    return Severity.ERROR if event.context.kind in (ContextKind.XLA, ContextKind.GRAPH) else Severity.INFO
