"""Programs that are Python still and mean something else: parts of their trees change places, are wrapped or grafted.

What is changed as text is mostly no Python any more, and never gets past the parser. These do.
"""

from __future__ import annotations

import ast
import copy
import random
import warnings
from collections.abc import Callable
from typing import Any, Final, TypeAlias

TreeChange: TypeAlias = Callable[[random.Random, ast.Module, ast.Module], None]
# Where an expression stands: what holds it, the name of the field, and the position in it.
Slot: TypeAlias = tuple[ast.AST, str, int | None]

_LARGEST: Final = 60_000  # characters: programs do not grow without end
_WRAPPED_EXPRESSIONS: Final = (
    *("lambda: E", "lambda x, *y, z=E: E", "E if E else E", "[E for E in E if E]", "{E: E for x in E}", "(w := E)"),
    *("not E", "-E", "E and E", "E or E", "E < E < E", "E in E", "E[E]", "E[E:E, ..., None]", "E.numpy()", "E.shape"),
    *("E(E)", "E(*E, **E)", "(E,)", "[E, *E]", "{E, E}", "{'k': E, **E}", "f'{E}'", "(await E)", "(yield E)", "E @ E"),
    *("bool(E)", "len(E)", "range(E)", "int(E)", "zip(E, E)", "enumerate(E)", "sum(E)", "map(lambda x: E, E)"),
    *("super().call(E)", "super().__init__(E)", "self.call(E)", "type(E)", "getattr(E, 'x')", "isinstance(E, E)"),
    *("tf.cond(E, lambda: E, lambda: E)", "tf.while_loop(lambda *x: E, lambda *x: E, [E])", "tf.zeros([E, E])"),
    *("tf.boolean_mask(E, E)", "tf.TensorArray(E, E)", "tf.where(E)", "tf.range(E)", "tf.shape(E)[E]"),
    *("tf.function(lambda x: E, jit_compile=True)(E)", "tf.function(E, jit_compile=E)", "tf.switch_case(E, [E, E])"),
    *("tf.scan(lambda a, x: E, E)", "tf.map_fn(lambda x: E, E)", "tf.GradientTape().gradient(E, E)"),
    *("tf.keras.layers.Lambda(lambda x: E)(E)", "tf.keras.Model(E, E).compile(loss=E, jit_compile=E)"),
    *("functools.partial(E, E)", "tf.data.Dataset.from_tensor_slices(E).map(lambda x: E)", "tf.gather(E, E)"),
)
_WRAPPED_STATEMENTS: Final = (
    *("if E: S", "if E: S\nelif E: S\nelse: S", "while E: S\nelse: S", "for w in E: S", "for w, *v in E: S\nelse: S"),
    *("with E as w: S", "async with E as w: S", "async for w in E: S", "try: S\nexcept E as w: S\nfinally: S"),
    *("try: S\nexcept* E: S", "def g(x, *y, z=E, **k) -> E: S\ng(E)", "async def g(): S", "class C(E, metaclass=E): S"),
    *(
        "@tf.function(jit_compile=True)\ndef g(x):\n    S\n    return E\ng(E)",
        "if True: S",
        "while True: S",
        "global w",
    ),
    *("match E:\n    case [a, *b] if E: S\n    case {'k': c, **d}: S\n    case C(x, y=1) | None: S\n    case _: S",),
    *("for w in tf.range(E): S", "while tf.reduce_sum(E) > 0: S", "with tf.GradientTape() as t: S", "assert E\nS"),
    *("return E\nS", "break\nS", "continue\nS", "raise E\nS", "del w\nS", "w: E = E\nS", "w += E\nS", "w[E] = E\nS"),
    *("w.v = E\nS", "w, (v, *u) = E\nS", "from . import w\nS", "S\nS\nS", "yield\nS", "return\nS", "w = v = w\nS"),
)
_DECORATORS: Final = (
    *("tf.function(jit_compile=True)", "tf.function", "property", "staticmethod", "classmethod", "E", "E(E)"),
    *("tf.function(autograph=False)", "tf.autograph.experimental.do_not_convert", "tf.custom_gradient", "dataclass"),
    *("functools.wraps(E)", "abc.abstractmethod", "overload", "contextlib.contextmanager"),
)
_CONSTANTS: Final = (0, 1, -1, 2**70, 1e400, True, None, ..., "", "x", b"x", "tf", 3j, 10**9)
_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow, ast.MatMult, ast.LShift, ast.FloorDiv)
_COMPARED: Final = (ast.Lt, ast.Eq, ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.GtE)


def _slots(tree: ast.AST) -> list[Slot]:
    """Where expressions stand that others can stand in place of."""
    found: list[Slot] = []
    for holder in ast.walk(tree):
        if isinstance(holder, ast.JoinedStr | ast.FormattedValue | ast.pattern):
            continue
        for name, value in ast.iter_fields(holder):
            if isinstance(value, ast.expr) and _is_read(value):
                found.append((holder, name, None))
            elif isinstance(value, list):
                parts = enumerate(value)
                found += [(holder, name, at) for at, one in parts if isinstance(one, ast.expr) and _is_read(one)]
    return found


def _is_read(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load | None) and not isinstance(node, ast.Slice | ast.Starred)


def _get(slot: Slot) -> Any:
    value = getattr(slot[0], slot[1])
    return value if slot[2] is None else value[slot[2]]


def _set(slot: Slot, node: ast.AST) -> None:
    if slot[2] is None:
        setattr(slot[0], slot[1], node)
    else:
        getattr(slot[0], slot[1])[slot[2]] = node


def _some_expression(source: random.Random, tree: ast.Module) -> ast.expr:
    slots = _slots(tree)
    found: ast.expr = copy.deepcopy(_get(source.choice(slots))) if slots else ast.Name("x", ast.Load())
    return found


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    """The lists of statements in a tree."""
    return [
        value
        for holder in ast.walk(tree)
        for _, value in ast.iter_fields(holder)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt)
    ]


class _Filled(ast.NodeTransformer):
    """A template in which each `E` is an expression, and each line `S` a statement."""

    def __init__(self, expression: Callable[[], ast.expr], statement: ast.stmt | None = None) -> None:
        self._expression, self._statement = expression, statement

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._expression() if node.id == "E" and isinstance(node.ctx, ast.Load) else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "S" and self._statement is not None:
            return copy.deepcopy(self._statement)
        return self.generic_visit(node)


def exchange_expressions(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for _ in range(source.choice((1, 3, 10))):
        if slots := _slots(tree):
            one, other = source.choice(slots), source.choice(slots)
            first, second = copy.deepcopy(_get(one)), copy.deepcopy(_get(other))
            _set(one, second)
            _set(other, first)


def graft_expressions(source: random.Random, tree: ast.Module, other: ast.Module) -> None:
    for _ in range(source.choice((1, 3, 10))):
        if slots := _slots(tree):
            _set(source.choice(slots), _some_expression(source, other))


def wrap_expressions(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for _ in range(source.choice((1, 4, 12))):
        if slots := _slots(tree):
            slot = source.choice(slots)
            inner = _get(slot)

            def filling(inner: ast.expr = inner) -> ast.expr:
                return copy.deepcopy(inner) if source.random() < 0.6 else _some_expression(source, tree)

            template = ast.parse(source.choice(_WRAPPED_EXPRESSIONS), mode="eval").body
            _set(slot, _Filled(filling).visit(template))


def nest_expressions(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    """One kind of expression around another, again and again."""
    if slots := _slots(tree):
        slot = source.choice(slots)
        template = source.choice(_WRAPPED_EXPRESSIONS)
        if template.count("E") <= 3:
            for _ in range(source.choice((3, 8, 20))):
                inner, small = _get(slot), ast.Name("x", ast.Load())
                fillings = iter((inner, *(small,) * 3))
                _set(slot, _Filled(lambda rest=fillings: next(rest)).visit(ast.parse(template, mode="eval").body))  # type: ignore[misc]


def wrap_statements(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for _ in range(source.choice((1, 2, 5))):
        block = source.choice(_blocks(tree))
        at = source.randrange(len(block))
        filled = _Filled(lambda: _some_expression(source, tree), block[at])
        block[at : at + 1] = filled.visit(ast.parse(source.choice(_WRAPPED_STATEMENTS))).body


def graft_statements(source: random.Random, tree: ast.Module, other: ast.Module) -> None:
    for _ in range(source.choice((1, 3))):
        block, given = source.choice(_blocks(tree)), source.choice(_blocks(other))
        block.insert(source.randrange(len(block) + 1), copy.deepcopy(source.choice(given)))


def drop_statements(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for _ in range(source.choice((1, 3, 8))):
        block = source.choice(_blocks(tree))
        block[source.randrange(len(block))] = ast.Pass()


def move_statements(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for _ in range(source.choice((1, 3, 8))):
        block, there = source.choice(_blocks(tree)), source.choice(_blocks(tree))
        moved = copy.deepcopy(source.choice(block))
        there[source.randrange(len(there))] = moved


def rename_things(source: random.Random, tree: ast.Module, other: ast.Module) -> None:
    """Names, attributes, arguments: all of one name, or one of them."""
    fields = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.FunctionDef: "name", ast.ClassDef: "name"}
    found = [(node, fields[type(node)]) for node in ast.walk(tree) if type(node) in fields]
    given = [getattr(node, fields[type(node)]) for node in ast.walk(other) if type(node) in fields]
    for _ in range(source.choice((1, 3, 10))):
        if found:
            node, field = source.choice(found)
            old = getattr(node, field)
            new = source.choice(given) if given and source.random() < 0.3 else getattr(*source.choice(found))
            everywhere = source.random() < 0.5
            for one, name in found if everywhere else [(node, field)]:
                if getattr(one, name) == old:
                    setattr(one, name, new)


def call_each_other(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    """Functions of the program are called in place of others, by which they come to call themselves."""
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in source.sample(calls, min(len(calls), source.choice((1, 5, 20)))) if names else ():
        name = source.choice(names)
        bound = source.random() < 0.4
        receiver: ast.expr = ast.Name("self", ast.Load())
        call.func = ast.Attribute(receiver, name, ast.Load()) if bound else ast.Name(name, ast.Load())


def inherit_each_other(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for one in classes:
        if source.random() < 0.7:
            one.bases = [ast.Name(source.choice(classes).name, ast.Load()) for _ in range(source.randint(0, 3))]


def decorate(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and source.random() < 0.3:
            template = ast.parse(source.choice(_DECORATORS), mode="eval").body
            node.decorator_list.append(_Filled(lambda: _some_expression(source, tree)).visit(template))


def change_arguments(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        if source.random() < 0.15:
            source.shuffle(call.args)
            if call.args and source.random() < 0.3:
                call.args[0] = ast.Starred(call.args[0], ast.Load())
            if call.args and source.random() < 0.3:
                call.keywords.append(ast.keyword(None, call.args.pop()))
            if call.keywords and source.random() < 0.3:
                call.args.append(call.keywords.pop().value)
            if source.random() < 0.3:
                call.args.append(_some_expression(source, tree))
            if call.args and source.random() < 0.3:
                call.args.pop(0)


def change_operators(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for node in ast.walk(tree):
        if source.random() < 0.3:
            if isinstance(node, ast.BinOp | ast.AugAssign):
                node.op = source.choice(_OPERATORS)()
            elif isinstance(node, ast.Compare):
                node.ops = [source.choice(_COMPARED)() for _ in node.ops]
            elif isinstance(node, ast.BoolOp):
                node.op = source.choice((ast.And, ast.Or))()


def change_constants(source: random.Random, tree: ast.Module, _giver: ast.Module) -> None:
    for slot in _slots(tree):
        if isinstance(_get(slot), ast.Constant) and source.random() < 0.3:
            _set(slot, ast.Constant(source.choice(_CONSTANTS)))


TREE_CHANGES: Final[tuple[TreeChange, ...]] = (
    *(exchange_expressions, graft_expressions, wrap_expressions, nest_expressions, wrap_statements, graft_statements),
    *(drop_statements, move_statements, rename_things, call_each_other, inherit_each_other, decorate),
    *(change_arguments, change_operators, change_constants),
)


def regrown(source: random.Random, text: str, other: str) -> tuple[str, list[str]]:
    """A program made of one that is Python, with parts of another; and what was done. Itself, where it is none."""
    done: list[str] = []
    with warnings.catch_warnings(action="ignore"):
        try:
            tree, giver = ast.parse(text), ast.parse(other)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text, done
        for change in source.choices(TREE_CHANGES, k=source.choice((1, 2, 4, 8))):
            if not tree.body or not giver.body:
                break
            try:
                change(source, tree, giver)
                written = ast.unparse(tree)
            except (ValueError, RecursionError):  # an f-string in an f-string, or nested too deeply
                break
            if len(written) > _LARGEST:
                break
            text = written
            done.append(change.__name__)
    return text, done
