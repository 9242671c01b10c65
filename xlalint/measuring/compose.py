"""Makes the shipped tables of what was measured: several versions in one file, of the older ones what differs.

A measurement leaves files in a folder: `ops-*.json` (`registry.measure`), `apis-VERSION.json` with
`apis-VERSION.jsonl` (`driver.run`), `constants.json` (`constants.measure`), and for constructs `constructs.json` and
`constructs-VERSION.json`, each with its `.jsonl`; of a GPU `gpu.json`, `gpu.jsonl` and `gpu-programs.jsonl`. Versions
of the shipped table that are not in the folder stay as they are.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from xlalint.analysis.library.keras_classes import kind_of
from xlalint.authoring import verdicts
from xlalint.facts.constructs import constructs as every_construct
from xlalint.facts.tables import ApiFact, Case, Gradient, Outcome, api, nearest, numbers
from xlalint.facts.tables import apis as apis_of_newest
from xlalint.facts.tpu import told
from xlalint.linter.rule import all_rules
from xlalint.measuring import jax, rules
from xlalint.measuring.constructs import flagged_by
from xlalint.measuring.driver import journal
from xlalint.measuring.versions import rows_by_version
from xlalint.tpu.chips import DEFAULT

UNTAKEN: Final = Path(__file__).with_name("untaken.json")
# What a CPU's compiler makes of a call that it takes as it is; the rules about values say what a TPU's makes of others.
TAKEN: Final = (Outcome.OK, Outcome.BOUNDED, Outcome.DIVERGES)
# The parts of tables that are written an entry a line.
BY_LINES: Final = (
    "ops",
    "apis",
    "constants",
    "follows",
    "results",
    "shapes",
    "options",
    "calls",
    "examples",
    "programs",
)
# What a compiler names where it does not take what goes in or comes out, a string say.
ENDS: Final = ("_Arg", "_Retval")
TYPELESS: Final = "it takes or gives a type that a TPU does not have"
# What of an older version is not stored by itself, where all else is as in the next newer version.
ECHOES: Final = ("ops", "result", "follows")


def ops(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`ops.json` from the folder's measurements, over what is shipped."""
    columns: dict[tuple[str, str], dict[str, Any]] = {}
    packages: dict[str, str] = {}
    constants: dict[str, str] = dict(shipped["constants"]) if shipped else {}
    if shipped:
        for place, (version, device) in enumerate(shipped["columns"]):
            cells = {name: row if isinstance(row, int) else row[place] for name, row in shipped["ops"].items()}
            columns[version, device] = {
                name: shipped["kernels"][cell] or None if cell == 0 else shipped["kernels"][cell]
                for name, cell in cells.items()
                if cell >= 0
            }
        packages |= shipped["packages"]
    for path in sorted(folder.glob("ops-*.json")):
        measured = json.loads(path.read_text(encoding="utf-8"))
        for device, found in measured["devices"].items():
            columns[measured["version"], device] = found
            packages[f"{measured['version']} {device}"] = " ".join(f"{k}=={v}" for k, v in measured["packages"].items())
    if (measured_constants := folder / "constants.json").exists():
        constants = json.loads(measured_constants.read_text(encoding="utf-8"))
    order = sorted(columns, key=lambda column: (tuple(-n for n in numbers(column[0])), column[1]))
    kernels: list[dict[str, str]] = [{}]
    rows: dict[str, int | list[int]] = {}
    for name in sorted({name for found in columns.values() for name in found}):
        cells_of = [_cell(columns[column], name, kernels) for column in order]
        rows[name] = cells_of[0] if len(set(cells_of)) == 1 else cells_of
    return {
        "columns": order,
        "packages": {f"{version} {device}": packages[f"{version} {device}"] for version, device in order},
        "kernels": kernels,
        "constants": dict(sorted(constants.items())),
        "ops": rows,
    }


def _cell(found: Mapping[str, Any], name: str, kernels: list[dict[str, str]]) -> int:
    if name not in found:
        return -1
    dtypes = found[name]
    if dtypes is None:
        return 0
    if dtypes not in kernels[1:]:
        kernels.append(dtypes)
    return kernels.index(dtypes, 1)


def apis(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`apis.json` from the folder's measurements, over what is shipped."""
    rows, packages = (rows_by_version(shipped), dict(shipped["packages"])) if shipped else ({}, {})
    for path in sorted(folder.glob("apis-*.json")):
        measured = json.loads(path.read_text(encoding="utf-8"))
        fresh = rows.get(measured["version"], {}) | {
            name: row and {key: value for key, value in row.items() if key != "untaken"}
            for name, row in journal(path.with_suffix(".jsonl")).items()
        }
        rows[measured["version"]] = {name: row for name, row in fresh.items() if row is not None}
        packages[measured["version"]] = measured["packages"]
    versions = sorted(rows, key=numbers, reverse=True)
    changed: dict[str, dict[str, Any]] = {}
    for newer, older in itertools.pairwise(versions):
        changed[older] = {}
        for name in sorted({*rows[newer], *rows[older]}):
            row = rows[older].get(name)
            if _essence(row) != _essence(rows[newer].get(name)):
                changed[older][name] = row
            elif row is not None:
                rows[older][name] = rows[newer][name]
    return {
        "versions": versions,
        "packages": {version: packages[version] for version in versions},
        "apis": dict(sorted(rows[versions[0]].items())),
        "changed": changed,
    }


def untaken(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`untaken.json` from the folder's measurements, over what is shipped: by callable and parameter, what was tried
    with the newest version and what its eager execution did not take. A row that is measured as it was planned tries
    none of that again."""
    measured = journal(folder / f"apis-{nearest(None)}.jsonl")
    found: dict[str, Any] = {**(shipped or {})}
    for name, row in measured.items():
        found[name] = found.get(name, {}) | (row or {}).get("untaken", {})
    current = {fact.name for fact in apis_of_newest() if fact.cases}
    return {name: row for name, row in sorted(found.items()) if row and name in current}


def _essence(row: Mapping[str, Any] | None) -> Any:
    """What of a row makes it another one."""
    if row is None:
        return None
    cases = []
    for case in row.get("cases", ()):
        told = () if case.get("outcome") == "recompiles" else ("detail", "gradient_detail")  # wordings differ
        cases.append({key: value for key, value in case.items() if key not in (*ECHOES, *told)})
    return sorted(json.dumps(case, sort_keys=True) for case in cases), bool(row.get("untested")), row.get("refused")


def signatures(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`signatures.json` from the newest version that the folder has observations of, over what is shipped.

    `results`: by callable the result in the language of `library.result_tables`, or by option ("axis=None"; "" for any
    other) where one gives another form; `shapes`: the parameters of which shape and dtype decide alone; `options`: by
    class, what it is built with that decides whether a call of its object compiles.
    """
    found: dict[str, Any] = dict(shipped["results"]) if shipped else {}
    shapes: dict[str, str] = dict(shipped["shapes"]) if shipped else {}
    observed = sorted(folder.glob("signatures-*.jsonl"), key=lambda path: numbers(path.stem))
    for name, row in journal(observed[-1]).items() if observed else ():
        for key in (name, f"{name}.__call__"):
            found.pop(key, None)
            shapes.pop(key, None)
        fact = api(name)
        if row is None or not row.get("seen") or fact is None or fact.plain is None:
            continue
        if written := rules.rule(name, row, fact.plain.random, fact.plain.bounded):
            key = rules.called(name, row)
            found[key] = written[""] if len(written) == 1 else written
            if "/" in written[""] and (idle := rules.shape_only(row)):
                shapes[key] = " ".join(idle)
    options = {fact.name: " ".join(_built_with(fact)) for fact in apis_of_newest()}
    return {
        "results": dict(sorted(found.items())),
        "shapes": dict(sorted(shapes.items())),
        "options": {name: text for name, text in sorted(options.items()) if text},
    }


def _built_with(fact: ApiFact) -> list[str]:
    """The options of a class in which a case ends otherwise than the plain call: for want of a kernel, or in what the
    compilations follow."""
    if kind_of(fact.name) is None or not fact.cases:
        return []
    plain, *others = fact.cases
    found = {name for case in others if case.missing or case.follows != plain.follows for name in case.varied}
    return sorted(found - {"inputs"})


def tpu(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`tpu.json` from the folder's measurements, over what is shipped, of the calls and examples that there are."""
    found: dict[str, Any] = {"packages": {}, "topology": DEFAULT, "calls": {}, "examples": {}, **(shipped or {})}
    if (told_of := folder / "tpu.json").exists():
        found |= json.loads(told_of.read_text(encoding="utf-8"))
    fresh = {call: row for rows in journal(folder / "tpu.jsonl").values() for call, row in (rows or {}).items()}
    calls = found["calls"] | {call: entry(row) for call, row in fresh.items()}
    current = {case.call for fact in apis_of_newest() for case in fact.cases}
    cases = [(fact.name, case, calls.get(case.call, {})) for fact in apis_of_newest() for case in fact.cases]
    taken = [one for one in cases if one[1].outcome in TAKEN]
    examples = found["examples"] | journal(folder / "tpu-examples.jsonl")
    known = {verdicts.digest(one) for rule in all_rules() for one in verdicts.asked(rule)}
    return {
        "packages": found["packages"],
        "topology": found["topology"],
        "refused": sorted({name for name, _, row in taken if row.get("outcome") == "fails"}),
        "refused_gradients": sorted({name for name, case, row in taken if _gradient_is_refused(case, row)}),
        "calls": {call: calls[call] for call in sorted(calls) if call in current},
        "examples": {key: examples[key] for key in sorted(examples) if key in known},
    }


def _gradient_is_refused(case: Case, row: Mapping[str, Any]) -> bool:
    return case.gradient is Gradient.OK and row.get("gradient", {}).get("outcome") == "fails"


def constructs(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`constructs.json` from the folder's measurements, over what is shipped, of the constructs that there are."""
    found: dict[str, Any] = {"packages": {}, "older": {}, "programs": {}, **(shipped or {})}
    before: Mapping[str, Any] = found["programs"]
    if (told_of := folder / "constructs.json").exists():
        found |= json.loads(told_of.read_text(encoding="utf-8"))
    measured = {**before, **journal(folder / "constructs.jsonl")}
    packages = dict(found["older"])
    seen = {version: _with_older(before, version) for version in packages}
    for path in folder.glob("constructs-*.json"):
        version = path.stem.partition("-")[2]
        packages[version] = json.loads(path.read_text(encoding="utf-8"))["packages"]
        seen[version] = seen.get(version, {}) | journal(path.with_suffix(".jsonl"))
    versions = sorted(packages, key=numbers, reverse=True)
    programs = [program for construct in every_construct() for program in construct.programs]
    rows = {}
    for one in programs:
        row = measured.get(one.name, {})
        if row.get("digest") == one.digest:
            older = {version: _of(seen[version].get(one.name, {}), one.digest) for version in versions}
            other = {version: cpu for version, cpu in older.items() if _became(cpu) != _became(row["cpu"])}
            rows[one.name] = {**row, "older": other, "rules": flagged_by(one)}
    return {
        "packages": found["packages"],
        "older": {version: packages[version] for version in versions},
        "programs": {
            name: {key: value for key, value in row.items() if value not in ([], {}) or key in ("cpu", "tpu")}
            for name, row in rows.items()
        },
    }


def _with_older(programs: Mapping[str, Any], version: str) -> dict[str, Any]:
    """What a shipped table says of its programs with an older version."""
    return {
        name: {"digest": row["digest"], "cpu": row.get("older", {}).get(version, row["cpu"])}
        for name, row in programs.items()
    }


def _of(row: Mapping[str, Any], digest: str) -> Mapping[str, Any]:
    """What became of a program on a CPU: untested, where it was another one then."""
    cpu: Mapping[str, Any] = row["cpu"] if row.get("digest") == digest else {"outcome": Outcome.UNTESTED.value}
    return cpu


def _became(cpu: Mapping[str, Any]) -> str:
    found: str = cpu.get("outcome", Outcome.OK.value)
    return found


def entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of `tpu.json`, without what is default."""
    gradient = row.get("gradient")
    named = row.get("missing", [])
    missing = [op for op in named if op not in ENDS]
    detail = "" if missing else TYPELESS if named else told(row.get("detail", ""))
    given = {"outcome": row["outcome"], "detail": detail, "missing": missing}
    kept = {key: value for key, value in given.items() if value not in ("", [], "ok")}
    return kept | ({} if gradient is None else {"gradient": entry(gradient)})


def gpu(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`gpu.json` from the folder's measurements, over what is shipped, of the calls and constructs that there are."""
    found: dict[str, Any] = {"packages": {}, "device": "", "calls": {}, "programs": {}, **(shipped or {})}
    if (told_of := folder / "gpu.json").exists():
        found |= json.loads(told_of.read_text(encoding="utf-8"))
    rows = journal(folder / "gpu.jsonl").values()
    fresh = {case["call"]: case for row in rows for case in (row or {}).get("cases", ())}
    calls = found["calls"] | {call: _on_gpu(case) for call, case in fresh.items()}
    current = {case.call for fact in apis_of_newest() for case in fact.cases}
    programs = found["programs"] | {name: _on_gpu(row) for name, row in journal(folder / "gpu-programs.jsonl").items()}
    known = {program.digest for construct in every_construct() for program in construct.programs}
    return {
        "packages": found["packages"],
        "device": found["device"],
        "calls": {call: calls[call] for call in sorted(calls) if call in current},
        "programs": {key: programs[key] for key in sorted(programs) if key in known},
    }


def _on_gpu(row: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of `gpu.json`, without what is default."""
    kept = {key: row[key] for key in ("outcome", "missing", "gradient") if row.get(key)}
    detail = "" if "missing" in kept else told(row.get("detail", ""))
    return kept | ({"detail": detail} if detail else {})


def nested(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`nested.json` from the folder's measurements, over what is shipped, of the calls that there are."""
    found: dict[str, Any] = {"packages": {}, "calls": {}, **(shipped or {})}
    if (told_of := folder / "nested.json").exists():
        found |= json.loads(told_of.read_text(encoding="utf-8"))
    calls = found["calls"] | {
        name: (row or {}).get("again", []) for name, row in journal(folder / "nested.jsonl").items()
    }
    current = {fact.name: [case.call for case in fact.cases] for fact in apis_of_newest()}
    kept = {name: [call for call in calls[name] if call in current.get(name, ())] for name in sorted(calls)}
    return {"packages": found["packages"], "calls": {name: again for name, again in kept.items() if again}}


def first_axes(folder: Path, shipped: Mapping[str, Any] | None) -> dict[str, Any]:
    """`first_axes.json` from the folder's measurements, over what is shipped: by callable the arguments that the length
    of its result goes with, and how many dimensions each had."""
    found = dict((shipped or {}).get("follows", {}))
    found |= {name: (row or {}).get("follows", {}) for name, row in journal(folder / "first_axes.jsonl").items()}
    return {"follows": {name: found[name] for name in sorted(found) if found[name]}}


# What makes each table that is shipped, by name.
TABLES: Final = {
    "ops": ops,
    "apis": apis,
    "untaken": untaken,
    "signatures": signatures,
    "first_axes": first_axes,
    "tpu": tpu,
    "gpu": gpu,
    "nested": nested,
    "constructs": constructs,
    "jax": jax.table,
}


def text(table: Mapping[str, Any]) -> str:
    """A table as it is shipped: one entry a line, so that changes can be read."""
    parts = []
    for key, value in table.items():
        if isinstance(value, dict) and value and key in BY_LINES:
            lines = ",\n".join(f"{json.dumps(name)}:{_compact(row)}" for name, row in value.items())
            parts.append(f"{json.dumps(key)}:{{\n{lines}\n}}")
        elif key == "changed":
            blocks = [
                f"{json.dumps(version)}:{{\n"
                + ",\n".join(f"{json.dumps(name)}:{_compact(row)}" for name, row in rows.items())
                + "\n}"
                for version, rows in value.items()
            ]
            parts.append(f"{json.dumps(key)}:{{{','.join(blocks)}}}")
        else:
            parts.append(f"{json.dumps(key)}:{_compact(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
