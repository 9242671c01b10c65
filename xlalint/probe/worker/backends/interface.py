"""What the other rooms ask of a backend. A module with these names is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]


class Backend(Protocol):
    """`NAME`: as Keras has it; `NAMES`: the modules that snippets leave out; `REFUSALS`: what eager execution raises
    for values that an operation does not take.

    `FORMS`: what is made of a tensor for each style of `specs` that is a form, and of a number of rows and columns by
    which what a sparse one holds lies further; `ANNOTATIONS`: by the class that an
    annotation names, the style of the tensor that it promises; `OBJECTS`: by such a class, an object of it, in words
    and made; `KINDS`: classes of tensors, that of the usual form first; `MODULES`: classes of what holds variables;
    `VARIABLES`, `GENERATORS`: classes of variables and of what random numbers are drawn from, besides Keras's;
    `STRATEGIES`, `DISTRIBUTED`, `RUNS`: classes that run a step on several replicas, and of what these give, and the
    code that does; `LOOPS`: the code that runs loops of the backend eagerly; `ARRAYS`: classes of arrays of tensors,
    which are no tensors themselves.
    """

    NAME: str
    NAMES: Mapping[str, Any]
    REFUSALS: tuple[type[Exception], ...]
    FORMS: Mapping[str, Callable[[Any, int], Any]]
    ANNOTATIONS: Mapping[Any, str]
    OBJECTS: Mapping[Any, tuple[str, Any]]
    KINDS: tuple[Any, ...]
    MODULES: tuple[type, ...]
    VARIABLES: tuple[type, ...]
    GENERATORS: tuple[type, ...]
    STRATEGIES: tuple[Any, ...]
    DISTRIBUTED: tuple[Any, ...]
    RUNS: frozenset[CodeType]
    LOOPS: frozenset[CodeType]
    ARRAYS: tuple[type, ...]

    # -- the process --------------------------------------------------------------------------------------------------

    def start(self) -> dict[str, str]:
        """Make it ready; the versions of what runs, by name."""

    def hide_library_frames(self, on: bool) -> None:
        """Whether libraries leave their own frames out of tracebacks, as they do unless told otherwise."""

    def forget_earlier(self) -> None:
        """Let nothing that ran before decide what becomes of a function."""

    def eager_execution(self) -> AbstractContextManager[None]:
        """Nothing is traced in the body; all runs as the Python that it is."""

    def is_eager(self) -> bool:
        """Whether what is being executed runs as it stands, and is not traced."""

    def seed(self, number: int | None) -> None:
        """Have random numbers repeat; None: as they were."""

    def keras_modules(self) -> list[Any]:
        """The Keras packages that are imported."""

    # -- tensors ------------------------------------------------------------------------------------------------------

    def is_tensor(self, value: Any) -> bool:
        """Whether something is a tensor, of any form."""

    def is_floating(self, tensor: Any) -> bool:
        """Whether a tensor is of a floating type."""

    def dtype_name(self, dtype: Any) -> str:
        """A dtype, as `specs` calls it."""

    def tensor_of(self, array: Array, dtype: str) -> Any:
        """A tensor of values. Raises TypeError where there are none of the dtype."""

    def content(self, part: Any) -> tuple[str, Array | None] | None:
        """The dtype of a tensor or variable, and its values where they can be read; None of anything else."""

    def spec_of(self, described: Any) -> tuple[str, Sequence[int | None] | None] | None:
        """The dtype and the sizes that a description of a tensor says; None of anything else."""

    # -- structures ---------------------------------------------------------------------------------------------------

    def flatten(self, structure: Any) -> list[Any]:
        """The parts of a structure, in order; those of a sparse tensor, too."""

    def leaves(self, structure: Any) -> list[Any]:
        """The parts of a structure as calls take them: a sparse tensor is one."""

    def map_structure(self, function: Callable[..., Any], *structures: Any) -> Any:
        """A structure of what a function gives for the parts of others. Raises TypeError and ValueError."""

    def is_nested(self, value: Any) -> bool:
        """Whether something is a structure."""

    # -- variables and training ---------------------------------------------------------------------------------------

    def variable(self, tensor: Any) -> Any:
        """A variable that holds ones, of the shape of a tensor."""

    def is_trained(self, variable: Any) -> bool:
        """Whether a gradient is asked for of a variable's content."""

    def train_step(self, model: Any, data: Any) -> Any:
        """Train a compiled model with a batch by its own step; what that reports."""

    def replicas(self) -> int:
        """By how many copies the code runs that is being executed."""

    def converted(self, frame: FrameType) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
        """The function and its arguments where a frame calls a converted copy in the place of a function."""
