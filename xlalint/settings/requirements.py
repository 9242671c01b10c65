"""Which Keras and TensorFlow a project runs on, read from what it requires: never imported, never executed."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from ..findings.findings import Backend
from ..sources.text import MOST_SETTINGS, UnreadableSource, read_bytes
from ..sources.toml import read_toml

_T = TypeVar("_T")
_Bounds: TypeAlias = Sequence[tuple[str, tuple[int, ...]]]  # each a sign and the numbers of a version

_JAX: Final = re.compile(r"\s*jax(?:lib)?\b(?!-)")
_KERAS_3_LIBRARIES: Final = re.compile(r"\s*keras(?:[-_](?:core|cv|hub|nlp|rs))?\b(?!-)")
_PYPROJECT: Final = "pyproject.toml"
# The lists for pip of a folder, and conda's environments, as glob patterns.
_LISTS: Final = ("*requirement*.txt", "requirements/*.txt")
_ENVIRONMENTS: Final = tuple(f"{stem}.{end}" for stem in ("*environment*", "conda", "env") for end in ("yml", "yaml"))
_LONGEST: Final = 2_000  # characters of a requirement
_CONCERNS: Final = re.compile("tensorflow|keras", re.IGNORECASE)
_REST: Final = re.compile(r"(^|\s)(#|--).*|\\\s*$")  # of a line for pip: comments, hashes, and that it goes on
_NORMAL: Final = re.compile(r"[-_.]+")
# An item of an environment: `- channel::name=1.2=build`, `- "name>=1.2"  # why`.
_CONDAS: Final = re.compile(r"""\s*-\s+["']?(?:[^"'\s]*::)?(?P<name>[\w.-]+)\s*(?P<bounds>[^"'#\n]*)""")
_FUZZY: Final = re.compile(r"\A=(?!=)\s*(?P<version>[^=\s]+).*")  # what pip writes with two signs

# The distributions that bring TensorFlow; the GPU one stopped at 2.12.
_TENSORFLOW: Final = frozenset(("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tensorflow-intel"))
_WITH_GPU: Final = _TENSORFLOW | {"tensorflow-gpu"}
_KERAS_2_ONLY: Final = frozenset(("tf-keras", "tf-keras-nightly", "tensorflow-gpu"))
_BRINGS_KERAS: Final = _TENSORFLOW | _KERAS_2_ONLY | {"keras"}
_KERAS_3_ARRIVED: Final = (2, 16)  # TensorFlow 2.16 is the first whose `tf.keras` is Keras 3, and asks for a Keras 3
_LAST_WITH_KERAS_2: Final = (2, 15)
_LAST_WITH_GPU: Final = (2, 11)  # of `tensorflow-gpu`: what is called 2.12 only says that it is no more
_NUMBERED_ALIKE: Final = _WITH_GPU | {"tf-keras"}  # which asks for the TensorFlow of its own number


def keras_of_project(paths: Iterable[Path]) -> tuple[int, str] | None:
    """The Keras that the project around the first telling path requires, and where that is written."""
    return _first_of_project(paths, keras_of)


def tensorflow_of_project(paths: Iterable[Path]) -> tuple[str, str] | None:
    """The newest TensorFlow that the project around the first telling path allows, and where that is written."""
    return _first_of_project(paths, tensorflow_of)


def _first_of_project(paths: Iterable[Path], told: Callable[[Iterable[str]], _T | None]) -> tuple[_T, str] | None:
    for path in paths:
        for folder in _upward(path if os.path.isdir(path) else path.parent):
            files = list(_requirement_files(folder))
            for file, read in files:
                if (found := told(_requirements(file, read))) is not None:
                    return found, str(file)
            if files or (folder / ".git").exists():
                break
    return None


@dataclass(frozen=True, slots=True)
class Required:
    """What requirements say that name TensorFlow or Keras. `keras`: 2 or 3, None where they leave it open; `backends`:
    what they have Keras 3 run on, where JAX is among it; `file`: where they stand; `tensorflow_1`: no later one runs
    the code, and none of these compiles what does not ask for it; `tensorflow`: the newest that they allow, None where
    they set no upper bound."""

    keras: int | None
    backends: frozenset[Backend]
    file: Path
    tensorflow_1: bool = False
    tensorflow: str | None = None


def required_near(folders: Iterable[Path]) -> dict[Path, Required]:
    """What the project of each folder requires, by the nearest file that names TensorFlow or Keras. Folders around
    which no file does are left out. What lies further up than a project that states its own requirements says nothing
    of its backends."""
    known: dict[Path, Required | None] = {}  # None: no file here or further up
    for folder in folders:
        passed = []
        for above in _upward(folder):
            if above in known:
                break
            passed.append(above)
            if (said := _said_in(above)) is not None or (above / ".git").exists():
                known[above] = said
                break
        found = known.get(above)
        for within in reversed(passed):
            if within in known:
                continue
            if found is not None and found.backends and _is_project(within):
                found = replace(found, backends=frozenset())
            known[within] = found
    return {folder: said for folder in folders if (said := known[folder.absolute()]) is not None}


def _said_in(folder: Path) -> Required | None:
    """What the requirements in a folder say; None where they name neither Keras nor TensorFlow. Where the first file
    that does leaves Keras's version open, as keywords of a package do, the others decide it where they agree."""
    if not any(map(_may_require, os.listdir(folder) if folder.is_dir() else ())):
        return None  # most folders: to look at each of their names takes a tenth of the time
    said: list[Required] = []
    for file, read in _requirement_files(folder):
        requirements = _requirements(file, read)
        if any((found := _named(text)) is not None and found[0] in _BRINGS_KERAS for text in requirements):
            needed = _requirements(file, _dependencies) if file.name == _PYPROJECT else requirements
            old = any(map(_is_tensorflow_1, requirements))
            newest = tensorflow_of(requirements)
            said.append(Required(keras_of(requirements), backends_of(needed), file, old, newest))
            if said[0].keras is not None:
                return said[0]
    deciding = [one for one in said if one.keras is not None]
    if len({one.keras for one in deciding}) == 1:
        allowed = [one.tensorflow for one in deciding]
        latest = None if None in allowed else max(filter(None, allowed), key=_numbers)
        return replace(said[0], keras=deciding[0].keras, file=deciding[0].file, tensorflow=latest)
    return said[0] if said else None


def _is_project(folder: Path) -> bool:
    """Whether a folder states requirements in more than a list for pip."""
    files = _requirement_files(folder)
    return any(read is not _lines and any(_requirements(file, read)) for file, read in files)


def backends_of(requirements: Iterable[str]) -> frozenset[Backend]:
    """What the requirements have Keras 3 run on, where JAX is among it."""
    requirements = list(requirements)
    if not (any(map(_JAX.match, requirements)) and any(map(_KERAS_3_LIBRARIES.match, requirements))):
        return frozenset()
    named = ((found := _named(text)) is not None and found[0] in _TENSORFLOW for text in requirements)
    return frozenset(Backend) if any(named) else frozenset((Backend.JAX,))


def _may_require(name: str) -> bool:
    return name in _READERS or "requirement" in name or "environment" in name or name.endswith(".dist-info")


def keras_of(requirements: Iterable[str]) -> int | None:
    """2 or 3 as far as the requirements decide it."""
    verdicts = {verdict for text in requirements if (verdict := _verdict(text)) is not None}
    return min(verdicts, default=None)  # what works with Keras 2 too must keep Keras 2's promises


def _is_tensorflow_1(requirement: str) -> bool:
    """Whether it asks for a TensorFlow before the second."""
    found = _named(requirement)
    return found is not None and found[0] in _WITH_GPU and _side(found[1], (2,)) == 2


def tensorflow_of(requirements: Iterable[str]) -> str | None:
    """The newest TensorFlow that the requirements allow, as far as they set an upper bound."""
    newest = [top for text in requirements if (found := _named(text)) is not None for top in _tops(*found)]
    return ".".join(map(str, min(newest))) if newest else None


def _tops(name: str, bounds: _Bounds) -> Iterator[tuple[int, ...]]:
    """The TensorFlows above which a requirement allows none."""
    if name in _NUMBERED_ALIKE:
        yield from (top for sign, version in bounds if (top := _newest(sign, version)) is not None)
    if name == "tensorflow-gpu":
        yield _LAST_WITH_GPU
    if name == "keras" and _side(bounds, (3,)) == 2:
        yield _LAST_WITH_KERAS_2


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _newest(sign: str, version: tuple[int, ...]) -> tuple[int, ...] | None:
    """The newest release (`2.15`) below a bound; None where it leaves the minor version open."""
    major, minor, *rest = (*version, 0) if len(version) == 1 else version
    match sign:
        case "<" if not any(rest):
            return (major, minor - 1) if minor else None
        case "<" | "<=":
            return major, minor
        case "==" if len(version) > 1:
            return major, minor
        case "~=" if len(version) > 2:
            return major, minor
        case _:
            return None


@lru_cache(maxsize=1024)
def _named(requirement: str) -> tuple[str, _Bounds] | None:
    """The normal name in a requirement that may be of TensorFlow or Keras, and its bounds."""
    if len(requirement) > _LONGEST or not _CONCERNS.search(requirement):
        return None
    from packaging.requirements import Requirement  # 20 ms, and most projects need it for nothing
    from packaging.utils import canonicalize_name
    from packaging.version import Version

    try:
        found = Requirement(_REST.sub("", requirement).strip())
        # `===` means what `==` does, for versions that are none besides.
        bounds = [(one.operator[:2], Version(one.version.removesuffix(".*")).release) for one in found.specifier]
    except (ValueError, RecursionError):  # none, or one that nobody can mean
        return None
    return canonicalize_name(found.name), bounds


def _verdict(requirement: str) -> int | None:
    if (found := _named(requirement)) is None:
        return None
    name, bounds = found
    if name in _KERAS_2_ONLY:
        return 2
    if name in _TENSORFLOW:
        return _side(bounds, _KERAS_3_ARRIVED)
    return _side(bounds, (3,)) if name == "keras" else None


def _side(bounds: _Bounds, border: tuple[int, ...]) -> int | None:
    """2 when every allowed version lies below `border`, 3 when every one lies at or above it, else None."""
    for sign, version in bounds:
        match sign:
            case "<" if _padded(version) <= _padded(border):
                return 2
            case "<=" if _padded(version) < _padded(border):
                return 2
            case ">=" | ">" if _padded(version) >= _padded(border):
                return 3
            case "==" | "~=":
                # `==2.15.*` and `~=2.15.0` pin a prefix; `~=2.15` and `==2.*` pin only the 2, which decides nothing
                pinned = version[:-1] if sign == "~=" else version
                known = min(len(pinned), len(border))
                if pinned[:known] != border[:known]:
                    return 2 if pinned[:known] < border[:known] else 3
                if known == len(border):
                    return 3
    return None


def _padded(version: tuple[int, ...]) -> tuple[int, ...]:
    return (*version, 0, 0, 0, 0)[:4]


def _upward(folder: Path) -> Iterator[Path]:
    absolute = folder.absolute()
    yield absolute
    yield from absolute.parents


def _requirement_files(folder: Path) -> Iterator[tuple[Path, Callable[[Path], Iterable[str]]]]:
    """The files of a folder that state requirements, and how to read each."""
    for name, read in _READERS.items():
        if (folder / name).is_file():
            yield folder / name, read
    for patterns, read in ((_LISTS, _lines), (_ENVIRONMENTS, _environment)):
        for file in sorted(file for pattern in patterns for file in folder.glob(pattern) if file.is_file()):
            yield file, read
    package = _NORMAL.sub("_", folder.name)
    inside = [info for info in folder.glob("*.dist-info") if (info / "METADATA").is_file()]
    if len(inside) == 1:  # where packages are installed there are several, and none speaks for the others
        yield inside[0] / "METADATA", _metadata
    for info in sorted(folder.parent.glob(f"{package}-*.dist-info")):
        if (info / "METADATA").is_file():
            yield info / "METADATA", _metadata


def _requirements(file: Path, read: Callable[[Path], Iterable[str]]) -> list[str]:
    """The requirement strings in `file`; a file that cannot be read or parsed states nothing."""
    try:
        return list(read(file))
    except (UnreadableSource, ValueError, SyntaxError, RecursionError, MemoryError):  # the last: nested too deeply
        return []


def _text(file: Path) -> str:
    return read_bytes(file, MOST_SETTINGS).decode("utf-8")


def _lines(file: Path) -> list[str]:
    return _text(file).splitlines()


def _environment(file: Path) -> Iterator[str]:
    """The packages of a conda environment, those for pip as well, as pip writes them."""
    for line in _lines(file):
        if item := _CONDAS.match(line):
            yield item["name"] + _FUZZY.sub(r"==\g<version>", item["bounds"].strip())


def _dependencies(file: Path) -> Iterator[str]:
    """What a project cannot do without: extras are for those who ask for them."""
    yield from _strings(read_toml(file).get("project", {}), ("dependencies",))


def _pyproject(file: Path) -> Iterator[str]:
    yield from _strings(read_toml(file).get("project", {}), ("dependencies", "optional-dependencies"))


def _strings(table: Any, keys: Sequence[str]) -> Iterator[str]:
    """Every string in the values of `keys`, at any depth."""
    pending = [table[key] for key in keys if key in table] if isinstance(table, dict) else []
    while pending:
        match pending.pop():
            case str(text):
                yield text
            case list(items):
                pending.extend(items)
            case dict(entries):
                pending.extend(entries.values())


def _setup_py(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(_text(file))):
        match node:
            case ast.Constant(value=str(value)) if "\n" not in value:
                yield value


def _setup_cfg(file: Path) -> Iterator[str]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_text(file))
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    if parser.has_section("options"):
        yield from parser["options"].get("install_requires", "").splitlines()
    if parser.has_section("options.extras_require"):
        for value in parser["options.extras_require"].values():
            yield from value.splitlines()


def _metadata(file: Path) -> Iterator[str]:
    head = _text(file).partition("\n\n")[0]
    for line in head.splitlines():
        key, _, value = line.partition(":")
        if key == "Requires-Dist":
            yield value


_READERS: Final[dict[str, Callable[[Path], Iterable[str]]]] = {
    _PYPROJECT: _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
}
