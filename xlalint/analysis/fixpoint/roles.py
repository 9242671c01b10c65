"""What Keras, or the name of a method, says of how a function is called."""

from __future__ import annotations

from typing import Final

from ...findings.findings import BY_KERAS
from ...syntax import nodes as cst
from ..domain.values import (
    NONE,
    STATIC,
    Class,
    Dependence,
    Function,
    FunctionValue,
    OneOf,
    Origin,
    Sequence,
    Structure,
    Tensor,
    Value,
)
from ..interpreter.contexts import Context, ContextKind
from ..interpreter.frames import Arguments
from ..program.parameter_uses import structures_among, takes_text

KINDS: Final = ("layer", "model", "loss", "metric", "optimizer", "schedule", "regularizer", "constraint")


# What Python asks of an object as a whole (a number, a truth, a copy), and what sets one up.
_EAGER_METHODS: Final = frozenset(
    (
        *("__init__", "__new__", "__init_subclass__", "build", "setup", "get_config", "from_config"),
        *("compute_output_shape", "__repr__", "__str__", "__format__", "__eq__", "__ne__", "__hash__", "__bool__"),
        *("__len__", "__contains__", "__int__", "__float__", "__index__", "__copy__", "__deepcopy__", "__reduce__"),
        *("__getstate__", "__setstate__", "get_build_config", "build_from_config", "get_compile_config"),
        *("compile_from_config", "save_own_variables", "load_own_variables", "save_assets", "load_assets"),
    )
)


def is_eager_by_role(function: Function) -> bool:
    """Methods that Python or Keras calls while nothing is traced."""
    return function.owner is not None and function.name in _EAGER_METHODS


def may_take_tensors(value: FunctionValue, context: Context) -> bool:
    """Whether a function made inside another may be about tensors though nobody was seen to call it: where compiled
    code makes it, or in a file that has to do with TensorFlow. Of a project one partition may follow another through
    files that have not; to run all that stands in these, with arguments that nobody knows, may take for ever."""
    module = value.function.module
    compiled = context.kind in (ContextKind.XLA, ContextKind.GRAPH)
    return compiled or module.serves_tensorflow or module.file.may_be_fragment


def is_mostly_outside(cls: Class, method: Function) -> bool:
    """Whether mostly no compiled model runs a method of Keras's: a test has the class, or it takes text, or a call of
    the object does not go through Keras."""
    return cls.module.is_test or takes_text(method.node) or (method.name == "call" and _is_called_plainly(cls))


def _is_called_plainly(cls: Class) -> bool:
    """Whether a class has a `__call__` of its own that leaves Keras's out."""
    own = cls.find("__call__")
    return own is not None and not any(
        isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"
        for node in cst.within(own.node)
    )


def is_replaced(cls: Class, method: str) -> bool:
    """Whether `__new__` gives each object another function under that name: Keras runs this one, not the method."""
    new = cls.find("__new__")
    targets = () if new is None else (it.target for it in cst.within(new.node) if isinstance(it, cst.AssignTarget))
    return any(isinstance(target, cst.Attribute) and target.attr.value == method for target in targets)


def _may_be_weights(update: Function) -> bool:
    """Whether the third argument of a metric is for weights of the examples: a number as a default is for something
    else, which Keras does not pass."""
    third = update.node.params.params[3:4]
    return not third or third[0].default is None or isinstance(third[0].default, cst.Name)


def role_arguments(kind: str, name: str, method: Function) -> Arguments:
    """What Keras hands a method: a layer gets tensors in whatever structure, a loss gets two tensors."""
    location = method.label

    def tensor(dtype: str | None = None) -> Value:
        return Tensor(Dependence.VALUE, dtype, origin=Origin(location, f"{BY_KERAS} `{name}` with tensors"))

    nest = Structure(origin=Origin(location, f"{BY_KERAS} `{name}` with tensors"), passed=True)
    match kind, name:
        case ("loss", _):
            # A model with several outputs hands its loss all of them, where the loss takes them apart, and what they
            # are to be has mostly as many parts.
            names = [parameter.name.value for parameter in method.node.params.params[1:3]]
            whole = structures_among(method.node).isdisjoint(names)
            given: list[Value] = [tensor() if whole else nest for _ in names]
        case ("optimizer", "update_step"):
            given = [tensor(), tensor()]
        case ("optimizer", "apply"):
            given = [nest, nest]
        case ("metric", "update_state"):
            names = [parameter.name.value for parameter in method.node.params.params[1:3]]
            whole = structures_among(method.node).isdisjoint(names)
            given = [tensor() if whole else nest for _ in names]
            given += [tensor()] * (2 - len(names))
            if _may_be_weights(method):
                given.append(OneOf((NONE, tensor())))
        case ("metric", _):
            given = []
        case ("schedule", _):
            given = [tensor()]
        case ("initializer", _):
            given = [Sequence("tuple", None, STATIC)]
        case ("regularizer" | "constraint", _):
            given = [tensor("float")]
        case _:
            given = [nest]
    node = method.node.params
    count = len(node.posonly_params) + len(node.params) - 1
    return Arguments(given[: max(count, 0)], unknown=True)
