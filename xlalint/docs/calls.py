"""The pages of "Can XLA compile it?": one for each measured call and operation, and the table of all of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from posixpath import dirname, relpath
from typing import Final

from ..facts import gpu, jax, names, tables, tpu
from ..facts.families import NO_KERNEL, family
from ..facts.kernels import lacking, missing_of
from ..facts.replacements import instead_of_op, replacements
from ..facts.tables import WORDS, ApiFact, Case, Gradient, OpFact, Outcome
from ..facts.tpu import TpuOutcome
from ..findings.codes import rule_names
from ..findings.site import CALLS, call_page, operation_page, rule_page
from ..reports.page.markup import Markup, element
from ..reports.page.prose import inline
from .cells import GRADIENTS, KERNELS, NO, OUTCOMES, TPU_OUTCOMES, UNKNOWN, cell, jax_cell

_DEVICES: Final = {"cpu": "CPU", "gpu": "GPU", "tpu": "TPU"}
_COLUMNS: Final = ("Name", "Kind", "CPU", "GPU", "TPU", "Gradient", "JAX")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site: where it is (`xla/functions/tf.abs`), its title, and the HTML between head and foot."""

    name: str
    title: str
    body: str


def pages() -> Iterator[Page]:
    """One for each call and operation, by name."""
    for name in tables.api_names():
        yield _of_call(name)
    for name in tables.op_names():
        yield _of_operation(name)


# -- calls ------------------------------------------------------------------------------------------------------------


def _of_call(name: str) -> Page:
    page = call_page(name)
    fact = _newest(name)
    parts = [*_heading(name, "A call of TensorFlow or Keras."), *_others(name)]
    if fact.untested:
        parts.append(element("p", "Not measured: ", inline(fact.untested), "."))
    if fact.plain is not None:
        parts += [
            *_section("By device", _table(("", "The call", "Its gradient"), _by_device(fact)), _how(fact.plain)),
            *_section("By version", _table(("TensorFlow", "On a CPU"), _by_version(fact.name))),
            *_section("By argument", *_by_argument(fact)),
            *_section("Instead", *_instead(fact)),
            *_section("Why", *_why(page, fact.plain)),
            *_section("Operations", *_operations(page, fact.plain)),
        ]
    return Page(page.removesuffix(".html"), name, "".join(map(str, parts)))


@cache
def _newest(name: str) -> ApiFact:
    """What the newest version says that has the call."""
    return next(fact for version in tables.versions() if (fact := tables.api(name, version)) is not None)


def _by_device(fact: ApiFact) -> Iterator[tuple[Markup, ...]]:
    plain = fact.plain
    assert plain is not None
    yield element("th", f"CPU, TensorFlow {fact.version}", scope="row"), _outcome(plain, fact.version), _gradient(plain)
    yield _gpu(plain)
    found = tpu.of_call(plain.call)
    gradient = None if found is None else found.gradient
    yield (
        element("th", "TPU, by its compiler", scope="row"),
        _tpu(found),
        element("td") if gradient is None else _tpu(gradient),
    )
    if (with_jax := jax.of_call(fact.name, plain.call)) is not None:
        kind, said = GRADIENTS[with_jax.gradient]
        why = f": {with_jax.gradient_detail}" if with_jax.gradient_detail else ""
        yield element("th", f"CPU, {jax.versions()}", scope="row"), jax_cell(with_jax), cell(kind, said + why)


def _gpu(case: Case) -> tuple[Markup, ...]:
    found = gpu.of_call(case.call)
    if found is None:
        return element("th", "GPU, by its kernels", scope="row"), cell(*_by_kernels(case)), element("td")
    told = element("td") if case.gradient is Gradient.NONE else cell(*GRADIENTS[found.gradient])
    return element("th", gpu.stack()[1], scope="row"), cell(OUTCOMES[found.outcome][0], found.said()), told


def _by_kernels(case: Case) -> tuple[str, str]:
    lacking_it = [op for op in case.ops if _supported(op, "gpu") is False]
    if lacking_it:
        return NO, f"no kernel for {', '.join(f'`{op}`' for op in lacking_it)}"
    return KERNELS[True if case.ops else None]


def _supported(op: str, device: str) -> bool | None:
    fact = tables.op(op)
    kernel = None if fact is None else fact.kernels.get(device)
    return None if kernel is None else kernel.supported


def _tpu(found: tpu.OnTpu | None) -> Markup:
    return cell(UNKNOWN, "not measured") if found is None else cell(TPU_OUTCOMES[found.outcome][0], found.said())


def _outcome(case: Case, version: str) -> Markup:
    missing = missing_of(case)
    if missing:
        return cell(NO, lacking(missing, version))
    said = f"{WORDS[case.outcome]}: {case.detail}" if case.detail else WORDS[case.outcome]
    return cell(OUTCOMES[case.outcome][0], said)


def _gradient(case: Case) -> Markup:
    kind, said = GRADIENTS[case.gradient]
    if case.gradient_missing:
        said += f": no kernel for {', '.join(f'`{op}`' for op in case.gradient_missing)}"
    return cell(kind, said)


def _by_version(name: str) -> Iterator[tuple[Markup, ...]]:
    for version in tables.versions():
        fact = tables.api(name, version)
        plain = None if fact is None else fact.plain
        found = _outcome(plain, version) if plain else cell(UNKNOWN, "not measured" if fact else "no such call")
        yield element("th", version, scope="row"), found


def _by_argument(fact: ApiFact) -> Iterator[Markup]:
    rows: list[tuple[Markup, ...]] = []
    for case in fact.cases[1:]:
        written = ", ".join(f"{name}={value}" for name, value in case.varied.items())
        named = element("th", element("code", written), scope="row")
        with_jax = jax_cell(jax.of_call(fact.name, case.call))
        rows.append((named, _outcome(case, fact.version), _tpu(tpu.of_call(case.call)), _gradient(case), with_jax))
    for found in jax.options(fact.name).values():
        written = ", ".join(f"{name}={value}" for name, value in found.varied.items())
        named = element("th", element("code", written), scope="row")
        rows.append((named, *(element("td", "as without it") for _ in range(3)), jax_cell(found)))
    if rows:
        yield _table(("With", "On a CPU", "For a TPU", "Its gradient", "With JAX"), rows)
    if fact.same:
        items = (element("li", element("code", f"{name}={' | '.join(told)}")) for name, told in fact.same.items())
        yield element("p", "Nothing changes with:")
        yield element("ul", items)


def _instead(fact: ApiFact) -> Iterator[Markup]:
    found = replacements().get(fact.name)
    if found is not None:
        yield _code(found.instead)
        if found.note:
            yield element("p", inline(f"{found.note[:1].upper()}{found.note[1:]}."))
        tried = f"Tried on the compiler: `{found.before}` fails, `{found.after}` compiles."
        yield element("p", inline(tried))


def _why(page: str, case: Case) -> Iterator[Markup]:
    missing = missing_of(case)
    if missing:
        about = family(missing[0])
        code = about.code or NO_KERNEL
        if about.why:
            yield element("p", inline(f"{about.why[:1].upper()}{about.why[1:]}."))
        link = element("a", f"{code} {rule_names()[code]}", href=_to(rule_page(code), page))
        yield element("p", "Rule: ", link, ".")


def _operations(page: str, case: Case) -> Iterator[Markup]:
    if case.ops:
        yield element("p", "Operations of the call:")
        yield element("ul", (element("li", _op_link(op, page)) for op in case.ops))


def _op_link(op: str, page: str) -> Markup:
    code = element("code", op)
    return code if tables.op(op) is None else element("a", code, href=_to(operation_page(op), page))


def _how(case: Case) -> Markup:
    versions, topology = tpu.stack()
    return element(
        "p",
        "Measured: ",
        element("code", case.call),
        ". On a CPU, the call was compiled with ",
        element("code", "tf.function(jit_compile=True)"),
        f" and run, and likewise on a GPU ({gpu.stack()[0]}). The TPU compiler compiled it by its shapes alone, for "
        f"{topology} ({versions}).",
    )


@cache
def _spellings() -> Mapping[str, tuple[str, ...]]:
    """By canonical name: how else the call is spelled."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for other, name in names.aliases().items():
        found[name].append(other)
    return {name: tuple(sorted(others)) for name, others in found.items()}


def _others(name: str) -> Iterator[Markup]:
    if others := _spellings().get(name):
        codes = [piece for other in others for piece in (element("code", other), ", ")][:-1]
        yield element("p", "Also: ", codes, ".")


# -- operations -------------------------------------------------------------------------------------------------------


def _of_operation(name: str) -> Page:
    page = operation_page(name)
    fact = _newest_op(name)
    parts = [
        *_heading(name, "An operation of TensorFlow’s registry."),
        *_section("Kernels", _table(("Device", "XLA", "Dtypes"), _kernels(fact))),
        *_section("Constants", *_constants(fact)),
        *_section("Why", *_why_not(page, fact)),
        *_section("Used by", *_makers(page, name)),
    ]
    return Page(page.removesuffix(".html"), name, "".join(map(str, parts)))


@cache
def _newest_op(name: str) -> OpFact:
    measured = sorted({version for version, _ in tables.measured_kernels()}, key=tables.numbers, reverse=True)
    return next(fact for version in measured if (fact := tables.op(name, version)) is not None)


def _kernels(fact: OpFact) -> Iterator[tuple[Markup, ...]]:
    for version, device in tables.measured_kernels():
        found = tables.op(fact.name, version)
        kernel = None if found is None else found.kernels.get(device)
        there = kernel is not None and kernel.version == version
        dtypes = "; ".join(f"{at}: {' '.join(dtypes)}" for at, dtypes in kernel.dtypes.items()) if kernel else ""
        said = KERNELS[kernel.supported] if kernel is not None and there else (UNKNOWN, "no such operation")
        yield (
            element("th", f"{_DEVICES[device]}, TensorFlow {version}", scope="row"),
            cell(*said),
            element("td", dtypes if there else ""),
        )


def _constants(fact: OpFact) -> Iterator[Markup]:
    if fact.constants:
        named = [piece for name in fact.constants for piece in (element("code", name), ", ")][:-1]
        yield element("p", "These inputs must be compile-time constants: ", named, ".")


def _why_not(page: str, fact: OpFact) -> Iterator[Markup]:
    if fact.lacking():
        about = family(fact.name)
        if about.why:
            yield element("p", inline(f"{about.why[:1].upper()}{about.why[1:]}."))
        if (instead := instead_of_op(fact.name)) is not None:
            yield element("p", "Instead:")
            yield _code(instead)
        code = about.code or NO_KERNEL
        link = element("a", f"{code} {rule_names()[code]}", href=_to(rule_page(code), page))
        yield element("p", "Rule: ", link, ".")


@cache
def _made_by() -> Mapping[str, Sequence[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for fact in tables.apis():
        for op in fact.plain.ops if fact.plain is not None else ():
            found[op].append(fact.name)
    return {op: sorted(calls, key=lambda name: (name.count("."), name)) for op, calls in found.items()}


def _makers(page: str, op: str) -> Iterator[Markup]:
    if makers := _made_by().get(op):
        links = (element("a", element("code", name), href=_to(call_page(name), page)) for name in makers)
        yield element("ul", (element("li", link) for link in links))


# -- the table of all -------------------------------------------------------------------------------------------------


def table() -> str:
    """All calls and operations, a row each, with what the page's script filters by (Markdown)."""
    rows = [_row_of_call(name) for name in sorted(tables.api_names())]
    rows += [_row_of_op(name) for name in sorted(tables.op_names())]
    head = element("thead", element("tr", (element("th", name, scope="col") for name in _COLUMNS)))
    whole = element("table", head, element("tbody", rows), id="calls", class_="facts")
    found = element("div", whole, class_="table-wrapper", tabindex=0)
    return f"```{{raw}} html\n{found}\n```"


def _row_of_call(name: str) -> Markup:
    fact = _newest(name)
    plain, kind = fact.plain, "class" if "/classes/" in call_page(name) else "function"
    if plain is None:
        cells = [cell(*OUTCOMES[Outcome.UNTESTED])] * 5
    else:
        found = tpu.of_call(plain.call)
        on_gpu = gpu.of_call(plain.call)
        with_jax = jax.of_call(name, plain.call)
        cells = [
            cell(*OUTCOMES[plain.outcome]),
            cell(*OUTCOMES[Outcome.UNTESTED if on_gpu is None else on_gpu.outcome]),
            cell(*TPU_OUTCOMES[TpuOutcome.UNTESTED if found is None else found.outcome]),
            cell(*GRADIENTS[plain.gradient]),
            cell(UNKNOWN, "") if with_jax is None else cell(*OUTCOMES[with_jax.outcome]),
        ]
    return _row(name, call_page(name), kind, cells, " ".join(_spellings().get(name, ())))


def _row_of_op(name: str) -> Markup:
    kernels = _newest_op(name).kernels
    devices = (kernels.get(device) for device in _DEVICES)
    cells = [cell(*KERNELS[None if kernel is None else kernel.supported]) for kernel in devices]
    return _row(name, operation_page(name), "operation", [*cells, element("td"), element("td")])


def _row(name: str, page: str, kind: str, cells: Sequence[Markup], others: str = "") -> Markup:
    link = element("a", element("code", name), href=_to(page, CALLS))
    return element("tr", element("th", link, scope="row"), element("td", kind), cells, data_also=others or None)


# -- pieces -----------------------------------------------------------------------------------------------------------


def _heading(name: str, what: str) -> Iterator[Markup]:
    yield element("h1", element("code", name))
    yield element("p", what)


def _section(title: str, *content: Markup) -> Iterator[Markup]:
    """A heading and what is under it; nothing where that is nothing."""
    if content:
        anchor = re.sub(r"\W+", "-", title.lower())
        yield element("section", element("h2", title), content, id=anchor)


def _table(heads: Sequence[str], rows: Iterator[tuple[Markup, ...]] | Sequence[tuple[Markup, ...]]) -> Markup:
    head = element(
        "thead", element("tr", (element("th", name, scope="col") if name else element("td") for name in heads))
    )
    body = element("tbody", (element("tr", row) for row in rows))
    return element("div", element("table", head, body, class_="facts"), class_="table-wrapper", tabindex=0)


def _code(text: str) -> Markup:
    return element("div", element("pre", element("code", text), tabindex=0), class_="highlight")


def _to(page: str, start: str) -> str:
    """A link from one page to another."""
    return relpath(page, dirname(start))
