"""Commands about xlalint itself: its rules, its settings, its arguments."""

from __future__ import annotations

import click

from .console import CLEAN, own_rules, rules_of, write


@click.command("rules")
@own_rules
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
def list_rules(output_format: str) -> int:
    """List all rules."""
    import json

    found = rules_of(["ALL"])
    if output_format == "json":
        table = [{"code": rule.code, "name": rule.name, "summary": rule.summary()} for rule in found]
        write(json.dumps(table, indent=2) + "\n")
    else:
        width = max(len(rule.name) for rule in found)
        write("".join(f"{rule.code}  {rule.name:<{width}}  {rule.summary()}\n" for rule in found))
    return CLEAN


@click.command()
def schema() -> int:
    """Print the JSON schema of [tool.xlalint]."""
    import json

    from .. import config

    write(json.dumps(config.schema(), indent=2) + "\n")
    return CLEAN


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the script that makes a shell complete xlalint's arguments."""
    from click.shell_completion import get_completion_class

    from . import cli

    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"no completion for {shell}")
    write(completer(cli, {}, "xlalint", "_XLALINT_COMPLETE").source() + "\n")
    return CLEAN
