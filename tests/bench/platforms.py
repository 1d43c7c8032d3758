"""Which fields the platform parsers find on saved pages, platform by platform.

    python tests/bench/platforms.py DATA

DATA holds one folder a platform with .html and .json files; a page's address is taken from its
canonical link, `og:url`, or a first comment `<!-- {"url": "…"} -->`. Parsers that no saved page
exercised are listed as unverified.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from browser.extract.platforms import Record, Source, all_platforms, parse_platform

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMENT = re.compile(r"\s*<!--\s*(\{.*?\})\s*-->")
_NOWHERE = "https://page.example/"
_SKIPPED = frozenset(("platform", "kind"))


def main(data: Path) -> None:
    """Print a line a file: the kind of record, and the names of the fields that are filled."""
    seen: set[str] = set()
    for path in sorted(data.glob("*/*.html")) + sorted(data.glob("*/*.json")):
        for url, text in _pages(path):
            record = parse_platform(url, text)
            if record is not None:
                seen.add(record.platform)
            print(f"{path.parent.name:16} {path.name[-44:]:44} {_line(record)}")
    for platform in all_platforms():
        if platform.name not in seen or not platform.verified:
            print(f"{platform.name:16} unverified layout")


def _pages(path: Path) -> Iterator[tuple[str, str]]:
    """Yield address and content; a recorded session holds several pages."""
    text = path.read_text(encoding="utf-8", errors="replace")
    recorded = json.loads(text).get("interactions") if '"interactions"' in text[:100] else None
    for exchange in recorded or ():
        yield exchange["request"]["uri"], exchange["response"]["body"].get("string", "")
    if not recorded:
        yield _address(text, path), text


def _address(text: str, path: Path) -> str:
    if match := _COMMENT.match(text):
        return str(json.loads(match[1])["url"])
    if path.suffix == ".html":
        known = Source(_NOWHERE, text).canonical
        if known != _NOWHERE:
            return known
    owner = next((p for p in all_platforms() if p.name == path.parent.name), None)
    return f"https://{owner.hosts[0] if owner and owner.hosts else 'forum.example'}/"


def _line(record: Record | None) -> str:
    if record is None:
        return "no record"
    filled = [f.name for f in fields(record) if f.name not in _SKIPPED and getattr(record, f.name)]
    return f"{record.kind:12} {len(record.items):4} items  {' '.join(filled)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
