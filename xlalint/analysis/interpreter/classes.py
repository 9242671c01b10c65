"""The floor of classes and modules: what runs once, when it is first needed, and the objects that come of it."""

from __future__ import annotations

from collections.abc import Sequence as Ordered

from ...findings.codes import UNFINISHED_FILE
from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..budget import Clock
from ..domain.joins import generalise
from ..domain.values import (
    NONE,
    UNKNOWN,
    Api,
    Dependence,
    FunctionValue,
    Instance,
    OneOf,
    Static,
    Tensor,
    Unknown,
    Value,
    settled,
)
from ..files.files import Place, SyntaxTrouble, Unit
from ..library.strategies import TORCH_MODULE, note_making, said_setup
from ..program.decorators import RECORDS
from ..program.project import Class, Module, Project
from ..record import replace
from .base import Options, method_value
from .events import HOST, Context, ContextKind
from .frames import Arguments, Frame, Summary
from .statements import Statements


class Classes(Statements):
    """Runs bodies of classes and modules, and makes objects; the floor above runs the functions."""

    def __init__(self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock) -> None:
        super().__init__(project, options, wanted_apis, clock)
        project.execute = self.execute_module
        self.module_frames: dict[Module, Frame] = {}
        self.fragments: dict[Module, Summary] = {}
        self._allocated: dict[tuple[Class, cst.CSTNode, Summary], Instance] = {}

    # -- classes and instances ----------------------------------------------------------------------------------------

    def class_attributes(self, cls: Class) -> dict[str, Value]:
        """What the body of a class binds, besides methods."""
        if cls.attributes is None:
            cls.attributes = {}
            outside = self.module_frame(cls.module)
            for stretch in cls.code:
                unit = self._unit(cls.module, stretch.first, stretch)
                if unit is not None:
                    cls.attributes |= self.run_class_body(cls, outside, unit.body, unit)
        return cls.attributes

    def run_class_body(
        self, cls: Class, outside: Frame, body: Ordered[cst.BaseStatement], unit: Unit | None = None
    ) -> dict[str, Value]:
        """Execute statements of a class's body."""
        frame = Frame(
            unit or outside.unit,
            cls.module,
            HOST,
            Summary(cls.qualname, None, None, HOST),
            dict(cls.attributes or {}),
            parent=None if outside.is_module else outside,
            owner=cls,
        )
        self.execute_body(frame, body)
        return {name: settled(value) for name, value in (frame.env or {}).items()}

    def local_class(self, frame: Frame, cls: Class) -> None:
        """A class that a function defines: Keras may call it all the same."""
        self.local_classes.append(cls)

    def _unit(self, module: Module, line: int, stretch: object) -> Unit | None:
        try:
            return module.file.unit(stretch)  # type: ignore[arg-type]
        except (SyntaxError, NestedTooDeepError) as error:
            self.note(module, line, error, "this cannot be read")
            return None

    def canonical_instance(self, cls: Class) -> Instance:
        """An instance made by nobody in particular: what every `self` is that no caller made."""
        if cls not in self.instances:
            self.instances[cls] = made = Instance(cls)
            if not self._is_record(cls):
                for name in ("__init__", "build", "setup"):
                    method = cls.find(name)
                    if method is not None and (
                        name != "build"
                        or (any(map(cls.is_keras, ("layer", "model", "optimizer"))) and method.fills_its_object)
                    ):
                        self.host_run(method_value(method, made), Arguments(unknown=True))
            else:
                made.attributes.update(self.any_record(cls))
        return self.instances[cls]

    def host_run(self, value: FunctionValue, arguments: Arguments) -> None:
        """Analyse a function that runs eagerly."""
        summary = self.analyse(None, value, arguments, HOST)
        if summary is not None:
            self.host_roots.append(summary)

    def instantiate(self, frame: Frame, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
        """`C(..)`. Objects made with plain settings are all the same to the analyser."""
        if self._is_record(cls):
            return self._make_record(cls, arguments)
        if TORCH_MODULE in cls.external_bases and isinstance(node, cst.Call):
            said_setup(self, frame, TORCH_MODULE, None, {}, {}, UNKNOWN, node)
        given = (*arguments.positional, *arguments.keywords.values())
        if all(isinstance(value, Static | Unknown | Api) for value in given) and arguments.rest is None:
            made = self.canonical_instance(cls)
            if self.strategies:
                note_making(frame, made, node)
            return made
        key = (cls, node, frame.summary)
        if key not in self._allocated:
            self._allocated[key] = Instance(cls)
        made = self._allocated[key]
        if self.strategies:
            note_making(frame, made, node)
        method = cls.find("__init__")
        if method is not None:
            if any(map(cls.is_keras, ("layer", "model", "loss", "metric", "optimizer"))):
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

    def _is_record(self, cls: Class) -> bool:
        return any(text.partition("(")[0].endswith(RECORDS) for text in cls.decorator_texts) or any(
            base in ("typing.NamedTuple", "collections.namedtuple", "tf.experimental.ExtensionType")
            for base in cls.external_bases
        )

    def _record_fields(self, cls: Class) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        for ancestor in reversed(cls.mro):
            if isinstance(ancestor, Class):
                fields |= self.class_attributes(ancestor)
        return fields

    def any_record(self, cls: Class) -> dict[str, Value]:
        """The fields of a record that somebody else made: a default says what kind of value to expect, not which."""
        return {
            name: OneOf((NONE, UNKNOWN)) if value == NONE else generalise(value)
            for name, value in self._record_fields(cls).items()
        }

    def _make_record(self, cls: Class, arguments: Arguments) -> Instance:
        fields = self._record_fields(cls)
        values = dict(zip(fields, arguments.positional, strict=False))
        return Instance(cls, {**fields, **values, **arguments.keywords})

    # -- modules ------------------------------------------------------------------------------------------------------

    def module_frame(self, module: Module) -> Frame:
        """The frame of a module's own names."""
        if module not in self.module_frames:
            unit = Unit.empty(module.file)
            summary = Summary(module.name, Place(unit, unit.tree), None, HOST)
            self.module_frames[module] = Frame(unit, module, HOST, summary, module.values, is_module=True)
        return self.module_frames[module]

    def execute_module(self, module: Module) -> None:
        """Run a module's top-level code: as host code, or as compiled code if it is a fragment of documentation."""
        if module.executed:
            return
        module.executed = True
        frame = self.module_frame(module)
        self._run_module(frame)
        self.host_roots.append(frame.summary)
        whole = module.outline.stars or module.source.cells  # a notebook is a program, whatever it leaves undefined
        if frame.undefined and not whole and module.source.linted:
            self._run_fragment(module, frame)

    def _run_module(self, frame: Frame) -> None:
        for stretch in frame.module.outline.code:
            unit = self._unit(frame.module, stretch.first, stretch)
            if unit is None:
                continue
            frame.unit = unit
            frame.env = frame.module.values
            before = dict(frame.module.values)
            self.execute_body(frame, unit.body)
            # Branches work on copies; what they leave is the module's again.
            frame.module.values = {**before, **(frame.env or {}), **frame.module.values}
            if frame.env is not None:
                frame.module.values.update(frame.env)
            frame.env = frame.module.values

    def _run_fragment(self, module: Module, first: Frame) -> None:
        """Names that nobody defines: the reader is meant to think of a compiled function around the code."""
        context = Context(ContextKind.XLA, True, "a fragment whose names are defined elsewhere, taken as compiled code")
        known = set(module.values)
        assumed: dict[str, Value] = {}
        for _ in range(2):
            for name in known:
                module.values.pop(name, None)
            summary = Summary("<fragment>", Place(Unit.empty(module.file), Unit.empty(module.file).tree), None, context)
            frame = Frame(first.unit, module, context, summary, module.values, is_module=True, assumed=assumed)
            self._run_module(frame)
            learned = {
                name: Tensor(Dependence.VALUE) for name in frame.evidence & frame.doubts if name in frame.undefined
            }
            self.fragments[module] = summary
            known = set(module.values)
            if not learned:
                break
            assumed = {**assumed, **learned}

    # -- what cannot be read -----------------------------------------------------------------------------------------

    def note(self, module: Module, line: int, error: Exception, said: str) -> None:
        """Report code that Python or the interpreter cannot read."""
        if isinstance(error, NestedTooDeepError):
            trouble = SyntaxTrouble(module.source.display, line, 1, str(error), UNFINISHED_FILE)
        else:
            trouble = SyntaxTrouble(module.source.display, line, 1, f"{said}: {str(error).splitlines()[0]}")
        if trouble not in self.project.trouble:
            self.project.trouble.append(trouble)
