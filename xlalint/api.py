"""What other programs call: lint files or text, and fix them, as the command line does.

Nothing here imports or runs the code that is read. A file that cannot be read is no exception but a `Problem` of the
report; what is raised is said beside each function. Lines and columns count from 1, columns in code points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .findings import rule_files
from .findings.findings import Report
from .linter.run import Stdin, check
from .settings import config
from .settings.config import Settings
from .sources.text import encode

if TYPE_CHECKING:
    from .linter.fix_runs import Outcome

AnyPath: TypeAlias = str | Path
Paths: TypeAlias = AnyPath | Sequence[AnyPath]  # one, or some


def use_rules(paths: Paths) -> None:
    """Run the rules of these files and folders too, in this process and from now on, in place of those that were named
    before; rules of installed packages always run. Rules are code: name none that you do not trust.

    To be called before `load_settings`, which says which rules run. Raises RulesError for what holds no rule, or
    another one of the same code or name.
    """
    rule_files.give(_listed(paths))


def load_settings(paths: Paths = (), *, options: Mapping[str, Any] | None = None, isolated: bool = False) -> Settings:
    """The settings that a run over `paths` from the working directory goes by: those of the nearest settings file and,
    for files that have a nearer one, of that, unless `isolated`; over them the `options`, by the names that TOML has
    for them (`{"select": ["XLA2"], "include-host": True}`).

    Raises ConfigurationError for a setting that does not exist or cannot have its value, and RulesError for installed
    rules that cannot be used.
    """
    return config.load([Path(path) for path in _listed(paths)], options=options, isolated=isolated)


def lint_paths(paths: Paths, settings: Settings | None = None) -> Report:
    """Lint files and folders. Without `settings` those of `load_settings(paths)`, and nothing is cached.

    Raises ConfigurationError where the settings that are found cannot be used.
    """
    return check(_listed(paths), settings or _uncached(paths))


def lint_source(source: str | bytes, filename: AnyPath = "source.py", settings: Settings | None = None) -> Report:
    """Lint text as the content of a file, whether or not there is one: what it imports is looked for beside
    `filename`, and the findings are about that. A name that ends in `.ipynb` makes it a notebook.

    Without `settings` those of `load_settings([filename])`, and nothing is cached. Raises ConfigurationError where the
    settings that are found cannot be used.
    """
    return check([filename], settings or _uncached([filename]), _as_file(source, filename))


def apply_fixes(paths: Paths, settings: Settings | None = None, *, unsafe: bool = False, write: bool = True) -> Outcome:
    """Fix files and folders until nothing is left that can be: safe fixes, and `unsafe` ones where that is asked for.

    Each file is written as a whole or, with a `Problem` in the report, not at all; without `write` none is, and
    `Outcome.changes` says what would be. Raises ConfigurationError as `lint_paths` does.
    """
    from .linter.fix_runs import fix, written

    outcome = fix(_listed(paths), _for_fixing(settings or _uncached(paths), unsafe))
    return written(outcome, _listed(paths)) if write else outcome


def fix_source(
    source: str | bytes, filename: AnyPath = "source.py", settings: Settings | None = None, *, unsafe: bool = False
) -> tuple[bytes, Report]:
    """The text with its fixes made, and the report of what remains, of which `fixed` are the findings that are gone.
    Nothing is written. Raises ConfigurationError as `lint_source` does.
    """
    from .linter.fix_runs import fix

    given = _as_file(source, filename)
    outcome = fix([filename], _for_fixing(settings or _uncached([filename]), unsafe), given)
    return next((change.after for change in outcome.changes), given.data), outcome.report


def _listed(paths: Paths) -> Sequence[AnyPath]:
    return [paths] if isinstance(paths, str | Path) else paths


def _as_file(source: str | bytes, filename: AnyPath) -> Stdin:
    return Stdin(Path(filename), encode(source) if isinstance(source, str) else source)


def _uncached(paths: Paths) -> Settings:
    return replace(load_settings(paths), cache_dir=None)


def _for_fixing(settings: Settings, unsafe: bool) -> Settings:
    return replace(settings, unsafe_fixes=unsafe or settings.unsafe_fixes)
