"""What the compiler has agreed to is kept for the versions that the tests install, so that a sample of it is enough."""

from __future__ import annotations

import json

from tests import ROOT
from tests.compiler import claims


def test_the_record_is_of_the_versions_that_the_tests_install() -> None:
    record = json.loads(claims.RECORD.read_text(encoding="utf-8"))
    pins = {f"{name}=={version}" for name, version in record["versions"].items()}
    assert pins
    assert pins <= set((ROOT / "tests/requirements.txt").read_text(encoding="utf-8").splitlines())
    assert sum(map(len, record["claims"].values())) > 1000
