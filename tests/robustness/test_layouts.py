"""Programs in layouts that nobody uses: they are linted and fixed, and nothing is lost."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

from tests.robustness.layouts import rewritten
from tests.rules.test_rules import LISTENERS
from tests.sampling import chance, size
from xlalint.authoring.examples import with_import
from xlalint.linter.fix_runs import fix
from xlalint.settings.config import Settings

LINE_END = re.compile(rb"\r\n|\r|\n")
PROGRAMS = [with_import(bad.code) for rule in LISTENERS for bad in rule.bad if bad.fixed]


def comments(data: bytes) -> Counter[str]:
    coding, _ = tokenize.detect_encoding(io.BytesIO(re.sub(rb"\r\n?", b"\n", data)).readline)
    text = re.sub(r"\r\n?", "\n", data.decode(coding))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)


def complaints(path: Path, data: bytes) -> list[str]:
    """What goes wrong when a file of a layout is linted and fixed."""
    path.write_bytes(data)
    outcome = fix([path], Settings(jobs=1, unsafe_fixes=True))
    found = [f"{problem.message} {problem.detail}" for problem in outcome.report.problems]
    found += [finding.message for finding in outcome.report.findings if finding.code.startswith("XLA9")]
    for change in outcome.changes:
        after = change.after
        ast.parse(after)
        if not set(LINE_END.findall(after)) <= set(LINE_END.findall(data)) | {b"\n"}:
            found.append("other line ends")
        if less := comments(data) - comments(after):
            found.append(f"comments that are lost: {less}")
        path.write_bytes(after)
        if again := fix([path], Settings(jobs=1, unsafe_fixes=True)).changes:
            found.append(f"the second time it becomes {again[0].after!r}")
    return found


def test_programs_in_layouts_that_nobody_uses(tmp_path: Path) -> None:
    choice, changed, wrong = chance(), 0, []
    for number in range(size(120)):
        text = PROGRAMS[number % len(PROGRAMS)]
        data = rewritten(text, choice)
        before, after = (list(map(ast.dump, ast.parse(source).body)) for source in (text, data))
        assert after[: len(before)] == before
        if found := complaints(tmp_path / "a.py", data):
            wrong.append((data, found))
        changed += (tmp_path / "a.py").read_bytes() != data
    assert wrong == []
    assert changed > size(120) / 4, "fixes are made in these layouts, too"
