"""Comparisons, `and`, `or`, `in`, conditional expressions, and what they ask of tensors."""

from __future__ import annotations

from typing import ClassVar, Final

from ...syntax import nodes as cst
from ..domain.bounds import broadcast
from ..domain.choosing import chosen_where_they_differ
from ..domain.gpus import chosen, computed, joined, where_it_holds
from ..domain.joins import join, join_all
from ..domain.kinds import as_condition, as_tensor, is_key, is_mixed, perhaps_structure
from ..domain.operators import (
    arithmetic_tensor,
    as_sure_as,
    fold_sides,
    identity,
    rank_of,
    shapes_met,
)
from ..domain.origins import strongest
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Array,
    Dependence,
    Dict,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..domain.varying_shapes import LENGTHS
from ..files.unit import Location
from ..library.class_checks import is_instance
from ..library.mismatches import unjoinable
from .chances import note_chance
from .contexts import NOT_TRACED, ContextKind
from .dimensions import ask_for_none, report_operands
from .events import BranchOn, JoinBranches, TruthOf
from .found_gpus import found
from .frames import Frame
from .host_reads import mix_number
from .interface import Handlers, Interpreter
from .narrowing import classes_asked, narrow, truth

_FEW: Final = (0, 1, 2)  # what a length is compared with that asks whether there is anything at all


def _is_flag(value: Value) -> bool:
    return isinstance(value, Static) and isinstance(value.constant, bool)


def _as_shape(shape: Value, other: OneOf) -> Value:
    """What a shape is compared with, of which a tensor may be one: that has a shape, and is none."""
    if as_tensor(shape) is not None:
        return other
    shapes = [option for option in other.options if not isinstance(option, Tensor | Structure)]
    return join_all(*shapes) if shapes else other


class Comparisons(Interpreter):
    """Comparisons, `and`, `or`, `in`, conditional expressions, and what they ask of tensors."""

    def evaluate_test(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """A condition: as `evaluate`, knowing that the whole of it is tested anyway."""
        match node:
            case cst.BooleanOperation():
                return self._boolean(frame, node, tested=True)
            case cst.UnaryOperation(operator=cst.Not()):
                return self.negate(frame, node, self.evaluate_test(frame, node.expression), tested=True)
            case cst.Comparison():
                return self._comparison(frame, node, tested=True)
            case _:
                value = self.evaluate(frame, node)
                ask_for_none(frame, value)
                self.refute_tensor(frame, value)  # a flag is tested by itself, a tensor is compared
                return value

    def _boolean(self, frame: Frame, node: cst.BooleanOperation, tested: bool = False) -> Value:
        evaluate = self.evaluate_test if tested else self.evaluate
        form = "and" if isinstance(node.operator, cst.And) else "or"
        left = evaluate(frame, node.left)
        tensor = as_condition(left)
        known = None if tensor else truth(left)
        if known is not None and known is (form == "or"):
            frame.summary.skipped.append(node.right)
            return left
        self.doubt_tensor(frame, left)
        ask_for_none(frame, left)
        before, context = frame.env, frame.context
        if before is not None:
            frame.env = dict(before)
            narrow(self, frame, node.left, form == "and")
            found(frame, left, form == "and")
        right = evaluate(frame, node.right)
        # What the right side binds (a walrus) stays; what it was narrowed by does not.
        frame.env, frame.context = before, context
        if tensor is not None:
            self.emit(
                frame, TruthOf, node, operands=(left, right), form=form, tested=tested, names=dict(frame.env or {})
            )
            other = as_tensor(right, Dependence.STATIC)
            strongest = other if other is not None and other.dependence > tensor.dependence else tensor
            return strongest.with_(dtype="bool", rank=0)
        # Whatever the left side is: `flag and False` is False.
        decided = truth(right) is (form == "or") and (tested or (isinstance(left, Static) and _is_flag(right)))
        first = where_it_holds(left) if form == "or" else left
        made = right if known is not None or decided else join(first, right)
        return joined(left, right, made, enough=form == "or", tested=tested)

    def _comparison(self, frame: Frame, node: cst.Comparison, tested: bool = False) -> Value:
        left = self.evaluate(frame, node.left)
        results: list[Value] = []
        for target in node.comparisons:
            right = self.evaluate(frame, target.comparator)
            results.append(self._compare(frame, node, target.operator, left, right, tested))
            left = right
        if len(results) == 1:
            return self._by_class(frame, node) or results[0]
        tensors = [tensor for tensor in (as_tensor(result, Dependence.STATIC) for result in results) if tensor]
        if not tensors:
            return join_all(*results)
        # All but the last comparison are asked for their truth.
        if any(as_tensor(result, Dependence.STATIC) for result in results[:-1]):
            self.emit(
                frame,
                TruthOf,
                node,
                operands=tuple(results),
                form="chained comparison",
                tested=tested,
                names=dict(frame.env or {}),
            )
        return max(tensors, key=lambda tensor: tensor.dependence).with_(dtype="bool", rank=0)

    def _by_class(self, frame: Frame, node: cst.Comparison) -> Static | None:
        """`type(x) is tuple`, where x is known to be none."""
        match node.left:
            case cst.Call(func=cst.Name(value="type"), args=[cst.Arg(value=asked)]):
                classes = classes_asked(self, frame, node)
                if classes is not None and is_instance(self.evaluate(frame, asked), classes.names) is False:
                    return Static(classes.negated)
        return None

    def _compare(
        self, frame: Frame, node: cst.Comparison, sign: cst.BaseCompOp, left: Value, right: Value, tested: bool
    ) -> Value:
        match sign:
            case cst.Is() | cst.IsNot():
                ask_for_none(frame, left)
                return identity(left, right, isinstance(sign, cst.Is))
            case cst.In() | cst.NotIn():
                found = self.special(frame, right, "__contains__", (left,), node)
                return self._contains(frame, node, sign, left, right, tested) if found is None else found
        overloaded = self.overloaded(frame, sign, left, right, node)
        if overloaded is not None:
            return overloaded
        if isinstance(node.left, cst.Attribute) and node.left.attr.value == "shape" and isinstance(right, OneOf):
            right = _as_shape(left, right)
        mix_number(self, frame, node, left, right)
        if frame.context.kind in NOT_TRACED:
            numbers = [side for side in (left, right) if isinstance(side, Static)]
            few = any(number.constant in _FEW for number in numbers)
            for each in (each for number in numbers for each in number.varies):
                length = each.kind in LENGTHS
                if not (length and few):
                    frame.compared.add(each.location)
                    if length and frame.context.kind is ContextKind.HOST:
                        frame.compared.add(Location(frame.unit, node))
        equality = isinstance(sign, cst.Equal | cst.NotEqual)
        if not equality or (isinstance(left, Static) and isinstance(right, Static)):
            how = "equality" if equality else "comparison"
            report_operands(self, frame, (left, right), node, how)
        return computed(sign, left, right, self.compare_values(frame, sign, left, right))

    def compare_values(self, frame: Frame, sign: cst.BaseCompOp, left: Value, right: Value) -> Value:
        if any(isinstance(side, Static) and isinstance(side.constant, str) for side in (left, right)):
            self.refute_tensor(frame, left)
            self.refute_tensor(frame, right)
            if not any(as_tensor(side, Dependence.STATIC) for side in (left, right)):
                return fold_sides(sign, left, right)
        if isinstance(sign, cst.Equal | cst.NotEqual) and NONE in (left, right) and not _compares(left, right):
            return identity(left, right, isinstance(sign, cst.Equal))
        tensors = [tensor for tensor in map(arithmetic_tensor, (left, right)) if tensor is not None]
        if tensors:
            decisive = strongest(tensors)
            ranks = [rank_of(value) for value in (left, right)]
            known = [rank for rank in ranks if rank is not None]
            made = Tensor(
                decisive.dependence,
                "bool",
                max(known) if len(known) == 2 else None,
                decisive.origin,
                broadcast(tensors),
                any(tensor.carried for tensor in tensors),
                mixed=is_mixed(tensors),
                varies=shapes_met(tensors),
                of_tensorflow=all(tensor.of_tensorflow for tensor in tensors),
                traced=any(tensor.traced for tensor in tensors),
                python=all(tensor.python for tensor in tensors),
            )
            return as_sure_as(made, left, right)
        match left, right:
            case Static(), Static():
                return fold_sides(sign, left, right)
            case (Array(), _) | (_, Array()):
                return Array("bool")
            case (Unknown(), _) | (_, Unknown()):
                self.doubt_tensor(frame, left)
                self.doubt_tensor(frame, right)
                names: frozenset[str] = frozenset()
                for side in (left, right):
                    if isinstance(side, Unknown):
                        names |= side.names
                return Unknown(names, compared=True)
            case _:
                return STATIC

    def _contains(
        self,
        frame: Frame,
        node: cst.Comparison,
        sign: cst.BaseCompOp,
        item: Value,
        container: Value,
        tested: bool,
    ) -> Value:
        if not (isinstance(item, Unknown) and item.part):
            self.refute_tensor(frame, item)
        self.refute_tensor(frame, container)
        named = isinstance(item, Static) and isinstance(item.constant, str)  # of a dict: no tensor holds text to find
        searched = None if named or perhaps_structure(container) else as_tensor(container, Dependence.STATIC)
        # A tensor is looked up by comparing it with each item; as the key of a dict it is hashed instead.
        compared = isinstance(container, Sequence | Static) and as_condition(item) is not None
        if searched is not None or compared:
            self.emit(
                frame, TruthOf, node, operands=(item, container), form="in", tested=tested, names=dict(frame.env or {})
            )
        if frame.module.written and isinstance(container, Dict) and container.element is None and is_key(item):
            return Static((item.constant in container.entries) is isinstance(sign, cst.In))
        return STATIC

    def _ternary(self, frame: Frame, node: cst.IfExp) -> Value:
        test = self.evaluate_test(frame, node.test)
        known = truth(test)
        condition = as_condition(test)
        if condition is not None:
            names = dict(frame.env or {})  # statements to come change it
            self.emit(frame, BranchOn, node.test, test=test, form="ternary", statement=node, names=names)
        else:
            self.doubt_tensor(frame, test)
        before, context = frame.env, frame.context
        if context.kind in NOT_TRACED:
            note_chance(self, frame, node)
        values = []
        for side, taken in ((node.body, True), (node.orelse, False)):
            if known is (not taken) or before is None:
                frame.summary.skipped.append(side)
                continue
            frame.env = dict(before)
            narrow(self, frame, node.test, taken)
            found(frame, test, taken)
            frame.conditional += known is None
            values.append(self.evaluate(frame, side))
            frame.conditional -= known is None
            frame.context = context
        frame.env = before
        if condition is not None and frame.context.converted and len(values) == len((node.body, node.orelse)):
            if (reason := unjoinable(*values)) is not None:
                self.emit(frame, JoinBranches, node.test, name=frame.unit.code(node), reason=reason)
            return chosen_where_they_differ(condition, *values)
        made = join_all(*values) if values else UNKNOWN
        return chosen(test, values[0], values[-1], made) if values else made

    EXPRESSIONS: ClassVar[Handlers[Value]] = {
        cst.BooleanOperation: _boolean,
        cst.Comparison: _comparison,
        cst.IfExp: _ternary,
    }


def _compares(left: Value, right: Value) -> bool:
    """Whether one of the two decides on `==` with None. Of a tensor Python does, as for `is` (measured); NumPy compares
    each element, and a variable raises an error."""
    return any(isinstance(side, Array) or (isinstance(side, Tensor) and side.variable) for side in (left, right))
