"""Refs are given to what reacts to a click, and not to everything."""

from __future__ import annotations

import pytest_asyncio

from tests.browser.page.labels import labels

REFS_AT_LEAST = 0.97
BESIDE_AT_MOST = (
    0.25  # refs beside the labels: frames, disabled controls, lists that listen for their items
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def found(launched, pages):
    return await labels(launched, pages)


async def test_clickable_elements_on_labelled_pages_have_refs(found):
    total = sum(page.labelled for page in found)
    missed = [(page.page, what) for page in found for what in page.missed]
    assert total > 100
    assert 1 - len(missed) / total >= REFS_AT_LEAST, missed


async def test_few_refs_are_given_to_other_elements(found):
    total = sum(page.labelled for page in found)
    refs = sum(page.refs for page in found)
    assert refs - total <= BESIDE_AT_MOST * total
