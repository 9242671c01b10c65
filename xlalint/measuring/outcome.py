"""Runs one expression eagerly, in a plain `tf.function` and in a compiled one, and says what became of it.

Compilations are counted exactly: the process runs with `XLA_FLAGS=--xla_dump_to=FOLDER --xla_dump_hlo_as_text`, and
each compilation leaves one file there whose name ends in `before_optimizations.txt`; `<=` in one is a bounded shape.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from xlalint.measuring.expressions import Expression
from xlalint.measuring.loss import loss
from xlalint.measuring.samples import VALUE_SETS, Array, Sample

# Ops of every graph, which say nothing about a call.
BOOKKEEPING: Final = (
    "Placeholder", "Const", "Identity", "IdentityN", "NoOp", "PartitionedCall", "StatefulPartitionedCall",
    "ReadVariableOp", "_Arg", "_Retval", "StopGradient", "PreventGradient",
)  # fmt: skip
RANDOM: Final = re.compile(r"Random|Multinomial|TruncatedNormal|Shuffle|Rng|ParameterizedTruncated|SampleDistorted")
# Ops whose results are defined up to sign.
SIGNLESS: Final = {"Svd", "SelfAdjointEigV2", "Eig", "Qr", "XlaSelfAdjointEig", "XlaSvd"}
OTHER_SIGNS: Final = "other signs"
LACKING: Final = re.compile(r"No registered '(\w+)' OpKernel")
SHORT: Final = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "bool": "bool", "string": "str",
}  # fmt: skip


class NotAcceptedError(Exception):
    """Eager execution does not accept the call: nothing to compare with."""


@dataclass
class Run:
    """What one way of running gave: per value set a result, or the error that ended it."""

    results: list[Any] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)
    compilations: list[int] = field(default_factory=list)
    bounded: bool = False

    @property
    def error(self) -> str | None:
        return next(iter(self.errors.values()), None)


class Dump:
    """The folder in which the compiler leaves a file for each compilation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def taken(self) -> tuple[int, bool]:
        """How many compilations there were since the last time, and whether one had a bounded shape."""
        count, bounded = 0, False
        if not self.folder.exists():
            return 0, False
        for entry in os.scandir(self.folder):
            if entry.name.endswith("before_optimizations.txt"):
                count += 1
                bounded = bounded or "<=" in Path(entry.path).read_text(errors="replace")
            os.unlink(entry.path)
        return count, bounded


class Meter:
    """Measures expressions in this process."""

    def __init__(self, dump: Path, note: Callable[[str], None]) -> None:
        import tensorflow as tf  # type: ignore[import-untyped]

        self.tf = tf
        self.dump = Dump(dump)
        self.note = note  # told before each step that may kill the process

    # -- eager --------------------------------------------------------------------------------------------------------

    def tensors(self, expression: Expression, sets: Sequence[int]) -> list[Any]:
        """The arguments, each from the value set that is named for it."""
        return [
            self.tf.constant(one.arrays[number], dtype=one.dtype)
            for one, number in zip(expression.samples, sets, strict=True)
        ]

    def flat(self, result: Any) -> list[Any]:
        """The tensors of a result."""
        tf = self.tf
        leaves = []
        for leaf in tf.nest.flatten(result, expand_composites=True):
            if isinstance(leaf, tf.TensorArray):
                leaves.append(leaf.stack())
            elif isinstance(leaf, (tf.Tensor, tf.Variable, np.ndarray, np.generic, float, int)) or (
                type(leaf).__name__ in ("Variable", "KerasVariable")  # what Keras 3 calls its own
            ):
                leaves.append(tf.convert_to_tensor(leaf))
        return leaves

    def accepts(self, expression: Expression, number: int = 0) -> list[Any]:
        """The tensors of an eager call; whatever it raises is for the caller."""
        result = expression.function(*self.tensors(expression, [number] * len(expression.samples)))
        return self.flat(result)

    def eager(self, expression: Expression, state: State) -> Run:
        run = Run()
        for number in range(VALUE_SETS):
            state.restore()
            try:
                run.results.append(arrays(self.accepts(expression, number)))
            except Exception as error:
                run.results.append(None)
                run.errors[number] = brief(error)
        return run

    # -- graphs -------------------------------------------------------------------------------------------------------

    def graph(self, expression: Expression, compiled: bool) -> Any:
        """The call as a function of its tensors."""
        tf = self.tf

        def call(*tensors: Any) -> list[Any]:
            return self.flat(expression.function(*tensors)) or [tf.constant(0)]

        return tf.function(call, autograph=False, jit_compile=True if compiled else None)

    def runs(self, function: Any, expression: Expression, state: State, rows: Sequence[Sequence[int]]) -> Run:
        """The function called with each row of value sets, until an error that is not one of values."""
        run = Run()
        self.dump.taken()
        for row in rows:
            state.restore()
            try:
                run.results.append(arrays(function(*self.tensors(expression, row))))
            except Exception as error:
                run.results.append(None)
                run.errors[len(run.results) - 1] = brief(error)
            count, bounded = self.dump.taken()
            run.compilations.append(count)
            run.bounded |= bounded
        return run

    # -- the whole ----------------------------------------------------------------------------------------------------

    def case(self, expression: Expression, gradient: bool, follows: bool = True) -> dict[str, Any]:
        """What became of the call, as an entry of the table (`tables.Case`), and what its values do if `follows`."""
        every = [[number] * len(expression.samples) for number in range(VALUE_SETS)]
        self.note("eager")
        try:
            self.accepts(expression)  # objects make their variables at their first call
        except Exception as error:
            raise NotAcceptedError(brief(error)) from error
        state = State(expression, self.tf)
        eager, again = self.eager(expression, state), self.eager(expression, state)
        if 0 in eager.errors:
            raise NotAcceptedError(eager.errors[0])
        found: dict[str, Any] = {"call": expression.text, "result": signature(eager.results[0])}
        self.note("graph")
        plain_function = self.graph(expression, compiled=False)
        plain = self.runs(plain_function, expression, state, every)
        if plain.results[0] is None:
            return found | {"outcome": "fails", "detail": f"in any tf.function: {reason(plain.error or '')}"}
        found["ops"] = self.ops(plain_function, expression)
        self.note("compile")
        compiled_function = self.graph(expression, compiled=True)
        compiled = self.runs(compiled_function, expression, state, every)
        found["bounded"] = compiled.bounded
        repeatable = all(map(same, eager.results, again.results))
        found["random"] = any(map(RANDOM.search, found["ops"])) or not repeatable
        found |= self.verdict(plain, compiled, found["ops"], found["random"], repeatable)
        if found["outcome"] == "recompiles" and not found.get("detail"):
            guilty = self.blame(expression, state)
            found["detail"] = ", ".join(guilty)
            if follows:
                found["follows"] = self.follows(expression, state, guilty)
        if gradient and found["outcome"] != "fails":
            found |= self.gradient(expression, state, found["random"])
        return found

    def verdict(self, plain: Run, compiled: Run, ops: Sequence[str], random: bool, repeatable: bool) -> dict[str, Any]:
        """The outcome: the gravest that is true."""
        for number, error in compiled.errors.items():
            if number not in plain.errors:
                return {"outcome": "fails", "detail": reason(error), "missing": self.lacking(error, ops)}
        for number in range(VALUE_SETS):
            if number in plain.errors:
                if number not in compiled.errors:
                    told = f"no error, where eager raises {reason(plain.errors[number])}"
                    return {"outcome": "diverges", "detail": told}
                continue
            told = difference(plain.results[number], compiled.results[number], random)
            if told == OTHER_SIGNS and SIGNLESS & set(ops):
                told = ""
            if told:
                return {"outcome": "diverges", "detail": told}
        if any(compiled.compilations[1:]):
            return {"outcome": "recompiles"}
        told = ""
        if random and repeatable and not all(map(same, plain.results, compiled.results)):
            told = "other numbers for the same seed"
        return {"outcome": "bounded" if compiled.bounded else "ok", "detail": told}

    def lacking(self, error: str, ops: Sequence[str]) -> list[str]:
        """The ops that the error is about. Where it names an argument, which no device takes: those that have none."""
        named = set(LACKING.findall(error))
        if named & {"_Arg", "_Retval"}:
            named |= set(ops) - self.kernels
        return sorted(named - {"_Arg", "_Retval"})

    @cached_property
    def kernels(self) -> set[str]:
        """The ops that XLA has kernels for."""
        from tensorflow.python.framework import kernels  # type: ignore[import-untyped]

        registered = kernels.get_all_registered_kernels().kernel
        return {kernel.op for kernel in registered if kernel.device_type == "XLA_CPU_JIT"}

    def blame(self, expression: Expression, state: State) -> dict[str, list[int]]:
        """Which arguments the compilations follow, each changed alone: by parameter, the places of its samples."""
        guilty: dict[str, list[int]] = {}
        for place in range(len(expression.samples)):
            rows = [[number if one == place else 0 for one in range(len(expression.samples))] for number in range(3)]
            self.note(f"blame {place}")
            run = self.runs(self.graph(expression, compiled=True), expression, state, rows)
            if any(run.compilations[1:]):
                role = expression.roles.get(place, expression.samples[place].text)
                guilty.setdefault(role, []).append(place)
        return guilty

    def follows(self, expression: Expression, state: State, guilty: Mapping[str, list[int]]) -> dict[str, Any]:
        """Of each argument that compilations follow what else its values do (`tables.Follows`)."""
        self.note("follows")
        resized = [role for role, places in guilty.items() if self.resizes(expression, state, places)]
        together = [place for places in guilty.values() for place in places]
        if not resized and len(guilty) > 1 and self.resizes(expression, state, together):
            resized = list(guilty)
        found: dict[str, Any] = {}
        for role, places in guilty.items():
            carried = self.carried(expression, state, places)
            found[role] = ({"resizes": True} if role in resized else {}) | ({"carried": carried} if carried else {})
        return found

    def resizes(self, expression: Expression, state: State, places: Sequence[int]) -> bool:
        """Whether the shape of an eager result changes with these arguments, all others being as they are."""
        shapes = set()
        for values in zip(*(_spread(expression.samples[place]) for place in places), strict=True):
            arguments = self.tensors(expression, [0] * len(expression.samples))
            for place, value in zip(places, values, strict=True):
                arguments[place] = self.tf.constant(value, dtype=expression.samples[place].dtype)
            state.restore()
            try:
                shapes.add(tuple(tuple(leaf.shape) for leaf in self.flat(expression.function(*arguments))))
            except Exception:  # values that are not accepted have no result
                continue
        return len(shapes) > 1

    def carried(self, expression: Expression, state: State, places: Sequence[int]) -> str:
        """What becomes of the compiled call where a loop makes these arguments; nothing where it compiles plainly."""
        tf = self.tf

        def looped(*tensors: Any) -> list[Any]:
            def step(number: Any, total: Any) -> tuple[Any, Any]:
                arguments = list(tensors)
                for place in places:
                    one = expression.samples[place]
                    arguments[place] = tf.gather(tf.constant(np.stack(one.arrays), dtype=one.dtype), number)
                leaves = [leaf for leaf in self.flat(expression.function(*arguments)) if leaf.dtype != tf.string]
                return number + 1, total + tf.add_n([tf.reduce_sum(tf.cast(leaf, tf.float32)) for leaf in leaves])

            return [tf.while_loop(lambda number, _: number < VALUE_SETS, step, (0, 0.0))[1]]

        function = tf.function(looped, autograph=False, jit_compile=True)
        run = self.runs(function, expression, state, [[0] * len(expression.samples)])
        return "fails" if run.error is not None else "bounded" if run.bounded else ""

    def ops(self, function: Any, expression: Expression) -> list[str]:
        """The ops of the traced function and of the functions that it calls."""
        concrete = function.get_concrete_function(*self.tensors(expression, [0] * len(expression.samples)))
        graph = concrete.graph.as_graph_def()
        nodes = [*graph.node, *(node for inner in graph.library.function for node in inner.node_def)]
        defined = {inner.signature.name for inner in graph.library.function}
        return sorted({node.op for node in nodes} - {*BOOKKEEPING} - defined)

    # -- gradients ----------------------------------------------------------------------------------------------------

    def gradient_alone(self, expression: Expression, random: bool) -> dict[str, Any]:
        """What became of the gradient of a call; nothing where there is none. Raises NotAcceptedError."""
        self.note("eager")
        try:
            self.accepts(expression)  # objects make their variables at their first call
        except Exception as error:
            raise NotAcceptedError(brief(error)) from error
        return self.gradient(expression, State(expression, self.tf), random)

    def gradient(self, expression: Expression, state: State, random: bool) -> dict[str, Any]:
        """What became of the gradient by all floating or complex tensors and trained variables."""
        tf = self.tf
        gradients = self.gradients(expression.function, expression, state)
        row = [0] * len(expression.samples)
        self.note("eager gradient")
        state.restore()
        try:
            expected = arrays(gradients(*self.tensors(expression, row)))
        except Exception:  # an op without a gradient: none can be asked for
            return {}
        if not expected:
            return {}
        self.note("compile gradient")
        function = tf.function(gradients, autograph=False, jit_compile=True)
        run = self.runs(function, expression, state, [row])
        if run.error is not None:
            if "in any tf.function" in run.error:
                return {}
            try:
                ops = self.ops(function, expression)
            except Exception:  # what cannot be traced lacks no kernel
                ops = []
            missing = self.lacking(run.error, ops)
            return {"gradient": "fails", "gradient_detail": reason(run.error), "gradient_missing": missing}
        told = difference(expected, run.results[0], random)
        return {"gradient": "diverges", "gradient_detail": told} if told else {"gradient": "ok"}

    def gradients(self, function: Any, expression: Expression, state: State) -> Callable[..., list[Any]]:
        """The gradients of what a function gives, by all floating or complex tensors and trained variables."""
        tf = self.tf
        sources = [place for place, one in enumerate(expression.samples) if one.floating or one.complex]

        def gradients(*tensors: Any) -> list[Any]:
            with tf.GradientTape() as tape:
                watched = [tensors[place] for place in sources]
                tape.watch(watched)
                results = self.flat(function(*tensors))
                total = loss(tf, results)
            found = tape.gradient(total, [*watched, *state.trained])
            return [tf.convert_to_tensor(one) for one in found if one is not None]

        return gradients

    def again_where_nested(self, expression: Expression) -> bool:
        """Whether other floating values have the gradient compiled again where the call is in a `tf.function` of its
        own inside of what is compiled, and do not where it is not."""
        self.note("eager")
        self.accepts(expression)  # objects make their variables at their first call
        state = State(expression, self.tf)
        rows = [[number if one.floating else 0 for one in expression.samples] for number in range(VALUE_SETS)]
        again = []
        for inner in (self.graph(expression, compiled=False), expression.function):
            self.note("compile gradient")
            gradients = self.gradients(inner, expression, state)
            run = self.runs(self.tf.function(gradients, autograph=False, jit_compile=True), expression, state, rows)
            again.append(run.error is None and any(run.compilations[1:]))
        return again == [True, False]


class State:
    """The variables of the objects that a call uses, put back before each run, so that all start from the same."""

    def __init__(self, expression: Expression, tf: Any) -> None:
        self.variables: list[Any] = []
        for made in expression.made:
            if isinstance(made, tf.Variable):
                self.variables.append(made)
            else:
                owned = getattr(made, "variables", ())
                self.variables += list(owned() if callable(owned) else owned)
        self.saved = [np.array(variable) for variable in self.variables]
        trainable = [one for one in self.variables if getattr(one, "trainable", False)]
        owned = [one if isinstance(one, tf.Variable) else one.value for one in trainable]  # Keras 3 wraps its variables
        self.trained = [one for one in owned if isinstance(one, tf.Variable) and one.dtype.is_floating]

    def restore(self) -> None:
        for variable, value in zip(self.variables, self.saved, strict=True):
            variable.assign(value)


# -- comparing and telling --------------------------------------------------------------------------------------------


def arrays(tensors: Sequence[Any]) -> list[Any]:
    """The tensors as arrays; what is no dense tensor (a resource, a variant) as nothing."""
    return [None if str(one.dtype.name) in ("resource", "variant") else np.asarray(one) for one in tensors]


def undefined_in(tensors: Sequence[Any]) -> bool:
    """Is there something that is not a number?"""
    return any(one.dtype.is_floating and bool(np.isnan(np.asarray(one, np.float64)).any()) for one in tensors)


def signature(results: Sequence[Any]) -> str:
    """Dtypes and shapes: "f32[2, 3] i64[2]"."""
    texts = []
    for one in results[:4]:
        if one is None:
            continue
        name = "string" if one.dtype.kind == "O" else one.dtype.name
        texts.append(f"{SHORT.get(name, name)}[{', '.join(map(str, one.shape))}]")
    return " ".join(texts) + (" ..." if len(results) > 4 else "")


def same(left: Any, right: Any) -> bool:
    """Equal up to rounding, in shape and values."""
    return not difference(left, right, random=False)


def difference(expected: Any, actual: Any, random: bool) -> str:
    """How two results differ, or nothing."""
    if expected is None or actual is None:
        return "" if expected is actual else "no result"
    if len(expected) != len(actual):
        return f"{len(actual)} tensors instead of {len(expected)}"
    return next(filter(None, (_leaf(*pair, random) for pair in zip(expected, actual, strict=True))), "")


def _leaf(expected: Any, actual: Any, random: bool) -> str:
    if expected is None or actual is None:
        return ""
    if expected.dtype != actual.dtype:
        return f"{actual.dtype} instead of {expected.dtype}"
    if expected.shape != actual.shape:
        return f"shape {list(actual.shape)} instead of {list(expected.shape)}"
    if random:
        return ""
    if expected.dtype.kind in "OSUb":
        return "" if np.array_equal(expected, actual) else "other values"
    left, right = expected.astype(complex), actual.astype(complex)
    tolerance = 3e-2 if expected.dtype.itemsize <= 2 else 2e-3
    if np.allclose(left, right, tolerance, tolerance, equal_nan=True):
        return ""
    nans = np.isnan(left) != np.isnan(right)
    if nans.any():
        return "not-a-number in other places"
    up_to_sign = np.allclose(np.abs(left), np.abs(right), tolerance, tolerance, equal_nan=True)
    return OTHER_SIGNS if up_to_sign else "other values"


def _spread(sample: Sample) -> list[Array]:
    """The values of every set, and of whole numbers also all alike: the least, and the greatest."""
    every = list(sample.arrays)
    if np.issubdtype(every[0].dtype, np.integer):
        values = np.stack(every)
        every += [np.full_like(every[0], value) for value in (values.min(), values.max())]
    return every


def brief(error: BaseException) -> str:
    """Kind and text of an error."""
    return f"{type(error).__name__}: {error}"


_NOISE: Final = (
    (re.compile(r"\{\{(function_)?node [^}]*\}\}\s*"), ""),
    (re.compile(r"\s*\[\[[^\]]*\]\]"), ""),
    (re.compile(r"Requested Attributes:.*?(?=\)|$)", re.S), ""),
    (re.compile(r"0x[0-9a-f]+"), "0x"),
    (re.compile(r"__inference_\w+"), "function"),
    (re.compile(r" \(defined @ [^)]*\)"), ""),
    (re.compile(r"(resource )_?\w+/?\d+|/job:localhost/replica:0/task:0/device:(?=\w+:\d)"), r"\1"),
    (re.compile(r"\s+"), " "),
)


# What an error of a running graph says beside its reason.
_FRAMES: Final = re.compile(r"^(\s+File |Graph execution error|.*[Dd]etected at node |.*defined at \(most recent)")


def reason(error: str) -> str:
    """The sentence of an error that says why, short."""
    if lacking := LACKING.findall(error):
        attributes = " with these attributes" if "attributes didn't match" in error else ""
        return f"No registered {' '.join(sorted(set(lacking)))} OpKernel{attributes}"
    kind = error.partition(":")[0]
    lines = [line.removeprefix(f"{kind}: ") for line in error.splitlines() if line.strip()]
    lines = [line for line in lines if not _FRAMES.match(line)] or lines
    telling = [line for line in lines if "must be a compile-time constant" in line]
    return clean(f"{kind}: {(telling or lines)[0].strip()}")


def clean(text: str, limit: int = 160) -> str:
    """Without names of nodes, addresses and line ends."""
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    return text.strip() if len(text) <= limit else text[: limit - 3].rstrip() + "..."
