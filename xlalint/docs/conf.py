"""The configuration of Sphinx, which `xlalint.docs.build` runs over the pages of this folder and those it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from pygments.lexers.special import TextLexer

from xlalint import __version__
from xlalint.docs import calls
from xlalint.findings.site import ADDRESS

if TYPE_CHECKING:
    from docutils.frontend import Values
    from sphinx.application import Sphinx
    from sphinx.builders.html import StandaloneHTMLBuilder

project = "xlalint"
author = "the xlalint authors"
copyright = author
version = release = __version__
extensions = ["myst_parser", "sphinx_click", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
smartquotes = False  # `--fix` is no dash
default_role = "code"  # docstrings write code between single backticks, as Markdown has it
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": False,
}
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {f"xla/{folder}/*": [] for folder in ("functions", "classes", "operations")}
html_title = "xlalint"
html_baseurl = ADDRESS or ""
html_static_path = [str(Path(__file__).with_name("static"))]
html_css_files = ["site.css"]
html_js_files = ["calls.js"]
html_show_sourcelink = False
html_copy_source = False
html_use_index = False

_ABOVE = {"link": "../index.html", "title": "Can XLA compile it?"}  # the page above those of calls


def _facts(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The pages of calls and operations, which are HTML already; the search finds them by their names."""
    builder = cast("StandaloneHTMLBuilder", app.builder)

    @cache
    def toctree(**options: Any) -> str:
        """The contents beside a page: the same for all pages of one depth, and slow to make."""
        return builder._get_local_toctree("xla/functions/any", **options)

    only = re.compile(app.config.calls_with_pages)
    settings = get_default_settings()
    for page in calls.pages():
        if only.search(page.title) is None:
            continue
        _index(builder, page, settings)
        context = {"title": page.title, "body": page.body, "toctree": toctree, "parents": [_ABOVE]}
        yield page.name, context, "page.html"


def _index(builder: StandaloneHTMLBuilder, page: calls.Page, settings: Values) -> None:
    title = nodes.title(text=page.title)
    document = new_document(page.name, settings)
    document += nodes.section("", title)
    builder.env.all_docs.setdefault(page.name, 0)  # the index drops what is no document
    builder.env.titles[page.name] = title
    builder.index_page(page.name, document, page.title)


def setup(app: Sphinx) -> None:
    """Registers what the pages need."""
    app.add_lexer("mermaid", TextLexer)  # a diagram of rooms, which is read as text
    app.add_config_value("calls_with_pages", "", "html", str)
    app.connect("html-collect-pages", _facts)
