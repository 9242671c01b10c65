"""The program takes for granted that there is a GPU, which a machine with a TPU does not have.

## What it does
Reports, where the target is a TPU or the program has a strategy for one, code that fails or does nothing without a GPU:

- an element of the list of GPUs: `tf.config.list_physical_devices("GPU")[0]`, `gpus[0]`;
- the number of GPUs as a divisor: `batch_size // len(gpus)`;
- the number of GPUs, or a multiple of it, as the size of a batch or as the learning rate;
- `keras.utils.multi_gpu_model(..)`, which copies a model to several GPUs;
- a program that ends without a GPU: `assert gpus`, `if not gpus: raise ..`, `if not gpus: sys.exit(1)`.

Each kind is reported once in a file; notes name the further places.

## What XLA does
XLA is not reached. Measured with TensorFlow 2.21 on a machine without a GPU, which is what a machine with a TPU is:

| code | what happens |
| --- | --- |
| `tf.config.list_physical_devices("GPU")`, `list_logical_devices("GPU")` | `[]` |
| `gpus[0]`, `set_memory_growth(gpus[0], True)` | IndexError |
| `64 // len(gpus)`, `64 / len(gpus)` | ZeroDivisionError |
| `tensor / len(gpus)` | infinite, or NaN |
| `dataset.batch(8 * len(gpus))` | InvalidArgumentError: "Batch size must be greater than zero" |
| `SGD(0.1 * len(gpus))` | the learning rate is 0: the weights stay as they are |
| `multi_gpu_model(model, gpus=2)` | AttributeError; until 2.3 a ValueError (read in 2.2 and 2.3) |
| `set_visible_devices(gpus[:1], "GPU")`, `for gpu in gpus:` | nothing |
| `tf.test.gpu_device_name()`, `tf.test.is_gpu_available()` | `""`, `False` |

## Example
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus[0], True)
    batch_size = 64 * len(gpus)

## Use instead
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    batch_size = 64 * strategy.num_replicas_in_sync

## Not flagged
- What runs only if there is a GPU: under `if gpus:`, `if len(gpus) > 1:`, in `for gpu in gpus:`, behind
  `if not gpus: return`, in `gpus and gpus[0]`.
- Numbers that are never 0: `max(1, len(gpus))`, `len(gpus) or 1`.
- A `try` that catches the error.
- In a program that has a strategy for a TPU, what stands under a condition, or in an `except`.

## Fix safety
There is no fix: what to do without a GPU is for the program to say.

## References
- https://www.tensorflow.org/guide/tpu
- https://www.tensorflow.org/api_docs/python/tf/config/list_physical_devices
"""

from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import NeedGpu, Program
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told

from ._guarded import is_caught, is_conditional
from ._strategies import names_tpu

NO_GPU: Final = "a machine with a TPU has no GPU"
ASK: Final = "ask first: `for gpu in gpus:`, or `if gpus:`"
REPLICAS: Final = "take `strategy.num_replicas_in_sync`, which counts the cores of a TPU as well"
# What is said of each form: what comes of it, the effect, the help, and the exceptions by which a program
# may know: () for none, None for any.
FORMS: Final = {
    "index": ("`{code}` raises an IndexError", Effect.FAILS, ASK, ("IndexError", "LookupError")),
    "divide": (
        "`{code}` divides by the number of GPUs, and raises a ZeroDivisionError",
        Effect.FAILS,
        REPLICAS,
        ("ArithmeticError", "ZeroDivisionError"),
    ),
    "divide tensor": (
        "`{code}` divides by the number of GPUs, 0: the result is infinite, or NaN",
        Effect.DIVERGES,
        REPLICAS,
        ("InvalidArgumentError",),
    ),
    "batch": (
        "`{code}` is 0, and the size of a batch cannot be",
        Effect.FAILS,
        REPLICAS,
        ("InvalidArgumentError", "OpError"),
    ),
    "copy": (
        "`{code}` raises a ValueError without GPUs, and TensorFlow has it until 2.3 only",
        Effect.FAILS,
        "build and compile the model in the scope of a strategy: `with strategy.scope():`",
        ("ValueError",),
    ),
    "rate": ("`{code}` is 0: with this learning rate nothing is trained", Effect.DIVERGES, REPLICAS, ()),
    "assert": ("this assertion fails", Effect.FAILS, "let a TPU pass as well", ("AssertionError",)),
    "refuse": ("this ends the program", Effect.FAILS, "let a TPU pass as well", None),
}
NOTED: Final = 3  # further places of a kind that notes name
MODEL: Final = """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
"""
TPU: Final = """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""


class NeedsGpu(Rule):
    code = "XLA528"
    name = "needs-gpu"
    handles = (NeedGpu, Program)
    bad = (
        Bad(
            f"""
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
tf.config.set_visible_devices(gpus[0], "GPU")
{MODEL}""",
            ["gpus[0]"],
            None,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="for gpu in gpus",
            why="Python itself raises, before XLA is asked",
            target="tpu",
        ),
        Bad(
            f"""
def count():
    return len(tf.config.experimental.list_physical_devices(device_type="GPU"))

class Settings:
    def __init__(self, batch_size):
        self.gpus = count()
        self.batch_size = batch_size // self.gpus

settings = Settings(64)
{MODEL}""",
            ["batch_size // self.gpus"],
            None,
            severity=Severity.ERROR,
            help="num_replicas_in_sync",
            why="Python itself raises, before XLA is asked",
            target="tpu",
        ),
        Bad(
            """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
parallel = tf.keras.utils.multi_gpu_model(model, gpus=2)
parallel.compile("sgd", "mse")
parallel.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            ["tf.keras.utils.multi_gpu_model(model, gpus=2)"],
            None,
            severity=Severity.ERROR,
            help="strategy.scope()",
            why="Python itself raises, before XLA is asked",
            target="tpu",
        ),
        Bad(
            f"""
gpus = tf.config.list_logical_devices("GPU")
data = tf.data.Dataset.from_tensor_slices(tf.ones([8, 3])).batch(4 * len(gpus))
{MODEL}""",
            ["4 * len(gpus)"],
            None,
            severity=Severity.ERROR,
            why="Python itself raises, before XLA is asked",
            target="tpu",
        ),
        Bad(
            f"""
rate = 0.01 * len(tf.config.list_physical_devices("GPU"))
optimizer = tf.keras.optimizers.SGD(learning_rate=rate)
assert float(optimizer.learning_rate) == 0.0
{MODEL}""",
            ["rate"],
            Runs(),
            effect=Effect.DIVERGES,
            target="tpu",
        ),
        Bad(
            f"""
def mean(losses, number):
    return tf.reduce_sum(losses) / number

number = len(tf.config.list_physical_devices("GPU"))
assert tf.math.is_inf(mean(tf.ones([4]), number))
{MODEL}""",
            ["tf.reduce_sum(losses) / number"],
            Runs(),
            effect=Effect.DIVERGES,
            target="tpu",
        ),
        Bad(
            f"""
name = tf.test.gpu_device_name()
if name != "/device:GPU:0":
    raise SystemError("no GPU")
{MODEL}""",
            ['name != "/device:GPU:0"'],
            None,
            help="TPU",
            why="Python itself raises, before XLA is asked",
            target="tpu",
        ),
        Bad(
            f"""
gpus = tf.config.list_physical_devices("GPU")
names = [gpu.name for gpu in gpus]
assert len(names) > 0, "run this on a GPU"
{MODEL}""",
            ["len(names) > 0"],
            None,
            why="Python itself raises, before XLA is asked",
            target="tpu",
        ),
        Bad(
            f"""
import sys

def prepare():
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[1], "GPU")

if "--second" in sys.argv:
    prepare()
{MODEL}""",
            ["gpus[1]"],
            Runs(),
            severity=Severity.WARNING,
            why="only where somebody asks for it",
            target="tpu",
        ),
        Bad(
            f"""{TPU}
number = len(tf.config.list_physical_devices("GPU"))
batch_size = 128 // number
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.ones([128, 3]), tf.ones([128, 1]), batch_size=batch_size)
""",
            ["128 // number"],
            None,
            severity=Severity.ERROR,
            why="it needs a TPU",
        ),
    )
    good = (
        Good(
            f"""
gpus = tf.config.list_physical_devices("GPU")
tf.config.set_visible_devices(gpus[:1], "GPU")
if gpus:
    tf.config.experimental.set_memory_growth(gpus[0], True)
if len(gpus) > 1:
    print(64 // len(gpus))
for number in range(len(gpus)):
    print(gpus[number])
for number, gpu in enumerate(gpus):
    print(gpus[number])
first = gpus[0] if gpus else None
last = gpus and gpus[-1]
{MODEL}""",
            Runs(),
            why="only where there are some",
            target="tpu",
        ),
        Good(
            f"""
gpus = tf.config.list_physical_devices("GPU")
number = max(1, len(gpus))
other = len(gpus) or 1
third = len(gpus)
if third == 0:
    third = 1
rate = 0.1 * len(gpus) if gpus else 0.1
print(64 // number, 64 // other, 64 // third, 64 / (len(gpus) + 1))
data = tf.data.Dataset.from_tensor_slices(tf.ones([8, 3])).batch(4 * number)
optimizer = tf.keras.optimizers.SGD(rate)
{MODEL}""",
            Runs(),
            why="never 0",
            target="tpu",
        ),
        Good(
            f"""
def first():
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        return None
    return gpus[0]

def second():
    try:
        return tf.config.list_physical_devices("GPU")[1]
    except IndexError:
        return None

def share(size):
    if tf.test.is_gpu_available():
        return size // len(tf.config.list_physical_devices("GPU"))
    return size

print(first(), second(), share(64))
{MODEL}""",
            Runs(),
            why="it knows what to do without one",
            target="tpu",
        ),
        Good(
            f"""
cpus = tf.config.list_physical_devices("CPU")
gpus = tf.config.list_physical_devices("GPU")
devices = gpus or cpus
print(cpus[0], devices[0], 64 // len(cpus))
if not gpus:
    print("this will take long")
{MODEL}""",
            Runs(),
            why="a machine has a processor",
            target="tpu",
        ),
        Good(
            f"""
gpus = tf.config.list_physical_devices("GPU")
print(gpus[0])
{MODEL}""",
            None,
            why="nobody says that a TPU is to run it",
        ),
        Good(
            """
try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
except ValueError:
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus[0], True)
    strategy = tf.distribute.get_strategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.ones([128, 3]), tf.ones([128, 1]))
""",
            None,
            why="only where there is no TPU",
            target="tpu",
        ),
        Good(
            """
gpus = tf.config.list_physical_devices("GPU")
print(gpus[0].name)
""",
            None,
            why="nothing is trained or predicted",
            target="tpu",
        ),
    )

    def __init__(self) -> None:
        self._needs: list[NeedGpu] = []

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case NeedGpu(form=form):
                exceptions = FORMS[form][3]
                if exceptions == () or not is_caught(event, exceptions):
                    self._needs.append(event)
            case Program(steps=steps, files=files):
                on_tpu = any(map(names_tpu, steps))
                kinds: dict[tuple[str, str], list[NeedGpu]] = {}
                for need in sorted(self._needs, key=lambda need: need.order):
                    if need.location.path in files and not (on_tpu and is_conditional(need)):
                        kinds.setdefault((need.location.path, need.form), []).append(need)
                for needs in kinds.values():
                    yield _told(needs, Told.ALWAYS if on_tpu else Told.FOR_TPU_ALONE)


def _told(needs: Sequence[NeedGpu], told: Told) -> Draft:
    """What several places of a file need alike, at the first of them that is sure to be reached, or at the first."""
    first = next((need for need in needs if not is_conditional(need)), needs[0])
    what, effect, help, _ = FORMS[first.form]
    others = dict.fromkeys(need.location for need in needs if need.location != first.location)
    return Draft(
        f"{NO_GPU}: {what.replace('{code}', brief(first.location.node))}",
        effect,
        help,
        location=first.location,
        notes=tuple(DraftNote(other, "so does this") for other in [*others][:NOTED]),
        at_most=Severity.WARNING if is_conditional(first) else Severity.ERROR,
        told=told,
    )
