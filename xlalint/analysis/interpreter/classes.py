"""Classes: their bodies, and the instances that are created of them."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from collections.abc import Sequence as Ordered
from typing import Final

from ...syntax import nodes as cst
from ..budget import Clock
from ..domain.joins import generalise, join_all
from ..domain.kinds import settled
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    Array,
    Class,
    ClassValue,
    Creation,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Member,
    OneOf,
    Scope,
    Sequence,
    Setting,
    Static,
    Tensor,
    Unknown,
    Value,
)
from ..files.unit import Location, Unit
from ..library.class_checks import is_enum
from ..library.strategies import TORCH_MODULE, note_creation
from ..program.creators import NOTHING
from ..program.decorators import RECORDS
from ..program.project import Project
from ..program.python_library import CONTAINERS
from ..program.trainer_steps import CALLED_BY_KERAS
from ..record import replace
from .contexts import HOST, Context
from .frames import Act, Arguments, Frame, Summary
from .interface import Interpreter, Models, Options, method_value
from .losses import note_reduction
from .traced_builds import report_made_weights

_EXCEPTIONS: Final = frozenset(
    f"builtins.{name}"
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)


_ALIKE: Final = ("layer", "model", "loss", "metric", "optimizer", "schedule")
_KERAS: Final = _ALIKE[:-1]

_INIT_ONLY: Final = Api("dataclasses.InitVar")


class Classes(Interpreter):
    """Classes and the instances of them."""

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        super().__init__(project, options, wanted_apis, clock, models)
        self._number_fields: dict[Class, frozenset[str]] = {}

    def class_attributes(self, cls: Class) -> dict[str, Value]:
        """What the body of a class binds, besides methods."""
        if cls.attributes is None:
            cls.attributes = {}
            outside = self.module_frame(cls.module)
            for stretch in cls.code:
                unit = self.unit_of(cls.module, stretch.first, stretch)
                if unit is not None:
                    cls.attributes |= self.run_class_body(cls, outside, _inside(cls, unit.body), unit)
        return cls.attributes

    def run_class_body(
        self, cls: Class, outside: Frame, body: cst.BaseSuite | Ordered[cst.BaseStatement], unit: Unit | None = None
    ) -> dict[str, Value]:
        """Execute statements of a class's body."""
        methods: dict[str, Value] = {name: FunctionValue(method) for name, method in cls.functions.items()}
        frame = Frame(
            unit or outside.unit,
            cls.module,
            HOST,
            Summary(cls.qualname, None, None, HOST),
            {**methods, **(cls.attributes or {})},
            parent=None if outside.is_module else outside,
            owner=cls,
        )
        self.execute_body(frame, body)
        bound = (frame.env or {}).items()
        return {name: settled(value) for name, value in bound if value is not methods.get(name)}

    def local_class(self, frame: Frame, cls: Class) -> None:
        """A class that a function defines: Keras may call it all the same."""
        self.local_classes.append(cls)

    def canonical_instance(self, cls: Class) -> Instance:
        """An instance made by nobody in particular: what every `self` is that no caller made. It was passed what all
        who create one pass alike."""
        if cls not in self.instances:
            self.instances[cls] = made = Instance(cls)
            # Where those are created that are, is noted of each; what one holds is created in the same scope.
            context = replace(HOST, scope=Scope(UNKNOWN)) if self.strategies else HOST
            if not self.is_record(cls):
                for name in ("__init__", "build", "setup"):
                    method = cls.find(name)
                    if method is not None and (
                        name != "build"
                        or (any(map(cls.is_keras, ("layer", "model", "optimizer"))) and method.fills_its_object)
                    ):
                        known = self.creators if name == "__init__" else None
                        left, constants = NOTHING if known is None else known.alike(cls)
                        arguments = Arguments(keywords=constants, unknown=True, left=left)
                        self.host_run(method_value(method, made), arguments, context)
            else:
                made.attributes.update(self.any_record(cls))
        return self.instances[cls]

    def host_run(self, value: FunctionValue, arguments: Arguments, context: Context = HOST) -> None:
        """Analyse a function that runs eagerly."""
        summary = self.analyse(None, value, arguments, context)
        if summary is not None:
            self.host_roots.append(summary)

    def instantiate(self, frame: Frame, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
        """`C(..)`. Objects made with plain settings are all the same to the analyser."""
        if is_enum(cls) and len(arguments.positional) == 1:
            return self._member_of(cls, arguments.positional[0])
        if "typing.TypedDict" in cls.external_bases:
            return Dict(dict(arguments.keywords), arguments.rest_keywords)
        if self.is_record(cls):
            made = self._make_record(cls, arguments)
            made.traced = frame.context.becomes_graph
            if not CONTAINERS.keys() & set(cls.external_bases):  # whose items say what the fields say already
                passed = tuple(made.attributes[name] for name in self._passed_on(cls) if name in made.attributes)
                self.special(frame, made, "__post_init__", passed, node)
            return made
        if TORCH_MODULE in cls.external_bases and isinstance(node, cst.Call):
            self.report_setup(frame, TORCH_MODULE, None, {}, {}, UNKNOWN, node)
        new = self._made(frame, cls, arguments, node)
        if isinstance(new, Instance):
            report_made_weights(self, frame, new, node)
        return new

    def _made(self, frame: Frame, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
        """What a class that is no record makes."""
        if cls.is_keras("model") and cls.find("__init__") is None and _is_of_tensors(arguments):
            self.note_done(frame, Act.BUILD, node)
        traced = frame.context.becomes_graph and not any(map(cls.is_keras, _KERAS))
        by_keras = CALLED_BY_KERAS if any(map(cls.is_keras, _KERAS)) else ()
        frame.summary.creates |= {method.identity for method in map(cls.find, by_keras) if method is not None}
        given = (*arguments.positional, *arguments.keywords.values())
        plain = all(isinstance(value, Static | Unknown | Api) for value in given) and arguments.rest is None
        if plain and not (traced or cls.module.written or _is_single(frame, cls)):
            made = self.canonical_instance(cls)
            method = cls.find("__init__")
            if method is not None:
                frame.summary.creates.add(method.identity)
                if any(isinstance(it, Unknown) and it.names & frame.inputs for it in given):
                    self.invoke(frame, method_value(method, made), arguments, node)  # for what it asks of an input
            self._note_creation(frame, made, arguments, node)
            return made
        if (called := self._by_metaclass(frame, cls, arguments, node)) is not None:
            return called
        key = (cls, node, frame.summary)
        if key not in self.allocated:
            new = cls.find("__new__")
            own = None if new is None else self.invoke(frame, method_value(new, ClassValue(cls)), arguments, node)
            self.allocated[key] = own if isinstance(own, Instance) and own.cls is cls else Instance(cls, traced=traced)
        made = self.allocated[key]
        if _EXCEPTIONS & set(cls.external_bases):
            made.attributes["args"] = Sequence("tuple", tuple(arguments.positional))
        self._note_creation(frame, made, arguments, node)
        method = cls.find("__init__")
        if method is not None:
            if any(map(cls.is_keras, _KERAS)):
                outside = frame.context
                frame.context = replace(HOST, scope=outside.scope)
                self.invoke(frame, method_value(method, made), arguments, node)
                frame.context = outside
            else:
                self.invoke(frame, method_value(method, made), arguments, node)
        build = cls.find("build")
        if build is not None and any(map(cls.is_keras, ("layer", "model"))) and build.fills_its_object:
            self.host_run(method_value(build, made), Arguments(unknown=True))
        return made

    def _note_creation(self, frame: Frame, made: Instance, arguments: Arguments, node: cst.CSTNode) -> None:
        """Remember where an object is created, where that may matter, and how a loss is told to reduce."""
        of_loss = made.cls.is_keras("loss")
        if self.strategies or of_loss:
            note_creation(made, Creation(Location(frame.unit, node), frame.context.scope))
        if of_loss and made.cls.find("__init__") is None:
            note_reduction(made, arguments)

    def _by_metaclass(self, frame: Frame, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value | None:
        """What the call of a class gives whose metaclass says it itself; None where that is not known."""
        match cls.keyword("metaclass"):
            case ClassValue(metaclass) if (method := metaclass.find("__call__")) is not None:
                made = self.invoke(frame, method_value(method, ClassValue(cls)), arguments, node)
                return None if isinstance(made, Unknown) else made
            case _:
                return None

    def _member_of(self, cls: Class, value: Value) -> Value:
        """`Mode("pad")`: the member of an enum that has this value."""
        if isinstance(value, Static) and isinstance(value.constant, Member):
            return value
        attributes = self.class_attributes(cls)
        names = [name for name in attributes if not name.startswith("_")]
        known = [name for name in names if isinstance(value, Static) and value.known and attributes[name] == value]
        found = [Static(Member(cls, name)) for name in known or names]
        return join_all(*found) if found else UNKNOWN

    def is_record(self, cls: Class) -> bool:
        return any(text.partition("(")[0].endswith(RECORDS) for text in cls.decorator_texts) or any(
            base in ("typing.NamedTuple", "collections.namedtuple", "tf.experimental.ExtensionType")
            for base in cls.external_bases
        )

    def number_fields(self, cls: Class) -> frozenset[str]:
        """The fields of a record that its class declares as Python numbers."""
        if cls not in self._number_fields:
            declared = self._declared_fields(cls) if self.is_record(cls) else ()
            self._number_fields[cls] = frozenset(name for name, text in declared if _is_number(text))
        return self._number_fields[cls]

    def _passed_on(self, cls: Class) -> Iterator[str]:
        """The fields of a record that it passes to `__post_init__`."""
        for name, annotation in self._declared_fields(cls) if cls.find("__post_init__") is not None else ():
            match annotation:
                case cst.Subscript(value=head) if self.evaluate(self.module_frame(cls.module), head) == _INIT_ONLY:
                    yield name

    def _declared_fields(self, cls: Class) -> Iterator[tuple[str, cst.BaseExpression]]:
        ancestors = [ancestor for ancestor in cls.mro if not isinstance(ancestor, str)]
        for ancestor in ancestors:
            for stretch in ancestor.code:
                unit = self.unit_of(ancestor.module, stretch.first, stretch)
                for statement in () if unit is None else unit.body:
                    match statement:
                        case cst.SimpleStatementLine(
                            body=[
                                cst.AnnAssign(
                                    target=cst.Name(value=name),
                                    annotation=cst.Annotation(annotation=annotation),
                                )
                            ]
                        ):
                            yield name, annotation

    def _record_fields(self, cls: Class) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        for ancestor in reversed(cls.mro):
            if not isinstance(ancestor, str):
                fields |= self.class_attributes(ancestor)
        return fields

    def any_record(self, cls: Class) -> dict[str, Value]:
        """The fields of a record that somebody else made: a default says what kind of value to expect, not which."""
        fields = self._record_fields(cls).items()
        return {
            name: OneOf((NONE, UNKNOWN)) if value == NONE else _by_default(cls, name, value) for name, value in fields
        }

    def _make_record(self, cls: Class, arguments: Arguments) -> Instance:
        fields = self._record_fields(cls)
        values = dict(zip(fields, arguments.positional, strict=False)) | arguments.keywords
        if "tf.experimental.ExtensionType" in cls.external_bases:
            values = {name: _as_declared(fields.get(name), value) for name, value in values.items()}
        return Instance(cls, {**fields, **values})


def _inside(cls: Class, statements: Ordered[cst.BaseStatement]) -> cst.BaseSuite | Ordered[cst.BaseStatement]:
    """What stands in a class's body, of the lines in which that is: `class Settings: size = 8` is one line."""
    match statements:
        case [cst.ClassDef(name=cst.Name(value=name), body=cst.SimpleStatementSuite() as suite)] if name == cls.name:
            return suite
        case _:
            return statements


def _is_number(annotation: cst.BaseExpression) -> bool:
    return isinstance(annotation, cst.Name) and annotation.value in ("int", "float")


def _is_single(frame: Frame, cls: Class) -> bool:
    """Whether the object is made once, at the top of a module, and may be one of several of its class that hold other
    things: a registry, say. Layers and models, which Keras knows, are alike."""
    return frame.is_module and not frame.python_loop and not any(map(cls.is_keras, _ALIKE))


def _as_declared(field: Value | None, value: Value) -> Value:
    """What a field that is declared as a tensor makes of a number or an array."""
    if isinstance(field, Tensor) and isinstance(value, Static | Array):
        return Tensor(Dependence.STATIC, value.dtype if isinstance(value, Array) else None)
    return value


def _by_default(cls: Class, name: str, value: Value) -> Value:
    """A field of a record that somebody else made; of a flag or a text it is known what it is by default."""
    match value:
        case Static(bool() | str() as default):
            return Static(setting=Setting(default, f"`{cls.name}.{name}`"))
        case _:
            return generalise(value)


def _is_of_tensors(arguments: Arguments) -> bool:
    """Whether a model is made of inputs and outputs, as Keras's own is."""
    return len(arguments.positional) > 1 or "outputs" in arguments.keywords
