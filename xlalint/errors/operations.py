"""Operations without an XLA kernel: which rule is about them, and why they have none."""

from __future__ import annotations

import re
from typing import Final

from .patterns import Candidate, Pattern, wording

# (what the operations are called, the rule about them, the reason); the first match wins.
FAMILIES: Final[tuple[tuple[str, str | None, str], ...]] = (
    (
        r"(?:Eager)?PyFunc\w*",
        None,
        "it calls back into Python, and a compiled program cannot leave the device to do so",
    ),
    (
        r"PrintV?2?|StringFormat|Write\w*Summary|\w+SummaryV?2?|DebugNumericSummary\w*|DebugIdentity\w*|Timestamp",
        None,
        "it prints, logs or takes the time, which only the host can do",
    ),
    (
        r"\w*LookupTable\w*|\w*HashTable\w*|InitializeTable\w*|String\w*|\w*String|Regex\w*|Substr|Unicode\w*"
        r"|\w*(?:Base64|JSON\w*)|AsString|ReduceJoin|Text\w*",
        None,
        "it works on strings or on a lookup table, and XLA has no strings",
    ),
    (
        r"(?:Read|Write|Matching)Files?|\w*Decode\w*|Encode\w*|Parse\w*|\w*Iterator\w*|\w*Dataset\w*|Save\w*|Restore\w*",
        None,
        "it reads or decodes files, which only the host can do",
    ),
    (
        r"Collective\w*|Nccl\w*|Horovod\w*",
        None,
        "it exchanges values between devices from outside the program; under this strategy leave `jit_compile` off",
    ),
    (r"Unique\w*|\w*SetOperation|SetSize|ListDiff", "XLA202", "how many values remain depends on data"),
    (r"\w*NonMaxSuppression\w*", "XLA208", "how many boxes remain depends on data"),
    (r"Where", "XLA203", "how many positions there are depends on data"),
    (r"Ragged\w*|\w*Sparse\w*|DynamicPartition\w*", "XLA207", "the lengths of its parts depend on data"),
)
_DEVICES: Final = {
    "XLA_CPU_JIT": "the CPU",
    "XLA_GPU_JIT": "the GPU",
    "XLA_TPU_JIT": "the TPU",
}
_TYPE: Final = re.compile(r"\bT\w*=(DT_\w+)")


def operation_error(op: str, device: str, attributes: str | None) -> tuple[Pattern, str]:
    """The pattern of an operation that has no kernel for a device, and the reason in words."""
    where = _DEVICES.get(device, device)
    dtype = match[1] if attributes and (match := _TYPE.search(attributes)) else None
    if dtype == "DT_STRING":
        return _pattern(None), f"A string reaches `{op}`, and XLA has no strings on {where}."
    if attributes is not None:
        kind = dtype.removeprefix("DT_").lower() if dtype else "these attributes"
        return _pattern(None), f"XLA has a kernel of `{op}` for {where}, but not for {kind}."
    code, why = next(
        ((code, f": {why}") for names, code, why in FAMILIES if re.fullmatch(names, op)), (None, "")
    )
    return _pattern(code), f"XLA has no kernel of `{op}` for {where}{why}."


def _pattern(code: str | None) -> Pattern:
    candidates = (Candidate(code, "the operation has no XLA kernel"),) if code is not None else ()
    return Pattern(wording("No registered"), "", candidates, compiled=True)
