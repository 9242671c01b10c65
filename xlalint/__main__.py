"""`xlalint` and `python -m xlalint`."""

import sys


def main() -> None:
    """Run the command line; an interruption ends it quietly from the first moment on."""
    try:
        from .cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    # `python -m` looks for modules in the working directory first, which holds the code to check, not to import.
    if not sys.flags.safe_path:
        del sys.path[0]
    main()
