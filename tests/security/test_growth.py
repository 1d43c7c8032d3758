"""Reading many pages leaks no handles or processes; the benchmark reads 5,000 pages."""

from __future__ import annotations

import pytest

from tests.security.growth import grown

pytestmark = pytest.mark.row(n=28)


@pytest.mark.soak
async def test_repeated_pages_and_refused_bodies_do_not_leak_resources():
    found = await grown(140, first=100, refused=6)  # each page once; two bodies of each kind
    early, late = found.open_before, found.open_after
    assert all(end <= begin for begin, end in zip(early, late, strict=True))
    assert found.a_hundred < 8  # MB; the first pages load what all use, so the bench counts more
    assert found.of_refused < 64
