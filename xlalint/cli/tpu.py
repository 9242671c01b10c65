"""`xlalint tpu`: the environment in which a TPU's compiler is asked, on a machine without a TPU."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from .console import CLEAN, FAILED, complain, write

if TYPE_CHECKING:
    from ..probe.protocol import Outcome

_SAMPLE: Final = "import tensorflow as tf\n\n\ndef sample(x):\n    return tf.reduce_sum(tf.matmul(x, x))\n"


@click.group()
def tpu() -> None:
    """Use the TPU compiler on a machine without a TPU.

    \b
    xlalint tpu setup                            once: installs it
    xlalint probe --target tpu model.py::Net     what it does with a function

    The compiler is installed in a separate folder, outside your environment:
    $XLALINT_TPU_HOME, else ~/.local/share/xlalint/tpu. Linux on x86-64 only.
    """


@tpu.command("setup")
@click.option("-y", "--yes", is_flag=True, help="Install without asking.")
def setup(yes: bool) -> int:
    """Install the compiler, in pinned versions."""
    from ..tpu import stack

    told = f"about {stack.GIGABYTES:g} GB go into {stack.folder()}: {', '.join(stack.PINNED)}"
    complain(told, label="xlalint")
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("cannot ask for confirmation here: --yes installs it")
        click.confirm("Install it?", abort=True, err=True)
    try:
        stack.setup(lambda line: complain(line, label="xlalint"))
    except stack.StackError as error:
        raise click.ClickException(str(error)) from error
    return _checked()


@tpu.command("check")
def check() -> int:
    """Compile a small function for every known TPU, and say what works."""
    return _checked()


@tpu.command("topologies")
def topologies() -> int:
    """List the TPUs that it compiles for: a layout of one host, its cores, and the memory of one of them.

    Other layouts are written in the same way: `v5e:4x4`.
    """
    from ..tpu.chips import CHIPS, DEFAULT

    for chip in CHIPS.values():
        default = "  (default)" if chip.topology == DEFAULT else ""
        write(f"{chip.topology:8}  {chip.cores} cores of {chip.memory / 2**30:.2f} GiB{default}\n")
    return CLEAN


def _checked() -> int:
    from ..probe.process import ProbeUnavailableError
    from ..probe.running import run_targets
    from ..probe.target import Given, Target
    from ..settings.config import ProbeSettings
    from ..tpu.chips import CHIPS

    works = True
    with tempfile.TemporaryDirectory(prefix="xlalint-") as folder:
        file = Path(folder, "sample.py")
        file.write_text(_SAMPLE, encoding="utf-8")
        target = Target(str(file), "sample", (4, 5), given=(Given("x", "f32[8, 8]"),))
        for chip in CHIPS.values():
            settings = ProbeSettings(target="tpu", topology=chip.topology)
            try:
                (run,) = run_targets([target], settings, None).runs
            except ProbeUnavailableError as error:
                raise click.ClickException(str(error)) from error
            outcome = run.outcome
            compiled = [program for program in outcome.programs if program.compiles]
            said = f"compiles in {compiled[0].seconds:.1f} s" if compiled else f"does not work: {_why(outcome)}"
            write(f"{chip.topology:8}  {said}\n")
            works = works and bool(compiled)
    return CLEAN if works else FAILED


def _why(outcome: Outcome) -> str:
    refusals = [why for program in outcome.programs if (why := program.refusal or program.untried)]
    return (outcome.not_run or outcome.death or "; ".join((*refusals, *outcome.notes))) or "nothing was compiled"
