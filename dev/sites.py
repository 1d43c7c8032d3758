"""Write docs/sites.md: the search engines with their filters, and the sites that have parsers.

    python dev/sites.py

The tables are generated from the code: an engine supports a filter if it changes the request.
"""

# ruff: noqa: E501 - the page is written as it is read

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from browser.extract.platforms import Platform, all_platforms  # noqa: E402 - found by the line above
from browser.plugins import plugins  # noqa: E402 - as above
from browser.search.engines import BROWSER_ENGINES, ENGINES, GENERAL_ENGINES, load  # noqa: E402 - as above
from browser.types import SearchQuery  # noqa: E402 - as above

PAGE = ROOT / "docs" / "sites.md"
PLAIN = SearchQuery("tides")
FILTERS = {
    "language": replace(PLAIN, lang="de"), "region": replace(PLAIN, region="AT"),
    "since": replace(PLAIN, since="2026-01-01"), "site": replace(PLAIN, site="e.example"),
    "pages": replace(PLAIN, page=2),
}  # fmt: skip
ABOUT = """# Engines and sites

This page is generated from the code by `python dev/sites.py`; a test checks that it is up to date.

## Search engines

Engines are listed in the order in which they are tried by default. Engines marked *named* are used only if `--search` names them. If an
engine does not support a filter, Urchin filters the results itself: for example, it removes results from other sites. *Documentation*
means that parameters and fields were compared with the API's documentation or with published responses, but that no complete response was
available for a test. *Unverified layout* means that the parser was written from knowledge of the pages, without a saved page to test it on.
To add an engine, add a class of about twenty lines to `browser/search/json_engines.py`, or add one to `browser/search/html_engines.py` and
its name to `browser/search/engines.py`.

"""
SITES = """
You can declare a custom engine in one line, with a flag or in `config.toml`. For an engine named `mine`, the API key is read from
`MINE_API_KEY`. The part of the URL after `#` specifies where each field is in the response. For JSON responses, set `rows`, `url`, `title`,
`snippet` and `published`, and optionally a `header` to send. JSON paths use dots (`data.hits`, `authors.0.name`), and `doi || id` uses the
first field that is present. For HTML pages, `item` is the CSS selector of a result, and `url`, `title` and `snippet` are selectors within
it:

```
research "…" --search mine --search-url 'mine=https://search.example/api?q={query}&n={limit}#rows=data.hits&url=link&title=name'
research "…" --search mine --search-url 'mine=https://search.example/find?q={query}#item=li.hit&url=h3 a&snippet=p.said'
```

Yahoo, Ecosia and Qwant are not built in, because no saved result pages were available; Qwant's result page is also rendered by scripts. To
use one of them, declare it as a custom engine and check the results:
`--search-url 'yahoo=https://search.yahoo.com/search?p={query}#item=div.algo&url=.compTitle a&title=h3&snippet=.compText'`.

## Sites with a parser

Sites are recognised by the host in the URL; software that can run on any host is recognised by its markup. A page that no longer has the
expected markup is read as an ordinary page, and a note says so. *Saved pages* means that the parser was tested on a saved page of at least
one of the site's page types; *unverified layout* means that no saved page from the real site was available. To [add a site](parsers.md),
write a file of about thirty lines, in this project or in a separate package. Sites marked `urchin-extras` require that package
(`pip install urchin-extras`; source in `plugins/`).

| site | hosts | how pages are read | tested on |
|---|---|---|---|
"""


def page() -> str:
    """Return the whole page as Markdown."""
    head = "| engine | key | format | " + " | ".join(FILTERS) + " | tested on |"
    rule = "|---" * (len(FILTERS) + 4) + "|"
    named = [plugin.name for plugin in plugins("search")]
    engines = [_engine(name) for name in (*ENGINES, *named)]
    sites = [_site(platform) for platform in sorted(all_platforms(), key=lambda p: p.name)]
    return f"{ABOUT}{head}\n{rule}\n" + "\n".join(engines) + f"\n{SITES}" + "\n".join(sites) + "\n"


def _engine(name: str) -> str:
    engine = load(name)
    provider = engine(url=None if engine.url else "http://127.0.0.1:9", key="key")
    plain = provider.request(PLAIN)
    marks = ["yes" if provider.request(query) != plain else "–" for query in FILTERS.values()]
    key = ", ".join(f"`{variable}`" for variable in engine.key_variables[:1])
    key += " (optional)" if key and not engine.needs_key else ""
    asked = "JSON, Atom or XML" if provider.is_api else "HTML page"
    asked += ", in the browser" if name in BROWSER_ENGINES else ""
    when = name if name in GENERAL_ENGINES else f"{name} (named)"
    when = when if name in ENGINES else f"{name} (named; `urchin-extras`)"
    tested = "documentation" if provider.documented else "unverified layout"
    tested = "saved responses" if provider.verified else tested
    return f"| {when} | {key or '–'} | {asked} | {' | '.join(marks)} | {tested} |"


def _site(platform: Platform) -> str:
    hosts = ", ".join(platform.hosts) or "any, recognised by markup"
    reads = " ".join((type(platform).__doc__ or "").split("\n")[0].split()).rstrip(".")
    tested = "saved pages" if platform.verified else "unverified layout"
    name = platform.name
    if not type(platform).__module__.startswith("browser."):
        name += " (`urchin-extras`)"
    return f"| {name} | {hosts} | {reads} | {tested} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
