"""Files as the analyser reads them: the outline of each at once, the trees of its definitions when they are asked for.

Nothing here knows what a name means, so that several analyses of one project share it.
"""

from __future__ import annotations

import ast
import os
import re
import traceback
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from io import StringIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...findings.codes import SYNTAX_ERROR, UNFINISHED_FILE
from ...sources.interface import addresses_in, interface_of
from ...sources.outline import ImportOutline, Outline, OutlineError, Stretch, are_alone, outline
from ...sources.packages import dotted_name
from ...sources.text import Source, UnreadableSource, digest_of, names_strategies, newline_of, read_bytes, source_of
from ...syntax import nodes as cst
from ...syntax.build import module_of, parse_module
from ..record import Record
from .dependencies import note_absent, note_name, note_offered, note_outline, note_stretch, note_whole

if TYPE_CHECKING:
    import libcst

# An import of TensorFlow or Keras, under whatever roof: `from keras_cv.backend import ops`, `import tensorflow as tf`;
# or of Accelerate's launcher, whose programs are read for the sake of its own rules.
_IMPORTS = re.compile(
    r"^[ \t]*(?:from|import)\b[^\n#]*\b(?:tensorflow\w*|keras\w*|tf_keras|tf|tfp|tnp|notebook_launcher)\b",
    re.MULTILINE,
)
_MENTIONS = re.compile(r"\b(?:tf|keras)\.")

Span4 = tuple[int, int, int, int]

# Characters of the files that several parts of a large project share and that are kept from one to the next.
_KEPT_TEXT: Final = 500_000
# Lines of definitions that are kept as Python's own trees, which take about twelve hundred bytes each.
_KEPT_LINES: Final = 6_000
# A form feed before an indentation, which Python passes over.
_PAGE_BREAK: Final = re.compile(r"^[ \t]*\f+", re.MULTILINE)


class SyntaxTrouble(Record):
    """A file or definition that cannot be read as Python, or is not worth it; 1-based line and column."""

    path: str
    line: int
    column: int
    message: str
    code: str = SYNTAX_ERROR


class InternalTrouble(Record):
    """An exception of the analyser or of a rule about one place; `detail` is its traceback. `rule`: the code of the
    rule whose own code raised it."""

    path: str
    message: str
    detail: str
    rule: str = ""

    @classmethod
    def of(cls, error: Exception, path: str, line: int, doing: str, rule: str = "") -> InternalTrouble:
        """The exception that is being handled, which came up while `doing` something with a line of `path`."""
        message = f"line {line}: internal error while {doing}: {type(error).__name__}: {error}"
        return cls(path, message, traceback.format_exc(), rule)


class Unit:
    """A stretch of a file as a tree. An indented stretch, a method, hangs under an `if` not of the file."""

    def __init__(self, file: File, stretch: Stretch, statements: Sequence[ast.stmt] | None = None) -> None:
        self.file = file
        self.text = _text_of(file, stretch)
        indented = _is_indented(self.text)
        self.first_line = stretch.first
        self._last = stretch.last
        whole = _in_block(self.text)
        if statements is not None:
            self.tree = module_of(statements, whole, stretch.first, indented=indented)
            self._offset = 0
        else:
            self.tree = parse_module(whole)
            self._offset = stretch.first - 1 - indented
        self.body = self.tree.body
        if indented:
            [around] = self.tree.body
            assert isinstance(around, cst.If)
            assert isinstance(around.body, cst.IndentedBlock)
            self.body = around.body.body

    def again(self, file: File, stretch: Stretch) -> Unit:
        """The same unit in another version of its file, whose stretch has the same text."""
        moved = copy(self)
        moved.file = file
        moved._offset += stretch.first - self.first_line
        moved.first_line = stretch.first
        moved._last = stretch.last
        return moved

    @classmethod
    def empty(cls, file: File) -> Unit:
        """A unit without source, for what stands nowhere in particular."""
        return cls(file, Stretch(1, 0))

    @cached_property
    def _parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        found: dict[cst.CSTNode, cst.CSTNode] = {}
        pending: list[cst.CSTNode] = [self.tree]
        while pending:
            node = pending.pop()
            for child in node.children:
                found[child] = node
                pending.append(child)
        return found

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node stands in, from the inside out."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def span(self, node: cst.CSTNode) -> Span4:
        """(line, column, end line, end column), 1-based, in code points, the end exclusive."""
        source = self.tree.source
        (line, column), (end_line, end_column) = map(source.position, source.extent(node))
        return line + self._offset, column, end_line + self._offset, end_column

    def code(self, node: cst.CSTNode) -> str:
        """A node as it is written, with its parentheses."""
        return node.source.code(node)

    def lines(self, first: int, last: int) -> list[str]:
        """Lines of the file as they stand in it, with their ends: the unit's own as a rule."""
        if not (self.first_line <= first and last <= self._last):
            note_whole(self.file.source.path)
        return self.file.peek_lines(Stretch(first, last))

    def line(self, number: int) -> str:
        """One of these lines."""
        return self.lines(number, number)[0]

    def text_between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The source between two positions, line and column; the last may stand behind the last line of the file."""
        lines = self.lines(start[0], end[0])
        if end[0] - start[0] < len(lines):
            lines[-1] = lines[-1][: end[1] - 1]
        if lines:
            lines[0] = lines[0][start[1] - 1 :]
        return "".join(lines)

    # -- for rewrites -------------------------------------------------------------------------------------------------

    def statement(self, line: cst.BaseStatement, *, above: bool = True, behind: bool = True) -> str:
        """A statement as whole lines, as they are written where its block is not indented; with the lines and comments
        `above` it, and the comment `behind` it."""
        import libcst  # only where a rewrite moves statements

        concrete: Any = self._concrete
        for field, at in self._path_to(line):
            concrete = getattr(concrete, field) if at is None else getattr(concrete, field)[at]
        if not above:
            concrete = concrete.with_changes(leading_lines=())
        if not behind and isinstance(concrete, libcst.SimpleStatementLine):
            concrete = concrete.with_changes(trailing_whitespace=libcst.TrailingWhitespace())
        text: str = self._concrete.code_for_node(concrete)
        return text

    @cached_property
    def _concrete(self) -> libcst.Module:
        """The tree with all white space and comments."""
        import libcst

        return libcst.parse_module(self.tree.source.text)

    def _path_to(self, node: cst.CSTNode) -> list[tuple[str, int | None]]:
        """The fields, and positions in them, that lead to a node from the root."""
        path: list[tuple[str, int | None]] = []
        for parent in self.around(node):
            for field in parent.inside:
                part = getattr(parent, field)
                if part is node:
                    path.append((field, None))
                elif isinstance(part, list) and any(each is node for each in part):
                    path.append((field, next(at for at, each in enumerate(part) if each is node)))
            node = parent
        return path[::-1]

    @cached_property
    def first_block(self) -> cst.IndentedBlock | None:
        """The first block that is indented, if there is one."""
        pending: list[cst.CSTNode] = [self.tree]
        while pending:
            node = pending.pop()
            if isinstance(node, cst.IndentedBlock):
                return node
            pending.extend(reversed(node.children))
        return None

    def indent_of(self, block: cst.IndentedBlock) -> str:
        """By how much a block is indented."""
        source = self.tree.source
        opening = self._parents[block]
        while not opening.start:  # `else` and `finally` stand below what they belong to
            opening = self._parents[opening]
        before = source.indent_at(source.extent(opening)[0])
        return source.indent_at(source.extent(block.body[0])[0]).removeprefix(before)


def parsed_alone(text: str) -> ast.stmt | None:
    """The first statement of a text, which may be indented, as Python parses it; None where it is no Python."""
    try:
        statement = ast.parse(_in_block(text)).body[0]
    except (SyntaxError, ValueError):
        return None
    return statement.body[0] if _is_indented(text) and isinstance(statement, ast.If) else statement


def _is_indented(text: str) -> bool:
    return text[:1] in (" ", "\t")


def _in_block(text: str) -> str:
    """A stretch as a text by itself: below an `if` where it is indented."""
    return "if 1:\n" + text if _is_indented(text) else text


def _text_of(file: File, stretch: Stretch) -> str:
    text = file.peek(stretch)
    return _PAGE_BREAK.sub("", text) if "\f" in text else text


class Place(Record, eq=False):
    """A node of a file's source. Two places are equal when they are the same node."""

    unit: Unit
    node: cst.CSTNode

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)

    @property
    def path(self) -> str:
        return self.unit.file.source.display

    @property
    def code(self) -> str:
        return self.unit.code(self.node)

    @property
    def span(self) -> Span4:
        return self.unit.span(self.node)

    @property
    def line(self) -> int:
        return self.span[0]

    def at(self, node: cst.CSTNode) -> Place:
        return Place(self.unit, node)


class File:
    """A file: its outline, and the trees of the stretches that were asked for. `before`: an earlier version of it that
    is not needed any more."""

    def __init__(self, source: Source, before: File | None = None) -> None:
        self.source = source
        self.outline: Outline = outline(source.text)
        self._statements = self.outline.statements
        self.kept_lines = sum(stretch.last - stretch.first + 1 for stretch in self._statements)
        self._units: dict[Stretch, Unit] = {}
        self._concerned: dict[Stretch, bool] = {}
        self._before: dict[str, list[Unit]] = {}
        for unit in before._all_units() if before is not None else ():
            if unit.text in source.text:
                kept = copy(unit)
                kept.file = self  # the earlier version is to go
                self._before.setdefault(unit.text, []).append(kept)

    def _all_units(self) -> list[Unit]:
        return [*self._units.values(), *(unit for units in self._before.values() for unit in units)]

    @cached_property
    def _starts(self) -> array[int]:
        """Where its lines begin, and where the last one ends: the lines themselves take three times their text."""
        lines = StringIO(self.source.text, newline="")  # which end where Python ends lines
        return array("I", accumulate(map(len, lines), initial=0))

    @cached_property
    def interface(self) -> str:
        """What there is to know of the file for those who read none of its definitions, as a digest."""
        facts = (
            self.uses_tensorflow,
            self.may_be_fragment,
            self._imports_at_top,
            bool(self.source.cells),
            self.newline,
        )
        return interface_of(self.outline, self.peek, *facts)

    @cached_property
    def newline(self) -> str:
        """The line end that it is written with."""
        return newline_of(self.source.text)

    @property
    def text(self) -> str:
        """All that stands in the file."""
        note_whole(self.source.path)
        return self.source.text

    def text_of(self, stretch: Stretch) -> str:
        """The lines of a stretch."""
        note_stretch(self.source.path, stretch)
        return self.peek(stretch)

    def peek(self, stretch: Stretch) -> str:
        """The same, where it is noted already or is not to be."""
        lines = len(self._starts) - 1
        first, last = min(stretch.first - 1, lines), min(stretch.last, lines)
        return self.source.text[self._starts[first] : self._starts[last]]

    def peek_lines(self, stretch: Stretch) -> list[str]:
        """The same line by line, with their ends."""
        return StringIO(self.peek(stretch), newline="").readlines()

    def state_of(self, stretch: Stretch) -> str | None:
        """What a stretch says and which definition it is, as a digest; None where the file has no such stretch."""
        address = self._addresses.get(stretch)
        if address is None:
            return None
        return digest_of(f"{address}:{self.peek(stretch)}".encode("utf-8", "surrogatepass"))

    @cached_property
    def _addresses(self) -> dict[Stretch, str]:
        return addresses_in(self.outline)

    @cached_property
    def uses_tensorflow(self) -> bool:
        """Whether an import anywhere in the file brings TensorFlow or Keras."""
        return _IMPORTS.search(self.source.text) is not None

    @cached_property
    def may_be_fragment(self) -> bool:
        """Whether the file may be a piece of documentation: it has TensorFlow's customary names and no imports.

        A notebook is a program: what stands at the top of its cells runs eagerly.
        """
        return (
            bool(self.outline.code)
            and not self.uses_tensorflow
            and not self.outline.bindings.keys() & {"tf", "keras"}
            and not self.source.cells
            and (not self._imports_anything or self._mentions_tensorflow)
        )

    @property
    def _mentions_tensorflow(self) -> bool:
        text = self.source.text
        # To look for the words first is many times as fast.
        return ("tf." in text or "keras." in text) and _MENTIONS.search(text) is not None

    @property
    def _imports_anything(self) -> bool:
        return bool(self.outline.stars) or any(
            isinstance(binding, ImportOutline) for bindings in self.outline.bindings.values() for binding in bindings
        )

    @cached_property
    def _imports_at_top(self) -> bool:
        return re.search(_IMPORTS.pattern.replace("^[ \\t]*", "^"), self.source.text, re.MULTILINE) is not None or any(
            line[:1] in " \t" and _IMPORTS.match(line)
            for stretch in self.outline.blocks
            for line in self.peek_lines(stretch)
        )

    def concerns_tensorflow(self, stretch: Stretch | None) -> bool:
        """Whether the code of a stretch can name TensorFlow: by an import of the module's, or by one of its own."""
        if self._imports_at_top or stretch is None:
            return self._imports_at_top
        note_stretch(self.source.path, stretch)
        if stretch not in self._concerned:
            self._concerned[stretch] = self.uses_tensorflow and _IMPORTS.search(self.peek(stretch)) is not None
        return self._concerned[stretch]

    def unit(self, stretch: Stretch) -> Unit:
        """The tree of a stretch, parsed once. Raises SyntaxError where it is no Python by itself, and
        NestedTooDeepError."""
        note_stretch(self.source.path, stretch)
        if stretch not in self._units:
            same = self._before.get(_text_of(self, stretch)) if self._before else None
            # Each once: two definitions that read alike are two.
            self._units[stretch] = same.pop().again(self, stretch) if same else self._made(stretch)
        return self._units[stretch]

    def _made(self, stretch: Stretch) -> Unit:
        """The unit of a stretch: of Python's own tree if that is still there, else by parsing it once more."""
        statements = self._alone(stretch)
        if self._statements.pop(stretch, None) is not None:
            self.kept_lines -= stretch.last - stretch.first + 1
        return Unit(self, stretch, statements)

    def parsed(self, stretch: Stretch) -> ast.stmt | None:
        """The first statement of a stretch as Python parses it; None where it is no Python by itself."""
        kept = self._alone(stretch)
        return parsed_alone(_text_of(self, stretch)) if kept is None else kept[0]

    def _alone(self, stretch: Stretch) -> list[ast.stmt] | None:
        """What was parsed of a stretch, if it is kept and the same as if the stretch had been parsed by itself."""
        kept = self._statements.get(stretch)
        return kept if kept is not None and are_alone(kept, stretch, self.peek(stretch)) else None

    @property
    def is_worth_keeping(self) -> bool:
        """Whether most of the file's definitions will be asked for before long."""
        return self._imports_at_top or not self.source.linted

    def let_go(self) -> None:
        """Keep nothing of what was parsed but the outline and the trees: stretches are parsed once more from now on."""
        self._statements.clear()
        self.kept_lines = 0


class Stopped(BaseException):
    """A run is not wanted any more. No error: nothing that deals with errors is to hold it up."""


class Session:
    """What runs that follow each other share: the files as the last one read them, so that what is unchanged is not
    parsed again. `stopped` is asked now and then whether the run is still wanted. No two runs at a time."""

    def __init__(self) -> None:
        self.stopped: Callable[[], bool] = lambda: False
        self._files: dict[Path, File] = {}

    def file(self, source: Source) -> File:
        """The file of a source. Raises OutlineError."""
        before = self._files.get(source.path)
        if before is None or before.source != source:
            self._files[source.path] = File(source, before)
        return self._files[source.path]

    def forget(self, path: Path) -> None:
        """Keep nothing of a file."""
        self._files.pop(path, None)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of reading a file. `digest`: of what was read, None if nothing could be."""

    file: File | None
    digest: str | None
    trouble: tuple[SyntaxTrouble, ...] = ()
    failures: tuple[InternalTrouble, ...] = ()


class Files:
    """The files of a run: those to check, and those that they turn out to import. None is read before it is asked for.

    `checked`: how those to check are read; `strategies`: whether any of them names a distribution strategy."""

    def __init__(
        self, checked: Mapping[Path, Callable[[], Source]], strategies: bool, session: Session | None = None
    ) -> None:
        self.checked = checked
        self.strategies = strategies
        self._session = session
        self._by_path: dict[Path, Loaded] = {}
        self._kept: dict[Path, Loaded] = {}  # by other parts
        self._recent: deque[File] = deque()  # that keep what was parsed of them
        self.expected = 0  # objects that parts that have begun will make of what they have not come to
        self._listings: dict[Path, frozenset[str]] = {}
        self._found: dict[tuple[Path, str], Path | None] = {}
        self._packages: dict[Path, tuple[str, Path]] = {}

    @classmethod
    def of(cls, sources: Sequence[Source]) -> Files:
        """With sources that are read already."""
        strategies = any(names_strategies(source.text) for source in sources)
        return cls({source.path: partial(_itself, source) for source in sources}, strategies)

    @cached_property
    def roots(self) -> dict[Path, None]:
        """The folders that the names of the checked files are relative to, in the order of the files."""
        return dict.fromkeys(self.dotted_name(path)[1] for path in self.checked)

    @cached_property
    def _offered(self) -> dict[str, list[Path]]:
        """Those of them that have a file or folder for modules whose dotted name begins so."""
        found: dict[str, list[Path]] = {}
        for root in self.roots:
            for first in {name.removesuffix(".py") for name in _listing(root)}:
                found.setdefault(first, []).append(root)
        return found

    def offering(self, first: str) -> str:
        """Those of the roots that have modules whose dotted name begins so, as a digest."""
        return _digest_of(self._offered.get(first, ()))

    @cached_property
    def roots_digest(self) -> str:
        """The roots in their order."""
        return _digest_of(self.roots)

    def dotted_name(self, path: Path) -> tuple[str, Path]:
        """The dotted name of a file, and the folder that it is relative to."""
        folder = path.parent
        if folder not in self._packages:
            self._packages[folder] = dotted_name(folder / "__init__.py")
        package, root = self._packages[folder]
        if path.name == "__init__.py":
            return package, root
        return f"{package}.{path.stem}" if package else path.stem, root

    def _load(self, path: Path) -> Loaded:
        if path in self.checked:
            try:
                return self._read(self.checked[path]())
            except UnreadableSource as error:  # it could be read a moment ago
                return Loaded(None, None, failures=(InternalTrouble(str(path), str(error), ""),))
        digest = None
        try:
            data = read_bytes(path)
            digest = digest_of(data)
            return self._read(source_of(data, path, str(path), linted=False))
        except UnreadableSource:
            return Loaded(None, digest)  # not ours to report: resolution simply ends here

    def _read(self, source: Source) -> Loaded:
        trouble: list[SyntaxTrouble] = []
        try:
            file = File(source) if self._session is None else self._session.file(source)
        except OutlineError as error:
            code = UNFINISHED_FILE if error.deep else SYNTAX_ERROR
            told = SyntaxTrouble(source.display, error.line, error.column, error.message, code)
            return Loaded(None, source.digest, (told,))
        except Exception as error:
            failure = InternalTrouble.of(error, source.display, 1, "reading the file")
            return Loaded(None, source.digest, failures=(failure,))
        self._keep(file)
        trouble = [SyntaxTrouble(source.display, part.line, part.column, part.message) for part in source.trouble]
        return Loaded(file, source.digest, tuple(trouble))

    def _keep(self, file: File) -> None:
        """Let files keep what was parsed of them, as far as there is room: the ones that were read last."""
        if not file.is_worth_keeping:
            file.let_go()
        elif file.kept_lines:
            self._recent.append(file)
        while self.kept_lines > _KEPT_LINES:
            self._recent.popleft().let_go()

    @property
    def kept_lines(self) -> int:
        """The lines of which is kept what was parsed."""
        return sum(file.kept_lines for file in self._recent)

    def let_go(self) -> None:
        """Have no file keep what was parsed of it: what is needed of them are trees by now."""
        while self._recent:
            self._recent.popleft().let_go()

    def go_on(self) -> None:
        """Raises Stopped where the run is not wanted any more."""
        if self._session is not None and self._session.stopped():
            raise Stopped

    def load(self, path: Path) -> Loaded:
        """The file at a path, whether or not somebody asked to check it, and what came of reading it."""
        note_outline(path)
        loaded = self._by_path.get(path)
        if loaded is None:
            loaded = self._by_path[path] = self._kept.pop(path) if path in self._kept else self._load(path)
        return loaded

    def forget_most(self, own: Sequence[Path]) -> None:
        """Keep little of what was read for a part of the project: not its own files, and of those of others as many
        as have little text."""
        self.let_go()
        those = set(own)
        used = {path: loaded for path, loaded in self._by_path.items() if path not in those} | self._kept
        self._by_path, self._kept = {}, {}
        self._found.clear()
        self._listings.clear()
        room = _KEPT_TEXT
        for path, loaded in used.items():
            room -= 0 if loaded.file is None else len(loaded.file.source.text)
            if room >= 0:
                self._kept[path] = loaded

    def find(self, folder: Path, name: str) -> Path | None:
        """The file of the module with the dotted `name` below a folder. Most names are those of other packages, which
        the listing of the folder already tells."""
        first = name.partition(".")[0]
        if self.lacks(folder, first):
            note_absent(folder, first)
            return None
        found = self._look_up(folder, name)
        note_name(folder, name, found)
        return found

    def find_below_roots(self, name: str, beside: Path) -> Path | None:
        """The file of a module below the first of the roots that has it; one of them was asked already."""
        first = name.partition(".")[0]
        note_offered(first)
        for root in self._offered.get(first, ()):
            if root != beside:
                found = self._look_up(root, name)
                note_name(root, name, found)
                if found is not None:
                    return found
        return None

    def sought(self, folder: Path, name: str) -> Path | None:
        """The same, for whom it is not noted: who compares what was noted before."""
        return None if self.lacks(folder, name.partition(".")[0]) else self._look_up(folder, name)

    def lacks(self, folder: Path, first: str) -> bool:
        """Whether a folder has neither a file nor a folder for modules whose dotted name begins so."""
        if folder not in self._listings:
            self._listings[folder] = _listing(folder)
        return first not in self._listings[folder] and f"{first}.py" not in self._listings[folder]

    def _look_up(self, folder: Path, name: str) -> Path | None:
        """The file of a module below a folder, by its dotted name."""
        if (folder, name) not in self._found:
            relative = Path(*name.split("."))
            candidates = (folder / relative.with_suffix(".py"), folder / relative / "__init__.py")
            self._found[folder, name] = next(
                (path for path in candidates if path in self.checked or path.is_file()), None
            )
        return self._found[folder, name]


def _digest_of(folders: Iterable[Path]) -> str:
    return digest_of("\0".join(map(str, folders)).encode("utf-8", "surrogateescape"))


def _listing(folder: Path) -> frozenset[str]:
    return frozenset(os.listdir(folder)) if folder.is_dir() else frozenset()


def _itself(source: Source) -> Source:
    return source
