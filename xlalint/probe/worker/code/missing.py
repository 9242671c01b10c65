"""What stands for packages that are not installed, so that code can be imported which names them and does not use them.

Whatever is made of one while a module is imported stands for it, too, as does the one item that each has there, and
what is decorated with one stays as it is; any use afterwards raises MissingError, so that nothing is ever taken for
what the package would do.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn, TypeVar

from xlalint.sources.packages import INSTALLED

from .blame import by_keras
from .read_files import fetched

_MOST: Final = 20  # packages that something stands in for in one file
_NAME: Final = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
# Without these nothing of the code is what it would be.
_NEEDED: Final = re.compile(r"(?:tf_)?keras\b|tensorflow(?:$|\.contrib\b|.*\.keras\b)|jax\b|numpy\b")
_T = TypeVar("_T")


class MissingError(ImportError):
    """Something of a package is used that is not installed."""


class _Lacking:
    """The base of the classes that derive from what is missing."""

    def __init__(self, *positional: Any, **keywords: Any) -> None:
        raise MissingError(f"a base of `{type(self).__qualname__}` is not installed")


class Missing:
    """Something of a package that is not installed."""

    _name: str

    def __init__(self, name: str) -> None:
        vars(self)["_name"] = name

    def __repr__(self) -> str:
        return f"<missing {self._name}>"

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (type(self._name.rpartition(".")[2], (_Lacking,), {}),)  # a class may have several of them

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        if _importing and len(positional) == 1 and not keywords and _is_decorated(positional[0]):
            return positional[0]
        return self._made()

    def __iter__(self) -> Iterator[Missing]:
        return iter((self._made(),))

    def __fspath__(self) -> str:
        return repr(self._made())

    def __eq__(self, other: object) -> bool:
        if not _importing:
            self._used()
        return self is other

    __hash__ = object.__hash__

    def _made(self, other: Any = None) -> Missing:
        if not _importing:
            self._used()
        return Missing(self._name)

    __getitem__ = __or__ = __ror__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _made
    __truediv__ = __rtruediv__ = __neg__ = __matmul__ = __rmatmul__ = _made

    def _used(self, *positional: Any) -> NoReturn:
        raise MissingError(f"`{self._name}` is not installed, and this uses it")

    __bool__ = __len__ = __int__ = __float__ = __index__ = __instancecheck__ = __contains__ = _used
    __enter__ = __lt__ = __gt__ = __le__ = __ge__ = __array__ = _used


def _is_decorated(thing: Any) -> bool:
    """Whether a function or class is given to a decorator: the code around it has no name for it yet."""
    here = inspect.isfunction(thing) or inspect.isclass(thing)
    return here and all(value is not thing for value in sys._getframe(2).f_locals.values())


class _MissingModule(ModuleType):
    """A module of a package that is not installed."""

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


_importing: list[None] = []  # one for each import that is under way


def imported_without(run: Callable[[], _T], near: Sequence[Path] = ()) -> tuple[_T, tuple[str, ...]]:
    """What an import gives, and what it was done without. Raises what it raises for another reason. `near`: folders of
    the project, in one of which a module may lie: its programs may be started in any of them."""
    left: list[str] = []
    undo: list[Callable[[], None]] = []
    known, again = frozenset(sys.modules), False
    _importing.append(None)
    try:
        while True:
            try:
                return run(), tuple(left)
            except Exception as error:  # of any kind: an old package may not know what is installed beside it
                if fetched(error, near):
                    continue
                if isinstance(error, ImportError) and (folder := _holder(error, near)) is not None:
                    sys.path.append(folder)
                    importlib.invalidate_caches()
                    continue
                name, put = _lacked(error, near)
                packages = {one.partition(".")[0] for one in (*left, name)}
                if put is None or name in left or len(packages) > _MOST:
                    if again or not left:
                        raise
                    again = True  # what ran before the first failure may keep that it ran: a register of names
                    _forget_since(known, near)
                    continue
                left.append(name)
                undo.append(put())
                again = False
    finally:
        _importing.pop()
        for one in reversed(undo):
            one()


def _forget_since(known: Container[str], near: Sequence[Path]) -> None:
    """Take out the modules of the project that are imported since some were known."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in known or file is None or _is_of_others(Path(file), near):
            continue
        if any(folder in Path(file).parents for folder in near):
            _forget(name, module)


def _holder(error: ImportError, near: Sequence[Path]) -> str | None:
    """The folder of the project that has the module which an import lacks, where it is not looked into yet; one around
    it in which the file itself is in a folder of that name."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if not name or "." in name or _NEEDED.match(name):
        return None
    folders = [str(one) for one in near if (one / f"{name}.py").is_file() or _has_files(one / name)]
    folders += [str(one.parent) for here in near[:1] for one in (here, *here.parents) if one.name == name]
    return next((one for one in folders if one not in sys.path), None)


def _has_files(folder: Path) -> bool:
    """Whether a folder is a package, which may have no files but in folders of its own."""
    return any(chain(folder.glob("*.py"), folder.glob("*/*.py")))


def _lacked(error: Exception, near: Sequence[Path]) -> tuple[str, Callable[[], Callable[[], None]] | None]:
    """What an import lacks, and what puts something in its place; None where nothing can stand for it."""
    if isinstance(error, MissingError) or (isinstance(error, ImportError) and "partially initialized" in str(error)):
        return "", None
    if isinstance(error, ModuleNotFoundError):
        module = error.name or ""
        lost = not module or _NEEDED.match(module) or module in sys.modules
        return module, None if lost else partial(_module, module)
    found = _NAME.search(str(error)) if isinstance(error, ImportError) else None
    if found is not None and not _NEEDED.match(found[2]) and (holder := sys.modules.get(found[2])) is not None:
        return f"{found[2]}.{found[1]}", partial(_attribute, holder, found[1])
    package = _broken(error, near)
    return package, partial(_module, package) if package else None


def _broken(error: Exception, near: Sequence[Path]) -> str:
    """The installed package that code imports and that raises this while it is imported, for a reason of its own; empty
    where there is none."""
    if by_keras(error):
        return ""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name == "<module>"]
    names = [str(one.f_globals.get("__name__")) for one in frames if _is_of_others(Path(one.f_code.co_filename), near)]
    if not names or any(_NEEDED.match(one.partition(".")[0]) for one in names):
        return ""
    package = names[0].partition(".")[0]
    for name in [one for one in sys.modules if one == package or one.startswith(f"{package}.")]:
        del sys.modules[name]
    return package


def _is_of_others(file: Path, near: Sequence[Path]) -> bool:
    inside = (file.relative_to(folder).parts for folder in near if folder in file.parents)
    return not any(set(INSTALLED).isdisjoint(parts) for parts in (file.parts, *inside))


def _module(name: str) -> Callable[[], None]:
    made = _MissingModule(name)
    made.__path__ = []  # its submodules are missing by themselves
    made.__spec__ = importlib.util.spec_from_loader(name, None)
    sys.modules[name] = made
    return lambda: _forget(name, made)


def _forget(name: str, made: ModuleType) -> None:
    if sys.modules.get(name) is made:
        del sys.modules[name]
    parent, _, last = name.rpartition(".")
    if parent and getattr(sys.modules.get(parent), last, None) is made:
        delattr(sys.modules[parent], last)


def _attribute(holder: ModuleType, name: str) -> Callable[[], None]:
    setattr(holder, name, Missing(f"{holder.__name__}.{name}"))
    return lambda: delattr(holder, name)
