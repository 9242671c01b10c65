"""The server itself: what the editor says, when runs happen, and what is answered."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from .. import __version__
from ..analysis.files.files import Stopped
from ..findings.findings import Edit, Finding, Safety
from ..linter import garbage
from ..settings.config import home_of, near
from ..settings.layers import ConfigurationError
from ..sources.ignoring import ignorable, ignore_edits
from ..sources.reading import source_of
from ..sources.text import UnreadableSource
from . import hover
from .documents import Document, Part, opened
from .projects import Project
from .show import FIX_ALL, QUICK_FIX, Shown, changes_of, is_wanted, quick_fixes, touches

T = TypeVar("T")

_PAUSE: Final = 0.02  # seconds of silence after which a change is looked at
_IDLE: Final = 0.5  # .. after which what the last runs left is freed
_QUIET: Final = 60.0  # .. and all that is not needed
_MOST_LEFT: Final = 500_000  # objects, more than which are freed although somebody types
_STACK: Final = 64 * 2**20  # bytes; analysis nests as deep as programs do
_WATCHED: Final = (
    "**/*.py",
    "**/*.ipynb",
    "**/pyproject.toml",
    "**/*xlalint.toml",
    "**/setup.cfg",
    "**/*requirement*.txt",
    "**/requirements/*.txt",
    "**/*environment*.{yml,yaml}",
)
_CELLS: Final = types.NotebookDocumentFilterWithCells(
    cells=[types.NotebookCellLanguage(language="python")], notebook="jupyter-notebook"
)


class Server(LanguageServer):
    """State that all requests share. Only the loop's thread changes it; runs happen on another, one at a time."""

    def __init__(self) -> None:
        super().__init__(
            "xlalint",
            __version__,
            # Whole texts: what is a line is no matter of opinion then.
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=types.NotebookDocumentSyncOptions(notebook_selector=[_CELLS], save=True),
        )
        self._projects: dict[Path, Project] = {}
        self._shown: dict[str, Shown] = {}  # by the document's URI
        self._read: dict[Path, dict[str, bytes]] = {}  # what each project's last run read of what is open
        self._said: set[str] = set()
        self._generation = 0  # of what is open; a run is of one
        self._run: asyncio.Task[None] | None = None
        self._thread = _one_thread()
        self._tidying: asyncio.TimerHandle | None = None
        self.stopped = False  # as the editor asked for

    # -- runs ---------------------------------------------------------------------------------------------------------

    def refresh(self, *, files_changed: bool = False) -> None:
        """What is open has changed, or files have: what is under way is not wanted any more."""
        self._generation += 1
        if self._tidying is not None:
            self._tidying.cancel()
        if files_changed:
            self._read.clear()
            for project in self._projects.values():
                project.files_changed()
        self._run = asyncio.get_running_loop().create_task(self._lint(self._generation))

    async def settled(self) -> None:
        """Wait until what is shown is what is open."""
        while self._run is not None and not self._run.done():
            await asyncio.wait([self._run])

    def stop(self) -> None:
        """End what is under way."""
        self.stopped = True
        self._generation += 1
        if self._tidying is not None:
            self._tidying.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _lint(self, generation: int) -> None:
        await asyncio.sleep(_PAUSE)
        if generation != self._generation:
            return
        try:
            await self._lint_open(generation)
        except Exception as error:  # nobody else would hear of it
            self._failed(error)
        if (presses := garbage.left() > _MOST_LEFT) or generation == self._generation:
            self._tidy(0.0 if presses else _IDLE)

    def _tidy(self, after: float) -> None:
        """Free what runs have left, and a while later all that is not needed, unless something changes before. In a
        process of the command line nothing else does."""
        loop = asyncio.get_running_loop()

        def some() -> None:
            self._thread.submit(garbage.collect)
            self._tidying = loop.call_later(_QUIET, self._thread.submit, garbage.collect_all)

        self._tidying = loop.call_later(after, some)

    async def _lint_open(self, generation: int) -> None:
        by_project: dict[Path, list[Document]] = {}
        for document in self.documents():
            if (home := self._home(document)) is not None:
                by_project.setdefault(home, []).append(document)
        for root in self._read.keys() - by_project.keys():
            del self._read[root]
        for root, documents in by_project.items():
            read = {document.uri: document.data for document in documents}
            if self._read.get(root) != read and await self._lint_project(root, documents, generation):
                self._read[root] = read
        open_now = {document.uri for documents in by_project.values() for document in documents}
        for uri in [uri for uri in self._shown if uri not in open_now]:
            for part in self._shown.pop(uri).document.parts:
                self._publish(part, [])

    async def _lint_project(self, root: Path, documents: list[Document], generation: int) -> bool:
        """Show what is found; whether it was."""
        project = self._projects.setdefault(root, Project(root))
        report = await self._aside(lambda: project.lint(documents, lambda: generation != self._generation))
        if report is None or generation != self._generation:
            return False
        if project.trouble is not None:
            self._say(f"{root}: {project.trouble}")
        for problem in report.problems:
            self._log(f"{problem.path}: {problem.message}\n{problem.detail}".rstrip())
        for document in documents:
            found = tuple(finding for finding in report.findings if root / finding.path == document.path)
            before = self._shown.get(document.uri)
            shown = self._shown[document.uri] = Shown(document, found, tuple(documents), root)
            for part in document.parts:
                self._publish(part, shown.diagnostics(part))
            for part in before.document.parts if before is not None else ():
                if document.part(part.uri) is None:  # a cell that is gone
                    self._publish(part, [])
        return True

    async def _aside(self, work: Callable[[], T]) -> T | None:
        """What work on the other thread gives; None where it is not wanted any more, or failed, which is said."""

        def guarded() -> T | None:
            try:
                return work()
            except Stopped:  # which a loop would take for the end of the process
                return None

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)
        except Exception as error:
            self._failed(error)
            return None

    # -- what is open -------------------------------------------------------------------------------------------------

    def documents(self) -> list[Document]:
        """Everything that is open and may be linted."""
        return list(opened(self.workspace, Path(self.workspace.root_path or Path.cwd())))

    def _home(self, document: Document) -> Path | None:
        try:
            return home_of(document.path.parent)
        except ConfigurationError as error:
            self._say(str(error))
            return None

    async def _shown_at(self, uri: str) -> tuple[Shown, Part] | None:
        """What is found in the document of a file or cell, as it is now."""
        await self.settled()
        for shown in self._shown.values():
            if (part := shown.document.part(uri)) is not None:
                return shown, part
        return None

    # -- answers ------------------------------------------------------------------------------------------------------

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done in a range."""
        at = await self._shown_at(params.text_document.uri)
        if at is None:
            return []
        shown, part = at
        first, last = part.text.place(params.range.start), part.text.place(params.range.end)
        only = params.context.only
        found: list[types.CodeAction] = []
        if is_wanted(QUICK_FIX, only):
            for finding in shown.of(part):
                if touches(finding.span, first, last):
                    found += self._quick_fixes(shown, finding, part)
        if is_wanted(FIX_ALL, only) and any(one.fix and one.fix.safety is Safety.SAFE for one in shown.findings):
            found += await self._fix_all(shown)
        return found

    def _quick_fixes(self, shown: Shown, finding: Finding, part: Part) -> Iterator[types.CodeAction]:
        about = [shown.diagnostic(finding, part)]
        for title, preferred, edits in quick_fixes(shown, finding):
            edit = self._edit(shown.document, _text_edits(shown.document, edits))
            yield types.CodeAction(title, types.CodeActionKind.QuickFix, about, is_preferred=preferred, edit=edit)
        if not ignorable(finding):
            return
        try:
            source = source_of(shown.document.data, shown.document.path, shown.document.path.name)
        except UnreadableSource:  # no comment can be put into it
            return
        ignores = {part.uri: ignore_edits(source, [finding], None)}
        edit = self._edit(shown.document, _text_edits(shown.document, ignores))
        title = f"{finding.code}: Suppress with a comment above"
        yield types.CodeAction(title, types.CodeActionKind.QuickFix, about, is_preferred=False, edit=edit)

    async def _fix_all(self, shown: Shown) -> list[types.CodeAction]:
        project, generation = self._projects[shown.root], self._generation
        after = await self._aside(
            lambda: project.fixed(shown.document, shown.others, lambda: generation != self._generation)
        )
        if after is None or after == shown.document.data:
            return []
        edits = {part.uri: changed for part, changed in changes_of(shown.document, after)}
        edit = self._edit(shown.document, edits)
        return [types.CodeAction("Apply all safe fixes (xlalint)", FIX_ALL, edit=edit)]

    def _edit(self, document: Document, edits: dict[str, list[types.TextEdit]]) -> types.WorkspaceEdit:
        """Edits of texts, which an editor refuses where it has another version by now, if it can tell."""
        workspace = self.client_capabilities.workspace
        if workspace is None or workspace.workspace_edit is None or not workspace.workspace_edit.document_changes:
            return types.WorkspaceEdit(changes=dict(edits))
        versions = {part.uri: part.version for part in document.parts}
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), list(here))
                for uri, here in edits.items()
            ]
        )

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What there is to read about a place: its findings, or else the function that is named there."""
        at = await self._shown_at(params.text_document.uri)
        if at is None:
            return None
        shown, part = at
        place = part.text.place(params.position)
        found = [hover.about_finding(one) for one in shown.of(part) if touches(one.span, place, place)]
        if not found:
            line, column = part.text.lines[place[0] - 1], place[1]
            text = "\n".join(other.text.text for other in shown.document.parts)
            version = near(self._projects[shown.root].settings, shown.document.path.parent).tensorflow
            about = await self._aside(lambda: hover.about_call(text, line, column, version))
            found = [about] if about is not None else []
        if not found:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(found)))

    # -- what is told unasked -----------------------------------------------------------------------------------------

    def _publish(self, part: Part, diagnostics: Sequence[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(part.uri, list(diagnostics), version=part.version)
        )

    def _say(self, message: str) -> None:
        """Show a message to the person, once."""
        if message not in self._said:
            self._said.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"xlalint: {message}"))

    def _failed(self, error: Exception) -> None:
        """Tell of an exception that is being handled."""
        self._log(traceback.format_exc())
        self._say(f"{type(error).__name__}: {error}")

    def _log(self, message: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Warning, message))

    async def watch(self) -> None:
        """Ask to be told of changes of files, where the editor can."""
        workspace = self.client_capabilities.workspace
        watched = None if workspace is None else workspace.did_change_watched_files
        if watched is not None and watched.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            asked = types.Registration("xlalint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await self.client_register_capability_async(types.RegistrationParams([asked]))


def _text_edits(document: Document, edits: dict[str, list[Edit]]) -> dict[str, list[types.TextEdit]]:
    """Edits of the parts of a document, by their URIs."""
    parts = {part.uri: part for part in document.parts}
    return {
        uri: [types.TextEdit(parts[uri].text.range(edit.span), edit.text) for edit in here]
        for uri, here in edits.items()
    }


def _one_thread() -> ThreadPoolExecutor:
    """A thread with room for deep programs."""
    usual = threading.stack_size(_STACK)
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="xlalint")
    thread.submit(int).result()  # which starts it
    threading.stack_size(usual)
    return thread


def made() -> Server:
    """A server with all it can do."""
    server = Server()

    def on(*methods: str, files_changed: bool = False) -> None:
        def changed(params: Any) -> None:
            server.refresh(files_changed=files_changed)

        for method in methods:
            server.feature(method)(changed)

    on(types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE)
    on(types.NOTEBOOK_DOCUMENT_DID_OPEN, types.NOTEBOOK_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    on(types.TEXT_DOCUMENT_DID_SAVE, types.NOTEBOOK_DOCUMENT_DID_SAVE, files_changed=True)
    on(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, types.WORKSPACE_DID_CHANGE_CONFIGURATION, files_changed=True)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await server.watch()

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.stop()

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await server.actions(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    return server
