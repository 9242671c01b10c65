"""The table of what differs between TensorFlow's tracer and JAX's, of the constructs that are measured with both."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from ..facts.constructs import Construct, constructs, of, on_jax
from ..facts.tables import WORDS, Outcome
from ..reports.page.markup import Markup, element
from .cells import OUTCOMES, cell, jax_cell

_PREFIX: Final = "layer: "


def differing() -> list[Construct]:
    """The constructs of which TensorFlow, without AutoGraph, makes something else than JAX."""
    found = []
    for one in constructs():
        verdict, there = of(one.plain), on_jax(one)
        if verdict is not None and there is not None and verdict.cpu.outcome is not there.outcome:
            found.append(one)
    return found


def table() -> str:
    """The table, by group (Markdown)."""
    parts = []
    for group, members in groupby(differing(), key=lambda one: one.group):
        head = element("thead", element("tr", (element("th", name, scope="col") for name in (group, *_BACKENDS))))
        body = element("tbody", (_row(one) for one in members))
        shown = element("table", head, body, class_="facts")
        parts.append(element("div", shown, class_="table-wrapper", tabindex=0))
    return "```{raw} html\n" + "\n".join(map(str, parts)) + "\n```"


_BACKENDS: Final = ("TensorFlow", "JAX")


def _row(one: Construct) -> Markup:
    verdict = of(one.plain)
    assert verdict is not None
    cpu = verdict.cpu
    told = "raises, compiled or not" if cpu.eager else WORDS[cpu.outcome]
    said = f"{told}: {cpu.detail}" if cpu.detail and cpu.outcome is not Outcome.DIVERGES else told
    code = element("pre", element("code", one.plain.code.strip()), tabindex=0)
    shown = element("details", element("summary", one.name.removeprefix(_PREFIX)), code)
    return element("tr", element("th", shown, scope="row"), cell(OUTCOMES[cpu.outcome][0], said), jax_cell(on_jax(one)))
