"""Sites about tokens: pump.fun, Birdeye, Solscan, Jupiter and Raydium, page by page and by API."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

import pytest

from browser.extract.platforms import parse_platform
from browser.extract.platforms.tokens import is_address, is_signature
from browser.types import Link
from tests.browser.extract.platforms.reading import parsed, state

MINT = "9xEeLkR4hYvJ2mN8tWxZ4bDfGaSuVi7oHyTqpoRm1eK"
OTHER = "So11111111111111111111111111111111111111112"
SIGNATURE = "5" * 88
COIN = {
    "mint": MINT, "name": "Eel", "symbol": "EEL", "description": "An eel.", "creator": OTHER,
    "image_uri": "https://ipfs.example/eel.png", "twitter": "https://x.com/eel", "telegram": None,
    "website": "", "created_timestamp": 1_714_723_200_123, "complete": False, "market_cap": 29.6,
    "usd_market_cap": 6085.13, "reply_count": 3, "bonding_curve": OTHER, "raydium_pool": None,
    "king_of_the_hill_timestamp": None, "total_supply": 1_000_000_000_000_000, "username": "ann",
    "is_currently_live": False,
}  # fmt: skip


def test_addresses_are_told_from_other_long_words() -> None:
    assert is_address(OTHER)
    assert is_address("0x" + "aB" * 20)
    assert is_signature(SIGNATURE)
    for word in ("0" * 40, "dexscreener", "I" * 40, "a" * 50, "0x12"):
        assert not is_address(word)


def test_pump_fun_coin_from_the_api_and_from_the_page() -> None:
    stream = json.dumps([1, f'5:["$","div",null,{{"coin":{json.dumps(COIN)}}}]\n'])
    page = f"<script>self.__next_f.push([0])</script><script>self.__next_f.push({stream})</script>"
    for url, content in (
        (f"https://frontend-api.pump.fun/coins/{MINT}", COIN),
        (f"https://pump.fun/coin/{MINT}", page),
        (f"https://pump.fun/coin/{MINT}", state({"coin": COIN})),
    ):
        coin = parsed(url, content)
        assert (coin.platform, coin.kind, coin.id, coin.title) == ("pump.fun", "token", MINT, "Eel")
        assert coin.url == f"https://pump.fun/coin/{MINT}"
        assert (coin.text, coin.author, coin.handle) == ("An eel.", "ann", OTHER)
        assert coin.published == "2024-05-03T08:00:00+00:00"
        assert coin.counts == {"replies": 3}
        assert coin.fields["symbol"] == "EEL"
        assert coin.fields["market_cap_usd"] == "6085.13"
        assert (coin.fields["complete"], coin.fields["live"]) == ("false", "false")
        assert "pool" not in coin.fields
        assert coin.links == (Link("https://x.com/eel", "twitter"),)
        assert coin.media == ("https://ipfs.example/eel.png",)


def test_pump_fun_page_is_read_by_its_labels_where_it_has_no_state() -> None:
    page = "<h1>Eel (EEL)</h1><div><div>Market Cap</div><div>$6.1K</div></div><div><span>bonding curve progress</span>: <span>12.5%</span></div>"
    coin = parsed(f"https://pump.fun/coin/{MINT}", page)
    assert (coin.id, coin.title) == (MINT, "Eel (EEL)")
    assert coin.fields == {"market_cap": "$6.1K", "progress": "12.5%"}


def test_pump_fun_form_holds_what_is_written_but_no_secret() -> None:
    page = """<input name=name value="Eel"><input name=ticker value=EEL><textarea placeholder=description>An eel.</textarea><input type=password name=key value=secret>
    <input type=hidden name=csrf value=1><input type=file value=x.png><input name=empty><input type=checkbox value=on>"""
    form = parsed("https://pump.fun/create", page)
    assert form.kind == "form"
    assert form.fields == {"name": "Eel", "ticker": "EEL", "description": "An eel."}


def test_pump_fun_list_of_coins() -> None:
    listing = parsed("https://frontend-api.pump.fun/coins", [COIN, {**COIN, "mint": OTHER}])
    assert [item.id for item in listing.items] == [MINT, OTHER]


def test_birdeye_token_from_the_api_and_from_its_page() -> None:
    data = {
        "address": MINT, "symbol": "EEL", "name": "Eel", "price": 0.0012, "liquidity": 99.5,
        "marketCap": 1200, "fdv": 1500, "holder": 321, "priceChange24hPercent": -4.5, "decimals": 6,
        "v24hUSD": 10.5, "trade24h": 7, "logoURI": "https://e.org/l.png", "lastTradeUnixTime": 1_714_723_200,
        "extensions": {"website": "https://eel.example", "twitter": "https://x.com/eel", "description": "An eel."},
    }  # fmt: skip
    token = parsed(
        "https://public-api.birdeye.so/defi/token_overview", {"success": True, "data": data}
    )
    assert (token.kind, token.id, token.title, token.text) == ("token", MINT, "Eel", "An eel.")
    assert token.counts == {"holders": 321, "trades_24h": 7}
    assert token.fields == {
        "chain": "solana", "symbol": "EEL", "price_usd": "0.0012", "price_change_24h": "-4.5",
        "market_cap": "1200", "fdv": "1500", "liquidity_usd": "99.5", "volume_24h_usd": "10.5",
        "decimals": "6", "last_trade": "2024-05-03T08:00:00+00:00",
    }  # fmt: skip
    assert token.links == (
        Link("https://eel.example", "website"),
        Link("https://x.com/eel", "twitter"),
    )

    page = "<title>EEL $0.0012</title><h1>Eel</h1><dl><dt>Liquidity</dt><dd>$99.5</dd><dt>Holders</dt><dd>321</dd></dl>"
    shown = parsed(f"https://birdeye.so/token/{MINT}?chain=solana", page)
    assert (shown.id, shown.title) == (MINT, "Eel")
    assert shown.fields == {"liquidity": "$99.5", "holders": "321"}


@pytest.mark.parametrize(
    ("url", "chain"),
    [
        ("https://birdeye.so/token/0x{}?chain=base", "base"),
        ("https://birdeye.so/ethereum/token/0x{}", "ethereum"),
    ],
)
def test_birdeye_tokens_of_other_chains(url: str, chain: str) -> None:
    address = "0x" + "ab" * 20
    data = {"data": {"address": address, "symbol": "EEL"}}
    token = parsed(url.format("ab" * 20), data)
    assert (token.fields["chain"], token.url) == (
        chain,
        f"https://birdeye.so/{chain}/token/{address}",
    )


def test_solscan_pages_by_their_path() -> None:
    page = f"""<h1>Token Eel (EEL)</h1><div class=row><div><span>Current Supply</span></div><div>1,000,000</div></div><div class=row><div>Holders</div><div>321</div></div>
    <div class=row><div>Authority</div><div><a href="/account/{OTHER}">{OTHER[:4]}...{OTHER[-4:]}</a></div></div>"""
    token = parsed(f"https://solscan.io/token/{MINT}", page)
    assert (token.kind, token.id, token.title) == ("token", MINT, "Token Eel (EEL)")
    assert token.fields == {"supply": "1,000,000", "holders": "321", "authority": OTHER}

    rows = "<table><tr><td>Signature<td>{0}<tr><td>Block<td>#264,000,001<tr><td>Result<td>SUCCESS<tr><td>Fee<td>0.000005 SOL</table>"
    transaction = parsed(f"https://solscan.io/tx/{SIGNATURE}", rows.format(SIGNATURE))
    assert transaction.kind == "transaction"
    assert transaction.fields == {
        "signature": SIGNATURE, "block": "#264,000,001", "result": "SUCCESS", "fee": "0.000005 SOL",
    }  # fmt: skip
    account = parsed(
        f"https://solscan.io/account/{OTHER}", "<p><b>SOL Balance</b><span>3 SOL</span></p>"
    )
    assert (account.kind, account.fields) == ("account", {"sol_balance": "3 SOL"})
    assert parse_platform("https://solscan.io/leaderboard/token", page) is None


def test_solscan_api_entries() -> None:
    meta = {
        "address": MINT,
        "name": "Eel",
        "symbol": "EEL",
        "holder": 321,
        "price": 0.1,
        "created_time": 1_714_723_200,
        "decimals": 6,
    }
    token = parsed("https://pro-api.solscan.io/v2.0/token/meta", {"success": True, "data": meta})
    assert (token.id, token.title, token.published) == (MINT, "Eel", "2024-05-03T08:00:00+00:00")
    assert token.counts == {"holders": 321}
    assert token.fields == {"symbol": "EEL", "price_usd": "0.1", "decimals": "6"}
    detail = {
        "tx_hash": SIGNATURE,
        "block_id": 7,
        "fee": 5000,
        "status": 1,
        "signer": [OTHER],
        "block_time": 1_714_723_200,
    }
    transaction = parsed("https://pro-api.solscan.io/v2.0/transaction/detail", {"data": detail})
    assert (transaction.kind, transaction.author) == ("transaction", OTHER)
    assert transaction.fields == {"block": "7", "fee": "5000", "result": "1"}


def test_jupiter_tokens_prices_and_quotes() -> None:
    entry = {
        "id": MINT, "name": "Eel", "symbol": "EEL", "icon": "https://e.org/i.png", "dev": OTHER, "holderCount": 321, "usdPrice": 0.5, "mcap": 900,
        "isVerified": True, "organicScore": 98.1, "tags": ["verified"], "firstPool": {"createdAt": "2024-05-03T08:00:00Z"}, "stats24h": {"priceChange": -1.5, "numBuys": 4, "numSells": 2, "numTraders": 5},
    }  # fmt: skip
    token = parsed("https://lite-api.jup.ag/tokens/v2/search?query=eel", [entry])
    assert (token.kind, token.id, token.title, token.handle) == ("token", MINT, "Eel", OTHER)
    assert token.counts == {"holders": 321, "buys_24h": 4, "sells_24h": 2, "traders_24h": 5}
    assert (token.fields["price_usd"], token.fields["verified"]) == ("0.5", "true")
    assert (token.tags, token.published) == (("verified",), "2024-05-03T08:00:00+00:00")

    prices = parsed("https://api.jup.ag/price/v3", {MINT: {"usdPrice": 0.5, "priceChange24h": 1.3}})
    assert [(p.id, p.fields) for p in prices.items] == [
        (MINT, {"price_usd": "0.5", "price_change_24h": "1.3"})
    ]
    older = parsed("https://api.jup.ag/price/v2", {"data": {MINT: {"id": MINT, "price": "0.5"}}})
    assert older.items[0].fields == {"price_usd": "0.5"}
    quote = parsed(
        "https://quote-api.jup.ag/v6/quote",
        {"inputMint": OTHER, "outputMint": MINT, "inAmount": "10", "outAmount": "20", "slippageBps": 50, "priceImpactPct": "0.1",
         "routePlan": [{"swapInfo": {"label": "Raydium"}}, {"swapInfo": {"label": "Orca"}}]},
    )  # fmt: skip
    assert (quote.kind, quote.fields["route"], quote.fields["slippage_bps"]) == (
        "quote",
        "Raydium > Orca",
        "50",
    )
    page = parsed(
        f"https://jup.ag/tokens/{MINT}",
        "<h1>Eel</h1><div><span>Organic Score</span><span>98.1</span></div>",
    )
    assert (page.id, page.fields) == (MINT, {"organic_score": "98.1"})


def test_raydium_pools_and_swap_page() -> None:
    pool = {
        "id": MINT, "type": "Concentrated", "programId": OTHER, "mintA": {"address": MINT, "symbol": "EEL", "name": "Eel"}, "mintB": {"address": OTHER, "symbol": "SOL"},
        "price": 0.01, "tvl": 99.5, "feeRate": 0.0025, "openTime": "1714723200", "day": {"volume": 10.5, "volumeFee": 0.1, "apr": 12.5}, "pooltype": ["Clmm"],
    }  # fmt: skip
    record = parsed("https://api-v3.raydium.io/pools/info/ids", {"success": True, "data": [pool]})
    assert (record.kind, record.id, record.title) == ("pool", MINT, "EEL/SOL")
    assert record.published == "2024-05-03T08:00:00+00:00"
    assert (record.fields["liquidity_usd"], record.fields["apr_24h"]) == ("99.5", "12.5")
    assert record.fields["quote_token"] == OTHER
    assert record.tags == ("Clmm",)

    page = "<h1>Swap</h1><div><div>Price impact</div><div>0.1%</div></div>"
    swap = parsed(f"https://raydium.io/swap/?inputMint={OTHER}&outputMint={MINT}", page)
    assert swap.kind == "swap"
    assert swap.fields == {"input": OTHER, "output": MINT, "price_impact": "0.1%"}


@pytest.mark.parametrize(
    "url",
    [
        f"https://pump.fun/coin/{MINT}",
        f"https://birdeye.so/token/{MINT}",
        f"https://solscan.io/token/{MINT}",
        f"https://jup.ag/tokens/{MINT}",
        "https://raydium.io/swap/",
    ],
)
def test_a_page_that_drew_nothing_is_no_record(url: str) -> None:
    shell = "<title>App</title><meta property='og:title' content='App'><div id=root></div>"
    assert parse_platform(url, shell) is None


def test_a_value_is_what_follows_its_label_not_a_later_paragraph() -> None:
    page = f"<h1>Eel</h1><p>Price</p><p>{'What the price of a token means. ' * 9}</p><dl><dt>Liquidity<dd>$5</dl>"
    token = parsed(f"https://birdeye.so/token/{MINT}", page)
    assert token.fields == {"liquidity": "$5"}
