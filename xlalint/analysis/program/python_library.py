"""Python's own library, as the files in `python` have it: the interpreter executes them, as it does the code of users.

They say what each function does with what it is passed, in little code: most iterators are tuples of all that they
yield, and `hash(None)` is a number that is not known. A loop over what is known goes through each element by itself.
"""

from __future__ import annotations

import builtins
from functools import cache
from pathlib import Path
from typing import Final

from ..domain.values import Api

BUILTINS: Final = {name: Api(f"builtins.{name}") for name in dir(builtins)}
# The classes of containers that projects derive their own from, and where their methods are written down.
CONTAINERS: Final = {
    "builtins.dict": "collections.OwnDict",
    "collections.OrderedDict": "collections.OwnDict",
    "collections.defaultdict": "collections.OwnDict",
    "collections.UserDict": "collections.UserDict",
    "builtins.list": "collections.OwnList",
    "collections.abc.Mapping": "collections.Mapping",
    "collections.abc.MutableMapping": "collections.Mapping",
    "typing.Mapping": "collections.Mapping",
    "collections.UserList": "collections.UserList",
}
# Objects of other libraries whose attributes are settings, all much alike.
_SETTINGS: Final = {
    **dict.fromkeys(
        (
            *("addict.Dict", "attrdict.AttrDict", "box.Box", "dotmap.DotMap", "easydict.EasyDict", "munch.Munch"),
            *("fvcore.common.config.CfgNode", "yacs.config.CfgNode"),
            *(
                f"ml_collections.{module}{name}"
                for module in ("", "config_dict.", "config_dict.config_dict.")
                for name in ("ConfigDict", "FrozenConfigDict")
            ),
        ),
        "easydict.EasyDict",
    ),
    "ml_collections.config_dict.create": "easydict.create",
}
_FOLDER: Final = Path(__file__).parent / "python"


@cache
def _modules() -> frozenset[str]:
    return frozenset(file.stem for file in _FOLDER.glob("*.py"))


def may_be_written(name: str) -> bool:
    """Whether a canonical name is of a module that is written down."""
    return name in _SETTINGS or name.partition(".")[0] in _modules()


def path_of(module: str) -> Path:
    """The file of a module."""
    return _FOLDER / f"{module}.py"


def module_and_name(name: str) -> tuple[str, str]:
    """The module of a canonical name, and what it is called there: `chain.from_iterable` is `chain_from_iterable`."""
    module, _, inner = _SETTINGS.get(name, name).partition(".")
    return module, inner.replace(".", "_")
