"""The process that runs the user's function: request on standard input, answer on standard output, as JSON.

Standard library only; what the function prints goes to the standard error.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final

_REPEATS: Final = 3
_MEMORY: Final = 16 * 2**30  # bytes


def main() -> None:
    """Answer one request."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    request = json.load(sys.stdin)
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has such limits
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    sys.path.insert(0, os.getcwd())
    try:
        function = getattr(importlib.import_module(request["module"]), request["function"])
        answer: dict[str, Any] = {"seconds": [_measured(function, lengths) for lengths in request["lengths"]]}
    except Exception as error:  # whatever the user's code raises is the answer
        message = str(error).strip()
        answer = {"error": f"{type(error).__name__}: {message.splitlines()[0] if message else 'no message'}"}
    answers.write(json.dumps(answer))
    answers.flush()


def _measured(function: Callable[..., Any], lengths: Sequence[int]) -> tuple[float, float]:
    """Seconds of the first call, and the least of some later ones."""
    first = _timed(function, lengths)
    return first, min(_timed(function, lengths) for _ in range(_REPEATS))


def _timed(function: Callable[..., Any], lengths: Sequence[int]) -> float:
    started = perf_counter()
    _wait(function(*lengths))
    return perf_counter() - started


def _wait(result: Any) -> None:
    """Read what was computed, so that it is."""
    if hasattr(result, "numpy"):
        result.numpy()
    elif isinstance(result, Mapping):
        _wait(list(result.values()))
    elif isinstance(result, (list, tuple)):
        for part in result:
            _wait(part)


if __name__ == "__main__":
    main()
