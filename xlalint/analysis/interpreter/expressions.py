"""What each expression is worth: values of names, operators, comparisons, subscripts, displays and comprehensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, ClassVar, Final

from ...syntax import nodes as cst
from ..domain.joins import as_tuple, element_of, join, join_all, join_parts, without_none
from ..domain.operators import (
    arithmetic_tensor,
    as_sure_as,
    concatenate,
    dtype_of,
    fold,
    fold_sides,
    identity,
    index_static,
    indexes_a_tensor,
    joined_structures,
    rank_of,
)
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    Array,
    ClassValue,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Nest,
    OneOf,
    Origin,
    Sequence,
    Slice,
    Static,
    Tensor,
    Unknown,
    Value,
    as_condition,
    as_tensor,
    is_mixed,
    perhaps_structure,
    united,
)
from ..domain.varying_shapes import after_index
from ..files.files import Place
from ..library import api
from ..library.tokenizers import torch_in
from ..program.project import Function
from ..record import replace
from .events import BranchOn, Consume, ContextKind, DivideBy, HostRead, IndexWith, TruthOf
from .frames import Arguments, Frame
from .iteration import Iteration
from .narrowing import narrow, truth

_CONSTANTS: Final = {"None": NONE, "True": Static(True), "False": Static(False)}
_REMAINDERS: Final = (cst.FloorDivide, cst.FloorDivideAssign, cst.Modulo, cst.ModuloAssign)


class Expressions(Iteration):
    """The first floor: expressions."""

    def evaluate(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """The value of an expression; says on the way what it does."""
        handler = self._EXPRESSIONS.get(type(node))
        return handler(self, frame, node) if handler is not None else UNKNOWN

    # -- names and literals -------------------------------------------------------------------------------------------

    def _name(self, frame: Frame, node: cst.Name) -> Value:
        name = node.value
        if (constant := _CONSTANTS.get(name)) is not None:
            return constant
        if name in frame.half_bound:
            self.report_half_bound(frame, name)
        value = self.lookup(frame, name)
        return self.undefined(frame, name) if value is None else value

    def report_half_bound(self, frame: Frame, name: str) -> None:
        raise NotImplementedError

    def _literal(self, frame: Frame, node: cst.Integer | cst.Float | cst.SimpleString) -> Value:
        return Static(node.evaluated_value)

    def _static_text(self, frame: Frame, node: cst.FormattedString | cst.ConcatenatedString | cst.Ellipsis) -> Value:
        if isinstance(node, cst.FormattedString):
            for part in node.parts:
                if isinstance(part, cst.FormattedStringExpression):
                    value = self.evaluate(frame, part.expression)
                    # `f"{t}"` prints the symbolic tensor; a format specification asks for its number.
                    if part.format_spec and as_tensor(value, Dependence.STATIC):
                        self.emit(frame, HostRead, part.expression, value=value, reader="format")
        return STATIC

    # -- operators ----------------------------------------------------------------------------------------------------

    def _unary(self, frame: Frame, node: cst.UnaryOperation) -> Value:
        value = self.evaluate(frame, node.expression)
        if isinstance(node.operator, cst.Not):
            self.no_tensor(frame, value)
            return self._negate(frame, node, value, tested=False)
        match value:
            case Static(constant, varies) if isinstance(node.operator, cst.Minus) and isinstance(constant, int | float):
                return Static(-constant, varies)
            case Static(varies=varies):
                return Static(varies=varies) if varies else STATIC
            case Nest():
                return value.tensor
            case _:
                return value

    def _negate(self, frame: Frame, node: cst.UnaryOperation, value: Value, tested: bool) -> Value:
        tensor = as_condition(value)
        if tensor is not None:
            self.emit(frame, TruthOf, node, operands=(value,), form="not", tested=tested)
            return tensor.with_(dtype="bool", rank=0)
        self.doubt(frame, value)
        known = truth(value)
        return STATIC if known is None else Static(not known)

    def _binary(self, frame: Frame, node: cst.BinaryOperation) -> Value:
        left, right = self.evaluate(frame, node.left), self.evaluate(frame, node.right)
        return self.operate(frame, node, node.operator, left, right)

    def operate(
        self,
        frame: Frame,
        node: cst.CSTNode,
        sign: cst.BaseBinaryOp | cst.BaseAugOp,
        left: Value,
        right: Value,
    ) -> Value:
        """The value of `left sign right`."""
        if isinstance(sign, cst.Add | cst.AddAssign) and (joined := joined_structures(left, right)) is not None:
            return joined
        tensors = [tensor for tensor in map(arithmetic_tensor, (left, right)) if tensor is not None]
        if tensors:
            if isinstance(left, Static) and isinstance(left.constant, str):
                return STATIC  # "%s" % tensor is text
            return as_sure_as(self._operate_on_tensors(frame, node, sign, left, right, tensors), left, right)
        self.doubt(frame, left)
        self.doubt(frame, right)
        match left, right:
            case Static(a), Static(b):
                made = fold(type(sign), a, b)
                varies = () if isinstance(sign, _REMAINDERS) else united(left.varies, right.varies)
                return replace(made, varies=varies) if varies else made
            case (Array(), _) | (_, Array()):
                return Array()
            case Sequence(), Sequence() if isinstance(sign, cst.Add | cst.AddAssign):
                return concatenate(left, right)
            case (Sequence(kind=kind) as sequence, Static()) | (Static(), Sequence(kind=kind) as sequence):
                return Sequence(kind, None, element_of(sequence))
            case (Static(), Static()) | (Api(), _):
                return STATIC
            case _:
                return UNKNOWN

    def _operate_on_tensors(
        self,
        frame: Frame,
        node: cst.CSTNode,
        sign: cst.BaseBinaryOp | cst.BaseAugOp,
        left: Value,
        right: Value,
        tensors: list[Tensor],
    ) -> Tensor:
        strongest = max(tensors, key=lambda tensor: (tensor.dependence, tensor.origin is not None))
        if isinstance(sign, _REMAINDERS):
            symbol = "%" if isinstance(sign, cst.Modulo | cst.ModuloAssign) else "//"
            self.emit(frame, DivideBy, node, left=left, right=right, sign=symbol)
        kinds = {dtype_of(left), dtype_of(right)} - {None}
        if isinstance(sign, cst.Divide):
            dtype = "float" if kinds <= {"int", "float"} and "complex" not in kinds else None
        elif isinstance(sign, cst.BitAnd | cst.BitOr | cst.BitXor):
            dtype = "bool" if "bool" in kinds else next(iter(kinds), None)
        else:
            dtype = next((kind for kind in ("complex", "float", "int", "bool", "string") if kind in kinds), None)
        ranks = [rank_of(value) for value in (left, right)]
        known = [rank for rank in ranks if rank is not None]
        bounded = next((tensor.bounded for tensor in tensors if tensor.bounded), None)
        if bounded is not None:
            source = next(tensor for tensor in tensors if tensor.bounded)
            arguments = {"left": left, "right": right}
            self.emit(frame, Consume, node, tensor=source, consumer="operator", node=node, arguments=arguments)
        return Tensor(
            strongest.dependence,
            dtype,
            max(known) if len(known) == 2 else None,
            strongest.origin,
            bounded,
            any(tensor.carried for tensor in tensors),
            mixed=is_mixed(tensors),
            varies=reduce(united, (tensor.varies for tensor in tensors)),
        )

    # -- truth --------------------------------------------------------------------------------------------------------

    def evaluate_test(self, frame: Frame, node: cst.BaseExpression) -> Value:
        """A condition: as `evaluate`, knowing that the whole of it is tested anyway."""
        match node:
            case cst.BooleanOperation():
                return self._boolean(frame, node, tested=True)
            case cst.UnaryOperation(operator=cst.Not()):
                return self._negate(frame, node, self.evaluate_test(frame, node.expression), tested=True)
            case cst.Comparison():
                return self._comparison(frame, node, tested=True)
            case _:
                value = self.evaluate(frame, node)
                self.no_tensor(frame, value)  # a flag is tested by itself, a tensor is compared
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
        self.doubt(frame, left)
        before = frame.env
        if before is not None:
            frame.env = dict(before)
            narrow(self, frame, node.left, form == "and")
        right = evaluate(frame, node.right)
        # What the right side binds (a walrus) stays; what it was narrowed by does not.
        frame.env = before
        if tensor is not None:
            self.emit(frame, TruthOf, node, operands=(left, right), form=form, tested=tested)
            other = as_tensor(right, Dependence.STATIC)
            strongest = other if other is not None and other.dependence > tensor.dependence else tensor
            return strongest.with_(dtype="bool", rank=0)
        decided = tested and truth(right) is (form == "or")  # whatever the left side is
        return right if known is not None or decided else join(left, right)

    def _comparison(self, frame: Frame, node: cst.Comparison, tested: bool = False) -> Value:
        left = self.evaluate(frame, node.left)
        results: list[Value] = []
        for target in node.comparisons:
            right = self.evaluate(frame, target.comparator)
            results.append(self._compare(frame, node, target.operator, left, right, tested))
            left = right
        if len(results) == 1:
            return results[0]
        tensors = [tensor for tensor in (as_tensor(result, Dependence.STATIC) for result in results) if tensor]
        if not tensors:
            return join_all(*results)
        # All but the last comparison are asked for their truth.
        if any(as_tensor(result, Dependence.STATIC) for result in results[:-1]):
            self.emit(frame, TruthOf, node, operands=tuple(results), form="chained comparison", tested=tested)
        return max(tensors, key=lambda tensor: tensor.dependence).with_(dtype="bool", rank=0)

    def _compare(
        self, frame: Frame, node: cst.Comparison, sign: cst.BaseCompOp, left: Value, right: Value, tested: bool
    ) -> Value:
        match sign:
            case cst.Is() | cst.IsNot():
                return identity(left, right, isinstance(sign, cst.Is))
            case cst.In() | cst.NotIn():
                return self._contains(frame, node, left, right, tested)
        return self.compare_values(frame, sign, left, right)

    def compare_values(self, frame: Frame, sign: cst.BaseCompOp, left: Value, right: Value) -> Value:
        if any(isinstance(side, Static) and isinstance(side.constant, str) for side in (left, right)):
            self.no_tensor(frame, left)
            self.no_tensor(frame, right)
            if not any(as_tensor(side, Dependence.STATIC) for side in (left, right)):
                return fold_sides(sign, left, right)
        tensors = [tensor for tensor in map(arithmetic_tensor, (left, right)) if tensor is not None]
        if tensors:
            strongest = max(tensors, key=lambda tensor: (tensor.dependence, tensor.origin is not None))
            ranks = [rank_of(value) for value in (left, right)]
            known = [rank for rank in ranks if rank is not None]
            made = Tensor(
                strongest.dependence,
                "bool",
                max(known) if len(known) == 2 else None,
                strongest.origin,
                strongest.bounded,
                any(tensor.carried for tensor in tensors),
                mixed=is_mixed(tensors),
            )
            return as_sure_as(made, left, right)
        match left, right:
            case Static(), Static():
                return fold_sides(sign, left, right)
            case (Array(), _) | (_, Array()):
                return Array("bool")
            case (Unknown(), _) | (_, Unknown()):
                self.doubt(frame, left)
                self.doubt(frame, right)
                names: frozenset[str] = frozenset()
                for side in (left, right):
                    if isinstance(side, Unknown):
                        names |= side.names
                return Unknown(names, compared=True)
            case _:
                return STATIC

    def _contains(self, frame: Frame, node: cst.Comparison, item: Value, container: Value, tested: bool) -> Value:
        self.no_tensor(frame, item)
        self.no_tensor(frame, container)
        named = isinstance(item, Static) and isinstance(item.constant, str)  # of a dict: no tensor holds text to find
        searched = None if named or perhaps_structure(container) else as_tensor(container, Dependence.STATIC)
        # A tensor is looked up by comparing it with each item; as the key of a dict it is hashed instead.
        compared = isinstance(container, Sequence | Static) and as_condition(item) is not None
        if searched is not None or compared:
            self.emit(frame, TruthOf, node, operands=(item, container), form="in", tested=tested)
        return STATIC

    def _ternary(self, frame: Frame, node: cst.IfExp) -> Value:
        test = self.evaluate_test(frame, node.test)
        known = truth(test)
        if as_condition(test):
            names = dict(frame.env or {})  # statements to come change it
            self.emit(frame, BranchOn, node.test, test=test, form="ternary", statement=node, names=names)
        else:
            self.doubt(frame, test)
        before = frame.env
        values = []
        for side, taken in ((node.body, True), (node.orelse, False)):
            if known is (not taken) or before is None:
                frame.summary.skipped.append(side)
                continue
            frame.env = dict(before)
            narrow(self, frame, node.test, taken)
            frame.conditional += known is None
            values.append(self.evaluate(frame, side))
            frame.conditional -= known is None
        frame.env = before
        return join_all(*values) if values else UNKNOWN

    # -- subscripts ---------------------------------------------------------------------------------------------------

    def _subscript(self, frame: Frame, node: cst.Subscript) -> Value:
        base = self.evaluate(frame, node.value)
        index = tuple(self._index_element(frame, element.slice) for element in node.slice)
        return self.subscript(frame, node, base, index)

    def _index_element(self, frame: Frame, element: cst.BaseSlice) -> Value:
        if isinstance(element, cst.Index):
            return self.evaluate(frame, element.value)
        assert isinstance(element, cst.Slice)
        sides = (element.lower, element.upper, element.step)
        return Slice(*(None if side is None else self.evaluate(frame, side) for side in sides))

    def subscript(
        self, frame: Frame, node: cst.Subscript, base: Value, index: tuple[Value, ...], store: bool = False
    ) -> Value:
        """`base[index]`; on a tensor also said as an event."""
        if isinstance(base, OneOf):
            # A position that a list would not take says which of them is meant.
            tensors = tuple(option for option in base.options if isinstance(option, Tensor | Nest))
            meant = tensors if any(as_tensor(item, Dependence.STATIC) for item in index) else ()
            return join_all(*(self.subscript(frame, node, option, index, store) for option in meant or base.options))
        index = tuple(without_none(self._as_mask(frame, base, item)) for item in index)
        base = as_tuple(base)
        match base:
            case Nest() | Unknown() if indexes_a_tensor(base, index):
                self.witness(frame, base)
                origin = Origin(Place(frame.unit, node.value), "`{code}` is a tensor")
                base = Tensor(Dependence.VALUE, origin=origin, carried=isinstance(base, Nest) and base.carried)
            case Nest():
                return base.part
            case Unknown(names):
                for item in index:
                    self.doubt(frame, item)
                    if isinstance(item, Static) and isinstance(item.constant, str):
                        self.no_tensor(frame, base)
                self.doubt(frame, base)
                return Unknown(names, part=True)
        match base:
            case Tensor():
                return self._index_tensor(frame, node, base, index, store)
            case Sequence() | Dict():
                return self._index_container(frame, node, base, index)
            case Array():
                return Array(base.dtype, varies=after_index(base.varies, index))
            case Static(constant) if isinstance(constant, tuple | list | str):
                return index_static(constant, index)
            case Static() | Api():
                return STATIC
            case ApiObject():
                return api.attribute(base, "__getitem__") or UNKNOWN
            case Instance(cls) if method := cls.find("__getitem__"):
                item = index[0] if len(index) == 1 else Sequence("tuple", index)
                bound = FunctionValue(method, bound=base)
                return self.invoke(frame, bound, Arguments([item]), node)
            case ClassValue():
                return base  # a generic class with its parameter
            case _:
                return UNKNOWN

    def _as_mask(self, frame: Frame, base: Value, item: Value) -> Value:
        """An unknown comparison used as an index is a mask, if this is code in which tensors are meant."""
        if not (isinstance(item, Unknown) and item.compared and frame.context.kind is ContextKind.XLA):
            return item
        if not (isinstance(base, Tensor | Nest | Unknown) and item.names):
            return item
        name = next(iter(sorted(item.names)))
        return Tensor(
            Dependence.VALUE,
            "bool",
            origin=Origin(
                frame.summary.place or Place(frame.unit, frame.unit.tree), f"`{name}` is compared and used as an index"
            )
            if frame.summary.place
            else None,
        )

    def _index_tensor(
        self, frame: Frame, node: cst.Subscript, base: Tensor, index: tuple[Value, ...], store: bool
    ) -> Value:
        self.emit(frame, IndexWith, node, base=base, index=index, node=node, store=store)
        if base.bounded is not None:
            arguments: dict[str, Value] = {f"*{position}": item for position, item in enumerate(index)}
            self.emit(frame, Consume, node, tensor=base, consumer="index", node=node, arguments=arguments)
        place = Place(frame.unit, node)
        rank = base.rank
        dependence, origin, bounded, parts = base.dependence, base.origin, base.bounded, [base]
        for item in index:
            mask = as_tensor(item, Dependence.STATIC)
            match item:
                case Slice():
                    # `x[1:]` of a bounded dimension is bounded still.
                    continue
                case Tensor(is_mask=True) if mask is not None:
                    bounded = Origin(place, "`{code}` has a bounded dynamic shape")
                    rank = rank - (mask.rank or 1) + 1 if rank is not None else None
                case Static(None) | Api("tf.newaxis" | "np.newaxis"):
                    rank = rank + 1 if rank is not None else None
                case Static(constant) if constant is Ellipsis:
                    rank = None
                case _:
                    if mask is not None and mask.dependence > dependence:
                        dependence, origin = mask.dependence, mask.origin
                    parts += [mask] if mask is not None else []
                    rank = rank - 1 if rank is not None and rank > 0 else None
                    if len(index) == 1 and base.rank == 1:
                        bounded = None
        carried = any(part.carried for part in parts)
        varies = after_index(base.varies, index)
        return Tensor(dependence, base.dtype, rank, origin, bounded, carried, mixed=is_mixed(parts), varies=varies)

    def _index_container(
        self, frame: Frame, node: cst.Subscript, base: Sequence | Dict, index: tuple[Value, ...]
    ) -> Value:
        item = index[0]
        asked = item
        if isinstance(item, Slice):
            parts = [part for part in (item.start, item.stop, item.step) if part is not None]
            asked = next((part for part in parts if as_tensor(part, Dependence.STATIC)), STATIC)
        if isinstance(base, Sequence) and as_tensor(asked, Dependence.STATIC):
            self.emit(frame, HostRead, node, value=asked, reader="list index")
        match base, item:
            case Sequence(items=tuple(items)), Static(int(position)) if -len(items) <= position < len(items):
                return items[position]
            case Sequence(kind, tuple(items)), Slice(start, stop, step):
                constants: list[Any] = [
                    None if part is None else getattr(part, "constant", ...) for part in (start, stop, step)
                ]
                if all(constant is None or isinstance(constant, int) for constant in constants) and constants[2] != 0:
                    return Sequence(kind, items[slice(*constants)])
                return Sequence(kind, None, element_of(base))
            case Sequence(), Slice():
                return base
            case Sequence(), _:
                return element_of(base) or UNKNOWN
            case Dict(entries, element), Static(key) if item.known and key in entries:
                return entries[key]
            case Dict(entries, element), _:
                values = [*entries.values()] if not (isinstance(item, Static) and item.known) else []
                values += [] if element is None else [element]
                return element_of(Sequence("list", tuple(values))) or UNKNOWN

    # -- displays and comprehensions ----------------------------------------------------------------------------------

    def _sequence(self, frame: Frame, node: cst.List | cst.Tuple | cst.Set) -> Value:
        kind = type(node).__name__.lower()
        items: list[Value] = []
        rest: Value | None = None
        for element in node.elements:
            value = self.evaluate(frame, element.value)
            if isinstance(element, cst.StarredElement):
                match self.iterate(frame, value, element.value, "star"):
                    case Sequence(items=tuple(inner)):
                        items += inner
                    case inner:
                        found = element_of(inner) if isinstance(inner, Sequence) else inner
                        rest = found if rest is None or found is None else join_parts(rest, found)
                        rest = rest or UNKNOWN
            else:
                items.append(value)
        if rest is None:
            return Sequence(kind, tuple(items))
        return Sequence(kind, None, join_all(rest, *items))

    def _dict(self, frame: Frame, node: cst.Dict) -> Value:
        entries: dict[Any, Value] = {}
        rest: Value | None = None
        for element in node.elements:
            value = self.evaluate(frame, element.value)
            if isinstance(element, cst.DictElement):
                key = self.evaluate(frame, element.key)
                if isinstance(key, Static) and key.known and isinstance(key.constant, str | int | bool | float):
                    entries[key.constant] = value
                else:
                    rest = value if rest is None else join_parts(rest, value)
            elif isinstance(value, Dict):
                entries |= value.entries
                if value.element is not None:
                    rest = value.element if rest is None else join_parts(rest, value.element)
            else:
                inner = value if isinstance(value, Nest) else UNKNOWN
                rest = inner if rest is None else join_parts(rest, inner)
        return Dict(entries, rest)

    def _comprehension(self, frame: Frame, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) -> Value:
        inner = self.inner_frame(frame)
        count: int | None = self._run_clauses(inner, node.for_in)
        if isinstance(node, cst.DictComp):
            self.evaluate(inner, node.key)
            return Dict({}, self.evaluate(inner, node.value))
        value = self.evaluate(inner, node.elt)
        kind = "set" if isinstance(node, cst.SetComp) else "list"
        # One element stands for all, unless the length is known and small: `a, b = [f(x) for x in (p, q)]`.
        return Sequence(kind, (value,) * count) if count is not None and count <= 4 else Sequence(kind, None, value)

    def _run_clauses(self, inner: Frame, clause: cst.CompFor) -> int | None:
        iterable = self.iterate(inner, self.evaluate(inner, clause.iter), clause.iter, "comprehension")
        self.assign(inner, clause.target, self.element(inner, iterable, clause.iter))
        for condition in clause.ifs:
            test = self.evaluate_test(inner, condition.test)
            if as_condition(test):
                self.emit(
                    inner,
                    BranchOn,
                    condition.test,
                    test=test,
                    form="comprehension if",
                    statement=condition,
                    names={},
                )
            narrow(self, inner, condition.test, True)
        if clause.inner_for_in is not None:
            self._run_clauses(inner, clause.inner_for_in)
            return None
        known = isinstance(iterable, Sequence) and iterable.items is not None and not clause.ifs
        return len(iterable.items) if known and isinstance(iterable, Sequence) and iterable.items is not None else None

    def inner_frame(self, frame: Frame) -> Frame:
        """The scope of a comprehension: its own names, the function's everything else."""
        return Frame(
            frame.unit,
            frame.module,
            frame.context,
            frame.summary,
            {},
            parent=frame,
            function=frame.function,
            owner=frame.owner,
            bound=frame.bound,
            loop=frame.loop,
            branch=frame.branch,
            assumed=frame.assumed,
            evidence=frame.evidence,
            doubts=frame.doubts,
            shapes=frame.shapes,
            undefined=frame.undefined,
        )

    # -- the rest -----------------------------------------------------------------------------------------------------

    def _walrus(self, frame: Frame, node: cst.NamedExpr) -> Value:
        value = self.evaluate(frame, node.value)
        self.assign(frame, node.target, value)
        return value

    def _await(self, frame: Frame, node: cst.Await) -> Value:
        return self.evaluate(frame, node.expression)

    def _yield(self, frame: Frame, node: cst.Yield) -> Value:
        match node.value:
            case cst.From(item=item):
                frame.yields.append(self.element(frame, self.evaluate(frame, item), item))
            case cst.BaseExpression() as value:
                frame.yields.append(self.evaluate(frame, value))
            case None:
                frame.yields.append(NONE)
        return UNKNOWN

    def _lambda(self, frame: Frame, node: cst.Lambda) -> Value:
        name = "<lambda>"
        qualname = f"{frame.summary.name}.{name}" if frame.function else name
        function = Function(frame.module, name, qualname, _unit=frame.unit, _node=node)
        return self.remember_local(frame, FunctionValue(function, frame))

    def remember_local(self, frame: Frame, value: FunctionValue) -> FunctionValue:
        """A function made inside another: analysed on its own later, should nobody be seen to call it."""
        self.orphans.append((value, frame.context))
        return value

    def _attribute(self, frame: Frame, node: cst.Attribute) -> Value:
        return self.attribute(frame, self.evaluate(frame, node.value), node.attr.value, node)

    def _call(self, frame: Frame, node: cst.Call) -> Value:
        self.clock.check()
        callee = self.evaluate(frame, node.func)
        return self.call(frame, callee, self.evaluate_arguments(frame, node.args), node)

    def evaluate_arguments(self, frame: Frame, args: Iterable[cst.Arg]) -> Arguments:
        """The arguments of a call, unpacked as far as their lengths are known."""
        positional: list[Value] = []
        nodes: list[cst.BaseExpression] = []
        keywords: dict[str, Value] = {}
        keyword_nodes: dict[str, cst.BaseExpression] = {}
        rest: Value | None = None
        rest_keywords: Value | None = None
        for arg in args:
            value = self.evaluate(frame, arg.value)
            if not arg.star:
                if arg.keyword is not None:
                    keywords[arg.keyword.value] = value
                    keyword_nodes[arg.keyword.value] = arg.value
                elif rest is None:
                    positional.append(value)
                    nodes.append(arg.value)
                continue
            self.no_tensor(frame, value)
            if arg.star == "*":
                match self.iterate(frame, value, arg.value, "star"):
                    case Sequence(items=tuple(items)) if rest is None:
                        positional += items
                        nodes += [arg.value] * len(items)
                    case inner:
                        rest = self.element(frame, inner, arg.value)
            elif isinstance(value, Dict):
                keywords |= {key: item for key, item in value.entries.items() if isinstance(key, str)}
                rest_keywords = value.element or rest_keywords
            else:
                rest_keywords = value if isinstance(value, Nest) else torch_in(value) or UNKNOWN
        return Arguments(positional, keywords, rest, rest_keywords, False, False, nodes, keyword_nodes)

    def assign(
        self, frame: Frame, target: cst.BaseExpression, value: Value, statement: cst.CSTNode | None = None
    ) -> None:
        raise NotImplementedError

    _EXPRESSIONS: ClassVar[dict[type[cst.CSTNode], Callable[..., Value]]] = {
        cst.Name: _name,
        cst.Integer: _literal,
        cst.Float: _literal,
        cst.Imaginary: _literal,
        cst.SimpleString: _literal,
        cst.FormattedString: _static_text,
        cst.ConcatenatedString: _static_text,
        cst.Ellipsis: lambda self, frame, node: Static(...),
        cst.UnaryOperation: _unary,
        cst.BinaryOperation: _binary,
        cst.BooleanOperation: _boolean,
        cst.Comparison: _comparison,
        cst.IfExp: _ternary,
        cst.Subscript: _subscript,
        cst.List: _sequence,
        cst.Tuple: _sequence,
        cst.Set: _sequence,
        cst.Dict: _dict,
        cst.ListComp: _comprehension,
        cst.SetComp: _comprehension,
        cst.GeneratorExp: _comprehension,
        cst.DictComp: _comprehension,
        cst.NamedExpr: _walrus,
        cst.Await: _await,
        cst.Yield: _yield,
        cst.Lambda: _lambda,
        cst.Attribute: _attribute,
        cst.Call: _call,
    }
