"""Why a finding is no more than information where the program is such that it does no harm there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ..analysis.interpreter.contexts import ContextKind
from ..analysis.program.exposure import Exposed
from ..findings.findings import Exposure

UNUSED: Final = "no script here is seen to call this function"
UNSEEN: Final = "nothing here is seen to use it"
INFERRED: Final = "no step of training or evaluation is seen to lead to this code"
LEFT_OUT: Final = "autoclustering leaves out what XLA refuses"
CONVERTED: Final = "the program uses APIs that only Keras 2 has, and Keras 2 converts this with AutoGraph"
DIRECT: Final = "host code alone is seen to call this, line by line"
OFF: Final = "by default this function returns what it is passed, before this"
UNTRACED: Final = "nothing here is seen to trace a model"
ON_HOST: Final = "soft placement has the host run what a TPU has no kernel for"
PLAIN: Final = "a `tf.function` without `jit_compile` runs this"
TAKEN: Final = "the program uses APIs that only Keras 2 has, and Keras 2 takes this"
UNASKED: Final = "nothing here asks for XLA, so that the program loses nothing"
PERHAPS_COMPILED: Final = "a `tf.function` of the program may call this"
UNCOMPILED: Final = "nothing here asks for XLA"
UNTRAINED: Final = "XLA compiles no step of training here as a whole"
_SILENT: Final = (PERHAPS_COMPILED, UNCOMPILED, UNTRAINED)  # there is nothing to be said at all
OUT_OF_PLAY: Final = frozenset((CONVERTED, DIRECT, OFF, ON_HOST, UNSEEN, UNTRACED, TAKEN))


def reasons_of(exposed: Exposed, kind: str | None) -> dict[str, bool]:
    """Which of the reasons hold in such a program, for code of this kind."""
    unseen = exposed.exposure is Exposure.NONE
    return {
        UNUSED: exposed.whole and not exposed.told,
        UNSEEN: exposed.whole and not exposed.told,
        INFERRED: exposed.whole and (exposed.trains or kind != ContextKind.XLA),
        DIRECT: (exposed.whole or unseen) and not exposed.symbolic and not exposed.told,
        OFF: True,
        UNTRACED: exposed.whole and unseen and not exposed.traced,
        ON_HOST: exposed.soft and exposed.tpu_alone,
        CONVERTED: exposed.keras_2,
        PLAIN: exposed.whole and not exposed.clusters and not exposed.told,
        UNASKED: exposed.keras_decides,
        TAKEN: exposed.keras_2,
        PERHAPS_COMPILED: exposed.functions,
        UNCOMPILED: not (exposed.told or exposed.clusters or exposed.exposure is Exposure.CERTAIN),
        UNTRAINED: exposed.whole and not (exposed.told or exposed.steps),
    }


def is_silent(lowered_by: Collection[str], exposed: Exposed) -> bool:
    """Whether such a program has no use for what is lowered by these."""
    holds = reasons_of(exposed, None)
    return any(holds[reason] for reason in _SILENT if reason in lowered_by)
