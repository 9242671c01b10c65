"""The built site holds together, and a person finds in it what is asked, on a screen of any width, without a server."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from tests.documentation.conftest import WITH_PAGES
from xlalint.docs import calls
from xlalint.docs.build import DocumentationError, build
from xlalint.facts import tables
from xlalint.findings.codes import rule_names
from xlalint.findings.site import CALLS, call_page, operation_page, rule_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

WIDTHS = (1366, 390)  # of a desk and of a phone, the last the hardest
LOOKED_AT = (
    "index.html",
    "tutorial.html",
    "tpu.html",
    "how-to/editors.html",
    "rules/index.html",
    "rules/xla203.html",
    "xla/constructs.html",
    "xla/functions/tf.image.crop_and_resize.html",
    "xla/operations/TopKV2.html",
    "reference/commands.html",
    "reference/api.html",
    "reference/settings.html",
    "measured.html",
    f"{CALLS}?name=tf.image.re",  # all rows at once take axe-core minutes
)


class Links(HTMLParser):
    """The anchors of a page, and what it links to or loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is not None and name == "id":
                self.anchors.add(value)
            elif value is not None and name in ("href", "src") and (tag, name) != ("link", "href"):
                self.links.append(value)
                self.loaded += [value] if name == "src" else []


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    """All pages of the site, without the templates that the theme leaves among its files; of the calls that Sphinx
    writes no page of, what stands between head and foot."""
    written = [page for page in site.rglob("*.html") if "_static" not in page.relative_to(site).parts]
    texts = {page: page.read_text("utf-8") for page in written}
    for made in calls.pages():
        texts.setdefault(site / f"{made.name}.html", made.body)
    found = {page: Links() for page in texts}
    for page, parser in found.items():
        parser.feed(texts[page])
    return found


def test_the_links_of_a_page_are_whole_and_nothing_is_loaded_from_the_network(
    site: Path, pages: dict[Path, Links]
) -> None:
    loaded = [link for parsed in pages.values() for link in parsed.loaded if urlsplit(link).netloc]
    assert loaded == []
    files = {file for file in site.rglob("*") if file.suffix != ".html"}
    broken = []
    for page, parsed in pages.items():
        for link in parsed.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(normpath(page.parent / unquote(parts.path))) if parts.path else page
            exists = target in pages or target in files
            anchored = not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
            if not exists or not anchored:
                broken.append((page.relative_to(site).as_posix(), link))
    assert broken == []
    assert len(pages) > 3900


def test_every_rule_call_and_operation_has_a_page(site: Path) -> None:
    wanted = [rule_page(code) for code in rule_names() if code.startswith("XLA")]
    of_calls = {call_page(name): name for name in tables.api_names()}
    of_calls |= {operation_page(name): name for name in tables.op_names()}
    assert {f"{page.name}.html" for page in calls.pages()} == of_calls.keys()
    wanted += (page for page, name in of_calls.items() if re.search(WITH_PAGES, name))
    assert [page for page in wanted if not (site / page).is_file()] == []
    assert len({page.lower() for page in (*wanted, *of_calls)}) == len({*wanted, *of_calls})
    listed = (site / "rules/index.html").read_text("utf-8")
    assert [name for code, name in rule_names().items() if f">{code}<" not in listed or name not in listed] == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": WIDTHS[-1], "height": 900})
    yield opened
    opened.close()


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_fits_and_is_accessible(name: str, page: Page, site: Path) -> None:
    """Every page on both widths; axe-core, which takes most of the time, on the last of them."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    path, _, query = name.partition("?")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{(site / path).as_uri()}?{query}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, width
    assert said == []
    page.evaluate("document.querySelectorAll('tr[hidden]').forEach((row) => row.remove())")  # axe would walk them all
    found = axe.run(page, options={"resultTypes": ["violations"]})
    told = [(one["id"], node["html"][:160]) for one in found.response["violations"] for node in one["nodes"][:3]]
    assert told == [], json.dumps(told, indent=1)


def test_a_call_is_found_by_part_of_its_name_and_by_another_spelling(page: Page, site: Path) -> None:
    page.goto((site / CALLS).as_uri())
    page.fill("#calls-name", "crop_and")
    shown = page.locator("#calls tbody tr:visible th")
    assert "tf.image.crop_and_resize" in shown.all_inner_texts()
    page.fill("#calls-name", "tf.math.add")
    assert "tf.add" in shown.all_inner_texts()
    page.fill("#calls-name", "tf.image.crop_and_resize")
    page.select_option("#calls-show", "yes")
    assert shown.count() == 0
    page.select_option("#calls-show", "no")
    assert shown.all_inner_texts() == ["tf.image.crop_and_resize"]
    page.reload()
    assert shown.all_inner_texts() == ["tf.image.crop_and_resize"]
    shown.locator("a").click()
    assert page.locator("h1").inner_text() == "tf.image.crop_and_resize"
    assert "tf.image.resize(" in page.locator("#instead").inner_text()


def test_the_search_finds_calls_and_rules_without_a_server(page: Page, site: Path) -> None:
    for asked, wanted in (("crop_and_resize", "tf.image.crop_and_resize"), ("boolean-mask", "XLA201 boolean-mask")):
        page.goto(f"{(site / 'search.html').as_uri()}?q={asked}")
        page.wait_for_selector("#search-results li a")
        assert wanted in page.locator("#search-results li a").all_inner_texts()


def test_sphinx_and_nothing_else_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DocumentationError, match=r"pip install 'xlalint\[docs\]'"):
        build(tmp_path)
