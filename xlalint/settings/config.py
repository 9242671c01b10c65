"""The settings of a run: defaults, files, `--config KEY=VALUE`, the command line; the last one wins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from ..findings.codes import UNROLLED_ROUNDS, SelectorError, codes_of, rule_names
from ..findings.findings import Backend, Finding, Severity
from ..sources.cachedir import holds_something_else
from ..sources.checkout import project_root
from ..sources.discovery import DEFAULT_EXCLUDE, MOST_PATTERNS, PathPatterns
from .choices import AUTO
from .layers import (
    ConfigurationError,
    Layer,
    checked,
    is_file_argument,
    layers_of,
    nearest_file,
    parse_override,
    shown,
)
from .requirements import Required, keras_of, keras_of_project, required_near, tensorflow_of_project
from .tables import FILE_TIMEOUT, PROBE_LIMITS, ProbeTable

DEFAULT_CACHE_DIR: Final = ".xlalint_cache"


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
    "backend": AUTO,
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
    "bounds": {},
    "fixable": ["ALL"],
    "unfixable": [],
    "probe": {},
}
_SELECTING: Final = ("select", "extend-select", "ignore")


Near: TypeAlias = Callable[[Path], "Settings | None"]
"""The settings for the files of a folder, by its path; None for those of the run. Raises ConfigurationError."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run goes by, every selector resolved to codes; without arguments the defaults, and no cache.

    `project`: a folder whose files are analysed, too, without being reported. `target`: what alone the code is for;
    None: CPUs and GPUs, and TPUs where a strategy for them is made. `exposure`: how sure it is that XLA
    compiles the code; None: as each program shows. `backends`: what Keras runs the code on; None: as each program
    shows. `inferred`: what of `keras` and `tensorflow` nobody set, so that
    requirements decide. `external`: how codes begin that comments may name though no rule has them.
    `unfixable`: the codes of the rules whose fixes are not to be made. `nearest`: what is found for files that have a
    nearer settings file; None: these settings are for all files. `shown`: every key with its value and where that
    was written, for `--show-settings`.
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
    backends: frozenset[Backend] | None = None
    unrolled_rounds: int = UNROLLED_ROUNDS
    file_timeout: float = FILE_TIMEOUT
    jobs: int = 0
    cache_dir: Path | None = None
    project: Path | None = None
    baseline: Path | None = None
    fix: bool = False
    unsafe_fixes: bool = False
    partial_fixes: bool = False  # unsafe fixes in functions that they leave failing, too
    bounds: Mapping[str, int] = field(default_factory=dict)  # of sizes that data decides, by name
    unfixable: frozenset[str] = frozenset()
    probe: ProbeSettings = field(default_factory=ProbeSettings)
    nearest: Near | None = field(default=None, compare=False, repr=False)
    shown: tuple[tuple[str, Any, str], ...] = ()

    def of(self, folder: Path) -> Settings:
        """The settings for the files of a folder: those of the nearest file, else these. What is about a run as a whole
        (output, fixes, cache, processes, baseline, probe) is always that of these. Raises ConfigurationError."""
        return (self.nearest(folder) if self.nearest is not None else None) or self

    def everywhere(self, **changes: Any) -> Settings:
        """These settings changed, and those of folders that go by others changed alike."""
        nearest = self.nearest

        @cache
        def near(folder: Path) -> Settings | None:
            found = nearest(folder) if nearest is not None else None
            return replace(found, **changes) if found is not None else None

        return replace(self, **changes, nearest=nearest and near)

    def fails_on(self, finding: Finding) -> bool:
        """Whether the exit code is 1 for a finding, by the settings of its file."""
        return finding.severity >= self.of(Path(os.path.abspath(finding.path)).parent).fail_on

    def ignores(self, code: str, path: Path) -> bool:
        """Whether `per-file-ignores` has a rule ignored in a file of these settings."""
        return any(code in codes and patterns.covers_any_part(path) for patterns, codes in self.per_file_ignores)


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
    `cached`: whether anything is kept from run to run. Files that have a nearer settings file go by that, unless
    `isolated` or `config` names the one for all.
    """
    here = Path.cwd()
    files = [text for text in config if is_file_argument(text)]
    if len(files) > 1:
        raise ConfigurationError("--config names more than one file")
    if files and isolated:
        raise ConfigurationError("--config FILE and --isolated exclude each other")
    over = [
        Layer("--config", here, checked(parse_override(text), f"--config {text}"), trusted=True)
        for text in config
        if text not in files
    ]
    over.append(Layer("command line", here, checked(options or {}, "command line"), trusted=True))
    if files:
        return _settle([*layers_of(Path(files[0]).absolute(), trusted=True), *over], _home(here), paths, cached)
    if isolated:
        return _settle(over, _home(here), paths, cached)
    found = nearest_file(here, {})
    home, layers = (found.parent, layers_of(found)) if found is not None else (_home(here), [])
    return replace(_settle([*layers, *over], home, paths, cached), nearest=_near(found, over))


def _near(run: Path | None, over: Sequence[Layer]) -> Near:
    """What is found for the files of a folder, below the settings `over` it; None where that is the file of the run."""
    files: dict[Path, Path | None] = {}

    @cache
    def by_file(file: Path) -> Settings:
        return _settle([*layers_of(file), *over], file.parent, [file.parent], cached=False)

    def near(folder: Path) -> Settings | None:
        file = nearest_file(folder, files)
        return None if file is None or file == run else by_file(file)

    return near


def _home(here: Path) -> Path:
    return project_root(here) or here


def home_of(folder: Path) -> Path:
    """The folder from which a program that is not told one lints what is in another: where the settings are, else the
    project's. Raises ConfigurationError."""
    found = nearest_file(folder, {})
    return found.parent if found is not None else project_root(folder) or folder


class _Merged:
    """One value for each key: that of the last layer that has it, else the default."""

    def __init__(self, layers: Sequence[Layer], root: Path) -> None:
        self._root, self._layers = root, layers
        self._chosen = {key: (value, layer) for layer in layers for key, value in layer.items()}

    def __getitem__(self, key: str) -> Any:
        return self._chosen[key][0] if key in self._chosen else _DEFAULTS[key]

    def origin(self, key: str) -> str:
        return self._chosen[key][1].origin if key in self._chosen else "default"

    def base(self, *keys: str) -> Path:
        """The folder that the patterns of the first key that is set are relative to."""
        return next((self._chosen[key][1].base for key in keys if key in self._chosen), self._root)

    def codes(self, key: str, selectors: Iterable[str] | None = None) -> frozenset[str]:
        return _codes_of(self[key] if selectors is None else selectors, self.origin(key), key)

    def selected(self) -> tuple[frozenset[str], dict[str, tuple[list[str], str]]]:
        """The codes of the rules that run, and the selectors that say so with their origin. A layer with `select` makes
        a new beginning; in one layer the selector that stands for fewer rules decides, and of equals `ignore`."""
        codes = codes_of(_DEFAULTS["select"])
        said = {key: (list(_DEFAULTS[key]), "default") for key in _SELECTING}
        for layer in self._layers:
            here = {key: value for key, value in layer.items() if key in _SELECTING}
            if "select" in here:
                codes = frozenset()
                said = {key: ([], "default") for key in _SELECTING}
            turns: list[tuple[int, bool, frozenset[str]]] = []
            for key, selectors in here.items():
                said[key] = [*said[key][0], *selectors], layer.origin
                for selector in selectors:
                    found = _codes_of([selector], layer.origin, key)
                    turns.append((-len(found), key == "ignore", found))
            for _, off, found in sorted(turns, key=lambda turn: turn[:2]):
                codes = codes - found if off else codes | found
        return codes, said

    def excluded(self) -> PathPatterns:
        """What is not checked: `exclude`, and `extend-exclude` of every layer, each from the folder where it stands."""
        found = PathPatterns(self.patterns("exclude"), self.base("exclude"))
        for layer in self._layers:
            if layer.values.extend_exclude is not UNSET:
                more = _patterns(layer.values.extend_exclude, layer.origin, "extend-exclude")
                here = layer.base == found.root
                found = (
                    replace(found, patterns=found.patterns + more) if here else PathPatterns(more, layer.base, found)
                )
        return found

    def patterns(self, key: str) -> tuple[str, ...]:
        return _patterns(self[key], self.origin(key), key)

    def path(self, key: str) -> Path | None:
        """The path that a key sets. The checked code's own settings must not lead the linter elsewhere."""
        if key not in self._chosen:
            return None
        value, layer = self._chosen[key]
        path: Path = layer.base / value
        return path if layer.trusted else _inside(path, layer.base, f"{layer.origin}: {key}: {value!r}")

    def cache_dir(self) -> Path:
        """Where results are kept. The checked code may hold a link of that name."""
        folder = self.path("cache-dir") or _inside(self._root / DEFAULT_CACHE_DIR, self._root, DEFAULT_CACHE_DIR)
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


def _inside(path: Path, folder: Path, said: str) -> Path:
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ConfigurationError(f"{said} is outside the project")
    return path


def _codes_of(selectors: Iterable[str], origin: str, key: str) -> frozenset[str]:
    try:
        return codes_of(selectors)
    except SelectorError as error:
        raise ConfigurationError(f"{origin}: {key}: {error}") from error


def _patterns(written: Sequence[str], origin: str, key: str) -> tuple[str, ...]:
    if len(written) > MOST_PATTERNS:
        raise ConfigurationError(f"{origin}: {key}: more than {MOST_PATTERNS} patterns")
    for pattern in written:
        if set(pattern) & set("!\\[") and not _is_pattern(pattern):
            raise ConfigurationError(f"{origin}: {key}: {pattern!r} is not a .gitignore pattern")
    return tuple(written)


def _is_pattern(text: str) -> bool:
    from ..sources.globs import is_pattern  # 30 ms, and most patterns need none

    return is_pattern(text)


def _settle(layers: Sequence[Layer], root: Path, paths: Sequence[Path], cached: bool) -> Settings:
    merged = _Merged(layers, root)
    project = merged.project()
    places = _telling(project, paths or [root])
    keras, keras_origin = _keras(merged, places)
    tensorflow, tensorflow_origin = _tensorflow(merged, places)
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
    codes, selecting = merged.selected()
    told = {key: (merged[key], merged.origin(key)) for key in _DEFAULTS} | selecting
    told |= {"keras": (keras, keras_origin), "tensorflow": (tensorflow, tensorflow_origin)}
    told["probe"] = probe.shown(), merged.origin("probe")
    return Settings(
        codes=codes,
        exclude=merged.excluded(),
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
        backends=_backends(merged["backend"]),
        external=tuple(prefix.upper() for prefix in merged["external"]),
        unrolled_rounds=merged["unrolled-rounds"],
        file_timeout=merged["file-timeout"],
        jobs=merged["jobs"],
        cache_dir=merged.cache_dir() if cached else None,
        project=project,
        baseline=merged.path("baseline"),
        fix=merged.fix(),
        unsafe_fixes=merged["unsafe-fixes"],
        partial_fixes=merged["partial-fixes"],
        bounds=merged["bounds"],
        unfixable=frozenset(rule_names()) - (merged.codes("fixable") - merged.codes("unfixable")),
        probe=probe,
        shown=tuple((key, value, origin) for key, (value, origin) in told.items()),
    )


def _backends(written: str | list[str]) -> frozenset[Backend] | None:
    named = [written] if isinstance(written, str) else written
    return None if named == [AUTO] else frozenset(map(Backend, named))


def _probe(layers: Sequence[Layer]) -> ProbeSettings:
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
    paths = _telling(settings.project, paths)
    if "keras" in settings.inferred:
        keras = keras_of_project(paths)
        settings = replace(settings, keras=keras[0] if keras else None)
    if "tensorflow" in settings.inferred:
        tensorflow = tensorflow_of_project(paths)
        settings = replace(settings, tensorflow=tensorflow[0] if tensorflow else None)
    return settings


def as_required(settings: Settings, required: Required | None) -> Settings:
    """The settings of a folder as its nearest requirements decide what nobody set: which Keras and TensorFlow run its
    files. Where no requirements name either, they are as they are for the run."""
    if required is None:
        return settings
    keras = required.keras if "keras" in settings.inferred else settings.keras
    tensorflow = required.tensorflow if "tensorflow" in settings.inferred else settings.tensorflow
    if (keras, tensorflow) == (settings.keras, settings.tensorflow):
        return settings
    return replace(settings, keras=keras, tensorflow=tensorflow)


def near(settings: Settings, folder: Path) -> Settings:
    """The settings for the files of one folder."""
    return as_required(settings.of(folder), required_near([folder]).get(folder))


def _telling(project: Path | None, paths: Sequence[Path]) -> Sequence[Path]:
    """Around what the requirements are looked for that decide for a run: the project, where one is given. Which of its
    files are asked about changes nothing then, neither findings nor what is kept of them."""
    return paths if project is None else [project]


def _keras(merged: _Merged, paths: Sequence[Path]) -> tuple[int | None, str]:
    """The Keras that runs the code and where that is written; None leaves it to the imports."""
    if merged["keras"] is not None:
        return merged["keras"], merged.origin("keras")
    if (version := merged["tensorflow"]) is not None:
        return keras_of([f"tensorflow=={version}"]), f"tensorflow = {version!r}"
    if (found := keras_of_project(paths)) is not None:
        return found[0], f"requirements in {shown(Path(found[1]))}"
    return None, "default"


def _tensorflow(merged: _Merged, paths: Sequence[Path]) -> tuple[str | None, str]:
    """The TensorFlow that runs the code and where that is written; None is the newest that was measured."""
    if merged["tensorflow"] is not None:
        return merged["tensorflow"], merged.origin("tensorflow")
    if (found := tensorflow_of_project(paths)) is not None:
        return found[0], f"requirements in {shown(Path(found[1]))}"
    return None, "default"
