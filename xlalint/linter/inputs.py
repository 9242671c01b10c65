"""What a run is about: the files, what stands in them, and what is known of each without reading it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from ..findings.findings import Backend, Problem
from ..settings.config import Settings, as_required
from ..settings.requirements import Required, required_near
from ..sources.discovery import FileToCheck
from ..sources.distributions import is_installed
from ..sources.reading import (
    Jax,
    Strategies,
    clusters_named,
    jax_named,
    may_matter,
    names_imported,
    says_it_runs,
    source_of,
    strategies_named,
)
from ..sources.suppressions import may_suppress, names_rules
from ..sources.testing import is_of_tests
from ..sources.text import OversizedSource, Source, UnreadableSource, digest_of, is_notebook, read_bytes
from .cache import Digests, Facts

# Characters of sources that are kept once they were read.
_KEPT_TEXT: Final = 16_000_000


@dataclass
class Inputs:
    """The files of a run. `reported`: those that were asked for, by the path that reports show; the others are those of
    the project around them. `contents`: what stands for the content of files, by their absolute
    paths; `problems`: what kept the run from doing what was asked."""

    files: list[FileToCheck]
    reported: frozenset[str]
    contents: Mapping[Path, bytes]
    problems: list[Problem]
    digests: dict[str, str] = field(default_factory=dict)  # of the files that can be read
    facts: dict[str, Facts] = field(default_factory=dict)  # of the files that are checked or hold comments for it
    unreadable: dict[str, str] = field(default_factory=dict)  # why, of those that were asked for
    oversized: dict[str, str] = field(default_factory=dict)
    _sources: dict[str, Source] = field(default_factory=dict)
    _room: int = field(default_factory=lambda: _KEPT_TEXT)
    _paths: dict[str, Path] = field(default_factory=dict)
    _required: dict[Path, Required] | None = None
    folders: tuple[Path, ...] = ()  # of the files, in their order

    def __post_init__(self) -> None:
        self._paths = {file.display: file.path for file in self.files}
        self.folders = tuple(dict.fromkeys(file.path.parent for file in self.files))

    def read(self, digests: Mapping[str, str] | None = None, known: Mapping[str, Facts] | None = None) -> None:
        """Take in the files; those are not read whose digest is that of the facts that are known of them."""
        digests, known = digests or {}, known or {}
        for file in self.files:
            facts = known.get(str(file.path))
            if facts is not None and facts.digest == digests.get(file.display):
                self.digests[file.display] = facts.digest
                self.facts[file.display] = facts
                continue
            try:
                self._read(file)
            except OversizedSource as error:
                self.oversized[file.display] = str(error)
            except UnreadableSource as error:
                self.digests.pop(file.display, None)
                if file.display in self.reported:
                    self.unreadable[file.display] = str(error)
                    self.problems.append(Problem(file.display, str(error)))

    def _read(self, file: FileToCheck) -> None:
        data = self._data(file.path)
        digest = self.digests[file.display] = digest_of(data)
        matters = may_matter(data, file.path)
        if matters or b"xlalint" in data:
            source = source_of(data, file.path, file.display)
            self._keep(source)
            text = source.text
            named = strategies_named(text), clusters_named(text), jax_named(text)
            facts = Facts(digest, len(text), matters, names_rules(text), *named, suppresses=may_suppress(text))
        else:
            facts = Facts(digest)
        if not matters:
            facts = self._leading(file, data, facts)
        self.facts[file.display] = facts

    @staticmethod
    def _leading(file: FileToCheck, data: bytes, facts: Facts) -> Facts:
        """What is known of a file that does not matter by itself; a script that cannot be read leads nowhere."""
        notebook = is_notebook(file.path)
        facts = facts if notebook else replace(facts, leads_to=names_imported(data))
        if not (b"import" in data if notebook else says_it_runs(data)):
            return facts
        try:
            text = source_of(data, file.path, file.display).text
        except (OversizedSource, UnreadableSource):
            return facts
        leads_to = names_imported(text.encode("utf-8", "surrogatepass")) if notebook else facts.leads_to
        return replace(facts, size=len(text), runs=True, leads_to=leads_to)

    def _data(self, path: Path) -> bytes:
        data = self.contents.get(path)
        return read_bytes(path) if data is None else data

    def digested(self, digests: Digests) -> dict[str, str] | None:
        """The digests of all files that can be read; None where one that was asked for cannot."""
        found = {}
        for file in self.files:
            data = self.contents.get(file.path)
            try:
                found[file.display] = digests.of(str(file.path)) if data is None else digest_of(data)
            except OversizedSource:
                continue
            except UnreadableSource:
                if file.display in self.reported:
                    return None
        return found

    def path(self, display: str) -> Path:
        """The absolute path of a file, by the one that reports show."""
        return self._paths[display]

    def source(self, display: str) -> Source:
        """The text of a file. Raises UnreadableSource."""
        source = self._sources.get(display)
        if source is None:
            path = self._paths[display]
            source = source_of(self._data(path), path, display)
            self._keep(source)
        return source

    def _keep(self, source: Source) -> None:
        """Keep a source, unless there is no room for those of all files: then each is read when it is needed."""
        self._room -= len(source.text)
        if self._room >= 0:
            self._sources[source.display] = source
        else:
            self._sources.clear()

    def keras_near(self, settings: Settings) -> dict[Path, int | None]:
        """The Keras that runs the files of a folder, where it is another one than the settings of the run say."""
        near = self.settings_near(settings)
        return {folder: here.keras for folder, here in near.items() if here.keras != settings.keras}

    @property
    def required(self) -> dict[Path, Required]:
        """What the projects of the folders of the files require."""
        if self._required is None:
            self._required = required_near(self.folders)
        return self._required

    @property
    def of_tensorflow_1(self) -> frozenset[Path]:
        """The folders of files that TensorFlow 1 runs, by what their projects require."""
        return frozenset(folder for folder, one in self.required.items() if one.tensorflow_1)

    def jax(self, settings: Settings) -> Jax:
        """What the files that are checked say of JAX; the settings and the requirements, too, choose it."""
        told = [settings.backends, *(here.backends for here in self.settings_near(settings).values())]
        if any(one is not None and Backend.JAX in one for one in told) or any(
            required.backends for required in self.required.values()
        ):
            return Jax.CHOSEN
        return max((facts.jax for facts in self.facts.values() if facts.matters), default=Jax.UNNAMED)

    def settings_near(self, settings: Settings) -> dict[Path, Settings]:
        """The settings of the folders that go by others than those of the run: as a nearer file has them and, where
        nobody set which Keras and TensorFlow run the code, as what their project requires decides."""
        of = {folder: as_required(settings.of(folder), self.required.get(folder)) for folder in self.folders}
        return {folder: here for folder, here in of.items() if here is not settings}

    def settings_parts(self, settings: Settings) -> Iterator[str]:
        """What findings depend on of the settings of the run and of its folders; the same in every process."""
        yield from settings_parts(settings)
        near = sorted(self.settings_near(settings).items())
        yield repr([(str(folder), here.keras, here.tensorflow) for folder, here in near])
        yield repr(sorted(map(str, self.of_tensorflow_1)))
        yield repr(
            [(str(folder), sorted(one.backends)) for folder, one in sorted(self.required.items()) if one.backends]
        )
        for folder, _ in near:
            if (here := settings.of(folder)) is not settings:
                yield str(folder)
                yield from settings_parts(here)

    @cached_property
    def checked(self) -> list[FileToCheck]:
        """The files that can matter, once they are read: that name TensorFlow or Keras, and scripts that may run these.
        A package that is made to be installed has modules that can be run, to convert a file, say, and is no program
        for that."""
        packages = self._installed_packages()
        matter = {file for file, facts in self._known() if facts.matters}
        others = {file: facts for file, facts in self._known() if not facts.matters and facts.leads_to}
        fresh = matter
        while fresh and others:
            names = {name for file in fresh for name in (file.path.stem, file.path.parent.name)}
            fresh = {file for file, facts in others.items() if not names.isdisjoint(facts.leads_to)}
            matter = matter | {file for file in fresh if others[file].runs and file.path.parent not in packages}
            others = {file: facts for file, facts in others.items() if file not in fresh}
        return [file for file in self.files if file in matter]

    @property
    def used_elsewhere(self) -> frozenset[str]:
        """The words of the imports of files that matter in no way of their own, and so are not read; tests aside."""
        unread = (facts for file, facts in self._known() if not facts.matters and not is_of_tests(file.display))
        return frozenset(word for facts in unread for word in facts.leads_to)

    def _installed_packages(self) -> set[Path]:
        """The folders of packages that are made to be installed."""
        packages = {file.path.parent for file in self.files if file.path.name == "__init__.py"}
        outermost = {folder: self._outermost(folder, packages) for folder in packages}
        installed = {folder for folder in {*outermost.values()} if is_installed(str(folder))}
        return {folder for folder, outer in outermost.items() if outer in installed}

    @staticmethod
    def _outermost(folder: Path, packages: set[Path]) -> Path:
        while folder.parent in packages:
            folder = folder.parent
        return folder

    def _known(self) -> Iterator[tuple[FileToCheck, Facts]]:
        return ((file, self.facts[file.display]) for file in self.files if file.display in self.facts)

    def facts_by_path(self) -> dict[str, Facts]:
        """What is known of the files, by their absolute paths."""
        return {str(self._paths[display]): facts for display, facts in self.facts.items()}

    @property
    def commented(self) -> Iterable[str]:
        """The files that may hold suppressions to account for."""
        return (display for display, facts in self.facts.items() if facts.comments)

    def may_suppress(self, display: str) -> bool:
        """Whether a file may hold suppressions."""
        facts = self.facts.get(display)
        return facts is None or facts.suppresses

    @property
    def strategies(self) -> Strategies:
        """Which distribution strategies the files name that are checked."""
        named = (facts.strategies for facts in self.facts.values() if facts.matters)
        return max(named, default=Strategies.NONE)

    @property
    def clusters(self) -> bool:
        """Whether a file that is checked may turn autoclustering on."""
        return any(facts.clusters for facts in self.facts.values() if facts.matters)


def settings_parts(settings: Settings) -> Iterator[str]:
    """What findings depend on of the settings, the same in every process; which files are read is not of it."""
    yield ",".join(sorted(settings.codes))
    yield repr((settings.include_host, settings.keras, settings.tensorflow, settings.unrolled_rounds))
    yield repr((settings.target, settings.exposure, sorted(settings.bounds.items())))
    yield ",".join(sorted(settings.backends or ()))
    yield repr(settings.external)
    yield repr(sorted(settings.severities.items()))
    yield ",".join(sorted(settings.unfixable))
    yield repr([(patterns, sorted(codes)) for patterns, codes in settings.per_file_ignores])
