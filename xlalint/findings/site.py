"""Where the documentation is, page by page: on the web, once it is published, and in a folder that holds a built copy.

Everything that links to the documentation (SARIF, the language server, rdjson, `xlalint facts --open`) asks here.
"""

from __future__ import annotations

from typing import Final

from .rule_files import SHIPPED

# The address of the published site, which ends in a slash; None until there is one. `project.urls` in pyproject.toml
# names the same.
ADDRESS: Final[str | None] = None

FRONT: Final = "index.html"
CALLS: Final = "xla/index.html"  # "Can XLA compile it?": all calls and operations


def rule_page(code: str) -> str:
    """The page of a rule, relative to the site: "rules/xla203.html"."""
    return f"rules/{code.lower()}.html"


def call_page(name: str) -> str:
    """The page of a call by its canonical name. Classes have a folder of their own: `keras.layers.Add` and
    `keras.layers.add` are one file where file names ignore case."""
    last = name.rpartition(".")[2]
    return f"xla/{'classes' if last[:1].isupper() else 'functions'}/{name}.html"


def operation_page(name: str) -> str:
    """The page of an operation of TensorFlow's registry."""
    return f"xla/operations/{name}.html"


def address_of(page: str) -> str | None:
    """The address of a page; None while the site is not published."""
    return None if ADDRESS is None else f"{ADDRESS}{page}"


def address_of_rule(code: str) -> str | None:
    """The address of a rule's page; None also for rules of others, whose pages are not on the site."""
    return address_of(rule_page(code)) if code.startswith(SHIPPED) else None
