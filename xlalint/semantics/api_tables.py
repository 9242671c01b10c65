"""What each function of the API returns, as tables: a result in a small language, and the names that give it.

A bare word stands for that name in every numeric namespace (`NUMERIC`); a dotted name stands for itself and wins. Names
are canonical. The language of results, read by `api_results`:

- `none`, `static`, `unknown`, `array`, `nest` (tensors in some structure), `leaf` (what the arguments hold), `shape` (a
  tuple of Python ints), `dtype`, `self` (the object whose method is called); `@tf.Module`: an instance of that class;
- `a, b`: a tuple; `[a]`: a list of unknown length;
- `dtype/rank/flag`: a tensor. Dtype: a class, or `like` the first data argument, `promote` (the widest of all), or
  like with a change: `real` (ints become floats), `count` (bools become ints), `truth` (bools become floats), `part`
  (complex numbers become floats), or `?`. Rank: a number, `same` as the first data argument, `all` (broadcast),
  `reduce` (by `axis`), `up`/`down` (one more or less), `gather`, `reshape` (by a shape), `squeeze`, `einsum`, `mask`,
  `?`. Flag: `shape` (made of shapes, not of content), `filled` (constants in the shape of an argument), `chance`
  (drawn), `data` (from outside), `layer` (computed with weights), `variable`, `bounded` (its shape depends on values),
  `fixed` (its shape is not that of an argument).
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Namespaces in which one word means one thing.
NUMERIC: Final = _words("tf tf.math tf.nn tf.linalg tf.bitwise keras.ops keras.backend keras.activations tnp np")

RESULTS: Final = {
    # -- element by element --
    "bool/all": "equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor isclose",
    "bool/same": """
        logical_not is_finite is_inf is_nan isfinite isinf isnan isneginf isposinf isreal iscomplex signbit
        tnp.iscomplex tnp.isreal tf.strings.regex_full_match in_top_k isin
    """,
    "?/all": "tnp.float_power",
    "part/same": "abs absolute real imag",
    "count/same": "keras.ops.square",
    "?/same": "tnp.rad2deg tnp.deg2rad",
    "like/same": """
        negative sign square reciprocal identity stop_gradient clip clip_by_norm clip_by_average_norm ceil floor
        round rint fix positive conj conjugate relu relu6 invert bitwise_invert bitwise_not nan_to_num copy
        cumulative_logsumexp softmax log_softmax bias_add dropout l2_normalize normalize guarantee_const
        ensure_shape cast saturate_cast bitcast constant convert_to_tensor array asarray asanyarray
        ascontiguousarray sort reverse roll flip transpose permute_dimensions matrix_transpose swapaxes moveaxis pad
        tile slice strided_slice reverse_sequence tril triu band_part set_diag inv pinv cholesky tf.linalg.adjoint
        tf.linalg.expm tf.linalg.logm tf.matrix_square_root tf.bitcast tf.debugging.check_numerics Print
        tf.image.flip_left_right tf.image.flip_up_down tf.image.adjust_brightness tf.image.adjust_contrast
        tf.image.adjust_gamma tf.image.adjust_hue tf.image.adjust_saturation tf.image.central_crop
        tf.image.crop_to_bounding_box tf.image.pad_to_bounding_box tf.image.resize_with_crop_or_pad tf.image.rot90
        tf.image.transpose tf.image.rgb_to_grayscale tf.image.grayscale_to_rgb tf.image.rgb_to_hsv
        tf.image.hsv_to_rgb tf.image.rgb_to_yiq tf.image.yiq_to_rgb tf.image.rgb_to_yuv tf.image.yuv_to_rgb
        tf.image.random_brightness tf.image.random_contrast tf.image.random_flip_left_right
        tf.image.random_flip_up_down tf.image.random_hue tf.image.random_saturation tf.image.convert_image_dtype
        tf.scatter_nd_update tf.tensor_scatter_nd_update tf.tensor_scatter_nd_add tf.tensor_scatter_nd_sub
        tf.tensor_scatter_nd_max tf.tensor_scatter_nd_min keras.ops.scatter_update keras.ops.slice_update
        keras.ops.view keras.ops.flip tf.assign tf.assign_add tf.assign_sub tf.scatter_update tf.scatter_add
        tf.scatter_sub keras.backend.update keras.backend.update_add keras.backend.update_sub
        keras.backend.moving_average_update keras.backend.print_tensor keras.backend.repeat_elements stack linear
        keras.activations.relu threshold layer_normalization rms_normalization
    """,
    "real/same": """
        exp expm1 exp2 log log1p log2 log10 sqrt rsqrt cbrt sin cos tan asin acos atan arcsin arccos arctan sinh
        cosh tanh asinh acosh atanh arcsinh arccosh arctanh sigmoid erf erfc erfinv erfcinv lgamma digamma ndtri
        gelu elu selu celu silu swish softplus softsign leaky_relu hard_sigmoid hard_silu hard_tanh hard_shrink
        soft_shrink tanh_shrink log_sigmoid sparsemax sinc deg2rad rad2deg mish exponential squareplus bessel_i0
        bessel_i0e bessel_i1 bessel_i1e reciprocal_no_nan tf.image.per_image_standardization batch_normalization
        keras.backend.batch_normalization tf.nn.local_response_normalization keras.activations.softmax
        keras.ops.ceil keras.ops.floor
    """,
    "float/same": """
        angle to_float to_double to_bfloat16 tf.image.resize_with_pad tf.strings.to_number tf.image.resize
        tf.image.resize_bilinear tf.signal.irfft tf.signal.dct tf.signal.idct cast_to_floatx
    """,
    "int/same": "to_int32 to_int64 argsort argpartition count_up_to invert_permutation digitize searchsorted",
    "complex/same": """
        to_complex64 to_complex128 tf.signal.fft tf.signal.ifft tf.signal.fft2d tf.signal.ifft2d tf.signal.rfft
        tf.signal.rfft2d tf.signal.fft3d
    """,
    "complex/all": "complex tf.complex",
    "promote/all": """
        add subtract multiply maximum minimum mod floormod floordiv floor_div floor_divide truncatediv truncatemod
        remainder power pow squared_difference fmax fmin fmod bitwise_and bitwise_or bitwise_xor left_shift
        right_shift bitwise_left_shift bitwise_right_shift gcd lcm multiply_no_nan matmul clip_by_value copysign
        nextafter select scalar_mul heaviside keras.ops.where tnp.where tf.where
    """,
    "real/all": """
        divide truediv true_divide realdiv divide_no_nan atan2 arctan2 xdivy xlogy xlog1py hypot logaddexp
        logaddexp2 igamma igammac zeta polygamma betainc tf.nn.sigmoid_cross_entropy_with_logits
        tf.nn.weighted_cross_entropy_with_logits tf.nn.log_poisson_loss keras.ops.heaviside keras.ops.nextafter
    """,
    "like/all": "div",
    # -- reductions --
    "bool/reduce": "reduce_all reduce_any all any",
    "truth/reduce": "keras.backend.mean",
    "count/reduce": "sum prod nansum nanprod",
    "like/reduce": """
        reduce_sum reduce_prod reduce_max reduce_min reduce_mean max min amax amin ptp nanmax nanmin
        reduce_euclidean_norm
    """,
    "real/reduce": """
        mean std var average median nanmean nanstd nanvar nanmedian reduce_logsumexp logsumexp reduce_std
        reduce_variance norm
    """,
    "int/reduce": """
        count_nonzero keras.ops.argmax keras.ops.argmin tnp.argmax tnp.argmin keras.ops.nanargmax
        keras.ops.nanargmin
    """,
    "int/down": "argmax argmin arg_max arg_min",
    "bool/0": "tf.math.is_non_decreasing tf.math.is_strictly_increasing allclose array_equal",
    "like/0": "tf.nn.l2_loss tf.linalg.global_norm",
    "real/?": "quantile percentile",
    "count/?": "keras.ops.trace",
    "like/?": """
        trace diag diag_part diagonal tensor_diag tensor_diag_part det logdet solve cholesky_solve triangular_solve
        lstsq tensordot dot batch_dot inner outer vdot kron cross matvec conv1d conv2d conv3d conv max_pool avg_pool
        depthwise_conv2d separable_conv2d conv2d_transpose space_to_depth depth_to_space space_to_batch_nd
        batch_to_space batch_to_space_nd space_to_batch segment_sum segment_max segment_min segment_mean
        segment_prod tf.image.extract_patches gather_nd batch_gather take_along_axis repeat ravel max_pool1d
        max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d pool average_pool resize_images dynamic_stitch diff
        append tf.image.random_crop tf.image.stateless_random_crop tf.image.extract_glimpse
    """,
    "like/?/fixed": """
        scatter_nd keras.ops.scatter unsorted_segment_sum unsorted_segment_mean unsorted_segment_max
        unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
    """,
    "int/1/fixed": "tf.histogram_fixed_width",
    "int/?/fixed": "bincount confusion_matrix tf.math.bincount tf.math.confusion_matrix",
    "int/?": """
        tf.histogram_fixed_width_bins tf.strings.to_hash_bucket tf.strings.to_hash_bucket_fast tf.strings.length
        tf.random.split tf.random.fold_in tf.random.create_rng_state tf.random_index_shuffle tf.sets.size
        tf.unravel_index
    """,
    # -- other forms --
    "like/up": "expand_dims",
    "float/up": "one_hot",
    "like/down": "concat concatenate add_n accumulate_n",
    "like/squeeze": "squeeze",
    "like/reshape": "reshape broadcast_to",
    "like/gather": "gather take embedding_lookup tf.gather keras.ops.take",
    "like/einsum": "einsum",
    "like/mask/bounded": "boolean_mask tf.boolean_mask",
    "like/1/bounded": "tnp.compress keras.ops.unique",
    "int/1/bounded": "tf.image.non_max_suppression",
    "[like/down]": "unstack",
    "[like/?/bounded]": "tf.dynamic_partition",
    "[like/?]": "keras.ops.unravel_index meshgrid",
    "[like/same]": "split array_split hsplit vsplit dsplit",
    "[int/1/bounded]": "nonzero",
    # -- made of shapes and constants --
    "int/1/shape": "tf.shape keras.backend.shape tf.broadcast_dynamic_shape",
    "int/0/shape": "tf.size tf.rank keras.ops.size",
    "[int/1/shape]": "tf.shape_n",
    "like/same/filled": "zeros_like ones_like empty_like full_like",
    "float/reshape/fixed": "zeros ones empty",
    "like/reshape/fixed": "tf.fill full",
    "promote/1/fixed": "range arange",
    "float/up/fixed": "linspace logspace geomspace",
    "float/1/fixed": "tf.signal.hann_window tf.signal.hamming_window kaiser bartlett blackman hamming hanning",
    "float/2/fixed": "eye keras.backend.eye tri keras.ops.identity tnp.identity",
    "bool/up": "sequence_mask",
    # -- drawn --
    "float/reshape/chance": """
        tf.random.uniform tf.random.normal tf.random.truncated_normal tf.random.stateless_uniform
        tf.random.stateless_normal tf.random.stateless_truncated_normal keras.random.uniform keras.random.normal
        keras.random.truncated_normal keras.backend.random_uniform keras.backend.random_normal
        keras.backend.random_bernoulli keras.backend.random_binomial keras.backend.truncated_normal
        keras.random.beta keras.random.binomial keras.random.gamma
    """,
    "float/?/chance": """
        tf.random.gamma tf.random.poisson tf.random.stateless_gamma tf.random.stateless_poisson
        tf.random.stateless_binomial tf.random.stateless_parameterized_truncated_normal tnp.random.rand
        tnp.random.randn tnp.random.uniform tnp.random.standard_normal tnp.random.random
    """,
    "int/2/chance": "tf.random.categorical tf.multinomial tf.random.stateless_categorical keras.random.categorical",
    "int/reshape/chance": "keras.random.randint",
    "int/?/chance": "tnp.random.randint tnp.random.poisson",
    "like/same/chance": "tf.random.shuffle keras.random.shuffle",
    # -- from outside --
    "float/0/data": "tf.timestamp",
    "string/0/data": "tf.io.read_file",
    "string/1/data": "tf.io.matching_files",
    "?/?/data": "tf.placeholder tf.placeholder_with_default keras.KerasTensor keras.backend.placeholder",
    "like/same/variable": """
        tf.Variable keras.backend.variable keras.backend.random_uniform_variable
        keras.backend.random_normal_variable
    """,
    "leaf": """
        tf.nest.map_structure tf.nest.pack_sequence_as keras.tree.map_structure keras.tree.pack_sequence_as
        keras.tree.map_structure_up_to keras.tree.map_shape_structure keras.tree.traverse keras.tree.lists_to_tuples
        tf.tuple
    """,
    "[leaf]": "tf.nest.flatten keras.tree.flatten tf.identity_n",
    "float/reshape/variable": "keras.Variable tf.get_variable tf.get_local_variable",
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
    # -- text --
    "string/same": """
        as_string tf.strings.lower tf.strings.upper tf.strings.regex_replace tf.strings.substr tf.io.decode_base64
        tf.io.encode_base64 tf.strings.strip
    """,
    "string/0": "tf.strings.format tf.io.serialize_tensor tf.image.encode_jpeg tf.image.encode_png",
    "string/?": """
        tf.strings.join tf.strings.reduce_join tf.strings.unicode_encode tf.strings.ngrams
        tf.strings.unicode_transcode
    """,
    "int/3": "tf.image.decode_jpeg tf.image.decode_png tf.image.decode_image",
    "float/?": """
        tf.image.ssim tf.image.psnr tf.image.total_variation tf.image.crop_and_resize tf.image.sobel_edges
        tf.nn.sparse_softmax_cross_entropy_with_logits tf.nn.softmax_cross_entropy_with_logits tf.nn.ctc_loss
        tf.nn.compute_average_loss zero_fraction tf.edit_distance tf.signal.overlap_and_add
        tf.signal.mfccs_from_log_mel_spectrograms tf.signal.inverse_stft tf.signal.irfft2d
        tf.sparse.sparse_dense_matmul binary_crossentropy categorical_crossentropy sparse_categorical_crossentropy
    """,
    "complex/?": "tf.signal.stft tf.eigvals",
    # -- several --
    "like/1/bounded, int/1": "tf.unique",
    "like/1/bounded, int/1, int/1/bounded": "tf.unique_with_counts",
    "like/1/bounded, int/1/bounded": "tf.setdiff1d",
    "like/same, int/same": "top_k approx_max_k approx_min_k approx_top_k keras.ops.top_k",
    "like/?, like/?": """
        moments weighted_moments normalize_moments keras.ops.moments qr eigh tf.linalg.eigh_tridiagonal slogdet
        tf.linalg.slogdet tf.image.image_gradients tf.linalg.normalize ctc_decode keras.backend.ctc_decode
        tnp.divmod
    """,
    "complex/?, complex/?": "tf.eig eig",
    "like/same, int/?": "lu lu_factor tf.nn.max_pool_with_argmax",
    "real/same, real/same": "rfft fft fft2 stft ifft2",
    "like/?, like/?, like/?": "svd",
    "int/1/bounded, float/1/bounded": "tf.image.non_max_suppression_with_scores",
    "int/?, int/?": "tf.image.non_max_suppression_padded",
    "float/2, int/0": "tf.audio.decode_wav",
    "float/3, float/2, float/2, int/1": "tf.image.combined_non_max_suppression",
    "int/1, int/1, float/3": "tf.image.sample_distorted_bounding_box",
    "[like/?], like/0": "tf.clip_by_global_norm",
    "float/?, float/?, float/?": "fused_batch_norm keras.backend.rnn",
    "float/?, float/?, float/?, float/?": "sufficient_statistics",
    "int/1, float/?, float/?": """
        tf.random.log_uniform_candidate_sampler tf.random.uniform_candidate_sampler
        tf.nn.learned_unigram_candidate_sampler tf.nn.fixed_unigram_candidate_sampler
    """,
    "[nest], float/?": "tf.nn.ctc_greedy_decoder tf.nn.ctc_beam_search_decoder",
    "like/1, int/?": "keras.ops.histogram",
    # -- not tensors --
    "shape": "tf.TensorShape tf.broadcast_static_shape keras.backend.int_shape tnp.shape np.shape",
    "dtype": """
        tf.as_dtype tf.DType tnp.result_type tnp.promote_types keras.backend.dtype keras.ops.dtype np.dtype
        np.result_type
    """,
    "static": """
        is_tensor is_symbolic_tensor tf.is_tensor executing_eagerly inside_function tf.get_static_value
        tf.executing_eagerly_outside_functions tf.dimension_value tf.dimension_at_index ndim
        tf.get_current_name_scope tf.get_logger tf.nest.is_nested keras.tree.is_nested keras.backend.floatx
        keras.backend.epsilon keras.backend.image_data_format keras.backend.backend keras.utils.standardize_dtype
        keras.utils.is_keras_tensor keras.backend.is_sparse keras.backend.is_float_dtype keras.backend.is_int_dtype
        keras.backend.learning_phase keras.backend.get_uid keras.backend.count_params keras.backend.result_type
        keras.backend.name_scope keras.backend.is_tensor isscalar issubdtype finfo iinfo tf.name_scope tf.device
        tf.init_scope tf.control_dependencies tf.variable_scope tf.variable_creator_scope tf.type_spec_from_value
        tf.get_default_graph tf.make_tensor_proto tf.make_ndarray tf.debugging.is_numeric_tensor
        tf.resource_variables_enabled
        tf.summary.should_record_summaries tf.distribute.has_strategy tf.distribute.in_cross_replica_context
        tf.get_seed tf.load_library keras.name_scope tf.global_variables tf.trainable_variables tf.local_variables
        tf.all_variables tf.model_variables tf.moving_average_variables tf.get_collection tf.get_collection_ref
        tf.no_regularizer tf.colocate_with tf.make_template tnp.size
    """,
    "none": """
        tf.print tf.group tf.no_op tf.Assert tf.random.set_seed tf.set_random_seed tf.nest.assert_same_structure
        tf.assert_rank tf.assert_equal tf.assert_greater tf.assert_less keras.tree.assert_same_structure
        keras.backend.set_floatx keras.backend.set_epsilon keras.utils.clear_session keras.backend.set_value
        keras.backend.batch_set_value keras.backend.set_image_data_format keras.backend.set_learning_phase
        keras.backend.reset_uids tf.io.write_file tf.io.write_graph np.random.seed tnp.random.seed
        tf.disable_v2_behavior tf.enable_eager_execution tf.disable_eager_execution tf.enable_v2_behavior
        tf.add_to_collection tf.random.set_global_generator tf.global_variables_initializer
    """,
    "array": "keras.ops.convert_to_numpy keras.backend.eval keras.backend.get_value keras.backend.batch_get_value",
    "unknown": """
        tf.function tf.custom_gradient tf.no_gradient tf.load_op_library tf.import_graph_def tf.wrap_function
        keras.backend.function tf.register_tensor_conversion_function tf.variable_op_scope grad_pass_through
    """,
    "@tf.RaggedTensor": """
        tf.ragged.boolean_mask tf.ragged.constant tf.ragged.cross tf.ragged.cross_hashed tf.ragged.map_flat_values
        tf.ragged.range tf.ragged.stack tf.ragged.stack_dynamic_partitions tf.strings.split tf.strings.bytes_split
        tf.strings.unicode_decode tf.strings.unicode_split tf.RaggedTensor.from_row_lengths
        tf.RaggedTensor.from_row_splits tf.RaggedTensor.from_value_rowids tf.RaggedTensor.from_tensor
        tf.RaggedTensor.from_row_starts tf.RaggedTensor.from_nested_row_lengths
        tf.RaggedTensor.from_nested_row_splits tf.RaggedTensor.from_uniform_row_length
        tf.RaggedTensor.from_row_limits tf.RaggedTensor.from_sparse
    """,
    "@tf.SparseTensor": """
        tf.sets.difference tf.sets.intersection tf.sets.union tf.sparse.add tf.sparse.bincount tf.sparse.concat
        tf.sparse.cross tf.sparse.expand_dims tf.sparse.eye tf.sparse.from_dense tf.sparse.map_values tf.sparse.mask
        tf.sparse.maximum tf.sparse.minimum tf.sparse.reorder tf.sparse.reset_shape tf.sparse.reshape
        tf.sparse.retain tf.sparse.slice tf.sparse.softmax tf.sparse.transpose tf.SparseTensor.from_value
        tf.sparse_placeholder
    """,
    "@keras.Model": "keras.models.load_model keras.models.clone_model keras.models.model_from_json",
    "@keras.layers.Layer": "keras.layers.deserialize",
    "@keras.losses.Loss": "keras.losses.get keras.losses.deserialize",
    "@keras.metrics.Metric": "keras.metrics.get keras.metrics.deserialize",
    "@keras.optimizers.Optimizer": "keras.optimizers.get keras.optimizers.deserialize",
    "@keras.initializers.Initializer": """
        keras.initializers.get keras.initializers.deserialize tf.constant_initializer tf.zeros_initializer
        tf.ones_initializer tf.random_normal_initializer tf.random_uniform_initializer
        tf.truncated_normal_initializer tf.glorot_uniform_initializer tf.glorot_normal_initializer
        tf.variance_scaling_initializer tf.orthogonal_initializer
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
    "@tf.summary.SummaryWriter": "tf.summary.create_file_writer tf.summary.create_noop_writer",
}

# Namespaces whose capitalised names are functions.
CAPITAL_FUNCTIONS: Final = _words("tf.raw_ops keras.applications")

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
    "real/same": "keras.activations",
    "float/same": "tf.layers",
    "?/?/chance": "tf.random keras.random",
    "string/?": "tf.strings",
    "nest": "tf.raw_ops",
    "@keras.Model": "keras.applications",
}

# What a decomposition returns when it is told to leave the vectors away.
VALUES_ALONE: Final = {"tf.linalg.svd": "like/down", "keras.ops.svd": "like/down"}

# What `where` returns when it is given the condition alone.
POSITIONS: Final = {"tf.where": "int/2/bounded", "tnp.where": "[int/1/bounded]", "keras.ops.where": "[int/1/bounded]"}

# The parameters that decide dtype and rank, where the first that is not configuration does not.
DECIDING: Final = {
    "boolean_mask": "tensor",
    "compress": "a",
    "extract": "arr",
    "dynamic_stitch": "data",
    "scatter_nd": "updates",
    "scatter": "values",
    "select": "choicelist",
    "where": "x x1 y x2",
}

# Functions of NumPy that make one number of an array, and those that make an array of numbers.
NUMPY_SCALARS: Final = _words(
    """
    prod sum max amax min amin mean median std var any all argmax argmin count_nonzero ndim size dot
    """
)
NUMPY_MAKERS: Final = _words("array asarray arange zeros ones full empty eye identity linspace logspace tri")

# A dtype given by hand decides; these are the names of that parameter.
DTYPE_PARAMETERS: Final = ("dtype", "out_type", "output_type", "Tout", "type")

# Parameters that say how, not on what.
CONFIGURATION: Final = _words(
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
TENSOR_FIRST: Final = _words(
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

# The data sets that Keras loads as arrays: how many examples to train with and to test with.
DATASET_SIZES: Final = {
    "keras.datasets.boston_housing.load_data": (404, 102),
    "keras.datasets.cifar10.load_data": (50_000, 10_000),
    "keras.datasets.cifar100.load_data": (50_000, 10_000),
    "keras.datasets.fashion_mnist.load_data": (60_000, 10_000),
    "keras.datasets.imdb.load_data": (25_000, 25_000),
    "keras.datasets.mnist.load_data": (60_000, 10_000),
    "keras.datasets.reuters.load_data": (8_982, 2_246),
}

# Namespaces in which these parameters are always data.
DATA_NAMESPACES: Final = _words("tf.nn tf.image tf.linalg tf.signal tf.sparse tf.sets keras.losses keras.metrics")
DATA_PARAMETERS: Final = _words(
    """
    features logits labels input inputs value x params ids targets predictions values tensor image images boxes
    scores a b matrix rhs signals y_true y_pred weights filters log_input
    """
)
