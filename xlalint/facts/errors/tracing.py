"""Python and AutoGraph: what code asks a tensor for while it is traced, and what branches and loops cannot do."""

from __future__ import annotations

import re
from typing import Final

from .pattern import Pattern, candidate, wording

# Functions of two tensors, whose first argument decides the dtype.
_CALLED_WITH_TWO: Final = "|".join(
    f"call {name}"
    for name in (
        *("maximum", "minimum", "multiply", "subtract", "squared_difference", "pow", "floordiv", "floormod", "where"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("atan2", "igamma", "igammac", "polygamma", "xdivy", "xlogy", "zeta"),
    )
)
_SYMBOLIC: Final = r"(?:Symbolic|Keras)?Tensor"
_NOT_CONVERTED: Final = (
    "During tracing a tensor has no value, so Python cannot test its truth. AutoGraph converts an `if` or a `while`,"
    " but not here: Keras 3 calls layers without AutoGraph, and AutoGraph does not convert comprehensions, lambdas,"
    " `assert`, `max`, `in` and chained comparisons."
)
_EAGER_ONLY: Final = candidate(
    "XLA411",
    "it calls a library function that works only eagerly, or passes a tensor as a Python number",
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
        wording(r"Shape must be rank 1 but is rank 0 for '\{\{node (?:\w+/)*(?:Fill|Reshape)(?:_\d+)?\}\}"),
        "The shape is a single number, which eager execution takes. In a trace a shape has rank 1: write it as a list.",
        (candidate("XLA411", "a number is the shape", "call reshape|call fill|call constant|any"),),
    ),
    Pattern(
        wording(r"condition of if statement expected to be `tf\.bool` scalar, got (?P<tensor>[^;\n]*)"),
        "AutoGraph converts this `if` to a conditional in the graph, which needs a boolean scalar, not a number.",
        (candidate("XLA101", "an `if` on a tensor"),),
    ),
    Pattern(
        wording(r"condition of while loop expected to be `tf\.bool` scalar, got (?P<tensor>[^;\n]*)"),
        "AutoGraph converts this `while` to a loop in the graph, which needs a boolean scalar, not a number.",
        (candidate("XLA102", "a `while` on a tensor"),),
    ),
    Pattern(
        wording(r"Condition argument must be a boolean for XLA compilation"),
        "XLA needs a boolean condition, not a number. The condition is that of `tf.cond`, or of `and`, `or`, `if` or"
        " `while`, which became a conditional in the graph.",
        (
            candidate("XLA104", "`and`, `or`, `not` on tensors", "operator"),
            candidate("XLA101", "an `if`", "if"),
            candidate("XLA102", "a `while`", "while"),
        ),
        rewrite="Compare the number, or cast it to tf.bool, before it becomes the condition.",
        compiled=True,
    ),
    Pattern(
        wording(
            r"must have the same dtype, got tf\.\w+ != tf\.\w+"
            r"|has type int32 that does not match type (?:b?float|half)\w* of argument"
            r"|has type (?:b?float|half)\w* that does not match type int32 of argument"
            r"|has DataType int32 not in list of allowed values: [^\n]{0,40}float"
            r"|Tensor conversion requested dtype int32 for Tensor with dtype (?:b?float|half)"
        ),
        "An operator combines tensors of different dtypes, which TensorFlow never does. In eager execution `int(t)` is"
        " a Python number, which fits every dtype; AutoGraph converts it to an int32 tensor. Mixed precision is another"
        " cause.",
        (
            candidate("XLA111", "`int(t)` is combined with a float tensor"),
            candidate("XLA112", "a call has an integer before a float tensor: `tf.maximum(0, x)`", _CALLED_WITH_TWO),
        ),
        rewrite="Cast one of them: `tf.cast(n, x.dtype)`.",
    ),
    Pattern(
        wording(
            r"[Ii]terating over (?:a )?(?:symbolic )?`tf\.Tensor` is not allowed|Tensor objects are only iterable when"
            r"|Cannot iterate over a tensor with unknown first dimension|Tensor(?:s are|` object is) not iterable"
            rf"|len is not well defined for a symbolic Tensor|`{_SYMBOLIC}` object is not iterable"
        ),
        "During tracing Python cannot iterate over a tensor. AutoGraph converts only the `for` statement, not"
        " comprehensions, unpacking, `zip` or `sum`, and Keras 3 calls layers without AutoGraph.",
        (
            candidate("XLA103", "Python iterates over a tensor"),
            candidate("XLA106", "it calls `len(..)`", "call len"),
        ),
    ),
    Pattern(
        wording(
            r"Cannot convert a symbolic (?:tf\.)?Tensor \((?:\S*/)?(?:strided_slice|Size)(?:_\d+)?:0\) to a"
            r" numpy array"
        ),
        "A size that the graph computes reaches NumPy. In TensorFlow or Keras code (an LSTM, `tf.ones`), the cause is"
        " NumPy 1.20 or later with an older TensorFlow. In your own code, the line calls NumPy with a tensor.",
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
            rf"|Expected (?:any non-tensor type|\w+), but got (?:a tensor instead|Tensor\([^\n]*?of type `{_SYMBOLIC}`)"
            r"|ValueError: Tensor\([^\n]*?dtype=\w+\)"  # what NumPy is told while a constant is made
            r"|__(?:index|int|float)__ returned non-(?:int|float)"
        ),
        "Python or NumPy reads the value of a tensor, but during tracing it has none.",
        (
            candidate("XLA106", "NumPy or Python reads a tensor"),
            candidate("XLA103", "a tensor decides the number of iterations", "call range"),
            _EAGER_ONLY,
        ),
    ),
    Pattern(
        wording(r"Tensor is unhashable[^\n]*|unhashable type: '\w*Tracer'"),
        "Dicts and sets look for what is equal by its hash, and a tensor has none, eager or traced.",
        rewrite="Number the entries, stack them, and take one: keras.ops.take(keras.ops.stack(entries), i, axis=0).",
    ),
    # -- AutoGraph: what a loop or branch of the graph cannot do
    Pattern(
        wording(
            r"['\"\x60](?P<name>\w+[\[.][^\n]{1,99}?)['\"\x60] must also be initialized in the (?:else|main) branch"
        ),
        "Only one branch of a conditional on a tensor puts `{name}` into a Python container or object.",
        (candidate("XLA107", "a container is changed in one branch"),),
    ),
    Pattern(
        wording(
            r"['\"\x60](?P<name>\w+)['\"\x60] (?:must also be initialized in the (?:else|main) branch"
            r"|is None at the end of the (?:else|main) branch)"
        ),
        "Both branches of a conditional in the graph must set `{name}`, but one does not.",
        _JOIN,
    ),
    Pattern(
        wording(r"the (?:else|main) branch must also have a return statement"),
        "Both branches of a conditional in the graph must return, but one does not.",
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
        "Both branches of a conditional in the graph must return the same structure and dtypes.",
        (candidate("XLA108", "an `if` on a tensor"),),
    ),
    Pattern(
        wording(
            r"left_branch_shape\.(?:dimensions_size|rank)\(\) [!=]= right_branch_shape\.(?:dimensions_size|rank)\(\)"
            r"|(?:[Oo]utput shapes of then and else )?[Bb]ranch(?:es)? (?:shapes? )?(?:do(?:es)? not|don't) match"
            r"|(?:true|then)_(?:computation|branch) [^\n]*(?:false|else)_(?:computation|branch) [^\n]*shape"
            r"|Retval\[\d+\] does not have (?:the )?(?:same|expected) shape"
        ),
        "Both branches of a conditional must return tensors of the same rank and, for a static shape, the same sizes.",
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
            "`{name}` has shape {before} before the loop and {after} after one iteration, but loop variables keep their"
            " shapes. Shape invariants satisfy TensorFlow, but then XLA has no size for the variable.",
            (candidate("XLA114", "`tf.concat` or `tf.pad` makes it longer in each iteration", "call concat|call pad"),),
            rewrite=_FINAL_SIZE,
        )
        for name, enters in (
            (r"['\"\x60](?P<name>[^\x60'\"\n]{1,99})['\"\x60]", "(?:has|enters the loop with) shape"),
            (r"The shape for (?P<name>\S+) is not an invariant for the loop\.", "It enters the loop with shape"),
        )
    ),
    Pattern(
        wording(
            r"['\"\x60](?P<name>[^\x60'\"\n]{1,99})['\"\x60] has shape (?P<shape>\([^)]*\)|<unknown>)"
            r" (?P<when>before the loop|after one iteration), which does not conform with the shape invariant"
            r" (?P<said>\([^)]*\)|<unknown>)"
        ),
        "`shape_invariants` says {said} of `{name}`, which has shape {shape} {when}. TensorFlow refuses the loop,"
        " compiled or not. An invariant with `None` would satisfy it, but then XLA has no size for the variable.",
        rewrite=_FINAL_SIZE,
    ),
    Pattern(
        wording(rf"{_ESCAPED}[^\x00]{{0,400}}?[Dd]efined in:? FuncGraph\(name=(?!{_INNER})(?P<name>\w+)"),
        "Python kept a tensor of one trace (`{name}`), as an attribute or in a list, and another trace uses it, where"
        " it does not exist. No loop is involved: `build`, or an earlier call of the layer, created the tensor.",
        (candidate("XLA607", "the function, the layer or its `build` keeps a tensor"),),
        rewrite="Keep only Python numbers and tf.Variables on the object; compute tensors in each call.",
    ),
    Pattern(
        wording(r"An op outside of the function building code is being passed a `Graph` tensor"),
        "A tensor that was created during tracing, by a layer's `build` or a model's definition, is used outside that"
        " trace, where it has no value.",
        (
            candidate("XLA607", "`build`, or an earlier trace, kept it in Python"),
            candidate("XLA107", "a loop or branch of the graph kept it in Python", "call append"),
            candidate("XLA611", "compiled code left it in an attribute"),
        ),
        rewrite="Keep only Python numbers and tf.Variables on the object; compute tensors in each call.",
    ),
    Pattern(
        wording(
            rf"(?:InaccessibleTensorError: (?!in user code)[^\n]*|{_ESCAPED}"
            r"|Trying to capture a tensor (?:\S+ )?from an inner function)"
        ),
        "Python kept a tensor from a loop or branch in the graph (in a list, an attribute, a `nonlocal`), and code"
        " outside uses it, where it does not exist.",
        (
            candidate("XLA107", "Python state is changed inside a TensorFlow loop"),
            candidate("XLA607", "an earlier trace kept it"),
            candidate("XLA611", "compiled code left it in an attribute"),
        ),
    ),
    Pattern(
        wording(
            r"break and return statements which depend on a TF condition are not supported"
            r"|condition of while loop started as non-Tensor, then changed to Tensor"
            r"|a return statement cannot be placed inside this TensorFlow loop"
        ),
        "A tensor decides whether to leave the loop, which this kind of loop does not support.",
        (candidate("XLA110", "`break` or `return` under a condition on a tensor"),),
    ),
    Pattern(
        re.compile(
            r"in if_body\n[^\n]*\braise [^\x00]{0,900}?in user code:[^\x00]{0,2000}?\n\s+raise [^\n]*\n\s*\n?[^\n]*"
        ),
        "Tracing runs both branches of a condition on a tensor, so the `raise` in it always happens.",
        (candidate("XLA101", "an `if` on a tensor with `raise` in it"),),
    ),
    Pattern(
        wording(
            r"(?:AutoGraph could not transform|Entity) "
            r"(?P<what>(?!<(?:function Function\.|method-wrapper|ufunc))[^\n]*?)"
            r" (?:and will run it|could not be transformed and will be executed) as-is"
        ),
        "AutoGraph does not convert {what}: every `if`, `while` or `for` on a tensor in it fails.",
        (candidate("XLA101", "control flow on tensors in that function"),),
    ),
    Pattern(
        wording(
            r"unsupported operand type\(s\) for [^\n]{1,9}: [^\n]{0,40}`NoneType`"
            r"|bad operand type for unary -: `NoneType`"
            r"|not supported between instances of (?:`NoneType`|`\w+` and `NoneType`)"
            r"|`NoneType` object cannot be interpreted as an integer|\w+\(\) argument must be [^\n]{1,60}not `NoneType`"
            r"|must be real number, not NoneType|but got None of type `NoneType`|None values not supported"
            r"|Failed to convert elements of [\[(][^\n]{0,80}\bNone\b|Cannot convert a partially known TensorShape"
        ),
        "A dimension that is a number in eager execution is None while tracing: it depends on values (a mask,"
        " `tf.where`), or the input has an open dimension.",
        (
            candidate("XLA209", "the dimension of what a mask, `tf.where` or `tf.unique` selects"),
            candidate("XLA305", "a dimension of the input is open"),
        ),
        rewrite="Read the number as a tensor: `tf.shape(x)[0]`.",
        beside=re.compile(r"in user code:|polymorphic_function|def_function|func_graph|autograph|tf__"),
    ),
    Pattern(
        wording(
            r"Cannot take the length of shape with unknown rank"
            r"|as_list\(\) is not defined on an unknown TensorShape"
        ),
        "A shape is not known while tracing, not even its rank: the tensor comes from `tf.py_function`, a generator or"
        " a file, which tell no shape.",
        (
            candidate("XLA316", "nothing says what shape a Python function in the dataset returns"),
            candidate("XLA304", "`from_generator` declares no shapes"),
        ),
        rewrite="set_shape in dataset.map, or an output_signature with the rank",
    ),
    Pattern(
        wording(
            r"Cannot iterate over a shape with unknown rank|Cannot convert a partially known TensorShape"
            r"|Tried to convert `shape` to a tensor and failed\. Error: None values not supported"
        ),
        "A dimension of a shape is not known while tracing: an input has an open dimension, or the tensor comes from"
        " `tf.py_function`, a generator or a file, which tell no shape.",
        rewrite="Read a dimension that is None as a tensor: `tf.shape(x)[0]`, or -1 in a `reshape`.",
    ),
    Pattern(
        wording(r"KerasTensor cannot be used as input to a TensorFlow function"),
        "An input of a functional model is passed to a function of TensorFlow. In Keras 3 only layers and `keras.ops`"
        " take it; Keras 2 made a layer of the call.",
        rewrite="keras.ops instead of tf, or the call inside of a layer's `call`",
    ),
)
