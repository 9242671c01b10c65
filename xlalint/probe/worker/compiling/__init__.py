"""What XLA makes of a driven function on this machine: eager and compiled calls, compared, and what the compiler left
behind. A `program` is a function as a backend compiles it. Imports `backends`, `code` and `driving`.
"""
