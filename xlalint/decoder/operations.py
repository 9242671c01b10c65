"""Operations without an XLA kernel, as XLA reports them: which rule is about them, and why they have none."""

from __future__ import annotations

import re
from typing import Final

from ..facts import tables
from ..facts.errors.pattern import Candidate, Pattern, wording
from ..facts.families import NO_KERNEL, family
from ..facts.kernels import listed

# Kernels are missing; TensorFlow 1 lists the operations only.
UNSUPPORTED_LIST: Final = wording(
    r"unsupported operations when trying to compile graph [^\n]*? on (?P<device>XLA_\w+):\s*"
)
LISTED: Final = re.compile(r"(?:\w+, )*\w+(?=\*{0,2}\s*(?:\n|\[\[|$))")
# A kernel is missing.
UNSUPPORTED: Final = wording(
    r"No registered `(?P<op>\w+)` OpKernel for (?P<device>XLA_\w+)"
    r"(?: devices compatible with node (?:\{\{(?P<node>[^}\n]*)\}\}|\w*)"
    r"(?:\n?\s*\(OpKernel was found, but attributes didn't match\) Requested Attributes: (?P<attributes>[^\n]*))?)?"
)
_NAMES: Final = {device: f"the {device.upper()}" for device in tables.DEVICES}
_COLUMNS: Final = {f"XLA_{device.upper()}_JIT": device for device in tables.DEVICES}
_TYPE: Final = re.compile(r"\b(?:T\w*|dtype)=(DT_\w+)")
_LIST_OF_LISTS: Final = "element_dtype=DT_VARIANT"  # a list of lists, or of ragged tensors
_OF_GRADIENT: Final = re.compile(r"node (?:gradient_tape|gradients)/")  # the nodes of a gradient
# Operations that several calls make.
_SHARED: Final = {
    "StringFormat": (
        Candidate("XLA403", "it comes from `tf.print`"),
        Candidate("XLA404", "it comes from `tf.strings.format`", frozenset(("call format",))),
    ),
    "TensorListResize": (Candidate("XLA204", "it comes from a `tf.TensorArray` that has to grow"),),
}
_LAYER: Final = Candidate("XLA408", "it comes from a Keras preprocessing layer", frozenset(("preprocessing layer",)))
# What XLA itself puts where an operation is moved to the host.
_OF_XLA: Final = frozenset(("XlaHostCompute", "XlaSendToHost", "XlaRecvFromHost"))
_MOVED: Final = (
    "`{op}` is no operation of the program: soft placement moves an operation that the TPU has no kernel for to the"
    " host, and this one takes or returns what cannot be moved (a list of tensors, a string)."
)
_AT_HOME: Final = (
    "Turn soft placement off (`tf.config.set_soft_device_placement(False)`) to see which operation has no kernel, and"
    " do it outside the compiled function."
)
# A list of tensors, an optional or a ragged tensor stands behind `DT_VARIANT`.
_LIST: Final = (
    "A list of tensors (of a loop, a `tf.TensorArray`, a conditional or its gradient) reaches `{op}`, and XLA's kernel"
    " on {where} does not take that."
)
_OF_LISTS: Final = (
    Candidate("XLA109", "it is the gradient of a conditional with a loop in it", frozenset(("call gradient",))),
    Candidate("XLA204", "the `tf.TensorArray` has no static size", frozenset(("call TensorArray", "call write"))),
    Candidate("XLA207", "what `tf.map_fn` puts together are ragged tensors", frozenset(("call map_fn",))),
)
_IN_GRADIENT: Final = (
    Candidate("XLA407", "it is the gradient of a call"),
    Candidate("XLA410", "the call itself has that dtype"),
)
_ELSEWHERE: Final = "do it outside the compiled function: in dataset.map, or on what the function returns"
_STRINGS: Final = "XLA404"
_DTYPE: Final = "XLA410"
_OPTION: Final = "XLA406"
_TPU_DTYPE: Final = "XLA507"


def operation_error(op: str, device: str, attributes: str | None, node: str = "") -> tuple[Pattern, str]:
    """The pattern of an operation that has no kernel for a device, and the reason in words; `node`: that of the graph
    which needs it."""
    where = _NAMES.get(_COLUMNS.get(device, ""), device)
    dtype = match[1] if attributes and (match := _TYPE.search(attributes)) else None
    if dtype == "DT_STRING":
        return _pattern(_STRINGS, op), f"A string reaches `{op}`, and XLA has no strings on {where}."
    if attributes is not None and "TPU" in device and "DT_COMPLEX128" in attributes:
        return _pattern(_TPU_DTYPE, op), f"XLA's kernel for `{op}` on {where} takes complex64, but not complex128."
    if op in _OF_XLA:
        return Pattern(UNSUPPORTED, "", (), _AT_HOME, compiled=True), _MOVED.format(op=op)
    if dtype == "DT_VARIANT" or (attributes is not None and _LIST_OF_LISTS in attributes):
        return Pattern(UNSUPPORTED, "", _OF_LISTS, _ELSEWHERE, compiled=True), _LIST.format(op=op, where=where)
    if attributes is not None and dtype and _OF_GRADIENT.match(node):
        said = f"The gradient needs `{op}` for {_plain(dtype)}, and XLA's kernel on {where} does not take that."
        return Pattern(UNSUPPORTED, "", _IN_GRADIENT, compiled=True), said
    if attributes is not None:
        kind = _plain(dtype) if dtype else "these attributes"
        code = _DTYPE if dtype else _OPTION
        return _pattern(code, op), f"XLA has a kernel for `{op}` on {where}, but not for {kind}."
    found = family(op)
    measured = _since(op, device)
    if measured is not None:
        candidates = _candidates(found.code, op) if found.code != NO_KERNEL else ()
        reason = f"That version of TensorFlow has no XLA kernel for `{op}` on {where}; {measured} has one."
        return Pattern(UNSUPPORTED, "", candidates, f"TensorFlow {measured} or later", compiled=True), reason
    if _OF_GRADIENT.match(node) and found.code not in (None, NO_KERNEL):
        candidates = (_IN_GRADIENT[0], *_candidates(found.code, op))
        said = f"The gradient of a call needs `{op}`, and XLA has no kernel for that on {where}.{_others(op)}"
        return Pattern(UNSUPPORTED, "", candidates, _ELSEWHERE, compiled=True), said
    why = f": {found.why}" if found.why else ""
    makers = [f"`{maker}`" for maker in _makers(op)]
    made = f" It comes from {' or '.join(makers[:3])}." if makers else ""
    return _pattern(found.code, op), f"XLA has no kernel for `{op}` on {where}{why}.{_others(op)}{made}"


def _plain(dtype: str) -> str:
    """A dtype as users write it."""
    return dtype.removeprefix("DT_").lower()


def _since(op: str, device: str) -> str | None:
    """The oldest measured version that has a kernel of the operation for the device, where the newest has one."""
    having = None
    for version in tables.versions():
        fact = tables.op(op, version)
        kernel = None if fact is None else fact.kernels.get(_COLUMNS.get(device, ""))
        if kernel is None or not kernel.supported:
            break
        having = kernel.version
    return having


def _others(op: str) -> str:
    """The devices that have a kernel where the one that was asked has none."""
    fact = tables.op(op)
    having = [] if fact is None else [_NAMES[device] for device, kernel in fact.kernels.items() if kernel.supported]
    return f" There is one for {listed(having)}." if having else ""


def _pattern(code: str | None, op: str) -> Pattern:
    from ..facts.replacements import instead_of_op

    usual = _candidates(code, op)
    option, only = _special(op)
    candidates = (*option, *usual, *_layers(op)) if only else (*usual, *option, *_layers(op))
    instead = instead_of_op(op) or (_ELSEWHERE if code == NO_KERNEL else None)
    return Pattern(UNSUPPORTED, "", candidates, instead, compiled=True)


def _candidates(code: str | None, op: str) -> tuple[Candidate, ...]:
    """The rules about an operation, whatever makes it."""
    return _SHARED.get(op) or ((Candidate(code, "the operation has no XLA kernel"),) if code is not None else ())


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
    if family(op).code != NO_KERNEL or op in _SHARED:
        return (), False
    if any(op in case.missing for first, case in cases if case is not first):
        return (Candidate("XLA406", "XLA has no kernel for the value of an option"),), not plain
    if any(op in case.gradient_missing for _, case in cases):
        return (Candidate("XLA407", "XLA has no kernel for the gradient of a call"),), not plain
    return (), False
