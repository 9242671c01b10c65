"""Events, and the evidence of what is a tensor: what parts report as they execute code."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from ...sources.outline import ImportOutline
from ...syntax import nodes as cst
from ..domain.kinds import as_tensor, options
from ..domain.values import UNKNOWN, ApiObject, Dependence, Static, Structure, Tensor, Unknown, Value
from ..files.unit import Location
from ..library.call_kinds import SHAPE_ONLY
from ..library.keras_classes import kind_of
from ..library.optimizers import OPTIMIZES, has_state
from ..library.strategies import RUNS, sets_up
from ..program.backends import NAMES
from ..program.signs import Shows, Sign
from .captured import is_answered
from .contexts import NOT_TRACED, Context, ContextKind
from .eager_steps import report_minimizing
from .events import UNSEEN, ApiCall, AssertOn, BranchOn, Event, HostRead, IterateOver, LoopWhile, TruthOf
from .frames import ROWS, Act, Arguments, Done, Frame, Use, note_use
from .interface import Interpreter
from .replicas import report_parted_owner, report_parted_read
from .setup_events import Setup, SetupCall

# What can be said of a call of Python's library without a look at its source.
_OF_LIBRARIES: Final = (HostRead, IterateOver, TruthOf)
_OF_READING: Final = (HostRead, BranchOn, LoopWhile, AssertOn, TruthOf, IterateOver)
# The libraries whose calls rules judge, and Python's own.
_SEEN: Final = frozenset(("tf", "tnp", "keras", "tf_keras", "np", "scipy", *sys.stdlib_module_names, *dir(builtins)))
# What reads no value of a tensor, or makes no number of it.
_STATIC_READS: Final = SHAPE_ONLY | {"len", "tf.constant", "tf.constant_initializer"}
_ROW_BY_ROW: Final = frozenset(("comprehension", "enumerate", "for", "zip"))  # ways to go through all of a tensor
_KERAS: Final = frozenset(("keras", "keras_cv", "keras_hub", "keras_nlp"))  # what imports Keras


class Reporting(Interpreter):
    """Events, and the evidence of what is a tensor."""

    def emit(self, frame: Frame, kind: type[Event], node: cst.CSTNode, /, **content: Any) -> None:
        """Say that something happens at `node`; on the host only where that was asked for, or it sets a program up."""
        if frame.caller is not None and frame.call is not None:
            # What Python's library does is done by who called it.
            if issubclass(kind, _OF_LIBRARIES):
                self.emit(frame.caller, kind, frame.call, **content)
            elif issubclass(kind, BranchOn | LoopWhile):
                self.emit(frame.caller, HostRead, frame.call, value=content["test"], reader="bool")
            return
        if kind is HostRead:
            report_parted_read(self, frame, content["reader"], content["value"], node)
        elif kind is IterateOver:
            report_parted_owner(self, frame, content["iterable"], node)
        if issubclass(kind, _OF_READING):
            for value, reader in _read(kind, content):
                self.note_done(frame, Act.READ, node, reader, value)
        if issubclass(kind, Setup):
            self.set_up = True
        elif frame.context.kind is ContextKind.HOST and not self.options.include_host:
            return
        if is_answered(frame, kind, content):
            return
        event = kind(Location(frame.unit, node), frame.context, None, frame.loop > 0, **content)
        frame.summary.events.append(event)

    def note_done(self, frame: Frame, act: Act, node: cst.CSTNode, reader: str = "", value: Value = UNKNOWN) -> None:
        """Remember what code that runs line by line does to the device; `value`: what it reads."""
        while frame.caller is not None:
            node, frame = frame.call or node, frame.caller
        context = frame.context
        if context.pipeline or frame.module.is_test:
            return
        if context.kind not in NOT_TRACED and not (act is Act.READ and _is_taped_line_by_line(frame)):
            return
        if _is_of_device(value):
            tensor = as_tensor(value, Dependence.STATIC)
            held = tensor is not None and tensor.variable
            frame.summary.done.setdefault(Done(act, Location(frame.unit, node), reader, held))
            self.set_up |= act in (Act.STEP, Act.MODEL, Act.PREDICT)

    def report_unseen(self, frame: Frame, name: str | None, arguments: Arguments, node: cst.BaseExpression) -> None:
        """Say that compiled code calls what is not known, where that is wanted; `name`: of a library's."""
        if UNSEEN not in self.wanted_apis or frame.context.kind is not ContextKind.XLA:
            return
        seen = name is not None and name.partition(".")[0] in _SEEN
        static = all(isinstance(value, Static) for value in (*arguments.positional, *arguments.keywords.values()))
        if isinstance(node, cst.Call) and not (seen or static):
            self.emit(frame, ApiCall, node, api=UNSEEN, arguments={}, argument_nodes={}, result=UNKNOWN, node=node)

    def order_of(self, node: cst.CSTNode) -> int:
        """When the program comes to a place for the first time, as a number among others."""
        return self._orders.setdefault(node, len(self._orders))

    def emit_on_host(
        self, frame: Frame, kind: type[Event], node: cst.CSTNode, context: Context, /, **content: Any
    ) -> None:
        """Say what host code does to what XLA compiles, `context`; a test says nothing of how code is meant to run."""
        if not frame.module.is_test:
            event = kind(Location(frame.unit, node), context, None, frame.loop > 0, **content)
            frame.summary.events.append(event)

    def show(self, frame: Frame, shows: Shows, node: cst.CSTNode, text: str) -> None:
        """Note what stands at `node` and shows whether XLA compiles the program."""
        self.project.show(frame.module, shows, Sign(Location(frame.unit, node).line, text))

    def show_backend(self, frame: Frame, value: Value, node: cst.CSTNode, *, read_at_import: bool = False) -> None:
        """Note that a program tells Keras what to run on; what is computed may be either. Keras reads some of
        that once, as it is imported, so that a module which has imported it before says nothing."""
        too_late = read_at_import and frame.is_module and _imports_keras(frame, Location(frame.unit, node).line)
        if not self.project.files.jax or too_late:
            return
        match value:
            case Static(constant=str() as name, setting=None):
                shows = NAMES.get(name)
            case _:
                shows = Shows.ON_SEVERAL
        if shows is not None:
            self.show(frame, shows, node, f"`{frame.unit.code(node).strip()}`")

    def note_eager_read(self, frame: Frame, value: Value) -> None:
        """Python reads `value`: what a compiled function returned to code that nobody compiles, say."""
        if frame.context.kind is ContextKind.OPEN:
            returned = any(isinstance(option, Tensor) and option.returned for option in options(value))
            frame.summary.host_only = frame.summary.host_only or returned

    def doubt_tensor(self, frame: Frame, value: Value) -> None:
        """Remember that it would matter whether `value` is a tensor."""
        if type(value) is Unknown:
            frame.doubts |= value.names
        elif type(value) is Structure and value.parameter is not None:
            note_use(frame, value.parameter, Use.EITHER)

    def confirm_tensor(self, frame: Frame, value: Value) -> None:
        """A use that only tensors have: the parameter that `value` is, is one."""
        if frame.conditional:
            return  # what one branch takes for a tensor may be something else in the others
        if isinstance(value, Unknown) and len(value.names) == 1 and not value.compared and not value.part:
            (name,) = value.names
            frame.evidence.add(name)
        elif isinstance(value, Structure) and value.parameter is not None and not value.several:
            note_use(frame, value.parameter, Use.NUMBER)

    def confirm_number(self, frame: Frame, value: Value) -> None:
        """A use that numbers and tensors alone have: what `value` is, is no list, tuple or dict of them."""
        match value:
            case Unknown(names, compared=False, part=False) if len(names) == 1 and not frame.conditional:
                frame.summary.operands |= names
            case Structure():
                self.confirm_tensor(frame, value)

    def refute_tensor(self, frame: Frame, value: Value) -> None:
        """A use that a tensor has not: what `value` comes from is a structure, a flag or an object."""
        if type(value) is Unknown and value.names:
            frame.summary.structures |= value.names

    def confirm_structure(self, frame: Frame, value: Value) -> None:
        """A question that is asked of what may be a list, a tuple or a dict of tensors."""
        self.refute_tensor(frame, value)
        if isinstance(value, Structure) and value.parameter is not None:
            note_use(frame, value.parameter, Use.CONTAINER)

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
        """Say that a call sets the program up. Calls of models and metrics inside a step are of interest in the step of
        a strategy, those of losses and what makes tensors in all that XLA compiles, and of losses in a scope, too."""
        if not isinstance(node, cst.Call) or frame.module.is_test:
            return
        inside = frame.context.in_replica
        compiled = frame.context.kind is ContextKind.XLA
        method = name.rpartition(".")[2]
        of_loss = isinstance(owner, ApiObject) and kind_of(owner.api) == "loss"
        told = of_loss or method in RUNS or (frame.context.eager and method in OPTIMIZES)
        for optimizer in (owner, bound.get("optimizer")):
            if isinstance(optimizer, ApiObject) and optimizer.made is not None and has_state(optimizer):
                frame.summary.optimized.append(optimizer.made)
        if method in OPTIMIZES and not compiled:
            frame.summary.trains = True
            self.note_done(frame, Act.OPTIMIZE, node)
            self.show(frame, Shows.TRAINING, node, "an optimizer's step")
        if method == "minimize":
            report_minimizing(self, frame, bound.get("loss", bound.get("*0")), node)
        of_step = method in ("__call__", "update_state") and not (of_loss and (compiled or frame.context.scope))
        if not inside and (of_step or (compiled and sets_up(name) and not told)):
            return
        order = self.order_of(node)
        nodes = {parameter: nodes.get(parameter, node) for parameter in bound}
        self.emit(
            frame,
            SetupCall,
            node,
            order=order,
            api=name,
            keras=self.keras_version(frame.module),
            keras_is_known=self.said_keras(frame.module) is not None,
            owner=owner,
            arguments=bound,
            argument_nodes=nodes,
            result=result,
            node=node,
        )


def _read(kind: type[Event], content: Mapping[str, Any]) -> Iterator[tuple[Value, str]]:
    """The tensors whose values an event wants on the host, and what reads them."""
    if issubclass(kind, HostRead) and content["reader"] not in _STATIC_READS:
        yield content["value"], content["reader"]
    elif issubclass(kind, BranchOn | LoopWhile | AssertOn):
        yield content["test"], "bool"
    elif issubclass(kind, TruthOf) and content["operands"]:
        yield content["operands"][0], "bool"
    elif issubclass(kind, IterateOver) and content["form"] in _ROW_BY_ROW:
        yield content["iterable"], ROWS


def _is_taped_line_by_line(frame: Frame) -> bool:
    """Whether code is judged as a target would compile it, which runs line by line: what a tape records on the host."""
    return frame.context.eager and frame.summary.context.kind in NOT_TRACED


def _is_of_device(value: Value) -> bool:
    """Whether a device has computed a value, or holds it: what is made of shapes and constants alone, is known."""
    tensor = as_tensor(value, Dependence.STATIC)
    return tensor is None or tensor.variable or tensor.dependence > Dependence.SHAPE


def _imports_keras(frame: Frame, line: int) -> bool:
    """Whether a module imports Keras above a line, at its top."""
    outline = frame.module.outline
    imports = (it for it in chain(*outline.bindings.values(), outline.stars) if isinstance(it, ImportOutline))
    return any(it.line < line and it.level == 0 and it.module.partition(".")[0] in _KERAS for it in imports)
