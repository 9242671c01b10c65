"""A driven function, its gradient and a step of training as programs for a device that is not there.

TensorFlow lowers a function with the kernels of any device that its wheel was built for. Variables, which are on no
such device, go in and out as tensors.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import Lowering, Observation, Plan

from ..backends.with_tensorflow import TensorFunction
from ..code.graphs import scope_of
from ..code.messages import brief
from ..code.user_lines import UserLines
from ..compiling.with_tensorflow.gradients import floats, total
from ..compiling.with_tensorflow.program import autograph_of
from ..driving.driven import Driven
from ..driving.keras_objects import learning_of
from .naming import ADAM, FUNCTION, ITS_GRADIENT
from .stateless import standing_in

_PREFACE: Final = "Failed getting HLO text: '"
_OWN: Final = "GetCompilerIr does not support"  # resources, say: it does not get as far as the device's kernels


class Stateless:
    """A driven function as one of tensors: of the variables' first, behind which the inputs' follow."""

    def __init__(self, driven: Driven, variables: Sequence[Any]) -> None:
        self.of, self.variables = driven.of, variables
        self.call, self._autograph = driven.call, autograph_of(driven)
        if isinstance(self.call, TensorFunction):
            self.call, self._autograph = self.call.python_function, getattr(self.call, "_autograph", True)
        self._given = driven.make(0, 0)
        self.inputs = [one for one in tf.nest.flatten(self._given) if tf.is_tensor(one)]

    def run(self, *tensors: Any, **training: bool) -> Any:
        """What it returns, and the new values by the places of the variables that it changed."""
        state, parts = tensors[: len(self.variables)], iter(tensors[len(self.variables) :])
        filled = tf.nest.map_structure(lambda one: next(parts) if tf.is_tensor(one) else one, self._given)
        with standing_in(self.variables, state) as now:
            return self.call(*filled[0], **training | filled[1]), _changed(state, now())

    def compiled(self, function: Callable[..., Any]) -> Any:
        """Something that runs this, for XLA to compile."""
        return tf.function(function, jit_compile=True, autograph=self._autograph)


class Lowerer(ABC):
    """Lowers what is to be known of one driven function; `next_up` is called before each program, which may end the
    process or take all the time that there is.

    `platform`: the device in TensorFlow's words; `stage`: what is being done, in the protocol's; `fails`: the kind of
    observation where it is refused, and `who` refuses it; `topology`: which device it is, where that matters.
    """

    platform: ClassVar[str]
    stage: ClassVar[str]
    fails: ClassVar[str]
    who: ClassVar[str]
    topology: str = ""

    def __init__(self, user_lines: UserLines, next_up: Callable[[], None], plan: Plan) -> None:
        self._user_lines, self._next_up, self._plan = user_lines, next_up, plan
        self.observations: list[Observation] = []
        self.programs: list[Lowering] = []

    @abstractmethod
    def arguments_of(self, state: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """What a program is lowered for: of variables and of inputs the specs, or the values."""

    @abstractmethod
    def lowered(self, of: str, program: str, concrete: Any, gradient: bool, started: float) -> None:
        """Keep what is made of a program (HLO as text) that was traced to `concrete`; its way began at `started`."""

    def all_of(
        self,
        driven: Driven,
        variables: Sequence[Any],
        trained: Sequence[Any],
        step: Stateless | None = None,
        *,
        adam: bool = True,
    ) -> None:
        """The function; where it is a compiled model, the step that it trains with; where that does not compile, or
        there is none, and something floats, its gradient; where something is trained, and `adam`, a step of Adam.

        `variables`: all that it uses, in whose stead tensors go in and out; `step`: what such a model trains with,
        where that can be traced. What trains variables by itself is no more than that.
        """
        forward = Stateless(driven, variables)
        places = [place for place, one in enumerate(variables) if any(one is other for other in trained)]
        number, count = len(variables), len(places)
        learning = learning_of(forward.call)

        def gradient(*tensors: Any) -> Any:
            sources = [*(tensors[place] for place in places), *floats(tensors[number:])]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                result, changed = forward.run(*tensors, **learning)
                loss = total(result)
            return tape.gradient(loss, sources) if loss is not None else [None] * len(sources), changed

        def trained_by_adam(*tensors: Any) -> Any:
            weights, moments = tensors[:number], tensors[number : number + 2 * count]
            found, changed = gradient(*weights, *tensors[number + 2 * count :])
            for at, place in enumerate(places):
                if found[at] is not None:
                    after = _adam(weights[place], moments[at], moments[count + at], found[at])
                    changed |= dict(zip((place, number + at, number + count + at), after, strict=True))
            return (), changed

        def program(of: str, function: Callable[..., Any], state: Sequence[Any]) -> Any:
            return self._program(of, forward.compiled(function), self.arguments_of(state, forward.inputs))

        concrete = program(FUNCTION, forward.run, variables)
        if concrete is None or not self._plan.gradients or not assigned_by(concrete).isdisjoint(places):
            return
        if step is not None:
            self._program(step.of, step.compiled(step.run), self.arguments_of(step.variables, step.inputs))
            if self.programs[-1].compiles:
                return
        if places or floats(forward.inputs):
            program(ITS_GRADIENT, gradient, variables)
        if places and adam:
            trainable = [variables[place] for place in places]
            program(ADAM, trained_by_adam, [*variables, *trainable, *trainable])

    def _program(self, of: str, function: Any, given: Sequence[Any]) -> Any:
        """What it was traced to; None where it could not be lowered."""
        self._next_up()
        gradient, started = bool(self.programs), time.monotonic()
        try:
            concrete = function.get_concrete_function(*given)
        except Exception as error:  # it traces as it is: with tensors in the stead of variables, it does not
            self.untried(of, brief(str(error)))
            return None
        graph = concrete.graph
        try:
            program = function.experimental_get_compiler_ir(*given)(stage="hlo", platform_name=self.platform)
        except Exception as error:
            trouble = self._user_lines.trouble(error, self.stage, graph)
            message = trouble.message.removeprefix(_PREFACE).rstrip("'")
            if _PREFACE not in trouble.text or _OWN in trouble.text:
                self.untried(of, message)
                return None
            if trouble.ops:
                within = "" if trouble.spots else scope_of(graph, trouble.ops)
                message = f"no kernel for {', '.join(f'`{op}`' for op in trouble.ops)}{within}"
            said = f"{self.who} refuses {of}: {message}"
            ops = (*trouble.ops, *trouble.made)
            self.observations.append(Observation(self.fails, said, trouble.spots, gradient=gradient, ops=ops))
            self.programs.append(Lowering(of, self.topology, message))
            return None
        self.lowered(of, program, concrete, gradient, started)
        return concrete

    def untried(self, of: str, why: str, *, lowered: bool = False) -> None:
        """A program of which nothing is known, or no more than that it is lowered."""
        self.programs.append(Lowering(of, self.topology, untried=why, lowered=lowered))


def assigned_by(concrete: Any) -> set[int]:
    """Which arguments of a program stand for variables that it assigns to."""
    return set(concrete.structured_outputs[1])


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
