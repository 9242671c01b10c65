"""Jaxprs: which of the user's lines made their equations, and where two ways of running one part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import jax
from jax._src import core

from xlalint.probe.protocol import Spot

from ...code.user_lines import UserLines
from ..compare import difference
from ..leaves import leaves

_MOST: Final = 400  # equations that are looked at
# Primitives whose results are defined up to sign.
SIGNLESS: Final = frozenset(("svd", "eigh", "eig", "qr", "householder_product"))


def equations(jaxpr: Any) -> Iterator[Any]:
    """The equations of a jaxpr, and those of the jaxprs in them, at any depth."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in core.jaxprs_in_params(equation.params):
            yield from equations(inner)


def spots_of(equation: Any, user_lines: UserLines) -> tuple[Spot, ...]:
    """The user's lines that made an equation, innermost first."""
    trace = equation.source_info.traceback
    codes, offsets = trace.raw_frames() if trace is not None else ((), ())
    return user_lines.of_code(zip(codes, offsets, strict=True))


def departing(closed: Any, given: Sequence[Any]) -> Any:
    """The equation whose compiled result is the first to differ from its own; None when none was found. Raises whatever
    the compiler does."""
    visible = _visible(closed)
    plain = visible(*given)
    compiled = jax.jit(visible)(*given)
    parted: set[Any] = set()
    for equation, expected, actual in zip(islice(closed.jaxpr.eqns, _MOST), plain, compiled, strict=True):
        if difference(leaves(expected), leaves(actual)):
            if parted.isdisjoint(one for one in equation.invars if not isinstance(one, core.Literal)):
                return equation
            parted.update(equation.outvars)
    return None


def _visible(closed: Any) -> Callable[..., list[list[Any]]]:
    """A jaxpr as a function that gives what each of its equations does."""
    chosen = list(islice(closed.jaxpr.eqns, _MOST))
    alone = [_alone(closed.jaxpr, one) for one in chosen]

    def run(*given: Any) -> list[list[Any]]:
        known: dict[Any, Any] = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
        known |= dict(zip(closed.jaxpr.invars, given, strict=True))
        found: list[list[Any]] = []
        for function, inputs, outputs in alone:
            found.append(function(*(known[one] for one in inputs)))
            known |= dict(zip(outputs, found[-1], strict=True))
        return found

    return run


def _alone(jaxpr: Any, equation: Any) -> tuple[Callable[..., list[Any]], list[Any], list[Any]]:
    """One equation of a jaxpr as a function, and the variables that it takes and gives."""
    inputs = list(dict.fromkeys(one for one in equation.invars if not isinstance(one, core.Literal)))
    outputs = [one for one in equation.outvars if not isinstance(one, core.DropVar)]
    own = jaxpr.replace(constvars=[], invars=inputs, outvars=outputs, eqns=[equation], debug_info=None)
    return core.jaxpr_as_fun(core.ClosedJaxpr(own, ())), inputs, outputs
