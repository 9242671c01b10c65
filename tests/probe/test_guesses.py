"""What docstrings and source say of inputs before anything is called, and errors afterwards."""

from __future__ import annotations

import ast
import importlib
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xlalint.probe.worker.inputs.documented import described
from xlalint.probe.worker.inputs.usage import uses_in
from xlalint.sources.specs import Form, Literal


def documented(text: str) -> dict[str, str]:
    def function() -> None:
        pass

    function.__doc__ = text
    return {name: str(form) for name, form in described(function).items()}


def test_shapes_in_docstrings() -> None:
    found = documented(
        """Does something, as in [1].

        Args:
          boxes: A float `Tensor` of shape [batch, num_boxes, 4], whose values are
            in [0, 1].
          labels (int32): of shape `[batch, num_boxes + 1]`
          mask: a boolean tensor with shape (N, 2 * D)
          next_id: A tf.Tensor of shape [1].
          rate: a scalar tensor
          grid: 3-D tensor
          scale: a number in [0, 1], see [2]
        """
    )
    assert found == {
        "boxes": "f32[4, 4, 4]",
        "labels": "i32[4, 5]",
        "mask": "bool[4, 8]",
        "next_id": "f32[1]",
        "rate": "f32[]",
        "grid": "f32[4, 4, 4]",
    }


def test_constructors_describe_what_objects_are_made_of() -> None:
    class Made:
        """Args:\n  units (int): how many\n"""

        def __init__(self, width: object, units: int) -> None:
            """Args:\n  width (list of int): sizes, [w_0, w_1]\n"""

    assert {name: str(form) for name, form in described(Made).items()} == {"units": "4", "width": "[4, 4]"}


def test_other_styles_of_docstrings() -> None:
    assert documented("f\n\n:param mean: of shape (N, D)\n:param n: how many\n") == {"mean": "f32[4, 4]"}
    assert documented("f\n\nArgs:\n  n (int): how many\n  ids (int): of shape [b]\n  k (int or list): sizes\n") == {
        "n": "4",
        "ids": "i32[4]",
        "k": "4",
    }
    assert documented("f\n\nParameters\n----------\nn : int, optional\n    how many\nx : array_like\n") == {"n": "4"}
    assert documented("f\n\nArgs:\n  on (boolean): if\n  boxes (float): of which each is one\n") == {"on": "False"}
    sizes = "f\n\nArgs:\n  a (tuple of 3 ints): x\n  b: list[int]\n  c (int, int): x\n  d (list of tensors): x\n"
    assert documented(sizes) == {"a": "(4, 4, 4)", "b": "[4, 4]", "c": "(4, 4)"}
    told_apart = "f\n\nArgs:\n  x (tensor): boxes\n  width (float): of the image\n  rates (float or list): several\n"
    assert documented(told_apart) == {"width": "f32[]"}  # where nothing is called a tensor, `float` may be one
    told_apart = "f\n\nArgs:\n  x (tensor): boxes\n  width (float): of the image\n  rates (float or list): several\n"
    assert documented(told_apart) == {"width": "f32[]"}  # where nothing is called a tensor, `float` may be one
    assert documented("f\n\nInput\n-----\nlos : [batch size, num_ut], `tf.bool`\n    Line of sight\n") == {
        "los": "bool[4, 4]"
    }
    assert documented('f\n\nArgs:\n  batch: Dict, with:\n    "image": [b, h, w, 3],\n    "label": [b], int32\n') == {
        "batch": "{'image': f32[4, 4, 4, 3], 'label': i32[4]}"
    }
    assert documented(
        "f\n\n- *levels*: A list of tensors of shape [b, h, w, c]\n- *boxes*: of shape [b, (y, x)]\n"
    ) == {
        "levels": "[f32[4, 4, 4, 4], f32[4, 4, 4, 4]]",
        "boxes": "f32[4, 2]",
    }


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("b, h, w, c = tf.shape(x)", "f32[4, 4, 4, 4]"),
        ("height = x.shape.as_list()[2]", "f32[4, 4, 4]"),
        ("return x[..., 4:] + x[:, 0, 0]", "f32[4, 4, 5]"),
        ("return x[:, :, 4:-1]", "f32[4, 4, 6]"),
        ("return tf.transpose(x, [0, 2, 1])", "f32[4, 4, 4]"),
        ("return tf.gather(table, x)", "i32[4, 4]"),
        ("x = tf.expand_dims(x, 1)\nreturn tf.scatter_nd(x, values, [8])", "i32[4, 4]"),
        ("return tf.scatter_nd(ids, values, tf.cast(x, 'int64'))", "(4, 4)"),
        ("return tf.einsum('bij,jk->bik', table, x)", "f32[4, 4]"),
        ("return x['ids'] + tf.shape(x['image'])[3]", "{'ids': f32[4, 4], 'image': f32[4, 4, 4, 4]}"),
        ("one, other = x\nreturn tf.boolean_mask(one, other)", "[f32[4, 4], bool[4, 4]]"),
        ("height, width = x\nreturn tf.reshape(y, [height, width])", "(2, 2)"),
        ("x = tf.stack(x)\nreturn x[:, 1]", "None"),  # another than the parameter
        ("return x[0]", "None"),  # it may be a list
        ("ids = x[0]\nreturn tf.gather(x[1:], ids)", "[i32[4, 4], f32[4, 4], f32[4, 4]]"),
        ("return x[0] + x[1:][:, 2]", "[f32[4, 4], f32[4, 4], f32[4, 4]]"),
        ("for level in range(3):\n    y = x[level][..., 4:5] + x[level][:, 0]", "f32[4, 4, 5]"),
        ("y = x[level][..., 4:5]", "None"),
        ("return x[0] + x[2:] + x", "None"),  # all of it is used
        ("return x[0] + x[:2]", "None"),
        ("return x[1:] - x[:-1]", "None"),
        ("for key, one in x.items():\n    pass", "None"),
        ("return [x + 1 for x in range(3)]", "None"),
        ("for one in range(1, x):\n    pass", "2"),
        ("return tf.range(x)", "None"),  # a tensor will do
        ("return range(x[0])", "None"),
        ("return tf.image.resize(y, (x, 4))", "2"),
        ("return tf.image.pad_to_bounding_box(y, 0, 0, x, x)", "2"),
        ("return tf.cond(y, lambda: tf.gather(table, x), lambda: y)", "i32[4, 4]"),
        ("return tf.cond(y, lambda x: tf.gather(table, x), lambda: y)", "None"),  # another than the parameter
    ],
)
def test_uses(body: str, wanted: str) -> None:
    tree = ast.parse(f"def f(x):\n{textwrap.indent(body, '    ')}")
    assert str(uses_in(tree, ["x"])["x"].form()) == wanted


@pytest.mark.compiler
def test_a_size_that_callers_compute_is_one_number() -> None:
    from xlalint.probe.target import Parameter
    from xlalint.probe.worker.inputs.slots import slots_of

    known = [Parameter("height", "tensor", "int")]
    slots = {slot.name: str(slot.choices[0]) for slot in slots_of(_resized, "call", known)}
    assert slots == {"image": "f32[4, 4]", "height": "i32[]", "width": "2"}


def _resized(image, height, width):  # type: ignore[no-untyped-def]
    return resize(image, (height, width))  # type: ignore[name-defined]  # noqa: F821


_LAYERS = """
import keras

class Silent(keras.layers.Layer):
    def call(self, x):
        return x

class Said(keras.layers.Layer):
    def call(self, x):
        '''Args:
          x: a tensor of shape [rows, columns]
        '''
        return x
"""


@pytest.mark.compiler
def test_what_keras_says_of_all_layers_is_said_of_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_layers.py").write_text(_LAYERS)
    monkeypatch.syspath_prepend(tmp_path)
    layers = importlib.import_module("some_layers")
    base = layers.Silent.__base__
    monkeypatch.setattr(base.call, "__doc__", _two_dimensional.__doc__)  # as Keras 2 describes `inputs`
    assert described(base.call).keys() == {"x"}
    assert described(layers.Silent) == described(layers.Silent.call) == {}
    assert described(layers.Said.call).keys() == {"x"}


def test_a_docstring_that_the_source_contradicts() -> None:
    tree = ast.parse("def f(x):\n    b, h, w, c = tf.shape(x)")
    use = uses_in(tree, ["x"])["x"]
    described_as: Form | None = described(_two_dimensional)["x"]
    assert str(use.joined(described_as)) == "f32[4, 4, 4, 4]"


def _two_dimensional() -> None:
    """f

    Args:
      x: a tensor of shape [rows, columns]
    """


def _inner(options: Any) -> Any:
    return options.inner.breadth


def _rated(options: Any) -> Any:
    return _refused(options.rate)


def _refused(rate: float) -> None:
    raise ValueError("invalid `rate`")


@pytest.mark.compiler
@pytest.mark.parametrize(("function", "entry"), [(_inner, "inner"), (_rated, "rate")])
def test_the_setting_at_fault_is_told_from_others_of_its_value(function: Callable[[Any], Any], entry: str) -> None:
    from xlalint.probe.worker.inputs.culprits import FailedCall, culprits_of
    from xlalint.probe.worker.inputs.error_clues import ErrorClues
    from xlalint.probe.worker.inputs.settings import settings
    from xlalint.probe.worker.inputs.slots import Slot

    options = settings({name: Literal(4) for name in ("breadth", "inner", "rate")})
    with pytest.raises((AttributeError, ValueError)) as raised:
        function(made := options.make())
    slots, own = [Slot("options", "call", (options,))], [__file__]
    failed = FailedCall(slots, (options,), {0: made}, raised.value, own.__contains__, function.__code__)
    first, *_ = [path for _, path in culprits_of(failed, ErrorClues.of(raised.value)) if path]
    assert first == (entry,)


def test_a_structure_that_the_call_took_something_out_of() -> None:
    from xlalint.probe.worker.inputs.parts import parts_of
    from xlalint.sources.specs import Keyed, Literal, Many

    form = Keyed((("kept", Literal(1)), ("taken", Many("list", (Literal(2),)))))
    assert [path for path, _ in parts_of(form, {"kept": 1})] == [(), ("kept",), ("taken",), ("taken", 0)]
