"""The settings of a run, and what a project says that it requires."""
