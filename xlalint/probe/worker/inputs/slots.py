"""What a callable asks for: its parameters, each with what to pass first, by what is known without calling it."""

from __future__ import annotations

import ast
import collections.abc
import enum
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from xlalint.probe.target import Parameter
from xlalint.sources.specs import Form, Keyed, Literal, Many, Spec, leaves, spec

from ..backends import backend
from ..code.abstract import is_abstract
from ..code.missing import Missing
from .called_objects import IDENTITY, giving, models_of, own_keras
from .documented import described
from .numbers import SIZE
from .signatures import of_bases, python_function_of, signature_of, tree_of
from .tensors import ObjectInput, composed
from .usage import uses_in

# `None`: the parameter is left out.
Choice: TypeAlias = Form | ObjectInput | None

_CLASS_DTYPES: Final = {"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64", "string": "string"}
_STATIC: Final = (Literal(2), Literal(0.5), Literal(True), Literal("same"), Many("tuple", (Literal(4), Literal(4))))
_BY_TYPE: Final[dict[Any, tuple[Choice, ...]]] = {
    int: (Literal(4), Literal(2), Literal(1), Literal(3)),
    float: (Literal(0.5), Literal(1.0)),
    bool: (Literal(True), Literal(False)),
    complex: (Literal(1.0),),
    str: (Literal("same"), Literal("relu"), Literal("sum"), Literal("float32")),
    type(None): (Literal(None),),
}
_DEEPEST: Final = 3
_LAYERS: Final = re.compile(r"(?:^|_)(?:layers?|n_layers?|num_blocks|depth)$")
_FEW: Final = 2
_MOST_HEIRS: Final = 20
_MOST_HELD: Final = 12
_GREAT: Final = 256
_PART: Final = 16


@dataclass(frozen=True)
class Slot:
    """A parameter to fill. `group`: "call", or "init" for what an object is made of; `star`: it takes any number.

    `choices`: what to try, the best first. `fixed`: the user has said it; `is_tensor`: a tensor is passed, as far as
    an annotation or what is known of its callers tells, and no list; `of_data`: some caller passes data, which may be
    one number.
    """

    name: str
    group: str
    choices: tuple[Choice, ...]
    positional: bool = False
    star: bool = False
    fixed: bool = False
    is_tensor: bool = False
    of_data: bool = False


def tensor(rank: int = 2, dtype: str = "float32") -> Spec:
    """A tensor of which nothing more is known."""
    return spec(dtype, *(SIZE,) * rank)


def slots_of(
    function: Callable[..., Any],
    group: str,
    known: Iterable[Parameter] = (),
    given: Mapping[str | int, Choice] | None = None,
    depth: int = 0,
    bound: bool = False,
) -> list[Slot]:
    """The parameters of something callable, those that the user gives by name or position fixed; without the first
    where an object is to be `bound` to that. `depth`: how many objects are made for each other around this."""
    given = given or {}
    signature = signature_of(python_function_of(function))
    annotations = _annotations(function)
    hints = {one.name: one for one in known}
    compared, asked = _compared(function), _asked(function)
    tensors = {name for name, hint in hints.items() if hint.kind == "tensor"}
    guessed = _guessed(function, group, list(signature.parameters), tensors)
    signed = _input_signature(function)
    slots: list[Slot] = []
    for position, parameter in enumerate([*list(signature.parameters.values())[int(bound) :], *of_bases(function)]):
        name = parameter.name
        # As people call: some decorators (`tf.custom_gradient`) do not take names. Objects are made with names.
        positional = parameter.kind is inspect.Parameter.POSITIONAL_ONLY or (
            group == "call" and parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        fixed = given.get(name, given.get(position))
        star = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        if star and fixed is not None:
            behind = [form for place, form in given.items() if isinstance(place, int) and place >= position]
            rest = [form for form in behind if not isinstance(form, ObjectInput | None)]
            slots.append(Slot(name, group, (Many("tuple", tuple(rest)),), star=True, fixed=True))
        elif fixed is not None:
            slots.append(Slot(name, group, (fixed,), positional, fixed=True))
        elif star:
            slots.append(Slot(name, group, (Many("tuple", ()), Many("tuple", (tensor(),))), star=True))
        else:
            choices = (
                (signed[position],)
                if position < len(signed)
                else (
                    *_inherited(function, parameter),
                    *_choices(
                        parameter,
                        group,
                        annotations.get(name),
                        hints.get(name),
                        compared.get(name, ()),
                        guessed.get(name),
                        depth,
                    ),
                    *map(Literal, _other_than(compared.get(name, ()))),
                    *((Literal(True), Literal(False)) if name in asked else ()),
                )
            )
            hint, several = hints.get(name), tuple(dict.fromkeys(choices))
            of_tensor = _is_tensor(annotations.get(name), hint, depth)
            of_data = hint is not None and hint.of_data
            slots.append(Slot(name, group, several, positional, is_tensor=of_tensor, of_data=of_data))
    return slots


def _inherited(function: Callable[..., Any], parameter: inspect.Parameter) -> Iterator[Choice]:
    """What one of the classes has by default that something is derived from, where it asks for a parameter itself."""
    if not inspect.isclass(function) or parameter.default is not inspect.Parameter.empty:
        return
    for base in function.__mro__[1:-1]:
        known = signature_of(base).parameters.get(parameter.name) if "__init__" in vars(base) else None
        if known is not None and isinstance(known.default, bool | int | float | str):
            yield Literal(known.default)
            return


def _is_tensor(annotation: Any, hint: Parameter | None, depth: int) -> bool:
    known = () if annotation is None else tuple(of_annotation(annotation, depth))
    return all(isinstance(one, Spec) for one in known) if known else hint is not None and hint.kind == "tensor"


def _guessed(
    function: Callable[..., Any], group: str, names: Sequence[str], tensors: Set[str] = frozenset()
) -> dict[str, Form]:
    """What the docstring of something callable and, of a call, the source say of its parameters. `tensors`: those of
    them that are known to be such, and no numbers that Python counts to."""
    said = described(python_function_of(function))
    uses = uses_in(tree_of(function), names) if group == "call" else {}
    for name in tensors & uses.keys():
        if uses[name].is_number:
            uses[name].tell_dtype("int32")
            uses[name].rank = 0
        uses[name].is_bound = uses[name].is_number = False
    joined = {name: uses[name].joined(said.get(name)) if name in uses else said.get(name) for name in names}
    return {name: form for name, form in joined.items() if form is not None}


def _choices(
    parameter: inspect.Parameter,
    group: str,
    annotation: Any,
    hint: Parameter | None,
    compared: Sequence[Any],
    guessed: Form | None,
    depth: int,
) -> Iterator[Choice]:
    """What to pass for a parameter, the best first."""
    default = parameter.default
    if (specified := backend.spec_of(default)) is not None:
        yield _of_description(*specified)
    elif default is not inspect.Parameter.empty:
        yield None
    hinted = () if hint is None else tuple(_of_hint(hint))
    promised = () if annotation is None else tuple(of_annotation(annotation, depth))
    # An annotation `Tensor` says less than what is known of rank and dtype; any other says more.
    if guessed is not None and (not promised or isinstance(promised[0], Spec | Keyed)):
        yield guessed
    both = (hinted, promised) if isinstance(next(iter(promised), None), Spec) else (promised, hinted)
    for choices in both:
        yield from choices
    yield from (Literal(one) for one in compared if isinstance(one, str) and not isinstance(one, enum.Enum))
    yield from (_constant(str(one), one) for one in compared if isinstance(one, enum.Enum))
    if default is None or default is inspect.Parameter.empty:
        yield from (Literal(SIZE), tensor()) if group == "init" else (tensor(),)
    numbers = (one for one in compared if not isinstance(one, str | enum.Enum))
    yield from map(Literal, numbers)  # tensors are compared with numbers, too
    if isinstance(default, bool):
        yield Literal(not default)


def _of_hint(hint: Parameter) -> Iterator[Choice]:
    kinds = sorted(hint.kind.split("|"), key=lambda kind: kind == "static")  # a tensor is what this is about
    for kind in kinds:
        if kind in ("tensor", "array", "nest"):
            dtype = _CLASS_DTYPES[hint.dtype or "float"]
            yield tensor(2 if hint.rank is None else hint.rank, dtype)
        elif kind == "static":
            yield from _STATIC
        elif kind in ("list", "tuple"):
            yield Many(kind, (tensor(), tensor()))
        elif kind == "dict":
            yield Keyed(())
        elif kind == "function":
            yield IDENTITY


# Objects that code asks for in words, where its error names them.
OBJECTS: Final = {
    "cell": ObjectInput(f"keras.layers.LSTMCell({SIZE})", lambda: own_keras().layers.LSTMCell(SIZE)),
    "layer": ObjectInput(f"keras.layers.Dense({SIZE})", lambda: own_keras().layers.Dense(SIZE)),
    "optimizer": ObjectInput("keras.optimizers.SGD()", lambda: own_keras().optimizers.SGD()),
    "loss": ObjectInput("keras.losses.MeanSquaredError()", lambda: own_keras().losses.MeanSquaredError()),
}


def _layer(name: str, *sizes: int) -> ObjectInput:
    inside = ", ".join(map(str, sizes))
    return ObjectInput(f"keras.layers.{name}({inside})", lambda: getattr(own_keras().layers, name)(*sizes))


# Layers, and an optimizer, that code is given for their attributes, the likeliest first.
OF_LIBRARIES: Final = (
    _layer("ReversibleEmbedding", SIZE, SIZE),
    _layer("Embedding", SIZE, SIZE),
    _layer("Dense", SIZE),
    _layer("LSTM", SIZE),
    _layer("Conv2D", SIZE, 1),
    OBJECTS["optimizer"],
)


# -- annotations ------------------------------------------------------------------------------------------------------


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters' annotations as objects; those that cannot be evaluated are left out."""
    inner = python_function_of(function)
    if inspect.isclass(inner):  # a named tuple has them itself
        inner = inner.__new__ if issubclass(inner, tuple) else inner.__init__
    inner = inspect.unwrap(inner)
    inner = getattr(inner, "__func__", inner)
    names = getattr(inner, "__globals__", {})
    found: dict[str, Any] = {}
    for name, annotation in getattr(inner, "__annotations__", {}).items():
        if isinstance(annotation, str):
            try:
                found[name] = eval(annotation, dict(names))  # as Python itself does, in the user's own module
            except Exception:
                continue  # it names what is only there for type checkers
        else:
            found[name] = annotation
    return found


def of_annotation(annotation: Any, depth: int = 0) -> Iterator[Choice]:
    """What an annotation promises, as inputs."""
    if not isinstance(annotation, collections.abc.Hashable) or isinstance(annotation, Missing):
        return
    if annotation in _by_type():
        yield from _by_type()[annotation]
        return
    if (described := backend.spec_of(annotation)) is not None:
        yield _of_description(*described)
        return
    if hasattr(annotation, "dim_str") and hasattr(annotation, "dtypes"):
        yield _of_jaxtyping(annotation)
        return
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        yield from of_annotation(arguments[0], depth)
    elif origin is typing.Literal:
        yield from map(Literal, arguments)
    elif origin in (typing.Union, types.UnionType):
        found = [choice for one in arguments for choice in of_annotation(one, depth)]
        # A tensor is what this is about, and `None` what says least.
        yield from sorted(found, key=lambda one: (one == Literal(None)) - isinstance(one, Spec))
    elif origin in (list, collections.abc.Sequence, collections.abc.Iterable):
        for one in of_annotation(arguments[0], depth) if arguments else (tensor(),):
            yield _several("list", one)
    elif origin is tuple:
        yield from _of_tuple(arguments, depth)
    elif origin in (dict, collections.abc.Mapping) or annotation is dict:
        yield Keyed(())
    elif origin is collections.abc.Callable or annotation is collections.abc.Callable:
        yield from _of_function(arguments, depth)
        yield IDENTITY
    elif annotation in (list, tuple):
        yield Many(annotation.__name__, (tensor(), tensor()))
    elif inspect.isclass(annotation):
        yield from models_of(annotation) or of_class(annotation, depth)


def _of_function(arguments: tuple[Any, ...], depth: int) -> Iterator[Choice]:
    """Functions of which an annotation says that they give tensors, some of them several: one tensor is what a function
    of the first argument gives, too."""
    promised = of_annotation(arguments[-1], depth + 1) if len(arguments) == 2 and depth < _DEEPEST else ()
    for one in promised:
        if isinstance(one, Many) and any(leaves(one)):
            yield giving(one)


def _several(kind: str, one: Choice) -> Choice:
    if isinstance(one, ObjectInput):
        return _in_list(one)
    return Many(kind, (one, one)) if one is not None else None


def _in_list(one: ObjectInput) -> ObjectInput:
    changed = one.changed
    return ObjectInput(f"[{one}]", lambda: [one.make()], changed and (lambda change: _in_list(changed(change))))


def _of_tuple(arguments: tuple[Any, ...], depth: int) -> Iterator[Choice]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = arguments[:1] * 2
    items = [next((c for c in of_annotation(one, depth) if not isinstance(c, ObjectInput)), None) for one in arguments]
    if items and all(item is not None for item in items):
        yield Many("tuple", tuple(item for item in items if item is not None))


def _by_type() -> Mapping[Any, tuple[Choice, ...]]:
    return _BY_TYPE | {
        np.ndarray: (tensor(),),
        **{kind: (replace(tensor(), style=style),) for kind, style in backend.ANNOTATIONS.items()},
        **{kind: (_constant(text, made),) for kind, (text, made) in backend.OBJECTS.items()},
    }


def _constant(text: str, made: Any) -> ObjectInput:
    return ObjectInput(text, lambda: made)


def _of_description(dtype: str, sizes: Sequence[int | None] | None) -> Spec:
    """A tensor that a description says so much of; sizes that it leaves open are small."""
    known = (None, None) if sizes is None else sizes
    return spec(dtype, *(SIZE if size is None else size for size in known))


def _of_jaxtyping(annotation: Any) -> Spec:
    words = [word for word in annotation.dim_str.split() if not word.startswith(("*", "..."))]
    names = annotation.dtypes if isinstance(annotation.dtypes, list | tuple) else ["float32"]
    dtype = next((name for name in ("float32", "int32", "bool", "complex64") if name in names), names[0])
    return spec(dtype, *(int(word) if word.isdigit() else SIZE for word in words))


@lru_cache(maxsize=512)
def of_class(cls: Any, depth: int = 0) -> tuple[Choice, ...]:
    """Objects of a class: with the first choice for each argument that it needs, if those are few, or what a tuple
    holds."""
    if issubclass(cls, BaseException) or cls in (object, type) or depth > _DEEPEST:
        return ()
    if is_abstract(cls):
        found = [choice for subclass in subclasses(cls) for choice in of_class(subclass, depth + 1)]
        # What needs the least is the likeliest to be right.
        return tuple(sorted(found, key=lambda choice: len(str(choice)))[:_DEEPEST])
    try:
        # What a tuple holds are tensors, what another object is made of more often are not.
        group = "call" if issubclass(cls, tuple) else "init"
        needed = [slot for slot in slots_of(cls, group, depth=depth + 1) if slot.choices[:1] != (None,)]
    except (TypeError, ValueError):
        return ()  # it has no signature
    needed = [slot for slot in needed if not slot.star]
    first = {slot.name: choice for slot in needed if (choice := slot.choices[0]) is not None}
    if len(first) > (_MOST_HELD if issubclass(cls, tuple) else _DEEPEST):
        return ()
    smaller = _smaller(cls)
    if smaller and not issubclass(cls, backend.MODULES):
        small = _made_of(cls, {**first, **{name: Literal(size) for name, size in smaller.items() if name not in first}})
        try:
            small.make()
        except Exception:
            return (_made_of(cls, first),)  # its numbers hang together in another way
        return small, _made_of(cls, first)
    return (_made_of(cls, first),)


def subclasses(cls: Any) -> list[Any]:
    """The classes below a class that can be made, nearest first."""
    found: list[Any] = []
    pending = list(cls.__subclasses__())
    while pending and len(found) < _MOST_HEIRS:
        subclass = pending.pop(0)
        pending += subclass.__subclasses__()
        if not is_abstract(subclass):
            found.append(subclass)
    return found


def _made_of(cls: Any, first: Mapping[str, Form | ObjectInput]) -> ObjectInput:
    return composed(cls, first, is_structure=issubclass(cls, tuple))


def _smaller(cls: Any) -> dict[str, int]:
    """Smaller numbers for a configuration of a model: two layers, which are like the others, and a part of each great
    size, the same of all since one is often a multiple of the other."""
    found: dict[str, int] = {}
    for name, parameter in signature_of(cls).parameters.items():
        default = parameter.default
        if isinstance(default, int) and not isinstance(default, bool):
            if _LAYERS.search(name) and default > _FEW:
                found[name] = _FEW
            elif default >= _GREAT and default % _PART == 0:
                found[name] = default // _PART
    return found


def _input_signature(function: Callable[..., Any]) -> tuple[Choice, ...]:
    """What `tf.function` was told of its arguments, where that is tensors only."""
    signature = getattr(function, "input_signature", None)
    found = [backend.spec_of(one) for one in signature] if isinstance(signature, list | tuple) else []
    return () if None in found else tuple(_of_description(*one) for one in found if one is not None)


# -- the source -------------------------------------------------------------------------------------------------------


def _compared(function: Callable[..., Any]) -> dict[str, tuple[Any, ...]]:
    """The constants and members of enumerations that the source compares each name with: the modes that a function
    knows."""
    tree, names = tree_of(function), _globals_of(function)
    found: dict[str, dict[Any, None]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
            for other in node.comparators:
                constants = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
                values: list[Any] = [
                    one.value for one in constants if isinstance(one, ast.Constant) and one.value is not None
                ]
                members = (_member(one, names) for one in constants if isinstance(one, ast.Attribute))
                values += [one for one in members if one is not None]
                found.setdefault(node.left.id, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in found.items()}


def _globals_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    inner = python_function_of(function)
    inner = inspect.unwrap(inner.__init__ if inspect.isclass(inner) else inner)
    names: Mapping[str, Any] = getattr(getattr(inner, "__func__", inner), "__globals__", {})
    return names


def _member(node: ast.Attribute, names: Mapping[str, Any]) -> enum.Enum | None:
    """The member of an enumeration that a module has."""
    kind = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
    return kind.__members__.get(node.attr) if isinstance(kind, enum.EnumMeta) else None


def _other_than(constants: Sequence[Any]) -> Iterator[Any]:
    """For constants that a name is compared with, values that they are not: what leads to the other branch."""
    for constant in constants:
        if isinstance(constant, bool):
            yield not constant
        elif isinstance(constant, int | float):
            yield constant + (1 if isinstance(constant, int) else 0.5)


def _asked(function: Callable[..., Any]) -> frozenset[str]:
    """The names whose truth the source asks for, as it does of switches."""
    tree = tree_of(function)
    tests: list[ast.expr] = []
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                tests.append(test)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                tests.append(operand)
            case ast.BoolOp(values=values):
                tests += values
    return frozenset(test.id for test in tests if isinstance(test, ast.Name))
