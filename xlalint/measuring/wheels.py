"""Reads from wheels which names TensorFlow and Keras have had on a program's way to a TPU (`wheels.json`).

No interpreter of today runs the older versions, and none is needed: a wheel lists the public API in the packages
`_api` of TensorFlow, `keras/api` (Keras 2) and `keras/_tf_keras` (Keras 3), each name by an import. The methods of
strategies and the parameters of `tf.function` are read from where they are defined. A folder holds the wheels, one of
`tensorflow-cpu` for each version and those of Keras, as `pip download --no-deps` leaves them.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final
from zipfile import ZipFile

from xlalint.facts.names import canonical
from xlalint.facts.tables import numbers
from xlalint.facts.wheels import MODULES, STRATEGY

_WHEEL: Final = re.compile(r"(?P<name>tensorflow_cpu|keras)-(?P<version>[\d.]+)-")
_TF: Final = ("tensorflow/_api/v2/", "tensorflow/_api/v2/compat/v1/")
# Where the API of Keras is listed, by its major version: in a wheel of its own or, up to 2.5, in TensorFlow's.
_KERAS: Final = {
    2: ("keras/api/_v2/keras/", "keras/api/_v1/keras/"),
    3: ("keras/_tf_keras/keras/",),
}
_KERAS_WITHIN: Final = tuple(f"tensorflow/python/{folder}" for folder in _KERAS[2])
_OWN_KERAS: Final = (2, 6)  # the first TensorFlow whose Keras is a package of its own
_OF_STRATEGIES: Final = re.compile(r"tensorflow/python/distribute/\w*(?:strategy|distribute_lib)\w*\.py")
_STRATEGY_CLASS: Final = re.compile(r"\w*Strategy(?:V[12]|Base)?")
_LAZY: Final = {"tf.estimator": re.compile(r"[\"']tensorflow_estimator\.")}  # loaded when it is asked for
_LAZY_FILES: Final = ("tensorflow/__init__.py", "tensorflow/_api/v2/compat/v1/__init__.py")


def measure(folder: Path) -> str:
    """The text of `wheels.json`, from the wheels in a folder."""
    found: dict[str, dict[str, Path]] = defaultdict(dict)
    for path in folder.glob("*.whl"):
        if named := _WHEEL.match(path.name):
            found[named["name"]][named["version"]] = path
    tensorflows = {".".join(map(str, numbers(full))): (full, path) for full, path in found["tensorflow_cpu"].items()}
    versions = sorted(tensorflows, key=numbers, reverse=True)
    packages, names = {}, defaultdict[str, list[str]](list)
    for version in versions:
        full, path = tensorflows[version]
        packages[version] = {"tensorflow-cpu": full}
        if numbers(version) >= _OWN_KERAS:
            keras = _keras_of(version, found["keras"])
            packages[version]["keras"] = keras
        with ZipFile(path) as wheel:
            here = {*_of_tensorflow(wheel)}
            if numbers(version) < _OWN_KERAS:
                here |= {*_listed(wheel, _KERAS_WITHIN, "keras")}
        if numbers(version) >= _OWN_KERAS:
            with ZipFile(found["keras"][keras]) as wheel:
                here |= {*_listed(wheel, _KERAS[numbers(keras)[0]], "keras")}
        for name in {canonical(name) for name in here}:
            names[name].append(version)
    rows = {name: _spans(versions, having) for name, having in sorted(names.items())}
    table = {"versions": versions, "packages": packages, "names": rows}
    return json.dumps(table, separators=(",", ":"), indent=0) + "\n"


def _keras_of(version: str, wheels: Mapping[str, Path]) -> str:
    """The Keras that runs with a TensorFlow: of the same number, or the newest Keras 3."""
    same = [keras for keras in wheels if numbers(keras) == numbers(version)]
    return next(iter(same), None) or max(wheels, key=numbers)


def _spans(versions: Sequence[str], having: Sequence[str]) -> list[list[str]]:
    """The versions that have a name, as the first and the last of those that follow each other; oldest first."""
    spans: list[list[str]] = []
    for version in reversed(versions):
        if version not in having:
            continue
        place = versions.index(version)
        if spans and versions.index(spans[-1][1]) == place + 1:
            spans[-1][1] = version
        else:
            spans.append([version, version])
    return spans


def _of_tensorflow(wheel: ZipFile) -> Iterator[str]:
    yield from _listed(wheel, _TF, "tf")
    files = {*wheel.namelist()}
    for name, shows in _LAZY.items():
        if any(shows.search(_text(wheel, file)) for file in _LAZY_FILES if file in files):
            yield name
    for file in filter(_OF_STRATEGIES.fullmatch, files):
        for node in ast.walk(ast.parse(_text(wheel, file))):
            if isinstance(node, ast.ClassDef) and _STRATEGY_CLASS.fullmatch(node.name):
                yield from (f"{STRATEGY}.{member}" for member in _members(node) if not member.startswith("_"))


def _members(node: ast.ClassDef) -> Iterator[str]:
    for inner in ast.walk(node):
        match inner:
            case ast.FunctionDef(name=name):
                yield name
            case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def _listed(wheel: ZipFile, roots: Sequence[str], prefix: str) -> Iterator[str]:
    """The names of the modules that matter, and what each of the packages below a root imports."""
    for file in wheel.namelist():
        root = next((root for root in sorted(roots, key=len, reverse=True) if file.startswith(root)), None)
        path = PurePosixPath(file)
        if root is None or path.name != "__init__.py":
            continue
        module = ".".join((prefix, *path.relative_to(root).parent.parts))
        if module.startswith(("tf.compat", "tf.keras")) or not MODULES.match(f"{module}."):
            continue
        yield module
        for node in ast.parse(_text(wheel, file)).body:
            if isinstance(node, ast.ImportFrom | ast.Import):
                yield from (f"{module}.{it.asname or it.name}" for it in node.names if not _is_private(it))


def _is_private(name: ast.alias) -> bool:
    return (name.asname or name.name).startswith("_")


def _text(wheel: ZipFile, file: str) -> str:
    return wheel.read(file).decode("utf-8")
