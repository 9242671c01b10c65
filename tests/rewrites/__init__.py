"""Random programs, rewritten by the linter: the original run eagerly against the rewrite compiled by XLA."""
