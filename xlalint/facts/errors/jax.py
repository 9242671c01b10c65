"""JAX, and Keras on JAX: what code asks a tracer for, which has no value, and tracers that outlive their trace."""

from __future__ import annotations

from typing import Final

from .pattern import Pattern, candidate, wording

_ERRORS: Final = "https://docs.jax.dev/en/latest/errors.html#jax.errors."
_NO_VALUE: Final = "While JAX traces a function, its arrays are tracers: they have a shape and a dtype, and no value."
_STATIC: Final = (
    "A size must be a Python number during tracing: a setting of the layer, or x.shape[axis]. Compute\n"
    "on the whole size and mask the rest (keras.ops.arange(most) < n). Outside of Keras a static argument of jax.jit\n"
    "compiles once for every value."
)
_SELECT: Final = (
    "Keep the shape and mask the values: keras.ops.where(mask, x, 0.0), then sums and means over what is kept\n"
    "(keras.ops.sum(..) / keras.ops.count_nonzero(mask))."
)
_READ: Final = (
    "Compute with keras.ops in place of NumPy, math and Python's float and int; read values outside of the trace.\n"
    "TensorFlow's functions do not take JAX's tracers: write them with keras.ops, too."
)
_SLICED: Final = (
    "keras.ops.slice(x, [start], [length]) takes a start that is computed and a length that is not;\n"
    "keras.ops.take(x, start + keras.ops.arange(length), axis=0) does, too. For a length that varies, mask."
)
_HIDDEN: Final = (
    "keras.config.disable_traceback_filtering() before the model is built shows JAX's own error, and the line.\n"
    "In the layer that is named look for `if`, `while`, float(..), int(..), np.f(..), arange(n) and x[:n] of tensors."
)
# What may stand above the line that says what asks.
_ABSTRACT: Final = r"(?:Abstract tracer value encountered where concrete value is expected[^\n]*\s+)?"
_TRACER: Final = r"(?:JitTracer|Tracer|Traced|DynamicJaxprTracer)"
_SIZED: Final = (
    "arange", "bincount", "eye", "full", "linspace", "one_hot", "ones", "pad", "repeat", "split", "tile", "zeros",
)  # fmt: skip
_TRUTH: Final = (
    candidate("XLA105", "the line is an `assert`", "assert"),
    candidate("XLA102", "it is a `while` loop", "while"),
    candidate("XLA106", "it calls `bool(..)`", "call bool"),
    candidate("XLA101", "it is an `if` or a conditional expression", "if|any"),
    candidate("XLA104", "it has `and`, `or`, `not`, `in`, `max` or a chained comparison", "operator|call sorted"),
    candidate("XLA205", "it is a size", "call top_k|call slice|call resize"),
)

PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        wording(r"Attempted boolean conversion of (?:traced array|the JAX Tracer object)[^\n]*"),
        f"{_NO_VALUE} Python cannot test the truth of one, and JAX converts no `if` or `while`.",
        _TRUTH,
        rewrite="keras.ops.where(c, a, b) for values, keras.ops.cond(c, f, g) for work, keras.ops.while_loop for"
        " `while`;\nkeras.ops.logical_and, logical_or and logical_not for `and`, `or` and `not`.",
        link=_ERRORS + "TracerBoolConversionError",
    ),
    Pattern(
        wording(r"Array boolean indices must be concrete[^\n]*"),
        "A boolean mask selects, so the shape of the result depends on data. JAX has no such shapes.",
        (candidate("XLA201", "x[mask]", "any"), candidate("XLA202", "it is `unique`", "call unique")),
        rewrite=_SELECT,
        link=_ERRORS + "NonConcreteBooleanIndexError",
    ),
    Pattern(
        wording(_ABSTRACT + r"The size argument of jnp\.(?:flat)?nonzero must be statically specified[^\n]*"),
        "The number of positions where a condition holds depends on data. JAX has no such shapes.",
        (candidate("XLA203", "`where` with one argument, or `nonzero`"),),
        rewrite=_SELECT,
        link=_ERRORS + "ConcretizationTypeError",
    ),
    Pattern(
        wording(_ABSTRACT + r"The (?:error arose for the first|size) argument of jnp\.unique[^\n]*"),
        "The number of distinct values depends on data. JAX has no such shapes.",
        (candidate("XLA202", "`unique`"),),
        rewrite="keras.ops.unique(x, size=most, fill_value=0), where there are never more than `most`.",
        link=_ERRORS + "ConcretizationTypeError",
    ),
    Pattern(
        wording(
            _ABSTRACT + r"(?:It arose in (?:the )?(?:jnp|jax\.numpy)\.\w+ argument[^\n]*"
            r"|in jax\.nn\.one_hot argument `num_classes`[^\n]*"
            r"|The error arose in jax\.numpy\.(?:reshape|arange|broadcast_to|tile|full|zeros|ones|eye|linspace)\b[^\n]*"
            rf"|Shapes must be 1D sequences of concrete values of integer type, got [^\n]*{_TRACER}[^\n]*"
            rf"|Failed to convert '{_TRACER}[^\n]* to a shape: [^\n]*"
            r"|In a call to primitive \w+, the value of parameter \w+ was not hashable: [^\n]*Tracer[^\n]*"
            r"|(?:When jit-compiling jnp\.repeat, the total number of repeats must be static)[^\n]*"
            r"|(?:total_repeat_length|num_segments|repeats?) [^\n]{0,80}must be (?:static|specified statically)[^\n]*)"
        ),
        f"{_NO_VALUE} A size that is computed from data is not a number, and JAX compiles for fixed shapes only.",
        (candidate("XLA205", "it is a size"),),
        rewrite=_STATIC,
        link=_ERRORS + "ConcretizationTypeError",
    ),
    Pattern(
        wording(
            r"(?:Array slice indices must have static start/stop/step|Slice entries must be static integers)[^\n]*"
        ),
        f"{_NO_VALUE} The ends of a slice decide its shape. A single position, x[i], may be computed.",
        (candidate("XLA205", "a slice from or to a position that is computed"),),
        rewrite=_SLICED,
    ),
    Pattern(
        wording(_ABSTRACT + r"[^\n]*(?:axis|axes)[^\n]{0,40} must be (?:known statically|static)[^\n]*"),
        f"{_NO_VALUE} An axis must be a Python number.",
        (candidate("XLA210", "it is an axis"),),
        rewrite="Pass the axis as a Python number. Outside of Keras, jax.jit(f, static_argnums=..).",
        link=_ERRORS + "ConcretizationTypeError",
    ),
    Pattern(
        wording(
            _ABSTRACT + r"(?:The problem arose with the `?\w+(?:\(\))?`? (?:function|method)[^\n]*"
            r"|unsupported format string passed to (?:DynamicJaxprTracer|JitTracer)[^\n]*)"
        ),
        f"{_NO_VALUE} Python reads one here.",
        (
            candidate("XLA106", "Python reads a tensor"),
            candidate("XLA205", "it is the number of segments, or another size", "call segment_sum"),
        ),
        rewrite=_READ,
        link=_ERRORS + "ConcretizationTypeError",
    ),
    Pattern(
        wording(r"Non-hashable static arguments are (?:used|not supported)[^\n]*"),
        "jax.jit finds compiled code by the values of static arguments; lists, dicts and arrays have no hash.",
        rewrite="Pass a tuple for a list, or take the argument out of static_argnums and static_argnames.",
    ),
    Pattern(
        wording(rf"'{_TRACER}' object has no attribute '[^\n]*"),
        "JAX's arrays do not have all attributes of TensorFlow's tensors or of NumPy's arrays.",
        (
            candidate("XLA106", "`.numpy()` reads a tensor"),
            candidate("XLA412", "it is another attribute of TensorFlow's tensors"),
        ),
        rewrite=_READ,
    ),
    Pattern(
        wording(r"JAX arrays are immutable and do not support in-place item assignment[^\n]*"),
        "JAX's arrays cannot be changed, compiled or not.",
        rewrite="keras.ops.slice_update(x, [start], values), keras.ops.scatter_update, or x.at[index].set(values).",
    ),
    Pattern(
        wording(r"(?:Cannot interpret value of type|Error interpreting argument to) [^\n]* as an abstract array[^\n]*"),
        "jax.jit takes arrays, numbers, and tuples, lists and dicts of these. It is passed another object.",
        rewrite="Let the function close over the object, or name the argument in static_argnums or static_argnames.",
    ),
    Pattern(
        wording(
            r"(?:true_fun and false_fun output must have identical types"
            r"|cond branches must have equal output types but they differ)[^\n]*"
        ),
        "JAX runs one of two branches with one result: both must have the same structure, shapes and dtypes.",
        (candidate("XLA108", "branches that return different things"),),
        rewrite="Give both branches the same shapes and dtypes: keras.ops.cast, keras.ops.reshape.",
    ),
    Pattern(
        wording(
            r"(?:(?:body_fun|scan carry) output and input must have (?:identical types|same type structure)"
            r"|(?:[Ss]canned function|(?:scan|while_loop|fori_loop) body function) carry input and carry output must"
            r" have (?:equal types|the\s+same pytree structure))[^\n]*"
        ),
        "JAX's loops keep structure, shapes and dtypes: an iteration must return what it was given.",
        rewrite="Start with the shapes and dtypes of the result: keras.ops.zeros_like(..), keras.ops.cast(0, x.dtype).",
    ),
    Pattern(
        wording(r"Reverse-mode differentiation does not work for lax\.(?:while_loop|fori_loop)[^\n]*"),
        "How often such a loop runs is not known while JAX traces, and what its gradient needs of each iteration has no"
        " size. `maximum_iterations` does not help.",
        (candidate("XLA113", "Keras trains through a loop of `keras.ops`"),),
        rewrite="keras.ops.scan, or keras.ops.fori_loop(0, N, ..) with Python numbers, and a mask for what comes after"
        " the end.\nkeras.ops.stop_gradient(x) of what goes into a loop that is not trained.",
    ),
    Pattern(
        wording(r"The numpy\.ndarray conversion method __array__\(\) was called on[^\n]*"),
        f"{_NO_VALUE} NumPy, or TensorFlow, reads one here.",
        (candidate("XLA106", "NumPy or TensorFlow reads a tensor"),),
        rewrite=_READ,
        link=_ERRORS + "TracerArrayConversionError",
    ),
    Pattern(
        wording(r"The __index__\(\) method was called on[^\n]*"),
        f"{_NO_VALUE} It is used as a position in a Python list, or as the number of iterations of a `range`.",
        (
            candidate("XLA103", "a tensor decides the number of iterations", "call range"),
            candidate("XLA106", "a position in a Python list"),
        ),
        rewrite="keras.ops.take(keras.ops.convert_to_tensor(items), i, axis=0) for a position in a list,\n"
        "keras.ops.fori_loop(0, n, step, x) for `range(n)`.",
        link=_ERRORS + "TracerIntegerConversionError",
    ),
    Pattern(
        wording(
            r"Abstract tracer value encountered where\s+concrete value is expected[^\n]*\s+"
            r"The \w+\(\) method was called on the JAX Tracer[^\n]*"
        ),
        f"{_NO_VALUE} A method is called that needs one, or its memory.",
        (candidate("XLA106", "Python reads a tensor"),),
        rewrite=_READ,
        link=_ERRORS + "ConcretizationTypeError",
    ),
    Pattern(
        wording(
            _ABSTRACT
            + r"(?:The (?:tolist|tobytes|item)\(\) method was called|The error occurred because of argument)[^\n]*"
            r"|Abstract tracer value encountered where concrete value is expected[^\n]*"
        ),
        f"{_NO_VALUE} Something asks for the value of one: a size, an axis, a Python number.",
        (
            candidate("XLA106", "Python reads a tensor", "call float|call int|call item|call tolist"),
            candidate("XLA205", "it is a size", "|".join(f"call {name}" for name in _SIZED)),
            candidate("XLA210", "it is an axis", "call sum|call mean|call max|call concatenate"),
        ),
        rewrite=_STATIC,
        link=_ERRORS + "ConcretizationTypeError",
    ),
    Pattern(
        wording(r"Encountered an unexpected tracer\.[^\n]*|Leaked trace[^\n]*"),
        "A value that JAX traced was kept beyond its trace (an attribute of a layer, a global name, a variable that was"
        " assigned in `jax.jit` outside of Keras's trainer) and is used now.",
        (candidate("XLA607", "a layer, its `build` or a function keeps it"),),
        rewrite="Return values instead of keeping them. A layer's state belongs in self.add_weight(.., trainable=False)"
        " and\nits assign(..), seeds in a keras.random.SeedGenerator that __init__ makes. In your own jax.jit, use\n"
        "layer.stateless_call(..).",
        link=_ERRORS + "UnexpectedTracerError",
    ),
    Pattern(
        wording(
            r"Shapes must be 1D sequences of concrete values of integer type, got \([^\n()]*\bNone\b[^\n()]*\)[^\n]*"
        ),
        "A layer or model got inputs of unknown size (a keras.Input), and `call` failed. Old versions of Keras show"
        " this error in place of the first.",
        rewrite=_HIDDEN,
    ),
    Pattern(
        wording(r"`?str`? object has no attribute `?_error_repr`?"),
        "Keras builds errors again from their texts to add the layer's name, and tracer errors do not bear it: this"
        " is one of them, and its kind and its line are lost. The layer asks a tracer for a value that it has not.",
        rewrite=_HIDDEN,
        link=_ERRORS.partition("#")[0],
    ),
    Pattern(
        wording(r"\[JAX RNG\] When tracing a JAX function, you should only use seeded random ops[^\n]*"),
        "Random numbers without a seed come from a generator of the process, which what JAX traces cannot advance.",
        (candidate("XLA603", "a random operation without a seed"),),
        rewrite="self.seed = keras.random.SeedGenerator() in __init__, and seed=self.seed in each random operation.",
    ),
    Pattern(
        wording(r"You are attempting to create a variable while in a stateless scope[^\n]*"),
        "Keras's trainer traces `call` with the variables that there are; one that is created meanwhile would be lost.",
        (candidate("XLA409", "a variable is created in `call`"),),
        rewrite="Create variables, layers and metrics in __init__ or build.",
    ),
    Pattern(
        wording(
            r"(?:Triggering `?__jax_array__\(\)`? during abstractification is no longer supported"
            r"|Argument '<(?:Keras)?Variable[^\n]* is not a valid JAX type)[^\n]*"
        ),
        "A variable of Keras's is passed to a function of JAX's, which takes arrays only.",
        rewrite="Pass variable.value, or keras.ops.convert_to_tensor(variable).",
    ),
    Pattern(
        wording(r"Unable to automatically build the model\.[^\n]*"),
        "Keras traces the model once before it trains, with JAX whether or not it is built, also with"
        " `run_eagerly=True`. That failed; the error follows below, behind `Exception encountered`.",
        rewrite=_HIDDEN,
    ),
)
