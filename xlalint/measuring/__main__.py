"""`python -m xlalint.measuring COMMAND`: measures the tables of `xlalint.facts` with the installed TensorFlow.

`ops` and `apis` leave what they measure in a working folder; `tables` makes the shipped tables of it. To measure
another version, run `ops` and `apis` with an interpreter that has it, with the same folder, and `tables` once. `tpu`
is for the interpreter of `xlalint tpu setup`, which `examples` and `constructs` start by themselves, as `older` starts
the interpreter of an older TensorFlow, and `gpu` one whose TensorFlow sees a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from xlalint.facts import FOLDER
from xlalint.measuring.driver import Elsewhere
from xlalint.probe.process import ProbeUnavailableError
from xlalint.tpu.stack import StackError


def names(options: argparse.Namespace) -> None:
    """Every public name of the API: aliases and parameters."""
    from xlalint.measuring import api_names as names

    _write(FOLDER / "names.json", names.measure())


def ops(options: argparse.Namespace) -> None:
    """Every op of the registry: its XLA kernels and their dtypes, for the devices that the installed wheel knows."""
    from xlalint.measuring import registry

    measured = registry.measure()
    options.folder.mkdir(parents=True, exist_ok=True)
    name = f"ops-{measured['version']}-{'-'.join(sorted(measured['devices']))}.json"
    _write(options.folder / name, json.dumps(measured))


def apis(options: argparse.Namespace) -> None:
    """Every callable: a call that eager execution accepts, compiled. Goes on where an earlier run ended."""
    from xlalint.measuring import callables, driver, registry, variations
    from xlalint.measuring.recipes import Recipe, recipes

    packages = registry.installed()
    version = ".".join(registry.release(packages).split(".")[:2])
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / f"apis-{version}.json").write_text(json.dumps({"version": version, "packages": packages}))
    shipped = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))
    known = {} if options.search else driver.plans(shipped, complete=version == shipped["versions"][0])
    names, by_hand = callables.callables(), recipes()
    if options.outdated:
        names = list(_lacking())
        plans = {name: variations.plan_of_today(shipped["apis"][name], by_hand.get(name, Recipe(""))) for name in names}
        known = {name: plan for name, plan in plans.items() if plan is not None}
    names = [name for name in names if not options.only or re.search(options.only, name)]
    for name, row in driver.run(
        names, options.folder / f"apis-{version}.jsonl", known, options.again, elsewhere=_cluster(options)
    ):
        cases = (row or {}).get("cases", [])
        print(name, *(case.get("outcome", "ok") for case in cases) if cases else [row and row["untested"]], flush=True)


def outdated(options: argparse.Namespace) -> None:
    """The calls that `apis --outdated` would measure: which the rows of the newest version lack by now."""
    for name, calls in _lacking().items():
        print(name, *calls, sep="\n    ")


def _lacking() -> dict[str, list[str]]:
    from xlalint.measuring import compose, registry, variations
    from xlalint.measuring.expressions import namespace
    from xlalint.measuring.recipes import recipes

    shipped = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))
    newest, installed = shipped["versions"][0], registry.release(registry.installed())
    if not installed.startswith(f"{newest}."):
        raise SystemExit(f"the newest version of the table is {newest}, and {installed} is installed")
    untaken = json.loads(compose.UNTAKEN.read_text(encoding="utf-8"))
    return variations.outdated(shipped["apis"], untaken, recipes(), namespace())


def gradients(options: argparse.Namespace) -> None:
    """The calls of whose gradient the shipped table says something else than what becomes of it with this TensorFlow.
    Goes on where an earlier run ended."""
    from xlalint.measuring import driver, registry
    from xlalint.measuring import gradients as measuring
    from xlalint.measuring.versions import rows_by_version

    options.folder.mkdir(parents=True, exist_ok=True)
    version = ".".join(registry.release(registry.installed()).split(".")[:2])
    shipped = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))
    if version not in shipped["versions"]:
        raise SystemExit(f"the table has {', '.join(shipped['versions'])}, and {version} is installed")
    rows = rows_by_version(shipped)[version]
    known = measuring.plans(rows)
    names = [name for name in known if re.search(options.only or "", name) and "enable" not in name]
    path = options.folder / f"gradients-{version}.jsonl"
    done = {name: row for name, row in driver.journal(path).items() if name in names}
    found = driver.run(names, path, known, again=False, task="gradients", elsewhere=_cluster(options))
    for name, row in chain(done.items(), found):
        for call in measuring.told_otherwise(rows[name], (row or {}).get("seen", ())):
            print(name, call, sep="; ", flush=True)


def signatures(options: argparse.Namespace) -> None:
    """What each callable of the shipped table gives back, by its plain call and calls like it."""
    from xlalint.measuring import driver, registry

    version = ".".join(registry.release(registry.installed()).split(".")[:2])
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"signatures-{version}.jsonl"
    shipped = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))
    known = driver.plans(shipped, complete=True)
    names = [name for name in known if not options.only or re.search(options.only, name)]
    names = [name for name in names if "enable" not in name]  # what changes the process for all that come after
    for name, row in driver.run(names, path, known, again=False, task="signature", elsewhere=_cluster(options)):
        print(name, len((row or {}).get("seen", ())), flush=True)


def first_axes(options: argparse.Namespace) -> None:
    """Which arguments of each callable of the shipped table say how long its result is."""
    from xlalint.measuring import driver

    options.folder.mkdir(parents=True, exist_ok=True)
    known = driver.plans(json.loads((FOLDER / "apis.json").read_text(encoding="utf-8")), complete=False)
    names = [name for name in known if re.search(options.only or "", name) and "enable" not in name]
    path = options.folder / "first_axes.jsonl"
    for name, row in driver.run(names, path, known, again=False, task="first_axes", elsewhere=_cluster(options)):
        print(name, *(row or {}).get("follows", ()), flush=True)


def tpu(options: argparse.Namespace) -> None:
    """What a TPU's compiler makes of each call of the shipped table; with the interpreter of `xlalint tpu setup`."""
    from xlalint.measuring import driver, registry

    packages = registry.installed()
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "tpu.json").write_text(json.dumps({"packages": packages}))
    known = driver.lowered(json.loads((FOLDER / "apis.json").read_text(encoding="utf-8")))
    names = [name for name in known if not options.only or re.search(options.only, name)]
    names = [name for name in names if "enable" not in name]  # what changes the process for all that come after
    path = options.folder / "tpu.jsonl"
    for name, row in driver.run(names, path, known, again=False, task="tpu", elsewhere=_cluster(options)):
        print(name, *(one["outcome"] for one in (row or {}).values() if isinstance(one, dict)), flush=True)


def bounded(options: argparse.Namespace) -> None:
    """What becomes of each call of the shipped table where data decides the size of an argument along a dimension."""
    from xlalint.measuring import bounded, driver

    options.folder.mkdir(parents=True, exist_ok=True)
    shipped = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))["apis"]
    known = {name: {"calls": bounded.variants(row)} for name, row in shipped.items()}
    names = [name for name, plan in known.items() if plan["calls"] and re.search(options.only or "", name)]
    names = [name for name in names if "enable" not in name]  # what changes the process for all that come after
    path = options.folder / "bounded.jsonl"
    for name, row in driver.run(names, path, known, again=False, task="bounded", elsewhere=_cluster(options)):
        print(name, *(case.get("outcome", "ok") for case in (row or {}).get("cases", ())), flush=True)


def nested(options: argparse.Namespace) -> None:
    """Which gradients of calls of the shipped table are compiled again for every value in a nested `tf.function`."""
    from xlalint.facts import tables
    from xlalint.measuring import driver, registry

    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "nested.json").write_text(json.dumps({"packages": registry.installed()}))
    known = {
        fact.name: {"calls": [case.call for case in fact.cases if case.gradient is tables.Gradient.OK]}
        for fact in tables.apis()
    }
    names = [name for name, plan in known.items() if plan["calls"] and re.search(options.only or "", name)]
    names = [name for name in names if "enable" not in name]  # what changes the process for all that come after
    path = options.folder / "nested.jsonl"
    for name, row in driver.run(names, path, known, again=False, task="nested", elsewhere=_cluster(options)):
        print(name, *(row or {}).get("again", ()), sep="; ", flush=True)


def examples(options: argparse.Namespace) -> None:
    """What the TPU's compiler of `xlalint tpu setup` makes of the examples of rules that `tpu.json` does not hold."""
    import msgspec

    from xlalint.authoring import lowered, verdicts
    from xlalint.facts import tpu
    from xlalint.linter.rule import all_rules

    options.folder.mkdir(parents=True, exist_ok=True)
    known = {} if options.again else tpu.examples()
    every = {verdicts.digest(one): one for rule in all_rules() for one in verdicts.asked(rule)}
    with (options.folder / "tpu-examples.jsonl").open("a", encoding="utf-8") as out:
        for one, found in lowered.measure([one for key, one in every.items() if key not in known]):
            row = {"name": verdicts.digest(one), "row": msgspec.to_builtins(found)}
            print(json.dumps(row), file=out, flush=True)
            print(verdicts.digest(one), found.said(), flush=True)


def constructs(options: argparse.Namespace) -> None:
    """What becomes of the constructs that `constructs.json` does not hold as they are now, on a CPU and for a TPU."""
    from xlalint.facts import constructs
    from xlalint.measuring import constructs as measuring
    from xlalint.measuring import driver, registry

    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "constructs.jsonl"
    (options.folder / "constructs.json").write_text(json.dumps({"packages": registry.installed()}))
    known = {} if options.again else constructs.known() | driver.journal(path)
    programs = [program for construct in constructs.constructs() for program in construct.programs]
    left = [one for one in programs if known.get(one.name, {}).get("digest") != one.digest]
    with path.open("a", encoding="utf-8") as out:
        for name, row in measuring.rows(left):
            print(json.dumps({"name": name, "row": row}), file=out, flush=True)
            print(name, row["cpu"].get("outcome", "ok"), row["tpu"].get("outcome", "ok"), sep="; ", flush=True)


def older(options: argparse.Namespace) -> None:
    """What becomes of the constructs on a CPU with an older TensorFlow. Goes on where an earlier run ended."""
    from xlalint.facts import constructs
    from xlalint.measuring import constructs as measuring
    from xlalint.measuring import driver, registry

    packages = _packages_of(options.python)
    options.folder.mkdir(parents=True, exist_ok=True)
    version = ".".join(registry.release(packages).split(".")[:2])
    about = options.folder / f"constructs-{version}.json"
    about.write_text(json.dumps({"packages": packages}))
    path = about.with_suffix(".jsonl")
    known = driver.journal(path)
    programs = [program for construct in constructs.constructs() for program in construct.programs]
    wanted = [one for one in programs if not options.only or re.search(options.only, one.name)]
    left = [one for one in wanted if options.again or known.get(one.name, {}).get("digest") != one.digest]
    with path.open("a", encoding="utf-8") as out:
        for name, row in measuring.older_rows(left, options.python):
            print(json.dumps({"name": name, "row": row}), file=out, flush=True)
            print(name, row["cpu"].get("outcome", "ok"), sep="; ", flush=True)


def gpu(options: argparse.Namespace) -> None:
    """What becomes of the constructs and the calls of the shipped table on this machine's GPU. Goes on where an earlier
    run ended."""
    import msgspec

    from xlalint.facts import constructs
    from xlalint.measuring import constructs as measuring
    from xlalint.measuring import driver
    from xlalint.probe.interpreters import gpu_of
    from xlalint.probe.process import Interpreter

    packages = _packages_of(options.python)
    if not (device := gpu_of(Interpreter(options.python))):
        raise SystemExit(f"{options.python}: its TensorFlow sees no GPU")
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "gpu.json").write_text(json.dumps({"packages": packages, "device": device}))
    path = options.folder / "gpu-programs.jsonl"
    known = {} if options.again else driver.journal(path)
    programs = [program for construct in constructs.constructs() for program in construct.programs]
    wanted = [one for one in programs if not options.only or re.search(options.only, one.name)]
    with path.open("a", encoding="utf-8") as out:
        for program in wanted:
            if program.digest not in known:
                found = measuring.here(program, options.python, gpu=True)
                print(json.dumps({"name": program.digest, "row": msgspec.to_builtins(found)}), file=out, flush=True)
                print(program.name, found.outcome, sep="; ", flush=True)
    plans = driver.lowered(json.loads((FOLDER / "apis.json").read_text(encoding="utf-8")))
    names = [name for name in plans if not options.only or re.search(options.only, name)]
    names = [name for name in names if "enable" not in name]  # what changes the process for all that come after
    journal = options.folder / "gpu.jsonl"
    for name, row in driver.run(names, journal, plans, options.again, task="gpu", program=options.python, gpu=True):
        print(name, *(case.get("outcome", "ok") for case in (row or {}).get("cases", ())), flush=True)


def _cluster(options: argparse.Namespace) -> Elsewhere | None:
    """The cluster that is to measure; None where this machine is."""
    if options.cluster is None:
        return None
    from xlalint.measuring import on_cluster  # whose engine is an extra

    return partial(on_cluster.rows, options.cluster)


def _packages_of(python: str) -> dict[str, str]:
    """The versions that matter of an interpreter's packages."""
    from xlalint.measuring import registry
    from xlalint.probe.interpreters import versions_of
    from xlalint.probe.process import Interpreter

    found = versions_of(Interpreter(python))
    packages = {name: version for name, version in found.items() if name in registry.PACKAGES}
    if not any(name.startswith("tensorflow") for name in packages):
        raise SystemExit(f"{python}: no interpreter with TensorFlow")
    return packages


def jax(options: argparse.Namespace) -> None:
    """What becomes of what is Keras's own under its JAX backend: of calls, constructs and examples of rules."""
    from xlalint.measuring import jax as measuring

    options.folder.mkdir(parents=True, exist_ok=True)
    told_of = {"packages": measuring.installed()}
    if options.gpu:
        if options.cluster is not None:
            raise SystemExit("--gpu: of this machine, without --cluster")
        _write(options.folder / "jax-gpu.json", json.dumps(told_of | {"device": measuring.device()}))
        _under_jax(options, "jax-gpu", gpu=True)
        shipped = json.loads((FOLDER / "jax.json").read_text(encoding="utf-8"))
        _under_jax(options, "jax-beside", of=measuring.otherwise(options.folder, shipped))
    else:
        _write(options.folder / "jax.json", json.dumps(told_of))
        _under_jax(options, "jax")


def _under_jax(options: argparse.Namespace, kind: str, gpu: bool = False, of: Collection[str] | None = None) -> None:
    """Measure what the table does not tell of, or on a GPU all, or the calls and programs given. Goes on where an
    earlier run ended."""
    from xlalint.measuring import driver
    from xlalint.measuring import jax as measuring

    anew = options.again or gpu or of is not None
    path = options.folder / f"{kind}-programs.jsonl"
    known = {} if options.again else driver.journal(path) | ({} if anew else measuring.known())
    programs = [one for one in measuring.programs() if one.digest not in known and (of is None or one.digest in of)]
    with path.open("a", encoding="utf-8") as out:
        for program, found in measuring.measured(programs, gpu):
            print(json.dumps({"name": program.digest, "row": measuring.entry(found)}), file=out, flush=True)
            print(program.name, found.outcome, found.detail, sep="; ", flush=True)
    plans = {name: one for name, one in measuring.plans().items() if not options.only or re.search(options.only, name)}
    left = [
        name
        for name, plan in plans.items()
        if (anew or not measuring.is_told(name, plan)) and (of is None or not set(of).isdisjoint(plan["calls"]))
    ]
    path = options.folder / f"{kind}.jsonl"
    elsewhere = _cluster(options)
    for name, row in driver.run(left, path, plans, again=False, backend="jax", gpu=gpu, elsewhere=elsewhere):
        print(name, *(one.get("outcome", "ok") for one in (row or {}).values()), flush=True)


def wheels(options: argparse.Namespace) -> None:
    """Which names of a program's way to a TPU are in which version, from the wheels in the folder."""
    from xlalint.measuring import wheels

    _write(FOLDER / "wheels.json", wheels.measure(options.folder))


def constants(options: argparse.Namespace) -> None:
    """Which inputs of each op must be compile-time constants, by the calls of the shipped table."""
    from xlalint.measuring import constants

    apis = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))["apis"]
    _write(options.folder / "constants.json", json.dumps(constants.measure(constants.calls_of(apis))))


def tables(options: argparse.Namespace) -> None:
    """The shipped tables, from what was measured and what was shipped."""
    from xlalint.measuring import compose

    for name, make in compose.TABLES.items():
        target = compose.UNTAKEN if name == "untaken" else FOLDER / f"{name}.json"
        shipped = json.loads(target.read_text(encoding="utf-8")) if target.exists() and not options.anew else None
        _write(target, compose.text(make(options.folder, shipped)))


def counts(options: argparse.Namespace) -> None:
    """How many callables were measured in each version, and what became of them."""
    from xlalint.facts import tables

    for version in tables.versions():
        tally = Counter(fact.outcome.value for fact in tables.apis(version))
        print(f"TensorFlow {version}: {tally.total() - tally['untested']} measured of {tally.total()} callables")
        for outcome in tables.Outcome:
            print(f"  {outcome.value:<10} {tally[outcome.value]:>5}")
        for fact in tables.apis(version) if options.untested else ():
            if fact.untested:
                print(f"  untested: {fact.name}: {fact.untested}")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


COMMANDS: Final[dict[str, Callable[[argparse.Namespace], None]]] = {
    command.__name__: command
    for command in (
        names,
        ops,
        apis,
        outdated,
        gradients,
        signatures,
        first_axes,
        tpu,
        bounded,
        nested,
        examples,
        constructs,
        older,
        gpu,
        jax,
        wheels,
        constants,
        tables,
        counts,
    )
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m xlalint.measuring", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        sub = commands.add_parser(name, help=command.__doc__)
        if name not in ("names", "outdated", "counts"):
            sub.add_argument("--folder", type=Path, default=Path(".facts"), help="where measurements are kept")
        if name in ("apis", "gradients", "signatures", "first_axes", "tpu", "bounded", "nested", "older", "gpu", "jax"):
            sub.add_argument("--only", metavar="REGEX", help="the callables or constructs whose names it finds")
        if name in ("apis", "gradients", "signatures", "first_axes", "tpu", "bounded", "nested", "jax"):
            what = "the scheduler of Dask whose workers measure the callables; `local` starts one here"
            sub.add_argument("--cluster", metavar="ADDRESS", help=what)
        if name == "jax":
            what = "on this machine's GPU, and beside it, on its processor, what is otherwise there"
            sub.add_argument("--gpu", action="store_true", help=what)
        if name in ("older", "gpu"):
            sub.add_argument("--python", required=True, metavar="PROGRAM", help="the interpreter that has it")
        if name in ("apis", "examples", "constructs", "older", "gpu", "jax"):
            what = "what is untested so far" if name == "apis" else "all"
            sub.add_argument("--again", action="store_true", help=f"try again {what}")
        if name == "apis":
            sub.add_argument("--search", action="store_true", help="find calls anew, whatever the shipped table holds")
            sub.add_argument("--outdated", action="store_true", help="the callables that `outdated` lists, anew")
        if name == "counts":
            sub.add_argument("--untested", action="store_true", help="list the callables without an outcome, and why")
        if name == "tables":
            sub.add_argument("--anew", action="store_true", help="forget what is shipped")
    options = parser.parse_args(arguments)
    try:
        COMMANDS[options.command](options)
        sys.stdout.flush()
    except (StackError, ProbeUnavailableError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    except BrokenPipeError:  # a reader that has gone away has seen enough; Python's own flush must not fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
