"""The numbers that Keras's objects hold as plain attributes: a trace keeps the value that one had (measured)."""

from __future__ import annotations

from typing import Final

from ..domain.values import ApiObject, Value
from .api import kind_of

# Of which a variable may stand in their place, which a compiled step reads anew (measured).
MAY_BE_VARIABLES: Final = frozenset(("beta_1", "beta_2", "epsilon", "rho", "weight_decay"))
_KEPT: Final = {
    "optimizer": MAY_BE_VARIABLES
    | {"clipnorm", "clipvalue", "global_clipnorm", "loss_scale_factor", "momentum", "nesterov"},
    "layer": frozenset(("epsilon", "max_value", "momentum", "negative_slope", "offset", "rate", "scale", "stddev")),
}
KEPT: Final = frozenset().union(*_KEPT.values())
"""The names of all of them."""
# Of the older optimizers of Keras 2, which those of TensorFlow before 2.11 are, these are variables.
_OLD_VARIABLES: Final = frozenset(("beta_1", "beta_2", "decay", "momentum", "rho"))


def is_kept(owner: Value, name: str, keras: int) -> bool:
    """Whether compiled code that has read this attribute of an object of Keras's keeps its value."""
    if not isinstance(owner, ApiObject) or owner.method is not None:
        return False
    kind = kind_of(owner.api)
    perhaps_old = kind == "optimizer" and (keras == 2 or ".legacy." in owner.api)
    return name in _KEPT.get(kind or "", ()) and not (perhaps_old and name in _OLD_VARIABLES)
