"""What the interpreter says as it executes a function abstractly. Rules listen to these and know nothing else.

Every event carries its place (the expression that would have to change), the context in which XLA meets it, and the
values as far as they are known. Events are about what the code does, never about whether that is good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from msgspec import field

from ...syntax import nodes as cst
from ..domain.values import Creation, Dimension, Slice, Tensor, Value
from ..files.unit import Location
from ..record import Record
from .contexts import CallPath, Context


class Event(Record):
    """Something happens at `place`. `in_tensor_loop`: inside a loop that runs in the graph (`for .. in tf.range`,
    a `tf.while_loop` or `tf.map_fn` body). `of_host`: host code does it to what XLA compiles, so that it counts whether
    or not reports on the host are wanted."""

    of_host: ClassVar[bool] = False

    location: Location
    context: Context
    trail: CallPath | None
    in_tensor_loop: bool


class ShareVariable(Event):
    """The step of a strategy assigns to a variable that was created outside of its scope, or uses the weights of such a
    `tf.Module`; place: the use. `made`: where the variable or the module was created."""

    made: Creation
    assigned: bool


class CompiledEntry(Event):
    """A function begins that XLA compiles, or that Keras may have compiled; place: its name. `name`: with its class;
    `asked`: by `jit_compile=True` of its own."""

    name: str
    asked: bool


class BuildTraced(Event):
    """Keras runs a method that is a `tf.function` of its own, and a layer that the object holds has no weights before;
    place: the name of the method. `name`: with its class; `layer`: the attribute; `keras_is_known`: that it is 3."""

    name: str
    layer: str
    keras_is_known: bool


class MakeWeights(Event):
    """Traced code makes an object of a class of the project that has weights; place: the call. `name`: of the class;
    `maker`: its method that adds them, empty where layers do that it holds; `keras`: which Keras runs it."""

    name: str
    maker: str
    keras: int


class BranchOn(Event):
    """`if`, `elif` or a ternary on `test`; place: the test. `statement` is the `cst.If` or `cst.IfExp`; `names`: what
    the function's own names are before it."""

    test: Value
    form: str  # "if", "elif", "ternary", "comprehension if", "match"
    statement: cst.CSTNode
    names: Mapping[str, Value]


class LoopWhile(Event):
    """`while test`; place: the test. `names`: what the function's own names are before the loop."""

    test: Value
    statement: cst.CSTNode
    names: Mapping[str, Value]


class IterateOver(Event):
    """A tensor is iterated (`iterable` is the tensor, also for `range(t)`, `zip(t, ..)`); place: the iterable.

    `form`: "for", "for range" (`for i in range(t)` as a statement), "comprehension", "unpacking", "star", or the
    builtin that iterates: "range", "enumerate", "zip", "list", "tuple", "sorted", "reversed", "map", "filter",
    "max", "min", "sum", "any", "all".
    """

    iterable: Value
    form: str


class TruthOf(Event):
    """Python asks a tensor for its truth inside an expression; place: the whole expression.

    `form`: "and", "or", "not", "chained comparison", "in", "sorted", "max", "min", "any", "all" (`max(a, b)` compares).
    `tested`: this expression is itself the test of an `if` or `while`, so `BranchOn`/`LoopWhile` reports it too.
    `names`: what the function's own names are before it.
    """

    operands: tuple[Value, ...]
    form: str
    tested: bool
    names: Mapping[str, Value]


class AssertOn(Event):
    """`assert test`; place: the test."""

    test: Value


class HostRead(Event):
    """Python or NumPy wants a tensor's content now; place: the whole call.

    `reader`: "bool", "int", "float", "complex", "len", "round", ".numpy", ".item", ".tolist", ".eval", "np.sum",
    "list index", "format", ... `names`: what the function's own names are before it, for the builtins.
    """

    value: Value
    reader: str
    names: Mapping[str, Value] = field(default_factory=dict)


class IndexWith(Event):
    """`base[index]` on a tensor; place: the whole subscript. `store`: it is assigned to (`x[i] = v`)."""

    base: Value
    index: tuple[Value | Slice, ...]
    node: cst.Subscript
    store: bool


class DivideBy(Event):
    """`left // right` or `left % right` on tensors, or `left / right` on integers; place: the whole operation.
    `sign`: "//", "%" or "/"."""

    left: Value
    right: Value
    sign: str


class UseDimension(Event):
    """A dimension that is None here is used as a number; place: the whole operation. `used_by`: the canonical name of
    what is called, or "operator", "comparison", "equality", "index". `argument`: the parameter, or side, that it is.
    """

    dimension: Dimension
    used_by: str
    argument: str


class MixNumber(Event):
    """A float tensor, or one of unknown dtype in a division, is combined with what AutoGraph makes of `int(t)`; place:
    the whole operation. `number`: where it does."""

    left: Value
    right: Value
    number: Location


UNSEEN: Final = "(unseen)"
"""Stands in an `ApiCall` for the name of what is called in compiled code, takes what may be a tensor, and is neither in
the files nor a function of a library that is known."""


class ApiCall(Event):
    """A call of a library's function by its canonical name ("tf.boolean_mask"); place: the whole call.

    `arguments`: by parameter name as the library's signature binds them, `argument_nodes` the same as syntax; surplus
    positional arguments are named "*0", "*1", ... Defaults are not filled in. Where an object is called, the constants
    are among them that it was built with and that decide whether the call compiles. `owner`: the object, of a method.
    """

    api: str
    arguments: Mapping[str, Value]
    argument_nodes: Mapping[str, cst.BaseExpression]
    result: Value
    node: cst.Call
    owner: Value | None = None


class TakeElements(Event):
    """Compiled code takes elements of a `tf.data` pipeline, which only the host has; place: what is iterated, or the
    call. `operation`: what it has to run for that."""

    operation: str


class TensorflowCall(Event):
    """Code that Keras calls, and that JAX may run, passes data to a function of TensorFlow; place: the call. `api` and
    what follows it: as in `ApiCall`. `made`: TensorFlow was to make all of it, of what Keras passes."""

    api: str
    arguments: Mapping[str, Value]
    argument_nodes: Mapping[str, cst.BaseExpression]
    node: cst.Call
    made: bool


class TensorflowAttribute(Event):
    """Such code asks a tensor for what TensorFlow's tensors and their shapes alone have; place: the attribute.
    `instead`: what each backend has of it, None: nothing."""

    attribute: str
    instead: str | None


class OwnStep(Event):
    """A model has a step of its own that takes the data alone; place: its name. `name`: that of the method."""

    name: str


class ReadInt32(Event):
    """Code uses a variable of 32-bit integers; place: its name there. `created`: where it is."""

    created: Location


class MutateInLoop(Event):
    """Python state that lives outside is changed inside a tensor loop or a branch on a tensor; place: the mutation.

    `form`: "append", "extend", "insert", "pop", "new key", "attribute", "nonlocal", ...; `inside`: "loop" or "branch".
    Also a variable ("assign") in a "function" of `keras.ops.cond` or a loop, which JAX traces by itself.
    """

    form: str
    inside: str
    target: str


class AssignUnheld(Event):
    """Code that Keras calls assigns to a variable of its module, which no object holds; place: the call."""

    target: str


class KeepState(Event):
    """Python state that outlives the trace is changed while tracing, outside of tensor loops; place: the change.

    `form`: "number" (`n += 1`), "attribute", "item", "new key", "global", "nonlocal", or a container's method;
    `tensor`: the graph's tensor is kept; `asked`: code asks before whether something is kept."""

    form: str
    target: str
    tensor: bool
    asked: bool


class UseKept(Event):
    """Host code uses the tensor of a trace that compiled code keeps at `kept`; place: what it reads, `target`."""

    of_host: ClassVar[bool] = True

    target: str
    kept: Location


class KeepBuilt(Event):
    """A layer's `build` keeps tensors as its `targets`, and Keras 3 calls it while it traces; place: the first
    assignment. `traced`: the method that calls the layer, at `call`; `known`: a setting or the project says that it is
    Keras 3."""

    of_host: ClassVar[bool] = True
    targets: tuple[str, ...]
    traced: str
    call: Location
    known: bool


class ReadChanged(Event):
    """Traced code reads a Python value from before the trace that host code changes, at `changed`; place: its name."""

    changed: Location


class LeaveLoop(Event):
    """`break`, `continue` or `return` that a tensor decides, out of a loop; place: the statement.

    `loop`: "python" (a loop unrolled at trace time) or "tensor".
    """

    form: str
    loop: str


class JoinBranches(Event):
    """The branches of a tensor conditional leave `name` in forms that XLA cannot join; place: the whole conditional's
    test. `reason`: "one branch only", "rank", "dtype", "structure", "no return", "bounds" (of dynamic shapes).
    `functions`: the branches are functions, whose results are meant, of a call, which is the place."""

    name: str
    reason: str
    functions: bool = False


class Consume(Event):
    """A tensor of bounded dynamic shape feeds an operation; place: the consumer. `consumer` is the canonical name of
    the API, or "index" / "operator"; `node` the syntax; `tensor.bounded` says where the shape became dynamic."""

    tensor: Tensor
    consumer: str
    node: cst.CSTNode
    arguments: Mapping[str, Value]


class FeedCompiled(Event):
    """Host code hands values to something that XLA compiles; place: the call. The context is that of the callee.

    `values`: those that are not the same each time, `nodes` the same as syntax; of a dataset, each element is passed
    over. `target`: the identity
    of what is compiled. `certain`: XLA compiles it on every device, not only where Keras finds an accelerator.
    `often`: it is seen to happen more than once, or in a function. `traced`: a Python number is part of the trace.
    `single`: it asks for the results of all that it passes, and nothing is seen to ask for them again. `trains`: it may
    leave some of it out, as an evaluation may not.
    """

    of_host: ClassVar[bool] = True

    values: tuple[Value, ...]
    nodes: tuple[cst.CSTNode, ...]
    target: object
    certain: bool
    often: bool
    traced: bool
    single: bool
    trains: bool


class FeedText(Event):
    """Code that is not compiled passes a tensor of strings to a function that XLA compiles; place: the argument."""

    of_host: ClassVar[bool] = True


class FeedForeign(Event):
    """Host code hands tensors of PyTorch to TensorFlow; place: the call. `made`: where they are asked for; `model`: a
    model gets them, not a data set."""

    of_host: ClassVar[bool] = True

    made: Location
    model: bool


class HoldLayer(Event):
    """A model that XLA is to compile holds a layer of Keras's own; place: where the layer is made. `api`: its class, or
    that of the layer inside of it; `cudnn`: cuDNN runs it on a GPU; `untrained`: where all layers of the model stand
    that run on Keras 2 and so have a gradient without a kernel there, if this is the first of them, and which are known
    to stand behind weights."""

    of_host: ClassVar[bool] = True

    api: str
    cudnn: bool
    untrained: tuple[tuple[Location, bool], ...]


class MakeCompiled(Event):
    """Host code wraps a function by `tf.function(jit_compile=True)` or its relatives; place: the call or decorator.
    `arguments`: the settings, by name; `in_loop`: each iteration of a Python loop makes one."""

    of_host: ClassVar[bool] = True

    arguments: Mapping[str, Value]
    in_loop: bool


class CallOwnCompiled(Event):
    """Host code calls a compiled function that it has made itself just before; place: the definition, or what makes it.
    `again`: a Python loop calls the code around it, so that each of its rounds makes and compiles one, or a server for
    each request. `model`: it is a model, "part": of layers that another one has, or "whole", with which Keras is asked
    to predict; "trained": which Keras trains."""

    of_host: ClassVar[bool] = True

    again: bool
    model: str = ""


class CreateAgain(Event):
    """Host code calls a `tf.function` that was traced before with an optimizer, created at `made`, which has no
    variables yet; place: the call. `name`: of the function; `first`: an earlier call, where that is another one."""

    of_host: ClassVar[bool] = True

    name: str
    made: Location
    first: Location | None


class UnrollLoop(Event):
    """A Python loop over a known number of rounds in code that is traced; place: what it runs over. `setting`: what
    decides that number, of which only the default is known; `inner`: the rounds of the loops in it, in each of its
    own."""

    rounds: int
    statement: cst.For
    setting: str = ""
    inner: int = 1
