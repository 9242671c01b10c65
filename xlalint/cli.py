"""The command line: from arguments to settings, and from a report to output and an exit code."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from . import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from .config import Settings
    from .engine import Stdin
    from .findings import Report
    from .rule import Rule

CLEAN: Final = 0
FOUND: Final = 1
FAILED: Final = 2
_INTERRUPTED: Final = 130

_FORMATS: Final = ("full", "concise", "json")
_LEVELS: Final = ("error", "warning", "info")


class _DefaultCheck(click.Group):
    """A group whose first word may be left out: what is not a command is an argument of `check`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        completing_first_word = ctx.resilient_parsing and not args
        if not completing_first_word and (not args or args[0] not in {*self.commands, "--help", "-h", "--version"}):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return [*super().shell_complete(ctx, incomplete), *check.shell_complete(ctx, incomplete)]
        from click.shell_completion import CompletionItem

        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("xlalint", "[check] [OPTIONS] [PATHS]...")
        formatter.write_usage("xlalint", "COMMAND [ARGS]...")


def _complete_selector(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from .codes import selectors_known

    done, comma, start = incomplete.rpartition(",")
    return [CompletionItem(f"{done}{comma}{known}") for known in selectors_known() if known.startswith(start)]


def _selectors(*names: str, text: str) -> Callable[[Any], Any]:
    """An option that takes rules, by comma and repeatedly."""
    return click.option(*names, multiple=True, metavar="RULES", help=text, shell_complete=_complete_selector)


@click.group(cls=_DefaultCheck, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="xlalint", message="%(prog)s %(version)s")
def cli() -> None:
    """Say where XLA will refuse TensorFlow and Keras code, recompile it, or quietly change its result.

    `xlalint PATHS` is short for `xlalint check PATHS`; `xlalint check --help` lists its options.
    """


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path())
@_selectors("--select", text="Rules to run: codes, prefixes such as XLA2, or names. Default: all.")
@_selectors("--extend-select", text="Rules to run besides the selected ones.")
@_selectors("--ignore", text="Rules not to run.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Paths not to check; replaces the defaults.")
@click.option("--extend-exclude", multiple=True, metavar="PATTERN", help="Paths not to check, besides --exclude.")
@click.option("--force-exclude", is_flag=True, default=None, help="Exclude files named on the command line, too.")
@click.option("--output-format", type=click.Choice(_FORMATS), help="How findings are printed. Default: full.")
@click.option("--fail-on", type=click.Choice(_LEVELS), help="Least severity for exit code 1. Default: warning.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option("--statistics", is_flag=True, help="Print how often each rule found something.")
@click.option("--include-host", is_flag=True, default=None, help="Also report code that runs eagerly on the host.")
@click.option("--keras", type=click.IntRange(2, 3), help="The Keras that runs the code. Default: from requirements.")
@click.option("--tensorflow", metavar="VERSION", help="The TensorFlow version that runs the code.")
@click.option(
    "--jobs", type=click.IntRange(min=0), metavar="N", help="Processes for large projects. Default: one a processor."
)
@click.option("--stdin-filename", type=click.Path(), help="The file that the text piped to `-` stands for.")
@click.option("--config", multiple=True, metavar="KEY=VALUE|FILE", help="A setting as in TOML, or a settings file.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write cached results.")
@click.option("--cache-dir", type=click.Path(), help="Where results are kept. Default: .xlalint_cache.")
@click.option("--show-settings", is_flag=True, help="Print the settings and where each comes from; check nothing.")
@click.option("--show-files", is_flag=True, help="Print the files that would be checked; check nothing.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the output.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.option("-v", "--verbose", is_flag=True, help="Say what is done; show tracebacks of internal errors.")
def check(paths: tuple[str, ...], **given: Any) -> int:
    """Check files and folders (default: the current one); `-` reads the standard input.

    \b
    Exit codes: 0 nothing at or above the fail level, 1 findings,
    2 the tool could not do what was asked.
    """
    from . import config

    stdin_wanted = "-" in paths
    if stdin_wanted and len(paths) > 1:
        raise click.UsageError("`-` stands alone: the standard input is one file")
    if given["stdin_filename"] and not stdin_wanted:
        raise click.UsageError("--stdin-filename needs `-` as the path")
    where = [given["stdin_filename"] or "stdin.py"] if stdin_wanted else list(paths) or ["."]
    options = {
        **{key: _split(given[key]) for key in ("select", "extend_select", "ignore")},
        **{key: list(given[key]) for key in ("exclude", "extend_exclude")},
        **{key: given[key] for key in ("force_exclude", "output_format", "fail_on", "include_host")},
        **{key: given[key] for key in ("keras", "tensorflow", "jobs", "cache_dir")},
    }
    settings = config.load(
        [Path(path) for path in where],
        options={key.replace("_", "-"): value for key, value in options.items() if value not in (None, [])},
        config=given["config"],
        isolated=given["isolated"],
    )
    if given["show_settings"]:
        return _show_settings(settings)
    if given["show_files"]:
        return _show_files(where, settings)
    return _check(where, settings, stdin_wanted, given)


def _split(values: Sequence[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _check(paths: Sequence[str], settings: Settings, stdin_wanted: bool, given: dict[str, Any]) -> int:
    from dataclasses import replace
    from time import perf_counter

    from .engine import Stdin
    from .engine import check as run
    from .reports.progress import progress

    started = perf_counter()
    if given["no_cache"]:
        settings = replace(settings, cache_dir=None)
    stdin = Stdin(Path(paths[0]), sys.stdin.buffer.read()) if stdin_wanted else None
    with progress(quiet=given["quiet"]):
        report = run(paths, settings, stdin)
    for problem in report.problems:
        if problem.detail and given["verbose"]:
            print(problem.detail, end="", file=sys.stderr)
        _complain(f"{problem.path}: {problem.message}" if problem.path else problem.message)
    if any(problem.detail for problem in report.problems):
        _complain("this is a bug: please report it to xlalint's issue tracker with the output of --verbose")
    _write(_rendered(report, settings.output_format, stdin, given))
    if given["verbose"]:
        _complain(f"{report.files_checked} files in {perf_counter() - started:.2f} s", label="xlalint")
    if report.problems:
        return FAILED
    failing = any(finding.severity >= settings.fail_on for finding in report.findings)
    return FOUND if failing and not given["exit_zero"] else CLEAN


def _rendered(report: Report, output_format: str, stdin: Stdin | None, given: dict[str, Any]) -> str:
    """The report in its format, with statistics and summary where they belong."""
    from .reports.terminal import Paint

    if output_format == "json":
        from .reports.json import json_report

        return json_report(report)
    paint = Paint(_coloured(given["color"]))
    if given["statistics"]:
        from .reports.summary import statistics

        body = statistics(report)
    elif output_format == "concise":
        from .reports.concise import concise

        body = concise(report, paint)
    else:
        from .reports.full import full
        from .sources.lines import line_reader
        from .sources.text import display_path

        overlay = {display_path(stdin.path): stdin.data} if stdin else {}
        body = full(report, paint, line_reader(overlay))
    if given["quiet"]:
        return body
    from .reports.summary import summary

    return body + summary(report, paint)


def _show_settings(settings: Settings) -> int:
    import json

    width = max(len(key) for key, _, _ in settings.shown)
    lines = (f"{key:<{width}} = {json.dumps(value)}  # {origin}" for key, value, origin in settings.shown)
    _write("".join(f"{line}\n" for line in lines))
    return CLEAN


def _show_files(paths: Sequence[str], settings: Settings) -> int:
    from .engine import files_to_check
    from .reports.terminal import safe

    files, problems = files_to_check(paths, settings)
    _write("".join(f"{safe(file.display)}\n" for file in files))
    for problem in problems:
        _complain(f"{problem.path}: {problem.message}")
    return FAILED if problems else CLEAN


@cli.command()
@click.argument("rules", nargs=-1, shell_complete=_complete_selector)
@click.option("--error", metavar="TEXT|FILE|-", help="Explain what TensorFlow printed: an error, a traceback, a log.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the output.")
def explain(rules: tuple[str, ...], error: str | None, output_format: str, color: str) -> int:
    """Print the pages of rules, named by code, prefix or name, or explain an error.

    \b
    Exit codes of --error: 0 an answer was found, 2 none.
    """
    if (error is None) == (not rules):
        raise click.UsageError("name rules, or give an error with --error")
    if error is not None:
        return _explain_error(error, output_format, color)
    import json

    chosen = _rules(_split(rules))
    if output_format == "json":
        pages = [{"code": rule.code, "name": rule.name, "page": rule.documentation()} for rule in chosen]
        _write(json.dumps(pages, indent=2, ensure_ascii=False) + "\n")
        return CLEAN
    page = "\n\n".join(f"# {rule.code} {rule.name}\n\n{rule.documentation()}" for rule in chosen)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        _write(f"{page}\n")
    return CLEAN


def _explain_error(given: str, output_format: str, color: str) -> int:
    from .errors.answers import explain_log
    from .errors.log import read
    from .errors.report import json_report, text_report
    from .reports.terminal import Paint

    if given == "-":
        text = read(sys.stdin.buffer.read())
    elif os.path.isfile(given):
        text = read(Path(given).read_bytes())
    elif "\n" not in given and " " not in given and given.endswith((".log", ".out", ".txt")):
        raise click.UsageError(f"no such file: {given}")
    else:
        text = given
    answers = explain_log(text)
    _write(json_report(answers) if output_format == "json" else text_report(answers, Paint(_coloured(color))))
    return CLEAN if answers.answers else FAILED


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--unsupported", is_flag=True, help="List the calls for which XLA has no kernel.")
@click.option("--tensorflow", metavar="VERSION", help="The version to ask for. Default: the newest that was measured.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
def facts(names: tuple[str, ...], unsupported: bool, tensorflow: str | None, output_format: str) -> int:
    """Print what was measured of calls (in any spelling) and operations, or list what XLA cannot compile."""
    if unsupported == bool(names):
        raise click.UsageError("name calls or operations, or ask for --unsupported")
    import json

    from .facts import describe

    if tensorflow is not None and not re.fullmatch(r"\d+(\.\d+)*", tensorflow):
        raise click.UsageError(f"not a version: {tensorflow!r}")
    found = [describe.find(name, tensorflow) for name in names]
    for name, (api, op) in zip(names, found, strict=True):
        if api is None and op is None:
            raise click.UsageError(describe.unknown(name))
    if output_format == "json":
        listed = [(fact, None) for fact in describe.unsupported(tensorflow)] if unsupported else found
        _write(json.dumps([describe.record(api, op) for api, op in listed], indent=2) + "\n")
    elif unsupported:
        _write(describe.unsupported_text(tensorflow))
    else:
        texts = [describe.api_text(api, tensorflow) for api, _ in found if api is not None]
        texts += [describe.op_text(op) for _, op in found if op is not None]
        _write("\n".join(texts))
    return CLEAN


@cli.command("rules")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
def list_rules(output_format: str) -> int:
    """List all rules."""
    import json

    found = _rules(["ALL"])
    if output_format == "json":
        table = [{"code": rule.code, "name": rule.name, "summary": rule.summary()} for rule in found]
        _write(json.dumps(table, indent=2) + "\n")
    else:
        width = max(len(rule.name) for rule in found)
        _write("".join(f"{rule.code}  {rule.name:<{width}}  {rule.summary()}\n" for rule in found))
    return CLEAN


def _rules(selectors: Sequence[str]) -> list[type[Rule]]:
    from .codes import codes_of
    from .rule import all_rules

    wanted = codes_of(selectors)
    return [rule for rule in all_rules() if rule.code in wanted]


@cli.command()
def schema() -> int:
    """Print the JSON schema of [tool.xlalint]."""
    import json

    from . import config

    _write(json.dumps(config.schema(), indent=2) + "\n")
    return CLEAN


@cli.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the script that makes a shell complete xlalint's arguments."""
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"no completion for {shell}")
    _write(completer(cli, {}, "xlalint", "_XLALINT_COMPLETE").source() + "\n")
    return CLEAN


def _coloured(mode: str) -> bool:
    """Whether to colour: as asked, else NO_COLOR and FORCE_COLOR, else when a terminal shows it."""
    if mode != "auto":
        return mode == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _write(text: str) -> None:
    """Write to the standard output; a reader that has gone away has seen enough."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes the stream once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, label: str = "xlalint: error") -> None:
    from .reports.terminal import safe

    print(f"{label}: {safe(message)}", file=sys.stderr)


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments ask; the exit code. Never lets an exception through."""
    from .codes import SelectorError
    from .config import ConfigurationError

    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    try:
        code = cli.main(list(arguments), prog_name="xlalint", standalone_mode=False)
    except click.ClickException as error:
        _complain(error.format_message())
        return FAILED
    except (ConfigurationError, SelectorError) as error:
        _complain(str(error))
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except Exception as error:
        if {"-v", "--verbose"} & set(arguments):
            import traceback

            traceback.print_exc()
        _complain(
            f"internal error: {type(error).__name__}: {error} "
            "(this is a bug: please report it to xlalint's issue tracker with the output of --verbose)"
        )
        return FAILED
    return code if isinstance(code, int) else CLEAN


def main() -> None:
    """The console script. A process that ends need not search its memory for garbage, nor give it back piece by piece:
    with the trees of a large package that would be a tenth of the run."""
    gc.disable()
    code = run(sys.argv[1:])
    _write("")
    sys.stderr.flush()
    os._exit(code)
