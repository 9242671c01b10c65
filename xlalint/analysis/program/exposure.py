"""How sure it is that XLA compiles anything of a program, by what its files show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ...findings.findings import Exposure
from .signs import ModuleSigns, ProgramGraph, Shows, place, spread


class Exposed(Struct, frozen=True):
    """How sure it is of a file, and what shows that. `whole`: the scripts that use the file are here, so that nobody
    calls what they do not lead to; a package without a script, or one that is made to be installed, has users
    elsewhere. `keras_2`: the program does not run on Keras 3; `keras_decides`: nothing asks for XLA, and Keras 3
    compiles where it finds a device; `clusters`: nothing but autoclustering compiles it, which leaves out what XLA
    refuses and compiles the rest again for new shapes and sizes (measured); `tpu_alone`: nothing but a TPU's strategy
    compiles it; `told`: a setting says so of the program; `trains`: it trains a model, or XLA
    compiles something of it for certain; `eager`: TensorFlow runs its functions line by line, and traces none;
    `symbolic`: Keras traces layers to make models of them; `traced`: it does, or code becomes a graph;
    `functions`: it makes a `tf.function`; `steps`: XLA may compile a step of training, as a whole; `soft`: what a TPU
    has no kernel for runs on its host."""

    exposure: Exposure
    shown: str = ""
    whole: bool = False
    keras_2: bool = False
    keras_decides: bool = False
    clusters: bool = False
    tpu_alone: bool = False
    told: bool = False
    trains: bool = False
    eager: bool = False
    symbolic: bool = False
    traced: bool = False
    soft: bool = False
    functions: bool = False
    steps: bool = False


NOT_EXPOSED: Final = Exposed(Exposure.NONE)
_LINE_BY_LINE: Final = Exposed(Exposure.NONE, eager=True)
LIBRARY: Final = Exposed(Exposure.LIKELY, "the package defines Keras classes, which its users may compile")
_LEVELS: Final = {
    Shows.XLA: Exposure.CERTAIN,
    Shows.TPU: Exposure.CERTAIN,
    Shows.PERHAPS: Exposure.LIKELY,
    Shows.KERAS_3: Exposure.LIKELY,
    Shows.CLUSTERS: Exposure.LIKELY,
}
_STEPS: Final = (Shows.STEPS, Shows.TPU, Shows.PERHAPS)
_TRAINS: Final = (Shows.TRAINING, Shows.XLA, Shows.TPU)


def exposures(
    modules: Iterable[ModuleSigns],
    name: Callable[[str], str],
    is_installed: Callable[[str], bool],
    used: Collection[str] = (),
) -> dict[str, Exposed]:
    """How sure it is of each file, by its absolute path; `name` says how reports show a path, `is_installed` whether
    the package of a path is made to be installed; `used`: the words of imports in files that are not among these."""
    graph = ProgramGraph(modules)
    of_keras_2 = graph.programs({graph.unit[file]: NOT_EXPOSED for file, _ in graph.of(Shows.KERAS_2)})
    own: dict[str, Exposed] = {}
    units: dict[str, Exposed] = {}
    on_others: set[str] = set()  # the units that something else than a TPU's strategy may compile
    for shows, exposure in _LEVELS.items():
        signs = {
            file: Exposed(
                exposure,
                f"{sign.text} ({place(name(file), sign)})",
                keras_decides=shows is Shows.KERAS_3,
                clusters=shows is Shows.CLUSTERS,
            )
            for file, sign in graph.of(shows)
            if shows is not Shows.KERAS_3 or graph.unit[file] not in of_keras_2
        }
        own = {**signs, **own}
        units = {**graph.programs({graph.unit[file]: said for file, said in signs.items()}), **units}
        if shows is not Shows.TPU:
            parts = {graph.unit[file]: True for file, sign in graph.of(shows) if file in signs and sign.line}
            on_others.update(graph.programs(parts))
    fragments = {file for file, sign in graph.of(Shows.PERHAPS) if not sign.line}
    libraries = dict.fromkeys(graph.libraries(used), LIBRARY)
    units = {**spread(libraries, graph.imports), **units}
    found = {file: units.get(unit, NOT_EXPOSED) for file, unit in graph.unit.items()}
    found |= {
        file: said
        for file, said in own.items()
        if (said.exposure, said.clusters) == (found[file].exposure, found[file].clusters)
    }
    training = {graph.unit[file]: True for shows in _TRAINS for file, _ in graph.of(shows)}
    trains = graph.programs(training).keys()
    symbolic = graph.programs({graph.unit[file]: True for file, _ in graph.of(Shows.SYMBOLIC)}).keys()
    traced = symbolic | graph.programs({graph.unit[file]: True for file, _ in graph.of(Shows.GRAPHS)}).keys()
    soft = graph.programs({graph.unit[file]: True for file, _ in graph.of(Shows.SOFT)}).keys()
    functions = graph.programs({graph.unit[file]: True for file, _ in graph.of(Shows.FUNCTIONS)}).keys()
    compiling = {graph.unit[file]: True for shows in _STEPS for file, _ in graph.of(shows)}
    by_default = {graph.unit[file]: True for file, _ in graph.of(Shows.KERAS_3) if graph.unit[file] not in of_keras_2}
    steps = graph.programs(compiling | by_default).keys()
    whole, eager = graph.used_by_scripts(is_installed), graph.eager()
    found |= {file: _LINE_BY_LINE for file, unit in graph.unit.items() if unit in eager}
    return {
        file: replace(
            of,
            whole=(unit := graph.unit[file]) in whole,
            keras_2=unit in of_keras_2,
            trains=unit in trains,
            symbolic=unit in symbolic,
            traced=unit in traced,
            soft=unit in soft,
            functions=unit in functions,
            steps=unit in steps,
            tpu_alone=of.exposure is Exposure.CERTAIN and unit not in on_others and file not in fragments,
        )
        for file, of in found.items()
    }
