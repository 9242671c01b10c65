"""Several projects in one run: each file goes by the settings that are nearest, and the analysis sees them all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from xlalint.api import apply_fixes, lint_paths, load_settings
from xlalint.cli import run
from xlalint.findings.codes import codes_of, rule_names
from xlalint.findings.findings import Severity
from xlalint.settings.config import load
from xlalint.settings.layers import ConfigurationError

LAYER = """\
import tensorflow as tf

class Scale(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_max(x) > 1.0:
            x = x / 2.0
        return tf.boolean_mask(x, x > 0)
"""
FOUND = {"XLA101", "XLA201"}
Project = Callable[[dict[str, str]], Path]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    def make(files: dict[str, str]) -> Path:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return make


def codes(*paths: str, **options: object) -> dict[str, set[str]]:
    """The codes that are found, by file."""
    found: dict[str, set[str]] = {}
    for finding in lint_paths(paths or ["."], load(list(map(Path, paths)), options=options, cached=False)).findings:
        found.setdefault(finding.path, set()).add(finding.code)
    return found


@pytest.mark.parametrize("name", ["pyproject.toml", "xlalint.toml", ".xlalint.toml"])
def test_each_file_goes_by_the_nearest_settings(project: Project, name: str) -> None:
    section = "[tool.xlalint]\n" if name == "pyproject.toml" else ""
    project(
        {
            name: f'{section}ignore = ["XLA101"]',
            f"a/{name}": f'{section}ignore = ["XLA201"]',
            **{f"{folder}layers.py": LAYER for folder in ("", "a/", "a/deep/", "b/")},
        }
    )
    rest = {"a/layers.py": {"XLA101"}, "a/deep/layers.py": {"XLA101"}, "b/layers.py": {"XLA201"}}
    assert codes() == {"layers.py": {"XLA201"}, **rest}
    assert codes("a") == {path: found for path, found in rest.items() if path.startswith("a/")}
    assert codes("a/deep/layers.py") == {"a/deep/layers.py": {"XLA101"}}
    assert codes(select=["XLA2"]) == {"layers.py": {"XLA201"}, "a/layers.py": {"XLA201"}} | {
        path: {"XLA201"} for path in ("a/deep/layers.py", "b/layers.py")
    }


def test_in_one_folder_the_hidden_file_comes_first(project: Project) -> None:
    files = {".xlalint.toml": "jobs = 1", "xlalint.toml": "jobs = 2", "pyproject.toml": "[tool.xlalint]\njobs = 3"}
    here = project(files)
    for jobs, name in enumerate(files, 1):
        assert load().jobs == jobs
        (here / name).unlink()


def test_a_pyproject_without_a_table_is_no_settings_file(project: Project) -> None:
    project({"xlalint.toml": 'ignore = ["XLA101"]', "a/pyproject.toml": "# xlalint checks this\n", "a/b.py": LAYER})
    assert codes() == {"a/b.py": {"XLA201"}}


def test_no_settings_are_looked_for_where_one_file_is_for_all(project: Project) -> None:
    project({"a/xlalint.toml": 'ignore = ["ALL"]', "one.toml": 'ignore = ["XLA201"]', "a/layers.py": LAYER})
    assert codes() == {}
    for settings in (load(isolated=True, cached=False), load(config=["one.toml"], cached=False)):
        assert {one.code for one in lint_paths(["a"], settings).findings} == FOUND & settings.codes


def test_patterns_count_from_the_file_that_they_stand_in(project: Project) -> None:
    project(
        {
            "xlalint.toml": 'extend-exclude = ["/gen"]',
            "gen/layers.py": LAYER,
            "a/xlalint.toml": 'extend-exclude = ["/skipped"]\nper-file-ignores = { "/old.py" = ["XLA2"] }',
            "a/gen/layers.py": LAYER,
            "a/skipped/layers.py": LAYER,
            "a/old.py": LAYER,
            "old.py": LAYER,
        }
    )
    assert codes() == {"a/gen/layers.py": FOUND, "a/old.py": {"XLA101"}, "old.py": FOUND}
    assert codes(**{"extend-exclude": ["old.py"]}) == {"a/gen/layers.py": FOUND}


def test_severity_target_keras_and_what_fails_are_the_projects_own(project: Project) -> None:
    here = project(
        {
            "new/xlalint.toml": 'severity = { XLA201 = "info" }\nfail-on = "error"',
            "old/xlalint.toml": "keras = 2\nfail-on = 'info'",
            "tpu/xlalint.toml": 'target = "tpu"',
            **{f"{folder}/layers.py": LAYER for folder in ("new", "old", "tpu")},
        }
    )
    settings = load(cached=False)
    report = lint_paths(["."], settings)
    grave = {(finding.path.partition("/")[0], finding.code): finding.severity for finding in report.findings}
    assert grave["new", "XLA201"] is Severity.INFO < grave["tpu", "XLA201"]
    assert grave["old", "XLA101"] < grave["new", "XLA101"], "Keras 2 converts it"
    assert {one.context.shown for one in report.findings if one.context and one.path.startswith("tpu")} == {
        "the setting `target = 'tpu'`"
    }
    assert {finding.path for finding in report.findings if settings.fails_on(finding)} >= {"old/layers.py"}
    assert settings.of(here / "old").keras == 2


def test_rules_hear_the_tensorflow_of_each_project(project: Project) -> None:
    call = "tf.nn.ctc_loss(x, x, None, None)"  # compiles since 2.18
    text = f"import tensorflow as tf\n\n@tf.function(jit_compile=True)\ndef f(x):\n    return {call}\n"
    project({f"{name}/f.py": text for name in ("a", "b")} | {"a/xlalint.toml": 'tensorflow = "2.13"'})
    assert codes() == {"a/f.py": {"XLA401"}}


def test_eager_code_is_reported_on_where_its_settings_ask_for_it(project: Project) -> None:
    text = "import tensorflow as tf\n\ndef f(x):\n    print(x.numpy())\n\nf(tf.constant([1.0]))\n"
    project({"a/xlalint.toml": "include-host = true", "a/run.py": text, "b/run.py": text})
    assert codes() == {"a/run.py": {"XLA106"}}
    assert codes(**{"include-host": True}) == {"a/run.py": {"XLA106"}, "b/run.py": {"XLA106"}}


def test_analysis_goes_through_all_projects(project: Project) -> None:
    """A helper of one project that another one compiles is judged by its own settings, with the whole way there."""
    project(
        {
            "app/xlalint.toml": 'ignore = ["XLA201"]',
            "app/train.py": "import tensorflow as tf\nfrom lib.ops import keep\n\n"
            "@tf.function(jit_compile=True)\ndef step(x):\n    return keep(x)\n",
            "lib/xlalint.toml": 'severity = { XLA201 = "error" }',
            "lib/__init__.py": "",
            "lib/ops.py": "import tensorflow as tf\n\ndef keep(x):\n    return tf.boolean_mask(x, x > 0)\n",
        }
    )
    [finding] = lint_paths(["."], load(cached=False)).findings
    assert (finding.path, finding.code, finding.severity) == ("lib/ops.py", "XLA201", Severity.ERROR)
    assert finding.context is not None
    assert [step.path for step in finding.context.trail] == ["app/train.py", "app/train.py"]


def test_what_is_cached_is_not_said_when_nearer_settings_have_changed(project: Project) -> None:
    here = project({"a/xlalint.toml": 'ignore = ["XLA101"]', "a/layers.py": LAYER})

    def found() -> set[str]:
        return {finding.code for finding in lint_paths(["."], load()).findings}

    assert found() == found() == {"XLA201"}
    (here / "a" / "xlalint.toml").write_text('ignore = ["XLA201"]')
    assert found() == found() == {"XLA101"}
    (here / "a" / "xlalint.toml").unlink()
    assert found() == found() == FOUND


def test_a_file_may_extend_another(project: Project) -> None:
    here = project(
        {
            "base.toml": '[tool.xlalint]\nignore = ["XLA101"]\nkeras = 2\nextend-exclude = ["/a/gen"]',
            "a/xlalint.toml": 'extend = "../base.toml"\nkeras = 3\nignore = ["XLA102"]',
        }
    )
    settings = load().of(here / "a")
    assert settings.codes == frozenset(rule_names()) - {"XLA101", "XLA102"}
    assert settings.keras == 3
    assert settings.exclude.covers(here / "a" / "gen", folder=True)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a/xlalint.toml": 'extend = "../absent.toml"'}, "a/xlalint.toml: extend: '../absent.toml': there is no such"),
        ({"a/xlalint.toml": 'extend = "xlalint.toml"'}, "extend: 'xlalint.toml': it is extended already"),
        ({"a/xlalint.toml": 'extend = "../b/x.toml"', "b/x.toml": ""}, "'../b/x.toml' is outside the project"),
        ({"a/xlalint.toml": 'selct = ["XLA1"]'}, "a/xlalint.toml: unknown setting 'selct'; did you mean 'select'?"),
        ({"a/xlalint.toml": "fix = true"}, "a/xlalint.toml: fix: only the command line"),
        ({"a/pyproject.toml": "[tool.xlalint]\nfile-timeout = 1e9"}, "a/pyproject.toml: file-timeout: at most 60"),
        ({"a/xlalint.toml": "[[["}, "a/xlalint.toml: "),
    ],
)
def test_settings_that_cannot_be_used_end_the_run(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str], message: str
) -> None:
    project({"a/layers.py": LAYER, **files})
    with pytest.raises(ConfigurationError) as raised:
        lint_paths(["."])
    assert message in str(raised.value)
    assert run(["."]) == 2
    assert message in capsys.readouterr().err


def test_settings_in_one_repository_may_extend_each_other(project: Project) -> None:
    here = project({"a/xlalint.toml": 'extend = "../b/x.toml"', "b/x.toml": "keras = 2"})
    (here / ".git").mkdir()
    assert load().of(here / "a").keras == 2


@pytest.mark.parametrize(
    ("file", "options", "selected"),
    [
        ('ignore = ["XLA101"]', {"ignore": ["XLA102"]}, {"XLA103"}),
        ('ignore = ["XLA101"]', {"extend-select": ["XLA101"]}, {"XLA101", "XLA102", "XLA103"}),
        ('ignore = ["XLA101"]', {"select": ["XLA10"]}, {"XLA101", "XLA102", "XLA103"}),
        ('select = ["XLA2"]', {"extend-select": ["XLA101"]}, {"XLA101"}),
        ('select = ["XLA101"]\nignore = ["XLA1"]', {}, {"XLA101"}),
        ('select = ["XLA1"]\nignore = ["XLA101"]', {}, {"XLA102", "XLA103"}),
    ],
)
def test_selectors_add_up_as_ruff_has_them(
    project: Project, file: str, options: dict[str, list[str]], selected: set[str]
) -> None:
    """As ruff 0.9 was seen to: what is ignored adds up, `select` begins anew, and the narrower selector decides."""
    project({"xlalint.toml": file})
    assert load(options=options).codes & codes_of(["XLA101", "XLA102", "XLA103"]) == selected


def test_settings_shown_are_those_of_the_first_path(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project({"a/xlalint.toml": "keras = 2", "a/layers.py": LAYER})
    assert run(["--show-settings", "a/layers.py"]) == 0
    assert "keras            = 2  # a/xlalint.toml" in " ".join(capsys.readouterr().out.split("\n"))


def test_unfixable_rules_keep_their_findings_and_lose_their_fixes(project: Project) -> None:
    here = project({"a/xlalint.toml": 'unfixable = ["XLA101"]', "a/layers.py": LAYER, "b/layers.py": LAYER})
    outcome = apply_fixes(["."], load_settings(), write=False)
    assert [change.path for change in outcome.changes] == [here / "b" / "layers.py"]
    assert {one.code: one.fix for one in outcome.report.findings if one.path == "a/layers.py"}["XLA101"] is None
    for option in ("--unfixable=branch-on-tensor", "--fixable=XLA2"):
        assert run(["b", option, "--fix", "--quiet", "--exit-zero"]) == 0
        assert (here / "b" / "layers.py").read_text() == LAYER
