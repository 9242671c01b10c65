"""The user's code as it runs: how it is imported, which of its lines run, and which lines an error or an operation of a
graph comes from. Imports no other room of the worker.
"""
