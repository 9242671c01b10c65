"""The checklist as text, as Markdown and as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from ..findings.findings import Finding
from ..reports.terminal import Paint, counted, joined, place, safe
from ..tpu.chips import chip_of
from .checklist import Answer, Proof, Readiness, State

VERSION: Final = 1
_COLOURS: Final = {State.OK: "green", State.ATTENTION: "red", State.NOT_SEEN: "yellow"}
_BOXES: Final = {State.OK: "[x]", State.ATTENTION: "[ ]", State.NOT_SEEN: "[ ]"}
_SHOWN: Final = 3  # places of one line; JSON has all


def text_report(readiness: Readiness, paint: Paint) -> str:
    """One line for each question, below it where the answer comes from, and the next step."""
    return joined(_text_lines(readiness, paint))


def _text_lines(readiness: Readiness, paint: Paint) -> Iterator[str]:
    for answer in readiness.answers:
        state = paint(f"{answer.state:<9}", _COLOURS[answer.state])
        yield f"{state}  {paint(answer.line.title, 'bold')}"
        yield from (f"{'':11}{shown}" for shown in _places(answer))
        for proof in answer.proofs:
            yield f"{'':11}{_proof(proof)}"
            yield from (f"{'':13}{safe(told)}" for told in proof.told)
        if answer.next_step is not None:
            yield f"{'':11}next: {answer.next_step}"
    yield ""
    yield _summary(readiness)


def markdown_report(readiness: Readiness) -> str:
    """A task list, for an issue or a pull request."""
    lines = []
    for answer in readiness.answers:
        lines.append(f"- {_BOXES[answer.state]} **{answer.state}** {answer.line.title}")
        lines += [f"  - {_escaped(shown)}" for shown in _places(answer)]
        for proof in answer.proofs:
            lines.append(f"  - {_escaped(_proof(proof))}")
            lines += [f"    - {_escaped(safe(told))}" for told in proof.told]
        if answer.next_step is not None:
            lines.append(f"  - next: {answer.next_step}")
    return joined([*lines, "", _summary(readiness)])


def json_report(readiness: Readiness) -> str:
    """Everything as one JSON object, ASCII only. The keys are a contract."""
    content = {
        "version": VERSION,
        "items": [_item(answer) for answer in readiness.answers],
        "errors": [{"path": problem.path, "message": problem.message} for problem in readiness.problems],
        "summary": {
            "files_checked": readiness.files_checked,
            **{state.value: _count(readiness, state) for state in State},
        },
    }
    return json.dumps(content, indent=2) + "\n"


FORMATS: Final[Mapping[str, Callable[[Readiness, Paint], str]]] = {
    "text": text_report,
    "markdown": lambda readiness, paint: markdown_report(readiness),
    "json": lambda readiness, paint: json_report(readiness),
}


def _item(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.line.name,
        "title": answer.line.title,
        "state": answer.state.value,
        "findings": [{"code": found.code, **_where(found)} for found in answer.findings],
        "evidence": [_where(seen) for seen in answer.evidence],
        "next": answer.next_step,
        "proofs": [_proven(proof) for proof in answer.proofs],
    }


def _proven(proof: Proof) -> dict[str, Any]:
    """Memory in bytes: what a program takes, and what it may."""
    programs = [
        {
            "of": program.of,
            "topology": program.topology,
            "refusal": program.refusal,
            "untried": program.untried,
            "seconds": program.seconds,
            "memory": program.memory,
            "available": chip_of(program.topology).memory,
        }
        for program in proof.programs
    ]
    return {**asdict(proof), "programs": programs}


def _where(found: Finding) -> dict[str, Any]:
    return {"path": found.path, "cell": found.cell, "line": found.span.line, "message": found.message}


def _places(answer: Answer) -> Iterator[str]:
    """Where the answer comes from: findings if there are any, else what speaks for it."""
    shown = answer.findings or answer.evidence
    for found in shown[:_SHOWN]:
        code = f"{found.code} " if answer.findings else ""
        yield f"{place(found.path, found.cell, found.span.line)}  {code}{safe(found.message)}"
    if len(shown) > _SHOWN:
        yield f"and {len(shown) - _SHOWN} more"


def _proof(proof: Proof) -> str:
    """What became of a function, in a line; more follows below."""
    given = f" with {', '.join(proof.inputs)}" if proof.inputs else ""
    return f"{place(proof.path, None, proof.line)}  {proof.outcome} `{safe(proof.function)}`{safe(given)}"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is, code between backticks left alone."""
    return text.replace("<", "&lt;").replace("*", "\\*")


def _summary(readiness: Readiness) -> str:
    counts = ", ".join(f"{_count(readiness, state)} {state}" for state in State)
    return f"{counts} ({counted(readiness.files_checked, 'file')} checked)."


def _count(readiness: Readiness, state: State) -> int:
    return sum(answer.state is state for answer in readiness.answers)
