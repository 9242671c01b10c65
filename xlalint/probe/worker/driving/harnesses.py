"""Harnesses: how something is run, before its inputs are known. One for each kind of definition."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from xlalint.probe.target import Parameter

from ..backends import backend
from ..code.messages import described
from ..inputs.culprits import frames_of
from ..inputs.parts import Assignment
from ..inputs.recorded_calls import RecordedCall, forms_of, recorded
from ..inputs.search import Run, Search, Solution
from ..inputs.signatures import python_function_of
from ..inputs.slots import Choice, Slot, slots_of, tensor
from ..inputs.tensors import Arguments
from .driven import NotDrivenError
from .keras_objects import (
    GRADIENT,
    INPUTS,
    call_of,
    called_method,
    compile_slots,
    keras_kind,
    make_object,
    model_slots,
    state_of,
    step_of,
    variables_in,
)
from .preparing import asks, preparations, sets_attributes
from .state import State

Given: TypeAlias = Mapping[str | int, Choice]  # the user's inputs, by name or position
_NOTHING: Arguments = ((), {})


@dataclass
class Harness:
    """What a definition asks for and how it is run.

    `ready` makes the thing to call of the inputs that were found; `how` puts it into words; `others`: inputs to try as
    soon as the first guess fails; `creates`: what it gives are the parts of a new object; `anew`: another object, as it
    is made, and what is called of it.
    """

    slots: list[Slot]
    run: Run
    ready: Callable[[Solution], Callable[..., Any]]
    how: Callable[[Solution], str]
    entry: CodeType | None
    owner: type | None = None
    state: Callable[[], list[Any]] = list
    search: Search | None = None
    others: Sequence[Assignment] = ()
    creates: bool = False
    anew: Callable[[Solution], tuple[Any, Callable[..., Any]]] | None = None


@dataclass(frozen=True)
class Arranged:
    """What is said of inputs: `known` of the parameters without running anything; `given` and `made_of` by the user, of
    the call and of the object that is called."""

    known: Sequence[Parameter]
    given: Given
    made_of: Given

    def of_call(self, function: Callable[..., Any], *, bound: bool = False) -> list[Slot]:
        """The parameters of a call."""
        try:
            return slots_of(function, "call", self.known, self.given, bound=bound)
        except (TypeError, ValueError) as error:
            raise NotDrivenError(f"its parameters are not known: {error}") from error

    def of_object(self, cls: type) -> list[Slot]:
        """What the class asks for. Optional parameters stay as they are by default unless something speaks for
        another."""
        if inspect.isabstract(cls):
            raise NotDrivenError(f"`{cls.__qualname__}` is abstract: probe a subclass")
        try:
            return slots_of(cls, "init", given=self.made_of)
        except (TypeError, ValueError) as error:
            raise NotDrivenError(f"`{cls.__qualname__}` cannot be created: {error}") from error


def code_of(function: Any) -> CodeType | None:
    """The code that runs when a function is called."""
    return getattr(python_function_of(function), "__code__", None)


def function_given(result: Any, matches: Callable[[CodeType], bool]) -> Callable[..., Any] | None:
    """The function that something gives, or the first of several in a structure: of those whose code `matches`, if
    there are some."""
    several = [one for one in backend.flatten(result) if callable(one)]
    wanted = (one for one in several if (code := code_of(one)) is not None and matches(code))
    return next(wanted, next(iter(several), None))


def watch(harness: Harness, matches: Callable[[CodeType], bool]) -> list[RecordedCall]:
    """Watch for a call of the code that `matches` each time that a harness is run; what is given has the first call of
    the last run. A run that fails elsewhere, behind the call, has served."""
    run, calls = harness.run, list[RecordedCall]()

    def watched(groups: Mapping[str, Arguments]) -> Any:
        calls.clear()
        try:
            return recorded(partial(run, groups), matches, calls, _outside)
        except Exception as error:
            if not calls or any(matches(frame.f_code) for frame in frames_of(error.__traceback__)):
                raise
            return None

    harness.run = watched
    return calls


def of_function(function: Callable[..., Any], said: Arranged) -> Harness:
    """A function, or what needs no object."""

    def run(groups: Mapping[str, Arguments]) -> Any:
        positional, keywords = groups.get("call", _NOTHING)
        return function(*positional, **keywords)

    return Harness(
        said.of_call(function),
        run,
        lambda solution: function,
        lambda solution: f"called with {words_of(solution, 'call')}",
        code_of(function),
    )


def of_creation(cls: type, said: Arranged) -> Harness:
    """What makes an object, for the tensors that this then holds."""

    def create(*positional: Any, **keywords: Any) -> dict[str, Any]:
        made = cls(*positional, **keywords)
        held = getattr(made, "__dict__", {}).items()
        return {name: one for name, one in held if backend.is_tensor(one) or variables_in(one)}

    def run(groups: Mapping[str, Arguments]) -> Any:
        positional, keywords = groups.get("call", _NOTHING)
        return create(*positional, **keywords)

    maker: Any = inspect.getattr_static(cls, "__init__")
    return Harness(
        said.of_call(maker, bound=True),
        run,
        lambda solution: create,
        lambda solution: f"{cls.__qualname__} created with {words_of(solution, 'call')}",
        code_of(maker),
        cls,
        creates=True,
    )


def of_recorded(call: RecordedCall, owner: type | None, generated: bool) -> Harness:
    """A call that was seen, again; `generated`: with other tensors of the same shapes."""
    outside, before = call.kept or ([], State([]))

    def run(groups: Mapping[str, Arguments]) -> Any:
        before.restore()  # it may count in one of the variables of what is around it
        positional, keywords = groups.get("call", _NOTHING)
        return call.function(*positional, **keywords)

    def ready(solution: Solution) -> Callable[..., Any]:
        before.restore()
        return call.function

    return Harness(
        [Slot(name, "call", (choice,), positional) for name, choice, positional in forms_of(call, generated)],
        run,
        ready,
        lambda solution: f"called with {words_of(solution, 'call')}",
        getattr(call.function, "__code__", None),
        owner,
        lambda: outside,
        # What was seen fits together, which other values may not.
        others=[tuple(choice for _, choice, _ in forms_of(call, generated=False))] if generated else [],
    )


def _outside(function: FunctionType) -> tuple[list[Any], State]:
    """The variables of what a function inside of another one takes from there, and what they hold."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if not _is_empty(cell)]
    variables = [variable for one in cells for variable in variables_in(one)]
    return variables, State(variables)


def _is_empty(cell: Any) -> bool:
    """Whether a name of the function outside has no value yet."""
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True


def of_object(cls: type, said: Arranged) -> Harness:
    """An object of a class, called."""
    method = called_method(cls)
    if keras_kind(cls) == "optimizer":
        slots = [GRADIENT]
    elif method is None:
        raise NotDrivenError(f"an object of `{cls.__qualname__}` cannot be called")
    else:
        slots = said.of_call(method, bound=True)
        if keras_kind(cls) in ("layer", "model"):
            # Keras takes nothing but tensors by position.
            rest = [replace(slot, positional=False) for slot in slots[1:]]
            slots = [*(_required(slot) for slot in slots[:1]), *rest]
    made: list[Any] = []

    def run(groups: Mapping[str, Arguments]) -> Any:
        positional, keywords = groups.get("call", _NOTHING)
        return call_of(cls, make_object(cls, groups))(*positional, **keywords)

    def ready(solution: Solution) -> Callable[..., Any]:
        made[:] = [make_object(cls, {"init": solution.make("init", 0, 0)})]
        called = call_of(cls, made[0])
        positional, keywords = solution.make("call", 0, 0)
        called(*positional, **keywords)  # it makes its variables at its first call
        return called

    def anew(solution: Solution) -> tuple[Any, Callable[..., Any]]:
        thing = make_object(cls, {"init": solution.make("init", 0, 0)})
        return thing, call_of(cls, thing)

    return Harness(
        said.of_object(cls) + slots,
        run,
        ready,
        lambda solution: f"{cls.__qualname__}({words_of(solution, 'init')}), called with {words_of(solution, 'call')}",
        code_of(method) if method is not None else None,
        cls,
        lambda: state_of(made[0]),
        anew=anew,
    )


def of_models(models: Sequence[Any], how: str, inputs: Choice) -> Harness:
    """Keras models, called one by one, with what the user says of `inputs`, or the models themselves."""
    with backend.eager_execution():
        said = [
            model_slots(one) if inputs is None else [replace(INPUTS, choices=(inputs,), fixed=True)] for one in models
        ]
    names = (INPUTS.name, *(f"{INPUTS.name}_{number}" for number in range(2, len(models) + 1)))
    slots = [replace(slot, name=name) for name, [slot] in zip(names, said, strict=True)]

    def together(*inputs: Any) -> list[Any]:
        return [model(one) for model, one in zip(models, inputs, strict=True)]

    called = models[0] if len(models) == 1 else together

    def run(groups: Mapping[str, Arguments]) -> Any:
        positional, keywords = groups["call"]
        return called(*positional, **keywords)

    return Harness(
        slots,
        run,
        lambda solution: called,
        lambda solution: f"{how}, called with {words_of(solution, 'call')}",
        None,
        type(models[0]),
        lambda: [variable for one in models for variable in state_of(one)],
    )


def of_method(cls: type, name: str, said: Arranged, built: Solution | None) -> Harness:
    """A method other than what runs when the object is called. `built`: what to call the object with first,
    which builds it."""
    attribute = inspect.getattr_static(cls, name)
    if isinstance(attribute, property):
        slots: list[Slot] = []
    else:
        slots = said.of_call(getattr(cls, name), bound=True)
    making = said.of_object(cls) if built is None else []
    made: list[Any] = []

    changing = built is not None and sets_attributes(getattr(cls, name))
    before = preparations(cls, name) if built is None else ()
    if before and asks(asked := getattr(cls, before[-1])):
        making += slots_of(asked, "before", bound=True)

    def new(groups: Mapping[str, Arguments]) -> Any:
        if built is None:
            thing = make_object(cls, groups)
            for preparation in before:
                positional, keywords = groups.get("before", _NOTHING) if preparation is before[-1] else _NOTHING
                getattr(thing, preparation)(*positional, **keywords)
            return thing
        if not made:
            made.append(make_object(cls, {"init": built.make("init", 0, 0)}))
            positional, keywords = built.make("call", 0, 0)
            made[0](*positional, **keywords)
        return made[0]

    if built is not None:
        # Not in the search: that must not take what making the object runs for what the method does.
        try:
            with backend.eager_execution():
                new({})
        except Exception as error:
            raise NotDrivenError(f"its object cannot be created again: {described(error)}") from error

    def bound(thing: Any) -> Any:
        return (lambda: getattr(thing, name)) if isinstance(attribute, property) else getattr(thing, name)

    def run(groups: Mapping[str, Arguments]) -> Any:
        positional, keywords = groups.get("call", _NOTHING)
        thing = new(groups)  # kept until the call is over: TensorFlow's bound methods hold their object weakly
        try:
            return bound(thing)(*positional, **keywords)
        except Exception:
            if changing:  # what it had changed by then is not what another call begins with
                made.clear()
            raise

    def ready(solution: Solution) -> Any:
        made[:] = [new({group: solution.make(group, 0, 0) for group in ("init", "before")})]
        return bound(made[0])

    def how(solution: Solution) -> str:
        inside = words_of(built or solution, "init")
        first = "".join(f" after {one}({', '.join(solution.inputs('before'))})," for one in before)
        return f"{cls.__qualname__}({inside}).{name}{first} with {words_of(solution, 'call')}"

    def anew(solution: Solution) -> tuple[Any, Callable[..., Any]]:
        before = [made.pop() for _ in made]
        try:
            thing = new({group: solution.make(group, 0, 0) for group in ("init", "before")})
        finally:
            made[:] = before
        return thing, bound(thing)

    code = None if isinstance(attribute, property) else code_of(getattr(cls, name))
    return Harness(making + slots, run, ready, how, code, cls, lambda: state_of(made[0]), anew=anew)


def of_step(cls: type, name: str, said: Arranged) -> Harness:
    """A step of training: of a compiled model, with a batch."""
    method = getattr(cls, name)
    slots = said.of_object(cls) + compile_slots(cls) + said.of_call(method, bound=True)
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
        inside = words_of(solution, "compile")
        return f"{cls.__qualname__}(..).{name} after compile({inside}), with {words_of(solution, 'call')}"

    return Harness(slots, run, ready, how, code_of(method), cls, lambda: state_of(made[0]))


def words_of(solution: Solution, group: str) -> str:
    """The inputs of a group, in words."""
    return ", ".join(solution.inputs(group)) or "nothing" * (group == "call")


def _required(slot: Slot) -> Slot:
    """The first parameter of a layer's call, which Keras wants to see whatever its default is."""
    return replace(slot, choices=tuple(choice for choice in slot.choices if choice is not None) or (tensor(),))
