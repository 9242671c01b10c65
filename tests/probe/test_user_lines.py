"""The user's line of an error that is raised anew, with the frames of the first one in its text."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from xlalint.probe.protocol import TRACE, Spot
from xlalint.probe.worker.code import user_lines
from xlalint.probe.worker.code.user_lines import UserLines

SAID = """Exception encountered when calling layer 'gate' (type Gate).

in user code:

    File "{0}/outer.py", line 7, in call  *
        return self.gate(x)
    File "{0}/model.py", line 3, in call  *
        one, other = tf.shape(x)
    File "/elsewhere/library.py", line 9, in __iter__  **

    OperatorNotAllowedInGraphError: Iterating over a symbolic `tf.Tensor` is not allowed.
"""


def test_frames_in_the_text_of_an_error(tmp_path: Path) -> None:
    for name in ("outer.py", "model.py"):
        (tmp_path / name).write_text("x = 1\n" * 9)
    trouble = UserLines([str(tmp_path)]).trouble(TypeError(SAID.format(tmp_path)), TRACE)
    assert trouble.spots == (Spot(str(tmp_path / "model.py"), 3), Spot(str(tmp_path / "outer.py"), 7))


def test_frames_that_python_knows_come_first(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(f"def call():\n    raise TypeError({SAID.format(tmp_path)!r})\n")
    names: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(TypeError) as raised:
        names["call"]()  # type: ignore[operator]
    assert UserLines([str(tmp_path)]).trouble(raised.value, TRACE).spots == (Spot(str(file), 2),)


def test_the_probe_and_python_are_the_user_s_only_where_they_are_asked_for(tmp_path: Path) -> None:
    own, library = user_lines.__file__, linecache.__file__
    around = UserLines([str(Path(own).parents[4]), str(Path(library).parent), str(tmp_path)])
    assert [around.owns(path) for path in (own, library, str(tmp_path / "a.py"))] == [False, False, True]
    assert UserLines([own]).owns(own)
