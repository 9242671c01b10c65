"""From a target to something that can be called, with what to call it with."""

from __future__ import annotations

import importlib
import inspect
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any, Final, TypeAlias

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.fragments import NAME, wrapped
from xlalint.probe.specs import SpecError, parse_form
from xlalint.probe.target import Frame, Given, Target

from .advice import message_of
from .capture import Captured, as_it_is, captured, forms_of
from .inputs import Arguments, NotFoundError, Run, Search, Solution, follow, pinned
from .load import Loaded, LoadError, first_line, load
from .measure import eager_execution
from .objects import (
    GRADIENT,
    INPUTS,
    call_of,
    called_method,
    compile_slots,
    is_model,
    is_step,
    keras_converts,
    keras_kind,
    make_object,
    model_slots,
    state_of,
    step_of,
    variables_in,
)
from .reach import TooLongError
from .slots import Choice, Slot, plain, slots_of, tensor
from .training import NoTrainingError, is_compiled, training_of
from .values import VALUE_SETS

_DEEPEST: Final = 3  # callers of callers
_WIDEST: Final = 3  # shapes that a user's function is asked for
_SECONDS: Final = 30.0  # to look for inputs
_OF_TRAINING: Final = 2  # batches that a step of training gets
_LOCALS: Final = ".<locals>."

_Given: TypeAlias = Mapping[str | int, Choice]  # the user's inputs, by name or position


class NotDrivenError(Exception):
    """The target cannot be called. The text is one line, and names what the user can write to help."""


@dataclass
class Driven:
    """Something to call and what to call it with; the same values at every `make` of a set and a variant.

    `value_sets`: how many sets of values of one shape, `variants`: how many shapes; `state`: the variables to put back
    before each call; `how`, `inputs`: what was done, in words, and the inputs in the grammar of `specs`; `reached`:
    the lines of the user's files that eager execution ran; `moved`: files that stand for the user's, each with that and
    the lines to subtract; `close` forgets what was imported; `found`: the inputs of each step on the way, for another
    that is to be called with the same.
    """

    call: Callable[..., Any]
    make: Callable[[int, int], Arguments]
    value_sets: int
    variants: int
    state: Callable[[], list[Any]]
    autograph: bool
    how: str
    inputs: tuple[str, ...]
    reached: frozenset[tuple[str, int]] = frozenset()
    moved: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None
    found: Sequence[Solution] = ()
    of: str = "it"
    training: Callable[[], Driven | str] | None = None
    is_step: bool = False
    notes: tuple[str, ...] = ()


@dataclass
class _Way:
    """A way to run something: what it asks for and how it is run, before the inputs are known.

    `ready` makes the thing to call of the inputs that were found; `how` puts it into words.
    """

    slots: list[Slot]
    run: Run
    ready: Callable[[Solution], Callable[..., Any]]
    how: Callable[[Solution], str]
    entry: CodeType | None
    owner: type | None = None
    state: Callable[[], list[Any]] = list
    search: Search | None = None


def drive(target: Target, note: Callable[[str], None], like: Driven | None = None, seconds: float = _SECONDS) -> Driven:
    """Get a target ready to be called, with the inputs of `like` if there is one; `note` hears what is done next.

    `seconds`: how long to look for inputs. Raises NotDrivenError.
    """
    note("import")
    with ExitStack() as stack:
        moved: dict[str, tuple[str, int]] = {}
        if target.kind == "fragment":
            path = _written(target, stack)
            moved[str(path)] = (target.file, 1)
            target = replace(target, file=str(path), qualname=NAME, roots=(*target.roots, str(path)))
        given = None if like is None else list(like.found)
        loaded = _loaded(Path(target.file), target, "its")
        driver = _Driver(target, loaded, note, time.monotonic() + seconds, given)
        stack.callback(driver.close)
        driven = driver.driven()
        driven.moved = moved
        driven.found = driver.found
        driven.close = stack.pop_all().close
        return driven


def _written(target: Target, stack: ExitStack) -> Path:
    """A fragment as a function in a file of its own."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="xlalint-fragment-")))
    path = folder / Path(target.file).with_suffix(".py").name
    try:
        path.write_text(wrapped(Path(target.file).read_text(encoding="utf-8")), encoding="utf-8")
    except (OSError, SyntaxError, ValueError) as error:
        raise NotDrivenError(f"it is no code to call: {first_line(error)}") from error
    return path


def _loaded(path: Path, target: Target, whose: str) -> Loaded:
    try:
        return load(path, target.search)
    except LoadError as error:
        raise NotDrivenError(f"{whose} module cannot be imported: {error}") from error


@dataclass
class _Driver:
    """Drives one target, until `end` on the clock at the latest. `given`: the inputs to use, step by step, where they
    are not to be looked for; `found`: those that were used."""

    target: Target
    loaded: Loaded
    note: Callable[[str], None]
    end: float
    given: list[Solution] | None = None
    others: list[Loaded] = field(default_factory=list)
    found: list[Solution] = field(default_factory=list)

    def close(self) -> None:
        for loaded in (*self.others, self.loaded):
            loaded.close()

    def own(self, path: str) -> bool:
        """Whether a file is the user's."""
        return path.startswith(self._roots)

    @property
    def _roots(self) -> tuple[str, ...]:
        roots = self.target.roots or (str(Path(self.target.file).parent),)
        return tuple(root if root.endswith((".py", os.sep)) else root + os.sep for root in roots)

    # -- the order of the ways ----------------------------------------------------------------------------------------

    def driven(self) -> Driven:
        """By its own parameters first; then by what its callers hand it."""
        target = self.target
        if _LOCALS in target.qualname:
            return self._captured_in(Frame(target.file, target.qualname.rpartition(_LOCALS)[0]), self.loaded)
        try:
            if target.factory is not None:
                return self._supplied(target.factory)
            _, found = _looked_up(self.loaded, target.qualname)
            if is_model(found):
                return self._model(found, "the model")
            way = self._way(target, self.loaded, _forms(target.given))
            solution = self._solved(way)
            if is_model(solution.outcome.result):
                return self._model(solution.outcome.result, f"the model that it gives when {way.how(solution)}")
            return self._finished(way, solution)
        except NotDrivenError:
            for caller in target.callers[:_DEEPEST]:
                try:
                    return self._captured_in(caller, None)
                except NotDrivenError:
                    continue
            raise

    def _supplied(self, name: str) -> Driven:
        """With what the user's own function makes: a tuple of arguments, a dict of them by name, or one."""
        supply = _Supply.of(name)
        way = self._way(self.target, self.loaded, supply.given())
        driven = self._finished(way, self._solved(way))
        driven.make, driven.value_sets, driven.variants = supply.make, supply.value_sets, supply.variants
        driven.how += f", as `{name}` gives it"
        return driven

    def _way(self, target: Target, loaded: Loaded, given: _Given) -> _Way:
        """How to run a definition that a module holds."""
        owner, found = _looked_up(loaded, target.qualname)
        made_of = _forms(target.made_of)
        if inspect.isclass(found):
            return self._object_way(found, given, made_of)
        name = _inside(owner, target.qualname.rpartition(".")[2])
        if not callable(found):
            raise NotDrivenError(f"`{target.qualname}` is no function ({type(found).__name__})")
        if owner is None or isinstance(inspect.getattr_static(owner, name), staticmethod | classmethod):
            return self._function_way(found, given)
        if found is called_method(owner):
            return self._object_way(owner, given, made_of)
        if is_step(name) and keras_kind(owner) == "model":
            return self._step_way(owner, name, given, made_of)
        return self._method_way(owner, name, given, made_of)

    def _solved(self, way: _Way, caller: bool = False, share: float = 1.0) -> Solution:
        """Inputs for a way. A `caller` of what is meant may return anything; `share`: of the time that is left."""
        self.note("search")
        wanted = frozenset((self.target.file, line) for line in self.target.wanted)
        avoid = frozenset(self.target.avoid)
        given = None
        if self.given is not None:
            given = self.given[len(self.found)] if len(self.found) < len(self.given) else None
            if given is None or [(one.group, one.name) for one in given.slots] != [
                (one.group, one.name) for one in way.slots
            ]:
                raise NotDrivenError("it cannot be called in the way that the original is")
            way.slots = pinned(way.slots, given)
        left = share * max(self.end - time.monotonic(), 0.0)
        way.search = Search(way.slots, way.run, self.own, way.entry, wanted, self.note, avoid, left)
        try:
            solution = way.search.solve()
        except NotFoundError as error:
            raise NotDrivenError(self._not_found(way, error)) from error.nearest
        if given is not None:
            solution = follow(solution, given)
            if solution.words != given.words:
                raise NotDrivenError(f"it does not take the inputs of the original ({given.words})")
        result = solution.outcome.result
        if not caller and not self.target.given and not _holds_tensors(result) and not is_model(result):
            kind = type(result).__name__
            raise NotDrivenError(f"it returns no tensor ({kind}): there is nothing to compile")
        self.found.append(solution)
        return solution

    def _not_found(self, way: _Way, error: NotFoundError) -> str:
        if isinstance(error.nearest, TooLongError):
            return "the eager call does not end"
        said = _said(error.nearest)
        if all(slot.fixed for slot in way.slots):
            return f"the eager call fails: {said}"
        names = ", ".join(f"{slot.name}: .." for slot in way.slots if slot.group == "call" and not slot.star)
        return f"no inputs found in {error.calls} calls ({said}); write `# xlalint: probe({names})` above it"

    def _finished(self, way: _Way, solution: Solution) -> Driven:
        self.note("build")
        with eager_execution():
            called = way.ready(solution)
        assert way.search is not None
        if self.given is None:
            way.search.vary(solution, called)
        target = self.target
        autograph = way.owner is None or keras_kind(way.owner) is None or keras_converts(way.owner)
        return Driven(
            call=called,
            make=lambda value_set, variant: solution.make("call", value_set, variant),
            value_sets=len(solution.sets),
            variants=len(solution.shapes),
            state=lambda: [*way.state(), *_variables_of(self.loaded)],
            autograph=autograph if target.autograph is None else target.autograph,
            how=way.how(solution),
            inputs=solution.inputs("call"),
            reached=solution.reached,
        )

    # -- ways ---------------------------------------------------------------------------------------------------------

    def _function_way(self, function: Callable[..., Any], given: _Given) -> _Way:
        slots = _slots(function, "call", self.target, given)

        def run(groups: Mapping[str, Arguments]) -> Any:
            positional, keywords = groups.get("call", ((), {}))
            return function(*positional, **keywords)

        return _Way(
            slots,
            run,
            lambda solution: function,
            lambda solution: f"called with {_words(solution, 'call')}",
            getattr(plain(function), "__code__", None),
        )

    def _object_way(self, cls: type, given: _Given, made_of: _Given) -> _Way:
        method = called_method(cls)
        if keras_kind(cls) == "optimizer":
            slots = [GRADIENT]
        elif method is None:
            raise NotDrivenError(f"an object of `{cls.__qualname__}` cannot be called")
        else:
            slots = _slots(method, "call", self.target, given, bound=True)
            if keras_kind(cls) in ("layer", "model"):
                # Keras takes nothing but tensors by position.
                rest = [replace(slot, positional=False) for slot in slots[1:]]
                slots = [*(_required(slot) for slot in slots[:1]), *rest]
        made: list[Any] = []

        def run(groups: Mapping[str, Arguments]) -> Any:
            positional, keywords = groups.get("call", ((), {}))
            return call_of(cls, make_object(cls, groups))(*positional, **keywords)

        def ready(solution: Solution) -> Callable[..., Any]:
            made[:] = [make_object(cls, {"init": solution.make("init", 0, 0)})]
            called = call_of(cls, made[0])
            positional, keywords = solution.make("call", 0, 0)
            called(*positional, **keywords)  # it makes its variables at its first call
            return called

        return _Way(
            _made_of(cls, made_of) + slots,
            run,
            ready,
            lambda solution: f"{cls.__qualname__}({_words(solution, 'init')}), called with {_words(solution, 'call')}",
            getattr(plain(method), "__code__", None) if method is not None else None,
            cls,
            lambda: state_of(made[0]),
        )

    def _model(self, model: Any, how: str) -> Driven:
        """A Keras model, and how it is trained. `how`: what it is, and where it is from."""
        way = self._model_way(model, how)
        driven = self._finished(way, self._solved(way))
        if is_compiled(model) and self.given is None:
            driven.training = cache(partial(self._training, model, driven))
        return driven

    def _training(self, model: Any, driven: Driven) -> Driven | str:
        """How a model is trained that is driven; or why that is not known."""

        def inputs(number: int) -> Any:
            return driven.make(number, 0)[0][0]

        self.note("build")
        try:
            training = training_of(model, inputs, _forms(self.target.given).get("labels"))
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

    def _model_way(self, model: Any, how: str) -> _Way:
        """A Keras model, called with what the user says of `inputs`, or the model itself."""
        said = _forms(self.target.given).get("inputs")
        with eager_execution():
            slots = model_slots(model) if said is None else [replace(INPUTS, choices=(said,), fixed=True)]

        def run(groups: Mapping[str, Arguments]) -> Any:
            positional, keywords = groups["call"]
            return model(*positional, **keywords)

        return _Way(
            slots,
            run,
            lambda solution: model,
            lambda solution: f"{how}, called with {_words(solution, 'call')}",
            None,
            type(model),
            lambda: state_of(model),
        )

    def _method_way(self, cls: type, name: str, given: _Given, made_of: _Given) -> _Way:
        """A method other than what runs when the object is called; a Keras object is built by calling it first."""
        attribute = inspect.getattr_static(cls, name)
        if isinstance(attribute, property):
            slots: list[Slot] = []
        else:
            slots = _slots(getattr(cls, name), "call", self.target, given, bound=True)
        making = _made_of(cls, made_of)
        built: Solution | None = None
        if keras_kind(cls) in ("layer", "model") and called_method(cls) is not None:
            try:
                built = self._solved(self._object_way(cls, {}, made_of), share=0.5)
            except NotDrivenError:
                built = None  # it is tried as it is made
        if built is not None:
            making = []
        made: list[Any] = []

        def new(groups: Mapping[str, Arguments]) -> Any:
            if built is None:
                return make_object(cls, groups)
            if not made:
                made.append(make_object(cls, {"init": built.make("init", 0, 0)}))
                positional, keywords = built.make("call", 0, 0)
                made[0](*positional, **keywords)
            return made[0]

        if built is not None:
            # Not in the search: that must not take what making the object runs for what the method does.
            try:
                with eager_execution():
                    new({})
            except Exception as error:
                raise NotDrivenError(f"its object cannot be made again: {_said(error)}") from error

        def bound(thing: Any) -> Any:
            return (lambda: getattr(thing, name)) if isinstance(attribute, property) else getattr(thing, name)

        def run(groups: Mapping[str, Arguments]) -> Any:
            positional, keywords = groups.get("call", ((), {}))
            return bound(new(groups))(*positional, **keywords)

        def ready(solution: Solution) -> Any:
            made[:] = [new({"init": solution.make("init", 0, 0)})]
            return bound(made[0])

        def how(solution: Solution) -> str:
            inside = _words(built or solution, "init")
            return f"{cls.__qualname__}({inside}).{name} with {_words(solution, 'call')}"

        code = None if isinstance(attribute, property) else getattr(plain(getattr(cls, name)), "__code__", None)
        return _Way(making + slots, run, ready, how, code, cls, lambda: state_of(made[0]))

    def _step_way(self, cls: type, name: str, given: _Given, made_of: _Given) -> _Way:
        """A step of training: of a compiled model, with a batch."""
        method = getattr(cls, name)
        slots = _made_of(cls, made_of) + compile_slots(cls) + _slots(method, "call", self.target, given, bound=True)
        made: list[Any] = []

        def run(groups: Mapping[str, Arguments]) -> Any:
            positional, keywords = groups["call"]
            return step_of(make_object(cls, groups), name, groups)(*positional, **keywords)

        def ready(solution: Solution) -> Callable[..., Any]:
            groups = {group: solution.make(group, 0, 0) for group in ("init", "compile", "call")}
            made[:] = [make_object(cls, groups)]
            step = step_of(made[0], name, groups)
            positional, keywords = groups["call"]
            step(*positional, **keywords)
            return step

        def how(solution: Solution) -> str:
            inside = _words(solution, "compile")
            return f"{cls.__qualname__}(..).{name} after compile({inside}), with {_words(solution, 'call')}"

        return _Way(slots, run, ready, how, getattr(plain(method), "__code__", None), cls, lambda: state_of(made[0]))

    # -- by way of a caller -------------------------------------------------------------------------------------------

    def _captured_in(self, caller: Frame, loaded: Loaded | None) -> Driven:
        """What the target is called with while a caller of it runs."""
        if loaded is None:
            loaded = _loaded(Path(caller.file), self.target, "its caller's")
            self.others.append(loaded)
        if _LOCALS in caller.qualname:
            raise NotDrivenError("it is made inside a function that is itself made inside one; probe the outer one")
        outside = Target(caller.file, caller.qualname, roots=self.target.roots, search=self.target.search)
        way = self._way(outside, loaded, {})
        first, last = self.target.lines
        name = self.target.qualname.rpartition(".")[2]

        def matches(code: CodeType) -> bool:
            inside = first <= code.co_firstlineno <= last
            return inside and code.co_name == name and os.path.samefile(code.co_filename, self.target.file)

        solution = self._solved(way, caller=True)
        groups = {group: solution.make(group, 0, 0) for group in dict.fromkeys(slot.group for slot in way.slots)}
        with eager_execution():
            call = captured(lambda: way.run(groups), matches)
        if call is None:
            result = solution.outcome.result
            if callable(result) and matches(getattr(plain(result), "__code__", (lambda: None).__code__)):
                made = self._function_way(result, _forms(self.target.given))
                return self._finished(made, self._solved(made))
            raise NotDrivenError(f"`{caller.qualname}` was called and did not call it; write a probe comment above it")
        inner = replace(self._replayed(call), owner=way.owner)
        for generated in (True, False):
            again = replace(inner, slots=_recorded(call, generated))
            try:
                driven = self._finished(again, self._solved(again))
            except NotDrivenError:
                if not generated:
                    raise
            else:
                driven.how = f"{driven.how}, as `{caller.qualname}` does"
                return driven
        raise AssertionError("both ways return or raise")

    def _replayed(self, call: Captured) -> _Way:
        def run(groups: Mapping[str, Arguments]) -> Any:
            positional, keywords = groups.get("call", ((), {}))
            return call.function(*positional, **keywords)

        return _Way(
            [],
            run,
            lambda solution: call.function,
            lambda solution: f"called with {_words(solution, 'call')}",
            getattr(call.function, "__code__", None),
        )


@dataclass
class _Supply:
    """The user's function that makes inputs. It may take the number of the set of values, and that of the shape."""

    name: str
    function: Callable[..., Any]
    takes: int

    @classmethod
    def of(cls, name: str) -> _Supply:
        """Look it up: "pkg.mod:make"."""
        module, _, attribute = name.partition(":")
        try:
            function = getattr(importlib.import_module(module), attribute)
            return cls(name, function, len(inspect.signature(function).parameters))
        except Exception as error:
            raise NotDrivenError(f"`{name}` cannot make its inputs: {_said(error)}") from error

    @property
    def value_sets(self) -> int:
        return VALUE_SETS if self.takes >= 1 else 1

    @property
    def variants(self) -> int:
        return _WIDEST if self.takes >= 2 else 1

    def make(self, value_set: int, variant: int) -> Arguments:
        """The arguments of one call."""
        made = self.function(*(value_set, variant)[: self.takes])
        if isinstance(made, dict):
            return (), made
        return (made if isinstance(made, tuple) else (made,)), {}

    def given(self) -> dict[str | int, Choice]:
        """The first arguments, as they are."""
        try:
            positional, keywords = self.make(0, 0)
        except Exception as error:
            raise NotDrivenError(f"`{self.name}` cannot make its inputs: {_said(error)}") from error
        found: dict[str | int, Choice] = {name: as_it_is(value) for name, value in keywords.items()}
        return found | {position: as_it_is(value) for position, value in enumerate(positional)}


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {first_line(message_of(error))}"[:300]


def _recorded(call: Captured, generated: bool) -> list[Slot]:
    return [Slot(name, "call", (choice,), positional) for name, choice, positional in forms_of(call, generated)]


def _looked_up(loaded: Loaded, qualname: str) -> tuple[type | None, Any]:
    """What a module holds under a qualified name, and the class that it is in."""
    owner, found = None, loaded.module
    for part in qualname.split("."):
        owner = found if inspect.isclass(found) else None
        name = _inside(owner, part)
        if not hasattr(found, name):
            raise NotDrivenError(f"the imported module has no `{qualname}`")
        found = getattr(found, name)
    return owner, found


def _inside(owner: type | None, name: str) -> str:
    """A name as a class has it: Python writes the class before one that is private to it."""
    private = owner is not None and name.startswith("__") and not name.endswith("__")
    return f"_{owner.__name__.lstrip('_')}{name}" if private and owner is not None else name


def _slots(function: Callable[..., Any], group: str, target: Target, given: _Given, bound: bool = False) -> list[Slot]:
    try:
        # What an object's method calls `self` is no parameter of the call, and counts for no position.
        shifted = {key + bound if isinstance(key, int) else key: form for key, form in given.items()}
        return slots_of(function, group, target.parameters, shifted)[int(bound) :]
    except (TypeError, ValueError) as error:
        raise NotDrivenError(f"its parameters are not known: {error}") from error


def _required(slot: Slot) -> Slot:
    """The first parameter of a layer's call, which Keras wants to see whatever its default is."""
    return replace(slot, choices=tuple(choice for choice in slot.choices if choice is not None) or (tensor(),))


def _made_of(cls: type, made_of: _Given) -> list[Slot]:
    """What the class asks for. Optional parameters stay as they are by default unless something speaks for another."""
    if inspect.isabstract(cls):
        raise NotDrivenError(f"`{cls.__qualname__}` is abstract: probe a class that is made of it")
    try:
        return slots_of(cls, "init", given=made_of)
    except (TypeError, ValueError) as error:
        raise NotDrivenError(f"`{cls.__qualname__}` cannot be made: {error}") from error


def _forms(given: Sequence[Given]) -> dict[str | int, Choice]:
    """The user's inputs, by name or position."""
    try:
        return {position if one.name is None else one.name: parse_form(one.spec) for position, one in enumerate(given)}
    except SpecError as error:
        raise NotDrivenError(str(error)) from error


def _words(solution: Solution, group: str) -> str:
    return ", ".join(solution.inputs(group)) or "nothing" * (group == "call")


def _holds_tensors(result: Any) -> bool:
    """Whether a function that is compiled may return this, and a tensor among it."""
    if result is None:
        return True  # it may change variables
    try:
        leaves = tf.nest.flatten(result)
    except (TypeError, ValueError):
        return False
    plain_values = (bool, int, float, complex, str, bytes, type(None))
    return any(tf.is_tensor(leaf) or isinstance(leaf, tf.__internal__.CompositeTensor) for leaf in leaves) and all(
        tf.is_tensor(leaf) or hasattr(leaf, "shape") or isinstance(leaf, plain_values) for leaf in leaves
    )


def _variables_of(loaded: Loaded) -> list[Any]:
    """The variables at the top of a module, and those of the Keras objects there."""
    return [variable for value in vars(loaded.module).values() for variable in variables_in(value)]
