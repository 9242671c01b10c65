"""Claims about the compiler that a test makes one by one: each is asked when it is new or other than it was, and of
those to which this TensorFlow or JAX has agreed already a sample is asked again; none of those that take long.

`asked.json` keeps what was agreed to: `python -m pytest -m compiler --record` writes it anew, and asks no more than any
run does. `XLALINT_SAMPLE` takes more of what is known, `XLALINT_SEED` others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, cast

import pytest

from tests import ROOT, sampling
from xlalint.measuring.registry import installed

RECORD: Final = Path(__file__).with_name("asked.json")
SAMPLE: Final = 4  # of the claims of one test
_DECISIVE: Final = ("tensorflow", "tensorflow-cpu", "keras", "jax", "jaxlib")  # packages
_READ: Final = frozenset((".py", ".json"))


def claim(*parts: object, sampled: bool = True) -> pytest.MarkDecorator:
    """Of a case of a test: all that decides what the compiler is asked, and what is said of its answer. Where that
    takes long, none of what is known is asked again (`sampled`)."""
    return pytest.mark.claim(hashlib.sha256(repr(parts).encode()).hexdigest()[:12], sampled=sampled)


@cache
def sources(*places: str) -> str:
    """A digest of files and folders of the project that decide, too, what becomes of a claim."""
    found = [file for place in places for file in (ROOT / place, *(ROOT / place).rglob("*")) if file.suffix in _READ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(found))).hexdigest()


def announce(item: pytest.Item) -> None:
    """Let the report of a claim's test say which claim that was."""
    if mark := item.get_closest_marker("claim"):
        item.user_properties.append(("claim", (item.name.partition("[")[0], *mark.args)))


def _announced(properties: Iterable[tuple[str, object]]) -> tuple[str, str] | None:
    """The test, wherever its file lies, and the digest of the claim that one of its cases makes."""
    test, digest = cast(Sequence[str], dict(properties).get("claim", ("", "")))
    return (test, digest) if digest else None


def versions() -> dict[str, str]:
    """What a claim is about."""
    return installed(_DECISIVE)


def known() -> dict[str, list[str]]:
    """By test the digests of the claims that the installed TensorFlow, or JAX, has agreed to."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return cast(dict[str, list[str]], record["claims"]) if record["versions"] == versions() else {}


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The known claims that are not asked again this time. The record keeps those of a test by its name: two files
    whose tests of one name claim something raise pytest.UsageError, as either would throw out what the other keeps."""
    agreed, by_test, files = known(), dict[str, list[pytest.Item]](), dict[str, Path]()
    for item in items:
        match _announced(item.user_properties):
            case (test, digest):
                if files.setdefault(test, item.path) != item.path:
                    raise pytest.UsageError(f"{test} makes claims in {files[test]} and in {item.path}: rename one")
                if digest in agreed.get(test, ()):
                    by_test.setdefault(test, []).append(item)
    for group in by_test.values():
        group.sort(key=lambda item: _announced(item.user_properties) or ())
        sampling.chance().shuffle(group)
    return [item for group in by_test.values() for item in group[sampling.size(SAMPLE if _is_sampled(group) else 0) :]]


def _is_sampled(group: Sequence[pytest.Item]) -> bool:
    """Whether the claims of a test are asked again now and then."""
    return all(mark.kwargs["sampled"] for item in group for mark in item.iter_markers("claim"))


class Recorder:
    """Keeps the claims of the tests that pass, and those that were known and left out, in place of what was known."""

    def __init__(self) -> None:
        self._agreed: dict[str, set[str]] = {}
        self._known = known()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        match _announced(report.user_properties):
            case (test, digest) if (report.when == "call" and report.passed) or (
                report.skipped and digest in self._known.get(test, ())
            ):
                self._agreed.setdefault(test, set()).add(digest)

    def pytest_sessionfinish(self) -> None:
        claims = self._known | {test: sorted(digests) for test, digests in self._agreed.items()}
        found = {"versions": versions(), "claims": dict(sorted(claims.items()))}
        RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
