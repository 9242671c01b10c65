"""PyTorch's loaders of data, passed to Keras."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import fix_source, lint_source
from xlalint.settings.config import Settings

HEAD: Final = """\
import keras
import torch
import torch.utils.data as data
from torch.utils.data import DataLoader
from rows import ROWS, options

model = keras.Sequential([keras.Input([4]), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
"""
PARTIAL: Final = (
    "model.fit(DataLoader(ROWS, batch_size=32))",
    "model.fit(DataLoader(ROWS, 32, True))",
    "model.fit(x=DataLoader(ROWS, 32, shuffle=True, num_workers=4), epochs=3)",
    "model.fit(torch.utils.data.DataLoader(ROWS, batch_size=32, drop_last=False))",
    "model.fit(data.DataLoader(dataset=ROWS, batch_size=64, pin_memory=True))",
    "size = 16\nloader = DataLoader(ROWS, batch_size=size)\nmodel.fit(loader, epochs=2)",
    "def loaders():\n    return DataLoader(ROWS, 8), DataLoader(ROWS, 8, drop_last=True)\n\n"
    "train, valid = loaders()\nmodel.fit(train, validation_data=valid)",
    "class Data:\n    def __init__(self):\n        self.train = DataLoader(ROWS, 8)\n\nmodel.fit(Data().train)",
    "loaders = {'train': DataLoader(ROWS, 8)}\nmodel.fit(loaders['train'])",
    "model.fit(DataLoader(ROWS, 32, drop_last=True), validation_data=DataLoader(ROWS, 32))",
    "model.evaluate(DataLoader(ROWS, 32))",
    "model.predict(DataLoader(ROWS, 32))",
    "def run(loader):\n    model.fit(loader)\n\nrun(DataLoader(ROWS, batch_size=32))",
    "model.fit(DataLoader(ROWS, batch_size=options.size))",
    "model.fit(DataLoader(ROWS, batch_size=32, collate_fn=options.collate))",
)
WHOLE: Final = (
    "model.fit(DataLoader(ROWS, batch_size=32, drop_last=True))",
    "model.fit(DataLoader(ROWS, 32, True, None, None, 0, None, False, True))",
    "model.fit(DataLoader(ROWS))",
    "model.fit(DataLoader(ROWS, batch_size=1))",
    "model.fit(DataLoader(ROWS, batch_size=None))",
    "model.fit(DataLoader(ROWS, batch_sampler=options.sampler))",
    "model.fit(DataLoader(ROWS, batch_size=32, drop_last=options.drop))",
    "model.fit(DataLoader(ROWS, **vars(options)))",
    "for x, y in DataLoader(ROWS, 32):\n    print(x.numpy().sum(), bool(x.sum() > 0), y[-1])",
    "class Net(torch.nn.Module):\n    def fit(self, loader):\n        pass\n\nNet().fit(DataLoader(ROWS, 32))",
)


def _codes(code: str, target: str | None = None) -> set[str]:
    return {one.code for one in lint_source(f"{HEAD}{code}\n", settings=Settings(target=target)).findings}


@pytest.mark.parametrize("code", PARTIAL)
def test_last_batch_of_a_loader(code: str) -> None:
    assert "XLA302" in _codes(code)


@pytest.mark.parametrize("code", WHOLE)
def test_loader_without_a_smaller_batch(code: str) -> None:
    assert _codes(code) == set()


@pytest.mark.parametrize("code", [*WHOLE[:5], *(code for code in PARTIAL if code.endswith(("(loader)", "train)")))])
def test_python_makes_the_batches(code: str) -> None:
    assert "XLA513" in _codes(code, "tpu")


def test_the_fix_is_pytorchs_own_argument() -> None:
    code = f"{HEAD}loader = DataLoader(ROWS, batch_size=32)\nmodel.fit(loader)\n"
    fixed, report = fix_source(code, unsafe=True)
    assert b"loader = DataLoader(ROWS, batch_size=32, drop_last=True)\n" in fixed
    assert "XLA302" not in {one.code for one in report.findings}
