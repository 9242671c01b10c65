"""Fixes and helps for files that import Keras and no TensorFlow speak `keras.ops`, or are not offered."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from xlalint.authoring import on_jax
from xlalint.authoring.measured import Measured, measure
from xlalint.facts.equal_names import EQUAL
from xlalint.findings.codes import rule_names
from xlalint.findings.findings import Backend, Finding, Safety
from xlalint.fixes.apply import apply_fixes
from xlalint.linter.rule import all_rules
from xlalint.linter.run import Stdin, check
from xlalint.settings.config import Settings

PATH: Final = Path("/xlalint/example.py")
OF_TENSORFLOW: Final = re.compile(r"\btf\.|\btensorflow\b")
LAYER: Final = """\
import keras{imports}


class L(keras.layers.Layer):
    def call(self, x):
{body}
"""


def found(text: str, *backends: Backend, keras: int | None = None) -> list[Finding]:
    run_by = frozenset(backends) or None
    settings = Settings(codes=frozenset(rule_names()), exposure="certain", backends=run_by, keras=keras)
    return [*check([PATH], settings, Stdin(PATH, text.encode())).findings]


def fixed(text: str, *backends: Backend) -> str:
    fixes = [one.fix for one in found(text, *backends) if one.fix and one.fix.safety is not Safety.DISPLAY]
    return apply_fixes(text.encode(), fixes, PATH)[0].decode()


def layer(*lines: str, imports: str = "\nfrom keras import ops") -> str:
    return LAYER.format(imports=imports, body="\n".join(f"        {line}" for line in lines))


@pytest.mark.parametrize("backends", [(), (Backend.JAX,), (Backend.TENSORFLOW, Backend.JAX)])
def test_a_branch_becomes_a_call_of_keras(backends: tuple[Backend, ...]) -> None:
    before = layer("if ops.max(x) > 1.0:", "    x = x / ops.max(x)", "return x")
    assert fixed(before, *backends) == layer(
        "x = ops.cond(ops.max(x) > 1.0, lambda: x / ops.max(x), lambda: x)", "return x"
    )


@pytest.mark.parametrize(
    ("imports", "name", "added"),
    [
        ("\nfrom keras import ops as K", "K", ""),
        ("", "keras.ops", ""),
        ("\nfrom keras.ops import maximum", "keras.ops", ""),
    ],
)
def test_the_file_keeps_its_spelling(imports: str, name: str, added: str) -> None:
    before = layer(f"return x * float({name}.max(x))", imports=imports)
    assert fixed(before) == layer(f'return x * {name}.cast({name}.max(x), "float32")', imports=f"{imports}{added}")


def test_a_missing_import_is_added() -> None:
    before = (
        "from keras import layers\n\nclass L(layers.Layer):\n    def call(self, x):\n        return x * float(x[0])\n"
    )
    after = fixed(before)
    assert after.startswith("from keras import layers\nfrom keras import ops\n\nclass L")
    assert 'ops.cast(x[0], "float32")' in after


@pytest.mark.parametrize(
    ("imports", "expected"),
    [("", "from keras import ops"), (", ops", None)],
    ids=["free", "another module's"],
)
def test_keras_may_come_from_a_module_of_the_project(tmp_path: Path, imports: str, expected: str | None) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "__init__.py").touch()
    (tmp_path / "library" / "backend.py").write_text("import keras\n\nfrom . import ops\n")
    (tmp_path / "library" / "ops.py").write_text("def double(x):\n    return 2 * x\n")
    layers = tmp_path / "library" / "layers.py"
    layers.write_text(
        f"from library.backend import keras{imports}\n\n\nclass L(keras.layers.Layer):\n"
        "    def call(self, x):\n        return x * float(x[0])\n"
    )
    settings = Settings(codes=frozenset(rule_names()), exposure="certain")
    (one,) = check([tmp_path], settings).findings
    written = "" if one.fix is None else " ".join(edit.text for edit in (*one.fix.edits, *one.fix.imports))
    assert OF_TENSORFLOW.search(written) is None
    assert "tf." not in (one.help or "")
    assert (one.fix is None) if expected is None else (expected in written)


def test_what_has_no_equal_has_no_fix() -> None:
    before = layer("assert ops.max(x) > 1.0", "return x")
    assert [one.code for one in found(before)] == ["XLA105"]
    assert fixed(before) == before


def test_what_has_no_equal_is_not_advised() -> None:
    [asserted] = found(layer("assert ops.max(x) > 1.0", "return x"))
    assert not asserted.help
    [cut] = found(layer("return x[: ops.argmax(x)]"), Backend.JAX)
    assert cut.help is not None
    assert cut.help.startswith("ops.where(ops.arange(x.shape[0]) < ops.argmax(x), x, ops.zeros_like(x))")


def test_helps_and_titles_name_what_the_file_has() -> None:
    [branch, mask] = found(layer("if ops.max(x) > 1.0:", "    x = x * 2.0", "return x[x > 0.5]"))
    assert branch.fix is not None
    assert OF_TENSORFLOW.search(branch.fix.title) is None
    assert mask.help == "ops.where(x > 0.5, x, ops.zeros_like(x))"


def test_keras_2_has_no_such_functions() -> None:
    before = "import keras\n\nclass L(keras.layers.Layer):\n    def call(self, x):\n        return x * float(x[0])\n"
    [finding] = found(before, keras=2)
    assert finding.fix is not None
    assert "tf.cast" in finding.fix.edits[0].text


def in_keras(code: str) -> str | None:
    """The code of an example for Keras alone; None where it needs more of TensorFlow than has an equal."""
    code = code.replace("import tensorflow as tf\n", "").replace("tf.keras.", "keras.")
    code = re.sub(r"\btf\.(float32|int32|bool)\b", r'"\1"', code)
    code = re.sub(
        r"\btf(?:\.\w+)+(?=\()", lambda found: f"ops.{EQUAL[found[0]][0]}" if found[0] in EQUAL else found[0], code
    )
    return None if OF_TENSORFLOW.search(code) else f"import keras\nfrom keras import ops\n{code}"


INPUTS: Final = {
    f"{rule.code} {number}": tuple(bad.inputs) for rule in all_rules() for number, bad in enumerate(rule.bad)
}
EXAMPLES: Final = {
    f"{rule.code} {number}": code
    for rule in all_rules()
    for number, bad in enumerate(rule.bad)
    if (code := in_keras(bad.code)) is not None
}


def test_there_are_examples_for_keras_alone() -> None:
    assert len(EXAMPLES) > 40


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_fix_and_no_help_brings_tensorflow(name: str) -> None:
    for backends in ((), (Backend.JAX,), (Backend.TENSORFLOW, Backend.JAX)):
        for finding in found(EXAMPLES[name], *backends):
            assert OF_TENSORFLOW.search(finding.help or "") is None, finding.code
            if finding.fix is not None:
                texts = [edit.text for edit in (*finding.fix.edits, *finding.fix.imports)]
                assert not [text for text in texts if OF_TENSORFLOW.search(text)], finding.code


@pytest.mark.compiler
@pytest.mark.parametrize("measured", [on_jax.measure, measure], ids=["jax", "tensorflow"])
def test_what_fixes_bring_runs_on_both_backends(measured: Callable[[str, tuple[str, ...]], Measured]) -> None:
    tried = 0
    for name, code in EXAMPLES.items():
        if (text := fixed(code)) != code:
            ran = measured(text, INPUTS[name])
            assert ran.error is None, name
            assert all(call.equal for call in ran.calls), name
            tried += 1
    assert tried > 5
