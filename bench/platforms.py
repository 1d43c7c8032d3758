"""Compares what the platform parsers read from saved pages with a hand-written table.

    python -m bench.platforms DATA [GOLD]

DATA contains one folder per platform; GOLD (`gold.json` in DATA) is a JSON list with one entry per
page: `file` in DATA, `url` if the page does not state its own, `uri` (a part of it) for one reply
of a recorded session, and `expect`: the fields of the record. `items` is the number of items,
`items.N` the fields of one; `fields` and `counts` are objects. A text is compared by its beginning,
a date to its own precision, a list of numbers means any of them, a name after `?` may be missing.
Anything that identifies, dates or counts a record and is not in the table must not be in the record
either. A page whose `platform` is null must yield no record.

Prints right, wrong and missing fields by platform. Exits with 8 if any field is wrong, or if less
than 95 % of the pages' fields were read.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browser.extract.html import extract
from browser.extract.platforms import Record, parse_platform
from browser.extract.platforms.lookup import with_platform

if TYPE_CHECKING:
    from collections.abc import Iterator

# Minimum share of the fields on the pages that must be read.
READ = 0.95
_CLOSED = ("id", "title", "author", "handle", "published", "modified")
_SHOWN = 60


def main(data: Path, gold: Path) -> int:
    """Print the table and every field that differs; return 8 if the target is missed."""
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in json.loads(gold.read_text(encoding="utf-8")):
        folder = Path(entry["file"]).parent.name
        url, text = _page(data, entry)
        record = parse_platform(url, text)
        read = (*_compared(record, entry["expect"]), *_dated(url, text, record, entry["expect"]))
        for field, outcome, said in read:
            totals[folder][outcome] += 1
            if outcome != "right":
                print(f"    {outcome:7} {entry['file'][:60]} {field}: {said}")
    totals["all"] = sum(totals.values(), Counter())
    print(f"{'pages of':16} right wrong missing")
    for name, found in totals.items():
        print(f"{name:16} {found['right']:5} {found['wrong']:5} {found['missing']:7}")
    found = totals["all"]
    enough = found["right"] >= READ * (found["right"] + found["missing"])
    return 8 if found["wrong"] or not enough else 0


def _page(data: Path, entry: dict[str, Any]) -> tuple[str, str]:
    """Return the address and content of a page, or of one reply in a recorded session."""
    text = (data / entry["file"]).read_text(encoding="utf-8", errors="replace")
    if wanted := entry.get("uri"):
        for exchange in json.loads(text)["interactions"]:
            if wanted in exchange["request"]["uri"]:
                return exchange["request"]["uri"], exchange["response"]["body"]["string"]
    url = entry.get("url", "")
    head = text.lstrip()[:300]
    if not url and head.startswith('<!-- {"url"'):
        url = json.loads(head[4 : head.index("-->")])["url"]
    return url, text


def _dated(
    url: str, text: str, record: Record | None, expect: dict[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Return the dates of the resulting document: the record's own, or none."""
    if record is None or not text.lstrip().startswith("<"):
        return
    document = with_platform(extract(text, url or record.url), text.encode(), url or record.url)
    for field in ("published", "modified"):
        yield _outcome(f"document.{field}", expect.get(field), getattr(document, field))


def _compared(record: Record | None, expect: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, outcome and message for every field compared."""
    if expect.get("platform", "") is None:
        yield "record", "wrong" if record else "right", f"{record and record.kind}"
    elif record is None:
        yield from ((field, "missing", "no record") for field in expect)
    else:
        yield from _fields(record, expect)
        yield from _invented(record, expect)


def _fields(record: Record, expect: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for field, value in expect.items():
        if field == "items":
            yield _outcome(field, value, len(record.items))
        elif field.startswith("items."):
            place = int(field.partition(".")[2])
            item = record.items[place] if place < len(record.items) else None
            for inner, outcome, said in _compared(item, value):
                yield f"{field}.{inner}", outcome, said
        elif field in ("fields", "counts"):
            yield from _parts(field, value, getattr(record, field))
        else:
            yield _outcome(field, value, getattr(record, field))


def _invented(record: Record, expect: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what a record says that the page does not."""
    for field in _CLOSED:
        # An item may be described in part; the page itself is described in full.
        if field not in expect and getattr(record, field) and "platform" in expect:
            yield field, "wrong", f"none on the page, got {getattr(record, field)!r}"
    for name in (record.url, *(item.url for item in record.items)):
        if "None" in name or " " in name:
            yield "url", "wrong", name


def _parts(field: str, gold: dict[str, Any], got: Any) -> Iterator[tuple[str, str, str]]:
    for name, value in gold.items():
        said = got.get(name.lstrip("?"))
        if said is not None or not name.startswith("?"):
            yield _outcome(f"{field}.{name}", value, said)
    for name in got if field == "counts" else ():
        if name not in gold and f"?{name}" not in gold:
            yield f"{field}.{name}", "wrong", f"none on the page, got {got[name]}"


def _outcome(field: str, gold: Any, got: Any) -> tuple[str, str, str]:
    if not got and got != gold:
        return field, "missing" if gold else "right", f"{gold!r:.{_SHOWN}}"
    if gold is None:
        return field, "wrong" if got else "right", f"none on the page, got {got!r:.{_SHOWN}}"
    fits = _fits(field.rpartition(".")[2], gold, got)
    return field, "right" if fits else "wrong", f"{gold!r:.{_SHOWN}} / {got!r:.{_SHOWN}}"


def _fits(field: str, gold: Any, got: Any) -> bool:
    if field in ("published", "modified") and gold:
        return _same_time(gold, str(got))
    if field == "text":
        return " ".join(str(got).split()).startswith(gold)
    if field == "tags":
        return list(got) == gold
    return bool(got in gold) if isinstance(gold, list) else bool(got == gold)


def _same_time(gold: str, got: str) -> bool:
    """Whether two dates are equal to the precision of the gold one, at most to the second."""
    if "T" not in gold:
        return got[: len(gold)] == gold
    a, b = (datetime.fromisoformat(value) for value in (gold, got))
    a, b = (m if m.tzinfo else m.replace(tzinfo=UTC) for m in (a, b))
    return abs((a - b).total_seconds()) < 1


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    sys.exit(main(folder, Path(sys.argv[2]) if sys.argv[2:] else folder / "gold.json"))
