"""XLA: sizes that must be known, shapes that depend on data, lists of tensors, and what fails in other ways."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from .pattern import Pattern, candidate, wording

_BOUNDED: Final = (
    "A selection by data (a boolean mask, one-argument `tf.where`, `tf.unique`) returned a tensor with a bounded"
    " dynamic shape, which this operation does not support: {what}."
)
_MASK: Final = candidate("XLA201", "the tensor comes from a boolean mask", "call boolean_mask|call compress")
_SELECTIONS: Final = (
    replace(_MASK, forms=_MASK.forms | {"any"}),
    candidate("XLA203", "it comes from `tf.where(condition)`", "call where|call nonzero|call argwhere"),
    candidate("XLA202", "it comes from `tf.unique`", "call unique"),
    candidate("XLA208", "it comes from non-maximum suppression", "call non_max_suppression"),
    candidate("XLA206", "it is a slice from an index of a loop, or from a random one", "slice"),
)
_BATCHES: Final = (
    candidate("XLA302", "the last batch is smaller: `batch` without `drop_remainder=True`"),
    candidate("XLA305", "a dimension is unknown, as in `keras.Input(shape=(None,))`"),
    _MASK,
    *_SELECTIONS[1:],
)
_TPU: Final = re.compile(r"TPU|tpu_compil|Compilation failure: |CrossReplicaSum")
_UNBOUNDED: Final = (
    "A TPU compiles a program for fixed shapes, but here a dimension is known only at run time: the batch dimension,"
    " because the last batch may be smaller, or a dimension declared as unknown. If neither applies, it is a selection"
    " by data (a boolean mask, one-argument `tf.where`)."
)
_DYNAMIC: Final = (
    r"(?P<what>Squeeze op does not support bounded dynamic dimensions"
    r"|(?:XLA has not implemented )?dynamic sized slice with non-trivi?al stride"
    r"|Split op doesn't support split for the dynamic dimension|Asked to propagate a dynamic dimension"
    r"|Dynamic reshape is not implemented|[Ff]ail(?:ed)? to proof the equality of two dimensions"
    r"|Reshape's input dynamic dimension|RET_CHECK failure \([^\n]*dynamic_\w+\.cc:\d+\))[^\n]*"
)
_BOUND: Final = r"\b(?:pred|bf16|[sufc]\d+)\[(?:\d+,)*<=\d+[^\n]*"
_SHAPE_DEPENDS: Final = (
    "XLA must know every shape and axis at compile time, but this argument of `{op}` is computed from data at run"
    " time: it is a loop variable, or it is drawn at random."
)

# Operations whose constant argument is an axis, a permutation or a position rather than a size.
_POSITIONED: Final = (
    "All Any ArgMax ArgMin ConcatV2 Cumprod Cumsum ExpandDims GatherV2 InvertPermutation Max Mean Min Prod"
    " ResourceStridedSliceAssign ReverseV2 Roll Slice Split SplitV StridedSlice Sum TensorStridedSliceUpdate Transpose"
)
_CONCRETE: Final = r"XLA compilation requires that operator arguments that represent shapes or dimensions[^\n]*"
_ALL: Final = rf"(?:\.?\s*(?:`\s*)?{_CONCRETE})?"
# Calls that have to know an argument, whatever else is compiled for every value.
_FRAMED: Final = "call frame|call stft|call extract_sequences|call swapaxes"

PATTERNS: Final[tuple[Pattern, ...]] = (
    # -- XLA: sizes that must be known
    Pattern(
        wording(r"requires? a fixed tensor list size"),
        "XLA reserves a list for what each iteration of a loop stores (for the gradient, or in a `tf.TensorArray`), but"
        " the number of iterations has no bound.",
        (
            candidate("XLA109", "the gradient goes through `tf.while_loop`"),
            candidate("XLA113", "Keras trains through a loop of `keras.ops`"),
            candidate("XLA102", "it goes through a `while` statement", "while"),
            candidate("XLA204", "a `tf.TensorArray` of unknown size", "call TensorArray"),
            candidate("XLA407", "it goes through a call with a loop inside", "call expm|call matrix_exponential"),
        ),
        compiled=True,
    ),
    Pattern(
        wording(
            r"[Ii]nput \d+ to (?:node `[^\x60'\"\s]+` with op `?(?P<op>\w+)`?|`?(?P<old>\w+)`? [Oo]p(?:erator)?)"
            rf" must be a compile[- ]time constant{_ALL}|Argument to function must be a compile-time constant{_ALL}"
            rf"|while evaluating input \d+ of (?P<name>\S+) as a compile-time constant|{_CONCRETE}"
            r"|`?\b(?P<short>\w+)`? Op must be a compile[- ]time constant"
            r"|with op `?(?P<title>\w+)`? must be a compile[- ]time constant"
        ),
        _SHAPE_DEPENDS,
        (
            candidate("XLA206", "it is an axis or an index", "|".join(f"op {op}" for op in _POSITIONED.split())),
            candidate("XLA205", "it is a size"),
            candidate("XLA103", "it is a `for .. in range(n)` over a tensor"),
            candidate("XLA202", "it is `keras.ops.unique(.., size=n)`", "call unique"),
            candidate("XLA411", "it is a length or step of frames, or an axis that is swapped", _FRAMED),
        ),
        compiled=True,
    ),
    Pattern(
        wording(r"Input and output shapes of loop body do not match[^\n]*"),
        "A variable of a loop that runs in the graph has another shape after an iteration than before it. TensorFlow"
        " allows that where `shape_invariants` says so; XLA compiles a loop for one shape of each variable.",
        (
            candidate("XLA114", "`tf.concat` or `tf.pad` makes it longer in each iteration", "call concat|call pad"),
            candidate("XLA204", "a `tf.TensorArray` of unknown size", "call TensorArray"),
        ),
        compiled=True,
    ),
    # -- XLA: bounded dynamic shapes
    Pattern(
        wording(
            r"(?:Dynamic (?:Spatial Convolution|concatenation) is not supported"
            r"|(?:CustomCall|\w+) is not supported to have a dynamic dimension"
            r"|[Dd]ynamic (?:shape|dimension)[^\n]{0,80}non(?:-| )trivial window"
            r"|dataset doesn't have (?:a )?static batch shape)[^\n]*"
        ),
        _UNBOUNDED,
        _BATCHES,
    ),
    *(Pattern(wording(words), _UNBOUNDED, _BATCHES, compiled=True, beside=_TPU) for words in (_DYNAMIC, _BOUND)),
    Pattern(
        wording(_DYNAMIC),
        _BOUNDED,
        _SELECTIONS,
        compiled=True,
    ),
    Pattern(
        wording(
            r"(?:Incompatible shapes: \[|Shapes of all inputs must match|Input to reshape is a tensor with \d+ values"
            r"|Shape of tensor [^\n]{1,200} is not compatible with expected shape|Matrix size-incompatible: In\[0\]"
            r"|Tried to explicitly squeeze dimension \d+ but dimension was not 1)"
            r"[^\x00]{0,3000}?tf2xla conversion failed"
        ),
        "XLA compares shapes at compile time. If eager execution accepts these, one of them depends on data (a boolean"
        " mask, one-argument `tf.where`, `tf.unique`) or is a slice from an index that a loop or chance makes, and XLA"
        " uses its upper bound.",
        _SELECTIONS,
        compiled=True,
    ),
    Pattern(
        wording(_BOUND),
        "A shape with `<=` in this message is a bounded dynamic shape. It comes from a selection by data (a boolean"
        " mask, one-argument `tf.where`, `tf.unique`), and this operation does not support it.",
        _SELECTIONS,
        compiled=True,
    ),
    # -- XLA: lists of tensors
    Pattern(
        wording(r"Invalid TensorList shape: (?P<given>[^\n]*?), expected: (?P<wanted>[^\n]*)"),
        "Under XLA all elements of a `tf.TensorArray` have one shape, but this one differs from the first.",
        rewrite="Pad the elements to one shape before they are written, and keep their lengths in a second tensor.",
        compiled=True,
    ),
    Pattern(
        wording(r"Slice dim size 1 greater than dynamic slice dimension: 0"),
        "The code reads an element of an empty list of tensors: `tf.map_fn` or a loop over an axis of length 0, or a"
        " `tf.TensorArray` created with `size=0`.",
        (candidate("XLA204", "a `tf.TensorArray` created with `size=0`", "call TensorArray|call read|call gather"),),
        rewrite="Give the array its size from the start; leave the loop out where the static length is 0.",
        compiled=True,
    ),
    Pattern(
        wording(
            r"TensorArray dtype is \w+ but Op is trying to write dtype \w+"
            r"|Invalid data types; op elements \w+ but list elements \w+"
        ),
        "A function returns another dtype than `tf.map_fn` or the `tf.TensorArray` declares. XLA raises no error: it"
        " reads the bits of one dtype as the other.",
        (candidate("XLA604", "`tf.map_fn` with another dtype"),),
    ),
    Pattern(
        wording(r"Expected bool for argument `(?:dynamic_size|resize_if_index_out_of_bounds)` not"),
        "`dynamic_size` of `tf.TensorArray` is True or False, not a number, and XLA ignores it.",
        (candidate("XLA204", "a `tf.TensorArray` that has to grow"),),
    ),
    Pattern(
        wording(r"TensorList crossing the XLA/TF boundary is not implemented"),
        "The forward pass is compiled, but the gradient is taken outside it. Lists of tensors that a loop stores cannot"
        " leave a compiled function.",
        rewrite="Put `jit_compile=True` on the whole step that holds the `tf.GradientTape`, not on the forward pass.",
    ),
    # -- XLA: what fails in other ways
    Pattern(
        wording(r"Expected comparison type SIGNED\. actual: TOTALORDER"),
        "`tf.random.shuffle` of a float vector does not compile on a CPU with TensorFlow 2.21; of an integer vector it"
        " does.",
        (candidate("XLA411", "a vector of floats is shuffled"),),
        compiled=True,
    ),
    Pattern(
        wording(r"Current implementation does not yet support pivoting"),
        "XLA's kernel for `tf.linalg.tridiagonal_solve` does not support pivoting.",
        (candidate("XLA411", "`tf.linalg.tridiagonal_solve` without `partial_pivoting=False`"),),
        compiled=True,
    ),
    Pattern(
        wording(r"Cannot concatenate arrays that differ in dimensions other than the one being concatenated"),
        "The code concatenates parts of different shapes. `keras.ops.associative_scan` creates such parts itself.",
        (candidate("XLA411", "`keras.ops.associative_scan`", "call associative_scan|any"),),
        compiled=True,
    ),
    Pattern(
        wording(r"<function (?:\w+\.)*make_\w+_function\.<locals>\.\w+ at \w+> triggered tf\.function retracing"),
        "Keras keeps retracing its own step. Each new model has its own step, and each new shape of the input arrays"
        " causes a new trace, and with XLA a new compilation.",
        (
            candidate("XLA302", "the last batch is smaller than the others", "call fit|call evaluate"),
            candidate("XLA307", "`tf.function` is called in a loop", "call function"),
        ),
        rewrite="Create the model once, outside the loop. Pass `predict` arrays of one shape, or of a few (padded).\n"
        "For single small arrays call the model itself: model(x, training=False).",
    ),
    Pattern(
        wording(r"<function \w+\.[\w.]+\.<locals>\.[\w.<>]+ at \w+> triggered tf\.function retracing"),
        "Another function creates this function on each call. A new `tf.function` is traced again, and with XLA"
        " compiled again, whatever its arguments are.",
        (
            candidate("XLA307", "the `tf.function` is created in a loop, or in a function that a loop calls"),
            candidate("XLA306", "its arguments are Python numbers that change, such as the counter of a loop"),
        ),
    ),
    Pattern(
        wording(r"<function \w+\.<locals>\.[\w.<>]+ at \w+> triggered tf\.function retracing"),
        "Another function creates this function. If that runs once, it is retraced for each new Python number,"
        " Python object or shape among its arguments. If that runs again and again, each new `tf.function` is traced"
        " again whatever its arguments are. With XLA each trace is compiled again.",
        (
            candidate(
                "XLA307", "the `tf.function` is created in a loop, or in a function that a loop calls", "call function"
            ),
            candidate(
                "XLA302", "one shape is that of full batches, the other that of a smaller last batch", "call fit"
            ),
            candidate(
                "XLA306", "its arguments are Python numbers that change, such as the counter of a loop", "call range"
            ),
        ),
        rewrite="Create the function once, and pass it tensors of one shape, or of a few (padded).",
    ),
    Pattern(
        wording(r"triggered tf\.function retracing"),
        "TensorFlow keeps retracing the function. Each new Python number, Python object or shape among its arguments"
        " causes a new trace, and with XLA a new compilation. An `input_signature` with None, or"
        " `reduce_retracing=True`, stops the retracing; XLA still compiles for each shape.",
        (
            candidate("XLA306", "its arguments are Python numbers that change, such as the counter of a loop"),
            candidate("XLA307", "`tf.function` is called in a loop, or in a function that a loop calls"),
            candidate("XLA301", "its arguments are texts of varying length"),
            candidate("XLA302", "one shape is that of full batches, the other that of a smaller last batch"),
            candidate("XLA309", "its argument grows in each iteration"),
        ),
    ),
    Pattern(
        wording(r"Constant folding an instruction is taking > "),
        "XLA evaluates a large constant while it compiles: a tensor of zeros, ones or indices, or a large array"
        " that the function takes from Python. It is slow once for each compilation, not wrong.",
        rewrite="Pass the large array to the function as an argument, or keep it in a tf.Variable.",
    ),
    Pattern(
        wording(r"Very slow compile\?"),
        "One compilation takes long. The usual cause is a Python loop that tracing unrolls: the program grows with the"
        " number of iterations, and the compile time grows faster than the program.",
        (candidate("XLA311", "a Python loop with many iterations is unrolled"),),
    ),
)
