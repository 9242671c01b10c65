"""What an editor has open: files, notebooks, and text that is no file yet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.uris import to_fs_path, uri_scheme
from pygls.workspace import Workspace

from ..sources.text import encode
from .positions import Text

_CELL_KINDS: Final = {types.NotebookCellKind.Code: "code", types.NotebookCellKind.Markup: "markdown"}
_UNTITLED: Final = re.compile(r"\W+")


@dataclass(frozen=True)
class Part:
    """A text that the editor knows by a URI: a file, or a cell. `cell`: its number in the notebook, from 1."""

    uri: str
    version: int | None
    text: Text
    cell: int | None = None


@dataclass(frozen=True)
class Document:
    """One file as the editor has it at a moment. `parts`: itself, or the cells of a notebook that hold code."""

    uri: str
    path: Path
    version: int | None
    data: bytes
    parts: tuple[Part, ...]

    @cached_property
    def by_cell(self) -> dict[int | None, Part]:
        """The part that a place is in, by the number of the cell; None in a plain file."""
        return {part.cell: part for part in self.parts}

    def part(self, uri: str) -> Part | None:
        """The part with a URI."""
        return next((part for part in self.parts if part.uri == uri), None)


def path_of(uri: str, language: str | None, folder: Path) -> Path | None:
    """The file that a document is, or would be in a folder; None where it is none of ours."""
    if uri_scheme(uri) == "untitled":
        name = _UNTITLED.sub("-", uri.partition(":")[2]).strip("-")
        return folder / f"{name or 'untitled'}.py" if language == "python" else None
    path = to_fs_path(uri) if uri_scheme(uri) == "file" else None
    if path is None or not (path.endswith((".py", ".ipynb")) or language == "python"):
        return None
    return Path(path)


def opened(workspace: Workspace, folder: Path) -> Iterator[Document]:
    """Everything that is open and may be linted. `folder`: where text that is no file yet is taken to be."""
    encoding = str(getattr(workspace.position_encoding, "value", workspace.position_encoding))
    cells = {cell.document for notebook in workspace.notebook_documents.values() for cell in notebook.cells}
    for document in list(workspace.text_documents.values()):
        path = path_of(document.uri, document.language_id, folder)
        if path is not None and document.uri not in cells:
            part = Part(document.uri, document.version, Text(document.source, encoding))
            yield Document(document.uri, path, document.version, encode(document.source), (part,))
    for notebook in list(workspace.notebook_documents.values()):
        path = path_of(notebook.uri, None, folder)
        if path is not None:
            parts = list(_parts(workspace, notebook, encoding))
            yield Document(notebook.uri, path, notebook.version, _file_of(workspace, notebook), tuple(parts))


def _parts(workspace: Workspace, notebook: types.NotebookDocument, encoding: str) -> Iterator[Part]:
    for number, cell in enumerate(notebook.cells, 1):
        if cell.kind is types.NotebookCellKind.Code:
            document = workspace.get_text_document(cell.document)
            yield Part(cell.document, document.version, Text(document.source, encoding), number)


def _file_of(workspace: Workspace, notebook: types.NotebookDocument) -> bytes:
    """The notebook as the file that it would be saved as, as far as that matters here."""
    cells = [_cell(workspace, cell) for cell in notebook.cells]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _cell(workspace: Workspace, cell: types.NotebookCell) -> dict[str, object]:
    document = workspace.get_text_document(cell.document)
    language = {"vscode": {"languageId": document.language_id}} if document.language_id else {}
    return {"cell_type": _CELL_KINDS[cell.kind], "metadata": language, "source": document.source}


def containing(documents: Sequence[Document], uri: str) -> tuple[Document, Part] | None:
    """The document and the part with a URI: that of a file or of a cell."""
    return next(((document, part) for document in documents if (part := document.part(uri)) is not None), None)
