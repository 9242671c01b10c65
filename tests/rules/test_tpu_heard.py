"""What a TPU's compiler was seen to refuse, some rule says where the code is for TPUs: held call by call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.programs.tpu import VM
from xlalint.facts import tables, tpu
from xlalint.facts.tables import Gradient, Outcome
from xlalint.facts.tpu import TpuOutcome
from xlalint.findings.codes import rule_names
from xlalint.findings.findings import Effect, Finding, Severity
from xlalint.linter.run import Stdin, check
from xlalint.measuring.samples import KINDS
from xlalint.settings.config import Settings

FILE: Final = Path("/xlalint/call.py")
CODES: Final = frozenset(code for code in rule_names() if not code.startswith("XLA9"))
ALONE: Final = frozenset(("XLA507", "XLA510"))  # the rules that speak of a TPU alone
TAKEN: Final = (Outcome.OK, Outcome.BOUNDED, Outcome.DIVERGES)  # by a CPU's compiler
HEADER: Final = """\
import keras
import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp
"""
# Calls that are refused and that no rule hears of, by the beginning of their text, with the reason.
UNHEARD: Final = {
    "keras.backend.conv2d_transpose(": "the measured size fits no image",
    "keras.layers.Discretization(": "with two of its modes only",
    "keras.ops.inner(f32[4]": "the measured tensors are vectors, which is not known here",
    "keras.ops.multi_hot(": "sparse results are rare",
    "tf.RaggedTensor.from_row_lengths(": "that of the lengths is heard elsewhere",
    "tf.compat.v1.ConditionalAccumulator(": "it is made outside",
    "tf.compat.v1.distributions.": "removed long ago",
    "tf.compat.v1.nn.conv3d_backprop_filter_v2(": "the measured size fits no image",
    "tf.compat.v1.string_split(": "removed long ago",
    "tf.dynamic_stitch(": "the measured places leave some out",
    "tf.linalg.eigh_tridiagonal(f32[4], f32[3], eigvals_only=False)": "an option that fails for want of no kernel",
    "tf.linalg.norm(f32[3, 3], ord=2, axis=[0, 1])": "an option that fails for want of no kernel",
    "tf.nn.conv": "the measured size fits no image",
    "tf.nn.depthwise_conv2d_backprop": "the measured dilations are two short",
    "tf.random.shuffle(f32[4])": "the measured tensor is a vector of floats, which is not known here",
    "tf.reduce_m": "of ragged tensors",
    "tf.reduce_sum(tf.RaggedTensor": "of ragged tensors",
    "tnp.string_(": "texts are heard where they are used",
    "tnp.unicode_(": "texts are heard where they are used",
}


@dataclass
class Writer(ast.NodeTransformer):
    """Makes of a measured call one of parameters: its samples get names, and what is made of none stands outside."""

    parameters: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in (*KINDS, "pick"):
            self.parameters.append(f"x{len(self.parameters)}")
            return ast.Name(self.parameters[-1])
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        before = len(self.parameters)
        self.generic_visit(node)
        is_class = ast.unparse(node.func).rpartition(".")[2][:1].isupper()
        if is_class and len(self.parameters) == before:
            self.made.append(ast.unparse(node))
            return ast.Name(f"MADE{len(self.made) - 1}")
        return node


def written(call: str, gradient: bool = False) -> str:
    """A file in which the call, or its gradient, is compiled."""
    writer = Writer()
    text = ast.unparse(writer.visit(ast.parse(call, mode="eval")))
    made = "".join(f"MADE{number} = {one}\n" for number, one in enumerate(writer.made))
    parameters = ", ".join(f"{name}: tf.Tensor" for name in writer.parameters)
    body = f"return {text}"
    if gradient:
        body = f"with tf.GradientTape() as tape:\n        y = {text}\n    return tape.gradient(y, x0)"
    return f"{HEADER}\n{made}\n@tf.function(jit_compile=True)\ndef f({parameters}):\n    {body}\n"


def findings(code: str, target: str | None) -> tuple[Finding, ...]:
    report = check([FILE], Settings(codes=CODES, target=target), Stdin(FILE, code.encode()))
    assert not report.problems, report.problems
    return report.findings


def is_told(finding: Finding) -> bool:
    """Whether a finding says that it fails for a TPU."""
    return finding.effect is Effect.FAILS or finding.severity is Severity.ERROR


def refused(*outcomes: Outcome) -> Iterator[str]:
    """The calls that a TPU's compiler refuses and of which a CPU's makes one of these."""
    for fact in tables.apis():
        for case in fact.cases:
            found = tpu.of_call(case.call)
            if case.outcome in outcomes and found is not None and found.outcome is TpuOutcome.FAILS:
                yield case.call


def test_what_a_tpu_refuses_is_heard() -> None:
    asked = list(refused(*Outcome))
    assert len(asked) > 550
    silent = [call for call in asked if not any(map(is_told, findings(written(call), "tpu")))]
    unknown = [call for call in silent if not call.startswith(tuple(UNHEARD))]
    # XLA202 says of it that the number of what is unique depends on data, which most compilers pad.
    assert unknown == ["keras.ops.unique(i32[5], return_counts=True)"]
    assert [start for start in UNHEARD if not any(call.startswith(start) for call in silent)] == []


@pytest.mark.parametrize("target", [None, "cpu", "gpu"])
def test_elsewhere_nothing_is_said_of_what_is_refused_there_alone(target: str | None) -> None:
    asked = list(refused(*TAKEN))
    assert len(asked) >= 10
    assert [call for call in asked for one in findings(written(call), target) if one.code in ALONE] == []


def test_a_strategy_for_tpus_says_so_too(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(written("keras.ops.nextafter(f32[4], f32[4])"), encoding="utf-8")
    assert check([tmp_path], Settings()).findings == ()
    (tmp_path / "train.py").write_text(VM, encoding="utf-8")
    [finding] = check([tmp_path], Settings()).findings
    assert (finding.code, finding.effect, finding.severity) == ("XLA510", Effect.TPU, Severity.ERROR)
    assert check([tmp_path], Settings(target="gpu")).findings == ()


def test_gradients_that_a_tpu_refuses_are_heard() -> None:
    asked = [
        case.call
        for fact in tables.apis()
        for case in fact.cases
        if case.gradient is Gradient.OK
        and (found := tpu.of_call(case.call)) is not None
        and found.gradient is not None
        and found.gradient.outcome is TpuOutcome.FAILS
    ]
    assert asked == ["tf.dynamic_partition(f32[4], index[4], 3)"]
    for call in asked:
        code = written(call, gradient=True)
        assert "XLA407" in {finding.code for finding in findings(code, "tpu") if is_told(finding)}
        assert "XLA407" not in {finding.code for finding in findings(code, None)}


def test_complex128_is_told_where_all_is_for_tpus() -> None:
    code = written("tf.cast(f32[4], tf.complex128)")
    [finding] = findings(code, "tpu")
    assert (finding.code, finding.effect, finding.severity) == ("XLA507", Effect.TPU, Severity.ERROR)
    assert [findings(code, target) for target in (None, "cpu", "gpu")] == [(), (), ()]
