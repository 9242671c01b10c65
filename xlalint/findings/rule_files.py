"""Where the files of the rules are: those that are shipped, those of installed packages, and those that the person who
runs xlalint names. Never those that the code that is checked names: rules are code that runs.

A rule's file is called after it: `xla201_boolean_mask.py` is XLA201, boolean-mask. Rules of one's own have letters of
their own (`acme101_no_inverse.py`). Nothing is imported here, so that a run that finds its results cached imports no
rule.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Final

GROUP: Final = "xlalint.rules"  # the entry points by which an installed package offers its rules
SHIPPED: Final = "XLA"  # the letters of the rules that come with xlalint

_RULE_FILE: Final = re.compile(r"([a-z]+)(\d{3})_([a-z0-9]+(?:_[a-z0-9]+)*)\.py")
_HINT: Final = "the file of a rule is named after its code and name, as in acme101_no_inverse.py"


class RulesError(Exception):
    """Rules that cannot be used; the message is one line that says which and why."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A file with one rule, the module that it is imported as, and what the rule is called."""

    path: Path
    module: str
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class RuleFolder:
    """A folder with the files of rules, and all Python files that these may share."""

    rules: tuple[RuleFile, ...]
    sources: tuple[Path, ...]


@cache
def shipped() -> RuleFolder:
    """The rules that come with xlalint."""
    return _package("xlalint.rules")


@cache
def installed() -> tuple[RuleFolder, ...]:
    """The rules of installed packages that name a package of theirs as an entry point of the group `xlalint.rules`.
    Raises RulesError."""
    found = [_package(module) for module in sorted(set(_entry_points()))]
    for folder in found:
        _refuse_shipped_letters(folder)
    return tuple(found)


_given: tuple[RuleFolder, ...] = ()


def give(paths: Sequence[str | Path]) -> None:
    """Take in the rules of these files and folders, and no others that were given before. Raises RulesError."""
    global _given
    found: dict[Path, list[str]] = {}  # of each folder, which files; none for all
    for path in map(Path, paths):
        if path.is_dir():
            found[Path(os.path.abspath(path))] = []
        elif path.is_file():
            found.setdefault(Path(os.path.abspath(path.parent)), []).append(path.name)
        else:
            raise RulesError(f"{path}: no such file or folder")
    folders = tuple(_folder(folder, names) for folder, names in found.items())
    for folder in folders:
        _refuse_shipped_letters(folder)
    before, _given = _given, folders
    for known in (every, names):
        known.cache_clear()
    try:
        every()
    except RulesError:
        _given = before
        raise


@cache
def every() -> dict[str, RuleFile]:
    """The file of each rule, by code. Raises RulesError."""
    codes: dict[str, RuleFile] = {}
    called: dict[str, RuleFile] = {}
    for rule in (rule for folder in _folders() for rule in folder.rules):
        for known, what in ((codes, rule.code), (called, rule.name)):
            if what in known:
                raise RulesError(f"{rule.path}: {what} is the rule in {known[what].path}")
            known[what] = rule
    return dict(sorted(codes.items()))


@cache
def names() -> dict[str, str]:
    """Code -> name of every rule, by code. Raises RulesError."""
    return {code: rule.name for code, rule in every().items()}


def given() -> frozenset[str]:
    """The codes of the rules that were taken in by `give`."""
    return frozenset(rule.code for folder in _given for rule in folder.rules)


def names_in(folder: Path) -> dict[str, str]:
    """Code -> name of the rules in a folder, whether or not they run."""
    return {rule.code: rule.name for rule in _rules_in(folder, "")}


def sources() -> tuple[Path, ...]:
    """Every Python file that belongs to rules, what they share included."""
    return tuple(sorted({path for folder in _folders() for path in folder.sources}))


def _folders() -> tuple[RuleFolder, ...]:
    return (shipped(), *installed(), *_given)


def _refuse_shipped_letters(folder: RuleFolder) -> None:
    for rule in folder.rules:
        if rule.code.startswith(SHIPPED):
            raise RulesError(f"{rule.path}: codes that begin with {SHIPPED} are those of xlalint's own rules")


def _package(module: str) -> RuleFolder:
    try:
        spec = importlib.util.find_spec(module)
    except Exception as error:  # whatever a parent package raises when it is imported
        raise RulesError(f"rules of the package {module}: {type(error).__name__}: {error}") from error
    if spec is None or not spec.submodule_search_locations:
        raise RulesError(f"rules of the package {module}: there is no such package")
    folder = Path(next(iter(spec.submodule_search_locations)))
    return RuleFolder(tuple(_rules_in(folder, module)), tuple(_sources_in(folder)))


def _folder(folder: Path, names: Sequence[str]) -> RuleFolder:
    """The rules of a folder that need not be a package: it becomes one, so that its files can share others."""
    module = f"xlalint_rules_{blake2b(os.fsencode(folder), digest_size=8).hexdigest()}"
    if module not in sys.modules:
        package = ModuleType(module)
        package.__path__ = [str(folder)]
        sys.modules[module] = package
    rules = {rule.path.name: rule for rule in _rules_in(folder, module)}
    for name in names:
        if name not in rules:
            raise RulesError(f"{folder / name}: {_HINT}")
    if not rules:
        raise RulesError(f"{folder}: there is no rule in it; {_HINT}")
    wanted = [rules[name] for name in names] or rules.values()
    return RuleFolder(tuple(wanted), tuple(_sources_in(folder)))


def _rules_in(folder: Path, module: str) -> Iterator[RuleFile]:
    for path in sorted(folder.glob("*.py")):
        if (match := _RULE_FILE.fullmatch(path.name)) is not None:
            letters, digits, name = match.groups()
            yield RuleFile(path, f"{module}.{path.stem}", f"{letters.upper()}{digits}", name.replace("_", "-"))


def _sources_in(folder: Path) -> Iterator[Path]:
    """The Python files of a folder and of the packages in it, from which its files may import."""
    yield from folder.glob("*.py")
    for package in folder.glob("*/__init__.py"):
        yield from _sources_in(package.parent)


def _entry_points() -> Iterator[str]:
    """The packages that installed distributions name. `importlib.metadata`, which knows them too, takes longer to be
    imported than a run with cached results takes; and it would look into the working directory, where
    `python -m xlalint` has Python look, too, and where the code that is checked may be."""
    here = os.getcwd()
    for folder in sys.path:
        if os.path.abspath(folder) != here:
            for file in _metadata(folder):
                yield from _named_in(file)


def _metadata(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
    except OSError:  # an archive, or an entry that stands for nothing
        return
    for path in sorted(found):
        file = os.path.join(path, "entry_points.txt")
        if os.path.isfile(file):
            yield file


def _named_in(file: str) -> Iterator[str]:
    try:
        text = Path(file).read_text("utf-8", "replace")
    except OSError as error:
        raise RulesError(f"{file}: {error.strerror or error}") from error
    if GROUP not in text:
        return
    from configparser import ConfigParser
    from configparser import Error as UnreadableError

    parser = ConfigParser(delimiters=("=",), interpolation=None)
    try:
        parser.read_string(text)
    except UnreadableError as error:
        raise RulesError(f"{file}: {str(error).splitlines()[0]}") from error
    if parser.has_section(GROUP):
        yield from parser[GROUP].values()
