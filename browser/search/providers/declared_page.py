"""An engine that a user declares by the CSS selectors of its result page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.search.layouts import Layout
from browser.search.page import HtmlProvider
from browser.search.providers.declared import Template

if TYPE_CHECKING:
    from browser.search.providers.declared import Declaration


class DeclaredPage(Template, HtmlProvider):
    """Results are what `item` finds; where it finds none, headings that link out are tried."""

    def __init__(
        self, declaration: Declaration, *, url: str | None = None, key: str | None = None
    ) -> None:
        super().__init__(declaration, url=url, key=key)
        at = declaration.fields
        # Without selectors of its own a result is its first link and its longest text.
        link = "a[href]" if at.url == "url" else at.url
        title = "" if at.title == "title" else at.title
        snippet = () if at.snippet == "snippet" else (at.snippet,)
        self.layouts = (Layout(declaration.item, link, title, snippet),)
