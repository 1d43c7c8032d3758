"""Amazon: a product's page, on any of its country hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, decimal
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content
from browser.net.url import registrable_domain

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_HOST = re.compile(r"amazon(?:\.com?)?\.[a-z]{2,3}")
_ASIN = re.compile(r"[A-Z0-9]{10}")
_AMOUNT = re.compile(r"\d[\d.,\u00a0 ]*")
_PRICE = (
    "#corePrice_feature_div .a-offscreen, #corePriceDisplay_desktop_feature_div .a-offscreen,"
    " .priceToPay .a-offscreen, #priceblock_ourprice, #priceblock_dealprice, #price, #kindle-price"
)
_LIST_PRICE = (
    ".basisPrice .a-offscreen, .a-text-price[data-a-strike] .a-offscreen,"
    " .priceBlockStrikePriceString"
)
_STARS = "#acrPopover .a-icon-alt, [data-hook=rating-out-of-text], .a-icon-star .a-icon-alt"
_ROWS = "[id^=productDetails_] tr, #productOverview_feature_div tr, .prodDetTable tr"
_DETAILS = "[id^=detailBullets] li > span"
_PICTURE = "#landingImage, #imgBlkFront, #ebooksImgBlkFront"
_MARKS = re.compile(r"[\u200e\u200f]")
_BRAND = re.compile(r"^(?:Visit the|Brand:|Besuche den|Marke:|Visitez la boutique|Marque\s*:)\s*")
_STORE = re.compile(r"\s*(?:Store|-Store)$")


class Amazon(Platform):
    """Ids that the product page has had for a decade; `data-hook` of reviews."""

    name = "amazon"
    hosts = ("amazon.com",)
    verified = False

    def owns(self, host: str) -> bool:
        """Its country hosts, too: `amazon.`, `co.` or `com.`, and a country."""
        return _HOST.fullmatch(registrable_domain(host)) is not None

    def parse(self, source: Source) -> Record | None:
        """Read a product; None for searches, carts and the page that asks for a captcha."""
        title = source.text("#productTitle, #title")
        asin = source.attr("input#ASIN, input[name=ASIN]", "value")
        asin = asin or next((part for part in source.path if _ASIN.fullmatch(part)), "")
        if not title or not asin:
            return None
        price = next((t for e in source.all(_PRICE) if (t := text_content(e))), "")
        picture = source.attr(_PICTURE, "data-old-hires") or source.attr(_PICTURE, "src")
        brand = _STORE.sub("", _BRAND.sub("", source.text("#bylineInfo, #brand")))
        return Record(
            self.name, "product", f"https://{source.host}/dp/{asin}", id=asin, title=title,
            text=_text(source), author=brand or None,
            counts=counts(ratings=source.text("#acrCustomerReviewText") or None),
            fields=fields(
                price=price, list_price=source.text(_LIST_PRICE),
                rating=_stars(source.text(_STARS) or source.attr("#acrPopover", "title")
                              or source.text("#averageCustomerReviews span")),
                availability=source.text("#availability span, #outOfStock .a-color-price"),
                seller=source.text("#sellerProfileTriggerId, #merchant-info a"), **_details(source),
            ),
            tags=tuple(text_content(e) for e in source.all("#wayfinding-breadcrumbs_container a")),
            media=(picture,) if picture else (),
            items=tuple(_review(source, node) for node in source.all("[data-hook=review]")),
        )  # fmt: skip


def _text(source: Source) -> str:
    bullets = [text_content(e) for e in source.all("#feature-bullets li .a-list-item")]
    about = source.body(source.first("#productDescription, #bookDescription_feature_div"))
    return "\n\n".join(part for part in ("\n".join(f"- {b}" for b in bullets if b), about) if part)


def _details(source: Source) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in (*source.all(_ROWS), *source.all(_DETAILS)):
        pair = [_MARKS.sub("", text_content(cell)).strip(" :\n") for cell in row][:2]
        if len(pair) == 2 and all(pair):
            found.setdefault(f"detail: {pair[0]}", pair[1])
    return found


def _stars(text: str) -> str | None:
    """The lesser of `4.6 out of 5`, whichever is said first (`5つ星のうち4.6`)."""
    said = [stars for amount in _AMOUNT.findall(text) if (stars := decimal(amount)) is not None]
    return f"{min(said):g}" if said else None


def _review(source: Source, node: etree._Element) -> Record:
    title = source.all("[data-hook=review-title] > span:not(.a-letter-space), "
                       "span[data-hook=review-title]", node)  # fmt: skip
    return Record(
        "amazon", "review", id=node.get("id"), title=text_content(title[-1]) if title else None,
        text=source.text("[data-hook=review-body]", node),
        author=source.text(".a-profile-name", node) or None,
        counts=counts(helpful=source.text("[data-hook=helpful-vote-statement]", node) or None),
        fields=fields(rating=_stars(source.text("[data-hook$=star-rating] .a-icon-alt", node)),
                      date=source.text("[data-hook=review-date]", node),
                      verified=source.text("[data-hook=avp-badge]", node) and "true"),
    )  # fmt: skip
