"""Switches for debugging: with them a class leaves its steps to Python, so no trace comes where they are on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, Class, Module
from .contexts import ContextKind
from .frames import Frame

_COMPILES: Final = Api("tf.function")  # which wraps a method where the switch is off
_GAP: Final = r"(?:\s|\\|#[^\n]*\n)*"
# What a line that wraps a method reads like: most methods have none, and need no tree.
_MAY_WRAP: Final = re.compile(rf"self\s*\.\s*\w+\s*=[\s\\(]*\w+(?:\s*\.\s*\w+)*{_GAP}\({_GAP}self\s*\.")


def is_off(frame: Frame, test: cst.BaseExpression, known: dict[Class, frozenset[str]]) -> bool:
    """Whether `test` asks for a switch with which the class compiles nothing: where it is on, there is no trace.
    `known`: the switches of the classes that were asked about, to which it adds."""
    if frame.owner is None or frame.context.kind not in (ContextKind.XLA, ContextKind.GRAPH):
        return False
    name = _own(test)
    if name is None:
        return False
    classes = [cls for cls in frame.owner.mro if not isinstance(cls, str)]
    known |= {cls: _switches(cls) for cls in classes if cls not in known}
    return any(name in known[cls] for cls in classes)


def may_wrap(text: str) -> bool:
    """Whether a line of a method may read `self.step = tf.function(self.step)`."""
    return _MAY_WRAP.search(text) is not None


def _switches(cls: Class) -> frozenset[str]:
    """The attributes of a class that are on only where it compiles none of its methods."""
    found: set[str] = set()
    for method in cls.functions.values():
        if not may_wrap(method.text):
            continue
        lines = [node for node in cst.within(method.node.body) if isinstance(node, cst.If | cst.Assign)]
        off = {key for line in lines if isinstance(line, cst.If) for key in _compiled_without(line, cls.module)}
        found |= {key.removeprefix("self.") for key in off if key.startswith("self.")}
        for line in lines:
            match line:
                case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if _key(value) in off:
                    found |= {name for name in (_own(target),) if name is not None}
    return frozenset(found)


def _compiled_without(line: cst.If, module: Module) -> Iterator[str]:
    """What has to be false for the line to wrap a method."""
    match line.test:
        case cst.UnaryOperation(operator=cst.Not(), expression=switch):
            wraps = _wraps(line.body, module)
        case switch:
            wraps = (
                isinstance(line.orelse, cst.Else) and _wraps(line.orelse.body, module) and not _wraps(line.body, module)
            )
    if wraps and (key := _key(switch)) is not None:
        yield key


def _wraps(body: cst.BaseSuite, module: Module) -> bool:
    """Whether a method becomes a compiled one: `self.step = tf.function(self.step)`."""
    for node in cst.within(body):
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=target)],
                value=cst.Call(func=called, args=[cst.Arg(value=given), *_]),
            ) if _own(target) is not None and _own(given) is not None:
                if (name := _key(called)) is not None and module.resolve_text(name) == _COMPILES:
                    return True
    return False


def _own(node: cst.CSTNode) -> str | None:
    """The name of an attribute of `self`."""
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
        case _:
            return None


def _key(node: cst.CSTNode) -> str | None:
    """What names a value: names, attributes, and items by a constant name."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if (inner := _key(owner)) is not None:
            return f"{inner}.{name}"
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(cst.Index(cst.SimpleString(value=item)))]) if (
            inner := _key(owner)
        ) is not None:
            return f"{inner}[{item}]"
        case _:
            return None
