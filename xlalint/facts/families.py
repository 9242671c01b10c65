"""Why XLA has no kernel for an operation: the families of operations, and the rule that is about each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final


@dataclass(frozen=True, slots=True)
class Family:
    """Operations that XLA lacks for one reason. `code` is the rule about them."""

    code: str | None
    why: str


NO_KERNEL: Final = "XLA401"
# (what the operations are called, the family); the first match wins.
_FAMILIES: Final[tuple[tuple[str, Family], ...]] = (
    (
        r"(?:Eager)?PyFunc\w*",
        Family("XLA402", "it calls back into Python, and a compiled program cannot leave the device to do so"),
    ),
    (
        r"PrintV?2?|StringFormat|Write\w*Summary|\w+SummaryV?2?|DebugNumericSummary\w*|DebugIdentity\w*|Timestamp",
        Family("XLA403", "it prints, logs or takes the time, which only the host can do"),
    ),
    (
        r"\w*LookupTable\w*|\w*HashTable\w*|InitializeTable\w*|String\w*|\w*String|Regex\w*|StaticRegex\w*|Substr"
        r"|Unicode\w*|\w*(?:Base64|JSON\w*)|AsString|ReduceJoin|Text\w*|LookupTable\w*|UnsortedSegmentJoin",
        Family("XLA404", "it works on strings or on a lookup table, and XLA has no strings"),
    ),
    (
        r"(?:Read|Write|Matching)Files?|Decode\w*|Encode\w*|SerializeTensor|Parse\w*|\w*Iterator\w*|\w*Dataset\w*|Save\w*|Restore\w*"
        r"|ExtractJpegShape|\w*Reader\w*",
        Family("XLA405", "it reads or decodes files or data sets, which only the host can do"),
    ),
    (
        r"Collective\w*|Nccl\w*|Horovod\w*",
        Family(None, "it exchanges values between devices from outside the program; leave `jit_compile` off here"),
    ),
    (
        r"CudnnRNN\w*",
        Family(NO_KERNEL, "it belongs to cuDNN; `use_cudnn=False` in `keras.layers.LSTM` and `GRU` avoids it"),
    ),
    (r"Assert", Family("XLA601", "older versions refuse assertions; TensorFlow 2.21 ignores them")),
    (r"Unique\w*|\w*SetOperation|SetSize|ListDiff", Family("XLA202", "how many values remain depends on data")),
    (r"\w*NonMaxSuppression\w*", Family("XLA208", "how many boxes remain depends on data")),
    (r"Where", Family("XLA203", "how many indices there are depends on data")),
    (r"Ragged\w*|\w*Sparse\w*|DynamicPartition\w*", Family("XLA207", "the lengths of its parts depend on data")),
)


@cache
def family(op: str) -> Family:
    """The family of an operation."""
    return next((found for names, found in _FAMILIES if re.fullmatch(names, op)), Family(NO_KERNEL, ""))


def rules_about() -> frozenset[str]:
    """The codes of all rules about families."""
    return frozenset(found.code for _, found in _FAMILIES if found.code is not None) | {NO_KERNEL}
