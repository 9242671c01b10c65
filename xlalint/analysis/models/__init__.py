"""Models of library calls that run user code, change objects or emit events; registered with the interpreter."""
