"""Brings the output that the documentation shows up to date: each `console` block is its command and what that prints.

python -m tests.documentation
"""

from tests.documentation.shown import PAGES, rendered

for page in PAGES:
    before = page.read_text("utf-8")
    after = rendered(before)
    if after != before:
        page.write_text(after, "utf-8")
        print(page)
