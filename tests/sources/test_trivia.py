"""Which texts have the same code, and where its lines stand in the other one."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.sources.trivia import shift

TEXT = '''"""What it is."""
import os  # for its paths


@first
@second(
    1,  # one
)
class Made(Base):
    """It is made."""

    n = """
# no comment
"""

    def method(self, x):
        if (x
            # of course
            and self):
            return [
                1,

                2,
            ]  # both
        else:
            # never
            pass
        for _ in x: continue; break
        match x:
            # one of
            case 1:
                pass
        try:
            pass
        # what then
        except E:
            pass
        return f"""
{x} # text
"""


def other(): "It says so."
'''


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "x = 2\n"),
        ("x = 1\n", "x  = 1\n"),
        ("x = '''\n# a\n'''\n", "x = '''\n# b\n'''\n"),
        ("x = [\n1]\n", "x = [\n# a\n1]\n"),
        ("def f():\n    pass\n", "def f():\n    'a'\n    pass\n"),
        ("x = 1\n", "x = 1\n'a'\n"),
        ("x = 1\n'a'\n", "x = 1\n'b'\n"),
        ("def f(): 'a'\n", "def f(): 'b'\n"),
        ("'a'; x = 1\n", "'b'; x = 1\n"),
        ("if x:\n    y()\n    z()\n", "if x:\n    y()\nz()\n"),
        ("x = 1\n", "x = 1 \\\n\n"),
        ("x = 1\n", "x =\n"),
        ("x = 1\n# a\n", "x = 1\ny = 2  # a\n"),
        ("'''a'''\nx = 1\n", "'''a'''\nx = 1\n# b\nx = 1\n"),
        ("x = 1\n", "\fx = 1\n"),
        ("x = 1\ny = 2\n", "x = 1\n# a\nz = 1\ny = 2\n"),
        ("def f(a='''\n# a\n''', b=1): x\n", "def f(a='''\n# b\n''', b=1): x\n"),
        ("@a('''\n# a\n''')\n@b\ndef f(): x\n", "@a('''\n\n''')\n@b\ndef f(): x\n"),
    ],
)
def test_another_code(before: str, after: str) -> None:
    assert shift(before, after) is None
    assert shift(after, before) is None


@pytest.mark.parametrize(
    ("before", "after", "lines", "altered"),
    [
        ("x = 1\ny = 2\n", "# a\n\nx = 1\n# b\ny = 2\n", {1: 3, 2: 5}, set()),
        ("x = 1  # a\ny = '#'\n", "x = 1\ny = '#'  # b\n", {1: 1, 2: 2}, {1, 2}),
        ("'a'\nx = 1\n", "'''b\n\nc'''\nx = 1\n", {1: 3, 2: 4}, {1}),
        ("def f():\n    'a'  # b\n", "def f():\n    'c'\n", {1: 1, 2: 2}, {2}),
        ("x = 1", "x = 1\n", {1: 1}, {1}),
        (
            "def f():\n    '''a\n    b = 1\n    '''\n    x = 1\n",
            "def f():\n    '''a\n    b = 2\n    c = 3\n    '''\n    x = 1\n",
            {1: 1, 2: 2, 4: 5, 5: 6},
            {2, 4},
        ),
        ("x = ['é',  # a\n  2]  # b\n", "x = ['é',  # a\n  2]  # c\n", {1: 1, 2: 2}, {2}),
        ("@a\n@b(\n1\n)\nclass C: x\n", "@a\n# a\n@b(\n1\n)\n# b\nclass C: x\n", {1: 1, 2: 3, 3: 4, 4: 5, 5: 7}, set()),
        ("def f(\n    a,\n): x\n", "def f(\n    # a\n    a,\n\n): x\n", {1: 1, 2: 3, 3: 5}, set()),
    ],
)
def test_the_same_code(before: str, after: str, lines: dict[int, int], altered: set[int]) -> None:
    found = shift(before, after)
    assert found is not None
    assert (found.lines, set(found.altered)) == (lines, altered)


LINES = TEXT.splitlines(keepends=True)


@given(st.dictionaries(st.integers(0, len(LINES)), st.sampled_from(["\n", "# a\n", "    # b\n", "  \n"])))
def test_lines_of_comments_between_lines_of_code(added: dict[int, str]) -> None:
    after = "".join(f"{added.get(at, '')}{line}" for at, line in enumerate((*LINES, "")))
    found = shift(TEXT, after)
    if found is None:  # among the lines of a text, or of a statement
        assert added
        return
    now = after.splitlines(keepends=True)
    assert all(LINES[old - 1] == now[new - 1] for old, new in found.lines.items())
    assert ast.dump(ast.parse(TEXT)) == ast.dump(ast.parse(after))
    assert {node.lineno: node.lineno for node in ast.walk(ast.parse(TEXT)) if isinstance(node, ast.stmt)}.keys() <= (
        found.lines.keys()
    )


@pytest.mark.parametrize(
    "line", ["    1,  # one\n", "# no comment\n", "        if (x\n", "                1,\n", "{x} # text\n"]
)
def test_a_line_inside_of_a_statement_is_part_of_it(line: str) -> None:
    assert shift(TEXT, TEXT.replace(line, f"{line}# a\n")) is None


@pytest.mark.parametrize("line", ['    n = """\n', "        else:\n", "        # what then\n", "        try:\n"])
def test_a_line_between_statements_is_a_comment(line: str) -> None:
    assert shift(TEXT, TEXT.replace(line, f"# a\n{line}")) is not None
