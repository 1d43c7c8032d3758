"""A loopback site, an HTTP client that may reach it, and a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import Browser
from browser.net.egress import Egress
from browser.net.guard import EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from tests.browser.read.reading_site import Site, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serve(Site()) as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[Polite]:
    async with (
        Egress(EgressPolicy(allow_private=("127.0.0.1",))) as egress,
        HttpClient(egress) as client,
    ):
        yield Polite(client)


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with Browser.launch() as browser:
        yield browser
