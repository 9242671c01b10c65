"""Which parts of an analysis are run again after an edit: those that would read or hear something else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from xlalint.analysis.fixpoint import partitions as parts
from xlalint.findings.findings import Report
from xlalint.linter.analyse import Analysis
from xlalint.linter.cache import Cache
from xlalint.linter.inputs import Inputs
from xlalint.linter.run import Stdin, check, observe
from xlalint.settings.config import Settings
from xlalint.sources.text import Source

TF: Final = "import tensorflow as tf\n"
POSITIVE: Final = "def positive(x):\n    return tf.boolean_mask(x, x > 0)\n"
NEGATED: Final = "def positive(x):\n    return not (sin(x) > 0)\n"
STEP: Final = "@tf.function(jit_compile=True)\ndef step(x):\n    return tf.cumsum({})\n"
USER: Final = TF + "from ops import positive\n\n" + STEP.format("positive(x)")
ALONE: Final = TF + "def f(x):\n    return tf.reduce_sum(x)\n"
LAYERS: Final = (
    TF + "from base import Base\nclass Mine(Base):\n    def call(self, x):\n        return tf.sin(x).numpy()\n"
)
BASE: Final = TF + "from root import Root\nclass Base(Root):\n    pass\n"
# What is edited: what stands in the files before, and what stands in some of them after (None: they go), and whose
# parts are run for that. Beside them lies a file that knows none of them.
EDITS: Final[Mapping[str, tuple[dict[str, str], dict[str, str | None], str]]] = {
    "a body that another file runs": (
        {"ops.py": TF + POSITIVE, "user.py": USER},
        {"ops.py": TF + POSITIVE.replace("x > 0", "x < 0")},
        "ops user",
    ),
    "lines below what another file runs": (
        {"ops.py": TF + POSITIVE, "user.py": USER},
        {"ops.py": TF + POSITIVE + "\n\n# the end\n"},
        "",
    ),
    "lines among which a fix in another file's part would put an import": (
        {"ops.py": "from tensorflow import sin\n# of old\n" + NEGATED, "user.py": USER},
        {"ops.py": "# of old\nfrom tensorflow import sin\n" + NEGATED},
        "",
    ),
    "lines above what another file runs": (
        {"ops.py": TF + "def positive(x):\n    return x > 0\n", "user.py": USER},
        {"ops.py": "\n" + TF + "def positive(x):\n    return x > 0\n"},
        "",
    ),
    "a body that another file could run": (
        {"ops.py": TF + "def negative(x):\n    return -x\n\n\ndef positive(x):\n    return x\n", "user.py": USER},
        {"ops.py": TF + "def negative(x):\n    return +x\n\n\ndef positive(x):\n    return x\n"},
        "ops",
    ),
    "a line more in a body above what another file runs": (
        {"ops.py": TF + "def negative(x):\n    return -x\n\n\n" + POSITIVE, "user.py": USER},
        {"ops.py": TF + "def negative(x):\n    x = -x\n    return x\n\n\n" + POSITIVE},
        "ops",
    ),
    "lines less in a body above a class that another file uses": (
        {
            "ops.py": TF + "def negative(x):\n    x = -x\n    return x\n\n\n" + "class Root:\n    n = 3\n\n"
            "    def run(self, x):\n        return x.numpy()\n\n    def rest(self, x):\n        return 1\n",
            "user.py": TF + "from ops import Root\n\n" + STEP.format("Root().run(x)"),
        },
        {
            "ops.py": TF + "def negative(x):\n    return -x\n\n\n" + "class Root:\n    n = 3\n\n"
            "    def run(self, x):\n        return x.numpy()\n\n    def rest(self):\n        n = 2\n        return n\n"
        },
        "ops",
    ),
    "a call more of what another file runs, in a body above": (
        {"ops.py": TF + "def negative(x):\n    return -x\n\n\n" + POSITIVE, "user.py": USER},
        {"ops.py": TF + "def negative(x):\n    x = positive(x)\n    return -x\n\n\n" + POSITIVE},
        "ops user",
    ),
    "a line more at the end of a body that another file runs": (
        {"ops.py": TF + "def positive(x):\n    x = tf.sin(x)\n", "user.py": USER},
        {"ops.py": TF + "def positive(x):\n    x = tf.sin(x)\n    return x.numpy()\n"},
        "ops user",
    ),
    "a line more in a body, and a comment above what another file runs": (
        {"ops.py": TF + "def negative(x):\n    return -x\n\n\n" + POSITIVE, "user.py": USER},
        {"ops.py": TF + "def negative(x):\n    x = -x\n    return x\n\n\n# above\n" + POSITIVE},
        "ops",
    ),
    "lines above that are no definition": (
        {"ops.py": TF + "def negative(x):\n    return -x\n\n\n" + POSITIVE, "user.py": USER},
        {"ops.py": TF + "print(1)\ndef negative(x):\n    return -x\n\n\n" + POSITIVE},
        "ops user",
    ),
    "a second definition of what another file runs": (
        {"ops.py": TF + "def positive(x):\n    return x\n\n\n", "user.py": USER},
        {"ops.py": TF + "def positive(x):\n    return x\n\n\ndef positive(x):\n    return x.numpy()\n"},
        "ops user",
    ),
    "a second definition of a method that another file runs": (
        {
            "ops.py": TF + "class Ops:\n    def run(self, x):\n        return x\n    n = 1\n",
            "user.py": TF + "from ops import Ops\n\n" + STEP.format("Ops().run(x)"),
        },
        {
            "ops.py": TF + "class Ops:\n    def run(self, x):\n        return x\n    n = 1\n"
            "    def run(self, x):\n        return x.numpy()\n"
        },
        "ops user",
    ),
    "a literal": (
        {
            "ops.py": TF + "LIMIT = 3\n",
            "user.py": TF + "from ops import LIMIT\n\n" + STEP.format("x if LIMIT > 3 else x.numpy()"),
        },
        {"ops.py": TF + "LIMIT = 4\n"},
        "ops user",
    ),
    "a decorator": (
        {"ops.py": TF + "def read(x):\n    return x.numpy()\n", "user.py": TF + "import ops\nops.read(tf.ones([3]))\n"},
        {"ops.py": TF + "@tf.function(jit_compile=True)\ndef read(x):\n    return x.numpy()\n"},
        "ops user",
    ),
    "the base of a base": (
        {"layers.py": LAYERS, "base.py": BASE, "root.py": TF + "class Root:\n    pass\n"},
        {"root.py": TF + "class Root(tf.keras.layers.Layer):\n    pass\n"},
        "base layers root",
    ),
    "a new call in another file": (
        {"ops.py": TF + POSITIVE, "user.py": TF + "import ops\n"},
        {"user.py": TF + "import ops\nprint(ops.positive(tf.ones([3])))\n"},
        "ops user",
    ),
    "a call in another file": (
        {"ops.py": TF + POSITIVE, "user.py": TF + "import ops\nprint(ops.positive(tf.ones([3])))\n"},
        {"user.py": TF + "import ops\n"},
        "ops user",
    ),
    "a caller that nobody calls": (
        {
            "ops.py": TF + POSITIVE,
            "user.py": TF + "import ops\n\n\ndef total(x):\n    return tf.sin(ops.positive(x))\n",
        },
        {"user.py": TF + "import ops\n\n\ndef total(x):\n    return tf.sin(x)\n"},
        "ops user",
    ),
    "a new file that nobody wants": ({"user.py": USER}, {"new.py": ALONE}, "new"),
    "a new file that was sought": ({"user.py": USER}, {"ops.py": TF + POSITIVE}, "ops user"),
    "a new file that was sought and is not checked": (
        {"user.py": USER.replace("cumsum(", "cumsum(x if ")[:-2] + " > 3 else x)\n"},
        {"ops.py": "import os\ndef positive(x):\n    return 1\n"},
        "user",
    ),
    "a new file in a folder that was sought": (
        {"user.py": USER.replace("ops", "pkg.ops"), "pkg/other.py": ALONE},
        {"pkg/ops.py": TF + POSITIVE},
        "ops user",
    ),
    "a new file in a folder above that was sought": (
        {"pyproject.toml": "", "nets/user.py": USER.replace("ops", "shared.ops"), "shared/old.py": ALONE},
        {"shared/ops.py": TF + POSITIVE},
        "ops user",
    ),
    "a file that goes": ({"user.py": USER, "ops.py": TF + POSITIVE}, {"ops.py": None}, "user"),
    "a file that is no Python any more": (
        {"user.py": USER, "ops.py": TF + POSITIVE},
        {"ops.py": TF + "def"},
        "ops user",
    ),
    "a file that was no Python": ({"user.py": USER, "ops.py": TF + "def"}, {"ops.py": TF + POSITIVE}, "ops user"),
    "a file that is imported and has nothing to check": (
        {"user.py": USER, "ops.py": "import os\ndef positive(x):\n    return x > 3\n"},
        {"ops.py": "import os\ndef positive(x):\n    return 3\n"},
        "user",
    ),
    "a file that has something to check now": (
        {"user.py": USER, "ops.py": "import os\ndef positive(x):\n    return x > 3\n"},
        {"ops.py": TF + "def positive(x):\n    return x > 3\n"},
        "ops user",
    ),
    "a package that is none any more": (
        {"pkg/__init__.py": "", "pkg/user.py": USER.replace("from ops", "from .ops"), "pkg/ops.py": TF + POSITIVE},
        {"pkg/__init__.py": None},
        "alone ops user",  # the folder is one more in which modules are looked for
    ),
    "a file that has nothing to do with it": (
        {"user.py": USER, "data.py": "import os\n"},
        {"data.py": "import re\n"},
        "",
    ),
    "the first strategy": (
        {"user.py": USER, "ops.py": TF + POSITIVE},
        {"ops.py": TF + POSITIVE + "strategy = tf.distribute.MirroredStrategy()\n"},
        "alone ops user",
    ),
    "a docstring where there was none": (
        {"ops.py": TF + POSITIVE, "user.py": USER},
        {"user.py": USER.replace("step(x):\n", "step(x):\n    'Adds up.'\n")},
        "user",
    ),
    "the words of a docstring": (
        {"ops.py": TF + "def same(x):\n    'Again.'\n    return x\n\n\n" + POSITIVE, "user.py": USER},
        {"ops.py": TF + "def same(x):\n    'Nothing new.'\n    # at all\n    return x\n\n\n" + POSITIVE},
        "",
    ),
    "comments above and in what says nothing": (
        {"ops.py": TF + "def same(x):\n    return x\n\n\n" + POSITIVE, "user.py": USER},
        {"ops.py": TF + "# old\n\ndef same(x):\n    # new\n    return x  # here\n\n\n" + POSITIVE},
        "",
    ),
    "a comment in a function in which something is found": (
        {"ops.py": TF + POSITIVE, "user.py": USER},
        {"ops.py": TF + POSITIVE.replace("    return", "    # of old\n    return")},
        "user",
    ),
    "a comment that names a function": (
        {"ops.py": TF + POSITIVE, "user.py": USER},
        {"ops.py": "# positive is what counts\n" + TF + POSITIVE},
        "ops user",
    ),
    "a comment inside a statement": (
        {"ops.py": TF + POSITIVE, "user.py": USER.replace("tf.cumsum(", "tf.cumsum(\n        ")},
        {"user.py": USER.replace("tf.cumsum(", "tf.cumsum(\n        # of these\n        ")},
        "user",
    ),
    "a docstring that imports": (
        {"ops.py": "'Nothing.'\nn = 3\n", "user.py": TF + "import ops\nprint(ops.n)\n"},
        {"ops.py": "'\\\nimport tensorflow\\\n'\nn = 3\n"},
        "ops user",
    ),
    "a comment that suppresses": (
        {"user.py": USER, "ops.py": TF + "def positive(x):\n    return x\n"},
        {"user.py": USER[:-1] + "  # noqa: XLA205\n"},
        "",
    ),
}


@pytest.fixture(autouse=True)
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose parts were run; each file is a part of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "_TEXT_OF_A_PART", 1)
    monkeypatch.setattr(parts, "_PARTS", 1_000)
    found: list[str] = []
    work = Analysis._part

    def part(self: Analysis, share: tuple[Path, ...]) -> Any:
        found.extend(path.stem for path in share)
        return work(self, share)

    monkeypatch.setattr(Analysis, "_part", part)
    return found


def write(files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")


def run(paths: Sequence[str] = (".",), **options: Any) -> Report:
    return check(paths, Settings(jobs=1, cache_dir=Path(".cache"), **options))


def fresh() -> Report:
    return check(["."], Settings(jobs=1))


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_run_again_after(edit: str, ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, expected = EDITS[edit]
    write({"alone.py": ALONE, **before})
    run()
    write(after)
    ran.clear()
    report = run()
    assert " ".join(sorted(ran)) == expected
    assert report == fresh()
    with monkeypatch.context() as patch:
        patch.setattr("xlalint.linter.run._analyse", None)
        assert run() == report
    write(before | dict.fromkeys(after.keys() - before.keys()))
    assert run() == fresh()


def test_an_edit_that_is_taken_back_costs_nothing(ran: list[str]) -> None:
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    run()
    for edited in (TF + POSITIVE + "# the end\n", TF + POSITIVE.replace("x > 0", "x < 0")):
        write({"ops.py": edited})
        run()
    write({"ops.py": TF + POSITIVE, "alone.py": ALONE + "n = 1\n"})
    ran.clear()
    report = run()
    assert ran == ["alone"]
    assert report == fresh()


def test_what_parts_sent_last_time_is_expected_of_them(ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of parts that run one after another, those that run first need not run again for what the others send."""
    write({"alone.py": ALONE, "caller.py": USER, "ops.py": TF + POSITIVE})
    with monkeypatch.context() as patch:
        patch.setattr(parts, "_TOGETHER", 0)
        patch.setattr("xlalint.linter.analyse.CAN_FORK", False)
        patch.setattr(Analysis, "_filled", lambda self, expected=0: 1.0)
        run()
        assert ran == ["ops", "caller", "alone", "ops"]
        write({"ops.py": TF + POSITIVE.replace("x > 0", "x < 0")})
        ran.clear()
        report = run()
        assert ran == ["ops", "caller"]
    assert report == fresh()


def test_a_run_over_some_files_uses_what_one_over_all_left(ran: list[str]) -> None:
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    run()
    write({"user.py": USER + "n = 1\n"})
    ran.clear()
    report = run(["ops.py"], project=Path.cwd())
    assert ran == ["user"]
    assert report == check(["ops.py"], Settings(jobs=1, project=Path.cwd()))
    assert {finding.path for finding in report.findings} == {"ops.py"}


def test_other_settings_are_another_analysis(ran: list[str]) -> None:
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    for options in ({}, {"include_host": True}, {"keras": 2}, {"unrolled_rounds": 3}):
        ran.clear()
        run(**options)
        assert sorted(ran) == ["alone", "ops", "user"]
    ran.clear()
    report, told, _ = observe(["."], Settings(jobs=1, cache_dir=Path(".cache")), ())
    assert (sorted(ran), told) == (["alone", "ops", "user"], ())
    assert report == fresh()


def test_text_that_is_not_on_the_disk_counts(ran: list[str]) -> None:
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    run()
    ran.clear()
    given = Stdin(Path("user.py"), USER.replace("cumsum", "sin").encode())
    options = {"jobs": 1, "project": Path.cwd()}
    report = check(["user.py"], Settings(cache_dir=Path(".cache"), **options), given)  # type: ignore[arg-type]
    assert ran == ["user"]
    assert report == check(["user.py"], Settings(**options), given)  # type: ignore[arg-type]


def damaged(data: bytes) -> bytes:
    return data[: len(data) // 2]


def foreign(data: bytes) -> bytes:
    return b'{"rounds": [], "candidates": [], "trouble": []}'


def elsewhere(data: bytes) -> bytes:
    return data.replace(b'"path":"ops.py"', b'"path":"../secret.py"')


@pytest.mark.parametrize("spoil", [damaged, foreign, elsewhere, lambda data: b"[" * 100_000, lambda data: b"\xff"])
def test_a_record_that_is_not_sound_is_passed_over(spoil: Callable[[bytes], bytes], ran: list[str]) -> None:
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    run()
    kept, spoiled = Cache(Path(".cache")).parts, 0
    for file in Path(".cache/parts").glob("*.json"):
        data = kept.load(file.stem)
        assert data is not None
        kept.store(file.stem, spoil(data))
        spoiled += spoil(data) != data
    assert spoiled
    write({"alone.py": ALONE + "n = 1\n"})
    assert run() == fresh()
    assert "alone" in ran


def test_what_is_used_is_kept_and_the_rest_is_limited(monkeypatch: pytest.MonkeyPatch, ran: list[str]) -> None:
    monkeypatch.setattr("xlalint.linter.cache._KEPT_PARTS", 6)
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    run()
    long_ago = time.time() - 1_000
    for file in Path(".cache/parts").glob("*.json"):
        os.utime(file, (long_ago, long_ago))
    for number in range(8):
        write({f"new{number}.py": ALONE})
        run()
        write({f"new{number}.py": None})
    assert len(list(Path(".cache/parts").glob("*.json"))) == 6
    ran.clear()
    write({"alone.py": ALONE + "n = 1\n"})
    run()
    assert ran == ["alone"]


def test_what_is_written_while_it_is_read_is_not_kept(ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    run()
    write({"user.py": USER + "n = 1\n"})
    read = Inputs.source

    def source(self: Inputs, display: str) -> Source:
        write({"ops.py": TF + "def positive(x):\n    return x.numpy()\n"})
        return read(self, display)

    with monkeypatch.context() as patch:
        patch.setattr(Inputs, "source", source)
        run()
    assert run() == fresh()
    write({"ops.py": TF + POSITIVE})
    assert run() == fresh()


def test_a_folder_that_cannot_be_written_costs_time_only(ran: list[str]) -> None:
    write({"alone.py": ALONE, ".cache": "no folder"})
    assert [run(), run()] == [fresh()] * 2


def test_facts_that_are_damaged_are_gathered_anew(ran: list[str]) -> None:
    write({"alone.py": ALONE, "user.py": USER, "ops.py": TF + POSITIVE})
    run()
    [file] = Path(".cache/facts").glob("*.json")
    file.write_bytes(b"{")
    assert Cache(Path(".cache")).facts() == {}
    write({"alone.py": ALONE + "n = 1\n"})
    ran.clear()
    assert run() == fresh()
    assert ran[0] == "alone"
