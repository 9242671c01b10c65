"""Where the site is: on the web, once it is published, and in the folder of the copy that is built here."""

from __future__ import annotations

import os
from pathlib import Path

from .. import __version__
from ..findings.site import FRONT, address_of


def home() -> Path:
    """Where the site of this version is built by default, beside the user's other data."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data, "xlalint", f"docs-{__version__}")


def built() -> Path | None:
    """The front page of the site in `home`; None where it is not built."""
    front = home() / FRONT
    return front if front.is_file() else None


def address(page: str) -> str | None:
    """Where a browser finds a page: in the copy that is built here, else on the web; None where there is neither."""
    return address_of(page) if built() is None else (home() / page).as_uri()
