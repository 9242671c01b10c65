"""What is alive while a function is executed abstractly, and what is kept of it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from functools import cache
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.values import (
    UNKNOWN,
    Array,
    Class,
    Creation,
    Dependence,
    Dict,
    Function,
    FunctionValue,
    Instance,
    Module,
    Origin,
    Scope,
    Sequence,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..files.unit import Location, Unit
from ..record import Record, replace
from .contexts import CallPath, Context, ContextKind, Tracing, Trained
from .events import Event


class Compilation(Record):
    """What `tf.function` (or a relative) makes of a function. `entry` and `keras`: as in `Context`."""

    kind: ContextKind
    autograph: bool
    entry: str
    jit: bool = False  # XLA compiles it by itself, whoever calls it
    signature: bool = False  # with an input signature, of which Python numbers are made tensors
    one_shape: bool = False  # the signature leaves no dimension open, so an argument of another shape raises
    open: tuple[Origin | None, ...] = ()  # what leaves dimensions of the parameters open, one after the other
    gradient: bool = False  # `tf.custom_gradient`: it returns its result and the function of its gradient
    by_keras: bool = False  # nobody but Keras decides whether XLA compiles it
    perhaps: bool = False  # a strategy compiles it, if that is the TPU's
    keras: Tracing | None = None
    backends: frozenset[Backend] | None = None  # as in `Context`
    aside: bool = False  # likewise
    direct: bool = False  # likewise
    trained: Trained | None = None  # likewise
    decorator: Location | None = None  # `tf.function` as a decorator, which makes it of the function
    static: frozenset[str] | None = None  # of JAX: the parameters that stay Python values; all else becomes tensors

    @property
    def is_plain(self) -> bool:
        """A library calls the function as it is: `tf.while_loop` its body."""
        return self.kind is ContextKind.OPEN and not (self.autograph or self.by_keras)

    @property
    def context(self) -> Context:
        """The context of what is called from outside."""
        return Context(
            self.kind,
            self.autograph,
            self.entry,
            by_keras=self.by_keras,
            keras=self.keras,
            backends=self.backends,
            aside=self.aside,
            direct=self.direct,
            trained=self.trained,
        )


_Node = TypeVar("_Node", bound=cst.CSTNode)


class Arguments(Struct, eq=False):
    """The arguments of a call. `rest`: what an unpacked `*args` of unknown length holds, behind which `trailing` stand;
    `rest_keywords` likewise.

    `unknown`: the caller is not seen, so that a parameter without an argument may be anything.
    """

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    rest: Value | None = None
    rest_keywords: Value | None = None
    unknown: bool = False
    inputs: bool = False  # what is not known of is an input of a compiled function
    nodes: list[cst.BaseExpression] = field(default_factory=list)
    keyword_nodes: dict[str, cst.BaseExpression] = field(default_factory=dict)
    trailing: list[Value] = field(default_factory=list)
    trailing_nodes: list[cst.BaseExpression] = field(default_factory=list)
    left: frozenset[str] = frozenset()  # parameters for which no caller has an argument, seen or not

    def get(self, position: int, keyword: str) -> Value | None:
        """The argument given at `position` or as `keyword`."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[position] if position < len(self.positional) else None

    def all_values(self) -> tuple[Value, ...]:
        """All that is passed, of what is unpacked what it holds."""
        unpacked = (value for value in (self.rest, self.rest_keywords) if value is not None)
        return (*self.positional, *self.trailing, *self.keywords.values(), *unpacked)

    def node_at(self, position: int, call: _Node) -> _Node | cst.BaseExpression:
        """The expression of a positional argument, or the call where there is none."""
        return self.nodes[position] if position < len(self.nodes) else call

    def with_tensors(self) -> Arguments:
        """What a layer, or a compiled function inside another, makes of arrays: tensors that are constants."""
        given = (*self.positional, *self.keywords.values())
        if not any(isinstance(value, Array) for value in given):
            return self  # most calls
        keywords = {name: _converted(value) for name, value in self.keywords.items()}
        return replace(self, positional=list(map(_converted, self.positional)), keywords=keywords)

    def by_name(
        self, parameters: tuple[str, ...] | None = None
    ) -> tuple[dict[str, Value], dict[str, cst.BaseExpression]]:
        """Values and their syntax by parameter; surplus positional ones as "*0", "*1", ..."""
        names = parameters or ()
        if len(self.positional) > len(names):
            names = (*names, *_surplus(len(self.positional) - len(names)))
        bound = dict(zip(names, self.positional, strict=False)) | self.keywords
        nodes = dict(zip(names, self.nodes, strict=False)) | self.keyword_nodes
        if self.rest is not None:
            bound["*rest"] = self.rest
        return bound, nodes

    def renamed(self, names: Mapping[str, str]) -> Arguments:
        """The same under other keywords."""
        keywords, nodes = (
            {names.get(name, name): item for name, item in given.items()}
            for given in (self.keywords, self.keyword_nodes)
        )
        return replace(self, keywords=keywords, keyword_nodes=nodes)


@cache
def _surplus(number: int) -> tuple[str, ...]:
    return tuple(f"*{position}" for position in range(number))


class Use(IntFlag):
    """What the uses of a structure of tensors say: that it is one tensor, that it is none, that it would matter."""

    NUMBER = 1
    CONTAINER = 2
    EITHER = 4


class Aliases(Struct, eq=False):
    """What the caller of a function has for its parameters: the names behind what is not known, and its own parameters
    that are structures of tensors."""

    names: dict[str, frozenset[str]] = field(default_factory=dict)
    structures: dict[cst.Param, cst.Param] = field(default_factory=dict)

    def note(self, parameter: cst.Param, given: Value | None) -> None:
        match given:
            case Unknown(names, part=False):
                self.names[parameter.name.value] = names
            case Structure(parameter=cst.Param() as outer):
                self.structures[parameter] = outer


def _converted(value: Value) -> Value:
    return Tensor(Dependence.STATIC, value.dtype) if isinstance(value, Array) else value


def returned_to_host(value: Value) -> Value:
    """What a compiled function returns to code that may be eager."""
    match value:
        case Tensor():
            return value.with_(returned=True)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(returned_to_host, items)))
        case Dict(entries, element):
            return Dict({key: returned_to_host(item) for key, item in entries.items()}, element)
        case _:
            return value


@dataclass(frozen=True, slots=True)
class Entry:
    """A function that something outside the project calls, or will: where analysis starts."""

    value: FunctionValue
    context: Context
    arguments: Arguments


class Act(StrEnum):
    """What code that runs line by line does to the device at a place."""

    READ = "read"  # the value of a tensor, on the host
    ASSIGN = "assign"  # to a variable
    SET = "set"  # a number of an object of Keras's, which compiled code keeps
    FREEZE = "freeze"  # it sets whether the weights of an object of Keras's are trained
    RENEW = "renew"  # it gives a name or an attribute a new model or optimizer of Keras's
    STEP = "step"  # of training: it records for gradients, or calls what is compiled and does
    OPTIMIZE = "optimize"  # an optimizer takes a step
    FIT = "fit"  # Keras trains
    RUN = "run"  # it calls what is compiled and trains nothing
    MODEL = "model"  # it calls a model, operation by operation
    PREDICT = "predict"  # Keras predicts
    BUILD = "build"  # it makes a model of its inputs and outputs: what was called before it, is part of it
    ELSEWHERE = "elsewhere"  # it calls what is not known, or has nothing to do with TensorFlow


LINE_BY_LINE: Final = "line by line"  # how a step runs that nobody compiles
UNKNOWN_MODEL: Final = "unknown model"  # what is known of it: that it is called as one
_IN_LOOPS: Final = (Act.STEP, Act.MODEL, Act.PREDICT)  # what matters where a loop does it
WEIGHTS: Final = "weights"  # what is known of a model that is a function: that it multiplies with them
ROWS: Final = "row by row"  # how a loop on the host reads a tensor


class Done(Record):
    """An act at a place. `reader`: as in `HostRead`; of a step, `LINE_BY_LINE` where it runs so; of a model that is
    called or predicts, `UNKNOWN_MODEL` where it may be a compiled function, too, `WEIGHTS` where it multiplies with
    them; `held`: it reads a variable."""

    act: Act
    location: Location
    reader: str = ""
    held: bool = False


class Steady(Record):
    """How the condition at a location comes out each time; `setting`: what decides that, of which only the default is
    known."""

    location: Location
    outcome: bool
    setting: str = ""


class Summary(Struct, eq=False):
    """One analysis of one function for one pattern of arguments in one context.

    `calls`: the analyses it led to, each with the place of the call. `host_only`: it does what only eager code can;
    `trains`: it takes gradients, or has an optimizer take a step; `evaluates`: it computes a loss or updates a metric
    of a library, or has Keras run steps (`fit`, `evaluate`, `predict`).
    """

    name: str
    location: Location | None
    function: Function | None
    context: Context
    value: Value = UNKNOWN
    events: list[Event] = field(default_factory=list)
    calls: list[tuple[Location, Summary]] = field(default_factory=list)
    given: Mapping[str, Value] = field(default_factory=dict)  # what the parameters are, as far as it is known
    structures: set[str] = field(default_factory=set)  # parameters that a use says are no single tensor
    raised: list[Instance] = field(default_factory=list)  # exceptions of the project that leave it
    operands: set[str] = field(default_factory=set)  # parameters that arithmetic says are numbers or tensors
    sizes: set[str] = field(default_factory=set)  # parameters that decide a shape, as Python numbers mostly do
    uses: dict[cst.Param, Use] = field(default_factory=dict)  # of parameters that are structures of tensors
    host_only: bool = False
    trains: bool = False
    evaluates: bool = False
    looped: set[Summary] = field(default_factory=set)  # what it calls in a Python loop
    repeats: set[Summary] = field(default_factory=set)  # .. and not for another model in each iteration
    equips: set[Summary] = field(default_factory=set)  # what it calls for a model that it makes itself
    steps: set[Summary] = field(default_factory=set)  # what it has a strategy run: it is a loop around compiled steps
    layers: set[Function] = field(default_factory=set)  # of which it makes layers of Keras, `Lambda(function)`
    predicts: set[str] = field(default_factory=set)  # its parameters, and attributes of its object, that it has predict
    mapped: set[object] = field(default_factory=set)  # what it has input pipelines run: identities of functions
    # By which functions: of objects that are like any of their class; and the steps of models that Keras runs.
    creates: set[object] = field(default_factory=set)
    finished: bool = False
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # of containers that it is passed, in place
    skipped: list[cst.CSTNode] = field(default_factory=list)  # code that this pattern of arguments cannot get to
    steady: dict[cst.If, Steady | None] = field(default_factory=dict)  # conditions of host code: None where they change
    # The sides of those that chance decides, as far as each of them is run time and again.
    by_chance: dict[cst.CSTNode, frozenset[str]] = field(default_factory=dict)
    wrapped: bool = False  # a decorator of unknown intent stands around it
    traced_apart: Location | None = None  # where it is made a `tf.function` of its own
    serves: bool = False  # it is a `tf.function` that takes text: a graph, which is not meant for XLA
    yields_in: list[Scope | None] = field(default_factory=list)  # the scopes in which it yields
    optimized: list[Creation] = field(default_factory=list)  # the optimizers that it has take a step
    done: dict[Done, None] = field(default_factory=dict)  # what it does to the device, where it runs line by line
    leaves: Scope | None = None  # the scope that it enters and leaves open for its caller
    assigns: bool = False  # it changes a variable

    @property
    def tells(self) -> bool:
        """Whether a rule may say something of this analysis by itself, or of a loop that has it run again and again."""
        return bool(self.events) or any(done.act in _IN_LOOPS for done in self.done)

    def trail(self, location: Location | None = None, parent: CallPath | None = None) -> CallPath | None:
        """The way to here: from `parent` by the call at `place`, or as an entry point, which a module is not."""
        if location is None:
            if self.function is None:
                return None
            location = self.function.label
        converted, compiled = self.context.converted, self.context.kind is ContextKind.XLA
        return CallPath(self.name, location, parent, self.wrapped, self.traced_apart, converted, self.trains, compiled)


class Jumps(Struct, eq=False):
    """The names where a loop is left, by `break`, and where its next iteration is gone on to, by `continue`."""

    out: list[dict[str, Value]] = field(default_factory=list)
    on: list[dict[str, Value]] = field(default_factory=list)


class Frame(Struct, eq=False):
    """A function in execution. `env` is None where execution cannot get to; `parent` is the scope closed over.

    `assumed`: names taken to be tensors because a use said so; `evidence`: names that a use now says are tensors;
    `doubts`: names whose being a tensor would have mattered; `loop`: depth of loops that run in the graph;
    `branch`: depth of branches on tensors; `conditional`: depth of branches on what is not known;
    `unjoined`: names that the branches of a tensor conditional leave in forms that cannot be joined, and why.
    """

    unit: Unit
    module: Module
    context: Context
    summary: Summary
    env: dict[str, Value] | None
    parent: Frame | None = None
    function: Function | None = None
    owner: Class | None = None
    bound: Value | None = None
    loop: int = 0
    branch: int = 0
    loop_around: int = 0  # how many of `loop` are the caller's
    python_loop: int = 0
    looped: bool = False  # a Python loop on the host is around it, here or in a caller
    counted: Location | None = None  # the call in a loop that makes it as often each time
    compared: set[Location] = field(default_factory=set)  # what makes numbers vary that the test at hand compares
    bounded: frozenset[Location] = frozenset()  # .. and those that a condition around this, or before it, has compared
    guards: int = 0  # conditions around it, of whatever kind
    conditional: int = 0
    assumed: Mapping[str, Value] = field(default_factory=dict)
    evidence: set[str] = field(default_factory=set)
    doubts: set[str] = field(default_factory=set)
    unpacked: set[str] = field(default_factory=set)  # names of what is taken apart as a tuple
    iterated: set[str] = field(default_factory=set)  # names of what is iterated as people iterate lists alone
    shapes: set[str] = field(default_factory=set)  # names that are given whole as the shape of something
    undefined: set[str] = field(default_factory=set)
    asked: set[Location] = field(default_factory=set)  # where shapes become bounded whose dimensions are asked for None
    inputs: frozenset[str] = frozenset()  # parameters that a compiled function makes tensors of
    step_inputs: set[Origin] = field(default_factory=set)  # of what a step that runs line by line is passed
    entered: bool = False  # what is compiled begins here, or a step of a strategy
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    unjoined: dict[str, tuple[Location, str]] = field(default_factory=dict)
    crossing: dict[Location, set[str]] = field(default_factory=dict)  # which side has the larger bound of what is read
    sides: dict[str, Any] = field(default_factory=dict)  # what those of conditions left, by how these are written
    outer_names: list[set[str]] = field(default_factory=list)
    passed: frozenset[str] = frozenset()  # parameters whose objects are older than the tensor loop around the call
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    jumps: Jumps = field(default_factory=Jumps)
    left: dict[str, Value] | None = None  # the names at `return`: functions made here see them later
    made_for: dict[Function, frozenset[Backend]] = field(default_factory=dict)  # by these alone
    branch_returns: Location | None = None  # a tensor conditional that returns on one side only
    alternatives: list[tuple[Location, int]] = field(
        default_factory=list
    )  # .. and the number of returns before the other
    is_module: bool = False
    caller: Frame | None = None  # of a function of Python's library: who called it
    call: cst.CSTNode | None = None  # .. and where
    unsure_yields: bool = False  # some are made under a condition, or by a loop


def note_use(frame: Frame, parameter: cst.Param, use: Use) -> None:
    """Remember what is done with a parameter that is a structure of tensors."""
    uses = frame.summary.uses
    uses[parameter] = uses.get(parameter, Use(0)) | use


def note_size(frame: Frame, value: Value) -> None:
    """Remember that a value decides a shape, or the values in a list or tuple do."""
    match value:
        case Unknown(names, compared=False, part=False):
            frame.summary.sizes |= names
        case Sequence(items=tuple(items)):
            for item in items:
                note_size(frame, item)
