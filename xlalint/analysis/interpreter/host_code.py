"""Host code: what has nothing to do with TensorFlow and need not be read to know what is compiled, and what shows that
top-level code is a program's."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import (
    Api,
    ApiObject,
    Class,
    ClassValue,
    Dict,
    FunctionValue,
    Instance,
    ModuleValue,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..program import customary_names as libraries
from ..program.decorator_texts import names_jit
from .frames import Arguments, Compilation

_TEXTS: Final = re.compile(r"(\"{3}|'{3}).*?\1|\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*", re.DOTALL)
_WORDS: Final = re.compile(r"\w+")
_LOOPS: Final = frozenset(("async", "await", "for", "while", "yield"))
_LONGEST_OF_SETTINGS: Final = 200  # lines

# Methods of models and data sets that only eager code calls, where nothing is known of the object but the name that
# nobody binds.
_TRAINING: Final = frozenset(
    (
        *("compile", "evaluate", "fit", "fit_generator", "make_one_shot_iterator", "predict", "predict_on_batch"),
        *("test_on_batch", "train_on_batch"),
    )
)


# What programs call by these names: the parts of a model that is put together, sessions and what they are fed.
_SETTING_UP: Final = frozenset(
    (
        *("Input", "Model", "Sequential"),
        *("InteractiveSession", "Session", "global_variables_initializer", "placeholder"),
    )
)
# Libraries that only eager code uses, by the names that they are imported by.
_OF_HOST: Final = frozenset(("pd", "plt", "sns"))

# What a snippet leaves to the reader, and a script does: it shows what came out.
_SHOWS: Final = frozenset(("numpy", "print"))


def is_of_script(tree: cst.CSTNode, shows: bool) -> bool:
    """Whether code puts together, compiles, fits or feeds a model, opens a session, builds a data set, plots, or is of
    an exported notebook; if `shows`, also whether it shows what it computes."""
    pending = [tree]
    while pending:
        node = pending.pop()
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in _TRAINING:
                return True
            case cst.Call(func=cst.Name(value=name)) if name in libraries.OF_IPYTHON:
                return True
            case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))) if (
                shows and name in _SHOWS
            ):
                return True
            case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))) if name in _SETTING_UP:
                return True
            case cst.Attribute(value=cst.Name(value="tf" | "tensorflow"), attr=cst.Name(value="data")):
                return True
            case cst.Attribute(value=cst.Name(value=name)) if name in _OF_HOST:
                return True
        pending.extend(node.children)
    return False


def is_plain(value: FunctionValue, arguments: Arguments, is_installed: Callable[[Path], bool]) -> bool:
    """Whether a call on the host stays in plain Python: a file without TensorFlow that keeps nothing for others,
    passed plain values, and not what says how a program is set up that nobody installs."""
    module = value.function.module
    if module.written or module.serves_tensorflow or arguments.rest is not None:
        return False
    if module.file.may_be_fragment or module.file.may_be_registry:
        return False
    if isinstance(value.bound, Instance | ClassValue) and _is_about_tensors(value.bound.cls):
        return False
    if isinstance(value.bound, Instance) and any(map(_holds_compiled, value.bound.attributes.values())):
        return False
    if not all(map(_is_plain_value, (*arguments.positional, *arguments.keywords.values()))):
        return False
    return is_installed(module.path) or not _is_of_settings(value.function.name, value.function.text)


@lru_cache(maxsize=1024)
def _is_of_settings(name: str, text: str) -> bool:
    """Whether a function in plain Python may say what a program is set to: without a loop it makes options of a command
    line, a number or an object that has some, and takes no time to execute."""
    if text.count("\n") > _LONGEST_OF_SETTINGS:
        return False
    words = frozenset(_WORDS.findall(_TEXTS.sub("", text)))
    return words.isdisjoint(_LOOPS) and ("return" in words or name == "__init__")


def _is_plain_value(value: Value) -> bool:
    """Whether a value has nothing to do with TensorFlow."""
    match value:
        case Static() | Unknown() | Api() | ModuleValue():
            return True
        case Instance(cls, attributes):
            held = any(isinstance(item, Tensor | Structure | ApiObject) for item in attributes.values())
            return not held and not _is_about_tensors(cls)
        case ClassValue(cls):
            return not _is_about_tensors(cls)
        case Sequence(items=items, element=element):
            return all(map(_is_plain_value, (*(items or ()), *((element,) if element is not None else ()))))
        case Dict(entries, element):
            return all(map(_is_plain_value, (*entries.values(), *((element,) if element is not None else ()))))
        case OneOf(alternatives):
            return all(map(_is_plain_value, alternatives))
        case _:
            return False


def _holds_compiled(value: Value) -> bool:
    """Whether an object holds a function that XLA compiles: a loop that is passed its steps."""
    match value:
        case FunctionValue(function, compiled=compiled):
            return (isinstance(compiled, Compilation) and compiled.jit) or any(map(names_jit, function.decorator_texts))
        case Sequence(items=items, element=element):
            return any(map(_holds_compiled, (*(items or ()), *((element,) if element is not None else ()))))
        case Dict(entries, element):
            return any(map(_holds_compiled, (*entries.values(), *((element,) if element is not None else ()))))
        case _:
            return False


def _is_about_tensors(cls: Class) -> bool:
    """Whether a class is written for TensorFlow, whatever file its bases are written in."""
    return any(not isinstance(ancestor, str) and ancestor.module.file.uses_tensorflow for ancestor in cls.mro)
