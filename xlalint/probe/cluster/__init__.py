"""Functions run on other machines: a snapshot of the project by content goes to the workers of a Dask scheduler, each
function is a task there, and runs in a process of its own as it does at home."""
