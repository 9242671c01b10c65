"""Commands about xlalint itself: its rules, its settings, its arguments."""

from __future__ import annotations

import click

from .console import CLEAN, complete_selector, own_rules, rules_of, split, write


@click.command("rules")
@click.argument("rules", nargs=-1, shell_complete=complete_selector)
@own_rules
@click.option("--measured", is_flag=True, help="Show how their examples compile: on a CPU, and for a TPU.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
def list_rules(rules: tuple[str, ...], measured: bool, output_format: str) -> int:
    """List rules, named by code, prefix or name; all without RULES."""
    import json

    from ..authoring.verdicts import listed, overview

    found = rules_of(split(rules) or ["ALL"])
    if output_format == "json":
        table = [
            {"code": rule.code, "name": rule.name, "summary": rule.summary()}
            | ({"examples": listed(rule)} if measured else {})
            for rule in found
        ]
        write(json.dumps(table, indent=2) + "\n")
    elif measured:
        write(f"{overview(found)}\n")
    else:
        width = max(len(rule.name) for rule in found)
        write("".join(f"{rule.code}  {rule.name:<{width}}  {rule.summary()}\n" for rule in found))
    return CLEAN


@click.command()
def schema() -> int:
    """Print the JSON schema of [tool.xlalint]."""
    import json

    from ..settings import tables

    write(json.dumps(tables.schema(), indent=2) + "\n")
    return CLEAN


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the completion script for a shell."""
    from click.shell_completion import get_completion_class

    from . import cli

    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"no completion for {shell}")
    write(completer(cli, {}, "xlalint", "_XLALINT_COMPLETE").source() + "\n")
    return CLEAN
