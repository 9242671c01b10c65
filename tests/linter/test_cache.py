"""Cached results: the same as fresh ones, never stale, and harmless when damaged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import xlalint
from tests.samples import HAZARD
from xlalint.cache import keys
from xlalint.cache.folder import Folder
from xlalint.cache.keys import key_of
from xlalint.findings.findings import Effect, Finding, FindingContext, Note, Report, Severity, Span, TrailStep
from xlalint.linter.cache import Cache, Digests, Entry
from xlalint.linter.run import check
from xlalint.settings.config import load
from xlalint.sources.text import digest_of

FINDING = Finding(
    "é.py",
    Span(1, 2, 3, 4),
    "XLA101",
    "branch-on-tensor",
    Severity.ERROR,
    Effect.FAILS,
    "message",
    FindingContext("xla", True, (TrailStep("b.py", 1, "f"),)),
    "help\nhelp",
    (Note("b.py", Span(1, 1, 1, 2), "note"),),
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "step.py").write_text(HAZARD)
    return tmp_path


def run(*paths: str) -> Report:
    return check(paths or ["."], load())


def entries(project: Path) -> list[Path]:
    return sorted((project / ".xlalint_cache").glob("*.json"))


def test_an_entry_comes_back_as_it_was(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    entry = Entry((FINDING,), {})
    cache.store("key", entry)
    assert cache.load("key") == entry
    assert cache.load("other") is None
    assert (tmp_path / "cache" / ".gitignore").read_text().splitlines()[-1] == "*"
    assert (tmp_path / "cache" / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_a_warm_run_says_the_same_and_analyses_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cold = run()
    assert [finding.code for finding in cold.findings] == ["XLA101"]
    monkeypatch.setattr("xlalint.linter.run._analyse", None)
    assert run() == cold


def test_a_warm_run_imports_neither_libcst_nor_rich(project: Path) -> None:
    program = (
        "import sys\nfrom xlalint.cli import run\ncode = run(['--output-format', sys.argv[1]])\n"
        "print(code, *sorted({'libcst', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    for output_format, imported in (("full", "1 libcst"), ("full", "1"), ("concise", "1"), ("json", "1")):
        done = subprocess.run(
            [sys.executable, "-c", program, output_format], capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == imported


def test_a_run_after_an_edit_of_comments_does_not_import_what_executes_code(project: Path) -> None:
    heavy = "{'libcst', 'xlalint.analysis.fixpoint.entry_points', 'xlalint.rules.xla101_branch_on_tensor'}"
    program = (
        "import sys\nfrom xlalint.cli import run\ncode = run(['--output-format', 'json'])\n"
        f"print(code, len({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    said = []
    for text, imported in ((HAZARD, 3), (HAZARD + "# a comment\n", 0), (HAZARD + "number = 1\n", 3)):
        (project / "step.py").write_text(text)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stderr.split() == ["1", str(imported)]
        said.append(done.stdout)
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize("change", ["content", "new file", "setting", "keras", "removed"])
def test_what_findings_depend_on_makes_a_new_key(project: Path, change: str) -> None:
    run()
    before = entries(project)
    match change:
        case "content":
            (project / "step.py").write_text(HAZARD + "\n")
        case "new file":
            (project / "other.py").write_text("")
        case "setting":
            (project / "pyproject.toml").write_text("[tool.xlalint]\nignore = ['XLA101']\n")
        case "keras":
            (project / "requirements.txt").write_text("tensorflow<2.16\n")
        case "removed":
            (project / "step.py").unlink()
    run()
    assert len(entries(project)) == len(before) + 1


def test_output_settings_share_an_entry(project: Path) -> None:
    check(["."], load(options={"output-format": "json", "fail-on": "error", "jobs": 1}))
    run()
    assert len(entries(project)) == 1


def test_an_imported_file_that_changes_is_noticed(project: Path) -> None:
    (project / "helper.py").write_text("def halve(x):\n    return 3\n")
    (project / "step.py").write_text(
        "import tensorflow as tf\nfrom helper import halve\n\n\n"
        "@tf.function(jit_compile=True, autograph=False)\ndef step(x: tf.Tensor):\n"
        "    if halve(x) > 2:\n        x = x / 2.0\n    return x\n"
    )
    assert run("step.py").findings == ()
    (project / "helper.py").write_text("def halve(x):\n    return x / 2\n")
    assert [finding.code for finding in run("step.py").findings] == ["XLA101"]
    (project / "helper.py").unlink()
    assert run("step.py").findings == ()
    (project / "helper.py").write_text("def halve(x):\n    return x / 2\n")
    assert [finding.code for finding in run("step.py").findings] == ["XLA101"]


def aged(file: Path) -> Path:
    """A file that says it was last written long ago."""
    then = 1_500_000_000
    os.utime(file, (then, then))
    return file


def test_a_script_that_does_not_name_tensorflow_may_suppress(project: Path) -> None:
    (project / "step.py").write_text(
        "import tensorflow as tf\n\n\ndef compiled(f):\n    return tf.function(f, jit_compile=True, autograph=False)\n"
    )
    script = "from step import compiled\n\n\n@compiled\ndef run(x):\n    if x > 0:{}\n        x = x / 2\n    return x\n"
    main = "\n\nif __name__ == '__main__':\n    print(run)\n"
    for comment, expected in (("", ["XLA101"]), ("  # noqa", []), ("  # noqa: XLA101", [])):
        (project / "main.py").write_text(script.format(comment) + main)
        for _ in range(2):
            assert [finding.code for finding in run().findings] == expected


def test_a_warm_run_reads_no_file_that_stayed_what_it_was(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time_ns() + 3_600_000_000_000
    monkeypatch.setattr("xlalint.sources.versions.time.time_ns", lambda: later)
    cold = run()
    monkeypatch.setattr("xlalint.linter.cache.digest_of", None)
    monkeypatch.setattr("xlalint.linter.inputs.read_bytes", None)
    assert run() == cold == run()


def test_what_was_written_a_moment_ago_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x")
    for content in (b"x", b"y"):
        before = os.stat(file)
        file.write_bytes(content)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        digests = Digests(tmp_path / "digests")
        assert digests.of(str(file)) == digest_of(content)
        digests.save()


def test_a_change_that_keeps_size_and_time_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlalint.sources.versions._GRAIN", -3_600_000_000_000)
    file = tmp_path / "a.py"
    for content in (b"x", b"y"):
        file.write_bytes(content)
        digests = Digests(tmp_path / "cache" / "digests")
        assert digests.of(str(aged(file))) == digest_of(content)
        digests.save()
        assert (tmp_path / "cache" / "digests").exists()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"a": 3}', b'{"a": [[1, 2], "b"]}', b"\xff"])
def test_damaged_digests_are_passed_over(project: Path, damage: bytes) -> None:
    aged(project / "step.py")
    cold = run()
    (project / ".xlalint_cache" / "digests").write_bytes(damage)
    assert run() == cold


def test_imported_files_are_compared(tmp_path: Path) -> None:
    imported = tmp_path / "b.py"
    imported.write_bytes(b"x")
    cache = Cache(tmp_path / "cache")
    cache.store("key", Entry((), {str(imported): digest_of(b"x")}))
    assert cache.load("key") is not None
    imported.write_bytes(b"y")
    assert cache.load("key") is None
    imported.unlink()
    assert cache.load("key") is None


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"null",
        b"[" * 100_000,
        b'{"findings": 3, "imported": {}}',
        b'{"findings": [], "imported": {}, "more": 1}',
        b'{"findings": [{"path": "a"}], "imported": {}}',
        b"\xff\xfe\x00",
    ],
)
def test_damaged_content_is_passed_over(project: Path, damage: bytes) -> None:
    cold = run()
    [entry] = entries(project)
    sound = entry.read_bytes()
    for spoilt in (damage, sound[:40] + damage):
        entry.write_bytes(spoilt)
        assert run() == cold
        assert entry.read_bytes() == sound
    folder = Folder(entry.parent, 9)
    folder.store(entry.stem, damage)  # as a damaged program might have written it
    assert folder.load(entry.stem) == damage
    assert run() == cold
    assert entry.read_bytes() == sound


def test_a_bit_that_flips_is_noticed(project: Path) -> None:
    cold = run()
    [entry] = entries(project)
    sound = entry.read_bytes()
    for at in range(0, len(sound), 97):
        entry.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        assert Cache(entry.parent).load(entry.stem) is None
    assert run() == cold
    assert entry.read_bytes() == sound


def test_a_cache_that_came_with_a_checkout_is_not_believed(project: Path) -> None:
    """It is even one of the same user, machine and state of the files, with its seals; only it is a copy."""
    cold = run()
    cache, copy = project / ".xlalint_cache", project / "copy"
    [entry] = entries(project)
    Folder(cache, 9).store(entry.stem, b'{"findings": [], "imported": {}}')
    assert run().findings == (), "who can seal is believed"
    shutil.copytree(cache, copy)
    shutil.rmtree(cache)
    copy.rename(cache)
    assert run() == cold
    assert run() == cold
    (cache / "made-here").unlink()
    Folder(cache, 9).store("0", b"")
    assert Cache(cache).load(entry.stem) is None, "another mark"


def test_what_is_used_stays_and_what_is_not_goes(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 3)
    for key in "abc":
        folder.store(key, key.encode())
        aged(tmp_path / f"{key}.json")
    assert folder.load("a") == b"a"
    folder.store("d", b"d")
    assert [folder.load(key) for key in "abcd"] == [b"a", None, b"c", b"d"]
    for key in "ac":
        aged(tmp_path / f"{key}.json")
    folder.store("e", b"e", used={"c"})
    assert [folder.load(key) for key in "acde"] == [None, b"c", b"d", b"e"]


def test_digests_of_others_are_not_believed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlalint.sources.versions._GRAIN", -3_600_000_000_000)
    digests, file = project / "cache" / "digests", str(aged(project / "step.py"))
    first = Digests(digests)
    digest = first.of(file)
    first.save()
    forged = digests.read_bytes().replace(digest.encode(), digest_of(b"other").encode())
    digests.write_bytes(forged)
    assert Digests(digests).of(file) == digest


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_foreign_json_is_never_an_entry(tmp_path: Path, content: object) -> None:
    Folder(tmp_path, 9).store("key", json.dumps(content).encode())
    assert Cache(tmp_path).load("key") is None


def test_a_folder_that_cannot_be_written_does_no_harm(project: Path) -> None:
    (project / ".xlalint_cache").write_text("a file in its place")
    assert [finding.code for finding in run().findings] == ["XLA101"]
    assert (project / ".xlalint_cache").read_text() == "a file in its place"


def test_old_entries_go(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for number in range(40):
        cache.store(str(number), Entry((), {}))
        os.utime(tmp_path / f"{number}.json", (number, number))
    assert len(list(tmp_path.glob("*.json"))) == 32
    assert cache.load("39") is not None
    assert cache.load("0") is None


def test_keys_tell_parts_apart() -> None:
    assert key_of(["ab", "c"]) != key_of(["a", "bc"])
    assert key_of(["a"]) == key_of(["a"])


def test_the_key_is_the_same_in_every_process(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.xlalint]\nignore = ['XLA90']\nseverity = { XLA1 = 'info' }\n")
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-m", "xlalint"], capture_output=True, check=True, env=environment)
    assert len(entries(project)) == 1


def test_a_key_depends_on_every_file_of_the_tool() -> None:
    package = Path(xlalint.__file__).parent
    written = {path for path in package.rglob("*") if path.suffix in (".py", ".json", ".toml")}
    assert written == {Path(path) for path in keys.files_of_the_tool()}
    assert {"linter", "analysis", "facts", "fixes", "syntax", "cache"} <= {path.parent.name for path in written}
