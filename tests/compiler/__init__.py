"""What the XLA compiler really does with a piece of code: `measure` runs it and counts compilations."""

from xlalint.authoring.measured import Call, Measured, measure, run_program

__all__ = ["Call", "Measured", "measure", "run_program"]
