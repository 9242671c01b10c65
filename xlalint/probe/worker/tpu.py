"""What a TPU's compiler makes of a driven function, on a machine without a TPU. Nothing is run on one.

TensorFlow's TPU wheel lowers the function with the TPU's kernels, or gives the TPU's own error; libtpu, which JAX
reaches, compiles the result ahead of time for a named topology and tells what memory it takes, or why it will not.
Works in the environment that `xlalint.tpu.stack` makes: `jaxlib`'s inner modules move, so they are pinned there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import TPU, TPU_BOUNDED, TPU_FAILS, Lowering, Observation, Plan, Spot
from xlalint.probe.worker.blame import Blame, brief
from xlalint.probe.worker.gradients import floats, total
from xlalint.probe.worker.hlo import BOUNDED, aliased, bounded_ops, bounded_outputs, instructions
from xlalint.probe.worker.measure import TensorFunction, autograph_of
from xlalint.probe.worker.objects import learning_of
from xlalint.probe.worker.stateless import standing_in
from xlalint.tpu.chips import chip_of

if TYPE_CHECKING:
    from xlalint.probe.worker.drive import Driven

_GIB: Final = 2**30
_PREFACE: Final = "Failed getting HLO text: '"
_OWN: Final = "GetCompilerIr does not support"  # resources, say: it does not get as far as the TPU's kernels
# The words of libtpu for a program that does not fit, and of the way to it, which does not know every operation.
_MEMORY: Final = re.compile(r"Used (?P<used>\S+) of (?P<all>\S+) hbm")
_UNTRANSLATED: Final = re.compile(r"unregistered operation '(?P<op>[^']+)'|failed to legalize|'stablehlo\.\w+' op ")
# Types for one number of which libtpu computes with several of 32 bits (complex128 has no kernel at all).
_WIDE: Final = {"f64": "float64", "s64": "int64", "u64": "uint64"}
_TYPE: Final = re.compile(rf"({'|'.join(_WIDE)})\[")
_OPCODE: Final = re.compile(r"^\S+ ([\w-]+)\(")
_MOVES: Final = frozenset(("parameter", "constant", "tuple", "get-tuple-element", "convert"))


class RefusedError(Exception):
    """libtpu does not compile a program; the text is its reason in one line."""


class UntranslatedError(Exception):
    """A program cannot be handed to libtpu, which says nothing of what a TPU would do with it."""


class TpuCompiler:
    """libtpu, for one topology such as `v5e:2x2`."""

    def __init__(self, topology: str) -> None:
        from jax.experimental import topologies  # type: ignore[import-not-found]

        self.topology = topology
        self._available = chip_of(topology).memory
        self._device = topologies.get_topology_desc(topology, platform="tpu").devices[0]

    def memory(self, program: str) -> int:
        """The bytes of a core's memory that a program (HLO as text) takes. Raises RefusedError, UntranslatedError."""
        from jaxlib import _jax, xla_client  # type: ignore[import-not-found]
        from jaxlib._jax import mlir  # type: ignore[import-not-found]

        try:
            module = _jax.hlo_module_from_text(program)
            computation = xla_client.XlaComputation(module.as_serialized_hlo_module_proto())
            portable = mlir.xla_computation_to_mlir_module(computation)
        except Exception as error:
            raise UntranslatedError(brief(str(error))) from error
        code = portable.encode() if isinstance(portable, str) else portable
        try:
            compiled = self._device.client.compile(code, _jax.DeviceList((self._device,)), xla_client.CompileOptions())
        except Exception as error:
            said = str(error)
            if unknown := _UNTRANSLATED.search(said):
                op = unknown["op"]
                raise UntranslatedError(f"JAX does not know `{op}`" if op else brief(said)) from error
            match = _MEMORY.search(said)
            fits = f"it does not fit: it takes {match['used']} of {match['all']}" if match else brief(said)
            raise RefusedError(fits) from error
        needs = compiled.get_compiled_memory_stats()
        held = needs.argument_size_in_bytes + needs.output_size_in_bytes - needs.alias_size_in_bytes
        total_bytes = int(held + needs.temp_size_in_bytes + needs.generated_code_size_in_bytes)
        if total_bytes > self._available:  # libtpu itself refuses only some programs that do not
            raise RefusedError(f"it does not fit: it takes {total_bytes / _GIB:.2f}G of {self._available / _GIB:.2f}G")
        return total_bytes


class Lowerer:
    """Lowers and compiles what is to be known of one driven function; `next_up` is called before each program, which
    may end the process or take all the time that there is."""

    def __init__(self, compiler: TpuCompiler, blame: Blame, next_up: Callable[[], None], plan: Plan) -> None:
        self._compiler, self._blame, self._next_up, self._plan = compiler, blame, next_up, plan
        self.observations: list[Observation] = []
        self.programs: list[Lowering] = []

    def all_of(self, driven: Driven, variables: Sequence[Any], trained: Sequence[Any]) -> None:
        """The function; where something floats, its gradient; where something is trained, a step of Adam, too.

        `variables`: all that it uses, in whose stead tensors go in and out, as they do on a TPU.
        """
        call, autograph = driven.call, autograph_of(driven)
        if isinstance(call, TensorFunction):
            call, autograph = call.python_function, getattr(call, "_autograph", True)
        given = driven.make(0, 0)
        inputs = [one for one in tf.nest.flatten(given) if tf.is_tensor(one)]
        places = [place for place, one in enumerate(variables) if any(one is other for other in trained)]
        number, count = len(variables), len(places)

        def forward(*tensors: Any, **training: bool) -> Any:
            state, parts = tensors[:number], iter(tensors[number:])
            filled = tf.nest.map_structure(lambda one: next(parts) if tf.is_tensor(one) else one, given)
            with standing_in(variables, state) as now:
                return call(*filled[0], **training | filled[1]), _changed(state, now())

        def gradient(*tensors: Any) -> Any:
            sources = [*(tensors[place] for place in places), *floats(tensors[number:])]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                result, changed = forward(*tensors, **learning_of(call))
                loss = total(result)
            return tape.gradient(loss, sources) if loss is not None else [None] * len(sources), changed

        def step(*tensors: Any) -> Any:
            weights, moments = tensors[:number], tensors[number : number + 2 * count]
            found, changed = gradient(*weights, *tensors[number + 2 * count :])
            for at, place in enumerate(places):
                if found[at] is not None:
                    after = _adam(weights[place], moments[at], moments[count + at], found[at])
                    changed |= dict(zip((place, number + at, number + count + at), after, strict=True))
            return (), changed

        def compiled(of: str, function: Callable[..., Any], state: Sequence[Any]) -> bool:
            specs = [*(tf.TensorSpec(one.shape, one.dtype) for one in state), *_batched(inputs, self._plan.batch)]
            return self._one(of, tf.function(function, jit_compile=True, autograph=autograph), specs)

        if compiled("the function", forward, variables) and self._plan.gradients:
            if places or floats(inputs):
                compiled("its gradient", gradient, variables)
            if places:
                trainable = [variables[place] for place in places]
                compiled("a step of Adam", step, [*variables, *trainable, *trainable])

    def _one(self, of: str, function: Any, specs: Sequence[Any]) -> bool:
        """Whether it could be lowered."""
        self._next_up()
        gradient, started = bool(self.programs), time.monotonic()
        try:
            concrete = function.get_concrete_function(*specs)
        except Exception as error:  # it traces as it is: with tensors in the stead of variables, it does not
            self._untried(of, brief(str(error)))
            return False
        graph = concrete.graph
        try:
            program = function.experimental_get_compiler_ir(*specs)(stage="hlo", platform_name="TPU")
        except Exception as error:
            trouble = self._blame.trouble(error, TPU, graph)
            message = trouble.message.removeprefix(_PREFACE).rstrip("'")
            if _PREFACE not in trouble.text or _OWN in trouble.text:
                self._untried(of, message)
                return False
            if trouble.ops:
                message = f"no kernel for {', '.join(f'`{op}`' for op in trouble.ops)}"
            said = f"the TPU's compiler refuses {of}: {message}"
            ops = (*trouble.ops, *trouble.made)
            self.observations.append(Observation(TPU_FAILS, said, trouble.spots, gradient=gradient, ops=ops))
            self.programs.append(Lowering(of, self._compiler.topology, message))
            return False
        self._bounded(of, program, graph, gradient)
        wide = self._wide(program, graph)
        try:
            memory = self._compiler.memory(aliased(program, _replaced(concrete)))
        except UntranslatedError as error:
            self._untried(of, f"it is lowered for one, and cannot be handed to libtpu: {error}")
            return True
        except RefusedError as error:
            said = f"{self._compiler.topology} does not take {of}: {error}"
            self.observations.append(Observation(TPU_FAILS, said, gradient=gradient))
            self.programs.append(Lowering(of, self._compiler.topology, str(error), wide=wide))
            return True
        seconds = round(time.monotonic() - started, 2)
        self.programs.append(Lowering(of, self._compiler.topology, None, seconds, memory, wide))
        return True

    def _untried(self, of: str, why: str) -> None:
        self.programs.append(Lowering(of, self._compiler.topology, untried=why))

    def _bounded(self, of: str, program: str, graph: Any, gradient: bool) -> None:
        if BOUNDED not in program:
            return
        outputs = bounded_outputs(program)
        where = f"in result{'s' if len(outputs) > 1 else ''} {', '.join(map(str, outputs))}" if outputs else "inside"
        said = f"{of} has a bounded dynamic shape {where}, which a TPU pads to its bound"
        made = [self._blame.op(graph, name)[0] for name in bounded_ops(program)]
        for spots in dict.fromkeys(one for one in made if one) or [()]:
            self.observations.append(Observation(TPU_BOUNDED, said, spots, gradient=gradient))

    def _wide(self, program: str, graph: Any) -> tuple[tuple[str, Spot], ...]:
        """The types of 64 bits that it computes with, each with the first of the user's lines that does."""
        found: dict[str, Spot] = {}
        for one in instructions(program).values():
            opcode = _OPCODE.match(one.what)
            types = _TYPE.findall(one.what.partition(" ")[0])
            if not types or not one.op or (opcode and opcode[1] in _MOVES):
                continue
            for spot in self._blame.op(graph, one.op)[0][:1]:
                for name in types:
                    found.setdefault(_WIDE[name], spot)
        return tuple(found.items())


def _batched(inputs: Sequence[Any], batch: int) -> list[Any]:
    """What the inputs are, with another number of examples where all that have a first dimension agree in it."""
    shapes = [one.shape for one in inputs]
    if batch and len({shape[0] for shape in shapes if shape.rank}) == 1:
        shapes = [shape if not shape.rank else [batch, *shape[1:]] for shape in shapes]
    return [tf.TensorSpec(shape, one.dtype) for shape, one in zip(shapes, inputs, strict=True)]


def _changed(before: Sequence[Any], after: Sequence[Any]) -> dict[int, Any]:
    """The variables that were assigned to, by their places."""
    pairs = enumerate(zip(before, after, strict=True))
    return {place: new for place, (old, new) in pairs if new is not old}


def _adam(value: Any, first: Any, second: Any, gradient: Any) -> tuple[Any, Any, Any]:
    """What a step of Adam makes of a weight and of its two moments."""
    slope = tf.cast(tf.convert_to_tensor(gradient), value.dtype)
    first = 0.9 * first + 0.1 * slope
    second = 0.999 * second + 0.001 * slope * slope
    return value - 0.001 * first / (tf.sqrt(second) + 1e-7), first, second


def _replaced(concrete: Any) -> dict[int, int]:
    """Which results take the place of which arguments: what was assigned to is written where it was."""
    results, changed = concrete.structured_outputs
    number = sum(one is not None for one in tf.nest.flatten(results, expand_composites=True))
    return {number + at: argument for at, argument in enumerate(sorted(changed))}
