"""What `[tool.xlalint]` may hold, key by key: checked, described and printed as a schema from these classes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .choices import Level, OutputFormat, Target

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
        Annotated[float, Meta(description="Seconds for one function. Default: 60, for a TPU 1800.", gt=0)] | UnsetType
    ) = UNSET
    total_timeout: (
        Annotated[float, Meta(description="Seconds for all functions of a run. Default: 1800, for a TPU 14400.", gt=0)]
        | UnsetType
    ) = UNSET
    memory: (
        Annotated[int, Meta(description="Megabytes that a process may hold. Default: 4096, for a TPU 12288.", gt=0)]
        | UnsetType
    ) = UNSET
    processes: Annotated[int, Meta(description="How many functions are run at once.", gt=0)] | UnsetType = UNSET
    environment: (
        Annotated[list[str], Meta(description="Names of the environment that the code sees besides the usual ones.")]
        | UnsetType
    ) = UNSET
    sandbox: Annotated[bool, Meta(description="Run the code in a sandbox of bubblewrap.")] | UnsetType = UNSET
    target: (
        Annotated[Literal["cpu", "gpu", "tpu"], Meta(description="What to compile for besides the CPU.")] | UnsetType
    ) = UNSET
    topology: Annotated[str, Meta(description="The TPU to compile for: chip and layout, as `v5e:2x2`.")] | UnsetType = (
        UNSET
    )
    batch: Annotated[int, Meta(description="How many examples a TPU gets at once.", gt=0)] | UnsetType = UNSET
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
                description="By qualified name (`pkg.mod.f`), what a function is called with: `x: f32[8, 128], n: 3`, "
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
            Meta(description="A settings file whose settings hold where this one has no other.", min_length=1),
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
        Annotated[dict[str, _Selectors], Meta(description="Rules not reported in the files that a pattern matches.")]
        | UnsetType
    ) = UNSET
    external: (
        Annotated[
            list[Annotated[str, Meta(min_length=1)]],
            Meta(description="How codes begin of rules of your own that not every run has; comments may name them."),
        ]
        | UnsetType
    ) = UNSET
    output_format: Annotated[OutputFormat, Meta(description="How findings are printed.")] | UnsetType = UNSET
    fail_on: Annotated[Level, Meta(description="The lowest severity that makes the exit code 1.")] | UnsetType = UNSET
    severity: (
        Annotated[dict[str, Level], Meta(description="A severity for all findings of the rules that a selector names.")]
        | UnsetType
    ) = UNSET
    include_host: (
        Annotated[bool, Meta(description="Also report code that only runs eagerly on the host.")] | UnsetType
    ) = UNSET
    keras: (
        Annotated[
            Literal[2, 3],
            Meta(description="The Keras that runs the code; 2 converts `call` with AutoGraph, 3 does not."),
        ]
        | UnsetType
    ) = UNSET
    tensorflow: (
        Annotated[str, Meta(description="The TensorFlow version that runs the code.", pattern=r"^\d+(\.\d+)*$")]
        | UnsetType
    ) = UNSET
    target: (
        Annotated[
            Target,
            Meta(
                description="What alone the code is for; decides how grave findings are. Default: cpu and gpu, and "
                "where a TPU strategy is made tpu, too."
            ),
        ]
        | UnsetType
    ) = UNSET
    exposure: (
        Annotated[
            Literal["certain"],
            Meta(
                description="That XLA compiles the code, whatever shows it. Default: where nothing in a program shows "
                "it, what is found there is information."
            ),
        ]
        | UnsetType
    ) = UNSET
    unrolled_rounds: (
        Annotated[int, Meta(description="From how many rounds on a loop that is unrolled is reported (XLA311).", ge=2)]
        | UnsetType
    ) = UNSET
    file_timeout: (
        Annotated[
            float, Meta(description="Seconds of processor time for one file; what takes longer is reported.", gt=0)
        ]
        | UnsetType
    ) = UNSET
    jobs: (
        Annotated[int, Meta(description="Processes that analyse a large project; 0: one a processor.", ge=0, le=256)]
        | UnsetType
    ) = UNSET
    cache_dir: (
        Annotated[str, Meta(description="The folder of the cache, inside the project.", min_length=1)] | UnsetType
    ) = UNSET
    project: (
        Annotated[
            str,
            Meta(
                description="A folder to analyse all of, also where only some files are checked.",
                min_length=1,
            ),
        ]
        | UnsetType
    ) = UNSET
    baseline: (
        Annotated[str, Meta(description="The file that records known findings, which are not reported.", min_length=1)]
        | UnsetType
    ) = UNSET
    force_exclude: (
        Annotated[bool, Meta(description="Exclude files that are named on the command line, too.")] | UnsetType
    ) = UNSET
    fix: (
        Annotated[bool, Meta(description="Apply safe fixes; not for the settings of the code that is checked.")]
        | UnsetType
    ) = UNSET
    unsafe_fixes: Annotated[bool, Meta(description="Apply unsafe fixes too, where fixes are applied.")] | UnsetType = (
        UNSET
    )
    partial_fixes: (
        Annotated[bool, Meta(description="Apply unsafe fixes in functions that they leave failing, too.")] | UnsetType
    ) = UNSET
    fixable: Annotated[_Selectors, Meta(description="The rules whose fixes are made. Default: all.")] | UnsetType = (
        UNSET
    )
    unfixable: Annotated[_Selectors, Meta(description="Rules whose fixes are not made.")] | UnsetType = UNSET
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
