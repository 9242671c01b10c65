"""The program that measures `ops.json` and `apis.json`; only it imports TensorFlow, and it needs nothing else."""
