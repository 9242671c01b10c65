"""What the interpreter says of how a program is set up: compiled, fed, distributed, and run step by step by a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Class, Compiled, Creation, Value
from ..files.unit import Location
from .contexts import ContextKind
from .events import Event


class Setup(Event):
    """Something that decides how a program is compiled, fed or distributed; it is said of eager code on the host, too.
    `order`: which of the events of this kind comes first when the program runs."""

    order: int


class SetupCall(Setup):
    """A call that sets a program up; place: the whole call. `api`: the canonical name of the function, of the class
    that is made, or of a method (".fit" where the owner is not known); `owner`: what a method is called on; `keras`:
    the version that runs it, 2 or 3; `keras_is_known`: somebody says that it is."""

    api: str
    keras: int
    keras_is_known: bool
    owner: Value | None
    arguments: Mapping[str, Value]
    argument_nodes: Mapping[str, cst.BaseExpression]
    result: Value
    node: cst.Call


class HoldModels(Setup):
    """A model of a class of the project is compiled that has other models for attributes, or it runs and has optimizers
    of its own, or a training step; place: the call. `cls`: the class; `made`: where the model was created, if there is
    one such place; `parts`: what it has, each with the name of the attribute. `keras`, `keras_is_known`: as of a call
    that sets a program up."""

    keras: int
    keras_is_known: bool
    cls: Class
    made: Creation | None
    parts: Sequence[tuple[str, ApiObject]]


class DrawOnce(Setup):
    """Python draws a random number in a function that `tf.data` traces; place: the call, `node`."""

    node: cst.Call


class ComputeInPipeline(Setup):
    """A function that `tf.data` traces calls what holds weights, or takes gradients; place: the call, or what makes the
    tape. `called`: the layer or model; None: gradients are taken."""

    called: Value | None


class NeedGpu(Setup):
    """Code needs a GPU, and has not asked whether there is one; place: what does. `form`: "index", "divide", "divide
    tensor" (by the number of GPUs), "batch", "rate" (a size, a learning rate that is a multiple of it), "copy" (of a
    model, to each GPU), "assert", or "refuse": a condition ends the program."""

    form: str


class PassBatch(Setup):
    """A loop of host code passes a compiled step of training a batch of NumPy's, which Python has made; place: the
    argument. `node`: the call."""

    node: cst.Call


class TakeGradients(Setup):
    """A `GradientTape` records what the code computes; place: what makes it, or the name of it. `again`: more than
    once, or in a function. `matters`: a target is set, or eager code has an optimizer take steps."""

    again: bool
    matters: bool


class RunEagerly(Setup):
    """`model.run_eagerly = True`, of a model that Keras has compiled; place: the statement. `how`: as it was."""

    how: Compiled


class LoopOfSteps(Setup):
    """Host code trains in a loop, or calls what is compiled, and reads tensors in each iteration; place: what the loop
    goes through, or its test. `reads`: the places, each with the reader of a `HostRead` ("text" is made of it, "bool":
    its truth is asked); `needed`: what is read decides what the next step is given; `usual`: conditions that hold by
    default, each with the setting; `by_keras`: the place is a callback's method for each batch; `trains`: a step is;
    `to_sum`: no more is made of what is read than sums, time and again, or nothing but of the last."""

    reads: tuple[tuple[Location, str], ...]
    needed: bool
    usual: tuple[tuple[Location, str], ...] = ()
    by_keras: bool = False
    trains: bool = True
    to_sum: bool = False


class AssignEachStep(Setup):
    """Host code assigns to variables, one by one, beside each compiled step of training; place: the call that does.
    `loop`: as the place of a `LoopOfSteps`; None: Keras's own loop, which calls a callback at each batch."""

    loop: Location | None


class SetBetweenSteps(Setup):
    """Host code sets a number of an object of Keras's, which compiled code keeps, between steps; place: what is set.
    `loop`: as above."""

    loop: Location | None


class SetTrainable(Setup):
    """Host code sets whether weights are trained after a step was traced, which keeps what it trains; place: what is
    set. `trained`: where steps ran before, and run again; None: Keras calls a callback between two epochs. `by_keras`:
    it is Keras that trains."""

    trained: Location | None
    by_keras: bool


class RenewBetweenSteps(Setup):
    """Host code gives a name or an attribute a new model or optimizer, which a compiled step reads that was traced with
    the one before; place: what is assigned to. `trained`: where the step runs; `of_keras`: it is the optimizer of a
    model that Keras trains."""

    trained: Location
    of_keras: bool


class LoopOfCalls(Setup):
    """Host code calls a model line by line in a loop that trains nothing, or has Keras `predict`, at `calls`; place: as
    above. `trains`: Keras is also passed what it predicted; `open`: nobody knows how often it runs (`while`); `unsure`:
    nor, for a condition that stays, whether it does so; `unknown`: nor what is called, but that it is called as a model
    is; `by_chance`: chance decides each time whether that is done; `others`: loops that run the same calls; `beside`:
    the loop has compiled steps in each iteration as well, and the place is the first of the calls; `by_hand`: it calls
    none, but multiplies with weights itself."""

    calls: tuple[Location, ...]
    reads: tuple[tuple[Location, str], ...]
    predicts: bool
    trains: bool
    needed: bool
    open: bool
    unsure: bool
    unknown: bool = False
    by_chance: bool = False
    others: tuple[Location, ...] = ()
    beside: bool = False
    by_hand: bool = False

    @property
    def is_quiet(self) -> bool:
        """Whether the loop is hardly worth a word: it cannot be otherwise, or it is not known to run often."""
        return self.needed or self.open or self.unsure or self.unknown or self.context.kind is ContextKind.OPEN


class Program(Event):
    """All calls that set up one program, in the order in which they run, one of a function once for each of the values
    that callers have it work on; place: the first of them. `trains`: it trains a model, by a step of its own or
    Keras's; `taped`: the first tape of a step of its own; `files`: the paths of those whose code it runs."""

    steps: tuple[SetupCall, ...]
    trains: bool
    taped: Location | None
    files: frozenset[str]
