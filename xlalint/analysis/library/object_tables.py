"""Attributes, methods and calls of objects as tables, with results in the language of `api_tables`."""

from __future__ import annotations

from typing import Final

# Per class (or Keras kind): results in the language of `api_tables`, and the attributes that give them.
ATTRIBUTES: Final = {
    "tensor": {
        "static": """
            name device op graph ndim trainable synchronization aggregation constraint itemsize nbytes size
            is_fully_defined initializer _keras_history _keras_shape _uses_learning_phase sparse ragged path
        """,
        "like/same": "T mT",
        "float/same": "real imag",
        "like/?": "handle flow values",
        "int/?": "indices",
        "int/?/shape": "dense_shape",
    },
    "tf.DType": {"self": "base_dtype real_dtype base as_ref"},
    "tf.TensorArray": {"static": "dynamic_size", "shape": "element_shape", "like/?": "handle flow"},
    "tf.RaggedTensor": {
        "like/?": "values flat_values",
        "int/1": "row_splits",
        "static": "ragged_rank uniform_row_length",
        "shape": "shape",
    },
    "tf.SparseTensor": {"like/1": "values", "int/2": "indices", "int/1/shape": "dense_shape", "shape": "shape"},
    "tf.IndexedSlices": {"like/?": "values", "int/1": "indices", "int/1/shape": "dense_shape", "shape": "shape"},
    "tf.data.Dataset": {"static": "element_spec"},
    "tf.saved_model.Loaded": {"self": "signatures"},
    "tf.distribute.Strategy": {"static": "num_replicas_in_sync extended cluster_resolver"},
    "tf.distribute.ReplicaContext": {"static": "num_replicas_in_sync replica_id_in_sync_group strategy"},
    "layer": {
        "[float/?/variable]": """
            weights trainable_weights non_trainable_weights variables trainable_variables non_trainable_variables
        """,
        "float/?/variable": "kernel bias gamma beta embeddings moving_mean moving_variance recurrent_kernel",
        "[float/0/data]": "losses",
        "static": """
            name dtype compute_dtype variable_dtype trainable built supports_masking stateful units filters rate
            num_heads key_dim axis epsilon momentum return_sequences return_state input_dim output_dim mask_zero
            dtype_policy path kernel_size strides padding go_backwards state_size output_size run_eagerly
            jit_compile metrics_names dynamic
        """,
        "shape": "input_shape output_shape",
        "nest": "input output inputs outputs",
        "@keras.optimizers.Optimizer": "optimizer",
        "[@keras.metrics.Metric]": "metrics",
        "[@keras.layers.Layer]": "layers",
    },
    "optimizer": {
        "float/0/variable": "learning_rate lr",
        "int/0/variable": "iterations",
        "[float/?/variable]": "variables weights",
        "static": "name epsilon momentum beta_1 beta_2 weight_decay clipnorm global_clipnorm",
    },
    "metric": {"[float/?/variable]": "variables weights", "static": "name dtype"},
    "loss": {"static": "name reduction dtype"},
    "pathlib.Path": {
        "self": "parent",
        "[self]": "parents",
        "static": "anchor drive name parts root stem suffix suffixes",
    },
}

METHODS: Final = {
    "tensor": {
        "none": "set_shape mark_used",
        "static": "numpy item tolist ref experimental_ref deref consumers eval is_initialized get_config",
        "self": """
            assign assign_add assign_sub scatter_update scatter_add scatter_sub scatter_max scatter_min scatter_mul
            scatter_div scatter_nd_update scatter_nd_add scatter_nd_sub batch_scatter_update
        """,
        "like/same": "value read_value initialized_value cpu gpu conj",
        "like/?": "gather_nd sparse_read to_tensor",
    },
    "keras.preprocessing.image.ImageDataGenerator": {"unknown": "flow flow_from_dataframe flow_from_directory"},
    "pathlib.Path": {
        "self": """
            absolute expanduser joinpath readlink relative_to rename replace resolve with_name with_segments with_stem
            with_suffix
        """,
        "[self]": "glob iterdir rglob",
        "path": "as_posix __fspath__ __str__",
        "static": """
            as_uri exists group is_absolute is_dir is_file is_mount is_relative_to is_symlink match open owner
            read_bytes read_text samefile stat write_bytes write_text
        """,
        "none": "chmod mkdir rmdir symlink_to touch unlink",
    },
    "tensorflow_datasets.builder": {"unknown": "as_dataset"},
    "tf.DType": {"static": "is_compatible_with limits"},
    "tf.TensorArray": {
        "like/same": "read concat",
        "like/+1": "stack gather",
        "int/0/shape": "size",
        "none": "close mark_used",
        "self": "identity grad",
    },
    "tf.RaggedTensor": {
        "like/?": "to_tensor",
        "int/1": "row_lengths bounding_shape row_starts row_limits value_rowids",
        "int/0/shape": "nrows",
        "shape": "get_shape",
        "self": "with_values with_flat_values with_row_splits_dtype merge_dims",
        "static": "to_list numpy",
        "@tf.SparseTensor": "to_sparse",
    },
    "tf.SparseTensor": {"shape": "get_shape", "self": "with_values"},
    "tf.data.Dataset": {
        "self": """
            apply batch bucket_by_sequence_length cache concatenate counter enumerate filter flat_map
            group_by_window ignore_errors interleave map map_with_legacy_function padded_batch prefetch ragged_batch
            random rebatch rejection_resample repeat scan shard shuffle skip snapshot sparse_batch take take_while
            unbatch unique window with_options zip fingerprint prefetch_to_device
        """,
        "static": "cardinality options as_numpy_iterator __len__",
        "none": "save",
        "nest": "reduce get_single_element",
        "@tf.data.Iterator": "make_one_shot_iterator make_initializable_iterator __iter__",
    },
    "tf.data.Iterator": {
        "nest": "get_next get_next_as_optional next __next__",
        "self": "__iter__",
        "static": "initializer",
    },
    "tf.experimental.Optional": {"nest": "get_value", "bool/0": "has_value"},
    "tf.GradientTape": {"none": "watch reset", "static": "stop_recording", "[float/?/variable]": "watched_variables"},
    "tf.random.Generator": {
        "float/reshape/chance": "uniform normal truncated_normal",
        "int/reshape/chance": "uniform_full_int",
        "float/?/chance": "binomial",
        "int/?/chance": "make_seeds",
        "[@tf.random.Generator]": "split",
        "none": "reset reset_from_seed reset_from_key_counter skip",
    },
    "tf.distribute.Strategy": {
        "nest": "run experimental_run_v2 reduce gather",
        "[nest]": "experimental_local_results",
        "static": "scope",
        "@tf.data.Dataset": """
            experimental_distribute_dataset distribute_datasets_from_function
            experimental_distribute_datasets_from_function
        """,
    },
    "tf.distribute.ReplicaContext": {"nest": "all_reduce all_gather merge_call"},
    "tf.train.Checkpoint": {"static": "save write restore read"},
    "tf.train.CheckpointManager": {"static": "save restore_or_initialize latest_checkpoint checkpoints directory"},
    "tf.lookup": {"?/?": "lookup", "int/0/data": "size"},
    "tf.Session": {"array": "run", "none": "close"},
    "layer": {
        "none": """
            build add_loss add_metric compile summary save save_weights load_weights set_weights export
            build_from_config reset_states reset_state reset_metrics add save_own_variables load_own_variables
        """,
        "static": """
            get_config count_params fit fit_generator evaluate train_on_batch test_on_batch from_config to_json to_yaml
            get_compile_config
        """,
        "array": "predict predict_on_batch",
        "[array]": "get_weights",
        "shape": "compute_output_shape get_input_shape_at get_output_shape_at",
        "float/reshape/variable": "add_weight add_variable",
        "@keras.layers.Layer": "get_layer",
        "float/0/layer": "compute_loss",
        "nest": "get_initial_state train_step test_step predict_step compute_metrics get_metrics_result",
    },
    "metric": {
        "none": "update_state reset_state reset_states merge_state",
        "float/?/layer": "result",
        "float/reshape/variable": "add_weight add_variable",
        "static": "get_config",
    },
    "optimizer": {
        "none": "apply_gradients apply minimize build update_step assign_add",
        "like/same": "get_scaled_loss scale_loss",
        "leaf": "get_unscaled_gradients",
        "[nest]": "compute_gradients get_gradients",
        "like/same/variable": "add_variable_from_reference add_slot get_slot",
        "static": "get_config",
    },
}

# Calls of a layer, by class, where the measured table does not decide (a layer that takes one rank only, a wrapper)
# or the class is of an older Keras; `float/?/layer` for what is in neither.
LAYER_CALLS: Final = {
    "float/same/layer": """
        EinsumDense SyncBatchNormalization Conv1D Conv2D Conv3D Convolution1D Convolution2D Convolution3D
        Conv1DTranspose Conv2DTranspose Conv3DTranspose DepthwiseConv1D DepthwiseConv2D SeparableConv1D
        SeparableConv2D MaxPooling1D MaxPooling2D MaxPooling3D MaxPool1D MaxPool2D MaxPool3D AveragePooling1D
        AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D UpSampling1D UpSampling2D UpSampling3D
        SpatialDropout1D SpatialDropout2D SpatialDropout3D MultiHeadAttention GroupQueryAttention Attention
        AdditiveAttention
    """,
    "like/same/layer": "ZeroPadding1D ZeroPadding2D ZeroPadding3D Cropping1D Cropping2D Cropping3D",
    "float/2/layer": """
        GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D
        GlobalMaxPooling3D GlobalAvgPool1D GlobalAvgPool2D GlobalMaxPool1D GlobalMaxPool2D
    """,
    "like/3/layer": "RepeatVector",
    "like/-1/layer": "Add Subtract Multiply Average Maximum Minimum",
    "?/?/layer": """
        TextVectorization StringLookup IntegerLookup Hashing HashedCrossing Discretization CategoryEncoding Reshape
        Dot
    """,
    "nest": """
        Layer Wrapper Bidirectional TimeDistributed RNN SimpleRNNCell LSTMCell GRUCell StackedRNNCells InputLayer
        BasicLSTMCell BasicRNNCell MultiRNNCell Lambda AbstractRNNCell ConvLSTM1D ConvLSTM2D ConvLSTM3D FeatureSpace
        TFSMLayer TorchModuleWrapper JaxLayer FlaxLayer
    """,
}

# Calls of the other kinds of objects.
CALLS: Final = {
    "loss": "float/0/layer",
    "metric": "float/?/layer",
    "initializer": "float/reshape/chance",
    "regularizer": "float/0/layer",
    "constraint": "like/same",
    "schedule": "float/0/layer",
    "optimizer": "none",
    "model": "nest",
}
