"""Judges reports on programs from public issues by the compiler: each is run, and linted by itself.

    python -m tests.corpus.reproducers FOLDER [--programs N] [--seed N] [--results FILE]

A program is a file that defines `my_model_function()` and `GetInput()` (HBTGen has 2,686 from issues of TensorFlow, in
`data/tensorflow-issue`). Its model is called line by line, and in a compiled function; it counts where the first works.
By effect the table says how many programs have it, and of how many the report says so:

- `fails`: compiling raises; told is an error, or a layer that Keras leaves uncompiled.
- `recompiles`: a second input of the same shapes, which `GetInput` draws, is compiled once more; told is an error or a
  warning.
- `diverges`: the compiled model returns something else, where line by line it returns the same twice; told as before.

What is told of training, or of how long compiling takes, is left out: neither is measured. What is told wrongly or not
at all is listed. This runs the code. With `--results` a second run goes on where the first ended.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shutil import copy
from typing import Any, Final

from xlalint.findings.findings import Effect, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

_SECONDS: Final = 90
# The effects that are judged, each with the severities that tell it.
EFFECTS: Final = {
    Effect.FAILS: (Severity.ERROR,),
    Effect.RECOMPILES: (Severity.ERROR, Severity.WARNING),
    Effect.DIVERGES: (Severity.ERROR, Severity.WARNING),
}
_NOT_MEASURED: Final = frozenset(("XLA311", "XLA312", "XLA606"))
_UNCOMPILED: Final = "XLA408"


@dataclass(frozen=True)
class Program:
    """What became of one: `left_out` is why it does not count, `raised` what compiling it raises, `has` and `told` the
    effects that it has and those that its report tells, each with the codes of the rules; `unknown`: the effects that
    cannot be measured."""

    name: str
    left_out: str = ""
    raised: str = ""
    has: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    told: dict[str, list[str]] = field(default_factory=dict)

    def row(self, effect: Effect) -> str:
        """Its line of the table."""
        if self.left_out or effect in self.unknown:
            return "not measured"
        return f"{'has it' if effect in self.has else 'has it not'}, {'told' if effect in self.told else 'not told'}"


def programs(folder: Path, seed: int) -> list[Path]:
    """The programs of a folder, in an order that the seed makes."""
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.py"))}
    found = [path for path, text in texts.items() if "def my_model_function" in text and "def GetInput" in text]
    random.Random(seed).shuffle(found)
    return found


def told(path: Path) -> dict[str, list[str]]:
    """The rules that tell each effect in the report on a file: what fails in an error, the others in a warning, too."""
    with tempfile.TemporaryDirectory() as alone:
        copy(path, alone)
        report = check([alone], Settings(target="cpu", cache_dir=None, jobs=1))
    found: dict[str, set[str]] = {}
    for one in report.findings:
        if one.code == _UNCOMPILED:
            found.setdefault(Effect.FAILS, set()).add(one.code)
        elif one.code in _NOT_MEASURED:
            continue
        elif one.effect in EFFECTS and one.severity in EFFECTS[one.effect]:
            found.setdefault(one.effect, set()).add(one.code)
    return {effect: sorted(codes) for effect, codes in found.items()}


def measured(path: Path) -> Program:
    """What becomes of a program; in a process of its own, which may end on the way."""
    receiving, sending = os.pipe()
    with tempfile.TemporaryDirectory() as dumps:
        child = os.fork()
        if not child:
            silent = os.open(os.devnull, os.O_RDWR)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            signal.alarm(_SECONDS)
            os.write(sending, json.dumps(_run(path, dumps)).encode())
            os._exit(0)
        os.close(sending)
        with open(receiving, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
    return Program(path.name, **(json.loads(data) if data else {"left_out": "its process ended early"}))


def _run(path: Path, dumps: str) -> dict[str, Any]:
    import tensorflow as tf  # type: ignore[import-untyped]

    os.environ["XLA_FLAGS"] = f"--xla_dump_to={dumps} --xla_dump_hlo_as_text"
    tempfile.tempdir = dumps  # this process leaves what AutoGraph writes for each function
    names: dict[str, Any] = {"__name__": "program", "__file__": str(path)}
    tf.config.run_functions_eagerly(True)
    try:
        exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
        model, given, other = names["my_model_function"](), _inputs(names), _inputs(names)
        expected, again = model(*given), model(*given)
    except BaseException as error:
        return {"left_out": _shown(error)}
    tf.config.run_functions_eagerly(False)
    compiled = tf.function(lambda *inputs: model(*inputs), jit_compile=True)
    try:
        result = compiled(*given)
    except BaseException as error:
        return {"raised": _shown(error), "has": [Effect.FAILS], "unknown": [Effect.RECOMPILES, Effect.DIVERGES]}
    has, unknown = [], []
    if not _same(expected, again):
        unknown.append(Effect.DIVERGES)
    elif not _same(expected, result):
        has.append(Effect.DIVERGES)
    if tf.nest.map_structure(_form, given) != tf.nest.map_structure(_form, other) or _same(given, other):
        unknown.append(Effect.RECOMPILES)
    else:
        before = _compilations(dumps)
        compiled(*other)
        has += [Effect.RECOMPILES] if _compilations(dumps) > before else []
    return {"has": has, "unknown": unknown}


def _inputs(names: dict[str, Any]) -> tuple[Any, ...]:
    given = names["GetInput"]()
    return given if isinstance(given, tuple) else (given,)


def _form(value: Any) -> Any:
    return (value.dtype, tuple(value.shape)) if hasattr(value, "shape") else value


def _same(left: Any, right: Any) -> bool:
    """Whether two structures hold the same numbers, but for the last digits."""
    import numpy as np
    import tensorflow as tf

    pairs = list(zip(tf.nest.flatten(left), tf.nest.flatten(right), strict=True))
    return all(_close(np.asarray(one), np.asarray(other)) for one, other in pairs)


def _close(one: Any, other: Any) -> bool:
    import numpy as np

    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    return bool(np.allclose(one, other, rtol=1e-2, atol=1e-3, equal_nan=True))


def _compilations(folder: str) -> int:
    return sum(1 for _ in Path(folder).glob("*before_optimizations.txt"))


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:600]}"


def judged(paths: list[Path], results: Path | None) -> Iterator[Program]:
    """Run and lint programs, but for those that the results have."""
    known: dict[str, Program] = {}
    if results is not None and results.exists():
        kept = (Program(**json.loads(line)) for line in results.read_text(encoding="utf-8").splitlines())
        known = {program.name: program for program in kept}
    for path in paths:
        if path.name not in known:
            program = measured(path)
            program = program if program.left_out else replace(program, told=told(path))
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(program)) + "\n")
            known[path.name] = program
        yield known[path.name]


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.reproducers")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf

    _ = tf.keras.layers.Dense, tf.compat.v1.Session  # loaded once, before the processes part
    table = Counter[tuple[Effect, str]]()
    for program in judged(programs(given.folder, given.seed)[: given.programs], given.results):
        for effect in EFFECTS:
            table[effect, program.row(effect)] += 1
            measurable = not program.left_out and effect not in program.unknown
            if measurable and (effect in program.has) != (effect in program.told):
                codes = " ".join(program.told.get(effect, ())) or "not told"
                print(f"{program.name}: {effect}: {codes}: {program.raised.replace(chr(10), ' ')}")
    for (effect, row), count in sorted(table.items()):
        print(f"{effect:12}{row:24}{count:6}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
