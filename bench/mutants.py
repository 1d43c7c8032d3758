"""Tests result pages changed as engines change theirs: `python -m bench.mutants DATA`.

DATA is as for `serp.py`. Each page with a gold parse, and each block page and empty page, is read
after each mutation in `tests/browser/search/mutations.py`. Prints, per mutation and engine, the
share of gold results found, matching outcomes, and advertisements that were taken for results.
Exits with 8 if a target is missed, for any such advertisement, or for an unrecognised block page.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from bench.serp import _AD_HOST, FOUND, fits, measure
from browser.net.url import host
from browser.search import parse_results
from browser.search.provider import decode
from tests.browser.search.mutations import AD_SITE, MUTATIONS, mutant

HARD = frozenset({"renamed_all"})
"""A page without any known class: nothing may be guessed, but not everything need be found."""


def main(data: Path) -> int:
    """Print the table; return 8 if a target is missed."""
    folder = data / "serp" if (data / "serp").is_dir() else data
    good = True
    for name in MUTATIONS:
        totals: dict[str, Counter[str]] = defaultdict(Counter)
        for entry in json.loads((folder / "INDEX.json").read_text()):
            body = decode((folder / entry["file"]).read_bytes())
            if "<" in body[:200]:
                totals[entry["engine"]] += _one(folder, entry, mutant(body, name))
        good &= _report(name, totals)
    return 0 if good else 8


def _one(folder: Path, entry: dict[str, str], body: str) -> Counter[str]:
    page = parse_results(entry["engine"], body)
    led = [r for r in page.results if _AD_HOST.search(r.url) or host(r.url) == AD_SITE]
    counts = Counter(pages=1, ads=len(led), fit=int(fits(entry["kind"], page.outcome)))
    counts["walls missed"] = int(entry["kind"].startswith("blocked") and not counts["fit"])
    if not counts["fit"]:
        print(f"    {entry['file']}: {entry['kind']!r} came to {page.outcome} {page.detail}")
    for result in led:
        print(f"    advertisement in {entry['file']}: {result.url}")
    if entry.get("gold"):
        gold = json.loads((folder / entry["gold"]).read_text())["results"]
        with contextlib.redirect_stdout(io.StringIO()):
            counts += measure(gold, page, entry["file"])
    return counts


def _report(name: str, totals: dict[str, Counter[str]]) -> bool:
    every = sum(totals.values(), Counter())
    for engine, c in [*sorted(totals.items()), ("all", every)]:
        share = f"{c['found'] / c['gold']:.3f}" if c["gold"] else "-"
        snippets = f"{c['snippets'] / c['gold']:.3f}" if c["gold"] else "-"
        print(f"{name:10} {engine:12} pages {c['pages']:3} fit {c['fit']:3} gold {c['gold']:4}"
              f" found {share} snippets {snippets} ads {c['ads']}")  # fmt: skip
    found = every["found"] >= FOUND * every["gold"] or name in HARD
    return found and not every["ads"] and not every["walls missed"]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
