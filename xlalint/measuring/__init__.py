"""Measures the tables of `xlalint.facts` (`python -m xlalint.measuring TABLE`).

Only `worker` and what it imports run TensorFlow. May import any other room; none imports it.
"""
