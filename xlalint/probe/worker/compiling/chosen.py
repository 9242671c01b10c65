"""The programs of this process's backend."""

from __future__ import annotations

from pathlib import Path

from ..backends import backend
from ..code.user_lines import UserLines
from ..driving.driven import Driven
from .program import Compilations, Program


def program_of(driven: Driven, user_lines: UserLines) -> Program:
    """A driven function as the backend compiles it."""
    if backend.NAME == "jax":
        from .with_jax.program import JaxProgram

        return JaxProgram(driven, user_lines)
    from .with_tensorflow.program import TensorFlowProgram

    return TensorFlowProgram(driven, user_lines)


def compilations(folder: Path) -> Compilations:
    """What the compiler leaves behind, which may be in a folder."""
    if backend.NAME == "jax":
        from .with_jax.compilations import Counted

        return Counted()
    from .hlo import Dump

    return Dump(folder)
