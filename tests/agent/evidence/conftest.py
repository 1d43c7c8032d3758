"""Pages written for these tests, to be added as evidence."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Callable

READ_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def read_at() -> datetime:
    return READ_AT


@pytest.fixture
def make_page() -> Callable[..., Page]:
    def make(text: str, url: str = "https://harbour.test/page", **fields: object) -> Page:
        document = Document(url=url, title="Harbour lights", text=text, **fields)
        return Page(url, url, "http", Outcome.OK, READ_AT, document=document)

    return make
