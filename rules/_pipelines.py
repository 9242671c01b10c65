"""What an input pipeline needs of the machine that runs Python, which a TPU node does not have: files, and Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xlalint.analysis.domain.kinds import leaves, options
from xlalint.analysis.domain.values import NONE, Instance, Static, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.analysis.library.generators import runs_python
from xlalint.analysis.library.local_paths import begins_locally
from xlalint.analysis.library.strategies import IMAGE_GENERATOR
from xlalint.analysis.program.unread_names import is_unread

from ._strategies import in_block_of, is_local, method_of, path_setting

# Calls that run Python, by their last word.
_PYTHON: Final = frozenset(
    ("from_generator", "numpy_function", "prepare_tf_dataset", "py_func", "py_function", "to_tf_dataset")
)
# The argument that says which files are read; "*0" where it has no name.
_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "tf.data.FixedLengthRecordDataset": ("filenames", "*0"),
    "tf.data.TFRecordDataset": ("filenames", "*0"),
    "tf.data.TextLineDataset": ("filenames", "*0"),
    "tf.data.Dataset.list_files": ("file_pattern", "*0"),
    "tf.data.Dataset.load": ("path", "*0"),
    "tf.data.experimental.CsvDataset": ("filenames", "*0"),
    "tf.data.experimental.load": ("path", "*0"),
    "tf.data.experimental.make_csv_dataset": ("file_pattern", "*0"),
    "tf.io.gfile.glob": ("pattern", "*0"),
    "keras.utils.audio_dataset_from_directory": ("directory", "*0"),
    "keras.utils.image_dataset_from_directory": ("directory", "*0"),
    "keras.utils.text_dataset_from_directory": ("directory", "*0"),
}
# What makes a dataset of paths, and what reads them in the pipeline.
_SLICES: Final = "tf.data.Dataset.from_tensor_slices"
_OPENS: Final = "tf.io.read_file"
_LOADS: Final = "tensorflow_datasets.load"
# The arguments of Keras's loops that may be generators.
_FEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "evaluate": ("x",),
    "fit": ("x", "validation_data"),
    "fit_generator": ("generator", "*0", "validation_data"),  # by its place, since Keras 3 has no such method
    "predict": ("x",),
}
# The methods of a class of batches that make one.
_MAKERS: Final = ("__getitem__", "_get_batches_of_transformed_samples")
# What says that a data set of `tfds` does not lie on this machine, or is in memory.
_ELSEWHERE: Final = frozenset(("batch_size", "builder_kwargs", "try_gcs", "*3"))
_INSTEAD: Final = (
    "use from_tensor_slices for data that fits into memory, TFRecord files in a bucket (gs://..) for the rest"
)
_BUCKET: Final = "read it from a bucket: try_gcs=True for a data set that Google stores, data_dir='gs://..' for another"


@dataclass(frozen=True, slots=True)
class Need:
    """What a call needs, of a pipeline that is used. `reason`: in words; `argument`: the one that needs it, by name;
    `files`: files of this machine, else Python; `fed`: it is a loop of Keras's that is passed Python's batches."""

    step: SetupCall
    reason: str
    argument: str
    files: bool
    fed: bool = False

    @property
    def location(self) -> Location:
        """The argument's, where it is written."""
        return self.step.location.at(self.step.argument_nodes.get(self.argument, self.step.node))

    @property
    def maker(self) -> Location | None:
        """Where a class of the program makes the batches that Keras asks it for."""
        for option in options(self.step.arguments.get(self.argument, NONE)) if self.fed else ():
            methods = map(option.cls.find, _MAKERS) if isinstance(option, Instance) else ()
            if (method := next(filter(None, methods), None)) is not None:
                return method.label
        return None

    @property
    def help(self) -> str:
        """What to write instead."""
        return _BUCKET if self.step.api == _LOADS else _INSTEAD

    @property
    def setting(self) -> str | None:
        """The setting whose default alone says that the files of a call are of this machine."""
        arguments = self.step.arguments
        if self.step.api == _SLICES:
            found = [path_setting(leaf) for leaf in leaves(arguments.get("tensors"))]
            return next(filter(None, found), None) if all(found) else None
        names = ("data_dir",) if self.step.api == _LOADS else _PATHS.get(self.step.api, ())
        return path_setting(next((arguments[name] for name in names if name in arguments), None))


def needs(steps: Sequence[SetupCall]) -> Iterator[Need]:
    """What the pipelines of a program need. Where Keras is passed data, those that nothing uses do not count, and where
    the program places what reads files on its own machine, it has these."""
    here = [step for step in steps if step.api == "tf.device" and any(map(_is_this_machine, step.arguments.values()))]
    fed = any(method_of(step) in _FEEDS for step in steps)
    reads = any(step.api == _OPENS and step.context.pipeline for step in steps)
    for step in steps:
        if reads and _lists_files(step):
            need: Need | None = Need(step, "lists local files, which the pipeline reads", "tensors", files=True)
        else:
            need = _need(step)
        if need is None or (need.files and here and in_block_of(step, here)):
            continue
        if need.fed or not (fed and is_unread(step.location)):
            yield need


def _is_this_machine(device: Value) -> bool:
    """Whether a device is one of the machine that runs Python: "/job:localhost"."""
    return isinstance(device, Static) and "job:localhost" in str(device.constant)


def makes_images(step: SetupCall) -> bool:
    """Whether a call has Keras's image generator make batches, which whoever asks for them waits for."""
    return step.api.startswith(f"{IMAGE_GENERATOR}.")


def _lists_files(step: SetupCall) -> bool:
    """Whether the elements of a dataset are paths of this machine."""
    return step.api == _SLICES and any(map(begins_locally, leaves(step.arguments.get("tensors"))))


def _need(step: SetupCall) -> Need | None:
    method = method_of(step)
    if method in _FEEDS:
        passed = (name for name in _FEEDS[method] if name in step.arguments)
        made = next((name for name in passed if runs_python(step.arguments[name])), None)
        return Need(step, "takes batches that Python makes", made, files=False, fed=True) if made else None
    if method in _PYTHON:
        inside = step.context.pipeline or not method.startswith(("py_func", "numpy_func"))
        return Need(step, "calls Python", "generator", files=False) if inside else None
    if step.api == _LOADS:
        folder = step.arguments.get("data_dir", NONE)
        here = folder == NONE or is_local(folder, step.argument_nodes["data_dir"])
        here = here and not _ELSEWHERE & step.arguments.keys()
        return Need(step, "reads files of this machine", "name", files=True) if here else None
    for name in _PATHS.get(step.api, ()):
        if name in step.arguments and is_local(step.arguments[name], step.argument_nodes[name]):
            return Need(step, "reads local files", name, files=True)
    return None
