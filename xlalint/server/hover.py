"""What there is to read about the place that somebody points at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from ..facts import describe
from ..findings.findings import Finding
from ..linter.rule import all_rules

_CHAIN: Final = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_IMPORT: Final = re.compile(r"[ \t]*(?:from|import)\b.*")


def about_finding(finding: Finding) -> str:
    """A finding and the page of its rule, in Markdown."""
    page = next(rule.documentation() for rule in all_rules() if rule.code == finding.code)
    said = f"{finding.message}\n\n{finding.help}" if finding.help else finding.message
    return f"**{finding.code} {finding.name}** ({finding.severity.label}): {said}\n\n---\n\n{page}"


def about_call(text: str, line: str, column: int, tensorflow: str | None) -> str | None:
    """What was measured of the function that a column (from 1) of a line of the text names, in Markdown. `tensorflow`:
    the version that the code runs on."""
    chain = _chain_at(line, column)
    if chain is None:
        return None
    head, _, rest = chain.partition(".")
    module = _imported(text).get(head)
    if module is None:
        return None
    name = f"{module}.{rest}" if rest else module
    api, _ = describe.find(name, tensorflow)
    return None if api is None else f"```text\n{describe.api_text(api, tensorflow)}```"


def _chain_at(line: str, column: int) -> str | None:
    """The dotted name at a column, up to the word that the column is in."""
    for match in _CHAIN.finditer(line):
        if match.start() < column <= match.end() + 1:
            end = re.compile(r"\w*").match(line, max(column - 1, match.start()))
            written = line[match.start() : end.end() if end else match.end()]
            return re.sub(r"\s", "", written).rstrip(".")
    return None


def _imported(text: str) -> dict[str, str]:
    """What imports bind, wherever in the text they are, by the names that it has for them."""
    return {
        alias.asname or alias.name.partition(".")[0]: _dotted(node, alias)
        for node in _import_statements(text)
        for alias in node.names
    }


def _dotted(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    match node:
        case ast.ImportFrom(module=module, level=level):
            return f"{'.' * level}{module or ''}.{alias.name}"
        case _:
            return alias.name if alias.asname else alias.name.partition(".")[0]


def _import_statements(text: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a text, which may be no Python yet: then those that fit in a line."""
    try:
        trees = [ast.parse(text)]
    except (SyntaxError, ValueError):
        trees = [tree for line in text.splitlines() if _IMPORT.match(line) for tree in _parsed(line.strip())]
    for tree in trees:
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def _parsed(line: str) -> Iterator[ast.Module]:
    try:
        yield ast.parse(line)
    except (SyntaxError, ValueError):
        return
