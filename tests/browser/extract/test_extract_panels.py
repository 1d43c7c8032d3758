"""Panels that the user can unfold are kept and marked; menus, dialogs and hidden text are not."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.extract import extract
from browser.extract.panels import find_panels
from browser.extract.tree import parse_html

URL = "https://example.org/faq"
PROSE = "<p>The harbour has been dredged every spring since the channel silted up in the great storm.</p>"
ANSWER = "The crane lifts 4711 tons, which is more than any other crane on this coast."
DECLARED = "<meta property='og:type' content='article'>"

PANELS = {
    "Bootstrap 4": "<style>.collapse:not(.show){{display:none}}</style><div class=accordion><div class=card><div class=card-header><h5><button class='btn btn-link collapsed' data-toggle=collapse data-target='#c1' aria-expanded=false aria-controls=c1>How strong?</button></h5></div><div id=c1 class=collapse data-parent='#accordion'><div class=card-body>{}</div></div></div></div>",
    "Bootstrap 4 link": "<style>.collapse{{display:none}}</style><p><a data-toggle=collapse href='#c2' role=button>How strong?</a></p><div class=collapse id=c2><div class='card card-body'>{}</div></div>",
    "Bootstrap 5": "<div class=accordion-item><h2 class=accordion-header><button class='accordion-button collapsed' type=button data-bs-toggle=collapse data-bs-target='#c3' aria-expanded=false>How strong?</button></h2><div id=c3 class='accordion-collapse collapse'><div class=accordion-body>{}</div></div></div>",
    "Bootstrap 5 tab": "<ul class='nav nav-tabs' role=tablist><li role=presentation><button data-bs-toggle=tab data-bs-target='#t1' role=tab aria-selected=true>Use</button></li><li role=presentation><button data-bs-toggle=tab data-bs-target='#t2' role=tab aria-selected=false>Strength</button></li></ul><div class=tab-content><div class='tab-pane active' id=t1 role=tabpanel><p>Ask the master of the harbour first.</p></div><div class=tab-pane id=t2 role=tabpanel style='display:none'><p>{}</p></div></div>",
    "Bootstrap 3 tab": "<ul class='nav nav-tabs'><li class=active><a href='#b1' data-toggle=tab>Use</a></li><li><a href='#b2' data-toggle=tab>Strength</a></li></ul><div class=tab-content><div class='tab-pane active' id=b1><p>Ask the master of the harbour first.</p></div><div class=tab-pane id=b2 style='display:none'><p>{}</p></div></div>",
    "WAI-ARIA accordion": "<h3><button aria-expanded=false aria-controls=s1 id=a1><span class=title>How strong?</span></button></h3><div id=s1 role=region aria-labelledby=a1 hidden><p>{}</p></div>",
    "WAI-ARIA disclosure": "<dl><dt><button aria-expanded=false aria-controls=d1>How strong?</button></dt><dd><p id=d1 style='display:none'>{}</p></dd></dl>",
    "MUI": "<style>.css-k{{height:0;overflow:hidden;visibility:hidden}}</style><div class='MuiPaper-root MuiAccordion-root'><div class='MuiButtonBase-root MuiAccordionSummary-root' role=button tabindex=0 aria-expanded=false aria-controls=p1 id=h1><div class=MuiAccordionSummary-content><p>How strong?</p></div></div><div class='MuiCollapse-root MuiCollapse-hidden css-k' style='min-height:0px'><div class=MuiCollapse-wrapper><div class=MuiCollapse-wrapperInner><div aria-labelledby=h1 id=p1 role=region><div class=MuiAccordionDetails-root><p>{}</p></div></div></div></div></div></div>",
    "GOV.UK": "<div class=govuk-accordion><button type=button class=govuk-accordion__show-all aria-expanded=false><span>Show all sections</span></button><div class=govuk-accordion__section><div class=govuk-accordion__section-header><h2 class=govuk-accordion__section-heading><button type=button aria-controls=g1 class=govuk-accordion__section-button aria-expanded=false><span>How strong?</span></button></h2></div><div id=g1 class=govuk-accordion__section-content hidden=until-found><p class=govuk-body>{}</p></div></div></div>",
    "mobile Wikipedia": "<div class='mw-heading mw-heading2 section-heading collapsible-heading' tabindex=0 role=button aria-controls=m1 aria-expanded=false><h2 id=Strength>Strength</h2><span class=mw-editsection><a href='/edit'>edit</a></span></div><section class='mf-section-1 collapsible-block' id=m1 hidden=until-found><p>{}</p></section>",
    "no ids": "<div class=faq><div class=question><button aria-expanded=false>How strong?</button></div><div class=answer hidden><p>{}</p></div></div>",
    "external style sheet": "<link rel=stylesheet href=/a.css><h3><button aria-expanded=false aria-controls=e1>How strong?</button></h3><div id=e1 class=panel><p>{}</p></div>",
    "wrapper of its content": "<button aria-expanded=false aria-controls=w1>How strong?</button><div id=w1><div style='max-height:0;overflow:hidden'><p>{}</p></div></div>",
    "custom element": "<acme-heading><button aria-expanded=false aria-controls=u1>How strong?</button></acme-heading><acme-panel id=u1 hidden>{}</acme-panel>",
    "rest of a paragraph": "<p>Ask the master first. <span id=r1 hidden>{}</span> <button aria-expanded=false aria-controls=r1>Read more</button></p>",
    "panel in a panel": "<h3><button aria-expanded=false aria-controls=o1>Cranes</button></h3><div id=o1 hidden><p>There are two.</p><h4><button aria-expanded=false aria-controls=o2>How strong?</button></h4><div id=o2 hidden><p>{}</p></div></div>",
    "details": "<details><summary>How strong?</summary><p>{}</p></details>",
}
# Their label is in a list of tabs, directly before the text, or missing.
UNLABELLED = ("Bootstrap 3 tab", "Bootstrap 5 tab", "WAI-ARIA disclosure", "rest of a paragraph")


def read(body: str, *, head: str = "") -> str:
    return extract(f"<title>Cranes</title>{head}<main><h1>Cranes</h1>{body}</main>", URL).text


@pytest.mark.parametrize("head", ["", DECLARED])
@pytest.mark.parametrize("kind", PANELS)
def test_panel_that_a_control_opens_is_kept_as_folded(kind: str, head: str) -> None:
    text = read(f"{PROSE * 4}{PANELS[kind].format(ANSWER)}{PROSE}", head=head)
    assert f"(folded) {ANSWER}" in text
    assert text.count(ANSWER) == 1
    label = "Strength" if kind == "mobile Wikipedia" else "How strong?"
    assert kind in UNLABELLED or f"{label}\n\n(folded) {ANSWER}" in text


LINKS = "<ul>" + "<li><a href=/x>Harbours and lights</a></li>" * 9 + "</ul>"
FIELD = f"<p>{ANSWER}</p><input type={{}} name=q>"
NOT_PANELS = {
    "hamburger menu": f"<button class=hamburger aria-expanded=false aria-controls=n1>Menu</button><div id=n1 hidden>{LINKS}<p>{ANSWER}</p></div>",
    "mega menu": f"<nav><button aria-expanded=false aria-controls=n2>Products</button><div id=n2 hidden><p>{ANSWER}</p></div></nav>",
    "mega menu by class": f"<div class=main-menu><a href=/p role=button aria-expanded=false>Products</a><div style='display:none'><p>{ANSWER}</p></div></div>",
    "menu role": f"<button aria-haspopup=true aria-expanded=false aria-controls=n3>Share</button><div id=n3 role=menu hidden><p>{ANSWER}</p></div>",
    "cookie dialog": f"<button aria-expanded=false aria-controls=n4>Privacy</button><div id=n4 role=dialog aria-modal=true hidden><p>{ANSWER}</p></div>",
    "dialog element": f"<button aria-expanded=false aria-controls=n5>Privacy</button><dialog id=n5><p>{ANSWER}</p></dialog>",
    "cookie settings": f"<div class=cookie-consent><h3><button aria-expanded=false aria-controls=n6>Needed cookies</button></h3><div id=n6 hidden><p>{ANSWER}</p></div></div>",
    "consent switch": f"<button aria-expanded=false aria-controls=n7>Analytics</button><div id=n7 hidden>{FIELD.format('checkbox')}</div>",
    "search box": f"<button aria-expanded=false aria-controls=n8>Search</button><div id=n8 hidden>{FIELD.format('search')}</div>",
    "language switcher": f"<button aria-expanded=false aria-controls=n9>English</button><div id=n9 hidden><button>{ANSWER}</button></div>",
    "tooltip": f"<p>Open <button aria-expanded=false aria-controls=n10>daily</button> at noon.<span id=n10 role=tooltip hidden>{ANSWER}</span></p>",
    "popover": f"<button aria-expanded=false aria-controls=n11>Why?</button><div id=n11 popover><p>{ANSWER}</p></div>",
    "suggestions": f"<input role=combobox aria-expanded=false aria-controls=n12><div id=n12 hidden><p>{ANSWER}</p></div>",
    "footer": f"<footer><h3><button aria-expanded=false aria-controls=n13>About us</button></h3><div id=n13 hidden><p>{ANSWER}</p></div></footer>",
    "no control": f"<div hidden><p>{ANSWER}</p></div>",
    "found by search alone": f"<div hidden=until-found><p>{ANSWER}</p></div>",
    "region without control": f"<div id=x role=tabpanel class=collapse hidden><p>{ANSWER}</p></div>",
    "hidden control": f"<button style='display:none' aria-expanded=false aria-controls=n14>More</button><div id=n14 hidden><p>{ANSWER}</p></div>",
    "control in hidden element": f"<div style='opacity:0'><button aria-expanded=false aria-controls=n15>More</button></div><div id=n15 hidden><p>{ANSWER}</p></div>",
    "control without words": f"<button aria-label=More aria-expanded=false aria-controls=n16></button><div id=n16 hidden><p>{ANSWER}</p></div>",
    "control of something else": f"<button aria-expanded=false aria-controls=n17>More</button><div id=n17></div><div hidden><p>{ANSWER}</p></div>",
    "hidden text within a panel": f"<button aria-expanded=false aria-controls=n18>More</button><div id=n18 hidden><p>Two.</p><p style='color:white'>{ANSWER}</p></div>",
    "hidden text around a panel": f"<div hidden><p>{ANSWER}</p><div id=n19>Two.</div></div><button aria-expanded=false aria-controls=n19>More</button>",
    "row of a table": f"<table><tr><th>Crane</th><th>Use</th></tr><tr><td>A <button aria-expanded=false aria-controls=n20>More</button></td><td>Coal</td></tr><tr id=n20 hidden><td>{ANSWER}</td><td>Ore</td></tr></table>",
    "script": f"<button aria-expanded=false aria-controls=n21>More</button><template id=n21><p>{ANSWER}</p></template>",
}


@pytest.mark.parametrize("head", ["", DECLARED])
@pytest.mark.parametrize("kind", NOT_PANELS)
def test_hidden_text_that_is_no_panel_is_left_out(kind: str, head: str) -> None:
    text = read(f"{PROSE * 4}{NOT_PANELS[kind]}{PROSE}", head=head)
    assert ANSWER not in text
    assert text.count("silted up") == 5


def test_short_panels_of_a_page_of_questions_are_all_read() -> None:
    rows = "".join(
        f"<h3><button aria-expanded={'true' if n == 0 else 'false'} aria-controls=q{n}>Question {n}?</button></h3><div id=q{n}{' hidden' * (n > 0)}><p>Answer {n} is <a href=/{n}>here</a>.</p></div>"
        for n in range(8)
    )
    text = read(rows)
    assert "Question 0?\n\nAnswer 0 is here." in text
    assert all(f"Question {n}?\n\n(folded) Answer {n} is here." in text for n in range(1, 8))


def test_panel_in_a_table_cell_is_marked() -> None:
    row = f"<tr><td>A</td><td><button aria-expanded=false aria-controls=k>Use</button><div id=k hidden>{ANSWER}</div></td></tr>"
    text = read(
        f"<table><tr><th>Crane</th><th>Note</th></tr>{row}<tr><td>B</td><td>-</td></tr></table>"
    )
    assert f"(folded) {ANSWER}" in text


def test_panels_of_a_hostile_page_are_found_quickly() -> None:
    row = "<button aria-expanded=false aria-controls=p{0}>More</button><div id=p{0} hidden>x"
    nested = "".join(row.format(n) for n in range(5_000))
    assert "silted up" in read(PROSE * 4 + nested)


SENTENCES = {
    "<p>The term <button class=glossary>photosynthesis</button> means making sugar from light.</p>": "The term photosynthesis means making sugar from light.",
    "<p>Plants use <em><button aria-expanded=false>light</button></em>, and <b>water</b> <button>too</button>.</p>": "Plants use light, and water too.",
    "<p>Sugar is made.<button>1</button> It is <button>[a]</button> sweet.</p>": "Sugar is made. It is sweet.",
    "<ul><li>In the leaves of plants, <button>chlorophyll</button> takes up light of two colours.</li></ul>": "- In the leaves of plants, chlorophyll takes up light of two colours.",
    "<p>Light is taken up by leaves. <button>Copy</button></p>": "Light is taken up by leaves.",
    "<p><button>Listen</button> Light is taken up by leaves.</p>": "Light is taken up by leaves.",
    "<p><button>Yes</button> or <button>No</button></p>": "or",
    "<div>12 likes <button>Share</button> 3 answers</div>": "12 likes 3 answers",
}


@pytest.mark.parametrize("markup", SENTENCES)
def test_words_of_a_button_within_a_sentence_are_kept(markup: str) -> None:
    assert extract(f"<main>{markup}</main>", URL).text == SENTENCES[markup]


def test_panel_shared_by_tabs_is_folded_only_if_none_is_selected() -> None:
    tab = "<button role=tab aria-selected={} aria-controls=p>Use</button>"
    panel = f"<div id=p role=tabpanel><p>{ANSWER}</p></div>"
    for states, folded in ((("true", "false"), False), (("false", "false"), True)):
        tabs = "".join(tab.format(state) for state in states)
        text = read(f"{PROSE}<div role=tablist>{tabs}</div>{panel}")
        assert ANSWER in text
        assert ("(folded)" in text) is folded


def test_panel_of_many_controls_is_described_once() -> None:
    buttons = "<button aria-controls=c aria-expanded=true>Filter</button>" * 50
    root = parse_html(f"<main>{buttons}<div id=c><p>{ANSWER}</p></div></main>")
    asked = []
    find_panels(root, lambda _: False, lambda element: asked.append(element) or False)
    assert [element.get("id") for element in asked].count("c") == 1
