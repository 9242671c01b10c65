"""Findings as failed tests, for programs that show test results."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as Xml

from ..findings.findings import Finding, Report
from .around import Around, further
from .terminal import place, safe


def junit(report: Report, around: Around) -> str:
    """A test suite for each file with findings; a problem of the run is an error; a clean run has one test, passed.

    Elements and attributes are those that the schema of Jenkins' xUnit plugin allows.
    """
    errors = len(report.problems)
    cases = len(report.findings) + errors
    failures = str(len(report.findings))
    totals = {"tests": str(max(cases, 1)), "failures": failures, "errors": str(errors)}
    root = Xml.Element("testsuites", {"name": "xlalint", **totals})
    if not cases:
        suite = Xml.SubElement(root, "testsuite", name="xlalint", tests="1", failures="0", errors="0")
        Xml.SubElement(suite, "testcase", name="xlalint", classname="xlalint")
    for path, found in groupby(report.findings, key=lambda finding: finding.path):
        listed = list(found)
        number = str(len(listed))
        name = safe(path)
        suite = Xml.SubElement(root, "testsuite", name=name, tests=number, failures=number, errors="0", file=name)
        for finding in listed:
            _add(suite, finding)
    if errors:
        suite = Xml.SubElement(root, "testsuite", name="xlalint", tests=str(errors), failures="0", errors=str(errors))
        for problem in report.problems:
            name = safe(problem.path or "xlalint")
            case = Xml.SubElement(suite, "testcase", name=name, classname="xlalint")
            Xml.SubElement(case, "error", message=safe(problem.message), type="error")
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _add(suite: Xml.Element, finding: Finding) -> None:
    where = place(finding.path, finding.cell, finding.span.line, finding.span.column)
    case = Xml.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name} ({where})",
        classname=safe(finding.path),
    )
    failure = Xml.SubElement(case, "failure", message=safe(finding.message), type=finding.severity.label)
    told = [f"{where}: {finding.message}", *further(finding)]
    if finding.help:
        told.append(f"Help: {finding.help}")
    failure.text = safe("\n".join(told), keep_lines=True)
