"""Python and AutoGraph: what code asks a tensor for while it is traced, and what branches and loops cannot do."""

from __future__ import annotations

import re
from typing import Final

from ..pattern import Pattern, candidate, wording

_SYMBOLIC: Final = r"(?:Symbolic|Keras)?Tensor"
_NOT_CONVERTED: Final = (
    "While a function is traced its tensors have no values yet, so Python cannot ask one for its truth. AutoGraph would"
    " rewrite an `if` or `while`, but not here: Keras 3 calls layers without it, and it leaves comprehensions, lambdas,"
    " `assert`, `max`, `in` and chained comparisons alone."
)
_EAGER_ONLY: Final = candidate(
    "XLA411",
    "it calls a library function that works eagerly only, or with a tensor for a Python number",
    "call isin|call kron|call corrcoef|call bartlett|call stack|call unstack",
)
_TRUTH: Final = (
    candidate("XLA105", "the line is an `assert`", "assert"),
    candidate("XLA102", "it is a `while` loop", "while"),
    candidate("XLA106", "it calls `bool(..)`", "call bool"),
    candidate("XLA101", "it is an `if` or a conditional expression", "if|any"),
    candidate("XLA104", "it has `and`, `or`, `not`, `in`, `max` or a chained comparison", "operator"),
    _EAGER_ONLY,
)
_FINAL_SIZE: Final = (
    "Let the tensor have its final size from the start and write into it (`tf.TensorArray` of fixed size,\n"
    "`tf.tensor_scatter_nd_update`), or unroll a short loop over a Python `range`."
)
# What TensorFlow calls the graphs of loops and branches.
_INNER: Final = r"(?:\w*(?:while|body|cond|true|false|branch|case))"
_ESCAPED: Final = r"(?:cannot be accessed (?:here|from)|is out of scope and cannot be used here)"
_JOIN: Final = (
    candidate("XLA108", "an `if` on a tensor"),
    candidate("XLA110", "the `if` returns out of a loop"),
)

PATTERNS: Final[tuple[Pattern, ...]] = (
    # -- tracing: Python asks a tensor for what it has not yet
    Pattern(
        wording(r"[Uu]sing (?:a )?(?:symbolic )?`tf\.Tensor` as a Python `bool` is not allowed"),
        _NOT_CONVERTED,
        _TRUTH,
    ),
    Pattern(
        wording(r"condition of if statement expected to be `tf\.bool` scalar, got (?P<tensor>[^;\n]*)"),
        "AutoGraph converts this `if`, and a condition in the graph must be one boolean; a number has no truth there.",
        (candidate("XLA101", "an `if` on a tensor"),),
    ),
    Pattern(
        wording(r"condition of while loop expected to be `tf\.bool` scalar, got (?P<tensor>[^;\n]*)"),
        "AutoGraph converts this `while`, and a condition in the graph must be one boolean; a number has no truth"
        " there.",
        (candidate("XLA102", "a `while` on a tensor"),),
    ),
    Pattern(
        wording(r"Condition argument must be a boolean for XLA compilation"),
        "`and`, `or` and `if` became a conditional of the graph, whose condition XLA wants as a boolean, not a number.",
        (candidate("XLA104", "`and`, `or`, `not` on tensors", "operator|any"), candidate("XLA101", "an `if`", "if")),
        compiled=True,
    ),
    Pattern(
        wording(
            r"[Ii]terating over (?:a )?(?:symbolic )?`tf\.Tensor` is not allowed|Tensor objects are only iterable when"
            r"|Cannot iterate over a tensor with unknown first dimension|Tensor(?:s are|` object is) not iterable"
            rf"|len is not well defined for a symbolic Tensor|`{_SYMBOLIC}` object is not iterable"
        ),
        "While a function is traced a tensor has no elements that Python could walk through; without AutoGraph, and in"
        " comprehensions, unpacking, `zip` or `sum` even with it, nothing rewrites the loop.",
        (
            candidate("XLA103", "Python iterates over a tensor"),
            candidate("XLA106", "it calls `len(..)`", "call len"),
        ),
    ),
    Pattern(
        wording(r"Cannot convert a symbolic (?:tf\.)?Tensor \((?:\S*/)?strided_slice(?:_\d+)?:0\) to a numpy array"),
        "A number of a shape that the graph computes reaches NumPy. In code of TensorFlow or Keras (an LSTM, `tf.ones`)"
        " that is a NumPy of 1.20 or later with a TensorFlow that is older than it; in code of one's own the line"
        " calls NumPy with a tensor.",
        (candidate("XLA106", "NumPy is called with a tensor", "numpy"),),
        rewrite="pip install 'numpy<1.20'  # or a newer TensorFlow",
    ),
    Pattern(
        wording(
            r"Cannot convert a symbolic (?:(?:tf\.|Keras )?[Tt]ensor|Keras input/output)"
            rf"|`{_SYMBOLIC}` object has no attribute `(?:numpy|item|tolist|eval|__array__)`"
            rf"|(?:must be real number|(?:list|tuple) indices must be integers(?: or slices)?), not `?{_SYMBOLIC}"
            rf"|(?:float|int|complex)\(\) argument must be [^\n]*?not `?{_SYMBOLIC}"
            rf"|unsupported format string passed to {_SYMBOLIC}"
            rf"|`{_SYMBOLIC}` object cannot be interpreted as an integer"
            r"|numpy\(\) is only available when eager execution is enabled"
            r"|Cannot convert a Tensor of dtype \w+ to a NumPy array"
            r"|__(?:index|int|float)__ returned non-(?:int|float)"
        ),
        "Python or NumPy wants the content of a tensor now, and while the function is traced there is none.",
        (
            candidate("XLA106", "NumPy or Python reads a tensor"),
            candidate("XLA103", "Python repeats as often as a tensor says", "call range"),
            _EAGER_ONLY,
        ),
    ),
    # -- AutoGraph: what a loop or branch of the graph cannot do
    Pattern(
        wording(
            r"['\"\x60](?P<name>\w+[\[.][^\n]{1,99}?)['\"\x60] must also be initialized in the (?:else|main) branch"
        ),
        "A branch on a tensor puts `{name}` into a Python container or object, and only one branch does.",
        (candidate("XLA107", "a container is changed in one branch"),),
    ),
    Pattern(
        wording(
            r"['\"\x60](?P<name>\w+)['\"\x60] (?:must also be initialized in the (?:else|main) branch"
            r"|is None at the end of the (?:else|main) branch)"
        ),
        "Both branches of a conditional in the graph must give `{name}`, and one of them leaves it unset.",
        _JOIN,
    ),
    Pattern(
        wording(r"the (?:else|main) branch must also have a return statement"),
        "Both branches of a conditional in the graph must return, and here one goes on.",
        _JOIN,
    ),
    Pattern(
        wording(
            r"['\"\x60](?P<name>[^\x60'\"\n]{1,99})['\"\x60] (?:has dtype \w+ in the main branch, but dtype"
            r"|does not have the same nested structure in the main and else branches)"
            r"|true_fn and false_fn (?:arguments )?(?:to `?tf\.cond`? )?must (?:return|have) the same"
            r"|Incompatible return (?:types|values) of true_fn and false_fn"
            r"|Lengths of branch outputs of cond must match"
            r"|_make_indexed_slices_indices_types_match\b[^\x00]{0,200}?AssertionError"
            r"|TypeError: [^\n]*?true_fn and false_fn"
        ),
        "Both branches of a conditional in the graph must give the same structure and dtypes.",
        (candidate("XLA108", "an `if` on a tensor"),),
    ),
    Pattern(
        wording(
            r"left_branch_shape\.(?:dimensions_size|rank)\(\) [!=]= right_branch_shape\.(?:dimensions_size|rank)\(\)"
            r"|(?:[Oo]utput shapes of then and else )?[Bb]ranch(?:es)? (?:shapes? )?(?:do(?:es)? not|don't) match"
            r"|(?:true|then)_(?:computation|branch) [^\n]*(?:false|else)_(?:computation|branch) [^\n]*shape"
            r"|Retval\[\d+\] does not have (?:the )?(?:same|expected) shape"
        ),
        "Both branches of a conditional must give tensors of the same rank, and for a static shape of the same sizes.",
        (
            candidate("XLA108", "an `if` or `tf.cond` on a tensor", "any"),
            candidate("XLA101", "an `if` on `tf.rank(x)`, which Python knows"),
            candidate("XLA411", "`keras.ops.inner` of vectors", "call inner"),
        ),
        compiled=True,
    ),
    *(
        Pattern(
            wording(
                rf"{name} {enters} (?P<before>\([^)]*\))(?: before the loop)?, but (?:has )?shape (?P<after>\([^)]*\))"
            ),
            "`{name}` has shape {before} before the loop and {after} after one round: a loop of the graph keeps its"
            " shapes. Shape invariants would let TensorFlow go on, but XLA then has no size for it.",
            rewrite=_FINAL_SIZE,
        )
        for name, enters in (
            (r"['\"\x60](?P<name>[^\x60'\"\n]{1,99})['\"\x60]", "(?:has|enters the loop with) shape"),
            (r"The shape for (?P<name>\S+) is not an invariant for the loop\.", "It enters the loop with shape"),
        )
    ),
    Pattern(
        wording(rf"{_ESCAPED}[^\x00]{{0,400}}?[Dd]efined in:? FuncGraph\(name=(?!{_INNER})(?P<name>\w+)"),
        "A tensor of one trace (`{name}`) was kept in Python, as an attribute or in a list, and another trace uses it,"
        " in which it does not exist. No loop is in it: `build`, or an earlier call of the layer, made the tensor.",
        rewrite="Keep Python numbers and tf.Variables on the object; compute tensors anew in each call.",
    ),
    Pattern(
        wording(r"An op outside of the function building code is being passed a `Graph` tensor"),
        "A tensor that was made while something was traced, by a layer's `build` or by a model's definition, is used"
        " outside of that trace, where it has no value.",
        (candidate("XLA107", "a loop or branch of the graph kept it in Python", "call append"),),
        rewrite="Keep Python numbers and tf.Variables on the object; compute tensors anew in each call.",
    ),
    Pattern(
        wording(
            rf"(?:InaccessibleTensorError: (?!in user code)[^\n]*|{_ESCAPED}"
            r"|Trying to capture a tensor (?:\S+ )?from an inner function)"
        ),
        "A tensor that a loop or branch of the graph made was kept in Python (a list, an attribute, a `nonlocal`) and"
        " used outside, where it does not exist.",
        (candidate("XLA107", "Python state is changed inside a loop of tensors"),),
    ),
    Pattern(
        wording(
            r"break and return statements which depend on a TF condition are not supported"
            r"|condition of while loop started as non-Tensor, then changed to Tensor"
            r"|a return statement cannot be placed inside this TensorFlow loop"
        ),
        "A tensor decides whether the loop is left, and a loop of this kind cannot be left so.",
        (candidate("XLA110", "`break` or `return` under a condition on a tensor"),),
    ),
    Pattern(
        re.compile(
            r"in if_body\n[^\n]*\braise [^\x00]{0,900}?in user code:[^\x00]{0,2000}?\n\s+raise [^\n]*\n\s*\n?[^\n]*"
        ),
        "A branch on a tensor is traced whatever its condition will be, so the `raise` in it raises at once.",
        (candidate("XLA101", "an `if` on a tensor with `raise` in it"),),
    ),
    Pattern(
        wording(
            r"(?:AutoGraph could not transform|Entity) (?P<what>(?!<function Function\.)[^\n]*?)"
            r" (?:and will run it|could not be transformed and will be executed) as-is"
        ),
        "AutoGraph converts nothing in {what}: every `if`, `while` or `for` on a tensor in it fails.",
        (candidate("XLA101", "control flow on tensors in that function"),),
    ),
)
