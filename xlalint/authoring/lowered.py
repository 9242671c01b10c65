"""What a TPU's compiler makes of the examples of rules, on a machine without a TPU: asked anew, and as a table."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..facts import tpu
from ..facts.tpu import OnTpu, TpuOutcome
from ..probe.pool import Interpreter, Limits, Worker
from ..probe.protocol import TPU_BOUNDED, TPU_FAILS, Outcome, Plan
from ..probe.target import Given, Target
from ..rule import Bad, Behaviour, Breaks, Compiles, Diverges, Fails, Good, Recompiles, Rule, Runs
from ..tpu import stack
from ..tpu.chips import DEFAULT
from .examples import is_program
from .measured import entry_of

_LIMITS: Final = Limits(function=180.0, memory=12288)
_WIDTH: Final = 72  # of a cell of a table
_LACKS: Final = "no kernel for"


def asked(rule: type[Rule]) -> list[Bad | Good]:
    """The examples that are handed to the compiler: those that claim something and are no programs as a whole."""
    return [one for one in _examples(rule) if one.behaviour is not None and not is_program(one.behaviour)]


def _examples(rule: type[Rule]) -> list[Bad | Good]:
    return [*rule.bad, *rule.good]


def digest(example: Bad | Good) -> str:
    """What an example is known by."""
    return tpu.digest(example.code, tuple(example.inputs))


def measure(examples: Iterable[Bad | Good]) -> Iterator[tuple[Bad | Good, OnTpu]]:
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
    if outcome.not_run is not None or outcome.death is not None:
        return OnTpu(TpuOutcome.UNTESTED, outcome.not_run or f"the process {outcome.death}")
    refused = [one for one in outcome.observations if one.kind == TPU_FAILS]
    if refused:
        said = next((one.refusal for one in outcome.programs if one.refusal), "")
        missing = refused[0].ops if said.startswith(_LACKS) else ()
        return OnTpu(TpuOutcome.FAILS, "" if missing else tpu.told(said), missing)
    [program] = outcome.programs
    if program.untried is not None:
        return OnTpu(TpuOutcome.LOWERS if program.lowered else TpuOutcome.UNTESTED, program.untried)
    bounded = any(one.kind == TPU_BOUNDED for one in outcome.observations)
    return OnTpu(TpuOutcome.BOUNDED if bounded else TpuOutcome.OK)


# -- as a table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One example: what it is about, and what becomes of it on a CPU and for a TPU."""

    flagged: bool
    example: str
    cpu: str
    tpu: str


def rows(rule: type[Rule]) -> Iterator[Row]:
    """The examples of a rule that claim something, as the tests measured them."""
    for one in _examples(rule):
        if one.behaviour is not None:
            found = tpu.of_example(digest(one)) if not is_program(one.behaviour) else None
            on_tpu = "not asked: it runs as a program" if is_program(one.behaviour) else "not asked"
            flagged = isinstance(one, Bad)
            name = ", ".join(one.at) if isinstance(one, Bad) else one.why or _last_line(one.code)
            yield Row(flagged, _cell(name), in_words(one.behaviour), _cell(found.said() if found else on_tpu))


def section(rule: type[Rule]) -> str:
    """The table of a rule's page (Markdown); empty where it has no measured example."""
    found = list(rows(rule))
    if not found:
        return ""
    versions, topology = tpu.stack()
    lines = [
        "## Measured",
        "Each example as the tests run it on a CPU, and as a TPU's compiler takes it: lowered from shapes alone, as a "
        f"strategy has it compiled, and compiled for {topology} ({versions}); nothing was run on a TPU.",
        "",
        "| | example | CPU | TPU |",
        "| --- | --- | --- | --- |",
    ]
    lines += [f"| {'flagged' if row.flagged else 'not'} | {row.example} | {row.cpu} | {row.tpu} |" for row in found]
    return "\n".join(lines)


def in_words(behaviour: Behaviour) -> str:
    """What is claimed of the CPU."""
    match behaviour:
        case Fails(text) | Breaks(text):
            return _cell(f"fails: {text}")
        case Recompiles("value"):
            return "compiles for every value"
        case Recompiles():
            return "compiles for every shape"
        case Diverges():
            return "another result"
        case Compiles(bounded=True):
            return "compiles, with a bounded dynamic shape"
        case Compiles():
            return "compiles"
        case Runs():
            return "runs"


def _last_line(code: str) -> str:
    return f"`{code.strip().splitlines()[-1].strip()}`"


def _cell(text: str) -> str:
    one_line = re.sub(r"\s+", " ", text).replace("|", "\\|")
    return one_line if len(one_line) <= _WIDTH else one_line[: _WIDTH - 3].rstrip() + "..."
