"""Measured tables about TensorFlow and Keras, and the programs that measure them (`python -m xlalint.facts TABLE`)."""
