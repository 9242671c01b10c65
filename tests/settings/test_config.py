"""Settings: every key checked, each from the right place, and Keras from the project's requirements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from xlalint.findings.codes import SelectorError, codes_of, matching, rule_names
from xlalint.findings.findings import Backend, Effect, Severity
from xlalint.linter.run import check
from xlalint.settings.config import ProbeSettings, Settings, load
from xlalint.settings.layers import KEYS, ConfigurationError
from xlalint.settings.requirements import keras_of, keras_of_project, required_near, tensorflow_of
from xlalint.settings.tables import schema
from xlalint.sources.discovery import PathPatterns

LAYER = """\
import tensorflow as tf

class Scale(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_max(x) > 1.0:
            x = x / 2.0
        return x
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, body: str, file: str = "pyproject.toml") -> None:
    (project / file).write_text(f"[tool.xlalint]\n{body}\n")


def shown(settings: Settings, key: str) -> tuple[Any, str]:
    return next((value, origin) for name, value, origin in settings.shown if name == key)


def test_every_key_is_read(project: Path) -> None:
    write(
        project,
        """
        select = ["XLA1", "boolean-mask"]
        extend-select = ["XLA901"]
        ignore = ["XLA102"]
        exclude = ["gen"]
        extend-exclude = ["*_pb2.py"]
        per-file-ignores = { "tests/" = ["ALL"] }
        output-format = "concise"
        fail-on = "error"
        severity = { XLA101 = "info" }
        include-host = true
        keras = 2
        tensorflow = "2.15"
        backend = ["jax"]
        target = "tpu"
        exposure = "certain"
        external = ["acme"]
        unrolled-rounds = 64
        file-timeout = 2.5
        jobs = 2
        cache-dir = "cache"
        project = "."
        baseline = "known.json"
        force-exclude = true
        fix = false
        unsafe-fixes = true
        partial-fixes = true
        fixable = ["XLA1", "XLA2"]
        unfixable = ["XLA101"]
        bounds = { "f.n" = 64 }

        [tool.xlalint.probe]
        python = "/opt/python"
        timeout = 5
        total-timeout = 60.5
        memory = 1000
        processes = 2
        inputs = { "pkg.mod.f" = "x: f32[8, 128]" }
        """,
    )
    settings = load()
    assert settings.codes == codes_of(["XLA1", "boolean-mask", "XLA901"]) - {"XLA102"}
    assert settings.exclude == PathPatterns(("gen", "*_pb2.py"), project)
    [(patterns, codes)] = settings.per_file_ignores
    assert patterns.covers_any_part(project / "tests" / "a.py")
    assert codes == frozenset(rule_names())
    assert (settings.output_format, settings.fail_on) == ("concise", Severity.ERROR)
    assert settings.severities == {"XLA101": Severity.INFO}
    assert (settings.include_host, settings.keras, settings.tensorflow) == (True, 2, "2.15")
    assert (settings.target, settings.exposure) == ("tpu", "certain")
    assert (settings.unrolled_rounds, settings.file_timeout) == (64, 2.5)
    assert settings.external == ("ACME",)
    assert (settings.jobs, settings.cache_dir, settings.force_exclude) == (2, project / "cache", True)
    assert (settings.project, settings.baseline) == (project, project / "known.json")
    assert (settings.fix, settings.unsafe_fixes, settings.bounds) == (False, True, {"f.n": 64})
    assert settings.unfixable == frozenset(rule_names()) - (codes_of(["XLA1", "XLA2"]) - {"XLA101"})
    assert settings.probe == ProbeSettings("/opt/python", 5, 60.5, 1000, 2, inputs={"pkg.mod.f": "x: f32[8, 128]"})
    assert shown(settings, "probe")[0]["total-timeout"] == 60.5
    assert {origin for _, _, origin in settings.shown} == {"pyproject.toml"}
    assert {key for key, _, _ in settings.shown} == set(KEYS)


def test_the_limits_of_the_probe_depend_on_the_target() -> None:
    for target, limits in (("cpu", (60.0, 1800.0, 4096)), ("tpu", (1800.0, 14400.0, 12288))):
        settings = load(config=[f'probe.target = "{target}"'])
        assert settings.probe.limits == limits
        table = shown(settings, "probe")[0]
        assert (table["timeout"], table["total-timeout"], table["memory"]) == limits
    assert ProbeSettings(timeout=5.0, target="tpu").limits == (5.0, 14400.0, 12288)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('selct = ["XLA1"]', "pyproject.toml: unknown setting 'selct'; did you mean 'select'?"),
        ("nonsense-of-mine = 1", "pyproject.toml: unknown setting 'nonsense-of-mine'"),
        ("include_host = true", "pyproject.toml: unknown setting 'include_host'; did you mean 'include-host'?"),
        ('select = "XLA1"', "pyproject.toml: select: expected a list, got a string"),
        ("select = [1]", "pyproject.toml: select[0]: expected a string, got an integer"),
        ('select = ["XLA777"]', "pyproject.toml: select: no rule is called 'XLA777'"),
        ('ignore = ["brunch-on-tensor"]', "did you mean 'branch-on-tensor'?"),
        ("fix = true", "pyproject.toml: fix: only the command line and --config can ask for fixes"),
        ("keras = 4", "pyproject.toml: keras: expected one of 2, 3"),
        ('tensorflow = "latest"', "pyproject.toml: tensorflow: "),
        ('external = [""]', "pyproject.toml: external[0]: "),
        ("unrolled-rounds = 1", "pyproject.toml: unrolled-rounds: "),
        ('output-format = "xml"', "pyproject.toml: output-format: expected one of full, concise, json"),
        ('severity = { XLA101 = "fatal" }', "expected one of error, warning, info"),
        ('per-file-ignores = { "a.py" = "XLA1" }', "per-file-ignores[...]: expected a list, got a string"),
        ('per-file-ignores = { "a.py" = ["XL1"] }', "pyproject.toml: per-file-ignores: no rule is called 'XL1'"),
        ('exclude = ["!"]', "pyproject.toml: exclude: '!' is not a .gitignore pattern"),
        ("jobs = -1", "pyproject.toml: jobs: expected an integer >= 0"),
        ("jobs = 100000", "pyproject.toml: jobs: expected an integer <= 256"),
        ("jobs = 9", "pyproject.toml: jobs: at most 8; only the command line and --config may exceed this"),
        ("file-timeout = inf", "pyproject.toml: file-timeout: at most 60; only the command line and --config may exc"),
        ("file-timeout = nan", "pyproject.toml: file-timeout: expected a float > 0"),
        ("probe.timeout = 1e9", "pyproject.toml: probe.timeout: at most 1800; "),
        ("probe.total-timeout = inf", "pyproject.toml: probe.total-timeout: at most 14400; "),
        ("probe.memory = 99999999", "pyproject.toml: probe.memory: at most 12288; "),
        ("probe.processes = 9", "pyproject.toml: probe.processes: at most 8; "),
        ('probe.environment = ["TOKEN"]', "pyproject.toml: probe.environment: only --config can let code see the"),
        (
            'probe.cluster = "tcp://somewhere:1"',
            "pyproject.toml: probe.cluster: only the command line and --config can send",
        ),
        ('cache-dir = "/somewhere/else"', "pyproject.toml: cache-dir: '/somewhere/else' is outside the project"),
        ('cache-dir = "../else"', "outside the project"),
        ('cache-dir = ".git/hooks"', "pyproject.toml: cache-dir: '.git/hooks' holds something else than a cache"),
        ('cache-dir = "."', "pyproject.toml: cache-dir: '.' holds something else than a cache; name a new or an empty"),
        ('project = ".."', "project: '..' is outside the project"),
        ('project = "gone"', "pyproject.toml: project: 'gone' is no folder"),
        ("jobs = ", "pyproject.toml: Invalid value"),
        ("probe.timeout = 0", "pyproject.toml: probe.timeout: expected a float > 0"),
        ("probe.time = 1", "pyproject.toml: probe: object contains unknown field time"),
        ('probe.inputs = { f = ["f32[8]"] }', "pyproject.toml: probe.inputs[...]: expected a string, got a list"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(project: Path, body: str, message: str) -> None:
    write(project, body)
    with pytest.raises(ConfigurationError) as caught:
        load()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_link_does_not_lead_the_cache_outside(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (project / "cache").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    write(project, 'cache-dir = "cache"')
    with pytest.raises(ConfigurationError, match="outside the project"):
        load()


def test_the_nearest_file_that_speaks_of_xlalint_counts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "jobs = 3")
    inner = project / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    monkeypatch.chdir(inner)
    settings = load()
    assert settings.jobs == 3
    assert settings.exclude.root == project
    write(inner, "jobs = 4")
    assert load().jobs == 4
    assert load(isolated=True).jobs == 0


def test_later_places_win(project: Path) -> None:
    write(project, 'jobs = 1\nfail-on = "error"\nignore = ["XLA101"]')
    settings = load(options={"ignore": ["XLA102"]}, config=["jobs = 2", "jobs=5"])
    assert settings.jobs == 5
    assert not {"XLA101", "XLA102"} & settings.codes  # what is ignored adds up
    assert shown(settings, "jobs") == (5, "--config")
    assert shown(settings, "fail-on") == ("error", "pyproject.toml")
    assert shown(settings, "ignore") == (["XLA101", "XLA102"], "command line")
    assert shown(settings, "select") == (["ALL"], "default")


def test_config_may_name_a_file(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("settings") / "shared.toml"
    write(elsewhere.parent, "jobs = 7", "shared.toml")
    write(project, "jobs = 1")
    assert load(config=[str(elsewhere)]).jobs == 7


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("absent.toml", "absent.toml: no such file"),
        ("empty.toml", "there is no [tool.xlalint] in it"),
        ("jobs=", "nothing is not a TOML value"),
        ("output-format=json", "json is not a TOML value (strings need quotes)"),
        ("a.b=1", "expected KEY=VALUE"),
        ("job=1", "unknown setting 'job'; did you mean 'jobs'?"),
    ],
)
def test_config_arguments_that_cannot_be_used(project: Path, given: str, message: str) -> None:
    (project / "empty.toml").write_text("[tool.another]\n")
    with pytest.raises(ConfigurationError) as caught:
        load(config=[given])
    assert message in str(caught.value)


def test_the_table_of_the_probe_is_merged_key_by_key(project: Path) -> None:
    write(project, "probe.timeout = 5\nprobe.memory = 100")
    settings = load(config=["probe.memory = 200"], options={"probe": {"python": "other"}})
    assert settings.probe == ProbeSettings(python="other", timeout=5, memory=200)


def test_the_published_schema_agrees_with_the_reader(project: Path) -> None:
    published = json.loads(json.dumps(schema()))
    jsonschema.Draft202012Validator.check_schema(published)
    assert set(published["properties"]) == {*KEYS, "extend"}
    validator = jsonschema.Draft202012Validator(published)
    samples: list[dict[str, Any]] = [
        {},
        {"select": ["XLA1"], "keras": 3, "per-file-ignores": {"a": ["ALL"]}, "severity": {"XLA1": "info"}},
        {"jobs": 0},
        {"jobs": -1},
        {"keras": 4},
        {"select": "XLA1"},
        {"unknown": 1},
        {"severity": {"XLA1": "fatal"}},
        {"tensorflow": "2.x"},
        {"cache-dir": ""},
        {"fail-on": "never"},
    ]
    for sample in samples:
        try:
            load(options=sample)
        except ConfigurationError:
            assert not validator.is_valid(sample), sample
        else:
            assert validator.is_valid(sample), sample


def test_selectors() -> None:
    assert matching("all") == frozenset(rule_names())
    assert matching("xla101") == {"XLA101"}
    assert matching("XLA10") > {"XLA101", "XLA102"}
    assert matching("Branch-On-Tensor") == {"XLA101"}
    assert not matching("")
    with pytest.raises(SelectorError):
        codes_of([""])


# -- Keras from requirements ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "keras"),
    [
        ("tensorflow<2.16", 2),
        ("tensorflow >= 2.6, < 2.16.0 ; python_version < '3.12'", 2),
        ("tensorflow (>=2.4,<2.11)", 2),
        ("tensorflow==2.15.*", 2),
        ("tensorflow~=2.15.0", 2),
        ("tensorflow_cpu<=2.15.1", 2),
        ("tf_keras", 2),
        ("tf-keras>=2.16", 2),
        ("tensorflow-gpu>=2.4", 2),
        ("keras<3", 2),
        ("keras==2.6.*", 2),
        ("tensorflow>=2.16", 3),
        ("tensorflow[and-cuda]==2.17.0", 3),
        ("keras>=3.0", 3),
        ("tensorflow", None),
        ("tensorflow>=2.4", None),
        ("tensorflow~=2.15", None),
        ("tensorflow==2.*", None),
        ("tensorflow<3", None),
        ("tensorflow!=2.15", None),
        ("tensorflow-hub<2", None),
        ("tensorflow==2.15.0 --hash=sha256:0a1b  # as the others have it", 2),
        ("tensorflow==2.15.0 \\", 2),
        ("tensorflow===2.15.0", 2),
        ("tensorflow==2.16.0rc1", 3),
        ("tensorflow @ https://example.org/tensorflow-2.15.0.whl", None),
        ("tensorflow < 2.16 is what we have", None),
        ("# tensorflow<2.16", None),
        ("", None),
    ],
)
def test_keras_of_a_requirement(requirement: str, keras: int | None) -> None:
    assert keras_of([requirement]) == keras


@pytest.mark.parametrize(
    ("requirement", "tensorflow"),
    [
        ("tensorflow<2.16", "2.15"),
        ("tensorflow>=2.6, <2.16.0", "2.15"),
        ("tensorflow<2.15.1", "2.15"),
        ("tensorflow<=2.15.1", "2.15"),
        ("tensorflow==2.13.*", "2.13"),
        ("tensorflow-cpu~=2.15.0", "2.15"),
        ("tensorflow<2.16,<=2.13", "2.13"),
        ("tensorflow>=2.16", None),
        ("tensorflow~=2.15", None),
        ("tensorflow<3", None),
        ("tensorflow!=2.15", None),
        ("keras<3", "2.15"),
        ("keras==2.4.3", "2.15"),
        ("keras>=3", None),
        ("tensorflow-gpu>=2.4", "2.11"),
        ("tensorflow-gpu==2.4.1", "2.4"),
        ("tf_keras==2.16.*", "2.16"),
        ("tf_keras", None),
    ],
)
def test_newest_tensorflow_that_a_requirement_allows(requirement: str, tensorflow: str | None) -> None:
    assert tensorflow_of([requirement]) == tensorflow


@pytest.mark.parametrize(
    ("file", "text", "keras"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow<2.16"]', 2),
        ("pyproject.toml", '[project.optional-dependencies]\ntf = ["keras>=3"]', 3),
        ("pyproject.toml", "not toml", None),
        ("setup.cfg", "[options]\ninstall_requires =\n  numpy\n  tensorflow<2.12\n", 2),
        ("setup.cfg", "[options.extras_require]\ntf = tf_keras\n", 2),
        ("setup.cfg", "no section", None),
        ("setup.py", "raise SystemExit\nsetup(install_requires=['tensorflow~=2.9.0'])", 2),
        ("setup.py", "def (", None),
        ("requirements-dev.txt", "# tools\npytest\ntensorflow>=2.18\n", 3),
        ("pypi_requirements.txt", "tensorflow>=2.6.3,<2.9; platform_machine != 'arm64'\n", 2),
        ("requirements/base.txt", "keras==3.4.1\n", 3),
        ("environment.yml", "name: tf\ndependencies:\n  - python=3.9\n  - tensorflow=2.7.0=mkl_py39  # why\n", 2),
        ("environment_gpu.yaml", "dependencies:\n- 'lab/dev::tensorflow ==2.7.0'\n", 2),
        ("environment.yml", "dependencies:\n  - pip\n  - pip:\n    - -r other.txt\n    - keras>=3\n", 3),
        ("environment.yml", "channels:\n  - tensorflow\ndependencies: [\n", None),
        ("conda.yaml", "dependencies:\n  - pip:\n      - tensorflow-gpu==2.10.0\n", 2),
        ("env.yml", "dependencies:\n  - keras=2.10\n", 2),
        ("pkg-1.0.dist-info/METADATA", "Name: pkg\nRequires-Dist: tensorflow<2.16\n\ntensorflow>=2.16", 2),
    ],
)
def test_keras_of_a_project(tmp_path: Path, file: str, text: str, keras: int | None) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    (tmp_path / ".git").mkdir()
    expected = None if keras is None else (keras, str(tmp_path / file))
    assert keras_of_project([tmp_path / "pkg" / "a.py"]) == expected


def test_settings_go_before_requirements(project: Path) -> None:
    (project / ".git").mkdir()
    (project / "requirements.txt").write_text("tensorflow<2.16\n")
    assert shown(load(), "keras") == (2, "requirements in requirements.txt")
    assert shown(load(options={"tensorflow": "2.17"}), "keras") == (3, "tensorflow = '2.17'")
    assert load(options={"tensorflow": "2.17", "keras": 2}).keras == 2
    assert shown(load(), "tensorflow") == ("2.15", "requirements in requirements.txt")
    assert load(options={"tensorflow": "2.17"}).tensorflow == "2.17"


def test_each_project_under_a_root_has_its_own_keras(project: Path) -> None:
    projects = {"old": "tensorflow==2.12.0", "new": "tensorflow>=2.18", "open": "keras", "none": ""}
    for name, requirement in projects.items():
        (project / name / "nets").mkdir(parents=True)
        (project / name / "requirements.txt").write_text(requirement)
        (project / name / "nets" / "net.py").write_text(LAYER)
    (project / ".git").mkdir()
    found = check([project], load([project]))
    said = {one.path.partition("/")[0]: (one.context.autograph, one.message) for one in found.findings if one.context}
    assert {name: autograph for name, (autograph, _) in said.items()} == {
        "old": True,
        "new": False,
        "open": False,
        "none": False,
    }
    assert {name for name, (_, message) in said.items() if "(Keras 2 converts it)" in message} == {"open", "none"}
    everywhere = check([project], load([project], options={"keras": 2}))
    assert {one.context.autograph for one in everywhere.findings if one.context} == {True}


def test_the_nearest_requirements_that_name_it_decide(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text("tensorflow<2.16\n")
    for name, requirement in {"own": "tensorflow>=2.18", "other": "numpy", "open": "tensorflow"}.items():
        (tmp_path / name / "a" / "b").mkdir(parents=True)
        (tmp_path / name / "requirements.txt").write_text(requirement)
    inside = {tmp_path / name / "a" / "b": keras for name, keras in {"own": 3, "other": 2, "open": None}.items()}
    found = {folder: required.keras for folder, required in required_near([tmp_path, *inside]).items()}
    assert found == {tmp_path: 2, **inside}
    (tmp_path / "requirements.txt").unlink()
    assert required_near([tmp_path]) == {}


def test_a_file_that_leaves_the_version_open_gives_way_to_the_next(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("setup(name='own', keywords=['tensorflow'], install_requires=read())\n")
    (tmp_path / "requirements.txt").write_text("keras\njax\n")
    assert required_near([tmp_path])[tmp_path].keras is None
    (tmp_path / "pypi_requirements.txt").write_text("tensorflow<2.9\n")
    found = required_near([tmp_path])[tmp_path]
    assert (found.keras, found.file.name) == (2, "pypi_requirements.txt")
    (tmp_path / "requirements-next.txt").write_text("tensorflow>=2.18\n")  # for one of the versions that it is tried on
    found = required_near([tmp_path])[tmp_path]
    assert (found.keras, found.file.name) == (None, "setup.py")


ROTATED: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.RandomRotation(0.2), tf.keras.layers.Flatten()])

class Net(tf.keras.Model):
    def call(self, x):
        return model(x)

net = Net()
net.compile("adam", "mse", jit_compile=True)
net.fit(tf.ones([8, 4, 4, 1]), tf.ones([8, 16]))
"""


def test_a_layer_is_as_keras_2_has_it_where_the_project_below_the_folder_runs_on_that(project: Path) -> None:
    effects = {}
    for folder, requirement in {"new": "tensorflow>=2.18", "old": "tensorflow==2.15"}.items():
        (project / folder).mkdir()
        (project / folder / "requirements.txt").write_text(requirement)
        (project / folder / "net.py").write_text(ROTATED)
    for finding in check([project], load([project], isolated=True)).findings:
        if finding.code == "XLA408":
            effects[Path(finding.path).parent.name] = finding.effect
    assert effects == {"new": Effect.NAMED, "old": Effect.FAILS}


def test_a_project_decides_whichever_of_its_files_is_asked_about(project: Path) -> None:
    requirements = {"": "keras>=3", "new": "tensorflow==2.18", "old": "tensorflow==2.15"}
    for folder, requirement in requirements.items():
        (project / folder).mkdir(exist_ok=True)
        (project / folder / "requirements.txt").write_text(requirement)
    files = [[project / "old" / "a.py"], [project / "new" / "a.py"], [project]]
    assert [load(paths, isolated=True).tensorflow for paths in files] == ["2.15", "2.18", None]
    within = [load(paths, options={"project": "."}, isolated=True) for paths in files]
    assert {(one.keras, one.tensorflow) for one in within} == {(3, None)}


def test_where_several_packages_are_installed_none_speaks_for_the_others(tmp_path: Path) -> None:
    for name, requirement in {"new": "keras>=3", "old": "tensorflow<2.16"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}-1.0.dist-info").mkdir()
        (tmp_path / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Name: {name}\nRequires-Dist: {requirement}\n")
    assert required_near([tmp_path / "new", tmp_path / "old"]) == {}
    assert {name: keras_of_project([tmp_path / name / "a.py"]) for name in ("new", "old")} == {
        "new": (3, str(tmp_path / "new-1.0.dist-info" / "METADATA")),
        "old": (2, str(tmp_path / "old-1.0.dist-info" / "METADATA")),
    }


def test_the_backends_of_a_project_are_not_those_of_one_around_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text("keras>=3\njax\n")
    own = {"pyproject.toml": '[project]\ndependencies = ["numpy"]\n', "setup.py": 'setup(name="own")\n'}
    lists = {"pyproject.toml": "[tool.ruff]\n", "requirements.txt": "numpy\n"}
    folders = {}
    for kind, files in (("own", own), ("list", lists)):
        for name, text in files.items():
            folder = tmp_path / kind / name / "a"
            folder.mkdir(parents=True)
            (folder.parent / name).write_text(text)
            folders[folder] = frozenset() if kind == "own" else frozenset((Backend.JAX,))
    found = required_near([tmp_path, *folders])
    assert {folder: found[folder].backends for folder in folders} == folders
    assert {one.keras for one in found.values()} == {3}
    dist = tmp_path / "packages" / "made-1.0.dist-info"
    dist.mkdir(parents=True)
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: made\nRequires-Dist: absl-py\n\nText\n")
    inside = dist.parent / "made" / "layers"
    inside.mkdir(parents=True)
    assert required_near([inside])[inside].backends == frozenset()


def test_a_cache_of_an_earlier_version_is_one(project: Path) -> None:
    cache = project / ".xlalint_cache"
    cache.mkdir()
    (cache / "notes.txt").write_text("of somebody")
    with pytest.raises(ConfigurationError, match=r"'\.xlalint_cache' holds something else than a cache"):
        load()
    assert load(cached=False).cache_dir is None
    (cache / ".gitignore").write_text("# Written by xlalint; may be deleted at any time.\n*\n")
    assert load().cache_dir == cache


@pytest.mark.parametrize(
    ("imports", "converted"),
    [
        ("import tensorflow_addons as tfa", True),
        ("from tensorflow.python.keras import layers", True),
        ("import tf_keras", True),
        ("import tensorflow_datasets as tfds", False),
    ],
)
def test_an_import_says_which_keras_runs_the_code(project: Path, imports: str, converted: bool) -> None:
    (project / "net.py").write_text(f"{imports}\n{LAYER}")
    [found] = check([project], Settings()).findings
    assert found.context is not None
    assert found.context.autograph is converted
