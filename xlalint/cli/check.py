"""`xlalint check`: from arguments to settings, and from a report to output and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ..findings.codes import UNREADABLE_FILE
from ..settings.choices import LEVELS, OUTPUT_FORMATS
from .console import CLEAN, FAILED, FOUND, INTERRUPTED, bound, complain, own_rules, selectors, split, write
from .output import deliver, targets_of
from .probe import probe_options, probe_settings, with_probe

if TYPE_CHECKING:
    from ..settings.config import Settings
    from .fixing import Fixes

_PROBES: Final = ("flagged", "all", "confirmed-only")


# The options by what they are about, as `--help` shows them; all others are the probe's.
_GROUPS: Final = {
    "Rules and files": (
        *("select", "extend_select", "ignore", "rules", "fixable", "unfixable"),
        *("exclude", "extend_exclude", "force_exclude"),
    ),
    "What is reported": (
        *("project", "diff_base", "baseline", "no_baseline", "include_host", "fail_on", "exit_zero", "statistics"),
    ),
    "Output": ("output_format", "output_file", "color", "quiet", "verbose"),
    "Fixes": (
        *("fix", "unsafe_fixes", "partial_fixes", "bound", "fix_only", "diff", "prove"),
        *("show_fixes", "exit_non_zero_on_fix", "add_ignores", "reason"),
    ),
    "The code": ("keras", "tensorflow", "backend", "target"),
    "The run": (
        *("jobs", "file_timeout", "no_cache", "cache_dir", "stdin_filename", "config", "isolated"),
        *("resident", "watch"),
    ),
    "Instead of checking": ("show_settings", "show_files", "help"),
}
_PROBING: Final = "The probe, which runs the code"


class _Check(click.Command):
    """A command whose `--probe` may stand without a value: what follows it then is a path."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options in groups."""
        titles = {name: title for title, names in _GROUPS.items() for name in names}
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in (*_GROUPS, _PROBING)}
        for parameter in self.get_params(ctx):
            if (row := parameter.get_help_record(ctx)) is not None:
                name = parameter.opts[-1].lstrip("-").replace("-", "_")
                rows[titles.get(name, _PROBING)].append(row)
        for title, found in rows.items():
            with formatter.section(title):
                formatter.write_dl(found)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--probe=flagged" if word == "--probe" else word for word in args])


@click.command(cls=_Check)
@click.argument("paths", nargs=-1, type=click.Path())
@selectors("--select", text="Rules to run: codes, prefixes such as XLA2, or names. Default: all.")
@selectors("--extend-select", text="Rules to run besides the selected ones.")
@selectors("--ignore", text="Rules not to run.")
@own_rules
@selectors("--fixable", text="Rules whose fixes are applied. Default: all.")
@selectors("--unfixable", text="Rules whose fixes are not applied.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Paths not to check; replaces the defaults.")
@click.option("--extend-exclude", multiple=True, metavar="PATTERN", help="Paths not to check, besides --exclude.")
@click.option("--force-exclude", is_flag=True, default=None, help="Exclude files named on the command line, too.")
@click.option(
    "--project",
    type=click.Path(),
    metavar="FOLDER",
    help="Analyse a whole folder, but report only on PATHS: callers elsewhere count.",
)
@click.option("--diff-base", metavar="REV", help="Report only what the changes since a Git revision introduce.")
@click.option("--baseline", type=click.Path(), metavar="FILE", help="Hide findings recorded in this baseline.")
@click.option("--no-baseline", is_flag=True, help="Also report findings recorded in the baseline of the settings.")
@click.option(
    "--output-format",
    type=click.Choice(OUTPUT_FORMATS),
    envvar="XLALINT_OUTPUT_FORMAT",
    show_envvar=True,
    help="How findings are printed. Default: full.",
)
@click.option(
    "-o",
    "--output-file",
    multiple=True,
    metavar="[FORMAT=]FILE",
    help="Write the report to a file; with FORMAT, write a further report.",
)
@click.option("--fail-on", type=click.Choice(LEVELS), help="Lowest severity for exit code 1. Default: warning.")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--statistics", is_flag=True, help="Print the number of findings of each rule.")
@click.option("--fix", is_flag=True, default=None, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, default=None, help="With --fix or --diff: unsafe fixes, too.")
@click.option(
    "--partial-fixes", is_flag=True, default=None, help="With --unsafe-fixes: also in functions that would still fail."
)
@click.option(
    "--bound",
    multiple=True,
    metavar="NAME=NUMBER",
    help="With --unsafe-fixes: the largest value of a size that data decides.",
)
@click.option("--fix-only", is_flag=True, help="Apply fixes; do not report what remains.")
@click.option("--diff", is_flag=True, help="Print what --fix-only would change, as a patch; write nothing.")
@click.option(
    "--prove", is_flag=True, help="Run the functions that fixes change; apply only what the compiler confirms."
)
@click.option("--show-fixes", is_flag=True, help="List the applied fixes by file and rule.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if something was fixed.")
@click.option("--add-ignores", is_flag=True, help="Write comments that silence the findings.")
@click.option("--reason", metavar="TEXT", help="With --add-ignores: the reason. Default: the names of the rules.")
@click.option("--include-host", is_flag=True, default=None, help="Also report code that runs eagerly on the host.")
@click.option(
    "--keras",
    type=click.IntRange(2, 3),
    help="The major version of Keras that runs the code. Default: from requirements.",
)
@click.option("--tensorflow", metavar="VERSION", help="The TensorFlow version that runs the code.")
@click.option(
    "--backend",
    multiple=True,
    metavar="BACKENDS",
    help="What Keras 3 runs on: tensorflow, jax, or both. Default: auto, as the program shows.",
)
@click.option(
    "--jobs", type=click.IntRange(min=0), metavar="N", help="Processes for large projects. Default: one per processor."
)
@click.option(
    "--file-timeout",
    type=float,
    metavar="SECONDS",
    help="Seconds for one file, counted in steps; the rest of the file is skipped.",
)
@click.option(
    "--probe",
    type=click.Choice(_PROBES),
    metavar="[=all|confirmed-only]",
    help="RUN the functions that findings stand in on the real compiler, and put its verdict beside each finding; "
    "`all`: run every function; `confirmed-only`: print what was confirmed only.",
)
@probe_options
@click.option("--stdin-filename", type=click.Path(), help="The file name of the text from `-`.")
@click.option("--config", multiple=True, metavar="KEY=VALUE|FILE", help="A setting in TOML syntax, or a settings file.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option(
    "-n",
    "--no-cache",
    is_flag=True,
    envvar="XLALINT_NO_CACHE",
    show_envvar=True,
    help="Do not read or write the cache.",
)
@click.option(
    "--cache-dir",
    type=click.Path(),
    envvar="XLALINT_CACHE_DIR",
    show_envvar=True,
    help="Folder of the cache. Default: .xlalint_cache.",
)
@click.option(
    "--resident",
    is_flag=True,
    expose_value=False,
    help="Leave a process behind that does the next runs in this folder faster; it ends after ten idle minutes.",
)
@click.option("-w", "--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option("--show-settings", is_flag=True, help="Print the settings and where each comes from; check nothing.")
@click.option("--show-files", is_flag=True, help="Print the files that would be checked; check nothing.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the output.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.option("-v", "--verbose", is_flag=True, help="Print timings, and tracebacks of internal errors.")
def check(paths: tuple[str, ...], **given: Any) -> int:
    """Check files and folders (default: the current one); `-` reads the standard input.

    \b
    Exit codes: 0 nothing at or above the fail level, 1 findings
    (with --diff: something to change), 2 the tool could not do what
    was asked.
    """
    from ..settings import config

    stdin_wanted = "-" in paths
    if stdin_wanted and len(paths) > 1:
        raise click.UsageError("`-` must be the only path: the standard input is one file")
    if given["prove"] and (stdin_wanted or not (given["fix"] or given["fix_only"] or given["diff"])):
        raise click.UsageError("--prove needs files, and --fix, --fix-only or --diff")
    if given["stdin_filename"] and not stdin_wanted:
        raise click.UsageError("--stdin-filename needs `-` as the path")
    if stdin_wanted and given["probe"]:
        raise click.UsageError("--probe runs files, not the standard input")
    where = [given["stdin_filename"] or "stdin.py"] if stdin_wanted else list(paths) or ["."]
    options = {
        **{key: split(given[key]) for key in ("select", "extend_select", "ignore", "fixable", "unfixable")},
        **{key: list(given[key]) for key in ("exclude", "extend_exclude")},
        "backend": _one_or_more(split(given["backend"])),
        **{key: given[key] for key in ("force_exclude", "output_format", "fail_on", "include_host")},
        **{key: given[key] for key in ("keras", "tensorflow", "target", "jobs", "file_timeout")},
        **{key: given[key] for key in ("cache_dir", "project", "baseline", "fix", "unsafe_fixes", "partial_fixes")},
        "bounds": dict(map(bound, given["bound"])) or None,
        "probe": probe_settings(given) or None,
    }

    def load() -> Settings:
        return config.load(
            [Path(path) for path in where],
            options={key.replace("_", "-"): value for key, value in options.items() if value not in (None, [])},
            config=given["config"],
            isolated=given["isolated"],
            cached=not given["no_cache"],
        )

    if given["watch"]:
        from .watching import watch

        if stdin_wanted or given["probe"]:
            raise click.UsageError("--watch needs files, and does not run them (--probe)")
        writes = any(given[key] for key in ("fix", "fix_only", "add_ignores"))
        watch(where, load, lambda settings: _check(where, settings, False, given), writes=writes)
    settings = load()
    if given["show_settings"]:
        first = Path(where[0]).absolute()
        return _show_settings(settings.of(first if first.is_dir() else first.parent))
    if given["show_files"]:
        return _show_files(where, settings)
    return _check(where, settings, stdin_wanted, given)


def _one_or_more(words: list[str]) -> str | list[str]:
    """A setting that may be one word or a list of them."""
    return words[0] if len(words) == 1 else words


def _check(paths: Sequence[str], settings: Settings, stdin_wanted: bool, given: dict[str, Any]) -> int:
    from time import perf_counter

    from ..api import lint_paths, lint_source
    from ..findings.codes import is_own
    from ..linter.run import Stdin, files_to_check
    from ..reports.progress import progress
    from ..reports.terminal import safe
    from ..sources.text import display_path
    from .ignoring import reason_of, with_ignores
    from .narrowing import narrowing

    targets = targets_of(given["output_file"], OUTPUT_FORMATS)
    if targets and (given["diff"] or given["fix_only"]):
        raise click.UsageError("--output-file: with --diff and --fix-only there is no report")
    started = perf_counter()
    fixing = settings.fix or given["fix_only"] or given["diff"]
    if fixing and given["probe"]:
        raise click.UsageError("--probe runs what is in the files: fix first, then probe")
    if given["add_ignores"] and (fixing or stdin_wanted or given["probe"]):
        raise click.UsageError("--add-ignores needs files, and does not combine with fixes or --probe")
    reason = reason_of(given)
    stdin = Stdin(Path(paths[0]), sys.stdin.buffer.read()) if stdin_wanted else None
    narrow = narrowing(paths, settings, given)
    fixes: Fixes | None = None
    with progress(quiet=given["quiet"]):
        if fixing:
            from .fixing import Fixes

            fixes = Fixes(paths, settings, stdin, narrow, given)
            report, stdin = fixes.report, fixes.stdin
        elif given["add_ignores"]:
            report = with_ignores(paths, settings, reason, narrow)
        elif stdin is not None:
            overlay = {display_path(stdin.path): stdin.data}
            report = narrow(lint_source(stdin.data, stdin.path, settings), overlay)
        else:
            report = narrow(lint_paths(paths, settings), {})
    if given["probe"]:
        report = with_probe(report, settings, given, [file.path for file in files_to_check(paths, settings)[0]])
    for problem in report.problems:
        if problem.detail and given["verbose"]:
            print(safe(problem.detail, keep_lines=True), end="", file=sys.stderr)
        complain(f"{problem.path}: {problem.message}" if problem.path else problem.message)
    raised_by = {problem.rule for problem in report.problems if problem.detail}
    if own := ", ".join(sorted(filter(is_own, raised_by))):
        complain(f"{own} is not part of xlalint: report this to its author, with the output of --verbose")
    if not all(map(is_own, raised_by)):
        complain("this is a bug: please report it to xlalint's issue tracker with the output of --verbose")
    if not report.files_checked and stdin is None and not report.problems:
        complain(f"no Python file or notebook in {', '.join(paths)}", label="xlalint: warning")
    text = deliver(report, settings, targets, stdin, given) if fixes is None or not fixes.only else ""
    if fixes is None:
        write(text)
    else:
        fixes.show(text)
    if given["verbose"]:
        complain(f"{report.files_checked} files in {perf_counter() - started:.2f} s", label="xlalint")
    if report.interrupted:
        return INTERRUPTED
    unreadable = {finding.path for finding in report.findings if finding.code == UNREADABLE_FILE}
    excused = unreadable if given["exit_zero"] else set[str]()  # a file that nobody can read is a finding as well
    if any(problem.path not in excused for problem in report.problems):
        return FAILED
    if fixes is not None and fixes.fails:
        return FOUND
    if given["exit_zero"] or (fixes is not None and fixes.only):
        return CLEAN
    return FOUND if any(map(settings.fails_on, report.findings)) else CLEAN


def _show_settings(settings: Settings) -> int:
    import json

    width = max(len(key) for key, _, _ in settings.shown)
    lines = (f"{key:<{width}} = {json.dumps(value)}  # {origin}" for key, value, origin in settings.shown)
    write("".join(f"{line}\n" for line in lines))
    return CLEAN


def _show_files(paths: Sequence[str], settings: Settings) -> int:
    from ..linter.run import files_to_check
    from ..reports.terminal import safe

    files, problems = files_to_check(paths, settings)
    write("".join(f"{safe(file.display)}\n" for file in files))
    for problem in problems:
        complain(f"{problem.path}: {problem.message}")
    return FAILED if problems else CLEAN
