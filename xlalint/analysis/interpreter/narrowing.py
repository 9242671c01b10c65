"""What a condition's outcome says of the names in it: `if mask is not None`, `if isinstance(x, tuple)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.joins import join_all, without_none
from ..domain.kinds import as_condition, as_tensor, options, settled
from ..domain.values import (
    NONE,
    UNKNOWN,
    UNSET,
    Api,
    ClassValue,
    Dependence,
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
from ..library.class_checks import (
    MAY_BE_TENSORS,
    PLAIN_CLASS,
    SPARSE_CLASSES,
    STRUCTURES,
    TENSOR_CLASSES,
    as_instance,
    asks_for_numbers,
    class_name,
    has_attribute,
    is_called_tensor,
    is_instance,
    root_of,
)
from ..record import replace
from . import asked_backends
from .contexts import NOT_TRACED
from .frames import Frame
from .interface import Interpreter
from .whole_sides import keep_whole

_IDENTITY: Final = (cst.Is, cst.IsNot)
_SAME_CLASS: Final = (cst.Is, cst.Equal, cst.In)
_OTHER_CLASS: Final = (cst.IsNot, cst.NotEqual, cst.NotIn)
_ASKING: Final = (Api("tf.is_tensor"), Api("keras.ops.is_tensor"), Api("keras.backend.is_tensor"))
_OF_TENSORFLOW: Final = frozenset(("tf.Tensor", "tf.RaggedTensor", "tf.SparseTensor", "tf.Variable"))
_OF_TENSORFLOWS_TENSORS: Final = frozenset(("get_shape", "numpy", "set_shape"))  # which JAX's have not (measured)
# Functions that ask what a value is, with the classes of which they ask.
_KINDS_ASKED: Final[dict[str, frozenset[str]]] = {
    "tf.nest.is_nested": STRUCTURES,
    "keras.tree.is_nested": STRUCTURES,
    "keras.backend.is_sparse": SPARSE_CLASSES,
}


def may_be_sparse(interpreter: Interpreter, frame: Frame) -> bool:
    """Whether code is passed what others make: those who install a package may have sparse tensors."""
    return interpreter.project.files.is_installed(frame.module.path)


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
    if env is None or test.value not in env:
        return
    if interpreter.project.files.jax:
        asked_backends.by_trace(frame, env[test.value], outcome)
    if outcome:
        env[test.value] = _true(env[test.value])


def _by_comparison(interpreter: Interpreter, frame: Frame, test: cst.Comparison, outcome: bool) -> None:
    if interpreter.project.files.jax:
        asked_backends.by_comparison(interpreter, frame, test, outcome)
    keep_whole(frame, test, outcome)
    target, *further = test.comparisons
    if isinstance(test.left, cst.Name) and isinstance(target.operator, _IDENTITY) and not further:
        other = target.comparator
        if isinstance(other, cst.Name) and other.value == "None":
            _narrow_none(frame, test.left.value, isinstance(target.operator, cst.Is) is outcome)
    match test:
        case cst.Comparison(
            left=cst.Name(value=name),
            comparisons=[
                cst.ComparisonTarget(
                    operator=cst.Equal() | cst.NotEqual() as sign,
                    comparator=cst.BaseNumber() | cst.SimpleString() as written,
                )
            ],
        ):
            constant = interpreter.evaluate(frame, written)
            _narrow_equal(frame, name, constant, isinstance(sign, cst.Equal) is outcome)
        case cst.Comparison(left=cst.Call(args=[cst.Arg(value=cst.Name(value=name))])):
            asked = classes_asked(interpreter, frame, test)
            if asked is not None and outcome is not asked.negated:
                _narrow_kind(frame, name, asked.names, True)


class ClassesAsked(NamedTuple):
    """The classes that `type(x) is tuple` and its like ask about; `negated`: whether of these x has none."""

    names: frozenset[str]
    negated: bool


def classes_asked(interpreter: Interpreter, frame: Frame, test: cst.Comparison) -> ClassesAsked | None:
    match test:
        case cst.Comparison(
            left=cst.Call(func=cst.Name(value="type"), args=[cst.Arg()]),
            comparisons=[cst.ComparisonTarget(operator=sign, comparator=kinds)],
        ) if isinstance(sign, _SAME_CLASS + _OTHER_CLASS):
            return ClassesAsked(class_names(interpreter, frame, kinds), isinstance(sign, _OTHER_CLASS))
        case _:
            return None


def _by_call(interpreter: Interpreter, frame: Frame, test: cst.Call, outcome: bool) -> None:
    match test:
        case cst.Call(
            func=cst.Name(value="isinstance"), args=[cst.Arg(value=cst.Name(value=name)), cst.Arg(value=kinds)]
        ):
            names = class_names(interpreter, frame, kinds)
            if not outcome or frame.context.kind in NOT_TRACED:
                _narrow_objects(interpreter, frame, name, asked_classes(interpreter, frame, kinds), outcome)
            _narrow_kind(frame, name, names, outcome)
            _narrow_backend(interpreter, frame, names, outcome, name)
        case cst.Call(
            func=cst.Name(value="is_tensor") | cst.Attribute(attr=cst.Name(value="is_tensor")) as callee,
            args=[cst.Arg(value=cst.Name(value=name))],
        ) if (function := interpreter.evaluate(frame, callee)) in _ASKING:
            _narrow_kind(frame, name, TENSOR_CLASSES, outcome)
            asked = _OF_TENSORFLOW if function == _ASKING[0] else frozenset[str]()
            _narrow_backend(interpreter, frame, asked, outcome, name)
        case cst.Call(
            func=cst.Name(value="is_nested" | "is_sparse")
            | cst.Attribute(attr=cst.Name(value="is_nested" | "is_sparse")) as asked,
            args=[cst.Arg(value=cst.Name(value=name))],
        ) if (
            isinstance(function := interpreter.evaluate(frame, asked), Api)
            and function.name in _KINDS_ASKED
            and not (_KINDS_ASKED[function.name] is SPARSE_CLASSES and may_be_sparse(interpreter, frame))
        ):
            _narrow_kind(frame, name, _KINDS_ASKED[function.name], outcome)
        case cst.Call(
            func=cst.Name(value="hasattr"),
            args=[cst.Arg(value=cst.Name(value=name)), cst.Arg(value=cst.SimpleString(evaluated_value=str(attribute)))],
        ):
            value = (frame.env or {}).get(name, NONE)
            if attribute in _OF_TENSORFLOWS_TENSORS and (isinstance(value, Structure) or as_tensor(value) is not None):
                _narrow_backend(interpreter, frame, _OF_TENSORFLOW, outcome, name)
            _narrow_by_attribute(frame, name, attribute, outcome)
        case cst.Call(func=cst.Name() | cst.Attribute(), args=[]) if interpreter.project.files.jax:
            asked_backends.by_trace(frame, interpreter.evaluate(frame, test), outcome)


def _by_negation(interpreter: Interpreter, frame: Frame, test: cst.UnaryOperation, outcome: bool) -> None:
    if isinstance(test.operator, cst.Not):
        narrow(interpreter, frame, test.expression, not outcome)


def _by_both_sides(interpreter: Interpreter, frame: Frame, test: cst.BooleanOperation, outcome: bool) -> None:
    if isinstance(test.operator, cst.And if outcome else cst.Or):
        narrow(interpreter, frame, test.left, outcome)
        narrow(interpreter, frame, test.right, outcome)
        return
    if interpreter.project.files.jax and truth(interpreter.evaluate(frame, test.left)) is (not outcome):
        narrow(interpreter, frame, test.right, outcome)  # which decides, where the other side's truth is known
    if interpreter.project.files.jax and isinstance(test.operator, cst.Or):
        _by_tensorflow_on_one_side(interpreter, frame, test)
    if isinstance(test.left, cst.Call) and isinstance(test.right, cst.Call) and frame.env is not None:
        _by_either_side(interpreter, frame, test, outcome, frame.env)


def _by_tensorflow_on_one_side(interpreter: Interpreter, frame: Frame, test: cst.BooleanOperation) -> None:
    """`if not keras_3() or keras.backend.backend() == "tensorflow":`, of which either side rules out JAX: what asks for
    TensorFlow, and what else would take TensorFlow's way."""
    context, env = frame.context, frame.env
    found = []
    for side in (test.left, test.right):
        frame.context, frame.env = context, None if env is None else dict(env)
        narrow(interpreter, frame, side, True)
        found.append(frame.context.backends)
    frame.context, frame.env = context, env
    if frozenset((Backend.TENSORFLOW,)) in found:
        asked_backends.keep(frame, frozenset((Backend.TENSORFLOW,)))


def _by_either_side(
    interpreter: Interpreter, frame: Frame, test: cst.BooleanOperation, outcome: bool, env: dict[str, Value]
) -> None:
    """`isinstance(x, list) or isinstance(x, tuple)`: what the one or the other side says, which is nothing of a name
    that they do not both ask about."""
    ways = []
    for side in (test.left, test.right):
        frame.env = dict(env)
        narrow(interpreter, frame, side, outcome)
        ways.append(frame.env)
    frame.env = env
    for name, value in env.items():
        found = [way[name] for way in ways]
        if all(one is not value for one in found):
            env[name] = join_all(*found)


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


def _narrow_equal(frame: Frame, name: str, constant: Value, is_equal: bool) -> None:
    """A name that may be a constant is that constant, or is not it. What compares a tensor is a tensor, which Python
    cannot ask for its truth; AutoGraph can."""
    assert frame.env is not None
    value = frame.env.get(name)
    if not (isinstance(value, OneOf) and isinstance(constant, Static) and constant in value.options):
        return
    others = [option for option in value.options if option != constant]
    if not is_equal:
        frame.env[name] = join_all(*others)
    elif not frame.context.converted:
        frame.env[name] = constant


def _narrow_kind(frame: Frame, name: str, names: frozenset[str], outcome: bool) -> None:
    assert frame.env is not None
    value = frame.env.get(name)
    if value is None:
        return
    value = settled(value)
    kept = [option for option in options(value) if is_instance(option, names) is not (not outcome)]
    if outcome:
        kept = [as_instance(option, names) if isinstance(option, Unknown | Structure) else option for option in kept]
        if names and MAY_BE_TENSORS.isdisjoint(map(root_of, names)):
            kept = [UNKNOWN if isinstance(option, Tensor) else option for option in kept]
        if asks_for_numbers(names) and isinstance(value, OneOf | Structure):
            # Of several that may be passed, a tuple of tensors is not the one that is meant.
            kept = [UNKNOWN if isinstance(option, Sequence | Structure) else option for option in kept]
    if not outcome and "tf.Tensor" in names:
        kept = [replace(option, several=True) if isinstance(option, Structure) else option for option in kept]
    if not outcome and names & {"", PLAIN_CLASS}:
        kept = [UNKNOWN if is_called_tensor(option) else option for option in kept]
    if kept:
        frame.env[name] = join_all(*kept)


def _narrow_objects(interpreter: Interpreter, frame: Frame, name: str, asked: tuple[Value, ...], outcome: bool) -> None:
    """Of the project's objects that a name may stand for, those that are of the classes, or are of none; what is not
    known is a callback of Keras's where it is asked for one, whose methods the host runs. Where code is traced nobody
    asks the first: what an object returns hangs together with its attributes, which are not told apart."""
    assert frame.env is not None
    classes = [one.cls for one in asked if isinstance(one, ClassValue)]
    value = frame.env.get(name)
    if outcome and type(value) is Unknown and len(asked) == 1 and any(cls.is_keras("callback") for cls in classes):
        frame.env[name] = interpreter.canonical_instance(classes[0])
    if not isinstance(value, OneOf) or (outcome and len(classes) < len(asked)):
        return

    def is_one(option: Value) -> bool:
        return isinstance(option, Instance) and any(cls in option.cls.mro for cls in classes)

    if outcome:
        kept = [option for option in value.options if not isinstance(option, Instance | Static) or is_one(option)]
    else:
        kept = [option for option in value.options if not is_one(option)]
    if kept:
        frame.env[name] = join_all(*kept)


def _narrow_backend(interpreter: Interpreter, frame: Frame, names: frozenset[str], outcome: bool, name: str) -> None:
    """No tensor that Keras passes is TensorFlow's where JAX runs the code."""
    if outcome and names and names <= _OF_TENSORFLOW and interpreter.project.files.jax:
        asked_backends.keep(frame, frozenset((Backend.TENSORFLOW,)))
        if frame.env is not None and name in frame.env:
            frame.env[name] = asked_backends.as_tensorflows(frame.env[name])


def _narrow_by_attribute(frame: Frame, name: str, attribute: str, outcome: bool) -> None:
    assert frame.env is not None
    value = frame.env.get(name)
    if value is not None:
        kept = [option for option in options(settled(value)) if has_attribute(option, attribute) is not (not outcome)]
        if kept:
            frame.env[name] = join_all(*kept)


def class_names(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> frozenset[str]:
    """The canonical names of the classes that `isinstance` is asked about; "" stands for one that is not known, and one
    name for all of the project that no tensor is of."""
    return frozenset(map(class_name, asked_classes(interpreter, frame, node)))


def asked_classes(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> tuple[Value, ...]:
    """The classes that `isinstance` is asked about."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        left, right = (asked_classes(interpreter, frame, side) for side in (node.left, node.right))
        return (*left, *right)
    match interpreter.evaluate(frame, node):
        case Sequence(items=tuple(items)):
            return items
        case value:
            return (value,)
