"""The command line: which commands there are, and how a process begins and ends."""

from __future__ import annotations

import gc
import importlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import click

from .. import __version__
from .console import CLEAN, FAILED, INTERRUPTED, OutputError, complain, discard, write

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from click.shell_completion import CompletionItem

# Where each command is defined: a module of this package, which is imported when the command is asked for.
_COMMANDS: Final = {
    "check": "check:check",
    "probe": "probe:probe",
    "tpu": "tpu:tpu",
    "baseline": "baseline:baseline",
    "explain": "explain:explain",
    "facts": "facts:facts",
    "padding": "padding:padding",
    "readiness": "readiness:readiness",
    "report": "report:report",
    "rules": "about:list_rules",
    "server": "server:server",
    "new-rule": "authoring:new_rule",
    "test-rules": "authoring:test_rules",
    "clean": "clean:clean",
    "docs": "docs:docs",
    "schema": "about:schema",
    "completion": "about:completion",
}
# What commands are also called, as other linters call them.
_ALSO: Final = {"rule": "explain"}
_WHOLE: Final = 300  # characters of a summary: all of it
_WORD: Final = re.compile(r"[a-z]+(-[a-z]+)*")


class _DefaultCheck(click.Group):
    """A group whose first word may be left out: what is not a command is an argument of `check`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = _ALSO.get(cmd_name, cmd_name)
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f".{module}", __name__), name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        completing_first_word = ctx.resilient_parsing and not args
        own = {*_COMMANDS, *_ALSO, "--help", "-h", "--version", "-V"}
        if not completing_first_word and (not args or args[0] not in own):
            if args and not ctx.resilient_parsing:
                _refuse_misspelt(args[0])
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with whole summaries: Click would cut them off."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(_WHOLE)) for name, one in found if one is not None])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            from .check import check

            return [*super().shell_complete(ctx, incomplete), *check.shell_complete(ctx, incomplete)]
        from click.shell_completion import CompletionItem

        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("xlalint", "[check] [OPTIONS] [PATHS]...")
        formatter.write_usage("xlalint", "COMMAND [ARGS]...")


def _refuse_misspelt(word: str) -> None:
    """Raises click.UsageError for what is no path, and nearly the name of a command."""
    from ..findings.codes import suggestion

    if _WORD.fullmatch(word) and not os.path.lexists(word) and (meant := suggestion(word, (*_COMMANDS, *_ALSO))):
        raise click.UsageError(f"{word}: no such command, file or directory{meant}")


@click.group(cls=_DefaultCheck, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="xlalint", message="%(prog)s %(version)s")
def cli() -> None:
    """Find TensorFlow and Keras code that XLA refuses to compile, recompiles, or silently changes.

    `xlalint PATHS` is short for `xlalint check PATHS`; `xlalint check --help` lists its options.
    """


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments ask; the exit code. Never lets an exception through."""
    from ..findings.codes import SelectorError
    from ..findings.rule_files import RulesError
    from ..settings.layers import ConfigurationError

    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    try:
        if not _folder_exists():
            raise ConfigurationError("the working directory does not exist any more")
        code = cli.main(list(arguments), prog_name="xlalint", standalone_mode=False)
        write("")
    except click.ClickException as error:
        complain(error.format_message())
        return FAILED
    except (ConfigurationError, OutputError, RulesError, SelectorError) as error:
        complain(str(error))
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        discard()
        return CLEAN
    except Exception as error:
        if isinstance(error, OSError) and _is_of_echo(error):  # of a help text, which Click writes
            discard()
            complain(f"standard output: {error.strerror or error}")
            return FAILED
        if {"-v", "--verbose"} & set(arguments):
            import traceback

            traceback.print_exc()
        complain(
            f"internal error: {type(error).__name__}: {error} "
            "(this is a bug: please report it to xlalint's issue tracker with the output of --verbose)"
        )
        return FAILED
    return code if isinstance(code, int) else CLEAN


def _is_of_echo(error: OSError) -> bool:
    """Whether Click could not write to the standard output."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_code is click.echo.__code__


def main(before_end: Callable[[], None] = lambda: None) -> None:
    """The console script. A process that ends need not search its memory for garbage, nor give it back piece by piece:
    with the trees of a large package that would be a tenth of the run."""
    gc.disable()
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    _open_streams()
    code = run(sys.argv[1:])
    sys.stderr.flush()
    before_end()
    os._exit(code)


def _end(number: int, frame: object) -> None:
    """A request to end, or a terminal that is closed, is taken like Ctrl-C: what is half written is removed first."""
    raise KeyboardInterrupt


def _folder_exists() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _open_streams() -> None:
    """Python has None for a stream that was closed by who started the process. What is written to a standard output
    that cannot be written is an error; messages about it are lost."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, encoding="utf-8")  # noqa: SIM115 (not to be written)
    told = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    for file in (sys.stdout.fileno(), told):
        if hasattr(os, "get_blocking") and not os.get_blocking(file):
            os.set_blocking(file, True)  # whoever started this reads slowly, and left the pipes like that
    stream = io.BufferedWriter(_Heedless(told, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(stream, encoding, "backslashreplace", line_buffering=True)


class _Heedless(io.FileIO):
    """The standard error. What nobody can read any more is lost, and nothing else with it."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes
