"""What becomes of branches and masked selections, to the letter; that it computes the same is tried elsewhere."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.rewrites.trial import Program, rewritten
from xlalint.linter.fix_runs import fix
from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD = """\
import tensorflow as tf


@tf.function(jit_compile=True, autograph=False)
def f(x: tf.Tensor, y: tf.Tensor, out):
"""

BRANCHES = {
    "a scale": (
        "if tf.reduce_sum(x) > 1.0:\n    x = x / 2.0",
        "x = x / (1.0 + tf.cast(tf.reduce_sum(x) > 1.0, x.dtype))",
    ),
    "a scale of what may be integers": (
        "if tf.reduce_any(x > y):\n    x *= 0.5",
        "x = tf.cond(tf.reduce_any(x > y), lambda: x * 0.5, lambda: x)",
    ),
    "an offset": ("if tf.reduce_sum(x) > 1.0:\n    x -= 3.0", "x = x - 3.0 * tf.cast(tf.reduce_sum(x) > 1.0, x.dtype)"),
    "an offset that would turn -0.0 into 0.0": (
        "if tf.reduce_sum(x) > 1.0:\n    x += 3.0",
        "x = tf.where(tf.reduce_sum(x) > 1.0, x + 3.0, x)",
    ),
    "a scale that is not exact": (
        "if tf.reduce_sum(x) > 1.0:\n    x = x * 0.1",
        "x = tf.where(tf.reduce_sum(x) > 1.0, x * 0.1, x)",
    ),
    "a gradient that may be infinite": (
        "if tf.reduce_sum(x) > 1.0:\n    x = tf.sqrt(x)\nelse:\n    x = y",
        "x = tf.cond(tf.reduce_sum(x) > 1.0, lambda: tf.sqrt(x), lambda: y)",
    ),
    "a chain of tests": (
        "if tf.reduce_sum(x) > 1.0:\n    x = y\nelif 0.0 < tf.reduce_sum(y) <= 2.0:\n    x = -y\nelse:\n    x = x - y",
        """
x = tf.where(
    tf.reduce_sum(x) > 1.0,
    y,
    tf.where(tf.logical_and(0.0 < tf.reduce_sum(y), tf.reduce_sum(y) <= 2.0), -y, x - y),
)""",
    ),
    "several names": (
        "if tf.reduce_sum(x) > 1.0:\n    x, y = y, x",
        "x, y = tf.cond(tf.reduce_sum(x) > 1.0, lambda: (y, x), lambda: (x, y))",
    ),
    "statements that build on each other, and comments": (
        "# above\nif tf.reduce_sum(x) > 1.0:  # large\n    z = tf.exp(x)\n    # then\n    x = z * z\nelse:\n    x += y",
        """
# above
# large
def when_true(x=x):
    z = tf.exp(x)
    # then
    x = z * z
    return x

def when_false(x=x):
    x += y
    return x

x = tf.cond(tf.reduce_sum(x) > 1.0, when_true, when_false)""",
    ),
    "a name that one branch inside may leave as it is": (
        "if tf.reduce_sum(x) > 1.0:\n    y = tf.exp(x)\n    if tf.reduce_sum(y) > 1.0:\n        x = y",
        """
def when_true(x=x):
    y = tf.exp(x)
    x = tf.where(tf.reduce_sum(y) > 1.0, y, x)
    return y, x

y, x = tf.cond(tf.reduce_sum(x) > 1.0, when_true, lambda: (y, x))""",
    ),
    "a test of Python's first": (
        "if out is not None and tf.reduce_sum(x) > 1.0 and x[0] > 0.0:\n    x = y",
        "x = tf.where(out is not None and tf.logical_and(tf.reduce_sum(x) > 1.0, x[0] > 0.0), y, x)",
    ),
    "line breaks": (
        "if tf.reduce_sum(\n    x\n) > 1.0:\n    x = tf.sqrt(\n        x,\n    )",
        "x = tf.cond(tf.reduce_sum(x) > 1.0, lambda: tf.sqrt(x,), lambda: x)",
    ),
    "an effect": (
        "if tf.reduce_sum(x) > 1.0:\n    out.assign(x)",
        "def when_true():\n    out.assign(x)\n\ntf.cond(tf.reduce_sum(x) > 1.0, when_true, lambda: None)",
    ),
    "a name that is taken": (
        "when_true = y\nif tf.reduce_sum(x) > 1.0:\n    out.assign(x)\ny = when_true",
        "when_true = y\ndef when_true_2():\n    out.assign(x)\n\n"
        "tf.cond(tf.reduce_sum(x) > 1.0, when_true_2, lambda: None)\ny = when_true",
    ),
    "a name that the next round of a loop reads": (
        "for i in range(3):\n    if tf.reduce_sum(x) > 1.0:\n        z = tf.exp(x)\n"
        "    else:\n        z = z + x\n        x = -z",
        """
for i in range(3):
    def when_true():
        z = tf.exp(x)
        return z, x

    def when_false(z=z, x=x):
        z = z + x
        x = -z
        return z, x

    z, x = tf.cond(tf.reduce_sum(x) > 1.0, when_true, when_false)""",
    ),
    "a comment behind the last line": (
        "if tf.reduce_sum(x) > 1.0:\n    out.assign(x)  # first\n    out.assign(y)  # last",
        "def when_true():\n    out.assign(x)  # first\n    out.assign(y)\n\n"
        "tf.cond(tf.reduce_sum(x) > 1.0, when_true, lambda: None)  # last",
    ),
    "attributes that change places": (
        "if tf.reduce_sum(x) > 1.0:\n    out.a, out.b = out.b, out.a",
        "out.a, out.b = tf.cond(tf.reduce_sum(x) > 1.0, lambda: (out.b, out.a), lambda: (out.a, out.b))",
    ),
    "a ternary inside of an expression": (
        "x = 2.0 * (x if tf.reduce_sum(x) > 1.0 else -y) + y",
        "x = 2.0 * (tf.where(tf.reduce_sum(x) > 1.0, x, -y)) + y",
    ),
    "names of a loop and a comprehension": (
        """\
if tf.reduce_sum(x) > 1.0:
    for i, part in enumerate(out):
        x = x + part * i
    x = sum([q for q in (x, y)])""",
        """
def when_true(x=x):
    for i, part in enumerate(out):
        x = x + part * i
    x = sum([q for q in (x, y)])
    return x

x = tf.cond(tf.reduce_sum(x) > 1.0, when_true, lambda: x)""",
    ),
}
LEFT_ALONE = {
    "a raise": "if tf.reduce_sum(x) > 1.0:\n    raise ValueError",
    "a list": "if tf.reduce_sum(x) > 1.0:\n    out.append(x)",
    "attributes, one after the other": "if tf.reduce_sum(x) > 1.0:\n    out.a = tf.exp(x)\n    out.b = out.a * 2.0",
    "an item": "if tf.reduce_sum(x) > 1.0:\n    out[0] = x",
    "a name without a value": "if tf.reduce_sum(x) > 1.0:\n    z = tf.exp(x)\n    w = z * z\nx = x + w",
    "a call of what the class inherits": "x = super().call(x) if tf.reduce_sum(x) > 1.0 else y",
    "a test of Python's behind": "if tf.reduce_sum(x) > 1.0 and out is not None:\n    x = y",
    "text": "x = 'a' if tf.reduce_sum(x) > 1.0 else 'b'",
    "a return out of a loop": "for i in range(3):\n    if tf.reduce_sum(x) > 1.0:\n        break",
    "two ways to return": "if tf.reduce_sum(x) > 1.0:\n    if out:\n        return x\n    return y",
}
MASKS = {
    "another mask": "m = x > 0.0\na = tf.reduce_sum(x[m])\nm = y > 0.0\nreturn a + tf.reduce_sum(x[m])",
    "one name, taken in twice": "kept = x[x > 0.0]\nreturn tf.reduce_sum(kept) + tf.reduce_prod(kept)",
    "weights of their own": "m = x > 0.0\nloss = out(x[m], y[m])\nreturn tf.reduce_mean(loss), m",
    "the mask as weights": "m = x > 0.0\nloss = out(x[m], y[m])\nreturn tf.reduce_mean(loss)",
}
MASKED = {
    "another mask": "m = x > 0.0\na = tf.reduce_sum(tf.where(m, x, 0))\nm = y > 0.0\n"
    "return a + tf.reduce_sum(tf.where(m, x, 0))",
    "one name, taken in twice": "return tf.reduce_sum(tf.where(x > 0.0, x, 0))"
    " + tf.reduce_prod(tf.where(x > 0.0, x, 1))",
    "weights of their own": "m = x > 0.0\nweights = tf.cast(m, tf.float32)\nloss = out(x, y)\n"
    "return tf.reduce_sum(loss * weights) / tf.reduce_sum(weights), m",
    "the mask as weights": "m = tf.cast(x > 0.0, tf.float32)\nloss = out(x, y)\n"
    "return tf.reduce_sum(loss * m) / tf.reduce_sum(m)",
}
KEPT = {
    "returned": "return x[x > 0.0]",
    "used elsewhere": "kept = x[x > 0.0]\nreturn tf.reduce_sum(kept), kept",
    "used in a function": "kept = x[x > 0.0]\nreturn (lambda: tf.cumsum(kept))()",
    "positions that meet": "kept = x[x > 0.0]\nreturn tf.reduce_sum(tf.cumsum(kept))",
    "the mask made anew": "m = x > 0.0\nkept = x[m]\nm = y > 0.0\nreturn tf.reduce_sum(kept)",
    "bound twice": "kept = x[x > 0.0]\nif out:\n    kept = x\nreturn tf.reduce_sum(kept)",
    "along the first axis, of a rank that is not known": "return tf.reduce_sum(x[y > 0.0], axis=0)",
    "along another axis": "return tf.reduce_sum(x[y > 0.0], axis=-1)",
}


def fixed(body: str, rule: str) -> str:
    """The body of a function after all rewrites of a rule."""
    code = rewritten(Program(HEAD + indent(body, "    ") + "\n", (), rule)).code
    return dedent(code.removeprefix(HEAD)).strip("\n")


@pytest.mark.parametrize(("before", "after"), BRANCHES.values(), ids=BRANCHES.keys())
def test_a_branch(before: str, after: str) -> None:
    assert fixed(f"{before}\nreturn x, y", "XLA101") == f"{after.strip()}\nreturn x, y"


@pytest.mark.parametrize("before", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_a_branch_without_rewrite(before: str) -> None:
    assert fixed(f"{before}\nreturn x, y", "XLA101") == f"{before}\nreturn x, y"


def test_an_early_return_takes_what_follows_along() -> None:
    before = "if tf.reduce_sum(x) > 1.0:\n    return y\n# else\nz = x\nz = z * y  # weighed\nreturn z - x"
    after = """
def when_true():
    return y

def when_false():
    z = x
    z = z * y
    return z - x

return tf.cond(tf.reduce_sum(x) > 1.0, when_true, when_false)
# else
# weighed
"""
    assert fixed(before, "XLA101") == after.strip()


@pytest.mark.parametrize("opening", ["if out:\n    pass\nelse:", "for _ in out:", "try:\n    pass\nfinally:"])
def test_a_rewrite_is_indented_as_its_block_is(opening: str) -> None:
    before = f"{opening}\n  if tf.reduce_sum(x) > 1.0:\n    return y\n  z = tf.exp(x)\n  return z * z"
    after = f"""{opening}
  def when_true():
    return y

  def when_false():
    z = tf.exp(x)
    return z * z

  return tf.cond(tf.reduce_sum(x) > 1.0, when_true, when_false)"""
    assert fixed(before, "XLA101") == after


def test_strings_of_several_lines_stay_as_they_are() -> None:
    before = 'if tf.reduce_sum(x) > 1.0:\n    z = x * len("""a\n  b\n""")\n    y = z\nreturn y'
    assert '"""a\n  b\n""")' in fixed(before, "XLA101") != before


@pytest.mark.parametrize("name", MASKS)
def test_a_selection_that_is_reduced(name: str) -> None:
    assert fixed(MASKS[name], "XLA201") == MASKED[name]


@pytest.mark.parametrize("before", KEPT.values(), ids=KEPT.keys())
def test_a_selection_that_is_not_reduced_is_left_alone(before: str) -> None:
    assert fixed(before, "XLA201") == before


@pytest.mark.parametrize(
    ("head", "guarded"),
    [
        ("import tensorflow as tf\n", True),
        ("import tensorflow.compat.v1 as tf\nimport tensorflow\n", True),
        ("import tensorflow.compat.v1 as tf\n", False),
        ("from tensorflow.compat import v1 as tf\n", False),
    ],
)
def test_files_of_version_1_run_nothing_eagerly(head: str, guarded: bool) -> None:
    code = f"{head}\n\n@tf.function(jit_compile=True)\ndef f(x):\n    tf.print(x)\n    return x\n"
    assert ("executing_eagerly" in rewritten(Program(code, (), "XLA403")).code) is guarded


def test_the_documented_block_comes_out_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "block.py"
    path.write_text(
        "label_mask = labels >= 0\nmasked_outputs = outputs[label_mask]\nmasked_labels = labels[label_mask]\n"
        "loss = compute_loss(masked_outputs, masked_labels)\nmean_loss = tf.reduce_mean(loss)\n"
    )
    (first, second) = [finding.fix for finding in check([path], Settings()).findings]
    assert first is not None
    assert second is not None
    assert first.edits == second.edits
    code = rewritten(Program(path.read_text(), (), "XLA201")).code
    assert code == (
        "label_mask = tf.cast(labels >= 0, tf.float32)\nloss = compute_loss(outputs, labels)\n"
        "mean_loss = tf.reduce_sum(loss * label_mask) / tf.reduce_sum(label_mask)\n"
    )


def test_names_that_both_sides_of_an_inner_choice_assign_need_no_value_before() -> None:
    inner = "    if scale:\n        z = x * 2.0\n    else:\n        z = tf.exp(x)\n    y = z * z\n"
    before = f"if tf.reduce_sum(x) > 1.0:\n{inner}return y"
    assert "z=z" not in fixed(before, "XLA101") != before


def test_a_name_that_nothing_reads_behind_the_branch_may_become_something_else(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        "import tensorflow as tf\n\nclass Loss(tf.keras.losses.Loss):\n    def call(self, y_true, y_pred):\n"
        "        mask = y_true > 0.0\n        if tf.reduce_any(mask):\n            mask = tf.cast(mask, tf.float32)\n"
        "            loss = tf.reduce_sum(mask * y_pred)\n        else:\n            loss = tf.constant(0.0)\n"
        "        return loss\n"
    )
    outcome = fix([path], Settings(unsafe_fixes=True))
    [change] = outcome.changes
    assert "def when_true(mask=mask):" in change.after.decode()
    assert "return mask, loss" not in change.after.decode()
