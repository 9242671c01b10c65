"""Positions: whatever a file looks like, the name of every definition is found where the text has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlalint.analysis.domain.values import Function, Module
from xlalint.analysis.files.files import Files
from xlalint.analysis.files.unit import Span4
from xlalint.analysis.program.project import Project
from xlalint.linter.run import check
from xlalint.settings.config import Settings
from xlalint.sources.text import Source

NAMES = st.sampled_from(["f", "step", "naïve", "größe", "変数", "𝑥", "ﬁt", "Ω2"])
REMARKS = st.sampled_from(["", "  # plain", "  # größer 変数 𝑥", "\t# tab", "  # \x0c form feed", "  # \x85 \u2028"])
BETWEEN = st.sampled_from(["", "# a remark", "\x0c", "x = '𝑥'; y = 2", "'''text\x0bof\x1ctwo\nlines'''", "if 1: z = 3"])
DECORATORS = st.sampled_from(["", "@property", "@wrap(\n    1, 'ü',\n)", "@a.b  # why\n@c"])
BODIES = st.sampled_from(["pass", "return '\x0c\x85'", "'''a docstring\n\nof é lines\n'''", "x = (1,\n\n2)"])
PARAMETERS = st.sampled_from(["", "self", "x, /, *, y=('ä')", "\n    x,\n    y\n"])


@st.composite
def functions(draw: st.DrawFn) -> list[str]:
    decorators = [line for line in draw(DECORATORS).split("\n") if line]
    keyword = draw(st.sampled_from(["def ", "async def ", "def  ", "def\t"]))
    head = f"{keyword}{draw(NAMES)}({draw(PARAMETERS)}):{draw(REMARKS)}"
    return indented([*decorators, *head.split("\n")], 0) + indented(draw(BODIES).split("\n"), 1)


@st.composite
def classes(draw: st.DrawFn, depth: int = 2) -> list[str]:
    inner = functions() if depth == 0 else functions() | classes(depth - 1)
    members = draw(st.lists(inner | BETWEEN.map(lambda text: text.split("\n")), max_size=3))
    head = f"class {draw(NAMES)}(Base):{draw(REMARKS)}"
    return [head, *indented([line for member in members for line in member], 1), *indented(["pass"], 1)]


def indented(lines: list[str], level: int) -> list[str]:
    """With a mark for each level of indentation; the lines of text in quotes keep theirs, which does no harm."""
    return ["\0" * level + line for line in lines]


@st.composite
def files(draw: st.DrawFn) -> str:
    """The text of a file that Python reads."""
    parts = draw(st.lists(functions() | classes() | BETWEEN.map(lambda text: text.split("\n")), min_size=1, max_size=5))
    lines = [line for part in parts for line in part]
    if draw(st.booleans()):
        lines = ["if True:", *indented(lines, 1), *indented(["pass"], 1)]
    indent = draw(st.sampled_from(["    ", "\t", "  ", " \t"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    last = draw(st.sampled_from(["", end]))
    return end.join(lines).replace("\0", indent) + last


def module_of(text: str) -> Module:
    [module] = Project(Files.of([Source(Path("/nowhere/a.py"), "a.py", text, "digest")])).modules
    return module


def all_functions(module: Module) -> Iterator[Function]:
    yield from module.functions
    pending = list(module.classes)
    for cls in pending:
        yield from cls.functions.values()
        pending += cls.classes.values()


def text_at(text: str, span: Span4) -> str:
    """The text that a span covers, by Python's own idea of lines."""
    line, column, end_line, end_column = span
    assert line == end_line
    return re.split(r"\r\n|\r|\n", text)[line - 1][column - 1 : end_column - 1]


@settings(max_examples=150)
@given(files())
def test_the_span_of_a_name_covers_the_name(text: str) -> None:
    for function in all_functions(module_of(text)):
        label = function.label
        written = text_at(text, label.span)
        assert written == label.code
        # Python reads `ﬁt` as `fit`.
        assert function.name == normalize("NFKC", written)


def test_positions_inside_a_method_count_from_the_file() -> None:
    text = "# first\r\nclass L:\r\n\tdef call(self, x):\r\n\t\tif x:\r\n\t\t\treturn 'ü', x\r\n"
    [cls] = module_of(text).classes
    location = cls.functions["call"].location
    assert location.span[:2] == (3, 2)
    assert location.code.startswith("def call")


def test_a_form_feed_before_an_indentation_is_passed_over() -> None:
    text = "class L:\n    x = 1\n\f    def call(self, x):\n        return x\n"
    [function] = all_functions(module_of(text))
    assert function.label.code == "call"
    assert function.location.line == 3


@pytest.mark.parametrize(
    ("body", "fills"),
    [
        ("self.built = True; self.dense.build(None)", False),
        ("if getattr(self, 'dense', None) is not None: self.dense.build(x)", False),
        ("if hasattr(self, 'dense'): x = self.dense.units", False),
        ("getattr(self, 'fill')(x)", True),
        ("self.add_weight(x)", True),
        ("self.units = x", True),
        ("self.units += 1", True),
        ("super().build(x)", True),
        ("fill(self)", True),
    ],
)
def test_which_methods_may_fill_their_object(body: str, fills: bool) -> None:
    text = f"class A:\n    def build(self, x):\n        '''é\nx'''\n        {body}\n"
    kept, bare = module_of(text), module_of(text)
    bare.file.let_go()
    assert [module.classes[0].functions["build"].fills_its_object for module in (kept, bare)] == [fills, fills]


def test_a_folder_without_a_project_is_checked_from_anywhere_as_from_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code" / "steps").mkdir(parents=True)
    (tmp_path / "code" / "tools").mkdir()
    (tmp_path / "code" / "tools" / "reading.py").write_text("def read(x):\n    return x.numpy()\n", encoding="utf-8")
    (tmp_path / "code" / "steps" / "train.py").write_text(
        "import tensorflow as tf\nfrom tools.reading import read\n\n\n"
        "@tf.function(jit_compile=True)\ndef step(x):\n    return read(x)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path / "code")
    inside = [(one.code, one.span) for one in check(["."], Settings()).findings]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert [(one.code, one.span) for one in check([tmp_path / "code"], Settings()).findings] == inside
    assert [code for code, _ in inside] == ["XLA106"]


def test_of_projects_side_by_side_each_has_the_modules_that_are_nearest(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name / "scripts").mkdir(parents=True)
        (tmp_path / name / "models.py").write_text(f"def {name}(x):\n    return x.numpy()\n", encoding="utf-8")
        (tmp_path / name / "scripts" / "train.py").write_text(
            f"import sys\nimport tensorflow as tf\n\nsys.path.append('{name}')\nfrom models import {name}\n\n\n"
            f"@tf.function(jit_compile=True)\ndef step(x):\n    return {name}(x)\n",
            encoding="utf-8",
        )
    found = [(one.code, Path(one.path)) for one in check([tmp_path], Settings()).findings]
    assert found == [("XLA106", tmp_path / name / "models.py") for name in ("first", "second")]


def test_tests_in_a_folder_of_the_name_of_the_package_import_the_package(tmp_path: Path) -> None:
    for folder in ("nets", "tests/nets"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "nets" / "layers.py").write_text("def first(x):\n    return x.numpy()\n", encoding="utf-8")
    (tmp_path / "tests" / "nets" / "layers.py").write_text("def first(x):\n    return x\n", encoding="utf-8")
    (tmp_path / "tests" / "nets" / "test_layers.py").write_text(
        "import tensorflow as tf\nfrom nets.layers import first\n\n\n"
        "@tf.function(jit_compile=True)\ndef step(x):\n    return first(x)\n",
        encoding="utf-8",
    )
    found = [Path(one.path) for one in check([tmp_path], Settings(include_host=True)).findings]
    assert found == [tmp_path / "nets" / "layers.py"]


@pytest.mark.parametrize("written", ["from nets.blocks.layers import first", "from nets.blocks import layers"])
@pytest.mark.parametrize(("inner", "found"), [((), True), (("nets",), False)], ids=["alone", "beside a package"])
def test_a_program_may_name_the_folder_of_its_repository(
    written: str, inner: tuple[str, ...], found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (".git", "blocks", *inner):
        (tmp_path / "nets" / folder).mkdir(parents=True)
    for folder in inner:
        (tmp_path / "nets" / folder / "__init__.py").touch()
    layers = tmp_path / "nets" / "blocks" / "layers.py"
    layers.write_text("def first(x):\n    return x.numpy()\n", encoding="utf-8")
    called = "first" if written.endswith("first") else "layers.first"
    (tmp_path / "nets" / "train.py").write_text(
        f"import tensorflow as tf\n{written}\n\n\n"
        f"@tf.function(jit_compile=True)\ndef step(x):\n    return {called}(x)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path / "nets")
    assert [(one.code, Path(one.path).name) for one in check(["."], Settings()).findings] == [
        ("XLA106", "layers.py")
    ] * found
