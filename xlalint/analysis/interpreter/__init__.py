"""Executes functions abstractly and emits events. Imports `program` and what lies below it, never a model."""
