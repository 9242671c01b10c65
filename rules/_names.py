"""Sets of names, written as text."""


def names(text: str) -> frozenset[str]:
    """The names in a text, parted by white space."""
    return frozenset(text.split())
