"""Sites read by tables alone; Stack Exchange without a saved page to test on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.paths import DeclaredPlatform, RecordPaths
from browser.extract.platforms.site_record import Record

if TYPE_CHECKING:
    from browser.extract.platforms.site import SitePage

_SPANS = ("m5", "h1", "h6", "h24")


class DexScreener(DeclaredPlatform):
    """`pairs` of the API or of the page's state; rows of lists by the classes of their columns."""

    name = "dexscreener"
    hosts = ("dexscreener.com",)
    entries = (RecordPaths(
        "pair", "**", having="chainId pairAddress baseToken", id="pairAddress", url="url",
        published="pairCreatedAt", tags="labels", media="info.imageUrl",
        fields={
            "chain": "chainId", "exchange": "dexId", "token": "baseToken.address",
            "token_name": "baseToken.name", "token_symbol": "baseToken.symbol",
            "quote_symbol": "quoteToken.symbol", "quote_token": "quoteToken.address",
            "price_usd": "priceUsd", "price_native": "priceNative",
            "liquidity_usd": "liquidity.usd", "fdv": "fdv", "market_cap": "marketCap",
            **{f"price change {span}": f"priceChange.{span}" for span in _SPANS},
            **{f"volume {span}": f"volume.{span}" for span in _SPANS},
        },
        counts={f"{side} {span}": f"txns.{span}.{side}"
                for span in _SPANS for side in ("buys", "sells")},
        links={"website": "info.websites.url", "social": "info.socials.url"},
    ),)  # fmt: skip
    rows = RecordPaths(
        "pair", "a.ds-dex-table-row[href]", url="@href", id="@href -> [^/]+$",
        title=".ds-dex-table-row-base-token-name",
        fields={
            "chain": "@href -> ^/([^/]+)/",
            "token_name": ".ds-dex-table-row-base-token-name",
            "token_symbol": ".ds-dex-table-row-base-token-symbol",
            "quote_symbol": ".ds-dex-table-row-quote-token-symbol",
            **{name: f".ds-dex-table-row-col-{css}" for name, css in (
                ("price_usd", "price"), ("age", "pair-age"), ("volume", "volume"),
                ("liquidity", "liquidity"), ("market_cap", "market-cap"))},
        },
    )  # fmt: skip

    def parse(self, page: SitePage) -> Record | None:
        """Read one pair, or a list of pairs as items; a pair's title is its two symbols."""
        if record := super().parse(page):
            return _titled(replace(record, url=record.url or page.url))
        if page.json is not None or len(page.path) != 2:
            return None
        title, said = page.meta.get("og:title"), page.meta.get("og:description", "")
        return Record(self.name, "pair", page.url, id=page.path[1], title=title, text=said,
                      fields={"chain": page.path[0]}) if title else None  # fmt: skip


def _titled(record: Record) -> Record:
    both = [record.fields.get(side, "") for side in ("token_symbol", "quote_symbol")]
    title = "/".join(both) if any(both) else record.title
    return replace(record, title=title, items=tuple(map(_titled, record.items)))


_LAST = ".post-signature:nth-last-child(1 of .post-signature)"
_STAT, _NUMBER = ".s-post-summary--stats-item", ".s-post-summary--stats-item-number"
_REMARK = RecordPaths(
    "comment", "li.comment", id="@data-comment-id", text=".comment-copy", author=".comment-user",
    handle=r".comment-user@href -> /users/(\d+)",
    published=".comment-date .relativetime-clean@title || .comment-date [title]@title",
    counts={"points": ".comment-score"},
)  # fmt: skip
_ANSWER = RecordPaths(
    "answer", ".answer", id="@data-answerid", text=".s-prose || .post-text",
    url="https://{:url -> ^https?://([^/]+)}/a/{@data-answerid}",
    author=f"{_LAST} .user-details a || {_LAST} .user-details:not(.community-wiki)",
    handle=rf"{_LAST} .user-details a@href -> /users/(\d+)",
    published=f"{_LAST} .relativetime@title -> ^[^,]+",
    modified=f"{_LAST.replace('(1', '(2')} .relativetime@title -> ^[^,]+",
    counts={"points": ".js-vote-count || @data-score",
            "bounty": ".bounty-award || .js-bounty-award"},
    flags={"accepted": "@class -> accepted-answer", "wiki": ".community-wiki"}, items=(_REMARK,),
)  # fmt: skip
_ENTRY = RecordPaths(
    "answer", "items", having="answer_id", id="answer_id", url="link", title="title", text="body",
    markup=True, author="owner.display_name", handle="owner.user_id", published="creation_date",
    modified="last_edit_date", parent="question_id", counts={"points": "score"},
    flags={"accepted": "is_accepted"},
)  # fmt: skip


def _of_question(paths: str) -> str:
    return " || ".join(f"#question {path}" for path in paths.split(" || "))


class StackExchange(DeclaredPlatform):
    """`#question` and `.answer` blocks; `.s-post-summary` rows; `items` of the API.

    Of several signatures under a post the last is its author's, those before it are editors'.
    """

    name = "stackexchange"
    hosts = ("stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com",
             "askubuntu.com", "mathoverflow.net", "stackapps.com")  # fmt: skip
    verified = False
    entries = (replace(
        _ENTRY, kind="question", having="title question_id", id="question_id", parent="",
        tags="tags",
        counts={"points": "score", "answers": "answer_count", "views": "view_count"},
        fields={"accepted_answer": "accepted_answer_id", "closed": "closed_reason"},
        flags={}, items=(replace(_ENTRY, at="answers"),),
    ), _ENTRY)  # fmt: skip
    page = RecordPaths(
        "question", title="#question-header h1 || #question h1[itemprop=name]",
        id="#question@data-questionid", text="#question .s-prose || #question .post-text",
        author=_of_question(_ANSWER.author), handle=_of_question(_ANSWER.handle),
        published=f"{_of_question(_ANSWER.published)} || time[itemprop=dateCreated]@datetime",
        modified=_of_question(_ANSWER.modified), tags="#question .post-tag",
        counts={
            "points": "#question .js-vote-count || #question@data-score",
            "bounty": "#question .bounty-award || #question .js-bounty-award",
            "views": "[title^=Viewed]@title", "answers": "[data-answercount]@data-answercount",
        },
        fields={"notice":
                "#question aside.s-notice || #question .js-post-notice || .question-status"},
        flags={"wiki": "#question .community-wiki"},
        items=(replace(_REMARK, at="#question li.comment"), _ANSWER),
    )  # fmt: skip
    rows = RecordPaths(
        "question", ".s-post-summary", id="@data-post-id", url="h3 a", title="h3 a",
        text=".s-post-summary--content-excerpt", author=".s-user-card--link",
        handle=r".s-user-card--link a@href -> /users/(\d+)",
        published=".s-user-card--time .relativetime@title",
        counts={
            "points": f"{_STAT}:nth-child(1) {_NUMBER}",
            "answers": f"{_STAT}:nth-child(2) {_NUMBER}",
            "views": f"{_STAT}[title$=views]@title || {_STAT}:nth-child(3) {_NUMBER}",
        },
        flags={"answered": ".has-accepted-answer"}, tags=".post-tag",
    )  # fmt: skip
