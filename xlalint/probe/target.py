"""What is to be run, as plain data: the linter's side writes it, the worker reads it. Standard library only."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """What is known of a parameter without running anything; `kind` "" is nothing.

    `kind`: "tensor", "nest" (tensors in some structure), "array", "static" (a Python value), "list", "tuple", "dict",
    "function", "object"; several joined by "|". `dtype` is a class: "bool", "int", "float", "complex", "string".
    `of_data`: some caller passes data, which may be one number.
    """

    name: str
    kind: str = ""
    dtype: str | None = None
    rank: int | None = None
    of_data: bool = False


@dataclass(frozen=True)
class Given:
    """What the user says that a parameter gets (`specs` has the grammar); `name` None: by position."""

    name: str | None
    spec: str


@dataclass(frozen=True)
class Frame:
    """A definition by its file and qualified name, that calls the target or calls what does."""

    file: str
    qualname: str


@dataclass(frozen=True)
class Target:
    """One definition to run.

    `file`: absolute; `qualname`: "f", "Layer.call", "make.<locals>.inner", "Layer" (its instance is called), "" for a
    fragment, the whole file; `lines`: the first and last line of the definition, decorators included; `kind`:
    "function", "method", "class", "nested", "object" (of the module's top) or "fragment"; `given` and `made_of`: the
    user's word for the call and for the object's own arguments; `factory`: "pkg.mod:make_inputs" gives the arguments;
    `search`: folders to import from; `autograph`: None leaves it to the driver; `roots`: the user's own files are
    under these; `wanted`: lines of the file that the inputs should reach; `callers`: who leads there, the nearest
    first; `avoid`: inputs, as `note` was told of them, that ended the process; `refused`: why nothing is to be run;
    `host`: it is run as host code that calls compiled functions, and is not compiled itself; `extreme`: it is also
    called with values that eager execution may refuse; `rules`: those of findings that ask for a measurement of their
    own; `backend`: what Keras computes with, `keras`: the Keras that its
    project requires, 2 or 3, None where nothing says; a process has one of each.
    """

    file: str
    qualname: str
    lines: tuple[int, int] = (1, 1)
    kind: str = "function"
    parameters: tuple[Parameter, ...] = ()
    given: tuple[Given, ...] = ()
    made_of: tuple[Given, ...] = ()
    factory: str | None = None
    search: tuple[str, ...] = ()
    autograph: bool | None = None
    roots: tuple[str, ...] = ()
    wanted: tuple[int, ...] = ()
    callers: tuple[Frame, ...] = ()
    avoid: tuple[str, ...] = ()
    refused: str = ""
    host: bool = False
    extreme: bool = False
    rules: tuple[str, ...] = ()
    backend: str = "tensorflow"
    keras: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON's types."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Target:
        """What `to_json` wrote."""
        parts: dict[str, Any] = {
            "parameters": tuple(Parameter(**one) for one in data["parameters"]),
            "given": tuple(Given(**one) for one in data["given"]),
            "made_of": tuple(Given(**one) for one in data["made_of"]),
            "callers": tuple(Frame(**one) for one in data["callers"]),
        }
        parts |= {name: tuple(data[name]) for name in ("lines", "search", "roots", "wanted", "avoid", "rules")}
        return cls(**{**data, **parts})
