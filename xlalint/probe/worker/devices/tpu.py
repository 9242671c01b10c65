"""What a TPU's compiler makes of a driven function, on a machine without a TPU. Nothing is run on one.

TensorFlow's TPU wheel lowers the function with the TPU's kernels, or gives the TPU's own error; libtpu, which JAX
reaches, compiles the result ahead of time for a named topology and tells what memory it takes, or why it will not.
Works in the environment that `xlalint.tpu.stack` makes: `jaxlib`'s inner modules move, so they are pinned there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import TPU, TPU_BOUNDED, TPU_FAILS, Lowering, Observation, Plan, Spot
from xlalint.tpu.chips import chip_of

from ..code.messages import brief
from ..code.user_lines import UserLines
from ..compiling.hlo import BOUNDED, aliased, bounded_ops, bounded_outputs, instructions
from .lowering import Lowerer, assigned_by

_GIB: Final = 2**30
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
    """A program cannot be given to libtpu, which says nothing of what a TPU would do with it."""


class TpuCompiler:
    """libtpu, for one topology such as `v5e:2x2`."""

    def __init__(self, topology: str) -> None:
        from jax.experimental import topologies

        self.topology = topology
        self._available = chip_of(topology).memory
        self._device = topologies.get_topology_desc(topology, platform="tpu").devices[0]

    def memory(self, program: str) -> int:
        """The bytes of a core's memory that a program (HLO as text) takes. Raises RefusedError, UntranslatedError."""
        from jaxlib import _jax, xla_client
        from jaxlib._jax import mlir

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


class TpuLowerer(Lowerer):
    """Compiles for one topology what is lowered for a TPU, and looks for what is odd there."""

    platform = "TPU"
    stage = TPU
    fails = TPU_FAILS
    who = "the TPU compiler"

    def __init__(self, compiler: TpuCompiler, user_lines: UserLines, next_up: Callable[[], None], plan: Plan) -> None:
        super().__init__(user_lines, next_up, plan)
        self._compiler, self.topology = compiler, compiler.topology

    def arguments_of(self, state: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Specs, of which the TPU has to know no value."""
        return [*(tf.TensorSpec(one.shape, one.dtype) for one in state), *_batched(inputs, self._plan.batch)]

    def lowered(self, of: str, program: str, concrete: Any, gradient: bool, started: float) -> None:
        """See there."""
        self._bounded(of, program, concrete.graph, gradient)
        wide = self._wide(program, concrete.graph)
        try:
            memory = self._compiler.memory(aliased(program, _replaced(concrete)))
        except UntranslatedError as error:
            self.untried(of, f"it is lowered for a TPU, but libtpu cannot read it: {error}", lowered=True)
        except RefusedError as error:
            size = f" with {self._plan.batch} examples at once" if self._plan.batch else ""
            said = f"{self.topology} refuses {of}{size}: {error}"
            self.observations.append(Observation(TPU_FAILS, said, gradient=gradient))
            self.programs.append(Lowering(of, self.topology, str(error), wide=wide))
        else:
            seconds = round(time.monotonic() - started, 2)
            self.programs.append(Lowering(of, self.topology, None, seconds, memory, wide))

    def _bounded(self, of: str, program: str, graph: Any, gradient: bool) -> None:
        if BOUNDED not in program:
            return
        outputs = bounded_outputs(program)
        where = f"in result{'s' if len(outputs) > 1 else ''} {', '.join(map(str, outputs))}" if outputs else "inside"
        said = f"{of} has a bounded dynamic shape {where}, which a TPU pads to its bound"
        made = [self._user_lines.of_named_op(graph, name)[0] for name in bounded_ops(program)]
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
            for spot in self._user_lines.of_named_op(graph, one.op)[0][:1]:
                for name in types:
                    found.setdefault(_WIDE[name], spot)
        return tuple(found.items())


def _batched(inputs: Sequence[Any], batch: int) -> list[Any]:
    """What the inputs are, with another number of examples where all that have a first dimension agree in it."""
    shapes = [one.shape for one in inputs]
    if batch and len({shape[0] for shape in shapes if shape.rank}) == 1:
        shapes = [shape if not shape.rank else [batch, *shape[1:]] for shape in shapes]
    return [tf.TensorSpec(shape, one.dtype) for shape, one in zip(shapes, inputs, strict=True)]


def _replaced(concrete: Any) -> dict[int, int]:
    """Which results take the place of which arguments: what was assigned to is written where it was."""
    results = tf.nest.flatten(concrete.structured_outputs[0], expand_composites=True)
    number = sum(one is not None for one in results)
    return {number + at: argument for at, argument in enumerate(sorted(assigned_by(concrete)))}
