"""What the analyser knows of an expression.

The heart is the ladder `Dependence`: STATIC (a Python value at trace time) < SHAPE (a tensor made of shapes and
constants only; XLA folds it) < VALUE (a tensor that depends on data). Only tensors carry a dependence: everything else
is a Python value, and `Unknown` is honest about knowing nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from collections.abc import Sequence as Ordered
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from msgspec import Struct, field
from msgspec.structs import force_setattr

from ..record import Record, replace
from .counts import Count, Rows

if TYPE_CHECKING:
    from pathlib import Path

    from xlalint.sources.outline import ImportOutline, Outline, Stretch
    from xlalint.sources.text import Source

    from ...syntax import nodes as cst
    from ..files.file import File
    from ..files.unit import Location, Unit


class Dependence(IntEnum):
    """How late a tensor's content is known. `CAPTURED`: in a tensor from outside of the trace, it is always the same,
    but XLA gets it as an argument and folds nothing that is computed from it."""

    STATIC = 0
    SHAPE = 1
    CAPTURED = 2
    VALUE = 3


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset()


class Origin(Record):
    """The place where a value became VALUE, a mask, or got a bounded dynamic shape, and what happened there.

    `{code}` in `what` stands for the place's source text, which is written out only for what is reported. `perhaps`:
    another way leads past the place, on which nothing happened. `axes`: of a bounded shape (`bounds` says how); `met`:
    it has met the shape of another tensor, which may say what its dimensions are while tracing; `extent`: its bound is
    smaller than at the place, -1, or larger, 1; None: perhaps. `shared`: the library function by which all replicas of
    a strategy have the same (it makes a variable, say), or what `origins` names.
    """

    location: Location
    what: str
    perhaps: bool = False
    axes: frozenset[int] | None = None
    met: bool = False
    extent: int | None = 0
    shared: str = ""

    @property
    def text(self) -> str:
        """What happened, in words."""
        return self.what.replace("{code}", self.location.code) if "{code}" in self.what else self.what


class Scope(Record):
    """The scope of a distribution strategy that code runs in. `strategy` is UNKNOWN where it is not known which one it
    is, or whether it is one at all. `replica`: the strategy itself runs the code, in `strategy.run`."""

    strategy: Value
    replica: bool = False

    def __hash__(self) -> int:
        made = self.strategy.made if isinstance(self.strategy, ApiObject) else None
        return hash((made, self.replica))


class Creation(Record, eq=False):
    """Where an object that holds variables, or a strategy, was made, and in which scope; None: in none. `complete`: a
    model has its variables from the start. `cls`: the project's class that it is of, if it is of one."""

    location: Location
    scope: Scope | None = None
    complete: bool = False
    cls: Class | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Creation) and self._told == other._told

    def __ne__(self, other: object) -> bool:  # as in `Location`
        return not self == other

    def __hash__(self) -> int:
        return hash(self._told)

    @property
    def _told(self) -> tuple[Location, Scope | None, bool]:
        return (self.location, self.scope, self.complete)


class Member(Record):
    """A member of an `enum.Enum` of the project, as a constant: it is itself and nothing else."""

    owner: Class
    name: str


# The constants that tell the entries of a dict apart.
KEYS: Final = (str, int, float, bytes, Member)


class Variation(Record):
    """Why a tensor has another shape, or a Python number another value, from one call to the next.

    `kind`: "last batch", "longest", "unpadded", "padded batch", "bucket", "generator", "joined" (it grows where it is
    joined with itself), "grows", "resized", "counter", ...; `axis`: the dimension that varies, where that is known;
    `shapes`: how many there are, where that can be told; `detail`: what a message needs.
    """

    kind: str
    location: Location
    axis: int | None = None
    shapes: int | None = None
    detail: str = ""


class Setting(Record):
    """What a setting is where nobody says otherwise, a switch, a number or a text, and how a message names it: "set by
    `--xla`"."""

    default: bool | int | str
    name: str


class Dimension(Record):
    """A dimension of a bounded dynamic shape, which is None while tracing. `axis`: which one; None: not known. `read`:
    where the shape is asked for this one. `open`: of a shape that is open, instead."""

    bounded: Origin
    axis: int | None = None
    read: Location | None = None
    open: bool = False


class Static(Record):
    """A Python value at trace time; `constant` is the value itself where it is a known literal. `varies`: it is another
    one in each iteration of a loop, say. `setting`: it is not known, but what it is by default. `dimension`: it is that
    one, so None where the code is traced, and a number in eager execution. `count`: what is known of it as a number of
    rows all the same. `local`: a text that is not known, but is a path on the machine that runs Python; with a
    `setting`, by which it begins, by default, or how it `begins`. `without_gpus`: what it is on a machine that has
    none."""

    constant: Any = UNSET
    varies: tuple[Variation, ...] = ()
    setting: Setting | None = None
    dimension: Dimension | None = None
    count: Count | None = None
    local: bool = False
    begins: str = ""
    without_gpus: Any = UNSET

    @property
    def known(self) -> bool:
        return self.constant is not UNSET


class Reduction(Record):
    """A sum, or a mean, of all the elements of a tensor, which was taken at `location`."""

    location: Location
    mean: bool


class Tensor(Record):
    """A tensor (or variable). `dtype` is a class: bool, int, float, complex, string, or None when unknown."""

    dependence: Dependence
    dtype: str | None = None
    rank: int | None = None
    origin: Origin | None = None  # where its content became data
    bounded: Origin | None = None  # where its shape became a bounded dynamic one
    carried: bool = False  # made by a tensor loop or by chance: never a compile-time constant
    variable: bool = False
    mixed: bool = False  # carried, and made of data that no loop carries as well
    varies: tuple[Variation, ...] = ()  # on the host: why its shape is another one from call to call
    returned: bool = False  # by a function that is compiled by itself, to code that is not
    number: Origin | None = None  # where AutoGraph casts, and eager execution makes a Python number: `int(t)`
    of_tensorflow: bool = False  # TensorFlow's function makes it, whatever Keras runs on
    traced: bool = False  # a function of Keras makes it of shapes or constants: JAX has no number while it traces
    python: bool = False  # on JAX, Keras has a Python number instead
    int32: Location | None = None  # where a variable of 32-bit integers is created, which lives in the host's memory
    eager: bool = False  # made before the trace that captures it: Python can read it there, too
    reduction: Reduction | None = None  # it is a sum or a mean of all the elements of another one
    made: Creation | None = None  # a variable's, in a program with a strategy
    whole: bool = False  # the batch of a dataset that no strategy distributes, in a program with one
    open: Origin | None = None  # what leaves dimensions open that a trace does not know
    parted: Location | None = None  # each replica of a strategy has one of its own, which the strategy gave it here

    @property
    def is_mask(self) -> bool:
        return self.dtype == "bool" and self.rank != 0

    def with_(self, **changes: Any) -> Tensor:
        return replace(self, **changes)

    def element(self, rank: int | None, origin: Origin | None) -> Tensor:
        """What a loop that runs in the graph takes of it."""
        mixed = self.mixed or (self.dependence is Dependence.VALUE and not self.carried)
        owned = self.of_tensorflow
        return Tensor(Dependence.VALUE, self.dtype, rank, origin, carried=True, mixed=mixed, of_tensorflow=owned)


class Structure(Record):
    """Tensors in a structure of unknown form: one tensor, or a tuple or dict of them (a Keras input, say). `passed`: by
    users of a layer, perhaps an object that holds more than tensors. `carried`, `of_tensorflow`: as of a tensor.
    `several`: the code has asked whether it is one tensor, and it is not. `parameter`: the syntax of the parameter that
    it is all of. `whole`, `open`, `parted`: as of a tensor."""

    dependence: Dependence = Dependence.VALUE
    origin: Origin | None = None
    varies: tuple[Variation, ...] = ()
    passed: bool = False
    carried: bool = False
    several: bool = False
    parameter: cst.Param | None = None
    of_tensorflow: bool = False
    whole: bool = False
    open: Origin | None = None
    parted: Location | None = None

    @property
    def tensor(self) -> Tensor:
        """The tensor that it is where only one tensor can stand."""
        return Tensor(
            self.dependence,
            origin=self.origin,
            carried=self.carried,
            varies=self.varies,
            of_tensorflow=self.of_tensorflow,
            whole=self.whole,
            open=self.open,
            parted=self.parted,
        )

    @property
    def part(self) -> Structure:
        """What it holds: one tensor again, or a structure of them."""
        return replace(self, several=False, parameter=None) if self.several or self.parameter is not None else self


class Array(Record):
    """A NumPy array: host data, constant to the compiler. `length`: its first dimension, and `row`: how many elements
    stand at each of its positions, where they are known. `steps`: it holds numbers that go in steps which need not
    reach the end."""

    dtype: str | None = None
    length: Rows | None = None
    varies: tuple[Variation, ...] = ()
    row: int | None = None
    steps: bool = False


class Sequence(Record):
    """A list, tuple or set. `items` is None when the length is unknown; `element` is then what it holds. `varies`: on
    the host, what makes it longer. `left`: of what a generator yields, what it returns at its end. `steps`: of parts
    along an axis of a tensor, or of a range of numbers, how many they are; 0 where that is not known. `of_gpus`: one
    for each GPU of a machine, which need not have any.

    `size` is how many values it is to somebody who follows every way into it: `x = (x, x)` doubles it, with hardly any
    memory for it. Of one that is too large, or too deep, nothing is known but the kind.
    """

    kind: str  # "list", "tuple", "set"
    items: tuple[Value, ...] | None
    element: Value | None = None
    size: int = 0  # this and the depth are counted when it is made
    depth: int = 0
    varies: tuple[Variation, ...] = ()
    left: Value | None = None
    steps: int | None = None
    of_gpus: bool = False

    def __post_init__(self) -> None:
        size, depth = _extent(self.items or (self.element,))
        if size > _LARGEST or depth > _DEEPEST:
            force_setattr(self, "items", None)
            force_setattr(self, "element", UNKNOWN)
            size, depth = 2, 1
        force_setattr(self, "size", size)
        force_setattr(self, "depth", depth)


class Dict(Record):
    """A dict. `entries` holds the literal keys; `element` is any other value. `size` and `depth` as of a sequence."""

    entries: Mapping[Any, Value]
    element: Value | None = None
    size: int = 0  # this and the depth are counted when it is made
    depth: int = 0

    def __post_init__(self) -> None:
        size, depth = _extent((*self.entries.values(), self.element))
        if size > _LARGEST or depth > _DEEPEST:
            force_setattr(self, "entries", {})
            force_setattr(self, "element", UNKNOWN)
            size, depth = 2, 1
        force_setattr(self, "size", size)
        force_setattr(self, "depth", depth)


class Slice(Record):
    """`start:stop:step` inside an index. `length`: of a window that moves, `i:i + length`."""

    start: Value | None
    stop: Value | None
    step: Value | None
    length: Value | None = None


class Api(Record):
    """A name that another library owns, fully qualified and canonical: `tf.boolean_mask`, `np.sum`, `builtins.len`."""

    name: str


class ApiObject(Record):
    """An instance of a library's class (`tf.keras.layers.Dense`), or a bound method of one when `method` is set."""

    api: str
    method: str | None = None
    payload: Value | None = None  # what it was made of: a dataset's elements, a TensorArray's dtype
    facts: Facts | None = None
    made: Creation | None = None  # of models, optimizers, metrics and strategies, in programs that use strategies
    options: tuple[tuple[str, Static], ...] = ()  # constants it was built with that decide whether its call compiles

    @property
    def owner(self) -> ApiObject:
        """The object itself, of which this may be a method."""
        if self.method is None:
            return self
        return ApiObject(self.api, None, self.payload, self.facts, self.made, self.options)


class Pipeline(Record):
    """What is known of a `tf.data.Dataset` beside its elements. `count`: how many elements, where that is known;
    `endless`: it repeats for ever; `batch`: the size of its batches, 0 where they have one that is not known, None
    where it is not batched; `uniform`: all elements have one shape, since they are slices of arrays; `python`: Keras's
    image generator makes them, which is Python; `distributed`: a strategy gives each replica its part; `foreign`:
    nobody sees where it is made, and it may repeat."""

    count: Rows | None = None
    endless: bool = False
    batch: int | None = None
    uniform: bool = False
    python: bool = False
    distributed: bool = False
    foreign: bool = False


class Compiled(Record):
    """How a Keras model was compiled. `jit`: XLA compiles its steps; None: Keras decides, by the devices that it finds.
    `why`: what makes it so, in words; `place`: the call of `compile`."""

    jit: bool | None
    why: str
    location: Location


class Padding(Record):
    """What a collator makes of examples: `varies` is empty where its batches have one length, or few."""

    varies: tuple[Variation, ...] = ()


class Wrapped(Record):
    """What `tf.function(jit_compile=True)` made of something that is no function of the project: what `entry` says.
    `signature`: with an input signature; `one_shape`: which leaves no dimension open."""

    entry: str
    signature: bool
    location: Location
    one_shape: bool = False


Facts: TypeAlias = Pipeline | Compiled | Padding | Wrapped


class TensorMethod(Record):
    """`x.numpy`, `x.assign`, ... before the call. `home`: of a method that changes a container, the frame and the
    expression that reads it there: `hook = items.append` changes `items` when the hook is called."""

    owner: Value
    name: str
    home: Any = None


class FunctionValue(Record, eq=False):
    """A function of the project, with the scope it closes over, the object it is bound to and partial arguments."""

    function: Function
    scope: Any = None
    bound: Value | None = None
    partial_args: tuple[Value, ...] = ()
    partial_keywords: Mapping[str, Value] = field(default_factory=dict)
    compiled: Any = None  # a Compilation when wrapped by tf.function

    def compiled_by(self, compilation: Any) -> FunctionValue:
        """The function with another Compilation, or none."""
        return FunctionValue(
            self.function, self.scope, self.bound, self.partial_args, self.partial_keywords, compilation
        )


class ClassValue(Record):
    """A class of the project."""

    cls: Class


class Instance(Struct, eq=False):
    """An object of a project class; `attributes` is shared by everything that sees the object. `version` counts the
    changes: what was said of its methods before one need not hold after it. `creations`: where it was made. `traced`:
    each trace makes it anew."""

    cls: Class
    attributes: dict[str, Value] = field(default_factory=dict)
    version: int = 0
    facts: Facts | None = None
    creations: set[Creation] = field(default_factory=set)
    traced: bool = False


class ModuleValue(Record):
    """A module of the project."""

    module: Module


class Unknown(Record):
    """No idea. `names`: the parameters it may come from; `compared`: it is the result of a comparison; `part`: it is
    an element of what the parameter holds, or, `sliced`, several as they come; `varies`: on the host, why it is
    longer or shorter from time to time; `count`: as of a Python value, where it is a number."""

    names: frozenset[str] = frozenset()
    compared: bool = False
    part: bool = False
    varies: tuple[Variation, ...] = ()
    count: Count | None = None
    sliced: bool = False


class OneOf(Record):
    """One of a few values of different kinds, after branches joined."""

    options: tuple[Value, ...]


class Deferred(Record, eq=False):
    """What an import statement binds, until the name is read: most imports of a package lead to files that nobody
    asks about. Only environments hold it; who reads one takes what is `settled`."""

    module: Module
    binding: ImportOutline


Value: TypeAlias = (
    Static
    | Tensor
    | Structure
    | Array
    | Sequence
    | Dict
    | Slice
    | Api
    | ApiObject
    | TensorMethod
    | FunctionValue
    | ClassValue
    | Instance
    | ModuleValue
    | Unknown
    | Deferred
    | OneOf
)


# How large and how deep containers may be: more than programs write, and little enough to be followed everywhere.
_LARGEST: Final = 4_000
_DEEPEST: Final = 40
_HOLDERS: Final = frozenset((Sequence, Dict, OneOf, ApiObject, TensorMethod))


def _extent(parts: tuple[Value | None, ...]) -> tuple[int, int]:
    """The size and the depth of a container with these parts."""
    if _HOLDERS.isdisjoint(map(type, parts)):  # most containers
        return len(parts) + 1, 1
    size = depth = 0
    pending = list(parts)
    for part in pending:
        match part:
            case Sequence() | Dict():
                size += part.size
                depth = max(depth, part.depth)
            case OneOf(alternatives):
                pending += alternatives
            case ApiObject(payload=inner) | TensorMethod(owner=inner):
                pending.append(inner)
            case _:
                size += 1
    return size + 1, depth + 1


UNKNOWN: Final = Unknown()
STATIC: Final = Static()
NONE: Final = Static(None)


# -- definitions: what the analysis asks of functions, classes and modules, which `program` defines -------------------


class Function(Hashable, Protocol):
    """A function, method or lambda. `owner` is the class around a method."""

    @property
    def module(self) -> Module: ...

    @property
    def name(self) -> str: ...

    @property
    def qualname(self) -> str: ...

    @property
    def owner(self) -> Class | None: ...

    @property
    def decorator_texts(self) -> tuple[str, ...]: ...

    @property
    def stretch(self) -> Stretch | None:
        """The lines of a definition at the top of a module or class; None for one inside a function."""

    @property
    def identity(self) -> object:
        """What two analyses of one definition share: a function inside another is created by each call of that."""

    @property
    def key(self) -> tuple[str, int, str]:
        """The identity as plain data."""

    @property
    def unit(self) -> Unit: ...

    @property
    def node(self) -> cst.FunctionDef | cst.Lambda: ...

    @property
    def location(self) -> Location: ...

    @property
    def label(self) -> Location:
        """The location to show for the definition: its name, or the lambda itself."""

    @property
    def text(self) -> str: ...

    @property
    def fills_its_object(self) -> bool:
        """Whether a method may give its object an attribute besides `built`."""

    @property
    def uses_tensorflow(self) -> bool:
        """Whether TensorFlow can be named in the function."""


class Class(Hashable, Protocol):
    """A class: its own methods and classes, and its bases."""

    attributes: dict[str, Value] | None  # of the class body; None until it is executed

    @property
    def module(self) -> Module: ...

    @property
    def name(self) -> str: ...

    @property
    def qualname(self) -> str: ...

    @property
    def functions(self) -> Mapping[str, Function]: ...

    @property
    def setters(self) -> Mapping[str, Function]: ...

    @property
    def classes(self) -> Mapping[str, Class]: ...

    @property
    def stretch(self) -> Stretch | None:
        """The lines of a definition at the top of a module or class; None for one inside a function."""

    @property
    def code(self) -> Ordered[Stretch]:
        """What stands in its body besides definitions."""

    @property
    def decorator_texts(self) -> tuple[str, ...]: ...

    @property
    def keyword_texts(self) -> tuple[tuple[str, str], ...]: ...

    def callers_of(self, name: str) -> frozenset[str]:
        """Those of its own methods that name the method `name` of their object."""

    def keyword(self, name: str) -> Value | None:
        """What the definition passes as a keyword beside the bases: a metaclass, say."""

    @property
    def scope(self) -> Any:
        """The frame around a class that a function defines."""

    @property
    def view_of(self) -> Any:
        """The instance behind `super()`."""

    @property
    def mro(self) -> tuple[Class | str, ...]:
        """This class and its ancestors, nearest first; an ancestor of another library by its canonical name."""

    @property
    def bases(self) -> tuple[Value, ...]: ...

    @property
    def derived(self) -> tuple[Class, ...]:
        """The classes of the same file that have this one among their ancestors."""

    @property
    def external_bases(self) -> Iterator[str]: ...

    def is_keras(self, kind: str) -> bool:
        """Whether an ancestor is Keras's own class of that kind ("layer", "model", "loss", "metric", ...)."""

    def find(self, name: str, after: Class | None = None) -> Function | None:
        """The method `name`, looked up along the order of ancestors (those after `after`, for `super()`)."""


class Module(Hashable, Protocol):
    """A file of the program: its outline, and what its top-level code binds once it has been executed."""

    values: dict[str, Value]
    executed: bool
    written: bool  # of Python's own library, executed with each call of it

    @property
    def name(self) -> str: ...

    @property
    def file(self) -> File: ...

    @property
    def source(self) -> Source: ...

    @property
    def path(self) -> Path: ...

    @property
    def outline(self) -> Outline: ...

    @property
    def classes(self) -> Ordered[Class]: ...

    @property
    def functions(self) -> Ordered[Function]: ...

    @property
    def is_test(self) -> bool:
        """Whether the file holds tests, by its name or its folder's."""

    @property
    def names_tensorflow(self) -> bool:
        """Whether the code names TensorFlow as an `import *` gives it."""

    @property
    def serves_tensorflow(self) -> bool:
        """Whether the file brings TensorFlow, or what a file of the project defines that does."""

    @property
    def imports_keras_2(self) -> bool: ...

    def all_functions(self) -> Iterator[Function]:
        """Every function and method that the module defines at its top or in its classes."""

    def definition(self, name: str, line: int) -> FunctionValue | ClassValue | None:
        """The function or class of that name which stands at a line, if it is the module's."""

    def lookup(self, name: str) -> Value | None:
        """What the module binds to `name`; None if nothing."""

    def bind_defaults(self) -> None:
        """Bind the constants that the module's code, which is about to run, may bind again."""

    def all_imported(self) -> Iterator[Value | None]:
        """The values of the names that imports bind."""

    def deferred(self, binding: ImportOutline) -> Value:
        """The value of an import statement that is executed."""

    def imported(self, binding: ImportOutline) -> Value:
        """The value that an import binds, now that it is read."""

    def ancestor(self, base: Value) -> Value:
        """A base class of Python's library as it is written down; any other as it is."""

    def resolve_text(self, text: str) -> Value:
        """The value of a dotted name in source text (a base class); UNKNOWN for anything more complicated."""
