"""A file: its outline at once, the trees of its definitions when they are asked for."""

from __future__ import annotations

import ast
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from io import StringIO
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final

from ...sources.interface import addresses_in, functions_in, interface_of
from ...sources.outline import ImportOutline, Outline, Stretch, are_alone, outline
from ...sources.reading import ASKS
from ...sources.testing import does_something, is_named_as_test, tests_nothing
from ...sources.text import Source, digest_of, newline_of
from .alone import all_parsed_alone, parsed_alone, text_of_stretch
from .dependencies import note_stretch, note_whole, note_word

if TYPE_CHECKING:
    from .unit import Unit

# An import of TensorFlow or Keras, under whatever roof: `from keras_cv.backend import ops`, `import tensorflow as tf`;
# or of Accelerate's launcher, whose programs are read for the sake of its own rules.
_RUN: Final = re.compile(rf"^{ASKS}", re.MULTILINE)
_RUN_INSIDE: Final = re.compile(rf"^[ \t]+{ASKS}", re.MULTILINE)
_IMPORTS: Final = re.compile(
    r"^[ \t]*(?:from|import)\b[^\n#]*\b(?:tensorflow\w*|keras\w*|tf_keras|tf|tfp|tnp|notebook_launcher)\b",
    re.MULTILINE,
)
_OF_SNIPPETS: Final = frozenset(("keras", "numpy", "tensorflow", "tf_keras"))
# What puts something into a container that may be kept.
_STORES: Final = re.compile(r"\]\s*=[^=]|\.(?:append|add|update|setdefault|insert|register)\(")
SMALL: Final = 12_000  # characters of a file that does little else
_MENTIONS: Final = re.compile(r"\b(?:tf|keras)\.")
KERAS: Final = frozenset(("keras", "keras_core", "keras_cv", "keras_hub", "keras_nlp", "keras_rs"))
"""Keras 3 by its own name, and the libraries of its layers."""


def stores(text: str) -> bool:
    """Whether source puts anything into a container."""
    return _STORES.search(text) is not None


def names_tensorflow(text: str) -> bool:
    """Whether an import in source brings TensorFlow or Keras."""
    return _IMPORTS.search(text) is not None


class File:
    """A file: its outline, and the trees of the stretches that were asked for. `before`: an earlier version of it that
    is not needed any more. `fills`: whether a method gives its object attributes, and `of_keras_2`: whether the file
    imports what Keras 3 does not have, where somebody has looked."""

    def __init__(self, source: Source, before: File | None = None) -> None:
        self.source = source
        self.outline: Outline = outline(source.text)
        self._statements = self.outline.statements
        self.kept_lines = sum(stretch.last - stretch.first + 1 for stretch in self._statements)
        self._units: dict[Stretch, Unit] = {}
        self._concerned: dict[Stretch, bool] = {}
        self._states: dict[Stretch, str | None] = {}
        self.fills: dict[str, bool] = (
            {} if before is None else {text: filled for text, filled in before.fills.items() if text in source.text}
        )
        self.of_keras_2: bool | None = None
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
            self.may_be_snippet,
            self._imports_at_top,
            bool(self.source.cells),
            self.newline,
            self.may_be_registry,
            is_named_as_test(self.source.display) and self.runs_alone,
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

    @property
    def last_line(self) -> int:
        """The number of its last line."""
        return len(self._starts) - 1

    def state_of(self, stretch: Stretch) -> str | None:
        """What a stretch says and which definition it is, as a digest; None where the file has no such stretch."""
        if stretch not in self._states:
            address = self._addresses.get(stretch)
            said = f"{address}:{self.peek(stretch)}"
            self._states[stretch] = None if address is None else digest_of(said.encode("utf-8", "surrogatepass"))
        return self._states[stretch]

    def holding(self, word: str) -> list[Stretch]:
        """Those of its stretches that hold a word, a comment perhaps."""
        note_word(self.source.path, word)
        found = self._holding(word)
        for stretch in found:
            note_stretch(self.source.path, stretch)
        return found

    def holders_of(self, word: str) -> str:
        """Which definitions they are, as a digest."""
        return digest_of(
            "\n".join(map(self._addresses.__getitem__, self._holding(word))).encode("utf-8", "surrogatepass")
        )

    def _holding(self, word: str) -> list[Stretch]:
        whole = re.compile(rf"\b{re.escape(word)}\b")
        if whole.search(self.source.text) is None:
            return []
        texts = ((stretch, self.peek(stretch)) for stretch in self._addresses)
        # To look for the letters first is many times as fast.
        return [stretch for stretch, text in texts if word in text and whole.search(text) is not None]

    @property
    def addresses(self) -> Mapping[Stretch, str]:
        """What each of its stretches is, by name or number."""
        return self._addresses

    @property
    def stretches(self) -> Iterable[Stretch]:
        """Those of all definitions, and of the code between them."""
        return self._addresses

    @cached_property
    def function_stretches(self) -> frozenset[Stretch]:
        """Those of functions and methods."""
        return frozenset(function.stretch for function in functions_in(self.outline))

    @cached_property
    def _addresses(self) -> dict[Stretch, str]:
        return addresses_in(self.outline)

    @cached_property
    def uses_tensorflow(self) -> bool:
        """Whether an import anywhere in the file brings TensorFlow or Keras."""
        return names_tensorflow(self.source.text)

    @cached_property
    def may_be_registry(self) -> bool:
        """Whether the file may be there to keep what other files define: a short one that fills containers."""
        return len(self.source.text) < SMALL and stores(self.source.text)

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

    @cached_property
    def may_be_snippet(self) -> bool:
        """Whether the file has nothing but some code and the imports of the libraries that documentation imports."""
        return (
            bool(self.outline.code)
            and not self.source.cells
            and not self.outline.stars
            and all(
                isinstance(binding, ImportOutline) and binding.module.partition(".")[0] in _OF_SNIPPETS
                for bindings in self.outline.bindings.values()
                for binding in bindings
            )
        )

    @cached_property
    def is_script(self) -> bool:
        """Whether the file is there to be run by itself: a notebook, or one that asks whether it is."""
        text = self.source.text
        if self.source.cells or "__main__" not in text:
            return bool(self.source.cells)
        return _RUN.search(text) is not None or (
            _RUN_INSIDE.search(text) is not None
            and any(_RUN_INSIDE.search(text_of_stretch(self, block)) for block in self.outline.blocks)
        )

    @cached_property
    def runs_alone(self) -> bool:
        """Whether the file is a program, whatever it is called: it runs something by itself, and has no test."""
        return tests_nothing(self.outline, self.peek) and (
            self.is_script
            or any(does_something(all_parsed_alone(text_of_stretch(self, code)) or ()) for code in self.outline.code)
        )

    @cached_property
    def imports_keras(self) -> bool:
        """Whether an import brings Keras 3 by its own name, or a library of its layers."""
        return any(
            isinstance(binding, ImportOutline) and (binding.module or "").partition(".")[0] in KERAS
            for bindings in self.outline.bindings.values()
            for binding in bindings
        )

    @cached_property
    def imports(self) -> tuple[ImportOutline, ...]:
        """What it imports at its top, under tests as well."""
        bindings = chain(self.outline.stars, *self.outline.bindings.values())
        return tuple(binding for binding in bindings if isinstance(binding, ImportOutline))

    @cached_property
    def names_imported(self) -> frozenset[tuple[str, str | None, int]]:
        """The same, wherever it stands."""
        return frozenset((one.module, one.attribute, one.level) for one in self.imports)

    @cached_property
    def imports_under_tests(self) -> bool:
        """Whether it imports anything under a test of what there is."""
        return any(one.under for one in self.imports)

    @property
    def tells_keras(self) -> bool:
        """Whether the file may tell Keras what to run on."""
        return "KERAS_BACKEND" in self.source.text

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
            self._concerned[stretch] = self.uses_tensorflow and names_tensorflow(self.peek(stretch))
        return self._concerned[stretch]

    def unit(self, stretch: Stretch) -> Unit:
        """The tree of a stretch, parsed once. Raises SyntaxError where it is no Python by itself, and
        NestedTooDeepError."""
        note_stretch(self.source.path, stretch)
        if stretch not in self._units:
            same = self._before.get(text_of_stretch(self, stretch)) if self._before else None
            # Each once: two definitions that read alike are two.
            self._units[stretch] = same.pop().again(self, stretch) if same else self._made(stretch)
        return self._units[stretch]

    def _made(self, stretch: Stretch) -> Unit:
        """The unit of a stretch: of Python's own tree if that is still there, else by parsing it once more."""
        from .unit import Unit  # and libcst, which takes long: most files of a run may be what they were

        statements = self._alone(stretch)
        if self._statements.pop(stretch, None) is not None:
            self.kept_lines -= stretch.last - stretch.first + 1
        return Unit(self, stretch, statements)

    def parsed(self, stretch: Stretch) -> ast.stmt | None:
        """The first statement of a stretch as Python parses it; None where it is no Python by itself."""
        kept = self._alone(stretch)
        return parsed_alone(text_of_stretch(self, stretch)) if kept is None else kept[0]

    def statements(self, stretch: Stretch) -> Sequence[ast.stmt] | None:
        """What stands in a stretch, as Python parses it; None where it is no Python by itself."""
        note_stretch(self.source.path, stretch)
        return self._statements.get(stretch) or all_parsed_alone(text_of_stretch(self, stretch))

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
