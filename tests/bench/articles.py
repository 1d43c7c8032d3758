"""Article text beside trafilatura's, on a folder in the form of article-extraction-benchmark.

    python tests/bench/articles.py DATA

DATA holds `ground-truth.json` ({id: {articleBody, url}}) and `<id>.html.gz` beside it or in
`html/`. The measure is that benchmark's: precision and recall over runs of four words, averaged
over pages, and F1 of the two. Both extractors run in turn on each page; times are medians of three,
of the processor, so that a busy machine slows neither.
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
    from collections.abc import Callable

_WORD = re.compile(r"\w+")
_LENGTH = 4
_ROUNDS = 3


def main(data: Path) -> None:
    """Print F1, precision, recall and time a page for ours and trafilatura's default."""
    truth = json.loads((data / "ground-truth.json").read_text(encoding="utf-8"))
    pages = [(_page(data, name), item["url"], item["articleBody"]) for name, item in truth.items()]
    tools: dict[str, Callable[[str, str], str]] = {
        "urchin": lambda html, url: extract(html, url).text,
        "trafilatura": lambda html, _: trafilatura.extract(html, include_comments=False) or "",
    }
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in tools}
    times: dict[str, list[float]] = {name: [] for name in tools}
    for tool in tools.values():
        tool(*pages[0][:2])  # imports and caches
    for html, url, body in pages:
        for name, tool in tools.items():
            text, seconds = _timed(tool, html, url)
            scores[name].append(_score(body, text))
            times[name].append(seconds)
    for name in tools:
        _report(name, scores[name], times[name])
    ratio = sum(times["urchin"]) / sum(times["trafilatura"])
    print(f"time ratio {ratio:.2f} on {len(pages)} pages")


def _page(data: Path, name: str) -> str:
    found = next(
        p for p in (data / f"{name}.html.gz", data / "html" / f"{name}.html.gz") if p.exists()
    )
    return gzip.decompress(found.read_bytes()).decode("utf-8", "replace")


def _timed(tool: Callable[[str, str], str], html: str, url: str) -> tuple[str, float]:
    spent, text = [], ""
    for _ in range(_ROUNDS):
        start = time.process_time()
        text = tool(html, url)
        spent.append(time.process_time() - start)
    return text, statistics.median(spent)


def _score(truth: str, text: str) -> tuple[float, float]:
    wanted, found = _shingles(truth), _shingles(text)
    common = (wanted & found).total()
    precision = common / found.total() if found else 0.0
    return precision, common / wanted.total() if wanted else 0.0


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    if 0 < len(words) < _LENGTH:
        return Counter([tuple(words)])
    return Counter(tuple(words[i : i + _LENGTH]) for i in range(len(words) - _LENGTH + 1))


def _report(name: str, scores: list[tuple[float, float]], times: list[float]) -> None:
    precision = statistics.mean(p for p, _ in scores)
    recall = statistics.mean(r for _, r in scores)
    f1 = 2 * precision * recall / (precision + recall)
    mean = statistics.mean(times) * 1000
    print(
        f"{name:12} F1 {f1:.4f}  precision {precision:.4f}  recall {recall:.4f}  {mean:.1f} ms/page"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
