"""Control flow in the graph: `tf.cond`, `tf.while_loop`, `tf.map_fn`, `tf.scan` and their relatives."""

from __future__ import annotations

import re
from typing import Final

from ...syntax import nodes as cst
from ..domain.bounds import behind_new_axis
from ..domain.choosing import chosen_by
from ..domain.joins import join_all
from ..domain.kinds import as_tensor
from ..domain.values import (
    NONE,
    UNKNOWN,
    ApiObject,
    Array,
    Dependence,
    Dict,
    FunctionValue,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Value,
)
from ..domain.varying_shapes import varied
from ..interpreter.contexts import NOT_TRACED, ContextKind
from ..interpreter.events import AssignUnheld, JoinBranches, MutateInLoop
from ..interpreter.feeding import passed_values
from ..interpreter.frames import Act, Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..interpreter.jax_compilations import report_jax_compilation, traced_by_jax
from ..interpreter.mapped_elements import report_map
from ..interpreter.narrowing import truth
from ..interpreter.replica_assignments import report_own_data
from ..library.first_axes import of_rows
from ..library.mismatches import BOUNDS, unjoinable
from ..program.parameter_uses import passed_on
from ..record import replace

_NUMBERS: Final = {bool: "bool", int: "int", float: "float"}


def _called(
    interpreter: Interpreter,
    frame: Frame,
    function: Value | None,
    given: list[Value],
    node: cst.BaseExpression,
    loop: bool,
) -> Value:
    if function is None:
        return UNKNOWN
    outer, context = frame.outer_names, frame.context
    if interpreter.project.files.jax and context.kind is ContextKind.XLA and not context.apart:
        frame.context = replace(context, apart=True)
    if loop:
        frame.loop += 1
        frame.outer_names = [*outer, set(frame.env or ())]
    try:
        return interpreter.call(frame, function, Arguments(given), node)
    finally:
        frame.context = context
        if loop:
            frame.loop -= 1
            frame.outer_names = outer


def _cond(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    branches = [arguments.get(1, "true_fn"), arguments.get(2, "false_fn")]
    branches = [found for found in branches if found is not None]
    if not branches:
        return UNKNOWN
    results = [_called(interpreter, frame, found, [], node, False) for found in branches]
    condition = arguments.get(0, "pred")
    decisive = None if condition is None else as_tensor(condition, Dependence.STATIC)
    if decisive is not None:
        _report_unjoinable(interpreter, frame, decisive, results, node)
    return chosen_by(decisive, join_all(*results))


def _report_unjoinable(
    interpreter: Interpreter, frame: Frame, condition: Tensor, sides: list[Value], node: cst.BaseExpression
) -> None:
    """Say that the sides of a conditional do not fit together, which XLA asks whatever it knows of the condition; only
    of bounds it drops the side that it knows not to run."""
    reason = unjoinable(*sides) if len(sides) == 2 else None
    if reason in ("dtype", "rank") or (reason == BOUNDS and condition.dependence is Dependence.VALUE):
        interpreter.emit(frame, JoinBranches, node, name="", reason=reason, functions=True)


def _switch(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.backend.switch(condition, x, y)`, which is `tf.cond` where the condition is a scalar, else `tf.where`.
    Functions are called."""
    given = (arguments.get(1, "then_expression"), arguments.get(2, "else_expression"))
    sides = [
        _called(interpreter, frame, side, [], node, False) if interpreter.functions_in(side) else side
        for side in given
        if side is not None
    ]
    condition = arguments.get(0, "condition")
    decisive = None if condition is None else as_tensor(condition, Dependence.STATIC)
    if decisive is not None and decisive.rank == 0:
        _report_unjoinable(interpreter, frame, decisive, sides, node)
    return chosen_by(decisive, join_all(*sides)) if sides else UNKNOWN


def _smart_cond(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """Keras traces one side alone where a Python value says which."""
    condition = arguments.get(0, "pred")
    known = None if condition is None else truth(condition)
    if known is None:
        return _cond(interpreter, frame, arguments, node)
    side = arguments.get(1, "true_fn") if known else arguments.get(2, "false_fn")
    return _called(interpreter, frame, side, [], node, False)


def _cases(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    found: list[Value] = []
    for value in (*arguments.positional, *arguments.keywords.values()):
        if isinstance(value, Sequence) and value.element is not None:
            # How many branches a list has is not known, nor what all of them leave: they run, no more is said.
            for branch in interpreter.functions_in(_last(value.element)):
                interpreter.call(frame, branch, Arguments(), node)
        for item in value.items or () if isinstance(value, Sequence) else (value,):
            found += [
                interpreter.call(frame, branch, Arguments(), node) for branch in interpreter.functions_in(_last(item))
            ]
    return chosen_by(_decisive(arguments), join_all(*found)) if found else Structure()


def _decisive(arguments: Arguments) -> Tensor | None:
    """What chooses of several branches: a number, or the conditions beside them; None where that is not known."""
    chooser = arguments.positional[0] if arguments.positional else UNKNOWN
    pairs = chooser.items if isinstance(chooser, Sequence) else None
    asked = [pair.items[0] for pair in pairs if isinstance(pair, Sequence) and pair.items] if pairs else [chooser]
    known = [Tensor(Dependence.STATIC) if isinstance(it, Static) else as_tensor(it, Dependence.STATIC) for it in asked]
    tensors = [tensor for tensor in known if tensor is not None]
    return max(tensors, key=lambda tensor: tensor.dependence) if len(tensors) == len(asked) else None


def _last(value: Value) -> Value:
    """The function of a pair of a condition or number and a function."""
    return value.items[-1] if isinstance(value, Sequence) and value.items else value


def _loop_variable(value: Value) -> Value:
    match value:
        case Tensor():
            return value.with_(dependence=Dependence.VALUE, carried=True, mixed=False)
        case Structure():
            return replace(value, carried=True)
        case Static(constant):
            return Tensor(Dependence.VALUE, _NUMBERS.get(type(constant)), 0, carried=True)
        case Array(dtype):
            return Tensor(Dependence.VALUE, dtype, carried=True)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_loop_variable, items)))
        case Dict(entries, None) if not entries:
            return Static({})  # no step can add to it
        case Dict(entries, element):
            # The loop hands its body a dict of its own.
            return Dict({key: _loop_variable(item) for key, item in entries.items()}, element)
        case OneOf(alternatives):
            return join_all(*map(_loop_variable, alternatives))
        case _:
            return value


def _invariant(value: Value) -> Value:
    """A variable that no iteration of a loop changes, as an iteration sees it."""
    match value:
        case Static(constant):
            return Tensor(Dependence.STATIC, _NUMBERS.get(type(constant)), 0)
        case Array(dtype):
            return Tensor(Dependence.STATIC, dtype)
        case _:
            return value


def _left(value: Value) -> Value:
    """The same behind the loop: data are no compile-time constant any more (measured)."""
    match value:
        case Tensor(dependence=Dependence.VALUE, carried=False):
            return value.with_(carried=True, mixed=True)
        case _:
            return value


def _passed_on(body: Value | None) -> frozenset[int]:
    """The positions of the variables that no iteration changes: data are then as they are to the code around the
    loop."""
    match body:
        case FunctionValue(function, bound=None, partial_args=()):
            return passed_on(function.node)
        case _:
            return frozenset()


def _while_loop(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    variables = arguments.get(2, "loop_vars")
    items = list(variables.items) if isinstance(variables, Sequence) and variables.items is not None else []
    same = _passed_on(arguments.get(1, "body"))
    given = [_invariant(item) if at in same else _loop_variable(item) for at, item in enumerate(items)]
    for position, name in ((0, "cond"), (1, "body")):
        if given or variables is None:
            _called(interpreter, frame, arguments.get(position, name), given, node, True)
        elif arguments.get(position, name) is not None:
            some: list[Value] = [Structure(carried=at not in same) for at in range(max(same, default=-1) + 1)]
            unknown = Arguments(some, rest=Structure(carried=True))
            frame.loop += 1
            interpreter.call(frame, arguments.get(position, name) or UNKNOWN, unknown, node)
            frame.loop -= 1
    if not (isinstance(variables, Sequence) and given):
        return Structure(carried=True)
    return Sequence(variables.kind, tuple(_left(item) if at in same else item for at, item in enumerate(given)))


def _element(interpreter: Interpreter, frame: Frame, value: Value | None, node: cst.BaseExpression) -> Value:
    match value:
        case None:
            return Structure(carried=True)
        case Tensor(rank=rank, origin=origin):
            return value.element(rank - 1 if rank else None, origin)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(_element(interpreter, frame, item, node) for item in items))
        case Dict(entries, element):  # another one in each iteration
            inner = None if element is None else _element(interpreter, frame, element, node)
            return Dict({key: _element(interpreter, frame, item, node) for key, item in entries.items()}, inner)
        case Structure(of_tensorflow=owned):
            return Structure(carried=True, of_tensorflow=owned)
        case OneOf(alternatives):
            return join_all(*(_element(interpreter, frame, option, node) for option in alternatives))
        case ApiObject(library):
            return Structure(carried=True, of_tensorflow=library.startswith("tf."))
        case _:
            return Structure(carried=True)


def _one_by_one(name: str) -> FunctionModel:
    """`tf.map_fn`: a loop calls the function for one element after the other."""

    def run(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        before = len(frame.summary.events), len(frame.summary.calls)
        result = _mapped(interpreter, frame, arguments, node)
        report_map(interpreter, frame, name, arguments, node, before)
        return result

    return run


def _mapped(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.map_fn`, `tf.vectorized_map`: each element through the function."""
    elements = arguments.get(1, "elems")
    result = _called(
        interpreter, frame, arguments.get(0, "fn"), [_element(interpreter, frame, elements, node)], node, True
    )
    stacked = _stacked(result, mixed=False)
    return stacked if elements is None else varied(stacked, of_rows(elements))


def _vectorized(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.vectorized_map`: no loop is left, so XLA computes the result while it compiles, as far as it does else."""
    return _foldable(_mapped(interpreter, frame, arguments, node))


def _foldable(result: Value) -> Value:
    match result:
        case Tensor():
            return result.with_(carried=False, mixed=False)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_foldable, items)))
        case _:
            return result


def _stacked(result: Value, mixed: bool) -> Value:
    """What the loop makes of each element; `mixed`: a size that is made of it has XLA compile again, where it need
    not be a compile-time constant (measured of `tf.scan`, not so of `tf.map_fn`)."""
    match result:
        case Tensor():
            rank = None if result.rank is None else result.rank + 1
            bounded = behind_new_axis(result.bounded)
            return result.with_(
                dependence=Dependence.VALUE, rank=rank, bounded=bounded, carried=True, mixed=mixed, open=None
            )
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(_stacked(item, mixed) for item in items))
        case _:
            return Structure(carried=True)


def _scanned(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.scan`, `tf.foldl`, `tf.foldr`: an accumulator and each element."""
    item = _element(interpreter, frame, arguments.get(1, "elems"), node)
    start = arguments.get(2, "initializer")
    first = _loop_variable(item if start is None or start == NONE else start)
    return _stacked(_called(interpreter, frame, arguments.get(0, "fn"), [first, item], node, True), mixed=True)


def _fori(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.ops.fori_loop(lower, upper, body, value)`."""
    start = arguments.get(3, "init_val")
    state = Structure(carried=True) if start is None else _loop_variable(start)
    index = Tensor(Dependence.VALUE, "int", 0, carried=True)
    _called(interpreter, frame, arguments.get(2, "body_fun"), [index, state], node, True)
    return state


def _keras_scanned(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.ops.scan(f, init, xs)`: what is left in the end, and what each step yields."""
    start = arguments.get(1, "init")
    state = Structure(carried=True) if start is None else _loop_variable(start)
    item = _element(interpreter, frame, arguments.get(2, "xs"), node)
    result = _called(interpreter, frame, arguments.get(0, "f"), [state, item], node, True)
    match result:
        case Sequence(items=(_, yielded)):
            return Sequence("tuple", (state, _stacked(yielded, mixed=True)))
        case _:
            return Sequence("tuple", (state, Structure(carried=True)))


def _switched(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.ops.switch(index, branches, *operands)`."""
    branches = arguments.get(1, "branches")
    found = branches.items if isinstance(branches, Sequence) and branches.items else ()
    results = [_called(interpreter, frame, branch, arguments.positional[2:], node, False) for branch in found]
    return chosen_by(_decisive(arguments), join_all(*results)) if results else UNKNOWN


def _jax_cond(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`jax.lax.cond(pred, true_fun, false_fun, *operands)`."""
    operands = arguments.positional[3:]
    sides = (arguments.get(1, "true_fun"), arguments.get(2, "false_fun"))
    results = [_called(interpreter, frame, side, operands, node, False) for side in sides]
    return chosen_by(as_tensor(arguments.get(0, "pred") or UNKNOWN, Dependence.STATIC), join_all(*results))


def _jax_while(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`jax.lax.while_loop(cond_fun, body_fun, init_val)`."""
    state = _loop_variable(arguments.get(2, "init_val") or Structure())
    for position, name in ((0, "cond_fun"), (1, "body_fun")):
        _called(interpreter, frame, arguments.get(position, name), [state], node, True)
    return state


def _eagerly(model: FunctionModel, *, compiles: bool = True) -> FunctionModel:
    """What JAX traces by itself where host code calls it. `compiles`: and compiles it, for each new function."""

    def run(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        if not (interpreter.project.files.jax and frame.module.file.imports_keras):
            return model(interpreter, frame, arguments, node)
        if frame.context.kind in NOT_TRACED and not frame.context.pipeline:
            for value, where in passed_values(arguments, node):
                if compiles and isinstance(value, FunctionValue):
                    report_jax_compilation(interpreter, frame, value, where, node, runs=True)
            arguments = replace(
                arguments,
                positional=[*map(_traced, arguments.positional)],
                keywords={name: _traced(value) for name, value in arguments.keywords.items()},
            )
        return model(interpreter, frame, arguments, node)

    return run


def _traced(value: Value) -> Value:
    match value:
        case FunctionValue(compiled=None):
            return traced_by_jax(value, "which JAX traces for a loop or a branch of its own")
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_traced, items)))
        case _:
            return value


def _assigned(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`variable.assign(..)`, in a function that JAX traces by itself, of a variable that no layer holds, or line by
    line."""
    frame.summary.assigns = True
    if isinstance(owner, Tensor) and owner.variable:
        interpreter.note_done(frame, Act.ASSIGN, node)
        report_own_data(interpreter, frame, owner, arguments, node)
    match node:
        case cst.Call(func=cst.Attribute(value=changed, attr=cst.Name(value=form))) if frame.context.apart:
            target = frame.unit.code(changed)
            interpreter.emit(frame, MutateInLoop, node, form=form, inside="function", target=target)
        case cst.Call(func=cst.Attribute(value=cst.Name(value=name))) if _is_unheld(frame, owner, name):
            interpreter.emit(frame, AssignUnheld, node, target=name)
    return None


def _is_unheld(frame: Frame, owner: Value, name: str) -> bool:
    """Whether a name is a variable of the module, of which no line of its file makes an attribute, and Keras calls the
    code."""
    if not (isinstance(owner, Tensor) and owner.variable and not owner.of_tensorflow):
        return False
    if frame.context.keras is None or not frame.context.becomes_graph:
        return False
    scope: Frame | None = frame
    while scope is not None:
        if not scope.is_module and scope.env is not None and name in scope.env:
            return False
        scope = scope.parent
    return re.search(rf"\.\s*\w+\s*=(?!=)[^\n]*\b{re.escape(name)}\b", frame.module.source.text) is None


METHODS: Final[dict[str, MethodModel]] = dict.fromkeys((".assign", ".assign_add", ".assign_sub"), _assigned)
FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "tf.cond": _cond,
    "tf.case": _cases,
    "tf.switch_case": _cases,
    "tf.while_loop": _while_loop,
    "tf.map_fn": _one_by_one("tf.map_fn"),
    "tf.vectorized_map": _vectorized,
    "keras.ops.map": _eagerly(_one_by_one("keras.ops.map")),
    "keras.ops.vectorized_map": _eagerly(_vectorized, compiles=False),
    "tf.scan": _scanned,
    "tf.foldl": _scanned,
    "tf.foldr": _scanned,
    "keras.backend.switch": _switch,
    "keras.ops.cond": _eagerly(_smart_cond),
    "keras.ops.while_loop": _eagerly(_while_loop),
    "keras.ops.fori_loop": _eagerly(_fori),
    "keras.ops.scan": _eagerly(_keras_scanned),
    "keras.ops.switch": _eagerly(_switched),
    "jax.lax.cond": _eagerly(_jax_cond),
    "jax.lax.while_loop": _eagerly(_jax_while),
}
