"""Which definitions a probe runs: those around findings, one that is named, or all that may be compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeAlias

from ..findings.findings import Finding
from ..settings.requirements import required_near
from ..sources.calls import function_around
from ..sources.checkout import Projects, folders_around
from ..sources.packages import INSTALLED, dotted_name, project_of
from ..sources.specs import SpecError, parse_inputs
from ..sources.text import UnreadableSource
from .callers import Callers
from .definitions import Definition, FileDefinitions
from .knowledge import Knowledge, knowledge_of
from .protocol import OF_NESTED, OF_THEMSELVES, PROGRAM
from .refutation import OF_CHECKS, OF_EXTREMES, OF_LAUNCHES
from .target import Frame, Given, Parameter, Target

_FACTORY: Final = "factory:"
_CALLED: Final = ("call", "__call__")
_LOCALS: Final = ".<locals>."
_MOST_CALLERS: Final = 6
_MOST_ON_THE_WAY: Final = 30


# A file, the qualified name of the function (None for its top), whether AutoGraph converts it, whether it is host code.
_Key: TypeAlias = tuple[Path, str | None, bool | None, bool]


class TargetError(LookupError):
    """There is no such definition, or what is said of its inputs cannot be used; one line."""


@dataclass(frozen=True, slots=True)
class NoTarget:
    """Why nothing can be run for some findings."""

    reason: str


@dataclass
class Targets:
    """Makes targets. `inputs`: the user's inputs by dotted name, as the settings have them; `keras`: which Keras the
    analyser assumes, None to decide by imports."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    keras: int | None = None
    _files: dict[Path, FileDefinitions] = field(default_factory=dict)
    _knowledge: Knowledge = field(default_factory=Knowledge)
    _analysed: set[Path] = field(default_factory=set)
    _projects: Projects = field(default_factory=Projects)
    _known_callers: Callers = field(init=False)

    def __post_init__(self) -> None:
        self._known_callers = Callers(self._file_if_readable)

    def of_findings(self, findings: Iterable[Finding]) -> list[tuple[Target | NoTarget, list[Finding]]]:
        """The functions around findings, each with its findings, in their order."""
        grouped: dict[_Key, list[Finding]] = {}
        nothing: dict[str, list[Finding]] = {}
        found: list[Finding] = list(findings)
        self._analyse(Path(finding.path).absolute() for finding in found if finding.cell is None)
        for finding in found:
            try:
                key = self._key(finding)
            except TargetError as error:
                nothing.setdefault(str(error), []).append(finding)
            else:
                grouped.setdefault(key, []).append(finding)
        made: list[tuple[Target | NoTarget, list[Finding]]] = []
        for (path, qualname, autograph, host), here in grouped.items():
            wanted = tuple(sorted({finding.span.line for finding in here}))
            if qualname is None:
                made.append((replace(self._program(path), wanted=wanted), here))
                continue
            try:
                target = replace(self._target(path, self._definition(path, qualname)), host=host)
                wanted = tuple(sorted({*wanted, *_shown_at(here, target)}))
            except TargetError as error:
                nothing.setdefault(str(error), []).extend(here)
                continue
            beyond = OF_CHECKS if _LOCALS in qualname else OF_EXTREMES
            extreme = any(finding.name in beyond for finding in here)
            ways = (*map(self.callers_of, here), target.callers, *map(self._makers_of, here))
            callers = tuple(dict.fromkeys(chain.from_iterable(ways)))
            rules = tuple(sorted(OF_THEMSELVES.intersection(finding.name for finding in here)))
            target = replace(target, autograph=autograph, callers=callers, extreme=extreme, rules=rules)
            made.append((replace(target, wanted=wanted), here))
        return made + [(NoTarget(reason), here) for reason, here in nothing.items()]

    def at(self, path: Path, qualname: str) -> Target:
        """One definition by its file and name. Raises TargetError."""
        self._analyse([path])
        return self._target(path.absolute(), self._definition(path.absolute(), qualname))

    def entry(self, path: Path, qualname: str) -> Target:
        """A definition; where the user says nothing of its inputs, the nearest one that leads there and of whose inputs
        the user does. Raises TargetError."""
        wanted = self.at(path, qualname)
        places = [(Path(wanted.file), qualname)]
        for file, name in places:  # which grows
            if wanted.given or wanted.factory is not None or len(places) > _MOST_ON_THE_WAY:
                break
            definition = self._definition(file, name)
            if self._texts(definition, dotted_name(file)[0]):
                return self.at(file, name)
            for caller in islice(self._known_callers.of(file, definition, project_of(file)), _MOST_CALLERS):
                if (place := (Path(caller.file), caller.qualname)) not in places:
                    places.append(place)
        return wanted

    def all(self, paths: Iterable[Path]) -> list[Target]:
        """Every function, and every class of objects that Keras calls, that may be compiled: those that read
        tensors, and that are neither tests nor eager code."""
        wanted = [path.absolute() for path in paths]
        self._analyse(wanted)
        found: dict[tuple[Path, str], Target] = {}
        for (path, qualname), function in self._knowledge.compiled.items():
            if path not in wanted or function.module.is_test:
                continue
            owner = function.owner
            if owner is not None and function.name in _CALLED:
                qualname = owner.qualname  # the object is called, as its users do
            definition = self._file(path).named(qualname)
            if definition is not None and definition.kind != "nested":
                found.setdefault((path, qualname), self._target_or_refusal(path, definition))
        return [found[key] for key in sorted(found)]

    def models(self, paths: Iterable[Path]) -> list[Target]:
        """The functions of modules that give a whole Keras model, and are no tests. Raises nothing: what cannot be a
        target says so."""
        wanted = [path.absolute() for path in paths]
        self._analyse(wanted)
        found = []
        for (path, qualname), function in sorted(self._knowledge.models.items(), key=lambda item: item[0]):
            definition = self._file(path).named(qualname) if path in wanted and not function.module.is_test else None
            if definition is not None and definition.kind == "function":
                found.append(self._target_or_refusal(path, definition))
        return found

    def receiver(self, path: Path, line: int) -> Target | None:
        """The object at the top of a file of which that calls a method at a line; None where it does not."""
        file = self._file(path.absolute())
        definition = file.named(file.receivers.get(line, "-"))
        if definition is None or definition.kind != "object":
            return None
        return self._target_or_refusal(path.absolute(), definition)

    def gives_model(self, target: Target) -> bool:
        """Whether a target is a Keras model, or a function that gives one; what is made at the top of a file, is."""
        return (
            target.kind == "object"
            or (Path(target.file), target.qualname) in self._knowledge.models
            or any(
                self.is_keras(replace(target, qualname=name), "model")
                for name in (target.qualname, target.qualname.rpartition(".")[0])
            )
        )

    def is_keras(self, target: Target, kind: str) -> bool:
        """Whether a target is the call of an object of Keras of that kind ("layer", "model", "loss", "metric")."""
        names = [f"{target.qualname}.{method}" for method in _CALLED]
        functions = (self._knowledge.compiled.get((Path(target.file), name)) for name in names)
        owners = (function.owner for function in functions if function is not None)
        return any(owner is not None and owner.is_keras(kind) for owner in owners)

    # -- from findings ------------------------------------------------------------------------------------------------

    def _key(self, finding: Finding) -> _Key:
        if finding.cell is not None:
            raise TargetError("it is in a notebook, and the probe runs only files")
        path = Path(finding.path).absolute()
        definition = self._file(path).around(finding.span.line)
        if definition is None:
            return path, None, None, True
        if finding.name in OF_LAUNCHES:
            outer = definition.qualname.partition(".<locals>.")[0]  # a decorator stands outside of what it decorates
            return path, outer, None, True
        context = finding.context
        known = context is not None and context.kind in ("xla", "graph")
        return path, definition.qualname, context.autograph if known and context is not None else None, False

    def callers_of(self, finding: Finding) -> Iterator[Frame]:
        """The functions on the way to the flagged one, nearest first: each step names the place of its call."""
        trail = finding.context.trail if finding.context is not None else ()
        for step in reversed(trail[1:]):
            path = Path(step.path).absolute()
            caller = self._file(path).around(step.line)
            if caller is not None:
                yield Frame(str(path), caller.qualname)

    def _makers_of(self, finding: Finding) -> Iterator[Frame]:
        """Who calls the first function on the way to the flagged one, or has the object of which that is a method."""
        trail = finding.context.trail if finding.context is not None else ()
        for step in trail[:1] if len(trail) > 1 else ():
            first = self._file(path := Path(step.path).absolute()).around(step.line)
            if first is not None:
                yield from islice(self._known_callers.of(path, first, project_of(path)), _MOST_CALLERS)

    def _program(self, path: Path) -> Target:
        """A whole file, whose top is to be run."""
        return Target(
            file=str(path),
            qualname="",
            lines=(1, self._file(path).length),
            kind=PROGRAM,
            search=(search := self._search(path)),
            roots=(str(project_of(path)), *search[-1:]),
            host=True,
        )

    # -- one target ---------------------------------------------------------------------------------------------------

    def _analyse(self, paths: Iterable[Path]) -> None:
        fresh = sorted({path.absolute() for path in paths} - self._analysed)
        self._analysed.update(fresh)
        readable = [path for path in fresh if self._readable(path)]
        if readable:
            learned = knowledge_of(readable, self.keras)
            self._knowledge.values |= learned.values
            self._knowledge.compiled |= learned.compiled
            self._knowledge.models |= learned.models

    def _readable(self, path: Path) -> bool:
        try:
            self._file(path)
        except TargetError:
            return False
        return True

    def _file(self, path: Path) -> FileDefinitions:
        if path not in self._files:
            try:
                self._files[path] = FileDefinitions.of(path)
            except (UnreadableSource, SyntaxError, ValueError, RecursionError) as error:
                raise TargetError(f"{path} cannot be read: {error}") from error
        return self._files[path]

    def _file_if_readable(self, path: Path) -> FileDefinitions | None:
        return self._file(path) if self._readable(path) else None

    def _definition(self, path: Path, qualname: str) -> Definition:
        file = self._file(path)
        found = file.named(qualname)
        if found is None:
            names = [one.qualname for one in (*file.found, *file.objects)]
            close = get_close_matches(qualname, names, 1)
            raise TargetError(f"no `{qualname}` in {path.name}" + (f"; did you mean `{close[0]}`?" if close else ""))
        return found

    def _target(self, path: Path, definition: Definition) -> Target:
        name, _ = dotted_name(path)
        owner = definition.owner if definition.kind == "method" else None
        qualname = definition.qualname
        texts = self._texts(definition, name)
        made_of = self._texts(owner, name) if owner is not None else []
        if definition.kind == "class":
            # The comment above a class is for the object, that above its `call` for the call.
            called = next((one for one in self._called(path, qualname)), None)
            made_of, texts = texts, self._texts(called, name) if called is not None else []
        required = required_near([path.parent]).get(path.parent)
        outer = self._file(path).named(qualname.partition(_LOCALS)[0]) or definition  # it makes what is inside of it
        called_by = self._known_callers.of(path, outer, project_of(path))
        return Target(
            file=str(path),
            qualname=qualname,
            lines=definition.lines,
            kind=definition.kind,
            parameters=self._parameters(path, qualname),
            given=_given(texts),
            made_of=_given(made_of),
            factory=next((text.removeprefix(_FACTORY) for text in texts if text.startswith(_FACTORY)), None),
            search=(search := self._search(path)),
            roots=(str(project_of(path)), *search[-1:]),
            callers=tuple(islice(called_by, _MOST_CALLERS)) if outer.kind in ("function", "method") else (),
            keras=self.keras or (required.keras if required is not None else None),
        )

    def _search(self, path: Path) -> tuple[str, ...]:
        """The folders above a file's project, nearest first, in which its program may be started, as the linter has
        them: the last holds the others."""
        own = project_of(path)
        if not set(INSTALLED).isdisjoint(path.parts):
            return ()
        around = folders_around(path.parent, self._projects, path.parent)
        return tuple(str(folder) for folder in around if folder in own.parents)

    def _target_or_refusal(self, path: Path, definition: Definition) -> Target:
        """What is said of its inputs, where it cannot be used, costs this one only."""
        try:
            return self._target(path, definition)
        except TargetError as error:
            return Target(str(path), definition.qualname, definition.lines, definition.kind, refused=str(error))

    def _called(self, path: Path, qualname: str) -> Iterator[Definition]:
        for name in _CALLED:
            if (found := self._file(path).named(f"{qualname}.{name}")) is not None:
                yield found

    def _parameters(self, path: Path, qualname: str) -> tuple[Parameter, ...]:
        for name in (qualname, *(f"{qualname}.{method}" for method in _CALLED)):
            if found := self._knowledge.parameters((path, name)):
                return found
        return ()

    def _texts(self, definition: Definition, module: str) -> list[str]:
        """The user's word on a definition: in the comment above it, else in the settings."""
        said = self.inputs.get(f"{module}.{definition.qualname}")
        return list(definition.comments) or ([said] if said is not None else [])


def _shown_at(findings: Iterable[Finding], target: Target) -> Iterator[int]:
    """The lines of a target at which what findings say of others shows: where what is flagged is used, or chosen, and
    what makes a gradient compile again."""
    first, last = target.lines
    for finding in findings:
        yield from _chosen_at(finding)
        for note in finding.notes:
            shows = note.consumer or finding.name == OF_NESTED
            if shows and first <= note.span.line <= last and str(Path(note.path).absolute()) == target.file:
                yield note.span.line


def _chosen_at(finding: Finding) -> Iterator[int]:
    """The lines at which a function takes what is flagged where it calls that by a name of its own."""
    function = function_around(finding.path, finding.span.line) if finding.api else None
    nodes = [*ast.walk(function)] if function is not None else []
    calls = (one for one in nodes if isinstance(one, ast.Call) and one.lineno == finding.span.line)
    called = {one.func.id for one in calls if isinstance(one.func, ast.Name)}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as taken) if name in called:
                if ast.unparse(taken).partition(".")[2] == finding.api.partition(".")[2]:
                    yield node.lineno


def _given(texts: Sequence[str]) -> tuple[Given, ...]:
    found = [text for text in texts if not text.startswith(_FACTORY)]
    try:
        return tuple(Given(name, spec) for text in found[:1] for name, spec in parse_inputs(text))
    except SpecError as error:
        raise TargetError(str(error)) from error
