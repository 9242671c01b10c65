"""The measured tables and what measures them, without TensorFlow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlalint.facts import tables
from xlalint.facts.tables import Gradient, Outcome
from xlalint.measuring import __main__ as program
from xlalint.measuring import arguments, compose, constants, driver
from xlalint.measuring.arguments import Parameter, Target, Tensors
from xlalint.measuring.callables import callables
from xlalint.measuring.outcome import difference, reason
from xlalint.measuring.recipes import recipes
from xlalint.measuring.samples import KINDS, VALUE_SETS, sample

# -- the shipped tables -----------------------------------------------------------------------------------------------


def test_an_op_without_kernel_lacks_it_on_every_device() -> None:
    fact = tables.op("Lu")
    assert fact is not None
    assert fact.lacking() == ("cpu", "gpu", "tpu")
    assert {device: kernel.version for device, kernel in fact.kernels.items()} == {
        "cpu": "2.21",
        "gpu": "2.21",
        "tpu": "2.20",
    }


def test_an_op_with_kernel_names_its_dtypes() -> None:
    fact = tables.op("MatMul", "2.15.1")
    assert fact is not None
    assert fact.lacking() == ()
    assert fact.kernels["cpu"].version == "2.15"
    assert "float" in fact.kernels["cpu"].dtypes["T"]
    assert "string" not in fact.kernels["cpu"].dtypes["T"]


def test_an_op_that_does_not_exist_is_unknown() -> None:
    assert tables.op("NoSuchOp") is None
    assert tables.api("tf.no_such_function") is None


def test_all_of_the_tables_can_be_read() -> None:
    assert len(tables.op_names()) > 1800
    for version in tables.versions():
        assert tables.packages(version)
        for fact in tables.apis(version):
            assert bool(fact.cases) != bool(fact.untested), fact
            assert all(case.varied for case in fact.cases[1:]), fact
            assert all(case.outcome is Outcome.FAILS for case in fact.cases if case.missing), fact
            assert all(case.gradient is Gradient.FAILS for case in fact.cases if case.gradient_missing), fact
    for name in tables.op_names():
        assert any(tables.op(name, version) is not None for version in ("2.21", "2.18", "2.15", "2.13")), name


def test_what_is_missing_has_no_kernel_or_none_for_the_dtypes() -> None:
    for version in tables.versions():
        for fact in tables.apis(version):
            for case in fact.cases:
                for name in case.missing:
                    known = tables.op(name, version)
                    lacks = known is not None and not known.kernels["cpu"].supported
                    assert lacks or "with these attributes" in case.detail, (fact.name, name)


@pytest.mark.parametrize(("asked", "answered"), [(None, 0), ("99.0", 0), ("1.15", -1)])
def test_a_version_that_was_not_measured_has_a_neighbour(asked: str | None, answered: int) -> None:
    assert tables.nearest(asked) == tables.versions()[answered]


def test_a_reader_that_goes_away_has_seen_enough() -> None:
    command = [sys.executable, "-m", "xlalint.measuring", "counts", "--untested"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait() == 0


def test_counts_tell_every_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["counts"]) == 0
    shown = capsys.readouterr().out
    for version in tables.versions():
        total = sum(1 for _ in tables.apis(version))
        assert f"TensorFlow {version}:" in shown
        assert f"of {total} callables" in shown


def test_what_was_not_tested_is_listed_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["counts", "--untested"]) == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  untested: ")]
    untested = [fact for version in tables.versions() for fact in tables.apis(version) if not fact.cases]
    assert listed == [f"  untested: {fact.name}: {fact.untested}" for fact in untested]
    assert all(fact.untested for fact in untested)


# -- putting tables together ------------------------------------------------------------------------------------------


def measured_folder(folder: Path, rows: dict[str, dict[str, Any]]) -> Path:
    for version, found in rows.items():
        (folder / f"apis-{version}.json").write_text(
            json.dumps({"version": version, "packages": {"tensorflow": version}})
        )
        lines = [json.dumps({"name": name, "row": row}) for name, row in found.items()]
        (folder / f"apis-{version}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


ROWS: dict[str, dict[str, Any]] = {
    "2.21": {
        "tf.same": {"cases": [{"call": "tf.same(f32[2])", "ops": ["New"]}]},
        "tf.mended": {"cases": [{"call": "tf.mended(f32[2])"}]},
        "tf.new": {"untested": "nothing was found"},
    },
    "2.15": {
        "tf.same": {"cases": [{"call": "tf.same(f32[2])", "ops": ["Old"]}]},
        "tf.mended": {"cases": [{"call": "tf.mended(f32[2])", "outcome": "fails", "missing": ["Lu"]}]},
        "tf.old": {"cases": [{"call": "tf.old(f32[2])"}]},
        "tf.new": None,
    },
    "2.13": {
        "tf.same": {"cases": [{"call": "tf.same(f32[2])", "outcome": "bounded"}]},
        "tf.mended": {"cases": [{"call": "tf.mended(f32[2])", "outcome": "fails", "missing": ["Lu"]}]},
        "tf.old": {"cases": [{"call": "tf.old(f32[2])"}]},
    },
}


@pytest.fixture
def composed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    table = compose.apis(measured_folder(tmp_path, ROWS), None)
    (tmp_path / "apis.json").write_text(compose.text(table))
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    for cached in (tables._apis, tables.api):
        cached.cache_clear()
    return tmp_path


@pytest.fixture(autouse=True)
def _fresh_tables() -> Any:
    yield
    for cached in (tables._apis, tables.api):
        cached.cache_clear()


def test_older_versions_hold_what_differs(composed: Path) -> None:
    table = json.loads((composed / "apis.json").read_text())
    assert list(table["changed"]["2.15"]) == ["tf.mended", "tf.new", "tf.old"]
    assert list(table["changed"]["2.13"]) == ["tf.same"]


def test_every_version_reads_its_own_rows(composed: Path) -> None:
    outcomes = {
        version: {fact.name: fact.outcome.value for fact in tables.apis(version)} for version in tables.versions()
    }
    assert outcomes == {
        "2.21": {"tf.mended": "ok", "tf.new": "untested", "tf.same": "ok"},
        "2.15": {"tf.mended": "fails", "tf.same": "ok", "tf.old": "ok"},
        "2.13": {"tf.mended": "fails", "tf.same": "bounded", "tf.old": "ok"},
    }
    assert tables.api("tf.mended", "2.16") == tables.api("tf.mended", "2.15")


def test_a_version_that_is_measured_again_leaves_the_others(composed: Path, tmp_path: Path) -> None:
    shipped = json.loads((composed / "apis.json").read_text())
    anew = {"2.21": {**ROWS["2.21"], "tf.mended": ROWS["2.15"]["tf.mended"]}}
    folder = tmp_path / "second"
    folder.mkdir()
    table = compose.apis(measured_folder(folder, anew), shipped)
    assert table["versions"] == ["2.21", "2.15", "2.13"]
    assert list(table["changed"]["2.15"]) == ["tf.new", "tf.old"]
    assert list(table["changed"]["2.13"]) == ["tf.same"]


def test_a_table_of_ops_survives_being_composed_again(tmp_path: Path) -> None:
    shipped = json.loads((Path(tables.__file__).with_name("ops.json")).read_text())
    assert compose.text(compose.ops(tmp_path, shipped)) == compose.text(shipped)


# -- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("blank", "bool", "dist", "kept", "perm")])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (4, 2, 3, 3)])
def test_samples_differ_in_values_alone(kind: str, shape: tuple[int, ...]) -> None:
    made = sample(kind, shape, 0)
    assert {array.shape for array in made.arrays} == {shape}
    assert len(made.arrays) == VALUE_SETS
    assert not any(np.array_equal(made.arrays[0], other) for other in made.arrays[1:])
    again = sample(kind, shape, 0)
    assert str(made.arrays) == str(again.arrays)


def test_the_next_argument_has_other_values() -> None:
    assert not np.array_equal(sample("f32", 4, 0).arrays[0], sample("f32", 4, 1).arrays[0])


def test_picked_values_come_in_turn() -> None:
    made = sample("pick", ([2, 3], [3, 2]), 0)
    assert [array.tolist() for array in made.arrays] == [[2, 3], [3, 2], [2, 3]]


@pytest.mark.parametrize("shape", [(4,), (2, 3), (3, 3)])
def test_masks_select_another_number_in_each_set(shape: tuple[int, ...]) -> None:
    made = sample("bool", shape, 0)
    assert len({int(array.sum()) for array in made.arrays}) > 1


def function(*parameters: Parameter, path: str = "tf.f", documentation: str = "") -> Target:
    return Target(path, path, parameters, documentation=documentation)


def test_arguments_go_by_the_names_of_parameters() -> None:
    what = function(Parameter("params", True, False), Parameter("indices", True, False))
    assert "tf.f(f32[5, 3], index[2])" in list(arguments.calls(what, Tensors()))[:20]


def test_layers_are_built_and_called() -> None:
    what = function(Parameter("units", True, False), path="keras.layers.Dense")
    assert next(iter(arguments.calls(what, Tensors()))) == "keras.layers.Dense(3)(f32[4])"


def test_methods_are_called_on_an_object() -> None:
    what = function(Parameter("value", True, False), path="tf.Variable.assign")
    assert next(iter(arguments.calls(what, Tensors()))) == "tf.Variable(tf.ones([4])).assign(f32[4])"


def test_an_error_brings_forward_what_it_asks_for() -> None:
    tensors = Tensors()
    tensors.hint("Value for attr 'T' of float is not in the list of allowed values: complex64, complex128")
    assert next(iter(tensors)) == "c64[4]"


def test_variants_try_words_of_the_documentation_and_tensors_for_numbers() -> None:
    documentation = 'Does.\n\nArgs:\n  x: A tensor.\n  how: One of `"fast"`\n    or `"slow"`.\n  k: How many.\n'
    what = function(
        Parameter("x", True, False),
        Parameter("k", True, False),
        Parameter("how", False, False, "fast"),
        Parameter("flag", False, True, False),
        documentation=documentation,
    )
    found = {(one.parameter, one.kind): one.alternatives for one in arguments.variants(what, "tf.f(f32[4], 2)")}
    assert found == {
        ("k", "tensor"): ("i32[()]", "index[()]", "pick[2, 3, 4]", "pick[2, 1, 2]"),
        ("how", "option"): ("'slow'",),
        ("flag", "option"): ("True",),
    }


@pytest.mark.parametrize(
    ("call", "parameter", "text", "expected"),
    [
        ("tf.f(f32[4], 2)", "k", "i32[()]", "tf.f(f32[4], i32[()])"),
        ("tf.f(f32[4], 2)", "flag", "True", "tf.f(f32[4], 2, flag=True)"),
        ("tf.f(f32[4], 2, flag=True)", "flag", "None", "tf.f(f32[4], 2, flag=None)"),
        ("tf.f(f32[4], 2)(f32[3])", "k", "3", "tf.f(f32[4], 3)(f32[3])"),
    ],
)
def test_one_argument_is_rewritten(call: str, parameter: str, text: str, expected: str) -> None:
    what = function(Parameter("x", True, False), Parameter("k", True, False), Parameter("flag", False, True, False))
    assert arguments.rewritten(what, call, parameter, text) == expected


def test_recipes_are_for_callables_that_are_measured() -> None:
    assert set(recipes()) <= set(callables())
    assert all(recipe.call for recipe in recipes().values())


# -- outcomes ---------------------------------------------------------------------------------------------------------

LACKS = (
    "InvalidArgumentError: Detected unsupported operations when trying to compile graph f on XLA_CPU_JIT: "
    "Lu (No registered 'Lu' OpKernel for XLA_CPU_JIT devices compatible with node {{node Lu}}){{node Lu}}"
)
FRAMES = (
    "InvalidArgumentError: Graph execution error:\n\nDetected at node GatherV2 defined at (most recent call last):\n"
    '  File "a.py", line 9, in <module>\n\nindices[0] = 566 is not in [0, 4)\n\t [[{{node GatherV2}}]] [Op:f_771]'
)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (LACKS, "No registered Lu OpKernel"),
        (FRAMES, "InvalidArgumentError: indices[0] = 566 is not in [0, 4)"),
        ("ValueError: no\nmore", "ValueError: no"),
    ],
)
def test_the_reason_of_an_error_is_one_sentence(error: str, said: str) -> None:
    assert reason(error) == said


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        (np.ones(3), np.ones(3) + 1e-7, ""),
        (np.ones(3), np.ones(4), "shape [4] instead of [3]"),
        (np.ones(3), np.ones(3, np.float32), "float32 instead of float64"),
        (np.ones(3), -np.ones(3), "other signs"),
        (np.ones(3), np.array([1.0, np.nan, 1.0]), "not-a-number in other places"),
        (np.ones(3), np.array([1.0, 2.0, 1.0]), "other values"),
        (np.array([True]), np.array([False]), "other values"),
    ],
)
def test_differences_are_told(expected: Any, actual: Any, told: str) -> None:
    assert difference([expected], [actual], random=False) == told


def test_random_numbers_are_compared_by_shape() -> None:
    assert difference([np.ones(3)], [np.zeros(3)], random=True) == ""
    assert difference([np.ones(3)], [np.zeros(2)], random=True) == "shape [2] instead of [3]"


def test_plans_repeat_what_was_varied() -> None:
    row = {
        "cases": [{"call": "tf.f(2)"}, {"call": "tf.f(i32[()])", "varied": {"k": "i32[()]"}}],
        "same": {"how": ["'slow'"], "flag": ["True"]},
    }
    table = {"apis": {"tf.f": row, "tf.g": {"untested": "no"}}}
    varied = [["k", "i32[()]"], ["how", "'slow'"], ["flag", "True"]]
    assert driver.plans(table, complete=True) == {"tf.f": {"call": "tf.f(2)", "varied": varied}}
    assert driver.plans(table, complete=False) == {"tf.f": {"call": "tf.f(2)", "varied": varied[:1]}}


def test_calls_that_compile_show_their_ops() -> None:
    rows = {
        "tf.f": {"cases": [{"call": "tf.f(2)", "ops": ["A"]}, {"call": "tf.f(3)", "outcome": "fails", "ops": ["B"]}]},
        "tf.g": {"cases": [{"call": "tf.g()", "ops": ["A", "C"]}]},
        "tf.h": {"untested": "no"},
    }
    assert constants.calls_of(rows) == {"A": ["tf.g()", "tf.f(2)"], "C": ["tf.g()"]}
