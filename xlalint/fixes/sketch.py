"""Rewrites of Python control flow as TensorFlow operations, as text for a person.

Each function builds the text from the source's own expressions. The sketches name TensorFlow `tf`, and stand on their
own: they are shown, not applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent, indent
from typing import Final

import libcst as cst

_WRITER: Final = cst.Module([])
_INDENT: Final = "    "

# Expressions that need no parentheses beside an operator.
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.List, cst.Tuple)

_COMPARISONS: Final[dict[type[cst.BaseCompOp], str]] = {
    cst.GreaterThan: "assert_greater",
    cst.GreaterThanEqual: "assert_greater_equal",
    cst.LessThan: "assert_less",
    cst.LessThanEqual: "assert_less_equal",
    cst.Equal: "assert_equal",
    cst.NotEqual: "assert_none_equal",
}

# `t = t <operator> K` where the test holds, written with an indicator that is 1.0 there and 0.0 elsewhere.
_INDICATED: Final[dict[type[cst.CSTNode], str]] = {
    cst.Divide: "{t} / ({factor})",
    cst.Multiply: "{t} * ({factor})",
    cst.Add: "{t} + {k} * indicator",
    cst.Subtract: "{t} - {k} * indicator",
    cst.DivideAssign: "{t} / ({factor})",
    cst.MultiplyAssign: "{t} * ({factor})",
    cst.AddAssign: "{t} + {k} * indicator",
    cst.SubtractAssign: "{t} - {k} * indicator",
}

_REDUCTIONS: Final = {
    "max": "tf.reduce_max",
    "min": "tf.reduce_min",
    "sum": "tf.reduce_sum",
    "any": "tf.reduce_any",
    "all": "tf.reduce_all",
}
_PAIRWISE: Final = {"max": "tf.maximum", "min": "tf.minimum"}

_CASTS: Final = {"bool": "tf.bool", "int": "tf.int32", "float": "tf.float32", "complex": "tf.complex64"}

# NumPy functions whose TensorFlow counterpart has another name; the rest is found under `tf.experimental.numpy`.
_NUMPY: Final = {
    "sum": "tf.reduce_sum",
    "mean": "tf.reduce_mean",
    "prod": "tf.reduce_prod",
    "max": "tf.reduce_max",
    "amax": "tf.reduce_max",
    "min": "tf.reduce_min",
    "amin": "tf.reduce_min",
    "any": "tf.reduce_any",
    "all": "tf.reduce_all",
    "std": "tf.math.reduce_std",
    "var": "tf.math.reduce_variance",
    "array": "tf.convert_to_tensor",
    "asarray": "tf.convert_to_tensor",
    "concatenate": "tf.concat",
    "clip": "tf.clip_by_value",
    "ceil": "tf.math.ceil",
    "log": "tf.math.log",
    "log1p": "tf.math.log1p",
    "isnan": "tf.math.is_nan",
    "isinf": "tf.math.is_inf",
    "isfinite": "tf.math.is_finite",
    "power": "tf.pow",
    "mod": "tf.math.floormod",
    "arange": "tf.range",
    "linalg.norm": "tf.norm",
}
_SAME_IN_NUMPY: Final = re.compile(
    r"abs|sqrt|square|exp|expm1|sin|cos|tan|tanh|maximum|minimum|argmax|argmin|cumsum|sign|floor|round|squeeze|reshape"
    r"|transpose|tile|stack|einsum|matmul|ones_like|zeros_like|where|expand_dims|sort|argsort"
)


def code_of(node: cst.CSTNode) -> str:
    """The source text of a node, without comments and line breaks around it."""
    return _WRITER.code_for_node(node).strip()


# -- conditions -------------------------------------------------------------------------------------------------------


def condition(node: cst.BaseExpression, tf: str = "tf") -> str:
    """A test as one tensor expression: `and`, `or`, `not`, chains and `in` as operations."""
    match node:
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            name = "logical_and" if isinstance(operator, cst.And) else "logical_or"
            return f"{tf}.{name}({condition(left, tf)}, {condition(right, tf)})"
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return f"{tf}.logical_not({condition(expression, tf)})"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.In(), container)]):
            return f"{tf}.reduce_any({tf}.equal({_plain(left)}, {_plain(container)}))"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.NotIn(), container)]):
            return f"{tf}.reduce_all({tf}.not_equal({_plain(left)}, {_plain(container)}))"
        case cst.Comparison(left=left, comparisons=[_, _, *_] as targets):
            return _chain(left, targets, tf)
        case _:
            return _plain(node)


def _chain(left: cst.BaseExpression, targets: Sequence[cst.ComparisonTarget], tf: str) -> str:
    parts = []
    for target in targets:
        parts.append(_plain(cst.Comparison(_bare(left), [target])))
        left = target.comparator
    text = parts.pop()
    while parts:
        text = f"{tf}.logical_and({parts.pop()}, {text})"
    return text


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without parentheses around it."""
    return node.with_changes(lpar=[], rpar=[]) if getattr(node, "lpar", ()) else node


def _plain(node: cst.BaseExpression) -> str:
    """The text of an expression that stands as an argument; line breaks inside become spaces."""
    return re.sub(r"\s*\n\s*", " ", code_of(node if isinstance(node, cst.Tuple) else _bare(node)))


def _operand(node: cst.BaseExpression) -> str:
    """The text of an expression where an operator follows."""
    text = _plain(node)
    return text if isinstance(node, _ATOMS) else f"({text})"


# -- branches ---------------------------------------------------------------------------------------------------------


def branch(statement: cst.CSTNode) -> str | None:
    """A branch on a tensor as selection: with an indicator, `tf.where` or `tf.cond`, whichever fits it."""
    match statement:
        case cst.IfExp(test=test, body=body, orelse=orelse):
            return _choose(condition(test), body, orelse)
        case cst.If():
            return _indicator(statement) or _selection(statement) or _two_functions(statement)
        case cst.CompIf(test=test):
            return f"keep every element and weigh it: indicator = tf.cast({condition(test)}, tf.float32)"
        case _:
            return None


def _choose(test: str, body: cst.BaseExpression, orelse: cst.BaseExpression) -> str:
    """`tf.where` where computing both sides costs little, else `tf.cond`."""
    if max(_calls(body), _calls(orelse)) > 1:
        return f"tf.cond({test}, lambda: {_plain(body)}, lambda: {_plain(orelse)})"
    return f"tf.where({test}, {_plain(body)}, {_plain(orelse)})"


def _calls(node: cst.CSTNode) -> int:
    return isinstance(node, cst.Call) + sum(map(_calls, node.children))


def statements(body: cst.BaseSuite) -> Sequence[cst.CSTNode]:
    """The statements of a block, small ones one by one."""
    if isinstance(body, cst.SimpleStatementSuite):
        return body.body
    return [
        part for line in body.body for part in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,))
    ]


def _indicator(statement: cst.If) -> str | None:
    """`if c: t = t / 2.0` as `t = t / (1.0 + indicator)`: no branch, and no second copy of `t`."""
    if statement.orelse is not None:
        return None
    match statements(statement.body):
        case [cst.AugAssign(target=target, operator=operator, value=cst.Float() as literal)]:
            pass
        case [
            cst.Assign(
                targets=[cst.AssignTarget(target)],
                value=cst.BinaryOperation(left=left, operator=operator, right=cst.Float() as literal),
            )
        ] if left.deep_equals(target):
            pass
        case _:
            return None
    pattern = _INDICATED.get(type(operator))
    if pattern is None:
        return None
    name, k = code_of(target), literal.value
    factor = "1.0 + indicator" if float(k) == 2.0 else f"1.0 + ({k} - 1.0) * indicator"
    value = pattern.format(t=name, factor=factor, k=k)
    return f"indicator = tf.cast({condition(statement.test)}, tf.float32)\n{name} = {value}"


def _selection(statement: cst.If) -> str | None:
    """`if c: y = a` (`else: y = b`, or returns) as `y = tf.where(c, a, b)`."""
    body, orelse = _single(statement.body), statement.orelse
    if body is None:
        return None
    head, value = body
    test = condition(statement.test)
    match orelse:
        case None if head == "return":
            return None
        case None:
            target = head.removesuffix(" =")
            if _calls(value) > 1:
                return f"{head} tf.cond({test}, lambda: {_plain(value)}, lambda: {target})"
            return f"{head} tf.where({test}, {_plain(value)}, {target})"
        case cst.Else(body=other):
            single = _single(other)
            if single is None or single[0] != head:
                return None
            return f"{head} {_choose(test, value, single[1])}"
        case cst.If():
            rest = _selection(orelse)
            if rest is None or not rest.startswith(f"{head} ") or _calls(value) > 1:
                return None
            return f"{head} tf.where({test}, {_plain(value)}, {rest.removeprefix(f'{head} ')})"
    return None


def _single(body: cst.BaseSuite) -> tuple[str, cst.BaseExpression] | None:
    """What a block of one assignment or return begins with ("y =", "return"), and its value."""
    match statements(body):
        case [cst.Assign(targets=[cst.AssignTarget(target)], value=value)]:
            return f"{code_of(target)} =", value
        case [cst.Return(value=value)] if value is not None:
            return "return", value
        case [cst.AugAssign(target=target, operator=operator, value=value)]:
            text = f"{code_of(target)} {code_of(operator).removesuffix('=').strip()} {_operand(value)}"
            return f"{code_of(target)} =", cst.parse_expression(text)
        case _:
            return None


def _two_functions(statement: cst.If) -> str:
    """Any other branch: the two sides as functions for `tf.cond`."""
    body, orelse, test = statement.body, statement.orelse, condition(statement.test)
    if any(isinstance(line, cst.Raise) for line in statements(body)):
        return assertion(cst.UnaryOperation(cst.Not(), statement.test))
    sides = [body, orelse.body] if isinstance(orelse, cst.Else) else [body]
    names = list(dict.fromkeys(name for side in sides for name in _assigned(side)))
    result = ", ".join(names) or "None"
    returns = isinstance(statements(body)[-1], cst.Return)
    outcome = "return " if returns else f"{result} = " if names else ""
    functions = [_function("when_true", body, result)]
    match orelse:
        case cst.Else(body=other):
            functions.append(_function("when_false", other, result))
            call = f"tf.cond({test}, when_true, when_false)"
        case None if not returns:
            same = f"({result})" if len(names) > 1 else result
            call = f"tf.cond({test}, when_true, lambda: {same})"
        case _:
            call = f"tf.cond({test}, when_true, otherwise)  # otherwise: a function of the code that follows"
    return "\n".join([*functions, outcome + call])


def _function(name: str, body: cst.BaseSuite, result: str) -> str:
    """A function around a block, which returns `result` where the block has no return of its own.

    A name that the block both reads and assigns comes in as a default argument.
    """
    assigned, read = dict.fromkeys(_assigned(body)), set(_read(body))
    parameters = ", ".join(f"{local}={local}" for local in assigned if local in read)
    text = _block(body)
    if not isinstance(statements(body)[-1], cst.Return):
        text += f"\nreturn {result}"
    return f"def {name}({parameters}):\n{indent(text, _INDENT)}"


def _read(node: cst.CSTNode) -> Iterator[str]:
    """The names that a piece of code reads."""
    match node:
        case cst.Name(value=name):
            yield name
        case cst.AssignTarget(target=cst.Name()):
            return
        case cst.Attribute(value=owner):
            yield from _read(owner)
        case _:
            for child in node.children:
                yield from _read(child)


def _block(body: cst.BaseSuite) -> str:
    if isinstance(body, cst.SimpleStatementSuite):
        return "\n".join(code_of(part) for part in body.body)
    return dedent(cst.Module(body.body).code).strip("\n")  # type: ignore[arg-type]


def _assigned(body: cst.BaseSuite) -> Iterator[str]:
    """The names and attributes that a block assigns, in order."""
    for line in statements(body):
        match line:
            case cst.Assign(targets=targets):
                for target in targets:
                    yield from _targets(target.target)
            case cst.AugAssign(target=target) | cst.AnnAssign(target=target):
                yield from _targets(target)
            case cst.If(body=inner, orelse=orelse):
                yield from _assigned(inner)
                if isinstance(orelse, cst.Else):
                    yield from _assigned(orelse.body)
            case cst.For(body=inner) | cst.While(body=inner) | cst.With(body=inner):
                yield from _assigned(inner)


def _targets(target: cst.CSTNode) -> Iterator[str]:
    match target:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _targets(element.value)
        case cst.Name() | cst.Attribute():
            yield code_of(target)


# -- loops ------------------------------------------------------------------------------------------------------------


def while_loop(statement: cst.CSTNode) -> str | None:
    """A `while` on a tensor as `tf.while_loop`. None when the body leaves the loop by itself or assigns attributes."""
    match statement:
        case cst.While(test=test, body=body) if not _leaves(body):
            names = list(dict.fromkeys(_assigned(body)))
        case _:
            return None
    if not names or not all(map(str.isidentifier, names)):
        return None
    carried = ", ".join(names) if len(names) > 1 else f"{names[0]},"
    function = f"def body({', '.join(names)}):\n{indent(_block(body), _INDENT)}\n{_INDENT}return {carried}"
    call = f"tf.while_loop(lambda {', '.join(names)}: {condition(test)}, body, ({carried}), maximum_iterations=LIMIT)"
    return f"{function}\n({carried}) = {call}"


def _leaves(body: cst.CSTNode) -> bool:
    """Whether a block holds `break`, `continue` or `return` (nested functions aside)."""
    if isinstance(body, cst.Break | cst.Continue | cst.Return):
        return True
    return not isinstance(body, cst.FunctionDef | cst.Lambda) and any(map(_leaves, body.children))


def iteration(form: str, iterable: cst.BaseExpression) -> str:
    """What to write instead of iterating a tensor in the given form."""
    text = _plain(iterable)
    match form, iterable:
        case (("for range" | "range"), cst.Call(args=[cst.Arg(value=limit)])):
            bound = _plain(limit)
            return f"for i in range(LIMIT):  # a static bound\n    y = tf.where(i < {bound}, <next y>, y)"
        case "comprehension" | "map" | "filter" | "list" | "tuple", _:
            return f"tf.vectorized_map(fn, {text}), or, over a static first dimension, tf.unstack({text})"
        case "sorted", _:
            return f"tf.sort({text})"
        case "reversed", _:
            return f"tf.unstack(tf.reverse({text}, axis=[0]))"
        case (("max" | "min" | "sum" | "any" | "all"), _):
            return f"{_REDUCTIONS[form]}({text}, axis=0)"
        case (("unpacking" | "star" | "zip" | "enumerate"), _):
            return f"tf.unstack({text})  # needs a static first dimension"
        case _:
            return (
                f"one operation over the whole of {text} (tf.reduce_sum, tf.cumsum, tf.vectorized_map, tf.scan),\n"
                f"or, over a static first dimension, unrolled: tf.unstack({text})"
            )


# -- assertions, host reads -------------------------------------------------------------------------------------------


def assertion(test: cst.BaseExpression) -> str:
    """`assert a > b` as `tf.debugging.assert_greater(a, b)`, with what XLA makes of it."""
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator, right)]) if (
            type(operator) in _COMPARISONS
        ):
            call = f"tf.debugging.{_COMPARISONS[type(operator)]}({_plain(left)}, {_plain(right)})"
        case _:
            text = condition(test)
            call = f"tf.debugging.Assert({text}, [{text}])"
    return f"{call}  # XLA compiles it to nothing: check the value outside the compiled code where it must hold"


def builtin_over(name: str, call: cst.BaseExpression) -> str | None:
    """`max(a, b)`, `any([a, b])`: the TensorFlow operation over the same arguments."""
    match call:
        case cst.Call(args=[cst.Arg(value=cst.GeneratorExp() as generator)]):
            return f"{_REDUCTIONS[name]}([{_plain(generator)}], axis=0)"
        case cst.Call(args=[cst.Arg(value=only)]):
            return f"{_REDUCTIONS[name]}({_plain(only)}, axis=0)"
        case cst.Call(args=[first, *rest]) if name in _PAIRWISE and not any(arg.keyword for arg in rest):
            text = _plain(first.value)
            for argument in rest:
                text = f"{_PAIRWISE[name]}({text}, {_plain(argument.value)})"
            return text
        case _:
            return None


def host_read(reader: str, node: cst.CSTNode) -> str | None:
    """The tensor operation in place of a read on the host."""
    match node:
        case cst.Call(args=[cst.Arg(value=only)]) if reader in _CASTS:
            return f"tf.cast({_plain(only)}, {_CASTS[reader]})"
        case cst.Call(args=[cst.Arg(value=only)]) if reader == "len":
            return f"{_operand(only)}.shape[0]"
        case cst.Call(args=[cst.Arg(value=only)]) if reader == "round":
            return f"tf.round({_plain(only)})"
        case cst.Call(func=cst.Attribute(value=owner)) if reader.startswith("."):
            return f"{code_of(owner)}  # the tensor itself"
        case cst.Call(args=arguments) if reader.startswith("np."):
            return f"{_counterpart(reader.removeprefix('np.'))}({', '.join(_argument(arg) for arg in arguments)})"
        case cst.Call(args=arguments) if reader.startswith("math."):
            return f"tf.{reader}({', '.join(_argument(arg) for arg in arguments)})"
        case cst.Subscript(value=base, slice=[cst.SubscriptElement(cst.Index(value=index))]):
            return f"tf.gather(tf.stack({_plain(base)}), {_plain(index)})"
        case _:
            return None


def _counterpart(name: str) -> str:
    if name in _NUMPY:
        return _NUMPY[name]
    return f"tf.{name}" if _SAME_IN_NUMPY.fullmatch(name) else f"tf.experimental.numpy.{name}"


def _argument(argument: cst.Arg) -> str:
    return code_of(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT))
