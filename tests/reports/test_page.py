"""The page of `xlalint report --html`: nothing in it but what it was made of, and a browser that can use it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest

from tests import ROOT
from tests.samples import FIXABLE, HAZARD
from tests.sources.test_notebooks import notebook, saved
from xlalint.authoring.verdicts import rows
from xlalint.cli import run
from xlalint.findings.findings import (
    Edit,
    Effect,
    Finding,
    FindingContext,
    Fix,
    Note,
    Problem,
    Report,
    Safety,
    Severity,
    Span,
    TrailStep,
    Verdict,
)
from xlalint.linter.rule import all_rules
from xlalint.reports.page.page import whole_page

EXAMPLES: Final = ROOT / "examples"
EVIL: Final = "</script><img src=x onerror='hacked=1'>\"&`<b>`\u202e\x1b"
VOID: Final = ("meta", "input", "col")


class Reader(HTMLParser):
    """Takes a page apart: its elements with their attributes, and the text in each kind of element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        tag = self.open[-1] if self.open else ""
        self.texts.setdefault(tag, []).append(data)
        self.text += data if tag not in ("style", "script") else ""

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def hostile() -> Report:
    """Every text that a page shows tries to be more than that."""
    span = Span(1, 1, 2, 3)
    finding = Finding(
        path=f"{EVIL}/{EVIL}.py",
        span=span,
        code="XLA201",
        name="boolean-mask",
        severity=Severity.ERROR,
        effect=Effect.DIVERGES,
        message=EVIL,
        context=FindingContext("xla", False, (TrailStep(EVIL, 3, EVIL), TrailStep(EVIL, 4, EVIL * 9))),
        help=EVIL,
        notes=(Note(EVIL, span, EVIL),),
        fix=Fix(Safety.UNSAFE, EVIL, (Edit(span, EVIL),), EVIL),
        verdict=Verdict("confirmed", "fails", EVIL, EVIL),
    )
    sketch = Finding(EVIL, span, "XLA900", "syntax-error", Severity.WARNING, None, EVIL, help=EVIL)
    return Report((sketch, finding), (Problem(EVIL, EVIL),), 2, remarks=(EVIL,))


def test_text_stays_text() -> None:
    page = whole_page(hostile(), lambda path, cell: [EVIL, EVIL, EVIL], EVIL)
    plain = whole_page(Report(()), lambda path, cell: [], "x")
    reader = Reader(page)
    assert reader.open == []
    kinds = {tag for tag, _ in reader.elements}
    assert not kinds & {"img", "b\u202e"}
    assert {name for _, attributes in reader.elements for name in attributes if name.startswith("on")} == set()
    assert len(reader.all("script")) == 1
    assert reader.texts["script"] == Reader(plain).texts["script"]
    shown = EVIL.replace("\u202e", "\\u202e").replace("\x1b", "\\x1b")
    assert reader.text.count("<img src=x onerror=") >= 12
    assert shown in reader.text
    assert "\u202e" not in page
    assert "\x1b" not in page


def test_a_rule_s_page_has_what_was_measured_of_its_examples() -> None:
    """The table that `xlalint explain` prints, as one."""
    [rule] = [one for one in all_rules() if one.code == "XLA104"]
    span = Span(1, 1, 1, 2)
    finding = Finding("m.py", span, rule.code, rule.name, Severity.ERROR, Effect.FAILS, "m", None)
    page = whole_page(Report((finding,)), lambda path, cell: [], "x")
    reader = Reader(page)
    assert reader.texts["th"][-3:] == ["example", "CPU", "TPU"]
    found = [re.sub(r"[`\\]", "", row.example + row.cpu + row.tpu) for row in rows(rule)]
    assert len(found) >= 4
    shown = " ".join(reader.text.split())
    assert [row for row in found if row not in shown] == []
    assert any("low < t < high" in row for row in found)
    assert "low &lt; t &lt; high" in page[page.index("<th>example</th>") :]  # text, and no element


def test_nothing_is_asked_of_the_network(tmp_path: Path) -> None:
    page = whole_page(hostile(), lambda path, cell: [], "x")
    reader = Reader(page)
    [policy] = [one["content"] for one in reader.all("meta") if "http-equiv" in one]
    for kind in ("style", "script"):
        digest = hashlib.sha256("".join(reader.texts[kind]).encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in str(policy)
    assert str(policy).startswith("default-src 'none'; ")
    loaded = [name for _, attributes in reader.elements for name in attributes if name in ("src", "srcset", "style")]
    assert loaded == []
    assert not reader.all("link")
    code = "".join(reader.texts["style"] + reader.texts["script"])
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", code)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "step.py").write_text(HAZARD)
    (tmp_path / "train.ipynb").write_bytes(saved(notebook("x = 1", FIXABLE)))
    return tmp_path


def test_a_page_holds_what_there_is_to_say(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--html", "out.html", "--title", "my project"]) == 0
    assert capsys.readouterr().out == "Wrote 2 findings to out.html.\n"
    reader = Reader(Path("out.html").read_text("utf-8"))
    cards = [one for one in reader.all("article") if "finding" in str(one["class"])]
    assert [(one["data-rule"], one["data-package"], one["data-context"]) for one in cards] == [
        ("XLA101", "pkg", "xla"),
        ("XLA104", ".", "xla"),
    ]
    assert {one["id"] for one in reader.all("details") if one.get("id")} == {"XLA101", "XLA104"}
    assert "my project" in reader.texts["h1"]
    assert "cell 3:7:20" in reader.texts["span"]
    assert "return tf.cast(tf.logical_not(m), x.dtype)" in reader.text
    labels = [str(one["aria-label"]) for one in reader.all("svg") if "aria-label" in one]
    assert labels[0] == "How the compiler gets there: step in pkg/step.py:5; XLA101 branch-on-tensor in pkg/step.py:6:8"
    assert run(["report", "--html", "-", "train.ipynb"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--html", "gone/out.html"], "gone/out.html: No such file or directory"),
        (["--html", "out.html", "gone"], "gone: no such file or directory"),
        ([], "Missing option '--html'."),
        (["--html", "out.html", "--diff-base", "HEAD"], "is in no Git repository"),
    ],
)
def test_a_page_that_cannot_be_written(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["report", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_page_without_findings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "clean").mkdir()
    assert run(["report", "--html", "-", "clean"]) == 0
    reader = Reader(capsys.readouterr().out)
    assert "No findings." in reader.texts["p"]
    assert reader.open == []


# -- in a browser -----------------------------------------------------------------------------------------------------

ENTER: Final = "\ue007"
ESCAPE: Final = "\ue00c"
FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Browser:
    """Headless Chromium, driven over the WebDriver protocol."""

    def __init__(self, address: str, profile: Path) -> None:
        self._address = address
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self._session = self._send("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        where = f"{self._address}/session{path}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(where, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        return self._send(method, f"/{self._session}{path}", body)

    def open(self, file: Path, anchor: str = "") -> None:
        self("POST", "/url", {"url": "about:blank"})
        self("POST", "/url", {"url": f"{file.as_uri()}{anchor}"})

    def ask(self, script: str) -> Any:
        """What an expression of JavaScript gives."""
        return self("POST", "/execute/sync", {"script": f"return {script}", "args": []})

    def press(self, keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})
        self("POST", "/execute/async", {"script": "setTimeout(arguments[0])", "args": []})

    def resize(self, width: int) -> None:
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics})

    def shown(self) -> list[str]:
        """The rules of the findings that can be seen."""
        found = self.ask("[...document.querySelectorAll('.finding:not([hidden])')].map(one => one.dataset.rule)")
        return list(found)

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self("POST", "/se/log", {"type": "browser"})]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    driver = shutil.which("chromedriver")
    if driver is None or not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("Chromium and its driver are not installed")
    process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        started = (re.search(r"started successfully on port (\d+)", line) for line in process.stdout)
        port = next(match[1] for match in started if match)
        made = Browser(f"http://127.0.0.1:{port}", tmp_path_factory.mktemp("profile"))
        yield made
        made("DELETE", "")
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "examples.html"
    assert run(["report", "--isolated", "--html", str(file), str(EXAMPLES)]) == 0
    return file


def test_findings_are_chosen_by_mouse_and_keyboard(browser: Browser, example: Path) -> None:
    browser.open(example)
    everything = browser.shown()
    assert len(everything) == 10
    browser.ask("document.querySelector('.panel [data-value=XLA201]').click()")
    assert browser.shown() == ["XLA201"] * 4
    assert browser.ask("document.getElementById('shown').textContent") == "4 of 10 findings"
    browser.press(ESCAPE)
    assert browser.shown() == everything
    browser.press("/tpu train")
    assert browser.shown() == ["XLA302", "XLA502", "XLA501", "XLA205"]
    browser.press(ESCAPE)
    browser.ask("document.activeElement.blur()")
    browser.press("jjk" + ENTER)
    assert browser.ask("document.querySelectorAll('.finding details[open]').length") == 1
    assert browser.ask("document.querySelector('.finding details').open")
    browser.press("e")
    assert browser.ask("document.querySelectorAll('.finding details[open]').length") == 10
    assert browser.complaints() == []


def test_a_choice_is_part_of_the_address(browser: Browser, example: Path) -> None:
    browser.open(example, "#?effect=recompiles")
    assert browser.shown() == ["XLA302", "XLA205"]
    assert browser.ask("document.querySelector('[data-value=recompiles]').ariaPressed") == "true"
    browser.open(example, "#XLA101")
    assert browser.ask("document.getElementById('XLA101').open")
    assert len(browser.shown()) == 10


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_width_makes_the_page_wider(browser: Browser, example: Path, width: int) -> None:
    browser.resize(width)
    browser.open(example)
    browser.press("e")
    assert browser.ask("document.documentElement.scrollWidth") <= width
    wide = "[...document.querySelectorAll('.graph, .rewrite')].map(one => one.getBoundingClientRect().right)"
    assert max(browser.ask(wide)) <= width


def test_nothing_hostile_runs(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(whole_page(hostile(), lambda path, cell: [EVIL] * 3, EVIL), "utf-8")
    browser.open(file)
    browser.press("e")
    assert browser.ask("typeof hacked") == "undefined"
    assert browser.ask("document.images.length") == 0
    assert browser.shown() == ["XLA900", "XLA201"]
    browser.ask("document.querySelector('.panel [data-group=package]').click()")
    assert browser.ask("document.getElementById('shown').textContent") == "1 of 2 findings"
    assert browser.complaints() == []
