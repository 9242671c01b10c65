"""`xlalint padding`: lengths are counted, plans are exact, prices are what was measured, and the advice does it."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.claims import claim, sources
from xlalint.cli import run
from xlalint.padding.advice import code_of
from xlalint.padding.lengths import Histogram, Lengths, LengthsError, read_lengths
from xlalint.padding.measure import prices_of
from xlalint.padding.plans import Plan, Prices, Way, best_buckets, plans_of
from xlalint.padding.report import duration


def read(text: str | bytes, name: str = "lengths.txt", *columns: str) -> dict[Lengths, int]:
    data = text.encode() if isinstance(text, str) else text
    return read_lengths(io.BufferedReader(io.BytesIO(data)), name, columns).counts


def histogram(lengths: Sequence[Lengths]) -> Histogram:
    return Histogram(dict(Counter(lengths)), len(lengths[0]))


# -- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("3\n5\n3", {(3,): 2, (5,): 1}),
        ("\ufeff3\r\n\r\n 03 \r\n", {(3,): 2}),
        ("3 4\n3\t4\n3,4\n4, 3\n", {(3, 4): 3, (4, 3): 1}),
        ("0\n2147483647\n", {(0,): 1, (2147483647,): 1}),
    ],
)
def test_lengths_one_a_line_or_two(text: str, counts: dict[Lengths, int]) -> None:
    assert read(text) == counts


@pytest.mark.parametrize(
    ("text", "name", "columns", "counts"),
    [
        ("id,n\n1,3\n2,3\n\n", "a.csv", ["n"], {(3,): 2}),
        ('id,"n, 1",m\r\n1," 3 ",4\r\n', "-", ["n, 1", "m"], {(3, 4): 1}),
        ("n\tm\n3\t4\n", "a.TSV", ["m", "n"], {(4, 3): 1}),
        ('{"n": 3}\n\n{"n": [1, 2, 3], "m": 0}\n{"n": "abc"}', "-", ["n"], {(3,): 3}),
        ('{"a b": 3, "n": [[1], [2]]}\n', "a.jsonl", ["n", "a b"], {(2, 3): 1}),
    ],
)
def test_lengths_from_columns(text: str, name: str, columns: list[str], counts: dict[Lengths, int]) -> None:
    assert read(text, name, *columns) == counts


@pytest.mark.parametrize(
    ("text", "name", "columns", "message"),
    [
        ("", "a", [], "a: it contains no lengths"),
        ("\n \n", "a", [], "no lengths"),
        ("3\nx\n", "a", [], "a: line 2: not a length: 'x'"),
        (f"3\n{'y' * 100}", "a", [], f"line 2: not a length: '{'y' * 40}'"),
        ("3\n\n-4\n", "a", [], "line 3: not a length: '-4'"),
        ("3.5\n", "a", [], "not a length: '3.5'"),
        (b"3\n\xff\n", "a", [], "line 2: not a length"),
        ("2147483648\n", "a", [], "line 1: a length is between 0 and 2147483647"),
        ("9" * 5000, "a", [], "a length is between"),
        ("1 2 3\n", "a", [], "line 1: more than two lengths"),
        ("1 2\n3\n", "a", [], "some lines contain one length, others two"),
        ("a,b\n1,2\n", "a.csv", ["c"], "there is no column 'c'; the header has 'a', 'b'"),
        ("", "a.csv", ["c"], "there is no column 'c'; the header has none"),
        ("a,b\n1,2\n1\n", "a.csv", ["b"], "line 3: there are fewer columns than in the header"),
        ("a,b\n1,x\n", "a.csv", ["b"], "line 2: not a length: 'x'"),
        (b"a,b\n1,\xff\n", "a.csv", ["b"], "a.csv: 'utf-8' codec can't decode"),
        ("a\n" + "x" * 200_000, "a.csv", ["a"], "field larger than field limit"),
        ('{"a": 1}\n{"b": 1}\n', "a.jsonl", ["a"], "line 2: Object missing required field `a`"),
        ('{"a": 1.5}\n', "-", ["a"], "line 1: Expected `int | str | array`, got `float`"),
        ('{"a": -1}\n', "-", ["a"], "line 1: a length is between"),
        ('{"a": \n', "-", ["a"], "line 1: Input data was truncated"),
    ],
)
def test_what_holds_no_lengths_says_where(text: str | bytes, name: str, columns: list[str], message: str) -> None:
    with pytest.raises(LengthsError) as caught:
        read(text, name, *columns)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@given(st.lists(st.tuples(st.integers(0, 999)), min_size=1), st.integers(1, 30))
def test_how_a_file_comes_in_pieces_does_not_matter(lengths: list[Lengths], size: int) -> None:
    data = "\n".join(str(length) for (length,) in lengths).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xlalint.padding.lengths._CHUNK", size)
        assert read(data) == Counter(lengths)


# -- plans ------------------------------------------------------------------------------------------------------------


def tokens(counts: dict[int, int], sizes: Sequence[int]) -> int:
    return sum(times * next(size for size in sizes if size >= length) for length, times in counts.items())


@given(st.dictionaries(st.integers(0, 60), st.integers(1, 40), min_size=1, max_size=9), st.integers(1, 7))
def test_the_best_buckets_are_the_best_of_all(counts: dict[int, int], most: int) -> None:
    counts = dict(sorted(counts.items()))
    *lengths, longest = counts
    found = best_buckets(counts, most)
    assert len(found) == min(most, len(counts))
    for number, sizes in enumerate(found, 1):
        every = ((*chosen, longest) for chosen in itertools.combinations(lengths, number - 1))
        assert len(sizes) == number
        assert tokens(counts, sizes) == min(tokens(counts, sizes) for sizes in every)


@given(
    st.lists(st.integers(0, 200).map(lambda n: (n,)), min_size=1)
    | st.lists(st.tuples(*[st.integers(0, 50)] * 2), min_size=1)
)
def test_plans_count_what_padding_does(lengths: list[Lengths]) -> None:
    plans = plans_of(histogram(lengths), 5)
    needed = sum(map(sum, lengths))
    for plan in plans:
        assert plan.tokens - plan.padding == needed
        if plan.way in (Way.MAXIMUM, Way.BUCKETS):
            shapes = [
                tuple(next(size for size in sizes if size >= n) for n, sizes in zip(pair, plan.sizes, strict=True))
                for pair in lengths
            ]
        elif plan.way is Way.MULTIPLES:
            shapes = [tuple(max(-(-n // plan.count), 1) * plan.count for n in pair) for pair in lengths]
        else:
            shapes = lengths
        assert plan.compilations == len(set(shapes))
        assert plan.tokens == sum(map(sum, shapes))
    by_number = [plan.tokens for plan in plans if plan.way in (Way.MAXIMUM, Way.BUCKETS)]
    assert by_number == sorted(by_number, reverse=True)


def test_what_a_plan_costs() -> None:
    plan = Plan(Way.MAXIMUM, 0, ((8,),), 1, 80, 20)
    prices = Prices(3.0, 0.5, epochs=2)
    assert (prices.compiling(plan), prices.computing(plan), prices.total(plan)) == (3.0, 80.0, 83.0)
    assert plan.padding_percent == 25.0


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0123, "0.012 s"),
        (3.0, "3 s"),
        (59.4, "59 s"),
        (59.6, "1.0 min"),
        (60.0, "1.0 min"),
        (5400.0, "1.5 h"),
        (3.6e7, "10,000 h"),
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


# -- prices -----------------------------------------------------------------------------------------------------------


def test_prices_are_the_slope_and_the_middle() -> None:
    found = prices_of([(10,), (20,), (40,)], [(5.2, 0.2), (3.3, 0.3), (4.5, 0.5)], batch_size=4)
    assert found.token_seconds == pytest.approx(0.01 / 4)
    assert found.compile_seconds == pytest.approx(4.0)
    assert prices_of([(10, 30)], [(1.0, 0.4)], 1).token_seconds == pytest.approx(0.01)
    assert prices_of([(10,), (20,)], [(0.1, 0.4), (0.1, 0.2)], 1).token_seconds == pytest.approx(0.02)  # no slope
    assert prices_of([(0,)], [(0.1, 0.4)], 1).compile_seconds == 0.0


STEPS = """\
import os, sys
print("noise")

def step(*lengths):
    with open("seen.txt", "a") as file:
        print(*lengths, os.environ["CUDA_VISIBLE_DEVICES"], file=file)
    return {"loss": [Result()]}

class Result:
    def numpy(self):
        with open("seen.txt", "a") as file:
            print("read", file=file)

def broken(length):
    raise ValueError("no\\nmore")

def gone(length):
    os._exit(3)

def forever(length):
    import time
    time.sleep(600)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lengths.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    (tmp_path / "steps.py").write_text(STEPS)
    return tmp_path


def test_the_users_step_is_run_in_a_process_of_its_own(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["padding", "lengths.txt", "--measure", "steps:step", "--output-format", "json"]) == 0
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert document["prices"]["origin"] == "measured with steps:step"
    assert document["prices"]["token_seconds"] > 0
    assert err == "noise\n"
    seen = (here / "seen.txt").read_text().splitlines()
    assert seen == [line for n in (1, 25, 50, 75, 100) for line in [f"{n} -1", "read"] * 4]
    assert "steps" not in sys.modules


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("steps", "--measure takes MODULE:FUNCTION, not 'steps'"),
        ("nowhere:step", "nowhere:step: ModuleNotFoundError: No module named 'nowhere'"),
        ("steps:stop", "steps:stop: AttributeError: module 'steps' has no attribute 'stop'"),
        ("steps:broken", "steps:broken: ValueError: no"),
        ("steps:gone", "steps:gone ended its process with exit code 3"),
        ("steps:forever", "steps:forever did not finish within 2 seconds (--timeout)"),
    ],
)
def test_a_step_that_cannot_be_measured_is_one_line(
    here: Path, capfd: pytest.CaptureFixture[str], target: str, message: str
) -> None:
    assert run(["padding", "lengths.txt", "--measure", target, "--timeout", "2"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.removeprefix("noise\n") == f"xlalint: error: {message}\n"


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_table(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["padding", "lengths.txt", "--compile-seconds", "1", "--token-seconds", "0.001", "--buckets", "4"]) == 0
    out = capsys.readouterr().out
    assert "lengths.txt: 100 lengths: 1 to 100, 50.5 on average, 100 different ones\n" in out
    assert "multiples of 32               4          24.1 %         4 s       6.7 s           11 s\n" in out
    assert "best 3 buckets" not in out
    assert "the maximum (100)             1          49.5 %         1 s        10 s           11 s\n" in out
    assert "best 2 buckets                2          32.7 %         2 s       7.5 s          9.5 s <- least\n" in out
    assert "SIZES = [50, 100]\n" in out
    assert "(as given)" in out


def test_the_same_as_data(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["padding", "lengths.txt", "--output-format", "json", "--epochs", "3", "--buckets", "3"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == 1
    assert document["lengths"] == {
        "source": "lengths.txt",
        "count": 100,
        "columns": [{"shortest": 1, "longest": 100, "mean": 50.5, "distinct": 100}],
    }
    assert document["prices"]["epochs"] == 3
    names = [plan["name"] for plan in document["plans"]]
    assert names == [
        "none",
        *(f"multiples of {number}" for number in (8, 16, 32, 64, 128)),
        "the maximum (100)",
        "best 2 buckets",
        "best 3 buckets",
    ]
    two = document["plans"][7]
    assert (two["sizes"], two["compilations"], two["padding_tokens"]) == ([[50, 100]], 2, 2450)
    assert document["best"]["name"] in names
    assert set(document["best"]["code"]) == {"tokenizer", "tf.data"}


def test_standard_input_and_pairs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(b"3 4\n5 6\n"))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert run(["padding", "-"]) == 0
    out = capsys.readouterr().out
    assert "standard input: 2 pairs of lengths: 3 to 5, 4.0 on average, 2 different ones; 4 to 6" in out
    assert "the maximum (5 and 6)" in out
    assert "<- least" in out


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture(here: Path, suffix: str) -> None:
    assert run(["padding", "lengths.txt", "--plot", f"cost.{suffix}"]) == 0
    data = (here / f"cost.{suffix}").read_bytes()
    if suffix == "svg":
        assert ElementTree.fromstring(data).tag.endswith("svg")
    else:
        assert data.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.txt"], "gone.txt: No such file or directory"),
        (["."], ".: is a directory"),
        (["steps.py"], "steps.py: line 1: not a length: 'import'"),
        (["lengths.txt", "--column", "n"], "there is no column 'n'; the header has '1'"),
        (["lengths.txt", *["--column", "n"] * 3], "--column is given once, or twice for pairs"),
        (["lengths.txt", "--token-seconds", "-1"], "Invalid value for '--token-seconds'"),
        (["lengths.txt", "--measure", "a:b", "--token-seconds", "1"], "--measure replaces"),
        (["lengths.txt", "--plot", "cost.doc"], "cost.doc: Format 'doc' is not supported"),
        (["lengths.txt", "--plot", "no/cost.svg"], "no/cost.svg: No such file or directory"),
        ([], "Missing argument 'LENGTHS'"),
    ],
)
def test_bad_input_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["padding", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith("xlalint: error: ")
    assert len(err.splitlines()) == 1


def test_a_picture_needs_matplotlib(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["padding", "lengths.txt", "--plot", "cost.svg"]) == 2
    assert "pip install 'xlalint[plot]'" in capsys.readouterr().err


# -- the advice -------------------------------------------------------------------------------------------------------


class Tokenizer:
    """As far as padding goes, what Hugging Face's do."""

    def __call__(
        self,
        texts: Sequence[Sequence[int]],
        padding: bool | str = False,
        max_length: int = 0,
        pad_to_multiple_of: int = 1,
        truncation: bool = False,
    ) -> dict[str, Any]:
        cut = [list(text[:max_length] if truncation else text) for text in texts]
        return self.pad({"input_ids": cut}, padding, max_length, pad_to_multiple_of) if padding else {"input_ids": cut}

    def pad(
        self, batch: dict[str, Any], padding: bool | str, max_length: int = 0, pad_to_multiple_of: int = 1
    ) -> dict[str, Any]:
        longest = max_length if padding == "max_length" else max(map(len, batch["input_ids"]))
        size = -(-longest // pad_to_multiple_of) * pad_to_multiple_of
        return {"input_ids": [[*ids, *[0] * (size - len(ids))] for ids in batch["input_ids"]]}


LENGTHS: list[Lengths] = [(n,) for n in (3, 3, 5, 8, 9, 9, 12, 20, 20, 31)]


@pytest.mark.parametrize("name", ["multiples of 8", "the maximum (31)", "best 3 buckets"])
def test_a_tokenizer_pads_as_planned(name: str) -> None:
    [plan] = [plan for plan in plans_of(histogram(LENGTHS), 4) if plan.name == name]
    sizes = []
    for (length,) in LENGTHS:
        space: dict[str, Any] = {"tokenizer": Tokenizer(), "texts": [[1] * length, [1]]}
        exec(code_of(plan)["tokenizer"], space)
        sizes += [len(ids) for ids in space["batch"]["input_ids"]]
    assert sum(sizes[::2]) == plan.tokens
    assert len(set(sizes)) == plan.compilations


PIPELINE = """\
import json, sys
import tensorflow as tf

told = []
for lengths, code in json.load(sys.stdin):
    rows = [[list(range(1, n + 1)) for n in pair] for pair in lengths] * 2
    signature = tuple(tf.TensorSpec([None], tf.int32) for _ in rows[0])
    pairs = tf.data.Dataset.from_generator(lambda: (tuple(row) for row in rows), output_signature=signature)
    dataset = pairs if len(signature) > 1 else pairs.map(lambda tokens: tokens)
    space = {"tf": tf, "dataset": dataset, "BATCH_SIZE": 2}
    exec(code, space)
    told.append([[list(part.shape) for part in tf.nest.flatten(batch)] for batch in space["dataset"]])
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.compiler
@claim(sources("xlalint/padding"), PIPELINE, sampled=False)
def test_a_pipeline_pads_as_planned() -> None:
    """Each sequence occurs twice, so that batches of two are full."""
    pairs: list[Lengths] = [(3, 9), (4, 2), (9, 9), (12, 5), (30, 33), (8, 40)]
    plans = [
        (LENGTHS, plan)
        for plan in plans_of(histogram(LENGTHS), 3)
        if plan.name in ("none", "multiples of 8", "the maximum (31)", "best 3 buckets")
    ]
    plans += [(pairs, plan) for plan in plans_of(histogram(pairs), 3)]
    asked = [(lengths, code_of(plan)["tf.data"]) for lengths, plan in plans]
    done = subprocess.run(
        [sys.executable, "-c", PIPELINE], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    for (_, plan), batches in zip(plans, json.loads(done.stdout), strict=True):
        assert all(size == 2 for batch in batches for size, _ in batch)
        assert sum(length for batch in batches for _, length in batch) == plan.tokens, plan.name
        assert len({tuple(length for _, length in batch) for batch in batches}) == plan.compilations
