"""Measures how much of what a page shows can be cited, and what its evidence costs.

    python -m bench.citing [--login STATE.json] [ADDRESS…]

Without addresses the project's own pages are served and examined; addresses are those of
applications running on this machine. Prints for each page: of the words that it shows (text and
field values) and a full snapshot contains, the share found in a passage of its source; the tokens
of a snapshot at the default budget; and the size of the source beside that of its article.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.page_state import append_shown_lines, split_state
from bench.shelf import Targets, pages_of, served
from browser.read.reader import read_rendered
from browser.session.session import Browser
from browser.text.words import words
from browser.types import Document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.tab import Tab

# The shown text, and the field values, which are not part of any text.
SHOWN = """() => {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const chosen = (e) => [...e.selectedOptions].map((o) => o.label).join(' ');
  const value = (e) => (e.tagName === 'SELECT' ? chosen(e) : e.value);
  const fields = [...document.querySelectorAll('input,select,textarea')]
    .filter((e) => seen(e) && !/^(password|hidden|checkbox|radio|file)$/.test(e.type)).map(value);
  const selects = [...document.querySelectorAll('select')];
  const options = new Set(selects.flatMap((s) => [...s.options]));
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const on = node.parentElement;
    const isCode = /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(on?.tagName);
    if (on && !isCode && !options.has(on) && seen(on)) texts.push(node.data);
  }
  return { text: texts.join(' '), values: fields.join(' ') };
}"""
SETTLED_SECONDS = 8.0


@dataclass(frozen=True)
class Row:
    """One page: how much of its text and values can be cited, tokens, and sizes."""

    address: str
    cited: float
    values: float
    tokens: float
    source: int
    article: int


def share(wanted: set[str], found: set[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 1.0


async def look(tab: Tab, address: str) -> Row:
    """Create a page's source as a run does, and compare it with what the page shows."""
    await tab.wait_until_idle(SETTLED_SECONDS)
    whole, shown = await tab.snapshot(budget=None), await tab.page.evaluate(SHOWN)
    page = await read_rendered(tab)
    document = page.document or Document(tab.url)
    state = append_shown_lines(document, page.shown)
    start = len(state.text) if state.shown_from is None else state.shown_from
    passages = split_state(state.text, 1, start)
    citable = set(words(" ".join(f"{p.heading} {p.text}" for p in passages)))
    snapshot = set(words(whole.text))
    values = set(words(shown["values"]))
    tokens = len((await tab.snapshot()).text) / 4
    return Row(
        address,
        share((set(words(shown["text"])) | values) & snapshot, citable),
        share(values & snapshot, citable),
        tokens,
        len(state.text),
        len(document.text),
    )


async def measure(addresses: Sequence[str], login: str | None) -> list[Row]:
    rows = []
    async with Browser.launch(storage_state=login) as browser:
        for address in addresses:
            tab = await browser.open(address)
            rows.append(row := await look(tab, address))
            await browser.close(tab)
            print(
                f"{address[-48:]:48} cited {row.cited:.3f} values {row.values:.3f} "
                f"{row.tokens:>6.0f} tok {row.source:>7} / {row.article} chars",
                flush=True,
            )
    return rows


def main(addresses: Sequence[str], login: str | None) -> int:
    if addresses:
        rows = asyncio.run(measure(addresses, login))
    else:
        pages = pages_of(None)[1]
        with served(pages) as base:
            rows = asyncio.run(measure([f"{base}/{n}" for n in range(len(pages))], login))
    tokens = sorted(row.tokens for row in rows)
    sizes = sum(row.source for row in rows) / max(1, sum(row.article for row in rows))
    p90 = tokens[int(len(tokens) * 0.9)]
    print(f"\n{len(rows)} pages; tokens {statistics.median(tokens):.0f}, p90 {p90:.0f}")
    print(f"characters of the sources / of their articles: {sizes:.2f}")
    targets = Targets()
    targets.at_least(
        "what is shown can be cited, mean", statistics.mean(r.cited for r in rows), 0.98
    )
    targets.at_least("values of fields, mean", statistics.mean(r.values for r in rows), 0.98)
    return targets.code


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("addresses", nargs="*")
    parser.add_argument("--login", help="storage state of a browser that is logged in")
    given = parser.parse_args()
    sys.exit(main(given.addresses, given.login))
