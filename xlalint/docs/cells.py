"""The cells of tables of facts: words, and a class of the style sheet that repeats in colour what they say."""

from __future__ import annotations

from typing import Final

from ..facts.jax import OnJax
from ..facts.tables import Gradient, Outcome
from ..facts.tpu import TpuOutcome
from ..reports.page.markup import Markup, element
from ..reports.page.prose import inline

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "unknown"
OUTCOMES: Final = {
    Outcome.OK: (YES, "compiles"),
    Outcome.FAILS: (NO, "does not compile"),
    Outcome.DIVERGES: (NO, "another result"),
    Outcome.RECOMPILES: (PARTLY, "recompiles"),
    Outcome.BOUNDED: (PARTLY, "bounded shape"),
    Outcome.UNTESTED: (UNKNOWN, "not measured"),
}
TPU_OUTCOMES: Final = {
    TpuOutcome.OK: (YES, "compiles"),
    TpuOutcome.BOUNDED: (PARTLY, "bounded shape"),
    TpuOutcome.FAILS: (NO, "does not compile"),
    TpuOutcome.LOWERS: (PARTLY, "has kernels"),
    TpuOutcome.UNTRACED: (UNKNOWN, "not measured"),
    TpuOutcome.UNTESTED: (UNKNOWN, "not measured"),
}
GRADIENTS: Final = {
    Gradient.OK: (YES, "compiles"),
    Gradient.FAILS: (NO, "does not compile"),
    Gradient.DIVERGES: (NO, "another result"),
    Gradient.NONE: (UNKNOWN, "none"),
}
KERNELS: Final = {True: (YES, "has kernels"), False: (NO, "no kernel"), None: (UNKNOWN, "not measured")}


def jax_cell(found: OnJax | None) -> Markup:
    """What becomes of a call or a program with JAX."""
    return cell(UNKNOWN, "") if found is None else cell(OUTCOMES[found.outcome][0], found.said())


def cell(kind: str, said: str) -> Markup:
    """A cell of a table; `kind` is one of the four words above."""
    return element("td", inline(said), class_=kind)
