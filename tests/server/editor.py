"""An editor for the tests: a real client that talks to a real process of the server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

T = TypeVar("T")

# Nothing is expected to take that long: a test that waits so long has failed.
PATIENCE: Final = 120.0


class Editor:
    """What an editor knows: what it has opened, and what it was told of that."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client, self.root = client, root
        self.capabilities: types.ServerCapabilities | None = None
        self.told: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.registered: list[types.Registration] = []
        self._texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._news = asyncio.Condition()

    def uri(self, name: str) -> str:
        return name if ":" in name else (self.root / name).as_uri()

    async def tell(self, note: Callable[[], None]) -> None:
        async with self._news:
            note()
            self._news.notify_all()

    async def until(self, seen: Callable[[], T | None]) -> T:
        """What is seen, once it is."""
        found: list[T] = []

        def there() -> bool:
            if (value := seen()) is not None:
                found.append(value)
            return bool(found)

        async with self._news:
            await asyncio.wait_for(self._news.wait_for(there), PATIENCE)
        return found[-1]

    def open(self, name: str, text: str, language: str = "python") -> None:
        self._texts[name], self._versions[name] = text, 1
        item = types.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str) -> None:
        self._texts[name] = text
        self._versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def save(self, name: str) -> None:
        (self.root / name).write_text(self._texts[name])
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """What is shown of the text as it is now."""

        def current() -> types.PublishDiagnosticsParams | None:
            told = self.told.get(self.uri(name))
            return told if told is not None and told.version == self._versions.get(name, told.version) else None

        return list((await self.until(current)).diagnostics)

    async def shows(self, name: str, codes: Sequence[str]) -> list[types.Diagnostic]:
        """What is shown of a text, once it is these codes."""

        def there() -> types.PublishDiagnosticsParams | None:
            told = self.told.get(self.uri(name))
            return told if told is not None and [one.code for one in told.diagnostics] == list(codes) else None

        return list((await self.until(there)).diagnostics)

    async def actions(
        self, name: str, place: types.Range, only: Sequence[str] | None = None
    ) -> dict[str, types.CodeAction]:
        """What is offered, by its title."""
        context = types.CodeActionContext([], None if only is None else list(only))
        asked = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), place, context)
        found = await patiently(self.client.text_document_code_action_async(asked))
        return {one.title: one for one in found or () if isinstance(one, types.CodeAction)}

    async def hover(self, name: str, line: int, character: int) -> str | None:
        """What is there to read at a place, as the protocol counts."""
        document = types.TextDocumentIdentifier(self.uri(name))
        asked = types.HoverParams(document, types.Position(line, character))
        found = await patiently(self.client.text_document_hover_async(asked))
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def applied(self, name: str, action: types.CodeAction, units: Callable[[str], int] = len) -> str:
        """The text with an action done; columns are counted in `units` of what stands before them."""
        assert action.edit is not None
        if action.edit.changes is not None:
            edits: Sequence[Any] = action.edit.changes[self.uri(name)]
        else:
            [edits] = [
                one.edits
                for one in action.edit.document_changes or ()
                if isinstance(one, types.TextDocumentEdit) and one.text_document.uri == self.uri(name)
            ]
        return edited(self._texts[name], edits, units)


def edited(text: str, edits: Sequence[Any], units: Callable[[str], int] = len) -> str:
    """A text with edits of the protocol made."""
    lines = text.splitlines(keepends=True)

    def offset(position: types.Position) -> int:
        before = "".join(lines[: position.line])
        line = lines[position.line] if position.line < len(lines) else ""
        column = next((at for at in range(len(line) + 1) if units(line[:at]) == position.character), None)
        assert column is not None, f"{position} is inside of a character"
        return len(before) + column

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


async def patiently(answer: Awaitable[T]) -> T:
    """An answer of the server."""
    return await asyncio.wait_for(answer, PATIENCE)


def everything() -> types.ClientCapabilities:
    """What modern editors can."""
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        ),
        notebook_document=types.NotebookDocumentClientCapabilities(
            synchronization=types.NotebookDocumentSyncClientCapabilities()
        ),
    )


@asynccontextmanager
async def editing(
    root: Path, capabilities: types.ClientCapabilities | None = None, *arguments: str
) -> AsyncIterator[Editor]:
    """An editor in a folder, with the server running; both end as they should."""
    client = LanguageClient("tests", "1")
    editor = Editor(client, root)

    async def published(params: types.PublishDiagnosticsParams) -> None:
        await editor.tell(lambda: editor.told.__setitem__(params.uri, params))

    async def said(params: types.ShowMessageParams | types.LogMessageParams) -> None:
        await editor.tell(lambda: editor.messages.append(params.message))

    async def registered(params: types.RegistrationParams) -> None:
        await editor.tell(lambda: editor.registered.extend(params.registrations))

    hears: dict[str, Callable[[Any], Awaitable[None]]] = {
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: published,
        types.WINDOW_SHOW_MESSAGE: said,
        types.WINDOW_LOG_MESSAGE: said,
        types.CLIENT_REGISTER_CAPABILITY: registered,
    }
    for method, hear in hears.items():
        client.protocol.fm.feature(method)(hear)
    await client.start_io(sys.executable, "-m", "xlalint", "server", *arguments)
    asked = types.InitializeParams(
        process_id=None,
        root_uri=root.as_uri(),
        capabilities=everything() if capabilities is None else capabilities,
        workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)],
    )
    answer = await patiently(client.initialize_async(asked))
    editor.capabilities = answer.capabilities
    client.initialized(types.InitializedParams())
    try:
        yield editor
    except BaseException:
        if client._server is not None:
            client._server.kill()
        raise
    await patiently(client.shutdown_async(None))
    client.exit(None)
    ended: Awaitable[None] = client.stop()  # type: ignore[no-untyped-call]
    await patiently(ended)
