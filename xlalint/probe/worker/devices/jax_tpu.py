"""What a TPU's compiler makes of a driven function under JAX, on a machine without a TPU. Nothing is run on one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xlalint.probe.protocol import TPU, TPU_FAILS, Lowering, Observation, Plan

from ..code.user_lines import UserLines
from ..compiling.with_jax.program import JaxProgram, trained_places
from ..driving.driven import Driven
from ..driving.keras_objects import learning_of
from .libtpu import RefusedError, TpuCompiler, at_once, sized
from .naming import ADAM, FUNCTION, ITS_GRADIENT


class JaxLowerer:
    """Compiles for one topology what is to be known of one driven function; `next_up` is called before each program,
    which may end the process or take all the time that there is."""

    stage = TPU

    def __init__(self, compiler: TpuCompiler, user_lines: UserLines, next_up: Callable[[], None], plan: Plan) -> None:
        self._compiler, self._user_lines, self._next_up, self._plan = compiler, user_lines, next_up, plan
        self._sharding = jax.sharding.SingleDeviceSharding(compiler.device)
        self.observations: list[Observation] = []
        self.programs: list[Lowering] = []

    def all_of(self, driven: Driven, step: Driven | None) -> None:
        """The function; where it is a compiled model, the step that it trains with; where that does not compile, or
        there is none, and something floats, its gradient; where something is trained, and there is no step, one of
        Adam."""
        program = JaxProgram(driven, self._user_lines)
        if not self._compiled(FUNCTION, program, driven) or not self._plan.gradients:
            return
        if step is not None and self._compiled(step.of, JaxProgram(step, self._user_lines), step):
            return
        gradients = program.gradients(**learning_of(driven.call))
        self._compiled(ITS_GRADIENT, gradients, driven)
        if step is None and trained_places(gradients.variables()):
            self._compiled(ADAM, gradients, driven, by_adam=True)

    def _compiled(self, of: str, program: JaxProgram, driven: Driven, *, by_adam: bool = False) -> bool:
        """Whether it compiles, or could not be asked about."""
        self._next_up()
        gradient, started = bool(self.programs), time.monotonic()
        static, state, arrays = program.given(driven.make(0, 0))
        given: tuple[Any, ...] = (self._specs(state), self._specs(arrays, self._plan.batch))
        function = partial(program.measured, static)
        if by_adam:
            moments = self._specs([state[place] for place in trained_places(program.variables())])
            function, given = partial(_by_adam, program, static), (*given, moments, moments)
        donated = (0, 2, 3)[: len(given) - 1]  # what is replaced is written where it was, as Keras's trainer has it
        try:
            lowered = jax.jit(function, donate_argnums=donated).trace(*given).lower(lowering_platforms=("tpu",))
        except Exception as error:  # traced for a CPU, it compiles
            trouble = self._user_lines.trouble(error, TPU)
            self._refused(of, trouble.message, Observation(TPU_FAILS, "", trouble.spots, gradient=gradient))
            return False
        try:
            memory = self._compiler.memory_of(lowered)
        except RefusedError as error:
            self._refused(of, str(error), Observation(TPU_FAILS, "", gradient=gradient))
            return False
        seconds = round(time.monotonic() - started, 2)
        self.programs.append(Lowering(of, self._compiler.topology, None, seconds, memory))
        return True

    def _refused(self, of: str, why: str, seen: Observation) -> None:
        topology = self._compiler.topology
        said = f"{topology} refuses {of}{at_once(self._plan.batch)}: {why}"
        self.observations.append(Observation(seen.kind, said, seen.spots, gradient=seen.gradient))
        self.programs.append(Lowering(of, topology, why))

    def _specs(self, arrays: Sequence[Any], batch: int = 0) -> list[Any]:
        """What a TPU has to know of arrays."""
        shapes = sized([tuple(one.shape) for one in arrays], batch)
        pairs = zip(shapes, arrays, strict=True)
        return [jax.ShapeDtypeStruct(shape, one.dtype, sharding=self._sharding) for shape, one in pairs]


def _by_adam(
    program: JaxProgram, static: Any, state: Sequence[Any], arrays: Sequence[Any], first: Any, second: Any
) -> tuple[Any, ...]:
    """The variables and the moments behind a step of Adam on the summed outputs."""
    found, after = program.measured(static, state, arrays)
    places = trained_places(program.variables())
    by_weight = found[len(found) - len(places) :]
    after = list(after)
    moments: tuple[list[Any], list[Any]] = ([], [])
    for at, place in enumerate(places):
        slope = by_weight[at].astype(after[place].dtype)
        moments[0].append(0.9 * first[at] + 0.1 * slope)
        moments[1].append(0.999 * second[at] + 0.001 * slope * slope)
        after[place] -= 0.001 * moments[0][at] / (jnp.sqrt(moments[1][at]) + 1e-7)
    return after, *moments
