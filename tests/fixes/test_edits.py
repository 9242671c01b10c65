"""Edits of nodes become edits of the text: at the right place, in the right form, and nothing else changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xlalint.analysis.files.file import File
from xlalint.analysis.files.unit import Location
from xlalint.fixes.apply import apply_fixes
from xlalint.fixes.edits import fix_of
from xlalint.fixes.imports import import_edit
from xlalint.fixes.names import Names, NoNameError
from xlalint.fixes.rewrite import NodeEdit, Rewrite, after, before, remove, replace
from xlalint.linter.rule import Safety
from xlalint.sources.outline import Stretch
from xlalint.sources.text import Source, line_starts, split_lines
from xlalint.syntax import nodes as cst

A = Path("a.py")


def place_of(text: str, wanted: str, kind: type = cst.CSTNode, *, from_line: int = 1) -> Location:
    """The first node of a kind that stands for the text `wanted`, in the tree of the lines from one on."""
    source = Source(Path("/a.py"), "a.py", text, "")
    unit = File(source).unit(Stretch(from_line, len(split_lines(text))))

    def nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        yield node
        for child in node.children:
            yield from nodes(child)

    starts = line_starts(text)
    for node in nodes(unit.tree):
        if isinstance(node, kind):
            line, column, end_line, end_column = unit.span(node)
            if text[starts[line - 1] + column - 1 : starts[end_line - 1] + end_column - 1] == wanted:
                return Location(unit, node)
    raise LookupError(wanted)


def rewritten(text: str, wanted: str, edit: Callable[[Location], NodeEdit], kind: type = cst.CSTNode) -> str:
    """The text after one edit; itself where the edit found no room."""
    location = place_of(text, wanted, kind)
    fix = fix_of(Rewrite("title", (edit(location),)), Names(location), location)
    return text if fix is None else apply_fixes(text.encode(), [fix], A)[0].decode()


@pytest.mark.parametrize(
    ("text", "wanted", "new", "expected"),
    [
        ("y = a + b\n", "a + b", "c", "y = c\n"),
        ("y = (a + b) * 2\n", "a + b", "c - d", "y = (c - d) * 2\n"),
        ("y = a.b * 2\n", "a.b", "c - d", "y = (c - d) * 2\n"),
        ("y = a.b * 2\n", "a.b", "c(d)", "y = c(d) * 2\n"),
        ("y = f(a.b)\n", "a.b", "c - d", "y = f(c - d)\n"),
        ("y = f(a.b)\n", "a.b", "c, d", "y = f((c, d))\n"),
        ("y = a.b\n", "a.b", "c +\nd", "y = (c +\nd)\n"),
        ("y = a.b\n", "a.b", "c(\nd)", "y = c(\nd)\n"),
        ("return-a.b\n", "-a.b", "f(a)", "return f(a)\n"),
        ("y = 1 if(not a)else 2\n", "not a", "f(a)", "y = 1 if(f(a))else 2\n"),
        ("y = [not a for a in b]\r\n", "not a", "f(\na)", "y = [f(\r\na) for a in b]\r\n"),
        ("if x:\n\ty = (a +  # why\n\t\tb)\n", "a +  # why\n\t\tb", "c", "if x:\n\t# why\n\ty = (c)\n"),
        ("y = f'{a.b}'\n", "a.b", "c", "y = f'{c}'\n"),
        ("y = f'{a.b}'\n", "a.b", "c['d']", "y = f'{a.b}'\n"),
    ],
)
def test_an_expression_is_replaced(text: str, wanted: str, new: str, expected: str) -> None:
    assert rewritten(text, wanted, lambda location: replace(location, new), cst.BaseExpression) == expected


@pytest.mark.parametrize(
    ("text", "wanted", "new", "expected"),
    [
        ("x = 1\n", "x = 1", "y = 2\nz = 3", "y = 2\nz = 3\n"),
        ("if a:\n  x = 1  # one\n", "x = 1", "y = 2\nz = 3", "if a:\n  y = 2\n  z = 3  # one\n"),
        ("if a:\r\n\tx = 1\r\n", "x = 1", "if b:\n\ty = 2", "if a:\r\n\tif b:\r\n\t\ty = 2\r\n"),
        ("if a:\n  x = 1\n", "x = 1", 'y = """\nb"""\nz = 3', 'if a:\n  y = """\nb"""\n  z = 3\n'),
        ("if a: x = 1\n", "x = 1", "y = 2", "if a: y = 2\n"),
        ("if a: x = 1\n", "x = 1", "y = 2\nz = 3", "if a: x = 1\n"),
        ("if a: x = 1\n", "x = 1", "if b: y = 2", "if a: x = 1\n"),
        ("x = 1; y = 2\n", "x = 1", "z = 2", "z = 2; y = 2\n"),
        ("x = 1; y = 2\n", "x = 1", "", "x = 1; y = 2\n"),
        ("a\nif b:  # why\n  # how\n  x = 1  # one\n", "x = 1", "y = 2", "a\nif b:  # why\n  # how\n  y = 2  # one\n"),
    ],
)
def test_a_statement_is_replaced(text: str, wanted: str, new: str, expected: str) -> None:
    assert rewritten(text, wanted, lambda location: replace(location, new), cst.BaseSmallStatement) == expected


def test_comments_inside_a_replaced_statement_stand_above_the_new_one() -> None:
    text = "if a:\n    if b:  # why\n        # how\n        x = 1  # one\n    z = 3\n"
    source = "if b:  # why\n        # how\n        x = 1"
    new = "x = where(b, 1, x)"
    expected = "if a:\n    # why\n    # how\n    x = where(b, 1, x)  # one\n    z = 3\n"
    assert rewritten(text, source, lambda location: replace(location, new), cst.If) == expected


def test_an_elif_is_left_alone() -> None:
    text = "if a:\n    x = 1\nelif b:\n    x = 2\n"
    assert rewritten(text, "elif b:\n    x = 2", lambda location: replace(location, "x = 3"), cst.If) == text


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("if a:\n\tx = 1  # one\n", lambda location: before(location, "y\nz"), "if a:\n\ty\n\tz\n\tx = 1  # one\n"),
        ("if a:\n\tx = 1  # one\n", lambda location: after(location, "y\nz"), "if a:\n\tx = 1  # one\n\ty\n\tz\n"),
        ("if a:\n\tx = 1", lambda location: after(location, "y"), "if a:\n\tx = 1\n\ty"),
        ("if a:\n\tx = 1  # one\n", remove, "if a:\n\tpass  # one\n"),
        ("if a:\n\tx = 1\n\ty\n", remove, "if a:\n\ty\n"),
        ("x = 1", remove, ""),
    ],
)
def test_statements_are_put_around_a_statement_or_taken_away(
    text: str, edit: Callable[[Location], NodeEdit], expected: str
) -> None:
    assert rewritten(text, "x = 1", edit, cst.Assign) == expected


def test_text_is_put_around_an_expression() -> None:
    text = "y = a  +  b\n"
    location = place_of(text, "a  +  b", cst.BinaryOperation)
    fix = fix_of(Rewrite("title", (before(location, "f("), after(location, ")"))), Names(location), location)
    assert fix is not None
    assert apply_fixes(text.encode(), [fix], A)[0] == b"y = f(a  +  b)\n"


def test_a_method_is_edited_where_it_stands() -> None:
    text = "class A:\n\n    def f(self):\n        return self.x\n"
    location = place_of(text, "self.x", cst.Attribute, from_line=3)
    fix = fix_of(Rewrite("title", (replace(location, "1"),)), Names(location), location)
    assert fix is not None
    assert apply_fixes(text.encode(), [fix], A)[0].decode() == text.replace("self.x", "1")


def test_a_line_with_a_page_break_is_left_alone() -> None:
    text = "if a:\n\f  x = 1\n"
    # The analyser's columns leave the page break out, so what it takes for the statement begins a column early.
    assert rewritten(text, " x = ", remove, cst.Assign) == text


@pytest.mark.parametrize("new", ["c +", "c = 1", "c  # why", ""])
def test_what_is_no_expression_is_an_error(new: str) -> None:
    location = place_of("y = a\n", "a", cst.Name)
    with pytest.raises(ValueError, match="not Python"):
        fix_of(Rewrite("title", (replace(location, new),)), Names(location), location)


def test_edits_that_overlap_are_an_error() -> None:
    location = place_of("y = f(a)\n", "f(a)", cst.Call)
    inner = location.at(location.node.children[1].children[0])
    with pytest.raises(ValueError, match="overlap"):
        fix_of(Rewrite("title", (replace(location, "b"), replace(inner, "c"))), Names(location), location)


def test_an_unsafe_rewrite_says_where_it_differs() -> None:
    with pytest.raises(ValueError, match="differs"):
        Rewrite("title", (), Safety.UNSAFE)


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "name", "fixed_head"),
    [
        ("import tensorflow as tf\n", "tf", "import tensorflow as tf\n"),
        ("import tensorflow as t\n", "t", "import tensorflow as t\n"),
        ("import tensorflow.compat.v2 as t\n", "t", "import tensorflow.compat.v2 as t\n"),
        ("import tensorflow.keras\n", "tensorflow", "import tensorflow.keras\n"),
        ("from tensorflow.compat import v2 as t\n", "t", "from tensorflow.compat import v2 as t\n"),
        ("import tensorflow.compat.v1 as tf\n", "tensorflow", "import tensorflow.compat.v1 as tf\nimport tensorflow\n"),
        ("import keras\n", "tf", "import keras\nimport tensorflow as tf\n"),
        ('"""Doc."""\r\nimport keras\r\n', "tf", '"""Doc."""\r\nimport keras\r\nimport tensorflow as tf\r\n'),
        ("from keras import (\n  layers,\n)\n", "tf", "from keras import (\n  layers,\n)\nimport tensorflow as tf\n"),
        ("#!/bin/python\n# Licence\n", "tf", "#!/bin/python\n# Licence\nimport tensorflow as tf\n\n"),
        ('"""Doc."""\n', "tf", '"""Doc."""\nimport tensorflow as tf\n'),
        (
            '"""Doc."""\nfrom __future__ import annotations\n',
            "tf",
            '"""Doc."""\nfrom __future__ import annotations\nimport tensorflow as tf\n',
        ),
        ("try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\n", "tf", None),
        ("def g():\n    import tensorflow as tf\nimport keras\n", "tf", None),
        (
            "import os\nos.environ['A'] = '1'\nimport keras\nb = 1\n",
            "tf",
            "import os\nos.environ['A'] = '1'\nimport keras\nimport tensorflow as tf\nb = 1\n",
        ),
    ],
)
def test_tensorflow_is_named_as_the_file_names_it(head: str, name: str, fixed_head: str | None) -> None:
    body = "@decorated\ndef f(x):\n    return not x\n"
    text = head + body.replace("\n", "\r\n" if "\r\n" in head else "\n")
    location = place_of(text, "not x", cst.UnaryOperation)
    names = Names(location)
    assert names.tf == name
    fix = fix_of(Rewrite("title", (replace(location, f"{names.tf}.logical_not(x)"),)), names, location)
    assert fix is not None
    fixed = apply_fixes(text.encode(), [fix], A)[0].decode()
    if fixed_head is not None:
        assert fixed == text.replace("not x", f"{name}.logical_not(x)").replace(head, fixed_head, 1)
    else:
        assert (fix.imports == ()) == ("try" in head)


def test_names_of_the_function_come_first() -> None:
    text = "import tensorflow as tf\ndef f(tf):\n    import tensorflow as inner\n    def g():\n        return not tf\n"
    assert Names(place_of(text, "not tf", cst.UnaryOperation)).tf == "inner"
    hidden = place_of("import tensorflow as tf\ndef f(tf):\n    return not tf\n", "not tf", cst.UnaryOperation)
    names = Names(hidden)
    assert (names.tf, names.needed) == ("tensorflow", "import tensorflow")
    taken = place_of("def f(tf, tensorflow):\n    return not tf\n", "not tf", cst.UnaryOperation)
    with pytest.raises(NoNameError):
        _ = Names(taken).tf


@pytest.mark.parametrize(
    ("head", "name", "needed"),
    [
        ("", "Collator", "from library import Collator"),
        ("from library import Collator\n", "Collator", None),
        ("from library import Collator as C\n", "C", None),
        ("import library as l\n", "l.Collator", None),
        ("from other import Collator as C\nimport library.part\n", "Collator", "from library import Collator"),
        ("from other import Collator\n", None, None),
        ("def Collator(): pass\n", None, None),
    ],
)
def test_what_is_imported_has_the_name_that_the_file_gives_it(head: str, name: str | None, needed: str | None) -> None:
    names = Names(place_of(f"{head}def f(x):\n    return not x\n", "not x", cst.UnaryOperation))
    if name is None:
        with pytest.raises(NoNameError):
            names.imported("library", "Collator")
    else:
        assert (names.imported("library", "Collator"), names.needed) == (name, needed)


def test_what_stands_there_already_is_no_fix() -> None:
    assert rewritten("y = f(a.b)\n", "a.b", lambda location: replace(location, "a.b")) == "y = f(a.b)\n"
    location = place_of("y = f(a.b)\n", "a.b", cst.Attribute)
    assert fix_of(Rewrite("title", (replace(location, "a.b"),)), Names(location), location) is None


def test_a_fragment_needs_no_import() -> None:
    names = Names(place_of("y = not tf.zeros([])\n", "not tf.zeros([])", cst.UnaryOperation))
    assert (names.tf, names.needed) == ("tf", None)


def test_new_names_are_new() -> None:
    text = "indicator_2 = 1\ndef f(indicator):\n    return not indicator + indicator_2\n"
    names = Names(place_of(text, "not indicator + indicator_2", cst.UnaryOperation))
    assert [names.fresh("indicator"), names.fresh("indicator"), names.fresh("mask")] == [
        "indicator_3",
        "indicator_4",
        "mask",
    ]


def test_blocks_are_indented_as_around_the_place() -> None:
    assert Names(place_of("def f(x):\n  return not x\n", "not x", cst.UnaryOperation)).indent == "  "
    text = "class A:\n\tdef f(x):\n\t\treturn not x\n"
    assert Names(place_of(text, "not x", cst.UnaryOperation, from_line=2)).indent == "\t"


def test_a_file_is_parsed_once_for_the_imports_that_its_fixes_need(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = ast.parse

    def noting(text: str) -> ast.Module:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr("xlalint.fixes.imports.ast.parse", noting)
    text = '"""Text."""\nimport os\n\n\n@first\ndef once() -> None:\n    second()\n'
    edits = [import_edit(text, "import tensorflow as tf", line) for line in (5, 6, 7, 7)]
    assert {(edit.span.line, edit.text) for edit in edits} == {(2, "\nimport tensorflow as tf")}
    assert parsed == [text]
