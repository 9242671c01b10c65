"""What the compiler has agreed to is kept for the versions that the tests install, so that a sample of it is enough."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests import ROOT
from tests.compiler import claims


def _item(name: str, path: Path, mark: pytest.Mark) -> pytest.Item:
    """What is asked of a test's case."""
    item = SimpleNamespace(
        name=name, path=path, user_properties=[], get_closest_marker=lambda _: mark, iter_markers=lambda _: [mark]
    )
    given = cast(pytest.Item, item)
    claims.announce(given)
    return given


def test_the_record_is_of_the_versions_that_the_tests_install() -> None:
    record = json.loads(claims.RECORD.read_text(encoding="utf-8"))
    pins = {f"{name}=={version}" for name, version in record["versions"].items()}
    assert pins
    assert pins <= set((ROOT / "tests/requirements.txt").read_text(encoding="utf-8").splitlines())
    assert sum(map(len, record["claims"].values())) > 1000


@pytest.mark.parametrize(("sampled", "asked"), [(True, claims.SAMPLE), (False, 0)])
def test_of_what_is_known_a_sample_is_asked_or_none(
    monkeypatch: pytest.MonkeyPatch, *, sampled: bool, asked: int
) -> None:
    monkeypatch.delenv("XLALINT_SAMPLE", raising=False)
    marks = [claims.claim(number, sampled=sampled).mark for number in range(20)]
    given = [_item(f"test_it[{number}]", Path("test_it.py"), mark) for number, mark in enumerate(marks)]
    known = {"test_it": [mark.args[0] for mark in marks[:-1]]}  # the last is new
    monkeypatch.setattr(claims, "known", lambda: known)
    left_out = claims.left_out(given)
    assert given[-1] not in left_out
    assert len(left_out) == len(given) - 1 - asked


def test_no_two_files_claim_something_by_tests_of_one_name() -> None:
    """What is recorded of one would throw out what the other keeps."""
    one, other = (_item("test_it[1]", Path(file), claims.claim(file).mark) for file in ("test_a.py", "test_b.py"))
    with pytest.raises(pytest.UsageError, match=r"test_it makes claims in test_a\.py and in test_b\.py: rename one"):
        claims.left_out([one, other])


def test_a_claim_changes_with_the_code_that_it_names() -> None:
    assert claims.sources("xlalint/tpu") != claims.sources("xlalint/tpu", "xlalint/decoder/answers.py")
    assert claims.claim("x", claims.sources("xlalint/tpu")).mark.args != claims.claim("x").mark.args


def test_the_record_is_not_written_of_a_part_of_the_cases() -> None:
    before = claims.RECORD.read_bytes()
    command = [sys.executable, "-m", "pytest", __file__, "--record", "-k", "a_claim_changes"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert "-k may leave some out" in ran.stderr
    assert claims.RECORD.read_bytes() == before
