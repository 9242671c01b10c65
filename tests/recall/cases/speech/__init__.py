"""A recogniser in a package: helpers behind re-exports."""

from .ops import energy_frames
from .ops import voiced as voiced_frames

from .model import Recogniser  # after the helpers, which its layers import from here
