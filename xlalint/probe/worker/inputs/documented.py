"""What a docstring says of parameters: the shapes and dtypes of tensors, the entries of dictionaries.

    boxes: A float `Tensor` of shape [batch, num_boxes, 4].
    batch: Dict, must contain "image": [batch_size, height, width, 3], ..
    :param mean: of shape (N, D)

Sizes that are named, not numbered, are small and equal: `num_boxes + 1` is one more.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from xlalint.sources.specs import Form, Keyed, Literal, Many, Spec, spec

from .numbers import SIZE

_SECTIONS: Final = ("Args", "Arguments", "Parameters", "Attributes", "Returns", "Raises", "Yields", "Example", "Note")
_NEAR: Final = 24  # letters between the word "shape" and the sizes
_MOST: Final = 64  # of a number among the sizes
_MOST_RANK: Final = 6
_ENTRY: Final = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*]\s+)?(?::(?:param|arg|parameter)\s+(?:[\w.]+\s+)?)?"
    r"[*`]{0,2}(?P<name>[A-Za-z_]\w*)[*`]{0,2}[ \t]*(?:\((?P<kind>[^()\n]*)\))?[ \t]*:(?P<text>[^\n]*)$",
    re.MULTILINE,
)
_BRACKETS: Final = re.compile(
    r"\[(?P<square>[^\[\]{}=:'\"]*)\]|(?P<word>shape\W{0,4}(?:is|of|=|:)?\W{0,3})\((?P<round>[^()=:'\"]*)\)"
)
_KEYED: Final = re.compile(r"[`'\"]+(?P<key>\w+)[`'\"]+\s*:[^\[\n]{0,60}(?P<shape>\[[^\[\]\n]*\])[^\n'\"]*")
_SIZE: Final = re.compile(r"[\w.+*/ \-]+")
_SCALAR: Final = re.compile(r"\bscalar\b|\b0-?D\b|\brank[- ]0\b", re.I)
_RANK: Final = re.compile(r"\b([1-6])-?D\b|\brank[- ]?([1-6])\b|\b([1-6])-dimensional\b", re.I)
_SEVERAL: Final = re.compile(r"^\W*(?:an?\s)?\W*(?:list|sequence)\w* of\b.{0,30}\b(?:tensor|array)s\b", re.I)
_NAMED: Final = re.compile(r"\(([^()]*)\)")  # what an axis has: [boxes, (top, left, bottom, right)]
_TENSOR: Final = re.compile(r"tensor|array", re.I)
# What is said to be a number of Python's, and nothing more.
_PLAIN: Final = re.compile(
    r"(?:an? )?`*(?P<type>int|bool|float)(?:eger|ean)?`*\.?(?:,? optional)?(?:,? defaults? .*)?", re.I
)
_NUMBERS: Final[dict[str, int]] = {"int": SIZE, "bool": False}
# The sizes of something: "int or tuple", "tuple of 2 ints", "(int, int)", "list[int]".
_SIZES: Final = re.compile(r"[\W\d]*(?:(?:an?|or|of|two|three|pair|int|integer|list|tuple|sequence)s?[\W\d]*)+", re.I)
_SEVERAL_NUMBERS: Final = re.compile(r"list|tuple|sequence|pair|,", re.I)
_OR_ONE: Final = re.compile(r"\bint(?:eger)?s?\s+or\b|\bor(?: an?)? int(?:eger)?\b", re.I)
_THREE: Final = re.compile(r"\b(?:3|three)\b|int\w*, int\w*, int", re.I)
_DTYPES: Final = (
    (re.compile(r"\b(?:tf\.)?(u?int(?:8|16|32|64)|float(?:16|32|64)|bfloat16|complex(?:64|128))\b"), ""),
    (re.compile(r"\bbool(?:ean)?s?\b", re.I), "bool"),
    (re.compile(r"\binteger|\bints?\b", re.I), "int32"),
    (re.compile(r"\bstrings?\b", re.I), "string"),
    (re.compile(r"\bcomplex\b", re.I), "complex64"),
)


def described(function: Callable[..., Any]) -> dict[str, Form]:
    """The inputs that the docstring of a function describes, by parameter."""
    text = inspect.getdoc(function) or ""
    if not function.__doc__ and text in _of_bases(function.__name__):
        return {}
    made = inspect.getdoc(vars(function)["__init__"]) if "__init__" in getattr(function, "__dict__", ()) else None
    return _described(text) | _described(made or "")


def _of_bases(name: str) -> set[str | None]:
    """What Keras says of its base classes and a method of theirs, and thus of no class in particular."""
    from .called_objects import own_keras  # with Keras itself, which docstrings can be read without

    keras = own_keras()
    bases = (keras.layers.Layer, keras.Model, keras.losses.Loss, keras.metrics.Metric, keras.optimizers.Optimizer)
    return {inspect.getdoc(one) for base in bases for one in (base, getattr(base, name, None))}


@lru_cache(maxsize=256)
def _described(text: str) -> dict[str, Form]:
    found: dict[str, Form] = {}
    entries = list(_entries(text))
    # `float` is said of tensors as well, but not where others are called tensors.
    tells_apart = any(_TENSOR.search(kind) for _, kind, _ in entries)
    for name, kind, said in entries:
        if name not in found and (form := _form(kind, said, tells_apart)) is not None:
            found[name] = form
    return found


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    """What is said of each name: the kind in parentheses, and the text with the lines that are indented further."""
    for entry in _ENTRY.finditer(text):
        if entry["name"] in _SECTIONS:
            continue
        lines = [entry["text"]]
        for line in text[entry.end() :].split("\n")[1:]:
            if line.strip() and len(line) - len(line.lstrip()) <= len(entry["indent"]):
                break
            lines.append(line)
        yield entry["name"], entry["kind"] or "", "\n".join(lines)


def _form(kind: str, said: str, tells_apart: bool) -> Form | None:
    entries = {key: form for key, form in _keyed(said) if form is not None}
    if entries:
        return Keyed(tuple(entries.items()))
    type_ = kind.strip() or said.partition("\n")[0].strip()
    if (sizes := _own_sizes(type_)) is not None:
        return sizes
    sentence = " ".join(f"{kind} {said}".split())
    first = sentence[:300]
    shape = _shape(first)
    if shape is None and _TENSOR.search(first):
        if _SCALAR.search(first):
            shape = ()
        elif rank := _RANK.search(first):
            shape = (SIZE,) * int(rank[1] or rank[2] or rank[3])
    if shape is None:
        plain = _PLAIN.fullmatch(type_)
        if plain is None or _TENSOR.search(first):
            return None
        if (number := plain["type"].lower()) == "float":
            return spec("float32") if tells_apart else None
        return Literal(_NUMBERS[number])
    one = spec(_dtype(first), *shape)
    return Many("list", (one, one)) if _SEVERAL.search(first) else one


def _own_sizes(type_: str) -> Literal | Many | None:
    """Sizes of something, which are given as several numbers of Python's, or as one that stands for all."""
    if not (_SIZES.fullmatch(type_) and "int" in type_.lower() and _SEVERAL_NUMBERS.search(type_)):
        return None
    if _OR_ONE.search(type_):
        return Literal(SIZE)
    kind = "list" if "list" in type_.lower() else "tuple"
    return Many(kind, (Literal(SIZE),) * (3 if _THREE.search(type_) else 2))


def _keyed(said: str) -> Iterator[tuple[str, Spec | None]]:
    for entry in _KEYED.finditer(said):
        shape = _shape(entry["shape"])
        yield entry["key"], None if shape is None else spec(_dtype(entry[0]), *shape)


def _dtype(text: str) -> str:
    for pattern, name in _DTYPES:
        if match := pattern.search(text):
            return name or match[1]
    return "float32"


def _shape(text: str) -> tuple[int, ...] | None:
    """The first shape in a text."""
    for found in _BRACKETS.finditer(text):
        inside = found["square"] if found["square"] is not None else found["round"]
        sizes = _sizes(inside)
        # Numbers alone may also be values, a range, or a reference to the literature.
        told = found["word"] or "shape" in text[: found.start()][-_NEAR:].lower()
        if sizes is not None and (told or re.search("[A-Za-z]", inside)):
            return sizes
    return None


def _sizes(text: str) -> tuple[int, ...] | None:
    """The sizes in the brackets of a shape; None where it is no shape."""
    sizes: list[int] = []
    text = _NAMED.sub(lambda several: str(several[1].count(",") + 1), text)
    for word in filter(None, (part.strip(" `") for part in text.split(","))):
        if word in ("...", ".."):
            continue
        if word.startswith("*"):
            sizes += (SIZE, SIZE)
            continue
        size = _number(word)
        if size is None:
            return None
        sizes.append(size)
    return tuple(sizes) if len(sizes) <= _MOST_RANK else None


_OPERATORS: Final[dict[type, Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Pow: operator.pow,
}


def _number(word: str) -> int | None:
    """A size: a number, a name, or what is computed of them."""
    if not _SIZE.fullmatch(word):
        return None
    try:
        size = _evaluated(ast.parse(word.replace("/", "//"), mode="eval").body)
    except SyntaxError:
        size = SIZE if re.fullmatch(r"[A-Za-z][\w ]*", word) else None  # a few words
    return max(size, 1) if size is not None and -_MOST <= size <= 4096 else None


def _evaluated(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(number)) if number is not True and number is not False:
            return number
        case ast.Name() | ast.Attribute() | ast.Constant(value=None):
            return SIZE
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return SIZE  # of any size
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one, other = _evaluated(left), _evaluated(right)
            if one is None or other is None or other <= 0 or (isinstance(op, ast.Pow) and other > SIZE):
                return None
            return _OPERATORS[type(op)](one, other)
        case _:
            return None
