"""What `[tool.xlalint]` may hold, key by key: checked, described and printed as a schema from these classes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .choices import BackendName, Level, OutputFormat, Target

FILE_TIMEOUT: Final = 10.0

_Selectors = list[Annotated[str, Meta(description="A code (XLA201), a prefix of codes (XLA2), a name, or ALL.")]]
# By target: seconds for a function and for all, and megabytes. libtpu takes minutes for a model, and gigabytes.
PROBE_LIMITS: Final = {"cpu": (60.0, 1800.0, 4096), "tpu": (1800.0, 14400.0, 12288)}
# How far the settings of the code that is checked may go, which must not keep a machine busy; whoever runs the command
# may go farther.
CEILINGS: Final[dict[str, float]] = {
    "file-timeout": 60.0,
    "jobs": 8,
    **dict(zip(("probe.timeout", "probe.total-timeout", "probe.memory"), PROBE_LIMITS["tpu"], strict=True)),
    "probe.processes": 8,
}


class ProbeTable(msgspec.Struct, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The settings of `[tool.xlalint.probe]`: how the probe runs code."""

    python: Annotated[str, Meta(description="The interpreter that runs the code.", min_length=1)] | UnsetType = UNSET
    timeout: (
        Annotated[
            float, Meta(description="Seconds of the processor for one function. Default: 60, for a TPU 1800.", gt=0)
        ]
        | UnsetType
    ) = UNSET
    total_timeout: (
        Annotated[float, Meta(description="Seconds for all functions of a run. Default: 1800, for a TPU 14400.", gt=0)]
        | UnsetType
    ) = UNSET
    memory: (
        Annotated[
            int, Meta(description="Memory limit of a process in megabytes. Default: 4096, for a TPU 12288.", gt=0)
        ]
        | UnsetType
    ) = UNSET
    processes: Annotated[int, Meta(description="The number of functions that run at once.", gt=0)] | UnsetType = UNSET
    environment: (
        Annotated[list[str], Meta(description="Environment variables that the code sees besides the usual ones.")]
        | UnsetType
    ) = UNSET
    sandbox: Annotated[bool, Meta(description="Run the code in a bubblewrap sandbox.")] | UnsetType = UNSET
    target: (
        Annotated[Literal["cpu", "gpu", "tpu"], Meta(description="What to compile for besides the CPU.")] | UnsetType
    ) = UNSET
    topology: Annotated[str, Meta(description="The TPU to compile for: chip and layout, as `v5e:2x2`.")] | UnsetType = (
        UNSET
    )
    batch: Annotated[int, Meta(description="The batch size on a TPU.", gt=0)] | UnsetType = UNSET
    cluster: (
        Annotated[
            str,
            Meta(
                description="The address of a Dask scheduler whose workers run the code, or `local`; for --config, not "
                "for the settings of a project.",
                min_length=1,
            ),
        ]
        | UnsetType
    ) = UNSET
    inputs: (
        Annotated[
            dict[str, str],
            Meta(
                description="The inputs of functions by qualified name (`pkg.mod.f`): `x: f32[8, 128], n: 3`, "
                "or `factory:pkg.mod:make_inputs`."
            ),
        ]
        | UnsetType
    ) = UNSET


class FileSettings(msgspec.Struct, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The settings of `[tool.xlalint]` in pyproject.toml, or of xlalint.toml."""

    extend: (
        Annotated[
            str,
            Meta(
                description="A settings file to extend: its settings apply unless this file overrides them.",
                min_length=1,
            ),
        ]
        | UnsetType
    ) = UNSET
    select: Annotated[_Selectors, Meta(description="The rules to run. Default: all.")] | UnsetType = UNSET
    extend_select: Annotated[_Selectors, Meta(description="Rules to run besides `select`.")] | UnsetType = UNSET
    ignore: Annotated[_Selectors, Meta(description="Rules not to run.")] | UnsetType = UNSET
    exclude: (
        Annotated[list[str], Meta(description="Paths not to check, in .gitignore syntax; replaces the defaults.")]
        | UnsetType
    ) = UNSET
    extend_exclude: Annotated[list[str], Meta(description="Paths not to check, besides `exclude`.")] | UnsetType = UNSET
    per_file_ignores: (
        Annotated[dict[str, _Selectors], Meta(description="Rules not to report in files that match a pattern.")]
        | UnsetType
    ) = UNSET
    external: (
        Annotated[
            list[Annotated[str, Meta(min_length=1)]],
            Meta(description="Code prefixes of your own rules, which comments may name in runs without these rules."),
        ]
        | UnsetType
    ) = UNSET
    output_format: Annotated[OutputFormat, Meta(description="The output format for findings.")] | UnsetType = UNSET
    fail_on: Annotated[Level, Meta(description="The lowest severity for exit code 1.")] | UnsetType = UNSET
    severity: (
        Annotated[dict[str, Level], Meta(description="The severity of all findings of the selected rules.")] | UnsetType
    ) = UNSET
    include_host: (
        Annotated[bool, Meta(description="Also report code that only runs eagerly on the host.")] | UnsetType
    ) = UNSET
    keras: (
        Annotated[
            Literal[2, 3],
            Meta(description="The major version of Keras; 2 converts `call` with AutoGraph, 3 does not."),
        ]
        | UnsetType
    ) = UNSET
    tensorflow: (
        Annotated[str, Meta(description="The TensorFlow version that runs the code.", pattern=r"^\d+(\.\d+)*$")]
        | UnsetType
    ) = UNSET
    backend: (
        Annotated[
            Literal["auto", "tensorflow", "jax"] | Annotated[list[BackendName], Meta(min_length=1)],
            Meta(
                description="What Keras 3 runs on: tensorflow, jax, or a list of both. Default: auto, as the program "
                "and its requirements show; tensorflow if nothing does."
            ),
        ]
        | UnsetType
    ) = UNSET
    target: (
        Annotated[
            Target,
            Meta(
                description="The only device that the code is for; decides severities. Default: cpu and gpu, and tpu "
                "if the program creates a TPU strategy."
            ),
        ]
        | UnsetType
    ) = UNSET
    exposure: (
        Annotated[
            Literal["certain"],
            Meta(
                description="XLA compiles the code, even if nothing shows it. Default: if nothing in a program shows "
                "it, its findings have a lower severity."
            ),
        ]
        | UnsetType
    ) = UNSET
    unrolled_rounds: (
        Annotated[
            int, Meta(description="The number of iterations from which an unrolled loop is reported (XLA311).", ge=2)
        ]
        | UnsetType
    ) = UNSET
    file_timeout: (
        Annotated[
            float,
            Meta(description="Seconds for one file, counted in steps; a file that takes longer is reported.", gt=0),
        ]
        | UnsetType
    ) = UNSET
    jobs: (
        Annotated[int, Meta(description="Processes that analyse a large project; 0: one per processor.", ge=0, le=256)]
        | UnsetType
    ) = UNSET
    cache_dir: (
        Annotated[str, Meta(description="The folder of the cache, inside the project.", min_length=1)] | UnsetType
    ) = UNSET
    project: (
        Annotated[
            str,
            Meta(
                description="A folder to analyse as a whole, even if only some files are checked.",
                min_length=1,
            ),
        ]
        | UnsetType
    ) = UNSET
    baseline: (
        Annotated[
            str, Meta(description="The file that records known findings, which xlalint does not report.", min_length=1)
        ]
        | UnsetType
    ) = UNSET
    force_exclude: Annotated[bool, Meta(description="Exclude files named on the command line, too.")] | UnsetType = (
        UNSET
    )
    fix: (
        Annotated[bool, Meta(description="Apply safe fixes; not for settings files of the checked code.")] | UnsetType
    ) = UNSET
    unsafe_fixes: Annotated[bool, Meta(description="When fixes are applied, apply unsafe fixes, too.")] | UnsetType = (
        UNSET
    )
    partial_fixes: (
        Annotated[bool, Meta(description="Apply unsafe fixes also in functions that would still fail.")] | UnsetType
    ) = UNSET
    bounds: (
        Annotated[
            dict[str, Annotated[int, Meta(gt=0)]],
            Meta(description="The largest values of sizes that data decides, by name (`n`, `graph.n`, `function.n`)."),
        ]
        | UnsetType
    ) = UNSET
    fixable: Annotated[_Selectors, Meta(description="The rules whose fixes are applied. Default: all.")] | UnsetType = (
        UNSET
    )
    unfixable: Annotated[_Selectors, Meta(description="Rules whose fixes are not applied.")] | UnsetType = UNSET
    probe: Annotated[ProbeTable, Meta(description="How the probe runs code.")] | UnsetType = UNSET


def schema() -> dict[str, Any]:
    """The JSON schema of `[tool.xlalint]`."""
    found = msgspec.json.schema(FileSettings)
    inner = found["$defs"].pop(FileSettings.__name__)
    for definition in inner["properties"].values():
        definition.pop("default", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **inner,
        "title": "[tool.xlalint]",
        **({"$defs": found["$defs"]} if found["$defs"] else {}),
    }
