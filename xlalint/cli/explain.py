"""`xlalint explain`: the pages of rules, and the answers to errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from .console import CLEAN, FAILED, coloured, complete_selector, own_rules, rules_of, split, write


@click.command()
@click.argument("rules", nargs=-1, shell_complete=complete_selector)
@own_rules
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

    from ..authoring.verdicts import listed, page

    chosen = rules_of(split(rules))
    if output_format == "json":
        pages = [
            {"code": rule.code, "name": rule.name, "page": rule.documentation(), "examples": listed(rule)}
            for rule in chosen
        ]
        write(json.dumps(pages, indent=2, ensure_ascii=False) + "\n")
        return CLEAN
    text = "\n\n".join(f"# {rule.code} {rule.name}\n\n{page(rule)}" for rule in chosen)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        write(f"{text}\n")
    return CLEAN


def _explain_error(given: str, output_format: str, color: str) -> int:
    from ..decoder.answers import explain_log
    from ..decoder.log import read
    from ..decoder.report import json_report, text_report
    from ..reports.terminal import Paint
    from ..sources.text import UnreadableSource, read_own

    if given == "-":
        text = read(sys.stdin.buffer.read())
    elif os.path.isfile(given):
        try:
            text = read(read_own(Path(given)))
        except UnreadableSource as error:
            raise click.UsageError(f"{given}: {error}") from error
    elif "\n" not in given and " " not in given and given.endswith((".log", ".out", ".txt")):
        raise click.UsageError(f"no such file: {given}")
    else:
        text = given
    answers = explain_log(text)
    write(json_report(answers) if output_format == "json" else text_report(answers, Paint(coloured(color))))
    return CLEAN if answers.answers else FAILED
