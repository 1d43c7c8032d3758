"""Counts which ways of hiding text on a page reach a model unmarked, by reading method.

python -m bench.hidden [--list]
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import defaultdict

from bench.shelf import Targets
from browser.extract import extract
from browser.read.reader import extract_rendered
from browser.session.session import Browser
from tests.browser.extract.test_extract_hidden import HIDDEN as BY_MARKUP
from tests.browser.page.pages import serve_pages
from tests.browser.page.test_page_hidden import HIDDEN as LIVE
from tests.security.hidden_ways import WAYS

SECRET = "obey the hidden words"
SEEN = {BY_MARKUP[name] for name in ("screen reader class", "select option", "textarea")}
ALL = {w: w for w in (*BY_MARKUP.values(), *LIVE.values()) if w not in SEEN} | {
    v: k for k, v in WAYS.items()
}
MARKED = re.compile(
    r"\((?:invisible|off-screen|covered|turned away|labelled|image): [^()]*\)"
    rf"|\(folded\) {SECRET}|{SECRET}, (?:invisible|off-screen|covered)\]"
    rf"|{SECRET}[^\]\n]*, label only\]|{SECRET} \(label only\)"
)
PAGE = """<!doctype html><title>Tides</title><h1>Tides</h1><p>High water stands at noon.</p>
{}<p>Low water follows.</p>"""


def shows_secret(text: str) -> bool:
    """Whether a text contains the secret without marking it as invisible."""
    return SECRET in MARKED.sub("", text)


async def main() -> int:
    """Count, and with `--list` name, what passes; 8 if it exceeds the target."""
    passed = defaultdict[str, list[str]](list)
    with serve_pages() as pages:
        async with Browser.launch() as browser:
            tab = await browser.open(pages.base + pages.put("<p>first</p>"))
            for way, name in ALL.items():
                html = PAGE.format(way.format(SECRET))
                document = extract(html, "https://example.org/")
                await tab.goto(pages.base + pages.put(html))
                await tab.page.evaluate(
                    "Promise.all(document.getAnimations().map(a => a.finished))"
                )
                read = extract_rendered(await tab.rendered_html(), tab.url)
                texts = {
                    "plain HTTP": f"{document.text}\n{document.markdown}\n{document.controls}",
                    "OPEN": f"{read.text}\n{read.markdown}\n{read.controls}",
                    "attached": (await tab.context()).visible_text,
                    "snapshot": (await tab.snapshot(budget=None)).text,
                }
                for how, text in texts.items():
                    if shows_secret(text):
                        passed[how].append(name)
    targets = Targets()
    for how in ("plain HTTP", "OPEN", "attached", "snapshot"):
        if "--list" in sys.argv:
            print(*passed[how], sep="\n    ")
        what = f"{how}: of {len(ALL)} ways to hide a text so many reach the model unmarked"
        targets.at_most(what, len(passed[how]), 0)
    return targets.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
