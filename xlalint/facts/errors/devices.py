"""Variables, strategies, TPUs and their pipelines."""

from __future__ import annotations

import re
from typing import Final

from .pattern import Pattern, candidate, wording

PATTERNS: Final[tuple[Pattern, ...]] = (
    # -- variables, resources, devices
    Pattern(
        wording(r"tf\.function only supports singleton tf\.Variables"),
        "An optimizer creates its variables with its first step, which only the first call of a compiled function may"
        " trace.",
        (
            candidate("XLA414", "an earlier call passed the function another optimizer"),
            candidate("XLA409", "the function makes the optimizer"),
        ),
        beside=re.compile(r"optimizers?[\w/\\]*\.py\b|\bapply_gradients\b"),
    ),
    Pattern(
        wording(
            r"failed to lift variable creations out of this tf\.function"
            r"|Unable to lift tensor <tf\.Tensor"
            r"|tf\.function-decorated function tried to create variables on non-first call"
            r"|tf\.function only supports singleton tf\.Variables"
            r"|Initializer for variable (?:\S+ )?is from inside a control-flow construct"
            r"|The node `[^'\s]*/Assign` has inputs from different frames"
        ),
        "Tracing creates a variable, but a compiled function can only use existing variables.",
        (candidate("XLA409", "the function creates a variable"),),
    ),
    Pattern(
        wording(r"No gradients provided for any variable"),
        "No weight of the model has a gradient. In Keras 3 a `call` that is a `tf.function` of its own keeps the"
        " initial values of layers that it builds. Otherwise the loss does not depend on the weights, or only through"
        " an operation without a gradient: `argmax`, a cast to integers, NumPy.",
        (candidate("XLA606", "`call`, or a method that it uses, is decorated with `tf.function`"),),
    ),
    Pattern(
        wording(r"Trying to access resource [^\n]*?located in device [^\n]*?CPU:\d+ from device [^\n]*?GPU:\d"),
        "Code that is compiled for a GPU uses what lies in the host's memory: an int32 variable, which TensorFlow keeps"
        " there, a lookup table, or a variable that was made under `tf.device` of the CPU.",
        (candidate("XLA413", "the variable is of int32, as that of `tf.Variable(0)` is"),),
    ),
    Pattern(
        wording(r"Trying to access resource [^\n]*?located in device"),
        "A variable lies on another device than the compiled function: a copy that a strategy keeps on its second"
        " device, or one made under another `tf.device`.",
        (
            candidate(
                "XLA501",
                "a strategy trains a model that was compiled with `jit_compile=True`",
                "call fit|call evaluate|call predict|call train_on_batch|call test_on_batch",
            ),
        ),
        rewrite="Under a strategy leave `jit_compile=True` out of `compile`.\n"
        "Else make the variable on the device of the compiled function.",
    ),
    Pattern(
        wording(r"merge_call called while defining a new graph|`?merge_call`?[^\n]{0,60}(?:tf\.function|jit)"),
        "Replicas synchronise when an optimizer applies gradients or a metric is read. They cannot do so inside a"
        " function that is traced for one of them: a `tf.function`, a loop or a branch of the graph within what"
        " `strategy.run` runs (a decorated `train_step`, the loss scale of mixed precision).",
        (candidate("XLA501", "a strategy trains a model that was compiled with `jit_compile=True`", "jit_compile"),),
        rewrite="Decorate the function that calls `strategy.run`, and nothing that it runs.",
    ),
    Pattern(
        wording(
            r"Method requires being in cross-replica context"
            r"|tf\.distribute\.Strategy\.gather method requires cross-replica context"
        ),
        "What `strategy.run` runs on each replica calls a method of the strategy, `reduce`, `gather`, `run` or `scope`,"
        " that only the code around the replicas may call.",
        (candidate("XLA533", "the call stands in the step of a strategy, or in a function that the step calls"),),
    ),
    Pattern(
        wording(
            r"Mixing different tf\.distribute\.Strategy objects|was not created in the distribution strategy scope of"
            r"|was created inside (?:of )?a different distribution strategy scope"
            r"|Trying to create optimizer slot variable under the scope for tf\.distribute\.Strategy"
            r"|Need to be inside `with strategy\.scope\(\)`"
            r"|must only be passed a variable created in this tf\.distribute\.Strategy\.scope\(\)"
            r"|_distributed_tf_update_step[^\x00]{0,600}?\n\s*AssertionError"
            r"|mirrored_strategy\.py[^\n]*, in _update\n[^\x00]{0,300}?AssertionError"
        ),
        "A strategy trains a model whose variables, or whose optimizer or metrics, were created outside its scope, so"
        " that they have no copies on its devices.",
        (
            candidate("XLA502", "something was created outside the strategy's scope"),
            candidate("XLA512", "no `strategy.run` runs the step that trains it"),
        ),
    ),
    Pattern(
        wording(
            r"Please use `tf\.keras\.losses\.Reduction\.SUM` or `tf\.keras\.losses\.Reduction\.NONE` for loss reduction"
        ),
        "Code under a strategy calls a loss that reduces by itself. Keras 2 does not know what to divide by there: it"
        " scales only the loss that `compile` is passed, where the model calls it as `compiled_loss`.",
        (candidate("XLA521", "the loss is made without `reduction`"),),
    ),
    Pattern(
        wording(r"\bPerReplica\b"),
        "What `strategy.run` returns, and a batch of a distributed dataset, is one tensor for each replica. Code around"
        " the replicas uses it as one tensor, which works with one replica alone.",
        (candidate("XLA525", "the value is used outside of the strategy's step"),),
    ),
    Pattern(
        wording(r"Inputs to operation AddN of type AddN must have the same size and shape"),
        "A strategy cuts each batch into a part for each of its replicas, and Keras 3 adds up those of the first batch"
        " as it builds the model: these are of several sizes.",
        (
            candidate(
                "XLA515",
                "the batches do not divide among the replicas",
                "call fit|call evaluate|call batch",
            ),
        ),
        rewrite="dataset.batch(SIZE * strategy.num_replicas_in_sync)",
        beside=re.compile(r"\b(?:trainer|traceback_utils)\.py\b"),
    ),
    Pattern(
        wording(
            r"(?:Dimensions must be equal, but are \d+ and \d+ for|Cannot reshape a tensor with \d+ elements to shape"
            r"|slice index \d+ of dimension 0 out of bounds)[^\n]*"
        ),
        "Each replica of a strategy gets a part of the batch: what its step makes with the rows of the whole batch, or"
        " takes to have them, does not fit.",
        (candidate("XLA520", "the step makes as many rows as the whole batch has, or takes a tensor to have them"),),
        beside=re.compile(r"\b\w*strategy\.run\(|mirrored_run\.py|tpu_strategy\.py"),
    ),
    Pattern(
        wording(r"If an RNN is stateful, the batch size of the input sequences must be the same as[^\n]*"),
        "A recurrent layer that is `stateful` keeps a state for each row of the batches that it was made for, of which"
        " each replica of a strategy gets a part.",
        (candidate("XLA520", "the model is trained under a strategy"),),
    ),
    Pattern(
        wording(
            r"tpu_strategy\.py[^\x00]{0,3000}?IndexError: index 0 is out of bounds for axis 0"
            r"|Please provide a TPU Name to connect to"
        ),
        "The strategy is for a TPU that is not initialised, or that the resolver cannot find.",
        (candidate("XLA503", "the strategy is created before the TPU is initialised"),),
    ),
    Pattern(
        wording(r"(?P<op>\w+Grad) with [^\n]{1,80} is not yet implemented"),
        "XLA has a kernel for the operation, but not for its gradient with these options (`{op}`).",
        (candidate("XLA407", "the gradient of a call has no kernel"),),
        compiled=True,
    ),
    Pattern(
        wording(r"No OpKernel was registered to support Op `ConfigureDistributedTPU`"),
        "This TensorFlow has no TPU support, or the machine has no TPU.",
        rewrite="On the TPU's machine: pip install tensorflow-tpu. From another one: tf.config."
        "experimental_connect_to_cluster(resolver)\nbefore the TPU is initialised, with the TPU's name or address.",
    ),
    Pattern(
        wording(r"failed to connect to all addresses|\bSocket closed\b|Unable to find (?:a|the) context_id"),
        "The connection to the TPU worker is lost: the worker is not running, or it stopped. Often a pipeline sends it"
        " more data than its memory holds.",
        rewrite="Restart the TPU and the program. Read large data from TFRecord files in a bucket, not from arrays.",
    ),
    Pattern(
        wording(
            r"(?:Op type not registered|No OpKernel was registered to support Op) `(?:Eager)?(?:PyFunc\w*|NumpyFunc)`"
        ),
        "The graph calls back into Python (`tf.py_function`, `tf.numpy_function`), but the program that loads it is not"
        " Python: a server, or a C++ or Java program.",
        rewrite="Save a graph without such calls: write them with TensorFlow's operations, or call them before and"
        " after.",
    ),
    Pattern(
        wording(
            r"(?:Op type not registered `(?P<name>\w+)`"
            r"|`(?P<op>\w+)` is neither a type of a primitive operation nor a name of a function registered)"
            r" in binary running on"
        ),
        "The worker lacks the operation `{name}{op}`, which this program's TensorFlow has: their versions differ.",
        rewrite="Install the same TensorFlow version on the TPU node and for this program.",
    ),
    Pattern(
        wording(r"TPUStrategy\.run\(fn, \.\.\.\) does not support pure eager execution"),
        "A TPU runs only compiled programs, but this step is plain Python.",
        (candidate("XLA506", "a step runs eagerly on a TPU"),),
    ),
    Pattern(
        # The parts of a checkpoint are written to a folder of their own first: `model_temp/part-00000-of-00001`.
        wording(
            r"File system scheme `\[local\]` not implemented \(file: `[^)]*_temp[_/]"
            r"|Unsuccessful TensorSliceReader constructor: .*File system scheme `\[local\]` not implemented"
        ),
        "The machine of the TPU holds the variables, and writes and reads their checkpoints: it has no file of this"
        " machine.",
        (candidate("XLA511", "a checkpoint or a saved model has a local path"),),
        rewrite='Pass options=tf.train.CheckpointOptions(experimental_io_device="/job:localhost"), or use a path in a'
        " bucket (gs://..).",
    ),
    Pattern(
        wording(
            r"No registered `(?:Eager)?PyFunc` OpKernel for `CPU` devices"
            r"|File system scheme `\[local\]` not implemented"
        ),
        "The input pipeline runs on the machine of the TPU, which has neither this program's Python nor its files.",
        (candidate("XLA504", "the pipeline needs Python or local files"),),
    ),
    Pattern(
        wording(
            r"Unable to convert output to PyTorch tensors format, PyTorch is not installed"
            r"|Data of type <class `torch\.Tensor`> is not allowed"
            r"|Cannot convert the argument `type_value`: torch\.\w+ to a TensorFlow DType"
        ),
        "A tokenizer or collator returns PyTorch tensors, and TensorFlow cannot use them.",
        (candidate("XLA505", 'a batch is created with `return_tensors="pt"`'),),
    ),
    Pattern(
        wording(
            r"Unsupported data type for TPU: `?(?:string|7\b)|<dtype: `string`> is not a supported TPU infeed type"
            r"|Can't copy Tensor with type string to device|DataTypeToPrimitiveType:? `?(?:DT_STRING|string)"
            r"|op with type DT_STRING is not supported by XLA"
        ),
        "A string reaches compiled code, but XLA has no strings on any device.",
        (
            candidate("XLA404", "the function has string arguments, or uses strings"),
            candidate("XLA408", "the model contains a layer that looks up or hashes strings", "preprocessing layer"),
        ),
    ),
    Pattern(
        wording(
            r"Element type (?:C128|c128) is not supported on TPU|Unsupported data type for TPU: `?(?:complex128|18\b)"
        ),
        "A TPU supports complex64, but not complex128. A Fourier transform of float64 returns complex128.",
        (candidate("XLA507", "the code creates a complex128 tensor"),),
    ),
    Pattern(
        wording(r"Unsupported type in DataTypeToPrimitiveType:? `?(?P<name>\w+)"),
        "A tensor of dtype {name} reaches XLA, but this version of XLA does not support that dtype.",
        rewrite="Use a newer TensorFlow, or another dtype. XLA in TensorFlow 2.21 supports complex numbers, too.",
    ),
    Pattern(
        wording(r"While rewriting computation to not contain X64 element types"),
        "A TPU splits each 64-bit number into two 32-bit ones, and cannot do so for this operation.",
        (candidate("XLA510", "the TPU compiler refuses this call for 64-bit numbers"),),
        compiled=True,
    ),
    Pattern(
        wording(
            r"Element type \w+ is not supported on TPU|Unsupported data type for TPU: `?\w+"
            r"|No registered `\w+` OpKernel for `TPU`"
            r"|<dtype: `\w+`> is not a supported TPU infeed type"
        ),
        "The program sends the TPU a dtype that it does not accept. It accepts float32, bfloat16, int32, int64, uint32,"
        " bool and complex64. Images are often uint8.",
        rewrite="dataset = dataset.map(lambda image, label: (tf.cast(image, tf.float32), label))",
    ),
    Pattern(
        wording(r"Function invoked by the following node is not compilable: [^\n]*?Tin=\[[^\]\n]*DT_STRING"),
        "A string is an argument of a compiled function, and XLA has no strings on any device.",
        (candidate("XLA404", "the function gets a string"),),
    ),
    Pattern(
        wording(r"Model doesn't support `jit_compile=True`"),
        "A layer of the model declares that XLA cannot compile it (`supports_jit` is False: string and integer lookups,"
        " hashing, some random image layers), so Keras runs the whole model without XLA.",
        (candidate("XLA408", "the code calls such a layer"),),
    ),
)
