"""Invents arguments for a callable: texts of whole calls, in the order in which they are worth trying."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from xlalint.measuring.expressions import dotted, resolve
from xlalint.measuring.samples import VALUE_SETS
from xlalint.measuring.vocabulary import ARGUMENTS, HINTS, IDLE, OPTIONS, TENSORS

MOST_PER_TENSOR: Final = 24  # combinations of the other arguments
MOST_WORDS: Final = 10

# Objects on which methods are called.
RECEIVERS: Final = {
    "tf.Variable": "tf.Variable(tf.ones([4]))",
    "tf.Tensor": "f32[4]",
    "tf.RaggedTensor": "tf.RaggedTensor.from_row_lengths(f32[4], [1, 3])",
    "tf.SparseTensor": "tf.SparseTensor([[0, 1], [2, 0]], f32[2], [3, 4])",
    "tf.TensorArray": "tf.TensorArray(tf.float32, 3, element_shape=[2]).unstack(f32[3, 2])",
    "tf.random.Generator": "tf.random.Generator.from_seed(1)",
    "tf.TensorShape": "tf.TensorShape([2, 3])",
}
# How long its rows are, as a tensor: what a ragged tensor that comes from outside is like.
RAGGED_OUTSIDE: Final = "tf.RaggedTensor.from_row_lengths(f32[4], pick[(1, 3), (2, 2), (4, 0)])"
# What is built, and then called with tensors.
CALLED: Final = re.compile(
    r"keras\.(layers|losses|metrics|initializers|regularizers|constraints|optimizers|optimizers\.schedules)\.[A-Z]"
)
PAIRS: Final = (
    "dist[2, 3], dist[2, 3]", "index[2], dist[2, 3]", "bool[4], unit[4]", "f32[2, 4], f32[2, 4]", "f32[4]",
    "index[2, 1], dist[2, 3]", "unit[2, 8, 8, 3], unit[2, 8, 8, 3]", "index[4], index[4]", "index[2, 2], f32[2, 5, 6]",
)  # fmt: skip
CALLED_WITH: Final = {
    "initializers": ("([3, 3])", "([3, 3, 3, 4])"),
    "losses": tuple(f"({pair})" for pair in PAIRS),
    "metrics": tuple(f"({pair})" for pair in PAIRS),
    "optimizers": (
        ".apply_gradients([(f32[3], keras.Variable(tf.ones([3])))])",
        ".apply_gradients([(f32[3, 3], keras.Variable(tf.ones([3, 3])))])",
        ".apply_gradients([(f32[3], tf.Variable(tf.ones([3])))])",
        "(i32[()])",
    ),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a callable."""

    name: str
    required: bool
    keyword: bool  # can be given by keyword only
    default: Any = None


@dataclass(frozen=True)
class Target:
    """A callable to measure: its canonical name, the path that leads to it here, and its parameters."""

    name: str
    path: str
    parameters: tuple[Parameter, ...]
    several: str = ""  # the name of `*args`
    documentation: str = ""

    def parameter(self, name: str) -> Parameter | None:
        return next((one for one in self.parameters if one.name == name), None)


def target(name: str, names: Mapping[str, Any]) -> Target | None:
    """The callable behind a canonical name, where this version has it."""
    paths = [name]
    if name.startswith("tf."):
        paths.append(name.replace("tf.", "tf.compat.v1.", 1))
    for path in paths:
        found = resolve(path, names)
        if callable(found):
            break
    else:
        return None
    parameters, several = [], ""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # built into the extension module
        return Target(name, path, (Parameter("x", True, False),))
    owner = name.rpartition(".")[0]
    for number, one in enumerate(signature.parameters.values()):
        if number == 0 and one.name == "self" and owner in RECEIVERS:
            continue
        if one.kind is inspect.Parameter.VAR_POSITIONAL:
            several = one.name
        elif one.kind is not inspect.Parameter.VAR_KEYWORD:
            required = one.default is inspect.Parameter.empty
            keyword = one.kind is inspect.Parameter.KEYWORD_ONLY
            parameters.append(Parameter(one.name, required, keyword, None if required else one.default))
    return Target(name, path, tuple(parameters), several, inspect.getdoc(found) or "")


# -- plain calls ------------------------------------------------------------------------------------------------------


def calls(what: Target, wanted: Tensors) -> Iterator[str]:
    """Texts of plain calls, the likeliest first. `wanted` learns from the errors in between."""
    owner, _, last = what.path.rpartition(".")
    if CALLED.match(what.name):
        yield from _built(what, wanted)
        return
    receiver = RECEIVERS.get(owner)
    for tensor in wanted:
        for arguments in _argument_lists(what, tensor):
            yield f"{receiver or owner}.{last}({arguments})" if last != "__call__" else f"{receiver}({arguments})"


def _built(what: Target, wanted: Tensors) -> Iterator[str]:
    """A class that is built, and called; an optimizer applies gradients."""
    family = what.name.split(".")[1]
    called = CALLED_WITH.get(family)
    for tensor in wanted:
        for arguments in itertools.islice(_argument_lists(what, "2"), 6):
            yield from (f"{what.path}({arguments}){ending}" for ending in called or [f"({tensor})"])
        if called:
            return


def _argument_lists(what: Target, tensor: str) -> Iterator[str]:
    """Lists of arguments, with `tensor` where one is meant."""
    required = [one for one in what.parameters if one.required]
    choices = [list(dict.fromkeys(_texts(one.name, tensor))) for one in required]
    if what.several:
        more = ARGUMENTS.get(what.several, "T").replace("T", tensor).split(" | ")[0]
        choices.append([f"{more}, {more}", more, ""])
    # The least changes of the first choices first.
    ranked = sorted(
        itertools.islice(itertools.product(*(range(len(texts)) for texts in choices)), 4000),
        key=lambda places: (sum(map(bool, places)), sum(places)),
    )
    for places in ranked[:MOST_PER_TENSOR]:
        texts = [texts[place] for texts, place in zip(choices, places, strict=True)]
        pairs = itertools.zip_longest(required, texts)
        written = [f"{one.name}={text}" if one and one.keyword else text for one, text in pairs if text]
        yield ", ".join(written)
    optional = next((one for one in what.parameters if not one.required), None)
    if not required and not what.several and optional is not None and optional.default is None:
        yield tensor


def _texts(parameter: str, tensor: str) -> list[str]:
    texts = ARGUMENTS.get(parameter, "T").split(" | ")
    if "T" not in texts:
        texts = [*texts, "T"]
    return [tensor if text == "T" else text for text in texts]


class Tensors:
    """The tensors to try a call with, reordered by what the errors say."""

    def __init__(self) -> None:
        self._left = list(TENSORS)

    def __iter__(self) -> Iterator[str]:
        while self._left:
            yield self._left.pop(0)

    def hint(self, error: str) -> None:
        """Bring forward what an error asks for."""
        for pattern, *starts in HINTS:
            if re.search(pattern, error):
                asked = [one for one in self._left if one.startswith(tuple(starts))]
                if asked:
                    self._left = asked + [one for one in self._left if one not in asked]
                    return


# -- variants ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """The call with one argument written otherwise; of `alternatives` the first that is accepted counts."""

    parameter: str
    alternatives: tuple[str, ...]
    kind: str  # option, given (an optional argument), tensor


def variants(what: Target, call: str) -> Iterator[Variant]:
    """What may be written otherwise: words, switches, arguments with defaults, tensors for Python values."""
    given, idle = written(what, call), IDLE.split()
    for one in what.parameters:
        if one.name in idle or one.name.endswith(("_initializer", "_regularizer", "_constraint")):
            continue
        text = given.get(one.name)
        if isinstance(one.default, bool):
            yield Variant(one.name, (repr(not one.default),), "option")
        elif isinstance(one.default, str) or one.name in OPTIONS or (text or "").startswith("'"):
            now = text or repr(one.default)
            for word in words(what, one.name):
                if word != now:
                    yield Variant(one.name, (word,), "option")
        elif text is None and not one.required and one.name in ARGUMENTS:
            texts = [text for text in ARGUMENTS[one.name].split(" | ") if text not in ("T", repr(one.default))]
            yield Variant(one.name, tuple(texts), "given")
        if text is None and isinstance(one.default, int) and not isinstance(one.default, bool):
            text = repr(one.default)
        if CALLED.match(what.name):  # what a class is built with is never a tensor
            continue
        if tensors := as_tensors(text or (ARGUMENTS.get(one.name, "").split(" | ")[0] if not one.required else "")):
            yield Variant(one.name, tensors, "tensor")
        if text and re.fullmatch(r"(index|sorted)\[.*\]", text):
            yield Variant(one.name, (re.sub(r"^\w+", "outside", text),), "option")


def receivers(call: str) -> Iterator[tuple[dict[str, str], str]]:
    """The call on an object that comes from outside, in place of one of constant structure, and what is varied."""
    constant = RECEIVERS["tf.RaggedTensor"]
    if constant in call:
        yield {"self": RAGGED_OUTSIDE}, call.replace(constant, RAGGED_OUTSIDE)


def words(what: Target, parameter: str) -> list[str]:
    """The words that the documentation names for a parameter, and those that are usual."""
    paragraph = re.search(
        rf"^\s*\*{{0,2}}`?{parameter}`?\b[^\n]*?:(.*?)(?=^\s*`?\w+`?(?: ?\(.*?\))?:|\n\s*\n\s*(?:Returns|Raises)|\Z)",
        what.documentation,
        re.M | re.S,
    )
    found = re.findall(r"""["'`]([A-Za-z][\w-]{1,30})["'`]""", paragraph[1]) if paragraph else []
    listed = OPTIONS.get(parameter, "").split(" | ")
    quoted = [repr(word) for word in found if word not in ("None", "True", "False", parameter)]
    return list(dict.fromkeys([one for one in listed if one] + quoted))[:MOST_WORDS]


def as_tensors(text: str) -> tuple[str, ...]:
    """Tensors in place of a Python number or list of numbers."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ()
    match value:
        case bool():
            return ()
        case int():
            close = f"pick[{max(value, 1)}, {max(value, 1) + 1}, {max(value, 1) + 2}]"
            return ("i32[()]", "index[()]", close, f"pick[{value}, {value - 1}, {value}]")
        case [int(), *_] | (int(), *_) if all(isinstance(one, int) for one in value):
            turned = [list(one) for one in dict.fromkeys(itertools.permutations(value))]
            picks = (f"pick[{', '.join(map(str, turned[:VALUE_SETS]))}]",) if len(turned) > 1 else ()
            return (f"i32[{len(value)}]", f"index[{len(value)}]", *picks)
        case [[int(), *_], *_]:
            return (f"index[{len(value)}, {len(value[0])}]",)
    return ()


# -- the text of a call -----------------------------------------------------------------------------------------------


def call_of(what: Target, tree: ast.AST) -> ast.Call | None:
    """The call of the target in an expression: of a class that is called, where it is built."""
    last = what.path.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            path = dotted(node.func)
            if path == what.path or (isinstance(node.func, ast.Attribute) and not path and node.func.attr == last):
                return node
    return None


def written(what: Target, call: str) -> dict[str, str]:
    """By parameter: the argument in the text of a call."""
    node = call_of(what, ast.parse(call, mode="eval"))
    if node is None:
        return {}
    names = [one.name for one in what.parameters if not one.keyword]
    given = {name: ast.unparse(argument) for name, argument in zip(names, node.args, strict=False)}
    return given | {one.arg: ast.unparse(one.value) for one in node.keywords if one.arg}


def rewritten(what: Target, call: str, parameter: str, text: str) -> str | None:
    """The text of the call with one argument written otherwise."""
    tree = ast.parse(call, mode="eval")
    node = call_of(what, tree)
    if node is None:
        return None
    argument = ast.parse(text, mode="eval").body
    names = [one.name for one in what.parameters if not one.keyword]
    place = names.index(parameter) if parameter in names else len(node.args)
    if place < len(node.args):
        node.args[place] = argument
    else:
        node.keywords = [one for one in node.keywords if one.arg != parameter]
        node.keywords.append(ast.keyword(arg=parameter, value=argument))
    return ast.unparse(tree)
