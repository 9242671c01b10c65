"""What TensorFlow code means to XLA: values, names, contexts, and the interpreter that turns code into events."""
