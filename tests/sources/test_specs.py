"""The grammar of inputs: what is written is read, what is read is written the same, and what is wrong is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.probe.target import Frame, Given, Parameter, Target
from xlalint.probe.worker.compiling.compare import Leaf, difference
from xlalint.probe.worker.inputs.numbers import extremes, like_seen
from xlalint.probe.worker.inputs.numbers import numbers as drawn
from xlalint.sources.specs import (
    DTYPES,
    STYLES,
    Form,
    Keyed,
    Literal,
    Many,
    Spec,
    SpecError,
    leaves,
    parse_form,
    parse_inputs,
    spec,
)

sizes = st.tuples(st.integers(0, 9), st.integers(0, 3)).map(lambda pair: (pair[0], pair[0] + pair[1]))
dtypes = st.sampled_from(sorted(DTYPES.values()))
specs = st.builds(Spec, dtypes, st.lists(sizes, max_size=4).map(tuple), st.sampled_from(("", *STYLES)))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
literals = st.builds(Literal, st.none() | st.booleans() | numbers | st.text())
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


def structures(inner: st.SearchStrategy[Form]) -> st.SearchStrategy[Form]:
    items = st.lists(inner, max_size=3).map(tuple)
    return st.builds(Many, st.sampled_from(("list", "tuple")), items) | st.builds(
        Keyed, st.dictionaries(st.text(), inner, max_size=3).map(lambda entries: tuple(entries.items()))
    )


forms = st.recursive(specs | literals, structures, max_leaves=5)


@given(forms)
def test_what_is_written_is_read_the_same(form: Form) -> None:
    assert parse_form(str(form)) == form


@given(st.dictionaries(names, forms, max_size=4))
def test_inputs_by_name_are_read_the_same(given: dict[str, Form]) -> None:
    text = ", ".join(f"{name}: {form}" for name, form in given.items())
    assert {name: parse_form(one) for name, one in parse_inputs(text)} == given


def test_the_shapes_of_a_range_advance_together_and_stay_at_their_last() -> None:
    form = parse_form("f32[2..4, 3, 8..9]")
    assert isinstance(form, Spec)
    assert form.variants == 3
    assert [form.shape(variant) for variant in range(3)] == [(2, 3, 8), (3, 3, 9), (4, 3, 9)]


def test_the_tensors_of_a_structure_come_in_order() -> None:
    form = parse_form('{"image": f32[2, 8], "others": (i32[3], 7, [bool[]])}')
    assert list(leaves(form)) == [spec("float32", 2, 8), spec("int32", 3), spec("bool")]


def test_inputs_with_and_without_names() -> None:
    assert parse_inputs("f32[4], training = True, mode: 'same'") == (
        (None, "f32[4]"),
        ("training", "True"),
        ("mode", "'same'"),
    )
    assert parse_inputs("") == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("float[4]", "`float` is not a dtype"),
        ("f32[a]", "`a` is not a size"),
        ("f32[5..2]", "ends before it begins"),
        ("f32[4] huge", "`huge` is not a kind of tensor"),
        ("f32[4", "`f32` is neither a tensor"),
        ("[f32[4], i32[2]", "`]` is missing"),
        ("[f32[4] i32[2]]", "`i32` is not a kind of tensor"),
        ("{f32[4]: 1}", "neither a tensor"),
        ("{1: f32[4]}", "is not a string"),
        ("", "it ends too early"),
        ("f32[4] f32[4]", "is not a kind of tensor"),
        ("3 4", "is left over"),
        ("open('x')", "neither a tensor"),
    ],
)
def test_what_is_no_input_is_said_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_form(text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x: f32[4], f32[4]", "without a name follows"),
        ("x: f32[4], x: i32[4]", "given twice"),
        ("x: f32[4] y: i32[4]", "not a kind of tensor"),
    ],
)
def test_inputs_that_contradict_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(SpecError, match=complaint):
        parse_inputs(text)


def test_a_target_travels_as_json() -> None:
    target = Target(
        "/a/b.py",
        "Layer.call",
        lines=(3, 9),
        kind="method",
        parameters=(Parameter("x", "tensor", "float", 2),),
        given=(Given("x", "f32[4]"), Given(None, "True")),
        search=("/a",),
        wanted=(5,),
        callers=(Frame("/a/c.py", "main"),),
    )
    assert Target.of_json(json.loads(json.dumps(target.to_json()))) == target


def test_whole_numbers_below_a_limit_are_drawn_as_they_are_said() -> None:
    form = parse_form("i32[2, 30] below4")
    assert isinstance(form, Spec)
    assert str(form) == "i32[2, 30] below4"
    for value_set in (0, 1, 5, *extremes(1)):
        assert {*drawn(form, 0, value_set, 0).ravel().tolist()} == {0, 1, 2, 3}


def test_values_like_those_that_were_seen() -> None:
    seen = np.array([[1, 5], [0, 7]], np.int32)
    assert like_seen(seen, 1, 0).tolist() == [[0, 4], [0, 6]]
    assert like_seen(seen, 2, 0).tolist() == [[7, 1], [5, 0]]
    assert like_seen(np.array([True, False]), 1, 0).tolist() == [False, True]
    assert like_seen(np.array([4.0]), 3, 0).dtype == np.float64


def test_sorted_numbers() -> None:
    form = parse_form("i32[6] sorted")
    assert isinstance(form, Spec)
    several = [drawn(form, 0, value_set, 0).tolist() for value_set in range(4)]
    assert all(one == sorted(one) for one in several)
    assert len({sum(one) for one in several}) > 2


def test_extreme_values_of_one_tensor_are_among_others_that_are_none() -> None:
    form = parse_form("i32[5]")
    assert isinstance(form, Spec)
    plain = [drawn(form, 0, 0, position).tolist() for position in range(3)]
    held = [[drawn(form, 0, number, position).tolist() for position in range(3)] for number in extremes(3)]
    apart = [[one == other for one, other in zip(several, plain, strict=True)] for several in held]
    assert apart[1:4] == [[False, True, True], [True, False, True], [True, True, False]]
    assert [9] * 5 in held[0]


def test_what_is_padded_behind_a_result_may_not_count() -> None:
    expected, longer = Leaf("float32", np.ones([2])), Leaf("float32", np.array([1.0, 1.0, 7.0]))
    assert difference([expected], [longer]) == "shape [3] instead of [2]"
    assert difference([expected], [longer], padded=True) == ""
    assert difference([expected], [Leaf("float32", np.zeros([3]))], padded=True)
    assert difference([longer], [expected], padded=True) == "shape [2] instead of [3]"
