"""What arguments are called, and what to pass for them: the generator's knowledge of the habits of the API.

Texts of arguments, in the order in which they are tried, parted by ` | `. `T` stands for the tensor that the whole
call is tried with (`TENSORS`), so that arguments fit each other.
"""

from __future__ import annotations

from typing import Final

# What the tensors of a call are, from the likeliest to the rarest.
TENSORS: Final = (
    "f32[4]", "f32[3, 3]", "unit[2, 8, 8, 3]", "f32[2, 5, 3]", "f32[()]", "i32[4]", "positive[4]", "unit[4]", "bool[4]",
    "spd[3, 3]", "unit[8, 8, 3]", "f32[2, 4, 4, 4, 3]", "i32[3, 3]", "c64[4]", "c64[3, 3]", "c64[2, 4, 4]",
    "c64[4, 4, 4]", "str[3]", "str[()]", "digits[3]", "i32[()]", "u8[4]", "u8[8, 8, 3]", "f32[4, 3]", "dist[2, 3]",
    "sorted[4]", "perm[4]", "bool[()]", "bool[3, 3]", "i64[4]", "u32[4]", "f64[4]", "f16[4]", "f32[2, 3]", "f32[3]",
    "[f32[4], f32[4]]", "[f32[3, 3], f32[3, 3]]", "tf.SparseTensor([[0, 1], [2, 0]], f32[2], [3, 4])",
    "tf.RaggedTensor.from_row_lengths(f32[4], [1, 3])", "tf.IndexedSlices(f32[2, 3], index[2], dense_shape=[3, 3])",
    "tf.Variable(tf.ones([4]))", "[2, 3]", "[1.0, 2.0]", "2", "tf.float32", "'text'", "tf.TensorShape([2, 3])",
    "tf.TensorSpec([2, 3])",
)  # fmt: skip

# What in an error of eager execution speaks for which tensors.
HINTS: Final = (
    (r"result is no number", "positive[4]", "unit[4]"),
    (r"RaggedTensor|ragged", "tf.RaggedTensor"),
    (r"SparseTensor|sparse", "tf.SparseTensor"),
    (r"IndexedSlices", "tf.IndexedSlices"),
    (r"\bstring|DT_STRING|\bstr\b|bytes", "str[", "'text'", "digits["),
    (r"complex", "c64["),
    (r"\bbool\b|DT_BOOL|boolean", "bool["),
    (r"uint8", "u8["),
    (r"\bint(32|64)?\b|integ|DT_INT", "i32[", "index[", "i64["),
    (r"[Dd]imension 4|rank 4|4-?D|4 dim|rank.? ?\(?4|ndim=4", "unit[2, 8, 8, 3]"),
    (r"rank 5|5-?D|5 dim|ndim=5", "f32[2, 4, 4, 4, 3]"),
    (r"rank 3|3-?D|3 dim|ndim=3", "f32[2, 5, 3]", "unit[8, 8, 3]"),
    (r"rank 2|2-?D|2 dim|at least 2|matrix|matrices|square", "f32[3, 3]", "spd[3, 3]"),
    (r"scalar|rank 0|0-?D", "f32[()]", "i32[()]", "str[()]"),
    (r"\bimages?\b", "unit[2, 8, 8, 3]", "unit[8, 8, 3]", "u8[8, 8, 3]"),
    (r"Variable|trainable", "tf.Variable"),
    (r"list|iterable|sequence", "[f32[4], f32[4]]", "[f32[3, 3], f32[3, 3]]"),
)

# By the name of a parameter.
ARGUMENTS: Final[dict[str, str]] = {
    name: texts.strip()
    for names, texts in (
        line.split(": ", 1)
        for line in """
x value input a tensor inputs image images y x1 x2 b data values features logits: T
t v array arr input_ input_tensor other val op xs elems: T
y_true: T | dist[2, 3] | bool[4] | index[2] | index[4]
y_pred: T | dist[2, 3] | unit[4]
axis dim dimension reduction_dimension: 0 | -1 | 1 | [0]
axes: [0] | 1 | [[0], [0]] | 0 | [0, 1]
axis1 batch_dim: 0
axis2 seq_dim seq_axis: 1
source: 0 | T
destination: 1 | 0
shape output_shape target_shape dense_shape new_shape newshape shapes: [2, 3] | [4] | [2, 2] | [3, 3] | [6] | (2, 3)
target: T | index[4] | [2, 3]
dtype out_type output_type Tout type output_dtype dtypes: tf.float32 | tf.int32 | tf.int64 | [tf.float32] | 'float32'
name scope message description example_names op_name names_: 'n'
seed: [1, 2] | 1 | i32[2]
k num n N num_samples num_true block_size channels depth num_clusters num_rows: 2 | 1 | 3
num_classes num_segments num_partitions num_columns nrows num_rows minlength num_buckets vocab_size range_max: 3 | 5
maxlen maxlength: 5
rank ndim: 1 | 2
num_outputs num_or_size_splits num_split indices_or_sections sections: 2 | 3 | [1, 2]
size: [4, 4] | 2 | [2] | 3 | [1, 1] | [2, 2, 1, 3]
begin: [0] | [0, 0] | [0, 0, 0, 0]
end: [2] | [2, 2]
start: 0 | 0.0 | 1.0
stop limit: 5 | 1.0
delta step: 1 | 0.5
base: 2.0 | 2
repeats reps: 2 | [2] | i32[4]
multiples: [2] | [2, 1] | [1, 2, 1, 1]
shift: 1 | [1]
perm permutation: [1, 0] | [0, 2, 1] | perm[4]
paddings pad_width: [[1, 1]] | [[1, 1], [0, 1]] | [[0, 0], [1, 1], [1, 1], [0, 0]]
mode: 'CONSTANT' | 'reflect' | 'valid' | 'r' | 'full'
indices ids: index[2] | [index[2], index[2]] | index[2, 1] | [[0, 1], [1, 2]] | index[3, 1]
index i: 1 | index[()] | index[4]
x_indices: index[3, 3]
updates sparse_updates delta_updates: f32[2] | f32[2, 3] | f32[3] | T
segment_ids: sorted[4] | sorted[3] | sorted[2]
partitions: index[4]
mask condition: bool[4] | bool[3, 3] | bool[2, 5] | bool[()] | bool[2, 8, 8, 3]
weights: f32[4] | index[4] | positive[4] | T
weight sample_weight pos_weight: positive[4] | 0.5 | T
bias biases: f32[3] | f32[4] | f32[5]
labels: dist[2, 3] | unit[4] | index[2] | index[4] | index[2, 3]
predictions: dist[2, 3] | T
targets: index[2] | dist[2, 3]
filters filter kernel: f32[3, 3, 3, 2] | f32[3, 3, 2] | f32[2, 2, 2, 3, 2] | f32[3, 3, 3] | 4
depthwise_filter depthwise_kernel: f32[3, 3, 3, 2] | f32[3, 3, 2]
pointwise_filter pointwise_kernel: f32[1, 1, 6, 4] | f32[1, 6, 4]
strides stride: 1 | [1, 1, 1, 1] | 2 | [1, 2, 2, 1] | [1, 1, 1, 1, 1] | [2]
ksize ksizes sizes pool_size window_shape: 2 | [1, 2, 2, 1] | [2, 2] | [1, 3, 3, 1] | [1, 2, 2, 2, 1] | [2] | i32[3]
rates dilations dilation_rate rate_: [1, 1, 1, 1] | [1, 1] | 2
rate: 0.5 | 2 | [2, 2] | [1, 1]
padding: 'SAME' | 'VALID' | 'same' | 'valid' | 1
pooling_type: 'MAX'
data_format: 'NHWC' | 'channels_last'
block_shape: [2, 2] | [2]
crops: [[0, 0], [0, 0]] | [[0, 0]]
boxes: unit[4, 4] | unit[2, 3, 4] | [[0.1, 0.1, 0.9, 0.9]]
scores: unit[4]
box_indices box_ind: [0, 1, 0, 1] | [0]
crop_size: [4, 4]
max_output_size max_output_size_per_class max_total_size: 2
iou_threshold overlap_threshold score_threshold: 0.5
overlaps: unit[4, 4]
bounding_boxes image_size: unit[2, 3, 4] | [8, 8, 3]
target_height target_width: 4 | 12
offset_height offset_width: 1
crop_height crop_width: 4 | 2
height width: 4
central_fraction: 0.5
contrast_factor saturation_factor: 0.5 | 2.0
lower: 0.2 | T
upper: 0.8 | T
max_delta: 0.2
factor alpha gain: 0.5
height_factor width_factor depth_factor: 2
jpeg_quality: 50
min_jpeg_quality: 30
max_jpeg_quality: 60
max_val: 1.0
filter_size: 3 | 11
filter_shape: 3
sigma: 1.0 | f32[3]
mean: 0.0 | f32[3] | f32[4]
stddev scale: 1.0 | positive[4] | 0.5
variance: positive[3] | positive[4]
offset: f32[3] | f32[4] | 0.5
epsilon variance_epsilon tol rtol atol: 0.001
momentum: 0.9
beta gamma: 0.5 | positive[4] | f32[3]
lam: 2.0 | positive[()]
counts: positive[4] | 5.0
probs p q: 0.5 | unit[4] | 50.0
minval low min min_value clip_value_min a_min x_min min_range input_min: 0.0 | 0
maxval high max max_value clip_value_max a_max x_max max_range input_max: 1.0 | 3
clip_norm max_norm: 1.0
threshold default_value_ fill_value fill value_: 0.5 | 1
default_value default: 0 | 0.0 | '' | T
bits num_bits: 8
fn func f function map_fn callable_: lambda x: x * 2.0 | lambda a, x: a + x | lambda x: x
true_fn: lambda: tf.ones([2])
false_fn: lambda: tf.zeros([2])
pred: bool[()]
cond: lambda i, x: i < 3 | lambda x: tf.reduce_sum(x) < 100.0 | T
body: lambda i, x: (i + 1, x * 2.0) | lambda x: x * 2.0 + 100.0
loop_vars: (0, f32[3])
body_fun: lambda i, x: x * 2.0
init_val: f32[3]
initializer initializer_: f32[()] | 0.0
init: f32[()]
carry: f32[()]
branch_fns branches: [lambda: tf.ones([2]), lambda: tf.zeros([2])]
branch_index: index[()]
equation subscripts: 'ij,jk->ik' | 'i,i->' | 'ij->ji'
equations: 'i,i->'
operands: T
frame_length window_length: 4
frame_step: 2
fft_length: [8] | 8 | [4, 4] | [4, 4, 4]
sequence_length sequence_lengths seq_lengths: 4 | i32[2] | index[2]
lengths: i32[3] | [1, 3]
sequence_stride: 2
sample_rate: 16000
periods order: 1
ord: 2 | 'euclidean'
matrix: spd[3, 3]
matrices: [spd[3, 3], spd[3, 3]]
rhs: f32[3, 2] | f32[3, 3] | f32[3, 1]
chol: spd[3, 3]
diagonal diag: f32[3] | f32[4]
diagonals: f32[3, 4] | [f32[4], f32[4], f32[4]]
superdiag subdiag maindiag: f32[4]
lower_upper: f32[3, 3]
num_lower num_upper: 1 | 0
real imag: f32[4]
magnitude: f32[4]
ragged_rank: 1
row_splits: [0, 1, 4] | [0, 2, 3]
row_lengths: [1, 3]
row_starts: [0, 1]
row_limits: [1, 4]
value_rowids: [0, 1, 1, 1]
inner_shape: [2]
rt_input rt ragged_tensor: tf.RaggedTensor.from_row_lengths(f32[4], [1, 3])
starts: i32[3]
limits: i32[3]
deltas: i32[3]
sp_input sp_a sp_ids sparse_tensor sp: tf.SparseTensor([[0, 1], [2, 0]], f32[2], [3, 4])
sp_b: tf.SparseTensor([[0, 1], [1, 0]], f32[2], [3, 4])
sp_inputs: [tf.SparseTensor([[0, 1], [2, 0]], f32[2], [3, 4]), tf.SparseTensor([[0, 0]], f32[1], [3, 4])]
sp_values: tf.SparseTensor([[0, 1], [2, 0]], f32[2], [3, 4])
params embedding_weights: f32[5, 3] | f32[5] | T
ref: tf.Variable(tf.ones([4])) | tf.Variable(tf.ones([4, 3]))
contents: str[()] | str[3]
serialized: str[()] | str[3]
strings string string_tensor source_: str[3] | digits[3]
pattern: 'o'
rewrite: 'a'
separator sep delimiter: ' '
encoding input_encoding output_encoding: 'UTF-8'
width_: 3
ngram_width: 2
pos: 0
len: 1
key: [1, 2] | f32[2, 4, 3]
salt: [1, 2]
filename path: 'measured'
table: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one'], [1]), 0)
units: 3
kernel_size: 3
input_dim: 5
output_dim: 4
dims: (2, 1) | (1, 2)
cropping: 1
rate__: 0.5
layer: keras.layers.Dense(3) | keras.layers.LSTM(3)
cell: keras.layers.LSTMCell(3)
num_heads num_query_heads: 2
num_key_value_heads: 1
key_dim head_dim: 4
num_bins: 3
bin_boundaries boundaries: [0.0, 1.0]
num_tokens: 4
vocabulary: ['one', 'two']
cutoff: 1
groups: 1
thresholds: 0.5
true_classes: i64[2, 1]
num_sampled: 2
unique: True
real_: f32[4]
hypothesis: tf.SparseTensor([[0, 0], [1, 0]], index[2], [2, 1])
truth: tf.SparseTensor([[0, 0], [1, 0]], index[2], [2, 1])
lhs: T
reg: 0.5
l: 0.01
num_spectrogram_bins: 9
num_mel_bins: 4
lower_edge_hertz: 80.0
upper_edge_hertz: 700.0
min_: 0
dx: 1.0
decimals: 1
pad_value: 0
query: f32[2, 4, 3]
on_value: 1.0
off_value: 0.0
clusters: T
decay decay_rate: 0.9
initial_learning_rate: 0.1
decay_steps first_decay_steps: 10
values_: [0.1, 0.2]
depthwise_: f32[3, 3, 3, 2]
condlist: [bool[4], bool[4]]
choicelist: [f32[4], f32[4]]
tup: [f32[4], f32[4]]
arrays tensors inputs_: [f32[4], f32[4]]
tensors_: [f32[4], f32[4]]
sorted_sequence: sorted[4]
nbins: 3
bins: [0.0, 1.0, 2.0] | 4
value_range: [0.0, 1.0] | (0.0, 1.0)
hist: T
transforms transform: f32[2, 8] | [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
coordinates: positive[2, 4]
start_points end_points: unit[2, 4, 2] | unit[4, 2]
translation: f32[2, 3]
row_shape shape_: [2, 3]
num_steps: 2
depth_: 3
""".strip().splitlines()
    )
    for name in names.split()
}

# Values of parameters that take one of a few words, beside those that the documentation names.
OPTIONS: Final[dict[str, str]] = {
    "padding": "'SAME' | 'VALID' | 'same' | 'valid' | 'causal'",
    "data_format": "'channels_first' | 'NCHW'",
    "method": "'bilinear' | 'nearest' | 'bicubic' | 'area' | 'lanczos3' | 'lanczos5' | 'gaussian' | 'mitchellcubic'"
    " | 'linear' | 'lower' | 'higher' | 'midpoint'",
    "interpolation": "'bilinear' | 'nearest' | 'bicubic' | 'lanczos3' | 'lanczos5' | 'area'",
    "mode": "'CONSTANT' | 'REFLECT' | 'SYMMETRIC' | 'full' | 'same' | 'valid'",
    "reduction": "'sum' | 'none' | 'mean' | 'sum_over_batch_size'",
    "direction": "'ASCENDING' | 'DESCENDING'",
    "side": "'left' | 'right'",
    "order": "'C' | 'F'",
    "type": "1 | 2 | 3 | 4",
    "norm": "'ortho'",
    "ord": "1 | 2 | np.inf | 'euclidean' | 'fro' | 'nuc'",
    "fill_mode": "'reflect' | 'wrap' | 'constant' | 'nearest'",
    "alg": "'philox' | 'threefry' | 'auto_select'",
    "output_mode": "'int' | 'multi_hot' | 'count' | 'one_hot' | 'tf_idf'",
    "sparse": "True",
    "combiner": "'sum' | 'mean' | 'sqrtn'",
    "pooling_type": "'MAX' | 'AVG'",
    "diagonals_format": "'matrix' | 'sequence' | 'compact'",
    "align": "'LEFT_RIGHT' | 'RIGHT_LEFT' | 'LEFT_LEFT' | 'RIGHT_RIGHT'",
    "indexing": "'xy' | 'ij'",
    "round_mode": "'HALF_TO_EVEN' | 'HALF_UP'",
    "merge_mode": "'sum' | 'mul' | 'concat' | 'ave'",
    "bad_indices_policy": "'IGNORE' | 'DEFAULT' | 'ERROR'",
    "activation": "'relu' | 'softmax'",
}

# Parameters that say nothing about what is compiled.
IDLE: Final = """name seed dtype scope use_locking validate_args parallel_iterations swap_memory back_prop collections
    message summarize trainable use_resource out_type output_type out dtype_policy activity_regularizer shared_name
    tf_name session graph custom_getter partitioner caching_device autocast verbose kwargs infer_shape"""
