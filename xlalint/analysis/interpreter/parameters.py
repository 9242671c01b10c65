"""What the parameters of a function start with: arguments, defaults, and what annotations promise."""

from __future__ import annotations

from typing import Final, TypeAlias

from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..budget import Clock
from ..domain.joins import join, join_all
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Array,
    Class,
    ClassValue,
    Dependence,
    Dict,
    Function,
    FunctionValue,
    Instance,
    OneOf,
    Sequence,
    Setting,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..files.unit import Unit
from ..program.project import Project
from ..record import replace
from .annotations import PROMISED, value_of_annotation
from .defaults import frame_of_default
from .frames import Aliases, Arguments, Compilation, Frame
from .interface import Interpreter, Models, Options

# An annotation, and the frame in which it is read.
_Promise: TypeAlias = tuple[Frame, cst.BaseExpression]
_DEEPEST_SIGNATURE: Final = 48  # defaults and annotations that call what they are a part of


class Parameters(Interpreter):
    """What the parameters of a function start with."""

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        super().__init__(project, options, wanted_apis, clock, models)
        self._promises: dict[cst.BaseExpression, Value | None] = {}  # of annotations there
        self._inherited: dict[cst.Param, _Promise | None] = {}  # of parameters of methods without annotations
        self._signing: set[cst.BaseExpression] = set()  # defaults and annotations that are being evaluated

    def bind_parameters(
        self,
        scope: Frame,
        node: cst.FunctionDef | cst.Lambda,
        value: FunctionValue,
        arguments: Arguments,
        crossing: bool,
    ) -> tuple[dict[str, Value], Aliases]:
        """The names that the parameters start with, and what the caller has for them."""
        parameters = node.params
        positional = list(arguments.positional)
        # A layer that is called eagerly is not compiled there, and in the step that is, a size is a size.
        sizes = crossing and value.compiled.by_keras
        if value.bound is not None:
            positional.insert(0, value.bound)
        keywords = dict(arguments.keywords)
        env: dict[str, Value] = {}
        aliases = Aliases()
        last = _last(parameters, len(positional), arguments)
        for parameter in (*parameters.posonly_params, *parameters.params):
            given = positional.pop(0) if positional else keywords.pop(parameter.name.value, None)
            if given is None:
                given = (
                    last.get(parameter.name.value)
                    or _from_rest(parameter, arguments)
                    or _from_keywords(parameter, arguments)
                )
            if isinstance(given, Unknown | Structure):
                aliases.note(parameter, given)
            crosses = crossing and not (sizes and _is_size(given))
            env[parameter.name.value] = self._parameter(scope, value, parameter, given, arguments, crosses)
        if isinstance(parameters.star_arg, cst.Param):
            rest = Sequence("tuple", tuple(positional)) if arguments.rest is None and not arguments.unknown else None
            element = arguments.rest or (UNKNOWN if not positional else join_all(*positional))
            env[parameters.star_arg.name.value] = rest or Sequence("tuple", None, element)
        for parameter in parameters.kwonly_params:
            given = keywords.pop(parameter.name.value, None) or _from_keywords(parameter, arguments)
            if isinstance(given, Unknown | Structure):
                aliases.note(parameter, given)
            crosses = crossing and not (sizes and _is_size(given))
            env[parameter.name.value] = self._parameter(scope, value, parameter, given, arguments, crosses)
        if parameters.star_kwarg is not None:
            others = arguments.rest_keywords or (UNKNOWN if arguments.unknown else None)
            env[parameters.star_kwarg.name.value] = Dict(keywords, others)
        if value.compiled is not None and (static := value.compiled.static) is not None:
            env = {name: given if name in static else _traced_by_jax(given) for name, given in env.items()}
        if isinstance(value.compiled, Compilation) and value.compiled.open and not value.partial_args:
            own = parameters.params[value.bound is not None :]
            for parameter, origin in zip(own, value.compiled.open, strict=False):
                declared = env[parameter.name.value]
                if isinstance(declared, Tensor | Structure) and origin is not None:
                    env[parameter.name.value] = replace(declared, open=origin)
        return env, aliases

    def _promise(self, scope: Frame, value: FunctionValue, parameter: cst.Param) -> _Promise | None:
        """The annotation of a parameter: its own, or that of the method that it overrides."""
        if parameter.annotation is not None:
            return scope, parameter.annotation.annotation
        owner = value.function.owner
        if owner is None or len(owner.mro) == 1:
            return None
        if parameter not in self._inherited:
            self._inherited[parameter] = self._overridden(owner, value.function, parameter.name.value)
        return self._inherited[parameter]

    def _overridden(self, owner: Class, method: Function, name: str) -> _Promise | None:
        for ancestor in owner.mro[1:]:
            if isinstance(ancestor, str) or method.name not in ancestor.functions:
                continue
            try:
                parameters = ancestor.functions[method.name].node.params
            except (SyntaxError, NestedTooDeepError, LookupError) as error:
                self.note_trouble(ancestor.functions[method.name], error)
                return None
            for parameter in (*parameters.params, *parameters.kwonly_params):
                if parameter.name.value == name and parameter.annotation is not None:
                    return self.module_frame(ancestor.module), parameter.annotation.annotation
        return None

    def _parameter(
        self,
        scope: Frame,
        value: FunctionValue,
        parameter: cst.Param,
        given: Value | None,
        arguments: Arguments,
        crossing: bool,
    ) -> Value:
        name = parameter.name.value
        if given is not None:
            asked = type(given) is Tensor or _is_vague(given)
            if asked and (promise := self._promise(scope, value, parameter)) is not None:
                said = self.annotated_value(*promise)
                match said:
                    case Tensor() if isinstance(given, Unknown) and _may_hold_sizes(value, parameter):
                        said = None
                    case Tensor():
                        given = _promised(given, said)
                    case Sequence() if given == PROMISED:
                        given = said  # of two annotations, the one that is read where the value is used
                # A promise of tensors in some structure gives way to what is written there.
                if said is not None and (
                    isinstance(given, Unknown)
                    or (_is_vague(given) and not isinstance(said, Tensor | Array | OneOf))
                    or (arguments.unknown and isinstance(said, Dict | Sequence | Instance))
                ):
                    given = said
            # The names of the caller mean nothing here; that it is unknown still does.
            if isinstance(given, Unknown):
                return Unknown(frozenset((name,)), given.compared, varies=given.varies)
            if isinstance(given, Structure):
                return replace(given, parameter=parameter)
            return _as_placeholder(given) if crossing else given
        promise = self._promise(scope, value, parameter)
        said = self.annotated_value(*promise) if promise is not None else None
        if isinstance(said, Tensor) and arguments.unknown and _may_hold_sizes(value, parameter):
            said = None
        if parameter.default is None:
            return said or Unknown(frozenset((name,)))
        default = self._default(scope, value.function.unit, parameter.default)
        if isinstance(default, Static) and isinstance(default.constant, str) and arguments.rest is not None:
            return Static(setting=Setting(default.constant, f"`{name}`"))  # `main(*sys.argv[1:])`
        if not arguments.unknown or name in arguments.left:
            return default
        if isinstance(default, ClassValue):
            return join_all(default, *map(ClassValue, default.cls.derived))
        match said, default:
            case Tensor(), Static(None):
                return join(NONE, said)
            case Tensor(), Static(bool()):
                return STATIC  # a flag, whatever its annotation says
            case None, Static(None):
                return Unknown(frozenset((name,)))
            case ((None | Static()), Static(str() as text)):
                return Static(setting=Setting(text, f"`{name}`"))
            case None, Static():
                return STATIC
            case None, _:
                return default
            case _:
                return said

    def _default(self, scope: Frame, unit: Unit, node: cst.BaseExpression) -> Value:
        """What a parameter is when nothing is given for it, evaluated where it is defined; `unit`: which holds that."""
        if scope.is_module and node in self.defaults:
            return self.defaults[node]
        if self._is_endless(node):
            return UNKNOWN
        self._signing.add(node)
        try:
            value = self.evaluate(frame_of_default(scope, unit), node)
        finally:
            self._signing.discard(node)
        # To ask for a name may have been what executed the module, up to the definition and on.
        return self.defaults.setdefault(node, value) if scope.is_module else value

    def annotated_value(self, frame: Frame, annotation: cst.BaseExpression) -> Value | None:
        """What a type annotation says of a value; None when it says nothing."""
        if frame.is_module and annotation in self._promises:
            return self._promises[annotation]
        if self._is_endless(annotation):
            return None
        self._signing.add(annotation)
        try:
            said = value_of_annotation(self, frame, annotation)
        finally:
            self._signing.discard(annotation)
        if frame.is_module:
            self._promises[annotation] = said
        return said

    def _is_endless(self, node: cst.BaseExpression) -> bool:
        """Whether a part of a signature calls what it is a part of, or so it seems."""
        return node in self._signing or len(self._signing) >= _DEEPEST_SIGNATURE


def _may_hold_sizes(value: FunctionValue, parameter: cst.Param) -> bool:
    """Whether what is not known that a layer is passed may be the shapes of its data, for all that an annotation says
    of it: each parameter of `call` behind the data."""
    function = value.function
    if function.name != "call" or function.owner is None or not function.owner.is_keras("layer"):
        return False
    return parameter not in function.node.params.params[:2]


def _is_size(value: Value | None) -> bool:
    """Whether a tensor is made of shapes, or a list holds nothing but numbers and such: what a layer before returns."""
    match value:
        case Sequence(items=tuple(items)):
            sizes = (item for item in items if not isinstance(item, Static))
            return all(isinstance(item, Tensor) and item.dependence <= Dependence.SHAPE for item in sizes)
        case _:
            return isinstance(value, Tensor) and value.dependence is Dependence.SHAPE


def _promised(value: Value, said: Tensor) -> Value:
    """What callers pass, of whom some are not known to pass what the annotation promises."""
    if isinstance(value, OneOf) and any(isinstance(option, Unknown) for option in value.options):
        return join_all(*(said if isinstance(option, Unknown) else option for option in value.options))
    return value


def _is_vague(value: Value) -> bool:
    """Whether a value is some structure of tensors, or of what nobody knows."""
    match value:
        case Unknown() | Structure():
            return True
        case OneOf(alternatives):
            return any(map(_is_vague, alternatives))
        case Sequence(items=tuple(items)):
            return bool(items) and all(map(_is_vague, items))
        case Sequence(element=element) if element is not None:
            return _is_vague(element)
        case _:
            return False


def _last(parameters: cst.Parameters, count: int, arguments: Arguments) -> dict[str, Value]:
    """What stands behind an unpacked sequence of unknown length, by the last parameters; nothing where a default or
    `*args` leaves open which these are. `count`: the arguments before it."""
    open_ones = (*parameters.posonly_params, *parameters.params)[count:]
    given = arguments.trailing
    if not given or len(given) > len(open_ones) or isinstance(parameters.star_arg, cst.Param):
        return {}
    if any(one.default is not None or one.name.value in arguments.keywords for one in open_ones):
        return {}
    return {one.name.value: value for one, value in zip(open_ones[-len(given) :], given, strict=True)}


def _from_rest(parameter: cst.Param, arguments: Arguments) -> Value | None:
    """What an unpacked sequence of unknown length brings: it may end before what has a setting as default."""
    match parameter.default:
        case None | cst.Name(value="None"):
            return arguments.rest
        case _:
            return None


def _from_keywords(parameter: cst.Param, arguments: Arguments) -> Value | None:
    """What an unpacked dict of unknown content brings: nothing sure to a parameter that has a setting as default."""
    match parameter.default:
        case None | cst.Name(value="None"):
            return arguments.rest_keywords
        case _:
            return None


def _traced_by_jax(value: Value) -> Value:
    """What JAX makes of an argument: numbers are tensors, too."""
    match value:
        case Static(constant=bool() | int() | float() as number):
            return Tensor(Dependence.VALUE, type(number).__name__, 0)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_traced_by_jax, items)))
        case Dict(entries, element):
            return Dict({key: _traced_by_jax(item) for key, item in entries.items()}, element)
        case _:
            return value


def _as_placeholder(value: Value) -> Value:
    """What a compiled function sees of an argument: tensors and arrays are data, Python values are constants. What
    eager code has selected by a mask is as long as it is."""
    match value:
        case Tensor():
            return value.with_(dependence=Dependence.VALUE, bounded=None, carried=False, mixed=False)
        case Array(dtype, varies=varies):
            return Tensor(Dependence.VALUE, dtype, varies=varies)
        case Sequence("list" | "tuple"):
            items = value.items and tuple(map(_as_placeholder, value.items))
            return replace(value, items=items, element=value.element and _as_placeholder(value.element))
        case Dict(entries, element):
            passed = {key: _as_placeholder(item) for key, item in entries.items()}
            return Dict(passed, element and _as_placeholder(element))
        case OneOf(alternatives):
            return join_all(*map(_as_placeholder, alternatives))
        case _:
            return value
