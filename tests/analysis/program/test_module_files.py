"""Where the file of a module is, by its dotted name."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from xlalint.analysis.files.files import Files
from xlalint.sources.reading import source_of

PARTS = ("a", "b", "__init__")
NAMES = [".".join(parts) for count in (1, 2, 3) for parts in product(("a", "b"), repeat=count)]
FILES = st.frozensets(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".py"), max_size=6
)


@given(FILES, FILES)
def test_a_module_is_found_where_it_lies(on_disk: frozenset[str], given_only: frozenset[str]) -> None:
    """Files that are checked need not be on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for file in on_disk:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("", encoding="utf-8")
        checked = [source_of(b"", root / file, file) for file in sorted(given_only | {"start.py"})]
        files = Files.of(checked)
        there = {str(root / file) for file in on_disk | given_only}
        for name in NAMES:
            stem = root.joinpath(*name.split("."))
            expected = next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in there), None)
            if files.lacks(str(root), name.partition(".")[0]):
                expected = None  # a folder that is not there has no modules
            found = files.find(root, name)
            assert (None if found is None else str(found)) == expected == files.sought(str(root), name)
            package, _, last = name.rpartition(".")
            assert expected is None or last in files.offered_in(str(root), package)
