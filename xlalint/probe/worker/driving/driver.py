"""From a target to something that can be called, with what to call it with."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any, Final

from xlalint.probe.fragments import NAME
from xlalint.probe.target import Frame, Target
from xlalint.sources.packages import is_test

from ..backends import backend
from ..backends.pretrained import lacking
from ..code.abstract import is_abstract
from ..code.blame import by_keras
from ..code.importing import Loaded, LoadError, load
from ..code.limits import Limit
from ..code.line_tracing import TooLongError
from ..code.messages import described
from ..code.user_lines import UserLines
from ..inputs.numbers import VALUE_SETS
from ..inputs.recorded_calls import first_call
from ..inputs.search import Attempt, NotFoundError, Search, Solution, follow, pinned
from ..inputs.tensors import Arguments
from . import harnesses
from .binding import arguments_of, as_taken, created_again
from .definitions import inside, looked_up, written
from .driven import Driven, NotDrivenError, Partly, holds_tensors
from .harnesses import Arranged, Given, Harness, watch
from .heirs import heirs_of, may_have_heirs
from .keras_objects import (
    called_method,
    is_callable,
    is_left_to_keras_2,
    is_model,
    is_step,
    keras_converts,
    keras_kind,
    models_in,
    variables_in,
)
from .parted_objects import in_part
from .passing import Passing
from .said_inputs import forms
from .state import State, variables_held
from .supplied_inputs import Supply
from .through_tests import test_harness
from .training import NoTrainingError, is_compiled, training_of

_MOST_CALLERS: Final = 8
_SECONDS: Final = 30.0  # to look for inputs
_BEFORE_OTHERS: Final = 0.5  # the share of them that a definition by itself gets, where there are other ways
_BEFORE_A_PART: Final = 0.75  # where the last way is an object of which a part is made
_FOR_A_PART: Final = 5.0  # seconds that it gets at least
_MOST_HEIRS: Final = 2
_MOST_INSIDE: Final = 3  # functions that give one another
_OF_TRAINING: Final = 2  # batches that a step of training gets
_LOCALS: Final = ".<locals>."
_APART: Final = "replicas are not compiled together"


def drive(
    target: Target,
    note: Callable[[str], None],
    like: Driven | None = None,
    seconds: float = _SECONDS,
    partly: Callable[[Partly], None] = lambda partly: None,
) -> Driven:
    """Get a target ready to be called, with the inputs of `like` if there is one; `note` hears what is done next.

    `seconds`: how long to look for inputs; `partly`: hears how it can be run in part before others are called for it.
    Raises NotDrivenError.
    """
    note("import")
    with ExitStack() as stack:
        moved: dict[str, tuple[str, int]] = {}
        if target.kind == "fragment":
            path = written(target, stack)
            moved[str(path)] = (target.file, 1)
            target = replace(target, file=str(path), qualname=NAME, roots=(*target.roots, str(path)))
        given = None if like is None else list(like.found)
        loaded = _loaded(Path(target.file), target, "its", target.qualname)
        driver = _Driver(target, loaded, note, Limit(seconds), partly, given)
        stack.callback(driver.close)
        driven = driver.driven()
        driven.moved = moved
        driven.notes += tuple(dict.fromkeys(note for one in (loaded, *driver.others) for note in one.notes))
        without = dict.fromkeys(name for one in (loaded, *driver.others) for name in one.without)
        if named := ", ".join(f"`{name}`" for name in without):
            driven.notes += (f"imported without {named}: not installed, and nothing of it runs here",)
        if lacking():
            driven.notes += ("its pretrained weights are not there: it is run with those that it is made with",)
        driven.found = driver.found
        driven.close = stack.pop_all().close
        return driven


def _loaded(path: Path, target: Target, whose: str, qualname: str) -> Loaded:
    try:
        return load(path, target.search, qualname.partition(".")[0])
    except LoadError as error:
        cause = error.__cause__ or error
        raise NotDrivenError(f"{whose} module cannot be imported: {error}", by_keras=by_keras(cause)) from error


@dataclass
class _Driver:
    """Drives one target, within a `limit`. `given`: the inputs to use, step by step, where they
    are not to be looked for; `found`: those that were used."""

    target: Target
    loaded: Loaded
    note: Callable[[str], None]
    limit: Limit
    partly: Callable[[Partly], None]
    given: list[Solution] | None = None
    others: list[Loaded] = field(default_factory=list)
    found: list[Solution] = field(default_factory=list)

    def close(self) -> None:
        for loaded in (*self.others, self.loaded):
            loaded.close()

    @cached_property
    def own(self) -> Callable[[str], bool]:
        """Whether a file is the user's."""
        return cache(UserLines(self._roots).owns)

    @property
    def _roots(self) -> tuple[str, ...]:
        roots = self.target.roots or (str(Path(self.target.file).parent),)
        return tuple(root if root.endswith((".py", os.sep)) else root + os.sep for root in roots)

    # -- the order of the ways ----------------------------------------------------------------------------------------

    def driven(self) -> Driven:
        """By its own parameters first; then by what its callers pass, and as an object of its class, or of one that
        inherits it, comes to it."""
        target = self.target
        outer = target.qualname.rpartition(_LOCALS)[0]
        callers = [one for one in target.callers if (one.file, one.qualname) != (target.file, outer)][:_MOST_CALLERS]
        ways: list[Callable[[float], Driven]] = [partial(self._called_by, caller, None) for caller in callers]
        last = None
        if self.given is None and not target.given and target.factory is None and not outer:
            ways += self._of_objects()
            last = self._in_part()
        first = _BEFORE_OTHERS if ways else _BEFORE_A_PART if last is not None else 1.0
        ways += [last] if last is not None else []
        try:
            return self._by_itself(first)
        except NotDrivenError as error:
            if error.partly is not None and ways:
                left = self.limit.left
                self.partly(error.partly)
                self.limit = Limit(left)
            for number, way in enumerate(() if error.in_no_way else ways):
                try:
                    return way(1.0 / (len(ways) - number))
                except NotDrivenError:
                    continue
            raise

    def _of_objects(self) -> Iterator[Callable[[float], Driven]]:
        """By way of what runs when an object is called, for another method; then with objects of classes that inherit
        from the target's, where these are what is used."""
        owner, found = looked_up(self.loaded, self.target.qualname)
        if owner is None or not inspect.isfunction(found):
            return
        called = called_method(owner)
        if keras_kind(owner) in ("layer", "model") and is_callable(owner) and called not in (None, found):
            frame = Frame(self.target.file, f"{owner.__qualname__}.{called.__name__}")
            yield partial(self._called_by, frame, self.loaded)
        if not inspect.isabstract(owner) and may_have_heirs(owner, self._roots):
            yield partial(self._as_heirs, owner)

    def _in_part(self) -> Callable[[float], Driven] | None:
        """As a method of an object of which only what the method needs is made."""
        owner, found = looked_up(self.loaded, self.target.qualname)
        if owner is None or not inspect.isfunction(found) or inspect.isabstract(owner):
            return None
        made = in_part(owner, inside(owner, self.target.qualname.rpartition(".")[2]))
        return None if made is None else partial(self._as_part, *made)

    def _as_part(self, part: type, attributes: Sequence[str], share: float) -> Driven:
        if self.limit.left < _FOR_A_PART:  # what makes all of the object may take long at each call
            self.limit = Limit(_FOR_A_PART)
        driven = self._as_heir(part, share)
        named = ", ".join(f"`{one}`" for one in attributes)
        driven.notes += (f"of its object only what its constructor does for {named or 'no attribute'} was made",)
        return driven

    def _as_heirs(self, owner: type, share: float) -> Driven:
        """As a method of one of the classes that inherit it."""
        name = self.target.qualname.rpartition(".")[2]
        error = NotDrivenError(f"no class inherits `{name}`")
        for number, heir in enumerate(islice(heirs_of(owner, self._roots, name), _MOST_HEIRS), 1):
            try:
                return self._as_heir(heir, share * number / _MOST_HEIRS)
            except NotDrivenError as raised:
                error = raised
        raise error

    def _as_heir(self, heir: type, share: float) -> Driven:
        """As a method of a class that inherits it."""
        name = self.target.qualname.rpartition(".")[2]
        harness = self._of_class(heir, name, Arranged(self.target.parameters, {}, {}))
        return self._finished(harness, self._solved(harness, share=share))

    def _by_itself(self, share: float) -> Driven:
        """By its own parameters; what is made inside a function by those of that. `share`: of the time that is left."""
        target = self.target
        if _LOCALS in target.qualname:
            return self._called_by(Frame(target.file, target.qualname.rpartition(_LOCALS)[0]), self.loaded, share)
        if target.factory is not None:
            return self._supplied(target.factory)
        _, found = looked_up(self.loaded, target.qualname)
        if is_model(found):
            return self._models([found], "the model")
        harness = self._harness(target, self.loaded, forms(target.given))
        solution = self._solved(harness, share=share)
        if models := _models_of(solution.attempt.result):
            several = "model" if len(models) == 1 else "models"
            return self._models(models, f"the {several} that it gives when {harness.how(solution)}")
        return self._finished(harness, solution)

    def _supplied(self, name: str) -> Driven:
        """With what the user's own function makes: a tuple of arguments, a dict of them by name, or one."""
        supply = Supply.of(name)
        harness = self._harness(self.target, self.loaded, supply.given())
        driven = self._finished(harness, self._solved(harness))
        driven.make, driven.value_sets, driven.variants = supply.make, supply.value_sets, supply.variants
        driven.how += f", as `{name}` gives it"
        driven.extremes = ()
        return driven

    def _harness(self, target: Target, loaded: Loaded, given: Given) -> Harness:
        """For a definition that a module holds."""
        owner, found = looked_up(loaded, target.qualname)
        said = Arranged(self.target.parameters, given, forms(target.made_of))
        if inspect.isclass(found):
            return harnesses.of_object(found, said)
        name = inside(owner, target.qualname.rpartition(".")[2])
        if not callable(found) and not isinstance(found, property):
            raise NotDrivenError(f"`{target.qualname}` is not a function ({type(found).__name__})")
        if owner is None or isinstance(inspect.getattr_static(owner, name), staticmethod | classmethod):
            return harnesses.of_function(found, said)
        made = next(heirs_of(owner, self._roots, name), owner) if is_abstract(owner) else owner
        return self._of_class(made, name, said)

    def _of_class(self, owner: type, name: str, said: Arranged) -> Harness:
        """For a method of a class."""
        found = getattr(owner, name)
        if name == "__init__":
            return harnesses.of_creation(owner, said)
        if name == "build" and keras_kind(owner) in ("layer", "model") and is_callable(owner):
            return harnesses.of_object(owner, replace(said, known=(), given={}))  # Keras calls it before the first call
        if found is called_method(owner):
            return harnesses.of_object(owner, said)
        if is_step(name) and keras_kind(owner) == "model":
            return harnesses.of_step(owner, name, said)
        return harnesses.of_method(owner, name, said, self._built(owner, said))

    def _built(self, cls: type, said: Arranged) -> Solution | None:
        """With what to call a Keras object so that it is built; None where it is tried as it is made."""
        if keras_kind(cls) not in ("layer", "model") or not is_callable(cls):
            return None
        try:
            return self._solved(harnesses.of_object(cls, replace(said, given={})), share=0.5)
        except NotDrivenError:
            return None

    def _solved(self, harness: Harness, caller: bool = False, share: float = 1.0) -> Solution:
        """Inputs for a harness. A `caller` of what is meant may return anything; `share`: of the time that is left."""
        self.note("search")
        wanted = frozenset((self.target.file, line) for line in self.target.wanted)
        avoid = frozenset(self.target.avoid)
        given = None
        if self.given is not None:
            given = self.given[len(self.found)] if len(self.found) < len(self.given) else None
            if given is None or [(one.group, one.name) for one in given.slots] != [
                (one.group, one.name) for one in harness.slots
            ]:
                raise NotDrivenError("it cannot be called like the original")
            harness.slots = pinned(harness.slots, given)
        left = share * self.limit.left
        harness.search = Search(
            harness.slots, harness.run, self.own, harness.entry, wanted, self.note, avoid, left, self._roots
        )
        if self.given is None:
            harness.search.others = lambda: [*harness.others, *self._passing.to(harness)]
            harness.search.settings = lambda: self._passing.settings_of(harness)
        try:
            solution = harness.search.solve()
        except NotFoundError as error:
            said, partly = self._not_found(harness, error), self._partly(harness, error)
            raise NotDrivenError(said, by_keras=error.by_keras, partly=partly) from error.nearest
        if given is not None:
            solution = follow(solution, given)
            if solution.words != given.words:
                raise NotDrivenError(f"it does not accept the inputs of the original ({given.words})")
        result = solution.attempt.result
        free = caller or self.target.given or self.target.host  # to return anything
        if not free and isinstance(result, backend.DISTRIBUTED):
            raise NotDrivenError(f"it returns what its replicas return: {_APART}; the step that they run is compiled")
        if harness.creates and not caller and any(map(variables_in, result.values())):
            said = "it creates variables, which compiled code takes from outside"
            raise NotDrivenError(said, in_no_way=True)
        asked = bool(solution.attempt.reached & wanted)
        if not free and not holds_tensors(result, asked) and not _models_of(result):
            kind = type(result).__name__
            raise NotDrivenError(f"it returns no tensor ({kind}): there is nothing to compile")
        self.found.append(solution)
        return solution

    @cached_property
    def _passing(self) -> Passing:
        return Passing(self._roots, self.target.search, self.others)

    def _not_found(self, harness: Harness, error: NotFoundError) -> str:
        if isinstance(error.nearest, TooLongError):
            return "the eager call does not end"
        said = described(error.nearest)
        if all(slot.fixed for slot in harness.slots):
            return f"the eager call fails: {said}"
        names = ", ".join(f"{slot.name}: .." for slot in harness.slots if slot.group == "call" and not slot.star)
        return f"no inputs found in {error.calls} calls ({said}); write `# xlalint: probe({names})` above it"

    def _partly(self, harness: Harness, error: NotFoundError) -> Partly | None:
        """How a harness is run with the inputs that came furthest."""
        if error.furthest is None or self.given is not None:
            return None
        nearest = Solution(harness.slots, [error.furthest], list(range(VALUE_SETS)), Attempt())
        groups = dict.fromkeys(slot.group for slot in harness.slots)

        def ready(number: int) -> tuple[Any, Callable[[], Any]]:
            given = {group: nearest.make(group, number, 0) for group in groups}
            return given, partial(harness.run, given)

        def extreme(make: Callable[[int], Arguments]) -> tuple[Any, Callable[[], Any]]:
            given = {group: make(0) if group == "call" else nearest.make(group, 0, 0) for group in groups}
            return given, partial(harness.run, given)

        return Partly(ready, [partial(extreme, one) for one in nearest.extremes()], self._autograph(harness))

    def _autograph(self, harness: Harness) -> bool:
        """Whether AutoGraph converts what a harness runs."""
        if self.target.autograph is not None and not is_left_to_keras_2(self.target.autograph, self.target.keras):
            return self.target.autograph
        return harness.owner is None or keras_kind(harness.owner) is None or keras_converts(harness.owner)

    def _finished(self, harness: Harness, solution: Solution) -> Driven:
        self.note("build")
        with backend.eager_execution():
            try:
                called = harness.ready(solution)
            except Exception as error:  # by chance, say
                raise NotDrivenError(f"the eager call raises {described(error)}") from error
            if self._has_strategies and (replicas := self._replicas(called, solution)) > 1:
                raise NotDrivenError(f"it runs {replicas} replicas: {_APART}; the step that they run is compiled")
        assert harness.search is not None
        if self.given is None:
            before = State(harness.state())
            harness.search.vary(solution, called)
            before.restore()  # it may count its calls
        called, kept, notes = as_taken(called, solution)
        return Driven(
            call=called,
            make=lambda number, variant: kept(solution.make_call(number, variant)),
            value_sets=len(solution.sets),
            variants=len(solution.shapes),
            state=lambda: [*harness.state(), *self._variables()],
            autograph=self._autograph(harness),
            how=harness.how(solution),
            inputs=solution.inputs("call"),
            reached=solution.reached,
            notes=notes,
            extremes=[partial(arguments_of, kept, one) for one in solution.extremes()],
            anew=None if harness.anew is None else partial(created_again, harness.anew, solution),
        )

    def _variables(self) -> list[Any]:
        """The variables at the top of the module, and those of the objects there."""
        files = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
        own = {name for name, file in files if isinstance(file, str) and self.own(file)}
        return variables_held([*vars(self.loaded.module).values()], {self.loaded.module.__name__, *own})

    @property
    def _has_strategies(self) -> bool:
        """Whether a module that takes part holds a strategy with several replicas."""
        values = (value for loaded in (self.loaded, *self.others) for value in list(vars(loaded.module).values()))
        return any(isinstance(one, backend.STRATEGIES) and one.num_replicas_in_sync > 1 for one in values)

    def _replicas(self, called: Callable[..., Any], solution: Solution) -> int:
        """How many replicas a call runs, as its strategy says."""
        positional, keywords = solution.make("call", 0, 0)
        call = first_call(lambda: called(*positional, **keywords), lambda code: code in backend.RUNS)
        return 1 if call is None else int(call.positional[0].num_replicas_in_sync)

    # -- ways ---------------------------------------------------------------------------------------------------------

    def _models(self, models: Sequence[Any], how: str) -> Driven:
        """Keras models, and how one is trained. `how`: what they are, and where they are from."""
        harness = harnesses.of_models(models, how, forms(self.target.given).get("inputs"))
        driven = self._finished(harness, self._solved(harness))
        if len(models) == 1 and is_compiled(models[0]) and self.given is None:
            driven.training = cache(partial(self._training, models[0], driven))
        return driven

    def _training(self, model: Any, driven: Driven) -> Driven | str:
        """How a model is trained that is driven; or why that is not known."""

        def inputs(number: int) -> Any:
            return driven.make(number, 0)[0][0]

        self.note("build")
        try:
            training = training_of(model, inputs, forms(self.target.given).get("labels"))
        except NoTrainingError as error:
            return f"its train step is not run: {error}"
        return Driven(
            call=training.step,
            make=lambda number, variant: ((training.batch(number, inputs(number)),), {}),
            value_sets=min(driven.value_sets, _OF_TRAINING),
            variants=1,
            state=driven.state,
            autograph=driven.autograph,
            how=training.how,
            inputs=(training.labels,) if training.labels else (),
            of=training.how,
            is_step=True,
            notes=training.notes,
        )

    # -- by way of a caller -------------------------------------------------------------------------------------------

    def _called_by(self, caller: Frame, loaded: Loaded | None, share: float = 1.0) -> Driven:
        """What the target is called with while a caller of it runs. `share`: of the time that is left."""
        if loaded is None:
            loaded = _loaded(Path(caller.file), self.target, "its caller's", caller.qualname)
            self.others.append(loaded)
        caller = replace(caller, qualname=caller.qualname.partition(_LOCALS)[0])  # what makes it, too
        outside = Target(caller.file, caller.qualname, roots=self.target.roots, search=self.target.search)
        harness = (
            test_harness(loaded.module, caller) if is_test(Path(caller.file)) else self._harness(outside, loaded, {})
        )
        first, last = self.target.lines
        name = self.target.qualname.rpartition(".")[2]

        def matches(code: CodeType) -> bool:
            inside = first <= code.co_firstlineno <= last
            return inside and code.co_name == name and os.path.samefile(code.co_filename, self.target.file)

        for _ in range(_MOST_INSIDE):
            calls = watch(harness, matches)
            solution = self._solved(harness, caller=True, share=share)
            groups = dict.fromkeys(slot.group for slot in harness.slots)
            with backend.eager_execution():
                harness.run({group: solution.make(group, 0, 0) for group in groups})
            given = harnesses.function_given(solution.attempt.result, matches)
            code = None if given is None else harnesses.code_of(given)
            if calls or given is None or code is None or not self.own(code.co_filename):
                break
            if matches(code):
                made = harnesses.of_function(given, Arranged(self.target.parameters, forms(self.target.given), {}))
                return self._finished(made, self._solved(made))
            harness = harnesses.of_function(given, Arranged((), {}, {}))  # what it gives may call it
        if not calls:
            raise NotDrivenError(f"`{caller.qualname}` was called and did not call it; write a probe comment above it")
        [call] = calls[:1]
        for generated in (True, False):
            again = harnesses.of_recorded(call, harness.owner, generated)
            try:
                driven = self._finished(again, self._solved(again))
            except NotDrivenError:
                if not generated:
                    raise
            else:
                driven.how, driven.looped = f"{driven.how}, as `{caller.qualname}` does", call.looped
                if call.replicas > 1:
                    driven.notes += (f"one of {call.replicas} replicas: {_APART}",)
                return driven
        raise AssertionError("both branches return or raise")


def _models_of(result: Any) -> list[Any]:
    """The models that something gives which gives no tensors."""
    return [] if holds_tensors(result, asked=False) else models_in(result)
