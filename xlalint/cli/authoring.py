"""Commands for those who write rules of their own."""

from __future__ import annotations

from pathlib import Path

import click

from .console import CLEAN, FOUND, own_rules, write


@click.command("new-rule")
@click.argument("name")
@click.option("--code", metavar="CODE", help="Letters of your own and three digits. Default: the next free one.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(), help="Default: the current one.")
@own_rules
def new_rule(name: str, code: str | None, folder: Path) -> int:
    """Write the file for a new rule, such as no-inverse, with all sections."""
    from ..authoring.template import new_rule as write_rule

    file = write_rule(name, code, folder)
    write(f"{file}\n")
    return CLEAN


@click.command("test-rules")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--no-compiler", is_flag=True, help="Do not run the examples, even if TensorFlow is installed.")
def test_rules(paths: tuple[str, ...], no_compiler: bool) -> int:
    """Test rules of your own (files, or folders of them) with their examples.

    \b
    Each bad example must be reported and rewritten as it states, each
    good one must be silent. If TensorFlow is installed, this also RUNS
    the examples on the compiler, which must do what they claim.
    Exit codes: 0 all examples hold, 1 some do not, 2 the rules cannot
    be used.
    """
    from importlib.util import find_spec

    from ..authoring.trial import tried
    from ..findings import rule_files
    from ..linter.rule import all_rules
    from ..probe.process import ProbeUnavailableError
    from ..reports.terminal import counted

    rule_files.give(paths)
    given = rule_files.given()
    compiler = not no_compiler and find_spec("tensorflow") is not None
    wrong = False
    for rule in all_rules():
        if rule.code in given:
            try:
                result = tried(rule, compiler=compiler)
            except ProbeUnavailableError as error:
                raise click.ClickException(str(error)) from error
            wrong |= bool(result.complaints)
            claims = f", {counted(result.claims, 'claim')} measured" if compiler else ""
            verdict = "wrong" if result.complaints else "ok"
            write(f"{verdict:<5}  {rule.code}  {rule.name}  ({counted(result.examples, 'example')}{claims})\n")
            write("".join(f"       {complaint}\n" for complaint in result.complaints))
    if not compiler:
        why = "--no-compiler" if no_compiler else "TensorFlow is not installed"
        write(f"The behaviour that the examples claim was not measured: {why}.\n")
    return FOUND if wrong else CLEAN
