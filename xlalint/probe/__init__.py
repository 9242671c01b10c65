"""The probe: what the compiler itself says of a function. The one part of the product that runs the user's code.

From findings to targets, from these to runs in worker processes, from what was seen to verdicts. Imports `analysis`,
`cache`, `facts`, `findings`, `settings`, `sources` and `tpu`; `worker` is what runs in the processes.
"""
