"""Models and layers that host code calls line by line: nobody compiles them, but what a target would compile."""

from __future__ import annotations

from typing import Final

from ...sources.outline import ImportOutline
from ...syntax import nodes as cst
from ..domain.values import Api, ApiObject, FunctionValue, Instance, Static, Unknown, Value, Variation
from ..domain.varying_shapes import GROWN, JOINED, READ, filtered
from ..library.api import kind_of
from ..record import replace
from .contexts import NOT_TRACED, ContextKind
from .eager_steps import asks_for_graph
from .feeding import passed_values, report_feed
from .frames import UNKNOWN_MODEL, Act, Arguments, Frame
from .interface import Interpreter, method_value
from .piped_models import report_piped_call
from .receivers import visible_classes

_OF_LAYERS: Final = ("layer", "model")
_OF_PREDICT: Final = frozenset(("batch_size", "callbacks", "steps", "verbose"))  # what Keras's method takes
_RUN_BY_KERAS: Final = ("__call__", "__init__", "build", "call", "compile", "summary")


def report_eager_object(
    interpreter: Interpreter,
    frame: Frame,
    called: ApiObject | Instance,
    arguments: Arguments,
    node: cst.BaseExpression,
) -> None:
    """Host code calls a model or a layer line by line, if this is one."""
    report_piped_call(interpreter, frame, called, node)
    match called:
        case Instance(cls) if cls.is_keras("model"):
            _report_model(interpreter, frame, arguments, node, called)
        case Instance(cls) if cls.is_keras("layer"):
            _report_layer(interpreter, frame, node, own=True)
        case ApiObject(api=name) if kind_of(name) == "model":
            _report_model(interpreter, frame, arguments, node)
        case ApiObject(api=name) if kind_of(name) == "layer":
            _report_layer(interpreter, frame, node, own=False)


def report_past_keras(
    interpreter: Interpreter, frame: Frame, called: FunctionValue, arguments: Arguments, node: cst.CSTNode
) -> None:
    """Host code has a model run its `call` past Keras: `self.call(tokens)`; not as a part of another one's."""
    inside = frame.function is not None and frame.function.name in _RUN_BY_KERAS
    if frame.context.kind not in NOT_TRACED or called.compiled is not None or inside:
        return
    match called.bound, node:
        case Instance(cls) as model, cst.Call() if called.function.name == "call" and cls.is_keras("model"):
            _report_model(interpreter, frame, arguments, node, model)


def report_unknown_model(
    interpreter: Interpreter, frame: Frame, callee: Value, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """Host code calls what is not known, as a model is called: whether it is training is for the call to say; or has
    it predict, with what Keras alone takes there. What is imported is mostly a function, and a method that a class here
    has under that name decides by itself."""
    if frame.context.kind not in NOT_TRACED or type(callee) is not Unknown:
        return
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("predict")) as method, args=[_, *_]) if (
            not _OF_PREDICT.isdisjoint(arguments.keywords) and not _is_function(frame, method)
        ):
            interpreter.note_done(frame, Act.PREDICT, node, UNKNOWN_MODEL)
    match arguments.keywords.get("training"), node:
        case Static(constant=bool()), cst.Call(func=called, args=[_, _, *_]) if not _is_function(frame, called):
            interpreter.note_done(frame, Act.MODEL, node, UNKNOWN_MODEL)


def _is_function(frame: Frame, called: cst.BaseExpression) -> bool:
    """Whether what is called, or the module that has it, is imported, or a class that a file defines or imports has a
    method of that name."""
    match called:
        case cst.Name(value=name) | cst.Attribute(value=cst.Name(value=name)) if _is_imported(frame, name):
            return True
        case cst.Attribute(attr=cst.Name(value=method)):
            return any(method in cls.functions for cls in visible_classes(frame.module))
        case _:
            return False


def _is_imported(frame: Frame, name: str) -> bool:
    bindings = frame.module.outline.bindings.get(name, ())
    return any(isinstance(binding, ImportOutline) for binding in bindings)


def _report_model(
    interpreter: Interpreter,
    frame: Frame,
    arguments: Arguments,
    node: cst.BaseExpression,
    model: Instance | None = None,
) -> None:
    """Host code calls a model line by line: what gets longer from call to call, or has the size of its file, a target
    compiles for each size."""
    target, context = interpreter.options.target, frame.context
    if _puts_together(interpreter, frame, node):
        return
    call = None if model is None else model.cls.find("call")
    if call is None or not asks_for_graph(interpreter.decorated(method_value(call, model))):
        interpreter.note_done(frame, Act.MODEL, node)
    if target is None or context.kind not in NOT_TRACED or context.pipeline or frame.module.is_test:
        return
    entry = f"`{frame.unit.code(node)}`, whose operations run one by one"
    step = replace(context, kind=ContextKind.XLA, autograph=True, entry=entry, eager=True)
    given = [(filtered(value, _differs), where) for value, where in passed_values(arguments, node)]
    # Whoever calls what nothing is seen to call may compile the loop as well, which unrolls it.
    report_feed(interpreter, frame, step, given, node, node, certain=context.kind is ContextKind.HOST)


def _report_layer(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression, *, own: bool) -> None:
    """Host code calls a layer of the project's `own` as others call their model, or one that such an object holds:
    `model.embedding(word)`. Or it runs a method of a model, past Keras, which calls layers line by line:
    `model.encode(x)`; the first of them stands for all."""
    function, model = frame.function, frame.bound
    if not own and _is_held(interpreter, frame, node):
        interpreter.note_done(frame, Act.MODEL, node)
        return
    if own and not (isinstance(model, Instance) and any(map(model.cls.is_keras, _OF_LAYERS))):
        if not _is_made_here(frame, node):
            interpreter.note_done(frame, Act.MODEL, node)
        return
    if function is None or function.name in _RUN_BY_KERAS or not isinstance(model, Instance):
        return
    if model.cls.is_keras("model") and not any(done.act is Act.MODEL for done in frame.summary.done):
        interpreter.note_done(frame, Act.MODEL, node)


def _is_held(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> bool:
    """Whether what is called is the layer of a model, or of a layer, whose own method this is not."""
    inside = frame.function is not None and frame.function.name in _RUN_BY_KERAS
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name() | cst.Attribute() as holder)) if not inside:
            match interpreter.evaluate(frame, holder), frame.bound:
                case Instance(cls), Instance(own) if cls is own:
                    return False
                case Instance(cls), _:
                    return any(map(cls.is_keras, _OF_LAYERS))
    return False


def _puts_together(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> bool:
    """Whether a function calls a layer where it makes it, `Reshape(shape)(x)`, before it calls a model: what it makes
    is part of another model."""
    if frame.function is None:
        return False
    around = [*frame.unit.around(node)]
    for part, made in frame.unit.told(_called_as_made, frame.function.node.body):
        if frame.unit.span(part) < frame.unit.span(node) and part not in around:
            value = interpreter.evaluate(frame, made)
            if isinstance(value, Api) and kind_of(value.name) == "layer":
                return True
    return False


def _called_as_made(body: cst.CSTNode) -> list[tuple[cst.Call, cst.BaseExpression]]:
    """The calls in code of what a call makes, each with what is called for that."""
    found = []
    for part in cst.within(body):
        match part:
            case cst.Call(func=cst.Call(func=made)):
                found.append((part, made))
    return found


def _is_made_here(frame: Frame, node: cst.BaseExpression) -> bool:
    """Whether a function makes the layer that it calls, as one does that puts a model together."""
    match node:
        case cst.Call(func=cst.Name(value=name)) if frame.function is not None:
            made = (part for part in cst.within(frame.function.node.body) if isinstance(part, cst.Assign))
            targets = (each.target for part in made if isinstance(part.value, cst.Call) for each in part.targets)
            return any(isinstance(target, cst.Name) and target.value == name for target in targets)
        case cst.Call(func=called):
            return any(isinstance(part, cst.Call) for part in cst.within(called))
        case _:
            return False


def _differs(variation: Variation) -> bool:
    return variation.kind in JOINED or variation.kind in (GROWN, READ)
