"""What asks an object for its attributes, sets them, or makes objects and classes without a definition."""

from __future__ import annotations

import re
from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import join_all
from ..domain.kinds import options
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    ClassValue,
    Dict,
    FunctionValue,
    Instance,
    ModuleValue,
    Sequence,
    Static,
    Structure,
    Unknown,
    Value,
)
from ..interpreter.changed_outside import with_change_by_call
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..interpreter.several_callees import one_of_module
from ..library import api
from ..library.class_checks import has_attribute
from ..program.definitions import DefinedClass

_REGISTERING: Final = tuple(Api(f"keras.{room}.register_keras_serializable") for room in ("saving", "utils"))
_ANYTHING: Final = ".*"
# What something of a module is like, whatever its name: each function makes a model, each class one of optimizers.
_ANY_OF: Final = {
    "keras.applications": Api("keras.applications.ResNet50"),
    "keras.optimizers": Api("keras.optimizers.Optimizer"),
    "keras.optimizers.legacy": Api("keras.optimizers.legacy.Optimizer"),
}
_MOST_METHODS: Final = 24  # of an object that is asked for one whose name is not known


def _named(interpreter: Interpreter, frame: Frame, arguments: Arguments) -> list[Value]:
    """The arguments of a function about an attribute, the second of which is its name."""
    given = list(arguments.positional)
    if len(given) > 1 and len(arguments.nodes) > 1 and isinstance(arguments.nodes[1], cst.FormattedString):
        given[1] = interpreter.evaluate_name(frame, arguments.nodes[1])
    return given


def _getattr(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match _named(interpreter, frame, arguments):
        case [owner, Static(str(name)), *default]:
            value = interpreter.attribute(frame, owner, name, node)
            return default[0] if isinstance(value, Unknown) and default and isinstance(owner, Instance) else value
        case [ModuleValue(module), *_]:
            return one_of_module(interpreter.project, module)
        case [Api(name), *_] if name in _ANY_OF:
            return _ANY_OF[name]
        case [Instance() | ClassValue() as owner, *_]:
            names = _either(frame, arguments.nodes[1]) if len(arguments.nodes) > 1 else ()
            if names:
                return join_all(*(interpreter.attribute(frame, owner, name, node) for name in names))
            spelled = _spelled(arguments.nodes[1]) if len(arguments.nodes) > 1 else _ANYTHING
            return _any_method(interpreter, frame, owner, node, re.compile(spelled))
        case _:
            return UNKNOWN


def _spelled(name: cst.BaseExpression) -> str:
    """What an expression says of the text that it makes, as a regular expression: `"{}_loss".format(mode)`."""
    match name:
        case cst.SimpleString():
            text = name.evaluated_value
            return re.escape(text) if isinstance(text, str) else _ANYTHING
        case cst.FormattedString(parts=parts):
            texts = (part.value if isinstance(part, cst.FormattedStringText) else None for part in parts)
            return "".join(_ANYTHING if text is None else re.escape(text) for text in texts)
        case cst.Call(func=cst.Attribute(value=cst.SimpleString() as form, attr=cst.Name("format"))):
            return _filled(form, r"\{[^{}]*\}")
        case cst.BinaryOperation(left=cst.SimpleString() as form, operator=cst.Modulo()):
            return _filled(form, r"%[a-z]")
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            return _spelled(left) + _spelled(right)
        case _:
            return _ANYTHING


def _filled(form: cst.SimpleString, places: str) -> str:
    text = form.evaluated_value
    return _ANYTHING.join(map(re.escape, re.split(places, text))) if isinstance(text, str) else _ANYTHING


def _either(frame: Frame, name: cst.BaseExpression) -> tuple[str, ...]:
    """The two names between which an expression chooses that stands there, or is what a variable of the function is."""
    if isinstance(name, cst.Name) and frame.function is not None:
        assigned = [
            statement.value
            for statement in cst.within(frame.function.node)
            if isinstance(statement, cst.Assign)
            for target in statement.targets
            if isinstance(target.target, cst.Name) and target.target.value == name.value
        ]
        name = assigned[0] if len(assigned) == 1 else name
    match name:
        case cst.IfExp(body=cst.SimpleString() as first, orelse=cst.SimpleString() as second):
            found = (first.evaluated_value, second.evaluated_value)
            return tuple(one for one in found if isinstance(one, str))
        case _:
            return ()


def _any_method(
    interpreter: Interpreter,
    frame: Frame,
    owner: Instance | ClassValue,
    node: cst.BaseExpression,
    spelled: re.Pattern[str],
) -> Value:
    """One of the methods of an object or a class, of whose name no more is known than how it is `spelled`: not one that
    Keras or Python calls, nor one that is at work."""
    names: dict[str, None] = {}
    for ancestor in owner.cls.mro:
        if not isinstance(ancestor, str):
            names |= dict.fromkeys(name for name in ancestor.functions if not name.startswith("_"))
            names |= dict.fromkeys(name for name in interpreter.class_attributes(ancestor) if not name.startswith("_"))
    running = frame.function.name if frame.function is not None else ""
    others = (name for name in names if name != running and spelled.fullmatch(name))
    kept = [name for name in others if not api.known(f"keras.Model.{name}")]
    values = [interpreter.attribute(frame, owner, name, node) for name in kept[:_MOST_METHODS]]
    found = [value for value in values if isinstance(value, FunctionValue)]
    return join_all(*found) if found else UNKNOWN


def _eval(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`eval("build_" + name)`: what of the file has this name, or one of those that are spelled so; else a number or
    the like, which a setting holds as text."""
    if not arguments.nodes:
        return STATIC
    written = arguments.nodes[0]
    match interpreter.evaluate_name(frame, written):
        case Static(str(text)):
            named = interpreter.project.member(frame.module, text.strip()) if text.strip().isidentifier() else None
            return STATIC if named is None else named
    spelled = re.compile(_spelled(written))
    names = frame.module.outline.bindings if spelled.pattern != _ANYTHING else ()
    alike = [name for name in names if spelled.fullmatch(name)][:_MOST_METHODS]
    values = (interpreter.project.member(frame.module, name) for name in alike)
    found = [value for value in values if isinstance(value, FunctionValue | ClassValue)]
    return join_all(*found) if found else STATIC


def _import_module(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`importlib.import_module("package.module")`, of the project."""
    written = arguments.keyword_nodes.get("name", next(iter(arguments.nodes), None))
    given = arguments.get(0, "name")
    match interpreter.evaluate_name(frame, written) if isinstance(written, cst.FormattedString) else given:
        case Static(str(name)) if not name.startswith("."):
            found = interpreter.project.find(name, frame.module)
            return UNKNOWN if found is None else ModuleValue(found)
        case _:
            return UNKNOWN


def _setattr(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match _named(interpreter, frame, arguments):
        case [owner, Static(str(name)), value]:
            changed = with_change_by_call(frame, node, value)
            if changed is not value:
                interpreter.writes.restated.update(one.cls for one in options(owner) if isinstance(one, Instance))
            interpreter.set_attribute(frame, owner, name, changed, node)
    return NONE


def _new(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`object.__new__(cls)`, or what `super().__new__(cls)` comes to."""
    match arguments.positional:
        case [ClassValue(cls), *_]:
            return interpreter.allocated.setdefault((cls, node, frame.summary), Instance(cls))
        case _:
            return UNKNOWN


def _hasattr(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match _named(interpreter, frame, arguments):
        case [value, Static(str(name))] if (known := has_attribute(value, name)) is not None:
            return Static(known)
        case [Structure(), Static("numpy")] if frame.context.kind not in NOT_TRACED:
            return Static(False)  # neither graphs nor JAX have a number there (measured)
        case [Api("keras"), Static("version")] if interpreter.project.files.jax:
            return Static(True)  # what JAX runs is Keras 3
        case _:
            return STATIC


def _vars(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [Instance() | ClassValue() as owner]:
            return interpreter.attribute(frame, owner, "__dict__", node)
        case [ApiObject("argparse.Namespace", payload=Dict() as settings)]:
            return settings
        case _:
            return UNKNOWN


def _type(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`type(object)`, or a class of a name, bases and attributes."""
    match arguments.positional:
        case [Static(str(name)), Sequence(items=tuple(bases)), Dict(entries)]:
            made = DefinedClass(frame.module, name, name, attributes=dict(entries))
            made.base_values = bases
            return ClassValue(made)
        case [Instance(cls)]:
            return ClassValue(cls)
        case _:
            return STATIC


def _registered(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.saving.get_registered_object("package>name")`: what the module registers under its own name."""
    match arguments.get(0, "name"):
        case Static(str(name)):
            value = frame.module.lookup(name.rpartition(">")[2])
        case _:
            return UNKNOWN
    match value:
        case FunctionValue(made) | ClassValue(made):
            decorators = (made.module.resolve_text(text.partition("(")[0]) for text in made.decorator_texts)
            return value if any(decorator in _REGISTERING for decorator in decorators) else UNKNOWN
        case _:
            return UNKNOWN


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "builtins.eval": _eval,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.object.__setattr__": _setattr,
    "builtins.object.__getattribute__": _getattr,
    "unittest.mock.patch.object": _setattr,
    "builtins.object.__new__": _new,
    "builtins.hasattr": _hasattr,
    "builtins.vars": _vars,
    "builtins.type": _type,
    "keras.saving.get_registered_object": _registered,
    "keras.utils.get_registered_object": _registered,
    "importlib.import_module": _import_module,
    "builtins.globals": lambda interpreter, frame, arguments, node: ModuleValue(frame.module),
}
