"""TensorFlow's calls as calls of `keras.ops`: those of the code, and those that a rewrite would write."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ..analysis.interpreter.events import TensorflowCall
from ..facts.equal_names import ADDED, DIFFERS, EQUAL, EXACT, taken_over
from ..findings.findings import Safety
from ..sources.text import line_starts
from ..syntax import nodes as cst
from .names import Names, NoNameError
from .rewrite import NodeEdit, Rewrite
from .rewrite import replace as instead

_DTYPES: Final = frozenset(("bfloat16", "bool", "float16", "float32", "float64", "int32", "int64", "uint8"))
_ALIKE: Final = frozenset(("scan", "vectorized_map"))  # that a help names, and does not call with more than it says
_DIFFERS: Final = "where dtypes are mixed, or integers"
_IN_TITLE: Final = re.compile(r"`(tf\.[\w.]+)`")


def in_keras_ops(event: TensorflowCall, names: Names) -> Rewrite | None:
    """The call with the function of `keras.ops` that computes the same; None where there is no such, or an argument
    that it does not take."""
    arguments = event.node.args
    taken = taken_over(event.api, [None if one.keyword is None else one.keyword.value for one in arguments])
    if taken is None or any(one.star for one in arguments) or not ADDED.get(event.api, {}).keys() <= {*taken}:
        return None
    name, renamed = EQUAL[event.api]
    edits = list[NodeEdit]()
    for parameter, given in zip(taken, arguments, strict=True):
        if (attribute := _of_tensorflow(given.value, names)) is not None:
            if parameter != "dtype" or attribute not in _DTYPES:
                return None
            edits.append(instead(event.location.at(given.value), f'"{attribute}"'))
        if given.keyword is not None and parameter in renamed:
            edits.append(instead(event.location.at(given.keyword), renamed[parameter]))
    function = event.location.at(event.node.func)
    edits.insert(0, instead(function, f"{names.imported('keras', 'ops')}.{name}"))
    differs = DIFFERS.get(event.api, _DIFFERS)
    return Rewrite(f"Call `keras.ops.{name}`", tuple(edits), Safety.UNSAFE, differs)


def _of_tensorflow(node: cst.BaseExpression, names: Names) -> str | None:
    """What an argument names of TensorFlow itself, such as a dtype, if it does."""
    match node:
        case cst.Attribute(value=cst.Name(value=module), attr=cst.Name(value=attribute)) if module == names.bound_tf:
            return attribute
        case _:
            return None


def without_tensorflow(rewrite: Rewrite, names: Names, by_keras: bool) -> Rewrite | None:
    """The rewrite as it is for the file: what is written for Keras alone gets no import of TensorFlow, but the equal
    functions of `keras.ops`; None where one has no equal. `by_keras`: Keras runs the place. Raises `NoNameError`."""
    if not (names.needs_tensorflow and names.is_of_keras_alone(by_keras)):
        return rewrite
    tf = names.tf
    names.needed = None
    written = [_Written(edit.text, tf) for edit in rewrite.edits]
    if any(one.has_no_equal for one in written):
        return None
    called = {api for one in written for api in one.called}
    if called:
        ops = names.imported("keras", "ops")
        edits = (replace(edit, text=one.with_names_of(ops)) for edit, one in zip(rewrite.edits, written, strict=True))
        rewrite = replace(rewrite, title=_IN_TITLE.sub(_in_title, rewrite.title), edits=tuple(edits))
    if rewrite.safety is Safety.SAFE and not called <= EXACT:
        differs = dict.fromkeys(DIFFERS.get(api, _DIFFERS) for api in sorted(called - EXACT))
        return replace(rewrite, safety=Safety.UNSAFE, differs=", and ".join(differs))
    return rewrite


def help_without_tensorflow(help: str, names: Names, by_keras: bool) -> str:
    """What a help advises; in `keras.ops` where the file is for Keras alone, and nothing where a name has no equal."""
    if not names.is_of_keras_alone(by_keras):
        return help
    try:
        written = _Written(help, names.tf)
    except NoNameError:
        return help
    if written.has_no_equal and written.is_code:
        return ""
    try:
        ops = names.imported("keras", "ops")
    except NoNameError:
        ops = "keras.ops"
    return written.with_names_of(ops) if written.is_code else _in_words(help, names.tf, ops)


def _in_words(help: str, tf: str, ops: str) -> str:
    """Advice in words, or in code with words in it, with what `keras.ops` calls the functions that it names."""
    unknown = False

    def instead_of(found: re.Match[str]) -> str:
        nonlocal unknown
        name = found[1]
        if name in _DTYPES:
            return f'"{name}"'
        equal = EQUAL.get(f"tf.{name}", (name if name in _ALIKE else None, {}))[0]
        unknown = unknown or equal is None
        return f"{ops}.{equal}"

    text = re.sub(rf"\b{re.escape(tf)}\.(\w+(?:\.\w+)*)", instead_of, help)
    return "" if unknown else text


def _in_title(found: re.Match[str]) -> str:
    return f"`keras.ops.{EQUAL[found[1]][0]}`" if found[1] in EQUAL else found[0]


@dataclass(frozen=True, slots=True)
class _Part:
    """Text instead of bytes of a text; `{ops}` in it is the name of `keras.ops`."""

    start: int
    end: int
    text: str


@dataclass
class _Written:
    """A text that a rewrite puts in, with what it has of TensorFlow."""

    text: str
    tf: str
    called: set[str] = field(default_factory=set)
    has_no_equal: bool = False
    is_code: bool = True
    _parts: list[_Part] = field(default_factory=list)

    def __post_init__(self) -> None:
        if re.search(rf"\b{self.tf}\.", self.text) is None:
            return
        self._bytes = self.text.encode()
        self._starts = line_starts(self._bytes.decode("latin-1"))
        try:
            tree = ast.parse(self.text)
        except SyntaxError:  # a piece of an expression, or prose
            self.has_no_equal, self.is_code = True, False
            return
        spelled = set[ast.AST]()  # the names of TensorFlow that have become others
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (function := self._path(node.func)) is not None:
                spelled |= {*self._call(node, function)}
            elif isinstance(node, ast.Attribute) and self._path(node) == "tf.newaxis":
                self._instead(node, "None")
                spelled.add(node.value)
        names = {node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == self.tf}
        self.has_no_equal = not names <= spelled

    def with_names_of(self, ops: str) -> str:
        """The text with the functions of `keras.ops`, which is called `ops` there."""
        if not self._parts:
            return self.text
        text = self._bytes
        for part in sorted(self._parts, key=lambda part: part.start, reverse=True):
            text = text[: part.start] + part.text.replace("{ops}", ops).encode() + text[part.end :]
        return text.decode()

    def _call(self, node: ast.Call, api: str) -> Iterator[ast.AST]:
        """Spell a call anew; the names of TensorFlow that it had."""
        arguments = [*((None, one) for one in node.args), *((one.arg, one.value) for one in node.keywords)]
        taken = taken_over(api, [keyword for keyword, _ in arguments])
        stars = [one for one in node.args if isinstance(one, ast.Starred)]
        if taken is None or stars or any(one.arg is None for one in node.keywords):
            return
        name, renamed = EQUAL[api]
        self.called.add(api)
        self._instead(node.func, f"{{ops}}.{name}")
        yield _root(node.func)
        for parameter, (_, value) in zip(taken, arguments, strict=True):
            dtype = (self._path(value) or "").removeprefix("tf.")
            if parameter == "dtype" and dtype in _DTYPES:
                self._instead(value, f'"{dtype}"')
                yield _root(value)
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg in renamed:
                start, _ = self._span(keyword)
                self._parts.append(_Part(start, start + len(keyword.arg.encode()), renamed[keyword.arg]))
        end = self._span(node)[1] - 1
        for parameter, wanted in ADDED.get(api, {}).items():
            if parameter not in taken:
                self._parts.append(_Part(end, end, f", {parameter}={wanted}"))

    def _path(self, node: ast.expr) -> str | None:
        """What is named of TensorFlow ("tf.math.log")."""
        root = _root(node)
        if root is node or not isinstance(root, ast.Name) or root.id != self.tf:
            return None
        return f"tf.{ast.unparse(node).partition('.')[2]}"

    def _instead(self, node: ast.expr, text: str) -> None:
        self._parts.append(_Part(*self._span(node), text))

    def _span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """From which byte to which a node goes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset


def _root(node: ast.expr) -> ast.expr:
    """The first name of a path."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
