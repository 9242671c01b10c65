"""Operations without an XLA kernel, as XLA reports them: which rule is about them, and why they have none."""

from __future__ import annotations

import re
from typing import Final

from ..facts import tables
from ..facts.families import NO_KERNEL, family
from .patterns import Candidate, Pattern, wording

_DEVICES: Final = {"XLA_CPU_JIT": "the CPU", "XLA_GPU_JIT": "the GPU", "XLA_TPU_JIT": "the TPU"}
_TYPE: Final = re.compile(r"\bT\w*=(DT_\w+)")
# Operations that several calls make.
_SHARED: Final = {
    "StringFormat": (
        Candidate("XLA403", "`tf.print` makes it"),
        Candidate("XLA404", "`tf.strings.format` makes it", frozenset(("call format",))),
    ),
}
_LAYER: Final = Candidate("XLA408", "a Keras layer for preprocessing makes it", frozenset(("preprocessing layer",)))
_ELSEWHERE: Final = "do it outside of the compiled function: in dataset.map, or on what the function returns"
_STRINGS: Final = "XLA404"
_DTYPE: Final = "XLA410"
_OPTION: Final = "XLA406"
_TPU_DTYPE: Final = "XLA507"


def operation_error(op: str, device: str, attributes: str | None) -> tuple[Pattern, str]:
    """The pattern of an operation that has no kernel for a device, and the reason in words."""
    where = _DEVICES.get(device, device)
    dtype = match[1] if attributes and (match := _TYPE.search(attributes)) else None
    if dtype == "DT_STRING":
        return _pattern(_STRINGS, op), f"A string reaches `{op}`, and XLA has no strings on {where}."
    if attributes is not None and "TPU" in device and "DT_COMPLEX128" in attributes:
        return _pattern(_TPU_DTYPE, op), f"XLA has no kernel of `{op}` for complex128 on {where}; complex64 it has."
    if attributes is not None:
        kind = dtype.removeprefix("DT_").lower() if dtype else "these attributes"
        code = _DTYPE if dtype else _OPTION
        return _pattern(code, op), f"XLA has a kernel of `{op}` for {where}, but not for {kind}."
    found = family(op)
    why = f": {found.why}" if found.why else ""
    makers = [f"`{maker}`" for maker in _makers(op)]
    made = f" It is what {' or '.join(makers[:3])} becomes." if makers else ""
    return _pattern(found.code, op), f"XLA has no kernel of `{op}` for {where}{why}.{made}"


def _pattern(code: str | None, op: str) -> Pattern:
    from ..facts.replacements import instead_of_op

    usual = _SHARED.get(op) or ((Candidate(code, "the operation has no XLA kernel"),) if code is not None else ())
    option, only = _special(op)
    candidates = (*option, *usual, *_layers(op)) if only else (*usual, *option, *_layers(op))
    instead = instead_of_op(op) or (_ELSEWHERE if code == NO_KERNEL else None)
    return Pattern(wording("No registered"), "", candidates, instead, compiled=True)


def _makers(op: str) -> list[str]:
    """The calls that were measured to fail for want of the operation's kernel, with the option that makes it."""
    found: dict[str, str] = {}
    for fact in tables.apis():
        for case in fact.cases:
            if op in case.missing[:1] and len(case.varied) < 2:
                options = ", ".join(f"{name}={written}" for name, written in case.varied.items())
                found.setdefault(fact.name, f"{fact.name}(.., {options})" if options else fact.name)
    return sorted(found.values(), key=lambda text: (text.count("."), len(text)))


def _layers(op: str) -> tuple[Candidate, ...]:
    """The rule about layers, where one makes the operation."""
    layers = (fact for fact in tables.apis() if fact.name.startswith("keras.layers."))
    return (_LAYER,) if any(op in case.missing for fact in layers for case in fact.cases) else ()


def _special(op: str) -> tuple[tuple[Candidate, ...], bool]:
    """The rules about options and gradients, where one makes the operation; and whether nothing else does."""
    cases = [(fact.plain, case) for fact in tables.apis() for case in fact.cases]
    plain = any(op in first.missing for first, _ in cases if first is not None)
    if family(op).code != NO_KERNEL:
        return (), False
    if any(op in case.missing for first, case in cases if case is not first):
        return (Candidate("XLA406", "the value of an option has no kernel"),), not plain
    if any(op in case.gradient_missing for _, case in cases):
        return (Candidate("XLA407", "the gradient of a call has no kernel"),), not plain
    return (), False
