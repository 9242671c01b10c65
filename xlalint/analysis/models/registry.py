"""All models: each module's tables, one after the other; of two models of a name the last one counts."""

from __future__ import annotations

from typing import Final

from ..interpreter.interface import Models
from . import (
    chance,
    command_line,
    compilation,
    containers,
    control_flow,
    coroutines,
    datasets,
    functions,
    jax_programs,
    keras_backends,
    keras_models,
    logging_levels,
    notebook_cells,
    ordering,
    own_sizes,
    python_builtins,
    python_numbers,
    records,
    reflection,
    shapes,
    strategies,
    structures,
    tokenizer_calls,
)

MODELS: Final = Models(
    functions={
        **chance.FUNCTIONS,
        **python_builtins.FUNCTIONS,
        **command_line.FUNCTIONS,
        **logging_levels.FUNCTIONS,
        **python_numbers.FUNCTIONS,
        **ordering.FUNCTIONS,
        **own_sizes.FUNCTIONS,
        **reflection.FUNCTIONS,
        **shapes.FUNCTIONS,
        **records.FUNCTIONS,
        **compilation.FUNCTIONS,
        **functions.FUNCTIONS,
        **keras_backends.FUNCTIONS,
        **control_flow.FUNCTIONS,
        **jax_programs.FUNCTIONS,
        **structures.FUNCTIONS,
        **datasets.FUNCTIONS,
        **keras_models.FUNCTIONS,
        **tokenizer_calls.FUNCTIONS,
    },
    methods={
        **chance.METHODS,
        **records.METHODS,
        **shapes.METHODS,
        **command_line.METHODS,
        **logging_levels.METHODS,
        **coroutines.METHODS,
        **datasets.METHODS,
        **keras_models.METHODS,
        **notebook_cells.METHODS,
        **functions.METHODS,
        **compilation.METHODS,
        **tokenizer_calls.METHODS,
        **strategies.METHODS,
        **jax_programs.METHODS,
        **control_flow.METHODS,
    },
    containers=containers.METHODS,
)
