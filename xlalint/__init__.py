"""xlalint: where XLA will refuse, recompile or quietly change TensorFlow and Keras code."""

__version__ = "0.1.0"
