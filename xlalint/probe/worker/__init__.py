"""The child process of the probe: the only code of the product that imports TensorFlow and the user's modules.

Python 3.10, the standard library, TensorFlow and what comes with it: it also runs under another interpreter. Its rooms,
each of which imports only those before it: `code`, `inputs`, `driving`, `compiling`, `devices`; `session` uses all.
Of the tool it imports `probe.protocol`, `specs`, `target`, `fragments`, `statements`, `sources.packages`, `tpu.chips`.
"""
