"""A report as one page for browsers, which asks nothing of the network."""
