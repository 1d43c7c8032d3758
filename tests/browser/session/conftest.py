"""A server for the sessions' content, and a Chrome like a user's."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.browser.page.pages import Pages, serve_pages
from tests.users_chrome import users_chrome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from browser.session.chrome import StartedChrome


@pytest.fixture(scope="session")
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def chrome(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StartedChrome]:
    """A separate Chrome with a debugging port, as started by `research chrome`."""
    started = await users_chrome(tmp_path_factory.mktemp("chrome") / "profile")
    yield started
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
