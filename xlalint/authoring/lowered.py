"""Programs such as the examples of rules, handed to a TPU's compiler on a machine without a TPU."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

from ..facts import tpu
from ..facts.tpu import OnTpu, TpuOutcome
from ..probe.process import Interpreter, Limits, Worker
from ..probe.protocol import TPU, TPU_BOUNDED, TPU_FAILS, Outcome, Plan
from ..probe.target import Given, Target
from ..tpu import stack
from ..tpu.chips import DEFAULT
from .measured import entry_of

_LIMITS: Final = Limits(function=180.0, memory=12288)
_LACKS: Final = "no kernel for"


class Asked(Protocol):
    """What can be asked: a file whose function `f` or class `L` is called with `inputs`."""

    @property
    def code(self) -> str: ...

    @property
    def inputs(self) -> Sequence[str]: ...


_Asked = TypeVar("_Asked", bound=Asked)


def measure(examples: Iterable[_Asked]) -> Iterator[tuple[_Asked, OnTpu]]:
    """What the compiler makes of each. Raises `stack.StackError` where it is not installed."""
    interpreter = Interpreter(str(stack.program()), fixed=stack.ENVIRONMENT)
    plan = Plan(gradients=False, locate=False, topology=DEFAULT)
    worker = None
    try:
        with tempfile.TemporaryDirectory(prefix="xlalint-") as folder:
            for number, example in enumerate(examples):
                if worker is None or worker.spent(_LIMITS):
                    if worker is not None:
                        worker.close()
                    worker = Worker(interpreter)
                file = Path(folder, f"example_{number}.py")
                file.write_text(example.code, encoding="utf-8")
                given = tuple(Given(None, text) for text in example.inputs)
                target = Target(str(file), entry_of(example.code), given=given)
                yield example, _made_of(worker.ask(target, plan, _LIMITS))
    finally:
        if worker is not None:
            worker.close()


def _made_of(outcome: Outcome) -> OnTpu:
    errors = [call.error for call in outcome.calls if call.error is not None]
    if errors:
        return OnTpu(TpuOutcome.UNTRACED, errors[0].kind)
    if outcome.death is not None and outcome.died_at == TPU:
        return OnTpu(TpuOutcome.FAILS, f"the process {outcome.death} when it is lowered for the TPU or compiled")
    if outcome.not_run is not None or outcome.death is not None:
        return OnTpu(TpuOutcome.UNTESTED, outcome.not_run or f"the process {outcome.death}")
    program = outcome.programs[0]
    bounded = any(one.kind == TPU_BOUNDED for one in outcome.observations)
    if program.untried is not None:
        known = TpuOutcome.BOUNDED if bounded else TpuOutcome.LOWERS if program.lowered else TpuOutcome.UNTESTED
        return OnTpu(known, program.untried)
    if program.refusal is not None:
        ops = next((one.ops for one in outcome.observations if one.kind == TPU_FAILS), ())
        missing = tuple(dict.fromkeys(ops)) if program.refusal.startswith(_LACKS) else ()
        return OnTpu(TpuOutcome.FAILS, "" if missing else tpu.told(program.refusal), missing)
    return OnTpu(TpuOutcome.BOUNDED if bounded else TpuOutcome.OK)
