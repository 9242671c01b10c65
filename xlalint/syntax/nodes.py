"""The nodes, named and built as in libcst. Parentheses, commas, comments and white space are not among them: `source`
knows the text, and `start` and `end` where in it a node stands.
"""

from .base import *  # noqa: F403
from .expressions import *  # noqa: F403
from .operators import *  # noqa: F403
from .statements import *  # noqa: F403
