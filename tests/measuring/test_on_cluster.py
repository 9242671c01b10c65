"""The table is measured on a cluster as it is here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from distributed import LocalCluster

from xlalint.measuring import driver, on_cluster
from xlalint.measuring.__main__ import main
from xlalint.probe.process import ProbeUnavailableError

NAMES: Final = ("tf.nn.relu", "tf.no_such_function", "tf.unique")
PLANS: Final = {
    "tf.nn.relu": {"call": "tf.nn.relu(f32[3])", "varied": []},
    "tf.unique": {"call": "tf.unique(i32[3])", "varied": []},
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster.scheduler_address


def journal(folder: Path, cluster: str | None) -> dict[str, object]:
    """What a run writes, in the order of the names."""
    folder.mkdir()
    path = folder / "rows.jsonl"
    elsewhere = None if cluster is None else partial(on_cluster.rows, cluster)
    rows = dict(driver.run(NAMES, path, PLANS, again=False, elsewhere=elsewhere))
    assert rows == driver.journal(path)
    assert not list(
        driver.run(NAMES, path, PLANS, again=False, elsewhere=elsewhere)
    )  # goes on where the first one ended
    return {name: rows[name] for name in NAMES}


@pytest.mark.slow
@pytest.mark.compiler
def test_rows_are_those_that_are_measured_here(address: str, tmp_path: Path) -> None:
    here, there = journal(tmp_path / "here", None), journal(tmp_path / "there", address)
    assert json.dumps(there) == json.dumps(here)
    assert there["tf.no_such_function"] is None
    assert here["tf.nn.relu"] != here["tf.unique"]


@pytest.mark.slow
def test_workers_with_other_versions_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content, packages = on_cluster.versions()
    for here, said in (
        ((content, packages | {"tensorflow": "1.15.0"}), "and here there is"),
        (("another", packages), "another version of xlalint"),
    ):
        job = on_cluster.Job("run", here, "tf.nn.relu", None, "row", "tensorflow")
        with pytest.raises(ProbeUnavailableError, match=said):
            on_cluster.measured(job)
        monkeypatch.setattr(on_cluster, "installed", lambda here=here: here[1])
        monkeypatch.setattr(on_cluster, "content_digest", lambda here=here: here[0])
        with pytest.raises(ProbeUnavailableError, match=f"the worker tcp.*{said}"):
            list(on_cluster.rows(address, NAMES, PLANS, "row", "tensorflow"))
        monkeypatch.undo()


def test_a_scheduler_that_does_not_answer_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bounded", "--folder", str(tmp_path), "--only", "^tf.nn.relu$", "--cluster", "no such address"])
    assert ended.value.code == 2
    assert "error: --cluster no such address: " in capsys.readouterr().err
