"""The tests' own servers, as configured for a run, and runs that call their tools."""

from __future__ import annotations

import pytest

from tests.mcp_server import Shop, tool


@pytest.fixture
def shop(tmp_path):
    made = Shop(tmp_path, "shop")
    made.tools = [tool("price", "Gives a price.", item="string")]
    made.results = {"price": "The blue kettle costs 40 euro at the shop."}
    return made


@pytest.fixture
def results(events):
    """Return the tool results in a run's record."""

    def read(report):
        return [e.data for e in events(report) if e.type == "tool.result"]

    return read
