"""Amazon: each field of a product, on hosts of several countries."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.extract.platforms import parse_platform
from tests.browser.extract.platforms.reading import parsed

PAGE = """<div id=wayfinding-breadcrumbs_container><a>Sports</a><a>Ropes</a></div><span id=productTitle> Hemp rope,
 10 m </span><a id=bylineInfo>{brand}</a><span id=acrPopover><span class=a-icon-alt>{stars}</span></span><span id=acrCustomerReviewText>{ratings}</span>
<div id=corePrice_feature_div><span class=a-price><span class=a-offscreen>{price}</span></span></div><span class=basisPrice><span class=a-offscreen>99</span></span><div id=availability><span>In stock</span></div>
<div id=feature-bullets><ul><li><span class=a-list-item>Strong</span><li><span class=a-list-item>Brown</span></ul></div><div id=productDescription><p>A rope.</p></div>
<table class=prodDetTable><tr><th>Weight</th><td>&lrm;1 kg</td></tr></table><div id=detailBullets_feature_div><ul><li><span class=a-list-item><span class=a-text-bold>Publisher &rlm; : &lrm;</span><span>Rope &amp; Co</span></span></ul></div>
<img id=landingImage src="s.jpg" data-old-hires="https://m.media/rope.jpg">
<div id=R1 data-hook=review><span class=a-profile-name>Bo</span><i data-hook=review-star-rating><span class=a-icon-alt>5.0 out of 5 stars</span></i><a data-hook=review-title><i></i><span class=a-letter-space></span><span>Holds</span></a>
<span data-hook=review-date>Reviewed on May 3, 2024</span><span data-hook=avp-badge>Verified Purchase</span><div data-hook=review-body>It holds.</div><span data-hook=helpful-vote-statement>12 people found this helpful</span></div>"""


@pytest.mark.parametrize(
    ("url", "said", "read"),
    [
        ("https://www.amazon.com/Hemp-Rope/dp/B000ABCDEF/ref=sr_1", ("Visit the Hemp & Co Store", "4.6 out of 5 stars", "1,234 ratings", "$19.99"), ("Hemp & Co", "4.6", 1234)),
        ("https://www.amazon.de/dp/B000ABCDEF", ("Marke: Hemp & Co", "4,6 von 5 Sternen", "1.234 Sternebewertungen", "19,99 €"), ("Hemp & Co", "4.6", 1234)),
        ("https://www.amazon.co.jp/dp/B000ABCDEF", ("Hemp & Co", "5つ星のうち4.6", "1,234個の評価", "￥1,999"), ("Hemp & Co", "4.6", 1234)),
        ("https://www.amazon.co.uk/gp/product/B000ABCDEF", ("Hemp & Co", "4 out of 5 stars", "7 ratings", "£19.99"), ("Hemp & Co", "4", 7)),
    ],
)  # fmt: skip
def test_a_product_in_the_notation_of_its_country(
    url: str, said: tuple[str, str, str, str], read: tuple[str, str, int]
) -> None:
    brand, stars, ratings, price = said
    product = parsed(url, PAGE.format(brand=brand, stars=stars, ratings=ratings, price=price))

    assert (product.kind, product.id, product.title) == (
        "product",
        "B000ABCDEF",
        "Hemp rope, 10 m",
    )
    assert (product.author, product.fields["rating"], product.counts["ratings"]) == read
    assert product.fields["price"] == price
    assert product.fields["list_price"] == "99"
    assert product.fields["availability"] == "In stock"
    assert product.fields["detail: Weight"] == "1 kg"
    assert product.fields["detail: Publisher"] == "Rope & Co"
    assert product.text == "- Strong\n- Brown\n\nA rope."
    assert product.tags == ("Sports", "Ropes")
    assert product.media == ("https://m.media/rope.jpg",)
    review = product.items[0]
    assert (review.id, review.author, review.title, review.text) == (
        "R1",
        "Bo",
        "Holds",
        "It holds.",
    )
    assert review.counts == {"helpful": 12}
    assert review.fields == {
        "rating": "5",
        "date": "Reviewed on May 3, 2024",
        "verified": "true",
    }


def test_the_page_that_asks_for_a_captcha_is_no_product() -> None:
    page = "<form action=/errors/validateCaptcha><h4>Enter the characters you see below</h4></form>"
    assert parse_platform("https://www.amazon.com/dp/B000ABCDEF", page) is None


def test_other_sites_called_amazon_are_not_read() -> None:
    page = "<span id=productTitle>X</span><input id=ASIN value=B000ABCDEF>"
    for host in ("amazon.evil.example", "notamazon.com", "amazon.com.evil.test"):
        assert parse_platform(f"https://{host}/dp/B000ABCDEF", page) is None
