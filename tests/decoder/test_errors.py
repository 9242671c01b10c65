"""Errors that people paste: the rule, the user's own line and the reason, in whatever dress the log comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.cli import run
from xlalint.decoder.answers import Answer, explain_log
from xlalint.decoder.log import parse, read
from xlalint.facts.errors import PATTERNS
from xlalint.facts.families import rules_about
from xlalint.findings.codes import rule_names

NOT_A_BOOL = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed."

# What Keras prints when a layer branches on a tensor.
LAYER = f"""\
Traceback (most recent call last):
  File "/home/ada/project/train.py", line 30, in <module>
    model.fit(dataset)
  File "/home/ada/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 124, in error_handler
    del filtered_tb
  File "/home/ada/project/layers.py", line 12, in call
    if tf.reduce_max(x) > 1.0:
       ^^^^^^^^^^^^^^^^^^^^^^
tensorflow.python.framework.errors_impl.OperatorNotAllowedInGraphError: Exception encountered when calling Clip.call().

\x1b[1m{NOT_A_BOOL} You can attempt the following resolutions to the problem: run eagerly.\x1b[0m

Arguments received by Clip.call():
  • x=tf.Tensor(shape=(4,), dtype=float32)
"""
# What AutoGraph prints of a function that it converted.
CONVERTED = """\
Traceback (most recent call last):
  File "/home/ada/project/train.py", line 30, in <module>
    step(x)
  File "/tmp/__autograph_generated_fileo2k1.py", line 12, in tf__step
    retval_ = ag__.converted_call(ag__.ld(settle), (ag__.ld(x),), None, fscope)
NotImplementedError: in user code:

    File "/home/ada/project/train.py", line 21, in step  *
        return settle(x)
    File "/home/ada/project/solve.py", line 4, in settle  *
        for i in range(4):

    NotImplementedError: break and return statements which depend on a TF condition are not supported.
"""
# What XLA prints of operations without a kernel.
KERNEL = """\
tensorflow.python.framework.errors_impl.InvalidArgumentError: Detected unsupported operations when trying to compile \
graph __inference_step_9[_XlaMustCompile=true] on XLA_GPU_JIT: Lu (No registered 'Lu' OpKernel for XLA_GPU_JIT devices \
compatible with node {{node Lu}}){{node Lu}}, UniqueWithCounts (No registered 'UniqueWithCounts' OpKernel for \
XLA_GPU_JIT devices compatible with node {{node UniqueWithCounts}}){{node UniqueWithCounts}}
The op is created at:
File "project/train.py", line 30, in <module>
File "project/solve.py", line 7, in step
File "venv/lib/python3.11/site-packages/tensorflow/python/ops/linalg_ops.py", line 50, in lu
\ttf2xla conversion failed while converting __inference_step_9[]. [Op:__inference_step_9]
"""


def only(text: str) -> Answer:
    """The one answer to a log in which nothing else is."""
    found = explain_log(text)
    assert found.unknown == ()
    assert len(found.answers) == 1, found
    return found.answers[0]


def where(answer: Answer) -> tuple[str, int] | None:
    return None if answer.place is None else (answer.place.path.rpartition("/")[2], answer.place.line)


# -- the user's own line ----------------------------------------------------------------------------------------------


def test_the_last_own_frame_of_a_traceback() -> None:
    answer = only(LAYER)
    assert answer.code == "XLA101"
    assert answer.place is not None
    assert answer.place.path == "/home/ada/project/layers.py"
    assert (answer.place.line, answer.place.function) == (12, "call")
    assert answer.place.source == "if tf.reduce_max(x) > 1.0:"
    assert answer.rewrite is not None


def test_the_last_frame_that_autograph_names() -> None:
    answer = only(CONVERTED)
    assert answer.code == "XLA110"
    assert where(answer) == ("solve.py", 4)


def test_the_line_where_an_operation_was_made_and_every_operation() -> None:
    answers = explain_log(KERNEL).answers
    assert [where(answer) for answer in answers] == [("solve.py", 7), ("solve.py", 7)]
    assert ["`Lu`" in answers[0].reason, "the GPU" in answers[0].reason] == [True, True]
    assert answers[1].code == "XLA202"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("if x > 0:", "XLA101"),
        ("elif x > 0:", "XLA101"),
        ("return a if x > 0 else b", "XLA101"),
        ("return [a for a in b if x > 0]", "XLA101"),
        ("while x > 0:", "XLA102"),
        ("ready = x > 0 and y > 0", "XLA104"),
        ("ready = 0 < x < 1", "XLA104"),
        ("return max(x, y)", "XLA104"),
        ("known = lambda code: code in (1, 2)", "XLA104"),
        ("assert x > 0, 'negative'", "XLA105"),
        ("return bool(x)", "XLA106"),
        ("result = compute(x,", "XLA101"),
    ],
)
def test_the_form_of_the_line_chooses_the_rule(line: str, code: str) -> None:
    answer = only(f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    {line}\nE: {NOT_A_BOOL}\n')
    assert answer.code == code
    assert code not in {other.code for other in answer.others}


def test_the_source_decides_where_it_is_at_hand(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import tensorflow as tf\n\n@tf.function(jit_compile=True)\ndef f(x):\n"
        "    for i in tf.range(3):\n        for j in range(i):\n            x = x + 1.0\n    return x\n"
    )
    error = "Input 1 to node `while/range` with op Range must be a compile-time constant.\n\n"
    stack = f'Stack trace for op definition:\nFile "{path}", line 6, in f\n\n\t [[{{{{node while/range}}}}]]\n'
    answer = only(error + stack)
    assert answer.code == "XLA103"
    assert answer.finding is not None
    assert answer.finding.span.line == 6
    assert answer.place is not None
    assert answer.place.source == "for j in range(i):"
    path.write_text("x = 1\n")
    assert only(error + stack.replace(str(path), str(tmp_path / "gone.py"))).code == "XLA205"


def test_a_file_that_has_changed_since_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("import tensorflow as tf\n\n@tf.function(autograph=False)\ndef f(x):\n    while x:\n        pass\n")
    log = f'Traceback (most recent call last):\n  File "{path}", line 5, in f\n    if x > 0:\nE: {NOT_A_BOOL}\n'
    answer = only(log)
    assert (answer.code, answer.finding) == ("XLA101", None)


def test_a_lambda_has_no_name_in_a_stack_of_xla() -> None:
    stack = 'Stack trace for op definition: \nFile "run.py", line 3, in <module>\nFile "run.py", line 9, in \n'
    answer = only(f"Input 1 to node `a` with op Range must be a compile-time constant.\n\n{stack}")
    assert answer.place is not None
    assert (answer.place.line, answer.place.function) == (9, None)


def test_an_installed_package_is_named_where_nothing_else_is() -> None:
    frame = '  File "/venv/lib/python3.11/site-packages/models/bert.py", line 3, in call\n    if x:\n'
    answer = only(f"Traceback (most recent call last):\n{frame}E: {NOT_A_BOOL}\n")
    assert where(answer) == ("bert.py", 3)
    assert answer.place is not None
    assert answer.place.installed
    own = '  File "/home/ada/run.py", line 1, in <module>\n    go()\n'
    assert where(only(f"Traceback (most recent call last):\n{own}{frame}E: {NOT_A_BOOL}\n")) == ("run.py", 1)


# -- the dress of a log -----------------------------------------------------------------------------------------------

TIME = "2026-11-21T08:00:01.1234567Z "
DRESSES: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "windows line ends": lambda text: text.replace("\n", "\r\n"),
    "windows paths": lambda text: text.replace("/home/ada/project/", "C:\\work\\"),
    "lost escapes": lambda text: text.replace("\x1b", ""),
    "coloured": lambda text: "".join(f"\x1b[31m{line}\x1b[0m\n" for line in text.splitlines()),
    "a progress bar": lambda text: f"1/9 [..] loss: 1\r2/9 [..] loss: 2\r{text}",
    "times": lambda text: "".join(f"{TIME}{line}\n" for line in text.splitlines()),
    "a container": lambda text: "".join(f"trainer-1  | {line}\n" for line in text.splitlines()),
    "a ray worker": lambda text: "".join(f"(train pid=77, ip=10.0.0.1) {line}\n" for line in text.splitlines()),
    "an mpi rank": lambda text: "".join(f"[1,0]<stderr>:{line}\n" for line in text.splitlines()),
    "JSON": lambda text: json.dumps({"message": text}, ensure_ascii=False),
    "curly quotes": lambda text: text.replace("`tf.Tensor`", "‘tf.Tensor’").replace("`bool`", "‘bool’"),
    "lost quotes": lambda text: text.replace("`", ""),
    "a log around it": lambda text: (
        "2026-11-21 08:00:00.1: I tensorflow/core/util/port.cc:153] oneDNN is on.\n"
        f"{text}2026-11-21 08:00:02.9: W tensorflow/core/x.cc:9] end of sequence\n"
    ),
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize(("log", "code", "line"), [(LAYER, "XLA101", 12), (CONVERTED, "XLA110", 4)])
def test_a_log_in_any_dress(dress: str, log: str, code: str, line: int) -> None:
    answer = only(DRESSES[dress](log))
    assert answer.code == code
    assert answer.place is not None
    assert answer.place.line == line


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_in_any_encoding(encoding: str) -> None:
    assert only(read(LAYER.encode(encoding))).code == "XLA101"


PYTEST_LONG = f"""\
=================================== FAILURES ===================================
__________________________________ test_clip ___________________________________

    def test_clip():
>       Clip()(tf.ones([3]))

tests/test_layers.py:8:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def call(self, x):
>       if tf.reduce_max(x) > 1.0:
E       tensorflow.python.framework.errors_impl.OperatorNotAllowedInGraphError: {NOT_A_BOOL}

layers.py:12: OperatorNotAllowedInGraphError
=========================== short test summary info ============================
"""
PYTEST_SHORT = f"""\
__________________________________ test_clip ___________________________________
tests/test_layers.py:8: in test_clip
    Clip()(tf.ones([3]))
layers.py:12: in call
    if tf.reduce_max(x) > 1.0:
E   tensorflow.python.framework.errors_impl.OperatorNotAllowedInGraphError: {NOT_A_BOOL}
"""
NOTEBOOK_OLD = f"""\
---------------------------------------------------------------------------
OperatorNotAllowedInGraphError            Traceback (most recent call last)
<ipython-input-5-1059bcc7b5d0> in <module>
      1 layer = Clip()
----> 2 layer(x)

~/venv/lib/python3.8/site-packages/tensorflow/python/util/traceback_utils.py in error_handler(*args)
    151       filtered_tb = _process_traceback_frames(e.__traceback__)
--> 153       raise e.with_traceback(filtered_tb) from None

~/project/layers.py in call(self, x)
     10   def call(self, x):
---> 12     if tf.reduce_max(x) > 1.0:
     13       x = x / 2

OperatorNotAllowedInGraphError: {NOT_A_BOOL}
"""
NOTEBOOK_NEW = f"""\
---------------------------------------------------------------------------
OperatorNotAllowedInGraphError            Traceback (most recent call last)
Cell In[3], line 2
      1 layer = Clip()
----> 2 layer(x)

File ~/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py:122, in filter.<locals>.error_handler
    120 try:
--> 122     raise e.with_traceback(filtered_tb) from None

Cell In[2], line 12, in Clip.call(self, x)
     10 def call(self, x):
---> 12     if tf.reduce_max(x) > 1.0:

OperatorNotAllowedInGraphError: {NOT_A_BOOL}
"""


@pytest.mark.parametrize("log", [PYTEST_LONG, PYTEST_SHORT, NOTEBOOK_OLD, NOTEBOOK_NEW], ids=range(4))
def test_frames_as_tools_print_them(log: str) -> None:
    answer = only(log)
    assert answer.code == "XLA101"
    assert answer.place is not None
    assert (answer.place.line, answer.place.source) == (12, "if tf.reduce_max(x) > 1.0:")


def test_distinct_errors_are_all_answered_and_repeated_ones_once() -> None:
    log = f"{LAYER}\nretrying\n\n{LAYER}\n{CONVERTED}\n{KERNEL}"
    answers = explain_log(log).answers
    assert [answer.code for answer in answers] == ["XLA101", "XLA110", "XLA401", "XLA202"]
    assert [answer.times for answer in answers] == [2, 1, 1, 1]


def test_a_message_of_the_log_and_its_exception_are_one_error() -> None:
    message = f"2026-11-21 08:00:02.9: W tensorflow/core/framework/op_kernel.cc:1841] OP_REQUIRES failed: {KERNEL}"
    answers = explain_log(f"{message}\nTraceback (most recent call last):\n{KERNEL}").answers
    assert len(answers) == 2


def test_what_is_not_known_is_said() -> None:
    found = explain_log(f"{LAYER}\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'loss'\n")
    assert [answer.code for answer in found.answers] == ["XLA101"]
    assert found.unknown == ("KeyError: 'loss'",)
    assert explain_log("all is well\n") == explain_log("")


# -- wordings of today and of older versions --------------------------------------------------------------------------

WORDINGS = [
    ("using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution. Use Eager execution", "XLA101"),
    ("iterating over `tf.Tensor` is not allowed: AutoGraph is disabled in this function.", "XLA103"),
    ("TypeError: Tensor objects are only iterable when eager execution is enabled.", "XLA103"),
    ("Iterating over a symbolic `tf.Tensor` is not allowed.", "XLA103"),
    ("NotImplementedError: Cannot convert a symbolic Tensor (mul:0) to a numpy array.", "XLA106"),
    ("AttributeError: 'Tensor' object has no attribute 'numpy'", "XLA106"),
    ("'SymbolicTensor' object cannot be interpreted as an integer", "XLA106"),
    ("InvalidArgumentError: Output shapes of then and else branches do not match: (f32[8,1]) vs. (f32[8])", "XLA108"),
    ("during context [Unknown]: Expected comparison type SIGNED.\nactual: TOTALORDER", "XLA411"),
    ("left_branch_shape.rank() == right_branch_shape.rank() (2 vs 1)", "XLA108"),
    ("TypeError: true_fn and false_fn must return the same number of arguments", "XLA108"),
    ("InaccessibleTensorError: The tensor <tf.Tensor 'a:0'> cannot be accessed from here.", "XLA107"),
    ("XLA compilation requires a fixed tensor list size. Set the max number of elements.", "XLA109"),
    ("Input 1 to `Range` Op must be a compile-time constant.", "XLA205"),
    ("Input 1 to node `Sum` with op Sum must be a compile-time constant.", "XLA206"),
    ("Argument to function must be a compile-time constant, but unable to resolve argument value", "XLA205"),
    ("INVALID_ARGUMENT: Fail to proof the equality of two dimensions at compile time: %a vs %b", "XLA201"),
    ("on XLA_TPU_JIT: Where (No registered 'Where' OpKernel for XLA_TPU_JIT devices compatible with node w)", "XLA203"),
    ("Cannot concatenate arrays that differ in dimensions: s64[<=10,2] vs s64[4,2].\n\t [[{{node concat}}]]", "XLA201"),
    ("Incompatible shapes: [3] vs. [2]\n\n\t [[{{node mul}}]]\n\ttf2xla conversion failed while converting", "XLA201"),
    ("InvalidArgumentError: TensorArray dtype is float32 but Op is trying to write dtype int32", "XLA604"),
    ("CudnnRNNV3 (No registered 'CudnnRNNV3' OpKernel for XLA_GPU_JIT devices compatible with node c)", "XLA401"),
    ("SparseReshape (No registered 'SparseReshape' OpKernel for XLA_CPU_JIT devices compatible with node s)", "XLA207"),
    ("RaggedRange (No registered 'RaggedRange' OpKernel for XLA_CPU_JIT devices compatible with node r)", "XLA207"),
    ("(No registered 'NonMaxSuppressionV5' OpKernel for XLA_CPU_JIT devices compatible with node n)", "XLA208"),
    (
        "Detected unsupported operations when trying to compile graph b_14[] on XLA_TPU_JIT:Unique, Unique\n\t[[a]]",
        "XLA202",
    ),
    ("jit_compile=True\nRuntimeError: merge_call called while defining a new graph or a tf.function.", "XLA501"),
    ("RuntimeError: Mixing different tf.distribute.Strategy objects: <a object at 0x1> is not <b at 0x2>", "XLA502"),
    ("ValueError: Variable (a) was not created in the distribution strategy scope of (<MirroredStrategy>)", "XLA502"),
    ("ValueError: Metric (a) was created inside a different distribution strategy scope than the model.", "XLA502"),
    (
        "ValueError: Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction"
        " when losses are used with `tf.distribute.Strategy`, except for specifying losses in `Model.compile()`",
        "XLA521",
    ),
    ("TypeError: unsupported operand type(s) for +=: 'float' and 'PerReplica'", "XLA525"),
    ("AttributeError: 'PerReplica' object has no attribute 'numpy'", "XLA525"),
    (
        "ValueError: Attempt to convert a value (PerReplica:{\n  0: tf.Tensor(1.0, shape=(), dtype=float32)}) with an"
        " unsupported type (<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor.",
        "XLA525",
    ),
    ("ValueError: It looks like you are using a PerReplica object while not inside a replica context", "XLA525"),
    (
        "Please use `tf.keras.losses.Reduction.SUM` or\n`tf.keras.losses.Reduction.NONE` for loss reduction when losses"
        "\nare used with `tf.distribute.Strategy` outside of the built-in training loops.",
        "XLA521",
    ),
    ("ValueError: Please provide a TPU Name to connect to.", "XLA503"),
    ("NotFoundError: No registered 'PyFunc' OpKernel for 'CPU' devices compatible with node {{node P}}", "XLA504"),
    ("UnimplementedError: File system scheme '[local]' not implemented (file: 'a.txt')", "XLA504"),
    (
        "UnimplementedError: File system scheme '[local]' not implemented (file: 'm/variables_temp/part-00000')",
        "XLA511",
    ),
    (
        "Unsuccessful TensorSliceReader constructor: Failed to get matching files on m: Unimplemented: "
        "File system scheme '[local]' not implemented (file: 'm')",
        "XLA511",
    ),
    (
        "No registered 'Cast' OpKernel for XLA_TPU_JIT devices compatible with node {{node Cast}} (OpKernel was found, "
        "but attributes didn't match) Requested Attributes: DstT=DT_COMPLEX128, SrcT=DT_FLOAT, Truncate=false",
        "XLA507",
    ),
    ("ImportError: Unable to convert output to PyTorch tensors format, PyTorch is not installed.", "XLA505"),
    ("ValueError: Data of type <class 'torch.Tensor'> is not allowed only (<class 'bool'>, <class 'int'>)", "XLA505"),
    ("TypeError: Cannot convert the argument `type_value`: torch.int64 to a TensorFlow DType.", "XLA505"),
    ("NotImplementedError: TPUStrategy.run(fn, ...) does not support pure eager execution.", "XLA506"),
    ("[Compiling module a_inference_step] Very slow compile? If you want to file a bug, run with envvar", "XLA311"),
    ("WARNING:tensorflow:5 out of the last 5 calls to <function f> triggered tf.function retracing.", "XLA306"),
]
UNRULED = [
    "RuntimeError: merge_call called while defining a new graph or a tf.function.",
    "Trying to access resource dense/kernel_1 (defined @ /home/ada/core.py:31) located in device CPU:1 from CPU:0",
    "UnimplementedError: Support for TensorList crossing the XLA/TF boundary is not implemented",
    "InternalError: Invalid TensorList shape: (f32[2,4], s32[]), expected: (f32[2,2], s32[])",
    "(No registered 'CollectiveGatherV2' OpKernel for XLA_GPU_JIT devices compatible with node c)",
    "libdevice not found at ./libdevice.10.bc",
    "ValueError: 'y' has shape (4,) before the loop, but shape (8,) after one iteration.",
]


@pytest.mark.parametrize(("text", "code"), WORDINGS, ids=lambda value: value[:30])
def test_a_wording_leads_to_its_rule(text: str, code: str) -> None:
    assert only(text).code == code


@pytest.mark.parametrize("text", UNRULED, ids=lambda value: value[:30])
def test_an_error_that_no_rule_finds_has_a_reason(text: str) -> None:
    answer = only(text)
    assert answer.code is None
    assert answer.reason
    assert answer.rewrite or "leave" in answer.reason


def test_a_place_in_the_middle_of_a_line() -> None:
    text = "TensorList crossing the XLA/TF boundary is not implemented\n\t[[node a (defined at nn.py:30) ]]"
    assert where(only(text)) == ("nn.py", 30)


def test_every_code_of_the_tables_is_a_rule() -> None:
    codes = {candidate.code for pattern in PATTERNS for candidate in pattern.candidates}
    assert codes | rules_about() <= set(rule_names())


# -- the command ------------------------------------------------------------------------------------------------------


def explain(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(("explain", *arguments))
    captured = capsys.readouterr()
    assert "Traceback (most" not in captured.err
    return code, captured.out, captured.err


def test_text_and_files_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ci.log"
    path.write_text(LAYER, encoding="utf-8")
    code, shown, _ = explain(capsys, "--error", str(path))
    assert (code, explain(capsys, "--error", LAYER)) == (0, (0, shown, ""))
    assert shown.splitlines()[0].startswith("XLA101 branch-on-tensor: ")
    assert "  --> /home/ada/project/layers.py:12, in `call`" in shown
    assert "  = more: xlalint explain XLA101" in shown.splitlines()


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, _ = explain(capsys, "--error", CONVERTED, "--output-format", "json")
    assert code == 0
    document = json.loads(shown)
    assert document["version"] == 1
    (answer,) = document["answers"]
    assert (answer["code"], answer["name"]) == ("XLA110", "leave-loop-on-tensor")
    assert answer["place"]["path"] == "/home/ada/project/solve.py"
    assert (answer["place"]["line"], answer["times"], document["unknown"]) == (4, 1, [])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--error", "KeyError: 'loss'"), "does not know this error"),
        (("--error", "all is well"), "This text contains no TensorFlow"),
        (("--error", ""), "This text contains no TensorFlow"),
        (("--error", "no_such.log"), "no such file"),
        (("XLA101", "--error", "x"), "name rules, or give an error"),
        ((), "name rules, or give an error"),
    ],
)
def test_no_answer_is_exit_2(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, complaint = explain(capsys, *arguments)
    assert code == 2
    assert said in shown + complaint


def test_a_log_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = explain(capsys, "--error", LAYER.replace("layers.py", "la\x9b2Jyers.py"))
    assert "\x9b" not in shown
    assert "\\x9b" in shown


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    assert parse(text).starts[0] == 0
    explain_log(text)


@given(st.integers(0, len(LAYER)), st.integers(0, len(LAYER)))
def test_any_piece_of_a_log_is_survived(start: int, end: int) -> None:
    found = explain_log(LAYER[start:end])
    assert len(found.answers) <= 1


def test_a_shape_that_is_not_the_invariant_of_its_loop() -> None:
    for said in (
        "'y' has shape (4,) before the loop, which does not conform with the shape invariant (5,).",
        "'y' has shape (4,) after one iteration, which does not conform with the shape invariant (5,).",
    ):
        [answer] = explain_log(f"ValueError: {said}").answers
        assert answer.reason.startswith("`shape_invariants` says (5,) of `y`, which has shape (4,) ")
        assert answer.code is None
