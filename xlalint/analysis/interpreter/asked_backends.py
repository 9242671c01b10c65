"""Code that only one backend runs: what stands under `if keras.config.backend() == "jax":`, say, and TensorFlow's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.kinds import as_tensor, options
from ..domain.values import Array, Dict, OneOf, Sequence, Setting, Static, Structure, Tensor, Value
from ..library import jax_names
from ..library.size_parameters import PYTHON_VALUES
from ..library.strategies import BACKEND_VARIABLE
from ..record import replace
from .contexts import ContextKind
from .events import TensorflowAttribute, TensorflowCall
from .frames import Arguments, Frame
from .interface import Interpreter

ASKED: Final = Static(setting=Setting(False, "the backend of Keras"))
"""What `keras.config.backend()` gives."""

RUNS_EAGERLY: Final = Static(setting=Setting(False, "whether TensorFlow runs eagerly"))
"""What `tf.executing_eagerly()` gives in what Keras calls: JAX traces it, and TensorFlow knows of no trace."""

TRACES: Final = Static(setting=Setting(True, "whether TensorFlow runs eagerly"))
"""What `tf.inside_function()` gives there."""

# Of functions of JAX: what says how large the result is.
_FIXED: Final = frozenset(("length", "num_segments", "size", "total_repeat_length"))
_TRACED: Final = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.ops.", "jax.random.", "jax.image.", "jax.scipy.")
_KEPT: Final = {RUNS_EAGERLY.setting: Backend.JAX, TRACES.setting: Backend.TENSORFLOW}
_STRUCTURES: Final = ("tf.nest.", "tf.keras.")
# What does not convert the tensors that it gets.
TAKING: Final = (
    *("tf.nest.", "tf.is_tensor", "tf.is_symbolic_tensor", "tf.print", "tf.get_static_value", "tf.group", "tf.tuple"),
    *("tf.control_dependencies", "tf.debugging.assert_proper_iterable", "tf.summary.", "tf.data.", "tf.keras."),
    "tf.IndexedSlices",
)
# What TensorFlow's tensors and their shapes alone have, and what is there of it for all.
_OF_TENSORS: Final = {"get_shape": None, "set_shape": None}
_OF_SHAPES: Final = {"rank": "len({shape})", "ndims": "len({shape})", "as_list": None, "assert_has_rank": None}
_CONSTANTS: Final = (cst.SimpleString, cst.Tuple, cst.List, cst.Set)


def of_variable(interpreter: Interpreter, variable: Value) -> Value | None:
    """What a variable of the environment holds, where it is the one that Keras reads; nobody asks where JAX is not."""
    return ASKED if variable == BACKEND_VARIABLE and interpreter.project.files.jax else None


def by_comparison(interpreter: Interpreter, frame: Frame, test: cst.Comparison, outcome: bool) -> None:
    """Narrow the backends that run what follows, where a test compares the backend with names."""
    match test:
        case cst.Comparison(
            left=cst.Name() | cst.Attribute() | cst.Subscript() | cst.Call() as asked,
            comparisons=[cst.ComparisonTarget(operator=sign, comparator=names)],
        ) if isinstance(names, _CONSTANTS) and _is_plain(asked) and interpreter.evaluate(frame, asked) == ASKED:
            named = _named(interpreter.evaluate(frame, names))
            match sign:
                case cst.Equal() | cst.In():
                    keep(frame, named if outcome else frozenset(Backend) - named)
                case cst.NotEqual() | cst.NotIn():
                    keep(frame, frozenset(Backend) - named if outcome else named)


def _is_plain(asked: cst.BaseExpression) -> bool:
    """Whether an expression can be evaluated once more: it passes and looks up nothing but texts."""
    match asked:
        case cst.Call(args=arguments):
            return all(isinstance(argument.value, cst.SimpleString) for argument in arguments)
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return isinstance(key, cst.SimpleString)
        case _:
            return not isinstance(asked, cst.Subscript)


def by_pattern(frame: Frame, value: Value, pattern: cst.MatchPattern, left: frozenset[Backend]) -> frozenset[Backend]:
    """Narrow the backends that run a case, where a statement matches the backend with names; what is left of them for
    the cases that follow."""
    if value != ASKED:
        return left
    named = _matched(pattern)
    keep(frame, left if named is None else left & named)
    return frozenset() if named is None else left - named


def _matched(pattern: cst.MatchPattern) -> frozenset[Backend] | None:
    """The backends that a pattern names; None of one that takes any."""
    match pattern:
        case cst.MatchValue(value=cst.SimpleString() as text):
            return frozenset(backend for backend in Backend if backend.value == text.evaluated_value)
        case cst.MatchOr(patterns=patterns):
            found = [_matched(each.pattern) for each in patterns]
            return None if None in found else frozenset().union(*(names for names in found if names is not None))
        case _:
            return None


def by_trace(frame: Frame, value: Value, outcome: bool) -> None:
    """Narrow the backends that run what follows, where a test asks whether TensorFlow traces: where it does not, JAX
    does, or mostly nobody."""
    if isinstance(value, Static) and (kept := _KEPT.get(value.setting)) is not None:
        keep(frame, frozenset((kept,)) if outcome else frozenset(Backend) - {kept})
        if (kept is Backend.JAX) is outcome:
            frame.context = replace(frame.context, aside=True)


def keep(frame: Frame, backends: frozenset[Backend]) -> None:
    """Nothing but these runs what follows."""
    known = frame.context.backends
    frame.context = replace(frame.context, backends=backends if known is None else known & backends)


def as_keras(frame: Frame, name: str, arguments: Arguments) -> tuple[str, Arguments]:
    """A call of JAX as that of the function of `keras.ops` that does the same, if there is one and the size of its
    result is not fixed. Code that JAX traces is JAX's; a file without Keras is none of ours."""
    if not frame.module.file.imports_keras:
        return name, arguments
    if frame.context.kind is ContextKind.XLA and name.startswith(_TRACED):
        keep(frame, frozenset((Backend.JAX,)))
    found = jax_names.function_of(name)
    if found is None or not arguments.keywords.keys().isdisjoint(_FIXED):
        return name, arguments
    return found[0], arguments.renamed(found[1])


def as_traced(frame: Frame, bound: dict[str, Value]) -> None:
    """What JAX compiles is passed tensors, also where a call wants a Python value."""
    if not (frame.context.kind is ContextKind.XLA and frame.context.is_for_jax):
        return
    for parameter in PYTHON_VALUES & bound.keys():
        match bound[parameter]:
            case Structure(passed=False) as given:
                bound[parameter] = given.tensor
            case Sequence(kind, tuple(items)):
                tensors = (item.tensor if isinstance(item, Structure) and not item.passed else item for item in items)
                bound[parameter] = Sequence(kind, tuple(tensors))


def report_tensorflow(
    interpreter: Interpreter,
    frame: Frame,
    name: str,
    bound: Mapping[str, Value],
    nodes: Mapping[str, cst.BaseExpression],
    node: cst.BaseExpression,
) -> None:
    """Say that a function of TensorFlow gets data in code that Keras calls."""
    if frame.context.keras is None or not isinstance(node, cst.Call):
        return
    if tensors := [tensor for value in bound.values() for tensor in _data_in(value)]:
        nodes = {parameter: nodes.get(parameter, node) for parameter in bound}
        made = all(tensor.of_tensorflow for tensor in tensors)
        interpreter.emit(
            frame, TensorflowCall, node, api=name, arguments=bound, argument_nodes=nodes, node=node, made=made
        )
        if not name.startswith(TAKING):
            _is_behind(frame)


def report_attribute(interpreter: Interpreter, frame: Frame, owner: Value, name: str, node: cst.BaseExpression) -> None:
    """Say that code that Keras calls asks a tensor, or its shape, for what TensorFlow's alone have."""
    if frame.context.keras is None or frame.context.kind is not ContextKind.XLA:
        return
    match owner, node:
        case Tensor(of_tensorflow=False) | Structure(of_tensorflow=False), cst.Attribute() if name in _OF_TENSORS:
            instead = _OF_TENSORS[name]
        case Sequence(), cst.Attribute(value=cst.Attribute(value=asked, attr=cst.Name(value="shape")) as shape) if (
            name in _OF_SHAPES and _is_passed(interpreter.evaluate(frame, asked))
        ):
            instead = _OF_SHAPES[name]
            instead = None if instead is None else instead.format(shape=frame.unit.code(shape))
        case _:
            return
    interpreter.emit(frame, TensorflowAttribute, node, attribute=name, instead=instead)
    _is_behind(frame)


def _is_passed(value: Value) -> bool:
    """Whether a value may be a tensor of what runs Keras: where TensorFlow has made one, JAX has raised before. Layers
    get arrays as tensors."""
    return any(
        isinstance(one, Array) or (isinstance(one, Tensor | Structure) and not one.of_tensorflow)
        for one in options(value)
    )


def _is_behind(frame: Frame) -> None:
    """What follows is not got to on JAX."""
    if not frame.context.behind:
        frame.context = replace(frame.context, behind=True)


def made_by_tensorflow(name: str, result: Value) -> Value:
    """The result of a function of the library, with its tensors as TensorFlow's where it is one of TensorFlow's."""
    if not name.startswith("tf.") or name.startswith(_STRUCTURES):
        return result
    return as_tensorflows(result)


def as_tensorflows(value: Value) -> Value:
    """A value with its tensors as TensorFlow's own."""
    match value:
        case Tensor(of_tensorflow=False) | Structure(of_tensorflow=False):
            return replace(value, of_tensorflow=True)
        case OneOf(options=parts):
            return OneOf(tuple(map(as_tensorflows, parts)))
        case Sequence(items=tuple(parts)):
            return replace(value, items=tuple(map(as_tensorflows, parts)))
        case Sequence(element=element) if element is not None:
            return replace(value, element=as_tensorflows(element))
        case Dict(entries, element):
            inner = None if element is None else as_tensorflows(element)
            return Dict({key: as_tensorflows(item) for key, item in entries.items()}, inner)
        case _:
            return value


def as_taken(interpreter: Interpreter, name: str, arguments: Arguments) -> Arguments:
    """What a function of the library passes on to functions that it gets: TensorFlow its own tensors."""
    if not interpreter.project.files.jax or not name.startswith("tf.") or name.startswith(_STRUCTURES):
        return arguments
    keywords = {keyword: as_tensorflows(value) for keyword, value in arguments.keywords.items()}
    return replace(arguments, positional=[*map(as_tensorflows, arguments.positional)], keywords=keywords)


def _data_in(value: Value) -> Iterator[Tensor]:
    """The tensors of data that a value is, or holds as a list or tuple; what Keras passes may be one."""
    items = value.items if isinstance(value, Sequence) else None
    for part in (value, *(items or ())):
        tensor = as_tensor(part.tensor if isinstance(part, Structure) else part)
        if tensor is not None:
            yield tensor


def _named(value: Value) -> frozenset[Backend]:
    match value:
        case Static(constant=str() as name):
            names: list[object] = [name]
        case Static(constant=(tuple() | list() | set() | frozenset()) as several):
            names = [*several]
        case Sequence(items=tuple(items)):
            names = [item.constant for item in items if isinstance(item, Static)]
        case _:
            names = []
    return frozenset(backend for backend in Backend if backend.value in names)
