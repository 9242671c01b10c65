"""`xlalint` and `python -m xlalint`."""

import os
import sys


def main() -> None:
    """Run the command line; an interruption ends it quietly from the first moment on."""
    try:
        _import_nothing_from_here()
        if "--resident" in sys.argv:  # what that takes to be imported is for such runs alone
            _run_by_resident()
        from .cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


def _run_by_resident() -> None:
    """Have the process do the run that stayed after an earlier one; else do it here, and stay."""
    from .resident.client import ask
    from .resident.meeting import is_possible

    if not is_possible(sys.argv[1:]):
        return
    code = ask(sys.argv[1:])
    if code is not None:
        os._exit(code)
    from .cli import main

    main(_stay)


def _stay() -> None:
    from .resident.service import stay

    stay()


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
