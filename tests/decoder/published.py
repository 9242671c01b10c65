"""Errors that people published, and how many of them the decoder answers.

    python -m tests.decoder.published            figures, and what is not right among those that are not kept aside
    python -m tests.decoder.published --aside    the same of every third text, which nobody looks at while mending

`published.toml` has the texts, each with its thread, its version and the answer that the thread supports, which was
written down before the decoder was asked.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from xlalint.decoder.answers import Answers, Place, explain_log

TABLE: Final = Path(__file__).with_name("published.toml")
ASIDE: Final = 3  # every third text


class Verdict(StrEnum):
    """What an answer is worth. `PARTLY`: the rule is among those that may be meant, and none is named."""

    RIGHT = "right"
    PARTLY = "partly"
    SILENT = "silent"
    WRONG = "wrong"


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An error as somebody published it; the head of `published.toml` says what the fields mean."""

    thread: str
    version: str
    rules: tuple[str, ...]
    text: str
    because: str = ""
    cure: str = ""
    silence: bool = False
    place: str | None = None


def published() -> tuple[Published, ...]:
    """Every text of the table, in its order."""
    document = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return tuple(msgspec.convert(document["error"], list[Published]))


def part(texts: Sequence[Published], aside: bool) -> list[Published]:
    """The texts that are kept aside, or the others."""
    return [text for number, text in enumerate(texts, 1) if (number % ASIDE == 0) is aside]


def judged(text: Published, found: Answers) -> Verdict:
    """What the decoder's answers to a text are worth."""
    named = {answer.code for answer in found.answers if answer.code is not None}
    if not named <= set(text.rules) or not _placed(text, found):
        return Verdict.WRONG
    if named or text.silence or (found.answers and not text.rules):
        return Verdict.RIGHT
    return (
        Verdict.PARTLY
        if {code for answer in found.answers for code in answer.codes} & set(text.rules)
        else Verdict.SILENT
    )


def _placed(text: Published, found: Answers) -> bool:
    """The line that is shown is the one that the text is about."""
    shown = {_place(answer.place) for answer in found.answers} if text.place is not None else set()
    return shown <= {text.place}


def _place(place: Place | None) -> str:
    return "" if place is None else f"{place.path}:{place.line}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aside", action="store_true")
    aside = parser.parse_args(arguments).aside
    texts = part(published(), aside)
    counted: Counter[Verdict] = Counter()
    for text in texts:
        found = explain_log(text.text)
        verdict = judged(text, found)
        counted[verdict] += 1
        if verdict is not Verdict.RIGHT:
            said = [f"{answer.code or 'no rule'} at {_place(answer.place)!r}" for answer in found.answers]
            wanted = ", ".join(text.rules) or f"no rule: {text.because}"
            print(f"{verdict}: {text.thread}\n  wanted {wanted}; said {'; '.join(said) or 'nothing'}")
    print(f"{len(texts)} texts: " + ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
