"""Models that are created again and again, of which Keras compiles each: `keras.Model(model.inputs, layer.output)` of
the layers of another one, and models that are loaded or built where they predict, or are trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, ApiObject, ClassValue, Function, FunctionValue, Instance, Value
from ..files.unit import Location
from ..library import api
from .contexts import NOT_TRACED, Context, ContextKind
from .events import CallOwnCompiled
from .feeding import is_kept
from .frames import Arguments, Frame, Summary
from .interface import Interpreter
from .requests import answers_requests

_INPUTS: Final = ("input", "inputs")  # what a model that is there already has
# What may be done to a model that is the same each time; a call that is none of these may train it.
_LEAVES: Final = frozenset(
    (
        *("compile", "count_params", "evaluate", "load_weights", "make_predict_function", "predict"),
        *("predict_on_batch", "summary"),
    )
)
_DEEPEST: Final = 4  # functions that return what another one does


def report_remade(interpreter: Interpreter, frame: Frame, context: Context, node: cst.Call) -> None:
    """Say that a model predicts that has been created for it: by each iteration of the loop around it, or by each call
    of the function."""
    if frame.guards or not isinstance(node.func, cst.Attribute):
        return
    model = node.func.value
    for number, (around, body, looped) in enumerate(_blocks_around(frame, node)):
        made = _creation(model, body)
        if made is None:
            continue
        if number == 0 and _is_of_model(interpreter, frame, made, body):
            interpreter.emit_on_host(frame, CallOwnCompiled, made, context, again=looped, model="part")
        elif _is_again(interpreter, frame, model, made, around) and _makes_anew(interpreter, frame, made):
            again = looped or answers_requests(interpreter, frame)
            interpreter.emit_on_host(frame, CallOwnCompiled, made, context, again=again, model="whole")
        return
    _note_predicting(frame, model)


def report_remade_for(
    interpreter: Interpreter, frame: Frame, value: FunctionValue, summary: Summary, arguments: Arguments, node: cst.Call
) -> None:
    """Say likewise that a function is called with a model, or an object that has one, which has been created for it."""
    if frame.guards or frame.context.kind not in NOT_TRACED or frame.context.pipeline:
        return
    names = [parameter.name.value for parameter in _parameters(value.function.node)]
    _, nodes = arguments.by_name(tuple(names if value.bound is None else names[1:]))
    context = Context(ContextKind.XLA, False, f"the prediction of `{summary.name}`", by_keras=True)
    for name in sorted(summary.predicts):
        owner, _, attribute = name.rpartition(".")
        match node.func:
            case cst.Attribute(value=held) if owner and value.bound is not None:
                passed: cst.BaseExpression | None = held
            case _:
                passed = nodes.get(name)
        if passed is None:
            continue
        for around, body, looped in _blocks_around(frame, node):
            made = _creation(passed, body)
            if made is None:
                continue
            anew = _holds_anew(interpreter, frame, made, attribute) if owner else _makes_anew(interpreter, frame, made)
            if anew and _is_again(interpreter, frame, passed, made, around, node, of_object=bool(owner)):
                again = looped or answers_requests(interpreter, frame)
                interpreter.emit_on_host(frame, CallOwnCompiled, made, context, again=again, model="whole")
            break
        else:
            if not owner:
                _note_predicting(frame, passed)


def _note_predicting(frame: Frame, model: cst.BaseExpression) -> None:
    """Note that a function has the model predict that it is passed, or that its object has."""
    if frame.function is None:
        return
    match model:
        case cst.Name(value=name) if name in {each.name.value for each in _parameters(frame.function.node)}:
            frame.summary.predicts.add(name)
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=attribute)):
            frame.summary.predicts.add(f"self.{attribute}")


def _parameters(node: cst.FunctionDef | cst.Lambda) -> tuple[cst.Param, ...]:
    return (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)


def report_retrained(interpreter: Interpreter, frame: Frame, context: Context, node: cst.Call) -> None:
    """Say that a model is trained that has been created for it, likewise: in each trial of a search, for each fold."""
    if frame.guards:
        return
    for _, body, looped in _blocks_around(frame, node):
        made = _creation(node.func.value, body) if isinstance(node.func, cst.Attribute) else None
        if made is not None:
            if not is_kept(frame.unit, made) and _makes_anew(interpreter, frame, made):
                interpreter.emit_on_host(frame, CallOwnCompiled, made, context, again=looped, model="trained")
            return


def _blocks_around(frame: Frame, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode, bool]]:
    """What is executed from its beginning each time, innermost first: loops, and the function; each with its body, and
    whether it is a loop."""
    for around in frame.unit.around(node):
        match around:
            case cst.For(body=body) | cst.While(body=body):
                yield around, body, True
            case cst.FunctionDef(body=body):
                yield around, body, False
                return


def _creation(model: cst.BaseExpression, block: cst.CSTNode) -> cst.Call | None:
    """The call in a block that creates a model."""
    match model:
        case cst.Call() as made:
            return made
        case cst.Name(value=name):
            found = dict(_assigned(block)).get(name)
            return found if isinstance(found, cst.Call) else None
        case _:
            return None


def _assigned(block: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The names that a block assigns in any case, each with its last value."""
    for statement in block.body if isinstance(block, cst.IndentedBlock) else ():
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
            ):
                yield name, value
            case cst.With(body=inner):
                yield from _assigned(inner)


def _is_of_model(interpreter: Interpreter, frame: Frame, made: cst.Call, block: cst.CSTNode) -> bool:
    """Whether a call creates a model of the inputs of another one."""
    match made:
        case cst.Call(func=maker, args=[cst.Arg(value=inputs), *_]):
            named = dict(_assigned(block)).get(inputs.value) if isinstance(inputs, cst.Name) else None
            return _are_of_model(named or inputs) and interpreter.evaluate(frame, maker) == Api("keras.Model")
        case _:
            return False


def _are_of_model(inputs: cst.BaseExpression) -> bool:
    """`model.input`, `[model.inputs]`."""
    match inputs:
        case cst.List(elements=[cst.Element(value=one)]):
            return _are_of_model(one)
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in _INPUTS
        case _:
            return False


def _is_again(
    interpreter: Interpreter,
    frame: Frame,
    model: cst.BaseExpression,
    made: cst.Call,
    around: cst.CSTNode,
    passing: cst.Call | None = None,
    *,
    of_object: bool = False,
) -> bool:
    """Whether a call makes a model that is the same each time: nothing that changes decides which, or trains it.
    `passing`: the call that it is passed to, with which that has it predict; `of_object`: an object has it, whose
    methods are known."""
    calls = [part for part in cst.within(around) if isinstance(part, cst.Call) and part is not passing]
    own = {id(part) for part in cst.within(made)}
    changing = _changing(around)
    if not _is_fixed(made, changing):
        return False
    match model:
        case cst.Name(value=name):
            for call in calls:
                match call.func:
                    case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=method)) if owner == name:
                        if of_object:
                            continue
                        if method not in _LEAVES or (method == "load_weights" and not _is_fixed(call, changing)):
                            return False
                    case _ if id(call) not in own and any(
                        isinstance(part, cst.Name) and part.value == name for arg in call.args for part in [arg.value]
                    ):
                        return False
    return True


def _holds_anew(interpreter: Interpreter, frame: Frame, made: cst.Call, attribute: str) -> bool:
    """Whether a call makes an object that makes a model for itself, the same each time, which no method trains."""
    match interpreter.evaluate(frame, made.func):
        case ClassValue(cls) if (function := cls.find("__init__")) is not None:
            held = dict(_attributes_assigned(function.node.body)).get(attribute)
            calls = [part for own in cls.functions.values() for part in cst.within(own.node.body)]
            return (
                isinstance(held, cst.Call)
                and _is_fixed(held, _changing(function.node))
                and _makes_anew(interpreter, interpreter.module_frame(function.module), held)
                and not any(_changes_attribute(part, attribute) for part in calls)
            )
        case _:
            return False


def _attributes_assigned(block: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The attributes that a method assigns in any case, each with its last value."""
    for statement in block.body if isinstance(block, cst.IndentedBlock) else ():
        match statement:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[
                            cst.AssignTarget(
                                target=cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=attribute))
                            )
                        ],
                        value=value,
                    )
                ]
            ):
                yield attribute, value


def _changes_attribute(part: cst.CSTNode, attribute: str) -> bool:
    """Whether a call may train the model that an attribute holds."""
    match part:
        case cst.Call(
            func=cst.Attribute(
                value=cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=held)), attr=cst.Name(value=method)
            )
        ) if held == attribute:
            return method not in _LEAVES
        case cst.Call(args=args):
            return any(
                isinstance(argument.value, cst.Attribute) and argument.value.attr.value == attribute
                for argument in args
            )
        case _:
            return False


def _changing(around: cst.CSTNode) -> set[str]:
    """The names that are other ones in another iteration, or in another call, and what is made of them."""
    match around:
        case cst.FunctionDef(body=body):
            names = {parameter.name.value for parameter in _parameters(around)} - {"self"}
            for name, value in _assigned(body):
                if any(isinstance(part, cst.Name) and part.value in names for part in cst.within(value)):
                    names.add(name)
            return names
        case cst.For(target=target):
            names = set(cst.names_in(target))
        case _:
            names = set[str]()
    targets = (part.target for part in cst.within(around) if isinstance(part, cst.AssignTarget | cst.AugAssign))
    return names.union(*map(cst.names_in, targets))


def _is_fixed(call: cst.Call, changing: set[str]) -> bool:
    parts = (part for argument in call.args for part in (argument.value, *cst.within(argument.value)))
    return not any(isinstance(part, cst.Name) and part.value in changing for part in parts)


def _makes_anew(interpreter: Interpreter, frame: Frame, made: cst.Call, depth: int = 0) -> bool:
    """Whether each call makes a model: of a library, of a class, or of a function that no decorator keeps from it."""
    match interpreter.evaluate(frame, made.func):
        case Api(name):
            return _is_model(api.call(name, {}, Location(frame.unit, made)))
        case ClassValue(cls):
            return cls.is_keras("model")
        case FunctionValue(function, compiled=None) if depth < _DEEPEST and not function.decorator_texts:
            returned = _returned(function)
            inner = interpreter.module_frame(function.module)
            return returned is not None and _makes_anew(interpreter, inner, returned, depth + 1)
        case _:
            return False


def _is_model(value: Value) -> bool:
    match value:
        case ApiObject(api=name, method=None):
            return api.kind_of(name) == "model"
        case Instance(cls=cls):
            return cls.is_keras("model")
        case _:
            return False


def _returned(function: Function) -> cst.Call | None:
    """The call of which a function returns the result, in any case."""
    body = function.node.body
    parts = list(cst.within(body))
    returns = [part for part in parts if isinstance(part, cst.Return)]
    shared = {item.name.value for part in parts if isinstance(part, cst.Global | cst.Nonlocal) for item in part.names}
    if len(returns) != 1:
        return None
    match returns[0].value:
        case cst.Call() as made:
            return made
        case cst.Name(value=name) if name not in shared:
            found = dict(_assigned(body)).get(name)
            return found if isinstance(found, cst.Call) else None
        case _:
            return None
