"""The language server, as a process that a real client drives: what is shown, offered and told, on text as it is typed.

Nothing here depends on how long something takes: what is waited for is what has to come.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from tests.samples import FIXABLE, FIXED, HAZARD
from xlalint.authoring.template import new_rule
from xlalint.cli import run

from .editor import Editor, edited, editing, everything

CALLER = """\
import tensorflow as tf

from ops import normalise


@tf.function(jit_compile=True, autograph=False)
def step(x):
    return normalise(x)
"""
OPS = """\
import tensorflow as tf


def normalise(x: tf.Tensor):
    if tf.reduce_sum(x) > 3.0:
        x = x / 2.0
    return x
"""
NAMES = """\
import numpy as np
import tensorflow as tf
import tensorflow.math as m
from tensorflow import unique as distinct
from tensorflow.keras import layers


def f(tensors, x):
    tensors.unique(x)
    m.bincount(x)
    distinct(x)
    tf.keras.layers.Hashing(3)(x)
    return tf . nn . relu (x), np.unique(x), layers.Dense(2)
"""
START = types.Range(types.Position(0, 0), types.Position(0, 0))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def place(text: str, part: str) -> types.Range:
    """Where a part of a text is, in a line of ASCII."""
    before = text[: text.index(part)]
    line, character = before.count("\n"), len(before) - before.rfind("\n") - 1
    return types.Range(types.Position(line, character), types.Position(line, character + len(part)))


def test_what_is_shown_follows_the_text_and_equals_what_the_command_line_finds(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    (root / "step.py").write_text(HAZARD)
    assert run(["--output-format", "json", "step.py"]) == 1
    [found] = json.loads(capsys.readouterr().out)["findings"]

    async def session() -> None:
        async with editing(root) as editor:
            editor.open("step.py", HAZARD)
            [shown] = await editor.diagnostics("step.py")
            assert (shown.code, shown.source) == (found["code"], "xlalint")
            assert shown.severity is types.DiagnosticSeverity.Error
            assert shown.code_description is None  # the site has no address yet
            assert shown.message == f"{found['message']}\n{found['help']}"
            assert shown.range == place(HAZARD, "tf.reduce_sum(x) > 10.0")
            related = [(one.message, one.location.uri) for one in shown.related_information or ()]
            assert related[-1] == ("reached through `step`", editor.uri("step.py"))
            editor.change("step.py", "# more\n" + HAZARD)
            [moved] = await editor.diagnostics("step.py")
            assert moved.range.start.line == shown.range.start.line + 1
            editor.change("step.py", HAZARD.replace("if tf", "if (tf"))
            assert [one.code for one in await editor.diagnostics("step.py")] == ["XLA900"]
            editor.change("step.py", HAZARD.replace("tf.reduce_sum(x)", "x.shape[0]"))
            assert await editor.diagnostics("step.py") == []
            for text in [HAZARD[:end] for end in range(0, len(HAZARD), 7)]:  # as fast as it goes
                editor.change("step.py", text)
            editor.change("step.py", HAZARD)
            assert [one.code for one in await editor.diagnostics("step.py")] == ["XLA101"]
            editor.close("step.py")
            assert await editor.shows("step.py", []) == []
            assert editor.messages == []
        assert (root / "step.py").read_text() == HAZARD
        process = editor.client._server
        assert process is not None
        assert process.returncode == 0

    asyncio.run(session())


def test_what_is_offered_is_what_the_command_line_does(root: Path) -> None:
    two = FIXABLE + HAZARD.partition("\n\n\n")[2].replace("def step", "def other")
    maximum = "import tensorflow as tf\n\n\n@tf.function(jit_compile=True)\ndef f(x):\n    return max(tf.size(x), 3)\n"

    async def session() -> None:
        async with editing(root) as editor:
            editor.open("two.py", two)
            offered = await editor.actions("two.py", place(two, "not m"))
            assert [title.partition(":")[0] for title in offered][:2] == ["XLA104", "XLA104"]
            quick, suppress, every = offered.values()
            assert [one.kind for one in offered.values()] == ["quickfix", "quickfix", "source.fixAll.xlalint"]
            assert (quick.is_preferred, suppress.is_preferred) == (True, False)
            assert [one.code for one in quick.diagnostics or ()] == ["XLA104"]
            assert editor.applied("two.py", quick) == two.replace("not m", "tf.logical_not(m)")
            assert "ignore[XLA104] bool-operator-on-tensor" in editor.applied("two.py", suppress)
            editor.change("two.py", editor.applied("two.py", suppress))
            assert [one.code for one in await editor.diagnostics("two.py")] == ["XLA101"]
            editor.change(
                "two.py", editor.applied("two.py", next(iter((await editor.actions("two.py", START)).values())))
            )
            assert await editor.diagnostics("two.py") == []
            editor.change("two.py", two)
            editor.change("two.py", editor.applied("two.py", every))
            assert await editor.diagnostics("two.py") == []
            assert await editor.actions("two.py", START) == {}
            editor.open("kinds.py", FIXABLE)
            where = place(FIXABLE, "not m")
            only = {
                kind: len(await editor.actions("kinds.py", where, [kind]))
                for kind in ("quickfix", "source", "refactor")
            }
            assert only == {"quickfix": 2, "source": 1, "refactor": 0}
            assert len(await editor.actions("kinds.py", where, ["source.fixAll.xlalint"])) == 1
            assert len(await editor.actions("kinds.py", where, ["source.fixAll.ruff"])) == 0
            editor.open("unsafe.py", maximum)
            [title, _] = await editor.actions("unsafe.py", place(maximum, "max("))
            assert "(unsafe: " in title

    asyncio.run(session())


def utf_8(text: str) -> int:
    return len(text.encode())


def utf_16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("offered", "chosen", "units"),
    [(None, "utf-16", utf_16), (["utf-8", "utf-16"], "utf-8", utf_8), (["utf-32"], "utf-32", len)],
)
def test_columns_are_counted_as_was_agreed(
    root: Path, offered: list[str] | None, chosen: str, units: Callable[[str], int]
) -> None:
    # Neither a form feed nor the separators of Unicode end a line.
    text = FIXABLE.replace("    m =", '    é = "𝒳\u2028\x0b\x0c𝒳"; m =').replace("\n", "\r\n")
    text = text.replace("return tf.cast(", 'return "𝒳é" and tf.cast(')
    line, written = next((at, one) for at, one in enumerate(text.split("\r\n")) if "not m" in one)
    before = written.partition("not m")[0]
    capabilities = everything()
    if offered is not None:
        encodings = [types.PositionEncodingKind(one) for one in offered]
        capabilities.general = types.GeneralClientCapabilities(position_encodings=encodings)

    async def session() -> None:
        async with editing(root, capabilities) as editor:
            assert editor.capabilities is not None
            assert editor.capabilities.position_encoding == chosen
            editor.open("a.py", text)
            shown = next(one for one in await editor.diagnostics("a.py") if one.code == "XLA104")
            start = types.Position(line, units(before))
            assert shown.range == types.Range(start, types.Position(line, units(before + "not m")))
            offers = await editor.actions("a.py", types.Range(start, start))
            [change] = next(one.edit.document_changes or () for one in offers.values() if one.edit is not None)
            assert isinstance(change, types.TextDocumentEdit)
            assert lines_edited(text, change, units) == text.replace("not m", "tf.logical_not(m)")
            page = await editor.hover("a.py", line, units(before))
            assert page is not None
            assert page.startswith("**XLA104 ")
            facts = await editor.hover("a.py", line, units(before) - len("cast("))
            assert facts is not None
            assert facts.startswith("```text\ntf.cast (")

    asyncio.run(session())


def lines_edited(text: str, change: types.TextDocumentEdit, units: Callable[[str], int]) -> str:
    """A text of lines that CR LF ends, edited; only that ends a line."""
    marked = text.replace("\u2028", "\ue000").replace("\x0b", "\ue001").replace("\x0c", "\ue002")
    made = edited(marked, change.edits, lambda part: units(restored(part)))
    return restored(made)


def restored(text: str) -> str:
    return text.replace("\ue000", "\u2028").replace("\ue001", "\x0b").replace("\ue002", "\x0c")


def test_what_is_read_at_a_place(root: Path) -> None:
    async def session() -> None:
        async with editing(root) as editor:
            editor.open("a.py", HAZARD)
            page = await editor.hover("a.py", 5, 10)
            assert page is not None
            assert page.startswith("**XLA101 branch-on-tensor** (error): ")
            assert "## What XLA does" in page
            editor.open("b.py", NAMES)

            async def at(part: str, skip: int = 0) -> str | None:
                start = place(NAMES, part).start
                return await editor.hover("b.py", start.line, start.character + skip)

            for part, skip, name in (
                ("m.bincount", 3, "tf.math.bincount"),
                ("distinct(x)", 0, "tf.unique"),
                ("Hashing", 7, "keras.layers.Hashing"),
                ("relu", 1, "tf.nn.relu"),
                ("Dense(2)", 0, "keras.layers.Dense"),
            ):
                told = await at(part, skip)
                assert told is not None, part
                assert name in told.partition("\n---\n")[0], part
            for part, skip in (("tensors.unique", 9), ("np.unique", 4), ("m.bincount", 0), ("def f", 1), ("return", 0)):
                assert await at(part, skip) is None, part
            broken = NAMES + "    return tf.math.bincount(x\n"
            editor.change("b.py", broken)
            start = place(broken, "tf.math.bincount(x\n").start
            told = await editor.hover("b.py", start.line, start.character + 10)
            assert told is not None
            assert "tf.math.bincount (TensorFlow" in told

    asyncio.run(session())


def cell(editor: Editor, number: int, kind: types.NotebookCellKind = types.NotebookCellKind.Code) -> types.NotebookCell:
    return types.NotebookCell(kind, editor.uri(f"vscode-notebook-cell:/n.ipynb#{number}"))


def item(of: types.NotebookCell, text: str, language: str = "python") -> types.TextDocumentItem:
    return types.TextDocumentItem(of.document, language, 1, text)


def test_notebooks(root: Path) -> None:
    head, body = HAZARD.split("\n\n\n")
    fixable = FIXABLE.split("\n\n\n")[1]

    async def session() -> None:
        async with editing(root) as editor:
            assert editor.capabilities is not None
            assert editor.capabilities.notebook_document_sync is not None
            cells = [cell(editor, 1), cell(editor, 2, types.NotebookCellKind.Markup), cell(editor, 3)]
            notebook = types.NotebookDocument(editor.uri("n.ipynb"), "jupyter-notebook", 1, cells)
            items = [item(cells[0], head), item(cells[1], "# words", "markdown"), item(cells[2], "%time\n" + body)]
            editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
            [shown] = await editor.shows(cells[2].document, ["XLA101"])
            assert shown.range.start == types.Position(3, 7)
            assert await editor.shows(cells[0].document, []) == []
            await change_notebook(editor, 2, text={cells[2].document: "%time\n" + fixable})
            [shown] = await editor.shows(cells[2].document, ["XLA104"])
            offered = await editor.actions(cells[2].document, shown.range)
            made = {title: changes(one) for title, one in offered.items()}
            quick, suppress, every = made.values()
            assert quick == [(cells[2].document, "tf.logical_not(m)")]
            assert suppress == [(cells[2].document, "    # xlalint: ignore[XLA104] bool-operator-on-tensor\n")]
            [(uri, text)] = every
            assert (uri, text.strip()) == (cells[2].document, "return tf.cast(tf.logical_not(m), x.dtype)")
            await change_notebook(editor, 3, removed=(2, 1), closed=[cells[2].document])
            assert await editor.shows(cells[2].document, []) == []
            new = cell(editor, 4)
            await change_notebook(editor, 4, added=(0, new, item(new, "x = 1")))
            await editor.shows(new.document, [])

    asyncio.run(session())


def changes(action: types.CodeAction) -> list[tuple[str, str]]:
    assert action.edit is not None
    return [
        (one.text_document.uri, edit.new_text)
        for one in action.edit.document_changes or ()
        if isinstance(one, types.TextDocumentEdit)
        for edit in one.edits
        if isinstance(edit, types.TextEdit)
    ]


async def change_notebook(
    editor: Editor,
    version: int,
    text: dict[str, str] | None = None,
    removed: tuple[int, int] | None = None,
    closed: list[str] | None = None,
    added: tuple[int, types.NotebookCell, types.TextDocumentItem] | None = None,
) -> None:
    structure = None
    if removed is not None:
        gone = [types.TextDocumentIdentifier(uri) for uri in closed or ()]
        array = types.NotebookCellArrayChange(removed[0], removed[1])
        structure = types.NotebookDocumentCellChangeStructure(array, did_close=gone)
    if added is not None:
        array = types.NotebookCellArrayChange(added[0], 0, [added[1]])
        structure = types.NotebookDocumentCellChangeStructure(array, did_open=[added[2]])
    contents = [
        types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(version, uri), [types.TextDocumentContentChangeWholeDocument(new)]
        )
        for uri, new in (text or {}).items()
    ]
    cells = types.NotebookDocumentCellChanges(structure=structure, text_content=contents or None)
    params = types.DidChangeNotebookDocumentParams(
        types.VersionedNotebookDocumentIdentifier(version, editor.uri("n.ipynb")),
        types.NotebookDocumentChangeEvent(cells=cells),
    )
    editor.client.notebook_document_did_change(params)


def test_files_count_for_each_other_as_they_are_open_or_saved(root: Path) -> None:
    (root / "ops.py").write_text(OPS)

    async def session() -> None:
        async with editing(root) as editor:
            editor.open("ops.py", OPS)
            [alone] = await editor.diagnostics("ops.py")
            assert alone.severity is types.DiagnosticSeverity.Information
            editor.open("step.py", CALLER)
            await editor.diagnostics("step.py")
            assert editor.told[editor.uri("ops.py")].diagnostics[0].severity is types.DiagnosticSeverity.Error
            related = editor.told[editor.uri("ops.py")].diagnostics[0].related_information or ()
            assert related[-1].location.uri == editor.uri("step.py")
            editor.save("step.py")
            editor.close("step.py")  # the caller is seen on the disk as well
            editor.change("ops.py", OPS + "\n")
            [still] = await editor.diagnostics("ops.py")
            assert still.severity is types.DiagnosticSeverity.Error
            editor.close("ops.py")
            editor.open("step.py", CALLER.replace("normalise(x)", "normalise(x) if tf.reduce_any(x > 0.0) else x"))
            await editor.shows("step.py", ["XLA101"])

    asyncio.run(session())


def test_settings_are_those_of_the_project_as_they_are_now(root: Path) -> None:
    settings = root / "pyproject.toml"
    settings.write_text('[tool.xlalint]\nignore = ["XLA101"]\nexclude = ["skipped"]\n')
    (root / "skipped").mkdir()

    async def session() -> None:
        async with editing(root) as editor:
            [registration] = await editor.until(lambda: editor.registered or None)
            assert registration.method == "workspace/didChangeWatchedFiles"
            editor.open("a.py", HAZARD)
            assert await editor.diagnostics("a.py") == []
            editor.open("skipped/b.py", HAZARD)
            editor.open("c.txt", HAZARD, "plaintext")
            editor.open("untitled:Untitled-1", FIXABLE)
            assert [one.code for one in await editor.diagnostics("untitled:Untitled-1")] == ["XLA104"]
            assert editor.uri("c.txt") not in editor.told
            assert await editor.diagnostics("skipped/b.py") == []

            def changed(text: str) -> None:
                settings.write_text(text)
                event = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
                editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

            changed('[tool.xlalint]\nseverity = {XLA101 = "info"}\nexclude = ["skipped"]\n')
            [shown] = await editor.shows("a.py", ["XLA101"])
            assert shown.severity is types.DiagnosticSeverity.Information
            changed("[tool.xlalint]\nignor = []\n")
            [message] = await editor.until(lambda: editor.messages or None)
            assert message == f"xlalint: {root}: pyproject.toml: unknown setting 'ignor'; did you mean 'ignore'?"
            editor.change("a.py", HAZARD + "\n")
            [shown] = await editor.diagnostics("a.py")
            assert shown.severity is types.DiagnosticSeverity.Information  # as they were last
            changed("")
            await editor.shows("skipped/b.py", ["XLA101"])
            assert editor.messages == [message]

    asyncio.run(session())


def test_what_a_baseline_holds_is_not_shown(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    (root / "a.py").write_text(FIXABLE)
    (root / "pyproject.toml").write_text('[tool.xlalint]\nbaseline = "known.json"\n')
    assert run(["baseline", "write", "a.py"]) == 0
    assert "known.json" in capsys.readouterr().out

    async def session() -> None:
        async with editing(root) as editor:
            editor.open("a.py", "# moved\n" + FIXABLE)
            assert await editor.diagnostics("a.py") == []
            assert await editor.actions("a.py", START, ["source.fixAll"]) == {}
            editor.change("a.py", FIXABLE + FIXABLE.partition("\n\n\n")[2].replace("step", "other"))
            [shown] = await editor.diagnostics("a.py")
            assert shown.range.start.line > FIXABLE.count("\n")
            (root / "known.json").write_text("{")
            editor.change("a.py", FIXABLE)
            assert [one.code for one in await editor.diagnostics("a.py")] == ["XLA104"]
            [message] = await editor.until(lambda: editor.messages or None)
            assert "known.json: " in message

    asyncio.run(session())


def test_rules_of_ones_own(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    house = tmp_path_factory.mktemp("house")
    new_rule("no-inverse", None, house)
    text = "import tensorflow as tf\n\n\n@tf.function(jit_compile=True)\ndef f(x):\n    return tf.linalg.inv(x)\n"

    async def session() -> None:
        async with editing(root, None, "--stdio", "--rules", str(house)) as editor:
            editor.open("a.py", text)
            assert [one.code for one in await editor.diagnostics("a.py")] == ["OWN101"]
            page = await editor.hover("a.py", 5, 12)
            assert page is not None
            assert page.startswith("**OWN101 no-inverse** (warning): ")

    asyncio.run(session())


def test_without_its_libraries_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['pygls'] = None; from xlalint.cli import run; sys.exit(run(['server']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "xlalint: error: the server needs pygls: pip install 'xlalint[server]'\n"


def test_an_editor_that_can_little_gets_edits_without_versions(root: Path) -> None:
    async def session() -> None:
        async with editing(root, types.ClientCapabilities()) as editor:
            assert editor.registered == []
            editor.open("a.py", FIXABLE)
            [action] = (await editor.actions("a.py", START, ["source.fixAll"])).values()
            assert action.edit is not None
            assert action.edit.document_changes is None
            assert editor.applied("a.py", action) == FIXED  # what the command line writes

    asyncio.run(session())
