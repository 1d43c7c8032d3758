"""DuckDuckGo's lite page, for when the html one is out of reach."""

from __future__ import annotations

from browser.search.providers.duckduckgo import DuckDuckGo


class DuckDuckGoLite(DuckDuckGo):
    """The same form at another address; the layout is recognised by what came."""

    name = "duckduckgo_lite"
    url = "https://lite.duckduckgo.com/lite/"
