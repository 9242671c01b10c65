"""What XLA108 says of branches that do not fit together, by the reason."""

from __future__ import annotations

from typing import Final

from xlalint.analysis.library.mismatches import BOUNDS

REASONS: Final = {
    "one branch only": "only one branch assigns `{name}`, so tracing fails",
    "no return": "one branch returns and the other does not, so tracing fails",
    "dtype": "`{name}` has a different dtype in each branch, so tracing fails",
    "structure": "`{name}` has a different structure in each branch, so tracing fails",
    "rank": "`{name}` has a different rank in each branch, and XLA refuses to join them",
    BOUNDS: "`{name}` has a larger bound in one branch, another tensor in the other, and XLA refuses to join them",
}
# Of a branch that sizes decide.
OF_SIZES: Final = (
    "branches of a conditional on a tensor: `{name}` has another size in one, so XLA gives it a bounded dynamic shape, "
    "and its gradient the size of the bound"
)
HELPS: Final = {
    "sizes": "test the sizes that Python knows: `x.shape[0]`",
    "one branch only": "give `{name}` a value of the same dtype and shape before the `if`",
    "no return": "return the same kind of value from both branches",
    "dtype": "cast `{name}` to one dtype in both branches",
    "structure": "give `{name}` the same structure in both branches",
    "rank": "give `{name}` the same shape in both branches",
    BOUNDS: "give what both branches leave one static shape, and carry a mask",
}

# Of what functions give: the message, and what helps.
OF_FUNCTIONS: Final = {
    "dtype": ("tensors of different dtypes, so tracing fails", "cast both to one dtype"),
    "rank": ("tensors of different ranks, and XLA refuses to join them", "give both the same shape"),
    BOUNDS: (
        "tensors of which each has a larger bound once, and XLA refuses to join them",
        "give both one static shape, and carry a mask",
    ),
}
