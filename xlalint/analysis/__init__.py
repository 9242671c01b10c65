"""What TensorFlow code means to XLA: abstract values, the program, the interpreter, and its fixpoint. Knows no rules.

`record` and `budget` serve all rooms below it; imports `syntax`, `sources` and `facts`.
"""
