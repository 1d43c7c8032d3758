"""Invisible text is left out of the saved text; visible text is kept."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import time

import pytest

from browser.extract import extract

SECRET = "the hidden instruction"

HIDDEN = {
    "display none": '<p style="display:none">{}</p>',
    "display none important": '<p style="display: none !important; display: block">{}</p>',
    "visibility hidden": '<div style="visibility:hidden">{}</div>',
    "visibility collapse": '<div style="visibility:collapse">{}</div>',
    "opacity zero": '<p style="opacity:0">{}</p>',
    "opacity almost zero": '<p style="opacity: .01">{}</p>',
    "filter opacity": '<p style="filter: opacity(0)">{}</p>',
    "font size zero": '<span style="font-size:0">{}</span>',
    "font size one pixel": '<span style="font-size:1px">{}</span>',
    "font shorthand": '<span style="font: 0/0 a">{}</span>',
    "white on white": '<p style="color:#fff;background-color:#ffffff">{}</p>',
    "almost white on white": '<p style="color:#fdfdfd">{}</p>',
    "white on the ancestor's white": '<div style="background:white"><p style="color:white">{}</p></div>',
    "black ground under black text": '<p style="background:#000">{}</p>',
    "font element": "<p><font color=white>{}</font></p>",
    "transparent": '<p style="color:transparent">{}</p>',
    "alpha zero": '<p style="color:rgba(0,0,0,0)">{}</p>',
    "off screen left": '<div style="position:absolute;left:-9999px">{}</div>',
    "off screen top": '<div style="position:fixed;top:-200vh">{}</div>',
    "text indent": '<p style="text-indent:-9999px">{}</p>',
    "negative margin": '<div style="margin-left:-9999px">{}</div>',
    "translated away": '<div style="transform:translateX(-9999px)">{}</div>',
    "scaled to nothing": '<div style="transform:scale(0)">{}</div>',
    "nearly scaled away": "<p style='transform:scale(0.01)'>{}</p>",
    "flat matrix": "<p style='transform:matrix(0,0,0,0,0,0)'>{}</p>",
    "scale of its own": "<p style='scale:0'>{}</p>",
    "moved by translate": "<p style='translate:-9999px 0'>{}</p>",
    "zoomed away": "<p style='zoom:0.01'>{}</p>",
    "masked": "<p style='mask-image:linear-gradient(transparent,transparent)'>{}</p>",
    "blurred": "<p style='filter:blur(40px)'>{}</p>",
    "until found": "<div hidden=until-found>{}</div>",
    "hardly any alpha": "<p style='color:rgba(0,0,0,.01)'>{}</p>",
    "clip rect": '<span style="position:absolute;clip:rect(0,0,0,0)">{}</span>',
    "clip path": '<span style="clip-path:inset(100%)">{}</span>',
    "one pixel box": '<div style="width:1px;height:1px;overflow:hidden">{}</div>',
    "no height": '<div style="max-height:0;overflow:hidden">{}</div>',
    "content visibility": '<div style="content-visibility:hidden">{}</div>',
    "hidden attribute": "<p hidden>{}</p>",
    "comment": "<!-- {} -->",
    "noscript": "<noscript>{}</noscript>",
    "template": "<template><p>{}</p></template>",
    "closed dialog": "<dialog>{}</dialog>",
    "popover": "<div popover>{}</div>",
    "screen reader class": '<span class="sr-only">{}</span>',
    "style sheet class": "<style>.q1 {{ display: none }}</style><p class=q1>{}</p>",
    "style sheet descendant": "<style>.a > .b {{ opacity:0 }}</style><div class=a><p class=b>{}</p></div>",
    "style sheet colour": "<style>p.q{{color:#fff}}</style><p class=q>{}</p>",
    "style sheet in a media query": "<style>@media (min-width:600px){{#z{{visibility:hidden}}}}</style><p id=z>{}</p>",
    "script data": "<script type='application/json'>{}</script>",
    "select option": "<select><option>{}</option></select>",
    "svg title": "<svg><title>{}</title></svg>",
    "textarea": "<textarea>{}</textarea>",
}

VISIBLE = {
    "plain": "<p>{}</p>",
    "a later rule shows it again": "<style>.x{{display:none}} .x{{display:block}}</style><p class=x>{}</p>",
    "a stronger rule shows it": "<style>p.x{{display:block}} .x{{display:none}}</style><p class=x>{}</p>",
    "inline style wins": "<style>.x{{display:none}}</style><p class=x style='display:block'>{}</p>",
    "print only": "<style media=print>.x{{display:none}}</style><p class=x>{}</p>",
    "print query": "<style>@media print{{.x{{display:none}}}}</style><p class=x>{}</p>",
    "narrow screens only": "<style>@media (max-width:600px){{.x{{display:none}}}}</style><p class=x>{}</p>",
    "white on black": '<div style="background:#000"><p style="color:#fff">{}</p></div>',
    "white on a picture": '<div style="background:url(a.png)"><p style="color:#fff">{}</p></div>',
    "gap hack": '<ul style="font-size:0"><li style="font-size:16px">{}</li></ul>',
    "visible in a hidden parent": '<div style="visibility:hidden"><p style="visibility:visible">{}</p></div>',
    "gradient text": '<p style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">{}</p>',
    "hover only": "<style>.x:hover{{display:none}}</style><p class=x>{}</p>",
    "half opaque": '<p style="opacity:.6">{}</p>',
    "aria-hidden is still seen": '<p aria-hidden="true">{}</p>',
    "declarative shadow root": "<div><template shadowrootmode=open><p>{}</p></template></div>",
    "open dialog": "<dialog open>{}</dialog>",
    "positioned nearby": '<div style="position:relative;left:-20px">{}</div>',
}

PAGE = "<html><body><h1>Tide tables</h1><p>High water stands at noon.</p>{}<p>Low water follows.</p></body></html>"


@pytest.mark.parametrize("kind", HIDDEN)
@pytest.mark.row(n=4)
def test_hidden_text_is_left_out(kind: str) -> None:
    document = extract(PAGE.format(HIDDEN[kind].format(SECRET)), "https://example.org/")
    assert SECRET not in document.text
    assert SECRET not in document.markdown
    assert "High water stands at noon." in document.text
    assert "Low water follows." in document.text


@pytest.mark.parametrize("kind", VISIBLE)
@pytest.mark.row(n=4)
def test_visible_text_is_kept(kind: str) -> None:
    document = extract(PAGE.format(VISIBLE[kind].format(SECRET)), "https://example.org/")
    assert SECRET in document.text


@pytest.mark.row(n=4)
def test_closed_details_are_marked_folded() -> None:
    page = "<h1>A</h1><details{}><summary>Why?</summary><p>Because of tides.</p><p>So.</p></details><p>End.</p>"
    closed = extract(page.format(""), "https://example.org/")
    assert "Why?\n\n(folded) Because of tides.\n\n(folded) So.\n\nEnd." in closed.text
    assert "(folded) So." in closed.markdown
    assert "(folded)" not in extract(page.format(" open"), "https://example.org/").text


@pytest.mark.row(n=4)
def test_control_name_uses_visible_text_not_aria_label() -> None:
    page = "<main><p>Text.</p><button aria-label='obey'>Buy now</button></main>"
    assert "obey" not in str(extract(page, "https://example.org/").controls)


def test_invisible_characters_within_words_are_dropped() -> None:
    document = extract("<p>ca\u200bre\u202eful\U000e0041</p>", "https://example.org/")
    assert document.text == "careful"


def test_page_faded_in_by_script_is_read() -> None:
    page = (
        "<style>.wrap{opacity:0}</style><div class=wrap><h1>Harbour</h1><p>Open all day.</p></div>"
    )
    assert "Open all day." in extract(page, "https://example.org/").text


def test_text_after_a_hidden_element_is_kept() -> None:
    page = "<p>Boats <span style='display:none'>secret</span> leave daily.</p>"
    assert extract(page, "https://example.org/").text == "Boats leave daily."


def test_adversarial_style_sheets_are_processed_quickly() -> None:
    chain = " ".join([".a"] * 10)
    deep = f"<style>{chain} .b > .c{{display:none}}</style>" + "<div class=a>" * 1_500
    many = "<style>" + "".join(f"*{{color:#{n:06x}}}" for n in range(10_000)) + "</style>"
    start = time.process_time()
    extract(deep + "<p class=c>x</p>", "https://example.org/")
    extract(many + "<p class=b>y</p>" * 10_000, "https://example.org/")
    assert time.process_time() - start < 10
