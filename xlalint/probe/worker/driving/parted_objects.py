"""Objects made by a part of their constructor: by what it does for the attributes that a method reads. What else it
does, such as to load weights or to read a data set, may not be possible here, and the method does not need it.

    def __init__(self, folder, size):
        self.size = size                      made
        self.images = load(folder)            left out for a method that reads `size` only
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ..inputs.culprits import function_at
from ..inputs.signatures import REPLACES, python_function_of, tree_of

_PLAIN: Final = (ast.Assign, ast.AnnAssign)
_MAKER: Final = "zz_maker"
_CLASS: Final = "__class__"


def in_part(cls: type, name: str) -> tuple[type, tuple[str, ...]] | None:
    """A class whose objects are made so for a method, and the attributes that these have; None where all of the
    constructor is needed, or where it is not known what is."""
    owner = next((base for base in cls.__mro__ if "__init__" in vars(base)), cls)
    made = vars(owner).get("__init__")
    needed = _read(cls, name)
    if not inspect.isfunction(made) or needed is None or set(made.__code__.co_freevars) - {_CLASS}:
        return None
    function = function_at(made.__code__.co_filename, made.__code__.co_firstlineno)
    if function is None or function.name != "__init__" or function.decorator_list or _is_private(function):
        return None
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    kept = _slice(cls, body, needed, {*made.__code__.co_varnames, *made.__code__.co_cellvars})
    attributes = {name for one in kept for name in _set_in(cls, one)} | set(_of_its_bases(owner))
    if len(kept) == len(body) or not needed <= attributes or any(isinstance(one, ast.Return) for one in body):
        return None
    new = _compiled(function, kept, made, owner)
    return type(cls)(cls.__name__, (cls,), {"__init__": new, "__module__": cls.__module__}), tuple(sorted(needed))


def _read(cls: type, name: str) -> set[str] | None:
    """The attributes of the object that a method reads, by way of other methods, too, and that the class does not have;
    None where the object itself is passed on."""
    pending, seen, found = [name], set[str](), set[str]()
    while pending:
        if (method := pending.pop()) in seen:
            continue
        seen.add(method)
        held = inspect.getattr_static(cls, method)
        function = held.fget if isinstance(held, property) else getattr(cls, method)
        tree = tree_of(function) if callable(function) else None
        if tree is None or _is_private(tree):
            return None
        if any(isinstance(one, ast.Name) and one.id in ("super", _CLASS) for one in ast.walk(tree)):
            return None
        if _is_passed_on(tree):
            return None
        for one in _of_self(tree):
            if not hasattr(cls, one.attr):
                found.add(one.attr)
            elif inspect.isroutine(inspect.getattr_static(cls, one.attr)) or isinstance(
                inspect.getattr_static(cls, one.attr), property
            ):
                pending.extend([one.attr] * _is_of_user(cls, one.attr, method))
    return found


def _is_of_user(cls: type, name: str, beside: str) -> bool:
    """Whether a method stands in the file of another one: what libraries have is there however an object is made."""
    codes = [getattr(_function(cls, one), "__code__", None) for one in (name, beside)]
    return all(codes) and codes[0].co_filename == codes[1].co_filename  # type: ignore[union-attr]


def _function(cls: type, name: str) -> Callable[..., Any]:
    held = inspect.getattr_static(cls, name)
    found: Any = held.fget if isinstance(held, property) else getattr(cls, name)
    return python_function_of(found)


def _slice(cls: type, body: Sequence[ast.stmt], needed: set[str], own: set[str]) -> list[ast.stmt]:
    """The statements of a constructor that some attributes come from, its bases' constructors, and the checks of what
    these statements use. `own`: the names that are the constructor's."""
    names = {f"self.{one}" for one in needed}
    kept: list[ast.stmt] = []
    for statement in reversed(body):
        sets = {f"self.{one}" for one in _set_in(cls, statement)} | _bound(statement)
        uses = _used(cls, statement, own)
        if sets & names or _is_of_bases(statement) or (not isinstance(statement, _PLAIN) and uses & names):
            kept.insert(0, statement)
            names |= uses
    checks = [one for one in body if one not in kept and _is_check(one) and _used(cls, one, own) & names]
    return [one for one in body if one in kept or one in checks]


def _is_of_bases(statement: ast.stmt) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(statement))


def _of_its_bases(owner: type) -> Iterator[str]:
    """The attributes that the constructors of the bases set."""
    for base in owner.__mro__[1:]:
        made = vars(base).get("__init__")
        tree = tree_of(made) if inspect.isfunction(made) else None
        yield from (one.attr for one in _of_self(tree) if isinstance(one.ctx, ast.Store)) if tree is not None else ()


def _is_check(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but refuse what it gets."""
    return isinstance(statement, ast.Assert) or (
        isinstance(statement, ast.If)
        and not statement.orelse
        and all(isinstance(one, ast.Raise) for one in statement.body)
    )


def _set_in(cls: type, statement: ast.stmt) -> set[str]:
    """The attributes of the object that a statement sets, or a method that it calls."""
    found = {one.attr for one in _of_self(statement) if isinstance(one.ctx, ast.Store)}
    for one in _of_self(statement):
        held = inspect.getattr_static(cls, one.attr, None)
        if inspect.isfunction(held) and (tree := tree_of(held)) is not None:
            found |= {inner.attr for inner in _of_self(tree) if isinstance(inner.ctx, ast.Store)}
    return found


def _used(cls: type, statement: ast.stmt, own: set[str]) -> set[str]:
    """The names that a statement reads, and the attributes of the object, those of methods that it calls included."""
    found = own & {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    for one in _of_self(statement):
        found.add(f"self.{one.attr}")
        if inspect.isfunction(inspect.getattr_static(cls, one.attr, None)):
            found |= {f"self.{name}" for name in _read(cls, one.attr) or ()}
    return found - {"self"}


def _bound(statement: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _of_self(tree: ast.AST) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node


def _is_passed_on(tree: ast.AST) -> bool:
    """Whether the object is named for more than its attributes."""
    named = sum(isinstance(one, ast.Name) and one.id == "self" for one in ast.walk(tree))
    return named != sum(1 for _ in _of_self(tree))


def _is_private(tree: ast.AST) -> bool:
    """Whether a name is in it that Python writes the class before."""
    nodes = (one for one in ast.walk(tree) if isinstance(one, ast.Name | ast.Attribute))
    names = (one.attr if isinstance(one, ast.Attribute) else one.id for one in nodes)
    return any(one.startswith("__") and not one.endswith("__") for one in names)


def _compiled(
    function: ast.FunctionDef, kept: list[ast.stmt], made: Callable[..., Any], owner: type
) -> Callable[..., Any]:
    """The constructor with these statements, and the parameters that they use."""
    used = {one.id for statement in kept for one in ast.walk(statement) if isinstance(one, ast.Name)} | {"self"}
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults)) + [*given.defaults]
    pairs = [(one, default) for one, default in zip(positional, defaults, strict=True) if one.arg in used]
    named = [(one, it) for one, it in zip(given.kwonlyargs, given.kw_defaults, strict=True) if one.arg in used]
    arguments = ast.arguments(
        posonlyargs=[],
        args=[one for one, _ in pairs],
        vararg=given.vararg if given.vararg is not None and given.vararg.arg in used else None,
        kwonlyargs=[one for one, _ in named],
        kw_defaults=[it for _, it in named],
        kwarg=given.kwarg if given.kwarg is not None and given.kwarg.arg in used else None,
        defaults=[default for _, default in pairs if default is not None],
    )
    part = ast.FunctionDef(
        **{
            **{name: getattr(function, name) for name in function._fields},
            "args": arguments,
            "body": kept or [ast.Pass()],
        }
    )
    maker = ast.parse(f"def {_MAKER}({_CLASS}):\n    return __init__").body[0]
    assert isinstance(maker, ast.FunctionDef)
    maker.body.insert(0, ast.copy_location(part, function))
    space: dict[str, Any] = {}
    module = ast.fix_missing_locations(ast.Module([maker], []))
    code = compile(module, made.__code__.co_filename, "exec")
    exec(code, made.__globals__, space)
    found: Callable[..., Any] = space[_MAKER](owner)
    setattr(found, REPLACES, made)
    return found
