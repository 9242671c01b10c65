"""What Keras 3 runs a program on, TensorFlow or JAX: as its files show, else as its requirements and imports do.

Keras reads `KERAS_BACKEND` when it is imported, and a process has one backend. A file that reaches Keras by way of
TensorFlow is TensorFlow's, unless its program says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ...findings.findings import Backend
from ...sources.outline import ImportOutline
from ..files.file import KERAS
from .signs import ModuleSigns, ProgramGraph, Shows, Sign, place, spread

if TYPE_CHECKING:
    from .modules import ProjectModule


class Ran(NamedTuple):
    """What runs a file, and what shows that. `told`: the program sets it, or asks, as is done with Keras 3 alone."""

    backends: frozenset[Backend]
    shown: str = ""
    told: bool = False

    @property
    def on_jax(self) -> bool:
        return Backend.JAX in self.backends

    @property
    def on_tensorflow(self) -> bool:
        return Backend.TENSORFLOW in self.backends


Required: TypeAlias = tuple[frozenset[Backend], str]
"""The backends that requirements name, and where these stand."""

ON_TENSORFLOW: Final = Ran(frozenset((Backend.TENSORFLOW,)))
BOTH: Final = frozenset(Backend)
_TOLD: Final = {Shows.ON_JAX: Backend.JAX, Shows.ON_TENSORFLOW: Backend.TENSORFLOW}
_LIBRARIES: Final = {
    **dict.fromkeys(KERAS, Shows.OWN_KERAS),
    "tensorflow": Shows.TENSORFLOW,
    "jax": Shows.JAX,
}
# By the name that a setting has: what it says of the backend. Of what XLA does not compile, it is not JAX that counts.
NAMES: Final = {"jax": Shows.ON_JAX, **dict.fromkeys(("tensorflow", "torch", "openvino", "numpy"), Shows.ON_TENSORFLOW)}


def imported(module: ProjectModule) -> Iterator[tuple[Shows, Sign]]:
    """What a module's imports show."""
    for bindings in module.outline.bindings.values():
        for binding in bindings:
            if isinstance(binding, ImportOutline) and binding.level == 0:
                name = binding.module or binding.attribute or ""
                if (shows := _LIBRARIES.get(name.partition(".")[0])) is not None:
                    yield shows, Sign(0, f"`import {name}`")


def backends(
    modules: Iterable[ModuleSigns], name: Callable[[str], str], required: Callable[[Path], Required | None]
) -> dict[str, Ran]:
    """What runs each file that is not run on TensorFlow alone, by its absolute path. `name` says how reports show a
    path, `required` what the requirements of a folder's project name. Where both are at hand and nothing says more, a
    file that imports TensorFlow alone is TensorFlow's; where a program is told both, one that does not import Keras.
    A file that sets TensorFlow itself is TensorFlow's, one that sets JAX is JAX's. An import of JAX says nothing of a
    file that has TensorFlow take gradients."""
    graph = ProgramGraph(modules)
    told = _told(graph, name)
    shown = {shows: dict(graph.of(shows)) for shows in _LIBRARIES.values()}
    units = {shows: {graph.unit[file]: file for file in files} for shows, files in shown.items()}
    with_jax = _programs(graph, units[Shows.JAX], shown[Shows.JAX], name)
    with_tensorflow = graph.programs(units[Shows.TENSORFLOW])
    own = {shows: {file for file, _ in graph.of(shows)} for shows in (*_TOLD, Shows.ON_SEVERAL, Shows.TAPE)}
    found = {}
    for file, unit in graph.unit.items():
        if file in own[Shows.ON_TENSORFLOW] - own[Shows.ON_JAX] - own[Shows.ON_SEVERAL]:
            continue
        if file in own[Shows.ON_JAX] - own[Shows.ON_TENSORFLOW] - own[Shows.ON_SEVERAL]:
            found[file] = told[unit]._replace(backends=frozenset((Backend.JAX,)))
            continue
        if unit in told:
            alone = file in shown[Shows.TENSORFLOW] and file not in shown[Shows.OWN_KERAS] | shown[Shows.JAX]
            if not (alone and told[unit].on_tensorflow):
                found[file] = told[unit]
        elif unit in units[Shows.OWN_KERAS] and (file in shown[Shows.OWN_KERAS] or file not in shown[Shows.TENSORFLOW]):
            if (said := required(Path(file).parent)) is not None:
                ran = Ran(said[0], f"the requirements ({said[1]})")
            elif unit in with_jax and file not in own[Shows.TAPE]:
                ran = Ran(BOTH if unit in with_tensorflow else frozenset((Backend.JAX,)), with_jax[unit])
            else:
                continue
            if not ran.on_tensorflow or file in shown[Shows.JAX] or file not in shown[Shows.TENSORFLOW]:
                found[file] = ran
    return {file: ran for file, ran in found.items() if ran.on_jax}


def is_of_tensorflow(module: ModuleSigns) -> bool:
    """Whether a file is run on TensorFlow alone, whatever its program imports, unless something says or requires what
    Keras runs on."""
    return Shows.TENSORFLOW in module.signs and Shows.JAX not in module.signs


def is_distributed(module: ModuleSigns) -> bool:
    """Whether a script makes a strategy of TensorFlow's, and does not have Keras run on JAX."""
    return Shows.STRATEGY in module.signs and Shows.ON_JAX not in module.signs


def _programs(
    graph: ProgramGraph, units: Mapping[str, str], signs: Mapping[str, Sign], name: Callable[[str], str]
) -> dict[str, str]:
    """The programs that units are in, with what shows it there."""
    return graph.programs({unit: _said(name, file, signs[file]) for unit, file in units.items()})


def _said(name: Callable[[str], str], file: str, sign: Sign) -> str:
    return f"{sign.text} ({place(name(file), sign)})"


def _told(graph: ProgramGraph, name: Callable[[str], str]) -> dict[str, Ran]:
    """By unit, what its program sets. A package that a program for JAX uses may have other users; one that asks which
    backend it is has users of each."""
    own: dict[str, dict[Backend, str]] = {}
    for shows, backend in _TOLD.items():
        for file, sign in graph.of(shows):
            own.setdefault(graph.unit[file], {}).setdefault(backend, _said(name, file, sign))
    found: dict[str, dict[Backend, str]] = {}
    for backend in Backend:
        marks = {unit: said[backend] for unit, said in own.items() if backend in said}
        for unit, text in graph.programs(marks).items():
            others = {Backend.TENSORFLOW} if unit not in own and unit not in graph.unit else ()
            found.setdefault(unit, {}).update(dict.fromkeys((backend, *others), text))
    several = {graph.unit[file]: _said(name, file, sign) for file, sign in graph.of(Shows.ON_SEVERAL)}
    for unit, text in spread(several, graph.imports).items():
        found[unit] = dict.fromkeys(Backend, text) | found.get(unit, {})
    return {unit: Ran(frozenset(said), said.get(Backend.JAX, ""), told=True) for unit, said in found.items()}
