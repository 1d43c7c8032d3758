"""Reads saved result pages and compares them with a gold parse: `python -m bench.serp DATA`.

DATA holds `serp/INDEX.json` (or is that folder): a list of {file, engine, kind, gold?}, where
`gold` names a JSON file with `results` of url, title and snippet. Prints for each engine the share
of gold results found with the right URL and title, the share that also has the right snippet, the
pages whose outcome fits their kind, and advertisements that were taken for results. Exits with 8 if
a target is missed, for any such advertisement, or for an unrecognised block page.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from time import perf_counter

from browser.search import parse_results
from browser.search.results import same_page_key, unwrap_target
from browser.types import Outcome, SearchPage

# The targets: share of gold results by URL and title, and also by snippet.
FOUND, SNIPPET = 0.95, 0.90
_AD_HOST = re.compile(r"/aclk|/aclick|/y\.js|doubleclick|googleadservices")


def words(text: str) -> list[str]:
    """Return case-folded words without marks that a gold text may contain."""
    return re.findall(r"\w+", html.unescape(re.sub(r"<[^>]+>", "", text)).casefold())


def alike(gold: str, got: str) -> bool:
    """Whether two texts are equal except for marks, adjacent dates, and where they are cut.

    A text of which less than half is present counts as different, however well its words match.
    """
    a, b = words(gold), words(got)
    if not a or not b:
        return not a
    shorter, longer = sorted((len(a), len(b)))
    common = sum((Counter(a) & Counter(b)).values())
    return common >= 0.8 * shorter and 2 * shorter >= longer


def measure(gold: list[dict[str, str]], page: SearchPage, base: str) -> Counter[str]:
    """Count gold results, those found, and those with their snippet."""
    counts: Counter[str] = Counter(gold=len(gold))
    got = {same_page_key(result.url): result for result in page.results}
    for row in gold:
        result = got.get(same_page_key(unwrap_target(row["url"]) or row["url"]))
        if result is None or not alike(row["title"], result.title):
            print(f"    missing in {base}: {row['url'][:90]} {row['title'][:50]!r}")
            continue
        counts["found"] += 1
        if not row.get("snippet") or alike(row["snippet"], result.snippet):
            counts["snippets"] += 1
        else:
            print(f"    snippet in {base}: {row['snippet'][:60]!r} / {result.snippet[:60]!r}")
    return counts


def fits(kind: str, outcome: Outcome) -> bool:
    """Whether an outcome is what a page of this kind should yield."""
    if kind.startswith("blocked"):
        return outcome is Outcome.BLOCKED
    if kind.startswith("no results"):
        return outcome is Outcome.EMPTY
    if "without results" in kind:
        # Neither results nor an explicitly empty result: the page did not say that there is
        # nothing.
        return outcome in (Outcome.BLOCKED, Outcome.ERROR)
    return outcome is Outcome.OK


def main(data: Path) -> int:
    """Print the table; return 8 if a target is missed."""
    folder = data / "serp" if (data / "serp").is_dir() else data
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in json.loads((folder / "INDEX.json").read_text()):
        body = (folder / entry["file"]).read_bytes()
        began = perf_counter()
        page = parse_results(entry["engine"], body)
        counts = totals[entry["engine"]]
        counts["ms"] += round((perf_counter() - began) * 1000)
        counts["pages"] += 1
        counts["ads"] += sum(bool(_AD_HOST.search(result.url)) for result in page.results)
        name = Path(entry["file"]).name[:50]
        if fits(entry["kind"], page.outcome):
            counts["fit"] += 1
        else:
            counts["walls missed"] += entry["kind"].startswith("blocked")
            print(f"    outcome of {name}: {entry['kind']!r} came to {page.outcome} {page.detail}")
        if entry.get("gold"):
            gold = json.loads((folder / entry["gold"]).read_text())["results"]
            counts += measure(gold, page, name)
            totals[entry["engine"]] = counts
        else:
            print(f"    {name}: {page.outcome}, {len(page.results)} results")
    return report(totals)


def report(totals: dict[str, Counter[str]]) -> int:
    """Print one line per engine and one for all."""
    totals["all"] = sum(totals.values(), Counter())
    print(f"{'engine':12} {'pages':>5} {'fit':>4} {'gold':>5} {'found':>6} {'snip':>6} ads ms/page")
    for engine, c in totals.items():
        found = f"{c['found'] / c['gold']:.3f}" if c["gold"] else "-"
        snippet = f"{c['snippets'] / c['gold']:.3f}" if c["gold"] else "-"
        print(
            f"{engine:12} {c['pages']:5} {c['fit']:4} {c['gold']:5} {found:>6} {snippet:>6}"
            f" {c['ads']:3} {c['ms'] / c['pages']:7.1f}"
        )
    c = totals["all"]
    good = c["found"] >= FOUND * c["gold"] and c["snippets"] >= SNIPPET * c["gold"]
    return 0 if good and not c["walls missed"] and not c["ads"] else 8


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
