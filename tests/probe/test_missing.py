"""Code is imported without packages that are not installed, as long as nothing of them is used."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.target import Target
from xlalint.probe.worker.code.importing import _is_own, load
from xlalint.probe.worker.code.missing import Missing, MissingError, imported_without

CODE = """
import os
from typing import Optional
import absent.inner as inner
from absent.inner.more import Base, decorated
from textwrap import absent_name

try:
    import absent_too
except ImportError:
    absent_too = None

RATE = inner.RATE
NORMAL = inner.Normal(0.0)
SYMBOLS = ["_"] + ["@" + one for one in inner.SYMBOLS]
FOLDER = os.path.join(inner.FOLDER, "images")


class Derived(Base):
    pass


class Mixed(Base, inner.Other):
    pass


@decorated(name="f")
@inner.plainly
def wrapped():
    return 1


rewrapped = decorated(wrapped)


def annotated(x: Optional[Base], y: "int | None" = None) -> inner.Tensor:
    return x
"""


def _imported(path: Path, text: str, near: Sequence[Path] = ()) -> tuple[ModuleType, tuple[str, ...]]:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loader = spec.loader

    def run() -> ModuleType:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    return imported_without(run, near)


@pytest.mark.parametrize("raised", ["ImportError('no bindings')", "AttributeError('np.sctypes')"])
def test_an_installed_package_that_cannot_be_imported_is_as_good_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: str
) -> None:
    package = tmp_path / "site-packages" / "broken_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from . import inner\n")
    (package / "inner.py").write_text(f"raise {raised}\n")
    monkeypatch.syspath_prepend(package.parent)
    using = "from broken_package.inner import shown\nimport broken_package\n"
    for near in ([], [tmp_path]):  # an environment may lie in the project
        _, without = _imported(tmp_path / "uses.py", using, near)
        assert without == ("broken_package", "broken_package.inner")
    with pytest.raises(type(eval(raised))):  # a file's own error is told
        _imported(tmp_path / "own.py", f"raise {raised}\n")
    path = package / "outer.py"
    path.write_text("import broken_package.inner\n")
    with pytest.raises(type(eval(raised))):  # as is that of a package that is the project
        imported_without(lambda: importlib.import_module("broken_package.outer"), [package])


def test_what_is_not_used_need_not_be_installed(tmp_path: Path) -> None:
    module, without = _imported(tmp_path / "lacks.py", CODE)
    assert without == ("absent", "absent.inner", "absent.inner.more", "textwrap.absent_name")
    assert module.annotated(3) == 3
    assert module.wrapped() == 1  # without its decorators
    assert module.absent_too is None  # what a program does without it is what it does
    assert "absent" not in sys.modules
    assert not hasattr(importlib.import_module("textwrap"), "absent_name")


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("rewrapped()", "`absent.inner.more.decorated` is not installed"),
        ("Derived()", "a base of `Derived` is not installed"),
        ("NORMAL.sample()", "`absent.inner.Normal.sample` is not installed"),
        ("RATE * 2", "`absent.inner.RATE` is not installed"),
        ("RATE > 2", "`absent.inner.RATE` is not installed"),
        ("bool(RATE)", "`absent.inner.RATE` is not installed"),
        ("isinstance(1, Base)", "`absent.inner.more.Base` is not installed"),
        ("list(RATE)", "`absent.inner.RATE` is not installed"),
        ("SYMBOLS[1] + 'a'", "`absent.inner.SYMBOLS` is not installed"),
        ("RATE == 2", "`absent.inner.RATE` is not installed"),
        ("absent_name()", "`textwrap.absent_name` is not installed"),
    ],
)
def test_any_use_says_what_is_missing(tmp_path: Path, use: str, said: str) -> None:
    module, _ = _imported(tmp_path / "lacks.py", CODE)
    with pytest.raises(MissingError, match=said):
        eval(use, vars(module))


def test_a_package_may_lack_with_all_of_its_modules(tmp_path: Path) -> None:
    lines = [f"import absent.part{number}" for number in range(30)]
    assert len(_imported(tmp_path / "lacks.py", "\n".join(lines))[1]) == 31
    assert _imported(tmp_path / "inner.py", "import tensorflow.python.absent_part as p\nf = p.f")[1]
    lines = [f"import absent_{number}" for number in range(30)]
    with pytest.raises(ModuleNotFoundError):
        _imported(tmp_path / "lacks_all.py", "\n".join(lines))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import absent\nif absent.FLAG: pass", MissingError),
        ("from tensorflow.python.keras.absent_part import f", ModuleNotFoundError),
        ("import keras.engine.of_keras_2", ModuleNotFoundError),
        ("import tensorflow.contrib", ModuleNotFoundError),
        ("from math import nothing\nraise ValueError", ValueError),
        ("raise ImportError('for another reason')", ImportError),
    ],
)
def test_what_cannot_be_left_out_is_raised(tmp_path: Path, text: str, error: type[Exception]) -> None:
    with pytest.raises(error) as raised:
        _imported(tmp_path / "fails.py", text)
    assert type(raised.value) is error
    assert not hasattr(importlib.import_module("math"), "nothing")


def test_a_package_comes_before_its_modules_again_after_an_import_that_failed(tmp_path: Path) -> None:
    files = {
        "circled/__init__.py": "RATE = 2.0\nfrom . import parts\nimport absent\nfrom .last import doubled",
        "circled/parts/__init__.py": "",
        "circled/parts/inner.py": "from circled import RATE\n\n\ndef f(x):\n    return x * RATE",
        "circled/last.py": "from circled.parts.inner import f\n\n\ndef doubled(x):\n    return f(f(x))",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    loaded = load(tmp_path / "circled/parts/inner.py")
    try:
        assert (loaded.module.f(1.5), loaded.without) == (3.0, ("absent",))
    finally:
        loaded.close()
        for name in [name for name in sys.modules if name.partition(".")[0] == "circled"]:
            del sys.modules[name]


def test_what_stands_for_it_is_no_array() -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(MissingError):
        numpy.asarray(Missing("absent.table"), float)


PACKAGE = """
import absent
import tensorflow as tf


def plain(x):
    return tf.square(x)


def typed(x: absent.Tensor):
    return tf.square(x)


def using(x):
    return absent.transformed(x)
"""


@pytest.mark.compiler
def test_functions_that_do_not_use_it_are_driven(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking" / "__init__.py").write_text("")
    file = tmp_path / "lacking" / "module.py"
    file.write_text(PACKAGE)
    targets = [Target(str(file), name, roots=(str(file.parent),)) for name in ("plain", "typed", "using")]
    outcomes = [worker.ask(target, Plan(value_sets=2), Limits()) for target in targets]
    assert [outcomes[0].not_run, outcomes[1].not_run] == [None, None]
    assert outcomes[0].notes == ("imported without `absent`: not installed, and nothing of it runs here",)
    assert outcomes[2].not_run is not None
    assert "`absent.transformed` is not installed, and this uses it" in outcomes[2].not_run


@pytest.mark.compiler
def test_files_that_are_read_by_a_path_from_the_program_are_copied(worker: Worker, tmp_path: Path) -> None:
    for folder in ("steps", "shared"):
        (tmp_path / folder).mkdir()
    (tmp_path / "README.md").write_text("")
    (tmp_path / "shared" / "rates.json").write_text("[2.0]")
    (tmp_path / "steps" / "names.txt").write_text("f")
    file = tmp_path / "steps" / "step.py"
    reads = "import json, os\nRATE = json.load(open('../shared/rates.json'))[0]\n"
    reads += "open(os.path.abspath('names.txt')).close()\n"
    file.write_text(reads + "open('names.txt', 'w').close()\n\n\ndef f(x):\n    return x * RATE\n")
    other = tmp_path / "steps" / "other.py"
    other.write_text("open('../absent.txt').close()\n\n\ndef f(x):\n    return x\n")
    targets = [Target(str(one), "f", roots=(str(tmp_path),)) for one in (file, other)]
    outcomes = [worker.ask(target, Plan(value_sets=2), Limits()) for target in targets]
    assert outcomes[0].not_run is None
    assert (tmp_path / "steps" / "names.txt").read_text() == "f"  # the program has its own copy
    assert "FileNotFoundError" in (outcomes[1].not_run or "")


@pytest.mark.compiler
def test_modules_of_the_project_lie_where_its_programs_are_started(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    for folder in ("program/models", "shared/parts", "shared/plain", "steps"):
        (tmp_path / folder).mkdir(parents=True)
    for package in ("program", "program/models", "shared/parts"):
        (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / "program" / "helpers_of_it.py").write_text("def twice(x):\n    return x + x\n")
    (tmp_path / "shared" / "parts" / "more.py").write_text("from helpers_of_it import twice\n")
    (tmp_path / "shared" / "plain" / "rates.py").write_text("RATE = 2.0\n")  # a folder is a package, too
    member, alone = tmp_path / "program" / "models" / "net.py", tmp_path / "steps" / "step.py"
    member.write_text("from helpers_of_it import twice\n\n\ndef f(x):\n    return twice(x)\n")
    alone.write_text(
        "from parts import more\nfrom plain import rates\n\n\ndef g(x):\n    return more.twice(x) * rates.RATE\n"
    )
    inner = tmp_path / "shared" / "inner.py"  # of a package that does not say so
    inner.write_text("from .plain.rates import RATE\n\n\ndef h(x):\n    return x * RATE\n")
    pairs = ((member, "f"), (alone, "g"), (inner, "h"))
    targets = [Target(str(file), name, roots=(str(tmp_path),)) for file, name in pairs]
    outcomes = [worker.ask(target, Plan(value_sets=2), Limits()) for target in targets]
    assert [outcomes[0].not_run, outcomes[0].notes] == [None, ()]
    assert [outcomes[1].not_run, outcomes[1].notes] == [None, ()]
    assert outcomes[2].not_run is None


@pytest.mark.compiler
def test_packages_lie_in_the_folder_that_a_program_is_started_in(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "programs" / "fast").mkdir(parents=True)
    (tmp_path / "started_pkg" / "layers").mkdir(parents=True)  # files in folders of its own only
    file, layer = tmp_path / "programs" / "fast" / "step.py", tmp_path / "started_pkg" / "layers" / "scaled.py"
    file.write_text("from started_pkg.layers.scaled import scaled\n\n\ndef f(x):\n    return scaled(x)\n")
    layer.write_text("import tensorflow as tf\n\n\ndef scaled(x):\n    return x * tf.linalg.slogdet(x)[1]\n")
    target = Target(str(file), "f", roots=(str(file.parent),))
    assert "started_pkg" in (worker.ask(target, Plan(value_sets=2), Limits()).not_run or "")
    found = worker.ask(
        replace(target, search=(str(tmp_path),), roots=(str(file.parent), str(tmp_path))),
        Plan(value_sets=2, gradients=False),
        Limits(),
    )
    assert found.not_run is None
    assert [spot.path for one in found.observations for spot in one.spots[:1]] == [str(layer)]


@pytest.mark.compiler
@pytest.mark.parametrize("marked", ["whole_app/api/nets", "whole_app/api/nets/parts"])
def test_a_file_names_the_folders_that_it_is_in_itself(worker: Worker, tmp_path: Path, marked: str) -> None:
    (tmp_path / "whole_app" / "api" / "nets" / "parts").mkdir(parents=True)
    (tmp_path / "whole_app" / "__init__.py").write_text("")
    (tmp_path / marked / ("__init__.py" if marked.endswith("parts") else "README.md")).write_text("")
    (tmp_path / "whole_app" / "api" / "rates.py").write_text("RATE = 2.0\n")
    file = tmp_path / marked / "net.py"
    file.write_text("from whole_app.api.rates import RATE\n\n\ndef f(x):\n    return x * RATE\n")
    found = worker.ask(Target(str(file), "f", roots=(str(file.parent),)), Plan(value_sets=2), Limits())
    assert [found.not_run, found.notes] == [None, ()]


def test_a_file_by_itself_is_forgotten_and_what_is_installed_beside_it_is_not() -> None:
    assert _is_own("/work/program/steps.py", "/work/")
    assert not _is_own("/work/.venv/lib/python3/site-packages/numpy/__init__.py", "/work/")
    assert _is_own("/venv/site-packages/program/steps.py", "/venv/site-packages/program/")
    assert not _is_own("/other/steps.py", "/work/")


def test_what_an_import_registered_before_it_failed_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "registered_parts"
    package.mkdir()
    (package / "__init__.py").write_text("from .part import first\n")
    (package / "register.py").write_text("NAMES = []\n")
    add = "if 'first' in NAMES: raise NameError('first is there already')\nNAMES.append('first')\n"
    (package / "part.py").write_text(
        f"from .register import NAMES\n{add}import absent_beside\nimport absent_too\nfirst = 1\n"
    )
    (package / "wrong.py").write_text("import absent_beside\nraise NameError('of its own')\n")
    monkeypatch.syspath_prepend(tmp_path)
    module, without = imported_without(lambda: importlib.import_module("registered_parts"), [package])
    assert module.first == 1
    assert without == ("absent_beside", "absent_too")
    with pytest.raises(NameError, match="of its own"):
        imported_without(lambda: importlib.import_module("registered_parts.wrong"), [package])
    for name in [one for one in sys.modules if one.startswith("registered_parts")]:
        monkeypatch.delitem(sys.modules, name)
