"""Statements that findings stand on, and what lambdas give, each compiled by itself with what its names hold while the
function around it runs eagerly: a function that fails at its first hazard shows none of those behind it.

Only tensors that are computed from data are arguments; what is known while the function is traced stays a constant.
"""

from __future__ import annotations

import copy
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final, TypeVar

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.framework import ops  # type: ignore[import-untyped]

from xlalint.probe.protocol import BOUNDED, DIVERGES, FAILS, RECOMPILES, Observation

from ..backends import backend
from ..code.limits import Limit
from ..code.line_tracing import TooLongError
from ..code.pieces import NAME, OPERAND, Piece, pieces, start_of
from ..driving.driven import Driven, Partly
from ..inputs.tensors import Arguments
from .evidence import Line
from .meter import EagerError, Instruments, Meter, Progress
from .with_tensorflow.eager_watch import watching
from .with_tensorflow.further_failures import Refused
from .with_tensorflow.kept_state import OUT_OF_SCOPE

_MOST: Final = 16  # statements of one function
_LONGEST: Final = 5.0  # seconds of an eager call
_ALONE: Final = "its statement by itself"
_LAMBDA: Final = "<lambda>"
_KINDS: Final = (FAILS, DIVERGES, RECOMPILES, BOUNDED)
_F = TypeVar("_F", bound=Callable[..., Any])


def _not_converted(function: _F) -> _F:
    """AutoGraph leaves it as it is."""
    kept: _F = tf.autograph.experimental.do_not_convert(function)
    return kept


@dataclass(frozen=True)
class _Moment:
    """What the names of a statement hold when it begins: `values` with `leaves` for structures; `data`: the positions
    of the leaves that are computed from data."""

    space: Mapping[str, Any]
    values: dict[str, Any]
    leaves: list[Any]
    data: tuple[int, ...]

    @property
    def inputs(self) -> list[Any]:
        """The tensors that are computed from data."""
        return [self.leaves[position] for position in self.data]

    def like(self, other: _Moment) -> bool:
        """Whether it differs from another one in the values of data only."""
        return self._same_but_data(other) and all(
            _alike(self.leaves[position], other.leaves[position]) for position in self.data
        )

    def taking(self, other: _Moment) -> _Moment | None:
        """With the values of another one where these are of the same shapes; None where nothing becomes different."""
        if not self._same_but_data(other):
            return None
        leaves = list(self.leaves)
        for position in self.data:
            if _alike(self.leaves[position], other.leaves[position]):
                leaves[position] = other.leaves[position]
        same = all(_equal(self.leaves[position], leaves[position]) for position in self.data)
        return None if same else replace(self, leaves=leaves)

    def with_operand(self, value: Any) -> _Moment:
        """With a tensor that is computed from data, under its name."""
        values, position = {**self.values, OPERAND: value}, len(self.leaves)
        return replace(self, values=values, leaves=[*self.leaves, value], data=(*self.data, position))

    def _same_but_data(self, other: _Moment) -> bool:
        if (
            self.data != other.data
            or len(self.leaves) != len(other.leaves)
            or self.values.keys() != other.values.keys()
        ):
            return False
        pairs = enumerate(zip(self.leaves, other.leaves, strict=True))
        return all(position in self.data or _equal(*pair) for position, pair in pairs)


def _alike(one: Any, other: Any) -> bool:
    """Whether two tensors are of one kind and shape."""
    parts = [tf.nest.flatten(each, expand_composites=True) for each in (one, other)]
    return type(one) is type(other) and [(part.dtype, part.shape) for part in parts[0]] == [
        (part.dtype, part.shape) for part in parts[1]
    ]


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | ops.EagerTensor):
        first, second = np.asarray(one), np.asarray(other)
        return first.dtype == second.dtype and np.array_equal(first, second)
    return not isinstance(one, bool | int | float | str) or one == other  # other objects are made anew at each call


class _EnoughError(BaseException):
    """All that was wanted of a call is known. Not an `Exception`, which the user's code might handle."""


class _Moments:
    """Stops at the first lines of statements while code runs eagerly, and keeps what holds there; once a call, which
    ends behind the last of them."""

    def __init__(self, path: str, wanted: Sequence[Piece]) -> None:
        self._path = path
        self._at: dict[int, list[Piece]] = {}
        for piece in (one for whole in wanted if whole.start is None for one in (whole, *whole.longer)):
            for line in range(piece.lines[0], piece.lines[1] + 1):
                self._at.setdefault(line, []).append(piece)
        self._given = {piece.start: [piece] for piece in wanted if piece.start is not None}
        self._all = {one for several in (*self._at.values(), *self._given.values()) for one in several}
        self._here: dict[Piece, _Moment] = {}

    def run(self, call: Callable[[], Any], witness: Refused) -> dict[Piece, _Moment]:
        """One call, which may raise what it will."""
        self._here, limit = {}, Limit(_LONGEST)

        def at_line(frame: FrameType, event: str, argument: Any) -> Any:
            if limit.over:
                raise TooLongError
            here: Sequence[Piece] = ()
            if event == "line":
                code = frame.f_code
                is_lambda = code.co_name == _LAMBDA
                here = self._given.get(start_of(code), ()) if is_lambda else self._at.get(frame.f_lineno, ())
            for piece in here:
                if piece not in self._here and (moment := _moment(frame, piece, witness)) is not None:
                    self._here[piece] = moment
            if here and len(self._here) == len(self._all):
                raise _EnoughError
            return at_line

        def called(frame: FrameType, event: str, argument: Any) -> Any:
            return at_line if frame.f_code.co_filename == self._path else None

        before = sys.gettrace()
        sys.settrace(called)
        try:
            with backend.eager_execution(), watching(witness):
                call()
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException:  # of any kind: it got as far as it got
            pass
        finally:
            sys.settrace(before)
        return self._here


def _moment(frame: FrameType, piece: Piece, witness: Refused) -> _Moment | None:
    """What holds in a frame; None where something is there that no other function can be given."""
    there = frame.f_locals
    values = {name: _copied(there[name], name in piece.changes) for name in sorted(piece.names) if name in there}
    try:
        leaves = tf.nest.flatten(values)
    except (TypeError, ValueError):  # a structure that TensorFlow does not take
        return None
    if any(isinstance(one, tf.TensorArray) for one in leaves):
        return None
    data = tuple(position for position, one in enumerate(leaves) if _is_data(one, witness))
    return _Moment(frame.f_globals, values, leaves, data)


def _copied(value: Any, changed: bool) -> Any:
    """A container as it is now, and an object of which attributes are set."""
    if changed or isinstance(value, list | dict | set):
        try:
            return copy.copy(value)
        except Exception:  # of any kind: it does not want to be copied
            return value
    return value


def _is_data(value: Any, witness: Refused) -> bool:
    if isinstance(value, tf.Variable) or not tf.is_tensor(value):
        return False
    parts = tf.nest.flatten(value, expand_composites=True)
    return any(witness.on_data(one) for one in parts)


@dataclass
class Alone:
    """Compiles statements by themselves. `around`: what runs them eagerly; `sets`: the numbers of its sets of values;
    `state`: the variables that a call may change."""

    around: Partly
    sets: Sequence[int]
    state: Callable[[], list[Any]]
    tools: Instruments

    def seen(self, path: str, lines: Iterable[Line], known: Sequence[Observation]) -> Iterator[Observation]:
        """What statements on some lines of a file show by themselves, where nothing is `known` of them."""
        told = {(spot.path, spot.line) for one in known for spot in one.spots}
        numbers = frozenset(line for here, line in lines if here == path)
        hidden = {
            piece: any((path, line) in told for line in range(piece.lines[0], piece.lines[1] + 1))
            for piece in pieces(path, numbers, converted=self.around.autograph)
        }
        wanted = sorted((one for one in hidden if one.parts or not hidden[one]), key=hidden.__getitem__)[:_MOST]
        if not wanted:
            return
        moments = _Moments(path, wanted)
        found = self._moments(moments, [partial(self.around.ready, number) for number in self.sets])
        further = self._moments(moments, self.around.extremes) if self.tools.extreme else {}
        limit = Limit(self.tools.plan.seconds)
        for piece in (one for one in wanted if one in found):
            if limit.over:
                return
            seen = [] if hidden[piece] else list(self._of(path, piece, found[piece], further.get(piece, ())))
            if not (hidden[piece] or seen) and (longer := _with_what_it_takes(piece, found)) is not None:
                seen = list(self._of(path, longer, found[longer], further.get(longer, ())))
            yield from seen
            told = {_told(one) for one in (*known, *seen)}
            for part in piece.parts if hidden[piece] or seen else ():
                if limit.over:
                    return
                here = list(self._of(path, part, found[piece], ()))
                around = self._around(part, found[piece]) if here else ()
                if around:
                    here += self._of(path, replace(piece, text=part.rest), around, ())
                yield from (one for one in here if _told(one) not in told)
                told.update(map(_told, here))

    def _around(self, part: Piece, found: Sequence[_Moment]) -> Sequence[_Moment]:
        """What holds where the statement around a part begins that has been run; nothing where that gives no tensor."""
        several = []
        for moment in found:
            with TemporaryDirectory(prefix="xlalint-part-") as folder, backend.eager_execution():
                try:
                    [value] = _function(Path(folder, "part.py"), part, moment)(*moment.inputs)
                except Exception:  # of any kind: it does not run by itself, or gives several tensors or none
                    return ()
            several.append(moment.with_operand(value))
        return several

    def _moments(
        self, moments: _Moments, calls: Iterable[Callable[[], tuple[Any, Callable[[], Any]]]]
    ) -> Mapping[Piece, Sequence[_Moment]]:
        """What holds where statements begin, in each of several calls."""
        found: dict[Piece, list[_Moment]] = {}
        for ready in calls:
            given, call = ready()
            tensors = [one for one in tf.nest.flatten(given, expand_composites=True) if tf.is_tensor(one)]
            here = moments.run(call, Refused(self.tools.user_lines, tensors, self.around.autograph))
            for piece, moment in here.items():
                found.setdefault(piece, []).append(moment)
        return found

    def _of(
        self, path: str, piece: Piece, found: Sequence[_Moment], further: Sequence[_Moment]
    ) -> Iterator[Observation]:
        """What a statement shows. `further`: what holds there where the values are extreme."""
        if not (usable := _usable(found)):
            return  # nothing of it depends on data
        first = usable[0]
        extremes = [partial(_of_extreme, one) for one in further if one.like(first)]
        with TemporaryDirectory(prefix="xlalint-piece-") as folder:
            file = Path(folder, f"{Path(path).stem}.py")
            try:
                function = _function(file, piece, first)
            except (SyntaxError, ValueError):
                return
            user_lines = self.tools.user_lines
            user_lines.moved[str(file)] = (path, 2 - piece.lines[0])
            driven = Driven(
                call=function,
                make=lambda number, variant: _arguments(usable[number]),
                value_sets=len(usable),
                variants=1,
                state=self.state,
                autograph=self.around.autograph,
                how="",
                inputs=(),
                of=_ALONE,
                extremes=extremes,
            )
            plan = replace(self.tools.plan, gradients=False)
            quiet = Progress(lambda stage: self.tools.progress.note("statements"), lambda outcome: None)
            lines = range(piece.first or piece.lines[0], piece.last + 1)
            here = {(path, line) for line in lines} if extremes or piece.first else ()
            tools = replace(self.tools, plan=plan, progress=quiet, wanted=self.tools.wanted.intersection(here))
            meter = Meter(driven, driven, tools)
            try:
                seen = meter.measure().observations
            except EagerError:
                return
            finally:
                del user_lines.moved[str(file)]
        for one in seen:
            inside = one.spots and one.spots[0].path == path and one.spots[0].line in lines
            if (
                inside
                and one.kind in _KINDS
                and one.per != "shape"
                and not any(word in one.text for word in OUT_OF_SCOPE)
            ):
                yield one if _ALONE in one.text else replace(one, text=f"{_ALONE}: {one.text}")


def _usable(found: Sequence[_Moment]) -> list[_Moment]:
    """The moments that one function can be called with, which differ in the values of data; none where it has none."""
    if not (here := _of_same_data(found)):
        return []
    first, *others = here
    return [first, *filter(None, (one if one.like(first) else first.taking(one) for one in others))]


def _of_same_data(found: Sequence[_Moment]) -> list[_Moment]:
    """Those in which the same names hold data: a branch that data chooses may bind a number in one call, and a tensor
    in another."""
    several = [[other for other in found if other.data == one.data] for one in found if one.data]
    return max(several, key=lambda alike: (len(alike) > 1, len(alike[0].data)), default=[])


def _with_what_it_takes(piece: Piece, found: Mapping[Piece, Sequence[_Moment]]) -> Piece | None:
    """The statement with as many of those before it as it takes until the most of its moments differ in values alone:
    where tensors come to it in other shapes for other values, it cannot be run with several. None where that is not
    so."""
    best = max((piece, *piece.longer), key=lambda one: _alikes(one, found))
    return None if best is piece else best


def _alikes(piece: Piece, found: Mapping[Piece, Sequence[_Moment]]) -> int:
    """In how many calls a statement begins with the same but for the values of data."""
    here = _of_same_data(found.get(piece, ()))
    return sum(one.like(here[0]) for one in here)


def _told(observation: Observation) -> tuple[Any, ...]:
    """What is told once of a place."""
    return observation.spots[:1], observation.kind, observation.ops


def _arguments(moment: _Moment) -> Arguments:
    return tuple(moment.inputs), {}


def _of_extreme(moment: _Moment, variant: int) -> Arguments:
    return _arguments(moment)


def _function(file: Path, piece: Piece, moment: _Moment) -> Callable[..., Any]:
    """The statement as a function of the tensors that are computed from data."""
    file.write_text(piece.of(list(moment.values)), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update({name: value for name, value in moment.space.items() if not name.startswith("__")})
    spec.loader.exec_module(module)
    statement = getattr(module, NAME)

    @_not_converted
    def values(inputs: Sequence[Any]) -> dict[str, Any]:
        leaves = [_constant(one) for one in moment.leaves]
        for position, one in zip(moment.data, inputs, strict=True):
            leaves[position] = one
        found: dict[str, Any] = tf.nest.pack_sequence_as(moment.values, leaves)
        return found

    @_not_converted
    def results(given: Any) -> list[Any]:
        return [one for one in tf.nest.flatten(given) if tf.is_tensor(one) and not isinstance(one, tf.Variable)]

    def function(*inputs: Any) -> Any:
        return results(statement(**values(inputs)))

    return function


def _constant(value: Any) -> Any:
    """What is known while a function is traced, as that function knows it."""
    if isinstance(value, ops.EagerTensor) and value.dtype not in (tf.resource, tf.variant):
        return tf.constant(value._numpy(), value.dtype)
    return value
