"""What XLA says for GPUs, on a machine without one: what is lowered, what would be run, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ran
from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span
from xlalint.probe import checking
from xlalint.probe.checking import planned, with_verdicts
from xlalint.probe.protocol import GPU_FAILS, Call, Lowering, Observation, Outcome, Plan, Spot
from xlalint.probe.running import Ran
from xlalint.probe.target import Target
from xlalint.probe.verdicts import Run
from xlalint.reports.probed import probed
from xlalint.reports.terminal import Paint
from xlalint.settings.config import ProbeSettings, Settings

CODE = """\
import keras
import tensorflow as tf


def cut(size):
    return tf.reduce_sum(tf.range(size))


def solve(x):
    return tf.linalg.lu(x)[0]


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(8)

    def call(self, x):
        return self.inner(x)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(CODE)
    return tmp_path / "m.py"


def test_without_kernels_for_gpus_nothing_is_run(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = file.with_name("python")
    program.write_text("#!/bin/sh\necho False\n")
    program.chmod(0o755)
    code, out, err = ran(capsys, "probe", "m.py::cut", "--target", "gpu", "--python", str(program), "--isolated", "-q")
    assert (code, out) == (2, "")
    assert err.startswith(f"xlalint: error: TensorFlow of {program} was built without kernels for GPUs: --python names")
    assert err.count("\n") == 1


# -- verdicts ---------------------------------------------------------------------------------------------------------


def judge(
    file: Path, lowered: Outcome, effect: Effect, monkeypatch: pytest.MonkeyPatch, not_run: str | None = None
) -> Report:
    """What is said of a finding at line 10 whose function compiles on the CPU, unless it was not run there."""
    target = Target(str(file), "solve", (9, 10))
    cpu = Outcome(calls=(Call(0, 0, 1),), reached={str(file): (10,)}, versions={"tensorflow": "2.21.0"})
    cpu = cpu if not_run is None else Outcome(not_run=not_run)
    asked: list[str] = []

    def run_targets(
        targets: Sequence[Target],
        settings: ProbeSettings,
        cache_dir: Path | None,
        heard: Callable[[Run], None],
        told: Callable[[str], None],
    ) -> Ran:
        asked.append(settings.target)
        return Ran([Run(one, cpu if settings.target == "cpu" else lowered) for one in targets], True)

    monkeypatch.setattr(checking, "run_targets", run_targets)
    monkeypatch.setattr(checking, "check_available", lambda settings: None)
    context = FindingContext("xla", True)
    finding = Finding("m.py", Span(10, 12, 10, 20), "XLA401", "no-kernel", Severity.ERROR, effect, "m", context)
    report = Report((finding,), files_checked=1)
    settings = Settings(probe=ProbeSettings(target="gpu"))
    found = with_verdicts(report, planned(report, [(target, [finding])], ()), settings, lambda run: None)
    assert asked == ["cpu", "gpu"]
    return found


def test_what_a_gpu_refuses_confirms_that_it_fails(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Observation(GPU_FAILS, "XLA for GPUs refuses the function: no kernel", (Spot(str(file), 10),))
    outcome = Outcome(observations=(refusal,), programs=(Lowering("the function", "", "no kernel"),))
    verdict = judge(file, outcome, Effect.FAILS, monkeypatch).findings[0].verdict
    assert verdict is not None
    assert (verdict.status, verdict.outcome, verdict.line) == ("confirmed", GPU_FAILS, 10)


def test_what_was_done_and_what_was_not_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = Outcome(
        programs=(Lowering("the function", "", None, 0.14), Lowering("its gradient", "", untried="it has strings")),
        notes=("not run on a GPU: there is none",),
    )
    report = judge(file, lowered, Effect.FAILS, monkeypatch)
    told = probed(report, Paint(False))
    assert "  = gpu-lowers: the function, in 0.1 s\n" in told
    assert "  = its gradient is not compiled for a GPU: it has strings\n" in told
    assert "  = not run on a GPU: there is none\n" in told
    # A GPU is no TPU.
    verdict = judge(file, lowered, Effect.TPU, monkeypatch).findings[0].verdict
    assert verdict is not None
    assert (verdict.status, "--target tpu" in verdict.text) == ("open", True)


def test_what_a_cpu_had_no_time_for_is_told_of_the_other_device(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = "it did not finish within 60 s"
    fine = Outcome(programs=(Lowering("the function", "", None, 0.14),), how="called with x: f32[4]")
    function = judge(file, fine, Effect.FAILS, monkeypatch, late).functions[0]
    assert (function.verdict.outcome, function.verdict.text, function.verdict.how) == ("not run", late, fine.how)
    assert function.details == ("gpu-lowers: the function, in 0.1 s",)
    refusal = Observation(GPU_FAILS, "XLA for GPUs refuses it", (Spot(str(file), 10),))
    refused = Outcome(observations=(refusal,), programs=(Lowering("the function", "", "no kernel"),))
    report = judge(file, refused, Effect.FAILS, monkeypatch, late)
    assert report.functions[0].verdict.outcome == GPU_FAILS
    assert f"not run on a CPU: {late}" in report.functions[0].details
    verdict = report.findings[0].verdict
    assert verdict is not None
    assert (verdict.status, verdict.outcome) == ("confirmed", GPU_FAILS)
    neither = judge(file, Outcome(not_run=late), Effect.FAILS, monkeypatch, late).functions[0]
    assert (neither.verdict.text, neither.details) == (late, ())


def test_what_was_not_lowered_says_why(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = judge(file, Outcome(not_run="it hangs"), Effect.FAILS, monkeypatch)
    assert "not compiled for a GPU: it hangs" in report.functions[0].details
    dead = Outcome(programs=(Lowering("the function", ""),), death="died of SIGKILL")
    report = judge(file, dead, Effect.FAILS, monkeypatch)
    assert "only this is compiled for a GPU: the process died of SIGKILL" in report.functions[0].details


# -- on the CPU, by the same way ---------------------------------------------------------------------------------------


def driven(call: Callable[..., Any], *arguments: Any, state: Sequence[Any] = ()) -> Any:
    from xlalint.probe.worker.driving.driven import Driven

    return Driven(call, lambda value_set, variant: (arguments, {}), 1, 1, lambda: list(state), True, "by hand", ())


@pytest.mark.compiler
def test_values_are_lowered_with_their_gradient_and_a_step() -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    from xlalint.probe.worker.code.user_lines import UserLines
    from xlalint.probe.worker.devices.gpu import GpuLowerer
    from xlalint.probe.worker.devices.lowering import Stateless

    class OnCpu(GpuLowerer):
        platform = "CPU"

    weight = tf.Variable([1.0, 2.0])
    user_lines = UserLines((__file__,))

    def scaled(x: Any) -> Any:
        return x * weight

    def trains(x: Any) -> Any:
        weight.assign_sub(x)
        return tf.reduce_sum(x * weight)

    def sized(n: Any) -> Any:
        return tf.reduce_sum(tf.range(n))

    def factored(x: Any) -> Any:
        return tf.linalg.lu(x)[0]

    def programs(kind: type[GpuLowerer], call: Callable[..., Any], argument: Any) -> list[tuple[str, bool]]:
        lowerer = kind(user_lines, lambda: None, Plan(gpu=True))
        variables = [weight] if call in (scaled, trains) else []
        lowerer.all_of(driven(call, argument), variables, variables)
        observed.extend(lowerer.observations)
        return [(one.of, one.compiles) for one in lowerer.programs]

    observed: list[Observation] = []
    pair = tf.constant([1.0, 2.0])
    three = [("the function", True), ("its gradient", True), ("a step of Adam on the summed outputs", True)]
    assert programs(OnCpu, scaled, pair) == three
    assert programs(OnCpu, trains, pair) == three[:1]  # it is a step of training by itself
    lowerer = OnCpu(user_lines, lambda: None, Plan(gpu=True))
    step = Stateless(replace(driven(trains, pair), of="what it trains with"), [weight])
    lowerer.all_of(driven(scaled, pair), [weight], [weight], step, adam=False)
    assert [(one.of, one.compiles) for one in lowerer.programs] == [three[0], ("what it trains with", True)]
    assert programs(OnCpu, sized, tf.constant(5)) == three[:1]  # how many is a constant, as it is when it is run
    assert observed == []
    assert programs(OnCpu, factored, tf.eye(2)) == [("the function", False)]
    assert (observed[0].kind, set(observed[0].ops)) == (GPU_FAILS, {"Lu"})
    assert observed[0].spots[0].path == __file__


@pytest.mark.compiler
def test_what_a_device_runs_is_compared() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.code.user_lines import UserLines
    from xlalint.probe.worker.devices.gpu import run_on, run_where_there_is_one

    user_lines = UserLines((__file__,))
    with tf.device("/device:CPU:0"):  # where it is run, also on a machine with a GPU
        total = tf.Variable(1.0)

    def counts(x: Any) -> Any:
        total.assign_add(tf.reduce_sum(x))
        return total * 2.0

    def differs(x: Any) -> Any:
        return tf.debugging.check_numerics(x, "") if tf.executing_eagerly() else x + 1.0

    def fails(x: Any) -> Any:
        return tf.linalg.lu(x)[0]

    def draws(x: Any) -> Any:
        return x + tf.random.normal([2, 2])

    square, device = tf.eye(2), "/device:CPU:0"
    assert run_on(device, driven(counts, square, state=[total]), user_lines, random=False) == []
    assert run_on(device, driven(draws, square), user_lines, random=True) == []
    [difference] = run_on(device, driven(differs, square), user_lines, random=False)
    assert difference.kind == GPU_FAILS
    assert f"on {device} it differs from eager execution: [0, 0]" in difference.text
    [failure] = run_on(device, driven(fails, square), user_lines, random=False)
    assert failure.text.startswith(f"{device} does not run it: ")
    assert failure.spots[0].path == __file__
    if not tf.config.list_logical_devices("GPU"):
        assert run_where_there_is_one(driven(fails, square), user_lines, random=False) == (
            [],
            "not run on a GPU: there is none",
        )


@pytest.mark.compiler
def test_a_run_says_on_what_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the CPU in the place of a GPU."""
    import tensorflow as tf

    from xlalint.probe.worker.code.user_lines import UserLines
    from xlalint.probe.worker.devices.gpu import run_where_there_is_one

    for name in ("list_logical_devices", "list_physical_devices"):
        listed = getattr(tf.config, name)
        monkeypatch.setattr(tf.config, name, lambda kind, listed=listed: listed("CPU" if kind == "GPU" else kind))
    details = {"device_name": "NVIDIA H200", "compute_capability": (9, 0)}
    monkeypatch.setattr(tf.config.experimental, "get_device_details", lambda device: details)

    def doubled(x: Any) -> Any:
        return x * 2.0

    function = driven(doubled, tf.eye(2))
    step = replace(function, of="its own train_step", is_step=True)
    precise = tf.config.experimental.tensor_float_32_execution_enabled()
    try:
        done = [run_where_there_is_one(one, UserLines((__file__,)), random=False) for one in (function, step)]
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(precise)
    where = "ran on NVIDIA H200 (/device:CPU:0), compiled and eagerly"
    assert done == [([], f"the function {where}"), ([], f"its own train_step {where}")]


# -- with kernels for GPUs --------------------------------------------------------------------------------------------


@pytest.mark.compiler
def test_the_kernels_themselves(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = os.environ.get("XLALINT_GPU_PYTHON")
    if python is None:
        pytest.skip("nothing was lowered for a GPU: XLALINT_GPU_PYTHON names no interpreter with its kernels")
    options = ("--target", "gpu", "--python", python, "--no-cache", "--isolated", "-q")
    code, out, _ = ran(capsys, "probe", "m.py", *options)
    assert code == 1
    told = {part.split(" (")[0]: part for part in out.split("\n\n")}
    assert "gpu-lowers: the function" in told["recompiles: cut"]
    assert "gpu-fails at m.py:10: XLA for GPUs refuses the function: no kernel for `Lu`" in told["fails: solve"]
    assert told["compiles: Net"].count("gpu-lowers: ") == 3
    assert " on " in next(line for line in told["compiles: Net"].splitlines() if "GPU" in line)  # it ran, or why not
