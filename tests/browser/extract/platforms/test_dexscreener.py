"""DexScreener: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

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
