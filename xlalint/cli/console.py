"""What every command shares: exit codes, the ways to say something, and options that name rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ..linter.rule import Rule

CLEAN: Final = 0
FOUND: Final = 1
FAILED: Final = 2
INTERRUPTED: Final = 130


def coloured(mode: str) -> bool:
    """Whether to colour: as asked, else NO_COLOR and FORCE_COLOR, else when a terminal shows it."""
    if mode != "auto":
        return mode == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


class OutputError(Exception):
    """The standard output cannot be written; the message says why."""


def write(text: str) -> None:
    """Write to the standard output; a reader that has gone away has seen enough. Raises OutputError."""
    with _reader_may_go():
        sys.stdout.write(text)
        sys.stdout.flush()


def write_bytes(data: bytes) -> None:
    """Write source to the standard output as it is. Raises OutputError."""
    with _reader_may_go():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


@contextmanager
def _reader_may_go() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        discard()
    except OSError as error:
        discard()
        raise OutputError(f"standard output: {error.strerror or error}") from error


def discard() -> None:
    """Python flushes the stream once more at exit, which must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str, label: str = "xlalint: error") -> None:
    """Say on the standard error what went wrong, in one line."""
    from ..reports.terminal import safe

    print(f"{label}: {safe(message)}", file=sys.stderr)


def split(values: Sequence[str]) -> list[str]:
    """The words of an option that is given repeatedly, by comma, or both."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def bound(value: str) -> tuple[str, int]:
    """`NAME=64`. Raises `click.BadParameter`."""
    name, _, number = value.partition("=")
    if not name.strip() or not number.strip().isdecimal() or int(number) == 0:
        raise click.BadParameter(f"{value!r} is not NAME=NUMBER", param_hint="--bound")
    return name.strip(), int(number)


def complete_selector(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rules that the word being typed may become."""
    from click.shell_completion import CompletionItem

    from ..findings.codes import selectors_known

    done, comma, start = incomplete.rpartition(",")
    return [CompletionItem(f"{done}{comma}{known}") for known in selectors_known() if known.startswith(start)]


def selectors(*names: str, text: str) -> Callable[[Any], Any]:
    """An option that takes rules, by comma and repeatedly."""
    return click.option(*names, multiple=True, metavar="RULES", help=text, shell_complete=complete_selector)


def own_rules(command: Any) -> Any:
    """The option that adds rules of one's own. It is read before those that name rules are."""

    def take(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> None:
        from ..findings import rule_files

        with suppress(*(rule_files.RulesError,) if ctx.resilient_parsing else ()):  # a shell that completes a line
            rule_files.give(value)

    return click.option(
        "--rules",
        "own_rules",
        multiple=True,
        metavar="PATH",
        type=click.Path(),
        is_eager=True,
        expose_value=False,
        callback=take,
        help="RUN rules of your own: a file, or a folder with files such as acme101_no_inverse.py.",
    )(command)


def rules_of(selectors: Sequence[str]) -> list[type[Rule]]:
    """The rules that codes, prefixes or names select."""
    from ..findings.codes import codes_of
    from ..linter.rule import all_rules

    wanted = codes_of(selectors)
    return [rule for rule in all_rules() if rule.code in wanted]
