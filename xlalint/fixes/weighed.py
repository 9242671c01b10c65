"""The rewrite of one selection by a mask and of all that follows from it, up to the reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from ..analysis.domain.values import Dependence, Structure, Tensor, Value
from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from ..syntax.build import parse_expression
from .known import Knowledge
from .names import Names
from .one_position import element
from .reductions import (
    EACH_POSITION,
    REDUCTIONS,
    WEIGHED,
    Selected,
    axis_of,
    is_reduction,
    numbers_classes,
    tests_finite,
)
from .rewrite import GivenUp, NodeEdit, Rewrite, before, remove, replace
from .selections import (
    Selection,
    all_assigned,
    gathered,
    is_assignment,
    is_body_of,
    masked,
    nodes,
    parts,
    selected_name,
    taken_before,
    values_in,
)
from .syntax import assigned, operand, plain, read
from .written import AS_SIZE, is_a_number

REDUCE: Final = "Reduce over all elements, weighted by the mask"
_LOSS: Final = (
    "where the code in between does not return one number per index, or returns non-finite ones where the mask is False"
)
POSITIONS: Final = "where the condition is not boolean, or has another shape than the values"
_NOTHING: Final = "where nothing is selected, which raises in eager execution, and for a mask with more dimensions"
_LENGTHS: Final = "where the mask is not as long as the values, which raises in eager execution"
_CHANGED: Final = "where a variable is assigned between the selection and the reduction"
_RANKS: Final = "where the mask has fewer dimensions than the values"
_DTYPE: Final = "where the values are not a tensor"
BOUND_LATER: Final = (cst.Lambda, cst.FunctionDef, cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


class Builder:
    """The rewrite of one selection: the statements of its block, from the selection to the reductions. `in_place`:
    where the mask is needed as numbers, it becomes that where it is made."""

    def __init__(self, chosen: Selection, names: Names, in_place: bool) -> None:
        self._chosen = chosen
        self._in_place = in_place
        self._names = names
        self._tf = names.tf
        self._unit = chosen.location.unit
        scope = {node.value: value for node, value in self._named()}
        self._knowledge = Knowledge(scope, self._tf, chosen.location)
        self.whole: dict[str, cst.BaseExpression | None] = {}  # selected names: of what; None for what follows of them
        self._edits: list[NodeEdit] = []
        self._differs = [POSITIONS] if gathered(chosen.location.node, self._tf) is not None else []
        self.weights: str | None = None
        self._reduced = False
        self._selecting: list[cst.CSTNode] = []  # statements that only select
        self.rewritten: list[cst.CSTNode] = []  # statements that take in what is selected
        self._reads = 0  # of selected names
        self._selections = 0  # inside of other expressions

    def _named(self) -> Iterator[tuple[cst.Name, Value]]:
        for node, value in ((self._chosen.values, self._chosen.value), (self._chosen.mask, self._chosen.mask_value)):
            if isinstance(node, cst.Name) and value is not None:
                # Only a tensor can be indexed by a mask.
                yield (
                    node,
                    Tensor(Dependence.VALUE) if isinstance(value, Structure) and not self._is_no_subscript else value,
                )

    def rewrite(self) -> Rewrite | None:
        """The edits; None where a selected element is used but in reductions."""
        try:
            return self._built()
        except GivenUp:
            return None

    def _built(self) -> Rewrite | None:
        block, at = self._block()
        self._connect(block, at)
        first = next(number for number, one in enumerate(block) if one in self._selecting or number == at)
        fixed = set(read(self._chosen.mask)).union(*(read(one) for one in self.whole.values() if one is not None))
        for number, statement in enumerate(block[first:], first):
            if statement in self._selecting:
                continue
            if number == at or self.whole.keys() & set(read(statement)):
                self.rewritten.append(statement)
                self._follow(statement)
            if fixed & set(assigned([statement])) and any(
                self.whole.keys() & set(read(one)) for one in block[number + 1 :]
            ):
                raise GivenUp  # what follows is computed of another mask
        self._check_reads(block, first)
        if not self._reduced:
            return None
        self._edits = [*self._masked(block, at), *self._edits]
        if self.whole and not self._stays_the_same():
            self._differs.append(_CHANGED)
        differs = next(iter(self._differs), "")
        return Rewrite(REDUCE, tuple(self._edits), Safety.UNSAFE if differs else Safety.SAFE, differs)

    def _stays_the_same(self) -> bool:
        """Whether what is selected of, and the mask, are the same further below: tensors, and no variables."""
        known = (self._chosen.value, self._chosen.mask_value)
        nodes = (self._chosen.mask, *(whole for whole in self.whole.values() if whole is not None))
        return all(isinstance(value, Tensor) and not value.variable for value in known) and all(
            isinstance(node, cst.Name) for node in nodes
        )

    @property
    def may_be_in_place(self) -> bool:
        """Whether nothing but the selections that are rewritten reads the mask, which one statement of their block
        makes."""
        mask = self._chosen.mask
        if self.weights is None or not isinstance(mask, cst.Name):
            return False
        reads, bound = [*read(self._scope)].count(mask.value), [*all_assigned(self._scope)].count(mask.value)
        made = [one for one in self._block()[0] if is_assignment(one, mask)]
        return bound == len(made) == 1 and reads == self._selections + len(self._selecting)

    def _block(self) -> tuple[Sequence[cst.CSTNode], int]:
        """The simple statements around the selection, and which of them holds it."""
        inside = [self._chosen.location.node, *self._unit.around(self._chosen.location.node)]
        for node, parent in pairwise(inside):
            if isinstance(node, BOUND_LATER):
                raise GivenUp
            if isinstance(node, cst.BaseSmallStatement) and isinstance(parent, cst.SimpleStatementLine):
                body = next(self._unit.around(parent))
                lines = body.body if isinstance(body, cst.IndentedBlock | cst.Module) else [parent]
                small = [part for line in lines for part in parts(line)]
                return small, next(number for number, part in enumerate(small) if part is node)
        raise GivenUp

    def _connect(self, block: Sequence[cst.CSTNode], at: int) -> None:
        """Find the names that hold selections by the mask, of those that meet the one that is rewritten."""
        selecting = {found[0]: (found[1], one) for one in block if (found := self._selection_of(one)) is not None}
        if not selecting:
            return
        reads = [set(read(one)) for one in block]
        first = min([at, *(block.index(one) for _, one in selecting.values())])  # names are bound anew from there on
        name = selected_name(block[at], self._chosen.location.node)
        live = set() if name is None else {name}
        known = -1
        while known < len(live):
            known = len(live)
            for number, (statement, names) in enumerate(zip(block, reads, strict=True)):
                selects = any(statement is one for _, one in selecting.values())
                if number >= first and not selects and (number == at or live & names):
                    live |= names & selecting.keys()
                    live |= set() if is_reduction(statement, self._knowledge.api) else set(assigned([statement]))
        for kept, (values, statement) in selecting.items():
            if kept in live:
                self.whole[kept] = values
                self._selecting.append(statement)

    def _selection_of(self, statement: cst.CSTNode) -> tuple[str, cst.BaseExpression] | None:
        """`name = values[mask]`, by the same mask."""
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=value):
                values = self._selected(value)
                return None if values is None else (name, values)
            case _:
                return None

    def _selected(self, node: cst.CSTNode) -> cst.BaseExpression | None:
        """The values of a selection by the same mask."""
        if node is self._chosen.location.node:
            return self._chosen.values
        found = masked(node, self._knowledge.api)
        if found is None and (found := gathered(node, self._tf)) is not None:
            self._differs.append(POSITIONS)
        return found[0] if found is not None and found[1].deep_equals(self._chosen.mask) else None

    @property
    def _scope(self) -> cst.CSTNode:
        """The body of the function around the selection, or the module."""
        around = self._unit.around(self._chosen.location.node)
        return next((node.body for node in around if isinstance(node, cst.FunctionDef)), self._unit.tree)

    def _check_reads(self, block: Sequence[cst.CSTNode], first: int) -> None:
        """Nothing else of the function reads or binds the selected names; under one that was something's before, not
        from the first selection on."""
        anew = {name for name, whole in self.whole.items() if isinstance(whole, cst.Name) and whole.value == name}
        if anew and not is_body_of(self._scope, block):
            raise GivenUp
        later = [one for one in block[first:] if one not in self._selecting]
        reads = [name for name in read(self._scope) if name in self.whole.keys() - anew]
        reads += [name for one in later for name in read(one) if name in anew]
        names, again = [*all_assigned(self._scope)], [name for one in later for name in all_assigned(one)]
        before = taken_before([one for one in block[first:] if one in (*self._selecting, *self.rewritten)])
        once = all(names.count(name) == 1 for name in self.whole.keys() - anew)
        if len(reads) != self._reads or not once or anew & {*again} or anew & before:
            raise GivenUp

    def _masked(self, block: Sequence[cst.CSTNode], at: int) -> Iterator[NodeEdit]:
        """The selections go. Where weights are needed, they are made of the mask."""
        gone = [*self._selecting]
        if self.weights is not None:
            mask, cast = self._chosen.mask, f"{self._tf}.cast({{}}, {self._tf}.float32)"
            text = f"{self.weights} = {cast.format(plain(mask))}"
            if self._in_place:
                made = next(one for one in block if isinstance(mask, cst.Name) and is_assignment(one, mask))
                assert isinstance(made, cst.Assign)
                yield replace(self._place(made.value), cast.format(plain(made.value)))
            elif gone:
                yield replace(self._place(gone.pop(0)), text)
            else:
                yield before(self._place(block[at]), text)
        for statement in gone:
            yield remove(self._place(statement))

    def _follow(self, statement: cst.CSTNode) -> None:
        """Rewrite the reductions of a statement; what it computes for each position goes on under its name."""
        target: cst.BaseExpression | None = None
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=assigned_to)], value=value):
                target = assigned_to
            case cst.Return(value=cst.BaseExpression() as value) | cst.Expr(value=value) | cst.AugAssign(value=value):
                pass
            case _:
                raise GivenUp
        loose = self._reductions(value, statement)
        if loose:
            if not isinstance(target, cst.Name) or not self._is_each_position(value):
                raise GivenUp
            self.whole[target.value] = None
            self._edits += self._completed(value)
            self._differs.append(_LOSS)

    def _reductions(self, node: cst.CSTNode, statement: cst.CSTNode) -> bool:
        """Rewrite the reductions in an expression; whether selected elements stand outside of them."""
        if self._is_leaf(node):
            return True
        if isinstance(node, BOUND_LATER) and any(map(self._is_leaf, nodes(node))):
            raise GivenUp
        match node:
            case cst.Subscript(
                value=cst.Call(func=function, args=[cst.Arg(value=argument)]),
                slice=[cst.SubscriptElement(cst.Index(cst.Integer("0")))],
            ) if self._is_leaf(argument) and self._knowledge.api(function) == "shape":
                self._count(node, argument)
                return False
            case cst.Subscript(value=kept, slice=[cst.SubscriptElement(cst.Index(which))]) if self._is_leaf(kept):
                self._take(node, kept, which)
                return False
            case cst.Call(func=function, args=[cst.Arg(keyword=None, value=argument), *rest]) if any(
                map(self._is_leaf, nodes(argument))
            ):
                name = (self._knowledge.api(function) or "").removeprefix("math.")
                if name == "size" and not rest and self._is_leaf(argument) and self._missing() == 0:
                    self._count(node, argument)
                    return False
                if name in REDUCTIONS:
                    self._reduce(node, name, argument, rest, statement)
                    return False
        loose = [self._reductions(child, statement) for child in values_in(node)]
        return any(loose)

    def _count(self, node: cst.CSTNode, argument: cst.BaseExpression) -> None:
        """How many are selected."""
        values = self._whole_of(argument)
        if values is None or not self._fits(values):
            self._differs.append(_LENGTHS)
        if not is_a_number(self._chosen.location, node, self._tf):
            self._differs.append(AS_SIZE)
        self._note(argument)
        text = f"{self._tf}.math.count_nonzero({plain(self._mask_twice(1))}, dtype={self._tf}.int32)"
        self._put(node, text)

    def _take(self, node: cst.CSTNode, kept: cst.BaseExpression, which: cst.BaseExpression) -> None:
        """The first or the last of what is selected."""
        values = self._whole_of(kept)
        text = None if values is None else element(plain(values), plain(self._mask_twice(2)), which, self._tf)
        if text is None:
            raise GivenUp
        self._note(kept)
        self._differs.append(_NOTHING)
        self._put(node, text)

    def _reduce(
        self,
        node: cst.Call,
        name: str,
        argument: cst.BaseExpression,
        rest: Sequence[cst.Arg],
        statement: cst.CSTNode,
    ) -> None:
        if self._is_leaf(argument):
            values = self.whole.get(argument.value) if isinstance(argument, cst.Name) else self._selected(argument)
            if values is not None:
                self._note(argument)
                self._reduce_selected(node, name, values, rest, statement)
                return
        if rest or name not in WEIGHED or not self._is_each_position(argument):
            raise GivenUp
        x = self._with_whole(argument)
        self._note(argument)
        self._differs.append(_LOSS)
        self._put(node, WEIGHED[name].format(tf=self._tf, x=operand(x), weights=self._weighed))

    def _reduce_selected(
        self,
        node: cst.Call,
        name: str,
        values: cst.BaseExpression,
        rest: Sequence[cst.Arg],
        statement: cst.CSTNode,
    ) -> None:
        """A reduction of the selected elements themselves."""
        missing, axis = self._missing(), axis_of(rest)
        if missing is None:
            if axis == "0":
                raise GivenUp  # who names the axis expects others
            self._differs.append(_RANKS)
            missing = 0
        if axis == "0" and missing == 0:
            axis = None  # what a mask of all dimensions selects has one
        if axis == "0" and not (isinstance(self._mask_value, Tensor) and self._mask_value.rank == 1):
            raise GivenUp
        if not self._fits(values):
            self._differs.append(_LENGTHS)
        if self._is_no_subscript and not isinstance(self._chosen.value, Tensor):
            self._differs.append(_DTYPE)
        mask, kind = self._mask_twice(2), self._kind(values)
        spread = f"{operand(mask)}[{', '.join(['...', *[f'{self._tf}.newaxis'] * missing])}]"
        further = f", axis={axis}" if axis is not None else ""
        flat = plain(mask)
        made = REDUCTIONS[name](
            Selected(
                self._tf, plain(values), operand(values), flat, spread if missing else flat, further, kind, axis is None
            )
        )
        bound = {}
        for wanted, text in made.before:
            bound[wanted] = self._names.fresh(wanted)
            self._edits.append(before(self._place(statement), f"{bound[wanted]} = {text.format(**bound)}"))
        if made.differs:
            self._differs.append(made.differs)
        text = made.text.format(**bound) if bound else made.text
        self._put(node, text)

    # -- parts of expressions -----------------------------------------------------------------------------------------

    def _is_leaf(self, node: cst.CSTNode) -> bool:
        """Whether an expression is the selected elements, or computed of them under a name."""
        if isinstance(node, cst.Name):
            return node.value in self.whole
        return self._selected(node) is not None

    def _is_each_position(self, node: cst.CSTNode) -> bool:
        """Whether an expression computes something for each selected position, as far as its form tells."""
        if self._is_leaf(node) or not any(map(self._is_leaf, nodes(node))):
            return True
        match node:
            case cst.BinaryOperation(left=left, right=right):
                return self._is_each_position(left) and self._is_each_position(right)
            case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
                return self._is_each_position(inner)
            case cst.Attribute(value=owner, attr=cst.Name("dtype")):
                return self._is_leaf(owner)
            case cst.Call(func=function, args=arguments):
                api = self._knowledge.api(function)
                if any(map(self._is_leaf, nodes(function))):
                    return False
                if api is not None and api not in EACH_POSITION and not api.startswith("keras.losses."):
                    return False
                return all(not argument.star and self._is_each_position(argument.value) for argument in arguments)
            case _:
                return False

    def _completed(self, node: cst.CSTNode) -> Iterator[NodeEdit]:
        """The whole tensors in place of the selected elements."""
        self._note(node)
        for leaf in self._leaves(node):
            whole = self._whole_of(leaf)
            if whole is not None:
                yield replace(self._place(leaf), plain(self._in_range(leaf, whole, node)))

    def _with_whole(self, node: cst.BaseExpression) -> cst.BaseExpression:
        wholes = {
            leaf: self._in_range(leaf, whole, node)
            for leaf in self._leaves(node)
            if (whole := self._whole_of(leaf)) is not None
        }
        return parse_expression(
            cst.text_of(node).replaced(node, {leaf: cst.text_of(whole).code(whole) for leaf, whole in wholes.items()})
        )

    def _in_range(self, leaf: cst.CSTNode, whole: cst.BaseExpression, inside: cst.CSTNode) -> cst.BaseExpression:
        """The whole tensor in the place of what is selected. What the mask leaves out for what it is becomes zero where
        that is not finite, or no number of a class and a loss would be NaN for it."""
        tested, api = self._definition(), self._knowledge.api
        spoils = tests_finite(tested, api) or any(numbers_classes(leaf, node, api) for node in nodes(inside))
        if not spoils or not set(read(whole)) & set(read(tested)):
            return whole
        mask = operand(self._mask_twice(2))
        test = f"{mask} > 0.0" if self._in_place else mask
        return parse_expression(f"{self._tf}.where({test}, {plain(whole)}, 0)")

    def _whole_of(self, leaf: cst.CSTNode) -> cst.BaseExpression | None:
        return self.whole.get(leaf.value) if isinstance(leaf, cst.Name) else self._selected(leaf)

    def _leaves(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The selected elements in an expression, outermost."""
        if self._is_leaf(node):
            yield node
            return
        for child in values_in(node):
            yield from self._leaves(child)

    def _note(self, node: cst.CSTNode) -> None:
        """Count what is rewritten."""
        for leaf in self._leaves(node):
            self._reads += isinstance(leaf, cst.Name)
            self._selections += not isinstance(leaf, cst.Name)

    def _put(self, node: cst.CSTNode, text: str) -> None:
        self._reduced = True
        self._edits.append(replace(self._place(node), text))

    def _place(self, node: cst.CSTNode) -> Location:
        return self._chosen.location.at(node)

    def _kind(self, values: cst.BaseExpression) -> str | None:
        """The class of the dtype of what is selected."""
        self._knowledge.establish(self._definition())  # a comparison with a number tells
        known = self._knowledge.of(values)
        if known is not None:
            return known.kind
        value = self._chosen.value
        return value.dtype if isinstance(value, Tensor) and values.deep_equals(self._chosen.values) else None

    @property
    def _is_no_subscript(self) -> bool:
        return not isinstance(self._chosen.location.node, cst.Subscript)

    # -- the mask -----------------------------------------------------------------------------------------------------

    @property
    def _mask_value(self) -> Value | None:
        return self._chosen.mask_value

    def _missing(self) -> int | None:
        """How many dimensions the mask has less than the values, if that is known."""
        match self._chosen.value, self._chosen.mask_value:
            case Tensor(rank=int(rank)), Tensor(rank=int(mask_rank)):
                return max(rank - mask_rank, 0)
        return 0 if self._fits(self._chosen.values) else None

    def _fits(self, values: cst.BaseExpression) -> bool:
        """Whether the mask is known to have the shape of some values."""
        known, mask = self._knowledge.of(values), self._knowledge.of(self._definition())
        return known is not None and mask is not None and known.shape == mask.shape

    def _definition(self) -> cst.BaseExpression:
        """What the mask is computed by, where that is the same all the way from there."""
        mask = self._chosen.mask
        if not isinstance(mask, cst.Name):
            return mask
        block, at = self._block()
        made = [number for number, one in enumerate(block[:at]) if mask.value in assigned([one])]
        match [block[number] for number in made]:
            case [cst.Assign(targets=[_], value=value)] if not set(read(value)) & set(assigned(block[made[0] : at])):
                return value
            case _:
                return mask

    def _mask_twice(self, uses: int) -> cst.BaseExpression:
        """The mask, where it may be computed more than once and later than it was."""
        mask = self._chosen.mask
        calls = [node for node in nodes(mask) if isinstance(node, cst.Call)]
        pure = all((self._knowledge.api(one.func) or "random").partition(".")[0] != "random" for one in calls)
        if not pure and (uses > 1 or self.whole):
            raise GivenUp
        return mask

    @property
    def _weighed(self) -> str:
        """The name of the mask as numbers."""
        if self.weights is None:
            mask = self._mask_twice(1)
            self.weights = plain(mask) if self._in_place else self._names.fresh("weights")
        return self.weights
