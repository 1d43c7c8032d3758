"""Compares article text with trafilatura's modes on folders of pages with known text.

    python -m bench.articles DATA [DATA ...]

DATA contains `ground-truth.json` ({id: {articleBody, url}}) and `<id>.html.gz` beside it or in
`html/` (article-extraction-benchmark: precision and recall over runs of four words, averaged over
pages, and F1 of the two), or `sentences.json` ({url: {file, with, without}}; trafilatura's own
measure: sentences that must and must not be in the text). All extractors run in turn on each page;
times are medians of three runs in CPU time, so a busy machine does not affect them. Exits with 1 if
ours is behind a mode of trafilatura, completely loses a page that it reads, or takes over 1.4 × its
time.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import trafilatura

from browser.extract import extract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Truth = str | tuple[list[str], list[str]]

_WORD = re.compile(r"\w+")
_LENGTH = 4
_ROUNDS = 3
_SLOWEST = 1.4
_RATES = 2


def main(folders: list[Path]) -> int:
    """Print each extractor's F1, precision, recall and time per page; 1 if a target is missed."""
    tools: dict[str, Callable[[str | bytes, str], str]] = {
        "urchin": lambda html, url: extract(html, url).text,
        "trafilatura": lambda html, _: trafilatura.extract(html, include_comments=False) or "",
        "precision": lambda html, _: (
            trafilatura.extract(html, include_comments=False, favor_precision=True) or ""
        ),
    }
    missed = 0
    for folder in folders:
        print(folder.name)
        pages = list(pages_of(folder))
        for tool in tools.values():
            tool(*pages[0][:2])  # imports and caches
        results = [
            {name: _timed(tool, html, url) for name, tool in tools.items()}
            for html, url, _ in pages
        ]
        reached = {}
        for name in tools:
            texts = [
                (truth, result[name][0]) for (*_, truth), result in zip(pages, results, strict=True)
            ]
            mean = statistics.mean(result[name][1] for result in results) * 1000
            reached[name] = _report(name, texts, mean)
        times = {name: sum(result[name][1] for result in results) for name in tools}
        lost = [
            url
            for (_, url, _), result in zip(pages, results, strict=True)
            if not result["urchin"][0] and any(text for text, _ in result.values())
        ]
        ratio = times["urchin"] / times["trafilatura"]
        print(f"time ratio {ratio:.2f} on {len(pages)} pages, lost wholly: {lost}")
        missed += bool(lost) or ratio > _SLOWEST or reached["urchin"] < max(reached.values())
    return min(missed, 1)


def pages_of(data: Path) -> Iterator[tuple[str | bytes, str, Truth]]:
    """Yield each page in a folder: its HTML, its address, and what must be read from it."""
    if (data / "sentences.json").exists():
        for url, item in json.loads((data / "sentences.json").read_text("utf-8")).items():
            page = gzip.decompress((data / item["file"]).read_bytes())
            yield page, url.rpartition("::")[2], (item["with"], item["without"])
        return
    for name, item in json.loads((data / "ground-truth.json").read_text("utf-8")).items():
        file = f"{name.removesuffix('.html.gz')}.html.gz"
        places = (data / file, data / "html" / file)
        page = gzip.decompress(next(p for p in places if p.exists()).read_bytes())
        yield page.decode("utf-8", "replace"), item["url"], item["articleBody"]


def _timed(
    tool: Callable[[str | bytes, str], str], html: str | bytes, url: str
) -> tuple[str, float]:
    spent, text = [], ""
    for _ in range(_ROUNDS):
        start = time.process_time()
        text = tool(html, url)
        spent.append(time.process_time() - start)
    return text, statistics.median(spent)


def _shared_runs(truth: str, text: str) -> tuple[float, float]:
    wanted, found = _shingles(truth), _shingles(text)
    common = (wanted & found).total()
    precision = common / found.total() if found else 0.0
    return precision, common / wanted.total() if wanted else 0.0


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    if 0 < len(words) < _LENGTH:
        return Counter([tuple(words)])
    return Counter(tuple(words[i : i + _LENGTH]) for i in range(len(words) - _LENGTH + 1))


def score(truth: Truth, text: str) -> tuple[float, ...]:
    """Return precision and recall over runs of words, or (kept, false, wanted) sentences."""
    if isinstance(truth, str):
        return _shared_runs(truth, text)
    wanted, unwanted = truth
    kept = sum(line in text for line in wanted)
    return kept, sum(line in text for line in unwanted), len(wanted)


def rates(counts: Sequence[tuple[float, ...]]) -> tuple[float, float, float]:
    """Return F1, precision and recall over a set's pages, from what `score` counted on each."""
    if len(counts[0]) == _RATES:
        precision, recall = (statistics.mean(row[n] for row in counts) for n in (0, 1))
    else:
        kept, false, wanted = (sum(row[n] for row in counts) for n in range(3))
        precision, recall = kept / max(1, kept + false), kept / max(1, wanted)
    return 2 * precision * recall / max(1e-9, precision + recall), precision, recall


def _report(name: str, texts: list[tuple[Truth, str]], mean: float) -> float:
    f1, precision, recall = rates([score(truth, text) for truth, text in texts])
    print(
        f"{name:12} F1 {f1:.4f}  precision {precision:.4f}  recall {recall:.4f}  {mean:.1f} ms/page"
    )
    return f1


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
