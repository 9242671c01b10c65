"""Answers as a person reads them, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from textwrap import dedent
from typing import Any

from ..reports.terminal import Paint, safe
from .answers import Answer, Answers, name_of

UNKNOWN = (
    "xlalint does not know this error. It knows the errors that TensorFlow, AutoGraph, Keras, JAX and XLA raise when"
    " they refuse to trace or compile code."
)
NOTHING = "This text contains no TensorFlow or XLA error that xlalint knows."


def text_report(answers: Answers, paint: Paint) -> str:
    """Every answer, then what has none."""
    blocks = [_block(answer, paint) for answer in answers.answers]
    if answers.unknown:
        listed = "".join(f"  {safe(line)[:300]}\n" for line in answers.unknown)
        blocks.append(f"{UNKNOWN}\n{listed}")
    return "\n".join(blocks) if blocks else f"{NOTHING}\n"


def _block(answer: Answer, paint: Paint) -> str:
    title = f"{answer.code} {name_of(answer.code)}" if answer.code is not None else "no rule"
    lines = [f"{paint(title, 'bold')}: {safe(answer.reason)}"]
    place = answer.place
    if place is not None:
        inside = f", in `{safe(place.function)}`" if place.function else ""
        whose = ", an installed package" if place.installed else ""
        lines.append(f"  --> {safe(place.path)}:{place.line}{inside}{whose}")
        if place.source:
            number = str(place.line)
            lines += [f" {' ' * len(number)} |", f" {number} |     {safe(place.source)}", f" {' ' * len(number)} |"]
    if answer.finding is not None:
        at = f"{safe(answer.finding.path)}:{answer.finding.span.line}:{answer.finding.span.column}"
        lines.append(f"  = found: {at}: {safe(answer.finding.message)}")
    lines.append(f"  = error: {safe(answer.error)}" + (f" ({answer.times} times)" if answer.times > 1 else ""))
    if answer.rewrite:
        lines += _attached("instead", dedent(answer.rewrite))
    lines += [f"  = or {other.code} {name_of(other.code)}: {other.when}" for other in answer.others]
    if answer.code is not None:
        lines.append(f"  = more: xlalint explain {answer.code}")
    if answer.link is not None:
        lines.append(f"  = read: {answer.link}")
    return "\n".join(lines) + "\n"


def _attached(label: str, text: str) -> list[str]:
    """A label and its text; several lines stand below it, so that code keeps its shape."""
    lines = safe(text, keep_lines=True).split("\n")
    if len(lines) == 1:
        return [f"  = {label}: {text}"]
    return [f"  = {label}:", *(f"      {line}".rstrip() for line in lines)]


def json_report(answers: Answers) -> str:
    """The same for programs."""
    document = {
        "version": 1,
        "answers": [_record(answer) for answer in answers.answers],
        "unknown": list(answers.unknown),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _record(answer: Answer) -> dict[str, Any]:
    place = answer.place
    return {
        "code": answer.code,
        "name": name_of(answer.code) if answer.code is not None else None,
        "reason": answer.reason,
        "error": answer.error,
        "times": answer.times,
        "place": None if place is None else asdict(place),
        "rewrite": answer.rewrite,
        "link": answer.link,
        "others": [{"code": other.code, "name": name_of(other.code), "when": other.when} for other in answer.others],
        "finding": None
        if answer.finding is None
        else {
            "path": answer.finding.path,
            "line": answer.finding.span.line,
            "column": answer.finding.span.column,
            "message": answer.finding.message,
        },
    }
