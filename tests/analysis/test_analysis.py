"""What holds of every analysis: nothing of the code is run, and the findings depend on nothing but the code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, Final

import pytest

from tests import ROOT, sampling
from tests.samples import HAZARD
from xlalint.analysis.domain.values import FunctionValue
from xlalint.analysis.interpreter.functions import Functions
from xlalint.linter.rule import all_rules
from xlalint.linter.run import check
from xlalint.settings.config import Settings

CASES = ROOT / "tests" / "recall" / "cases"
OF_EACH_RULE: Final = 6  # of some twenty examples: all of them take half a minute
HELPERS = """\
import tensorflow as tf
from {other} import {calls}


def {name}(x):
    if tf.reduce_sum(x) > 1.0:
        return {calls}(x)
    return x[x > 0.0]
"""


def lint(*arguments: str, seed: int = 0) -> Any:
    """The JSON report of a run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "xlalint", "check", "--no-cache", "--isolated", "--output-format", "json", *arguments],
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of examples of every rule, each its own module."""
    folder, chance = tmp_path_factory.mktemp("examples"), sampling.chance()
    for rule in all_rules():
        every = [*(bad.code for bad in rule.bad), *(good.code for good in rule.good)]
        for at in chance.sample(range(len(every)), min(len(every), sampling.size(OF_EACH_RULE))):
            code = every[at] if "import" in every[at] else f"import tensorflow as tf\n{every[at]}"
            (folder / f"{rule.code.lower()}_{at}.py").write_text(code, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_findings_do_not_depend_on_the_order_of_sets(examples: Path) -> None:
    first, other = (lint(str(examples), str(CASES), seed=seed) for seed in (1, 2))
    assert first["findings"]
    assert other == first


@pytest.mark.slow
def test_findings_do_not_depend_on_the_order_of_arguments(examples: Path) -> None:
    files = sorted(str(path) for path in examples.glob("xla1*.py"))
    assert lint(*reversed(files)) == lint(*files)


def test_modules_that_call_each_other_are_analysed_alike_under_any_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order in which files are read follows their names; what is found must not."""

    def found(names: tuple[str, ...]) -> Iterator[tuple[str, str, int]]:
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        monkeypatch.chdir(folder)
        step, one, two = names
        Path(f"{one}.py").write_text(HELPERS.format(other=two, calls="second", name="first"))
        Path(f"{two}.py").write_text(HELPERS.format(other=one, calls="first", name="second"))
        Path(f"{step}.py").write_text(
            f"import tensorflow as tf\nfrom {one} import first\n\n\n"
            "@tf.function(jit_compile=True, autograph=False)\ndef step(x):\n    return first(tf.abs(x))\n"
        )
        kinds = dict(zip(names, ("step", "one", "two"), strict=True))
        for finding in check(["."], Settings()).findings:
            yield kinds[Path(finding.path).stem], finding.code, finding.span.line

    first, *others = (sorted(found(names)) for names in permutations(("a", "b", "c")))
    assert {code for _, code, _ in first} == {"XLA101", "XLA201"}
    assert all(other == first for other in others)


def test_linting_runs_nothing_of_the_code_and_imports_no_tensorflow(tmp_path: Path) -> None:
    """Also not through a settings file, a package or a module beside the code that is called like a library."""
    trap = f"import pathlib\npathlib.Path({str(tmp_path / 'sprung')!r}).touch()\n"
    for name in ("step.py", "conftest.py", "tensorflow.py", "libcst.py", "helper/__init__.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(trap + "from helper import *\n" + HAZARD)
    program = (
        "import sys\nfrom xlalint.cli import run\n"
        "code = run(['--isolated', '--no-cache', '--quiet', '.'])\n"
        "print(code, *sorted({'tensorflow', 'keras', 'numpy', 'jax', 'helper'} & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-P", "-c", program]  # -P: the working directory is not searched for modules
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == "1\n"
    assert done.stdout.count("XLA101") >= 5
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("head", ["", "import tensorflow as tf\n"])
def test_closures_are_run_for_themselves_where_tensorflow_is(
    head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large project one file may lead through hundreds that know nothing of TensorFlow."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text(
        f"{head}import os\n\ndef wrap(f):\n    def inner(x):\n        return os.fspath(f(x))\n    return inner\n"
    )
    (tmp_path / "step.py").write_text(f"from helper import wrap\n{HAZARD}\nkept = wrap(step)\n")
    analyse, seen = Functions.analyse, set[str]()

    def spy(interpreter: Functions, frame: Any, value: FunctionValue, *others: Any) -> Any:
        seen.add(value.function.qualname)
        return analyse(interpreter, frame, value, *others)

    monkeypatch.setattr(Functions, "analyse", spy)
    assert [finding.code for finding in check(["."], Settings(jobs=1)).findings] == ["XLA101"]
    assert seen >= {"wrap", "step"}
    assert ("wrap.inner" in seen) == bool(head)


SHARED_STEP: Final = """\
import keras
import tensorflow as tf

class Base(keras.Model):
    limit = None

    def train_step(self, data):
        x, y = data
        loss, bound = tf.reduce_sum(tf.abs(y - self(x))), self.bound()
        if bound is not None and loss > bound:
            return {"loss": bound}
        return {"loss": loss}

    def bound(self):
        return self.limit
"""
MODEL: Final = """
class Model{number}(Base):
    def call(self, x):
        return x * {number}.0
"""
OTHERS: Final = {
    "an attribute": "        self.limit = tf.Variable(1.0)\n",
    "an attribute of the class": "    limit = 0.5\n",
    "a method": "    def bound(self):\n        return 0.5\n",
}


def _evaluated(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the bodies of functions are run through from now on."""
    run, seen = Functions._run, Counter[str]()

    def spy(interpreter: Functions, frame: Any, *others: Any) -> None:
        seen[frame.function.qualname] += 1
        run(interpreter, frame, *others)

    monkeypatch.setattr(Functions, "_run", spy)
    return seen


def test_some_of_many_models_tell_of_the_step_that_they_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    models = "".join(MODEL.format(number=number) for number in range(30))
    Path("models.py").write_text(SHARED_STEP + models)
    seen = _evaluated(monkeypatch)
    assert not check(["."], Settings(jobs=1)).findings
    assert all(seen[f"Model{number}.call"] for number in range(30))
    assert 0 < seen["Base.train_step"] < 6


@pytest.mark.parametrize("other", OTHERS)
def test_a_model_that_differs_tells_of_the_step_for_itself(
    other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = "".join(MODEL.format(number=number) for number in range(30))
    made = "    def __init__(self):\n        super().__init__()\n" if other == "an attribute" else ""
    Path("models.py").write_text(f"{SHARED_STEP}{models}\nclass Other(Base):\n{made}{OTHERS[other]}")
    assert {finding.code for finding in check(["."], Settings(jobs=1)).findings} == {"XLA101"}


def test_plain_code_is_run_through_where_it_is_handed_tensors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the callers of the code are seen or not."""
    monkeypatch.chdir(tmp_path)
    Path("plain.py").write_text(
        "def chosen(x):\n    return 0.5 if x > 0 else 1.0\n\n"
        "def named(x):\n    for letter in x:\n        return f'{letter}!'\n"
    )
    Path("steps.py").write_text(
        "import tensorflow as tf\nfrom plain import chosen, named\n\n"
        "def score(x):\n    return tf.reduce_sum(x), chosen(tf.reduce_sum(x)), named('score')\n"
    )
    seen = _evaluated(monkeypatch)
    assert {(finding.path, finding.code) for finding in check(["."], Settings(jobs=1)).findings} == {
        ("plain.py", "XLA101")
    }
    assert (seen["chosen"], seen["named"]) == (1, 0)


CLOSURE: Final = """\
import tensorflow as tf

def count(x, n, name):
    def zeros():
        return tf.zeros([n])
    return zeros()

@tf.function(jit_compile=True)
def one(x):
    return count(x, 3, "one") + count(x, 3, "other")
"""
READ_AGAIN: Final = """
@tf.function(jit_compile=True)
def two(x):
    return count(x, tf.cast(tf.reduce_sum(x), tf.int32), "one")
"""
CHANGED: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    n = 3
    def zeros():
        return tf.zeros([n])
    before = zeros()
    n = tf.cast(tf.reduce_sum(x), tf.int32)
    return before, zeros()
"""
KEPT: Final = """\
import tensorflow as tf

def sized(n):
    def make():
        return lambda: tf.zeros([n])
    return make()

@tf.function(jit_compile=True)
def step(x):
    return sized(3)(), sized(tf.cast(tf.reduce_sum(x), tf.int32))()
"""


def test_a_closure_is_run_once_for_all_that_looks_the_same_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("closure.py").write_text(CLOSURE)
    seen = _evaluated(monkeypatch)
    assert not check(["."], Settings(jobs=1)).findings
    assert seen["count"] > seen["count.zeros"] == 1
    Path("closure.py").write_text(CLOSURE + READ_AGAIN)
    assert [finding.code for finding in check(["."], Settings(jobs=1)).findings] == ["XLA205"]
    assert seen["count.zeros"] == 3  # once more for the number, and for the value


CHANGING: Final = """\
import tensorflow as tf

def collected(x, last):
    results = []
    def add(y):
        results.append(y)
    add(x)
    return tf.zeros([tf.cast(results[0], tf.int32)]) if last else x

@tf.function(jit_compile=True)
def step(x: tf.Tensor):
    return collected(tf.reduce_sum(x), False), collected(tf.reduce_sum(x), True)
"""


@pytest.mark.parametrize("code", [CHANGED, KEPT, CHANGING], ids=["changed", "kept", "changing"])
def test_a_closure_reads_what_is_around_it_as_it_is_then(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("closure.py").write_text(code)
    assert [finding.code for finding in check(["."], Settings(jobs=1)).findings] == ["XLA205"]


SCOPES: Final = """\
import keras
import tensorflow as tf

def build(width):
    return keras.Sequential([keras.layers.Dense(width)])

def train(strategy):
    with strategy.scope():
        first = build(3)
    with strategy.scope():
        second = build(3)
    return first, second, build(3)
"""


def test_a_function_is_run_once_for_all_scopes_of_a_strategy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mirrored = "\ntrain(tf.distribute.MirroredStrategy())\n"
    Path("train.py").write_text(SCOPES + mirrored)
    seen = _evaluated(monkeypatch)
    check(["."], Settings(jobs=1))
    assert seen["build"] == 2  # in a scope and in none
    Path("train.py").write_text(f"{SCOPES}{mirrored}train(tf.distribute.TPUStrategy())\n")
    check(["."], Settings(jobs=1))
    assert seen["build"] == 2 + 3
