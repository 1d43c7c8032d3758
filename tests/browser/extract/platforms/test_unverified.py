"""Sites described by tables, from small pages and replies modelled on their markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

import pytest

from browser.extract.platforms import parse_platform
from browser.types import Link
from tests.browser.extract.platforms.reading import parse_record, state

PRODUCT = """<div id=wayfinding-breadcrumbs_container><a>Sports</a><a>Ropes</a></div><span id=productTitle> Hemp rope,
 10 m </span>{by}<span id=acrPopover><span class=a-icon-alt>4.6 out of 5 stars</span></span><span id=acrCustomerReviewText>{ratings}</span>
<div id=corePrice_feature_div><span class=a-price><span class=a-offscreen>$19.99</span></span></div><div id=availability><span>In stock</span></div>
<div id=feature-bullets><ul><li><span class=a-list-item>Strong</span><li><span class=a-list-item>Brown</span></ul></div>
<img id=landingImage src="s.jpg" data-old-hires="https://m.media/rope.jpg"><div id=R1 data-hook=review><span class=a-profile-name>Bo</span>
<a data-hook=review-title><span class=a-letter-space></span><span>Holds</span></a><span data-hook=avp-badge>Verified Purchase</span><div data-hook=review-body>It holds.</div><span data-hook=helpful-vote-statement>12 people found this helpful</span></div>"""
BOOK = "<div id=bylineInfo>by <span class=author><a class=a-link-normal>Ann Rower</a> <span>(Author)</span></span><span class=author><a class=a-link-normal>Jo Mole</a></span></div>"


@pytest.mark.parametrize(
    ("url", "by", "ratings", "author"),
    [
        ("https://www.amazon.com/Rope/dp/B000ABCDEF/ref=sr_1", "<a id=bylineInfo>Visit the Hemp & Co Store</a>", "1,234 ratings", "Hemp & Co"),
        ("https://www.amazon.de/dp/B000ABCDEF", "<a id=bylineInfo>Marke: Hemp & Co</a>", "1.234 Sternebewertungen", "Hemp & Co"),
        ("https://www.amazon.co.uk/gp/product/B000ABCDEF", BOOK, "1,234 ratings", "Ann Rower"),
        ("https://www.amazon.co.jp/dp/B000ABCDEF", "<a id=bylineInfo>すべて見る</a>", "1,234個の評価", None),
    ],
)  # fmt: skip
def test_amazon_product_yields_price_and_reviews(
    url: str, by: str, ratings: str, author: str | None
) -> None:
    product = parse_record(url, PRODUCT.format(by=by, ratings=ratings))
    assert (product.kind, product.id, product.title) == ("product", "B000ABCDEF", "Hemp rope, 10 m")
    assert (product.author, product.counts) == (author, {"ratings": 1234})
    assert (product.fields["price"], product.fields["availability"]) == ("$19.99", "In stock")
    assert product.text == "- Strong\n- Brown"
    assert (product.tags, product.media) == (("Sports", "Ropes"), ("https://m.media/rope.jpg",))
    [review] = product.items
    assert (review.id, review.author, review.title, review.text) == (
        "R1",
        "Bo",
        "Holds",
        "It holds.",
    )
    assert (review.counts, review.fields) == ({"helpful": 12}, {"verified": "true"})


@pytest.mark.parametrize("host", ["amazon.evil.example", "notamazon.com", "amazon.com.evil.test"])
def test_amazon_lookalike_hosts_are_not_parsed(host: str) -> None:
    assert parse_platform(f"https://{host}/dp/B000ABCDEF", "<span id=productTitle>X</span>") is None


def test_pubmed_paper_and_search_results_are_parsed() -> None:
    page = """<link rel=canonical href="https://pubmed.ncbi.nlm.nih.gov/31/"><meta name=citation_title content="Tidal rhythms"><meta name=citation_authors content="Ann Rower;Jo Mole">
    <meta name=citation_date content="2024/05/03"><meta name=citation_journal_title content="Journal of Water"><meta name=citation_pmid content=31><meta name=citation_doi content="10.1000/eel.7">
    <div id=eng-abstract><p><strong>Background:</strong> Eels move.</p><p>With tides.</p></div><div id=mesh-terms><button class=keyword-actions-trigger>Eels</button><button class=keyword-actions-trigger>Tides</button></div>"""
    paper = parse_record("https://pubmed.ncbi.nlm.nih.gov/31/", page)
    assert (paper.id, paper.title, paper.author) == ("31", "Tidal rhythms", "Ann Rower;Jo Mole")
    assert (paper.published, paper.text) == ("2024-05-03", "Background: Eels move.\n\nWith tides.")
    assert paper.fields == {"journal": "Journal of Water", "doi": "10.1000/eel.7", "mesh": "Eels; Tides"}  # fmt: skip

    row = "<title>eel</title><article class=full-docsum><a class=docsum-title href=/9/>Eels at <b>night</b></a><span class=docsum-pmid>9</span><span class=full-authors>Rower A</span></article>"
    [found] = parse_record("https://pubmed.ncbi.nlm.nih.gov/?term=eel", row).items
    assert (found.id, found.url, found.title) == ("9", "https://pubmed.ncbi.nlm.nih.gov/9/", "Eels at night")  # fmt: skip


def test_openreview_submission_with_review() -> None:
    paper = {"id": "AbC1", "forum": "AbC1", "number": 12, "cdate": 1_714_723_200_000, "content": {
        "title": {"value": "On tides"}, "authors": {"value": ["Ann Rower", "Jo Mole"]}, "abstract": {"value": "Tides rise."},
        "keywords": {"value": ["tide", "moon"]}, "pdf": {"value": "/pdf/1.pdf"}}}  # fmt: skip
    review = {"id": "r1", "forum": "AbC1", "replyto": "AbC1", "signatures": ["C/Submission12/Reviewer_x7Yz"],
              "content": {"review": {"value": "One harbour."}, "rating": {"value": "6: above"}}}  # fmt: skip
    record = parse_record("https://api2.openreview.net/notes", {"notes": [paper, review]})
    assert (record.kind, record.title, record.text) == ("paper", "On tides", "Tides rise.")
    assert (record.author, record.published) == ("Ann Rower, Jo Mole", "2024-05-03T08:00:00+00:00")
    assert record.links == (Link("https://openreview.net/pdf/1.pdf", "PDF"),)
    [answer] = record.items
    assert (answer.kind, answer.author, answer.text) == ("reply", "Reviewer x7Yz", "One harbour.")
    assert (answer.parent, answer.fields) == ("AbC1", {"rating": "6: above"})

    page = parse_record("https://openreview.net/forum?id=AbC1", state({"forumNote": paper}))
    assert (page.id, page.title, page.items) == ("AbC1", "On tides", ())
    old = {"id": "B2", "content": {"title": "On moons", "keywords": "moon", "authors": ["Jo Mole"]}}
    older = parse_record("https://api.openreview.net/notes?forum=B2", {"notes": [old]})
    assert (older.title, older.tags, older.author) == ("On moons", ("moon",), "Jo Mole")


def test_openreview_paper_is_read_from_streamed_and_embedded_json() -> None:
    note = {"id": "eel1", "content": {"title": "On eels", "abstract": "They swim."}}
    stream = json.dumps([1, f'5:["$","div",null,{{"note":{json.dumps(note)}}}]\n'])
    for page in (
        f"<script>self.__next_f.push([0])</script><script>self.__next_f.push({stream})</script>",
        state({"note": note}),
    ):
        paper = parse_record("https://openreview.net/forum?id=eel1", page)
        assert (paper.id, paper.title, paper.text) == ("eel1", "On eels", "They swim.")


@pytest.mark.parametrize("url", ["https://openreview.net/forum?id=eel1"])
def test_unrendered_app_shell_has_no_record(url: str) -> None:
    shell = "<title>App</title><meta property='og:title' content='App'><div id=root></div>"
    assert parse_platform(url, shell) is None


COIN = {
    "mint": "Tide111pump", "name": "Tide", "symbol": "TIDE", "description": "Rises twice a day.",
    "image_uri": "https://ipfs.io/ipfs/tide", "metadata_uri": "https://ipfs.io/ipfs/meta",
    "twitter": "https://x.com/tide", "telegram": None, "bonding_curve": "Curve1",
    "associated_bonding_curve": "Curve2", "creator": "Maker1", "created_timestamp": 1760216813134,
    "raydium_pool": None, "complete": False, "virtual_sol_reserves": 45093863541,
    "virtual_token_reserves": 713844362470572, "total_supply": 1000000000000000, "website": None,
    "show_name": True, "king_of_the_hill_timestamp": 1760217769000, "market_cap": 63.170441502,
    "nsfw": False, "real_sol_reserves": 15093863541, "real_token_reserves": 433944362470572,
    "reply_count": 35, "is_currently_live": True, "pump_swap_pool": None,
    "ath_market_cap": 39232.52984935841, "usd_market_cap": 15534.87,
}  # fmt: skip
"""A reply in the form of pump.fun's `/coins/{mint}`."""


def test_pump_fun_coin_is_parsed_from_api_list_and_page() -> None:
    coin = parse_record("https://frontend-api-v3.pump.fun/coins/Tide111pump", json.dumps(COIN))
    assert (coin.kind, coin.id, coin.title, coin.handle) == (
        "token",
        "Tide111pump",
        "Tide",
        "Maker1",
    )
    assert (coin.url, coin.published) == (
        "https://pump.fun/coin/Tide111pump",
        "2025-10-11T21:06:53+00:00",
    )
    wanted = ("symbol", "market_cap_usd", "progress", "complete", "live")
    assert [coin.fields[name] for name in wanted] == ["TIDE", "15534.87", "45.3 %", "false", "true"]
    assert "pool" not in coin.fields
    assert (coin.counts, coin.links) == (
        {"replies": 35},
        (Link("https://x.com/tide", "twitter"),),
    )
    sold = {**COIN, "mint": "Ebb1pump", "complete": True, "pump_swap_pool": "Pool1"}
    listed = parse_record(
        "https://frontend-api-v3.pump.fun/coins?limit=2", json.dumps([COIN, sold])
    )
    assert [item.fields["progress"] for item in listed.items] == ["45.3 %", "100 %"]
    shown = parse_record("https://pump.fun/coin/Ebb1pump", state({"coin": sold, "similar": [COIN]}))
    assert (shown.id, shown.fields["pool"]) == ("Ebb1pump", "Pool1")
    assert parse_platform("https://pump.fun.evil.example/coin/x", json.dumps(COIN)) is None


def test_dexscreener_pair_is_parsed_from_api_and_page() -> None:
    pair = {
        "chainId": "solana", "dexId": "raydium", "url": "https://dexscreener.com/solana/p1",
        "pairAddress": "P1", "baseToken": {"address": "t1", "name": "Tide", "symbol": "TIDE"},
        "quoteToken": {"address": "s1", "name": "Wrapped SOL", "symbol": "SOL"},
        "priceNative": "0.0001", "priceUsd": "0.01", "labels": ["v3"], "fdv": 1000,
        "txns": {"h24": {"buys": 3, "sells": 2}}, "volume": {"h24": 10.5},
        "priceChange": {"h24": -4.5}, "liquidity": {"usd": 99.5, "base": 1, "quote": 2},
        "marketCap": 900, "pairCreatedAt": 1714723200000,
        "info": {"websites": [{"url": "https://tide.example"}]},
    }  # fmt: skip
    reply = json.dumps({"schemaVersion": "1.0.0", "pairs": [pair]})
    record = parse_record("https://api.dexscreener.com/latest/dex/pairs/solana/P1", reply)
    assert (record.id, record.title, record.published) == (
        "P1",
        "TIDE/SOL",
        "2024-05-03T08:00:00+00:00",
    )
    assert record.counts == {"buys_h24": 3, "sells_h24": 2}
    wanted = ("chain", "price_usd", "price_change_h24", "volume_h24", "liquidity_usd", "market_cap")
    assert [record.fields[name] for name in wanted] == [
        "solana",
        "0.01",
        "-4.5",
        "10.5",
        "99.5",
        "900",
    ]
    page = f"<script>window.__SERVER_DATA = {json.dumps({'route': {'data': {'pair': pair}}})};</script>"
    assert parse_record("https://dexscreener.com/solana/P1", page).title == "TIDE/SOL"
