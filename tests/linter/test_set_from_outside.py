"""What a layer sets in `call` where nobody has: how grave that is depends on whether anybody sets it before."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.linter.on_backends import linted
from xlalint.findings.findings import Severity

LAYER: Final = """
import keras
from keras import ops

class Steps(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        {first}

    def set_sigmas(self, count):
        self.sigmas = ops.linspace(1.0, 0.0, count)

    def call(self, x, count):
        if {test}:
            self.set_sigmas(count)
        return x * self.sigmas[0]
"""
MODEL: Final = """
import keras
from keras import ops
from pkg.layer import Steps

class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.steps = Steps()

    def configure(self, count):
        {set}

    def call(self, x):
        return self.steps(x, ops.cast(ops.sum(x), "int32"))

model = Model()
model.compile("sgd", "mse", jit_compile=True)
"""
SET: Final = {
    "nobody": "pass",
    "its method's name, of itself": "self.set_sigmas(count)",
    "the method, for what it returns": "return self.steps.set_sigmas",
    "its method": "self.steps.set_sigmas(count)",
    "the attribute": "self.steps.sigmas = ops.ones(count)",
    "another attribute": "self.steps.sigma = ops.ones(count)",
}
TESTS: Final = {
    "hasattr": ("pass", 'not hasattr(self, "sigmas")'),
    "None": ("self.sigmas = None", "self.sigmas is None"),
    "not None": ("self.sigmas = None", "not self.sigmas is not None"),
}
LOOKALIKES: Final = {
    "another attribute": ("self.other = None", "self.other is None"),
    "both ways": ("self.sigmas = None", "count is not None"),
}


def gravest(folder: Path, form: tuple[str, str], setting: str, **files: str) -> Severity:
    first, test = form
    layer, model = LAYER.format(first=first, test=test), MODEL.format(set=setting)
    found = linted(folder, {"pkg/__init__.py": "", "pkg/layer.py": layer, "train.py": model, **files})
    return max(finding.severity for finding in found if finding.code == "XLA411")


@pytest.mark.parametrize("form", TESTS.values(), ids=TESTS)
@pytest.mark.parametrize("name", SET)
def test_what_others_set_before_is_no_error(tmp_path: Path, form: tuple[str, str], name: str) -> None:
    expected = Severity.WARNING if name in ("its method", "the attribute") else Severity.ERROR
    assert gravest(tmp_path, form, SET[name]) is expected


@pytest.mark.parametrize("form", LOOKALIKES.values(), ids=LOOKALIKES)
def test_a_test_for_something_else_says_nothing_of_it(tmp_path: Path, form: tuple[str, str]) -> None:
    assert gravest(tmp_path, form, SET["its method"]) is Severity.ERROR


@pytest.mark.parametrize(
    ("method", "expected"), [("set_sigmas", Severity.WARNING), ("_set_sigmas", Severity.ERROR)], ids=str
)
def test_programs_elsewhere_use_what_a_package_offers(tmp_path: Path, method: str, expected: Severity) -> None:
    first, test = TESTS["hasattr"]
    layer = LAYER.format(first=first, test=test).replace("set_sigmas", method)
    files = {"pkg/__init__.py": "", "pkg/layer.py": layer, "pkg/model.py": MODEL.format(set="pass")}
    found = linted(tmp_path, {**files, "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'})
    assert max(finding.severity for finding in found if finding.code == "XLA411") is expected
