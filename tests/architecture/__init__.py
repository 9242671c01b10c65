"""The rooms of the package and the imports between them: drawn from the code, and held to what the guide shows."""
