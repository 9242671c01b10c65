"""The child process of the probe: the only code of the product that imports TensorFlow or JAX and the user's modules.

Python 3.10, the standard library, the backend (TensorFlow, or JAX with Keras 3) and what comes with it: it also runs
under another interpreter. Its rooms, each of which imports only those before it: `backends`, `code`, `inputs`,
`driving`, `compiling`, `devices`; `session` uses all. What is of one backend stands in `backends.with_..`,
`compiling.with_..` and `devices`; nothing else imports TensorFlow or JAX. Of the tool it imports `probe.protocol`,
`specs`, `target`, `fragments`, `statements`, `sources.packages`, `tpu.chips`.
"""
