"""What files show of their programs, put together from what partitions have seen."""

from __future__ import annotations

import copy

from xlalint.analysis.program.signs import ModuleSigns, Shows, Sign


def test_what_partitions_saw_of_a_file_is_joined_and_stays_what_each_saw() -> None:
    one = ModuleSigns("/a.py", "/", False, False, ["/b.py"], {Shows.XLA: Sign(3, "later")}, {"jax": ["/j.py"]})
    other = ModuleSigns(
        "/a.py", "/", False, False, ["/c.py"], {Shows.XLA: Sign(2, "first"), Shows.KERAS: Sign(0, "`A`")}, {}
    )
    before = copy.deepcopy((one, other))
    joined = one.joined_with(other)
    assert joined.imports == ["/b.py", "/c.py"]
    assert joined.signs == {Shows.XLA: Sign(2, "first"), Shows.KERAS: Sign(0, "`A`")}
    assert joined.guarded == {"jax": ["/j.py"]}
    assert other.joined_with(one).signs == joined.signs
    assert (one, other) == before
