"""What a project passes to its functions and classes: the arguments of its calls, evaluated where these stand.

config = Config(layers=2)                       a test makes it, and passes it on
model = Model(config, width=self.width)         `self.width` is what a method of the test sets
def model(options): Shuffle(options.shift)      `shift` is what the program's options are by default
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import prod
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from xlalint.sources.packages import is_test, tests_beside
from xlalint.sources.specs import Form, Literal, Spec, leaves

from ..backends import backend
from .configurations import attributes_of, said_in, texts_below
from .parts import Assignment
from .recorded_calls import form_of
from .settings import is_of_tensors
from .slots import Choice, Slot
from .tensors import ObjectInput, map_specs

_LARGE: Final = 1 << 16  # elements
_SMALL: Final = 8  # sizes that stay
_MOST_CALLS: Final = 12  # that are looked at
_DEEPEST: Final = 8  # names behind names
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SELF: Final = "self"
OF_OBJECTS: Final = ("call", "__call__")  # what runs when an object is called: no call has its name
_NOT_PASSED: Final = object()


@dataclass(frozen=True)
class PassedCall:
    """The arguments of a call that can be evaluated away from it: by position, and by name."""

    positional: Mapping[int, Any]
    keywords: Mapping[str, Any]


@dataclass(frozen=True)
class Project:
    """The files below the roots of a project, and its tests. `space_of`: what the names at the top of a file hold; None
    where it is not to be imported."""

    roots: tuple[str, ...]
    space_of: Callable[[str], Mapping[str, Any] | None]

    def passed(self, name: str) -> Iterator[PassedCall]:
        """What is passed to something of a name, by tests first."""
        if not name or name in OF_OBJECTS:
            return
        for path, text in self._texts:
            if f"{name}(" in text and (calls := _calls(text, name)):
                yield from self._evaluated(path, calls)

    def called(self, cls: str) -> Iterator[PassedCall]:
        """What objects of a class are called with where they are made, by tests first."""
        for path, text in self._texts if cls else ():
            if f"{cls}(" in text and (calls := _calls_of_objects(text, cls)):
                yield from self._evaluated(path, calls)

    @property
    def _texts(self) -> list[tuple[str, str]]:
        roots = (*self.roots, *(str(one) for root in self.roots for one in tests_beside(Path(root))))
        return sorted(texts_below(roots), key=lambda one: not is_test(Path(one[0])))

    def _evaluated(self, path: str, calls: Sequence[tuple[ast.Call, _Inside]]) -> Iterator[PassedCall]:
        """What calls in a file pass; in one that is not imported, as far as nothing of the project is needed for it."""
        space = self.space_of(path)
        for call, inside in calls[:_MOST_CALLS]:
            found = _Evaluation(backend.NAMES if space is None else space, inside, self.roots).of_call(call)
            if found.positional or found.keywords:
                yield found


def with_passed(
    slots: Sequence[Slot], calls: Mapping[str, PassedCall], generated: bool, as_tensors: bool = False
) -> Assignment:
    """The first guess for each parameter, with what calls pass in the place of what they do; by group ("init",
    "call"). `generated`: tensors are drawn, of the same shapes; else they have the values that are passed;
    `as_tensors`: lists of numbers are tensors where a tensor is expected."""
    found: list[Choice] = []
    places = dict.fromkeys(calls, 0)
    for slot in slots:
        choice, call = slot.choices[0], calls.get(slot.group)
        if call is not None:
            place, places[slot.group] = places[slot.group], places[slot.group] + 1
            value = call.keywords.get(slot.name, call.positional.get(place, _NOT_PASSED))
            if value is not _NOT_PASSED and not slot.fixed and not slot.star:
                choice = _unused(
                    form_of(_as_tensor(value) if as_tensors and slot.is_tensor else value, generated), value
                )
        found.append(choice)
    return tuple(found)


def _unused(choice: Choice, value: Any) -> Choice:
    """An input, made anew for each call where it is a layer, which its first call makes variables for."""
    is_layer = any(isinstance(value, keras.layers.Layer) for keras in backend.keras_modules())
    if isinstance(choice, ObjectInput) and is_layer and not value.built:
        return ObjectInput(choice.text, partial(copy.deepcopy, value))
    return choice


def _as_tensor(value: Any) -> Any:
    """A list of numbers as the tensor that TensorFlow makes of it."""
    if not isinstance(value, list):
        return value
    try:
        made = np.asarray(value)
    except ValueError:  # rows of different lengths
        return value
    dtype = {"i": np.int32, "f": np.float32, "b": np.bool_}.get(made.dtype.kind)
    return value if dtype is None or not made.size else made.astype(dtype)


def shrunk(assignment: Assignment) -> Assignment:
    """With smaller tensors where one is large: sizes that are equal or follow each other stay so."""
    specs = [spec for one in assignment if isinstance(one, Form) for spec in leaves(one)]
    if all(prod(spec.shape()) <= _LARGE for spec in specs):
        return assignment
    small, before = {0: 0}, 0
    for size in sorted({size for spec in specs for size in spec.shape()}):
        behind = small[before] + 1 if size == before + 1 else max(small[before], _SMALL) + 2
        small[size] = size if size <= _SMALL else behind
        before = size

    def smaller(spec: Spec) -> Spec:
        return replace(spec, dims=tuple((small[size], small[size]) for size in spec.shape()))

    return tuple(
        Literal(small[one.value])
        if isinstance(one, Literal) and type(one.value) is int and one.value in small
        else map_specs(one, smaller)
        for one in assignment
    )


@dataclass(frozen=True)
class _Inside:
    """What stands around a call: functions, the innermost first, the class, and the file. What a file does only as a
    program is a function, too."""

    module: ast.Module
    functions: tuple[_Function, ...] = ()
    owner: ast.ClassDef | None = None


def _calls(text: str, name: str) -> tuple[tuple[ast.Call, _Inside], ...]:
    """The calls of a name in a file, each with what stands around it."""
    return tuple(one for one in _calls_in(text) if _called(one[0]) == name)


def _calls_of_objects(text: str, cls: str) -> tuple[tuple[ast.Call, _Inside], ...]:
    """The calls of objects of a class, as soon as they are made or by the names that they get in the file."""
    calls = _calls_in(text)
    names = {
        ast.unparse(target)
        for module in {inside.module for _, inside in calls}
        for node in ast.walk(module)
        for target, value in _assignments(node)
        if isinstance(value, ast.Call) and _called(value) == cls
    }
    return tuple(
        (call, inside)
        for call, inside in calls
        if (isinstance(call.func, ast.Call) and _called(call.func) == cls) or ast.unparse(call.func) in names
    )


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


@lru_cache(maxsize=64)
def _calls_in(text: str) -> tuple[tuple[ast.Call, _Inside], ...]:
    """The calls in a file, each with what stands around it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return tuple(_below(tree, _Inside(tree)))


def _below(node: ast.AST, inside: _Inside) -> Iterator[tuple[ast.Call, _Inside]]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            inside = replace(inside, functions=(node, *inside.functions))
        case ast.ClassDef():
            inside = replace(inside, functions=(), owner=node)
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), body=body):
            program = ast.parse("def program(): ...").body[0]
            assert isinstance(program, ast.FunctionDef)
            program.body = body
            inside = replace(inside, functions=(program,))
        case ast.Call():
            yield node, inside
    for child in ast.iter_child_nodes(node):
        yield from _below(child, inside)


@dataclass
class _Evaluation:
    """Evaluates expressions of a function in its module, without running the function: its names hold what they are
    assigned, those of parameters their defaults, and attributes of what is passed to it, which may be the settings of
    a program, what the project below the roots says of settings of their names."""

    space: Mapping[str, Any]
    inside: _Inside
    roots: tuple[str, ...]
    _known: dict[str, Any] = field(default_factory=dict)

    def of_call(self, call: ast.Call) -> PassedCall:
        """The arguments of a call; those behind an unpacked one have no position."""
        positional: dict[int, Any] = {}
        for place, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred):
                break
            self._keep(positional, place, argument)
        keywords: dict[str, Any] = {}
        for one in call.keywords:
            if one.arg is not None:
                self._keep(keywords, one.arg, one.value)
        return PassedCall(positional, keywords)

    def _keep(self, found: dict[Any, Any], key: int | str, node: ast.expr) -> None:
        try:
            found[key] = self._value(node, 0)
        except Exception:  # of any kind: it is nothing without what runs around it
            return

    def _value(self, node: ast.expr, depth: int) -> Any:
        """What an expression is. Raises whatever it does, and LookupError where a name is nothing by itself."""
        if depth > _DEEPEST:
            raise LookupError(ast.unparse(node))
        names: dict[str, Any] = {}
        tree: ast.Expression = _SelfOut(self._settings).visit(ast.parse(ast.unparse(node), mode="eval"))
        bound = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        for one in ast.walk(tree):
            if isinstance(one, ast.Name) and one.id not in bound and one.id not in names:
                found = self._name(one.id, depth)
                if found is not _GLOBAL:
                    names[one.id] = found
        with backend.eager_execution():
            return eval(compile(ast.fix_missing_locations(tree), "<passed>", "eval"), {**self.space, **names})

    def _name(self, name: str, depth: int) -> Any:
        """What a name holds in the function."""
        if name not in self._known:
            self._known[name] = _PENDING
            try:
                self._known[name] = self._looked_up(name, depth)
            except Exception:
                del self._known[name]
                raise
        if self._known[name] is _PENDING:
            raise LookupError(name)
        return self._known[name]

    def _looked_up(self, name: str, depth: int) -> Any:
        if name.startswith(_SETTING):
            holder, _, attribute = name.removeprefix(_SETTING).partition(_OF)
            return self._said(holder, attribute)
        if name.startswith(_ATTRIBUTE) and self.inside.owner is not None:
            value = _assigned([self.inside.owner], name.removeprefix(_ATTRIBUTE), of_object=True)
            if value is None:
                raise LookupError(name)
            return self._value(value, depth + 1)
        for function in self.inside.functions:
            value = _assigned(function.body, name, of_object=False)
            if value is None:
                value, is_parameter = _default(function, name)
                if is_parameter and value is None:
                    raise LookupError(name)
            if value is not None:
                return self._value(value, depth + 1)
        if name not in self.space and (value := _assigned(self.inside.module.body, name, of_object=False)) is not None:
            return self._value(value, depth + 1)
        return _GLOBAL

    @property
    def _settings(self) -> frozenset[str]:
        """The parameters of which nothing is known but what is read of them."""
        return frozenset(
            one.arg
            for function in self.inside.functions
            for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
            if one.arg != _SELF and _default(function, one.arg) == (None, True)
        )

    def _said(self, holder: str, attribute: str) -> Any:
        """What the project says of a setting, where it says the most of all that the file reads of the same."""
        fellows = tuple(sorted({attribute, *attributes_of(holder, self.inside.module)}))
        form = said_in(self.roots, fellows).get(attribute)
        if not isinstance(form, Literal):
            raise LookupError(attribute)
        return form.value


_GLOBAL: Final = object()
_PENDING: Final = object()
_ATTRIBUTE: Final = "_of_self_"
_SETTING: Final = "_setting_"
_OF: Final = "__of__"


@dataclass
class _SelfOut(ast.NodeTransformer):
    """Attributes of `self`, and of other `holders`, as names."""

    holders: frozenset[str]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """See the class."""
        match node.value:
            case ast.Name(id=name) if name == _SELF:
                return ast.Name(_ATTRIBUTE + node.attr, node.ctx)
            case ast.Name(id=name) if name in self.holders and not is_of_tensors(node.attr):
                return ast.Name(_SETTING + name + _OF + node.attr, node.ctx)
        return self.generic_visit(node)


def _assigned(body: list[ast.stmt] | list[ast.ClassDef], name: str, *, of_object: bool) -> ast.expr | None:
    """What a name, or an attribute of `self`, is assigned first; None where nothing is."""
    for statement in body:
        for node in ast.walk(statement):
            for target, value in _assignments(node):
                if _is(target, name, of_object):
                    return value
    return None


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of a statement, each with what it is assigned."""
    match node:
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.Assign(targets=targets, value=value):
            for one in targets:
                parts = one.elts if isinstance(one, ast.Tuple) else []
                yield one, value
                yield from (
                    (part, ast.Subscript(value, ast.Constant(place), ast.Load())) for place, part in enumerate(parts)
                )


def _is(target: ast.expr, name: str, of_object: bool) -> bool:
    match target:
        case ast.Name(id=found):
            return not of_object and found == name
        case ast.Attribute(value=ast.Name(id=owner), attr=found):
            return of_object and owner == _SELF and found == name
    return False


def _default(function: _Function, name: str) -> tuple[ast.expr | None, bool]:
    """What a parameter has by default, or as a test's first case; and whether there is such a parameter."""
    taken = function.args
    plain = [*taken.posonlyargs, *taken.args]
    pairs = [*zip(reversed(plain), reversed(taken.defaults), strict=False)]
    pairs += [(one, other) for one, other in zip(taken.kwonlyargs, taken.kw_defaults, strict=True) if other is not None]
    known = {one.arg: default for one, default in pairs} | dict(_cases(function))
    return known.get(name), name in {one.arg for one in (*plain, *taken.kwonlyargs)}


def _cases(function: _Function) -> Iterator[tuple[str, ast.expr]]:
    """The first case of a test that runs for several."""
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, ast.List(elts=[first, *_])]):
                said = ast.literal_eval(names)
                several = [one.strip() for one in said.split(",")] if isinstance(said, str) else list(said)
                values = first.elts if len(several) > 1 and isinstance(first, ast.Tuple) else [first]
                yield from zip(several, values, strict=False)
