"""What each function of the API returns, as far as it is written by hand: a result in a small language, and the names.

Most results are measured (`api_measured`, `facts/signatures.json`, in the same language). By hand is what measuring
does not decide: what a function gives back that a caller hands in (`nest`, `leaf`), objects and host state
(`@..`, `static`, `none`), names that today's packages no longer have or cannot show eagerly, functions that take one
rank only or whose rank follows from how a list of sizes is written, flags of calls that XLA cannot compile
(`bounded`), NumPy's own names, and what stands for a whole namespace (`REST`). Where an entry is more exact than the
measured one, it agrees with every call that was seen; what is written here wins.

A bare word stands for that name in every numeric namespace (`NUMERIC`); a dotted name stands for itself and wins. Names
are canonical. The language of results, read by `api_results`:

- `none`, `static`, `unknown`, `array`, `nest` (tensors in some structure), `leaf` (what the arguments hold), `shape` (a
  tuple of Python ints), `dtype`, `self` (the object whose method is called); `@tf.Module`: an instance of that class;
- `a, b`: a tuple; `[a]`: a list of unknown length;
- `dtype/rank/flag`: a tensor. Dtype: a class, or `like` the first data argument, `promote` (the widest of all), or
  like with a change: `real` (ints become floats), `count` (bools become ints), `truth` (bools become floats), `part`
  (complex numbers become floats), or `?`. Rank: a number, `same` as the first data argument, `+1`, `-2`, .. (so many
  more or less), `all` (broadcast), `above` (one more than that), `reduce` (by `axis`), `fold` (by `axis`, one dimension
  where there is none), `flat` (one dimension where there is no `axis`), `expand` (by as many as `axis` names),
  `gather`, `reshape` (by a shape), `squeeze`, `tile`, `einsum`, `mask`, `matmul`, `?`. `like:y`, `same:y`,
  `promote:x+y`: of these arguments. Flag: `shape` (made of shapes, not of content), `filled` (constants in the shape
  of an argument), `chance` (drawn), `data` (from outside), `layer` (computed with weights), `variable`, `bounded` (its
  shape depends on values), `fixed` (its shape is not that of an argument).
"""

from __future__ import annotations

from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Namespaces in which one word means one thing.
NUMERIC: Final = words("tf tf.math tf.nn tf.linalg tf.bitwise keras.ops keras.backend keras.activations tnp np")

RESULTS: Final = {
    "bool/same": "tnp.isinf tnp.isneginf tnp.isposinf keras.ops.in_top_k tf.math.in_top_k np.isin",
    "like/same": """
        keras.backend.identity tnp.round np.rint np.invert np.bitwise_invert np.nan_to_num ensure_shape tf.constant
        keras.ops.convert_to_tensor np.matrix_transpose keras.ops.pad keras.backend.slice tf.bitcast
        Print tf.scatter_nd_update tf.tensor_scatter_nd_update tf.tensor_scatter_nd_add tf.tensor_scatter_nd_sub
        tf.tensor_scatter_nd_max tf.tensor_scatter_nd_min keras.ops.scatter_update tf.assign tf.assign_add
        tf.assign_sub tf.scatter_update tf.scatter_add tf.scatter_sub keras.backend.update keras.backend.update_add
        keras.backend.update_sub keras.backend.moving_average_update keras.backend.print_tensor
    """,
    "real/same": """
        np.asin np.acos np.atan np.asinh np.acosh np.atanh keras.backend.erf tf.nn.local_response_normalization
    """,
    "float/same": "tf.image.resize_bilinear tf.signal.dct tf.signal.idct keras.backend.constant",
    "int/same": "np.argpartition count_up_to invert_permutation np.digitize searchsorted",
    "promote/all": """
        np.pow np.fmax np.fmin np.fmod np.left_shift np.right_shift np.bitwise_left_shift np.bitwise_right_shift
        np.copysign
    """,
    "real/all": "np.atan2",
    "like/reduce": "np.nanmax np.nanmin",
    "real/reduce": "np.median np.nanstd np.nanvar np.nanmedian keras.backend.logsumexp",
    "real/?": "np.quantile np.percentile",
    "like/?": "np.matvec tf.nn.conv2d_transpose tf.depth_to_space",
    "int/1/fixed": "tf.histogram_fixed_width",
    "int/?/fixed": "np.bincount",
    "int/?": "tf.random_index_shuffle tf.sets.size",
    "like/-1": "np.concat",
    "like/squeeze": "keras.ops.squeeze tf.squeeze tnp.squeeze",
    "int/1/bounded": "tf.image.non_max_suppression",
    "steps": "np.unstack tf.unstack keras.ops.unstack",
    "[like/same]": "keras.ops.split np.array_split hsplit vsplit dsplit",
    "int/1/shape": "tf.broadcast_dynamic_shape",
    "promote/1/fixed": "range arange",
    "float/+1/fixed": "tnp.linspace",
    "float/1/fixed": "tf.signal.hann_window tf.signal.hamming_window kaiser bartlett blackman hamming hanning",
    "float/2/fixed": "eye keras.backend.eye tri keras.ops.identity tnp.identity",
    "float/reshape/chance": "keras.backend.random_binomial",
    "float/?/chance": "tnp.random.rand tnp.random.randn",
    "int/2/chance": "tf.random.categorical tf.multinomial tf.random.stateless_categorical keras.random.categorical",
    "int/?/chance": "tnp.random.poisson",
    "float/0/data": "tf.timestamp",
    "string/0/data": "tf.io.read_file",
    "string/1/data": "tf.io.matching_files",
    "?/?/data": "tf.placeholder tf.placeholder_with_default keras.KerasTensor keras.backend.placeholder",
    "like/same/variable": "tf.Variable keras.backend.variable",
    "leaf": """
        tf.nest.map_structure tf.nest.pack_sequence_as keras.tree.map_structure keras.tree.pack_sequence_as
        keras.tree.map_structure_up_to keras.tree.map_shape_structure keras.tree.traverse keras.tree.lists_to_tuples
        tf.tuple
    """,
    "[leaf]": "tf.nest.flatten keras.tree.flatten tf.identity_n",
    "float/reshape/variable": """
        keras.Variable tf.get_variable tf.get_local_variable keras.backend.random_uniform_variable
        keras.backend.random_normal_variable
    """,
    "float/?/data": "keras.Input",
    "nest": """
        cond case switch_case while_loop map_fn scan foldl foldr vectorized_map py_function numpy_function py_func
        keras.ops.cond keras.ops.switch keras.ops.map keras.ops.fori_loop keras.ops.associative_scan
        keras.backend.switch keras.backend.in_train_phase keras.backend.in_test_phase keras.ops.custom_gradient
        keras.ops.vectorize keras.ops.jvp tf.nn.dynamic_rnn tf.nn.static_rnn tf.nn.bidirectional_dynamic_rnn
        tf.io.parse_example tf.io.parse_single_example tf.io.parse_sequence_example
        tf.io.parse_single_sequence_example tf.io.decode_csv tf.recompute_grad keras.remat
    """,
    "[nest]": "tf.gradients tf.hessians keras.backend.gradients",
    "string/0": """
        tf.image.encode_jpeg tf.compat.v1.summary.audio tf.compat.v1.summary.histogram tf.compat.v1.summary.image
        tf.compat.v1.summary.scalar tf.compat.v1.summary.text
    """,
    "string/?": "tf.strings.unicode_encode",
    "int/3": "tf.image.decode_jpeg tf.image.decode_png tf.image.decode_image",
    "float/?": "tf.edit_distance",
    "like/1/bounded, int/1": "tf.unique",
    "like/1/bounded, int/1, int/1/bounded": "tf.unique_with_counts",
    "like/1/bounded, int/1/bounded": "tf.setdiff1d",
    "like/same, int/same": "approx_min_k approx_top_k",
    "like/?, like/?": "keras.backend.ctc_decode",
    "like/same, int/?": "lu_factor tf.nn.max_pool_with_argmax",
    "int/1/bounded, float/1/bounded": "tf.image.non_max_suppression_with_scores",
    "float/2, int/0": "tf.audio.decode_wav",
    "float/3, float/2, float/2, int/1": "tf.image.combined_non_max_suppression",
    "int/1, int/1, float/3": "tf.image.sample_distorted_bounding_box",
    "[like/?], like/0": "tf.clip_by_global_norm",
    "float/?, float/?, float/?": "keras.backend.rnn",
    "float/?, float/?, float/?, float/?": "sufficient_statistics",
    "int/1, float/?, float/?": """
        tf.random.log_uniform_candidate_sampler tf.random.uniform_candidate_sampler
        tf.nn.learned_unigram_candidate_sampler tf.nn.fixed_unigram_candidate_sampler
    """,
    "int/?, [nest]": "tf.io.decode_proto",
    "[nest], float/?": "tf.nn.ctc_greedy_decoder tf.nn.ctc_beam_search_decoder",
    "shape": "tf.TensorShape np.shape",
    "dtype": "tf.DType tnp.promote_types keras.backend.dtype keras.ops.dtype np.dtype np.result_type",
    "static": """
        executing_eagerly inside_function tf.get_static_value tf.executing_eagerly_outside_functions
        tf.dimension_value tf.dimension_at_index tf.get_current_name_scope tf.get_logger keras.tree.is_nested
        keras.backend.floatx keras.backend.epsilon keras.backend.image_data_format keras.backend.backend
        keras.utils.standardize_dtype keras.utils.is_keras_tensor keras.backend.learning_phase keras.backend.get_uid
        keras.backend.result_type keras.backend.name_scope keras.backend.is_tensor issubdtype finfo iinfo
        tf.name_scope tf.device tf.init_scope tf.control_dependencies tf.variable_scope tf.variable_creator_scope
        tf.get_variable_scope tf.control_flow_v2_enabled
        tf.type_spec_from_value tf.make_tensor_proto tf.make_ndarray
        tf.debugging.is_numeric_tensor tf.resource_variables_enabled tf.summary.should_record_summaries
        tf.distribute.has_strategy tf.distribute.in_cross_replica_context tf.get_seed tf.load_library keras.name_scope
        tf.global_variables tf.trainable_variables tf.local_variables tf.all_variables tf.model_variables
        tf.moving_average_variables tf.get_collection tf.get_collection_ref tf.colocate_with tf.make_template tnp.size
        keras.activations.serialize keras.losses.serialize keras.metrics.serialize keras.optimizers.serialize
        keras.initializers.serialize keras.regularizers.serialize keras.constraints.serialize keras.layers.serialize
    """,
    "none": """
        tf.print tf.group tf.no_op tf.Assert tf.random.set_seed tf.set_random_seed tf.assert_rank tf.assert_equal
        tf.assert_greater tf.assert_less keras.tree.assert_same_structure keras.backend.set_floatx
        keras.backend.set_epsilon keras.utils.clear_session keras.backend.set_value
        keras.backend.set_image_data_format keras.backend.set_learning_phase keras.backend.reset_uids tf.io.write_file
        tf.io.write_graph np.random.seed tf.disable_v2_behavior tf.enable_eager_execution tf.disable_eager_execution
        tf.enable_v2_behavior tf.add_to_collection tf.random.set_global_generator tf.global_variables_initializer
    """,
    "array": "keras.backend.eval keras.backend.get_value keras.backend.batch_get_value",
    "unknown": """
        tf.function tf.custom_gradient tf.no_gradient tf.load_op_library tf.import_graph_def tf.wrap_function
        keras.backend.function tf.register_tensor_conversion_function tf.variable_op_scope grad_pass_through
        keras.activations.get keras.activations.deserialize
    """,
    "@tf.RaggedTensor": """
        tf.ragged.boolean_mask tf.ragged.map_flat_values tf.ragged.stack tf.strings.split tf.strings.bytes_split
        tf.strings.unicode_decode tf.strings.unicode_split
    """,
    "@tf.SparseTensor": "tf.sparse.add tf.sparse.map_values tf.sparse.mask tf.sparse_placeholder",
    "@tf.SparseTensor, bool/1": "tf.sparse.fill_empty_rows",
    "[@tf.SparseTensor]": "tf.sparse.split",
    "@tf.RaggedTensor, @tf.RaggedTensor": """
        tf.strings.unicode_decode_with_offsets tf.strings.unicode_split_with_offsets
    """,
    "@keras.Model": "keras.models.load_model keras.models.clone_model keras.models.model_from_json",
    "@keras.layers.Layer": "keras.layers.deserialize",
    "@keras.losses.Loss": "keras.losses.get keras.losses.deserialize",
    "@keras.metrics.Metric": "keras.metrics.get keras.metrics.deserialize",
    "@keras.optimizers.Optimizer": "keras.optimizers.get keras.optimizers.deserialize",
    "@keras.initializers.Initializer": """
        keras.initializers.get keras.initializers.deserialize tf.constant_initializer tf.zeros_initializer
        tf.ones_initializer tf.random_normal_initializer tf.random_uniform_initializer tf.truncated_normal_initializer
        tf.glorot_uniform_initializer tf.glorot_normal_initializer tf.variance_scaling_initializer
        tf.orthogonal_initializer
    """,
    "@keras.regularizers.Regularizer": "keras.regularizers.get",
    "@tf.data.Dataset": """
        tf.data.Dataset.from_tensor_slices tf.data.Dataset.from_tensors tf.data.Dataset.from_generator
        tf.data.Dataset.list_files tf.data.Dataset.range tf.data.Dataset.zip tf.data.Dataset.sample_from_datasets
        tf.data.Dataset.choose_from_datasets tf.data.Dataset.random tf.data.Dataset.load tf.data.TFRecordDataset
        tf.data.TextLineDataset tf.data.FixedLengthRecordDataset tf.data.experimental.make_csv_dataset
        keras.utils.image_dataset_from_directory keras.utils.text_dataset_from_directory
        keras.utils.audio_dataset_from_directory keras.utils.timeseries_dataset_from_array
    """,
    "@tf.random.Generator": """
        tf.random.get_global_generator tf.random.Generator.from_seed tf.random.Generator.from_state
        tf.random.Generator.from_key_counter tf.random.Generator.from_non_deterministic_state
    """,
    "@tf.distribute.Strategy": "tf.distribute.get_strategy",
    "@tf.distribute.ReplicaContext": "tf.distribute.get_replica_context",
    "@tf.train.Checkpoint": "tf.train.Checkpoint",
    "@tf.train.CheckpointManager": "tf.train.CheckpointManager",
    "@tf.summary.SummaryWriter": "tf.summary.create_file_writer tf.summary.create_noop_writer",
    "promote/einsum": "einsum",
    "like:updates/reshape/fixed": "tf.scatter_nd",
    "like:values/reshape/fixed": "keras.ops.scatter",
}

# Namespaces whose capitalised names are functions.
CAPITAL_FUNCTIONS: Final = words("tf.raw_ops keras.applications")

# What is left of whole namespaces.
REST: Final = {
    "static": """
        tf.config tf.io.gfile tf.gfile tf.compat tf.types tf.test tf.profiler keras.config keras.saving
        keras.distribution keras.visualization keras.export keras.mixed_precision keras.dtype_policies tf.version
        tf.sysconfig tf.security tf.tools keras.datasets tf.dtypes tf.graph_util
    """,
    "none": "tf.debugging tf.summary tf.logging",
    "unknown": """
        tf.contrib tf.estimator tf.feature_column tf.app tf.flags tf.saved_model tf.train tf.tpu tf.distribute
        tf.autograph tf.experimental tf.distributions tf.lite keras.utils keras.preprocessing keras.models
        keras.optimizers keras.callbacks keras.tree keras.wrappers keras.quantizers keras.legacy keras.estimator
        tf.data tf.user_ops tf.python keras.src tf.resource_loader tf.initializers keras.initializers
        keras.regularizers keras.constraints
    """,
    "float/?": "keras.losses keras.metrics keras.layers tf.losses",
    "float/?, float/?": "tf.metrics",
    "real/same": "keras.activations",
    "float/same": "tf.layers",
    "?/?/chance": "tf.random keras.random",
    "string/?": "tf.strings",
    "nest": "tf.raw_ops",
    "@keras.Model": "keras.applications",
}

# What `where` returns when it is given the condition alone.
POSITIONS: Final = {"tf.where": "int/2/bounded", "tnp.where": "[int/1/bounded]", "keras.ops.where": "[int/1/bounded]"}

# Functions of NumPy that make one number of an array, and those that make an array of numbers.
NUMPY_SCALARS: Final = words(
    """
    prod sum max amax min amin mean median std var any all argmax argmin count_nonzero ndim size dot
    """
)
# Its types, which make scalars of numbers: `tf.function` takes these for tensors, as arrays (measured).
NUMPY_NUMBERS: Final = words("float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64")
NUMPY_MAKERS: Final = words(
    """
    array asarray arange zeros ones full empty eye identity linspace logspace tri load loadtxt genfromtxt fromfile
    frombuffer memmap rand randn permutation
    """
)

# A dtype given by hand decides; these are the names of that parameter.
DTYPE_PARAMETERS: Final = ("dtype", "out_type", "output_type", "Tout", "type")

# Words of functions that take no integers, so that what they give is floating, or complex, which is rare.
FLOATING: Final = words(
    """
    exp expm1 log log1p sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf erfc lgamma digamma
    sigmoid log_sigmoid softmax log_softmax softplus softsign elu selu gelu silu swish reduce_logsumexp logsumexp
    l2_normalize
    """
)

# Parameters that say how, not on what.
CONFIGURATION: Final = words(
    """
    axis axes name dtype out_type output_type Tout type keepdims keep_dims dimension dim shape size perm depth k num
    repeats multiples paddings num_or_size_splits num_split reduction_indices begin strides shift transpose_a
    transpose_b adjoint_a adjoint_b exclusive reverse seed stddev batch_dims dims equation subscripts newshape
    new_shape validate_indices indexing method maxlen minlength maxlength num_segments pad_mode mode constant_values
    alpha rtol atol message sorted on_value off_value ord
    """
)

# Words whose first parameter in practice only receives a tensor: evidence about an unknown argument.
# Elementwise math is not among them: it takes Python numbers as well.
TENSOR_FIRST: Final = words(
    """
    reshape expand_dims squeeze split unstack tile transpose permute_dimensions shape size rank argmax argmin
    argsort sort top_k one_hot unique unique_with_counts stop_gradient boolean_mask gather gather_nd take
    take_along_axis slice strided_slice pad reverse roll flip cumsum cumprod reverse_sequence identity ensure_shape
    zeros_like ones_like full_like repeat tensor_scatter_nd_update tensor_scatter_nd_add tensor_scatter_nd_sub
    tensor_scatter_nd_max tensor_scatter_nd_min segment_sum segment_max segment_min segment_mean
    unsorted_segment_sum unsorted_segment_mean unsorted_segment_max dynamic_partition softmax log_softmax logsumexp
    reduce_logsumexp l2_normalize clip_by_norm norm int_shape nonzero matmul matvec tensordot swapaxes moveaxis
    matrix_transpose band_part tril triu searchsorted nan_to_num bias_add batch_dot dot
    cumulative_logsumexp set_diag diag_part bitcast get_static_value in_top_k
    equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor logical_not
    is_nan is_inf is_finite isnan isinf isfinite abs
    """
)

# Further such parameters, by word.
TENSOR_PARAMETERS: Final = {
    "matmul": "a b x1 x2",
    "batch_dot": "x y",
    "dot": "x y x1 x2",
    "matvec": "a b",
    "boolean_mask": "tensor mask",
    "gather": "params indices",
    "gather_nd": "params indices",
    "scatter_nd": "updates",
    "tensor_scatter_nd_update": "tensor indices updates",
    "take": "x indices",
    "take_along_axis": "x indices",
    "where": "condition",
    "dynamic_partition": "data partitions",
    "embedding_lookup": "params ids",
    "segment_sum": "data segment_ids",
    "unsorted_segment_sum": "data segment_ids",
    "sequence_mask": "lengths",
    "in_top_k": "predictions targets",
}

# The data sets that Keras loads as arrays: how many examples to train with and to test with, and how many elements each
# has; None where examples are lists of their own lengths.
DATASET_SIZES: Final[dict[str, tuple[int, int, int | None]]] = {
    "keras.datasets.boston_housing.load_data": (404, 102, 13),
    "keras.datasets.cifar10.load_data": (50_000, 10_000, 32 * 32 * 3),
    "keras.datasets.cifar100.load_data": (50_000, 10_000, 32 * 32 * 3),
    "keras.datasets.fashion_mnist.load_data": (60_000, 10_000, 28 * 28),
    "keras.datasets.imdb.load_data": (25_000, 25_000, None),
    "keras.datasets.mnist.load_data": (60_000, 10_000, 28 * 28),
    "keras.datasets.reuters.load_data": (8_982, 2_246, None),
}

# Namespaces in which these parameters are always data.
DATA_NAMESPACES: Final = words("tf.nn tf.image tf.linalg tf.signal tf.sparse tf.sets keras.losses keras.metrics")
DATA_PARAMETERS: Final = words(
    """
    features logits labels input inputs value x params ids targets predictions values tensor image images boxes
    scores a b matrix rhs signals y_true y_pred weights filters log_input
    """
)
