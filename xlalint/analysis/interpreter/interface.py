"""The interpreter as its parts and the models of library calls see it: shared state, and what each part provides.

Every part is a class over this interface that knows no other part; `interpreter` puts them together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from collections.abc import Sequence as Ordered
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar

from ...syntax import nodes as cst
from ..budget import Clock
from ..domain.values import UNKNOWN, Class, Function, FunctionValue, Instance, Module, Value
from ..files.unit import Location, Unit
from ..program.creators import Creators
from ..program.project import Project
from ..program.signs import Shows
from .attribute_writes import AttributeWrites
from .contexts import PIPELINE, Context, Tracing
from .events import Event
from .frames import Act, Aliases, Arguments, Compilation, Entry, Frame, Summary


@dataclass(frozen=True, slots=True)
class Options:
    """What the analysis is asked. `keras`: 2 or 3, None to decide by imports; `keras_near`: the same for the files of a
    folder; `include_host`: report on eager code; `target`: what the program is to run on, where XLA compiles
    its steps; `creators`: ask first who creates objects of which classes."""

    keras: int | None = None
    keras_near: Mapping[Path, int | None] = field(default_factory=dict)
    include_host: bool = False
    target: str | None = None
    creators: bool = True


# What executes one kind of node.
_T = TypeVar("_T")
Handlers: TypeAlias = Mapping[type[cst.CSTNode], Callable[..., _T]]

# A model of a library function, of a method, of a method of Python's containers. None: the tables say what it returns.
FunctionModel: TypeAlias = Callable[["Interpreter", Frame, Arguments, cst.BaseExpression], Value | None]
MethodModel: TypeAlias = Callable[["Interpreter", Frame, Value, Arguments, cst.BaseExpression], Value | None]
ContainerModel: TypeAlias = Callable[["Interpreter", Frame, Value, Arguments, cst.BaseExpression], Value]


@dataclass(frozen=True, eq=False)
class Models:
    """What is registered with an interpreter: models of library functions by canonical name, of methods by class and
    name (`tf.data.Dataset.map`) or by name alone (`.map`), and of the methods of Python's containers."""

    functions: Mapping[str, FunctionModel]
    methods: Mapping[str, MethodModel]
    containers: Mapping[str, ContainerModel]


class Interpreter(ABC):
    """Executes functions of a project abstractly: once for each pattern of arguments and context."""

    # What executes an expression or a statement of a kind: each part has a share of them.
    EXPRESSIONS: ClassVar[Handlers[Value]]
    STATEMENTS: ClassVar[Handlers[None]]

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        self.project = project
        self.clock = clock
        self.models = models
        self.options = options
        self.wanted_apis = wanted_apis
        self.entries: list[Entry] = []
        self.host_roots: list[Summary] = []
        self.memo: dict[Any, Summary] = {}
        self.writes = AttributeWrites(self.memo)
        self.analyses: dict[tuple[Hashable, ...], int] = {}  # of each function, as `execution_limits` counts
        self.latest: dict[tuple[Hashable, ...], tuple[Hashable, ...]] = {}  # where `memo` has the latest of alike calls
        self.instances: dict[Class, Instance] = {}
        self.creators: Creators | None = None  # who creates the objects of the program, once that is known
        self.switches: dict[Class, frozenset[str]] = {}  # with which a class compiles nothing
        self.visible_records: dict[Module, list[Class]] = {}  # that a file defines or imports by name
        self.orphans: list[tuple[FunctionValue, Context]] = []
        self.local_classes: list[Class] = []
        self.called: dict[object, Function] = {}  # compiled functions that the project calls itself, by identity
        self.piped: dict[object, Function] = {}  # functions that input pipelines run, by identity
        self.strategies = project.files.strategies  # whether scopes and makings are followed
        self.set_up = False  # whether any call that sets a program up was met
        self.module_frames: dict[Module, Frame] = {}
        self.defaults: dict[cst.BaseExpression, Value] = {}  # of parameters of functions at the top of a module
        self.fragments: dict[Module, Summary] = {}
        self.handed: set[Class] = set()  # of which Keras is passed objects, and compiled models
        self.flags: dict[str, dict[Module, Value]] = {}  # of `absl.flags`, with what they are by default in each script
        self.parser_defaults: dict[Module, dict[str, Value]] = {}  # what `argparse` is told to hold in any case
        self.allocated: dict[tuple[Class, cst.CSTNode, Summary], Instance] = {}
        self.kept_by_build: dict[Class, dict[Location, str]] = {}  # tensors that attributes of layers hold
        self._entered: set[Any] = set()
        self._orders: dict[cst.CSTNode, int] = {}

    # -- reporting.py -------------------------------------------------------------------------------------------------

    @abstractmethod
    def emit(self, frame: Frame, kind: type[Event], node: cst.CSTNode, /, **content: Any) -> None:
        """Say that something happens at `node`; on the host only where that was asked for, or it sets a program up."""

    @abstractmethod
    def report_unseen(self, frame: Frame, name: str | None, arguments: Arguments, node: cst.BaseExpression) -> None:
        """Say that compiled code calls what is not known, where that is wanted; `name`: of a library's."""

    @abstractmethod
    def order_of(self, node: cst.CSTNode) -> int:
        """When the program comes to a place for the first time, as a number among others."""

    @abstractmethod
    def emit_on_host(
        self, frame: Frame, kind: type[Event], node: cst.CSTNode, context: Context, /, **content: Any
    ) -> None:
        """Say what host code does to what XLA compiles, `context`; a test says nothing of how code is meant to run."""

    @abstractmethod
    def note_done(self, frame: Frame, act: Act, node: cst.CSTNode, reader: str = "", value: Value = UNKNOWN) -> None:
        """Remember what code that runs line by line does to the device; `value`: what it reads."""

    @abstractmethod
    def show(self, frame: Frame, shows: Shows, node: cst.CSTNode, text: str) -> None:
        """Note what stands at `node` and shows whether XLA compiles the program."""

    @abstractmethod
    def show_backend(self, frame: Frame, value: Value, node: cst.CSTNode, *, read_at_import: bool = False) -> None:
        """Note that a program tells Keras what to run on; what is computed may be either."""

    @abstractmethod
    def note_eager_read(self, frame: Frame, value: Value) -> None:
        """Python reads `value`: what a compiled function returned to code that nobody compiles, say."""

    @abstractmethod
    def doubt_tensor(self, frame: Frame, value: Value) -> None:
        """Remember that it would matter whether `value` is a tensor."""

    @abstractmethod
    def confirm_tensor(self, frame: Frame, value: Value) -> None:
        """A use that only tensors have: the parameter that `value` is, is one."""

    @abstractmethod
    def confirm_number(self, frame: Frame, value: Value) -> None:
        """A use that numbers and tensors alone have: what `value` is, is no list, tuple or dict of them."""

    @abstractmethod
    def refute_tensor(self, frame: Frame, value: Value) -> None:
        """A use that a tensor has not: what `value` comes from is a structure, a flag or an object."""

    @abstractmethod
    def confirm_structure(self, frame: Frame, value: Value) -> None:
        """A question that is asked of what may be a list, a tuple or a dict of tensors."""

    @abstractmethod
    def report_setup(
        self,
        frame: Frame,
        name: str,
        owner: Value | None,
        bound: Mapping[str, Value],
        nodes: Mapping[str, cst.BaseExpression],
        result: Value,
        node: cst.BaseExpression,
    ) -> None:
        """Report a call that sets the program up."""

    # -- names.py -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def lookup(self, frame: Frame, name: str) -> Value | None:
        """The value bound to a name, from the inside out; None if nothing binds it."""

    @abstractmethod
    def undefined(self, frame: Frame, name: str) -> Value:
        """A name that nothing binds: of a fragment, if the file is one."""

    @abstractmethod
    def bind(self, frame: Frame, name: str, value: Value) -> None:
        """Assign to a name in the scope that owns it."""

    @abstractmethod
    def rebind(self, frame: Frame, name: str, value: Value) -> None:
        """An object was changed in place that has this name: in the scope that owns it, or in a module."""

    # -- iteration.py -------------------------------------------------------------------------------------------------

    @abstractmethod
    def iterate(self, frame: Frame, value: Value, node: cst.BaseExpression, form: str) -> Value:
        """`value` as something iterated at `node`, said as an event where it is a tensor."""

    @abstractmethod
    def element(self, frame: Frame, iterable: Value, node: cst.CSTNode, in_graph: bool = False) -> Value:
        """What iterating `iterable` yields; `in_graph`: by a loop that runs in the graph."""

    @staticmethod
    @abstractmethod
    def counter(frame: Frame, node: cst.CSTNode, count: Value | None = None, detail: str = "") -> Value:
        """The number of a loop's iteration: on the host another Python number each time, while a function is traced a
        constant of its trace."""

    @staticmethod
    @abstractmethod
    def number(frame: Frame, node: cst.CSTNode) -> Value:
        """A Python number that is read from data."""

    # -- expressions.py -----------------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """The value of an expression; says on the way what it does."""

    @abstractmethod
    def evaluate_name(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """The value of an expression that names something, an attribute or a key: text is put together for it."""

    @abstractmethod
    def remember_local(self, frame: Frame, value: FunctionValue) -> FunctionValue:
        """A function made inside another: analysed on its own later, should nobody be seen to call it."""

    # -- operations.py ------------------------------------------------------------------------------------------------

    @abstractmethod
    def negate(self, frame: Frame, node: cst.UnaryOperation, value: Value, tested: bool) -> Value: ...

    @abstractmethod
    def operate(
        self,
        frame: Frame,
        node: cst.CSTNode,
        sign: cst.BaseBinaryOp | cst.BaseAugOp,
        left: Value,
        right: Value,
    ) -> Value:
        """The value of `left sign right`."""

    # -- comparisons.py -----------------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate_test(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """A condition: as `evaluate`, knowing that the whole of it is tested anyway."""

    @abstractmethod
    def compare_values(self, frame: Frame, sign: cst.BaseCompOp, left: Value, right: Value) -> Value: ...

    # -- special_methods.py -------------------------------------------------------------------------------------------

    @abstractmethod
    def special(
        self, frame: Frame, owner: Value, name: str, arguments: Ordered[Value], node: cst.CSTNode
    ) -> Value | None:
        """What a special method of an object returns; None where the object has none of the name."""

    @abstractmethod
    def overloaded(self, frame: Frame, sign: cst.CSTNode, left: Value, right: Value, node: cst.CSTNode) -> Value | None:
        """The value of an operator or comparison that one of the sides defines itself."""

    @abstractmethod
    def as_iterable(self, frame: Frame, value: Value, node: cst.CSTNode) -> Value:
        """What an object gives that says itself how it is iterated; anything else as it is."""

    # -- subscripts.py ------------------------------------------------------------------------------------------------

    @abstractmethod
    def index_element(self, frame: Frame, element: cst.BaseSlice) -> Value: ...

    @abstractmethod
    def subscript(
        self, frame: Frame, node: cst.Subscript, base: Value, index: tuple[Value, ...], store: bool = False
    ) -> Value:
        """`base[index]`; on a tensor also said as an event."""

    # -- attributes.py ------------------------------------------------------------------------------------------------

    @abstractmethod
    def attribute(self, frame: Frame, owner: Value, name: str, node: cst.BaseExpression) -> Value:
        """The value of `owner.name`, read at `node`."""

    @abstractmethod
    def set_attribute(self, frame: Frame, owner: Value, name: str, value: Value, by: cst.CSTNode | None = None) -> None:
        """`owner.name = value`, joined with what was there; `by` code, which calls the setter of a property."""

    @staticmethod
    @abstractmethod
    def decorators_of(function: Function) -> frozenset[str]:
        """The decorators as they are written, without arguments."""

    # -- calls.py -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def call(self, frame: Frame, callee: Value, arguments: Arguments, node: cst.BaseExpression) -> Value:
        """The value of calling `callee`."""

    @abstractmethod
    def report_call(
        self,
        frame: Frame,
        name: str,
        bound: Mapping[str, Value],
        nodes: Mapping[str, cst.BaseExpression],
        result: Value,
        node: cst.BaseExpression,
        owner: Value | None = None,
    ) -> None:
        """Say that a library function is called, and that it is passed a bounded dynamic shape."""

    @abstractmethod
    def enter(self, value: FunctionValue, compilation: Compilation | Context, arguments: Arguments, tag: str) -> None:
        """Register a function that is called from outside (a compiled function, a loss, a callback), once."""

    @abstractmethod
    def enter_compiled(self, value: FunctionValue) -> None:
        """Register a compiled function as called from outside."""

    @abstractmethod
    def keras_version(self, module: Module) -> int:
        """2 where the settings, the project's requirements or an import of `tf_keras` say so, else 3."""

    @abstractmethod
    def said_keras(self, module: Module) -> int | None:
        """The version of Keras that the settings or the project's requirements name, 2 or 3; None where they do not."""

    @abstractmethod
    def keras_runs(self, module: Module) -> tuple[bool, Tracing]:
        """Whether AutoGraph converts what Keras runs, and which Keras that is."""

    @classmethod
    @abstractmethod
    def functions_in(cls, value: Value) -> tuple[FunctionValue, ...]:
        """The functions of the project that calling `value` may run."""

    @abstractmethod
    def run_in_pipeline(self, frame: Frame, arguments: Arguments, context: Context = PIPELINE) -> None:
        """The functions of an input pipeline run on the host, each traced by itself; XLA never sees them."""

    # -- statements.py ------------------------------------------------------------------------------------------------

    @abstractmethod
    def execute_body(self, frame: Frame, body: cst.BaseSuite | Ordered[cst.BaseStatement]) -> None:
        """Execute a block until its end, or until execution cannot go on."""

    # -- assignments.py -----------------------------------------------------------------------------------------------

    @abstractmethod
    def assign(
        self, frame: Frame, target: cst.BaseExpression, value: Value, statement: cst.CSTNode | None = None
    ) -> None:
        """Bind a target of any form to a value; `statement` is the assignment, if it is one."""

    @abstractmethod
    def mutated_call(self, frame: Frame, node: cst.BaseExpression, form: str, added: Value | None = None) -> None:
        """A method that changes its owner, and may add something to it."""

    @abstractmethod
    def assign_quietly(self, frame: Frame, target: cst.BaseExpression, value: Value) -> None:
        """Bind an attribute or item that a method changed in place: the change itself has been said."""

    @abstractmethod
    def is_from_before(self, frame: Frame, value: Value) -> bool:
        """Whether an object that a call passes was there before the tensor loop around the call began."""

    @abstractmethod
    def owner_of_method(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What stands before the dot where a container's method is called; None where another function is passed it."""

    # -- branches.py --------------------------------------------------------------------------------------------------

    @abstractmethod
    def compare_returns(self, frame: Frame) -> None:
        """Say where a conditional on a tensor returns what XLA cannot join with what is returned otherwise."""

    @abstractmethod
    def report_unjoined(self, frame: Frame, name: str) -> None:
        """A name is read, here or in a function inside, that the branches of a tensor conditional do not join."""

    # -- patterns.py --------------------------------------------------------------------------------------------------

    @abstractmethod
    def matches(self, frame: Frame, pattern: cst.MatchPattern, value: Value, node: cst.BaseExpression) -> bool | None:
        """Bind the names of a pattern; whether it matches, where that is known."""

    # -- loops.py -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def report_leaving(self, frame: Frame, node: cst.CSTNode, form: str) -> None: ...

    # -- classes.py ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def class_attributes(self, cls: Class) -> dict[str, Value]:
        """What the body of a class binds, besides methods."""

    @abstractmethod
    def run_class_body(
        self, cls: Class, outside: Frame, body: Ordered[cst.BaseStatement], unit: Unit | None = None
    ) -> dict[str, Value]:
        """Execute statements of a class's body."""

    @abstractmethod
    def local_class(self, frame: Frame, cls: Class) -> None:
        """A class that a function defines: Keras may call it all the same."""

    @abstractmethod
    def canonical_instance(self, cls: Class) -> Instance:
        """An instance made by nobody in particular: what every `self` is that no caller made."""

    @abstractmethod
    def instantiate(self, frame: Frame, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
        """`C(..)`. Objects made with plain settings are all the same to the analyser."""

    @abstractmethod
    def is_record(self, cls: Class) -> bool: ...

    @abstractmethod
    def number_fields(self, cls: Class) -> frozenset[str]:
        """The fields of a record that its class declares as Python numbers."""

    @abstractmethod
    def any_record(self, cls: Class) -> dict[str, Value]:
        """The fields of a record that somebody else made: a default says what kind of value to expect, not which."""

    # -- modules.py ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def module_frame(self, module: Module) -> Frame:
        """The frame of a module's own names."""

    @abstractmethod
    def note(self, module: Module, line: int, error: Exception, said: str) -> None:
        """Report code that Python or the interpreter cannot read."""

    @abstractmethod
    def unit_of(self, module: Module, line: int, stretch: object) -> Unit | None: ...

    # -- functions.py -------------------------------------------------------------------------------------------------

    @abstractmethod
    def invoke(
        self, frame: Frame | None, value: FunctionValue, arguments: Arguments, node: cst.CSTNode | None
    ) -> Value:
        """The value of calling a function of the project."""

    @abstractmethod
    def analyse(
        self,
        frame: Frame | None,
        value: FunctionValue,
        arguments: Arguments,
        context: Context,
        call: cst.CSTNode | None = None,
    ) -> Summary | None:
        """The summary of a function for these arguments in this context; None where it is not analysed any deeper."""

    @abstractmethod
    def note_trouble(self, function: Function, error: Exception) -> None: ...

    # -- parameters.py ------------------------------------------------------------------------------------------------

    @abstractmethod
    def bind_parameters(
        self,
        scope: Frame,
        node: cst.FunctionDef | cst.Lambda,
        value: FunctionValue,
        arguments: Arguments,
        crossing: bool,
    ) -> tuple[dict[str, Value], Aliases]:
        """The names that the parameters start with, and what the caller has for them."""

    @abstractmethod
    def annotated_value(self, frame: Frame, annotation: cst.BaseExpression) -> Value | None:
        """What a type annotation says of a value; None when it says nothing."""

    # -- decorating.py ------------------------------------------------------------------------------------------------

    @abstractmethod
    def decorated(self, value: FunctionValue, frame: Frame | None = None) -> FunctionValue:
        """The function as its decorators leave it: compiled, marked, or simply itself."""

    @abstractmethod
    def register_in(self, module: Module) -> None:
        """Run the decorators that may put what they are given into a container, as the module does when it is read."""

    @abstractmethod
    def register_own(self, module: Module, lines: range) -> None:
        """The same for what a module defines in some lines, by its own decorators."""

    @abstractmethod
    def has_another_result(self, function: Function) -> bool:
        """Whether a decorator of the project makes something else of what the function returns."""


def method_value(method: Function, bound: Value | None) -> FunctionValue:
    """A method with what it is bound to, in the scope around its class."""
    scope = method.owner.scope if method.owner is not None else None
    return FunctionValue(method, scope, bound)
