"""What code does under Keras's JAX backend: `client` starts processes, `worker` is what runs in them.

`worker` and `running`, which it imports, are all that imports JAX. Of the tool they import what needs no TensorFlow.
"""
