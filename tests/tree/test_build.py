"""Trees of every kind of syntax, against libcst's."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Final

import pytest

import xlalint
from tests.tree.against import compare
from xlalint.fixes import branches
from xlalint.semantics import expressions, joins, statements
from xlalint.tree import nodes
from xlalint.tree.build import parse_expression, parse_module

CODE: Final = r'''
import a.b as c, d
from . import e
from ..f import (g as h, i,)
from j import *
x = 1; y = 2 ;z=3; \
  w = 4
(x / y).z  # (
(z + w)(x) \
  (y)
if (a): b; c
elif(b) : pass
else:
    if c: d  # why (
while (  # (
    a
): break
if a:  # \
    b
else: \
    c
if "#": \
    d
for x, (y, *z) in (b), c: continue
else: pass
with (open(a)) as f, b(c) as (d, e): pass
async def f(a, /, b: int = (1), *c: "t", d=2, e, **g) -> (str):
    await (a)
    async with b as c: ...
    async for d in e: yield
    return (yield x), (yield from (y))
@ (decorated)
@other(1)
class A(B, *C, metaclass=(D), **E): x: int; y: "z" = 3
def k(*, a): global x, y; nonlocal_ = [(lambda: 0), (lambda x, *y, z=1, **w: (x, y))]
try: a
except (A, B) as c: raise C from (d)
except   D: pass
finally: del a, (b), c[0]
a = b = (c, d) = (e), f
a, = (b),
(a) = (((b)))
a[(1, 2)], a[(1), (2)], a[1:2, ...], a[::3, None:], a[(i):(j)], a[x, *y], a[(1, 2),]
f(a, *b, c=(d), **e)(x for x in (y))(*(z), (i for i in j), k)(  # )
    a)
f((x for x in y)), [i for i in j if (a) if b for k in l], {i: j for i, j in k}, {*a, b}, {**a, "b": c}
not a and (b or c) or d or (e), a if (b) else c, (d if e else f) if g else h
0 < (x) <= y != z is not None not in w, -(+a) ** ~b @ c // d % e << f >> g & h | i ^ j
a += 1; b //= (2); c @= d
assert (a), "b"
0x1F, 1_000, .5e-3, 2j, "a" "b", b'c', r"\d", f"{a!r:>{b}} {{c}}", (f"{a}({b}{(c, d)}{e}"), f"d" "e", """f
 (g""", None, True, ...
[
    (a + b)  # c (
    / 2,
    # d)
    (c),
]
é = "ü" + (ß), ö.é(x) ; print (x)
if (y := f(x)) > (1): lambda: (yield)
def g():
	if x:
		return (a +
			b)
	# after
match (x):
    case [a, *b] | {"k": c, **d} if (e): pass
    case A.B | C(f, g=1) as h: pass
    case _: i
'''


def test_every_kind_of_syntax() -> None:
    assert compare(CODE) > 300


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_other_line_ends(newline: str) -> None:
    assert compare("x = (a,\n  b)\nif x:\n    y = '''\n''' + (z)\n".replace("\n", newline)) > 5


@pytest.mark.parametrize("module", [xlalint, branches, expressions, joins, statements])
def test_real_code(module: object) -> None:
    assert compare(Path(inspect.getfile(module)).read_text("utf-8")) > 0  # type: ignore[arg-type]


def test_an_expression_alone() -> None:
    node = parse_expression("(a +\n  b)  # c")
    assert isinstance(node, nodes.BinaryOperation)
    assert node.source.bare_code(node) == "a +\n  b"
    assert node.source.is_parenthesised(node)
    assert not node.source.is_parenthesised(parse_expression("a + b"))
    assert parse_expression("f(x)").deep_equals(parse_expression("f(x)"))
    assert not parse_expression("f(x)").deep_equals(parse_expression("f( x)"))


@pytest.mark.parametrize("text", ["x +", "x = 1", "", "(", "\0"])
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        parse_expression(text)


def test_lines_that_go_on_move_with_their_statement() -> None:
    tree = parse_module("if a:\n    x = f(b,\n          c, '''\n    d''')\n")
    [block] = tree.children
    statement = block.children[1].children[0]
    assert tree.source.code(statement) == "x = f(b,\n      c, '''\n    d''')"
