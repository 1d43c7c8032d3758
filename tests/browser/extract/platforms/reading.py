"""Reads pages and replies as platform parsers do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from browser.extract.platforms import parse_platform

if TYPE_CHECKING:
    from browser.extract.platforms import Record


def parse_record(url: str, content: str | dict[str, Any] | list[Any]) -> Record:
    """Return the record of a page that has one."""
    record = parse_platform(url, content)
    assert record is not None
    return record


def ld(node: dict[str, Any]) -> str:
    """A JSON-LD script."""
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


def state(value: dict[str, Any]) -> str:
    """The page properties of a Next.js page."""
    data = json.dumps({"props": {"pageProps": value}})
    return f'<script id="__NEXT_DATA__" type="application/json">{data}</script>'
