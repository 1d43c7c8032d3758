"""A stand-in for the search engines, and an HTTP client that may reach it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.search import Chain
from tests.browser.search.stand_in import StandIn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    from browser.search.provider import SearchSource


@pytest.fixture(scope="session")
def stand_in() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


@pytest.fixture
def engines(stand_in: StandIn) -> Iterator[StandIn]:
    yield stand_in
    stand_in.clear()


@pytest.fixture(scope="session")
async def http() -> AsyncIterator[HttpClient]:
    policy = EgressPolicy(allow_private=("127.0.0.1",))
    async with Egress(policy) as egress, HttpClient(egress) as client:
        yield client


@pytest.fixture
def open_chain(http: HttpClient) -> Iterator[Callable[..., Chain]]:
    """Creates chains and closes them after the test."""
    with ExitStack() as stack:

        def make(providers: Sequence[SearchSource], *args: Path, **options: Any) -> Chain:
            chain = Chain(providers, http, *args, **options)
            stack.callback(chain.close)
            return chain

        yield make
