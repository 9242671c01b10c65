"""What a TPU's compiler makes of a driven function, on a machine without a TPU. Nothing is run on one.

TensorFlow's TPU wheel lowers the function with the TPU's kernels, or gives the TPU's own error; `libtpu` compiles the
result.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import TPU, TPU_BOUNDED, TPU_FAILS, Lowering, Observation, Plan, Spot

from ..code.user_lines import UserLines
from ..compiling.hlo import BOUNDED, aliased, bounded_ops, bounded_outputs, instructions
from .libtpu import RefusedError, TpuCompiler, UntranslatedError, at_once, sized
from .lowering import Lowerer, assigned_by

# Types for one number of which libtpu computes with several of 32 bits (complex128 has no kernel at all).
_WIDE: Final = {"f64": "float64", "s64": "int64", "u64": "uint64"}
_TYPE: Final = re.compile(rf"({'|'.join(_WIDE)})\[")
_OPCODE: Final = re.compile(r"^\S+ ([\w-]+)\(")
_MOVES: Final = frozenset(("parameter", "constant", "tuple", "get-tuple-element", "convert"))


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
            said = f"{self.topology} refuses {of}{at_once(self._plan.batch)}: {error}"
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
    shapes = sized([tuple(one.shape) for one in inputs], batch)
    return [tf.TensorSpec(shape, one.dtype) for shape, one in zip(shapes, inputs, strict=True)]


def _replaced(concrete: Any) -> dict[int, int]:
    """Which results take the place of which arguments: what was assigned to is written where it was."""
    results = tf.nest.flatten(concrete.structured_outputs[0], expand_composites=True)
    number = sum(one is not None for one in results)
    return {number + at: argument for at, argument in enumerate(sorted(assigned_by(concrete)))}
