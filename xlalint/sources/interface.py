"""What an outline says to those who look names up in it, wherever the definitions stand and whatever is in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Final

from .outline import Binding, ClassOutline, FunctionOutline, ImportOutline, Outline, Stretch

_SIZE: Final = 12


def interface_of(outline: Outline, text_of: Callable[[Stretch], str], *facts: object) -> str:
    """A digest of names, imports, decorators, bases and literals, in their order, and of `facts` beside them; `text_of`
    says what stands in the lines of a stretch. The same for two texts that differ in what functions do, in parameters,
    in comments, or in where things stand."""
    digest = hashlib.blake2b(repr(facts).encode(), digest_size=_SIZE)
    for part in _parts(outline, text_of):
        digest.update(f"{len(part)}:{part}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _parts(outline: Outline, text_of: Callable[[Stretch], str]) -> Iterator[str]:
    for name, bindings in outline.bindings.items():
        yield name
        for binding in bindings:
            yield from _binding(binding)
            if not isinstance(binding, ImportOutline):
                yield str(any(block.first <= binding.stretch.first <= block.last for block in outline.blocks))
    yield repr(outline.stars)
    yield str(len(outline.code))
    yield repr(sorted(outline.assigned))
    for name, value in outline.literals.items():
        yield name
        # The lines that it stands on are more than its text, and enough to be sure.
        yield text_of(Stretch(value.lineno, value.end_lineno or value.lineno))
        yield f"{value.col_offset} {value.end_col_offset}"


def addresses_in(outline: Outline) -> dict[Stretch, str]:
    """What each stretch of a file is to those who look names up: a definition or code, by its name or number."""
    found: dict[Stretch, str] = {}

    def add(stretch: Stretch, address: str) -> None:
        found[stretch] = f"{found[stretch]}, {address}" if stretch in found else address

    def add_class(made: ClassOutline, prefix: str) -> None:
        for number, stretch in enumerate(made.code):
            add(stretch, f"{prefix}.{number}")
        for name, function in made.functions.items():
            add(function.stretch, f"{prefix}.{name}")
        for name, function in made.setters.items():
            add(function.stretch, f"{prefix}.{name} set")
        for name, inner in made.classes.items():
            add_class(inner, f"{prefix}.{name}")

    for number, stretch in enumerate(outline.code):
        add(stretch, str(number))
    for name, bindings in outline.bindings.items():
        for number, binding in enumerate(bindings):
            match binding:
                case FunctionOutline():
                    add(binding.stretch, f"{name} {number}")
                case ClassOutline():
                    add_class(binding, f"{name} {number}")
    return found


def functions_in(outline: Outline) -> Iterator[FunctionOutline]:
    """The functions and methods that an outline has."""
    pending = [binding for bindings in outline.bindings.values() for binding in bindings]
    while pending:
        match pending.pop():
            case FunctionOutline() as found:
                yield found
            case ClassOutline() as made:
                pending += (*made.functions.values(), *made.setters.values(), *made.classes.values())


def _binding(binding: Binding) -> Iterator[str]:
    match binding:
        case ImportOutline():
            yield repr(binding)
        case FunctionOutline(name, _, decorators):
            yield f"def {name} {decorators!r}"
        case ClassOutline(name=name, bases=bases, decorators=decorators, keywords=keywords):
            yield f"class {name} {bases!r} {decorators!r} {keywords!r} {len(binding.code)}"
            for function in (*binding.functions.values(), *binding.setters.values()):
                yield from _binding(function)
            for inner in binding.classes.values():
                yield from _binding(inner)
            yield "end"
