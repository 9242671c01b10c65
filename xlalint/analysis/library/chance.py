"""What draws random numbers on the host: a function that is traced draws them once."""

from __future__ import annotations

from typing import Final

DRAWN_ON_HOST: Final = frozenset(
    (
        *("random.betavariate", "random.choice", "random.choices", "random.expovariate", "random.gauss"),
        *("random.getrandbits", "random.normalvariate", "random.randint", "random.random", "random.randrange"),
        *("random.sample", "random.shuffle", "random.triangular", "random.uniform"),
        *("secrets.choice", "secrets.randbelow"),
        *("np.random.beta", "np.random.binomial", "np.random.choice", "np.random.normal", "np.random.permutation"),
        *("np.random.poisson", "np.random.rand", "np.random.randint", "np.random.randn", "np.random.random"),
        *("np.random.random_sample", "np.random.shuffle", "np.random.standard_normal", "np.random.uniform"),
    )
)
_MODULES: Final = ("keras.random.", "np.random.", "random.", "tf.random.")


def draws(name: str) -> bool:
    """Whether a function, or the method of a generator, draws the number that it gives, on the host or elsewhere."""
    return name.startswith(_MODULES)
