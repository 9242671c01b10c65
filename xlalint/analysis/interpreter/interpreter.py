"""The interpreter, put together from its parts."""

from __future__ import annotations

from typing import ClassVar

from ..domain.values import Value
from .assignments import Assignments
from .attributes import Attributes
from .branches import Branches
from .calls import Calls
from .classes import Classes
from .comparisons import Comparisons
from .decorating import Decorating
from .displays import Displays
from .expressions import Expressions
from .functions import Functions
from .interface import Handlers
from .iteration import Iteration
from .loops import Loops
from .modules import Modules
from .names import Names
from .operations import Operations
from .parameters import Parameters
from .patterns import Patterns
from .reporting import Reporting
from .special_methods import SpecialMethods
from .statements import Statements
from .subscripts import Subscripts


class ProjectInterpreter(
    Assignments,
    Attributes,
    Branches,
    Calls,
    Classes,
    Comparisons,
    Decorating,
    Displays,
    Expressions,
    Functions,
    Iteration,
    Loops,
    Modules,
    Names,
    Operations,
    Parameters,
    Patterns,
    Reporting,
    SpecialMethods,
    Statements,
    Subscripts,
):
    """Executes a project abstractly; `fixpoint.entry_points` decides where to start."""

    EXPRESSIONS: ClassVar[Handlers[Value]] = {
        **Comparisons.EXPRESSIONS,
        **Displays.EXPRESSIONS,
        **Expressions.EXPRESSIONS,
        **Operations.EXPRESSIONS,
        **Subscripts.EXPRESSIONS,
    }
    STATEMENTS: ClassVar[Handlers[None]] = {
        **Assignments.STATEMENTS,
        **Branches.STATEMENTS,
        **Loops.STATEMENTS,
        **Names.STATEMENTS,
        **Statements.STATEMENTS,
    }
