"""Asking a TPU's compiler on a machine without a TPU: the environment that it takes, and the chips that it knows."""
