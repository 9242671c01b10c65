"""What the API of TensorFlow, Keras, NumPy and their kin returns: tables and pure functions of abstract values.

Imports `domain` only: what runs user code or emits events is a model (`models/`).
"""
