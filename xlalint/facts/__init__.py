"""Measured tables about TensorFlow and Keras, and what reads them; `python -m xlalint.measuring` writes them."""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
