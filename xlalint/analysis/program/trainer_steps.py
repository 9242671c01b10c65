"""What trainers run of a model by name, and the models of a program that have it for JAX's alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from .creation_facts import Key, is_replaced_for_jax
from .definitions import DefinedClass
from .project import Project

# TensorFlow's trainer passes the data, JAX's the state before.
STEPS: Final = frozenset(("train_step", "test_step", "predict_step"))
CALLED_BY_KERAS: Final = STEPS | {"call"}


def replaced_for_jax(project: Project) -> Iterator[Key]:
    """The steps of models for which a class that derives from these has one that takes the state."""
    for module in project.read():
        for cls in module.classes if not module.is_test else ():
            for name in STEPS.intersection(cls.functions):
                stretch = cls.functions[name].stretch
                match module.file.statements(stretch) if stretch is not None else ():
                    case [ast.FunctionDef(args=arguments)] if _needs_state(arguments):
                        for ancestor in cls.mro[1:]:
                            if isinstance(ancestor, DefinedClass):
                                yield is_replaced_for_jax(ancestor, name)


def _needs_state(arguments: ast.arguments) -> bool:
    """Whether a step takes the state and the data behind the model."""
    return len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults) > 2
