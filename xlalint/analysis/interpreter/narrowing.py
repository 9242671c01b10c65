"""What a condition's outcome says of the names in it: `if mask is not None`, `if isinstance(x, tuple)`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from ...facts.names import known
from ...syntax import nodes as cst
from ..domain.joins import join_all, without_none
from ..domain.kinds import as_condition, as_tensor, options, settled
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    UNSET,
    Api,
    ApiObject,
    Array,
    Class,
    ClassValue,
    Dependence,
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
from ..record import replace
from .frames import Frame
from .interface import Interpreter

_PYTHON_SCALARS: Final = frozenset(
    f"builtins.{name}" for name in ("int", "float", "bool", "str", "bytes", "complex", "type")
) | {"np.integer", "np.floating", "np.ndarray", "np.generic", "numbers.Number", "numbers.Integral", "numbers.Real"}
_SEQUENCES: Final = {"builtins.list": ("list",), "builtins.tuple": ("tuple",), "builtins.set": ("set",)}
_TENSOR_LIKE: Final = frozenset(("tf.RaggedTensor", "tf.SparseTensor", "tf.TensorArray", "tf.IndexedSlices"))
# Classes of TensorFlow's and Keras's of which no tensor and no variable is.
_NO_TENSORS: Final = _TENSOR_LIKE | frozenset(
    (
        *("tf.PartitionedVariable", "tf.python.ops.variables.PartitionedVariable", "tf.Module", "tf.Operation"),
        *("tf.Graph", "tf.DType", "tf.TensorShape", "tf.TypeSpec", "tf.TensorSpec", "tf.data.Dataset"),
        *("keras.layers.Layer", "keras.Model", "keras.Sequential"),
    )
)
_IDENTITY: Final = (cst.Is, cst.IsNot)
# Where no class is one of tensors: Python's own modules, but for those of protocols, NumPy and plain classes.
_PLAIN: Final = "(plain)"
_ELSEWHERE: Final = (sys.stdlib_module_names | {"np", _PLAIN}) - {"typing", "collections", "abc"}
_PERHAPS: Final = frozenset(("", "tf", "keras", "typing", "collections", "abc"))  # where one may be, or an alias of one
_ASKING: Final = (Api("tf.is_tensor"), Api("keras.ops.is_tensor"), Api("keras.backend.is_tensor"))
_NESTING: Final = (Api("tf.nest.is_nested"), Api("keras.tree.is_nested"))
STRUCTURES: Final = frozenset(("builtins.list", "builtins.tuple", "builtins.dict"))  # of which `nest` makes structures
_TENSORS: Final = frozenset(("tf.Tensor", "tf.Variable", "keras.KerasTensor", "tf.types.experimental.TensorLike"))

# What a tensor has while it is compiled (measured).
_OF_TENSORS: Final = frozenset(
    ("__array__", "__iter__", "__len__", "consumers", "device", "dtype", "eval", "experimental_ref", "get_shape")
) | {"graph", "name", "ndim", "op", "ref", "set_shape", "shape", "value_index"}


def truth(value: Value) -> bool | None:
    """Whether Python takes the value for true; None where that is not known (or asks a tensor)."""
    match value:
        case Static(constant):
            return None if constant is UNSET else bool(constant)
        case FunctionValue() | ClassValue() | ModuleValue() | Api():
            return True
        case Sequence("tuple", tuple(items)):
            return bool(items)
        case _:
            return None


def narrow(interpreter: Interpreter, frame: Frame, test: cst.BaseExpression, outcome: bool) -> None:
    """Refine the names of `frame` by `test` having come out as `outcome`."""
    refine = _NARROWING.get(type(test))
    if refine is not None and frame.env is not None:
        refine(interpreter, frame, test, outcome)


def _by_name(interpreter: Interpreter, frame: Frame, test: cst.Name, outcome: bool) -> None:
    env = frame.env
    if outcome and env is not None and test.value in env:
        env[test.value] = _true(env[test.value])


def _by_comparison(interpreter: Interpreter, frame: Frame, test: cst.Comparison, outcome: bool) -> None:
    target, *further = test.comparisons
    if isinstance(test.left, cst.Name) and isinstance(target.operator, _IDENTITY) and not further:
        other = target.comparator
        if isinstance(other, cst.Name) and other.value == "None":
            _narrow_none(frame, test.left.value, isinstance(target.operator, cst.Is) is outcome)


def _by_call(interpreter: Interpreter, frame: Frame, test: cst.Call, outcome: bool) -> None:
    match test:
        case cst.Call(
            func=cst.Name(value="isinstance"), args=[cst.Arg(value=cst.Name(value=name)), cst.Arg(value=kinds)]
        ):
            _narrow_kind(frame, name, class_names(interpreter, frame, kinds), outcome)
        case cst.Call(
            func=cst.Name(value="is_tensor") | cst.Attribute(attr=cst.Name(value="is_tensor")) as asked,
            args=[cst.Arg(value=cst.Name(value=name))],
        ) if interpreter.evaluate(frame, asked) in _ASKING:
            _narrow_kind(frame, name, _TENSORS, outcome)
        case cst.Call(
            func=cst.Name(value="is_nested") | cst.Attribute(attr=cst.Name(value="is_nested")) as asked,
            args=[cst.Arg(value=cst.Name(value=name))],
        ) if interpreter.evaluate(frame, asked) in _NESTING:
            _narrow_kind(frame, name, STRUCTURES, outcome)
        case cst.Call(
            func=cst.Name(value="hasattr"),
            args=[cst.Arg(value=cst.Name(value=name)), cst.Arg(value=cst.SimpleString(evaluated_value=str(attribute)))],
        ):
            _narrow_by_attribute(frame, name, attribute, outcome)


def _by_negation(interpreter: Interpreter, frame: Frame, test: cst.UnaryOperation, outcome: bool) -> None:
    if isinstance(test.operator, cst.Not):
        narrow(interpreter, frame, test.expression, not outcome)


def _by_both_sides(interpreter: Interpreter, frame: Frame, test: cst.BooleanOperation, outcome: bool) -> None:
    if isinstance(test.operator, cst.And if outcome else cst.Or):
        narrow(interpreter, frame, test.left, outcome)
        narrow(interpreter, frame, test.right, outcome)


# The forms of tests that say something of names; most others do not.
_NARROWING: Final[dict[type[cst.CSTNode], Callable[[Interpreter, Frame, Any, bool], None]]] = {
    cst.Name: _by_name,
    cst.Comparison: _by_comparison,
    cst.Call: _by_call,
    cst.UnaryOperation: _by_negation,
    cst.BooleanOperation: _by_both_sides,
}


def _true(value: Value) -> Value:
    """The value where Python took it for true. Code that asks this of what an annotation alone calls a tensor, or
    None, is passed numbers."""
    value = settled(value)
    tensor = as_tensor(value, Dependence.STATIC)
    return UNKNOWN if tensor is not None and as_condition(value) is None else without_none(value)


def _narrow_none(frame: Frame, name: str, is_none: bool) -> None:
    assert frame.env is not None
    value = frame.env.get(name)
    if value is not None:
        frame.env[name] = NONE if is_none else without_none(settled(value))


def _narrow_kind(frame: Frame, name: str, names: frozenset[str], outcome: bool) -> None:
    assert frame.env is not None
    value = frame.env.get(name)
    if value is None:
        return
    value = settled(value)
    kept = [option for option in options(value) if is_instance(option, names) is not (not outcome)]
    if outcome:
        kept = [_as_kind(option, names) if isinstance(option, Unknown | Structure) else option for option in kept]
        if names and _PERHAPS.isdisjoint(map(_root, names)):
            kept = [UNKNOWN if isinstance(option, Tensor) else option for option in kept]
    if not outcome and "tf.Tensor" in names:
        kept = [replace(option, several=True) if isinstance(option, Structure) else option for option in kept]
    if not outcome and names & {"", _PLAIN}:
        kept = [UNKNOWN if _is_called_a_tensor(option) else option for option in kept]
    if kept:
        frame.env[name] = join_all(*kept)


def _narrow_by_attribute(frame: Frame, name: str, attribute: str, outcome: bool) -> None:
    assert frame.env is not None
    value = frame.env.get(name)
    if value is not None:
        kept = [option for option in options(settled(value)) if has_attribute(option, attribute) is not (not outcome)]
        if kept:
            frame.env[name] = join_all(*kept)


def _is_called_a_tensor(value: Value) -> bool:
    """Whether an annotation alone says that a value is a tensor, which who asks for another class does not believe."""
    return isinstance(value, Tensor) and value.origin is None and value.dtype is None


def class_names(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> frozenset[str]:
    """The canonical names of the classes that `isinstance` is asked about; "" stands for one that is not known, and one
    name for all of the project that no tensor is of."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        return class_names(interpreter, frame, node.left) | class_names(interpreter, frame, node.right)
    match interpreter.evaluate(frame, node):
        case Sequence(items=tuple(items)):
            found = items
        case value:
            found = (value,)
    return frozenset(map(_class_name, found))


def _class_name(value: Value) -> str:
    match value:
        case Api(name):
            return name
        case ClassValue(cls) if all(isinstance(ancestor, str) or _is_plain(ancestor) for ancestor in cls.mro):
            return _PLAIN
        case _:
            return ""


def _is_plain(cls: Class) -> bool:
    """Whether all that a class is derived from is known, and none of it a class of tensors or a protocol."""
    for base in cls.bases:
        match base:
            case ClassValue() | Api("tf.Module" | "abc.ABC"):
                continue
            case Api(name) if _root(name) != "tf" and not name.endswith(".Protocol"):
                continue
        return False
    return True


def _root(name: str) -> str:
    return name.partition(".")[0]


def is_instance(value: Value, names: frozenset[str]) -> bool | None:
    """`isinstance(value, names)`, as far as it is known."""
    match value:
        case Tensor() if names and names <= _TENSOR_LIKE:
            return False
        case Tensor(variable=variable):
            if names & _TENSORS:
                # A variable is no tf.Tensor; a symbolic tensor is no tf.Variable.
                return True if names >= {"tf.Tensor"} and not variable else None
            elsewhere = all(name in _NO_TENSORS or _root(name) in _ELSEWHERE for name in names)
            # An annotation alone is not believed where other classes than Python's plain ones are asked for.
            sure = not _is_called_a_tensor(value) or all(name.startswith(("builtins.", "np.")) for name in names)
            return False if elsewhere and sure else None
        case Static(constant) if value.known and names <= _PYTHON_SCALARS:
            return f"builtins.{type(constant).__name__}" in names or (
                isinstance(constant, bool) and "builtins.int" in names
            )
        case Structure() if names and all(name.startswith("np.") for name in names):
            return False  # tensors, in whatever structure
        case Static() | Array():
            return False if names and names <= _TENSORS else None
        case Sequence(kind):
            return f"builtins.{kind}" in names if all(name.startswith("builtins.") for name in names) else None
        case Dict():
            return "builtins.dict" in names if all(name.startswith("builtins.") for name in names) else None
        case ApiObject(name, None) if name in _TENSOR_LIKE and names <= _TENSOR_LIKE | _TENSORS:
            return name in names
        case Instance(cls):
            return True if any(base in names for base in cls.external_bases) else None
        case OneOf(alternatives):
            answers = {is_instance(option, names) for option in alternatives}
            return answers.pop() if len(answers) == 1 else None
        case _:
            return None


def has_attribute(value: Value, name: str) -> bool | None:
    """`hasattr(value, name)`, as far as it is known."""
    match value:
        case Tensor(variable=variable):
            if name in _OF_TENSORS:
                return True
            # A variable has more, as has any tensor that behaves like NumPy's arrays; Keras leaves what is its own.
            unsure = variable or (name.startswith("_") and name != "_numpy") or known(f"tnp.{name}")
            return None if unsure else False
        case Structure() if name in ("shape", "dtype"):
            return True
        case OneOf(alternatives):
            answers = {has_attribute(option, name) for option in alternatives}
            return answers.pop() if len(answers) == 1 else None
        case _:
            return None


def _as_kind(value: Unknown | Structure, names: frozenset[str]) -> Value:
    """A value of unknown kind where `isinstance` said that it is one of `names`."""
    if names and names <= _PYTHON_SCALARS:
        return Array() if names <= {"np.ndarray"} else STATIC
    if names and names <= set(_SEQUENCES):
        inner = value if isinstance(value, Structure) else Unknown()
        return Sequence("list" if "builtins.list" in names else "tuple", None, inner)
    if names == {"builtins.dict"}:
        return Dict({}, value if isinstance(value, Structure) else Unknown())
    # The payload keeps in mind that nobody was seen to make one.
    return ApiObject(min(names), payload=value) if len(names) == 1 and names <= _TENSOR_LIKE else value
