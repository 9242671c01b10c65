"""What XLA makes of a driven function on this machine: eager and compiled calls, compared, and what the compiler left
behind. Imports `code` and `driving`.
"""
