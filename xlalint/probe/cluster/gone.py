"""How a run on a cluster may end early."""


class ClusterGoneError(Exception):
    """The scheduler went away during a run; the text is one line that says so."""
