"""DexScreener: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json
from typing import Any

from browser.types import Link
from tests.browser.extract.platforms.reading import parsed


def test_dexscreener_pair() -> None:
    pair = {"chainId": "solana", "dexId": "pool", "url": "https://dexscreener.com/solana/p1", "pairAddress": "p1", "baseToken": {"address": "t1", "name": "Tide", "symbol": "TIDE"}, "quoteToken": {"symbol": "SOL"},
            "priceUsd": "0.01", "priceChange": {"h24": -4.5}, "volume": {"h24": 10.5}, "liquidity": {"usd": 99.5}, "fdv": 1000, "txns": {"h24": {"buys": 3, "sells": 2}}, "pairCreatedAt": 1714723200000}  # fmt: skip
    record = parsed("https://api.dexscreener.com/latest/dex/pairs/solana/p1", {"pairs": [pair]})
    assert (record.id, record.title, record.published) == (
        "p1",
        "TIDE/SOL",
        "2024-05-03T08:00:00+00:00",
    )
    assert record.counts == {"buys h24": 3, "sells h24": 2}
    assert record.fields["price change h24"] == "-4.5"
    assert {
        record.fields[name] for name in ("chain", "token", "price_usd", "liquidity_usd", "fdv")
    } == {"solana", "t1", "0.01", "99.5", "1000"}


PAIR: dict[str, Any] = {
    "chainId": "solana",
    "dexId": "pool",
    "pairAddress": "P1",
    "baseToken": {"symbol": "TIDE"},
    "quoteToken": {"symbol": "SOL"},
    "priceUsd": "0.01",
    "labels": ["v3"],
    "info": {
        "imageUrl": "https://e.org/i.png",
        "websites": [{"url": "https://tide.example"}],
        "socials": [{"type": "twitter", "url": "https://x.com/tide"}],
    },
}


def test_a_pairs_page_by_its_state() -> None:
    state = {"route": {"data": {"pair": {"pair": PAIR}}}}
    page = f"<script>window.__SERVER_DATA = {json.dumps(state)};</script>"
    pair = parsed("https://dexscreener.com/solana/p1", page)
    assert (pair.id, pair.title, pair.url) == (
        "P1",
        "TIDE/SOL",
        "https://dexscreener.com/solana/p1",
    )
    assert pair.links == (
        Link("https://tide.example", "website"),
        Link("https://x.com/tide", "social"),
    )
    assert (pair.tags, pair.media) == (("v3",), ("https://e.org/i.png",))


def test_a_list_of_pairs_as_drawn() -> None:
    row = """<a class=ds-dex-table-row href="/solana/p1"><span class=ds-dex-table-row-base-token-symbol>TIDE</span><span class=ds-dex-table-row-quote-token-symbol>SOL</span><span class=ds-dex-table-row-base-token-name>Tide</span>
    <div class=ds-dex-table-row-col-price>$0.01</div><div class=ds-dex-table-row-col-liquidity>$99K</div></a>"""
    (pair,) = parsed("https://dexscreener.com/solana", row).items
    assert (pair.id, pair.title, pair.url) == (
        "p1",
        "TIDE/SOL",
        "https://dexscreener.com/solana/p1",
    )
    assert pair.fields == {
        "chain": "solana",
        "token_name": "Tide",
        "token_symbol": "TIDE",
        "quote_symbol": "SOL",
        "price_usd": "$0.01",
        "liquidity": "$99K",
    }
