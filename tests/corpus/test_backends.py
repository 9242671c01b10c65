"""Layers with each backend: what is run once is not run again, and what counts as agreeing with the linter."""

from __future__ import annotations

from pathlib import Path

import msgspec

from xlalint.findings.findings import Backend

from .backends import Result, Said, missing, results_of, summary


def said(status: str) -> Said:
    return Said(status, "XLA101", "error", "fails", "a.py:3", "")


def test_what_has_a_result_is_not_run_again(tmp_path: Path) -> None:
    everything = [run.key for run in missing([], list(Backend), [])]
    file = tmp_path / "results.jsonl"
    assert results_of(file) == []
    done = [Result(*key, "compiles", "") for key in everything[:3]]
    file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in done))
    assert [run.key for run in missing([], list(Backend), results_of(file))] == everything[3:]
    assert everything[0][:-1] == everything[1][:-1]  # both backends of a class, so that an ended run has pairs


def test_agreement_is_of_what_was_driven() -> None:
    agrees = Result("p@1", "a.py", "A", "tensorflow", "compiles", "")
    found = Result("p@1", "a.py", "A", "jax", "fails", "", (said("confirmed"),))
    missed = Result("p@1", "a.py", "B", "jax", "fails", "", (said("confirmed"), said("probe-only")))
    undecided = Result("p@1", "a.py", "C", "jax", "compiles", "", (said("open"),))
    not_run = Result("p@1", "a.py", "D", "jax", "not run", "no inputs found", (said("open"),))
    assert [one.agreement for one in (agrees, found, missed, undecided)] == ["agrees", "agrees", "probe-only", "open"]
    lines = list(summary([agrees, found, missed, undecided, not_run]))
    assert lines[0].startswith("p B, jax: fails: probe-only")
    assert lines[-2].startswith("jax: 3 of 4 driven: {'agrees': 1, 'open': 1, 'probe-only': 1, 'refuted': 0}; 2")
    assert lines[-1] == "driven on every backend: 1"
