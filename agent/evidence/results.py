"""What a search result says, as a text that can be cited."""

from __future__ import annotations

from browser.text import clean


def result_text(title: str, snippet: str) -> str:
    """Write a result's title and snippet as the text of a source; empty where it has neither."""
    return "\n\n".join(part for part in (clean(title), clean(snippet)) if part)
