"""What JAX makes of measured calls, constructs and examples of rules under Keras's JAX backend; read from `jax.json`
on first use, which `python -m xlalint.measuring jax` and `tables` write.

Each was run eagerly and in `jax.jit`, the variables of Keras's objects going in and coming out, as Keras's own trainer
has it. There are no bounded dynamic shapes: what has no shape at trace time fails, and its error's class is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from . import FOLDER
from .tables import Gradient, Outcome, api_names
from .tables import api as with_tensorflow
from .tpu import digest

ERRORS: Final = "https://docs.jax.dev/en/latest/errors.html"
"""JAX's own page of errors; `#jax.errors.NAME` is where one is explained."""

WORDS: Final = {
    Outcome.OK: "compiles once for all values of a shape, and equals eager execution",
    Outcome.FAILS: "cannot be traced",
    Outcome.DIVERGES: "compiles, but the result differs",
    Outcome.RECOMPILES: "recompiles for every new value",
    Outcome.UNTESTED: "not measured",
}
EAGERLY: Final = "raises, compiled or not"
# The calls of `apis.json` that hold TensorFlow's functions, in words of both backends.
_SPELLED: Final = (
    ("tf.constant(", "keras.ops.convert_to_tensor("),
    ("tf.linalg.", "keras.ops."),
    ("tf.", "keras.ops."),
)
_OTHERS: Final = re.compile(r"\btf\.|\bimport tensorflow|\btnp\.|\btf\b")
# What is there of `keras` for TensorFlow alone.
_LEGACY: Final = ("keras.backend.",)


class OnJax(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one call or program.

    `outcome`: never `bounded`. `detail`: the error, which begins with its class, or how the result differs. `eager`: it
    fails whether or not it is compiled. `static`: the parameters of a call that fails which compile as
    static arguments: once for every value. `gradient` fails where JAX cannot take it, compiled or not.
    """

    outcome: Outcome = Outcome.OK
    detail: str = ""
    eager: bool = False
    static: tuple[str, ...] = ()
    varied: Mapping[str, str] = {}  # of an option that changes nothing with TensorFlow: what is written for it
    random: bool = False  # other numbers each time: compared by shape and dtype only
    gradient: Gradient = Gradient.NONE
    gradient_detail: str = ""

    def said(self) -> str:
        """In words."""
        what = EAGERLY if self.eager else WORDS[self.outcome]
        told = f"{what}: {self.detail}" if self.detail else what
        if self.static:
            names = " and ".join(f"`{name}`" for name in self.static)
            told += f"; as a static argument, {names} compiles once for every value"
        return told

    def record(self) -> dict[str, Any]:
        """For programs."""
        return {"outcome": self.outcome.value, **msgspec.to_builtins(self)}

    @property
    def error(self) -> str:
        """The class of the error of what fails: "TracerBoolConversionError"; else nothing."""
        return self.detail.partition(":")[0] if self.outcome is Outcome.FAILS else ""


class Gpu(msgspec.Struct, frozen=True):
    """What was asked on a GPU: how many calls and programs, and which of them end otherwise there than on the processor
    beside it."""

    packages: dict[str, str]
    device: str
    calls: int
    programs: int
    otherwise: tuple[str, ...]


class _Table(msgspec.Struct):
    """`jax.json`: `calls` by callable and call, as `spelled` has it; `programs` by `tpu.digest` of code and inputs."""

    packages: dict[str, str]
    gpu: Gpu
    calls: dict[str, dict[str, OnJax]]
    programs: dict[str, OnJax]


@cache
def _table() -> _Table:
    return msgspec.json.decode((FOLDER / "jax.json").read_bytes(), type=_Table)


def packages() -> Mapping[str, str]:
    """The versions of "jax", "jaxlib", "keras" and "numpy" that were asked."""
    return _table().packages


def gpu() -> Gpu:
    """What was asked on a GPU."""
    return _table().gpu


def versions() -> str:
    """The same in words: "Keras 3.15.1, JAX 0.10.2"."""
    return f"Keras {packages()['keras']}, JAX {packages()['jax']}"


def spelled(call: str) -> str:
    """A call of the tables in words that both backends have."""
    for before, after in _SPELLED:
        call = call.replace(before, after)
    return call


def is_measured(name: str) -> bool:
    """Whether a callable is Keras's for all backends."""
    return name.startswith("keras.") and not name.startswith(_LEGACY)


def api(name: str) -> Mapping[str, OnJax]:
    """By call what becomes of the measured calls of a callable, the plain one first; empty where it was not asked."""
    return _table().calls.get(name, {})


def of_call(name: str, call: str) -> OnJax | None:
    """What becomes of a call of `apis.json`; None where it was not asked."""
    return api(name).get(spelled(call))


def options(name: str) -> Mapping[str, OnJax]:
    """By call what becomes of options that change nothing with TensorFlow, and do with JAX."""
    return {call: found for call, found in api(name).items() if found.varied}


def of_program(code: str, inputs: Sequence[str]) -> OnJax | None:
    """What becomes of a construct's program or an example of a rule; None where it was not asked as it is now."""
    return _table().programs.get(digest(code, tuple(inputs)))


def is_for_both(code: str) -> bool:
    """Whether a program is Keras's own: it has nothing of TensorFlow's."""
    return "keras" in code and _OTHERS.search(code) is None


@cache
def names() -> tuple[str, ...]:
    """The callables that are asked, by canonical name: those of Keras's with measured calls."""
    return tuple(
        name for name in api_names() if is_measured(name) and (fact := with_tensorflow(name)) is not None and fact.cases
    )
