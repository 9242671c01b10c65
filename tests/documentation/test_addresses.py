"""The address of the site stands in one place, and what links to it takes it from there."""

from __future__ import annotations

import json
import tomllib
import webbrowser
from pathlib import Path

import pytest

from tests import ROOT
from tests.commands import ran
from tests.samples import HAZARD
from xlalint import Settings, __version__, lint_source
from xlalint.findings import site
from xlalint.server.documents import Document, Part
from xlalint.server.positions import Text
from xlalint.server.show import Shown

ADDRESS = "https://example.org/xlalint/"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "ADDRESS", ADDRESS)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What a browser was asked to open; nothing is built here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    asked: list[str] = []
    monkeypatch.setattr(webbrowser, "open", asked.append)
    return asked


def reported(capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str) -> str:
    (tmp_path / "step.py").write_text(HAZARD)
    return ran(capsys, "--isolated", "--no-cache", "--output-format", form, str(tmp_path / "step.py"))[1]


@pytest.mark.usefixtures("published")
def test_reports_link_to_the_pages_of_rules(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    driver = json.loads(reported(capsys, tmp_path, "sarif"))["runs"][0]["tool"]["driver"]
    assert driver["informationUri"] == f"{ADDRESS}index.html"
    assert {rule["helpUri"] for rule in driver["rules"]} == {
        f"{ADDRESS}rules/{rule['id'].lower()}.html" for rule in driver["rules"]
    }
    for one in json.loads(reported(capsys, tmp_path, "rdjson"))["diagnostics"]:
        assert one["code"]["url"] == f"{ADDRESS}rules/{one['code']['value'].lower()}.html"


@pytest.mark.usefixtures("published")
def test_an_editor_links_to_the_page_of_a_rule() -> None:
    part = Part("file:///step.py", None, Text(HAZARD, "utf-16"))
    document = Document(part.uri, Path("/step.py"), None, HAZARD.encode(), (part,))
    [finding] = lint_source(HAZARD, "/step.py", Settings()).findings
    shown = Shown(document, (finding,), (), Path("/")).diagnostic(finding, part)
    assert shown.code_description is not None
    assert shown.code_description.href == f"{ADDRESS}rules/{finding.code.lower()}.html"


@pytest.mark.parametrize("form", ["sarif", "rdjson"])
def test_without_a_site_nothing_is_linked(form: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = reported(capsys, tmp_path, form)
    assert not any(key in text for key in ("informationUri", "helpUri", '"url"'))


@pytest.mark.usefixtures("published")
def test_rules_of_others_have_no_page_on_the_site() -> None:
    assert site.address_of_rule("XLA201") == f"{ADDRESS}rules/xla201.html"
    assert site.address_of_rule("ACME101") is None


def test_the_metadata_name_the_same_address() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    assert urls.get("Documentation") == site.ADDRESS


def test_the_documentation_is_built_once_and_opened(
    opened: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    front = tmp_path / "data" / "xlalint" / f"docs-{__version__}" / "index.html"
    front.parent.mkdir(parents=True)
    front.write_text("<!doctype html>")
    assert ran(capsys, "docs") == (0, f"{front}\n", "")
    assert ran(capsys, "docs", "--no-open")[0] == 0
    assert opened == [front.as_uri()]
    page = front.parent / "xla" / "functions" / "tf.image.resize.html"
    assert ran(capsys, "facts", "--open", "tf.image.resize") == (0, f"{page.as_uri()}\n", "")
    assert opened[1:] == [page.as_uri()]


def test_a_page_is_opened_on_the_web_where_nothing_is_built(
    opened: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, said = ran(capsys, "facts", "--open", "TopKV2")
    assert (code, opened) == (2, [])
    assert "xlalint docs" in said
    monkeypatch.setattr(site, "ADDRESS", ADDRESS)
    assert ran(capsys, "facts", "--open", "TopKV2")[0] == 0
    assert opened == [f"{ADDRESS}xla/operations/TopKV2.html"]


@pytest.mark.parametrize("more", [(), ("--constructs",)])
def test_open_needs_a_name(more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, said = ran(capsys, "facts", "--open", *more)
    assert code == 2
    assert "--open" in said
