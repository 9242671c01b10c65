"""Which callables are measured: those of the namespaces whose names stand in code that is compiled."""

from __future__ import annotations

import json
import re
from typing import Final

from xlalint.facts import FOLDER

# Namespaces by canonical name; a class's methods where the class is one of `arguments.RECEIVERS`.
MEASURED: Final = re.compile(
    r"""tf\.\w+|tnp\.\w+|tnp\.random\.\w+
    |tf\.(math|linalg|image|signal|random|nn|strings|io|sets|sparse|ragged|bitwise|audio|debugging|lookup|summary|manip
         |nest|quantization|xla|sparse|distributions|autodiff|math\.special|nn\.experimental|random\.experimental
         |linalg\.experimental|lookup\.experimental|summary\.experimental|xla\.experimental|queue)\.\w+
    |tf\.compat\.v1\.summary\.\w+
    |tf\.(Variable|Tensor|RaggedTensor|SparseTensor|TensorArray|random\.Generator)\.\w+
    |keras\.(ops|layers|losses|metrics|activations|random|backend|initializers|regularizers|constraints)\.\w+
    |keras\.ops\.(image|linalg|nn|numpy)\.\w+|keras\.optimizers\.(schedules\.)?[A-Z]\w+""",
    re.X,
)
# Types and tools: called where code is set up, never where it is compiled.
SET_UP: Final = re.compile(
    r"""tf\.(Module|Graph|Session|InteractiveSession|Operation|OpError|DType|Tensor|TensorSpec|RaggedTensorSpec
          |SparseTensorSpec|IndexedSlicesSpec|OptionalSpec|TypeSpec|VariableAggregation|VariableSynchronization
          |UnconnectedGradients|CriticalSection|GradientTape|AggregationMethod|RegisterGradient|register_tensor_\w+
          |ConfigProto|GPUOptions|GraphOptions|OptimizerOptions|RunOptions|RunMetadata|GraphDef|NodeDef|NameAttrList
          |AttrValue|HistogramProto|LogMessage|MetaGraphDef|SessionLog|Summary|SummaryMetadata|TensorInfo|Event
          |GraphKeys|load_op_library|load_library|load_file_system_library|init_scope|wrap_function|disable_\w+
          |enable_\w+|reset_default_graph|get_default_\w+|set_random_seed|no_gradient|NoGradient
          |NotDifferentiable|tables_initializer|\w*global_variables\w*|\w*_variables_initializer|get_\w*collection\w*
          |add_to_collections?|import_graph_def|executing_eagerly_outside_functions|app|container|device|op_scope
          |name_scope|variable_scope|variable_op_scope|get_session_\w+|delete_session_\w+|report_uninitialized_variables
          |initialize_\w+|\w*_variables|variable_creator_scope|placeholder\w*|sparse_placeholder|DeviceSpec
          |\w*Queue|QueueBase|ReaderBase|\w*Reader|Assert_|FixedLen\w+|VarLen\w+|SparseFeature)
    |tf\.(io|summary|lookup|random|distributions|queue)\.(TFRecord\w+|FixedLen\w+|VarLen\w+|RaggedFeature|SparseFeature
          |Summary\w*|FileWriter\w*|Event|Session\w*|TaggedRunMetadata|PaddingFIFOQueue|PriorityQueue|FIFOQueue
          |RandomShuffleQueue|QueueBase|Algorithm|TextFileInitializer|TextFileIndex|\w*Initializer|\w*Writer
          |set_seed|set_global_generator|get_seed|set_random_seed)
    |tf\.(debugging\.(enable|disable|set|get|is|experimental)\w*|nest\.\w+_up_to|quantization\.experimental\.\w+)
    |keras\.(layers\.(Layer|Input|InputSpec|InputLayer|deserialize|serialize|Wrapper|RNN_)|backend\.(set_\w+|clear_\w+
          |reset_\w+|get_uid|manual_\w+|get_graph|get_session|is_keras_tensor|floatx|epsilon|backend|image_data_format))
    |keras\.(losses|metrics|activations|initializers|regularizers|constraints|layers)\.(deserialize|serialize|get)
    |keras\.(losses\.Loss|metrics\.Metric|initializers\.Initializer|regularizers\.Regularizer|constraints\.Constraint
          |optimizers\.(Optimizer|OptimizerMap|schedules\.LearningRateSchedule))""",
    re.X,
)
NAMES: Final = FOLDER / "names.json"


def callables() -> list[str]:
    """The canonical names, in order."""
    tables = json.loads(NAMES.read_text(encoding="utf-8"))
    found = [name for name in tables["signatures"] if MEASURED.fullmatch(name) and not SET_UP.fullmatch(name)]
    return sorted(found, key=lambda name: not name.startswith("tf."))
