"""Findings across time: which of them are known already, from a baseline or from a revision in Git."""
