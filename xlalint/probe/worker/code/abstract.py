"""Classes that are not meant to be used by themselves."""

from __future__ import annotations

import inspect


def is_abstract(cls: type) -> bool:
    """Whether methods are left to what inherits: also where the metaclass does not look, as that of Keras's layers."""
    if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False) is True:
        return True
    members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
    return any(getattr(member, "__isabstractmethod__", False) is True for member in members.values())
