"""The page of constructs: what becomes of each piece of Python and TensorFlow, and the rules that flag it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from ..facts.constructs import Construct, OnCpu, Program, constructs, of, on_gpu, on_jax, spans
from ..facts.gpu import OnGpu
from ..facts.tables import WORDS
from ..findings.codes import rule_names
from ..reports.page.markup import Markup, element
from .cells import OUTCOMES, TPU_OUTCOMES, UNKNOWN, cell, jax_cell

_HEAD: Final = """\
# Constructs

Python and TensorFlow constructs (`if` on a tensor, `break`, generators, `tensor[mask]`, sizes from values, gradients of
loops, dtypes, layers, ..), compiled with AutoGraph and without it. Keras 3 runs `call`, losses and metrics without.
`xlalint facts --constructs WORD` prints the same.
"""


def pages() -> Iterator[tuple[str, str]]:
    """The file of the page and its text (Markdown)."""
    parts = [_HEAD]
    for group, members in groupby(constructs(), key=lambda one: one.group):
        parts.append(f"## {group[:1].upper()}{group[1:]}\n\n```{{raw}} html\n{_table(list(members))}\n```\n")
    yield "xla/constructs.md", "\n".join(parts)


def _table(members: list[Construct]) -> Markup:
    titles = ("Construct", "CPU", "TPU", "CPU, no AutoGraph", "TPU, no AutoGraph", "JAX", "Rules")
    head = element("thead", element("tr", (element("th", title, scope="col") for title in titles)))
    table = element("table", head, element("tbody", map(_row, members)), class_="facts")
    return element("div", table, class_="table-wrapper", tabindex=0)


def _row(construct: Construct) -> Markup:
    code = element("pre", element("code", construct.programs[0].code.strip()), tabindex=0)
    shown = element("details", element("summary", construct.name), code)
    cells = [one for program in (construct.converted, construct.plain) for one in _outcomes(program)]
    with_jax = jax_cell(on_jax(construct))
    return element("tr", element("th", shown, scope="row"), cells, with_jax, element("td", _rules(construct)))


def _outcomes(program: Program | None) -> tuple[Markup, Markup]:
    found = None if program is None else of(program)
    if found is None:
        return cell(UNKNOWN, "not applicable"), cell(UNKNOWN, "not applicable")
    told: list[tuple[str, OnCpu | OnGpu]] = [
        ("", found.cpu),
        *((f"TensorFlow {versions}: ", cpu) for versions, cpu in spans(found)),
    ]
    told += [("On a GPU: ", there)] if (there := on_gpu(found)) is not None else []
    cpu = ". ".join(f"{when}{WORDS[one.outcome]}{f': {one.detail}' if one.detail else ''}" for when, one in told)
    return cell(OUTCOMES[found.cpu.outcome][0], cpu), cell(TPU_OUTCOMES[found.tpu.outcome][0], found.tpu.said())


def _rules(construct: Construct) -> Iterator[Markup]:
    flagged = {code for program in construct.programs if (found := of(program)) is not None for code in found.rules}
    for code in sorted(flagged):
        yield element("a", code, href=f"../rules/{code.lower()}.html", title=rule_names()[code])
        yield Markup(" ")
