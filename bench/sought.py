"""Tests whether what a question or action needs is in the first snapshot or one FIND away.

    python -m bench.sought LIST DATA

Each line of LIST (such as `sought.jsonl`) has `page`, a part of the path of a page below DATA or of
one of our own; `ask`, the question; `find`, what a model would look for; and `sought`, the text or
name that is needed, chosen from the page's HTML. On each page, FIND also looks for what is sought
on the next page: if it reports `found`, that is counted as false.
"""

from __future__ import annotations

import asyncio
import functools
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from bench.player import bare
from bench.shelf import OWN, Targets, html_in, html_of, served
from browser.session.session import Browser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.tab import Tab

FILE = Path(__file__).with_name("sought.jsonl")
MIN_NEAR_SHARE = 0.98
LARGE = 200_000
"""Minimum bytes of HTML for a page to count as large."""


@dataclass(frozen=True)
class Sought:
    """One question or action."""

    page: str
    ask: str
    find: str
    sought: str


@functools.cache
def everything(file: Path = FILE) -> tuple[Sought, ...]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(Sought(**json.loads(line)) for line in lines)


def sought_on(name: str) -> list[Sought]:
    """Return what is sought on a page, by its file name."""
    return [one for one in everything() if name.startswith(one.page)]


async def answered(tab: Tab, one: Sought) -> bool:
    """Take one snapshot with the question, then FIND once."""
    return await how_near(tab, one) != "not found"


async def how_near(tab: Tab, one: Sought) -> str:
    """Return how far away it is: `at once`, `one FIND away` or `not found`, which is printed."""
    snapshot = await tab.snapshot(query=one.ask)
    wanted = bare(one.sought)
    if wanted in _plain(snapshot.text):
        return "at once"
    found = await tab.find(one.find)
    if wanted in _plain(found.text):
        return "one FIND away"
    shown = wanted in _plain(await tab.page.evaluate("document.body.innerText"))
    print(f"  not found, and {'shown' if shown else 'not shown'} by the page: {one}")
    return "not found"


_REF = re.compile(r"\[(?:f\d+)*[a-z]\d+:? ?|\]")


def _plain(text: str) -> str:
    """Return text without refs, link targets, soft hyphens, capitals and line breaks.

    It is returned twice, without and with the roles of controls, as `button: Send` may be sought.
    """
    first, *others = text.replace("\xad", "").split(" → ")
    whole = " ".join([first, *(other[other.find("]") :] for other in others)])
    return f"{bare(whole)}\n{' '.join(_REF.sub(' ', whole).split()).casefold()}"


async def measure(base: str, pages: Sequence[tuple[Path, list[Sought]]]) -> Counter[str]:
    """Look for everything; count how near it was, `false found`, and those on large pages."""
    counts: Counter[str] = Counter()
    async with Browser.launch() as browser:
        for number, (path, wanted) in enumerate(pages):
            tab = await browser.open(f"{base}/{number}")
            size = "large" if len(html_of(path)) > LARGE else "small"
            counts[f"{size} pages"] += 1
            for one in wanted:
                near = await how_near(tab, one)
                counts.update([near, f"{near}, {size}"])
            text = _plain(await tab.html())
            for other in pages[(number + 1) % len(pages)][1]:
                if bare(other.sought).rpartition(": ")[2] in text:
                    continue
                counts["looked for in vain"] += 1
                if (await tab.find(other.sought)).found:
                    counts["false found"] += 1
                    print(f"  false found on {path.name[:30]}: {other.sought!r}")
            await browser.close(tab)
    return counts


def main(file: str, data: str) -> int:
    paths = html_in([Path(data), *OWN])
    pages = []
    for page, wanted in groupby(everything(Path(file)), key=lambda one: one.page):
        pages.append((next(path for path in paths if page in str(path)), list(wanted)))
    with served([path for path, _ in pages]) as base:
        counts = asyncio.run(measure(base, pages))
    print("; ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    targets = Targets()
    number = sum(counts[near] for near in ("at once", "one FIND away", "not found"))
    near = counts["at once"] + counts["one FIND away"]
    targets.at_least(f"at once or one FIND away (of {number})", near / number, MIN_NEAR_SHARE)
    targets.at_most("found that is not there", counts["false found"], 0)
    return targets.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
