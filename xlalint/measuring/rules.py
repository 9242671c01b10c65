"""Makes of what was seen of a callable (`signatures`) what the analyser is told, in the language of `api_tables`.

A rule is written only where every call that was accepted agrees with it, and where the calls tell it from the others:
a dtype or a rank that follows an argument came out in at least two forms, one that does not follow stayed the same
while the arguments changed. What is not decided so is `?`, and a result whose form varies without a reason is left out.

The rules are tried by the analyser's own functions, so that what is written is what the analyser makes of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, Final

from xlalint.analysis.domain.kinds import leaves
from xlalint.analysis.domain.values import UNKNOWN, Api, ApiObject, Array, Dependence, Static, Tensor, Value
from xlalint.analysis.domain.values import Sequence as Items
from xlalint.analysis.library.call import Call
from xlalint.analysis.library.keras_classes import kind_of
from xlalint.analysis.library.result_tables import DTYPE_PARAMETERS
from xlalint.analysis.library.results import tensor

from .expressions import dotted
from .signatures import SAMPLE

FUNCTION: Final = ApiObject("function")
AT_LEAST: Final = 2  # calls, and forms that tell a rule from the others
CLASSES: Final = ("bool", "int", "float", "complex", "string")
DTYPES: Final = ("like", "real", "count", "truth", "part", "promote")
RANKS: Final = (
    "same", "+1", "-1", "+2", "-2", "reduce", "fold", "flat", "einsum", "mask", "gather", "reshape", "squeeze",
    "expand", "tile", "all", "above", "matmul",
)  # fmt: skip
FOLLOWING: Final = ("same", "+1", "-1", "+2", "-2")  # one argument, which may be named
OBJECTS: Final = {
    "tf.RaggedTensor": "@tf.RaggedTensor",
    "tf.SparseTensor": "@tf.SparseTensor",
    "tf.TensorShape": "shape",
}


@dataclass(frozen=True)
class Seen:
    """One call that was accepted: what went in as the analyser sees it, and what came out."""

    text: str
    call: Call
    option: str
    result: Any
    sizes: tuple[tuple[int, ...], ...]  # of the tensors that went in


def rule(name: str, row: Mapping[str, Any], random: bool, bounded: bool) -> dict[str, str]:
    """By option ("" for none, "compute_uv=False") the result. Empty where nothing can be said."""
    if _is_called(row) and kind_of(name) is None:  # a function that gives a function
        return {}
    seen = [_seen(called(name, row), one) for one in row["seen"]]
    if len(seen) < AT_LEAST or _kinds(row.get("traced", seen[0].result)) != _kinds(seen[0].result):
        return {}
    if not _is_the_call(name, row["seen"][0]["call"]):
        return {}
    if any(FUNCTION in leaves(one) for one in seen[0].call.arguments.values()):  # what comes out is what that returns
        return {}
    form = _form(seen[0].result)
    alike = [one for one in seen if _form(one.result) == form]
    others = [one for one in seen if _form(one.result) != form]
    several = [one for one in others if not one.option]
    if several and not (form[0] in "lu" and all(_form(one.result)[0] == form[0] for one in several)):
        return {}
    flag = _Flags(row, random, bounded, seen)
    if several:
        alike = [one for one in seen if _form(one.result)[0] == form[0]]
        others = [one for one in seen if _form(one.result)[0] != form[0]]
    found = {"": _result(alike, flag, lengths_vary=bool(several))}
    if "?" in found[""]:
        found |= _without(alike, flag, bool(several))
    for option in dict.fromkeys(one.option for one in others if one.option):
        group = [one for one in seen if one.option == option]
        if not _constant(option):
            return {}
        if len({_form(one.result) for one in group}) > 1:
            return {}
        found[option] = _result(group, flag, lengths_vary=False)
    return found if any(_tells(text) for text in found.values()) else {}


def _constant(option: str) -> bool:
    """Whether an option is written with a Python value, which the analyser may know."""
    try:
        ast.literal_eval(option.partition("=")[2])
    except (SyntaxError, ValueError):
        return False
    return True


def _tells(text: str) -> bool:
    return bool(text) and not text.startswith(("?/?", "[?/?"))


def _without(seen: Sequence[Seen], flag: _Flags, lengths_vary: bool) -> dict[str, str]:
    """The rules where one option has one of its own ("axis=None"): what all others agree in, and that."""
    whole = _result(seen, flag, lengths_vary)
    for option in dict.fromkeys(one.option for one in seen if _constant(one.option)):
        rest = [one for one in seen if one.option != option]
        without = _result(rest, flag, lengths_vary)
        if without.count("?") < whole.count("?"):
            return {"": without, option: _result([one for one in seen if one.option == option], flag, lengths_vary)}
    return {}


def called(name: str, row: Mapping[str, Any]) -> str:
    """What an event names the call: of a layer that is built and called the object."""
    return f"{name}.__call__" if _is_called(row) else name


def shape_only(row: Mapping[str, Any]) -> list[str]:
    """The parameters of which the compiler uses shape and dtype only."""
    known = row["seen"][0]["arguments"] if row["seen"] else {}
    return [name for name in row.get("idle", ()) if name in known and name not in row["deciding"]]


# -- reading ----------------------------------------------------------------------------------------------------------


def _is_the_call(name: str, text: str) -> bool:
    """Whether an expression is the call, and of nothing that is only made: its result is what is asked for."""
    last = name.rpartition(".")[2]
    match ast.parse(text, mode="eval").body:
        case ast.Call(func=ast.Call(func=maker)):
            return dotted(maker).endswith(last)
        case ast.Call(func=ast.Attribute(attr=attribute)):
            return attribute == last and not last[:1].isupper()
    return False


def _is_called(row: Mapping[str, Any]) -> bool:
    """Whether what was built is called, rather than the class."""
    return bool(row["seen"]) and ")(" in row["seen"][0]["call"]


def _seen(name: str, one: Mapping[str, Any]) -> Seen:
    given = {parameter: value(data) for parameter, data in one["arguments"].items()}
    owner = given.pop("self", None)
    call = Call(name, given, None, owner)
    return Seen(one["call"], call, one["option"], one["result"], tuple(_sizes(one["arguments"])))


def value(data: Mapping[str, Any]) -> Value:
    """What the analyser knows of an argument."""
    match data:
        case {"t": [dtype, sizes]}:
            return Tensor(Dependence.VALUE, dtype if dtype in CLASSES else None, None if sizes is None else len(sizes))
        case {"s": constant}:
            return Static(constant)
        case {"l": items} | {"u": items}:
            return Items("list" if "l" in data else "tuple", tuple(map(value, items)))
        case {"d": name}:
            return Api(name)
        case {"a": dtype}:
            return Array(dtype)
        case {"o": name}:
            return ApiObject(name)
    return UNKNOWN


def _sizes(arguments: Any) -> Iterator[tuple[int, ...]]:
    """The sizes of every tensor among these."""
    match arguments:
        case {"t": [_, list(sizes)]}:
            yield tuple(sizes)
        case dict():
            for inner in arguments.values():
                yield from _sizes(inner)
        case list():
            for inner in arguments:
                yield from _sizes(inner)


def _form(result: Mapping[str, Any]) -> str:
    """What kind of thing came out: `t`, `none`, `u(t,t)`, ..."""
    match result:
        case {"s": None}:
            return "none"
        case {"l": items} | {"u": items}:
            return f"{next(iter(result))}({','.join(map(_form, items))})"
        case {"o": name}:
            return f"o:{name}"
    return next(iter(result))


def _kinds(result: Mapping[str, Any]) -> str:
    """The form of a result, tuples and lists alike: what is a tuple eagerly is a list in some graphs."""
    return _form(result).replace("u(", "l(")


# -- results ----------------------------------------------------------------------------------------------------------


def _result(seen: Sequence[Seen], flag: _Flags, lengths_vary: bool) -> str:
    """The rule for calls that give things of one form; nothing where the language has no word for it."""
    form = _form(seen[0].result)
    match form[0], seen[0].result:
        case "t", _:
            return _tensor([(one, one.result) for one in seen], flag.of(None))
        case "s", _:
            return "static"
        case "n", _:
            return "none"
        case "d", _:
            return "dtype"
        case "a", _:
            return "array"
        case "o", {"o": name}:
            return OBJECTS.get(name, "")
        case "l" | "u", result:
            return _several(seen, flag, next(iter(result)), lengths_vary)
    return ""


def _several(seen: Sequence[Seen], flag: _Flags, kind: str, lengths_vary: bool) -> str:
    counts = {len(one.result[kind]) for one in seen}
    if not all("t" in item for one in seen for item in one.result[kind]):
        plain = all("s" in item for one in seen for item in one.result[kind])
        return "shape" if plain and kind == "u" and counts != {0} else ""
    if kind == "u" and len(counts) == 1 and not lengths_vary:
        items = range(counts.pop())
        parts = [_tensor([(one, one.result[kind][at]) for one in seen], flag.of(at)) for at in items]
        return ", ".join(parts) if len(parts) > 1 else ""
    inside = [(one, item) for one in seen for item in one.result[kind]]
    return f"[{_tensor(inside, flag.of(0))}]" if inside else ""


Pairs = Sequence[tuple[Seen, Mapping[str, Any]]]


def _tensor(pairs: Pairs, flag: str) -> str:
    dtypes = [(one, item["t"][0]) for one, item in pairs if item["t"][0] in CLASSES]
    ranks = [(one, len(item["t"][1])) for one, item in pairs if item["t"][1] is not None]
    whole = len(dtypes) == len(ranks) == len(pairs)
    dtype = _dtype(dtypes) if whole else "?"
    rank = _rank(ranks) if whole else "?"
    if flag == "fixed" and (rank.startswith(("0", "-")) or rank in ("reduce", "fold")):
        flag = ""
    if flag == "shape" and rank == "same":
        flag = "filled"
    return f"{dtype}/{rank}{f'/{flag}' if flag else ''}"


def _dtype(pairs: Sequence[tuple[Seen, str]]) -> str:
    plain = pairs[0][0]
    free = [(one, dtype) for one, dtype in pairs if not any(name in one.call.arguments for name in DTYPE_PARAMETERS)]
    found = {dtype for _, dtype in free}
    if len(found) == 1:
        # Of tensors that the call makes itself no other dtypes were tried; of all others, and taken or refused.
        decided = len(free) >= AT_LEAST and len(plain.sizes) == len(SAMPLE.findall(plain.text))
        return next(filter(lambda text: _gives(text, pairs), found), "?") if decided else "?"
    # Where all tensors must have one dtype, any of them tells it.
    alike = len(plain.sizes) > 1 and all(len({given.dtype for given in _given(one.call)}) <= 1 for one, _ in pairs)
    first = ("promote",) if alike else ()
    names = list(_tensors(plain.call))
    named = (f"{text}:{name}" for text in DTYPES[:-1] for name in names)
    rules = chain(first, DTYPES, named, (f"promote:{one}+{other}" for one, other in combinations(names, 2)))
    return next((text for text in rules if _gives(text, pairs)), "?")


def _gives(dtype: str, pairs: Sequence[tuple[Seen, str]]) -> bool:
    return all(tensor(dtype, "?", "", one.call).dtype == found for one, found in pairs)


def _rank(pairs: Sequence[tuple[Seen, int]]) -> str:
    rule = _rank_of_all(pairs)
    if rule == "?":  # what a call makes of a scalar in place of an array does not decide
        plain = pairs[0][0].sizes
        arrays = [(one, rank) for one, rank in pairs if one.sizes.count(()) <= plain.count(())]
        rule = _rank_of_all(arrays)
    return rule


def _rank_of_all(pairs: Sequence[tuple[Seen, int]]) -> str:
    found = {rank for _, rank in pairs}
    count = len(pairs[0][0].sizes)
    given = {tuple(map(len, one.sizes)) for one, _ in pairs if len(one.sizes) == count}
    if len(found) == 1:
        return str(found.pop()) if len(given) >= AT_LEAST and _lists_vary(pairs) else "?"
    named = (f"{text}:{name}" for text in FOLLOWING for name in _tensors(pairs[0][0].call))
    for text in chain(RANKS, named):
        said = [(tensor("?", text, "", one.call).rank, rank) for one, rank in pairs]
        sure = {rank for guess, rank in said if guess is not None}
        if len(sure) >= AT_LEAST and all(guess in (None, rank) for guess, rank in said) and _told(text, pairs):
            return text
    return "?"


def _lists_vary(pairs: Sequence[tuple[Seen, int]]) -> bool:
    """Whether every list of Python numbers, which may be a shape, came in more than one length."""
    lengths: dict[str, set[int]] = {}
    for one, _ in pairs:
        for name, given in one.call.arguments.items():
            if isinstance(given, Items) and given.items and all(isinstance(item, Static) for item in given.items):
                lengths.setdefault(name, set()).add(len(given.items))
    return all(len(found) > 1 for found in lengths.values())


def _told(text: str, pairs: Sequence[tuple[Seen, int]]) -> bool:
    """Whether the calls tell a product of matrices from other products: there is one of two stacks."""
    return text != "matmul" or any(len(one.sizes) > 1 and min(map(len, one.sizes)) > 2 for one, _ in pairs)


def _given(call: Call) -> Iterator[Tensor]:
    """The tensors that are passed as such."""
    return (one for one in (call.owner, *call.arguments.values()) if isinstance(one, Tensor))


def _tensors(call: Call) -> Iterator[str]:
    """The parameters that get tensors."""
    for name, given in call.arguments.items():
        if isinstance(given, Tensor | Items) and re.match(r"[a-z_]", name):
            yield name


class _Flags:
    """What the compiler says of the plain call."""

    def __init__(self, row: Mapping[str, Any], random: bool, bounded: bool, seen: Sequence[Seen]) -> None:
        self.traced = row.get("traced", {})
        self.random, self.bounded = random, bounded
        self.called = _is_called(row)
        tensors = {name for one in seen for name, given in one.call.arguments.items() if isinstance(given, Tensor)}
        self.idle = bool(row.get("idle")) and tensors.isdisjoint(row["deciding"]) and tensors <= set(row["idle"])
        self.fixed = _fixed(seen)

    def of(self, item: int | None) -> str:
        """The flag of a result, or of an item of it."""
        if self.called:
            return "layer"
        if self.random:
            return "chance"
        if self.bounded and self.unsized(item):
            return "bounded"
        if self.idle:
            return "shape"
        return "fixed" if self.fixed and item is None else ""

    def unsized(self, item: int | None) -> bool:
        """Whether the traced shape says that a size depends on data."""
        result = self.traced
        if item is not None:
            items = next(iter(result.values()), ())
            result = items[item] if item < len(items) else {}
        match result:
            case {"t": [_, list(sizes)]}:
                return None in sizes
        return "t" in result


def _fixed(seen: Sequence[Seen]) -> bool:
    """Whether the shape of the result stays while the first size of every tensor changes."""
    plain = seen[0]
    if not plain.sizes or not all(plain.sizes) or not plain.result.get("t", ["", None])[1]:
        return False
    lists = (one for one in plain.call.arguments.values() if isinstance(one, Items))
    if any(isinstance(leaf, Static) for one in lists for leaf in leaves(one)):
        return False  # a list of sizes, which may say that one is to be filled in
    changed: set[int] = set()
    for one in seen[1:]:
        if one.option or one.result.keys() != plain.result.keys():
            continue
        if list(map(len, one.sizes)) != list(map(len, plain.sizes)):
            continue
        moved = {at for at, (new, old) in enumerate(zip(one.sizes, plain.sizes, strict=True)) if new != old}
        if moved and one.result["t"][1] != plain.result["t"][1]:
            return False
        changed |= moved
    return changed == set(range(len(plain.sizes)))
