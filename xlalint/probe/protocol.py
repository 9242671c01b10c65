"""What the two sides of the probe say to each other, as JSON lines. Standard library only: both sides import it.

The parent sends jobs, `{"target": .., "plan": .., "original": ..}` (a target whose eager results count instead of the
target's own, or null); the worker sends `{"ready": versions}` once, `{"at": stage}` before
each step that may kill the process, and `{"outcome": ..}` for each job.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

# Stages from which on a death says something of the compiled program rather than of our way to it.
TRACE: Final = "trace"
COMPILE: Final = "compile"
GRADIENT: Final = "gradient"
RUN: Final = "run"
TRAINING: Final = "training"
TPU: Final = "tpu"
GPU: Final = "gpu"
OF_XLA: Final = {
    TRACE: "traced",
    COMPILE: "compiled",
    GRADIENT: "differentiated",
    TRAINING: "compiled with its step of training",
    TPU: "compiled for a TPU",
    GPU: "compiled for a GPU",
}

# A target's kind when its whole file is run as one call.
PROGRAM: Final = "program"

# Where inputs are tried: another may be taken for one that ends the process.
SEARCH: Final = "search"

# Where the line is looked for at which compiled and eager execution part.
LOCATE: Final = "locate"

# Where what one line made is compiled and run by itself; behind it, the line and the file.
LINE: Final = "line"

# The variable of the environment that names a folder of further packages, behind those of the interpreter.
PACKAGES: Final = "XLALINT_PACKAGES"

# Rules that ask for a measurement of their own: those about what an object holds after it was traced, and the one about
# a `tf.function` of which compiled code takes the gradient.
OF_STATE: Final = "state-while-tracing"
OF_WEIGHTS: Final = "frozen-weights"
OF_NESTED: Final = "nested-gradient"
OF_THEMSELVES: Final = frozenset((OF_STATE, OF_WEIGHTS, OF_NESTED))

# What is said of a function whose result was not compared in full.
WITHOUT_ARRAYS: Final = "arrays of tensors are left out of what it gives, and not compared"
# Limits are seconds of the processor; what waits gets so many times as many on the clock.
WAITING: Final = 2.0

# What Keras computes with in a worker: the values of `KERAS_BACKEND`.
TENSORFLOW: Final = "tensorflow"
JAX: Final = "jax"

# The variable of the environment by which `tf.keras` is Keras 2 where TensorFlow comes with Keras 3: "1".
LEGACY: Final = "TF_USE_LEGACY_KERAS"

# What an observation may be of, gravest first.
FAILS: Final = "fails"
DIVERGES: Final = "diverges"
RECOMPILES: Final = "recompiles"
BOUNDED: Final = "bounded"
TPU_FAILS: Final = "tpu-fails"
TPU_BOUNDED: Final = "tpu-bounded"
GPU_FAILS: Final = "gpu-fails"
KINDS: Final = (FAILS, TPU_FAILS, GPU_FAILS, DIVERGES, RECOMPILES, BOUNDED, TPU_BOUNDED)


@dataclass(frozen=True)
class Plan:
    """How thoroughly to measure.

    `value_sets`: at most so many; `locate`: look for the line at which results part; `seconds`: after these no further
    shapes and no gradients are begun; `drive_only`: only see whether the target can be called; `by_lines`: compile it
    line after line instead, to see at which the process dies (`compile`), or results part as well (`locate`);
    `topology`: only ask the compiler of this TPU; `batch`: with inputs of which so many are in a batch (0: as they
    are); `gpu`: only ask for a GPU; `padded`: what is behind a result does not count.
    """

    value_sets: int = 6

    gradients: bool = True
    locate: bool = True
    seconds: float = 30.0
    drive_only: bool = False
    by_lines: str = ""
    topology: str = ""
    batch: int = 0
    gpu: bool = False
    padded: bool = False


@dataclass(frozen=True)
class Spot:
    """A line of the user's code: absolute path, 1-based line.

    `span`: of an error that Python raised there, the expression: first line and column, last line and the column behind
    it, 1-based, in code points; None where Python does not tell.
    """

    path: str
    line: int
    span: tuple[int, int, int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Trouble:
    """An error, brought back to the user's line. `stage`: `trace`, `compile` or `run`; `message`: its gist in one line.

    `ops`: the operations without a kernel; `made`: the operation that the compiler names as the one that failed;
    `text`: the whole message; `trace`: what Python prints of it.
    """

    kind: str
    message: str
    stage: str
    spots: tuple[Spot, ...] = ()
    ops: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    text: str = ""
    trace: str = ""


@dataclass(frozen=True)
class Call:
    """One compiled call: the shapes (`variant`) and values it had, what was compiled for it, how it compares to eager.

    `bounded`: the positions of the outputs with a bounded dynamic shape, flattened; `inside`: there was one anywhere.
    """

    variant: int
    values: int
    compilations: int = 0
    inside: bool = False
    bounded: tuple[int, ...] = ()
    difference: str = ""
    error: Trouble | None = None
    seconds: float = 0.0


# What differs because it is drawn once, when a function is traced.
CHANCE: Final = "chance"
# What is refused because of the shapes of inputs.
SHAPES: Final = "shapes"
# What of an object a trace keeps that eager execution computes at each call.
STATE: Final = "state"
WEIGHTS: Final = "weights"
# What is compiled again because of a `tf.function` inside.
NESTED: Final = "nested"
# That of what runs inside of a loop, which hands it such values while it runs: the loop is compiled once.
LOOPED: Final = "loop"


@dataclass(frozen=True)
class Observation:
    """One thing that XLA did: its kind, where in the user's code as far as that was found, and a sentence.

    `per`: for a recompilation, `value`, `shape`, NESTED or LOOPED, for a difference CHANCE where Python draws
    numbers, STATE or WEIGHTS of an object that a trace keeps, for a failure SHAPES; `gradient`: seen in the
    gradient only; `ops`: the operations that it is about, `lacking`: because they have no kernel; `sources`: where
    the selections by data and the arrays are made from which what differs is computed; `extreme`: seen with values
    only that the code may not be made for.
    """

    kind: str
    text: str
    spots: tuple[Spot, ...] = ()
    per: str = ""
    gradient: bool = False
    ops: tuple[str, ...] = ()
    lacking: bool = False
    sources: tuple[Spot, ...] = ()
    extreme: bool = False


# Stands for an operation where Python read the content of a tensor.
READ: Final = "read"


@dataclass(frozen=True)
class Varied:
    """An operation (or READ) of the user's line that got at least two different values while eager calls of equal
    shapes ran. `inputs`: the names of the inputs that did; `shapes`: how many shapes its first result had."""

    spot: Spot
    op: str
    inputs: tuple[str, ...]
    shapes: int = 0


@dataclass(frozen=True)
class Launch:
    """A line of host code that calls a compiled function: how many calls ran, how often they compiled, and with how
    many different Python values."""

    spot: Spot
    calls: int
    compilations: int
    values: int


@dataclass(frozen=True)
class Lowering:
    """What the compiler of another device made of one program: the function, its gradient or a step of training.

    `topology`: the TPU, or nothing for a GPU, for which it is lowered only. `refusal`: why it does not compile;
    `untried`: why the compiler could not be asked, `lowered`: though TensorFlow lowers it; else `seconds` for all of
    it, and the bytes of a core's `memory` that it takes. `wide`: the types of 64 bits that it computes with, each with
    the user's line.
    """

    of: str
    topology: str
    refusal: str | None = None
    seconds: float = 0.0
    memory: int = 0
    wide: tuple[tuple[str, Spot], ...] = ()
    untried: str | None = None
    lowered: bool = False

    @property
    def compiles(self) -> bool:
        """Whether the compiler takes it."""
        return self.refusal is None and self.untried is None


@dataclass(frozen=True)
class Outcome:
    """All that was seen of one function. `not_run`: why nothing was measured; then nothing else is meant, but
    `by_keras`: whether Keras raised what kept it from being run, or what it misses is Keras's.

    `death`: how the process ended, `died_at`: at which stage, if by no limit of ours but that of memory while
    inputs are looked for; of a search with the inputs, of lines with the line; `reached`: by file, the
    lines that ran; `ran`: by file, the first lines of the functions that ran; `versions`: of TensorFlow, Keras and
    Python; `training`: what was seen of the step that a compiled Keras model trains with, in words.

    What a refutation rests on, of the lines that the target wants: `varied`: what got different values there; `made`:
    by line, the operations that the traced function has there; `unconverted`: by file, the lines that ran while it
    was traced as they stand there, not converted by AutoGraph; `launches`: of what was run as host code, what calls
    compiled functions, None where it was not run so.
    """

    not_run: str | None = None
    by_keras: bool = False
    death: str | None = None
    died_at: str = ""
    how: str = ""
    inputs: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    observations: tuple[Observation, ...] = ()
    random: bool = False
    gradient: str = ""
    notes: tuple[str, ...] = ()
    reached: dict[str, tuple[int, ...]] = field(default_factory=dict)
    ran: dict[str, tuple[int, ...]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    programs: tuple[Lowering, ...] = ()  # for a TPU or a GPU
    training: str = ""
    varied: tuple[Varied, ...] = ()
    made: tuple[tuple[Spot, tuple[str, ...]], ...] = ()
    unconverted: dict[str, tuple[int, ...]] = field(default_factory=dict)
    launches: tuple[Launch, ...] | None = None
