"""A detector in a package: the wildcard import and the facade."""

from .geometry import *
from .heads import BoxHead
from .losses import build_loss
