"""What is called of a callable beside its plain call, and what of that a row of the table does not tell of yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from xlalint.measuring.arguments import Target, receivers, rewritten, target, variants
from xlalint.measuring.recipes import Recipe

# What is not written otherwise of a call that fails as it is.
OF_WORKING: Final = ("given", "tensor")
DIES: Final = "the process dies"  # the beginning of what is said of a call that ends its process


@dataclass(frozen=True)
class Variation:
    """A call, what is varied in it, and whether its gradient is asked for as well."""

    varied: Mapping[str, str]
    call: str
    gradient: bool = True


def beside(recipe: Recipe, call: str) -> list[Variation]:
    """What is written by hand, and the same call of an object that comes from outside."""
    return [Variation(dict(varied), other) for varied, other in (*recipe.cases, *receivers(call))]


def variations(
    what: Target, recipe: Recipe, plain: Mapping[str, Any], planned: Iterable[tuple[str, str]] | None = None
) -> Iterator[list[Variation]]:
    """Of each group the first that eager execution takes counts. `plain`: the case of the plain call; `planned`: the
    parameters and texts to vary, in place of those that the callable and its documentation suggest."""
    call, fails = plain["call"], plain.get("outcome") == "fails"
    by_hand = beside(recipe, call)
    yield from ([one] for one in by_hand)
    known = [pair for one in by_hand for pair in one.varied.items()]
    groups: Iterable[tuple[str, tuple[str, ...]]] = ()
    if planned is None and not plain.get("detail", "").startswith(DIES):
        suggested = variants(what, call)
        groups = ((one.parameter, one.alternatives) for one in suggested if not fails or one.kind not in OF_WORKING)
    elif planned is not None:
        groups = ((parameter, (text,)) for parameter, text in planned)
    for parameter, texts in groups:
        if not any((parameter, text) in known for text in texts):
            others = [(text, rewritten(what, call, parameter, text)) for text in texts]
            yield [
                Variation({parameter: text}, other, gradient=text[0] in "'\"")
                for text, other in others
                if other not in (None, call)
            ]


# -- what a row lacks -------------------------------------------------------------------------------------------------


def tells(row: Mapping[str, Any], one: Variation) -> bool:
    """Whether a row of the table says what becomes of a variation."""
    same = row.get("same", {})
    return any(case.get("varied") == one.varied for case in row["cases"]) or all(
        text in same.get(parameter, ()) for parameter, text in one.varied.items()
    )


def lacking(row: Mapping[str, Any], untaken: Mapping[str, Any], groups: Iterable[list[Variation]]) -> list[Variation]:
    """Of the groups that a row tells nothing of: what was never tried. `untaken`: what eager execution did not take."""
    return [
        one
        for group in groups
        if not any(tells(row, other) for other in group)
        for one in group
        if any(text not in untaken.get(parameter, ()) for parameter, text in one.varied.items())
    ]


def outdated(
    rows: Mapping[str, Any], untaken: Mapping[str, Any], recipes: Mapping[str, Recipe], names: Mapping[str, Any]
) -> dict[str, list[str]]:
    """By callable: the calls that its row would tell of, were it measured now, and does not. `names`: the packages."""
    found = {}
    for name, row in rows.items():
        what, recipe = target(name, names), recipes.get(name, Recipe(""))
        if what is None or not row.get("cases"):
            continue
        plan = plan_of_today(row, recipe)
        if plan is None:
            found[name] = [recipe.call]
            continue
        groups = variations(what, recipe, row["cases"][0])
        if left := lacking(row, untaken.get(name, {}), groups):
            found[name] = [one.call for one in left]
    return found


def plan_of_today(row: Mapping[str, Any], recipe: Recipe) -> dict[str, str] | None:
    """How to measure a row anew: with its plain call, unless another one is written by hand by now."""
    call: str = row["cases"][0]["call"]
    return {"call": call} if recipe.call in ("", call) else None
