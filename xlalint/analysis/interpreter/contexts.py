"""Who runs the code that is executed, and by which calls: what every event carries."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ...findings.findings import Backend
from ..record import Record, replace

if TYPE_CHECKING:
    from ...syntax import nodes as cst
    from ..domain.values import Scope
    from ..files.unit import Location


class ContextKind(StrEnum):
    """Who runs a function."""

    XLA = "xla"  # reached from jit_compile=True, TPUStrategy.run, code that Keras may compile
    GRAPH = "graph"  # reached from a plain tf.function only
    OPEN = "open"  # uses tensors; no caller is seen
    HOST = "host"  # eager script code, tf.data functions, callbacks, tests


# What runs line by line. From here, and from the graph of a plain `tf.function`, also in its loops (measured), a call
# starts a compiled program; a call from compiled code becomes part of its program.
NOT_TRACED: Final = (ContextKind.HOST, ContextKind.OPEN)


class Tracing(StrEnum):
    """Which Keras calls what it calls, and what it does with control flow there; completes an `entry` in a message."""

    KERAS_2 = "which Keras 2 converts with AutoGraph"
    KERAS_3 = "which Keras 3 traces without AutoGraph"
    EITHER = f"{KERAS_3} (Keras 2 converts it)"  # nothing says which it is


class Trained(StrEnum):
    """What Keras takes the gradient of, where it trains."""

    LOSS = "loss"
    LAYER = "layer"  # of which it needs one only if the layer or something before it is trained
    FUNCTION = "function"  # of a layer: likewise, or if it is the loss


_JAX: Final = frozenset((Backend.JAX,))


class Context(Record):
    """How a function is run. `entry` completes "reached from ..." in a message, and `keras` the entry, where Keras
    makes the call; `plain_python` says why AutoGraph converts nothing here although it is on ("a walrus", "a match
    statement"), else None. `pipeline`: the host runs it
    as part of an input pipeline. `scope`: the scope of a distribution strategy around it. `by_keras`: nobody but Keras
    decides whether XLA compiles it; `unused`: nothing that is run here was seen to lead to it, and no step of training
    does; `inferred`: no step of training or evaluation, and nothing that Keras runs in one, was seen to lead to it, and
    there are such steps; `backends`: a test has left only these to run it on, None: any; `aside`: it is of a layer that
    is mostly not compiled, since it takes what is no tensor yet and the host calls it, as one does that is mapped over
    datasets, or since a test calls or has it, or since it is what a layer does only where it is asked to, or with a
    size that nobody is seen to pass; `behind`: on JAX, what stands before it raises; `apart`: it is in a function of a
    condition or loop, which JAX traces by itself; `eager`: nobody compiles it, and a target would have it
    compiled; `direct`: of Keras's methods that host code calls itself, and of all that they call: these run line by
    line there, and on Keras 3 a trace that fails while it builds them goes unseen (measured); `mapped`: `tf.data`
    traces it, for all elements at once; `trained`: Keras takes the gradient of what it returns; `off`: it stands behind
    what a function returns by default, as it was passed; `gpus`: the code has asked for a GPU, and found one."""

    kind: ContextKind
    autograph: bool
    entry: str = ""
    plain_python: str | None = None
    pipeline: bool = False
    scope: Scope | None = None
    by_keras: bool = False
    unused: bool = False
    inferred: bool = False
    keras: Tracing | None = None
    backends: frozenset[Backend] | None = None
    aside: bool = False
    behind: bool = False
    apart: bool = False
    eager: bool = False
    direct: bool = False
    mapped: bool = False
    trained: Trained | None = None
    off: bool = False
    gpus: bool = False

    @property
    def is_for_jax(self) -> bool:
        """Nothing but JAX runs it."""
        return self.backends == _JAX

    def runs_on(self, backend: Backend) -> bool:
        """Whether no test keeps the code from running on a backend."""
        return self.backends is None or backend in self.backends

    @property
    def reached(self) -> str:
        """How a message names the code: "`M.call`, which Keras 3 traces without AutoGraph", ..."""
        return self.entry if self.keras is None else f"{self.entry}, {self.keras}"

    @property
    def in_replica(self) -> bool:
        """A strategy itself runs the code, on each of its devices."""
        return self.scope is not None and self.scope.replica

    @property
    def becomes_graph(self) -> bool:
        """A graph is made of the code, of a program's own and not of its input pipeline."""
        return self.kind in (ContextKind.XLA, ContextKind.GRAPH) and not self.pipeline

    @property
    def converted(self) -> bool:
        """AutoGraph really rewrites control flow here: never in what the host runs line by line."""
        return self.autograph and self.plain_python is None and self.kind is not ContextKind.HOST


HOST: Final = Context(ContextKind.HOST, True, "code that runs on the host")
PIPELINE: Final = Context(ContextKind.HOST, True, "an input pipeline, which runs on the host", pipeline=True)
MAPPED: Final = replace(PIPELINE, mapped=True)


class CallPath(Record):
    """The frames from here back to the entry point; `place` is the definition or call that enters `name`. `wrapped`: a
    decorator of unknown intent stands around it, and may run it once, or under a condition. `apart`: where it
    is made a `tf.function` of its own, by a decorator or of its definition, if it is one; `converted`: AutoGraph
    rewrites its control flow; `trains`: it takes gradients, or has an optimizer take a step; `compiled`: XLA
    compiles it."""

    name: str
    location: Location
    parent: CallPath | None = None
    wrapped: bool = False
    apart: Location | None = None
    converted: bool = False
    trains: bool = False
    compiled: bool = False


class Run(Record, eq=False):
    """One of the analyses of a function that count: one for each pattern of arguments in each context. `all`: these
    analyses; `skipped`: the code that this pattern does not get to."""

    all: list[Run]
    skipped: Collection[cst.CSTNode]

    def reaching(self, location: Location) -> set[Run]:
        """All analyses of the function that get to a place in it."""
        around = {location.node, *location.unit.around(location.node)}
        return {run for run in self.all if around.isdisjoint(run.skipped)}
