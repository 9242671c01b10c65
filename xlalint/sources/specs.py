"""The grammar of inputs: what a function under probe is called with, as text. Standard library only.

    f32[8, 128]              a tensor; f16 bf16 f32 f64 c64 c128 i8 i16 i32 i64 u8 u16 u32 u64 bool str
    f32[2..5, 3]             of several shapes: 2, 3, 4 and 5 rows
    f32[4, 4] definite       numbers of a kind: `unit` (in 0..1), `positive`, `definite` (a matrix), `flags` (0 and 1),
                             `sorted` (0, 0, 1, 1)
    i32[4] below3            whole numbers from 0 to 2
    f32[4, 4] sparse         another form of it: `sparse` (a `tf.SparseTensor`), `ragged`, `variable` (a `tf.Variable`)
    [f32[4, 8], i32[4]]      a list; a tuple and a dict are written as in Python too: (..), {"image": f32[2, 8, 8, 3]}
    True, 3, None, "same"    a Python value

`# xlalint: probe(x: f32[8, 128], labels: i32[8], training = True)` above a function names them by parameter; without a
name they are given by position. A class's own arguments stand in the comment above the class.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

DTYPES: Final = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bool": "bool",
    "str": "string",
}
SHORT: Final = {name: short for short, name in DTYPES.items()}
NUMBERS: Final = ("unit", "positive", "definite", "flags", "sorted")
STYLES: Final = (*NUMBERS, "sparse", "ragged", "variable")
BELOW: Final = re.compile(r"below([1-9]\d*)")  # a style of whole numbers
COMMENT: Final = re.compile(r"#\s*xlalint:\s*probe\s*\((?P<inputs>.*)\)\s*$")
_SPEC: Final = re.compile(r"(?P<dtype>\w+)\[(?P<dims>[^\[\]]*)\](?:[ \t]+(?P<style>[a-z]\w*))?")
_DIM: Final = re.compile(r"(\d+)(?:\s*\.\.\s*(\d+))?")
_NAME: Final = re.compile(r"(?P<name>[^\W\d]\w*)\s*[:=]\s*")
_WORD: Final = re.compile(r"[^\s,\[\](){}:\"']+")
_BRACKETS: Final = {"[": ("]", "list"), "(": (")", "tuple")}


class SpecError(ValueError):
    """The text is not an input; the message says what is wrong with it, in one line."""


@dataclass(frozen=True)
class Spec:
    """One tensor. `dims`: the least and the greatest size of each dimension; `style`: its numbers, or its form."""

    dtype: str  # TensorFlow's name: "float32"
    dims: tuple[tuple[int, int], ...]
    style: str = ""

    @property
    def variants(self) -> int:
        """How many shapes the ranges of sizes give; they advance together."""
        return max((last - first + 1 for first, last in self.dims), default=1)

    def shape(self, variant: int = 0) -> tuple[int, ...]:
        """The sizes of one of the shapes; what has no further size stays at its last."""
        return tuple(min(first + variant, last) for first, last in self.dims)

    def __str__(self) -> str:
        sizes = (str(first) if first == last else f"{first}..{last}" for first, last in self.dims)
        return f"{SHORT[self.dtype]}[{', '.join(sizes)}]" + (f" {self.style}" if self.style else "")


@dataclass(frozen=True)
class Literal:
    """A Python value."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Many:
    """A list or tuple of inputs."""

    kind: str  # "list", "tuple"
    items: tuple[Form, ...]

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.items))
        if self.kind == "list":
            return f"[{inside}]"
        return f"({inside},)" if len(self.items) == 1 else f"({inside})"


@dataclass(frozen=True)
class Keyed:
    """A dict of inputs."""

    entries: tuple[tuple[str, Form], ...]

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {form}" for key, form in self.entries) + "}"


Form: TypeAlias = Spec | Literal | Many | Keyed


def spec(dtype: str, *shape: int, style: str = "") -> Spec:
    """A tensor of one shape, by TensorFlow's name of its dtype."""
    return Spec(dtype, tuple((size, size) for size in shape), style)


def leaves(form: Form) -> Iterator[Spec]:
    """The tensors of an input, in order."""
    if isinstance(form, Spec):
        yield form
    elif isinstance(form, Many):
        for item in form.items:
            yield from leaves(item)
    elif isinstance(form, Keyed):
        for _, item in form.entries:
            yield from leaves(item)


def parse_form(text: str) -> Form:
    """One input. Raises SpecError."""
    reader = _Reader(text)
    form = reader.form()
    reader.end()
    return form


def parse_inputs(text: str) -> tuple[tuple[str | None, str], ...]:
    """The inputs of a comment or of the settings: each parameter's name (None: by position), and its text.

    Raises SpecError where a text is not an input, a name stands twice, or a nameless one behind a named one.
    """
    reader = _Reader(text)
    found: list[tuple[str | None, str]] = []
    while not reader.at_end():
        name = reader.name()
        if name is None and found and found[-1][0] is not None:
            reader.fail("an input without a name follows one with a name")
        if name is not None and name in dict(found):
            reader.fail(f"`{name}` is given twice")
        found.append((name, str(reader.form())))
        if not reader.at_end():
            reader.take(",")
    return tuple(found)


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def fail(self, what: str) -> NoReturn:
        raise SpecError(f"not an input: {what} in `{self._text}`")

    def at_end(self) -> bool:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._at == len(self._text)

    def end(self) -> None:
        if not self.at_end():
            self.fail(f"`{self._text[self._at :]}` is left over")

    def take(self, mark: str) -> None:
        if not self._takes(mark):
            self.fail(f"`{mark}` is missing at `{self._text[self._at :]}`")

    def name(self) -> str | None:
        self.at_end()
        found = _NAME.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found["name"]

    def form(self) -> Form:
        if self.at_end():
            self.fail("it ends too early")
        mark = self._text[self._at]
        if mark in _BRACKETS:
            self._at += 1
            end, kind = _BRACKETS[mark]
            return self._many(end, kind)
        if mark == "{":
            self._at += 1
            return self._keyed()
        found = _SPEC.match(self._text, self._at)
        if found is None:
            return self._literal()
        self._at = found.end()
        return self._spec(found)

    def _takes(self, mark: str) -> bool:
        if self.at_end() or self._text[self._at] != mark:
            return False
        self._at += 1
        return True

    def _many(self, end: str, kind: str) -> Form:
        items: list[Form] = []
        comma = False
        while not self._takes(end):
            if items and not comma:
                self.fail(f"`,` or `{end}` is missing")
            items.append(self.form())
            comma = self._takes(",")
        if kind == "tuple" and len(items) == 1 and not comma:
            return items[0]  # brackets around one input, as in Python
        return Many(kind, tuple(items))

    def _keyed(self) -> Keyed:
        entries: list[tuple[str, Form]] = []
        while not self._takes("}"):
            if entries:
                self.take(",")
                if self._takes("}"):
                    break
            key = self._literal()
            if not isinstance(key.value, str):
                self.fail(f"the key {key} is not a string")
            self.take(":")
            entries.append((key.value, self.form()))
        return Keyed(tuple(entries))

    def _literal(self) -> Literal:
        self.at_end()
        rest = self._text[self._at :]
        found = re.match(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", rest) or _WORD.match(rest)
        if found is None:
            self.fail(f"`{rest}` is none")
        try:
            value = ast.literal_eval(found[0])
        except (ValueError, SyntaxError):
            self.fail(f"`{found[0]}` is neither a tensor, such as f32[8, 128], nor a Python literal")
        self._at += found.end()
        return Literal(value)

    def _spec(self, found: re.Match[str]) -> Spec:
        if found["dtype"] not in DTYPES:
            self.fail(f"`{found['dtype']}` is not a dtype ({' '.join(DTYPES)})")
        style = found["style"] or ""
        if style and style not in STYLES and not BELOW.fullmatch(style):
            self.fail(f"`{style}` is not a kind of tensor ({' '.join(STYLES)} below3)")
        dims = []
        for part in filter(None, map(str.strip, found["dims"].split(","))):
            sizes = _DIM.fullmatch(part)
            if sizes is None:
                self.fail(f"`{part}` is not a size")
            first, last = int(sizes[1]), int(sizes[2] or sizes[1])
            if last < first:
                self.fail(f"`{part}` ends before it begins")
            dims.append((first, last))
        return Spec(DTYPES[found["dtype"]], tuple(dims), style)
