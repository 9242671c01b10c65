"""What calls with other sizes bear out: that what is open in a signature, or in the input of a model, is compiled for
each size.

    inputs = keras.Input(shape=(None, 3))            a model that takes any length
    @tf.function(input_signature=[tf.TensorSpec([None])])
"""

from __future__ import annotations

from typing import Final

from ..findings.findings import Finding
from ..sources.calls import function_around
from .protocol import RECOMPILES, Observation, Outcome
from .target import Target

_OPEN: Final = "open-dimension"
_OF_FUNCTION: Final = 2
_OF_MODEL: Final = 3  # shapes, of which two may differ in their batch only
_MODEL: Final = "the model that it gives"


def compiled_for_each_size(finding: Finding, target: Target, outcome: Outcome) -> Observation | None:
    """What was seen, if it bears out a finding about a dimension that is left open."""
    if finding.name != _OPEN or not target.lines[0] <= finding.span.line <= target.lines[1]:
        return None
    function = function_around(target.file, target.lines[1])
    is_decorator = function is not None and finding.span.line < function.lineno
    least = _OF_MODEL if outcome.how.startswith(_MODEL) else _OF_FUNCTION if is_decorator else None
    shapes = {call.variant for call in outcome.calls if call.compilations}
    if least is None or len(shapes) < least:
        return None
    return next((one for one in outcome.observations if one.kind == RECOMPILES and one.per == "shape"), None)
