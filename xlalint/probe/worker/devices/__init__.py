"""What the compilers of other devices make of a driven function: lowered as a function of tensors alone, for a GPU or a
TPU. Imports `code`, `driving` and `compiling`.
"""
