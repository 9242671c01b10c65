"""A measured call as text, and what is run of it: a function of tensors, and the objects that it uses.

In the text `tf`, `keras` and `tnp` are the packages and `f32[2, 3]` is a tensor argument (`samples.KINDS`). A call of a
class with state (a layer, a metric, a variable, a table) that holds no tensor argument is made once, before.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from xlalint.measuring.samples import KINDS, PICK, Sample, sample

ROOTS: Final = ("tf", "keras", "tnp", "np")

# Functions that make something with state.
MAKERS: Final = (
    "tf.random.Generator.from_seed",
    "tf.random.get_global_generator",
    "tf.summary.create_file_writer",
    "tf.summary.create_noop_writer",
    "tf.data.Dataset.range",
    "tf.function",
)


@dataclass(frozen=True)
class Expression:
    """What `parse` makes of a text: `function` takes a tensor for each of `samples`."""

    text: str
    samples: tuple[Sample, ...]
    function: Callable[..., Any]
    made: tuple[Any, ...] = ()  # the objects with state
    roles: Mapping[int, str] = field(default_factory=dict)  # by sample: the parameter or position that it is passed to


def namespace() -> dict[str, Any]:
    """What the names in an expression mean."""
    import numpy as np
    import tensorflow as tf  # type: ignore[import-untyped]

    return {"tf": tf, "keras": tf.keras, "tnp": tf.experimental.numpy, "np": np}


def parse(text: str, names: Mapping[str, Any]) -> Expression:
    """The expression as a function of its tensors. Objects with state are made by this."""
    tree = ast.parse(text, mode="eval")
    roles = _roles(tree.body, names)
    cutter = _Cutter(names)
    body = cutter.visit(tree.body)
    parameters = [ast.arg(arg=f"_{number}") for number in range(len(cutter.samples))]
    arguments = ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.Expression(ast.Lambda(args=arguments, body=body))
    scope = {**names, **{f"_made_{number}": made for number, made in enumerate(cutter.made)}}
    code = compile(ast.fix_missing_locations(function), "<measured>", "eval")
    return Expression(text, tuple(cutter.samples), eval(code, scope), tuple(cutter.made), roles)


class _Cutter(ast.NodeTransformer):
    """Takes the tensors and the objects with state out of an expression."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names
        self.samples: list[Sample] = []
        self.made: list[Any] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        kind = kind_of(node)
        if kind is None:
            return self.generic_visit(node)
        subscript = ast.literal_eval(node.slice)
        self.samples.append(sample(kind, subscript, len(self.samples)))
        return ast.Name(id=f"_{len(self.samples) - 1}", ctx=ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not self._has_state(node) or not _free(node):
            return self.generic_visit(node)
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<made>", "eval")
        self.made.append(eval(code, dict(self.names)))
        return ast.Name(id=f"_made_{len(self.made) - 1}", ctx=ast.Load())

    def _has_state(self, node: ast.Call) -> bool:
        path = dotted(node.func)
        if path in MAKERS:
            return True
        target = resolve(path, self.names) if path else None
        if not inspect.isclass(target):
            return False
        tf = self.names.get("tf")  # which is not there under another backend
        kinds = () if tf is None else (tf.Module, tf.Variable, tf.__internal__.tracking.AutoTrackable)
        return issubclass(target, kinds) or target.__module__.split(".")[0] == "keras" or path.startswith("tf.lookup.")


def _free(node: ast.AST) -> bool:
    """Holds no tensor argument and nothing that a lambda around it binds."""
    inner = {arg.arg for part in ast.walk(node) if isinstance(part, ast.arguments) for arg in part.args}
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and kind_of(part):
            return False
        if isinstance(part, ast.Name) and part.id not in inner and part.id not in (*ROOTS, *dir(builtins)):
            return False
    return True


def kind_of(node: ast.Subscript) -> str | None:
    """The kind of sample that a subscript means, if it means one."""
    name = node.value.id if isinstance(node.value, ast.Name) else None
    return name if name in KINDS or name == PICK else None


def dotted(node: ast.AST) -> str:
    """The dotted name that an expression is, or nothing."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, name):
            owner = dotted(value)
            return f"{owner}.{name}" if owner else ""
    return ""


def resolve(path: str, names: Mapping[str, Any]) -> Any:
    """The object behind a dotted name; None where there is none."""
    root, *rest = path.split(".")
    found = names.get(root)
    for name in rest:
        found = getattr(found, name, None)
    return found


def _roles(node: ast.AST, names: Mapping[str, Any]) -> dict[int, str]:
    """By sample: the parameter of the outermost call in which it stands."""
    if not isinstance(node, ast.Call):
        return {}
    parameters = _parameters(node.func, names)
    roles: dict[int, str] = {}
    count = sum(isinstance(part, ast.Subscript) and kind_of(part) is not None for part in ast.walk(node.func))
    labelled: list[tuple[str, ast.AST]] = [
        (parameters[place] if place < len(parameters) else f"argument {place + 1}", argument)
        for place, argument in enumerate(node.args)
    ]
    labelled += [(keyword.arg or "", keyword.value) for keyword in node.keywords]
    for role, argument in labelled:
        for part in ast.walk(argument):
            if isinstance(part, ast.Subscript) and kind_of(part):
                roles[count] = role
                count += 1
    return roles


def _parameters(function: ast.AST, names: Mapping[str, Any]) -> list[str]:
    if isinstance(function, ast.Call):  # an object that is called
        target = getattr(resolve(dotted(function.func), names), "call", None)
    else:
        target = resolve(dotted(function), names)
    if target is None:
        return []
    try:
        return [name for name in inspect.signature(target).parameters if name != "self"]
    except (TypeError, ValueError):
        return []
