"""Which definitions are run: those around findings, with what the user and the analyser say of their inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.findings.findings import Finding
from xlalint.linter.run import check
from xlalint.probe.target import Frame, Given, Target
from xlalint.probe.targets import NoTarget, TargetError, Targets
from xlalint.settings import config

CODE = """\
import tensorflow as tf
import keras


def positive(x):
    if tf.reduce_sum(x) > 0:
        return x
    return -x


# Layers are made with what stands here,
# xlalint: probe(units: 8)
@keras.saving.register_keras_serializable()
class Gated(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    # xlalint: probe(inputs: f32[2, 8])
    def call(self, inputs):
        return positive(inputs) * self.scaled(inputs, 3)

    def scaled(self, values, count):
        def inner(y):
            assert tf.reduce_all(y > 0)
            return y * count

        return inner(values)


@tf.function(jit_compile=True)
def compiled(x: tf.Tensor, count: int):
    return tf.boolean_mask(x, x > 0) * count


def network(units=8):
    return keras.Sequential([Gated(units)])


def unrelated(path):
    return open(path).read()
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "code.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return folder / "code.py"


def findings_of(path: Path) -> list[Finding]:
    return list(check([path], config.load([path], isolated=True)).findings)


def of_findings(path: Path, **given: object) -> dict[str, Target]:
    pairs = Targets(**given).of_findings(findings_of(path))  # type: ignore[arg-type]
    assert all(isinstance(target, Target) for target, _ in pairs)
    return {target.qualname: target for target, _ in pairs if isinstance(target, Target)}


def test_findings_are_of_the_innermost_function_around_them(package: Path) -> None:
    found = of_findings(package)
    assert set(found) == {"positive", "Gated.scaled.<locals>.inner", "compiled"}
    assert found["positive"].wanted == (6,)
    assert found["positive"].lines == (5, 8)
    assert found["positive"].autograph is False  # Keras 3 calls `call`, which calls it
    # What calls it, and what makes the object that does.
    assert found["positive"].callers == (Frame(str(package), "Gated.call"), Frame(str(package), "network"))
    assert found["compiled"].autograph is True
    assert found["compiled"].lines == (31, 33)
    inner = found["Gated.scaled.<locals>.inner"]
    assert (inner.kind, inner.callers[0].qualname) == ("nested", "Gated.scaled")


def test_callers_of_its_file_and_tests_show_what_it_is_called_with(package: Path) -> None:
    folder = package.parent
    (folder / "more.py").write_text(
        "class Table:\n    def first(self, x):\n        return self.second(x)\n\n"
        "    def second(self, x):\n        return x\n\n"
        "def other(table):\n    return table.second(1)\n"
    )
    (folder / "more_test.py").write_text(
        "from .more import Table\n\ndef test_second():\n    Table().second(2)\n\n"
        "def test_more(x):\n    Table().second(x)\n"
    )
    more = folder / "more.py"
    found = Targets().at(more, "Table.second").callers
    tests = [Frame(str(folder / "more_test.py"), name) for name in ("test_second", "test_more")]
    assert found == (Frame(str(more), "Table.first"), Frame(str(more), "other"), *tests)
    assert Targets().at(more, "other").callers == ()
    (folder / "layer.py").write_text("class Layer:\n    def __call__(self, x):\n        return x\n")
    (folder / "layer_test.py").write_text("from .layer import Layer\n\ndef test_it():\n    Layer()(2)\n")
    called = Targets().at(folder / "layer.py", "Layer.__call__").callers
    assert called == (Frame(str(folder / "layer_test.py"), "test_it"),)


def test_what_the_user_speaks_of_is_run_instead_of_what_it_calls(package: Path) -> None:
    (package.parent / "steps.py").write_text(
        "def masked(x):\n    return x\n\ndef loss(x):\n    return masked(x)\n\n"
        "# xlalint: probe(x: f32[3])\ndef step(x):\n    return loss(x)\n"
    )
    steps = package.parent / "steps.py"
    for name in ("masked", "loss", "step"):
        assert (Targets().entry(steps, name).qualname, Targets().at(steps, name).qualname) == ("step", name)
    assert Targets(inputs={"pkg.steps.loss": "x: f32[2]"}).entry(steps, "masked").qualname == "loss"
    assert Targets().entry(package, "positive").qualname == "Gated.call"


def test_a_program_is_started_in_folders_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here" / "programs" / "fast"
    folder.mkdir(parents=True)
    path = folder / "step.py"
    path.write_text("def f(x):\n    return x\n")
    monkeypatch.chdir(tmp_path)
    target = Targets().at(path, "f")
    assert target.search == tuple(map(str, (folder.parent, folder.parent.parent, tmp_path)))
    assert target.roots == (str(folder), str(tmp_path))
    monkeypatch.chdir("/")
    (tmp_path / "here" / "setup.py").write_text("")  # where its project ends
    found = Targets().at(path, "f")
    assert (found.search, found.roots) == ((), (str(tmp_path / "here"),))
    installed = tmp_path / "site-packages" / "step.py"
    installed.parent.mkdir()
    installed.write_text(path.read_text())
    monkeypatch.chdir(tmp_path)
    assert Targets().at(installed, "f").search == ()


def test_the_call_of_an_object_is_called_by_the_names_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "steps.py"
    path.write_text(
        "class Switched:\n    def __call__(self, x):\n        return x\n\nclass Own(Switched):\n    pass\n\n"
        "class Model:\n    def __init__(self):\n        self.own = Own()\n\n    def head(self, x):\n"
        "        return self.own(x)\n\nswitched = Switched()\n\ndef step(x):\n    return switched(x)\n\n"
        "def other(x):\n    return unknown(x)\n"
    )
    callers = Targets().at(path, "Switched.__call__").callers
    assert [caller.qualname for caller in callers] == ["Model.head", "step"]


def test_every_finding_belongs_to_one_target(package: Path) -> None:
    findings = findings_of(package)
    pairs = Targets().of_findings([*findings, replace(findings[0], cell=1)])
    assert sum(len(here) for _, here in pairs) == len(findings) + 1
    [(nothing, [in_notebook])] = [pair for pair in pairs if isinstance(pair[0], NoTarget)]
    assert "notebook" in nothing.reason  # type: ignore[union-attr]
    assert in_notebook.cell == 1


def test_the_comments_above_are_the_inputs(package: Path) -> None:
    layer = Targets().at(package, "Gated")
    assert layer.made_of == (Given("units", "8"),)
    assert layer.given == (Given("inputs", "f32[2, 8]"),)
    method = Targets().at(package, "Gated.scaled")
    assert (method.made_of, method.given) == ((Given("units", "8"),), ())


def test_the_settings_are_asked_where_no_comment_stands(package: Path) -> None:
    inputs = {
        "pkg.code.positive": "x: f32[3]",
        "pkg.code.compiled": "factory:pkg.code:make",
        "pkg.code.Gated": "units: 2",
    }
    targets = Targets(inputs=inputs)
    assert targets.at(package, "positive").given == (Given("x", "f32[3]"),)
    assert targets.at(package, "compiled").factory == "pkg.code:make"
    assert targets.at(package, "Gated").made_of == (Given("units", "8"),)


def test_what_the_analyser_knows_of_parameters_comes_along(package: Path) -> None:
    kinds = {one.name: one.kind for one in Targets().at(package, "compiled").parameters}
    assert kinds == {"x": "tensor", "count": "static"}
    assert {one.name: one.kind for one in Targets().at(package, "Gated.scaled").parameters}["count"] == "static"


def test_all_that_may_be_compiled(package: Path) -> None:
    targets = Targets()
    found = targets.all([package])
    names = [target.qualname for target in found]
    assert {"positive", "Gated", "Gated.scaled", "compiled"} <= set(names)
    assert "unrelated" not in names
    assert [target.qualname for target in found if targets.is_keras(target, "layer")] == ["Gated"]


def test_what_writes_summaries_is_compiled_where_the_code_says_so(tmp_path: Path) -> None:
    body = "(x):\n    tf.summary.scalar('x', x[0], 1)\n    return x * 2.0\n"
    code = f"import tensorflow as tf\n\n@tf.function(jit_compile=True)\ndef step{body}\ndef show{body}"
    (tmp_path / "log.py").write_text(code)
    assert [target.qualname for target in Targets().all([tmp_path / "log.py"])] == ["step"]


def test_functions_that_give_a_model(package: Path) -> None:
    targets = Targets()
    assert [target.qualname for target in targets.models([package])] == ["network"]
    assert targets.models([package.with_name("__init__.py")]) == []
    assert {name: targets.gives_model(targets.at(package, name)) for name in ("network", "Gated", "positive")} == {
        "network": True,
        "Gated": False,
        "positive": False,
    }


def test_a_wrong_name_says_which_may_be_meant(package: Path) -> None:
    with pytest.raises(TargetError, match=r"no `positiv` in code.py; did you mean `positive`\?"):
        Targets().at(package, "positiv")
    with pytest.raises(TargetError, match="cannot be read"):
        Targets().at(package.with_name("none.py"), "positive")


def test_a_comment_that_is_no_input_is_said(package: Path) -> None:
    package.write_text("# xlalint: probe(x: float[3])\n" + CODE.partition("\n\n\n")[2])
    with pytest.raises(TargetError, match="`float` is not a dtype"):
        Targets().at(package, "positive")


def test_code_outside_of_functions_is_a_fragment_where_it_reads_what_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "pasted.py"
    file.write_text("y = tf.boolean_mask(x, x > 0)\n")
    [(target, _)] = Targets().of_findings(findings_of(file))
    assert isinstance(target, Target)
    assert (target.kind, target.qualname, target.lines[0]) == ("fragment", "", 1)


PICKING = """
import tensorflow as tf


@tf.function(jit_compile=True)
def pick(x, ids):
    def inner(y, positions):
        return tf.gather(y, positions)

    def checked(y):
        tf.debugging.assert_positive(y)
        return y

    return inner(x, tf.argsort(x) + 1) + checked(x) + tf.reduce_sum(tf.gather(x, ids))
"""


MASKED = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def kept(x, plain):
    some = tf.boolean_mask(x, x > 0.0)
    if plain:
        return x
    return tf.cumsum(some)
"""


def test_where_a_selection_is_used_is_to_be_reached_as_well(tmp_path: Path) -> None:
    (tmp_path / "masked.py").write_text(MASKED)
    [target] = of_findings(tmp_path / "masked.py").values()
    assert target.wanted == (5, 8)


def test_values_out_of_range_are_not_tried_where_the_function_around_makes_them(tmp_path: Path) -> None:
    (tmp_path / "picking.py").write_text(PICKING)
    found = {name: target.extreme for name, target in of_findings(tmp_path / "picking.py").items()}
    assert found == {"pick": True, "pick.<locals>.inner": False, "pick.<locals>.checked": True}


def test_where_a_function_takes_what_it_calls_is_to_be_reached_as_well(tmp_path: Path) -> None:
    file = tmp_path / "chosen.py"
    file.write_text(
        "import keras\nimport tensorflow as tf\n\n\ndef reshaped(a, shape):\n"
        "    if isinstance(a, tf.SparseTensor):\n        made = tf.sparse.reshape\n"
        "    else:\n        made = tf.reshape\n    return made(a, shape)\n"
    )
    [(target, [finding])] = Targets().of_findings(findings_of(file))
    assert finding.api == "tf.sparse.reshape"
    assert isinstance(target, Target)
    assert target.wanted == (7, 10)
