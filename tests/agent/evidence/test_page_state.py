"""A live page's state as passages: its article, and what only a snapshot shows."""

from __future__ import annotations

from datetime import UTC, datetime

from agent.evidence.confidence import cross_check
from agent.evidence.page_state import append_shown_lines
from agent.evidence.store import Evidence
from browser.types import Document, Outcome, Page

ARTICLE = "# Fog signal\n\nThe signal sounds every thirty seconds."
SHOWN = """# Fog signal

The signal sounds every thirty seconds. (→ horns.example)

## Comments

Ada: I heard it in Hesk.

| Lamp | Stock |
|---|---|
| Storm lamp | 7 |

Posts per page: 9 (required)

Save (button)"""


def page(text: str, url: str = "https://keeper.example/signal") -> Page:
    document = Document(url, title="Keeper's wiki", text=text)
    return Page(url, url, "browser", Outcome.OK, datetime.now(UTC), document=document)


def state(evidence, shown, *, url="https://keeper.example/signal", outcome="", step=""):
    read = page(ARTICLE, url)
    document = append_shown_lines(read.document, shown, outcome)
    read = Page(url, url, "browser", Outcome.OK, read.fetched_at, document=document)
    return evidence.add(read, step, acted=bool(outcome))


def test_snapshot_only_text_follows_article_passages():
    evidence = Evidence()
    source = state(evidence, SHOWN)
    assert [p.text for p in source.article] == ["# Fog signal", ARTICLE.split("\n\n")[1]]
    added = [p.text for p in source.passages[2:]]
    assert "Posts per page: 9 (required)" in added
    assert not any("thirty seconds" in text for text in added)
    assert all(source.text[p.start : p.end] == p.text for p in source.passages)
    row = next(p for p in source.passages if "Storm lamp" in p.text)
    assert row.kind == "table"
    assert row.heading == "Fog signal › Comments › Lamp | Stock"


def test_article_heading_is_repeated_above_snapshot_only_text():
    shown = append_shown_lines(page(ARTICLE).document, "# Fog signal\n\n2 comments")
    assert shown.text[shown.shown_from :] == "# Fog signal\n\n2 comments"


def test_repeated_short_lines_are_kept_in_new_context():
    """A person's balance, beside bills that the same person paid."""
    article = "2 July\n\nBen\n\nGroceries\n\n3 July\n\nCleo\n\nPizza"
    shown = f"Ben\n\n-178.60\n\nCleo\n\n-122.20\n\n{article}"
    state = append_shown_lines(page(article).document, shown)
    assert state.text[state.shown_from :] == "Ben\n\n-178.60\n\nCleo\n\n-122.20"


def test_emptied_table_row_is_replaced_by_snapshot_row():
    article = "| Setting | Value |\n|---|---|\n| Title | |\n| Tiddlers | |\n| Version | 5.4 |"
    shown = "| Title | Harbour log |\n\n| Tiddlers | 6 (button) |\n\n| Version | 5.4 |"
    state = append_shown_lines(page(article).document, shown)
    rows = [line for line in state.text.splitlines() if line.startswith("|")]
    assert "| Title | |" not in rows
    assert {"| Title | Harbour log |", "| Tiddlers | 6 (button) |", "| Version | 5.4 |"} <= {*rows}
    kept = append_shown_lines(page(article).document, "| Other | row |")
    assert "| Title | |" in kept.text


def test_action_outcome_is_a_passage_of_resulting_state():
    source = state(Evidence(), SHOWN, outcome="clicked button Save; new text: Saved.", step="0/4/1")
    [did] = [p for p in source.passages if p.kind == "act"]
    assert did.text == "clicked button Save; new text: Saved."


def test_states_share_unchanged_strings():
    evidence = Evidence()
    first = state(evidence, SHOWN)
    second = state(evidence, SHOWN.replace("9", "10"))
    assert first.sha256 != second.sha256
    own = {p.text: p.text for p in first.passages}
    same = [p for p in second.passages if p.text in own]
    assert len(same) > 4
    assert all(p.text is own[p.text] for p in same)


def test_page_seen_before_action_does_not_contradict_later_state():
    evidence = Evidence()
    state(evidence, "The boats in the harbour are 12.", url="https://keeper.example/list")
    saved = state(evidence, "The boats in the harbour are 13.", step="0/3/1")
    claim = "The boats in the harbour are 13."
    assert not list(cross_check(claim, evidence, {saved.n}))
    # Without an act between them, two pages of a site can contradict each other.
    other = Evidence()
    state(other, "The boats in the harbour are 12.", url="https://keeper.example/list")
    seen = state(other, claim)
    assert [found.url for found, _ in cross_check(claim, other, {seen.n})] == [
        "https://keeper.example/list"
    ]
