"""What `owner.name` is, and what assigning to it does: modules, classes, instances, and the objects of libraries."""

from __future__ import annotations

from functools import cache
from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import as_list, join, join_all
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Class,
    ClassValue,
    Dependence,
    Dict,
    Function,
    FunctionValue,
    Instance,
    Member,
    ModuleValue,
    OneOf,
    Sequence,
    Static,
    Tensor,
    TensorMethod,
    Unknown,
    Value,
)
from ..files.unit import Location
from ..library import api, flags
from ..library.class_checks import is_enum
from ..library.constants import CONSTANTS
from ..library.strategies import making_of
from ..library.text import METHODS as TEXT_METHODS
from ..library.text import OF_UNKNOWN as OF_UNKNOWN_TEXT
from ..record import replace
from .asked_backends import made_by_tensorflow, report_attribute
from .captured import captured, kept
from .contexts import NOT_TRACED, ContextKind
from .dimensions import with_dimensions
from .frames import Arguments, Compilation, Frame
from .interface import Interpreter, method_value
from .left_behind import report_left
from .receivers import is_number_field
from .replicas import report_parted_owner

_SOME_TENSOR: Final = Tensor(Dependence.VALUE)
_VARIABLES: Final = Sequence("list", None, Tensor(Dependence.VALUE, variable=True))
_TRAINED: Final = ApiObject("keras.Model")  # what Keras gives a callback
_STEPS: Final = Tensor(Dependence.VALUE, "int", 0, variable=True)  # how many an optimizer has taken
# What Keras's own base classes give every instance.
_KERAS_ATTRIBUTES: Final[dict[str, Value]] = {
    "trainable_variables": _VARIABLES,
    "trainable_weights": _VARIABLES,
    "non_trainable_variables": _VARIABLES,
    "weights": _VARIABLES,
    "variables": _VARIABLES,
    "dtype": STATIC,
    "compute_dtype": STATIC,
    "name": STATIC,
    "trainable": STATIC,
    "built": STATIC,
    "optimizer": ApiObject("keras.optimizers.Optimizer"),
}
_STRATEGY: Final = "distribute_strategy"  # of a model or a variable: that in whose scope it was made
_ABOUT_MODULES: Final = frozenset(("__version__", "__name__", "__doc__", "__file__", "__path__"))
_PROPERTIES: Final = frozenset(("property", "functools.cached_property", "cached_property", "abc.abstractproperty"))
# The methods that each class of records has.
OF_RECORDS: Final = frozenset(("_replace", "_asdict"))
# The attributes of what `functools.partial` makes.
PARTIAL: Final = frozenset(("func", "args", "keywords"))
_UNBOUND: Final = frozenset(("staticmethod", "builtins.staticmethod"))
# `__getattr__ = dict.__getitem__`: what is not an attribute is an item.
_OF_ITEMS: Final = (Api("builtins.dict.__getitem__"), Api("builtins.dict.get"))


class Attributes(Interpreter):
    """What `owner.name` is, and what assigning to it does."""

    def attribute(self, frame: Frame, owner: Value, name: str, node: cst.BaseExpression) -> Value:
        """The value of `owner.name`, read at `node`."""
        if self.strategies:
            report_parted_owner(self, frame, owner, node, name)
        if type(owner) is Tensor:  # most objects
            return self._library_attribute(frame, owner, name, node)
        match owner:
            case Api(values) if values in flags.VALUES and name in self.flags:
                defined = self.flags[name]
                return defined.get(frame.module) or (next(iter(defined.values())) if len(defined) == 1 else STATIC)
            case Api(qualified):
                return _api_attribute(qualified, name)
            case ApiObject("argparse.Namespace", payload=Dict(entries, other)):
                return entries.get(name) or self.parser_defaults.get(frame.module, {}).get(name) or other or UNKNOWN
            case ApiObject("absl.flags.FlagHolder", payload=value) if name == "value" and value is not None:
                return value
            case ApiObject("tf.train.Checkpoint", payload=Dict(entries)) if name in entries:
                return entries[name]
            case ApiObject("tf.IndexedSlices", payload=value) if name == "values" and value is not None:
                return value
            case ApiObject() | Instance() if name == _STRATEGY and (made := making_of(owner)) and made.scope:
                return made.scope.strategy
            case ModuleValue(module):
                return captured(frame, self.project.member(module, name) or UNKNOWN)
            case Instance():
                return self._instance_attribute(frame, owner, name, node)
            case ClassValue(cls) if name == "_make" and self.is_record(cls):
                return TensorMethod(owner, name)
            case ClassValue(cls) if name == "__subclasses__":
                return _constant_function(Sequence("list", tuple(map(ClassValue, cls.derived))))
            case ClassValue(cls) if name == "__name__":
                return Static(cls.name)
            case ClassValue(cls) if name == "__dict__":
                own = {inner: self._class_attribute(frame, cls, inner) for inner in cls.functions}
                own |= self.class_attributes(cls)
                return Dict({inner: value for inner, value in own.items() if value is not None})
            case ClassValue(cls):
                return _of_class(cls, self._class_attribute(frame, cls, name) or UNKNOWN)
            case Static(Member() as member):
                return self._member_attribute(frame, owner, member, name, node)
            case FunctionValue(function) if name == "__name__":
                return Static(function.name)
            case FunctionValue() if name == "__get__":
                return ApiObject(
                    "functools.partial", payload=Sequence("tuple", (Api("types.MethodType"), Dict({}), owner))
                )
            case FunctionValue():
                return owner if name in ("python_function", "__wrapped__", "__call__") else _of_partial(owner, name)
            case ApiObject("functools.partial", payload=Sequence(items=(function, bound, *given))) if name in PARTIAL:
                return {"func": function, "keywords": bound, "args": Sequence("tuple", tuple(given))}[name]
            case OneOf(alternatives):
                there = [option for option in alternatives if option != NONE]  # which has no attributes
                return join_all(*(self.attribute(frame, option, name, node) for option in there))
            case Unknown(names):
                if api.attribute(_SOME_TENSOR, name) is None:
                    self.refute_tensor(frame, owner)
                if owner.part and frame.context.kind in NOT_TRACED and is_number_field(self, frame, name):
                    return self.counter(frame, node)
                # `x.shape` of whatever it is: numbers. What else an unknown object has is unknown too.
                return Sequence("tuple", None, STATIC) if name == "shape" and names else UNKNOWN
            case ApiObject(api=library, method=None) if f"{library}.{name}" in self.models.methods:
                return replace(owner, method=name)
            case Static(str()) if name in TEXT_METHODS:
                return TensorMethod(owner, name)
            case Static(list()) if name in self.models.containers and isinstance(node, cst.Attribute):
                return TensorMethod(as_list(owner), name, (frame, node))
            case Static(local=True) if name in ("array", "values"):
                return owner  # of a column of paths
            case Static(local=True) if f".{name}" in self.models.methods:
                return TensorMethod(owner, name)
            case Static() if name in OF_UNKNOWN_TEXT and not owner.known:
                return TensorMethod(owner, name)
            case Sequence() | Dict():
                if self.project.files.jax:
                    report_attribute(self, frame, owner, name, node)
                known = api.attribute(owner, name)
                home = (frame, node) if name in self.models.containers and isinstance(node, cst.Attribute) else None
                return TensorMethod(owner, name, home) if known is None else known
            case _:
                return self._library_attribute(frame, owner, name, node)

    def _library_attribute(self, frame: Frame, owner: Value, name: str, node: cst.BaseExpression) -> Value:
        if self.project.files.jax:
            report_attribute(self, frame, owner, name, node)
        known = api.attribute(owner, name)
        if known is not None:
            known = with_dimensions(frame, owner, known) if name == "shape" else known
            return made_by_tensorflow(owner.api, known) if isinstance(owner, ApiObject) else known
        return STATIC if isinstance(owner, Static) else UNKNOWN

    def _instance_attribute(self, frame: Frame, owner: Instance, name: str, node: cst.BaseExpression) -> Value:
        if owner.cls.view_of is None and name in owner.attributes:
            held = owner.attributes[name]
            if frame.context.kind is not ContextKind.HOST:
                return held
            report_left(self, frame, owner, name, node)
            return captured(frame, held)
        method = owner.cls.find(name)
        if method is not None:
            own = self.bound_method(frame, method, owner, node)
            assigned = self._assigned_to_class(owner.cls, name) if name in self.writes.of_classes else None
            return own if assigned is None else join(own, self._of_instance(frame, owner, assigned, node))
        found = self._class_attribute(frame, owner.cls, name)
        if found is not None:
            method = owner.cls.find(name)
            return self._of_instance(frame, owner.cls.view_of or owner, found, node) if method is None else found
        if owner.cls.view_of is None and owner is not self.instances.get(owner.cls):
            shared = self.canonical_instance(owner.cls).attributes.get(name)
            if shared is not None:
                return shared
        if name == "__class__":
            return ClassValue(owner.cls)
        if name == "iterations" and owner.cls.is_keras("optimizer"):
            return _STEPS
        if name == "model" and owner.cls.is_keras("callback"):
            return _TRAINED
        if any(owner.cls.is_keras(kind) for kind in ("layer", "model", "metric", "loss")):
            if name in _KERAS_ATTRIBUTES:
                return _KERAS_ATTRIBUTES[name]
            base = next(owner.cls.external_bases, "keras.layers.Layer")
            known = api.attribute(ApiObject(base, made=making_of(owner, Location(frame.unit, node))), name)
            if known is not None:
                return known
        return self._computed_attribute(frame, owner, name, node)

    def _member_attribute(
        self, frame: Frame, owner: Static, member: Member, name: str, node: cst.BaseExpression
    ) -> Value:
        """What a member of an enum has."""
        if name in ("name", "_name_"):
            return Static(member.name)
        if name in ("value", "_value_"):
            return self.class_attributes(member.owner).get(member.name) or STATIC
        method = member.owner.find(name)
        if method is None:
            return self._class_attribute(frame, member.owner, name) or STATIC
        if self.decorators_of(method) & {"staticmethod", "classmethod"}:
            return self._class_attribute(frame, member.owner, name) or UNKNOWN
        if self.decorators_of(method) & _PROPERTIES:
            return self.invoke(frame, self.decorated(method_value(method, owner)), Arguments(), node)
        return self.decorated(method_value(method, owner))

    def _computed_attribute(self, frame: Frame, owner: Instance, name: str, node: cst.BaseExpression) -> Value:
        """What an object has that nobody assigned: its attributes as a dict, what a record's class gives it, what
        `__getattr__` makes up."""
        if name == "__dict__":
            return Dict(dict(owner.attributes))
        if name in OF_RECORDS and self.is_record(owner.cls):
            return TensorMethod(owner, name)
        match owner.attributes.get("__dict__"):
            case Dict(entries) if name in entries:
                return entries[name]
            case Instance() as mapping if item := self.special(frame, mapping, "__getitem__", (Static(name),), node):
                return item
        if found := self.special(frame, owner, "__getattr__", (Static(name),), node):
            return found
        # What Python's own class asks of its objects, `_own_items` and `__missing__`, is no item.
        if not name.startswith("_") and self._class_attribute(frame, owner.cls, "__getattr__") in _OF_ITEMS:
            return self.special(frame, owner, "__getitem__", (Static(name),), node) or UNKNOWN
        if frame.function is not None and frame.function.name == "__getattribute__":
            return UNKNOWN  # what that asks for has no attribute of the name
        return self.special(frame, owner, "__getattribute__", (Static(name),), node) or UNKNOWN

    def _of_instance(self, frame: Frame, owner: Instance, value: Value, node: cst.BaseExpression) -> Value:
        """What stands in a class's body, as its objects have it: a function is bound, a property is called."""
        match value:
            case FunctionValue(bound=None, partial_args=(), partial_keywords={}) if not owner.cls.module.written:
                return replace(value, bound=owner)
            case ApiObject("builtins.property", payload=FunctionValue() as function):
                return self.invoke(frame, replace(function, bound=owner), Arguments(), node)
            case Instance() if read := self.special(frame, value, "__get__", (owner, ClassValue(owner.cls)), node):
                return read
            case _:
                return _of_class(owner.cls, value)

    def bound_method(self, frame: Frame, method: Function, owner: Instance, node: cst.BaseExpression) -> Value:
        """A method as an attribute of its instance: called at once where it is a property."""
        decorators = self.decorators_of(method)
        owner = owner.cls.view_of or owner
        if self._is_property(method):
            return self.invoke(frame, self._accessor(frame, method, owner), Arguments(), node)
        if decorators & _UNBOUND:
            return self.decorated(method_value(method, None))
        if "classmethod" in decorators or "builtins.classmethod" in decorators:
            return self.decorated(method_value(method, ClassValue(owner.cls)))
        return self.decorated(method_value(method, owner))

    def _is_property(self, method: Function) -> bool:
        decorators = self.decorators_of(method)
        return bool(decorators & _PROPERTIES) or any(text.endswith("property") for text in decorators)

    def _setter(self, cls: Class, name: str) -> Function | None:
        """What assigning to an attribute of an object calls, where that is a property."""
        for ancestor in cls.mro:
            if not isinstance(ancestor, str) and (getter := ancestor.functions.get(name)) is not None:
                return ancestor.setters.get(name) if self._is_property(getter) else None
        return None

    def _accessor(self, frame: Frame, method: Function, owner: Instance) -> FunctionValue:
        """What a property calls. Python makes the call, not the code that AutoGraph made: of a function that is not
        converted by itself."""
        value = self.decorated(method_value(method, owner))
        if not frame.context.converted or value.compiled is not None:
            return value
        return replace(value, compiled=Compilation(ContextKind.OPEN, False, f"`{method.qualname}`, a property"))

    def _assigned_to_class(self, cls: Class, name: str) -> Value | None:
        """What is assigned to a class in place of a method."""
        held = (self.class_attributes(ancestor) for ancestor in cls.mro if not isinstance(ancestor, str))
        return next((attributes[name] for attributes in held if name in attributes), None)

    def _class_attribute(self, frame: Frame, cls: Class, name: str) -> Value | None:
        for ancestor in cls.mro:
            if isinstance(ancestor, str):
                continue
            if name in ancestor.functions:
                method = ancestor.functions[name]
                decorators = self.decorators_of(method)
                bound = ClassValue(cls) if "classmethod" in decorators else None
                return self.decorated(method_value(method, bound))
            if name in ancestor.classes:
                return ClassValue(ancestor.classes[name])
            attributes = self.class_attributes(ancestor)
            if name in attributes:
                named = not name.startswith("_") and is_enum(ancestor)
                return Static(Member(ancestor, name)) if named else captured(frame, attributes[name])
        return None

    def set_attribute(self, frame: Frame, owner: Value, name: str, value: Value, by: cst.CSTNode | None = None) -> None:
        """`owner.name = value`: joined with what was there, since methods run in an order that nobody knows; `by` code,
        which calls the setter of a property."""
        for option in owner.options if isinstance(owner, OneOf) else (owner,):
            if isinstance(option, Instance) and name == "__dict__" and isinstance(value, Dict):
                for inner, held in value.entries.items():
                    self.set_attribute(frame, option, inner, held)
            elif isinstance(option, ModuleValue):
                self.writes.assign(option.module, option.module.values, name, value)
            elif isinstance(option, ClassValue):
                self.writes.assign(option.cls, self.class_attributes(option.cls), name, value)
            elif not isinstance(option, Instance):
                continue
            elif by is not None and (setter := self._setter(option.cls, name)) is not None:
                self.invoke(frame, self._accessor(frame, setter, option), Arguments([value]), by)
            else:
                traced = (Location(frame.unit, by), frame.context) if by and frame.context.becomes_graph else None
                self.writes.assign(option, option.attributes, name, kept(frame, value), traced)

    @staticmethod
    def decorators_of(function: Function) -> frozenset[str]:
        """The decorators as they are written, without arguments."""
        return frozenset(text.partition("(")[0] for text in function.decorator_texts)


def _of_partial(function: FunctionValue, name: str) -> Value:
    """What a function has that arguments are bound to."""
    match name:
        case "func":
            return replace(function, partial_args=(), partial_keywords={})
        case "args":
            return Sequence("tuple", function.partial_args)
        case "keywords":
            return Dict(dict(function.partial_keywords))
        case _:
            return UNKNOWN


def _constant_function(value: Value) -> Value:
    """A function without parameters that returns the value."""
    return ApiObject("functools.partial", payload=Sequence("tuple", (Api("functools.identity"), Dict({}), value)))


@cache
def _api_attribute(qualified: str, name: str) -> Value:
    if name in _ABOUT_MODULES:
        return STATIC
    whole = f"{qualified}.{name}"
    return UNKNOWN if name == "__dict__" else CONSTANTS.get(whole) or Api(api.canonical(whole))


def _of_class(cls: Class, value: Value) -> Value:
    """What stands in a class's body, as the class itself has it."""
    match value:
        case ApiObject("builtins.staticmethod", payload=inner) if inner is not None:
            return inner
        case ApiObject("builtins.classmethod", payload=FunctionValue() as function):
            return replace(function, bound=ClassValue(cls))
        case _:
            return value
