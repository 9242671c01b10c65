"""What the analyser knows of TensorFlow's, Keras's and NumPy's API, by canonical name.

Names are in `api_names`, results of functions in `api_results` over what was measured (`api_measured`) and the tables
in `api_tables`, their ranks in `api_ranks`, objects in `api_objects` over `api_object_tables`, and the taxonomy of
Keras's classes in `api_keras`.
"""

from ...facts.names import canonical, known, known_module, parameters
from .dtypes import dtype_of, named_dtype
from .keras_classes import is_keras, keras_roles, kind_of
from .objects import attribute, call_method, call_object, method_parameters
from .ranks import rank_of
from .results import call, tensor_parameters
from .size_parameters import size_parameters

__all__ = [
    "attribute",
    "call",
    "call_method",
    "call_object",
    "canonical",
    "dtype_of",
    "is_keras",
    "keras_roles",
    "kind_of",
    "known",
    "known_module",
    "method_parameters",
    "named_dtype",
    "parameters",
    "rank_of",
    "size_parameters",
    "tensor_parameters",
]
