"""Places and edits in the words of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from xlalint.findings.findings import Edit, Span
from xlalint.server.documents import Document, Part, path_of
from xlalint.server.positions import Text
from xlalint.server.show import changes_of
from xlalint.sources.text import split_lines
from xlalint.sources.write import apply_edits

ENCODINGS: Final = ("utf-8", "utf-16", "utf-32")
TEXTS: Final = st.text(st.sampled_from("ab é𝒳\n\r\t\u2028\x0c"), max_size=30)


def edits_of(text: Text, edits: list[types.TextEdit]) -> list[Edit]:
    """Edits in our own words."""
    return [Edit(Span(*text.place(edit.range.start), *text.place(edit.range.end)), edit.new_text) for edit in edits]


@given(text=TEXTS, data=st.data(), encoding=st.sampled_from(ENCODINGS))
def test_a_place_is_found_again(text: str, data: st.DataObject, encoding: str) -> None:
    shown = Text(text, encoding)
    lines = split_lines(text)
    line = data.draw(st.integers(1, len(lines)))
    column = data.draw(st.integers(1, len(lines[line - 1]) + 1))
    position = shown.position(line, column)
    assert shown.place(position) == (line, column)
    units = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    assert position == types.Position(line - 1, len(lines[line - 1][: column - 1].encode(units)) // size)


def test_what_lies_behind_the_text_is_its_end() -> None:
    text = Text("a\n𝒳b", "utf-16")
    assert text.position(9, 1) == types.Position(1, 3)
    assert text.place(types.Position(9, 0)) == (2, 3)
    assert text.place(types.Position(1, 99)) == (2, 3)
    assert text.place(types.Position(1, 1)) == (2, 1)  # inside of a character: its beginning


@given(before=TEXTS, after=TEXTS, encoding=st.sampled_from(ENCODINGS))
def test_changes_make_the_new_text_of_the_old(before: str, after: str, encoding: str) -> None:
    part = Part("file:///a.py", 1, Text(before, encoding))
    document = Document(part.uri, Path("/a.py"), 1, before.encode(), (part,))
    made = [
        (changed, apply_edits(before, edits_of(part.text, edits)))
        for changed, edits in changes_of(document, after.encode())
    ]
    assert made == ([] if before == after else [(part, after)])


@pytest.mark.parametrize(
    ("uri", "language", "path"),
    [
        ("file:///a%20b/%C3%A4.py", "python", "/a b/ä.py"),
        ("file:///a/script", "python", "/a/script"),
        ("file:///a/n.ipynb", None, "/a/n.ipynb"),
        ("file:///a/b.toml", "toml", None),
        ("untitled:Untitled-1", "python", "/here/Untitled-1.py"),
        ("untitled:../x y", "python", "/here/x-y.py"),
        ("untitled:Untitled-1", "plaintext", None),
        ("git:/a/b.py", "python", None),
    ],
)
def test_the_file_that_a_document_is(uri: str, language: str | None, path: str | None) -> None:
    assert path_of(uri, language, Path("/here")) == (None if path is None else Path(path))
