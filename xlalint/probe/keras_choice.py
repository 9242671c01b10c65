"""Which Keras runs a target: the one that its project requires; where nothing says which, Keras 2 gets what Keras 3
refuses. Keras 2 is the package `tf_keras` where TensorFlow comes with Keras 3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from .interpreters import versions_of
from .process import Interpreter
from .protocol import TENSORFLOW, Outcome
from .target import Target


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whether Keras 2 is to run a target in the place of what is installed as `keras`; and what is to be said of it."""

    legacy: bool = False
    note: str = ""

    def said(self, outcome: Outcome) -> Outcome:
        """An outcome with the note."""
        return replace(outcome, notes=(self.note, *outcome.notes)) if self.note else outcome


class KerasChoice:
    """Chooses for what an interpreter has installed; it is asked when it matters."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    @cached_property
    def _installed(self) -> tuple[str, str | None]:
        """The versions of what is installed as `keras`, and of `tf_keras`."""
        versions = versions_of(self._interpreter)
        return versions.get("keras", ""), versions.get("tf-keras")

    def required(self, target: Target) -> Chosen:
        """For a target, by what its project requires."""
        if target.keras != 2 or target.backend != TENSORFLOW:
            return Chosen()
        return self._with_keras_2("its project requires it", "its project requires Keras 2")

    def instead(self, target: Target, found: Outcome) -> Chosen:
        """For a target of which nothing says which Keras it is for, and which was `found` not to run."""
        if target.keras is not None or target.backend != TENSORFLOW or not (found.not_run and found.by_keras):
            return Chosen()
        version, _ = self._installed
        return self._with_keras_2(f"with Keras {version}, {found.not_run}", "Keras raises this")

    def _with_keras_2(self, why: str, lacking: str) -> Chosen:
        version, legacy = self._installed
        if not version.startswith("3"):
            return Chosen()
        if legacy is None:
            return Chosen(note=f"{lacking}, and it is run with Keras {version}: `pip install tf_keras` adds Keras 2")
        return Chosen(legacy=True, note=f"run with Keras 2 (tf_keras {legacy}): {why}")
