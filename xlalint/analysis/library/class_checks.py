"""What `isinstance` and `hasattr` say of a value, as far as it is known."""

from __future__ import annotations

import sys
from typing import Final

from ...facts.names import known
from ..domain.values import (
    STATIC,
    Api,
    ApiObject,
    Array,
    Class,
    ClassValue,
    Dict,
    Instance,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)

_PYTHON_SCALARS: Final = frozenset(
    f"builtins.{name}" for name in ("int", "float", "bool", "str", "bytes", "complex", "type")
) | {"np.integer", "np.floating", "np.ndarray", "np.generic", "numbers.Number", "numbers.Integral", "numbers.Real"}
# .. and classes that hold others: a constant is of one of them if that is its class.
_PLAIN: Final = _PYTHON_SCALARS | {f"builtins.{name}" for name in ("dict", "frozenset", "list", "set", "tuple")}
_ENUMS: Final = frozenset(("enum.Enum", "builtins.object"))
_SEQUENCES: Final = {"builtins.list": ("list",), "builtins.tuple": ("tuple",), "builtins.set": ("set",)}
SPARSE_CLASSES: Final = frozenset(("tf.SparseTensor",))
_TENSOR_LIKE: Final = frozenset(("tf.RaggedTensor", "tf.SparseTensor", "tf.TensorArray", "tf.IndexedSlices"))
# Classes of TensorFlow's and Keras's of which no tensor and no variable is.
_NO_TENSORS: Final = _TENSOR_LIKE | frozenset(
    (
        *("collections.OrderedDict", "collections.defaultdict", "collections.Counter", "collections.deque"),
        *("tf.PartitionedVariable", "tf.python.ops.variables.PartitionedVariable", "tf.Module", "tf.Operation"),
        *("tf.Graph", "tf.DType", "tf.TensorShape", "tf.TypeSpec", "tf.TensorSpec", "tf.data.Dataset"),
        *("keras.layers.Layer", "keras.Model", "keras.Sequential"),
    )
)
_DICTS: Final = frozenset(("builtins.dict", "collections.OrderedDict", "collections.defaultdict"))
# Where no class is one of tensors: Python's own modules, but for those of protocols, NumPy and plain classes.
PLAIN_CLASS: Final = "(plain)"
_ELSEWHERE: Final = (sys.stdlib_module_names | {"np", PLAIN_CLASS}) - {"typing", "collections", "abc"}
MAY_BE_TENSORS: Final = frozenset(
    ("", "tf", "keras", "typing", "collections", "abc")
)  # where one may be, or an alias of one
STRUCTURES: Final = frozenset(("builtins.list", "builtins.tuple", "builtins.dict"))  # of which `nest` makes structures
TENSOR_CLASSES: Final = frozenset(("tf.Tensor", "tf.Variable", "keras.KerasTensor", "tf.types.experimental.TensorLike"))
# What a tensor has while it is compiled (measured).
_OF_TENSORS: Final = frozenset(
    ("__array__", "__iter__", "__len__", "consumers", "device", "dtype", "eval", "experimental_ref", "get_shape")
) | {"graph", "name", "ndim", "op", "ref", "set_shape", "shape", "value_index"}


def is_called_tensor(value: Value) -> bool:
    """Whether an annotation alone says that a value is a tensor, which who asks for another class does not believe."""
    return isinstance(value, Tensor) and value.origin is None and value.dtype is None


def class_name(value: Value) -> str:
    match value:
        case Api(name):
            return name
        case ClassValue(cls) if all(isinstance(ancestor, str) or _is_plain(ancestor) for ancestor in cls.mro):
            return PLAIN_CLASS
        case _:
            return ""


def _is_plain(cls: Class) -> bool:
    """Whether all that a class is derived from is known, and none of it a class of tensors or a protocol."""
    for base in cls.bases:
        match base:
            case ClassValue() | Api("tf.Module" | "abc.ABC"):
                continue
            case Api(name) if root_of(name) != "tf" and not name.endswith(".Protocol"):
                continue
        return False
    return True


def root_of(name: str) -> str:
    return name.partition(".")[0]


def is_instance(value: Value, names: frozenset[str]) -> bool | None:
    """`isinstance(value, names)`, as far as it is known."""
    match value:
        case Tensor() if names and names <= _TENSOR_LIKE:
            return False
        case Tensor(variable=variable):
            if names & TENSOR_CLASSES:
                # A variable is no tf.Tensor; a symbolic tensor is no tf.Variable.
                return True if names >= {"tf.Tensor"} and not variable else None
            elsewhere = all(name in _NO_TENSORS or root_of(name) in _ELSEWHERE for name in names)
            # An annotation alone is not believed where other classes than Python's plain ones are asked for.
            sure = not is_called_tensor(value) or all(name.startswith(("builtins.", "np.")) for name in names)
            return False if elsewhere and sure else None
        case Static(constant) if value.known and names <= _PLAIN:
            return f"builtins.{type(constant).__name__}" in names or (
                isinstance(constant, bool) and "builtins.int" in names
            )
        case Structure() if names and all(name.startswith("np.") for name in names):
            return False  # tensors, in whatever structure
        case Static() | Array():
            return False if names and names <= TENSOR_CLASSES else None
        case Sequence(kind):
            return f"builtins.{kind}" in names if all(name.startswith("builtins.") for name in names) else None
        case Dict():
            return "builtins.dict" in names if all(name.startswith("builtins.") for name in names) else None
        case ApiObject(name, None) if name in _TENSOR_LIKE and names <= _TENSOR_LIKE | TENSOR_CLASSES:
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


def as_instance(value: Unknown | Structure, names: frozenset[str]) -> Value:
    """A value of unknown kind where `isinstance` said that it is one of `names`."""
    if names and names <= _PYTHON_SCALARS:
        return Array() if names <= {"np.ndarray"} else STATIC
    if names and names <= set(_SEQUENCES):
        inner = value if isinstance(value, Structure) else Unknown()
        return Sequence("list" if "builtins.list" in names else "tuple", None, inner)
    if names and names <= _DICTS:
        return Dict({}, value if isinstance(value, Structure) else Unknown())
    # The payload keeps in mind that nobody was seen to make one.
    return ApiObject(min(names), payload=value) if len(names) == 1 and names <= _TENSOR_LIKE else value


def asks_for_numbers(names: frozenset[str]) -> bool:
    """Whether what is asked for is numbers, or lists of them."""
    return not names.isdisjoint(_PYTHON_SCALARS) and names <= _PYTHON_SCALARS | set(_SEQUENCES)


def is_enum(cls: Class) -> bool:
    """Whether a class makes members of what its body binds; one that is a number or text, too, counts as that."""
    bases = set(cls.external_bases)
    return "enum.Enum" in bases and bases <= _ENUMS
