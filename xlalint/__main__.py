"""`xlalint` and `python -m xlalint`."""

import os
import sys


def main() -> None:
    """Run the command line; an interruption ends it quietly from the first moment on."""
    try:
        _import_nothing_from_here()
        from .cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


def _import_nothing_from_here() -> None:
    """The working directory holds the code to check. Neither `python -m` nor a PYTHONPATH is to have modules looked for
    in it, unless Python itself, or what xlalint was installed with, is there."""
    try:
        here = _folder(os.curdir)
    except OSError:  # the directory is gone
        return
    installed = _folder(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    own = [folder for folder in map(_folder, (sys.prefix, sys.base_prefix)) if folder.startswith(here)]
    sys.path[:] = [
        entry
        for entry, place in [(entry, _folder(entry)) for entry in sys.path]
        if not place.startswith(here) or place == installed or place.startswith(tuple(own))
    ]


def _folder(path: str) -> str:
    return os.path.join(os.path.realpath(path), "")


if __name__ == "__main__":
    main()
