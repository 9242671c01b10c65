"""The process that measures calls under Keras's JAX backend (`worker` does so with TensorFlow): runs each eagerly and
in `jax.jit` and answers with what became of it, as an entry of `facts/jax.json`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras  # type: ignore[import-untyped]
import numpy as np

from xlalint.authoring.jax.running import Counter, Subject, arrays, brief
from xlalint.measuring.arguments import rewritten, target
from xlalint.measuring.expressions import Expression, parse
from xlalint.measuring.jax import is_like
from xlalint.measuring.outcome import difference, reason
from xlalint.measuring.samples import KINDS, VALUE_SETS
from xlalint.measuring.variations import DIES
from xlalint.measuring.worker import serve
from xlalint.probe.worker.compiling.compare import Leaf

NAMES: Final = {"keras": keras, "np": np}
KINDS_OF_STRINGS: Final = re.compile(
    rf"\b({'|'.join(kind for kind, (dtype, _) in KINDS.items() if dtype == 'string')})\["
)
LONGEST_STATIC: Final = 4  # elements of an argument that may be a Python value as well
Arrays = list[np.ndarray[Any, Any]]


class NotAcceptedError(Exception):
    """JAX's eager execution does not take the call."""


class Worker:
    """Measures one callable after the other."""

    def __init__(self, answers: Any) -> None:
        self.answers = answers
        self.counter = Counter()
        self.call = ""

    def note(self, stage: str) -> None:
        """Say what comes next: it may end the process."""
        print(json.dumps({"at": stage, "call": self.call}), file=self.answers, flush=True)

    def row(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """By call what became of it, and of the options that change nothing with TensorFlow those that do here; None
        where Keras has no such name."""
        what = target(job["name"], NAMES)
        if what is None:
            return None
        calls = job["plan"]["calls"]
        found = {call: self.ended(call, job["dead"]) for call in calls}
        for parameter, text, by_hand in job["plan"]["same"]:
            call = by_hand or rewritten(what, calls[0], parameter, text)
            if call is None or call in found:
                continue
            row = self.ended(call, job["dead"])
            if not is_like(row, found[calls[0]]):
                found[call] = {**row, "varied": {parameter: text}}
        return found

    def ended(self, call: str, dead: Mapping[str, Any]) -> dict[str, Any]:
        """What became of a call; `dead`: at which stage it ended a process, and how."""
        self.call = call
        stage, how = dead.get(call, ("", ""))
        if stage:
            return {"outcome": "fails" if stage != "eager" and how.startswith(DIES) else "untested", "detail": how}
        if KINDS_OF_STRINGS.search(call):
            return {"outcome": "untested", "detail": "JAX has no strings"}
        try:
            return self.case(call)
        except NotAcceptedError as error:
            return {"outcome": "fails", "detail": str(error), "eager": True}

    def case(self, call: str) -> dict[str, Any]:
        """One call. Raises NotAcceptedError."""
        self.note("eager")
        try:
            expression = parse(call, NAMES)
            expression.function(*_arguments(expression, 0))  # objects make their variables at their first call
        except Exception as error:
            raise NotAcceptedError(told(error)) from error
        subject = Subject(expression.function, expression.made)
        subject.save()
        eager, again = self.eager(subject, expression), self.eager(subject, expression, only=1)
        if isinstance(eager[0], str):
            raise NotAcceptedError(eager[0])
        self.note("compile")
        compiled, compilations = self.compiled(subject, expression)
        found = _verdict(eager, compiled, compilations, repeatable=_same(eager[0], again[0]))
        if found.get("outcome") == "fails" and (static := self.static(expression)):
            found["static"] = static
        if found.get("outcome") != "fails":
            found |= self.gradient(subject, expression)
        return found

    def eager(self, subject: Subject, expression: Expression, only: int = VALUE_SETS) -> list[Arrays | str]:
        """For each of the first value sets the results, or the error."""
        found: list[Arrays | str] = []
        for number in range(only):
            subject.restore()
            try:
                found.append(_arrays(subject.eager(*_arguments(expression, number))))
            except Exception as error:
                found.append(told(error))
        return found

    def compiled(self, subject: Subject, expression: Expression) -> tuple[list[Arrays | str], list[int]]:
        """The same of compiled calls, and how often each was compiled."""
        found: list[Arrays | str] = []
        compilations = []
        for number in range(VALUE_SETS):
            subject.restore()
            with self.counter.watching():
                try:
                    found.append(_arrays(subject.compiled(*_arguments(expression, number))))
                except Exception as error:
                    found.append(told(error))
            compilations.append(self.counter.count)
        return found, compilations

    def static(self, expression: Expression) -> list[str]:
        """The least parameters whose small whole numbers the call compiles with once they are Python values: once for
        every value, as JAX does for static arguments."""
        small = {
            place: expression.roles.get(place, one.text)
            for place, one in enumerate(expression.samples)
            if one.arrays[0].dtype.kind in "iu" and one.arrays[0].ndim <= 1 and one.arrays[0].size <= LONGEST_STATIC
        }
        roles = list(dict.fromkeys(small.values()))
        for chosen in [*([role] for role in roles), *([roles] if len(roles) > 1 else [])]:
            if all(self.compiles(expression, small, chosen, number) for number in range(VALUE_SETS)):
                return chosen
        return []

    def compiles(self, expression: Expression, small: Mapping[int, str], chosen: Sequence[str], number: int) -> bool:
        """Whether a call compiles whose chosen arguments are Python values, and gives what eager execution gives."""
        fixed = {
            place: _static(expression.samples[place].arrays[number]) for place, role in small.items() if role in chosen
        }

        def call(*traced: Any) -> Any:
            left = iter(traced)
            return expression.function(
                *(fixed[place] if place in fixed else next(left) for place in range(len(expression.samples)))
            )

        everything = _arguments(expression, number)
        traced = [one for place, one in enumerate(everything) if place not in fixed]
        subject = Subject(call, expression.made)
        self.note("compile static")
        try:
            expected = subject.eager(*traced)
            return _same(_arrays(expected), _arrays(subject.compiled(*traced)))
        except Exception:  # whatever is wrong, this is no way to call it
            return False

    def gradient(self, subject: Subject, expression: Expression) -> dict[str, Any]:
        """What becomes of the compiled gradient by all floating arrays and trained variables: nothing where it is zero.
        It is not compared with the eager one, which JAX traces as well."""
        floating = [place for place, one in enumerate(expression.samples) if one.floating]
        trained = [one for one in subject.variables if one.trainable and jnp.issubdtype(one.value.dtype, jnp.floating)]

        def total(chosen: Sequence[Any], values: Sequence[Any], everything: Sequence[Any]) -> Any:
            given = list(everything)
            for place, one in zip(floating, chosen, strict=True):
                given[place] = one
            with keras.StatelessScope(state_mapping=list(zip(trained, values, strict=True))):
                parts = arrays(expression.function(*given))
            summed = [jnp.sum(jnp.asarray(one, jnp.float32)) for one in parts if _is_real(one)]
            return sum(summed, start=jnp.float32(0.0)) if summed else None

        subject.restore()
        everything = _arguments(expression, 0)
        inputs = [everything[place] for place in floating], [one.value for one in trained], everything
        if not floating and not trained:
            return {}
        self.note("compile gradient")
        try:
            if total(*inputs) is None:
                return {}
            found = jax.tree.leaves(jax.jit(jax.grad(total, argnums=(0, 1), allow_int=True))(*inputs))
        except Exception as error:
            return {"gradient": "fails", "gradient_detail": told(error)}
        finally:
            subject.restore()
        return {"gradient": "ok"} if any(np.any(np.asarray(one)) for one in found) else {}


def _arguments(expression: Expression, number: int) -> list[Any]:
    return [jnp.asarray(one.arrays[number], jnp.dtype(one.dtype)) for one in expression.samples]


def _arrays(result: Sequence[Leaf]) -> Arrays:
    # Python's numbers become arrays of the dtype that JAX gives them.
    found = ((leaf, leaf.array) for leaf in result)
    return [array if leaf.tensor else np.asarray(jnp.asarray(array)) for leaf, array in found if array is not None]


def _static(array: np.ndarray[Any, Any]) -> Any:
    return int(array) if array.ndim == 0 else tuple(array.tolist())


def _is_real(one: Any) -> bool:
    return jnp.issubdtype(jnp.asarray(one).dtype, jnp.floating)


def _verdict(
    eager: Sequence[Arrays | str], compiled: Sequence[Arrays | str], compilations: Sequence[int], repeatable: bool
) -> dict[str, Any]:
    """The outcome: the gravest that is true."""
    for expected, actual in zip(eager, compiled, strict=True):
        match expected, actual:
            case list(), str(error):
                return {"outcome": "fails", "detail": error}
            case str(error), list():
                return {"outcome": "diverges", "detail": f"no error, where eager raises {error}"}
            case list(), list() if told_apart := difference(expected, actual, not repeatable):
                return {"outcome": "diverges", "detail": told_apart}
    if any(compilations[1:]):
        return {"outcome": "recompiles"}
    return {} if repeatable else {"random": True}


def _same(left: Arrays | str, right: Arrays | str) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return left == right
    return not difference(left, right, random=False)


def told(error: BaseException) -> str:
    """An error in a sentence."""
    return reason(brief(error))


TASKS: Final[dict[str, Callable[..., Any]]] = {"row": Worker.row}


def main() -> None:
    # Else Keras makes JAX's errors anew from their texts, which ends in an AttributeError about `_error_repr`.
    keras.config.disable_traceback_filtering()
    serve(Path(sys.argv[1]), Worker, TASKS)


if __name__ == "__main__":
    main()
