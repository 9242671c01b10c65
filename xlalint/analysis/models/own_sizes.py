"""Pictures and sound that other libraries read from files: each has its own size."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import NONE, STATIC, Array, Sequence, Static, Value, Variation
from ..domain.varying_shapes import READ, sized_by, variations_of
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter

_PICTURES: Final = (
    *("PIL.Image.open", "cv2.imread", "skimage.io.imread", "matplotlib.image.imread", "matplotlib.pyplot.imread"),
    *("imageio.imread", "imageio.v2.imread", "imageio.v3.imread"),
)


def _read(frame: Frame, arguments: Arguments, node: cst.BaseExpression, dtype: str) -> Array:
    """What is read here: of another size each time, if one after the other is, as for each element of a pipeline, and
    it is not one file whose name is written."""
    again = frame.context.pipeline or frame.looped or frame.python_loop > 0
    file = arguments.positional[0] if arguments.positional else None
    one = isinstance(file, Static) and isinstance(file.constant, str)
    again = again and frame.context.kind in NOT_TRACED and not one
    return Array(dtype, varies=(Variation(READ, Location(frame.unit, node)),) if again else ())


def _picture(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return _read(frame, arguments, node, "int")


def _loaded(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`keras.utils.load_img(path, target_size=..)`."""
    return _read(frame, arguments, node, "int") if arguments.keywords.get("target_size", NONE) == NONE else None


def _as_array(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`keras.utils.img_to_array(picture)`, `cv2.cvtColor(picture, code)`."""
    picture = arguments.positional[0] if arguments.positional else None
    return Array("float", varies=variations_of(picture)) if isinstance(picture, Array) else None


def _resized(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`cv2.resize(picture, (width, height))`, or by a factor of what it has."""
    picture, size = arguments.get(0, "src"), arguments.get(1, "dsize")
    if not isinstance(picture, Array):
        return None
    if size in (None, NONE) or {"fx", "fy"} & arguments.keywords.keys():
        return picture
    return _of_size(frame, size, node)


def _reshaped(keyword: str) -> FunctionModel:
    """`resize(picture, size)`; `keyword`: what the size is called."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        return _of_size(frame, arguments.get(1, keyword), node)

    return handle


def _of_size(frame: Frame, size: Value | None, node: cst.BaseExpression) -> Array:
    """A picture of a size, which is another one each time if one of its numbers is."""
    return Array("int", varies=sized_by(size, Location(frame.unit, node)) if frame.context.kind in NOT_TRACED else ())


def _sound(place: int) -> FunctionModel:
    """Samples and their rate, in one order or the other."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        if "duration" in arguments.keywords or "frames" in arguments.keywords:
            return None
        samples = _read(frame, arguments, node, "float")
        return Sequence("tuple", (STATIC, samples) if place else (samples, STATIC))

    return handle


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **dict.fromkeys(_PICTURES, _picture),
    "keras.utils.load_img": _loaded,
    "keras.utils.img_to_array": _as_array,
    "cv2.cvtColor": _as_array,
    "cv2.resize": _resized,
    "skimage.transform.resize": _reshaped("output_shape"),
    **dict.fromkeys(("PIL.Image.new", "PIL.ImageOps.fit", "PIL.ImageOps.pad"), _reshaped("size")),
    "librosa.load": _sound(0),
    "librosa.core.load": _sound(0),
    "soundfile.read": _sound(0),
    "scipy.io.wavfile.read": _sound(1),
}
