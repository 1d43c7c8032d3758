"""Finds which steps of `browser.extract.html` pay off on pages they were not chosen on.

    python -m bench.article_steps DATA [DATA ...]

DATA is as in `bench.articles`. This is nested cross-validation: each page falls into one of five
folds by the hash of its address. On four folds steps are dropped greedily, cheapest loss first, as
long as the mean F1 of the sets falls by no more than TIE; in a tie, the simpler choice wins. The
fifth fold is read with the remaining steps and scored. Guards for pages that these sets lack
(listings, short pages, lists within a text) are not included. Prints the steps of each choice and,
per set and overall, the F1 on unseen folds beside trafilatura's modes.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trafilatura

from bench.articles import pages_of, rates, score
from browser.extract import html as reader
from browser.extract.blocks import render_text, walk
from browser.extract.hidden import strip_hidden
from browser.extract.metadata import declared_body, read_jsonld, read_metadata
from browser.extract.tree import parse_page
from browser.extract.weighing import ContentWeigher

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.articles import Truth

FOLDS = 5
TIE = 0.0002
"""F1 that a step must add on the four folds it is chosen on: half a page in a thousand."""

NEUTRAL: dict[str, tuple[Any, Any]] = {
    "_keep_opening": (reader._Body, lambda _self, _kept: None),
    "_trim": (reader._Body, lambda _self, _kept: None),
    "_is_title": (reader._Body, lambda _self, _block: False),
    "_is_byline": (reader._Body, lambda _self, _place: False),
    "_is_caption": (reader, lambda _block: False),
}
STEPS = frozenset(NEUTRAL)


@dataclass
class Page:
    """A page, processed as far as no step affects it, and its scores."""

    fold: int
    truth: Truth
    walked: Any
    root: Any
    meta: Any
    weigher: Any
    modes: dict[str, str]
    known: dict[str, tuple[float, ...]] = field(default_factory=dict)
    by_steps: dict[frozenset[str], tuple[float, ...]] = field(default_factory=dict)

    def counts(self, text: str) -> tuple[float, ...]:
        """Score a text; each text is scored only once."""
        if text not in self.known:
            self.known[text] = score(self.truth, text)
        return self.known[text]


def prepare(html: str | bytes, url: str, truth: Truth) -> Page:
    """Read a page once, including with both modes of trafilatura."""
    modes = {
        name: trafilatura.extract(html, include_comments=False, favor_precision=precise) or ""
        for name, precise in (("trafilatura", False), ("precision", True))
    }
    root, _ = parse_page(html)
    elements = list(root.iter())
    nodes = read_jsonld(root)
    weigher = ContentWeigher(root, declared_body(nodes))
    strip_hidden(root, weigher)
    meta = read_metadata(root, url, nodes)
    walked = walk(root, url, weigher)
    fold = int(hashlib.sha256(url.encode()).hexdigest(), 16) % FOLDS
    page = Page(fold, truth, walked, (root, elements), meta, weigher, modes)
    answers: dict[tuple[bool, bool], str] = {}
    real = reader.extract_article

    def once(tree: Any, *, precise: bool = False, fast: bool = False) -> str:
        if (precise, fast) not in answers:
            answers[precise, fast] = real(tree, precise=precise, fast=fast)
        return answers[precise, fast]

    page.modes["once"] = once  # type: ignore[assignment]
    return page


def read(pages: Iterable[Page], steps: frozenset[str]) -> None:
    """Score all pages with only these steps."""
    kept = {name: getattr(owner, name) for name, (owner, _) in NEUTRAL.items()}
    real = reader.extract_article
    try:
        for name, (owner, neutral) in NEUTRAL.items():
            if name not in steps:
                setattr(owner, name, neutral)
        for page in pages:
            if steps in page.by_steps:
                continue
            # trafilatura with cached answers: it would be asked the same for every set of steps.
            reader.extract_article = page.modes["once"]  # type: ignore[assignment]
            blocks = reader.content_blocks(page.walked, page.root[0], page.meta, page.weigher)
            page.by_steps[steps] = page.counts(render_text(blocks))
    finally:
        reader.extract_article = real
        for name, (owner, _) in NEUTRAL.items():
            setattr(owner, name, kept[name])


def mean_f1(sets: dict[str, list[Page]], steps: frozenset[str], fold: int) -> float:
    """Return the mean F1 over the sets on all folds but one, weighting each set by its pages."""
    total, pages_counted = 0.0, 0
    for pages in sets.values():
        seen = [page for page in pages if page.fold != fold]
        read(seen, steps)
        total += len(seen) * rates([page.by_steps[steps] for page in seen])[0]
        pages_counted += len(seen)
    return total / pages_counted


def choose(sets: dict[str, list[Page]], fold: int) -> frozenset[str]:
    """Drop steps as long as that costs no more than TIE on all folds but one."""
    steps, reached = STEPS, mean_f1(sets, STEPS, fold)
    while steps:
        tried = {name: mean_f1(sets, steps - {name}, fold) for name in sorted(steps)}
        name = max(tried, key=lambda one: tried[one])
        if tried[name] < reached - TIE:
            break
        steps, reached = steps - {name}, max(tried[name], reached)
    return steps


def main(folders: list[Path]) -> int:
    """Print the choices and figures; return 1 if ours is behind a mode of trafilatura."""
    sets = {path.name: [prepare(*page) for page in pages_of(path)] for path in folders}
    print("read", {name: len(pages) for name, pages in sets.items()}, flush=True)
    chosen = {}
    for fold in range(-1, FOLDS):
        chosen[fold] = choose(sets, fold)
        label = "all folds" if fold < 0 else f"without fold {fold}"
        print(
            f"{label}: keeps {sorted(chosen[fold])}, drops {sorted(STEPS - chosen[fold])}",
            flush=True,
        )
    for steps in dict.fromkeys((STEPS, chosen[-1])):
        base = mean_f1(sets, steps, -1)
        print(f"all steps seen {base:.4f}" if steps == STEPS else f"chosen on all, seen {base:.4f}")
        for name in sorted(steps):
            print(
                f"    without {name}: {mean_f1(sets, steps - {name}, -1) - base:+.4f}", flush=True
            )
    behind, overall = 0, dict.fromkeys(("urchin", "trafilatura", "precision"), 0.0)
    pages_counted = sum(map(len, sets.values()))
    for name, pages in sets.items():
        for fold in range(FOLDS):
            read([page for page in pages if page.fold == fold], chosen[fold])
        rows = {
            "urchin": [page.by_steps[chosen[page.fold]] for page in pages],
            **{
                mode: [page.counts(page.modes[mode]) for page in pages]
                for mode in ("trafilatura", "precision")
            },
        }
        figures = {tool: rates(counts)[0] for tool, counts in rows.items()}
        for tool, figure in figures.items():
            overall[tool] += figure * len(pages) / pages_counted
        behind += figures["urchin"] < max(figures.values())
        print(name, {tool: round(figure, 4) for tool, figure in figures.items()})
    print("over all, by pages", {tool: round(figure, 4) for tool, figure in overall.items()})
    return min(behind, 1)


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
