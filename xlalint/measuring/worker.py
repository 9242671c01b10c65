"""The process that measures: reads callables as JSON lines, answers with rows of the table as JSON lines.

Before each step that may kill the process it says what it is about to do; the driver hands that back to the next
worker as `dead`, which then knows what not to try again.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from xlalint.measuring import gradients
from xlalint.measuring.arguments import Target, Tensors, calls, target
from xlalint.measuring.expressions import Expression, namespace, parse
from xlalint.measuring.first_axes import followed
from xlalint.measuring.outcome import Meter, NotAcceptedError, brief, clean, reason, undefined_in
from xlalint.measuring.recipes import Recipe, recipes
from xlalint.measuring.samples import VALUE_SETS
from xlalint.measuring.signatures import Observer
from xlalint.measuring.variations import Variation, variations
from xlalint.tpu.chips import DEFAULT

UNDEFINED: Final = "ValueError: the result is no number"
SEARCH_TRIES: Final = 500
SEARCH_SECONDS: Final = 12.0
MORE_TRIES: Final = 60  # after a call that is accepted only in part
# What two cases must agree in to be the same for whoever writes the call.
DEFAULTS: Final = (("outcome", "ok"), ("gradient", "none"))
DECISIVE: Final = ("outcome", "missing", "bounded")


class Worker:
    """Measures one callable after the other."""

    def __init__(self, folder: Path, answers: Any) -> None:
        self.answers = answers
        self.call = ""
        self.names = namespace()
        self.meter = Meter(folder / "dump", self.note)
        self.observer = Observer(self.meter, self.names, self.note_of)
        self.recipes = recipes()
        self.dead: Mapping[str, Any] = {}

    def note(self, stage: str) -> None:
        """Say what comes next."""
        self.say({"at": stage, "call": self.call})

    def note_of(self, stage: str, call: str) -> None:
        """Say what comes next, of which call."""
        self.call = call
        self.note(stage)

    def say(self, what: Mapping[str, Any]) -> None:
        print(json.dumps(what), file=self.answers, flush=True)

    def row(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """Everything about one callable; None where this version has no such name."""
        self.dead = job["dead"]
        what = target(job["name"], self.names)
        if what is None:
            return None
        recipe = self.recipes.get(what.name, Recipe(""))
        call, why = job["plan"]["call"] if job["plan"] else "", ""
        if not call or self.accepted(call)[0] == "none":
            call, why = self.search(what, [recipe.call] if recipe.call else [])
        if not call:
            return {"untested": why}
        try:
            plain = self.case(call, gradient=True)
        except NotAcceptedError as error:
            return {"untested": reason(str(error))}
        row: dict[str, Any] = {"cases": [plain], "same": {}, "untaken": {}, "refused": self.refused(call)}
        planned = (job["plan"] or {}).get("varied")
        for group in variations(what, recipe, plain, planned):
            for one in group:
                if self.add(row, one):
                    break
        return row

    def signature(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a callable gives back (`signatures.Observer.observe`); None where this version has no such name."""
        what = target(job["name"], self.names)
        return None if what is None else self.observer.observe(what, job["plan"], job["dead"])

    def first_axes(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """Which arguments the length of a result goes with (`measuring.first_axes`); None where there is no such
        name."""
        self.dead = job["dead"]
        call: str = job["plan"]["call"]
        if target(job["name"], self.names) is None:
            return None

        def run(text: str) -> list[Any]:
            if text in self.dead:
                raise NotAcceptedError(text)
            self.call = text
            return self.meter.accepts(self.parsed(text))

        try:
            return {"follows": followed(call, parse(call, self.names).roles, run)}
        except Exception:  # eager execution does not take it here: nothing is known of it
            return {"follows": {}}

    def gradients(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """What becomes of the gradients of a callable's calls (`measuring.gradients`); None where this version has no
        such name."""
        self.dead = job["dead"]
        what = target(job["name"], self.names)
        if what is None:
            return None
        plain, varied, random = (job["plan"][key] for key in ("plain", "varied", "random"))
        others = variations(what, self.recipes.get(what.name, Recipe("")), plain, varied)
        seen: list[dict[str, Any]] = []
        for group in gradients.groups(plain, others):
            for one in group:
                try:
                    found = self.gradient(one.call, random.get(one.call, plain.get("random", False)))
                except NotAcceptedError:
                    continue
                seen.append({"call": one.call, "varied": dict(one.varied), **found})
                break
            if not seen or seen[0].get("gradient") is None:  # where the plain call has none, no other is asked for
                break
        return {"seen": seen}

    def gradient(self, call: str, random: bool) -> dict[str, Any]:
        """What became of the gradient of a call; nothing where there is none."""
        self.call = call
        stage, how = self.dead.get(call, ["", ""])
        if stage == "compile gradient":
            return {"gradient": "fails", "gradient_detail": how}
        if stage:
            raise NotAcceptedError(how)
        return self.meter.gradient_alone(self.parsed(call), random)

    def on_tpu(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """By call, what a TPU's compiler makes of it; None where this version has no such name."""
        self.dead = job["dead"]
        if target(job["name"], self.names) is None:
            return None
        self.meter.tf.config.run_functions_eagerly(True)
        rows: dict[str, Any] = {}
        for call, gradient in job["plan"]["calls"]:
            self.call = call
            dead = self.dead.get(call, ("", ""))
            try:
                if dead[0] in ("eager", "graph"):
                    raise NotAcceptedError(dead[1])
                rows[call] = self.lowering.case(self.parsed(call), gradient, dead)
            except NotAcceptedError as error:
                rows[call] = {"outcome": "untested", "detail": reason(str(error))}
        return rows

    def on_gpu(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """The cases of calls, with their gradients where asked, on what TensorFlow sees here."""
        return self._cases(job, job["plan"]["calls"])

    def nested(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """The calls whose gradient is compiled again where they are in a `tf.function` inside of what is compiled; None
        where this version has no such name."""
        self.dead = job["dead"]
        if target(job["name"], self.names) is None:
            return None
        again = []
        for call in job["plan"]["calls"]:
            self.call = call
            try:
                if call not in self.dead and self.meter.again_where_nested(self.parsed(call)):
                    again.append(call)
            except Exception:  # eager execution does not take it here: nothing is known of it
                continue
        return {"again": again}

    def bounded(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """The cases of calls with an argument of bounded dynamic shape (`measuring.bounded`)."""
        return self._cases(job, ((call, True) for call in job["plan"]["calls"]))

    def _cases(self, job: Mapping[str, Any], calls: Iterable[tuple[str, bool]]) -> dict[str, Any] | None:
        """The cases of calls, and whether with their gradients; None where this version has no such name."""
        self.dead = job["dead"]
        if target(job["name"], self.names) is None:
            return None
        cases = []
        for call, gradient in calls:
            try:
                cases.append(self.case(call, gradient, follows=False))
            except NotAcceptedError as error:
                cases.append({"call": call, "outcome": "untested", "detail": reason(str(error))})
        return {"cases": cases}

    @cached_property
    def lowering(self) -> Any:
        from xlalint.measuring.lowering import Lowering

        return Lowering(self.meter, self.note, DEFAULT)

    def refused(self, call: str) -> bool:
        """Whether Keras says of a layer that is built that it cannot be compiled."""
        made = self.parsed(call).made
        return any(getattr(one, "supports_jit", True) is False for one in made)

    def add(self, row: dict[str, Any], other: Variation) -> bool:
        """Measure another case, and keep it where it ends otherwise than the plain one. Was it accepted?"""
        plain, varied = row["cases"][0], dict(other.varied)
        if any(one.get("varied") == varied for one in row["cases"]):
            return True
        gradient = other.gradient and plain.get("gradient", "none") != "none"
        case = self.varied(other, gradient)
        if case is None:
            _note_texts(row["untaken"], varied)
            return False
        _name(case, varied)
        decisive = [*DECISIVE, *(["detail"] if case["outcome"] == "recompiles" else [])]
        decisive += ["gradient", "gradient_missing"] if gradient else []
        if any(case.get(key) != plain.get(key) for key in decisive):
            row["cases"].append({**case, "varied": varied})
        else:
            _note_texts(row["same"], varied)
        return True

    def varied(self, other: Variation, gradient: bool) -> dict[str, Any] | None:
        """The case of another call, where eager execution takes it."""
        taken, _ = self.accepted(other.call)
        if taken == "none" or (taken == "first" and "outside[" not in other.call and "nan[" not in other.call):
            return None
        try:
            return self.case(other.call, gradient)
        except NotAcceptedError:
            return None

    def search(self, what: Target, first: list[str]) -> tuple[str, str]:
        """A call that eager execution accepts with all values, and a graph; or nothing, and why."""
        started, why = time.monotonic(), ""
        second_best: dict[str, str] = {}  # how far a call came: the first that came there
        found_at = SEARCH_TRIES
        tensors = Tensors()
        for number, call in enumerate((*first, *calls(what, tensors))):
            if number > min(found_at + MORE_TRIES, SEARCH_TRIES) or time.monotonic() - started > SEARCH_SECONDS:
                break
            accepted, error = self.accepted(call)
            if accepted == "all" and not self.traced(call):
                accepted = "eager"
            elif accepted == "all" and error:
                accepted = "undefined"
            if accepted == "all":
                return call, ""
            if accepted != "none":
                second_best.setdefault(accepted, call)
                found_at = min(found_at, number)
            why = why or error
            tensors.hint(error)
        best = next((second_best[how] for how in ("undefined", "first", "eager") if how in second_best), "")
        return best, reason(why) if why else "no arguments were found"

    def accepted(self, call: str) -> tuple[str, str]:
        """Whether eager execution takes the call: with "all" value sets, the "first" alone, "none"; and its flaw."""
        if self.dead.get(call, ["", ""])[0] == "eager":
            return "none", self.dead[call][1]
        self.call = call
        self.note("eager")
        undefined = False
        for number in range(VALUE_SETS):
            try:
                if number == 0:
                    expression = parse(call, self.names)
                undefined |= undefined_in(self.meter.accepts(expression, number))
            except Exception as error:
                return ("first" if number else "none"), brief(error)
        return "all", UNDEFINED if undefined else ""

    def traced(self, call: str) -> bool:
        """Whether the call can be part of a graph."""
        if call in self.dead:
            return True
        self.note("graph")
        try:
            expression = parse(call, self.names)
            self.meter.accepts(expression)
            self.meter.ops(self.meter.graph(expression, compiled=False), expression)
        except Exception:  # said by the measurement, if this call is taken
            return False
        return True

    def case(self, call: str, gradient: bool, follows: bool = True) -> dict[str, Any]:
        """One case of the table."""
        self.call = call
        stage, how = self.dead.get(call, ["", ""])
        if stage == "eager":
            raise NotAcceptedError(how)
        if stage in ("graph", "compile", "blame"):
            return {"call": call, "outcome": "fails", "detail": how}
        expression = self.parsed(call)
        found = self.meter.case(
            expression, gradient and "gradient" not in stage, follows=follows and stage != "follows"
        )
        if stage == "compile gradient":
            found |= {"gradient": "fails", "gradient_detail": how}
        return found

    def parsed(self, call: str) -> Expression:
        self.note("eager")
        try:
            return parse(call, self.names)
        except Exception as error:
            raise NotAcceptedError(brief(error)) from error


def _note_texts(noted: dict[str, list[str]], varied: Mapping[str, str]) -> None:
    for parameter, text in varied.items():
        texts = noted.setdefault(parameter, [])
        if text not in texts:
            texts.append(text)


def _name(case: dict[str, Any], varied: Mapping[str, str]) -> None:
    """Call the one argument that is varied, and that the compilations follow, what it is varied as: the method of an
    object has no parameters that the text of the call shows."""
    if case.get("detail", "").startswith("argument ") or case.get("detail") in varied.values():
        match list(varied), list(case.get("follows", ())):
            case [parameter], [guilty]:
                case |= {"detail": parameter, "follows": {parameter: case["follows"][guilty]}}


TASKS: Final = {
    "row": Worker.row,
    "signature": Worker.signature,
    "first_axes": Worker.first_axes,
    "tpu": Worker.on_tpu,
    "gpu": Worker.on_gpu,
    "nested": Worker.nested,
    "bounded": Worker.bounded,
    "gradients": Worker.gradients,
}


def main() -> None:
    folder = Path(sys.argv[1])
    serve(folder, lambda answers: Worker(folder, answers), TASKS)


def serve(folder: Path, make: Callable[[Any], Any], tasks: Mapping[str, Callable[..., Any]]) -> None:
    """Answer jobs with what `make` makes, each by the one of its `tasks` that the job names."""
    # The answers keep the real standard output; what calls print goes to the log.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        worker = make(answers)
        print(json.dumps({"ready": True}), file=answers, flush=True)
        for number, line in enumerate(sys.stdin):
            own = folder / f"{number}"  # some of the calls write files, which others would find
            own.mkdir()
            os.chdir(own)
            row = answer(worker, json.loads(line), tasks)
            print(json.dumps({"row": row}), file=answers, flush=True)


def answer(worker: Any, job: Mapping[str, Any], tasks: Mapping[str, Callable[..., Any]]) -> dict[str, Any] | None:
    """The row without what is default. An error of this program does not end the run, and is not taken for a result."""
    try:
        row = tasks[job["task"]](worker, job)
    except Exception as error:
        traceback.print_exc()
        return {"untested": f"the measuring program failed: {clean(brief(error))}"}
    if row is None or "cases" not in row:
        return row
    cases = [
        {key: value for key, value in case.items() if value not in ("", [], {}, False) and (key, value) not in DEFAULTS}
        for case in row["cases"]
    ]
    return {"cases": cases} | {key: row[key] for key in ("same", "untaken", "refused") if row.get(key)}


if __name__ == "__main__":
    main()
