"""libtpu, which JAX reaches: it compiles ahead of time for a named topology, and tells what memory a program takes, or
why it will not compile it. Nothing is run.

Works in the environment that `xlalint.tpu.stack` makes: `jaxlib`'s inner modules move, so they are pinned there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from xlalint.tpu.chips import chip_of

from ..code.messages import brief

_GIB: Final = 2**30
# The words of libtpu for a program that does not fit, and of the way to it, which does not know every operation.
_MEMORY: Final = re.compile(r"Used (?P<used>\S+) of (?P<all>\S+) hbm")
_ONE_ARRAY: Final = re.compile(r"Allocation \(size=(?P<used>\d+)\) would exceed memory \(size=(?P<all>\d+)\)")
_UNTRANSLATED: Final = re.compile(r"unregistered operation '(?P<op>[^']+)'|failed to legalize|'stablehlo\.\w+' op ")


class RefusedError(Exception):
    """libtpu does not compile a program; the text is its reason in one line."""


class UntranslatedError(Exception):
    """A program cannot be given to libtpu, which says nothing of what a TPU would do with it."""


class TpuCompiler:
    """libtpu, for one topology such as `v5e:2x2`."""

    def __init__(self, topology: str) -> None:
        from jax.experimental import topologies

        self.topology = topology
        self._available = chip_of(topology).memory
        self.device = topologies.get_topology_desc(topology, platform="tpu").devices[0]

    def memory(self, program: str) -> int:
        """The bytes of a core's memory that a program (HLO as text) takes. Raises RefusedError, UntranslatedError."""
        from jaxlib import _jax, xla_client
        from jaxlib._jax import mlir

        try:
            module = _jax.hlo_module_from_text(program)
            computation = xla_client.XlaComputation(module.as_serialized_hlo_module_proto())
            portable = mlir.xla_computation_to_mlir_module(computation)
        except Exception as error:
            raise UntranslatedError(brief(str(error))) from error
        code = portable.encode() if isinstance(portable, str) else portable
        try:
            compiled = self.device.client.compile(code, _jax.DeviceList((self.device,)), xla_client.CompileOptions())
        except Exception as error:
            said = str(error)
            if unknown := _UNTRANSLATED.search(said):
                op = unknown["op"]
                raise UntranslatedError(f"JAX does not know `{op}`" if op else brief(said)) from error
            raise _refusal(said) from error
        return self._held(compiled.get_compiled_memory_stats())

    def memory_of(self, lowered: Any) -> int:
        """The same of a function that JAX has lowered. Raises RefusedError."""
        try:
            compiled = lowered.compile()
        except Exception as error:
            raise _refusal(str(error)) from error
        return self._held(compiled.memory_analysis())

    def _held(self, needs: Any) -> int:
        held = needs.argument_size_in_bytes + needs.output_size_in_bytes - needs.alias_size_in_bytes
        total_bytes = int(held + needs.temp_size_in_bytes + needs.generated_code_size_in_bytes)
        if total_bytes > self._available:  # libtpu itself refuses only some programs that do not
            raise RefusedError(_too_large(total_bytes, self._available))
        return total_bytes


def _too_large(used: int, available: int) -> str:
    return f"it does not fit: it takes {used / _GIB:.2f}G of {available / _GIB:.2f}G"


def _refusal(said: str) -> RefusedError:
    if match := _ONE_ARRAY.search(said):
        return RefusedError(_too_large(int(match["used"]), int(match["all"])))
    match = _MEMORY.search(said)
    return RefusedError(f"it does not fit: it takes {match['used']} of {match['all']}" if match else brief(said))


def sized(shapes: Sequence[tuple[int, ...]], batch: int) -> list[tuple[int, ...]]:
    """Shapes with another number of examples, where all that have a first dimension agree in it; 0: as they are."""
    if not batch or len({shape[0] for shape in shapes if shape}) != 1:
        return list(shapes)
    return [(batch, *shape[1:]) if shape else shape for shape in shapes]


def at_once(batch: int) -> str:
    """Behind what is compiled: with how many examples, where that is said."""
    return f" with {batch} examples at once" if batch else ""
