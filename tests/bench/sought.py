"""What a question or an action needs of a page: in the first snapshot, or one FIND later.

A line of `sought.jsonl`: `page` begins the page's file name, `ask` is the question, `find` what one
would look for, `sought` the text or element that is needed.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser.page.tab import Tab

FILE = Path(__file__).with_name("sought.jsonl")


@dataclass(frozen=True)
class Sought:
    """One question or action."""

    page: str
    ask: str
    find: str
    sought: str


@functools.cache
def everything() -> tuple[Sought, ...]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(Sought(**json.loads(line)) for line in lines)


def sought_on(name: str) -> list[Sought]:
    """What is sought on a page, by its file name."""
    return [one for one in everything() if name.startswith(one.page)]


async def answered(tab: Tab, one: Sought) -> bool:
    """Look once, with the question; then FIND once."""
    snapshot = await tab.snapshot(query=one.ask)
    wanted = one.sought.casefold()
    if wanted in snapshot.text.casefold():
        return True
    met = wanted in (await tab.find(one.find)).text.casefold()
    if not met:
        print(f"  not found: {one.ask}")
    return met
