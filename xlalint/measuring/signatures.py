"""Observes what a callable gives back: one call with other ranks, sizes, dtypes and options of its arguments.

Eager execution says what comes out of each call that it accepts; the traced and compiled call says which tensor
arguments the content of the result depends on, and which give it their shape and dtype only. What runs here says what
was seen, as plain data; `rules` makes of it what the analyser is told.

How a value is written: `{"t": [class, [sizes]]}` a tensor, `{"s": literal}` a Python value, `{"l": [..]}` a list,
`{"u": [..]}` a tuple, `{"d": name}` a dtype, `{"a": class}` a NumPy array, `{"o": class}` any other object.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from xlalint.measuring.arguments import Target, call_of, rewritten, written
from xlalint.measuring.expressions import Expression, dotted, parse
from xlalint.measuring.outcome import Meter, arrays, same
from xlalint.measuring.samples import KINDS, VALUE_SETS

MOST_CALLS: Final = 260
MOST_DEATHS: Final = 2  # before ranks are left as they are
MOST_SUBSETS: Final = 3  # tensors of which every choice is changed together
AXES: Final = ("axis", "axes", "reduction_indices", "dim", "dimension")
KEEP: Final = ("keepdims", "keep_dims")
DTYPES: Final = ("dtype", "out_type", "output_type", "Tout", "type")
TEXTS: Final = {
    **dict.fromkeys(AXES, ("0", "-1", "[0]", "[0, 1]", "None")),
    **dict.fromkeys(KEEP, ("True",)),
    **dict.fromkeys(DTYPES, ("tf.float64", "tf.int64", "tf.complex64", "tf.bool")),
}
NUMBERS: Final = ("f32[()]", "index[()]", "2.0", "1", "True")  # in place of a Python number
# By dtype class: the samples that stand for it, the first in place of one of another class.
CLASSES: Final = {
    "float": ("f32", "f16", "bf16", "f64", "positive", "unit", "dist", "spd", "nan"),
    "int": ("index", "i32", "i8", "i16", "i64", "u8", "u16", "u32", "u64", "index64", "sorted", "outside", "perm"),
    "bool": ("bool",),
    "complex": ("c64", "c128"),
    "string": ("str", "digits", "blank"),
}
CLASS_OF: Final = {kind: name for name, kinds in CLASSES.items() for kind in kinds}
SAMPLE: Final = re.compile(rf"\b({'|'.join(KINDS)})\[([^\]]*)\]")
_LIST: Final = re.compile(r"[\[(](-?\d+(?:, -?\d+)*),?[\])]")  # of Python numbers, as an argument


def sizes(text: str) -> tuple[int, ...]:
    """The sizes in a sample's brackets."""
    return tuple(int(part) for part in re.findall(r"\d+", text))


# -- other calls ------------------------------------------------------------------------------------------------------


# Shapes of other ranks.
_GROWN: Final[Sequence[Callable[[tuple[int, ...]], tuple[int, ...]]]] = (
    lambda shape: (2, *shape),
    lambda shape: shape[1:],
    lambda shape: (*shape, 2),
    lambda shape: shape[:-1],
    lambda shape: (2, 2, *shape),
)


class Moves:
    """Texts of calls like the plain one."""

    def __init__(self, call: str, deaths: int = 0) -> None:
        self.call = call
        self.deaths = deaths  # how often the process died of arguments that do not fit each other
        self.samples = [(match[1], sizes(match[2])) for match in SAMPLE.finditer(call)]

    def written(self, changed: Mapping[int, tuple[str, tuple[int, ...]]]) -> str:
        """The call with other samples at these places."""
        numbers = itertools.count()

        def text(match: re.Match[str]) -> str:
            place = next(numbers)
            if place not in changed:
                return match[0]
            kind, shape = changed[place]
            return f"{kind}[{', '.join(map(str, shape)) or '()'}]"

        return SAMPLE.sub(text, self.call)

    def groups(self) -> list[tuple[int, ...]]:
        """The tensors that are changed together: all, those of one dtype, each alone; of a few, every choice."""
        everything = tuple(range(len(self.samples)))
        kinds = [CLASS_OF[kind] for kind, _ in self.samples]
        found = [everything, *(tuple(at for at in everything if kinds[at] == one) for one in kinds)]
        if self.deaths:
            return [everything]
        counts = range(len(everything) - 1, 0, -1) if len(everything) <= MOST_SUBSETS else (1,)
        found += [group for count in counts for group in itertools.combinations(everything, count)]
        return list(dict.fromkeys(filter(None, found)))

    def ranks(self) -> Iterator[str]:
        """More dimensions and fewer, of the tensors and of the lists of numbers that go with them."""
        for group in self.groups() if self.deaths < MOST_DEATHS else ():
            for other in _GROWN:
                changed = {place: (self.samples[place][0], other(self.samples[place][1])) for place in group}
                text = self.written(changed)
                yield text
                yield from _lists(text)
        yield from _lists(self.call)

    def sizes(self) -> Iterator[str]:
        """Another first size, of all tensors that have the same and of each alone."""
        firsts = {shape[0] for _, shape in self.samples if shape}
        groups = [[place for place, (_, shape) in enumerate(self.samples) if shape[:1] == (one,)] for one in firsts]
        groups += [[place] for place, (_, shape) in enumerate(self.samples) if shape]
        for group in groups:
            for by in (1, self.samples[group[0]][1][0]):
                kinds = {place: self.samples[place] for place in group}
                yield self.written({at: (kind, (one[0] + by, *one[1:])) for at, (kind, one) in kinds.items()})

    def dtypes(self) -> Iterator[str]:
        """Other dtypes, of all tensors and of each alone."""
        for group in self.groups():
            for name in ("float", "int", "bool", "complex"):
                changed = {
                    place: (CLASSES[name][0], self.samples[place][1])
                    for place in group
                    if CLASS_OF[self.samples[place][0]] != name
                }
                if changed:
                    yield (text := self.written(changed))
                    yield _whole(text)

    def numbers(self) -> Iterator[str]:
        """Python numbers in place of tensors."""
        if len(self.samples) > 1:
            for place, number in itertools.product(range(len(self.samples)), ("2", "2.0")):
                start, end = list(SAMPLE.finditer(self.call))[place].span()
                yield f"{self.call[:start]}{number}{self.call[end:]}"


def _whole(call: str) -> str:
    """The call with whole numbers in place of Python's floats."""
    return re.sub(r"(?<![\w.])\d+\.\d*", "1", call)


def _lists(call: str) -> Iterator[str]:
    """The call with longer and shorter lists of Python numbers."""

    def longer(match: re.Match[str], more: str) -> str:
        closed = match[0][-1]
        return f"{match[0][0]}{match[1]}, {more}{closed}"

    plain = SAMPLE.split(call)
    if not any(_LIST.search(part) for part in plain[::3]):
        return
    changes = (
        lambda match: longer(match, "1"),
        lambda match: longer(match, "0"),
        lambda match: longer(match, match[1].split(", ")[-1]),
        lambda match: longer(match, str(match[1].count(",") + 1)),
        lambda match: f"[{', '.join(match[1].split(', ')[:-1])}]",
        lambda match: f"[{', '.join(match[1].split(', ')[1:])}]",
    )
    yield re.sub(r"(\[-?\d+(?:, -?\d+)*\])\]", r"\1, \1]", call)
    for change in changes:
        parts = [_LIST.sub(change, part) if number % 3 == 0 else part for number, part in enumerate(plain)]
        yield "".join(
            f"{part}{parts[number + 1]}[{parts[number + 2]}]" if number + 2 < len(parts) else part
            for number, part in list(enumerate(parts))[::3]
        )


def calls(what: Target, call: str, options: Sequence[tuple[str, str]], deaths: int) -> Iterator[tuple[str, str]]:
    """Texts of calls to observe, each with the option that is written otherwise ("axis=0"), or nothing."""
    moves = Moves(call, deaths)
    yield call, ""
    yield _whole(call), ""
    for text in itertools.chain(moves.ranks(), moves.dtypes(), moves.numbers(), moves.sizes()):
        yield text, ""
    others = [(one.name, text) for one in what.parameters for text in TEXTS.get(one.name, ())]
    numbers = [name for name, text in written(what, call).items() if re.fullmatch(r"-?\d+\.?\d*", text)]
    others += [(name, text) for name in numbers for text in NUMBERS]
    for parameter, text in dict.fromkeys((*others, *filter(_is_written, options))):
        other = rewritten(what, call, parameter, text)
        if other is None or other == call:
            continue
        option = f"{parameter}={text}"
        yield other, option
        more = Moves(other, deaths)
        yield from ((longer, option) for longer in itertools.islice(more.ranks(), 1))
        if parameter in AXES:
            for keep in (one.name for one in what.parameters if one.name in KEEP):
                kept = rewritten(what, other, keep, "True")
                yield from ((kept, option) for _ in range(1) if kept)


def _is_written(option: tuple[str, str]) -> bool:
    """Whether what is varied is said as Python, and not in words ("from outside")."""
    try:
        ast.parse(option[1], mode="eval")
    except SyntaxError:
        return False
    return True


# -- what is seen -----------------------------------------------------------------------------------------------------


class Observer:
    """Runs calls and says what went in and came out."""

    def __init__(self, meter: Meter, names: Mapping[str, Any], note: Callable[[str, str], None]) -> None:
        self.meter = meter
        self.tf = meter.tf
        self.names = names
        self.note = note  # told the step and the call before each that may kill the process

    def observe(self, what: Target, plan: Mapping[str, Any], dead: Mapping[str, Any]) -> dict[str, Any]:
        """All that is seen of a callable: `seen` calls, and what the compiler says of the plain one."""
        call: str = plan["call"]
        seen: list[dict[str, Any]] = []
        texts: dict[str, str] = {}
        for text, option in calls(what, call, [(one, other) for one, other in plan["varied"]], len(dead)):
            texts.setdefault(text, option)
        refused = 0
        for text, option in list(texts.items())[:MOST_CALLS]:
            if dead.get(text, [""])[0] == "eager":
                continue
            self.note("eager", text)
            try:
                expression = parse(text, self.names)
                arguments = self.arguments(what, text)
                result = expression.function(*self.meter.tensors(expression, [0] * len(expression.samples)))
            except Exception:  # not with these arguments: what is accepted is looked at
                refused += 1
                continue
            seen.append({"call": text, "option": option, "arguments": arguments, "result": self.value(result)})
        found: dict[str, Any] = {"seen": seen, "refused": refused}
        if seen and seen[0]["call"] == call and call not in dead:
            self.note("compile", call)
            found |= self.compiled(parse(call, self.names))
            for one in seen if found.get("idle") else ():  # what does not matter in one call may matter in others
                if one["call"] not in dead:
                    self.note("compile", one["call"])
                    other = self.compiled(parse(one["call"], self.names))
                    if other.get("kernels"):
                        found["deciding"] = sorted({*found["deciding"], *other["deciding"]})
        return found

    def arguments(self, what: Target, call: str) -> dict[str, Any]:
        """By parameter: what is passed. Surplus positional arguments are called `*0`, `*1`, ..."""
        tree = ast.parse(call.replace("tf.experimental.numpy.", "tnp."), mode="eval")
        node = call_of(what, tree)
        if node is None:
            return {}
        names = [one.name for one in what.parameters if not one.keyword]
        found: dict[str, Any] = {}
        match tree.body:
            case ast.Call(func=ast.Call() as maker) as outer if maker is node:  # what is built is called
                node, names = outer, []
        match node.func:
            case ast.Attribute(value=owner) if not dotted(owner):  # a method
                found["self"] = self.argument(owner)
        for place, argument in enumerate(node.args):
            name = names[place] if place < len(names) else f"*{place - len(names)}"
            found[name] = self.argument(argument)
        return found | {one.arg: self.argument(one.value) for one in node.keywords if one.arg}

    def argument(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Lambda):
            return {"o": "function"}
        expression = parse(ast.unparse(node), self.names)
        return self.value(expression.function(*self.meter.tensors(expression, [0] * len(expression.samples))))

    def value(self, value: Any) -> Any:
        """What a Python object is, as data."""
        tf = self.tf
        match value:
            case None | bool() | int() | float() | str():
                return {"s": value}
            case bytes() | complex():
                return {"s": str(value)}
            case list() | tuple():
                return {"l" if isinstance(value, list) else "u": [self.value(one) for one in value]}
            case tf.DType():
                return {"d": f"tf.{value.name}"}
            case tf.Tensor() | tf.Variable():
                shape = value.shape.as_list() if value.shape.rank is not None else None
                return {"t": [_class(value.dtype.name), shape]}
            case tf.TensorShape():
                return {"o": "tf.TensorShape"}
            case tf.RaggedTensor() | tf.SparseTensor() | tf.IndexedSlices():
                return {"o": f"tf.{type(value).__name__.removesuffix('Value')}"}
        if type(value).__module__ == "numpy":
            return {"a": _class(value.dtype.name)} if hasattr(value, "dtype") else {"o": type(value).__name__}
        return {"o": type(value).__name__}

    def compiled(self, expression: Expression) -> dict[str, Any]:
        """What comes out of the traced call, and by tensor argument whether its content decides over the result's."""
        tf, meter = self.tf, self.meter
        sets = [0] * len(expression.samples)
        traced: list[Any] = []
        expression.function(*meter.tensors(expression, sets))  # objects make their variables at their first call

        def call(*tensors: Any) -> Any:
            result = expression.function(*tensors)
            traced[:] = [self.value(result)]
            return meter.flat(result) or [tf.constant(0)]

        function = tf.function(call, autograph=False, jit_compile=True)
        try:
            concrete = function.get_concrete_function(*meter.tensors(expression, sets))
        except Exception:
            return {}
        found: dict[str, Any] = {"traced": traced[0]}
        roles = [expression.roles.get(place, "") for place in range(len(sets))]
        try:
            used = _used(function.experimental_get_compiler_ir(*meter.tensors(expression, sets))(stage="optimized_hlo"))
            found["kernels"] = True
        except Exception:  # without a kernel: by the graph
            used = _reaching(concrete)
        depends = [number in used for number in range(len(sets))]
        for place in range(len(sets)):
            if not depends[place]:
                depends[place] = self.varies(expression, place)
        found["idle"] = sorted({role for role, one in zip(roles, depends, strict=True) if role and not one})
        found["deciding"] = sorted({role for role, one in zip(roles, depends, strict=True) if role and one})
        return found

    def varies(self, expression: Expression, place: int) -> bool:
        """Whether other values of one argument give another result."""
        results = []
        for number in range(VALUE_SETS):
            sets = [number if one == place else 0 for one in range(len(expression.samples))]
            try:
                result = expression.function(*self.meter.tensors(expression, sets))
            except Exception:
                return True
            results.append(arrays(self.meter.flat(result)))
        return not all(same(results[0], one) for one in results)


_CLASSES: Final = (("bool", "bool"), ("float", "float"), ("bfloat", "float"), ("complex", "complex"), ("str", "string"))


def _class(name: str) -> str:
    """The dtype class of a dtype's name."""
    known = next((found for start, found in _CLASSES if name.startswith(start)), "")
    return known or ("int" if re.match(r"q?u?int", name) else name)


_ENTRY: Final = re.compile(r"^ENTRY .*?\{\n(.*?)^\}", re.M | re.S)


def _used(hlo: str) -> set[int]:
    """The parameters of the entry computation that its result is made of."""
    entry = _ENTRY.search(hlo)
    assert entry is not None, "no entry computation"
    lines = {}
    root = ""
    for line in entry[1].splitlines():
        name, _, rest = line.strip().removeprefix("ROOT ").partition(" = ")
        lines[name.removeprefix("%")] = rest
        if line.strip().startswith("ROOT"):
            root = name.removeprefix("%")
    reached, left = set(), [root]
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += [one for one in re.findall(r"%?([\w.\-]+)", lines[name]) if one in lines and one != name]
    found = (re.search(r"\bparameter\((\d+)\)", lines[name]) for name in reached)
    return {int(match[1]) for match in found if match}


def _reaching(concrete: Any) -> set[int]:
    """The arguments that a path leads from to a result in the graph."""
    left, reached = list(concrete.outputs), set()
    while left:
        tensor = left.pop()
        if tensor.ref() not in reached:
            reached.add(tensor.ref())
            left += [*tensor.op.inputs, *(one for before in tensor.op.control_inputs for one in before.outputs)]
    return {place for place, one in enumerate(concrete.inputs) if one.ref() in reached}
