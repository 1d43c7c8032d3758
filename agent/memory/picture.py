"""The graph of a memory as a picture: one HTML file, no script, nothing that is fetched."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from agent.memory.springs import layout
from browser.text.hygiene import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.memory.control import Graph
    from agent.memory.links import Link
    from agent.memory.types import Hit

DRAWN = 120  # memories; more is no picture, and takes longer than a second to lay out
WIDTH, HEIGHT, MARGIN = 1_000, 640, 40
LINKS = 2  # of a memory, as long as its other end has no more either
LABELLED = 30  # memories, above which words beside them would lie on each other
LABEL = 26  # characters
COLOURS = {
    "memory": "#2a6fdb",
    "fact": "#2e8b57",
    "outcome": "#8a5cc2",
    "source": "#c77d0a",
    "playbook": "#0f8b8d",
    "insight": "#c0392b",
}
OTHER = "#6b7280"
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 68rem; padding: 0 1rem }
svg { width: 100%; height: auto; border: 1px solid #8884; border-radius: 8px }
svg text { font-size: 12px; fill: currentColor; paint-order: stroke; stroke: Canvas;
  stroke-width: 3px }
svg circle + text { fill: #fff; stroke: none; font-weight: 600; text-anchor: middle }
line { stroke: #8889 } line.proven { stroke: currentColor }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .6rem;
  border-bottom: 1px solid #8883; vertical-align: top }
i { display: inline-block; width: .8em; height: .8em; border-radius: 50%; margin: 0 .3em 0 1em }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Memory</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>{style}</style></head><body>
<h1>Memory</h1>
<p>{told}</p>
<p>{legend}</p>
<svg viewBox="0 0 {width} {height}" role="img" aria-label="Memories and their links">
{drawing}
</svg>
<h2>What the numbers are</h2>
<table><tr><th>no.</th><th>kind</th><th>memory</th><th>when</th><th>id</th></tr>
{rows}
</table></body></html>
"""


def page(graph: Graph) -> str:
    """Draw the memories that have the most links, and list them below."""
    degrees = Counter(end for link in graph.links for end in (link.one, link.other))
    linked = [hit for hit in graph.memories if degrees[hit.id]]
    best = sorted(linked, key=lambda hit: (-degrees[hit.id], -hit.id))[:DRAWN]
    number = {hit.id: n for n, hit in enumerate(best)}
    links = _strongest([k for k in graph.links if k.one in number and k.other in number])
    return _PAGE.format(
        style=_STYLE,
        told=_told(len(graph.memories), len(best), links),
        legend=_legend(best),
        width=WIDTH,
        height=HEIGHT,
        drawing="\n".join(_drawing(best, links, number)),
        rows="\n".join(_row(n, hit) for n, hit in enumerate(best, 1)),
    )


def _strongest(links: Sequence[Link]) -> list[Link]:
    """Keep the few strongest links of each memory, those that are proven first."""
    shown: Counter[int] = Counter()
    kept = []
    for link in sorted(links, key=lambda k: (not k.proven, -k.strength, k.one, k.other)):
        if min(shown[link.one], shown[link.other]) < LINKS:
            shown.update((link.one, link.other))
            kept.append(link)
    return kept


def _told(all_: int, drawn: int, links: Sequence[Link]) -> str:
    proven = sum(link.proven for link in links)
    return (
        f"{drawn} of {all_} memories, those with the most links, and the strongest links of each. "
        f"A dark line is proven by a verified answer ({proven}), the others are likeness."
    )


def _legend(hits: Sequence[Hit]) -> str:
    kinds = sorted({hit.kind for hit in hits}, key=lambda kind: (kind not in COLOURS, kind))
    return "".join(f'<i style="background:{_colour(k)}"></i>{_safe(k)}' for k in kinds)


def _drawing(
    hits: Sequence[Hit], links: Sequence[Link], number: Mapping[int, int]
) -> Iterator[str]:
    ends = [(number[link.one], number[link.other], link.strength) for link in links]
    places = [
        (MARGIN + x * (WIDTH - 2 * MARGIN), MARGIN + y * (HEIGHT - 2 * MARGIN))
        for x, y in layout(len(hits), ends)
    ]
    for link, (one, other, strength) in zip(links, ends, strict=True):
        (x1, y1), (x2, y2) = places[one], places[other]
        shown = ' class="proven"' if link.proven else ""
        ends_at = f'x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"'
        told = f"<title>{link.kind}, {strength:.2f}</title>"
        yield f'<line{shown} {ends_at} stroke-width="{0.5 + 2.5 * strength:.1f}">{told}</line>'
    for n, (hit, (x, y)) in enumerate(zip(hits, places, strict=True)):
        yield _node(n + 1, hit, x, y)
    for hit, (x, y) in zip(hits, places, strict=True) if len(hits) <= LABELLED else ():
        side, anchor = (-16, "end") if x > WIDTH * 0.75 else (16, "start")
        label = _safe(_cut(hit.text, LABEL))
        yield f'<text x="{x + side:.0f}" y="{y + 4:.0f}" text-anchor="{anchor}">{label}</text>'


def _node(number: int, hit: Hit, x: float, y: float) -> str:
    title = f"<title>{_safe(f'[{hit.kind}] {hit.text}')}</title>"
    circle = f'<circle cx="{x:.0f}" cy="{y:.0f}" r="12" fill="{_colour(hit.kind)}">{title}</circle>'
    return f'<g>{circle}<text x="{x:.0f}" y="{y + 4:.0f}">{number}</text></g>'


def _row(number: int, hit: Hit) -> str:
    when = f"{hit.at:%Y-%m-%d}" if hit.at else ""
    text = _safe(f"{hit.key}: {hit.text}" if hit.kind == "memory" else hit.text)
    cells = (number, _safe(hit.kind), text, when, hit.id)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _colour(kind: str) -> str:
    return COLOURS.get(kind, OTHER)


def _cut(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _safe(text: str) -> str:
    return escape(clean(text))
