"""The benchmark of repairs without its downloads: what is cut out of a file, and how outcomes are judged."""

from __future__ import annotations

import re

import pytest

from .fetched import cut, functions
from .runs import verdict

SOURCE = """
import something

def first(x):
    return x

class Layer(something.Layer):
    scale = 2.0

    @something.checked
    def call(self, x):
        return self.scale * x
"""
WELL = {"changed": None, "trouble": None, "fails": False, "compilations": 1}
AGAIN = WELL | {"compilations": 3}
FAILS = WELL | {"trouble": "values, then ValueError", "fails": True}
DIFFERS = WELL | {"trouble": "[1.0], then [2.0]"}


def test_definitions_are_cut_out_and_methods_without_the_rest_of_their_class() -> None:
    free, held = cut(SOURCE, ["Layer.call", "first"])
    assert free == "def first(x):\n    return x"
    assert held == "class Layer:\n    @something.checked\n    def call(self, x):\n        return self.scale * x"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (FAILS, WELL, "repaired"),
        (FAILS, None, "unchanged"),
        (FAILS, FAILS, "unchanged"),
        (FAILS, AGAIN, "partly"),
        (FAILS, DIFFERS, "worse"),
        (DIFFERS, FAILS, "unchanged"),
        (AGAIN, WELL, "repaired"),
        (AGAIN, FAILS, "worse"),
        (FAILS, WELL | {"changed": "1.0, then 2.0"}, "worse"),
        (WELL, None, "not broken"),
        (WELL, AGAIN, "worse"),
    ],
)
def test_a_verdict(before: dict[str, object], after: dict[str, object] | None, expected: str) -> None:
    assert verdict({"before": before} | ({} if after is None else {"after": after})) == expected


def test_each_function_has_a_name_of_its_own_and_an_exact_release_or_commit() -> None:
    found = functions()
    assert len({one.name for one in found}) == len(found)
    assert all(
        re.search("==|@[0-9a-f]{40}$", one.package) and "def f(" in one.driver.replace("f = tf.function(", "def f(")
        for one in found
    )
    assert {one.group for one in found} == {
        *("first", "later", "second", "aside", "third", "aside, third", "fourth", "aside, fourth"),
        *("fifth", "aside, fifth"),
    }
