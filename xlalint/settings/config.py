"""The settings of a run: defaults, `[tool.xlalint]`, `--config KEY=VALUE`, the command line; the last one wins."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from msgspec import UNSET

from ..findings.codes import UNROLLED_ROUNDS, SelectorError, codes_of, rule_names, suggestion
from ..findings.findings import Severity
from ..sources.cachedir import holds_something_else
from ..sources.checkout import project_root
from ..sources.discovery import DEFAULT_EXCLUDE, MOST_PATTERNS, PathPatterns
from ..sources.text import MOST_SETTINGS, UnreadableSource, read_bytes
from ..sources.toml import read_toml
from .choices import LEVELS, OUTPUT_FORMATS, Target
from .requirements import keras_of, keras_of_project, tensorflow_of_project
from .tables import CEILINGS, FILE_TIMEOUT, PROBE_LIMITS, FileSettings, ProbeTable

_CHOICES: Final[dict[str, tuple[object, ...]]] = {
    "output-format": OUTPUT_FORMATS,
    "fail-on": LEVELS,
    "severity": LEVELS,
    "keras": (2, 3),
    "target": get_args(Target),
    "exposure": ("certain",),
}
# What msgspec calls the types, and what TOML does.
_TOML_TYPES: Final = {
    "array": "a list",
    "bool": "true or false",
    "float": "a float",
    "int": "an integer",
    "object": "a table",
    "str": "a string",
}

DEFAULT_CACHE_DIR: Final = ".xlalint_cache"


class ConfigurationError(Exception):
    """A setting that cannot be used; the message is one line that says which, where and why."""


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """How the probe runs code; `python` None: with the interpreter that runs xlalint; a limit that is None: as it is
    for the target by default."""

    python: str | None = None
    timeout: float | None = None
    total_timeout: float | None = None
    memory: int | None = None
    processes: int = 1
    environment: tuple[str, ...] = ()
    sandbox: bool = False
    target: str = "cpu"
    topology: str = "v5e:2x2"
    batch: int | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None

    @property
    def limits(self) -> tuple[float, float, int]:
        """Seconds for a function and for all, and the megabytes of a process."""
        one, all_of_them, memory = PROBE_LIMITS.get(self.target, PROBE_LIMITS["cpu"])
        return self.timeout or one, self.total_timeout or all_of_them, self.memory or memory

    def shown(self) -> dict[str, Any]:
        """As in TOML, for `--show-settings`."""
        values = {one.name.replace("_", "-"): getattr(self, one.name) for one in fields(self)}
        values |= dict(zip(("timeout", "total-timeout", "memory"), self.limits, strict=True))
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


KEYS: Final = FileSettings.__struct_encode_fields__  # as written in TOML
_FIELDS: Final = dict(zip(KEYS, FileSettings.__struct_fields__, strict=True))


_DEFAULTS: Final[dict[str, Any]] = {
    "select": ["ALL"],
    "extend-select": [],
    "ignore": [],
    "exclude": list(DEFAULT_EXCLUDE),
    "extend-exclude": [],
    "per-file-ignores": {},
    "external": [],
    "output-format": "full",
    "fail-on": "warning",
    "severity": {},
    "include-host": False,
    "keras": None,
    "tensorflow": None,
    "target": None,
    "exposure": None,
    "unrolled-rounds": UNROLLED_ROUNDS,
    "file-timeout": FILE_TIMEOUT,
    "jobs": 0,
    "cache-dir": DEFAULT_CACHE_DIR,
    "project": None,
    "baseline": None,
    "force-exclude": False,
    "fix": False,
    "unsafe-fixes": False,
    "partial-fixes": False,
    "probe": {},
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run goes by, every selector resolved to codes; without arguments the defaults, and no cache.

    `project`: a folder whose files are analysed, too, without being reported. `target`: what alone the code is for;
    None: CPUs and GPUs, and TPUs where a strategy for them is made. `exposure`: how sure it is that XLA
    compiles the code; None: as each program shows. `inferred`: what of `keras` and `tensorflow` nobody set, so that
    requirements decide. `external`: how codes begin that comments may name though no rule has them.
    `shown`: every key with its value and where that was written, for `--show-settings`.
    """

    codes: frozenset[str] = field(default_factory=lambda: frozenset(rule_names()))
    exclude: PathPatterns = field(default_factory=lambda: PathPatterns(DEFAULT_EXCLUDE, Path.cwd()))
    force_exclude: bool = False
    per_file_ignores: tuple[tuple[PathPatterns, frozenset[str]], ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    external: tuple[str, ...] = ()
    output_format: str = "full"
    fail_on: Severity = Severity.WARNING
    include_host: bool = False
    keras: int | None = None
    tensorflow: str | None = None
    inferred: frozenset[str] = frozenset()
    target: str | None = None
    exposure: str | None = None
    unrolled_rounds: int = UNROLLED_ROUNDS
    file_timeout: float = FILE_TIMEOUT
    jobs: int = 0
    cache_dir: Path | None = None
    project: Path | None = None
    baseline: Path | None = None
    fix: bool = False
    unsafe_fixes: bool = False
    partial_fixes: bool = False  # unsafe fixes in functions that they leave failing, too
    probe: ProbeSettings = field(default_factory=ProbeSettings)
    shown: tuple[tuple[str, Any, str], ...] = ()


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


@dataclass(frozen=True, slots=True)
class _Layer:
    """Settings from one place. `base`: the folder that its patterns and paths are relative to."""

    origin: str
    base: Path
    values: FileSettings
    trusted: bool  # written by the person who runs the command, not by the code that is checked

    def items(self) -> list[tuple[str, Any]]:
        values = ((key, getattr(self.values, field)) for key, field in _FIELDS.items())
        return [(key, value) for key, value in values if value is not UNSET]


def load(
    paths: Sequence[Path] = (),
    *,
    options: Mapping[str, Any] | None = None,
    config: Sequence[str] = (),
    isolated: bool = False,
    cached: bool = True,
) -> Settings:
    """The settings of a run over `paths` from the working directory.

    `options`: TOML key -> value as given by the command line's own options; `config`: the values of `--config`;
    `cached`: whether anything is kept from run to run.
    """
    here = Path.cwd()
    files = [text for text in config if _is_file_argument(text)]
    if len(files) > 1:
        raise ConfigurationError("--config names more than one file")
    if files and isolated:
        raise ConfigurationError("--config FILE and --isolated exclude each other")
    found = None if isolated or files else _nearest_pyproject(here)
    file = Path(files[0]).absolute() if files else found
    layers = []
    if file is not None and (table := _table_of(file, required=bool(files))) is not None:
        values = _checked(table, _shown(file))
        if not files:
            _refuse_what_lifts_limits(values, _shown(file))
        layers.append(_Layer(_shown(file), file.parent, values, trusted=bool(files)))
    layers += [
        _Layer("--config", here, _checked(_parse_override(text), f"--config {text}"), trusted=True)
        for text in config
        if text not in files
    ]
    layers.append(_Layer("command line", here, _checked(options or {}, "command line"), trusted=True))
    return _settle(layers, found.parent if found else project_root(here) or here, paths, cached)


def _is_file_argument(text: str) -> bool:
    return "=" not in text or Path(text).is_file()


def _shown(path: Path) -> str:
    relative = os.path.relpath(path)
    return relative if not relative.startswith(os.pardir) else str(path)


def _nearest_pyproject(start: Path) -> Path | None:
    """The nearest pyproject.toml upward that speaks of xlalint."""
    candidates = (folder / "pyproject.toml" for folder in (start, *start.parents))
    return next((file for file in candidates if file.is_file() and _mentions_xlalint(file)), None)


def home_of(folder: Path) -> Path:
    """The folder from which a program that is not told one lints what is in another: where the settings are, else the
    project's. Raises ConfigurationError."""
    found = _nearest_pyproject(folder)
    return found.parent if found is not None else project_root(folder) or folder


def _mentions_xlalint(file: Path) -> bool:
    try:
        return b"xlalint" in read_bytes(file, MOST_SETTINGS)
    except UnreadableSource as error:
        raise ConfigurationError(f"{_shown(file)}: {error}") from error


def _table_of(file: Path, *, required: bool) -> dict[str, Any] | None:
    """`[tool.xlalint]` of a TOML file."""
    try:
        content = read_toml(file, own=required)
    except UnreadableSource as error:
        raise ConfigurationError(f"{_shown(file)}: {error}") from error
    tool = content.get("tool", {})
    table = tool.get("xlalint") if isinstance(tool, dict) else None
    if table is None:
        if required:
            raise ConfigurationError(f"{_shown(file)}: there is no [tool.xlalint] in it")
        return None
    if not isinstance(table, dict):
        raise ConfigurationError(f"{_shown(file)}: tool.xlalint must be a table")
    return table


def _parse_override(text: str) -> dict[str, Any]:
    import tomllib

    key, _, value = text.partition("=")
    try:
        parsed = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"--config {text}: {value.strip() or 'nothing'} is not a TOML value (strings need quotes)"
        ) from error
    table, dot, _ = key.strip().partition(".")
    if list(parsed) != [key.strip()] and not (dot and list(parsed) == [table] == ["probe"]):
        raise ConfigurationError(f"--config {text}: expected KEY=VALUE with one of the keys of [tool.xlalint]")
    return parsed


def _checked(table: Mapping[str, Any], origin: str) -> FileSettings:
    """`table` with every key and type checked."""
    for key in table:
        if key == "rules":  # rules are code that runs, and a stranger's settings must not bring any
            raise ConfigurationError(f"{origin}: rules: rules of your own are named on the command line only (--rules)")
        if key not in _FIELDS:
            raise ConfigurationError(f"{origin}: unknown setting {key!r}{suggestion(key, KEYS)}")
    try:
        return msgspec.convert(dict(table), FileSettings)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$.")
        location = where.rstrip("`")
        choices = _CHOICES.get(location.partition("[")[0])
        if choices and message.startswith("Invalid enum value"):
            message = f"expected one of {', '.join(map(str, choices))}"
        message = re.sub(r"`(\w+)`", lambda match: _TOML_TYPES.get(match[1], match[1]), message)
        raise ConfigurationError(f"{origin}: {location}: {message[:1].lower()}{message[1:]}") from error


def _refuse_what_lifts_limits(values: FileSettings, origin: str) -> None:
    """Hold the settings of the code that is checked to what a stranger may decide."""
    probe = values.probe if isinstance(values.probe, ProbeTable) else ProbeTable()
    for key, most in CEILINGS.items():
        *table, name = key.split(".")
        value = getattr(probe if table else values, name.replace("-", "_"))
        if value is not UNSET and value > most:
            raise ConfigurationError(
                f"{origin}: {key}: at most {most:g}; only the command line and --config go farther"
            )
    if probe.environment:
        raise ConfigurationError(f"{origin}: probe.environment: only --config can let code see the environment")
    if probe.cluster is not UNSET:
        raise ConfigurationError(f"{origin}: probe.cluster: only the command line and --config can send code elsewhere")


class _Merged:
    """One value for each key: that of the last layer that has it, else the default."""

    def __init__(self, layers: Sequence[_Layer], root: Path) -> None:
        self._root = root
        self._chosen = {key: (value, layer) for layer in layers for key, value in layer.items()}

    def __getitem__(self, key: str) -> Any:
        return self._chosen[key][0] if key in self._chosen else _DEFAULTS[key]

    def origin(self, key: str) -> str:
        return self._chosen[key][1].origin if key in self._chosen else "default"

    def base(self, *keys: str) -> Path:
        """The folder that the patterns of the first key that is set are relative to."""
        return next((self._chosen[key][1].base for key in keys if key in self._chosen), self._root)

    def codes(self, key: str, selectors: Iterable[str] | None = None) -> frozenset[str]:
        try:
            return codes_of(self[key] if selectors is None else selectors)
        except SelectorError as error:
            raise ConfigurationError(f"{self.origin(key)}: {key}: {error}") from error

    def patterns(self, key: str) -> tuple[str, ...]:
        if len(self[key]) > MOST_PATTERNS:
            raise ConfigurationError(f"{self.origin(key)}: {key}: more than {MOST_PATTERNS} patterns")
        for pattern in self[key]:
            if set(pattern) & set("!\\[") and not _is_pattern(pattern):
                raise ConfigurationError(f"{self.origin(key)}: {key}: {pattern!r} is not a .gitignore pattern")
        return tuple(self[key])

    def path(self, key: str) -> Path | None:
        """The path that a key sets. The checked code's own settings must not lead the linter elsewhere."""
        if key not in self._chosen:
            return None
        value, layer = self._chosen[key]
        path: Path = layer.base / value
        return path if layer.trusted else self._inside(path, f"{layer.origin}: {key}: {value!r}")

    def _inside(self, path: Path, said: str) -> Path:
        if not path.resolve().is_relative_to(self._root.resolve()):
            raise ConfigurationError(f"{said} is outside the project")
        return path

    def cache_dir(self) -> Path:
        """Where results are kept. The checked code may hold a link of that name."""
        folder = self.path("cache-dir") or self._inside(self._root / DEFAULT_CACHE_DIR, DEFAULT_CACHE_DIR)
        if ".git" in folder.parts or holds_something_else(folder):
            said = f"{self.origin('cache-dir')}: cache-dir: {self['cache-dir']!r}"
            raise ConfigurationError(f"{said} holds something else than a cache; name a new or an empty folder")
        return folder

    def project(self) -> Path | None:
        folder = self.path("project")
        if folder is not None and not folder.is_dir():
            raise ConfigurationError(f"{self.origin('project')}: project: {self['project']!r} is no folder")
        return folder

    def fix(self) -> bool:
        # Linting a stranger's code must not write, whatever its settings say.
        if self["fix"] and not self._chosen["fix"][1].trusted:
            raise ConfigurationError(f"{self.origin('fix')}: fix: only the command line and --config can ask for fixes")
        return bool(self["fix"])


def _is_pattern(text: str) -> bool:
    from ..sources.globs import is_pattern  # 30 ms, and most patterns need none

    return is_pattern(text)


def _settle(layers: Sequence[_Layer], root: Path, paths: Sequence[Path], cached: bool) -> Settings:
    merged = _Merged(layers, root)
    keras, keras_origin = _keras(merged, paths or [root])
    tensorflow, tensorflow_origin = _tensorflow(merged, paths or [root])
    severities = {
        code: Severity[level.upper()]
        for selector, level in merged["severity"].items()
        for code in merged.codes("severity", [selector])
    }
    unset = [key for key in ("keras", "tensorflow") if merged[key] is None]
    inferred = unset if "tensorflow" in unset else ()  # which, where it is set, decides both
    ignore_base = merged.base("per-file-ignores")
    merged.patterns("per-file-ignores")
    probe = _probe(layers)
    shown = {key: (merged[key], merged.origin(key)) for key in _DEFAULTS}
    shown |= {"keras": (keras, keras_origin), "tensorflow": (tensorflow, tensorflow_origin)}
    shown["probe"] = probe.shown(), merged.origin("probe")
    return Settings(
        codes=(merged.codes("select") | merged.codes("extend-select")) - merged.codes("ignore"),
        exclude=PathPatterns(
            merged.patterns("exclude") + merged.patterns("extend-exclude"), merged.base("exclude", "extend-exclude")
        ),
        force_exclude=merged["force-exclude"],
        per_file_ignores=tuple(
            (PathPatterns((pattern,), ignore_base), merged.codes("per-file-ignores", selectors))
            for pattern, selectors in merged["per-file-ignores"].items()
        ),
        severities=severities,
        output_format=merged["output-format"],
        fail_on=Severity[merged["fail-on"].upper()],
        include_host=merged["include-host"],
        keras=keras,
        tensorflow=tensorflow,
        inferred=frozenset(inferred),
        target=merged["target"],
        exposure=merged["exposure"],
        external=tuple(prefix.upper() for prefix in merged["external"]),
        unrolled_rounds=merged["unrolled-rounds"],
        file_timeout=merged["file-timeout"],
        jobs=merged["jobs"],
        cache_dir=merged.cache_dir() if cached else None,
        project=merged.project(),
        baseline=merged.path("baseline"),
        fix=merged.fix(),
        unsafe_fixes=merged["unsafe-fixes"],
        partial_fixes=merged["partial-fixes"],
        probe=probe,
        shown=tuple((key, value, origin) for key, (value, origin) in shown.items()),
    )


def _probe(layers: Sequence[_Layer]) -> ProbeSettings:
    """The table of the probe, merged key by key."""
    found: dict[str, Any] = {}
    for layer in layers:
        table = layer.values.probe
        if isinstance(table, ProbeTable):
            values = {name: getattr(table, name) for name in table.__struct_fields__}
            found |= {name: value for name, value in values.items() if value is not UNSET}
            if os.sep in (program := values["python"] or ""):  # a path, and no name to be looked up
                found["python"] = os.path.abspath(layer.base / program)
    if "environment" in found:
        found["environment"] = tuple(found["environment"])
    return ProbeSettings(**found)


def inferred_anew(settings: Settings, paths: Sequence[Path]) -> Settings:
    """The settings as they are for code in another place: what nobody set, the requirements there decide."""
    if "keras" in settings.inferred:
        keras = keras_of_project(paths)
        settings = replace(settings, keras=keras[0] if keras else None)
    if "tensorflow" in settings.inferred:
        tensorflow = tensorflow_of_project(paths)
        settings = replace(settings, tensorflow=tensorflow[0] if tensorflow else None)
    return settings


def _keras(merged: _Merged, paths: Sequence[Path]) -> tuple[int | None, str]:
    """The Keras that runs the code and where that is written; None leaves it to the imports."""
    if merged["keras"] is not None:
        return merged["keras"], merged.origin("keras")
    if (version := merged["tensorflow"]) is not None:
        return keras_of([f"tensorflow=={version}"]), f"tensorflow = {version!r}"
    if (found := keras_of_project(paths)) is not None:
        return found[0], f"requirements in {_shown(Path(found[1]))}"
    return None, "default"


def _tensorflow(merged: _Merged, paths: Sequence[Path]) -> tuple[str | None, str]:
    """The TensorFlow that runs the code and where that is written; None is the newest that was measured."""
    if merged["tensorflow"] is not None:
        return merged["tensorflow"], merged.origin("tensorflow")
    if (found := tensorflow_of_project(paths)) is not None:
        return found[0], f"requirements in {_shown(Path(found[1]))}"
    return None, "default"
