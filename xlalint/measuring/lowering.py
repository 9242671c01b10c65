"""What a TPU's compiler makes of measured calls, on a machine without a TPU; in the environment of `xlalint tpu setup`.

A call is lowered from the shapes and dtypes of its tensors alone: so a strategy has it compiled, before there is any
value. What is lowered is compiled for a topology by libtpu.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from xlalint.measuring.expressions import Expression
from xlalint.measuring.loss import loss
from xlalint.measuring.outcome import LACKING, Meter, NotAcceptedError, State, brief, clean, reason
from xlalint.measuring.variations import DIES
from xlalint.probe.worker.compiling.hlo import BOUNDED
from xlalint.probe.worker.devices.libtpu import RefusedError, TpuCompiler, UntranslatedError
from xlalint.probe.worker.devices.stateless import standing_in

_PREFACE: Final = "Failed getting HLO text: '"
# Where a process may be lost, and what is known of a call where it was too slow for that.
STAGES: Final = {"lower": ("it is lowered for the TPU", "untested"), "compile": ("libtpu compiles it", "lowers")}
OF_GRADIENT: Final = " gradient"
_LONG: Final = 600  # characters of what a compiler says that are kept; the table keeps fewer
_STAND_IN: Final = "it uses a variable in a way that lowering cannot replace"
_OWN: Final = "GetCompilerIr does not support"  # it does not get as far as the TPU's kernels


class Lowering:
    """Lowers and compiles calls that `meter` runs eagerly, for a topology such as `v5e:2x2`."""

    def __init__(self, meter: Meter, note: Callable[[str], None], topology: str) -> None:
        self._meter, self._note, self._compiler = meter, note, TpuCompiler(topology)

    def case(self, expression: Expression, gradient: bool, dead: Sequence[str]) -> dict[str, Any]:
        """The call, and its gradient if that is asked for (`facts.tpu.OnTpu`). `dead`: at which stage a process before
        was lost, and how. Raises NotAcceptedError."""
        tf = self._meter.tf
        self._note("eager")
        try:
            self._meter.accepts(expression)  # objects make their variables at their first call
        except Exception as error:
            raise NotAcceptedError(brief(error)) from error
        state = State(expression, tf)
        arguments = self._meter.tensors(expression, [0] * len(expression.samples))
        self._note("graph")
        try:
            concrete = self._meter.graph(expression, compiled=False).get_concrete_function(*arguments)
        except Exception as error:
            return {"outcome": "untraced", "detail": reason(brief(error))}
        variables = list(concrete.graph.variables)
        number = len(variables)
        places = [place for place, one in enumerate(variables) if any(one is other for other in state.trained)]
        places += [number + place for place, one in enumerate(expression.samples) if one.floating or one.complex]

        def forward(*tensors: Any) -> list[Any]:
            with standing_in(variables, tensors[:number]) as now:
                result = self._meter.flat(expression.function(*tensors[number:]))
                changed = [new for old, new in zip(tensors, now(), strict=False) if new is not old]
                return [*result, *changed] or [tf.constant(0)]

        def gradients(*tensors: Any) -> list[Any]:
            sources = [tensors[place] for place in places]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                results = forward(*tensors)
                total = loss(tf, results)
            found = tape.gradient(total, sources)
            return [tf.convert_to_tensor(one) for one in found if one is not None]

        specs = [tf.TensorSpec(one.shape, one.dtype) for one in (*variables, *arguments)]
        if dead[0] in STAGES:
            return _lost(dead)
        found = self._lowered(forward, specs, "")
        if gradient and places and found["outcome"] in ("ok", "bounded", "lowers"):
            lost = dead[0].endswith(OF_GRADIENT)
            found["gradient"] = _lost(dead) if lost else self._lowered(gradients, specs, OF_GRADIENT)
        return found

    def _lowered(self, function: Callable[..., Any], specs: Sequence[Any], of: str) -> dict[str, Any]:
        self._note(f"lower{of}")
        compiled = self._meter.tf.function(function, autograph=False, jit_compile=True)
        try:
            compiled.get_concrete_function(*specs)
        except Exception as error:
            if not of:  # the call itself is traced above: what fails here is what stands in for a variable
                return {"outcome": "untested", "detail": _STAND_IN}
            return {"outcome": "untraced", "detail": reason(brief(error))}
        try:
            program = compiled.experimental_get_compiler_ir(*specs)(stage="hlo", platform_name="TPU")
        except Exception as error:
            said = brief(error)
            if _PREFACE not in said or _OWN in said:
                return {"outcome": "untested", "detail": reason(said)}
            missing = sorted(set(LACKING.findall(said)))
            return {"outcome": "fails", "detail": _told(said.partition(_PREFACE)[2].rstrip("'")), "missing": missing}
        outcome = "bounded" if BOUNDED in program else "ok"
        self._note(f"compile{of}")
        try:
            self._compiler.memory(program)
        except UntranslatedError as error:
            found = "bounded" if outcome == "bounded" else "lowers"
            return {"outcome": found, "detail": f"not handed to libtpu: {_told(str(error))}"}
        except RefusedError as error:
            return {"outcome": "fails", "detail": _told(str(error))}
        return {"outcome": outcome}


def _lost(dead: Sequence[str]) -> dict[str, Any]:
    """What is known of a call at which a process was lost."""
    stage, how = dead
    when, otherwise = STAGES[stage.removesuffix(OF_GRADIENT)]
    return {"outcome": "fails" if how.startswith(DIES) else otherwise, "detail": f"{how} when {when}"}


def _told(text: str) -> str:
    """What a compiler says, short."""
    if lacking := LACKING.findall(text):
        return f"No registered {' '.join(sorted(set(lacking)))} OpKernel"
    return clean(text, _LONG)
