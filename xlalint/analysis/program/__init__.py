"""The program: modules, classes, functions, names across files. Imports `files`, `domain` and `library`."""
