"""What the source of a function shows of its parameters: ranks and sizes from subscripts and unpacked shapes, the keys
of dictionaries, how many elements a structure has, dtypes from the calls that a parameter goes to.

    height, width, channels = tf.shape(data["image"])     a dictionary with an image of three dimensions
    x[..., 4:]                                            more than four channels
    tf.gather(table, ids)                                 whole numbers
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from xlalint.sources.specs import Form, Keyed, Literal, Many, Spec, spec

from .numbers import SIZE

_MOST_RANK: Final = 6
_MOST_SIZE: Final = 256
_SHAPE_CALLS: Final = ("shape", "get_shape", "as_list", "shape_list", "get_shape_list", "int_shape", "unstack")
_SIZED: Final = {"reshape": 1, "broadcast_to": 1, "tile": 1, "batch_to_space": 1, "zeros": 0, "ones": 0, "fill": 0}
_SHAPED: Final = {"scatter_nd": 2, "zeros": 0, "ones": 0, "fill": 0, "broadcast_to": 1}  # by a whole shape
_SAME: Final = ("convert_to_tensor", "asarray", "identity", "stop_gradient")
_OF_ITS_DTYPE: Final = (
    "expand_dims",
    "squeeze",
    "reshape",
    "transpose",
    "tile",
    "repeat",
    "concat",
    "stack",
    "flatten",
)
_IMAGE: Final = (8, 8, 3)
_PAIRS: Final = (ast.Tuple, ast.List)
_SMALL: Final = Literal(2)
_STRUCTURES: Final = ("items", "keys", "values", "get", "pop", "update")

# By the last part of a function's name, what it wants of its arguments: position (or name), dtype, rank.
_WANTED: Final[dict[str, tuple[tuple[int, str, str, int | None], ...]]] = {
    "gather": ((1, "indices", "int32", None),),
    "gather_nd": ((1, "indices", "int32", None),),
    "take": ((1, "indices", "int32", None),),
    "take_along_axis": ((1, "indices", "int32", None),),
    "embedding_lookup": ((1, "ids", "int32", None),),
    "one_hot": ((0, "indices", "int32", None),),
    "scatter_nd": ((0, "indices", "int32", None),),
    "tensor_scatter_nd_update": ((1, "indices", "int32", None),),
    "tensor_scatter_nd_add": ((1, "indices", "int32", None),),
    "sequence_mask": ((0, "lengths", "int32", 1),),
    "boolean_mask": ((1, "mask", "bool", None),),
    "logical_and": ((0, "x", "bool", None), (1, "y", "bool", None)),
    "logical_or": ((0, "x", "bool", None), (1, "y", "bool", None)),
    "logical_not": ((0, "x", "bool", None),),
    "segment_sum": ((1, "segment_ids", "int32", 1),),
    "segment_mean": ((1, "segment_ids", "int32", 1),),
    "segment_max": ((1, "segment_ids", "int32", 1),),
    "unsorted_segment_sum": ((1, "segment_ids", "int32", None),),
    "unsorted_segment_mean": ((1, "segment_ids", "int32", None),),
    "unsorted_segment_max": ((1, "segment_ids", "int32", None),),
    "regex_replace": ((0, "input", "string", None),),
    "unicode_decode": ((0, "input", "string", None),),
    "string_to_number": ((0, "input", "string", None),),
    "decode_raw": ((0, "input_bytes", "string", None),),
}
# Those that ask for one whole number each, from a position on.
_NUMBERED: Final = {
    "crop_to_bounding_box": 1,
    "pad_to_bounding_box": 1,
    "resize_with_crop_or_pad": 1,
    "resize_with_pad": 1,
}
_ASCENDING: Final = ("segment_sum", "segment_mean", "segment_max")
_OF_IMAGES: Final = frozenset(
    (
        "crop_to_bounding_box",
        "resize_with_crop_or_pad",
        "resize_with_pad",
        "central_crop",
        "random_flip_left_right",
        "random_crop",
        "adjust_brightness",
        "rgb_to_grayscale",
        "rgb_to_hsv",
    )
)


@dataclass
class Use:
    """What is seen of one input, or of a part of one."""

    entries: dict[str, Use] = field(default_factory=dict)
    items: list[Use] = field(default_factory=list)
    dtype: str = ""
    rank: int | None = None
    least: int = 0  # dimensions
    sizes: dict[int, int] = field(default_factory=dict)  # the least of them, by axis, from the end where negative
    image: bool = False
    ascends: bool = False  # its numbers do
    is_size: bool = False  # it stands among the sizes of a shape
    is_shape: bool = False  # it is all the sizes of one
    is_bound: bool = False  # of a `range`
    is_number: bool = False  # a whole one
    of: Use | None = None  # of whose elements it is made
    each: Use | None = None  # what a loop takes by its number
    other: bool = False  # it is something else than a tensor

    def form(self) -> Form | None:
        """The input that this asks for; None where nothing is known."""
        if self.other:
            return None
        if self.entries:
            return Keyed(tuple((key, use.form() or _plain()) for key, use in self.entries.items()))
        if self.items:
            kind = "tuple" if all(use.is_size for use in self.items) else "list"
            return Many(kind, tuple(use.form() or (_SMALL if use.is_size else _plain()) for use in self.items))
        if self.each is not None and isinstance(each := self.each.form(), Spec) and len(each.dims) < _MOST_RANK:
            return spec(each.dtype, SIZE, *each.shape())
        if self.is_number and not (self.dtype or self.sizes or self.least):
            return _SMALL
        if self.is_shape and not (self.dtype or self.rank is not None or self.sizes):
            return Many("tuple", (Literal(SIZE), Literal(SIZE)))
        if self.image:
            return spec("float32", *((1,) if (self.rank or self.least) == 4 else ()), *_IMAGE)
        if not (self.dtype or self.sizes or self.least > 1 or self.rank is not None):
            return _SMALL if self.is_bound and not self.least else None  # one index alone may be that of a list
        sizes = [SIZE] * min(self._rank(), _MOST_RANK)
        for axis, size in self.sizes.items():
            if -len(sizes) <= axis < len(sizes):
                sizes[axis] = max(sizes[axis], min(size, _MOST_SIZE))
        return spec(self.dtype or "float32", *sizes, style="sorted" if self.ascends else "")

    def tell_dtype(self, dtype: str) -> None:
        """Its elements are of a dtype, if none is known."""
        self.dtype = self.dtype or dtype
        if self.of is not None:
            self.of.tell_dtype(dtype)

    def _rank(self) -> int:
        if self.rank is not None:
            return self.rank
        furthest = max((axis + 1 if axis >= 0 else -axis for axis in self.sizes), default=0)
        return max(self.least, furthest, 1 if self.dtype == "string" else 2)

    def joined(self, other: Form | None) -> Form | None:
        """With what else is known of it: sizes that are described, and here the dtype."""
        own = self.form()
        if isinstance(other, Spec) and isinstance(own, Spec):
            fits = len(other.dims) == self.rank if self.rank is not None else len(other.dims) >= self._seen()
            return spec(self.dtype or other.dtype, *other.shape(), style=own.style) if fits else own
        return own if other is None or (own is not None and isinstance(other, Literal)) else other

    def _seen(self) -> int:
        return max(self.least, max((axis + 1 if axis >= 0 else -axis for axis in self.sizes), default=0))


def _plain() -> Spec:
    return spec("float32", SIZE, SIZE)


def uses_in(tree: ast.AST | None, names: Sequence[str]) -> Mapping[str, Use]:
    """What a function does with its parameters."""
    function = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None) if tree else None
    reader = _Reader({name: Use() for name in names})
    if function is not None:
        for name in names:
            reader.parameters[name].items = [Use() for _ in range(_items_of(function, name))]
        reader.body(function.body)
    return reader.parameters


def _items_of(function: ast.FunctionDef, name: str) -> int:
    """How many elements a parameter has of which a function reads some by their positions, and then the rest: it is
    a list. 0 for another one."""
    taken = [node for node in ast.walk(function) if isinstance(node, ast.Subscript) and _is_named(node.value, name)]
    if len(taken) != sum(_is_named(node, name) for node in ast.walk(function)):
        return 0
    rest = 0
    for node in taken:
        match node.slice:
            case ast.Slice(lower=ast.Constant(value=int(first)), upper=None, step=None) if first > 0:
                rest = max(rest, first)
            case ast.Constant(value=int()):
                pass
            case _:
                return 0
    return rest and rest + 2


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


@dataclass
class _Reader:
    """Reads statements in their order; `names`: the inputs, and the parts of them, that names stand for."""

    parameters: dict[str, Use]
    names: dict[str, Use] = field(default_factory=dict)
    numbers: set[str] = field(default_factory=set)  # of iterations

    def __post_init__(self) -> None:
        self.names = dict(self.parameters)

    def body(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return
            case ast.Assign(targets=[target], value=value):
                self._expressions(value)
                self._bind(target, value)
                return
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"))):
                self.numbers.add(name)
        for _, part in ast.iter_fields(statement):
            for one in part if isinstance(part, list) else [part]:
                if isinstance(one, ast.expr):
                    self._expressions(one)
        for name in ("body", "orelse", "finalbody"):
            self.body(getattr(statement, name, ()))
        for bound in _stored(statement):
            self.names.pop(bound, None)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List) and not any(isinstance(one, ast.Starred) for one in target.elts):
            self._unpack(target, value)
            return
        use = self._use(value) or self._made_of(value)
        for name in _stored(target):
            self.names.pop(name, None)
        if isinstance(target, ast.Name) and use is not None:
            self.names[target.id] = use

    def _unpack(self, target: ast.Tuple | ast.List, value: ast.expr) -> None:
        count = len(target.elts)
        shaped, use = self._shaped(value), self._use(value)
        if shaped is not None and shaped.rank is None:
            shaped.rank = count
        for name in _stored(target):
            self.names.pop(name, None)
        if use is None or shaped is not None:
            return
        while len(use.items) < count:
            use.items.append(Use())
        for one, item in zip(target.elts, use.items, strict=False):
            if isinstance(one, ast.Name):
                self.names[one.id] = item

    def _use(self, node: ast.expr) -> Use | None:
        """The input, or the part of one, that an expression is."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))) if (
                use := self._use(value)
            ) is not None:
                return use.entries.setdefault(key, Use())
            case ast.Subscript(value=value, slice=ast.Constant(value=int(place))) if (
                use := self._use(value)
            ) is not None and 0 <= place < len(use.items):
                return use.items[place]
            case ast.Subscript(value=value, slice=ast.Name(id=name)) if (
                name in self.numbers and (use := self._use(value)) is not None
            ):
                use.each = use.each or Use()
                return use.each
            case ast.Call(func=func, args=[value, *_]) if _last(func) in _SAME:
                return self._use(value)
        return None

    def _made_of(self, node: ast.expr) -> Use | None:
        """What has the elements of an input in another shape."""
        match node:
            case ast.Call(func=func, args=[value, *_]) if _last(func) in _OF_ITS_DTYPE:
                use = self._use(value) or self._made_of(value)
                return None if use is None else Use(of=use)
        return None

    def _shaped(self, node: ast.expr) -> Use | None:
        """The input whose shape an expression is."""
        match node:
            case ast.Attribute(attr="shape", value=value):
                return self._use(value)
            case ast.Call(func=func, args=[value, *_]) if _last(func) in _SHAPE_CALLS:
                return self._shaped(value) if _last(func) == "unstack" else self._use(value)
            case ast.Call(func=ast.Attribute(attr="as_list" | "get_shape", value=value), args=[]):
                return self._shaped(value) or self._use(value)
        return None

    def _expressions(self, node: ast.expr) -> None:
        for one in _outermost_first(node):
            match one:
                case ast.Subscript(value=value, slice=index):
                    self._subscript(value, index)
                case ast.Call(func=func, args=arguments, keywords=keywords):
                    named = {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
                    self._call(_last(func), arguments, named)
                    if isinstance(func, ast.Name) and func.id == "range":
                        for bound in map(self._use, arguments):
                            if bound is not None:
                                bound.is_bound = True
                    if isinstance(func, ast.Attribute) and func.attr in _STRUCTURES and (use := self._use(func.value)):
                        use.other = not use.entries
                case ast.BinOp(op=ast.MatMult(), left=left, right=right):
                    for side in (left, right):
                        self._at_least(side, 2)

    def _subscript(self, value: ast.expr, index: ast.expr) -> None:
        shaped = self._shaped(value)
        if shaped is not None:
            if isinstance(axis := _number(index), int):
                shaped.least = max(shaped.least, axis + 1 if axis >= 0 else -axis)
            return
        use = self._use(value)
        if use is None:
            return
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            use.entries.setdefault(index.value, Use())
            return
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        parts = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
        parts = [part for part in parts if _last(part) != "newaxis"]
        dots = [place for place, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is Ellipsis]
        use.least = max(use.least, len(parts) - len(dots))
        for place, part in enumerate(parts):
            axis = place - len(parts) if dots and place > dots[0] else place
            if (size := _least_size(part)) > 0 and place not in dots and len(parts) > 1:
                use.sizes[axis] = max(size, use.sizes.get(axis, 0))

    def _call(self, name: str, arguments: Sequence[ast.expr], named: Mapping[str, ast.expr]) -> None:
        for position, keyword, dtype, rank in _WANTED.get(name, ()):
            given = arguments[position] if position < len(arguments) else named.get(keyword)
            if given is not None and (use := self._use(given)) is not None:
                use.tell_dtype(dtype)
                use.rank = rank if use.rank is None else use.rank
                use.ascends = use.ascends or name in _ASCENDING
        numbers = arguments[position:] if (position := _NUMBERED.get(name, 0)) else []
        if name == "resize" and isinstance(sizes := named.get("size", arguments[1] if arguments[1:] else None), _PAIRS):
            numbers = sizes.elts
        for use in filter(None, map(self._use, numbers)):
            use.is_number = True
        first = arguments[0] if arguments else named.get("image", named.get("images"))
        if name in _OF_IMAGES and first is not None and (use := self._use(first)) is not None:
            use.image = True
        axes = named.get("perm", arguments[1] if len(arguments) > 1 else None)
        if name in ("transpose", "permute_dimensions") and isinstance(axes, ast.List | ast.Tuple):
            use = self._use(arguments[0]) if arguments else None
            if use is not None and use.rank is None:
                use.rank = len(axes.elts)
        for one in arguments if name == "matmul" else ():
            self._at_least(one, 2)
        if (position := _SIZED.get(name, len(arguments))) < len(arguments):
            for part in ast.walk(arguments[position]):
                if isinstance(part, ast.Name) and (use := self._use(part)) is not None:
                    use.is_size = True
        if (position := _SHAPED.get(name, len(arguments))) < len(arguments):
            whole = arguments[position]
            if isinstance(whole, ast.Call) and _last(whole.func) == "cast" and whole.args:
                whole = whole.args[0]
            if (use := self._use(whole)) is not None:
                use.is_shape = True
        match arguments:
            case [ast.Constant(value=str(equation)), *operands] if name == "einsum" and "." not in equation:
                for letters, one in zip(equation.split("->")[0].split(","), operands, strict=False):
                    if (use := self._use(one)) is not None and use.rank is None:
                        use.rank = len(letters.strip())

    def _at_least(self, node: ast.expr, rank: int) -> None:
        if (use := self._use(node)) is not None:
            use.least = max(use.least, rank)


def _outermost_first(node: ast.AST) -> Iterator[ast.AST]:
    """An expression and what is in it, without the bodies of functions that bind names of their own."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda) or not ast.unparse(child.args):
            yield from _outermost_first(child)


def _stored(node: ast.AST) -> list[str]:
    """The names that a statement or a target binds."""
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _number(node: ast.expr | None) -> Any:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


def _least_size(part: ast.expr) -> int:
    """How long an axis is at least for an index or a slice of numbers to mean something; 0 where nothing is known."""
    if isinstance(part, ast.Slice):
        first, last = _number(part.lower) or 0, _number(part.upper)
        if first < 0 or (last is not None and 0 <= last <= first):
            return 0
        if last is None or last < 0:
            return first + 1 - (last or 0) if part.lower is not None or last is not None else 0
        return int(last)
    number = _number(part)
    return 0 if number is None else number + 1 if number >= 0 else -number
