"""Writes docs/sites.md: which engines are asked how, and which sites are read as what they are.

    python dev/sites.py

What stands there is asked of the code: a filter is one that changes an engine's request.
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
from browser.search.engines import ENGINES, GENERAL, IN_BROWSER, load  # noqa: E402 - as above
from browser.types import SearchQuery  # noqa: E402 - as above

PAGE = ROOT / "docs" / "sites.md"
PLAIN = SearchQuery("tides")
FILTERS = {
    "language": replace(PLAIN, lang="de"), "region": replace(PLAIN, region="AT"),
    "since": replace(PLAIN, since="2026-01-01"), "site": replace(PLAIN, site="e.example"),
    "pages": replace(PLAIN, page=2),
}  # fmt: skip
ABOUT = """# Engines and sites

Written by `python dev/sites.py` from the code; a test holds it true.

## Search engines

In the default order; those marked so are asked only when they are named with `--search`. A filter that an engine does
not know is still kept to: what lies on another site is left out of its results. *Unverified layout*: written after
knowledge of its pages or its documentation, no saved answer of the real engine was at hand to test on.
Adding one takes a class in `browser/search/json_engines.py` (some twenty lines) or `browser/search/html_engines.py`, and its name in
the order of `browser/search/engines.py`.

"""
SITES = """
An engine of one's own is declared in one line, as a flag or in `config.toml`; its key stands in `MINE_API_KEY`. Behind `#` stands
where its answer has what: in JSON `rows`, `url`, `title`, `snippet`, `published` (and a `header` to send), on a page `item`, the CSS
selector of a result, with selectors within it for `url`, `title` and `snippet`:

```
research "…" --search mine --search-url 'mine=https://search.example/api?q={query}&n={limit}#rows=data.hits&url=link&title=name'
research "…" --search mine --search-url 'mine=https://search.example/find?q={query}#item=li.hit&url=h3 a&snippet=p.said'
```

Yahoo, Ecosia and Qwant are no engines of ours: no saved result page of theirs was at hand, and Qwant's draws itself with scripts.
Whoever wants one declares it so and checks what comes:
`--search-url 'yahoo=https://search.yahoo.com/search?p={query}#item=div.algo&url=.compTitle a&title=h3&snippet=.compText'`.

## Sites that are read as what they are

Matched by the host of the parsed address; software that runs on anyone's host, by what its pages declare. A page that lost
its usual markup is read as a plain page, and says so. *Saved pages* are of at least one of its forms;
*unverified layout* means that no saved page of the real site was at hand. [Adding one](parsers.md) takes a file of some thirty lines, here or in a package.
Sites marked `urchin-extras` are read where that package is installed (`pip install urchin-extras`, in this repository under `plugins/`).

| site | hosts | what is read | tested on |
|---|---|---|---|
"""


def page() -> str:
    """The whole page as Markdown."""
    head = "| engine | key | asked as | " + " | ".join(FILTERS) + " | tested on |"
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
    asked = "JSON, Atom or XML" if provider.is_api else "HTTP page"
    asked += ", in the browser" if name in IN_BROWSER else ""
    when = name if name in GENERAL else f"{name} (named)"
    when = when if name in ENGINES else f"{name} (named; `urchin-extras`)"
    tested = "saved answers" if provider.verified else "unverified layout"
    return f"| {when} | {key or '–'} | {asked} | {' | '.join(marks)} | {tested} |"


def _site(platform: Platform) -> str:
    hosts = ", ".join(platform.hosts) or "any, by its markup"
    reads = " ".join((type(platform).__doc__ or "").split("\n")[0].split()).rstrip(".")
    tested = "saved pages" if platform.verified else "unverified layout"
    name = platform.name
    if not type(platform).__module__.startswith("browser."):
        name += " (`urchin-extras`)"
    return f"| {name} | {hosts} | {reads} | {tested} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
