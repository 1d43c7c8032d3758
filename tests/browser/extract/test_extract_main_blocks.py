"""Which blocks are a page's body: pages that declare nothing, teasers, other scripts."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.extract import extract

URL = "https://example.org/a"
ARTICLE = "<meta property='og:type' content='article'>"
PROSE = [
    "The harbour has been dredged every spring since the channel silted up in the great storm.",
    "Officials said on Tuesday that the new breakwater would cost twice as much as planned.",
    "Fishermen complained that the works had driven the herring away from the inner bay.",
    "It is not clear whether the bridge can carry the heavier trains from next year on.",
    "The museum keeps a model of the old lighthouse, which burned down during the war.",
]
TEASERS = [
    ("Bakery closes its doors", "After ninety years the ovens on the north side go cold."),
    ("Voters choose a governor", "The polls show a very close race in the capital."),
    ("Giraffe born in the zoo", "It is the first in more than a decade, and it is well."),
    ("Wheat falls sharply", "Farmers in the south reported a harvest beyond all records."),
]


def paragraphs() -> str:
    return "".join(f"<p>{text}</p>" for text in PROSE)


def teasers() -> str:
    return "".join(
        f"<div><a href='/{n}'><h3>{title}</h3></a><p>{text}</p></div>"
        for n, (title, text) in enumerate(TEASERS)
    )


def test_undeclared_article_is_read_without_teasers() -> None:
    page = f"<div><h1>Dredging</h1>{paragraphs()}</div><div>{teasers()}</div>"
    text = extract(page, URL).text
    assert all(line in text for line in PROSE)
    assert not any(title in text or line in text for title, line in TEASERS)


def test_page_of_only_teasers_keeps_them() -> None:
    text = extract(f"<h1>News</h1>{teasers()}", URL).text
    assert all(title in text and line in text for title, line in TEASERS)


def test_headline_and_byline_are_not_in_body() -> None:
    page = f"{ARTICLE}<title>Dredging | Courier</title><h1>Dredging</h1><p>By Ada Holm, 3 May 2024</p>{paragraphs()}"
    document = extract(page, URL)
    assert document.title == "Dredging"
    assert document.text == "\n\n".join(PROSE)


def test_chinese_body_is_separated_from_link_list() -> None:
    body = [
        "港口的航道自从那场大风暴以后每年春天都要清淤一次。官员们星期二说新的防波堤要花两倍的钱。",
        "渔民们抱怨说工程把鲱鱼从内湾赶走了，他们希望市政府能够给予补偿，并且尽快完成这项工作。",
        "目前还不清楚这座桥能否承受铁路公司从明年起想要运行的更重的列车，法院将在三月作出裁决。",
    ]
    links = "".join(f"<li><a href='/{n}'>热门新闻第{n}条今天的天气</a></li>" for n in range(12))
    page = (
        "<meta property='og:type' content='article'><h1>港口</h1>"
        f"<div>{''.join(f'<p>{line}</p>' for line in body)}</div><ul>{links}</ul>"
    )
    text = extract(page, URL).text
    assert all(line in text for line in body)
    assert "热门新闻" not in text


def test_german_comments_and_advertisements_are_left_out() -> None:
    said = "<div class='kommentare'><p>Das ist doch alles schon vor Jahren beschlossen worden.</p></div>"
    page = f"<div>{paragraphs()}<div class='werbung'>Jetzt kaufen</div></div>{said}"
    text = extract(page, URL).text
    assert "beschlossen" not in text
    assert "Jetzt kaufen" not in text


def test_body_of_nested_divs_is_read_without_teasers() -> None:
    body = "".join(f"<div><div>{line}</div></div>" for line in PROSE)
    links = (
        "<div><a href=/a>Magazine</a><a href=/b>Politics</a><a href=/c>Culture and travel</a></div>"
    )
    text = extract(f"<div>{links}<div>{body}</div><div>{teasers()}</div></div>", URL).text
    assert all(line in text for line in PROSE)
    assert not any(line in text for _, line in TEASERS)


def test_short_article_beside_longer_boxes_is_kept() -> None:
    short = "The keeper of the lock was given a medal on the mole by the mayor, who said that few had served the town so well and so long as she."
    boxes = "".join(
        f"<div class=box><h4>Guide {n}</h4><p>{line}</p></div>" for n, line in enumerate(PROSE)
    )
    page = f"{ARTICLE}<h1>A medal</h1><article><div class=entry-content><p>{short}</p></div></article>{boxes}"
    assert short in extract(page, URL).text


def test_live_blog_keeps_its_entries() -> None:
    entries = "".join(
        f"<article><h3>1{n}:00</h3><p>{line}</p></article>" for n, line in enumerate(PROSE)
    )
    lead = "<p>We follow the works in the harbour all day long, with reports from the mole, from the town hall and from the ferry office.</p>"
    text = extract(f"{ARTICLE}<article><h1>Live</h1>{lead}{entries}</article>", URL).text
    assert all(line in text for line in PROSE)


def test_captions_are_kept_only_in_photo_stories() -> None:
    def page(pictures: int) -> str:
        figures = "".join(
            f"<figure><img src={n}.jpg><figcaption>{n}. {text}</figcaption></figure>"
            for n, text in enumerate((PROSE * 2)[:pictures])
        )
        return extract(f"{ARTICLE}<article>{paragraphs()}{figures}</article>", URL).text

    assert all(f"{n}. {text}" in page(7) for n, text in enumerate(PROSE))
    assert f"0. {PROSE[0]}" not in page(1)


def test_json_ld_recipe_lines_are_kept_outside_main_block() -> None:
    rows = "<div><a href='/flour'>200 g</a> <b>rye flour</b></div><div><span>1 tsp</span></div>"
    table = (
        "<table><tr><td>2</td><td>bay leaves</td></tr><tr><td>3 dl</td><td>ale</td></tr></table>"
    )
    data = (
        '{"@type": "Recipe", "recipeIngredient": ["200 g rye flour", "2 bay leaves", "3 dl ale",'
        ' "4 blue carrots", "5 old turnips", "6 leeks, cut"],'
        ' "recipeInstructions": [{"@type": "HowToStep", "text": "Stir."}]}'
    )
    page = (
        f"{ARTICLE}<script type='application/ld+json'>{data}</script><div><h1>Stew</h1>"
        f"{paragraphs()}</div><div><h3>You need</h3>{rows}<p itemprop='recipeIngredient'>1 tsp salt"
        f"</p>{table}</div><div><p>Stir.</p></div><div>{teasers()}</div>"
        "<aside><b>Serves two</b><ul><li>4 blue carrots</li><li>5 old turnips</li><li>6 leeks, cut"
        "</li><li>Newsletter</li></ul></aside>"
    )
    text = extract(page, URL).text
    assert "Newsletter" not in text
    lines = (
        "### You need",
        "200 g rye flour",
        "1 tsp salt",
        "2 | bay leaves",
        "3 dl | ale",
        "Stir.",
        "- 4 blue carrots\n- 5 old turnips\n- 6 leeks, cut",
    )
    assert [line for line in (*PROSE, *lines) if line not in text] == []
    assert not any(line in text for _, line in TEASERS)


def test_code_in_separate_manual_section_is_kept() -> None:
    code = "<pre><span></span>$ borg diff a b\n$ mkdir x\nadded\n</pre>"
    code = f"<div class='highlight-default notranslate'><div class='highlight'>{code}</div></div>"
    page = (
        f"<div><section><h1>Diff</h1>{paragraphs()}</section>"
        f"<section><h2>Examples</h2>{code}</section></div>"
    )
    assert extract(page, URL).text.endswith("## Examples\n\n$ borg diff a b\n$ mkdir x\nadded")


def test_prose_in_separate_boxes_of_service_page_is_kept() -> None:
    boxes = "".join(
        f"<div><section><div><h2>Part {n}</h2><p>{text}</p></div></section></div>"
        for n, text in enumerate(PROSE)
    )
    slides = [f"{text} We are open day and night." for _, text in TEASERS]
    items = "".join(f"<li>{text}</li>" for text in slides)
    text = extract(f"<h1>Harbour works</h1>{boxes}<div>{items}</div>", URL).text
    assert [line for line in (*PROSE, *slides) if line not in text] == []
