"""Rewrites proven: what a function was, run eagerly, against what it becomes, compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from ..settings.config import ProbeSettings, Settings
from ..sources.packages import dotted_name
from ..sources.scratch import Scratch
from ..sources.text import encoding_of, kept_lines
from .definitions import Definition, FileDefinitions
from .interpreters import interpreter_of, versions_of
from .process import Limits
from .protocol import DIVERGES, FAILS, JAX, RECOMPILES, TENSORFLOW, Outcome
from .running import plan_of, runner_of
from .target import Target
from .targets import TargetError, Targets

_NAMES: Final = {TENSORFLOW: "TensorFlow", JAX: "JAX"}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file by its absolute path, before and after its rewrites; on the disk it is what it was before."""

    path: Path
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of one function: whether the rewrite holds, with every backend that its file is for, and what was seen,
    in one line."""

    path: Path
    qualname: str
    holds: bool
    said: str


def prove(files: Sequence[Rewritten], settings: Settings) -> list[Proof]:
    """Run every function that the rewrites change, or what leads there and of whose inputs the user says something; of
    a file of Keras that does not import TensorFlow with JAX, too, where that is installed. Raises
    ProbeUnavailableError."""
    targets = Targets(settings.probe.inputs, settings.keras)
    probe = replace(settings.probe, target="cpu")
    limits = Limits(*probe.limits)
    plan = replace(plan_of(probe, limits), locate=False, padded=bool(settings.bounds))
    proofs: dict[tuple[Path, str], dict[str, Proof]] = {}
    changed: dict[Target, list[tuple[Path, str]]] = {}  # by what is run, which may lead to several
    moved: list[Target] = []
    with _shadows(files) as shadows:
        for file in files:
            backends = _backends(file, probe)
            for qualname in changed_functions(file):
                lost = Proof(file.path, qualname, False, "not run: the probe was interrupted")
                proofs[file.path, qualname] = dict.fromkeys(backends, lost)
                try:
                    original = targets.entry(file.path, qualname)
                except TargetError as error:
                    lost = Proof(file.path, qualname, False, f"not run: {error}")
                    proofs[file.path, qualname] = dict.fromkeys(backends, lost)
                    continue
                for backend in backends:
                    one = replace(original, backend=backend)
                    if one not in changed:
                        moved.append(_moved(one, {other.path: other.after for other in files}, shadows))
                    changed.setdefault(one, []).append((file.path, qualname))
        originals = [*changed]

        places = {file.path: changed_places(file) for file in files}

        def done(index: int, outcome: Outcome) -> None:
            one = originals[index]
            for path, qualname in changed[one]:
                where = places[path].get(qualname, ())
                proofs[path, qualname][one.backend] = Proof(path, qualname, *judged(outcome, str(path), where))

        if moved:
            with runner_of(probe, limits, plan) as runner:
                runner.run(moved, done, dict(enumerate(originals)))
    return [_joined(by_backend) for by_backend in proofs.values()]


def _backends(file: Rewritten, probe: ProbeSettings) -> tuple[str, ...]:
    """What a file is run with."""
    names = _imported(file.before)
    if "tensorflow" in names or not names.intersection(("keras", "jax")):
        return (TENSORFLOW,)
    if "jax" in names:
        return (JAX,)
    return (TENSORFLOW, JAX) if JAX in versions_of(interpreter_of(probe)) else (TENSORFLOW,)


def _imported(text: str) -> set[str]:
    """The packages that a file imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                found.update(one.name.partition(".")[0] for one in names)
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module.partition(".")[0])
    return found


def _joined(by_backend: Mapping[str, Proof]) -> Proof:
    """One proof of those with each backend."""
    first, *others = by_backend.values()
    if not others:
        return first
    said = "; ".join(f"with {_NAMES[backend]}: {one.said}" for backend, one in by_backend.items())
    return replace(first, holds=all(one.holds for one in by_backend.values()), said=said)


def changed_functions(file: Rewritten) -> list[str]:
    """The functions and methods of the file whose source is another afterwards, by their qualified names."""
    before, after = _sources(file.before), _sources(file.after)
    return [qualname for qualname, source in before.items() if after.get(qualname) != source]


def changed_places(file: Rewritten) -> dict[str, list[range]]:
    """By function, the lines of the file, as it was, at which the function is another afterwards: those of the smallest
    statements around them. A decorator stands for the whole function, and a function inside it for all of its own
    statements, which AutoGraph may have copied to where nobody sees them run."""
    before, after = kept_lines(file.before), _sources(file.after)
    statements = [*_statements(ast.parse(file.before))]
    found: dict[str, list[range]] = {}
    for one in _outer(file.before):
        first, last = one.lines
        lines, others = before[first - 1 : last], kept_lines(after.get(one.qualname, ""))
        for kind, start, end, _, _ in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
            if kind != "equal":
                changed = range(first + start, max(first + end, first + start + 1))
                found.setdefault(one.qualname, []).append(_around(changed, statements))
    return found


def _statements(node: ast.AST, inside: bool = False) -> Iterator[ast.stmt]:
    """The statements in a tree, without those of functions inside others."""
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(child, ast.stmt):
            yield child
        if not (inside and is_function):
            yield from _statements(child, inside or is_function)


def _around(lines: range, statements: Sequence[ast.stmt]) -> range:
    """The lines of the smallest statement around the first of some lines, and these."""
    heads = [min([one.lineno, *(it.lineno for it in getattr(one, "decorator_list", ()))]) for one in statements]
    extents = [range(head, (one.end_lineno or head) + 1) for head, one in zip(heads, statements, strict=True)]
    around = min((one for one in extents if lines.start in one), key=len, default=lines)
    return range(around.start, max(around.stop, lines.stop))


def function_around(text: str, line: int) -> str | None:
    """The qualified name of the function or method around a line; functions inside of it belong to it."""
    around = (one for one in _outer(text) if one.lines[0] <= line <= one.lines[1])
    return next((one.qualname for one in around), None)


def judged(outcome: Outcome, path: str = "", places: Sequence[range] = ()) -> tuple[bool, str]:
    """Whether a rewrite holds: it compiled once for each shape, and gives what the original gives. `places`: the lines
    of the file `path` at which the two differ, some of which must have run."""
    if outcome.not_run is not None:
        return False, f"not run: {outcome.not_run}"
    for one in outcome.observations:
        if one.kind in (FAILS, DIVERGES) or (one.kind == RECOMPILES and one.per == "value"):
            return False, f"{one.text}; {outcome.how}" if outcome.how else one.text
    if outcome.death is not None or not outcome.calls:
        return False, f"not run: the process {outcome.death}" if outcome.death else "not run: nothing was called"
    ran = [any(line in place for line in outcome.reached.get(path, ())) for place in places]
    if places and not any(ran):
        return False, f"not run: none of its changed lines is reached; {outcome.how}"
    shapes, compilations = len({one.variant for one in outcome.calls}), sum(one.compilations for one in outcome.calls)
    values = f"{_counted(len(outcome.calls), 'set')} of values of {_counted(shapes, 'shape')}"
    missed = "" if all(ran) else f", {ran.count(False)} of {_counted(len(ran), 'changed place')} not reached"
    return True, f"equal for {values} in {_counted(compilations, 'compilation')}{missed}; {outcome.how}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _outer(text: str) -> list[Definition]:
    return [one for one in FileDefinitions.of_text(Path(), text).found if one.kind in ("function", "method")]


def _sources(text: str) -> dict[str, str]:
    """The source of each function and method."""
    lines = kept_lines(text)
    return {one.qualname: "".join(lines[one.lines[0] - 1 : one.lines[1]]) for one in _outer(text)}


# -- where the rewritten code runs ------------------------------------------------------------------------------------


@contextmanager
def _shadows(files: Sequence[Rewritten]) -> Iterator[dict[Path, Path]]:
    """For each folder that modules of the files are imported from, one that is like it, with the files rewritten."""
    by_root: dict[Path, dict[Path, str]] = {}
    for file in files:
        by_root.setdefault(dotted_name(file.path)[1], {})[file.path] = file.after
    with Scratch() as folder:
        made: dict[Path, Path] = {}
        for number, (root, changed) in enumerate(by_root.items()):
            made[root] = Path(folder, str(number))
            _shadow(root, made[root], changed)
        yield made


def _shadow(source: Path, target: Path, changed: Mapping[Path, str]) -> None:
    """Links to everything in a folder, but for files that are rewritten and the folders that these are in; a package is
    known by its `__init__.py`, which must be its own."""
    target.mkdir()
    for entry in source.iterdir():
        if entry in changed:
            (target / entry.name).write_text(changed[entry], encoding=encoding_of(entry.read_bytes()), newline="")
        elif any(entry in path.parents for path in changed):
            _shadow(entry, target / entry.name, changed)
        elif entry.name == "__init__.py":
            (target / entry.name).write_bytes(entry.read_bytes())
        else:
            (target / entry.name).symlink_to(entry)


def _moved(target: Target, after: Mapping[Path, str], shadows: Mapping[Path, Path]) -> Target:
    """The target as it stands in the rewritten files."""

    def moved(path: str) -> str:
        for root, shadow in shadows.items():
            if Path(path) == root or root in Path(path).parents:
                return str(shadow / Path(path).relative_to(root))
        return path

    path, definition = Path(target.file), None
    if path in after:
        definition = FileDefinitions.of_text(path, after[path]).named(target.qualname)
    return replace(
        target,
        file=moved(target.file),
        lines=target.lines if definition is None else definition.lines,
        search=tuple(map(moved, target.search)),
        roots=tuple(map(moved, target.roots)),
        callers=tuple(replace(caller, file=moved(caller.file)) for caller in target.callers),
        wanted=(),
    )
