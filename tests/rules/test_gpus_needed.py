"""Programs that take GPUs for granted, before they move to a TPU."""

from __future__ import annotations

from textwrap import indent
from typing import Final

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Severity
from xlalint.settings.config import Settings

HEAD: Final = """\
import sys
import numpy as np
import tensorflow as tf

GPUS = tf.config.list_physical_devices("GPU")

def find():
    return tf.config.experimental.list_physical_devices(device_type="GPU")

def count():
    return len(find())

def main(x):
"""
MODEL: Final = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
main(tf.ones([4]))
"""
DATA: Final = "tf.data.Dataset.from_tensor_slices(tf.ones([8, 3]))"
# What needs a GPU, and the exception that it raises without one; "" where it runs, and does something else.
NEEDED: Final = {
    "GPUS[0]": "IndexError",
    "GPUS[-1].name": "IndexError",
    "find()[1]": "IndexError",
    "tf.config.list_logical_devices('GPU')[0]": "IndexError",
    "tf.config.get_visible_devices('GPU')[0]": "IndexError",
    "[gpu.name for gpu in GPUS][0]": "IndexError",
    "list(GPUS)[0]": "IndexError",
    "tf.config.set_visible_devices(GPUS[0], 'GPU')": "IndexError",
    "tf.config.experimental.set_memory_growth(find()[0], True)": "IndexError",
    "{'gpus': GPUS}['gpus'][0]": "IndexError",
    "print(64 // len(GPUS))": "ZeroDivisionError",
    "print(64 % count())": "ZeroDivisionError",
    "print(int(64 / count()))": "ZeroDivisionError",
    "size = 64\nsize //= count()": "ZeroDivisionError",
    "print(64 // (2 * count()))": "ZeroDivisionError",
    "number = min(4, 8) * count()\nprint(64 // number)": "ZeroDivisionError",
    "x / count()": "",
    "tf.reduce_sum(x) / float(count())": "",
    f"{DATA}.batch(4 * count())": "InvalidArgumentError",
    f"{DATA}.batch(batch_size=count())": "InvalidArgumentError",
    f"{DATA}.padded_batch(count())": "InvalidArgumentError",
    "tf.keras.optimizers.SGD(0.1 * count())": "",
    "tf.keras.optimizers.Adam(learning_rate=count() * 0.1)": "",
    "tf.keras.optimizers.schedules.ExponentialDecay(0.1 * count(), 10, 0.9)": "",
    "assert GPUS": "AssertionError",
    "assert len(GPUS) > 0, 'none'": "AssertionError",
    "assert count() == 1": "AssertionError",
    "assert not count() < 1": "AssertionError",
    "assert tf.test.is_gpu_available()": "AssertionError",
    "assert tf.test.gpu_device_name()": "AssertionError",
    "if not GPUS:\n    raise ValueError('none')": "ValueError",
    "if len(GPUS) == 0:\n    print('none')\n    sys.exit(1)": "SystemExit",
    "if GPUS:\n    print('one')\nelse:\n    raise RuntimeError": "RuntimeError",
    "if x is None or not GPUS:\n    raise RuntimeError": "RuntimeError",
    "if tf.test.gpu_device_name() != '/device:GPU:0':\n    raise SystemError": "SystemError",
    "try:\n    GPUS[0]\nexcept RuntimeError:\n    pass": "IndexError",
}
# What runs to its end without one.
UNNEEDED: Final = (
    "if GPUS:\n    GPUS[0]",
    "if len(GPUS) > 1:\n    GPUS[1]",
    "if count() >= 1 and x is not None:\n    print(64 // count())",
    "for gpu in GPUS:\n    GPUS[0]",
    "for number in range(len(GPUS)):\n    GPUS[number]",
    "for number, gpu in enumerate(GPUS):\n    GPUS[number]",
    "while GPUS:\n    GPUS[0]\n    break",
    "[GPUS[number] for number in range(count())]",
    "[64 // count() for gpu in GPUS]",
    "GPUS[0] if GPUS else None",
    "GPUS and GPUS[0]",
    "not GPUS or GPUS[0]",
    "if not GPUS:\n    return\nGPUS[0]",
    "if GPUS != []:\n    GPUS[0]",
    "one = len(GPUS) > 0\nif one:\n    GPUS[0]",
    "one = bool(GPUS)\nif one:\n    GPUS[0]",
    "if tf.config.list_physical_devices('GPU'):\n    find()[0]",
    "if tf.test.is_gpu_available():\n    print(64 // count())",
    "if tf.test.gpu_device_name():\n    GPUS[0]",
    "GPUS[:1]",
    "(GPUS or tf.config.list_physical_devices('CPU'))[0]",
    "tf.config.list_physical_devices('CPU')[0]",
    "print(64 // max(1, len(GPUS)))",
    "print(64 // max(len(GPUS), 1))",
    "print(64 // (count() or 1))",
    "number = count() if GPUS else 1\nprint(64 // number)",
    "number = count()\nif number < 1:\n    number = 1\nprint(64 // number)",
    "number = count()\nif not number:\n    number = 1\nprint(64 // number)",
    "print(64 // (1 + count()))",
    "print(count() // 64)",
    "print(count() * 64)",
    f"{DATA}.batch(4 * max(1, count()))",
    f"{DATA}.prefetch(count())",
    "tf.keras.optimizers.SGD(0.1 * max(1, count()))",
    "assert not GPUS",
    "assert len(GPUS) >= 0",
    "if not GPUS:\n    print('slow')",
    "try:\n    GPUS[0]\nexcept IndexError:\n    pass",
    "try:\n    GPUS[0]\nexcept (RuntimeError, LookupError) as error:\n    print(error)",
    "try:\n    assert GPUS\nexcept Exception:\n    pass",
    "tf.config.set_visible_devices(GPUS[:2], 'GPU')",
)


def _program(code: str) -> str:
    return f"{HEAD}{indent(code, '    ')}\n{MODEL}"


def _told(text: str, target: str | None = "tpu") -> list[Severity]:
    found = lint_source(text, settings=Settings(target=target)).findings
    return [one.severity for one in found if one.code == "XLA528"]


@pytest.mark.parametrize("code", NEEDED)
def test_code_that_needs_a_gpu(code: str) -> None:
    assert _told(_program(code)) == [Severity.ERROR]
    assert _told(_program(code), None) == []


@pytest.mark.parametrize("code", UNNEEDED)
def test_code_that_does_not(code: str) -> None:
    assert _told(_program(code)) == []


@pytest.mark.compiler
@pytest.mark.parametrize(("code", "error"), [*NEEDED.items(), *((code, "") for code in UNNEEDED)])
def test_what_becomes_of_it_without_a_gpu(code: str, error: str) -> None:
    namespace: dict[str, object] = {}
    exec(f"{HEAD}{indent(code, '    ')}\n", namespace)
    if namespace["GPUS"]:
        pytest.skip("there is a GPU")
    raised = ""
    try:
        exec("main(tf.ones([4]))", namespace)
    except (Exception, SystemExit) as exception:
        raised = type(exception).__name__
    assert raised == error
