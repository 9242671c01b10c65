"""Modules: top-level code runs once, when a name of it is first needed; fragments of documentation as compiled code."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ...findings.codes import UNFINISHED_FILE
from ...syntax.expression_builder import NestedTooDeepError
from ..budget import Clock
from ..domain.values import (
    Dependence,
    Module,
    Tensor,
    Value,
)
from ..files.troubles import SyntaxTrouble
from ..files.unit import Location, Unit
from ..program.project import Project
from ..program.signs import Shows, Sign
from .contexts import HOST, Context, ContextKind
from .defaults import bind_defaults
from .frames import Frame, Summary
from .host_code import is_of_script
from .interface import Interpreter, Models, Options

_CUSTOMARY: Final = frozenset(("tf", "keras"))


class Modules(Interpreter):
    """Modules and fragments."""

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        super().__init__(project, options, wanted_apis, clock, models)
        project.execute = self.execute_module

    def module_frame(self, module: Module) -> Frame:
        """The frame of a module's own names."""
        if module not in self.module_frames:
            unit = Unit.empty(module.file)
            summary = Summary(module.name, Location(unit, unit.tree), None, HOST)
            self.module_frames[module] = Frame(unit, module, HOST, summary, module.values, is_module=True)
        return self.module_frames[module]

    def execute_module(self, module: Module) -> None:
        """Run a module's top-level code: as host code, or as compiled code if it is a fragment of documentation."""
        if module.executed:
            return
        module.executed = True
        frame = self.module_frame(module)
        with self.writes.apart():
            self._run_module(frame)
            self.host_roots.append(frame.summary)
            if frame.undefined and module.source.linted and self._is_fragment(module, frame.undefined):
                self._run_fragment(module, frame)

    def _is_fragment(self, module: Module, undefined: Collection[str]) -> bool:
        """Whether a reader thinks of a compiled function around the top-level code: there is nothing that only a
        program does, and but for a snippet no import of TensorFlow, whose names the code uses if it imports others."""
        if not (module.file.may_be_fragment or module.file.may_be_snippet):
            return False
        imports = not module.file.may_be_snippet and any(True for _ in module.all_imported())
        if imports and _CUSTOMARY.isdisjoint(undefined):
            return False
        units = (self.unit_of(module, stretch.first, stretch) for stretch in module.outline.code)
        shows = not module.file.may_be_fragment
        return not any(unit is not None and is_of_script(unit.tree, shows) for unit in units)

    def _run_module(self, frame: Frame) -> None:
        frame.module.bind_defaults()
        above = 0
        for stretch in frame.module.outline.code:
            self._run_definitions(frame.module, range(above, stretch.first))
            above = stretch.first
            unit = self.unit_of(frame.module, stretch.first, stretch)
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
        self._run_definitions(frame.module, range(above, frame.module.file.last_line + 1))

    def _run_definitions(self, module: Module, lines: range) -> None:
        """Run what stands around the definitions in some lines: their decorators, and the defaults of parameters."""
        self.register_own(module, lines)
        bind_defaults(self, module, lines)

    def _run_fragment(self, module: Module, first: Frame) -> None:
        """Names that nobody defines: the reader is meant to think of a compiled function around the code."""
        context = Context(ContextKind.XLA, True, "a fragment with names defined elsewhere, treated as compiled code")
        self.project.show(module, Shows.PERHAPS, Sign(0, "a fragment: its names are defined elsewhere"))
        known = set(module.values)
        assumed: dict[str, Value] = {}
        for _ in range(2):
            for name in known:
                module.values.pop(name, None)
            summary = Summary(
                "<fragment>", Location(Unit.empty(module.file), Unit.empty(module.file).tree), None, context
            )
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

    def note(self, module: Module, line: int, error: Exception, said: str) -> None:
        """Report code that Python or the interpreter cannot read."""
        if isinstance(error, NestedTooDeepError):
            trouble = SyntaxTrouble(module.source.display, line, 1, str(error), UNFINISHED_FILE)
        else:
            trouble = SyntaxTrouble(module.source.display, line, 1, f"{said}: {str(error).splitlines()[0]}")
        if trouble not in self.project.trouble:
            self.project.trouble.append(trouble)

    def unit_of(self, module: Module, line: int, stretch: object) -> Unit | None:
        try:
            return module.file.unit(stretch)  # type: ignore[arg-type]
        except (SyntaxError, NestedTooDeepError) as error:
            self.note(module, line, error, "this cannot be read")
            return None
