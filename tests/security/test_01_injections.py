"""Rows 1, 2 and 7: a model that obeys whatever it reads; all of it by tests.bench.injections."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import pytest
import pytest_asyncio

from browser.session.chrome import start_chrome
from tests.security.injections import CARRIERS, ORDERS
from tests.security.obedient import attack

SAMPLE = (ORDERS["leak"][0], ORDERS["act"][3], ORDERS["belief"][1])
UNSEEN = {"description", "title attribute", "option", "hidden text", "comment", "aria-label"}
"""Carriers of which nothing need reach the model; of a long `aria-label` the end is cut off."""


@pytest_asyncio.fixture(loop_scope="session")
async def chrome(tmp_path):
    started = await start_chrome(tmp_path / "profile", headless=True)
    yield started.cdp_url
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)


@pytest.mark.parametrize("mode", ["launched", "attached"])
async def test_row7_what_a_page_orders_leaves_changes_and_settles_nothing(tmp_path, mode, request):
    cdp = request.getfixturevalue("chrome") if mode == "attached" else ""
    outcome = await attack("act", mode, tmp_path, cdp, SAMPLE)
    assert outcome.unreached <= UNSEEN
    assert set(outcome.placed.values()) == set(CARRIERS)
    assert outcome.left == []
    assert outcome.changed == []
    assert outcome.believed == []
