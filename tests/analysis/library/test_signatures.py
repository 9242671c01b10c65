"""What calls give back: how rules are made of what is seen, the table, and a sample of it seen again."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest

from tests import sampling
from xlalint.analysis.domain.values import Dependence, Sequence, Static, Tensor, Value
from xlalint.analysis.library import api
from xlalint.analysis.library.measured_results import measured, shape_only
from xlalint.analysis.library.result_tables import NUMERIC, RESULTS
from xlalint.facts import FOLDER, tables
from xlalint.facts.names import known
from xlalint.measuring import rules
from xlalint.measuring.arguments import Parameter, Target
from xlalint.measuring.driver import Driver, plans
from xlalint.measuring.signatures import Moves, calls

TABLE: Final = json.loads((FOLDER / "signatures.json").read_text(encoding="utf-8"))
PLACE: Any = object()  # results only carry it along
SAMPLE: Final = 6  # callables


# -- other calls ------------------------------------------------------------------------------------------------------


def test_calls_are_varied_in_rank_size_dtype_and_number() -> None:
    moves = Moves("tf.pad(f32[4], [[1, 1]])")
    ranks = list(moves.ranks())
    assert {"tf.pad(f32[2, 4], [[1, 1]])", "tf.pad(f32[2, 4], [[1, 1], [1, 1]])"} <= set(ranks)
    assert "tf.pad(f32[()], [[1, 1]])" in ranks
    assert list(moves.sizes()) == ["tf.pad(f32[5], [[1, 1]])", "tf.pad(f32[8], [[1, 1]])"] * 2
    assert "tf.pad(index[4], [[1, 1]])" in list(moves.dtypes())
    assert list(moves.numbers()) == []
    two = Moves("tf.add(f32[4], index[3])")
    assert set(two.groups()) == {(0, 1), (0,), (1,)}
    assert "tf.add(2.0, index[3])" in list(two.numbers())
    assert list(Moves("tf.add(f32[4], index[3])", deaths=1).groups()) == [(0, 1)]
    assert list(Moves("tf.add(f32[4], index[3])", deaths=9).ranks()) == list(Moves("tf.add()").ranks()) == []


def test_options_are_written_otherwise_and_named() -> None:
    what = Target("tf.reduce_sum", "tf.reduce_sum", (Parameter("x", True, False), Parameter("axis", False, False)))
    found = dict(calls(what, "tf.reduce_sum(f32[3, 4])", [("axis", "1"), ("axis", "in words")], deaths=0))
    assert found["tf.reduce_sum(f32[3, 4], axis=0)"] == "axis=0"
    assert found["tf.reduce_sum(f32[3, 4], axis=1)"] == "axis=1"
    assert found["tf.reduce_sum(f32[3, 4])"] == ""
    assert not any("words" in text for text in found)


# -- rules ------------------------------------------------------------------------------------------------------------


def tensor(dtype: str, *sizes: int | None) -> dict[str, Any]:
    return {"t": [dtype, list(sizes)]}


def row(*seen: tuple[dict[str, Any], dict[str, Any]], options: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """What was seen: arguments and result of each call; the first one is the plain one."""
    written = (*options, *[""] * len(seen))
    entries = [
        {
            "call": f"tf.f({', '.join('f32[1]' for given in arguments.values() if 't' in given)})",
            "option": option,
            "arguments": arguments,
            "result": result,
        }
        for (arguments, result), option in zip(seen, written, strict=False)
    ]
    return {"seen": entries, "traced": seen[0][1], "idle": [], "deciding": ["x"]} | more


def rule(found: dict[str, Any]) -> dict[str, str]:
    return rules.rule("tf.f", found, random=False, bounded=False)


def test_a_rule_needs_calls_that_tell_it_from_others() -> None:
    one = ({"x": tensor("float", 4)}, tensor("float", 4))
    two = ({"x": tensor("float", 2, 4)}, tensor("float", 2, 4))
    whole = ({"x": tensor("int", 4)}, tensor("int", 4))
    assert rule(row(one)) == {}
    assert rule(row(one, one)) == {"": "float/?"}
    assert rule(row(one, two)) == {"": "float/same"}
    assert rule(row(one, two, whole)) == {"": "like/same"}
    assert rule(row(one, two, ({"x": tensor("int", 4)}, tensor("float", 4)))) == {"": "float/same"}
    assert rule(row(one, two, whole, ({"x": tensor("bool", 4)}, tensor("int", 4)))) == {"": "count/same"}
    assert rule(row(one, two, ({"x": tensor("float", 3)}, tensor("float")))) == {"": "float/?"}


def test_a_rule_may_follow_another_argument_than_the_first() -> None:
    first = ({"x": tensor("int", 4), "y": tensor("float", 2, 4)}, tensor("float", 2, 4))
    second = ({"x": tensor("int", 2, 4), "y": tensor("int", 4)}, tensor("int", 4))
    assert rule(row(first, second)) == {"": "like:y/same:y"}


def test_an_option_may_have_a_result_of_its_own() -> None:
    plain = ({"x": tensor("float", 4)}, {"u": [tensor("float", 4), tensor("int", 4)]})
    more = ({"x": tensor("int", 2, 4)}, {"u": [tensor("int", 2, 4), tensor("int", 2, 4)]})
    alone = ({"x": tensor("float", 4), "both": {"s": False}}, tensor("float", 4))
    other = ({"x": tensor("int", 2, 4), "both": {"s": False}}, tensor("int", 2, 4))
    found = rule(row(plain, more, alone, other, options=("", "", "both=False", "both=False")))
    assert found == {"": "like/same, int/same", "both=False": "like/same"}
    by_tensor = rule(row(plain, more, alone, other, options=("", "", "both=f32[()]", "both=f32[()]")))
    assert by_tensor == {}


def test_results_of_other_kinds() -> None:
    given = {"x": tensor("float", 4)}
    assert rule(row((given, {"s": None}), (given, {"s": None}))) == {"": "none"}
    assert rule(row((given, {"s": 2}), (given, {"s": 3}))) == {"": "static"}
    assert rule(row((given, {"o": "tf.RaggedTensor"}), (given, {"o": "tf.RaggedTensor"}))) == {"": "@tf.RaggedTensor"}
    assert rule(row((given, {"o": "Session"}), (given, {"o": "Session"}))) == {}
    lists = [(given, {"l": [tensor("float", 2)] * count}) for count in (2, 3)]
    assert rule(row(*lists)) == {"": "[float/?]"}
    called = {"x": tensor("float", 4), "f": {"o": "function"}}
    assert rule(row((called, tensor("float", 4)), (called, tensor("float", 4)))) == {}


def test_what_is_made_of_shapes_only() -> None:
    one = ({"x": tensor("float", 4)}, tensor("int", 1))
    two = ({"x": tensor("float", 2, 4)}, tensor("int", 2))
    shape = row(one, two, idle=["x"], deciding=[])
    assert rule(shape) == {"": "int/1/shape"}
    assert rules.shape_only(shape) == ["x"]
    assert rules.shape_only(row(one, two, idle=["x"], deciding=["x"])) == []
    filled = [({"x": tensor("float", *sizes)}, tensor("float", *sizes)) for sizes in ((4,), (2, 4))]
    assert rule(row(*filled, idle=["x"], deciding=[])) == {"": "float/same/filled"}
    value = ({"x": tensor("float", 4), "value": tensor("float")}, tensor("float", 4))
    assert rule(row(*filled, value, idle=["x"], deciding=[]))[""] == "float/same"


# -- the table --------------------------------------------------------------------------------------------------------

DTYPE: Final = re.compile(
    r"(bool|int|float|complex|string|\?|(like|real|count|truth|part|promote)(:\w+(\+\w+)*)?)"
    r"/(\d|\?|((same|[+-]\d)(:\w+)?)|reduce|fold|flat|gather|reshape|squeeze|expand|tile|einsum|mask|all|above|matmul)"
    r"(/(shape|filled|chance|bounded|fixed|layer))?"
)
PLAIN: Final = re.compile(r"none|static|array|dtype|shape|@tf\.(RaggedTensor|SparseTensor)")


def test_the_table_is_written_in_the_language_of_results() -> None:
    for name, written in TABLE["results"].items():
        assert known(name.removesuffix(".__call__")), name
        for text in [written] if isinstance(written, str) else written.values():
            parts = text.removeprefix("[").removesuffix("]").split(", ")
            assert PLAIN.fullmatch(text) or all(map(DTYPE.fullmatch, parts)) or text == "", (name, text)
    assert set(TABLE["shapes"]) <= set(TABLE["results"])
    assert len(TABLE["results"]) > 1500


def test_nothing_is_written_by_hand_that_is_measured() -> None:
    doubled = []
    for spec, names in RESULTS.items():
        for word in names.split():
            spelled = [word] if "." in word else [f"{namespace}.{word}" for namespace in NUMERIC]
            said = {measured(name) for name in spelled if known(name) and not name.startswith("np.")}
            if said == {spec}:
                doubled.append(word)
    assert doubled == []


def call(name: str, **arguments: Value) -> Value:
    return api.call(name, arguments, PLACE)


FLOATS: Final = Tensor(Dependence.VALUE, "float", 2)
INTS: Final = Tensor(Dependence.VALUE, "int", 2)
COMPLEX: Final = Tensor(Dependence.VALUE, "complex", 2)
MASK: Final = Tensor(Dependence.VALUE, "bool", 2)
VECTOR: Final = Tensor(Dependence.VALUE, "float", 1)


@pytest.mark.parametrize(
    ("name", "arguments", "dtype", "rank"),
    [
        # What one would say otherwise without measuring.
        ("keras.ops.matmul", {"x1": VECTOR, "x2": FLOATS}, "float", 1),
        ("keras.ops.matmul", {"x1": FLOATS, "x2": FLOATS}, "float", 2),
        ("keras.ops.clip", {"x": MASK, "x_min": Static(0), "x_max": Static(1)}, "int", 2),
        ("keras.ops.full", {"shape": Sequence("tuple", (Static(2),)), "fill_value": Static(1)}, "float", 1),
        ("keras.ops.std", {"x": COMPLEX}, "float", 0),
        ("keras.ops.expand_dims", {"x": VECTOR, "axis": Sequence("tuple", (Static(0), Static(1)))}, "float", 3),
        ("keras.ops.unique", {"x": FLOATS, "axis": Static(0)}, "float", 2),
        ("keras.ops.unique", {"x": FLOATS}, "float", 1),
        ("keras.ops.tile", {"x": VECTOR, "repeats": Sequence("list", (Static(2), Static(1)))}, "float", 2),
        ("tf.linalg.det", {"input": Tensor(Dependence.VALUE, "float", 3)}, "float", 1),
        ("tf.linalg.logdet", {"matrix": COMPLEX}, "float", 0),
        ("tf.math.bincount", {"arr": Tensor(Dependence.VALUE, "int", 1), "weights": VECTOR}, None, 1),
        ("tf.random.stateless_poisson", {"shape": Sequence("list", (Static(2),)), "seed": INTS}, "int", 1),
        ("tnp.where", {"condition": MASK, "x": INTS, "y": FLOATS}, "float", 2),
        ("tf.where", {"condition": MASK, "x": INTS, "y": INTS}, "int", 2),
        ("tnp.floor", {"x": INTS}, "float", 2),
        ("keras.losses.binary_crossentropy", {"y_true": FLOATS, "y_pred": FLOATS}, "float", 1),
    ],
)
def test_results_that_only_measuring_told(name: str, arguments: dict[str, Value], dtype: str | None, rank: int) -> None:
    found = call(name, **arguments)
    assert isinstance(found, Tensor)
    assert (found.dtype, found.rank) == (dtype, rank)


def test_results_by_an_option() -> None:
    values = call("tf.linalg.svd", tensor=FLOATS, compute_uv=Static(False))
    assert isinstance(values, Tensor)
    assert values.rank == 1
    whole = call("tf.linalg.svd", tensor=FLOATS)
    assert isinstance(whole, Sequence)
    assert [item.rank for item in whole.items or () if isinstance(item, Tensor)] == [1, 2, 2]


def test_the_content_of_some_arguments_does_not_reach_the_result() -> None:
    assert shape_only("keras.ops.full_like") == {"x"}
    constant = call("keras.ops.full_like", x=FLOATS, fill_value=Static(0.0))
    assert isinstance(constant, Tensor)
    assert constant.dependence is Dependence.SHAPE
    data = call("keras.ops.full_like", x=FLOATS, fill_value=Tensor(Dependence.VALUE, "float", 0))
    assert isinstance(data, Tensor)
    assert data.dependence is Dependence.VALUE


# -- measured again ---------------------------------------------------------------------------------------------------


def stored(name: str) -> dict[str, str]:
    """The shipped rule of a callable, by option."""
    rule = TABLE["results"].get(name) or TABLE["results"][f"{name}.__call__"]
    return {"": rule} if isinstance(rule, str) else rule


def made_again(driver: Driver, name: str, known_calls: Any) -> dict[str, str]:
    """The rule that its calls give now."""
    found = driver.row(name, known_calls[name], "signature") or {}
    fact = tables.api(name)
    assert fact is not None
    assert fact.plain is not None
    return rules.rule(name, found, fact.plain.random, fact.plain.bounded) if found.get("seen") else {}


@pytest.mark.slow
@pytest.mark.compiler
def test_a_sample_of_the_rules_is_made_again() -> None:
    shipped = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))
    known_calls = plans(shipped, complete=True)
    names = [name for name in known_calls if name in TABLE["results"] or f"{name}.__call__" in TABLE["results"]]
    sampling.chance().shuffle(names)
    driver, wrong = Driver(), {}
    try:
        for name in names[: sampling.size(SAMPLE)]:
            if (made := made_again(driver, name, known_calls)) != stored(name):
                driver.close()  # some calls leave the process in a state that changes others: once more, alone
                made = made_again(driver, name, known_calls)
            if made != stored(name):
                wrong[name] = {"stored": stored(name), "made": made}
    finally:
        driver.close()
    assert not wrong
