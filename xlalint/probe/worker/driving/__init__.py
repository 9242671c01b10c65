"""From a target to a driven function: something that can be called, what to call it with, and the variables that a call
may change. Imports `code` and `inputs`.
"""
